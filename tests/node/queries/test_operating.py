"""What operators decide together, as a node shows it."""

import pytest

from federation.protocol import operating as signing
from federation.records import ActCosign, AdminReview, Decree
from node.base.errors import NodeCode, RequestError
from node.queries import operating
from node.queries.charters import newest_rules
from tests.federation.protocol.acts import next_cut, next_tick
from tests.federation.protocol.adopting import (
    adoption,
    cosign,
    disputed,
    other_rules,
    ring,
    say,
)
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import here, plain


def test_an_open_act_shows_who_said_it_how_many_are_missing_and_what_it_changes() -> None:
    town = Town.of(4, 4)
    world, _ = here(town)
    act = say(town, 0, adoption(world, other_rules(world, k=8, contest=9_000)))
    next_cut(town)
    cosign(town, act, 1)
    next_cut(town)
    page = operating.acts_page(world, town.founding.instances[1])
    (row,) = page.open

    assert (page.operators, page.needed, row.missing) == (4, 3, 1)
    assert [one.name for one in row.by] == ["operator 0", "operator 1"]
    assert (row.act, row.kind, row.number, row.mine) == (act.id.hex(), "charter.adopt", 1, True)
    assert [(one.field, one.old, one.new) for one in row.changes] == [
        ("review.k", "7", "8"),
        ("review.contest", "0", "9000"),
    ]
    assert operating.acts_page(world, town.founding.instances[2]).open[0].mine is False
    assert operating.acts_page(world, b"?" * 32).open[0].mine is None
    assert plain(page)


def test_charters_so_far_and_coming_are_listed_with_what_each_changed() -> None:
    town = Town.of(1, 2)
    world, _ = here(town)
    say(town, 0, adoption(world, other_rules(world, k=8)))
    next_tick(town)
    say(town, 0, adoption(world, other_rules(world, q_min=2), from_tick=2**40))
    next_cut(town)
    page = operating.acts_page(world, town.founding.instances[0])

    assert [row.number for row in page.charters] == [0, 1]
    assert [row.act is None for row in page.charters] == [True, False]
    assert [one.field for one in page.charters[1].changes] == ["review.k"]
    assert [(row.number, row.from_tick, row.cut) for row in page.coming] == [(2, 2**40, None)]
    assert [one.field for one in page.coming[0].changes] == ["review.q_min"]
    newest = newest_rules(world)
    assert (newest.number, newest.in_force, newest.rules.review.k) == (2, False, 8)
    assert newest.hash == page.coming[0].hash


def test_an_act_is_found_by_its_first_digits() -> None:
    town = Town.of(2, 2)
    world, _ = here(town)
    act = say(town, 0, adoption(world))
    next_cut(town)

    for said in (act.id.hex(), act.id.hex()[:6], act.id.hex()[:9].upper()):
        assert operating.open_act(world, said) == act.id
    for said in (act.id.hex()[:5], "ab" * 9, "", "zz" * 32):
        with pytest.raises(RequestError) as caught:
            operating.open_act(world, said)
        assert caught.value.code is NodeCode.NOT_FOUND


def test_the_queue_holds_acts_and_frozen_artifacts_and_nothing_else() -> None:
    town = Town.of(2, 4)
    world, now = here(town)
    artifact = town.propose(0)
    town.open_round(artifact)
    decision = AdminReview(subject=artifact.id, decision=Decree.HIDE, reason="It harms.")
    act = say(town, 0, decision)
    next_cut(town)
    queue = operating.admin_queue(world, town.founding.instances[0], now)
    (row,) = queue.acts

    assert (row.subject, row.decision, row.reason) == (artifact.id.hex(), "hide", "It harms.")
    assert (row.number, row.changes) == (None, ())
    assert (queue.rounds, queue.artifacts) == ((), ())
    say(town, 1, ActCosign(act=act.id))
    next_cut(town)
    assert operating.admin_queue(world, town.founding.instances[0], now).acts == ()


def test_a_round_in_the_queue_tells_its_voices_its_time_and_what_happens_otherwise() -> None:
    town = Town.of(4, 8)
    world, _ = here(town)
    artifact, found = disputed(town)
    voice = signing.decide_in_round(
        world, ring(town), found, decision=Decree.RETRACT, reason="It fails.", now=town.now
    )
    town.arrive(world, voice)
    town.rest(100)
    first, other, stranger = (
        operating.admin_queue(world, name, town.now).rounds[0]
        for name in (*town.founding.instances[:2], b"?" * 32)
    )

    assert (first.round, first.subject) == (found.hex(), artifact.id.hex())
    assert (first.kind, first.title, first.needed) == ("dispute", "A claim", 3)
    assert first.decisions == (Decree.KEEP, Decree.RETRACT)
    assert [(one.operator.name, one.decision, one.reason) for one in first.voices] == [
        ("operator 0", Decree.RETRACT, "It fails.")
    ]
    assert first.otherwise == "the artifact stands"
    assert first.window is not None
    assert 0 < first.window.remaining < world.charter.review.admin
    assert (first.mine, other.mine, stranger.mine) == (True, False, None)
    assert plain(operating.admin_queue(world, town.founding.instances[0], town.now))
