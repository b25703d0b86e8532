import pytest

from federation.artifacts import held_against
from federation.core import Code


@pytest.mark.parametrize("code", Code)
def test_whatever_is_held_against_an_agent_is_put_into_words(code: Code) -> None:
    refusal = held_against(code)

    assert refusal.code is code
    assert refusal.why
    assert refusal.fix


def test_a_code_without_words_of_its_own_is_named() -> None:
    assert Code.DUPLICATE.value in held_against(Code.DUPLICATE).why
