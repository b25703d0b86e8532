"""The first words: who is welcome, and what a stranger is told."""

import pytest
import trio

from node.base.errors import EXPLAINED, NetworkError, NodeCode
from node.network.hello import greet, probe, refusal
from node.network.host import Host
from node.network.messages import HELLO, PROTOCOL, Hello, Refusal, frame
from node.network.streams import Stream
from tests.federation.protocol.town import Town
from tests.node.network import parties
from tests.node.network.hosts import host
from tests.node.network.parties import hand, hello_of, party

TOWN = Town.of(2, 2, seed="hello")
STRANGE = b"s" * 32

WRONG: dict[str, tuple[dict[str, object], NodeCode]] = {
    "older": ({"low": 0, "high": PROTOCOL - 1}, NodeCode.WRONG_PROTOCOL),
    "newer": ({"low": PROTOCOL + 1, "high": PROTOCOL + 3}, NodeCode.WRONG_PROTOCOL),
    "realm": ({"realm": STRANGE}, NodeCode.WRONG_REALM),
    "charter": ({"charter_hash": STRANGE}, NodeCode.WRONG_CHARTER),
    "somebody else": ({"instance": STRANGE}, NodeCode.NOT_A_PEER),
}


@pytest.mark.trio
@pytest.mark.parametrize("name", WRONG)
async def test_who_is_not_welcome_is_told_why_and_what_to_do(name: str) -> None:
    changes, code = WRONG[name]
    with trio.fail_after(20):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as caller:
            told = await parties.greet(caller, one, hello_of(TOWN, 1, **changes))

            assert isinstance(told, Refusal)
            assert told.code == code
            assert told.fix == EXPLAINED[code][1]
            assert told.why
            assert one.links.connected == ()


@pytest.mark.trio
async def test_a_key_that_is_no_members_is_refused() -> None:
    with trio.fail_after(20):
        async with party(TOWN, 0) as one, host(9) as stranger:
            told = await parties.greet(stranger, one, hello_of(TOWN, 1))

            assert isinstance(told, Refusal)
            assert told.code == NodeCode.NOT_A_PEER


@pytest.mark.trio
async def test_a_banned_peer_hears_for_how_long_and_why() -> None:
    with trio.fail_after(20):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as caller:
            one.book.ban(caller.key, minutes=3, why="the operator said so")
            told = await parties.greet(caller, one, hello_of(TOWN, 1))

            assert isinstance(told, Refusal)
            assert told.code == NodeCode.BANNED
            assert "3 more minutes" in told.why


@pytest.mark.trio
async def test_two_members_get_to_know_each_other() -> None:
    with trio.fail_after(20):
        async with party(TOWN, 0) as one, party(TOWN, 1) as two:
            await one.host.connect(two.host.addresses[0])
            theirs = await greet(one.me, one.host, two.host.key)

            assert theirs == hello_of(TOWN, 1)
            assert two.links.connected == (one.instance,)


@pytest.mark.trio
async def test_a_range_of_levels_that_overlaps_is_enough() -> None:
    with trio.fail_after(20):
        async with party(TOWN, 0) as one:
            wide = hello_of(TOWN, 1, low=0, high=PROTOCOL + 5)
            key = TOWN.world().state.identities[TOWN.founding.instances[1]].keys.key

            assert refusal(one.me, key, wide) is None


def test_the_reasons_are_looked_at_in_their_order() -> None:
    everything = {"low": 9, "high": 9, "realm": STRANGE, "charter_hash": STRANGE}
    codes = []

    async def play() -> None:
        async with party(TOWN, 0) as one:
            one.book.ban(STRANGE, minutes=1, why="w")
            for fields in (everything, *_without(everything)):
                no = refusal(one.me, STRANGE, hello_of(TOWN, 1, **fields))
                assert no is not None
                codes.append(no.code)
            one.book.ban(STRANGE, minutes=0, why="it was enough")
            no = refusal(one.me, STRANGE, hello_of(TOWN, 1))
            assert no is not None
            codes.append(no.code)

    trio.run(play)

    assert codes == ["WRONG_PROTOCOL", "WRONG_REALM", "WRONG_CHARTER", "BANNED", "NOT_A_PEER"]


