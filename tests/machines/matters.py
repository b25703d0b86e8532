"""Bodies of everything that people of a moot can say about artifacts and in rounds, true or not."""

from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from federation.certificates import Phase
from federation.codec import as_set
from federation.core import AgentId, ArtifactId, CallerError, Digest, RoundId
from federation.crypto import (
    Argument,
    Ballot,
    Basis,
    Choice,
    Reason,
    SealedArgument,
    argument_commitment,
    commitment,
    plain_hash,
)
from federation.protocol import Keyring, World
from federation.protocol.custody import bind_note
from federation.records import (
    Argue,
    Assess,
    Body,
    Category,
    Commit,
    Contest,
    DisputeFile,
    DisputeReport,
    FlagStale,
    Ground,
    ObjectTo,
    Resubmit,
    Reveal,
    Revise,
    Rule,
    Ruled,
    SealArgument,
    Stance,
    Withdraw,
)
from federation.records.review_bodies import Level
from federation.review import box, expected_after
from tests.builders import artifact_text, propose

Said = tuple[Body, bytes | None]
SALT: Final = bytes(16)
OLD: Final = plain_hash(b"evidence that everybody knows")
SAYS: Final = (
    Phase.FAST,
    Phase.SEAL,
    Phase.UNSEAL,
    Phase.DELIBERATE,
    Phase.TURN2,
    Phase.COMMIT,
    Phase.COMMIT2,
    Phase.DECIDE,
    Phase.CONTEST,
    Phase.RULE,
    Phase.APPEAL,
    Phase.ASSESS,
)
"""Phases in which agents say something."""


# About artifacts ------------------------------------------------------------------------------


def revision(artifact: ArtifactId, title: str) -> Said:
    """Put another text in the place of an artifact."""
    body, text = propose(artifact_text(title=title))
    fields = {name: getattr(body, name) for name in body.__struct_fields__}
    return Revise(revises=artifact, **fields), text


def filing(artifact: ArtifactId, kind: int, evidence: Digest) -> Said:
    """File one of the acts about an artifact, by number."""
    text, text_hash, text_len = bind_note("It is as it is.", SALT)
    match kind:
        case 0:
            return Withdraw(artifact=artifact, reason="mistaken"), None
        case 1:
            return Resubmit(
                artifact=artifact,
                evidence=as_set((evidence,)),
                text_hash=text_hash,
                text_len=text_len,
            ), text
        case 2:
            return FlagStale(
                artifact=artifact,
                evidence=as_set((evidence,)),
                text_hash=text_hash,
                text_len=text_len,
            ), text
        case 3:
            return DisputeReport(
                artifact=artifact, category=Category.HARMFUL, text_hash=text_hash, text_len=text_len
            ), text
        case 4:
            return DisputeReport(artifact=artifact, category=Category.HARMFUL), None
        case 5:
            return DisputeFile(artifact=artifact, ground=Ground.INACCURATE), None
        case _:
            named = as_set((evidence,))
            return DisputeFile(
                artifact=artifact,
                ground=Ground.HARMFUL,
                evidence=named,
                text_hash=text_hash,
                text_len=text_len,
            ), text


# In rounds ------------------------------------------------------------------------------------


def after(world: World, name: RoundId, phase: Phase) -> Digest:
    """Give what records of a phase name; what none can name if the round never gets there."""
    one = world.rounds[name]
    return expected_after(phase, one.pin, one.finals) or plain_hash(b"nowhere")


def nonce_of(agent: AgentId, name: RoundId) -> Digest:
    """Give the one nonce of an agent in a round."""
    return plain_hash(b"nonce" + agent + name)


def ballot(choice: int, *, harmful: bool = False) -> Ballot:
    """Make a ballot; reasons follow the choice."""
    reason = Reason.HARMFUL if harmful and choice < 0 else Reason.ACCURATE
    return Ballot(Choice(choice), reason, Basis.TOOL)


