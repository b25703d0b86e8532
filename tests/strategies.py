"""Hypothesis strategies: one per kind of body, for statements, records, plain values and damage.

`BODIES[kind]`   valid bodies of a kind, every optional field drawn
`records()`      signed records of every kind, with prose where the kind has it
`plain_values()` values that have a canonical form, without a schema
`spellings()`    msgpack bytes of such values, some canonical and most not
`damaged(raw)`   `raw` after one accident: a bit, a byte, a cut, a move
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from federation.core import NOBODY
from federation.crypto import SEALED_BYTES, Ballot, Basis, Choice, KeySigner, Reason
from federation.records import (
    HEAD_ROWS,
    KINDS,
    AgentAdmit,
    AgentDeclare,
    AgentSubscribe,
    AgentUnvouch,
    AgentVouch,
    Argue,
    ArtifactText,
    Body,
    CertificateFinal,
    Commit,
    Contest,
    Custody,
    Delegate,
    Incept,
    Kind,
    Level,
    LogFault,
    LogFork,
    Note,
    ObjectTo,
    OperatorAdmit,
    Propose,
    Record,
    Reveal,
    Revoke,
    RevokeBy,
    Role,
    Rotate,
    RotateBy,
    Seal,
    SignedMessage,
    SignedStatement,
    Stance,
    Statement,
    TrustHead,
    TrustRow,
    bind_text,
    sign_record,
    trust_head_root,
)
from federation.records.statement import INTEGER_LIMIT
from tests import curation_strategies
from tests.builders import REALM, named
from tests.field_strategies import (
    REVIEW,
    binaries,
    claims,
    counts,
    digests,
    domains,
    evidence,
    kind_names,
    languages,
    lengths,
    months,
    names,
    noted,
    proofs,
    sets,
    several,
    signatures,
    tags,
    texts,
    topics,
    vouch_weights,
    words,
)

__all__ = [
    "BODIES",
    "artifact_texts",
    "ballots",
    "binaries",
    "bodies",
    "damaged",
    "digests",
    "notes",
    "plain_values",
    "records",
    "sets",
    "spellings",
    "statements",
    "texts",
    "trust_heads",
]

ballots: Final = st.builds(
    Ballot,
    choice=st.sampled_from(Choice),
    reason=st.sampled_from(Reason),
    basis=st.sampled_from(Basis),
    evidence=sets(digests, 4),
    arguments=sets(digests, 4),
)
artifact_texts: Final = st.builds(
    ArtifactText,
    title=texts(300),
    prose=texts(12_000),
    claims=several(texts(2_000), 16),
    falsification=several(texts(2_000), 16),
    sources=several(texts(2_000), 16),
)
notes: Final = st.builds(Note, note=texts(12_000))

_SIGNED_STATEMENT: Final = st.builds(
    SignedStatement, st.binary(max_size=200), signatures, st.none() | digests
)
_SIGNED_MESSAGE: Final = st.builds(SignedMessage, st.binary(max_size=200), signatures)


@st.composite
def trust_heads(draw: st.DrawFn) -> TrustHead:
    """Draw heads of a few rows or the longest allowed, with the root that is theirs."""
    top = tuple(
        TrustRow(draw(digests), agent, draw(vouch_weights))
        for agent in draw(sets(digests, HEAD_ROWS))
    )
    return TrustHead(cut=draw(counts), root=trust_head_root(top), top=top, digest=draw(digests))


BODIES: Final[Mapping[Kind, SearchStrategy[Body]]] = {
    Kind.INCEPT: st.builds(
        Incept,
        role=st.sampled_from(Role),
        key=digests,
        next=digests,
        recovery=digests,
        name=names,
    ),
    Kind.ROTATE: st.builds(
        Rotate,
        key=digests,
        next=digests,
        recovery=digests,
        by=st.sampled_from(RotateBy),
        reason=words,
        disown_after=st.none() | counts,
        picks=st.none() | digests,
    ),
    Kind.REVOKE: st.builds(
        Revoke, by=st.sampled_from(RevokeBy), key=st.none() | digests, reason=words
    ),
    Kind.DELEGATE: st.builds(
        Delegate, agent=digests, scope=sets(kind_names, 64), until=st.none() | counts
    ),
    Kind.OPERATOR_ADMIT: st.builds(
        OperatorAdmit, operator=digests, proof=proofs, domain=st.none() | domains
    ),
    Kind.AGENT_ADMIT: st.builds(
        AgentAdmit,
        agent=digests,
        operator=digests,
        delegate=digests,
        custody=st.sampled_from(Custody),
        proof=proofs,
    ),
    Kind.AGENT_DECLARE: st.builds(
        AgentDeclare,
        family=names,
        provider=names,
        model=names,
        weights=st.none() | digests,
        cutoff=st.none() | months,
        prompt_family=st.none() | names,
    ),
    Kind.AGENT_SUBSCRIBE: st.builds(
        AgentSubscribe, topics=sets(topics, 32), keywords=sets(names, 32), on=st.booleans()
    ),
    Kind.AGENT_VOUCH: st.builds(AgentVouch, agent=digests, weight=vouch_weights, reason=words),
    Kind.AGENT_UNVOUCH: st.builds(AgentUnvouch, agent=digests, reason=words),
    Kind.PROPOSE: st.builds(
        Propose,
        topics=sets(topics, 4, least=1),
        claims=claims,
        cites=sets(digests, 64),
        sources=sets(digests, 16),
        text_hash=digests,
        text_len=lengths,
        text_id=digests,
        lang=languages,
    ),
    Kind.OBJECT: noted(ObjectTo, **REVIEW, reason=st.sampled_from(Reason)),
    Kind.ARGUE: noted(
        Argue,
        **REVIEW,
        stance=st.sampled_from(Stance),
        level=st.sampled_from(Level),
        claim=st.none() | st.integers(1, 16),
        evidence=evidence,
        replies_to=st.none() | digests,
        nonce=st.none() | digests,
    ),
    Kind.COMMIT: st.builds(Commit, **REVIEW, commitment=digests, sealed=binaries(SEALED_BYTES)),
    Kind.REVEAL: st.builds(Reveal, **REVIEW, ballot=ballots, nonce=digests),
    Kind.CONTEST: noted(Contest, **REVIEW, ground=tags),
    Kind.CERTIFICATE: st.builds(
        CertificateFinal,
        slot=st.binary(max_size=128),
        value=st.binary(max_size=400),
        fence=st.integers(0, 2**63 - 1),
        seals=several(st.builds(Seal, digests, counts, signatures), 256),
    ),
    Kind.TRUST_HEAD: trust_heads(),
    Kind.LOG_FORK: st.builds(LogFork, author=digests, a=_SIGNED_STATEMENT, b=_SIGNED_STATEMENT),
    Kind.LOG_FAULT: st.builds(LogFault, a=_SIGNED_MESSAGE, b=_SIGNED_MESSAGE),
    **curation_strategies.BODIES,
}

bodies: Final = st.sampled_from(list(Kind)).flatmap(lambda kind: BODIES[kind])

statements: Final = st.builds(
    Statement,
    st.just(1),
    kind_names,
    digests,
    counts,
    counts,
    st.none() | digests,
    counts,
    counts,
    digests,
)


@st.composite
def records(draw: st.DrawFn, kinds: Sequence[Kind] = tuple(Kind)) -> Record:
    """Draw a record of one of `kinds`, signed under `REALM` by `named("key")`."""
    kind = draw(st.sampled_from(kinds))
    body = draw(BODIES[kind])
    text: bytes | None = None
    if getattr(body, "text_hash", None) is not None:
        salt = draw(binaries(16))
        if KINDS[kind].text is ArtifactText:
            text, text_hash, text_len = bind_text(draw(artifact_texts), salt)
        else:
            text, text_hash, text_len = bind_text(draw(notes), salt)
        body = msgspec.structs.replace(body, text_hash=text_hash, text_len=text_len)
    first = kind is Kind.INCEPT
    return sign_record(
        body,
        realm=REALM,
        signer=KeySigner(named("key")),
        author=NOBODY if first else draw(digests.filter(lambda name: name != NOBODY)),
        key_index=0 if first else draw(counts),
        seq=0 if first else draw(st.integers(1, INTEGER_LIMIT)),
        prev=None if first else draw(digests),
        at=draw(counts),
        text=text,
    )


# Plain values and their spellings.

integers: Final = (
    st.integers(-(2**63), 2**64 - 1)
    | st.integers(-40, 300)
    | st.sampled_from(
        [
            sign * 2**power + step
            for power in (7, 8, 15, 16, 31, 32)
            for step in (-1, 0, 1)
            for sign in (1, -1)
        ]
    )
)
scalars: Final = (
    st.none() | st.booleans() | integers | texts(40) | st.binary(max_size=40) | st.just(b"x" * 300)
)


def plain_values(depth: int = 4) -> SearchStrategy[object]:
    """Values with a canonical form, with at most `depth` maps and lists around a scalar."""
    if depth == 0:
        return scalars
    inner = st.deferred(lambda: plain_values(depth - 1))
    return scalars | st.lists(inner, max_size=4) | st.dictionaries(texts(12), inner, max_size=4)


@st.composite
def spellings(draw: st.DrawFn, *, tidy: bool = False) -> bytes:
    """Draw msgpack bytes of a plain value; unless `tidy`, headers and key order are arbitrary."""
    return b"".join(_spell(draw, draw(plain_values()), tidy=tidy))


def _spell(draw: st.DrawFn, value: object, *, tidy: bool) -> list[bytes]:
    def width(fitting: list[bytes]) -> bytes:
        return fitting[0] if tidy or draw(st.integers(0, 9)) else draw(st.sampled_from(fitting))

    match value:
        case None:
            return [b"\xc0"]
        case bool():
            return [b"\xc3" if value else b"\xc2"]
        case int():
            return [width(_integers(value))]
        case str():
            body = value.encode()
            return [width(_lengths(len(body), 0xA0, 31, (0xD9, 0xDA, 0xDB))), body]
        case bytes():
            return [width(_lengths(len(value), 0, -1, (0xC4, 0xC5, 0xC6))), value]
        case list():
            parts = [width(_lengths(len(value), 0x90, 15, (None, 0xDC, 0xDD)))]
            return parts + [part for item in value for part in _spell(draw, item, tidy=tidy)]
        case dict():
            keys = sorted(value, key=str.encode)
            if not tidy and not draw(st.integers(0, 4)):
                keys = draw(st.permutations(keys))
                keys += keys[:1] * draw(st.integers(0, 1))
            parts = [width(_lengths(len(keys), 0x80, 15, (None, 0xDE, 0xDF)))]
            for key in keys:
                parts += _spell(draw, key, tidy=tidy) + _spell(draw, value[key], tidy=tidy)
            return parts
        case _:
            raise AssertionError(value)


def _integers(value: int) -> list[bytes]:
    """Every msgpack spelling of an integer, shortest first; signed forms of naturals come last."""
    fitting = [struct.pack(">b", value)] if -32 <= value < 128 else []
    heads = ((0xCC, ">B"), (0xCD, ">H"), (0xCE, ">I"), (0xCF, ">Q"))
    signed = ((0xD0, ">b"), (0xD1, ">h"), (0xD2, ">i"), (0xD3, ">q"))
    for head, form in (*heads, *signed) if value >= 0 else signed:
        try:
            fitting.append(bytes([head]) + struct.pack(form, value))
        except struct.error:
            continue
    return fitting


def _lengths(size: int, fix: int, most: int, heads: tuple[int | None, ...]) -> list[bytes]:
    """Every msgpack header of a length, shortest first."""
    fitting = [bytes([fix + size])] if size <= most else []
    for width, head in zip((1, 2, 4), heads, strict=True):
        if head is not None and size < 1 << (8 * width):
            fitting.append(bytes([head]) + size.to_bytes(width, "big"))
    return fitting


@st.composite
def damaged(draw: st.DrawFn, raw: bytes) -> bytes:
    """Draw what is left of `raw` after one accident; always other bytes than `raw`."""
    at = draw(st.integers(0, len(raw) - 1))
    match draw(st.sampled_from(["flip", "set", "insert", "delete", "cut", "append", "move"])):
        case "flip":
            other = raw[:at] + bytes([raw[at] ^ 1 << draw(st.integers(0, 7))]) + raw[at + 1 :]
        case "set":
            other = raw[:at] + draw(binaries(1)) + raw[at + 1 :]
        case "insert":
            other = raw[:at] + draw(st.binary(min_size=1, max_size=4)) + raw[at:]
        case "delete":
            other = raw[:at] + raw[at + draw(st.integers(1, 40)) :]
        case "cut":
            other = raw[:at]
        case "append":
            other = raw + draw(st.binary(min_size=1, max_size=4))
        case _:
            end = draw(st.integers(at, len(raw)))
            other = raw[end:] + raw[at:end] + raw[:at]
    return other if other != raw else raw + b"\0"