def _without(fields: dict[str, object]) -> list[dict[str, object]]:
    """Mend one thing after the other."""
    no_levels = {name: one for name, one in fields.items() if name not in {"low", "high"}}
    no_realm = {name: one for name, one in no_levels.items() if name != "realm"}
    return [no_levels, no_realm, {}]


# Calling ------------------------------------------------------------------------------------------


async def answered(caller: parties.Party, other: Host, said: bytes | None) -> NetworkError:
    """Greet a host that answers with these bytes, or not at all; gives the error."""

    async def handle(stream: Stream) -> None:
        await stream.receive(deadline_s=5)
        if said is not None:
            await stream.send(said)

    other.serve(HELLO, handle)
    await caller.host.connect(other.addresses[0])
    with pytest.raises(NetworkError) as raised:
        await greet(caller.me, caller.host, other.key)
    return raised.value


@pytest.mark.trio
@pytest.mark.parametrize("said", [None, b"", b"noise", frame(hello_of(TOWN, 1))[:-1]])
async def test_what_is_no_hello_is_told_as_such(said: bytes | None) -> None:
    with trio.fail_after(20):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as other:
            error = await answered(one, other, said)

            assert error.code is NodeCode.UNREACHABLE
            assert "no hello" in error.why


@pytest.mark.trio
async def test_a_refusal_is_passed_on_in_our_words_and_theirs_if_the_code_is_ours() -> None:
    said = Refusal(code="WRONG_REALM", why="realm\nabcd", fix="rm -rf")
    with trio.fail_after(20):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as other:
            error = await answered(one, other, frame(said))

            assert error.code is NodeCode.WRONG_REALM
            assert error.why.startswith("the peer refuses this instance: ")
            assert error.why.endswith("(realm abcd)")
            assert error.fix == EXPLAINED[NodeCode.WRONG_REALM][1]


@pytest.mark.trio
async def test_a_refusal_with_an_unknown_code_shows_nothing_of_the_peers() -> None:
    said = Refusal(code="PAY_ME", why="send money", fix="now")
    with trio.fail_after(20):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as other:
            error = await answered(one, other, frame(said))

            assert error.code is NodeCode.NOT_A_PEER
            assert "money" not in str(error)


@pytest.mark.trio
async def test_who_answers_as_somebody_else_is_refused_by_us() -> None:
    with trio.fail_after(20):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as other:
            error = await answered(one, other, frame(hello_of(TOWN, 1, realm=STRANGE)))

            assert error.code is NodeCode.WRONG_REALM
            assert error.why.startswith("this instance refuses the peer: ")


@pytest.mark.trio
async def test_a_probe_tells_what_an_address_answers_and_leaves_no_connection() -> None:
    with trio.fail_after(20):
        async with party(TOWN, 0) as one, hand(TOWN, 1) as caller, host(9) as stranger:
            world = TOWN.world()
            welcome = await probe(
                caller,
                one.host.addresses[0],
                realm=world.realm,
                charter_hash=world.state.charter_hash,
                instance=TOWN.founding.instances[1],
            )
            refused = await probe(
                stranger,
                one.host.addresses[0],
                realm=STRANGE,
                charter_hash=world.state.charter_hash,
                instance=STRANGE,
            )

            assert welcome.peer == refused.peer == one.host.key
            assert isinstance(welcome.answer, Hello)
            assert isinstance(refused.answer, Refusal)
            assert refused.answer.code == "WRONG_REALM"
            assert caller.connected() == stranger.connected() == frozenset()
            with pytest.raises(NetworkError):
                await probe(
                    caller,
                    one.host.addresses[0].replace(one.host.peer_id, stranger.peer_id),
                    realm=world.realm,
                    charter_hash=world.state.charter_hash,
                    instance=STRANGE,
                )
