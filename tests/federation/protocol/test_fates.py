import functools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import Phase, packet_bytes, packet_from_bytes
from federation.certificates.packets import WantPacket
from federation.core import Code, PeerError
from federation.protocol import Judgement, World, effects, inputs, judge, rebuild, step
from federation.protocol.invariants import broken, disagreements
from federation.records import Kind, Role, parse_record, wire
from tests.builders import commit, named
from tests.federation.protocol.hostile import Stage, staged
from tests.federation.protocol.town import verify
from tests.federation.protocol.trial import (
    Trial,
    certificates_of,
    durable_of,
    observed,
    records_of,
)


def plain(judgement: Judgement) -> tuple[str, Code | None]:
    return judgement.fate.value, judgement.code


def everything(world: World) -> dict[bytes, Judgement]:
    return {record.id: judge(world, record) for record in records_of(world)}


def fate_of(world: World, name: bytes) -> tuple[str, Code | None]:
    record = world.log.get(name)
    assert record is not None
    return plain(judge(world, record))


@functools.cache
def library() -> World:
    """Give a world of everything that the stage left behind, to ask and to compare with."""
    town = staged().town
    durable = durable_of(town.stored[town.founding.instances[0]])
    return rebuild(
        town.founding.charter,
        town.founding.records,
        records_of(town.world()),
        durable.blobs,
        verify=verify,
    )


# The fates --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(staged().names))
def test_every_hostile_record_is_stored_and_comes_to_its_fate_everywhere(name: str) -> None:
    stage = staged()
    record = stage.names[name]
    for world in stage.town.live():
        assert record.id in world.log
        assert plain(judge(world, record)) == stage.expected[record.id]


def test_the_round_was_decided_by_the_three_honest_voters_alone() -> None:
    stage = staged()
    for world in stage.town.live():
        verdict = world.rounds[stage.round].verdict
        assert verdict is not None
        voters = {one.voter for one in verdict.ballots}
        assert voters == {stage.town.agent(index) for index in (1, 2, 5)}
        # The copier could not open what it copied, which is a strong vote against it.
        assert [one.voter for one in verdict.unrevealed] == [stage.town.agent(3)]


def test_nobody_was_blamed_for_relaying_what_does_not_count() -> None:
    assert staged().town.refused == []
    assert disagreements(staged().town.live()) == []
    assert [broken(world) for world in staged().town.live()] == [[], [], []]


# Arrival order ----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), batch=st.integers(1, 40))
def test_records_and_certificates_in_any_order_come_to_the_same_fates_and_digests(
    seed: int, batch: int
) -> None:
    stage = staged()
    items = records_of(stage.town.world()) + certificates_of(stage.town)
    random.Random(seed).shuffle(items)
    world = observed(stage.town.founding, items, stage.town.world(), seed=seed, most=batch)
    known = stage.town.world()

    assert (world.state.cut, world.state.digest) == (known.state.cut, known.state.digest)
    assert (world.digest, world.state.beacon) == (known.digest, known.state.beacon)
    assert world.log.author_heads() == known.log.author_heads()
    assert world.state.refused == known.state.refused
    assert everything(world) == everything(known)
    assert broken(world) == []


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_records_alone_bring_a_world_as_far_as_they_hold_certificates(seed: int) -> None:
    stage = staged()
    items = records_of(stage.town.world())
    expected = library()
    random.Random(seed).shuffle(items)
    world = observed(stage.town.founding, items, stage.town.world(), seed=seed)

    assert world.state.cut == expected.state.cut >= stage.town.world().state.cut - 1
    assert world.digest == expected.digest
    assert everything(world) == everything(expected)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), share=st.integers(10, 90))
def test_a_part_and_then_the_rest_is_the_same_as_all_at_once(seed: int, share: int) -> None:
    stage = staged()
    draw = random.Random(seed)
    items = records_of(stage.town.world()) + certificates_of(stage.town)
    part = [item for item in items if draw.randrange(100) < share]
    draw.shuffle(part)
    world = observed(stage.town.founding, [*part, *items], stage.town.world(), seed=seed)

    assert world.digest == stage.town.world().digest
    assert everything(world) == everything(stage.town.world())


