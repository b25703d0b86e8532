"""Which rule of the charter gives each number of the capture table, in sentences.

What binds is found by asking again without the rule: with one operator fewer, or with a quota
lifted. What is proven says so; everything else is an estimate, in the attacker's favour.
"""

from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from federation.admission import asks_nothing
from federation.charter import Charter, Trust, spell
from federation.core import Ppm, Weight
from federation.trust import (
    Aim,
    CapturePlan,
    Community,
    capture_reach,
    edge_worth,
    edges_worth,
    effective_share,
    fastest,
    standing,
)
from node.queries.trust_terms import percent

_DOUBLED: Final = ", or for twice its share before that cap if this is more"
"""What a cap leaves that would take more than half of all weight."""
_NO_LIMIT: Final = 1_000_000
"""The most that a count of a charter can be."""


class Column(StrEnum):
    """A number of a row."""

    IDENTITIES = "identities"
    """Agents of the attacker."""
    OPERATORS = "operators"
    """Operators that answer for them."""
    INSTANCES = "instances"
    """Instances that admit them."""
    FOOLED = "fooled"
    """Vouches that honest agents are fooled into."""
    DAYS = "days"
    """Until all are in."""
    CORE_HOURS = "core_hours"
    """Work of the proofs."""


class CaptureWhy(msgspec.Struct, frozen=True, kw_only=True):
    """What binds one number."""

    column: Column
    """Which number."""
    proven: bool
    """Whether no attacker without a seed does with less, for a given honest weight."""
    why: str
    """The rule, as a sentence."""


def reasons(charter: Charter, community: Community, plan: CapturePlan) -> tuple[CaptureWhy, ...]:
    """Tell which rule gives each number of a row."""
    said = (
        (Column.IDENTITIES, _identities(charter.trust, plan)),
        (Column.OPERATORS, _operators(charter, community, plan)),
        (Column.INSTANCES, _instances(charter.trust, community, plan)),
        (Column.FOOLED, _fooled(charter.trust, plan)),
        (Column.DAYS, _days(charter, community, plan)),
        (Column.CORE_HOURS, _work(charter, plan)),
    )
    return tuple(
        CaptureWhy(column=column, proven=column is Column.FOOLED, why=why) for column, why in said
    )


def assumptions(charter: Charter, community: Community) -> tuple[str, ...]:
    """Say what is proven of the table, what is assumed, and what is left out."""
    trust = charter.trust
    groups = len({cell.operator for cell in community.voters.cells if cell.weight}) + 1
    edge = votes(trust, edge_worth(trust))
    bound = (
        f"One brings at most {edge}, whatever is built behind it (trust.kappa)."
        if trust.voting != "blend"
        else f"Voting is blend: each identity with a ticket weighs by its own reputation, and one "
        f"fooled vouch brings up to {edge}. That is no bound to rely on."
    )
    return (
        (
            "Proven: without a fooled vouch nobody gains anything, however many identities, "
            "operators and processors it has: no trust, no ticket, no tier, no weight. " + bound
        ),
        (
            "A fooled vouch is an edge of trust: an honest agent's vouch for one of the identities, "
            "or its approval of an artifact of theirs that stands. One agent can be fooled several "
            f"times: it may vouch {charter.quotas.vouches_epoch} times an epoch."
        ),
        (
            "By the cap on operators nobody with one operator counts for more than "
            f"{_cap(trust.operator_cap, groups)} here{_DOUBLED} (trust.operator_cap)."
        ),
        (
            "Caps bind the honest too: where few operators or instances hold the weight, many small "
            "ones lower the level to which all are cut. But no cap takes more than half of all "
            "weight, so each of the two lifts a share twofold at the most."
        ),
        (
            "Assumed for the attacker: every instance lets it in as fast as quotas allow, it has as "
            "many processors as it wants, its identities are always right, and there is always a "
            "round to practise in. Times and work are estimates at the least."
        ),
        (
            "Assumed against it: every honest reviewer votes; where half of them do, half of the "
            "weight is enough. A seed that is fooled into vouching counts as any agent; a seed "
            "whose key is stolen is outside this table."
        ),
    )


