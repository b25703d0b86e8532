"""Admissions that a cut contains before what they rest on: how long they wait, and what they cost."""

import pytest

from federation.admission import challenge, work_bytes
from federation.core import Code, PeerError, short
from federation.crypto import KeySigner
from federation.protocol import World, inputs, rebuild, restore, snapshot, step
from federation.protocol.invariants import broken
from federation.protocol.joining import Joining
from federation.protocol.judge import Fate, judge
from federation.records import AgentAdmit, Custody, Delegate, Record, Role
from tests.builders import Chain, named
from tests.federation.protocol.acts import next_tick, refused
from tests.federation.protocol.alike import differences
from tests.federation.protocol.joiners import (
    admit_operator,
    costly,
    gated,
    minted,
    proof,
    soon,
    worthless,
)
from tests.federation.protocol.town import Town, keys, verify
from tests.federation.protocol.trial import Trial, durable_of, records_of


def early(town: Town, pen: Chain, raw: bytes | None, *, instance: int = 0) -> Record:
    """Let an instance admit a newcomer of whose own chain nothing has come yet."""
    world = town.world(instance)
    word = town.pen(Role.OPERATOR, 0).say(Delegate(agent=pen.id, scope=()))
    town.arrive(world, word)
    return town.say(
        instance,
        AgentAdmit(
            agent=pen.id,
            operator=town.founding.operators[0],
            delegate=word.id,
            custody=Custody.SELF,
            proof=raw,
        ),
    )


def comes(town: Town, pen: Chain) -> None:
    """Let the newcomer's chain come."""
    town.arrive(town.world(), *pen.records)


def joining(town: Town) -> Joining:
    return town.world().state.joining


def test_who_waits_uses_up_nothing_until_it_counts() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    work = minted(town.world(), pen, town.founding.instances[0])
    said = early(town, pen, work_bytes(work))
    soon(town)
    assert joining(town).waiting == {said.id: (said.author, 0)}
    assert (joining(town).agents, joining(town).spent) == ({}, {})
    assert not broken(town.world())
    comes(town, pen)
    soon(town)

    assert not joining(town).waiting
    assert joining(town).agents == {said.author: 1}
    assert joining(town).spent == {challenge(work): 0}
    assert not broken(town.world())


def test_who_waits_over_a_tick_counts_in_the_epoch_that_it_comes_to() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    said = early(town, pen, proof(town, pen))
    next_tick(town)
    assert said.id in joining(town).waiting
    comes(town, pen)
    soon(town)

    assert refused(town.world(), said) is None
    assert joining(town).agents == {said.author: 1}
    assert list(joining(town).spent.values()) == [0]
    assert not broken(town.world())


def test_who_waits_for_too_long_is_void() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    said = early(town, pen, proof(town, pen))
    next_tick(town, 2)
    assert judge(town.world(), said).fate is Fate.WAITS
    assert not broken(town.world())
    comes(town, pen)
    soon(town)

    # What it waited for has come; its proof holds no longer.
    assert refused(town.world(), said) is Code.PROOF_STALE
    assert not joining(town).waiting


def test_who_waits_in_vain_is_void_and_bars_nobody() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    work = minted(town.world(), pen, town.founding.instances[0])
    said = early(town, pen, work_bytes(gated(work, holds=False)))
    next_tick(town, 2)
    soon(town)

    assert refused(town.world(), said) is Code.NOT_ADMITTED
    assert not joining(town).false
    assert not joining(town).waiting


@pytest.mark.parametrize("code", [Code.PROOF_GATE, Code.PROOF_WORK])
def test_a_false_proof_that_waits_bars_its_instance_in_the_epoch_in_which_it_is_looked_at(
    code: Code,
) -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    work = minted(town.world(), pen, town.founding.instances[0])
    bad = gated(work, holds=False) if code is Code.PROOF_GATE else worthless(work)
    said = early(town, pen, work_bytes(bad))
    other = town.stranger(Role.AGENT, 2)
    good = town.admit(other, proof=proof(town, other))
    soon(town)
    assert not joining(town).false
    assert refused(town.world(), good) is None
    comes(town, pen)
    third = town.stranger(Role.AGENT, 3)
    late = town.admit(third, proof=proof(town, third))
    soon(town)

    assert refused(town.world(), said) is code
    assert refused(town.world(), late) is Code.INSTANCE_BARRED
    assert joining(town).false == {said.author}
    assert not broken(town.world())


