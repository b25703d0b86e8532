"""The local door: what everybody would call void is refused before anything is signed."""

import msgspec
import pytest

from federation.certificates import Phase
from federation.charter import preset
from federation.core import Code, RefusedError
from federation.crypto import Choice, Reason
from federation.protocol import custody, judge
from federation.protocol.custody import Keyring
from federation.records import (
    AgentDeclare,
    Commit,
    Delegate,
    LogFault,
    Note,
    Propose,
    RevokeBy,
    Role,
    SignedMessage,
    Stance,
    bind_text,
    signing_payload,
)
from federation.records.review_bodies import Argue
from tests.builders import (
    SALT,
    argue,
    artifact_text,
    ballot,
    commit,
    contest,
    named,
    object_to,
    propose,
)
from tests.federation.protocol.door import NONCE, CountingSigner, Door, committing, in_phase
from tests.federation.protocol.hostile import QUOTA, opening
from tests.federation.protocol.town import keys, rules
from tests.federation.protocol.trial import Trial

# What it lets through -----------------------------------------------------------------------------


def test_what_the_door_lets_through_is_signed_once_and_counts() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    door = Door(town, 1)
    record = custody.cast(
        door.world,
        door.keyring,
        round_id,
        ballot(),
        nonce=NONCE,
        salt=NONCE[:24],
        now=town.now,
    )

    assert door.signer.signed == [signing_payload(record.id)]

    town.arrive(door.world, record)
    town.in_phase(round_id, Phase.DECIDE)

    assert judge(door.world, record).code is None


def test_a_whole_round_of_every_act_goes_through_the_door() -> None:
    town = Trial.of(
        1,
        5,
        review=rules(topics=(preset("community").review.topics[0],), contest=1_000),
        operators=5,
    )
    proposal = town.propose(0, topics=("notes",))
    round_id = town.open_round(proposal)
    world, now = town.world(), town.now
    objected = custody.object_to(world, town.keyring(1), round_id, reason=Reason.UNSOURCED, now=now)
    town.arrive(world, objected)
    town.in_phase(round_id, Phase.DELIBERATE)
    argued = custody.argue(
        world,
        town.keyring(2),
        round_id,
        stance=Stance.AGAINST,
        note="No source says so.",
        salt=SALT,
        now=town.now,
    )
    town.arrive(world, argued)
    town.in_phase(round_id, Phase.COMMIT)
    cast = [town.cast(index, round_id, 1) for index in (1, 2, 3, 4)]
    town.in_phase(round_id, Phase.DECIDE)
    opened = [town.reveal(index, round_id) for index in (1, 2, 3, 4)]
    town.in_phase(round_id, Phase.CONTEST)
    town.in_phase(round_id, None)
    town.settled()

    for record in (proposal, objected, argued, *cast, *opened):
        assert judge(world, record).code is None


def test_a_draft_is_signed_by_nothing() -> None:
    blank = custody._Blank()

    assert blank.sign(b"anything") == bytes(64)
    assert blank.secret(named("realm"), 1) == bytes(32)


# What it refuses before it signs ------------------------------------------------------------------


def test_the_door_refuses_a_second_commitment() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    town.cast(1, round_id, 1)
    Door(town, 1).refuses_as_judged(
        Code.ALREADY_COMMITTED, committing(town, 1, round_id, commitment=named("second"))
    )


def test_the_door_refuses_a_copied_commitment() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    original = town.cast(1, round_id, 1)
    town.rest(50)
    assert isinstance(original.body, Commit)
    door = Door(town, 2)
    door.refuses(Code.COMMITMENT_COPIED, lambda: door.author(original.body))


def test_the_door_refuses_a_commitment_of_the_author() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    Door(town, 0).refuses_as_judged(Code.NOT_ELIGIBLE, committing(town, 0, round_id))


def test_the_door_refuses_a_round_that_no_cut_has_opened() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    body = committing(town, 1, round_id, round=named("nowhere"))
    door = Door(town, 1)
    door.refuses_as_judged(Code.UNKNOWN_ROUND, body)
    door.refuses(
        Code.UNKNOWN_ROUND,
        lambda: custody.reveal(door.world, door.keyring, named("nowhere"), now=0),
    )
    door.refuses(
        Code.UNKNOWN_ROUND,
        lambda: custody.object_to(
            door.world, door.keyring, named("nowhere"), reason=Reason.NOVEL, now=0
        ),
    )


def test_the_door_refuses_what_comes_outside_its_phase() -> None:
    town, round_id = in_phase(Phase.DELIBERATE)
    door = Door(town, 1)
    door.refuses(
        Code.NOT_IN_PHASE,
        lambda: custody.cast(
            door.world, door.keyring, round_id, ballot(), nonce=NONCE, salt=NONCE[:24], now=0
        ),
    )
    door.refuses_as_judged(Code.NOT_IN_PHASE, object_to(round_id)[0])
    town.in_phase(round_id, Phase.COMMIT)
    door.refuses(
        Code.NOT_IN_PHASE,
        lambda: custody.argue(
            door.world,
            door.keyring,
            round_id,
            stance=Stance.FOR,
            note="Too late.",
            salt=SALT,
            now=0,
        ),
    )
    door.refuses_as_judged(Code.NOT_IN_PHASE, argue(round_id)[0])


