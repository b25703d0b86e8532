"""What a member with a valid key may try: a table of attacks on one victim.

Each attack is something the evil host does; with it stands what the victim must answer: a fault in
its book with one of some codes, or nothing at all where an honest instance could do the same.
"""

import itertools
import struct
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import msgspec
import trio

from federation.codec import encode
from federation.core import Code
from federation.crypto import KeySigner, plain_hash
from federation.protocol import Keys, incept
from federation.records import Delegate, Record, Role, sign_record, wire
from node.base.entropy import random_bytes
from node.base.errors import NetworkError
from node.network import messages as says
from node.network.hints import topic_of
from node.network.streams import Stream
from tests.cluster.evil import HONEST, Answers, Scene, honestly

Does = Callable[[Scene], Awaitable[None]]
MALFORMED = (Code.NOT_CANONICAL, Code.TOO_LARGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    does: Does
    costs: tuple[str, ...] = ()
    """Codes of the book, one of which the attack earns; none: it is only endured."""
    stores: bool = False
    """The victim may store what was sent: it is right in itself."""
    lingers: bool = False
    """What it leaves open must be gone before the next."""


# Records ------------------------------------------------------------------------------------------


def newcomer(realm: bytes, number: int, *, salt: bytes = b"") -> Record:
    """Make an identity that nobody has admitted."""
    keys = Keys(
        current=plain_hash(salt + struct.pack(">Q", number)), next=bytes(32), recovery=bytes(32)
    )
    return incept(realm, f"stranger {number}", Role.AGENT, keys)


def spoilt(record: Record) -> bytes:
    return wire(msgspec.structs.replace(record, signature=bytes(64)))


def known(it: Scene) -> list[bytes]:
    """Give the wire bytes of everything that the victim holds, in an order that can be stored."""
    log = it.victim.world.log
    return [wire(record) for record in log.missing_from({}, most=10_000)]


def pushes(*messages: Callable[[Scene], says.Pushed]) -> Does:
    async def does(it: Scene) -> None:
        await it.evil.push(*(message(it) for message in messages))

    return does


def records(*raws: bytes) -> says.Records:
    return says.Records(records=raws)


def part(content: bytes, *, more: bool) -> says.PacketPart:
    return says.PacketPart(more=more, content=content)


async def endless_full_parts(it: Scene) -> None:
    await it.evil.push(*[part(bytes(says.ROOM), more=True)] * 12)


async def many_strangers(it: Scene) -> None:
    """Push 3,000 identities that nobody admitted: right in themselves, and refused by nobody."""
    realm = it.victim.world.realm
    made = [wire(newcomer(realm, number, salt=random_bytes(8))) for number in range(3_000)]
    for start in range(0, len(made), 400):
        await it.evil.push(records(*made[start : start + 400]))


async def flood_of_copies(it: Scene) -> None:
    copies = records(*itertools.islice(itertools.cycle(known(it)), 300))
    await it.evil.push(*[copies] * 200)


async def big_packets(it: Scene) -> None:
    """Push 60 packets of nearly two megabytes each."""
    full, rest = part(bytes(says.ROOM), more=True), part(bytes(1_000), more=False)
    await it.evil.push(*([full] * 8 + [rest]) * 60)


async def waiting_records(it: Scene) -> None:
    """Push records whose predecessors nobody will ever see: each makes the victim ask for one."""
    realm = it.victim.world.realm
    orphans = [
        wire(
            sign_record(
                Delegate(agent=bytes(32), scope=()),
                realm=realm,
                signer=KeySigner(bytes(32)),
                author=plain_hash(struct.pack(">Q", number)),
                key_index=0,
                seq=7,
                prev=random_bytes(32),
                at=0,
            )
        )
        for number in range(2_000)
    ]
    for start in range(0, len(orphans), 400):
        await it.evil.push(records(*orphans[start : start + 400]))


# Questions ----------------------------------------------------------------------------------------


def asks(*questions: Callable[[Scene], says.Question], times: int = 1) -> Does:
    """Ask on one stream, reading every answer."""

    async def does(it: Scene) -> None:
        try:
            stream = await it.evil.open(says.SYNC)
            for question in questions:
                raw = says.frame(question(it))
                for _ in range(times):
                    await stream.send(raw)
                    await all_of(stream)
            await stream.close()
        except NetworkError:
            pass

    return does


async def all_of(stream: Stream) -> None:
    while True:
        answer = says.read_answer(await stream.receive(deadline_s=10))
        if not (isinstance(answer, says.Records | says.BlobPart) and answer.more):
            return


def unknown(it: Scene) -> says.Question:
    del it
    return says.Want(records=tuple(random_bytes(32) for _ in range(says.MOST_WANTED)))


def everything(it: Scene) -> says.Question:
    log = it.victim.world.log
    names = itertools.cycle(head for author in log.authors() for _, head in log.heads_of(author))
    return says.Want(records=tuple(itertools.islice(names, says.MOST_WANTED)))


def huge_page(it: Scene) -> says.Question:
    """Claim heads of a thousand authors that do not exist, four each: a page as large as it goes."""
    del it
    authors = sorted(random_bytes(32) for _ in range(1_000))
    rows = [[author, sorted([seq, random_bytes(32)] for seq in range(4))] for author in authors]
    return says.Lack(page=encode([bytes(32), b"\xff" * 32, rows]), start=bytes(32))


def bad_page(it: Scene) -> says.Question:
    del it
    return says.Lack(page=b"\x00" * 1_000, start=bytes(32))


def unordered_page(it: Scene) -> says.Question:
    del it
    rows = [[one, [[0, bytes(32)]]] for one in (b"\x02" * 32, b"\x01" * 32)]
    return says.Lack(page=encode([bytes(32), b"\xff" * 32, rows]), start=bytes(32))


async def asks_and_never_reads(it: Scene) -> None:
    """Ask for everything a thousand times on each of 20 streams, and read no answer."""
    raw = says.frame(everything(it))

    async def one() -> None:
        try:
            stream = await it.evil.open(says.SYNC)
            for _ in range(1_000):
                await stream.send(raw)
        except NetworkError:
            pass

    with trio.move_on_after(1):
        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(one)


async def hellos(it: Scene) -> None:
    """Say hello again and again: each starts the conversation anew."""
    for _ in range(40):
        try:
            await it.evil.greet()
        except NetworkError:
            continue


async def says_no(it: Scene) -> None:
    stream = await it.evil.open(says.HELLO)
    await stream.send(says.frame(says.Refusal(code="NO", why="no", fix="no")))
    await stream.close()


async def opens_and_waits(it: Scene) -> None:
    """Open as many streams as it may, on every protocol, and say nothing."""
    with trio.move_on_after(1):
        for _ in range(60):
            for protocol in (says.HELLO, says.PUSH, says.SYNC):
                try:
                    await it.evil.open(protocol)
                except NetworkError:
                    continue


# Gossip -------------------------------------------------------------------------------------------


def gossips(*payloads: Callable[[Scene], bytes], times: int = 1) -> Does:
    async def does(it: Scene) -> None:
        topic = await it.evil.host.join(topic_of(it.victim.world.realm))
        pubsub = it.evil.host.gossip.pubsub
        while topic.name not in pubsub.peer_topics:  # noqa: ASYNC110 # the library has no event
            await trio.sleep(0.02)
        for payload in payloads:
            for _ in range(times):
                await topic.publish(payload(it))

    return does


PUSHED: dict[str, Attack] = {
    "a record that is none": Attack(does=pushes(lambda _: records(b"\x00")), costs=MALFORMED),
    "an empty record": Attack(does=pushes(lambda _: records(b"")), costs=MALFORMED),
    "a record of another realm": Attack(
        does=pushes(lambda _: records(wire(newcomer(bytes(32), 1)))), costs=(Code.BAD_SIGNATURE,)
    ),
    "bad signatures": Attack(
        does=pushes(lambda it: records(spoilt(newcomer(it.victim.world.realm, 1)))),
        costs=(Code.BAD_SIGNATURE,),
    ),
    "a packet that is none": Attack(
        does=pushes(lambda _: part(b"\x00" * 100, more=False)), costs=MALFORMED
    ),
    "an empty packet": Attack(does=pushes(lambda _: part(b"", more=False)), costs=MALFORMED),
    "a packet of another realm": Attack(
        does=pushes(lambda _: part(encode([bytes(32), bytes(32), ["cut", 1], []]), more=False)),
        costs=(*MALFORMED, Code.WRONG_REALM),
    ),
    "a packet without end": Attack(does=endless_full_parts, costs=(Code.TOO_LARGE,)),
    "parts that are not full": Attack(
        does=pushes(*[lambda _: part(b"x", more=True)] * 3), costs=MALFORMED
    ),
    "empty parts without end": Attack(
        does=pushes(*[lambda _: part(b"", more=True)] * 3), costs=MALFORMED
    ),
    "large packets that are none": Attack(does=big_packets, costs=MALFORMED),
    "identities of strangers": Attack(does=many_strangers, stores=True),
    "records that wait for others": Attack(does=waiting_records),
    "a flood of copies": Attack(does=flood_of_copies),
}
ASKED: dict[str, Attack] = {
    "unknown records at a high rate": Attack(does=asks(unknown, times=300)),
    "everything at a high rate": Attack(does=asks(everything, times=100)),
    "huge pages of heads": Attack(does=asks(huge_page, times=40)),
    "a page that is none": Attack(does=asks(bad_page), costs=MALFORMED),
    "a page without order": Attack(does=asks(unordered_page), costs=MALFORMED),
    "an unknown blob": Attack(does=asks(lambda _: says.WantBlob(blob=bytes(32)), times=100)),
    "questions whose answers nobody reads": Attack(does=asks_and_never_reads, lingers=True),
    "hello again and again": Attack(does=hellos),
    "a refusal instead of a hello": Attack(does=says_no, costs=MALFORMED),
    "streams that say nothing": Attack(does=opens_and_waits, lingers=True),
}
GOSSIPED: dict[str, Attack] = {
    "noise": Attack(does=gossips(lambda _: b"\xc1" * 100), costs=MALFORMED),
    "a record that is none": Attack(
        does=gossips(lambda _: says.frame(records(b"\x00"))), costs=MALFORMED
    ),
    "a packet": Attack(does=gossips(lambda _: says.frame(part(b"x", more=False))), costs=MALFORMED),
    "bad signatures": Attack(
        does=gossips(lambda it: says.frame(records(spoilt(newcomer(it.victim.world.realm, 1))))),
        costs=(Code.BAD_SIGNATURE,),
    ),
    "copies": Attack(does=gossips(lambda it: says.frame(records(*known(it)[:20])), times=30)),
}
ATTACKS = {"push": PUSHED, "sync": ASKED, "gossip": GOSSIPED}


# Answers ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the evil member answers to one kind of question; to others it answers as it should."""

    to: type[says.Question]
    answers: Callable[[Scene], Iterator[bytes]]
    """Frames, one after the other; they may go on for ever."""
    costs: tuple[str, ...]


def one(answer: says.Answer) -> Callable[[Scene], Iterator[bytes]]:
    return lambda _: iter([says.frame(answer)])


def for_ever(answer: says.Answer) -> Callable[[Scene], Iterator[bytes]]:
    return lambda _: itertools.repeat(says.frame(answer))


def copies_for_ever(it: Scene) -> Iterator[bytes]:
    """Answer `Lack` with the same record and "go on from there", whatever is asked."""
    record = it.victim.world.log.missing_from({}, most=1)[0]
    return iter([says.frame(says.Records(records=(wire(record),), resume=record.author))])


def nothing_and_go_on(_: Scene) -> Iterator[bytes]:
    return iter([says.frame(says.Records(records=(), resume=bytes(32)))])


WRONG: tuple[says.Answer, ...] = (
    says.Same(same=True),
    says.Records(records=()),
    says.BlobPart(more=False, content=b""),
    says.Meeting(cut=0, seen=None),
    says.Refusal(code="NO", why="no", fix="no"),
)
REPLIES: dict[str, Reply] = {
    "noise to Compare": Reply(
        to=says.Compare, answers=lambda _: iter([b"\xc1" * 50]), costs=MALFORMED
    ),
    "noise to Meet": Reply(to=says.Meet, answers=lambda _: iter([b"\xc1" * 50]), costs=MALFORMED),
    "a question to Compare": Reply(
        to=says.Compare, answers=lambda _: iter([says.frame(says.Meet())]), costs=MALFORMED
    ),
    "a record that is none to Lack": Reply(
        to=says.Lack, answers=one(records(b"\x00")), costs=MALFORMED
    ),
    "copies for ever to Lack": Reply(to=says.Lack, answers=copies_for_ever, costs=MALFORMED),
    "nothing, and go on, to Lack": Reply(to=says.Lack, answers=nothing_and_go_on, costs=MALFORMED),
    "frames for ever to Want": Reply(
        to=says.Want, answers=for_ever(says.Records(records=(), more=True)), costs=MALFORMED
    ),
    "a blob without end": Reply(
        to=says.WantBlob,
        answers=for_ever(says.BlobPart(more=True, content=bytes(says.ROOM))),
        costs=MALFORMED,
    ),
    "empty parts of a blob": Reply(
        to=says.WantBlob,
        answers=for_ever(says.BlobPart(more=True, content=b"")),
        costs=MALFORMED,
    ),
    "parts of a byte": Reply(
        to=says.WantBlob,
        answers=for_ever(says.BlobPart(more=True, content=b"x")),
        costs=MALFORMED,
    ),
    **{
        f"{type(answer).__name__} to {asked.__name__}": Reply(
            to=asked, answers=one(answer), costs=MALFORMED
        )
        for asked, right in HONEST.items()
        for answer in WRONG
        if type(answer) is not type(right)
    },
}


def answering(it: Scene, reply: Reply) -> Answers:
    """Answer one kind of question as an attack says."""

    async def does(stream: Stream, question: says.Question) -> None:
        if isinstance(question, reply.to):
            for raw in reply.answers(it):
                await stream.send(raw)
        elif isinstance(question, says.Compare):
            await stream.send(says.frame(says.Same(same=False)))
        else:
            await honestly(stream, question)

    return does
