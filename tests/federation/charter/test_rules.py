from typing import Any

import pytest
from msgspec.structs import replace

from federation.charter import Charter, FindingCode, Genesis, Severity, TopicClass, preset
from federation.charter.rules import broken_rules, faults_of
from tests.federation.charter.founding import founded, genesis_of


def _broken(charter: Charter) -> list[tuple[FindingCode, str]]:
    found = list(broken_rules(charter))
    assert all(finding.severity is Severity.ERROR for finding in found)
    return [(finding.code, finding.what) for finding in found]


@pytest.mark.parametrize(
    ("section", "changes", "named"),
    [
        ("timing", {"cut_min": 6_000}, "timing.cut_min"),
        ("review", {"k": 1_001}, "review.k"),
        ("review", {"tau_reject": 300_000}, "review.tau_reject"),
        ("review", {"commit_min": 6_000}, "review.commit_min"),
        ("disputes", {"q_dispute": 2}, "review.q_min"),
        ("disputes", {"q_dispute": 901}, "disputes.q_dispute"),
        ("disputes", {"tau_retract": 299_999}, "review.tau_accept"),
        ("disputes", {"r_dispute": 249_999}, "review.r_min"),
        ("sanctions", {"warning": 5}, "sanctions.warning"),
        ("sanctions", {"limit": 7}, "sanctions.limit"),
        ("sanctions", {"probation": 11}, "sanctions.probation"),
        ("sanctions", {"ban": 9}, "sanctions.suspension"),
        ("trust", {"w_max": 40_000}, "trust.w_min"),
        ("trust", {"b_floor": 700_001}, "trust.b_floor"),
        ("trust", {"farm_cap": 2_000_000}, "trust.farm_source_cap"),
        ("trust", {"tier1_interactions": 19, "tier2_interactions": 18}, "trust.tier1_interactions"),
        ("trust", {"founder_interactions": 4}, "trust.tier1_interactions"),
        ("trust", {"tier1_r": 700_001}, "trust.tier1_r"),
    ],
)
def test_numbers_in_the_wrong_order_are_named(
    section: str, changes: dict[str, Any], named: str
) -> None:
    rules = replace(getattr(preset("test"), section), **changes)
    found = _broken(founded("test", genesis_of([5]), **{section: rules}))

    assert [code for code, _ in found] == [FindingCode.ORDER]
    assert found[0][1].startswith(named)


@pytest.mark.parametrize(
    ("low", "value"),
    [
        ("vote_weak", 1_000_001),
        ("survived", 1_000_001),
        ("dispute_dismissed", 2_000_001),
    ],
)
def test_amounts_of_evidence_in_the_wrong_order_are_named(low: str, value: int) -> None:
    trust = preset("test").trust
    most = replace(trust, evidence=replace(trust.evidence, **{low: value - 1}))
    more = replace(trust, evidence=replace(trust.evidence, **{low: value}))

    assert _broken(founded("test", genesis_of([5]), trust=most)) == []
    ((code, what),) = _broken(founded("test", genesis_of([5]), trust=more))
    assert code is FindingCode.ORDER
    assert what.startswith(f"trust.evidence.{low}")


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        # The assessment of a report takes longer than any window for objections: 5 s.
        ({}, 16_000),
        ({"fast_high": 7_000}, 18_000),
        ({"mode": "rounds", "turns": 4}, 19_000),
        ({"mode": "sealed_first", "seal": 2_000}, 20_000),
    ],
)
def test_a_deadline_before_the_end_of_commit_is_refused(
    changes: dict[str, Any], needed: int
) -> None:
    review = replace(preset("test").review, **changes, deadline=needed)
    short = replace(review, deadline=needed - 1)

    assert _broken(founded("test", genesis_of([5]), review=review)) == []
    found = _broken(founded("test", genesis_of([5]), review=short))
    assert [code for code, _ in found] == [FindingCode.DEADLINE]


@pytest.mark.parametrize(
    "changes",
    [
        {"mode": "rounds"},
        {"mode": "rounds", "turns": 2, "deliberate": 0},
        {"mode": "sealed_first"},
    ],
)
def test_a_mode_of_debate_needs_what_it_debates_with(changes: dict[str, Any]) -> None:
    review = replace(preset("test").review, **changes)

    assert [code for code, _ in _broken(founded("test", genesis_of([5]), review=review))] == [
        FindingCode.MODE
    ]


def test_the_faults_of_a_charter_are_its_errors() -> None:
    charter = founded("test", genesis_of([5]))
    broken = replace(charter, review=replace(charter.review, q_min=8))
    wild = replace(charter, review=replace(charter.review, k=0, q_min=0))

    assert faults_of(charter) == ()
    # The quorum of a dispute is below that of the review as well.
    assert len(faults_of(broken)) == 2
    assert [fault.partition(":")[0] for fault in faults_of(wild)] == ["review.k", "review.q_min"]


def test_a_topic_classed_twice_is_refused() -> None:
    twice = (
        TopicClass(prefix="a", sensitivity="low"),
        TopicClass(prefix="a", sensitivity="high"),
    )
    review = replace(preset("test").review, topics=twice)

    assert [code for code, _ in _broken(founded("test", genesis_of([5]), review=review))] == [
        FindingCode.ORDER
    ]


