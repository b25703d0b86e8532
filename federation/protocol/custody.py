"""Sign for an agent, through the local door (design: custody).

The door judges a record *before* it is signed, by the same function that every node judges it by
afterwards: what it lets through can only be stopped by what happens meanwhile. It refuses with
what, why and fix. The ballot store is the log: a reveal opens the sealed copy of the agent's own
commit record, so an agent that forgets everything between two calls still votes safely.
"""

from dataclasses import dataclass
from typing import Final

import msgspec

from federation.certificates import Phase
from federation.codec import as_set
from federation.core import (
    AgentId,
    ArtifactId,
    Code,
    Digest,
    Millis,
    PeerError,
    RecordId,
    RefusedError,
    RoundId,
    short,
)
from federation.crypto import Ballot, BallotSigner, Reason, commitment
from federation.identity import KeyState, signing_key
from federation.protocol.judge import Fate, Judgement, judge
from federation.protocol.remedies import FIXES, remedy
from federation.protocol.rounds import Round
from federation.protocol.world import World
from federation.records import (
    Argue,
    ArtifactText,
    Body,
    Claim,
    Commit,
    Note,
    ObjectTo,
    Propose,
    Record,
    Reveal,
    Rotate,
    Stance,
    bind_text,
    sign_record,
    signing_payload,
    text_id,
)
from federation.records.review_bodies import Level
from federation.review import box, box_digest, expected_after

TURNS: Final = (Phase.DELIBERATE, Phase.TURN2, Phase.TURN3, Phase.TURN4, Phase.TURN5)
"""Phases in which arguments are heard, in their order."""
NOTE_MOST: Final = 12_000
"""Characters of a remark; its text has 16 KiB besides, which few alphabets come to first."""


class _Blank:
    """Signs nothing: what the door refuses must never have been signed."""

    public = bytes(32)

    def sign(self, payload: bytes) -> bytes:
        """Give a signature's worth of zeros."""
        del payload
        return bytes(64)

    def secret(self, realm: bytes, cut: int) -> bytes:
        """Give no secret."""
        del realm, cut
        return bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyring:
    """An agent and the keys that sign for it, by key_index; the last is current."""

    agent: AgentId
    keys: tuple[BallotSigner, ...]

    @property
    def current(self) -> BallotSigner:
        """The key that signs now."""
        return self.keys[-1]


def author(
    world: World, keyring: Keyring, body: Body, *, now: Millis, text: bytes | None = None
) -> Record:
    """Judge and sign the next record of an agent's chain; hand it to `step` as `Arrived`.

    `now` becomes the record's claimed time. Raises RefusedError with the code of its fate.
    """
    draft = _draft(world, keyring, body, now=now, text=text)
    judgement = judge(world, draft)
    if judgement.fate is Fate.VOID:
        raise _refused(draft, judgement)
    return msgspec.structs.replace(draft, signature=keyring.current.sign(signing_payload(draft.id)))


def propose(
    world: World,
    keyring: Keyring,
    content: ArtifactText,
    *,
    topics: tuple[str, ...],
    salt: bytes,
    now: Millis,
    cites: tuple[ArtifactId, ...] = (),
    sources: tuple[Digest, ...] = (),
    lang: str = "en",
) -> Record:
    """Propose an artifact; `salt` is 16 random bytes that protect the text after a takedown.

    Topics, cites and sources are sets: they may come in any order.
    """
    text, text_hash, text_len = bind_text(content, salt)
    body = Propose(
        topics=as_set(topics),
        claims=tuple(Claim(number) for number in range(1, len(content.claims) + 1)),
        cites=as_set(cites),
        sources=as_set(sources),
        text_hash=text_hash,
        text_len=text_len,
        text_id=text_id(content),
        lang=lang,
    )
    return author(world, keyring, body, now=now, text=text)


