"""What is refused of an agreement, each with its code.

Most cases are built from one good thing by changing a part and signing again, so that the named
fault is the only one.
"""

from collections.abc import Iterator

import msgspec

from federation.certificates import (
    Cosign,
    CutValue,
    CutWitness,
    Phase,
    Seal,
    Slot,
    signing_payload,
    slot_plain,
    value_digest,
)
from federation.codec import encode
from federation.core import Code
from federation.crypto import sign
from tests.vectors.agreement_rows import Row, counted_ids, in_pieces
from tests.vectors.certificates_samples import (
    BOX,
    CHARTER,
    CUT_SLOT,
    IDS,
    MOST,
    certificates,
    chains,
    lock,
    packets,
    positions,
    said,
    seed,
    slot_name,
    values,
    voice,
    votes,
)
from tests.vectors.vector_bodies import OTHER_REALM, REALM, ROUND, fixed

Fields = list[object]
DIGEST = value_digest(*values()["commit"])
WITNESS = CutWitness(
    chains=fixed("chains"),
    tick=False,
    world=fixed("world 40"),
    secret=fixed("secret"),
    next_hash=fixed("next hash"),
)


def vectors() -> Row:
    """Refused things by what they are."""
    return {
        "messages": [*_messages(), *_signatures()],
        "values": list(_values()),
        "locks": list(_locks()),
        "certificates": list(_certificates()),
        "packets": list(_packets()),
        "chains": list(_blobs(chains(), 2)),
        "positions": list(_blobs(positions(), 1)),
    }


def _case(
    name: str,
    raw: bytes,
    code: Code = Code.NOT_CANONICAL,
    slot: Slot = BOX,
    *,
    ids: int = 0,
    **rest: str,
) -> Row:
    spelling: object = in_pieces(raw, ids) if ids else raw.hex()
    return {
        "name": name,
        "code": code.value,
        "slot": slot_name(slot),
        "bytes": spelling,
        **rest,
    }


# Messages.


def _message(
    name: str,
    fields: Fields,
    code: Code = Code.NOT_CANONICAL,
    slot: Slot = BOX,
    *,
    ids: int = 0,
) -> Row:
    return _signed(name, encode(fields), code, slot, ids=ids)


def _signed(name: str, raw: bytes, code: Code, slot: Slot, *, ids: int = 0) -> Row:
    signature = sign(seed(1), signing_payload(raw))
    return _case(name, raw, code, slot, ids=ids, signature=signature.hex())


