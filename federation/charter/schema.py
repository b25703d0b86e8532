"""The charter: every protocol parameter of a realm, its founders and its founding members.

The rule it enforces: no protocol number lives anywhere else, all are integers, and each says its
unit and legal range by its type (`units`). There are no defaults here: a preset (`presets`)
supplies every field, so a charter on the wire is complete and has one encoding. What a charter
implies is explained by `check`; section signs (§) are the paper's.
"""

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from federation.charter.conduct import Disputes, Sanctions
from federation.charter.units import (
    Amount,
    Badge,
    Bits,
    Competence,
    Count,
    Mode,
    Number,
    Part,
    Period,
    Score,
    Sensitivity,
    Share,
    Shortfall,
    Span,
    Three,
    Ticks,
    TierNumber,
    Voting,
    Window,
)
from federation.core import AgentId, InstanceId, OperatorId, PublicKey, RecordId

MOST: int = 1_024
"""Largest list of a charter: the limit of one list on the wire."""

Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=64)]
Salt: TypeAlias = Annotated[bytes, Meta(min_length=32, max_length=32)]


class GenesisInstance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A founding instance."""

    instance: InstanceId
    """Id of its inception record."""
    operator: OperatorId
    """Who answers for it; the operator is the member, the instance its voice."""
    key: PublicKey
    """Its inception public key; the realm's id is made from these."""


class Founder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An agent that is a reviewer from the first round on."""

    agent: AgentId
    """Id of its inception record."""
    operator: OperatorId
    """Who answers for it."""
    instance: InstanceId
    """Which founding instance admitted it."""
    tier: TierNumber
    """Tier it keeps until it has `founder_interactions` of its own (§2.3)."""
    badges: Annotated[tuple[Badge, ...], Meta(max_length=2)]
    """Offices it may be drawn for, as long as the charter's tier is its own (§3.2.3, §3.3.2).

    Shown with their reason, and in the world digest.
    """


class Genesis(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What cut 0 contains (design: genesis)."""

    instances: Annotated[tuple[GenesisInstance, ...], Meta(min_length=1, max_length=MOST)]
    """Founding instances, by id."""
    operators: Annotated[tuple[OperatorId, ...], Meta(min_length=1, max_length=MOST)]
    """Founding operators, by id."""
    founders: Annotated[tuple[Founder, ...], Meta(min_length=1, max_length=MOST)]
    """Founding agents, by id."""
    records: Annotated[tuple[RecordId, ...], Meta(max_length=MOST)]
    """Ids of all genesis records, sorted: inceptions, delegates, admissions."""
    seeds: Annotated[tuple[AgentId, ...], Meta(min_length=1, max_length=MOST)] | None
    """Founders from which trust starts; nil means all of them (design: genesis)."""


class Timing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cuts, ticks and the agreement's timers (design: time; certificates)."""

    epoch: Period
    """From tick to tick; a tick moves reputation, tiers and weights (Folkmoot)."""
    cut_min: Period
    """Least distance of two cuts; bounds the load, and the wait before a round opens (Folkmoot)."""
    leader_timer: Period
    """T, how long fence 0 waits for its certificate; doubles with each fence (Folkmoot)."""
    grace: Span
    """How long a leader waits for more witnesses than a quorum (Folkmoot)."""
    resend: Period
    """How often a member repeats its own unanswered messages (Folkmoot)."""
    three: Three
    """With three operators: `strict` wants all three, `available` two and detects a lying home."""


