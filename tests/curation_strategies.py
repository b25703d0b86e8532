"""Hypothesis strategies for the bodies of curation: what happens to artifacts after they stand.

`BODIES[kind]` gives valid bodies of a kind, every optional field drawn, as in `strategies`.
"""

from collections.abc import Mapping
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from federation.records import (
    SEALED_ARGUMENT_MOST,
    ActCosign,
    AdminReview,
    AgentHealth,
    Appeal,
    Assess,
    Body,
    Category,
    CharterAdopt,
    Decree,
    DisputeFile,
    DisputeReport,
    FlagStale,
    Ground,
    Health,
    Kind,
    NearDuplicate,
    Resubmit,
    Revise,
    Rule,
    Ruled,
    SealArgument,
    Withdraw,
)
from tests.field_strategies import (
    REVIEW,
    claims,
    digests,
    evidence,
    languages,
    lengths,
    noted,
    sets,
    tags,
    texts,
    topics,
    words,
)

_PHASE: Final = st.just((None, None)) | st.tuples(digests, digests)
"""Round and phase of an operator's word: both or neither."""
_RULES_MOST: Final = 32 * 1024

BODIES: Final[Mapping[Kind, SearchStrategy[Body]]] = {
    Kind.HEALTH: st.builds(AgentHealth, agent=digests, state=st.sampled_from(Health), note=words),
    Kind.REVISE: st.builds(
        Revise,
        topics=sets(topics, 4, least=1),
        claims=claims,
        cites=sets(digests, 64),
        sources=sets(digests, 16),
        text_hash=digests,
        text_len=lengths,
        text_id=digests,
        lang=languages,
        revises=digests,
    ),
    Kind.WITHDRAW: st.builds(Withdraw, artifact=digests, reason=words),
    Kind.RESUBMIT: noted(Resubmit, artifact=digests, evidence=sets(digests, 16, least=1)),
    Kind.FLAG_STALE: noted(FlagStale, artifact=digests, evidence=sets(digests, 16, least=1)),
    Kind.NEAR: st.builds(
        lambda pair, likeness: NearDuplicate(artifact=pair[0], of=pair[1], likeness=likeness),
        st.lists(digests, min_size=2, max_size=2, unique=True),
        st.integers(0, 1_000_000),
    ),
    Kind.SEAL: st.builds(
        SealArgument,
        **REVIEW,
        commitment=digests,
        sealed=st.binary(min_size=40, max_size=200) | st.just(bytes(SEALED_ARGUMENT_MOST)),
    ),
    Kind.RULE: noted(Rule, **REVIEW, ruling=st.sampled_from(Ruled), ground=tags),
    Kind.DISPUTE: noted(
        DisputeFile,
        artifact=digests,
        claim=st.none() | st.integers(1, 16),
        ground=st.sampled_from(Ground),
        evidence=evidence,
    ),
    Kind.REPORT: noted(DisputeReport, artifact=digests, category=st.sampled_from(Category)),
    Kind.ASSESS: noted(Assess, **REVIEW, report=digests, credible=st.booleans()),
    Kind.APPEAL: noted(Appeal, sanction=digests),
    Kind.ADMIN: st.builds(
        lambda phase, **rest: AdminReview(round=phase[0], after=phase[1], **rest),
        phase=_PHASE,
        subject=digests,
        decision=st.sampled_from(Decree),
        reason=texts(500, least=1),
    ),
    Kind.ADOPT: st.builds(
        CharterAdopt,
        number=st.integers(1, 1_000_000),
        base=digests,
        rules=st.binary(max_size=200) | st.just(b"\x80" * _RULES_MOST),
        from_tick=st.integers(0, 2**62),
        reason=words,
    ),
    Kind.COSIGN: st.builds(ActCosign, act=digests),
}
