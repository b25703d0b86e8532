"""Named sets of rules to start a charter from (design: charter presets).

`solo`        one instance with a few agents
`community`   the default: a few operators who know each other
`federation`  several operators who have only the protocol in common
`released`    the paper's published simulation, to reproduce it; bounds no Sybils
`robust`      `community` with competence from audits only
`test`        counts in seconds; only there may windows be that short

A preset fixes everything but the genesis.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from federation.charter.ranges import check_ranges
from federation.charter.schema import (
    Admission,
    Charter,
    EvidenceTable,
    Genesis,
    Quotas,
    Review,
    Timing,
    TopicClass,
    Trust,
)
from federation.charter.units import DAY, HOUR, MINUTE, SECOND
from federation.core import MILLION, ParameterError

PROTOCOL: Final = 1
TEST: Final = "test"
"""The one preset whose windows may be seconds."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The sections of a charter that a preset fixes."""

    timing: Timing
    review: Review
    trust: Trust
    admission: Admission
    quotas: Quotas


_COMMUNITY: Final = Rules(
    timing=Timing(
        epoch=HOUR,
        cut_min=30 * SECOND,
        leader_timer=5 * SECOND,
        grace=2 * SECOND,
        resend=2 * SECOND,
        three="strict",
    ),
    review=Review(
        k=7,
        q_min=3,
        tau_accept=300_000,
        tau_reject=-200_000,
        strong=500_000,
        fast_low=3 * HOUR,
        fast_high=6 * HOUR,
        fast_min_watchers=3,
        deliberate=HOUR,
        commit_min=2 * MINUTE,
        commit=2 * HOUR,
        reveal=HOUR,
        contest=30 * MINUTE,
        rule=6 * HOUR,
        deadline=DAY,
        list_most=900,
        arguments_each=5,
        shortfall_low="fast_track",
        shortfall_high="reject",
        topics=(TopicClass(prefix="notes", sensitivity="low"),),
        r_min=250_000,
    ),
    trust=Trust(
        seats=100,
        kappa=16,
        approval=16,
        w_max=MILLION,
        w_min=50_000,
        decay=10_000,
        window=100,
        farm_cap=15 * MILLION,
        farm_source_cap=3 * MILLION,
        pair_discount=5,
        competence="agreement",
        voting="ticketed",
        gamma=700_000,
        squared=False,
        operator_cap=100_000,
        instance_cap=250_000,
        prior_b=700_000,
        prior_n=20,
        b_floor=20_000,
        audit_prior=600_000,
        audit_n=8,
        tier1_interactions=5,
        tier1_r=400_000,
        tier2_interactions=20,
        tier2_r=700_000,
        tier2_age=30,
        tier2_operators=2,
        founder_interactions=20,
        hysteresis=800_000,
        evidence=EvidenceTable(
            vote_strong=MILLION,
            vote_weak=400_000,
            unrevealed=MILLION,
            accepted_vote=MILLION,
            accepted_fast=250_000,
            rejected=MILLION,
            deliberation=20_000,
            approved_retracted=2 * MILLION,
            opposed_retracted=MILLION,
            survived=50_000,
            dispute_sustained=MILLION,
            dispute_dismissed=500_000,
            unfounded_report=2 * MILLION,
            audit=3 * MILLION,
            liability=250_000,
            liability_hops=2,
            practice=250_000,
        ),
    ),
    admission=Admission(
        # Argon2id at 16 MiB takes 10 ms: 20 s for an agent, 160 s for an operator, 40 ms to check.
        memory_kib=16_384,
        passes=1,
        parts=4,
        agent_bits=9,
        operator_bits=12,
        most_bits=16,
        # To search this costs whoever is quick about it more than the one hash that it buys.
        gate_bits=18,
        target=4,
        instance_least=8,
        instance_share=50_000,
        operator_agents=8,
        operator_growth=4,
    ),
    quotas=Quotas(
        proposals_epoch=10,
        sandbox_epoch=2,
        vouches_epoch=3,
        vouches_operator=4,
        vouches_family=8,
        unadmitted_records=8,
        witness_ids=4_096,
    ),
)

