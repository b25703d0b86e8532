"""How long joining takes, against the protocol's own account of who has joined."""

from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import Admission, Charter, TopicClass, preset
from federation.charter.units import HOUR, MINUTE
from federation.protocol.joining import Joining
from federation.records import Role
from federation.trust.capture_pace import (
    MOST_EPOCHS,
    Door,
    Pace,
    cheapest,
    fastest,
    spreading,
    standing,
)
from node.cli.charter_cmd import imagined
from tests.builders import named

COMMUNITY = imagined("community", operators=4, founders=12)


def with_rules(**changes: int) -> Charter:
    return replace(COMMUNITY, admission=replace(COMMUNITY.admission, **changes))


def joined(charter: Charter, door: Door, *, operators: int, agents: int) -> Pace:
    """Join one by one, asking the protocol's account each time: brute force."""
    rules, takes = charter.admission, standing(charter)
    account = Joining(rules=rules, bits=door.bits, beacon=named("beacon"))
    instances = [named("instance", n) for n in range(door.instances)]
    mine: list[list[int]] = []  # per operator the epochs in which its agents came
    hashes = hardest = 0
    for epoch in count(1):
        hardest = max(hardest, account.bits)
        while True:
            before = (len(mine), sum(map(len, mine)))
            for place in instances:
                has = sum(map(len, mine))
                most = account.most(door.agents + has)
                if len(mine) < operators and account.count(Role.OPERATOR, place) < most:
                    account.note(Role.OPERATOR, place)
                    mine.append([])
                    extra = rules.operator_bits - rules.agent_bits
                    hashes += rules.parts * 2 ** (account.bits + extra)
                for own in sorted(mine, key=len):
                    established = sum(epoch - came >= takes for came in own)
                    free = account.room(len(own), established)
                    if has < agents and free and account.count(Role.AGENT, place) < most:
                        account.note(Role.AGENT, place)
                        own.append(epoch)
                        hashes += rules.parts * 2**account.bits
                        break
            if before == (len(mine), sum(map(len, mine))):
                break
        account.turn(epoch, named("beacon", epoch))
        if before == (operators, agents):
            return Pace(epochs=epoch, hashes=hashes, proofs=operators + agents, bits=hardest)
    raise AssertionError


@given(
    operators=st.integers(1, 12),
    agents=st.integers(1, 60),
    instances=st.integers(1, 5),
    known=st.integers(1, 300),
    least=st.integers(1, 9),
    share=st.integers(0, 400_000),
    room=st.integers(1, 9),
    growth=st.integers(1, 4),
    target=st.integers(1, 9),
    bits=st.integers(9, 16),
)
def test_the_pace_is_that_of_the_protocol(  # noqa: PLR0917 # by name
    operators: int,
    agents: int,
    instances: int,
    known: int,
    least: int,
    share: int,
    room: int,
    growth: int,
    target: int,
    bits: int,
) -> None:
    charter = with_rules(
        instance_least=least,
        instance_share=share,
        operator_agents=room,
        operator_growth=growth,
        target=target,
    )
    door = Door(bits=bits, agents=known, instances=instances)

    assert fastest(charter, door, operators=operators, agents=agents) == joined(
        charter, door, operators=operators, agents=agents
    )


DOOR = Door(bits=9, agents=100, instances=4)


def test_few_join_at_once_and_many_epoch_by_epoch() -> None:
    assert fastest(COMMUNITY, DOOR, operators=1, agents=8) == Pace(
        epochs=1, hashes=8 * 4 * 512 + 4 * 4_096, proofs=9, bits=9
    )
    many = fastest(COMMUNITY, DOOR, operators=40, agents=320)

    assert many is not None
    assert many.epochs == 7
    assert many.bits > 9


def test_who_has_no_room_never_joins() -> None:
    closed = with_rules(operator_growth=0)

    assert fastest(closed, DOOR, operators=2, agents=16) is not None
    assert fastest(closed, DOOR, operators=2, agents=17) is None
    assert cheapest(closed, DOOR, operators=2, agents=17) is None


def test_a_siege_of_years_is_not_followed() -> None:
    slow = with_rules(instance_least=1, instance_share=0, operator_agents=1_000_000)
    door = Door(bits=9, agents=0, instances=1)

    assert fastest(slow, door, operators=1, agents=MOST_EPOCHS) is not None
    assert fastest(slow, door, operators=1, agents=MOST_EPOCHS + 1) is None


def test_the_cheapest_way_takes_longer_and_keeps_the_puzzle_easy() -> None:
    fast = fastest(COMMUNITY, DOOR, operators=20, agents=160)
    cheap = cheapest(COMMUNITY, DOOR, operators=20, agents=160)

    assert fast is not None
    assert cheap is not None
    assert cheap.epochs == 180 // 8 + 1
    assert cheap.hashes == 160 * 4 * 512 + 20 * 4 * 4_096
    assert cheap.hashes < fast.hashes
    assert cheap.bits == 9 < fast.bits


