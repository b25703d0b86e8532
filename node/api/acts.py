"""Routes of what operators decide together: charters, decisions by hand, health of agents.

Reading acts needs no token: they stand in the log of every member. Whatever is signed is signed for
the operator of this instance, so it needs the operator's token. They are rows of the table of
routes like all others.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from federation.charter import Finding, Rules, Severity, amended, check
from federation.records import Decree, Health
from node import commands
from node.api.calls import Call, Reply, Route, Who
from node.api.limits import DEAREST_LOOK
from node.api.schemas import Id, Signed
from node.api.writes import signed
from node.commands import bad_field
from node.queries import operating
from node.queries.charters import RulesPage, newest_rules
from node.queries.names import Thing, resolve
from node.queries.operating import ActsPage, AdminQueue

_BODY: Final = 192 * 1024
"""Bytes of a request with rules: 1,024 classes of topics take about 100 KiB of JSON."""
_ACT_IN_REQUESTS: Final = 3
"""What an open act costs: to read its rules takes 1.6 ms, a request .5."""
Tick = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class CheckRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules that somebody would propose."""

    rules: Rules
    """All sections that a charter may change."""


class AdoptRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rules that the operator proposes."""

    rules: Rules
    """All sections that a charter may change."""
    from_tick: Tick = 0
    """First tick at which they can be in force; 0 for the first after their quorum."""
    reason: str
    """Why, in at most 500 characters; public."""


class Decide(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A decision by hand."""

    subject: Id
    """The artifact, or the violation that a sanction rests on."""
    decision: Decree
    """What is decided."""
    reason: str
    """Why, in 1 to 500 characters; public."""
    round: Id | None = None
    """The round in its phase `admin` in which this is one voice; left out, it is an act."""


