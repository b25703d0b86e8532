"""`folkmoot demo`: hold a moot on real answers and compare its verdicts with the truth."""

import argparse
import re
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Final

import trio

from node.cli.command import Command, between, word
from node.cli.errors import Code, CommandError, Exit, UsageError
from node.cli.output import Output
from node.cli.progress import bar
from node.demo import over_network
from node.demo.agents import RefusedByNodeError
from node.demo.cruxeval import load
from node.demo.in_process import hold
from node.demo.instance import InstanceFailedError
from node.demo.outcome import Outcome, Progress, UnfinishedError
from node.demo.over_network import Kill
from node.demo.realm import INSTANCES, QUORUM
from node.demo.realm import found_realm as found_demo
from node.demo.report import (
    Summary,
    close_up,
    network_facts,
    network_summary,
    summary,
    tables,
)
from node.demo.scenario import Scenario, draw

ITEMS: Final = 40
ITEMS_IN_PROCESS: Final = 60
REVIEWERS: Final = 9
SEED: Final = "1"
_ALL_ITEMS: Final = 800
_ALL_REVIEWERS: Final = 50
_LATEST_KILL_S: Final = 3_600
_KILL: Final = re.compile(r"(\d)@(\d{1,4}(?:\.\d)?)s")


def _kill(text: str) -> Kill:
    """Read `1@5s`: which instance, after how many seconds."""
    found = _KILL.fullmatch(text)
    place, seconds = (int(found[1]), float(found[2])) if found else (INSTANCES, 0.0)
    if place >= INSTANCES or seconds > _LATEST_KILL_S:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not INSTANCE@SECONDSs with an instance from 0 to {INSTANCES - 1}, "
            f"such as 1@5s"
        )
    return Kill(place=place, after_s=seconds)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--in-process",
        action="store_true",
        help="three instances in this process, over a simulated network and in virtual time",
    )
    parser.add_argument(
        "--kill",
        metavar="I@Ts",
        type=_kill,
        help="kill instance I with SIGKILL after T seconds and start it again: 1@5s",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep the directories of the three instances, and say where they are",
    )
    parser.add_argument(
        "--items",
        metavar="N",
        type=between(1, _ALL_ITEMS),
        default=None,
        help=f"questions to put, 1 to {_ALL_ITEMS} (default {ITEMS}; {ITEMS_IN_PROCESS} with "
        "--in-process)",
    )
    parser.add_argument(
        "--reviewers",
        metavar="N",
        type=between(QUORUM, _ALL_REVIEWERS),
        default=REVIEWERS,
        help=f"models that vote on each answer, {QUORUM} (the quorum) to {_ALL_REVIEWERS} "
        f"(default {REVIEWERS})",
    )
    parser.add_argument(
        "--seed",
        metavar="S",
        type=word,
        default=SEED,
        help="any word; it decides questions, proposers and reviewers, and with --in-process "
        f"also keys and the network's delays (default {SEED})",
    )
    parser.add_argument(
        "--progress",
        action="store_true",
        help="show progress even where standard error is no terminal",
    )


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    if arguments.in_process and (arguments.kill or arguments.keep):
        raise UsageError(
            "demo refused",
            why="--kill and --keep need processes and directories, --in-process has neither",
            fix="leave --in-process out",
        )
    items: int = arguments.items or (ITEMS_IN_PROCESS if arguments.in_process else ITEMS)
    reviewers: int = arguments.reviewers
    seed: str = arguments.seed
    crux = load()
    output.say(
        f"{len(crux.models)} language models answered {len(crux.items)} questions about what a "
        f"short function returns."
    )
    output.say(
        f"On {items} of them one proposes its answer, {reviewers} others vote (seed {seed})."
    )
    output.say()
    scenario = draw(crux, seed=seed, items=items, reviewers=reviewers)
    shown = output.is_watched or (arguments.progress and not output.quiet)
    progress = bar(output, "verdicts") if shown else None
    if arguments.in_process:
        return _in_process(scenario, reviewers, output, progress)
    return _over_network(scenario, arguments, output, progress)


