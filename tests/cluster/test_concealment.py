"""Nobody sees a vote before the box is final: not on disk, not on the wire, not over HTTP.

Three real nodes hold a box open by withholding one vote. Each ballot cites an evidence digest of
its own, and each nonce is kept by the test. While the box is open, no trace of either stands in any
file, any frame, any answer or any log line of anybody: the home of a voter holds it sealed only.
After the close the same search finds them everywhere, so it could have found them before.
"""

import base64
import logging
from pathlib import Path

import msgspec
import pytest
import trio

from federation.certificates import Phase
from federation.codec import encode
from federation.crypto import Ballot, Basis, Choice, Reason, plain_hash
from federation.records import Commit
from node.runtime import Node
from tests.cluster.crawl import crawl
from tests.cluster.needles import Needles, Secret, files_of, halves, spellings
from tests.cluster.town import Ear, Lines, Open, all_opened, commits_of, holds_same, town
from tests.node.runtime.realm import Realm, until

PROPOSAL = {
    "title": "Water boils at 100 °C at sea level",
    "prose": "It does.",
    "claims": ["Water boils at 100 °C at 101,325 Pa."],
    "falsification": ["A measurement that differs by more than 1 °C."],
    "sources": ["https://example.org/water"],
    "topics": ["science/physics"],
}


class Moot:
    """One round of one realm, every vote of which the test knows."""

    def __init__(self, realm: Realm, ears: tuple[Ear, ...]) -> None:
        self.realm = realm
        self.ears = ears
        self.author = realm.agents_of(0)[0]
        self.voters = [
            (place, agent)
            for place in range(len(realm.places))
            for agent in realm.agents_of(place)
            if agent != self.author
        ]
        self.secrets: list[Secret] = []
        self.answers: dict[str, bytes] = {}
        self.round = b""
        self.artifact = b""

    async def propose(self, opened: tuple[Open, ...]) -> None:
        """Propose, and wait until every instance has its box open."""
        answer = await opened[0].client.post(
            "/v1/artifacts", json={"agent": self.author.hex(), **PROPOSAL}
        )
        assert answer.status_code == 201, answer.text
        self.artifact = bytes.fromhex(answer.json()["id"])
        nodes = [one.node for one in opened]
        await until(lambda: all(node.world.rounds for node in nodes))
        (self.round,) = nodes[0].world.rounds
        await until(lambda: all(self.phase(node) is Phase.COMMIT for node in nodes))

    def phase(self, node: Node) -> Phase | None:
        return node.world.rounds[self.round].phase

    async def vote(self, opened: tuple[Open, ...], place: int, agent: bytes) -> None:
        """Vote over HTTP, citing what nobody else cites."""
        evidence = plain_hash(b"evidence of " + agent)
        drawn = len(self.ears[place].drawn)
        answer = await opened[place].client.post(
            f"/v1/rounds/{self.round.hex()}/vote",
            json={
                "agent": agent.hex(),
                "choice": "for",
                "reason": "accurate",
                "basis": "derivation",
                "evidence": [evidence.hex()],
            },
        )
        assert answer.status_code == 201, answer.text
        self.answers[f"answer to {agent.hex()}"] = str(answer.headers).encode() + answer.content
        nonces = [one for one in self.ears[place].drawn[drawn:] if len(one) == 32]
        assert len(nonces) == 1
        ballot = Ballot(
            choice=Choice.FOR,
            reason=Reason.ACCURATE,
            basis=Basis.DERIVATION,
            evidence=(evidence,),
        )
        self.secrets += [
            Secret(name="nonce", owner=agent, raw=nonces[0]),
            Secret(name="ballot", owner=agent, raw=encode(ballot)),
            Secret(name="evidence", owner=agent, raw=evidence),
        ]

    async def is_decided(self, opened: tuple[Open, ...]) -> None:
        """Wait until all instances have the verdict, and hold the same."""
        nodes = tuple(one.node for one in opened)
        await until(
            lambda: all(
                (found := node.world.state.artifacts.get(self.artifact)) and found.verdict
                for node in nodes
            )
        )
        await until(lambda: holds_same(nodes))
        for node in nodes:
            await node.flushed()

    async def everything(self, opened: tuple[Open, ...], lines: Lines) -> dict[str, bytes]:
        """Gather all files, all that was sent and received, all answers and all log lines."""
        hay = {"log": lines.content, **self.answers}
        ids = [self.round, self.artifact, *(agent for _, agent in self.voters)]
        ids += commits_of(opened[0].node, self.round)
        for place, one in enumerate(opened):
            await one.node.flushed()
            hay |= self.store(place)
            hay |= {f"heard {place}: {k}": v for k, v in self.ears[place].hay().items()}
            answers = await crawl(one.client, ids)
            hay |= {f"http {place}: {path}": answer for path, answer in answers.items()}
        return hay

    def store(self, place: int) -> dict[str, bytes]:
        return {
            f"disk {path}": raw for path, raw in files_of(self.realm.places[place].root).items()
        }


