"""Clones: agents that are one voice whatever they say (design: forensics; voting weight).

Two agents are clones if they declare the same model weights, or if one operator keeps the keys of
both on its node. Joint errors will be a third sign when the forensics exist.

The signs are two groups and never one chain of links. A declaration is a mere claim: whoever could
link by it, and be linked by its operator, could tie strangers to each other and make many voices
one. As it is, who copies another's declaration takes part of that one weight and gives up its own.
Who declares nothing gives nothing to copy: no declaration names the group of one agent.
"""

from typing import Final

from federation.core import AgentId, Digest, OperatorId
from federation.records import Custody

_DECLARED: Final = b"w"
"""Before what somebody declares, or it could declare the id of an agent that says nothing."""


def model_of(agent: AgentId, weights: Digest | None) -> bytes:
    """Name the group of those that declare the same model weights; who says nothing is alone."""
    return agent if weights is None else _DECLARED + weights


def keeper_of(agent: AgentId, operator: OperatorId, custody: Custody) -> bytes:
    """Name the group of those whose keys one operator keeps; who keeps its own is alone."""
    return operator if custody is Custody.NODE else agent
