"""Agents by the names that people gave them, and lists that come in pages.

The API speaks ids; people speak names. A name is looked up among those that the node knows.
An id, a CID, or the first digits of an id work too.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from federation.records import Role
from node.base.errors import NodeCode, RequestError
from node.base.paths import DataDir
from node.cli.client import Client
from node.cli.output import clean
from node.cli.tables import Told, cell, row_of, rows_of
from node.keys.directory import KeyDirectory
from node.keys.key_file import About, parse_file

_PAGE: Final = 200
_LEAST_DIGITS: Final = 6
"""Of an id's beginning that is looked up; the API asks for as many."""
_FULL: Final = re.compile(r"[0-9a-fA-F]{64}|[bB][a-zA-Z2-7]{58}")
"""An id or a CID: what looks like one is never a name."""
_BEGINNING: Final = re.compile(rf"[0-9a-fA-F]{{{_LEAST_DIGITS},64}}")


def agent_id(client: Client, said: str) -> str:
    """Give the id of the agent that is meant; raises AMBIGUOUS for several, NOT_FOUND for none."""
    return said if _FULL.fullmatch(said) else chosen(agents_of(client), said, what="agent")


def chosen(rows: Iterable[Told], said: str, *, what: str) -> str:
    """Give the id of the only row, of `id` and `name`, that is called so; `what` names its kind.

    Names are their owners' own words and prove nothing, so one may look like the id of somebody
    else. A full id or CID is therefore always taken as one, and what is both a name and the
    beginning of another's id is not guessed about. The beginning of an id that no row has is handed
    on: whom no cut has admitted yet is in no list. Raises RequestError AMBIGUOUS and NOT_FOUND.
    """
    if _FULL.fullmatch(said):
        return said
    digits = said.lower() if _BEGINNING.fullmatch(said) else None
    found = {
        str(row.get("id")): None
        for row in rows
        if row.get("name") == said or (digits and str(row.get("id")).startswith(digits))
    }
    if len(found) > 1:
        raise RequestError(
            f"{what} {said!r} not chosen",
            why=f"{len(found)} are called so, by name or by their first digits: "
            f"{cell(list(found))}",
            fix="name it by its full id",
            code=NodeCode.AMBIGUOUS,
        )
    if not found and not digits:
        raise RequestError(
            f"{what} {said!r} not found",
            why=f"no {what} has this name here, and it is no id",
            fix="list who is here; who is new has a name here once a cut has admitted it",
            code=NodeCode.NOT_FOUND,
        )
    return next(iter(found), said)


def agents_of(client: Client) -> Iterator[Told]:
    """Go through all agents that the node knows, page by page."""
    return _all(client, "agents", "items")


def operators_of(client: Client) -> Iterator[Told]:
    """Go through all admitted operators, page by page."""
    return _all(client, "operators", "items")


def rounds_of(client: Client) -> Iterator[Told]:
    """Go through all open rounds, page by page."""
    return _all(client, "rounds", "rounds")


def _all(client: Client, what: str, rows: str) -> Iterator[Told]:
    after: str | None = None
    while True:
        page = row_of(client.get("v1", what, after=after, most=_PAGE))
        yield from rows_of(page.get(rows))
        if not page.get("next"):
            return
        after = str(page.get("next"))


def kept_agent(data: DataDir, said: str) -> About:
    """Find an agent whose keys lie in a data directory: by name, id, or the beginning of its id.

    Key files tell without a passphrase whose they are, so no node need run. Raises RequestError
    NOT_IN_CUSTODY or AMBIGUOUS.
    """
    agents = [one for one in kept(data) if one.role is Role.AGENT]
    found = [one for one in agents if one.name == said]
    if not found and len(said) >= _LEAST_DIGITS:
        found = [one for one in agents if one.id.hex().startswith(said.lower())]
    if len(found) == 1:
        return found[0]
    if found:
        raise RequestError(
            f"agent {said!r} not chosen",
            why=f"{len(found)} agents are called so",
            fix="name it by its id",
            code=NodeCode.AMBIGUOUS,
        )
    raise RequestError(
        f"agent {said!r} not found",
        why=f"no key file in {data.keys} is of an agent called so",
        fix=f"name one of {', '.join(clean(one.name) for one in agents) or 'none'}",
        code=NodeCode.NOT_IN_CUSTODY,
    )


def kept(data: DataDir) -> Iterator[About]:
    """Go through those whose keys lie in a data directory; what is secret stays locked."""
    data.check()
    directory = KeyDirectory(data.keys)
    with directory.hold():
        files = directory.read()
    for name, raw in files.items():
        about = parse_file(name, raw).about
        if about is not None:
            yield about
