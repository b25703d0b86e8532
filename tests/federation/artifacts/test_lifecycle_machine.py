"""One artifact, driven at random through every action: the table holds, whatever is tried.

Beside the artifact the machine keeps a record of its own of what happened, in the simplest form that
the rules can be said in; after every step both must tell the same story.
"""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from federation.artifacts import (
    TRANSITIONS,
    Action,
    Artifact,
    Credible,
    Dispute,
    Facts,
    Flag,
    Resubmission,
    State,
    Verdict,
    Window,
    apply,
    flag_stale,
    freeze,
    hide,
    in_round,
    show,
)
from federation.core import RefusedError
from tests.federation.artifacts.any_facts import (
    COOLDOWN,
    D_MAX,
    DISPUTES,
    FACTS,
    RESUB_MAX,
    RESUBMISSIONS,
    VERDICTS,
    WINDOWS,
)
from tests.federation.artifacts.forms import (
    ROUND,
    by_rules,
    credible,
    kept,
    quiet_window,
    submission,
    supersession,
    sustained,
    verdict,
)

STANDING = {State.ACTIVE, State.DISPUTED, State.SUPERSEDED}
ROUND_RUNS = {State.PROPOSED, State.UNDER_REVIEW, State.DISPUTED}
# What an honest realm does: random facts alone would seldom come far.
HONEST = st.sampled_from(
    [
        (Action.SUBMIT, submission()),
        (Action.ACCEPT, quiet_window()),
        (Action.BEGIN_REVIEW, quiet_window(objections=1)),
        (Action.ACCEPT, verdict()),
        (Action.DISPUTE, by_rules()),
        (Action.DISPUTE, credible()),
        (Action.KEEP, kept()),
        (Action.RETRACT, sustained()),
        (Action.SUPERSEDE, supersession()),
    ]
)


class Lifecycle(RuleBasedStateMachine):
    """One artifact and a plain record of what happened to it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__()
        self.artifact: Artifact | None = None
        self.tick = 0
        self.filed = 0
        self.reported = 0
        self.came_back = 0
        self.retracted_at: int | None = None
        self.stands_on: list[Verdict] = []
        self.voters: set[bytes] = set()

    # What is tried ------------------------------------------------------------------------------

    @rule(action=st.sampled_from(Action), facts=FACTS)
    def try_anything(self, action: Action, facts: Facts) -> None:
        self.attempt(action, facts)

    @rule(step=HONEST)
    def go_on(self, step: tuple[Action, Facts]) -> None:
        self.attempt(*step)

    @rule(facts=WINDOWS, action=st.sampled_from([Action.ACCEPT, Action.BEGIN_REVIEW]))
    def close_a_window(self, facts: Facts, action: Action) -> None:
        self.attempt(action, facts)

    @rule(
        facts=VERDICTS,
        action=st.sampled_from(
            [Action.ACCEPT, Action.REJECT, Action.TIMEOUT, Action.KEEP, Action.RETRACT]
        ),
    )
    def end_a_round(self, facts: Facts, action: Action) -> None:
        self.attempt(action, facts)

    @rule(facts=DISPUTES)
    def dispute(self, facts: Facts) -> None:
        self.attempt(Action.DISPUTE, facts)

    @rule(facts=RESUBMISSIONS)
    def resubmit(self, facts: Resubmission) -> None:
        self.attempt(Action.RESUBMIT, replace(facts, tick=self.tick))

    @rule(ticks=st.integers(1, COOLDOWN))
    def wait(self, ticks: int) -> None:
        self.tick += ticks

    @precondition(lambda self: self.artifact is not None)
    @rule(note=st.sampled_from([hide, show, "freeze", "stale"]))
    def note(self, note: object) -> None:
        assert self.artifact is not None
        if callable(note):
            self.artifact = note(self.artifact)
        elif note == "freeze" and self.artifact.state in {State.UNDER_REVIEW, State.DISPUTED}:
            self.artifact = freeze(self.artifact)
        elif note == "stale" and self.artifact.state is State.ACTIVE:
            self.artifact = flag_stale(self.artifact, self.tick)

    def attempt(self, action: Action, facts: Facts) -> None:
        """Apply an action, and write down what happened if it was not refused."""
        before = self.artifact
        copy = None if before is None else replace(before)
        row = TRANSITIONS.get((None if before is None else before.state, action))
        try:
            after = apply(before, action, facts, tick=self.tick, d_max=D_MAX)
        except RefusedError:
            assert before == copy
            assert row is None or row.guard(before, facts) is not None
            return
        assert row is not None
        assert after.state is row.to
        assert before == copy
        self.write_down(before, action, facts)
        opens = action in {Action.SUBMIT, Action.DISPUTE, Action.RESUBMIT}
        self.artifact = in_round(after, ROUND) if opens else after

    def write_down(self, before: Artifact | None, action: Action, facts: Facts) -> None:
        match facts:
            case Dispute(by_rules=False):
                assert before is not None
                assert before.disputes < D_MAX
                self.filed += 1
            case Credible():
                self.reported += 1
            case Resubmission():
                assert self.retracted_at is not None
                assert self.tick >= self.retracted_at + COOLDOWN
                self.came_back += 1
            case Verdict():
                self.voters |= {one.voter for one in facts.ballots}
            case _:
                pass
        if action in {Action.ACCEPT, Action.KEEP}:
            said = facts.verdict if isinstance(facts, Window) else facts
            assert isinstance(said, Verdict)
            self.stands_on.append(said)
        if TRANSITIONS[before.state if before else None, action].to is State.RETRACTED:
            self.stands_on.clear()
            self.retracted_at = self.tick

    # What must hold -----------------------------------------------------------------------------

    @invariant()
    def it_stands_exactly_on_certified_verdicts(self) -> None:
        if self.artifact is not None:
            assert bool(self.artifact.accepted) is (self.artifact.state in STANDING)
            assert self.artifact.accepted == tuple(self.stands_on)
            assert all(said.accepted for said in self.artifact.accepted)

    @invariant()
    def its_counts_are_bounded(self) -> None:
        if self.artifact is not None:
            assert self.artifact.disputes == self.filed + self.reported
            assert self.filed <= D_MAX
            assert self.artifact.resubmitted == self.came_back <= RESUB_MAX

    @invariant()
    def it_remembers_its_newest_retraction(self) -> None:
        if self.artifact is not None:
            assert self.artifact.retracted_at == self.retracted_at
            if self.artifact.state is State.RETRACTED:
                assert self.retracted_at is not None

    @invariant()
    def it_names_a_successor_exactly_if_it_has_one(self) -> None:
        if self.artifact is not None:
            has_one = self.artifact.superseded_by is not None
            assert has_one is (self.artifact.state is State.SUPERSEDED)

    @invariant()
    def nothing_is_frozen_once_its_round_has_ended(self) -> None:
        if self.artifact is not None and Flag.FROZEN in self.artifact.flags:
            assert self.artifact.state in ROUND_RUNS

    @invariant()
    def its_sets_have_one_spelling(self) -> None:
        if self.artifact is not None:
            for one in (self.artifact.cites, self.artifact.evidence, self.artifact.voters):
                assert one == tuple(sorted(set(one)))
            assert self.artifact.grounds == tuple(sorted(set(self.artifact.grounds)))
            assert set(self.artifact.voters) == self.voters

    @invariant()
    def a_ground_is_kept_only_while_it_stands(self) -> None:
        if self.artifact is not None and self.artifact.grounds:
            assert self.artifact.state in STANDING


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(stateful_step_count=40)
