"""A round among a few agents: the pinned world, their chains, and certified lists made by hand.

scene = Scene.of(1, 1, 1, 1)            # four operators with one agent each; agent 0 proposes
finals = scene.voted({1: FOR, 2: FOR})  # commit and decide, as certificates would list them
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import msgspec

from federation.artifacts import Flag
from federation.certificates import Phase
from federation.charter import Charter, preset
from federation.core import AgentId, Digest, InstanceId, OperatorId
from federation.crypto import Ballot, Choice
from federation.records import Record, Role
from federation.review import AgentView, FinalList, Finals, RoundPin, expected_after
from tests.builders import REALM, Chain, argue, ballot, commit, contest, named, person, reveal
from tests.builders import object_to as objection
from tests.federation.charter.founding import founded, genesis_of

FOR, ABSTAIN, AGAINST = Choice.FOR, Choice.ABSTAIN, Choice.AGAINST
ROUND = named("round")


def operator(number: int) -> OperatorId:
    return named("operator", number)


def instance(number: int) -> InstanceId:
    return named("instance", number)


def charter(**review: object) -> Charter:
    """Take the test preset, with changes in its section on reviews."""
    rules = msgspec.structs.replace(preset("test").review, **review)
    return founded("test", genesis_of([1]), review=rules)


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
    ) -> "Scene":
        """Make `sizes` agents per operator, all reviewers of tier 1 and equal weight.

        `views` changes the pinned view of single agents; operator k's agents belong to instance
        k mod `instances`.
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
            artifact=named("artifact"),
            author=who.agent,
            author_operator=who.operator,
            home=who.instance,
            home_operator=who.operator,
            cut=1,
            sensitivity=sensitivity,  # type: ignore[arg-type]
            author_has_ticket=ticket,
            watchers=frozenset(agents[one].id for one in watchers),
            flags=frozenset(flags),
            charter=charter(**(review or {})),
            agents=pinned,
            member_operators=members,
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

    def argue(self, who: int, finals: Finals, **changes: object) -> Record:
        after = self.after(Phase.DELIBERATE, finals)
        return self.agents[who].say(*argue(ROUND, after=after, **changes))

    def commit(
        self, who: int, finals: Finals, vote: Ballot | None = None, phase: Phase = Phase.COMMIT
    ) -> Record:
        chain = self.agents[who]
        return chain.say(commit(chain, ROUND, vote, after=self.after(phase, finals)))

    def reveal(self, who: int, finals: Finals, vote: Ballot | None = None) -> Record:
        chain = self.agents[who]
        return chain.say(reveal(chain, ROUND, vote, after=self.after(Phase.DECIDE, finals)))

    def contest(self, who: int, finals: Finals) -> Record:
        return self.agents[who].say(*contest(ROUND, after=self.after(Phase.CONTEST, finals)))

    def opening(self) -> dict[Phase, FinalList]:
        """Certify empty lists of everything before `commit`."""
        finals: dict[Phase, FinalList] = {}
        for phase in (Phase.FAST, Phase.DELIBERATE):
            if expected_after(phase, self.pin, finals) is not None:
                finals[phase] = final(phase)
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
