from collections.abc import Iterable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as with_fields

from federation.core import Code, PeerError, PublicKey, Signature
from federation.crypto import is_signed_by
from federation.identity import Fork, fork_proof, verify_fork
from federation.records import Kind, Record, Role, parse_record, wire
from federation.replication import Added, Known, Log, Waiting
from tests.builders import (
    OTHER_REALM,
    REALM,
    Chain,
    named,
    person,
    propose,
)
from tests.federation.replication.trees import ROUND, Grove, Step, ancestors, declare, steps


def agent(number: int = 1) -> Chain:
    return Chain(person(Role.AGENT, number))


def filled(records: Iterable[Record]) -> Log:
    log = Log(REALM)
    for record in records:
        log.add(record)
    return log


def refusal(log: Log, record: Record) -> Code:
    before = len(log)
    with pytest.raises(PeerError) as caught:
        log.add(record)
    assert len(log) == before
    assert record.id not in log
    return caught.value.code


def forged(record: Record) -> Record:
    return with_fields(record, signature=record.signature[:-1] + bytes([record.signature[-1] ^ 1]))


def contents(log: Log) -> object:
    """Everything that must not depend on arrival order."""
    ids = [one for author in log.authors() for group in log.above(author, -1) for one in group]
    return (
        len(log),
        [(one, log.get(one), log.entry(one)) for one in ids],
        log.author_heads(),
        log.forks(),
        log.by_round(ROUND),
        [log.by_kind(kind) for kind in Kind],
    )


# Adding


def test_a_chain_that_arrives_in_order_is_stored_record_by_record() -> None:
    log = Log(REALM)
    alice = agent()
    alice.say(declare("a"))
    alice.rotate()
    alice.say(*propose())

    for record in alice.records:
        assert log.add(record) == Added((record,))
    assert len(log) == 4
    assert log.get(alice.head.id) == alice.head
    entry = log.entry(alice.head.id)
    assert entry is not None
    assert (entry.keys.key, entry.keys.key_index) == (alice.key, 1)


def test_a_record_waits_until_all_before_it_are_there() -> None:
    log = Log(REALM)
    alice = agent()
    for model in "abc":
        alice.say(declare(model))
    first, second, third, fourth = alice.records

    assert log.add(fourth) == Waiting(Code.WAITS_FOR_PREV, third.id)
    assert log.add(second) == Waiting(Code.WAITS_FOR_PREV, first.id)
    assert log.add(third) == Waiting(Code.WAITS_FOR_PREV, first.id)
    assert (len(log), log.waiting) == (0, 3)
    assert log.add(first) == Added((first, second, third, fourth))
    assert (len(log), log.waiting) == (4, 0)


def test_a_known_record_costs_no_signature_check() -> None:
    checks = []

    def counting(key: PublicKey, payload: bytes, signature: Signature) -> bool:
        checks.append(payload)
        return is_signed_by(key, payload, signature)

    log = Log(REALM, verify=counting)
    alice = agent()
    alice.say(declare("a"))
    orphan = alice.fork().say(declare("b"))
    log.add(alice.records[0])
    log.add(alice.records[1])

    assert len(checks) == 2
    assert log.add(alice.records[1]) == Known()
    assert log.add(forged(alice.records[1])) == Known()
    assert isinstance(log.add(orphan), Added)
    assert len(checks) == 3


def test_a_wrong_place_is_found_before_the_signature_is_checked() -> None:
    def never(_key: PublicKey, _payload: bytes, _signature: Signature) -> bool:
        raise AssertionError

    alice = agent()
    log = filled(alice.records)
    log._verify = never
    alice.key_index = 7

    assert refusal(log, alice.say(declare("a"))) is Code.BAD_CHAIN


def test_an_unknown_id_of_any_kind_is_absent() -> None:
    log = Log(REALM)
    nobody = named("nobody")

    assert log.get(nobody) is None
    assert log.entry(nobody) is None
    assert nobody not in log
    assert log.heads_of(nobody) == ()
    assert log.ids_at(nobody, 0) == ()
    assert log.above(nobody, 0) == ()
    assert log.count_of(nobody) == 0
    assert not log.is_forked(nobody)
    assert not log.is_ancestor(nobody, nobody)
    assert log.by_round(nobody) == {}
    assert log.by_kind("identity.incept") == []


