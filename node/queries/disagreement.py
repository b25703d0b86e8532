"""Where my verdicts part from the canonical ones, and which weights do it.

A local verdict is the tally of an ended round's opened ballots with weights worked out now, by my
seeds and my policy. It binds nobody; the canonical verdict stands. Rounds that opened no ballot have
nothing to weigh and are not compared. Newest first, and no more rounds than asked for.
"""

import heapq
from collections.abc import Iterable
from typing import Final, TypeAlias

import msgspec

from federation.artifacts import DecidedBy
from federation.core import Ppm, Weight
from federation.protocol import LocalView, Round, World
from federation.review import LocalVerdict, Shift, local_verdict
from federation.trust import Decision
from node.queries.names import Who, cid_of, who
from node.queries.texts import article
from node.queries.verdicts import CHOICES, spell

MOST_ROUNDS: Final = 1_000
"""Ended rounds that one answer compares at most."""
MOST_SHOWN: Final = 100
MOST_SHIFTS: Final = 8
"""Weights that are listed for one round, the largest differences first."""

Compared: TypeAlias = tuple[Round, LocalVerdict | None]
"""A round and my verdict; None where no ballot was opened."""


class ShiftedWeight(msgspec.Struct, frozen=True, kw_only=True):
    """A reviewer whose ballot counts otherwise for me."""

    voter: Who
    """The agent that voted."""
    instance: Who
    """The instance that admitted it."""
    choice: str
    """`for`, `abstain` or `against`."""
    canonical: Ppm
    """Share of the counted weight in the round."""
    local: Ppm
    """Share of the weight that I count."""
    why: str
    """What makes the difference, as a sentence."""


class Parting(msgspec.Struct, frozen=True, kw_only=True):
    """A round that I would decide otherwise."""

    round: str
    """Id of the round, in hex."""
    artifact: str
    """Id of the artifact, in hex."""
    artifact_cid: str
    """The same as a CIDv1."""
    title: str | None
    """Title of the artifact; nil if its text is not readable here."""
    cut: int
    """Number of the cut that opened the round."""
    canonical: Decision
    """How the round was decided: that stands."""
    canonical_v: Ppm | None
    """V of the round, rounded down; nil if its Σ w is 0."""
    local: Decision
    """How I would decide it."""
    local_v: Ppm | None
    """V with my weights, rounded down; nil if I count no weight."""
    local_by: DecidedBy
    """The rule that gives my decision."""
    shifts: tuple[ShiftedWeight, ...]
    """The weights that did it, largest difference first; at most 8."""
    why: str
    """The same as a sentence."""


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """All rounds on which my policy and the realm part, among the newest ended ones."""

    cut: int
    """Number of the cut whose world my weights are worked out from."""
    compared: int
    """Ended rounds with opened ballots that were compared."""
    agreed: int
    """Of these, the ones that I would decide alike."""
    parted: int
    """Of these, the ones that I would decide otherwise."""
    more: bool
    """There are older ended rounds, which were not compared."""
    rounds: tuple[Parting, ...]
    """Where we part, newest first; at most as many as asked for."""


def newest_ended(world: World, rounds: int) -> tuple[list[Round], bool]:
    """Give the newest ended rounds, and whether there are more.

    Nothing about them changes any more, so the world may go on while they are compared.
    """
    ended = (one for one in world.rounds.values() if one.phase is None and one.verdict is not None)
    found = heapq.nlargest(rounds + 1, ended, key=lambda one: (one.pin.cut, one.pin.round))
    return found[:rounds], len(found) > rounds


def compare(one: Round, seen: LocalView) -> Compared:
    """Count the ballots of one ended round again."""
    return one, local_verdict(one.pin, one.finals, seen.weights)


def page(
    world: World, seen: LocalView, compared: Iterable[Compared], *, more: bool, most: int
) -> Disagreement:
    """Show what came of comparing rounds, given newest first."""
    counted = [(one, mine) for one, mine in compared if mine is not None]
    parted = [(one, mine) for one, mine in counted if _parts(one, mine)]
    return Disagreement(
        cut=seen.cut,
        compared=len(counted),
        agreed=len(counted) - len(parted),
        parted=len(parted),
        more=more,
        rounds=tuple(_parting(world, seen, one, mine) for one, mine in parted[:most]),
    )


def _parts(one: Round, mine: LocalVerdict) -> bool:
    return one.verdict is not None and one.verdict.decision is not mine.decision


def _parting(world: World, seen: LocalView, one: Round, mine: LocalVerdict) -> Parting:
    verdict = one.verdict
    assert verdict is not None, "only ended rounds are compared"  # noqa: S101 # our own invariant
    _, text = article(world, world.state.artifacts[one.pin.artifact])
    moved = [shift for shift in mine.shifts if shift.size]
    return Parting(
        round=one.pin.round.hex(),
        artifact=one.pin.artifact.hex(),
        artifact_cid=cid_of(one.pin.artifact),
        title=text.title if text else None,
        cut=one.pin.cut,
        canonical=verdict.decision,
        canonical_v=_v(verdict.v_ppm, verdict.denominator),
        local=mine.decision,
        local_v=_v(mine.v_ppm, mine.denominator),
        local_by=mine.by,
        shifts=tuple(_shift(world, seen, one, shift) for shift in moved[:MOST_SHIFTS]),
        why=(
            f"The realm decided to {verdict.decision} with V = "
            f"{_spelled(verdict.v_ppm, verdict.denominator)}; with my weights V is "
            f"{_spelled(mine.v_ppm, mine.denominator)}, which leads to {mine.decision} by {mine.by}."
        ),
    )


def _v(v_ppm: Ppm, denominator: Weight) -> Ppm | None:
    return v_ppm if denominator else None


def _spelled(v_ppm: Ppm, denominator: Weight) -> str:
    return spell(v_ppm) if denominator else "nothing, as no weight is left"


def _shift(world: World, seen: LocalView, one: Round, shift: Shift) -> ShiftedWeight:
    view = one.pin.agents[shift.voter]
    own = seen.weights.get(shift.voter)
    if own is None:
        why = "Its weight is the round's; that of others moved its share."
    elif own == 0:
        observed = world.state.agents[shift.voter].instance in seen.observed
        why = (
            "I only observe its instance."
            if observed
            else "My trust in it does not reach a ticket."
        )
    else:
        why = f"Before caps I weigh it {spell(own)}; the round weighed it {spell(view.weight)}."
    return ShiftedWeight(
        voter=who(world, shift.voter),
        instance=who(world, view.instance),
        choice=CHOICES[shift.choice],
        canonical=shift.canonical,
        local=shift.local,
        why=why,
    )
