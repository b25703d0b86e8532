"""Three honest nodes of four decide while the fourth does everything that it can think of."""

import itertools
from pathlib import Path

import pytest
import trio

from federation.certificates import Phase
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.protocol import custody
from node.base.errors import NetworkError
from node.network import messages as says
from node.network.streams import Stream
from node.runtime import Node
from tests.cluster.attacks import ATTACKS
from tests.cluster.evil import Evil, Scene, honestly, propose, speaking_for
from tests.cluster.town import town
from tests.node.runtime.realm import Realm, introduce, until

EVIL = 3
BALLOT = Ballot(choice=Choice.FOR, reason=Reason.ACCURATE, basis=Basis.DERIVATION)


EVERY = [(way, name) for way, attacks in ATTACKS.items() for name in attacks]
FAR = 2**53
"""A cut that nobody will ever reach."""


async def attack(realm: Realm, victim: Node, start: int, tried: set[tuple[str, str]]) -> None:
    """Try every attack on one node in turn, for ever; a ban is forgiven, so that all are tried."""
    async with speaking_for(realm, EVIL, victim) as evil:
        it = Scene(realm=realm, victim=victim, evil=evil, honest=evil)
        for number in itertools.count(start):
            way, name = EVERY[number % len(EVERY)]
            it.forgive()
            with trio.move_on_after(2):
                await begin(evil)
                await ATTACKS[way][name].does(it)
                tried.add((way, name))


async def begin(evil: Evil) -> None:
    evil.answers = boasts
    try:
        await evil.host.disconnect(evil.key)
        await evil.greet(cut=FAR, heads=FAR)
    except NetworkError:
        pass


async def boasts(stream: Stream, question: says.Question) -> None:
    """Answer that it is further than anybody can be, and has heard what was never said."""
    if isinstance(question, says.Meet):
        met = says.Meeting(cut=FAR, seen=(b"\x93\x01\x02\x03", bytes(64)))
        await stream.send(says.frame(met))
    else:
        await honestly(stream, question)


@pytest.mark.trio
async def test_a_round_completes_while_a_member_attacks_everybody(tmp_path: Path) -> None:
    realm = town(tmp_path, instances=4, homes=3)
    tried: set[tuple[str, str]] = set()
    with trio.fail_after(120):
        async with (
            realm.node(0) as first,
            realm.node(1) as second,
            realm.node(2) as third,
            trio.open_nursery() as attackers,
        ):
            nodes = (first, second, third)
            for place, node in enumerate(nodes):
                attackers.start_soon(attack, realm, node, place * len(EVERY) // 3, tried)
            introduce(nodes)
            await until(lambda: all(n.health().state == "ready" for n in nodes), within=40)
            author = realm.agents_of(0)[0]
            made = await propose(first, author)
            await until(lambda: all(n.world.rounds for n in nodes), within=40)
            (name,) = first.world.rounds
            await until(
                lambda: all(n.world.rounds[name].phase is Phase.COMMIT for n in nodes), within=40
            )
            for place, node in enumerate(nodes):
                for agent in realm.agents_of(place):
                    if agent != author:
                        await vote(node, agent, name)
            await until(
                lambda: all(
                    (found := n.world.state.artifacts.get(made.id)) and found.verdict for n in nodes
                ),
                within=60,
            )
            attackers.cancel_scope.cancel()
            verdicts = {n.world.state.artifacts[made.id].verdict for n in nodes}

    assert len(verdicts) == 1
    assert len(tried) > len(EVERY) // 3


async def vote(node: Node, agent: bytes, name: bytes) -> None:
    await node.sign(
        agent,
        lambda world, ring, now: custody.cast(
            world, ring, name, BALLOT, nonce=node.entropy(32), salt=node.entropy(24), now=now
        ),
    )
