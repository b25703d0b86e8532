"""`folkmoot charter cost`, of presets, of files and of running nodes."""

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from federation.charter import PRESETS, Charter
from federation.codec import encode
from node.cli.charter_cmd import imagined
from node.cli.cost_cmd import CHARTER_COST, measure
from node.queries.capture import Basis, CapturePage, imagined_page
from tests.node.cli.running import folkmoot, started
from tests.node.cli.session import run
from tests.node.cli.test_client import stranger

GOOD = msgspec.to_builtins(
    imagined_page(imagined("community", operators=4, founders=5), Basis.GROWN)
)


def written(path: Path, charter: Charter) -> Path:
    file = path / "charter"
    file.write_bytes(encode(charter))
    return file


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_priced(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    session = run(f"charter cost --preset {name} --operators 4 --founders 12 --json", capsys)
    told = json.loads(session.data)
    page = imagined_page(imagined(name, operators=4, founders=12), Basis.GROWN)

    assert (session.code, session.people) == (0, "")
    assert told.keys() == CHARTER_COST.data.keys()
    for name_ in msgspec.structs.fields(CapturePage):
        if name_.name != "rows":
            assert told[name_.name] == json.loads(msgspec.json.encode(getattr(page, name_.name)))
    for row, shown in zip(page.rows, told["rows"], strict=True):
        assert shown["fooled"] == row.fooled
        assert (shown["core_hours"] == 0) is (name == "test")


def test_core_hours_are_hashes_and_gates_at_the_measured_pace(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = json.loads(run("charter cost --preset community --operators 4 --json", capsys).data)

    for row in told["rows"]:
        gates = row["proofs"] * 2 ** told["gate_bits"] * told["gate_us"] / 1_000
        hours = (row["hashes"] * told["hash_ms"] + gates) / 3_600_000
        assert row["core_hours"] == pytest.approx(hours, rel=0.02, abs=0.001)


def test_a_hash_of_much_memory_takes_longer() -> None:
    community = imagined_page(imagined("community", operators=1, founders=5), Basis.GROWN)
    small, large = measure(replace(community, memory_kib=64)), measure(community)

    assert small.hash_ms * 10 < large.hash_ms
    assert 3 <= large.hashes <= 64
    assert large.gate_us > 0


def test_people_see_a_table_and_what_binds(capsys: pytest.CaptureFixture[str]) -> None:
    session = run("charter cost --preset community --operators 4", capsys)
    rows = [line.split()[:6] for line in session.data.splitlines()]

    assert session.code == 0
    assert "SHARE  SAVES      IDENTITIES  OPERATORS  INSTANCES  FOOLED VOUCHES" in session.people
    assert [row[0] for row in rows] == ["10", "33", "50"] * 2
    assert rows[2][2:] == ["vouches", "25", "12", "2"]
    assert rows[5][2:] == ["operators", "75", "1", "2"]
    for words in ("What binds:", "proven:", "ms for a hash of 16,384 KiB", "trust.kappa"):
        assert words in session.people


def test_a_first_day_is_priced_by_its_founders(capsys: pytest.CaptureFixture[str]) -> None:
    line = "charter cost --preset community --operators 4 --founders 12"
    told = run(f"{line} --first-day", capsys)

    assert "on its first day: 4 operators with weight, 4 instances, 12 agents; 12.00" in told.people


def test_what_is_the_same_is_not_told_twice(capsys: pytest.CaptureFixture[str]) -> None:
    session = run("charter cost --preset federation --operators 12", capsys)

    assert "  10 %, saving operators: as above" in session.people


def test_what_is_out_of_reach_is_told_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = imagined("community", operators=4, founders=12)
    narrow = replace(one, trust=replace(one.trust, seats=1, w_min=1_000_000))
    session = run(f"charter cost {written(tmp_path, narrow)}", capsys)

    assert session.code == 0
    assert "out of reach" in session.data
    assert "50 %, saving vouches: nobody without a seed can hold so much" in session.people
    assert "the rest does not reach" in session.people


def test_a_proofless_charter_takes_no_core_hours(capsys: pytest.CaptureFixture[str]) -> None:
    session = run("charter cost --preset test", capsys)

    assert all(line.split()[-1] == "0" for line in session.data.splitlines())
    assert "asks for no proof" in session.people


def test_a_file_is_priced_and_a_broken_one_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = imagined("solo", operators=1, founders=5)
    priced = run(f"charter cost {written(tmp_path, good)} --json", capsys)
    broken = replace(good, admission=replace(good.admission, most_bits=1))
    refused = run(f"charter cost {written(tmp_path, broken)}", capsys)
    (tmp_path / "charter").write_bytes(b"\x01\x02")
    unread = run(f"charter cost {tmp_path / 'charter'}", capsys)
    missing = run(f"charter cost {tmp_path / 'none'}", capsys)

    assert priced.code == 0
    assert json.loads(priced.data)["preset"] == "solo"
    assert refused.code == 1
    assert "above admission.most_bits" in refused.three[1]
    assert unread.code == 3
    assert missing.code == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("charter cost file --preset solo", "either a FILE or a preset"),
        ("charter cost file --founders 3", "only a preset"),
        ("charter cost --operators 3", "only a preset"),
        ("charter cost file --url http://127.0.0.1:1", "without a node"),
        ("charter cost --preset solo --data here", "without a node"),
        ("charter cost --first-day", "priced as it is now"),
        ("charter cost --preset nothing", "no preset 'nothing'"),
        ("charter cost --preset solo --operators 51", "'51'"),
    ],
)
def test_a_line_that_makes_no_sense_is_explained(
    line: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(line, capsys)

    assert session.code == 2
    assert why in session.three[1]


def test_a_running_community_is_measured(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made = folkmoot(
        f"init --data {data} --http-port 0 --listen /ip4/127.0.0.1/tcp/0 --agents ada,brahe,curie"
    )
    assert made.code == 0, made.people
    with started(f"run --data {data}", tmp_path / "log") as running:
        by_data = folkmoot(f"charter cost --data {data} --json")
        by_url = folkmoot(f"charter cost --url {running.told['url']}")

    told = json.loads(by_data.data)
    assert (by_data.code, told["basis"], told["agents"]) == (0, "measured", 3)
    assert told["cut"] is not None
    assert [row["fooled"] for row in told["rows"]] == [1] * 6
    assert by_url.code == 0
    assert "as of cut" in by_url.people
    assert len(by_url.data.splitlines()) == 6


def test_where_no_node_runs_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"charter cost --data {tmp_path}", capsys)

    assert session.code == 1


@pytest.mark.parametrize(
    "told",
    [
        {},
        [],
        {**GOOD, "rows": 7},
        {**GOOD, "memory_kib": 10**9},
        {**GOOD, "gate_bits": 10**9},
        {**GOOD, "gate_bits": -1},
        {**GOOD, "honest": 10**400},
        {**GOOD, "rows": [{**GOOD["rows"][0], "lasts": 10**400}]},
        {**GOOD, "rows": [{**GOOD["rows"][0], "hashes": -5}]},
    ],
)
def test_odd_answers_of_a_node_are_refused(
    told: object, capsys: pytest.CaptureFixture[str]
) -> None:
    with stranger(content=json.dumps(told).encode()) as (url, _):
        for line in (f"charter cost --url {url}", f"charter cost --url {url} --json"):
            session = run(line, capsys)

            assert session.code in {1, 2}
            assert session.data == ""
            assert len(session.three) == 3


def test_words_of_a_strange_node_move_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    row = {**GOOD["rows"][0], "aim": "\x1b[2J"}
    row["why"] = [{"column": "days", "proven": False, "why": "\x1b[2J"}]
    told = {**GOOD, "preset": "\x1b[2J", "rows": [row], "assumes": ["\x1b[2J"]}
    with stranger(content=json.dumps(told).encode()) as (url, _):
        session = run(f"charter cost --url {url}", capsys)

    assert session.code == 0
    assert "\x1b" not in session.people + session.data


def test_numbers_that_are_tiny_are_no_powers_of_ten(capsys: pytest.CaptureFixture[str]) -> None:
    session = run("charter cost --preset test", capsys)

    assert "below 0.001" in session.data
    assert "e-" not in session.data
    assert ": 1 operator with weight, 1 instance, " in session.people


def test_the_genesis_of_a_realm_is_priced_and_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = run(f"init --data {tmp_path / 'moot'} --preset solo --make-passphrase", capsys)
    assert made.code == 0, made.people
    file = tmp_path / "moot" / "genesis.msgpack"
    priced = run(f"charter cost {file} --first-day", capsys)
    checked = run(f"charter check {file}", capsys)
    file.write_bytes(file.read_bytes()[:-1])
    damaged = run(f"charter cost {file}", capsys)

    assert "Preset solo, on its first day: 1 operator with weight" in priced.people
    assert checked.code == 0
    assert "1 operators, 1 instances, 5 founders" in checked.people
    assert damaged.three[2].endswith("[GENESIS_DAMAGED]")
