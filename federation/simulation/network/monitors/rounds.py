"""Watches rounds: concealment, lists that never change, and nothing active without a path.

A reveal by an honest agent may be stored only where the certificate is, and seen anywhere only once
q seals over a list that holds its commitment exist. What a node takes a certified list to be must
never change again, and must be the same on all nodes, as must the verdict (design: federation,
reveal, finality).
"""

from typing import TYPE_CHECKING, Final

from federation.artifacts import State as ArtifactState
from federation.artifacts import Verdict
from federation.certificates import Phase, RoundSlot, slot_key
from federation.core import Digest, RecordId, RoundId, short
from federation.protocol import World
from federation.protocol import effects as fx
from federation.records import Commit, Record, Reveal
from federation.simulation.network.letters import Gossip, Sent
from federation.simulation.network.monitors.monitor import Monitor
from federation.simulation.network.monitors.votes import Votes

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


_EARLY: Final = "revealed before the box was shut"
_DECIDING: Final = (Phase.DECIDE, Phase.RULE, Phase.ADMIN)
"""Phases whose list can let an artifact stand; the fast track needs an empty one."""


class Rounds(Monitor):
    """No early reveal, no changed list, no two verdicts, nothing active without certificates."""

    def __init__(self, votes: Votes, careful: frozenset[bytes]) -> None:
        """Judge by the certificates that `votes` has counted; `careful` agents must not leak."""
        super().__init__()
        self._votes = votes
        self._careful = careful
        self._commits: dict[RecordId, Record] = {}
        self._revealed: set[RecordId] = set()
        self._once: dict[RoundId, str] = {}
        """Rounds in which a ballot was opened while only the first box was certified, and by whom."""
        self._lists: dict[tuple[RoundId, Phase], tuple[Digest, tuple[RecordId, ...]]] = {}
        self._verdicts: dict[RoundId, Verdict] = {}
        self._cuts: dict[bytes, int] = {}

    def stored(self, node: "SimNode", effect: fx.Effect) -> None:
        """See a record at the instance that stores it."""
        if isinstance(effect, fx.StoreRecord):
            self._see(effect.record, node)

    def sent(self, node: "SimNode", sent: Sent) -> None:
        """See records on their way: a liar may send what it never stored."""
        del node
        if isinstance(sent.letter, Gossip):
            for record in sent.letter.records:
                self._see(record, None)

    def stepped(self, node: "SimNode") -> None:
        """Compare lists and verdicts of an honest node with what is known of them."""
        world = node.world
        if world is None or not node.conduct.is_honest:
            return
        for name, one in world.rounds.items():
            for phase, final in one.finals.items():
                seen = (final.digest, tuple(record.id for record in final.records))
                if self._lists.setdefault((name, phase), seen) != seen:
                    self.broke("a certified list changed", f"{phase.value} on {node.name}")
            if one.verdict is not None:
                known = self._verdicts.setdefault(name, one.verdict)
                if known != one.verdict:
                    self.broke("two verdicts", f"round {short(name)} on {node.name}")
        if self._cuts.get(node.instance) != world.state.cut:
            self._cuts[node.instance] = world.state.cut
            self._check_active(node, world)

    def _see(self, record: Record, home: "SimNode | None") -> None:
        """See a record; what an instance stores first was said there by an agent of its own."""
        match record.body:
            case Commit():
                self._commits[record.id] = record
            case Reveal() as reveal if record.id not in self._revealed:
                self._revealed.add(record.id)
                if record.author in self._careful and not (
                    self._is_boxed(record, reveal)
                    and (home is None or self._is_shut(home, reveal.round))
                ):
                    self.broke(_EARLY, f"by agent {short(record.author)}")
                elif (
                    record.author in self._careful
                    and self._certified(reveal.round, Phase.COMMIT2) is None
                ):
                    self._once[reveal.round] = short(record.author)
            case _:
                pass

    def finish(self) -> None:
        """See whether a box was widened after somebody had opened a ballot of it."""
        for name, who in self._once.items():
            if self._certified(name, Phase.COMMIT2) is not None:
                self.broke(_EARLY, f"by agent {who}, and then the box was widened")

    def _is_boxed(self, record: Record, reveal: Reveal) -> bool:
        for phase in (Phase.COMMIT, Phase.COMMIT2):
            name = self._certified(reveal.round, phase)
            for listed in (name and self._votes.lists.get(name)) or ():
                commit = self._commits.get(listed)
                if commit is not None and commit.author == record.author:
                    return True
        return False

    def _is_shut(self, home: "SimNode", name: RoundId) -> bool:
        """Tell whether an instance itself holds a certificate of the box."""
        return any(
            (home.instance, slot_key(RoundSlot(round_id=name, phase=phase))) in self._votes.accepted
            for phase in (Phase.COMMIT, Phase.COMMIT2)
        )

    def _certified(self, name: RoundId, phase: Phase) -> Digest | None:
        return self._votes.certified.get(slot_key(RoundSlot(round_id=name, phase=phase)))

    def _check_active(self, node: "SimNode", world: World) -> None:
        for artifact in world.state.artifacts.values():
            if artifact.state is not ArtifactState.ACTIVE:
                continue
            paths = [
                name
                for name, one in world.rounds.items()
                if one.pin.artifact == artifact.id
                and (
                    any(self._certified(name, phase) is not None for phase in _DECIDING)
                    or self._votes.lists.get(self._certified(name, Phase.FAST) or b"") == ()
                )
            ]
            if not paths:
                self.broke("active without a certified path", f"{short(artifact.id)} {node.name}")
