"""The ladder of sanctions on a running node: each level reached, told, felt and given back.

Nothing is put into the node's world by hand. Agents file reports that a moderator finds unfounded,
leave ballots sealed, and copy another's sealed ballot past the door; what follows is read over HTTP
and by command line.
"""

import json
from collections.abc import Iterator
from typing import cast

import msgspec
import pytest

from federation.artifacts import Flag
from federation.core import RecordId
from federation.records import Body, Commit, Kind, Record, sign_record, wire
from tests.node.api.outside import Outside, at, outside
from tests.node.cli.session import run
from tests.node.runtime.moot import ARBITERS, DISPUTER, FIRST, MODERATOR, moot

COPIER, COPIED = 3, 2
PANEL = (1, 2, 5)
"""Reviewers of what the copier proposes, and of what it copies a ballot about."""


@pytest.fixture
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    """Run a moot in which each violation is a step, and lasts longer than the test."""
    root = tmp_path_factory.mktemp("sanctions")
    founded = moot(
        root,
        timing={"epoch": 600},
        sanctions={
            "window": 1_000,
            "warning": 1,
            "limit": 2,
            "probation": 3,
            "suspension": 4,
            "ban": 16,
            "conduct": 1,
            "unrevealed_free": 0,
        },
        # Sanctions alone are looked at, not what the same acts cost in reputation.
        disputes={"r_dispute": 0},
        r_min=0,
        deliberate=100,
        # Long enough to act in, short enough to wait for those who never open.
        reveal=1_500,
        commit=3_000,
        contest=0,
        rule=20_000,
    )
    with outside(root, founded) as it:
        yield it


class Shell:
    """A command line, and what it told."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Read what commands print."""
        self._capsys = capsys

    def standing(self, index: int) -> dict[str, object]:
        session = run(f"agent standing 'agent {index}' --json", self._capsys)
        assert session.code == 0, session
        return cast("dict[str, object]", json.loads(session.data))

    def says(self, index: int) -> str:
        session = run(f"agent standing 'agent {index}'", self._capsys)
        assert session.code == 0, session
        return session.data

    def done(self, line: str) -> None:
        session = run(line, self._capsys)
        assert session.code == 0, session

    def refused(self, line: str, code: str) -> None:
        session = run(line, self._capsys)
        assert session.three[2].endswith(f"[{code}]"), session


