"""Each invariant must be able to fail: a sound world is broken in one place, and only it speaks."""

import copy
import dataclasses
import functools
from collections.abc import Callable

import msgspec
import pytest

from federation.artifacts import State
from federation.certificates import CutSlot, Phase, RoundSlot, VoidValue, slot_key
from federation.core import Code, RecordId
from federation.crypto import Choice
from federation.protocol import World
from federation.protocol.admissions import LONGEST_WAIT
from federation.protocol.invariants import broken, disagreements
from federation.protocol.rounds import Round
from federation.records import Reveal, Role
from federation.trust import ticket_price, trust_ref, weight
from tests.builders import named
from tests.federation.protocol.hostile import staged
from tests.federation.protocol.joiners import rules
from tests.federation.protocol.trial import Trial


@functools.cache
def grown() -> tuple[Trial, bytes, bytes]:
    """Give a town with an accepted artifact, and one that is still under review."""
    town = Trial.of(2, 6, operators=6)
    done = town.propose(0, "Done")
    town.vote(done, {1: 1, 2: 1, 3: 1, 4: 1})
    town.settled()
    waiting = town.propose(1, "Waiting")
    town.open_round(waiting)
    return town, done.id, waiting.id


def spoilt(spoil: Callable[[World], None]) -> list[str]:
    """Break a copy of a sound world and say what is found."""
    town, _, _ = grown()
    original = town.world()
    world = dataclasses.replace(
        original,
        state=copy.copy(original.state),
        rounds={name: copy.copy(one) for name, one in original.rounds.items()},
        certificates=dict(original.certificates),
        positions=dict(original.positions),
        heard=dict(original.heard),
        me=copy.copy(original.me),
    )
    world.state.artifacts = dict(original.state.artifacts)
    world.state.agents = dict(original.state.agents)
    world.state.joining = original.state.joining.copy()
    world.state.refused = dict(original.state.refused)
    assert broken(world) == []
    spoil(world)
    return broken(world)


def done_round(world: World) -> Round:
    round_id = world.state.artifacts[grown()[1]].round
    assert round_id is not None
    return world.rounds[round_id]


def change(world: World, name: bytes, **fields: object) -> None:
    artifact = world.state.artifacts[name]
    world.state.artifacts[name] = dataclasses.replace(artifact, **fields)  # type: ignore[arg-type]


def without_verdict(world: World) -> None:
    change(world, grown()[1], accepted=())


def rejected(world: World) -> None:
    verdict = world.state.artifacts[grown()[2]].verdict
    assert verdict is None
    change(world, grown()[2], state=State.ACTIVE)


def without_round(world: World) -> None:
    del world.rounds[done_round(world).pin.round]


def other_verdict(world: World) -> None:
    verdict = world.state.artifacts[grown()[1]].verdict
    assert verdict is not None
    change(world, grown()[1], accepted=(dataclasses.replace(verdict, numerator=1),))


def without_certificate(world: World) -> None:
    slot = RoundSlot(round_id=done_round(world).pin.round, phase=Phase.DECIDE)
    del world.certificates[slot_key(slot)]


def unended(world: World) -> None:
    one = done_round(world)
    one.finals = {phase: final for phase, final in one.finals.items() if phase != Phase.DECIDE}


def stuck(world: World) -> None:
    one = world.rounds[world.state.artifacts[grown()[2]].round or b""]
    one.phase = None


def lost(world: World) -> None:
    change(world, grown()[2], round=named("nowhere"))


def listed_in_decide(world: World, **fields: object) -> None:
    one = done_round(world)
    first, *rest = one.finals[Phase.DECIDE].records
    changed = msgspec.structs.replace(first, **fields)
    final = dataclasses.replace(one.finals[Phase.DECIDE], records=(changed, *rest))
    one.finals = {**one.finals, Phase.DECIDE: final}


def no_reveal(world: World) -> None:
    box = done_round(world).finals[Phase.COMMIT].records
    listed_in_decide(world, body=box[0].body)


def opens_nothing(world: World) -> None:
    body = done_round(world).finals[Phase.DECIDE].records[0].body
    assert isinstance(body, Reveal)
    other = msgspec.structs.replace(body.ballot, choice=Choice.AGAINST)
    listed_in_decide(world, body=msgspec.structs.replace(body, ballot=other))


