from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as with_fields

from federation.core import Code, PeerError, PublicKey
from federation.core.ids import NOBODY
from federation.crypto import KeySigner, public_key
from federation.identity import (
    MOST_ROTATIONS,
    KeyState,
    advanced,
    incepted,
    signing_key,
    statement_key,
)
from federation.records import (
    KINDS,
    AgentDeclare,
    Body,
    Kind,
    Record,
    Revoke,
    RevokeBy,
    Role,
    Rotate,
    RotateBy,
    verify_record,
)
from tests.builders import (
    Chain,
    key_digest,
    named,
    person,
    propose,
    signed_statement,
)
from tests.smallest_bodies import smallest

DECLARE = AgentDeclare(family="f", provider="p", model="m")


def agent() -> Chain:
    return Chain(person(Role.AGENT))


def after(chain: Chain) -> KeyState:
    """Check every record of a chain the way the log does, and give the keys at its end."""
    state = incepted(chain.records[0])
    verify_record(chain.records[0], state.key)
    for record in chain.records[1:]:
        verify_record(record, signing_key(state, record))
        state = advanced(state, record)
    return state


def with_body(record: Record, **changes: object) -> Record:
    assert record.body is not None
    return with_fields(record, body=with_fields(record.body, **changes))


def refusal(work: Callable[[], object]) -> tuple[Code, str]:
    with pytest.raises(PeerError) as caught:
        work()
    return caught.value.code, caught.value.why


def test_an_inception_names_its_identity_role_and_first_keys() -> None:
    chain = agent()

    assert incepted(chain.head) == KeyState(
        identity=chain.id,
        role=Role.AGENT,
        name="agent 1",
        keys=(chain.key,),
        recoveries=(key_digest(chain.rescue),),
        next=key_digest(chain.upcoming),
    )


def test_only_an_inception_starts_a_chain() -> None:
    chain = agent()
    chain.say(DECLARE)

    assert refusal(lambda: incepted(chain.head))[0] is Code.BAD_CHAIN


def test_ordinary_records_are_signed_by_the_current_key_and_change_nothing() -> None:
    chain = agent()
    state = after(chain)
    record = chain.say(DECLARE)

    assert signing_key(state, record) == chain.key
    assert advanced(state, record) is state


def test_a_rotation_makes_the_committed_key_current_and_keeps_the_old_one() -> None:
    chain = agent()
    first = chain.key
    chain.rotate()
    state = after(chain)

    assert state.keys == (first, chain.key)
    assert (state.key_index, state.key) == (1, chain.key)
    assert state.next == key_digest(chain.upcoming)
    assert state.recovery == key_digest(chain.rescue)
    assert state.nullifies is None


def test_after_a_rotation_the_old_key_is_refused_and_the_new_one_accepted() -> None:
    chain = agent()
    stale = chain.fork()
    chain.rotate()
    state = after(chain)
    stale.records.append(chain.head)

    assert refusal(lambda: signing_key(state, stale.say(DECLARE)))[0] is Code.BAD_CHAIN
    assert signing_key(state, chain.say(DECLARE)) == chain.key


def test_a_rotation_must_reveal_a_committed_key() -> None:
    chain = agent()
    state = after(chain)
    chain.upcoming = named("a thief's own key")
    record = chain.rotate()

    assert refusal(lambda: signing_key(state, record)) == (
        Code.BAD_CHAIN,
        "its key is not a committed next key",
    )
    assert refusal(lambda: advanced(state, record))[0] is Code.BAD_CHAIN


@pytest.mark.parametrize("by", RotateBy)
def test_a_rotation_by_one_commitment_does_not_pass_as_the_other(by: RotateBy) -> None:
    chain = agent()
    state = after(chain)
    record = chain.rotate(by)
    other = RotateBy.NEXT if by is RotateBy.RECOVERY else RotateBy.RECOVERY

    assert refusal(lambda: signing_key(state, with_body(record, by=other)))[0] is Code.BAD_CHAIN


