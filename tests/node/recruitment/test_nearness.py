"""Which artifacts a text nearly repeats: found by the index, compared, and never waited for long."""

from dataclasses import replace
from pathlib import Path

import pytest
import trio

from federation.artifacts import Flag
from node.recruitment import nearness
from node.recruitment.nearness import Nearness
from tests.builders import artifact_text
from tests.federation.protocol.town import Town
from tests.node.recruitment.scenes import stored

TITLE = "Water boils at one hundred degrees Celsius at the pressure of the sea, and at less above"


@pytest.mark.trio
async def test_a_near_copy_is_found_and_what_is_hidden_or_another_subject_is_not(
    tmp_path: Path,
) -> None:
    town = Town.of(1, 5)
    first = town.propose(0, TITLE)
    other = town.propose(1, "Iron rusts")
    town.open_round(first)
    town.open_round(other)
    copy = artifact_text(
        title=TITLE.replace("and at less", "or at less"), prose="", claims=("It holds.",)
    )
    with trio.fail_after(20):
        async with stored(town, tmp_path) as (store, world):
            found = await Nearness(store, lambda: world).find(copy)
            nothing = await Nearness(store, lambda: world).find(
                artifact_text(title="???", prose="", claims=("...",))
            )
            artifact = world.state.artifacts[first.id]
            world.state.artifacts[first.id] = replace(artifact, flags=frozenset({Flag.HIDDEN}))
            hidden = await Nearness(store, lambda: world).find(copy)

    assert [one.of for one in found] == [first.id]
    assert nothing == hidden == ()


@pytest.mark.trio
async def test_what_takes_too_long_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearness, "PATIENCE_S", 0.0)
    town = Town.of(1, 5)
    town.open_round(town.propose(0, TITLE))
    with trio.fail_after(20):
        async with stored(town, tmp_path) as (store, world):
            found = await Nearness(store, lambda: world).find(
                artifact_text(title=TITLE, prose="", claims=("It holds.",))
            )

    assert found == ()
