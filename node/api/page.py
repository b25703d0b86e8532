"""The status page: what this instance is and what goes on, for people with a browser.

Every text from a record is hostile. It is escaped, shown in the direction of its own letters only,
and whatever could hide in it (controls, marks that turn the direction of other text) is shown as
its number. Nothing from a record ever becomes an address of a link. No script stands in a page;
the one static script only fetches the same page again when something happens.
"""

import functools
import unicodedata
from datetime import UTC, datetime
from importlib import resources
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from starlette.responses import Response

from federation.core import Millis
from federation.protocol.effects import Happening
from node.api.calls import Call
from node.api.errors import error_of
from node.api.events import RESET
from node.api.reads import VERSION
from node.base.errors import NodeCode
from node.queries import artifacts, history, operators, realm, why
from node.queries.names import Thing
from node.queries.trust_terms import percent

_LISTED: Final = 15
"""Artifacts on the status page."""
_HERE: Final = resources.files("node.api")
_TYPES: Final = {"style.css": "text/css", "live.js": "text/javascript", "icon.svg": "image/svg+xml"}
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_JOINERS: Final = frozenset("\u200c\u200d")
"""Some scripts cannot be written without them, and they turn nothing around."""
_SPACES: Final = frozenset("\n\t")
_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))


async def status(call: Call) -> Response:
    """Show the instance, its peers and operators, artifacts, rounds and verdicts."""
    node = call.node
    world, now = node.world, node.clock.now()
    return _page(
        "status.html",
        instance=node.settings.name,
        version=VERSION,
        health=node.health(),
        peers=node.peers(),
        all=realm.overview(world, now),
        newest=artifacts.listing(world, most=_LISTED),
        operators=operators.heaviest(world),
        barred={name.hex() for name in world.state.joining.false},
    )


async def artifact(call: Call) -> Response:
    """Show one artifact: what it claims, what it waits for, its story."""
    node = call.node
    world, now = node.world, node.clock.now()
    name = call.named(Thing.ARTIFACT)
    return _page(
        "artifact.html",
        instance=node.settings.name,
        one=artifacts.one(world, name, now),
        why=why.why(world, name, now),
        history=history.history(world, name),
    )


async def static(call: Call) -> Response:
    """Give a style sheet, script or picture of the pages."""
    name = call.path["name"]
    if name not in _TYPES:
        raise error_of(NodeCode.NOT_FOUND, "address not found")
    return Response(
        _static(name), media_type=_TYPES[name], headers={"cache-control": "max-age=300"}
    )


def _page(name: str, **values: object) -> Response:
    return Response(
        _template(name).render(events=" ".join((*Happening, RESET)), **values),
        media_type="text/html",
        headers={"cache-control": "no-store", "content-security-policy": _POLICY},
    )


@functools.cache
def _static(name: str) -> bytes:
    return (_HERE / "static" / name).read_bytes()


@functools.cache
def _template(name: str) -> Template:
    with resources.as_file(_HERE / "templates") as folder:
        environment = Environment(
            loader=FileSystemLoader(folder),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_clean,
        )
    environment.filters |= {
        "duration": duration,
        "moment": moment,
        "few": few,
        "percent": percent,
    }
    return environment.get_template(name)


def _clean(value: object) -> object:
    """Make text harmless to look at; escaping comes after this, for everything."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return harmless(value)
    return value


def harmless(text: str) -> str:
    """Show what nobody could see, or what turns other text around, as its number."""
    return "".join(
        f"⟦U+{ord(one):04X}⟧"
        if unicodedata.category(one).startswith("C") and one not in _JOINERS | _SPACES
        else one
        for one in text
    )


def duration(length: Millis | None) -> str:
    """Spell a duration for people: 1 h 5 min, 12 s, under 1 s; None is no limit."""
    if length is None:
        return "no time limit"
    if length < _UNITS[-1][0]:
        return "under 1 s" if length > 0 else "now"
    parts = []
    for size, unit in _UNITS:
        count, length = divmod(length, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def moment(at: Millis | None) -> str:
    """Spell Unix time in ms for people, in UTC."""
    if at is None:
        return "never"
    try:
        return datetime.fromtimestamp(at / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        # An author may claim any time at all.
        return "no date of this world"


def few(name: str) -> str:
    """Give the beginning of an id, enough to tell it from others on a page."""
    return name[:10]
