"""Compare this instance's certified world with a peer's, for an operator who found them unequal."""

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Final

import trio

from federation.core import InstanceId
from federation.protocol import World
from node.base.errors import NetworkError, NodeCode
from node.network.links import Links
from node.network.messages import Former
from node.network.worlds import Difference, compare
from node.store import Store

VERSION: Final = version("folkmoot")
"""Of this program, as peers are told; it explains differences and decides nothing."""
WITHIN_S: Final = 25.0
"""How long one comparison may take: less than a command waits for its answer."""


async def former_at(store: Store, cut: int) -> Former | None:
    """Give what a cut amounted to when this instance folded it; None if that is not stored."""
    found = await store.snapshots(cut - 1, 1)
    if not found or found[0].cut != cut:
        return None
    return Former(digest=found[0].digest, world_digest=found[0].world_digest)


async def diff(
    world: Callable[[], World], store: Store, links: Links, instance: InstanceId
) -> Difference:
    """Find where a peer's certified world differs from ours.

    Raises NetworkError UNREACHABLE, BUSY, STREAM_LOST, and TIMED_OUT after `WITHIN_S`.
    """
    try:
        with trio.fail_after(WITHIN_S):
            return await compare(
                world,
                partial(links.ask, instance),
                former=partial(former_at, store),
                version=VERSION,
            )
    except trio.TooSlowError as error:
        raise NetworkError(
            "not compared",
            why=f"the peer did not answer all that it was asked within {WITHIN_S:.0f} s",
            fix="try again; `folkmoot peer list` tells when it last answered anything",
            code=NodeCode.TIMED_OUT,
        ) from error
