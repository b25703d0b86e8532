"""The route of a debate on a real instance: pages, digests, prices, and who reads at a time."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import msgspec
import pytest
import trio

from federation.certificates import Phase
from federation.review import RoundPin
from node.api.debate import KEPT, Reading, price
from node.api.limits import DEAREST_LOOK
from node.base.errors import NodeCode
from node.queries.debate import DebatePage, Look, look, words
from tests.federation.protocol.town import Town
from tests.node.api.living import Living, living, until
from tests.node.queries.test_debate import argued


async def arguing(it: Living) -> str:
    """Propose an artifact and let two agents argue about it; give the round."""
    async with it.acting(0) as author, it.acting(1) as critic:
        made = await author.post("/v1/artifacts", json={"title": "Water", "topics": ["a"]})
        assert made.status_code == 201, made.text
        await until(
            lambda: [one for one in it.node.world.rounds.values() if one.phase is Phase.DELIBERATE]
        )
        (name,) = (one.hex() for one in it.node.world.rounds)
        argue = f"/v1/rounds/{name}/argue"
        first = await critic.post(argue, json={"stance": "against", "note": "It is dry. Look."})
        assert first.status_code == 201, first.text
        answer = {"stance": "for", "note": "It is wet.", "replies_to": first.json()["id"]}
        assert (await author.post(argue, json=answer)).status_code == 201
    return name


@pytest.mark.trio
async def test_anybody_reads_a_debate_with_its_digest(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it:
            name = await arguing(it)
            async with it.client() as anybody:
                told = await anybody.get(f"/v1/rounds/{name}/debate", params={"digest": 2})
                short = await anybody.get(f"/v1/rounds/{name[:8]}/debate", params={"most": 1})
                rest = await anybody.get(
                    f"/v1/rounds/{name}/debate", params={"after": short.json()["next"]}
                )

    page = msgspec.json.decode(told.content, type=DebatePage)
    assert told.status_code == 200
    assert [one.note for one in page.arguments] == ["It is dry. Look.", "It is wet."]
    assert page.digest is not None
    assert {one.words for one in page.digest.quotes} <= {"It is dry.", "Look.", "It is wet."}
    assert len(page.digest.quotes) == 2
    assert short.json()["digest"] is None
    assert len(short.json()["arguments"]) == len(rest.json()["arguments"]) == 1
    assert rest.json()["next"] is None


@pytest.mark.trio
async def test_what_is_no_round_no_cursor_or_no_number_is_refused(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it:
            name = await arguing(it)
            async with it.client() as anybody:
                answers = [
                    await anybody.get(f"/v1/rounds/{one}/debate", params=params)
                    for one, params in cast(
                        "list[tuple[str, Mapping[str, str]]]",
                        [
                            ("ab" * 32, {}),
                            (name, {"after": "ab" * 32}),
                            (name, {"after": "g" * 64}),
                            (name, {"after": "ab"}),
                            (name, {"digest": "0"}),
                            (name, {"digest": "41"}),
                            (name, {"most": "201"}),
                            (name, {"digest": "all"}),
                        ],
                    )
                ]

    assert [one.json()["code"] for one in answers] == [
        NodeCode.NOT_FOUND,
        NodeCode.NOT_FOUND,
        *[NodeCode.BAD_FIELD] * 6,
    ]


def seen() -> Look:
    town = Town.of(1, 6)
    name, _, _ = argued(town)
    return look(town.world(), name, digest=3)


def test_a_look_at_much_costs_more_up_to_a_bound() -> None:
    small = seen()
    raws = {bytes([one]) * 32: bytes(16 * 1024) for one in range(200)}

    assert price(small) == 0
    assert price(replace(small, raws=dict([*raws.items()][:8]))) == 2
    assert price(replace(small, raws=raws)) == 50
    many = {bytes([one // 256, one % 256]) * 16: bytes(16 * 1024) for one in range(2_000)}
    assert price(replace(small, raws=many)) == DEAREST_LOOK


@pytest.mark.trio
async def test_a_digest_is_made_once_while_nothing_changes_and_anew_when_something_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[object] = []

    def counted(one: Look, known: object = None) -> object:
        made.append(known)
        return words(one, known)  # type: ignore[arg-type]

    monkeypatch.setattr("node.api.debate.words", counted)
    one, reading = seen(), Reading()
    first = await reading.words(one)
    again = await reading.words(replace(one, shown=one.shown[:1]))
    gone = replace(one, raws=dict([*one.raws.items()][:1]))
    without = await reading.words(gone)
    longer = await reading.words(replace(one, sentences=4))
    await reading.words(replace(one, sentences=None))

    assert made == [None, first.digest, None, None, None]
    assert again.digest is first.digest
    assert without.digest != first.digest
    assert longer.digest is not None


@pytest.mark.trio
async def test_only_so_many_digests_are_kept() -> None:
    one, reading = seen(), Reading()
    rounds = [replace(one.found, pin=renamed(one, number)) for number in range(KEPT + 5)]
    for found in rounds:
        await reading.words(replace(one, found=found))

    assert len(reading._kept) == KEPT


def renamed(one: Look, number: int) -> RoundPin:
    return replace(one.found.pin, round=number.to_bytes(32, "big"))