def too_heavy(world: World) -> None:
    name, agent = next(iter(world.state.agents.items()))
    world.state.agents[name] = dataclasses.replace(agent, weight=1_000_001)


def lost_trust(world: World) -> None:
    name, agent = next(iter(world.state.agents.items()))
    world.state.agents[name] = dataclasses.replace(agent, trust=agent.trust - 1)


def weighty_stranger(world: World) -> None:
    (name, agent), (other, rich) = list(world.state.agents.items())[:2]
    world.state.agents[name] = dataclasses.replace(agent, trust=0, weight=1)
    world.state.agents[other] = dataclasses.replace(rich, trust=rich.trust + agent.trust)


def short_of_a_ticket(world: World) -> None:
    """Let one hold half a ticket and weigh as if it were a whole one; another has the rest."""
    (name, agent), (other, rich) = list(world.state.agents.items())[:2]
    held = ticket_price(world.charter.trust) // 2
    least = dataclasses.replace(agent, trust=held, weight=world.charter.trust.w_min)
    world.state.agents[name] = least
    world.state.agents[other] = dataclasses.replace(rich, trust=rich.trust + agent.trust - held)


def just_a_ticket(world: World) -> None:
    """Let one hold the very price of a ticket, which is no whole number, and weigh what it brings."""
    (name, agent), (other, rich) = list(world.state.agents.items())[:2]
    trust = world.charter.trust
    held = ticket_price(trust)
    weighs = weight(trust, t=held, competence=1, r=0)
    assert trust_ref(trust) * trust.w_min % trust.w_max
    assert weighs == trust.w_min
    world.state.agents[name] = dataclasses.replace(agent, trust=held, weight=weighs)
    world.state.agents[other] = dataclasses.replace(rich, trust=rich.trust + agent.trust - held)


def without_cut(world: World) -> None:
    for key, one in list(world.certificates.items()):
        if isinstance(one.slot, CutSlot) and one.slot.number == world.state.cut:
            del world.certificates[key]


def strange_position(world: World) -> None:
    name, here = next(iter(world.positions.items()))
    world.positions[name] = dataclasses.replace(here, head=named("nothing"))


def wrong_seq(world: World) -> None:
    name, here = next(iter(world.positions.items()))
    world.positions[name] = dataclasses.replace(here, seq=here.seq + 1)


def forgetful(world: World) -> None:
    assert world.me is not None
    world.me.counter = world.heard[world.me.instance].header.counter


def unproven(world: World) -> None:
    """Let a realm that asks for proofs have admitted somebody without one."""
    world.state.joining.rules = rules()
    world.state.joining.bits = rules().agent_bits
    world.state.joining.note(Role.AGENT, next(iter(world.state.instances)))


def over_quota(world: World) -> None:
    joining = world.state.joining
    joining.rules = rules(agent_bits=0, operator_bits=0, gate_bits=0, instance_least=1)
    for _ in range(2):
        joining.note(Role.OPERATOR, next(iter(world.state.instances)))


def counted_for_nobody(world: World) -> None:
    world.state.joining.note(Role.AGENT, named("nobody"))


def old_proof(world: World) -> None:
    world.state.joining.spent[named("challenge")] = world.state.tick - 2


def proof_of_tomorrow(world: World) -> None:
    world.state.joining.spent[named("challenge")] = world.state.tick + 1


def too_easy(world: World) -> None:
    world.state.joining.rules = rules()
    world.state.joining.bits = rules().agent_bits - 1


def too_hard(world: World) -> None:
    world.state.joining.bits = world.charter.admission.most_bits + 1


def wait(world: World, *, since: int = 0, count: int = 1) -> list[RecordId]:
    """Let what the first instance has signed wait as an admission would."""
    instance = next(iter(world.state.instances))
    here = world.positions[instance]
    signed = world.log.path(here.head, -1)[:count]
    assert len(signed) == count
    for record in signed:
        world.state.joining.waiting[record.id] = (instance, since)
    return [record.id for record in signed]


def many_wait(world: World) -> None:
    world.state.joining.rules = rules(
        agent_bits=0, operator_bits=0, gate_bits=0, instance_least=1, instance_share=0
    )
    wait(world, since=world.state.tick, count=2)


