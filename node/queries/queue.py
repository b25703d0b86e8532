"""What asks for a look: the review queue, the most urgent first (§3.1).

First an urgent report, because until a moderator has looked a harmful text may be read. Then
phases that close soon and lack voices, then the others that lack some, then what stands and has
lost its support, then the rest. Within one urgency what is sensitive comes first, then what lacks
most. For an agent it holds only what that agent may do now.

Nothing here depends on an unopened ballot: who has committed is public, what is not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import msgspec

from federation.artifacts import Artifact, Flag, RoundKind, State
from federation.certificates import Phase
from federation.core import AgentId, ArtifactId, Millis
from federation.protocol import Round, World
from federation.review import watchers
from node.base.errors import NodeCode, RequestError
from node.queries.acts import MayAct, to_review
from node.queries.coverage import Coverage, coverage_of, lacks, missing_of
from node.queries.live_rounds import artifact_of, held_in, live_slot, title_of, unsettled
from node.queries.names import Thing, cid_of, unknown
from node.queries.participation import Abnormal, abnormal
from node.queries.per_cut import PerCut
from node.queries.texts import article
from node.queries.windows import Window, window_of

MOST: Final = 200
"""Rows of one answer."""
LOOKED_AT: Final = 1_000
"""Open rounds, and flagged artifacts, that one answer looks at; those that close first come first."""
_SOON: Final = 4
"""A phase closes soon when a quarter of it is left."""
_TALK: Final = frozenset(
    {
        Phase.SEAL,
        Phase.UNSEAL,
        Phase.DELIBERATE,
        Phase.TURN2,
        Phase.TURN3,
        Phase.TURN4,
        Phase.TURN5,
    }
)
_BOX: Final = frozenset({Phase.COMMIT, Phase.COMMIT2})


class Urgency(StrEnum):
    """Why something asks for a look, the most urgent first."""

    REPORT = "report"
    """An urgent report waits for a moderator."""
    CLOSING = "closing"
    """A phase closes soon and lacks voices, or a ballot of the agent's is not opened yet."""
    WANTED = "wanted"
    """A phase is open and lacks voices."""
    REREVIEW = "rereview"
    """It stands by the word of somebody who was banned."""
    SUPPORT_LOST = "support_lost"
    """Something that it rests on was retracted."""
    STALE = "stale"
    """Somebody has shown that it may be out of date."""
    SANDBOX = "sandbox"
    """A newcomer proposes it: reviews are how its author earns a record."""
    OPEN = "open"
    """It runs and lacks nothing; another voice counts all the same."""


_ORDER: Final = tuple(Urgency)
_FLAGS: Final = (
    (Flag.REREVIEW, Urgency.REREVIEW, "It stands by the word of somebody who was banned since."),
    (Flag.SUPPORT_LOST, Urgency.SUPPORT_LOST, "Something that it rests on was retracted."),
    (Flag.STALE, Urgency.STALE, "Somebody has shown that it may be out of date."),
)


