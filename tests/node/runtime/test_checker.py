from io import BytesIO

from federation.crypto import KeySigner
from federation.records import signing_payload
from node.runtime.checker import COUNT, answer, serve
from tests.builders import named

SIGNER = KeySigner(named("seed"))


def asked(name: str, *, good: bool = True) -> bytes:
    """One question, as it travels."""
    record = named(name)
    signature = SIGNER.sign(signing_payload(record if good else named("another")))
    return SIGNER.public + record + signature


def run(*questions: bytes) -> bytes:
    return len(questions).to_bytes(COUNT, "big") + b"".join(questions)


def test_each_signature_has_its_own_answer() -> None:
    assert answer(asked("a") + asked("b", good=False) + asked("c")) == bytes([1, 0, 1])


def test_a_key_that_is_none_is_no_reason_to_stop() -> None:
    assert answer(bytes(128)) == bytes([0])


def test_runs_are_answered_one_after_another_until_the_input_ends() -> None:
    target = BytesIO()
    serve(BytesIO(run(asked("a")) + run() + run(asked("b", good=False), asked("c"))), target)

    assert target.getvalue() == bytes([1, 0, 1])


def test_a_run_that_is_cut_short_is_not_answered() -> None:
    target = BytesIO()
    serve(BytesIO(run(asked("a"), asked("b"))[:-1]), target)

    assert target.getvalue() == b""
