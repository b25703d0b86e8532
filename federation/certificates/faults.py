"""Rule 7: which two messages prove that their author lies.

A proof must never name an honest member, whatever it went through (crash, restart, slow disk). So
it uses only what an honest member excludes durably before it sends: one witness per slot, one
proposal, cosign and seal per fence, and, by the running counter, nothing below a fence after the
promise of it. A low fence under a lower counter was simply signed earlier.
"""

from federation.certificates.messages import (
    Cosign,
    CutWitness,
    Fenced,
    Heard,
    ListWitness,
    Promise,
    Propose,
    Seal,
)


def contradiction(a: Heard, b: Heard) -> str | None:
    """Tell why no honest member signs both messages, or None if one may.

    Both were heard in the same pinned slot. The order of the arguments does not matter.
    """
    if a.header.voice != b.header.voice or a.header.slot != b.header.slot or a.body == b.body:
        return None
    match a.body, b.body:
        case (ListWitness() | CutWitness(), ListWitness() | CutWitness()):
            return "two different witnesses in one slot"
        case (Propose(fence=x), Propose(fence=y)) if x == y:
            return f"two different proposals at fence {x}"
        case (Cosign(fence=x), Cosign(fence=y)) if x == y:
            return f"two different cosigns at fence {x}"
        case (Seal(fence=x), Seal(fence=y)) if x == y:
            return f"two different seals at fence {x}"
        case _:
            return _broken_promise(a, b) or _broken_promise(b, a)


def _broken_promise(promise: Heard, later: Heard) -> str | None:
    if not isinstance(promise.body, Promise) or not isinstance(later.body, Fenced):
        return None
    if later.header.counter <= promise.header.counter or later.body.fence >= promise.body.fence:
        return None
    return f"a {later.header.step} at fence {later.body.fence} after promising {promise.body.fence}"
