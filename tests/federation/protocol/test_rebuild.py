import functools
import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.certificates import (
    CutValue,
    Heard,
    MessagePacket,
    Phase,
    SignedEntry,
    hear,
    packet_from_bytes,
    peek_slot,
)
from federation.certificates.faults import contradiction
from federation.core import InstanceId, RoundId
from federation.crypto import KeySigner
from federation.protocol import World, inputs, judge, rebuild, restore, start, step
from federation.protocol import effects as fx
from federation.protocol.invariants import broken, disagreements
from federation.records import Delegate, Kind, Record, Role
from tests.builders import artifact_text, commit, named, propose
from tests.federation.protocol.hostile import staged
from tests.federation.protocol.town import keys, verify
from tests.federation.protocol.trial import Trial, durable_of, records_of

# From records in any order ------------------------------------------------------------------------


def rebuilt(town: Trial, records: list[Record]) -> World:
    blobs = durable_of(town.stored.get(town.founding.instances[0], ())).blobs
    return rebuild(town.founding.charter, town.founding.records, records, blobs, verify=verify)


@functools.cache
def in_order() -> World:
    return rebuilt(staged().town, records_of(staged().town.world()))


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), copies=st.integers(1, 2))
def test_records_in_any_order_give_the_same_world(seed: int, copies: int) -> None:
    town = staged().town
    records = records_of(town.world()) * copies
    random.Random(seed).shuffle(records)
    world = rebuilt(town, records)

    assert world.me is None
    assert world.state.cut >= town.world().state.cut - 1
    assert (world.state.cut, world.digest) == (in_order().state.cut, in_order().digest)
    assert world.log.author_heads() == town.world().log.author_heads()
    for record in records:
        assert judge(world, record) == judge(in_order(), record)


def test_a_rebuilt_world_is_the_one_that_lived_at_that_cut() -> None:
    town = staged().town
    values = [one.value for one in town.world().certificates.values()]
    kept = {one.number - 1: one.world for one in values if isinstance(one, CutValue)}
    world = in_order()

    # The next cut's certificate names the digest of this one.
    later = {world.state.cut: world.digest, town.world().state.cut: town.world().digest}
    assert kept.get(world.state.cut, later[world.state.cut]) == world.digest


def test_what_the_log_refuses_or_cannot_place_is_left_out() -> None:
    town = staged().town
    records = records_of(town.world())
    forged = replace(staged().proposal, signature=bytes(64))
    pen = town.stranger(Role.AGENT, 7)
    orphan = pen.say(commit(pen, named("round")))
    world = rebuilt(town, [forged, orphan, *records])

    assert orphan.id not in world.log
    assert world.digest == in_order().digest


def test_a_longer_chain_than_may_wait_is_rebuilt_from_its_end() -> None:
    town = Trial.of(1, 1)
    pen = town.pen(Role.OPERATOR, 0)
    records = [pen.say(Delegate(agent=named(number), scope=())) for number in range(600)]
    world = rebuilt(town, records[::-1])

    assert world.log.heads_of(pen.id) == ((pen.head.seq, pen.head.id),)


def test_a_newcomer_with_a_long_past_is_rebuilt_whole() -> None:
    # More than strangers may store: an order in which the past comes before its admission.
    town = Trial.of(2, 3)
    newcomer = town.stranger(Role.AGENT, 3)
    town.admit(newcomer)
    town.settled()
    for number in range(12):
        town.arrive(town.world(), newcomer.say(*propose(artifact_text(title=f"{number}"))))
    town.settled()
    records = records_of(town.world())
    assert len([one for one in records if one.author == newcomer.id]) == 13
    world = rebuilt(town, list(reversed(records)))

    assert len(world.state.artifacts) == 12
    assert world.log.author_heads() == town.world().log.author_heads()
    assert world.state.cut >= town.world().state.cut - 1


# Stopped at any point -----------------------------------------------------------------------------


