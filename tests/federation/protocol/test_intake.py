"""Records that arrive: stored, relayed once, shown to what waits, and bounded for strangers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import pytest

from federation.codec import encode
from federation.core import Code, InstanceId
from federation.crypto import plain_hash
from federation.protocol import World, inputs, step
from federation.protocol import effects as fx
from federation.protocol.early import MOST_PACKETS
from federation.records import (
    AgentDeclare,
    Delegate,
    Kind,
    LogFork,
    Record,
    Role,
    Statement,
    parse_record,
    record_id,
    signing_payload,
    wire,
)
from tests.builders import Chain, log_fork, named, propose
from tests.federation.protocol.acts import (
    claim,
    fork,
    is_forked,
    next_cut,
    next_tick,
    refused,
)
from tests.federation.protocol.town import Town, verify

PEER = named("peer")


def take(
    world: World, *records: Record, peer: bytes | None = PEER, now: int = 0
) -> list[fx.Effect]:
    return step(world, inputs.Arrived(records=records, peer=peer), now)


def of_kind(effects: Sequence[fx.Effect], kind: type) -> list[fx.Effect]:
    return [one for one in effects if isinstance(one, kind)]


def unknown_kind(pen: Chain) -> Record:
    """Let a pen write a record of a kind that this version does not know."""
    body = encode({"steps": 3})
    statement = Statement(
        1,
        "artifact.dance",
        pen.id,
        0,
        len(pen.records),
        pen.head.id,
        0,
        len(body),
        plain_hash(body),
    )
    raw = encode(statement)
    name = record_id(pen.identity.realm, raw)
    signature = pen.signer.sign(signing_payload(name))
    record = parse_record(pen.identity.realm, encode([raw, body, None, signature]))
    pen.records.append(record)
    return record


def test_what_a_peer_sends_is_stored_and_relayed_once() -> None:
    town = Town.of(3, 6)
    world, record = town.world(), claim(town.pen(Role.AGENT, 0))
    effects = take(world, record)

    assert effects[:2] == [fx.StoreRecord(record=record), fx.Relay(records=(record,))]
    assert take(world, record) == []
    assert take(world, record.with_text(None)) == []


def test_records_that_waited_are_relayed_with_what_they_waited_for() -> None:
    world = Town.of(3, 6).world()
    pen = Town.of(3, 6).pen(Role.AGENT, 0)
    first, second, third = (claim(pen, f"Claim {number}") for number in range(3))
    waits = take(world, third, second)

    assert of_kind(waits, fx.Relay) == []
    assert waits[0] == fx.FetchRecords(records=(second.id,), voices=(PEER,))
    assert waits[1] == fx.FetchRecords(records=(first.id,), voices=(PEER,))
    assert of_kind(take(world, first), fx.Relay) == [fx.Relay(records=(first, second, third))]


def test_nobody_is_asked_for_what_an_agent_of_this_instance_left_out() -> None:
    world = Town.of(1, 5).world()
    pen = Town.of(1, 5).pen(Role.AGENT, 0)
    claim(pen)

    assert take(world, claim(pen, "Later"), peer=None) == []


def test_unknown_kinds_are_stored_and_relayed() -> None:
    town = Town.of(1, 5)
    world, pen = town.world(), town.pen(Role.AGENT, 0)
    record = unknown_kind(pen)
    assert record.body is None
    effects = take(world, record)

    assert record.id in world.log
    assert of_kind(effects, fx.Relay) == [fx.Relay(records=(record,))]
    after = claim(pen)
    take(world, after)
    town.open_round(after)
    assert world.state.identities[pen.id].head == after.id


def refusals(town: Town) -> dict[str, tuple[Record, Code]]:
    agent, operator = town.pen(Role.AGENT, 0), town.pen(Role.OPERATOR, 0)
    rotated = town.pen(Role.AGENT, 0)
    rotated.key_index = 1
    other = Town.of(1, 5, seed="another")
    return {
        "a forged signature": (
            msgspec.structs.replace(claim(agent), signature=bytes(64)),
            Code.BAD_SIGNATURE,
        ),
        "another realm": (other.pen(Role.AGENT, 0).records[0], Code.BAD_SIGNATURE),
        "a role that may not": (operator.say(*propose()), Code.WRONG_ROLE),
        "a key of no rotation": (claim(rotated), Code.BAD_CHAIN),
    }


@pytest.mark.parametrize("which", list(refusals(Town.of(1, 5))))
def test_what_the_log_refuses_costs_its_sender_and_nothing_else(which: str) -> None:
    town = Town.of(1, 5)
    world = town.world()
    record, code = refusals(town)[which]
    before, count = world.digest, len(world.log)
    (effect,) = take(world, record)

    assert isinstance(effect, fx.Refused)
    assert (effect.peer, effect.code) == (PEER, code)
    assert (world.digest, len(world.log)) == (before, count)


def test_one_bad_record_does_not_keep_out_the_good_ones_beside_it() -> None:
    town = Town.of(1, 5)
    world = town.world()
    good = claim(town.pen(Role.AGENT, 0))
    bad = msgspec.structs.replace(claim(town.pen(Role.AGENT, 1)), signature=bytes(64))
    effects = take(world, bad, good)

    assert good.id in world.log
    assert len(of_kind(effects, fx.Refused)) == 1


def test_a_copy_with_the_words_that_were_missing_is_stored_again() -> None:
    town = Town.of(1, 5)
    world, record = town.world(), claim(town.pen(Role.AGENT, 0))
    take(world, record.with_text(None))
    effects = take(world, record)

    assert effects == [fx.StoreRecord(record=record)]
    assert world.log.get(record.id) == record
    assert take(world, record) == []


def test_words_that_were_taken_down_do_not_come_back() -> None:
    town = Town.of(1, 5)
    world, record = town.world(), claim(town.pen(Role.AGENT, 0))
    take(world, record)
    world.log.drop_text(record.id)

    assert take(world, record) == []
    stored = world.log.get(record.id)
    assert stored is not None
    assert stored.text_raw is None


# Bounds for strangers ----------------------------------------------------------------------------


def chatter(pen: Chain, count: int) -> list[Record]:
    body = AgentDeclare(family="f", provider="p", model="m")
    return [pen.say(body) for _ in range(count)]


def test_a_stranger_may_store_8_records_and_pays_nothing_for_more() -> None:
    town = Town.of(1, 5)
    world, stranger = town.world(), town.stranger(Role.AGENT)
    chatter(stranger, 11)
    effects = take(world, *stranger.records)

    assert world.log.count_of(stranger.id) == 8
    assert of_kind(effects, fx.Refused) == []
    assert stranger.records[7].id in world.log
    assert stranger.records[8].id not in world.log


def test_the_quota_of_strangers_counts_whatever_the_order_of_arrival() -> None:
    town = Town.of(1, 5)
    world, stranger = town.world(), town.stranger(Role.AGENT)
    chatter(stranger, 11)
    take(world, *reversed(stranger.records))

    assert world.log.count_of(stranger.id) == 8


def test_an_admitted_agent_may_store_more() -> None:
    town = Town.of(1, 5)
    world, agent = town.world(), town.stranger(Role.AGENT)
    town.admit(agent)
    next_cut(town)
    chatter(agent, 20)
    take(world, *agent.records, now=town.now)

    assert world.log.count_of(agent.id) == 21


def test_a_flood_of_records_without_predecessors_is_bounded() -> None:
    town = Town.of(1, 5)
    world, pen = town.world(), town.pen(Role.AGENT, 0)
    claim(pen)
    records = chatter(pen, 600)
    effects = take(world, *records)

    assert world.log.waiting == 512
    assert len(world.log) == len(town.founding.records)
    assert {type(one) for one in effects} == {fx.FetchRecords}


def early_packet(world: World, number: int) -> bytes:
    """Write a packet for a slot that never opens here."""
    slot = ["cut", number + 2, named("elsewhere")]
    return encode([world.realm, named("charter"), slot, ["want", []]])


def test_a_flood_of_packets_for_slots_that_are_not_open_is_bounded() -> None:
    town = Town.of(3, 6)
    world, peer = town.world(), town.founding.instances[1]
    for number in range(MOST_PACKETS + 50):
        packet = inputs.Packet(packet=early_packet(world, number), peer=peer)
        assert step(world, packet, 0) == []

    assert len(world.early) == MOST_PACKETS


def test_a_crowd_of_strangers_fills_no_memory_with_packets_for_other_slots() -> None:
    world = Town.of(3, 6).world()
    for number in range(20):
        packet = inputs.Packet(packet=early_packet(world, number), peer=named("peer", number))
        assert step(world, packet, 0) == []

    assert len(world.early) == 0


@dataclass(slots=True)
class ByName(Town):
    """A town whose instances get what they fetch by name, and none of its successors."""

    def _perform(self, me: InstanceId, effects: Iterable[fx.Effect]) -> None:
        batch = list(effects)
        for effect in batch:
            if isinstance(effect, fx.FetchRecords):
                for voice in effect.voices:
                    log = self.worlds[voice].log
                    held = tuple(one for name in effect.records if (one := log.get(name)))
                    self._send(me, inputs.Arrived(records=held, peer=voice))
        Town._perform(self, me, [one for one in batch if not isinstance(one, fx.FetchRecords)])

    def _reconcile(self, me: InstanceId, voice: InstanceId, slot: bytes) -> None:
        # What a stranger has no room for does not come by reconciling either.
        self._send(me, inputs.Reconciled(slot=slot, voice=voice, began=self.now))


def test_a_stranger_that_shows_each_member_another_branch_stops_nobody() -> None:
    town = ByName.of(4, 4)
    next_cut(town)
    first = town.stranger(Role.AGENT)
    second = first.fork()
    chatter(first, 7)
    for number in range(7):
        second.say(AgentDeclare(family="g", provider="p", model="m"), at=number)
    last = town.world(3)
    for world in town.live():
        town.arrive(world, *(second if world is last else first).records)
    cut = last.state.cut
    next_tick(town, 2)

    assert last.state.cut > cut
    assert len({world.digest for world in town.live()}) == 1
    # It stores what a cut needs, and of the rest no more than before.
    assert last.log.count_of(first.id) == 15
    assert town.world(0).log.count_of(first.id) == 8
    assert not last.asked
    take(last, *chatter(first, 3), now=town.now)
    assert last.log.count_of(first.id) == 15


# Forks --------------------------------------------------------------------------------------------


def test_two_branches_that_come_apart_later_are_denounced_once() -> None:
    town = Town.of(1, 5)
    world = town.world()
    pen, twin = fork(town)
    take(world, claim(pen, "Three"), claim(twin, "Four"))
    third = town.pen(Role.OPERATOR, 0)

    assert len(world.log.by_kind(Kind.LOG_FORK)) == 1
    take(world, third.say(Delegate(agent=pen.id, scope=())))
    assert len(world.log.by_kind(Kind.LOG_FORK)) == 1


def test_a_forker_does_not_escape_by_an_unsound_proof_against_itself() -> None:
    town = Town.of(1, 5)
    world = town.world()
    pen = town.pen(Role.AGENT, 0)
    sound = log_fork(*(claim(town.pen(Role.AGENT, 1), title) for title in ("One", "Two")))
    unsound = pen.say(msgspec.structs.replace(sound, author=pen.id))
    take(world, unsound, now=town.now)
    twin = pen.fork()
    take(world, claim(pen, "Three"), claim(twin, "Four"), now=town.now)
    bodies = [one.body for one in world.log.by_kind(Kind.LOG_FORK)]
    next_cut(town)

    assert len(bodies) == 2
    assert all(isinstance(body, LogFork) and body.author == pen.id for body in bodies)
    assert refused(world, unsound) is Code.NOT_PROVEN
    assert is_forked(world, pen.id)


def test_unsound_proofs_of_a_forker_against_itself_do_not_multiply_with_its_forks() -> None:
    town = Town.of(1, 5)
    world, pen = town.world(), town.pen(Role.AGENT, 0)
    verified = 0

    def counting(key: bytes, payload: bytes, signature: bytes) -> bool:
        nonlocal verified
        verified += 1
        return verify(key, payload, signature)

    sound = log_fork(*(claim(pen.fork(), title) for title in ("One", "Two")))
    for number in range(60):
        forged = msgspec.structs.replace(sound.b, signature=number.to_bytes(64, "big"))
        pen.say(msgspec.structs.replace(sound, b=forged))
    world.verify = counting
    take(world, *pen.records[1:], now=town.now)
    take(world, *(claim(pen.fork(), f"Rival {number}") for number in range(60)), now=town.now)

    # Each proof is read once or twice, and each rival makes one of its own.
    assert 60 < verified < 8 * 60
    assert len(world.log.by_kind(Kind.LOG_FORK)) == 61


def test_records_keep_their_bytes_through_a_world() -> None:
    town = Town.of(1, 5)
    world, record = town.world(), claim(town.pen(Role.AGENT, 0))
    take(world, record)
    stored = world.log.get(record.id)

    assert stored is not None
    assert wire(stored) == wire(record)


def test_a_fork_is_denounced_by_whoever_sees_it_and_bars_its_author() -> None:
    town = Town.of(1, 5)
    world = town.world()
    pen, _ = fork(town)
    (proof,) = world.log.by_kind(Kind.LOG_FORK)
    assert proof.author == town.founding.instances[0]
    next_cut(town)

    assert world.state.identities[pen.id].forked_in == world.state.cut
    assert world.state.views[pen.id].forked
    # Neither branch is contained: the run ends before the fork.
    assert not world.state.artifacts
    assert world.state.identities[pen.id].head == pen.records[-2].id


def test_a_second_fork_is_denounced_although_the_first_was_settled() -> None:
    town = Town.of(1, 5)
    world = town.world()
    pen, _ = fork(town)
    next_cut(town)
    town.arrive(world, pen.rotate(picks=pen.head.id))
    next_cut(town)
    assert not is_forked(world, pen.id)
    twin = pen.fork()
    town.arrive(world, claim(pen, "Three"), claim(twin, "Four"))
    next_cut(town)

    assert len(world.log.by_kind(Kind.LOG_FORK)) == 2
    assert is_forked(world, pen.id)
