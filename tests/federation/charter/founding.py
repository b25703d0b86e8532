"""The smallest genesis that fits together, and charters on top of it."""

from collections.abc import Sequence

from federation.charter import (
    Admission,
    Charter,
    Disputes,
    Founder,
    Genesis,
    GenesisInstance,
    Quotas,
    Review,
    Sanctions,
    Timing,
    Trust,
    build,
)

SALT = b"s" * 32


def genesis_of(founders: Sequence[int]) -> Genesis:
    """One operator with one instance per item; the item counts its founders of tier 2."""
    operators = [bytes([1, n]) * 16 for n in range(len(founders))]
    instances = [bytes([2, n]) * 16 for n in range(len(founders))]
    agents = [
        Founder(
            agent=bytes([3, n, a, 0]) * 8,
            operator=operators[n],
            instance=instances[n],
            tier=2,
            badges=("arbiter", "moderator"),
        )
        for n, count in enumerate(founders)
        for a in range(count)
    ]
    return Genesis(
        instances=tuple(
            GenesisInstance(instance=instances[n], operator=operators[n], key=bytes([4, n]) * 16)
            for n in range(len(founders))
        ),
        operators=tuple(operators),
        founders=tuple(agents),
        records=tuple(sorted([*operators, *instances, *(row.agent for row in agents)])),
        seeds=None,
    )


def founded(
    base: str,
    genesis: Genesis,
    *,
    timing: Timing | None = None,
    review: Review | None = None,
    disputes: Disputes | None = None,
    trust: Trust | None = None,
    admission: Admission | None = None,
    quotas: Quotas | None = None,
    sanctions: Sanctions | None = None,
) -> Charter:
    """Build a charter named Moot."""
    return build(
        base,
        name="Moot",
        salt=SALT,
        genesis=genesis,
        timing=timing,
        review=review,
        disputes=disputes,
        trust=trust,
        admission=admission,
        quotas=quotas,
        sanctions=sanctions,
    )
