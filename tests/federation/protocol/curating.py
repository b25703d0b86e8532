"""A town whose people dispute, report, withdraw and resubmit, for tests of what follows acceptance."""

from collections.abc import Callable

from msgspec.structs import replace

from federation.artifacts import State as ArtifactState
from federation.certificates import Phase
from federation.charter import preset
from federation.core import ArtifactId, RefusedError, RoundId
from federation.crypto import plain_hash
from federation.protocol import authoring
from federation.records import Category, DisputeFile, Ground, Record
from tests.builders import artifact_text
from tests.federation.protocol.town import Town, rules

SALT = bytes(16)


def curating(
    instances: int = 1,
    agents: int = 9,
    *,
    disputes: dict[str, object] | None = None,
    **rest: object,
) -> Town:
    """Found a town in which everybody has an operator of its own and a dispute needs two voices."""
    fields = {"q_dispute": 2, "cooldown": 1, "r_dispute": 0, **(disputes or {})}
    return Town.of(
        instances,
        agents,
        **{
            "operators": agents,
            "review": rules(k=2, q_min=2, commit=2_000, admin=2_000),
            "disputes": replace(preset("test").disputes, **fields),
            **rest,
        },
    )


def standing(
    town: Town,
    author: int = 0,
    title: str = "A claim",
    voters: tuple[int, ...] = (1, 2),
    **rest: object,
) -> ArtifactId:
    """Let a proposal be accepted by two founders; give it once a cut contains that."""
    record = town.propose(author, title, **rest)
    town.vote(record, dict.fromkeys(voters, 1))
    until_state(town, record.id, ArtifactState.ACTIVE)
    return record.id


def until_state(town: Town, artifact: ArtifactId, state: ArtifactState) -> Town:
    """Let time pass until a cut brings an artifact to a state, on all instances."""
    return town.until(
        lambda town: all(
            artifact in one.state.artifacts and one.state.artifacts[artifact].state is state
            for one in town.live()
        )
    )


def file_dispute(
    town: Town,
    by: int,
    artifact: ArtifactId,
    *,
    ground: Ground = Ground.INACCURATE,
    evidence: str = "",
) -> Record:
    """Let a founder dispute through the door."""
    record = authoring.dispute(
        town.home(by),
        town.keyring(by),
        artifact,
        ground=ground,
        note="It is wrong.",
        salt=SALT,
        now=town.now,
        evidence=(plain_hash(evidence.encode()),) if evidence else (),
    )
    town.arrive(town.home(by), record)
    return record


def file_report(town: Town, by: int, artifact: ArtifactId, note: str = "Look.") -> Record:
    """Let a founder report through the door."""
    record = authoring.report(
        town.home(by),
        town.keyring(by),
        artifact,
        category=Category.HARMFUL,
        note=note,
        salt=SALT,
        now=town.now,
    )
    town.arrive(town.home(by), record)
    return record


def withdraw(town: Town, by: int, artifact: ArtifactId) -> Record:
    """Let a founder withdraw through the door."""
    record = authoring.withdraw(
        town.home(by), town.keyring(by), artifact, reason="mistaken", now=town.now
    )
    town.arrive(town.home(by), record)
    return record


def resubmit(town: Town, by: int, artifact: ArtifactId, evidence: str) -> Record:
    """Let a founder bring an artifact back through the door."""
    record = authoring.resubmit(
        town.home(by),
        town.keyring(by),
        artifact,
        evidence=(plain_hash(evidence.encode()),),
        note="More.",
        salt=SALT,
        now=town.now,
    )
    town.arrive(town.home(by), record)
    return record


def revise(town: Town, by: int, artifact: ArtifactId, title: str) -> Record:
    """Let a founder revise through the door."""
    record = authoring.revise(
        town.home(by),
        town.keyring(by),
        artifact,
        artifact_text(title=title),
        topics=("facts",),
        salt=SALT,
        now=town.now,
    )
    town.arrive(town.home(by), record)
    return record


def newest_round(town: Town, artifact: ArtifactId, count: int) -> RoundId:
    """Let time pass until `count` rounds were opened for an artifact; give the newest."""
    town.until(lambda town: all(len(one.state.rounds_of[artifact]) >= count for one in town.live()))
    return town.world().state.rounds_of[artifact][count - 1]


def poll(town: Town, name: RoundId, votes: dict[int, int]) -> None:
    """Hold the vote of a round that is open."""
    town.in_phase(name, Phase.COMMIT)
    for index, choice in votes.items():
        town.cast(index, name, choice)
    town.in_phase(name, Phase.DECIDE)
    for index in votes:
        town.reveal(index, name)


def disputed(town: Town, by: int, artifact: ArtifactId, votes: dict[int, int]) -> RoundId:
    """Hold a whole dispute; give its round once a cut contains its end."""
    count = len(town.world().state.rounds_of[artifact]) + 1
    file_dispute(town, by, artifact, evidence=f"evidence {count}")
    name = newest_round(town, artifact, count)
    poll(town, name, votes)
    town.until(lambda town: all(one.rounds[name].closed for one in town.live()))
    return name


def code_of(act: Callable[[], object]) -> str:
    """Give the code with which the door refuses an act."""
    try:
        act()
    except RefusedError as error:
        return error.code.value
    return "passed"


def past_door(town: Town, by: int, artifact: ArtifactId) -> Record:
    """Sign a dispute past the door, as a hostile agent would, and let it arrive."""
    record = town.sign(by, DisputeFile(artifact=artifact, ground=Ground.HARMFUL))
    town.arrive(town.home(by), record)
    return record
