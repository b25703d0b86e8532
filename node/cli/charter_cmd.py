"""`folkmoot charter check` and `charter show`: rules, and what they imply before anybody adopts them.

Nothing is computed here: the findings come from `federation.charter.check`. A preset has no
founders, so it is checked with founders that the caller counts. How operators change the rules of a
realm is in `charter_act_cmd`.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from federation.charter import (
    PRESETS,
    Charter,
    Finding,
    Rules,
    Severity,
    check,
    preset,
    worst_case_of,
    worst_case_time,
)
from federation.codec import LIMITS, decode
from federation.protocol import FounderSpec, FoundingSpec, Keys, found
from node.cli.client import connect, node_options
from node.cli.command import Command, between
from node.cli.errors import Code, CommandError, Exit, UsageError
from node.cli.output import Json, Output, clean
from node.cli.tables import row_of, rows_of
from node.setup import read_genesis

_MOST: Final = 50
"""Operators or founders of an imagined realm: their records must fit one charter."""
_LISTS: Final = (0x90, 0x9F)
"""First bytes of short lists in MessagePack."""
_SECTIONS: Final = (
    "timing",
    "review",
    "disputes",
    "trust",
    "admission",
    "quotas",
    "sanctions",
)


def charter_options(parser: argparse.ArgumentParser, verb: str, without: str = "") -> None:
    """Add which charter is meant; `verb` says what is done with it, `without` what else is taken."""
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        type=Path,
        help=f"genesis.msgpack of a realm, or a charter in its canonical bytes{without}",
    )
    parser.add_argument("--preset", metavar="NAME", help=f"{verb} a preset: {', '.join(PRESETS)}")
    parser.add_argument(
        "--operators",
        metavar="N",
        type=between(1, _MOST),
        help="with --preset: operators, each with one instance (default 1)",
    )
    parser.add_argument(
        "--founders",
        metavar="N",
        type=between(1, _MOST),
        help="with --preset: founding agents, dealt to the operators in turn (default 5)",
    )


def _check_options(parser: argparse.ArgumentParser) -> None:
    charter_options(parser, "check")


def _check(arguments: argparse.Namespace, output: Output) -> Exit:
    charter = _charter(arguments)
    findings = check(charter)
    wrong = any(finding.severity is Severity.ERROR for finding in findings)
    if arguments.json:
        output.put_json(_report(charter, findings))
    else:
        _explain(charter, findings, output)
    return Exit.FAILED if wrong else Exit.OK


def _charter(arguments: argparse.Namespace) -> Charter:
    file: Path | None = arguments.file
    name: str | None = arguments.preset
    if (file is None) == (name is None):
        raise UsageError(
            "charter check not understood",
            why="it checks either a FILE or a preset",
            fix=f"name a file, or one of --preset {', --preset '.join(PRESETS)}",
        )
    operators: int | None = arguments.operators
    founders: int | None = arguments.founders
    if name is not None:
        return imagined(name, operators=operators or 1, founders=founders or 5)
    if operators is not None or founders is not None:
        raise UsageError(
            "charter check not understood",
            why="a FILE names its own operators and founders",
            fix="leave out --operators and --founders, or check a --preset",
        )
    assert file is not None, "checked above"  # noqa: S101 # for the type checker
    return read_charter(file)


def read_charter(file: Path) -> Charter:
    """Read the charter of a genesis file, or one in its canonical bytes.

    Raises CommandError, PeerError if it is no charter, NodeError if the genesis is damaged.
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise CommandError(
            "charter not read",
            why=f"{file}: {error.strerror or error}",
            fix="name a readable genesis.msgpack or file of canonical charter bytes, or use --preset",
            code=Code.NOT_READABLE,
            leaves=Exit.FAILED,
        ) from error
    # A charter is a map, and a genesis a list that holds one.
    if raw and _LISTS[0] <= raw[0] <= _LISTS[1]:
        return read_genesis(file).charter
    return decode(raw, Charter, what="charter", most=LIMITS.blob)


