from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as with_fields

from federation.core import CallerError, Code, IdentityId, PeerError, PublicKey
from federation.core.ids import NOBODY
from federation.crypto import public_key
from federation.identity import Fork, fork_proof, incepted, statement_key, verify_fork
from federation.records import (
    AgentDeclare,
    LogFork,
    Record,
    Revoke,
    RevokeBy,
    Role,
    Rotate,
    SignedStatement,
    Statement,
)
from tests.builders import OTHER_REALM, REALM, Chain, log_fork, named, person, signed_statement


def declare(model: str) -> AgentDeclare:
    return AgentDeclare(family="f", provider="p", model=model)


ALICE = Chain(person(Role.AGENT, 1))
BOB = Chain(person(Role.AGENT, 2))
A = ALICE.fork().say(declare("a"))
B = ALICE.fork().say(declare("b"))
LATER = ALICE.fork()
LATER.say(declare("a"))
LATER.say(declare("c"))
BOBS = BOB.fork().say(declare("a"))
_GUESS = ALICE.fork()
_GUESS.upcoming = named("a stranger's own key")
GUESSED = _GUESS.rotate()
"""A rotation of Alice's chain by somebody who knows none of her keys."""


def key_of(
    author: IdentityId, statement: Statement, revealed: PublicKey | None
) -> PublicKey | None:
    """Both authors' keys stand where their inceptions left them."""
    for chain in (ALICE, BOB):
        if chain.id == author:
            return statement_key(incepted(chain.head), statement, revealed)
    return None


def fault(body: LogFork, code: Code) -> str:
    with pytest.raises(PeerError) as caught:
        verify_fork(REALM, body, key_of=key_of)
    assert caught.value.code is code
    return caught.value.why


def test_two_records_at_one_place_prove_a_fork() -> None:
    low, high = sorted((A.id, B.id))

    assert verify_fork(REALM, fork_proof(A, B), key_of=key_of) == Fork(ALICE.id, 1, low, high)


def test_a_proof_has_one_spelling_whoever_makes_it() -> None:
    assert fork_proof(A, B) == fork_proof(B, A)
    assert verify_fork(REALM, log_fork(A, B), key_of=key_of) == verify_fork(
        REALM, log_fork(B, A), key_of=key_of
    )


def test_siblings_with_equal_bodies_are_still_two_records() -> None:
    twin = ALICE.fork().say(declare("a"), at=1)

    assert verify_fork(REALM, fork_proof(A, twin), key_of=key_of).seq == 1


@pytest.mark.parametrize("other", [A, LATER.head, BOBS], ids=["same", "other seq", "other author"])
def test_no_proof_is_made_of_records_that_are_no_fork(other: Record) -> None:
    with pytest.raises(CallerError) as caught:
        fork_proof(A, other)

    assert caught.value.code is Code.NOT_PROVEN


def test_the_same_record_twice_proves_nothing() -> None:
    assert fault(log_fork(A, A), Code.NOT_PROVEN) == "it names one record twice"


def test_the_same_statement_under_two_signatures_proves_nothing() -> None:
    resigned = with_fields(A, signature=BOBS.signature)

    assert fault(log_fork(A, resigned), Code.NOT_PROVEN) == "it names one record twice"


def test_records_at_different_places_prove_nothing() -> None:
    assert fault(log_fork(B, LATER.head), Code.NOT_PROVEN) == "its statements stand at seq 1 and 2"


@pytest.mark.parametrize(
    "body",
    [
        log_fork(A, BOBS),
        log_fork(BOBS, A),
        with_fields(log_fork(A, B), author=BOB.id),
    ],
    ids=["second", "first", "named"],
)
def test_records_of_different_authors_prove_nothing(body: LogFork) -> None:
    assert fault(body, Code.NOT_PROVEN) == "its statements are not both by the named author"


def test_two_inceptions_are_two_identities_and_never_a_fork() -> None:
    # Both statements say "author: nobody, seq 0": taken literally, everybody forked once.
    body = with_fields(log_fork(ALICE.head, BOB.head), author=NOBODY)

    assert fault(body, Code.NOT_PROVEN) == "its statements are not both by the named author"


@pytest.mark.parametrize("swap", [False, True])
def test_a_forged_signature_proves_nothing(*, swap: bool) -> None:
    forged = with_fields(B, signature=BOBS.signature)
    body = log_fork(forged, A) if swap else log_fork(A, forged)

    assert fault(body, Code.BAD_SIGNATURE) == "a signature does not verify in this realm"


def test_a_fork_in_another_realm_proves_nothing_in_this_one() -> None:
    elsewhere = Chain(person(Role.AGENT, 1, realm=OTHER_REALM))
    a, b = elsewhere.fork().say(declare("a")), elsewhere.fork().say(declare("b"))
    proof = fork_proof(a, b)

    def knows_the_key(_author: IdentityId, _said: Statement, _key: PublicKey | None) -> PublicKey:
        return elsewhere.key

    assert verify_fork(OTHER_REALM, proof, key_of=knows_the_key).seq == 1
    with pytest.raises(PeerError) as caught:
        verify_fork(REALM, proof, key_of=knows_the_key)
    assert caught.value.code is Code.BAD_SIGNATURE


