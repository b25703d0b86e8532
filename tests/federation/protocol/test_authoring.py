"""What follows acceptance is signed through the door: everything counts, and nothing else is signed."""

from collections.abc import Callable

import pytest

from federation.artifacts import DecidedBy, Flag, State
from federation.certificates import Phase
from federation.core import Code, RefusedError
from federation.protocol import authoring, custody, judge
from federation.records import (
    Argue,
    ArtifactText,
    DisputeFile,
    Ground,
    Note,
    Record,
    Revise,
    Ruled,
    Stance,
    read_text,
)
from tests.builders import named
from tests.federation.protocol.panel import (
    ARBITERS,
    AUTHOR,
    DISPUTER,
    FIRST,
    FRESH,
    MODERATOR,
    SALT,
    Panel,
    evidence,
)

NONCE = named("nonce")


def refused(code: Code, act: Callable[[], object]) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        act()
    assert caught.value.code is code, caught.value
    assert caught.value.why
    assert caught.value.fix
    return caught.value


def state_of(town: Panel, artifact: Record) -> State:
    return town.world().state.artifacts[artifact.id].state


def counts(town: Panel, *records: Record) -> bool:
    return all(judge(town.world(), record).code is None for record in records)


# Disputes -----------------------------------------------------------------------------------------


def test_a_sustained_dispute_retracts_by_votes_of_a_fresh_panel() -> None:
    town = Panel.seated().earned()
    artifact = town.accepted()
    filed = town.dispute(artifact.id, claim=1, evidence=evidence("b", "a"))
    name = town.newest(artifact.id, "dispute")
    pin = town.world().rounds[name].pin
    town.ended(town.judged(name, dict.fromkeys(FRESH, -1)))

    assert isinstance(filed.body, DisputeFile)
    assert filed.body.evidence == tuple(sorted(evidence("a", "b")))
    assert filed.text_raw is not None
    assert read_text(filed.text_raw, Note) == Note(note="It is not so.")
    assert pin.cause == filed.id
    assert not pin.eligible.reviewers & {town.agent(index) for index in (*FIRST, DISPUTER, AUTHOR)}
    assert state_of(town, artifact) is State.RETRACTED
    assert counts(town, filed)


def test_the_door_refuses_disputes_that_would_not_count_with_the_code_that_says_why() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    unproven = refused(Code.DISPUTER_REPUTATION, lambda: town.dispute(artifact.id))
    assert "600000" in unproven.why
    refused(Code.UNKNOWN_ARTIFACT, lambda: town.dispute(named("nothing")))

    town.earned()
    before = town.world().log.count_of(town.agent(DISPUTER))
    refused(Code.NO_GROUNDS, lambda: town.report(artifact.id, note=""))
    refused(Code.NOT_AUTHOR, lambda: withdrawn(town, artifact, DISPUTER))
    assert town.world().log.count_of(town.agent(DISPUTER)) == before

    town.dispute(artifact.id)
    name = town.newest(artifact.id, "dispute")
    refused(Code.GUARD_FAILED, lambda: town.dispute(artifact.id, ground=Ground.OUTDATED))
    town.ended(town.judged(name, dict.fromkeys(FRESH, 1)))
    refused(Code.NO_NEW_GROUND, lambda: town.dispute(artifact.id))
    again = town.dispute(artifact.id, evidence=evidence("new"))
    assert judge(town.world(), again).code is Code.WAITS_FOR_CUT


# Reports and arbitration --------------------------------------------------------------------------


def test_a_credible_report_hides_and_one_that_is_not_does_nothing() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    filed = town.report(artifact.id)
    name = town.newest(artifact.id, "report")
    town.in_phase(name, Phase.ASSESS)
    refused(Code.NOT_MODERATOR, lambda: town.assess(name, credible=True, index=5))
    said = town.assess(name, credible=False)
    town.ended(name)

    verdict = town.world().rounds[name].verdict
    assert verdict is not None
    assert (verdict.by, verdict.rulers) == (DecidedBy.UNFOUNDED, (town.agent(MODERATOR),))
    assert counts(town, filed, said)
    refused(Code.COOLDOWN, lambda: town.report(artifact.id))

    town.calm(artifact.id)
    town.report(artifact.id)
    second = town.newest(artifact.id, "report")
    town.in_phase(second, Phase.ASSESS)
    town.assess(second, credible=True)
    town.until(lambda _: Flag.HIDDEN in town.world().state.artifacts[artifact.id].flags)
    town.judged(second, dict.fromkeys((5, 6, 7, 8, 10), 1))
    town.ended(second)
    assert (state_of(town, artifact), town.world().state.artifacts[artifact.id].flags) == (
        State.ACTIVE,
        frozenset(),
    )


