"""What must hold in every world, always: the invariants of the design as checks (paper 4).

Each check returns what is broken, for people; an empty list means that the world is sound. They
read and never change; tests run them after every step, a doctor can run them on a stored world.
Durability, and liveness in time, speak about runs: the simulated network asserts those.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from federation.artifacts import TRANSITIONS
from federation.artifacts import State as ArtifactState
from federation.certificates import CutSlot, Phase, RoundSlot, slot_key
from federation.core import InstanceId, short
from federation.crypto import opens
from federation.protocol import rows
from federation.protocol.admissions import LONGEST_WAIT
from federation.protocol.progress import is_contained
from federation.protocol.rounds import Round
from federation.protocol.world import World
from federation.records import Reveal, Role
from federation.review import Ended, commitments, listed, next_phase
from federation.trust import M, trust_ref

_STANDING: Final = frozenset({ArtifactState.ACTIVE, ArtifactState.DISPUTED})


def broken(world: World) -> list[str]:
    """Check one world; list everything that is broken."""
    return [
        *_safety(world),
        *_lifecycle(world),
        *_liveness(world),
        *_concealment(world),
        *_influence(world),
        *_joining(world),
        *_waiting(world),
        *_chain_of_cuts(world),
        *_own_signatures(world),
        *_digest(world),
    ]


def disagreements(worlds: Iterable[World]) -> list[str]:
    """Check several worlds against each other: one value per slot, one digest per cut."""
    values: dict[bytes, bytes] = {}
    digests: dict[int, bytes] = {}
    found = []
    for world in worlds:
        for key, certificate in world.certificates.items():
            if values.setdefault(key, certificate.digest) != certificate.digest:
                found.append(f"agreement: two final values of one slot {key.hex()}")
        if digests.setdefault(world.state.cut, world.digest) != world.digest:
            found.append(f"convergence: two worlds at cut {world.state.cut}")
    return found


def _safety(world: World) -> Iterator[str]:
    """No artifact stands, or is disputed, without a certified path."""
    for artifact in world.state.artifacts.values():
        if artifact.state not in _STANDING:
            if artifact.accepted and artifact.state is not ArtifactState.SUPERSEDED:
                yield f"safety: {short(artifact.id)} does not stand, and keeps what let it"
            continue
        if not artifact.accepted:
            yield f"safety: {short(artifact.id)} is active without an accepting verdict"
        for verdict in artifact.accepted:
            one = world.rounds.get(verdict.round)
            if one is None or not verdict.accepted:
                yield f"safety: {short(artifact.id)} stands by a verdict that did not accept it"
                continue
            came_to = next_phase(one.pin, one.finals)
            if not isinstance(came_to, Ended) or came_to.verdict != verdict:
                yield f"safety: the lists of {short(artifact.id)} do not give its verdict"
            if _unproven(world, one):
                yield f"safety: a list of {short(artifact.id)} has no certificate"


def _lifecycle(world: World) -> Iterator[str]:
    """Every artifact has come to its state by rows of the table, and within the charter's limits."""
    state = world.state
    for name, artifact in state.artifacts.items():
        at = None
        for step in state.steps.get(name, ()):
            row = TRANSITIONS.get((step.origin, step.action))
            if step.origin is not at or row is None or row.to is not step.to:
                yield f"lifecycle: {short(name)} went from {step.origin} to {step.to} by no row"
            at = step.to
        if at is not artifact.state:
            yield f"lifecycle: {short(name)} is {artifact.state}, and its story ends with {at}"
        if artifact.reports < 0:
            yield f"lifecycle: {short(name)} has more reports assessed than filed"


def _unproven(world: World, one: Round) -> bool:
    return any(
        (found := world.certificates.get(slot_key(RoundSlot(round_id=one.pin.round, phase=phase))))
        is None
        or found.digest != final.digest
        for phase, final in one.finals.items()
    )


def _liveness(world: World) -> Iterator[str]:
    """Whatever is not terminal has a round that waits for a phase or whose end awaits a cut."""
    waiting = {ArtifactState.PROPOSED, ArtifactState.UNDER_REVIEW, ArtifactState.DISPUTED}
    for artifact in world.state.artifacts.values():
        if artifact.state in waiting:
            one = world.rounds.get(artifact.round or b"")
            if one is None or (
                [one.phase, one.verdict].count(None) != 1 and (one.pin.round not in world.lots)
            ):
                yield f"liveness: {short(artifact.id)} waits for nothing"


