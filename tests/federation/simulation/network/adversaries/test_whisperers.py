from federation.certificates import Seal
from federation.records import Commit, Record
from federation.simulation.network.adversaries import (
    CertificateWithholder,
    ForgedMembers,
    LateFeeder,
)
from federation.simulation.network.letters import GiveMissing, Gossip, Letter
from federation.simulation.network.watch import REVIEW
from tests.simnet.eavesdrop import comes_to_rest, four, with_liar


def records_in(letter: Letter) -> tuple[Record, ...]:
    return letter.records if isinstance(letter, Gossip | GiveMissing) else ()


def test_a_certificate_withholder_shows_seals_and_certificates_to_one_only() -> None:
    network, ear = with_liar(CertificateWithholder(2))

    assert comes_to_rest(network)
    assert {to for _, to, one in ear.said if isinstance(one.heard.body, Seal)} == {"i2"}
    assert set(ear.certified) == {"i2"}


def test_forged_members_are_shown_to_the_victim_only_and_refused() -> None:
    conduct = ForgedMembers(2)
    network, ear = with_liar(conduct)

    assert comes_to_rest(network)
    assert network.counters["refused.NOT_ELIGIBLE"] > 0
    assert "i2" in ear.certified
    node = network.node(0)
    node.world = None
    conduct.pulse(node)


def test_a_late_feeder_keeps_its_agents_commitments_until_the_last_moment() -> None:
    conduct = LateFeeder(2)
    network, ear = with_liar(conduct, place=1)

    assert comes_to_rest(network)
    agents = {four().founding.agents[place] for place, home in enumerate(four().homes) if home == 1}
    fed = [
        (when, to)
        for when, to, letter in ear.letters
        for record in records_in(letter)
        if isinstance(record.body, Commit) and record.author in agents
    ]
    assert {to for _, to in fed} == {"i2"}
    assert min(when for when, _ in fed) >= REVIEW.commit


def test_what_others_say_passes_a_late_feeder() -> None:
    conduct = LateFeeder(2)
    network, ear = with_liar(conduct, place=1)
    comes_to_rest(network)

    assert any(records_in(letter) for _, to, letter in ear.letters if to == "i3")