def test_a_contested_result_is_ruled_and_a_contested_ruling_goes_to_the_operators() -> None:
    town = Panel.seated()
    record = town.propose(AUTHOR)
    name = town.open_round(record)
    town.judged(name, dict.fromkeys(FIRST, 1))
    town.in_phase(name, Phase.CONTEST)
    refused(Code.NOT_ELIGIBLE, lambda: town.contest(name, 7))
    first = town.contest(name, AUTHOR)
    town.in_phase(name, Phase.RULE)
    (drawn,) = set(town.drawn(name)[:1])
    assert drawn in ARBITERS
    refused(Code.NOT_DRAWN, lambda: town.rule(name, Ruled.REJECT, index=8))
    refused(Code.GUARD_FAILED, lambda: town.rule(name, Ruled.UPHOLD))
    refused(Code.NOT_IN_PHASE, lambda: town.contest(name, AUTHOR))
    ruled = town.rule(name, Ruled.REJECT)
    town.in_phase(name, Phase.APPEAL)
    again = town.contest(name, FIRST[0])
    town.in_phase(name, Phase.ADMIN)
    town.ended(name)

    verdict = town.world().rounds[name].verdict
    assert verdict is not None
    assert (verdict.by, verdict.contested) == (DecidedBy.ARBITER, True)
    assert counts(town, first, ruled, again)


def test_a_ruling_that_nobody_contests_decides() -> None:
    town = Panel.seated()
    record = town.propose(AUTHOR)
    name = town.open_round(record)
    town.judged(name, dict.fromkeys(FIRST, 1))
    town.in_phase(name, Phase.CONTEST)
    town.contest(name, AUTHOR)
    town.in_phase(name, Phase.RULE)
    town.rule(name, Ruled.REJECT)
    town.ended(name)
    verdict = town.world().rounds[name].verdict

    assert verdict is not None
    assert verdict.by is DecidedBy.ARBITER
    assert state_of(town, record) is State.RETRACTED


# The author's ways, and the way back --------------------------------------------------------------


def withdrawn(town: Panel, artifact: Record, index: int = AUTHOR) -> Record:
    return town.take(
        authoring.withdraw(
            town.world(), town.keyring(index), artifact.id, reason="I was wrong.", now=town.now
        )
    )


def resubmitted(town: Panel, artifact: Record, *words: str) -> Record:
    return town.take(
        authoring.resubmit(
            town.world(),
            town.keyring(AUTHOR),
            artifact.id,
            evidence=evidence(*words),
            note="Look again.",
            salt=SALT,
            now=town.now,
        )
    )


def test_an_author_takes_its_artifact_back_and_brings_it_again_with_evidence() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    taken = withdrawn(town, artifact)
    town.until(lambda _: state_of(town, artifact) is State.RETRACTED)
    refused(Code.COOLDOWN, lambda: resubmitted(town, artifact, "new"))
    ended = town.world().state.artifacts[artifact.id].retracted_at
    assert ended is not None
    over = ended + town.world().charter.disputes.cooldown
    town.until(lambda _: town.world().state.tick >= over)
    back = resubmitted(town, artifact, "new")
    town.until(lambda _: state_of(town, artifact) is not State.RETRACTED)

    assert counts(town, taken, back)
    assert set(evidence("new")) <= set(town.world().state.artifacts[artifact.id].evidence)


def revised(town: Panel, artifact: Record, index: int = AUTHOR) -> Record:
    content = ArtifactText(
        title="A better claim", prose="", claims=("It holds.",), falsification=(), sources=()
    )
    return town.take(
        authoring.revise(
            town.world(),
            town.keyring(index),
            artifact.id,
            content,
            topics=("code",),
            salt=SALT,
            now=town.now,
        )
    )


def test_an_accepted_revision_stands_in_the_place_of_what_it_revises() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    revision = revised(town, artifact)
    town.ended(town.vote(revision, dict.fromkeys(FIRST, 1)))
    old = town.world().state.artifacts[artifact.id]

    assert isinstance(revision.body, Revise)
    assert (old.state, old.superseded_by) == (State.SUPERSEDED, revision.id)
    assert state_of(town, revision) is State.ACTIVE


def test_a_stale_flag_marks_what_stands() -> None:
    town = Panel.seated()
    artifact = town.accepted()

    def flagged(index: int, *words: str) -> Record:
        return authoring.flag_stale(
            town.world(),
            town.keyring(index),
            artifact.id,
            evidence=evidence(*words),
            note="",
            salt=SALT,
            now=town.now,
        )

    record = town.take(flagged(5, "later"))
    town.until(lambda _: Flag.STALE in town.world().state.artifacts[artifact.id].flags)

    assert counts(town, record)
    # Nothing is said, so no text travels.
    assert record.text_raw is None
    assert state_of(town, artifact) is State.ACTIVE


