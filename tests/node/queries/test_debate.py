"""The debate of a round on a real world: threads, turns, citations, seals, and the digest."""

from dataclasses import replace

import msgspec
import pytest

from federation.artifacts import Flag
from federation.certificates import Phase
from federation.crypto import Ballot, Basis, Choice, Reason, plain_hash
from federation.protocol import authoring, custody
from federation.records import Argue, Level, Stance
from node.base.errors import NodeCode, RequestError
from node.queries.debate import DebateArgument, DebatePage, debate, look, page, words
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import here, opened, plain
from tests.node.queries.test_arguments import argue


def argued(town: Town) -> tuple[bytes, bytes, bytes]:
    """Let agent 1 argue against an artifact and its author answer; give round and arguments."""
    _, name = opened(town, Phase.DELIBERATE)
    first = argue(town, 1, name, "It does not hold. The source is old.")
    town.rest(20)
    answer = argue(town, 0, name, "It does hold.", replies_to=first, level=Level.TECHNICAL)
    town.rest(20)
    return name, first, answer


def by_id(told: DebatePage) -> dict[str, DebateArgument]:
    return {one.id: one for one in told.arguments}


def test_a_debate_shows_who_answered_what_before_its_list_is_final_and_after() -> None:
    town = Town.of(3, 6)
    name, first, answer = argued(town)
    before = debate(town.world(), name)
    said = by_id(before)[answer.hex()]

    assert (before.total, before.threads, before.unanswered, before.open) == (2, 1, 1, True)
    assert [one.id for one in before.arguments] == [first.hex(), answer.hex()]
    assert (said.replies_to, said.depth, said.thread, said.turn) == (first.hex(), 1, first.hex(), 1)
    assert not any(one.certified for one in before.arguments)
    assert [one.name for one in by_id(before)[first.hex()].answered_by] == ["operator 0"]
    assert by_id(before)[first.hex()].note == "It does not hold. The source is old."

    town.in_phase(name, Phase.COMMIT)
    after = debate(town.world(), name)
    assert all(one.certified for one in after.arguments)
    assert (after.phase, after.open) == (Phase.COMMIT, False)
    assert (after.mode, after.sealed, after.closed) == ("open", 0, ())
    assert {(one.stance, one.level, one.arguments) for one in after.sides} == {
        (Stance.AGAINST, Level.CONTENT, 1),
        (Stance.AGAINST, Level.TECHNICAL, 1),
    }
    assert plain(after)


def test_citations_are_told_only_once_ballots_are_counted() -> None:
    town = Town.of(3, 6)
    name, first, _ = argued(town)
    town.in_phase(name, Phase.COMMIT)
    for voter in (2, 4, 5):
        secret = plain_hash(b"nonce" + town.agent(voter))
        ballot = Ballot(Choice.FOR, Reason.ACCURATE, Basis.TOOL, arguments=(first,))
        record = custody.cast(
            town.home(voter),
            town.keyring(voter),
            name,
            ballot,
            nonce=secret,
            salt=secret[:24],
            now=town.now,
        )
        town.arrive(town.home(voter), record)
    town.in_phase(name, Phase.DECIDE)
    town.reveal(2, name)
    town.rest(20)
    before = debate(town.world(), name)
    for voter in (4, 5):
        town.reveal(voter, name)
    town.in_phase(name, None)
    after = debate(town.world(), name)

    assert [one.cited_by for one in before.arguments] == [(), ()]
    cited = {one.name for one in by_id(after)[first.hex()].cited_by}
    assert cited == {"operator 2"}
    assert {one.agent.name: one.cited for one in after.speakers} == {"agent 0": 0, "agent 1": 1}


def test_pages_go_on_behind_an_argument_and_an_unknown_one_is_named() -> None:
    town = Town.of(3, 6)
    name, first, answer = argued(town)
    one = debate(town.world(), name, most=1)
    two = debate(town.world(), name, most=1, after=first)

    assert ([each.id for each in one.arguments], one.next) == ([first.hex()], first.hex())
    assert ([each.id for each in two.arguments], two.next) == ([answer.hex()], None)
    assert one.total == two.total == 2
    assert debate(town.world(), name, after=answer).arguments == ()
    for wrong, cursor in ((bytes(32), None), (name, bytes(32))):
        with pytest.raises(RequestError) as refused:
            debate(town.world(), wrong, after=cursor)
        assert refused.value.code is NodeCode.NOT_FOUND


def test_a_digest_quotes_arguments_and_says_what_it_leaves_out() -> None:
    town = Town.of(3, 6)
    name, first, answer = argued(town)
    none = debate(town.world(), name)
    told = debate(town.world(), name, digest=2, most=1).digest
    town.world().log.drop_text(first)
    without = debate(town.world(), name, digest=2)

    assert none.digest is None
    assert told is not None
    assert told.is_digest
    assert [(one.argument, one.stance) for one in told.quotes] == [
        (first.hex(), Stance.AGAINST),
        (answer.hex(), Stance.AGAINST),
    ]
    assert told.quotes[1].words == "It does hold."
    assert (told.quoted, told.unquoted, told.missing) == (2, 0, 0)
    assert without.digest is not None
    assert [one.words for one in without.digest.quotes] == ["It does hold."]
    assert without.digest.missing == 1
    assert by_id(without)[first.hex()].note is None


