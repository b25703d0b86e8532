"""One step in progress: what a member can look up, what it lacks, what it will do.

A `Turn` collects the changes of one step. The rules in `member` and `leader` read through it: a
look-up of something not held here remembers that it is wanted, and takes it at once if it came
with the event. So nothing unasked for is ever kept, and every wait ends in a request.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from federation.certificates import proofs
from federation.certificates.blobs import chains_from_blob
from federation.certificates.desk import Desk, Missing, Outcome, Pace, Witnessed
from federation.certificates.events import Action, FetchRecords, Sign, WakeAt, Want
from federation.certificates.membership import Pinned
from federation.certificates.messages import Body, CutWitness, Heard, ListWitness
from federation.certificates.packets import MOST_PARTS, MOST_WANTED
from federation.certificates.parts import Part, PartKind, part_address
from federation.certificates.proofs import Lock, lock_bytes, lock_from_bytes
from federation.certificates.state import Asked, SlotState, pruned
from federation.certificates.values import Value, value_blobs, value_bytes, value_from_bytes
from federation.core import Digest, InstanceId, Millis, PeerError
from federation.crypto import Verify, plain_hash


class Turn:
    """A step under way: the state as it stands, and the actions so far."""

    __slots__ = (
        "_known",
        "_needs",
        "_offered",
        "_offered_messages",
        "_retry",
        "_waiting",
        "actions",
        "desk",
        "me",
        "now",
        "pace",
        "pinned",
        "state",
        "verify",
    )

    def __init__(
        self,
        state: SlotState,
        pinned: Pinned,
        me: InstanceId | None,
        now: Millis,
        desk: Desk,
        *,
        pace: Pace,
        verify: Verify,
        retry: bool,
    ) -> None:
        """Begin a step; `retry` asks the desk again about sets of witnesses that waited."""
        self.state = state
        self.pinned = pinned
        self.me = me
        self.now = now
        self.desk = desk
        self.pace = pace
        self.verify = verify
        self.actions: list[Action] = []
        self._retry = retry
        self._offered: dict[Digest, Part] = {}
        self._offered_messages: dict[Digest, Heard] = {}
        self._needs: dict[Digest, tuple[InstanceId, ...]] = {}
        self._waiting: dict[Digest, Missing] = {}
        self._known: dict[Digest, Heard] | None = None

    @property
    def may_sign(self) -> bool:
        """I am a voice here, I have lost no state, and the slot is open."""
        return (
            self.me is not None
            and not self.state.muted
            and not self.state.is_final
            and self.pinned.member(self.me) is not None
        )

    def sign(self, body: Body, parts: tuple[Part, ...] = ()) -> None:
        """Say something; the caller has changed the state so that it is never said twice."""
        self.actions.append(Sign(body=body, parts=parts))

    def offer(self, parts: Iterable[Part], messages: Iterable[Heard] = ()) -> None:
        """Lay out what came with the event; look-ups take what they need, the rest is dropped."""
        for part in tuple(parts)[:MOST_PARTS]:
            self._offered[part_address(part)] = part
        for heard in messages:
            self._offered_messages[heard.hash] = heard

    def message(self, name: Digest, holders: Sequence[InstanceId]) -> Heard | None:
        """Find a message by its hash, or ask for it."""
        if self._known is None:
            kept = (heard for row in self.state.said.values() for heard in row)
            self._known = {heard.hash: heard for heard in kept} | dict(self.state.cited)
        found = self._known.get(name)
        if found is None and name in self._offered_messages:
            found = self._known[name] = self._offered_messages[name]
            self.state = replace(self.state, cited={**self.state.cited, name: found})
        if found is None:
            self._need(name, holders)
        return found

    def value(self, name: Digest, holders: Sequence[InstanceId]) -> Value | None:
        """Find a value by its digest, together with its blobs, or ask for what is lacking."""
        value = self.state.values.get(name)
        if value is None:
            part = self._taken(name, PartKind.VALUE, holders)
            if part is None:
                return None
            try:
                value = value_from_bytes(part.content, self.pinned.slot)
            except PeerError:
                self._spoil(name)
                return None
            self.keep_value(name, value)
        lacking = [name for name in value_blobs(value) if self.blob(name, holders) is None]
        return None if lacking else value

    def keep_value(self, name: Digest, value: Value, parts: Iterable[Part] = ()) -> None:
        """Hold a value, and the blobs that came with it."""
        blobs = {part_address(part): part.content for part in parts}
        self.state = replace(
            self.state,
            values={**self.state.values, name: value},
            blobs={**self.state.blobs, **blobs},
        )

    def blob(self, name: Digest, holders: Sequence[InstanceId]) -> bytes | None:
        """Find a blob by its hash, or ask for it."""
        found = self.state.blobs.get(name)
        if found is None:
            part = self._taken(name, PartKind.BLOB, holders)
            if part is not None:
                found = part.content
                self.state = replace(self.state, blobs={**self.state.blobs, name: found})
        return found

    def lock(self, name: Digest, holders: Sequence[InstanceId]) -> Lock | None:
        """Find a verified lock by its hash, or ask for it."""
        found = self.state.locks.get(name)
        if found is not None:
            return found
        part = self._taken(name, PartKind.LOCK, holders)
        return None if part is None else self._proven(name, part)

    def lock_for(self, fence: int, digest: Digest) -> Lock | None:
        """Find any verified lock of a fence and digest among those held and those that came."""
        own = self.state.lock
        if own is not None and (own.fence, own.digest) == (fence, digest):
            return own
        for lock in self.state.locks.values():
            if (lock.fence, lock.digest) == (fence, digest):
                return lock
        for name, part in self._offered.items():
            if part.kind is PartKind.LOCK and name not in self.state.spoiled:
                lock_found = self._proven(name, part)
                if lock_found is not None and (lock_found.fence, lock_found.digest) == (
                    fence,
                    digest,
                ):
                    return lock_found
        return None

    def usable(self, heard: Heard) -> Witnessed | None:
        """Give a witness with its chains, or None until (or unless) they are held and sound."""
        member = self.pinned.member(heard.voice)
        chains: bytes | None = None
        match heard.body:
            case ListWitness() as body:
                witness: ListWitness | CutWitness = body
            case CutWitness() as body:
                witness = body
                chains = self.blob(body.chains, (heard.voice,))
                if chains is None or not self._is_sound(body.chains, chains):
                    return None
            case _:
                return None
        if member is None:
            return None
        return Witnessed(operator=member.operator, voice=heard.voice, body=witness, chains=chains)

    def fresh(self, witnesses: Sequence[Heard]) -> Outcome:
        """Ask the desk what exactly q witnesses amount to; Missing until their chains are held."""
        usable = [one for one in map(self.usable, witnesses) if one is not None]
        if len(usable) != len(witnesses):
            return Missing(records=())
        key = plain_hash(b"".join(sorted(heard.hash for heard in witnesses)))
        waiting = self._waiting.get(key)
        if waiting is None and not self._retry and key in self.state.missing:
            waiting = Missing(records=self.state.missing[key])
        if waiting is not None:
            self._waiting[key] = waiting
            return waiting
        outcome = self.desk.fresh(usable)
        if isinstance(outcome, Missing):
            self._waiting[key] = outcome
            voices = tuple(one.voice for one in usable if one.voice != self.me)
            self.actions.append(FetchRecords(ids=outcome.records, voices=voices))
        return outcome

    def finish(self, deadlines: Iterable[Millis]) -> tuple[SlotState, tuple[Action, ...]]:
        """End the step: forget what nothing names, ask for what is lacking, set the alarm."""
        state = pruned(self.state)
        missing = {key: waiting.records for key, waiting in self._waiting.items()}
        state = replace(state, missing=missing, asked=self._ask())
        ahead = [at for at in deadlines if at > self.now]
        if ahead and min(ahead) != state.wake:
            state = replace(state, wake=min(ahead))
            self.actions.append(WakeAt(at=min(ahead)))
        return state, tuple(self.actions)

    def _need(self, name: Digest, holders: Sequence[InstanceId]) -> None:
        if name not in self.state.spoiled:
            self._needs.setdefault(name, tuple(holders))

    def _taken(self, name: Digest, kind: PartKind, holders: Sequence[InstanceId]) -> Part | None:
        part = self._offered.get(name)
        if part is not None and part.kind is kind and name not in self.state.spoiled:
            return part
        self._need(name, holders)
        return None

    def _proven(self, name: Digest, part: Part) -> Lock | None:
        try:
            lock = lock_from_bytes(part.content)
            proofs.verify_lock(lock, self.pinned, verify=self.verify)
        except PeerError:
            self._spoil(name)
            return None
        self.state = replace(self.state, locks={**self.state.locks, name: lock})
        return lock

    def _is_sound(self, name: Digest, chains: bytes) -> bool:
        """Tell whether a blob is a chains blob; remembered, because reading it is dear."""
        known = self.state.sound.get(name)
        if known is None:
            try:
                chains_from_blob(chains)
                known = True
            except PeerError:
                known = False
            self.state = replace(self.state, sound={**self.state.sound, name: known})
        return known

    def _spoil(self, name: Digest) -> None:
        self._needs.pop(name, None)
        self.state = replace(self.state, spoiled=self.state.spoiled | {name})

    def _ask(self) -> dict[Digest, Asked]:
        """Request what is still needed and was not asked for lately, each time of another."""
        asked: dict[Digest, Asked] = {}
        wanted: dict[InstanceId, list[Digest]] = {}
        for name, holders in self._needs.items():
            before = self.state.asked.get(name)
            if before is not None and self.now < before.at + self.pace.resend:
                asked[name] = before
                continue
            tries = 0 if before is None else before.tries + 1
            others = self.pinned.others(self.me)
            targets = [
                *(one for one in holders if one != self.me),
                *(one for one in others if one not in holders),
            ]
            if targets:
                asked[name] = Asked(at=self.now, tries=tries)
                wanted.setdefault(targets[tries % len(targets)], []).append(name)
        for voice, names in wanted.items():
            for start in range(0, len(names), MOST_WANTED):
                batch = tuple(names[start : start + MOST_WANTED])
                self.actions.append(Want(hashes=batch, voice=voice))
        return asked


def value_part(turn: Turn, name: Digest) -> tuple[Part, ...]:
    """Give the part of a value that is held, or nothing."""
    value = turn.state.values.get(name)
    if value is None:
        return ()
    return (Part(kind=PartKind.VALUE, content=value_bytes(turn.pinned.slot, value)),)


def lock_part(lock: Lock) -> Part:
    """Give a lock as a part."""
    return Part(kind=PartKind.LOCK, content=lock_bytes(lock))
