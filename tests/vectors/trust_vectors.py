"""trust.json: decay, standing, competence, tiers, weights, clones and caps for fixed inputs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from federation.charter import Trust, preset
from federation.charter.units import Voting
from federation.core import Lots
from federation.crypto import Choice
from federation.trust import (
    Agreement,
    Audited,
    Counted,
    Decay,
    Evidence,
    EvidenceKind,
    Ledger,
    M,
    Shown,
    as_heaviest,
    cap,
    effective_share,
    half_level,
    level_of,
    one_epoch,
    ticket_price,
    tier_of,
    trust_ref,
    weight,
)
from tests.vectors.agreement_rows import Row, fixed_bytes

TRUST: Final[Trust] = preset("community").trust
DECAYS: Final = (0, 1, 2_000, 10_000, 123_457, 500_000)
AGES: Final = (0, 1, 2, 3, 10, 30, 100, 1_000, 2_500, 100_000)
SUBJECT: Final = "subject"
_VOTINGS: Final[Sequence[tuple[Voting, bool]]] = (
    ("ticketed", False),
    ("blend", False),
    ("blend", True),
)


def vectors() -> Row:
    """All of it, under the rules of the preset `community`."""
    return {
        "rules": msgspec.to_builtins(TRUST),
        "decay": [
            {
                "decay": decay,
                "one_epoch": one_epoch(decay),
                "factors": {str(age): Decay(decay).factor(age) for age in AGES},
            }
            for decay in DECAYS
        ],
        "standing": [_standing(name, rows) for name, rows in _histories().items()],
        "competence": [_competence(name, rounds) for name, rounds in _votes().items()],
        "tiers": list(_tiers()),
        "audited": list(_audited()),
        "weights": list(_weights()),
        "clones": [_clones(name, members) for name, members in _kinships().items()],
        "caps": [
            _cap(name, weights, share)
            for name, weights in _groups().items()
            for share in (50_000, 100_000, 250_000, 999_999, 1_000_000)
        ],
    }


# Standing.

Entry = tuple[int, str, int, int]
"""Tick, source, positive, negative."""


def _histories() -> Mapping[str, Sequence[Entry]]:
    one, weak = 1_000_000, 400_000
    lots = Lots("trust vectors")
    long = sorted(
        (
            lots.below(160),
            f"operator {lots.below(3)}",
            lots.below(2) * lots.below(2 * one),
            lots.below(2) * lots.below(one),
        )
        for _ in range(40)
    )
    return {
        "nothing": [],
        "one vote": [(3, "operator 0", one, 0)],
        "for and against": [(3, "operator 0", one, 0), (5, "operator 1", 0, weak)],
        "one source again and again": [(tick, "operator 0", one, weak) for tick in range(8)],
        "one source at one tick": [(4, "operator 0", one, 0)] * 9,
        "many sources at one tick": [(4, f"operator {index}", one, 1) for index in range(20)],
        "above the farming cap": [
            (tick, f"operator {tick} {index}", 2 * one, 0)
            for tick in range(6)
            for index in range(3)
        ],
        "beyond the window": [
            (tick, f"operator {index}", one, one // 3)
            for tick in (0, 1, 99, 100, 101, 250)
            for index in range(6)
        ],
        "a long life": long,
    }


def _standing(name: str, entries: Sequence[Entry]) -> Row:
    ledger = Ledger(TRUST)
    ledger.add(
        Evidence(
            tick=tick,
            cause=fixed_bytes(f"cause {index}"),
            kind=EvidenceKind.VOTE,
            subject=fixed_bytes(SUBJECT),
            source=fixed_bytes(source),
            positive=positive,
            negative=negative,
            practice=False,
        )
        for index, (tick, source, positive, negative) in enumerate(entries)
    )
    return {
        "name": name,
        "rows": [
            {
                "tick": tick,
                "cause": f"cause {index}",
                "source": source,
                "positive": positive,
                "negative": negative,
            }
            for index, (tick, source, positive, negative) in enumerate(entries)
        ],
        "undecayed": _undecayed(ledger),
        "at": [_at(ledger, tick) for tick in (0, 3, 5, 8, 100, 101, 300, 5_000)],
    }


def _undecayed(ledger: Ledger) -> Row:
    sums = ledger.undecayed(fixed_bytes(SUBJECT))
    return {"alpha": sums.alpha, "beta": sums.beta, "tick": sums.tick}


def _at(ledger: Ledger, tick: int) -> Row:
    standing = ledger.standing(fixed_bytes(SUBJECT), tick)
    return {
        "tick": tick,
        "alpha": standing.alpha,
        "beta": standing.beta,
        "r": standing.r,
        "interactions": standing.interactions,
    }


# Competence.

Round = Mapping[str, tuple[int, int]]
"""Choice and weight by agent."""


def _votes() -> Mapping[str, Sequence[Round]]:
    lots = Lots("competence vectors")
    full = 700_000
    split: Round = {"ann": (1, full), "bob": (1, full), "cyd": (-1, full)}
    agreed: Round = {"ann": (1, full), "bob": (1, full), "cyd": (1, full)}
    many = [
        {
            name: (lots.below(5) % 3 - 1, lots.between(50_000, 1_000_000))
            for name in ("ann", "bob", "cyd", "dan", "eve")
        }
        for _ in range(30)
    ]
    return {
        "no round": [],
        "one label only": [agreed] * 3,
        "split rounds": [split] * 5,
        "one against all": [split] * 3 + [{**split, "ann": (-1, full), "cyd": (1, full)}] * 2,
        "abstentions": [{**split, "bob": (0, full)}, {**agreed, "ann": (0, full)}],
        "a decision of one": [{"ann": (1, 999_999), "bob": (-1, 50_000)}] * 4,
        "thirty rounds": many,
    }


def _competence(name: str, rounds: Sequence[Round]) -> Row:
    agreement = Agreement(TRUST)
    accept, reject = 300_000, -200_000
    for one in rounds:
        ballots = [
            Counted(agent=fixed_bytes(agent), choice=Choice(choice), weight=weight)
            for agent, (choice, weight) in one.items()
        ]
        agreement.observe(ballots, accept=accept, reject=reject)
    agents = sorted({agent for one in rounds for agent in one} | {"nobody"})
    return {
        "name": name,
        "accept": accept,
        "reject": reject,
        "rounds": [
            [
                {"agent": agent, "choice": choice, "weight": weight}
                for agent, (choice, weight) in one.items()
            ]
            for one in rounds
        ],
        "b": {agent: agreement.b(fixed_bytes(agent)) for agent in agents},
    }


def _audited() -> Iterator[Row]:
    for right, audits in ((0, 0), (1, 1), (0, 1), (8, 8), (3, 6), (9, 10), (152, 152), (999, 999)):
        audited = Audited(TRUST)
        audited.observe(SUBJECT.encode(), right=True, audits=right)
        audited.observe(SUBJECT.encode(), right=False, audits=audits - right)
        yield {"right": right, "audits": audits, "b": audited.b(SUBJECT.encode())}


# Tiers, weights and caps.


def _tiers() -> Iterator[Row]:
    edges = (
        (0, 500_000, 0),
        (4, 400_000, 9),
        (5, 399_999, 9),
        (5, 400_000, 0),
        (4, 320_000, 9),
        (3, 400_000, 9),
        (20, 700_000, 30),
        (20, 700_000, 29),
        (19, 700_000, 30),
        (20, 699_999, 30),
        (16, 560_000, 24),
        (16, 560_000, 23),
        (16, 559_999, 24),
        (1_000, 999_999, 1_000),
    )
    for interactions, r, age in edges:
        for previous, founder, ticket in (
            (0, None, True),
            (1, None, True),
            (2, None, True),
            (2, None, False),
            (1, 1, True),
            (2, 2, True),
        ):
            yield _tier(interactions, r, age, ticket, previous, founder, 2, 9)
    for ways, operators in ((0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3), (1, 9)):
        for founder in (None, 1):
            yield _tier(20, 700_000, 30, True, 2, founder, ways, operators)


def _tier(  # noqa: PLR0917
    interactions: int,
    r: int,
    age: int,
    ticket: bool,
    previous: int,
    founder: int | None,
    ways: int,
    operators: int,
) -> Row:
    shown = Shown(interactions=interactions, r=r, has_ticket=ticket, age=age, ways=ways)
    return {
        "interactions": interactions,
        "r": r,
        "age": age,
        "ticket": ticket,
        "previous": previous,
        "founder": founder,
        "ways": ways,
        "operators": operators,
        "tier": tier_of(TRUST, shown, previous=previous, founder_tier=founder, operators=operators),
    }


def _weights() -> Iterator[Row]:
    seat, price = trust_ref(TRUST), ticket_price(TRUST)
    for t in (0, 1, price - 1, price, seat * 94 // 1_000, seat // 2 + 1, seat, 7 * seat, M):
        for competence, r in ((20_000, 999_999), (333_333, 1), (700_000, 500_000), (999_999, 0)):
            for voting, squared in _VOTINGS:
                trust = replace(TRUST, voting=voting, squared=squared)
                yield {
                    "t": t,
                    "competence": competence,
                    "r": r,
                    "voting": voting,
                    "squared": squared,
                    "weight": weight(trust, t=t, competence=competence, r=r),
                }


def _kinships() -> Mapping[str, Sequence[tuple[str, str, int]]]:
    lots = Lots("clone vectors")
    return {
        "nobody": [],
        "strangers": [("m0", "k0", 700_000), ("m1", "k1", 1)],
        "clones by both signs": [("m0", "k0", 700_000)] * 12 + [("m1", "k1", 700_000)],
        "one model of many keepers": [("m0", f"k{index}", 700_000) for index in range(5)],
        "a copied declaration": [
            ("m0", "k0", 700_000),
            ("m0", "k9", 50_000),
            ("m1", "k1", 700_000),
            ("m1", "k9", 50_000),
        ],
        "without weight": [("m0", "k0", 0), ("m0", "k0", 0), ("m1", "k1", 5)],
        "many": [
            (f"m{lots.below(9)}", f"k{lots.below(9)}", lots.between(0, 1_000_000))
            for _ in range(40)
        ],
    }


def _clones(name: str, members: Sequence[tuple[str, str, int]]) -> Row:
    own = {index: w for index, (_, _, w) in enumerate(members)}
    models = {index: model for index, (model, _, _) in enumerate(members)}
    keepers = {index: keeper for index, (_, keeper, _) in enumerate(members)}
    shared = as_heaviest(as_heaviest(own, models, own=own), keepers, own=own)
    return {
        "name": name,
        "models": list(models.values()),
        "keepers": list(keepers.values()),
        "weights": list(own.values()),
        "shared": list(shared.values()),
    }


def _groups() -> Mapping[str, Sequence[tuple[str, int]]]:
    lots = Lots("cap vectors")
    return {
        "nobody": [],
        "one group": [("a", 700_000), ("a", 50_000)],
        "two groups": [("a", 700_000), ("b", 50_000), ("b", 1)],
        "a group without weight": [("a", 700_000), ("b", 0), ("c", 300_001), ("d", 5)],
        "equal groups": [(f"g{index}", 700_000) for index in range(25)],
        "one heavy group of many": [("g0", 1_000_000)] * 12
        + [(f"g{index}", 333_333) for index in range(1, 25)],
        "few heavy groups among many light ones": [(f"g{index}", 25_000_001) for index in range(4)]
        + [(f"l{index}", 50_000) for index in range(16)],
        "two heavy groups of several": [(f"g{index % 2}", 7_000_003) for index in range(10)]
        + [(f"l{index}", 1_000_000 + index) for index in range(30)],
        "one group of nearly all": [("g0", 999_999), ("g0", 50_000_000), ("l0", 1), ("l1", 2)],
        "many groups": [(f"g{lots.below(24)}", lots.between(0, 1_000_000)) for _ in range(40)],
    }


def _cap(name: str, members: Sequence[tuple[str, int]], share: int) -> Row:
    weights = {index: cast for index, (_, cast) in enumerate(members)}
    groups = {index: group for index, (group, _) in enumerate(members)}
    sums: dict[str, int] = {}
    for group, cast in members:
        sums[group] = sums.get(group, 0) + cast
    heavy = [total for total in sums.values() if total]
    return {
        "name": name,
        "share": share,
        "effective_share": effective_share(share, len(heavy)),
        "half_level": half_level(heavy),
        "level": level_of(heavy, share),
        "groups": list(groups.values()),
        "weights": list(weights.values()),
        "capped": list(cap(weights, groups, share).values()),
    }