def _messages() -> Iterator[Row]:
    slot = slot_plain(BOX)
    cut = slot_plain(CUT_SLOT)

    def fields(step: str, /, *rest: object, at: object = slot, **changes: object) -> Fields:
        head: dict[str, object] = {
            "version": 1,
            "step": step,
            "realm": REALM,
            "charter": CHARTER,
            "slot": at,
            "voice": voice(1),
            "counter": 9,
        }
        return [*(head | changes).values(), *rest]

    seal = encode(fields("seal", 3, DIGEST))
    many = counted_ids(901)
    yield _message("another realm", fields("seal", 3, DIGEST, realm=OTHER_REALM), Code.WRONG_REALM)
    yield _message(
        "another charter",
        fields("seal", 3, DIGEST, charter=fixed("another charter")),
        Code.WRONG_CHARTER,
    )
    yield _message(
        "another phase", fields("seal", 3, DIGEST, at=[ROUND, "decide"]), Code.UNKNOWN_ROUND
    )
    yield _message(
        "a member's operator in place of its voice",
        fields("seal", 3, DIGEST, voice=fixed("member 1")),
        Code.NOT_ELIGIBLE,
    )
    yield _message(
        "nobody's voice", fields("seal", 3, DIGEST, voice=fixed("voice 4")), Code.NOT_ELIGIBLE
    )
    yield _signed("a byte after the message", seal + b"\x00", Code.NOT_CANONICAL, BOX)
    yield _signed("the last byte missing", seal[:-1], Code.NOT_CANONICAL, BOX)
    yield _signed("the list in a long header", b"\xdc\x00\x09" + seal[1:], Code.NOT_CANONICAL, BOX)
    yield _signed(
        "the version in two bytes", seal[:1] + b"\xcc" + seal[1:], Code.NOT_CANONICAL, BOX
    )
    too_large = _signed("above 64 KiB", bytes(65_537), Code.TOO_LARGE, BOX)
    yield {**too_large, "bytes": [{"zeros": 65_537}]}
    faults: dict[str, Fields] = {
        "version 2": fields("seal", 3, DIGEST, version=2),
        "an unknown step": fields("veto", 3, DIGEST),
        "a step that is bytes": fields("seal", 3, DIGEST, step=b"seal"),
        "an unknown phase": fields("seal", 3, DIGEST, at=[ROUND, "close"]),
        "a round of 31 bytes": fields("seal", 3, DIGEST, at=[ROUND[1:], "commit"]),
        "a slot of one item": fields("seal", 3, DIGEST, at=[ROUND]),
        "cut 0": fields("seal", 3, DIGEST, at=["cut", 0, fixed("cut 40")]),
        "cut 2^63": fields("seal", 3, DIGEST, at=["cut", MOST + 1, fixed("cut 40")]),
        "cut true": fields("seal", 3, DIGEST, at=["cut", True, fixed("cut 40")]),
        "a counter of 2^53": fields("seal", 3, DIGEST, counter=2**53),
        "a counter below 0": fields("seal", 3, DIGEST, counter=-1),
        "a counter as a float": fields("seal", 3, DIGEST, counter=9.0),
        "fence 2^63": fields("seal", MOST + 1, DIGEST),
        "fence -1": fields("seal", -1, DIGEST),
        "fence true": fields("seal", True, DIGEST),
        "a digest of 31 bytes": fields("seal", 3, DIGEST[1:]),
        "a field missing": fields("seal", 3),
        "a field too many": fields("seal", 3, DIGEST, None),
        "fields by name": [{"step": "seal"}],
        "half a lock": fields("promise", 4, 3, None),
        "the other half": fields("promise", 4, None, DIGEST),
        "ids out of order": fields("witness", IDS[::-1], False),
        "an id twice": fields("witness", [IDS[0], IDS[0]], False),
        "an id of 31 bytes": fields("witness", [IDS[0][1:]], False),
        "late as 0": fields("witness", IDS, 0),
        "a cut's witness in a round": fields("witness", *msgspec.structs.astuple(WITNESS)),
    }
    for name, wrong in faults.items():
        yield _message(name, wrong)
    promises = fields("propose", 1, DIGEST, [], counted_ids(257), None)
    yield _message("257 promises", promises, ids=257)
    yield _message("901 ids", fields("witness", many, False), ids=901)
    yield _message(
        "a round's witness in a cut", fields("witness", IDS, False, at=cut), slot=CUT_SLOT
    )


def _signatures() -> Iterator[Row]:
    raw, good = said(1, BOX, 9, Seal(fence=3, digest=DIGEST))
    other, _ = said(1, BOX, 10, Seal(fence=3, digest=DIGEST))
    bad = {
        "one bit changed": good[:-1] + bytes([good[-1] ^ 1]),
        "by another member": sign(seed(2), signing_payload(raw)),
        "over another counter": sign(seed(1), signing_payload(other)),
        "over the message itself": sign(seed(1), raw),
        "of 63 bytes": good[:63],
    }
    for name, signature in bad.items():
        yield _case(f"a signature {name}", raw, Code.BAD_SIGNATURE, signature=signature.hex())


# Values.


def _value(
    name: str,
    value: object,
    slot: Slot = BOX,
    *,
    ids: int = 0,
    tag: str = "folkmoot/1/value",
    at: object = None,
) -> Row:
    raw = encode([tag, at or slot_plain(slot), value])
    return _case(name, raw, slot=slot, ids=ids)


