"""The smallest valid body of every kind, with its text if the kind cannot do without one."""

from collections.abc import Callable, Mapping
from typing import Final

from federation.crypto import plain_hash, sign
from federation.records import (
    ActCosign,
    AdminReview,
    AgentAdmit,
    AgentDeclare,
    AgentHealth,
    AgentSubscribe,
    AgentUnvouch,
    AgentVouch,
    Appeal,
    Assess,
    Body,
    Category,
    CertificateFinal,
    CharterAdopt,
    Custody,
    Decree,
    Delegate,
    DisputeFile,
    DisputeReport,
    FlagStale,
    Ground,
    Health,
    Kind,
    LogFault,
    NearDuplicate,
    OperatorAdmit,
    Propose,
    Resubmit,
    Revise,
    Revoke,
    RevokeBy,
    Role,
    Rule,
    Ruled,
    Seal,
    SealArgument,
    SignedMessage,
    TrustHead,
    Withdraw,
    trust_head_root,
)
from tests.builders import (
    Chain,
    argue,
    commit,
    contest,
    log_fork,
    named,
    object_to,
    person,
    propose,
    reveal,
)


def smallest(kind: Kind) -> tuple[Body, bytes | None]:
    """Give the smallest valid body of a kind with its text; ids in it point at nothing."""
    return _SMALLEST[kind]()


def _incept() -> tuple[Body, None]:
    body = person(Role.AGENT).inception.body
    assert body is not None
    return body, None


def _rotate() -> tuple[Body, None]:
    body = Chain(person(Role.AGENT)).rotate().body
    assert body is not None
    return body, None


def _log_fork() -> tuple[Body, None]:
    one = Chain(person(Role.AGENT))
    two = one.fork()
    return log_fork(one.revoke(reason="a"), two.revoke(reason="b")), None


def _log_fault() -> tuple[Body, None]:
    seed = named("voice")
    a, b = (SignedMessage(message, sign(seed, message)) for message in (b"a", b"b"))
    return LogFault(a=a, b=b), None


def _certificate() -> tuple[Body, None]:
    seal_ = Seal(named("voice"), 1, sign(named("voice"), plain_hash(b"value")))
    return CertificateFinal(slot=b"slot", value=b"value", fence=0, seals=(seal_,)), None


def _revise() -> tuple[Revise, bytes]:
    proposal, text = propose()
    fields = {name: getattr(proposal, name) for name in Propose.__struct_fields__}
    return Revise(**fields, revises=_ARTIFACT), text


_ARTIFACT: Final = named("artifact")
_VOTER: Final = person(Role.AGENT)
_ROUND: Final = named("round")
_SMALLEST: Final[Mapping[Kind, Callable[[], tuple[Body, bytes | None]]]] = {
    Kind.INCEPT: _incept,
    Kind.ROTATE: _rotate,
    Kind.REVOKE: lambda: (Revoke(by=RevokeBy.CURRENT, reason=""), None),
    Kind.DELEGATE: lambda: (Delegate(agent=named("agent"), scope=()), None),
    Kind.OPERATOR_ADMIT: lambda: (OperatorAdmit(operator=named("operator")), None),
    Kind.AGENT_ADMIT: lambda: (
        AgentAdmit(
            agent=named("agent"),
            operator=named("operator"),
            delegate=named("delegate"),
            custody=Custody.SELF,
        ),
        None,
    ),
    Kind.AGENT_DECLARE: lambda: (AgentDeclare(family="f", provider="p", model="m"), None),
    Kind.AGENT_SUBSCRIBE: lambda: (AgentSubscribe(topics=(), keywords=(), on=True), None),
    Kind.AGENT_VOUCH: lambda: (AgentVouch(agent=named("agent"), weight=1, reason=""), None),
    Kind.AGENT_UNVOUCH: lambda: (AgentUnvouch(agent=named("agent"), reason=""), None),
    Kind.PROPOSE: propose,
    Kind.OBJECT: lambda: object_to(_ROUND),
    Kind.ARGUE: lambda: argue(_ROUND),
    Kind.COMMIT: lambda: (commit(Chain(_VOTER), _ROUND), None),
    Kind.REVEAL: lambda: (reveal(Chain(_VOTER), _ROUND), None),
    Kind.CONTEST: lambda: contest(_ROUND),
    Kind.CERTIFICATE: _certificate,
    Kind.TRUST_HEAD: lambda: (
        TrustHead(cut=0, root=trust_head_root(()), top=(), digest=named("world")),
        None,
    ),
    Kind.LOG_FORK: _log_fork,
    Kind.LOG_FAULT: _log_fault,
    Kind.HEALTH: lambda: (
        AgentHealth(agent=named("agent"), state=Health.BROKEN, note=""),
        None,
    ),
    Kind.REVISE: _revise,
    Kind.WITHDRAW: lambda: (Withdraw(artifact=_ARTIFACT, reason=""), None),
    Kind.RESUBMIT: lambda: (Resubmit(artifact=_ARTIFACT, evidence=(named("new"),)), None),
    Kind.FLAG_STALE: lambda: (FlagStale(artifact=_ARTIFACT, evidence=(named("new"),)), None),
    Kind.NEAR: lambda: (
        NearDuplicate(artifact=_ARTIFACT, of=named("earlier"), likeness=0),
        None,
    ),
    Kind.SEAL: lambda: (
        SealArgument(round=_ROUND, after=_ROUND, commitment=named("commitment"), sealed=bytes(40)),
        None,
    ),
    Kind.RULE: lambda: (
        Rule(round=_ROUND, after=_ROUND, ruling=Ruled.BY_SIGN, ground="fair"),
        None,
    ),
    Kind.DISPUTE: lambda: (DisputeFile(artifact=_ARTIFACT, ground=Ground.INACCURATE), None),
    Kind.REPORT: lambda: (DisputeReport(artifact=_ARTIFACT, category=Category.HARMFUL), None),
    Kind.ASSESS: lambda: (
        Assess(round=_ROUND, after=_ROUND, report=named("report"), credible=False),
        None,
    ),
    Kind.APPEAL: lambda: (Appeal(sanction=named("sanction")), None),
    Kind.ADMIN: lambda: (
        AdminReview(subject=_ARTIFACT, decision=Decree.KEEP, reason="r"),
        None,
    ),
    Kind.ADOPT: lambda: (
        CharterAdopt(number=1, base=named("base"), rules=b"", from_tick=0, reason=""),
        None,
    ),
    Kind.COSIGN: lambda: (ActCosign(act=named("act")), None),
}
