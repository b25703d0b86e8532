"""Values at the edges of each msgpack form, and byte strings that are not canonical.

The second table is written byte by byte: no encoder makes these.
"""

from collections.abc import Mapping
from typing import Final

_EDGES: Final = (0, 7, 8, 15, 16, 31, 32, 53, 63)

VALUES: Final[tuple[object, ...]] = (
    None,
    False,
    True,
    *sorted(
        {sign * 2**power + step for power in _EDGES for step in (-1, 0, 1) for sign in (1, -1)}
        - {-(2**63) - 1}
        | {2**64 - 1, -32, -33}
    ),
    "",
    "a" * 31,
    "a" * 32,
    "a" * 255,
    "a" * 256,
    "é水🌳",
    b"",
    b"\x00" * 255,
    b"\x00" * 256,
    [],
    [0] * 15,
    [0] * 16,
    [[[[[[[[0]]]]]]]],
    {},
    {"b": 1, "a": 2, "aa": 3, "é": 4, "Z": 5},
    {f"k{number:02}": number for number in range(16)},
    {"": [None, {"deep": {"map": b"\xff"}}]},
)

NON_CANONICAL: Final[Mapping[str, bytes]] = {
    "no bytes at all": b"",
    "bytes after the value": b"\xc0\x00",
    "the byte c1": b"\xc1",
    "a 32-bit float": b"\xca\x3f\x80\x00\x00",
    "a 64-bit float in a map": b"\x81\xa1x\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00",
    "an extension of one byte": b"\xd4\x01\x00",
    "a timestamp": b"\xd6\xff\x00\x00\x00\x00",
    "an extension with a length": b"\xc7\x01\x05\x00",
    "7 in two bytes": b"\xcc\x07",
    "200 in three bytes": b"\xcd\x00\xc8",
    "300 in five bytes": b"\xce\x00\x00\x01\x2c",
    "70000 in nine bytes": b"\xcf\x00\x00\x00\x00\x00\x01\x11\x70",
    "7 as a signed byte": b"\xd0\x07",
    "200 as a signed integer": b"\xd1\x00\xc8",
    "-1 in two bytes": b"\xd0\xff",
    "-40 in three bytes": b"\xd1\xff\xd8",
    "-200 in five bytes": b"\xd2\xff\xff\xff\x38",
    "-200 in nine bytes": b"\xd3\xff\xff\xff\xff\xff\xff\xff\x38",
    "text with a header too long": b"\xd9\x01a",
    "text with a header of four bytes": b"\xdb\x00\x00\x00\x01a",
    "bytes with a header too long": b"\xc5\x00\x01a",
    "bytes with a header of four bytes": b"\xc6\x00\x00\x00\x01a",
    "a list with a header too long": b"\xdc\x00\x01\x00",
    "a list with a header of four bytes": b"\xdd\x00\x00\x00\x01\x00",
    "a map with a header too long": b"\xde\x00\x01\xa1a\x00",
    "a map with a header of four bytes": b"\xdf\x00\x00\x00\x01\xa1a\x00",
    "keys out of order": b"\x82\xa1b\x00\xa1a\x00",
    "a key twice": b"\x82\xa1a\x00\xa1a\x01",
    "a longer key before a shorter": b"\x82\xa2aa\x00\xa1a\x00",
    "a key that is a number": b"\x81\x01\x00",
    "a key that is bytes": b"\x81\xc4\x01a\x00",
    "a key in a long header": b"\x81\xd9\x01a\x00",
    "text that is not UTF-8": b"\xa1\xff",
    "an overlong UTF-8 form": b"\xa2\xc1\x81",
    "a surrogate": b"\xa3\xed\xa0\x80",
    "a NUL character": b"\xa3a\x00b",
    "a NUL character in a key": b"\x81\xa1\x00\x01",
    "text in form NFD": b"\xa3e\xcc\x81",
    "a singleton of NFC": b"\xa3\xe2\x84\xa6",
    "an unassigned character": b"\xa2\xcd\xb8",
    "a noncharacter": b"\xa3\xef\xb7\x90",
    "text that ends early": b"\xa5abc",
    "bytes that end early": b"\xc4\x05abc",
    "a header that ends early": b"\xda\x00",
    "a list that ends early": b"\x92\x00",
    "a map that ends early": b"\x81\xa1a",
    "a length of four gigabytes": b"\xc6\xff\xff\xff\xff",
    "a list of four thousand million": b"\xdd\xff\xff\xff\xff",
    "a list of 1,025": b"\xdc\x04\x01" + b"\x00" * 1_025,
    "a map of 65": b"\xde\x00\x41" + b"".join(b"\xa2%02d\x00" % n for n in range(65)),
    "nine lists": b"\x91" * 9 + b"\x00",
    "nine maps": b"\x81\xa1a" * 9 + b"\x00",
    "a fault far inside": b"\x81\xa1a\x93\x00\x01\x81\xa1b\x92\xc0\xca\x00\x00\x00\x00",
}
