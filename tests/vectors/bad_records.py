"""Records that are refused before they are stored, each with its code.

Most are built from one good record by changing its parts and signing again, so that the named
fault is the only one.
"""

from dataclasses import dataclass
from typing import Final

import msgspec

from federation.codec import encode
from federation.core import Code, PublicKey
from federation.crypto import Domain, digest, plain_hash, public_key, sign
from federation.records import Kind, Record, Role, record_id, signing_payload, wire
from tests.vectors.signing import signed
from tests.vectors.vector_bodies import OTHER_REALM, REALM, fixed
from tests.vectors.vector_curation import all_bodies

_KEY: Final = public_key(fixed("seed"))
_FLOAT: Final = b"\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class BadRecord:
    """Bytes that are refused under `key` and `role` with `code`."""

    name: str
    code: Code
    raw: bytes
    key: PublicKey = _KEY
    role: Role = Role.AGENT


def bad_records() -> list[BadRecord]:
    """Give all bad records, in a fixed order."""
    return [
        *_wires(),
        *_statements(),
        *_bodies(),
        *_sets(),
        *_trust(),
        *_texts(),
        *_proofs(),
        *_domains(),
        *_signatures(),
        *_roles(),
        *_sizes(),
    ]


def _good() -> Record:
    """Give the record that is damaged."""
    body, text = all_bodies()[Kind.ARGUE]
    return signed(body, text)


def _raw(name: str, raw: bytes, code: Code = Code.NOT_CANONICAL) -> BadRecord:
    return BadRecord(name=name, code=code, raw=raw)


def _wires() -> list[BadRecord]:
    raw = wire(_good())
    parts = [_good().statement_raw, _good().body_raw, _good().text_raw, _good().signature]
    nested = encode([msgspec.msgpack.decode(_good().statement_raw), *parts[1:]])
    return [
        _raw("no bytes at all", b""),
        _raw("a byte after the record", raw + b"\x00"),
        _raw("the last byte missing", raw[:-1]),
        _raw("the wire's list in a long header", b"\xdc\x00\x04" + raw[1:]),
        _raw("the statement in a long header", b"\x94\xc5\x00" + raw[2:]),
        _raw("the statement as a list", nested),
        _raw("the statement as text", b"\x94\xd9" + raw[2:]),
        _raw("three parts", encode(parts[:3])),
        _raw("five parts", encode([*parts, None])),
        _raw("a map instead of a list", encode({"statement": parts[0]})),
        _raw("a signature of 63 bytes", encode([*parts[:3], _good().signature[:63]])),
    ]


def _statements() -> list[BadRecord]:
    def restated(name: str, at: int, value: object) -> BadRecord:
        fields = list(msgspec.msgpack.decode(_good().statement_raw))
        fields[at] = value
        return _resigned(name, encode(fields), _good().body_raw)

    raw = _good().statement_raw
    return [
        restated("version 2", 0, 2),
        restated("version true", 0, True),
        restated("a kind without a dot", 1, "argue"),
        restated("a kind in capitals", 1, "Review.argue"),
        restated("an author of 31 bytes", 2, bytes(range(31))),
        restated("no author outside an inception", 2, bytes(32)),
        restated("a negative key index", 3, -1),
        restated("seq 0 outside an inception", 4, 0),
        restated("seq above 2^53 - 1", 4, 2**53),
        restated("nothing before it outside an inception", 5, None),
        restated("a time before 1970", 6, -1),
        restated("another body length", 7, len(_good().body_raw) + 1),
        restated("another body hash", 8, fixed("another body")),
        _resigned("a float as version", b"\x99" + _FLOAT + raw[2:], _good().body_raw),
        _resigned("a version in two bytes", b"\x99\xcc\x01" + raw[2:], _good().body_raw),
        _resigned("ten fields", encode([*msgspec.msgpack.decode(raw), 0]), _good().body_raw),
        _resigned("eight fields", encode(msgspec.msgpack.decode(raw)[:8]), _good().body_raw),
        _inception("an inception with an author", 2, fixed("author")),
        _inception("an inception under key 1", 3, 1),
        _inception("an inception at seq 1", 4, 1),
        _inception("an inception after a record", 5, fixed("previous record")),
    ]


