"""The picture of trust: hostile names stay text, sizes tell trust, the same graph the same bytes."""

import math
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from node.cli.trust_layout import Box, Dot, placed
from node.cli.trust_picture import HEIGHT, WIDTH, Arrow, Person, draw
from tests.node.cli.session import ROOT

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "</text><script>alert(1)</script>",
    "\"'><image href=x onerror=alert(1)>",
    "&amp;&#0;<![CDATA[",
    "a\0b\x1b[2J\ufffe\ud800",
    "\u202eabc\u2066",
    "",
    "   ",
    "x" * 64,
    "]]>",
    "\u05e9\u05dc\u05d5\u05dd",
)


def person(index: int, **changes: object) -> Person:
    made = Person(
        id=f"{index:064x}",
        name=f"agent {index}",
        operator=f"{index % 3:064x}",
        operator_name=f"operator {index % 3}",
        tier=1,
        weight=500_000,
        trust=(index + 1) * 100_000,
        founder=index == 0,
    )
    return replace(made, **changes)


def arrow(by: int, of: int, weight: int = 16, *, vouch: bool = False) -> Arrow:
    return Arrow(by=f"{by:064x}", of=f"{of:064x}", weight=weight, vouch=vouch)


def ring(count: int) -> tuple[list[Person], list[Arrow]]:
    return [person(index) for index in range(count)], [
        arrow(index, (index + step) % count, weight=16 * step)
        for index in range(count)
        for step in (1, 2)
    ]


def drawn(people: list[Person], arrows: list[Arrow]) -> ET.Element:
    return ET.fromstring(draw(people, arrows, title="t", says="s"))  # noqa: S314 # our own bytes


def discs(root: ET.Element) -> list[ET.Element]:
    """Find the circles of agents: each stands in a group with a title."""
    return [
        group.findall(f"{SVG}circle")[0]
        for group in root.iter(f"{SVG}g")
        if group.findall(f"{SVG}title")
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_text(name: str) -> None:
    people, arrows = ring(5)
    people[1] = replace(people[1], name=name, operator_name=name)
    svg = draw(people, arrows, title=name, says=name)
    root = ET.fromstring(svg)  # noqa: S314 # our own bytes

    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
        "svg", "title", "rect", "text", "defs", "marker", "path", "g", "circle", "line",
    }  # fmt: skip
    attributes = {key for one in root.iter() for key in one.attrib}
    assert not any(key.startswith("on") or "href" in key for key in attributes)
    assert not any(ord(one) < 32 and one != "\n" for one in svg)
    assert "\u202e" not in svg
    svg.encode()


def test_text_is_text_that_can_be_selected_and_long_names_are_cut() -> None:
    people, arrows = ring(5)
    people[1] = replace(people[1], name="n" * 64)
    texts = [one.text for one in drawn(people, arrows).iter(f"{SVG}text")]

    assert "agent 3" in texts
    assert "n" * 23 + "…" in texts


def test_area_is_trust_and_a_ring_is_a_founder() -> None:
    people = [person(0, trust=4_000_000), person(1, trust=1_000_000), person(2, trust=0)]
    root = drawn(people, [arrow(0, 1), arrow(1, 2)])
    sizes = sorted((float(one.attrib["r"]) for one in discs(root)), reverse=True)
    rings = [
        group
        for group in root.iter(f"{SVG}g")
        if group.findall(f"{SVG}title") and len(group.findall(f"{SVG}circle")) == 2
    ]

    assert math.isclose(sizes[0] / sizes[1], 2, rel_tol=0.01)
    assert sizes[2] > 0
    assert len(rings) == 1


def test_a_heavier_judgement_is_wider_and_a_mere_vouch_is_dashed() -> None:
    people, _ = ring(4)
    root = drawn(people, [arrow(0, 1, 255), arrow(1, 2, 16), arrow(2, 3, 255, vouch=True)])
    paths = [one for one in root.iter(f"{SVG}path") if one.attrib.get("d", "").count("Q")]
    widths = sorted(float(one.attrib["stroke-width"]) for one in paths)

    assert len(paths) == 3
    assert widths[0] < widths[1] == widths[2]
    assert sum("stroke-dasharray" in one.attrib for one in paths) == 1


