"""An instance that admits without cost, among real nodes: every other member sees it, with codes."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import trio
from msgspec.structs import replace

from federation.admission import Mint, Work, blank_work, passes_gate, terms_of, work_bytes
from federation.protocol import Keyring, World
from federation.records import Record, Role, sign_record
from node.api import serve
from node.cli.main import main
from node.commands import Proposal, propose
from node.runtime import Node
from tests.node.api.test_page import Page
from tests.node.runtime.newcomers import admission_of, newcomer
from tests.node.runtime.realm import Realm, realm, tiny, until

HOUR = 3_600_000
LIAR = 2


def blank(node: Node, first: Record) -> Work:
    state, key = node.world.state, first.body
    assert hasattr(key, "key")
    return blank_work(
        realm=state.realm,
        role=Role.AGENT,
        instance=node.instance,
        key=key.key,
        epoch=state.tick,
        beacon=state.joining.beacon,
        terms=terms_of(state.joining.rules, Role.AGENT, state.joining.bits),
    )


def good(node: Node, first: Record) -> bytes:
    mint = Mint(blank=blank(node, first))
    progress = mint.start()
    while not progress.is_over:
        progress = mint.advance(progress, 100_000)
    return work_bytes(mint.finish(progress))


def false(node: Node, first: Record) -> bytes:
    """Make a proof whose gate passes and whose parts do no work."""
    work = replace(blank(node, first), bits=30)
    gates = (replace(work, gate=nonce.to_bytes(8, "big")) for nonce in range(2**20))
    return work_bytes(next(one for one in gates if passes_gate(one)))


async def admit_anyway(node: Node, first: Record, proof: bytes | None) -> Record:
    """Sign an admission as a patched node would: nobody at the door."""
    body = await admission_of(node, first, proof)

    def forge(world: World, ring: Keyring, now: int) -> Record:
        ((seq, head),) = world.log.heads_of(node.instance)
        return sign_record(
            body,
            realm=world.realm,
            signer=ring.current,
            author=node.instance,
            key_index=0,
            seq=seq + 1,
            prev=head,
            at=now,
        )

    return await node.sign(node.instance, forge)


@asynccontextmanager
async def served(nodes: Sequence[Node]) -> AsyncIterator[list[str]]:
    """Serve some nodes over HTTP; give their addresses."""
    stop, urls = trio.Event(), []
    async with trio.open_nursery() as nursery:
        for node in nodes:
            listening = trio.Event()

            def ready(url: str, listening: trio.Event = listening) -> None:
                urls.append(url)
                listening.set()

            async def run(node: Node = node, ready: Callable[[str], None] = ready) -> None:
                await serve(node, host="127.0.0.1", port=0, ready=ready, stop=stop)

            nursery.start_soon(run)
            await listening.wait()
        yield urls
        stop.set()


async def lie(town: Realm, nodes: Sequence[Node]) -> dict[str, str | None]:
    """Let one instance admit without cost; give the codes that its admissions should have."""
    node = nodes[LIAR]
    crowd = [newcomer(node.world.realm, number) for number in range(5)]
    proofs = {
        None: good(node, crowd[0]),
        "PROOF_MISSING": None,
        "PROOF_WRONG_KEY": good(node, crowd[0]),
        "PROOF_WORK": false(node, crowd[3]),
        "INSTANCE_BARRED": good(node, crowd[4]),
    }
    expected = {}
    for first, (code, proof) in zip(crowd, proofs.items(), strict=True):
        record = await admit_anyway(node, first, proof)
        expected[record.id.hex()] = code
    names = [bytes.fromhex(name) for name in expected]
    await until(lambda: all(name in one.world.log for one in nodes for name in names))
    # Admissions call no cut; a proposal does.
    (author, *_) = town.agents_of(0)
    await propose(nodes[0], author, Proposal(title="A claim", topics=("code",), claims=("It is.",)))
    void = [bytes.fromhex(name) for name, code in expected.items() if code]
    await until(lambda: all(name in one.world.state.refused for one in nodes for name in void))
    return expected


@pytest.mark.trio
async def test_an_instance_that_admits_without_cost_is_in_sight_of_every_other_member(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    town = realm(tmp_path, admission=tiny(), epoch=HOUR)
    with trio.fail_after(90):
        async with town.nodes() as nodes:
            await until(lambda: all(node.health().state == "ready" for node in nodes))
            expected = await lie(town, nodes)
            liar = nodes[LIAR].instance.hex()
            honest = [one for number, one in enumerate(nodes) if number != LIAR]
            seen, whys, pages = [], [], []
            async with served(honest) as urls:
                for url in urls:
                    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
                        seen.append((await client.get(f"/v1/instances/{liar}/admissions")).json())
                        whys.append(
                            {
                                name: (await client.get(f"/v1/records/{name}/why")).json()["code"]
                                for name in expected
                            }
                        )
                        pages.append(Page((await client.get("/")).text))
                told = {}
                for url, node in zip(urls, honest, strict=True):
                    place = next(one for one in town.places if one.root == node.data.root)
                    monkeypatch.setenv("FOLKMOOT_TOKEN", place.operator_token.read_text().strip())
                    for line in (["peer", "why", liar], ["why", next(iter(whys[0]))]):
                        capsys.readouterr()
                        code = await trio.to_thread.run_sync(main, [*line, "--url", url])
                        assert code == 0
                        told[url, line[0]] = capsys.readouterr().out

    assert whys == [expected, expected]
    assert seen[0] == seen[1]
    assert {one["code"]: one["count"] for one in seen[0]["void"]["codes"]} == {
        code: 1 for code in expected.values() if code
    }
    assert (seen[0]["barred"], seen[0]["agents"]["used"]) == (True, 1)
    for page in pages:
        page.check()
        assert "barred" in page.words
    for (_, what), text in told.items():
        if what == "peer":
            assert "it is barred" in text
            for name, code in expected.items():
                assert (name in text) is (code is not None)
                assert code is None or code in text
