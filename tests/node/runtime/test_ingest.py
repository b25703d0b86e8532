import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.codec import encode
from federation.core import Code, PeerError
from federation.crypto import KeySigner, is_signed_by
from federation.protocol import begin, inputs, step
from federation.records import (
    AgentSubscribe,
    OperatorAdmit,
    Record,
    Role,
    parse_record,
    sign_record,
    signing_payload,
    wire,
)
from federation.replication import Added, Known, Log, Waiting
from node.runtime.ingest import Ingest, Read
from tests.builders import REALM, Chain, named, person, propose
from tests.federation.protocol.town import Town


def subscribe(number: int = 0) -> AgentSubscribe:
    return AgentSubscribe(topics=(f"topic-{number}",), keywords=(), on=True)


def author(records: int, number: int = 1) -> Chain:
    """Write a chain: an inception and what follows it."""
    chain = Chain(person(Role.AGENT, number))
    for one in range(records - 1):
        chain.say(subscribe(one))
    return chain


def forged(record: Record) -> bytes:
    """Spell a record with a signature that is somebody else's."""
    signature = KeySigner(named("thief")).sign(signing_payload(record.id))
    return encode([record.statement_raw, record.body_raw, record.text_raw, signature])


def without_text(record: Record) -> bytes:
    return encode([record.statement_raw, record.body_raw, None, record.signature])


def holding(*records: Record) -> Log:
    log = Log(REALM)
    for record in records:
        assert isinstance(log.add(record), Added)
    return log


@contextmanager
def ingest_of(log: Log, *, remember: int = 1_000) -> Iterator[Ingest]:
    made = Ingest(log.realm, lambda: log, remember=remember)
    yield made
    made.close()


async def read(ingest: Ingest, *raws: bytes) -> Read:
    with trio.fail_after(10):
        return await ingest.read(raws)


def refusal(log: Log, raw: bytes) -> str:
    """Give the error of the log itself."""
    with pytest.raises(PeerError) as caught:
        log.add(parse_record(log.realm, raw))
    return str(caught.value)


@pytest.mark.trio
async def test_records_come_out_in_order_with_their_signatures_checked() -> None:
    chain = author(5)
    with ingest_of(Log(REALM)) as ingest:
        got = await read(ingest, *map(wire, chain.records))

        assert got == Read(records=tuple(chain.records), known=0, refused=())
        assert ingest.remembered == 5


@pytest.mark.trio
async def test_the_log_finds_each_signature_checked_and_uses_the_answer_up() -> None:
    chain = author(5)
    log = Log(REALM)
    with ingest_of(log) as ingest:
        checking = Log(REALM, verify=ingest.verify)
        for record in (await read(ingest, *map(wire, chain.records))).records:
            assert checking.add(record) == Added((record,))

        assert ingest.remembered == 0


@pytest.mark.trio
async def test_an_answer_is_given_for_exactly_what_was_asked() -> None:
    record = author(1).head
    key, payload = person(Role.AGENT).key, signing_payload(record.id)
    with ingest_of(Log(REALM)) as ingest:
        await read(ingest, wire(record))

        assert not ingest.verify(key, payload + b"!", record.signature)
        assert not ingest.verify(key, payload, bytes(64))
        assert not ingest.verify(bytes(32), payload, record.signature)
        assert ingest.remembered == 1
        assert ingest.verify(key, payload, record.signature)
        assert ingest.remembered == 0
        assert ingest.verify(key, payload, record.signature)


@pytest.mark.trio
async def test_a_wrong_signature_is_refused_with_the_words_of_the_log() -> None:
    chain = author(3)
    log = holding(*chain.records[:2])
    with ingest_of(log) as ingest:
        got = await read(ingest, forged(chain.head))

        assert got.records == ()
        assert [str(error) for error in got.refused] == [refusal(log, forged(chain.head))]
        assert got.refused[0].code is Code.BAD_SIGNATURE
        assert ingest.remembered == 0


@pytest.mark.trio
async def test_a_forged_copy_does_not_keep_the_true_one_out() -> None:
    chain = author(2)
    raws = [wire(chain.records[0]), forged(chain.head), wire(chain.head)]
    with ingest_of(Log(REALM)) as ingest:
        got = await read(ingest, *raws)

        assert got.records == tuple(chain.records)
        assert len(got.refused) == 1


@pytest.mark.trio
async def test_what_is_no_record_is_refused_and_the_others_pass() -> None:
    chain = author(2)
    with ingest_of(Log(REALM)) as ingest:
        got = await read(
            ingest, b"", wire(chain.records[0]), bytes(70_000), b"junk", wire(chain.head)
        )

        assert got.records == tuple(chain.records)
        assert [error.code for error in got.refused] == [
            Code.NOT_CANONICAL,
            Code.TOO_LARGE,
            Code.NOT_CANONICAL,
        ]


@pytest.mark.trio
async def test_known_records_are_dropped_before_anything_is_verified() -> None:
    chain = author(3)
    with ingest_of(holding(*chain.records)) as ingest:
        got = await read(ingest, *map(forged, chain.records), *map(wire, chain.records))

        assert got == Read(records=(), known=6, refused=())
        assert ingest.remembered == 0


