"""The whole curation protocol, driven at random: what must hold holds after every step.

One machine over 1 or 3 instances in one process. Agents propose, dispute, report, vote, rule; so do
operators decide and adopt other rules; all of them through the door or past it. Time passes and
instances go away. After every step all worlds are sound, what was refused has changed nothing, and
the door and the cut have said the same. At the end every artifact comes to a terminal state in time.
"""

from typing import Final

import pytest
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from federation.artifacts import State as ArtifactState
from federation.certificates import Phase
from federation.core import ArtifactId
from federation.protocol import World
from federation.records import (
    ActCosign,
    AdminReview,
    AgentHealth,
    Appeal,
    Decree,
    Health,
    Ruled,
)
from federation.review import box
from federation.review.lots import drawn_arbiters
from tests.builders import artifact_text, propose
from tests.federation.protocol.adopting import adoption, other_rules
from tests.machines import matters
from tests.machines.moot import AGENTS, ARBITERS, MODERATORS, Moot, live_round, moot
from tests.machines.oversight import came_to, rebuilt

WHO: Final = st.integers(0, AGENTS - 1)
WHICH: Final = st.integers(0, 7)
CHOICE: Final = st.sampled_from([1, 1, 0, -1, -1])
CHOICES: Final = st.lists(CHOICE, min_size=AGENTS, max_size=AGENTS)
KIND: Final = st.sampled_from([0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 6])
"""Numbers of `matters.filing`."""
MOSTLY: Final = st.sampled_from([True, True, True, False])
RULED: Final = st.sampled_from(Ruled)
PAST: Final = st.booleans()


