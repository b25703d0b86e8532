"""Voting weight: competence, scaled by trust, for those who hold a ticket (§2.3; design: weight).

A ticket is trust of at least τ. In this version only founders hold one, by the charter; the weight
of everybody else is 0, which departs from the paper's w_min > 0 for all: whoever can invent
identities could otherwise invent weight.
"""

from collections.abc import Iterable, Mapping

from federation.charter import Trust
from federation.core import MILLION, AgentId, Ppm, Weight


def ticketed(trust: Trust, *, competence: Ppm, seats: Ppm) -> Weight:
    """Weigh a ticket holder: clip(w_max · competence · min(1, seats), w_min, w_max).

    `seats` is its trust in ppm of one average seat. Without the min, weights would saturate and
    competence would do nothing.
    """
    raw = trust.w_max * competence * min(MILLION, seats) // (MILLION * MILLION)
    return min(max(raw, trust.w_min), trust.w_max)


def weight(trust: Trust, *, competence: Ppm, founder: bool) -> Weight:
    """Weigh one agent before caps: a founder as a full seat, anybody else 0."""
    return ticketed(trust, competence=competence, seats=MILLION) if founder else 0


def weights(
    trust: Trust, competences: Mapping[AgentId, Ppm], *, founders: Iterable[AgentId]
) -> dict[AgentId, Weight]:
    """Weigh all agents of `competences` before caps, in id order."""
    seeds = frozenset(founders)
    return {
        agent: weight(trust, competence=competences[agent], founder=agent in seeds)
        for agent in sorted(competences)
    }
