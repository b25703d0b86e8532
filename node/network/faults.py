"""The errors of the network, and how libp2p's become ours.

    NetworkError        a socket, a peer or a stream (node.base.errors)
    ├── PeerFault       the peer broke a rule; whoever catches it writes it into the book
    └── StreamEnded     the peer closed the stream between two frames: the clean end, no fault

libp2p lets everything through: nested exception groups, bare `Exception`, errors of sockets. None
of them crosses the border of this package; `translated` is the border.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import trio

from node.base.errors import EXPLAINED, NetworkError, NodeCode


class PeerFault(NetworkError):  # noqa: N818 # it is the peer's fault, no error of ours
    """The peer broke a rule of framing or of time."""


class StreamEnded(NetworkError):  # noqa: N818 # the clean end of a stream is no error of anybody
    """The peer closed the stream, between two frames."""


def network_error(what: str, code: NodeCode, *, why: str | None = None) -> NetworkError:
    """Make an error with the explanation of its code, or a closer `why`."""
    known, fix = EXPLAINED[code]
    return NetworkError(what, why=why or known, fix=fix, code=code)


def peer_fault(what: str, code: NodeCode) -> PeerFault:
    """Make a fault with the explanation of its code."""
    why, fix = EXPLAINED[code]
    return PeerFault(what, why=why, fix=fix, code=code)


def stream_ended(what: str) -> StreamEnded:
    """Make the clean end of a stream."""
    why, fix = EXPLAINED[NodeCode.STREAM_ENDED]
    return StreamEnded(what, why=why, fix=fix, code=NodeCode.STREAM_ENDED)


def lost(why: str) -> NetworkError:
    """Make the error of whoever waited for a peer that went away."""
    return NetworkError(
        "no answer",
        why=why,
        fix="`folkmoot peer why` tells of its faults; try again once it is connected",
        code=NodeCode.STREAM_LOST,
    )


def busy(what: str, *, why: str) -> NetworkError:
    """Make the error of whoever asks for more than there is room for."""
    return network_error(what, NodeCode.BUSY, why=why)


@contextmanager
def translated(what: str, *, within: float, code: NodeCode) -> Iterator[None]:
    """Bound what libp2p does to `within` seconds and turn whatever it raises into a NetworkError.

    Ours pass as they are, cancellation too. `code` is for failures; time running out is TIMED_OUT.
    """
    try:
        with trio.fail_after(within):
            yield
    except NetworkError:
        raise
    except trio.TooSlowError as error:
        raise network_error(what, NodeCode.TIMED_OUT) from error
    except Exception as error:
        raise network_error(what, code, why=reason(error)) from error


def reason(error: BaseException) -> str | None:
    """Give the operating system's words for an error, if it was one of sockets.

    Nothing else is repeated: libp2p puts what the peer has sent into its texts.
    """
    said = [one.strerror for one in causes(error) if isinstance(one, OSError) and one.strerror]
    return said[-1] if said else None


def causes(error: BaseException) -> Iterator[BaseException]:
    """Give an error, what it groups, and what it was raised from, outermost first."""
    yield error
    inner = list(error.exceptions) if isinstance(error, BaseExceptionGroup) else []
    if error.__cause__ is not None:
        inner.append(error.__cause__)
    for one in inner:
        yield from causes(one)
