"""Routes about other instances and other realms: my operator's policy, and what it comes to.

All of them need the operator's token: where my verdicts part from the canonical ones tells what my
policy is. They are rows of the table of routes like all others.
"""

import base64
import binascii
from dataclasses import replace
from typing import Annotated, Final, Literal

import msgspec
import trio
from msgspec import Meta

from federation.core import AgentId, InstanceId, short
from federation.protocol import Policy, custody, head_of
from federation.records import Kind, Record, TrustHead
from node.api.calls import Call, Route, Who
from node.api.schemas import Done, Id
from node.base.errors import NodeCode, RequestError
from node.commands import bad_field
from node.partners import (
    Linked,
    Partners,
    head_file,
    look,
    read_head,
    read_partners,
    write_partners,
)
from node.partners.policy import MOST_SEEDS
from node.queries import names
from node.queries.disagreement import (
    MOST_ROUNDS,
    MOST_SHOWN,
    Disagreement,
    compare,
    newest_ended,
    page,
)
from node.queries.names import Thing
from node.queries.partners import LinkHead, LinksPage, PolicyPage, links_page, policy_page

_HEX: Final = r"\A[0-9a-f]{64}\Z"
_LARGEST_FILE: Final = 96 * 1024
"""Characters of a file in base64: one of the largest record needs 88,750."""
_BODY: Final = 128 * 1024


class SetInstancePolicy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to think of an instance."""

    policy: Literal["allow", "observe"]
    """`observe`: its agents weigh nothing in my verdicts, its records are kept as ever."""


class SetSeeds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where trust starts for me: either with some agents, or with the charter's."""

    agents: Annotated[tuple[Id, ...], Meta(min_length=1, max_length=MOST_SEEDS)] | None = None
    """The agents."""
    charter: bool = False
    """True for those of the charter, and no agents."""


class AskDisagreement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much to compare, and how much to show."""

    rounds: Annotated[int, Meta(ge=1, le=MOST_ROUNDS)] = 200
    """Ended rounds to compare, the newest ones."""
    most: Annotated[int, Meta(ge=1, le=MOST_SHOWN)] = 50
    """Rounds to show, of those where we part."""


class LinkRealm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another realm, with the newest head of it."""

    realm: Annotated[str, Meta(pattern=_HEX)]
    """Its id: 64 hex digits."""
    key: Annotated[str, Meta(pattern=_HEX)]
    """Key of the instance that signed the head, in hex, as that realm's operator told it."""
    weight: Annotated[int, Meta(ge=1, le=255)]
    """Of the edge from each of my seeds to that realm; a vouch weighs as much."""
    head: Annotated[str, Meta(max_length=_LARGEST_FILE)]
    """The file that `folkmoot federation head` wrote there, in base64."""


class HeadFile(msgspec.Struct, frozen=True, kw_only=True):
    """A signed head of this realm, for other realms."""

    realm: str
    """Id of this realm, in hex."""
    instance: str
    """This instance, which signed it, in hex."""
    key: str
    """The key that it is signed with, in hex: the other realm's operator must name it."""
    record: str
    """Id of the record in hex; it stands in this instance's chain."""
    cut: int
    """The cut that it tells of."""
    agents: int
    """Agents that it names, the most trusted ones; at most 256."""
    file: str
    """The file, in base64."""


async def show_policy(call: Call) -> PolicyPage:
    """Show what stands in the policy."""
    return policy_page(call.node.world, _kept(call).policy)


async def set_instance(call: Call) -> PolicyPage:
    """Allow or observe an instance."""
    body = call.take(SetInstancePolicy)
    instance = call.named(Thing.AGENT, part="instance")
    world = call.node.world
    if instance not in world.state.instances:
        raise _no_instance(instance)
    if instance == call.node.instance and body.policy != "allow":
        raise RequestError(
            "policy not changed",
            why="this is the instance itself",
            fix="observe other instances; to trust agents of your own less, name other seeds",
            code=NodeCode.NOT_ALLOWED,
        )
    return _keep(call, _kept(call).with_instance(instance, body.policy))


