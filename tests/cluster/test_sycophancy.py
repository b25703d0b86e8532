"""Who copies visible votes finds none: three running instances, one agent that reads everything.

Each round is played twice, with opposite votes. Before its box is shut all that the sycophant could
read is the same both times but for random bytes and times, and holds no trace of what was sealed.
Once the box is open the same looks tell the two apart, so they could have told before.
"""

import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from federation.certificates import Phase
from federation.codec import encode
from federation.crypto import Ballot, Basis, Choice, Reason, plain_hash
from federation.records import Kind
from tests.cluster.needles import Needles, Secret
from tests.cluster.sycophant import Sycophant
from tests.cluster.town import Ear, Open, all_opened, holds_same, town
from tests.node.runtime.realm import Realm, until

AUTHOR, DISPUTER = 0, 5
SYCOPHANT = 3
"""Lives where the author does; everybody whose vote it would copy lives elsewhere."""
PANEL, FRESH = (1, 2, 4), (7, 8, 10)
"""Who votes in the review, and who in the dispute."""
WORDS = {Choice.FOR: "for", Choice.AGAINST: "against"}
SEAL = 8_000
"""How long seals are taken, in ms: long enough to look at everything."""
SIZE = len(PANEL) + 1
"""The box is shut when so many have voted: the sycophant is the last."""


class Play:
    """One realm in which a round is played."""

    def __init__(self, realm: Realm, ears: tuple[Ear, ...], opened: tuple[Open, ...]) -> None:
        """Sit down in it."""
        self.realm = realm
        self.ears = ears
        self.opened = opened
        self.nodes = tuple(one.node for one in opened)
        self.agents = tuple(one.id for one in realm.founded.agents)
        self.homes = realm.founded.home_of
        self.secrets: list[Secret] = []

    async def act(self, who: int, path: str, **body: object) -> str:
        client = self.opened[self.homes[who]].client
        answer = await client.post(path, json={"agent": self.agents[who].hex(), **body})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def propose(self, title: str) -> bytes:
        made = await self.act(
            AUTHOR,
            "/v1/artifacts",
            title=title,
            prose="It does.",
            claims=["Water boils."],
            falsification=["Water that does not."],
            topics=["science/water"],
        )
        return bytes.fromhex(made)

    async def round_of(self, artifact: bytes, kind: str) -> bytes:
        """Wait until all instances have opened a round of a kind about an artifact."""

        def found(number: int) -> list[bytes]:
            world = self.nodes[number].world
            names = world.state.rounds_of.get(artifact, ())
            return [name for name in names if world.rounds[name].pin.kind == kind]

        await until(lambda: all(found(number) for number in range(3)), within=40)
        return found(0)[-1]

    async def in_phase(self, name: bytes, phase: Phase | None) -> None:
        await until(
            lambda: all(node.world.rounds[name].phase is phase for node in self.nodes), within=40
        )

    async def is_over(self, name: bytes) -> None:
        await until(lambda: all(node.world.rounds[name].closed for node in self.nodes), within=40)

    async def vote(self, who: int, name: bytes, choice: Choice) -> None:
        """Vote, citing what nobody else cites; what must stay hidden is kept."""
        evidence = plain_hash(b"evidence" + struct.pack(">I", who) + name)
        ear = self.ears[self.homes[who]]
        drawn = len(ear.drawn)
        await self.act(
            who,
            f"/v1/rounds/{name.hex()}/vote",
            choice=WORDS[choice],
            reason="accurate" if choice is Choice.FOR else "inaccurate",
            basis="tool",
            evidence=[evidence.hex()],
        )
        (nonce,) = (one for one in ear.drawn[drawn:] if len(one) == 32)
        ballot = Ballot(
            choice=choice,
            reason=Reason.ACCURATE if choice is Choice.FOR else Reason.INACCURATE,
            basis=Basis.TOOL,
            evidence=(evidence,),
        )
        owner = self.agents[who]
        self.secrets += [
            Secret(name="nonce", owner=owner, raw=nonce),
            Secret(name="ballot", owner=owner, raw=encode(ballot)),
            Secret(name="evidence", owner=owner, raw=evidence),
        ]

    async def seal(self, who: int, name: bytes, stance: str) -> None:
        """Argue sealed, in words that nobody else says; what must stay hidden is kept."""
        evidence = plain_hash(b"evidence" + struct.pack(">I", who) + name)
        words = f"Agent {who} has looked it up on the page about {evidence.hex()[:40]}."
        ear = self.ears[self.homes[who]]
        drawn = len(ear.drawn)
        path = f"/v1/rounds/{name.hex()}/seal"
        await self.act(who, path, stance=stance, note=words, evidence=[evidence.hex()])
        (nonce,) = (one for one in ear.drawn[drawn:] if len(one) == 32)
        owner = self.agents[who]
        self.secrets += [
            Secret(name="nonce", owner=owner, raw=nonce),
            Secret(name="words", owner=owner, raw=words.encode()),
            Secret(name="evidence", owner=owner, raw=evidence),
        ]

    async def accepted(self) -> bytes:
        """Let something be accepted by the first panel and a friend of it, unwatched."""
        artifact = await self.propose("Water boils")
        name = await self.round_of(artifact, "review")
        await self.in_phase(name, Phase.COMMIT)
        for who in (*PANEL, 11):
            await self.vote(who, name, Choice.FOR)
        await self.is_over(name)
        self.secrets.clear()
        return artifact

    def sycophant(self, name: bytes, artifact: bytes) -> Sycophant:
        return Sycophant(
            home=self.opened[0],
            ear=self.ears[0],
            agent=self.agents[SYCOPHANT],
            round=name,
            artifact=artifact,
        )


