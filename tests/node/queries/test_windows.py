"""Windows: how long one lasts here, when it may close early, and until when to hand in."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.certificates import CutSlot, Phase, RoundSlot, slot_key
from federation.charter import preset
from federation.protocol import LiveSlot, World
from node.queries.windows import margin, window_of
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import here, opened


def live(world: World, round_id: bytes, phase: Phase) -> LiveSlot:
    return world.slots[slot_key(RoundSlot(round_id=round_id, phase=phase))]


def test_a_phase_lasts_from_when_this_instance_stored_its_start() -> None:
    town = Town.of(3, 6)
    _, name = opened(town, Phase.DELIBERATE)
    world, now = here(town)
    slot = live(world, name, Phase.DELIBERATE)
    window = window_of(world, slot, now)

    assert window.began_at == slot.started
    assert window.ends_at == slot.started + 1_000
    assert window.remaining == window.ends_at - now
    assert window.earliest_at == window.ends_at, "an argument's time is never cut short"
    later = window_of(world, slot, window.ends_at + 7)
    assert (later.remaining, later.submit_within) == (0, 0)


def test_a_record_should_be_handed_in_before_clocks_and_delivery_can_make_it_late() -> None:
    town = Town.of(3, 6)
    _, name = opened(town, Phase.COMMIT)
    world, now = here(town)
    window = window_of(world, live(world, name, Phase.COMMIT), now)
    timing = world.charter.timing

    assert window.ends_at - window.submit_by == timing.grace + 2 * timing.resend
    assert window.submit_within == window.submit_by - now
    assert window.earliest_at == window.began_at + 200, "commit_min"


def test_reveals_may_end_their_phase_at_any_time() -> None:
    town = Town.of(1, 5)
    _, name = opened(town, Phase.COMMIT)
    for voter in (1, 2, 3):
        town.cast(voter, name, 1)
    town.in_phase(name, Phase.DECIDE)
    world, now = here(town)
    window = window_of(world, live(world, name, Phase.DECIDE), now)

    assert window.earliest_at == window.began_at
    assert window.submit_by == window.ends_at, "a lone member differs from nobody"


def test_a_cut_is_due_after_an_epoch_and_may_be_called_before() -> None:
    town = Town.of(1, 1)
    world, now = here(town)
    slot = CutSlot(number=1, previous=world.state.digest)
    window = window_of(world, world.slots[slot_key(slot)], now)

    assert (window.earliest_at, window.ends_at) == (500, 5_000)


@given(
    grace=st.integers(0, 10**9),
    resend=st.integers(10, 10**9),
    length=st.integers(0, 10**9),
    members=st.integers(1, 9),
)
def test_at_least_half_of_a_window_is_left(
    grace: int, resend: int, length: int, members: int
) -> None:
    timing = replace(preset("test").timing, grace=grace, resend=resend)
    found = margin(timing, members, length)

    assert 0 <= found <= length / 2
    assert (found == 0) is (members == 1 or length < 2)


def test_the_early_end_never_comes_after_the_end() -> None:
    town = Town.of(1, 5, review=rules(commit_min=5_000, commit=5_000))
    _, name = opened(town, Phase.COMMIT)
    world, now = here(town)
    window = window_of(world, live(world, name, Phase.COMMIT), now)

    assert window.earliest_at == window.ends_at
