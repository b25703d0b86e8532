"""A town of one instance whose agents have operators of their own, for disputes and what follows.

Agents 10 and 11 are arbiters, agent 9 is a moderator. Everything is signed through the local door.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from federation.artifacts.dispute_guards import REPORT_PAUSE
from federation.certificates import Phase
from federation.charter import Review, preset
from federation.core import RecordId, RoundId
from federation.crypto import KeySigner, plain_hash
from federation.protocol import (
    FounderSpec,
    FoundingSpec,
    authoring,
    begin,
    found,
    start,
)
from federation.records import Category, Ground, Record, Ruled
from federation.review import course, drawn_arbiters
from tests.federation.protocol.town import Town, keys, verify

SALT = bytes(16)
SEED = "panel"
MODERATOR, ARBITERS = 9, (10, 11)
AUTHOR, DISPUTER = 0, 4
FIRST, FRESH = (1, 2, 3), (5, 6, 7, 8, MODERATOR)
"""Who votes on a proposal, and who sits on a fresh panel."""


def evidence(*words: str) -> tuple[bytes, ...]:
    """Make digests of evidence."""
    return tuple(plain_hash(word.encode()) for word in words)


@dataclass(slots=True)
class Panel(Town):
    """The town, and what its people do to each other."""

    @classmethod
    def seated(cls, *, agents: int = 12, **review: object) -> "Panel":
        """Found it; the fields of `review` replace those of the test preset."""
        badges = {MODERATOR: ("moderator",)} | dict.fromkeys(ARBITERS, ("arbiter",))
        rules: Review = replace(
            preset("test").review,
            **{"contest": 500, "rule": 1_000, "appeal": 500, "admin": 1_000} | review,
        )
        founding = found(
            FoundingSpec(
                name=SEED,
                salt=plain_hash(SEED.encode()),
                preset="test",
                operators=[(f"operator {i}", keys(SEED, "operator", i)) for i in range(agents)],
                instances=[("instance 0", keys(SEED, "instance", 0), 0)],
                founders=[
                    FounderSpec(
                        name=f"agent {i}",
                        keys=keys(SEED, "agent", i),
                        operator=i,
                        instance=0,
                        badges=badges.get(i, ()),
                    )
                    for i in range(agents)
                ],
                review=rules,
                # Enough that a founder must earn it, and that one dismissed dispute does not end it.
                disputes=replace(preset("test").disputes, r_dispute=600_000),
            )
        )
        town = cls(founding, SEED)
        (name,) = founding.instances
        town.worlds[name] = begin(
            founding.charter,
            founding.records,
            instance=name,
            signer=KeySigner(keys(SEED, "instance", 0).current),
            verify=verify,
        )
        town._perform(name, start(town.worlds[name], 0))
        return town

    def take(self, record: Record) -> Record:
        """Let a record arrive."""
        self.arrive(self.world(), record)
        return record

    # Rounds -------------------------------------------------------------------------------------

    def accepted(self, title: str = "A claim", **rest: object) -> Record:
        """Let a proposal of the author be accepted, in a cut."""
        record = self.propose(AUTHOR, title, **rest)
        self.ended(self.vote(record, dict.fromkeys(FIRST, 1)))
        return record

    def earned(self) -> "Panel":
        """Let the disputer earn the reputation that a dispute asks for, by votes on others' work."""
        for number in range(3):
            record = self.propose(FRESH[0], f"Something else {number}")
            self.ended(self.vote(record, dict.fromkeys((DISPUTER, *FRESH[1:3]), 1)))
        needed = self.world().charter.disputes.r_dispute
        return self.until(
            lambda _: self.world().state.agents[self.agent(DISPUTER)].r >= needed, most=600_000
        )

    def ended(self, name: RoundId) -> RoundId:
        """Wait until a cut contains the end of a round."""
        self.until(lambda _: self.world().rounds[name].closed)
        return name

    def newest(self, about: bytes, kind: str) -> RoundId:
        """Wait for an open round of a kind about something."""

        def those() -> list[RoundId]:
            world = self.world()
            return [
                name
                for name in world.state.rounds_of.get(about, ())
                if world.rounds[name].pin.kind == kind and not world.rounds[name].closed
            ]

        self.until(lambda _: bool(those()))
        return those()[-1]

    def judged(self, name: RoundId, votes: dict[int, int]) -> RoundId:
        """Let a panel vote and reveal."""
        self.in_phase(name, Phase.COMMIT)
        for index, choice in votes.items():
            self.cast(index, name, choice)
        self.in_phase(name, Phase.DECIDE)
        for index in votes:
            self.reveal(index, name)
        return name

    # Acts ---------------------------------------------------------------------------------------

    def dispute(self, artifact: RecordId, index: int = DISPUTER, **rest: object) -> Record:
        """Dispute an artifact; gives the record."""
        fields = {"ground": Ground.INACCURATE, "note": "It is not so.", "salt": SALT} | rest
        return self.take(
            authoring.dispute(
                self.world(),
                self.keyring(index),
                artifact,
                now=self.now,
                **fields,  # type: ignore[arg-type]
            )
        )

    def report(self, artifact: RecordId, index: int = DISPUTER, note: str = "It harms.") -> Record:
        """Report an artifact; gives the record."""
        return self.take(
            authoring.report(
                self.world(),
                self.keyring(index),
                artifact,
                category=Category.HARMFUL,
                note=note,
                salt=SALT,
                now=self.now,
            )
        )

    def calm(self, artifact: RecordId) -> None:
        """Wait until an artifact may be reported again."""
        over = self.world().state.artifacts[artifact].reported_at
        if over is not None:
            self.until(lambda _: self.world().state.tick >= over + REPORT_PAUSE)

    def assess(self, name: RoundId, *, credible: bool, index: int = MODERATOR) -> Record:
        """Assess a report; gives the record."""
        return self.take(
            authoring.assess(
                self.world(),
                self.keyring(index),
                name,
                credible=credible,
                note="I looked.",
                salt=SALT,
                now=self.now,
            )
        )

    def contest(self, name: RoundId, index: int) -> Record:
        """Contest a result or a ruling; gives the record."""
        return self.take(
            authoring.contest(
                self.world(),
                self.keyring(index),
                name,
                ground="not_heard",
                note="Nobody answered.",
                salt=SALT,
                now=self.now,
            )
        )

    def rule(self, name: RoundId, ruling: Ruled, index: int | None = None) -> Record:
        """Rule as the arbiter who was drawn first; gives the record."""
        return self.take(
            authoring.rule(
                self.world(),
                self.keyring(self.drawn(name)[0] if index is None else index),
                name,
                ruling=ruling,
                ground="fair",
                note="It was heard.",
                salt=SALT,
                now=self.now,
            )
        )

    def drawn(self, name: RoundId) -> list[int]:
        """List the drawn arbiters by their numbers, in lot order."""
        one, agents = self.world().rounds[name], self.founding.agents
        lists = course(one.pin, one.finals).lists
        return [agents.index(agent) for agent in drawn_arbiters(one.pin, lists)]
