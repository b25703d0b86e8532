from federation.artifacts import Flag
from federation.artifacts.facts import frozen, wrong_facts
from federation.core import Code
from tests.federation.artifacts.forms import proposed


def test_facts_of_another_action_are_refused_with_what_would_be_needed() -> None:
    refusal = wrong_facts("the accepted revision")

    assert refusal.code is Code.GUARD_FAILED
    assert "the accepted revision" in refusal.why
    assert refusal.fix == "give the accepted revision"


def test_only_the_flag_frozen_freezes() -> None:
    others = frozenset(Flag) - {Flag.FROZEN}
    refusal = frozen(proposed(flags=frozenset({Flag.FROZEN})))

    assert frozen(proposed(flags=others)) is None
    assert refusal is not None
    assert refusal.code is Code.FROZEN
