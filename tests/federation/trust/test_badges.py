import pytest

from federation.charter import Founder, preset
from federation.trust import Held, Reason, badges_of

TRUST = preset("community").trust
FOUNDER = Founder(
    agent=b"a" * 32,
    operator=b"o" * 32,
    instance=b"i" * 32,
    tier=2,
    badges=("moderator", "arbiter"),
)
BOTH = ("arbiter", "moderator")


@pytest.mark.parametrize(
    ("interactions", "tier", "badges"),
    [
        (0, 2, BOTH),
        (0, 0, BOTH),
        (19, 1, BOTH),
        (20, 2, BOTH),
        (20, 1, ()),
        (1_000, 0, ()),
        (1_000, 2, BOTH),
    ],
)
def test_a_charters_badge_is_held_on_credit_and_then_by_tier_two(
    interactions: int, tier: int, badges: tuple[str, ...]
) -> None:
    held = badges_of(FOUNDER, interactions=interactions, tier=tier, trust=TRUST)

    assert tuple(one.badge for one in held) == badges


def test_a_badge_says_why_it_is_held() -> None:
    assert badges_of(FOUNDER, interactions=0, tier=2, trust=TRUST)[0] == Held(
        badge="arbiter", reason=Reason.FOUNDER
    )


def test_who_is_no_founder_holds_none_whatever_its_tier() -> None:
    assert badges_of(None, interactions=99, tier=2, trust=TRUST) == ()