def object_to(
    world: World, keyring: Keyring, round_id: RoundId, *, reason: Reason, now: Millis
) -> Record:
    """Object while the window is open: the artifact then goes to a vote."""
    one = open_round(world, round_id)
    body = ObjectTo(round=round_id, after=after_in(one, Phase.FAST), reason=reason)
    return author(world, keyring, body, now=now)


def argue(
    world: World,
    keyring: Keyring,
    round_id: RoundId,
    *,
    stance: Stance,
    note: str,
    salt: bytes,
    now: Millis,
    level: Level = Level.CONTENT,
    replies_to: bytes | None = None,
    claim: int | None = None,
    evidence: tuple[Digest, ...] = (),
) -> Record:
    """Argue before the vote, in the turn that is open; the words travel in the record's text.

    A note that no text can hold is refused with TOO_LARGE before anything is looked up.
    """
    text, text_hash, text_len = bind_note(note, salt)
    one = open_round(world, round_id)
    turn = one.phase if one.phase in TURNS else Phase.DELIBERATE
    body = Argue(
        round=round_id,
        after=after_in(one, turn),
        stance=stance,
        level=level,
        claim=claim,
        evidence=as_set(evidence),
        replies_to=replies_to,
        text_hash=text_hash,
        text_len=text_len,
    )
    return author(world, keyring, body, now=now, text=text)


def bind_note(note: str, salt: bytes) -> tuple[bytes, Digest, int]:
    """Give a remark as it travels, with hash and length; `salt` is 16 random bytes.

    Raises RefusedError TOO_LARGE for more than 12,000 characters or 16 KiB, and NOT_CANONICAL for
    what is not NFC.
    """
    if len(note) > NOTE_MOST:
        raise RefusedError(
            "text refused",
            why=f"it has {len(note)} characters, and a text holds {NOTE_MOST}",
            fix=FIXES[Code.TOO_LARGE],
            code=Code.TOO_LARGE,
        )
    return bind_text(Note(note=note), salt)


def cast(
    world: World,
    keyring: Keyring,
    round_id: RoundId,
    ballot: Ballot,
    *,
    nonce: bytes,
    salt: bytes,
    now: Millis,
) -> Record:
    """Commit to a ballot, sealed; `nonce` is 32 and `salt` 24 random bytes, fresh every time."""
    one = open_round(world, round_id)
    phase = one.phase if one.phase is Phase.COMMIT2 else Phase.COMMIT
    committed = commitment(
        realm=world.realm, round_id=round_id, voter=keyring.agent, ballot=ballot, nonce=nonce
    )
    body = Commit(
        round=round_id,
        after=after_in(one, phase),
        commitment=committed,
        sealed=keyring.current.seal(world.realm, round_id, ballot, nonce=nonce, salt=salt),
    )
    return author(world, keyring, body, now=now)


def may_reveal(world: World, round_id: RoundId, voter: AgentId) -> Record | None:
    """Give the voter's listed commit record if revealing is allowed: only then may a ballot open.

    Allowed means that the *certificate* of the box is held and verified here and lists the
    commitment. q cosigns are not enough: another list could still become final, and it could
    hold a vote that was made after this one was read (design: reveal).
    """
    one = world.rounds.get(round_id)
    if one is None or one.phase is not Phase.DECIDE:
        return None
    return next((record for record in box(one.finals) if record.author == voter), None)


def reveal(world: World, keyring: Keyring, round_id: RoundId, *, now: Millis) -> Record:
    """Open an agent's own listed commitment, from the sealed copy in its commit record."""
    listed = may_reveal(world, round_id, keyring.agent)
    after = box_digest(open_round(world, round_id).finals)
    if listed is None or after is None or not isinstance(listed.body, Commit):
        raise RefusedError(
            "reveal refused",
            why="no verified certificate of the box lists a commitment of this agent",
            fix="wait for the certificate; a commitment that it does not list is never opened",
            code=Code.NOT_CERTIFIED,
        )
    ballot, nonce = key_of(keyring, listed).open(world.realm, round_id, listed.body.sealed)
    body = Reveal(round=round_id, after=after, ballot=ballot, nonce=nonce)
    return author(world, keyring, body, now=now)


