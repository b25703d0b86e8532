"""The network of one node: host, links, dialer, gossip, and the handlers of streams."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from federation.core import Millis, Seed
from node.network.budgets import Budgets
from node.network.dialer import Dialer
from node.network.gossip import Topic
from node.network.hints import Hints, listen, topic_of
from node.network.host import Host, open_host
from node.network.inbound import Inbound
from node.network.limits import HostLimits
from node.network.link import Intake
from node.network.links import Links
from node.network.serving import Serving
from node.network.streams import Tap
from node.runtime.supervision import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class GossipView:
    """What gossip has lost since this node started; streams bring what matters."""

    published_dropped: int
    """Records that gave way because too many waited to be said."""
    undelivered: int
    """Batches that found a neighbour's queue full, once for each neighbour."""
    received_dropped: int
    """Batches of others that gave way because too many waited to be read."""
    refused: int
    """Messages that were malformed, unsigned, unwanted or beyond their sender's budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """What is open while a node runs."""

    host: Host
    links: Links
    dialer: Dialer
    hints: Hints
    topic: Topic
    intake: Intake

    def gossip(self) -> GossipView:
        """Tell what gossip has lost."""
        gossip = self.host.gossip
        return GossipView(
            published_dropped=self.hints.dropped,
            undelivered=gossip.router.dropped,
            received_dropped=self.topic.dropped,
            refused=gossip.pubsub.refused,
        )

    def parts(self) -> tuple[tuple[Part, Callable[[], Awaitable[None]]], ...]:
        """Name the parts that run."""
        return (
            (Part.LINKS, lambda: self.links.run(self.host)),
            (Part.DIALER, self.dialer.run),
            (Part.HINTS, lambda: self.hints.publish(self.topic)),
            (
                Part.LISTENING,
                lambda: listen(
                    self.topic,
                    instance_of=self.links.instance_of,
                    intake=self.intake,
                    book=self.links.book,
                ),
            ),
        )


@asynccontextmanager
async def open_network(
    *,
    seed: Seed,
    addresses: tuple[str, ...],
    links: Links,
    hints: Hints,
    intake: Intake,
    serving: Serving,
    budgets: Budgets,
    now: Callable[[], Millis],
    jitter: Callable[[float], float],
    realm: bytes,
    tap: Tap | None,
    limits: HostLimits | None = None,
) -> AsyncIterator[Network]:
    """Listen, and answer; raises NetworkError NOT_BOUND."""
    async with open_host(seed, listen=addresses, tap=tap, limits=limits) as host:
        # A banned peer may connect, as a stranger may: to be told why. It hears nothing else.
        host.gossip.pubsub.hears = links.is_welcome
        topic = await host.join(topic_of(realm))
        inbound = Inbound(
            me=links.myself(),
            welcome=links,
            intake=intake,
            serving=serving,
            book=links.book,
            budgets=budgets,
            now=now,
        )
        inbound.serve(host)
        yield Network(
            host=host,
            links=links,
            dialer=Dialer(host, links, jitter=jitter),
            hints=hints,
            topic=topic,
            intake=intake,
        )
