"""The first words on a connection: who are you, of which realm, and do we share a protocol.

The connection has already proven the other side's key. Hello adds the rest and answers a stranger
politely: with one refusal that says why, and nothing else. What is checked, in this order:
protocol, realm, charter at genesis, ban, and whether the key is the current key of the instance
that the caller claims to be and that instance a member.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, assert_never

import trio

from federation.core import Code, Digest, InstanceId, PeerError, Realm, short
from node.base.errors import EXPLAINED, NetworkError, NodeCode
from node.network.faults import PeerFault, StreamEnded
from node.network.host import Host
from node.network.identity import PeerKey
from node.network.messages import HELLO, PROTOCOL, Greeting, Hello, Refusal, frame, read_greeting
from node.network.streams import Stream

PATIENCE_S: Final = 5.0
"""How long either side may take for its hello."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Self:
    """What an instance tells of itself, and how it knows others."""

    hello: Callable[[], Hello]
    """Its hello as of now."""
    instance_of: Callable[[PeerKey], InstanceId | None]
    """The member instance whose current key this is."""
    banned_why: Callable[[PeerKey], str | None]
    flushed: Callable[[], Awaitable[None]]
    """Returns once what the hello tells is durable."""


def refusal(me: Self, peer: PeerKey, theirs: Hello) -> Refusal | None:
    """Say why there is nothing to talk about with this peer; None if there is."""
    ours = me.hello()
    if theirs.high < ours.low or theirs.low > ours.high:
        return _refusal(
            NodeCode.WRONG_PROTOCOL,
            f"it speaks levels {theirs.low} to {theirs.high}, this instance {ours.low} to "
            f"{ours.high}",
        )
    if theirs.realm != ours.realm:
        return _refusal(NodeCode.WRONG_REALM, f"this instance is of realm {short(ours.realm)}")
    if theirs.charter_hash != ours.charter_hash:
        return _refusal(
            NodeCode.WRONG_CHARTER,
            f"this realm was founded on charter {short(ours.charter_hash)}",
        )
    banned = me.banned_why(peer)
    if banned is not None:
        return _refusal(NodeCode.BANNED, banned)
    known = me.instance_of(peer)
    if known is None:
        return _refusal(NodeCode.NOT_A_PEER, "its key is no member's")
    if known != theirs.instance:
        return _refusal(NodeCode.NOT_A_PEER, "its key is another instance's than it claims to be")
    return None


async def answer(me: Self, stream: Stream) -> Greeting:
    """Answer a caller's hello; give it if the caller is welcome, else the refusal it was told.

    Raises PeerError for what is no hello, and NetworkError.
    """
    try:
        theirs = read_greeting(await stream.receive(deadline_s=PATIENCE_S))
        if not isinstance(theirs, Hello):
            raise PeerError(
                "hello refused",
                why="it begins with a refusal, and nothing was asked",
                fix="say hello first",
                code=Code.NOT_CANONICAL,
            )
        no, ours = refusal(me, stream.peer, theirs), me.hello()
        await me.flushed()
        await stream.send(frame(no or ours))
    finally:
        await stream.close()
    return no or theirs


async def greet(me: Self, host: Host, peer: PeerKey) -> Hello:
    """Say hello first; give the peer's, or raise NetworkError with the reason of its refusal."""
    ours = me.hello()
    await me.flushed()
    greeting = await _say(host, peer, ours)
    match greeting:
        case Hello():
            no = refusal(me, peer, greeting)
            if no is not None:
                raise _refused(peer, no, by_us=True)
            return greeting
        case Refusal():
            raise _refused(peer, greeting, by_us=False)
        case _:
            assert_never(greeting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What an address answered to a hello."""

    peer: PeerKey
    answer: Hello | Refusal


async def probe(
    host: Host,
    address: str,
    *,
    realm: Realm,
    charter_hash: Digest,
    instance: InstanceId,
    low: int = PROTOCOL,
    high: int = PROTOCOL,
) -> Probe:
    """Call an address and say hello as asked; raises NetworkError if nobody answers there."""
    peer = await host.connect(address)
    try:
        hello = Hello(
            realm=realm,
            charter_hash=charter_hash,
            low=low,
            high=high,
            instance=instance,
            cut=0,
            heads=0,
        )
        return Probe(peer=peer, answer=await _say(host, peer, hello))
    finally:
        await host.disconnect(peer)


async def _say(host: Host, peer: PeerKey, hello: Hello) -> Hello | Refusal:
    try:
        with trio.fail_after(2 * PATIENCE_S):
            stream = await host.open(peer, HELLO)
            try:
                await stream.send(frame(hello))
                return read_greeting(await stream.receive(deadline_s=PATIENCE_S))
            finally:
                await stream.close()
    except (PeerFault, StreamEnded, PeerError, trio.TooSlowError) as error:
        raise NetworkError(
            f"peer {short(peer)} did not answer",
            why="it gave no hello that can be read",
            fix="check that a folkmoot node runs there, and its log",
            code=NodeCode.UNREACHABLE,
        ) from error


def _refusal(code: NodeCode, why: str) -> Refusal:
    return Refusal(code=code.value, why=why, fix=EXPLAINED[code][1])


def _refused(peer: PeerKey, no: Refusal, *, by_us: bool) -> NetworkError:
    # A peer's words are shown only if its code is one of ours: then they are short and plain.
    known = next((code for code in NodeCode if code.value == no.code), None)
    code = known or NodeCode.NOT_A_PEER
    who = "this instance refuses the peer" if by_us else "the peer refuses this instance"
    return NetworkError(
        f"no conversation with {short(peer)}",
        why=f"{who}: {EXPLAINED[code][0]}" + (f" ({_plain(no.why)})" if known else ""),
        fix=EXPLAINED[code][1],
        code=code,
    )


def _plain(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)[:200]
