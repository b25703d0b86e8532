from federation.certificates import ListWitness, Seal
from federation.simulation.network.adversaries import EquivocatingHome, Twins
from tests.simnet.eavesdrop import comes_to_rest, with_liar


def test_each_half_of_the_others_sees_one_face_only() -> None:
    network, ear = with_liar(Twins(frozenset({2, 3})))

    assert comes_to_rest(network)
    counts: dict[str, set[bytes]] = {}
    for _, to, spoken in ear.said:
        if isinstance(spoken.heard.body, ListWitness):
            counts.setdefault(to, set()).add(spoken.heard.hash)
    assert counts["i2"] == counts["i3"]
    # An empty list looks alike from both; a list of what its own agents say does not.
    assert counts["i1"] - counts["i2"]


def test_an_equivocating_home_shows_its_seals_to_its_victim_only() -> None:
    network, ear = with_liar(EquivocatingHome(frozenset({3}), 1))

    assert comes_to_rest(network)
    own = {to for _, to, spoken in ear.said if isinstance(spoken.heard.body, Seal)} - {"i3"}
    assert own == {"i1"}
    assert "i1" in ear.certified
