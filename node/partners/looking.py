"""What my policy makes of the world now: local trust, computed where it holds up nobody.

The questions are asked of one moment of the world. Small ones are answered on the spot; for large
ones a process is started, as the core has one for its own, and ended when it has answered: an
operator looks now and then. The world may have moved on by then, and the answer says of which cut
it is.
"""

from collections.abc import Callable
from typing import Final

import trio

from federation.core import ParameterError
from federation.protocol import LocalView, World
from federation.protocol.local import Policy, questions, view
from federation.trust import LocalTrust
from federation.trust.eigentrust import Problem
from federation.trust.local import NOBODY_TRUSTED, LocalProblem
from node.base.errors import NodeCode, RequestError
from node.runtime.reckoning import Reckoner, small_only

_ONE: Final = trio.CapacityLimiter(1)
"""One large problem at a time, whoever asks."""


async def look(
    world: Callable[[], World], policy: Policy, *, reckoner: Callable[[], Reckoner] = Reckoner
) -> LocalView:
    """Work out local trust and weights; raises RequestError BUSY if it cannot be computed."""
    asked = questions(world().state, policy)
    try:
        charter = await _answer(asked.charter, reckoner)
        mine = await _answer(asked.mine, reckoner)
    except (ParameterError, EOFError) as error:
        raise RequestError(
            "local trust not computed",
            why=str(error) or "the process for it was ended",
            fix="try again; the log of the node says more",
            code=NodeCode.BUSY,
        ) from error
    return view(world().state, asked, charter=charter, mine=mine)


async def _answer(asked: LocalProblem, reckoner: Callable[[], Reckoner]) -> LocalTrust:
    if asked.problem is None:
        return NOBODY_TRUSTED
    raw = small_only(asked.problem)
    return asked.read(await _beside(asked.problem, reckoner) if raw is None else raw)


async def _beside(problem: Problem, reckoner: Callable[[], Reckoner]) -> bytes:
    async with _ONE:
        one = reckoner()
        try:
            return await trio.to_thread.run_sync(
                one.answer,
                problem,
                # Whoever asked may hang up: `close` ends what the thread waits for.
                abandon_on_cancel=True,  # type: ignore[call-arg] # mypy loses it
            )
        finally:
            one.close()