def test_the_door_refuses_everything_once_a_round_is_over() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    body = committing(town, 4, round_id)
    for index in (1, 2, 3):
        town.cast(index, round_id, 1)
    town.in_phase(round_id, Phase.DECIDE)
    for index in (1, 2, 3):
        town.reveal(index, round_id)
    town.in_phase(round_id, None)
    door = Door(town, 4)
    error = door.refuses(
        Code.NOT_IN_PHASE,
        lambda: custody.object_to(door.world, door.keyring, round_id, reason=Reason.NOVEL, now=0),
    )
    assert "over" in error.why
    door.refuses_as_judged(Code.NOT_IN_PHASE, body)
    door.refuses_as_judged(Code.NOT_IN_PHASE, argue(round_id, after=named("nothing"))[0])


def test_the_door_refuses_an_agent_that_no_cut_has_admitted() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    stranger = town.stranger(Role.AGENT)
    signer = CountingSigner(stranger.identity.seed(0))
    keyring = Keyring(agent=stranger.id, keys=(signer,))
    body = committing(town, 1, round_id)
    world = town.world()

    with pytest.raises(RefusedError) as unheard:
        custody.author(world, keyring, body, now=0)
    town.arrive(world, *stranger.records)
    for act in (body, propose()[0]):
        with pytest.raises(RefusedError) as unadmitted:
            custody.author(
                world, keyring, act, now=0, text=propose()[1] if act is not body else None
            )
        assert unadmitted.value.code == Code.NOT_ADMITTED
    hostile = stranger.say(body)
    town.arrive(world, hostile)

    assert unheard.value.code == Code.NOT_ADMITTED
    assert judge(world, hostile).code == Code.NOT_ADMITTED
    assert signer.signed == []


def test_the_door_refuses_arguments_and_proposals_over_quota() -> None:
    town, round_id = in_phase(Phase.DELIBERATE)
    door = Door(town, 1)
    for number in range(QUOTA):
        town.arrive(door.world, town.sign(1, *argue(round_id, f"argument {number}")))
    door.refuses_as_judged(Code.OVER_QUOTA, *argue(round_id, "one more"))
    for number in range(QUOTA):
        town.open_round(town.propose(2, f"Proposal {number}"))
    body, text = propose(artifact_text(title="One more"))
    Door(town, 2).refuses_as_judged(Code.OVER_QUOTA, body, text)


def test_the_door_refuses_a_text_that_an_artifact_has_already() -> None:
    town, _ = in_phase(Phase.DELIBERATE)
    content = next(iter(town.world().log.by_kind("artifact.propose")))
    assert isinstance(content.body, Propose)
    Door(town, 3).refuses_as_judged(Code.DUPLICATE, content.body, content.text_raw)


def test_the_door_refuses_a_reveal_that_opens_nothing_listed_or_another_ballot() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    for index in (1, 2, 3):
        town.cast(index, round_id, 1)
    town.in_phase(round_id, Phase.DECIDE)
    box = town.world().rounds[round_id].finals[Phase.COMMIT].digest
    outsider = Door(town, 5)
    outsider.refuses(
        Code.NOT_CERTIFIED,
        lambda: custody.reveal(outsider.world, outsider.keyring, round_id, now=0),
    )
    outsider.refuses_as_judged(Code.NOT_CERTIFIED, opening(town, 5, round_id, 1, box))
    liar = Door(town, 1)
    liar.refuses_as_judged(Code.COMMITMENT_MISMATCH, opening(town, 1, round_id, -1, box))


def test_the_door_refuses_a_contest_by_somebody_who_took_no_part() -> None:
    town, round_id = in_phase(Phase.COMMIT, contest=2_000)
    for index in (1, 2, 3):
        town.cast(index, round_id, 1)
    town.in_phase(round_id, Phase.DECIDE)
    for index in (1, 2, 3):
        town.reveal(index, round_id)
    town.in_phase(round_id, Phase.CONTEST)
    decided = town.world().rounds[round_id].finals[Phase.DECIDE].digest
    Door(town, 6).refuses_as_judged(Code.NOT_ELIGIBLE, *contest(round_id, after=decided))


# Forks --------------------------------------------------------------------------------------------


