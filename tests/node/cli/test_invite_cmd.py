"""Invites as the operator types them."""

import json
from collections.abc import Iterator

import pytest
import trio

from node.cli import invite_cmd
from node.commands import invites
from node.runtime import inviting
from tests.node.api.living import Background, background
from tests.node.cli.session import Session, run
from tests.node.runtime.newcomers import join, newcomer


@pytest.fixture(scope="module")
def inn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    with background(tmp_path_factory.mktemp("inn")) as it:
        yield it


@pytest.fixture(autouse=True)
def ours(inn: Background, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLKMOOT_URL", inn.it.url)
    monkeypatch.setenv("FOLKMOOT_TOKEN", inn.it.operator)


def told(line: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    session = run(f"{line} --json", capsys)
    assert (session.code, session.people) == (0, ""), session
    found: dict[str, object] = json.loads(session.data)
    return found


def lines(session: Session, name: object) -> list[str]:
    return [line for line in session.data.splitlines() if line.startswith(str(name))]


def test_the_bounds_are_those_of_the_node() -> None:
    assert invite_cmd._MOST_USES == inviting.MOST_USES
    assert invite_cmd._MOST_DAYS == inviting.MOST_DAYS
    assert (invite_cmd._WEIGHT, 1, invite_cmd._DAYS) == (
        invites.WEIGHT,
        invites.USES,
        invites.DAYS,
    )


def test_the_code_alone_is_data(inn: Background, capsys: pytest.CaptureFixture[str]) -> None:
    session = run("invite create alice --weight 128 --uses 3 --days 30", capsys)
    code = session.data.strip()
    listed = told("invite list", capsys)["invites"]

    assert session.code == 0
    assert "shown this once" in session.people
    assert len(code) == inviting.CODE_LENGTH
    assert code not in session.people
    assert inn.it.node.invites.redeem(code, bytes(32)).weight == 128
    assert isinstance(listed, list)
    assert (listed[0]["uses"], listed[0]["state"]) == (3, "open")
    assert code[13:] not in json.dumps(listed)


def test_who_came_by_it_has_a_line_of_its_own(
    inn: Background, capsys: pytest.CaptureFixture[str]
) -> None:
    made = told("invite create bert --uses 2", capsys)
    node, code = inn.it.node, str(made["code"])
    noted = newcomer(node.world.realm, 7).id

    async def come() -> None:
        await node.invites.note(node.invites.redeem(code, noted), noted)
        agent = await join(node, code, 8)
        with trio.fail_after(15):
            while not ((one := node.invites.book.invited(agent)) and one.is_settled):  # noqa: ASYNC110
                await trio.sleep(0.02)

    trio.from_thread.run(come, trio_token=inn.token)
    shown = lines(run("invite list", capsys), made["id"])

    assert len(shown) == 3
    assert "2/2" in shown[0]
    assert "used" in shown[0]
    assert "noted" in shown[1]
    assert "vouched" in shown[2]
    assert "newcomer 8" in shown[2]


def test_what_is_taken_back_opens_nothing(
    inn: Background, capsys: pytest.CaptureFixture[str]
) -> None:
    made = told("invite create cleo", capsys)
    gone = run(f"invite revoke {made['id']}", capsys)
    again = told(f"invite revoke {made['id']}", capsys)
    (shown,) = lines(run("invite list", capsys), made["id"])
    unknown = run("invite revoke 00000000", capsys)

    assert gone.code == 0
    assert "opens nothing" in gone.people
    assert again == {"done": True}
    assert "revoked" in shown
    assert unknown.code == 1
    assert unknown.three[2].endswith("[NOT_FOUND]")
    with pytest.raises(Exception, match="INVITE_REFUSED"):
        inn.it.node.invites.redeem(str(made["code"]), bytes(32))


@pytest.mark.parametrize(
    "option", ["--weight 0", "--weight 256", "--uses 65", "--days 91", "--days x"]
)
def test_what_it_cannot_be_is_refused_before_the_node_is_asked(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(f"invite create alice {option}", capsys).code == 2


def test_more_than_a_page_is_listed_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = [told("invite create dora", capsys)["id"] for _ in range(3)]
    whole = told("invite list", capsys)
    monkeypatch.setattr(invite_cmd, "_PAGE", 1)
    paged = told("invite list", capsys)

    assert paged == whole
    assert isinstance(paged["invites"], list)
    assert [one["id"] for one in paged["invites"][:3]] == made[::-1]
