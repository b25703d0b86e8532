"""Competence by agreement: how often an agent's vote met the decision taken without it.

Three corrections keep it honest (design: voting weight; fitted on public label sets). *Leave one
out*: the decision is recomputed without the agent's own ballot, and a vote is not scored when that
leaves no decision. *Chance*: on a skewed set agreeing is easy, so agreement is measured beyond what
the agent's and everybody's label shares give by chance. *Shrinkage*: a prior above one half, worth
`prior_n` votes. All values are ppm and every line rounds down. Options are two, for and against;
an abstention is no label and gives no observation, but its weight counts in the tally.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from federation.charter import Trust
from federation.core import MILLION, AgentId, Ppm, Weight
from federation.crypto import Choice

_OPTIONS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One ballot that was counted, with its weight in that round after caps."""

    agent: AgentId
    choice: Choice
    weight: Weight


@dataclass(slots=True)
class _Record:
    """What one agent did over all decided rounds."""

    votes_for: int = 0
    votes_against: int = 0
    scored: int = 0
    agreed: int = 0


class Agreement:
    """Sums over decided rounds; the order in which rounds are observed does not matter."""

    def __init__(self, trust: Trust) -> None:
        """Estimate under the charter's section on trust."""
        self._trust = trust
        self._records: dict[AgentId, _Record] = {}
        self._all = _Record()

    def under(self, trust: Trust) -> None:
        """Go on under another charter's section on trust; what was observed stays observed."""
        self._trust = trust

    def observe(self, ballots: Sequence[Counted], *, accept: Ppm, reject: Ppm) -> None:
        """Take in the counted ballots of one decided round and the thresholds of its tally.

        Practice ballots and undecided rounds are left out by the caller.
        """
        weight = sum(ballot.weight for ballot in ballots)
        tally = sum(ballot.weight * ballot.choice for ballot in ballots)
        for ballot in ballots:
            if ballot.choice is Choice.ABSTAIN:
                continue
            record = self._records.setdefault(ballot.agent, _Record())
            for counted in (record, self._all):
                if ballot.choice is Choice.FOR:
                    counted.votes_for += 1
                else:
                    counted.votes_against += 1
            others = decide(
                tally - ballot.weight * ballot.choice,
                weight - ballot.weight,
                accept=accept,
                reject=reject,
            )
            if others is not None:
                record.scored += 1
                record.agreed += others is ballot.choice

    def b(self, agent: AgentId) -> Ppm:
        """Give an agent's competence in (0, 1]; the prior if nothing is known."""
        trust = self._trust
        record = self._records.get(agent, _Record())
        n = record.scored
        chance = self._chance(record) if n else MILLION
        if chance == MILLION:
            # Everybody always gives the one label: agreement says nothing.
            return trust.prior_b
        share = record.agreed * MILLION // n
        above = _beyond_chance(share, chance)
        b = (n * above + trust.prior_n * trust.prior_b) // (n + trust.prior_n)
        return min(max(b, trust.b_floor), MILLION)

    def _chance(self, record: _Record) -> Ppm:
        """Expect agreement from label shares alone: Σ own share · overall share."""
        own = record.votes_for + record.votes_against
        everybody = self._all.votes_for + self._all.votes_against
        pairs = (
            (record.votes_for, self._all.votes_for),
            (record.votes_against, self._all.votes_against),
        )
        return (
            sum((mine * MILLION // own) * (ours * MILLION // everybody) for mine, ours in pairs)
            // MILLION
        )


def decide(tally: int, weight: Weight, *, accept: Ppm, reject: Ppm) -> Choice | None:
    """Decide by a weighted sum of choices over a sum of weights; None if neither threshold is met.

    Compares exactly, without division.
    """
    if weight <= 0:
        return None
    if tally * MILLION >= accept * weight:
        return Choice.FOR
    if tally * MILLION <= reject * weight:
        return Choice.AGAINST
    return None


def _beyond_chance(share: Ppm, chance: Ppm) -> Ppm:
    """Map agreement so that chance becomes one half, all becomes 1 and none becomes 0."""
    if share < chance:
        return share * MILLION // (chance * _OPTIONS)
    even = MILLION // _OPTIONS
    return even + (MILLION - even) * (share - chance) // (MILLION - chance)
