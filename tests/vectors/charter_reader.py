"""A second reading of charters: a table of every field and its legal range, and the four hashes.

Imports nothing of `federation`; the ranges are those of the parameter reference.
"""

from typing import Final

from tests.vectors.agreement_reader import (
    HASH,
    code_of,
    fields,
    integer,
    letters,
    listed,
    maybe,
    one_of,
    pack,
    tagged_hash,
    truth,
)
from tests.vectors.agreement_rows import OK, Row, as_bytes, as_list, as_row, plain, unhex, word
from tests.vectors.second_reader import read_canonical

_DAY: Final = 24 * 3_600_000
_SPAN: Final = integer(0, 31 * _DAY)
_PERIOD: Final = integer(10, 31 * _DAY)
_SHARE: Final = integer(0, 1_000_000)
_PART: Final = integer(1, 1_000_000)
_SCORE: Final = integer(-1_000_000, 1_000_000)
_AMOUNT: Final = integer(0, 100_000_000)
_COUNT: Final = integer(0, 1_000_000)
_NUMBER: Final = integer(1, 1_000_000)
_SHORTFALL: Final = one_of("fast_track", "arbitrate", "reject")
_MOST: Final = 1_024

_GENESIS: Final = fields(
    instances=listed(fields(instance=HASH, operator=HASH, key=HASH), _MOST, 1),
    operators=listed(HASH, _MOST, 1),
    founders=listed(
        fields(
            agent=HASH,
            operator=HASH,
            instance=HASH,
            tier=integer(0, 2),
            badges=listed(one_of("arbiter", "moderator"), 2),
        ),
        _MOST,
        1,
    ),
    records=listed(HASH, _MOST),
    seeds=maybe(listed(HASH, _MOST, 1)),
)
_TIMING: Final = fields(
    epoch=_PERIOD,
    cut_min=_PERIOD,
    leader_timer=_PERIOD,
    grace=_SPAN,
    resend=_PERIOD,
    three=one_of("strict", "available"),
)
_REVIEW: Final = fields(
    k=_NUMBER,
    q_min=_NUMBER,
    tau_accept=_SCORE,
    tau_reject=_SCORE,
    strong=_PART,
    fast_low=_SPAN,
    fast_high=_SPAN,
    fast_min_watchers=_COUNT,
    mode=one_of("open", "rounds", "sealed_first"),
    turns=integer(1, 5),
    seal=_SPAN,
    deliberate=_SPAN,
    commit_min=_SPAN,
    commit=_PERIOD,
    reveal=_PERIOD,
    contest=_SPAN,
    rule=_SPAN,
    appeal=_SPAN,
    admin=_PERIOD,
    deadline=_PERIOD,
    list_most=integer(1, 900),
    arguments_each=_NUMBER,
    shortfall_low=_SHORTFALL,
    shortfall_high=_SHORTFALL,
    topics=listed(fields(prefix=letters(0, 64), sensitivity=one_of("low", "high")), _MOST),
    r_min=_SHARE,
    near=_PART,
)
_TICKS: Final = integer(0, 100_000)
_WINDOW: Final = integer(1, 100_000)
_DISPUTES: Final = fields(
    q_dispute=_NUMBER,
    tau_retract=_PART,
    d_max=_COUNT,
    d_agent=_COUNT,
    r_dispute=_SHARE,
    window=_WINDOW,
    frivolous=_SHARE,
    timeout=one_of("keep", "retract"),
    assess=_PERIOD,
    resub_max=_COUNT,
    cooldown=_TICKS,
    cascade=_NUMBER,
    stale_window=_WINDOW,
)
_EVIDENCE: Final = fields(
    vote_strong=_AMOUNT,
    vote_weak=_AMOUNT,
    unrevealed=_AMOUNT,
    accepted_vote=_AMOUNT,
    accepted_fast=_AMOUNT,
    rejected=_AMOUNT,
    deliberation=_AMOUNT,
    approved_retracted=_AMOUNT,
    opposed_retracted=_AMOUNT,
    survived=_AMOUNT,
    dispute_sustained=_AMOUNT,
    dispute_dismissed=_AMOUNT,
    unfounded_report=_AMOUNT,
    audit=_AMOUNT,
    liability=_SHARE,
    liability_hops=_COUNT,
    practice=_SHARE,
)
_TRUST: Final = fields(
    seats=_NUMBER,
    kappa=integer(1, 256),
    approval=integer(1, 255),
    w_max=_PART,
    w_min=_PART,
    decay=integer(0, 500_000),
    window=integer(1, 100_000),
    farm_cap=_AMOUNT,
    farm_source_cap=_AMOUNT,
    pair_discount=_NUMBER,
    competence=one_of("agreement", "audited"),
    voting=one_of("ticketed", "blend"),
    gamma=_SHARE,
    squared=truth,
    operator_cap=_PART,
    instance_cap=_PART,
    prior_b=_PART,
    prior_n=_NUMBER,
    b_floor=_PART,
    audit_prior=_PART,
    audit_n=_NUMBER,
    tier1_interactions=_COUNT,
    tier1_r=_SHARE,
    tier2_interactions=_COUNT,
    tier2_r=_SHARE,
    tier2_age=integer(0, 100_000),
    tier2_operators=_COUNT,
    founder_interactions=_COUNT,
    hysteresis=_PART,
    evidence=_EVIDENCE,
)
_BITS: Final = integer(0, 32)
_ADMISSION: Final = fields(
    memory_kib=integer(8, 256 * 1_024),
    passes=integer(1, 4),
    parts=integer(1, 16),
    agent_bits=_BITS,
    operator_bits=_BITS,
    most_bits=_BITS,
    gate_bits=integer(0, 40),
    target=_NUMBER,
    instance_least=_NUMBER,
    instance_share=_SHARE,
    operator_agents=_NUMBER,
    operator_growth=_COUNT,
)
_QUOTAS: Final = fields(
    proposals_epoch=_NUMBER,
    sandbox_epoch=_COUNT,
    vouches_epoch=_COUNT,
    vouches_operator=_NUMBER,
    vouches_family=_NUMBER,
    unadmitted_records=_NUMBER,
    witness_ids=integer(64, 4_096),
    reports_epoch=_COUNT,
    flags_epoch=_COUNT,
)
_SANCTIONS: Final = fields(
    window=_WINDOW,
    warning=_NUMBER,
    limit=_NUMBER,
    probation=_NUMBER,
    suspension=_NUMBER,
    ban=_NUMBER,
    content=_COUNT,
    conduct=_COUNT,
    coordination=_COUNT,
    abuse=_COUNT,
    unrevealed_free=_COUNT,
    unsourced_free=_COUNT,
    divisor=_NUMBER,
    suspended=_NUMBER,
    inherited=_SHARE,
    quarantine=_WINDOW,
    extensions=_COUNT,
    sample=_NUMBER,
    odds=_NUMBER,
)
_CHARTER: Final = fields(
    number=_COUNT,
    protocol=integer(1, 1),
    preset=letters(1, 32),
    name=letters(1, 64),
    salt=HASH,
    genesis=_GENESIS,
    timing=_TIMING,
    review=_REVIEW,
    disputes=_DISPUTES,
    trust=_TRUST,
    admission=_ADMISSION,
    quotas=_QUOTAS,
    sanctions=_SANCTIONS,
)


