"""What bounds an agent in a vote: its clones, its operator's and its instance's share of the weight.

The count is that of a vote in which every reviewer of now takes part; a real one has fewer, and
leaves out the author's own operator, so its shares differ.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from federation.charter import Trust
from federation.core import MILLION, AgentId, Ppm, Weight
from federation.protocol import World
from federation.review import AgentView
from federation.trust import as_heaviest, cap, effective_share, half_level, stops_at_half
from node.queries.names import Who, who
from node.queries.per_cut import PerCut
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
    halved: bool
    """The charter's cap is smaller, but it would take more than half of all weight: it takes half."""
    bounds: bool
    """The cap takes weight from the group."""
    why: str
    """The same as a sentence."""


class GroupWeight(msgspec.Struct, frozen=True, kw_only=True):
    """What a group would count in a vote by all reviewers now, under the cap that bounds it."""

    reviewers: int
    """Reviewers in it."""
    before: Ppm
    """Its share of the weight before this cap, in ppm."""
    after: Ppm
    """Its share after it, in ppm."""
    cap: Ppm
    """Largest share that this cap leaves a group, in ppm."""
    raised: bool
    """The charter's cap is smaller, but with so few groups no smaller share is possible."""
    halved: bool
    """The charter's cap is smaller, but it would take more than half of all weight: it takes half."""
    bounds: bool
    """The cap takes weight from the group."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """One cap, as it acts on all reviewers."""

    grouping: Grouping
    """What the cap bounds together."""
    groups: Mapping[AgentId, bytes]
    """The group of each reviewer."""
    reviewers: Mapping[bytes, int]
    """How many each group has."""
    held: Mapping[bytes, Weight]
    """What each group weighs before the cap."""
    kept: Mapping[bytes, Weight]
    """What it weighs after it."""
    sums: tuple[Weight, Weight]
    """What all groups weigh, before and after it."""
    most: Ppm
    """Largest share that the cap leaves a group; 0 of one voice, which has its heaviest member's."""
    halved: bool
    """The cap takes half of all weight, since it would take more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Count:
    """A vote by all reviewers."""

    stages: tuple[_Stage, ...]
    """The caps, from inside out."""
    weights: Mapping[AgentId, Weight]
    """What each reviewer weighs after all caps."""


def counted_of(world: World, name: AgentId) -> CountedWeight:
    """Tell what an agent's ballot would count in a vote by all reviewers now."""
    count = _counts(world)
    weights = count.weights
    if name not in weights:
        return CountedWeight(weight=0, share=0, reviewers=len(weights), caps=())
    return CountedWeight(
        weight=weights[name],
        share=_ppm(weights[name], sum(weights.values())),
        reviewers=len(weights),
        caps=tuple(_share(world, stage, name) for stage in count.stages),
    )


def group_weight(world: World, grouping: Grouping, group: bytes) -> GroupWeight:
    """Tell what an operator's or an instance's agents would count in a vote by all reviewers now."""
    stage = next(one for one in _counts(world).stages if one.grouping is grouping)
    return _weight_of(world, stage, group)


def _count(world: World) -> _Count:
    """Count a vote by all reviewers; time grows with them."""
    state = world.state
    reviewers = {
        one: view for one, view in state.views.items() if view.reviewer and not view.barred
    }
    own = weights = {one: seen.weight for one, seen in reviewers.items()}
    stages = []
    for grouping in Grouping:
        groups = {one: _group(seen, grouping) for one, seen in reviewers.items()}
        if grouping in _ONE_VOICE:
            after = as_heaviest(weights, groups, own=own)
        else:
            after = cap(weights, groups, _rule(state.charter.trust, grouping))
        held, kept = _summed(weights, groups), _summed(after, groups)
        most, halved = _limit(state.charter.trust, grouping, held, kept)
        stages.append(
            _Stage(
                grouping=grouping,
                groups=groups,
                reviewers=Counter(groups.values()),
                held=held,
                kept=kept,
                sums=(sum(held.values()), sum(kept.values())),
                most=most,
                halved=halved,
            )
        )
        weights = after
    return _Count(stages=tuple(stages), weights=weights)