def _bodies() -> list[BadRecord]:
    argue = msgspec.msgpack.decode(_good().body_raw)

    def argued(name: str, **fields: object) -> BadRecord:
        return _rebodied(name, Kind.ARGUE, encode(argue | fields))

    def edited(name: str, old: bytes, new: bytes) -> BadRecord:
        assert _good().body_raw.count(old) == 1
        return _rebodied(name, Kind.ARGUE, _good().body_raw.replace(old, new))

    first = b"\x8a\xa5after\xc4\x20" + argue["after"]
    missing = {name: value for name, value in argue.items() if name != "stance"}
    return [
        edited("a float", b"\xa5claim\x02", b"\xa5claim" + _FLOAT),
        edited("an integer in two bytes", b"\xa5claim\x02", b"\xa5claim\xcc\x02"),
        edited("an extension", b"\xa5claim\x02", b"\xa5claim\xd4\x01\x02"),
        edited("a key in a long header", b"\xa5claim\x02", b"\xd9\x05claim\x02"),
        edited("a key twice", b"\xa5claim\x02", b"\xa5claim\x02\xa5claim\x02"),
        edited("a key twice, and counted", first, b"\x8b" + 2 * first[1:]),
        edited("a map in a long header", first, b"\xde\x00\x0a" + first[1:]),
        _rebodied(
            "keys in reverse order",
            Kind.ARGUE,
            msgspec.msgpack.encode(dict(sorted(argue.items(), reverse=True))),
        ),
        _rebodied("a body that is a list", Kind.ARGUE, encode(list(argue.values()))),
        _rebodied("a byte after the body", Kind.ARGUE, _good().body_raw + b"\x00"),
        _rebodied("a field missing", Kind.ARGUE, encode(missing)),
        argued("a field nobody knows", weight=1),
        argued("an unknown stance", stance="undecided"),
        argued("a digest of 31 bytes", round=bytes(31)),
        argued("true for a number", claim=True),
        argued("claim 17", claim=17),
        argued("seventeen pieces of evidence", evidence=[fixed("evidence")] * 17),
        argued("a text length above 16 KiB", text_len=16 * 1024 + 1),
        _renamed("a NUL character in a name", "a\0b"),
        _renamed("a name in form NFD", "e\u0301"),
        _renamed("a noncharacter in a name", "\ufdd0"),
        _renamed("an empty name", ""),
        _renamed("a name of 129 characters", "n" * 129),
        _rebodied("an unknown kind with a float", "future.kind", b"\x81\xa1x" + _FLOAT),
        _rebodied("an unknown kind nine lists deep", "future.kind", b"\x91" * 9 + b"\x00"),
        _rebodied("an unknown kind with 1,025 items", "future.kind", encode([0] * 1_025)),
    ]


def _sets() -> list[BadRecord]:
    """Spell sets out of order and with an item twice, and number claims in other ways."""
    low, high = sorted((fixed("one item"), fixed("another item")))
    pairs: tuple[tuple[Kind, str, object, object], ...] = (
        (Kind.DELEGATE, "scope", "artifact.propose", "review.commit"),
        (Kind.AGENT_SUBSCRIBE, "topics", "history", "science"),
        (Kind.AGENT_SUBSCRIBE, "keywords", "\uffee", "\U00010000"),
        (Kind.PROPOSE, "topics", "science", "science/water"),
        (Kind.PROPOSE, "cites", low, high),
        (Kind.PROPOSE, "sources", low, high),
        (Kind.ARGUE, "evidence", low, high),
    )
    claims = ("claims from 2", [2]), ("claims with a gap", [1, 3]), ("claims in disorder", [2, 1])
    ballot = plain_fields(Kind.REVEAL)["ballot"]
    assert isinstance(ballot, list)
    return [
        *(
            changed(f"{field} of {kind} {why}", kind, **{field: items})
            for kind, field, first, second in pairs
            for why, items in (("out of order", [second, first]), ("twice", [first, first]))
        ),
        *(changed(name, Kind.PROPOSE, claims=[[n, None] for n in ns]) for name, ns in claims),
        changed("claim 1 twice", Kind.PROPOSE, claims=[[1, None], [1, low]]),
        *(
            changed(f"{field} of a ballot {why}", Kind.REVEAL, ballot=[*ballot[:at], items, *rest])
            for at, field, rest in ((3, "evidence", ballot[4:]), (4, "arguments", []))
            for why, items in (("out of order", [high, low]), ("twice", [low, low]))
        ),
    ]


