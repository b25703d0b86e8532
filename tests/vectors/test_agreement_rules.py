"""Both readings come to the same lists, cuts, verdicts, worlds and reputations.

What this library comes to stands in the files: the test that makes them again compares. Here the
second readers work it all out from the inputs that stand beside it.
"""

from typing import Final

import pytest

from federation.certificates import blob_hash, chains_blob
from federation.records import parse_record
from tests.vectors import cuts_reader, fresh_reader, rounds_reader, trust_reader
from tests.vectors.agreement_reader import pack, tagged_hash
from tests.vectors.agreement_rows import (
    Row,
    as_bytes,
    as_list,
    as_row,
    by_name,
    load,
    many,
    number,
    plain,
    shown,
    under,
    unhex,
    word,
)
from tests.vectors.certificates_reader import judge_chains, value_digest
from tests.vectors.second_reader import read_canonical, split

FRESH: Final = load("fresh.json")
ROUNDS: Final = load("rounds.json")
CUTS: Final = load("cuts.json")
TRUST: Final = load("trust.json")


# fresh.json


@pytest.mark.parametrize("case", many(FRESH, "holdings"), ids=by_name)
def test_both_readings_name_the_same_of_what_a_member_holds(case: Row) -> None:
    assert fresh_reader.holding(case) == plain(case["ids"])


@pytest.mark.parametrize("case", many(FRESH, "backlogs"), ids=by_name)
def test_both_readings_share_a_witness_out_alike(case: Row) -> None:
    blob = fresh_reader.backlog(case)

    assert tagged_hash("blob", blob).hex() == case["blob"]
    assert judge_chains(blob) == "OK"


@pytest.mark.parametrize("case", many(FRESH, "lists"), ids=by_name)
def test_both_readings_make_the_same_list_of_the_witnesses(case: Row) -> None:
    slot = [plain(case["round"]), word(case, "phase")]

    _compare(fresh_reader.fresh_list(case), under(case, "outcome"), slot)


@pytest.mark.parametrize("case", many(FRESH, "cuts"), ids=by_name)
def test_both_readings_make_the_same_cut_of_the_witnesses(case: Row) -> None:
    outcome = under(case, "outcome")
    found = fresh_reader.fresh_cut(case)

    _compare(found, outcome, ["cut", case["number"], plain(case["previous"])])
    assert found.positions == plain(outcome.get("positions"))


def _compare(found: fresh_reader.Outcome, outcome: Row, slot: object) -> None:
    assert found.what == outcome["what"]
    assert found.value == plain(outcome.get("value"))
    assert list(found.missing) == plain(outcome.get("missing", []))
    if found.what == "value":
        assert value_digest(slot, found.value).hex() == outcome["digest"]


@pytest.mark.parametrize("case", many(FRESH, "cuts"), ids=by_name)
def test_both_readings_write_the_chains_of_a_witness_alike(case: Row) -> None:
    for one in many(case, "witnesses"):
        rows = [as_list(row) for row in as_list(plain(one["chains"]))]
        written = pack(
            [
                [author, [sorted(map(as_bytes, as_list(names))) for names in as_list(levels)]]
                for author, levels in sorted(rows, key=lambda row: as_bytes(row[0]))
            ]
        )
        held = {
            as_bytes(author): [list(map(as_bytes, as_list(names))) for names in as_list(levels)]
            for author, levels in rows
        }

        assert chains_blob(held, beacon=bytes(32)) == written
        assert blob_hash(written) == tagged_hash("blob", written)
        assert judge_chains(written) == "OK"


# rounds.json


@pytest.mark.parametrize("case", many(ROUNDS, "rounds"), ids=by_name)
def test_both_readings_name_a_round_and_its_lists(case: Row) -> None:
    lists = many(case, "lists")
    found = rounds_reader.digests(ROUNDS, case)

    assert rounds_reader.round_id(ROUNDS, case) == plain(case["round"])
    assert found == [(plain(one["digest"]), plain(one["after"])) for one in lists]


@pytest.mark.parametrize("case", many(ROUNDS, "rounds"), ids=by_name)
def test_both_readings_commit_to_every_ballot_alike(case: Row) -> None:
    for ballot in many(case, "ballots"):
        assert rounds_reader.commitment_of(ROUNDS, case, ballot) == plain(ballot["commitment"])


@pytest.mark.parametrize("case", many(ROUNDS, "rounds"), ids=by_name)
def test_both_readings_come_to_the_same_tally_and_verdict(case: Row) -> None:
    tally, found = under(case, "tally"), rounds_reader.read(case)

    assert [[voter, weight] for voter, weight in found.weights.items()] == plain(tally["weights"])
    assert (found.numerator, found.denominator) == (tally["numerator"], tally["denominator"])
    assert found.practice == plain(tally["practice"])
    assert found.unrevealed == plain(tally["unrevealed"])
    assert found.verdict == case["verdict"]


def test_the_records_of_a_round_name_the_lists_before_them() -> None:
    (case,) = [one for one in many(ROUNDS, "rounds") if "wire" in _records(one)[0]]
    ballots = {rounds_reader.named(one, "voter"): one for one in many(case, "ballots")}
    for one in many(case, "lists"):
        for row in many(one, "records"):
            raw = unhex(row, "wire")
            body = as_row(read_canonical(split(raw)[1]))
            ballot = ballots[rounds_reader.named(row, "author")]

            assert parse_record(rounds_reader.named(ROUNDS, "realm"), raw).id == plain(row["id"])
            assert body["round"] == plain(case["round"])
            assert body["after"] == plain(one["after"])
            if one["phase"] == "commit":
                assert body["commitment"] == plain(ballot["commitment"])
            else:
                assert shown(body["ballot"]) == ballot["ballot"]
                assert body["nonce"] == plain(ballot["nonce"])


