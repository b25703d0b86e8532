"""Two worlds of one realm that hold different records, without sockets between them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from federation.core import PeerError
from federation.protocol import World, begin, inputs, step
from federation.records import AgentSubscribe, Record, Role, parse_record
from federation.replication import Log
from node.network.heads import HeadsCache
from node.network.messages import Answer, Question, frame, read_answer, read_question
from node.network.reconcile import ByHeads
from node.network.serving import Serving
from tests.builders import Chain
from tests.federation.protocol.town import Town, verify

FOUNDERS, STRANGERS = 3, 2
TOWN = Town.of(1, FOUNDERS, seed="differing")
LONGEST = 5
"""Records beyond the inception on either branch of a founder."""
LONGEST_STRANGER = 3
"""The same of a stranger: with both branches it still has room, else neither side would hold all."""


@dataclass(kw_only=True)
class Side:
    """One instance as its peers see it."""

    world: World = field(
        default_factory=lambda: begin(TOWN.founding.charter, TOWN.founding.records, verify=verify)
    )
    heads: HeadsCache = field(default_factory=HeadsCache)
    asked: int = 0
    """Questions that it has put."""

    def pages(self) -> list[bytes]:
        """Give all pages of heads, as a pull comes by them."""
        found, start = list[bytes](), 0
        while start < 1 << 256:
            raw, high = self.heads.page_at(self.world.log, start.to_bytes(32, "big"))
            found.append(raw)
            start = int.from_bytes(high, "big") + 1
        return found

    def hold(self, records: Sequence[Record]) -> None:
        """Take records in, as if a peer had sent them."""
        step(self.world, inputs.Arrived(records=tuple(records), peer=None), 0)

    async def take(self, raws: Sequence[bytes]) -> None:
        """Take in what an answer brought, as the intake does."""
        found = []
        for raw in raws:
            try:
                found.append(parse_record(self.world.realm, raw))
            except PeerError:
                continue
        self.hold(found)

    async def pull(self, other: "Side") -> int:
        """Pull from an honest peer, through the bytes of questions and answers."""
        serving = Serving(lambda: other.world, other.heads, durable)

        async def ask(question: Question) -> Answer:
            self.asked += 1
            (answer,) = await serving.answer(read_question(frame(question)), b"me".ljust(32))
            return read_answer(frame(answer))

        return await ByHeads(lambda: self.world, self.heads, durable).pull(ask, self.take)


async def durable() -> None:
    """Have nothing to wait for: there is no disk."""


def held(log: Log) -> set[bytes]:
    """Give the ids of all records of a log."""
    return {
        one
        for author in log.authors()
        for ids in (log.ids_at(author, 0), *log.above(author, 0))
        for one in ids
    }


def chain_of(number: int) -> Chain:
    """Give a pen of a founder or, above those, of a stranger."""
    if number < FOUNDERS:
        return TOWN.pen(Role.AGENT, number)
    return TOWN.stranger(Role.AGENT, number)


def grow(pen: Chain, length: int, word: str) -> list[Record]:
    """Let a pen write so many records; the words tell branches apart."""
    return [
        pen.say(AgentSubscribe(topics=(f"{word}-{number}",), keywords=(), on=True))
        for number in range(length)
    ]


@st.composite
def differences(draw: st.DrawFn) -> tuple[list[Record], list[Record]]:
    """Draw what two sides hold: of each chain and of a branch of it, each a part from below."""
    sides: tuple[list[Record], list[Record]] = ([], [])
    for number in range(FOUNDERS + STRANGERS):
        pen = chain_of(number)
        before = list(pen.records)
        longest = LONGEST if number < FOUNDERS else LONGEST_STRANGER
        split = draw(st.integers(0, 2))
        trunk = grow(pen, split, "trunk")
        twin = pen.fork()
        left = grow(pen, draw(st.integers(0, longest - split)), "left")
        right = grow(twin, draw(st.integers(0, longest - split)), "right")
        for side in sides:
            base = [*before, *trunk]
            known = draw(st.integers(0 if number >= FOUNDERS else len(before), len(base)))
            side.extend(base[:known])
            if known == len(base):
                side.extend(left[: draw(st.integers(0, len(left)))])
                side.extend(right[: draw(st.integers(0, len(right)))])
    return sides
