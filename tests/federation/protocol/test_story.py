"""The whole protocol on one artifact: every way is taken, and a restart at any point changes nothing."""

from federation.protocol import snapshot
from federation.protocol.rows import world_digest
from tests.federation.protocol.story import sound, story_of, told
from tests.federation.protocol.test_rebuild_snapshot import Album
from tests.federation.protocol.town import Town

ACTS = [
    "objected",
    "too few",
    "opened",
    "ambiguous",
    "ruled",
    "stands",
    "reported",
    "retracted",
    "corrected",
    "resubmitted",
    "stands again",
    "revised",
    "superseded",
]


def test_one_artifact_takes_every_way_that_the_table_has() -> None:
    town = story_of(Town)
    acts = []
    for act in told(town):
        acts.append(act)
        sound(town)

    assert acts == ACTS


def test_an_instance_that_restarts_after_any_act_is_where_it_was() -> None:
    town = story_of(Album)
    assert isinstance(town, Album)
    for act in told(town):
        for index in range(3):
            before = town.world(index)
            for content in (None, town.pictures(index)[-1], snapshot.take(before)):
                again, _ = town.back(index, content)

                assert again.state.cut == before.state.cut, act
                assert world_digest(again.state) == before.digest, act
                assert {name: (one.phase, one.verdict) for name, one in again.rounds.items()} == {
                    name: (one.phase, one.verdict) for name, one in before.rounds.items()
                }, act
                assert again.lots == before.lots, act