def test_without_the_key_nothing_is_proven() -> None:
    with pytest.raises(PeerError) as caught:
        verify_fork(REALM, fork_proof(A, B), key_of=lambda _author, _statement, _key: None)

    assert caught.value.code is Code.NOT_PROVEN


def test_bytes_that_are_no_statement_are_refused() -> None:
    garbage = SignedStatement(b"\xc0", A.signature)

    assert fault(with_fields(log_fork(A, B), b=garbage), Code.NOT_CANONICAL)


@given(flip=st.integers(0, 8 * 64 - 1), which=st.sampled_from(["a", "b"]))
def test_no_bit_of_a_signature_can_be_changed(flip: int, which: str) -> None:
    proof = fork_proof(A, B)
    half: SignedStatement = getattr(proof, which)
    changed = bytearray(half.signature)
    changed[flip // 8] ^= 1 << flip % 8

    fault(
        with_fields(proof, **{which: with_fields(half, signature=bytes(changed))}),
        Code.BAD_SIGNATURE,
    )


# A half that is a key event is signed with a key of which the chain holds only the hash.

KEY_EVENTS = [
    ALICE.fork().rotate(),
    ALICE.fork().recover(),
    ALICE.fork().revoke(RevokeBy.RECOVERY),
]


@pytest.mark.parametrize("event", KEY_EVENTS, ids=["rotation", "recovery", "revocation"])
def test_a_fork_at_a_key_event_is_proven_with_the_key_that_it_reveals(event: Record) -> None:
    assert isinstance(event.body, Rotate | Revoke)
    for other in (A, *KEY_EVENTS):
        if other is not event:
            proof = fork_proof(event, other)
            halves = {half.statement: half.key for half in (proof.a, proof.b)}

            assert halves[event.statement_raw] == event.body.key is not None
            assert {one.id for one in (event, other)} == set(
                verify_fork(REALM, proof, key_of=key_of)[2:]
            )


def test_halves_under_the_current_key_reveal_none() -> None:
    proof = fork_proof(A, ALICE.fork().revoke())

    assert (proof.a.key, proof.b.key) == (None, None)
    assert verify_fork(REALM, proof, key_of=key_of).seq == 1


def revealing(event: Record, key: PublicKey | None) -> LogFork:
    """Accuse with a half that reveals another key than its body does."""
    half = with_fields(signed_statement(event), key=key)
    return LogFork(author=event.author, a=signed_statement(A), b=half)


UNNAMED = "the author's chain does not name the key of a statement"


@pytest.mark.parametrize("event", KEY_EVENTS[:2], ids=["rotation", "recovery"])
def test_a_rotation_without_its_key_or_with_another_proves_nothing(event: Record) -> None:
    assert fault(revealing(event, None), Code.NOT_PROVEN) == UNNAMED
    assert fault(revealing(event, BOB.key), Code.NOT_PROVEN) == UNNAMED
    assert fault(revealing(event, ALICE.key), Code.NOT_PROVEN) == UNNAMED


def test_a_committed_key_that_did_not_sign_proves_nothing() -> None:
    rescue, upcoming = public_key(ALICE.rescue), public_key(ALICE.upcoming)
    rotation, recovery, revocation = KEY_EVENTS

    for event, key in ((rotation, rescue), (recovery, upcoming), (revocation, None)):
        assert fault(revealing(event, key), Code.BAD_SIGNATURE) == (
            "a signature does not verify in this realm"
        )


def test_a_key_where_none_is_revealed_proves_nothing() -> None:
    for key in (ALICE.key, public_key(ALICE.upcoming), public_key(ALICE.rescue), BOB.key):
        assert fault(revealing(B, key), Code.NOT_PROVEN) == UNNAMED
    by_current = ALICE.fork().revoke()
    assert fault(revealing(by_current, ALICE.key), Code.NOT_PROVEN) == UNNAMED
    assert fault(revealing(by_current, public_key(ALICE.rescue)), Code.BAD_SIGNATURE)


def test_a_rotation_to_a_key_that_nobody_committed_to_proves_nothing() -> None:
    # Else anyone could "fork" anyone: it takes no secret to sign with a key of one's own.
    assert fault(log_fork(A, GUESSED), Code.NOT_PROVEN) == UNNAMED


def test_every_fault_has_a_reason_of_its_own() -> None:
    faults: list[Callable[[], str]] = [
        lambda: fault(log_fork(A, A), Code.NOT_PROVEN),
        lambda: fault(log_fork(B, LATER.head), Code.NOT_PROVEN),
        lambda: fault(log_fork(A, BOBS), Code.NOT_PROVEN),
        lambda: fault(log_fork(A, with_fields(B, signature=A.signature)), Code.BAD_SIGNATURE),
        lambda: fault(log_fork(A, GUESSED), Code.NOT_PROVEN),
    ]

    assert len({one() for one in faults}) == len(faults)
