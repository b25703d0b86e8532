"""Sign what follows acceptance, through the local door: disputes, reports, rulings, the way back.

Each function makes one body and hands it to `custody.author`, which judges before it signs. Acts on
an artifact take effect at the cut that contains them; what belongs to a phase of a round names it
in `after`, and is refused unless that phase is open here. Operators have a door of their own.
"""

from federation.certificates import Phase
from federation.codec import as_set
from federation.core import ArtifactId, Code, Digest, Millis, RefusedError, RoundId
from federation.crypto import (
    Argument,
    SealedArgument,
    argument_commitment,
)
from federation.protocol.custody import (
    Keyring,
    after_in,
    author,
    bind_note,
    key_of,
    open_round,
)
from federation.protocol.world import World
from federation.records import (
    Appeal,
    Argue,
    ArtifactText,
    Assess,
    Body,
    Category,
    Claim,
    Contest,
    DisputeFile,
    DisputeReport,
    FlagStale,
    Ground,
    Record,
    Resubmit,
    Revise,
    Rule,
    Ruled,
    SealArgument,
    Stance,
    Withdraw,
    bind_text,
    text_id,
)
from federation.records.review_bodies import Level
from federation.review import listed

# About artifacts that stand, or no longer do --------------------------------------------------


def dispute(
    world: World,
    keyring: Keyring,
    artifact: ArtifactId,
    *,
    ground: Ground,
    note: str,
    salt: bytes,
    now: Millis,
    claim: int | None = None,
    evidence: tuple[Digest, ...] = (),
) -> Record:
    """Say that an artifact that stands should not; `claim` is nil for the whole.

    Evidence is a set: it may come in any order. `salt` is 16 random bytes, as everywhere here.
    """
    text, text_hash, text_len = _bound(note, salt)
    body = DisputeFile(
        artifact=artifact,
        claim=claim,
        ground=ground,
        evidence=as_set(evidence),
        text_hash=text_hash,
        text_len=text_len,
    )
    return author(world, keyring, body, now=now, text=text)


def report(
    world: World,
    keyring: Keyring,
    artifact: ArtifactId,
    *,
    category: Category,
    note: str,
    salt: bytes,
    now: Millis,
) -> Record:
    """Ask for an artifact to be hidden at once; without a word of why the door refuses."""
    text, text_hash, text_len = _bound(note, salt)
    body = DisputeReport(
        artifact=artifact, category=category, text_hash=text_hash, text_len=text_len
    )
    return author(world, keyring, body, now=now, text=text)


def withdraw(
    world: World, keyring: Keyring, artifact: ArtifactId, *, reason: str, now: Millis
) -> Record:
    """Take an own artifact back, while nothing that stands cites it."""
    return author(world, keyring, Withdraw(artifact=artifact, reason=reason), now=now)


