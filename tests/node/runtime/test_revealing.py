"""Ballots open by themselves: after the certificate of their box, also after a restart."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import pytest
import trio
import trio.testing

from federation.certificates import Phase
from federation.protocol import Keyring
from federation.protocol import effects as fx
from federation.protocol.inputs import Arrived
from federation.records import Kind, Role
from node.base.entropy import random_bytes
from node.base.errors import KeystoreError, NodeCode, RequestError
from node.keys import Identity, Keystore
from node.runtime import Node
from node.runtime.driver import AHEAD, Driver
from node.runtime.inbox import Inbox
from node.runtime.revealing import Revealing
from node.runtime.snapshots import Snapshots
from node.runtime.timers import Timers
from tests.federation.protocol.town import Town, keys
from tests.node.runtime.quick import agents_of, in_phase, propose, quick, vote
from tests.node.runtime.realm import CHEAP, PASSPHRASE, until


def reveals(node: Node, name: bytes) -> set[bytes]:
    return {one.author for one in node.world.log.by_round(name).get(Kind.REVEAL, ())}


def watched(node: Node) -> list[tuple[Phase | None, int]]:
    """Note, at every step from now on, each round's phase and how many ballots are open."""
    seen: list[tuple[Phase | None, int]] = []

    def look(effects: list[fx.Effect]) -> None:
        del effects
        for name, one in node.world.rounds.items():
            seen.append((one.phase, len(reveals(node, name))))

    node.driver.listeners.insert(0, look)
    return seen


@pytest.mark.trio
async def test_ballots_open_by_themselves_after_the_close_and_never_before(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path)
    author, *voters = agents_of(town)
    with trio.fail_after(30):
        async with town.node(0) as node:
            seen = watched(node)
            proposed = await propose(node, author)
            name = await in_phase(node, proposed.id, Phase.COMMIT)
            for agent in voters:
                await vote(node, agent, name)
            await in_phase(node, proposed.id, None)
            await node.flushed()
            verdict = node.world.rounds[name].verdict

            assert verdict is not None
            assert reveals(node, name) == set(voters)
            assert {one.voter for one in verdict.ballots} == set(voters)
    assert all(count == 0 for phase, count in seen if phase in {Phase.COMMIT, Phase.DELIBERATE})
    assert any(phase is Phase.COMMIT for phase, _ in seen)


@pytest.mark.trio
async def test_a_restart_between_close_and_reveal_loses_no_vote(tmp_path: Path) -> None:
    town = quick(tmp_path)
    author, *voters = agents_of(town)
    with trio.fail_after(30):
        async with town.node(0) as node:
            # As if it were killed in the moment between the two.
            node.driver.listeners.clear()
            proposed = await propose(node, author)
            name = await in_phase(node, proposed.id, Phase.COMMIT)
            for agent in voters:
                await vote(node, agent, name)
            await in_phase(node, proposed.id, Phase.DECIDE)
            assert reveals(node, name) == set()
        async with town.node(0) as node:
            await until(lambda: reveals(node, name) == set(voters))
            await in_phase(node, proposed.id, None)
            verdict = node.world.rounds[name].verdict

            assert verdict is not None
            assert verdict.unrevealed == ()
        async with town.node(0) as node:
            # Nobody opens twice.
            found = node.world.log.by_round(name)[Kind.REVEAL]
            assert sorted(one.author for one in found) == sorted(voters)


@pytest.mark.trio
async def test_a_restart_while_the_box_is_open_opens_nothing(tmp_path: Path) -> None:
    town = quick(tmp_path, review={"commit_min": 3_000})
    author, *voters = agents_of(town)
    with trio.fail_after(30):
        async with town.node(0) as node:
            proposed = await propose(node, author)
            name = await in_phase(node, proposed.id, Phase.COMMIT)
            await vote(node, voters[0], name)
        async with town.node(0) as node:
            assert node.world.rounds[name].phase is Phase.COMMIT
            await node.flushed()

            assert reveals(node, name) == set()


