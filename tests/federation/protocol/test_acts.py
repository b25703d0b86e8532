"""Acts of the operators: when they count, what they need, and what a charter changes."""

import copy

import pytest
from msgspec.structs import replace

from federation.charter import (
    quorum_of,
    rules_bytes,
)
from federation.codec import encode
from federation.core import Code
from federation.protocol import World
from federation.protocol.acts import EXPIRY, OPEN_MOST, needed
from federation.records import (
    ActCosign,
    AdminReview,
    CharterAdopt,
    Decree,
    Role,
)
from tests.builders import named
from tests.federation.protocol.acts import next_cut, next_tick, refused
from tests.federation.protocol.adopting import adoption, cosign, other_rules, say
from tests.federation.protocol.town import Town

# Quorum -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("operators", [1, 2, 3, 4])
def test_an_act_counts_once_a_quorum_of_operators_has_said_it(operators: int) -> None:
    town = Town.of(operators, operators * 2)
    world = town.world()
    q = quorum_of(operators).q
    act = say(town, 0, adoption(world))
    next_cut(town)
    for operator in range(1, q):
        assert world.state.acts.open[act.id].by[0] == act.author
        cosign(town, act, operator)
        next_cut(town)

    assert needed(world.state) == q
    assert act.id in world.state.acts.passed
    assert not world.state.acts.open
    assert len({one.digest for one in town.live()}) == 1


def test_one_word_too_few_leaves_an_act_open() -> None:
    town = Town.of(4, 4)
    world = town.world()
    act = say(town, 0, adoption(world))
    next_cut(town)
    cosign(town, act, 1)
    next_tick(town, 2)

    assert act.id in world.state.acts.open
    assert world.state.charter.number == 0


def test_a_second_word_of_one_operator_is_no_second_operator() -> None:
    town = Town.of(4, 4)
    world = town.world()
    act = say(town, 0, adoption(world))
    next_cut(town)
    (own,) = cosign(town, act, 0)
    first, second = (*cosign(town, act, 1), *cosign(town, act, 1))
    next_cut(town)

    assert [refused(world, one) for one in (own, first, second)] == [
        Code.DUPLICATE,
        None,
        Code.DUPLICATE,
    ]
    assert act.id in world.state.acts.open


def test_two_instances_of_one_operator_have_one_vote() -> None:
    town = Town.of(3, 3, operators=2)
    world = town.world()
    act = say(town, 0, adoption(world))
    next_cut(town)

    assert needed(world.state) == quorum_of(len(set(world.state.instances.values()))).q
    assert act.id in world.state.acts.open


def test_an_act_counts_once() -> None:
    town = Town.of(4, 4)
    world = town.world()
    act = say(town, 0, adoption(world))
    next_cut(town)
    cosign(town, act, 1, 2)
    next_cut(town)
    (late,) = cosign(town, act, 3)
    next_tick(town, 2)

    assert refused(world, late) is Code.DUPLICATE
    assert [reign.charter.number for reign in world.state.acts.reigns] == [0, 1]


def test_a_word_in_the_cut_of_its_act_counts_whoever_comes_first() -> None:
    town = Town.of(2, 2)
    world = town.world()
    names = town.founding.operators
    # The word must stand before the act in the order of the cut.
    author = 0 if names[0] > names[1] else 1
    act = say(town, author, adoption(world))
    cosign(town, act, 1 - author)
    next_cut(town)

    assert act.id in world.state.acts.passed


def test_an_act_that_nobody_else_says_lapses() -> None:
    town = Town.of(2, 2)
    world = town.world()
    act = say(town, 0, adoption(world))
    next_cut(town)
    state, acts = copy.copy(world.state), copy.deepcopy(world.state.acts)
    state.tick = acts.open[act.id].tick + EXPIRY
    word = town.pen(Role.OPERATOR, 1).say(ActCosign(act=act.id))

    assert acts.refusal(state, word, word.body) is None
    assert copy.deepcopy(acts).take(state, [word]) == (act,)
    state.tick += 1
    assert acts.take(state, [word]) == ()
    assert state.refused.pop(word.id) is Code.UNKNOWN_ACT
    assert not acts.open


# Refusals ---------------------------------------------------------------------------------------


def test_who_is_no_operator_of_a_member_says_nothing_that_counts() -> None:
    town = Town.of(1, 2, seed="strangers")
    world = town.world()
    stranger = town.stranger(Role.OPERATOR)
    records = [
        stranger.say(body)
        for body in (
            adoption(world),
            ActCosign(act=named("act")),
            AdminReview(subject=named("artifact"), decision=Decree.HIDE, reason="no"),
        )
    ]
    acts = world.state.acts

    assert {acts.refusal(world.state, one, one.body) for one in records} == {Code.NOT_MEMBER}
    assert acts.take(world.state, records) == ()
    assert {world.state.refused.pop(one.id) for one in records} == {Code.NOT_MEMBER}