class Watched:
    """What the sycophant saw of one round: before the box was shut, and after it was opened."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.before: list[dict[str, object]] = []
        self.after: dict[str, object] = {}
        self.sizes: set[tuple[str, int]] = set()


async def watched(
    play: Play, artifact: bytes, name: bytes, panel: tuple[int, ...], choice: Choice
) -> Watched:
    """Let a panel vote while the sycophant reads everything, and then the sycophant itself."""
    seen, it = Watched(), play.sycophant(name, artifact)
    await play.in_phase(name, Phase.COMMIT)

    async def vote(who: int) -> None:
        await play.vote(who, name, choice)

    needles = await before(play, it, seen, panel, vote)
    assert it.kinds == {"review.commit"}
    # Its own vote can be nobody's: it has nothing to copy.
    await play.vote(SYCOPHANT, name, Choice.FOR)
    await play.is_over(name)
    await after(play, it, seen, needles)
    return seen


async def before(
    play: Play,
    it: Sycophant,
    seen: Watched,
    panel: tuple[int, ...],
    act: Callable[[int], Awaitable[None]],
) -> Needles:
    """Let a panel act while the sycophant reads everything: it finds nothing of what they sealed."""
    log, phase = play.nodes[0].world.log, play.nodes[0].world.rounds[it.round].phase
    kind = Kind.COMMIT if phase is Phase.COMMIT else Kind.SEAL
    async with trio.open_nursery() as nursery:
        nursery.start_soon(it.attend)
        for number, who in enumerate(panel, 1):
            await act(who)
            await until(lambda n=number: len(log.by_round(it.round).get(kind, ())) == n)  # type: ignore[misc]
            await until(lambda: holds_same(play.nodes))
            seen.before.append(await it.look())
        await it.all_routes()
        # The box is open still: this is all that a copier has to go by when it acts.
        assert {node.world.rounds[it.round].phase for node in play.nodes} == {phase}
        nursery.cancel_scope.cancel()
    needles = Needles(play.secrets)
    assert it.looks > len(panel)
    assert [f"{secret.name} in {place}" for secret, place in needles.found_in(it.seen())] == []
    assert it.telling() == []
    seen.sizes = it.sizes
    return needles


async def after(play: Play, it: Sycophant, seen: Watched, needles: Needles) -> None:
    """Look once more: all that was sealed is there to be read."""
    await until(lambda: holds_same(play.nodes))
    later = play.sycophant(it.round, it.artifact)
    seen.after = await later.look()
    found = {secret for secret, _ in needles.found_in(later.seen())}
    assert found == set(needles.secrets), "the search would have found them"
    assert later.telling() != []


@asynccontextmanager
async def playing(root: Path, **review: object) -> AsyncIterator[Play]:
    """Run a realm of three instances that are listened to."""
    ears = (Ear(), Ear(), Ear())
    realm = town(
        root,
        agents=12,
        review={"k": SIZE, "q_min": 3, "deliberate": 2_000, "commit_min": 50, **review},
        disputes={"q_dispute": 3, "r_dispute": 250_000, "frivolous": 0},
    )
    realm.taps = {place: ear.tap for place, ear in enumerate(ears)}
    realm.entropies = {place: ear.entropy for place, ear in enumerate(ears)}
    async with all_opened(realm) as opened:
        yield Play(realm, ears, opened)


async def played(root: Path, kind: str, choice: Choice) -> Watched:
    """Play one round of a kind in a realm of its own."""
    with trio.fail_after(120):
        async with playing(root, deliberate=500) as play:
            if kind == "review":
                artifact, panel = await play.propose("Water boils"), PANEL
            else:
                artifact, panel = await play.accepted(), FRESH
                path = f"/v1/artifacts/{artifact.hex()}/dispute"
                await play.act(DISPUTER, path, ground="inaccurate", note="Not up there.")
            name = await play.round_of(artifact, kind)
            return await watched(play, artifact, name, panel, choice)


def differs(left: object, right: object, at: str) -> list[tuple[str, object, object]]:
    """List where two shapes are not the same."""
    if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
        return [row for key, one in left.items() for row in differs(one, right[key], f"{at}.{key}")]
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = enumerate(zip(left, right, strict=True))
        return [row for n, (a, b) in pairs for row in differs(a, b, f"{at}[{n}]")]
    return [] if left == right else [(at, left, right)]


def tell_nothing(one: Watched, other: Watched) -> None:
    """Compare what was seen of two rounds that differ in nothing but what was sealed."""
    for left, right in zip(one.before, other.before, strict=True):
        assert left.keys() == right.keys()
        assert [both for path in left for both in differs(left[path], right[path], path)] == []
    assert one.sizes == other.sizes
    assert one.after != other.after, "the comparison above would tell what was sealed"


@pytest.mark.parametrize("kind", ["review", "dispute"])
@pytest.mark.trio
async def test_what_a_sycophant_sees_of_an_open_box_depends_on_no_vote(
    tmp_path: Path, kind: str
) -> None:
    one = await played(tmp_path / "for", kind, Choice.FOR)
    other = await played(tmp_path / "against", kind, Choice.AGAINST)

    tell_nothing(one, other)


async def argued(root: Path, stance: str) -> Watched:
    """Let a panel argue before anybody reads, in a realm whose debate is sealed at first."""
    with trio.fail_after(120):
        async with playing(root, mode="sealed_first", seal=SEAL) as play:
            artifact = await play.propose("Water boils")
            name = await play.round_of(artifact, "review")
            await play.in_phase(name, Phase.SEAL)
            seen, it = Watched(), play.sycophant(name, artifact)

            async def seal(who: int) -> None:
                await play.seal(who, name, stance)

            needles = await before(play, it, seen, PANEL, seal)
            assert it.kinds == {"review.seal"}
            await play.in_phase(name, Phase.DELIBERATE)
            await after(play, it, seen, needles)
            return seen


@pytest.mark.trio
async def test_nothing_of_a_sealed_argument_is_seen_before_all_seals_are_certified(
    tmp_path: Path,
) -> None:
    one = await argued(tmp_path / "for", "for")
    other = await argued(tmp_path / "against", "against")

    tell_nothing(one, other)
