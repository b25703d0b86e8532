"""The realm as a whole: what it is called, its charter, its members, and the overview.

The overview is what a status page polls. It costs with what it shows and with what is open, with
one exception: artifacts are counted by walking over all of them, of which only those that are not
decided are looked at. Nothing of it grows with the number of cuts.
"""

from collections import Counter
from collections.abc import Iterator

import msgspec

from federation.artifacts import State
from federation.certificates import RoundSlot, slot_from_plain
from federation.charter import SAFE_MEMBERS, Three, quorum_of
from federation.codec import decode_plain
from federation.core import IdentityId, InstanceId, Millis, RoundId
from federation.protocol import Round, World
from federation.protocol.state import NO_KEY
from federation.records import did_key
from node.queries.artifacts import ArtifactState
from node.queries.charters import charter
from node.queries.live_rounds import (
    artifact_now,
    artifact_of,
    is_settled,
    may_move,
    next_cut,
    unsettled,
)
from node.queries.names import Who, cid_of, who
from node.queries.rounds import OpenRound, open_rounds
from node.queries.texts import article
from node.queries.verdicts import Verdict, verdict_of
from node.queries.waits import Wait

__all__ = [
    "CutPage",
    "MemberPage",
    "MembersPage",
    "NewVerdict",
    "Overview",
    "RealmPage",
    "StateCounts",
    "charter",
    "counts",
    "cut",
    "members",
    "newest",
    "overview",
    "realm",
]

NEWEST: int = 10
"""Verdicts that the overview shows."""
OPEN: int = 20
"""Open rounds that the overview shows unless it is asked for more."""


class CutPage(msgspec.Struct, frozen=True, kw_only=True):
    """The last cut: equal on all instances that have come as far."""

    number: int
    """E; 0 is the charter itself."""
    tick: int
    """Ticks so far: reputation and weights moved at the last of them."""
    digest: str
    """Digest of the cut, in hex."""
    world: str
    """Digest of the certified world at this cut, in hex: compare it with other instances."""
    beacon: str
    """Public randomness of this cut, in hex."""


class RealmPage(msgspec.Struct, frozen=True, kw_only=True):
    """What this realm is."""

    id: str
    """Id of the realm, in hex: it is part of every record's hash."""
    name: str
    """Its name, for people."""
    preset: str
    """Preset that its charter started from."""
    protocol: int
    """Version of the protocol."""
    charter: str
    """Hash of the charter in force, in hex."""
    me: Who | None
    """The instance that answers; nil for an observer."""
    cut: CutPage
    """How far it is here."""
    records: int
    """Records held here."""
    agents: int
    """Admitted agents."""
    operators: int
    """Admitted operators."""
    instances: int
    """Member instances."""


class MemberPage(msgspec.Struct, frozen=True, kw_only=True):
    """One member: an operator and the instance that speaks for it at the next cut."""

    operator: Who
    """The operator: it counts once."""
    voice: Who
    """The instance that signs for it."""
    key: str | None
    """The voice's key, in hex; nil if all its instances are revoked: it counts, and cannot sign."""
    did: str | None
    """The same as a did:key."""
    instances: tuple[Who, ...]
    """All its instances."""
    me: bool
    """This instance is its voice."""


class MembersPage(msgspec.Struct, frozen=True, kw_only=True):
    """Who makes lists final, and what their number survives."""

    n: int
    """Operators of member instances."""
    q: int
    """How many of them must sign."""
    f: int
    """Liars that inclusion and progress allow for."""
    liars: int
    """Liars under which two final lists of one slot stay impossible."""
    down: int
    """Members that may be gone while certificates still come."""
    three: Three
    """What three operators choose: `strict` or `available`."""
    survives: str
    """The same in sentences."""
    narrow: bool
    """Too few operators for the usual safeguards: every verdict says so."""
    members: tuple[MemberPage, ...]
    """The members, by operator."""


class StateCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Artifacts by state, as they stand here."""

    waiting: int
    """Proposals that no cut contains yet."""
    proposed: int
    """Objection window open, or round about to begin."""
    under_review: int
    """A formal vote decides."""
    active: int
    """They stand."""
    disputed: int
    """They stood, and a fresh panel decides whether they still do."""
    retracted: int
    """They do not stand."""
    superseded: int
    """A revision stands in their place."""


class NewVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """One of the newest verdicts."""

    artifact: str
    """Id of the artifact, in hex."""
    artifact_cid: str
    """The same as a CIDv1."""
    title: str | None
    """Its title; nil if its text is not readable here."""
    state: ArtifactState
    """Where the artifact stands here."""
    settled: bool
    """A cut contains all that led there."""
    verdict: Verdict
    """What was decided, with its narrow reasons."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What a status page shows at a glance."""

    now: Millis
    """This instance's own clock when the answer was made; all times in it are on that clock."""
    realm: RealmPage
    """The realm, and how far it is here."""
    members: MembersPage
    """Who makes lists final."""
    next_cut: Wait
    """What the next cut waits for."""
    counts: StateCounts
    """Artifacts by state."""
    rounds: int
    """Rounds that run here or wait for a cut, all of them."""
    open: tuple[OpenRound, ...]
    """The oldest of these rounds, with what each waits for; `/v1/rounds` lists them all."""
    verdicts: tuple[NewVerdict, ...]
    """The newest verdicts, each with its narrow reasons: those that no cut contains yet, then
    those of the newest artifacts."""
    diverged: bool
    """Others certify another world than the one here: an operator must look."""


