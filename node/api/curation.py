"""Routes of what follows acceptance: disputes, reports, rulings, revisions, the way back.

All writes act for an agent whose key is kept here; finished records of others come in by
`POST /v1/records` like all records. They are rows of the table of routes like all others.
"""

from typing import Final

from federation.core import RecordId
from node import commands
from node.api.calls import Call, Reply, Route, Who
from node.api.curation_schemas import (
    AppealSanction,
    AssessReport,
    ContestRound,
    FileDispute,
    FlagArtifact,
    ListDisputes,
    ReportArtifact,
    ResubmitArtifact,
    RuleInRound,
    SealArgument,
    WithdrawArtifact,
)
from node.api.ids import read_id
from node.api.limits import price_of_look
from node.api.schemas import ProposeArtifact, Signed
from node.api.writes import proposal_of, signed
from node.commands.fields import digests
from node.queries import disputes, names
from node.queries.names import Thing

_EVIDENCE: Final = 16


async def list_disputes(call: Call) -> disputes.DisputeList:
    """List disputes, reports and appeals, newest first."""
    asked = call.ask(ListDisputes)
    world = call.node.world
    artifact = after = None
    # It looks at all that was ever filed, and without an artifact at all rounds that there ever were.
    rounds = len(world.rounds) if asked.artifact is None else 0
    call.spend(price_of_look(rounds + disputes.filed_so_far(world), 0))
    if asked.artifact is not None:
        artifact = names.resolve(world, asked.artifact, things=(Thing.ARTIFACT,)).id
    if asked.after is not None:
        after = names.resolve(world, asked.after, things=(Thing.ROUND,)).id
    return disputes.listing(
        world,
        artifact=artifact,
        kind=asked.kind,
        is_open=asked.open,
        after=after,
        most=asked.most,
    )


async def show_dispute(call: Call) -> disputes.DisputePage:
    """Show one dispute, report or appeal."""
    return disputes.one(call.node.world, _filed(call), call.node.clock.now())


def _filed(call: Call) -> RecordId:
    """Give the record that the path names: in full, or the one that opened a round named there."""
    said = call.path["id"]
    record = disputes.filed_as(call.node.world, said)
    return read_id("id", said) if record is None else record


async def file_dispute(call: Call) -> Reply:
    """File a dispute."""
    body = call.take(FileDispute)
    agent = call.agent(body.agent)
    filing = commands.Filing(
        ground=body.ground,
        claim=body.claim,
        note=body.note,
        evidence=digests("$.evidence", body.evidence, most=_EVIDENCE),
    )
    return signed(await commands.dispute(call.node, agent, call.named(Thing.ARTIFACT), filing))


async def report_artifact(call: Call) -> Reply:
    """Report an artifact."""
    body = call.take(ReportArtifact)
    agent = call.agent(body.agent)
    artifact = call.named(Thing.ARTIFACT)
    return signed(
        await commands.report(call.node, agent, artifact, category=body.category, note=body.note)
    )


async def withdraw_artifact(call: Call) -> Reply:
    """Take an own artifact back."""
    body = call.take(WithdrawArtifact)
    agent = call.agent(body.agent)
    artifact = call.named(Thing.ARTIFACT)
    return signed(await commands.withdraw(call.node, agent, artifact, reason=body.reason))


async def revise_artifact(call: Call) -> Reply:
    """Propose a revision."""
    body = call.take(ProposeArtifact)
    agent = call.agent(body.agent)
    artifact = call.named(Thing.ARTIFACT)
    return signed(
        await commands.propose(call.node, agent, proposal_of(call, body), revises=artifact)
    )


async def resubmit_artifact(call: Call) -> Reply:
    """Propose a retracted artifact again."""
    body = call.take(ResubmitArtifact)
    agent = call.agent(body.agent)
    artifact = call.named(Thing.ARTIFACT)
    evidence = digests("$.evidence", body.evidence, most=_EVIDENCE)
    return signed(
        await commands.resubmit(call.node, agent, artifact, evidence=evidence, note=body.note)
    )


async def flag_artifact(call: Call) -> Reply:
    """Flag an artifact as stale."""
    body = call.take(FlagArtifact)
    agent = call.agent(body.agent)
    artifact = call.named(Thing.ARTIFACT)
    evidence = digests("$.evidence", body.evidence, most=_EVIDENCE)
    return signed(
        await commands.flag_stale(call.node, agent, artifact, evidence=evidence, note=body.note)
    )


async def appeal_sanction(call: Call) -> Reply:
    """Appeal a sanction."""
    body = call.take(AppealSanction)
    agent = call.agent(body.agent)
    sanction = read_id("id", call.path["id"])
    return signed(await commands.appeal(call.node, agent, sanction, note=body.note))


async def assess_report(call: Call) -> Reply:
    """Assess a report."""
    body = call.take(AssessReport)
    agent = call.agent(body.agent)
    found = call.named(Thing.ROUND)
    return signed(
        await commands.assess(call.node, agent, found, credible=body.credible, note=body.note)
    )


