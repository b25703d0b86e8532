"""A whole small federation, driven at random: what must hold holds after every step.

One machine over 1, 3 or 4 instances in one process. People act honestly and dishonestly, time
passes, instances go away and come back. After every step all invariants hold in every world and
no two worlds disagree; at the end everybody comes back, the worlds become equal, and a world
rebuilt from the records in any order is the same once more.
"""

import random
from contextlib import suppress
from typing import Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from federation.certificates import Phase
from federation.charter import TopicClass
from federation.core import CallerError, RefusedError, RoundId, Seed
from federation.crypto import Choice, KeySigner, Reason, plain_hash
from federation.protocol import World, custody, rebuild
from federation.protocol import effects as fx
from federation.protocol.custody import Keyring
from federation.protocol.invariants import broken, disagreements
from federation.records import AgentSubscribe, Commit, Record, Reveal, Role, Stance
from tests.builders import Chain, Identity, argue, artifact_text, commit, named, propose
from tests.federation.protocol.town import Town, keys, rules, verify

AGENTS: Final = 8
SLOW: Final = settings.default.max_examples > 100
WHO: Final = st.integers(0, AGENTS - 1)
WHERE: Final = st.integers(0, 3)
WHICH: Final = st.integers(0, 7)
CHOICE: Final = st.sampled_from([1, 1, 1, 0, -1])


