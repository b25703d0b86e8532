"""Three public graphs of trust, as read from a directory, and how one of them is cut in time.

| file | what it is | columns |
|---|---|---|
| `soc-sign-bitcoinotc.csv` | who rated whom on Bitcoin OTC, signed | source,target,rating,time |
| `advogato.csv` | who certified whom on Advogato | source,target,weight |
| `wiki-vote.csv` | who voted for whom as administrator of Wikipedia | voter,candidate |

The first and the last are in the SNAP collection (`soc-sign-bitcoin-otc`, `wiki-Vote`), the second
in KONECT (`advogato`).
None is part of this project: their licences are not stated.
A first line with names of columns may be there or not.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

OTC: Final = "soc-sign-bitcoinotc.csv"
ADVOGATO: Final = "advogato.csv"
WIKI: Final = "wiki-vote.csv"
STEP: Final = 16
"""Weight of one step of a rating (1 to 10), and of one standing artifact in the charter's presets."""
HEAVIEST: Final = 255

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgements:
    """Edges of one graph; agents are numbered from 0."""

    agents: int
    seats: int
    """How many agents a realm with this graph is sized for; identities of an attacker do not count."""
    sources: Ints
    """Who judges."""
    targets: Ints
    """Who is judged; never the one who judges."""
    weights: Ints
    """1 to 255."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """All ratings, oldest first."""

    sources: Ints
    targets: Ints
    values: Ints
    """-10 to 10, never 0."""

    def __len__(self) -> int:
        """Count them."""
        return len(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """What was known at one moment, and what came later about those who were known then."""

    share: float
    """Share of all ratings that lay in the past."""
    past: Judgements
    """Positive ratings of the past, in their order, and everybody who had given or got one of any
    sign."""
    complaints: Ints
    """Per agent: how many negative ratings it had got in the past."""
    raters: Ints
    """Later ratings: who gave them; -1 if unknown in the past."""
    targets: Ints
    """Later ratings: whom they are about."""
    negative: NDArray[np.bool_]
    """Later ratings: whether they are negative."""

    def first_each(self) -> Ints:
        """Give the places of the first later rating about each agent."""
        return np.sort(np.unique(self.targets, return_index=True)[1])


def read_ratings(path: Path) -> Ratings:
    """Read Bitcoin OTC, oldest first, whatever the order in the file."""
    rows = _rows(path, columns=4)
    rows = rows[np.argsort(rows[:, 3], kind="stable")]
    rows = rows[rows[:, 0] != rows[:, 1]]
    return Ratings(
        sources=rows[:, 0].astype(np.int64),
        targets=rows[:, 1].astype(np.int64),
        values=rows[:, 2].astype(np.int64),
    )


def split(ratings: Ratings, share: float) -> Split:
    """Cut at the given share of all ratings."""
    cut = int(len(ratings) * share)
    known, places = np.unique(
        np.concatenate([ratings.sources[:cut], ratings.targets[:cut]]), return_inverse=True
    )
    sources, targets, values = places[:cut], places[cut:], ratings.values[:cut]
    good = values > 0
    later_targets, is_known = _places(known, ratings.targets[cut:])
    raters, rater_known = _places(known, ratings.sources[cut:])
    return Split(
        share=share,
        past=Judgements(
            agents=len(known),
            seats=len(known),
            sources=sources[good],
            targets=targets[good],
            weights=np.minimum(HEAVIEST, STEP * values[good]),
        ),
        complaints=np.bincount(targets[~good], minlength=len(known)),
        raters=np.where(rater_known, raters, -1)[is_known],
        targets=later_targets[is_known],
        negative=(ratings.values[cut:] < 0)[is_known],
    )


def shuffled(ratings: Ratings, *, seed: int = 3) -> Ratings:
    """Forget the order in time: what many studies do, and what lets the future into the past."""
    order = np.random.default_rng(seed).permutation(len(ratings))
    return Ratings(
        sources=ratings.sources[order],
        targets=ratings.targets[order],
        values=ratings.values[order],
    )


def whole(ratings: Ratings) -> Judgements:
    """Give all positive ratings as one graph."""
    return split(ratings, 1.0).past


def read_advogato(path: Path) -> Judgements:
    """Read Advogato: certificates of .6, .8 and 1 weigh that share of 255."""
    rows = _rows(path, columns=3)
    return _judgements(rows, np.floor(HEAVIEST * rows[:, 2]).astype(np.int64))


def read_wiki(path: Path) -> Judgements:
    """Read the votes of Wikipedia: each weighs as much as one standing artifact."""
    rows = _rows(path, columns=2)
    return _judgements(rows, np.full(len(rows), STEP, np.int64))


def _judgements(rows: Floats, weights: Ints) -> Judgements:
    """Give the agents numbers; of a pair that stands twice the last counts."""
    _, from_end = np.unique(rows[::-1, :2], axis=0, return_index=True)
    kept = np.sort(len(rows) - 1 - from_end)
    kept = kept[rows[kept, 0] != rows[kept, 1]]
    agents, places = np.unique(rows[kept, :2].astype(np.int64), return_inverse=True)
    places = places.reshape(-1, 2)
    return Judgements(
        agents=len(agents),
        seats=len(agents),
        sources=places[:, 0],
        targets=places[:, 1],
        weights=weights[kept],
    )


def _rows(path: Path, *, columns: int) -> Floats:
    text = path.read_text(encoding="utf-8")
    head = 0 if text[:1].isdigit() else 1
    rows = np.loadtxt(text.splitlines()[head:], delimiter=",", ndmin=2)
    if rows.shape[1] != columns:
        raise ValueError(f"{path.name} has {rows.shape[1]} columns where {columns} are expected")
    return rows


def _places(known: Ints, wanted: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Give the place of each wanted agent among the known ones, and whether it is one of them."""
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return places, known[places] == wanted