def test_a_rotation_carries_the_number_of_its_new_key() -> None:
    chain = agent()
    state = after(chain)
    chain.key_index = 1
    record = chain.rotate()

    assert refusal(lambda: signing_key(state, record)) == (
        Code.BAD_CHAIN,
        "its key_index is 2, the chain is at 1",
    )


def test_a_recovery_by_the_current_recovery_key_nullifies_nothing() -> None:
    chain = agent()
    chain.rotate()
    chain.recover()

    assert after(chain).nullifies is None
    assert after(chain).key_index == 2


def test_a_recovery_by_an_earlier_recovery_key_undoes_the_rotations_after_it() -> None:
    chain = agent()
    chain.rotate()
    owners = chain.rescue
    chain.rotate(reason="the thief's first")
    chain.rotate(reason="the thief's second")
    chain.rescue = owners
    chain.recover()

    assert after(chain).nullifies == 2
    assert after(chain).key_index == 4

    chain.rotate()
    assert after(chain).nullifies is None


def test_rotations_that_kept_the_recovery_key_are_the_owners_and_stay() -> None:
    chain = agent()
    kept = key_digest(chain.rescue)
    owners = chain.rescue
    chain.current, chain.key_index = chain.upcoming, 1
    chain.upcoming = chain.identity.seed(2)
    chain.say(
        Rotate(
            key=chain.key,
            next=key_digest(chain.upcoming),
            recovery=kept,
            by=RotateBy.NEXT,
            reason="",
        )
    )
    chain.rotate(reason="the thief's")
    chain.rescue = owners
    chain.recover()

    assert after(chain).recoveries.count(kept) == 2
    assert after(chain).nullifies == 2


def test_disowned_stretches_end_at_their_rotation_and_add_up() -> None:
    chain = agent()
    for _ in range(3):
        chain.say(DECLARE)
    chain.recover(disown_after=1)
    chain.say(DECLARE)
    chain.say(DECLARE)
    chain.recover(disown_after=5)
    state = after(chain)

    assert state.disowned == ((1, 4), (5, 7))
    assert [seq for seq in range(9) if state.is_disowned(seq)] == [2, 3, 6]
    assert after(agent()).disowned == ()


def test_a_rotation_cannot_disown_itself() -> None:
    chain = agent()
    state = after(chain)

    assert refusal(lambda: signing_key(state, chain.recover(disown_after=1))) == (
        Code.BAD_CHAIN,
        "it disowns records that are not before it",
    )


def test_an_identity_rotates_only_so_often() -> None:
    chain = agent()
    for _ in range(MOST_ROTATIONS):
        chain.rotate()
    state = after(chain)

    assert state.key_index == MOST_ROTATIONS
    more = chain.rotate()
    assert refusal(lambda: signing_key(state, more))[0] is Code.BAD_CHAIN
    assert statement_key(state, more.statement, chain.key) is None


def refused_after(chain: Chain, *records: Record) -> set[tuple[Code, str]]:
    """Collect why each record may not come next, in its body or as a bare statement."""
    state = after(chain)
    reasons = set()
    for record in records:
        reasons.add(refusal(lambda record=record: signing_key(state, record)))
        half = signed_statement(record)
        assert statement_key(state, record.statement, half.key) is None
    return reasons


def test_nothing_follows_a_revocation_by_the_recovery_key() -> None:
    chain = agent()
    chain.rotate()
    chain.revoke(RevokeBy.RECOVERY)
    state = after(chain)
    nexts = (
        chain.fork().say(DECLARE),
        chain.fork().rotate(),
        chain.fork().recover(),
        chain.fork().revoke(),
        chain.fork().revoke(RevokeBy.RECOVERY),
    )

    assert state.revoked
    assert (state.revoked_by, state.nullifies) == (RevokeBy.RECOVERY, None)
    assert refused_after(chain, *nexts) == {
        (Code.BAD_CHAIN, "its identity was revoked earlier in this chain")
    }


