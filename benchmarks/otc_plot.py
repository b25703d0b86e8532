"""The plot of the measurement on real graphs: the same data give the same bytes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_STYLE: Final[dict[Any, Any]] = {
    "svg.hashsalt": "trust-on-real-graphs",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_LINES: Final = {
    "folkmoot": ("Folkmoot", "#2f9e55", "o"),
    "igraph_ppr": ("personalised PageRank (igraph)", "#5b6ee1", "s"),
    "pagerank": ("plain PageRank", "#c98a12", "^"),
    "in_degree": ("good ratings got", "#667788", "D"),
    "past_complaints": ("bad ratings got", "#c0392b", "v"),
}
_APART: Final = 0.008
_EDGES: Final = 100


def draw(found: Mapping[str, Any], path: Path) -> None:
    """Write the plot as SVG, with texts as texts and without a date."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(9.2, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        _foretelling(left, found)
        _attacks(right, found)
        figure.savefig(
            path,
            format="svg",
            metadata={
                "Title": "Trust on Bitcoin OTC: what it foretells, and what Sybils get",
                "Date": None,
                "Creator": None,
            },
        )
    # Lines without blanks at their end, as every other file here.
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")


def _foretelling(axes: Axes, found: Mapping[str, Any]) -> None:
    splits = found["foretell"]
    for place, (name, (says, colour, marker)) in enumerate(_LINES.items()):
        if name not in splits[0]["all"]["auroc"]:
            continue
        cells = [one["all"]["auroc"][name] for one in splits]
        areas = [cell["auroc"] for cell in cells]
        low = [cell["auroc"] - cell["interval"][0] for cell in cells]
        high = [cell["interval"][1] - cell["auroc"] for cell in cells]
        shares = [one["past_share"] + (place - 2) * _APART for one in splits]
        axes.errorbar(
            shares,
            areas,
            yerr=[low, high],
            label=says,
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1,
            elinewidth=0.8,
        )
    axes.axhline(0.5, color="#222233", linewidth=0.8, linestyle=":")
    axes.set_ylim(0.3, 0.85)
    axes.set_xticks([one["past_share"] for one in splits])
    axes.set_xlabel("share of the ratings that lie in the past")
    axes.set_ylabel("area under the ROC curve")
    axes.set_title("Foretelling bad ratings (.5 is guessing)", fontsize=10)
    axes.legend(fontsize=7, frameon=False, ncols=2, loc="upper center")


def _attacks(axes: Axes, found: Mapping[str, Any]) -> None:
    attacks = [
        at
        for at in found["attack"]["bitcoin_otc"]["attacks"]
        if at["fooled"] == "drawn" and at["edges"] == _EDGES
    ]
    sybils = sorted({at["sybils"] for at in attacks})
    for name, (says, colour, marker) in _LINES.items():
        if name not in attacks[0]:
            continue
        worst = [
            max(at[name]["weight"] for at in attacks if at["sybils"] == number) for number in sybils
        ]
        axes.plot(sybils, worst, label=says, color=colour, marker=marker, markersize=4, linewidth=1)
    axes.axhline(
        max(at["bound"] for at in attacks),
        color="#2f9e55",
        linewidth=0.8,
        linestyle=":",
        label="the theorem's bound for Folkmoot",
    )
    axes.set_xscale("log")
    axes.set_ylim(0, 0.85)
    agents = found["attack"]["bitcoin_otc"]["agents"]
    axes.set_xlabel(f"Sybils behind {_EDGES} fooled agents (Bitcoin OTC, {agents:,} agents)")
    axes.set_ylabel("share of all voting weight")
    axes.set_title("What Sybils get", fontsize=10)
    axes.legend(fontsize=7, frameon=False, loc="upper left")