@pytest.fixture
def shell(
    town: Outside, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Shell:
    at(town.it, monkeypatch)
    return Shell(capsys)


def standing(town: Outside, index: int) -> dict[str, object]:
    return town.get("agents", town.agents[index].hex(), "standing")


def level(town: Outside, index: int) -> int:
    page = cast("dict[str, int]", standing(town, index)["level"])
    return page["level"]


def comes_to(town: Outside, index: int, step: int) -> None:
    town.until(lambda: level(town, index) == step)


def may(page: dict[str, object], what: str) -> tuple[bool, str | None]:
    rows = cast("list[dict[str, object]]", page["may"])
    row = next(one for one in rows if one["what"] == what)
    return bool(row["allowed"]), cast("str | None", row["code"])


def quota(page: dict[str, object], name: str) -> int:
    rows = cast("list[dict[str, object]]", page["quotas"])
    return cast("int", next(one for one in rows if one["name"] == name)["allowed"])


def by_own_hand(town: Outside, index: int, body: Body) -> RecordId:
    """Sign with an agent's key outside of its node, and hand it in as anybody may."""
    log, agent = town.it.node.world.log, town.agents[index]
    ((seq, head),) = log.heads_of(agent)
    keyring = town.it.node.keystore.keyring(agent)
    assert keyring is not None
    record = sign_record(
        body,
        realm=town.it.node.world.realm,
        signer=keyring.current,
        author=agent,
        key_index=len(keyring.keys) - 1,
        seq=seq + 1,
        prev=head,
        at=2**40,
    )
    answer = town.client.post(
        "/v1/records",
        content=msgspec.msgpack.encode([wire(record)]),
        headers={"content-type": "application/msgpack"},
    )
    assert answer.status_code == 200, answer.text
    return record.id


def commit_of(town: Outside, name: str, index: int) -> Record:
    world = town.it.node.world
    return next(
        one
        for one in world.log.by_round(bytes.fromhex(name)).get(Kind.COMMIT, ())
        if one.author == town.agents[index]
    )


def unfounded(town: Outside, artifact: str) -> None:
    """Let an agent report what a moderator finds nothing wrong with."""
    words = {"category": "harmful", "note": "I do not like it."}
    town.done(DISPUTER, "artifacts", artifact, "report", **words)
    name = town.round_of(artifact, "report")
    town.in_phase(name, "assess")
    town.done(MODERATOR, "rounds", name, "assess", credible=False, note="There is nothing.")
    town.ended(name)


def violations(town: Outside, index: int) -> list[dict[str, object]]:
    """List what stands against an agent, the newest first."""
    return cast("list[dict[str, object]]", standing(town, index)["violations"])


def reclassified(town: Outside, index: int, violation: str, shell: Shell) -> None:
    """Let an agent appeal by command line, and let whoever was drawn give it right."""
    shell.done(f"appeal {violation} --agent 'agent {index}' --note 'That is not so.'")
    name = town.round_of(violation, "appeal")
    town.in_phase(name, "rule")
    for arbiter in ARBITERS:
        words = {"ruling": "reclassify", "ground": "mistaken", "note": "It is not so."}
        town.post(arbiter, "rounds", name, "rule", **words)
    town.ended(name)


def test_each_violation_is_a_step_of_the_ladder_and_an_appeal_takes_one_back(
    town: Outside, shell: Shell
) -> None:
    artifacts = town.accepted("Water is wet", "Water is warm", "Water is old")
    before = shell.standing(DISPUTER)
    assert level(town, DISPUTER) == 0
    assert may(before, "report") == (True, None)

    unfounded(town, artifacts[0])
    comes_to(town, DISPUTER, 1)
    assert "Sanction: warning." in shell.says(DISPUTER)
    assert quota(shell.standing(DISPUTER), "reports_epoch") == quota(before, "reports_epoch")

    # It commits, and what it committed can never be opened: not by the node that keeps its key.
    sealed = town.round_of(town.proposed("Water is salty"))
    town.voted(sealed, FIRST)
    honest = commit_of(town, sealed, FIRST[0]).body
    assert isinstance(honest, Commit)
    by_own_hand(town, DISPUTER, msgspec.structs.replace(honest, commitment=b"\x07" * 32))
    town.ended(sealed)
    comes_to(town, DISPUTER, 2)
    limited = shell.standing(DISPUTER)
    assert "Sanction: rate limit." in shell.says(DISPUTER)
    for name in ("reports_epoch", "flags_epoch"):
        assert quota(limited, name) == quota(before, name) // 4
    assert violations(town, DISPUTER)[0]["rule"] == "conduct.unrevealed"

    unfounded(town, artifacts[1])
    comes_to(town, DISPUTER, 3)
    probation = shell.standing(DISPUTER)
    assert "Sanction: probation." in shell.says(DISPUTER)
    assert cast("int", probation["weight"]) * 2 <= cast("int", probation["earned"])

    unfounded(town, artifacts[2])
    comes_to(town, DISPUTER, 4)
    suspended = shell.standing(DISPUTER)
    assert "Sanction: suspension." in shell.says(DISPUTER)
    for what in ("propose", "vote", "dispute", "report", "object"):
        assert may(suspended, what) == (False, "SUSPENDED"), what
    assert may(suspended, "appeal") == (True, None)
    grown = town.it.node.world.log.count_of(town.agents[DISPUTER])
    shell.refused(
        f"artifact propose --agent 'agent {DISPUTER}' --title T --prose P. --topic t", "SUSPENDED"
    )
    told = town.post(
        DISPUTER, "artifacts", artifacts[0], "report", category="harmful", note="Again."
    )
    assert (told.status_code, told.json()["code"]) == (403, "SUSPENDED")
    assert town.it.node.world.log.count_of(town.agents[DISPUTER]) == grown

    rows = violations(town, DISPUTER)
    assert [row["rule"] for row in rows].count("conduct.unfounded") == 3
    reclassified(town, DISPUTER, str(rows[0]["id"]), shell)
    comes_to(town, DISPUTER, 3)
    assert violations(town, DISPUTER)[0]["void"]
    shell.done(f"artifact propose --agent 'agent {DISPUTER}' --title T --prose P. --topic t")


def test_who_copies_a_sealed_ballot_is_banned_and_all_of_it_can_be_given_back(
    town: Outside, shell: Shell
) -> None:
    (own,) = town.accepted("Water is deep", by=COPIER, panel=PANEL)
    before = shell.standing(COPIER)
    name = town.round_of(town.proposed("Water is blue"))
    town.voted(name, PANEL)
    body = commit_of(town, name, COPIED).body
    assert isinstance(body, Commit)
    copy = by_own_hand(town, COPIER, body)
    town.ended(name)
    comes_to(town, COPIER, 5)

    banned = shell.standing(COPIER)
    assert "Sanction: ban." in shell.says(COPIER)
    for what in ("propose", "vote", "dispute", "report"):
        assert may(banned, what) == (False, "AGENT_BANNED"), what
    # What it copied it could never open: one deed is one violation.
    found = {str(one["rule"]): one for one in violations(town, COPIER)}
    assert found.keys() == {"abuse.proven"}
    assert found["abuse.proven"]["evidence"] == [copy.hex()]
    shell.refused(
        f"artifact propose --agent 'agent {COPIER}' --title T --prose P. --topic t", "AGENT_BANNED"
    )
    assert level(town, COPIED) == 0

    # What it wrote is looked at again by a fresh panel; it stands until that has spoken.
    state, its = town.it.node.world.state, bytes.fromhex(own)
    town.until(lambda: Flag.REREVIEW in state.artifacts[its].flags)
    again = town.round_of(own, "dispute")
    town.voted(again, (6, 7, 8, MODERATOR, ARBITERS[0]))
    town.stands(own)
    assert Flag.REREVIEW not in state.artifacts[its].flags

    reclassified(town, COPIER, str(found["abuse.proven"]["id"]), shell)
    comes_to(town, COPIER, 0)
    after = shell.standing(COPIER)
    assert after["quotas"] == before["quotas"]
    assert after["may"] == before["may"]
    assert all(one["void"] for one in violations(town, COPIER))
    shell.done(f"artifact propose --agent 'agent {COPIER}' --title T --prose P. --topic t")
