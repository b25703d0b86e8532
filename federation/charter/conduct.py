"""Two sections of the charter: disputes with what follows from them, and sanctions (§3.3, §3.4)."""

import msgspec

from federation.charter.units import Count, Number, Outcome, Part, Period, Share, Ticks, Window


class Disputes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Disputes, urgent reports, and the way back (§3.3)."""

    q_dispute: Number
    """Quorum of a dispute, which is never lowered: too few go to arbitration (paper > q_min)."""
    tau_retract: Part
    """Normalised tally against an artifact from which it is retracted (paper > tau_accept)."""
    d_max: Count
    """Disputes of one artifact; after them it is final (§3.3.1, symbol; simulation 3)."""
    d_agent: Count
    """Disputes that one agent may file in a window (§3.3.1, symbol; simulation 5)."""
    r_dispute: Share
    """Reputation that a disputer needs (§3.3.1, symbol; simulation .7)."""
    window: Window
    """Ticks over which disputes of an agent are counted (simulation 100 rounds)."""
    frivolous: Share
    """Share of the weight against an artifact below which its dispute was frivolous (Folkmoot)."""
    timeout: Outcome
    """What a dispute that nobody decides does: the paper retracts, we keep (ADR 39)."""
    assess: Period
    """Time for a moderator to look at an urgent report (§3.3.2: 1 h)."""
    resub_max: Count
    """Resubmissions of one artifact (§2.1, symbol; deployment 3)."""
    cooldown: Ticks
    """Ticks from its retraction until it may be resubmitted (§2.1, symbol)."""
    cascade: Number
    """Rounds that one cut opens by itself, for lost support or a banned author (Folkmoot)."""
    stale_window: Window
    """Ticks after which a stale flag that nobody took up lapses (Folkmoot)."""


class Sanctions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The ladder: points in a window, and what each level takes (§3.4)."""

    window: Window
    """Ticks for which a violation counts (paper 50 rounds, simulation 100)."""
    warning: Number
    """Points of level 1: a notice."""
    limit: Number
    """Points of level 2: quotas are divided."""
    probation: Number
    """Points of level 3: half the weight, and only the sandbox."""
    suspension: Number
    """Points of level 4: no review, no dispute, no proposal."""
    ban: Number
    """Points of level 5: the identity ends."""
    content: Count
    """Points for an artifact rejected as harmful, or repeatedly as unsourced (Folkmoot)."""
    conduct: Count
    """Points for a frivolous dispute, an unfounded report, or ballots left sealed (Folkmoot)."""
    coordination: Count
    """Points for a finding of collusion (Folkmoot)."""
    abuse: Count
    """Points for what records prove: a false proof, two signatures of one slot (Folkmoot)."""
    unrevealed_free: Count
    """Ballots that may stay sealed in a window before it is a violation (Folkmoot)."""
    unsourced_free: Count
    """Rejections as unsourced in a window before it is a violation (Folkmoot)."""
    divisor: Number
    """By how much level 2 divides quotas (Folkmoot)."""
    suspended: Number
    """Windows for which level 4 lasts at the least (Folkmoot)."""
    inherited: Share
    """Share of an operator's points that its new agents begin with (Folkmoot)."""
    quarantine: Window
    """Ticks for which a quarantine lasts (Folkmoot)."""
    extensions: Count
    """How often a quarantine is extended before it counts as conduct (Folkmoot)."""
    sample: Number
    """Votes with a later outcome that are needed to tell broken from malicious (Folkmoot)."""
    odds: Number
    """Likelihood ratio, in bits, from which an agent is told to be broken, or inverted (Folkmoot)."""