_SOLO: Final = Rules(
    timing=replace(_COMMUNITY.timing, leader_timer=SECOND, grace=0),
    # With one operator nobody independent could hear a contest or rule on one.
    review=replace(_COMMUNITY.review, rule=0, contest=0, fast_min_watchers=1),
    trust=replace(_COMMUNITY.trust, seats=16),
    # One operator answers for all; the puzzle holds off only whom it lets in from outside.
    admission=replace(
        _COMMUNITY.admission, agent_bits=5, operator_bits=8, instance_least=64, operator_agents=64
    ),
    quotas=_COMMUNITY.quotas,
)

_FEDERATION: Final = Rules(
    # More members, farther apart: their messages take longer, and each cut costs more of them.
    timing=replace(
        _COMMUNITY.timing,
        cut_min=MINUTE,
        leader_timer=10 * SECOND,
        grace=3 * SECOND,
        resend=3 * SECOND,
    ),
    review=replace(
        _COMMUNITY.review,
        # Reviewers of five operators can stand behind a count, so that it need not be narrow.
        k=9,
        q_min=5,
        # People in all time zones can follow a debate and contest its result.
        deliberate=4 * HOUR,
        contest=12 * HOUR,
        deadline=2 * DAY,
        # The operators have agreed on no topic of low sensitivity yet, and silence of one
        # operator's agents is nobody's consent.
        topics=(),
        fast_min_watchers=5,
    ),
    trust=replace(
        _COMMUNITY.trust,
        # Who may dispute has been known for a week, and to agents of three operators.
        tier2_age=168,
        tier2_operators=3,
    ),
    admission=_COMMUNITY.admission,
    # What a newcomer writes is stored by every operator before anybody has judged it.
    quotas=replace(_COMMUNITY.quotas, sandbox_epoch=1),
)

# Numbers marked "simulation" are of the author's published code, those marked "paper" of its text.
# What neither of them has is switched off where a value does that, and else as in `community`.
_RELEASED: Final = Rules(
    timing=_COMMUNITY.timing,
    review=replace(
        _COMMUNITY.review,
        k=7,  # simulation
        q_min=3,  # simulation
        tau_accept=300_000,  # simulation .3
        tau_reject=-200_000,  # simulation -.2
        strong=500_000,  # simulation .5
        # The simulation votes on everything: without classes every topic is high.
        topics=(),
        # It knows no contest and no ruling.
        contest=0,
        rule=0,
    ),
    trust=replace(
        _COMMUNITY.trust,
        voting="blend",  # paper 2.3
        gamma=700_000,  # paper 2.3: .7
        squared=True,  # simulation
        w_max=MILLION,  # paper 2.3: 1
        w_min=50_000,  # paper 2.3: .05
        decay=2_000,  # simulation .002; paper .01
        farm_cap=15 * MILLION,  # simulation 15 ...
        window=100,  # ... over 100 rounds
        # It has that cap only: none by source, and no discount for pairs (here .01 % at most).
        farm_source_cap=15 * MILLION,
        pair_discount=MILLION,
        operator_cap=MILLION,
        instance_cap=MILLION,
        # The widest edge there is: the paper caps none.
        kappa=256,
        tier1_interactions=5,  # paper 2.3, as the next three
        tier1_r=400_000,
        tier2_interactions=20,
        tier2_r=700_000,
        tier2_age=0,
        tier2_operators=0,
        # A tier is lost at the threshold that gave it.
        hysteresis=MILLION,
        evidence=replace(
            _COMMUNITY.trust.evidence,
            vote_strong=MILLION,  # simulation 1.0
            vote_weak=400_000,  # simulation .4
            # Nobody answers for whom it vouched.
            liability=0,
            liability_hops=0,
        ),
    ),
    # It has no newcomers; the paper's section 4.4 asks for costs, and names no numbers.
    admission=_COMMUNITY.admission,
    quotas=_COMMUNITY.quotas,
)

