"""Bearer tokens: who may do what through the API.

A token is `fm_` and 32 random bytes. The file `tokens.json` keeps only its hash, what it may do,
and what for, so whoever reads the file can use nothing of it. The operator's own token lies in
clear beside it, for the owner of the data directory only: the command line uses it.

Scopes: `read`, `act:<agent>` (act for one agent whose key is kept here), `operator`. The
operator's scope includes the others: who holds it could make itself a token for any agent that
is kept here (design: records, custody).

A running node reads the file again whenever it changes, so the command line makes and takes back
tokens without asking it. If the file is damaged, no token is valid: it fails closed.
"""

import base64
import fcntl
import hashlib
import hmac
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from federation.core import AgentId, Millis, short
from node.base.entropy import Entropy
from node.base.errors import EXPLAINED, NodeCode, NodeError, RequestError
from node.base.paths import DataDir, write_private

PREFIX: Final = "fm_"
READ: Final = "read"
OPERATOR: Final = "operator"
_ACT: Final = "act:"
_SECRET: Final = 32
_ID: Final = 4
_LARGEST: Final = 4 * 1024 * 1024
_LONGEST: Final = 64
"""Characters of a token that are looked at; one has 46."""
_MOST: Final = 4_096
"""Tokens that one instance may have: each request compares with all of them."""

Scope = Annotated[str, Meta(pattern=r"\A(read|operator|act:[0-9a-f]{64})\Z")]


class Token(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is kept of one token."""

    id: Annotated[str, Meta(pattern=r"\A[0-9a-f]{8}\Z")]
    """Names the token to people; no secret."""
    sha256: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    """SHA-256 of the token as it is sent."""
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1, max_length=64)]
    """What it allows."""
    note: Annotated[str, Meta(max_length=200)] = ""
    """What it was made for, in its maker's words."""
    created: Millis
    """Unix time in ms."""


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: Literal[1] = 1
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: a token, or anybody."""

    token: str | None = None
    """The token's id; None for a caller without one."""
    operates: bool = False
    acts: frozenset[AgentId] = frozenset()
    """Agents that it may act for; an operator may act for all that are kept here."""

    @property
    def only_agent(self) -> AgentId | None:
        """The agent meant where a request names none: there must be exactly one."""
        return next(iter(self.acts)) if len(self.acts) == 1 else None

    def may_act_for(self, agent: AgentId) -> bool:
        """Tell whether it may act for this agent."""
        return self.operates or agent in self.acts


ANYBODY: Final = Caller()


def act(agent: AgentId) -> str:
    """Spell the scope that acts for one agent."""
    return _ACT + agent.hex()


def create_token(
    data: DataDir, *, scopes: Sequence[str], note: str = "", entropy: Entropy, now: Millis
) -> tuple[str, Token]:
    """Make a token; gives it in clear, which is kept nowhere, and what is kept of it.

    `now` is Unix time in ms. Raises RequestError BAD_FIELD if a scope is none, or the note is
    too long, and BUSY if there are too many tokens.
    """
    clear = PREFIX + base64.urlsafe_b64encode(entropy(_SECRET)).decode().rstrip("=")
    made = Token(
        id=entropy(_ID).hex(),
        sha256=_hash(clear),
        scopes=tuple(scopes),
        note=note,
        created=now,
    )
    try:
        made = msgspec.convert(msgspec.to_builtins(made), Token)
    except msgspec.ValidationError as error:
        raise RequestError(
            "token not made",
            why=str(error),
            fix="scopes are `read`, `act:` with the agent's 64 hex digits, and `operator`",
            code=NodeCode.BAD_FIELD,
        ) from error
    with _held(data):
        tokens = _read(data)
        if len(tokens) >= _MOST:
            raise RequestError(
                "token not made",
                why=f"there are {_MOST} already",
                fix="revoke those that nobody uses",
                code=NodeCode.BUSY,
            )
        _write(data, (*tokens, made))
    return clear, made


def revoke_token(data: DataDir, name: str) -> Token:
    """Take a token back, by its id; raises RequestError NOT_FOUND."""
    with _held(data):
        tokens = _read(data)
        gone = next((one for one in tokens if one.id == name), None)
        if gone is None:
            raise RequestError(
                "token not revoked",
                why="no token has this id",
                fix="list the tokens and take an id from there",
                code=NodeCode.NOT_FOUND,
            )
        _write(data, tuple(one for one in tokens if one is not gone))
    return gone


def list_tokens(data: DataDir) -> tuple[Token, ...]:
    """List what is kept of all tokens, oldest first; raises NodeError TOKENS_DAMAGED."""
    return _read(data)


def write_operator_token(data: DataDir, entropy: Entropy, *, now: Millis = 0) -> str:
    """Make the operator's own token and write it in clear, for the owner only."""
    clear, _ = create_token(
        data, scopes=(OPERATOR,), note="the local operator", entropy=entropy, now=now
    )
    write_private(data.operator_token, clear.encode() + b"\n")
    return clear


class TokenFile:
    """The tokens as a running node sees them."""

    def __init__(self, data: DataDir) -> None:
        """Read nothing yet."""
        self._data = data
        self._seen: tuple[int, int, int] | None = None
        self._tokens: tuple[Token, ...] = ()

    def caller(self, presented: str) -> Caller | None:
        """Tell who presents a token; None if it is none of this instance's."""
        self._refresh()
        digest = _hash(presented[:_LONGEST])
        found: Token | None = None
        # All are compared, each in constant time: how long it takes tells nothing of any of them.
        for token in self._tokens:
            if hmac.compare_digest(token.sha256, digest):
                found = token
        if found is None:
            return None
        return Caller(
            token=found.id,
            operates=OPERATOR in found.scopes,
            acts=frozenset(
                bytes.fromhex(scope.removeprefix(_ACT))
                for scope in found.scopes
                if scope.startswith(_ACT)
            ),
        )

    def _refresh(self) -> None:
        try:
            status = self._data.tokens.stat()
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if seen != self._seen:
                self._tokens = _read(self._data)
                self._seen = seen
        except (OSError, NodeError):
            self._tokens, self._seen = (), None


def _hash(clear: str) -> str:
    return hashlib.sha256(clear.encode("utf-8", "replace")).hexdigest()


def _read(data: DataDir) -> tuple[Token, ...]:
    try:
        with data.tokens.open("rb") as file:
            raw = file.read(_LARGEST)
    except FileNotFoundError:
        return ()
    try:
        return msgspec.json.decode(raw, type=_File).tokens
    except msgspec.MsgspecError as error:
        raise NodeError(
            "tokens not read",
            why=f"{data.tokens.name}: {error}",
            fix=EXPLAINED[NodeCode.TOKENS_DAMAGED][1],
            code=NodeCode.TOKENS_DAMAGED,
        ) from error


def _write(data: DataDir, tokens: tuple[Token, ...]) -> None:
    raw = msgspec.json.encode(_File(tokens=tokens))
    write_private(data.tokens, msgspec.json.format(raw, indent=1) + b"\n")


@contextmanager
def _held(data: DataDir) -> Iterator[None]:
    """Keep two writers apart. The lock is on the directory: the file itself is replaced."""
    descriptor = os.open(data.root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def describe(scope: str) -> str:
    """Say in words what a scope allows."""
    if scope.startswith(_ACT):
        return f"act for agent {short(bytes.fromhex(scope.removeprefix(_ACT)))}…"
    return {READ: "read", OPERATOR: "everything the operator may"}[scope]
