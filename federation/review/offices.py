"""What moderators, arbiters and operators may say in a round, and who may contest (§3.2.3, §3.3.2).

An office is no privilege to be heard on everything: a moderator assesses the report that opened the
round and no other, a drawn arbiter rules about the process, an operator of a member decides when it
is asked. Each is independent of both sides but the operators, of whom a quorum is needed instead.
"""

from federation.core import AgentId, Code, IdentityId
from federation.records import AdminReview, Assess, Rule
from federation.review.eligibility import may_take_part
from federation.review.finals import Finals
from federation.review.lots import drawn_arbiters
from federation.review.pin import RoundPin
from federation.review.rulings import may_decree, may_rule


def may_assess(pin: RoundPin, agent: AgentId, said: Assess) -> Code | None:
    """Tell why an assessment does not count, or None if it does."""
    view = pin.agents.get(agent)
    if view is None or "moderator" not in view.badges:
        return Code.NOT_MODERATOR
    code = may_take_part(pin.agents, agent)
    if code is not None:
        return code
    if view.quarantined:
        return Code.QUARANTINED
    if agent in pin.sides or view.operator in pin.side_operators:
        own = view.operator == pin.author_operator and agent not in pin.sides
        return Code.AUTHORS_OPERATOR if own else Code.NOT_ELIGIBLE
    return None if said.report == pin.cause else Code.GUARD_FAILED


def rules_well(pin: RoundPin, lists: Finals, agent: AgentId, said: Rule) -> Code | None:
    """Tell why a ruling does not count, or None if it does; `lists` are those before it."""
    if agent not in drawn_arbiters(pin, lists):
        return Code.NOT_DRAWN
    return None if may_rule(pin, said.ruling) else Code.GUARD_FAILED


def may_decide(pin: RoundPin, operator: IdentityId, said: AdminReview) -> Code | None:
    """Tell why an operator's decision does not count, or None if it does."""
    if operator not in pin.members:
        return Code.NOT_MEMBER
    fits = said.subject == pin.artifact and may_decree(pin, said.decision)
    return None if fits else Code.GUARD_FAILED


def may_speak_for_process(pin: RoundPin, lists: Finals, agent: AgentId) -> Code | None:
    """Tell why an agent may not contest a result or a ruling, or None if it may.

    The author, the disputer and each reviewer whom a list before names may. Whoever appeals a sanction may
    though the sanction itself silences it everywhere else.
    """
    code = may_take_part(pin.agents, agent)
    appeals = pin.kind == "appeal" and agent == pin.author
    if code is not None and not (appeals and code in {Code.SUSPENDED, Code.AGENT_BANNED}):
        return code
    involved = {record.author for final in lists.values() for record in final.records}
    # A newcomer that has argued once could else hold up every result for days, at no cost.
    counted = involved & pin.eligible.reviewers
    return None if agent in counted | pin.sides else Code.NOT_ELIGIBLE
