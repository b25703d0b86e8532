"""How a newcomer is brought to an instance that may not answer, and how its cut is awaited.

What is sent costs minutes to make and may be sent again, so it is: an answer that was lost, a node
that starts anew or has too much to do are no reason to give up at once.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from federation.admission import Work
from federation.core import Code as Fault
from federation.core import Realm
from federation.records import Record, Role
from node.base.clock import SteadyClock
from node.base.errors import NodeCode
from node.cli.errors import Code, CommandError, Exit
from node.cli.output import Output, clean
from node.cli.register_home import Home, Registrant
from node.cli.register_search import Effort, span
from node.cli.register_talk import Receipt, Talk
from node.keys import Keystore

_PASSING: Final = frozenset(
    {
        Code.NO_NODE,
        Code.NO_ANSWER,
        NodeCode.BUSY,
        NodeCode.SETTLING,
        NodeCode.STOPPING,
        NodeCode.TOO_MANY_REQUESTS,
        NodeCode.TOO_SLOW,
    }
)
"""Refusals that say nothing about whoever is refused."""
_PAUSES_S: Final = (1.0, 2.0, 4.0, 8.0, 15.0)
"""Seconds between attempts to send what cost so much to make."""
_LOOK_S: Final = 2.0
"""Seconds between two looks whether a cut has admitted, at first."""
_OFTEN: Final = 30
"""Looks after which the pauses are longer."""
_SELDOM: Final = 5
"""How much longer."""
_REMIND: Final = 15
"""Looks after which it is sent again: that tells if the first admission came to nothing."""
_LEAST_WAIT_S: Final = 600.0
"""How long it is waited for, where cuts come often."""
_SLACK_S: Final = 120.0
"""How long it is waited for after the epoch in which the cut has to come."""
_MOST_WAIT_S: Final = 26 * 3_600.0
"""How long it is waited for, whatever the instance says of its epochs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants to register."""

    role: Role
    name: str
    url: str
    """Address of the instance that is to admit it."""
    root: Path
    """Directory of the keys."""
    realm: Realm | None
    """The realm that is meant; None for the one that the instance names first."""
    operator: str | None
    """Name of the operator that answers for an agent; None for the only one."""
    invite: str | None
    domain: str | None
    effort: Effort
    waits: bool
    """Whether to wait for the cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """All that is sent, to be sent again."""

    newcomer: Registrant
    delegate: Record | None
    proof: Work | None


class Delivery:
    """The way to one instance."""

    def __init__(self, wish: Wish, talk: Talk, output: Output) -> None:
        """Say nothing yet."""
        self._wish = wish
        self._talk = talk
        self._output = output
        self._clock = SteadyClock(None)

    def deliver(
        self,
        home: Home,
        keystore: Keystore,
        newcomer: Registrant,
        operator: Registrant | None,
        proof: Work | None,
    ) -> tuple[Sent, Receipt]:
        """Send it; try again for a while if nobody answers."""
        for pause in (*_PAUSES_S, None):
            try:
                delegate = (
                    None if operator is None else self._delegate(home, keystore, operator, newcomer)
                )
                sent = Sent(newcomer=newcomer, delegate=delegate, proof=proof)
                return sent, self._send(sent)
            except CommandError as error:
                if error.code not in _PASSING:
                    raise
                if pause is None:
                    raise _kept(error, proof) from error
                self._output.say(f"{clean(error.what)}: {clean(error.why)}; trying again.")
                time.sleep(pause)
        raise AssertionError("the last pause raises")

    def wait(self, sent: Sent) -> None:
        """Wait until a cut has admitted it."""
        epoch_s = self._epoch_s()
        self._output.say("The instance has signed for it, and the next cut admits it.")
        if epoch_s is not None:
            self._output.say(
                "It calls for one, which usually comes within a minute; the end of the epoch, which "
                f"lasts {span(epoch_s)}, brings one in any case."
            )
        self._output.say("Waiting for it. Ctrl-C ends only the waiting.")
        patience = min(_MOST_WAIT_S, max(_LEAST_WAIT_S, (epoch_s or 0.0) + _SLACK_S))
        look, waited = 0, 0.0
        while waited < patience:
            look += 1
            try:
                known = self._talk.known(sent.newcomer.id)
                if known is not None and known.is_admitted:
                    return
                if look % _REMIND == 0:
                    self._send(sent)
            except CommandError as error:
                if error.code not in _PASSING:
                    raise
            pause = _LOOK_S if look <= _OFTEN else _LOOK_S * _SELDOM
            time.sleep(pause)
            waited += pause
        raise CommandError(
            "not yet admitted",
            why="the instance has signed for it, and no cut has admitted it within "
            f"{span(patience)}",
            fix="run the same command again later; look at the status page of the instance",
            code=Code.STILL_WAITING,
            leaves=Exit.FAILED,
        )

    def _epoch_s(self) -> float | None:
        try:
            epoch = self._talk.epoch_ms()
        except CommandError:
            # It is only told, and bounds the wait.
            return None
        return None if epoch is None else epoch / 1_000

    def _delegate(
        self, home: Home, keystore: Keystore, operator: Registrant, agent: Registrant
    ) -> Record:
        """Give the operator's word for the agent, and see that the instance holds all before it."""
        # An attempt before this one may have signed it, and sent it.
        operator = home.again(operator)
        known = self._talk.known(operator.id)
        if known is None or known.head is None:
            raise CommandError(
                "not registered",
                why="the instance knows no single newest record of the operator: its chain is "
                "forked there, or unknown",
                fix="ask another instance; a fork ends when the operator picks a branch",
                code=Fault.FORK,
                leaves=Exit.REFUSED,
            )
        newer = self._talk.newer(operator, known.head)
        if newer:
            operator = home.append(operator, *newer)
        operator = home.delegate(keystore, operator, agent.id, at=self._clock.wall())
        record = operator.delegate_of(agent.id)
        assert record is not None, "it was signed just now"  # noqa: S101 # our own invariant
        self._talk.hand_in(operator.records[known.head[0] + 1 : record.seq])
        return record

    def _send(self, sent: Sent) -> Receipt:
        return self._talk.send(
            sent.newcomer,
            delegate=sent.delegate,
            proof=sent.proof,
            invite=self._wish.invite,
            domain=self._wish.domain,
        )


def _kept(error: CommandError, proof: Work | None) -> CommandError:
    """Say of the last failed attempt what is not lost."""
    if proof is None:
        return error
    return CommandError(
        error.what,
        why=error.why,
        fix=f"{error.fix}; the proof is kept: the same command sends it again, and it counts until "
        f"epoch {proof.epoch + 1} ends",
        code=error.code,
        leaves=error.leaves,
    )
