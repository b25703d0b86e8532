import json
from pathlib import Path

import msgspec
import pytest

from federation.charter import (
    MATTERS,
    PRESETS,
    Charter,
    check,
    worst_case_of,
    worst_case_time,
)
from federation.codec import encode
from node.cli.charter_cmd import imagined
from tests.node.cli.session import run


def written(path: Path, charter: Charter) -> Path:
    file = path / "charter"
    file.write_bytes(encode(charter))
    return file


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_checked_with_imagined_founders(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"charter check --preset {name} --operators 2 --founders 7 --json", capsys)
    told = json.loads(session.data)
    charter = imagined(name, operators=2, founders=7)

    assert (session.code, session.people) == (0, "")
    assert (told["preset"], told["errors"]) == (name, 0)
    assert (told["operators"], told["instances"], told["founders"]) == (2, 2, 7)
    assert [one["code"] for one in told["findings"]] == [one.code for one in check(charter)]
    assert told["worst_case_ms"] == {
        "low": worst_case_time(charter, "low").total,
        "high": worst_case_time(charter, "high").total,
    } | {matter: worst_case_of(charter, matter).total for matter in MATTERS}
    assert told["warnings"] == sum(one["severity"] == "warning" for one in told["findings"])


def test_people_are_told_the_longest_time_and_every_relaxation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = run("charter check --preset community --operators 1 --founders 3", capsys)

    assert (session.code, session.data) == (0, "")
    assert session.people.startswith("Charter 'community', preset community: 1 operators")
    for code in ("WORST_CASE_TIME", "MEMBERSHIP", "QUORUM_LOWERED", "EXCLUSION_RELAXED"):
        assert f"[{code}]" in session.people
    assert session.people.endswith("It can be adopted, knowing the above.\n")


def test_the_most_founders_still_fit(capsys: pytest.CaptureFixture[str]) -> None:
    session = run("charter check --preset test --operators 50 --founders 50 --json", capsys)

    assert session.code == 0


def test_a_file_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, imagined("solo", operators=1, founders=5))
    session = run(f"charter check {file} --json", capsys)

    assert session.code == 0
    assert json.loads(session.data)["founders"] == 5


def test_a_charter_that_cannot_work_leaves_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = imagined("solo", operators=1, founders=5)
    review = msgspec.structs.replace(good.review, k=4, q_min=5)
    good = msgspec.structs.replace(
        good, disputes=msgspec.structs.replace(good.disputes, q_dispute=4)
    )
    session = run(
        f"charter check {written(tmp_path, msgspec.structs.replace(good, review=review))}", capsys
    )

    assert session.code == 1
    assert "error    review.q_min is 5, above review.k, which is 4 [ORDER]" in session.people
    assert session.people.endswith("Do not adopt it.\n")


def test_bytes_that_are_no_charter_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "charter").write_bytes(b"\x01\x02")
    session = run(f"charter check {tmp_path / 'charter'}", capsys)

    assert session.code == 3
    assert session.three[0] == "folkmoot: charter refused"
    assert session.three[2].endswith("[NOT_CANONICAL]")


def test_a_file_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"charter check {tmp_path / 'none'}", capsys)

    assert session.code == 1
    assert session.three[1] == f"  why: {tmp_path / 'none'}: No such file or directory"
    assert session.three[2].endswith("[NOT_READABLE]")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("charter check", "either a FILE or a preset"),
        ("charter check file --preset solo", "either a FILE or a preset"),
        ("charter check file --founders 3", "a FILE names its own"),
        ("charter check file --operators 3", "a FILE names its own"),
        ("charter check --preset nothing", "no preset 'nothing'"),
        ("charter check --preset solo --founders 0", "'0'"),
        ("charter check --preset solo --operators 51", "'51'"),
        ("charter show --preset nothing", "no preset 'nothing'"),
    ],
)
def test_a_line_that_makes_no_sense_is_explained(
    line: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(line, capsys)

    assert session.code == 2
    assert why in session.three[1]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_shown_as_data(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(run(f"charter show --preset {name} --json", capsys).data)
    rules = msgspec.to_builtins(PRESETS[name])

    assert told == {"preset": name, **json.loads(json.dumps(rules))}


def test_a_preset_is_shown_as_lines(capsys: pytest.CaptureFixture[str]) -> None:
    session = run("charter show --preset community", capsys)
    lines = session.data.splitlines()

    assert session.people == ""
    assert "timing.epoch 3600000" in lines
    assert "review.topics[0].prefix notes" in lines
    assert "trust.evidence.vote_strong 1000000" in lines
    assert len(lines) == len(set(lines))
