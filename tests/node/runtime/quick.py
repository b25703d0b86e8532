"""Realms of real nodes whose windows last a tenth of a second, so that a round is over in one."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from federation.certificates import Phase
from federation.charter import Admission, preset
from federation.core import AgentId, RoundId
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.protocol import custody
from federation.records import ArtifactText, Record
from node.base.settings import Settings
from node.runtime import Node
from node.setup.founding import Founder, found_realm
from node.setup.instance import write_instance
from tests.node.runtime.realm import CHEAP, PASSPHRASE, Realm, until

BALLOT = Ballot(choice=Choice.FOR, reason=Reason.ACCURATE, basis=Basis.DERIVATION)


def quick(
    root: Path,
    *,
    instances: int = 1,
    agents: int = 5,
    timing: Mapping[str, int] | None = None,
    review: Mapping[str, int] | None = None,
    admission: Admission | None = None,
) -> Realm:
    """Found a realm; agent i lives on instance i mod `instances`, and each has its own operator."""
    rules = preset("test")
    short = {
        "fast_low": 100,
        "fast_high": 100,
        "deliberate": 100,
        "commit_min": 50,
        "commit": 3_000,
        "reveal": 3_000,
        "topics": (),
        "contest": 0,
        "rule": 0,
    }
    founded = found_realm(
        name="quick",
        preset="test",
        operators=[
            *(f"owner {number}" for number in range(agents)),
            *(f"host {number}" for number in range(instances)),
        ],
        instances=[(f"instance {place}", agents + place) for place in range(instances)],
        founders=[
            Founder(name=f"agent {number}", operator=number, instance=number % instances)
            for number in range(agents)
        ],
        timing=msgspec.structs.replace(
            rules.timing, **{"epoch": 400, "cut_min": 100, **(timing or {})}
        ),
        review=msgspec.structs.replace(rules.review, **{**short, **(review or {})}),
        admission=admission,
    )
    places = tuple(
        write_instance(
            root / f"instance{number}",
            founded,
            passphrase=PASSPHRASE,
            settings=Settings(
                name=f"instance {number}",
                http_port=0,
                listen=("/ip4/127.0.0.1/tcp/0",),
                sync_every_ms=300,
            ),
            instance=number,
            cost=CHEAP,
        )
        for number in range(instances)
    )
    return Realm(founded=founded, places=places)


async def propose(node: Node, agent: AgentId, title: str = "A claim") -> Record:
    """Let an agent propose something."""
    text = ArtifactText(
        title=title, prose="", claims=("It holds.",), falsification=("It fails.",), sources=()
    )
    return await node.sign(
        agent,
        lambda world, ring, now: custody.propose(
            world, ring, text, topics=("a/b",), salt=node.entropy(16), now=now
        ),
    )


async def vote(node: Node, agent: AgentId, name: RoundId) -> Record:
    """Let an agent vote for it, sealed."""
    return await node.sign(
        agent,
        lambda world, ring, now: custody.cast(
            world,
            ring,
            name,
            BALLOT,
            nonce=node.entropy(32),
            salt=node.entropy(24),
            now=now,
        ),
    )


async def in_phase(node: Node, artifact: bytes, phase: Phase | None) -> RoundId:
    """Wait until the round of an artifact is in a phase; gives its name."""

    def arrived() -> bool:
        found = node.world.state.artifacts.get(artifact)
        if found is None or found.round is None:
            return False
        one = node.world.rounds.get(found.round)
        return one is not None and one.phase is phase

    await until(arrived)
    name = node.world.state.artifacts[artifact].round
    assert name is not None
    return name


def agents_of(town: Realm, index: int = 0) -> tuple[AgentId, ...]:
    """Name the agents that live on an instance."""
    return town.agents_of(index)
