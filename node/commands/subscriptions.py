"""Subscribe: say what an agent offers to review, for an agent whose key is kept here."""

import unicodedata
from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta

from federation.core import AgentId
from federation.protocol import custody
from federation.records import AgentSubscribe, Record
from federation.records.bodies import Name, Topic
from node.commands.fields import bad_field, check
from node.queries.subscriptions import latest
from node.runtime import Node

MOST: Final = 32
"""Topics, and keywords, of one offer."""
_Topics = Annotated[tuple[Topic, ...], Meta(max_length=MOST)]
_Keywords = Annotated[tuple[Name, ...], Meta(max_length=MOST)]


async def subscribe(
    node: Node, agent: AgentId, *, topics: Sequence[str], keywords: Sequence[str], on: bool = True
) -> Record:
    """Offer to review what falls under some topics or holds some keywords; the latest offer counts.

    `on` false takes the offer back, and then nothing is named. The same offer said again while it
    stands, or waits for its cut, is the same record. Raises RequestError BAD_FIELD that names the
    field, RefusedError where the rules do not allow it, and NodeError NOT_IN_CUSTODY.
    """
    if on and not topics and not keywords:
        raise bad_field("$.topics", "an offer names a topic or a keyword")
    if not on and (topics or keywords):
        raise bad_field("$.on", "an offer that is taken back names nothing")
    words = tuple(unicodedata.normalize("NFC", " ".join(word.split())) for word in keywords)
    body = AgentSubscribe(
        topics=_set(check("$.topics", tuple(topics), _Topics)),
        keywords=_set(check("$.keywords", words, _Keywords)),
        on=on,
    )
    said = latest(node.world, agent)
    if said is not None and said.body == body:
        await node.flushed()
        return said
    return await node.sign(
        agent, lambda world, keyring, now: custody.author(world, keyring, body, now=now)
    )


def _set(values: Sequence[str]) -> tuple[str, ...]:
    """Spell a set in the one way that records do."""
    return tuple(sorted(set(values)))
