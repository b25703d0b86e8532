"""Who belongs to whom: looked up once a cut, and void admissions by who signed and whom they name."""

from federation.core import Code
from federation.records import Role
from node.queries.answerable import codes_in_words, ties, void_page, waiting_by
from tests.node.queries import joiners


def test_everybody_is_found_under_who_answers_and_who_admitted() -> None:
    here = joiners.town(2, 5)
    found = ties(here.world())
    operators, instances = here.founding.operators, here.founding.instances

    assert found.by_operator == {
        operators[0]: [name for name in here.world().state.agents if name in _own(here, 0)],
        operators[1]: [name for name in here.world().state.agents if name in _own(here, 1)],
    }
    assert set(found.by_instance) == set(instances)
    assert found.instances == {operators[0]: [instances[0]], operators[1]: [instances[1]]}
    assert sorted(found.operators[instances[0]]) == sorted(operators) == found.order
    assert (found.void_by, found.void_for) == ({}, {})


def _own(here: joiners.Town, operator: int) -> set[bytes]:
    return {here.agent(number) for number in range(5) if number % 2 == operator}


def test_it_is_looked_up_once_a_cut() -> None:
    here = joiners.town()
    first = ties(here.world())
    assert ties(here.world()) is first
    one = here.stranger(Role.OPERATOR)
    joiners.decided(here, joiners.admit(here, one, proof=joiners.good(here, one)))
    later = ties(here.world())

    assert later is not first
    assert one.id in later.order
    assert one.id not in first.order


def test_void_admissions_are_found_by_both_ends_and_in_the_order_of_the_chain() -> None:
    here = joiners.town()
    agent, operator = here.stranger(Role.AGENT, 1), here.stranger(Role.OPERATOR, 2)
    signed = [
        joiners.admit(here, agent, proof=None, operator=1, instance=2),
        joiners.admit(here, operator, proof=None, instance=2),
        joiners.admit(here, agent, proof=b"", operator=1, instance=2),
    ]
    joiners.decided(here, *signed)
    found = ties(here.world())

    liar = here.founding.instances[2]
    assert found.void_by == {liar: [one.id for one in signed]}
    assert found.void_for == {
        here.founding.operators[1]: [signed[0].id, signed[2].id],
        operator.id: [signed[1].id],
    }
    page = void_page(here.world(), found.void_by[liar])
    assert [(one.code, one.count) for one in page.codes] == [
        (Code.PROOF_MISSING, 2),
        (Code.NOT_CANONICAL, 1),
    ]
    assert codes_in_words(page) == "PROOF_MISSING 2, NOT_CANONICAL 1"
    assert [one.role for one in page.newest] == [Role.AGENT, Role.OPERATOR, Role.AGENT]
    assert page.newest[1].operator == page.newest[1].newcomer


def test_only_admissions_of_that_instance_wait() -> None:
    here = joiners.town()
    one = here.stranger(Role.AGENT)
    joiners.admit(here, one, proof=joiners.good(here, one, instance=1), instance=1)
    first, second = here.founding.instances[:2]

    assert waiting_by(here.world(1), second) == 1
    assert waiting_by(here.world(1), first) == 0
    assert waiting_by(here.world(), bytes(32)) == 0
