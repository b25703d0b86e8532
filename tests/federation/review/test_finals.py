from federation.certificates import VOID, ListValue, Phase
from federation.records import SealArgument
from federation.review import box, box_digest, commitments, final_list, listed, seals
from tests.builders import named
from tests.federation.review.scene import FOR, Scene, final


def test_a_value_is_joined_with_its_records_in_its_own_order() -> None:
    scene = Scene.of(1, 1, 1)
    records = [scene.commit(who, scene.opening()) for who in (1, 2)]
    held = {record.id: record for record in records}
    value = ListValue(records=tuple(sorted(held)))
    joined = final_list(value, named("digest"), held)

    assert joined.digest == named("digest")
    assert tuple(record.id for record in joined.records) == value.records
    assert not joined.void


def test_a_void_value_lists_nothing() -> None:
    joined = final_list(VOID, named("digest"), {})

    assert joined.void
    assert joined.records == ()


def test_the_box_is_the_first_list_and_what_the_widening_added() -> None:
    scene = Scene.of(1, 1, 1, 1, 1)
    finals = scene.committed({1: FOR})
    added = scene.commit(2, finals, phase=Phase.COMMIT2)
    wide = finals | {Phase.COMMIT2: final(Phase.COMMIT2, added)}

    assert [record.author for record in box(wide)] == [scene.agents[1].id, scene.agents[2].id]
    assert commitments(wide).keys() == scene.ids(1, 2)


def test_every_reveal_names_the_widened_box_where_there_is_one() -> None:
    scene = Scene.of(1, 1, 1, 1, 1)
    narrow = scene.committed({1: FOR})
    wide = narrow | {Phase.COMMIT2: final(Phase.COMMIT2)}

    assert box_digest({}) is None
    assert box_digest(narrow) == narrow[Phase.COMMIT].digest
    assert box_digest(wide) == wide[Phase.COMMIT2].digest


def test_a_list_that_is_not_final_lists_nothing() -> None:
    assert listed({}, Phase.FAST) == ()


def test_only_commitments_are_in_the_box() -> None:
    scene = Scene.of(1, 1, 1)
    finals = {Phase.COMMIT: final(Phase.COMMIT, scene.argue(1, {}))}

    assert commitments(finals) == {}


def test_seals_are_known_by_their_authors_and_nothing_else_in_the_list_is_one() -> None:
    scene = Scene.of(1, 1, 1, review={"mode": "sealed_first", "seal": 500})
    sealed = scene.seal(1, {})
    assert isinstance(sealed.body, SealArgument)
    finals = {Phase.SEAL: final(Phase.SEAL, sealed, scene.agents[2].identity.inception)}

    assert seals(finals) == {scene.agents[1].id: sealed.body.commitment}
    assert seals({}) == {}
