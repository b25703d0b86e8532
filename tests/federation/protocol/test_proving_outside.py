"""Proofs that the shell verifies: a cut waits for verdicts, asks for few at a time, and agrees."""

from collections.abc import Iterable

import pytest

from federation.admission import prove, work_bytes
from federation.core import Code, ParameterError
from federation.crypto import KeySigner, plain_hash
from federation.protocol import World, inputs, rebuild, restore, snapshot, step
from federation.protocol import effects as fx
from federation.protocol.invariants import broken
from federation.records import AgentVouch, Record, Role
from federation.trust import edge_cap, reckon
from tests.builders import named
from tests.federation.protocol.acts import refused
from tests.federation.protocol.alike import differences
from tests.federation.protocol.joiners import (
    admit_operator,
    costly,
    minted,
    proof,
    soon,
    worthless,
)
from tests.federation.protocol.test_progress import Follower, all_records
from tests.federation.protocol.town import Town, keys, verify
from tests.federation.protocol.trial import Trial, records_of


def elsewhere(asked: object) -> None:
    """Tell nothing here, as a node does with what it has not verified yet."""
    del asked


def hashed(*raws: bytes) -> set[bytes]:
    return {plain_hash(raw) for raw in raws}


def waiting(town: Town) -> fx.Prove:
    """Let a proposal call a cut, and time pass until the core has asked about it."""
    town.propose(0, f"A claim for cut {town.world().state.cut + 1}")
    return asked(town)


def asked(town: Town) -> fx.Prove:
    town.until(lambda town: town.world().asked_work is not None, most=10**5)
    question = town.world().asked_work
    assert question is not None
    return question


def answer(town: Town, question: fx.Prove, verdicts: Iterable[bool] | None = None) -> None:
    """Answer as the shell does."""
    told = tuple(map(prove, question.proofs)) if verdicts is None else tuple(verdicts)
    town._run(town.world(), inputs.Proven(cut=question.cut, verdicts=told))


def crowd(
    town: Town, good: int, bad: int = 0, *, first_bad: int = 0
) -> tuple[list[Record], list[bytes]]:
    """Let an instance admit some; `bad` of them, from place `first_bad` on, by no work."""
    records, raws = [], []
    for number in range(good + bad):
        pen = town.stranger(Role.AGENT, number)
        work = minted(town.world(), pen, town.founding.instances[0])
        is_bad = first_bad <= number < first_bad + bad
        raws.append(work_bytes(worthless(work) if is_bad else work))
        records.append(town.admit(pen, proof=raws[-1]))
    return records, raws


def outside(**fields: int) -> Trial:
    town = costly(1, **fields)
    town.world().prove = elsewhere
    return town


def test_a_cut_waits_for_verdicts_and_comes_out_as_if_they_were_found_here() -> None:
    town, twin = outside(), costly(1)
    for one in (town, twin):
        crowd(one, 2, 1, first_bad=1)
    question = waiting(town)
    other = soon(twin)
    cut = town.world().state.cut
    town.rest(3_000)
    world = town.world()
    assert world.state.cut == cut
    answer(town, question)

    assert world.state.cut == cut + 1
    assert world.state.refused == other.state.refused
    assert len(world.state.refused) == 2
    assert world.digest == other.digest
    assert (world.asked_work, world.proven, world.vetted) == (None, {}, None)
    assert not broken(world)


def test_the_core_asks_once_and_takes_records_meanwhile() -> None:
    town = outside()
    crowd(town, 2)
    waiting(town)
    record = town.propose(1, "Meanwhile")
    effects = [one for _ in range(10) for one in step(town.world(), inputs.Wake(), town.now)]

    assert record.id in town.world().log
    assert not [one for one in effects if isinstance(one, fx.Prove)]


def test_eight_are_asked_about_at_a_time() -> None:
    town = outside(instance_least=20, operator_agents=40)
    records, raws = crowd(town, 19)
    world = town.world()
    seen = []
    question: fx.Prove | None = waiting(town)
    while question is not None:
        seen.append(list(question.proofs))
        answer(town, question)
        question = world.asked_work

    assert seen == [raws[:8], raws[8:16], raws[16:]]
    assert [refused(world, record) for record in records] == [None] * 19


