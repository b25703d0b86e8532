"""A picture of who trusts whom, as SVG: what `folkmoot trust graph --svg` writes.

The area of a circle is an agent's trust, its colour the operator, a ring marks a founder. An
arrow leads from who judged to who was judged; the heavier, the wider. Names come from strangers:
they are cleaned, cut and escaped, and never become anything but text. The same graph gives the
same bytes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from federation.core import MILLION
from node.cli.output import clean
from node.cli.trust_layout import Box, Dot, Place, placed

WIDTH: Final = 1_440
HEIGHT: Final = 960
_MAP: Final = Box(left=28, top=92, right=1_132, bottom=928)
_LEGEND: Final = 1_172
_FEW: Final = 12
_SOME: Final = 60
_ALL_NAMED: Final = 40
"""Up to so many agents have all their names in the picture."""
_NAMED: Final = 24
"""Of more agents the most trusted have theirs."""
_LONGEST: Final = 24
_FULL: Final = 255
_PALETTE: Final = (
    "#3b6fb6", "#e07b28", "#3d9a57", "#c8433f", "#8562b4",
    "#2a9db0", "#b08a1e", "#d2649a", "#7a5a45", "#6b8e23",
)  # fmt: skip
"""Colours of the largest operators; all others share the next."""
_OTHERS: Final = "#9aa5b1"
_INK: Final = "#1f2933"
_GREY: Final = "#616e7c"
_PAPER: Final = "#fbfcfd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One agent of the picture."""

    id: str
    name: str
    operator: str
    """Id of its operator."""
    operator_name: str
    tier: int
    weight: int
    """Weight of its ballot in ppm, before caps."""
    trust: int
    """In ppm of an average seat."""
    founder: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """One agent's judgement of another."""

    by: str
    of: str
    weight: int
    """1 to 255."""
    vouch: bool
    """It rests on a vouch alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Circle:
    person: Person
    x: float
    y: float
    r: float
    colour: str


def draw(people: Sequence[Person], arrows: Sequence[Arrow], *, title: str, says: str) -> str:
    """Draw a graph of up to a few hundred agents; arrows of unknown agents are left out.

    `title` is the headline and `says` the line below it. Time grows with the square of the agents.
    """
    colours = _colours(people)
    circles = _circles(people, arrows, colours)
    known = {one.person.id: one for one in circles}
    shown = [one for one in arrows if one.by in known and one.of in known and one.by != one.of]
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" role="img" '
            "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\">"
        ),
        f"<title>{_text(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_PAPER}"/>',
        f'<text x="28" y="44" font-size="24" font-weight="600" fill="{_INK}">{_text(title)}</text>',
        f'<text x="28" y="70" font-size="14" fill="{_GREY}">{_text(says)}</text>',
        *_arrows(shown, known, len(people)),
        *_nodes(circles),
        *_names(circles),
        *_apart(circles, shown),
        *_legend(people, colours, circles),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """Make a stranger's text harmless in XML, and short enough for a picture."""
    return escape(clean(value))


def _short(name: str) -> str:
    name = " ".join(name.split()) or "(no name)"
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _largest(people: Sequence[Person]) -> list[str]:
    """List operators by the trust that their agents hold, then by how many they are."""
    held: dict[str, tuple[int, int]] = {}
    for one in people:
        trust, count = held.get(one.operator, (0, 0))
        held[one.operator] = (trust + one.trust, count + 1)
    return sorted(held, key=lambda name: (*(-one for one in held[name]), name))


def _colours(people: Sequence[Person]) -> dict[str, str]:
    largest = _largest(people)
    return {
        name: _PALETTE[place] if place < len(_PALETTE) else _OTHERS
        for place, name in enumerate(largest)
    }


def _circles(
    people: Sequence[Person], arrows: Sequence[Arrow], colours: dict[str, str]
) -> list[_Circle]:
    count = len(people)
    most = 44.0 if count <= _FEW else 27.0 if count <= _SOME else 17.0
    least = 7.0 if count <= _FEW else 5.0 if count <= _SOME else 3.2
    top = max((one.trust for one in people), default=0) or 1
    sizes = {one.id: max(least, most * math.sqrt(max(one.trust, 0) / top)) for one in people}
    # Beside a circle there must be room for its ring, and for its name where it has one.
    margin = 26.0 if count <= _FEW else 14.0 if count <= _ALL_NAMED else 4.0
    dots = [Dot(name=one.id, group=one.operator, room=sizes[one.id] + margin) for one in people]
    pulls = {(one.by, one.of): one.weight for one in arrows if one.by != one.of}
    places: dict[str, Place] = placed(dots, pulls, _MAP)
    return [
        _Circle(
            person=one,
            x=places[one.id][0],
            y=places[one.id][1],
            r=sizes[one.id],
            colour=colours[one.operator],
        )
        for one in people
    ]


