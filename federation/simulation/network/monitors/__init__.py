"""Monitors: what must hold in every simulated run, checked after every step.

`monitor`  what a monitor sees, and `Violation`
"""

from federation.simulation.network.monitors.monitor import Monitor, Violation

__all__ = ["Monitor", "Violation"]