def realm(world: World) -> RealmPage:
    """Say which realm this is, and how far it is here."""
    state = world.state
    charter_now = state.charter
    return RealmPage(
        id=world.realm.hex(),
        name=charter_now.name,
        preset=charter_now.preset,
        protocol=charter_now.protocol,
        charter=state.charter_hash.hex(),
        me=who(world, world.me.instance) if world.me else None,
        cut=cut(world),
        records=len(world.log),
        agents=len(state.agents),
        operators=len(state.operators),
        instances=len(state.instances),
    )


def cut(world: World) -> CutPage:
    """Show the last cut."""
    state = world.state
    return CutPage(
        number=state.cut,
        tick=state.tick,
        digest=state.digest.hex(),
        world=world.digest.hex(),
        beacon=state.beacon.hex(),
    )


def members(world: World) -> MembersPage:
    """Show who agrees on the next cut, and what their number survives."""
    state = world.state
    three = world.charter.timing.three
    found = quorum_of(len(state.cut_members), three=three)
    instances: dict[IdentityId, list[InstanceId]] = {}
    for instance, operator in sorted(state.instances.items()):
        instances.setdefault(operator, []).append(instance)
    return MembersPage(
        n=found.n,
        q=found.q,
        f=found.f,
        liars=found.liars,
        down=found.down,
        three=three,
        survives=_survives(found.n, found.q, found.liars, found.down),
        narrow=found.n < SAFE_MEMBERS,
        members=tuple(
            MemberPage(
                operator=who(world, one.operator),
                voice=who(world, one.voice),
                key=None if one.key == NO_KEY else one.key.hex(),
                did=None if one.key == NO_KEY else did_key(one.key),
                instances=tuple(who(world, name) for name in instances.get(one.operator, ())),
                me=world.me is not None and one.voice == world.me.instance,
            )
            for one in state.cut_members
        ),
    )


def overview(world: World, now: Millis, *, most: int = OPEN) -> Overview:
    """Show everything at a glance, `most` open rounds (1 to 200) in it.

    `now` is in ms on this instance's own clock. Raises RequestError BAD_REQUEST.
    """
    return Overview(
        now=now,
        realm=realm(world),
        members=members(world),
        next_cut=next_cut(world, now),
        counts=counts(world),
        rounds=sum(1 for _ in unsettled(world)),
        open=open_rounds(world, now, most=most).rounds,
        verdicts=newest(world),
        diverged=any(live.state.diverged for live in world.slots.values()),
    )


def counts(world: World) -> StateCounts:
    """Count artifacts by where they stand here; walks over all artifacts."""
    found = Counter(
        artifact_now(world, artifact).state if may_move(artifact) else artifact.state
        for artifact in world.state.artifacts.values()
    )
    return StateCounts(
        waiting=len(world.triggers),
        proposed=found[State.PROPOSED],
        under_review=found[State.UNDER_REVIEW],
        active=found[State.ACTIVE],
        disputed=found[State.DISPUTED],
        retracted=found[State.RETRACTED],
        superseded=found[State.SUPERSEDED],
    )


def newest(world: World, most: int = NEWEST) -> tuple[NewVerdict, ...]:
    """List the newest verdicts: those that no cut contains yet, then those of newest artifacts."""
    shown: list[NewVerdict] = []
    for found in _ended(world):
        if len(shown) == most:
            break
        certified = artifact_of(world, found)
        if found.verdict is None or certified is None:
            # The end of an appeal is no artifact's.
            continue
        artifact = artifact_now(world, certified)
        _, text = article(world, artifact)
        shown.append(
            NewVerdict(
                artifact=artifact.id.hex(),
                artifact_cid=cid_of(artifact.id),
                title=text.title if text else None,
                state=ArtifactState(artifact.state.value),
                settled=is_settled(found),
                verdict=verdict_of(found.verdict, found.pin.charter),
            )
        )
    return tuple(shown)


def _ended(world: World) -> Iterator[Round]:
    """Go through rounds, first those whose certificates no cut contains, newest first.

    Then by artifact, the newest first. Rounds that still run are among both.
    """
    seen: set[RoundId] = set()
    # Both maps keep the order in which their keys came, and the first holds open work only.
    for key in reversed(world.certificates.open):
        slot = slot_from_plain(decode_plain(key, what="slot"))
        if isinstance(slot, RoundSlot) and slot.round_id not in seen:
            seen.add(slot.round_id)
            yield world.rounds[slot.round_id]
    for name in reversed(world.state.artifacts):
        found = world.state.artifacts[name].round
        if found in world.rounds and found not in seen:
            yield world.rounds[found]


def _survives(n: int, q: int, liars: int, down: int) -> str:
    """Say what n members survive (design: federation, the table)."""
    if n == 1:
        return "One operator decides alone: nobody else can check that it tells all the same."
    gone = (
        f"{down} of them may be gone and lists still become final"
        if down
        else "with one of them gone nothing becomes final until it is back; nothing is lost"
    )
    lies = (
        f"no two final lists can contradict each other while at most {liars} of them lie"
        if liars
        else "one liar can make two lists that contradict each other: detected, not prevented"
    )
    return f"{q} of {n} operators make a list final: {gone}; {lies}."
