"""What can explain that two worlds at one cut differ: from the fields that differ to what to do.

A world follows from the records of its cut, the charter, and the program. So each field points to
one of them: fields that records alone decide, fields of evidence, fields reckoned from those. The
nearest to the records that differs is the cause to look at first; what is reckoned from it differs
as a result. These are pointers, not proofs: only folding the log again, which `folkmoot doctor`
does, tells which of the two is wrong.
"""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Final

import msgspec

from federation.core import short
from federation.protocol.digest import TableName
from node.network.messages import WorldAt
from node.network.worlds import Difference

Fields = Mapping[TableName, Collection[str]]
"""Names of the columns that differ somewhere, by table."""

WHOLE: Final = "row"
"""Stands for a column where only one of the two has the row."""
FORM: Final = "form"
"""Stands for a column where a row has more or fewer of them than this version knows."""
SAID: Final = frozenset({"operator", "instance", "vouches", "says", "filed", WHOLE})
"""Columns of agents that records decide without any reckoning."""
EVIDENCE: Final = frozenset({"alpha", "beta", "tick", "found_bad"})
"""Columns of agents that count outcomes."""
TRUST: Final = frozenset({"trust", "ways"})
"""Columns of agents that EigenTrust gives."""
REST: Final = frozenset({"r", "competence", "weight", "tier", "badges"})
"""Columns of agents that are reckoned from all of these."""


class CauseCode(StrEnum):
    """Which kind of cause."""

    DECEIT = "deceit"
    """What the peer sent contradicts the digest that it claims."""
    OWN_DAMAGE = "own_damage"
    """Our own tables are not those that the last cut left."""
    OUTVOTED = "outvoted"
    """A third of the members at least certify another world than ours."""
    HISTORY = "history"
    """The two hold different cuts of one number."""
    CHARTER = "charter"
    """Other rules."""
    BEACON = "beacon"
    """Other public randomness after the same cut."""
    JOINING = "joining"
    """Other terms of joining, or other counts of who was admitted."""
    FORM = "form"
    """The rows have other columns: another version."""
    RECORDS = "records"
    """One of the two lacks records of the cut, or holds damaged ones."""
    EVIDENCE = "evidence"
    """Outcomes are counted otherwise."""
    TRUST = "trust"
    """The same evidence, and other trust."""
    RECKONING = "reckoning"
    """The same evidence and trust, and other standing."""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """One explanation, and what to do about it."""

    code: CauseCode
    """Programs match on it."""
    says: str
    """What differs, and what follows from that."""
    fix: str
    """What to do."""


_DOCTOR: Final = "run `folkmoot doctor` on both instances: it folds the log anew and says which of them is damaged"


def causes_of(
    found: Difference, fields: Fields, *, is_whole: bool, is_outvoted: bool
) -> tuple[Cause, ...]:
    """Tell what can explain a difference, the nearest to its origin first.

    `is_whole` is False if our own tables no longer amount to the digest of the last cut;
    `is_outvoted` is True if the next cut, as f+1 members would have it, names another world.
    """
    made: list[Cause] = []
    if found.deceit:
        made.append(
            Cause(
                code=CauseCode.DECEIT,
                says=f"The peer contradicts itself: {found.deceit}. It lies, or its memory is damaged.",
                fix="ask its operator to run `folkmoot doctor` and to start it again; until then "
                "believe nothing that it says of its world",
            )
        )
    if not is_whole:
        made.append(
            Cause(
                code=CauseCode.OWN_DAMAGE,
                says="Our own tables have changed since the last cut, which nothing may do: the "
                "memory of this instance is damaged, or this version has a bug.",
                fix="start this instance again, and run `folkmoot doctor` on it first",
            )
        )
    if is_outvoted:
        made.append(
            Cause(
                code=CauseCode.OUTVOTED,
                says="More members than may be faulty name another world than ours for the next cut: "
                "it is this instance that is wrong.",
                fix="run `folkmoot doctor` here, and the version that the others run",
            )
        )
    made += _of_inputs(found)
    made += _of_fields(fields, found.ours, found.theirs)
    return tuple(made)