def _records(case: Row) -> list[Row]:
    return [row for one in many(case, "lists") for row in many(one, "records")] or [{}]


# cuts.json


def test_both_readings_come_to_the_same_world_at_every_cut() -> None:
    history = cuts_reader.History(CUTS)
    for cut in many(CUTS, "cuts"):
        told = history.read(cut)

        assert list(told.faults) == []
        assert told.digest == plain(cut["digest"])
        assert told.beacon == plain(cut["beacon"])
        assert dict(told.roots) == {name: plain(root) for name, root in under(cut, "roots").items()}
        assert told.world == plain(cut["world"])


def test_the_cuts_hold_what_makes_them_worth_comparing() -> None:
    zero, *cuts = many(CUTS, "cuts")
    charter = as_row(read_canonical(unhex(CUTS, "charter")))
    ticks = [as_list(plain(cut["value"]))[1] for cut in cuts]

    assert tagged_hash("charter", unhex(CUTS, "charter")) == plain(CUTS["charter_hash"])
    assert len(as_list(as_row(charter["genesis"])["founders"])) == 5
    assert zero["number"] == 0
    assert set(ticks) == {False, True}
    assert any(many(cut, "nonces") for cut in cuts)
    assert all(
        any(under(cut, "changed")[name] for cut in (zero, *cuts)) for name in cuts_reader.TABLES
    )


@pytest.mark.parametrize(
    ("at", "fault"), [(0, "number"), (2, "positions"), (3, "world of the cut before")]
)
def test_the_second_reader_notices_a_changed_cut(at: int, fault: str) -> None:
    zero, first, *_ = many(CUTS, "cuts")
    value = list(as_list(plain(first["value"])))
    value[at] = 2 if at == 0 else bytes(32)
    history = cuts_reader.History(CUTS)
    history.read(zero)
    told = history.read({**first, "value": shown(value)})

    assert fault in told.faults
    assert told.digest != plain(first["digest"])


def test_rows_of_one_bucket_are_hashed_in_the_order_of_their_ids() -> None:
    table = under(CUTS, "table")
    rows = {as_bytes(name): row for name, row in map(as_list, as_list(plain(table["rows"])))}

    assert len({name.hex()[:3] for name in rows}) < len(rows)
    assert cuts_reader.root(rows) == plain(table["root"])
    assert cuts_reader.root({}) == plain(table["empty"])


# trust.json

RULES: Final = under(TRUST, "rules")


@pytest.mark.parametrize("row", many(TRUST, "decay"), ids=lambda row: str(row["decay"]))
def test_evidence_fades_as_the_exponential_does(row: Row) -> None:
    decay = number(row, "decay")

    assert trust_reader.first_factor(decay) == row["one_epoch"]
    for age, factor in under(row, "factors").items():
        assert trust_reader.factor(decay, int(age)) == factor
        if int(age) <= 100:
            assert trust_reader.is_within_bounds(decay, int(age), int(str(factor)))


@pytest.mark.parametrize("case", many(TRUST, "standing"), ids=by_name)
def test_both_readings_fold_evidence_into_the_same_standing(case: Row) -> None:
    rows = many(case, "rows")

    assert trust_reader.undecayed(RULES, rows) == case["undecayed"]
    for at in many(case, "at"):
        assert trust_reader.standing(RULES, rows, number(at, "tick")) == at


@pytest.mark.parametrize("case", many(TRUST, "competence"), ids=by_name)
def test_both_readings_estimate_the_same_competence(case: Row) -> None:
    for agent, b in under(case, "b").items():
        assert trust_reader.competence(RULES, case, agent) == b


def test_both_readings_give_the_same_tiers_and_weights() -> None:
    for case in many(TRUST, "tiers"):
        assert trust_reader.tier(RULES, case) == case["tier"], case
    for case in many(TRUST, "weights"):
        assert trust_reader.weight(RULES, case) == case["weight"], case


def test_both_readings_take_the_same_logarithm_of_audits() -> None:
    for case in many(TRUST, "audited"):
        assert trust_reader.audited(RULES, case) == case["b"], case


@pytest.mark.parametrize("case", many(TRUST, "clones"), ids=by_name)
def test_both_readings_let_clones_share_alike(case: Row) -> None:
    assert trust_reader.clones(case) == case["shared"]


@pytest.mark.parametrize(
    "case", many(TRUST, "caps"), ids=lambda row: f"{row['name']}, {row['share']}"
)
def test_both_readings_cap_groups_alike(case: Row) -> None:
    found = trust_reader.cap(case)

    assert found == {name: case[name] for name in found}


def test_every_vector_of_decay_and_caps_stands_for_something() -> None:
    assert {case["tier"] for case in many(TRUST, "tiers")} == {0, 1, 2}
    assert any(case["capped"] != case["weights"] for case in many(TRUST, "caps"))
    assert any(case["capped"] == case["weights"] for case in many(TRUST, "caps"))
    # Of those that cut anything, some are cut to the half level and some to the water level.
    cut = [case for case in many(TRUST, "caps") if case["capped"] != case["weights"]]
    assert {case["level"] == case["half_level"] for case in cut} == {True, False}
