"""Instances talking to each other: a hardened libp2p host, and what is said over it.

The host knows keys, frames and topics, nothing of the protocol:

`host`       open a host, connect, open streams, serve them, join topics, ban
`streams`    frames on a stream, each bounded in size and time
`gossip`     topics: paced publishing, bounded reading
`identity`   keys, peer ids and multiaddrs
`faults`     PeerFault, StreamEnded, and how libp2p's errors become ours
`limits`     what one peer, one address and everybody may take
`budgets`    token buckets, and one pair of them for each peer
`book`       what peers did wrong, their score, bans with their reasons

Inside the host, where libp2p's faults are met:

`hardening`  the swarm and the host, patched and guarded
`muxer`      Yamux that enforces its rules
`listener`   sockets of our own, with places per origin
`pubsub`     GossipSub with the settings that work

What instances say to each other:

`messages`   hello, push and sync as bytes
`hello`      the first words, and why there will be no conversation
`inbound`    streams that peers open here
`link`       the conversation with one peer
`links`      all of them, and what the core wants of them
`dialer`     addresses that are kept connected
`outbox`     what waits to be pushed to one peer
`fetches`    requests by id: merged, one instance at a time
`reconcile`  catch up with one peer, behind a door for better ways
`heads`      author heads as pages, and one hash of them
`serving`    answers, never ahead of the disk
`worlds`     where a peer's certified world differs from ours
`hints`      records over gossip
`costs`      what a fault costs
"""
