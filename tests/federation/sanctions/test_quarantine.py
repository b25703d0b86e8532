"""The quarantine: what begins it, what ends it, and that it lasts no longer than the charter says."""

from itertools import product

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from msgspec.structs import replace

from federation.sanctions import TABLE, Condition, Event, Quarantine, after, condition, timed_out
from tests.federation.sanctions import violation_rows

_RULES = replace(violation_rows.RULES, quarantine=20, extensions=1)
_WORD = b"\5" * 32


def _begun(event: Event = Event.BROKEN) -> Quarantine:
    made = after(None, event, tick=7, evidence=(_WORD,), rules=_RULES)
    assert made is not None
    return made


def test_an_operators_word_or_chance_begins_it() -> None:
    for event in (Event.BROKEN, Event.RANDOM):
        one = _begun(event)

        assert (one.event, one.since, one.until, one.extended) == (event, 7, 27, 0)
        assert one.evidence == (_WORD,)


def test_the_operators_word_ends_it() -> None:
    assert after(_begun(), Event.REPAIRED, tick=9, rules=_RULES) is None


def test_its_time_is_extended_once_and_then_it_runs_out() -> None:
    one = _begun()
    assert timed_out(one, tick=26, rules=_RULES) is None
    assert timed_out(one, tick=27, rules=_RULES) is Event.TIME_OVER

    longer = after(one, Event.TIME_OVER, tick=27, rules=_RULES)
    assert longer is not None
    assert (longer.since, longer.until, longer.extended) == (7, 47, 1)
    assert longer.evidence == (_WORD,)
    assert timed_out(longer, tick=47, rules=_RULES) is Event.RUN_OUT
    assert after(longer, Event.RUN_OUT, tick=47, rules=_RULES) is None


def test_without_extensions_it_runs_out_at_once() -> None:
    rules = replace(_RULES, extensions=0)

    assert timed_out(_begun(), tick=27, rules=rules) is Event.RUN_OUT


def test_a_row_that_is_missing_changes_nothing() -> None:
    states = {Condition.HEALTHY: None, Condition.QUARANTINED: _begun()}
    missing = [pair for pair in product(Condition, Event) if pair not in TABLE]

    assert len(missing) == 5
    for name, event in missing:
        assert after(states[name], event, tick=9, rules=_RULES) == states[name]


class Ward(RuleBasedStateMachine):
    """One agent in and out of quarantine."""

    def __init__(self) -> None:
        super().__init__()
        self.tick = 0
        self.quarantine: Quarantine | None = None
        self.ran_out = 0

    @rule(event=st.sampled_from([Event.BROKEN, Event.RANDOM, Event.REPAIRED]))
    def happen(self, event: Event) -> None:
        before = self.quarantine
        self.quarantine = after(before, event, tick=self.tick, rules=_RULES)

        to = TABLE.get((condition(before), event), condition(before))
        assert condition(self.quarantine) is to

    @rule(ticks=st.integers(1, 30))
    def wait(self, ticks: int) -> None:
        for _ in range(ticks):
            self.tick += 1
            if self.quarantine is None:
                continue
            event = timed_out(self.quarantine, tick=self.tick, rules=_RULES)
            if event is not None:
                self.quarantine = after(self.quarantine, event, tick=self.tick, rules=_RULES)
            if self.quarantine is not None:
                # At the latest after its time and all extensions it is over.
                most = _RULES.quarantine * (1 + _RULES.extensions)
                assert self.tick < self.quarantine.since + most


TestWard = Ward.TestCase
