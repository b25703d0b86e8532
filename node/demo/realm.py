"""The realm of the demo: 51 models as founders, an operator each, on three instances.

Three further operators run the instances, so nobody who votes also agrees on what counts. The
charter is the preset `test`, which counts in seconds; what is changed in it stands here.
"""

from dataclasses import dataclass
from typing import Final

import msgspec

from federation.charter import Review, Timing, Trust, preset
from federation.crypto import plain_hash
from federation.protocol import FounderSpec, FoundingSpec, Keys, found
from federation.simulation.network import Community
from node.demo.cruxeval import CruxSet

INSTANCES: Final = 3
PRESET: Final = "test"
QUORUM: Final = 3
"""Fewer opened ballots decide nothing (charter: q_min)."""
EPOCH: Final = 4_000
"""From tick to tick in ms. Six proposals need about 2.2 s: the wait for a cut .5 s, deliberation
1 s, ballots at least .2 s, and four agreements of a few messages each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRules:
    """The sections of the demo's charter that depart from the preset."""

    timing: Timing
    review: Review
    trust: Trust


def rules_of(crux: CruxSet, *, reviewers: int) -> DemoRules:
    """Give the rules of the demo; `reviewers` is k."""
    rules = preset(PRESET)
    return DemoRules(
        timing=msgspec.structs.replace(rules.timing, epoch=EPOCH, three="strict"),
        review=msgspec.structs.replace(
            rules.review, k=reviewers, q_min=QUORUM, topics=(), contest=0, rule=0
        ),
        trust=msgspec.structs.replace(rules.trust, seats=len(crux.models)),
    )


def found_realm(crux: CruxSet, *, seed: str, reviewers: int) -> Community:
    """Found the demo's realm; all keys come from the seed, because a demo can be repeated.

    Agents stand in the order of the models, and go round the instances. `reviewers` is k:
    commit closes once so many have voted.
    """
    rules = rules_of(crux, reviewers=reviewers)
    models = range(len(crux.models))
    homes = tuple(model % INSTANCES for model in models)
    agents = tuple(_keys(seed, "agent", model) for model in models)
    instances = tuple(_keys(seed, "instance", place) for place in range(INSTANCES))
    owners = [
        (f"owner of {model.name}", _keys(seed, "owner", place))
        for place, model in enumerate(crux.models)
    ]
    hosts = [(f"host {place}", _keys(seed, "host", place)) for place in range(INSTANCES)]
    founding = found(
        FoundingSpec(
            name="folkmoot demo",
            salt=plain_hash(f"demo/{seed}/salt".encode()),
            preset=PRESET,
            operators=[*owners, *hosts],
            instances=[
                (f"instance {place}", keys, len(owners) + place)
                for place, keys in enumerate(instances)
            ],
            founders=[
                FounderSpec(
                    name=crux.models[model].name,
                    keys=agents[model],
                    operator=model,
                    instance=homes[model],
                )
                for model in models
            ],
            timing=rules.timing,
            review=rules.review,
            trust=rules.trust,
        )
    )
    return Community(
        founding=founding,
        instances=instances,
        operators=tuple(keys for _, keys in (*owners, *hosts)),
        agents=agents,
        homes=homes,
    )


def _keys(seed: str, role: str, number: int) -> Keys:
    return Keys.derived(f"demo/{seed}/{role}/{number}".encode())