@pytest.mark.trio
async def test_exact_copies_in_one_batch_pass_once() -> None:
    raw = wire(author(1).head)
    with ingest_of(Log(REALM)) as ingest:
        got = await read(ingest, raw, raw, raw)

        assert len(got.records) == 1
        assert got.known == 2


@pytest.mark.trio
async def test_junk_that_comes_twice_is_refused_twice() -> None:
    with ingest_of(Log(REALM)) as ingest:
        got = await read(ingest, b"junk", b"junk")

        assert got.known == 0
        assert len(got.refused) == 2


@pytest.mark.trio
async def test_a_copy_that_brings_a_missing_text_passes() -> None:
    chain = author(1)
    chain.say(*propose())
    log = holding(chain.records[0], parse_record(REALM, without_text(chain.head)))
    with ingest_of(log) as ingest:
        got = await read(ingest, wire(chain.head))

        assert got.records == (chain.head,)
        assert log.add(got.records[0]) == Known(text=True)
        assert (await read(ingest, wire(chain.head))).known == 1


@pytest.mark.trio
async def test_a_copy_with_a_text_that_is_not_its_own_is_known() -> None:
    chain = author(1)
    chain.say(*propose())
    head = chain.head
    log = holding(chain.records[0], parse_record(REALM, without_text(head)))
    wrong = encode([head.statement_raw, head.body_raw, b"another", head.signature])
    with ingest_of(log) as ingest:
        assert await read(ingest, wrong) == Read(records=(), known=1, refused=())


@pytest.mark.trio
async def test_a_copy_with_a_text_that_was_taken_down_is_known() -> None:
    chain = author(1)
    chain.say(*propose())
    log = holding(*chain.records)
    log.drop_text(chain.head.id)
    with ingest_of(log) as ingest:
        assert (await read(ingest, wire(chain.head))).known == 1


@pytest.mark.trio
async def test_a_record_far_ahead_of_its_chain_passes_unchecked() -> None:
    chain = author(3)
    log = holding(chain.records[0])
    with ingest_of(log) as ingest:
        got = await read(ingest, wire(chain.head), forged(chain.head))

        assert len(got.records) == 2
        assert ingest.remembered == 0
        assert isinstance(log.add(got.records[0]), Waiting)


@pytest.mark.trio
async def test_after_a_rotation_the_new_key_must_have_signed() -> None:
    chain = author(2)
    old = chain.signer
    chain.rotate()
    seq = len(chain.records)
    by_old = sign_record(
        subscribe(9),
        realm=REALM,
        signer=old,
        author=chain.id,
        key_index=1,
        seq=seq,
        prev=chain.head.id,
        at=0,
    )
    chain.say(subscribe(9))
    with ingest_of(holding(*chain.records[:2])) as ingest:
        got = await read(ingest, wire(chain.records[2]), wire(by_old), wire(chain.head))

        assert got.records == (chain.records[2], chain.head)
        assert [error.code for error in got.refused] == [Code.BAD_SIGNATURE]
        assert ingest.remembered == 2


@pytest.mark.trio
async def test_what_the_log_refuses_for_another_reason_is_left_to_it() -> None:
    agent, other = author(2), author(2, number=2)
    instance = Chain(person(Role.INSTANCE))
    wrong_role = agent.fork().say(OperatorAdmit(operator=other.id))
    early = sign_record(
        subscribe(),
        realm=REALM,
        signer=agent.signer,
        author=agent.id,
        key_index=0,
        seq=7,
        prev=agent.head.id,
        at=0,
    )
    not_its_own = sign_record(
        subscribe(),
        realm=REALM,
        signer=agent.signer,
        author=agent.id,
        key_index=0,
        seq=2,
        prev=other.head.id,
        at=0,
    )
    log = holding(*agent.records, *other.records, *instance.records)
    with ingest_of(log) as ingest:
        got = await read(ingest, wire(wrong_role), wire(early), wire(not_its_own))

        assert got.records == (wrong_role, early, not_its_own)
        assert ingest.remembered == 0
        for record, code in zip(
            got.records, (Code.WRONG_ROLE, Code.BAD_CHAIN, Code.BAD_CHAIN), strict=True
        ):
            with pytest.raises(PeerError) as caught:
                log.add(record)
            assert caught.value.code is code


@pytest.mark.trio
async def test_batches_that_are_read_at_the_same_time_follow_each_other() -> None:
    chain = author(552)
    raws = [wire(record) for record in chain.records]
    half = 276
    got: dict[int, Read] = {}
    with ingest_of(Log(REALM)) as ingest, trio.fail_after(20):

        async def one(start: int) -> None:
            got[start] = await ingest.read(raws[start : start + half])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(one, 0)
            # The first has begun when it waits for its thread.
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(one, half)

        assert got[0].records + got[half].records == tuple(chain.records)
        assert ingest.remembered == len(raws)


