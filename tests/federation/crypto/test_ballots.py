"""A commitment binds voter, round, realm and ballot; its sealed copy opens for its key only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt

from federation.core import CallerError, Code
from federation.crypto import (
    SEALED_BYTES,
    Ballot,
    ballot_key,
    commitment,
    open_sealed,
    opens,
    seal,
)
from tests import strategies
from tests.builders import OTHER_REALM, REALM, ballot, named

ROUND = named("round")
VOTER = named("voter")
NONCE = named("nonce")
SALT = named("salt")[:24]
KEY = ballot_key(named("seed"), REALM, ROUND)


def committed(vote: Ballot, nonce: bytes = NONCE) -> bytes:
    return commitment(realm=REALM, round_id=ROUND, voter=VOTER, ballot=vote, nonce=nonce)


@given(strategies.ballots, strategies.digests)
def test_a_ballot_opens_its_commitment(vote: Ballot, nonce: bytes) -> None:
    assert opens(vote, nonce, committed(vote, nonce), realm=REALM, round_id=ROUND, voter=VOTER)


@given(strategies.ballots, strategies.ballots)
def test_two_ballots_never_share_a_commitment(one: Ballot, two: Ballot) -> None:
    assert (committed(one) == committed(two)) == (one == two)


@pytest.mark.parametrize(
    ("realm", "round_id", "voter", "nonce"),
    [
        (OTHER_REALM, ROUND, VOTER, NONCE),
        (REALM, named("another round"), VOTER, NONCE),
        (REALM, ROUND, named("another voter"), NONCE),
        (REALM, ROUND, VOTER, named("another nonce")),
    ],
)
def test_a_commitment_cannot_be_copied_or_moved(
    realm: bytes, round_id: bytes, voter: bytes, nonce: bytes
) -> None:
    assert not opens(
        ballot(), nonce, committed(ballot()), realm=realm, round_id=round_id, voter=voter
    )


@given(strategies.ballots, strategies.digests, strategies.binaries(24))
def test_a_sealed_ballot_opens_to_what_was_sealed_and_its_length_tells_nothing(
    vote: Ballot, nonce: bytes, salt: bytes
) -> None:
    sealed = seal(vote, nonce, key=KEY, salt=salt)

    assert len(sealed) == SEALED_BYTES == 552
    assert open_sealed(sealed, key=KEY) == (vote, nonce)


@given(st.data())
def test_a_damaged_sealed_ballot_does_not_open(data: st.DataObject) -> None:
    sealed = seal(ballot(), NONCE, key=KEY, salt=SALT)
    with pytest.raises(CallerError) as refused:
        open_sealed(data.draw(strategies.damaged(sealed)), key=KEY)

    assert refused.value.code is Code.COMMITMENT_MISMATCH


def test_another_key_does_not_open_a_sealed_ballot() -> None:
    other = ballot_key(named("seed"), REALM, named("another round"))
    with pytest.raises(CallerError) as refused:
        open_sealed(seal(ballot(), NONCE, key=KEY, salt=SALT), key=other)

    assert refused.value.why == "it was sealed under another key, or its bytes were changed"


def test_a_sealed_ballot_of_another_length_is_named() -> None:
    with pytest.raises(CallerError) as refused:
        open_sealed(b"short", key=KEY)

    assert refused.value.why == "it has 5 bytes, not 552"


def test_what_is_sealed_but_no_ballot_is_the_callers_fault_and_not_a_peers() -> None:
    junk = (3).to_bytes(2, "big") + b"\xa2no" + bytes(507)
    sealed = SALT + crypto_aead_xchacha20poly1305_ietf_encrypt(junk, None, SALT, KEY)
    with pytest.raises(CallerError) as refused:
        open_sealed(sealed, key=KEY)

    assert refused.value.why == "what it holds is not a ballot"
