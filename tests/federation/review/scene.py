"""A round among a few agents: the pinned world, their chains, and certified lists made by hand.

scene = Scene.of(1, 1, 1, 1)            # four operators with one agent each; agent 0 proposes
finals = scene.voted({1: FOR, 2: FOR})  # commit and decide, as certificates would list them
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import msgspec

from federation.artifacts import Flag, RoundKind, Verdict
from federation.certificates import Phase
from federation.charter import Charter, preset
from federation.core import AgentId, Digest, InstanceId, OperatorId
from federation.crypto import Ballot, Choice
from federation.crypto.arguments import argument_commitment, argument_of
from federation.records import (
    AdminReview,
    Assess,
    Decree,
    Record,
    Role,
    Rule,
    Ruled,
    SealArgument,
)
from federation.review import (
    AgentView,
    Ended,
    FinalList,
    Finals,
    RoundPin,
    expected_after,
    next_phase,
)
from tests.builders import REALM, Chain, argue, ballot, commit, contest, named, person, reveal
from tests.builders import object_to as objection
from tests.federation.charter.founding import founded, genesis_of

FOR, ABSTAIN, AGAINST = Choice.FOR, Choice.ABSTAIN, Choice.AGAINST
ROUND = named("round")
ARTIFACT = named("artifact")
CAUSE = named("cause")
"""The record that opened a round, where that is not the artifact's own."""
BEACON = named("beacon")
SIX = (1, 1, 1, 1, 1, 1)
"""An author and five reviewers, each of an operator of its own."""
ARBITER: dict[str, object] = {"tier": 2, "badges": frozenset({"arbiter"})}
MODERATOR: dict[str, object] = {"tier": 2, "badges": frozenset({"moderator"})}
NEWCOMER: dict[str, object] = {"tier": 0, "reviewer": False, "weight": 0}
RULED: dict[str, object] = {"contest": 1_000, "rule": 2_000, "appeal": 3_000, "admin": 4_000}
"""Lengths with which a round goes all the way."""


def operator(number: int) -> OperatorId:
    return named("operator", number)


def instance(number: int) -> InstanceId:
    return named("instance", number)


def member(number: int) -> OperatorId:
    """Name an operator that can write; the first ones are members."""
    return person(Role.OPERATOR, number).id


def charter(disputes: Mapping[str, object] | None = None, **review: object) -> Charter:
    """Take the test preset, with changes in its sections on reviews and on disputes."""
    rules = preset("test")
    return founded(
        "test",
        genesis_of([1]),
        review=msgspec.structs.replace(rules.review, **review),
        disputes=msgspec.structs.replace(rules.disputes, **(disputes or {})),
    )