def test_an_operator_whose_key_is_revoked_says_nothing_any_more() -> None:
    town = Town.of(4, 4)
    world = town.world()
    pen = town.pen(Role.OPERATOR, 0)
    town.arrive(world, pen.revoke())
    next_tick(town)
    record = pen.fork().say(adoption(world))

    assert world.state.acts.refusal(world.state, record, record.body) is Code.REVOKED


def _bad(world: World) -> dict[str, tuple[CharterAdopt, Code]]:
    sound = adoption(world)
    wrong = other_rules(world, q_min=9)
    wild = other_rules(world, k=0)
    return {
        "another base": (replace(sound, base=named("base")), Code.STALE_BASE),
        "a number too high": (replace(sound, number=2), Code.BAD_CHARTER),
        "no rules": (replace(sound, rules=b""), Code.BAD_CHARTER),
        "junk": (replace(sound, rules=b"\xc1" * 32_768), Code.BAD_CHARTER),
        "another map": (replace(sound, rules=encode({"genesis": 1})), Code.BAD_CHARTER),
        "an error of check": (replace(sound, rules=rules_bytes(wrong)), Code.BAD_CHARTER),
        "out of range": (replace(sound, rules=rules_bytes(wild)), Code.BAD_CHARTER),
        "bytes behind": (replace(sound, rules=sound.rules + b"\xc0"), Code.BAD_CHARTER),
    }


@pytest.mark.parametrize("fault", list(_bad(Town.of(1, 1).world())))
def test_a_charter_that_cannot_work_is_refused_by_every_node(fault: str) -> None:
    town = Town.of(1, 2)
    world = town.world()
    body, code = _bad(world)[fault]
    record = town.pen(Role.OPERATOR, 0).say(body)

    assert world.state.acts.refusal(world.state, record, body) is code
    assert world.state.acts.take(world.state, [record]) == ()
    assert world.state.refused.pop(record.id) is code


def test_of_two_charters_for_one_base_only_the_first_counts() -> None:
    town = Town.of(2, 2)
    world = town.world()
    one = say(town, 0, adoption(world))
    two = say(town, 1, adoption(world, other_rules(world, k=9)))
    next_cut(town)
    assert set(world.state.acts.open) == {one.id, two.id}
    cosign(town, one, 1)
    word = cosign(town, two, 0)[0]
    next_tick(town)
    first = next(iter(world.state.acts.passed))
    other = two if first == one.id else one

    assert set(world.state.acts.passed) == {first}
    assert refused(world, other) is Code.STALE_BASE
    assert refused(world, word) is None
    assert world.charter.number == 1


def test_one_operator_has_few_open_acts() -> None:
    town = Town.of(2, 2)
    world = town.world()
    state, acts = world.state, copy.deepcopy(world.state.acts)
    pen = town.pen(Role.OPERATOR, 0)
    records = [pen.say(adoption(world, from_tick=n)) for n in range(OPEN_MOST + 1)]

    acts.take(state, records)
    assert len(acts.open) == OPEN_MOST
    assert state.refused.pop(records[-1].id) is Code.OVER_QUOTA


@pytest.mark.parametrize(
    ("decision", "code"),
    [
        (Decree.HIDE, Code.UNKNOWN_ARTIFACT),
        (Decree.SHOW, Code.UNKNOWN_ARTIFACT),
        (Decree.RETRACT, Code.UNKNOWN_ARTIFACT),
        (Decree.RECLASSIFY, Code.UNKNOWN_SANCTION),
        (Decree.KEEP, Code.UNKNOWN_ARTIFACT),
        (Decree.UPHOLD, Code.GUARD_FAILED),
    ],
)
def test_a_decision_about_nothing_is_refused(decision: Decree, code: Code) -> None:
    town = Town.of(1, 2)
    world = town.world()
    body = AdminReview(subject=named("nothing"), decision=decision, reason="no")
    record = town.pen(Role.OPERATOR, 0).say(body)

    assert world.state.acts.refusal(world.state, record, body) is code


def test_a_decision_about_an_artifact_comes_into_force_like_any_act() -> None:
    town = Town.of(2, 4)
    world = town.world()
    artifact = town.propose(0)
    town.open_round(artifact)
    act = say(
        town, 0, AdminReview(subject=artifact.id, decision=Decree.HIDE, reason="It names people.")
    )
    next_cut(town)
    assert act.id in world.state.acts.open
    cosign(town, act, 1)
    next_cut(town)

    assert act.id in world.state.acts.passed


def test_a_voice_in_a_round_is_no_act() -> None:
    town = Town.of(1, 2)
    world = town.world()
    body = AdminReview(
        subject=named("artifact"),
        decision=Decree.KEEP,
        reason="It stands.",
        round=named("round"),
        after=named("after"),
    )
    record = town.pen(Role.OPERATOR, 0).say(body)

    assert world.state.acts.refusal(world.state, record, body) is None
    assert world.state.acts.take(world.state, [record]) == ()
    assert record.id not in world.state.refused