def test_the_same_graph_gives_the_same_bytes_in_another_process() -> None:
    code = (
        "from tests.node.cli.test_trust_picture import draw, ring\n"
        "print(draw(*ring(30), title='t', says='s'), end='')"
    )
    other = subprocess.run(  # noqa: S603 # our own code
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert other.stdout == draw(*ring(30), title="t", says="s")


@pytest.mark.parametrize("count", [0, 1, 2, 51, 300])
def test_everything_stands_inside_the_picture(count: int) -> None:
    people, arrows = ring(count) if count > 2 else ([person(i) for i in range(count)], [])
    found = discs(drawn(people, arrows))

    assert len(found) == count
    for one in found:
        x, y, r = (float(one.attrib[key]) for key in ("cx", "cy", "r"))
        assert r <= x <= WIDTH - r
        assert r <= y <= HEIGHT - r


def test_no_agent_covers_another_in_a_community() -> None:
    found = [
        tuple(float(one.attrib[key]) for key in ("cx", "cy", "r"))
        for one in discs(drawn(*ring(51)))
    ]

    for place, (x, y, r) in enumerate(found):
        for u, v, s in found[:place]:
            assert math.hypot(x - u, y - v) >= r + s - 0.2


def test_judgements_of_strangers_and_of_oneself_are_left_out() -> None:
    people, _ = ring(3)
    root = drawn(people, [arrow(0, 1), arrow(0, 0), arrow(0, 9), arrow(9, 0)])

    assert sum(one.attrib.get("d", "").count("Q") for one in root.iter(f"{SVG}path")) == 1


def test_only_the_most_trusted_of_many_are_named() -> None:
    texts = {one.text for one in drawn(*ring(60)).iter(f"{SVG}text")}

    assert "agent 59" in texts
    assert "agent 1" not in texts


def test_the_legend_lists_the_largest_operators_and_sums_up_the_others() -> None:
    people = [
        person(i, operator=f"{i:064x}", operator_name=f"operator {i}", trust=1_000_000 - i)
        for i in range(14)
    ]
    texts = [one.text or "" for one in drawn(people, [arrow(0, 1)]).iter(f"{SVG}text")]

    assert "operator 0" in texts
    assert "operator 12" not in texts
    assert "4 more operators" in texts
    assert any(text.startswith("12 agents without a judgement") for text in texts)


def test_two_at_the_same_place_part() -> None:
    box = Box(left=0, top=0, right=100, bottom=100)
    dots = [Dot(name=name, group="g", room=5) for name in "ab"]
    places = placed(dots, {("a", "b"): 255}, box)

    assert math.dist(places["a"], places["b"]) >= 9.9


@pytest.mark.parametrize(("room", "least"), [(9, 17.5), (11, 14)])
def test_a_crowd_is_pushed_apart_and_stays_inside(room: float, least: float) -> None:
    """In the second case there is hardly room for all, and yet none hides another."""
    box = Box(left=10, top=20, right=260, bottom=220)
    dots = [Dot(name=str(index), group=str(index % 2), room=room) for index in range(40)]
    # Two crowds that pull themselves together.
    pulls = {(str(one), str(other)): 255 for one in range(40) for other in range(one % 2, one, 2)}
    places = list(placed(dots, pulls, box).values())

    for index, place in enumerate(places):
        assert box.left + room <= place[0] <= box.right - room
        assert box.top + room <= place[1] <= box.bottom - room
        assert all(math.dist(place, other) >= least for other in places[:index])


def test_dots_without_a_pull_keep_out_of_the_way_of_the_others() -> None:
    box = Box(left=0, top=0, right=400, bottom=400)
    dots = [Dot(name=str(index), group="g", room=5) for index in range(60)]
    places = placed(dots, {("0", "1"): 9, ("1", "2"): 9, ("x", "0"): 9}, box)

    assert len(places) == 60
    assert max(places[name][1] for name in "012") < min(places[str(i)][1] for i in range(3, 60))


def test_no_other_command_loads_what_draws() -> None:
    code = "import sys, node.cli.main; print([n for n in ('networkx', 'numpy', 'scipy') if n in sys.modules])"
    done = subprocess.run(  # noqa: S603 # our own code
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