def test_what_waits_of_a_barred_instance_is_void_if_it_could_count_and_else_waits_on() -> None:
    town = costly()
    one, two = (town.stranger(Role.AGENT, number) for number in (1, 2))
    first, second = (early(town, pen, proof(town, pen)) for pen in (one, two))
    soon(town)
    liar = town.stranger(Role.OPERATOR, 7)
    work = minted(town.world(), liar, town.founding.instances[0])
    false = admit_operator(town, liar, work_bytes(worthless(work)))
    comes(town, one)
    soon(town)
    assert refused(town.world(), false) is Code.PROOF_WORK
    assert refused(town.world(), first) is Code.INSTANCE_BARRED
    next_tick(town)
    comes(town, two)
    soon(town)

    assert refused(town.world(), second) is None
    assert two.id in town.world().state.agents


def test_quotas_hold_for_those_that_waited_too() -> None:
    town = costly(instance_least=1)
    pen = town.stranger(Role.AGENT)
    said = early(town, pen, proof(town, pen))
    soon(town)
    comes(town, pen)
    other = town.stranger(Role.AGENT, 2)
    late = town.admit(other, proof=proof(town, other))
    soon(town)

    assert refused(town.world(), said) is None
    assert refused(town.world(), late) is Code.OVER_QUOTA


def waited() -> tuple[Trial, Chain, Record]:
    """Give a town whose newest cut has an admission that waits, for whom, and the admission."""
    town = costly(2, 4)
    pen = town.stranger(Role.AGENT)
    said = early(town, pen, proof(town, pen))
    soon(town)
    assert all(said.id in world.state.joining.waiting for world in town.live())
    return town, pen, said


def back(town: Trial, content: bytes | None) -> World:
    """Start the first instance anew from what it stored."""
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


def test_a_start_from_a_snapshot_finds_who_waits_and_goes_on_alike() -> None:
    town, pen, said = waited()
    content = snapshot.take(town.world())
    quick, slow = back(town, content), back(town, None)
    assert differences(quick, slow) == []
    assert quick.state.joining.waiting == {said.id: (said.author, 0)}
    comes(town, pen)
    soon(town)
    quick, slow = back(town, content), back(town, None)

    assert differences(quick, slow) == []
    assert pen.id in quick.state.agents
    assert len({one.digest for one in town.live()}) == 1


def test_a_snapshot_that_lets_wait_what_the_log_lacks_is_refused() -> None:
    town, _, said = waited()
    world = town.world()
    world.state.joining.waiting[named("nothing")] = (said.author, 0)

    with pytest.raises(PeerError, match=short(named("nothing"))):
        snapshot.read(snapshot.take(world), charter=world.charter, log=world.log)


def test_a_fold_from_genesis_comes_to_who_waited() -> None:
    town, pen, said = waited()
    comes(town, pen)
    soon(town)
    soon(town)
    world = town.world()
    built = rebuild(
        town.founding.charter,
        town.founding.records,
        records_of(world)[::-1],
        durable_of(town.stored[town.founding.instances[0]]).blobs,
        verify=verify,
    )

    assert built.state.cut >= world.state.cut - 1
    assert built.state.joining == world.state.joining
    assert refused(built, said) is None
    assert pen.id in built.state.agents


def test_proofs_of_those_that_wait_are_verified_outside_once_they_may_count() -> None:
    town = costly()
    town.world().prove = lambda _: None
    pen = town.stranger(Role.AGENT)
    raw = proof(town, pen)
    early(town, pen, raw)
    soon(town)
    assert town.world().asked_work is None
    comes(town, pen)
    world = town.world()
    town.until(lambda _: world.asked_work is not None)
    assert world.asked_work is not None
    assert world.asked_work.proofs == (raw,)
    step(world, inputs.Proven(cut=world.asked_work.cut, verdicts=(True,)), town.now)

    assert pen.id in world.state.agents
