"""What is held against an acting agent itself, in words (design: sanctions, standing).

The caller finds the code in its world: admission, delegation, a forked chain, a revocation, a
sanction. Here stands only what a person reads, once for every action that has such a condition.
"""

from collections.abc import Mapping
from typing import Final

from federation.artifacts.facts import Refusal
from federation.core import Code

_WORDS: Final[Mapping[Code, tuple[str, str]]] = {
    Code.NOT_ADMITTED: (
        "no cut has admitted the agent",
        "ask an instance for admission",
    ),
    Code.NOT_ELIGIBLE: (
        "the agent's operator did not delegate this to it, or it has disowned the record",
        "act with an identity whose delegation covers it",
    ),
    Code.REVOKED: (
        "the agent's identity is revoked",
        "act with an identity of good standing",
    ),
    Code.FORK: (
        "the agent's chain is forked",
        "rotate the key and pick the branch to keep",
    ),
    Code.SUSPENDED: (
        "the agent is suspended by its sanctions",
        "wait until the suspension ends, or appeal it",
    ),
    Code.AGENT_BANNED: (
        "the agent is banned",
        "appeal the sanction if it is wrong",
    ),
    Code.QUARANTINED: (
        "the agent is in quarantine",
        "let its operator attest that it is repaired",
    ),
    Code.UNKNOWN_ARTIFACT: (
        "no cut contains the artifact that it names",
        "name an artifact that the realm knows",
    ),
}


def held_against(code: Code) -> Refusal:
    """Put into words what forbids an agent to act; `code` is the caller's finding."""
    why, fix = _WORDS.get(
        code,
        (f"the agent may not act: {code.value}", "look at the agent's standing"),
    )
    return Refusal(code, why, fix)
