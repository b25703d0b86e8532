"""A certified world without a network for sanctions: rounds are observed as if they had just ended."""

from collections.abc import Sequence

from msgspec.structs import replace

from federation.artifacts import Artifact, DecidedBy, OpenedBallot, RoundKind, Verdict
from federation.charter import Sanctions
from federation.core import AgentId, Code, OperatorId, RecordId, RoundId
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.protocol import State, World, begin, discipline, epochs, liabilities
from federation.records import AgentHealth, Appeal, Body, Health, Record, Role, sign_record
from federation.review import RoundPin
from federation.sanctions import Held, RuleId
from federation.trust import Decision, Evidence, Unrevealed, Vote
from federation.trust.outcomes import Reversal
from tests.builders import person
from tests.federation.protocol.town import founding, verify

AGENTS = 8
REALM = founding(1, AGENTS, operators=4)
"""Agent i belongs to operator i mod 4."""


def ballot(
    voter: AgentId,
    operator: OperatorId,
    choice: Choice,
    reason: Reason = Reason.UNCLEAR,
    *,
    weight: int = 1_000,
) -> OpenedBallot:
    """Make an opened ballot; with no weight it is for practice."""
    return OpenedBallot(
        voter=voter,
        operator=operator,
        ballot=Ballot(choice=choice, reason=reason, basis=Basis.TOOL),
        weight=weight,
        practice=not weight,
    )


