"""One body of every kind of curation with every field filled, written out as in `vector_bodies`."""

from typing import Final

from federation.crypto import Argument, KeySigner, SealedArgument, argument_commitment
from federation.records import (
    ActCosign,
    AdminReview,
    AgentHealth,
    Appeal,
    Assess,
    Body,
    Category,
    CharterAdopt,
    Claim,
    Decree,
    DisputeFile,
    DisputeReport,
    FlagStale,
    Ground,
    Health,
    Kind,
    NearDuplicate,
    Resubmit,
    Revise,
    Rule,
    Ruled,
    SealArgument,
    Withdraw,
    bind_text,
    text_id,
)
from tests.vectors.vector_bodies import ARTIFACT, NOTE, REALM, ROUND, VOTER, fixed, full_bodies

EVIDENCE: Final = tuple(sorted((fixed("evidence"), fixed("new evidence"))))


def all_bodies() -> dict[Kind, tuple[Body, bytes | None]]:
    """Give a full body of every kind and its text, in the order of the table of kinds."""
    found = {**full_bodies(), **_of_artifacts(), **_of_phases(), **_of_operators()}
    return {kind: found[kind] for kind in Kind}


def _of_artifacts() -> dict[Kind, tuple[Body, bytes | None]]:
    """Do what agents do to what stands, and against what was done to them."""
    note, note_hash, note_len = bind_text(NOTE, fixed("salt")[:16])
    text, text_hash, text_len = bind_text(ARTIFACT, fixed("salt")[:16])
    artifact = fixed("artifact")
    return {
        Kind.REVISE: (
            Revise(
                topics=("science/physics", "science/water"),
                claims=(Claim(1, fixed("check")), Claim(2)),
                cites=(fixed("cited artifact"),),
                sources=(fixed("source"),),
                text_hash=text_hash,
                text_len=text_len,
                text_id=text_id(ARTIFACT),
                lang="en-gb",
                revises=artifact,
            ),
            text,
        ),
        Kind.WITHDRAW: (Withdraw(artifact=artifact, reason="ma source s'est trompée"), None),
        Kind.RESUBMIT: (
            Resubmit(artifact=artifact, evidence=EVIDENCE, text_hash=note_hash, text_len=note_len),
            note,
        ),
        Kind.FLAG_STALE: (
            FlagStale(artifact=artifact, evidence=EVIDENCE, text_hash=note_hash, text_len=note_len),
            note,
        ),
        Kind.NEAR: (
            NearDuplicate(artifact=artifact, of=fixed("earlier artifact"), likeness=950_000),
            None,
        ),
        Kind.DISPUTE: (
            DisputeFile(
                artifact=artifact,
                claim=16,
                ground=Ground.UNSOURCED,
                evidence=EVIDENCE,
                text_hash=note_hash,
                text_len=note_len,
            ),
            note,
        ),
        Kind.REPORT: (
            DisputeReport(
                artifact=artifact,
                category=Category.MALICIOUS,
                text_hash=note_hash,
                text_len=note_len,
            ),
            note,
        ),
        Kind.APPEAL: (
            Appeal(sanction=fixed("violation"), text_hash=note_hash, text_len=note_len),
            note,
        ),
    }


def _of_phases() -> dict[Kind, tuple[Body, bytes | None]]:
    """Say what belongs to a phase of a round."""
    note, note_hash, note_len = bind_text(NOTE, fixed("salt")[:16])
    argument = Argument(
        stance="against",
        level="technical",
        claim=2,
        evidence=EVIDENCE,
        text_hash=note_hash,
        text_len=note_len,
    )
    return {
        Kind.SEAL: (
            SealArgument(
                round=ROUND,
                after=fixed("fast certificate"),
                commitment=argument_commitment(
                    realm=REALM,
                    round_id=ROUND,
                    author=VOTER,
                    argument=argument,
                    nonce=fixed("nonce"),
                ),
                sealed=KeySigner(fixed("seed")).seal_argument(
                    REALM,
                    ROUND,
                    SealedArgument(argument, note, fixed("nonce")),
                    salt=fixed("salt")[:24],
                ),
            ),
            None,
        ),
        Kind.RULE: (
            Rule(
                round=ROUND,
                after=fixed("contest certificate"),
                ruling=Ruled.RERUN,
                ground="conflict_of_interest",
                text_hash=note_hash,
                text_len=note_len,
            ),
            note,
        ),
        Kind.ASSESS: (
            Assess(
                round=ROUND,
                after=ROUND,
                report=fixed("report"),
                credible=True,
                text_hash=note_hash,
                text_len=note_len,
            ),
            note,
        ),
    }


def _of_operators() -> dict[Kind, tuple[Body, bytes | None]]:
    """Say what operators say by hand."""
    return {
        Kind.HEALTH: (
            AgentHealth(
                agent=fixed("agent"), state=Health.BROKEN, note="it repeats itself: 水水水"
            ),
            None,
        ),
        Kind.ADMIN: (
            AdminReview(
                subject=fixed("artifact"),
                decision=Decree.HIDE,
                reason="it names somebody's address",
                round=ROUND,
                after=fixed("rule certificate"),
            ),
            None,
        ),
        Kind.ADOPT: (
            CharterAdopt(
                number=1_000_000,
                base=fixed("charter in force"),
                rules=b"\x80" * 300,
                from_tick=2**62,
                reason="a longer time to contest",
            ),
            None,
        ),
        Kind.COSIGN: (ActCosign(act=fixed("act")), None),
    }
