"""One artifact through every row of the lifecycle's table, act by act, for tests of the protocol.

Ten founders of ten operators on three instances; an arbiter and a moderator are among them.
"""

from collections.abc import Iterator
from typing import TypeVar

from msgspec.structs import replace

from federation.artifacts import Action, DecidedBy, Flag
from federation.artifacts import State as ArtifactState
from federation.certificates import Phase
from federation.charter import TopicClass, preset
from federation.core import ArtifactId, RoundId
from federation.crypto import Reason, plain_hash
from federation.protocol import authoring, custody
from federation.protocol.invariants import broken, disagreements
from federation.records import Category, Record, Ruled
from federation.review import drawn_arbiters
from tests.builders import artifact_text
from tests.federation.protocol.town import Town, rules

SALT = bytes(16)
AUTHOR, ARBITER, MODERATOR, REPORTER = 0, 7, 8, 9


T = TypeVar("T", bound=Town)


def story_of(form: type[T], **fields: object) -> T:
    """Found the realm of the story as a town of some form."""
    test = preset("test")
    town = form.of(
        3,
        10,
        operators=10,
        seed="story",
        review=rules(
            k=3,
            tau_accept=500_000,
            q_min=3,
            topics=(TopicClass(prefix="facts", sensitivity="low"),),
            fast_min_watchers=0,
            rule=5_000,
            commit=2_000,
            **fields,
        ),
        disputes=replace(test.disputes, q_dispute=3, cooldown=1, r_dispute=0),
        badges={ARBITER: ("arbiter",), MODERATOR: ("moderator",)},
    )
    assert isinstance(town, form)
    return town


def held(town: Town, artifact: ArtifactId) -> RoundId:
    name = town.world().state.artifacts[artifact].round
    assert name is not None
    return name


def arrive(town: Town, index: int, record: Record) -> Record:
    town.arrive(town.home(index), record)
    return record


def steps(town: Town, artifact: ArtifactId) -> list[tuple[Action, ArtifactState]]:
    return [(one.action, one.to) for one in town.world().state.steps[artifact]]


def stands(town: Town, artifact: ArtifactId, state: ArtifactState) -> Town:
    return town.until(
        lambda town: all(
            artifact in one.state.artifacts and one.state.artifacts[artifact].state is state
            for one in town.live()
        )
    )


def poll(town: Town, name: RoundId, votes: dict[int, int]) -> None:
    """Hold the vote of a round whose debate goes on."""
    town.in_phase(name, Phase.COMMIT)
    for index, choice in votes.items():
        town.cast(index, name, choice)
    town.in_phase(name, Phase.DECIDE)
    for index in votes:
        town.reveal(index, name)


def sound(town: Town) -> None:
    for world in town.live():
        assert broken(world) == []
    assert disagreements(town.live()) == []


