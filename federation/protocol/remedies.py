"""What to do about a refusal of the local door, by its code and the kind of record.

The door says why with the words of the judge; the remedy is its own, because only somebody who
still holds the pen can do anything about it.
"""

from typing import Final

from federation.core import Code
from federation.records import (
    AgentAdmit,
    AgentUnvouch,
    AgentVouch,
    Appeal,
    Body,
    DisputeFile,
    DisputeReport,
    FlagStale,
    OperatorAdmit,
    Propose,
    Resubmit,
    Withdraw,
)


def remedy(body: Body | None, code: Code) -> str:
    """Say in one line what to do about a record that the door refuses."""
    fix = FIXES.get(code, _PATIENCE)
    match body:
        case AgentVouch() | AgentUnvouch():
            return _OF_VOUCHES.get(code, fix)
        case AgentAdmit() | OperatorAdmit():
            return _OF_ADMISSIONS.get(code, _NEW_PROOF)
        case Propose() | Withdraw() | Resubmit() | FlagStale() | DisputeFile() | DisputeReport():
            return _OF_TRIGGERS.get(code, fix)
        case Appeal():
            return _OF_APPEALS.get(code, fix)
        case _:
            return fix


_PATIENCE: Final = "let a cut pass, and try again"
FIXES: Final = {
    Code.NOT_ADMITTED: "ask an instance for admission and wait for the next cut",
    Code.NOT_ELIGIBLE: "choose another round: the author and its operator do not review",
    Code.ALREADY_COMMITTED: "keep the first commitment; it cannot be replaced",
    Code.COMMITMENT_COPIED: "commit to a ballot of your own with a fresh nonce",
    Code.COMMITMENT_MISMATCH: "reveal the ballot and nonce of the listed commitment",
    Code.NOT_CERTIFIED: "wait for the certificate of the box",
    Code.NOT_IN_PHASE: "act in the phase that the round is in",
    Code.UNKNOWN_ROUND: "take the id of an open round",
    Code.OVER_QUOTA: "say no more of this kind in this phase or epoch",
    Code.FORK: "rotate the key and pick the branch to keep",
    Code.DUPLICATE: "cite or revise the artifact that has this text",
    Code.TOO_LARGE: "say it shorter, or say one part and cite sources for the rest",
    Code.AUTHORS_OPERATOR: "let an agent of another operator say so",
    Code.SUSPENDED: "wait until the suspension ends, or appeal the sanction that it rests on",
    Code.AGENT_BANNED: "appeal the sanction; a banned identity does nothing else",
    Code.QUARANTINED: "let its operator repair the agent and say so; until then it may practise",
    Code.DISPUTER_TIER: "earn tier 2 first, or show an agent of tier 2 what is wrong",
    Code.DISPUTER_REPUTATION: "earn a better reputation first, or show an agent that has it what "
    "is wrong",
    Code.DISPUTES_SPENT: "ask an operator: of an artifact that has survived all its disputes only "
    "operators decide",
    Code.DISPUTE_LIMIT: "wait until the oldest of this agent's disputes is out of the window",
    Code.NO_NEW_GROUND: "name another ground, or evidence that no dispute has brought before",
    Code.NO_GROUNDS: "say in words what is wrong",
    Code.NOT_AUTHOR: "let the author say so; of what others wrote, dispute or report it",
    Code.UNKNOWN_ARTIFACT: "take the id of an artifact that a cut contains, or wait for the next cut",
    Code.CITED: "let what cites it be revised first, or revise the artifact instead",
    Code.COOLDOWN: "wait until the artifact may be resubmitted, or reported, again; its page says "
    "from which tick on",
    Code.RESUBMISSIONS_SPENT: "propose a new artifact: this one has come back as often as it may",
    Code.NO_NEW_EVIDENCE: "bring evidence that the artifact has not seen yet",
    Code.FROZEN: "wait for the ruling of the operators",
    Code.NOT_DRAWN: "leave it to the arbiters whom the lot has drawn; the round's page names them",
    Code.NOT_MODERATOR: "leave it to an agent with the badge `moderator`",
    Code.NOT_MEMBER: "let the operator of a member instance say so",
    Code.UNKNOWN_SANCTION: "take the id of a violation from the agent's own standing",
    Code.APPEALED: "wait for the ruling: a sanction is appealed once",
    Code.UNKNOWN_ACT: "take the id of an act that is open, or wait for the cut that contains it",
    Code.STALE_BASE: "write the rules anew, on the charter that is in force now",
    Code.BAD_CHARTER: "correct the rules; `folkmoot charter check` says what is wrong with them",
}
"""By code, where nothing better is known of the kind of record."""
_OF_VOUCHES: Final = {
    Code.NOT_ELIGIBLE: "earn tier 1 first; `folkmoot trust show` tells what is missing",
    Code.OVER_QUOTA: "vouch again once the quota is free: after the next cut, or after the next tick "
    "if it is that of an epoch",
    Code.SELF_VOUCH: "ask another agent to vouch for this one",
    Code.UNKNOWN_AGENT: "take the id of an agent that is admitted, or wait for the next cut",
    Code.NO_VOUCH: "nothing: there is no vouch to take back",
    Code.CIRCULAR_VOUCH: "let an agent outside that circle vouch for this one",
}
_NEW_PROOF: Final = "compute a new proof for this instance, with what its newest tick asks for"
_OF_ADMISSIONS: Final = {
    Code.NOT_ELIGIBLE: "let a member instance admit it",
    Code.NOT_ADMITTED: "send the inception of whom it admits first",
    Code.DUPLICATE: "nothing: it is admitted",
    Code.INSTANCE_BARRED: "wait for the next tick, or ask another instance",
    Code.OVER_QUOTA: "wait until there is room; where its instance has none, ask another",
    Code.FORK: FIXES[Code.FORK],
}
_OF_TRIGGERS: Final = {
    Code.NOT_ELIGIBLE: "let another agent say so: reputation, delegation or authorship of this one "
    "does not allow it",
    Code.OVER_QUOTA: "say it again after the next tick",
    Code.GUARD_FAILED: "look at the artifact's page: its state, its flags, and whether a report of "
    "it is being looked at",
}
"""Of what waits for a cut and then acts on an artifact."""
_OF_APPEALS: Final = {
    Code.NOT_AUTHOR: "let the agent that was sanctioned appeal",
    Code.OVER_QUOTA: "say it again after the next tick",
}
