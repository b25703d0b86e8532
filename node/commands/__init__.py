"""Writes: what an agent whose key is kept here can do, for the API and for programs in process.

`artifacts` propose, revise
`review`    object, argue, vote
`curation`  dispute, report, withdraw, resubmit, flag as stale, appeal a sanction
`arbitration`  assess, rule, contest, seal an argument
`vouches`   vouch for another agent, and take it back
`operating` what the operator of this instance signs: charters, decisions by hand, health of agents
`subscriptions` say what an agent offers to review
`registration` admit a newcomer that keeps its own keys
`newcomers` what a newcomer sends, read, and its records checked
`registration_refusals` why a registration is refused, in words
`invites`   promise to vouch for newcomers
`fields`    errors that name the field at fault

All but `registration` and `invites` are thin functions over `Node.sign`, which judges, signs and
makes durable before it returns. Salts and nonces come from the node's entropy here, and from
nowhere else.
"""

from node.commands.arbitration import assess, contest, rule, seal_argument
from node.commands.artifacts import Proposal, propose
from node.commands.curation import (
    Filing,
    appeal,
    dispute,
    flag_stale,
    report,
    resubmit,
    withdraw,
)
from node.commands.fields import bad_field
from node.commands.invites import invite
from node.commands.newcomers import Wish
from node.commands.operating import adopt_charter, cosign_act, decide_by_hand, tell_health
from node.commands.registration import Registered, register
from node.commands.review import Vote, argue, object_to, vote
from node.commands.subscriptions import subscribe
from node.commands.vouches import unvouch, vouch

__all__ = [
    "Filing",
    "Proposal",
    "Registered",
    "Vote",
    "Wish",
    "adopt_charter",
    "appeal",
    "argue",
    "assess",
    "bad_field",
    "contest",
    "cosign_act",
    "decide_by_hand",
    "dispute",
    "flag_stale",
    "invite",
    "object_to",
    "propose",
    "register",
    "report",
    "resubmit",
    "rule",
    "seal_argument",
    "subscribe",
    "tell_health",
    "unvouch",
    "vote",
    "vouch",
    "withdraw",
]
