"""A seal binds realm, round, author and the whole argument; its copy opens for its key only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt

from federation.codec import LIMITS, as_set, encode
from federation.core import CallerError, Code
from federation.crypto import (
    Argument,
    SealedArgument,
    argument_commitment,
    argument_key,
    argument_of,
    argument_opens,
    open_argument,
    plain_hash,
    seal_argument,
)
from federation.records import Argue, Level, Note, Stance, bind_text
from federation.records.curation_bodies import SEALED_ARGUMENT_MOST
from tests import strategies
from tests.builders import OTHER_REALM, REALM, SALT, named

ROUND = named("round")
AUTHOR = named("author")
NONCE = named("nonce")
STREAM = named("salt")[:24]
KEY = argument_key(named("seed"), REALM, ROUND)

arguments = st.builds(
    Argument,
    stance=st.sampled_from([str(one) for one in Stance]),
    level=st.sampled_from([str(one) for one in Level]),
    claim=st.none() | st.integers(1, 16),
    evidence=strategies.sets(strategies.digests, 16),
    replies_to=st.none() | strategies.digests,
)


def written(words: str | None = "It rests on one source only.") -> SealedArgument:
    """Give an argument with a text, ready to be sealed."""
    if words is None:
        return SealedArgument(
            argument=Argument(stance="for", level="content"), text=None, nonce=NONCE
        )
    text, text_hash, text_len = bind_text(Note(note=words), SALT)
    argument = Argument(
        stance="against", level="content", claim=1, text_hash=text_hash, text_len=text_len
    )
    return SealedArgument(argument=argument, text=text, nonce=NONCE)


def committed(argument: Argument, nonce: bytes = NONCE) -> bytes:
    return argument_commitment(
        realm=REALM, round_id=ROUND, author=AUTHOR, argument=argument, nonce=nonce
    )


@given(arguments, strategies.digests)
def test_an_argument_opens_its_commitment(argument: Argument, nonce: bytes) -> None:
    assert argument_opens(
        argument,
        nonce,
        committed(argument, nonce),
        realm=REALM,
        round_id=ROUND,
        author=AUTHOR,
    )


@given(arguments, arguments)
def test_two_arguments_never_share_a_commitment(one: Argument, two: Argument) -> None:
    assert (committed(one) == committed(two)) == (one == two)


def test_the_record_that_opens_a_seal_commits_as_the_argument_did() -> None:
    content = written()
    body = Argue(
        round=ROUND,
        after=named("the phase before"),
        stance=Stance.AGAINST,
        level=Level.CONTENT,
        claim=1,
        nonce=NONCE,
        text_hash=content.argument.text_hash,
        text_len=content.argument.text_len,
    )

    assert argument_of(body) == content.argument
    assert argument_opens(
        body, NONCE, committed(content.argument), realm=REALM, round_id=ROUND, author=AUTHOR
    )


@pytest.mark.parametrize(
    ("realm", "round_id", "author", "nonce"),
    [
        (OTHER_REALM, ROUND, AUTHOR, NONCE),
        (REALM, named("another round"), AUTHOR, NONCE),
        (REALM, ROUND, named("another author"), NONCE),
        (REALM, ROUND, AUTHOR, named("another nonce")),
    ],
)
def test_a_seal_cannot_be_copied_or_moved(
    realm: bytes, round_id: bytes, author: bytes, nonce: bytes
) -> None:
    argument = written().argument

    assert not argument_opens(
        argument, nonce, committed(argument), realm=realm, round_id=round_id, author=author
    )


def test_evidence_in_another_order_is_no_second_spelling() -> None:
    evidence = as_set([named("one"), named("two")])
    with pytest.raises(ValueError, match="evidence"):
        Argument(stance="for", level="content", evidence=(evidence[1], evidence[0]))


@given(arguments, strategies.digests, strategies.binaries(24))
def test_a_sealed_argument_opens_to_what_was_sealed(
    argument: Argument, nonce: bytes, salt: bytes
) -> None:
    content = SealedArgument(argument=argument, text=None, nonce=nonce)

    assert open_argument(seal_argument(content, key=KEY, salt=salt), key=KEY) == content


def test_the_length_of_a_seal_tells_no_more_than_the_kibibytes_of_its_text() -> None:
    short, longer = (seal_argument(written("a" * n), key=KEY, salt=STREAM) for n in (1, 700))
    none = seal_argument(written(None), key=KEY, salt=STREAM)
    long = seal_argument(written("a" * 1_100), key=KEY, salt=STREAM)

    assert len(none) == len(short) == len(longer) == 24 + 1024 + 16
    assert len(long) == 24 + 2 * 1024 + 16


def test_the_largest_argument_fits_into_its_record() -> None:
    text = bytes(LIMITS.text)
    argument = Argument(
        stance="a" * 16,
        level="a" * 16,
        claim=16,
        evidence=as_set(named("evidence", n) for n in range(16)),
        replies_to=named("argument"),
        text_hash=plain_hash(text),
        text_len=len(text),
    )
    content = SealedArgument(argument=argument, text=text, nonce=NONCE)
    sealed = seal_argument(content, key=KEY, salt=STREAM)

    assert len(sealed) <= SEALED_ARGUMENT_MOST
    assert open_argument(sealed, key=KEY) == content


@pytest.mark.parametrize("text", [None, b"", b"another text"])
def test_a_text_that_its_argument_does_not_name_is_not_sealed(text: bytes | None) -> None:
    content = SealedArgument(argument=written().argument, text=text, nonce=NONCE)
    with pytest.raises(CallerError) as refused:
        seal_argument(content, key=KEY, salt=STREAM)

    assert refused.value.code is Code.COMMITMENT_MISMATCH
    assert refused.value.what == "argument not sealed"


@given(st.data())
def test_a_damaged_sealed_argument_does_not_open(data: st.DataObject) -> None:
    sealed = seal_argument(written(), key=KEY, salt=STREAM)
    with pytest.raises(CallerError) as refused:
        open_argument(data.draw(strategies.damaged(sealed)), key=KEY)

    assert refused.value.code is Code.COMMITMENT_MISMATCH


def test_another_key_does_not_open_a_sealed_argument() -> None:
    other = argument_key(named("seed"), REALM, named("another round"))
    with pytest.raises(CallerError) as refused:
        open_argument(seal_argument(written(), key=KEY, salt=STREAM), key=other)

    assert refused.value.why == "it was sealed under another key, or its bytes were changed"


def test_a_sealed_argument_that_is_too_short_is_named() -> None:
    with pytest.raises(CallerError) as refused:
        open_argument(b"short", key=KEY)

    assert refused.value.why == "it has 5 bytes, fewer than any sealed argument"


@pytest.mark.parametrize("plain", [b"\xa2no", encode([["for"], None, NONCE]), b""])
def test_what_is_sealed_but_no_argument_is_the_callers_fault_and_not_a_peers(plain: bytes) -> None:
    padded = len(plain).to_bytes(4, "big") + plain
    padded += bytes(-len(padded) % 1024)
    sealed = STREAM + crypto_aead_xchacha20poly1305_ietf_encrypt(padded, None, STREAM, KEY)
    with pytest.raises(CallerError) as refused:
        open_argument(sealed, key=KEY)

    assert refused.value.why == "what it holds is not an argument"
