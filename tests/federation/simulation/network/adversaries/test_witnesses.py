from federation.certificates import MOST_LISTED, CutWitness, ListWitness
from federation.simulation.network.adversaries import InventedIds
from federation.simulation.network.adversaries.witnesses import invented_ids
from tests.simnet.eavesdrop import comes_to_rest, with_liar


def test_invented_ids_are_as_many_as_asked_for_and_ascend() -> None:
    ids = invented_ids(b"seed", 40)

    assert list(ids) == sorted(set(ids))
    assert len(ids) == 40
    assert ids != invented_ids(b"other", 40)


def test_every_witness_is_full_of_records_that_do_not_exist_and_the_same_to_everybody() -> None:
    network, ear = with_liar(InventedIds())

    assert comes_to_rest(network)
    bodies = [spoken.heard.body for _, _, spoken in ear.said]
    lists = [body for body in bodies if isinstance(body, ListWitness)]
    cuts = [spoken for _, _, spoken in ear.said if isinstance(spoken.heard.body, CutWitness)]
    assert {len(body.ids) for body in lists} == {MOST_LISTED}
    by_slot: dict[object, set[bytes]] = {}
    for _, _, spoken in ear.said:
        if isinstance(spoken.heard.body, ListWitness | CutWitness):
            by_slot.setdefault(spoken.slot, set()).add(spoken.heard.hash)
    assert cuts
    assert {len(names) for names in by_slot.values()} == {1}
