"""What people read of an artifact: its text, where this instance holds it and may show it.

A text may be missing: taken down, or dropped by whoever relayed the record. The record stands all
the same, and so does everything that was decided about it.

A text may be held and not be shown: the realm hides it, or this node's operator does on this node,
or a moderator has just found a report credible and no cut knows it yet. Whoever shows the text of an
artifact asks `article` or `shown`, so there is one place where it stays out.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar
from weakref import WeakKeyDictionary

import msgspec

from federation.artifacts import Artifact, DecidedBy, Flag
from federation.certificates import Phase
from federation.core import ArtifactId
from federation.protocol import Round, World
from federation.records import (
    ArtifactText,
    Assess,
    DisputeReport,
    Note,
    Propose,
    Record,
    read_text,
)
from federation.replication import Log

Content = TypeVar("Content", ArtifactText, Note)


class TextState(StrEnum):
    """Whether a text can be read here."""

    HELD = "held"
    """It is here."""
    MISSING = "missing"
    """Taken down, or not received: its record stands without it."""
    HIDDEN = "hidden"
    """The artifact is hidden, so its text is not shown."""


class HiddenBy(StrEnum):
    """Who hides an artifact."""

    REALM = "realm"
    """A moderator found a report credible, or the operators said so: it is hidden everywhere."""
    NODE = "node"
    """The operator of this node, on this node alone."""


class HiddenPage(msgspec.Struct, frozen=True, kw_only=True):
    """That an artifact is hidden here, and why: shown in place of its text."""

    by: HiddenBy
    """Who hides it."""
    why: str
    """The reason as a sentence."""
    round: str | None
    """Id of the round that began with the report, in hex; nil if it was no report."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One claim of an artifact."""

    n: int
    """Its number, from 1."""
    text: str | None
    """What it says; nil if the text is missing."""
    falsification: str | None
    """What would show it false; nil if the text is missing or does not say."""
    check: str | None
    """Digest of a check that can settle it, in hex; nil if it names none."""


def text_of(record: Record | None, kind: type[Content]) -> Content | None:
    """Read the text of a record; None if it has none, or none that is held here."""
    raw = record.text_raw if record is not None else None
    return None if raw is None else read_text(raw, kind)


# By the log whose texts they cover: of several nodes in one program each has its own.
_VEILS: Final[WeakKeyDictionary[Log, Mapping[ArtifactId, str]]] = WeakKeyDictionary()
_NOTHING: Final[Mapping[ArtifactId, str]] = MappingProxyType({})


def veil(world: World, hidden: Mapping[ArtifactId, str]) -> None:
    """Say which artifacts the operator hides on this node, each with the reason; replaces all."""
    _VEILS[world.log] = dict(hidden)


def veiled(world: World) -> Mapping[ArtifactId, str]:
    """Give the artifacts that the operator hides on this node, each with the reason."""
    return _VEILS.get(world.log, _NOTHING)


def hidden(world: World, name: ArtifactId, artifact: Artifact | None) -> HiddenPage | None:
    """Tell whether an artifact, or a proposal that is none yet, is hidden here, and why.

    `artifact` is where it stands, as of a cut or as it is here; None if no cut contains it.
    """
    reason = veiled(world).get(name)
    if reason is not None:
        told = f"This node's operator hides it here: {reason}" if reason else _BY_OPERATOR
        return HiddenPage(by=HiddenBy.NODE, why=told, round=None)
    if artifact is None:
        return None
    found = next((one for one in _reports(world, name) if _is_credible(world, one)), None)
    if found is None and Flag.HIDDEN not in artifact.flags:
        return None
    if found is None:
        # The flag outlives the round that set it.
        found = next((one for one in _reports(world, name) if _was_credible(one)), None)
    body = _body(world, found) if found is not None else None
    if found is None or body is None:
        return HiddenPage(by=HiddenBy.REALM, why="The operators of the realm hide it.", round=None)
    return HiddenPage(
        by=HiddenBy.REALM,
        why=f"It was reported as {body.category} and a moderator found the report credible.",
        round=found.pin.round.hex(),
    )


_BY_OPERATOR: Final = "This node's operator hides it here."


def _reports(world: World, name: ArtifactId) -> Iterable[Round]:
    """Go through the rounds that reports of an artifact opened, the newest first."""
    for round_id in reversed(world.state.rounds_of.get(name, ())):
        found = world.rounds.get(round_id)
        if found is not None and found.pin.kind == "report":
            yield found


def _is_credible(world: World, found: Round) -> bool:
    """Tell whether a report that no cut has settled hides its artifact here.

    A moderator's word hides at once wherever it is held; the certificate confirms it later.
    """
    if found.closed:
        return False
    if found.phase is Phase.ASSESS:
        said = (record.body for record in found.qualified(world.log))
        return any(isinstance(body, Assess) and body.credible for body in said)
    return found.verdict is None or found.verdict.by is DecidedBy.ASSESSED


def _was_credible(found: Round) -> bool:
    no = (DecidedBy.UNFOUNDED, DecidedBy.LAPSED)
    return found.verdict is not None and found.verdict.by not in no


def _body(world: World, found: Round) -> DisputeReport | None:
    record = world.log.get(found.pin.cause) if found.pin.cause is not None else None
    body = record.body if record is not None else None
    return body if isinstance(body, DisputeReport) else None


def article(world: World, artifact: Artifact) -> tuple[TextState, ArtifactText | None]:
    """Give an artifact's text, and whether it may be read here."""
    if hidden(world, artifact.id, artifact) is not None:
        return TextState.HIDDEN, None
    return readable(world.log.get(artifact.id))


def shown(world: World, name: ArtifactId) -> tuple[TextState, ArtifactText | None]:
    """Give the text of an artifact, or of a proposal that is none yet, by its id."""
    if hidden(world, name, world.state.artifacts.get(name)) is not None:
        return TextState.HIDDEN, None
    return readable(world.log.get(name))


def readable(record: Record | None) -> tuple[TextState, ArtifactText | None]:
    """Give the text of a proposal, and whether it is held here, whoever hides it."""
    text = text_of(record, ArtifactText)
    return (TextState.MISSING if text is None else TextState.HELD), text


def claims_of(body: Propose, text: ArtifactText | None) -> tuple[Claim, ...]:
    """Join the claims that a proposal binds with what its text says of each."""
    said = text.claims if text else ()
    against = text.falsification if text else ()
    return tuple(
        Claim(
            n=claim.n,
            text=said[claim.n - 1] if claim.n <= len(said) else None,
            falsification=against[claim.n - 1] if claim.n <= len(against) else None,
            check=claim.check.hex() if claim.check else None,
        )
        for claim in body.claims
    )