def uncontained_waits(world: World) -> None:
    instance = next(iter(world.state.instances))
    world.state.joining.waiting[named("nothing")] = (instance, world.state.tick)


def refused_waits(world: World) -> None:
    (name,) = wait(world, since=world.state.tick)
    world.state.refused[name] = Code.NOT_ADMITTED


def long_waits(world: World) -> None:
    wait(world, since=world.state.tick - LONGEST_WAIT - 2)


def waits_for_tomorrow(world: World) -> None:
    wait(world, since=world.state.tick + 1)


def wrong_digest(world: World) -> None:
    world.digest = named("another world")


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (without_verdict, "without an accepting verdict"),
        (rejected, "without an accepting verdict"),
        (without_round, "by a verdict that did not accept it"),
        (other_verdict, "do not give its verdict"),
        (unended, "do not give its verdict"),
        (without_certificate, "has no certificate"),
        (stuck, "waits for nothing"),
        (lost, "waits for nothing"),
        (no_reveal, "lists what is no reveal"),
        (opens_nothing, "opens nothing"),
        (too_heavy, "weighs 1000001"),
        (lost_trust, "of 2^60 of trust"),
        (weighty_stranger, "weighs 1"),
        (short_of_a_ticket, "influence"),
        (unproven, "admitted without a proof"),
        (over_quota, "has admitted 2 operators, and may admit 1"),
        (counted_for_nobody, "has not admitted the agents that it is counted for"),
        (old_proof, "a proof of an old epoch"),
        (proof_of_tomorrow, "a proof of an old epoch"),
        (too_easy, "the puzzle has 1 bits"),
        (too_hard, "the puzzle has 1 bits"),
        (many_wait, "2 admissions of "),
        (uncontained_waits, "waits, and no cut contains it"),
        (refused_waits, "waits and is refused"),
        (long_waits, "waits for too long"),
        (waits_for_tomorrow, "waits for too long, or for another epoch"),
        (without_cut, "has no certificate, or two"),
        (strange_position, "is no stored record"),
        (wrong_seq, "is no stored record"),
        (forgetful, "a counter that we have not reached"),
        (wrong_digest, "is not that of the state"),
    ],
)
def test_every_invariant_finds_what_breaks_it(spoil: Callable[[World], None], found: str) -> None:
    assert any(found in line for line in spoilt(spoil))


def test_who_holds_just_the_price_of_a_ticket_breaks_nothing() -> None:
    # The agents' rows are no longer those of the digest, and nothing else is said.
    assert [line for line in spoilt(just_a_ticket) if "influence" in line] == []


def test_an_instance_that_is_not_settled_owes_nothing_yet() -> None:
    def unsettled(world: World) -> None:
        forgetful(world)
        assert world.me is not None
        world.me.settled = False

    assert spoilt(unsettled) == []


def test_a_realm_is_sound_before_its_first_cut() -> None:
    assert broken(Trial.of(2, 3).world()) == []


def test_checking_changes_nothing() -> None:
    world = grown()[0].world()
    tables, digest = world.state.tables, world.digest

    assert broken(world) == []
    assert world.state.tables is tables
    assert world.digest == digest


def test_worlds_of_one_federation_agree_at_every_moment() -> None:
    town = Trial.of(3, 6, operators=6)
    record = town.propose(0)
    town.open_round(record)
    for _ in range(60):
        town.rest(100)
        assert disagreements(town.live()) == []
        assert [broken(world) for world in town.live()] == [[], [], []]


def test_two_values_of_one_slot_and_two_worlds_of_one_cut_are_found() -> None:
    world = staged().town.world()
    key, certificate = next(
        (key, one) for key, one in world.certificates.items() if isinstance(one.slot, RoundSlot)
    )
    liar = dataclasses.replace(
        world,
        digest=named("another world"),
        certificates={
            **world.certificates,
            key: dataclasses.replace(certificate, value=VoidValue()),
        },
    )

    found = disagreements([world, liar])

    assert len(found) == 2
    assert found[0].startswith("agreement")
    assert found[1].startswith("convergence")
    assert disagreements([world, world]) == []
