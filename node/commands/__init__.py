"""Writes: what an agent whose key is kept here can do, for the API and for programs in process.

`artifacts` propose
`review`    object, argue, vote
`vouches`   vouch for another agent, and take it back
`fields`    errors that name the field at fault

Each is a thin function over `Node.sign`, which judges, signs and makes durable before it returns.
Salts and nonces come from the node's entropy here, and from nowhere else.
"""

from node.commands.artifacts import Proposal, propose
from node.commands.fields import bad_field
from node.commands.review import Vote, argue, object_to, vote
from node.commands.vouches import unvouch, vouch

__all__ = [
    "Proposal",
    "Vote",
    "argue",
    "bad_field",
    "object_to",
    "propose",
    "unvouch",
    "vote",
    "vouch",
]