@pytest.mark.parametrize(
    "changes", [{"voting": "blend"}, {"competence": "audited"}], ids=["blend", "audited"]
)
def test_every_way_to_weigh_votes_may_be_chosen(changes: dict[str, Any]) -> None:
    trust = replace(preset("test").trust, **changes)

    assert _broken(founded("test", genesis_of([5]), trust=trust)) == []


def test_windows_of_seconds_are_for_tests_only() -> None:
    rules = preset("test")
    short = replace(rules.review, mode="sealed_first", seal=1_000, appeal=1_000, rule=1_000)
    charter = founded(
        "solo", genesis_of([5]), timing=rules.timing, review=short, disputes=rules.disputes
    )
    found = _broken(charter)

    assert {code for code, _ in found} == {FindingCode.TEST_ONLY}
    assert [what.partition(" is ")[0] for _, what in found] == [
        "timing.epoch",
        "timing.cut_min",
        "timing.leader_timer",
        "review.fast_low",
        "review.seal",
        "review.deliberate",
        "review.commit",
        "review.reveal",
        "review.rule",
        "review.appeal",
        "review.admin",
        "review.deadline",
        "disputes.assess",
    ]


@pytest.mark.parametrize("field", ["agent_bits", "operator_bits", "gate_bits"])
def test_joining_for_nothing_is_for_tests_only(field: str) -> None:
    admission = replace(preset("community").admission, **{field: 0})
    ((code, what),) = _broken(founded("community", genesis_of([5]), admission=admission))

    assert code is FindingCode.TEST_ONLY
    assert what == f"admission.{field} is 0"
    assert _broken(founded("test", genesis_of([5]), admission=admission)) == []


def test_bits_that_could_never_be_asked_for_are_refused() -> None:
    plain = preset("community").admission
    narrow = replace(plain, most_bits=8)
    hard = replace(plain, operator_bits=26)

    for admission, what in (
        (narrow, "admission.agent_bits is 9, above admission.most_bits, which is 8"),
        (hard, "the puzzle of operators can come to 33 bits"),
    ):
        found = _broken(founded("community", genesis_of([5]), admission=admission))
        assert found == [(FindingCode.ORDER, what)]
    widest = replace(plain, operator_bits=25)
    assert _broken(founded("community", genesis_of([5]), admission=widest)) == []


def test_a_phase_that_is_left_out_is_not_too_short() -> None:
    review = replace(preset("solo").review, fast_low=0, deliberate=0)

    assert _broken(founded("solo", genesis_of([5]), review=review)) == []


def _genesis_faults(genesis: Genesis) -> str:
    charter = founded("test", genesis)
    charter = replace(charter, genesis=genesis)
    found = _broken(charter)
    assert all(code is FindingCode.GENESIS for code, _ in found)
    return " · ".join(what for _, what in found)


def test_a_genesis_that_fits_together_has_no_faults() -> None:
    genesis = genesis_of([2, 2])
    seeded = replace(genesis, seeds=(genesis.founders[1].agent,))

    assert _genesis_faults(genesis) == _genesis_faults(seeded) == ""


def test_lists_of_a_genesis_must_be_sorted() -> None:
    genesis = genesis_of([2, 2])

    assert "records is not sorted" in _genesis_faults(
        replace(genesis, records=genesis.records[::-1])
    )


def test_a_repeated_founder_is_refused() -> None:
    genesis = genesis_of([1])

    assert "founders is not sorted" in _genesis_faults(
        replace(genesis, founders=genesis.founders * 2)
    )


def test_two_instances_may_not_share_a_key() -> None:
    genesis = genesis_of([1, 1])
    copied = replace(genesis.instances[1], key=genesis.instances[0].key)

    assert "share one key" in _genesis_faults(
        replace(genesis, instances=(genesis.instances[0], copied))
    )


def test_every_operator_that_answers_must_be_listed() -> None:
    genesis = genesis_of([1, 1])
    faults = _genesis_faults(replace(genesis, operators=genesis.operators[:1]))

    # Both the instance and the founder of the missing operator.
    assert faults.count("is not in genesis.operators") == 2


def test_a_founder_needs_a_founding_instance() -> None:
    genesis = genesis_of([1])
    founder = replace(genesis.founders[0], instance=b"?" * 32)

    assert "admitted by no founding instance" in _genesis_faults(
        replace(genesis, founders=(founder,))
    )


def test_badges_are_sorted_without_repeats() -> None:
    genesis = genesis_of([1])
    founder = replace(genesis.founders[0], badges=("moderator", "arbiter"))

    assert "badges" in _genesis_faults(replace(genesis, founders=(founder,)))


def test_a_seed_must_be_a_founder() -> None:
    assert "a seed is not a founder" in _genesis_faults(
        replace(genesis_of([1]), seeds=(b"?" * 32,))
    )


def test_every_inception_must_be_listed() -> None:
    genesis = genesis_of([1])

    assert "1 inceptions" in _genesis_faults(replace(genesis, records=genesis.records[1:]))
