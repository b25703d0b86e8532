"""Rounds as a node lives them: pinned by one cut, moved by certified lists alone."""

from dataclasses import replace

from federation.artifacts import State as ArtifactState
from federation.certificates import VOID, ListValue, Phase
from federation.certificates.fresh_lists import Looked
from federation.core import Code
from federation.protocol import Round, World
from federation.protocol.rounds import earlier, opened_nonces
from federation.records import AgentSubscribe, Reveal, Role
from federation.review import qualifies, round_id
from tests.builders import Chain, argue, commit, named
from tests.federation.protocol.acts import VOTES, claim, fork, is_forked, next_cut, next_tick
from tests.federation.protocol.town import Town


def in_commit(town: Town) -> tuple[Round, World]:
    """Open a round of founder 0 and let it come to its vote."""
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.COMMIT)
    return town.world().rounds[opened], town.world()


def test_a_round_pins_the_world_of_its_cut() -> None:
    town = Town.of(3, 6)
    world = town.world()
    offer = AgentSubscribe(topics=("code",), keywords=(), on=True)
    town.arrive(town.home(4), town.sign(4, offer))
    record = town.propose(2)
    opened = town.open_round(record)
    pin = world.rounds[opened].pin

    assert pin.round == round_id(world.realm, record.id, "review", 0, world.state.digest)
    assert (pin.author, pin.author_operator) == (town.agent(2), town.founding.operators[2])
    assert (pin.home, pin.home_operator) == (
        town.founding.instances[2],
        town.founding.operators[2],
    )
    assert pin.watchers == {town.agent(4)}
    assert pin.author_has_ticket
    assert pin.member_operators == 3
    assert pin.agents is world.state.views
    assert pin.charter is world.state.charter


def test_a_newcomers_round_is_pinned_as_one_without_a_ticket() -> None:
    town = Town.of(1, 5)
    agent = town.stranger(Role.AGENT)
    town.admit(agent)
    next_cut(town)
    record = claim(agent)
    town.arrive(town.world(), record)
    opened = town.open_round(record)

    assert not town.world().rounds[opened].pin.author_has_ticket
    assert not town.world().rounds[opened].pin.watchers


def test_lists_are_contained_up_to_a_phase_and_only_with_all_before_it() -> None:
    town = Town.of(1, 5)
    opened = town.vote(town.propose(0), VOTES)
    one = town.world().rounds[opened]
    upto = one.contained(Phase.COMMIT)

    assert upto is not None
    assert list(upto) == [Phase.DELIBERATE, Phase.COMMIT]
    assert one.contained(Phase.COMMIT2) is None
    missing = one.finals.pop(Phase.DELIBERATE)
    assert one.contained(Phase.DECIDE) is None
    one.finals[Phase.DELIBERATE] = missing
    assert one.contained(Phase.DECIDE) == one.finals


def test_a_list_is_final_here_once_its_records_are_held() -> None:
    town = Town.of(1, 5)
    one, world = in_commit(town)
    pen = town.pen(Role.AGENT, 1)
    after = one.finals[Phase.DELIBERATE].digest
    record = pen.say(commit(pen, one.pin.round, after=after))
    one.certified[Phase.COMMIT] = (ListValue(records=(record.id,)), named("digest"))

    assert one.missing(world.log) == (record.id,)
    one.settle(world.log)
    assert Phase.COMMIT not in one.finals
    world.log.add(record)
    assert one.missing(world.log) == ()
    one.settle(world.log)
    assert one.finals[Phase.COMMIT].records == (record,)
    assert one.finals[Phase.COMMIT].digest == named("digest")


def test_a_void_list_needs_no_records() -> None:
    town = Town.of(1, 5)
    one, world = in_commit(town)
    one.certified[Phase.COMMIT] = (VOID, named("digest"))
    assert one.missing(world.log) == ()
    one.settle(world.log)

    assert one.finals[Phase.COMMIT].void


def test_only_records_of_the_open_phase_count_in_it() -> None:
    town = Town.of(1, 5)
    one, world = in_commit(town)
    good = town.cast(1, one.pin.round, 1)
    pen = town.pen(Role.AGENT, 2)
    early = pen.say(commit(pen, one.pin.round))
    late = pen.say(*argue(one.pin.round))
    town.arrive(world, early, late)

    assert one.qualified(world.log) == [good]
    assert qualifies(one.pin, one.finals, early, earlier(world.log, early)) is Code.NOT_IN_PHASE
    one.phase = None
    assert one.qualified(world.log) == []


def test_a_second_commitment_does_not_count_and_does_not_hurt_the_first() -> None:
    town = Town.of(1, 5)
    one, world = in_commit(town)
    first = town.cast(1, one.pin.round, 1)
    pen = town.pen(Role.AGENT, 1)
    after = one.finals[Phase.DELIBERATE].digest
    second = pen.say(commit(pen, one.pin.round, after=after))
    town.arrive(world, second)

    assert one.qualified(world.log) == [first]
    assert qualifies(one.pin, one.finals, second, earlier(world.log, second)) is (
        Code.ALREADY_COMMITTED
    )