_ROBUST: Final = Rules(
    timing=_COMMUNITY.timing,
    review=_COMMUNITY.review,
    # Agreement is what a crowd that is wrong together has most of: only audits count.
    trust=replace(_COMMUNITY.trust, competence="audited"),
    admission=_COMMUNITY.admission,
    quotas=_COMMUNITY.quotas,
)

_TEST: Final = Rules(
    timing=Timing(
        epoch=5 * SECOND, cut_min=500, leader_timer=400, grace=100, resend=200, three="strict"
    ),
    review=replace(
        _COMMUNITY.review,
        fast_low=SECOND,
        fast_high=2 * SECOND,
        deliberate=SECOND,
        commit_min=200,
        commit=5 * SECOND,
        reveal=5 * SECOND,
        contest=0,
        rule=0,
        deadline=60 * SECOND,
        # Without classes every topic is high, so that tests meet the whole path of a vote.
        topics=(),
    ),
    trust=_COMMUNITY.trust,
    # Nothing is asked for and nobody is counted: tests choose what they want to look at.
    admission=replace(
        _COMMUNITY.admission,
        agent_bits=0,
        operator_bits=0,
        most_bits=0,
        gate_bits=0,
        instance_least=1_000_000,
        operator_agents=1_000_000,
    ),
    quotas=replace(
        _COMMUNITY.quotas,
        proposals_epoch=1_000,
        sandbox_epoch=100,
        vouches_epoch=100,
        vouches_operator=1_000,
        vouches_family=1_000,
    ),
)

PRESETS: Final[Mapping[str, Rules]] = {
    "solo": _SOLO,
    "community": _COMMUNITY,
    "federation": _FEDERATION,
    "released": _RELEASED,
    "robust": _ROBUST,
    TEST: _TEST,
}


def preset(name: str) -> Rules:
    """Give the rules of a preset; raises ParameterError if there is none of that name."""
    found = PRESETS.get(name)
    if found is None:
        raise ParameterError(
            "preset refused",
            why=f"there is no preset {name!r}",
            fix=f"choose one of {', '.join(PRESETS)}",
        )
    return found


def build(
    base: str,
    *,
    name: str,
    salt: bytes,
    genesis: Genesis,
    number: int = 0,
    timing: Timing | None = None,
    review: Review | None = None,
    trust: Trust | None = None,
    admission: Admission | None = None,
    quotas: Quotas | None = None,
) -> Charter:
    """Make a charter from the preset `base`; a section that is given replaces the preset's.

    To change a few fields: `msgspec.structs.replace(preset(base).review, k=5)`. Lists of ids in
    `genesis` are sorted here. Raises ParameterError if any value is out of its range; whether
    the whole makes sense is told by `check`.
    """
    rules = preset(base)
    charter = Charter(
        number=number,
        protocol=PROTOCOL,
        preset=base,
        name=name,
        salt=salt,
        genesis=_sorted(genesis),
        timing=timing or rules.timing,
        review=review or rules.review,
        trust=trust or rules.trust,
        admission=admission or rules.admission,
        quotas=quotas or rules.quotas,
    )
    check_ranges(charter)
    return charter


def _sorted(genesis: Genesis) -> Genesis:
    seeds = genesis.seeds
    return Genesis(
        instances=tuple(sorted(genesis.instances, key=lambda row: row.instance)),
        operators=tuple(sorted(genesis.operators)),
        founders=tuple(sorted(genesis.founders, key=lambda row: row.agent)),
        records=tuple(sorted(genesis.records)),
        seeds=None if seeds is None else tuple(sorted(seeds)),
    )