@dataclass
class Life:
    """A federation in which two rounds are held, whatever happens to one instance meanwhile.

    Agents are patient: what their home did not take, they bring again.
    """

    town: Trial
    votes: Mapping[int, int]
    proposals: list[tuple[int, Record]] = field(default_factory=list)
    brought: dict[tuple[str, int, RoundId], Record] = field(default_factory=dict)

    def propose(self, index: int, title: str) -> None:
        body, text = propose(artifact_text(title=title), topics=("code",))
        self.proposals.append((index, self.town.sign(index, body, text)))

    def tend(self) -> None:
        """Let every agent do what it can do now."""
        for index, record in self.proposals:
            self._bring(index, record)
            artifact = self.town.home(index).state.artifacts.get(record.id)
            if artifact is not None and artifact.round is not None:
                for voter, choice in self.votes.items():
                    if voter != index:
                        self._vote(voter, artifact.round, choice)

    def _vote(self, voter: int, round_id: RoundId, choice: int) -> None:
        one = self.town.home(voter).rounds.get(round_id)
        if one is None or not self._is_up(voter):
            return
        cast, opened = ("cast", voter, round_id), ("reveal", voter, round_id)
        if cast in self.brought:
            self._bring(voter, self.brought[cast])
        elif one.phase is Phase.COMMIT:
            self.brought[cast] = self.town.cast(voter, round_id, choice)
        if opened in self.brought:
            self._bring(voter, self.brought[opened])
        elif one.phase is Phase.DECIDE and cast in self.brought:
            listed = [record.author for record in one.finals[Phase.COMMIT].records]
            if self.town.agent(voter) in listed:
                self.brought[opened] = self.town.reveal(voter, round_id)

    def _bring(self, index: int, record: Record) -> None:
        if record.id not in self.town.home(index).log:
            self.town.arrive(self.town.home(index), record)

    def _is_up(self, index: int) -> bool:
        home = self.town.home(index).me
        return home is not None and home.instance not in self.town.down

    def is_over(self) -> bool:
        """Tell whether every running instance has decided both rounds in a cut."""
        return all(
            (artifact := world.state.artifacts.get(record.id)) is not None
            and artifact.verdict is not None
            for world in self.town.live()
            for _, record in self.proposals
        )

    def go_on(self, span: int) -> None:
        for _ in range(span // 50):
            self.tend()
            self.town.rest(50)


def signed_by(town: Trial, name: InstanceId) -> list[Heard]:
    """Read every message of an instance that went over the wire."""
    found: dict[bytes, Heard] = {}
    for sender, raw in town.packets:
        routed = packet_from_bytes(raw)
        packet = routed.packet
        if sender == name and isinstance(packet, MessagePacket):
            pins = (world.pinned(routed.slot) for world in town.worlds.values())
            pinned = next(pin for pin in pins if pin is not None)
            heard = hear(packet.raw, packet.signature, pinned, verify=verify)
            if heard.voice == name:
                found[heard.raw] = heard
    return list(found.values())


def check_sound(town: Trial) -> None:
    """Check that nobody contradicted itself, and that all worlds are sound and the same."""
    assert len({world.digest for world in town.live()}) == 1
    assert disagreements(town.worlds.values()) == []
    for world in town.live():
        assert broken(world) == []
        assert world.denounced == set()
        assert world.log.by_kind(Kind.LOG_FAULT) == []
        assert world.log.by_kind(Kind.LOG_FORK) == []
        assert world.log.forks() == []
    for name in town.founding.instances:
        for a, b in itertools.combinations(signed_by(town, name), 2):
            if peek_slot(a.raw)[2] == peek_slot(b.raw)[2]:
                assert contradiction(a, b) is None
        counters = [heard.header.counter for heard in signed_by(town, name)]
        assert len(set(counters)) == len(counters)


def begun(instances: int, victim: int, stop: int) -> Life:
    """Start two rounds; the victim stops after `stop` more effects."""
    town = Trial.of(instances, 8, operators=8)
    life = Life(town, {1: 1, 2: 1, 3: -1, 4: 1, 5: 1})
    town.fragile[town.founding.instances[victim]] = stop
    life.propose(0, "A")
    life.propose(7, "B")
    return life


@settings(max_examples=15)
@given(
    instances=st.sampled_from([1, 2, 3, 4]),
    victim=st.integers(0, 3),
    stop=st.integers(0, 230),
    pause=st.integers(0, 3_000),
)
def test_an_instance_that_stops_between_any_two_effects_goes_on_as_if_it_had_not(
    instances: int, victim: int, stop: int, pause: int
) -> None:
    victim %= instances
    life = begun(instances, victim, stop)
    town = life.town
    for _ in range(400):
        life.go_on(50)
        if town.down:
            break
    life.go_on(pause)
    world = town.revive(victim)
    while not life.is_over():
        assert town.now < 120_000
        life.go_on(200)
    life.go_on(12_000)

    assert world.me is not None
    assert world.me.settled
    assert not world.me.amnesia
    assert world.me.silent_until == -1
    check_sound(town)
    if stop < 100:
        assert town.now > 10_000


@settings(max_examples=12)
@given(
    victim=st.integers(0, 3),
    stop=st.integers(0, 5_000),
    drop=st.integers(0, 95),
    pause=st.integers(0, 3_000),
)
def test_an_instance_that_lost_the_end_of_its_store_contradicts_nothing_that_it_sent(
    victim: int, stop: int, drop: int, pause: int
) -> None:
    life = begun(4, victim, 1_000_000)
    town = life.town
    life.go_on(stop)
    town.take_down(victim)
    life.go_on(pause)
    known = len(town.stored[town.founding.instances[victim]])
    world = town.revive(victim, drop=min(drop, known))
    while not life.is_over():
        assert town.now < 120_000
        life.go_on(200)
    life.go_on(12_000)

    assert world.me is not None
    assert world.me.settled
    check_sound(town)


def test_who_lost_a_signature_is_told_by_the_others_and_signs_again_only_in_later_slots() -> None:
    life = begun(4, 1, 1_000_000)
    town = life.town
    life.go_on(1_500)
    town.take_down(1)
    name = town.founding.instances[1]
    entries = [
        place
        for place, effect in enumerate(town.stored[name])
        if isinstance(effect, fx.StoreJournal) and isinstance(effect.entry, SignedEntry)
    ]
    before = {heard.raw for heard in signed_by(town, name)}
    world = town.revive(1, drop=len(town.stored[name]) - entries[-2])
    me = world.me
    assert me is not None
    assert not me.settled
    cut = world.state.cut
    town.rest(50)

    assert me.settled
    assert me.amnesia
    assert me.silent_until >= cut
    assert fx.StoreSilence(until=me.silent_until) in town.stored[name]

    while world.state.cut <= me.silent_until + 2:
        life.go_on(200)
    later = [heard for heard in signed_by(town, name) if heard.raw not in before]

    assert later
    for heard in later:
        slot = peek_slot(heard.raw)[2]
        number = getattr(slot, "number", None)
        if number is None:
            assert world.rounds[slot.round_id].pin.cut > me.silent_until  # type: ignore[union-attr]
        else:
            assert number > me.silent_until + 1

    # The silence outlives the next restart.
    town.take_down(1)
    again = town.revive(1)
    assert again.me is not None
    assert again.me.silent_until == me.silent_until


def test_the_only_member_needs_nobody_to_settle_and_an_observer_never_signs() -> None:
    town = Trial.of(1, 4, operators=4)
    round_id = town.vote(town.propose(0), {1: 1, 2: 1, 3: 1})
    town.settled()
    known = town.world()
    town.take_down(0)
    world = town.revive(0)
    assert world.me is not None
    assert world.me.settled
    assert world.digest == known.digest
    assert world.rounds[round_id].verdict == known.rounds[round_id].verdict
    assert world.me.counter == known.me.counter  # type: ignore[union-attr]

    watching, effects = restore(
        town.founding.charter,
        town.founding.records,
        town.durable(0),
        instance=None,
        signer=None,
        now=town.now,
        verify=verify,
    )
    assert watching.digest == known.digest
    assert not any(
        isinstance(one, fx.StoreJournal) and isinstance(one.entry, SignedEntry) for one in effects
    )


def test_a_proposal_that_no_cut_contains_still_calls_one_after_a_restart() -> None:
    town = Trial.of(1, 4, operators=4)
    newcomer = town.stranger(Role.AGENT, 9)
    town.admit(newcomer)
    town.settled()
    record = newcomer.say(*propose())
    town.arrive(town.world(), record)
    town.take_down(0)
    world = town.revive(0)

    assert record.id in world.triggers
    began = town.now
    town.open_round(record)
    # Not an epoch later: the waiting proposal calls the cut.
    assert town.now - began < town.founding.charter.timing.epoch // 2


def test_windows_keep_their_beginning_across_a_restart() -> None:
    town = Trial.of(1, 4, operators=4)
    round_id = town.open_round(town.propose(0))
    opened = town.world().rounds[round_id].opened_at
    starts = dict(town.world().starts)
    town.rest(700)
    town.take_down(0)
    world = town.revive(0)

    assert world.rounds[round_id].opened_at == opened
    assert world.starts == starts
    assert opened < town.now - 600
    town.in_phase(round_id, Phase.COMMIT)
    # A second of deliberation in all, not a second more.
    assert town.now - opened < 1_100


@pytest.mark.parametrize("instances", [2, 3])
def test_a_restarted_instance_signs_nothing_before_it_has_met_the_others(instances: int) -> None:
    town = Trial.of(instances, 4, operators=4)
    town.open_round(town.propose(0))
    name = town.founding.instances[0]
    world, effects = restore(
        town.founding.charter,
        town.founding.records,
        town.durable(0),
        instance=name,
        signer=KeySigner(keys(town.seed, "instance", 0).current),
        now=town.now,
        verify=verify,
    )
    effects += start(world, town.now)
    for later in range(20):
        effects += step(world, inputs.Wake(), town.now + 1_000 * later)

    assert world.me is not None
    assert not world.me.settled
    assert not any(isinstance(one, fx.StoreJournal | fx.StoreRecord) for one in effects)
