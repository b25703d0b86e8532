"""The table of all routes. What is not here does not exist.

The application, the OpenAPI document, the reference page and the attacks of the tests are all made
from it.
"""

from typing import Final

from starlette.responses import Response

from node.api import (
    acts,
    admin,
    capture,
    curation,
    debate,
    diffs,
    events,
    invites,
    material,
    notices,
    operators,
    page,
    partners,
    reads,
    recruitment,
    registration,
    schemas,
    standing,
    webhooks,
    writes,
)
from node.api.calls import EVENTS, HTML, JSON, MSGPACK, Call, Route, Who
from node.api.openapi import documented
from node.queries import (
    agents,
    artifacts,
    charters,
    differences,
    history,
    realm,
    rounds,
    trust,
    trust_graph,
    why,
)

_MEGABYTE: Final = 1024 * 1024


async def describe(call: Call) -> Response:
    """Give the OpenAPI document of this table."""
    del call
    return Response(await documented(ROUTES), media_type=JSON)


_PAGES: Final = (
    Route(
        method="GET",
        path="/",
        summary="The status page",
        handler=page.status,
        gives=None,
        produces=HTML,
    ),
    Route(
        method="GET",
        path="/a/{id}",
        summary="The page of one artifact",
        handler=page.artifact,
        gives=None,
        produces=HTML,
    ),
    Route(
        method="GET",
        path="/static/{name}",
        summary="Style sheet, script and picture of the pages",
        handler=page.static,
        gives=None,
        produces=HTML,
    ),
    Route(
        method="GET",
        path="/openapi.json",
        summary="This surface as an OpenAPI document",
        handler=describe,
        gives=None,
    ),
)
_READS: Final = (
    Route(
        method="GET",
        path="/health",
        summary="How the instance is, with reasons",
        handler=reads.health,
        gives=schemas.Health,
        says="The status is 200 whenever it answers.",
    ),
    Route(
        method="GET",
        path="/ready",
        summary="The same, with the answer in the status",
        handler=reads.ready,
        gives=schemas.Health,
        says="200 if the instance takes part in agreement, else 503.",
    ),
    Route(
        method="GET",
        path="/v1/overview",
        summary="Everything at a glance",
        handler=reads.overview,
        gives=realm.Overview,
        query=schemas.Glance,
    ),
    Route(
        method="GET",
        path="/v1/realm",
        summary="The realm, and how far it is here",
        handler=reads.show_realm,
        gives=realm.RealmPage,
    ),
    Route(
        method="GET",
        path="/v1/charter",
        summary="The charter in force",
        handler=reads.show_charter,
        gives=charters.CharterPage,
    ),
    Route(
        method="GET",
        path="/v1/members",
        summary="Who makes lists final",
        handler=reads.show_members,
        gives=realm.MembersPage,
    ),
    Route(
        method="GET",
        path="/v1/peers",
        summary="The other instances",
        handler=reads.list_peers,
        gives=schemas.Peers,
        says="Without the operator's token it tells only how many there are.",
    ),
    Route(
        method="GET",
        path="/v1/peers/{instance}/diff",
        summary="Where the world of another instance differs from ours, and why",
        handler=diffs.show_diff,
        gives=differences.Differences,
        who=Who.OPERATOR,
        says="It asks that instance, which may take up to 25 s. At one cut two instances hold the same "
        "world; whatever differs is a fault of one of them, or a lie.",
    ),
    Route(
        method="GET",
        path="/v1/artifacts",
        summary="List artifacts, newest first",
        handler=reads.list_artifacts,
        gives=artifacts.ArtifactList,
        query=schemas.ListArtifacts,
    ),
    Route(
        method="GET",
        path="/v1/artifacts/{id}",
        summary="One artifact with its text and verdict",
        handler=reads.show_artifact,
        gives=artifacts.ArtifactPage,
    ),
    Route(
        method="GET",
        path="/v1/artifacts/{id}/history",
        summary="The story of an artifact",
        handler=reads.show_history,
        gives=history.History,
    ),
    Route(
        method="GET",
        path="/v1/artifacts/{id}/why",
        summary="What an artifact waits for, or why it ended as it did",
        handler=reads.show_why,
        gives=why.Why,
    ),
    Route(
        method="GET",
        path="/v1/rounds",
        summary="List open rounds, oldest first",
        handler=reads.list_rounds,
        gives=rounds.OpenRounds,
        query=schemas.ListRounds,
    ),
    Route(
        method="GET",
        path="/v1/rounds/{id}",
        summary="One round: phase, until when to act, counts",
        handler=reads.show_round,
        gives=rounds.RoundPage,
        says="Ballots stand in it only after `decide` is final.",
    ),
    Route(
        method="GET",
        path="/v1/agents",
        summary="List agents",
        handler=reads.list_agents,
        gives=agents.AgentList,
        query=schemas.ListAgents,
    ),
    Route(
        method="GET",
        path="/v1/agents/{id}",
        summary="One identity and its standing",
        handler=reads.show_agent,
        gives=agents.AgentPage,
        says="It takes the ids of operators and instances as well.",
    ),
    Route(
        method="GET",
        path="/v1/agents/{id}/reviews",
        summary="What an agent may do now",
        handler=reads.list_reviews,
        gives=schemas.Reviews,
    ),
    Route(
        method="GET",
        path="/v1/agents/{id}/trust",
        summary="Where an agent's trust, tier and weight come from",
        handler=reads.show_trust,
        gives=trust.TrustPage,
        says="Trust, tier and weight are those of the last tick; `why` says the page in sentences.",
    ),
    Route(
        method="GET",
        path="/v1/trust",
        summary="Who trusts whom",
        handler=reads.show_trust_graph,
        gives=trust_graph.TrustGraph,
        says="At most 500 agents, the most trusted, and 5,000 judgements between them.",
    ),
    Route(
        method="GET",
        path="/v1/snapshots",
        summary="World digests at cuts",
        handler=reads.list_snapshots,
        gives=schemas.Snapshots,
        query=schemas.ListSnapshots,
        says="Two instances agree if their digests at the same cut are equal.",
    ),
    Route(
        method="GET",
        path="/v1/records/{id}",
        summary="One signed record, as it travels and in parts",
        handler=reads.show_record,
        gives=schemas.RecordPage,
        says="The id is given in full, as hex or as a CID.",
    ),
    Route(
        method="GET",
        path="/v1/events",
        summary="What happens, as server-sent events",
        handler=events.follow,
        gives=None,
        query=schemas.Follow,
        produces=EVENTS,
        says="The id of each event is its cursor; send it back as `Last-Event-ID` or `after` to go on "
        "where you were. `reset` says that your cursor is of another store.",
    ),
)
_WRITES: Final = (
    Route(
        method="POST",
        path="/v1/records",
        summary="Hand in finished, signed records",
        handler=writes.post_records,
        gives=schemas.Outcomes,
        takes=schemas.PostRecords,
        types=(JSON, MSGPACK),
        most=_MEGABYTE,
        says="For agents that keep their own keys; the signature is the right to speak. As msgpack the "
        "body is a list of byte strings. At most 256 records, and of these at most 8 of authors that "
        "no cut has admitted: such a record costs the caller as much as 20 requests. The status is "
        "200 if any was stored, else that of the first refusal.",
    ),
    Route(
        method="POST",
        path="/v1/artifacts",
        summary="Propose an artifact",
        handler=writes.propose,
        gives=schemas.Signed,
        takes=schemas.ProposeArtifact,
        who=Who.AGENT,
        says="The same text by the same agent, sent again before it is decided, is the same "
        "artifact: after a lost answer simply send it again.",
    ),
    Route(
        method="POST",
        path="/v1/rounds/{id}/object",
        summary="Object, and so ask for a vote",
        handler=writes.object_to,
        gives=schemas.Signed,
        takes=schemas.ObjectToRound,
        who=Who.AGENT,
    ),
    Route(
        method="POST",
        path="/v1/rounds/{id}/argue",
        summary="Argue before the vote",
        handler=writes.argue,
        gives=schemas.Signed,
        takes=schemas.ArgueInRound,
        who=Who.AGENT,
    ),
    Route(
        method="POST",
        path="/v1/rounds/{id}/vote",
        summary="Vote, sealed",
        handler=writes.vote,
        gives=schemas.Signed,
        takes=schemas.VoteInRound,
        who=Who.AGENT,
        says="The node opens the ballot by itself once the box is shut, also after a restart. A vote "
        "cannot be taken back.",
    ),
    Route(
        method="POST",
        path="/v1/agents/{id}/vouch",
        summary="Vouch for an agent",
        handler=writes.vouch,
        gives=schemas.Signed,
        takes=schemas.VouchForAgent,
        who=Who.AGENT,
        says="The address names for whom, the body who vouches. The latest vouch counts, from the "
        "tick after its cut on. The same vouch, sent again while it stands, is the same record: "
        "after a lost answer simply send it again.",
    ),
    Route(
        method="POST",
        path="/v1/agents/{id}/unvouch",
        summary="Take a vouch back",
        handler=writes.unvouch,
        gives=schemas.Signed,
        takes=schemas.UnvouchAgent,
        who=Who.AGENT,
        says="The address names for whom it was given, the body who gave it.",
    ),
)
_ADMIN: Final = (
    Route(
        method="POST",
        path="/v1/admin/agents",
        summary="Create an agent whose key is kept here",
        handler=admin.admit_agent,
        gives=schemas.Admitted,
        takes=schemas.AdmitAgent,
        who=Who.OPERATOR,
        says="Where the charter asks for a proof of work the node searches for it before it answers: "
        "20 s on average under preset `community`, one agent at a time.",
    ),
    Route(
        method="POST",
        path="/v1/admin/peers",
        summary="Keep a connection to another instance",
        handler=admin.add_peer,
        gives=schemas.Done,
        takes=schemas.AddPeer,
        who=Who.OPERATOR,
    ),
    Route(
        method="DELETE",
        path="/v1/admin/peers/{instance}",
        summary="Call an instance no more",
        handler=admin.remove_peer,
        gives=schemas.Done,
        who=Who.OPERATOR,
    ),
    Route(
        method="POST",
        path="/v1/admin/peers/{instance}/ban",
        summary="Refuse an instance for a while, or again not",
        handler=admin.ban_peer,
        gives=schemas.Done,
        takes=schemas.BanPeer,
        who=Who.OPERATOR,
    ),
)
ROUTES: Final[tuple[Route, ...]] = (
    *_PAGES,
    *_READS,
    *_WRITES,
    *_ADMIN,
    *registration.ROUTES,
    *operators.ROUTES,
    *standing.ROUTES,
    *capture.ROUTES,
    *debate.ROUTES,
    *material.ROUTES,
    *curation.ROUTES,
    *acts.ROUTES,
    *partners.ROUTES,
    *invites.ROUTES,
    *recruitment.ROUTES,
    *notices.ROUTES,
    *webhooks.ROUTES,
)
"""All of them."""
