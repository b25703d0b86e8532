"""The table of kinds: complete, one body each, nobody votes who must not; and its page agrees."""

import re

import pytest

from federation.core import Code
from federation.records import KINDS, ArtifactText, Kind, Note, Role
from tests import strategies
from tests.federation.records.reference_page import PAGE, written
from tests.smallest_bodies import smallest


def test_every_kind_has_a_row_a_builder_and_a_strategy() -> None:
    assert list(KINDS) == list(Kind)
    assert set(strategies.BODIES) == set(Kind)
    assert all(smallest(kind) for kind in Kind)


def test_no_two_kinds_share_a_body() -> None:
    assert len({spec.body for spec in KINDS.values()}) == len(KINDS)


def test_only_agents_propose_argue_and_vote() -> None:
    deliberating = [
        kind
        for kind in Kind
        if kind.startswith(("artifact.", "review.", "dispute.", "sanction."))
        and kind is not Kind.NEAR
    ]

    assert len(deliberating) == 16
    assert all(KINDS[kind].authors == {Role.AGENT} for kind in deliberating)


@pytest.mark.parametrize("kind", [Kind.HEALTH, Kind.ADMIN, Kind.ADOPT, Kind.COSIGN])
def test_only_operators_decide_by_hand_and_change_the_rules(kind: Kind) -> None:
    assert KINDS[kind].authors == {Role.OPERATOR}


def test_only_instances_admit_and_certify_and_only_operators_delegate() -> None:
    for kind in (Kind.OPERATOR_ADMIT, Kind.AGENT_ADMIT, Kind.CERTIFICATE, Kind.NEAR):
        assert KINDS[kind].authors == {Role.INSTANCE}
    assert KINDS[Kind.DELEGATE].authors == {Role.OPERATOR}


def test_only_agents_vouch_and_only_instances_show_whom_a_realm_trusts() -> None:
    assert KINDS[Kind.AGENT_VOUCH].authors == KINDS[Kind.AGENT_UNVOUCH].authors == {Role.AGENT}
    assert KINDS[Kind.TRUST_HEAD].authors == {Role.INSTANCE}


def test_a_kind_has_prose_exactly_if_its_body_names_a_text() -> None:
    for spec in KINDS.values():
        named = "text_hash" in spec.body.__struct_fields__
        assert (spec.text is not None) == named
        assert not named or "text_len" in spec.body.__struct_fields__
    assert KINDS[Kind.PROPOSE].text is ArtifactText
    assert KINDS[Kind.REVISE].text is ArtifactText
    assert KINDS[Kind.ARGUE].text is KINDS[Kind.DISPUTE].text is Note


def test_every_kind_counts_from_the_first_protocol_level() -> None:
    assert {spec.level for spec in KINDS.values()} == {1}


def test_the_made_parts_of_the_page_are_those_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert written(page) == page, "run: python -m tests.federation.records.reference_page"


def test_the_page_gives_every_code_once_and_invents_none() -> None:
    fates = PAGE.read_text(encoding="utf-8").split("## Fates")[1].split("## Fields")[0]
    rows, rest = fates.rsplit("|\n", 1)
    listed = re.findall(r"`([A-Z_]+)`", rows)
    elsewhere = [Code.WRONG_REALM, Code.WRONG_CHARTER, Code.OUT_OF_RANGE]

    assert sorted([*listed, *elsewhere]) == sorted(Code)
    assert all(f"`{code}`" in rest for code in elsewhere)
