"""Single questions to `judge`; the fates of a whole hostile federation stand in `test_fates`."""

import msgspec

from federation.certificates import Phase
from federation.core import Code
from federation.crypto import Choice
from federation.protocol import Fate, Judgement, World, judge
from federation.records import (
    AgentAdmit,
    AgentDeclare,
    AgentSubscribe,
    Commit,
    Custody,
    Delegate,
    OperatorAdmit,
    Record,
    Role,
)
from tests.builders import Chain, argue, artifact_text, ballot, commit, log_fork, named, propose
from tests.federation.protocol.hostile import say
from tests.federation.protocol.town import rules
from tests.federation.protocol.trial import Trial


def fate(world: World, record: Record) -> tuple[Fate, Code | None]:
    judgement = judge(world, record)
    # A reason comes with every fate but the best, and only there.
    assert (judgement.code is None) is (judgement.fate is Fate.COUNTS) is (not judgement.why)
    return judgement.fate, judgement.code


COUNTS = (Fate.COUNTS, None)
FOR_CUT = (Fate.WAITS, Code.WAITS_FOR_CUT)


def test_a_judgement_that_counts_needs_no_code() -> None:
    assert Judgement(fate=Fate.COUNTS) == Judgement(fate=Fate.COUNTS, code=None, why="")


def test_genesis_counts_from_the_start() -> None:
    town = Trial.of(2, 3)

    assert {fate(town.world(), record) for record in town.founding.records} == {COUNTS}


def test_what_an_unadmitted_agent_says_of_itself_does_not_count() -> None:
    town = Trial.of(1, 3)
    world, stranger = town.world(), town.stranger(Role.AGENT)
    town.arrive(world, *stranger.records)
    for body in (
        AgentDeclare(family="f", provider="p", model="m"),
        AgentSubscribe(topics=("code",), keywords=(), on=True),
    ):
        record = stranger.say(body)
        town.arrive(world, record)
        assert fate(world, record) == (Fate.VOID, Code.NOT_ADMITTED)
    known = say(town, 1, AgentDeclare(family="f", provider="p", model="m"))
    assert fate(world, known) == FOR_CUT
    town.settled()
    assert fate(world, known) == COUNTS
    assert fate(world, record) == (Fate.VOID, Code.NOT_ADMITTED)


def test_an_instance_that_is_no_member_admits_nobody() -> None:
    town = Trial.of(1, 3)
    world, instance = town.world(), town.stranger(Role.INSTANCE)
    town.arrive(world, *instance.records)
    admissions = (
        OperatorAdmit(operator=town.founding.operators[0]),
        AgentAdmit(
            agent=named("a"),
            operator=named("o"),
            delegate=named("d"),
            custody=Custody.SELF,
        ),
    )
    records = [instance.say(body) for body in admissions]
    town.arrive(world, *records)
    assert {fate(world, one) for one in records} == {(Fate.VOID, Code.NOT_ELIGIBLE)}
    town.settled()
    assert {fate(world, one) for one in records} == {(Fate.VOID, Code.NOT_ELIGIBLE)}


def test_a_delegate_waits_for_its_cut_and_then_counts() -> None:
    town = Trial.of(1, 3)
    record = town.pen(Role.OPERATOR, 0).say(Delegate(agent=named("a"), scope=()))
    town.arrive(town.world(), record)
    assert fate(town.world(), record) == FOR_CUT
    town.settled()
    assert fate(town.world(), record) == COUNTS


def test_a_proposal_below_the_charters_reputation_is_not_eligible() -> None:
    town = Trial.of(1, 3, review=rules(r_min=900_000))
    record = say(town, 1, *propose())
    assert fate(town.world(), record) == (Fate.VOID, Code.NOT_ELIGIBLE)
    town.settled()

    assert fate(town.world(), record) == (Fate.VOID, Code.NOT_ELIGIBLE)


# Copies and rivals --------------------------------------------------------------------------------


def voting(agents: int = 6) -> tuple[Trial, bytes]:
    town = Trial.of(2, agents, operators=agents)
    round_id = town.open_round(town.propose(0))
    town.in_phase(round_id, Phase.COMMIT)
    return town, round_id


def test_a_copy_is_told_from_its_original_when_one_of_them_is_opened() -> None:
    town, round_id = voting()
    original = town.cast(1, round_id, 1)
    assert isinstance(original.body, Commit)
    copy = say(town, 2, original.body)
    for index in (3, 4):
        town.cast(index, round_id, 1)
    town.rest(20)
    copied = (Fate.VOID, Code.COMMITMENT_COPIED)

    # Nobody can tell yet which one is the copy; both can be listed, one can be opened.
    waiting = (Fate.WAITS, Code.WAITS_FOR_CLOSURE)
    assert {fate(town.world(), one) for one in (original, copy)} == {waiting}

    town.in_phase(round_id, Phase.DECIDE)
    assert {fate(town.world(), one) for one in (original, copy)} == {COUNTS}
    for index in (1, 3, 4):
        town.reveal(index, round_id)
    town.in_phase(round_id, None)

    assert fate(town.world(), original) == COUNTS
    assert fate(town.world(), copy) == copied


def test_a_listed_commitment_that_stays_shut_counts_as_a_broken_promise() -> None:
    town, round_id = voting()
    records = [town.cast(index, round_id, 1) for index in (1, 2, 3, 4)]
    town.in_phase(round_id, Phase.DECIDE)
    for index in (1, 2, 3):
        town.reveal(index, round_id)
    town.in_phase(round_id, None)

    assert fate(town.world(), records[3]) == COUNTS


