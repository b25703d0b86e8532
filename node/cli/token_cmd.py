"""`folkmoot agent token`, `tokens`, `revoke-token`: who may use the API, and for what.

Tokens lie in the data directory, hashed; a running node notices a change by itself. So these
commands need no node, and whoever may write the data directory may make tokens.
"""

import argparse
from typing import Final

from node.access.tokens import act, create_token, list_tokens, revoke_token
from node.base.clock import SteadyClock
from node.base.entropy import random_bytes
from node.base.paths import DataDir
from node.cli.agent_cmd import agent_argument
from node.cli.client import data_of, data_option
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.names import kept_agent
from node.cli.output import Output
from node.cli.tables import cell, moment, put_table

_ACT: Final = "act"
_SCOPES: Final = ("read", _ACT, "operator")


def scopes(text: str) -> tuple[str, ...]:
    """Read scopes separated by commas."""
    said = tuple(part.strip() for part in text.split(","))
    unknown = [part for part in said if part not in _SCOPES]
    if unknown or len(set(said)) != len(said):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of different scopes out of {', '.join(_SCOPES)}"
        )
    return said


def _token_options(parser: argparse.ArgumentParser) -> None:
    data_option(parser)
    agent_argument(parser)
    parser.add_argument(
        "--scopes",
        metavar="SCOPES",
        type=scopes,
        default=_SCOPES[:2],
        help="what it allows, separated by commas: read, act (for this agent only), operator "
        "(everything) (default read,act)",
    )
    parser.add_argument(
        "--note", metavar="TEXT", default="", help="what it is for; `agent tokens` shows it"
    )


def _token(arguments: argparse.Namespace, output: Output) -> Exit:
    data = data_of(arguments)
    agent = kept_agent(data, arguments.agent)
    said: tuple[str, ...] = arguments.scopes
    note: str = arguments.note or agent.name
    clear, token = create_token(
        data,
        scopes=[act(agent.id) if scope == _ACT else scope for scope in said],
        note=note,
        entropy=random_bytes,
        now=SteadyClock(None).wall(),
    )
    if output.quiet:
        output.put_json(
            {"token": clear, "id": token.id, "agent": agent.id.hex(), "scopes": token.scopes}
        )
    else:
        output.say(f"Token {token.id} for {agent.name}. It is shown this once and kept nowhere:")
        output.put(clear)
    return Exit.OK


def _tokens(arguments: argparse.Namespace, output: Output) -> Exit:
    tokens = list_tokens(_checked(arguments))
    if output.quiet:
        output.put_json(
            {
                "tokens": [
                    {
                        "id": token.id,
                        "scopes": token.scopes,
                        "note": token.note,
                        "created": token.created,
                    }
                    for token in tokens
                ]
            }
        )
        return Exit.OK
    put_table(
        output,
        ("token", "scopes", "created", "note"),
        [
            (
                token.id,
                ", ".join(
                    f"act:{cell(scope.removeprefix('act:'))}" if scope.startswith("act:") else scope
                    for scope in token.scopes
                ),
                moment(token.created),
                cell(token.note),
            )
            for token in tokens
        ],
    )
    return Exit.OK


def _revoke_options(parser: argparse.ArgumentParser) -> None:
    data_option(parser)
    parser.add_argument(
        "token", metavar="TOKEN_ID", help="its 8-digit id, from `agent tokens`; not the token"
    )


def _revoke(arguments: argparse.Namespace, output: Output) -> Exit:
    gone = revoke_token(_checked(arguments), arguments.token)
    if output.quiet:
        output.put_json({"id": gone.id})
    else:
        output.say(f"Token {gone.id} ({cell(gone.note)}) is no longer valid.")
    return Exit.OK


def _checked(arguments: argparse.Namespace) -> DataDir:
    data = data_of(arguments)
    data.check()
    return data


AGENT_TOKEN: Final = Command(
    words=("agent", "token"),
    summary="Make a token with which a program acts for an agent",
    why="The program sends it as `Authorization: Bearer …`. It is printed once; the data "
    "directory keeps its hash only. Give each program its own, so that one can be taken back.",
    data={
        "token": "the token itself",
        "id": "names it in `agent tokens`",
        "agent": "id of the agent",
        "scopes": "what it allows",
    },
    examples=(
        "folkmoot agent token AGENT",
        "folkmoot agent token AGENT --scopes read --note dashboard --json",
    ),
    exits={Exit.FAILED: "no instance there", Exit.REFUSED: "the agent's keys are not kept here"},
    options=_token_options,
    run=_token,
)
AGENT_TOKENS: Final = Command(
    words=("agent", "tokens"),
    summary="List tokens, by id and purpose",
    why="It shows what each token may do and when it was made, never the token.",
    data={"tokens": "list of `id`, `scopes`, `note`, `created` (Unix time in ms)"},
    examples=("folkmoot agent tokens", "folkmoot agent tokens --json"),
    exits={Exit.FAILED: "no instance there"},
    options=data_option,
    run=_tokens,
)
AGENT_REVOKE_TOKEN: Final = Command(
    words=("agent", "revoke-token"),
    summary="Take a token back",
    why="A running node refuses it from its next request on. What was done with it stands.",
    data={"id": "the token that is no longer valid"},
    examples=("folkmoot agent revoke-token TOKEN_ID",),
    exits={Exit.FAILED: "no such token, or no instance there"},
    options=_revoke_options,
    run=_revoke,
)
