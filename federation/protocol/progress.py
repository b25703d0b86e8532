"""What becomes of final certificates: rounds move on, cuts are folded, new slots open.

A certificate acts as soon as its *closure* is held: the records that its list names and, for a
cut, every record at or below its positions and the earlier lists of every round that it moves.
Until then the node asks for what is missing and keeps everything as it was.
"""

from dataclasses import dataclass, replace

from federation.certificates import (
    Certificate,
    CutSlot,
    CutValue,
    Part,
    Positions,
    RoundSlot,
    positions_from_blob,
    slot_key,
)
from federation.core import Digest, InstanceId, ParameterError, PeerError, RecordId, RoundId
from federation.crypto import plain_hash
from federation.protocol import admissions, agreement, effects, finality, memory
from federation.protocol.epochs import Reckoning, reckoning
from federation.protocol.fold import Contained, fold, new_records, positions_of
from federation.protocol.inputs import Proven, Reckoned
from federation.protocol.rounds import Round
from federation.protocol.rows import world_digest
from federation.protocol.turn import Turn
from federation.protocol.world import World
from federation.records import CertificateFinal, Record
from federation.review import AwaitsLot, Ended, Finals, next_phase


def settle(turn: Turn) -> None:
    """Work until nothing moves any more: slot events, final certificates, the next cut."""
    while turn.events or turn.finals:
        agreement.run(turn)
        while turn.finals:
            certificate, parts = turn.finals.popleft()
            _final(turn, certificate, parts)
    finality.file_due(turn)


def _final(turn: Turn, certificate: Certificate, parts: tuple[Part, ...]) -> None:
    world = turn.world
    key = slot_key(certificate.slot)
    if key not in world.certificates:
        world.certificates[key] = certificate
    memory.count(world, certificate)
    for part in parts:
        turn.keep_blob(part.content)
    slot = certificate.slot
    if isinstance(slot, RoundSlot):
        one = world.rounds[slot.round_id]
        value = certificate.value
        assert not isinstance(value, CutValue), "values are read by their slot"  # noqa: S101 # ours
        one.certified[slot.phase] = (value, certificate.digest)
        move(turn, one)
    else:
        try_cut(turn)


def move(turn: Turn, one: Round) -> None:
    """Bring a round to where its certified lists lead."""
    world = turn.world
    missing = one.missing(world.log)
    if missing:
        turn.fetch(missing, tuple(member.voice for member in one.seats))
        world.incomplete.add(one.pin.round)
    else:
        world.incomplete.discard(one.pin.round)
    before = set(one.finals)
    one.settle(world.log)
    for phase in one.finals:
        if phase not in before:
            finality.schedule(turn, RoundSlot(round_id=one.pin.round, phase=phase))
    came_to = next_phase(one.pin, one.finals)
    if isinstance(came_to, AwaitsLot):
        # The beacon of the next cut draws the arbiters: until then nobody may rule.
        one.phase = None
        if one.pin.round not in world.lots:
            world.lots.add(one.pin.round)
            # The slot of the next cut may have waited for a reason since its earliest time.
            for live in list(world.slots.values()):
                if isinstance(live.slot, CutSlot):
                    agreement.check_window(turn, live)
    elif isinstance(came_to, Ended):
        if one.verdict is None:
            one.phase, one.verdict = None, came_to.verdict
            turn.effects.append(
                effects.Tell(event=effects.Happening.VERDICT, subject=one.pin.round)
            )
    elif one.phase is not came_to:
        one.phase = came_to
        turn.effects.append(
            effects.Tell(event=effects.Happening.PHASE, subject=one.pin.round, phase=came_to)
        )
        agreement.open_slot(turn, RoundSlot(round_id=one.pin.round, phase=came_to))
    if before != set(one.finals):
        try_cut(turn)