# Refused ----------------------------------------------------------------------------------------


def refusals(town: Trial, raw: bytes) -> list[str]:
    """Let raw bytes come to an instance from another: parsed at the edge, then stepped."""
    record = parse_record(town.founding.realm, raw)
    peer = town.founding.instances[1]
    found = step(town.world(), inputs.Arrived(records=(record,), peer=peer), town.now)
    assert not any(isinstance(one, effects.StoreRecord) for one in found)
    return [one.code for one in found if isinstance(one, effects.Refused)]


def test_bytes_that_are_not_canonical_or_too_large_are_no_record_at_all() -> None:
    raw = wire(staged().proposal)
    for bad, code in (
        (raw + b"\x00", Code.NOT_CANONICAL),
        (raw[:-1], Code.NOT_CANONICAL),
        (b"\xdc\x00\x04" + raw[1:], Code.NOT_CANONICAL),
        (bytes(64 * 1024 + 1), Code.TOO_LARGE),
    ):
        with pytest.raises(PeerError) as caught:
            parse_record(staged().town.founding.realm, bad)
        assert caught.value.code == code


def test_a_changed_signature_is_refused_and_the_sender_named() -> None:
    town = Trial.of(2, 2)
    pen = town.pen(Role.AGENT, 1)
    honest = pen.say(commit(pen, named("round")))
    raw = bytearray(wire(honest))
    raw[-1] ^= 1

    assert refusals(town, bytes(raw)) == [Code.BAD_SIGNATURE]
    assert honest.id not in town.world().log


def test_a_record_of_another_realm_looks_like_a_bad_signature() -> None:
    town, other = Trial.of(2, 2), Trial.of(2, 2, seed="another realm")
    first = other.founding.records[0]

    assert refusals(town, wire(first)) == [Code.BAD_SIGNATURE]


def test_an_operator_that_votes_is_refused_for_its_role() -> None:
    town = Trial.of(2, 2)
    pen = town.pen(Role.OPERATOR, 0)

    assert refusals(town, wire(pen.say(commit(pen, named("round"))))) == [Code.WRONG_ROLE]


def test_packets_of_another_realm_or_charter_are_refused_with_their_own_codes() -> None:
    town = Trial.of(2, 2)
    one = town.world()
    live = next(iter(one.slots.values()))
    raw = packet_bytes(live.pinned, WantPacket(hashes=(named("part"),)))
    routed = packet_from_bytes(raw)
    assert routed.realm == one.realm
    foreign = raw.replace(one.realm, named("another realm"))
    changed = raw.replace(routed.charter_hash, named("another charter"))
    peer = town.founding.instances[1]

    for packet, code in ((foreign, Code.WRONG_REALM), (changed, Code.WRONG_CHARTER)):
        found = step(one, inputs.Packet(packet=packet, peer=peer), town.now)
        assert [e.code for e in found if isinstance(e, effects.Refused)] == [code]
    found = step(one, inputs.Packet(packet=raw, peer=peer), town.now)
    assert not any(isinstance(e, effects.Refused) for e in found)


def test_of_an_author_that_nobody_admitted_only_the_first_eight_records_are_stored() -> None:
    town = Trial.of(2, 3)
    stranger = town.stranger(Role.AGENT)
    for number in range(11):
        stranger.say(commit(stranger, named("round", number)))
    room = town.founding.charter.quotas.unadmitted_records
    order = list(stranger.records)
    random.Random(1).shuffle(order)
    for record in order:
        town.arrive(town.world(), record, peer=town.founding.instances[1])
    town.arrive(town.world(1), *stranger.records, peer=town.founding.instances[0])

    for world in town.live():
        assert [one.id in world.log for one in stranger.records] == [True] * room + [False] * 4


# Waits ------------------------------------------------------------------------------------------