def test_a_look_at_a_record_says_who_where_and_whether_it_counts() -> None:
    town = Town.of(1, 5)
    one, world = in_commit(town)
    record = town.cast(1, one.pin.round, 1)

    seen = Looked(voter=town.agent(1), seq=record.seq, qualifies=True, reviewer=True)

    assert one.look(world.log, named("unknown"), Phase.COMMIT) is None
    assert one.look(world.log, record.id, Phase.COMMIT) == seen
    assert one.look(world.log, record.id, Phase.COMMIT) is one.look(
        world.log, record.id, Phase.COMMIT
    )
    # However well it does in its own phase, it is nothing to another.
    assert one.look(world.log, record.id, Phase.DELIBERATE) == replace(seen, qualifies=False)


def test_earlier_records_are_those_of_the_same_round_on_the_same_branch() -> None:
    town = Town.of(1, 5)
    one, world = in_commit(town)
    pen = town.pen(Role.AGENT, 1)
    first = pen.say(*argue(one.pin.round, "first"))
    twin = pen.fork()
    other = pen.say(*argue(named("another round"), "elsewhere"))
    second = pen.say(*argue(one.pin.round, "second"))
    theirs = twin.say(*argue(one.pin.round, "twin"))
    town.arrive(world, first, other, second, theirs)

    assert earlier(world.log, second) == [first]
    assert earlier(world.log, theirs) == [first]
    assert earlier(world.log, first) == []
    assert earlier(world.log, pen.records[0]) == []


def test_nonces_are_opened_in_the_order_of_voters() -> None:
    town = Town.of(1, 5)
    opened = town.vote(town.propose(0), VOTES)
    finals = town.world().rounds[opened].finals
    reveals = sorted(finals[Phase.DECIDE].records, key=lambda one: one.author)

    assert list(opened_nonces(finals)) == [
        one.body.nonce for one in reveals if isinstance(one.body, Reveal)
    ]
    assert list(opened_nonces({Phase.COMMIT: finals[Phase.COMMIT]})) == []


def test_a_fork_bars_its_author_from_rounds_of_later_cuts_only() -> None:
    town = Town.of(1, 6)
    world = town.world()
    before = town.open_round(town.propose(1, title="Before"))
    pen, _ = fork(town)
    next_cut(town)
    after = town.open_round(town.propose(2, title="After"))

    assert not world.rounds[before].pin.agents[pen.id].forked
    assert world.rounds[after].pin.agents[pen.id].forked
    assert pen.id in world.rounds[before].pin.eligible.reviewers
    assert pen.id not in world.rounds[after].pin.eligible.reviewers


def test_a_proof_filed_after_the_decide_changes_nothing_of_the_round() -> None:
    town = Town.of(1, 5)
    world = town.world()
    record = town.propose(0)
    opened = town.vote(record, VOTES)
    before = world.rounds[opened].verdict
    digests = [final.digest for final in world.rounds[opened].finals.values()]
    fork(town, 4)
    next_tick(town, 2)

    assert is_forked(world, town.agent(4))
    assert world.rounds[opened].verdict == before
    assert world.state.artifacts[record.id].verdict == before
    assert world.state.decided[opened] == tuple(digests)
    assert world.state.artifacts[record.id].state is ArtifactState.ACTIVE


def test_a_proof_filed_during_the_vote_does_not_cancel_it() -> None:
    town = Town.of(1, 5)
    world = town.world()
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, Phase.COMMIT)
    pen = town.pen(Role.AGENT, 4)
    after = world.rounds[opened].finals[Phase.DELIBERATE].digest
    committed = pen.say(commit(pen, opened, town.ballot(-1), after=after))
    town.arrive(world, committed)
    for index in (1, 2, 3):
        town.cast(index, opened, 1)
    town.in_phase(opened, Phase.DECIDE)
    twin = pen.fork()
    box = world.rounds[opened].finals[Phase.COMMIT].digest
    mine = commit_opening(pen, opened, town, box)
    town.arrive(world, pen.say(mine), claim(twin, "A twin"))
    for index in (1, 2, 3):
        town.reveal(index, opened)
    town.in_phase(opened, None)
    verdict = world.rounds[opened].verdict

    assert world.log.is_forked(pen.id)
    assert verdict is not None
    assert {ballot.voter for ballot in verdict.ballots} == {town.agent(one) for one in (1, 2, 3, 4)}


def commit_opening(pen: Chain, opened: bytes, town: Town, box: bytes) -> Reveal:
    """Open the commitment that `builders.commit` made."""
    nonce = named("nonce", pen.id.hex(), opened.hex())
    return Reveal(round=opened, after=box, ballot=town.ballot(-1), nonce=nonce)
