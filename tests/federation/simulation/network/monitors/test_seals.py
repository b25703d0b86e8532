"""The monitor of sealed arguments, on letters of a network in which arguments were sealed."""

from federation.protocol import effects as fx
from federation.records import Kind, Record
from federation.simulation.network.monitors import Seals, Votes
from federation.simulation.network.quarrels import quarrel, quarrelsome

THERE = quarrelsome("sealed_first")
NETWORK = quarrel(THERE, seed="seals")
NETWORK.run_until(3_000)
NODE = NETWORK.node(0)
CAREFUL = frozenset(THERE.founding.agents)


def of_kind(kind: Kind) -> list[Record]:
    assert NODE.world is not None
    return [
        one for name in NODE.world.rounds for one in NODE.world.log.by_round(name).get(kind, ())
    ]


def findings(votes: Votes, careful: frozenset[bytes]) -> list[str]:
    monitor = Seals(votes, careful)
    for record in (*of_kind(Kind.SEAL), *of_kind(Kind.ARGUE)):
        monitor.stored(NODE, fx.StoreRecord(record=record))
    assert monitor.opened
    return [rule for rule, _ in monitor.findings]


def test_arguments_whose_seals_are_certified_may_be_read() -> None:
    (votes,) = (one for one in NETWORK.monitors if isinstance(one, Votes))

    assert findings(votes, CAREFUL) == []


def test_an_argument_that_is_opened_before_the_certificate_is_found() -> None:
    found = findings(Votes(THERE, NETWORK.verify), CAREFUL)

    assert set(found) == {"opened before the seals were certified"}


def test_what_a_liar_tells_of_its_own_agents_is_no_finding() -> None:
    assert findings(Votes(THERE, NETWORK.verify), frozenset()) == []
