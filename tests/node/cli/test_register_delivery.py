from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from federation.core import Code as Fault
from federation.records import Role
from node.base.errors import NodeCode
from node.cli import register_delivery
from node.cli.errors import Code, CommandError, Exit
from node.cli.register_home import held
from tests.builders import named
from tests.node.api.living import Background
from tests.node.cli import registering
from tests.node.cli.registering import (
    LONG_MS,
    PASSPHRASE,
    Deaf,
    Keeper,
    Liar,
    altered,
    register,
    town,
)

hasty = registering.hasty
pytestmark = pytest.mark.usefixtures("hasty")
SEND = "POST /v1/registration"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Background]:
    with town(tmp_path) as running:
        yield running


@pytest.fixture
def keeper(place: Background, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Keeper:
    """Give somebody whose operator is admitted."""
    keeper = Keeper(tmp_path, place.it.url, capsys)
    keeper.told("operator register ada")
    return keeper


def lost(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
    """Lose every answer to a registration."""
    if request.method == "POST":
        raise httpx.ReadTimeout("lost", request=request)
    return answer


def refusing(*codes: str) -> Liar:
    """Refuse what is posted with these codes, one after the other; then hand it through."""
    left = list(codes)

    def change(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        if request.method == "POST" and left:
            return httpx.Response(
                503, json={"code": left.pop(0), "what": "not now", "why": "so", "fix": "later"}
            )
        return answer

    return Liar(change)


def test_after_a_lost_answer_the_same_is_sent_again(place: Background, keeper: Keeper) -> None:
    liar = Liar(lost)
    with pytest.raises(CommandError) as found:
        register(keeper, liar, Role.AGENT, "robin")
    again = keeper.told("agent register robin")
    log = place.it.node.world.log
    operator = bytes.fromhex(again["operator"])

    assert found.value.code == Code.NO_ANSWER
    assert "the proof is kept" in found.value.fix
    assert liar.asked.count(SEND) == 3
    assert again["tries"] == 0
    assert log.count_of(operator) == 2
    assert not log.is_forked(operator)


def test_without_an_instance_the_proof_is_kept_and_sent_later(keeper: Keeper) -> None:
    with pytest.raises(CommandError) as found:
        register(keeper, Deaf(), Role.OPERATOR, "bob")
    assert found.value.code == Code.NO_NODE
    assert found.value.leaves is Exit.FAILED
    (proof,) = keeper.files("proof")
    kept = proof.read_bytes()
    later = register(keeper, Liar(lambda _, answer: answer), Role.OPERATOR, "bob")

    assert later.minted is None
    assert later.receipt is not None
    assert proof.read_bytes() == kept


@pytest.mark.parametrize("code", [NodeCode.BUSY, NodeCode.SETTLING, NodeCode.TOO_MANY_REQUESTS])
def test_an_instance_that_is_busy_is_asked_again(code: NodeCode, keeper: Keeper) -> None:
    assert register(keeper, refusing(code, code), Role.OPERATOR, "bob").receipt is not None


def test_a_refusal_is_told_at_once(keeper: Keeper) -> None:
    liar = refusing(Fault.OVER_QUOTA)
    with pytest.raises(CommandError) as found:
        register(keeper, liar, Role.OPERATOR, "bob")

    assert found.value.code == Fault.OVER_QUOTA
    assert liar.asked.count(SEND) == 1


def test_what_the_instance_lacks_of_the_operators_chain_is_sent_first(
    place: Background, keeper: Keeper
) -> None:
    with held(keeper.root) as home:
        keystore = home.open(PASSPHRASE)
        (ada,) = home.all(keystore, place.it.node.world.realm)
        ada = home.delegate(keystore, ada, named("agent", 1), at=5)
        home.delegate(keystore, ada, named("agent", 2), at=6)
    told = keeper.told("agent register robin")

    assert told["admitted"]
    assert place.it.node.world.log.count_of(ada.id) == 4


def test_what_the_operator_signed_elsewhere_comes_before(
    place: Background, keeper: Keeper, tmp_path: Path
) -> None:
    before = {file: file.read_bytes() for file in keeper.files("chain")}
    keeper.told("agent register robin")
    # As if robin had been registered from a copy of the directory.
    for file in keeper.files("chain"):
        file.unlink()
    for file, raw in before.items():
        file.write_bytes(raw)
    told = keeper.told("agent register wren")
    log = place.it.node.world.log
    del tmp_path

    assert told["admitted"]
    assert log.count_of(bytes.fromhex(told["operator"])) == 3
    assert not log.is_forked(bytes.fromhex(told["operator"]))


def test_an_old_head_makes_no_fork(place: Background, keeper: Keeper) -> None:
    keeper.told("agent register robin")
    operator = place.it.node.world.state.operators
    (ada,) = [name for name in operator if place.it.node.world.log.count_of(name) == 2]

    def change(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        if request.url.path.endswith(ada.hex()):
            return altered(answer, {"head": {"seq": 0, "record": ada.hex()}})
        return answer

    assert register(keeper, Liar(change), Role.AGENT, "wren").receipt is not None
    assert place.it.node.world.log.count_of(ada) == 3
    assert not place.it.node.world.log.is_forked(ada)


@pytest.mark.parametrize(
    ("head", "code"),
    [
        (None, Fault.FORK),
        ({"seq": 0, "record": "ab" * 32}, Fault.FORK),
        ({"seq": 7, "record": "ab" * 32}, NodeCode.NOT_FOUND),
    ],
)
def test_a_false_head_gets_no_signature(
    head: object, code: str, keeper: Keeper, place: Background
) -> None:
    (ada,) = [bytes.fromhex(file.stem) for file in keeper.files("chain")]

    def change(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        return altered(answer, {"head": head}) if request.url.path.endswith(ada.hex()) else answer

    with pytest.raises(CommandError) as found:
        register(keeper, Liar(change), Role.AGENT, "robin")
    with held(keeper.root) as home:
        keystore = home.open(PASSPHRASE)
        kept = next(one for one in home.all(keystore, place.it.node.world.realm) if one.id == ada)

    assert found.value.code == code
    assert len(kept.records) == 1


def test_a_wait_has_an_end_and_sends_again_meanwhile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(register_delivery, "_MOST_WAIT_S", 0.25)
    monkeypatch.setattr(register_delivery, "_REMIND", 2)
    liar = Liar(lambda _, answer: answer)
    with town(tmp_path, epoch=LONG_MS) as running:
        keeper = Keeper(tmp_path, running.it.url, capsys)
        with pytest.raises(CommandError) as found:
            register(keeper, liar, Role.OPERATOR, "ada", waits=True)

        # Others may work in the directory while somebody waits, and the proof is still there.
        assert keeper.run("operator register ada --no-wait").code == Exit.OK

    assert found.value.code == Code.STILL_WAITING
    assert liar.asked.count(SEND) == 3


def test_who_waits_does_not_mind_an_instance_that_is_away(
    keeper: Keeper,
) -> None:
    away = [0]

    def change(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        if request.method == "GET" and request.url.path.startswith("/v1/agents/"):
            away[0] += 1
            if 2 <= away[0] <= 4:
                raise httpx.ConnectError("gone", request=request)
        return answer

    assert register(keeper, Liar(change), Role.OPERATOR, "bob", waits=True).is_admitted
    assert away[0] > 4


def test_who_waits_is_told_if_it_comes_to_nothing(
    keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(register_delivery, "_REMIND", 1)
    sent = [0]

    def change(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        if request.method == "POST":
            sent[0] += 1
            if sent[0] > 1:
                refusal = {"code": Fault.PROOF_STALE, "what": "w", "why": "y", "fix": "f"}
                return httpx.Response(409, json=refusal)
        elif request.url.path.startswith("/v1/agents/"):
            return httpx.Response(404, json={"code": "NOT_FOUND", "what": "", "why": "", "fix": ""})
        return answer

    with pytest.raises(CommandError) as found:
        register(keeper, Liar(change), Role.OPERATOR, "bob", waits=True)

    assert found.value.code == Fault.PROOF_STALE


def test_who_waits_is_told_when_a_cut_comes_at_the_latest(keeper: Keeper) -> None:
    people = keeper.run("operator register bob").people

    assert "which lasts " in people
    assert "bob is admitted." in people


def test_a_wait_lasts_until_the_epoch_is_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(register_delivery, "time", SimpleNamespace(sleep=slept.append))
    monkeypatch.setattr(register_delivery, "_LOOK_S", 60.0)
    monkeypatch.setattr(register_delivery, "_LEAST_WAIT_S", 1.0)
    with town(tmp_path, epoch=LONG_MS) as running:
        keeper = Keeper(tmp_path, running.it.url, capsys)
        with pytest.raises(CommandError) as found:
            register(keeper, Liar(lambda _, answer: answer), Role.OPERATOR, "ada", waits=True)

    assert "within 12 min 0 s" in found.value.why
    assert sum(slept) >= LONG_MS / 1_000


@pytest.mark.parametrize("epoch", [None, "soon", True, -1, 0, 2**60, 1e300])
def test_an_epoch_that_is_no_time_only_shortens_the_wait(epoch: object, keeper: Keeper) -> None:
    def change(request: httpx.Request, answer: httpx.Response) -> httpx.Response:
        if request.url.path == "/v1/charter":
            return httpx.Response(200, json={"timing": {"epoch": epoch}})
        return answer

    assert register(keeper, Liar(change), Role.OPERATOR, "bob", waits=True).is_admitted
