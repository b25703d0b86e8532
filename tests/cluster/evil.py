"""One real node as the victim, and hosts that hold the keys of other members, under the test's hand.

The evil host speaks with a member's key, and says what the test tells it. The victim is a whole
node: its core, its database and its book of peers show what an attack has done.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio
from libp2p.abc import INetStream
from libp2p.custom_types import TProtocol

from federation.core import InstanceId
from federation.protocol import custody
from federation.records import ArtifactText, Record, wire
from node.base.errors import NetworkError
from node.network import messages as says
from node.network.faults import StreamEnded
from node.network.host import Host, open_host
from node.network.identity import id_of
from node.network.limits import HostLimits
from node.network.streams import Stream
from node.runtime import Node, open_node
from node.runtime.peers import PeerView
from tests.node.runtime.realm import Realm, until

HASTY = HostLimits(frame_s=1.5, close_s=0.3)
"""A slow frame must not cost the tests half a minute."""
WITHIN = 20.0
"""An upper bound for what a busy machine may take; nothing waits for all of it."""
LOOPBACK = ("/ip4/127.0.0.1/tcp/0",)
PROTOCOLS = tuple(
    value
    for name, value in sorted(vars(says).items())
    if name.isupper() and isinstance(value, str) and value.startswith("/folkmoot/")
)
"""All protocols of streams, as the messages name them: a new one is attacked without being asked."""

Answers = Callable[[Stream, says.Question], Awaitable[None]]


HONEST: dict[type[says.Question], says.Answer] = {
    says.Compare: says.Same(same=True),
    says.Lack: says.Records(records=()),
    says.Want: says.Records(records=()),
    says.WantBlob: says.BlobPart(more=False, content=b""),
    says.Meet: says.Meeting(cut=0, seen=None),
}
"""What an instance answers that holds the same, and nothing else."""


async def honestly(stream: Stream, question: says.Question) -> None:
    """Answer as an instance does that has nothing new."""
    await stream.send(says.frame(HONEST[type(question)]))


async def silent(stream: Stream, question: says.Question) -> None:
    """Answer nothing, for ever."""
    del stream, question
    await trio.sleep_forever()


@dataclass(slots=True, kw_only=True)
class Evil:
    """A host with a member's key."""

    host: Host
    instance: InstanceId
    victim: Node
    answers: Answers | None = None
    """What it does when the victim asks on its sync stream; None keeps the question until a test
    says: the victim asks as soon as it has heard hello, and may be faster than the test."""
    asked: list[says.Question] = field(default_factory=list)
    pushed: int = 0

    @property
    def address(self) -> str:
        assert self.victim.host is not None
        return self.victim.host.addresses[0]

    @property
    def key(self) -> bytes:
        assert self.victim.host is not None
        return self.victim.host.key

    def hello(self, **changes: object) -> says.Hello:
        fields: dict[str, object] = {
            "realm": self.victim.world.realm,
            "charter_hash": self.victim.world.state.charter_hash,
            "low": says.PROTOCOL,
            "high": says.PROTOCOL,
            "instance": self.instance,
            "cut": 0,
            "heads": 0,
        }
        return says.Hello(**{**fields, **changes})  # type: ignore[arg-type] # wrong on purpose

    async def greet(self, **changes: object) -> says.Greeting:
        """Connect and say hello; give what the victim says."""
        await self.host.connect(self.address)
        stream = await self.host.open(self.key, says.HELLO)
        try:
            await stream.send(says.frame(self.hello(**changes)))
            return says.read_greeting(await stream.receive(deadline_s=WITHIN))
        finally:
            await stream.close()

    async def open(self, protocol: str) -> Stream:
        return await self.host.open(self.key, protocol)

    async def raw(self, protocol: str) -> INetStream:
        """Open a stream below our framing."""
        return await self.host._host.new_stream(id_of(self.key), [TProtocol(protocol)])

    async def ask(self, question: says.Question) -> says.Answer:
        """Ask the victim one question on a stream of its own."""
        stream = await self.open(says.SYNC)
        try:
            await stream.send(says.frame(question))
            return says.read_answer(await stream.receive(deadline_s=WITHIN))
        finally:
            await stream.close()

    async def push(self, *messages: says.Pushed) -> None:
        """Push messages, as far as the victim takes them."""
        try:
            stream = await self.open(says.PUSH)
            for message in messages:
                await stream.send(says.frame(message))
            await stream.close()
        except NetworkError:
            pass

    async def _listen(self, stream: Stream) -> None:
        try:
            while True:
                await stream.receive(deadline_s=600)
                self.pushed += 1
        except StreamEnded:
            pass

    async def _serve(self, stream: Stream) -> None:
        while True:
            question = says.read_question(await stream.receive(deadline_s=600))
            self.asked.append(question)
            while self.answers is None:  # noqa: ASYNC110 # a test sets it at any time
                await trio.sleep(0.01)
            await self.answers(stream, question)

    @property
    def row(self) -> PeerView:
        """What the victim's operator sees of this peer."""
        return next(one for one in self.victim.peers() if one.instance == self.instance)

    @property
    def codes(self) -> set[str]:
        return {str(reason.code) for reason in self.row.why if reason.cost}

    async def is_scored(self, *codes: str, during: str = "") -> None:
        """Wait until the victim holds one of some faults against this peer, with a reason."""
        try:
            await until(lambda: self.codes & set(codes), within=WITHIN)
        except trio.TooSlowError:
            raise AssertionError(f"{during}: {self.codes} against it, not {codes}") from None
        assert all(reason.why for reason in self.row.why)


