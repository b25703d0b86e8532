"""One body of every kind with every field filled: what the record vectors are made of.

The kinds of curation are in `vector_curation`.

They are written out here, and do not come from the builders, because a vector changes only with a
format version, while a builder may change with any test.
"""

import hashlib

from federation.core import Seed
from federation.crypto import (
    Ballot,
    Basis,
    Choice,
    Domain,
    KeySigner,
    Reason,
    commitment,
    digest,
    public_key,
    sign,
)
from federation.records import (
    AgentAdmit,
    AgentDeclare,
    AgentSubscribe,
    AgentUnvouch,
    AgentVouch,
    Argue,
    ArtifactText,
    Body,
    CertificateFinal,
    Claim,
    Commit,
    Contest,
    Custody,
    Delegate,
    Incept,
    Kind,
    Level,
    LogFault,
    LogFork,
    Note,
    ObjectTo,
    OperatorAdmit,
    Propose,
    Reveal,
    Revoke,
    RevokeBy,
    Role,
    Rotate,
    RotateBy,
    Seal,
    SignedMessage,
    SignedStatement,
    Stance,
    TrustHead,
    TrustRow,
    bind_text,
    text_id,
    trust_head_root,
)


def fixed(name: str) -> bytes:
    """32 bytes that depend on a name only; seeds, salts, digests and ids of the vectors."""
    return hashlib.sha256(f"folkmoot test vector: {name}".encode()).digest()


REALM = fixed("realm")
OTHER_REALM = fixed("another realm")
ROUND = fixed("round")
VOTER = fixed("voter")
BALLOT = Ballot(
    choice=Choice.AGAINST,
    reason=Reason.UNSOURCED,
    basis=Basis.RETRIEVAL,
    evidence=(fixed("evidence"),),
    arguments=tuple(sorted((fixed("argument 1"), fixed("argument 2")))),
)
NOTE = Note(note="The second source is a copy of the first: « même texte ».")
ARTIFACT = ArtifactText(
    title="Eau bouillante 水",
    prose="Water boils at 100 °C at one atmosphere.\n\nMeasured, not derived.",
    claims=("Water boils at 100 °C at one atmosphere.",),
    falsification=("A calibrated thermometer shows another value.",),
    sources=("a handbook, 3rd edition",),
)

TRUSTED = tuple(
    TrustRow(public_key(fixed(f"key of {agent.hex()}")), agent, weight)
    for agent, weight in zip(
        sorted((fixed("agent"), fixed("voter"), fixed("author"))), (255, 1, 128), strict=True
    )
)


def key_digest(seed: Seed) -> bytes:
    """Commit to the public key of a seed."""
    return digest(Domain.KEY, public_key(seed))