def _trust() -> list[BadRecord]:
    """Vouch with no weight or too much, and show rows that are not those of the root."""
    rows = plain_fields(Kind.TRUST_HEAD)["top"]
    assert isinstance(rows, list)
    first, *others = rows
    heads: tuple[tuple[str, list[object]], ...] = (
        ("a trust head with its rows in reverse", rows[::-1]),
        ("a trust head with a row twice", [first, *rows]),
        ("a trust head with a row of weight 0", [[*first[:2], 0], *others]),
        ("a trust head with a row of weight 256", [[*first[:2], 256], *others]),
        ("a trust head with a row without a key", [first[1:], *others]),
        ("a trust head with a key of 31 bytes", [[bytes(31), *first[1:]], *others]),
        (
            "a trust head of 257 rows",
            [[bytes(32), number.to_bytes(32, "big"), 1] for number in range(257)],
        ),
    )
    rooted = [
        changed(name, Kind.TRUST_HEAD, top=top, root=digest(Domain.TRUST_HEAD, encode(top)))
        for name, top in heads
    ]
    return [
        *(
            changed(f"a vouch of weight {weight}", Kind.AGENT_VOUCH, weight=weight)
            for weight in (0, 256)
        ),
        changed("a vouch for a name", Kind.AGENT_VOUCH, agent="ann"),
        changed("a vouch taken back with a weight", Kind.AGENT_UNVOUCH, weight=1),
        *rooted,
        changed("a trust head with another root", Kind.TRUST_HEAD, root=fixed("another root")),
        changed("a trust head with a row less than its root", Kind.TRUST_HEAD, top=others),
    ]


def _texts() -> list[BadRecord]:
    """Name the hash of a text without its length, or the other way round."""
    return [
        *(
            changed(f"a text of {kind} without a hash", kind, text_hash=None)
            for kind in (Kind.OBJECT, Kind.ARGUE, Kind.CONTEST)
        ),
        *(
            changed(f"a text of {kind} without a length", kind, text_len=0)
            for kind in (Kind.PROPOSE, Kind.OBJECT, Kind.ARGUE, Kind.CONTEST)
        ),
    ]


def _proofs() -> list[BadRecord]:
    """Write proofs of forks and faults in another form."""
    fork, fault = plain_fields(Kind.LOG_FORK), plain_fields(Kind.LOG_FAULT)
    half, message = fork["a"], fault["b"]
    assert isinstance(half, list)
    assert isinstance(message, list)
    return [
        changed("a half of a fork without the place of a key", Kind.LOG_FORK, a=half[:2]),
        changed("a half of a fork with a key of 31 bytes", Kind.LOG_FORK, a=[*half[:2], bytes(31)]),
        changed("a half of a fork with a fourth part", Kind.LOG_FORK, a=[*half, None]),
        changed("a message of 31,501 bytes", Kind.LOG_FAULT, b=[bytes(31_501), message[1]]),
        changed("a message with a key", Kind.LOG_FAULT, b=[*message, None]),
    ]


def _domains() -> list[BadRecord]:
    """Write names that are no domain, or not in the one way that counts."""
    names = {
        "a domain without a dot": "localhost",
        "a domain with a capital": "Moot.example.org",
        "a domain with the root's dot": "moot.example.org.",
        "a domain with an empty label": "moot..org",
        "a domain that ends with a line": "moot.example.org\n",
        "a domain that is an address": "192.0.2.1",
        "a domain with a port": "moot.example.org:443",
        "a domain with an underscore": "my_moot.example.org",
        "a label that begins with a hyphen": "-moot.example.org",
        "a label that ends with a hyphen": "moot-.example.org",
        "a label of 64 characters": f"{'m' * 64}.org",
        "a domain of 254 characters": f"{'m.' * 125}moot",
        "a domain in its own letters": "m\u00f6\u00f6t.example.org",
        "an empty domain": "",
    }
    return [changed(name, Kind.OPERATOR_ADMIT, domain=value) for name, value in names.items()]