@pytest.mark.trio
async def test_an_instance_that_may_have_forgotten_signs_for_nobody_until_it_is_settled(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path, instances=3, agents=6, review={"reveal": 20_000})
    author, voter = town.agents_of(0)
    others = [*town.agents_of(1), *town.agents_of(2)]
    with trio.fail_after(60):
        async with town.nodes() as nodes:
            await until(lambda: all(node.health().state == "ready" for node in nodes))
            nodes[0].driver.listeners.clear()
            proposed = await propose(nodes[0], author)
            name = await in_phase(nodes[0], proposed.id, Phase.COMMIT)
            await vote(nodes[0], voter, name)
            for place, agent in zip((1, 1, 2, 2), others, strict=True):
                await in_phase(nodes[place], proposed.id, Phase.COMMIT)
                await vote(nodes[place], agent, name)
            await in_phase(nodes[0], proposed.id, Phase.DECIDE)
        async with town.node(0) as node:
            await in_phase(node, proposed.id, Phase.DECIDE)
            with pytest.raises(RequestError) as refused:
                await propose(node, author)
            assert refused.value.code is NodeCode.SETTLING
            assert voter not in reveals(node, name)
        async with town.nodes() as nodes:
            await until(lambda: voter in reveals(nodes[0], name), within=30)
            me = nodes[0].world.me

            assert me is not None
            assert me.settled


def kept(root: Path, town: Town, *indexes: int, wrong: int | None = None) -> Keystore:
    """Keep the keys of some founders; of one, keys that are not its own."""
    keystore = Keystore.create(root / "keys", PASSPHRASE, entropy=random_bytes, cost=CHEAP)
    for index in indexes:
        three = keys(town.seed, "agent", index if index != wrong else 99)
        keystore.add(
            Identity(
                id=town.agent(index),
                role=Role.AGENT,
                name=f"agent {index}",
                seeds=(three.current,),
                next=three.next,
                recovery=three.recovery,
            )
        )
    return keystore


def closed_elsewhere(seed: str) -> tuple[Town, bytes]:
    """Let a box be shut by a quorum while instance 0 hears nothing of it."""
    town = Town.of(4, 8, seed=seed)
    proposed = town.propose(1)
    name = town.open_round(proposed)
    town.in_phase(name, Phase.COMMIT)
    for index in (0, 2, 3, 4):
        town.cast(index, name, 1)
    town.rest(20)
    town.take_down(0)
    town.in_phase(name, Phase.DECIDE)
    return town, name


def driver_of(town: Town) -> Driver:
    now = town.now
    timers = Timers(lambda: now)
    return Driver(
        town.world(), now=lambda: now, inbox=Inbox(), timers=timers, snapshot=Snapshots(0).take
    )


def opened(town: Town, name: bytes) -> set[bytes]:
    return {one.author for one in town.world().log.by_round(name).get(Kind.REVEAL, ())}


def news_of(town: Town) -> Arrived:
    """Give what instance 0 has not heard: the certificate of the box among it."""
    news = town.world(1).log.missing_from(town.world().log.author_heads())
    assert any(one.kind == Kind.CERTIFICATE for one in news)
    return Arrived(records=tuple(news), peer=town.founding.instances[1])


@asynccontextmanager
async def revealing(driver: Driver, keystore: Keystore) -> AsyncIterator[Revealing]:
    """Let ballots open by themselves."""
    part = Revealing(driver, keystore, wall=lambda: 5)
    driver.listeners.append(part.after)
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(part.run)
            await trio.testing.wait_all_tasks_blocked()
            yield part
            nursery.cancel_scope.cancel()


def a_cut(town: Town) -> fx.Effect:
    return fx.Tell(event=fx.Happening.CUT, subject=town.world().state.digest)


@pytest.mark.trio
async def test_nothing_opens_before_the_certificate_is_held_and_verified_here(
    tmp_path: Path,
) -> None:
    town, name = closed_elsewhere("withheld")
    driver = driver_of(town)
    async with revealing(driver, kept(tmp_path, town, 0, 4)) as part:
        for subject in (name, bytes(32)):
            part.after([fx.Tell(event=fx.Happening.PHASE, subject=subject, phase=Phase.DECIDE)])
        part.after([a_cut(town)])
        await trio.testing.wait_all_tasks_blocked()
        assert opened(town, name) == set()

        driver.take(news_of(town))
        # Nothing is stepped inside of the step that told of it.
        assert town.world().rounds[name].phase is Phase.DECIDE
        assert opened(town, name) == set()
        await trio.testing.wait_all_tasks_blocked()

        assert opened(town, name) == {town.agent(0), town.agent(4)}


