"""The golden story over three processes: every row of the lifecycle's table, with its proofs."""

import json

import pytest

from federation.artifacts import TRANSITIONS, Action, State
from node.cli import story_text
from node.cli.output import Output
from tests.node.cli.session import run_process

ROWS = [
    (None, "submit", "proposed", ["Ada"]),
    ("proposed", "begin_review", "under_review", None),
    ("under_review", "accept", "active", ["Hana"]),
    ("active", "dispute", "disputed", ["Iris"]),
    ("disputed", "retract", "retracted", ["Eve", "Finn", "Gus"]),
    ("retracted", "resubmit", "proposed", ["Ada"]),
    ("proposed", "begin_review", "under_review", None),
    ("under_review", "accept", "active", ["Ben", "Cleo", "Dan"]),
    ("active", "supersede", "superseded", ["Ada"]),
]
"""Where it stood, the action, where it leads, and who brought it about (None: members, the rules)."""
BY_LISTS = {"begin_review", "accept", "retract"}


def test_one_artifact_takes_the_whole_way_and_three_disks_tell_the_same() -> None:
    session = run_process("demo story --json")
    told = json.loads(session.data)
    moves = told["transitions"]

    assert session.code == 0
    assert told["agrees"]
    assert told["transport"] == "libp2p"
    assert len(told["digests"]) == 3
    assert len(set(told["digests"])) == 1
    assert [(one["origin"], one["action"], one["to"]) for one in moves] == [row[:3] for row in ROWS]
    for one, row in zip(moves, ROWS, strict=True):
        if row[3] is not None:
            assert sorted(one["actor"]) == row[3]
        origin = None if one["origin"] is None else State(one["origin"])
        assert one["guard"] == TRANSITIONS[origin, Action(one["action"])].condition
    # What lists have decided names the certificate that made them final; what follows a rule alone,
    # the second time a review begins, needs none.
    first = [one for one in moves if one["action"] in BY_LISTS and one["certificate"] is None]
    assert [one["action"] for one in first] in ([], ["begin_review"])
    cuts = [one["cut"] for one in moves]
    assert cuts == sorted(cuts)
    assert session.people == ""


def test_the_words_of_the_story_say_who_when_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    event = {
        "event": "certified",
        "phase": "commit",
        "who": [{"name": "instance 0", "id": "00"}],
        "cut": 3,
        "tick": 1,
        "why": "3 members ended the phase commit.",
        "note": None,
        "cid": "bafkreiepjgoeg6o4",
        "certificate": "31795ff5f088370c99",
        "moves": [{"origin": None, "action": "submit", "to": "proposed", "guard": "admitted"}],
    }
    story_text.tell(
        Output.standard(), [event, {"event": "waits", "who": [], "cut": None, "tick": None}]
    )

    assert capsys.readouterr().err.splitlines() == [
        "cut 3, tick 1     certified commit: instance 0",
        "    3 members ended the phase commit.",
        "    → nothing to proposed by submit (admitted)",
        "    record bafkreiepjgoeg6o, certificate 31795ff5f088370c",
        "no cut yet        waits",
    ]