async def set_seeds(call: Call) -> PolicyPage:
    """Let trust start elsewhere for me, or again where the charter says."""
    body = call.take(SetSeeds)
    world = call.node.world
    seeds: frozenset[AgentId] | None = None
    if (body.agents is None) is not body.charter:
        raise bad_field("$.agents", "name agents, or set `charter` to true: one of the two")
    if body.agents is not None:
        found = [names.resolve(world, said, things=(Thing.AGENT,)).id for said in body.agents]
        for name in found:
            if name not in world.state.agents:
                raise bad_field("$.agents", f"{short(name)}… is no admitted agent")
        seeds = frozenset(found)
    return _keep(call, replace(_kept(call), seeds=seeds))


async def show_disagreement(call: Call) -> Disagreement:
    """Show where my verdicts part from the canonical ones."""
    asked = call.ask(AskDisagreement)
    seen = await look(lambda: call.node.world, _kept(call).policy)
    newest, more = newest_ended(call.node.world, asked.rounds)
    compared = []
    for one in newest:
        # In a large realm one takes some milliseconds, and others have their turns too.
        await trio.lowlevel.checkpoint()
        compared.append(compare(one, seen))
    return page(call.node.world, seen, compared, more=more, most=asked.most)


async def make_head(call: Call) -> HeadFile:
    """Sign what this realm shows others of its trust, as a record of this instance."""
    node = call.node
    record = _said(call)
    if record is None:
        record = await node.sign(
            node.instance,
            lambda world, keyring, now: custody.author(
                world, keyring, head_of(world.state), now=now
            ),
        )
    head = record.body
    assert isinstance(head, TrustHead), "it was made so"  # noqa: S101 # our own invariant
    entry = node.world.log.entry(record.id)
    assert entry is not None, "it is stored"  # noqa: S101 # our own invariant
    return HeadFile(
        realm=node.world.realm.hex(),
        instance=node.instance.hex(),
        key=entry.keys.key.hex(),
        record=record.id.hex(),
        cut=head.cut,
        agents=len(head.top),
        file=base64.b64encode(head_file(node.world.realm, record)).decode(),
    )


async def list_links(call: Call) -> LinksPage:
    """Show the linked realms and what they do here."""
    return await _links(call, _kept(call))


async def link_realm(call: Call) -> LinksPage:
    """Link a realm, or take its next head."""
    body = call.take(LinkRealm)
    world = call.node.world
    realm, key = bytes.fromhex(body.realm), bytes.fromhex(body.key)
    try:
        raw = base64.b64decode(body.head, validate=True)
    except (binascii.Error, ValueError) as error:
        raise bad_field("$.head", "it is not base64") from error
    record = read_head(raw, realm=realm, key=key, own=world.realm)
    linked = Linked(
        realm=realm, key=key, weight=body.weight, imported=world.state.cut, record=record
    )
    partners = _kept(call).with_link(linked)
    write_partners(call.node.data.federation, partners)
    return await _links(call, partners)


async def unlink_realm(call: Call) -> Done:
    """Link a realm no more."""
    kept = _kept(call)
    said = call.path["id"].lower()
    found = [one.realm for one in kept.links if one.realm.hex().startswith(said)]
    if len(found) != 1 or len(said) < names.LEAST_DIGITS:
        raise RequestError(
            "realm not unlinked",
            why=f"{len(found)} linked realms have an id that begins so, and it needs "
            f"{names.LEAST_DIGITS} digits",
            fix="`folkmoot federation links` shows them",
            code=NodeCode.AMBIGUOUS if len(found) > 1 else NodeCode.NOT_FOUND,
        )
    write_partners(call.node.data.federation, kept.without_link(found[0]))
    return Done()


async def _links(call: Call, partners: Partners) -> LinksPage:
    seen = await look(lambda: call.node.world, partners.policy)
    behind = [
        (one.link, LinkHead(key=one.key, instance=one.record.author)) for one in partners.links
    ]
    return links_page(call.node.world, seen, behind)