class Docket:
    """One world, and what is put before it."""

    def __init__(self, **rules: int) -> None:
        charter = REALM.charter
        sanctions: Sanctions = replace(charter.sanctions, **rules)
        self.world: World = begin(
            replace(charter, sanctions=sanctions), REALM.records, verify=verify
        )
        self.state: State = self.world.state
        self.rounds = 0

    def name(self, index: int) -> AgentId:
        return REALM.agents[index]

    def operator(self, index: int) -> OperatorId:
        return self.state.agents[self.name(index)].operator

    def tick(self, *rows: Evidence, by: int = 1) -> tuple[AgentId, ...]:
        """Let ticks pass, with rows at the first; tell who was banned at the last."""
        banned: tuple[AgentId, ...] = ()
        for number in range(by):
            self.state.tick += 1
            fresh = rows if number == 0 else ()
            self.state.ledger.add(fresh)
            liabilities.charge(self.state, fresh)
            banned = discipline.tick(self.state)
        self.state.views = epochs.views(self.state)
        return banned

    def round_id(self) -> RoundId:
        self.rounds += 1
        return self.rounds.to_bytes(32, "big")

    def pin(
        self,
        author: int,
        kind: RoundKind = "review",
        *,
        disputer: int | None = None,
        cause: RecordId | None = None,
    ) -> RoundPin:
        """Pin a round of an artifact in the present world."""
        state, name = self.state, self.round_id()
        agent = state.agents[self.name(author)]
        return RoundPin(
            round=name,
            realm=state.realm,
            artifact=b"\xaa" + name[1:],
            author=agent.agent,
            author_operator=agent.operator,
            home=agent.instance,
            home_operator=state.instances[agent.instance],
            cut=state.cut,
            sensitivity="low",
            author_has_ticket=True,
            watchers=frozenset(),
            kind=kind,
            disputer=None if disputer is None else self.name(disputer),
            disputer_operator=None if disputer is None else self.operator(disputer),
            cause=cause,
            charter=state.charter,
            agents=state.views,
            member_operators=1,
        )

    def verdict(
        self,
        pin: RoundPin,
        decision: Decision,
        ballots: Sequence[OpenedBallot] = (),
        *,
        by: DecidedBy = DecidedBy.VOTE,
        unrevealed: Sequence[int] = (),
        frivolous: bool = False,
        quorum: bool = True,
    ) -> Verdict:
        """Say how a round ended."""
        weight = sum(one.weight for one in ballots)
        return Verdict(
            round=pin.round,
            decision=decision,
            by=by,
            numerator=sum(one.weight * one.ballot.choice for one in ballots),
            denominator=weight,
            v_ppm=0,
            strong=False,
            quorum=quorum,
            quorum_needed=1,
            operators=2,
            ballots=tuple(sorted(ballots, key=lambda one: one.voter)),
            unrevealed=tuple(
                Unrevealed(voter=self.name(one), practice=False) for one in unrevealed
            ),
            kind=pin.kind,
            frivolous=frivolous,
        )

    def rejected(
        self,
        author: int,
        reasons: Sequence[tuple[Reason, int]],
        *,
        by: DecidedBy = DecidedBy.VOTE,
        quorum: bool = True,
    ) -> Verdict:
        """Let a review end with a rejection for these reasons, each with its weight."""
        pin = self.pin(author)
        ballots = [
            ballot(self.name(place), self.operator(place), Choice.AGAINST, reason, weight=weight)
            for place, (reason, weight) in enumerate(reasons)
        ]
        verdict = self.verdict(pin, Decision.REJECT, ballots, by=by, quorum=quorum)
        discipline.observe(self.state, pin, {}, verdict, None)
        return verdict

    def frivolous(self, disputer: int, *, times: int = 1) -> None:
        """Let disputes of an agent be dismissed as frivolous."""
        for _ in range(times):
            pin = self.pin(0, "dispute", disputer=disputer, cause=self.round_id())
            verdict = self.verdict(pin, Decision.ACCEPT, frivolous=True)
            discipline.observe(self.state, pin, {}, verdict, None)

    def unrevealed(self, *voters: int) -> None:
        """Let a round end in which these left their ballots sealed."""
        pin = self.pin(0)
        verdict = self.verdict(pin, Decision.ACCEPT, unrevealed=voters)
        discipline.observe(self.state, pin, {}, verdict, None)

    def upheld(self, votes: Sequence[tuple[int, Choice]]) -> RoundId:
        """Let an artifact that was accepted by these votes survive a dispute; give its round."""
        review, dispute = self.pin(0), self.pin(0, "dispute", disputer=1, cause=self.round_id())
        ballots = [ballot(self.name(who), self.operator(who), choice) for who, choice in votes]
        accepted = self.verdict(review, Decision.ACCEPT, ballots)
        artifact = Artifact(
            id=review.artifact,
            author=review.author,
            author_operator=review.author_operator,
            home=review.home,
            topics=("a/b",),
            sensitivity="low",
            text_id=bytes(32),
            cut=0,
            accepted=(accepted,),
        )
        kept = self.verdict(dispute, Decision.ACCEPT)
        discipline.observe(self.state, dispute, {}, kept, artifact)
        return review.round

    def reversed(
        self, votes: Sequence[tuple[int, Choice]], round_id: RoundId | None = None
    ) -> None:
        """Let an artifact fall that was accepted by these votes."""
        made = tuple(
            Vote(voter=self.name(who), operator=self.operator(who), choice=choice, practice=False)
            for who, choice in votes
        )
        discipline.corrected(
            self.state,
            Reversal(
                round_id=round_id or self.round_id(),
                tick=self.state.tick + 1,
                author_operator=self.operator(0),
                votes=made,
            ),
        )

    def says(
        self, index: int, health: Health, *, operator: OperatorId | None = None
    ) -> Code | None:
        """Let an operator say how an agent is: its own operator, if none is named."""
        body = AgentHealth(agent=self.name(index), state=health, note="")
        record = record_by(operator or self.operator(index), body)
        return discipline.health(self.state, record, body)

    def held(self, index: int) -> Held:
        return discipline.held(self.state, self.name(index))

    def rules_of(self, index: int) -> list[RuleId]:
        """List the rules that an agent has broken, without void violations, by tick."""
        own = self.state.discipline.of(self.name(index))
        return [one.rule for one in own if not one.void]

    def appeal(self, index: int, sanction: bytes) -> Code | None:
        """Let an agent appeal, if that counts."""
        body = Appeal(sanction=sanction)
        record = record_by(self.name(index), body)
        code = discipline.appeal_refusal(self.state, record, body)
        if code is None:
            discipline.note_appeal(self.state, record, body)
        return code


def record_by(author: bytes, body: Body) -> Record:
    """Make a record of an author under some key: the book asks for no signature."""
    return sign_record(
        body,
        realm=bytes(32),
        signer=person(Role.AGENT, 1).signer,
        author=author,
        key_index=0,
        seq=9,
        prev=bytes(32),
        at=1,
    )
