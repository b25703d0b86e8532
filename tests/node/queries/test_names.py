"""Names that people type: full ids, CIDs, prefixes, and what is said of all others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.protocol import World
from federation.records import Role, cid
from node.base.errors import NodeCode, RequestError
from node.queries.names import Thing, cid_of, resolve, unknown, who
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import voted

TOWN = Town.of(1, 1)
"""Only read."""


@given(st.binary(min_size=32, max_size=32))
def test_a_cid_and_the_id_in_hex_name_the_same(name: bytes) -> None:
    founder = TOWN.agent(0)
    world = TOWN.world()

    assert cid_of(founder) == cid(world.log.get(founder))  # type: ignore[arg-type]
    assert resolve(world, cid_of(founder)).id == founder
    with pytest.raises(RequestError) as caught:
        resolve(world, cid_of(name))
    assert caught.value.code is NodeCode.NOT_FOUND


def test_full_names_prefixes_and_cids_of_all_things_are_found() -> None:
    town = Town.of(1, 5)
    record, round_id = voted(town, {1: 1, 2: 1, 3: 1})
    waits = town.propose(1, "Not yet in a cut")
    world = town.world()
    names = {
        record.id: Thing.ARTIFACT,
        waits.id: Thing.ARTIFACT,
        round_id: Thing.ROUND,
        town.agent(2): Thing.AGENT,
    }

    for name, thing in names.items():
        for text in (name.hex(), name.hex().upper(), f" {name.hex()[:12]} ", name.hex()[:13]):
            found = resolve(world, text)
            assert (found.thing, found.id) == (thing, name)
    assert resolve(world, cid_of(record.id).upper()).id == record.id


def test_only_the_wanted_things_are_found() -> None:
    town = Town.of(1, 5)
    record, round_id = voted(town, {1: 1, 2: 1, 3: 1})

    for name in (record.id.hex(), record.id.hex()[:10], cid_of(record.id)):
        with pytest.raises(RequestError) as caught:
            resolve(town.world(), name, things={Thing.AGENT, Thing.ROUND})
        assert caught.value.code is NodeCode.NOT_FOUND
        assert "agent or round" in caught.value.why
    with pytest.raises(RequestError):
        resolve(town.world(), round_id.hex(), things={Thing.ARTIFACT})


@pytest.mark.parametrize(
    "text",
    ["", "abc", "xyzxyzxyz", "0x1234567", "a" * 65, "bz" + "1" * 57, "bz" + "a" * 57, "bafkreigh"],
)
def test_what_is_no_name_is_refused_with_the_form_of_one(text: str) -> None:
    with pytest.raises(RequestError) as caught:
        resolve(TOWN.world(), text)

    assert caught.value.code is NodeCode.BAD_REQUEST
    assert "64 hex digits" in caught.value.fix


def test_an_unknown_prefix_is_not_found() -> None:
    world = Town.of(1, 1).world()

    taken = {name.hex()[:6] for name in world.state.identities}
    free = next(f"{n:06x}" for n in range(10) if f"{n:06x}" not in taken)
    with pytest.raises(RequestError) as caught:
        resolve(world, free)
    assert caught.value.code is NodeCode.NOT_FOUND


def test_an_ambiguous_prefix_lists_some_of_what_it_could_mean() -> None:
    world = _with_twins(6)

    with pytest.raises(RequestError) as caught:
        resolve(world, "abcdef0")

    assert caught.value.code is NodeCode.AMBIGUOUS
    assert caught.value.why.count("agent abcdef0") == 4
    assert caught.value.why.endswith("and more")
    with pytest.raises(RequestError) as two:
        resolve(_with_twins(2), "abcdef")
    assert two.value.why.count("agent") == 2
    assert "more" not in two.value.why


def _with_twins(count: int) -> World:
    """Give a world with identities whose ids begin alike: nobody can grind these in a test."""
    town = Town.of(1, 1)
    world = town.world()
    known = world.state.identities[town.agent(0)]
    for number in range(count):
        world.state.identities[_twin(number)] = known
    return world


def _twin(number: int) -> bytes:
    return bytes.fromhex("abcdef0" + f"{number:057x}")


def test_an_identity_is_named_by_its_inception_also_before_any_cut() -> None:
    town = Town.of(1, 1)
    stranger = town.stranger(Role.AGENT)
    world = town.world()

    assert who(world, town.agent(0)).name == "agent 0"
    assert who(world, stranger.id).name is None
    town.arrive(world, *stranger.records)
    assert who(world, stranger.id).name is not None


def test_the_error_for_a_full_id_names_its_beginning() -> None:
    error = unknown(bytes(32), {Thing.ROUND})

    assert error.what.startswith("000000000000")
    assert error.code is NodeCode.NOT_FOUND
