import pytest

from federation.certificates import Cosign, Promise, Propose, RoundSlot, Seal
from federation.simulation.network.adversaries import (
    LockIgnorer,
    LockInventor,
    SelectiveLeader,
    StallingLeader,
)
from federation.simulation.network.adversaries.leaders import invented_lock
from federation.simulation.network.watch import TIMING
from federation.simulation.network.worst_cases import shown_to_one
from tests.simnet.eavesdrop import Ear, comes_to_rest, with_liar


def test_a_lock_ignorer_proposes_cosigns_and_seals_its_wish_where_it_leads() -> None:
    conduct = LockIgnorer()
    network = shown_to_one(1, conduct=conduct)
    ear = Ear("i3")
    network.monitors = (*network.monitors, ear)
    network.run_until(5_900)
    bodies = [
        spoken.heard.body
        for _, _, spoken in ear.said
        if spoken.heard.header.counter >= 1 << 40 and isinstance(spoken.slot, RoundSlot)
    ]
    proposals = [body for body in bodies if isinstance(body, Propose)]

    assert conduct.lies >= 3
    assert {type(body) for body in bodies} == {Propose, Cosign, Seal}
    assert all(body.fence > 0 and body.lock is None for body in proposals)


def test_a_lock_inventor_claims_a_lock_in_every_promise_and_behind_its_proposals() -> None:
    conduct = LockInventor()
    network = shown_to_one(1, conduct=conduct)
    ear = Ear("i3")
    network.monitors = (*network.monitors, ear)
    network.run_until(5_900)
    in_rounds = [one.heard.body for _, _, one in ear.said if isinstance(one.slot, RoundSlot)]
    promises = [body for body in in_rounds if isinstance(body, Promise)]
    proposals = [body for body in in_rounds if isinstance(body, Propose) and body.fence > 0]

    assert promises
    assert proposals
    assert all(body.lock_fence == body.fence - 1 for body in promises)
    assert all(body.lock is not None for body in proposals)


def test_an_invented_lock_has_the_voices_of_a_quorum_and_no_signature() -> None:
    network, _ = with_liar(LockInventor())
    assert network.node(0).world is not None
    (live,) = network.node(0).world.slots.values()  # type: ignore[union-attr]
    lock, parts = invented_lock(live.pinned, 4)

    assert lock.fence == 4
    assert len(lock.cosigns) == 3
    assert {one.signature for one in lock.cosigns} == {bytes(64)}
    assert len(parts) == 2


def test_a_selective_leader_proposes_to_one_other_of_four() -> None:
    network, ear = with_liar(SelectiveLeader())

    assert comes_to_rest(network)
    asked: dict[bytes, set[str]] = {}
    for _, to, spoken in ear.said:
        if isinstance(spoken.heard.body, Propose):
            asked.setdefault(spoken.heard.hash, set()).add(to)
    assert asked
    assert all(len(receivers) == 1 for receivers in asked.values())


@pytest.mark.parametrize("margin", [15, 60])
def test_a_stalling_leader_proposes_just_before_its_timer_ends(margin: int) -> None:
    network, ear = with_liar(StallingLeader(margin))
    assert comes_to_rest(network)
    waits = []
    for when, _, spoken in ear.said:
        if isinstance(spoken.heard.body, Propose) and spoken.heard.body.fence == 0:
            witness = min(
                at
                for at, _, one in ear.said
                if one.slot == spoken.slot and one.heard.header.step == "witness"
            )
            waits.append(when - witness)

    assert waits
    assert min(waits) >= TIMING.leader_timer - margin
