"""One byte string per value: canonical msgpack, limits, and where a stranger's bytes go wrong.

`canonical`  encode, decode a typed value and refuse every other spelling of it
`faults`     walk bytes and name the exact path of the first fault (only run once refused)
`repertoire` the characters that text may hold: those of Unicode 14.0
`sets`       the one order of lists that mean sets
`limits`     largest sizes, depths and counts accepted from a stranger
"""

from federation.codec.canonical import decode, decode_plain, encode
from federation.codec.faults import find_fault
from federation.codec.limits import LIMITS, Limits
from federation.codec.sets import as_set, check_set

__all__ = [
    "LIMITS",
    "Limits",
    "as_set",
    "check_set",
    "decode",
    "decode_plain",
    "encode",
    "find_fault",
]
