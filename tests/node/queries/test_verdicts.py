"""Verdicts in words: every rule has its sentence, and no narrow reason is left out."""

from dataclasses import replace

import pytest

from federation.artifacts import DecidedBy, Narrow
from federation.artifacts import Verdict as Decided
from federation.charter import preset
from federation.core import MILLION
from federation.trust import Decision
from node.queries.verdicts import explain, spell, verdict_of
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import plain, voted

CHARTER = preset("test")


def decided(**fields: object) -> Decided:
    base = Decided(
        round=bytes(32),
        decision=Decision.ACCEPT,
        by=DecidedBy.VOTE,
        numerator=900_000,
        denominator=2_000_000,
        v_ppm=450_000,
        strong=False,
        quorum=True,
        quorum_needed=3,
        operators=3,
    )
    return replace(base, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("by", "decision", "word"),
    [
        (DecidedBy.VOTE, Decision.ACCEPT, "Accepted by vote: V = 0.450 (900000 of 2000000)"),
        (DecidedBy.VOTE, Decision.REJECT, "at or below the -0.200 that rejects"),
        (DecidedBy.SIGN, Decision.REJECT, "Rejected by the sign of the tally"),
        (DecidedBy.FAST_TRACK, Decision.ACCEPT, "nobody had objected"),
        (DecidedBy.SHORTFALL, Decision.REJECT, "policy for too few ballots"),
        (DecidedBy.TIMEOUT, Decision.REJECT, "passed its deadline"),
    ],
)
def test_every_rule_has_its_sentence(by: DecidedBy, decision: Decision, word: str) -> None:
    assert word in explain(decided(by=by, decision=decision), CHARTER)


def test_every_narrow_reason_is_shown_with_a_sentence() -> None:
    shown = verdict_of(decided(narrow=tuple(Narrow)), CHARTER)

    assert [one.reason for one in shown.narrow] == list(Narrow)
    assert all(one.why.endswith(".") and "{" not in one.why for one in shown.narrow)
    assert "charter's 3 " in shown.narrow[0].why


def test_without_a_counted_ballot_there_is_no_tally_to_show() -> None:
    assert verdict_of(decided(denominator=0, v_ppm=0), CHARTER).v is None
    assert verdict_of(decided(), CHARTER).v == 450_000


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0.000"), (MILLION, "1.000"), (-MILLION, "-1.000"), (-200_999, "-0.200"), (5, "0.000")],
)
def test_shares_are_spelt_with_three_places(share: int, text: str) -> None:
    assert spell(share) == text


def test_a_small_community_is_told_what_its_verdict_lacks() -> None:
    town = Town.of(1, 5)
    _, name = voted(town, {1: 1, 2: 1, 3: -1})
    world = town.world()
    verdict = world.rounds[name].verdict
    assert verdict is not None
    shown = plain(verdict_of(verdict, world.charter))

    assert isinstance(shown, dict)
    assert [one["reason"] for one in shown["narrow"]] == [
        "relaxed_exclusion",
        "few_operators_counted",
        "few_member_operators",
    ]
    assert (shown["by"], shown["revealed"], shown["operators"]) == ("vote", 3, 1)
