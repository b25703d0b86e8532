"""Why an artifact or a round stands where it stands: what it waits for, or why it ended so."""

import msgspec

from federation.certificates import Phase
from federation.core import Millis
from federation.protocol import World
from federation.records import Propose
from node.queries.artifacts import ArtifactState
from node.queries.artifacts import one as artifact_page
from node.queries.live_rounds import artifact_now, artifact_of, is_settled, round_waits
from node.queries.names import Thing, cid_of, unknown
from node.queries.verdicts import Verdict, verdict_of
from node.queries.waits import Wait


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """Why something is not further than it is, or why it ended so."""

    now: Millis
    """This instance's own clock when the answer was made; all times in it are on that clock."""
    thing: Thing
    """`artifact` or `round`: what the asked id names."""
    artifact: str
    """Id of the artifact, in hex; of an appeal, of the violation."""
    artifact_cid: str
    """The same as a CIDv1."""
    round: str | None
    """Id of its round, in hex; nil while none was opened."""
    state: ArtifactState | None
    """Where the artifact stands here; nil for an appeal, which is about a sanction."""
    phase: Phase | None
    """Open phase of the round; nil if none is open here."""
    settled: bool
    """A cut contains all that led there: nothing that arrives later changes it."""
    waits: Wait
    """What it waits for; `nothing` with the reason of its end once it is settled."""
    verdict: Verdict | None
    """How the round ended here, with its narrow reasons; nil while it runs."""


def why(world: World, name: bytes, now: Millis) -> Why:
    """Explain an artifact, a proposal or a round; `now` is in ms on this instance's own clock.

    Raises RequestError NOT_FOUND if the id names none of these here.
    """
    found = world.rounds.get(name)
    if found is not None:
        certified = artifact_of(world, found)
        verdict = found.verdict
        return Why(
            now=now,
            thing=Thing.ROUND,
            artifact=found.pin.artifact.hex(),
            artifact_cid=cid_of(found.pin.artifact),
            round=name.hex(),
            state=ArtifactState(artifact_now(world, certified).state.value) if certified else None,
            phase=found.phase,
            settled=is_settled(found),
            waits=round_waits(world, found, now),
            verdict=verdict_of(verdict, found.pin.charter) if verdict else None,
        )
    record = world.log.get(name)
    if record is None or not isinstance(record.body, Propose):
        raise unknown(name, {Thing.ARTIFACT, Thing.ROUND})
    page = artifact_page(world, name, now)
    return Why(
        now=now,
        thing=Thing.ARTIFACT,
        artifact=page.id,
        artifact_cid=page.cid,
        round=page.round,
        state=page.state,
        phase=page.phase,
        settled=page.settled and page.verdict is not None,
        waits=page.waits,
        verdict=page.verdict,
    )