_counts: Final = PerCut(_count)


def _summed(
    weights: Mapping[AgentId, Weight], groups: Mapping[AgentId, bytes]
) -> Mapping[bytes, Weight]:
    sums: Counter[bytes] = Counter()
    for one, weight in weights.items():
        sums[groups[one]] += weight
    return sums


def _rule(trust: Trust, grouping: Grouping) -> Ppm:
    """Give the share that the charter leaves a group."""
    return trust.operator_cap if grouping is Grouping.OPERATOR else trust.instance_cap


def _limit(
    trust: Trust, grouping: Grouping, held: Mapping[bytes, Weight], kept: Mapping[bytes, Weight]
) -> tuple[Ppm, bool]:
    """Give the largest share that a cap leaves, and whether that is because it takes half."""
    if grouping in _ONE_VOICE:
        return 0, False
    totals = [weight for weight in held.values() if weight]
    rule = _rule(trust, grouping)
    if stops_at_half(totals, rule):
        return _ppm(half_level(totals), sum(kept.values())), True
    return effective_share(rule, len(totals)), False


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


def _weight_of(world: World, stage: _Stage, group: bytes) -> GroupWeight:
    """Tell what one cap does to a group; one without reviewers holds nothing."""
    held, kept = stage.held.get(group, 0), stage.kept.get(group, 0)
    was, now = _ppm(held, stage.sums[0]), _ppm(kept, stage.sums[1])
    if stage.grouping in _ONE_VOICE:
        rule, most = 0, now
    else:
        rule, most = _rule(world.state.charter.trust, stage.grouping), stage.most
    return GroupWeight(
        reviewers=stage.reviewers.get(group, 0),
        before=was,
        after=now,
        cap=most,
        raised=bool(rule) and most > rule and not stage.halved,
        halved=stage.halved,
        bounds=kept < held,
    )


def _share(world: World, stage: _Stage, name: AgentId) -> GroupShare:
    """Show what one cap does to an agent's group."""
    grouping, group = stage.grouping, stage.groups[name]
    whole = _weight_of(world, stage, group)
    rule = 0 if grouping in _ONE_VOICE else _rule(world.state.charter.trust, grouping)
    named = who(world, group) if grouping is not Grouping.MODEL and group != name else None
    return GroupShare(
        grouping=grouping,
        group=named,
        reviewers=whole.reviewers,
        before=whole.before,
        after=whole.after,
        cap=whole.cap,
        raised=whole.raised,
        halved=whole.halved,
        bounds=whole.bounds,
        why=_says(
            grouping,
            named,
            whole.reviewers,
            (whole.before, whole.after, whole.cap, rule),
            bounds=whole.bounds,
            halved=whole.halved,
        ),
    )


def _says(
    grouping: Grouping,
    group: Who | None,
    count: int,
    shares: tuple[Ppm, Ppm, Ppm, Ppm],
    *,
    bounds: bool,
    halved: bool,
) -> str:
    was, now, most, rule = shares
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
    whole = f"of its {grouping.value} {called(group) if group else ''}"
    holds = (
        f"It is the only reviewer {whole} and holds {percent(was)}"
        if count == 1
        else f"The {count} reviewers {whole} hold {percent(was)}"
    )
    limit = f"the cap is {percent(most)}"
    if halved:
        limit += f", since {percent(rule)} would take more than half of all weight"
    elif most > rule:
        limit += f", since {percent(rule)} is impossible with so few {grouping.value}s"
    if bounds:
        return f"{holds}, and {limit}: {percent(now)} count."
    return f"{holds}, and {limit}: all of it counts."


def _ppm(part: Weight, whole: Weight) -> Ppm:
    return part * MILLION // whole if whole else 0