def test_a_revocation_by_the_current_key_can_be_undone_by_recovery_and_by_nothing_else() -> None:
    chain = agent()
    chain.rotate()
    chain.revoke(reason="the thief's")
    state = after(chain)
    nexts = (
        chain.fork().say(DECLARE),
        chain.fork().rotate(),
        chain.fork().revoke(),
        chain.fork().revoke(RevokeBy.RECOVERY),
    )

    assert state.revoked
    assert state.revoked_by is RevokeBy.CURRENT
    why = "its identity was revoked earlier in this chain"
    why += ", and only a rotation by the recovery key may follow"
    assert refused_after(chain, *nexts) == {(Code.BAD_CHAIN, why)}

    rescue = chain.fork().recover()
    half = signed_statement(rescue)
    assert signing_key(state, rescue) == half.key
    assert statement_key(state, rescue.statement, half.key) == half.key


def test_an_identity_that_was_restored_goes_on_under_new_keys() -> None:
    chain = agent()
    chain.say(DECLARE)
    chain.revoke(reason="the thief's")
    chain.recover(disown_after=1)
    chain.say(DECLARE)
    state = after(chain)

    assert not state.revoked
    assert (state.revoked_by, state.nullifies, state.key_index) == (None, None, 1)
    assert state.is_disowned(2)
    assert state.next == key_digest(chain.upcoming)

    chain.revoke(RevokeBy.RECOVERY, reason="retired")
    assert after(chain).revoked


def test_a_restoration_by_an_earlier_recovery_key_says_which_rotations_it_undoes() -> None:
    chain = agent()
    owners = chain.rescue
    chain.rotate(reason="the thief's")
    chain.revoke(reason="the thief's")
    chain.rescue = owners
    chain.recover()
    state = after(chain)

    assert not state.revoked
    assert state.nullifies == 1


def test_a_restoration_reveals_a_recovery_key_that_was_committed_to() -> None:
    chain = agent()
    chain.revoke(reason="the thief's")
    state = after(chain)
    guess = chain.fork()
    guess.rescue = named("a thief's own key")
    record = guess.recover()
    passed_off = with_body(chain.fork().rotate(), by=RotateBy.RECOVERY)

    for wrong in (record, passed_off):
        assert refusal(lambda wrong=wrong: signing_key(state, wrong)) == (
            Code.BAD_CHAIN,
            "its key is not a committed recovery key",
        )
        assert statement_key(state, wrong.statement, signed_statement(wrong).key) is None


def test_a_revocation_by_the_recovery_key_is_signed_by_it() -> None:
    chain = agent()
    recovery = public_key(chain.rescue)
    state = after(chain)

    assert signing_key(state, chain.fork().revoke(RevokeBy.RECOVERY)) == recovery
    assert signing_key(state, chain.fork().revoke()) == chain.key


def test_a_revocation_by_an_earlier_recovery_key_says_what_it_undoes() -> None:
    chain = agent()
    owners = chain.rescue
    chain.rotate(reason="the thief's")
    chain.rescue = owners
    chain.revoke(RevokeBy.RECOVERY)

    assert after(chain).nullifies == 1


def test_a_revocation_reveals_a_committed_key_exactly_if_the_recovery_key_signs() -> None:
    chain = agent()
    state = after(chain)
    stranger = public_key(named("stranger"))
    wrong = (
        Revoke(by=RevokeBy.CURRENT, key=chain.key, reason=""),
        Revoke(by=RevokeBy.RECOVERY, key=None, reason=""),
        Revoke(by=RevokeBy.RECOVERY, key=stranger, reason=""),
    )

    for body in wrong:
        record = chain.fork().say(body, signer=KeySigner(named("stranger")))
        assert refusal(lambda record=record: signing_key(state, record))[0] is Code.BAD_CHAIN


def test_an_inception_in_the_middle_of_a_chain_is_refused() -> None:
    chain = agent()
    state = after(chain)
    other = person(Role.AGENT, 2).inception
    posing = with_fields(chain.say(DECLARE).statement, kind=Kind.INCEPT.value)

    assert refusal(lambda: signing_key(state, other))[0] is Code.BAD_CHAIN
    assert statement_key(state, posing) is None


