"""A member with a valid key misbehaves: refused or endured, scored, bounded, and life goes on."""

import resource

import pytest
import trio

from federation.crypto import plain_hash
from node.base.errors import NodeCode
from node.network import link, links
from node.network import messages as says
from tests.cluster.attacks import ATTACKS, REPLIES, Reply, answering
from tests.cluster.evil import Scene, scene, silent
from tests.cluster.town import town
from tests.node.runtime.realm import Realm, until

MOST_KB = 200 * 1024
"""What the peak memory of this process, all hosts included, may grow by during one attack."""


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Realm:
    return town(tmp_path_factory.mktemp("realm"))


@pytest.mark.trio
@pytest.mark.parametrize("way", ATTACKS)
async def test_what_a_member_sends_is_refused_or_endured(realm: Realm, way: str) -> None:
    async with scene(realm) as it:
        await until(lambda: it.victim.links.connected)
        for name, attack in ATTACKS[way].items():
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            it.watch()
            await attack.does(it)
            if attack.costs:
                await it.evil.is_scored(*attack.costs, during=name)
            await it.still_lives()
            if not attack.stores:
                it.assert_only_stored(realm.agents_of(0)[0])
            if not attack.costs:
                # On a busy machine the attacker itself may be slow with a frame.
                assert it.evil.codes <= {NodeCode.FRAME_SLOW}, name
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            assert grown < MOST_KB, f"{name}: {grown} kB"
            it.forgive()
            if attack.lingers or not it.is_connected(it.evil):
                await it.renew()


async def endures(it: Scene, name: str, reply: Reply) -> None:
    """Let the victim ask, answer as the attack does, and look at what became of it."""
    it.watch()
    it.evil.answers = answering(it, reply)
    wish(it, name, reply)
    await it.evil.is_scored(*reply.costs, during=name)
    assert any(isinstance(one, reply.to) for one in it.evil.asked)
    await it.still_lives()
    it.assert_only_stored(it.realm.agents_of(0)[0])
    await it.renew()


def wish(it: Scene, name: str, reply: Reply) -> None:
    """Make the victim want what only the evil member may give."""
    voices = (it.evil.instance,)
    if reply.to is says.WantBlob:
        it.victim.links.fetch_blob(plain_hash(name.encode()), voices)
    elif reply.to is says.Want:
        it.victim.links.fetch_records((plain_hash(name.encode()),), voices)
    else:
        it.victim.links.reconcile(b"", voices)


QUICK = [name for name in REPLIES if " to " not in name or "Refusal" in name or name[0].islower()]


@pytest.mark.trio
async def test_wrong_answers_end_the_conversation(realm: Realm) -> None:
    async with scene(realm) as it:
        await it.renew()
        for name in QUICK:
            await endures(it, name, REPLIES[name])


@pytest.mark.slow  # Each answer costs a connection, and there is every wrong one of each question.
@pytest.mark.trio
async def test_every_wrong_answer_ends_the_conversation(realm: Realm) -> None:
    async with scene(realm) as it:
        await it.renew()
        for name, reply in REPLIES.items():
            await endures(it, name, reply)


@pytest.mark.trio
async def test_who_never_answers_is_left(realm: Realm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "ANSWER_S", 0.3)
    async with scene(realm) as it:
        it.evil.answers = silent
        await until(lambda: it.evil.asked)
        await until(lambda: it.evil.instance not in it.victim.links.connected)

        await it.evil.is_scored(NodeCode.TIMED_OUT)
        assert it.evil.row.banned_until is None
        await it.still_lives()


@pytest.mark.trio
async def test_who_says_no_hello_loses_its_place(
    realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "HELLO_WITHIN", 300)
    async with scene(realm, greeted=False) as it:
        await it.evil.host.connect(it.evil.address)
        assert it.is_connected(it.evil)
        await until(lambda: not it.is_connected(it.evil))
        await it.still_lives()
        with trio.move_on_after(1.5):
            await until(lambda: not it.is_connected(it.honest))
        assert it.is_connected(it.honest)
