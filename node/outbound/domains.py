"""Whether a domain names an operator as its own: one small file that anybody can fetch.

The domain's owner serves `https://DOMAIN/.well-known/folkmoot.json` with the ids of the operators
that it answers for. An instance looks once, before it signs the admission; others look when they
like. It shows a reader who stands behind an operator, and gives no right.
"""

import re
from typing import Final

import msgspec
import trio

from federation.core import OperatorId
from node.base.errors import NetworkError, NodeCode, RequestError
from node.outbound.fetching import INTERNET, Outside, fetch

PATH: Final = "/.well-known/folkmoot.json"
"""Where a domain names its operators."""
MOST_CHECKS: Final = 8
"""Domains asked at the same time."""
_LONGEST: Final = 253
_LABEL: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
# As records hold it: the last label begins with a letter, so no number is ever a domain.
_DOMAIN: Final = re.compile(rf"({_LABEL}\.)+[a-z]([a-z0-9-]{{0,61}}[a-z0-9])?")

_running: Final[trio.lowlevel.RunVar[set[bytes]]] = trio.lowlevel.RunVar("domain checks")


class _Named(msgspec.Struct, frozen=True):
    """The file; what else stands in it is none of our business."""

    operators: list[str]


async def check(
    domain: str,
    operator: OperatorId,
    *,
    asker: bytes | None = None,
    outside: Outside = INTERNET,
) -> None:
    """Look whether a domain names an operator; takes 5 s at most.

    `asker` is what cost whoever asks something, the operator if nothing did: each has one domain
    asked at a time, for else one with a slow domain takes the places of all. `outside` is the
    internet; only tests pass another. Raises RequestError DOMAIN_NOT_PROVEN with the reason, or
    BUSY while too many domains are asked.
    """
    if len(domain) > _LONGEST or not _DOMAIN.fullmatch(domain):
        raise _not_proven(
            "it is no domain name in lower case, such as example.org",
            "give the name alone, without https:// and path; an IDN in its xn-- form",
        )
    askers, asker = _askers(), asker or operator
    if asker in askers:
        raise _busy("a domain is being asked for this newcomer already")
    if len(askers) >= MOST_CHECKS:
        raise _busy(f"{MOST_CHECKS} domains are being asked already")
    askers.add(asker)
    try:
        raw = await fetch(domain, PATH, outside=outside)
    except NetworkError as error:
        raise _not_proven(error.why, error.fix) from error
    finally:
        askers.discard(asker)
    _check_names(raw, operator)


def _check_names(raw: bytes, operator: OperatorId) -> None:
    """Look for an operator in the file."""
    try:
        named = msgspec.json.decode(raw, type=_Named)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _not_proven(
            "its file is not JSON with a list `operators`",
            f'serve {{"operators": ["{operator.hex()}"]}} there',
        ) from error
    if operator.hex() not in {one.lower() for one in named.operators}:
        raise _not_proven(
            "its file does not name this operator", f"add {operator.hex()} to its `operators`"
        )


def _askers() -> set[bytes]:
    """Give those for whom a domain is asked in this run of trio."""
    try:
        return _running.get()
    except LookupError:
        made: set[bytes] = set()
        _running.set(made)
        return made


def _busy(why: str) -> RequestError:
    return RequestError(
        "domain not asked", why=why, fix="try again in a few seconds", code=NodeCode.BUSY
    )


def _not_proven(why: str, fix: str) -> RequestError:
    return RequestError(
        "domain not proven",
        why=why,
        fix=f"{fix}; the file is https://DOMAIN{PATH}",
        code=NodeCode.DOMAIN_NOT_PROVEN,
    )
