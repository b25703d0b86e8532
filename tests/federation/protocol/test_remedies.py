"""Remedies: every code of the door has one, and none of them is a shrug."""

import pytest

from federation.core import Code
from federation.protocol.remedies import FIXES, remedy
from federation.records import (
    AgentAdmit,
    AgentUnvouch,
    Appeal,
    Custody,
    FlagStale,
    Ground,
    Withdraw,
)
from federation.records.curation_bodies import DisputeFile

NAME = bytes(32)
CURATION = [
    code
    for code in Code
    if list(Code).index(Code.AUTHORS_OPERATOR)
    <= list(Code).index(code)
    <= list(Code).index(Code.BAD_CHARTER)
]


@pytest.mark.parametrize("code", CURATION)
def test_every_code_of_curation_has_a_remedy_of_its_own(code: Code) -> None:
    assert code in FIXES
    assert remedy(None, code) != remedy(None, Code.OUT_OF_RANGE)


def test_no_two_codes_of_curation_ask_for_the_same() -> None:
    assert len({FIXES[code] for code in CURATION}) == len(CURATION) >= 25


def test_a_remedy_depends_on_what_was_refused() -> None:
    dispute = DisputeFile(artifact=NAME, ground=Ground.OUTDATED)
    stale = FlagStale(artifact=NAME, evidence=(NAME,))
    said = {
        remedy(body, Code.OVER_QUOTA)
        for body in (
            dispute,
            AgentUnvouch(agent=NAME, reason="r"),
            AgentAdmit(agent=NAME, operator=NAME, delegate=NAME, custody=Custody.SELF, proof=None),
            None,
        )
    }

    assert len(said) == 4
    assert remedy(dispute, Code.OVER_QUOTA) == remedy(stale, Code.OVER_QUOTA)
    assert "page" in remedy(Withdraw(artifact=NAME, reason="r"), Code.GUARD_FAILED)
    assert "sanctioned" in remedy(Appeal(sanction=NAME), Code.NOT_AUTHOR)


def test_an_unknown_code_asks_for_patience() -> None:
    assert remedy(None, Code.BAD_CHAIN) == "let a cut pass, and try again"
