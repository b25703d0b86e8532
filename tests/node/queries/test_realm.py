"""Realm, charter, members and the overview of the status page."""

from dataclasses import replace as changed

import pytest
from msgspec.structs import replace

from federation.certificates import Phase
from federation.charter import preset
from federation.protocol import begin
from node.queries import artifacts, realm
from node.queries.artifacts import ArtifactState
from node.queries.waits import WaitCode
from tests.federation.protocol.town import Town, verify
from tests.node.queries.scenes import here, opened, plain, voted


def test_the_realm_says_which_one_it_is_and_how_far() -> None:
    town = Town.of(2, 4).in_cut(1)
    world, _ = here(town)
    page = realm.realm(world)

    assert (page.id, page.name, page.preset) == (world.realm.hex(), "town", "test")
    assert page.me is not None
    assert page.me.name == "instance 0"
    assert (page.cut.number, page.cut.tick) == (1, 1)
    assert page.cut.world == world.digest.hex()
    assert page.cut.digest == world.state.digest.hex()
    assert page.cut.beacon == world.state.beacon.hex()
    assert (page.agents, page.operators, page.instances) == (4, 2, 2)
    assert page.records == len(world.log)


def test_an_observer_is_nobody() -> None:
    founding = Town.of(1, 1).founding
    world = begin(founding.charter, founding.records, verify=verify)

    assert realm.realm(world).me is None
    assert not any(one.me for one in realm.members(world).members)


@pytest.mark.parametrize(
    ("members", "three", "numbers", "words"),
    [
        (1, "strict", (1, 1, 0, 0, 0), "decides alone"),
        (2, "strict", (2, 2, 0, 1, 0), "nothing is lost"),
        (3, "strict", (3, 3, 0, 2, 0), "at most 2 of them lie"),
        (3, "available", (3, 2, 0, 0, 1), "detected, not prevented"),
        (4, "strict", (4, 3, 1, 1, 1), "1 of them may be gone"),
    ],
)
def test_members_say_what_their_number_survives(
    members: int, three: str, numbers: tuple[int, ...], words: str
) -> None:
    timing = replace(preset("test").timing, three=three)
    town = Town.of(members, members, timing=timing)
    page = realm.members(town.world())

    assert (page.n, page.q, page.f, page.liars, page.down) == numbers
    assert words in page.survives
    assert page.narrow is (members < 4)
    assert [one.me for one in page.members].count(True) == 1
    assert {one.voice.name for one in page.members} == {f"instance {i}" for i in range(members)}
    assert all(one.did and len(one.instances) == 1 for one in page.members)


def test_a_member_without_any_usable_instance_counts_and_has_no_key() -> None:
    town = Town.of(2, 2)
    world, _ = here(town)
    first, second = world.state.cut_members
    world.state.cut_members = (changed(first, key=bytes(32)), second)
    shown = realm.members(world).members[0]

    assert shown.key is None
    assert shown.did is None


def test_the_overview_counts_states_and_shows_what_is_open() -> None:
    town = Town.of(3, 6)
    voted(town, {1: 1, 2: 1, 4: 1})
    town.settled()
    voted(town, {0: -1, 2: -1, 3: -1, 5: -1}, author=1)
    opened(town, Phase.COMMIT, author=2)
    town.propose(3, "Not yet")
    world, now = here(town, 0)
    town.rest(10)
    page = realm.overview(world, now)
    counts = page.counts

    assert (counts.waiting, counts.active, counts.retracted) == (1, 1, 1)
    assert (counts.under_review, counts.proposed) == (1, 0)
    running = [one for one in page.open if one.phase is not None]
    assert [one.phase for one in running] == [Phase.COMMIT]
    assert running[0].waits.code is WaitCode.WINDOW
    assert page.next_cut.sentence
    assert page.members.n == 3
    assert [one.state for one in page.verdicts] == [
        ArtifactState.RETRACTED,
        ArtifactState.ACTIVE,
    ], "the newest stands first"
    assert all(one.verdict.narrow for one in page.verdicts)
    assert not page.diverged
    assert isinstance(plain(page), dict)
    assert realm.newest(world, 1) == page.verdicts[:1]


def test_verdicts_are_shown_before_and_after_a_cut_has_them() -> None:
    town = Town.of(3, 6)
    record, _ = voted(town, {1: 1, 2: 1, 4: 1})
    world, _ = here(town)
    (fresh,) = realm.newest(world)
    town.settled()
    (settled,) = realm.newest(world)

    assert (fresh.artifact, fresh.settled) == (record.id.hex(), False)
    assert (settled.artifact, settled.settled) == (record.id.hex(), True)
    assert fresh.verdict == settled.verdict


def test_verdicts_are_found_without_a_look_at_what_cuts_contain() -> None:
    town = Town.of(3, 6)
    record, _ = voted(town, {1: 1, 2: 1, 4: 1})
    town.settled()
    world, _ = here(town)
    contained = world.certificates.contained
    before = realm.newest(world)
    # As many more as a realm gets that lives for years, and none of them can be read.
    contained |= {number.to_bytes(32, "big"): bytes(32) for number in range(1_000)}

    assert [one.artifact for one in before] == [record.id.hex()]
    assert realm.newest(world) == before


def test_proposals_that_wait_are_counted_without_being_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    town = Town.of(1, 5)
    for index in range(3):
        town.propose(index, f"Claim {index}")
    world = town.world()

    def refuse(*_: object) -> None:
        raise AssertionError("a proposal was judged only to be counted")

    monkeypatch.setattr(artifacts, "judge", refuse)
    assert realm.counts(world).waiting == 3
