"""What requests hold and what actions answer, as structs: read strictly, described by themselves.

Ids come as 64 hex digits, as a CID, or by their first six or more digits where one thing only has
them. An unknown field is refused: a mistyped one would silently change nothing.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from federation.core import Millis
from federation.crypto import Basis, Reason
from federation.records import Level, Stance
from node.queries.artifacts import ArtifactState
from node.queries.rounds import MayAct

Id = Annotated[str, Meta(min_length=6, max_length=64)]
Lines = Annotated[tuple[str, ...], Meta(max_length=16)]
Topics = Annotated[tuple[str, ...], Meta(min_length=1, max_length=4)]
Few = Annotated[tuple[str, ...], Meta(max_length=4)]
Most = Annotated[int, Meta(ge=1, le=200)]
Cursor = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class ListArtifacts(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which artifacts to list."""

    state: ArtifactState | None = None
    """Only those in this state."""
    topic: Annotated[str, Meta(max_length=250)] | None = None
    """Only this topic and what is below it."""
    after: Id | None = None
    """Go on behind this artifact: `next` of the page before."""
    most: Most = 50
    """Rows of a page."""


class ListAgents(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which agents to list."""

    after: Id | None = None
    """Go on behind this agent: `next` of the page before."""
    most: Most = 50
    """Rows of a page."""


class Glance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much the overview shows."""

    most: Most = 20
    """Open rounds in it, the oldest ones."""


class ListRounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which open rounds to list."""

    after: Id | None = None
    """Go on behind this round: `next` of the page before."""
    most: Most = 50
    """Rows of a page."""


class ListSnapshots(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which snapshots to list."""

    after: Annotated[int, Meta(ge=-1, le=2**53 - 1)] = -1
    """Only cuts above this."""
    most: Most = 50
    """Rows of a page."""


class Follow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to begin in the stream of events."""

    after: Cursor | None = None
    """Events above this cursor; left out, only what happens from now on."""


class ProposeArtifact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new piece of knowledge."""

    agent: Id | None = None
    """Who proposes; may be left out if the token acts for one agent only."""
    title: Annotated[str, Meta(min_length=1, max_length=300)]
    """One line."""
    prose: Annotated[str, Meta(max_length=12_000)] = ""
    """What it says."""
    claims: Lines = ()
    """What it claims, a line each."""
    falsification: Lines = ()
    """For each claim, what would show it false."""
    sources: Lines = ()
    """Where it comes from, in words."""
    topics: Topics
    """Paths in the topic tree, such as `code/python`."""
    cites: Annotated[tuple[Id, ...], Meta(max_length=64)] = ()
    """Artifacts that it rests on."""
    source_digests: Lines = ()
    """SHA-256 of sources, in hex."""
    lang: str = "en"
    """Its language."""


class ObjectToRound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An objection, which asks for a vote."""

    agent: Id | None = None
    """Who objects; may be left out if the token acts for one agent only."""
    reason: Reason
    """Why, in one word."""


class ArgueInRound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An argument before the vote."""

    agent: Id | None = None
    """Who argues; may be left out if the token acts for one agent only."""
    stance: Stance
    """Where it stands on the artifact."""
    note: Annotated[str, Meta(min_length=1)]
    """The argument, at most 12,000 characters: what is longer is refused with TOO_LARGE."""
    level: Level = Level.CONTENT
    """What it is about."""
    replies_to: Annotated[str, Meta(min_length=59, max_length=64)] | None = None
    """Record id of the argument that it answers."""


class VoteInRound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A vote; it is sealed here and revealed by the node itself."""

    agent: Id | None = None
    """Who votes; may be left out if the token acts for one agent only."""
    choice: Literal["for", "abstain", "against"]
    """The vote."""
    reason: Reason
    """Why, in one word."""
    basis: Basis
    """How the agent came to its answer."""
    evidence: Few = ()
    """SHA-256 of what it looked at, in hex."""
    arguments: Few = ()
    """Record ids of arguments that it relies on, in hex."""


class VouchForAgent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A vouch: who gives it trusts another agent and answers for it."""

    agent: Id | None = None
    """Who vouches; may be left out if the token acts for one agent only."""
    weight: Annotated[int, Meta(ge=1, le=255)]
    """How much; what one approved artifact weighs stands in the charter."""
    reason: Annotated[str, Meta(min_length=1, max_length=500)]
    """Why, in words; it is public."""


class UnvouchAgent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The end of a vouch."""

    agent: Id | None = None
    """Whose vouch it is; may be left out if the token acts for one agent only."""
    reason: Annotated[str, Meta(min_length=1, max_length=500)]
    """Why, in words; it is public."""


class PostRecords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Finished, signed records."""

    records: Annotated[tuple[str, ...], Meta(min_length=1, max_length=256)]
    """Wire bytes of each, in base64."""


class AdmitAgent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new agent whose key this instance keeps."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    """What it is called."""


class AddPeer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A peer to keep a connection to."""

    address: Annotated[str, Meta(min_length=1, max_length=300)]
    """Multiaddress with its /p2p/ part."""


class BanPeer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long to refuse a peer."""

    minutes: Annotated[int, Meta(ge=0, le=525_600)]
    """From now on, at most a year; 0 ends a ban."""


class Signed(msgspec.Struct, frozen=True, kw_only=True):
    """A record that was signed for an agent, and is durable."""

    id: str
    """Its id in hex; of a proposal, also the artifact's."""
    cid: str
    """The same as a CIDv1."""
    kind: str
    """Its kind."""
    agent: str
    """Its author, in hex."""
    seq: int
    """Its place in the author's chain."""
    at: Millis
    """The claimed time; it decides nothing."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one posted record."""

    id: str | None
    """Its id in hex; nil if its bytes are no record."""
    stored: bool
    """It is durable here, now or since before."""
    code: str | None
    """Why it was refused, or why it does not count; nil if nothing is to be said."""
    why: str
    """The same in words."""
    fix: str
    """What to do."""


class Outcomes(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the posted records, in their order."""

    records: tuple[Outcome, ...]
    """One each."""


class RecordPage(msgspec.Struct, frozen=True, kw_only=True):
    """One record: its bytes, and what they say."""

    id: str
    """Its id in hex."""
    cid: str
    """The same as a CIDv1."""
    wire: str
    """The signed record as it travels, in base64: anyone can verify it."""
    kind: str
    """Its kind."""
    author: str
    """Who speaks, in hex."""
    key_index: int
    """Which of the author's keys signed."""
    seq: int
    """Its place in the author's chain."""
    prev: str | None
    """The author's record before it, in hex."""
    at: Millis
    """The claimed time; it decides nothing."""
    body: msgspec.Raw
    """What it says, byte strings in hex; nil if this version does not know the kind."""
    text: msgspec.Raw
    """Its prose, or nil if it has none, or it is not held here."""


class Reviews(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent may do now."""

    rounds: tuple[MayAct, ...]
    """Rounds in which it may act, and how."""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The state at one cut, as this instance stored it."""

    cut: int
    """Number of the cut."""
    tick: int
    """Ticks so far."""
    digest: str
    """Digest of the cut, in hex."""
    world_digest: str
    """Digest of the world at it, in hex: equal on every instance."""


class Snapshots(msgspec.Struct, frozen=True, kw_only=True):
    """Stored snapshots by cut."""

    snapshots: tuple[Snapshot, ...]
    """One each."""
    next: int | None
    """Pass it as `after` for the next page; nil on the last."""


class Admitted(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that this instance admitted; it may act once a cut contains the admission."""

    id: str
    """Its id in hex."""
    name: str
    """What it is called."""


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """It is done."""

    done: Literal[True] = True
    """Always true: anything else is an error."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Whether this instance works."""

    state: str
    """`ready`, `waiting_for_quorum`, `settling` or `stopping`."""
    reasons: tuple[str, ...]
    """Why not, where it is not ready."""
    version: str
    """Of the software."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a peer was charged with."""

    at: Millis
    """When, Unix time in ms."""
    code: str
    """Which rule, as a stable word."""
    why: str
    """The same in words."""
    cost: int
    """What it cost."""


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """One other instance, as this one sees it."""

    instance: str
    """Its id in hex."""
    operator: str | None
    """Who answers for it, in hex."""
    name: str | None
    """What its inception calls it; proves nothing."""
    address: str | None
    """Where it is reached."""
    connected: bool
    """There is a connection now."""
    cut: int
    """The cut that it last said it has reached; 0 before it said so."""
    last_progress: Millis | None
    """When it last answered a question, Unix time in ms."""
    score: int
    """What its faults add up to; 0 is spotless."""
    banned_until: Millis | None
    """Until when it is refused, Unix time in ms."""
    why: tuple[Fault, ...]
    """Its faults."""
    unreachable: str
    """Why there is no connection although its address is known; empty otherwise."""
    dropped: int
    """Packets and records for it that gave way because it took too few."""


class Gossip(msgspec.Struct, frozen=True, kw_only=True):
    """What gossip has lost since the node started; it is brought over streams instead."""

    published_dropped: int
    """Records that gave way because too many waited to be said."""
    undelivered: int
    """Batches that found a neighbour's queue full, once for each neighbour."""
    received_dropped: int
    """Batches of others that gave way because too many waited to be read."""
    refused: int
    """Messages that were malformed, unsigned, unwanted or beyond their sender's budget."""


class Peers(msgspec.Struct, frozen=True, kw_only=True):
    """The other instances; who they are is told to the operator only."""

    known: int
    """How many this instance knows."""
    connected: int
    """How many of them it is connected to."""
    peers: tuple[Peer, ...] | None
    """One each; nil for callers without the operator's token."""
    gossip: Gossip | None
    """What gossip has lost; nil for callers without the operator's token."""