class TopicClass(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Sensitivity of one branch of the topic tree."""

    prefix: Annotated[str, Meta(max_length=64)]
    """Topic path with '/' between its parts; empty means every topic."""
    sensitivity: Sensitivity
    """`low` may take the fast track; `high` is always voted on (§3.2.1)."""


class Review(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rounds: quorum, thresholds, phases and their lengths (§3.1 to §3.2.3)."""

    k: Number
    """Reviewers a round aims for; commit may close early at the k-th (paper 5, simulation 7)."""
    q_min: Number
    """Quorum of revealed ballots, lowered to the reviewers there are (§3.2.2: 3)."""
    tau_accept: Score
    """Normalised tally from which an artifact stands (paper .6, simulation .3)."""
    tau_reject: Score
    """Normalised tally down to which it falls (paper -.3, simulation -.2)."""
    strong: Part
    """Absolute tally from which a result counts as strong evidence (simulation .5)."""
    fast_low: Span
    """Objection window of low sensitivity (§3.2.1: 3 h)."""
    fast_high: Span
    """Objection window of high sensitivity, which is always voted on (§3.2.1: 6 h).

    It gives watchers time to say what the vote should look at; 0 begins the review at once.
    """
    fast_min_watchers: Count
    """Subscriptions that must match before silence is consent (Folkmoot)."""
    mode: Mode
    """`open`: everybody argues at once; `rounds`: in turns, one argument each; `sealed_first`:
    assessments are sealed before any is read, then discussed (§3.2.2)."""
    turns: Annotated[int, Meta(ge=1, le=5, extra={"unit": "count"})]
    """Turns of the mode `rounds`, each as long as `deliberate` (paper: 5)."""
    seal: Span
    """Time to seal an assessment, and as long to open it, in the mode `sealed_first` (Folkmoot)."""
    deliberate: Span
    """Time for arguments (paper 5 rounds, deployment 24 h)."""
    commit_min: Span
    """Shortest time for commitments, even if k are in (Folkmoot)."""
    commit: Period
    """Longest time for commitments (deployment 24 h)."""
    reveal: Period
    """Longest time for reveals; closes when all are open (deployment 12 h)."""
    contest: Span
    """Time to contest the process (Folkmoot)."""
    rule: Span
    """Time for drawn arbiters to rule; without a ruling the sign decides, and 0 leaves the
    arbiters out (§3.2.3)."""
    appeal: Span
    """Time to contest a ruling; 0 makes it final (§3.2.3)."""
    admin: Period
    """Time for operators to decide by hand; then the round times out (deployment 48 h)."""
    deadline: Period
    """Age at which a round not yet committed is void (deployment 24 h)."""
    list_most: Annotated[int, Meta(ge=1, le=900, extra={"unit": "count"})]
    """Commitments one certificate can list (Folkmoot)."""
    arguments_each: Number
    """Arguments that count per agent and round (Folkmoot)."""
    shortfall_low: Shortfall
    """What a round of low sensitivity does below quorum (§3.1)."""
    shortfall_high: Shortfall
    """What a round of high sensitivity does below quorum (§3.1)."""
    topics: Annotated[tuple[TopicClass, ...], Meta(max_length=MOST)]
    """Classes of topics; the longest matching prefix decides, an unmapped topic is high."""
    r_min: Share
    """Reputation an author needs to propose (§2.1, symbol; Folkmoot)."""
    near: Part
    """Cosine of two texts from which the second is sent to a vote (§3.1; deployment .95)."""


class EvidenceTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What each outcome says for or against an agent (design: evidence)."""

    vote_strong: Amount
    """A vote with (+) or against (-) a strong result (simulation 1.0)."""
    vote_weak: Amount
    """The same for a weak result (simulation .4)."""
    unrevealed: Amount
    """Against: a listed commitment was not revealed (Folkmoot)."""
    accepted_vote: Amount
    """For the author: accepted by a vote."""
    accepted_fast: Amount
    """For the author: accepted because nobody objected."""
    rejected: Amount
    """Against the author: rejected."""
    deliberation: Amount
    """For an argument that a reviewer of another operator answered or cited (§3.2.2)."""
    approved_retracted: Amount
    """Against each approver of an artifact that is retracted later (§3.3.1)."""
    opposed_retracted: Amount
    """For each who had voted against an artifact that is retracted later (§3.3.1)."""
    survived: Amount
    """For the author of an artifact that survives a dispute (§3.3.1)."""
    dispute_sustained: Amount
    """For the disputer whose dispute is sustained (§3.3.1)."""
    dispute_dismissed: Amount
    """Against the disputer whose dispute is dismissed (§3.3.1)."""
    unfounded_report: Amount
    """Against who filed an urgent report that proved unfounded (§3.3.2)."""
    audit: Amount
    """For a voter whom an audit finds right, or against one whom it finds wrong (Folkmoot).

    In this version no audits are drawn.
    """
    liability: Share
    """Share of an agent found bad's negative evidence that its voucher bears (Folkmoot)."""
    liability_hops: Count
    """How far along vouches that goes, halved at each hop (Folkmoot)."""
    practice: Share
    """Share of the evidence that a ballot below tier 1 counts (Folkmoot)."""


class Trust(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Reputation, competence, tiers, weights and caps (§2.3, §4.5)."""

    seats: Number
    """Members the realm is sized for: an average seat holds 2^60 / seats of trust (Folkmoot)."""
    kappa: Annotated[int, Meta(ge=1, le=256, extra={"unit": "count"})]
    """How many average seats one edge can ever bring into being: κ of the Sybil bound (Folkmoot)."""
    approval: Annotated[int, Meta(ge=1, le=255, extra={"unit": "count"})]
    """What one standing artifact that an agent approved weighs on its edge to the author; a vouch
    weighs 1 to 255, and an edge at most 255 (Folkmoot)."""
    w_max: Part
    """Largest voting weight (§2.3: 1)."""
    w_min: Part
    """Smallest voting weight of a reviewer (§2.3: .05)."""
    decay: Annotated[int, Meta(ge=0, le=500_000, extra={"unit": "ppm"})]
    """Evidence fades by e^-decay each epoch (paper .01 a round, simulation .002)."""
    window: Window
    """Epochs over which farming caps and the pairwise discount look back (simulation 100)."""
    farm_cap: Amount
    """Most positive evidence of one agent in a window (§4.5; simulation 15)."""
    farm_source_cap: Amount
    """Most positive evidence of one agent from one operator at one tick (Folkmoot)."""
    pair_discount: Number
    """D: the n-th earlier row of a pair leaves D/(D+n) of the next (Folkmoot)."""
    competence: Competence
    """How competence is estimated: agreement with others, or audits only.

    In this version no audits are drawn: with `audited` every agent stays at the prior.
    """
    voting: Voting
    """How weight is made: trust tickets, or the paper's blend, which bounds no Sybils (§2.3)."""
    gamma: Share
    """Blend: the share of reputation beside trust (§2.3: .7)."""
    squared: bool
    """Blend: square the mixture, as the author's simulation does."""
    operator_cap: Part
    """Largest share of the counted weight of one operator's agents; the cap takes no more than half of
    all weight (Folkmoot)."""
    instance_cap: Part
    """Largest share of the counted weight of one instance's agents; the cap takes no more than half of
    all weight (Folkmoot)."""
    prior_b: Part
    """Competence assumed before anything is known (Folkmoot)."""
    prior_n: Number
    """Votes which that assumption is worth (Folkmoot)."""
    b_floor: Part
    """Smallest competence (Folkmoot)."""
    audit_prior: Part
    """Audited competence: share of right votes assumed before any audit (Folkmoot)."""
    audit_n: Number
    """Audited competence: audits which that assumption is worth (Folkmoot)."""
    tier1_interactions: Count
    """Interactions an established agent needs (§2.3)."""
    tier1_r: Share
    """Reputation an established agent needs (§2.3: .4)."""
    tier2_interactions: Count
    """Interactions a trusted agent needs (§2.3)."""
    tier2_r: Share
    """Reputation a trusted agent needs (§2.3: .7)."""
    tier2_age: Ticks
    """Ticks since its admission a trusted agent needs; founders are exempt (Folkmoot)."""
    tier2_operators: Count
    """Operators through whose agents a trusted agent's trust must come, or all that there are;
    founders are exempt (Folkmoot)."""
    founder_interactions: Count
    """Interactions until which a founder keeps its tier (Folkmoot)."""
    hysteresis: Part
    """Share of its thresholds at which a tier is lost (Folkmoot)."""
    evidence: EvidenceTable
    """Amounts of evidence by outcome."""


class Admission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What joining costs, and how many may join (§4.4; design: registration)."""

    memory_kib: Annotated[int, Meta(ge=8, le=262_144, extra={"unit": "KiB"})]
    """Memory of one Argon2id hash of the puzzle (Folkmoot)."""
    passes: Annotated[int, Meta(ge=1, le=4, extra={"unit": "count"})]
    """Passes of Argon2id over that memory (Folkmoot)."""
    parts: Annotated[int, Meta(ge=1, le=16, extra={"unit": "count"})]
    """Sub-puzzles: the more, the less luck decides how long a search takes (Folkmoot)."""
    agent_bits: Bits
    """Zero bits of each sub-puzzle for an agent, at the least; joining adds more when many come.

    0 here and in `operator_bits` and `gate_bits` asks for no proof at all: only in preset `test`.
    """
    operator_bits: Bits
    """The same for an operator; it grows by as many bits as that of agents does (Folkmoot)."""
    most_bits: Bits
    """Most bits that many admissions can bring `agent_bits` to (Folkmoot)."""
    gate_bits: Annotated[int, Meta(ge=0, le=40, extra={"unit": "bits"})]
    """Zero bits of the SHA-256 gate: what junk costs before Argon2 runs (Folkmoot)."""
    target: Number
    """Admissions expected in an epoch: over twice as many add a bit, under half take one away
    (Folkmoot)."""
    instance_least: Number
    """Agents, and as many operators, that one instance may always admit in an epoch (Folkmoot)."""
    instance_share: Share
    """The same as a share of all admitted agents, where that is more (Folkmoot)."""
    operator_agents: Number
    """Agents that one operator may answer for (Folkmoot)."""
    operator_growth: Count
    """How many more for each of its agents of tier 1 or more (Folkmoot)."""


class Quotas(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one author may put into the log (§4.4)."""

    proposals_epoch: Number
    """Proposals per epoch of an agent of tier 1 or more."""
    sandbox_epoch: Count
    """Proposals per epoch of a newcomer."""
    reports_epoch: Count
    """Urgent reports per epoch of one agent (Folkmoot)."""
    flags_epoch: Count
    """Stale flags per epoch of one agent (Folkmoot)."""
    vouches_epoch: Count
    """Vouches per epoch of an agent of tier 1 or more."""
    vouches_operator: Number
    """Vouches per cut of all agents of one operator (Folkmoot)."""
    vouches_family: Number
    """Vouches per cut of all agents of one declared model family; the undeclared are one (Folkmoot)."""
    unadmitted_records: Number
    """Records of an author that no cut has admitted."""
    witness_ids: Annotated[int, Meta(ge=64, le=4_096, extra={"unit": "count"})]
    """Record ids in one witness of a cut."""


class Charter(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All rules of a realm; charter 0 is its genesis, and later ones are adopted by cosigned acts."""

    number: Count
    """0 at genesis; each adopted charter adds one."""
    protocol: Annotated[int, Meta(ge=1, le=1, extra={"unit": "version"})]
    """Protocol version; record kinds of a later version do not count."""
    preset: Annotated[str, Meta(min_length=1, max_length=32)]
    """Name of the preset it started from; `test` allows windows of seconds."""
    name: Name
    """Name of the realm, for people."""
    salt: Salt
    """The random bytes in the realm's id."""
    genesis: Genesis
    """Founders and founding members; the same in every charter of a realm."""
    timing: Timing
    """Cuts, ticks and timers."""
    review: Review
    """Rounds."""
    disputes: Disputes
    """Disputes, reports, resubmissions."""
    trust: Trust
    """Reputation and weight."""
    admission: Admission
    """Joining."""
    quotas: Quotas
    """Limits per author."""
    sanctions: Sanctions
    """What violations bring."""
