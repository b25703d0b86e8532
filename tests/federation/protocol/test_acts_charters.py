"""Charters that operators adopt: when they are in force, and what a node comes to that starts anew."""

import copy
from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from federation.certificates import CutSlot, Phase, RoundSlot
from federation.charter import Rules, amended, charter_hash, rules_of
from federation.core import PeerError
from federation.crypto import KeySigner
from federation.protocol import World, rebuild, restore, snapshot
from federation.protocol import effects as fx
from federation.protocol.acts import Acts
from federation.records import Record, Role
from tests.builders import named
from tests.federation.protocol.acts import VOTES, next_cut, next_tick
from tests.federation.protocol.adopting import adoption, cosign, other_rules, say
from tests.federation.protocol.alike import differences
from tests.federation.protocol.town import Town, keys, verify
from tests.federation.protocol.trial import Trial, records_of

# Charters ---------------------------------------------------------------------------------------


def adopted(town: Town, rules: Rules, *, from_tick: int = 0) -> Record:
    """Let all operators adopt rules; until the cut in which they are adopted."""
    act = say(town, 0, adoption(town.world(), rules, from_tick=from_tick))
    next_cut(town)
    cosign(town, act, *range(1, len(town.founding.operators)))
    return_ = town.until(lambda now: all(act.id in world.state.acts.passed for world in now.live()))
    assert return_ is town
    return act


def test_a_charter_is_in_force_from_the_first_tick_that_it_names() -> None:
    town = Town.of(2, 4)
    world = town.world()
    rules = other_rules(world)
    due = world.state.tick + 2
    adopted(town, rules, from_tick=due)
    coming = world.state.acts.newest
    next_tick(town)
    assert world.state.tick < due
    assert world.charter.number == 0
    town.until(lambda now: all(one.state.tick == due for one in now.live()))

    assert world.charter == amended(world.state.acts.genesis, rules, 1)
    assert world.state.charter_hash == charter_hash(world.charter) == coming.hash
    assert world.state.acts.reign_at(world.state.cut).hash == coming.hash
    assert world.state.acts.reign_at(world.state.cut - 1).charter == world.state.acts.genesis
    assert world.state.acts.replaced_at(due) == world.state.acts.genesis
    assert world.state.acts.replaced_at(due - 1) is None
    town.settled()
    assert len({one.digest for one in town.live()}) == 1


def test_trust_is_reckoned_anew_under_another_charter() -> None:
    town = Town.of(1, 2)
    world = town.world()
    next_tick(town)
    assert world.state.reckoned is not None
    adopted(town, other_rules(world))
    town.until(lambda now: now.world().charter.number == 1)

    # What was reckoned for the tick itself is no answer to the next one: seats may have moved.
    assert world.state.reckoned is None


def test_a_snapshot_of_the_first_epoch_knows_the_terms_of_the_one_before() -> None:
    town = Town.of(1, 2)
    world = town.world()
    rules = rules_of(world.charter)
    adopted(town, replace(rules, admission=replace(rules.admission, target=9)))
    town.until(lambda now: now.world().charter.number == 1)
    taken = snapshot.read(
        snapshot.take(world), charter=town.founding.charter, log=world.log
    ).certified.state

    assert world.state.joining.former == rules.admission
    assert taken.joining == world.state.joining
    assert taken.charter == world.charter
    assert taken.charter_hash == world.state.charter_hash


def test_rounds_keep_the_charter_that_they_opened_under() -> None:
    town = Town.of(2, 5, review=None)
    world = town.world()
    record = town.propose(0)
    before = town.open_round(record)
    adopted(town, other_rules(world, q_min=2))
    town.until(lambda now: all(one.charter.number == 1 for one in now.live()))
    after = town.open_round(town.propose(1, "Another"))

    assert world.rounds[before].pin.charter.number == 0
    assert world.rounds[after].pin.charter.review.q_min == 2
    assert world.rounds[after].charter_hash == world.state.charter_hash
    town.in_phase(before, None)
    town.in_phase(after, None)
    town.settled()
    assert len({one.digest for one in town.live()}) == 1


def test_a_slot_keeps_the_quorum_of_the_charter_that_it_pinned() -> None:
    town = Town.of(3, 3)
    world = town.world()
    record = town.propose(0)
    found = town.open_round(record)
    rules = rules_of(world.charter)
    adopted(town, replace(rules, timing=replace(rules.timing, three="available")))
    town.until(lambda now: all(one.charter.number == 1 for one in now.live()))
    town.in_phase(found, None)
    town.settled()
    old = world.pinned(CutSlot(number=1, previous=world.state.cuts[0]))
    new = world.pinned(CutSlot(number=world.state.cut + 1, previous=world.state.digest))
    phase = world.pinned(RoundSlot(round_id=found, phase=Phase.COMMIT))

    assert old is not None
    assert new is not None
    assert phase is not None
    assert (old.quorum.q, phase.quorum.q, new.quorum.q) == (3, 3, 2)
    assert old.charter_hash == phase.charter_hash != new.charter_hash
    assert len({one.digest for one in town.live()}) == 1


