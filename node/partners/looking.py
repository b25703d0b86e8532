"""What my policy makes of the world now: local trust, computed where it holds up nobody.

The questions are asked of one moment of the world. Small ones are answered on the spot; for large
ones a process is started, as the core has one for its own, and ended when it has answered: an
operator looks now and then. The world may have moved on by then: the answer names the cut that
trust is of, and gives the weights that follow from it by what is known of agents now.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import trio

from federation.core import ParameterError
from federation.protocol import LocalView, World
from federation.protocol.local import Policy, Questions, answer, questions, view
from federation.trust import LocalTrust
from federation.trust.local import NOBODY_TRUSTED, LocalProblem
from node.base.errors import NodeCode, RequestError
from node.runtime.reckoning import Reckoner, small_only

_ONE: Final = trio.CapacityLimiter(1)
"""One large problem at a time, whoever asks."""
WITHIN_S: Final = 25.0
"""Seconds that large problems may take, waiting included: less than a command waits for its answer."""


async def look(
    world: Callable[[], World],
    policy: Policy,
    *,
    reckoner: Callable[[], Reckoner] = Reckoner,
    within: float = WITHIN_S,
) -> LocalView:
    """Work out local trust and weights.

    Raises RequestError BUSY if it cannot be computed, or not within so many seconds.
    """
    state = world().state
    cut = state.cut
    asked = questions(state, policy)
    try:
        charter, mine = _here(asked.charter), _here(asked.mine)
        if charter is None or mine is None:
            with trio.fail_after(within):
                charter, mine = await _beside(asked, reckoner)
    except trio.TooSlowError as error:
        raise _not_computed(f"it takes longer than {within:g} s") from error
    except (ParameterError, EOFError) as error:
        raise _not_computed(str(error) or "the process for it was ended") from error
    return replace(view(world().state, asked, charter=charter, mine=mine), cut=cut)


def _not_computed(why: str) -> RequestError:
    return RequestError(
        "local trust not computed",
        why=why,
        fix="try again; the log of the node says more",
        code=NodeCode.BUSY,
    )


def _here(asked: LocalProblem) -> LocalTrust | None:
    """Answer a small question; None if it is a large one."""
    if asked.problem is None:
        return NOBODY_TRUSTED
    raw = small_only(asked.problem)
    return None if raw is None else asked.read(raw)


async def _beside(
    asked: Questions, reckoner: Callable[[], Reckoner]
) -> tuple[LocalTrust, LocalTrust]:
    async with _ONE:
        one = reckoner()
        try:
            return await trio.to_thread.run_sync(
                _answer_both,
                one,
                asked,
                # Whoever asked may hang up: `close` ends what the thread waits for.
                abandon_on_cancel=True,  # type: ignore[call-arg] # mypy loses it
            )
        finally:
            one.close()


def _answer_both(one: Reckoner, asked: Questions) -> tuple[LocalTrust, LocalTrust]:
    """Answer both questions in one process, and end it; in a thread, as is reading the answers."""
    try:
        return answer(asked.charter, one.answer), answer(asked.mine, one.answer)
    finally:
        one.rest()
