"""What benchmarks compute by themselves is right: their arithmetic, not their measurements."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import otc, otc_data, otc_page, trust, trust_graph, trust_ours, trust_peers
from benchmarks.__main__ import NAMES
from benchmarks.auroc import Draws, Order, auroc, interval
from benchmarks.otc_attack import victims_of, voting, with_sybils
from benchmarks.otc_data import Judgements, Ratings, read_ratings, read_wiki, shuffled, split
from benchmarks.otc_methods import METHODS, folkmoot, folkmoot_uncapped, pagerank, stationary

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "contributing" / "benchmarks.md"


def by_pairs(scores: list[int], positive: list[bool], counts: list[int]) -> float:
    """Give the area by its definition: every pair of a positive and a negative case."""
    won = pairs = 0.0
    for one, other in itertools.product(range(len(scores)), repeat=2):
        if positive[one] and not positive[other]:
            weight = counts[one] * counts[other]
            pairs += weight
            won += weight * ((scores[one] > scores[other]) + (scores[one] == scores[other]) / 2)
    return won / pairs


def judgements(*edges: tuple[int, int, int], agents: int) -> Judgements:
    columns = np.array(edges, np.int64).reshape(-1, 3)
    return Judgements(
        agents=agents,
        seats=agents,
        sources=columns[:, 0],
        targets=columns[:, 1],
        weights=columns[:, 2],
    )


def circle(agents: int) -> Judgements:
    """Each judges the next three."""
    return judgements(
        *((one, (one + step) % agents, 40) for one in range(agents) for step in (1, 2, 3)),
        agents=agents,
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_area_is_the_share_of_pairs_won_with_ties_as_halves(seed: int) -> None:
    chance = np.random.default_rng(seed)
    scores = chance.integers(0, 6, 30).tolist()
    positive = [True, False, *(chance.random(28) < 0.3).tolist()]
    counts = chance.integers(1, 4, 30).tolist()

    assert auroc(scores, positive, counts) == pytest.approx(by_pairs(scores, positive, counts))
    assert auroc(scores, positive) == pytest.approx(by_pairs(scores, positive, [1] * 30))


def test_the_area_knows_perfect_reversed_and_useless_scores() -> None:
    positive = [False, False, True, True]

    assert auroc([1, 2, 3, 4], positive) == 1
    assert auroc([4, 3, 2, 1], positive) == 0
    assert auroc([7, 7, 7, 7], positive) == 0.5


def test_whole_numbers_that_floats_confuse_are_not_tied() -> None:
    assert auroc(np.array([1 << 60, (1 << 60) + 1]), [False, True]) == 1


def test_an_area_without_both_kinds_is_no_number() -> None:
    assert np.isnan(auroc([1, 2], [True, True]))
    assert np.isnan(auroc([], []))


def test_a_score_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="not a number"):
        auroc([1.0, float("nan")], [True, False])


def test_a_draw_takes_all_cases_of_a_group_or_none() -> None:
    groups = np.array([5, 5, 9, 9, 9, 2])
    draws = Draws.by(groups, seed=1, draws=50)

    for counts in draws.counts:
        assert counts[0] == counts[1]
        assert counts[2] == counts[3] == counts[4]
        assert counts[0] + counts[2] + counts[5] == 3
    assert len({counts.tobytes() for counts in draws.counts}) > 1


def test_an_interval_holds_the_area_it_belongs_to() -> None:
    chance = np.random.default_rng(8)
    positive = chance.random(400) < 0.4
    scores = chance.normal(size=400) + positive
    order = Order(scores, positive)

    low, high = interval(Draws.by(np.arange(400), seed=2, draws=200).areas(order))

    assert low < order.area(np.ones(400)) < high
    assert 0.02 < high - low < 0.2


def ratings(*rows: tuple[int, int, int]) -> Ratings:
    columns = np.array(rows, np.int64)
    return Ratings(sources=columns[:, 0], targets=columns[:, 1], values=columns[:, 2])


def test_nothing_of_the_future_and_nothing_negative_goes_into_the_past() -> None:
    rows = ratings((1, 2, 5), (2, 3, -10), (4, 1, 10), (9, 2, -1), (1, 8, -3), (3, 1, 1))

    later = split(rows, 0.5)

    assert (later.past.agents, later.past.seats) == (4, 4)
    assert list(zip(later.past.sources, later.past.targets, later.past.weights, strict=True)) == [
        (0, 1, 80),
        (3, 0, 160),
    ]
    assert later.complaints.tolist() == [0, 0, 1, 0]
    # The rating of 8 is not held out: nobody knew it. The rater 9 is unknown, and stays.
    assert later.targets.tolist() == [1, 0]
    assert later.raters.tolist() == [-1, 2]
    assert later.negative.tolist() == [True, False]


def test_of_each_agent_only_the_first_later_rating_is_taken() -> None:
    later = split(ratings((1, 2, 5), (2, 1, 5), (3, 2, 1), (4, 2, -1), (3, 1, -1), (4, 1, 1)), 0.34)

    assert later.targets[later.first_each()].tolist() == [1, 0]
    assert later.negative[later.first_each()].tolist() == [False, True]


def test_ratings_are_read_oldest_first_with_or_without_a_head(tmp_path: Path) -> None:
    rows = "1,2,5,30.5\n2,3,-1,10\n3,3,4,20\n"
    for number, text in enumerate((rows, "source,target,rating,time\n" + rows)):
        path = tmp_path / str(number)
        path.write_text(text, encoding="utf-8")

        read = read_ratings(path)

        assert read.sources.tolist() == [2, 1]  # nobody rates itself
        assert read.values.tolist() == [-1, 5]


def test_a_file_with_other_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "votes"
    path.write_text("1,2,3\n", encoding="utf-8")

    with pytest.raises(ValueError, match="3 columns where 2"):
        read_wiki(path)


def test_forgetting_the_order_keeps_the_ratings() -> None:
    rows = ratings(*((one, one + 1, 1 + one % 9) for one in range(40)))
    mixed = shuffled(rows)

    assert mixed.sources.tolist() != rows.sources.tolist()
    assert sorted(zip(mixed.sources, mixed.values, strict=True)) == sorted(
        zip(rows.sources, rows.values, strict=True)
    )


def test_personalised_pagerank_by_igraph_and_by_rounds_agree() -> None:
    pytest.importorskip("igraph")
    start = np.zeros(30)
    start[[2, 5]] = 0.5

    by_igraph = METHODS["igraph_ppr"].score(circle(30), [2, 5])

    assert np.allclose(by_igraph, stationary(circle(30), start), atol=1e-9)


def test_an_attack_adds_the_edges_it_says_and_no_seats() -> None:
    real = circle(12)
    attacked = with_sybils(real, np.array([3, 7]), sybils=20, shape="eight")
    pairs = set(zip(attacked.sources.tolist(), attacked.targets.tolist(), strict=True))

    assert (attacked.agents, attacked.seats) == (32, 12)
    assert len(pairs) == len(attacked.sources) == 36 + 2 + 8 * 20
    assert {(3, 12), (7, 22)} <= pairs
    assert all(source >= 12 for source, target in pairs if target >= 12 and source not in {3, 7})


def test_sybils_gain_nothing_by_number_under_folkmoot_and_much_under_pagerank() -> None:
    real = circle(60)
    victims = victims_of(real, folkmoot(real, [0, 1]), edges=2, fooled="drawn")
    shares = {}
    for sybils in (20, 2_000):
        attacked = with_sybils(real, victims, sybils=sybils, shape="ring")
        for name, score in (("folkmoot", folkmoot), ("pagerank", pagerank)):
            trust = score(attacked, [0, 1])
            shares[name, sybils] = float(trust[60:].sum() / trust.sum())

    assert shares["folkmoot", 2_000] <= shares["folkmoot", 20] * 1.01
    assert shares["pagerank", 2_000] > 0.9


def test_a_cap_on_an_edge_only_takes_trust_from_sybils() -> None:
    attacked = with_sybils(circle(60), np.array([0]), sybils=30, shape="ring")

    assert folkmoot(attacked, [0])[60:].sum() <= folkmoot_uncapped(attacked, [0])[60:].sum()


def test_voting_weight_is_none_without_a_ticket_and_full_with_a_seat() -> None:
    seat = (1 << 60) // 50

    assert voting(np.array([0, seat // 100, seat, 9 * seat]), seats=50).tolist() == [
        0,
        0,
        1_000_000,
        1_000_000,
    ]


def test_a_made_graph_is_what_was_asked_for_and_the_same_each_time(tmp_path: Path) -> None:
    made = trust_graph.make(300, 2_000)
    trust_graph.write(made, tmp_path / "graph")
    sources, targets, weights = made.arrays()

    assert made == trust_graph.make(300, 2_000) == trust_graph.read(tmp_path / "graph")
    assert len(set(zip(sources.tolist(), targets.tolist(), strict=True))) == 2_000
    assert not (sources == targets).any()
    assert weights.min() >= 1
    assert (tmp_path / "graph").stat().st_size == 24 + 4 * 20 + 9 * 2_000


def test_a_graph_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="at most an eighth"):
        trust_graph.make(30, 900)


def stored(folder: Path) -> Path:
    path = folder / "graph"
    trust_graph.write(trust_graph.make(300, 2_000), path)
    return path


def test_what_is_measured_is_the_reference_bit_by_bit(tmp_path: Path) -> None:
    one = trust_ours.measure(stored(tmp_path), threads=1)
    two = trust_ours.measure(stored(tmp_path), threads=2)

    assert one["digest"] == two["digest"]
    assert one["reference_equal"] is True


def test_one_more_epoch_changes_edges_reads_nothing_and_is_a_new_build(tmp_path: Path) -> None:
    epoch = trust_ours.one_more_epoch(stored(tmp_path), threads=1)

    assert epoch["changed_edges"] == 20
    assert epoch["read_bytes"] in {0, None}
    assert epoch["file_gone"] is True
    assert epoch["same_as_anew"] is True


def test_the_epoch_through_the_graph_applies_the_same_changes(tmp_path: Path) -> None:
    assert trust_ours.through_the_graph(stored(tmp_path))["acts"] == 20


@pytest.mark.parametrize("peer", sorted(trust_peers.PEERS))
def test_every_peer_is_measured_or_named_as_missing(peer: str, tmp_path: Path) -> None:
    missing = trust_peers.missing(peer)
    if missing:
        assert missing.startswith("pip install ")
    elif peer != "networkit":  # its import starts threads that outlive the test
        assert trust_peers.measure(peer, stored(tmp_path)).keys() == {
            "build_s",
            "solve_s",
            "peak_mb",
        }


def test_what_is_not_installed_is_named() -> None:
    assert trust_peers.missing("surely_not_there") == "pip install surely_not_there"


def measured(**changes: object) -> dict[str, object]:
    epoch = {"read_bytes": 0, "file_gone": True, "same_as_anew": True}
    return {
        "edges": 10_000_000,
        "build_s": 2.9,
        "rounds_s": 3.9,
        "peak_mb": 249.0,
        "igraph": {"ratio_cores": 5.0},
        "incremental": epoch,
        **changes,
    }


def test_all_goals_of_the_large_graph_can_be_met() -> None:
    assert all(trust.goals(measured()).values())


@pytest.mark.parametrize(
    "changes",
    [
        {"build_s": 3.1},
        {"rounds_s": 4.1},
        {"peak_mb": 251.0},
        {"igraph": {"ratio_cores": 4.9}},
        {"incremental": {"read_bytes": 1, "file_gone": True, "same_as_anew": True}},
        {"incremental": {"read_bytes": 0, "file_gone": True, "same_as_anew": False}},
    ],
)
def test_each_goal_can_be_missed(changes: dict[str, object]) -> None:
    assert list(trust.goals(measured(**changes)).values()).count(False) == 1


def test_rounds_are_judged_on_all_cores_as_a_node_runs_them() -> None:
    quick, slow = {"threads": 2, "rounds_s": 3.9}, {"threads": 2, "rounds_s": 4.1}

    assert all(trust.goals(measured(rounds_s=9.0, threads=quick)).values())
    assert not all(trust.goals(measured(rounds_s=1.0, threads=slow)).values())


def test_a_small_graph_and_a_missing_peer_leave_a_goal_unjudged() -> None:
    assert trust.goals(measured(edges=1_000, build_s=99.0))["build at most 3.0 s"] is None
    assert None in trust.goals(measured(igraph={"missing": "pip install igraph"})).values()


def test_every_benchmark_is_in_its_page() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert [name for name in NAMES if f"| `{name}` |" not in page] == []


def test_tables_go_between_their_marks_and_nowhere_else() -> None:
    text = "before\n<!-- otc: one -->\nold\n<!-- end -->\nafter\n"

    put = otc_page.with_tables(text, {"one": "new \\1 line"})

    assert put == "before\n<!-- otc: one -->\nnew \\1 line\n<!-- end -->\nafter\n"
    assert otc_page.with_tables(put, {"one": "new \\1 line"}) == put
    for broken in ("no marks", text + text):
        with pytest.raises(ValueError, match="once"):
            otc_page.with_tables(broken, {"one": "new"})


def test_a_share_of_almost_nothing_is_not_shown_as_nothing() -> None:
    found = {"foretell": [], "own_eyes": [], "attack": {}, "missing": {}}
    cell = {"auroc": 0.5, "interval": [0.4, 0.6]}

    assert otc_page.attack_table(
        {**found, "attack": {"advogato": {"attacks": [ATTACK, LARGER]}}}
    ).endswith("| Advogato | drawn | 10 | below .01 % | - | 3.00 % | - | 8.67 % |")
    assert otc_page.with_interval(cell) == ".500 (.400 to .600)"


ATTACK = {
    "fooled": "drawn",
    "edges": 10,
    "sybils": 10_000,
    "shape": "ring",
    "bound": 0.0867,
    "folkmoot": {"weight": 0.00003},
    "igraph_ppr": {"weight": 0.02},
}
LARGER = {**ATTACK, "sybils": 20_000, "folkmoot": {"weight": 0.0}, "igraph_ppr": {"weight": 0.03}}


def test_the_page_has_room_for_every_table() -> None:
    page = ROOT / "docs" / "explanation" / "trust-on-real-graphs.md"
    marks = re.findall(r"<!-- otc: (\w+) -->", page.read_text(encoding="utf-8"))

    assert sorted(marks) == sorted(otc_page.TABLES)


def test_the_data_are_not_shipped() -> None:
    names = {otc_data.OTC, otc_data.ADVOGATO, otc_data.WIKI}
    folders = ("benchmarks", "docs", "federation", "node", "tests")

    assert not [
        path for top in folders for path in (ROOT / top).rglob("*.csv") if path.name in names
    ]


def test_without_data_it_says_what_to_get(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["otc", "--data", str(tmp_path)])

    assert otc.main() == 1
    assert "soc-sign-bitcoin-otc" in capsys.readouterr().err
