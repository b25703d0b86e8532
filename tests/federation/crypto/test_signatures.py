"""Ed25519 as libsodium judges it; odd signatures stand in tests/vectors/signatures.json."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey

from federation.core import CallerError, Code
from federation.crypto import (
    Argument,
    BallotSigner,
    KeySigner,
    SealedArgument,
    Signer,
    argument_key,
    ballot_key,
    is_signed_by,
    open_argument,
    open_sealed,
    public_key,
    sign,
)
from federation.crypto.signatures import keyed_hash
from tests import strategies
from tests.builders import OTHER_REALM, REALM, ballot, named

SEED = named("seed")
ROUND = named("round")


@given(strategies.digests, st.binary(max_size=100))
def test_a_signature_verifies_under_its_key_and_is_what_another_interface_gives(
    seed: bytes, payload: bytes
) -> None:
    signature = sign(seed, payload)

    assert is_signed_by(public_key(seed), payload, signature)
    assert signature == SigningKey(seed).sign(payload).signature
    assert signature == KeySigner(seed).sign(payload)
    assert KeySigner(seed).public == public_key(seed)


@given(st.data())
def test_any_change_to_payload_or_signature_is_noticed(data: st.DataObject) -> None:
    payload = b"an honest payload"
    signature = sign(SEED, payload)

    assert not is_signed_by(public_key(SEED), data.draw(strategies.damaged(payload)), signature)
    assert not is_signed_by(public_key(SEED), payload, data.draw(strategies.damaged(signature)))


@pytest.mark.parametrize(("key", "signature"), [(31, 64), (33, 64), (32, 63), (32, 65), (0, 0)])
def test_a_key_or_signature_of_another_length_signs_nothing(key: int, signature: int) -> None:
    assert not is_signed_by(bytes(key), b"payload", bytes(signature))


def test_a_signer_keeps_its_seed_to_itself() -> None:
    signer: Signer = KeySigner(SEED)

    assert SEED.hex() not in repr(signer)
    assert not hasattr(signer, "__dict__")


def test_secrets_of_cuts_differ_by_realm_cut_and_key() -> None:
    signer = KeySigner(SEED)
    secrets = [
        signer.secret(REALM, 1),
        signer.secret(REALM, 2),
        signer.secret(OTHER_REALM, 1),
        KeySigner(named("another seed")).secret(REALM, 1),
        ballot_key(SEED, REALM, bytes(24) + (1).to_bytes(8, "big")),
    ]

    assert len(set(secrets)) == len(secrets)
    assert signer.secret(REALM, 1) == secrets[0]
    assert signer.secret(REALM, 1) == keyed_hash(
        SEED, b"folkmoot/1/beacon" + REALM + bytes(7) + b"\x01"
    )


def test_ballot_keys_differ_by_realm_round_and_key() -> None:
    keys = {
        ballot_key(SEED, REALM, ROUND),
        ballot_key(SEED, REALM, named("another round")),
        ballot_key(SEED, OTHER_REALM, ROUND),
        ballot_key(named("another seed"), REALM, ROUND),
    }

    assert len(keys) == 4


def test_a_ballot_opens_with_the_key_realm_and_round_that_sealed_it_and_no_other() -> None:
    signer: BallotSigner = KeySigner(SEED)
    vote, nonce, salt = ballot(), named("nonce"), named("salt")[:24]
    sealed = signer.seal(REALM, ROUND, vote, nonce=nonce, salt=salt)

    assert signer.open(REALM, ROUND, sealed) == (vote, nonce)
    assert open_sealed(sealed, key=ballot_key(SEED, REALM, ROUND)) == (vote, nonce)

    others: list[tuple[BallotSigner, bytes, bytes]] = [
        (KeySigner(named("another seed")), REALM, ROUND),
        (signer, OTHER_REALM, ROUND),
        (signer, REALM, named("another round")),
    ]
    for other, realm, round_id in others:
        with pytest.raises(CallerError) as refused:
            other.open(realm, round_id, sealed)

        assert refused.value.code is Code.COMMITMENT_MISMATCH


def test_a_signer_opens_only_the_arguments_that_it_sealed_itself_in_that_round() -> None:
    signer: BallotSigner = KeySigner(SEED)
    content = SealedArgument(
        argument=Argument(stance="for", level="content"), text=None, nonce=named("nonce")
    )
    sealed = signer.seal_argument(REALM, ROUND, content, salt=named("salt")[:24])

    assert signer.open_argument(REALM, ROUND, sealed) == content
    assert open_argument(sealed, key=argument_key(SEED, REALM, ROUND)) == content
    others: list[tuple[BallotSigner, bytes, bytes]] = [
        (KeySigner(named("another seed")), REALM, ROUND),
        (signer, OTHER_REALM, ROUND),
        (signer, REALM, named("another round")),
    ]
    for other, realm, round_id in others:
        with pytest.raises(CallerError) as refused:
            other.open_argument(realm, round_id, sealed)

        assert refused.value.code is Code.COMMITMENT_MISMATCH


def test_no_key_seals_both_ballots_and_arguments() -> None:
    assert argument_key(SEED, REALM, ROUND) != ballot_key(SEED, REALM, ROUND)


def test_a_signer_offers_to_sign_seal_open_and_tell_secrets_and_nothing_else() -> None:
    offered = {name for name in dir(KeySigner) if not name.startswith("_")}

    assert offered == {
        "public",
        "sign",
        "secret",
        "seal",
        "open",
        "seal_argument",
        "open_argument",
    }
