"""Rows of the world digest, kept up to date by each cut (design: time, 8)."""

from collections.abc import Iterable, Mapping
from typing import Final

from federation.artifacts import Artifact
from federation.codec import encode
from federation.core import AgentId, ArtifactId, Digest, IdentityId, RoundId
from federation.crypto import plain_hash
from federation.protocol.digest import Tables
from federation.protocol.state import Agent, State
from federation.trust import badges_of

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "artifacts": ("author", "state", "flags", "round", "tally", "past"),
    "agents": (
        "operator",
        "instance",
        "alpha",
        "beta",
        "tick",
        "r",
        "competence",
        "trust",
        "ways",
        "weight",
        "tier",
        "badges",
        "vouches",
        "found_bad",
        "filed",
        "says",
    ),
    "identities": ("key_index", "key", "revoked", "forked"),
    "members": ("operator", "key"),
    "rounds": ("lists",),
}
"""What stands in a row of each table, in order; a row of `rounds` is one list of any length."""


def update(
    state: State,
    *,
    identities: Iterable[IdentityId],
    rounds: Iterable[RoundId],
    artifacts: Iterable[ArtifactId],
    agents: Iterable[AgentId],
) -> None:
    """Write the rows that a cut may have changed."""
    tables = state.tables
    for name in identities:
        one = state.identities[name]
        tables.identities.put(
            name, [one.keys.key_index, one.keys.key, one.keys.revoked, one.forked_in is not None]
        )
        if name in state.instances:
            tables.members.put(name, [state.instances[name], one.keys.key])
    names = set(agents)
    taken_back: dict[AgentId, list[list[object]]] = {}
    for by, agent in sorted(pair for pair in state.unvouched if pair[0] in names):
        taken_back.setdefault(by, []).append([agent, state.unvouched[by, agent]])
    for name in names:
        row = _agent(state, state.agents[name], taken_back.get(name, []))
        tables.agents.put(name, row)
    for name in rounds:
        tables.rounds.put(name, list(state.decided[name]))
    for name in artifacts:
        tables.artifacts.put(name, _artifact(state.artifacts[name]))


def rewrite(state: State) -> Digest:
    """Write all rows afresh from the state, and give the digest that they amount to."""
    state.tables = Tables()
    update(
        state,
        identities=state.identities,
        rounds=state.decided,
        artifacts=state.artifacts,
        agents=state.agents,
    )
    return world_digest(state)


def world_digest(state: State) -> Digest:
    """Hash the certified world at the last cut."""
    return state.tables.world_digest(
        state.cut, state.charter_hash, state.beacon, joining_digest(state)
    )


def joining_digest(state: State) -> Digest:
    """Hash what joining costs in this epoch, who has admitted how many, acts, and sanctions.

    With them goes what waits to be done: rounds that the rules will open, evidence of the next tick.
    Last come the findings of each instance in its epoch.
    """
    waits = [state.due, state.reversals, state.unfounded, sorted(state.found.items())]
    return plain_hash(
        encode([state.joining.row(), state.acts.row(), state.discipline.row(), waits])
    )


def _vouches(state: State, agent: Agent, taken_back: list[list[object]]) -> Digest:
    """Hash the vouches that an agent gives, and those it still answers for.

    The other acts follow from the artifacts.
    """
    given = state.graph.out_of(agent.agent)
    vouches = [[name, given[name].vouch] for name in sorted(given) if given[name].vouch]
    return plain_hash(encode([vouches, taken_back]))


def _badges(state: State, agent: Agent) -> list[str]:
    held = badges_of(
        agent.founder,
        interactions=agent.interactions,
        tier=agent.tier,
        trust=state.charter.trust,
    )
    return [one.badge for one in held]


def _agent(state: State, agent: Agent, taken_back: list[list[object]]) -> list[object]:
    sums = state.ledger.undecayed(agent.agent)
    return [
        agent.operator,
        agent.instance,
        sums.alpha,
        sums.beta,
        sums.tick,
        agent.r,
        agent.competence,
        agent.trust,
        agent.ways,
        agent.weight,
        agent.tier,
        _badges(state, agent),
        _vouches(state, agent, taken_back),
        agent.found_bad,
        plain_hash(encode([agent.disputes, agent.reports, agent.flags])),
        plain_hash(encode([agent.declared, agent.offer, sorted(agent.scope)])),
    ]


def _artifact(artifact: Artifact) -> list[object]:
    verdict = artifact.verdict
    tally = None
    if verdict is not None:
        tally = [
            verdict.decision.value,
            verdict.by.value,
            verdict.numerator,
            verdict.denominator,
            [reason.value for reason in verdict.narrow],
        ]
    past = [
        [one.round for one in artifact.accepted],
        artifact.superseded_by,
        artifact.rounds,
        artifact.disputes,
        artifact.resubmitted,
        artifact.retracted_at,
        artifact.stale_at,
        artifact.evidence,
        artifact.grounds,
        artifact.voters,
        artifact.reports,
        artifact.reported_at,
        artifact.near,
    ]
    return [
        artifact.author,
        artifact.state.value,
        sorted(flag.value for flag in artifact.flags),
        artifact.round,
        tally,
        plain_hash(encode(past)),
    ]
