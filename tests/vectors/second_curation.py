"""Schemas of the kinds of curation for the second reader, written from the reference page.

Revisions, disputes, reports, rulings, appeals, and the words of operators. Imports nothing of
`federation`.
"""

from collections.abc import Mapping
from typing import Final

from tests.vectors.second_checks import (
    AGENT,
    ID,
    INSTANCE,
    OPERATOR,
    PROPOSAL,
    WORDS,
    Check,
    ascending,
    both,
    fields,
    like,
    maybe,
    noted,
    one_of,
    sized,
    truth,
    within,
)

_CLAIM: Final = maybe(within(1, 16))
_GROUND: Final = like(r"[a-z][a-z0-9_]{0,39}")
_SOME: Final = ascending(ID, 16, 1)


def _together(body: object) -> bool:
    """Hold for a word that names round and phase, and for one that names neither."""
    return (body["round"] is None) is (body["after"] is None)  # type: ignore[index]


def _two(body: object) -> bool:
    """Hold for a finding that names two artifacts."""
    return body["artifact"] != body["of"]  # type: ignore[index]


SCHEMAS: Final[Mapping[str, tuple[frozenset[str], Check]]] = {
    "agent.health": (OPERATOR, fields(agent=ID, state=one_of("broken", "repaired"), note=WORDS)),
    "artifact.revise": (AGENT, fields(revises=ID, **PROPOSAL)),
    "artifact.withdraw": (AGENT, fields(artifact=ID, reason=WORDS)),
    "artifact.resubmit": (AGENT, noted(artifact=ID, evidence=_SOME)),
    "artifact.flag_stale": (AGENT, noted(artifact=ID, evidence=_SOME)),
    "artifact.near": (
        INSTANCE,
        both(fields(artifact=ID, of=ID, likeness=within(0, 1_000_000)), _two),
    ),
    "review.seal": (
        AGENT,
        fields(round=ID, after=ID, commitment=ID, sealed=sized(bytes, 40, 24_576)),
    ),
    "review.rule": (
        AGENT,
        noted(
            round=ID,
            after=ID,
            ruling=one_of("by_sign", "reject", "rerun", "freeze", "uphold", "reclassify"),
            ground=_GROUND,
        ),
    ),
    "dispute.file": (
        AGENT,
        noted(
            artifact=ID,
            claim=_CLAIM,
            ground=one_of("inaccurate", "unsourced", "outdated", "redundant", "harmful", "process"),
            evidence=ascending(ID, 16),
        ),
    ),
    "dispute.report": (
        AGENT,
        noted(artifact=ID, category=one_of("harmful", "illegal", "privacy", "malicious")),
    ),
    "dispute.assess": (AGENT, noted(round=ID, after=ID, report=ID, credible=truth)),
    "sanction.appeal": (AGENT, noted(sanction=ID)),
    "admin.review": (
        OPERATOR,
        both(
            fields(
                subject=ID,
                decision=one_of("keep", "retract", "hide", "show", "uphold", "reclassify"),
                reason=sized(str, 1, 500),
                round=maybe(ID),
                after=maybe(ID),
            ),
            _together,
        ),
    ),
    "charter.adopt": (
        OPERATOR,
        fields(
            number=within(1, 1_000_000),
            base=ID,
            rules=sized(bytes, 0, 32_768),
            from_tick=within(0, 2**62),
            reason=WORDS,
        ),
    ),
    "act.cosign": (OPERATOR, fields(act=ID)),
}
