from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import (
    Body,
    Cosign,
    CutWitness,
    Header,
    ListWitness,
    Promise,
    Propose,
    Seal,
    Step,
    hear,
    message_for,
    message_hash,
    peek_slot,
    signing_payload,
)
from federation.certificates.messages import message_bytes
from federation.codec import encode
from federation.core import Code, PeerError
from federation.crypto import plain_hash
from tests.federation.certificates.hall import (
    CHARTER,
    REALM,
    ROUND,
    cut_slot,
    name,
    pinned,
    said,
    signer,
    slot,
    voice,
    witness,
)

HASHES = st.binary(min_size=32, max_size=32)
FENCES = st.integers(0, 2**63 - 1)
FEW = st.lists(HASHES, max_size=5).map(tuple)
BODIES: st.SearchStrategy[Body] = st.one_of(
    st.builds(
        ListWitness, ids=st.sets(HASHES, max_size=5).map(sorted).map(tuple), late=st.booleans()
    ),
    st.builds(
        Propose,
        fence=FENCES,
        digest=HASHES,
        witnesses=FEW,
        promises=FEW,
        lock=st.none() | HASHES,
    ),
    st.builds(Cosign, fence=FENCES, digest=HASHES),
    st.builds(Seal, fence=FENCES, digest=HASHES),
    st.builds(Promise, fence=FENCES, lock_fence=st.none(), lock_digest=st.none()),
    st.builds(Promise, fence=FENCES, lock_fence=FENCES, lock_digest=HASHES),
)


@given(body=BODIES, counter=st.integers(0, 2**53 - 1))
@settings(max_examples=100)
def test_what_is_said_is_heard(body: Body, counter: int) -> None:
    heard = said(pinned(4), 2, body, counter)

    assert heard.body == body
    assert heard.header.counter == counter
    assert heard.voice == voice(2)
    assert heard.hash == message_hash(heard.raw) == plain_hash(heard.raw)
    assert peek_slot(heard.raw) == (REALM, CHARTER, slot(), voice(2), counter)


@given(body=BODIES, at=st.integers(0, 10_000), bit=st.integers(0, 7))
@settings(max_examples=150)
def test_no_changed_bit_passes(body: Body, at: int, bit: int) -> None:
    heard = said(pinned(4), 1, body)
    changed = bytearray(heard.raw)
    changed[at % len(changed)] ^= 1 << bit

    with pytest.raises(PeerError):
        hear(bytes(changed), heard.signature, pinned(4))


def test_the_bytes_are_those_of_the_design() -> None:
    raw = message_for(pinned(4), voice(1), 7, Cosign(fence=2, digest=b"d" * 32))

    assert raw == encode([1, "cosign", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, 2, b"d" * 32])
    assert signing_payload(raw) == b"folkmoot/1/message" + plain_hash(raw)


def test_a_cut_has_witnesses_of_its_own_form() -> None:
    where = pinned(4, cut_slot())
    body = CutWitness(
        chains=b"h" * 32, tick=True, world=b"w" * 32, secret=b"s" * 32, next_hash=b"n" * 32
    )

    assert said(where, 1, body).body == body
    with pytest.raises(PeerError):
        said(where, 1, witness())
    with pytest.raises(PeerError):
        said(pinned(4), 1, body)


def refusal(raw: bytes, signature: bytes = bytes(64)) -> Code:
    with pytest.raises(PeerError) as refused:
        hear(raw, signature, pinned(4))
    return refused.value.code


def test_each_refusal_has_its_code() -> None:
    body = Seal(fence=0, digest=b"d" * 32)
    good = said(pinned(4), 1, body)
    header = good.header

    def code(changed: Header) -> Code:
        raw = message_bytes(changed, body)
        return refusal(raw, signer(1).sign(signing_payload(raw)))

    assert code(replace(header, realm=b"x" * 32)) is Code.WRONG_REALM
    assert code(replace(header, charter_hash=b"x" * 32)) is Code.WRONG_CHARTER
    assert code(replace(header, slot=cut_slot())) is Code.UNKNOWN_ROUND
    assert code(replace(header, voice=voice(9))) is Code.NOT_ELIGIBLE
    assert code(replace(header, voice=voice(2))) is Code.BAD_SIGNATURE
    assert refusal(good.raw, good.signature[:63]) is Code.BAD_SIGNATURE
    assert refusal(bytes(70_000)) is Code.TOO_LARGE


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x90",
        b"\x91" * 20_000,
        encode([1, "shout", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, 2, b"d" * 32]),
        encode([2, "seal", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, 2, b"d" * 32]),
        encode([1, "seal", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, 2, b"d" * 32, 0]),
        encode([1, "seal", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, -1, b"d" * 32]),
        encode([1, "seal", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, 2**63, b"d" * 32]),
        encode([1, "seal", REALM, CHARTER, [ROUND, "late"], voice(1), 7, 2, b"d" * 32]),
        encode([1, "promise", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, 2, 1, None]),
        encode([1, "promise", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, 2, None, b"d" * 32]),
        encode(
            [1, "witness", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, [b"b" * 32, b"a" * 32], 0]
        ),
        encode(
            [1, "witness", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, [b"a" * 32] * 2, False]
        ),
        encode(
            [
                *[1, "witness", REALM, CHARTER, [ROUND, "fast"], voice(1), 7],
                sorted(name(i) for i in range(1_025)),
                False,
            ]
        ),
        # 7 as a two-byte integer: the same message, but not its canonical bytes.
        encode([1, "seal", REALM, CHARTER, [ROUND, "fast"], voice(1), 7, 2, b"d" * 32]).replace(
            b"\x07\x02\xc4", b"\xcc\x07\x02\xc4"
        ),
    ],
)
def test_bytes_that_are_no_message_are_refused(raw: bytes) -> None:
    assert refusal(raw) is Code.NOT_CANONICAL


def test_every_step_has_its_name() -> None:
    assert [step.value for step in Step] == ["witness", "propose", "cosign", "seal", "promise"]
