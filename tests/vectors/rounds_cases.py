"""The worked rounds of rounds.json: who could vote, who did, and under which rules."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from federation.crypto import Choice

FOR, ABSTAIN, AGAINST = Choice.FOR, Choice.ABSTAIN, Choice.AGAINST


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One agent of a case: operator and instance by number."""

    operator: int
    instance: int
    weight: int = 700_000
    tier: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One worked round; agent 0 is the author."""

    name: str
    agents: tuple[Agent, ...]
    votes: Mapping[int, Choice] = field(default_factory=dict)
    """Commitments in the first box."""
    more: Mapping[int, Choice] = field(default_factory=dict)
    """Commitments in the widened box."""
    silent: frozenset[int] = frozenset()
    """Voters who do not reveal."""
    void: bool = False
    objectors: tuple[int, ...] = ()
    watchers: tuple[int, ...] = ()
    low: bool = False
    ticket: bool = False
    members: int = 4
    review: Mapping[str, object] = field(default_factory=dict)
    trust: Mapping[str, object] = field(default_factory=dict)
    wires: bool = False


def spread(*sizes: int, instances: int = 4) -> tuple[Agent, ...]:
    """Give `sizes` agents per operator, of equal weight."""
    return tuple(
        Agent(operator=owner, instance=owner % instances)
        for owner, size in enumerate(sizes)
        for _ in range(size)
    )


def cases() -> Iterator[Case]:
    """Give the worked rounds."""
    wide = spread(1, 1, 1, 1, 1, 1)
    yield Case(
        name="five operators accept",
        agents=wide,
        votes={1: FOR, 2: FOR, 3: FOR, 4: FOR, 5: AGAINST},
        wires=True,
    )
    yield Case(
        name="five operators reject",
        agents=wide,
        votes={1: AGAINST, 2: AGAINST, 3: ABSTAIN, 4: AGAINST, 5: FOR},
    )
    uneven = (
        Agent(operator=0, instance=0),
        *(Agent(operator=1, instance=1, weight=weight) for weight in (999_983, 700_001, 333_337)),
        Agent(operator=2, instance=1, weight=650_003),
        *(Agent(operator=3, instance=2, weight=weight) for weight in (50_000, 912_345)),
        Agent(operator=4, instance=3, weight=123_457),
        Agent(operator=5, instance=3, weight=77_777),
        Agent(operator=6, instance=0, weight=1_000_000),
    )
    some = {1: FOR, 2: FOR, 3: FOR, 4: FOR, 5: AGAINST, 6: AGAINST, 7: ABSTAIN, 8: FOR, 9: AGAINST}
    yield Case(name="caps by operator and by instance", agents=uneven, votes=some)
    yield Case(
        name="caps that the charter sets wider",
        agents=uneven,
        votes=some,
        trust={"operator_cap": 420_000, "instance_cap": 600_000},
    )
    yield Case(
        name="between the thresholds, by sign",
        agents=wide,
        votes={1: FOR, 2: FOR, 3: FOR, 4: AGAINST, 5: AGAINST},
    )
    yield Case(name="a tie retracts", agents=wide, votes={1: FOR, 2: FOR, 3: AGAINST, 4: AGAINST})
    exact = {"tau_accept": 600_000, "strong": 600_000}
    yield Case(
        name="exactly at the threshold",
        agents=wide,
        votes={1: FOR, 2: FOR, 3: FOR, 4: FOR, 5: AGAINST},
        review=exact,
    )
    yield Case(
        name="one instance, one operator, five founders",
        agents=spread(5, instances=1),
        votes={1: FOR, 2: FOR, 3: FOR, 4: AGAINST},
        members=1,
    )
    yield Case(
        name="three operators with one agent each",
        agents=spread(1, 1, 1),
        votes={1: FOR, 2: FOR},
        members=3,
    )
    yield Case(
        name="three operators, split",
        agents=spread(1, 1, 1),
        votes={1: FOR, 2: AGAINST},
        members=3,
    )
    mixed = (*wide, Agent(operator=1, instance=1, weight=0, tier=0))
    yield Case(
        name="practice ballots and an unopened one",
        agents=mixed,
        votes={1: FOR, 2: FOR, 3: FOR, 4: AGAINST, 6: AGAINST},
        silent=frozenset({4}),
    )
    yield Case(name="widened, and enough", agents=wide, votes={1: FOR, 2: FOR}, more={5: FOR})
    yield Case(
        name="widened, and opened by too few",
        agents=wide,
        votes={1: FOR, 2: FOR},
        more={5: FOR},
        silent=frozenset({2}),
    )
    yield Case(
        name="one operator of two is no quorum",
        agents=spread(1, 3, 1),
        votes={1: FOR, 2: FOR, 3: FOR},
    )
    yield Case(
        name="low sensitivity: too few, but nobody is against",
        agents=wide,
        low=True,
        votes={1: FOR, 2: ABSTAIN},
    )
    yield Case(
        name="low sensitivity: too few, and one is against",
        agents=wide,
        low=True,
        votes={1: FOR, 2: AGAINST},
    )
    yield Case(
        name="too few, to be arbitrated by sign",
        agents=wide,
        votes={1: FOR},
        review={"shortfall_high": "arbitrate"},
    )
    fast = Case(name="nobody objects", agents=wide, low=True, ticket=True, watchers=(1, 2, 3))
    yield fast
    yield Case(
        name="somebody objects",
        agents=wide,
        low=True,
        ticket=True,
        watchers=(1, 2, 3),
        objectors=(2,),
        votes={1: FOR, 2: AGAINST, 3: FOR, 4: FOR},
    )
    yield Case(name="the box is void", agents=wide, void=True)
    yield Case(name="nobody may review", agents=spread(1), members=1)
    yield Case(
        name="a cap takes no more than half: many small operators do not outvote two large ones",
        agents=(
            Agent(operator=0, instance=0),
            *(Agent(operator=owner, instance=owner, weight=1_000_000) for owner in (1, 2)),
            *(Agent(operator=owner, instance=owner % 4, weight=50_000) for owner in range(3, 10)),
        ),
        votes={1: AGAINST, 2: AGAINST} | dict.fromkeys(range(3, 10), FOR),
    )