@dataclass(slots=True)
class Scene:
    """One round and the pens of those who may write in it."""

    pin: RoundPin
    agents: list[Chain]

    @classmethod
    def of(
        cls,
        *sizes: int,
        author: int = 0,
        views: Mapping[int, Mapping[str, object]] | None = None,
        members: int = 4,
        instances: int | None = None,
        sensitivity: str = "high",
        ticket: bool = True,
        watchers: Iterable[int] = (),
        flags: Iterable[Flag] = (),
        review: Mapping[str, object] | None = None,
        disputes: Mapping[str, object] | None = None,
        kind: RoundKind = "review",
        disputer: int | None = None,
        voted: Iterable[int] = (),
        beacon: Digest | None = BEACON,
        **pinned_too: object,
    ) -> "Scene":
        """Make `sizes` agents per operator, all reviewers of tier 1 and equal weight.

        `views` changes the pinned view of single agents; operator k's agents belong to instance
        k mod `instances`. The first `members` operators are members; the round is of `kind`, opened
        by `disputer`, and agents of `voted` have sat on a panel about the artifact before.
        """
        agents: list[Chain] = []
        pinned: dict[AgentId, AgentView] = {}
        for owner, size in enumerate(sizes):
            for _ in range(size):
                chain = Chain(person(Role.AGENT, len(agents)))
                view = AgentView(
                    agent=chain.id,
                    operator=operator(owner),
                    instance=instance(owner % (instances or len(sizes))),
                    model=chain.id,
                    keeper=chain.id,
                    tier=1,
                    weight=700_000,
                    reviewer=True,
                )
                changes = (views or {}).get(len(agents), {})
                pinned[chain.id] = replace(view, **changes)  # type: ignore[arg-type]
                agents.append(chain)
        who = pinned[agents[author].id]
        pin = RoundPin(
            round=ROUND,
            realm=REALM,
            artifact=ARTIFACT,
            author=who.agent,
            author_operator=who.operator,
            home=who.instance,
            home_operator=who.operator,
            cut=1,
            sensitivity=sensitivity,  # type: ignore[arg-type]
            author_has_ticket=ticket,
            watchers=frozenset(agents[one].id for one in watchers),
            flags=frozenset(flags),
            kind=kind,
            disputer=None if disputer is None else agents[disputer].id,
            disputer_operator=None if disputer is None else pinned[agents[disputer].id].operator,
            cause=None if kind == "review" else CAUSE,
            voted=frozenset(agents[one].id for one in voted),
            beacon=beacon,
            members=frozenset(member(one) for one in range(members)),
            charter=charter(disputes, **(review or {})),
            agents=pinned,
            member_operators=members,
            **pinned_too,  # type: ignore[arg-type]
        )
        return cls(pin, agents)

    def ids(self, *numbers: int) -> frozenset[AgentId]:
        return frozenset(self.agents[number].id for number in numbers)

    def after(self, phase: Phase, finals: Finals) -> Digest:
        named_digest = expected_after(phase, self.pin, finals)
        assert named_digest is not None, f"{phase} is not reached"
        return named_digest

    def object_to(self, who: int, finals: Finals) -> Record:
        return self.agents[who].say(*objection(ROUND, after=self.after(Phase.FAST, finals)))

    def argue(
        self, who: int, finals: Finals, phase: Phase = Phase.DELIBERATE, **changes: object
    ) -> Record:
        after = self.after(phase, finals)
        return self.agents[who].say(*argue(ROUND, after=after, **changes))  # type: ignore[arg-type]

    def seal(self, who: int, finals: Finals, **changes: object) -> Record:
        """Seal the argument that `unseal` opens with the same changes."""
        chain = self.agents[who]
        body, _ = argue(ROUND, **changes)  # type: ignore[arg-type]
        committed = argument_commitment(
            realm=REALM,
            round_id=ROUND,
            author=chain.id,
            argument=argument_of(body),
            nonce=self.nonce(who),
        )
        after = self.after(Phase.SEAL, finals)
        return chain.say(
            SealArgument(round=ROUND, after=after, commitment=committed, sealed=bytes(40))
        )

    def unseal(self, who: int, finals: Finals, **changes: object) -> Record:
        opened = {"nonce": self.nonce(who)} | changes
        return self.argue(who, finals, Phase.UNSEAL, **opened)

    def nonce(self, who: int) -> Digest:
        return named("argument", who)

    def commit(
        self, who: int, finals: Finals, vote: Ballot | None = None, phase: Phase = Phase.COMMIT
    ) -> Record:
        chain = self.agents[who]
        return chain.say(commit(chain, ROUND, vote, after=self.after(phase, finals)))

    def reveal(self, who: int, finals: Finals, vote: Ballot | None = None) -> Record:
        chain = self.agents[who]
        return chain.say(reveal(chain, ROUND, vote, after=self.after(Phase.DECIDE, finals)))

    def contest(self, who: int, finals: Finals, phase: Phase = Phase.CONTEST) -> Record:
        return self.agents[who].say(*contest(ROUND, after=self.after(phase, finals)))

    def rule(self, who: int, finals: Finals, ruling: Ruled = Ruled.BY_SIGN) -> Record:
        after = self.after(Phase.RULE, finals)
        return self.agents[who].say(Rule(round=ROUND, after=after, ruling=ruling, ground="fair"))

    def assess(
        self, who: int, finals: Finals, *, credible: bool = True, **changes: object
    ) -> Record:
        after = self.after(Phase.ASSESS, finals)
        body = Assess(round=ROUND, after=after, report=CAUSE, credible=credible)
        return self.agents[who].say(msgspec.structs.replace(body, **changes))

    def decree(
        self, number: int, finals: Finals, decision: Decree = Decree.KEEP, **changes: object
    ) -> Record:
        """Let operator `number`, of the members if it is below their number, decide by hand."""
        body = AdminReview(
            round=ROUND,
            after=self.after(Phase.ADMIN, finals),
            subject=ARTIFACT,
            decision=decision,
            reason="seen",
        )
        return Chain(person(Role.OPERATOR, number)).say(msgspec.structs.replace(body, **changes))

    def opening(self) -> dict[Phase, FinalList]:
        """Certify empty lists of everything before `commit`."""
        finals: dict[Phase, FinalList] = {}
        while (now := next_phase(self.pin, finals)) is not Phase.COMMIT:
            if not isinstance(now, Phase) or now is Phase.RULE:
                break
            finals[now] = final(now)
        return finals

    def committed(
        self, votes: Mapping[int, Choice | Ballot], finals: Finals | None = None
    ) -> dict[Phase, FinalList]:
        """Certify the commitments of these agents."""
        before = dict(self.opening() if finals is None else finals)
        records = [self.commit(who, before, as_ballot(vote)) for who, vote in votes.items()]
        return before | {Phase.COMMIT: final(Phase.COMMIT, *records)}

    def voted(
        self,
        votes: Mapping[int, Choice | Ballot],
        *,
        silent: Iterable[int] = (),
        finals: Finals | None = None,
    ) -> dict[Phase, FinalList]:
        """Certify commitments and all reveals but those of `silent`; nobody joins a widening."""
        quiet = set(silent)
        boxed = self.committed(votes, finals)
        if expected_after(Phase.COMMIT2, self.pin, boxed) is not None:
            boxed[Phase.COMMIT2] = final(Phase.COMMIT2)
        records = [
            self.reveal(who, boxed, as_ballot(vote))
            for who, vote in votes.items()
            if who not in quiet
        ]
        return boxed | {Phase.DECIDE: final(Phase.DECIDE, *records)}


def as_ballot(vote: Choice | Ballot) -> Ballot:
    return vote if isinstance(vote, Ballot) else ballot(vote)


def final(phase: Phase, *records: Record, void: bool = False) -> FinalList:
    """Stand for a certified list; its digest is made of what it lists."""
    ids = sorted(record.id.hex() for record in records)
    return FinalList(digest=named("final", phase, *ids, void), records=records, void=void)


def ended(scene: Scene, finals: Finals) -> Verdict:
    """Give the verdict of a round that has ended."""
    now = next_phase(scene.pin, finals)
    assert isinstance(now, Ended), f"the round is still in {now}"
    return now.verdict


def low(*sizes: int, watchers: tuple[int, ...] = (1, 2, 3), **changes: object) -> Scene:
    """Make a round of low sensitivity that three reviewers watch."""
    return Scene.of(*sizes, sensitivity="low", watchers=watchers, **changes)  # type: ignore[arg-type]
