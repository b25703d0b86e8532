"""The tables of the measurement on real graphs, for a terminal and for the page in the documents.

The page is written by hand but for what stands between `<!-- otc: NAME -->` and `<!-- end -->`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

Found = Mapping[str, Any]
"""As JSON would give it."""

NAMES: Final = {
    "folkmoot": "Folkmoot",
    "folkmoot_uncapped": "Folkmoot, no cap on an edge",
    "igraph_ppr": "personalised PageRank (igraph)",
    "ppr": "personalised PageRank",
    "pagerank": "plain PageRank",
    "in_degree": "number of good ratings got",
    "in_weight": "sum of good ratings got",
    "chance": "chance",
    "past_complaints": "*number of bad ratings got*",
    "common_seeds": "Folkmoot, the common seeds",
}
GRAPHS: Final = {
    "bitcoin_otc": "Bitcoin OTC",
    "advogato": "Advogato",
    "wiki_vote": "Wikipedia votes",
}
LEAST_SEEN: Final = 0.0001


def tables(found: Found) -> dict[str, str]:
    """Give every table by the name of its mark."""
    return {name: make(found) for name, make in TABLES.items()}


def write(page: Path, found: Found) -> None:
    """Put the tables between their marks; raises ValueError unless each mark stands there once."""
    text = with_tables(page.read_text(encoding="utf-8"), tables(found))
    page.write_text(text, encoding="utf-8")


def with_tables(text: str, named: Mapping[str, str]) -> str:
    """Give the text of a page with each table between its marks, in place of what is there."""
    for name, table in named.items():
        mark = re.compile(rf"(<!-- otc: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if len(mark.findall(text)) != 1:
            raise ValueError(f"the page needs the mark `otc: {name}` and its end, once")
        # A table is no pattern: whatever it holds stands as it is.
        text = mark.sub(partial(_between, table), text)
    return text


def _between(table: str, at: re.Match[str]) -> str:
    return f"{at[1]}{table}\n{at[2]}"


def shown(found: Found) -> str:
    """Give all tables as text."""
    parts = [f"{name}\n{table}" for name, table in tables(found).items()]
    parts += [f"missing: {name}: {how}" for name, how in found["missing"].items()]
    return "\n\n".join(parts)


def _cases(found: Found) -> str:
    rows = [
        [
            f"first {_percent(one['past_share'])}",
            f"{one['agents']:,}",
            f"{one['edges']:,}",
            f"{one['all']['ratings']:,}",
            f"{one['all']['agents']:,}",
            _percent(one["all"]["negative_share"], 1),
            _percent(one["all"]["ten_worst_share"]),
            _percent(one["first"]["negative_share"], 1),
            _percent(one["reached_share"]["folkmoot"], 1),
        ]
        for one in found["foretell"]
    ]
    head = ["past", "agents", "good ratings", "later ratings", "about agents", "of them bad"]
    head += ["of the bad ones about ten agents", "of the first about each bad"]
    return _table([*head, "agents that trust reaches"], rows)


def _areas(found: Found, kind: str) -> str:
    splits = found["foretell"]
    rows = [
        [NAMES[name], *(with_interval(one[kind]["auroc"][name]) for one in splits)]
        for name in splits[0][kind]["auroc"]
    ]
    return _table(["score", *(f"first {_percent(one['past_share'])}" for one in splits)], rows)


def _ahead(found: Found) -> str:
    rows = []
    for name in ("folkmoot_uncapped", "igraph_ppr", "pagerank", "in_degree"):
        for kind, says in (("all", "all"), ("first", "first each")):
            cells = [one[kind]["auroc"].get(name) for one in found["foretell"]]
            rows.append(
                [NAMES[name], says]
                + [
                    "-"
                    if cell is None
                    else f"{_signed(cell['folkmoot_ahead'])} "
                    f"({_signed(cell['ahead_interval'][0])} to {_signed(cell['ahead_interval'][1])})"
                    for cell in cells
                ]
            )
    shares = (f"first {_percent(one['past_share'])}" for one in found["foretell"])
    return _table(["Folkmoot against", "later ratings", *shares], rows)


def _seeds(found: Found) -> str:
    """Show for each rule the areas at every cut in time, Folkmoot beside igraph."""
    rows = []
    for rule in found["foretell"][0]["seeds"]:
        cells = [one["seeds"][rule] for one in found["foretell"]]
        rows.append(
            [rule, *(" / ".join(_area(cell.get(name)) for name in _PAIR) for cell in cells)]
        )
    shares = (f"first {_percent(one['past_share'])}" for one in found["foretell"])
    return _table(["seeds", *shares], rows)


_PAIR: Final = ("folkmoot", "igraph_ppr")


def _order(found: Found) -> str:
    one = found["order_forgotten"]
    rows = [
        [
            NAMES[name],
            with_interval(one["all"]["auroc"][name]),
            with_interval(one["first"]["auroc"][name]),
        ]
        for name in one["all"]["auroc"]
    ]
    return _table(["score", "all other ratings", "the first about each agent"], rows)


def _own(found: Found) -> str:
    names = ("folkmoot", "folkmoot_uncapped", "ppr", "common_seeds", "in_degree")
    shares = [f"first {_percent(one['past_share'])}" for one in found["own_eyes"]]
    rows = [["raters", *(f"{one['raters']:,}" for one in found["own_eyes"])]]
    rows += [["ratings", *(f"{one['ratings']:,}" for one in found["own_eyes"])]]
    rows += [
        [NAMES[name], *(with_interval(one[name]) for one in found["own_eyes"])] for name in names
    ]
    return _table(["seeds of one's own", *shares], rows)


def _afterwards(found: Found) -> str:
    says = {
        "ever_negative": "agents that got any later bad rating",
        "mostly_negative": "agents, most of whose later ratings are bad",
        "raters_with_a_seat": "ratings by raters with a seat of trust or more",
    }
    rows = [
        [says[view], NAMES[name]]
        + [_area(one["looked_at_afterwards"][view].get(name)) for one in found["foretell"]]
        for view in says
        for name in ("folkmoot", "igraph_ppr", "in_degree", "past_complaints")
    ]
    shares = (f"first {_percent(one['past_share'])}" for one in found["foretell"])
    return _table(["cases", "score", *shares], rows)


def attack_table(found: Found) -> str:
    """Show shares of voting weight, each for the number of Sybils and the shape that pay best."""
    names = ("folkmoot", "folkmoot_uncapped", "igraph_ppr", "pagerank")
    rows = []
    for graph, one in found["attack"].items():
        for fooled, edges in dict.fromkeys((at["fooled"], at["edges"]) for at in one["attacks"]):
            chosen = [at for at in one["attacks"] if (at["fooled"], at["edges"]) == (fooled, edges)]
            cells = [
                max((at[name]["weight"] for at in chosen), default=None)
                if name in chosen[0]
                else None
                for name in names
            ]
            bound = max(at["bound"] for at in chosen)
            rows.append([GRAPHS[graph], fooled, str(edges), *map(_seen, cells), _seen(bound)])
    head = ["graph", "fooled agents", "edges", *(NAMES[name] for name in names)]
    return _table([*head, "the theorem allows"], rows)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(head)
    lines = [heads, ["---"] * len(heads), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def with_interval(cell: Found) -> str:
    """Write an area with its interval."""
    low, high = cell["interval"]
    return f"{_area(cell['auroc'])} ({_area(low)} to {_area(high)})"


def _area(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}".removeprefix("0")


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def _percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f} %"


def _seen(share: float | None) -> str:
    if share is None:
        return "-"
    return "below .01 %" if share < LEAST_SEEN else _percent(share, 2)


TABLES: Final[dict[str, Callable[[Found], str]]] = {
    "cases": _cases,
    "all": partial(_areas, kind="all"),
    "first": partial(_areas, kind="first"),
    "ahead": _ahead,
    "seeds": _seeds,
    "order": _order,
    "own": _own,
    "afterwards": _afterwards,
    "attack": attack_table,
}
"""Every table by the name of its mark."""
