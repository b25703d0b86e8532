"""Where the agents of a picture of trust stand: near those they judge, and without overlapping.

Springs pull together who judges whom, and a little those of one operator; then circles that
overlap are pushed apart. The same graph always gives the same places. Only this module knows
NetworkX and NumPy, and it loads them when a picture is drawn: no other command pays for them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Points = NDArray[np.float64]

SEED: Final = 8
"""Of the first places; any number does, as long as it is always the same."""
_STEPS: Final = 150
_PUSHES: Final = 120
_OF_ONE_OPERATOR: Final = 0.22
"""Pull towards the middle of one's operator, beside 1 of the heaviest edge."""
_TO_THE_MIDDLE: Final = 0.05
"""Pull towards the middle of the picture: else parts without an edge between them fly apart."""
_FULL: Final = 255
_LEAST: Final = 1e-9
_DRAWN_IN: Final = 0.78
"""Power of the distance from the middle: a few that stand far out leave the others no room."""
_SPARED: Final = 0.35
_PER_DOT: Final = 0.04
"""Share of the box that stays free at each side, and what each dot takes of that."""
CAPTION: Final = 22.0
"""Free height over the rows of dots without a pull, for words about them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """What has to be placed."""

    name: str
    """Its id: no two dots have the same."""
    group: str
    """Dots of one group stand a little closer."""
    room: float
    """Radius that is its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle of the picture."""

    left: float
    top: float
    right: float
    bottom: float


Place = tuple[float, float]


def placed(dots: Sequence[Dot], pulls: Mapping[tuple[str, str], int], box: Box) -> dict[str, Place]:
    """Place the dots inside a box, larger ones with more room; `pulls` weigh 1 to 255.

    Dots without a pull stand in rows at the bottom. Pulls of unknown dots are ignored.
    """
    known = {dot.name for dot in dots}
    pulls = {pair: w for pair, w in pulls.items() if known.issuperset(pair) and w > 0}
    tied = {name for pair in pulls for name in pair}
    lone = [dot for dot in dots if dot.name not in tied]
    rest = [dot for dot in dots if dot.name in tied]
    places, top = _rows(lone, box, half=bool(rest))
    if rest:
        places |= _sprung(rest, pulls, Box(left=box.left, top=box.top, right=box.right, bottom=top))
    return places


def _rows(dots: Sequence[Dot], box: Box, *, half: bool) -> tuple[dict[str, Place], float]:
    """Place dots in rows, from the bottom up; tell where the rows end.

    With `half` they leave the upper half of the box free, and stand closer if they must.
    """
    if not dots:
        return {}, box.bottom
    step = 2 * max(dot.room for dot in dots)
    height = (box.bottom - box.top) / (2 if half else 1)
    width = box.right - box.left
    while step > 1 and math.ceil(len(dots) / max(1, width // step)) * step > height:
        step *= 0.95
    columns = max(1, int(width // step))
    rows = math.ceil(len(dots) / columns)
    top = box.bottom - rows * step
    places = {
        dot.name: (
            box.left + (index % columns + 0.5) * step,
            top + (index // columns + 0.5) * step,
        )
        for index, dot in enumerate(dots)
    }
    return places, top - CAPTION


def _sprung(
    dots: Sequence[Dot], pulls: Mapping[tuple[str, str], int], box: Box
) -> dict[str, Place]:
    import networkx as nx  # noqa: PLC0415 # half a second that no other command pays
    import numpy as np  # noqa: PLC0415 # as above

    graph = nx.Graph()
    graph.add_nodes_from(dot.name for dot in dots)
    for (one, other), weight in sorted(pulls.items()):
        before = graph.edges[one, other]["weight"] if graph.has_edge(one, other) else 0.0
        graph.add_edge(one, other, weight=before + math.sqrt(weight / _FULL))
    # Middles are pairs, so no id of an agent is one of them.
    for dot in dots:
        graph.add_edge(dot.name, ("group", dot.group), weight=_OF_ONE_OPERATOR)
        graph.add_edge(dot.name, ("middle", ""), weight=_TO_THE_MIDDLE)
    found = nx.spring_layout(
        graph, k=1.6 / math.sqrt(len(graph)), seed=SEED, iterations=_STEPS, weight="weight"
    )
    points = np.array([found[dot.name] for dot in dots], dtype=np.float64)
    room = np.array([dot.room for dot in dots], dtype=np.float64)
    low = np.array([box.left, box.top]) + room[:, None]
    high = np.maximum(np.array([box.right, box.bottom]) - room[:, None], low)
    # A few do not have to fill it: arrows right across would be all that one sees.
    spared = (high.min(axis=0) - low.max(axis=0)) * max(0.0, _SPARED - _PER_DOT * len(dots))
    inner = low.max(axis=0) + spared, high.min(axis=0) - spared
    points = _apart(_spread(_drawn_in(points), *inner), room, low, high)
    return {dot.name: (float(x), float(y)) for dot, (x, y) in zip(dots, points, strict=True)}


def _drawn_in(points: "Points") -> "Points":
    """Draw in what stands far out."""
    import numpy as np  # noqa: PLC0415 # see `_sprung`

    points = points - np.median(points, axis=0)
    far = np.sqrt((points**2).sum(axis=1, keepdims=True))
    drawn: Points = points * np.maximum(far, _LEAST) ** (_DRAWN_IN - 1)
    return drawn


def _spread(points: "Points", low: "Points", high: "Points") -> "Points":
    """Stretch the places over the whole box."""
    import numpy as np  # noqa: PLC0415 # see `_sprung`

    least, most = points.min(axis=0), points.max(axis=0)
    span = np.maximum(most - least, _LEAST)
    flat = most - least < _LEAST
    spread: Points = np.where(
        flat, (low + high) / 2, low + (points - least) / span * np.maximum(high - low, 0)
    )
    return spread


def _apart(points: "Points", room: "Points", low: "Points", high: "Points") -> "Points":
    """Push overlapping circles apart and keep all inside; where there is no room, they overlap."""
    import numpy as np  # noqa: PLC0415 # see `_sprung`

    least = room[:, None] + room[None, :]
    np.fill_diagonal(least, 0)
    # Two at the very same place, such as a corner, have no direction of their own to part in.
    order = np.sign(np.arange(len(points))[:, None] - np.arange(len(points))[None, :])
    anywhere = order[:, :, None] * np.array([0.6, 0.8])
    for _ in range(_PUSHES):
        between = points[:, None, :] - points[None, :, :]
        far = np.sqrt((between**2).sum(axis=2))
        at_one = far < _LEAST
        between = np.where(at_one[:, :, None], anywhere, between)
        far = np.where(at_one, 1, far)
        lack = np.where(at_one, least, np.maximum(least - far, 0))
        if not lack.any():
            break
        points = points + (between * (lack / far / 2)[:, :, None]).sum(axis=1)
        points = np.clip(points, low, high)
    return points