def _values() -> Iterator[Row]:
    cut = list(msgspec.structs.astuple(_plain_cut()))
    number, tick, place, world, secrets = cut
    rows = [list(msgspec.structs.astuple(one)) for one in _plain_cut().secrets]
    yield _value("ids out of order", IDS[::-1])
    yield _value("an id twice", [IDS[0], IDS[0]])
    yield _value("901 ids", counted_ids(901), ids=901)
    yield _value("an id that is text", ["a" * 32])
    yield _value("true", True)
    yield _value("a cut in a round", cut)
    yield _value("a list in a cut", IDS, CUT_SLOT)
    yield _value("void in a cut", None, CUT_SLOT)
    yield _value("another tag", IDS, tag="folkmoot/1/values")
    yield _value("another slot", IDS, at=[ROUND, "decide"])
    yield _value("another cut's number", [42, tick, place, world, secrets], CUT_SLOT)
    yield _value("a tick of 1", [number, 1, place, world, secrets], CUT_SLOT)
    yield _value("members out of order", [number, tick, place, world, rows[::-1]], CUT_SLOT)
    yield _value("a member twice", [number, tick, place, world, [rows[0], rows[0]]], CUT_SLOT)
    yield _value(
        "a member without a next hash", [number, tick, place, world, [rows[0][:2]]], CUT_SLOT
    )
    yield _case(
        "a byte after the value", encode(["folkmoot/1/value", slot_plain(BOX), IDS]) + b"\xc0"
    )


def _plain_cut() -> CutValue:
    _, value = values()["a cut"]
    assert isinstance(value, CutValue)
    return value


# Proofs.


def _locks() -> Iterator[Row]:
    cosigns = [list(msgspec.structs.astuple(one)) for one in lock().cosigns]
    seals = [list(msgspec.structs.astuple(one)) for one in votes(BOX, Seal, 3, DIGEST, (0, 1, 3))]
    cases: dict[str, tuple[Fields, Code]] = {
        "q-1 cosigns": ([3, DIGEST, cosigns[:2]], Code.NOT_PROVEN),
        "voices out of order": ([3, DIGEST, cosigns[::-1]], Code.NOT_PROVEN),
        "a voice twice": ([3, DIGEST, [cosigns[0], cosigns[0], cosigns[1]]], Code.NOT_PROVEN),
        "seals instead of cosigns": ([3, DIGEST, seals], Code.BAD_SIGNATURE),
        "another fence": ([4, DIGEST, cosigns], Code.BAD_SIGNATURE),
        "another digest": ([3, fixed("another digest"), cosigns], Code.BAD_SIGNATURE),
        "fence 2^63": ([MOST + 1, DIGEST, cosigns], Code.NOT_CANONICAL),
        "no list of cosigns": ([3, DIGEST, None], Code.NOT_CANONICAL),
    }
    for name, (fields, code) in cases.items():
        yield _case(name, encode(fields), code)


def _certificates() -> Iterator[Row]:
    slot, one = slot_plain(BOX), certificates()["commit"]
    seals = [list(msgspec.structs.astuple(seal)) for seal in one.seals]
    cosigns = votes(BOX, Cosign, one.fence, one.digest, (0, 2, 3))
    moved = [ROUND, Phase.COMMIT2.value]
    stranger = [fixed("voice 4"), 4, seals[0][2]]
    later = [[voice_, int(counter) + 1, signature] for voice_, counter, signature in seals]
    changed = [*seals[:2], [*seals[2][:2], bytes(64)]]
    with_stranger = sorted([*seals, stranger], key=lambda row: bytes(row[0]))
    yield from (
        _case(name, encode(fields), code)
        for name, fields, code in (
            ("q-1 seals", [slot, IDS, one.fence, seals[:2]], Code.NOT_PROVEN),
            ("no seals", [slot, IDS, one.fence, []], Code.NOT_PROVEN),
            ("voices out of order", [slot, IDS, one.fence, seals[::-1]], Code.NOT_PROVEN),
            (
                "a voice twice",
                [slot, IDS, one.fence, [seals[0], seals[1], seals[1]]],
                Code.NOT_PROVEN,
            ),
            ("a stranger among them", [slot, IDS, one.fence, with_stranger], Code.NOT_ELIGIBLE),
            ("another slot", [moved, IDS, one.fence, seals], Code.UNKNOWN_ROUND),
            ("another value", [slot, IDS[:2], one.fence, seals], Code.BAD_SIGNATURE),
            ("void instead of the list", [slot, None, one.fence, seals], Code.BAD_SIGNATURE),
            ("another fence", [slot, IDS, one.fence + 1, seals], Code.BAD_SIGNATURE),
            ("another counter", [slot, IDS, one.fence, later], Code.BAD_SIGNATURE),
            ("one signature of zeros", [slot, IDS, one.fence, changed], Code.BAD_SIGNATURE),
            ("cosigns instead of seals", [slot, IDS, one.fence, cosigns], Code.BAD_SIGNATURE),
            ("ids out of order", [slot, IDS[::-1], one.fence, seals], Code.NOT_CANONICAL),
            ("fence 2^63", [slot, IDS, MOST + 1, seals], Code.NOT_CANONICAL),
            ("three fields", [slot, IDS, one.fence], Code.NOT_CANONICAL),
            ("five fields", [slot, IDS, one.fence, seals, None], Code.NOT_CANONICAL),
        )
    )
    many = encode([slot, counted_ids(901), one.fence, seals])
    yield _case("901 ids", many, ids=901)
    good = encode([slot, IDS, one.fence, seals])
    yield _case("a byte after the certificate", good + b"\x00")
    yield _case("the list in a long header", b"\xdc\x00\x04" + good[1:])