def _in_process(
    scenario: Scenario, reviewers: int, output: Output, progress: Progress | None
) -> Exit:
    began = time.monotonic()
    realm = found_demo(scenario.crux, seed=scenario.seed, reviewers=reviewers)
    outcome = hold(scenario, realm, progress=progress)
    _tell(output, outcome, summary(outcome, seconds=time.monotonic() - began))
    return Exit.OK if outcome.agrees else Exit.FAILED


def _over_network(
    scenario: Scenario, arguments: argparse.Namespace, output: Output, progress: Progress | None
) -> Exit:
    began = time.monotonic()
    root = Path(tempfile.mkdtemp(prefix="folkmoot-demo-"))
    try:
        staged = trio.run(
            partial(
                over_network.hold,
                scenario,
                root,
                reviewers=arguments.reviewers,
                kills=(arguments.kill,) if arguments.kill else (),
                progress=progress,
            )
        )
    except BaseExceptionGroup as group:
        raise first_reason(group) from group
    finally:
        if arguments.keep:
            output.say(f"The three instances are kept in {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    told = network_summary(staged, seconds=time.monotonic() - began)
    _tell(output, staged.outcome, told)
    for line in network_facts(staged):
        output.say(line)
    return Exit.OK if staged.holds else Exit.FAILED


def _tell(output: Output, outcome: Outcome, told: Summary) -> None:
    if output.quiet:
        output.put_json(told)
    else:
        output.say(close_up(outcome))
        output.say()
        output.say(tables(outcome, told))


def first_reason(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Give one reason: the others of a group are its consequences."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, UnfinishedError | InstanceFailedError | RefusedByNodeError):
        return CommandError(
            "demo failed",
            why=str(error),
            fix="run it again with --keep and read the logs of the instances",
            code=Code.DEMO_FAILED,
            leaves=Exit.FAILED,
        )
    return error


DEMO: Final = Command(
    words=("demo",),
    summary="Hold a moot: real models, sealed ballots, verdicts that can be checked",
    why="Language models answered questions whose truth is known by running code. Here each "
    "model is an agent: one proposes its answer, others vote by their own answers in sealed "
    "ballots, and three instances agree on what counts. The numbers show that the protocol "
    "decides as well as a plain majority that trusts one machine; weights, checks and dissent "
    "come on top. The three instances are processes of their own on this machine, with real "
    "sockets, databases and keys, and what is reported is read from their disks afterwards; --kill "
    "shows that an instance may die in the middle. With --in-process the same moot runs over a "
    "simulated network: the same seed then gives the same digests on every machine, and nonces "
    "come from the seed too, which a real agent must never do.",
    data={
        "instances": "how many nodes took part",
        "artifacts": "answers proposed; `decided` and `ambiguous` together",
        "decided": "rounds whose weighted tally passed a threshold",
        "ambiguous": "rounds between the thresholds, settled by the sign of the tally",
        "agents": "language models in the realm",
        "records": "signed records that each node holds",
        "precision": "share of true answers among the accepted, of decided rounds",
        "recall": "share of accepted answers among the true, of decided rounds",
        "accuracy": "share of decided rounds that came out right",
        "majority_accuracy": "the same for a plain majority of the same ballots; a tie retracts",
        "accuracy_all": "share of all rounds that came out right",
        "majority_accuracy_all": "the same for a plain majority",
        "digests": "world digest of each node at the last cut",
        "verdicts_equal": "whether all nodes hold the same artifacts with the same verdicts",
        "seconds": "how long it took here",
        "transport": "`libp2p`; left out with --in-process",
    },
    examples=(
        "folkmoot demo",
        "folkmoot demo --kill 1@5s --json",
        "folkmoot demo --in-process --items 12 --seed 7 --json",
    ),
    exits={
        Exit.OK: "the instances agree on all verdicts, and hold all records that were acknowledged",
        Exit.FAILED: "they do not, or an instance failed",
    },
    options=_options,
    run=_run,
)
