"""One directory, one process; what is written there is written whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from node.base.errors import LockedError, NodeCode, NodeError
from node.base.paths import DataDir, hold, make_private, sync_directory, write_private

HOLDER = """
import sys
from pathlib import Path
from node.base.paths import DataDir, hold
with hold(DataDir(Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_every_file_has_a_place_of_its_own(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    places = [
        getattr(data, name) for name, one in vars(DataDir).items() if isinstance(one, property)
    ]

    assert len(set(places)) == len(places) == 10
    assert {place.parent for place in places} == {tmp_path}


def test_a_held_directory_is_refused_with_the_holders_process_id(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    with hold(data), pytest.raises(LockedError) as refused, hold(data):
        pytest.fail("two hold it")  # pragma: no cover # it must not come to this

    assert refused.value.code is NodeCode.LOCKED
    assert f"process {os.getpid()} " in refused.value.why


def test_it_is_free_again_afterwards_also_after_an_error(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    with pytest.raises(RuntimeError), hold(data):
        raise RuntimeError
    with hold(data):
        assert data.lock.read_text() == f"{os.getpid()}\n"


def test_the_kernel_frees_it_when_the_holder_is_killed(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    root = Path(__file__).parents[3]
    with subprocess.Popen(  # noqa: S603 # our own program
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(root)},
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(LockedError) as refused, hold(data):
            pytest.fail("two hold it")  # pragma: no cover # it must not come to this
        assert f"process {holder.pid} " in refused.value.why
        holder.kill()
        holder.wait(timeout=10)
        with hold(data):
            assert data.lock.read_text() == f"{os.getpid()}\n"


def test_a_shorter_process_id_leaves_nothing_of_a_longer_one(tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    data.lock.write_text("9" * 30)
    with hold(data):
        assert data.lock.read_text() == f"{os.getpid()}\n"


@pytest.mark.parametrize("missing", ["genesis.msgpack", "folkmoot.toml", "keys"])
def test_a_directory_without_an_instance_is_told_apart(tmp_path: Path, missing: str) -> None:
    data = DataDir(tmp_path)
    data.genesis.touch()
    data.settings.touch()
    data.keys.mkdir()
    data.check()
    if missing == "keys":
        data.keys.rmdir()
    else:
        (tmp_path / missing).unlink()
    with pytest.raises(NodeError, match=missing) as refused:
        data.check()

    assert refused.value.code is NodeCode.NOT_INITIALISED


def test_a_private_file_is_for_its_owner_only_and_replaces_what_was_there(tmp_path: Path) -> None:
    place = tmp_path / "tokens.json"
    place.write_bytes(b"x" * 1_000)
    place.chmod(0o644)
    write_private(place, b"new")

    assert place.read_bytes() == b"new"
    assert place.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [place]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    place = tmp_path / "tokens.json"
    write_private(place, b"old")
    # The name that the new content gets first is taken by a directory.
    (tmp_path / "tokens.json.new").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_private(place, b"new")

    assert place.read_bytes() == b"old"


def test_a_private_directory_is_for_its_owner_only_and_may_be_there(tmp_path: Path) -> None:
    place = tmp_path / "a" / "keys"
    make_private(place)
    make_private(place)
    sync_directory(place)

    assert place.stat().st_mode & 0o777 == 0o700
