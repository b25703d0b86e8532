"""What a stolen key can do to an identity, and how its owner takes the identity back."""

import pytest

from federation.codec import encode
from federation.core import Code, PeerError, RefusedError
from federation.identity import fork_proof
from federation.protocol import World
from federation.protocol.custody import Keyring, author
from federation.protocol.fold import RECOVERY_TICKS
from federation.protocol.judge import Fate, judge
from federation.records import (
    AgentAdmit,
    AgentDeclare,
    Custody,
    Delegate,
    Kind,
    Revoke,
    RevokeBy,
    Role,
)
from tests.builders import Chain
from tests.federation.protocol.acts import claim, is_forked, next_cut, next_tick, refused
from tests.federation.protocol.town import Town


def lone_town() -> tuple[Town, World, Chain]:
    """Give a town of one instance, its world, and a pen of founder 0."""
    town = Town.of(1, 5)
    return town, town.world(), town.pen(Role.AGENT, 0)


def row(world: World, pen: Chain) -> bytes:
    """Give what the world digest says of an identity."""
    return world.state.tables.identities.rows()[pen.id]


def says(pen: Chain, key_index: int, *, revoked: bool = False, forked: bool = False) -> bytes:
    """Write the row of an identity whose current key is that of `pen`."""
    return encode([pen.id, [key_index, pen.key, revoked, forked]])


def test_a_thief_who_revokes_with_the_current_key_is_undone_by_a_recovery() -> None:
    town, world, owner = lone_town()
    before = row(world, owner)
    town.arrive(world, owner.revoke(reason="a thief's"))
    next_cut(town)

    assert row(world, owner) == says(owner, 0, revoked=True) != before
    assert world.state.views[owner.id].revoked
    assert not world.state.views[owner.id].reviewer

    town.arrive(world, owner.recover(), claim(owner))
    next_cut(town)

    assert row(world, owner) == says(owner, 1)
    assert not world.state.views[owner.id].revoked
    assert world.state.views[owner.id].reviewer
    assert owner.head.id in world.state.artifacts


def test_a_revocation_and_its_undoing_in_one_cut_leave_nothing_behind() -> None:
    town, world, owner = lone_town()
    town.arrive(world, owner.revoke(reason="a thief's"), owner.recover())
    next_cut(town)

    assert row(world, owner) == says(owner, 1)
    assert not world.state.views[owner.id].revoked


def test_a_revocation_by_the_recovery_key_is_final() -> None:
    town, world, owner = lone_town()
    town.arrive(world, owner.revoke(RevokeBy.RECOVERY))
    next_cut(town)
    with pytest.raises(PeerError) as error:
        world.log.add(owner.fork().recover())

    assert error.value.code is Code.BAD_CHAIN
    assert world.state.views[owner.id].revoked


def test_a_revocation_can_be_undone_after_any_number_of_ticks() -> None:
    town, world, owner = lone_town()
    town.arrive(world, owner.revoke(reason="a thief's"))
    next_tick(town, RECOVERY_TICKS + 2)
    town.arrive(world, owner.recover())
    next_cut(town)

    assert row(world, owner) == says(owner, 1)


@pytest.mark.parametrize(("ticks", "barred"), [(2, False), (RECOVERY_TICKS + 2, True)])
def test_a_revocation_does_not_give_a_recovery_more_time_against_a_rotation(
    ticks: int, *, barred: bool
) -> None:
    town, world, owner = lone_town()
    rescue = owner.rescue
    town.arrive(world, owner.rotate(reason="a thief's"))
    next_tick(town, ticks)
    town.arrive(world, owner.revoke(reason="a thief's"))
    next_cut(town)
    owner.rescue = rescue
    town.arrive(world, owner.recover())
    next_cut(town)

    assert row(world, owner) == says(owner, 2, forked=barred)
    # Whoever recovered late does not settle it by a pick of its own.
    town.arrive(world, owner.rotate(picks=owner.records[1].id))
    next_cut(town)
    assert is_forked(world, owner.id) is barred


def test_a_recovery_beside_a_thiefs_record_wins_and_the_proof_bars_nobody() -> None:
    town, world, owner = lone_town()
    thief = owner.fork()
    stolen, rescue = claim(thief, "A thief's"), owner.recover()
    town.arrive(world, stolen, rescue)

    assert judge(world, rescue).fate is Fate.WAITS
    assert judge(world, stolen).code is Code.FORK

    next_cut(town)
    town.arrive(world, claim(owner, "The owner's"))
    next_cut(town)
    (filed,) = world.log.by_kind(Kind.LOG_FORK)

    assert filed.body == fork_proof(stolen, rescue)
    assert refused(world, filed) is None
    assert not is_forked(world, owner.id)
    assert owner.head.id in world.state.artifacts


def test_a_rotation_beside_another_record_is_proven_and_bars_until_a_pick() -> None:
    town, world, owner = lone_town()
    twin = owner.fork()
    town.arrive(world, claim(twin), owner.rotate())
    next_cut(town)
    (filed,) = world.log.by_kind(Kind.LOG_FORK)

    assert refused(world, filed) is None
    assert is_forked(world, owner.id)

    town.arrive(world, owner.rotate(picks=owner.head.id))
    next_cut(town)
    assert not is_forked(world, owner.id)


def test_the_local_door_signs_nothing_for_a_revoked_agent() -> None:
    town, world, owner = lone_town()
    keyring = Keyring(agent=owner.id, keys=(owner.signer,))
    ended = author(world, keyring, Revoke(by=RevokeBy.CURRENT, reason="retired"), now=town.now)
    town.arrive(world, ended)
    word = AgentDeclare(family="f", provider="p", model="m")
    with pytest.raises(RefusedError) as error:
        author(world, keyring, word, now=town.now)

    assert error.value.code is Code.BAD_CHAIN


@pytest.mark.parametrize("early", [True, False])
def test_nobody_joins_by_the_word_of_a_thief_once_the_operator_has_recovered(early: bool) -> None:
    town = Town.of(1, 5)
    world = town.world()
    before, theirs, ours = (town.stranger(Role.AGENT, number) for number in (1, 2, 3))
    town.admit(before)
    next_cut(town)
    owner = town.pen(Role.OPERATOR, 0)
    honest = owner.head.seq
    stolen = answering(owner, theirs)
    if early:
        # A cut contains the thief's word, but not yet whom it names.
        town.arrive(world, *owner.records)
        next_cut(town)
    owner.recover(disown_after=honest)
    fresh = answering(owner, ours)
    town.arrive(world, *owner.records, *theirs.records, *ours.records)
    said = [town.say(0, body) for body in (stolen, fresh)]
    next_cut(town)

    assert [refused(world, one) for one in said] == [Code.NOT_PROVEN, None]
    assert theirs.id not in world.state.agents
    # Whom a cut has admitted before stays.
    assert {before.id, ours.id} <= world.state.agents.keys()


def answering(operator: Chain, agent: Chain) -> AgentAdmit:
    """Let an operator answer for an agent; give the admission that rests on its word."""
    word = operator.say(Delegate(agent=agent.id, scope=()))
    return AgentAdmit(agent=agent.id, operator=operator.id, delegate=word.id, custody=Custody.SELF)
