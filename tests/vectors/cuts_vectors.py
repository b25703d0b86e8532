"""cuts.json: the first cuts of a small realm, as real worlds agreed on them and folded them.

Three instances of three operators and five agents. Before the cuts that are written here, agent 0
proposes, 1, 2 and 4 vote; agent 2 declares its model; agent 4 rotates its key.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from federation.certificates import (
    CutSlot,
    CutValue,
    Phase,
    certificate_bytes,
    slot_key,
    slot_plain,
    value_plain,
)
from federation.charter import charter_hash
from federation.codec import decode_plain, encode
from federation.core import RoundId
from federation.protocol import State, World
from federation.protocol.digest import Table
from federation.records import AgentDeclare, Reveal, Role
from tests.federation.protocol.town import Town
from tests.vectors.agreement_rows import Row, shown

SEED: Final = "folkmoot test vector"
CUTS: Final = 6
TABLES: Final = ("artifacts", "agents", "identities", "members", "rounds")


class Chronicle:
    """What world 0 of a town came to at each cut."""

    def __init__(self) -> None:
        """Found the realm and write cut 0."""
        self.town = Town.of(3, 5, seed=SEED)
        self.known: dict[str, dict[bytes, bytes]] = {name: {} for name in TABLES}
        self.revealed: set[RoundId] = set()
        self.rows: list[Row] = [self._world_row()]

    @property
    def world(self) -> World:
        """Give the world that is watched; the others come to the same."""
        return self.town.world()

    def run(self) -> "Chronicle":
        """Let the people act, and write down every cut as it comes."""
        proposal = self.town.propose(0)
        self._next()
        round_id = self.town.open_round(proposal)
        self.town.arrive(self.town.home(2), self.town.sign(2, _model()))
        self.town.in_phase(round_id, Phase.COMMIT)
        for voter, choice in {1: 1, 2: 1, 4: -1}.items():
            self.town.cast(voter, round_id, choice)
        self.town.in_phase(round_id, Phase.DECIDE)
        for voter in (1, 2, 4):
            self.town.reveal(voter, round_id)
        self.town.in_phase(round_id, None)
        rotation = self.town.pen(Role.AGENT, 4).rotate()
        self.town.arrive(self.town.home(4), rotation)
        while len(self.rows) <= CUTS:
            self._next()
        return self

    def _next(self) -> None:
        number = len(self.rows)
        previous = self.world.state.digest
        self.town.in_cut(number)
        states = {(world.state.cut, world.digest) for world in self.town.live()}
        assert states == {(number, self.world.digest)}
        self.rows.append(self._cut_row(number, previous))

    def _cut_row(self, number: int, previous: bytes) -> Row:
        slot = CutSlot(number=number, previous=previous)
        certificate = self.world.certificates[slot_key(slot)]
        value = certificate.value
        assert isinstance(value, CutValue)
        blob = self.world.blobs.get(value.positions)
        assert blob is not None
        return {
            "slot": shown(slot_plain(slot)),
            "value": shown(msgspec.to_builtins(value_plain(value), builtin_types=(bytes,))),
            "positions": shown(decode_plain(blob, what="positions")),
            "certificate": certificate_bytes(certificate).hex(),
            "nonces": list(self._nonces()),
            **self._world_row(),
        }

    def _nonces(self) -> Iterator[Row]:
        """Give the nonces that `decide` lists opened whose certificate is new in this cut."""
        for name, digests in sorted(self.world.state.decided.items()):
            final = self.world.rounds[name].finals.get(Phase.DECIDE)
            if final is None or final.digest not in digests or name in self.revealed:
                continue
            self.revealed.add(name)
            for record in final.records:
                assert isinstance(record.body, Reveal)
                yield {
                    "round": shown(name),
                    "voter": shown(record.author),
                    "nonce": shown(record.body.nonce),
                }

    def _world_row(self) -> Row:
        state = self.world.state
        return {
            "number": state.cut,
            "digest": shown(state.digest),
            "beacon": shown(state.beacon),
            "changed": {name: self._changes(name) for name in TABLES},
            "joining": shown(state.joining.row()),
            "curation": shown(_curation(state)),
            "roots": {name: shown(getattr(state.tables, name).root()) for name in TABLES},
            "world": shown(self.world.digest),
        }

    def _changes(self, name: str) -> list[object]:
        """Give the rows of a table that this cut wrote, by id, as [id, row]."""
        rows: Mapping[bytes, bytes] = getattr(self.world.state.tables, name).rows()
        known, self.known[name] = self.known[name], dict(rows)
        return [
            shown(decode_plain(raw, what="row"))
            for one, raw in sorted(rows.items())
            if known.get(one) != raw
        ]


def vectors() -> Row:
    """Write the realm and its first cuts."""
    told = Chronicle().run()
    state, charter = told.world.state, told.town.founding.charter
    return {
        "charter": encode(charter).hex(),
        "charter_hash": shown(charter_hash(charter)),
        "realm": shown(state.realm),
        "members": [
            {"operator": shown(one.operator), "voice": shown(one.voice), "key": shown(one.key)}
            for one in state.cut_members
        ],
        "table": _table(),
        "cuts": told.rows,
    }


def _table() -> Row:
    """Write one table whose buckets hold several rows: those whose first 12 bits are equal."""
    table = Table()
    heads = (b"\xab\xcf", b"\xab\xc0", b"\xab\xd0", b"\x00\x00", b"\xab\xc7", b"\xff\xff")
    rows = [[head.ljust(32, b"."), [index, None]] for index, head in enumerate(heads)]
    for name, row in rows:
        assert isinstance(name, bytes)
        table.put(name, row)
    return {"rows": shown(rows), "root": shown(table.root()), "empty": shown(Table().root())}


def _curation(state: State) -> object:
    """Give charters and acts, violations and quarantines, and what waits to be done."""
    waits = [state.due, state.reversals, state.unfounded, sorted(state.found.items())]
    rows = encode([state.acts.row(), state.discipline.row(), waits])
    return decode_plain(rows, what="rows")


def _model() -> AgentDeclare:
    return AgentDeclare(family="family", provider="provider", model="model-7b")
