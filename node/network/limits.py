"""What one peer, one address and everybody together may take from a host.

Bounds on memory come from these: a connection may buffer `buffered_per_peer`, there are at most
`inbound_total` + `outbound_total` of them, and each runs at most `streams_in` handlers.
"""

from dataclasses import dataclass
from typing import Final

FRAME: Final = 256 * 1024
"""Bytes of the longest frame on a stream (design: moving records)."""
GOSSIP: Final = 64 * 1024
"""Bytes of the longest gossip payload (design: moving records)."""
WINDOW: Final = 256 * 1024
"""Bytes that a sender may have under way on one stream, as Yamux starts with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """Limits of one host; times in seconds."""

    inbound_total: int = 128
    """Accepted connections at one time."""
    inbound_per_ip: int = 64
    """Of these, from one IPv4 address or one IPv6 /64; several instances may share an address."""
    pending_total: int = 64
    """Accepted connections whose handshake is not finished."""
    pending_per_ip: int = 16
    """Of these, from one address: silent sockets of one origin never fill all places."""
    outbound_total: int = 64
    """Connections that we opened."""
    per_peer: int = 2
    """Connections with one peer: two, because both may dial at once. The newest stay."""
    streams_in: int = 16
    """Streams of one connection that the peer opened and that are not closed."""
    streams_out: int = 64
    """Streams of one connection that we opened and that are not closed."""
    new_streams_per_s: int = 100
    """Streams that a peer may open, sustained; ten times as many at once."""
    pings_per_s: int = 8
    """Pings of a peer that are answered, sustained; ten times as many at once."""
    buffered_per_peer: int = 4 * 1024 * 1024
    """Bytes of one connection that its peer sent and nobody here has read."""
    upgrade_s: float = 3.0
    """Encryption and multiplexing of an accepted connection."""
    dial_s: float = 10.0
    """Connecting, with encryption and multiplexing."""
    open_s: float = 10.0
    """Opening a stream and agreeing on its protocol."""
    frame_s: float = 30.0
    """One frame, from its first byte to its last, in either direction."""
    write_s: float = 5.0
    """One packet into the socket; after this the peer counts as gone."""
    close_s: float = 2.0
    """How long a closed stream waits for the peer to close its side."""
    ping_every_s: float = 15.0
    """Each connection is pinged so often."""
    ping_within_s: float = 5.0
    """A peer that does not answer a ping within this time is frozen and disconnected."""
    gossip_per_s: int = 30
    """Gossip that we publish; more waits (fault 12: libp2p's queue of 32 drops silently)."""
    gossip_waiting: int = 64
    """Publications that may wait at one time; further ones are refused."""
    gossip_queue: int = 512
    """Payloads of one topic that wait for the reader; the oldest is dropped and counted."""
    gossip_in_per_s: int = 200
    """Messages that one neighbour may forward to us, sustained; ten times as many at once."""
    gossip_in_bytes_per_s: int = 2 * 1024 * 1024
    """Bytes of messages that one neighbour may forward to us; ten times as many at once."""
