from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import Cosign, Heard, ListValue, SlotState, Step, value_digest
from federation.certificates.proofs import lock_hash
from federation.certificates.state import NEAR, all_said, fence_of, pruned, said_by, with_said
from tests.federation.certificates.hall import (
    lock_of,
    pinned,
    promise,
    propose,
    said,
    slot,
    voice,
    witness,
)

WHERE = pinned(4)
D = b"d" * 32


def cosign(fence: int, digest: bytes = D) -> Heard:
    return said(WHERE, 1, Cosign(fence=fence, digest=digest))


@given(fences=st.lists(st.integers(0, 12) | st.just(2**31), max_size=20), fence=st.integers(0, 12))
@settings(max_examples=100)
def test_kept_messages_are_few_and_the_nearest_at_or_above_my_fence_stays(
    fences: list[int], fence: int
) -> None:
    kept: tuple[Heard, ...] = ()
    for at in fences:
        kept = with_said(kept, cosign(at), fence)
    above = [at for at in fences if at >= fence]

    assert len(kept) <= NEAR
    assert [fence_of(one) for one in kept] == sorted({fence_of(one) for one in kept})
    if above:
        assert min(above) in {fence_of(one) for one in kept}


def test_of_two_messages_at_one_fence_the_first_stays() -> None:
    kept = with_said(with_said((), cosign(3), 0), cosign(3, b"e" * 32), 0)

    assert kept == (cosign(3),)
    assert fence_of(said(WHERE, 1, witness())) == 0


def test_what_nothing_names_is_forgotten() -> None:
    value, other = ListValue(records=(b"a" * 32,)), ListValue(records=())
    kept, gone = value_digest(slot(), value), value_digest(slot(), other)
    lock, stale = lock_of(WHERE, 1, kept, (0, 1, 2)), lock_of(WHERE, 2, kept, (0, 1, 2))
    mine = lock_of(WHERE, 0, kept, (0, 1, 2))
    named = said(WHERE, 1, promise(5))
    unnamed = said(WHERE, 2, promise(5))
    proposal = said(WHERE, 3, propose(5, kept, promises=[named], lock=lock_hash(lock)))
    claim = said(WHERE, 0, promise(6, lock))
    state = SlotState(
        lock=mine,
        said={
            (Step.PROPOSE, voice(3)): (proposal,),
            (Step.PROMISE, voice(0)): (claim,),
            (Step.WITNESS, voice(0)): (said(WHERE, 0, witness()),),
            (Step.COSIGN, voice(1)): (cosign(9, kept),),
        },
        cited={named.hash: named, unnamed.hash: unnamed},
        values={kept: value, gone: other},
        locks={lock_hash(one): one for one in (lock, stale, mine)},
        blobs={b"b" * 32: b"blob"},
        sound={b"b" * 32: True},
        refused=frozenset({proposal.hash, gone}),
        spoiled=frozenset({kept, gone}),
    )

    after = pruned(state)

    assert after.cited == {named.hash: named}
    assert after.values == {kept: value}
    assert set(after.locks) == {lock_hash(lock), lock_hash(mine)}
    assert after.blobs == after.sound == {}
    assert after.refused == {proposal.hash}
    assert after.spoiled == {kept}
    assert pruned(after) == after


def test_messages_are_listed_by_leader_order() -> None:
    heard = [said(WHERE, who, promise(1)) for who in range(4)]
    state = SlotState(said={(Step.PROMISE, one.voice): (one,) for one in heard})

    assert [one.voice for one in all_said(state, WHERE, Step.PROMISE)] == [
        member.voice for member in WHERE.members
    ]
    assert said_by(state, Step.SEAL, voice(0)) == ()


def test_a_fresh_slot_waits_for_nothing() -> None:
    assert not SlotState().is_final
    assert not SlotState().waits_for_quorum
    assert SlotState(window_ended=3).waits_for_quorum
