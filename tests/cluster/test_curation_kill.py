"""A curated artifact through SIGKILL: an instance dies in each phase that waits for somebody.

Three processes play what `folkmoot demo story` plays. Wherever it is that one dies, the others go on
or wait for it, and all end at the same; where it never comes back and the charter allows that, what
nobody rules on or looks at ends by itself.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import httpx
import msgspec
import pytest
import trio

from federation.charter import preset
from node.base.entropy import random_bytes
from node.demo import story
from node.demo.agents import insistently
from node.demo.instance import Instance
from node.demo.over_network import Stage, leave_none
from node.demo.stores import common_digests, read_stores
from node.queries.history import history
from node.setup.founding import Founder, found_realm

ACCEPTED = "Tea grows on shrubs"
OFFICES = {story.ARBITER: ("arbiter",), story.MODERATOR: ("moderator",)}
VOICES = (story.FIRST_PANEL[0], story.FIRST_PANEL[2], 4)
"""Reviewers that live where nothing is killed for good."""

# A request whose server is killed leaves the body that httpx was about to send to the collector.
pytestmark = pytest.mark.filterwarnings(
    r"ignore:Exception ignored in. <async_generator object \w*ByteStream"
    ":pytest.PytestUnraisableExceptionWarning"
)


def staged(root: Path, *, three: str, **review: int) -> Stage:
    """Found the realm of the story without a window of its own, with other lengths."""
    rules = preset("test")
    owners = [f"owner of {name}" for name in story.NAMES]
    founded = found_realm(
        name="kills",
        preset="test",
        operators=[*owners, *(f"host {place}" for place in range(story.INSTANCES))],
        instances=[(f"instance {place}", len(owners) + place) for place in range(story.INSTANCES)],
        founders=[
            Founder(
                name=name,
                operator=number,
                instance=number % story.INSTANCES,
                badges=OFFICES.get(number, ()),  # type: ignore[arg-type] # words of `Badge`
            )
            for number, name in enumerate(story.NAMES)
        ],
        timing=msgspec.structs.replace(rules.timing, epoch=3_000, three=three),
        review=msgspec.structs.replace(
            rules.review,
            **{
                "k": 3,
                "q_min": 3,
                "tau_accept": 500_000,
                "deliberate": 500,
                "commit": 5_000,
                "reveal": 20_000,
                "rule": 60_000,
                "admin": 60_000,
                "deadline": 240_000,
                **review,
            },
        ),
        trust=msgspec.structs.replace(rules.trust, seats=len(story.NAMES)),
        disputes=msgspec.structs.replace(
            rules.disputes, q_dispute=3, tau_retract=500_000, assess=review.get("rule", 60_000)
        ),
    )
    return Stage(founded=founded, instances=story._instances(root, founded, random_bytes))


@asynccontextmanager
async def started(stage: Stage) -> AsyncIterator[story._Teller]:
    """Run all processes; none is left behind."""
    try:
        await stage.start()
        yield story._Teller(staged=stage, say=lambda _: None)
    finally:
        leave_none(stage.instances)
        with trio.CancelScope(shield=True):
            for one in stage.instances:
                await one.client.aclose()


async def killed(teller: story._Teller, place: int) -> None:
    """Kill an instance, and start it again."""
    one = teller.staged.instances[place]
    one.kill()
    await one.start()


async def verdict_of(one: Instance, name: str) -> dict[str, object]:
    page = msgspec.json.decode(await one.get(f"/v1/rounds/{name}"), type=dict[str, object])
    return cast("dict[str, object]", page["verdict"] or {})


async def ends_by(teller: story._Teller, name: str, by: str) -> None:
    """Wait until a round has ended so in all instances that are asked."""

    async def so(one: Instance) -> bool:
        return (await verdict_of(one, name)).get("by") == by

    await teller._until(lambda: teller._all(so), f"the end by {by}")


async def decree(one: Instance, artifact: str, name: str) -> None:
    """Let the operator of an instance speak in the phase `admin`."""
    body = {"subject": artifact, "decision": "keep", "reason": "It is right.", "round": name}
    # One that has just come back signs nothing until it knows what it has signed before.
    answer = await insistently(one, "/v1/admin/reviews", body)
    assert answer.status_code == 201, answer.text
    one.acknowledged.add(answer.json()["id"])


async def argued_over(teller: story._Teller, voters: tuple[int, ...]) -> str:
    """Propose something, and let it come to its box; gives the round."""
    teller.artifact = await teller._act(story.AUTHOR, "/v1/artifacts", story._text(ACCEPTED))
    name = await teller._round(1)
    await teller._in_phase(name, "commit")
    for voter in voters:
        await teller._vote(voter, name, 1)
    return name


@pytest.mark.trio
async def test_an_instance_that_dies_in_any_phase_changes_nothing(tmp_path: Path) -> None:
    stage = staged(tmp_path, three="strict")
    zero, one, two = stage.instances
    with trio.fail_after(150):
        async with started(stage) as teller:
            name = await argued_over(teller, story.FIRST_PANEL[:2])
            await teller._in_phase(name, "commit2")
            # It dies before the third ballot has come to it.
            two.kill()
            await teller._vote(story.FIRST_PANEL[2], name, -1)
            await two.start()

            # The one that keeps the key of the only arbiter.
            await teller._in_phase(name, "rule")
            await killed(teller, story.ARBITER % story.INSTANCES)
            await teller._act(
                story.ARBITER,
                f"/v1/rounds/{name}/rule",
                {"ruling": "freeze", "ground": "unclear", "note": "Operators must look."},
            )

            # The home of the author, before its operator has spoken.
            await teller._in_phase(name, "admin")
            zero.kill()
            await decree(one, teller.artifact, name)
            await decree(two, teller.artifact, name)
            await zero.start()
            await decree(zero, teller.artifact, name)
            await teller._stands("active")
            await ends_by(teller, name, "admin")

            # The one that keeps the key of the only moderator.
            await teller._act(
                story.REPORTER,
                f"/v1/artifacts/{teller.artifact}/report",
                {"category": "harmful", "note": "It tells how to poison a well."},
            )
            report = await teller._round(2)
            await teller._in_phase(report, "assess")
            await killed(teller, story.MODERATOR % story.INSTANCES)
            await teller._act(
                story.MODERATOR, f"/v1/rounds/{report}/assess", {"credible": False, "note": "No."}
            )
            await ends_by(teller, report, "unfounded")
            await teller._all_know()
            assert await stage.stop()
    await all_alike(stage, teller.artifact)


async def all_alike(stage: Stage, artifact: str, *, places: int = 3) -> None:
    """Read what is left on disk: one world, one story, nothing forked and nothing lost."""
    left = await read_stores([one.data for one in stage.instances[:places]])
    assert len(set(common_digests(left))) == 1
    stories = [history(one.world, bytes.fromhex(artifact)).events for one in left]
    assert story._are_alike(stories)
    said = set().union(*(one.acknowledged for one in stage.instances))
    for one in left:
        assert {bytes.fromhex(name) for name in said} <= one.records
        log = one.world.log
        assert not [author for author in log.authors() if log.is_forked(author)]


@pytest.mark.trio
async def test_with_an_instance_gone_for_good_what_nobody_answers_ends_by_itself(
    tmp_path: Path,
) -> None:
    stage = staged(tmp_path, three="available", rule=4_000)
    zero, _, two = stage.instances
    with trio.fail_after(150):
        async with started(stage) as teller:
            name = await argued_over(teller, VOICES[:2])
            two.kill()
            both = story._Teller(
                staged=Stage(founded=stage.founded, instances=stage.instances[:2]),
                say=teller.say,
                artifact=teller.artifact,
            )
            await both._vote(VOICES[2], name, -1)

            # Two for and one against is not clear, an arbiter is drawn, and says nothing.
            await both._in_phase(name, "rule")
            await ends_by(both, name, "sign")
            await both._stands("active")

            # The only moderator is where nobody answers.
            await both._act(
                story.REPORTER,
                f"/v1/artifacts/{both.artifact}/report",
                {"category": "harmful", "note": "It tells how to poison a well."},
            )
            report = await both._round(2)
            await both._in_phase(report, "assess")
            await ends_by(both, report, "lapsed")
            row = msgspec.json.decode(
                await zero.get(f"/v1/artifacts/{both.artifact}"), type=dict[str, object]
            )
            assert (row["state"], row["flags"]) == ("active", [])
            with pytest.raises(httpx.ConnectError):
                await two.get("/health")
            await both._all_know()
            for one in both.staged.instances:
                assert await one.stop() == 0
    await all_alike(stage, both.artifact, places=2)