class Curation(RuleBasedStateMachine):
    """People, arbiters, moderators and operators of one realm."""

    moot: Moot

    @initialize(
        instances=st.sampled_from([1, 3]),
        mode=st.sampled_from(["open", "rounds", "sealed_first"]),
        timeout=st.sampled_from(["keep", "retract"]),
        kind=st.sampled_from([3, 5, 6]),
        choices=CHOICES,
        ruled=RULED,
        turns=st.integers(0, 16),
    )
    def found(
        self,
        *,
        instances: int,
        mode: str,
        timeout: str,
        kind: int,
        choices: list[int],
        ruled: Ruled,
        turns: int,
    ) -> None:
        """Found the realm; of two artifacts that stand one is disputed or reported."""
        self.moot = moot(instances, mode, timeout)
        self.file_one(4, 0, kind, fits=True, new=True, past=False, looks=False)
        self.moot.town.rest(800)
        self.hold(choices, set(), ruled, contests=turns % 2 == 0, turns=turns)

    def artifact(self, world: World, which: int) -> ArtifactId:
        names = sorted(world.state.artifacts)
        return names[which % len(names)]

    # About artifacts ------------------------------------------------------------------------------

    @rule(who=WHO, which=WHICH, topic=st.sampled_from(["code", "notes"]), past=PAST, looks=PAST)
    def propose(self, *, who: int, which: int, topic: str, past: bool, looks: bool) -> None:
        """Propose a new text, which rests on another now and then, or an old one once more."""
        world = self.moot.home(who)
        if world is None:
            return
        self.moot.count += 1
        cites = (self.artifact(world, which),) if which % 2 else ()
        title = "First 0" if which == 0 else f"Claim {self.moot.count}"
        said = propose(artifact_text(title=title), topics=(topic,), cites=cites)
        self.moot.say(who, *said, past=past, looks=looks)

    @rule(who=WHO, which=WHICH, own=st.booleans(), past=PAST, looks=PAST)
    def revise(self, *, who: int, which: int, own: bool, past: bool, looks: bool) -> None:
        """Revise an artifact: one's own, or that of somebody else."""
        world = self.moot.home(who)
        if world is None:
            return
        self.moot.count += 1
        artifact = self.artifact(world, which)
        if own:
            author = world.state.artifacts[artifact].author
            who = self.moot.town.founding.agents.index(author)
        said = matters.revision(artifact, f"Better {self.moot.count}")
        self.moot.say(who, *said, past=past, looks=looks)

    @rule(who=WHO, which=WHICH, kind=KIND, fits=MOSTLY, new=MOSTLY, past=PAST, looks=PAST)
    def file(
        self, *, who: int, which: int, kind: int, fits: bool, new: bool, past: bool, looks: bool
    ) -> None:
        """Withdraw, resubmit, flag, report or dispute; mostly something of a fitting state."""
        self.file_one(who, which, kind, fits=fits, new=new, past=past, looks=looks)

    @rule(who=WHO, which=WHICH, kind=st.integers(5, 6), past=PAST)
    def dispute(self, who: int, which: int, kind: int, past: bool) -> None:
        """Dispute something that stands."""
        self.file_one(who, which, kind, fits=True, new=True, past=past, looks=False)

    @rule(who=WHO, which=WHICH)
    def report(self, who: int, which: int) -> None:
        """Report something."""
        self.file_one(who, which, 3, fits=True, new=True, past=False, looks=False)

    def file_one(
        self, who: int, which: int, kind: int, *, fits: bool, new: bool, past: bool, looks: bool
    ) -> None:
        world = self.moot.home(who)
        if world is None:
            return
        wanted = ArtifactState.RETRACTED if kind == 1 else ArtifactState.ACTIVE
        names = sorted(
            name for name, one in world.state.artifacts.items() if one.state is wanted or not fits
        )
        if not names:
            return
        artifact = names[which % len(names)]
        if kind == 0:
            author = world.state.artifacts[artifact].author
            who = self.moot.town.founding.agents.index(author)
        evidence = self.moot.fresh("evidence") if new else matters.OLD
        said = matters.filing(artifact, kind, evidence)
        self.moot.say(who, *said, past=past, looks=looks)

    @rule(which=WHICH, who=WHO, own=st.booleans(), past=PAST, looks=PAST)
    def appeal(self, *, which: int, who: int, own: bool, past: bool, looks: bool) -> None:
        """Appeal against a sanction, one's own or another's."""
        world = self.moot.home(who)
        violations = sorted(world.state.discipline.violations) if world else []
        if world is None or not violations:
            return
        one = world.state.discipline.violations[violations[which % len(violations)]]
        if own:
            who = self.moot.town.founding.agents.index(one.agent)
        self.moot.say(who, Appeal(sanction=one.id), past=past, looks=looks)

    # In rounds ------------------------------------------------------------------------------------

    @rule(
        who=WHO,
        which=WHICH,
        phase=st.sampled_from(matters.SAYS),
        choice=CHOICE,
        ruled=RULED,
        past=PAST,
    )
    def speak(
        self, *, who: int, which: int, phase: Phase, choice: int, ruled: Ruled, past: bool
    ) -> None:
        """Say in a round what belongs to some phase, open or not."""
        world = self.moot.home(who)
        names = sorted(world.rounds) if world else []
        if world is None:
            return
        name = live_round(world, which, frozenset({phase})) or names[which % len(names)]
        keyring = self.moot.town.keyring(who)
        said = matters.speech(world, keyring, name, phase, choice=choice, ruled=ruled)
        if said is not None:
            self.moot.say(who, *said, past=past)

    @rule(who=WHO, which=WHICH)
    def copy_a_commitment(self, who: int, which: int) -> None:
        """Commit to what somebody else has committed to."""
        world = self.moot.home(who)
        name = live_round(world, which, frozenset({Phase.COMMIT})) if world else None
        if world is None or name is None:
            return
        said = matters.copying(world, name, self.moot.town.agent(who))
        if said is not None:
            self.moot.say(who, *said, past=True)

    @rule(
        choices=CHOICES,
        but=st.sets(WHO, max_size=3),
        ruled=RULED,
        contests=st.booleans(),
        span=st.sampled_from([0, 400, 1_200]),
    )
    def carry_on(
        self, *, choices: list[int], but: set[int], ruled: Ruled, contests: bool, span: int
    ) -> None:
        """Let everybody who is up do what its rounds wait for, but for some, and time pass."""
        self.live_on(choices, but, ruled, contests=contests, span=span)

    def live_on(
        self, choices: list[int], but: set[int], ruled: Ruled, *, contests: bool, span: int
    ) -> None:
        for who in sorted(set(range(AGENTS)) - but):
            self.take_part(who, choices[who], ruled, contests=contests)
        for operator in sorted(set(range(AGENTS)) - but):
            self.decide_in_rounds(operator, choices[operator])
        self.moot.town.rest(span)

    @rule(
        choices=CHOICES,
        but=st.sets(WHO, max_size=2),
        ruled=RULED,
        contests=st.booleans(),
        turns=st.integers(4, 16),
    )
    def hold_a_vote(
        self, *, choices: list[int], but: set[int], ruled: Ruled, contests: bool, turns: int
    ) -> None:
        """Carry on for several phases."""
        self.hold(choices, but, ruled, contests=contests, turns=turns)

    def hold(
        self, choices: list[int], but: set[int], ruled: Ruled, *, contests: bool, turns: int
    ) -> None:
        for _ in range(turns):
            self.live_on(choices, but, ruled, contests=contests, span=300)

    def take_part(self, who: int, choice: int, ruled: Ruled, *, contests: bool) -> None:
        """Do through the door what the rounds of an agent's home wait for."""
        world, keyring = self.moot.home(who), self.moot.town.keyring(who)
        if world is None:
            return
        agent = keyring.agent
        for name, one in sorted(world.rounds.items()):
            phase, may = one.phase, one.pin.eligible
            # Whoever has voted is no arbiter of that round.
            votes = agent in may.reviewers | may.practice and who not in ARBITERS
            match phase:
                case Phase.COMMIT | Phase.COMMIT2 if votes:
                    pass
                case Phase.SEAL if votes and who % 3:
                    pass
                case Phase.UNSEAL | Phase.DELIBERATE | Phase.TURN2 if votes and who % 2:
                    pass
                case Phase.DECIDE if agent in {record.author for record in box(one.finals)}:
                    choice = matters.true_choice(world, keyring, name) or 0
                case Phase.ASSESS if who in MODERATORS:
                    pass
                case Phase.CONTEST | Phase.APPEAL if contests and agent in one.pin.sides:
                    pass
                case Phase.RULE if agent in drawn_arbiters(one.pin, one.finals):
                    pass
                case _:
                    continue
            said = matters.speech(world, keyring, name, phase, choice=choice, ruled=ruled)
            if said is not None:
                self.moot.say(who, *said)

    # Operators ------------------------------------------------------------------------------------

    def decide_in_rounds(self, operator: int, choice: int) -> None:
        world = self.moot.office(operator)
        name = live_round(world, 0, frozenset({Phase.ADMIN})) if world else None
        if world is None or name is None:
            return
        pin = world.rounds[name].pin
        keeps, falls = (
            (Decree.UPHOLD, Decree.RECLASSIFY)
            if pin.kind == "appeal"
            else (Decree.KEEP, Decree.RETRACT)
        )
        body = AdminReview(
            subject=pin.artifact,
            decision=keeps if choice >= 0 else falls,
            reason="It is so.",
            round=name,
            after=matters.after(world, name, Phase.ADMIN),
        )
        self.moot.order(operator, body)

    @rule(
        operator=WHO, which=WHICH, decree=st.sampled_from(Decree), inside=st.booleans(), past=PAST
    )
    def decree(
        self, *, operator: int, which: int, decree: Decree, inside: bool, past: bool
    ) -> None:
        """Decide by hand, in a round or outside any, about an artifact or a sanction."""
        world = self.moot.office(operator)
        if world is None:
            return
        violations = sorted(world.state.discipline.violations)
        subject = (
            violations[which % len(violations)]
            if violations and decree in (Decree.UPHOLD, Decree.RECLASSIFY)
            else self.artifact(world, which)
        )
        body = AdminReview(subject=subject, decision=decree, reason="It is so.")
        name = live_round(world, which, frozenset({Phase.ADMIN})) if inside else None
        if name is not None:
            body = AdminReview(
                subject=world.rounds[name].pin.artifact,
                decision=decree,
                reason="It is so.",
                round=name,
                after=matters.after(world, name, Phase.ADMIN),
            )
        self.moot.order(operator, body, past=past, looks=name is None)

    @rule(operator=WHO, which=WHICH, past=PAST)
    def cosign(self, operator: int, which: int, past: bool) -> None:
        """Say the same as another operator, or something of an act that nobody knows."""
        world = self.moot.office(operator)
        if world is None:
            return
        acts = [*world.state.acts.open, *world.state.acts.passed, self.moot.fresh("act")]
        self.moot.order(operator, ActCosign(act=acts[which % len(acts)]), past=past, looks=True)

    @rule(k=st.integers(1, 5), contest=st.sampled_from([0, 500]), rule_=st.sampled_from([0, 1_500]))
    def adopt(self, k: int, contest: int, rule_: int) -> None:
        """Let all operators of members adopt other rules; k = 1 is below the quorum and refused."""
        town = self.moot.town
        world = self.moot.office(0)
        if world is None:
            return
        rules = other_rules(world, k=k, contest=contest, rule=rule_, appeal=contest if rule_ else 0)
        act = self.moot.order(0, adoption(world, rules), past=True)
        town.rest(700)
        for operator in range(1, len(town.founding.instances)):
            if act is not None:
                self.moot.order(operator, ActCosign(act=act.id), past=True)

    @rule(operator=WHO, whose=WHO, state=st.sampled_from(Health), past=PAST)
    def tell_health(self, operator: int, whose: int, state: Health, past: bool) -> None:
        """Say of an agent that it is broken or repaired: of one's own, or of another's."""
        whose = operator if whose % 2 else whose
        body = AgentHealth(agent=self.moot.town.agent(whose), state=state, note="It babbles.")
        self.moot.order(operator, body, past=past, looks=True)

    # Time and instances ---------------------------------------------------------------------------

    @rule(span=st.sampled_from([20, 300, 1_000, 1_000, 5_000, 15_000]))
    def time_passes(self, span: int) -> None:
        """Let time pass, to another phase or another tick."""
        self.moot.town.rest(span)

    @rule(where=WHICH)
    def go_away(self, where: int) -> None:
        """Cut an instance off, but not the only one."""
        count = len(self.moot.town.founding.instances)
        if count > 1:
            self.moot.town.take_down(where % count)

    @rule()
    def come_back(self) -> None:
        """Connect everybody again."""
        self.moot.wake()

    # What must hold -------------------------------------------------------------------------------

    @invariant()
    def nothing_is_wrong(self) -> None:
        """Every world is sound, no two disagree, and what was refused has changed nothing."""
        assert self.moot.faults() == []

    def teardown(self) -> None:
        """Let time pass: whatever is open ends in the time that the charter promises."""
        if not hasattr(self, "moot"):
            return
        overdue = self.moot.overdue()
        for seen in {*self.moot.counted, *came_to(self.moot.town.live()[0])}:
            event(seen)
        assert overdue == []
        assert self.moot.faults() == []
        worlds = self.moot.town.live()
        assert len({frozenset(world.state.refused.items()) for world in worlds}) == 1
        assert rebuilt(self.moot.town, worlds[0], self.moot.count) == []


TestCuration = Curation.TestCase
TestCuration.settings = settings(
    max_examples=20,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.slow
class TestCurationAtLength(Curation.TestCase):
    """The same with longer stories, and more of them."""

    settings = settings(TestCuration.settings, max_examples=300, stateful_step_count=60)