def changed(charter: object, case: Row) -> bytes:
    """Give the bytes of a refused case: its own, or those of a changed charter."""
    if "bytes" in case:
        return unhex(case, "bytes")
    content = read_canonical(pack(charter))
    *way, last = word(case, "drop" if "drop" in case else "set").split("/")
    at = content
    for step in way:
        at = at[int(step)] if isinstance(at, list) else as_row(at)[step]
    assert isinstance(at, dict)
    if "drop" in case:
        del at[last]
    else:
        at[last] = plain(case["value"])
    return pack(content)


def judge(raw: bytes) -> str:
    """Give OK or the code under which the bytes of a charter are refused."""
    return code_of(raw, _CHARTER, most=1_048_576) or OK


def charter_hash(raw: bytes) -> bytes:
    """Hash the bytes of a charter."""
    return tagged_hash("charter", raw)


def realm(raw: bytes) -> bytes:
    """Name the realm of a charter: format 1, name, salt, sorted inception keys of instances."""
    charter = as_row(read_canonical(raw))
    instances = as_list(as_row(charter["genesis"])["instances"])
    keys = sorted(as_bytes(as_row(one)["key"]) for one in instances)
    return tagged_hash("realm", pack([1, charter["name"], charter["salt"], keys]))


def cut0(raw: bytes) -> bytes:
    """Give the digest of cut 0."""
    return tagged_hash("cut0", realm(raw) + charter_hash(raw))


def beacon0(raw: bytes) -> bytes:
    """Give the first beacon."""
    return tagged_hash("beacon", realm(raw))