class QueueRow(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that asks for a look."""

    urgency: Urgency
    """Why, as a word; rows are in this order."""
    why: str
    """The same as a sentence, with what is lacking."""
    artifact: str
    """Id of the artifact, in hex; of an appeal, of the violation that the sanction rests on."""
    artifact_cid: str
    """The same as a CIDv1."""
    title: str | None
    """Title of the artifact; nil if its text is not readable here."""
    topics: tuple[str, ...]
    """Topics of the artifact."""
    sensitivity: str
    """`low` or `high`."""
    flags: tuple[Flag, ...]
    """What is known of the artifact beside its state."""
    round: str | None
    """Id of the round, in hex; nil if none runs."""
    kind: RoundKind | None
    """`review`, `dispute`, `report` or `appeal`; nil if no round runs."""
    phase: Phase | None
    """The open phase, at whose end the chance is gone; nil if no round runs."""
    window: Window | None
    """That phase's window here; act before its `submit_by`."""
    act: str | None
    """What the agent may do; nil where no agent was named."""
    matches: bool
    """The agent's subscription matched when the round opened."""
    coverage: Coverage | None
    """Who has committed and who is wanted; nil where nobody votes."""
    missing: int
    """Voices, operators and families that are lacking, summed up."""
    warnings: tuple[Abnormal, ...]
    """Who takes part in unusual number for this topic."""


class QueuePage(msgspec.Struct, frozen=True, kw_only=True):
    """What asks for a look, the most urgent first."""

    now: Millis
    """This instance's own clock when the answer was made; all times in it are on that clock."""
    rows: tuple[QueueRow, ...]
    """The rows."""
    more: int
    """Rows that were left out, and rounds and artifacts that were not looked at."""


def queue(world: World, now: Millis, *, agent: AgentId | None = None, most: int = 50) -> QueuePage:
    """Tell what asks for a look; with an agent, only what it may do now.

    `most` is 1 to 200, `now` in ms on this instance's own clock. Raises RequestError BAD_REQUEST,
    or NOT_FOUND unless a cut has admitted the agent.
    """
    if not 1 <= most <= MOST:
        raise RequestError(
            "queue refused",
            why=f"an answer holds 1 to {MOST} rows, not {most}",
            fix="ask for fewer: the most urgent come first",
            code=NodeCode.BAD_REQUEST,
        )
    if agent is not None and agent not in world.state.agents:
        raise unknown(agent, {Thing.AGENT})
    may = {one.round: one for one in to_review(world, agent, now)} if agent is not None else {}
    running = sorted(_running(world, now), key=lambda one: one.order)
    rows = [
        row
        for one in running[:LOOKED_AT]
        if (row := _row(world, one, agent, may.get(one.found.pin.round.hex()))) is not None
    ]
    flagged = _flagged(world)
    rows += [
        row for name in flagged[:LOOKED_AT] if (row := _flag_row(world, name, agent)) is not None
    ]
    rows.sort(key=_place)
    left = max(len(running) - LOOKED_AT, 0) + max(len(flagged) - LOOKED_AT, 0)
    return QueuePage(now=now, rows=tuple(rows[:most]), more=max(len(rows) - most, 0) + left)


def _place(row: QueueRow) -> tuple[int, bool, int, Millis, str, str]:
    return (
        _ORDER.index(row.urgency),
        row.sensitivity != "high",
        -row.missing,
        row.window.submit_by if row.window else 0,
        row.artifact,
        row.round or "",
    )


# Rounds -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Running:
    """A round with an open phase."""

    found: Round
    """The round."""
    phase: Phase
    """The phase that is open here."""
    window: Window
    """Until when it lasts."""

    @property
    def order(self) -> tuple[bool, Millis, bytes]:
        """Look at reports first, then at what closes first."""
        return self.phase is not Phase.ASSESS, self.window.submit_by, self.found.pin.round


def _running(world: World, now: Millis) -> Iterator[_Running]:
    for found in unsettled(world):
        live = live_slot(world, found)
        if live is not None and found.phase is not None and not live.state.is_final:
            yield _Running(found, found.phase, window_of(world, live, now))


def _row(world: World, one: _Running, agent: AgentId | None, may: MayAct | None) -> QueueRow | None:
    """Give the row of a round; None if there is nothing to do for whoever asks."""
    found, phase = one.found, one.phase
    # Whoever has committed opens; nobody else can do anything.
    if may is None and (agent is not None or phase is Phase.DECIDE):
        return None
    coverage = coverage_of(world, found) if phase in _TALK | _BOX else None
    missing = missing_of(coverage) if coverage is not None else _lacking(world, found)
    artifact = artifact_of(world, found)
    urgency = _urgency(one, coverage, missing)
    return QueueRow(
        urgency=urgency,
        why=_why(one, coverage, missing),
        artifact=found.pin.artifact.hex(),
        artifact_cid=cid_of(found.pin.artifact),
        title=title_of(world, found),
        topics=artifact.topics if artifact else (),
        sensitivity=found.pin.sensitivity,
        flags=tuple(sorted(artifact.flags)) if artifact else (),
        round=found.pin.round.hex(),
        kind=found.pin.kind,
        phase=phase,
        window=one.window,
        act=may.act.value if may is not None else None,
        matches=agent in found.pin.watchers,
        coverage=coverage,
        missing=missing,
        warnings=abnormal(world, found),
    )


def _lacking(world: World, found: Round) -> int:
    """Count who is lacking where nobody votes."""
    phase, pin = found.phase, found.pin
    if phase is Phase.FAST:
        have, need = watchers(pin)
        return max(need - have, 0)
    if phase in {Phase.ASSESS, Phase.RULE, Phase.ADMIN}:
        return int(not held_in(world, found, phase))
    return 0


def _urgency(one: _Running, coverage: Coverage | None, missing: int) -> Urgency:
    window, phase = one.window, one.phase
    if phase is Phase.ASSESS:
        return Urgency.REPORT
    if phase is Phase.DECIDE:
        return Urgency.CLOSING
    length = window.ends_at - window.began_at
    lacks = missing > 0 if coverage is None else coverage.committed < coverage.quorum
    if lacks and window.submit_within * _SOON <= length:
        return Urgency.CLOSING
    if one.found.pin.kind == "review" and not one.found.pin.author_has_ticket:
        return Urgency.SANDBOX
    return Urgency.WANTED if missing else Urgency.OPEN


def _why(one: _Running, coverage: Coverage | None, missing: int) -> str:
    pin, phase = one.found.pin, one.phase
    match phase:
        case Phase.ASSESS:
            return "An urgent report waits for a moderator: is it credible?"
        case Phase.FAST:
            told = "It stands without a vote unless somebody objects"
            return (
                f"{told}; {missing} of those who watch it are lacking." if missing else f"{told}."
            )
        case Phase.DECIDE:
            return (
                "The box is shut: ballots are opened now, and one that stays shut counts against."
            )
        case Phase.RULE:
            return "The result is not clear, or contested: a drawn arbiter rules about the process."
        case Phase.ADMIN:
            return "The operators decide by hand."
        case Phase.CONTEST | Phase.APPEAL:
            return "Whoever took part may say that the process was wrong."
        case _:
            assert coverage is not None, "there is a vote to come"  # noqa: S101 # our invariant
            author = "" if pin.kind != "review" or pin.author_has_ticket else "By a newcomer. "
            return author + lacks(coverage)


# Artifacts that no round decides about ------------------------------------------------------


def _flag_row(world: World, name: ArtifactId, agent: AgentId | None) -> QueueRow | None:
    artifact = world.state.artifacts[name]
    if agent is not None:
        view = world.state.views.get(agent)
        if view is None or not view.reviewer or view.barred or artifact.author == agent:
            return None
    urgency, why = next((urgency, why) for flag, urgency, why in _FLAGS if flag in artifact.flags)
    opens = any(due.artifact == name for due in world.state.due)
    _, text = article(world, artifact)
    return QueueRow(
        urgency=urgency,
        why=f"{why} A round about it opens by itself soon." if opens else why,
        artifact=name.hex(),
        artifact_cid=cid_of(name),
        title=text.title if text else None,
        topics=artifact.topics,
        sensitivity=artifact.sensitivity,
        flags=tuple(sorted(artifact.flags)),
        round=None,
        kind=None,
        phase=None,
        window=None,
        act="look" if agent is not None else None,
        matches=False,
        coverage=None,
        missing=0,
        warnings=(),
    )


def _asks(artifact: Artifact) -> bool:
    asked = any(flag in artifact.flags for flag, _, _ in _FLAGS)
    return asked and artifact.state is State.ACTIVE and Flag.HIDDEN not in artifact.flags


_flagged: Final = PerCut(
    lambda world: tuple(one.id for one in world.state.artifacts.values() if _asks(one))
)
"""Artifacts that stand and whose flags ask for a look, the oldest first."""
