"""The certified world: what an empty one says, who agrees in a slot, whose key is whose."""

from dataclasses import replace

import pytest

from federation.charter import charter_hash
from federation.core import Code, InstanceId, OperatorId
from federation.crypto import Domain, digest, is_signed_by, plain_hash
from federation.protocol import FounderSpec, Founding, FoundingSpec, State, begin, found
from federation.protocol.state import NO_KEY, Era, Operator, empty_state, members_of
from federation.records import Revoke, RevokeBy, Role
from tests.builders import Chain
from tests.federation.protocol.acts import claim, is_forked, next_cut, next_tick, refused
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
    one.operators[bytes(32)] = Operator(
        operator=bytes(32), instance=bytes(32), admitted_tick=0, domain=None
    )
    one.next_hashes[bytes(32)] = bytes(32)
    one.joining.note(Role.AGENT, bytes(32))
    one.joining.spent[bytes(32)] = 0
    one.joining.false.add(bytes(32))

    assert not two.operators
    assert two.joining == empty_state(charter).joining != one.joining
    assert not two.next_hashes
    assert not two.tables.agents.rows()


def test_a_revoked_instance_is_no_voice_while_its_operator_has_another() -> None:
    realm = shared()
    state = state_of(realm)
    first, second = realm.operators
    lowest, other = sorted((realm.instances[0], realm.instances[2]))

    def revoke(name: InstanceId) -> None:
        known = state.identities[name]
        gone = replace(known.keys, revoked_by=RevokeBy.RECOVERY)
        state.identities[name] = replace(known, keys=gone)

    revoke(lowest)
    assert voices(state, None)[first] == other
    assert voices(state, lowest)[first] == other
    # Without any it still counts in n, under a key that verifies nothing.
    revoke(other)
    revoke(realm.instances[1])
    members = members_of(state, None)
    assert {one.operator for one in members} == {first, second}
    assert {one.key for one in members} == {NO_KEY}
    assert not is_signed_by(NO_KEY, b"", bytes(64))
    assert not is_signed_by(NO_KEY, b"", NO_KEY + bytes(32))


# Keys -----------------------------------------------------------------------------------------


def test_after_a_rotation_by_the_next_key_the_agent_goes_on() -> None:
    town = Town.of(1, 5)
    world, pen = town.world(), town.pen(Role.AGENT, 0)
    rotation, proposal = pen.rotate(), claim(pen)
    town.arrive(world, rotation, proposal)
    town.open_round(proposal)

    identity = world.state.identities[pen.id]
    assert (identity.keys.key_index, identity.keys.key) == (1, pen.key)
    assert (identity.seq, identity.head) == (proposal.seq, proposal.id)
    assert identity.key_ticks == (0, 0)


def stolen(town: Town, owner: Chain, *, rotations: int = 1) -> Chain:
    """Let a thief who has today's and tomorrow's key rotate; give the owner's way back.

    The owner still has the recovery key that its inception committed to.
    """
    thief = owner.fork()
    for number in range(rotations):
        if number:
            next_tick(town, 60)
        town.arrive(town.world(), thief.rotate(reason="theft"))
    back = thief.fork()
    back.rescue = keys(town.seed, "agent", 0).recovery
    return back


@pytest.mark.parametrize(("ticks", "barred"), [(72, False), (73, True)])
def test_a_recovery_counts_up_to_72_ticks_after_the_theft(ticks: int, barred: bool) -> None:
    town = Town.of(1, 5)
    world = town.world()
    next_tick(town, 5)
    back = stolen(town, town.pen(Role.AGENT, 0))
    next_cut(town)
    theft = world.state.identities[back.id].key_ticks[1]
    assert theft == 5
    next_tick(town, theft + ticks - world.state.tick)
    town.arrive(world, back.recover())
    claim_ = town.propose(1)
    town.open_round(claim_)

    assert world.state.tick == theft + ticks
    assert world.state.identities[back.id].keys.key == back.key
    assert is_forked(world, back.id) is barred


def test_a_recovery_in_the_cut_of_the_theft_is_in_time_however_old_the_key_was() -> None:
    town = Town.of(1, 5)
    world = town.world()
    next_tick(town, 80)
    back = stolen(town, town.pen(Role.AGENT, 0))
    town.arrive(world, back.recover())
    next_cut(town)

    assert world.state.identities[back.id].keys.key_index == 2
    assert not is_forked(world, back.id)


def test_a_thief_who_rotates_again_does_not_win_time_for_the_owner() -> None:
    town = Town.of(1, 5)
    world = town.world()
    back = stolen(town, town.pen(Role.AGENT, 0), rotations=2)
    next_tick(town, 20)
    town.arrive(world, back.recover())
    next_cut(town)

    assert is_forked(world, back.id)


