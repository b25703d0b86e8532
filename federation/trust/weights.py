"""Voting weight before caps: competence scaled by trust, or the paper's blend (§2.3).

The charter chooses (`trust.voting`). `ticketed`: without a ticket, which is trust of at least τ,
the weight is 0; this departs from the paper's w_min > 0 for all, because whoever can invent
identities could otherwise invent weight. With it no weight is above w_max·t/t_ref, on which the
Sybil bound rests. `blend` is the paper's rule, to reproduce its numbers: everybody weighs at least
w_min, so it bounds no Sybils. Trust comes from the last tick, and so does the rest.
"""

from federation.charter import Trust
from federation.core import MILLION, Ppm, Weight
from federation.trust.eigentrust import in_seats, ticket_price


def has_ticket(trust: Trust, t: int) -> bool:
    """Tell whether trust of `t` (of M) is a ticket: at least τ, and not nothing."""
    return t > 0 and t >= ticket_price(trust)


def weight(trust: Trust, *, t: int, competence: Ppm, r: Ppm) -> Weight:
    """Weigh an agent by its trust `t` (of M), its competence b and its reputation r.

    `ticketed` ignores r, `blend` ignores b: the two are never mixed.
    """
    seats = in_seats(trust, t)
    if trust.voting == "blend":
        return blended(trust, r=r, seats=seats)
    return ticketed(trust, competence=competence, seats=seats) if has_ticket(trust, t) else 0


def ticketed(trust: Trust, *, competence: Ppm, seats: Ppm) -> Weight:
    """Weigh a ticket holder: clip(w_max · competence · min(1, seats), w_min, w_max).

    `seats` is its trust in ppm of one average seat. Without the min, weights would saturate and
    competence would do nothing.
    """
    raw = trust.w_max * competence * min(MILLION, seats) // (MILLION * MILLION)
    return _clipped(trust, raw)


def blended(trust: Trust, *, r: Ppm, seats: Ppm) -> Weight:
    """Weigh anybody: clip(gamma · r + (1 - gamma) · min(1, seats), w_min, w_max).

    If the charter squares the mixture, then before clipping, as in the author's simulation.
    """
    mixed = (trust.gamma * r + (MILLION - trust.gamma) * min(MILLION, seats)) // MILLION
    return _clipped(trust, mixed * mixed // MILLION if trust.squared else mixed)


def _clipped(trust: Trust, raw: Weight) -> Weight:
    return min(max(raw, trust.w_min), trust.w_max)
