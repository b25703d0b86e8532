"""Records of curation that are refused before they are stored, each with its code."""

from federation.core import Code
from federation.records import Kind, Role, wire
from tests.vectors.bad_records import BadRecord, changed, plain_fields, shortened
from tests.vectors.signing import signed
from tests.vectors.vector_bodies import ROUND, fixed
from tests.vectors.vector_curation import EVIDENCE, all_bodies

NOTED = (
    Kind.RESUBMIT,
    Kind.FLAG_STALE,
    Kind.RULE,
    Kind.DISPUTE,
    Kind.REPORT,
    Kind.ASSESS,
    Kind.APPEAL,
)
KINDS = (
    Kind.HEALTH,
    Kind.REVISE,
    Kind.WITHDRAW,
    Kind.RESUBMIT,
    Kind.FLAG_STALE,
    Kind.NEAR,
    Kind.SEAL,
    Kind.RULE,
    Kind.DISPUTE,
    Kind.REPORT,
    Kind.ASSESS,
    Kind.APPEAL,
    Kind.ADMIN,
    Kind.ADOPT,
    Kind.COSIGN,
)
OPERATORS = (Kind.HEALTH, Kind.ADMIN, Kind.ADOPT, Kind.COSIGN)
INSTANCES = (Kind.NEAR,)


def bad_curation() -> list[BadRecord]:
    """Give all bad records of curation, in a fixed order."""
    return [
        *_words(),
        *_bounds(),
        *_sets(),
        *_pairs(),
        *_names(),
        *_fields(),
        *_roles(),
    ]


def _words() -> list[BadRecord]:
    """Use words that a list of words does not hold: mostly those of another list."""
    cases = (
        (Kind.HEALTH, "state", ("ill", "Broken", "")),
        (Kind.DISPUTE, "ground", ("illegal", "unclear", None)),
        (Kind.REPORT, "category", ("inaccurate", "spam", None)),
        (Kind.RULE, "ruling", ("keep", "accept", None)),
        (Kind.RULE, "ground", ("late list", "a" * 41, "")),
        (Kind.ADMIN, "decision", ("by_sign", "rerun", None)),
        (Kind.ASSESS, "credible", (1, None, "true")),
    )
    return [
        changed(f"{field} of {kind}: {value!r}", kind, **{field: value})
        for kind, field, values in cases
        for value in values
    ]


def _bounds() -> list[BadRecord]:
    """Go one step beyond each bound."""
    many = sorted(fixed(f"evidence {number}") for number in range(17))
    cases: tuple[tuple[str, Kind, str, object], ...] = (
        ("a note of 501 characters", Kind.HEALTH, "note", "n" * 501),
        ("a withdrawal with a reason of 501 characters", Kind.WITHDRAW, "reason", "r" * 501),
        ("a revision of nothing", Kind.REVISE, "revises", None),
        ("a revision without a topic", Kind.REVISE, "topics", []),
        ("a revision with claims from 2", Kind.REVISE, "claims", [[2, None]]),
        ("a revision without a text", Kind.REVISE, "text_len", 0),
        ("a resubmission without evidence", Kind.RESUBMIT, "evidence", []),
        ("a resubmission with seventeen pieces", Kind.RESUBMIT, "evidence", many),
        ("a stale flag without evidence", Kind.FLAG_STALE, "evidence", []),
        ("a stale flag with seventeen pieces", Kind.FLAG_STALE, "evidence", many),
        ("a finding of less than nothing", Kind.NEAR, "likeness", -1),
        ("a finding of more than all", Kind.NEAR, "likeness", 1_000_001),
        ("a finding that an artifact repeats itself", Kind.NEAR, "of", fixed("artifact")),
        ("a dispute with seventeen pieces", Kind.DISPUTE, "evidence", many),
        ("a dispute of claim 0", Kind.DISPUTE, "claim", 0),
        ("a dispute of claim 17", Kind.DISPUTE, "claim", 17),
        ("a dispute of claim true", Kind.DISPUTE, "claim", True),
        ("a sealed argument of 39 bytes", Kind.SEAL, "sealed", bytes(39)),
        ("a sealed argument of 24,577 bytes", Kind.SEAL, "sealed", bytes(24_577)),
        ("a seal without a commitment", Kind.SEAL, "commitment", None),
        ("an assessment of no report", Kind.ASSESS, "report", None),
        ("an appeal from a sanction of 31 bytes", Kind.APPEAL, "sanction", bytes(31)),
        ("an operator's word without a reason", Kind.ADMIN, "reason", ""),
        ("an operator's word of 501 characters", Kind.ADMIN, "reason", "r" * 501),
        ("charter 0", Kind.ADOPT, "number", 0),
        ("charter 1,000,001", Kind.ADOPT, "number", 1_000_001),
        ("a charter on no other", Kind.ADOPT, "base", None),
        ("rules of 32,769 bytes", Kind.ADOPT, "rules", bytes(32_769)),
        ("rules as a map", Kind.ADOPT, "rules", {}),
        ("a charter before the first tick", Kind.ADOPT, "from_tick", -1),
        ("a charter above tick 2^62", Kind.ADOPT, "from_tick", 2**62 + 1),
    )
    return [changed(name, kind, **{field: value}) for name, kind, field, value in cases]


