import msgspec
import pytest
from msgspec.structs import replace

from federation.charter import Disputes, Sanctions, preset, range_faults
from federation.charter.amendment import amended
from federation.codec import decode, encode
from federation.core import PeerError
from tests.federation.charter.founding import founded, genesis_of


@pytest.mark.parametrize("kind", [Disputes, Sanctions])
def test_a_section_reads_back_from_its_bytes_and_knows_no_further_field(
    kind: type[Disputes | Sanctions],
) -> None:
    rules = preset("community")
    section = rules.disputes if kind is Disputes else rules.sanctions
    plain = msgspec.to_builtins(section)

    assert decode(encode(section), kind, what="section") == section
    with pytest.raises(PeerError):
        decode(encode({**plain, "mercy": 1}), kind, what="section")


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("disputes", "q_dispute", 0),
        ("disputes", "tau_retract", 0),
        ("disputes", "tau_retract", 1_000_001),
        ("disputes", "timeout", "forget"),
        ("disputes", "assess", 9),
        ("disputes", "cascade", 0),
        ("sanctions", "window", 0),
        ("sanctions", "ban", 0),
        ("sanctions", "divisor", 0),
        ("sanctions", "inherited", 1_000_001),
    ],
)
def test_values_out_of_range_are_named(section: str, field: str, value: object) -> None:
    charter = founded("test", genesis_of([3]))
    rules = preset("test")
    rules = replace(rules, **{section: replace(getattr(rules, section), **{field: value})})

    assert [fault.path for fault in range_faults(amended(charter, rules, 1))] == [
        f"{section}.{field}"
    ]