def _signatures() -> list[BadRecord]:
    good = _good()
    parts = [good.statement_raw, good.body_raw, good.text_raw]
    bent = good.signature[:40] + bytes([good.signature[40] ^ 1]) + good.signature[41:]
    elsewhere = signed(*all_bodies()[Kind.ARGUE], realm=OTHER_REALM)
    stranger = signed(*all_bodies()[Kind.ARGUE], seed=fixed("stranger"))
    bare = sign(fixed("seed"), good.id)
    return [
        _raw("one bit of the signature changed", encode([*parts, bent]), Code.BAD_SIGNATURE),
        _raw("signed in another realm", wire(elsewhere), Code.BAD_SIGNATURE),
        _raw("signed by another key", wire(stranger), Code.BAD_SIGNATURE),
        _raw("signed without the domain", encode([*parts, bare]), Code.BAD_SIGNATURE),
    ]


def _roles() -> list[BadRecord]:
    rows = (
        (Kind.ARGUE, Role.INSTANCE),
        (Kind.PROPOSE, Role.OPERATOR),
        (Kind.COMMIT, Role.INSTANCE),
        (Kind.DELEGATE, Role.AGENT),
        (Kind.AGENT_ADMIT, Role.OPERATOR),
        (Kind.CERTIFICATE, Role.AGENT),
        (Kind.AGENT_VOUCH, Role.OPERATOR),
        (Kind.AGENT_UNVOUCH, Role.INSTANCE),
        (Kind.TRUST_HEAD, Role.OPERATOR),
    )
    return [
        BadRecord(
            name=f"{kind} by an {role}",
            code=Code.WRONG_ROLE,
            raw=wire(signed(*all_bodies()[kind])),
            role=role,
        )
        for kind, role in rows
    ]


def _sizes() -> list[BadRecord]:
    return [
        _rebodied("above 64 KiB", "future.kind", encode({"x": bytes(65_400)}), Code.TOO_LARGE),
        _raw(
            "a text above 16 KiB",
            encode([_good().statement_raw, _good().body_raw, bytes(16_385), _good().signature]),
            Code.TOO_LARGE,
        ),
    ]


def _resigned(
    name: str, statement: bytes, body: bytes, code: Code = Code.NOT_CANONICAL
) -> BadRecord:
    signature = sign(fixed("seed"), signing_payload(record_id(REALM, statement)))
    return BadRecord(name=name, code=code, raw=encode([statement, body, None, signature]))


def _rebodied(name: str, kind: str, body: bytes, code: Code = Code.NOT_CANONICAL) -> BadRecord:
    """Sign a statement of `kind` over these body bytes."""
    fields = msgspec.msgpack.decode(_good().statement_raw)
    changed = [1, kind, *fields[2:7], len(body), plain_hash(body)]
    return _resigned(name, encode(changed), body, code)


def plain_fields(kind: Kind) -> dict[str, object]:
    """Give the fields of the full body of a kind."""
    fields: dict[str, object] = msgspec.msgpack.decode(encode(all_bodies()[kind][0]))
    return fields


def changed(name: str, kind: Kind, **fields: object) -> BadRecord:
    """Change fields of the full body of a kind."""
    return _rebodied(name, kind, encode(plain_fields(kind) | fields))


def shortened(name: str, kind: Kind, field: str) -> BadRecord:
    """Leave a field of the full body of a kind out."""
    fields = plain_fields(kind)
    del fields[field]
    return _rebodied(name, kind, encode(fields))


def _inception(name: str, at: int, value: object) -> BadRecord:
    body, _ = all_bodies()[Kind.INCEPT]
    record = signed(body, first=True)
    fields = list(msgspec.msgpack.decode(record.statement_raw))
    fields[at] = value
    return _resigned(name, encode(fields), record.body_raw)


def _renamed(name: str, words: str) -> BadRecord:
    return changed(name, Kind.AGENT_DECLARE, family=words)
