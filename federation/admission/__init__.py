"""The registration puzzle: what a newcomer computes before an instance admits it (paper 2.2, 4.4).

`terms`   what an epoch asks for, how much may ever be offered, and how that adapts
`work`    the proof: its bytes, what it is bound to, its hashes
`checks`  what is wrong with a proof, cheapest first
`mint`    a search for a proof that can be shown, saved, resumed and divided

Its limit is plain: a puzzle makes a flood of registrations dear, and no set of Sybils impossible.
What bounds those is trust, quotas and liability.
"""

from federation.admission.checks import (
    Prove,
    check,
    check_claims,
    does_work,
    passes_gate,
    prove,
)
from federation.admission.mint import (
    MOST_STRIDE,
    Mint,
    Progress,
    blank_work,
    expected_gate_tries,
    expected_tries,
    read_progress,
)
from federation.admission.terms import (
    LEAST_MEMORY_KIB,
    MOST_BITS,
    MOST_GATE_BITS,
    MOST_MEMORY_KIB,
    MOST_PARTS,
    MOST_PASSES,
    InForce,
    Terms,
    asks_nothing,
    next_bits,
    terms_of,
)
from federation.admission.work import (
    MOST_BYTES,
    Solution,
    Work,
    challenge,
    offered,
    read_work,
    work_bytes,
)

__all__ = [
    "LEAST_MEMORY_KIB",
    "MOST_BITS",
    "MOST_BYTES",
    "MOST_GATE_BITS",
    "MOST_MEMORY_KIB",
    "MOST_PARTS",
    "MOST_PASSES",
    "MOST_STRIDE",
    "InForce",
    "Mint",
    "Progress",
    "Prove",
    "Solution",
    "Terms",
    "Work",
    "asks_nothing",
    "blank_work",
    "challenge",
    "check",
    "check_claims",
    "does_work",
    "expected_gate_tries",
    "expected_tries",
    "next_bits",
    "offered",
    "passes_gate",
    "prove",
    "read_progress",
    "read_work",
    "terms_of",
    "work_bytes",
]
