import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from node.base.errors import NodeCode, NodeError
from node.setup.directory import check_free, whole

ROOT = Path(__file__).parents[3]


def code_of(place: Path) -> NodeCode:
    with pytest.raises(NodeError) as caught, whole(place) as fresh:
        (fresh / "file").touch()
    return caught.value.code


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_it_appears_with_all_that_was_written_and_nothing_is_left_beside(tmp_path: Path) -> None:
    place = tmp_path / "above" / "data"
    with whole(place) as fresh:
        (fresh / "inside").mkdir()
        (fresh / "inside" / "file").write_text("content")
        assert not place.exists()

    assert (place / "inside" / "file").read_text() == "content"
    assert place.stat().st_mode & 0o777 == 0o700
    assert names(place.parent) == {"data"}


def test_an_empty_directory_may_be_there_already(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with whole(tmp_path / "data") as fresh:
        (fresh / "file").touch()

    assert names(tmp_path / "data") == {"file"}


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with whole(tmp_path / "link") as fresh:
        (fresh / "file").touch()

    assert (tmp_path / "link").is_symlink()
    assert names(tmp_path / "real") == {"file"}


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with whole(tmp_path / "data") as fresh:
            (fresh / "file").touch()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert names(tmp_path) == set()


def test_what_is_there_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine").write_text("content")
    (tmp_path / "file").touch()

    assert code_of(tmp_path / "data") is NodeCode.ALREADY_INITIALISED
    assert code_of(tmp_path / "file") is NodeCode.ALREADY_INITIALISED
    assert (tmp_path / "data" / "mine").read_text() == "content"
    assert names(tmp_path) == {"data", "file"}


def test_what_appears_meanwhile_wins(tmp_path: Path) -> None:
    def overtaken() -> None:
        with whole(tmp_path / "data"):
            (tmp_path / "data").mkdir()
            (tmp_path / "data" / "theirs").touch()

    with pytest.raises(NodeError) as caught:
        overtaken()

    assert caught.value.code is NodeCode.NOT_WRITTEN
    assert names(tmp_path / "data") == {"theirs"}
    assert names(tmp_path) == {"data"}


def test_two_at_once_are_one_too_many(tmp_path: Path) -> None:
    with whole(tmp_path / "data"):
        assert code_of(tmp_path / "data") is NodeCode.LOCKED

    assert names(tmp_path) == {"data"}


def test_a_parent_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert code_of(tmp_path / "file" / "data") is NodeCode.NOT_WRITTEN


def test_a_mount_point_is_told_to_hold_a_directory_inside() -> None:
    mounts = [Path(line.split()[1]) for line in Path("/proc/mounts").read_text().splitlines()]
    empty = [
        one
        for one in mounts
        if one.is_dir() and os.access(one, os.R_OK | os.X_OK) and not any(one.iterdir())
    ]
    if not empty:
        pytest.skip("this machine has no empty mount point")
    with pytest.raises(NodeError) as caught:
        check_free(empty[0])

    assert str(empty[0] / "folkmoot") in caught.value.fix


def test_a_scratch_directory_that_was_renamed_meanwhile_is_not_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock

    def late(descriptor: int, operation: int) -> None:
        """Let the holder of the scratch directory finish just before it is locked."""
        (tmp_path / ".data.init").rename(tmp_path / "elsewhere")
        (tmp_path / ".data.init").mkdir()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)

    assert code_of(tmp_path / "data") is NodeCode.LOCKED


@pytest.mark.parametrize("left", ["file", "folder"])
def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path, left: str) -> None:
    script = (
        "import sys, pathlib; from node.setup.directory import whole\n"
        f"with whole(pathlib.Path({str(tmp_path / 'data')!r})) as fresh:\n"
        "    (fresh / 'half').mkdir()\n"
        "    (fresh / 'half' / 'key').write_text('secret')\n"
        f"    {'(fresh.parent / str(9)).touch()' if left == 'file' else 'pass'}\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(  # noqa: S603 # our own interpreter
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)

    assert names(tmp_path) == {".data.init"}
    with whole(tmp_path / "data") as fresh:
        (fresh / "file").touch()
    assert names(tmp_path) == {"data"}
    assert names(tmp_path / "data") == {"file"}
