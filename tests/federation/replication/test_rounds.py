from collections.abc import Iterable
from itertools import chain as joined

from federation.records import Kind, Record, Role
from federation.replication import Log, round_of
from tests.builders import REALM, Chain, argue, commit, named, object_to, person
from tests.federation.replication.trees import ROUND, declare


def agent(number: int = 1) -> Chain:
    return Chain(person(Role.AGENT, number))


def filled(records: Iterable[Record]) -> Log:
    log = Log(REALM)
    for record in records:
        log.add(record)
    return log


def test_records_are_found_by_round_kind_and_author() -> None:
    alice, bob = agent(1), agent(2)
    other = named("other round")
    alice.say(*argue(ROUND, "one"))
    alice.say(*argue(other, "two"))
    first = alice.say(commit(alice, ROUND))
    second = alice.say(commit(alice, ROUND))
    bob.say(*object_to(ROUND))
    bob.say(*argue(ROUND, "three"))
    log = filled([*alice.records, *bob.records])
    rounds = log.by_round(ROUND)

    assert list(rounds) == ["review.argue", "review.commit", "review.object"]
    assert {one.id for one in rounds["review.argue"]} == {alice.records[1].id, bob.head.id}
    for records in joined(rounds.values(), log.by_round(other).values()):
        ids = [one.id for one in records]
        assert ids == sorted(ids)
    assert log.earlier(second, Kind.COMMIT, ROUND) == [first]
    assert log.earlier(first, Kind.COMMIT, ROUND) == []
    assert log.earlier(second, Kind.COMMIT, other) == []
    assert log.by_kind("review.object") == [bob.records[1]]
    assert round_of(bob.records[1]) == ROUND
    assert round_of(bob.records[0]) is None


def test_earlier_records_of_another_branch_do_not_count() -> None:
    alice = agent()
    twin = alice.fork()
    alice.say(commit(alice, ROUND))
    twin.say(declare("apart"))
    own = twin.say(commit(twin, ROUND))
    log = filled([*alice.records, *twin.records])

    assert log.earlier(own, Kind.COMMIT, ROUND) == []