def try_cut(turn: Turn) -> None:
    """Fold the next cut if its certificate and its whole closure are held."""
    world = turn.world
    slot = CutSlot(number=world.state.cut + 1, previous=world.state.digest)
    certificate = world.certificates.get(slot_key(slot))
    if certificate is None or not isinstance(certificate.value, CutValue):
        return
    # First of all: it can be worked on while what is missing is fetched.
    reckoned = _reckoned(turn, certificate.digest) if certificate.value.tick else None
    signers = tuple(seal.voice for seal in certificate.seals)
    contained = _closure(turn, certificate, certificate.value, signers)
    if contained is None:
        return
    # Both may be worked on at the same time.
    is_proven = _is_proven(turn, contained)
    if not is_proven or (contained.tick and reckoned is None):
        return
    contained = replace(contained, reckoned=reckoned, proven=world.proven)
    world.reckoned = world.asked_trust = world.asked_work = world.vetted = None
    world.proven = {}
    for name in sorted(contained.certified):
        # It was proven when the closure was found.
        key = slot_key(world.proofs.pop(name).slot)
        world.certificates.shelve(key, name)
        world.filed.pop(key, None)
    world.asked.clear()
    world.blobs.keep(certificate.value.positions)
    folded = fold(world.state, world.log, contained, world.rounds)
    world.positions = positions_of(world.state)
    world.digest = world_digest(world.state)
    world.strangers = {one for one in world.strangers if not world.is_admitted(one)}
    _tidy(world, contained, folded.ended)
    finality.schedule(turn, slot)
    turn.effects.append(effects.Tell(event=effects.Happening.CUT, subject=contained.digest))
    after = CutSlot(number=contained.number + 1, previous=contained.digest)
    if contained.tick:
        world.ticked_at = world.starts.get(slot_key(after), turn.now)
    agreement.open_slot(turn, after)
    for name in sorted(world.lots):
        if world.rounds[name].pin.beacon is not None:
            world.lots.discard(name)
            move(turn, world.rounds[name])
    for one in folded.opened:
        one.opened_at = world.starts.setdefault(one.pin.round, turn.now)
        turn.effects.append(effects.StoreStart(slot=one.pin.round, at=one.opened_at))
        world.rounds[one.pin.round] = one
        turn.effects.append(effects.Tell(event=effects.Happening.ROUND, subject=one.pin.round))
        move(turn, one)


def _reckoned(turn: Turn, cut: Digest) -> Reckoning | None:
    """Reckon trust for a tick's cut, once; None while the shell works on it.

    It is kept until the fold: the closure may be incomplete, and this is asked at every record.
    """
    world = turn.world
    if world.reckoned is not None and world.reckoned[0] == cut:
        return world.reckoned[1]
    if world.asked_trust == cut:
        return None
    found = reckoning(world.state, world.solve)
    if isinstance(found, Reckoning):
        world.reckoned = (cut, found)
        return found
    world.asked_trust = cut
    turn.effects.append(effects.Reckon(cut=cut, problem=found))
    return None


def take_trust(turn: Turn, event: Reckoned) -> None:
    """Take the answer to `Reckon`; raises ParameterError if it is none, and waits on then.

    One that nobody waits for answers a question of before a restart.
    """
    world = turn.world
    if event.cut != world.asked_trust:
        return
    found = reckoning(world.state, lambda _: event.trust)
    assert isinstance(found, Reckoning), "an answer was given"  # noqa: S101 # our own invariant
    world.reckoned = (event.cut, found)
    try_cut(turn)


def _is_proven(turn: Turn, cut: Contained) -> bool:
    """Tell whether all is known of the admission proofs that the fold will ask about.

    What is not is asked of the shell, some at a time: only their answers tell what is asked next.
    """
    world = turn.world
    if world.vetted == cut.digest:
        return True
    if world.asked_work is not None and world.asked_work.cut == cut.digest:
        return False

    def known(raw: bytes) -> bool | None:
        name = plain_hash(raw)
        if name not in world.proven:
            verdict = world.prove(raw)
            if verdict is None:
                return None
            world.proven[name] = verdict
        return world.proven[name]

    proofs = admissions.doubts(
        world.state,
        world.log,
        cut=cut.number,
        positions=cut.positions,
        fresh=new_records(world.state, world.log, cut.positions),
        prove=known,
    )
    if not proofs:
        world.vetted = cut.digest
        return True
    world.asked_work = effects.Prove(cut=cut.digest, proofs=proofs)
    turn.effects.append(world.asked_work)
    return False


def take_work(turn: Turn, event: Proven) -> None:
    """Take the answer to `Prove`; raises ParameterError if it is none, and waits on then.

    One that nobody waits for answers a question of before a restart.
    """
    world = turn.world
    asked = world.asked_work
    if asked is None or asked.cut != event.cut:
        return
    if len(event.verdicts) != len(asked.proofs):
        raise ParameterError(
            "verdicts on admission proofs refused",
            why=f"there are {len(event.verdicts)} of them for {len(asked.proofs)} proofs",
            fix="give one for each proof, in the order of the question",
        )
    for raw, verdict in zip(asked.proofs, event.verdicts, strict=True):
        world.proven[plain_hash(raw)] = verdict
    world.asked_work = None
    try_cut(turn)


