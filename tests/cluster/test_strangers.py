"""Whoever has no business here is told why, politely, and gets nothing else."""

import dataclasses
from collections.abc import Callable

import pytest
import trio

from federation.core import Code
from node.base.errors import NetworkError, NodeCode
from node.network import hello
from node.network import messages as says
from node.network.hints import topic_of
from tests.cluster.evil import PROTOCOLS, Evil, propose, scene, speaking_for
from tests.cluster.town import town
from tests.node.runtime.realm import Realm, until

STRANGER = bytes(range(32))
NOISE = says.frame(says.Records(records=(b"\x00",)))


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Realm:
    return town(tmp_path_factory.mktemp("realm"))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    code: str
    """Of the refusal."""
    word: str
    """That stands in its reason."""
    seed: bytes | None = None
    """None: the key of a member."""
    changes: Callable[[Evil], dict[str, object]] = lambda _: {}
    banned: bool = False


CASES = {
    "a stranger": Case(code=NodeCode.NOT_A_PEER, word="no member", seed=STRANGER),
    "another realm": Case(
        code=Code.WRONG_REALM, word="realm", changes=lambda _: {"realm": bytes(32)}
    ),
    "another realm, a stranger": Case(
        code=Code.WRONG_REALM, word="realm", seed=STRANGER, changes=lambda _: {"realm": bytes(32)}
    ),
    "another charter": Case(
        code=Code.WRONG_CHARTER, word="charter", changes=lambda _: {"charter_hash": bytes(32)}
    ),
    "a protocol to come": Case(
        code=NodeCode.WRONG_PROTOCOL,
        word="levels",
        changes=lambda _: {"low": says.PROTOCOL + 1, "high": says.PROTOCOL + 3},
    ),
    "a protocol that is gone": Case(
        code=NodeCode.WRONG_PROTOCOL, word="levels", changes=lambda _: {"low": 0, "high": 0}
    ),
    "an instance that is not its own": Case(
        code=NodeCode.NOT_A_PEER,
        word="another instance",
        changes=lambda evil: {"instance": evil.victim.instance},
    ),
    "an instance that nobody is": Case(
        code=NodeCode.NOT_A_PEER, word="another instance", changes=lambda _: {"instance": bytes(32)}
    ),
    "a banned member": Case(code=NodeCode.BANNED, word="it lied to us", banned=True),
}


@pytest.mark.trio
@pytest.mark.parametrize("name", CASES)
async def test_it_is_told_why_and_served_nothing(realm: Realm, name: str) -> None:
    case = CASES[name]
    async with (
        scene(realm, greeted=False) as it,
        speaking_for(realm, 1, it.victim, seed=case.seed)
        if case.seed
        else it_self(it.evil) as evil,
    ):
        assert it.victim.host is not None
        topic = await evil.host.join(topic_of(it.victim.world.realm))
        if case.banned:
            it.victim.links.book.ban(evil.host.key, minutes=5, why="it lied to us")
        answer = await evil.greet(**case.changes(evil))

        assert isinstance(answer, says.Refusal)
        assert (answer.code, case.word in answer.why, bool(answer.fix)) == (case.code, True, True)
        assert it.victim.links.connected == ()
        for protocol in PROTOCOLS:
            if protocol != says.HELLO:
                assert await is_turned_away(evil, protocol)
        book = it.victim.links.book
        assert "NO_HELLO" in {one.code for one in book.why(evil.host.key) if one.cost}
        # Nothing is told to it by gossip either, and nothing that it says there is heard.
        await evil.host.connect(evil.address)
        await topic.publish(NOISE)
        async with speaking_for(realm, 2, it.victim) as honest:
            hears = await honest.host.join(topic_of(it.victim.world.realm))
            assert isinstance(await honest.greet(), says.Hello)
            while not hears._waiting:
                await propose(it.victim, realm.agents_of(0)[0])
                await trio.sleep(0.2)
            if case.seed or case.banned:
                # A member's key may gossip before it has said hello.
                assert NOISE not in {raw for _, raw in hears._waiting}
                assert list(topic._waiting) == []
        assert evil.pushed == 0
        assert evil.asked == []
        it.assert_only_stored(realm.agents_of(0)[0])


class it_self:  # noqa: N801 # a context manager for what is open already
    def __init__(self, evil: Evil) -> None:
        self.evil = evil

    async def __aenter__(self) -> Evil:
        return self.evil

    async def __aexit__(self, *_: object) -> None:
        pass


async def is_turned_away(evil: Evil, protocol: str) -> bool:
    """Tell whether the victim ends a stream without a word."""
    try:
        await evil.host.connect(evil.address)
        stream = await evil.open(protocol)
        await stream.send(says.frame(says.Meet()))
        with trio.fail_after(5):
            await stream.receive(deadline_s=5)
    except NetworkError:
        return True
    return False


@pytest.mark.trio
async def test_the_probe_tells_what_the_other_side_said(realm: Realm) -> None:
    async with scene(realm, greeted=False) as it:
        world = it.victim.world
        member = it.evil.instance

        async def probe(**changes: object) -> hello.Probe:
            fields = {
                "realm": world.realm,
                "charter_hash": world.state.charter_hash,
                "instance": member,
            }
            return await hello.probe(it.evil.host, it.evil.address, **{**fields, **changes})

        welcome = await probe()
        wrong = await probe(realm=bytes(32))

        assert isinstance(welcome.answer, says.Hello)
        assert welcome.answer.instance == it.victim.instance
        assert isinstance(wrong.answer, says.Refusal)
        assert wrong.answer.code == Code.WRONG_REALM


@pytest.mark.trio
async def test_a_ban_ends_the_conversation_and_the_gossip_at_once(realm: Realm) -> None:
    async with scene(realm) as it:
        assert isinstance(await it.honest.greet(), says.Hello)
        await until(lambda: len(it.victim.links.connected) == 2)
        name = topic_of(it.victim.world.realm)
        theirs, others = await it.evil.host.join(name), await it.honest.host.join(name)
        while not theirs._waiting:
            await propose(it.victim, realm.agents_of(0)[0])
            await trio.sleep(0.2)
        it.victim.links.book.ban(it.evil.host.key, minutes=5, why="it lied to us")
        await until(lambda: it.victim.links.connected == (it.honest.instance,))
        await until(lambda: it.evil.key not in it.evil.host.connected())

        answer = await it.evil.greet()

        assert isinstance(answer, says.Refusal)
        assert it.victim.links.connected == (it.honest.instance,)
        # Gossip does not reach it either, although it may be connected again.
        await it.evil.host.connect(it.evil.address)
        theirs._waiting.clear()
        others._waiting.clear()
        while not others._waiting:
            await propose(it.victim, realm.agents_of(0)[0])
            await trio.sleep(0.2)
        assert list(theirs._waiting) == []
        await it.still_lives()