@pytest.mark.parametrize("inception", [True, False])
def test_a_forged_signature_is_refused_and_does_not_bar_the_true_record(*, inception: bool) -> None:
    alice = agent()
    alice.say(declare("a"))
    true = alice.records[0 if inception else 1]
    log = filled(() if inception else alice.records[:1])

    assert refusal(log, forged(true)) is Code.BAD_SIGNATURE
    assert log.add(true) == Added((true,))


def test_a_signature_that_the_store_vouches_for_is_not_verified_and_all_else_is() -> None:
    chain = agent()
    chain.say(*propose())
    records = [forged(record) for record in chain.records]
    log = Log(REALM)
    for record in records:
        assert log.add(record, vouched=True) == Added((record,))
    elsewhere = agent(2)
    elsewhere.say(*propose())

    # Its place in its author's chain is checked all the same.
    with pytest.raises(PeerError) as caught:
        log.add(
            with_fields(
                elsewhere.records[1],
                statement=with_fields(elsewhere.records[1].statement, prev=records[0].id),
            ),
            vouched=True,
        )
    assert caught.value.code is Code.BAD_CHAIN
    assert isinstance(log.add(elsewhere.records[1], vouched=True), Waiting)


def test_a_record_of_another_realm_is_refused() -> None:
    elsewhere = Chain(person(Role.AGENT, 1, realm=OTHER_REALM))
    log = Log(REALM)

    assert refusal(log, elsewhere.head) is Code.BAD_SIGNATURE
    # The same bytes, read in this realm, have another id, which the author never signed.
    assert refusal(log, parse_record(REALM, wire(elsewhere.head))) is Code.BAD_SIGNATURE


def test_a_role_may_not_author_what_is_not_its_own() -> None:
    instance = Chain(person(Role.INSTANCE))
    log = filled(instance.records)

    assert refusal(log, instance.say(*propose())) is Code.WRONG_ROLE


def test_a_record_may_not_follow_that_of_another_author() -> None:
    alice, bob = agent(1), agent(2)
    log = filled([alice.head, bob.head])
    alice.records[0] = bob.head

    record = alice.say(declare("a"))
    assert record.author == alice.id
    # `author` of the chain is alice, `prev` is bob's inception.
    assert refusal(log, record) is Code.BAD_CHAIN


def test_a_record_may_not_leave_out_a_seq() -> None:
    alice = agent()
    log = filled(alice.records)
    alice.records = [alice.head, alice.head]

    assert refusal(log, alice.say(declare("a"))) is Code.BAD_CHAIN


def test_nothing_follows_a_forged_record() -> None:
    alice = agent()
    for model in "ab":
        alice.say(declare(model))
    inception, middle, last = alice.records
    for order in permutations([inception, forged(middle), last]):
        log = Log(REALM)
        for record in order:
            try:
                log.add(record)
            except PeerError as error:
                assert error.code is Code.BAD_SIGNATURE  # noqa: PT017 # not every order raises
        assert len(log) == 1
        assert log.add(middle) == Added((middle, last))


def test_nothing_follows_a_refused_record() -> None:
    instance = Chain(person(Role.INSTANCE))
    instance.say(*propose())
    instance.rotate()
    for order in permutations(instance.records):
        log = Log(REALM)
        for record in order:
            try:
                log.add(record)
            except PeerError as error:
                assert error.code is Code.WRONG_ROLE  # noqa: PT017 # not every order raises
        assert log.author_heads() == {instance.id: ((0, instance.id),)}


def test_an_author_without_room_is_not_stored_and_can_come_again() -> None:
    alice = agent()
    for number in range(10):
        alice.say(declare(str(number)))
    log = Log(REALM)

    assert log.add(alice.head, room=0) == Waiting(Code.WAITS_FOR_PREV, alice.records[9].id)
    assert log.add(alice.records[0], room=0) == Waiting(Code.OVER_QUOTA, alice.id)
    for record in alice.records[:8]:
        assert log.add(record, room=8) == Added((record,))
    ninth = alice.records[8]
    assert log.add(ninth, room=8) == Waiting(Code.OVER_QUOTA, ninth.id)
    assert log.count_of(alice.id) == 8
    assert isinstance(log.add(ninth), Added)
    assert log.count_of(alice.id) == 9


