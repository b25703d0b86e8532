import pytest

from federation.core import RefusedError
from federation.protocol import effects as fx
from federation.records import ArtifactText
from federation.simulation.network.community import community
from federation.simulation.network.links import Line, Weather
from federation.simulation.network.monitors import Monitor, Violation
from federation.simulation.network.network import SignatureCache, SimNetwork, Thinking
from federation.simulation.network.node import SimNode
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest

THERE = community(3, agents=5, timing=TIMING, review=REVIEW)


def network_of(**more: object) -> SimNetwork:
    network = SimNetwork(THERE, seed="7", **more)  # type: ignore[arg-type]
    network.start()
    network.at(20, lambda: network.propose(0))
    return network


def test_three_instances_decide_together() -> None:
    network = network_of()

    assert network.run_until(lambda: is_at_rest(network))
    assert network.is_level()
    assert len({world.digest for world in network.worlds}) == 1
    assert len(network.worlds[0].state.artifacts) == 1


def test_the_same_seed_gives_the_same_transcript_and_another_seed_another() -> None:
    def hash_of(seed: str) -> str:
        network = SimNetwork(THERE, seed=seed, weather=Weather(line=Line(loss=99_000)))
        network.start()
        network.at(20, lambda: network.propose(0))
        network.run_until(3_000)
        return network.transcript.hash

    assert hash_of("1") == hash_of("1")
    assert hash_of("1") != hash_of("2")


def test_lines_are_kept_only_if_asked_for() -> None:
    quiet, loud = network_of(), network_of(keeps_lines=True)
    for network in (quiet, loud):
        network.run_until(500)

    assert quiet.transcript.lines == []
    assert any(line.startswith("0 i") or " i0 " in line for line in loud.transcript.lines)
    assert quiet.transcript.hash == loud.transcript.hash


def test_a_run_ends_at_a_time_or_when_it_was_long_enough() -> None:
    network = network_of()
    network.run_until(250)

    assert network.now <= 250
    assert not network.run_until(lambda: False, most=400)
    assert network.now <= 400


def test_a_run_with_nothing_to_do_ends() -> None:
    network = SimNetwork(THERE, seed="never started")

    assert not network.run_until(lambda: False)


def test_what_a_monitor_finds_stops_the_run_with_seed_and_time() -> None:
    class Picky(Monitor):
        def stepped(self, node: SimNode) -> None:
            if node.host.timeline.now > 100:
                self.broke("a rule", "a detail")

    network = network_of(monitors=[Picky()])
    with pytest.raises(Violation, match=r"a rule: a detail \(seed 7, at \d+ ms\)") as caught:
        network.run_until(1_000)

    assert caught.value.at > 100
    assert (caught.value.rule, caught.value.seed) == ("a rule", "7")


def test_what_a_monitor_finds_at_the_end_counts_too() -> None:
    class Late(Monitor):
        def finish(self) -> None:
            self.broke("the end", "was bad")

    network = network_of(monitors=[Late()])
    network.run_until(100)
    with pytest.raises(Violation, match="the end"):
        network.finish()


def test_a_censor_drops_what_it_likes_until_links_are_good() -> None:
    network = network_of(weather=Weather(good_from=1_500), censor=bool)
    network.run_until(1_400)

    assert {world.state.cut for world in network.worlds} == {0}
    assert network.run_until(lambda: is_at_rest(network))


def test_listeners_hear_all_news() -> None:
    network = network_of()
    heard: list[str] = []
    network.listeners.append(lambda _node, tell: heard.append(tell.event))
    network.run_until(lambda: is_at_rest(network))

    assert heard.count("verdict") == 3
    assert {"cut", "round", "phase", "verdict"} <= set(heard)


def test_a_proposal_can_bring_its_own_content() -> None:
    network = network_of()
    content = ArtifactText(
        title="Water", prose="It boils.", claims=("at 100 °C",), falsification=(), sources=()
    )
    record = network.propose(1, content=content, topics=("physics",))

    assert record is not None
    assert record.text_raw is not None
    assert b"It boils." in record.text_raw


def test_the_door_refuses_a_second_artifact_with_the_same_text_once_the_first_counts() -> None:
    network = network_of()
    network.propose(1, "twice")
    network.run_until(lambda: bool(network.worlds[0].state.artifacts))

    with pytest.raises(RefusedError):
        network.propose(2, "twice")


def test_nobody_proposes_through_an_instance_that_is_down() -> None:
    network = network_of()
    network.node(0).crash(down_for=500)

    assert network.propose(0) is None
    network.attend(network.agents[0])
    assert not network.is_level()


def test_refusals_are_counted() -> None:
    network = network_of(keeps_lines=True)
    network.refused(network.node(0), fx.Refused(peer=None, code="BAD_SIGNATURE", why="it is bad"))

    assert network.counters["refused.BAD_SIGNATURE"] == 1
    assert "BAD_SIGNATURE" in network.transcript.lines[-1]


def test_slow_thinkers_decide_later() -> None:
    def time_to_verdict(thinking: Thinking) -> int:
        network = network_of(thinking=thinking)
        network.run_until(
            lambda: any(one.verdict for w in network.worlds for one in w.rounds.values())
        )
        return network.now

    assert time_to_verdict(Thinking(shortest=400, longest=500)) > time_to_verdict(Thinking())


def test_a_signature_is_checked_once() -> None:
    signer = network_of().node(0).signer
    verify = SignatureCache()
    signature = signer.sign(b"payload")

    assert verify(signer.public, b"payload", signature)
    assert verify(signer.public, b"payload", signature)
    assert not verify(signer.public, b"other", signature)
    assert len(verify._known) == 2