async def rule_in_round(call: Call) -> Reply:
    """Rule in a round."""
    body = call.take(RuleInRound)
    agent = call.agent(body.agent)
    found = call.named(Thing.ROUND)
    return signed(
        await commands.rule(
            call.node, agent, found, ruling=body.ruling, ground=body.ground, note=body.note
        )
    )


async def contest_round(call: Call) -> Reply:
    """Contest a result or a ruling."""
    body = call.take(ContestRound)
    agent = call.agent(body.agent)
    found = call.named(Thing.ROUND)
    return signed(
        await commands.contest(call.node, agent, found, ground=body.ground, note=body.note)
    )


async def seal_argument(call: Call) -> Reply:
    """Seal an argument."""
    body = call.take(SealArgument)
    agent = call.agent(body.agent)
    found = call.named(Thing.ROUND)
    return signed(
        await commands.seal_argument(
            call.node,
            agent,
            found,
            stance=body.stance,
            note=body.note,
            level=body.level,
            evidence=digests("$.evidence", body.evidence, most=_EVIDENCE),
        )
    )


_AGAIN: Final = (
    "The same, sent again before a cut contains it, is the same record: after a lost answer simply "
    "send it again."
)
ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/disputes",
        summary="List disputes, reports and appeals, newest first",
        handler=list_disputes,
        gives=disputes.DisputeList,
        query=ListDisputes,
        says="Rounds that were opened, and on the first page what waits for a cut or does not count.",
    ),
    Route(
        method="GET",
        path="/v1/disputes/{id}",
        summary="One dispute, report or appeal, and what became of it",
        handler=show_dispute,
        gives=disputes.DisputePage,
        says="The id is that of its record in full, or that of the round that it opened.",
    ),
    Route(
        method="POST",
        path="/v1/artifacts/{id}/dispute",
        summary="Dispute an artifact that stands",
        handler=file_dispute,
        gives=Signed,
        takes=FileDispute,
        who=Who.AGENT,
        says="A fresh panel decides whether it still stands. " + _AGAIN,
    ),
    Route(
        method="POST",
        path="/v1/artifacts/{id}/report",
        summary="Report an artifact that must be hidden at once",
        handler=report_artifact,
        gives=Signed,
        takes=ReportArtifact,
        who=Who.AGENT,
        says="A moderator looks first; a report that is not credible costs more than a dispute that "
        "was dismissed. " + _AGAIN,
    ),
    Route(
        method="POST",
        path="/v1/artifacts/{id}/withdraw",
        summary="Take an own artifact back",
        handler=withdraw_artifact,
        gives=Signed,
        takes=WithdrawArtifact,
        who=Who.AGENT,
        says=_AGAIN,
    ),
    Route(
        method="POST",
        path="/v1/artifacts/{id}/revise",
        summary="Propose a new artifact in the place of another",
        handler=revise_artifact,
        gives=Signed,
        takes=ProposeArtifact,
        who=Who.AGENT,
        says="If it is accepted it supersedes the other; a revision by somebody else than the author "
        "is always voted on.",
    ),
    Route(
        method="POST",
        path="/v1/artifacts/{id}/resubmit",
        summary="Propose a retracted artifact again, with evidence",
        handler=resubmit_artifact,
        gives=Signed,
        takes=ResubmitArtifact,
        who=Who.AGENT,
        says=_AGAIN,
    ),
    Route(
        method="POST",
        path="/v1/artifacts/{id}/flag-stale",
        summary="Show that an artifact may be out of date",
        handler=flag_artifact,
        gives=Signed,
        takes=FlagArtifact,
        who=Who.AGENT,
        says=_AGAIN,
    ),
    Route(
        method="POST",
        path="/v1/rounds/{id}/assess",
        summary="Say as a moderator whether a report is credible",
        handler=assess_report,
        gives=Signed,
        takes=AssessReport,
        who=Who.AGENT,
    ),
    Route(
        method="POST",
        path="/v1/rounds/{id}/rule",
        summary="Rule as a drawn arbiter",
        handler=rule_in_round,
        gives=Signed,
        takes=RuleInRound,
        who=Who.AGENT,
        says="The page of the round tells who was drawn, and which rulings it takes.",
    ),
    Route(
        method="POST",
        path="/v1/rounds/{id}/contest",
        summary="Contest the process of a result, or a ruling",
        handler=contest_round,
        gives=Signed,
        takes=ContestRound,
        who=Who.AGENT,
    ),
    Route(
        method="POST",
        path="/v1/rounds/{id}/seal",
        summary="Argue sealed, before any other argument is read",
        handler=seal_argument,
        gives=Signed,
        takes=SealArgument,
        who=Who.AGENT,
        says="Where the charter's mode is `sealed_first`. The node opens it by itself once the "
        "certificate of the seals is held, also after a restart.",
    ),
    Route(
        method="POST",
        path="/v1/sanctions/{id}/appeal",
        summary="Appeal a sanction",
        handler=appeal_sanction,
        gives=Signed,
        takes=AppealSanction,
        who=Who.AGENT,
        says="The id is that of the violation that the sanction rests on, in full: the agent's "
        "standing names it. " + _AGAIN,
    ),
)
"""Rows of the table of routes."""
