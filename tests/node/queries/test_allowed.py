"""What an agent may do now, by the protocol's own checks, with what would change it."""

from dataclasses import replace

from federation.core import Code
from federation.records import Health, Kind
from node.queries.allowed import Doing, MayDo, QuotaPage, allowed, quotas
from tests.federation.protocol.docket import Docket


def may(docket: Docket, index: int) -> dict[Doing, MayDo]:
    return {one.what: one for one in allowed(docket.world, docket.name(index))}


def codes(docket: Docket, index: int) -> dict[str, Code | None]:
    return {what.value: one.code for what, one in may(docket, index).items()}


def put(docket: Docket, index: int, **changes: object) -> None:
    """Give an agent another standing."""
    agents, name = docket.state.agents, docket.name(index)
    agents[name] = replace(agents[name], **changes)  # type: ignore[arg-type]
    docket.tick(by=0)


def left(docket: Docket, index: int) -> dict[str, QuotaPage]:
    return {one.name: one for one in quotas(docket.world, docket.name(index))}


def test_every_act_is_told_and_a_refusal_says_what_would_change_it() -> None:
    docket = Docket()
    docket.frivolous(1, times=10)
    docket.tick()
    for who in range(3):
        told = may(docket, who)

        assert set(told) == set(Doing)
        assert all((one.code is None) is one.allowed for one in told.values())
        assert all((one.change is None) is one.allowed for one in told.values())


def test_a_suspended_or_banned_agent_may_only_appeal() -> None:
    for points, code in ((10, Code.SUSPENDED), (16, Code.AGENT_BANNED)):
        docket = Docket()
        docket.frivolous(1, times=points)
        docket.tick()
        found = codes(docket, 1)

        assert found.pop("appeal") is None
        assert set(found.values()) == {code}


def test_a_quarantined_agent_practises_but_its_votes_do_not_count() -> None:
    docket = Docket()
    docket.says(1, Health.BROKEN)
    docket.tick()
    found = codes(docket, 1)

    assert (found["vote"], found["object"]) == (Code.QUARANTINED, Code.QUARANTINED)
    assert (found["practice"], found["argue"]) == (None, None)


def test_a_newcomer_is_told_which_tier_each_act_asks_for() -> None:
    docket = Docket()
    put(docket, 1, tier=0, weight=0, founder=None)
    found = codes(docket, 1)

    assert (found["vote"], found["vouch"]) == (Code.NOT_ELIGIBLE, Code.NOT_ELIGIBLE)
    assert found["dispute"] is Code.DISPUTER_TIER
    assert (found["arbitrate"], found["moderate"]) == (Code.NOT_DRAWN, Code.NOT_MODERATOR)
    assert found["practice"] is None
    assert "ticket" in str(may(docket, 1)[Doing.VOTE].change)


def test_reputation_and_delegation_are_looked_at() -> None:
    docket = Docket()
    put(docket, 1, r=docket.state.charter.review.r_min - 1)
    put(docket, 2, r=docket.state.charter.disputes.r_dispute - 1)
    put(docket, 3, scope=frozenset({Kind.COMMIT.value}))

    assert codes(docket, 1)["propose"] is Code.NOT_ELIGIBLE
    assert codes(docket, 2)["dispute"] is Code.DISPUTER_REPUTATION
    assert codes(docket, 3)["propose"] is Code.NOT_ELIGIBLE
    assert codes(docket, 3)["vote"] is None


def test_a_quota_that_is_used_up_closes_its_act() -> None:
    docket = Docket()
    tick = docket.state.tick
    put(docket, 1, r=900_000, proposed=(tick, 10**6), reports=(tick, 10**6))
    put(docket, 2, r=900_000, disputes=(tick,) * docket.state.charter.disputes.d_agent)

    assert codes(docket, 1)["propose"] is Code.OVER_QUOTA
    assert codes(docket, 1)["report"] is Code.OVER_QUOTA
    assert codes(docket, 2)["dispute"] is Code.DISPUTE_LIMIT
    assert left(docket, 1)["proposals_epoch"].left == 0


def test_a_rate_limit_and_probation_show_in_the_quotas() -> None:
    docket = Docket(divisor=4)
    docket.frivolous(1, times=4)
    docket.frivolous(2, times=6)
    docket.tick()
    given = docket.state.charter.quotas

    assert left(docket, 0)["proposals_epoch"].left == given.proposals_epoch
    limited = left(docket, 1)["proposals_epoch"]
    assert (limited.charter, limited.left) == (
        given.proposals_epoch,
        max(1, given.proposals_epoch // 4),
    )
    assert "sandbox_epoch" in left(docket, 2)


def test_who_has_nothing_to_appeal_is_told_so() -> None:
    assert codes(Docket(), 1)["appeal"] is Code.UNKNOWN_SANCTION
