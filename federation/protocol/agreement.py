"""Drive the live slots: feed events to the certificate machines and carry out what they ask.

A signature takes its counter, is journalled, is sent, and is heard by the machine itself, in that
order (design: federation, what a member stores). A slot opens when the certificate that starts
its phase is stored here; what arrived for it earlier is fed to it then.
"""

from collections.abc import Iterable
from dataclasses import replace

from federation import certificates
from federation.certificates import (
    CertificateEntry,
    CertificatePacket,
    CutSlot,
    Event,
    FaultFound,
    JournalEntry,
    LockEntry,
    MessagePacket,
    Pace,
    Part,
    PartKind,
    Pinned,
    Received,
    ReceivedCertificate,
    RecordsArrived,
    SignedEntry,
    Slot,
    SlotState,
    WantPacket,
    WindowEnded,
    event_of,
    hear,
    message_for,
    packet_bytes,
    packet_from_bytes,
    part_address,
    restore,
    signing_payload,
    slot_key,
)
from federation.certificates.values import value_blobs
from federation.core import Code, InstanceId, Millis, PeerError, PublicKey, Signature
from federation.protocol import effects, finality, memory
from federation.protocol.desks import desk_of
from federation.protocol.inputs import Packet
from federation.protocol.turn import Turn
from federation.protocol.world import LiveSlot, World
from federation.records import LogFault, Record, SignedMessage
from federation.review import length, may_close_early


def open_slot(turn: Turn, slot: Slot) -> None:
    """Begin a slot: its window starts now, or when it did before a restart."""
    world = turn.world
    key = slot_key(slot)
    pinned = world.pinned(slot)
    if pinned is None or key in world.slots:
        return
    started = world.starts.get(key)
    if started is None:
        started = world.starts[key] = turn.now
        turn.effects.append(effects.StoreStart(slot=key, at=started))
    entries = world.journal.pop(key, ())
    me = world.me.instance if world.me else None
    state = _restored(turn, pinned, me, entries) if me and entries else SlotState()
    held = world.certificates.get(key)
    if held is not None and not state.is_final:
        # Only after a start from a snapshot a slot is final before it opens.
        blobs = {part_address(part): part.content for part in blob_parts(world, held)}
        state = replace(state, certificate=held, blobs=blobs)
    live = world.slots[key] = LiveSlot(pinned=pinned, state=state, started=started)
    for at in windows(world, live):
        turn.wake_at(at)
    if state.certificate is not None:
        turn.finals.append((state.certificate, ()))
    elif entries:
        feed(turn, slot, certificates.Wake())
    for name in world.unproven.pop(key, []):
        record = world.log.get(name)
        if record is not None:
            offer(turn, record)
    for packet in world.early.take(key):
        receive(turn, packet)
    check_window(turn, live)


def _restored(
    turn: Turn, pinned: Pinned, me: InstanceId, entries: Iterable[JournalEntry]
) -> SlotState:
    """Go on from the journal; where it is damaged, follow the slot without signing."""
    try:
        return restore(pinned, me, entries, verify=turn.world.verify)
    except PeerError:
        turn.effects.append(effects.Tell(event=effects.Happening.JOURNAL_DAMAGED, subject=me))
        return SlotState(muted=True)


def offer(turn: Turn, record: Record) -> None:
    """Show a slot the certificate that a `certificate.final` record holds, if it proves one."""
    world = turn.world
    certificate = finality.proven_once(world, record)
    if certificate is None:
        return
    key = slot_key(certificate.slot)
    if record.author in world.state.instances and key not in world.certificates.contained:
        # A copy by a stranger spares nobody its turn: it need never get into a cut.
        world.filed.setdefault(key, record.id)
    if key not in world.certificates:
        event = ReceivedCertificate(
            certificate=certificate, parts=blob_parts(world, certificate), sender=record.author
        )
        feed(turn, certificate.slot, event)
        voices = tuple(seal.voice for seal in certificate.seals)
        turn.effects += [
            effects.FetchBlob(blob=name, voices=voices)
            for name in value_blobs(certificate.value)
            if name not in world.blobs
        ]


def windows(world: World, live: LiveSlot) -> tuple[Millis, Millis]:
    """Give the times at which a slot's window can end: at the earliest, and at the latest."""
    slot = live.slot
    match slot:
        case CutSlot():
            timing = world.charter.timing
            earliest = live.started + timing.cut_min
            return earliest, max(earliest, world.ticked_at + timing.epoch)
        case _:
            pin = world.rounds[slot.round_id].pin
            shortest = live.started + pin.charter.review.commit_min
            return shortest, live.started + length(slot.phase, pin)