def test_whose_records_joined_since_is_told_also_of_those_that_had_waited() -> None:
    alice, bob = agent(1), agent(2)
    proposed, last = bob.say(*propose()), bob.say(declare("b"))
    log = filled([alice.head, bob.records[0], last])
    size = len(log)
    assert size == 2
    assert log.authors_since(size) == set()

    assert log.add(proposed.with_text(None)) == Added((proposed.with_text(None), last))
    assert log.authors_since(size) == {bob.id}
    # A text that comes later changes no head.
    assert log.add(proposed) == Known(text=True)
    assert log.authors_since(size + 2) == set()
    assert log.authors_since(0) == {alice.id, bob.id}


def test_waiting_records_do_not_slip_past_the_room() -> None:
    alice = agent()
    for number in range(4):
        alice.say(declare(str(number)))
    log = Log(REALM)
    for record in reversed(alice.records[1:]):
        log.add(record, room=3)

    assert log.add(alice.records[0], room=3) == Added(tuple(alice.records[:3]))
    assert log.waiting == 1


def test_two_copies_that_waited_are_stored_once() -> None:
    alice = agent()
    alice.say(declare("a"))
    inception, record = alice.records
    log = Log(REALM)
    log.add(record)
    log.add(forged(record))

    assert log.add(inception) == Added((inception, record))
    assert log.waiting == 0


def test_two_true_signatures_of_one_record_make_one_record() -> None:
    # Whoever holds the key can sign twice; a log that stored both would count two records.
    alice = agent()
    alice.say(declare("a"))
    inception, record = alice.records
    log = Log(REALM, verify=lambda _key, _payload, _signature: True)
    log.add(record)
    log.add(forged(record))

    assert log.add(inception) == Added((inception, record))
    assert log.count_of(alice.id) == 2


@st.composite
def floods(draw: st.DrawFn) -> tuple[Grove, list[Record]]:
    """Draw a grove and an arrival order of its records, with repeats and forged copies."""
    grove = Grove()
    records = grove.grow(draw(steps))
    copies = [forged(one) for one in draw(st.lists(st.sampled_from(records), max_size=4))]
    bare = [one.with_text(None) for one in draw(st.lists(st.sampled_from(records)))]
    return grove, draw(st.permutations([*records, *copies, *bare]))


@given(flood=floods())
def test_any_arrival_order_ends_with_the_same_log(flood: tuple[Grove, list[Record]]) -> None:
    grove, arrivals = flood
    in_order = Log(REALM)
    for record in grove.records:
        try:
            in_order.add(record)
        except PeerError as error:
            assert error.code is Code.BAD_CHAIN  # noqa: PT017 # only after a revocation
    shuffled = Log(REALM)
    for record in arrivals:
        try:
            answer = shuffled.add(record)
        except PeerError:
            assert record.id not in shuffled
            continue
        if isinstance(answer, Added):
            for one in answer.records:
                assert one.prev is None or one.prev in shuffled

    assert contents(shuffled) == contents(in_order)
    assert {one.id for one in grove.records if one.id in shuffled} == grove.accepted


@given(flood=floods(), which=st.integers(0, 20))
def test_a_forged_record_and_all_after_it_never_join(
    flood: tuple[Grove, list[Record]], which: int
) -> None:
    grove, arrivals = flood
    victim = grove.records[which % len(grove.records)]
    log = Log(REALM)
    for record in arrivals:
        try:
            log.add(forged(victim) if record.id == victim.id else record)
        except PeerError:
            continue

    for one, line in ancestors(grove.records).items():
        assert (one in log) == (one in grove.accepted and victim.id not in line)


# Chains


def test_a_fork_shows_both_heads_and_is_named_once() -> None:
    alice = agent()
    twin = alice.fork()
    a, b = alice.say(declare("a")), twin.say(declare("b"))
    after = twin.say(declare("c"))
    log = filled([*alice.records, b])
    low, high = sorted((a.id, b.id))

    assert log.forks() == [Fork(alice.id, 1, low, high)]
    assert log.is_forked(alice.id)
    assert log.ids_at(alice.id, 1) == (low, high)
    assert log.author_heads() == {alice.id: ((1, low), (1, high))}
    log.add(after)
    assert len(log.forks()) == 1
    assert log.heads_of(alice.id) == ((1, a.id), (2, after.id))
    assert log.ids_at(alice.id, 3) == log.ids_at(alice.id, -1) == ()


