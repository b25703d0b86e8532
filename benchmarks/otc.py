"""Trust on real graphs: whether little of it foretells bad ratings, and what Sybils get.

    python -m benchmarks otc --data DIRECTORY --page PAGE.md --plot PLOT.svg

The directory holds `soc-sign-bitcoinotc.csv` (SNAP's soc-sign-bitcoin-otc: source,target,rating,
time) and, for the attack, if there, `advogato.csv` (source,target,weight) and `wiki-vote.csv`
(voter,candidate). Seeds of chance are fixed: the same data give the same output.
Leaves with 1 if the data are not there or the theorem of bounded influence does not hold.
"""

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks import otc_attack, otc_data, otc_page
from benchmarks.otc_data import Judgements, Ratings
from benchmarks.otc_foretell import MAIN, foretell, own_eyes
from benchmarks.otc_methods import METHODS, Method, available, folkmoot, seed_sets

SHARES: Final = (0.5, 0.6, 0.7, 0.8)
SHUFFLED_SHARE: Final = 0.7
SYBILS: Final = (300, 1_000, 3_000, 10_000)
EDGES: Final = (10, 100)
RATERS: Final = 400
"""Raters that are drawn to ask with seeds of their own."""
SEEDS: Final = 20

Found = dict[str, object]


def main() -> int:
    """Measure, print, and write the page's tables and the plot if asked."""
    asked = _arguments()
    source = asked.data / otc_data.OTC
    if not source.is_file():
        print(
            f"nothing to measure: {otc_data.OTC} is not in the directory\n"
            "it is SNAP's soc-sign-bitcoin-otc: source,target,rating,time\n"
            "download it, unpack it there, and name the directory with --data",
            file=sys.stderr,
        )
        return 1
    if asked.plot and importlib.util.find_spec("matplotlib") is None:
        print("nothing to draw with: pip install matplotlib", file=sys.stderr)
        return 1
    try:
        found = measure(otc_data.read_ratings(source), asked.data)
    except otc_attack.TheoremError as error:
        print(error, file=sys.stderr)
        return 1
    if asked.page:
        otc_page.write(asked.page, found)
    if asked.plot:
        from benchmarks import otc_plot  # noqa: PLC0415 - it needs matplotlib

        otc_plot.draw(found, asked.plot)
    print(json.dumps(found, indent=2) if asked.json else otc_page.shown(found))
    return 0


def measure(ratings: Ratings, data: Path) -> Found:
    """Run everything; what is not there is named."""
    methods, missing = available()
    splits = [otc_data.split(ratings, share) for share in SHARES]
    graphs, absent = _graphs(ratings, data)
    return {
        "ratings": len(ratings),
        "methods": {name: METHODS[name].says for name in METHODS},
        "missing": {**missing, **absent},
        "foretell": [foretell(one, methods) for one in splits],
        "order_forgotten": foretell(
            otc_data.split(otc_data.shuffled(ratings), SHUFFLED_SHARE), methods
        ),
        "own_eyes": [own_eyes(one, most=RATERS) for one in splits],
        "attack": {name: _attacked(real, seeds, methods) for name, (real, seeds) in graphs.items()},
    }


def _graphs(
    ratings: Ratings, data: Path
) -> tuple[dict[str, tuple[Judgements, list[int]]], dict[str, str]]:
    """Give the graphs to attack with their seeds, and say which are not there.

    Bitcoin OTC has times, and its seeds are its first raters; the others have none, and theirs are
    those who judged most.
    """
    whole = otc_data.whole(ratings)
    graphs = {"bitcoin_otc": (whole, seed_sets(whole)[MAIN])}
    absent = {}
    for name, file, read in (
        ("advogato", otc_data.ADVOGATO, otc_data.read_advogato),
        ("wiki_vote", otc_data.WIKI, otc_data.read_wiki),
    ):
        if not (data / file).is_file():
            absent[name] = f"{file} is not in the directory"
            continue
        real = read(data / file)
        counts = np.bincount(real.sources, minlength=real.agents)
        graphs[name] = (real, np.argsort(-counts, kind="stable")[:SEEDS].tolist())
    return graphs, absent


def _attacked(real: Judgements, seeds: list[int], methods: dict[str, Method]) -> Found:
    """Attack one graph in every way."""
    trust = folkmoot(real, seeds)
    held = otc_attack.voting(trust, seats=real.seats)
    attacking = {name: methods[name] for name in otc_attack.METHODS if name in methods}
    return {
        "agents": real.agents,
        "edges": len(real.sources),
        "with_a_ticket": int((held > 0).sum()),
        "attacks": [
            {
                "fooled": fooled,
                **otc_attack.attack(
                    real, seeds, attacking, sybils=sybils, victims=victims, shape=shape
                ),
            }
            for fooled in otc_attack.FOOLED
            for edges in EDGES
            for victims in [otc_attack.victims_of(real, trust, edges=edges, fooled=fooled)]
            for sybils in SYBILS
            for shape in otc_attack.SHAPES
        ],
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="directory of the CSV files")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", type=Path, help="write the plot, as SVG")
    parser.add_argument("--page", type=Path, help="write the tables into this page")
    return parser.parse_args()
