"""Rules as people write them: a file with some sections, and single values by name.

Whatever is left out stays as it is in the newest charter. Durations may be written with their unit,
`90min` or `2d`; everything else is written as in JSON.
"""

import copy
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from federation.charter import DAY, HOUR, MINUTE, SECOND, Rules, rules_of
from federation.codec import LIMITS
from node.cli.charter_cmd import read_charter
from node.cli.errors import Code, CommandError, Exit, UsageError
from node.cli.output import Json
from node.cli.tables import Told

SECTIONS: Final = tuple(field.name for field in msgspec.structs.fields(Rules))
"""Sections of a charter that may change, in their order."""
_DURATION: Final = re.compile(r"(\d{1,12})(ms|s|min|h|d)")
_UNITS: Final[Mapping[str, int]] = {"ms": 1, "s": SECOND, "min": MINUTE, "h": HOUR, "d": DAY}


def rules_from(base: Told, file: Path | None, changes: Iterable[str]) -> Rules:
    """Give the rules of `base` with what a file and single changes say instead.

    `base` is the JSON of rules as a node tells them. A file is JSON with some sections, as
    `charter show --json` prints them, or a charter in its canonical bytes, or a genesis. Raises
    CommandError NOT_READABLE, and UsageError for what no rules can hold.
    """
    # A copy of its own: what is told of must not change under the caller's hands.
    merged: dict[str, Json] = copy.deepcopy({name: base.get(name) for name in SECTIONS})
    if file is not None:
        _merge(merged, _read(file), "")
    for change in changes:
        path, equals, value = change.partition("=")
        if not equals:
            raise _refused(f"{change!r} has no '='", "write section.field=value")
        _put(merged, path.strip(), _value(value.strip()))
    try:
        return msgspec.convert(json.loads(msgspec.json.encode(merged)), Rules)
    except msgspec.ValidationError as error:
        raise _refused(
            str(error), "choose a value of the range that docs/reference/parameters.md gives"
        ) from error


def _read(file: Path) -> dict[str, Json]:
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise CommandError(
            "rules not read",
            why=f"{file}: {error.strerror or error}",
            fix="name a readable file",
            code=Code.NOT_READABLE,
            leaves=Exit.FAILED,
        ) from error
    if raw.lstrip()[:1] != b"{":
        rules = rules_of(read_charter(file))
        plain: dict[str, Json] = json.loads(msgspec.json.encode(rules))
        return plain
    if len(raw) > LIMITS.blob:
        raise _refused(f"{file} has {len(raw)} bytes", "name a file of rules")
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _refused(f"{file} is no JSON: {error}", "correct it") from error
    # What `charter show --json` prints beside the sections is no rule, and may stay in the file.
    sections: dict[str, Json] = {name: found[name] for name in SECTIONS if name in found}
    if not sections:
        raise _refused(
            f"{file} has none of the sections {', '.join(SECTIONS)}",
            "write rules as `folkmoot charter show --json` prints them",
        )
    return sections


def _merge(base: dict[str, Json], given: Mapping[str, Json], path: str) -> None:
    """Put what is given in the place of what was; a section that is given in part stays in part."""
    for name, value in given.items():
        where = f"{path}{name}"
        if name not in base:
            raise _refused(f"there is no {where}", "`folkmoot charter show` lists all")
        old = base[name]
        if isinstance(old, dict) and isinstance(value, dict):
            _merge(old, value, f"{where}.")
        else:
            base[name] = value


def _put(base: dict[str, Json], path: str, value: Json) -> None:
    *above, last = path.split(".")
    place: Json = base
    for name in above:
        place = place.get(name) if isinstance(place, dict) else None
    if not isinstance(place, dict) or last not in place or isinstance(place[last], dict):
        raise _refused(f"there is no {path}", "`folkmoot charter show` lists all")
    place[last] = value


def _value(text: str) -> Json:
    duration = _DURATION.fullmatch(text)
    if duration:
        return int(duration[1]) * _UNITS[duration[2]]
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _refused(why: str, fix: str) -> UsageError:
    return UsageError("rules not understood", why=why, fix=fix)
