"""Found a realm from fresh randomness: every key is new, and nobody else has seen it.

`federation.protocol.found` signs the genesis records; this module supplies the seeds and the salt
and keeps the keys together with the identities that they belong to. `found_solo` is the realm of
`folkmoot init`: one operator, one instance, some agents.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from federation.charter import (
    Admission,
    Badge,
    Disputes,
    Review,
    Sanctions,
    Severity,
    Timing,
    Trust,
    check,
)
from federation.core import IdentityId, ParameterError
from federation.protocol import FounderSpec, Founding, FoundingSpec, Keys, found
from federation.records import Role
from node.base.entropy import Entropy, random_bytes

_SEED: Final = 32
_SALT: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """An identity of a founding with its keys, which are secret."""

    id: IdentityId
    role: Role
    name: str
    keys: Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Founder:
    """A founding agent to be: its name, who answers for it and where it lives, by index."""

    name: str
    operator: int
    instance: int
    badges: tuple[Badge, ...] = ()
    """Offices for which it may be drawn, or speak: a realm without any has no arbiter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Founded:
    """A new realm with everybody's keys; it exists in memory only."""

    founding: Founding
    operators: tuple[Member, ...]
    instances: tuple[Member, ...]
    agents: tuple[Member, ...]
    operator_of: tuple[int, ...]
    """For each instance, the index of its operator."""
    home_of: tuple[int, ...]
    """For each agent, the index of its instance."""

    def kept_by(self, instance: int) -> tuple[Member, ...]:
        """List whose keys one instance keeps: its operator's, its own, and its agents'."""
        return (
            self.operators[self.operator_of[instance]],
            self.instances[instance],
            *(
                agent
                for agent, home in zip(self.agents, self.home_of, strict=True)
                if home == instance
            ),
        )


def found_realm(
    *,
    name: str,
    preset: str,
    operators: Sequence[str],
    instances: Sequence[tuple[str, int]],
    founders: Sequence[Founder],
    entropy: Entropy = random_bytes,
    timing: Timing | None = None,
    review: Review | None = None,
    trust: Trust | None = None,
    admission: Admission | None = None,
    disputes: Disputes | None = None,
    sanctions: Sanctions | None = None,
) -> Founded:
    """Found a realm of any number of operators and instances.

    An instance is a name and the index of its operator. Raises ParameterError if the preset is
    unknown, a parameter is out of its range or does not go with the others, or two of one kind
    share a name.
    """
    for noun, names in (
        ("operator", [*operators]),
        ("instance", [name for name, _ in instances]),
        ("agent", [founder.name for founder in founders]),
    ):
        _check_names(noun, names)
    operator_keys = [_fresh(entropy) for _ in operators]
    instance_keys = [_fresh(entropy) for _ in instances]
    founder_keys = [_fresh(entropy) for _ in founders]
    founding = found(
        FoundingSpec(
            name=name,
            salt=entropy(_SALT),
            preset=preset,
            operators=[*zip(operators, operator_keys, strict=True)],
            instances=[
                (called, keys, operator)
                for (called, operator), keys in zip(instances, instance_keys, strict=True)
            ],
            founders=[
                FounderSpec(
                    name=founder.name,
                    keys=keys,
                    operator=founder.operator,
                    instance=founder.instance,
                    badges=founder.badges,
                )
                for founder, keys in zip(founders, founder_keys, strict=True)
            ],
            timing=timing,
            review=review,
            trust=trust,
            admission=admission,
            disputes=disputes,
            sanctions=sanctions,
        )
    )
    for finding in check(founding.charter):
        if finding.severity is Severity.ERROR:
            raise ParameterError("realm not founded", why=finding.what, fix=finding.fix)
    return Founded(
        founding=founding,
        operators=tuple(_members(Role.OPERATOR, founding.operators, operators, operator_keys)),
        instances=tuple(
            _members(
                Role.INSTANCE, founding.instances, [name for name, _ in instances], instance_keys
            )
        ),
        agents=tuple(
            _members(Role.AGENT, founding.agents, [one.name for one in founders], founder_keys)
        ),
        operator_of=tuple(operator for _, operator in instances),
        home_of=tuple(founder.instance for founder in founders),
    )


def found_solo(
    *,
    name: str,
    preset: str,
    agents: Sequence[str],
    badges: Mapping[str, tuple[Badge, ...]] | None = None,
    entropy: Entropy = random_bytes,
    timing: Timing | None = None,
    review: Review | None = None,
    admission: Admission | None = None,
) -> Founded:
    """Found a realm of one operator with one instance that keeps the keys of all its agents.

    `badges` are the offices of agents by name; of whom they say nothing, there is none.
    """
    held = badges or {}
    return found_realm(
        name=name,
        preset=preset,
        operators=[f"operator of {name}"],
        instances=[(name, 0)],
        founders=[
            Founder(name=agent, operator=0, instance=0, badges=held.get(agent, ()))
            for agent in agents
        ],
        entropy=entropy,
        timing=timing,
        review=review,
        admission=admission,
    )


def _fresh(entropy: Entropy) -> Keys:
    return Keys(current=entropy(_SEED), next=entropy(_SEED), recovery=entropy(_SEED))


def _members(
    role: Role, ids: Sequence[IdentityId], names: Sequence[str], keys: Sequence[Keys]
) -> Iterator[Member]:
    for one, name, kept in zip(ids, names, keys, strict=True):
        yield Member(id=one, role=role, name=name, keys=kept)


def _check_names(noun: str, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not names:
        raise ParameterError(
            "founding refused",
            why=f"two {noun}s are called {twice[0]!r}" if twice else f"there is no {noun}",
            fix=f"give each {noun} a name of its own" if twice else f"name at least one {noun}",
        )