class Federation(RuleBasedStateMachine):
    """People and instances of one realm."""

    town: Town

    @initialize(instances=st.sampled_from([1, 3, 4]))
    def found(self, instances: int) -> None:
        """Found the realm; notes go the fast way, so that people can object."""
        review = rules(topics=(TopicClass(prefix="notes", sensitivity="low"),), fast_min_watchers=1)
        self.town = Town.of(instances, AGENTS, review=review)
        self.seeds: dict[int, list[Seed]] = {
            who: [keys("town", "agent", who).current] for who in range(AGENTS)
        }
        self.count = 0
        # Somebody watches the notes, so that they may pass without a vote.
        offer = AgentSubscribe(topics=("notes",), keywords=(), on=True)
        self.town.arrive(self.town.home(AGENTS - 1), self.town.sign(AGENTS - 1, offer))
        for who, topic in enumerate(("code", "notes")):
            self.propose(who, topic, again=False)
        self.town.rest(1_600)

    # Who and what -------------------------------------------------------------------------------

    def is_up(self, who: int) -> bool:
        home = self.town.home(who).me
        return home is not None and home.instance not in self.town.down

    def keyring(self, who: int) -> Keyring:
        signers = tuple(KeySigner(seed) for seed in self.seeds[who])
        return Keyring(agent=self.town.agent(who), keys=signers)

    def pen(self, who: int) -> Chain:
        """Give a pen past the door, at the longest branch that the agent's home holds."""
        town = self.town
        log = town.home(who).log
        _, head = log.heads_of(town.agent(who))[-1]
        entry = log.entry(head)
        assert entry is not None
        index = entry.keys.key_index
        return Chain(
            identity=self.identity(who),
            records=log.path(head, -1),
            key_index=index,
            current=self.seeds[who][min(index, len(self.seeds[who]) - 1)],
            upcoming=self.upcoming(who, index),
            rescue=keys(town.seed, "agent", who).recovery,
        )

    def identity(self, who: int) -> Identity:
        inception = self.town.home(who).log.get(self.town.agent(who))
        assert inception is not None
        realm = self.town.founding.realm
        return Identity(role=Role.AGENT, number=1_000 + who, inception=inception, realm=realm)

    def upcoming(self, who: int, index: int) -> Seed:
        """Give the seed that key number `index` committed to as the next."""
        if index == 0:
            return keys(self.town.seed, "agent", who).next
        return self.identity(who).seed(index + 1)

    def round_of(self, who: int, which: int, phases: set[Phase | None]) -> RoundId | None:
        """Choose a round that an agent's home has in one of some phases."""
        rounds = self.town.home(who).rounds
        found = sorted(name for name, one in rounds.items() if one.phase in phases)
        return found[which % len(found)] if found else None

    def fresh(self, word: str) -> bytes:
        self.count += 1
        return plain_hash(f"{word} {self.count}".encode())

    # Honest acts, through the door ----------------------------------------------------------------

    @rule(who=WHO, topic=st.sampled_from(["code", "notes"]), again=st.booleans())
    def propose_one(self, who: int, topic: str, again: bool) -> None:
        if self.is_up(who):
            self.propose(who, topic, again=again)

    def propose(self, who: int, topic: str, *, again: bool) -> None:
        """Let an agent propose a new text, or the latest once more."""
        self.count += not again
        with suppress(RefusedError):
            record = custody.propose(
                self.town.home(who),
                self.keyring(who),
                artifact_text(title=f"Claim {self.count}"),
                topics=(topic,),
                salt=self.fresh("salt")[:16],
                now=self.town.now,
            )
            self.town.arrive(self.town.home(who), record)

    @rule(who=WHO, which=WHICH)
    def object(self, who: int, which: int) -> None:
        opened = self.round_of(who, which, {Phase.FAST})
        if opened is None or not self.is_up(who):
            return
        with suppress(RefusedError):
            record = custody.object_to(
                self.town.home(who),
                self.keyring(who),
                opened,
                reason=Reason.UNSOURCED,
                now=self.town.now,
            )
            self.town.arrive(self.town.home(who), record)

    @rule(who=WHO, which=WHICH)
    def argue(self, who: int, which: int) -> None:
        opened = self.round_of(who, which, {Phase.DELIBERATE})
        if opened is None or not self.is_up(who):
            return
        with suppress(RefusedError):
            record = custody.argue(
                self.town.home(who),
                self.keyring(who),
                opened,
                stance=Stance.FOR,
                note="Because.",
                salt=self.fresh("salt")[:16],
                now=self.town.now,
            )
            self.town.arrive(self.town.home(who), record)

    def cast(self, who: int, opened: RoundId, choice: int) -> None:
        nonce = self.fresh("nonce")
        with suppress(RefusedError):
            record = custody.cast(
                self.town.home(who),
                self.keyring(who),
                opened,
                self.town.ballot(choice),
                nonce=nonce,
                salt=nonce[:24],
                now=self.town.now,
            )
            self.town.arrive(self.town.home(who), record)

    def reveal(self, who: int, opened: RoundId) -> None:
        # What an agent has copied it cannot open.
        with suppress(CallerError):
            record = custody.reveal(
                self.town.home(who), self.keyring(who), opened, now=self.town.now
            )
            self.town.arrive(self.town.home(who), record)

    @rule(who=WHO, which=WHICH, choice=CHOICE)
    def commit_one(self, who: int, which: int, choice: int) -> None:
        opened = self.round_of(who, which, {Phase.COMMIT, Phase.COMMIT2})
        if opened is not None and self.is_up(who):
            self.cast(who, opened, choice)

    @rule(
        choices=st.lists(CHOICE, min_size=AGENTS, max_size=AGENTS),
        but=st.sets(WHO, max_size=3),
        span=st.sampled_from([0, 400, 1_100]),
    )
    def carry_on(self, choices: list[int], but: set[int], span: int) -> None:
        self.live_on(choices, but, span)

    def live_on(self, choices: list[int], but: set[int], span: int) -> None:
        """Let everybody who is up do what its rounds wait for, but for some, and time pass."""
        for who in sorted(set(range(AGENTS)) - but):
            for opened, one in sorted(self.town.home(who).rounds.items()):
                if self.is_up(who) and one.phase in {Phase.COMMIT, Phase.COMMIT2}:
                    self.cast(who, opened, choices[who])
                elif self.is_up(who) and one.phase is Phase.DECIDE:
                    self.reveal(who, opened)
        self.town.rest(span)

    @rule(who=WHO, settle=st.booleans())
    def rotate(self, who: int, settle: bool) -> None:
        """Rotate a key, and after a fork pick the branch that the home holds as the longest."""
        pen = self.pen(who)
        if not self.is_up(who):
            return
        record = pen.rotate(picks=pen.head.id if settle else None)
        if len(self.seeds[who]) == pen.key_index:
            self.seeds[who].append(pen.current)
        self.town.arrive(self.town.home(who), record)

    # Dishonest acts, past the door ------------------------------------------------------------------

    @rule(who=WHO, which=WHICH, where=WHERE)
    def commit_twice(self, who: int, which: int, where: int) -> None:
        opened = self.round_of(who, which, {Phase.COMMIT})
        if opened is None:
            return
        after = self.town.home(who).rounds[opened].finals[Phase.DELIBERATE].digest
        pen = self.pen(who)
        ballots = self.town.ballot(Choice.FOR), self.town.ballot(Choice.AGAINST)
        both = [pen.say(commit(pen, opened, one, after=after)) for one in ballots]
        self.arrive(where, *both)

    @rule(who=WHO, which=WHICH, where=WHERE)
    def copy_a_commitment(self, who: int, which: int, where: int) -> None:
        opened = self.round_of(who, which, {Phase.COMMIT})
        if opened is None:
            return
        for records in self.town.home(who).log.by_round(opened).values():
            for one in records:
                if isinstance(one.body, Commit) and one.author != self.town.agent(who):
                    self.arrive(where, self.pen(who).say(one.body))
                    return

    @rule(who=WHO, where=WHERE, elsewhere=WHERE)
    def fork(self, who: int, where: int, elsewhere: int) -> None:
        """Sign two records at one place, and send them to two instances."""
        pen = self.pen(who)
        twin = pen.fork()
        for chain, place in ((pen, where), (twin, elsewhere)):
            self.count += 1
            record = chain.say(*propose(artifact_text(title=f"Twin {self.count}")))
            self.arrive(place, record)

    @rule(who=WHO, which=WHICH, where=WHERE)
    def reveal_late_or_early(self, who: int, which: int, where: int) -> None:
        opened = self.round_of(who, which, {None, Phase.COMMIT, Phase.DELIBERATE})
        if opened is None:
            return
        body = Reveal(
            round=opened, after=named("box"), ballot=self.town.ballot(1), nonce=named("nonce")
        )
        finals = self.town.home(who).rounds[opened].finals
        if Phase.COMMIT in finals:
            body = Reveal(
                round=opened,
                after=finals[Phase.COMMIT].digest,
                ballot=body.ballot,
                nonce=body.nonce,
            )
        self.arrive(where, self.pen(who).say(body))

    @rule(who=WHO, where=WHERE, kind=st.integers(0, 3))
    def junk(self, who: int, where: int, kind: int) -> None:
        pen = self.pen(who)
        self.count += 1
        stranger = self.town.stranger(Role.AGENT, self.count % 5)
        match kind:
            case 0:  # a record that its author never signed
                pen.current = named("thief")
                self.arrive(where, pen.say(*argue(named("round"))))
            case 1:  # a round that nobody opened
                self.arrive(where, pen.say(*argue(named("round"))))
            case 2:  # a stranger's proposal
                stranger.say(*propose(artifact_text(title=f"Junk {self.count}")))
                self.arrive(where, *stranger.records)
            case _:  # a record whose predecessor never comes
                pen.say(*argue(named("lost")))
                self.arrive(where, pen.say(*argue(named("round"))))

    def arrive(self, where: int, *records: Record) -> None:
        """Let records arrive at an instance, as if the next one had sent them."""
        names = self.town.founding.instances
        peer = names[(where + 1) % len(names)] if len(names) > 1 else None
        self.town.arrive(self.instance(where), *records, peer=peer)

    def instance(self, where: int) -> World:
        return self.town.world(where % len(self.town.founding.instances))

    # Time and instances -----------------------------------------------------------------------------

    @rule(span=st.sampled_from([20, 300, 1_000, 1_000, 5_000]))
    def time_passes(self, span: int) -> None:
        self.town.rest(span)

    @rule(where=WHERE)
    def go_away(self, where: int) -> None:
        if len(self.town.founding.instances) > 1:
            self.town.take_down(where % len(self.town.founding.instances))

    @precondition(lambda self: self.town.down)
    @rule(where=WHERE)
    def come_back(self, where: int) -> None:
        self.town.bring_up(where % len(self.town.founding.instances))

    @rule(where=WHERE, which=st.integers(0, 1_000))
    def take_down_a_text(self, where: int, which: int) -> None:
        world = self.instance(where)
        texts = [
            one.id
            for author in world.log.authors()
            for _, head in world.log.heads_of(author)
            for one in world.log.path(head, -1)
            if one.text_raw is not None
        ]
        if texts:
            before = world.digest
            assert world.log.drop_text(texts[which % len(texts)])
            assert world.digest == before

    # What must hold ---------------------------------------------------------------------------------

    @invariant()
    def every_world_is_sound(self) -> None:
        for world in self.town.worlds.values():
            assert broken(world) == []

    @invariant()
    def no_two_worlds_disagree(self) -> None:
        assert disagreements(self.town.worlds.values()) == []

    def teardown(self) -> None:
        """Heal, settle, and rebuild from the records in another order."""
        if not hasattr(self, "town"):
            return
        town = self.town
        for index in range(len(town.founding.instances)):
            town.bring_up(index)
        for _ in range(6):
            self.live_on([1] * AGENTS, set(), 700)
        town.rest(30_000)
        for index in range(len(town.founding.instances)):
            town.bring_up(index)
        town.settled().rest(400)
        worlds = town.live()
        self.every_world_is_sound()
        self.no_two_worlds_disagree()
        assert len({world.digest for world in worlds}) == 1
        assert len({frozenset(world.state.refused.items()) for world in worlds}) == 1
        assert all(one.phase is None for world in worlds for one in world.rounds.values())
        verdicts = [{name: one.verdict for name, one in world.rounds.items()} for world in worlds]
        assert all(one == verdicts[0] for one in verdicts)
        self.rebuild(worlds[0])

    def rebuild(self, world: World) -> None:
        log, town = world.log, self.town
        records = {
            one.id: one
            for author in log.authors()
            for _, head in log.heads_of(author)
            for one in log.path(head, -1)
        }
        blobs = [
            one.content
            for effects in town.stored.values()
            for one in effects
            if isinstance(one, fx.StoreBlob)
        ]
        shuffled = random.Random(self.count).sample(list(records.values()), len(records))
        again = rebuild(
            town.founding.charter, town.founding.records, shuffled, blobs, verify=verify
        )

        assert (again.state.cut, again.digest) == (world.state.cut, world.digest)
        assert again.state.refused == world.state.refused


TestFederation = Federation.TestCase
TestFederation.settings = settings(
    max_examples=300 if SLOW else 20,
    stateful_step_count=60 if SLOW else 30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
