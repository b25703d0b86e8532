"""A line is an event and plain values; nothing in a value can pass for another."""

import logging
from collections.abc import Iterator

import pytest

from node.telemetry import log

LOGGER = logging.getLogger("folkmoot")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave the logger as it was."""
    kept = list(LOGGER.handlers), LOGGER.level, LOGGER.propagate
    yield
    LOGGER.handlers, LOGGER.propagate = kept[0], kept[2]
    LOGGER.setLevel(kept[1])


def line(caplog: pytest.LogCaptureFixture, event: str, **values: str | int | None) -> str:
    with caplog.at_level(logging.INFO, logger="folkmoot"):
        log.info(event, **values)
    return caplog.messages[-1]


def test_a_line_is_the_event_and_its_values(caplog: pytest.LogCaptureFixture) -> None:
    assert line(caplog, "peer.lost", peer="0a1b", cut=7, phase=None) == (
        "peer.lost peer=0a1b cut=7 phase=-"
    )
    assert line(caplog, "node.stopped") == "node.stopped"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("two words", '"two words"'),
        ("one\nnode.stopped", "one?node.stopped"),
        ("\x1b[31mred", "?[31mred"),
        ('a" code="READY', '"a? code=?READY"'),
        ("é", "é"),
        ("x" * 300, "x" * 200),
    ],
)
def test_a_value_stays_one_value_on_one_line(
    caplog: pytest.LogCaptureFixture, value: str, shown: str
) -> None:
    assert line(caplog, "event", value=value) == f"event value={shown}"


def test_a_percent_sign_is_no_format(caplog: pytest.LogCaptureFixture) -> None:
    assert line(caplog, "event", value="100%s") == "event value=100%s"


def test_levels_tell_news_from_what_needs_a_look(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="folkmoot"):
        log.info("node.ready")
        log.warning("part.failed")

    assert [(one.levelname, one.message) for one in caplog.records] == [
        ("INFO", "node.ready"),
        ("WARNING", "part.failed"),
    ]


def test_a_running_node_writes_to_standard_error_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.begin()
    log.begin()
    log.info("node.ready", cut=3)
    logging.getLogger("libp2p").info("chatter")
    captured = capsys.readouterr()

    assert captured.out == ""
    assert captured.err.count("node.ready cut=3") == 1
    assert captured.err.endswith(" node.ready cut=3\n")
    assert "chatter" not in captured.err
