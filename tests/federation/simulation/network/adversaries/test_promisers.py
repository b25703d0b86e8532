from federation.certificates import Cosign, PartKind, Promise, Seal
from federation.simulation.network.adversaries import FenceRaiser, LockDenier, LockWithholder
from federation.simulation.network.adversaries.liar import Liar
from federation.simulation.network.adversaries.promisers import FAR
from federation.simulation.network.worst_cases import shown_to_one
from tests.simnet.eavesdrop import Ear, comes_to_rest, with_liar


def promises_of(conduct: Liar) -> list[tuple[Promise, set[PartKind]]]:
    """Promises of a liar that holds a lock, with the kinds of parts beside them."""
    network = shown_to_one(1, conduct=conduct)
    ear = Ear("i3")
    network.monitors = (*network.monitors, ear)
    network.run_until(5_900)
    return [
        (one.heard.body, {part.kind for part in one.parts})
        for _, _, one in ear.said
        if isinstance(one.heard.body, Promise)
    ]


def test_a_liar_that_tells_the_truth_hands_its_lock_over() -> None:
    promises = promises_of(Liar())

    assert any(body.lock_fence is not None and PartKind.LOCK in kinds for body, kinds in promises)


def test_a_lock_withholder_claims_its_lock_without_handing_it_over() -> None:
    promises = promises_of(LockWithholder())

    assert any(body.lock_fence is not None for body, _ in promises)
    assert not any(PartKind.LOCK in kinds for _, kinds in promises)


def test_a_lock_denier_never_claims_its_lock() -> None:
    conduct = LockDenier()
    promises = promises_of(conduct)

    assert conduct.lies > 0
    assert promises
    assert all(body.lock_fence is None for body, _ in promises)


def test_a_fence_raiser_signs_far_away_in_every_slot_once() -> None:
    conduct = FenceRaiser()
    network, ear = with_liar(conduct)

    assert comes_to_rest(network)
    far = [
        spoken.heard
        for _, to, spoken in ear.said
        if getattr(spoken.heard.body, "fence", 0) == FAR and to == "i1"
    ]
    assert {type(heard.body) for heard in far} == {Promise, Cosign, Seal}
    assert len({heard.header.slot for heard in far}) * 3 == len(far) == conduct.lies
    node = network.node(0)
    node.world = None
    conduct.pulse(node)
