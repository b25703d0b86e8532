import pytest

from federation.certificates import MessagePacket, SignedEntry, packet_from_bytes
from federation.core import InstanceId, Lots
from federation.protocol import effects as fx
from federation.protocol import inputs as ins
from federation.simulation.network import sync
from federation.simulation.network.clock import LocalClock
from federation.simulation.network.community import Community, community
from federation.simulation.network.conduct import HONEST, Conduct
from federation.simulation.network.letters import (
    AskBlob,
    AskHello,
    AskRecords,
    GiveBlob,
    GiveMissing,
    Gossip,
    Hello,
    Letter,
    Packet,
)
from federation.simulation.network.links import Line, Weather
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.node import SimNode, Trap
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest


def pair() -> Community:
    return community(2, agents=5, timing=TIMING, review=REVIEW)


class Deaf(Conduct):
    """Keeps every letter of some kinds from its core, and notes them."""

    def __init__(self, *kinds: type[Letter]) -> None:
        self.kinds = kinds
        self.kept: list[Letter] = []

    def incoming(self, node: SimNode, sender: InstanceId, letter: Letter) -> Letter | None:
        del node, sender
        if isinstance(letter, self.kinds):
            self.kept.append(letter)
            return None
        return letter


def network_of(conduct: Conduct | None = None, **more: object) -> SimNetwork:
    conducts = {} if conduct is None else {1: conduct}
    network = SimNetwork(pair(), seed="node", conducts=conducts, **more)  # type: ignore[arg-type]
    network.start()
    return network


def test_what_an_instance_stores_survives_a_crash_and_the_rest_does_not() -> None:
    network = network_of()
    node = network.node(0)
    network.propose(0)
    before = len(node.disk.records)
    node.crash(down_for=200)

    assert node.world is None
    assert before == 1
    network.run_until(lambda: node.world is not None)
    assert network.now >= 200
    assert node.world is not None
    assert node.life == 2
    assert len(node.world.log) == len(network.community.founding.records) + 1


def test_a_dead_instance_hears_nothing_and_dies_only_once() -> None:
    network = network_of()
    node = network.node(0)
    node.crash(down_for=100)
    node.crash(down_for=100)
    node.hear(node.peers[0], AskHello())
    node.take(ins.Wake())

    assert network.counters["crashes"] == 1


def test_a_restarted_instance_signs_nothing_before_it_has_met_a_quorum() -> None:
    network = network_of(Deaf(AskHello))
    node = network.node(0)
    node.crash(down_for=10)
    network.run_until(2_000)
    signed = [entry for entry in node.disk.journal if isinstance(entry, SignedEntry)]

    assert node.world is not None
    assert node.world.me is not None
    assert not node.world.me.settled
    assert signed == []


def test_a_restarted_instance_asks_what_was_heard_of_it_and_goes_on() -> None:
    network = network_of()
    network.at(20, lambda: network.propose(0))
    network.run_until(700)
    node = network.node(0)
    node.crash(down_for=10)

    assert network.run_until(lambda: is_at_rest(network))
    assert node.world is not None
    assert node.world.me is not None
    assert node.world.me.settled
    assert not node.world.me.amnesia


def test_a_backup_that_is_too_old_makes_an_instance_silent() -> None:
    network = network_of()
    node = network.node(0)
    disk = node.disk.backup()
    network.at(20, lambda: network.propose(0))
    network.run_until(700)
    assert node.disk.journal
    node.world = None
    node.restart(disk)
    network.run_until(network.now + 1_500)

    assert node.world is not None
    assert node.world.me is not None
    assert node.world.me.amnesia
    assert node.disk.silent_until >= 0


def test_an_instance_keeps_a_snapshot_of_each_cut_and_starts_from_the_one_it_is_told() -> None:
    network = network_of()
    node = network.node(0)
    asked: list[int] = []

    def oldest(taken: list[bytes]) -> bytes | None:
        asked.append(len(taken))
        return taken[0]

    node.recall = oldest
    network.at(20, lambda: network.propose(0))
    assert network.run_until(lambda: is_at_rest(network))
    world = node.world
    assert world is not None
    backup = node.disk.backup()
    node.crash(down_for=10)
    network.run_until(network.now + 10)

    assert len(node.disk.snapshots) >= world.state.cut
    assert backup.snapshots == node.disk.snapshots[: len(backup.snapshots)]
    assert asked == [len(backup.snapshots)]
    assert node.world is not None
    assert (node.world.state.cut, node.world.digest) == (world.state.cut, world.digest)
    # Who is told nothing keeps none.
    assert network.node(1).disk.snapshots == []


def test_a_trap_kills_between_two_effects() -> None:
    network = network_of()
    node = network.node(0)
    node.trap = Trap(after=lambda effect: isinstance(effect, fx.StoreRecord), down_for=50)
    sent = network.counters["Gossip"]
    network.propose(0)

    assert node.world is None
    assert len(node.disk.records) == 1
    # The record was durable, but the instance died before it could relay it.
    assert network.counters["Gossip"] == sent


def test_an_instance_that_dies_while_it_stores_what_it_asked_for_reports_nothing() -> None:
    network = network_of(Deaf(Gossip))
    network.propose(0)
    node = network.node(1)
    node.trap = Trap(after=lambda effect: isinstance(effect, fx.StoreRecord))

    assert network.run_until(lambda: network.counters["crashes"] > 0, most=5_000)
    assert node.world is None
    assert len(node.disk.records) == 1


