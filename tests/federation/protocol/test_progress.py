"""What becomes of final certificates: rounds move, cuts are folded, and nobody is left behind."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from msgspec.structs import replace

from federation.artifacts import State as ArtifactState
from federation.certificates import Phase
from federation.charter import preset
from federation.core import Code, InstanceId, RecordId
from federation.crypto import KeySigner
from federation.protocol import begin, inputs, start, step
from federation.protocol import effects as fx
from federation.protocol.invariants import broken
from federation.protocol.progress import is_contained
from federation.records import Kind, OperatorAdmit, Record, Role, sign_record
from federation.replication import BlobStore
from tests.builders import commit, named
from tests.federation.protocol.acts import (
    EPOCH,
    VOTES,
    claim,
    fork,
    next_cut,
    next_tick,
    refused,
)
from tests.federation.protocol.town import Town, keys, verify


def busy(town: Town, cuts: int = 20) -> None:
    """Let three votes happen and time pass, so that there is something to catch up with."""
    for author in range(3):
        votes = {index: 1 for index in (1, 2, 4, 5, 6) if index % 4 != author}
        town.vote(town.propose(author, title=f"Claim {author}"), votes)
    town.until(lambda now: all(one.state.cut >= cuts for one in now.live()), most=10**6)


class Follower:
    """An observer who hears no packet: records and blobs only, as it asks for them."""

    def __init__(self, town: Town) -> None:
        self.town = town
        self.world = begin(town.founding.charter, town.founding.records, verify=verify)
        self.asked: set[RecordId] = set()
        self.now = 0
        self._queue: deque[inputs.Input] = deque()
        self.withheld: set[RecordId] = set()
        self._perform(start(self.world, 0))

    def take(self, *records: Record) -> None:
        self._queue.append(inputs.Arrived(records=records, peer=self.town.founding.instances[0]))
        while self._queue:
            self.now += 1
            self._perform(step(self.world, self._queue.popleft(), self.now))

    def _perform(self, effects: list[fx.Effect]) -> None:
        source = self.town.world()
        for effect in effects:
            match effect:
                case fx.FetchBlob(blob=name):
                    blob = source.blobs.get(name)
                    assert blob is not None
                    peer = self.town.founding.instances[0]
                    self._queue.append(inputs.BlobArrived(content=blob, peer=peer))
                case fx.FetchRecords(records=names):
                    self.asked |= set(names)
                case _:
                    pass


def all_records(town: Town) -> list[Record]:
    """Give everything the first instance holds, by author."""
    log = town.world().log
    return [record for author in log.authors() for record in _of(town, author)]


def _of(town: Town, author: bytes) -> list[Record]:
    log = town.world().log
    found = {record.id: record for _, head in log.heads_of(author) for record in log.path(head, -1)}
    return sorted(found.values(), key=lambda record: record.seq)


def test_an_instance_that_was_away_for_20_cuts_catches_up() -> None:
    town = Town.of(4, 8)
    town.take_down(3)
    busy(town)
    assert town.world(3).state.cut == 0
    town.bring_up(3)
    town.rest(1_000)

    assert town.world(3).state.cut == town.world().state.cut >= 20
    assert town.world(3).digest == town.world().digest
    assert broken(town.world(3)) == []


def test_an_instance_that_was_away_takes_part_again() -> None:
    town = Town.of(4, 8)
    town.take_down(3)
    town.in_cut(3)
    town.bring_up(3)
    town.rest(1_000)
    town.take_down(2)
    opened = town.vote(town.propose(0), {1: 1, 3: 1, 5: 1, 7: 1})
    town.settled()

    assert town.world(3).rounds[opened].verdict is not None
    assert town.world(3).digest == town.world().digest


def test_the_log_alone_brings_a_node_up_to_date() -> None:
    town = Town.of(4, 8)
    busy(town)
    town.rest(2_000)
    follower = Follower(town)
    follower.take(*all_records(town))

    # The newest certificate may not be in the log yet.
    assert follower.world.state.cut == town.world().state.cut >= 20
    assert follower.world.digest == town.world().digest
    verdicts = {name: one.verdict for name, one in town.world().rounds.items()}
    assert {name: one.verdict for name, one in follower.world.rounds.items()} == verdicts
    assert broken(follower.world) == []


def test_the_log_alone_brings_a_node_up_to_date_record_by_record() -> None:
    town = Town.of(1, 5)
    town.vote(town.propose(0), VOTES)
    next_tick(town, 2)
    follower = Follower(town)
    for record in reversed(all_records(town)):
        follower.take(record)

    assert follower.world.digest == town.world().digest


def test_a_cut_waits_for_a_listed_record_that_no_position_covers() -> None:
    town = Town.of(1, 5)
    world = town.world()
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.COMMIT)
    owner = town.pen(Role.AGENT, 4)
    thief = owner.fork()
    after = world.rounds[opened].finals[Phase.DELIBERATE].digest
    listed = thief.say(commit(thief, opened, after=after))
    town.arrive(world, listed)
    for index in (1, 2, 3):
        town.cast(index, opened, 1)
    town.in_phase(opened, Phase.DECIDE)
    # The owner's recovery wins the fork, so no cut will come to the listed commitment.
    town.arrive(world, owner.recover())
    for index in (1, 2, 3):
        town.reveal(index, opened)
    town.in_phase(opened, None)
    next_tick(town, 2)
    town.rest(500)
    assert not is_contained(world, listed)
    assert len(world.state.decided[opened]) == 3
    follower = Follower(town)
    follower.take(*(record for record in all_records(town) if record.id != listed.id))

    assert listed.id in follower.asked
    assert follower.world.state.cut < world.state.cut
    follower.take(listed)
    assert follower.world.digest == world.digest


def test_a_cut_waits_for_the_records_below_its_positions() -> None:
    town = Town.of(1, 5)
    record = town.propose(0)
    town.open_round(record)
    town.rest(500)
    follower = Follower(town)
    follower.take(*(one for one in all_records(town) if one.id != record.id))

    assert follower.world.state.cut == 0
    assert record.id in follower.asked
    follower.take(record)
    assert follower.world.digest == town.world().digest


def test_a_cut_asks_for_what_it_lacks_again_whenever_it_wakes() -> None:
    # A request can be lost, and nothing else need ever arrive.
    town = Town.of(1, 5)
    record = town.propose(0)
    town.open_round(record)
    town.rest(500)
    follower = Follower(town)
    follower.take(*(one for one in all_records(town) if one.id != record.id))
    for wake in range(2):
        effects = step(follower.world, inputs.Wake(), 1_000 + wake)
        asked = [one for one in effects if isinstance(one, fx.FetchRecords)]

        assert [one.records for one in asked] == [(record.id,)]


def test_a_cut_whose_positions_were_dropped_meanwhile_asks_for_them_again() -> None:
    town = Town.of(1, 5)
    record = town.propose(0)
    town.open_round(record)
    town.rest(500)
    follower = Follower(town)
    follower.take(*(one for one in all_records(town) if one.id != record.id))
    follower.world.blobs = BlobStore()
    follower.take(record)

    assert follower.world.digest == town.world().digest


@dataclass(slots=True)
class Forgetful(Town):
    """A town where one record reaches instance 0 only when it asks for it by name."""

    hidden: set[RecordId] = field(default_factory=set)

    def _send(self, to: InstanceId, event: inputs.Input) -> None:
        if isinstance(event, inputs.Arrived) and to == self.founding.instances[0]:
            left = tuple(one for one in event.records if one.id not in self.hidden)
            event = inputs.Arrived(records=left, peer=event.peer)
        Town._send(self, to, event)

    def _perform(self, me: InstanceId, effects: Iterable[fx.Effect]) -> None:
        batch = list(effects)
        for effect in batch:
            if isinstance(effect, fx.FetchRecords) and me == self.founding.instances[0]:
                self.hidden -= set(effect.records)
        Town._perform(self, me, batch)


def test_a_member_fetches_what_a_quorum_names_and_it_lacks() -> None:
    town = Forgetful.of(4, 8)
    record = claim(town.pen(Role.AGENT, 1))
    town.hidden = {record.id}
    town.arrive(town.home(1), record)
    opened = town.open_round(record)

    assert not town.hidden
    assert record.id in town.world().log
    assert all(opened in world.rounds for world in town.live())


def test_an_instance_that_forks_its_chain_keeps_no_round_from_ending() -> None:
    town = Town.of(4, 8)
    record = town.propose(0)
    opened = town.vote(record, {1: 1, 2: 1, 3: 1, 5: 1})
    world = town.world(1)
    home = town.founding.instances[0]
    here = world.positions[home]
    twin = sign_record(
        OperatorAdmit(operator=named("twin")),
        realm=world.realm,
        signer=KeySigner(keys("town", "instance", 0).current),
        author=home,
        key_index=0,
        seq=here.seq + 1,
        prev=here.head,
        at=0,
    )
    for index in (1, 2, 3):
        town.arrive(town.world(index), twin)
    next_tick(town, 4)

    for one in town.live():
        assert one.log.is_forked(home)
        assert one.positions[home] == here
        assert len(one.state.decided[opened]) == 3
        assert one.state.artifacts[record.id].state is ArtifactState.ACTIVE


def test_a_certificate_whose_slot_is_no_slot_is_stored_and_does_nothing() -> None:
    town = Town.of(3, 6)
    next_cut(town)
    town.rest(2_000)
    sound = town.world().log.by_kind(Kind.CERTIFICATE)[0].body
    assert sound is not None
    odd = town.say(1, replace(sound, slot=b"\x81"))  # type: ignore[type-var]
    town.rest(100)

    assert odd.id in town.world().log
    assert not any(odd.id in names for names in town.world().unproven.values())


def test_a_certificate_of_a_slot_that_is_not_open_here_is_kept_aside() -> None:
    town = Town.of(1, 5)
    town.vote(town.propose(0), VOTES)
    next_tick(town, 2)
    certificates = town.world().log.by_kind(Kind.CERTIFICATE)
    follower = Follower(town)
    chain = _of(town, town.founding.instances[0])
    late = [one for one in chain if one in certificates]
    follower.take(*chain)

    assert follower.world.state.cut == 0
    assert sum(map(len, follower.world.unproven.values())) >= len(late) - 1
    follower.take(*all_records(town))
    assert follower.world.digest == town.world().digest
    assert follower.world.unproven == {}


def test_slots_of_rounds_that_a_cut_has_ended_are_forgotten() -> None:
    town = Town.of(1, 5)
    opened = town.vote(town.propose(0), VOTES)
    next_tick(town, 2)

    assert not any(
        opened == getattr(one.slot, "round_id", None) for one in town.world().slots.values()
    )
    assert len(town.world().slots) == 2  # the newest cut, and the next
    assert town.world().triggers == set()


def test_what_a_round_knew_of_its_records_is_forgotten_when_a_cut_contains_its_end() -> None:
    town = Town.of(2, 6, operators=6)
    round_id = town.vote(town.propose(0), {1: 1, 2: 1, 3: 1})
    assert all(town.live()[index].rounds[round_id].looked for index in (0, 1))
    assert not any(world.rounds[round_id].closed for world in town.live())
    town.settled()

    for world in town.live():
        one = world.rounds[round_id]
        assert (one.closed, one.looked) == (True, {})
        assert round_id in world.state.decided
        # What is kept of its certificates is their place in the log.
        assert not [key for key in world.certificates.open if round_id in key]
        assert [key for key in world.certificates if round_id in key]
        assert not [key for key in world.filed if key in world.certificates.contained]


def test_a_record_is_contained_from_the_cut_that_its_author_has_reached() -> None:
    town = Town.of(1, 5)
    world = town.world()
    record = town.propose(0)
    assert not is_contained(world, record)
    town.open_round(record)

    assert is_contained(world, record)
    assert not is_contained(world, town.stranger(Role.AGENT).head)
    assert not is_contained(world, claim(town.pen(Role.AGENT, 0), "Never sent"))


def test_people_are_told_of_cuts_rounds_phases_and_verdicts() -> None:
    town = Town.of(1, 5)
    opened = town.vote(town.propose(0), VOTES)
    told = [(event, subject == opened) for _, _, event, subject in town.told]

    assert told == [
        ("cut", False),
        ("round", True),
        ("phase.deliberate", True),
        ("phase.commit", True),
        ("phase.decide", True),
        ("verdict", True),
    ]


def test_a_round_that_nobody_may_review_ends_as_it_opens() -> None:
    town = Town.of(1, 1)
    record = town.propose(0)
    opened = town.open_round(record)
    one = town.world().rounds[opened]

    assert one.phase is None
    assert one.verdict is not None
    assert not one.verdict.accepted
    assert town.world().state.artifacts[record.id].state is ArtifactState.RETRACTED
    assert broken(town.world()) == []


def test_a_cut_contains_lists_by_the_certificates_in_it() -> None:
    town = Town.of(1, 5)
    world = town.world()
    record = town.propose(0)
    opened = town.vote(record, VOTES)
    finals = world.rounds[opened].finals

    assert world.state.decided[opened] == ()
    assert world.state.artifacts[record.id].state is ArtifactState.UNDER_REVIEW
    next_tick(town)

    assert world.state.decided[opened] == tuple(final.digest for final in finals.values())
    assert world.state.artifacts[record.id].state is ArtifactState.ACTIVE


def test_a_cut_between_two_phases_contains_the_first_lists_only() -> None:
    town = Town.of(1, 5)
    world = town.world()
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.COMMIT)
    town.open_round(town.propose(1, title="Another"))
    first = world.rounds[opened].finals[Phase.DELIBERATE].digest

    assert world.state.decided[opened] == (first,)


def test_a_certificate_that_proves_nothing_does_not_count() -> None:
    town = Town.of(3, 6)
    world = town.world()
    next_cut(town)
    town.rest(2_000)
    sound = world.log.by_kind(Kind.CERTIFICATE)[0].body
    assert sound is not None
    forged = town.say(1, replace(sound, seals=sound.seals[:-1]))  # type: ignore[type-var]
    unknown = town.say(1, replace(sound, slot=b"\xc0"))  # type: ignore[type-var]
    next_cut(town)

    for one in town.live():
        assert refused(one, forged) is Code.NOT_PROVEN
        assert refused(one, unknown) is Code.NOT_PROVEN


def test_cuts_are_never_closer_than_the_charters_shortest() -> None:
    town = Town.of(3, 6)
    for number in range(12):
        town.propose(number % 6, title=f"Claim {number}")
        town.rest(150)
    town.rest(3_000)
    shortest = preset("test").timing.cut_min
    for name in town.founding.instances:
        times = [at for at, me, event, _ in town.told if (me, event) == (name, "cut")]

        assert len(times) > 2
        assert all(later - sooner >= shortest for sooner, later in pairwise(times))


def test_what_waits_for_a_branch_to_be_picked_calls_no_cut_for_ever() -> None:
    town = Town.of(1, 5)
    pen, twin = fork(town)
    town.rest(4 * EPOCH)
    claim(twin, "Three")
    town.arrive(town.world(), twin.head)
    town.rest(4 * EPOCH)

    assert town.world().state.tick == 8
    # One more than ticks for the fork, and one for the record that came later.
    assert town.world().state.cut <= 10
    assert not town.world().triggers
    assert pen.id in town.world().state.identities


def test_every_node_folds_the_same_world() -> None:
    town = Town.of(4, 8)
    town.vote(town.propose(0), {1: 1, 2: 1, 3: 1, 5: -1})
    fork(town, 6)
    town.settled()

    assert len({world.digest for world in town.live()}) == 1
    assert len({tuple(sorted(world.state.refused.items())) for world in town.live()}) == 1