def test_a_far_charter_is_overtaken_by_one_that_is_written_for_it() -> None:
    town = Town.of(1, 2)
    world = town.world()
    far = adopted(town, other_rules(world), from_tick=2**60)
    near = adopted(town, other_rules(world, k=9), from_tick=0)
    next_tick(town)

    assert [one.act for one in world.state.acts.reigns] == [None, near.id]
    assert world.charter.number == 2
    assert world.charter.review.k == 9
    assert world.state.acts.coming == []
    assert far.id in world.state.acts.passed


def test_a_second_charter_for_one_tick_is_the_one_in_force() -> None:
    town = Town.of(1, 2)
    world = town.world()
    acts, state = copy.deepcopy(world.state.acts), world.state
    pen = town.pen(Role.OPERATOR, 0)
    one = pen.say(adoption(world, from_tick=1))
    assert acts.take(state, [one]) == (one,)
    body = adoption(world, other_rules(world, k=9))
    two = pen.say(replace(body, number=2, base=acts.newest.hash, from_tick=1))
    assert acts.take(state, [two]) == (two,)

    assert not acts.turn(state)
    state = copy.deepcopy(state)
    state.tick = 1
    assert acts.turn(state)
    assert [reign.charter.number for reign in acts.reigns] == [0, 2]
    assert acts.coming == []
    assert state.charter.review.k == 9


MANY: Sequence[Callable[[Rules], Rules]] = (
    lambda rules: replace(rules, timing=replace(rules.timing, epoch=4_000)),
    lambda rules: replace(rules, review=replace(rules.review, tau_accept=200_000)),
    lambda rules: replace(
        rules,
        trust=replace(
            rules.trust, seats=60, kappa=8, approval=30, decay=200_000, window=2, farm_cap=3_000_000
        ),
    ),
    lambda rules: replace(rules, trust=replace(rules.trust, competence="audited")),
    lambda rules: replace(rules, admission=replace(rules.admission, target=9, most_bits=4)),
)


@pytest.mark.parametrize("change", range(len(MANY)))
def test_a_node_that_folds_again_or_starts_from_a_snapshot_comes_to_the_same_world(
    change: int,
) -> None:
    town = Trial.of(1, 6)
    assert isinstance(town, Trial)
    world = town.world()
    town.vote(town.propose(0), VOTES)
    town.settled()
    next_tick(town)
    adopted(town, MANY[change](rules_of(world.charter)))
    next_tick(town)
    assert world.charter.number == 1
    at_once = snapshot.take(world)
    town.vote(town.propose(1, "Another"), {0: 1, 2: 1, 3: 1, 4: -1})
    town.settled()
    next_tick(town, 2)
    durable = town.durable(0)
    records = [*records_of(world)]
    again = rebuild(
        town.founding.charter, town.founding.records, records, durable.blobs, verify=verify
    )
    folded, early, late = (
        _back(town, content) for content in (None, at_once, snapshot.take(world))
    )

    assert again.state.acts == world.state.acts
    assert (again.state.cut, again.digest) == (world.state.cut, world.digest)
    assert folded.digest == world.digest
    assert differences(folded, early) == []
    assert differences(folded, late) == []


def _back(town: Trial, content: bytes | None) -> World:
    world, effects = restore(
        town.founding.charter,
        town.founding.records,
        town.durable(0),
        instance=town.founding.instances[0],
        signer=KeySigner(keys(town.seed, "instance", 0).current),
        now=town.now,
        verify=verify,
        snapshot=content,
    )
    told = [one.event for one in effects if isinstance(one, fx.Tell)]
    assert fx.Happening.SNAPSHOT_REFUSED not in told
    return world


# Snapshots --------------------------------------------------------------------------------------


def test_acts_come_back_from_their_row() -> None:
    town = Town.of(2, 4)
    world = town.world()
    adopted(town, other_rules(world))
    next_tick(town)
    adopted(town, other_rules(world, k=9), from_tick=2**40)
    say(town, 0, adoption(world, other_rules(world, k=10)))
    next_cut(town)
    acts = world.state.acts
    assert (len(acts.reigns), len(acts.coming), len(acts.open), len(acts.passed)) == (2, 1, 1, 2)
    again = Acts.revived(acts.row(), acts.genesis, world.log)

    assert again == acts
    assert again.charters == acts.charters
    assert list(again.open) == list(acts.open)
    assert again.row() == acts.row()


def test_a_row_that_names_what_is_no_charter_is_refused() -> None:
    town = Town.of(1, 2)
    world = town.world()
    adopted(town, other_rules(world))
    row = world.state.acts.row()
    missing = replace(row, coming=(named("nothing"),))
    other = town.founding.records[0].id
    wrong = replace(row, coming=(other,))
    no_act = replace(row, open=((other, 0, ()),))

    for bad in (missing, wrong, no_act):
        with pytest.raises(PeerError, match="snapshot refused"):
            Acts.revived(bad, world.charter, world.log)