def test_effects_that_would_follow_a_crash_do_not_happen_in_a_later_life() -> None:
    network = network_of()
    node = network.node(0)
    node.crash(down_for=1)
    network.run_until(3_000)

    assert node.life == 2


def test_every_signature_is_in_the_journal_before_it_is_sent() -> None:
    network = network_of()
    node = network.node(0)
    seen: list[tuple[str, bytes]] = []
    post = network.post

    def watched(sender: SimNode, receiver: InstanceId, letter: Letter) -> None:
        if sender is node and isinstance(letter, Packet):
            packet = packet_from_bytes(letter.packet).packet
            if isinstance(packet, MessagePacket):
                durable = {one.raw for one in node.disk.journal if isinstance(one, SignedEntry)}
                assert packet.raw in durable
                seen.append(("sent", packet.raw))
        post(sender, receiver, letter)

    network.post = watched  # type: ignore[method-assign]
    network.at(20, lambda: network.propose(0))
    network.run_until(lambda: is_at_rest(network))

    assert len(seen) > 10


def test_records_and_blobs_are_handed_out_by_name() -> None:
    network = network_of(Deaf(Gossip, GiveBlob))
    node, asker = network.node(0), network.node(1)
    record = network.propose(0)
    assert record is not None
    assert node.world is not None
    name = node.world.blobs.put(b"content")
    node.hear(asker.instance, AskRecords(records=(record.id,)))
    node.hear(asker.instance, AskRecords(records=(bytes(32),)))
    node.hear(asker.instance, AskBlob(blob=name))
    node.hear(asker.instance, AskBlob(blob=bytes(32)))
    network.run_until(100)
    deaf = asker.conduct
    assert isinstance(deaf, Deaf)
    asked = [one for one in deaf.kept if isinstance(one, Gossip) and len(one.records) > 1]
    blobs = [one for one in deaf.kept if isinstance(one, GiveBlob)]

    assert [one.records[-1].id for one in asked] == [record.id]
    assert blobs == [GiveBlob(content=b"content")]


def test_a_blob_that_nobody_asked_for_is_dropped() -> None:
    network = network_of()
    node = network.node(0)
    node.hear(node.peers[0], GiveBlob(content=b"unasked"))

    assert node.disk.blobs == []


def test_a_hello_is_answered() -> None:
    network = network_of(Deaf(Hello))
    network.node(0).hear(network.node(1).instance, AskHello())
    network.run_until(100)
    deaf = network.node(1).conduct
    assert isinstance(deaf, Deaf)

    assert deaf.kept == [Hello(cut=0, seen=None)]


def test_a_clock_that_jumps_forward_makes_what_is_due_happen_sooner() -> None:
    there = community(1, agents=5, timing=TIMING, review=REVIEW)

    def first_cut(jump: int) -> int:
        network = SimNetwork(there, seed="jump")
        network.start()
        network.at(10, lambda: network.node(0).jump_clock(jump))
        network.run_until(lambda: network.worlds[0].state.cut == 1)
        return network.now

    assert first_cut(2_000) == first_cut(0) - 2_000
    assert first_cut(-300) == first_cut(0) + 300


def test_a_clock_may_start_anywhere() -> None:
    network = SimNetwork(pair(), seed="clocks", clocks={0: 5_000})
    network.start()
    network.at(20, lambda: network.propose(0))

    assert network.run_until(lambda: is_at_rest(network))
    assert network.node(0).local() == network.node(1).local() + 5_000


def test_a_peer_far_behind_catches_up_in_batches() -> None:
    before, sync.BATCH = sync.BATCH, 3
    try:
        network = network_of(weather=Weather(line=Line(loss=1_000_000), good_from=300))
        for number in range(8):
            network.propose(0, f"paper {number}")
        network.run_until(lambda: len(network.worlds[0].log) == len(network.worlds[1].log))
    finally:
        sync.BATCH = before

    assert 300 <= network.now < 3_000


def test_whatever_a_cut_lacks_is_fetched() -> None:
    there = community(4, agents=5, timing=TIMING, review=REVIEW)
    last = there.founding.instances[3]
    network = SimNetwork(
        there,
        seed="fetch",
        weather=Weather(good_from=900),
        censor=lambda sent: (
            sent.receiver == last and isinstance(sent.letter, Gossip | GiveMissing | GiveBlob)
        ),
    )
    network.start()
    network.at(20, lambda: network.propose(0))

    assert network.run_until(lambda: network.now > 900 and is_at_rest(network))
    assert network.counters["AskRecords"] > 0


def test_an_instance_that_has_lived_keeps_its_own_clock_across_lives() -> None:
    clock = LocalClock(7)
    network = network_of()
    node = SimNode(
        name="x",
        founding=network.community.founding,
        instance=network.node(0).instance,
        signer=network.node(0).signer,
        host=network,
        verify=network.verify,
        lots=Lots("x"),
        conduct=HONEST,
        clock=clock,
    )

    assert node.local() == 7


def test_a_letter_or_an_effect_that_is_none_is_a_bug_of_ours() -> None:
    node = network_of().node(0)

    with pytest.raises(AssertionError):
        node.hear(node.peers[0], object())  # type: ignore[arg-type]
    with pytest.raises(AssertionError):
        node._carry_out(object())  # type: ignore[arg-type]
