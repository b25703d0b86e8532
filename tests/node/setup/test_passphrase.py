import os
from pathlib import Path

from node.keys import obtain
from node.setup.passphrase import file_beside, made


def test_it_lies_beside_the_data_directory_for_its_owner_only(tmp_path: Path) -> None:
    file = file_beside(tmp_path / "above" / "data")
    made(file, os.urandom)

    assert file == tmp_path / "above" / "data.passphrase"
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(obtain(file=file, environ={})) == 32


def test_two_are_different(tmp_path: Path) -> None:
    made(tmp_path / "one", os.urandom)
    made(tmp_path / "two", os.urandom)

    assert (tmp_path / "one").read_bytes() != (tmp_path / "two").read_bytes()


def test_one_that_is_there_is_used(tmp_path: Path) -> None:
    made(tmp_path / "one", os.urandom)
    before = (tmp_path / "one").read_bytes()
    made(tmp_path / "one", os.urandom)

    assert (tmp_path / "one").read_bytes() == before
