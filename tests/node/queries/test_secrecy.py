"""Before `decide` is final, no answer depends on a vote; and every field of an answer is explained.

Two towns are alike but for their votes: whatever can be asked must be answered alike in both, but
for names, which are hashes of sealed things.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import node.queries
from federation.certificates import Phase
from federation.core import RoundId
from federation.crypto import Ballot, Basis, Choice, Reason, plain_hash
from federation.protocol import World, custody
from node.queries import agents, artifacts, history, names, operators, realm, rounds, why
from node.queries.admissions import admissions
from node.queries.debate import debate
from tests.federation.protocol.town import Town

HEX = re.compile(r"[0-9a-f]{12,}|bafkrei[a-z2-7]+")
VOTERS = (1, 2, 4)


def ballots(choices: tuple[int, ...], seed: bytes) -> dict[int, Ballot]:
    return {
        voter: Ballot(
            Choice(choice),
            Reason.ACCURATE if choice > 0 else Reason.HARMFUL,
            Basis.TOOL if choice > 0 else Basis.MEMORY,
            evidence=(plain_hash(seed + bytes([voter])),),
        )
        for voter, choice in zip(VOTERS, choices, strict=True)
    }


def nonce(town: Town, voter: int, round_id: RoundId) -> bytes:
    return plain_hash(b"nonce" + town.agent(voter) + round_id)


def cast(town: Town, round_id: RoundId, votes: dict[int, Ballot]) -> None:
    for voter, ballot in votes.items():
        secret = nonce(town, voter, round_id)
        home = town.home(voter)
        record = custody.cast(
            home,
            town.keyring(voter),
            round_id,
            ballot,
            nonce=secret,
            salt=secret[:24],
            now=town.now,
        )
        town.arrive(home, record)


def answers(world: World, now: int) -> Iterator[object]:
    """Give every answer that this package has for a world."""
    yield realm.overview(world, now)
    yield realm.realm(world)
    yield realm.charter(world)
    yield realm.members(world)
    yield artifacts.listing(world)
    yield agents.listing(world)
    yield rounds.open_rounds(world, now)
    for name in world.state.artifacts:
        yield artifacts.one(world, name, now)
        yield history.history(world, name)
        yield why.why(world, name, now)
    for name in world.rounds:
        yield rounds.one(world, name, now)
        yield why.why(world, name, now)
        yield debate(world, name, digest=12)
    for agent in world.state.agents:
        yield agents.one(world, agent)
        yield rounds.to_review(world, agent, now)
        yield names.who(world, agent)
    yield operators.listing(world)
    for operator in world.state.operators:
        yield operators.one(world, operator)
        yield agents.one(world, operator)
    for instance in world.state.instances:
        yield admissions(world, instance)
        yield agents.one(world, instance)


def told(world: World, now: int) -> str:
    return "\n".join(msgspec.json.encode(one).decode() for one in answers(world, now))


@settings(max_examples=12, deadline=None)
@given(
    choices=st.tuples(*(st.sampled_from([1, 0, -1]) for _ in VOTERS)),
    seed=st.binary(max_size=4),
    revealed=st.integers(0, 3),
    stop=st.sampled_from([Phase.COMMIT, Phase.DECIDE]),
)
def test_no_answer_holds_a_ballot_before_decide_is_final(
    choices: tuple[int, ...], seed: bytes, revealed: int, stop: Phase
) -> None:
    town = Town.of(3, 6)
    record = town.propose(0)
    name = town.open_round(record)
    votes = ballots(choices, seed)
    secrets = [nonce(town, voter, name).hex() for voter in votes]
    secrets += [digest.hex() for ballot in votes.values() for digest in ballot.evidence]
    checked = 0

    def is_sealed(one: Town) -> bool:
        nonlocal checked
        for world in one.live():
            if Phase.DECIDE not in world.rounds[name].finals:
                everything = told(world, one.now)
                checked += 1
                assert not [secret for secret in secrets if secret in everything]
                page = rounds.one(world, name, one.now)
                assert (page.ballots, page.tally, page.verdict) == ((), None, None)
                assert page.unrevealed == ()
        return False

    town.in_phase(name, Phase.COMMIT)
    cast(town, name, votes)
    town.rest(20)
    is_sealed(town)
    if stop is Phase.DECIDE:
        town.in_phase(name, Phase.DECIDE)
        opened = [town.reveal(voter, name).id.hex() for voter in VOTERS[:revealed]]
        secrets += opened
        is_sealed(town)
        for _ in range(6):
            town.rest(4)
            is_sealed(town)

    assert checked >= 3


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_two_worlds_that_differ_in_votes_alone_give_the_same_answers(count: int) -> None:
    found = []
    for choices in ((1, 1, 1), (-1, 0, -1)):
        town = Town.of(1, 6)
        record = town.propose(0)
        name = town.open_round(record)
        town.in_phase(name, Phase.COMMIT)
        cast(town, name, ballots(choices, b""))
        town.rest(5)
        story = [told(town.world(), town.now)]
        town.in_phase(name, Phase.DECIDE)
        for voter in VOTERS[:count]:
            story.append(told(town.world(), town.now))
            town.reveal(voter, name)
        if Phase.DECIDE not in town.world().rounds[name].finals:
            story.append(told(town.world(), town.now))
        found.append([HEX.sub("…", text) for text in story])

    assert found[0] == found[1]


def test_the_same_answers_differ_once_the_votes_are_open() -> None:
    found = []
    for choices in ((1, 1, 1), (-1, 0, -1)):
        town = Town.of(1, 6)
        record = town.propose(0)
        name = town.open_round(record)
        town.in_phase(name, Phase.COMMIT)
        cast(town, name, ballots(choices, b""))
        town.in_phase(name, Phase.DECIDE)
        for voter in VOTERS:
            town.reveal(voter, name)
        town.in_phase(name, None)
        found.append(HEX.sub("…", told(town.world(), town.now)))

    assert found[0] != found[1], "the comparison above would tell a vote"


def test_asking_changes_nothing() -> None:
    town = Town.of(3, 6)
    twin = Town.of(3, 6)
    for one in (town, twin):
        record = one.propose(0)
        name = one.open_round(record)
        one.in_phase(name, Phase.COMMIT)
        cast(one, name, ballots((1, 1, 1), b""))
        for _ in range(400):
            one.rest(10)
            if one is town:
                told(one.world(), one.now)

    assert [world.digest for world in town.live()] == [world.digest for world in twin.live()]
    assert town.told == twin.told


def test_every_field_of_every_answer_is_explained_under_it() -> None:
    folder = Path(node.queries.__file__).parent
    bare = []
    for path in sorted(folder.glob("*.py")):
        for struct in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(struct, ast.ClassDef):
                continue
            for field, text in zip(struct.body, [*struct.body[1:], None], strict=True):
                if isinstance(field, ast.AnnAssign | ast.Assign):
                    match text:
                        case ast.Expr(value=ast.Constant(value=str())):
                            pass
                        case _:
                            bare.append(f"{path.name}: {struct.name}, line {field.lineno}")

    assert bare == []
