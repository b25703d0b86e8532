from federation.certificates import Desk, Fresh, ListValue, Missing, NoValue, Witnessed
from tests.federation.certificates.hall import ListDesk, name, pinned, voice, witness


def rows(*ids: bytes) -> list[Witnessed]:
    return [
        Witnessed(operator=name("operator", i), voice=voice(i), body=witness(*ids), chains=None)
        for i in range(3)
    ]


def test_a_desk_answers_with_a_value_or_with_what_is_missing_or_with_none() -> None:
    held = name("held")
    desk: Desk = ListDesk(pinned(4), held={held})

    assert desk.fresh(rows(held)) == Fresh(value=ListValue(records=(held,)))
    assert desk.fresh(rows(name("elsewhere"))) == Missing(records=(name("elsewhere"),))
    assert isinstance(desk.fresh(rows(held)[:2]), NoValue)
