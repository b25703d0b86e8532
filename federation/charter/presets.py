"""Named sets of rules to start a charter from (design: charter presets).

`community` is the default. `solo` is one instance with a few agents. `test` counts in seconds;
only there may windows be that short. A preset fixes everything but the genesis.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from federation.charter.ranges import check_ranges
from federation.charter.schema import (
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
        w_max=MILLION,
        w_min=50_000,
        decay=10_000,
        window=100,
        farm_cap=15 * MILLION,
        farm_source_cap=3 * MILLION,
        pair_discount=5,
        competence="agreement",
        voting="ticketed",
        operator_cap=100_000,
        instance_cap=250_000,
        prior_b=700_000,
        prior_n=20,
        b_floor=20_000,
        tier1_interactions=5,
        tier1_r=400_000,
        tier2_interactions=20,
        tier2_r=700_000,
        tier2_age=30,
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
            later_retracted=2 * MILLION,
            practice=250_000,
        ),
    ),
    quotas=Quotas(
        proposals_epoch=10,
        sandbox_epoch=2,
        unadmitted_records=8,
        witness_ids=4_096,
    ),
)

_SOLO: Final = Rules(
    timing=replace(_COMMUNITY.timing, leader_timer=SECOND, grace=0),
    # With one operator nobody independent could hear a contest or rule on one.
    review=replace(_COMMUNITY.review, rule=0, contest=0, fast_min_watchers=1),
    trust=replace(_COMMUNITY.trust, seats=16),
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
    quotas=replace(_COMMUNITY.quotas, proposals_epoch=1_000, sandbox_epoch=100),
)

PRESETS: Final[Mapping[str, Rules]] = {"solo": _SOLO, "community": _COMMUNITY, TEST: _TEST}


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
