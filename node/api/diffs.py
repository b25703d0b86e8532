"""The route that compares this instance's certified world with a peer's.

It asks the peer, so it is the operator's, and its answer may take as long as the peer does.
"""

from node.api.calls import Call
from node.queries.differences import Differences, differences
from node.queries.names import Thing


async def show_diff(call: Call) -> Differences:
    """Tell where a peer's world differs from ours, and what can explain it."""
    peer = call.named(Thing.AGENT, part="instance")
    found = await call.node.diff(peer)
    return differences(call.node.world, peer, found)
