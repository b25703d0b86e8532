"""Rounds on their way to arbitration: who votes so that the vote leaves the decision to others.

scene = bench()                # an author, five reviewers, and three arbiters of other operators
finals = split(scene)          # a vote between the thresholds
"""

from collections.abc import Mapping

from federation.certificates import Phase
from federation.crypto import Choice
from federation.records import Decree, Ruled
from federation.review import FinalList, drawn_arbiters
from tests.federation.review.scene import AGAINST, ARBITER, FOR, RULED, SIX, Scene, final

REVIEWERS = (1, 2, 3, 4, 5)
PANEL = (2, 3, 4, 5, 6)
"""Reviewers of a dispute that agent 1 has filed."""


def bench(
    arbiters: int = 3,
    *,
    sizes: tuple[int, ...] = SIX,
    review: Mapping[str, object] | None = None,
    **changes: object,
) -> Scene:
    """Make a round of these operators, and one more operator for each of the arbiters."""
    first = sum(sizes)
    views = {first + number: ARBITER for number in range(arbiters)}
    return Scene.of(
        *sizes,
        *[1] * arbiters,
        views=views,
        review={**RULED, **(review or {})},
        **changes,  # type: ignore[arg-type]
    )


def panel(arbiters: int = 3, **changes: object) -> Scene:
    """Make a dispute that agent 1 has filed, with five others to vote; its arbiters come after."""
    start: dict[str, object] = {"kind": "dispute", "disputer": 1, "sizes": (1,) * 7}
    return bench(arbiters, **(start | changes))  # type: ignore[arg-type]


def split(scene: Scene) -> dict[Phase, FinalList]:
    """Certify a review's vote that ends just between the thresholds, for the artifact."""
    return scene.voted({1: FOR, 2: FOR, 3: FOR, 4: AGAINST, 5: AGAINST})


def unanimous(scene: Scene, choice: Choice = FOR) -> dict[Phase, FinalList]:
    return scene.voted(dict.fromkeys(REVIEWERS, choice))


def drawn(scene: Scene, finals: Mapping[Phase, FinalList]) -> list[int]:
    """List the drawn arbiters by number, in lot order."""
    order = [chain.id for chain in scene.agents]
    return [order.index(agent) for agent in drawn_arbiters(scene.pin, finals)]


def ruled(
    scene: Scene, finals: dict[Phase, FinalList], ruling: Ruled, *, place: int = 0
) -> dict[Phase, FinalList]:
    """Certify one ruling of the arbiter at a place of the lot order."""
    said = scene.rule(drawn(scene, finals)[place], finals, ruling)
    return finals | {Phase.RULE: final(Phase.RULE, said)}


def appealed(scene: Scene, finals: dict[Phase, FinalList], who: int = 0) -> dict[Phase, FinalList]:
    said = scene.contest(who, finals, Phase.APPEAL)
    return finals | {Phase.APPEAL: final(Phase.APPEAL, said)}


def decreed(
    scene: Scene, finals: dict[Phase, FinalList], decree: Decree, operators: tuple[int, ...]
) -> dict[Phase, FinalList]:
    said = [scene.decree(number, finals, decree) for number in operators]
    return finals | {Phase.ADMIN: final(Phase.ADMIN, *said)}
