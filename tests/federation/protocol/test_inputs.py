"""Inputs are data: what can happen is a closed set of frozen values."""

import dataclasses
from typing import get_args

import pytest

from federation.protocol import inputs, step
from federation.protocol.inputs import Input
from federation.records import Role
from tests.builders import Chain, named, person
from tests.federation.protocol.town import Town

EXAMPLES = {
    inputs.Arrived: inputs.Arrived(records=(Chain(person(Role.AGENT)).head,), peer=None),
    inputs.Packet: inputs.Packet(packet=b"", peer=named("peer")),
    inputs.BlobArrived: inputs.BlobArrived(content=b"", peer=named("peer")),
    inputs.Reconciled: inputs.Reconciled(slot=b"", voice=named("peer"), began=0),
    inputs.Met: inputs.Met(voice=named("peer"), cut=0, seen=None),
    inputs.Reckoned: inputs.Reckoned(cut=named("cut"), trust=b""),
    inputs.Proven: inputs.Proven(cut=named("cut"), verdicts=(True,)),
    inputs.Wake: inputs.Wake(),
}


def test_the_union_names_every_input_of_the_module() -> None:
    classes = {
        one
        for one in vars(inputs).values()
        if dataclasses.is_dataclass(one) and one.__module__ == inputs.__name__
    }

    assert set(get_args(Input)) == classes == set(EXAMPLES)


@pytest.mark.parametrize("kind", list(EXAMPLES))
def test_every_input_is_taken_and_changes_no_certified_state(kind: type) -> None:
    world = Town.of(3, 6).world()
    before = world.state.cut, world.digest, world.state.beacon

    step(world, EXAMPLES[kind], 1)

    assert (world.state.cut, world.digest, world.state.beacon) == before


@pytest.mark.parametrize("kind", list(EXAMPLES))
def test_an_input_cannot_be_changed(kind: type) -> None:
    assert kind.__dataclass_params__.frozen
    assert not hasattr(EXAMPLES[kind], "__dict__")