def test_a_charter_that_asks_for_nothing_takes_no_work() -> None:
    free = imagined("test", operators=1, founders=3)
    pace = fastest(free, Door(bits=0, agents=3, instances=1), operators=5, agents=500)

    assert pace == Pace(epochs=1, hashes=0, proofs=0, bits=0)


@given(
    operators=st.integers(1, 30),
    agents=st.integers(1, 300),
    field=st.sampled_from(
        ("instance_least", "instance_share", "operator_agents", "operator_growth")
    ),
    more=st.integers(1, 100_000),
)
def test_wider_quotas_never_take_longer(operators: int, agents: int, field: str, more: int) -> None:
    now: int = getattr(COMMUNITY.admission, field)
    wider = with_rules(**{field: min(1_000_000, now + more)})
    before = fastest(COMMUNITY, DOOR, operators=operators, agents=agents)
    after = fastest(wider, DOOR, operators=operators, agents=agents)

    assert before is not None
    assert after is not None
    assert after.epochs <= before.epochs


@given(agents=st.integers(1, 300), more=st.integers(1, 7))
def test_more_bits_never_take_less_work(agents: int, more: int) -> None:
    harder = with_rules(agent_bits=9 + more, operator_bits=12 + more)
    before = fastest(COMMUNITY, DOOR, operators=3, agents=agents)
    after = fastest(
        harder, Door(bits=9 + more, agents=100, instances=4), operators=3, agents=agents
    )

    assert before is not None
    assert after is not None
    assert after.hashes >= before.hashes
    assert after.epochs == before.epochs


def test_the_hardest_puzzle_is_still_counted() -> None:
    hardest = with_rules(agent_bits=32, operator_bits=32, most_bits=32, parts=16)
    pace = fastest(hardest, Door(bits=32, agents=10, instances=1), operators=1, agents=1)

    assert pace is not None
    assert pace.hashes == 2 * 16 * 2**32


def test_standing_takes_a_round_or_at_least_a_tick() -> None:
    trust, review = COMMUNITY.trust, COMMUNITY.review
    assert standing(COMMUNITY) == 2  # 62 minutes of at least 60 each
    assert standing(replace(COMMUNITY, trust=replace(trust, tier1_interactions=0))) == 1
    slow = replace(COMMUNITY, review=replace(review, deliberate=5 * HOUR))
    assert standing(slow) == 3  # the fast track of topics of low sensitivity
    assert standing(replace(slow, review=replace(slow.review, topics=()))) == 6
    quick = replace(COMMUNITY, review=replace(review, deliberate=0, commit_min=MINUTE))
    assert standing(quick) == 1


def test_trust_spreads_by_vouches_or_by_approvals() -> None:
    assert spreading(COMMUNITY, edges=5, operators=1, agents=5) == 0
    assert spreading(COMMUNITY, edges=9, operators=1, agents=5) == 0
    assert spreading(COMMUNITY, edges=1, operators=1, agents=4) == 1
    assert spreading(COMMUNITY, edges=1, operators=1, agents=16) == 2
    # One round can bring any number of approvals.
    assert spreading(COMMUNITY, edges=1, operators=1, agents=10**6) == standing(COMMUNITY)
    none = replace(COMMUNITY, quotas=replace(COMMUNITY.quotas, vouches_epoch=0))
    assert spreading(none, edges=1, operators=1, agents=2) == standing(COMMUNITY)
    # The vouches of an operator's agents are bounded by cut.
    rare = replace(COMMUNITY, timing=replace(COMMUNITY.timing, cut_min=HOUR))
    slow = replace(
        rare,
        review=replace(rare.review, deliberate=9 * HOUR, topics=()),
        quotas=replace(rare.quotas, vouches_operator=1, vouches_epoch=100),
    )
    assert spreading(slow, edges=1, operators=2, agents=7) == 3


@pytest.mark.parametrize("sensitivity", ["low", "high"])
def test_only_topics_of_low_sensitivity_have_a_fast_track(sensitivity: str) -> None:
    topics = (TopicClass(prefix="notes", sensitivity=sensitivity),)  # type: ignore[arg-type]
    review = replace(COMMUNITY.review, topics=topics, deliberate=9 * HOUR)

    assert standing(replace(COMMUNITY, review=review)) == (3 if sensitivity == "low" else 10)


def test_the_quota_is_the_one_of_the_protocol() -> None:
    rules: Admission = preset("community").admission
    account = Joining(rules=rules, bits=9, beacon=named("beacon"))
    for known in (0, 7, 159, 160, 179, 180, 10**6):
        pace = fastest(
            with_rules(operator_agents=1_000_000),
            Door(bits=9, agents=known, instances=1),
            operators=1,
            agents=account.most(known),
        )
        assert pace is not None
        assert pace.epochs == 1