def imagined(name: str, *, operators: int, founders: int) -> Charter:
    """Give the charter of a realm that starts from a preset, with so many made-up founders.

    Raises ParameterError if there is no such preset.
    """
    preset(name)
    return found(
        FoundingSpec(
            name=name,
            salt=bytes(32),
            preset=name,
            operators=[
                (f"operator {n}", Keys.derived(b"operator %d" % n)) for n in range(operators)
            ],
            instances=[
                (f"instance {n}", Keys.derived(b"instance %d" % n), n) for n in range(operators)
            ],
            founders=[
                FounderSpec(
                    name=f"agent {n}",
                    keys=Keys.derived(b"agent %d" % n),
                    operator=n % operators,
                    instance=n % operators,
                )
                for n in range(founders)
            ],
        )
    ).charter


def _report(charter: Charter, findings: tuple[Finding, ...]) -> Json:
    return {
        "preset": charter.preset,
        "operators": len(charter.genesis.operators),
        "instances": len(charter.genesis.instances),
        "founders": len(charter.genesis.founders),
        "worst_case_ms": {
            "low": worst_case_time(charter, "low").total,
            "high": worst_case_time(charter, "high").total,
            "dispute": worst_case_of(charter, "dispute").total,
            "report": worst_case_of(charter, "report").total,
            "appeal": worst_case_of(charter, "appeal").total,
        },
        "errors": _count(findings, Severity.ERROR),
        "warnings": _count(findings, Severity.WARNING),
        "findings": [
            {
                "severity": finding.severity.value,
                "code": finding.code.value,
                "what": finding.what,
                "why": finding.why,
                "fix": finding.fix,
            }
            for finding in findings
        ],
    }


def _explain(charter: Charter, findings: tuple[Finding, ...], output: Output) -> None:
    genesis = charter.genesis
    output.say(
        f"Charter {charter.name!r}, preset {charter.preset}: {len(genesis.operators)} operators, "
        f"{len(genesis.instances)} instances, {len(genesis.founders)} founders."
    )
    for finding in findings:
        output.say()
        output.say(f"{finding.severity.value:<8} {finding.what} [{finding.code}]")
        output.say(f"    why: {finding.why}")
        output.say(f"    fix: {finding.fix}")
    errors, warnings = _count(findings, Severity.ERROR), _count(findings, Severity.WARNING)
    output.say()
    output.say(f"{errors} errors, {warnings} warnings, {len(findings) - errors - warnings} infos.")
    output.say("Do not adopt it." if errors else "It can be adopted, knowing the above.")


def _count(findings: tuple[Finding, ...], severity: Severity) -> int:
    return sum(finding.severity is severity for finding in findings)


def _show_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    parser.add_argument(
        "--preset",
        metavar="NAME",
        help=f"show a preset instead, without any node: {', '.join(PRESETS)}",
    )


def _show(arguments: argparse.Namespace, output: Output) -> Exit:
    name: str | None = arguments.preset
    if name is None:
        return _show_in_force(arguments, output)
    rules = preset(name)
    if arguments.json:
        output.put_json({"preset": name} | {part: getattr(rules, part) for part in _SECTIONS})
        return Exit.OK
    for line in _lines(rules):
        output.put(line)
    return Exit.OK