def test_a_record_waits_for_the_one_before_it_and_follows_it_in() -> None:
    town = Trial.of(2, 2)
    one = town.world()
    pen = town.pen(Role.AGENT, 1)
    first, second = pen.say(commit(pen, named("a"))), pen.say(commit(pen, named("b")))
    peer = town.founding.instances[1]
    found = step(one, inputs.Arrived(records=(second,), peer=peer), 0)

    assert second.id not in one.log
    assert [e.records for e in found if isinstance(e, effects.FetchRecords)] == [(first.id,)]

    step(one, inputs.Arrived(records=(first,), peer=peer), 0)

    assert first.id in one.log
    assert second.id in one.log


def held_back(stage: Stage, name: str) -> World:
    """Give an observer that holds everything of the stage but one record."""
    town = stage.town
    lacking = stage.names[name].id
    known = [record for record in records_of(town.world()) if record.id != lacking]
    blobs = durable_of(town.stored[town.founding.instances[0]]).blobs
    return rebuild(town.founding.charter, town.founding.records, known, blobs, verify=verify)


def test_a_certificate_waits_for_the_records_that_it_lists_and_so_does_its_cut() -> None:
    stage = staged()
    # The reveal of agent 5 is the last of its chain that the list of `decide` names.
    world = held_back(stage, "reveal of 5")
    whole = library()
    held = {one.id: plain(judge(world, one)) for one in world.log.by_kind(Kind.CERTIFICATE)}
    moved = {name: fate for name, fate in held.items() if fate != fate_of(whole, name)}

    assert world.state.cut < whole.state.cut
    assert set(moved.values()) == {
        ("waits", Code.WAITS_FOR_CLOSURE),
        ("waits", Code.WAITS_FOR_CUT),
    }
    assert {fate_of(whole, name) for name in moved} == {("counts", None)}

    step(world, inputs.Arrived(records=(stage.names["reveal of 5"],), peer=None), 0)
    for record in records_of(whole):
        step(world, inputs.Arrived(records=(record,), peer=None), 0)

    assert world.digest == whole.digest
    assert everything(world) == everything(whole)


def test_a_cut_waits_for_the_blob_with_its_positions() -> None:
    stage = staged()
    town = stage.town
    records = records_of(town.world())
    blobs = durable_of(town.stored[town.founding.instances[0]]).blobs
    world = rebuild(town.founding.charter, town.founding.records, records, (), verify=verify)
    first = {
        record.id: plain(judge(world, record)) for record in world.log.by_kind(Kind.CERTIFICATE)
    }

    assert world.state.cut == 0
    assert ("waits", Code.WAITS_FOR_BLOB) in first.values()

    for blob in blobs * 10:
        step(world, inputs.BlobArrived(content=blob, peer=town.founding.instances[0]), 0)

    assert world.digest == library().digest
    assert everything(world) == everything(library())


def test_what_follows_a_certificate_that_is_not_held_waits_for_it() -> None:
    town = Trial.of(4, 5, operators=5)
    round_id = town.open_round(town.propose(0))
    town.take_down(1)
    town.in_phase(round_id, Phase.COMMIT)
    deliberated = town.world().rounds[round_id].finals[Phase.DELIBERATE].digest
    pen = town.pen(Role.AGENT, 2)
    record = pen.say(commit(pen, round_id, after=deliberated))

    assert plain(judge(town.world(0), record)) == ("waits", Code.WAITS_FOR_CLOSURE)
    assert plain(judge(town.world(1), record)) == ("waits", Code.WAITS_FOR_AFTER)


def test_a_certificate_of_a_slot_that_no_known_cut_opened_waits_for_the_cut() -> None:
    stage = staged()
    fresh = rebuild(
        stage.town.founding.charter,
        stage.town.founding.records,
        [r for r in records_of(stage.town.world()) if r.seq < 8],
        (),
        verify=verify,
    )
    waiting = {plain(judge(fresh, record)) for record in fresh.log.by_kind(Kind.CERTIFICATE)}

    assert ("waits", Code.WAITS_FOR_CUT) in waiting


def test_a_new_record_waits_for_the_cut_that_will_contain_it() -> None:
    town = Trial.of(1, 5, operators=1)
    record = town.propose(0)

    assert plain(judge(town.world(), record)) == ("waits", Code.WAITS_FOR_CUT)

    town.open_round(record)

    assert plain(judge(town.world(), record)) == ("counts", None)
