"""The capture table for readers: what it takes to hold a share of a decision under a charter.

Of an imagined realm it is made from the charter alone; of a running one from who may vote now, what
joining costs now, and who is trusted now. The model and its limits stand in `federation.trust.capture`.
"""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from heapq import nlargest

import msgspec

from federation.admission import asks_nothing
from federation.charter import Charter
from federation.core import AgentId, Millis, Ppm, Weight
from federation.protocol import World
from federation.protocol.epochs import charter_seeds
from federation.review import AgentView
from federation.trust import (
    CAPTURE_SHARES,
    MOST_TRUSTED,
    Aim,
    CapturePlan,
    Cell,
    Community,
    Door,
    as_heaviest,
    capture_plan,
    edge_worth,
    electorate_of,
    firm_weight,
    first_day_community,
    grown_community,
)
from node.queries.capture_why import CaptureWhy, assumptions, reasons


class Basis(StrEnum):
    """Whom the attacker meets."""

    GROWN = "grown"
    """The realm as the charter sizes it: every seat taken, all of equal weight."""
    FIRST_DAY = "first_day"
    """The founders alone."""
    MEASURED = "measured"
    """The running realm, as of its last cut."""


class CaptureRow(msgspec.Struct, frozen=True, kw_only=True):
    """The least that captures one share of a decision in which all honest reviewers vote."""

    share: Ppm
    """What is to be held of the counted weight."""
    aim: str
    """What the attacker saves first: `fooled` vouches, or `operators`."""
    possible: bool
    """False: nobody without a seed can hold so much. Then the numbers are 0 and nil."""
    weight: Weight
    """What its identities weigh together before caps, in ppm of a full weight."""
    identities: int
    """Agents."""
    operators: int
    """Operators that answer for them."""
    instances: int
    """Instances that have to admit some of them."""
    fooled: int
    """Edges from outside at the least: vouches by honest agents, or their approvals of artifacts
    that stand. Proven, for a given honest weight."""
    likely: int | None
    """The same if the most trusted agents are fooled; nil if all together are not enough. An
    estimate."""
    alone: Ppm
    """What these edges reach with a single operator."""
    lasts: Millis | None
    """Until all can vote, having joined as fast as they may, at the least; nil beyond 20,000
    epochs."""
    hashes: int | None
    """Argon2id hashes of their proofs, on average, having joined so fast."""
    cheap_lasts: Millis | None
    """The same time, having joined so slowly that the puzzle stays as easy as it gets."""
    cheap_hashes: int | None
    """The same hashes, having joined so slowly."""
    proofs: int
    """Proofs of work; each takes its gate besides."""
    why: tuple[CaptureWhy, ...]
    """Which rule gives each number."""


