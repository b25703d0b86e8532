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

from msgspec.structs import replace

from federation.charter.amendment import Rules
from federation.charter.community import COMMUNITY
from federation.charter.conduct import Disputes, Sanctions
from federation.charter.ranges import check_ranges
from federation.charter.schema import (
    Admission,
    Charter,
    Genesis,
    Quotas,
    Review,
    Timing,
    Trust,
)
from federation.charter.units import DAY, HOUR, MINUTE, SECOND
from federation.core import MILLION, ParameterError

__all__ = ["PRESETS", "PROTOCOL", "TEST", "Rules", "build", "preset"]

PROTOCOL: Final = 1
TEST: Final = "test"
"""The one preset whose windows may be seconds."""


_SOLO: Final = Rules(
    timing=replace(COMMUNITY.timing, leader_timer=SECOND, grace=0),
    # With one operator nobody independent could hear a contest or rule on one: what no vote
    # decides its operator does.
    review=replace(COMMUNITY.review, rule=0, contest=0, appeal=0, fast_min_watchers=1),
    # Nobody of another operator sits on a panel or looks at a report: both come to the operator.
    disputes=replace(
        COMMUNITY.disputes, q_dispute=3, d_agent=3, assess=15 * MINUTE, cooldown=6, cascade=4
    ),
    trust=replace(COMMUNITY.trust, seats=16),
    # One operator answers for all; the puzzle holds off only whom it lets in from outside.
    admission=replace(
        COMMUNITY.admission, agent_bits=5, operator_bits=8, instance_least=64, operator_agents=64
    ),
    quotas=COMMUNITY.quotas,
    sanctions=COMMUNITY.sanctions,
)

_FEDERATION: Final = Rules(
    # More members, farther apart: their messages take longer, and each cut costs more of them.
    timing=replace(
        COMMUNITY.timing,
        cut_min=MINUTE,
        leader_timer=10 * SECOND,
        grace=3 * SECOND,
        resend=3 * SECOND,
    ),
    review=replace(
        COMMUNITY.review,
        # Reviewers of five operators can stand behind a count, so that it need not be narrow.
        k=9,
        q_min=5,
        # Who watches a sensitive topic can say what its vote should look at.
        fast_high=6 * HOUR,
        # People in all time zones can follow a debate and contest its result.
        deliberate=4 * HOUR,
        contest=12 * HOUR,
        rule=12 * HOUR,
        appeal=6 * HOUR,
        # Operators that have only the protocol in common have to find each other first.
        admin=7 * DAY,
        deadline=2 * DAY,
        # The operators have agreed on no topic of low sensitivity yet, and silence of one
        # operator's agents is nobody's consent.
        topics=(),
        fast_min_watchers=5,
    ),
    # What a panel of strangers takes back it takes back clearly, or not at all.
    disputes=replace(COMMUNITY.disputes, q_dispute=7, tau_retract=500_000, cascade=16),
    trust=replace(
        COMMUNITY.trust,
        # Who may dispute has been known for a week, and to agents of three operators.
        tier2_age=168,
        tier2_operators=3,
    ),
    admission=COMMUNITY.admission,
    # What a newcomer writes is stored by every operator before anybody has judged it.
    quotas=replace(COMMUNITY.quotas, sandbox_epoch=1),
    sanctions=COMMUNITY.sanctions,
)

# Numbers marked "simulation" are of the author's published code, those marked "paper" of its text.
# What neither of them has is switched off where a value does that, and else as in `community`.
_RELEASED: Final = Rules(
    timing=COMMUNITY.timing,
    review=replace(
        COMMUNITY.review,
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
        appeal=0,
    ),
    disputes=replace(
        COMMUNITY.disputes,
        d_max=3,  # simulation
        d_agent=5,  # simulation
        r_dispute=700_000,  # simulation .7
        window=100,  # simulation 100 rounds
        timeout="retract",  # paper 4.1
    ),
    trust=replace(
        COMMUNITY.trust,
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
            COMMUNITY.trust.evidence,
            vote_strong=MILLION,  # simulation 1.0
            vote_weak=400_000,  # simulation .4
            # Nobody answers for whom it vouched.
            liability=0,
            liability_hops=0,
        ),
    ),
    # It has no newcomers; the paper's section 4.4 asks for costs, and names no numbers.
    admission=COMMUNITY.admission,
    quotas=COMMUNITY.quotas,
    sanctions=replace(COMMUNITY.sanctions, window=100),  # simulation 100; paper 50
)

_ROBUST: Final = Rules(
    timing=COMMUNITY.timing,
    review=COMMUNITY.review,
    disputes=COMMUNITY.disputes,
    # Agreement is what a crowd that is wrong together has most of: only audits count.
    trust=replace(COMMUNITY.trust, competence="audited"),
    admission=COMMUNITY.admission,
    quotas=COMMUNITY.quotas,
    sanctions=COMMUNITY.sanctions,
)

_TEST: Final = Rules(
    timing=Timing(
        epoch=5 * SECOND, cut_min=500, leader_timer=400, grace=100, resend=200, three="strict"
    ),
    review=replace(
        COMMUNITY.review,
        fast_low=SECOND,
        fast_high=0,
        deliberate=SECOND,
        commit_min=200,
        commit=5 * SECOND,
        reveal=5 * SECOND,
        contest=0,
        rule=0,
        appeal=0,
        admin=10 * SECOND,
        deadline=60 * SECOND,
        # Without classes every topic is high, so that tests meet the whole path of a vote.
        topics=(),
    ),
    disputes=replace(COMMUNITY.disputes, assess=5 * SECOND, cooldown=1, stale_window=20),
    trust=COMMUNITY.trust,
    # Nothing is asked for and nobody is counted: tests choose what they want to look at.
    admission=replace(
        COMMUNITY.admission,
        agent_bits=0,
        operator_bits=0,
        most_bits=0,
        gate_bits=0,
        instance_least=1_000_000,
        operator_agents=1_000_000,
    ),
    quotas=replace(
        COMMUNITY.quotas,
        proposals_epoch=1_000,
        sandbox_epoch=100,
        reports_epoch=100,
        flags_epoch=100,
        vouches_epoch=100,
        vouches_operator=1_000,
        vouches_family=1_000,
    ),
    sanctions=COMMUNITY.sanctions,
)

PRESETS: Final[Mapping[str, Rules]] = {
    "solo": _SOLO,
    "community": COMMUNITY,
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
    disputes: Disputes | None = None,
    trust: Trust | None = None,
    admission: Admission | None = None,
    quotas: Quotas | None = None,
    sanctions: Sanctions | None = None,
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
        disputes=disputes or rules.disputes,
        trust=trust or rules.trust,
        admission=admission or rules.admission,
        quotas=quotas or rules.quotas,
        sanctions=sanctions or rules.sanctions,
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
