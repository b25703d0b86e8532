"""`folkmoot demo`: hold a moot on real answers and compare its verdicts with the truth."""

import argparse
import time
from typing import Final

from node.cli.command import Command, between, word
from node.cli.errors import Code, CommandError, Exit
from node.cli.output import Output
from node.cli.progress import bar
from node.demo.cruxeval import load
from node.demo.in_process import hold
from node.demo.realm import QUORUM, found_realm
from node.demo.report import close_up, summary, tables
from node.demo.scenario import draw

ITEMS: Final = 60
REVIEWERS: Final = 9
SEED: Final = "1"
_ALL_ITEMS: Final = 800
_ALL_REVIEWERS: Final = 50


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--in-process",
        action="store_true",
        help="three instances in this process, over a simulated network; needed in this version",
    )
    parser.add_argument(
        "--items",
        metavar="N",
        type=between(1, _ALL_ITEMS),
        default=ITEMS,
        help=f"questions to put, 1 to {_ALL_ITEMS} (default {ITEMS})",
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
        help=f"any word; it decides questions, proposers, reviewers, keys and the network's "
        f"delays (default {SEED})",
    )
    parser.add_argument(
        "--progress",
        action="store_true",
        help="show progress even where standard error is no terminal",
    )


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    if not arguments.in_process:
        raise CommandError(
            "demo refused",
            why="the demo over a real network is not in this version",
            fix="run `folkmoot demo --in-process`",
            code=Code.NOT_AVAILABLE,
            leaves=Exit.REFUSED,
        )
    items: int = arguments.items
    reviewers: int = arguments.reviewers
    seed: str = arguments.seed
    began = time.monotonic()
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
    realm = found_realm(crux, seed=seed, reviewers=reviewers)
    shown = output.is_watched or (arguments.progress and not output.quiet)
    outcome = hold(scenario, realm, progress=bar(output, "verdicts") if shown else None)
    told = summary(outcome, seconds=time.monotonic() - began)
    if output.quiet:
        output.put_json(told)
    else:
        output.say(close_up(outcome))
        output.say()
        output.say(tables(outcome, told))
    return Exit.OK if outcome.agrees else Exit.FAILED


DEMO: Final = Command(
    words=("demo",),
    summary="Hold a moot: real models, sealed ballots, verdicts that can be checked",
    why="Language models answered questions whose truth is known by running code. Here each "
    "model is an agent: one proposes its answer, others vote by their own answers in sealed "
    "ballots, and three instances agree on what counts. The numbers show that the protocol "
    "decides as well as a plain majority that trusts one machine; weights, checks and dissent "
    "come on top. The same seed gives the same digests on every machine. Nonces come from the "
    "seed too, which a real agent must never do.",
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
        "seconds": "how long it took here; the only value that a seed does not fix",
    },
    examples=(
        "folkmoot demo --in-process",
        "folkmoot demo --in-process --items 12 --seed 7 --json",
    ),
    exits={
        Exit.OK: "the instances agree on every verdict and on their world digest",
        Exit.FAILED: "they do not agree",
        Exit.REFUSED: "without --in-process: not in this version",
    },
    options=_options,
    run=_run,
)