def traces(needles: Needles, hay: dict[str, bytes]) -> list[str]:
    return [
        f"{secret.name} of {secret.owner.hex()[:8]} in {place}"
        for secret, place in needles.found_in(hay)
    ]


@pytest.mark.trio
async def test_no_vote_can_be_seen_before_the_box_is_final(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ears = (Ear(), Ear(), Ear())
    realm = town(tmp_path)
    realm.taps = {place: ear.tap for place, ear in enumerate(ears)}
    realm.entropies = {place: ear.entropy for place, ear in enumerate(ears)}
    moot, lines, root = Moot(realm, ears), Lines(), logging.getLogger()
    before = root.level
    root.addHandler(lines)
    root.setLevel(logging.INFO)
    logging.getLogger("folkmoot").setLevel(logging.DEBUG)
    try:
        with trio.fail_after(60):
            async with all_opened(realm) as opened:
                nodes = tuple(one.node for one in opened)
                await moot.propose(opened)
                *early, last = moot.voters
                for place, agent in early:
                    await moot.vote(opened, place, agent)
                await until(
                    lambda: all(len(commits_of(n, moot.round)) == len(early) for n in nodes)
                )
                await until(lambda: holds_same(nodes))
                hay = await moot.everything(opened, lines)
                captured = capfd.readouterr()
                hay |= {"stdout": captured.out.encode(), "stderr": captured.err.encode()}
                sealed = [
                    (one.author, one.body)
                    for one in map(nodes[0].world.log.get, commits_of(nodes[0], moot.round))
                    if one is not None and isinstance(one.body, Commit)
                ]

                # The box is open, and the search sees what may be seen: the sealed copies.
                assert {moot.phase(node) for node in nodes} == {Phase.COMMIT}
                for place in range(3):
                    here = b"".join(moot.store(place).values())
                    heard = b"".join(ears[place].hay("in").values())
                    kept = realm.agents_of(place)
                    for agent, body in sealed:
                        assert any(half in here for half in halves(body.sealed))
                        assert agent in kept or body.commitment in heard
                assert len(sealed) == len(early)
                assert traces(Needles(moot.secrets), hay) == []

                await moot.vote(opened, *last)
                await moot.is_decided(opened)
                assert [row.why for node in nodes for row in node.peers() if row.why] == []

                needles = Needles(moot.secrets)
                for place in range(3):
                    store = {"all": b"".join(moot.store(place).values())}
                    assert {secret for secret, _ in needles.found_in(store)} == set(moot.secrets)
                    heard = {"all": b"".join(ears[place].hay("in").values())}
                    kept = realm.agents_of(place)
                    assert {secret for secret, _ in needles.found_in(heard)} >= {
                        secret for secret in moot.secrets if secret.owner not in kept
                    }
                    page = await opened[place].client.get(f"/v1/rounds/{moot.round.hex()}")
                    assert {
                        secret.owner for secret, _ in needles.found_in({"http": page.content})
                    } == {agent for _, agent in moot.voters}
    finally:
        root.removeHandler(lines)
        root.setLevel(before)


@pytest.mark.parametrize("shift", range(8))
def test_the_search_finds_every_spelling(shift: int) -> None:
    raw = plain_hash(b"a nonce")
    needles = Needles([Secret(name="nonce", owner=b"", raw=raw)])
    around = b"\x07" * shift + raw + b"\x09" * 5

    for coded in (around, around.hex().encode(), around.hex().upper().encode()):
        assert list(needles.found_in({"x": coded}))
    for code in (base64.b64encode, base64.urlsafe_b64encode, base64.b32encode):
        assert list(needles.found_in({"x": code(around)}))
    assert list(needles.found_in({"x": f"a line {around!r}".encode()}))
    assert list(needles.found_in({"x": msgspec.json.encode(list(around))}))
    assert list(
        needles.found_in({"first page": around[: shift + 20], "second": around[shift + 20 :]})
    )
    assert not list(needles.found_in({"x": plain_hash(around)}))
    assert all(len(one) >= 16 for half in halves(raw) for one in spellings(half))
