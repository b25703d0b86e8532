"""Texts: shown where they are held, and their absence said where they are not."""

from dataclasses import replace

from federation.artifacts import Flag
from federation.crypto import plain_hash
from federation.records import ArtifactText, Claim, Note, Propose
from node.queries.texts import TextState, article, claims_of, readable, text_of
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import voted


def body(claims: tuple[Claim, ...]) -> Propose:
    return Propose(
        topics=("code",),
        claims=claims,
        cites=(),
        sources=(),
        text_hash=bytes(32),
        text_len=1,
        text_id=bytes(32),
        lang="en",
    )


def test_a_text_is_held_until_it_is_taken_down() -> None:
    town = Town.of(1, 5)
    record, _ = voted(town, {1: 1, 2: 1, 3: 1})
    town.settled()
    world = town.world()
    artifact = world.state.artifacts[record.id]

    state, text = article(world, artifact)
    assert state is TextState.HELD
    assert text is not None
    assert text.title == "A claim"
    world.log.drop_text(record.id)
    assert article(world, artifact) == (TextState.MISSING, None)


def test_the_text_of_a_hidden_artifact_is_not_shown() -> None:
    town = Town.of(1, 5)
    record, _ = voted(town, {1: 1, 2: 1, 3: 1})
    town.settled()
    artifact = town.world().state.artifacts[record.id]
    hidden = replace(artifact, flags=frozenset({Flag.HIDDEN}))

    assert article(town.world(), hidden) == (TextState.HIDDEN, None)


def test_a_record_that_is_not_held_has_no_text() -> None:
    assert readable(None) == (TextState.MISSING, None)
    assert text_of(None, Note) is None


def test_claims_are_joined_with_their_words_as_far_as_the_text_says_any() -> None:
    text = ArtifactText(
        title="T", prose="", claims=("One.",), falsification=("Not one.",), sources=()
    )
    check = plain_hash(b"check")
    claims = claims_of(body((Claim(1, check), Claim(2))), text)

    assert [(one.n, one.text, one.falsification) for one in claims] == [
        (1, "One.", "Not one."),
        (2, None, None),
    ]
    assert [one.check for one in claims] == [check.hex(), None]
    assert claims_of(body((Claim(1),)), None)[0].text is None