class TellHealth(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an agent is."""

    state: Health
    """`broken` or `repaired`."""
    note: str = ""
    """At most 500 characters; public."""


class FindingRow(msgspec.Struct, frozen=True, kw_only=True):
    """One fact that a charter implies."""

    severity: str
    """`error`, `warning` or `info`."""
    code: str
    """Stable name."""
    what: str
    """The fact, with its numbers."""
    why: str
    """Which rule makes it so, or what it costs."""
    fix: str
    """What to change, or that nothing needs to."""


class CheckPage(msgspec.Struct, frozen=True, kw_only=True):
    """What rules imply for this realm; errors first."""

    number: int
    """Number that the charter would have."""
    errors: int
    """Findings for which no node lets it be adopted."""
    warnings: int
    """Findings that weaken a safeguard."""
    findings: tuple[FindingRow, ...]
    """All of them, for the founders of the realm."""


async def show_acts(call: Call) -> ActsPage:
    """Show acts and charters."""
    # What each open act would change is read from its bytes.
    call.spend(min(_ACT_IN_REQUESTS * len(call.node.world.state.acts.open), DEAREST_LOOK))
    return operating.acts_page(call.node.world, call.node.instance)


async def show_rules(call: Call) -> RulesPage:
    """Show what a further charter is written for."""
    return newest_rules(call.node.world)


async def check_rules(call: Call) -> CheckPage:
    """Check rules without signing anything."""
    body = call.take(CheckRules)
    newest = call.node.world.state.acts.newest.charter
    number = newest.number + 1
    findings = check(amended(newest, body.rules, number))
    return CheckPage(
        number=number,
        errors=_count(findings, Severity.ERROR),
        warnings=_count(findings, Severity.WARNING),
        findings=tuple(
            FindingRow(
                severity=one.severity.value,
                code=one.code.value,
                what=one.what,
                why=one.why,
                fix=one.fix,
            )
            for one in findings
        ),
    )


async def adopt_rules(call: Call) -> Reply:
    """Propose other rules."""
    body = call.take(AdoptRules)
    return signed(
        await commands.adopt_charter(
            call.node, body.rules, from_tick=body.from_tick, reason=body.reason
        )
    )


async def cosign(call: Call) -> Reply:
    """Cosign an act."""
    act = operating.open_act(call.node.world, call.path["id"])
    return signed(await commands.cosign_act(call.node, act))


async def decide(call: Call) -> Reply:
    """Decide by hand."""
    body = call.take(Decide)
    world = call.node.world
    if body.round is None:
        subject = operating.subject_of(world, body.subject)
        if subject is None:
            subject = resolve(world, body.subject, things=(Thing.ARTIFACT,)).id
        record = await commands.decide_by_hand(
            call.node, subject, decision=body.decision, reason=body.reason
        )
        return signed(record)
    round_id = resolve(world, body.round, things=(Thing.ROUND,)).id
    subject = world.rounds[round_id].pin.artifact
    if not subject.hex().startswith(body.subject.lower()):
        raise bad_field("$.subject", "that round is about something else")
    return signed(
        await commands.decide_by_hand(
            call.node,
            subject,
            decision=body.decision,
            reason=body.reason,
            round_id=round_id,
        )
    )


async def show_queue(call: Call) -> AdminQueue:
    """Show what waits for the operators' hand."""
    return operating.admin_queue(call.node.world, call.node.instance, call.node.clock.now())


async def tell_health(call: Call) -> Reply:
    """Say how an agent is."""
    body = call.take(TellHealth)
    agent = call.named(Thing.AGENT)
    return signed(await commands.tell_health(call.node, agent, state=body.state, note=body.note))


def _count(findings: tuple[Finding, ...], severity: Severity) -> int:
    return sum(finding.severity is severity for finding in findings)


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/acts",
        summary="Charters so far, and acts of the operators under way",
        handler=show_acts,
        gives=ActsPage,
        says="An act comes into force once a quorum of the operators of member instances has said the "
        "same, each by a record of its own chain, and lapses 72 ticks after its cut.",
    ),
    Route(
        method="GET",
        path="/v1/charter/rules",
        summary="The rules that a further charter is written for",
        handler=show_rules,
        gives=RulesPage,
        says="Those of the newest charter that is adopted, in force or not.",
    ),
    Route(
        method="POST",
        path="/v1/charter/check",
        summary="What other rules would imply for this realm",
        handler=check_rules,
        gives=CheckPage,
        takes=CheckRules,
        who=Who.OPERATOR,
        most=_BODY,
        says="Nothing is signed.",
    ),
    Route(
        method="POST",
        path="/v1/charter/adopt",
        summary="Propose other rules as the operator of this instance",
        handler=adopt_rules,
        gives=Signed,
        takes=AdoptRules,
        who=Who.OPERATOR,
        most=_BODY,
        says="They are in force from the first tick on that is at least `from_tick`, once a quorum has "
        "cosigned. Rules with an error are refused. Rounds keep the charter that they opened under.",
    ),
    Route(
        method="POST",
        path="/v1/acts/{id}/cosign",
        summary="Say the same as another operator",
        handler=cosign,
        gives=Signed,
        who=Who.OPERATOR,
        says="It cannot be taken back. The id is that of the act, or its first six digits or more.",
    ),
    Route(
        method="POST",
        path="/v1/admin/reviews",
        summary="Decide by hand about an artifact or a sanction",
        handler=decide,
        gives=Signed,
        takes=Decide,
        who=Who.OPERATOR,
        says="With a round it is the operator's own voice in it: `keep` or `retract`, in an appeal "
        "`uphold` or `reclassify`. Without one it is an act: `retract`, `hide` and `show` of an "
        "artifact, `reclassify` of a sanction; others cosign it.",
    ),
    Route(
        method="GET",
        path="/v1/admin/queue",
        summary="What waits for the operators' hand",
        handler=show_queue,
        gives=AdminQueue,
        who=Who.OPERATOR,
    ),
    Route(
        method="POST",
        path="/v1/agents/{id}/health",
        summary="Say of an own agent that it is broken, or repaired",
        handler=tell_health,
        gives=Signed,
        takes=TellHealth,
        who=Who.OPERATOR,
        says="A broken agent is in quarantine from the next tick on: its ballots are practice. The "
        "operator of this instance must answer for it.",
    ),
)
"""Rows of the table of routes."""
