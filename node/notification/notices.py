"""What is a notice, and whom it concerns (paper 3.1: agents pull, and are told what there is).

Everything here is a pure look at a world. Whom a phase concerns follows from what the round pinned
and from its certified lists, so the same event looked at again, after a crash or late, gives the
same notices; agent, kind, subject and `about` name each of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from federation.artifacts import Artifact, State
from federation.certificates import Phase
from federation.core import AgentId, IdentityId, InstanceId, Millis, OperatorId
from federation.protocol import Round, World
from federation.records import Assess, Kind
from federation.review import (
    course,
    drawn_arbiters,
    is_delegated,
    listed,
    may_assess,
    may_speak_for_process,
    may_vote,
)
from node.store.notices import SaveCondition, SaveNotice


class NoticeKind(StrEnum):
    """What an agent can be told."""

    MATCH = "match"
    """A round opened that matches its subscription."""
    PHASE = "phase"
    """A phase opened in which it may act; `act` says how."""
    DISPUTED = "disputed"
    """A dispute of its artifact opened."""
    REPORTED = "reported"
    """Its artifact was reported, and a moderator is asked."""
    RETRACTED = "retracted"
    """Its artifact does not stand any more."""
    SUPERSEDED = "superseded"
    """An accepted revision stands in the place of its artifact."""
    FLAGGED = "flagged"
    """Something became known about its artifact: the flag is named."""
    VERDICT = "verdict"
    """A round about its artifact, its dispute or its appeal ended."""
    SANCTION = "sanction"
    """What it may do has changed, or, for operators, what one of their agents may do."""


class About(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The part of a notice that is kept as JSON."""

    why: str
    """What it means, in a sentence."""
    artifact: str | None = None
    """Id of the artifact, in hex."""
    round: str | None = None
    """Id of the round, in hex."""
    phase: str | None = None
    """The phase that opened."""
    act: str | None = None
    """What its receiver may do now."""
    agent: str | None = None
    """The agent that it is about, in hex, where an operator is told."""


_UNTOLD: Final = frozenset({State.RETRACTED, State.SUPERSEDED})
"""States whose beginning is told."""


