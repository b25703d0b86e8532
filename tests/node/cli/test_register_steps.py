import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from federation.admission import read_work, work_bytes
from federation.core import Code as Fault
from federation.records import Role
from node.base.errors import NodeCode
from node.cli import register_steps
from node.cli.errors import Code, CommandError, Exit
from node.cli.register_search import TurnedError
from node.minting import saved_bytes, start
from tests.builders import named
from tests.node.api.living import Background
from tests.node.cli import registering
from tests.node.cli.registering import LONG_MS, Deaf, Keeper, Liar, altered, register, town

hasty = registering.hasty
pytestmark = pytest.mark.usefixtures("hasty")
SEND = "POST /v1/registration"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Background]:
    with town(tmp_path, epoch=LONG_MS) as running:
        yield running


@pytest.fixture
def keeper(place: Background, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Keeper:
    return Keeper(tmp_path, place.it.url, capsys)


def honest() -> Liar:
    return Liar(lambda _, answer: answer)


def lying(**changes: object) -> Liar:
    """Show other terms than the instance has."""

    def change(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        is_door = request.method == "GET" and request.url.path == "/v1/registration"
        return altered(answer, changes) if is_door else answer

    return Liar(change)


def prove(keeper: Keeper) -> Path:
    """Have a proof that was not sent, and give its file."""
    with pytest.raises(CommandError):
        register(keeper, Deaf(), Role.OPERATOR, "ada")
    (file,) = keeper.files("proof")
    return file


def test_a_proof_that_came_too_late_is_made_anew_and_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with town(tmp_path, epoch=500) as running:
        keeper = Keeper(tmp_path, running.it.url, capsys)
        stale = read_work(prove(keeper).read_bytes())
        deadline = time.monotonic() + 30
        while running.it.node.world.state.tick < stale.epoch + 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        session = keeper.run("operator register ada")

    assert session.code == Exit.OK
    assert "found before does not count here now: PROOF_STALE" in session.people
    assert "ada is admitted." in session.people


def test_a_proof_that_was_damaged_is_not_sent(keeper: Keeper) -> None:
    file = prove(keeper)
    work = read_work(file.read_bytes())
    spoiled = replace(work, solutions=(named("other")[:8], *work.solutions[1:]))
    file.write_bytes(work_bytes(spoiled))
    session = keeper.run("operator register ada --no-wait")

    assert session.code == Exit.OK
    assert "does not count here now: it is damaged" in session.people


def test_a_forged_search_is_thrown_away_and_another_begins(keeper: Keeper) -> None:
    file = prove(keeper)
    blank = replace(read_work(file.read_bytes()), solutions=(bytes(8),) * 2, gate=bytes(8))
    file.unlink()
    forged = replace(start(blank), found=(b"\xff" * 8,) * 2)
    file.with_suffix(".search").write_bytes(saved_bytes(forged))
    session = keeper.run("operator register ada --no-wait")

    assert session.code == Exit.OK
    # One forged solution in eight is right by chance, and then there is nothing to say.
    assert "The search goes on where it stopped" in session.people


def test_a_search_for_another_instance_is_of_no_use(keeper: Keeper) -> None:
    file = prove(keeper)
    blank = replace(read_work(file.read_bytes()), instance=named("other"), gate=bytes(8))
    file.unlink()
    file.with_suffix(".search").write_bytes(saved_bytes(start(blank)))
    session = keeper.run("operator register ada --no-wait")

    assert session.code == Exit.OK
    assert "of no use here now: PROOF_WRONG_INSTANCE" in session.people


def test_an_instance_that_calls_stale_what_is_of_its_own_epoch_is_not_obeyed(
    keeper: Keeper,
) -> None:
    def change(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        if request.method == "POST":
            refusal = {"code": Fault.PROOF_STALE, "what": "w", "why": "y", "fix": "f"}
            return httpx.Response(409, json=refusal)
        return answer

    liar = Liar(change)
    with pytest.raises(CommandError) as found:
        register(keeper, liar, Role.OPERATOR, "ada")

    assert found.value.code == Fault.PROOF_STALE
    assert liar.asked.count(SEND) == 1
    assert keeper.files("proof")


def test_an_instance_that_lies_about_its_beacon_costs_one_search(keeper: Keeper) -> None:
    liar = lying(beacon="ab" * 32)
    with pytest.raises(CommandError) as found:
        register(keeper, liar, Role.OPERATOR, "ada")

    assert found.value.code == Fault.PROOF_WRONG_BEACON
    assert liar.asked.count(SEND) == 1


def test_terms_that_no_realm_may_have_are_refused_before_a_key_is_made(keeper: Keeper) -> None:
    terms = {"memory_kib": 2**30, "passes": 1, "parts": 4, "bits": 9, "gate_bits": 1, "left": 1}
    with pytest.raises(CommandError) as found:
        register(keeper, lying(operators=terms), Role.OPERATOR, "ada")

    assert found.value.code == Code.TERMS_REFUSED
    assert not keeper.root.exists()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"barred": True}, Fault.INSTANCE_BARRED),
        ({"policy": "closed"}, NodeCode.REGISTRATION_CLOSED),
        ({"policy": "invited"}, NodeCode.INVITE_REFUSED),
    ],
)
def test_nothing_is_searched_for_where_nobody_is_admitted(
    changes: dict[str, object], code: str, keeper: Keeper
) -> None:
    liar = lying(**changes)
    with pytest.raises(CommandError) as found:
        register(keeper, liar, Role.OPERATOR, "ada")

    assert found.value.code == code
    assert SEND not in liar.asked
    assert not keeper.files("proof")


