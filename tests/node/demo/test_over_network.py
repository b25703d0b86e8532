"""The demo over three processes: real sockets, real databases, a real SIGKILL."""

import json
import random
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
import trio

from node.base.entropy import random_bytes
from node.demo.cruxeval import load
from node.demo.instance import InstanceFailedError
from node.demo.metrics import by_majority, score
from node.demo.over_network import Kill, Staged, hold, stage
from node.demo.scenario import draw
from tests.node.cli.session import run_process
from tests.node.demo.verdicts import KEYS

CRUX = load()

# A request whose server is killed leaves the body that httpx was about to send to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <async_generator object ByteStream"
    ":pytest.PytestUnraisableExceptionWarning"
)


def play(root: Path, *, items: int, kills: Sequence[Kill] = ()) -> Staged:
    scenario = draw(CRUX, seed="1", items=items, reviewers=5)

    async def main() -> Staged:
        return await hold(scenario, root, reviewers=5, kills=kills)

    return trio.run(main)


def test_an_instance_that_is_killed_in_the_middle_comes_back_and_all_agree(tmp_path: Path) -> None:
    staged = play(tmp_path, items=12, kills=[Kill(place=1, after_s=2)])
    outcome = staged.outcome

    assert staged.killed == (1,)
    assert outcome.agrees
    assert len(outcome.judged) == 12
    assert staged.lost == 0
    # A proposal and five votes each; what got no answer before the kill is not counted.
    assert 12 * 6 - 20 < staged.acknowledged <= 12 * 6
    assert staged.clean_exits
    assert staged.holds
    for one in outcome.judged:
        assert len(one.verdict.ballots) >= 3
        for opened in one.verdict.ballots:
            model = outcome.agents_in_order.index(opened.voter)
            assert opened.ballot.choice == one.question.choice(model)
    assert score(outcome.judged, by_majority).accuracy is not None


def test_the_command_prints_the_same_keys_and_the_transport() -> None:
    session = run_process("demo --items 3 --reviewers 3 --json")
    told = json.loads(session.data)

    assert session.code == 0
    assert list(told) == [*KEYS, "transport"]
    assert told["transport"] == "libp2p"
    assert len(set(told["digests"])) == 1


def test_a_process_that_does_not_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    staged = stage(tmp_path, CRUX, reviewers=5, entropy=random_bytes)
    first = staged.instances[0]
    first.data.genesis.write_bytes(b"no genesis")

    with pytest.raises(InstanceFailedError, match=r"instance 0 did not start: .*GENESIS_DAMAGED"):
        trio.run(first.start)
    with pytest.raises(httpx.ConnectError):
        _ = first.url


@pytest.mark.slow
def test_twenty_kills_at_random_moments_lose_nothing(tmp_path: Path) -> None:
    # Slow: some minutes. As soon as all three are up one of them dies in the middle of whatever it
    # does; while one is away nothing becomes final.
    lots = random.Random(20)
    kills = [Kill(place=lots.randrange(3), after_s=lots.uniform(0.2, 7)) for _ in range(20)]
    staged = play(tmp_path, items=160, kills=kills)

    assert staged.killed == tuple(kill.place for kill in kills)
    assert staged.outcome.agrees
    assert staged.lost == 0
    assert staged.clean_exits
