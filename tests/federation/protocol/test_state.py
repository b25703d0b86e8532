"""The certified world: what an empty one says, and who agrees in a slot."""

from federation.charter import charter_hash
from federation.core import InstanceId, OperatorId
from federation.crypto import Domain, digest, plain_hash
from federation.protocol import FounderSpec, Founding, FoundingSpec, State, begin, found
from federation.protocol.state import empty_state, members_of
from tests.federation.protocol.town import Town, founding, keys, verify


def shared() -> Founding:
    """Found a realm where the first of two operators answers for two of three instances."""
    return found(
        FoundingSpec(
            name="shared",
            salt=plain_hash(b"shared"),
            preset="test",
            operators=[(f"o{i}", keys("shared", "operator", i)) for i in range(2)],
            instances=[(f"i{i}", keys("shared", "instance", i), i % 2) for i in range(3)],
            founders=[
                FounderSpec(name="a", keys=keys("shared", "agent", 0), operator=0, instance=0)
            ],
        )
    )


def state_of(realm: Founding) -> State:
    return begin(realm.charter, realm.records, verify=verify).state


def voices(state: State, home: InstanceId | None) -> dict[OperatorId, InstanceId]:
    return {one.operator: one.voice for one in members_of(state, home)}


def test_the_empty_state_is_cut_0_of_its_realm() -> None:
    realm = founding(1, 3)
    state = empty_state(realm.charter)
    genesis_hash = charter_hash(realm.charter)

    assert state.realm == realm.realm
    assert state.charter_hash == genesis_hash
    assert (state.cut, state.tick) == (0, 0)
    assert state.digest == digest(Domain.CUT0, realm.realm, genesis_hash)
    assert state.beacon == digest(Domain.BEACON, realm.realm)
    assert not state.identities
    assert not state.agents


def test_founders_are_found_by_their_id() -> None:
    realm = founding(1, 3)

    assert set(empty_state(realm.charter).founders) == set(realm.agents)


def test_an_operator_has_one_voice_and_it_is_its_lowest_instance() -> None:
    realm = shared()
    first, second = realm.operators

    assert voices(state_of(realm), None) == {
        first: min(realm.instances[0], realm.instances[2]),
        second: realm.instances[1],
    }


def test_the_home_of_a_round_speaks_for_its_operator() -> None:
    realm = shared()
    first, second = realm.operators
    for home in (realm.instances[0], realm.instances[2]):
        assert voices(state_of(realm), home) == {first: home, second: realm.instances[1]}


def test_members_stand_in_the_order_of_their_operators_with_their_current_keys() -> None:
    state = Town.of(4, 4).world().state
    members = members_of(state, None)

    assert [one.operator for one in members] == sorted(one.operator for one in members)
    assert all(one.key == state.identities[one.voice].keys.key for one in members)


def test_two_states_share_nothing_that_changes() -> None:
    charter = founding(1, 3).charter
    one, two = empty_state(charter), empty_state(charter)
    one.tables.agents.put(bytes(32), [1])
    one.operators.add(bytes(32))
    one.next_hashes[bytes(32)] = bytes(32)

    assert not two.operators
    assert not two.next_hashes
    assert not two.tables.agents.rows()
