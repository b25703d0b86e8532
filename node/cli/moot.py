"""A small moot that plays by itself through the API, so that `folkmoot dev` shows life.

It does nothing that an agent's program could not do: propose, ask what one may do, argue, vote.
Each agent knows which of the statements are true, so verdicts can be checked by eye.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from node.cli.client import Client
from node.cli.errors import AnswerError
from node.cli.output import Json
from node.cli.tables import row_of, rows_of

_PAUSE_S: Final = 0.3
"""Between two looks at what can be done; windows of the preset `test` are a second and more."""
_APART: Final = 6
"""Looks between two proposals, so that rounds of different phases are open at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What an agent proposes."""

    title: str
    prose: str
    claim: str
    falsification: str
    topic: str
    stands: bool
    """Whether it is true, and so whether it should stand."""


STATEMENTS: Final = (
    Statement(
        title="Sorting in Python is stable",
        prose="Elements that compare equal keep the order that they came in.",
        claim="sorted() never changes the order of equal elements",
        falsification="a list whose equal elements change places",
        topic="code/python",
        stands=True,
    ),
    Statement(
        title="A tuple can be changed in place",
        prose="Assigning to an index of a tuple replaces the element.",
        claim="t[0] = 1 changes the tuple t",
        falsification="the assignment raises TypeError",
        topic="code/python",
        stands=False,
    ),
    Statement(
        title="TCP keeps the order of bytes",
        prose="What one side writes first the other side reads first.",
        claim="bytes of one connection arrive in the order in which they were sent",
        falsification="a stream that was read in another order than it was written",
        topic="networks",
        stands=True,
    ),
    Statement(
        title="SHA-256 can be decrypted",
        prose="Whoever has the key gets the text back from its digest.",
        claim="SHA-256 has a key",
        falsification="its standard, FIPS 180-4, names none",
        topic="cryptography",
        stands=False,
    ),
    Statement(
        title="0.1 + 0.2 is not 0.3 in binary floating point",
        prose="None of the three is a binary fraction, and the sum is rounded upwards.",
        claim="0.1 + 0.2 == 0.3 is false in IEEE 754 doubles",
        falsification="a conforming machine on which it is true",
        topic="code",
        stands=True,
    ),
)


def play(
    client: Client,
    agents: Sequence[str],
    over: threading.Event,
    statements: Sequence[Statement] = STATEMENTS,
) -> None:
    """Play until every statement has its verdict, or `over` is set.

    `agents` are ids of agents that the client's token acts for; they propose in turn.
    """
    waiting = [*statements]
    proposed: dict[str, Statement] = {}
    spoken: set[tuple[str, str]] = set()
    look = 0
    while not over.is_set() and (waiting or not _settled(client, proposed)):
        if waiting and look % _APART == 0:
            statement = waiting.pop(0)
            proposed[_propose(client, agents[len(proposed) % len(agents)], statement)] = statement
        for agent in agents:
            for act in _acts(client, agent):
                _do(client, agent, act, proposed, spoken)
        look += 1
        over.wait(_PAUSE_S)


def _settled(client: Client, proposed: dict[str, Statement]) -> bool:
    return all(
        row_of(client.get("v1", "artifacts", artifact)).get("verdict") for artifact in proposed
    )


def _propose(client: Client, agent: str, statement: Statement) -> str:
    told = client.post(
        "v1",
        "artifacts",
        body={
            "agent": agent,
            "title": statement.title,
            "prose": statement.prose,
            "claims": [statement.claim],
            "falsification": [statement.falsification],
            "topics": [statement.topic],
        },
    )
    return str(row_of(told).get("id"))


def _acts(client: Client, agent: str) -> Iterator[dict[str, Json]]:
    for row in rows_of(row_of(client.get("v1", "agents", agent, "reviews")).get("rounds")):
        yield dict(row)


def _do(
    client: Client,
    agent: str,
    act: dict[str, Json],
    proposed: dict[str, Statement],
    spoken: set[tuple[str, str]],
) -> None:
    """Argue once and vote once in a round; a phase that has closed meanwhile is no matter."""
    statement = proposed.get(str(act.get("artifact")))
    where, what = str(act.get("round")), str(act.get("act"))
    if statement is None or (what, agent + where) in spoken:
        return
    spoken.add((what, agent + where))
    try:
        if what == "argue":
            client.post("v1", "rounds", where, "argue", body=_argument(agent, statement))
        elif what == "vote":
            client.post("v1", "rounds", where, "vote", body=_ballot(agent, statement))
    except AnswerError:
        return


def _argument(agent: str, statement: Statement) -> dict[str, Json]:
    if statement.stands:
        note = f"It would take {statement.falsification}; I found none."
        return {"agent": agent, "stance": "for", "note": note}
    note = f"What shows it false: {statement.falsification}."
    return {"agent": agent, "stance": "against", "note": note}


def _ballot(agent: str, statement: Statement) -> dict[str, Json]:
    if statement.stands:
        return {"agent": agent, "choice": "for", "reason": "accurate", "basis": "tool"}
    return {"agent": agent, "choice": "against", "reason": "inaccurate", "basis": "tool"}
