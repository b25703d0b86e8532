"""Early packets: each peer fills its own share only, and the oldest of it give way."""

from hypothesis import given
from hypothesis import strategies as st

from federation.protocol.early import MOST_BYTES, MOST_PACKETS, Early
from federation.protocol.inputs import Packet
from tests.builders import named


def packet(peer: object, content: bytes = b"") -> Packet:
    return Packet(packet=content, peer=named("peer", peer))


def test_packets_wait_for_their_slot_in_order_of_arrival() -> None:
    early = Early()
    first, other, second = packet(1, b"first"), packet(1, b"other"), packet(1, b"second")
    early.put(b"slot", first)
    early.put(b"another", other)
    early.put(b"slot", second)

    assert early.take(b"slot") == [first, second]
    assert early.take(b"slot") == []
    assert len(early) == 1
    assert early.take(b"another") == [other]


def test_a_flood_pushes_out_only_packets_of_its_own_peer() -> None:
    early = Early()
    kept = packet("honest", b"kept")
    early.put(b"slot", kept)
    for number in range(MOST_PACKETS + 10):
        early.put(b"slot", packet("flood", number.to_bytes(2, "big")))
    taken = early.take(b"slot")

    assert kept in taken
    assert len(taken) == MOST_PACKETS + 1
    assert packet("flood", (9).to_bytes(2, "big")) not in taken
    assert packet("flood", (10).to_bytes(2, "big")) in taken


def test_large_packets_are_bounded_by_their_bytes() -> None:
    early = Early()
    half = bytes(MOST_BYTES // 2)
    for _ in range(3):
        early.put(b"slot", packet(1, half))
    assert len(early) == 2
    early.put(b"slot", packet(1, bytes(MOST_BYTES + 1)))

    assert len(early) == 0


def test_room_is_free_again_once_packets_are_taken() -> None:
    early = Early()
    for _ in range(5):
        early.put(b"slot", packet(1, bytes(MOST_BYTES)))
        assert len(early.take(b"slot")) == 1


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 400_000))))
def test_no_peer_ever_holds_more_than_its_share(puts: list[tuple[int, int, int]]) -> None:
    early = Early()
    for peer, slot, size in puts:
        early.put(bytes([slot]), packet(peer, bytes(size)))
    held = [one for slot in range(4) for one in early.take(bytes([slot]))]

    for peer in range(3):
        own = [one for one in held if one.peer == named("peer", peer)]
        assert len(own) <= MOST_PACKETS
        assert sum(len(one.packet) for one in own) <= MOST_BYTES
    assert len(early) == 0