def revise(
    world: World,
    keyring: Keyring,
    revises: ArtifactId,
    content: ArtifactText,
    *,
    topics: tuple[str, ...],
    salt: bytes,
    now: Millis,
    cites: tuple[ArtifactId, ...] = (),
    sources: tuple[Digest, ...] = (),
    lang: str = "en",
) -> Record:
    """Propose an artifact in the place of another, which it supersedes if it is accepted."""
    text, text_hash, text_len = bind_text(content, salt)
    body = Revise(
        revises=revises,
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


def resubmit(
    world: World,
    keyring: Keyring,
    artifact: ArtifactId,
    *,
    evidence: tuple[Digest, ...],
    note: str,
    salt: bytes,
    now: Millis,
) -> Record:
    """Propose a retracted artifact again, with evidence; at least one digest is new to it."""
    text, text_hash, text_len = _bound(note, salt)
    body = Resubmit(
        artifact=artifact, evidence=as_set(evidence), text_hash=text_hash, text_len=text_len
    )
    return author(world, keyring, body, now=now, text=text)


def flag_stale(
    world: World,
    keyring: Keyring,
    artifact: ArtifactId,
    *,
    evidence: tuple[Digest, ...],
    note: str,
    salt: bytes,
    now: Millis,
) -> Record:
    """Show that an artifact that stands may be out of date."""
    text, text_hash, text_len = _bound(note, salt)
    body = FlagStale(
        artifact=artifact, evidence=as_set(evidence), text_hash=text_hash, text_len=text_len
    )
    return author(world, keyring, body, now=now, text=text)


def appeal(
    world: World, keyring: Keyring, sanction: Digest, *, note: str, salt: bytes, now: Millis
) -> Record:
    """Say that a sanction is wrong; `sanction` is the id of the violation that it rests on."""
    text, text_hash, text_len = _bound(note, salt)
    body = Appeal(sanction=sanction, text_hash=text_hash, text_len=text_len)
    return author(world, keyring, body, now=now, text=text)


# In a round -----------------------------------------------------------------------------------


def assess(
    world: World,
    keyring: Keyring,
    round_id: RoundId,
    *,
    credible: bool,
    note: str,
    salt: bytes,
    now: Millis,
) -> Record:
    """Say as a moderator whether the report that opened a round is credible."""
    one = open_round(world, round_id)
    after, reported = after_in(one, Phase.ASSESS), one.pin.cause
    assert reported is not None, "a round of a report has a cause"  # noqa: S101 # our own invariant
    text, text_hash, text_len = _bound(note, salt)
    body = Assess(
        round=round_id,
        after=after,
        report=reported,
        credible=credible,
        text_hash=text_hash,
        text_len=text_len,
    )
    return author(world, keyring, body, now=now, text=text)


def rule(
    world: World,
    keyring: Keyring,
    round_id: RoundId,
    *,
    ruling: Ruled,
    ground: str,
    note: str,
    salt: bytes,
    now: Millis,
) -> Record:
    """Rule as a drawn arbiter; `ground` is one word, the note says the rest."""
    after = after_in(open_round(world, round_id), Phase.RULE)
    text, text_hash, text_len = _bound(note, salt)
    body = Rule(
        round=round_id,
        after=after,
        ruling=ruling,
        ground=ground,
        text_hash=text_hash,
        text_len=text_len,
    )
    return author(world, keyring, body, now=now, text=text)


def contest(
    world: World,
    keyring: Keyring,
    round_id: RoundId,
    *,
    ground: str,
    note: str,
    salt: bytes,
    now: Millis,
) -> Record:
    """Contest the process of a result, or a ruling: whichever can be contested now."""
    one = open_round(world, round_id)
    phase = Phase.APPEAL if one.phase is Phase.APPEAL else Phase.CONTEST
    after = after_in(one, phase)
    text, text_hash, text_len = _bound(note, salt)
    body = Contest(
        round=round_id, after=after, ground=ground, text_hash=text_hash, text_len=text_len
    )
    return author(world, keyring, body, now=now, text=text)


# Sealed arguments -----------------------------------------------------------------------------


def seal_argument(
    world: World,
    keyring: Keyring,
    round_id: RoundId,
    *,
    stance: Stance,
    note: str,
    nonce: bytes,
    salt: bytes,
    seal_salt: bytes,
    now: Millis,
    level: Level = Level.CONTENT,
    claim: int | None = None,
    evidence: tuple[Digest, ...] = (),
) -> Record:
    """Seal an assessment before any other is read; `unseal` opens it.

    `nonce` is 32, `salt` 16 and `seal_salt` 24 random bytes, fresh every time.
    """
    after = after_in(open_round(world, round_id), Phase.SEAL)
    text, text_hash, text_len = bind_note(note, salt)
    argument = Argument(
        stance=stance,
        level=level,
        claim=claim,
        evidence=as_set(evidence),
        text_hash=text_hash,
        text_len=text_len,
    )
    committed = argument_commitment(
        realm=world.realm,
        round_id=round_id,
        author=keyring.agent,
        argument=argument,
        nonce=nonce,
    )
    sealed = keyring.current.seal_argument(
        world.realm,
        round_id,
        SealedArgument(argument=argument, text=text, nonce=nonce),
        salt=seal_salt,
    )
    body = SealArgument(round=round_id, after=after, commitment=committed, sealed=sealed)
    return author(world, keyring, body, now=now)


def may_unseal(world: World, round_id: RoundId, agent: bytes) -> Record | None:
    """Give the agent's listed seal if it may be opened: its certificate is held and verified here.

    As with ballots, what no certificate lists is never opened: it counts nowhere, and would show
    others what its author thinks before they have sealed.
    """
    one = world.rounds.get(round_id)
    if one is None or one.phase is not Phase.UNSEAL:
        return None
    sealed = listed(one.finals, Phase.SEAL)
    return next((record for record in sealed if record.author == agent), None)


def unseal(world: World, keyring: Keyring, round_id: RoundId, *, now: Millis) -> Record:
    """Open an agent's own listed argument, from the sealed copy in its `review.seal`.

    Raises RefusedError NOT_CERTIFIED if no list holds one, COMMITMENT_MISMATCH without its key.
    """
    one = open_round(world, round_id)
    record = may_unseal(world, round_id, keyring.agent)
    if record is None or not isinstance(record.body, SealArgument):
        raise RefusedError(
            "argument not opened",
            why="no verified certificate of the seals lists one of this agent",
            fix="wait for the certificate; a seal that it does not list is never opened",
            code=Code.NOT_CERTIFIED,
        )
    key = key_of(keyring, record)
    opened = key.open_argument(world.realm, round_id, record.body.sealed)
    said: Argument = opened.argument
    body: Body = Argue(
        round=round_id,
        after=after_in(one, Phase.UNSEAL),
        stance=Stance(said.stance),
        level=Level(said.level),
        claim=said.claim,
        evidence=said.evidence,
        replies_to=said.replies_to,
        nonce=opened.nonce,
        text_hash=said.text_hash,
        text_len=said.text_len,
    )
    return author(world, keyring, body, now=now, text=opened.text)


def _bound(note: str, salt: bytes) -> tuple[bytes | None, Digest | None, int]:
    """Bind a remark, or none if nothing is said."""
    return bind_note(note, salt) if note else (None, None, 0)