@pytest.mark.trio
async def test_ballots_open_one_at_a_time_and_others_have_their_turns_in_between(
    tmp_path: Path,
) -> None:
    town, name = closed_elsewhere("in turn")
    driver = driver_of(town)
    turns, turns_at = 0, [0] * 4

    def note(effects: list[fx.Effect]) -> None:
        del effects
        turns_at[len(opened(town, name))] = turns

    async with revealing(driver, kept(tmp_path, town, 0, 2, 4)):
        driver.take(news_of(town))
        driver.listeners.append(note)
        while len(opened(town, name)) < 3:
            turns += 1
            await trio.lowlevel.checkpoint()

    # Who has a turn first in a round of them is chance; two rounds hold one of each at least.
    assert 0 < turns_at[1] < turns_at[3]


@pytest.mark.trio
async def test_no_ballot_opens_while_the_disk_is_too_far_behind(tmp_path: Path) -> None:
    town, name = closed_elsewhere("far ahead")
    driver = driver_of(town)
    async with revealing(driver, kept(tmp_path, town, 0)):
        driver.take(news_of(town))
        while driver.mark < AHEAD:
            driver.carry_out([fx.SendPacket(to=None, packet=b"p")])
        await trio.testing.wait_all_tasks_blocked()
        assert opened(town, name) == set()

        await driver.is_durable(1)
        await trio.testing.wait_all_tasks_blocked()

        assert opened(town, name) == {town.agent(0)}


@pytest.mark.trio
async def test_a_part_that_starts_again_finds_what_is_left(tmp_path: Path) -> None:
    town, name = closed_elsewhere("again")
    driver = driver_of(town)
    driver.take(news_of(town))
    async with revealing(driver, kept(tmp_path, town, 0, 4)):
        assert opened(town, name) == {town.agent(0), town.agent(4)}


@pytest.mark.trio
async def test_a_ballot_that_cannot_be_opened_holds_up_no_other_and_is_tried_at_every_cut(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    town, name = closed_elsewhere("wrong key")
    driver = driver_of(town)
    driver.take(news_of(town))

    def told() -> list[str]:
        return [one.split()[0] for one in caplog.messages]

    with caplog.at_level("WARNING", logger="folkmoot"):
        async with revealing(driver, kept(tmp_path, town, 0, 4, wrong=0)) as part:
            again = fx.Tell(event=fx.Happening.PHASE, subject=name, phase=Phase.DECIDE)
            part.after([again])
            await trio.testing.wait_all_tasks_blocked()
            assert opened(town, name) == {town.agent(4)}
            assert told() == ["ballot.stays_sealed"]

            part.after([a_cut(town)])
            await trio.testing.wait_all_tasks_blocked()
            assert told() == ["ballot.stays_sealed"] * 2

    # Whoever has the right key by then opens it.
    mended = kept(tmp_path / "mended", town, 0)
    async with revealing(driver, mended):
        assert opened(town, name) == {town.agent(0), town.agent(4)}


class Locked(Keystore):
    """A real keystore that fails as often as is told."""

    __slots__ = ()
    failures: ClassVar[list[KeystoreError]] = []

    def keyring(self, agent: bytes, *, key_index: int | None = None) -> Keyring | None:
        if self.failures:
            raise self.failures.pop()
        return super().keyring(agent, key_index=key_index)


@pytest.mark.trio
async def test_a_keystore_that_fails_costs_no_vote_for_good(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    town, name = closed_elsewhere("locked")
    driver = driver_of(town)
    keystore = kept(tmp_path, town, 0)
    keystore.__class__ = Locked
    Locked.failures.append(KeystoreError("no", why="w", fix="f", code=NodeCode.KEYSTORE_FAILED))
    driver.take(news_of(town))
    with caplog.at_level("WARNING", logger="folkmoot"):
        async with revealing(driver, keystore) as part:
            assert opened(town, name) == set()
            part.after([a_cut(town)])
            await trio.testing.wait_all_tasks_blocked()

            assert opened(town, name) == {town.agent(0)}
    assert [one.split()[-1] for one in caplog.messages] == ["code=KEYSTORE_FAILED"]


@pytest.mark.trio
async def test_a_rotation_that_no_log_holds_yet_does_not_keep_a_ballot_sealed(
    tmp_path: Path,
) -> None:
    town, name = closed_elsewhere("rotated")
    driver = driver_of(town)
    keystore = kept(tmp_path, town, 0)
    three = keys(town.seed, "agent", 0)
    # It is kept before its record is signed, so it may be ahead of the chain.
    keystore.add(
        Identity(
            id=town.agent(0),
            role=Role.AGENT,
            name="agent 0",
            seeds=(three.current, three.next),
            next=bytes(32),
            recovery=three.recovery,
        )
    )
    driver.take(news_of(town))
    async with revealing(driver, keystore):
        assert opened(town, name) == {town.agent(0)}