class CapturePage(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes to capture decisions under a charter."""

    preset: str
    """Preset that the charter started from."""
    basis: Basis
    """Whom the attacker meets."""
    cut: int | None
    """Cut that was measured; nil for an imagined realm."""
    operators: int
    """Honest operators with weight in a vote."""
    instances: int
    """Instances of the realm."""
    agents: int
    """Agents that the realm has admitted."""
    honest: Weight
    """Weight of all honest reviewers before caps on operators and instances, in ppm of a full
    weight."""
    edge: Weight
    """The most that one edge from outside can bring, in ppm of a full weight."""
    memory_kib: int
    """Memory of one hash of the puzzle."""
    passes: int
    """Passes over it."""
    gate_bits: int
    """Bits of the gate of each proof, a search by SHA-256."""
    free: bool
    """No proof is asked for."""
    rows: tuple[CaptureRow, ...]
    """By aim, then by share."""
    assumes: tuple[str, ...]
    """What is proven, what is assumed, and what is left out."""


def imagined_page(charter: Charter, basis: Basis) -> CapturePage:
    """Price a charter that nobody lives by yet; raises ParameterError if its rules do not hold."""
    community = (
        first_day_community(charter) if basis is Basis.FIRST_DAY else grown_community(charter)
    )
    return capture_page(charter, community, basis)


def capture_page(
    charter: Charter, community: Community, basis: Basis, *, cut: int | None = None
) -> CapturePage:
    """Make the table; it may take a second in a realm of hundreds of operators."""
    voters, rules = community.voters, charter.admission
    return CapturePage(
        preset=charter.preset,
        basis=basis,
        cut=cut,
        operators=len({cell.operator for cell in voters.cells if cell.weight}),
        instances=voters.instances,
        agents=community.door.agents,
        honest=voters.weight,
        edge=edge_worth(charter.trust),
        memory_kib=rules.memory_kib,
        passes=rules.passes,
        gate_bits=rules.gate_bits,
        free=asks_nothing(rules),
        rows=tuple(_row(charter, community, share, aim) for aim in Aim for share in CAPTURE_SHARES),
        assumes=assumptions(charter, community),
    )


def community_of(world: World) -> Community:
    """Measure a running realm as of its last cut: who may vote, what joining costs, who is trusted.

    Time grows with its agents.
    """
    state = world.state
    reviewers = {
        name: view for name, view in state.views.items() if view.reviewer and not view.barred
    }
    weights = _one_voices(reviewers)
    places = {name: place for place, name in enumerate(sorted(state.instances))}
    operators = {name: n for n, name in enumerate(sorted({v.operator for v in reviewers.values()}))}
    seeds = charter_seeds(world.charter)
    held: Counter[tuple[int, int]] = Counter()
    firm: Counter[tuple[int, int]] = Counter()
    for name, view in reviewers.items():
        where = operators[view.operator], places[view.instance]
        held[where] += weights[name]
        firm[where] += firm_weight(
            world.charter,
            weights[name],
            competence=state.agents[name].competence,
            is_seed=name in seeds,
        )
    return Community(
        voters=electorate_of(
            world.charter.trust,
            tuple(
                Cell(operator=where[0], instance=where[1], weight=weight, firm=firm[where])
                for where, weight in sorted(held.items())
            ),
            instances=len(places),
        ),
        door=Door(bits=state.joining.bits, agents=len(state.agents), instances=len(places)),
        trusts=tuple(nlargest(MOST_TRUSTED, (agent.trust for agent in state.agents.values()))),
    )


def _one_voices(reviewers: Mapping[AgentId, AgentView]) -> Mapping[AgentId, Weight]:
    """Weigh reviewers with clones as one, as a tally does before its caps."""
    own = weights = {name: view.weight for name, view in reviewers.items()}
    for groups in (
        {name: view.model for name, view in reviewers.items()},
        {name: view.keeper for name, view in reviewers.items()},
    ):
        weights = as_heaviest(weights, groups, own=own)
    return weights


def _row(charter: Charter, community: Community, share: Ppm, aim: Aim) -> CaptureRow:
    plan = capture_plan(charter, community, share, aim)
    if plan is None:
        return CaptureRow(
            share=share,
            aim=aim.value,
            possible=False,
            weight=0,
            identities=0,
            operators=0,
            instances=0,
            fooled=0,
            likely=None,
            alone=0,
            lasts=None,
            hashes=None,
            cheap_lasts=None,
            cheap_hashes=None,
            proofs=0,
            why=(),
        )
    fast, cheap = plan.fast, plan.cheap
    return CaptureRow(
        share=share,
        aim=aim.value,
        possible=True,
        weight=plan.weight,
        identities=plan.identities,
        operators=plan.operators,
        instances=plan.instances,
        fooled=plan.fooled,
        likely=plan.likely,
        alone=plan.alone,
        lasts=_span(charter, plan.epochs),
        hashes=fast.hashes if fast else None,
        cheap_lasts=_span(charter, plan.cheap_epochs),
        cheap_hashes=cheap.hashes if cheap else None,
        proofs=_proofs(charter, plan),
        why=reasons(charter, community, plan),
    )


def _span(charter: Charter, epochs: int | None) -> Millis | None:
    return None if epochs is None else epochs * charter.timing.epoch


def _proofs(charter: Charter, plan: CapturePlan) -> int:
    return 0 if asks_nothing(charter.admission) else plan.identities + plan.operators
