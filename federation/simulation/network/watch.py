"""A network with all monitors: how scenarios are run, and what counts as a good end.

A run ends well if no monitor found anything and, where progress is promised, all honest
instances stand at one cut with one digest and every artifact has come to rest.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from federation.artifacts import State
from federation.charter import Review, Timing
from federation.charter.presets import preset
from federation.core import Millis
from federation.crypto import Verify
from federation.simulation.network.agents import Policy
from federation.simulation.network.community import Community
from federation.simulation.network.conduct import Conduct
from federation.simulation.network.letters import Sent
from federation.simulation.network.links import Weather
from federation.simulation.network.monitors import (
    Members,
    Monitor,
    Progress,
    Rounds,
    Seals,
    Votes,
    Worlds,
    quorum_of,
)
from federation.simulation.network.network import SignatureCache, SimNetwork, Thinking

TIMING: Final[Timing] = replace(
    preset("test").timing, epoch=2_500, cut_min=300, leader_timer=300, grace=60, resend=150
)
REVIEW: Final[Review] = replace(
    preset("test").review, deliberate=300, commit_min=100, commit=1_200, reveal=1_200
)
"""Short phases: a whole review in about two seconds of virtual time."""

REST: Final = frozenset({State.ACTIVE, State.RETRACTED, State.SUPERSEDED})

_SIGNATURES: Final = SignatureCache()
"""Shared by all runs of a process: equal realms sign equal things."""


def watched(
    community: Community,
    *,
    seed: str,
    weather: Weather | None = None,
    conducts: Mapping[int, Conduct] | None = None,
    clocks: Mapping[int, Millis] | None = None,
    policy: Policy | None = None,
    policies: Mapping[int, Policy] | None = None,
    thinking: Thinking | None = None,
    censor: Callable[[Sent], bool] | None = None,
    demands_progress: bool = True,
    votes_needed: int | None = None,
    verify: Verify = _SIGNATURES,
    keeps_lines: bool = False,
) -> SimNetwork:
    """Set up a network that all monitors watch.

    `demands_progress` adds the monitor of liveness. `votes_needed` makes the counting monitor
    accept smaller quorums, to see what else notices.
    """
    weather = weather or Weather()
    conducts = conducts or {}
    founding = community.founding
    honest = frozenset(
        name for place, name in enumerate(founding.instances) if _is_honest(conducts, place)
    )
    careful = frozenset(
        agent
        for agent, home in zip(founding.agents, community.homes, strict=True)
        if _is_honest(conducts, home)
    )
    votes = Votes(community, verify, q=votes_needed)
    monitors: list[Monitor] = [
        votes,
        Members(honest | careful),
        Rounds(votes, careful),
        Seals(votes, careful),
        Worlds(),
    ]
    if demands_progress:
        timing = founding.charter.timing
        members = len(founding.instances)
        monitors.append(
            Progress(
                f=(members - 1) // 3,
                q=quorum_of(community),
                leader_timer=timing.leader_timer,
                slack=6 * timing.resend + 2 * timing.grace + 10 * weather.line.longest,
                good_from=weather.good_from,
            )
        )
    return SimNetwork(
        community,
        seed=seed,
        weather=weather,
        conducts=conducts,
        clocks=clocks,
        policy=policy,
        policies=policies,
        thinking=thinking,
        censor=censor,
        monitors=monitors,
        verify=verify,
        keeps_lines=keeps_lines,
        sync_every=500,
    )


def is_at_rest(network: SimNetwork, *, artifacts: int = 1) -> bool:
    """Tell whether all honest instances agree on one cut in which all artifacts are decided."""
    worlds = network.worlds
    return (
        len(worlds) == len(network.honest)
        and len({(world.state.cut, world.digest) for world in worlds}) == 1
        and len(worlds[0].state.artifacts) >= artifacts
        and all(
            artifact.state in REST and artifact.verdict is not None
            for artifact in worlds[0].state.artifacts.values()
        )
    )


def _is_honest(conducts: Mapping[int, Conduct], place: int) -> bool:
    conduct = conducts.get(place)
    return conduct is None or conduct.is_honest
