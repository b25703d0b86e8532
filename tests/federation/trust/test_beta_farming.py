"""Rings that praise each other, through real rounds: what they earn and what they cannot."""

import math
from itertools import pairwise

from msgspec.structs import replace as changed

from federation.charter import Trust, preset
from federation.core import MILLION
from federation.crypto import Choice
from federation.trust import Decision, Ledger, RoundOutcome, Vote, evidence_of

TRUST = preset("community").trust
UNCAPPED = changed(
    TRUST, farm_cap=100 * MILLION, farm_source_cap=100 * MILLION, window=100_000, decay=0
)


def _name(n: int) -> bytes:
    return bytes([n]) * 32


def _ring(size: int, ticks: int, trust: Trust, *, operators: int) -> Ledger:
    """Let each of `size` agents propose at each tick and all the others approve strongly."""
    ledger = Ledger(trust)
    for tick in range(ticks):
        for author in range(size):
            votes = tuple(
                Vote(
                    voter=_name(n),
                    operator=_name(200 + n % operators),
                    choice=Choice.FOR,
                    practice=False,
                )
                for n in range(size)
                if n != author
            )
            outcome = RoundOutcome(
                round_id=tick.to_bytes(16, "big") + author.to_bytes(16, "big"),
                tick=tick,
                author=_name(author),
                author_operator=_name(200 + author % operators),
                home_operator=_name(199),
                decision=Decision.ACCEPT,
                strong=True,
                votes=votes,
            )
            ledger.add(evidence_of(outcome, trust.evidence))
    return ledger


def _earned(ledger: Ledger, agent: int) -> int:
    return ledger.undecayed(_name(agent)).alpha - MILLION


def test_a_ring_grows_only_logarithmically() -> None:
    # Four operators, four agents. Each pair has two rows a tick, a vote and a part of an author's.
    ticks = [10, 20, 40, 80, 160]
    earned = [_earned(_ring(4, n, UNCAPPED, operators=4), 0) for n in ticks]
    honest = [n * (3 + 1) * MILLION for n in ticks]
    steps = [after - before for before, after in pairwise(earned)]

    # Twice the work adds about the same again, and no more than 5·ln 2 rows of each pair do:
    # three pairs, of whose two rows one brings 1 and one 1/3.
    bound = 3 * 5 * math.log(2) * (1 + 1 / 3) / 2 * MILLION
    assert all(step < bound * 1.01 for step in steps)
    assert max(steps) - min(steps) < 0.15 * max(steps)
    # Of what sincere work for as many strangers would have brought it keeps little.
    assert earned[-1] < honest[-1] * 0.07


def test_a_larger_ring_of_one_operator_earns_no_more_than_a_small_one() -> None:
    small, large = (
        max(_earned(_ring(size, 60, UNCAPPED, operators=1), n) for n in range(size))
        for size in (3, 9)
    )

    # Each agent has four times the rows a tick, and that adds 5·ln 4 of them at most.
    assert large - small < 5 * math.log(4) * MILLION


def test_no_ring_passes_the_farming_cap_of_a_window() -> None:
    ledger = _ring(6, 130, TRUST, operators=6)
    for agent in range(6):
        entries = ledger.explain(_name(agent), 129)
        for last in (50, 99, 129):
            since = last - TRUST.window
            window = [e.credited for e in entries if since < e.evidence.tick <= last]
            assert sum(window) <= TRUST.farm_cap

    # Fifteen units and the prior against the prior: the most that flattery can show.
    assert ledger.standing(_name(0), 20).r <= 16 * MILLION // 17