def test_a_recovery_that_undoes_nothing_is_never_too_late() -> None:
    town = Town.of(1, 5)
    world, pen = town.world(), town.pen(Role.AGENT, 0)
    next_tick(town, 80)
    town.arrive(world, pen.recover(reason="lost"))
    next_cut(town)

    assert world.state.identities[pen.id].keys.key_index == 1
    assert not is_forked(world, pen.id)


def test_whoever_recovers_too_late_cannot_settle_it_by_a_pick_of_its_own() -> None:
    town = Town.of(1, 5)
    world = town.world()
    back = stolen(town, town.pen(Role.AGENT, 0))
    next_tick(town, 75)
    recovery = back.recover()
    town.arrive(world, recovery)
    next_cut(town)
    assert is_forked(world, back.id)
    town.arrive(world, back.rotate(picks=recovery.id))
    next_cut(town)

    assert is_forked(world, back.id)


def test_a_proposal_of_a_revoked_author_does_not_count() -> None:
    town = Town.of(1, 5)
    world, pen = town.world(), town.pen(Role.AGENT, 0)
    proposal = claim(pen)
    town.arrive(world, proposal, pen.revoke())
    next_cut(town)

    assert refused(world, proposal) is Code.NOT_ELIGIBLE
    assert proposal.id not in world.state.artifacts


def test_a_disowned_proposal_does_not_count() -> None:
    town = Town.of(1, 5)
    world, pen = town.world(), town.pen(Role.AGENT, 0)
    theirs = claim(pen, "A thief's")
    rotation = pen.rotate(disown_after=theirs.seq - 1)
    mine = claim(pen, "Mine")
    town.arrive(world, theirs, rotation, mine)
    next_cut(town)

    assert refused(world, theirs) is Code.NOT_ELIGIBLE
    assert refused(world, mine) is None
    assert mine.id in world.state.artifacts


def test_disowning_what_a_cut_has_opened_changes_nothing() -> None:
    town = Town.of(1, 5)
    world, pen = town.world(), town.pen(Role.AGENT, 0)
    theirs = claim(pen)
    town.arrive(world, theirs)
    opened = town.open_round(theirs)
    town.arrive(world, pen.rotate(disown_after=theirs.seq - 1))
    next_cut(town)

    assert opened in world.rounds
    assert theirs.id in world.state.artifacts
    assert refused(world, theirs) is None


def test_a_voice_whose_key_is_revoked_falls_silent_and_the_others_go_on() -> None:
    town = Town.of(4, 8)
    next_cut(town)
    gone = town.founding.instances[3]
    town.say(3, Revoke(by=RevokeBy.CURRENT, reason="stolen"))
    next_tick(town, 3)
    town.open_round(town.propose(0))

    for world in town.live():
        (member,) = [one for one in world.state.cut_members if one.voice == gone]
        assert world.state.identities[gone].keys.revoked
        assert (member.key, len(world.state.cut_members)) == (NO_KEY, 4)
    # In slots that pin no key of its own it is never asked to sign.
    me = town.world(3).me
    assert me is not None
    counter = me.counter
    next_tick(town)
    assert me.counter == counter


def test_who_agreed_on_a_cut_stays_known_and_only_for_the_true_history() -> None:
    town = Town.of(2, 4)
    state = town.world().state
    genesis = state.digest
    next_tick(town)
    before = state.cut_members
    index = state.cut
    # The key of a voice moves with a rotation, so the members of later cuts are others.
    state.cut_members = before[:1]
    next_cut_digest = state.digest
    state.turn_to(index + 1, plain_hash(b"the next cut"))

    assert state.members_at(1, genesis) == before
    assert state.members_at(index, state.cuts[index - 1]) == before
    assert state.members_at(index + 1, next_cut_digest) == before[:1]
    assert state.members_at(index + 2, state.digest) == before[:1]
    assert state.eras == [Era(first=1, members=before), Era(first=index + 1, members=before[:1])]
    assert state.members_at(index + 2, genesis) is None
    assert state.members_at(1, state.digest) is None
    assert state.members_at(0, genesis) is None
    assert state.members_at(index + 3, state.digest) is None
    assert len(state.cuts) == state.cut


def test_the_cut_of_the_last_tick_is_remembered() -> None:
    town = Town.of(1, 4)
    state = town.world().state
    assert state.ticked == 0
    next_tick(town)
    ticked = state.cut
    town.open_round(town.propose(0))

    assert (state.ticked, state.cut) == (ticked, ticked + 1)