def key_of(keyring: Keyring, sealed: Record) -> BallotSigner:
    """Give the key that signed a record, and so opens what it has sealed.

    Raises RefusedError COMMITMENT_MISMATCH if it is not kept here.
    """
    index = sealed.statement.key_index
    if index >= len(keyring.keys):
        raise RefusedError(
            f"{sealed.kind} not opened",
            why=f"it is sealed under key {index}, which is not kept here",
            fix="unlock the key that signed it",
            code=Code.COMMITMENT_MISMATCH,
        )
    return keyring.keys[index]


def _draft(
    world: World, keyring: Keyring, body: Body, *, now: Millis, text: bytes | None
) -> Record:
    seq, head = _head(world, keyring.agent, body)
    entry = world.log.entry(head)
    assert entry is not None, "a head is stored"  # noqa: S101 # our own invariant
    draft = sign_record(
        body,
        realm=world.realm,
        signer=_Blank(),
        author=keyring.agent,
        # A rotation stands under the key that it reveals.
        key_index=entry.keys.key_index + isinstance(body, Rotate),
        seq=seq + 1,
        prev=head,
        at=now,
        text=text,
    )
    _check_key(entry.keys, keyring, draft)
    return draft


def _head(world: World, agent: AgentId, body: Body) -> tuple[int, RecordId]:
    """Give the record that the next one follows: after a fork, on the branch that was picked."""
    log = world.log
    heads = log.heads_of(agent)
    if not heads:
        raise RefusedError(
            "record refused",
            why="its author's inception is not held here",
            fix="send the inception first",
            code=Code.NOT_ADMITTED,
        )
    kept: RecordId | None = None
    if isinstance(body, Rotate) and body.picks is not None:
        kept = body.picks
    elif agent in world.positions:
        kept = world.positions[agent].head
    if len(heads) > 1 and kept is not None:
        heads = tuple(one for one in heads if log.is_ancestor(kept, one[1]))
    if len(heads) != 1:
        raise RefusedError(
            "record refused",
            why="its author's chain is forked here",
            fix=FIXES[Code.FORK],
            code=Code.FORK,
        )
    return heads[0]


def _check_key(keys: KeyState, keyring: Keyring, draft: Record) -> None:
    """Refuse what every log would refuse: a kind of another role, or a key that is not current."""
    try:
        key = signing_key(keys, draft)
    except PeerError as error:
        raise RefusedError(
            f"{draft.kind} refused", why=error.why, fix=error.fix, code=error.code
        ) from error
    if key != keyring.current.public:
        raise RefusedError(
            f"{draft.kind} refused",
            why="the key that is kept here is not the current key of its author's chain",
            fix="unlock the key that the author's last rotation revealed",
            code=Code.BAD_SIGNATURE,
        )


def open_round(world: World, round_id: RoundId) -> Round:
    """Give a round that a cut has opened; raises RefusedError UNKNOWN_ROUND."""
    one = world.rounds.get(round_id)
    if one is None:
        raise RefusedError(
            "record refused",
            why=f"no cut has opened round {short(round_id)}",
            fix="take the id of an open round",
            code=Code.UNKNOWN_ROUND,
        )
    return one


def after_in(one: Round, phase: Phase) -> Digest:
    """Give what a record of the open phase names in `after`; raises RefusedError NOT_IN_PHASE."""
    after = expected_after(phase, one.pin, one.finals)
    if after is None or one.phase is not phase:
        where = one.phase.value if one.phase else "over"
        raise RefusedError(
            "record refused",
            why=f"the round is not in its phase {phase.value}: it is {where}",
            fix="act in the phase that the round is in",
            code=Code.NOT_IN_PHASE,
        )
    return after


def _refused(draft: Record, judgement: Judgement) -> RefusedError:
    code = judgement.code or Code.GUARD_FAILED
    return RefusedError(
        f"{draft.kind} refused", why=judgement.why, fix=remedy(draft.body, code), code=code
    )
