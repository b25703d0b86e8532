"""`folkmoot trust diff` between two real nodes, as its user sees it."""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
import pytest
import trio

from federation.protocol.digest import TableName
from federation.protocol.rows import COLUMNS
from node.cli.output import Output
from node.cli.trust_diff_cmd import _tell
from node.runtime import Node
from tests.node.api.living import in_thread, living, until
from tests.node.cli.session import run
from tests.node.runtime.realm import Realm, introduce, realm

DAY = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two nodes that run in a thread of their own; the first has an HTTP surface."""

    town: Realm
    url: str
    operator: str
    two: Node
    token: trio.lowlevel.TrioToken

    def there(self, act: Callable[[], object]) -> None:
        """Do something in the thread of the nodes."""
        trio.from_thread.run_sync(act, trio_token=self.token)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Run two instances of one realm whose next cut is far away."""
    folder = tmp_path_factory.mktemp("diff")
    town = realm(folder, instances=2, agents=4, epoch=DAY)

    async def nodes(show: Callable[[Pair], None], over: trio.Event) -> None:
        async with living(folder, data=town.places[0]) as it, town.node(1) as two:
            introduce([two, it.node])
            await until(lambda: two.instance in it.node.links.connected)
            show(
                Pair(
                    town=town,
                    url=it.url,
                    operator=it.operator,
                    two=two,
                    token=trio.lowlevel.current_trio_token(),
                )
            )
            await over.wait()

    with in_thread(nodes, within=40) as found:
        yield found


@pytest.fixture(autouse=True)
def ours(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLKMOOT_URL", pair.url)
    monkeypatch.setenv("FOLKMOOT_TOKEN", pair.operator)
    monkeypatch.delenv("FOLKMOOT_DATA", raising=False)


def test_equal_worlds_leave_0_and_different_ones_1(
    pair: Pair, capsys: pytest.CaptureFixture[str]
) -> None:
    same = run("trust diff 'instance 1'", capsys)
    assert same.code == 0, same.people
    assert "their worlds are the same" in same.data

    agent = pair.town.agents_of(1)[0]
    table = pair.two.world.state.tables.named(TableName.AGENTS)
    name, columns = msgspec.msgpack.decode(table.rows()[agent])
    place = COLUMNS["agents"].index("weight")
    pair.there(
        lambda: table.put(name, [*columns[:place], columns[place] + 1, *columns[place + 1 :]])
    )
    differs = run(f"trust diff {pair.two.instance.hex()[:12]}", capsys)
    (line,) = [line for line in differs.data.splitlines() if line.startswith("agents")]

    assert differs.code == 1
    assert "their worlds differ" in differs.data
    assert "agent 1" in line
    assert line.split("weight", 1)[1].split()[:2] == [str(columns[place]), str(columns[place] + 1)]
    assert "before caps" in line
    assert "reckoning: The same evidence and trust" in differs.data

    told = run("trust diff 'instance 1' --json", capsys)
    assert told.code == 1
    page = json.loads(told.data)
    assert page["same"] is False
    assert page["rows"][0]["fields"][0]["field"] == "weight"

    pair.there(lambda: table.put(name, columns))
    assert run("trust diff 'instance 1'", capsys).code == 0

    other = b"\x07" * 32
    pair.there(lambda: pair.two.world.state.tables.rounds.put(other, [b"d" * 32]))
    only = run("trust diff 'instance 1'", capsys)
    assert only.code == 1
    assert "only there" in only.data
    assert "records: " in only.data


def test_only_the_operator_may_ask(
    pair: Pair, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FOLKMOOT_TOKEN")
    session = run("trust diff 'instance 1'", capsys)

    assert session.code == 3
    assert session.three[2].endswith("[NOT_ALLOWED]")
    assert pair.url


def test_a_peer_that_is_none_is_not_found(capsys: pytest.CaptureFixture[str]) -> None:
    session = run("trust diff nobody", capsys)

    assert session.code == 1
    assert session.three[2].endswith("[NOT_FOUND]")


def test_what_was_left_out_is_told_to_people() -> None:
    shown = Output(data=io.StringIO(), people=io.StringIO(), quiet=False)
    _tell(shown, {"says": "They differ.", "more_rows": 3, "more_buckets": 2})
    assert isinstance(shown.people, io.StringIO)

    assert "(3 more rows)\n(2 more buckets not looked into)\n" in shown.people.getvalue()


def test_what_a_peer_or_an_agent_wrote_never_moves_the_cursor() -> None:
    evil = "\x1b[2J\x9b1A\u202e\r\n"
    side = {"cut": 1, "version": evil}
    field = {"field": evil, "ours": evil, "theirs": evil, "means": evil}
    shown = Output(data=io.StringIO(), people=io.StringIO(), quiet=False)
    _tell(
        shown,
        {
            "says": evil,
            "ours": side,
            "theirs": side,
            "buckets": {evil: 1},
            "rows": [{"table": evil, "id": evil, "name": evil, "held": "both", "fields": [field]}],
            "more_rows": evil,
            "causes": [{"code": evil, "says": evil, "fix": evil}],
        },
    )
    assert isinstance(shown.data, io.StringIO)
    written = shown.data.getvalue()

    assert written.count("[2J") == 14
    assert not set(written) & set("\x1b\x9b\u202e\r")
