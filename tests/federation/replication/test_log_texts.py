"""Prose beside records: dropped for good, or brought later by another copy."""

from collections.abc import Iterable

from msgspec.structs import replace

from federation.records import Record, Role
from federation.replication import Added, Known, Log
from tests.builders import (
    REALM,
    Chain,
    person,
    propose,
)


def agent(number: int = 1) -> Chain:
    return Chain(person(Role.AGENT, number))


def filled(records: Iterable[Record]) -> Log:
    log = Log(REALM)
    for record in records:
        log.add(record)
    return log


def test_a_dropped_text_is_gone_and_nothing_else_changes() -> None:
    alice = agent()
    alice.say(*propose())
    log = filled(alice.records)
    before = log.author_heads()

    assert log.drop_text(alice.head.id)
    assert log.get(alice.head.id) == replace(alice.head, text_raw=None)
    assert log.author_heads() == before
    assert not log.drop_text(alice.head.id)


def test_a_later_copy_does_not_bring_a_dropped_text_back() -> None:
    alice = agent()
    alice.say(*propose())
    log = filled(alice.records)
    log.drop_text(alice.head.id)

    assert log.add(alice.head) == Known()
    assert log.by_kind("artifact.propose") == [replace(alice.head, text_raw=None)]


def test_a_text_that_is_dropped_before_its_record_comes_is_never_stored() -> None:
    alice = agent()
    alice.say(*propose())
    log = Log(REALM)
    bare = replace(alice.head, text_raw=None)

    assert not log.drop_text(alice.head.id)
    log.add(alice.head)
    assert log.add(alice.records[0]) == Added((alice.records[0], bare))


def test_a_copy_brings_a_text_that_a_relay_left_out() -> None:
    alice = agent()
    alice.say(*propose())
    log = filled([alice.records[0], replace(alice.head, text_raw=None)])

    assert log.add(alice.head) == Known(text=True)
    assert log.get(alice.head.id) == alice.head
    assert log.add(replace(alice.head, text_raw=None)) == Known()


def test_a_copy_can_bring_nothing_new_unless_a_text_is_missing_here() -> None:
    alice = agent()
    alice.say(*propose())
    head = alice.head
    log = filled(alice.records[:1])

    assert not log.has_all(head.id, False)
    assert not log.has_all(head.id, True)
    log.add(replace(head, text_raw=None))
    assert log.has_all(head.id, False)
    assert not log.has_all(head.id, True)
    log.add(head)
    assert log.has_all(head.id, True)
    log.drop_text(head.id)
    assert log.has_all(head.id, True)
