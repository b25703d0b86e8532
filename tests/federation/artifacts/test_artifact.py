from dataclasses import FrozenInstanceError, replace

import pytest

from federation.artifacts import Flag, State
from tests.federation.artifacts.forms import proposed


def test_a_new_artifact_has_no_flag_and_no_verdict() -> None:
    artifact = proposed()

    assert artifact.state is State.PROPOSED
    assert artifact.flags == frozenset()
    assert artifact.verdict is None


def test_an_artifact_is_replaced_and_never_changed() -> None:
    artifact = proposed()
    hidden = replace(artifact, flags=frozenset({Flag.HIDDEN}))

    with pytest.raises(FrozenInstanceError):
        artifact.state = State.ACTIVE  # type: ignore[misc]
    assert hidden.state is artifact.state
    assert artifact.flags == frozenset()
