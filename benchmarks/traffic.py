"""Records as a busy node receives them: many authors, their chains, the mix of kinds of a moot.

Everything is derived from one seed, so that two runs take in the same bytes. The authors are
founders of the realm: admitted agents, whose chains have no bound.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Final

from federation.codec import as_set
from federation.core import Digest, PublicKey, RecordId, Signature
from federation.crypto import (
    Ballot,
    Basis,
    Choice,
    KeySigner,
    Reason,
    commitment,
    keyed_hash,
    plain_hash,
)
from federation.protocol import FounderSpec, Founding, FoundingSpec, Keys, found, incept
from federation.records import (
    Argue,
    ArtifactText,
    Body,
    Claim,
    Commit,
    Kind,
    Level,
    Note,
    ObjectTo,
    Propose,
    Reveal,
    Role,
    Stance,
    bind_text,
    sign_record,
    signing_payload,
    text_id,
    wire,
)

INSTANCES: Final = 4
STRANGERS: Final = 512
MIX: Final = (
    Kind.COMMIT,
    Kind.REVEAL,
    Kind.ARGUE,
    Kind.COMMIT,
    Kind.REVEAL,
    Kind.ARGUE,
    Kind.COMMIT,
    Kind.REVEAL,
    Kind.COMMIT,
    Kind.REVEAL,
    Kind.OBJECT,
    Kind.COMMIT,
    Kind.REVEAL,
    Kind.ARGUE,
    Kind.COMMIT,
    Kind.REVEAL,
    Kind.PROPOSE,
    Kind.COMMIT,
    Kind.REVEAL,
    Kind.ARGUE,
)
"""What an author says, over and over: of 20 records 14 are sealed and opened votes."""

_NOTE: Final = "The third source is a copy of the first; the figure stands on one measurement. " * 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Records to take in, and the realm that they belong to."""

    founding: Founding
    signer: KeySigner
    """Of the first instance."""
    wires: tuple[bytes, ...]
    """Round robin over the authors, so that each comes after its predecessor."""
    checks: tuple[tuple[PublicKey, bytes, Signature], ...]
    """Key, payload and signature of each."""
    strangers: tuple[bytes, ...]
    """Inceptions of identities that nobody admits: something to warm up with."""


def make(records: int, *, authors: int = 200, seed: bytes = b"traffic") -> Traffic:
    """Found a realm of `authors` agents and sign `records` records of theirs."""
    founding = found(
        FoundingSpec(
            name="traffic",
            salt=plain_hash(seed),
            preset="test",
            operators=[(f"operator {i}", _keys(seed, "operator", i)) for i in range(INSTANCES)],
            instances=[(f"instance {i}", _keys(seed, "instance", i), i) for i in range(INSTANCES)],
            founders=[
                FounderSpec(
                    name=f"agent {i}",
                    keys=_keys(seed, "agent", i),
                    operator=i % INSTANCES,
                    instance=i % INSTANCES,
                )
                for i in range(authors)
            ],
        )
    )
    pens = [_Pen(founding, index, seed) for index in range(authors)]
    said = list(islice((pen.say() for pen in cycle(pens)), records))
    return Traffic(
        founding=founding,
        signer=KeySigner(_keys(seed, "instance", 0).current),
        wires=tuple(raw for raw, _ in said),
        checks=tuple(check for _, check in said),
        strangers=tuple(
            wire(incept(founding.realm, "stranger", Role.AGENT, _keys(seed, "stranger", i)))
            for i in range(STRANGERS)
        ),
    )


class _Pen:
    """One author and the end of its chain."""

    def __init__(self, founding: Founding, index: int, seed: bytes) -> None:
        self._realm = founding.realm
        self._author = founding.agents[index]
        self._signer = KeySigner(_keys(seed, "agent", index).current)
        self._seq = 0
        self._head: RecordId = self._author
        self._kinds: Iterator[Kind] = islice(cycle(MIX), index % len(MIX), None)

    def say(self) -> tuple[bytes, tuple[PublicKey, bytes, Signature]]:
        """Sign the next record; give its bytes, and what its signature is checked with."""
        self._seq += 1
        body, text = self._body(next(self._kinds))
        record = sign_record(
            body,
            realm=self._realm,
            signer=self._signer,
            author=self._author,
            key_index=0,
            seq=self._seq,
            prev=self._head,
            at=1_700_000_000_000 + self._seq,
            text=text,
        )
        self._head = record.id
        return wire(record), (self._signer.public, signing_payload(record.id), record.signature)

    def _bytes(self, name: str) -> Digest:
        return keyed_hash(self._author, f"{name}/{self._seq}".encode())

    def _body(self, kind: Kind) -> tuple[Body, bytes | None]:
        # Rounds hold the records of many authors, as in a moot; none of them is open here.
        round_id = plain_hash(b"round/%d" % (self._seq // len(MIX)))
        after, salt = plain_hash(b"after" + round_id), self._bytes("salt")[:16]
        ballot = Ballot(
            choice=Choice.FOR,
            reason=Reason.WELL_SOURCED,
            basis=Basis.TOOL,
            evidence=as_set([self._bytes("evidence"), self._bytes("more evidence")]),
        )
        nonce = self._bytes("nonce")
        match kind:
            case Kind.COMMIT:
                sealed = self._signer.seal(
                    self._realm, round_id, ballot, nonce=nonce, salt=self._bytes("seal")[:24]
                )
                committed = commitment(
                    realm=self._realm,
                    round_id=round_id,
                    voter=self._author,
                    ballot=ballot,
                    nonce=nonce,
                )
                return Commit(
                    round=round_id, after=after, commitment=committed, sealed=sealed
                ), None
            case Kind.REVEAL:
                return Reveal(round=round_id, after=after, ballot=ballot, nonce=nonce), None
            case Kind.ARGUE:
                text, text_hash, text_len = bind_text(Note(note=_NOTE), salt)
                return Argue(
                    round=round_id,
                    after=after,
                    stance=Stance.AGAINST,
                    level=Level.CONTENT,
                    claim=1,
                    evidence=as_set([self._bytes("evidence")]),
                    text_hash=text_hash,
                    text_len=text_len,
                ), text
            case Kind.OBJECT:
                text, text_hash, text_len = bind_text(Note(note=_NOTE), salt)
                return ObjectTo(
                    round=round_id,
                    after=after,
                    reason=Reason.UNSOURCED,
                    text_hash=text_hash,
                    text_len=text_len,
                ), text
            case _:
                return self._proposal(salt)

    def _proposal(self, salt: bytes) -> tuple[Body, bytes]:
        content = ArtifactText(
            title=f"What agent {self._author[:4].hex()} found, number {self._seq}",
            prose=_NOTE * 3,
            claims=(_NOTE,),
            falsification=(_NOTE,),
            sources=("a handbook",),
        )
        text, text_hash, text_len = bind_text(content, salt)
        body = Propose(
            topics=("code",),
            claims=(Claim(1),),
            cites=(),
            sources=(self._bytes("source"),),
            text_hash=text_hash,
            text_len=text_len,
            text_id=text_id(content),
            lang="en",
        )
        return body, text


def _keys(seed: bytes, role: str, index: int) -> Keys:
    return Keys.derived(seed + f"/{role}/{index}".encode())
