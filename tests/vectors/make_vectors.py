"""Write the golden vectors: `python -m tests.vectors.make_vectors`.

Everything comes from fixed names, so a second run writes the same bytes; a test compares. What is
written here is this library's reading; the second readers must agree with every line of it.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from federation.codec import encode, find_fault
from federation.core import Realm, Seed
from federation.crypto import (
    Choice,
    KeySigner,
    ballot_key,
    commitment,
    is_signed_by,
    public_key,
)
from federation.records import Kind, Record, Revoke, bind_text, cid, did_key, text_id, wire
from tests.vectors import (
    argument_vectors,
    key_log_vectors,
    make_agreement_vectors,
    odd_signatures,
)
from tests.vectors.bad_curation import bad_curation
from tests.vectors.bad_records import bad_records
from tests.vectors.second_reader import openssl_accepts
from tests.vectors.signing import signed
from tests.vectors.spellings import NON_CANONICAL, VALUES
from tests.vectors.vector_bodies import (
    ARTIFACT,
    BALLOT,
    NOTE,
    OTHER_REALM,
    REALM,
    ROUND,
    VOTER,
    fixed,
    full_bodies,
)
from tests.vectors.vector_curation import all_bodies

HERE: Final = Path(__file__).parent
Json = Mapping[str, object]


def canonical_vectors() -> Json:
    """Values with their bytes, and bytes that are no spelling of any value."""
    return {
        "values": [{"value": tagged(value), "bytes": encode(value).hex()} for value in VALUES],
        "non_canonical": [
            {"name": name, "bytes": raw.hex(), "fault": find_fault(raw)}
            for name, raw in NON_CANONICAL.items()
        ],
    }


def record_vectors() -> Json:
    """One full record of every kind, and records that are refused."""
    good = [_described(record) for record in all_kinds()]
    bad = [
        {
            "name": one.name,
            "code": one.code,
            "wire": one.raw.hex(),
            "key": one.key.hex(),
            "role": one.role,
        }
        for one in (*bad_records(), *bad_curation())
    ]
    return {"realm": REALM.hex(), "valid": good, "invalid": bad}


def all_kinds() -> list[Record]:
    """Sign a full body of every kind."""
    return [
        signed(body, text, first=kind is Kind.INCEPT) for kind, (body, text) in all_bodies().items()
    ]


def commitment_vectors() -> Json:
    """Ballots, their commitments, and the sealed copy under a fixed salt."""
    others: dict[str, dict[str, object]] = {
        "another voter": {"voter": fixed("another voter")},
        "another round": {"round_id": fixed("another round")},
        "another realm": {"realm": OTHER_REALM},
        "another nonce": {"nonce": fixed("another nonce")},
        "another choice": {"ballot": msgspec.structs.replace(BALLOT, choice=Choice.FOR)},
    }
    ballots = [
        BALLOT,
        msgspec.structs.replace(BALLOT, choice=Choice.ABSTAIN, evidence=(), arguments=()),
    ]
    signer = KeySigner(fixed("seed"))
    salt = fixed("salt")[:24]
    return {
        "realm": REALM.hex(),
        "round": ROUND.hex(),
        "voter": VOTER.hex(),
        "nonce": fixed("nonce").hex(),
        "ballots": [
            {
                "ballot": encode(ballot).hex(),
                "commitment": commitment(
                    realm=REALM,
                    round_id=ROUND,
                    voter=VOTER,
                    ballot=ballot,
                    nonce=fixed("nonce"),
                ).hex(),
            }
            for ballot in ballots
        ],
        "does_not_open_the_first": [
            {
                "name": name,
                **{field: _shown(value) for field, value in change.items()},
            }
            for name, change in others.items()
        ],
        "sealed": {
            "seed": fixed("seed").hex(),
            "ballot_key": ballot_key(fixed("seed"), REALM, ROUND).hex(),
            "salt": salt.hex(),
            "sealed": signer.seal(REALM, ROUND, BALLOT, nonce=fixed("nonce"), salt=salt).hex(),
        },
        "beacon_secrets": [
            {"cut": cut, "secret": signer.secret(REALM, cut).hex()} for cut in (0, 1, 2**40)
        ],
    }


def identity_vectors() -> Json:
    """Show a key log, what may and may not come next in it, and proofs that it forked."""
    return {
        "realm": REALM.hex(),
        "log": [
            {
                "step": step.name,
                "wire": wire(step.record).hex(),
                "id": step.record.id.hex(),
                "key_index": step.record.statement.key_index,
                "signed_by": step.key.hex(),
                "revoked": isinstance(step.record.body, Revoke),
            }
            for step in key_log_vectors.log()
        ],
        "next": [
            {
                "name": branch.name,
                "after": branch.after,
                "wire": wire(branch.record).hex(),
                "code": branch.code,
            }
            for branch in key_log_vectors.branches()
        ],
        "forks": [
            {
                "name": proof.name,
                "after": proof.after,
                "body": encode(proof.body).hex(),
                "code": proof.code,
            }
            for proof in key_log_vectors.fork_proofs()
        ],
    }


def text_vectors() -> Json:
    """Prose: its bytes, hash, length and id; and texts that are ignored or unreadable."""
    artifact, _, _ = bind_text(ARTIFACT, fixed("salt")[:16])
    note, _, _ = bind_text(NOTE, fixed("salt")[:16])
    body, text = full_bodies()[Kind.PROPOSE]
    assert text is not None
    other, _, _ = bind_text(ARTIFACT, fixed("another salt")[:16])
    longer = msgspec.structs.replace(body, text_len=len(text) + 1)
    whole = signed(body, text)
    carried = {
        "kept": (whole, text),
        "dropped": (whole, None),
        "one bit changed": (whole, text[:-1] + bytes([text[-1] ^ 1])),
        "cut short": (whole, text[:-1]),
        "empty": (whole, b""),
        "of another salt": (whole, other),
        "of another length than the body says": (signed(longer, None), text),
    }
    return {
        "realm": REALM.hex(),
        "texts": [
            {
                "kind": kind,
                "salt": fixed("salt")[:16].hex(),
                "content": tagged(msgspec.to_builtins(content, builtin_types=(bytes,))),
                "bytes": raw.hex(),
                "hash": bind_text(content, fixed("salt")[:16])[1].hex(),
                "length": len(raw),
                **({"text_id": text_id(content).hex()} if content is ARTIFACT else {}),
            }
            for kind, content, raw in (("artifact", ARTIFACT, artifact), ("note", NOTE, note))
        ],
        "carried": [
            {
                "name": name,
                "wire": encode(
                    [record.statement_raw, record.body_raw, carries, record.signature]
                ).hex(),
                "id": record.id.hex(),
                "kept": name == "kept",
            }
            for name, (record, carries) in carried.items()
        ],
        "unreadable": [
            {"name": "a note is not an artifact's text", "kind": "artifact", "bytes": note.hex()},
            {"name": "a salt of 15 bytes", "kind": "note", "bytes": _note(b"s" * 15, "n").hex()},
            {"name": "a NUL character", "kind": "note", "bytes": _note(b"s" * 16, "a\0b").hex()},
            {"name": "not in form NFC", "kind": "note", "bytes": _note(b"s" * 16, "e\u0301").hex()},
            {
                "name": "above 16 KiB",
                "kind": "note",
                "bytes": _note(b"s" * 16, "水" * 6_000).hex(),
            },
        ],
    }


def signature_vectors() -> Json:
    """Ed25519 at its edges: libsodium decides, and it is noted where OpenSSL does not agree."""
    return {
        "cases": [
            {
                "name": one.name,
                "key": one.key.hex(),
                "message": one.message.hex(),
                "signature": one.signature.hex(),
                "accepted": is_signed_by(one.key, one.message, one.signature),
                "openssl": openssl_accepts(one.key, one.message, one.signature),
            }
            for one in odd_signatures.cases()
        ]
    }


FILES: Final[Mapping[str, Callable[[], Json]]] = {
    "arguments.json": argument_vectors.vectors,
    "canonical.json": canonical_vectors,
    "commitments.json": commitment_vectors,
    "identities.json": identity_vectors,
    "records.json": record_vectors,
    "signatures.json": signature_vectors,
    "texts.json": text_vectors,
    **make_agreement_vectors.FILES,
}


def tagged(value: object) -> object:
    """Write a plain value as JSON; byte strings become {"hex": …}, maps {"map": {…}}."""
    match value:
        case bytes():
            return {"hex": value.hex()}
        case dict():
            return {"map": {key: tagged(item) for key, item in value.items()}}
        case list() | tuple():
            return [tagged(item) for item in value]
        case _:
            return value


def render(name: str) -> str:
    """Give the text of one vector file."""
    return json.dumps(FILES[name](), indent=1, ensure_ascii=True) + "\n"


def main() -> None:
    """Write all files beside this one."""
    for name in FILES:
        (HERE / name).write_text(render(name), encoding="ascii")


def _described(record: Record, *, realm: Realm = REALM, seed: Seed | None = None) -> Json:
    key = public_key(seed or fixed("seed"))
    return {
        "kind": record.kind,
        "wire": wire(record).hex(),
        "id": record.id.hex(),
        "cid": cid(record),
        "author": record.author.hex(),
        "key": key.hex(),
        "did_key": did_key(key),
        "text": None if record.text_raw is None else record.text_raw.hex(),
        "realm": realm.hex(),
    }


def _shown(value: object) -> str:
    return (value if isinstance(value, bytes) else encode(value)).hex()


def _note(salt: bytes, words: str) -> bytes:
    return encode([salt, {"note": words}])


if __name__ == "__main__":
    main()
