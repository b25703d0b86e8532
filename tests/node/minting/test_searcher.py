import io

import pytest

from federation.admission import Mint, work_bytes
from federation.codec import decode, encode
from federation.core import CallerError, PeerError
from node.base import pipes
from node.minting.searcher import LARGEST, Answer, Task, serve
from tests.node.minting.works import blank

MINT = Mint(blank=blank())


def asked(*tasks: Task) -> io.BytesIO:
    return io.BytesIO(b"".join(map(pipes.frame, [work_bytes(MINT.blank), *map(encode, tasks)])))


def test_it_tries_what_it_is_asked_for() -> None:
    target = io.BytesIO()
    serve(asked(Task(progress=MINT.start(), tries=3), Task(progress=MINT.start(), tries=9)), target)
    target.seek(0)
    answers = []
    while (raw := pipes.read_frame(target, LARGEST)) is not None:
        answers.append(decode(raw, Answer, what="answer", most=LARGEST))

    assert [one.progress for one in answers] == [
        MINT.advance(MINT.start(), 3),
        MINT.advance(MINT.start(), 9),
    ]


def test_without_a_proof_to_search_for_it_ends() -> None:
    target = io.BytesIO()
    serve(io.BytesIO(b""), target)

    assert target.getvalue() == b""


def test_a_block_of_another_search_is_refused() -> None:
    other = Mint(blank=blank(key=2))
    with pytest.raises(CallerError):
        serve(asked(Task(progress=other.start(), tries=1)), io.BytesIO())


def test_nonsense_is_refused() -> None:
    source = io.BytesIO(pipes.frame(work_bytes(MINT.blank)) + pipes.frame(b"nonsense"))
    with pytest.raises(PeerError):
        serve(source, io.BytesIO())
