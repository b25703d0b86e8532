"""Doors of curation on a running node: by HTTP and by command line, with nothing signed behind them.

A refusal names its code and status, says what, why and how to mend it, and leaves the chain of the
agent as long as it was: what a door refuses costs no quota and no place in the log.
"""

from collections.abc import Callable, Iterator

import pytest

from federation.charter import TopicClass
from node.cli.errors import Exit
from tests.node.api.outside import Outside, at, outside
from tests.node.cli.session import run
from tests.node.runtime.moot import AGENTS, AUTHOR, DISPUTER, FRESH, MODERATOR, moot

KIN = AGENTS
"""The agent that has the author's operator."""
LOW = "notes"
Tries = Callable[[str, str], Callable[[], None]]


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    """Run a moot whose newcomers come to tier 1 by a vouch, and to tier 2 never."""
    root = tmp_path_factory.mktemp("doors")
    founded = moot(
        root,
        kin=(AUTHOR,),
        trust={"tier1_interactions": 0, "tier1_r": 0, "tier2_interactions": 1_000},
        disputes={"window": 10_000, "r_dispute": 0},
        topics=(TopicClass(prefix=LOW, sensitivity="low"),),
        fast_low=6_000,
        fast_min_watchers=0,
        r_min=0,
        deliberate=300,
        commit=3_000,
        contest=0,
    )
    with outside(root, founded) as it:
        yield it