def test_as_many_more_are_asked_about_as_were_found_good() -> None:
    town = outside(instance_least=70, operator_agents=90)
    records, raws = crowd(town, 40, 30, first_bad=16)
    world = town.world()
    seen = []
    question: fx.Prove | None = waiting(town)
    while question is not None:
        seen.append(list(question.proofs))
        answer(town, question)
        question = world.asked_work

    # Sixteen good ones buy a liar sixteen hashes of everybody else, and no more.
    assert seen == [raws[:8], raws[8:16], raws[16:32]]
    came_to = [refused(world, record) for record in records]
    assert came_to[:16] == [None] * 16
    assert came_to[16] is Code.PROOF_WORK
    assert set(came_to[17:]) == {Code.INSTANCE_BARRED}


def test_a_large_crowd_is_asked_about_in_few_rounds() -> None:
    town = outside(instance_least=200, operator_agents=300)
    records, _ = crowd(town, 130)
    world = town.world()
    seen = []
    question: fx.Prove | None = waiting(town)
    while question is not None:
        seen.append(len(question.proofs))
        answer(town, question)
        question = world.asked_work

    assert seen == [8, 8, 16, 32, 64, 2]
    assert not any(refused(world, record) for record in records)


def test_a_liar_costs_eight_hashes_however_many_it_admits() -> None:
    town = outside(instance_least=40, operator_agents=60)
    records, raws = crowd(town, 0, 30)
    question = waiting(town)
    answer(town, question)
    world = town.world()

    assert list(question.proofs) == raws[:8]
    assert world.asked_work is None
    codes = [refused(world, record) for record in records]
    assert codes == [Code.PROOF_WORK] + [Code.INSTANCE_BARRED] * 29


def test_nothing_is_asked_after_a_proof_that_is_known_to_be_false() -> None:
    town = outside(instance_least=40, operator_agents=60)
    world = town.world()
    records, raws = crowd(town, 20, 1, first_bad=5)
    known = {raws[5]: False}
    world.prove = known.get
    question = waiting(town)
    answer(town, question)

    assert list(question.proofs) == raws[:5]
    assert [refused(world, record) for record in records[:7]] == [
        *[None] * 5,
        Code.PROOF_WORK,
        Code.INSTANCE_BARRED,
    ]


def test_what_the_shell_knows_already_is_not_asked() -> None:
    town = outside()
    _, raws = crowd(town, 3)
    known = {raws[0]: True, raws[2]: True}
    town.world().prove = known.get
    question = waiting(town)

    assert list(question.proofs) == [raws[1]]
    assert set(town.world().proven) == hashed(raws[0], raws[2])
    answer(town, question)
    assert town.world().state.joining.count(Role.AGENT, town.founding.instances[0]) == 3


def test_what_cannot_count_anyway_is_not_asked_about() -> None:
    town = outside(instance_least=2)
    records, raws = crowd(town, 3)
    duplicate = town.admit(town.stranger(Role.AGENT, 0), proof=raws[0])
    gone = town.stranger(Role.AGENT, 50)
    bad = proof(town, gone)
    gone.revoke()
    town.admit(gone, proof=bad)
    operator = town.stranger(Role.OPERATOR)
    mine = proof(town, operator)
    admit_operator(town, operator, mine)
    question = waiting(town)

    assert list(question.proofs) == [mine, *raws[:2]]
    answer(town, question)
    assert refused(town.world(), records[2]) is Code.OVER_QUOTA
    assert refused(town.world(), duplicate) is Code.DUPLICATE


@pytest.mark.parametrize("verdicts", [(), (True,), (True, True, True)])
def test_an_answer_that_is_none_is_refused_and_the_cut_waits_on(verdicts: tuple[bool, ...]) -> None:
    town = outside()
    crowd(town, 2)
    question = waiting(town)
    cut = town.world().state.cut
    with pytest.raises(ParameterError, match="verdicts"):
        answer(town, question, verdicts)

    assert (town.world().state.cut, town.world().asked_work) == (cut, question)
    answer(town, question)
    assert town.world().state.cut == cut + 1


