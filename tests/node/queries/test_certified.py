"""Certificates of a round: which phases are final, by whose seals, and what a cut has of them."""

from federation.certificates import Phase
from node.queries.certified import certificate_of, certified_of
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import here, opened, plain, voted


def test_each_phase_is_shown_with_its_seals_and_its_list() -> None:
    town = Town.of(4, 8)
    _, name = voted(town, {1: 1, 2: 1, 3: 1})
    world = town.world()
    shown = certified_of(world, world.rounds[name])

    assert [one.phase for one in shown] == [Phase.DELIBERATE, Phase.COMMIT, Phase.DECIDE]
    assert [one.listed for one in shown] == [0, 3, 3]
    for one in shown:
        certificate = certificate_of(world, world.rounds[name], one.phase)
        assert certificate is not None
        assert one.digest == certificate.digest.hex()
        assert one.seals == len(one.voices) == 3
        assert {voice.name for voice in one.voices} < {f"instance {i}" for i in range(4)}
        assert one.held
        assert not one.void
    assert isinstance(plain(shown), list)


def test_a_cut_contains_what_was_final_before_it() -> None:
    town = Town.of(3, 6)
    _, name = voted(town, {1: 1, 2: 1, 4: 1})
    world = town.world()

    assert [one.contained for one in certified_of(world, world.rounds[name])][-1] is False
    town.settled()
    assert all(one.contained for one in certified_of(world, world.rounds[name]))


def test_a_box_that_was_shut_too_late_is_void() -> None:
    town = Town.of(1, 5, review=rules(deadline=20_000, commit=60_000, commit_min=60_000))
    record = town.propose(0)
    name = town.open_round(record)
    town.until(lambda one: one.world().rounds[name].phase is None, most=120_000)
    world, _ = here(town)
    shown = certified_of(world, world.rounds[name])

    assert [(one.phase, one.void, one.listed) for one in shown] == [
        (Phase.DELIBERATE, False, 0),
        (Phase.COMMIT, True, 0),
    ]


def test_a_list_whose_records_are_missing_is_final_but_not_held() -> None:
    town = Town.of(1, 5)
    _, name = opened(town, Phase.COMMIT)
    world, _ = here(town)
    world.rounds[name].finals.clear()
    shown = certified_of(world, world.rounds[name])

    assert [(one.phase, one.held) for one in shown] == [(Phase.DELIBERATE, False)]
