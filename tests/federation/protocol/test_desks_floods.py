"""Floods and crowds: what one agent, thief, member or stranger cannot crowd out."""

from hashlib import sha256

from msgspec.structs import replace

from federation.certificates import (
    Fresh,
    ListValue,
    Phase,
    chains_from_blob,
    positions_from_blob,
)
from federation.certificates.messages import MOST_LISTED
from federation.charter import preset
from federation.protocol.desks import RIVALS
from federation.records import OperatorAdmit, Role
from tests.builders import argue, commit, named
from tests.federation.protocol.acts import claim, next_cut
from tests.federation.protocol.looks import cut_desk, holding, lists, round_desk, witnessed
from tests.federation.protocol.town import Town

MORE: int = MOST_LISTED + 3
"""More records than one witness may name."""


def first_ranked(town: Town, opened: bytes) -> tuple[int, list[int]]:
    """Give the founder that a full list takes first, and the other reviewers of a round."""
    reviewers = town.world().rounds[opened].pin.eligible.reviewers
    indices = [
        index for index in range(len(town.founding.agents)) if town.agent(index) in reviewers
    ]
    first, *others = sorted(indices, key=lambda index: sha256(opened + town.agent(index)).digest())
    return first, others


def test_a_reviewer_that_forks_a_thousand_commitments_crowds_nobody_out() -> None:
    town = Town.of(1, 5)
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.COMMIT)
    attacker, others = first_ranked(town, opened)
    honest = {town.cast(index, opened, 1).id for index in others[:-1]}
    pen, log = town.pen(Role.AGENT, attacker), town.world().log
    after = town.world().rounds[opened].finals[Phase.DELIBERATE].digest
    body = commit(pen, opened, after=after)
    for number in range(MORE):
        log.add(pen.fork().say(body, at=number))
    ids = set(round_desk(town, opened).holding().ids)

    assert honest < ids
    assert len(ids - honest) == 2


def test_a_reviewer_that_opens_its_ballot_a_thousand_times_crowds_nobody_out() -> None:
    town = Town.of(1, 5)
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.COMMIT)
    attacker, others = first_ranked(town, opened)
    for index in (attacker, *others[:-1]):
        town.cast(index, opened, 1)
    town.in_phase(opened, Phase.DECIDE)
    pen, log = town.pen(Role.AGENT, attacker), town.world().log
    genuine = town.reveal(attacker, opened)
    # On as many branches of its chain: each of them opens the listed commitment.
    for number in range(MORE):
        log.add(pen.fork().say(genuine.body, at=number))
    honest = {town.reveal(index, opened).id for index in others[:-2]}
    ids = set(round_desk(town, opened).holding().ids)

    assert honest < ids
    assert len(ids - honest) == 1


def test_what_qualifies_in_another_phase_is_taken_into_no_list() -> None:
    # Where nobody may lie (f = 0) one witness is enough for a list, so members must check.
    town = Town.of(3, 7)
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.DELIBERATE)
    pen = town.pen(Role.AGENT, 0)
    argument = pen.say(*argue(opened, "by the author"))
    town.arrive(town.home(0), argument)
    town.in_phase(opened, Phase.COMMIT)
    good = town.cast(1, opened, 1)
    town.rest(50)
    desk = round_desk(town, opened)
    liar = (argument.id, good.id)

    assert argument.id in {one.id for one in desk.round.finals[Phase.DELIBERATE].records}
    assert desk.fresh(lists(town, (good.id,), liar, (good.id,))) == Fresh(
        value=ListValue(records=(good.id,))
    )


def test_a_forker_with_thousands_of_rivals_at_one_place_takes_little_of_a_witness() -> None:
    quotas = replace(preset("test").quotas, witness_ids=64)
    town = Town.of(1, 5, quotas=quotas)
    world, forker = town.world(), town.pen(Role.AGENT, 0)
    for number in range(70):
        world.log.add(claim(forker.fork(), f"Rival {number}"))
    honest = [claim(town.pen(Role.AGENT, index), f"Claim {index}") for index in (1, 2, 3, 4)]
    for record in honest:
        world.log.add(record)
    chains = chains_from_blob(holding(town).chains)

    assert {town.agent(index) for index in (1, 2, 3, 4)} < set(chains)
    assert len(chains[town.agent(0)][0]) == RIVALS


def test_a_thief_crowds_out_neither_a_recovery_nor_the_branch_that_is_picked() -> None:
    # Of rivals a few are named: those that settle the fork, whatever else stands beside them.
    town = Town.of(1, 5)
    log, owner = town.world().log, town.pen(Role.AGENT, 0)
    mine, thief = owner.fork(), owner.fork()
    genuine = claim(mine, "Mine")
    picking = mine.rotate(picks=genuine.id)
    rivals = [claim(thief.fork(), f"Claim {number}") for number in range(40)]
    stolen = [thief.fork().rotate(reason=f"theft {number}") for number in range(40)]
    for record in (genuine, picking, *rivals):
        log.add(record)
    first, second = chains_from_blob(holding(town).chains)[owner.id]

    assert genuine.id in first
    assert second == (picking.id,)

    # Who holds the next key as well can rotate as often; only the owner can recover.
    recovery = owner.recover()
    for record in (*stolen, recovery):
        log.add(record)
    first, *_ = chains_from_blob(holding(town).chains)[owner.id]
    outcome = cut_desk(town).fresh([witnessed(town, 0)])

    assert recovery.id in first
    assert len(first) == RIVALS
    assert isinstance(outcome, Fresh)
    assert positions_from_blob(outcome.parts[0].content)[owner.id].head == recovery.id


def test_a_crowd_that_somebody_admitted_keeps_no_instance_from_moving() -> None:
    quotas = replace(preset("test").quotas, witness_ids=64)
    town = Town.of(1, 100, quotas=quotas)
    for index in range(100):
        town.world().log.add(claim(town.pen(Role.AGENT, index), f"Claim {index}"))
    filed = [town.say(0, OperatorAdmit(operator=named(number))) for number in range(9)]
    chains = chains_from_blob(holding(town).chains)

    assert chains[town.founding.instances[0]] == tuple((record.id,) for record in filed)


def test_a_newcomer_moves_with_its_admission_before_a_crowd_of_strangers() -> None:
    quotas = replace(preset("test").quotas, witness_ids=64)
    town = Town.of(1, 5, quotas=quotas)
    newcomer, world = town.stranger(Role.AGENT, 200), town.world()
    for number in range(200):
        world.log.add(town.stranger(Role.AGENT, number).head)
    town.admit(newcomer)
    chains = chains_from_blob(holding(town).chains)

    assert newcomer.id in chains
    assert sum(len(levels) for levels in chains.values()) == 64
    next_cut(town)
    assert newcomer.id in world.state.agents
