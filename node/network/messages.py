"""What instances say to each other on streams: canonical msgpack, one message a frame.

Three protocols. *Hello* comes first on every connection: who, of which realm, how far; the answer
is the same of the other side, or a refusal that says why. *Push* is a stream without answers:
packets of the certificate protocol, and records that must not wait. *Sync* is a stream of
questions: what do you hold that I lack, send me these records, this blob; how far are you and what
have you heard of me; which world do you hold certified, and what stands in its tables.

Whatever does not fit one frame is cut into full parts, each but the last marked `more`.
"""

from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from federation.codec import LIMITS, decode, encode
from federation.core import (
    Code,
    Digest,
    IdentityId,
    InstanceId,
    PeerError,
    Realm,
    RecordId,
    Signature,
)
from federation.protocol.digest import BUCKETS, TableName

HELLO: Final = "/folkmoot/hello/1"
PUSH: Final = "/folkmoot/push/1"
SYNC: Final = "/folkmoot/sync/1"
PROTOCOL: Final = 1
"""The level of the protocol that this version speaks."""

MOST_RECORDS: Final = 512
"""Records in one frame."""
MOST_WANTED: Final = 1_024
"""Record ids in one question."""
MOST_BUCKETS: Final = 64
"""Buckets of a table in one question."""
MOST_ROWS: Final = 512
"""Rows of a table in one frame."""
ROOM: Final = LIMITS.frame - 1_024
"""Bytes of records or of a part in one frame, with room for what stands around them."""

_Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
_Wire: TypeAlias = Annotated[bytes, Meta(max_length=2 * LIMITS.record)]
_Part: TypeAlias = Annotated[bytes, Meta(max_length=LIMITS.frame)]
_Word: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
_Sentence: TypeAlias = Annotated[str, Meta(max_length=512)]
_Row: TypeAlias = Annotated[bytes, Meta(min_length=1, max_length=LIMITS.record)]
_RowId: TypeAlias = Annotated[bytes, Meta(min_length=32, max_length=32)]
_Hashes: TypeAlias = Annotated[bytes, Meta(min_length=BUCKETS * 32, max_length=BUCKETS * 32)]
_Buckets: TypeAlias = Annotated[
    tuple[Annotated[int, Meta(ge=0, lt=BUCKETS)], ...], Meta(min_length=1, max_length=MOST_BUCKETS)
]


