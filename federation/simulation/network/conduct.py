"""Conduct: where a simulated instance may depart from what its own core decides.

An honest instance sends what its core says and hears what arrives. A lying one changes, holds
back or adds letters, and signs with its real keys what it likes; `adversaries` has the catalogue.
The core itself stays the shipped one: a lie is always something that another program could send.
"""

from federation.core import InstanceId
from federation.simulation.network.letters import Letter
from federation.simulation.network.node import SimNode


class Conduct:
    """Honest conduct, and the points at which a liar overrides it."""

    is_honest = True
    """False for a liar: what it and its agents sign is not held against the protocol."""

    def begin(self, node: SimNode) -> None:
        """Look around once, when the instance starts for the first time."""

    def outgoing(self, node: SimNode, to: InstanceId, letter: Letter) -> Letter | None:
        """Give what really goes to one receiver, or None to hold it back."""
        del node, to
        return letter

    def incoming(self, node: SimNode, sender: InstanceId, letter: Letter) -> Letter | None:
        """Give what the core gets to hear of a letter, or None to keep it from it."""
        del node, sender
        return letter

    def pulse(self, node: SimNode) -> None:
        """Act by itself, every now and then."""


HONEST = Conduct()
