"""A step in progress: what is stored comes first, and who may not sign says nothing."""

from federation.certificates import blob_hash
from federation.core import Code, PeerError
from federation.crypto import KeySigner
from federation.protocol import begin
from federation.protocol import effects as fx
from federation.protocol.turn import Turn
from federation.records import OperatorAdmit, Revoke, RevokeBy, Role, sign_record
from tests.builders import Chain, named, person
from tests.federation.protocol.town import Town, verify


def turn_of(town: Town) -> Turn:
    return Turn(world=town.world(), now=town.now)


def test_a_blob_is_stored_once() -> None:
    turn = turn_of(Town.of(1, 5))
    turn.keep_blob(b"content")
    turn.keep_blob(b"content")

    assert turn.effects == [fx.StoreBlob(content=b"content")]
    assert turn.world.blobs.get(blob_hash(b"content")) == b"content"


def test_records_are_stored_then_relayed_together() -> None:
    turn = turn_of(Town.of(1, 5))
    one, two = (Chain(person(Role.AGENT, number)).head for number in (1, 2))
    turn.keep((one, two))

    assert turn.effects == [
        fx.StoreRecord(record=one),
        fx.StoreRecord(record=two),
        fx.Relay(records=(one, two)),
    ]


def test_a_refusal_names_the_peer_and_the_code() -> None:
    turn = turn_of(Town.of(1, 5))
    turn.refuse(named("peer"), PeerError("x refused", why="y", fix="z", code=Code.TOO_LARGE))

    assert turn.effects == [
        fx.Refused(peer=named("peer"), code="TOO_LARGE", why="x refused: y; z [TOO_LARGE]")
    ]


def test_a_wake_up_call_is_an_effect() -> None:
    turn = turn_of(Town.of(1, 5))
    turn.wake_at(17)

    assert turn.effects == [fx.WakeAt(at=17)]


def test_an_instance_speaks_at_the_head_of_its_chain() -> None:
    town = Town.of(1, 5)
    turn = turn_of(town)
    ((seq, head),) = turn.world.log.heads_of(town.founding.instances[0])
    first = turn.say(OperatorAdmit(operator=named("one")))
    second = turn.say(OperatorAdmit(operator=named("two")))

    assert first is not None
    assert second is not None
    assert (first.seq, first.prev) == (seq + 1, head)
    assert (second.seq, second.prev) == (seq + 2, first.id)
    assert first.id in turn.world.log
    assert turn.effects[:2] == [fx.StoreRecord(record=first), fx.Relay(records=(first,))]


def test_an_observer_says_nothing() -> None:
    founding = Town.of(1, 5).founding
    turn = Turn(world=begin(founding.charter, founding.records, verify=verify), now=0)

    assert turn.say(OperatorAdmit(operator=named("one"))) is None
    assert turn.effects == []


def test_an_instance_that_may_have_forgotten_says_nothing() -> None:
    turn = turn_of(Town.of(1, 5))
    assert turn.world.me is not None
    turn.world.me.settled = False

    assert turn.say(OperatorAdmit(operator=named("one"))) is None


def test_an_instance_whose_chain_is_forked_says_nothing() -> None:
    town = Town.of(1, 5)
    turn = turn_of(town)
    me = turn.world.me
    assert me is not None
    ((seq, head),) = turn.world.log.heads_of(me.instance)
    for name in ("one", "two"):
        twin = sign_record(
            OperatorAdmit(operator=named(name)),
            realm=turn.world.realm,
            signer=me.signer,
            author=me.instance,
            key_index=0,
            seq=seq + 1,
            prev=head,
            at=0,
        )
        turn.world.log.add(twin)

    assert turn.say(OperatorAdmit(operator=named("three"))) is None
    assert turn.effects == []


def test_an_instance_says_nothing_with_a_key_that_is_not_its_own() -> None:
    turn = turn_of(Town.of(1, 5))
    me = turn.world.me
    assert me is not None
    me.signer = KeySigner(named("another"))

    assert turn.say(OperatorAdmit(operator=named("one"))) is None


def test_an_instance_that_is_revoked_says_nothing() -> None:
    turn = turn_of(Town.of(1, 5))
    assert turn.say(Revoke(by=RevokeBy.CURRENT, reason="stolen")) is not None
    turn.effects.clear()

    assert turn.say(OperatorAdmit(operator=named("one"))) is None
    assert turn.effects == []


def test_records_that_are_fetched_may_come_whatever_room_their_author_has() -> None:
    turn = turn_of(Town.of(1, 5))
    turn.fetch((named("record"),), (named("voice"),))

    assert turn.effects == [fx.FetchRecords(records=(named("record"),), voices=(named("voice"),))]
    assert named("record") in turn.world.asked


def test_what_an_instance_says_claims_the_time_of_people() -> None:
    town = Town.of(1, 5)
    turn = turn_of(town)
    me = turn.world.me
    assert me is not None
    me.epoch = 1_800_000_000_000
    said = turn.say(OperatorAdmit(operator=named("one")))
    me.epoch = -(turn.now + 1)
    early = turn.say(OperatorAdmit(operator=named("two")))

    assert said is not None
    assert said.statement.at == 1_800_000_000_000 + turn.now
    assert early is not None
    assert early.statement.at == 0
