"""Where a picture of trust goes, and what becomes of odd answers of a node."""

import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from node.cli.errors import CommandError, UsageError
from node.cli.trust_graph_cmd import _check_place, _write, picture


def test_a_picture_replaces_a_file_whole_and_nothing_else(tmp_path: Path) -> None:
    file, link, loop = tmp_path / "a.svg", tmp_path / "b.svg", tmp_path / "loop"
    file.write_text("old")
    link.symlink_to(file)
    loop.symlink_to(loop)
    _check_place(link)
    _write(link, "new")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").symlink_to(tmp_path)

    assert (file.read_text(), link.is_symlink()) == ("new", True)
    for name in ("pipe", "folder"):
        with pytest.raises(UsageError):
            _check_place(tmp_path / name)
    with pytest.raises(CommandError, match="circle"):
        _check_place(loop)


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        _write(file, "\ud800")

    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"agents": None, "edges": 7, "realm": ["x"], "tick": "many"},
        {"agents": [{}, {"id": "a", "trust": -5, "weight": "x", "operator": "x", "tier": None}]},
        {"agents": [{"id": "a"}, {"id": "b"}], "edges": [{"by": "a", "of": "b", "weight": 10**9}]},
        {"agents": [{"id": "a", "trust": True}, {"id": "a", "trust": 1}], "agents_left_out": 3},
    ],
)
def test_whatever_a_node_tells_gives_a_picture(told: dict[str, object]) -> None:
    ET.fromstring(picture(told))  # type: ignore[arg-type] # noqa: S314 # our own bytes
