"""How errors of libp2p become ours."""

import pytest
import trio

from node.base.errors import EXPLAINED, NetworkError, NodeCode
from node.network.faults import (
    PeerFault,
    StreamEnded,
    causes,
    network_error,
    peer_fault,
    reason,
    stream_ended,
    translated,
)


def raised(error: Exception) -> NetworkError:
    with (
        pytest.raises(NetworkError) as caught,
        translated("it failed", within=5, code=NodeCode.UNREACHABLE),
    ):
        raise error
    return caught.value


@pytest.mark.trio
@pytest.mark.parametrize(
    "error",
    [ValueError("x"), ExceptionGroup("many", [KeyError(1), ExceptionGroup("more", [OSError()])])],
)
async def test_whatever_it_was_is_a_network_error(error: Exception) -> None:
    made = raised(error)
    assert made.code is NodeCode.UNREACHABLE
    assert made.why == EXPLAINED[NodeCode.UNREACHABLE][0]
    assert made.__cause__ is error


@pytest.mark.trio
async def test_our_own_errors_pass_as_they_are() -> None:
    own = peer_fault("frame refused", NodeCode.FRAME_TOO_LARGE)
    assert raised(own) is own


@pytest.mark.trio
async def test_time_that_runs_out_is_told_as_such() -> None:
    with (
        pytest.raises(NetworkError) as caught,
        translated("it failed", within=0.01, code=NodeCode.UNREACHABLE),
    ):
        await trio.sleep_forever()
    assert caught.value.code is NodeCode.TIMED_OUT


@pytest.mark.trio
async def test_cancellation_passes() -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        with translated("it failed", within=5, code=NodeCode.UNREACHABLE):
            await trio.sleep_forever()
    assert scope.cancelled_caught


def test_only_the_operating_system_s_words_are_repeated() -> None:
    refused = ConnectionRefusedError(111, "Connection refused")
    wrapped = RuntimeError("what the peer sent: \x1b[31m")
    wrapped.__cause__ = ExceptionGroup("all failed", [ValueError("junk"), refused])
    assert reason(wrapped) == "Connection refused"
    assert reason(ValueError("what the peer sent")) is None
    assert [type(one) for one in causes(wrapped)] == [
        RuntimeError,
        ExceptionGroup,
        ValueError,
        ConnectionRefusedError,
    ]


def test_kinds_of_errors_can_be_told_apart() -> None:
    fault = peer_fault("frame refused", NodeCode.FRAME_SLOW)
    ended = stream_ended("stream ended")
    plain = network_error("nothing", NodeCode.BANNED, why="because")
    assert isinstance(fault, PeerFault)
    assert isinstance(ended, StreamEnded)
    assert not isinstance(plain, PeerFault | StreamEnded)
    assert (plain.why, plain.fix) == ("because", EXPLAINED[NodeCode.BANNED][1])
