from typing import get_args

from federation.simulation.network import letters


def test_every_letter_is_a_value_that_cannot_change() -> None:
    kinds = get_args(letters.Letter)

    assert len(kinds) == 9
    assert all(kind.__dataclass_params__.frozen for kind in kinds)


def test_equal_letters_are_equal() -> None:
    assert letters.Packet(packet=b"x") == letters.Packet(packet=b"x")
    assert letters.AskHello() == letters.AskHello()
