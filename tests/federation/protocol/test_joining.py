"""What joining costs: how it moves at a tick, what is counted, and what a row of it says."""

from federation.admission import terms_of
from federation.codec import encode
from federation.protocol.joining import Joining
from federation.records import Role
from tests.builders import named
from tests.federation.protocol.joiners import rules

HOME, OTHER = named("instance"), named("another instance")


def joining(**fields: int) -> Joining:
    asked = rules(agent_bits=3, operator_bits=5, most_bits=6, target=2, **fields)
    return Joining(rules=asked, bits=4, beacon=named("beacon", 7))


def test_this_epoch_and_the_one_before_ask_for_what_they_asked() -> None:
    one = joining()
    one.turn(8, named("beacon", 8))
    now, before = (one.in_force(8, Role.AGENT)(epoch) for epoch in (8, 7))

    assert now is not None
    assert before is not None
    assert (now.beacon, now.terms.bits) == (named("beacon", 8), 3)
    assert (before.beacon, before.terms.bits) == (named("beacon", 7), 4)
    assert [one.in_force(8, Role.AGENT)(epoch) for epoch in (6, 9, -1)] == [None, None, None]


def test_nothing_came_before_the_first_epoch() -> None:
    one = joining()

    assert one.in_force(0, Role.AGENT)(-1) is None
    assert one.in_force(0, Role.AGENT)(0) is not None


def test_an_operator_has_its_own_bits_and_they_grow_alike() -> None:
    one = joining()
    asked = one.in_force(7, Role.OPERATOR)(7)

    assert asked is not None
    assert asked.terms == terms_of(one.rules, Role.OPERATOR, 4)
    assert asked.terms.bits == 6


def test_the_bits_follow_how_many_were_admitted_operators_and_agents_alike() -> None:
    busy, quiet, usual = joining(), joining(), joining()
    for instance in (HOME, OTHER):
        busy.note(Role.AGENT, instance)
        busy.note(Role.OPERATOR, instance)
    busy.note(Role.OPERATOR, OTHER)
    for one in (busy, usual):
        one.note(Role.AGENT, HOME)
    for one in (busy, quiet, usual):
        one.turn(8, named("beacon", 8))

    assert (busy.bits, quiet.bits, usual.bits) == (5, 3, 4)


def test_a_tick_begins_all_counts_anew_and_keeps_only_proofs_that_could_come_again() -> None:
    one = joining()
    one.note(Role.AGENT, HOME)
    one.note(Role.OPERATOR, HOME)
    one.false.add(OTHER)
    one.spent = {named("old"): 6, named("late"): 7, named("new"): 8}
    one.turn(8, named("beacon", 8))

    assert one.spent == {named("late"): 7, named("new"): 8}
    assert (one.agents, one.operators, one.false) == ({}, {}, set())
    assert (one.beacon, one.before) == (named("beacon", 8), (4, named("beacon", 7)))


def test_an_instance_may_admit_a_share_of_all_but_always_the_least() -> None:
    one = joining(instance_least=8, instance_share=50_000)

    assert [one.most(admitted) for admitted in (0, 160, 179, 180, 1_000)] == [8, 8, 8, 9, 50]


def test_room_of_an_operator_grows_with_its_agents_standing_and_never_falls_below_nothing() -> None:
    one = joining(operator_agents=8, operator_growth=4)

    assert [one.room(count, 0) for count in (0, 7, 8, 9)] == [8, 1, 0, 0]
    assert [one.room(8, established) for established in (1, 2)] == [4, 8]


def test_counts_are_by_role_and_instance() -> None:
    one = joining()
    one.note(Role.AGENT, HOME)
    one.note(Role.AGENT, HOME)
    one.note(Role.OPERATOR, OTHER)

    assert [one.count(Role.AGENT, name) for name in (HOME, OTHER)] == [2, 0]
    assert [one.count(Role.OPERATOR, name) for name in (HOME, OTHER)] == [0, 1]


def test_a_copy_moves_apart() -> None:
    one = joining()
    one.spent[named("x")] = 7
    twin = one.copy()
    assert twin == one
    twin.note(Role.AGENT, HOME)
    twin.note(Role.OPERATOR, HOME)
    twin.false.add(HOME)
    twin.spent[named("y")] = 7

    assert (one.agents, one.operators, one.false) == ({}, {}, set())
    assert one.spent == {named("x"): 7}


def test_a_row_says_all_of_it_in_one_order() -> None:
    one, other = joining(), joining()
    for made, order in ((one, (HOME, OTHER)), (other, (OTHER, HOME))):
        for name in order:
            made.note(Role.AGENT, name)
            made.note(Role.OPERATOR, name)
            made.false.add(name)
            made.spent[name] = 7
    assert encode(one.row()) == encode(other.row())
    rows = {encode(one.row())}
    one.note(Role.AGENT, HOME)
    rows.add(encode(one.row()))
    one.note(Role.OPERATOR, HOME)
    rows.add(encode(one.row()))
    one.false.discard(HOME)
    rows.add(encode(one.row()))
    one.spent[HOME] = 6
    rows.add(encode(one.row()))
    one.bits += 1
    rows.add(encode(one.row()))
    one.before = (one.bits, one.beacon)
    rows.add(encode(one.row()))
    one.beacon = named("another")
    rows.add(encode(one.row()))

    assert len(rows) == 8


def test_no_proof_is_asked_for_only_where_all_bits_are_0() -> None:
    free = {"agent_bits": 0, "operator_bits": 0, "gate_bits": 0}

    assert Joining(rules=rules(**free), bits=0, beacon=HOME).is_free
    for name in free:
        assert not Joining(rules=rules(**{**free, name: 1}), bits=0, beacon=HOME).is_free


def test_a_charter_that_breaks_its_own_rules_stops_no_tick() -> None:
    odd = rules(agent_bits=5, operator_bits=32, most_bits=2)
    one = Joining(rules=odd, bits=5, beacon=HOME)
    for tick in range(3):
        for _ in range(3_000):
            one.note(Role.AGENT, HOME)
        one.turn(tick + 1, HOME)
    asked = one.in_force(3, Role.OPERATOR)(3)

    assert one.bits == 5
    assert asked is not None
    assert asked.terms.bits == 32


def test_another_charter_begins_with_an_epoch_and_proofs_of_the_one_before_keep_their_terms() -> (
    None
):
    one = joining()
    old, new = one.rules, rules(agent_bits=7, operator_bits=9, most_bits=8, memory_kib=64)
    one.under(new)
    assert one.rules == old
    one.turn(8, named("beacon", 8))
    now, before = (one.in_force(8, Role.AGENT)(epoch) for epoch in (8, 7))

    assert now is not None
    assert before is not None
    assert now.terms == terms_of(new, Role.AGENT, 7)
    assert before.terms == terms_of(old, Role.AGENT, 4)
    one.turn(9, named("beacon", 9))
    later = one.in_force(9, Role.AGENT)(8)
    assert later is not None
    assert later.terms == terms_of(new, Role.AGENT, 7)
    assert (one.former, one.coming) == (None, None)


def test_bits_come_down_to_the_most_that_another_charter_allows() -> None:
    one = joining()
    one.under(rules(agent_bits=1, operator_bits=2, most_bits=2))
    for _ in range(9):
        one.note(Role.AGENT, HOME)
    one.turn(8, named("beacon", 8))

    assert one.bits == 2