def test_an_operator_that_has_no_room_searches_for_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with town(tmp_path, epoch=500, operator_agents=1) as running:
        keeper = Keeper(tmp_path, running.it.url, capsys)
        keeper.told("operator register ada")
        keeper.told("agent register robin")
        session = keeper.run("agent register wren --json")

    assert session.code == Exit.REFUSED
    assert session.three[2].endswith(f"[{Fault.OVER_QUOTA}]")
    assert "'ada' may answer for no more agents" in session.three[1]
    assert not keeper.files("search")


def test_a_revoked_operator_answers_for_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def change(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        is_page = request.url.path.startswith("/v1/agents/") and answer.status_code == 200
        return altered(answer, {"revoked": True}) if is_page else answer

    with town(tmp_path, epoch=500) as running:
        keeper = Keeper(tmp_path, running.it.url, capsys)
        keeper.told("operator register ada")
        with pytest.raises(CommandError) as found:
            register(keeper, Liar(change), Role.AGENT, "robin")

    assert found.value.code == Fault.REVOKED


def test_a_full_instance_still_hears_who_has_a_proof(keeper: Keeper) -> None:
    prove(keeper)
    full = {"memory_kib": 8, "passes": 1, "parts": 2, "bits": 2, "gate_bits": 4, "left": 0}

    assert register(keeper, lying(operators=full), Role.OPERATOR, "ada").receipt is not None
    with pytest.raises(CommandError) as found:
        register(keeper, lying(operators=full), Role.OPERATOR, "bob")
    assert found.value.code == Fault.OVER_QUOTA


def test_searches_that_are_always_late_end(keeper: Keeper, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []

    def late(*_: object, **__: object) -> None:
        begun.append(1)
        raise TurnedError

    monkeypatch.setattr(register_steps, "mint", late)
    with pytest.raises(CommandError) as found:
        register(keeper, honest(), Role.OPERATOR, "ada")

    assert found.value.code == Fault.PROOF_STALE
    assert found.value.leaves is Exit.FAILED
    assert len(begun) == 3


def test_who_was_never_sent_keeps_its_keys(keeper: Keeper) -> None:
    prove(keeper)
    (before,) = keeper.files("chain")
    outcome = register(keeper, honest(), Role.OPERATOR, "ada")

    assert keeper.files("chain") == [before]
    assert outcome.newcomer.id.hex() == before.stem