def _sets() -> list[BadRecord]:
    """Spell sets out of order and with an item twice."""
    low, high = EVIDENCE
    topics = "science", "science/water"
    rows = (
        (Kind.REVISE, "topics", *topics),
        (Kind.REVISE, "cites", low, high),
        (Kind.REVISE, "sources", low, high),
        (Kind.RESUBMIT, "evidence", low, high),
        (Kind.FLAG_STALE, "evidence", low, high),
        (Kind.DISPUTE, "evidence", low, high),
    )
    return [
        changed(f"{field} of {kind} {why}", kind, **{field: items})
        for kind, field, first, second in rows
        for why, items in (("out of order", [second, first]), ("twice", [first, first]))
    ]


def _pairs() -> list[BadRecord]:
    """Name one of two fields that stand together."""
    return [
        *(changed(f"a text of {kind} without a hash", kind, text_hash=None) for kind in NOTED),
        *(
            changed(f"a text of {kind} without a length", kind, text_len=0)
            for kind in (Kind.REVISE, *NOTED)
        ),
        changed("an operator's word with a round and no phase", Kind.ADMIN, after=None),
        changed("an operator's word with a phase and no round", Kind.ADMIN, round=None),
        *(
            changed(f"{kind} without {field}", kind, **{field: None})
            for kind in (Kind.SEAL, Kind.RULE, Kind.ASSESS)
            for field in ("round", "after")
        ),
    ]


def _names() -> list[BadRecord]:
    """Name nothing, or something too short, where an id stands; and open a seal with no nonce."""
    rows = (
        (Kind.HEALTH, "agent"),
        (Kind.WITHDRAW, "artifact"),
        (Kind.RESUBMIT, "artifact"),
        (Kind.FLAG_STALE, "artifact"),
        (Kind.NEAR, "artifact"),
        (Kind.NEAR, "of"),
        (Kind.DISPUTE, "artifact"),
        (Kind.REPORT, "artifact"),
        (Kind.ADMIN, "subject"),
        (Kind.COSIGN, "act"),
    )
    return [
        *(
            changed(f"{field} of {kind} {why}", kind, **{field: value})
            for kind, field in rows
            for why, value in (("missing", None), ("of 31 bytes", bytes(31)))
        ),
        changed("an argument with a nonce of 31 bytes", Kind.ARGUE, nonce=bytes(31)),
        changed("an argument with an empty nonce", Kind.ARGUE, nonce=b""),
    ]


def _fields() -> list[BadRecord]:
    """Leave a field out, and add one that belongs to another kind."""
    fewer = []
    for kind in KINDS:
        first = min(plain_fields(kind))
        fewer.append(shortened(f"{kind} without the field {first}", kind, first))
    return [
        *fewer,
        changed("a proposal that revises", Kind.PROPOSE, revises=fixed("artifact")),
        changed("a dispute in a round", Kind.DISPUTE, round=ROUND, after=ROUND),
        changed("a withdrawal with evidence", Kind.WITHDRAW, evidence=[]),
        changed("a cosign with a reason", Kind.COSIGN, reason="so say I"),
    ]


def _roles() -> list[BadRecord]:
    """Let every kind be said by those who must not say it."""
    return [
        BadRecord(
            name=f"{kind} by an {role}",
            code=Code.WRONG_ROLE,
            raw=wire(signed(*all_bodies()[kind])),
            role=role,
        )
        for kind in KINDS
        for role in (
            Role.AGENT if kind in OPERATORS + INSTANCES else Role.OPERATOR,
            Role.OPERATOR if kind in INSTANCES else Role.INSTANCE,
        )
    ]