def votes(trust: Trust, weight: Weight) -> str:
    """Spell a weight in full votes, rounded up to two places."""
    hundredths = -(-weight * 100 // trust.w_max)
    whole, rest = divmod(hundredths, 100)
    spelled = f"{whole}.{rest:02d}" if rest else str(whole)
    return f"{spelled} full vote{'' if hundredths == 100 else 's'}"  # noqa: PLR2004 # one whole


def _identities(trust: Trust, plan: CapturePlan) -> str:
    if plan.weight <= (plan.identities - 1) * trust.w_max or plan.identities == 1:
        return "one for each operator"
    return (
        f"each weighs one full vote at most (trust.w_max), and it takes {votes(trust, plan.weight)}"
    )


def _operators(charter: Charter, community: Community, plan: CapturePlan) -> str:
    trust, rules = charter.trust, charter.admission
    fewer = plan.operators - 1
    # Who is short of operators has as many vouches as it takes.
    fooled = plan.fooled if plan.aim is Aim.FOOLED else _NO_LIMIT
    least = capture_reach(trust, community.voters, fooled=fooled, operators=fewer)
    if fewer and least >= plan.share:
        if not rules.operator_growth and plan.identities > fewer * rules.operator_agents:
            return (
                f"one may answer for {rules.operator_agents} agents, and none of them makes room "
                "for more (admission.operator_agents, admission.operator_growth)"
            )
        return f"{fewer} would do if more were fooled than is likely for this row"
    if fewer:
        return f"{fewer} would hold {percent(least)} at most (trust.operator_cap)"
    groups = len({cell.operator for cell in community.voters.cells if cell.weight}) + 1
    return f"one may count for {_cap(trust.operator_cap, groups)}{_DOUBLED} (trust.operator_cap)"


def _instances(trust: Trust, community: Community, plan: CapturePlan) -> str:
    if plan.instances == 1:
        return "one that admits them is enough"
    return (
        f"of {community.voters.instances} instances each counts for "
        f"{_cap(trust.instance_cap, community.voters.instances)} at most{_DOUBLED}, its honest "
        "agents included (trust.instance_cap)"
    )


def _fooled(trust: Trust, plan: CapturePlan) -> str:
    fewer = plan.fooled - 1
    bound = (
        f"{fewer} would bring {votes(trust, edges_worth(trust, fewer))} at most, and it takes "
        f"{votes(trust, plan.weight)} (trust.kappa)"
        if fewer
        else "without one there is no trust, no ticket and no weight"
    )
    return f"proven: {bound}; {_likely(plan)}"


def _likely(plan: CapturePlan) -> str:
    if plan.likely is None:
        return "not even all agents there are could bring it, as they are trusted here"
    return f"likely {plan.likely}, if the most trusted agents here are the ones that are fooled"


def _days(charter: Charter, community: Community, plan: CapturePlan) -> str:
    takes = standing(charter)
    if plan.fast is None or plan.epochs is None:
        return "more epochs than anybody follows"
    ticks = f"{_epochs(takes)} to tier 1, for a round and its tick"
    rest = plan.epochs - takes
    if plan.fast.epochs == 1 and not rest:
        return f"all are admitted in one epoch; {ticks}"
    if plan.fast.epochs - 1 < rest:
        spread = f"{rest} more until their trust has spread (quotas.vouches_epoch)"
        return f"{_epochs(plan.fast.epochs)} to be admitted; {ticks}; {spread}"
    return (
        f"{_epochs(plan.fast.epochs)} to be admitted{_held_up(charter, community, plan)}; {ticks}"
    )


def _held_up(charter: Charter, community: Community, plan: CapturePlan) -> str:
    """Name the quotas without which all would be admitted sooner."""
    found = []
    for names, lifted in (
        (
            "admission.instance_least, admission.instance_share",
            replace(charter.admission, instance_least=_NO_LIMIT),
        ),
        (
            "admission.operator_agents, admission.operator_growth",
            replace(charter.admission, operator_agents=_NO_LIMIT),
        ),
    ):
        pace = fastest(
            replace(charter, admission=lifted),
            community.door,
            operators=plan.operators,
            agents=plan.identities,
        )
        if plan.fast and pace and pace.epochs < plan.fast.epochs:
            found.append(names)
    return f" ({', '.join(found)})" if found else ""


def _work(charter: Charter, plan: CapturePlan) -> str:
    rules = charter.admission
    if asks_nothing(rules):
        return "none: this charter asks for no proof"
    if plan.fast is None or plan.cheap is None or plan.cheap_epochs is None:
        return "unknown"
    said = (
        f"{plan.fast.proofs} proofs take {plan.fast.hashes:,} hashes of {rules.memory_kib:,} KiB "
        f"(admission.agent_bits, admission.operator_bits)"
    )
    if plan.cheap.hashes < plan.fast.hashes:
        slow = spell(plan.cheap_epochs * charter.timing.epoch)
        said += (
            f"; so many at once raise the puzzle to {plan.fast.bits} bits: over {slow} it takes "
            f"{plan.cheap.hashes:,}"
        )
    return said


def _epochs(count: int) -> str:
    return f"{count} epoch{'' if count == 1 else 's'}"


def _cap(share: Ppm, groups: int) -> str:
    """Spell the share that so many groups leave one of them."""
    return percent(effective_share(share, groups))