def _arrows(arrows: Sequence[Arrow], known: dict[str, _Circle], count: int) -> list[str]:
    """Draw the arrows, light ones first; those of one colour share a group and a head."""
    few = count <= _SOME
    head, widest, opacity = (9.0, 4.2, 0.6) if few else (5.0, 2.2, 0.34)
    by_colour: dict[str, list[Arrow]] = {}
    for one in sorted(arrows, key=lambda one: (one.weight, one.by, one.of)):
        by_colour.setdefault(known[one.by].colour, []).append(one)
    lines = ["<defs>"]
    lines += [
        f'<marker id="to{colour[1:]}" viewBox="0 0 10 10" refX="8.5" refY="5" orient="auto" '
        f'markerUnits="userSpaceOnUse" markerWidth="{head:g}" markerHeight="{head:g}">'
        f'<path d="M0 0.8L10 5L0 9.2L2.4 5z" fill="{colour}"/></marker>'
        for colour in sorted(by_colour)
    ]
    lines.append("</defs>")
    for colour in sorted(by_colour):
        lines.append(
            f'<g fill="none" stroke="{colour}" stroke-opacity="{opacity}" '
            f'marker-end="url(#to{colour[1:]})">'
        )
        for one in by_colour[colour]:
            width = 0.7 + (widest - 0.7) * min(one.weight, _FULL) / _FULL
            dashes = ' stroke-dasharray="5 3"' if one.vouch else ""
            path = _curve(known[one.by], known[one.of])
            lines.append(f'<path d="{path}" stroke-width="{width:.1f}"{dashes}/>')
        lines.append("</g>")
    return lines


def _curve(one: _Circle, other: _Circle) -> str:
    """Bend an arrow a little to its right, so that two that go both ways do not cover each other."""
    dx, dy = other.x - one.x, other.y - one.y
    far = math.hypot(dx, dy) or 1.0
    bend = min(0.14 * far, 26.0)
    mx, my = one.x + dx / 2 - dy / far * bend, one.y + dy / 2 + dx / far * bend
    x1, y1 = _towards(one, mx, my, 1.0)
    x2, y2 = _towards(other, mx, my, 4.5 if other.person.founder else 2.5)
    return f"M{x1:.1f} {y1:.1f}Q{mx:.1f} {my:.1f} {x2:.1f} {y2:.1f}"


def _towards(one: _Circle, x: float, y: float, gap: float) -> Place:
    """Give the point of a circle's rim, and `gap` outside, that faces another point."""
    dx, dy = x - one.x, y - one.y
    far = math.hypot(dx, dy) or 1.0
    return one.x + dx / far * (one.r + gap), one.y + dy / far * (one.r + gap)


def _nodes(circles: Sequence[_Circle]) -> list[str]:
    lines = []
    for one in sorted(circles, key=lambda one: (-one.r, one.person.id)):
        person = one.person
        at = f'cx="{one.x:.1f}" cy="{one.y:.1f}"'
        fill = 0.92 if person.trust else 0.45
        lines += [
            "<g>",
            (
                f"<title>{_text(person.name)}\noperator {_text(person.operator_name)}\n"
                f"tier {person.tier}, trust {person.trust / MILLION:.3f} seats, "
                f"weight {person.weight / MILLION:.3f}</title>"
            ),
            (
                f'<circle {at} r="{one.r:.1f}" fill="{one.colour}" fill-opacity="{fill}" '
                'stroke="#ffffff" stroke-width="1.2"/>'
            ),
        ]
        if person.founder:
            lines.append(
                f'<circle {at} r="{one.r + 2.6:.1f}" fill="none" stroke="{_INK}" '
                'stroke-width="1.5"/>'
            )
        lines.append("</g>")
    return lines


def _names(circles: Sequence[_Circle]) -> list[str]:
    """Write names under, over or beside their circles, where they cover least of what is there."""
    count = len(circles)
    size = 14.0 if count <= _FEW else 12.0 if count <= _ALL_NAMED else 11.0
    most = count if count <= _ALL_NAMED else _NAMED
    named = sorted(circles, key=lambda one: (-one.person.trust, one.person.id))[:most]
    taken = [(one.x - one.r, one.y - one.r, one.x + one.r, one.y + one.r) for one in circles]
    lines = [
        (
            f'<g font-size="{size:g}" fill="{_INK}" text-anchor="middle" stroke="{_PAPER}" '
            'stroke-width="3.2" stroke-linejoin="round" paint-order="stroke">'
        )
    ]
    for one in named:
        name = _short(one.person.name)
        half, gap = len(name) * size * 0.29, one.r + (7 if one.person.founder else 5)
        places = (
            (one.x, one.y + gap + size * 0.8),
            (one.x, one.y - gap),
            (one.x + gap + half, one.y + size * 0.35),
            (one.x - gap - half, one.y + size * 0.35),
        )
        boxes = [(x - half, y - size * 0.8, x + half, y + size * 0.2) for x, y in places]
        best = min(range(len(places)), key=lambda at: (_covered(boxes[at], taken), at))
        taken.append(boxes[best])
        x, y = places[best]
        lines.append(f'<text x="{x:.1f}" y="{y:.1f}">{_text(name)}</text>')
    lines.append("</g>")
    return lines


