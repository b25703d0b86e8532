"""Routes that act for an agent whose key is kept here, and the door for finished records."""

import base64
import binascii
from typing import Final

import msgspec

from federation.core import Code, PeerError
from federation.crypto import Choice
from federation.records import Record, parse_unless
from node import commands
from node.api.calls import MSGPACK, Call, Reply
from node.api.errors import STATUS, error_of
from node.api.ids import read_id
from node.api.schemas import (
    ArgueInRound,
    ObjectToRound,
    Outcome,
    Outcomes,
    PostRecords,
    ProposeArtifact,
    Signed,
    UnvouchAgent,
    VoteInRound,
    VouchForAgent,
)
from node.base.errors import NodeCode
from node.commands.fields import digests
from node.queries import names
from node.queries.names import Thing
from node.runtime import Node, Receipt

MOST_RECORDS: Final = 256
_CHOICES: Final = {"for": Choice.FOR, "abstain": Choice.ABSTAIN, "against": Choice.AGAINST}
_RECORDS_A_REQUEST: Final = 8
"""So many records cost what a request costs: checking a signature takes 60 µs, a request 500."""
_BYTES_A_REQUEST: Final = 16 * 1024
"""So many bytes of a body cost what a request costs."""
_MOST_STRANGE: Final = 8
"""Records of one request whose authors no cut has admitted: all that one such author has room for,
and no more than a full bucket can pay."""
_CREATED: Final = 201
_FEW: Final = 4
_DIGESTS: Final = 16


async def propose(call: Call) -> Reply:
    """Propose an artifact."""
    body = call.take(ProposeArtifact)
    agent = call.agent(body.agent)
    return signed(await commands.propose(call.node, agent, proposal_of(call, body)))


def proposal_of(call: Call, body: ProposeArtifact) -> commands.Proposal:
    """Read what an agent proposes; raises RequestError BAD_FIELD, NOT_FOUND or AMBIGUOUS."""
    world = call.node.world
    return commands.Proposal(
        title=body.title,
        prose=body.prose,
        claims=body.claims,
        falsification=body.falsification,
        sources=body.sources,
        topics=body.topics,
        cites=tuple(names.resolve(world, said, things=(Thing.ARTIFACT,)).id for said in body.cites),
        source_digests=digests("$.source_digests", body.source_digests, most=_DIGESTS),
        lang=body.lang,
    )


async def object_to(call: Call) -> Reply:
    """Object in a round."""
    body = call.take(ObjectToRound)
    agent = call.agent(body.agent)
    return signed(await commands.object_to(call.node, agent, call.named(Thing.ROUND), body.reason))


async def argue(call: Call) -> Reply:
    """Argue in a round."""
    body = call.take(ArgueInRound)
    agent = call.agent(body.agent)
    replies_to = None if body.replies_to is None else read_id("$.replies_to", body.replies_to)
    return signed(
        await commands.argue(
            call.node,
            agent,
            call.named(Thing.ROUND),
            stance=body.stance,
            note=body.note,
            level=body.level,
            replies_to=replies_to,
        )
    )


async def vote(call: Call) -> Reply:
    """Vote in a round, sealed."""
    body = call.take(VoteInRound)
    agent = call.agent(body.agent)
    return signed(
        await commands.vote(
            call.node,
            agent,
            call.named(Thing.ROUND),
            commands.Vote(
                choice=_CHOICES[body.choice],
                reason=body.reason,
                basis=body.basis,
                evidence=digests("$.evidence", body.evidence, most=_FEW),
                arguments=digests("$.arguments", body.arguments, most=_FEW),
            ),
        )
    )


async def vouch(call: Call) -> Reply:
    """Vouch for an agent."""
    body = call.take(VouchForAgent)
    agent = call.agent(body.agent)
    whom = call.named(Thing.AGENT)
    return signed(
        await commands.vouch(call.node, agent, whom, weight=body.weight, reason=body.reason)
    )


async def unvouch(call: Call) -> Reply:
    """Take a vouch back."""
    body = call.take(UnvouchAgent)
    agent = call.agent(body.agent)
    whom = call.named(Thing.AGENT)
    return signed(await commands.unvouch(call.node, agent, whom, reason=body.reason))


def signed(record: Record) -> Reply:
    """Answer with a record that was signed and is durable."""
    return Reply(
        status=_CREATED,
        content=Signed(
            id=record.id.hex(),
            cid=names.cid_of(record.id),
            kind=record.kind,
            agent=record.author.hex(),
            seq=record.seq,
            at=record.statement.at,
        ),
    )


async def post_records(call: Call) -> Reply:
    """Take finished records; each has an outcome of its own.

    The status is 200 if any was stored, else that of the first refusal.
    """
    raws = _packed(call.body) if call.content_type == MSGPACK else _coded(call)
    # Each costs a signature check and a place on the disk.
    usual = len(raws) // _RECORDS_A_REQUEST + len(call.body) // _BYTES_A_REQUEST
    call.spend(usual)
    strange = _strange(call.node, raws)
    if strange > _MOST_STRANGE:
        raise commands.bad_field(
            "$",
            f"{strange} of its records are of authors that no cut has admitted; "
            f"hand in {_MOST_STRANGE} at a time",
        )
    call.spend(max(strange * call.service.limits.stranger - usual, 0))
    receipts = await call.node.submit(raws)
    outcomes = Outcomes(records=tuple(map(_outcome, receipts)))
    if any(receipt.stored for receipt in receipts):
        return Reply(status=200, content=outcomes)
    code = receipts[0].code
    return Reply(
        status=STATUS[Code(code)] if code in set(Code) else STATUS[NodeCode.BAD_REQUEST],
        content=outcomes,
    )


def _strange(node: Node, raws: list[bytes]) -> int:
    """Count the records that are new here and whose authors no cut has admitted.

    What they cost is asked before any of them is stored.
    """
    world = node.world
    count = 0
    for raw in raws:
        try:
            record = parse_unless(world.realm, raw, world.log.has_all)
        except PeerError:
            # Nothing of it is stored; the receipt says why.
            continue
        count += record is not None and not world.is_admitted(record.author)
    return count


def _outcome(receipt: Receipt) -> Outcome:
    return Outcome(
        id=None if receipt.id is None else receipt.id.hex(),
        stored=receipt.stored,
        code=receipt.code,
        why=receipt.why,
        fix=receipt.fix,
    )


def _coded(call: Call) -> list[bytes]:
    raws = []
    for index, text in enumerate(call.take(PostRecords).records):
        try:
            raws.append(base64.b64decode(text, validate=True))
        except (binascii.Error, ValueError) as error:
            raise commands.bad_field(f"$.records[{index}]", "it is not base64") from error
    return raws


def _packed(body: bytes) -> list[bytes]:
    try:
        raws = msgspec.msgpack.decode(body, type=list[bytes])
    except (msgspec.DecodeError, RecursionError) as error:
        raise error_of(
            NodeCode.BAD_REQUEST,
            "request refused",
            why="its body is not a msgpack list of byte strings",
        ) from error
    if not 1 <= len(raws) <= MOST_RECORDS:
        raise commands.bad_field("$", f"it has {len(raws)} members, not 1 to {MOST_RECORDS}")
    return raws