@pytest.fixture
def tries(
    doors: Outside, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Tries:
    """Give a way to run a command line that must end with a code."""
    at(doors.it, monkeypatch)

    def tried(line: str, code: str) -> Callable[[], None]:
        def try_it() -> None:
            session = run(line, capsys)
            assert session.code == Exit.REFUSED, session
            assert session.three[2].endswith(f"[{code}]"), session

        return try_it

    return tried


def refuses(
    doors: Outside,
    index: int,
    status: int,
    code: str,
    *path: str,
    by_shell: Callable[[], None],
    **body: object,
) -> None:
    """Try an act both ways; each is refused with the code, and nothing is signed."""
    log, agent = doors.it.node.world.log, doors.agents[index]
    before = log.count_of(agent), log.heads_of(agent)
    answer = doors.post(index, *path, **body)
    told = answer.json()
    assert (answer.status_code, told["code"]) == (status, code), answer.text
    assert all(told[part] for part in ("what", "why", "fix"))
    by_shell()
    assert (log.count_of(agent), log.heads_of(agent)) == before


def test_a_report_without_a_word_is_refused(doors: Outside, tries: Tries) -> None:
    (artifact,) = doors.accepted("Water is wet")
    line = f"report file {artifact} --agent 'agent {DISPUTER}' --category harmful --note ''"
    refuses(
        doors,
        DISPUTER,
        422,
        "NO_GROUNDS",
        *("artifacts", artifact, "report"),
        category="harmful",
        note="",
        by_shell=tries(line, "NO_GROUNDS"),
    )


def test_a_report_just_after_an_unfounded_one_is_refused(doors: Outside, tries: Tries) -> None:
    (artifact,) = doors.accepted("Water is heavy")
    category, note = "harmful", "It burns."
    doors.done(DISPUTER, "artifacts", artifact, "report", category=category, note=note)
    name = doors.round_of(artifact, "report")
    doors.in_phase(name, "assess")
    line = f"report file {artifact} --agent 'agent 1' --category harmful --note 'It burns.'"
    refuses(
        doors,
        *(1, 409, "GUARD_FAILED", "artifacts", artifact, "report"),
        by_shell=tries(line, "GUARD_FAILED"),
        category=category,
        note=note,
    )
    doors.done(MODERATOR, "rounds", name, "assess", credible=False, note="It does not.")
    # The pause is two ticks; while it lasts the answer is COOLDOWN.
    doors.until(lambda: doors.it.node.world.rounds[bytes.fromhex(name)].closed)
    refuses(
        doors,
        *(1, 409, "COOLDOWN", "artifacts", artifact, "report"),
        by_shell=lambda: None,
        category=category,
        note=note,
    )


def test_the_same_ground_and_then_a_sixth_dispute_are_refused(doors: Outside, tries: Tries) -> None:
    *five, sixth = doors.accepted(*(f"Water, part {number}" for number in range(6)))
    for artifact in five:
        doors.done(DISPUTER, "artifacts", artifact, "dispute", ground="inaccurate", note="No.")
    name = doors.round_of(five[0], "dispute")
    doors.voted(name, FRESH)
    doors.stands(five[0])

    # The limit of the artifact and that of the agent have codes of their own: another agent tries.
    again = f"dispute file {five[0]} --agent 'agent 1' --ground inaccurate --note Again."
    refuses(
        doors,
        *(1, 409, "NO_NEW_GROUND", "artifacts", five[0], "dispute"),
        ground="inaccurate",
        note="Again.",
        by_shell=tries(again, "NO_NEW_GROUND"),
    )
    more = f"dispute file {sixth} --agent 'agent {DISPUTER}' --ground outdated --note Old."
    refuses(
        doors,
        *(DISPUTER, 429, "DISPUTE_LIMIT", "artifacts", sixth, "dispute"),
        ground="outdated",
        note="Old.",
        by_shell=tries(more, "DISPUTE_LIMIT"),
    )


def test_an_agent_of_tier_one_cannot_dispute(doors: Outside, tries: Tries) -> None:
    (artifact,) = doors.accepted("Water is blue")
    made = doors.client.post("/v1/admin/agents", json={"name": "young"})
    assert made.status_code == 201, made.text
    young = str(made.json()["id"])
    doors.until(lambda: bytes.fromhex(young) in doors.it.node.world.state.agents)
    doors.done(1, "agents", young, "vouch", weight=255, reason="met")
    doors.until(lambda: doors.get("agents", young, "standing")["tier"] == 1)
    doors.agents = (*doors.agents, bytes.fromhex(young))

    line = f"dispute file {artifact} --agent young --ground inaccurate --note No."
    refuses(
        doors,
        *(len(doors.agents) - 1, 403, "DISPUTER_TIER", "artifacts", artifact, "dispute"),
        ground="inaccurate",
        note="No.",
        by_shell=tries(line, "DISPUTER_TIER"),
    )


def test_the_authors_operator_cannot_object_while_another_can(doors: Outside, tries: Tries) -> None:
    name = doors.round_of(doors.proposed("Water is cold", LOW))
    doors.in_phase(name, "fast")
    line = f"review object {name} --agent 'agent {KIN}' --reason unsourced"
    refuses(
        doors,
        *(KIN, 403, "AUTHORS_OPERATOR", "rounds", name, "object"),
        reason="unsourced",
        by_shell=tries(line, "AUTHORS_OPERATOR"),
    )
    line = f"review object {name} --agent 'agent {AUTHOR}' --reason unsourced"
    refuses(
        doors,
        *(AUTHOR, 403, "NOT_ELIGIBLE", "rounds", name, "object"),
        reason="unsourced",
        by_shell=tries(line, "NOT_ELIGIBLE"),
    )
    doors.done(1, "rounds", name, "object", reason="unsourced")


def test_an_argument_that_is_late_or_too_long_is_refused(doors: Outside, tries: Tries) -> None:
    name = doors.round_of(doors.proposed("Water is salty"))
    # Its length is looked at first: it is refused in whatever phase the round is.
    long = "x" * 12_001
    line = f"review argue {name} --agent 'agent 1' --stance for --note {long}"
    refuses(
        doors,
        *(1, 413, "TOO_LARGE", "rounds", name, "argue"),
        stance="for",
        note=long,
        by_shell=tries(line, "TOO_LARGE"),
    )
    doors.in_phase(name, "commit")
    late = f"review argue {name} --agent 'agent 1' --stance for --note Late."
    refuses(
        doors,
        *(1, 409, "NOT_IN_PHASE", "rounds", name, "argue"),
        stance="for",
        note="Late.",
        by_shell=tries(late, "NOT_IN_PHASE"),
    )
