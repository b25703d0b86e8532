"""The realm of the demo: 51 models as founders, an operator each, on three instances.

Three further operators run the instances, so nobody who votes also agrees on what counts. The
charter is the preset `test`, which counts in seconds; what is changed in it stands here.
"""

from dataclasses import dataclass
from typing import Final

import msgspec

from federation.charter import preset
from federation.core import AgentId, InstanceId
from federation.crypto import KeySigner, plain_hash
from federation.protocol import FounderSpec, Founding, FoundingSpec, Keys, found
from federation.protocol.custody import Keyring
from node.demo.cruxeval import CruxSet

INSTANCES: Final = 3
PRESET: Final = "test"
QUORUM: Final = 3
"""Fewer opened ballots decide nothing (charter: q_min)."""
EPOCH: Final = 4_000
"""From tick to tick in ms. Six proposals need about 2.2 s: the wait for a cut .5 s, deliberation
1 s, ballots at least .2 s, and four agreements of a few messages each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Realm:
    """The founded realm, and the keys of everybody in it."""

    founding: Founding
    instance_keys: tuple[KeySigner, ...]
    """In the order of `founding.instances`."""
    rings: tuple[Keyring, ...]
    """In the order of the models."""

    def agent(self, model: int) -> AgentId:
        """Name a model's agent."""
        return self.founding.agents[model]

    def home(self, model: int) -> InstanceId:
        """Name the instance that hosts a model's agent."""
        return self.founding.instances[model % INSTANCES]


def found_realm(crux: CruxSet, *, seed: str, reviewers: int) -> Realm:
    """Found the demo's realm; all keys come from the seed, because a demo can be repeated.

    `reviewers` is k: commit closes once so many have voted.
    """
    rules = preset(PRESET)
    models = range(len(crux.models))
    agents = [_keys(seed, "agent", model) for model in models]
    machines = [_keys(seed, "instance", place) for place in range(INSTANCES)]
    operators = [(f"owner of {model.name}", "owner") for model in crux.models]
    operators += [(f"host {place}", "host") for place in range(INSTANCES)]
    founding = found(
        FoundingSpec(
            name="folkmoot demo",
            salt=plain_hash(f"demo/{seed}/salt".encode()),
            preset=PRESET,
            operators=[
                (name, _keys(seed, role, place)) for place, (name, role) in enumerate(operators)
            ],
            instances=[
                (f"instance {place}", keys, len(models) + place)
                for place, keys in enumerate(machines)
            ],
            founders=[
                FounderSpec(
                    name=crux.models[model].name,
                    keys=agents[model],
                    operator=model,
                    instance=model % INSTANCES,
                )
                for model in models
            ],
            timing=msgspec.structs.replace(rules.timing, epoch=EPOCH, three="strict"),
            review=msgspec.structs.replace(
                rules.review, k=reviewers, q_min=QUORUM, topics=(), contest=0, rule=0
            ),
            trust=msgspec.structs.replace(rules.trust, seats=len(models)),
        )
    )
    return Realm(
        founding=founding,
        instance_keys=tuple(KeySigner(keys.current) for keys in machines),
        rings=tuple(
            Keyring(agent=agent, keys=(KeySigner(keys.current),))
            for agent, keys in zip(founding.agents, agents, strict=True)
        ),
    )


def _keys(seed: str, role: str, number: int) -> Keys:
    return Keys.derived(f"demo/{seed}/{role}/{number}".encode())