def casting(
    world: World, keyring: Keyring, name: RoundId, choice: int, phase: Phase = Phase.COMMIT
) -> Said:
    """Commit to a ballot."""
    nonce, vote = nonce_of(keyring.agent, name), ballot(choice)
    sealed = keyring.current.seal(world.realm, name, vote, nonce=nonce, salt=nonce[:24])
    committed = commitment(
        realm=world.realm, round_id=name, voter=keyring.agent, ballot=vote, nonce=nonce
    )
    body = Commit(round=name, after=after(world, name, phase), commitment=committed, sealed=sealed)
    return body, None


def copying(world: World, name: RoundId, agent: AgentId) -> Said | None:
    """Commit to what another voter has committed to."""
    for records in world.log.by_round(name).values():
        for one in records:
            if isinstance(one.body, Commit) and one.author != agent:
                return one.body, None
    return None


def opening(world: World, keyring: Keyring, name: RoundId, choice: int) -> Said:
    """Open a ballot: the one that was committed to if it fits, else a lie."""
    body = Reveal(
        round=name,
        after=after(world, name, Phase.DECIDE),
        ballot=ballot(choice),
        nonce=nonce_of(keyring.agent, name),
    )
    return body, None


def true_choice(world: World, keyring: Keyring, name: RoundId) -> int | None:
    """Read what an agent has committed to in a box, from its own sealed copy."""
    for record in box(world.rounds[name].finals):
        if record.author == keyring.agent and isinstance(record.body, Commit):
            # What an agent has copied it cannot open.
            with suppress(CallerError):
                found, _ = keyring.current.open(world.realm, name, record.body.sealed)
                return int(found.choice)
    return None


def argument(keyring: Keyring, name: RoundId) -> tuple[Argument, bytes]:
    """Give the one argument that an agent can seal in a round."""
    text, text_hash, text_len = bind_note("It agrees with its source.", SALT)
    said = Argument(stance=Stance.FOR, level=Level.CONTENT, text_hash=text_hash, text_len=text_len)
    del keyring, name
    return said, text


def sealing(world: World, keyring: Keyring, name: RoundId) -> Said:
    """Seal an argument."""
    said, text = argument(keyring, name)
    nonce = nonce_of(keyring.agent, name)
    committed = argument_commitment(
        realm=world.realm, round_id=name, author=keyring.agent, argument=said, nonce=nonce
    )
    sealed = keyring.current.seal_argument(
        world.realm,
        name,
        SealedArgument(argument=said, text=text, nonce=nonce),
        salt=nonce[:24],
    )
    body = SealArgument(
        round=name, after=after(world, name, Phase.SEAL), commitment=committed, sealed=sealed
    )
    return body, None


def arguing(world: World, keyring: Keyring, name: RoundId, phase: Phase) -> Said:
    """Argue in a turn; in UNSEAL, open the argument that was sealed."""
    said, text = argument(keyring, name)
    body = Argue(
        round=name,
        after=after(world, name, phase),
        stance=Stance.FOR,
        level=Level.CONTENT,
        text_hash=said.text_hash,
        text_len=said.text_len,
    )
    if phase is Phase.UNSEAL:
        body = replace(body, nonce=nonce_of(keyring.agent, name))
    return body, text


def speech(
    world: World, keyring: Keyring, name: RoundId, phase: Phase, *, choice: int, ruled: Ruled
) -> Said | None:
    """Say in a round what belongs to a phase of it, whether or not that is open."""
    point = after(world, name, phase)
    match phase:
        case Phase.FAST:
            return ObjectTo(round=name, after=point, reason=Reason.UNSOURCED), None
        case Phase.SEAL:
            return sealing(world, keyring, name)
        case Phase.COMMIT | Phase.COMMIT2:
            return casting(world, keyring, name, choice, phase)
        case Phase.DECIDE:
            return opening(world, keyring, name, choice)
        case Phase.CONTEST | Phase.APPEAL:
            return Contest(round=name, after=point, ground="not_heard"), None
        case Phase.RULE:
            return Rule(round=name, after=point, ruling=ruled, ground="fair_process"), None
        case Phase.ASSESS:
            cause = world.rounds[name].pin.cause
            if cause is None:
                return None
            return Assess(round=name, after=point, report=cause, credible=choice >= 0), None
        case _:
            return arguing(world, keyring, name, phase)