def test_each_branch_of_a_fork_has_its_own_keys() -> None:
    alice = agent()
    thief = alice.fork()
    alice.recover()
    thief.rotate()
    log = filled([*alice.records, *thief.records])
    mine, theirs = log.entry(alice.head.id), log.entry(thief.head.id)

    assert mine is not None
    assert theirs is not None
    assert (mine.keys.key, theirs.keys.key) == (alice.key, thief.key)
    assert isinstance(log.add(alice.say(declare("a"))), Added)
    assert isinstance(log.add(thief.say(declare("b"))), Added)


def test_above_can_leave_out_branches_that_a_head_does_not_lead_to() -> None:
    alice = agent()
    left = alice.fork()
    left.say(declare("left"))
    left.say(declare("left on"))
    alice.say(declare("a"))
    kept = alice.head.id
    b, c = alice.say(declare("b")), alice.say(declare("c"))
    log = filled([*alice.records, *left.records])

    assert log.above(alice.id, 1, head=kept) == ((b.id,), (c.id,))
    assert log.above(alice.id, 1) == (tuple(sorted((b.id, left.head.id))), (c.id,))
    assert log.above(alice.id, 2, head=left.head.id) == ()
    bob = agent(2)
    log.add(bob.head)
    assert log.above(bob.id, -1, head=bob.id) == ((bob.id,),)


@given(plan=steps)
def test_chain_questions_agree_with_a_slow_walk(plan: list[Step]) -> None:
    grove = Grove()
    log = Log(REALM)
    for record in grove.grow(plan):
        if record.id in grove.accepted:
            log.add(record)
    stored = {one.id: one for one in grove.records if one.id in log}
    lines = ancestors(list(stored.values()))

    for new, line in lines.items():
        assert {old for old in stored if log.is_ancestor(old, new)} == set(line)
        for down_to in range(-1, len(line) + 1):
            path = log.path(new, down_to)
            assert [one.id for one in path] == line[: max(0, len(line) - 1 - down_to)][::-1]
        record = stored[new]
        expected = [stored[old] for old in reversed(line[1:]) if stored[old].kind == Kind.ARGUE]
        assert log.earlier(record, Kind.ARGUE, ROUND) == expected
        assert log.count_of(record.author) == sum(
            one.author == record.author for one in stored.values()
        )


# Fork proofs by what is stored


def test_a_fork_in_the_log_can_be_proven_to_others() -> None:
    alice = agent()
    alice.rotate()
    twin = alice.fork()
    alice.say(declare("a"))
    twin.say(declare("b"))
    log = filled([*alice.records, *twin.records])
    (fork,) = log.forks()
    a, b = log.get(fork.a), log.get(fork.b)
    assert a is not None
    assert b is not None

    assert verify_fork(REALM, fork_proof(a, b), key_of=log.key_of) == fork


def test_a_statement_has_a_key_only_behind_its_author_s_stored_record() -> None:
    alice, bob = agent(1), agent(2)
    left = alice.fork()
    left.say(declare("left"))
    alice.say(declare("a"))
    log = filled([*alice.records, *left.records, bob.head])
    next_one = alice.fork().say(declare("b")).statement
    on_left = left.fork().say(declare("b")).statement

    assert log.key_of(alice.id, next_one) == alice.key
    assert log.key_of(bob.id, next_one) is None
    assert log.key_of(alice.id, with_fields(next_one, seq=3)) is None
    assert log.key_of(alice.id, with_fields(next_one, prev=named("unknown"))) is None
    assert log.key_of(alice.id, alice.records[0].statement) is None
    assert log.key_of(alice.id, next_one, below=alice.head.id) == alice.key
    assert log.key_of(alice.id, on_left) == alice.key
    assert log.key_of(alice.id, on_left, below=alice.head.id) is None


def test_a_revealed_key_is_checked_against_the_digests_behind_its_statement() -> None:
    alice = agent()
    alice.say(declare("a"))
    left = alice.fork()
    rotation, sibling = left.rotate(), alice.say(declare("b"))
    revealed = left.key
    log = filled([*alice.records, rotation])

    assert log.key_of(alice.id, rotation.statement) is None
    assert log.key_of(alice.id, rotation.statement, revealed) == revealed
    assert log.key_of(alice.id, rotation.statement, alice.key) is None
    assert log.key_of(alice.id, rotation.statement, revealed, below=alice.head.id) == revealed
    assert log.key_of(alice.id, left.rotate().statement, left.key, below=alice.head.id) is None
    assert verify_fork(REALM, fork_proof(rotation, sibling), key_of=log.key_of).seq == 2
