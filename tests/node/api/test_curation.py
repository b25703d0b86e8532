"""Disputes, reports, rulings and the way back over HTTP, with a real node that decides them."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
import trio

from federation.certificates import Phase
from node.access.tokens import act
from tests.node.api.living import Living, living, proposal, until
from tests.node.runtime.moot import (
    ARBITERS,
    AUTHOR,
    DISPUTER,
    FIRST,
    FRESH,
    MODERATOR,
    moot,
)

DIGEST = "ab" * 32


class Moot:
    """A running moot and its people."""

    def __init__(self, it: Living, agents: tuple[bytes, ...]) -> None:
        """Give everybody's acts the operator's token."""
        self.it = it
        self.agents = agents

    async def act(self, index: int, *path: str, **body: object) -> httpx.Response:
        """Let an agent act; gives the answer."""
        async with self.it.client(self.it.operator) as client:
            where = "/v1/" + "/".join(path)
            return await client.post(where, json={"agent": self.agents[index].hex(), **body})

    async def read(self, index: int, name: str) -> httpx.Response:
        """Let an agent read, by a token of its own, what it has to judge in a round."""
        async with self.it.client(self.it.token(act(self.agents[index]))) as agent:
            return await agent.get(f"/v1/rounds/{name}/material")

    async def get(self, *path: str, **query: str) -> dict[str, object]:
        """Read something, as anybody may."""
        async with self.it.client() as client:
            answer = await client.get("/v1/" + "/".join(path), params=query)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def done(self, index: int, *path: str, **body: object) -> str:
        """Let an agent act to a good end; gives the id of the record."""
        answer = await self.act(index, *path, **body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def newest(self, about: str, kind: str) -> str | None:
        """Give the newest round of a kind about something."""
        world = self.it.node.world
        names = world.state.rounds_of.get(bytes.fromhex(about), ())
        found = [name for name in names if world.rounds[name].pin.kind == kind]
        return found[-1].hex() if found else None

    async def round_of(self, about: str, kind: str = "review") -> str:
        """Wait for a round of a kind about something."""
        await until(lambda: self.newest(about, kind))
        name = self.newest(about, kind)
        assert name is not None
        return name

    async def phase(self, name: str, phase: Phase | None) -> None:
        """Wait until a round is in a phase."""
        one = self.it.node.world.rounds[bytes.fromhex(name)]
        await until(lambda: one.phase is phase)

    async def ended(self, name: str) -> None:
        """Wait until a cut contains the end of a round."""
        one = self.it.node.world.rounds[bytes.fromhex(name)]
        await until(lambda: one.closed)

    async def voted(self, name: str, votes: dict[int, str]) -> None:
        """Let a panel vote; the node reveals."""
        await self.phase(name, Phase.COMMIT)
        for index, choice in votes.items():
            await self.done(
                index, "rounds", name, "vote", choice=choice, reason="accurate", basis="tool"
            )

    async def accepted(self, title: str = "Water boils") -> str:
        """Let a proposal be accepted; gives its id."""
        record = await self.done(AUTHOR, "artifacts", **proposal(title=title))
        name = await self.round_of(record)
        await self.voted(name, dict.fromkeys(FIRST, "for"))
        await self.ended(name)
        return record


async def with_moot(root: Path, play: Callable[[Moot], Awaitable[None]], **review: object) -> None:
    town = moot(root, **review)
    with trio.fail_after(90):
        async with living(root, data=town.places[0]) as it:
            await play(Moot(it, town.agents_of(0)))


@pytest.mark.trio
async def test_a_dispute_runs_from_its_filing_to_a_retraction(tmp_path: Path) -> None:
    async def play(town: Moot) -> None:
        artifact = await town.accepted()
        filing = {"ground": "inaccurate", "claim": 1, "evidence": [DIGEST], "note": "Not here."}
        filed = await town.done(DISPUTER, "artifacts", artifact, "dispute", **filing)
        name = await town.round_of(artifact, "dispute")
        listed = await town.get("disputes", artifact=artifact, open="true")
        page = await town.get("rounds", name)
        assert [one["record"] for one in listed["items"]] == [filed]  # type: ignore[attr-defined]
        assert page["kind"] == "dispute"
        assert page["proceedings"]["filed"]["note"] == "Not here."  # type: ignore[index]

        twice = await town.act(DISPUTER, "artifacts", artifact, "dispute", ground="outdated")
        assert (twice.status_code, twice.json()["code"]) == (409, "GUARD_FAILED")
        await town.phase(name, Phase.COMMIT)
        involved = await town.act(
            FIRST[0], "rounds", name, "vote", choice="for", reason="novel", basis="tool"
        )
        assert (involved.status_code, involved.json()["code"]) == (403, "NOT_ELIGIBLE")
        await town.voted(name, dict.fromkeys(FRESH, "against"))
        await town.ended(name)

        shown = await town.get("disputes", filed)
        assert shown["verdict"]["why"].startswith("Retracted by vote")  # type: ignore[index]
        assert (await town.get("disputes", name))["filed"] == shown["filed"]
        one = await town.get("artifacts", artifact)
        assert one["state"] == "retracted"
        story = await town.get("artifacts", artifact, "history")
        words = [event["event"] for event in story["events"]]  # type: ignore[attr-defined]
        assert [word for word in words if word != "certified"] == [
            "proposed",
            "opened",
            "verdict",
            "disputed",
            "opened",
            "verdict",
        ]
        again = await town.act(DISPUTER, "artifacts", artifact, "dispute", ground="outdated")
        assert again.json()["code"] == "GUARD_FAILED"

    await with_moot(tmp_path, play)


@pytest.mark.trio
async def test_a_report_is_assessed_hides_and_is_decided(tmp_path: Path) -> None:
    async def play(town: Moot) -> None:
        artifact = await town.accepted()
        silent = await town.act(DISPUTER, "artifacts", artifact, "report", category="harmful")
        assert silent.status_code == 422
        saying = {"category": "harmful", "note": "It burns."}
        filed = await town.done(DISPUTER, "artifacts", artifact, "report", **saying)
        name = await town.round_of(artifact, "report")
        await town.phase(name, Phase.ASSESS)
        other = await town.act(5, "rounds", name, "assess", credible=True)
        assert (other.status_code, other.json()["code"]) == (403, "NOT_MODERATOR")
        await town.done(MODERATOR, "rounds", name, "assess", credible=True, note="It does.")
        await until(
            lambda: town.it.node.world.rounds[bytes.fromhex(name)].phase is not Phase.ASSESS
        )
        hidden = await town.get("artifacts", artifact)
        assert (hidden["state"], hidden["flags"], hidden["prose"]) == ("disputed", ["hidden"], None)
        # Who has to judge it reads it all the same; nobody else does, and not for ever.
        for judge in (5, MODERATOR, AUTHOR, DISPUTER):
            seen = (await town.read(judge, name)).json()
            assert (seen["text"], seen["hidden"]["by"]) == ("held", "realm")
            assert seen["prose"] is not None
        assert (await town.read(FIRST[0], name)).json()["code"] == "NOT_ALLOWED"
        async with town.it.client() as anybody:
            asked = {"agent": town.agents[5].hex()}
            stranger = await anybody.get(f"/v1/rounds/{name}/material", params=asked)
        assert stranger.status_code == 401

        await town.voted(name, dict.fromkeys((5, 6, 7, 8, 10), "for"))
        await town.ended(name)
        shown = await town.get("artifacts", artifact)
        assert (shown["state"], shown["flags"]) == ("active", [])
        assert (await town.read(5, name)).json()["code"] == "NOT_ALLOWED"
        assert (await town.get("disputes", filed))["kind"] == "report"

    await with_moot(tmp_path, play)


@pytest.mark.trio
async def test_a_contested_result_is_ruled_by_a_drawn_arbiter(tmp_path: Path) -> None:
    async def play(town: Moot) -> None:
        record = await town.done(AUTHOR, "artifacts", **proposal())
        name = await town.round_of(record)
        early = await town.act(AUTHOR, "rounds", name, "contest", ground="not_heard")
        assert (early.status_code, early.json()["code"]) == (409, "NOT_IN_PHASE")
        await town.voted(name, dict.fromkeys(FIRST, "for"))
        await town.phase(name, Phase.CONTEST)
        await town.done(AUTHOR, "rounds", name, "contest", ground="not_heard", note="Nobody.")
        await town.phase(name, Phase.RULE)
        page = await town.get("rounds", name)
        drawn = page["proceedings"]["arbiters"]  # type: ignore[index]
        assert {one["agent"]["name"] for one in drawn} == {f"agent {one}" for one in ARBITERS}
        ruling = {"ruling": "reject", "ground": "unfair", "note": "It was not heard."}
        mine = await town.get("agents", drawn[0]["agent"]["id"], "reviews")
        assert [row["act"] for row in mine["rounds"]] == ["rule"]  # type: ignore[attr-defined]
        wrong = await town.act(8, "rounds", name, "rule", **ruling)
        assert (wrong.status_code, wrong.json()["code"]) == (403, "NOT_DRAWN")
        for one in drawn:
            index = int(one["agent"]["name"].split()[1])
            await town.act(index, "rounds", name, "rule", **ruling)
        await town.ended(name)
        done = await town.get("rounds", name)
        assert done["verdict"]["by"] == "arbiter"  # type: ignore[index]
        assert done["verdict"]["contested"]  # type: ignore[index]
        assert [one["counts"] for one in done["proceedings"]["rulings"]].count(True) == 1  # type: ignore[index]

    await with_moot(tmp_path, play, contest=400, rule=5_000)


@pytest.mark.trio
async def test_a_sealed_argument_opens_by_itself(tmp_path: Path) -> None:
    async def play(town: Moot) -> None:
        record = await town.done(AUTHOR, "artifacts", **proposal())
        name = await town.round_of(record)
        await town.phase(name, Phase.SEAL)
        sealing = {"stance": "against", "note": "I looked first.", "evidence": [DIGEST]}
        await town.done(FIRST[0], "rounds", name, "seal", **sealing)
        assert (await town.get("rounds", name))["arguments"] == []
        await town.phase(name, Phase.DELIBERATE)
        (opened,) = (await town.get("rounds", name))["arguments"]  # type: ignore[misc]
        assert (opened["note"], opened["stance"], opened["evidence"]) == (  # type: ignore[index]
            "I looked first.",
            "against",
            [DIGEST],
        )

    await with_moot(tmp_path, play, mode="sealed_first", seal=400)


@pytest.mark.trio
async def test_the_way_back_withdraw_revise_resubmit_and_flag(tmp_path: Path) -> None:
    async def play(town: Moot) -> None:
        artifact = await town.accepted()
        evidence = {"evidence": [DIGEST]}
        first = await town.done(5, "artifacts", artifact, "flag-stale", **evidence, note="Old.")
        again = await town.done(5, "artifacts", artifact, "flag-stale", **evidence, note="Old.")
        assert first == again
        await until(
            lambda: town.it.node.world.state.artifacts[bytes.fromhex(artifact)].stale_at is not None
        )
        assert (await town.get("artifacts", artifact))["flags"] == ["stale"]
        revision = await town.done(
            AUTHOR, "artifacts", artifact, "revise", **proposal(title="Water boils at 93 °C")
        )
        assert (await town.get("artifacts", revision))["state"] in {"waiting", "under_review"}
        stranger = await town.act(6, "artifacts", artifact, "withdraw", reason="no")
        assert (stranger.status_code, stranger.json()["code"]) == (403, "NOT_AUTHOR")
        await town.done(AUTHOR, "artifacts", artifact, "withdraw", reason="I was wrong.")

        def gone() -> bool:
            state = town.it.node.world.state
            return state.artifacts[bytes.fromhex(artifact)].state.value == "retracted"

        await until(gone)
        page = await town.get("artifacts", artifact)
        assert "taken it back" in page["waits"]["sentence"]  # type: ignore[index]
        soon = page["curation"]["cooldown_until"]  # type: ignore[index]
        await until(lambda: town.it.node.world.state.tick >= soon)
        brought = {"evidence": ["cd" * 32]}
        await town.done(AUTHOR, "artifacts", artifact, "resubmit", **brought, note="Look.")
        await until(lambda: not gone())
        assert (await town.get("artifacts", artifact))["curation"]["resubmitted"] == 1  # type: ignore[index]

    await with_moot(tmp_path, play)


@pytest.mark.trio
async def test_what_is_too_long_or_of_nothing_is_refused_before_it_is_signed(
    tmp_path: Path,
) -> None:
    async def play(town: Moot) -> None:
        record = await town.done(AUTHOR, "artifacts", **proposal())
        name = await town.round_of(record)
        await town.phase(name, Phase.DELIBERATE)
        before = town.it.node.world.log.count_of(town.agents[1])
        for note in ("x" * 12_001, "€" * 6_000):
            told = await town.act(1, "rounds", name, "argue", stance="for", note=note)
            assert (told.status_code, told.json()["code"]) == (413, "TOO_LARGE")
        empty = await town.act(1, "rounds", name, "argue", stance="for", note="")
        assert (empty.status_code, empty.json()["code"]) == (422, "BAD_FIELD")
        nobody = await town.act(1, "sanctions", DIGEST, "appeal", note="Why?")
        assert (nobody.status_code, nobody.json()["code"]) == (404, "UNKNOWN_SANCTION")
        short = await town.act(1, "sanctions", "ab", "appeal")
        assert short.status_code == 422
        nothing = await town.act(1, "artifacts", DIGEST, "dispute", ground="inaccurate")
        assert nothing.status_code == 404
        many = {"ground": "inaccurate", "evidence": [DIGEST] * 2}
        twice = await town.act(1, "artifacts", record, "dispute", **many)
        assert (twice.status_code, twice.json()["code"]) == (422, "BAD_FIELD")
        assert town.it.node.world.log.count_of(town.agents[1]) == before

    await with_moot(tmp_path, play, deliberate=5_000)


@pytest.mark.trio
async def test_the_story_is_the_same_after_a_restart(tmp_path: Path) -> None:
    town = moot(tmp_path)
    told: list[dict[str, object]] = []
    with trio.fail_after(90):
        for _ in range(2):
            async with living(tmp_path, data=town.places[0]) as it:
                play = Moot(it, town.agents_of(0))
                if not told:
                    artifact = await play.accepted()
                    await play.done(
                        DISPUTER, "artifacts", artifact, "dispute", ground="outdated", note="Old."
                    )
                    name = await play.round_of(artifact, "dispute")
                    await play.voted(name, dict.fromkeys(FRESH, "against"))
                    await play.ended(name)
                    # What stands in a cut of its own is the same for ever.
                    await _two_cuts(it)
                told.append(await play.get("artifacts", artifact, "history"))

    assert told[0] == told[1]


async def _two_cuts(it: Living) -> None:
    cut = it.node.world.state.cut
    await until(lambda: it.node.world.state.cut > cut + 1)