@asynccontextmanager
async def speaking_for(
    realm: Realm, index: int, victim: Node, *, seed: bytes | None = None
) -> AsyncIterator[Evil]:
    """Open a host with the key of an instance, or with a stranger's `seed`."""
    member = realm.founded.instances[index]
    async with open_host(seed or member.keys.current, listen=LOOPBACK) as host:
        evil = Evil(host=host, instance=member.id, victim=victim)
        host.serve(says.PUSH, evil._listen)
        host.serve(says.SYNC, evil._serve)
        yield evil


@dataclass(slots=True, kw_only=True)
class Scene:
    """A victim, an evil member and an honest one."""

    realm: Realm
    victim: Node
    evil: Evil
    honest: Evil
    """It has said hello too, and behaves."""
    stored: int = 0
    own: int = 0

    def watch(self) -> None:
        """Remember how much the victim holds: nothing of what follows may be added."""
        log = self.victim.world.log
        self.stored, self.own = len(log), log.count_of(self.realm.agents_of(0)[0])

    def forgive(self) -> None:
        """Tear the pages out of the victim's book, for the next attack."""
        self.victim.links.book._pages.clear()

    def assert_nothing_stored(self) -> None:
        assert len(self.victim.world.log) == self.stored

    def assert_only_stored(self, author: bytes) -> None:
        """Fail if the victim holds anything new that is not of its own agent."""
        log = self.victim.world.log
        assert len(log) - self.stored == log.count_of(author) - self.own

    async def still_lives(self) -> None:
        """Fail unless the victim serves an honest member, and signs and stores for its own agent."""
        with trio.fail_after(WITHIN):
            record = await propose(self.victim, self.realm.agents_of(0)[0])
            assert await self.victim.store.record(record.id) is not None
            if self.honest.instance not in self.victim.links.connected:
                assert isinstance(await self.honest.greet(), says.Hello)
            answer = await self.honest.ask(says.Want(records=(record.id,)))
            assert isinstance(answer, says.Records)
            assert wire(record) in answer.records
            assert not self.honest.codes

    async def renew(self) -> None:
        """Forgive the evil member, and let it begin anew on a new connection."""
        self.evil.answers = None
        self.evil.asked.clear()
        await self.evil.host.disconnect(self.evil.key)
        await until(lambda: self.evil.instance not in self.victim.links.connected)
        await until(lambda: not self.is_connected(self.evil))
        self.forgive()
        assert isinstance(await self.evil.greet(), says.Hello)
        await until(lambda: self.evil.instance in self.victim.links.connected)

    def is_connected(self, evil: Evil) -> bool:
        host = self.victim.host
        return host is not None and evil.host.key in host.connected()


async def propose(node: Node, agent: bytes) -> Record:
    """Let an agent of a node propose something."""
    text = ArtifactText(title="t", prose="p", claims=("c",), falsification=("f",), sources=())
    me = node.world.me
    assert me is not None
    # As if a quorum had met it: the other members are the attacker, or do not run.
    me.settled = True
    return await node.sign(
        agent,
        lambda world, ring, now: custody.propose(
            world, ring, text, topics=("a/b",), salt=node.entropy(16), now=now
        ),
    )


@asynccontextmanager
async def scene(
    realm: Realm, *, limits: HostLimits = HASTY, greeted: bool = True
) -> AsyncIterator[Scene]:
    """Run the victim, and connect an evil member to it that has said hello."""
    with trio.fail_after(4 * WITHIN):
        async with (
            open_node(
                realm.places[0], realm.settings(0), realm.keystore(0), limits=limits
            ) as victim,
            speaking_for(realm, 1, victim) as evil,
            speaking_for(realm, 2, victim) as honest,
        ):
            honest.answers = honestly
            if greeted:
                assert isinstance(await evil.greet(), says.Hello)
            found = Scene(realm=realm, victim=victim, evil=evil, honest=honest)
            found.watch()
            yield found


async def send_raw(stream: INetStream, *parts: bytes) -> None:
    """Write bytes as they are; the victim may have hung up."""
    try:
        for part in parts:
            await stream.write(part)
    except Exception:  # noqa: BLE001, S110 # the library raises what it likes
        pass
