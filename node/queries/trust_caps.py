"""What bounds an agent in a vote: its clones, its operator's and its instance's share of the weight.

The count is that of a vote in which every reviewer of now takes part; a real one has fewer, and
leaves out the author's own operator, so its shares differ.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from federation.charter import Trust
from federation.core import MILLION, AgentId, Ppm, Weight
from federation.protocol import World
from federation.review import AgentView
from federation.trust import as_heaviest, cap, effective_share
from node.queries.names import Who, who
from node.queries.trust_terms import called, percent


class Grouping(StrEnum):
    """What a cap bounds together."""

    MODEL = "model"
    """Agents that declare the same model weights: they are one voice."""
    KEEPER = "keeper"
    """Agents whose keys one operator keeps on its node: they are one voice."""
    OPERATOR = "operator"
    """Agents of one operator."""
    INSTANCE = "instance"
    """Agents that one instance has admitted."""


_ONE_VOICE: Final = frozenset({Grouping.MODEL, Grouping.KEEPER})
"""What counts as its heaviest member does; the others keep a share of what is counted."""


class GroupShare(msgspec.Struct, frozen=True, kw_only=True):
    """One cap: what the agent's group would count in a vote by all reviewers now."""

    grouping: Grouping
    """By what the group is one."""
    group: Who | None
    """The operator or the instance; nil for a model, and for who is one voice with nobody."""
    reviewers: int
    """Reviewers in it, the agent included if it is one."""
    before: Ppm
    """Its share of the weight before this cap, in ppm."""
    after: Ppm
    """Its share after it, in ppm."""
    cap: Ppm
    """Largest share that this cap leaves a group, in ppm; one voice has its heaviest member's."""
    raised: bool
    """The charter's cap is smaller, but with so few groups no smaller share is possible."""
    bounds: bool
    """The cap takes weight from the group."""
    why: str
    """The same as a sentence."""


class CountedWeight(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent's ballot would count in a vote by all reviewers now, after caps."""

    weight: Weight
    """In ppm of a full weight; 0 if it is no reviewer."""
    share: Ppm
    """Its share of all the weight counted, in ppm."""
    reviewers: int
    """Reviewers in all."""
    caps: tuple[GroupShare, ...]
    """The caps from inside out; none for an agent that is no reviewer."""


def counted_of(world: World, name: AgentId) -> CountedWeight:
    """Tell what an agent's ballot would count in a vote by all reviewers now."""
    state = world.state
    reviewers = {one: view for one, view in state.views.items() if view.reviewer}
    view = reviewers.get(name)
    if view is None:
        return CountedWeight(weight=0, share=0, reviewers=len(reviewers), caps=())
    trust = state.charter.trust
    own = weights = {one: seen.weight for one, seen in reviewers.items()}
    caps = []
    for grouping in Grouping:
        groups = {one: _group(seen, grouping) for one, seen in reviewers.items()}
        if grouping in _ONE_VOICE:
            after = as_heaviest(weights, groups, own=own)
        else:
            after = cap(weights, groups, _rule(trust, grouping))
        caps.append(_share(world, grouping, groups, name, (weights, after)))
        weights = after
    return CountedWeight(
        weight=weights[name],
        share=_ppm(weights[name], sum(weights.values())),
        reviewers=len(reviewers),
        caps=tuple(caps),
    )


def _rule(trust: Trust, grouping: Grouping) -> Ppm:
    """Give the share that the charter leaves a group."""
    return trust.operator_cap if grouping is Grouping.OPERATOR else trust.instance_cap


def _group(view: AgentView, grouping: Grouping) -> bytes:
    match grouping:
        case Grouping.MODEL:
            return view.model
        case Grouping.KEEPER:
            return view.keeper
        case Grouping.OPERATOR:
            return view.operator
        case Grouping.INSTANCE:
            return view.instance


def _share(
    world: World,
    grouping: Grouping,
    groups: Mapping[AgentId, bytes],
    name: AgentId,
    weights: tuple[Mapping[AgentId, Weight], Mapping[AgentId, Weight]],
) -> GroupShare:
    """Show one cap; `weights` are those before it and after it."""
    before, after = weights
    trust = world.state.charter.trust
    group = groups[name]
    members = [one for one in groups if groups[one] == group]
    held, kept = (sum(stage[one] for one in members) for stage in weights)
    was, now = _ppm(held, sum(before.values())), _ppm(kept, sum(after.values()))
    if grouping in _ONE_VOICE:
        rule, most = 0, now
    else:
        rule = _rule(trust, grouping)
        counted = {groups[one] for one, weight in before.items() if weight}
        most = effective_share(rule, len(counted))
    named = who(world, group) if grouping is not Grouping.MODEL and group != name else None
    return GroupShare(
        grouping=grouping,
        group=named,
        reviewers=len(members),
        before=was,
        after=now,
        cap=most,
        raised=bool(rule) and most > rule,
        bounds=kept < held,
        why=_says(grouping, named, members, (was, now, most, rule), bounds=kept < held),
    )


def _says(
    grouping: Grouping,
    group: Who | None,
    members: Sequence[AgentId],
    shares: tuple[Ppm, Ppm, Ppm, Ppm],
    *,
    bounds: bool,
) -> str:
    was, now, most, rule = shares
    count = len(members)
    if grouping in _ONE_VOICE:
        sign = {
            Grouping.MODEL: "declares its model weights",
            Grouping.KEEPER: "has its keys kept by the same operator",
        }[grouping]
        if count == 1:
            return f"It is one voice with nobody: no other reviewer {sign}."
        shared = sign.replace("declares its", "declare the same").replace("has its", "have their")
        return (
            f"{count} reviewers {shared}: they are one voice, hold {percent(was)} of the weight and "
            f"count as the heaviest of them, {percent(now)}."
        )
    who_they_are = "1 reviewer" if count == 1 else f"{count} reviewers"
    holds = (
        f"The {who_they_are} of its {grouping.value} {called(group) if group else ''} "
        f"{'holds' if count == 1 else 'hold'} {percent(was)}"
    )
    limit = f"the cap is {percent(most)}"
    if most > rule:
        limit += f", since {percent(rule)} is impossible with so few {grouping.value}s"
    if bounds:
        return f"{holds}, and {limit}: {percent(now)} count."
    return f"{holds}, and {limit}: all of it counts."


def _ppm(part: Weight, whole: Weight) -> Ppm:
    return part * MILLION // whole if whole else 0