def forked(town: Trial, index: int) -> tuple[Chain, Chain]:
    return town.pen(Role.AGENT, index), town.pen(Role.AGENT, index)


def test_commitments_on_two_branches_cancel_each_other_and_nothing_else() -> None:
    town, round_id = voting()
    after = town.world().rounds[round_id].finals[Phase.DELIBERATE].digest
    pens = forked(town, 1)
    one, two = (
        pen.say(commit(pen, round_id, ballot(choice), after=after))
        for pen, choice in zip(pens, Choice, strict=False)
    )
    honest = town.cast(2, round_id, 1)
    second = pens[0].say(msgspec.structs.replace(one.body, commitment=named("again")))  # type: ignore[type-var]
    town.arrive(town.home(1), one, two, second)
    assert isinstance(honest.body, Commit)
    say(town, 2, msgspec.structs.replace(honest.body, commitment=named("another")))
    town.rest(20)

    for world in town.live():
        assert fate(world, one) == fate(world, two) == (Fate.VOID, Code.FORK)
        assert fate(world, second) == (Fate.VOID, Code.ALREADY_COMMITTED)
        assert fate(world, honest) == (Fate.WAITS, Code.WAITS_FOR_CLOSURE)


def test_a_fork_elsewhere_does_not_touch_a_commitment() -> None:
    town, round_id = voting()
    after = town.world().rounds[round_id].finals[Phase.DELIBERATE].digest
    pens = forked(town, 1)
    one = pens[0].say(commit(pens[0], round_id, after=after))
    two = pens[1].say(AgentDeclare(family="f", provider="p", model="m"))
    town.arrive(town.home(1), one, two)
    town.rest(20)

    assert fate(town.world(), one) == (Fate.WAITS, Code.WAITS_FOR_CLOSURE)
    assert fate(town.world(), two) == (Fate.VOID, Code.FORK)
    town.in_phase(round_id, Phase.DECIDE)
    assert fate(town.world(), one) == COUNTS


# Forks and cuts -----------------------------------------------------------------------------------


def test_what_stands_below_a_fork_waits_for_its_cut_and_what_stands_above_is_cut_off() -> None:
    town = Trial.of(1, 4, operators=4)
    world = town.world()
    pen = town.pen(Role.AGENT, 1)
    trunk = pen.say(AgentDeclare(family="f", provider="p", model="m"))
    pens = (pen, pen.fork())
    tops = [one.say(*propose(artifact_text(title=f"{n}"))) for n, one in enumerate(pens)]
    town.arrive(world, trunk, *tops)
    # An honest neighbour has a fork of its own somewhere else; it does not matter here.
    others = forked(town, 2)
    town.arrive(world, *(one.say(*argue(named(n))) for n, one in enumerate(others)))

    assert fate(world, trunk) == FOR_CUT
    assert {fate(world, top) for top in tops} == {(Fate.VOID, Code.FORK)}
    town.settled()
    assert fate(world, trunk) == COUNTS
    assert {fate(world, top) for top in tops} == {(Fate.VOID, Code.FORK)}


def test_a_fork_is_settled_by_a_rotation_that_picks_its_own_branch_only() -> None:
    town = Trial.of(1, 4, operators=4)
    world = town.world()
    pens = forked(town, 1)
    bottoms = [one.say(*propose(artifact_text(title=f"{n}"))) for n, one in enumerate(pens)]
    town.arrive(world, *bottoms)
    town.settled()
    wrong, plain = pens[0].fork(), pens[0].fork()
    elsewhere = wrong.rotate(picks=bottoms[1].id)
    unpicked = plain.rotate()
    assert fate(world, elsewhere) == fate(world, unpicked) == (Fate.VOID, Code.FORK)
    right = pens[0].rotate(picks=bottoms[0].id)
    assert fate(world, right) == FOR_CUT
    town.arrive(world, right)
    town.settled()

    assert fate(world, right) == fate(world, bottoms[0]) == COUNTS
    assert fate(world, bottoms[1]) == (Fate.VOID, Code.FORK)
    assert fate(world, pens[0].say(AgentDeclare(family="f", provider="p", model="m"))) == FOR_CUT


def test_the_fork_of_an_identity_that_no_cut_knows_is_a_fork_all_the_same() -> None:
    town = Trial.of(1, 3)
    world, stranger = town.world(), town.stranger(Role.OPERATOR)
    other = stranger.fork()
    tops = [pen.say(Delegate(agent=named(n), scope=())) for n, pen in enumerate((stranger, other))]
    town.arrive(world, *stranger.records[:1], *tops)

    assert {fate(world, top) for top in tops} == {(Fate.VOID, Code.FORK)}


def test_a_fork_proof_that_proves_nothing_is_refused_by_its_cut() -> None:
    town = Trial.of(1, 4, operators=4)
    world = town.world()
    pen = town.pen(Role.AGENT, 1)
    a, b = (pen.say(AgentDeclare(family=f, provider="p", model="m")) for f in ("f", "g"))
    town.arrive(world, a, b)
    claim = say(town, 2, log_fork(a, b))
    assert fate(world, claim) == FOR_CUT
    town.settled()

    assert fate(world, claim) == (Fate.VOID, Code.NOT_PROVEN)
