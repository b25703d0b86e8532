from dataclasses import replace

from msgspec.structs import replace as changed

from federation.artifacts import State
from federation.certificates import Phase
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.protocol import World
from federation.protocol import effects as fx
from federation.records import Kind, Record, Reveal
from federation.simulation.network.community import community
from federation.simulation.network.letters import AskHello, Gossip, Sent
from federation.simulation.network.monitors import Rounds, Votes
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest, watched

THERE = community(1, agents=5, timing=TIMING, review=REVIEW)
CAREFUL = frozenset(THERE.founding.agents)


def decided() -> SimNetwork:
    """One instance whose one artifact is active."""
    network = watched(THERE, seed="rounds")
    network.start()
    network.at(20, lambda: network.propose(0))
    assert network.run_until(lambda: is_at_rest(network))
    return network


NETWORK = decided()
NODE = NETWORK.node(0)
(WORLD,) = NETWORK.worlds


def votes_of(network: SimNetwork) -> Votes:
    (found,) = (one for one in network.monitors if isinstance(one, Votes))
    return found


def blind() -> Votes:
    """Make a counting monitor that has seen no certificate."""
    return Votes(THERE, NETWORK.verify)


def of_kind(world: World, kind: Kind) -> list[Record]:
    return world.log.by_kind(kind)


def rules(monitor: Rounds) -> list[str]:
    return [rule for rule, _ in monitor.findings]


def see(monitor: Rounds, record: Record) -> None:
    monitor.stored(NODE, fx.StoreRecord(record=record))


def test_reveals_after_the_certificate_are_fine() -> None:
    monitor = Rounds(votes_of(NETWORK), CAREFUL)
    for kind in (Kind.PROPOSE, Kind.COMMIT, Kind.REVEAL):
        for record in of_kind(WORLD, kind):
            see(monitor, record)

    assert rules(monitor) == []


def test_a_reveal_before_any_certificate_is_found_once() -> None:
    monitor = Rounds(blind(), CAREFUL)
    record = of_kind(WORLD, Kind.REVEAL)[0]
    see(monitor, record)
    see(monitor, record)

    assert rules(monitor) == ["revealed before the box was shut"]


def test_a_reveal_that_an_instance_stores_before_it_holds_the_certificate_itself_is_found() -> None:
    votes = votes_of(NETWORK)
    monitor = Rounds(votes, CAREFUL)
    for record in of_kind(WORLD, Kind.COMMIT):
        see(monitor, record)
    accepted, votes.accepted = votes.accepted, set()
    try:
        see(monitor, of_kind(WORLD, Kind.REVEAL)[0])
    finally:
        votes.accepted = accepted

    assert rules(monitor) == ["revealed before the box was shut"]


def test_a_reveal_on_its_way_counts_as_one() -> None:
    monitor = Rounds(blind(), CAREFUL)
    record = of_kind(WORLD, Kind.REVEAL)[0]
    monitor.sent(NODE, Sent(sender=bytes(32), receiver=bytes(32), letter=Gossip(records=(record,))))
    monitor.sent(NODE, Sent(sender=bytes(32), receiver=bytes(32), letter=AskHello()))
    monitor.stored(NODE, fx.StoreSilence(until=0))

    assert rules(monitor) == ["revealed before the box was shut"]


def test_a_reveal_of_what_the_box_does_not_list_is_found() -> None:
    monitor = Rounds(votes_of(NETWORK), CAREFUL)
    author = THERE.founding.agents[0]
    listed = of_kind(WORLD, Kind.REVEAL)[0]
    body = listed.body
    assert isinstance(body, Reveal)
    ballot = Ballot(Choice.FOR, Reason.NOVEL, Basis.TOOL)
    # The author of the artifact has no commitment in the box.
    stranger = changed(
        listed,
        id=b"x" * 32,
        body=Reveal(round=body.round, after=body.after, ballot=ballot, nonce=bytes(32)),
        statement=replace_author(listed, author),
    )
    see(monitor, stranger)

    assert rules(monitor) == ["revealed before the box was shut"]


def replace_author(record: Record, author: bytes) -> object:
    return changed(record.statement, author=author)


def test_a_careless_agent_may_leak() -> None:
    monitor = Rounds(blind(), frozenset())
    see(monitor, of_kind(WORLD, Kind.REVEAL)[0])

    assert rules(monitor) == []


def test_a_certified_list_that_changes_is_found() -> None:
    network = decided()
    monitor = Rounds(votes_of(network), CAREFUL)
    node = network.node(0)
    monitor.stepped(node)
    assert rules(monitor) == []
    (one,) = network.worlds[0].rounds.values()
    one.finals[Phase.DECIDE] = replace(one.finals[Phase.DECIDE], records=())
    monitor.stepped(node)

    assert rules(monitor) == ["a certified list changed"]


def test_two_verdicts_of_one_round_are_found() -> None:
    network = decided()
    monitor = Rounds(votes_of(network), CAREFUL)
    node = network.node(0)
    monitor.stepped(node)
    (one,) = network.worlds[0].rounds.values()
    assert one.verdict is not None
    one.verdict = replace(one.verdict, v_ppm=0)
    monitor.stepped(node)

    assert rules(monitor) == ["two verdicts"]


def test_an_artifact_that_is_active_without_certificates_is_found() -> None:
    monitor = Rounds(blind(), CAREFUL)
    monitor.stepped(NODE)

    assert {artifact.state for artifact in WORLD.state.artifacts.values()} == {State.ACTIVE}
    assert rules(monitor) == ["active without a certified path"]


def test_a_retracted_artifact_needs_no_path() -> None:
    network = decided()
    monitor = Rounds(blind(), CAREFUL)
    artifacts = network.worlds[0].state.artifacts
    for name, artifact in artifacts.items():
        artifacts[name] = replace(artifact, state=State.RETRACTED)
    monitor.stepped(network.node(0))

    assert rules(monitor) == []


def test_an_instance_that_is_down_has_nothing_to_judge() -> None:
    network = decided()
    node = network.node(0)
    node.world = None
    monitor = Rounds(blind(), CAREFUL)
    monitor.stepped(node)

    assert rules(monitor) == []
