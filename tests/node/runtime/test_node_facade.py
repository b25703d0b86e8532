"""What API, command line and tests may ask of a node: sign, submit, look, name peers."""

from pathlib import Path

import pytest
import trio

from federation.certificates import Phase
from federation.core import Code, RefusedError
from federation.protocol import custody
from federation.records import AgentSubscribe, Kind, Record, Role, wire
from node.base.errors import NetworkError, NodeCode, NodeError, RequestError
from node.keys import Identity
from node.runtime import Node, Receipt
from node.runtime.peers import read_addresses
from tests.builders import Chain, named, person
from tests.builders import Identity as Person
from tests.builders import propose as proposal
from tests.node.network.hosts import LOOPBACK, host
from tests.node.runtime.quick import agents_of, in_phase, propose, quick, vote
from tests.node.runtime.realm import Realm, introduce, until


async def subscribe(node: Node, agent: bytes, topic: str) -> Record:
    return await node.sign(
        agent,
        lambda world, ring, now: custody.author(
            world, ring, AgentSubscribe(topics=(topic,), keywords=(), on=True), now=now
        ),
    )


def pen_of(town: Realm, node: Node, index: int) -> Chain:
    """Give an agent's own pen, as if it kept its keys itself."""
    agent = town.founded.agents[index]
    ((_, head),) = node.world.log.heads_of(agent.id)
    records = node.world.log.path(head, -1)
    owner = Person(role=Role.AGENT, number=index, inception=records[0], realm=node.world.realm)
    return Chain(owner, records, 0, agent.keys.current, agent.keys.next, agent.keys.recovery)


# Signing ------------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_what_is_signed_is_durable_when_it_is_answered(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        async with town.node(0) as node:
            record = await subscribe(node, agents_of(town)[0], "a")

            assert await node.store.record(record.id) == wire(record)
            assert record.id in node.world.log


@pytest.mark.trio
async def test_concurrent_signs_of_one_agent_never_fork_it(tmp_path: Path) -> None:
    town = quick(tmp_path)
    agent = agents_of(town)[0]
    said: list[Record] = []
    with trio.fail_after(20):
        async with town.node(0) as node:

            async def say(number: int) -> None:
                for turn in range(5):
                    record = await subscribe(node, agent, f"t{number}-{turn}")
                    said.append(record)

            async with trio.open_nursery() as nursery:
                for number in range(4):
                    nursery.start_soon(say, number)
            ((seq, _),) = node.world.log.heads_of(agent)

            assert seq == len(said) == 20
            assert sorted(one.seq for one in said) == list(range(1, 21))
            assert not node.world.log.is_forked(agent)
            assert not node.world.log.by_kind(Kind.LOG_FORK)


@pytest.mark.trio
async def test_twenty_vote_at_once(tmp_path: Path) -> None:
    town = quick(tmp_path, agents=21, review={"k": 20})
    author, *voters = agents_of(town)
    with trio.fail_after(40):
        async with town.node(0) as node:
            proposed = await propose(node, author)
            name = await in_phase(node, proposed.id, Phase.COMMIT)
            refused: list[RefusedError] = []

            async def cast(agent: bytes) -> None:
                try:
                    await vote(node, agent, name)
                except RefusedError as error:
                    refused.append(error)

            async with trio.open_nursery() as nursery:
                for agent in voters:
                    nursery.start_soon(cast, agent)
            await in_phase(node, proposed.id, None)
            verdict = node.world.rounds[name].verdict

            assert refused == []
            assert verdict is not None
            assert {one.voter for one in verdict.ballots} == set(voters)


@pytest.mark.trio
async def test_who_is_not_kept_here_is_told_to_sign_by_itself(tmp_path: Path) -> None:
    town = quick(tmp_path, instances=2, agents=4)
    with trio.fail_after(20):
        async with town.node(0) as node:
            for agent in (*agents_of(town, 1), bytes(32)):
                with pytest.raises(RequestError) as refused:
                    await subscribe(node, agent, "a")
                assert refused.value.code is NodeCode.NOT_IN_CUSTODY


@pytest.mark.trio
async def test_what_the_door_refuses_leaves_nothing(tmp_path: Path) -> None:
    town = quick(tmp_path)
    author = agents_of(town)[0]
    with trio.fail_after(20):
        async with town.node(0) as node:
            proposed = await propose(node, author)
            name = await in_phase(node, proposed.id, Phase.COMMIT)
            count = node.world.log.count_of(author)
            with pytest.raises(RefusedError) as refused:
                await vote(node, author, name)

            assert refused.value.code is Code.NOT_ELIGIBLE
            assert node.world.log.count_of(author) == count


@pytest.mark.trio
async def test_a_rotation_that_is_kept_but_not_logged_does_not_stop_the_agent(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path)
    agent = town.founded.agents[0]
    keystore = town.keystore(0)
    # Killed between keeping the next key and storing the rotation that reveals it.
    keystore.add(
        Identity(
            id=agent.id,
            role=Role.AGENT,
            name=agent.name,
            seeds=(agent.keys.current, agent.keys.next),
            next=named("next"),
            recovery=agent.keys.recovery,
        )
    )
    with trio.fail_after(20):
        async with town.node(0) as node:
            record = await subscribe(node, agent.id, "a")

            assert record.id in node.world.log