def test_an_answer_to_another_question_changes_nothing() -> None:
    town = outside()
    crowd(town, 2)
    question = waiting(town)
    world, cut = town.world(), town.world().state.cut
    answer(town, fx.Prove(cut=named("other"), proofs=question.proofs), (False, False))
    assert (world.state.cut, world.asked_work, world.proven) == (cut, question, {})
    answer(town, question)
    answer(town, question, (False, False))

    assert (world.state.cut, world.proven) == (cut + 1, {})
    assert not world.state.refused


def test_the_fold_believes_the_verdicts_that_it_is_given() -> None:
    town = outside()
    records, _ = crowd(town, 1, 1, first_bad=1)
    answer(town, waiting(town), (False, True))

    codes = [refused(town.world(), record) for record in records]
    assert codes == [Code.PROOF_WORK, Code.INSTANCE_BARRED]


def test_trust_and_proofs_are_worked_on_at_the_same_time_and_answered_in_any_order() -> None:
    worlds = []
    for trust_first in (True, False):
        town = outside()
        world = town.world()
        town.arrive(world, town.sign(1, AgentVouch(agent=town.agent(2), weight=9, reason="")))
        soon(town)
        world.solve = elsewhere
        crowd(town, 2)
        question = asked(town)
        assert world.asked_trust == question.cut
        problem = world.state.graph.problem(
            seeds=frozenset(town.founding.agents),
            silent=frozenset(),
            edge_cap=edge_cap(world.charter.trust),
        )
        trust = inputs.Reckoned(cut=question.cut, trust=reckon(problem))
        if trust_first:
            town._run(world, trust)
        assert world.state.tick == 0
        answer(town, question)
        if not trust_first:
            assert world.state.tick == 0
            # Nothing is left to look at when the next record comes.
            assert world.vetted == question.cut
            town._run(world, trust)
        assert world.state.tick == 1
        worlds.append(world)

    assert worlds[0].digest == worlds[1].digest


def test_a_node_that_stops_while_proofs_are_verified_comes_back_beyond_the_cut() -> None:
    town = outside()
    crowd(town, 2, 1)
    waiting(town)
    picture = snapshot.take(town.world())
    cut = town.world().state.cut

    def back(content: bytes | None) -> World:
        found, _ = restore(
            town.founding.charter,
            town.founding.records,
            town.durable(0),
            instance=town.founding.instances[0],
            signer=KeySigner(keys(town.seed, "instance", 0).current),
            now=town.now,
            verify=verify,
            snapshot=content,
        )
        return found

    folded, revived = back(None), back(picture)

    assert (town.world().state.cut, folded.state.cut) == (cut, cut + 1)
    assert differences(folded, revived) == []
    assert not broken(revived)


def test_who_may_not_be_asked_yet_is_asked_after_a_restart() -> None:
    town = outside()
    crowd(town, 2)
    question = waiting(town)
    world, effects = restore(
        town.founding.charter,
        town.founding.records,
        town.durable(0),
        instance=town.founding.instances[0],
        signer=KeySigner(keys(town.seed, "instance", 0).current),
        now=town.now,
        verify=verify,
        prove=elsewhere,
    )

    assert question in effects
    step(world, inputs.Proven(cut=question.cut, verdicts=(True, True)), town.now)
    assert world.state.cut == town.world().state.cut + 1


def test_an_observer_folds_the_log_by_itself_and_comes_to_the_same() -> None:
    town = costly(1)
    crowd(town, 2, 1, first_bad=1)
    world = soon(town)
    # Its certificate is a record from the next cut on.
    soon(town)
    follower = Follower(town)
    follower.take(*all_records(town))
    blobs = [
        one.content
        for one in town.stored[town.founding.instances[0]]
        if isinstance(one, fx.StoreBlob)
    ]
    built = rebuild(
        town.founding.charter, town.founding.records, records_of(world), blobs, verify=verify
    )

    for other in (follower.world, built):
        assert other.state.cut >= 1
        assert other.state.refused == world.state.refused
        assert other.state.joining == world.state.joining