class Notices:
    """What one instance tells its own agents and operators."""

    def __init__(self, world: World, instance: InstanceId, at: Millis) -> None:
        """Look at a world between two awaits; `at` is Unix time in ms."""
        self._world = world
        self._instance = instance
        self._at = at

    # Who is ours ----------------------------------------------------------------------------------

    def is_ours(self, agent: AgentId) -> bool:
        """Tell whether this instance admitted an agent."""
        found = self._world.state.agents.get(agent)
        return found is not None and found.instance == self._instance

    def our_operators(self, among: Iterable[OperatorId]) -> Iterator[OperatorId]:
        """Give the operators among some that this instance admitted, or that answer for it."""
        state = self._world.state
        for operator in sorted(set(among)):
            found = state.operators.get(operator)
            if (found is not None and found.instance == self._instance) or (
                state.instances.get(self._instance) == operator
            ):
                yield operator

    # Rounds ---------------------------------------------------------------------------------------

    def of_opening(self, one: Round, interested: Iterable[AgentId]) -> Iterator[SaveNotice]:
        """Tell of a round that opened: its artifact's author, and those whose offer matches."""
        pin = one.pin
        if pin.kind == "appeal":
            return
        told = {"dispute": NoticeKind.DISPUTED, "report": NoticeKind.REPORTED}.get(pin.kind)
        if told is not None and self.is_ours(pin.author):
            yield self._about_round(one, pin.author, told, f"A {pin.kind} of your artifact opened.")
        for agent in sorted(set(interested)):
            if agent not in pin.sides and self.is_ours(agent):
                yield self._about_round(
                    one, agent, NoticeKind.MATCH, f"A {pin.kind} opened that you may care for."
                )

    def of_phase(self, one: Round, phase: Phase) -> Iterator[SaveNotice]:
        """Tell of a phase that opened those who may act in it."""
        for who, act in sorted(self._concerned(one, phase).items()):
            if act == "decide" or self.is_ours(who):
                yield self._notice(
                    who,
                    NoticeKind.PHASE,
                    one.pin.round,
                    phase.value,
                    About(
                        why=f"The phase {phase} opened, and you may {_IN_WORDS[act]}.",
                        artifact=_artifact_of(one),
                        round=one.pin.round.hex(),
                        phase=phase.value,
                        act=act,
                    ),
                )

    def _concerned(self, one: Round, phase: Phase) -> Mapping[IdentityId, str]:
        """Say who may act in a phase that opened, and how."""
        pin = one.pin
        lists = course(pin, one.finals).lists
        match phase:
            case Phase.COMMIT | Phase.COMMIT2:
                return self._voters(one, phase)
            case Phase.UNSEAL:
                return {record.author: "open" for record in listed(lists, Phase.SEAL)}
            case Phase.TURN2 | Phase.TURN3 | Phase.TURN4 | Phase.TURN5:
                spoke = (one for turn in _TURNS for one in listed(lists, turn))
                return {record.author: "argue" for record in spoke}
            case Phase.CONTEST | Phase.APPEAL:
                spoke = (record for final in lists.values() for record in final.records)
                involved = pin.sides.union(record.author for record in spoke)
                return {
                    agent: "contest"
                    for agent in involved
                    if may_speak_for_process(pin, lists, agent) is None
                }
            case Phase.RULE:
                return dict.fromkeys(drawn_arbiters(pin, lists), "rule")
            case Phase.ASSESS if pin.cause is not None:
                said = Assess(round=pin.round, after=pin.round, report=pin.cause, credible=True)
                return {
                    agent: "assess" for agent in pin.agents if may_assess(pin, agent, said) is None
                }
            case Phase.ADMIN:
                return dict.fromkeys(self.our_operators(pin.members), "decide")
            case _:
                # Whoever follows the topic was told when the round opened.
                return {}

    def _voters(self, one: Round, phase: Phase) -> Mapping[IdentityId, str]:
        """Give the reviewers, and of those who may only practise the ones that watch the topic."""
        pin = one.pin
        sealed: set[AgentId] = set()
        if phase is Phase.COMMIT2:
            sealed = {record.author for record in listed(one.finals, Phase.COMMIT)}
        may = {
            **dict.fromkeys(pin.eligible.practice & pin.watchers, "practice"),
            **dict.fromkeys(pin.eligible.reviewers, "vote"),
        }
        return {
            agent: act
            for agent, act in may.items()
            if agent not in sealed
            and may_vote(pin.agents, pin.eligible, agent) is None
            and is_delegated(pin.agents[agent].scope, Kind.COMMIT)
        }

    def of_verdict(self, one: Round) -> Iterator[SaveNotice]:
        """Tell how a round ended: the artifact's author, and who filed the dispute or appeal."""
        if one.verdict is None:
            return
        for agent in sorted(one.pin.sides):
            if self.is_ours(agent):
                yield self._about_round(
                    one,
                    agent,
                    NoticeKind.VERDICT,
                    f"The {one.pin.kind} ended: {one.verdict.decision.value}, "
                    f"by {one.verdict.by.value}.",
                )

    # Artifacts ------------------------------------------------------------------------------------

    def of_artifact(self, artifact: Artifact, before: SaveCondition) -> Iterator[SaveNotice]:
        """Tell an author what changed about its artifact since it was last told."""
        cut = self._world.state.cut
        state = artifact.state
        told = {State.RETRACTED: NoticeKind.RETRACTED, State.SUPERSEDED: NoticeKind.SUPERSEDED}
        if state.value != before.state and state in _UNTOLD:
            by = artifact.superseded_by
            why = (
                "Your artifact does not stand any more."
                if by is None
                else (f"Artifact {by.hex()} stands in the place of yours.")
            )
            yield self._about_artifact(artifact, told[state], f"@{cut}", why)
        for flag in sorted({flag.value for flag in artifact.flags}.difference(before.flags)):
            yield self._about_artifact(
                artifact, NoticeKind.FLAGGED, f"{flag}@{cut}", f"Your artifact was flagged: {flag}."
            )

    # Making ---------------------------------------------------------------------------------------

    def of_sanction(
        self, receiver: IdentityId, subject: bytes, about: str, why: str, *, agent: AgentId
    ) -> SaveNotice:
        """Tell an agent, or the operator of one, of a sanction; `subject` is the violation."""
        whose = None if receiver == agent else agent.hex()
        return self._notice(
            receiver, NoticeKind.SANCTION, subject, about, About(why=why, agent=whose)
        )

    def _about_round(self, one: Round, agent: AgentId, kind: NoticeKind, why: str) -> SaveNotice:
        about = About(why=why, artifact=_artifact_of(one), round=one.pin.round.hex())
        return self._notice(agent, kind, one.pin.round, "", about)

    def _about_artifact(
        self, artifact: Artifact, kind: NoticeKind, about: str, why: str
    ) -> SaveNotice:
        told = About(why=why, artifact=artifact.id.hex())
        return self._notice(artifact.author, kind, artifact.id, about, told)

    def _notice(
        self, agent: IdentityId, kind: NoticeKind, subject: bytes, about: str, told: About
    ) -> SaveNotice:
        return SaveNotice(
            agent=agent,
            kind=kind.value,
            subject=subject,
            about=about,
            body=msgspec.json.encode(told),
            at=self._at,
        )


_TURNS: Final = (Phase.DELIBERATE, Phase.TURN2, Phase.TURN3, Phase.TURN4, Phase.TURN5)
_IN_WORDS: Final[Mapping[str, str]] = {
    "vote": "vote",
    "practice": "cast a practice ballot",
    "open": "open the assessment that you sealed",
    "argue": "say something more",
    "contest": "contest how it was held",
    "rule": "rule, because you were drawn as arbiter",
    "assess": "say whether the report is credible",
    "decide": "decide as an operator",
}


def _artifact_of(one: Round) -> str | None:
    """Name the artifact of a round; an appeal is about a sanction instead."""
    return None if one.pin.kind == "appeal" else one.pin.artifact.hex()


def condition_of(artifact: Artifact) -> SaveCondition:
    """Give what an author is told about of an artifact as it is now."""
    return SaveCondition(
        artifact=artifact.id,
        state=artifact.state.value,
        flags=tuple(sorted(flag.value for flag in artifact.flags)),
    )