def check_window(turn: Turn, live: LiveSlot) -> None:
    """Tell the machine once that the window of its phase has ended here."""
    world = turn.world
    if live.ended or world.is_silent(live.slot) or not is_over(world, live, turn.now):
        return
    live.ended = True
    feed(turn, live.slot, WindowEnded())


def is_over(world: World, live: LiveSlot, now: Millis) -> bool:
    """Tell whether a slot's window has run out, or may close early by what is held here."""
    slot = live.slot
    elapsed = now - live.started
    match slot:
        case CutSlot():
            timing = world.charter.timing
            epoch_over = now - world.ticked_at >= timing.epoch
            return elapsed >= timing.cut_min and (
                epoch_over or bool(world.triggers) or bool(world.lots)
            )
        case _:
            one = world.rounds[slot.round_id]
            if one.phase is not slot.phase:
                return False
            if elapsed >= length(slot.phase, one.pin):
                return True
            held = one.qualified(world.log)
            return may_close_early(slot.phase, one.pin, one.finals, held, elapsed)


def receive(turn: Turn, packet: Packet) -> None:
    """Take a peer's packet: to its slot, aside if that is not open yet, or refused."""
    world = turn.world
    try:
        routed = packet_from_bytes(packet.packet)
        if routed.realm != world.realm:
            raise _refused(
                "it belongs to another realm", "send it to a node of its realm", Code.WRONG_REALM
            )
        key = slot_key(routed.slot)
        live = world.slots.get(key)
        if live is None:
            _answer_or_keep(
                turn, key, packet, asks=not isinstance(routed.packet, CertificatePacket)
            )
            return
        if routed.charter_hash != live.pinned.charter_hash:
            raise _refused(
                "it was sent under another charter",
                "agree on one charter first",
                Code.WRONG_CHARTER,
            )
        event = event_of(routed.packet, packet.peer, live.pinned, verify=world.verify)
    except PeerError as error:
        turn.refuse(packet.peer, error)
        return
    if isinstance(event, Received):
        memory.notice(turn, event.heard)
    feed(turn, routed.slot, event)


def feed(turn: Turn, slot: Slot, event: Event) -> None:
    """Queue an event for a slot; `run` works the queue off."""
    turn.events.append((slot_key(slot), event))


def records_arrived(turn: Turn) -> None:
    """Tell the slots that wait for records to look again."""
    for live in list(turn.world.slots.values()):
        if live.state.missing and not live.state.is_final:
            feed(turn, live.slot, RecordsArrived())


def run(turn: Turn) -> None:
    """Work off the queue of events."""
    while turn.events:
        key, event = turn.events.popleft()
        live = turn.world.slots.get(key)
        if live is not None:
            _step(turn, live, event)


def _step(turn: Turn, live: LiveSlot, event: Event) -> None:
    world = turn.world
    timing = world.charter.timing
    speaks = world.signer_in(live.pinned) is not None and not world.is_silent(live.slot)
    me = world.me.instance if world.me and speaks else None
    diverged = live.state.diverged
    try:
        live.state, actions = certificates.step(
            live.state,
            live.pinned,
            me,
            event,
            turn.now,
            desk_of(world, live, turn.now),
            pace=Pace(leader_timer=timing.leader_timer, grace=timing.grace, resend=timing.resend),
            verify=world.verify,
        )
    except PeerError as error:
        turn.refuse(getattr(event, "sender", None), error)
        return
    if live.state.diverged and not diverged:
        # The others certify a world that is not the one folded here: an operator must look.
        turn.effects.append(effects.Tell(event=effects.Happening.DIVERGED, subject=world.digest))
    said = [one for action in actions for one in _perform(turn, live, action)]
    # The machine hears what it signed before anything else happens to the slot.
    turn.events.extendleft((slot_key(live.slot), one) for one in reversed(said))