def begin_cuts(turn: Turn) -> None:
    """Open the slot of the first cut."""
    world = turn.world
    agreement.open_slot(turn, CutSlot(number=world.state.cut + 1, previous=world.state.digest))


def _tidy(world: World, cut: Contained, ended: tuple[RoundId, ...]) -> None:
    """Forget what a certified cut has made superfluous; rounds and certificates stay."""
    closed = set(ended)
    for name in closed:
        world.rounds[name].closed = True
        world.rounds[name].looked.clear()
    for key, live in list(world.slots.items()):
        slot = live.slot
        old = slot.number < cut.number if isinstance(slot, CutSlot) else slot.round_id in closed
        if old:
            del world.slots[key]
    world.triggers = {
        name
        for name in world.triggers
        if (record := world.log.get(name)) is not None and _is_due(world, record)
    }


def is_contained(world: World, record: Record) -> bool:
    """Tell whether the last cut contains a record."""
    here = world.positions.get(record.author)
    return (
        here is not None and record.seq <= here.seq and world.log.is_ancestor(record.id, here.head)
    )


def _is_due(world: World, record: Record) -> bool:
    """Tell whether the next cut can come to a trigger: no open fork stands in its way.

    What waits for a branch to be picked calls no cut: it would call one after another for ever.
    """
    here = world.positions[record.author]
    above = world.log.above(record.author, here.seq, head=here.head)
    way = above[: max(record.seq - here.seq, 0)]
    return bool(way) and record.id in way[-1] and all(len(ids) == 1 for ids in way)


@dataclass(slots=True)
class _Moved:
    """How far a round is moved by the contained certificates."""

    finals: dict[RoundId, Finals]
    certified: set[RecordId]
    waits: bool = False


def _closure(
    turn: Turn,
    certificate: Certificate,
    value: CutValue,
    signers: tuple[InstanceId, ...],
) -> Contained | None:
    world = turn.world
    blob = world.blobs.get(value.positions)
    if blob is None:
        turn.effects.append(effects.FetchBlob(blob=value.positions, voices=signers))
        return None
    positions = positions_from_blob(blob)
    heads = [here.head for here in positions.values()]
    missing = tuple(head for head in heads if head not in world.log)
    if missing:
        turn.fetch(missing, signers)
        return None
    moved = _moved(world, positions)
    if moved.waits:
        return None
    return Contained(
        number=value.number,
        digest=certificate.digest,
        tick=value.tick,
        positions=positions,
        secrets=tuple(one.secret for one in value.secrets if one.secret is not None),
        next_hashes={one.member: one.next_hash for one in value.secrets},
        finals=moved.finals,
        certified=frozenset(moved.certified),
    )


def _moved(world: World, positions: Positions) -> _Moved:
    """Find which lists a cut contains: those of its certificates, and their rounds' earlier ones.

    A certificate that verifies but whose earlier lists are not held here makes the cut wait.
    """
    moved = _Moved({}, set())
    for record in new_records(world.state, world.log, positions):
        if not isinstance(record.body, CertificateFinal):
            continue
        certificate = finality.proven_once(world, record)
        if certificate is None:
            continue
        moved.certified.add(record.id)
        slot = certificate.slot
        if not isinstance(slot, RoundSlot):
            continue
        finals = world.rounds[slot.round_id].contained(slot.phase)
        if finals is None:
            moved.waits = True
        elif len(finals) > max(
            len(moved.finals.get(slot.round_id, {})),
            len(world.state.decided.get(slot.round_id, ())),
        ):
            moved.finals[slot.round_id] = finals
    return moved


def learn(turn: Turn, record: Record) -> None:
    """Take in a `certificate.final` record: to its slot, or aside until that opens."""
    world = turn.world
    if not isinstance(record.body, CertificateFinal):
        return
    try:
        slot = finality.slot_in(record.body)
    except PeerError:
        return
    key = slot_key(slot)
    if world.pinned(slot) is None or (key not in world.slots and key not in world.certificates):
        world.unproven.setdefault(key, []).append(record.id)
        return
    agreement.offer(turn, record)
