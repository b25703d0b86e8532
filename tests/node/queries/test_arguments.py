"""Arguments: shown with their words, unless these were taken down."""

from federation.certificates import Phase
from federation.protocol import custody
from federation.records import Stance
from federation.records.review_bodies import Argue, Level
from node.queries import rounds
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import here, opened


def argue(town: Town, index: int, name: bytes, note: str, **rest: object) -> bytes:
    record = custody.argue(
        town.home(index),
        town.keyring(index),
        name,
        stance=Stance.AGAINST,
        note=note,
        salt=bytes(16),
        now=town.now,
        **rest,  # type: ignore[arg-type]
    )
    town.arrive(town.home(index), record)
    return record.id


def test_arguments_are_shown_with_their_words_before_and_after_their_certificate() -> None:
    town = Town.of(3, 6)
    _, name = opened(town, Phase.DELIBERATE)
    first = argue(town, 1, name, "It does not hold.")
    town.rest(20)
    answer = argue(town, 0, name, "It does.", replies_to=first, level=Level.TECHNICAL)
    town.rest(20)
    world, now = here(town)
    by_id = {one.id: one for one in rounds.one(world, name, now).arguments}
    assert set(by_id) == {first.hex(), answer.hex()}
    said = by_id[answer.hex()]
    assert (said.note, said.replies_to, said.certified) == ("It does.", first.hex(), False)
    assert (said.author.name, said.stance, said.level) == (
        "agent 0",
        Stance.AGAINST,
        Level.TECHNICAL,
    )

    town.in_phase(name, Phase.COMMIT)
    page = rounds.one(world, name, town.now)
    assert {one.id for one in page.arguments} == set(by_id)
    assert all(one.certified for one in page.arguments)
    assert page.counts.arguments == 2
    world.log.drop_text(first)
    notes = {one.id: one.note for one in rounds.one(world, name, town.now).arguments}
    assert notes == {first.hex(): None, answer.hex(): "It does."}


def test_an_argument_without_words_names_its_claim_and_evidence() -> None:
    town = Town.of(1, 5)
    _, name = opened(town, Phase.DELIBERATE)
    body = Argue(
        round=name,
        after=name,
        stance=Stance.NEUTRAL,
        level=Level.CONTENT,
        claim=1,
        evidence=(b"\x01" * 32,),
    )
    town.arrive(town.world(), town.sign(1, body))
    (shown,) = rounds.one(town.world(), name, town.now).arguments

    assert (shown.claim, shown.evidence, shown.note) == (1, ("01" * 32,), None)
    assert shown.replies_to is None
