"""The charter: every parameter is shown, and every id in hex."""

import msgspec
from msgspec.structs import replace

from federation.charter import charter_hash
from node.queries import realm
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import here, plain


def test_the_charter_shows_every_parameter_and_its_ids_in_hex() -> None:
    town = Town.of(2, 4)
    world, _ = here(town)
    page = realm.charter(world)
    shown = plain(page)

    assert isinstance(shown, dict)
    assert page.hash == charter_hash(world.charter).hex()
    for section in ("timing", "review", "trust", "quotas"):
        assert shown[section] == plain(getattr(world.charter, section))
    fields = {field.name for field in msgspec.structs.fields(world.charter)}
    assert fields <= set(shown), "a field of the charter is not shown"
    genesis = shown["genesis"]
    assert set(genesis) == {field.name for field in msgspec.structs.fields(world.charter.genesis)}
    assert genesis["records"] == [name.hex() for name in world.charter.genesis.records]
    assert genesis["founders"][0]["agent"] == world.charter.genesis.founders[0].agent.hex()
    assert genesis["instances"][0]["did"].startswith("did:key:z6Mk")
    assert genesis["seeds"] is None
    assert page.worst_case_high > 0
    assert page.worst_case_low > page.worst_case_high


def test_named_seeds_are_shown() -> None:
    town = Town.of(1, 2)
    world, _ = here(town)
    genesis = replace(world.charter.genesis, seeds=(town.agent(0),))
    world.state.charter = replace(world.charter, genesis=genesis)

    assert realm.charter(world).genesis.seeds == (town.agent(0).hex(),)