def full_bodies() -> dict[Kind, tuple[Body, bytes | None]]:
    """Give for every kind but those of curation a body with all fields set, and its text."""
    committed = commitment(
        realm=REALM, round_id=ROUND, voter=VOTER, ballot=BALLOT, nonce=fixed("nonce")
    )
    note, note_hash, note_len = bind_text(NOTE, fixed("salt")[:16])
    text, text_hash, text_len = bind_text(ARTIFACT, fixed("salt")[:16])
    return {
        Kind.INCEPT: (
            Incept(
                role=Role.AGENT,
                key=public_key(fixed("seed")),
                next=key_digest(fixed("next")),
                recovery=key_digest(fixed("recovery")),
                name="Ålesund reader",
            ),
            None,
        ),
        Kind.ROTATE: (
            Rotate(
                key=public_key(fixed("seed")),
                next=key_digest(fixed("next")),
                recovery=key_digest(fixed("recovery")),
                by=RotateBy.RECOVERY,
                reason="the laptop was stolen",
                disown_after=41,
                picks=fixed("branch"),
            ),
            None,
        ),
        Kind.REVOKE: (
            Revoke(by=RevokeBy.RECOVERY, key=public_key(fixed("recovery")), reason="retired"),
            None,
        ),
        Kind.DELEGATE: (
            Delegate(
                agent=fixed("agent"), scope=("artifact.propose", "review.commit"), until=2**53 - 1
            ),
            None,
        ),
        Kind.OPERATOR_ADMIT: (
            OperatorAdmit(
                operator=fixed("operator"), proof=b"proof of work", domain="moot.example.org"
            ),
            None,
        ),
        Kind.AGENT_ADMIT: (
            AgentAdmit(
                agent=fixed("agent"),
                operator=fixed("operator"),
                delegate=fixed("delegate"),
                custody=Custody.NODE,
                proof=b"\x00" * 300,
            ),
            None,
        ),
        Kind.AGENT_DECLARE: (
            AgentDeclare(
                family="family",
                provider="provider",
                model="model-7b",
                weights=fixed("weights"),
                cutoff="2026-01",
                prompt_family="curator",
            ),
            None,
        ),
        Kind.AGENT_SUBSCRIBE: (
            AgentSubscribe(
                topics=("history", "science/physics"), keywords=("température", "水"), on=False
            ),
            None,
        ),
        Kind.AGENT_VOUCH: (
            AgentVouch(agent=fixed("agent"), weight=255, reason="reads its sources: « vérifié »"),
            None,
        ),
        Kind.AGENT_UNVOUCH: (
            AgentUnvouch(agent=fixed("agent"), reason="it no longer does"),
            None,
        ),
        Kind.PROPOSE: (
            Propose(
                topics=("science/physics", "science/water"),
                claims=(Claim(1, fixed("check")), Claim(2)),
                cites=(fixed("artifact"),),
                sources=(fixed("source"),),
                text_hash=text_hash,
                text_len=text_len,
                text_id=text_id(ARTIFACT),
                lang="en-gb",
            ),
            text,
        ),
        Kind.OBJECT: (
            ObjectTo(
                round=ROUND,
                after=ROUND,
                reason=Reason.REDUNDANT,
                text_hash=note_hash,
                text_len=note_len,
            ),
            note,
        ),
        Kind.ARGUE: (
            Argue(
                round=ROUND,
                after=fixed("fast certificate"),
                stance=Stance.AGAINST,
                level=Level.TECHNICAL,
                claim=2,
                evidence=(fixed("evidence"),),
                replies_to=fixed("argument 1"),
                nonce=fixed("argument's nonce"),
                text_hash=note_hash,
                text_len=note_len,
            ),
            note,
        ),
        Kind.COMMIT: (
            Commit(
                round=ROUND,
                after=fixed("deliberate certificate"),
                commitment=committed,
                sealed=KeySigner(fixed("seed")).seal(
                    REALM, ROUND, BALLOT, nonce=fixed("nonce"), salt=fixed("salt")[:24]
                ),
            ),
            None,
        ),
        Kind.REVEAL: (
            Reveal(
                round=ROUND,
                after=fixed("commit certificate"),
                ballot=BALLOT,
                nonce=fixed("nonce"),
            ),
            None,
        ),
        Kind.CONTEST: (
            Contest(
                round=ROUND,
                after=fixed("decide certificate"),
                ground="conflict_of_interest",
                text_hash=note_hash,
                text_len=note_len,
            ),
            note,
        ),
        Kind.CERTIFICATE: (
            CertificateFinal(
                slot=b"\x92\x01\x02",
                value=b"\x90",
                fence=2**63 - 1,
                seals=(
                    Seal(fixed("voice"), 7, sign(fixed("voice"), b"seal")),
                    Seal(fixed("other voice"), 2**53 - 1, sign(fixed("voice"), b"other")),
                ),
            ),
            None,
        ),
        Kind.TRUST_HEAD: (
            TrustHead(
                cut=2**53 - 1,
                root=trust_head_root(TRUSTED),
                top=TRUSTED,
                digest=fixed("world"),
            ),
            None,
        ),
        Kind.LOG_FORK: (
            LogFork(
                author=fixed("author"),
                a=SignedStatement(b"statement a", sign(fixed("seed"), b"a")),
                b=SignedStatement(
                    b"statement b", sign(fixed("next"), b"b"), public_key(fixed("next"))
                ),
            ),
            None,
        ),
        Kind.LOG_FAULT: (
            LogFault(
                a=SignedMessage(b"message a", sign(fixed("seed"), b"a")),
                b=SignedMessage(b"message b", sign(fixed("seed"), b"b")),
            ),
            None,
        ),
    }
