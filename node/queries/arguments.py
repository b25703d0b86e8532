"""Arguments of a deliberation, with their words as far as these are held here."""

import msgspec

from federation.protocol import World
from federation.records import Argue, Note, Record
from federation.records.review_bodies import Level, Stance
from node.queries.names import Who, cid_of, who
from node.queries.texts import text_of


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """One argument of a deliberation."""

    id: str
    """Id of its record, in hex."""
    cid: str
    """The same as a CIDv1."""
    author: Who
    """Who argues."""
    stance: Stance
    """For, against or neutral."""
    level: Level
    """What it is about."""
    claim: int | None
    """Number of the claim that it speaks to; nil for the whole."""
    note: str | None
    """Its words; nil if they are not held here."""
    evidence: tuple[str, ...]
    """Digests that it names, in hex."""
    replies_to: str | None
    """Id of the argument that it answers, in hex."""
    certified: bool
    """The certificate of the deliberation lists it; before that certificate none is."""


def argument_of(world: World, record: Record, *, certified: bool) -> Argument:
    """Show one argument; its record must be one."""
    body = record.body
    assert isinstance(body, Argue), "a deliberation lists arguments"  # noqa: S101 # our invariant
    # A final list keeps the record as it came: what was taken down since is gone from the log only.
    text = text_of(world.log.get(record.id), Note)
    return Argument(
        id=record.id.hex(),
        cid=cid_of(record.id),
        author=who(world, record.author),
        stance=body.stance,
        level=body.level,
        claim=body.claim,
        note=text.note if text else None,
        evidence=tuple(name.hex() for name in body.evidence),
        replies_to=body.replies_to.hex() if body.replies_to else None,
        certified=certified,
    )
