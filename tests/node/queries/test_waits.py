"""What an agreement waits for: time, reconciliation, and whose words, in real worlds.

A step at which only some members are is reached by cutting others off at the right moment.
"""

from dataclasses import replace

import pytest

from federation.certificates import (
    CutSlot,
    Phase,
    RoundSlot,
    SlotState,
    Step,
    slot_key,
)
from federation.charter import preset
from federation.protocol import LiveSlot, World, begin, start
from node.queries.waits import Wait, WaitCode, name_of, wait_of
from tests.federation.protocol.town import Town, verify
from tests.node.queries.scenes import here, opened, plain


def live(world: World, round_id: bytes, phase: Phase) -> LiveSlot:
    return world.slots[slot_key(RoundSlot(round_id=round_id, phase=phase))]


def cut_slot(world: World) -> LiveSlot:
    state = world.state
    return world.slots[slot_key(CutSlot(number=state.cut + 1, previous=state.digest))]


def names(wait: Wait) -> set[str | None]:
    return {one.name for one in wait.missing}


def test_an_open_window_says_how_long_and_what_could_end_it_sooner() -> None:
    town = Town.of(1, 5)
    record = town.propose(0)
    world, now = here(town)
    called = wait_of(world, cut_slot(world), now)
    assert (called.code, called.until, called.remaining) == (WaitCode.WINDOW, 500, 500)
    assert "a proposal waits for it" in called.sentence

    name = town.open_round(record)
    idle = wait_of(world, cut_slot(world), town.now)
    assert "an epoch must pass" in idle.sentence
    assert idle.until == 5_000
    for phase, words in (
        (Phase.DELIBERATE, "more."),
        (Phase.COMMIT, "once 4 reviewers have committed, not before 200 ms"),
        (Phase.DECIDE, "once all 3 listed ballots are open"),
    ):
        town.in_phase(name, phase)
        wait = wait_of(world, live(world, name, phase), town.now)
        assert wait.code is WaitCode.WINDOW
        assert words in wait.sentence
        assert wait.until == live(world, name, phase).started + (
            1_000 if phase is Phase.DELIBERATE else 5_000
        )
        assert wait.missing == ()
        if phase is Phase.COMMIT:
            town.rest(300)
            wait = wait_of(world, live(world, name, phase), town.now)
            assert "not before" not in wait.sentence
            for voter in (1, 2, 3):
                town.cast(voter, name, 1)
    assert isinstance(plain(wait), dict)


def test_a_member_that_is_alone_waits_for_reconciliation() -> None:
    town = Town.of(3, 6)
    _, name = opened(town, Phase.DELIBERATE)
    town.take_down(1)
    town.take_down(2)
    town.rest(1_500)
    world, now = here(town)
    wait = wait_of(world, live(world, name, Phase.DELIBERATE), now)

    assert wait.code is WaitCode.RECONCILIATION
    assert names(wait) == {"instance 1", "instance 2"}
    assert wait.needed == 2
    assert wait.until is None


def test_the_witnesses_of_members_that_left_are_waited_for() -> None:
    town = Town.of(4, 8)
    _, name = opened(town, Phase.DELIBERATE)
    world, _ = here(town)
    slot = live(world, name, Phase.DELIBERATE)
    # Two are gone: the two others reconcile with each other only, one short of three.
    town.take_down(2)
    town.rest(900)
    town.until(lambda _: slot.state.witnessed)
    town.take_down(3)
    kept = {
        key: heard
        for key, heard in slot.state.said.items()
        if key[0] is Step.WITNESS and key[1] == town.founding.instances[0]
    }
    slot.state = replace(slot.state, said=kept)
    wait = wait_of(world, slot, town.now)

    assert wait.code is WaitCode.WITNESSES
    assert wait.needed == 2
    assert names(wait) == {"instance 1", "instance 2", "instance 3"}
    assert "1 of 3 witnesses" in wait.sentence
    assert wait.until == (slot.state.fence_since or 0) + 400
    assert "may lead another try" in wait.sentence


def stages(town: Town, name: bytes, phase: Phase) -> list[Wait]:
    """Collect the waits of instance 0 at every event until a phase is final there."""
    world = town.world()
    found: list[Wait] = []

    def done(one: Town) -> bool:
        slot = one.world().slots.get(slot_key(RoundSlot(round_id=name, phase=phase)))
        if slot is None or one.world().rounds[name].phase is not phase:
            return True
        wait = wait_of(world, slot, one.now)
        if not found or found[-1] != wait:
            found.append(wait)
        return False

    town.until(done)
    return found


def test_an_agreement_goes_through_its_steps_one_after_the_other() -> None:
    town = Town.of(4, 8)
    _, name = opened(town, Phase.DELIBERATE)
    found = stages(town, name, Phase.DELIBERATE)
    order = list(dict.fromkeys(wait.code for wait in found))

    assert order[:2] == [WaitCode.WINDOW, WaitCode.RECONCILIATION]
    rest = order[2:]
    known = [WaitCode.WITNESSES, WaitCode.PROPOSAL, WaitCode.COSIGNS, WaitCode.SEALS]
    assert rest == [code for code in known if code in rest]
    assert {WaitCode.WITNESSES, WaitCode.SEALS} <= set(rest)
    for wait in found:
        assert len(wait.missing) >= wait.needed
        assert wait.what == name_of(live(town.world(), name, Phase.DELIBERATE))


