"""fresh.json: what a witness names of what it holds, and what q witnesses amount to."""

from typing import cast

import msgspec

from federation.certificates import (
    CutSlot,
    CutValue,
    CutWitness,
    Entry,
    Fresh,
    ListWitness,
    Looked,
    Missing,
    Outcome,
    Phase,
    Position,
    Quorum,
    RoundSlot,
    Slot,
    Witnessed,
    blob_hash,
    chains_blob,
    chains_from_blob,
    fresh_cut,
    fresh_list,
    value_digest,
    value_plain,
    witnessed,
)
from federation.codec import decode_plain
from tests.vectors import fresh_cases
from tests.vectors.agreement_rows import (
    Row,
    as_bytes,
    as_int,
    as_list,
    fixed_bytes,
    many,
    names_in,
    number,
    plain,
    renamed,
    under,
    word,
)


def vectors() -> Row:
    """All cases with their outcomes."""
    return {
        "holdings": [{**case, "ids": holding_of(case)} for case in fresh_cases.holdings()],
        "backlogs": [{**case, **backlog_of(case)} for case in fresh_cases.backlogs()],
        "lists": [{**case, "outcome": list_outcome(case)} for case in fresh_cases.lists()],
        "cuts": [{**case, "outcome": cut_outcome(case)} for case in fresh_cases.cuts()],
    }


def holding_of(case: Row) -> object:
    """Give the ids that a member of this library names of what it holds."""
    ids = witnessed(_slot(case), _looked(case), each=number(case, "each"))
    return renamed(ids, set(names_in(case)))


def backlog_of(case: Row) -> Row:
    """Give how many places of each author a member of this library names, and its blob's hash."""
    labels = {fixed_bytes(one): one for one in under(case, "held")}
    blob = chains_blob(
        fresh_cases.held_by(case),
        beacon=_id(case, "beacon"),
        members=set(map(as_bytes, as_list(plain(case["members"])))),
        admitted=set(map(as_bytes, as_list(plain(case["admitted"])))),
        most=number(case, "most"),
    )
    places = {labels[author]: len(levels) for author, levels in chains_from_blob(blob).items()}
    return {"places": dict(sorted(places.items())), "blob": blob_hash(blob).hex()}


def list_outcome(case: Row) -> Row:
    """Give this library's outcome of a case of a list."""
    slot, held = _slot(case), _looked(case)
    witnesses = [
        Witnessed(
            operator=word(one, "member").encode(),
            voice=word(one, "member").encode(),
            body=ListWitness(
                ids=tuple(sorted(map(as_bytes, as_list(plain(one["ids"]))))),
                late=one["late"] is True,
            ),
            chains=None,
        )
        for one in many(case, "witnesses")
    ]
    outcome = fresh_list(
        slot,
        witnesses,
        _quorum(case),
        held.get,
        most=number(case, "most"),
        each=number(case, "each"),
    )
    return _shown(slot, outcome, case)


def cut_outcome(case: Row) -> Row:
    """Give this library's outcome of a case of a cut."""
    slot = CutSlot(number=number(case, "number"), previous=_id(case, "previous"))
    held = {
        _id(one, "id"): Entry(
            author=_id(one, "author"),
            seq=number(one, "seq"),
            prev=cast("bytes | None", plain(one["prev"])),
            is_recovery=one["is_recovery"] is True,
            picks=cast("bytes | None", plain(one["picks"])),
        )
        for one in many(case, "records")
    }
    last = {
        as_bytes(author): Position(seq=as_int(seq), head=as_bytes(head))
        for author, seq, head in _lists(case, "last")
    }
    promised = {as_bytes(member): as_bytes(hashed) for member, hashed in _lists(case, "promised")}
    witnesses = [_witness(one) for one in many(case, "witnesses")]
    outcome = fresh_cut(slot, witnesses, _quorum(case), held.get, last=last, promised=promised)
    return _shown(slot, outcome, case)


def _witness(one: Row) -> Witnessed:
    held = {
        as_bytes(author): [list(map(as_bytes, as_list(names))) for names in as_list(levels)]
        for author, levels in _lists(one, "chains")
    }
    chains = chains_blob(held, beacon=bytes(32))
    return Witnessed(
        operator=_id(one, "operator"),
        voice=_id(one, "operator"),
        body=CutWitness(
            chains=blob_hash(chains),
            tick=one["tick"] is True,
            world=_id(one, "world"),
            secret=_id(one, "secret"),
            next_hash=_id(one, "next_hash"),
        ),
        chains=chains,
    )


def _shown(slot: Slot, outcome: Outcome, case: Row) -> Row:
    names = set(names_in(case))
    match outcome:
        case Fresh():
            content = msgspec.to_builtins(value_plain(outcome.value), builtin_types=(bytes,))
            return {
                "what": "value",
                "value": renamed(content, names),
                "digest": value_digest(slot, outcome.value).hex(),
                **(
                    {"positions": renamed(_positions(outcome), names)}
                    if isinstance(outcome.value, CutValue)
                    else {}
                ),
            }
        case Missing():
            return {"what": "missing", "missing": renamed(outcome.records, names)}
        case _:
            return {"what": "no value"}


def _positions(outcome: Fresh) -> object:
    (blob,) = outcome.parts
    return decode_plain(blob.content, what="positions")


def _quorum(case: Row) -> Quorum:
    # Neither rule looks at n: it is known by its f and q.
    return Quorum(n=number(case, "q"), f=number(case, "f"), q=number(case, "q"))


def _slot(case: Row) -> RoundSlot:
    return RoundSlot(round_id=_id(case, "round"), phase=Phase(word(case, "phase")))


def _looked(case: Row) -> dict[bytes, Looked]:
    return {
        _id(one, "id"): Looked(
            voter=_id(one, "voter"),
            seq=number(one, "seq"),
            qualifies=one["qualifies"] is True,
            reviewer=one["reviewer"] is True,
        )
        for one in many(case, "records")
    }


def _id(row: Row, name: str) -> bytes:
    return as_bytes(plain(row[name]))


def _lists(row: Row, name: str) -> list[list[object]]:
    return [as_list(one) for one in as_list(plain(row[name]))]
