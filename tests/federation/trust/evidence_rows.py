"""Rows of evidence, as tests of the ledger write them: everything has a default but the tick."""

from federation.trust import Evidence, EvidenceKind

ANN, BEN = b"a" * 32, b"b" * 32


def says(
    tick: int,
    positive: int = 0,
    negative: int = 0,
    *,
    cause: int = 0,
    source: int = 1,
    subject: bytes = ANN,
    kind: EvidenceKind = EvidenceKind.VOTE,
    topic: str = "",
) -> Evidence:
    """Make a row; `cause` and `source` are numbers that stand for ids."""
    return Evidence(
        tick=tick,
        cause=bytes([cause]) * 32,
        kind=kind,
        subject=subject,
        source=bytes([source]) * 32,
        positive=positive,
        negative=negative,
        practice=False,
        topic=topic,
    )