@given(
    role=st.sampled_from(Role),
    kind=st.sampled_from([one for one in Kind if one != "identity.incept"]),
)
def test_the_role_column_is_enforced_for_every_kind(role: Role, kind: Kind) -> None:
    chain = Chain(person(role))
    state = after(chain)
    body, text = smallest(kind)
    record = chain.rotate() if kind is Kind.ROTATE else chain.say(body, text)

    if role in KINDS[kind].authors:
        assert signing_key(state, record) == chain.key
    else:
        assert refusal(lambda: signing_key(state, record))[0] is Code.WRONG_ROLE
        assert statement_key(state, record.statement) is None


def test_a_kind_that_is_not_in_the_table_may_come_from_any_role() -> None:
    chain = Chain(person(Role.INSTANCE))
    state = after(chain)
    known = chain.say(*propose())
    statement = with_fields(known.statement, kind="artifact.unheard_of")
    unknown = with_fields(known, statement=statement, body=None)

    assert refusal(lambda: signing_key(state, known))[0] is Code.WRONG_ROLE
    assert signing_key(state, unknown) == chain.key
    assert statement_key(state, statement) == chain.key


def test_a_bare_statement_has_the_current_key_or_the_committed_one_that_it_reveals() -> None:
    chain = agent()
    chain.rotate()
    state = after(chain)
    upcoming, rescue = public_key(chain.upcoming), public_key(chain.rescue)
    first_rescue = public_key(chain.identity.recovery(0))
    said, revoked = chain.fork().say(DECLARE).statement, chain.fork().revoke().statement
    rotated = chain.fork().rotate().statement
    stranger = public_key(named("stranger"))

    assert statement_key(state, said) == chain.key
    assert statement_key(state, revoked) == chain.key
    for key in (rescue, first_rescue):
        assert statement_key(state, revoked, key) == key
    for key in (upcoming, rescue, first_rescue):
        assert statement_key(state, rotated, key) == key

    assert statement_key(state, rotated) is None
    assert statement_key(state, rotated, chain.key) is None
    assert statement_key(state, revoked, upcoming) is None
    for statement in (said, revoked, rotated):
        assert statement_key(state, statement, stranger) is None
    for key in (chain.key, upcoming, rescue):
        assert statement_key(state, said, key) is None


def test_a_bare_statement_stands_under_the_key_index_of_its_place() -> None:
    chain = agent()
    state = after(chain)
    upcoming = public_key(chain.upcoming)
    said, rotated = chain.fork().say(DECLARE).statement, chain.fork().rotate().statement

    assert statement_key(state, with_fields(said, key_index=1)) is None
    assert statement_key(state, with_fields(rotated, key_index=0), upcoming) is None
    assert statement_key(state, with_fields(rotated, key_index=2), upcoming) is None


EVENTS = st.lists(
    st.sampled_from(["say", "rotate", "recover", "late recovery", "restore"]),
    min_size=1,
    max_size=12,
)


@given(events=EVENTS)
def test_every_honest_chain_verifies_and_keeps_every_key(events: list[str]) -> None:
    chain = agent()
    keys: list[PublicKey] = [chain.key]
    first_recovery = chain.rescue
    bodies: list[Body | None] = []
    for event in events:
        match event:
            case "say":
                chain.say(DECLARE)
            case "rotate":
                chain.rotate()
            case "recover":
                chain.recover()
            case "restore":
                chain.revoke()
                chain.recover()
            case _:
                chain.rescue = first_recovery
                chain.recover()
        bodies.append(chain.head.body)
        if chain.key_index == len(keys):
            keys.append(chain.key)
    state = after(chain)

    assert state.keys == tuple(keys)
    assert len(state.recoveries) == len(keys) == 1 + sum(isinstance(b, Rotate) for b in bodies)
    assert state.identity == chain.id != NOBODY
    assert not state.revoked
