"""How evidence fades: a table of e^(-decay·age) in Q32, equal on every machine (§2.3).

`λ_0 = 2^32`, `λ_1` by an integer series, `λ_{k+1} = λ_k·λ_1 >> 32`. The series is
`λ_1 = (Σ_k (-1)^k t_k) >> 32` with `t_0 = 2^64` and `t_k = ⌊t_{k-1}·decay / (10^6·k)⌋` until a term
is 0; its error is below 2^-60 before the shift. No float is involved, because two processors may
round an exponential differently.
"""

from typing import Final

from federation.core import MILLION, Ppm

ONE: Final = 1 << 32
"""1 in Q32."""


def one_epoch(decay: Ppm) -> int:
    """Give e^-decay in Q32, rounded down, for a decay in ppm of 0 to 1,000,000."""
    term = ONE * ONE
    total, k = 0, 0
    while term:
        total += term if k % 2 == 0 else -term
        k += 1
        term = term * decay // (MILLION * k)
    return total >> 32


class Decay:
    """The table for one charter; grows as older evidence is asked for and stops at 0."""

    __slots__ = ("_step", "_table")

    def __init__(self, decay: Ppm) -> None:
        """Start the table for a decay in ppm per epoch."""
        self._step = one_epoch(decay)
        self._table = [ONE]

    def factor(self, age: int) -> int:
        """Give λ_age in Q32 for an age in epochs, at least 0."""
        table = self._table
        while len(table) <= age and table[-1] and self._step != ONE:
            table.append(table[-1] * self._step >> 32)
        return table[min(age, len(table) - 1)]