def told(town: Town) -> Iterator[str]:  # noqa: PLR0915 # a story is told in one go
    """Let everything happen to one artifact; stops after each act with its name."""
    proposal = town.propose(AUTHOR, topics=("facts",))
    artifact = proposal.id
    name = town.open_round(proposal)

    # Proposed, and objected to.
    town.in_phase(name, Phase.FAST)
    arrive(
        town,
        1,
        custody.object_to(
            town.home(1), town.keyring(1), name, reason=Reason.UNSOURCED, now=town.now
        ),
    )
    yield "objected"
    # Too few voices: the box is widened once, still sealed.
    town.in_phase(name, Phase.COMMIT)
    town.cast(1, name, 1)
    town.cast(2, name, 1)
    yield "too few"
    town.in_phase(name, Phase.COMMIT2)
    town.cast(3, name, -1)
    town.in_phase(name, Phase.DECIDE)
    for index in (1, 2, 3):
        town.reveal(index, name)
    yield "opened"
    # Neither for nor against: an arbiter is drawn.
    town.in_phase(name, Phase.RULE)
    one = town.world().rounds[name]
    assert drawn_arbiters(one.pin, one.finals) == (town.agent(ARBITER),)
    yield "ambiguous"
    ruling = authoring.rule(
        town.home(ARBITER),
        town.keyring(ARBITER),
        name,
        ruling=Ruled.BY_SIGN,
        ground="fair_process",
        note="All were heard.",
        salt=SALT,
        now=town.now,
    )
    arrive(town, ARBITER, ruling)
    yield "ruled"
    stands(town, artifact, ArtifactState.ACTIVE)
    yield "stands"
    verdict = town.world().state.artifacts[artifact].verdict

    assert verdict is not None
    assert verdict.by is DecidedBy.ARBITER
    assert verdict.rulers == (town.agent(ARBITER),)
    # Reported, hidden, and retracted by a fresh panel.
    report = arrive(
        town,
        REPORTER,
        authoring.report(
            town.home(REPORTER),
            town.keyring(REPORTER),
            artifact,
            category=Category.HARMFUL,
            note="It tells how to do harm.",
            salt=SALT,
            now=town.now,
        ),
    )
    town.until(lambda town: all(reported(one.state.rounds_of[artifact], 2) for one in town.live()))
    name = town.world().state.rounds_of[artifact][1]
    town.in_phase(name, Phase.ASSESS)
    yield "reported"
    arrive(
        town,
        MODERATOR,
        authoring.assess(
            town.home(MODERATOR),
            town.keyring(MODERATOR),
            name,
            credible=True,
            note="It does.",
            salt=SALT,
            now=town.now,
        ),
    )
    assert town.world().rounds[name].pin.cause == report.id
    poll(town, name, {4: -1, 5: -1, 6: -1})
    stands(town, artifact, ArtifactState.RETRACTED)
    assert Flag.HIDDEN in town.world().state.artifacts[artifact].flags
    yield "retracted"
    # Its approvers pay at the next tick, and those who had opposed it earn: the delayed correction.
    town.rest(12_000)
    kinds = {row.kind.value for row in town.world().state.ledger.rows(town.agent(1))}
    assert "approved_retracted" in kinds
    yield "corrected"
    # Again, and then a revision stands in its place.
    arrive(
        town,
        AUTHOR,
        authoring.resubmit(
            town.home(AUTHOR),
            town.keyring(AUTHOR),
            artifact,
            evidence=(plain_hash(b"another study"),),
            note="Without the harm.",
            salt=SALT,
            now=town.now,
        ),
    )
    town.until(lambda town: all(held(town, artifact) != name for _ in town.live()))
    name = held(town, artifact)
    yield "resubmitted"
    poll(town, name, {1: 1, 2: 1, 3: 1})
    stands(town, artifact, ArtifactState.ACTIVE)
    yield "stands again"
    revision = arrive(
        town,
        AUTHOR,
        authoring.revise(
            town.home(AUTHOR),
            town.keyring(AUTHOR),
            artifact,
            artifact_text(title="A better claim"),
            topics=("facts",),
            salt=SALT,
            now=town.now,
        ),
    )
    name = town.open_round(revision)
    yield "revised"
    town.in_phase(name, Phase.FAST)
    stands(town, artifact, ArtifactState.SUPERSEDED)

    assert town.world().state.artifacts[artifact].superseded_by == revision.id
    assert steps(town, artifact) == [
        (Action.SUBMIT, ArtifactState.PROPOSED),
        (Action.BEGIN_REVIEW, ArtifactState.UNDER_REVIEW),
        (Action.ACCEPT, ArtifactState.ACTIVE),
        (Action.DISPUTE, ArtifactState.DISPUTED),
        (Action.RETRACT, ArtifactState.RETRACTED),
        (Action.RESUBMIT, ArtifactState.PROPOSED),
        (Action.BEGIN_REVIEW, ArtifactState.UNDER_REVIEW),
        (Action.ACCEPT, ArtifactState.ACTIVE),
        (Action.SUPERSEDE, ArtifactState.SUPERSEDED),
    ]
    yield "superseded"


def reported(rounds: list[RoundId], count: int) -> bool:
    return len(rounds) >= count