def test_the_door_refuses_a_forked_author_until_a_branch_is_picked() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    pens = (town.pen(Role.AGENT, 4), town.pen(Role.AGENT, 4))
    after = town.world().rounds[round_id].finals[Phase.DELIBERATE].digest
    branches = [
        pen.say(commit(pen, round_id, ballot(choice), after=after))
        for pen, choice in zip(pens, (Choice.FOR, Choice.AGAINST), strict=True)
    ]
    door = Door(town, 4)
    town.arrive(door.world, *branches)
    content = propose(artifact_text(title="After the fork"))
    door.refuses(Code.FORK, lambda: door.author(*content))
    town.settled()
    door.refuses(Code.FORK, lambda: door.author(*content))
    assert [judge(door.world, one).code for one in branches] == [Code.FORK, Code.FORK]

    # The owner's next key picks a branch through the same door, and everything goes on there.
    picking = pens[0].fork()
    rotation = picking.rotate(picks=branches[0].id)
    signer = CountingSigner(picking.current)
    keyring = Keyring(agent=door.keyring.agent, keys=(*door.keyring.keys, signer))
    assert rotation.body is not None
    signed = custody.author(door.world, keyring, rotation.body, now=town.now)
    assert signed.prev == branches[0].id
    town.arrive(door.world, signed)
    assert judge(door.world, signed).code == Code.WAITS_FOR_CUT
    town.settled()
    assert judge(door.world, signed).code is None
    proposal = custody.author(door.world, keyring, content[0], now=town.now, text=content[1])
    assert proposal.prev == signed.id
    town.arrive(door.world, proposal)
    town.open_round(proposal)

    # The branch that was left behind stays cut off.
    late = pens[1].say(*propose(artifact_text(title="On the other branch")))
    town.arrive(door.world, late)
    assert judge(door.world, late).code == Code.FORK


def test_the_door_takes_no_pick_of_what_is_not_there() -> None:
    town, _ = in_phase(Phase.DELIBERATE)
    pens = (town.pen(Role.AGENT, 4), town.pen(Role.AGENT, 4))
    branches = [
        pen.say(*propose(artifact_text(title=str(number)))) for number, pen in enumerate(pens)
    ]
    door = Door(town, 4)
    town.arrive(door.world, *branches)
    body = pens[0].fork().rotate(picks=named("nothing")).body
    assert body is not None
    door.refuses(Code.FORK, lambda: door.author(body))


# Roles and keys -----------------------------------------------------------------------------------


def test_the_door_refuses_kinds_of_another_role_before_it_signs() -> None:
    town = Trial.of(1, 3)
    agent = Door(town, 1)
    agent.refuses(Code.WRONG_ROLE, lambda: agent.author(Delegate(agent=named("a"), scope=())))
    signer = CountingSigner(keys(town.seed, "operator", 0).current)
    operator = Keyring(agent=town.founding.operators[0], keys=(signer,))
    for body, text in (propose(), argue(named("round")), contest(named("round"))):
        with pytest.raises(RefusedError) as caught:
            custody.author(town.world(), operator, body, now=0, text=text)
        assert caught.value.code == Code.WRONG_ROLE
    assert signer.signed == []


def test_the_door_refuses_a_key_that_is_not_current_and_an_identity_that_is_revoked() -> None:
    town = Trial.of(1, 3)
    door = Door(town, 1)
    pen = town.pen(Role.AGENT, 1)
    town.arrive(door.world, pen.rotate())
    body, text = propose()
    door.refuses(Code.BAD_SIGNATURE, lambda: door.author(body, text))
    town.arrive(door.world, pen.revoke(RevokeBy.CURRENT))
    door.refuses(Code.BAD_CHAIN, lambda: door.author(body, text))


def test_the_door_refuses_what_no_peer_could_read() -> None:
    town = Trial.of(1, 3)
    door = Door(town, 1)
    body, text = propose()
    assert isinstance(body, Propose)
    shouting = msgspec.structs.replace(body, lang="NOT A LANGUAGE")
    door.refuses(Code.NOT_CANONICAL, lambda: door.author(shouting, text))
    door.refuses(Code.NOT_CANONICAL, lambda: door.author(body, b"another text"))
    long, text_hash, text_len = bind_text(Note(note="x" * 4_000), SALT)
    large = argue(named("round"))[0]
    assert isinstance(large, Argue)
    assert long is not None
    padded = msgspec.structs.replace(large, text_hash=text_hash, text_len=text_len)
    door.refuses(Code.UNKNOWN_ROUND, lambda: door.author(padded, long))


def test_the_door_refuses_a_record_that_is_too_large() -> None:
    town = Trial.of(1, 3)
    door = Door(town, 1)
    content = artifact_text(prose="x" * 17_000)
    with pytest.raises(RefusedError) as caught:
        custody.propose(door.world, door.keyring, content, topics=("code",), salt=SALT, now=0)
    assert caught.value.code == Code.TOO_LARGE
    body, text = propose()
    assert isinstance(body, Propose)
    stuffed = msgspec.structs.replace(body, text_len=17_000)
    door.refuses(Code.NOT_CANONICAL, lambda: door.author(stuffed, text))
    half = SignedMessage(bytes(31_500), bytes(64))
    heavy = AgentDeclare(family="f", provider="p", model="m" * 70_000)
    door.refuses(Code.TOO_LARGE, lambda: door.author(heavy))
    door.refuses(Code.TOO_LARGE, lambda: door.author(LogFault(a=half, b=replaced(half))))


def replaced(half: SignedMessage) -> SignedMessage:
    return msgspec.structs.replace(half, message=bytes(40_000))
