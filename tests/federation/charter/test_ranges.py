import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import Charter, TopicClass, check_ranges, range_faults
from federation.codec import decode, encode
from federation.core import ParameterError, PeerError
from tests.federation.charter.founding import founded, genesis_of


@pytest.fixture(scope="session", name="charter")
def _charter() -> Charter:
    return founded("test", genesis_of([1, 1]))


def test_a_preset_is_within_its_ranges(charter: Charter) -> None:
    assert range_faults(charter) == ()
    check_ranges(charter)


def test_every_value_out_of_range_is_named_by_its_path(charter: Charter) -> None:
    founders = (charter.genesis.founders[0], replace(charter.genesis.founders[1], tier=3))
    wrong = replace(
        charter,
        salt=b"short",
        name="",
        genesis=replace(charter.genesis, founders=founders, seeds=()),
        timing=replace(charter.timing, three="maybe"),
        review=replace(charter.review, k=0, q_min="three"),
    )

    assert [fault.path for fault in range_faults(wrong)] == [
        "name",
        "salt",
        "genesis.founders[1].tier",
        "genesis.seeds",
        "timing.three",
        "review.k",
        "review.q_min",
    ]
    with pytest.raises(ParameterError, match=r"review\.k: 0 is not between 1 and 1000000"):
        check_ranges(wrong)


def test_a_number_is_no_truth_and_a_truth_no_number(charter: Charter) -> None:
    wrong = replace(
        charter,
        review=replace(charter.review, k=True),
        trust=replace(charter.trust, squared=1),
    )
    right = replace(charter, trust=replace(charter.trust, squared=True))

    assert [fault.path for fault in range_faults(wrong)] == ["review.k", "trust.squared"]
    assert range_faults(right) == ()
    assert _is_decoded(right)
    assert not _is_decoded(wrong)


def test_a_list_longer_than_the_wire_allows_is_refused(charter: Charter) -> None:
    records = tuple(n.to_bytes(32, "big") for n in range(1_025))
    wrong = replace(charter, genesis=replace(charter.genesis, records=records))

    assert [fault.why for fault in range_faults(wrong)] == ["it has 1025 items, the most is 1024"]


def test_a_seed_of_another_length_is_refused(charter: Charter) -> None:
    wrong = replace(charter, genesis=replace(charter.genesis, seeds=(b"x",)))

    assert [fault.path for fault in range_faults(wrong)] == ["genesis.seeds[0]"]


def _is_decoded(charter: Charter) -> bool:
    try:
        decode(encode(charter), Charter, what="charter")
    except PeerError:
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(
    epoch=st.integers(-5, 40) | st.integers(2_678_399_990, 2_678_400_010),
    tau=st.integers(-1_000_003, -999_997),
    tier=st.integers(-1, 4),
    prefix=st.sampled_from(["", "a", "a" * 64, "a" * 65]),
)
def test_the_walk_and_the_decoder_agree_on_what_is_legal(
    charter: Charter, epoch: int, tau: int, tier: int, prefix: str
) -> None:
    founder = replace(charter.genesis.founders[0], tier=tier)
    changed = replace(
        charter,
        genesis=replace(charter.genesis, founders=(founder,)),
        timing=replace(charter.timing, epoch=epoch),
        review=replace(
            charter.review,
            tau_reject=tau,
            topics=(TopicClass(prefix=prefix, sensitivity="low"),),
        ),
    )

    assert (range_faults(changed) == ()) == _is_decoded(changed)
