"""The table of kinds: schema, who may author it, protocol level (design: kinds).

The role column is enforced in one place, when a record joins its author's chain: instances and
operators never propose, argue or vote (paper 2.2: the orchestrator does not vote). What an instance
may say of an artifact is that it nearly repeats another: that sends it to a vote and decides nothing.
A kind that is not in the table is stored and relayed, never interpreted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from federation.records import bodies, curation_bodies, review_bodies, texts, trust_bodies
from federation.records.bodies import Body, Role


class Kind(StrEnum):
    """Kinds this version interprets."""

    INCEPT = "identity.incept"
    ROTATE = "identity.rotate"
    REVOKE = "identity.revoke"
    DELEGATE = "identity.delegate"
    OPERATOR_ADMIT = "operator.admit"
    AGENT_ADMIT = "agent.admit"
    AGENT_DECLARE = "agent.declare"
    AGENT_SUBSCRIBE = "agent.subscribe"
    AGENT_VOUCH = "agent.vouch"
    AGENT_UNVOUCH = "agent.unvouch"
    HEALTH = "agent.health"
    PROPOSE = "artifact.propose"
    REVISE = "artifact.revise"
    WITHDRAW = "artifact.withdraw"
    RESUBMIT = "artifact.resubmit"
    FLAG_STALE = "artifact.flag_stale"
    NEAR = "artifact.near"
    OBJECT = "review.object"
    SEAL = "review.seal"
    ARGUE = "review.argue"
    COMMIT = "review.commit"
    REVEAL = "review.reveal"
    CONTEST = "review.contest"
    RULE = "review.rule"
    DISPUTE = "dispute.file"
    REPORT = "dispute.report"
    ASSESS = "dispute.assess"
    APPEAL = "sanction.appeal"
    ADMIN = "admin.review"
    ADOPT = "charter.adopt"
    COSIGN = "act.cosign"
    CERTIFICATE = "certificate.final"
    TRUST_HEAD = "instance.trust_head"
    LOG_FORK = "log.fork"
    LOG_FAULT = "log.fault"


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSpec:
    """One row of the table."""

    body: type[Body]
    authors: frozenset[Role]
    text: type[texts.ArtifactText] | type[texts.Note] | None = None
    level: int = 1
    """Counts only in rounds whose charter has `protocol` at least this."""


_ANYONE: Final = frozenset(Role)
_AGENT: Final = frozenset({Role.AGENT})
_OPERATOR: Final = frozenset({Role.OPERATOR})
_INSTANCE: Final = frozenset({Role.INSTANCE})

KINDS: Final[Mapping[str, KindSpec]] = {
    Kind.INCEPT: KindSpec(body=bodies.Incept, authors=_ANYONE),
    Kind.ROTATE: KindSpec(body=bodies.Rotate, authors=_ANYONE),
    Kind.REVOKE: KindSpec(body=bodies.Revoke, authors=_ANYONE),
    Kind.DELEGATE: KindSpec(body=bodies.Delegate, authors=_OPERATOR),
    Kind.OPERATOR_ADMIT: KindSpec(body=bodies.OperatorAdmit, authors=_INSTANCE),
    Kind.AGENT_ADMIT: KindSpec(body=bodies.AgentAdmit, authors=_INSTANCE),
    Kind.AGENT_DECLARE: KindSpec(body=bodies.AgentDeclare, authors=_AGENT),
    Kind.AGENT_SUBSCRIBE: KindSpec(body=bodies.AgentSubscribe, authors=_AGENT),
    Kind.AGENT_VOUCH: KindSpec(body=trust_bodies.AgentVouch, authors=_AGENT),
    Kind.AGENT_UNVOUCH: KindSpec(body=trust_bodies.AgentUnvouch, authors=_AGENT),
    Kind.HEALTH: KindSpec(body=curation_bodies.AgentHealth, authors=_OPERATOR),
    Kind.PROPOSE: KindSpec(body=review_bodies.Propose, authors=_AGENT, text=texts.ArtifactText),
    Kind.REVISE: KindSpec(body=curation_bodies.Revise, authors=_AGENT, text=texts.ArtifactText),
    Kind.WITHDRAW: KindSpec(body=curation_bodies.Withdraw, authors=_AGENT),
    Kind.RESUBMIT: KindSpec(body=curation_bodies.Resubmit, authors=_AGENT, text=texts.Note),
    Kind.FLAG_STALE: KindSpec(body=curation_bodies.FlagStale, authors=_AGENT, text=texts.Note),
    Kind.NEAR: KindSpec(body=curation_bodies.NearDuplicate, authors=_INSTANCE),
    Kind.OBJECT: KindSpec(body=review_bodies.ObjectTo, authors=_AGENT, text=texts.Note),
    Kind.SEAL: KindSpec(body=curation_bodies.SealArgument, authors=_AGENT),
    Kind.ARGUE: KindSpec(body=review_bodies.Argue, authors=_AGENT, text=texts.Note),
    Kind.COMMIT: KindSpec(body=review_bodies.Commit, authors=_AGENT),
    Kind.REVEAL: KindSpec(body=review_bodies.Reveal, authors=_AGENT),
    Kind.CONTEST: KindSpec(body=review_bodies.Contest, authors=_AGENT, text=texts.Note),
    Kind.RULE: KindSpec(body=curation_bodies.Rule, authors=_AGENT, text=texts.Note),
    Kind.DISPUTE: KindSpec(body=curation_bodies.DisputeFile, authors=_AGENT, text=texts.Note),
    Kind.REPORT: KindSpec(body=curation_bodies.DisputeReport, authors=_AGENT, text=texts.Note),
    Kind.ASSESS: KindSpec(body=curation_bodies.Assess, authors=_AGENT, text=texts.Note),
    Kind.APPEAL: KindSpec(body=curation_bodies.Appeal, authors=_AGENT, text=texts.Note),
    Kind.ADMIN: KindSpec(body=curation_bodies.AdminReview, authors=_OPERATOR),
    Kind.ADOPT: KindSpec(body=curation_bodies.CharterAdopt, authors=_OPERATOR),
    Kind.COSIGN: KindSpec(body=curation_bodies.ActCosign, authors=_OPERATOR),
    Kind.CERTIFICATE: KindSpec(body=bodies.CertificateFinal, authors=_INSTANCE),
    Kind.TRUST_HEAD: KindSpec(body=trust_bodies.TrustHead, authors=_INSTANCE),
    Kind.LOG_FORK: KindSpec(body=bodies.LogFork, authors=_ANYONE),
    Kind.LOG_FAULT: KindSpec(body=bodies.LogFault, authors=_ANYONE),
}

_KIND_OF: Final[Mapping[type[Body], Kind]] = {spec.body: Kind(name) for name, spec in KINDS.items()}


def kind_of_body(body: Body) -> Kind:
    """Tell which kind a body belongs to."""
    return _KIND_OF[type(body)]
