"""Log lines as events: a stable name, then `key=value`; for people and for grep alike.

Values are ids in short form, counts, codes and words of our own. A peer's bytes, an agent's words
and anything secret never stand in a line, so nothing here takes an object and guesses.
"""

import logging
from typing import Final, TypeAlias

Value: TypeAlias = str | int | None

_LOGGER: Final = logging.getLogger("folkmoot")
_LONGEST: Final = 200


def info(event: str, **values: Value) -> None:
    """Log what an operator may want to know."""
    _LOGGER.info("%s", _line(event, values))


def warning(event: str, **values: Value) -> None:
    """Log what an operator should look at."""
    _LOGGER.warning("%s", _line(event, values))


def begin() -> None:
    """Write events to standard error from now on, and nothing of the libraries but errors."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    _LOGGER.handlers = [handler]
    _LOGGER.setLevel(logging.INFO)
    _LOGGER.propagate = False


def _line(event: str, values: dict[str, Value]) -> str:
    return " ".join([event, *(f"{key}={_plain(value)}" for key, value in values.items())])


def _plain(value: Value) -> str:
    text = "-" if value is None else str(value)
    # A quotation mark inside would end the value early, and what follows could pass for another.
    shown = "".join(one if one.isprintable() and one != '"' else "?" for one in text)[:_LONGEST]
    return f'"{shown}"' if " " in shown else shown
