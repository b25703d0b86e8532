"""How long a group of strangers needs to join and to be established, and what work that takes (§4.4).

Epoch by epoch, under the quotas of instances and operators, with the puzzle that grows as many
come. What is not known is taken in the attacker's favour: every instance lets it in as fast as the
charter allows, nobody honest joins in its way, it has as many processors as it wants, and there is
always a round to practise in. So times are at the least, and none of them is a promise.
"""

from dataclasses import dataclass
from typing import Final

from federation.admission import asks_nothing, expected_tries, next_bits, terms_of
from federation.charter import Admission, Charter
from federation.core import MILLION
from federation.records import Role

MOST_EPOCHS: Final = 20_000
"""A longer siege is not followed: at an hour an epoch it takes over two years."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What whoever wants to join finds."""

    bits: int
    """Zero bits of an agent's parts in this epoch."""
    agents: int
    """Agents that the realm has admitted."""
    instances: int
    """Instances that may admit, at least 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """One way to join: how long, and how much work."""

    epochs: int
    """Until the last is admitted; 1 is within the first epoch."""
    hashes: int
    """Argon2id hashes of all proofs, on average."""
    proofs: int
    """Proofs: each takes the gate besides."""
    bits: int
    """Zero bits of an agent's parts in the hardest of these proofs."""


def fastest(charter: Charter, door: Door, *, operators: int, agents: int) -> Pace | None:
    """Let operators and agents join as fast as quotas allow.

    None if that takes more than MOST_EPOCHS, or never ends: so many agents have no room under so
    few operators.
    """
    rules = charter.admission
    takes = standing(charter)
    known = [0]  # agents in all, at the end of each epoch
    has_operators = has_agents = hashes = 0
    bits = hardest = door.bits
    while has_operators < operators or has_agents < agents:
        if len(known) > MOST_EPOCHS:
            return None
        established = known[-takes] if takes <= len(known) else 0
        new_operators = new_agents = 0
        while True:
            # Whoever is admitted makes room for more, where quotas are a share of all.
            quota = door.instances * _most(rules, door.agents + has_agents + new_agents)
            more_operators = max(0, min(operators - has_operators, quota) - new_operators)
            new_operators += more_operators
            room = (has_operators + new_operators) * rules.operator_agents
            room += rules.operator_growth * established
            more_agents = max(0, min(quota, agents - has_agents, room - has_agents) - new_agents)
            new_agents += more_agents
            if not more_operators and not more_agents:
                break
        hardest = max(hardest, bits)
        hashes += _hashes(rules, bits, operators=new_operators, agents=new_agents)
        has_operators += new_operators
        has_agents += new_agents
        bits = next_bits(
            bits,
            new_operators + new_agents,
            base=rules.agent_bits,
            target=rules.target,
            most=rules.most_bits,
        )
        known.append(has_agents)
    return Pace(
        epochs=len(known) - 1,
        hashes=hashes,
        proofs=_proofs(rules, operators + agents),
        bits=hardest,
    )


def cheapest(charter: Charter, door: Door, *, operators: int, agents: int) -> Pace | None:
    """Let them join so slowly that the puzzle never grows: at most twice the target an epoch.

    It takes at least as long as `fastest`, and None if that is None.
    """
    fast = fastest(charter, door, operators=operators, agents=agents)
    if fast is None:
        return None
    rules = charter.admission
    slow = -(-(operators + agents) // (2 * rules.target))
    return Pace(
        epochs=max(slow, fast.epochs),
        hashes=_hashes(rules, rules.agent_bits, operators=operators, agents=agents),
        proofs=fast.proofs,
        bits=rules.agent_bits,
    )


def standing(charter: Charter) -> int:
    """Give the epochs from an admission to tier 1 at the least; 1 or more.

    Trust and tiers move at ticks, and interactions take a round, in which newcomers may practise;
    many rounds may run at once.
    """
    return _round(charter) if charter.trust.tier1_interactions else 1


def spreading(charter: Charter, *, edges: int, operators: int, agents: int) -> int:
    """Give the epochs in which trust gets from those who were vouched for to all others.

    By vouches of those that have it, as far as their quotas go; or by approvals of each other's
    artifacts, of which one round can bring any number.
    """
    quotas, timing = charter.quotas, charter.timing
    cuts = max(1, timing.epoch // timing.cut_min)
    by_round = _round(charter)
    reached, epochs = min(edges, agents), 0
    while 0 < reached < agents and epochs < by_round:
        reached += min(reached * quotas.vouches_epoch, operators * quotas.vouches_operator * cuts)
        epochs += 1
    return epochs


def _round(charter: Charter) -> int:
    """Give the epochs of the shortest round there can be, until its evidence counts."""
    review = charter.review
    lengths = [review.deliberate + review.commit_min]
    if any(row.sensitivity == "low" for row in review.topics):
        lengths.append(review.fast_low)
    return max(1, -(-min(lengths) // charter.timing.epoch))


def _most(rules: Admission, agents: int) -> int:
    """Give what one instance may admit in an epoch, of agents and of operators."""
    return max(rules.instance_least, rules.instance_share * agents // MILLION)


def _hashes(rules: Admission, bits: int, *, operators: int, agents: int) -> int:
    if asks_nothing(rules):
        return 0
    return agents * expected_tries(terms_of(rules, Role.AGENT, bits)) + operators * expected_tries(
        terms_of(rules, Role.OPERATOR, bits)
    )


def _proofs(rules: Admission, joined: int) -> int:
    return 0 if asks_nothing(rules) else joined