def _perform(turn: Turn, live: LiveSlot, action: certificates.Action) -> tuple[Received, ...]:
    """Carry out one action; give what this instance said by it."""
    key = slot_key(live.slot)
    out = turn.effects
    match action:
        case certificates.Sign():
            return (_sign(turn, live, action),)
        case certificates.KeepLock():
            _keep_parts(turn, action.parts)
            out.append(
                effects.StoreJournal(
                    entry=LockEntry(
                        slot=live.slot, lock=action.lock, value=action.value, parts=action.parts
                    )
                )
            )
        case certificates.KeepCertificate():
            _keep_parts(turn, action.parts)
            out.append(
                effects.StoreJournal(
                    entry=CertificateEntry(
                        slot=live.slot, certificate=action.certificate, parts=action.parts
                    )
                )
            )
        case certificates.Send():
            out.append(
                effects.SendPacket(to=action.to, packet=packet_bytes(live.pinned, action.packet))
            )
        case certificates.Want():
            packet = packet_bytes(live.pinned, WantPacket(hashes=action.hashes))
            out.append(effects.SendPacket(to=action.voice, packet=packet))
        case certificates.FetchRecords():
            turn.fetch(action.ids, action.voices)
        case certificates.Reconcile():
            out.append(effects.Reconcile(slot=key, voices=action.voices))
        case certificates.WakeAt():
            turn.wake_at(action.at)
        case certificates.Final():
            turn.finals.append((action.certificate, action.parts))
        case _:
            _denounce(turn, action)
    return ()


def _sign(turn: Turn, live: LiveSlot, action: certificates.Sign) -> Received:
    me, signer = turn.world.me, turn.world.signer_in(live.pinned)
    assert me is not None, "an observer is never asked to sign"  # noqa: S101 # our own invariant
    assert signer is not None, "nor is who lacks the pinned key"  # noqa: S101 # our own invariant
    raw = message_for(live.pinned, me.instance, me.counter, action.body)
    me.counter += 1
    signature = signer.sign(signing_payload(raw))
    heard = hear(raw, signature, live.pinned, verify=_own)
    memory.notice(turn, heard)
    turn.effects += [
        effects.StoreJournal(
            entry=SignedEntry(slot=live.slot, raw=raw, signature=signature, parts=action.parts)
        ),
        effects.SendPacket(
            to=None,
            packet=packet_bytes(
                live.pinned, MessagePacket(raw=raw, signature=signature, parts=action.parts)
            ),
        ),
    ]
    return Received(heard=heard, parts=action.parts, sender=me.instance)


def _own(key: PublicKey, payload: bytes, signature: Signature) -> bool:
    """Accept what was signed one line above."""
    del key, payload, signature
    return True


def _keep_parts(turn: Turn, parts: tuple[Part, ...]) -> None:
    """Keep the blobs of a value, which is all that locks and certificates carry."""
    for part in parts:
        turn.keep_blob(part.content)


def _denounce(turn: Turn, found: FaultFound) -> None:
    """File a proof of fault, unless one against this voice is in the log already."""
    world = turn.world
    voice = found.a.voice
    if voice in world.denounced or (world.me and voice == world.me.instance):
        return
    world.denounced.add(voice)
    turn.effects.append(effects.Tell(event=effects.Happening.FAULT, subject=voice))
    turn.say(
        LogFault(
            a=SignedMessage(found.a.raw, found.a.signature),
            b=SignedMessage(found.b.raw, found.b.signature),
        )
    )


def _answer_or_keep(turn: Turn, key: bytes, packet: Packet, *, asks: bool) -> None:
    """Answer for a slot that is long final, or keep the packet for one that opens later."""
    world = turn.world
    certificate = world.certificates.get(key)
    if certificate is None:
        # Only members speak in slots, and their room is theirs: strangers cost nothing by number.
        if packet.peer in world.state.instances:
            world.early.put(key, packet)
        return
    pinned = world.pinned(certificate.slot)
    if asks and pinned is not None:
        answer = CertificatePacket(certificate=certificate, parts=blob_parts(world, certificate))
        turn.effects.append(effects.SendPacket(to=packet.peer, packet=packet_bytes(pinned, answer)))


def blob_parts(world: World, certificate: certificates.Certificate) -> tuple[Part, ...]:
    """Give the blobs that a certificate's value names, as far as they are held."""
    blobs = (world.blobs.get(name) for name in value_blobs(certificate.value))
    return tuple(Part(kind=PartKind.BLOB, content=blob) for blob in blobs if blob is not None)


def _refused(why: str, fix: str, code: Code) -> PeerError:
    return PeerError("packet refused", why=why, fix=fix, code=code)
