"""Whatever an agent files is refused at the door with its own code, and counts for nothing in a cut."""

from msgspec.structs import replace

from federation.artifacts import State as ArtifactState
from federation.certificates import Phase
from federation.charter import TopicClass, preset
from federation.core import ArtifactId, Code
from federation.crypto import Reason, plain_hash
from federation.protocol import authoring, custody, filing
from federation.records import Ground, Stance
from tests.builders import named
from tests.federation.protocol.curating import (
    SALT,
    code_of,
    curating,
    disputed,
    file_dispute,
    file_report,
    past_door,
    resubmit,
    standing,
    until_state,
    withdraw,
)
from tests.federation.protocol.town import Town, rules


def test_a_tier_one_agent_disputes_nothing() -> None:
    town = curating(tiers={3: 1})
    artifact = standing(town)

    assert code_of(lambda: file_dispute(town, 3, artifact)) == Code.DISPUTER_TIER


def test_a_disputer_needs_the_charters_reputation() -> None:
    town = curating(disputes={"r_dispute": 900_000})
    artifact = standing(town)

    assert code_of(lambda: file_dispute(town, 3, artifact)) == Code.DISPUTER_REPUTATION


def test_an_author_does_not_dispute_its_own_artifact() -> None:
    town = curating()
    artifact = standing(town)

    assert code_of(lambda: file_dispute(town, 0, artifact)) == Code.NOT_ELIGIBLE


def test_the_sixth_dispute_of_a_window_is_refused() -> None:
    town = curating(disputes={"d_agent": 2})
    names = [standing(town, title=f"Claim {number}") for number in range(3)]
    for name in names[:2]:
        file_dispute(town, 3, name)
        town.settled()

    assert code_of(lambda: file_dispute(town, 3, names[2])) == Code.DISPUTE_LIMIT
    # Nor does it count when it is signed all the same.
    record = past_door(town, 3, names[2])
    town.settled()
    assert town.world().state.refused[record.id] is Code.DISPUTE_LIMIT
    assert town.world().state.artifacts[names[2]].state is ArtifactState.ACTIVE
    # Its window is over some day.
    agent = town.world().state.agents[town.agent(3)]
    assert filing.disputes_in_window(town.world().state, agent) == agent.disputes
    later = replace(town.world().state.charter.disputes, window=1)
    town.world().state.charter = replace(town.world().state.charter, disputes=later)
    town.world().state.tick += 2
    assert filing.disputes_in_window(town.world().state, agent) == ()


def test_a_ground_that_was_dismissed_needs_new_evidence() -> None:
    town = curating()
    artifact = standing(town)
    disputed(town, 3, artifact, {4: 1, 5: 1})

    assert code_of(lambda: file_dispute(town, 4, artifact)) == Code.NO_NEW_GROUND
    file_dispute(town, 4, artifact, ground=Ground.UNSOURCED)


def test_an_artifact_is_disputed_only_so_often() -> None:
    town = curating(disputes={"d_max": 1})
    artifact = standing(town)
    disputed(town, 3, artifact, {4: 1, 5: 1})

    assert (
        code_of(lambda: file_dispute(town, 6, artifact, ground=Ground.UNSOURCED))
        == Code.DISPUTES_SPENT
    )


def test_a_report_says_in_words_what_is_wrong() -> None:
    town = curating()
    artifact = standing(town)

    assert code_of(lambda: file_report(town, 3, artifact, note="")) == Code.NO_GROUNDS


def test_reports_of_an_epoch_are_counted() -> None:
    quotas = replace(preset("test").quotas, reports_epoch=1)
    town = curating(quotas=quotas, disputes={"assess": 30_000})
    first, second = standing(town), standing(town, title="Another")
    file_report(town, 3, first)
    count = town.world().state.cut + 1
    town.in_cut(count)
    tick = town.world().state.tick

    if town.world().state.tick == tick:
        assert code_of(lambda: file_report(town, 3, second)) == Code.OVER_QUOTA


def test_what_nobody_has_taken_in_is_an_unknown_artifact() -> None:
    town = curating()

    assert code_of(lambda: file_dispute(town, 3, named("nothing"))) == Code.UNKNOWN_ARTIFACT