def _of_inputs(found: Difference) -> list[Cause]:
    """Explain by what the worlds were made from, as far as both say the same of one cut."""
    made: list[Cause] = []
    common = found.common
    if common is not None and common.ours.digest != common.theirs.digest:
        made.append(
            Cause(
                code=CauseCode.HISTORY,
                says=f"The two hold different cuts of number {common.cut}: {short(common.ours.digest)}… "
                f"here, {short(common.theirs.digest)}… there. Two quorums have signed, or one of the "
                "two was given a false database.",
                fix="keep both data directories as they are, and compare the records of kind "
                "`certificate.final` for this cut: whoever signed both has broken its word",
            )
        )
    if found.ours.charter_hash != found.theirs.charter_hash:
        made.append(
            Cause(
                code=CauseCode.CHARTER,
                says="The charters in force differ, so the same records have other consequences.",
                fix="compare `folkmoot charter show` on both instances",
            )
        )
    elif found.is_level and not made and found.ours.beacon != found.theirs.beacon:
        made.append(
            Cause(
                code=CauseCode.BEACON,
                says="The beacons differ after the same cut, so one of the two has mixed it otherwise"
                f"{_versions(found.ours, found.theirs)}.",
                fix=_DOCTOR,
            )
        )
    elif found.is_level and not made and found.ours.joining != found.theirs.joining:
        made.append(
            Cause(
                code=CauseCode.JOINING,
                says="What joining costs, or who has admitted how many in this epoch, differs after the "
                f"same cut{_versions(found.ours, found.theirs)}.",
                fix=_DOCTOR,
            )
        )
    return made


def _of_fields(fields: Fields, ours: WorldAt, theirs: WorldAt) -> list[Cause]:
    """Explain by what differs in rows."""
    made: list[Cause] = []
    versions = _versions(ours, theirs)
    agents = set(fields.get(TableName.AGENTS, ()))
    if any(FORM in names for names in fields.values()):
        made.append(
            Cause(
                code=CauseCode.FORM,
                says=f"Rows have other columns than this version writes{versions}.",
                fix="run the same version on both instances; `folkmoot version` tells which it is",
            )
        )
    others = [name for name in fields if name is not TableName.AGENTS and fields[name]]
    if others or agents & SAID:
        where = ", ".join([*others, *([TableName.AGENTS] if agents & SAID else [])])
        made.append(
            Cause(
                code=CauseCode.RECORDS,
                says=f"What stands in {where} follows from records alone, and differs: one of the two "
                "lacks records of the cut or holds damaged ones, or handles them otherwise"
                f"{versions}.",
                fix=_DOCTOR,
            )
        )
    if agents & EVIDENCE:
        made.append(
            Cause(
                code=CauseCode.EVIDENCE,
                says="Evidence differs: the two count outcomes otherwise. Reputation and weight differ "
                "as a result.",
                fix=_DOCTOR,
            )
        )
    if agents & TRUST:
        same = "The same evidence, and" if not agents & (EVIDENCE | SAID) else "Besides,"
        made.append(
            Cause(
                code=CauseCode.TRUST,
                says=f"{same} other trust: the graph of who approved and vouched for whom differs, or "
                f"the reckoning of trust does{versions}.",
                fix=f"if the versions differ, run the same one on both; else {_DOCTOR}",
            )
        )
    elif agents & REST and not agents & (EVIDENCE | SAID):
        made.append(
            Cause(
                code=CauseCode.RECKONING,
                says="The same evidence and trust, and other standing: "
                f"{', '.join(sorted(agents & REST))} is reckoned otherwise{versions}.",
                fix=f"if the versions differ, run the same one on both; else {_DOCTOR}",
            )
        )
    return made


def _versions(ours: WorldAt, theirs: WorldAt) -> str:
    if ours.version == theirs.version:
        return f"; both say that they run version {ours.version}"
    return f"; version {ours.version} here, {theirs.version} there"
