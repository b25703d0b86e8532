"""What is noted about an artifact while its state stays: rounds, flags, voters (design: lifecycle).

Every function gives a new value and asks no guard: whoever calls it has decided. Flags stand beside
the state; the lifecycle drops those that a judgement has answered.
"""

from dataclasses import replace

from federation.artifacts.artifact import Artifact, Flag
from federation.artifacts.verdicts import Verdict
from federation.core import RoundId


def in_round(artifact: Artifact, round_id: RoundId) -> Artifact:
    """Note the round that a cut opened for the artifact, and count it."""
    return replace(artifact, round=round_id, rounds=artifact.rounds + 1)


def flagged(artifact: Artifact, flag: Flag, *, on: bool = True) -> Artifact:
    """Put up one flag, or take it down."""
    flags = artifact.flags | {flag} if on else artifact.flags - {flag}
    return artifact if flags == artifact.flags else replace(artifact, flags=flags)


def hide(artifact: Artifact) -> Artifact:
    """Let it be absent from reads, search and export; the log keeps it."""
    return flagged(artifact, Flag.HIDDEN)


def withhold(artifact: Artifact) -> Artifact:
    """Hide it until the operators show it again.

    Of what nobody can read a dispute comes to nothing, and must not bring it back.
    """
    return flagged(hide(artifact), Flag.WITHHELD)


def show(artifact: Artifact) -> Artifact:
    """Let it be hidden no more."""
    return flagged(flagged(artifact, Flag.HIDDEN, on=False), Flag.WITHHELD, on=False)


def freeze(artifact: Artifact) -> Artifact:
    """Let nothing happen to it until the operators have ruled, or its round has ended."""
    return flagged(artifact, Flag.FROZEN)


def flag_stale(artifact: Artifact, tick: int) -> Artifact:
    """Note at `tick` that somebody has shown that it may be out of date."""
    return replace(flagged(artifact, Flag.STALE), stale_at=tick)


def report_over(artifact: Artifact, tick: int) -> Artifact:
    """Note at `tick` that a report has been looked at, or that nobody did: disputes may come."""
    return replace(artifact, reports=artifact.reports - 1, reported_at=tick)


def lapsed(artifact: Artifact, tick: int, window: int) -> Artifact:
    """Drop a stale flag that is `window` ticks old at `tick`, because nobody took it up."""
    if artifact.stale_at is None or tick < artifact.stale_at + window:
        return artifact
    return flagged(artifact, Flag.STALE, on=False)


def merge_voters(artifact: Artifact, verdict: Verdict) -> Artifact:
    """Remember who has opened a ballot on it, practice ballots among them: no fresh panel has them."""
    voters = tuple(sorted({*artifact.voters, *(one.voter for one in verdict.ballots)}))
    return artifact if voters == artifact.voters else replace(artifact, voters=voters)