@pytest.mark.trio
async def test_a_node_that_stops_signs_and_takes_nothing_more(tmp_path: Path) -> None:
    town = quick(tmp_path)
    agent = agents_of(town)[0]
    with trio.fail_after(20):
        async with town.node(0) as node:
            node.stopping = True
            for act in (subscribe(node, agent, "a"), node.submit([b""])):
                with pytest.raises(NodeError) as refused:
                    await act
                assert refused.value.code is NodeCode.STOPPING
            assert node.health().state == "stopping"
        assert node.host is None
        assert node.stopping


# Submitting ---------------------------------------------------------------------------------------


async def receipt(node: Node, record: Record | bytes) -> Receipt:
    (found,) = await node.submit([record if isinstance(record, bytes) else wire(record)])
    return found


@pytest.mark.trio
async def test_a_record_of_an_agent_with_its_own_keys_is_stored(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        async with town.node(0) as node:
            record = pen_of(town, node, 0).say(*proposal())
            found = await receipt(node, record)
            again = await receipt(node, record)

            assert (found.id, found.stored, found.code) == (record.id, True, None)
            assert await node.store.record(record.id) == wire(record)
            assert (again.id, again.stored, again.why) == (
                record.id,
                True,
                "it was stored before",
            )


@pytest.mark.trio
async def test_several_records_have_a_receipt_each_in_order(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        async with town.node(0) as node:
            pen = pen_of(town, node, 0)
            body = AgentSubscribe(topics=("a",), keywords=(), on=True)
            first, second = pen.say(body), pen.say(body)
            found = await node.submit([wire(first), b"noise", wire(second)])

            assert [one.id for one in found] == [first.id, None, second.id]
            assert [one.stored for one in found] == [True, False, True]
            assert await node.submit([]) == ()


@pytest.mark.trio
async def test_what_is_no_record_or_not_signed_is_refused_with_what_to_do(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        async with town.node(0) as node:
            raw = wire(pen_of(town, node, 0).say(*proposal()))
            noise = await receipt(node, b"noise")
            forged = await receipt(node, raw[:-1] + bytes([raw[-1] ^ 1]))

            assert (noise.id, noise.stored, noise.code) == (None, False, Code.NOT_CANONICAL)
            assert (forged.stored, forged.code) == (False, Code.BAD_SIGNATURE)
            assert noise.why
            assert noise.fix
            # Whoever posts is no peer: nobody is scored for it.
            assert all(peer.score == 0 for peer in node.peers())


@pytest.mark.trio
async def test_an_unknown_author_and_a_gap_wait_for_what_comes_before(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        async with town.node(0) as node:
            body = AgentSubscribe(topics=("a",), keywords=(), on=True)
            stranger = Chain(person(Role.AGENT, 77, realm=node.world.realm))
            unknown = await receipt(node, stranger.say(body))
            pen = pen_of(town, node, 0)
            first, second = pen.say(body), pen.say(body)
            early = await receipt(node, second)

            for found in (unknown, early):
                assert not found.stored
                assert found.code == Code.WAITS_FOR_PREV
                assert found.fix == "send its predecessors first"
            assert (await receipt(node, first)).stored
            # It was kept aside, and has followed.
            assert second.id in node.world.log
            assert (await receipt(node, second)).why == "it was stored before"


@pytest.mark.trio
async def test_a_record_that_breaks_its_chain_is_refused(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        async with town.node(0) as node:
            one, two = pen_of(town, node, 0), pen_of(town, node, 1)
            body = AgentSubscribe(topics=("a",), keywords=(), on=True)
            # It names another author's record as the one before it.
            one.records[-1] = two.records[-1]
            found = await receipt(node, one.say(body))

            assert (found.stored, found.code) == (False, Code.BAD_CHAIN)
            assert found.fix == "correct the record and sign it again"


@pytest.mark.trio
async def test_what_is_stored_and_does_not_count_says_so(tmp_path: Path) -> None:
    town = quick(tmp_path)
    with trio.fail_after(20):
        async with town.node(0) as node:
            stranger = Chain(person(Role.AGENT, 78, realm=node.world.realm))
            inception = await receipt(node, stranger.head)
            found = await receipt(node, stranger.say(*proposal()))

            assert inception.stored
            assert found.stored
            assert found.code == Code.NOT_ADMITTED
            assert found.fix == "it is stored and does not count"


# Peers --------------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_peers_are_told_by_name_key_and_state(tmp_path: Path) -> None:
    town = quick(tmp_path, instances=2, agents=2)
    with trio.fail_after(20):
        async with town.node(0) as one:
            (view,) = one.peers()
            assert (view.name, view.connected, view.address, view.unreachable) == (
                "instance 1",
                False,
                None,
                "",
            )
            assert view.last_progress is None
            async with town.node(1) as two:
                introduce([two, one])
                await until(lambda: all(node.health().state == "ready" for node in (one, two)))
                await until(lambda: one.peers()[0].cut >= 1)
                (view,) = one.peers()
                assert two.host is not None

                assert view.instance == two.instance
                assert view.operator == one.world.state.instances[two.instance]
                assert view.key == two.host.key
                assert view.address == two.host.addresses[0]
                assert view.connected
                assert (view.score, view.banned_until, view.why, view.unreachable) == (
                    0,
                    None,
                    (),
                    "",
                )
                assert view.last_progress is not None
                assert abs(view.last_progress - one.clock.wall()) < 10_000
            await until(lambda: not one.peers()[0].connected)
            await until(lambda: one.peers()[0].unreachable != "")


@pytest.mark.trio
async def test_an_added_peer_is_called_also_after_a_restart_and_a_dropped_one_is_not(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path, instances=2, agents=2)
    with trio.fail_after(30):
        async with town.node(1) as two:
            assert two.host is not None
            address = two.host.addresses[0]
            async with town.node(0) as one:
                with pytest.raises(NetworkError) as refused:
                    one.add_peer("/ip4/127.0.0.1/tcp/1")
                assert refused.value.code is NodeCode.BAD_ADDRESS
                one.add_peer(address)
                one.add_peer(address)
                await until(lambda: one.links.connected == (two.instance,))
            async with town.node(0) as one:
                await until(lambda: one.links.connected == (two.instance,))
                one.remove_peer(two.instance)
                one.remove_peer(two.instance)
                assert one.peers()[0].address is None
                # What is going on goes on.
                assert one.links.connected == (two.instance,)
            async with town.node(0) as one:
                assert one.network is not None
                assert one.network.dialer.calls == {}
    assert read_addresses(town.places[0].peers) == ()


@pytest.mark.trio
async def test_dropping_a_peer_drops_all_its_addresses(tmp_path: Path) -> None:
    town = quick(tmp_path, instances=2, agents=2)
    with trio.fail_after(20):
        async with town.node(1) as two:
            assert two.host is not None
            address = two.host.addresses[0]
            elsewhere = address.replace("127.0.0.1", "127.0.0.2")
            async with town.node(0) as one:
                one.add_peer(elsewhere)
                one.add_peer(address)
                one.remove_peer(two.instance)
                assert one.network is not None

                assert one.network.dialer.calls == {}
                assert read_addresses(one.data.peers) == ()


@pytest.mark.trio
async def test_a_peer_of_the_settings_is_dropped_there(tmp_path: Path) -> None:
    town = quick(tmp_path, instances=2, agents=2)
    with trio.fail_after(20):
        async with town.node(1) as two:
            assert two.host is not None
            place = town.places[0].settings
            place.write_text(f'{place.read_text()}\npeers = ["{two.host.addresses[0]}"]\n')
            async with town.node(0) as one:
                one.add_peer(two.host.addresses[0])
                assert not one.data.peers.exists()
                with pytest.raises(RequestError) as refused:
                    one.remove_peer(two.instance)
                with pytest.raises(RequestError) as unknown:
                    one.remove_peer(bytes(32))

    assert refused.value.code is NodeCode.NOT_ALLOWED
    assert unknown.value.code is NodeCode.NOT_FOUND


@pytest.mark.trio
async def test_a_banned_peer_is_cut_off_and_pardoned_it_comes_back(tmp_path: Path) -> None:
    town = quick(tmp_path, instances=2, agents=2)
    with trio.fail_after(40):
        async with town.node(0) as one, town.node(1) as two:
            introduce([one, two])
            await until(lambda: one.links.connected == (two.instance,))
            one.ban_peer(two.instance, minutes=5)
            await until(lambda: one.links.connected == ())
            (view,) = one.peers()
            assert view.banned_until is not None
            assert view.banned_until > one.clock.wall() + 4 * 60_000
            assert [reason.code for reason in view.why][:1] == ["BANNED"]
            # The other is told why, not only cut off.
            await until(lambda: "more minutes" in two.peers()[0].unreachable)
            with pytest.raises(RequestError):
                one.ban_peer(one.instance, minutes=5)
            one.ban_peer(two.instance, minutes=0)
            assert one.peers()[0].banned_until is None
            # It waits a minute after a refusal; a person would add it anew.
            two.remove_peer(one.instance)
            introduce([one, two])
            await until(lambda: one.links.connected == (two.instance,))


@pytest.mark.trio
async def test_a_refusal_is_told_as_it_is(tmp_path: Path) -> None:
    town = quick(tmp_path / "ours", instances=2, agents=2)
    other = quick(tmp_path / "theirs", instances=2, agents=2)
    with trio.fail_after(20):
        async with town.node(0) as one, other.node(0) as stranger, host(5, listen=LOOPBACK):
            assert one.network is not None
            assert stranger.host is not None
            address = stranger.host.addresses[0]
            one.add_peer(address)
            call = one.network.dialer.calls[address]
            await until(lambda: call.why != "not called yet")

            assert "another realm" in call.why
            assert one.links.connected == stranger.links.connected == ()
