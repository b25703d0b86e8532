"""`folkmoot peer …` between two nodes of one realm, and the states that `status` tells."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from node.base.settings import Settings
from node.setup import found_realm, write_instance
from node.setup.founding import Founder
from tests.node.cli.running import Running, started
from tests.node.cli.session import run

PLACES = ("north", "south")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two instances of two operators; only the first one is watched."""

    north: Running
    south: Running
    south_id: str

    @property
    def address(self) -> str:
        """Where the second one is reached."""
        found = self.south.told["addresses"]
        assert isinstance(found, list)
        return str(found[0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a realm of two instances."""
    folder = tmp_path_factory.mktemp("pair")
    (folder / "secret").write_text("secret\n")
    (folder / "secret").chmod(0o600)
    founded = found_realm(
        name="moot",
        preset="test",
        operators=[f"operator {place}" for place in PLACES],
        instances=[(place, number) for number, place in enumerate(PLACES)],
        founders=[Founder(name=f"agent {n}", operator=n % 2, instance=n % 2) for n in range(4)],
    )
    for number, place in enumerate(PLACES):
        write_instance(
            folder / place,
            founded,
            instance=number,
            passphrase=b"secret",
            settings=Settings(
                name=place,
                http_port=0,
                listen=("/ip4/127.0.0.1/tcp/0",),
                passphrase_file=Path("../secret"),
                sync_every_ms=200,
            ),
        )
    return folder


@pytest.fixture(scope="module")
def pair(folder: Path) -> Iterator[Pair]:
    """Run both; nobody has told them of each other."""
    with (
        started(f"run --data {folder / 'north'}", folder / "north.log") as north,
        started(f"run --data {folder / 'south'}", folder / "south.log") as south,
    ):
        yield Pair(north=north, south=south, south_id=str(south.told["instance"]))


@pytest.fixture(autouse=True)
def ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the first node."""
    for name in ("FOLKMOOT_URL", "FOLKMOOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOLKMOOT_DATA", str(folder / "north"))


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.1)


def test_peers_are_added_judged_banned_and_removed(
    pair: Pair, capsys: pytest.CaptureFixture[str]
) -> None:
    def state() -> str:
        return str(json.loads(run("status --json", capsys).data)["health"]["state"])

    def is_connected() -> bool:
        (peer,) = json.loads(run("peer list --json", capsys).data)["peers"]
        assert peer["instance"] == pair.south_id
        return bool(peer["connected"])

    alone = run("status", capsys)
    assert alone.code == 1
    assert "waiting_for_quorum" in alone.data
    assert "south" in run("peer list", capsys).data

    added = run(f"peer add {pair.address}", capsys)
    assert added.code == 0, added.people
    wait_until(is_connected)
    wait_until(lambda: state() == "ready")
    assert run("status", capsys).code == 0

    why = run("peer why south", capsys)
    assert why.code == 0
    assert pair.south_id in why.data
    assert "connected" in why.data

    banned = run(f"peer ban {pair.south_id[:8]} --minutes 5", capsys)
    assert banned.code == 0
    assert "5 min" in banned.people
    wait_until(lambda: not is_connected())
    assert json.loads(run("peer why south --json", capsys).data)["banned_until"]
    assert run("peer ban south --minutes 0 --json", capsys).data == '{"done":true}\n'
    assert json.loads(run("peer why south --json", capsys).data)["banned_until"] is None

    # Called anew, it need not wait until the patience with a banned address is over.
    assert run("peer remove south", capsys).code == 0
    assert run(f"peer add {pair.address}", capsys).code == 0
    wait_until(is_connected)
    assert run("peer remove south", capsys).code == 0
    assert json.loads(run("peer why south --json", capsys).data)["address"] is None


def test_a_probe_that_is_refused_as_a_stranger_still_fits(
    pair: Pair, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"peer probe {pair.address}", capsys)

    assert session.code == 0
    assert "it is of this realm, charter and protocol" in session.people


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("/ip4/127.0.0.1/tcp/1", "lacks its /p2p/"),
        ("127.0.0.1:4420", "is not an address"),
    ],
)
def test_an_address_must_name_whom_it_reaches(
    address: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"peer add {address}", capsys)

    assert session.code == 2
    assert why in session.three[1]
