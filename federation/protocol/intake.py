"""Records that arrive: stored, relayed, and shown to whatever waits for them (design: the log).

Known ids are dropped before anything is verified; what the log refuses costs the sender; what it
accepts is stored, relayed at once and shown to its round, to the next cut, and to certificates
that lacked it. Nothing here decides whether a record counts.

Anybody can make an identity, so of authors that no cut has admitted only so many are stored, and
of each only so many records. What is dropped for lack of room costs its sender nothing.
"""

from collections.abc import Mapping
from typing import Final

from federation.certificates import CutSlot
from federation.core import Code, IdentityId, InstanceId, PeerError, RecordId, RoundId
from federation.identity import fork_proof, verify_fork
from federation.protocol import (
    admittance,
    agreement,
    discipline,
    effects,
    filing,
    judgements,
    progress,
)
from federation.protocol.filing import is_forked
from federation.protocol.inputs import Arrived
from federation.protocol.turn import Turn
from federation.protocol.world import World
from federation.records import (
    ActCosign,
    AdminReview,
    AgentAdmit,
    AgentUnvouch,
    AgentVouch,
    Appeal,
    CharterAdopt,
    DisputeFile,
    DisputeReport,
    FlagStale,
    Kind,
    LogFork,
    OperatorAdmit,
    Propose,
    Record,
    Resubmit,
    Withdraw,
)
from federation.replication import Added, Known, Waiting, round_of

MOST_STRANGERS: Final = 4_096
"""Authors without admission whose records are stored here unasked; deployment choice.

Dropping others is safe, because no two nodes need to hold the same strangers: what nobody has
admitted moves nothing, a cut contains what a quorum names, and whatever a quorum or a certificate
names is fetched by its id and stored beyond this bound. Nor can a crowd keep newcomers out: one
whom an admitted operator or a member instance names is stored too (`World.awaited`). What a crowd
does cost is that an identity which nobody has named yet finds no place here.
"""


def take(turn: Turn, arrived: Arrived) -> None:
    """Take in records from a peer, or from this instance's own agents."""
    added: list[Record] = []
    for record in arrived.records:
        added += _add(turn, record, arrived.peer, welcome=arrived.welcome)
    if added:
        turn.keep(tuple(added))
        show(turn, added)


def show(turn: Turn, added: list[Record]) -> None:
    """Show newly stored records to whatever may have waited for them."""
    world = turn.world
    rounds: set[RoundId] = set()
    for record in added:
        name = round_of(record)
        if name in world.rounds:
            rounds.add(name)
        if _calls_a_cut(world, record):
            world.triggers.add(record.id)
        progress.learn(turn, record)
        denounce_fork(turn, record)
        world.note_named(record)
    for name in sorted(world.incomplete):
        progress.move(turn, world.rounds[name])
    agreement.records_arrived(turn)
    progress.try_cut(turn)
    for live in list(world.slots.values()):
        if isinstance(live.slot, CutSlot) or live.slot.round_id in rounds:
            agreement.check_window(turn, live)


def _add(
    turn: Turn, record: Record, peer: InstanceId | None, *, welcome: bool
) -> tuple[Record, ...]:
    world = turn.world
    if record.id in world.log and record.text_raw is None:
        return ()
    room = None
    if not world.is_admitted(record.author) and record.id not in world.asked:
        # Before the log sees it: what waits for the inception of one too many waits for nothing.
        if not welcome and not _has_place(world, record.author):
            return ()
        room = world.charter.quotas.unadmitted_records
    try:
        result = world.log.add(record, room=room)
    except PeerError as error:
        turn.refuse(peer, error)
        return ()
    match result:
        case Added():
            world.note_author(record.author)
            return result.records
        case Waiting():
            if result.code is Code.WAITS_FOR_PREV and peer is not None:
                if record.id in world.asked:
                    world.asked.add(result.missing)
                turn.effects.append(effects.FetchRecords(records=(result.missing,), voices=(peer,)))
            return ()
        case Known(text=True):
            # The record stands as it was; its words are new here and must survive a restart.
            filled = world.log.get(record.id)
            assert filled is not None, "it was stored before"  # noqa: S101 # our own invariant
            turn.effects.append(effects.StoreRecord(record=filled))
            return ()
        case _:
            return ()


def _has_place(world: World, author: IdentityId) -> bool:
    """Tell whether records of a stranger may be stored here unasked."""
    return (
        len(world.strangers) < MOST_STRANGERS
        or author in world.strangers
        or author in world.awaited
    )


def denounce_fork(turn: Turn, record: Record) -> None:
    """File the proof when a record turns out to be the second at its place, unless one is."""
    world = turn.world
    if record.prev is None or not world.log.is_forked(record.author):
        return
    beside = (world.log.get(name) for name in world.log.ids_at(record.author, record.seq))
    rival = next(
        (one for one in beside if one and one.id != record.id and one.prev == record.prev), None
    )
    if rival is None:
        return
    proof = fork_proof(rival, record)
    if _proven_seq(world, proof) is not None and not _is_filed(world, record):
        turn.effects.append(effects.Tell(event=effects.Happening.FORK, subject=record.author))
        turn.say(proof)


def _calls_a_cut(world: World, record: Record) -> bool:
    """Tell whether a record waits for a cut that it may call: what does not count calls none."""
    match record.body:
        case (
            Propose() | Withdraw() | Resubmit() | FlagStale() | DisputeFile() | DisputeReport()
        ) as body:
            return filing.refusal(world.state, record, body) is None
        case Appeal() as body:
            return discipline.appeal_refusal(world.state, record, body) is None
        case CharterAdopt() | ActCosign() as body:
            return world.state.acts.refusal(world.state, record, body) is None
        case AdminReview(round=None) as body:
            return world.state.acts.refusal(world.state, record, body) is None
        case AgentVouch() | AgentUnvouch() as body:
            return judgements.refusal(world.state, record, body) is None
        case AgentAdmit() | OperatorAdmit() as body:
            return admittance.calls_a_cut(world, record, body)
        case _:
            return False


def _is_filed(world: World, record: Record) -> bool:
    """Tell whether a proof against a record's author has done all that one more could do.

    Its author is barred; or a sound proof waits for a cut; or a cut contains one of this very
    place, which was settled since. An unsound one does not help: a forker could file it against
    itself to be left alone.
    """
    if is_forked(world.state, record.author):
        return True
    sound = world.sound_proofs.setdefault(record.author, {})
    if _suffices(world, record, sound):
        return True
    # Only now they are read: a forker that files a thousand unsound proofs against itself must
    # not make every rival that it signs cost a thousand verifications.
    for one in world.log.by_kind(Kind.LOG_FORK):
        body = one.body
        if isinstance(body, LogFork) and body.author == record.author and one.id not in sound:
            seq = _proven_seq(world, body)
            if seq is not None:
                sound[one.id] = seq
    return _suffices(world, record, sound)


def _suffices(world: World, record: Record, sound: Mapping[RecordId, int]) -> bool:
    """Tell whether one of the sound proofs waits for a cut, or is of a record's own place."""
    return any(
        seq == record.seq
        or ((one := world.log.get(name)) and not progress.is_contained(world, one))
        for name, seq in sound.items()
        if name not in world.state.refused
    )


def _proven_seq(world: World, proof: LogFork) -> int | None:
    """Give the place of the fork that a body proves by what is held here; None if it does not."""
    try:
        fork = verify_fork(world.realm, proof, key_of=world.log.key_of, verify=world.verify)
    except PeerError:
        return None
    return fork.seq
