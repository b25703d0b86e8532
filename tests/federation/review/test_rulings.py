import pytest

from federation.artifacts import DecidedBy, RoundKind
from federation.certificates import Phase
from federation.crypto import Choice
from federation.records import Decree, Rule, Ruled
from federation.review import (
    Finals,
    Ruling,
    assessed,
    count,
    heard,
    may_decree,
    may_rule,
    moderator_lot,
    ruling_of,
)
from federation.review import decreed as agreed
from federation.trust import Decision
from tests.federation.review.paths import bench, decreed, drawn, panel, ruled, split
from tests.federation.review.scene import (
    AGAINST,
    FOR,
    MODERATOR,
    ROUND,
    SIX,
    Scene,
    final,
    member,
)


def ruling(scene: Scene, finals: Finals) -> Ruling:
    return ruling_of(scene.pin, finals, count(scene.pin, finals))


@pytest.mark.parametrize(
    ("kind", "rerun", "allowed"),
    [
        ("review", False, {Ruled.BY_SIGN, Ruled.REJECT, Ruled.RERUN, Ruled.FREEZE}),
        ("review", True, {Ruled.BY_SIGN, Ruled.REJECT, Ruled.FREEZE}),
        ("dispute", False, {Ruled.BY_SIGN, Ruled.REJECT, Ruled.RERUN, Ruled.FREEZE}),
        ("report", True, {Ruled.BY_SIGN, Ruled.REJECT, Ruled.FREEZE}),
        ("appeal", False, {Ruled.UPHOLD, Ruled.RECLASSIFY}),
    ],
)
def test_an_arbiter_may_rule_what_its_round_is_about(
    kind: RoundKind, rerun: bool, allowed: set[Ruled]
) -> None:
    pin = Scene.of(*SIX, kind=kind, rerun=rerun).pin

    assert {one for one in Ruled if may_rule(pin, one)} == allowed


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [
        ("review", {Decree.KEEP, Decree.RETRACT}),
        ("report", {Decree.KEEP, Decree.RETRACT}),
        ("appeal", {Decree.UPHOLD, Decree.RECLASSIFY}),
    ],
)
def test_operators_may_decide_what_the_round_is_about(
    kind: RoundKind, allowed: set[Decree]
) -> None:
    pin = Scene.of(*SIX, kind=kind).pin

    assert {one for one in Decree if may_decree(pin, one)} == allowed


def test_of_three_arbiters_the_first_in_lot_order_that_ruled_is_heard() -> None:
    scene = bench()
    finals = split(scene)
    first, second, third = drawn(scene, finals)
    rulings = {first: Ruled.FREEZE, second: Ruled.REJECT, third: Ruled.BY_SIGN}
    said = {who: scene.rule(who, finals, what) for who, what in rulings.items()}
    both = heard(scene.pin, finals | {Phase.RULE: final(Phase.RULE, said[third], said[second])})
    alone = heard(scene.pin, finals | {Phase.RULE: final(Phase.RULE, said[third])})

    assert both is not None
    assert (both.arbiter, both.ruling) == (scene.agents[second].id, Ruled.REJECT)
    assert alone is not None
    assert alone.ruling is Ruled.BY_SIGN
    assert heard(scene.pin, finals | {Phase.RULE: final(Phase.RULE)}) is None


def test_a_ruling_of_nobody_drawn_or_out_of_place_is_not_heard() -> None:
    scene = bench()
    finals = split(scene)
    stranger = scene.rule(1, finals, Ruled.REJECT)
    misplaced = scene.rule(drawn(scene, finals)[0], finals, Ruled.UPHOLD)

    assert heard(scene.pin, finals | {Phase.RULE: final(Phase.RULE, stranger, misplaced)}) is None


def test_of_two_rulings_of_one_arbiter_the_lowest_id_is_heard_in_any_order() -> None:
    scene = bench()
    finals = split(scene)
    who = drawn(scene, finals)[0]
    pair = [scene.rule(who, finals, what) for what in (Ruled.REJECT, Ruled.BY_SIGN)]
    lowest = min(pair, key=lambda one: one.id)
    assert isinstance(lowest.body, Rule)
    for records in (pair, pair[::-1]):
        one = heard(scene.pin, finals | {Phase.RULE: final(Phase.RULE, *records)})

        assert one is not None
        assert one.ruling is lowest.body.ruling