def test_all_instances_give_the_same_digest() -> None:
    town = Town.of(3, 6)
    name, _, _ = argued(town)
    town.in_phase(name, Phase.COMMIT)
    found = {msgspec.json.encode(debate(one, name, digest=12)) for one in town.live()}

    assert len(found) == 1


def test_a_hidden_artifact_has_no_digest() -> None:
    town = Town.of(1, 5)
    name, _, _ = argued(town)
    world, _ = here(town)
    artifact = world.state.artifacts[world.rounds[name].pin.artifact]
    world.state.artifacts[artifact.id] = replace(artifact, flags=frozenset({Flag.HIDDEN}))

    assert debate(world, name, digest=12).digest is None


def test_an_argument_without_words_is_shown_without_a_note() -> None:
    town = Town.of(1, 5)
    _, name = opened(town, Phase.DELIBERATE)
    body = Argue(round=name, after=name, stance=Stance.NEUTRAL, level=Level.CONTENT, claim=1)
    stray = Argue(
        round=name,
        after=name,
        stance=Stance.FOR,
        level=Level.CONTENT,
        replies_to=bytes(32),
        evidence=(b"\x01" * 32,),
    )
    town.arrive(town.world(), town.sign(1, body))
    town.arrive(town.world(), town.sign(2, stray))
    told = debate(town.world(), name, digest=5)
    shown = {one.claim: one for one in told.arguments}

    assert (shown[1].note, shown[1].strays) == (None, False)
    assert (shown[None].replies_to, shown[None].strays) == ("00" * 32, True)
    assert shown[None].evidence == ("01" * 32,)
    assert told.digest is not None
    assert (told.digest.quotes, told.digest.missing) == ((), 0)


def test_a_known_digest_is_taken_and_only_the_shown_texts_are_read() -> None:
    town = Town.of(3, 6)
    name, first, _ = argued(town)
    seen = look(town.world(), name, most=1, digest=2)
    made = words(seen)
    again = words(seen, made.digest)

    assert (len(seen.raws), len(made.notes)) == (2, 2)
    assert again.digest is made.digest
    assert [*again.notes] == [first]
    assert page(town.world(), seen, again) == page(town.world(), seen, made)


def test_what_is_sealed_is_not_told_before_the_list_that_opens_it_is_final() -> None:
    town = Town.of(3, 6, review=rules(mode="sealed_first", seal=1_000))
    record = town.propose(0)
    name = town.open_round(record)
    town.in_phase(name, Phase.SEAL)
    for index in (1, 2):
        sealed = authoring.seal_argument(
            town.home(index),
            town.keyring(index),
            name,
            stance=Stance.AGAINST,
            note=f"A secret of {index}.",
            nonce=plain_hash(b"nonce" + bytes([index])),
            salt=bytes([index]) * 16,
            seal_salt=bytes([index]) * 24,
            now=town.now,
        )
        town.arrive(town.home(index), sealed)
    town.rest(20)
    sealing = [debate(world, name, digest=12) for world in town.live()]
    town.in_phase(name, Phase.UNSEAL)
    opening = authoring.unseal(town.home(1), town.keyring(1), name, now=town.now)
    town.arrive(town.home(1), opening)
    town.rest(20)
    unsealing = [debate(world, name, digest=12) for world in town.live()]
    town.in_phase(name, Phase.DELIBERATE)
    after = debate(town.world(), name, digest=12)

    assert {(one.phase, one.total, one.sealed) for one in sealing} == {(Phase.SEAL, 0, 0)}
    assert {(one.phase, one.total, one.sealed) for one in unsealing} == {(Phase.UNSEAL, 0, 2)}
    for one in (*sealing, *unsealing):
        assert b"secret" not in msgspec.json.encode(one)
        assert opening.id.hex() not in msgspec.json.encode(one).decode()
        assert one.closed == ()
    (said,) = after.arguments
    assert (said.id, said.note, said.turn) == (opening.id.hex(), "A secret of 1.", 0)
    assert [one.name for one in after.closed] == ["agent 2"]
    assert (after.mode, after.sealed) == ("sealed_first", 2)


def test_turns_are_shown_and_answer_each_other() -> None:
    town = Town.of(3, 6, review=rules(mode="rounds", turns=2))
    _, name = opened(town, Phase.DELIBERATE)
    first = argue(town, 1, name, "It does not hold.")
    town.in_phase(name, Phase.TURN2)
    second = argue(town, 0, name, "It does.", replies_to=first)
    told = by_id(debate(town.home(0), name))

    assert {key: one.turn for key, one in told.items()} == {first.hex(): 1, second.hex(): 2}
    assert (told[first.hex()].certified, told[second.hex()].certified) == (True, False)
    assert told[second.hex()].replies_to == first.hex()