# Packets and blobs.


def _packets() -> Iterator[Row]:
    found = packets()
    _, wants = found["want"]
    head: Fields = [REALM, CHARTER, slot_plain(BOX)]
    part = [2, b""]
    cases: dict[str, Fields] = {
        "no body": head,
        "an empty body": [*head, []],
        "an unknown kind": [*head, ["ask", list(IDS)]],
        "a request without hashes": [*head, ["want"]],
        "a hash of 33 bytes": [*head, ["want", [b"h" * 33]]],
        "17 parts": [*head, ["parts", [part] * 17]],
        "a part of kind 3": [*head, ["parts", [[3, b""]]]],
        "a part that is text": [*head, ["parts", [[2, "blob"]]]],
        "a message without parts": [*head, ["message", b"", bytes(64)]],
        "a signature of 63 bytes": [*head, ["message", b"", bytes(63), []]],
        "a certificate of three fields": [*head, ["final", [slot_plain(BOX), IDS, 0], []]],
        "a realm of 31 bytes": [REALM[1:], CHARTER, slot_plain(BOX), ["want", []]],
        "no slot": [REALM, CHARTER, None, ["want", []]],
        "a field too many": [*head, ["want", []], None],
    }
    for name, fields in cases.items():
        yield _case(name, encode(fields))
    yield _case("529 hashes", encode([*head, ["want", counted_ids(529)]]), ids=529)
    yield _case("a byte after the packet", wants + b"\x00")
    yield _case("the list in a long header", b"\xdc\x00\x04" + wants[1:])


def _blobs(good: bytes, names: int) -> Iterator[Row]:
    """Damage a blob of rows; `names` tells at which item of a row the rest of it begins."""
    rows = msgspec.msgpack.decode(good)
    assert isinstance(rows, list)
    first = rows[0]
    yield _case("authors out of order", encode(rows[::-1]))
    yield _case("an author twice", encode([first, first]))
    yield _case("an author of 31 bytes", encode([[first[0][1:], *first[1:]]]))
    yield _case("a row without its end", encode([first[:-1]]))
    yield _case("a row too long", encode([[*first, None]]))
    yield _case("a byte after the blob", good + b"\x00")
    yield _case("a map", encode({}))
    if names == 1:
        yield _case("a place of 2^63", encode([[first[0], MOST + 1, first[2]]]))
        yield _case("a place below 0", encode([[first[0], -1, first[2]]]))
        return
    author, levels = max(rows, key=lambda row: len(row[1]))
    yield _case("ids of one place out of order", encode([[author, [levels[1][::-1]]]]))
    many = encode([[author, [counted_ids(4_097)]]])
    yield _case("4,097 ids", many, Code.TOO_LARGE, CUT_SLOT, ids=4_097)
    yield _case("a place without ids", encode([[author, [[], *levels]]]))
    yield _case("an author without places", encode([[author, []]]))
