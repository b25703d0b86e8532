"""What a guess costs has bounds, below and above."""

from pathlib import Path

import pytest

from node.base.errors import KeystoreError, NodeCode
from node.keys import LEAST, Cost, Keystore
from node.keys.cost import MOST, check_cost, derive
from node.keys.directory import HEAD
from node.keys.key_file import Lock, seal_file
from tests.node.keys.stores import CHEAP, OLD, refuses


@pytest.mark.parametrize("cost", [LEAST, MOST])
def test_the_bounds_themselves_are_allowed(cost: Cost) -> None:
    check_cost(cost, least=LEAST)


@pytest.mark.parametrize(
    "cost",
    [
        Cost(memory=LEAST.memory - 1, passes=LEAST.passes),
        Cost(memory=LEAST.memory, passes=LEAST.passes - 1),
        Cost(memory=MOST.memory + 1, passes=LEAST.passes),
        Cost(memory=LEAST.memory, passes=MOST.passes + 1),
        Cost(memory=2**63, passes=2**63),
        Cost(memory=0, passes=0),
    ],
)
def test_a_file_out_of_bounds_is_refused_before_anything_is_derived(
    tmp_path: Path, cost: Cost
) -> None:
    tmp_path.chmod(0o700)
    lock = Lock(salt=bytes(16), memory=cost.memory, passes=cost.passes)
    (tmp_path / HEAD).touch(mode=0o600)
    (tmp_path / HEAD).write_bytes(seal_file(bytes(32), lock, None, nonce=bytes(24)))
    with pytest.raises(KeystoreError) as refused:
        Keystore.unlock(tmp_path, OLD)

    refuses(NodeCode.KEY_COST, refused.value)


def test_a_key_depends_on_passphrase_salt_and_cost() -> None:
    keys = {
        derive(OLD, bytes(16), CHEAP),
        derive(OLD + b"!", bytes(16), CHEAP),
        derive(OLD, b"another salt....", CHEAP),
        derive(OLD, bytes(16), Cost(memory=16, passes=1)),
        derive(OLD, bytes(16), Cost(memory=8, passes=2)),
    }

    assert len(keys) == 5
    assert {len(key) for key in keys} == {32}


def test_a_machine_without_the_memory_says_so() -> None:
    with pytest.raises(KeystoreError) as refused:
        derive(OLD, bytes(16), Cost(memory=2**31, passes=1))

    refuses(NodeCode.KEYSTORE_FAILED, refused.value)
