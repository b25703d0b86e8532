"""The certified world brought back from its rows: complete, and checked against the log."""

import copy
import functools
from collections.abc import Callable
from dataclasses import replace

import pytest
from msgspec.structs import replace as with_fields

from federation.core import PeerError
from federation.protocol import World, begin
from federation.protocol.certified import Rows, rows_of
from federation.protocol.revival import world_of
from federation.protocol.rows import world_digest
from federation.protocol.state import Era
from federation.records import AgentVouch, Kind
from federation.replication import Log
from federation.trust import Audited, Checked, EvidenceKind, Ledger, Withdrawal
from tests.builders import named
from tests.federation.protocol.acts import next_cut, propose
from tests.federation.protocol.town import Town, verify
from tests.federation.protocol.trial import Trial


@functools.cache
def grown() -> Trial:
    """Two artifacts decided in different epochs, one refused, one in the middle of its round."""
    town = Trial.of(2, 6, operators=6)
    votes = {1: 1, 2: 1, 4: -1}
    record = town.propose(0)
    town.vote(record, votes)
    town.settled()
    tick = town.world().state.tick
    town.until(lambda town: all(one.state.tick > tick for one in town.live()))
    town.vote(town.propose(1, "Second"), {0: 1, 2: 1, 3: 1})
    town.settled()
    town.arrive(town.home(5), town.sign(5, *propose()))
    town.open_round(town.propose(3, "Third"))
    return town


def written(world: World) -> Rows:
    return rows_of(world.state, world.rounds, world.certificates.contained)


def test_the_world_comes_back_as_it_was() -> None:
    world = grown().world()
    state = world.state
    found = world_of(written(world), charter=world.charter, log=world.log)
    again = found.state

    loose = {"ledger", "agreement", "audits", "graph", "reckoned", "tables"}
    for name in set(state.__slots__) - loose:
        assert getattr(again, name) == getattr(state, name), name
    assert any(state.graph.out_of(agent) for agent in state.agents)
    for agent in state.agents:
        assert again.graph.out_of(agent) == state.graph.out_of(agent)
        assert again.ledger.rows(agent) == state.ledger.rows(agent)
        assert again.agreement.b(agent) == state.agreement.b(agent)
        assert again.ledger.standing(agent, state.tick) == state.ledger.standing(agent, state.tick)
    assert world_digest(again) == world.digest
    assert again.tables.rounds.rows() == state.tables.rounds.rows()
    assert list(again.identities) == list(state.identities)
    assert list(found.rounds) == list(world.rounds)
    assert found.contained == world.certificates.contained
    # A fold tells by identity whether keys have moved since.
    for one in again.identities.values():
        assert one.keys is world.log.entry(one.head).keys  # type: ignore[union-attr]
    assert state.pending or any(one.closed for one in world.rounds.values())


def test_what_no_row_of_the_digest_tells_comes_back_too() -> None:
    town = Town.of(1, 5)
    for index, weight in ((2, 7), (3, 255)):
        body = AgentVouch(agent=town.agent(index), weight=weight, reason="")
        town.arrive(town.world(), town.sign(1, body))
    next_cut(town)
    world = town.world()
    state = copy.copy(world.state)
    state.ledger, state.audits = Ledger(world.charter.trust), Audited(world.charter.trust)
    taken_back = Withdrawal(cause=named("round"), kind=EvidenceKind.VOTE, subject=town.agent(1))
    state.ledger.withdraw([taken_back])
    for right in (True, True, False):
        state.audits.observe(town.agent(1), right)
    rows = rows_of(state, world.rounds, world.certificates.contained)
    again = world_of(rows, charter=world.charter, log=world.log).state

    assert [(by, whom, w) for by, whom, w in again.graph.vouches()] == sorted(
        (town.agent(1), town.agent(index), weight) for index, weight in ((2, 7), (3, 255))
    )
    assert again.agents[town.agent(1)].vouched == (0, 2)
    assert again.ledger.withdrawn() == (taken_back,)
    assert tuple(again.audits.rows()) == (Checked(agent=town.agent(1), right=2, audits=3),)


def test_rounds_come_back_as_far_as_the_cut_has_brought_them() -> None:
    town = grown()
    world = town.world()
    found = world_of(written(world), charter=world.charter, log=world.log)

    assert {one.closed for one in found.rounds.values()} == {True, False}
    for name, one in found.rounds.items():
        known = world.rounds[name]
        assert (one.pin, one.seats, one.closed) == (known.pin, known.seats, known.closed)
        digests = world.state.decided[name]
        assert tuple(final.digest for final in one.finals.values()) == digests
        assert all(known.finals[phase] == final for phase, final in one.finals.items())
        assert all(known.certified[phase] == value for phase, value in one.certified.items())
        if one.closed:
            assert (one.verdict, one.phase) == (known.verdict, None)