def test_only_its_author_withdraws_what_nothing_rests_on() -> None:
    town = curating()
    first = standing(town)
    second = standing(town, 3, "Resting", cites=(first,))

    assert code_of(lambda: withdraw(town, 3, first)) == Code.NOT_AUTHOR
    assert code_of(lambda: withdraw(town, 0, first)) == Code.CITED
    withdraw(town, 3, second)
    town.settled()
    assert code_of(lambda: withdraw(town, 0, first)) == "passed"


def test_what_was_retracted_comes_back_after_its_cooldown_with_evidence_and_not_for_ever() -> None:
    town = curating(disputes={"cooldown": 3, "resub_max": 1})
    artifact = standing(town)
    withdraw(town, 0, artifact)
    town.settled()

    assert code_of(lambda: resubmit(town, 0, artifact, "new")) == Code.COOLDOWN
    town.until(lambda town: town.world().state.tick >= 3 + retracted(town, artifact))
    resubmit(town, 0, artifact, "new")
    town.settled()
    assert code_of(lambda: resubmit(town, 0, artifact, "newer")) == Code.GUARD_FAILED
    town.until(lambda town: town.world().state.artifacts[artifact].state is ArtifactState.RETRACTED)
    town.until(lambda town: town.world().state.tick >= 3 + retracted(town, artifact))
    assert code_of(lambda: resubmit(town, 0, artifact, "newer")) == Code.RESUBMISSIONS_SPENT


def retracted(town: Town, artifact: ArtifactId) -> int:
    at = town.world().state.artifacts[artifact].retracted_at
    assert at is not None
    return at


def test_old_evidence_does_not_bring_anything_back() -> None:
    town = curating(disputes={"cooldown": 0, "resub_max": 3})
    artifact = standing(town)
    withdraw(town, 0, artifact)
    town.settled()
    resubmit(town, 0, artifact, "new")
    town.settled()
    until_state(town, artifact, ArtifactState.RETRACTED)

    assert code_of(lambda: resubmit(town, 0, artifact, "new")) == Code.NO_NEW_EVIDENCE


def test_agents_of_the_authors_operator_do_not_object_for_it() -> None:
    town = curating(
        agents=8,
        operators=4,
        review=rules(
            fast_low=3_000,
            topics=(TopicClass(prefix="facts", sensitivity="low"),),
            q_min=2,
            k=2,
        ),
    )
    name = town.open_round(town.propose(0, topics=("facts",)))
    town.in_phase(name, Phase.FAST)

    def object_(index: int) -> object:
        return custody.object_to(
            town.home(index), town.keyring(index), name, reason=Reason.UNSOURCED, now=town.now
        )

    assert code_of(lambda: object_(4)) == Code.AUTHORS_OPERATOR
    assert code_of(lambda: object_(0)) == Code.NOT_ELIGIBLE
    assert code_of(lambda: object_(1)) == "passed"


def test_an_argument_after_its_phase_is_refused() -> None:
    town = curating()
    name = town.open_round(town.propose(0))
    town.in_phase(name, Phase.COMMIT)

    assert (
        code_of(
            lambda: custody.argue(
                town.home(1),
                town.keyring(1),
                name,
                stance=Stance.FOR,
                note="Too late.",
                salt=SALT,
                now=town.now,
            )
        )
        == Code.NOT_IN_PHASE
    )


def test_an_oversize_argument_is_refused() -> None:
    town = curating()
    name = town.open_round(town.propose(0))
    town.in_phase(name, Phase.DELIBERATE)

    assert (
        code_of(
            lambda: custody.argue(
                town.home(1),
                town.keyring(1),
                name,
                stance=Stance.FOR,
                note="x" * 20_000,
                salt=SALT,
                now=town.now,
            )
        )
        == Code.TOO_LARGE
    )


def test_an_agent_may_flag_what_stands_as_stale() -> None:
    town = curating()
    artifact = standing(town)
    record = authoring.flag_stale(
        town.home(3),
        town.keyring(3),
        artifact,
        evidence=(plain_hash(b"newer"),),
        note="There is newer work.",
        salt=SALT,
        now=town.now,
    )
    town.arrive(town.home(3), record)
    town.settled()
    now = town.world().state.artifacts[artifact]

    assert "stale" in now.flags
    assert now.stale_at is not None
    assert now.state is ArtifactState.ACTIVE
