"""The natural logarithm of a ratio, in integers: the same on every machine.

Floats may differ in the last bit between processors, and competence must not. The ratio is brought
near 1 by powers of two; then `ln m = 2·(z + z³/3 + z⁵/5 + …)` with `z = (m-1)/(m+1)`, in fixed point
with a bound on what the divisions lost. If the bound leaves the result open, more bits are taken;
no ratio of integers but 1 has a whole logarithm, so this ends.
"""

from federation.core import MILLION, ParameterError, Ppm

_FIRST_BITS = 64


def ln(numerator: int, denominator: int = MILLION) -> Ppm:
    """Give the natural logarithm of a ratio in ppm, rounded down exactly.

    With one argument the ratio is in ppm. Raises ParameterError if either is below 1.
    """
    if numerator < 1 or denominator < 1:
        raise ParameterError(
            "no logarithm",
            why=f"{numerator} / {denominator} is not above 0",
            fix="give a positive ratio",
        )
    if numerator == denominator:
        return 0
    bits = _FIRST_BITS
    while True:
        middle, error = _fixed(numerator, denominator, bits)
        low, high = (MILLION * (middle - error) >> bits), (MILLION * (middle + error) >> bits)
        if low == high:
            return low
        bits *= 2


def _fixed(numerator: int, denominator: int, bits: int) -> tuple[int, int]:
    """Give ln of the ratio in units of 2^-bits, and by how many of them it may be wrong."""
    twos = numerator.bit_length() - denominator.bit_length()
    scaled_up, scaled_down = numerator << max(-twos, 0), denominator << max(twos, 0)
    # Now the ratio is within (1/2, 2), so |z| < 1/3.
    rest, rest_error = _series(scaled_up - scaled_down, scaled_up + scaled_down, bits)
    two, two_error = _series(1, 3, bits)
    return rest + twos * two, rest_error + abs(twos) * two_error


def _series(numerator: int, denominator: int, bits: int) -> tuple[int, int]:
    """Give 2·atanh of a ratio of at most 1/3 in size, and the bound of its error.

    Each power loses less than 2 units beside what it inherits of the one before, shrunk by 9; so a
    term is wrong by less than 4, and what is left out at the end by less than 1.
    """
    size = abs(numerator)
    power = (size << bits) // denominator
    square = (power * power) >> bits
    total, odd = 0, 1
    while power:
        total += power // odd
        power = power * square >> bits
        odd += 2
    error = 4 * odd
    return (2 * total if numerator > 0 else -2 * total), error