def test_rounds_whose_evidence_waits_for_the_tick_still_wait() -> None:
    town = Town.of(3, 6)
    world = town.world()
    town.vote(town.propose(0), {1: 1, 2: 1, 4: 1, 5: -1})
    town.open_round(town.propose(0, title="Another"))
    assert len(world.state.pending) == 1
    found = world_of(written(world), charter=world.charter, log=world.log).state

    assert found.pending == world.state.pending
    # What waits is not counted yet.
    assert found.agreement.b(town.agent(5)) == world.state.agreement.b(town.agent(5))
    assert found.ledger.rows(town.agent(1)) == ()


def test_the_world_at_genesis_comes_back_too() -> None:
    founded = grown().founding
    world = begin(founded.charter, founded.records, verify=verify)
    found = world_of(written(world), charter=world.charter, log=world.log)

    assert world_digest(found.state) == world.digest
    assert found.rounds == {}


def first_round(rows: Rows, **fields: object) -> Rows:
    return with_fields(rows, rounds=(with_fields(rows.rounds[0], **fields), *rows.rounds[1:]))


def lists_unknown(rows: Rows) -> Rows:
    (one, *others) = rows.rounds[0].lists
    return first_round(rows, lists=(with_fields(one, records=(named("nothing"),)), *others))


def without_verdict(rows: Rows) -> Rows:
    return with_fields(rows, artifacts=tuple(replace(one, verdict=None) for one in rows.artifacts))


def with_other_reputation(rows: Rows) -> Rows:
    agents = (replace(rows.agents[0], r=rows.agents[0].r + 1), *rows.agents[1:])
    return with_fields(rows, agents=agents)


def with_audits(*, right: int, audits: int) -> Callable[[Rows], Rows]:
    return lambda rows: with_fields(
        rows, audits=(Checked(agent=rows.agents[0].agent, right=right, audits=audits),)
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda rows: with_fields(rows, charter_hash=named("another")), "another realm or charter"),
        (lambda rows: with_fields(rows, realm=named("another")), "another realm or charter"),
        (lambda rows: with_fields(rows, cuts=rows.cuts[32:]), "no chain"),
        (lambda rows: with_fields(rows, eras=()), "no chain"),
        (lambda rows: with_fields(rows, eras=(Era(first=2, members=()),)), "no chain"),
        (
            lambda rows: with_fields(
                rows, identities=(with_fields(rows.identities[0], head=named("nothing")),)
            ),
            "does not hold record",
        ),
        (lambda rows: with_fields(rows, delegations=(named("nothing"),)), "does not hold record"),
        (
            lambda rows: with_fields(rows, delegations=(rows.certificates[0],)),
            "does not hold record",
        ),
        (lambda rows: with_fields(rows, certificates=(named("nothing"),)), "does not hold record"),
        (lambda rows: with_fields(rows, certificates=(rows.delegations[0],)), "does not hold"),
        (lists_unknown, "does not hold record"),
        (lambda rows: first_round(rows, agents=99), "a place"),
        (lambda rows: first_round(rows, seats=99), "a place"),
        (lambda rows: with_fields(rows, worlds=((99,), *rows.worlds[1:])), "a place"),
        (lambda rows: first_round(rows, artifact=named("nothing")), "of an artifact"),
        (lambda rows: with_fields(rows, pending=(named("nothing"),)), "counts a round"),
        (lambda rows: with_fields(rows, pending=(rows.rounds[-1].round,)), "counts a round"),
        (without_verdict, "world digest"),
        (lambda rows: first_round(rows, closed=False), "closed and has not ended"),
        (lambda rows: with_fields(rows, identities=()), "an agent without an identity"),
        (with_audits(right=2, audits=1), "more right votes than audits"),
        (with_audits(right=-1, audits=1), "more right votes than audits"),
        (
            lambda rows: with_fields(
                rows, vouches=((rows.agents[0].agent, rows.agents[1].agent, 1),)
            ),
            "world digest",
        ),
        (with_other_reputation, "world digest"),
        (lambda rows: with_fields(rows, world=named("another")), "world digest"),
    ],
)
def test_rows_that_do_not_fit_are_refused(change: Callable[[Rows], Rows], why: str) -> None:
    world = grown().world()

    with pytest.raises(PeerError, match=why):
        world_of(change(written(world)), charter=world.charter, log=world.log)


def test_rows_do_not_fit_a_log_that_lacks_their_records() -> None:
    world = grown().world()

    with pytest.raises(PeerError, match="does not hold record"):
        world_of(written(world), charter=world.charter, log=Log(world.realm))
    assert len(world.log.by_kind(Kind.PROPOSE)) == 4
