"""Every round ends, whatever its lists say, and no list changes what was answered before it."""

from dataclasses import replace
from random import Random
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from federation.artifacts import Artifact, DecidedBy, RoundKind, State, in_round
from federation.certificates import VOIDABLE, Phase
from federation.crypto import Choice
from federation.records import Decree, Record, Ruled
from federation.review import (
    PLANS,
    AwaitsLot,
    Ended,
    FinalList,
    Finals,
    advance,
    course,
    drawn_arbiters,
    next_phase,
    outcome_of,
    qualifies,
)
from federation.trust import Decision
from tests.federation.artifacts.forms import proposed
from tests.federation.review.scene import (
    BEACON,
    MODERATOR,
    NEWCOMER,
    ROUND,
    RULED,
    Scene,
    as_ballot,
    final,
)

LEGAL: Final = {
    State.PROPOSED: {State.PROPOSED, State.UNDER_REVIEW, State.ACTIVE, State.RETRACTED},
    State.UNDER_REVIEW: {State.UNDER_REVIEW, State.ACTIVE, State.RETRACTED},
    State.ACTIVE: {State.ACTIVE, State.DISPUTED, State.RETRACTED},
    State.DISPUTED: {State.DISPUTED, State.ACTIVE, State.RETRACTED},
    State.RETRACTED: {State.RETRACTED},
}
UNDECIDED: Final = {
    DecidedBy.RERUN,
    DecidedBy.UNFOUNDED,
    DecidedBy.LAPSED,
    DecidedBy.ASSESSED,
}
# Lists are drawn by dice and not by Hypothesis: what it would shrink is thousands of choices long.
SEEDS: Final = st.integers(0, 2**32).map(Random)
BOTH: Final[dict[str, object]] = {"tier": 2, "badges": frozenset({"arbiter", "moderator"})}


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """Make a round of any kind in any mode, with up to fifteen agents and any of the windows."""
    sizes = draw(st.lists(st.integers(0, 3), min_size=1, max_size=5).filter(sum))
    count = sum(sizes)
    kind: RoundKind = draw(st.sampled_from(["review", "dispute", "report", "appeal"]))
    mode = draw(st.sampled_from(["open", "rounds", "sealed_first"]))
    windows = {name: draw(st.sampled_from([0, length])) for name, length in RULED.items()}
    looks: list[dict[str, object]] = [{}, BOTH, MODERATOR, NEWCOMER, {"quarantined": True}]
    views = {number: draw(st.sampled_from(looks)) for number in range(count)}
    disputed = kind in {"dispute", "report"}
    return Scene.of(
        *sizes,
        kind=kind,
        views=views,
        disputer=draw(st.sampled_from([None, *range(1, count)])) if disputed else None,
        sensitivity=draw(st.sampled_from(["low", "high"])),
        ticket=draw(st.booleans()),
        watchers=range(count),
        rerun=draw(st.booleans()),
        formal=draw(st.booleans()),
        assess_only=draw(st.booleans()),
        voted=draw(st.sets(st.integers(0, count - 1), max_size=2)),
        members=draw(st.integers(1, 4)),
        beacon=draw(st.sampled_from([None, BEACON])),
        disputes={
            "q_dispute": draw(st.integers(1, 5)),
            "timeout": draw(st.sampled_from(["keep", "retract"])),
        },
        review=windows
        | {
            "admin": 4_000,
            "mode": mode,
            "turns": draw(st.integers(1, 5)),
            "seal": draw(st.sampled_from([0, 500])),
            "fast_high": draw(st.sampled_from([0, 500])),
            "shortfall_high": draw(st.sampled_from(["arbitrate", "reject", "fast_track"])),
        },
    )


def written(scene: Scene, phase: Phase, who: int, finals: Finals, dice: Random) -> Record:
    """Let agent (or operator) `who` write some record of this phase."""
    match phase:
        case Phase.FAST:
            return scene.object_to(who, finals)
        case Phase.SEAL:
            return scene.seal(who, finals)
        case Phase.UNSEAL:
            return scene.unseal(who, finals)
        case Phase.COMMIT | Phase.COMMIT2:
            choice = dice.choice(list(Choice))
            return scene.commit(who, finals, as_ballot(choice), phase)
        case Phase.DECIDE:
            choice = dice.choice(list(Choice))
            return scene.reveal(who, finals, as_ballot(choice))
        case Phase.CONTEST | Phase.APPEAL:
            return scene.contest(who, finals, phase)
        case Phase.RULE:
            return scene.rule(who, finals, dice.choice(list(Ruled)))
        case Phase.ASSESS:
            return scene.assess(who, finals, credible=dice.random() < 0.8)
        case Phase.ADMIN:
            return scene.decree(who % 5, finals, dice.choice(list(Decree)))
        case _:
            return scene.argue(who, finals, phase)


def some_list(scene: Scene, phase: Phase, finals: Finals, dice: Random) -> FinalList:
    """Certify some list of this phase, as members would: of what qualifies, one of each author."""
    if phase in VOIDABLE and dice.randrange(6) == 0:
        return final(phase, void=True)
    who = set(dice.sample(range(len(scene.agents)), dice.randint(0, len(scene.agents))))
    if phase is Phase.RULE:
        # An arbiter among a dozen agents is rarely drawn by chance.
        names = [chain.id for chain in scene.agents]
        who |= {names.index(one) for one in drawn_arbiters(scene.pin, finals)}
    records: dict[bytes, Record] = {}
    for number in sorted(who):
        record = written(scene, phase, number, finals, dice)
        if qualifies(scene.pin, finals, record) is None:
            records.setdefault(record.author, record)
    return final(phase, *records.values())


