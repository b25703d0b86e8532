"""Texts: shown where they are held, and their absence said where they are not."""

from dataclasses import replace

from federation.artifacts import Flag
from federation.certificates import Phase
from federation.crypto import plain_hash
from federation.records import ArtifactText, Claim, Note, Propose
from node.queries.texts import (
    HiddenBy,
    TextState,
    article,
    claims_of,
    hidden,
    readable,
    shown,
    text_of,
    veil,
    veiled,
)
from tests.federation.protocol.panel import FRESH, MODERATOR, Panel
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


def states(town: Panel, name: bytes) -> tuple[TextState, str | None]:
    """Give whether a text is shown, and why it is hidden."""
    world = town.world()
    artifact = world.state.artifacts[name]
    page = hidden(world, name, artifact)
    assert article(world, artifact) == shown(world, name)
    return shown(world, name)[0], page.why if page else None


def test_a_reported_text_is_hidden_from_the_moderator_s_word_on_until_the_panel_keeps_it() -> None:
    town = Panel.seated()
    name = town.accepted().id
    town.report(name)
    round_ = town.newest(name, "report")
    town.in_phase(round_, Phase.ASSESS)
    before = states(town, name)
    town.assess(round_, credible=True, index=MODERATOR)
    town.rest(0)
    said = states(town, name)
    town.in_phase(round_, Phase.COMMIT)
    running = states(town, name)
    town.ended(town.judged(round_, dict.fromkeys(FRESH[:5], 1)))
    kept = states(town, name)

    assert before == (TextState.HELD, None)
    assert said[0] is running[0] is TextState.HIDDEN
    assert said[1] == running[1]
    assert "reported as" in (said[1] or "")
    assert kept == (TextState.HELD, None)


def test_a_text_whose_report_was_sustained_stays_hidden_with_the_reason() -> None:
    town = Panel.seated()
    name = town.accepted().id
    town.report(name)
    round_ = town.newest(name, "report")
    town.in_phase(round_, Phase.ASSESS)
    town.assess(round_, credible=True, index=MODERATOR)
    town.ended(town.judged(round_, dict.fromkeys(FRESH[:5], -1)))
    state, why = states(town, name)

    assert state is TextState.HIDDEN
    assert "moderator" in (why or "")


def test_an_unfounded_report_hides_nothing() -> None:
    town = Panel.seated()
    name = town.accepted().id
    town.report(name)
    round_ = town.newest(name, "report")
    town.in_phase(round_, Phase.ASSESS)
    town.assess(round_, credible=False, index=MODERATOR)
    said = states(town, name)
    town.ended(round_)

    assert said == states(town, name) == (TextState.HELD, None)


def test_what_the_operators_hide_by_hand_says_so_and_not_why_somebody_once_reported_it() -> None:
    town = Panel.seated()
    name = town.accepted().id
    town.report(name)
    round_ = town.newest(name, "report")
    town.in_phase(round_, Phase.ASSESS)
    town.assess(round_, credible=False, index=MODERATOR)
    town.ended(round_)
    world = town.world()
    flagged = replace(world.state.artifacts[name], flags=frozenset({Flag.HIDDEN}))
    page = hidden(world, name, flagged)

    assert page is not None
    assert (page.by, page.round) == (HiddenBy.REALM, None)
    assert "operators" in page.why


def test_what_a_node_s_operator_hides_is_hidden_in_that_world_alone() -> None:
    town, other = Town.of(1, 5), Town.of(1, 5)
    record, _ = voted(town, {1: 1, 2: 1, 3: 1})
    voted(other, {1: 1, 2: 1, 3: 1})
    veil(town.world(), {record.id: "Private."})
    page = hidden(town.world(), record.id, None)

    assert page is not None
    assert (page.by, page.why) == (HiddenBy.NODE, "This node's operator hides it here: Private.")
    assert shown(town.world(), record.id) == (TextState.HIDDEN, None)
    assert shown(other.world(), record.id)[0] is TextState.HELD
    veil(town.world(), {})
    assert veiled(town.world()) == {}
    assert shown(town.world(), record.id)[0] is TextState.HELD


def test_a_moderator_s_word_hides_before_its_certificate_is_there() -> None:
    town = Panel.seated()
    name = town.accepted().id
    town.report(name)
    round_ = town.newest(name, "report")
    town.in_phase(round_, Phase.ASSESS)
    town.assess(round_, credible=True, index=MODERATOR)
    found = town.world().rounds[round_]
    # As where the moderator's record has come and the other members have not agreed on it yet.
    found.finals.pop(Phase.ASSESS)
    found.certified.pop(Phase.ASSESS)
    found.looked.clear()
    found.phase = Phase.ASSESS

    assert found.qualified(town.world().log)
    assert states(town, name)[0] is TextState.HIDDEN