def _concealment(world: World) -> Iterator[str]:
    """Every listed reveal opens a commitment of its own voter in the certified box."""
    for one in world.rounds.values():
        boxed = commitments(one.finals)
        for record in listed(one.finals, Phase.DECIDE):
            body = record.body
            committed = boxed.get(record.author)
            if not isinstance(body, Reveal) or committed is None:
                yield f"concealment: round {short(one.pin.round)} lists what is no reveal"
            elif not opens(
                body.ballot,
                body.nonce,
                committed,
                realm=world.realm,
                round_id=one.pin.round,
                voter=record.author,
            ):
                yield f"concealment: a reveal in {short(one.pin.round)} opens nothing"


def _influence(world: World) -> Iterator[str]:
    """All trust is held; in the mode `ticketed` no weight exceeds what its trust carries.

    The second is the last step of the proof that bounds Sybils: Σ w ≤ w_max · Σ t / t_ref.
    """
    trust = world.charter.trust
    agents = world.state.agents.values()
    held = sum(agent.trust for agent in agents)
    if held != M:
        yield f"influence: the agents hold {held} of 2^60 of trust"
    if trust.voting != "ticketed":
        return
    for agent in agents:
        if agent.weight > min(trust.w_max, trust.w_max * agent.trust // trust_ref(trust)):
            yield f"influence: {short(agent.agent)} weighs {agent.weight}"


def _joining(world: World) -> Iterator[str]:
    """Nobody joins beyond the quotas, and each admission of an epoch has used up a proof."""
    state = world.state
    joining, rules = state.joining, state.joining.rules
    most = joining.most(len(state.agents))
    newest: Counter[tuple[Role, InstanceId]] = Counter()
    for agent in state.agents.values():
        newest[Role.AGENT, agent.instance] += agent.admitted_tick == state.tick
    for one in state.operators.values():
        newest[Role.OPERATOR, one.instance] += one.admitted_tick == state.tick
    for role, counts in ((Role.AGENT, joining.agents), (Role.OPERATOR, joining.operators)):
        for name, count in counts.items():
            if count > most:
                yield f"joining: {short(name)} has admitted {count} {role}s, and may admit {most}"
            if count > newest[role, name]:
                yield f"joining: {short(name)} has not admitted the {role}s that it is counted for"
    if not rules.agent_bits <= joining.bits <= rules.most_bits:
        yield f"joining: the puzzle has {joining.bits} bits"
    if set(joining.spent.values()) - {state.tick, state.tick - 1}:
        yield "joining: a proof of an old epoch, or of none, is kept as spent"
    admitted = sum(joining.agents.values()) + sum(joining.operators.values())
    if not joining.is_free and admitted > len(joining.spent):
        yield "joining: somebody was admitted without a proof"


def _waiting(world: World) -> Iterator[str]:
    """Nothing waits that is refused, old or in no cut, and no instance has too much that does."""
    state = world.state
    waiting, most = state.joining.waiting, state.joining.most(len(state.agents))
    held = Counter(instance for instance, _ in waiting.values())
    for name, count in held.items():
        if count > most:
            yield f"joining: {count} admissions of {short(name)} wait, and {most} may"
    for name, (instance, since) in waiting.items():
        record = world.log.get(name)
        if record is None or record.author != instance or not is_contained(world, record):
            yield f"joining: admission {short(name)} waits, and no cut contains it"
        if name in state.refused:
            yield f"joining: admission {short(name)} waits and is refused"
        # The fold of a tick's cut looks before the tick moves.
        if not state.tick - LONGEST_WAIT - 1 <= since <= state.tick:
            yield f"joining: admission {short(name)} waits for too long, or for another epoch"


def _chain_of_cuts(world: World) -> Iterator[str]:
    """Cuts form one chain up to the state's, and positions are heads of stored branches."""
    if world.state.cut:
        certified = [
            one
            for one in world.certificates.values()
            if isinstance(one.slot, CutSlot) and one.slot.number == world.state.cut
        ]
        if [one.digest for one in certified] != [world.state.digest]:
            yield "cuts: the state's cut has no certificate, or two"
    for author, here in world.positions.items():
        record = world.log.get(here.head)
        if record is None or record.author != author or record.seq != here.seq:
            yield f"cuts: the position of {short(author)} is no stored record of it"


def _own_signatures(world: World) -> Iterator[str]:
    """Check that the next counter lies above every known signature of ours."""
    me = world.me
    if me is not None and me.settled:
        heard = world.heard.get(me.instance)
        if heard is not None and heard.header.counter >= me.counter:
            yield "journal: a signature of ours has a counter that we have not reached"


def _digest(world: World) -> Iterator[str]:
    """Check that the digest kept from cut to cut is that of the state itself."""
    state = world.state
    kept = state.tables
    try:
        fresh = rows.rewrite(state)
    finally:
        state.tables = kept
    if fresh != world.digest:
        yield "digest: the kept world digest is not that of the state"
