"""Tokens: made, kept as hashes, taken back; what each lets its holder do."""

import stat
from pathlib import Path

import pytest

from node.access.tokens import (
    Caller,
    TokenFile,
    act,
    create_token,
    describe,
    list_tokens,
    revoke_token,
    write_operator_token,
)
from node.base.entropy import random_bytes
from node.base.errors import NodeCode, NodeError
from node.base.paths import DataDir

ALICE = bytes(range(32))
BERT = bytes(range(1, 33))


@pytest.fixture
def data(tmp_path: Path) -> DataDir:
    return DataDir(tmp_path)


def make(data: DataDir, *scopes: str) -> str:
    clear, _ = create_token(data, scopes=scopes, entropy=random_bytes, now=1)
    return clear


def test_a_token_is_long_random_and_kept_as_a_hash_only(data: DataDir) -> None:
    first, second = make(data, "read"), make(data, "read")
    kept = data.tokens.read_text()

    assert first.startswith("fm_")
    assert len(first) == 46
    assert first != second
    assert first[3:] not in kept
    assert stat.S_IMODE(data.tokens.stat().st_mode) == 0o600


def test_a_token_acts_for_its_own_agent_only(data: DataDir) -> None:
    caller = TokenFile(data).caller(make(data, act(ALICE)))

    assert caller is not None
    assert caller.only_agent == ALICE
    assert caller.may_act_for(ALICE)
    assert not caller.may_act_for(BERT)
    assert not caller.operates


def test_a_token_for_two_agents_means_neither_by_itself(data: DataDir) -> None:
    caller = TokenFile(data).caller(make(data, act(ALICE), act(BERT), "read"))

    assert caller is not None
    assert caller.only_agent is None
    assert caller.may_act_for(ALICE)
    assert caller.may_act_for(BERT)


def test_the_operator_s_token_lies_in_clear_for_its_owner_only(data: DataDir) -> None:
    clear = write_operator_token(data, random_bytes)
    caller = TokenFile(data).caller(clear)

    assert data.operator_token.read_text() == clear + "\n"
    assert stat.S_IMODE(data.operator_token.stat().st_mode) == 0o600
    assert caller == Caller(token=list_tokens(data)[0].id, operates=True)
    assert caller.may_act_for(BERT)


@pytest.mark.parametrize("wrong", ["", "fm_", "fm_" + "A" * 43, "x" * 10_000, "fm_é\ud800"])
def test_what_is_no_token_is_nobody_s(data: DataDir, wrong: str) -> None:
    make(data, "operator")

    assert TokenFile(data).caller(wrong) is None


def test_a_running_node_sees_new_and_revoked_tokens(data: DataDir) -> None:
    running = TokenFile(data)
    clear = make(data, act(ALICE))

    assert running.caller(clear) is not None

    revoked = revoke_token(data, list_tokens(data)[0].id)

    assert revoked.scopes == (act(ALICE),)
    assert running.caller(clear) is None
    assert list_tokens(data) == ()


def test_an_unknown_token_cannot_be_revoked(data: DataDir) -> None:
    with pytest.raises(NodeError) as caught:
        revoke_token(data, "00000000")

    assert caught.value.code is NodeCode.NOT_FOUND


@pytest.mark.parametrize("scope", ["write", "act:", "act:zz", act(ALICE).upper(), act(ALICE) + "0"])
def test_a_scope_that_is_none_is_refused_and_nothing_is_written(data: DataDir, scope: str) -> None:
    with pytest.raises(NodeError) as caught:
        make(data, scope)

    assert caught.value.code is NodeCode.BAD_FIELD
    assert not data.tokens.exists()


def test_a_token_without_scopes_or_with_a_long_note_is_refused(data: DataDir) -> None:
    with pytest.raises(NodeError):
        make(data)
    with pytest.raises(NodeError) as caught:
        create_token(data, scopes=("read",), note="x" * 201, entropy=random_bytes, now=0)

    assert "note" in caught.value.why


@pytest.mark.parametrize("damage", [b"", b"{", b'{"version":2,"tokens":[]}', b"\xff" * 40])
def test_a_damaged_file_lets_nobody_in(data: DataDir, damage: bytes) -> None:
    running, clear = TokenFile(data), make(data, "operator")
    assert running.caller(clear) is not None

    data.tokens.write_bytes(damage)

    assert running.caller(clear) is None
    with pytest.raises(NodeError) as caught:
        list_tokens(data)
    assert caught.value.code is NodeCode.TOKENS_DAMAGED
    with pytest.raises(NodeError):
        make(data, "read")
    assert data.tokens.read_bytes() == damage


def test_there_is_a_bound_to_the_number_of_tokens(
    data: DataDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("node.access.tokens._MOST", 2)
    make(data, "read")
    make(data, "read")

    with pytest.raises(NodeError) as caught:
        make(data, "read")
    assert caught.value.code is NodeCode.BUSY


def test_scopes_are_described_in_words() -> None:
    assert [describe(one) for one in ("read", "operator", act(ALICE))] == [
        "read",
        "everything the operator may",
        "act for agent 000102030405…",
    ]