def _apart(circles: Sequence[_Circle], arrows: Sequence[Arrow]) -> list[str]:
    """Say what those have in common that stand in rows at the bottom."""
    tied = {name for one in arrows for name in (one.by, one.of)}
    lone = [one for one in circles if one.person.id not in tied]
    if not lone or not tied:
        return []
    y = min(one.y - one.r for one in lone) - 14
    who = "1 agent" if len(lone) == 1 else f"{len(lone)} agents"
    return [
        (
            f'<text x="28" y="{y:.1f}" font-size="11" fill="{_GREY}">{who} without a judgement, '
            "given or received</text>"
        )
    ]


def _covered(
    box: tuple[float, float, float, float], taken: Sequence[tuple[float, float, float, float]]
) -> float:
    """Give the area of `taken` under a box; what stands outside the map counts the most."""
    left, top, right, bottom = box
    outside = max(0.0, 4 - left) + max(0.0, right - _LEGEND + 16) + max(0.0, bottom - HEIGHT + 4)
    under = sum(
        max(0.0, min(right, r) - max(left, l)) * max(0.0, min(bottom, b) - max(top, t))
        for l, t, r, b in taken  # noqa: E741 # left, as above
    )
    return outside * 1_000 + under


def _legend(
    people: Sequence[Person], colours: dict[str, str], circles: Sequence[_Circle]
) -> list[str]:
    lines = [
        f'<line x1="{_LEGEND - 20}" y1="92" x2="{_LEGEND - 20}" y2="928" stroke="#e4e7eb"/>',
        _heading(104, "Operators, by trust held"),
    ]
    whole = sum(one.trust for one in people) or 1
    y = 132.0
    listed = _largest(people)
    for name in listed[: len(_PALETTE)]:
        own = [one for one in people if one.operator == name]
        lines += _entry(y, colours[name], own[0].operator_name, own, whole)
        y += 38
    rest = listed[len(_PALETTE) :]
    if rest:
        own = [one for one in people if one.operator in set(rest)]
        word = "operator" if len(rest) == 1 else "operators"
        lines += _entry(y, _OTHERS, f"{len(rest)} more {word}", own, whole)
        y += 38
    return [*lines, *_key(y + 22, circles)]


def _heading(y: float, words: str) -> str:
    return (
        f'<text x="{_LEGEND}" y="{y:g}" font-size="13" font-weight="600" fill="{_INK}">'
        f"{words}</text>"
    )


def _entry(y: float, colour: str, name: str, own: Sequence[Person], whole: int) -> list[str]:
    share = sum(one.trust for one in own) * 100 / whole
    agents = "1 agent" if len(own) == 1 else f"{len(own)} agents"
    return [
        f'<circle cx="{_LEGEND + 7}" cy="{y:g}" r="7" fill="{colour}"/>',
        (
            f'<text x="{_LEGEND + 24}" y="{y + 1:g}" font-size="13" fill="{_INK}">'
            f"{_text(_short(name))}</text>"
        ),
        (
            f'<text x="{_LEGEND + 24}" y="{y + 16:g}" font-size="11" fill="{_GREY}">'
            f"{agents}, {share:.1f} % of the trust shown</text>"
        ),
    ]


def _key(y: float, circles: Sequence[_Circle]) -> list[str]:
    """Explain size, ring and arrows, with the sizes of this picture."""
    lines = [_heading(y, "How to read it")]
    y += 30

    def row(drawn: str, words: str) -> None:
        nonlocal y
        lines.append(drawn)
        lines.append(
            f'<text x="{_LEGEND + 52}" y="{y + 4:g}" font-size="12" fill="{_GREY}">{words}</text>'
        )
        y += 30

    largest = max(circles, key=lambda one: (one.person.trust, one.person.id), default=None)
    x = _LEGEND + 18
    if largest is not None and largest.person.trust:
        r = min(largest.r, 17.0)
        trust = largest.person.trust * (r / largest.r) ** 2 / MILLION
        row(
            f'<circle cx="{x}" cy="{y:g}" r="{r:.1f}" fill="{_OTHERS}"/>',
            f"area: trust, here {trust:.2f} seats",
        )
        y += 6
    row(
        f'<circle cx="{x}" cy="{y:g}" r="7" fill="{_OTHERS}"/><circle cx="{x}" cy="{y:g}" '
        f'r="9.6" fill="none" stroke="{_INK}" stroke-width="1.5"/>',
        "ring: founder",
    )
    for width, dashes, words in (
        (4.0, "", "arrow: who judged whom"),
        (1.4, "", "wider: a weightier judgement"),
        (2.0, ' stroke-dasharray="5 3"', "dashed: vouched only"),
    ):
        row(
            f'<path d="M{_LEGEND} {y:g}h30" stroke="{_OTHERS}" stroke-width="{width}"{dashes}/>'
            f'<path d="M{_LEGEND + 28} {y - 4.5:g}l9 4.5l-9 4.5z" fill="{_OTHERS}"/>',
            words,
        )
    return lines