def test_a_leader_that_is_gone_is_waited_for_until_another_may_lead() -> None:
    town = Town.of(4, 8)
    record = town.propose(0)
    name = town.open_round(record)
    town.take_down(0)
    world = town.world(1)
    slot = live(world, name, Phase.DELIBERATE)
    seen: dict[WaitCode, Wait] = {}

    def done(one: Town) -> bool:
        wait = wait_of(world, slot, one.now)
        seen.setdefault(wait.code, wait)
        return world.rounds[name].phase is not Phase.DELIBERATE

    town.until(done)

    wait = seen[WaitCode.PROPOSAL]
    assert names(wait) == {"instance 0"}
    assert "leads this try" in wait.sentence
    assert wait.until is not None
    assert wait.remaining is not None
    assert wait.remaining <= 400


def test_members_that_have_not_joined_a_new_try_are_named() -> None:
    town = Town.of(4, 8)
    record = town.propose(0)
    name = town.open_round(record)
    town.take_down(0)
    world = town.world(1)
    slot = live(world, name, Phase.DELIBERATE)
    town.until(lambda _: slot.state.fence == 1)
    me = town.founding.instances[1]
    slot.state = replace(slot.state, highest={me: 1})
    wait = wait_of(world, slot, town.now)

    assert wait.code is WaitCode.PROMISES
    assert names(wait) == {"instance 0", "instance 2", "instance 3"}
    assert wait.needed == 2


def test_records_that_members_name_are_told_but_not_uncertified_reveals() -> None:
    town = Town.of(4, 8)
    _, name = opened(town, Phase.COMMIT)
    for voter in (1, 2, 3):
        town.cast(voter, name, 1)
    missing = {bytes(32): (b"\x07" * 32,)}
    world = town.world()
    for phase, shown in ((Phase.COMMIT, ("07" * 32,)), (Phase.DECIDE, ())):
        town.in_phase(name, phase)
        slot = live(world, name, phase)
        before = slot.state
        slot.ended, slot.state = True, replace(before, missing=missing, witnessed=True)
        wait = wait_of(world, slot, town.now)
        slot.ended, slot.state = False, before

        assert wait.code is WaitCode.RECORDS
        assert wait.records == shown


def test_a_certificate_without_its_records_waits_for_them() -> None:
    town = Town.of(3, 6)
    _, name = opened(town, Phase.COMMIT)
    town.cast(1, name, 1)
    town.in_phase(name, Phase.DECIDE)
    world, now = here(town)
    key = slot_key(RoundSlot(round_id=name, phase=Phase.COMMIT))
    slot = world.slots[key]
    held = wait_of(world, slot, now)
    assert held.code is WaitCode.RECORDS
    assert "lists of the round's earlier phases" in held.sentence

    certificate = world.certificates[key]
    value = replace(certificate.value, records=(b"\x07" * 32,))
    world.certificates[key] = replace(certificate, value=value)
    wait = wait_of(world, slot, now)
    assert wait.code is WaitCode.RECORDS
    assert wait.records == ("07" * 32,)
    assert len(wait.missing) == 3
    assert wait.needed == 1


def test_a_cut_without_its_positions_waits_for_them() -> None:
    town = Town.of(3, 6).in_cut(1)
    world = town.world()
    key = next(iter(world.certificates))
    certificate = world.certificates[key]
    slot = next(one for one in world.slots.values() if one.slot == certificate.slot)
    wait = wait_of(world, slot, town.now)
    assert wait.code is WaitCode.RECORDS
    assert "positions" in wait.sentence

    del world.certificates[key]
    slot.state = SlotState(pending=certificate)
    pending = wait_of(world, slot, town.now)
    assert pending.code is WaitCode.RECORDS
    assert "being fetched" in pending.sentence
    assert len(pending.missing) == 3


def test_a_world_that_others_do_not_certify_asks_for_its_operator() -> None:
    town = Town.of(3, 6)
    world, now = here(town)
    slot = cut_slot(world)
    slot.state = replace(slot.state, diverged=True)
    wait = wait_of(world, slot, now)

    assert wait.code is WaitCode.DIVERGED
    assert "operator" in wait.sentence


def test_an_instance_that_may_have_forgotten_says_that_it_is_silent() -> None:
    town = Town.of(3, 6)
    world, _ = here(town)
    assert world.me is not None
    world.me.settled = False
    town.rest(6_000)
    wait = wait_of(world, cut_slot(world), town.now)

    assert wait.code is WaitCode.SILENT
    assert names(wait) == {"instance 1", "instance 2"}


def test_an_observer_tells_what_it_has_heard() -> None:
    town = Town.of(3, 6)
    founding = town.founding
    world = begin(founding.charter, founding.records, verify=verify)
    start(world, 0)
    slot = cut_slot(world)

    assert wait_of(world, slot, 0).code is WaitCode.WINDOW
    wait = wait_of(world, slot, preset("test").timing.epoch)
    assert wait.code is WaitCode.WITNESSES
    assert len(wait.missing) == 3
    assert wait.until is None


@pytest.mark.parametrize("members", [1, 2, 4])
def test_a_wait_is_told_at_every_moment_of_a_round(members: int) -> None:
    town = Town.of(members, 8)
    record = town.propose(0)
    name = town.open_round(record)

    def told(one: Town) -> bool:
        for world in one.live():
            for slot in world.slots.values():
                assert wait_of(world, slot, one.now).sentence.endswith(".")
        return one.world().rounds[name].phase is None

    town.until(told)
