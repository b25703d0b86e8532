"""Whom an attacker meets: an imagined realm, grown or on its first day, to price a charter (§4.4).

A realm that runs is measured instead, from its world; `electorate_of` and `firm_weight` serve both.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from federation.charter import Charter, Founder, Trust
from federation.core import MILLION, Ppm, Weight
from federation.trust.capture_pace import Door
from federation.trust.capture_share import Cell, Electorate
from federation.trust.eigentrust import OF, M, in_seats, trust_ref
from federation.trust.weights import has_ticket, ticketed

MOST_TRUSTED: Final = 4_096
"""Agents looked at to estimate how many have to be fooled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """What an attacker meets."""

    voters: Electorate
    door: Door
    trusts: tuple[int, ...]
    """Trust of honest agents, of M, the most trusted first; MOST_TRUSTED of them are enough."""


def grown_community(charter: Charter) -> Community:
    """Imagine the realm grown to its seats: each holds an average seat and weighs all it can.

    Members are dealt evenly to the founding operators and their instances.
    """
    trust = charter.trust
    places = _places(charter)
    per_operator = trust.seats * trust.w_max // len(places)
    firm = _firm_by_place(charter)
    cells = []
    for operator, own in enumerate(places):
        for place in own:
            weight = per_operator // len(own)
            kept = weight if trust.voting == "blend" else min(weight, firm[operator, place])
            cells.append(Cell(operator=operator, instance=place, weight=weight, firm=kept))
    return Community(
        voters=electorate_of(trust, tuple(cells), instances=len(charter.genesis.instances)),
        door=_door(charter, agents=trust.seats),
        trusts=(trust_ref(trust),) * min(trust.seats, MOST_TRUSTED),
    )


def first_day_community(charter: Charter) -> Community:
    """Imagine the realm as it is founded: the seeds hold all trust, and are as able as can be."""
    trust = charter.trust
    seeds = _seeds(charter)
    held = M // len(seeds)
    whole = trust.w_max
    if trust.voting != "blend":
        whole = ticketed(trust, competence=MILLION, seats=in_seats(trust, held))
    firm = firm_weight(charter, whole, competence=MILLION, is_seed=True)
    place = _place_of(charter)
    voters = [one for one in seeds if one.tier and has_ticket(trust, held)]
    return Community(
        voters=electorate_of(
            trust,
            tuple(
                Cell(operator=operator, instance=instance, weight=n * whole, firm=n * firm)
                for (operator, instance), n in sorted(Counter(map(place, voters)).items())
            ),
            instances=len(charter.genesis.instances),
        ),
        door=_door(charter, agents=len(charter.genesis.founders)),
        trusts=(held,) * len(seeds),
    )


def electorate_of(trust: Trust, cells: tuple[Cell, ...], *, instances: int) -> Electorate:
    """Give those who decide in a realm under these rules: `cells` of `instances` instances."""
    return Electorate(
        cells=cells,
        instances=instances,
        operator_cap=trust.operator_cap,
        instance_cap=trust.instance_cap,
    )


def firm_weight(charter: Charter, weight: Weight, *, competence: Ppm, is_seed: bool) -> Weight:
    """Give how much of an honest agent's weight no attacker takes by taking trust.

    A quarter of all trust is the seeds' in each round, in equal parts. Where voting is `blend`,
    weight comes of reputation, and all of it is firm.
    """
    trust = charter.trust
    if trust.voting == "blend":
        return weight
    held = M // OF // len(_seeds(charter))
    if not is_seed or not has_ticket(trust, held):
        return 0
    return min(weight, ticketed(trust, competence=competence, seats=in_seats(trust, held)))


def _firm_by_place(charter: Charter) -> Counter[tuple[int, int]]:
    """Sum what the seeds keep in any case, by operator and instance."""
    place = _place_of(charter)
    each = firm_weight(charter, charter.trust.w_max, competence=MILLION, is_seed=True)
    sums: Counter[tuple[int, int]] = Counter()
    for one in _seeds(charter):
        sums[place(one)] += each if one.tier else 0
    return sums


def _seeds(charter: Charter) -> tuple[Founder, ...]:
    genesis = charter.genesis
    if genesis.seeds is None:
        return genesis.founders
    named = frozenset(genesis.seeds)
    return tuple(founder for founder in genesis.founders if founder.agent in named)


def _place_of(charter: Charter) -> Callable[[Founder], tuple[int, int]]:
    """Give what tells the operator and the instance of a founder, by their places in the genesis."""
    operators = {operator: n for n, operator in enumerate(charter.genesis.operators)}
    instances = {row.instance: n for n, row in enumerate(charter.genesis.instances)}
    return lambda founder: (operators[founder.operator], instances[founder.instance])


def _places(charter: Charter) -> list[list[int]]:
    """List per founding operator the places of its instances, or of one that may admit for it."""
    genesis = charter.genesis
    places: list[list[int]] = []
    for n, operator in enumerate(genesis.operators):
        own = [at for at, row in enumerate(genesis.instances) if row.operator == operator]
        places.append(own or [n % len(genesis.instances)])
    return places


def _door(charter: Charter, *, agents: int) -> Door:
    return Door(
        bits=charter.admission.agent_bits,
        agents=agents,
        instances=len(charter.genesis.instances),
    )
