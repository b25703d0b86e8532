"""What the agreement asks of the world: holdings and fresh values, for rounds and for cuts."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from federation.certificates import (
    VOID,
    CutValue,
    CutWitness,
    Fresh,
    ListHolding,
    ListValue,
    Missing,
    NoValue,
    Phase,
    Witnessed,
    chains_blob,
    chains_from_blob,
    positions_from_blob,
)
from federation.charter import preset
from federation.crypto import KeySigner, plain_hash
from federation.protocol.desks import RIVALS
from federation.protocol.fold import Contained, fold, positions_of
from federation.records import Role
from tests.builders import named
from tests.federation.protocol.acts import EPOCH, claim, next_cut
from tests.federation.protocol.looks import cut_desk, holding, lists, round_desk, witnessed
from tests.federation.protocol.town import Town, keys, rules


def fresh(town: Town, witnesses: Sequence[Witnessed]) -> CutValue:
    outcome = cut_desk(town).fresh(witnesses)
    assert isinstance(outcome, Fresh)
    assert isinstance(outcome.value, CutValue)
    return outcome.value


# Cuts ---------------------------------------------------------------------------------------------


def test_a_member_names_everything_above_the_last_cut() -> None:
    town = Town.of(3, 6)
    next_cut(town)
    town.rest(500)
    record = town.propose(0)
    chains = chains_from_blob(holding(town).chains)

    assert chains[town.agent(0)] == ((record.id,),)
    filer = {author for author in chains if author in town.founding.instances}
    assert set(chains) == {town.agent(0), *filer}


def test_a_strangers_chain_is_named_from_its_inception() -> None:
    town = Town.of(1, 5)
    stranger = town.stranger(Role.AGENT)
    claim(stranger)
    town.arrive(town.world(), *stranger.records)
    chains = chains_from_blob(holding(town).chains)

    assert chains[stranger.id] == tuple((one.id,) for one in stranger.records)


def test_both_branches_of_a_fork_are_named() -> None:
    town = Town.of(1, 5)
    pens = town.pen(Role.AGENT, 0), town.pen(Role.AGENT, 0)
    twins = [claim(pen, title) for pen, title in zip(pens, ("One", "Two"), strict=True)]
    town.arrive(town.world(), *twins)

    assert chains_from_blob(holding(town).chains)[town.agent(0)] == (
        tuple(sorted(one.id for one in twins)),
    )


def test_of_many_rivals_at_one_place_a_rotation_is_named_first() -> None:
    town = Town.of(1, 5)
    world, owner = town.world(), town.pen(Role.AGENT, 0)
    rivals = [claim(owner.fork(), f"Claim {number}") for number in range(12)]
    recovery = owner.recover()
    town.arrive(world, *rivals, recovery)
    (ids,) = chains_from_blob(holding(town).chains)[owner.id]

    assert len(ids) == RIVALS
    assert set(ids) == {recovery.id, *sorted(one.id for one in rivals)[: RIVALS - 1]}


def test_of_many_rivals_above_a_strangers_inception_a_few_are_named() -> None:
    town = Town.of(1, 5)
    stranger = town.stranger(Role.AGENT)
    rivals = [claim(stranger.fork(), f"Claim {number}") for number in range(7)]
    town.arrive(town.world(), stranger.head, *rivals)
    first, second = chains_from_blob(holding(town).chains)[stranger.id]

    assert first == (stranger.id,)
    assert second == tuple(sorted(one.id for one in rivals))[:RIVALS]


def test_a_witness_names_no_more_than_the_charter_allows() -> None:
    quotas = replace(preset("test").quotas, witness_ids=64)
    town = Town.of(1, 5, quotas=quotas)
    for index in range(2):
        pen = town.pen(Role.AGENT, index)
        town.arrive(town.world(), *(claim(pen, f"Claim {index} {one}") for one in range(40)))
    chains = chains_from_blob(holding(town).chains)

    # Everybody gets an even share, whoever has written more.
    assert {author: len(levels) for author, levels in chains.items()} == {
        town.agent(0): 32,
        town.agent(1): 32,
    }


def test_a_member_says_tick_once_its_own_epoch_is_over() -> None:
    town = Town.of(1, 5)

    assert not holding(town, now=EPOCH - 1).tick
    assert holding(town, now=EPOCH).tick


def test_a_member_opens_its_secret_and_promises_the_next() -> None:
    town = Town.of(3, 6)
    signer = KeySigner(keys("town", "instance", 1).current)
    next_cut(town)
    cut = town.world(1).state.cut
    held = holding(town, 1)

    assert held.secret == signer.secret(town.founding.realm, cut + 1)
    assert held.next_hash == plain_hash(signer.secret(town.founding.realm, cut + 2))
    assert held.world == town.world(1).digest
    assert town.world().state.next_hashes[town.founding.operators[1]] == plain_hash(held.secret)


def test_a_fresh_cut_holds_the_secrets_that_were_promised() -> None:
    town = Town.of(3, 6)
    next_cut(town).rest(200)
    witnesses = [witnessed(town, index) for index in range(3)]
    value = fresh(town, witnesses)

    assert {one.member: one.secret for one in value.secrets} == {
        town.founding.operators[index]: holding(town, index).secret for index in range(3)
    }


def test_a_secret_that_was_not_promised_is_ignored() -> None:
    town = Town.of(3, 6)
    next_cut(town).rest(200)
    honest = [witnessed(town, index) for index in range(3)]
    liar = witnessed(town, 2, secret=named("another secret"))
    value = fresh(town, [*honest[:2], liar])
    secrets = {one.member: one.secret for one in value.secrets}

    assert secrets[town.founding.operators[2]] is None
    assert secrets[town.founding.operators[0]] == holding(town, 0).secret
    # Its promise for the cut after counts all the same.
    assert {one.next_hash for one in value.secrets} == {
        one.body.next_hash for one in honest if isinstance(one.body, CutWitness)
    }


def test_before_the_first_promise_no_secret_is_opened() -> None:
    town = Town.of(3, 6)
    value = fresh(town, [witnessed(town, index) for index in range(3)])

    assert [one.secret for one in value.secrets] == [None] * 3


def beacon_of(town: Town, value: CutValue) -> bytes:
    """Fold a value into a new world of the same realm and give the beacon that follows."""
    world = Town.of(3, 6).world()
    assert world.realm == town.founding.realm
    state = world.state
    fold(
        state,
        world.log,
        Contained(
            number=1,
            digest=named("cut"),
            tick=False,
            positions=positions_of(state),
            secrets=tuple(one.secret for one in value.secrets if one.secret is not None),
            next_hashes={one.member: one.next_hash for one in value.secrets},
            finals={},
            certified=frozenset(),
        ),
        {},
    )
    return state.beacon


def test_a_withheld_secret_gives_another_beacon_and_nothing_else_does() -> None:
    town = Town.of(3, 6)
    next_cut(town).rest(200)
    witnesses = [witnessed(town, index) for index in range(3)]
    whole = beacon_of(town, fresh(town, witnesses))
    without = {
        beacon_of(
            town,
            fresh(
                town,
                [
                    witnessed(town, index, secret=named("x")) if index == liar else witnesses[index]
                    for index in range(3)
                ],
            ),
        )
        for liar in range(3)
    }

    assert beacon_of(town, fresh(town, [*reversed(witnesses)])) == whole
    assert len(without) == 3
    assert whole not in without


def test_a_fresh_cut_waits_for_named_records_that_are_not_held_here() -> None:
    town = Town.of(3, 6)
    record = claim(town.pen(Role.AGENT, 0))
    chains = chains_blob({town.agent(0): ((record.id,),)}, beacon=town.world().state.beacon)
    one = witnessed(town, 1)
    named_it = Witnessed(operator=one.operator, voice=one.voice, body=one.body, chains=chains)
    outcome = cut_desk(town).fresh([witnessed(town, 0), named_it, witnessed(town, 2)])

    assert outcome == Missing(records=(record.id,))
    town.world().log.add(record)
    outcome = cut_desk(town).fresh([witnessed(town, 0), named_it, witnessed(town, 2)])
    assert isinstance(outcome, Fresh)
    (part,) = outcome.parts
    assert positions_from_blob(part.content)[town.agent(0)].head == record.id


def test_a_recovery_is_known_to_the_agreement_as_one() -> None:
    town = Town.of(1, 5)
    owner = town.pen(Role.AGENT, 0)
    thief = owner.fork()
    rivals = claim(thief), owner.recover()
    town.arrive(town.world(), *rivals)
    outcome = cut_desk(town).fresh([witnessed(town, 0)])

    assert isinstance(outcome, Fresh)
    positions = positions_from_blob(outcome.parts[0].content)
    assert positions[owner.id].head == rivals[1].id


def test_a_cut_needs_witnesses_of_a_quorum() -> None:
    town = Town.of(3, 6)
    outcome = cut_desk(town).fresh([witnessed(town, 0), witnessed(town, 1)])

    assert isinstance(outcome, NoValue)


# Rounds -------------------------------------------------------------------------------------------


def test_a_member_names_the_records_that_count_in_the_open_phase() -> None:
    town = Town.of(1, 5)
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.COMMIT)
    records = [town.cast(index, opened, 1) for index in (1, 2)]
    held = round_desk(town, opened).holding()

    assert held == ListHolding(ids=tuple(sorted(one.id for one in records)), late=False)


@pytest.mark.parametrize(("age", "late"), [(60_000, False), (60_001, True)])
def test_a_member_says_late_once_the_round_is_older_than_its_deadline(age: int, late: bool) -> None:
    town = Town.of(1, 5)
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.COMMIT)

    assert round_desk(town, opened, age=age).holding().late is late


def test_a_fresh_list_holds_what_was_named_and_counts() -> None:
    town = Town.of(1, 5)
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.COMMIT)
    good = town.cast(1, opened, 1)
    stray = claim(town.pen(Role.AGENT, 2))
    town.arrive(town.world(), stray)
    desk = round_desk(town, opened)
    unknown = named("unknown")

    assert desk.fresh(lists(town, (good.id, stray.id))) == Fresh(
        value=ListValue(records=(good.id,))
    )
    assert desk.fresh(lists(town, (good.id, unknown))) == Missing(records=(unknown,))
    assert desk.fresh(lists(town, (good.id,), late=True)) == Fresh(value=VOID)


def test_the_charter_caps_a_list() -> None:
    town = Town.of(1, 6, review=rules(list_most=2))
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.COMMIT)
    records = [town.cast(index, opened, 1) for index in (1, 2, 3)]
    outcome = round_desk(town, opened).fresh(lists(town, tuple(one.id for one in records)))

    assert isinstance(outcome, Fresh)
    assert isinstance(outcome.value, ListValue)
    assert len(outcome.value.records) == 2
