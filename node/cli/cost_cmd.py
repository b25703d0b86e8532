"""`folkmoot charter cost`: what it takes to capture a decision under a charter, at the least.

The table comes from `node.queries.capture`, of an imagined realm or of a running one. Core-hours are
made here, by the pace of this machine: a hash takes another time on every other.
"""

import argparse
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from federation.admission import Mint, Progress, Terms, blank_work
from federation.charter import Charter, Severity, check
from federation.core import MILLION
from federation.records import Role
from node.cli.charter_cmd import charter_options, imagined, read_charter
from node.cli.client import connect, node_options
from node.cli.command import Command
from node.cli.errors import Code, CommandError, Exit, UsageError
from node.cli.output import Json, Output
from node.cli.tables import NOTHING, cell, put_table
from node.queries.capture import Basis, CapturePage, CaptureRow, imagined_page

_BITS: Final = 32
_GATE_BITS: Final = 40
"""Of searches that find nothing while they are timed."""
_LEAST_HASHES: Final = 3
_MOST_HASHES: Final = 64
_TIMED_S: Final = 0.4
_GATE_TRIES: Final = 5_000
_LARGEST: Final = 2**63 - 1
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS
_SMALLEST: Final = 0.001
"""What is less is not shown as a number."""
_SAVES: Final = {"fooled": "vouches", "operators": "operators"}
"""What the attacker of a row saves first, as people are told."""
_HEAD: Final = (
    "share",
    "saves",
    "identities",
    "operators",
    "instances",
    "fooled vouches",
    "likely",
    "days",
    "core-hours",
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How fast one core of this machine is at the puzzle."""

    hash_ms: float
    """One Argon2id hash."""
    hashes: int
    """How many were timed; 0 where none is needed."""
    gate_us: float
    """One try at the gate."""

    def hours(self, page: CapturePage, hashes: int, proofs: int) -> float:
        """Give the core-hours of so many hashes, and of the gates of so many proofs."""
        gates = proofs * (1 << page.gate_bits) * self.gate_us / 1_000
        return (hashes * self.hash_ms + gates) / _HOUR_MS


def measure(page: CapturePage) -> Speed:
    """Time a few hashes at the memory of a charter, and tries at its gate."""
    if page.free:
        return Speed(hash_ms=0.0, hashes=0, gate_us=0.0)
    # What a node told may be anything; this holds it to the limits of every puzzle.
    asked = Terms(
        memory_kib=page.memory_kib,
        passes=page.passes,
        parts=1,
        bits=_BITS,
        gate_bits=page.gate_bits,
    )
    mint = Mint(
        blank=blank_work(
            realm=bytes(32),
            role=Role.AGENT,
            instance=bytes(32),
            key=bytes(32),
            epoch=0,
            beacon=bytes(32),
            terms=dataclasses.replace(asked, gate_bits=_GATE_BITS),
        )
    )
    progress, took = mint.start(), list[float]()
    while len(took) < _LEAST_HASHES or (sum(took) < _TIMED_S and len(took) < _MOST_HASHES):
        progress, spent = _timed(lambda at: mint.advance(at, 1), progress)
        took.append(spent)
    at_gate = replace(progress, found=(bytes(8),), nonce=0)
    gates = [_timed(lambda at: mint.advance(at, _GATE_TRIES), at_gate)[1] for _ in range(4)]
    # The fastest: what slows a try down is this machine's other work, not the puzzle.
    return Speed(
        hash_ms=min(took) * 1_000, hashes=len(took), gate_us=min(gates) / _GATE_TRIES * MILLION
    )


def _timed(work: Callable[[Progress], Progress], at: Progress) -> tuple[Progress, float]:
    """Do a piece of work; tell the seconds of processor time that it took."""
    begin = time.process_time()
    after = work(at)
    return after, time.process_time() - begin


def _cost_options(parser: argparse.ArgumentParser) -> None:
    node_options(parser)
    charter_options(
        parser,
        "price",
        "; without one, and without --preset, the community of a running node is priced",
    )
    parser.add_argument(
        "--first-day",
        action="store_true",
        help="with --preset or FILE: price the founders alone, not the realm grown to its seats",
    )


def _cost(arguments: argparse.Namespace, output: Output) -> Exit:
    charter = _charter(arguments)
    if charter is None:
        with connect(arguments) as client:
            page = _read(client.get("v1", "charter", "cost"))
    else:
        page = imagined_page(charter, Basis.FIRST_DAY if arguments.first_day else Basis.GROWN)
    speed = measure(page)
    if output.quiet:
        _put_json(output, page, speed)
    else:
        _tell(output, page, speed)
    return Exit.OK


def _charter(arguments: argparse.Namespace) -> Charter | None:
    """Give the charter that a command line names; None if it means a running node."""
    file: Path | None = arguments.file
    name: str | None = arguments.preset
    operators: int | None = arguments.operators
    founders: int | None = arguments.founders
    sized = operators is not None or founders is not None
    asks = any((arguments.data, arguments.url, arguments.token))
    for wrong, why, fix in (
        (file and name, "it prices either a FILE or a preset", "name one of the two"),
        (
            sized and not name,
            "only a preset has founders that you choose",
            "leave out --operators and --founders, or price a --preset",
        ),
        (
            asks and (file or name),
            "a charter is priced without a node",
            "leave out --data, --url and --token, or FILE and --preset",
        ),
        (
            arguments.first_day and not (file or name),
            "a running community is priced as it is now",
            "leave out --first-day, or name a FILE or --preset",
        ),
    ):
        if wrong:
            raise UsageError("charter cost not understood", why=why, fix=fix)
    if name is not None:
        return imagined(name, operators=operators or 1, founders=founders or 5)
    return _sound(read_charter(file)) if file is not None else None


def _sound(charter: Charter) -> Charter:
    """Refuse a charter under which no realm would work: its table would mean nothing."""
    for finding in check(charter):
        if finding.severity is Severity.ERROR:
            raise CommandError(
                "charter not priced",
                why=finding.what,
                fix="`folkmoot charter check FILE` tells all that is wrong with it",
                code=Code.NOT_READABLE,
                leaves=Exit.FAILED,
            )
    return charter


def _read(told: Json) -> CapturePage:
    try:
        page = msgspec.convert(told, CapturePage)
    except msgspec.ValidationError as error:
        raise _not_understood(str(error)) from error
    if not _is_counted(told):
        raise _not_understood("it holds a number that counts nothing")
    return page


def _is_counted(told: Json) -> bool:
    """Tell whether all numbers of an answer are counts that arithmetic can be trusted with."""
    match told:
        case dict():
            return all(map(_is_counted, told.values()))
        case list() | tuple():
            return all(map(_is_counted, told))
        case int():
            return 0 <= told <= _LARGEST
        case _:
            return True


def _not_understood(why: str) -> CommandError:
    return CommandError(
        "the node was not understood",
        why=f"its capture table is not as expected: {why}",
        fix="use the command of the same version as the node",
        code=Code.NO_ANSWER,
        leaves=Exit.FAILED,
    )


def _put_json(output: Output, page: CapturePage, speed: Speed) -> None:
    told = msgspec.to_builtins(page)
    for row, shown in zip(page.rows, told["rows"], strict=True):
        shown["core_hours"] = _core_hours(page, speed, row.hashes, row.proofs)
        shown["cheap_core_hours"] = _core_hours(page, speed, row.cheap_hashes, row.proofs)
    told |= {"hash_ms": round(speed.hash_ms, 3), "gate_us": round(speed.gate_us, 3)}
    output.put_json(told)


def _core_hours(page: CapturePage, speed: Speed, hashes: int | None, proofs: int) -> float | None:
    return None if hashes is None else round(speed.hours(page, hashes, proofs), 3)


def _tell(output: Output, page: CapturePage, speed: Speed) -> None:
    output.say(_about(page))
    output.say("To hold a share of a decision in which all reviewers vote takes at the least:")
    output.say()
    put_table(output, _HEAD, [_cells(page, speed, row) for row in page.rows])
    output.say()
    output.say("What binds:")
    told: dict[int, CaptureRow] = {}
    for row in page.rows:
        if row.share in told and _plain(told[row.share]) == _plain(row):
            output.say(f"  {_named(row)}: as above")
        else:
            _tell_why(output, row)
        told[row.share] = row
    output.say()
    for sentence in (*page.assumes, _hardware(page, speed)):
        output.say(f"* {cell(sentence)}")


def _plain(row: CaptureRow) -> CaptureRow:
    """Give a row without what its attacker saves, to compare its numbers."""
    return replace(row, aim="", why=())


def _about(page: CapturePage) -> str:
    met = {
        Basis.GROWN: "grown to its seats",
        Basis.FIRST_DAY: "on its first day",
        Basis.MEASURED: f"as of cut {page.cut}",
    }[page.basis]
    return (
        f"Preset {cell(page.preset)}, {met}: {_counted(page.operators, 'operator')} with weight, "
        f"{_counted(page.instances, 'instance')}, {_counted(page.agents, 'agent')}; "
        f"{page.honest / MILLION:,.2f} honest full votes."
    )


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _cells(page: CapturePage, speed: Speed, row: CaptureRow) -> tuple[str, ...]:
    if not row.possible:
        return (_percent(row), _saves(row), "out of reach", *(NOTHING,) * (len(_HEAD) - 3))
    hours = _core_hours(page, speed, row.hashes, row.proofs)
    return (
        _percent(row),
        _saves(row),
        str(row.identities),
        str(row.operators),
        str(row.instances),
        str(row.fooled),
        "more than all" if row.likely is None else str(row.likely),
        "years" if row.lasts is None else _number(row.lasts / _DAY_MS),
        NOTHING if hours is None else _number(hours),
    )


def _tell_why(output: Output, row: CaptureRow) -> None:
    if not row.possible:
        output.say(
            f"  {_named(row)}: nobody without a seed can hold so much: a quarter of all trust is "
            "the seeds', and the rest does not reach"
        )
        return
    output.say(f"  {_named(row)}")
    for one in row.why:
        output.say(f"    {one.column.replace('_', '-'):<11} {cell(one.why)}")
    output.say(
        f"    {'alone':<11} with one operator the same vouches reach {row.alone / 10_000:.1f} %"
    )


def _percent(row: CaptureRow) -> str:
    return f"{row.share // 10_000} %"


def _saves(row: CaptureRow) -> str:
    return _SAVES.get(row.aim, cell(row.aim))


def _named(row: CaptureRow) -> str:
    return f"{_percent(row)}, saving {_saves(row)}"


def _number(value: float) -> str:
    """Show three digits or so, and no zero that hides something."""
    if value == 0:
        return "0"
    if value < _SMALLEST:
        return f"below {_SMALLEST}"
    return f"{value:.2g}" if value < 1 else f"{value:,.1f}"


def _hardware(page: CapturePage, speed: Speed) -> str:
    if page.free:
        return "Core-hours are 0: this charter asks for no proof."
    return (
        f"Core-hours are those of one core of this machine by libsodium: {speed.hash_ms:.1f} ms for "
        f"a hash of {page.memory_kib:,} KiB (the fastest of {speed.hashes} timed now) and {speed.gate_us:.1f} "
        "µs for a try at the gate. Rented and special hardware is cheaper, and a core-hour costs a "
        "few cents: proofs hold off floods, not a patient attacker."
    )


CHARTER_COST: Final = Command(
    words=("charter", "cost"),
    summary="Price the capture of a decision, at the least",
    why="For a tenth, a third and half of a decision it says how many identities, operators, "
    "instances, fooled vouches, days and core-hours an attacker needs, and which rule of the charter "
    "gives each number. The fooled vouches are proven, the rest are estimates in the attacker's "
    "favour. Without FILE and --preset it prices the community of a running node as it is now.",
    data={
        "preset": "the preset that the charter started from",
        "basis": "whom the attacker meets: `grown`, `first_day` or `measured`",
        "cut": "cut that was measured; nil for an imagined realm",
        "operators": "honest operators with weight",
        "instances": "instances of the realm",
        "agents": "agents that the realm has admitted",
        "honest": "weight of all honest reviewers, in ppm of a full weight",
        "edge": "the most that one fooled vouch can bring, in ppm of a full weight",
        "memory_kib": "memory of one hash of the puzzle",
        "passes": "passes over it",
        "gate_bits": "bits of the gate of each proof",
        "free": "no proof is asked for",
        "rows": "list of `share`, `aim`, `possible`, `weight`, `identities`, `operators`, "
        "`instances`, `fooled`, `likely`, `alone`, `lasts`, `hashes`, `cheap_lasts`, `cheap_hashes`, "
        "`proofs`, `why`, `core_hours`, `cheap_core_hours`",
        "assumes": "what is proven, assumed and left out, as sentences",
        "hash_ms": "one hash on this machine",
        "gate_us": "one try at the gate on this machine",
    },
    examples=(
        "folkmoot charter cost --preset community --operators 4",
        "folkmoot charter cost --preset community --operators 4 --founders 12 --first-day",
        "folkmoot charter cost --preset federation --operators 12 --json",
    ),
    exits={
        Exit.FAILED: "the file could not be read or cannot work, or the node does not run",
        Exit.REFUSED: "the file is neither a genesis nor a charter in canonical bytes",
    },
    options=_cost_options,
    run=_cost,
)
