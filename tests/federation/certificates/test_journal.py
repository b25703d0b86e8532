import pytest

from federation.certificates import (
    Certificate,
    CertificateEntry,
    Cosign,
    JournalEntry,
    ListValue,
    LockEntry,
    Part,
    PartKind,
    Promise,
    Propose,
    Seal,
    SignedEntry,
    Step,
    blob_hash,
    entry_bytes,
    entry_from_bytes,
    restore,
    value_digest,
)
from federation.certificates.messages import Body, CutWitness
from federation.certificates.proofs import endorsements, lock_hash
from federation.certificates.state import SlotState, Vote
from federation.core import Code, PeerError
from tests.federation.certificates.hall import (
    ListDesk,
    Seat,
    bodies,
    cut_slot,
    lock_of,
    lock_part_of,
    name,
    pinned,
    promise,
    propose,
    said,
    seals_of,
    slot,
    value_part_of,
    voice,
    witness,
)

WHERE = pinned(4)
A = name("a")
VALUE = ListValue(records=(A,))
DIGEST = value_digest(slot(), VALUE)
LOCK = lock_of(WHERE, 0, DIGEST, (0, 1, 2))


def entry(body: Body, counter: int, *parts: Part) -> SignedEntry:
    heard = said(WHERE, 1, body, counter)
    return SignedEntry(slot=slot(), raw=heard.raw, signature=heard.signature, parts=parts)


def back(*entries: JournalEntry) -> SlotState:
    return restore(WHERE, voice(1), entries)


def certificate() -> Certificate:
    seals = tuple(seals_of(WHERE, 0, DIGEST, (0, 1, 2)))
    return Certificate(slot=slot(), value=VALUE, fence=0, seals=endorsements(seals, 3))


@pytest.mark.parametrize(
    "one",
    [
        entry(witness(A), 1, Part(kind=PartKind.BLOB, content=b"b" * 70_000)),
        LockEntry(slot=slot(), lock=LOCK, value=VALUE),
        CertificateEntry(slot=slot(), certificate=certificate()),
    ],
)
def test_an_entry_survives_its_bytes(one: JournalEntry) -> None:
    assert entry_from_bytes(entry_bytes(one)) == one


def test_damaged_entries_are_refused() -> None:
    with pytest.raises(PeerError) as refusal:
        entry_from_bytes(b"\x91\xa4lock")
    assert refusal.value.code is Code.NOT_CANONICAL

    good = entry(witness(A), 1)
    with pytest.raises(PeerError):
        back(SignedEntry(slot=slot(), raw=good.raw, signature=bytes(64)))


def test_everything_i_signed_comes_back() -> None:
    state = back(
        entry(witness(A), 1),
        entry(propose(0, DIGEST), 2),
        entry(Cosign(fence=0, digest=DIGEST), 3),
        LockEntry(slot=slot(), lock=LOCK, value=VALUE),
        entry(Seal(fence=0, digest=DIGEST), 4),
        entry(promise(2, LOCK), 5, lock_part_of(LOCK), value_part_of(WHERE, VALUE)),
    )

    assert state.witnessed
    assert state.proposed == 0
    assert state.cosigned == state.sealed == Vote(fence=0, digest=DIGEST)
    assert state.lock == LOCK
    assert state.fence == 2
    assert state.counter == 5
    assert state.values == {DIGEST: VALUE}
    assert state.locks == {lock_hash(LOCK): LOCK}
    assert {step for step, _ in state.said} == set(Step)


def test_a_final_slot_stays_final() -> None:
    state = back(entry(witness(A), 1), CertificateEntry(slot=slot(), certificate=certificate()))

    assert state.certificate == certificate()


def test_the_chains_of_a_cut_witness_come_back() -> None:
    where = pinned(4, cut_slot())
    blob = Part(kind=PartKind.BLOB, content=b"\x90")
    body = CutWitness(chains=blob_hash(b"\x90"), tick=True, world=A, secret=A, next_hash=A)
    heard = said(where, 1, body)
    one = SignedEntry(slot=where.slot, raw=heard.raw, signature=heard.signature, parts=(blob,))

    state = restore(where, voice(1), [one])

    assert state.blobs == {blob_hash(b"\x90"): b"\x90"}


def test_a_crash_between_keeping_the_lock_and_sealing_ends_in_the_same_seal() -> None:
    me = Seat(WHERE, 1, ListDesk(WHERE, held={A}))
    me.state = back(LockEntry(slot=slot(), lock=LOCK, value=VALUE))
    me.counter = 10

    assert bodies(me.wakes_at(0)) == [Seal(fence=0, digest=DIGEST)]


def test_no_second_word_is_said_at_a_fence_after_a_restart() -> None:
    other = value_digest(slot(), ListValue(records=()))
    me = Seat(WHERE, 0, ListDesk(WHERE, held={A}))
    mine = [said(WHERE, 0, witness(), 1), said(WHERE, 0, Cosign(fence=0, digest=other), 2)]
    me.state = restore(
        WHERE,
        voice(0),
        [SignedEntry(slot=slot(), raw=one.raw, signature=one.signature) for one in mine],
    )
    me.counter = 2
    me.ends_window()
    me.hears(*[said(WHERE, who, witness(A)) for who in (1, 2, 3)])

    assert [type(one.body) for one in me.signed] == [Propose]
    assert bodies(me.wakes_at(10**6)) == [Promise(fence=1, lock_fence=None, lock_digest=None)]
