"""The record: one signed statement, the only thing that is stored and replicated.

`statement`  the signed line: kind, author, chain position, hash of the body
`bodies`     one schema per kind of identity, agent, log and certificate record
`review_bodies`  the same for artifacts and reviews
`trust_bodies`   the same for vouches and trust heads
`texts`      prose that travels beside a body, bound to it by a salted hash, droppable
`kinds`      the table: kind -> schema, who may author it, protocol level
`record`     parse a stranger's bytes, sign one's own, verify
`names`      how ids and keys are shown to people: CIDv1 and did:key
"""

from federation.records.bodies import (
    AgentAdmit,
    AgentDeclare,
    AgentSubscribe,
    Body,
    CertificateFinal,
    Custody,
    Delegate,
    Incept,
    LogFault,
    LogFork,
    OperatorAdmit,
    Revoke,
    RevokeBy,
    Role,
    Rotate,
    RotateBy,
    Seal,
    SignedMessage,
    SignedStatement,
)
from federation.records.kinds import KINDS, Kind, KindSpec, kind_of_body
from federation.records.names import cid, cid_preimage, did_key
from federation.records.record import (
    Record,
    parse_record,
    parse_unless,
    sign_record,
    verify_record,
    wire,
)
from federation.records.review_bodies import (
    Argue,
    Claim,
    Commit,
    Contest,
    Level,
    ObjectTo,
    Propose,
    Reveal,
    Stance,
)
from federation.records.statement import Statement, record_id, signing_payload
from federation.records.texts import ArtifactText, Note, bind_text, read_text, text_id
from federation.records.trust_bodies import (
    HEAD_ROWS,
    AgentUnvouch,
    AgentVouch,
    TrustHead,
    TrustRow,
    trust_head_root,
)

__all__ = [
    "HEAD_ROWS",
    "KINDS",
    "AgentAdmit",
    "AgentDeclare",
    "AgentSubscribe",
    "AgentUnvouch",
    "AgentVouch",
    "Argue",
    "ArtifactText",
    "Body",
    "CertificateFinal",
    "Claim",
    "Commit",
    "Contest",
    "Custody",
    "Delegate",
    "Incept",
    "Kind",
    "KindSpec",
    "Level",
    "LogFault",
    "LogFork",
    "Note",
    "ObjectTo",
    "OperatorAdmit",
    "Propose",
    "Record",
    "Reveal",
    "Revoke",
    "RevokeBy",
    "Role",
    "Rotate",
    "RotateBy",
    "Seal",
    "SignedMessage",
    "SignedStatement",
    "Stance",
    "Statement",
    "TrustHead",
    "TrustRow",
    "bind_text",
    "cid",
    "cid_preimage",
    "did_key",
    "kind_of_body",
    "parse_record",
    "parse_unless",
    "read_text",
    "record_id",
    "sign_record",
    "signing_payload",
    "text_id",
    "trust_head_root",
    "verify_record",
    "wire",
]
