from federation.certificates import (
    Body,
    ListWitness,
    MessagePacket,
    Phase,
    Promise,
    RoundSlot,
    Seal,
    SignedEntry,
    WantPacket,
    message_for,
    packet_bytes,
    pin,
)
from federation.certificates.membership import Member
from federation.core import InstanceId
from federation.protocol import effects as fx
from federation.records import LogFault, LogFork, Record, SignedMessage, sign_record
from federation.records.bodies import SignedStatement
from federation.simulation.network.community import community
from federation.simulation.network.letters import AskHello, Packet, Sent
from federation.simulation.network.monitors import Members
from federation.simulation.network.network import SimNetwork

THERE = community(2, agents=2)
FIRST, SECOND = THERE.founding.instances
PINNED = pin(
    realm=THERE.founding.realm,
    charter_hash=bytes(32),
    slot=RoundSlot(round_id=bytes(32), phase=Phase.DECIDE),
    members=[
        Member(operator=voice, voice=voice, key=THERE.signer(voice).public)
        for voice in (FIRST, SECOND)
    ],
    home=None,
    three_available=False,
)
NODE = SimNetwork(THERE, seed="members").node(0)


def watching(*blameless: InstanceId) -> Members:
    return Members(frozenset(blameless or (FIRST, SECOND)))


def sign(monitor: Members, counter: int, body: Body) -> bytes:
    raw = message_for(PINNED, FIRST, counter, body)
    entry = SignedEntry(slot=PINNED.slot, raw=raw, signature=bytes(64))
    monitor.stored(NODE, fx.StoreJournal(entry=entry))
    return raw


def promise(fence: int) -> Promise:
    return Promise(fence=fence, lock_fence=None, lock_digest=None)


def accuse(author: InstanceId, body: LogFault | LogFork) -> Record:
    return sign_record(
        body,
        realm=THERE.founding.realm,
        signer=THERE.signer(author),
        author=author,
        key_index=0,
        seq=9,
        prev=bytes(32),
        at=0,
    )


def rules(monitor: Members) -> list[str]:
    return [rule for rule, _ in monitor.findings]


def test_a_member_that_keeps_its_word_is_left_alone() -> None:
    monitor = watching()
    sign(monitor, 0, ListWitness(ids=(), late=False))
    sign(monitor, 1, Seal(fence=0, digest=bytes(32)))
    sign(monitor, 2, promise(3))
    sign(monitor, 3, Seal(fence=3, digest=bytes(32)))

    assert rules(monitor) == []


def test_a_seal_below_a_promised_fence_is_found() -> None:
    monitor = watching()
    sign(monitor, 0, promise(2))
    sign(monitor, 1, Seal(fence=1, digest=bytes(32)))

    assert rules(monitor) == ["a fence fell"]


def test_a_second_word_in_one_place_is_found() -> None:
    monitor = watching()
    sign(monitor, 0, Seal(fence=1, digest=bytes(32)))
    sign(monitor, 1, Seal(fence=1, digest=b"x" * 32))

    assert rules(monitor) == ["signed twice"]


def test_a_counter_that_is_used_twice_is_found() -> None:
    monitor = watching()
    sign(monitor, 5, promise(1))
    sign(monitor, 5, promise(2))

    assert rules(monitor) == ["a counter was used twice"]


def test_a_message_that_leaves_before_it_is_durable_is_found() -> None:
    monitor = watching()
    raw = message_for(PINNED, FIRST, 0, promise(1))
    packet = packet_bytes(PINNED, MessagePacket(raw=raw, signature=bytes(64)))
    sent = Sent(sender=FIRST, receiver=SECOND, letter=Packet(packet=packet))
    monitor.sent(NODE, sent)
    monitor.sent(NODE, sent)

    assert rules(monitor) == ["sent before it was durable"]


def test_durable_messages_and_messages_of_others_may_be_sent() -> None:
    monitor = watching()
    own = sign(monitor, 0, promise(1))
    relayed = message_for(PINNED, SECOND, 0, promise(1))
    for raw in (own, relayed):
        packet = packet_bytes(PINNED, MessagePacket(raw=raw, signature=bytes(64)))
        monitor.sent(NODE, Sent(sender=FIRST, receiver=SECOND, letter=Packet(packet=packet)))
    want = Packet(packet=packet_bytes(PINNED, WantPacket(hashes=())))
    monitor.sent(NODE, Sent(sender=FIRST, receiver=SECOND, letter=want))
    monitor.sent(NODE, Sent(sender=FIRST, receiver=SECOND, letter=AskHello()))

    assert rules(monitor) == []


def test_a_liar_is_not_watched() -> None:
    monitor = watching(SECOND)
    sign(monitor, 0, promise(2))
    sign(monitor, 0, Seal(fence=1, digest=bytes(32)))
    packet = packet_bytes(
        PINNED,
        MessagePacket(raw=message_for(PINNED, FIRST, 7, promise(1)), signature=bytes(64)),
    )
    monitor.sent(NODE, Sent(sender=FIRST, receiver=SECOND, letter=Packet(packet=packet)))

    assert rules(monitor) == []


def test_a_proof_of_fault_or_fork_against_somebody_honest_is_found() -> None:
    message = SignedMessage(message_for(PINNED, FIRST, 0, promise(1)), bytes(64))
    fault = LogFault(a=message, b=message)
    statement = SignedStatement(b"x", bytes(64))
    fork = LogFork(author=FIRST, a=statement, b=statement)
    monitor = watching()
    for body in (fault, fork):
        monitor.stored(NODE, fx.StoreRecord(record=accuse(SECOND, body)))
    unmoved = watching(SECOND)
    for body in (fault, fork):
        unmoved.stored(NODE, fx.StoreRecord(record=accuse(SECOND, body)))

    assert rules(monitor) == ["an honest member was blamed"] * 2
    assert rules(unmoved) == []


def test_an_accusation_that_is_no_message_blames_nobody() -> None:
    rubbish = SignedMessage(b"\xc1", bytes(64))
    monitor = watching()
    body = LogFault(a=rubbish, b=rubbish)
    monitor.stored(NODE, fx.StoreRecord(record=accuse(SECOND, body)))
    monitor.stored(NODE, fx.StoreSilence(until=0))

    assert rules(monitor) == []