def _show_in_force(arguments: argparse.Namespace, output: Output) -> Exit:
    with connect(arguments) as client:
        page = row_of(client.get("v1", "charter"))
        acts = row_of(client.get("v1", "acts"))
    if arguments.json:
        more: dict[str, Json] = {"coming": acts.get("coming"), "open": acts.get("open")}
        output.put_json(dict(page) | more)
        return Exit.OK
    by = f", adopted by act {str(page.get('act'))[:12]}" if page.get("act") else ""
    output.say(
        f"Charter {page.get('number')} of {clean(str(page.get('name')))!r}, in force since tick "
        f"{page.get('since_tick')}{by}, preset {clean(str(page.get('preset')))}."
    )
    output.say(f"Hash {page.get('hash')}.")
    for row in rows_of(acts.get("coming")):
        output.say(f"Charter {row.get('number')} is adopted from tick {row.get('from_tick')} on.")
    waiting = len(rows_of(acts.get("open")))
    if waiting:
        output.say(f"{waiting} acts wait for cosigners: `folkmoot charter acts` shows them.")
    for section in _SECTIONS:
        for line in _flat(section, page.get(section)):
            output.put(line)
    return Exit.OK


def _lines(rules: Rules) -> Iterator[str]:
    for section in _SECTIONS:
        yield from _flat(section, getattr(rules, section))


def _flat(path: str, value: object) -> Iterator[str]:
    """Spell a section as lines `path value`."""
    match value:
        case msgspec.Struct():
            for field in msgspec.structs.fields(value):
                inner = getattr(value, field.name)
                line = f"{path}.{field.name}"
                yield from _flat(line, inner)
        case dict():
            for name, inner in value.items():
                yield from _flat(f"{path}.{name}", inner)
        case tuple() | list():
            for index, item in enumerate(value):
                yield from _flat(f"{path}[{index}]", item)
        case _:
            yield f"{path} {value}"


CHARTER_CHECK: Final = Command(
    words=("charter", "check"),
    summary="Explain what a charter implies",
    why="A charter is hard to change once a realm lives by it. This names values that cannot "
    "work, the longest time until a proposal is settled, how many liars and absences the "
    "operators survive, and every safeguard that so few founders relax.",
    data={
        "preset": "the preset that the charter started from",
        "operators": "how many founding operators",
        "instances": "how many founding instances",
        "founders": "how many founding agents",
        "worst_case_ms": "longest time until it is settled: a proposal of `low` or `high` "
        "sensitivity, a `dispute`, an urgent `report`, an `appeal` of a sanction",
        "errors": "findings for which the realm would not work",
        "warnings": "findings that weaken a safeguard",
        "findings": "list of `severity`, `code`, `what`, `why`, `fix`; errors first",
    },
    examples=(
        "folkmoot charter check --preset community",
        "folkmoot charter check --preset community --operators 4 --founders 12",
        "folkmoot charter check --preset test --json",
    ),
    exits={
        Exit.OK: "no error was found; there may be warnings",
        Exit.FAILED: "errors were found, or the file could not be read",
        Exit.REFUSED: "the file is neither a genesis nor a charter in canonical bytes",
    },
    options=_check_options,
    run=_check,
)

CHARTER_SHOW: Final = Command(
    words=("charter", "show"),
    summary="Print the rules in force, or those of a preset",
    why="Every number of the protocol stands in the charter. Of the realm of a node it tells which "
    "charter is in force, since when, and what is adopted and coming. A preset fixes all but the "
    "founders. Durations are in ms, shares in ppm; docs/reference/parameters.md says what each one "
    "means.",
    data={
        "preset": "the preset, or the one that the charter started from",
        "timing": "cuts, ticks and timers",
        "review": "rounds: quorum, thresholds, phases",
        "disputes": "disputes, urgent reports, resubmissions",
        "trust": "reputation, tiers, weights, caps",
        "admission": "what joining costs, and how many may join",
        "quotas": "limits per author",
        "sanctions": "what violations bring",
        "coming": "of a realm: charters that are adopted and wait for their tick",
        "open": "of a realm: acts that wait for cosigners",
        "…": "of a realm more, as the route /v1/charter tells it",
    },
    examples=(
        "folkmoot charter show",
        "folkmoot charter show --preset community",
        "folkmoot charter show --preset test --json",
    ),
    exits={Exit.FAILED: "without --preset: the node does not run"},
    options=_show_options,
    run=_show,
)
