import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from federation.core import Code as Fault
from node.access.tokens import act
from node.base.errors import NodeCode
from node.cli.errors import Exit
from node.minting import Saved, read_saved
from tests.node.api.living import Background
from tests.node.cli import registering
from tests.node.cli.registering import LONG_MS, Keeper, town
from tests.node.cli.running import environment
from tests.node.cli.session import ROOT, command

hasty = registering.hasty
pytestmark = pytest.mark.usefixtures("hasty")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Background]:
    with town(tmp_path) as running:
        yield running


@pytest.fixture
def keeper(place: Background, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Keeper:
    return Keeper(tmp_path, place.it.url, capsys)


def test_an_operator_and_its_agent_join_with_keys_of_their_own(
    place: Background, keeper: Keeper
) -> None:
    operator = keeper.told("operator register 'ada & sons'")
    agent = keeper.told("agent register robin")
    state = place.it.node.world.state
    robin = state.agents[bytes.fromhex(agent["id"])]

    assert operator["admitted"]
    assert agent["admitted"]
    assert agent["tries"] > 0
    assert robin.operator.hex() == operator["id"] == agent["operator"]
    assert bytes.fromhex(operator["id"]) in state.operators
    assert robin.custody.value == "self"
    assert agent["realm"] == state.realm.hex()
    assert agent["instance"] == place.it.node.instance.hex()
    assert not [*keeper.files("proof"), *keeper.files("search")]


def test_people_are_told_what_happens_and_programs_get_the_id(keeper: Keeper) -> None:
    session = keeper.run("operator register ada")

    assert session.code == 0
    assert len(session.data.split()) == 1
    assert session.data.strip() in session.people
    for said in (
        "Made operator",
        "search for a proof of work: 2 parts of 2 zero bits, 8 hashes of",
        "Each try is a new draw",
        "ada is admitted.",
    ):
        assert said in session.people


def test_the_same_command_again_registers_nobody_else(place: Background, keeper: Keeper) -> None:
    first = keeper.told("operator register ada")
    before = len(place.it.node.world.state.operators)
    again = keeper.told("operator register ada")

    assert again["id"] == first["id"]
    assert (again["admitted"], again["admission"], again["tries"]) == (True, None, 0)
    assert len(place.it.node.world.state.operators) == before


def test_without_waiting_it_is_registered_and_not_admitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with town(tmp_path, epoch=LONG_MS) as running:
        keeper = Keeper(tmp_path, running.it.url, capsys)
        told = keeper.told("operator register ada --no-wait")
        again = keeper.told("operator register ada --no-wait")

    assert not told["admitted"]
    assert told["admission"] == again["admission"]
    assert (told["tries"] > 0, again["tries"]) == (True, 0)


def test_where_no_proof_is_asked_for_none_is_searched_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with town(tmp_path, asks=False) as running:
        keeper = Keeper(tmp_path, running.it.url, capsys)
        told = keeper.told("operator register ada")
        people = keeper.run("operator register bob").people

    assert told["admitted"]
    assert told["tries"] == 0
    assert "asks for no proof of work" in people


@pytest.mark.parametrize(
    ("registration", "code"),
    [("closed", NodeCode.REGISTRATION_CLOSED), ("invited", NodeCode.INVITE_REFUSED)],
)
def test_who_would_be_refused_searches_for_nothing(
    registration: str, code: NodeCode, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with town(tmp_path, registration=registration) as running:
        keeper = Keeper(tmp_path, running.it.url, capsys)
        session = keeper.run("operator register ada --json")

    assert session.code == Exit.REFUSED
    assert session.three[2].endswith(f"[{code}]")
    assert not keeper.files("search")
    # Nor is anybody made who would be in the way later.
    assert not keeper.files("chain")


def test_an_invite_opens_the_door_of_an_instance_that_asks_for_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with town(tmp_path, registration="invited") as running:
        it = running.it
        inviter = it.agents[0]
        made = httpx.post(
            f"{it.url}/v1/agents/{inviter.hex()}/invites",
            json={},
            headers={"authorization": f"Bearer {it.token(act(inviter))}"},
        )
        keeper = Keeper(tmp_path, it.url, capsys)
        code = made.json()["code"]
        operator = keeper.told("operator register ada", invite=code)
        agent = keeper.told("agent register robin", invite=code)
        wrong = keeper.run("agent register wren --json", invite=code[:-1] + "x")

    assert operator["admitted"]
    assert agent["admitted"]
    assert wrong.three[2].endswith(f"[{NodeCode.INVITE_REFUSED}]")


def test_an_agent_needs_an_operator_that_is_admitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with town(tmp_path, epoch=LONG_MS) as running:
        keeper = Keeper(tmp_path, running.it.url, capsys)
        nobody = keeper.run("agent register robin --json")
        keeper.told("operator register ada --no-wait")
        early = keeper.run("agent register robin --json")

    assert nobody.three[2].endswith(f"[{NodeCode.NOT_FOUND}]")
    assert "folkmoot operator register" in nobody.three[2]
    assert early.three[2].endswith(f"[{Fault.NOT_ADMITTED}]")
    assert not keeper.files("search")


def test_of_two_operators_one_is_named(keeper: Keeper) -> None:
    ada = keeper.told("operator register ada")
    keeper.told("operator register bob")
    unnamed = keeper.run("agent register robin --json")
    unknown = keeper.run("agent register robin --json", operator="carl")
    named = keeper.told("agent register robin", operator="ada")

    assert unnamed.three[2].endswith(f"[{NodeCode.AMBIGUOUS}]")
    assert unknown.three[2].endswith(f"[{NodeCode.NOT_FOUND}]")
    assert named["operator"] == ada["id"]


def test_an_operator_that_was_refused_is_no_choice(keeper: Keeper) -> None:
    ada = keeper.told("operator register ada")
    refused = keeper.run("operator register bob --json", domain="nowhere.invalid")
    agent = keeper.told("agent register robin")

    assert refused.three[2].endswith(f"[{NodeCode.DOMAIN_NOT_PROVEN}]")
    assert agent["operator"] == ada["id"]


def test_what_a_domain_has_to_serve_is_told_before_the_search(keeper: Keeper) -> None:
    people = keeper.run("operator register bob", domain="Nowhere.invalid").people
    (chain,) = keeper.files("chain")

    told = people.index("Serve it at https://nowhere.invalid/.well-known/folkmoot.json")
    assert f'{{"operators": ["{chain.stem}"]}}' in people
    assert told < people.index("a proof of work")


@pytest.mark.parametrize(
    "domain", ["localhost", "https://a.example", "a b.example", "x." * 127 + "org"]
)
def test_what_is_no_domain_is_refused_before_anything_is_made(domain: str, keeper: Keeper) -> None:
    session = keeper.run("operator register ada", domain=domain)

    assert session.code == Exit.USAGE
    assert "such as example.org" in session.three[1]
    assert not keeper.root.exists()


def test_a_domain_may_be_as_long_as_the_dns_allows(keeper: Keeper) -> None:
    domain = ".".join(["a" * 50] * 3) + ".invalid"

    assert f"https://{domain}/" in keeper.run("operator register ada", domain=domain).people


def test_many_agents_of_one_operator_follow_one_another(place: Background, keeper: Keeper) -> None:
    operator = keeper.told("operator register ada")
    for name in ("one", "two"):
        assert keeper.told(f"agent register {name} --no-wait")["admission"]
    assert keeper.told("agent register three")["admitted"]
    log = place.it.node.world.log

    assert log.count_of(bytes.fromhex(operator["id"])) == 4
    assert not log.is_forked(bytes.fromhex(operator["id"]))


def test_another_realm_than_the_one_that_is_meant_is_refused(
    keeper: Keeper, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = keeper.run("operator register ada --json", realm="ab" * 32)
    mine = keeper.told("operator register ada")
    with town(tmp_path / "elsewhere") as other:
        moved = Keeper(tmp_path, other.it.url, capsys).run("operator register ada --json")
    right = keeper.told("operator register ada", realm=mine["realm"])

    for session in (named, moved):
        assert session.code == Exit.REFUSED
        assert session.three[2].endswith(f"[{NodeCode.WRONG_REALM}]")
    assert right["id"] == mine["id"]


def test_a_wrong_passphrase_changes_nothing(keeper: Keeper, tmp_path: Path) -> None:
    keeper.told("operator register ada")
    (tmp_path / "secret").write_bytes(b"another")
    session = keeper.run("operator register bob --json")

    assert session.code == Exit.REFUSED
    assert session.three[2].endswith(f"[{NodeCode.WRONG_PASSPHRASE}]")
    assert len(keeper.files("chain")) == 1


def test_no_token_goes_to_a_strangers_instance(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A token that is none here would be answered with NO_TOKEN.
    monkeypatch.setenv("FOLKMOOT_TOKEN", "fm_of_my_own_node")

    assert keeper.told("operator register ada")["admitted"]


@pytest.mark.parametrize(
    "url", ["ftp://a", "nowhere", "http://", "http://[", "127.0.0.1:8420", "''"]
)
def test_what_is_no_address_is_refused(url: str, keeper: Keeper) -> None:
    assert keeper.run("operator register ada --json", url=url).code == Exit.USAGE


def test_without_an_address_it_is_a_usage_error(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = keeper.line("operator register ada").replace(f"--url {keeper.url}", "")
    monkeypatch.delenv("FOLKMOOT_URL", raising=False)
    missing = registering.run(line, capsys)
    monkeypatch.setenv("FOLKMOOT_URL", "nowhere")
    wrong = registering.run(line, capsys)
    monkeypatch.setenv("FOLKMOOT_URL", keeper.url)
    found = registering.run(line, capsys)

    assert (missing.code, wrong.code, found.code) == (Exit.USAGE, Exit.USAGE, Exit.OK)


# Stopped, killed, at once ---------------------------------------------------------------------


@pytest.fixture
def endless(tmp_path: Path) -> Iterator[Background]:
    """Ask for more than anybody finds while a test lasts."""
    with town(tmp_path, epoch=LONG_MS, operator_bits=24) as running:
        yield running


def started(keeper: Keeper) -> "subprocess.Popen[str]":
    return subprocess.Popen(  # noqa: S603 # our own command
        command(keeper.line("operator register ada")),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


def saved(keeper: Keeper, *, above: int) -> Saved:
    """Wait until a search has been saved with more tries than so many."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for file in keeper.files("search"):
            found = read_saved(file.read_bytes())
            if found is not None and found.tried > above:
                return found
        time.sleep(0.05)
    raise AssertionError("nothing was saved")


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_what_stopped_it_does_not_matter_it_goes_on(
    by: signal.Signals, endless: Background, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper = Keeper(tmp_path, endless.it.url, capsys)
    with started(keeper) as first:
        saved(keeper, above=0)
        first.send_signal(by)
        _, people = first.communicate(timeout=30)
    before = saved(keeper, above=0)
    if by is signal.SIGINT:
        assert first.returncode == Exit.INTERRUPTED
        assert "run it again" in people
    with started(keeper) as second:
        after = saved(keeper, above=before.tried)
        second.send_signal(signal.SIGINT)
        _, people = second.communicate(timeout=30)

    assert after.blank == before.blank
    assert len(keeper.files("chain")) == 1
    assert "The search goes on where it stopped: " in people
    assert "Made operator" not in people


def test_two_commands_do_not_work_in_one_directory(
    endless: Background, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper = Keeper(tmp_path, endless.it.url, capsys)
    with started(keeper) as first:
        saved(keeper, above=0)
        second = keeper.run("operator register bob --json")
        first.send_signal(signal.SIGKILL)
    assert second.code == Exit.REFUSED
    assert second.three[2].endswith(f"[{NodeCode.LOCKED}]")
    assert str(first.pid) in second.three[1]


def test_a_damaged_search_starts_anew_and_says_so(
    endless: Background, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keeper = Keeper(tmp_path, endless.it.url, capsys)
    with started(keeper) as first:
        saved(keeper, above=0)
        first.kill()
    (file,) = keeper.files("search")
    file.write_bytes(file.read_bytes()[:40])
    with started(keeper) as second:
        saved(keeper, above=0)
        second.send_signal(signal.SIGINT)
        _, people = second.communicate(timeout=30)

    assert "The saved search is damaged; a new one begins." in people
    assert "where it stopped" not in people


def test_with_json_nothing_but_the_result_is_told(keeper: Keeper) -> None:
    done = subprocess.run(  # noqa: S603 # our own command
        command(keeper.line("operator register ada --json")),
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stderr == ""
    assert set(json.loads(done.stdout)) == {
        "id",
        "role",
        "name",
        "realm",
        "instance",
        "operator",
        "admission",
        "admitted",
        "keys",
        "tries",
        "ms",
    }
    assert keeper.root.stat().st_mode & 0o077 == 0
