"""My operator's policy about instances and realms, and what linked realms do here.

What a link gives is shown agent by agent: how much its row still weighs after its age, and what an
agent's reputation would be with the prior that the link is worth, beside what it is.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

import msgspec

from federation.core import AgentId, InstanceId, Micro, Ppm, PublicKey
from federation.protocol import LocalView, Policy, World
from federation.protocol.local import keys_here, local_reputation
from federation.trust import EXPIRY, Link
from federation.trust.foreign import row_of
from node.queries.names import Who, who

MOST_AGENTS: Final = 32
"""Agents that are listed of one link, the heaviest first."""


class InstancePolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What I have decided about one instance."""

    instance: Who
    """The instance."""
    operator: Who
    """Who answers for it."""
    policy: str
    """`allow`, or `observe`: its agents weigh nothing in my verdicts."""
    ours: bool
    """It is this instance itself."""
    agents: int
    """Agents that it has admitted."""


class PolicyPage(msgspec.Struct, frozen=True, kw_only=True):
    """All decisions that stand in this instance's policy."""

    neutral: bool
    """It leaves everything as the charter has it: then no verdict of mine can differ."""
    from_charter: bool
    """Trust starts where the charter says."""
    seeds: tuple[Who, ...]
    """Where trust starts for me."""
    instances: tuple[InstancePolicy, ...]
    """Every instance of the realm, by id."""
    links: int
    """Realms that are linked."""


class LinkedAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent of ours that a linked realm names, by its key."""

    agent: Who
    """The agent."""
    weight: int
    """Its weight in that realm's row, 0 to 255, after the age of the head."""
    prior: Micro
    """What all linked realms' words for it are worth, in millionths of an outcome; at most 4."""
    reputation: Ppm
    """Its reputation by the evidence of this realm."""
    local_reputation: Ppm
    """The same with that prior: shown here, and in weights where the charter blends."""


class LinkRow(msgspec.Struct, frozen=True, kw_only=True):
    """One linked realm."""

    realm: str
    """Its id, in hex."""
    key: str
    """Key whose signature is believed, in hex."""
    instance: str
    """Instance of that realm that signed the head, in hex."""
    weight: int
    """Weight of the edge from each of my seeds, 1 to 255."""
    head_cut: int
    """Cut of that realm that the head tells of."""
    head_agents: int
    """Agents that the head names."""
    known: int
    """How many of them hold the key of an agent of ours."""
    imported: int
    """Our cut at which the head was accepted."""
    age: int
    """Our cuts since."""
    left: int
    """Our cuts until the head is gone; 0 if it is."""
    trust: Ppm
    """What I trust the realm, in ppm of one average seat, at most 1."""
    agents: tuple[LinkedAgent, ...]
    """The agents of ours that it names, heaviest first; at most 32."""


class LinksPage(msgspec.Struct, frozen=True, kw_only=True):
    """All linked realms."""

    cut: int
    """Our cut whose world this is worked out from."""
    links: tuple[LinkRow, ...]
    """By realm."""


class LinkHead(msgspec.Struct, frozen=True, kw_only=True):
    """Who stands behind a link: what the computation does not need."""

    key: bytes
    """The pinned key."""
    instance: InstanceId
    """The instance that signed."""


def policy_page(world: World, policy: Policy) -> PolicyPage:
    """Show the policy with every instance of the realm."""
    state = world.state
    me = world.me.instance if world.me else None
    admitted: dict[InstanceId, int] = {}
    for agent in state.agents.values():
        admitted[agent.instance] = admitted.get(agent.instance, 0) + 1
    return PolicyPage(
        neutral=policy.is_neutral(world.charter),
        from_charter=policy.seeds is None,
        seeds=tuple(who(world, seed) for seed in sorted(policy.seeds_under(world.charter))),
        instances=tuple(
            InstancePolicy(
                instance=who(world, instance),
                operator=who(world, operator),
                policy="observe" if instance in policy.observed else "allow",
                ours=instance == me,
                agents=admitted.get(instance, 0),
            )
            for instance, operator in sorted(state.instances.items())
        ),
        links=len(policy.links),
    )


def links_page(
    world: World, seen: LocalView, links: Collection[tuple[Link, LinkHead]]
) -> LinksPage:
    """Show every link with what it does here."""
    keys = keys_here(world.state)
    return LinksPage(
        cut=seen.cut, links=tuple(_link(world, seen, keys, link, behind) for link, behind in links)
    )


def _link(
    world: World,
    seen: LocalView,
    keys: Mapping[PublicKey, AgentId],
    link: Link,
    behind: LinkHead,
) -> LinkRow:
    row = row_of(link, keys, seen.cut)
    age = link.age(seen.cut)
    return LinkRow(
        realm=link.realm.hex(),
        key=behind.key.hex(),
        instance=behind.instance.hex(),
        weight=link.weight,
        head_cut=link.head.cut,
        head_agents=len(link.head.top),
        known=len({keys[one.key] for one in link.head.top if one.key in keys}),
        imported=link.imported,
        age=age,
        left=max(0, EXPIRY - age),
        trust=seen.realms.get(link.realm, 0),
        agents=tuple(_agents(world, seen, row.agents)),
    )


def _agents(
    world: World, seen: LocalView, named: Collection[tuple[AgentId, int]]
) -> Iterator[LinkedAgent]:
    heaviest = sorted(named, key=lambda one: (-one[1], one[0]))[:MOST_AGENTS]
    for name, weight in heaviest:
        prior = seen.priors.get(name, 0)
        yield LinkedAgent(
            agent=who(world, name),
            weight=weight,
            prior=prior,
            reputation=world.state.agents[name].r,
            local_reputation=local_reputation(world.state, name, prior),
        )
