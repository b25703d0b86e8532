"""Each proof gets its verdict, and the process that gives it ends with whoever started it."""

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import msgspec

from federation import admission
from node.base import pipes
from node.runtime import children, prover
from node.runtime.prover import BAD, GOOD, UNKNOWN, name_of, serve
from tests.federation.admission.proofs import blank, proof, terms

PROGRAM = Path(prover.__file__)
TRUE = admission.work_bytes(proof(terms(bits=8)))
FALSE = admission.work_bytes(blank(terms(bits=8)))
LONG = 60.0
"""Seconds for what includes the start of a process on a busy machine."""


def said(raw: bytes, verdict: int) -> bytes:
    return name_of(raw) + bytes([verdict])


def asked(*raws: bytes) -> bytes:
    return b"".join(map(pipes.frame, raws))


def test_proofs_are_answered_one_after_another_until_the_input_ends() -> None:
    target = BytesIO()
    serve(BytesIO(asked(TRUE, FALSE, b"junk", b"", TRUE)[:-1]), target, admission.prove)

    assert target.getvalue() == b"".join(
        [said(TRUE, GOOD), said(FALSE, BAD), said(b"junk", BAD), said(b"", BAD)]
    )


def test_a_frame_that_is_no_proof_by_its_size_ends_the_talk() -> None:
    target = BytesIO()
    serve(BytesIO(asked(bytes(admission.MOST_BYTES + 1), TRUE)), target, admission.prove)

    assert target.getvalue() == b""


def test_too_little_memory_is_no_verdict_and_the_next_proof_gets_its_own() -> None:
    def prove(raw: bytes) -> bool:
        if raw == b"large":
            raise MemoryError
        return True

    target = BytesIO()
    serve(BytesIO(asked(b"large", b"small")), target, prove)

    assert target.getvalue() == said(b"large", UNKNOWN) + said(b"small", GOOD)


def test_the_process_answers_and_ends_with_its_input() -> None:
    process = children.start(PROGRAM)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        for raw, verdict in ((TRUE, GOOD), (FALSE, BAD)):
            process.stdin.write(pipes.frame(raw))
            answer = b""
            while len(answer) < prover.NAME + 1:
                answer += process.stdout.read(prover.NAME + 1)
            assert answer == said(raw, verdict)
        process.stdin.close()

        assert process.wait(LONG) == 0
    finally:
        children.end(process)


def test_the_process_ends_in_the_middle_of_a_proof_when_its_input_does() -> None:
    # It has heard the whole proof, and could answer: its standard output is still open.
    slow = blank(terms(memory_kib=262_144, passes=4, parts=16, bits=0))
    process = children.start(PROGRAM)
    try:
        answer, _ = process.communicate(pipes.frame(admission.work_bytes(slow)), timeout=LONG)

        assert answer == b""
        assert process.returncode == 0
    finally:
        children.end(process)


def test_it_loads_neither_the_event_loop_nor_the_database() -> None:
    script = (
        f"import runpy, sys; runpy.run_path({str(PROGRAM)!r})\n"
        "print([one for one in ('trio', 'sqlite3', 'libp2p', 'numpy') if one in sys.modules])"
    )
    looked = subprocess.run(  # noqa: S603 # our own interpreter
        [
            sys.executable,
            "-c",
            script,
        ],
        cwd=PROGRAM.parents[2],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=True,
    )

    assert looked.stdout == "[]\n"


def test_a_name_is_of_all_bytes() -> None:
    other = admission.work_bytes(msgspec.structs.replace(blank(terms()), gate=b"12345678"))

    assert len({name_of(raw) for raw in (TRUE, FALSE, other)}) == 3