@pytest.mark.trio
async def test_what_is_remembered_is_bounded_and_the_rest_is_verified_later() -> None:
    chain = author(20)
    with ingest_of(Log(REALM), remember=8) as ingest:
        got = await read(ingest, *map(wire, chain.records))

        assert ingest.remembered == 8
        checking = Log(REALM, verify=ingest.verify)
        for record in got.records:
            checking.add(record)
        assert len(checking) == 20
        assert ingest.remembered == 0


@pytest.mark.trio
async def test_long_batches_are_checked_by_processes_that_end_with_it() -> None:
    chain = author(300)
    with ingest_of(Log(REALM)) as ingest:
        got = await read(ingest, *map(wire, chain.records[:-1]), forged(chain.head))

        assert len(got.records) == 299
        assert [error.code for error in got.refused] == [Code.BAD_SIGNATURE]
        pids = ingest.pids
        assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.trio
async def test_a_world_takes_in_what_was_read_without_verifying_again() -> None:
    town = Town.of(3, 4)
    founding = town.founding
    agent = Chain(person(Role.AGENT, 1, realm=founding.realm))
    for number in range(5):
        agent.say(subscribe(number))
    world = begin(founding.charter, founding.records)
    ingest = Ingest(founding.realm, lambda: world.log)
    world = begin(founding.charter, founding.records, verify=ingest.verify)
    got = await read(ingest, *map(wire, agent.records))
    effects = step(world, inputs.Arrived(records=got.records, peer=founding.instances[0]), 0)
    ingest.close()

    assert effects
    assert agent.head.id in world.log
    assert ingest.remembered == 0


RECORDS = [*author(6).records, *author(4, number=2).records]
TURNED = Chain(person(Role.AGENT, 3))
TURNED.rotate()
TURNED.say(subscribe())
RECORDS += TURNED.records
WIRES = [wire(record) for record in RECORDS] + [forged(record) for record in RECORDS] + [b"junk"]


@settings(max_examples=30)
@given(st.lists(st.lists(st.sampled_from(WIRES), max_size=12), max_size=5))
def test_the_log_ends_the_same_with_and_without(batches: list[list[bytes]]) -> None:
    plain, passed = Log(REALM), 0
    for raw in (raw for batch in batches for raw in batch):
        try:
            plain.add(parse_record(REALM, raw))
        except PeerError:
            continue

    async def through() -> Log:
        nonlocal passed
        ingest = Ingest(REALM, lambda: log)
        log = Log(REALM, verify=ingest.verify)
        for batch in batches:
            got = await ingest.read(batch)
            passed += len(got.records) + got.known + len(got.refused)
            for record in got.records:
                try:
                    log.add(record)
                except PeerError:
                    continue
        ingest.close()
        return log

    log = trio.run(through)

    assert log.author_heads() == plain.author_heads()
    assert passed == sum(map(len, batches))
    assert all(
        is_signed_by(entry.keys.key, signing_payload(record.id), record.signature)
        for record in RECORDS
        if (entry := log.entry(record.id))
    )


@pytest.mark.trio
async def test_who_gives_up_waiting_holds_up_nobody() -> None:
    chain = author(900)
    raws = [wire(record) for record in chain.records]
    with ingest_of(Log(REALM)) as ingest, trio.fail_after(20):
        async with trio.open_nursery() as nursery:
            for start in range(0, 600, 150):
                nursery.start_soon(ingest.read, raws[start : start + 150])
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        got = await ingest.read(raws)

        assert got.records == tuple(chain.records)
        assert ingest.remembered == 900


@pytest.mark.trio
@pytest.mark.parametrize("failing", [0, 1, 2])
async def test_a_thread_that_cannot_be_started_holds_up_nobody_else(
    failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = author(200)
    raws = [wire(record) for record in chain.records]
    run_sync, calls = trio.to_thread.run_sync, 0

    async def exhausted(*args: object, **rest: object) -> None:
        nonlocal calls
        calls += 1
        if calls == failing + 1:
            raise RuntimeError("can't start new thread")
        await run_sync(*args, **rest)  # type: ignore[arg-type] # passed on as it came

    monkeypatch.setattr(trio.to_thread, "run_sync", exhausted)
    with ingest_of(Log(REALM)) as ingest:
        with rescued(ingest, turns=8) as over:
            with pytest.raises(BaseExceptionGroup) as failed:
                await ingest.read(raws)
            got = await ingest.read(raws)
            over.set()

        assert failed.value.subgroup(RuntimeError) is not None
        assert got.records == tuple(chain.records)


@contextmanager
def rescued(ingest: Ingest, *, turns: int) -> Iterator[threading.Event]:
    """Fail instead of hanging: threads that wait for a lost turn can be cancelled by nobody."""
    over, lost = threading.Event(), threading.Event()

    def watch() -> None:
        if not over.wait(10):
            lost.set()
            for turn in range(turns):
                with ingest._next_turn:
                    ingest._turn = turn
                    ingest._next_turn.notify_all()
                over.wait(0.1)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield over
    finally:
        over.set()
        watching.join()
    assert not lost.is_set(), "a turn was lost"
