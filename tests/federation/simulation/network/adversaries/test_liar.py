from federation.certificates import (
    CutSlot,
    ListValue,
    MessagePacket,
    Phase,
    Promise,
    RoundSlot,
    WantPacket,
    packet_bytes,
    packet_from_bytes,
    part_address,
)
from federation.simulation.network.adversaries.liar import (
    Liar,
    is_certificate,
    spoken_in,
    value_part_of,
    wanted_in,
)
from federation.simulation.network.letters import AskHello, Packet
from tests.simnet.eavesdrop import comes_to_rest, with_liar

LIE = Promise(fence=9, lock_fence=None, lock_digest=None)


def test_a_liar_that_does_not_lie_changes_nothing() -> None:
    conduct = Liar()
    network, ear = with_liar(conduct)

    assert comes_to_rest(network)
    assert conduct.lies == 0
    assert ear.said
    assert ear.certified


def test_a_lie_is_well_signed_and_the_core_never_hears_of_it() -> None:
    conduct = Liar()
    network, _ = with_liar(conduct)
    node = network.node(0)
    assert node.world is not None
    (live,) = node.world.slots.values()
    packet = conduct.lie(node, live.pinned, LIE)
    spoken = spoken_in(node, packet)

    assert conduct.lies == 1
    assert isinstance(live.slot, CutSlot)
    assert spoken is not None
    assert (spoken.heard.body, spoken.slot) == (LIE, live.slot)
    assert network.verify(
        live.pinned.member(node.instance).key,  # type: ignore[union-attr]
        b"folkmoot/1/message" + spoken.heard.hash,
        spoken.heard.signature,
    )
    assert conduct.incoming(node, node.peers[0], packet) is None


def test_a_lie_and_what_came_with_it_are_handed_over_on_request() -> None:
    conduct = Liar()
    network, ear = with_liar(conduct)
    node = network.node(0)
    assert node.world is not None
    (live,) = node.world.slots.values()
    slot = RoundSlot(round_id=bytes(32), phase=Phase.COMMIT)
    part = value_part_of(slot, ListValue(records=()))
    packet = conduct.lie(node, live.pinned, LIE, (part,))
    want = WantPacket(hashes=(part_address(part), bytes(32)))
    ear.letters.clear()
    conduct.incoming(node, node.peers[0], Packet(packet=packet_bytes(live.pinned, want)))

    assert [letter for _, _, letter in ear.letters] == [packet]


def test_only_letters_that_speak_are_read() -> None:
    conduct = Liar()
    network, _ = with_liar(conduct)
    node = network.node(0)
    assert node.world is not None
    (live,) = node.world.slots.values()
    want = Packet(packet=packet_bytes(live.pinned, WantPacket(hashes=(bytes(32),))))
    rubbish = Packet(packet=b"rubbish")
    elsewhere = packet_bytes(live.pinned, MessagePacket(raw=b"\xc1", signature=bytes(64)))

    assert wanted_in(want) == (bytes(32),)
    for letter in (want, rubbish, Packet(packet=elsewhere)):
        assert spoken_in(node, letter) is None
        assert not is_certificate(letter)
        assert conduct.outgoing(node, node.peers[0], letter) is letter
    assert conduct.outgoing(node, node.peers[0], AskHello()) == AskHello()
    node.world = None
    assert spoken_in(node, want) is None
    assert wanted_in(rubbish) == ()
    assert packet_from_bytes(want.packet).slot == live.slot
