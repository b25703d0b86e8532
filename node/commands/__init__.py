"""Writes: what an agent whose key is kept here can do, for the API and for programs in process.

`artifacts` propose
`review`    object, argue, vote
`vouches`   vouch for another agent, and take it back
`registration` admit a newcomer that keeps its own keys
`newcomers` what a newcomer sends, read, and its records checked
`registration_refusals` why a registration is refused, in words
`invites`   promise to vouch for newcomers
`fields`    errors that name the field at fault

All but `registration` and `invites` are thin functions over `Node.sign`, which judges, signs and
makes durable before it returns. Salts and nonces come from the node's entropy here, and from
nowhere else.
"""

from node.commands.artifacts import Proposal, propose
from node.commands.fields import bad_field
from node.commands.invites import invite
from node.commands.newcomers import Wish
from node.commands.registration import Registered, register
from node.commands.review import Vote, argue, object_to, vote
from node.commands.vouches import unvouch, vouch

__all__ = [
    "Proposal",
    "Registered",
    "Vote",
    "Wish",
    "argue",
    "bad_field",
    "invite",
    "object_to",
    "propose",
    "register",
    "unvouch",
    "vote",
    "vouch",
]