def played(scene: Scene, dice: Random) -> tuple[Scene, dict[Phase, FinalList], int]:
    """Certify the end of each open phase until the round ends; a cut brings the beacon."""
    finals: dict[Phase, FinalList] = {}
    for steps in range(2 * len(Phase)):
        match next_phase(scene.pin, finals):
            case Ended():
                return scene, finals, steps
            case AwaitsLot():
                assert scene.pin.beacon is None
                scene = replace(scene, pin=replace(scene.pin, beacon=BEACON))
            case phase:
                assert phase not in finals
                finals[phase] = some_list(scene, phase, finals, dice)
    raise AssertionError("the round did not end")


def before(scene: Scene) -> Artifact:
    """Give the artifact as the fold hands it to a fresh round."""
    state = State.PROPOSED
    if scene.pin.kind == "dispute":
        state = State.DISPUTED
    elif scene.pin.kind == "report":
        return proposed(state=State.ACTIVE, round=None)
    return in_round(proposed(state=state), ROUND)


@settings(max_examples=80)
@given(scenes(), SEEDS)
def test_every_round_ends_within_the_phases_of_its_plan(scene: Scene, dice: Random) -> None:
    ended, finals, steps = played(scene, dice)
    plan = [step.phase for step in PLANS[scene.pin.kind]]
    reached = list(course(ended.pin, finals).after)

    assert steps <= len(plan) + 1
    assert reached == list(finals)
    assert reached == [phase for phase in plan if phase in reached]


@settings(max_examples=80)
@given(scenes(), SEEDS)
def test_every_verdict_decides_unless_a_fresh_panel_or_nobody_is_asked(
    scene: Scene, dice: Random
) -> None:
    ended, finals, _ = played(scene, dice)
    now = next_phase(ended.pin, finals)
    assert isinstance(now, Ended)
    verdict = now.verdict

    assert (verdict.decision is Decision.NONE) == (verdict.by in UNDECIDED)
    if scene.pin.kind != "report":
        assert verdict.by not in UNDECIDED - {DecidedBy.RERUN}
    assert verdict.kind == scene.pin.kind
    assert not (scene.pin.rerun and verdict.by is DecidedBy.RERUN)
    assert verdict.frivolous <= (verdict.accepted and verdict.quorum and scene.pin.is_dispute)
    offices = {DecidedBy.ARBITER, DecidedBy.ADMIN, DecidedBy.RERUN}
    heard = offices | {DecidedBy.UNFOUNDED, DecidedBy.ASSESSED}
    assert bool(verdict.rulers) == (verdict.by in heard)
    # Trust can be told about every verdict.
    outcome = outcome_of(ended.pin, finals, verdict, tick=1, topics=())
    assert outcome.votes == () or verdict.by not in offices - {DecidedBy.RERUN}


@settings(max_examples=80)
@given(scenes(), SEEDS)
def test_an_artifact_only_moves_along_its_table(scene: Scene, dice: Random) -> None:
    ended, finals, _ = played(scene, dice)
    artifact = before(scene)
    so_far: dict[Phase, FinalList] = {}
    for phase in [None, *finals]:
        if phase is not None:
            so_far[phase] = finals[phase]
        after = advance(artifact, ended.pin, so_far, tick=7)

        assert after.state in LEGAL[artifact.state]
        # What has been applied is not applied twice.
        assert advance(after, ended.pin, so_far, tick=7) == after
        artifact = after
    now = next_phase(ended.pin, finals)
    assert isinstance(now, Ended)
    settled = {Decision.ACCEPT: State.ACTIVE, Decision.REJECT: State.RETRACTED}
    if scene.pin.kind != "appeal" and now.verdict.decision in settled:
        assert artifact.state is settled[now.verdict.decision]
        assert artifact.verdict == now.verdict
    if scene.pin.kind == "appeal":
        assert artifact == before(scene)


@settings(max_examples=50)
@given(scenes(), SEEDS)
def test_neither_the_order_of_lists_nor_of_records_changes_the_course(
    scene: Scene, dice: Random
) -> None:
    ended, finals, _ = played(scene, dice)
    phases = dice.sample(list(finals), len(finals))
    mixed = {
        phase: replace(
            finals[phase],
            records=tuple(dice.sample(finals[phase].records, len(finals[phase].records))),
        )
        for phase in phases
    }

    assert next_phase(ended.pin, mixed) == next_phase(ended.pin, finals)
    assert course(ended.pin, mixed).after == course(ended.pin, finals).after


@settings(max_examples=50)
@given(scenes(), SEEDS)
def test_a_later_list_changes_neither_what_was_open_nor_what_counted(
    scene: Scene, dice: Random
) -> None:
    ended, finals, _ = played(scene, dice)
    whole = course(ended.pin, finals).after
    so_far: dict[Phase, FinalList] = {}
    for phase, one in finals.items():
        seen = course(ended.pin, so_far).after
        assert dict(list(whole.items())[: len(seen)]) == seen
        record = written(ended, phase, 0, so_far, dice)
        code = qualifies(ended.pin, so_far, record)

        assert qualifies(ended.pin, finals, record) is code
        so_far[phase] = one


@settings(max_examples=50)
@given(scenes(), SEEDS)
def test_lists_that_the_plan_does_not_reach_say_nothing(scene: Scene, dice: Random) -> None:
    ended, finals, _ = played(scene, dice)
    more = {phase: final(phase) for phase in Phase} | finals

    assert next_phase(ended.pin, more) == next_phase(ended.pin, finals)