def _kept(call: Call) -> Partners:
    return read_partners(call.node.data.federation)


def _keep(call: Call, partners: Partners) -> PolicyPage:
    """Keep decisions, unless they leave trust nowhere to start."""
    policy = partners.policy
    if not _seeds_left(call, policy):
        raise RequestError(
            "policy not changed",
            why="every seed would be an agent of an instance that is only observed",
            fix="allow one of these instances, or name other seeds",
            code=NodeCode.BAD_REQUEST,
        )
    write_partners(call.node.data.federation, partners)
    return policy_page(call.node.world, policy)


def _seeds_left(call: Call, policy: Policy) -> bool:
    agents = call.node.world.state.agents
    seeds = policy.seeds_under(call.node.world.charter)
    return any(name in agents and agents[name].instance not in policy.observed for name in seeds)


def _said(call: Call) -> Record | None:
    """Give this instance's own head of the present cut, if it has signed one already."""
    world = call.node.world
    for record in world.log.by_kind(Kind.TRUST_HEAD):
        body = record.body
        if record.author != call.node.instance or not isinstance(body, TrustHead):
            continue
        if body.cut == world.state.cut:
            return record
    return None


def _no_instance(name: InstanceId) -> RequestError:
    return RequestError(
        "no such instance",
        why=f"{short(name)}… is no instance of this realm",
        fix="`folkmoot federation policy` lists them",
        code=NodeCode.NOT_FOUND,
    )


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/federation/policy",
        summary="My operator's policy about instances and realms",
        handler=show_policy,
        gives=PolicyPage,
        who=Who.OPERATOR,
        says="It changes what this instance shows beside the canonical verdicts, and nothing else.",
    ),
    Route(
        method="POST",
        path="/v1/federation/instances/{instance}",
        summary="Allow an instance, or only observe it",
        handler=set_instance,
        gives=PolicyPage,
        takes=SetInstancePolicy,
        who=Who.OPERATOR,
        says="An observed instance is replicated as ever; its agents weigh nothing in local verdicts.",
    ),
    Route(
        method="POST",
        path="/v1/federation/seeds",
        summary="Let trust start elsewhere for this instance",
        handler=set_seeds,
        gives=PolicyPage,
        takes=SetSeeds,
        who=Who.OPERATOR,
    ),
    Route(
        method="GET",
        path="/v1/federation/disagreement",
        summary="Where local verdicts part from the canonical ones, and which weights do it",
        handler=show_disagreement,
        gives=Disagreement,
        query=AskDisagreement,
        who=Who.OPERATOR,
        says="Of the newest ended rounds with opened ballots. The canonical verdict stands.",
    ),
    Route(
        method="POST",
        path="/v1/federation/head",
        summary="Sign what this realm shows others of its trust",
        handler=make_head,
        gives=HeadFile,
        who=Who.OPERATOR,
        says="The head is a record of this instance, one for each cut at most. It tells of canonical "
        "trust only: nothing of what is linked here is in it.",
    ),
    Route(
        method="GET",
        path="/v1/federation/links",
        summary="Linked realms, and what they do here",
        handler=list_links,
        gives=LinksPage,
        who=Who.OPERATOR,
    ),
    Route(
        method="POST",
        path="/v1/federation/links",
        summary="Link another realm, or take its next head",
        handler=link_realm,
        gives=LinksPage,
        takes=LinkRealm,
        who=Who.OPERATOR,
        most=_BODY,
        says="The head must be signed by the key that is named, and not be older than the one that "
        "was accepted last. It fades with this realm's cuts since its import, and is gone after 90.",
    ),
    Route(
        method="DELETE",
        path="/v1/federation/links/{id}",
        summary="Link a realm no more",
        handler=unlink_realm,
        gives=Done,
        who=Who.OPERATOR,
        says="The id is that of the realm.",
    ),
)
"""Rows of the table of routes."""
