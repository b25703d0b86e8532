import msgspec
import pytest
from msgspec.structs import replace

from federation.charter import amended, preset, read_rules, realm_of, rules_bytes, rules_of
from federation.charter.amendment import RULES_MOST, Rules
from federation.codec import encode
from federation.core import Code, PeerError
from tests.federation.charter.founding import founded, genesis_of


def test_other_rules_leave_the_realm_and_its_founders_alone() -> None:
    charter = founded("test", genesis_of([2, 2]))
    other = amended(charter, preset("federation"), 1)

    assert realm_of(other) == realm_of(charter)
    assert other.genesis == charter.genesis
    assert (other.preset, other.name, other.salt) == (charter.preset, charter.name, charter.salt)
    assert other.number == 1
    assert rules_of(other) == preset("federation")


def test_the_rules_of_a_charter_are_all_that_its_preset_fixes() -> None:
    charter = founded("community", genesis_of([5]))

    assert rules_of(charter) == preset("community")
    assert amended(charter, rules_of(charter), 0) == charter


def test_rules_are_read_from_their_own_bytes_only() -> None:
    rules = preset("robust")
    raw = rules_bytes(rules)

    assert read_rules(raw) == rules
    for other in (b"", raw[:-1], raw + b"\0", encode([1, 2]), b"\xc1" * 40):
        with pytest.raises(PeerError):
            read_rules(other)


def test_rules_with_a_section_more_are_refused() -> None:
    plain = msgspec.to_builtins(preset("test"), builtin_types=(bytes,))

    with pytest.raises(PeerError):
        read_rules(encode({**plain, "genesis": {}}))
    with pytest.raises(PeerError):
        read_rules(encode({name: part for name, part in plain.items() if name != "sanctions"}))


def test_rules_out_of_range_are_refused() -> None:
    rules = preset("test")
    wild = replace(rules, review=replace(rules.review, k=0))

    with pytest.raises(PeerError, match="rules of a charter refused"):
        read_rules(rules_bytes(wild))


def test_more_bytes_than_an_act_can_carry_are_no_rules() -> None:
    with pytest.raises(PeerError) as caught:
        read_rules(b"\0" * (RULES_MOST + 1))

    assert caught.value.code is Code.TOO_LARGE


def test_the_rules_of_every_preset_fit_an_act() -> None:
    assert isinstance(preset("federation"), Rules)
    assert len(rules_bytes(preset("federation"))) < RULES_MOST // 8