class _Said(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The form of every message: a list whose first item says which."""


class Hello(_Said, frozen=True, tag="hello"):
    """Who speaks, of which realm, and how far it is."""

    realm: Realm
    charter_hash: Digest
    """Of the charter at genesis."""
    low: _Count
    """Oldest level of the protocol that the speaker understands."""
    high: _Count
    """Newest."""
    instance: InstanceId
    """Its key must be the one that the connection has proven."""
    cut: _Count
    heads: _Count
    """Authors that it knows."""


class Refusal(_Said, frozen=True, tag="no"):
    """Why there will be no conversation."""

    code: _Word
    why: _Sentence
    fix: _Sentence


class PacketPart(_Said, frozen=True, tag="packet"):
    """A packet of the certificate protocol, or a part of one."""

    more: bool
    content: _Part


class Records(_Said, frozen=True, tag="records"):
    """Records as they stand on the wire; in an answer `more` says that another frame follows."""

    records: Annotated[tuple[_Wire, ...], Meta(max_length=MOST_RECORDS)]
    more: bool = False
    resume: IdentityId | None = None
    """In an answer to `Lack`: the author to go on from; None if this was all."""
    reached: _Count = 0
    """And the seq of that author below which everything that it asked for was sent by now."""


class Compare(_Said, frozen=True, tag="compare"):
    """Do you hold the same as I? The hash is of all pages of heads."""

    digest: Digest


class Same(_Said, frozen=True, tag="same"):
    """The answer to `Compare`."""

    same: bool


class Lack(_Said, frozen=True, tag="lack"):
    """My heads of a range of authors: send what I lack, from `start` on."""

    page: Annotated[bytes, Meta(max_length=LIMITS.frame)]
    start: IdentityId
    seen: _Count = 0
    """Of `start` itself, what stands below this seq has come before and need not come again."""


class Want(_Said, frozen=True, tag="want"):
    """Send these records, with what comes before them."""

    records: Annotated[tuple[RecordId, ...], Meta(max_length=MOST_WANTED)]


class WantBlob(_Said, frozen=True, tag="blob"):
    """Send this blob."""

    blob: Digest


class BlobPart(_Said, frozen=True, tag="part"):
    """A blob, or a part of one; an unknown blob is one empty part."""

    more: bool
    content: _Part


class Meet(_Said, frozen=True, tag="meet"):
    """Ask how far the other is, and what it has heard of the asker last."""


class Meeting(_Said, frozen=True, tag="met"):
    """The answer to `Meet`."""

    cut: _Count
    seen: tuple[Annotated[bytes, Meta(max_length=LIMITS.record)], Signature] | None


class AskWorld(_Said, frozen=True, tag="world"):
    """Tell which certified world you hold."""

    cut: _Count
    """The cut of the asker: it would like to know the digests of that one too."""


class Former(_Said, frozen=True, tag="former"):
    """What a cut of the past amounted to."""

    digest: Digest
    """Of the cut."""
    world_digest: Digest


class WorldAt(_Said, frozen=True, tag="at"):
    """The answer to `AskWorld`: what the answerer's newest cut amounts to, and from what."""

    cut: _Count
    digest: Digest
    """Of the cut."""
    world_digest: Digest
    charter_hash: Digest
    """Of the charter in force."""
    beacon: Digest
    joining: Digest
    """Hash of what joining costs and who has admitted how many."""
    artifacts: Digest
    """Root of the table of this name, as the next four."""
    agents: Digest
    identities: Digest
    members: Digest
    rounds: Digest
    version: _Word
    """Of the answerer's program, as it says."""
    former: Former | None
    """Of the asker's cut, if that is behind and its digests are held."""


class AskBuckets(_Said, frozen=True, tag="buckets"):
    """Send the hashes of all buckets of a table, if you are still at this cut."""

    cut: _Count
    table: TableName


class Buckets(_Said, frozen=True, tag="hashes"):
    """The answer to `AskBuckets`."""

    hashes: _Hashes
    """4,096 of 32 bytes each, one after the other."""


class AskRows(_Said, frozen=True, tag="rows"):
    """Send the rows of these buckets, if you are still at this cut."""

    cut: _Count
    table: TableName
    buckets: _Buckets
    """Ascending."""
    after: _RowId | None = None
    """Only rows with a higher id: what comes before has been sent."""


class Rows(_Said, frozen=True, tag="row"):
    """The answer to `AskRows`: whole rows as they are hashed, by ascending id."""

    rows: Annotated[tuple[_Row, ...], Meta(max_length=MOST_ROWS)]
    more: bool
    """There are further ones: ask for those after the last."""


class Elsewhere(_Said, frozen=True, tag="elsewhere"):
    """The answerer is at another cut by now, and has no tables of the one it was asked for."""

    cut: _Count


Greeting: TypeAlias = Hello | Refusal
Pushed: TypeAlias = PacketPart | Records
Inquiry: TypeAlias = AskWorld | AskBuckets | AskRows
"""A question about the certified world; each has one frame of answer."""
Finding: TypeAlias = WorldAt | Buckets | Rows | Elsewhere
Question: TypeAlias = Compare | Lack | Want | WantBlob | Meet | Inquiry
Answer: TypeAlias = Same | Records | BlobPart | Meeting | Finding | Refusal

Message: TypeAlias = Greeting | Pushed | Question | Answer


def finding(inquiry: Inquiry, answer: Answer) -> Finding | None:
    """Give an answer back if it is of a kind that an inquiry may have; None if it is not."""
    match inquiry, answer:
        case AskWorld(), WorldAt():
            return answer
        case AskBuckets(), Buckets() | Elsewhere():
            return answer
        case AskRows(), Rows() | Elsewhere():
            return answer
        case _:
            return None


def check_part(*, more: bool, content: bytes) -> None:
    """Refuse a part that is not full although more follow; raises PeerError.

    So a whole has a handful of parts. Else a peer could send empty ones for ever, or make the
    receiver copy what it has a million times.
    """
    if more and len(content) != ROOM:
        raise PeerError(
            "part refused",
            why=f"more follow, and it has {len(content)} bytes instead of {ROOM}",
            fix="fill every part but the last",
            code=Code.NOT_CANONICAL,
        )


def frame(message: Message) -> bytes:
    """Give the frame of a message."""
    return encode(message)


def read_greeting(raw: bytes) -> Greeting:
    """Read the first frame of either side; this and the others below raise PeerError."""
    return decode(raw, Greeting, what="hello", most=LIMITS.frame)  # type: ignore[arg-type] # union


def read_pushed(raw: bytes) -> Pushed:
    """Read a frame of a push stream."""
    return decode(raw, Pushed, what="push", most=LIMITS.frame)  # type: ignore[arg-type] # union


def read_question(raw: bytes) -> Question:
    """Read a frame that asks."""
    return decode(raw, Question, what="question", most=LIMITS.frame)  # type: ignore[arg-type] # union


def read_answer(raw: bytes) -> Answer:
    """Read a frame that answers."""
    return decode(raw, Answer, what="answer", most=LIMITS.frame)  # type: ignore[arg-type] # union