def test_an_appeal_names_a_sanction_that_there_is() -> None:
    town = Panel.seated()
    refused(
        Code.UNKNOWN_SANCTION,
        lambda: authoring.appeal(
            town.world(), town.keyring(5), named("none"), note="", salt=SALT, now=town.now
        ),
    )


# Arguments ----------------------------------------------------------------------------------------


def test_too_long_an_argument_is_refused_before_anything_is_signed() -> None:
    town = Panel.seated()
    name = town.open_round(town.propose(AUTHOR))
    town.in_phase(name, Phase.DELIBERATE)

    def argue(note: str) -> Record:
        return custody.argue(
            town.world(),
            town.keyring(5),
            name,
            stance=Stance.FOR,
            note=note,
            salt=SALT,
            now=town.now,
        )

    # The second has few characters of many bytes.
    for note in ("x" * 12_001, "€" * 6_000, "x" * 1_000_000):
        refused(Code.TOO_LARGE, lambda note=note: argue(note))  # type: ignore[misc]
    assert argue("x" * 12_000).text_raw is not None


def test_arguments_are_heard_in_the_turn_that_is_open() -> None:
    town = Panel.seated(mode="rounds", turns=2)
    name = town.open_round(town.propose(AUTHOR))
    said = []
    for phase in (Phase.DELIBERATE, Phase.TURN2):
        town.in_phase(name, phase)
        said.append(
            town.take(
                custody.argue(
                    town.world(),
                    town.keyring(5),
                    name,
                    stance=Stance.AGAINST,
                    note=f"In {phase}.",
                    salt=SALT,
                    now=town.now,
                    claim=1,
                    evidence=evidence("b", "a"),
                )
            )
        )
    town.in_phase(name, Phase.COMMIT)

    assert counts(town, *said)
    assert len({record.body.after for record in said if isinstance(record.body, Argue)}) == 2


def sealed(town: Panel, name: bytes, index: int = 5) -> Record:
    return authoring.seal_argument(
        town.world(),
        town.keyring(index),
        name,
        stance=Stance.AGAINST,
        note="I looked first.",
        evidence=evidence("seen"),
        nonce=NONCE,
        salt=SALT,
        seal_salt=bytes(24),
        now=town.now,
    )


def test_a_sealed_argument_opens_from_its_own_record_once_its_list_is_certified() -> None:
    town = Panel.seated(mode="sealed_first", seal=1_000)
    name = town.open_round(town.propose(AUTHOR))
    town.in_phase(name, Phase.SEAL)
    seal = town.take(sealed(town, name))
    refused(Code.ALREADY_COMMITTED, lambda: sealed(town, name))
    assert authoring.may_unseal(town.world(), name, town.agent(5)) is None
    early = refused(
        Code.NOT_CERTIFIED,
        lambda: authoring.unseal(town.world(), town.keyring(5), name, now=town.now),
    )
    assert "certificate" in early.why

    town.in_phase(name, Phase.UNSEAL)
    refused(
        Code.NOT_CERTIFIED,
        lambda: authoring.unseal(town.world(), town.keyring(6), name, now=town.now),
    )
    opened = town.take(authoring.unseal(town.world(), town.keyring(5), name, now=town.now))
    town.in_phase(name, Phase.DELIBERATE)

    assert counts(town, seal, opened)
    body = opened.body
    assert isinstance(body, Argue)
    assert (body.stance, body.nonce, body.evidence) == (Stance.AGAINST, NONCE, evidence("seen"))
    assert opened.text_raw is not None
    assert read_text(opened.text_raw, Note) == Note(note="I looked first.")
    assert b"looked" not in seal.body_raw


def test_a_seal_of_a_key_that_is_not_kept_stays_shut() -> None:
    town = Panel.seated(mode="sealed_first", seal=1_000)
    name = town.open_round(town.propose(AUTHOR))
    town.in_phase(name, Phase.SEAL)
    town.take(sealed(town, name))
    town.in_phase(name, Phase.UNSEAL)
    keyless = custody.Keyring(agent=town.agent(5), keys=())
    refused(
        Code.COMMITMENT_MISMATCH,
        lambda: authoring.unseal(town.world(), keyless, name, now=town.now),
    )


def test_nothing_is_said_in_a_round_that_nobody_opened() -> None:
    town = Panel.seated()
    name = named("no round")

    refused(Code.UNKNOWN_ROUND, lambda: town.rule(name, Ruled.REJECT, ARBITERS[0]))
    refused(Code.UNKNOWN_ROUND, lambda: town.contest(name, AUTHOR))
    refused(Code.UNKNOWN_ROUND, lambda: town.assess(name, credible=True))
    refused(Code.UNKNOWN_ROUND, lambda: sealed(town, name))