@pytest.mark.parametrize(
    ("votes", "what", "decision", "by", "signed"),
    [
        ((FOR, FOR, FOR, AGAINST, AGAINST), Ruled.BY_SIGN, "accept", DecidedBy.ARBITER, True),
        ((FOR, AGAINST), Ruled.BY_SIGN, "reject", DecidedBy.ARBITER, True),
        ((FOR, FOR, FOR, FOR, FOR), Ruled.BY_SIGN, "accept", DecidedBy.ARBITER, False),
        ((FOR, FOR, FOR, AGAINST, AGAINST), Ruled.REJECT, "reject", DecidedBy.ARBITER, False),
        ((FOR, FOR, FOR, AGAINST, AGAINST), Ruled.RERUN, "none", DecidedBy.RERUN, False),
    ],
)
def test_a_ruling_decides_a_review(
    votes: tuple[Choice, ...], what: Ruled, decision: str, by: DecidedBy, signed: bool
) -> None:
    contest = 1_000 if len(set(votes)) == 1 else 0
    scene = bench(review={"contest": contest, "shortfall_high": "arbitrate"})
    finals = scene.voted(dict(enumerate(votes, 1)))
    if contest:
        finals[Phase.CONTEST] = final(Phase.CONTEST, scene.contest(0, finals))
    finals = ruled(scene, finals, what)
    arbiter = finals[Phase.RULE].records[0].author

    assert ruling(scene, finals) == Ruling(
        decision=Decision(decision), by=by, rulers=(arbiter,), signed=signed
    )


@pytest.mark.parametrize(
    ("votes", "decision"),
    [
        ((FOR, AGAINST), Decision.ACCEPT),
        ((AGAINST, AGAINST, FOR), Decision.REJECT),
        ((), Decision.ACCEPT),
    ],
)
def test_by_the_sign_a_dispute_is_dismissed_unless_more_weight_is_against(
    votes: tuple[Choice, ...], decision: Decision
) -> None:
    scene = panel()
    finals = ruled(scene, scene.voted(dict(enumerate(votes, 2))), Ruled.BY_SIGN)

    assert ruling(scene, finals).decision is decision


@pytest.mark.parametrize(
    ("what", "decision"),
    [(Ruled.UPHOLD, Decision.REJECT), (Ruled.RECLASSIFY, Decision.ACCEPT)],
)
def test_an_appeal_is_accepted_where_the_sanction_was_wrong(
    what: Ruled, decision: Decision
) -> None:
    scene = bench(kind="appeal")

    assert ruling(scene, ruled(scene, {}, what)).decision is decision


@pytest.mark.parametrize(("members", "needed"), [(1, 1), (2, 2), (3, 3), (4, 3), (7, 5)])
def test_operators_decide_with_the_quorum_of_the_realm(members: int, needed: int) -> None:
    scene = panel(0, members=members)
    finals = scene.voted({})
    enough = decreed(scene, finals, Decree.RETRACT, tuple(range(needed)))
    few = decreed(scene, finals, Decree.RETRACT, tuple(range(needed - 1)))

    assert ruling(scene, enough) == Ruling(
        decision=Decision.REJECT,
        by=DecidedBy.ADMIN,
        rulers=tuple(sorted(member(number) for number in range(needed))),
    )
    assert ruling(scene, few).by is DecidedBy.TIMEOUT


def test_operators_of_two_minds_are_no_quorum() -> None:
    scene = panel(0)
    finals = scene.voted({})
    records = [
        scene.decree(number, finals, Decree.KEEP if number < 2 else Decree.RETRACT)
        for number in range(4)
    ]

    assert agreed(scene.pin, records) is None
    more = [*records, scene.decree(2, finals, Decree.KEEP)]
    # Operator 2 has said both: only one of the two counts, the same one in every order.
    assert agreed(scene.pin, more) == agreed(scene.pin, more[::-1])


def test_strangers_and_misplaced_decrees_are_not_counted() -> None:
    scene = panel(0, members=1)
    finals = scene.voted({})
    stranger = scene.decree(1, finals, Decree.RETRACT)
    misplaced = scene.decree(0, finals, Decree.HIDE)

    assert agreed(scene.pin, [stranger, misplaced]) is None
    assert agreed(Scene.of(*SIX, members=0).pin, [stranger]) is None


def test_of_several_moderators_the_lowest_lot_is_heard() -> None:
    who = range(1, 8)
    scene = Scene.of(*[1] * 8, kind="report", views=dict.fromkeys(who, MODERATOR))
    order = sorted(who, key=lambda one: moderator_lot(ROUND, scene.agents[one].id))
    # The order of ids is another one, so that this can fail.
    assert order[0] != min(who, key=lambda one: scene.agents[one].id)
    said = [scene.assess(one, {}, credible=one != order[0]) for one in order]
    for records in (said, said[::-1]):
        one = assessed(scene.pin, {Phase.ASSESS: final(Phase.ASSESS, *records)})

        assert one is not None
        assert (one.moderator, one.credible) == (scene.agents[order[0]].id, False)
    assert assessed(scene.pin, {Phase.ASSESS: final(Phase.ASSESS)}) is None
