"""Names on the command line: an id is always an id, and nobody is guessed."""

import pytest

from node.base.errors import NodeCode, RequestError
from node.cli.names import chosen
from node.cli.tables import Told

ADA = "ada1ee" + "0" * 58
EVE = "e0e0e0" + "1" * 58
CID = "b" + "a" * 58
ROWS: list[Told] = [
    {"id": ADA, "name": "ada"},
    {"id": EVE, "name": ADA},
    {"id": "f" * 64, "name": ADA[:8]},
    {"id": "c" * 64, "name": "facade"},
    {"id": "d" * 64, "name": "twin"},
    {"id": "b" * 64, "name": "twin"},
    {"id": "9" * 64, "name": CID},
    {"id": "8" * 64, "name": None},
]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("ada", ADA),
        (ADA, ADA),
        (ADA[:7], ADA),
        (EVE[:6].upper(), EVE),
        ("facade", "c" * 64),
        (CID, CID),
        ("123456", "123456"),
        ("7" * 64, "7" * 64),
    ],
)
def test_a_name_an_id_or_its_beginning_says_who_is_meant(said: str, meant: str) -> None:
    assert chosen(ROWS, said, what="agent") == meant


@pytest.mark.parametrize("said", ["twin", ADA[:8]])
def test_what_several_are_called_is_not_guessed(said: str) -> None:
    with pytest.raises(RequestError) as caught:
        chosen(ROWS, said, what="agent")

    assert caught.value.code is NodeCode.AMBIGUOUS
    assert "2 are called so" in caught.value.why


@pytest.mark.parametrize("said", ["", "nobody", "ada1", "None", "*", "\udcff"])
def test_what_nobody_is_called_is_not_found(said: str) -> None:
    with pytest.raises(RequestError) as caught:
        chosen(ROWS, said, what="agent")

    assert caught.value.code is NodeCode.NOT_FOUND
