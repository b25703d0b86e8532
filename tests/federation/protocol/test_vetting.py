"""Which admissions of a cut count: each refusal with its code, in the order of what it costs."""

from dataclasses import replace as alter

import pytest
from msgspec.structs import replace

from federation.admission import MOST_BYTES, challenge, terms_of, work_bytes
from federation.core import Code
from federation.identity import KeyState
from federation.protocol import World
from federation.protocol.invariants import broken
from federation.protocol.vetting import MOST_ASKED, Vetting
from federation.records import Record, RevokeBy, Role
from tests.builders import Chain, named, person
from tests.federation.protocol.acts import next_tick, refused
from tests.federation.protocol.joiners import (
    admit_operator,
    costly,
    found,
    gated,
    minted,
    proof,
    soon,
    worthless,
)
from tests.federation.protocol.town import Town


def here(town: Town) -> bytes:
    return town.founding.instances[0]


def one(town: Town, raw: bytes | None, number: int = 1) -> Code | None:
    """Let the first instance admit a newcomer with these bytes for a proof; give the code."""
    record = town.admit(town.stranger(Role.AGENT, number), proof=raw)
    return refused(soon(town), record)


# Proofs -----------------------------------------------------------------------------------------


def test_a_good_proof_admits_and_is_counted_and_spent() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    work = minted(town.world(), pen, here(town))
    record = town.admit(pen, proof=work_bytes(work))
    state = soon(town).state

    assert refused(town.world(), record) is None
    assert state.agents[pen.id].instance == here(town)
    assert state.joining.agents == {here(town): 1}
    assert state.joining.spent == {challenge(work): 0}
    assert not broken(town.world())


def test_an_operator_joins_by_a_proof_of_its_own_and_may_answer_for_agents_in_the_same_cut() -> (
    None
):
    town = costly()
    operator = town.stranger(Role.OPERATOR)
    record = admit_operator(town, operator, proof(town, operator), domain="moot.example.org")
    state = soon(town).state

    assert refused(town.world(), record) is None
    assert state.operators[operator.id].instance == here(town)
    assert state.operators[operator.id].domain == "moot.example.org"
    assert state.operators[town.founding.operators[0]].domain is None
    assert state.joining.operators == {here(town): 1}
    assert not state.joining.agents


def test_without_a_proof_nobody_joins() -> None:
    assert one(costly(), None) is Code.PROOF_MISSING


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", Code.NOT_CANONICAL),
        (b"\xc1", Code.NOT_CANONICAL),
        (bytes(MOST_BYTES + 1), Code.TOO_LARGE),
    ],
)
def test_bytes_that_are_no_proof_are_none(raw: bytes, code: Code) -> None:
    town = costly()

    assert one(town, raw) is code
    # They show that the instance was careless, and cost nobody a hash.
    assert not town.world().state.joining.false


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"realm": named("another realm")}, Code.PROOF_WRONG_REALM),
        ({"instance": named("another instance")}, Code.PROOF_WRONG_INSTANCE),
        ({"key": named("another key")}, Code.PROOF_WRONG_KEY),
        ({"role": Role.OPERATOR, "bits": 5}, Code.PROOF_WRONG_ROLE),
        ({"epoch": 2}, Code.PROOF_STALE),
        ({"beacon": named("another beacon")}, Code.PROOF_WRONG_BEACON),
        ({"bits": 1}, Code.PROOF_PARAMETERS),
        ({"memory_kib": 16}, Code.PROOF_PARAMETERS),
    ],
)
def test_a_proof_of_real_work_for_something_else_does_not_count(
    change: dict[str, object], code: Code
) -> None:
    town = costly()
    good = minted(town.world(), town.stranger(Role.AGENT), here(town))
    work = found(replace(good, **change))

    assert one(town, work_bytes(work)) is code
    assert not town.world().state.joining.false
    assert not town.world().state.joining.spent


def test_more_work_than_is_asked_for_counts() -> None:
    town = costly()
    good = minted(town.world(), town.stranger(Role.AGENT), here(town))

    assert one(town, work_bytes(found(replace(good, bits=4)))) is None


@pytest.mark.parametrize("code", [Code.PROOF_GATE, Code.PROOF_WORK])
def test_an_instance_that_signs_for_no_work_admits_nobody_more_until_the_next_tick(
    code: Code,
) -> None:
    town = costly(2)
    before, liar, after, elsewhere = (town.stranger(Role.AGENT, number) for number in range(4))
    good = minted(town.world(), liar, here(town))
    bad = gated(good, holds=False) if code is Code.PROOF_GATE else worthless(good)
    operator = town.stranger(Role.OPERATOR)
    records = [
        town.admit(before, proof=proof(town, before)),
        town.admit(liar, proof=work_bytes(bad)),
        town.admit(after, proof=proof(town, after)),
        # Operators come first, wherever they stand in the chain of the liar.
        admit_operator(town, operator, proof(town, operator)),
        town.admit(elsewhere, operator=1, instance=1, proof=proof(town, elsewhere, instance=1)),
    ]
    soon(town)
    world = town.world()
    came_to = [refused(world, record) for record in records]

    assert came_to == [None, code, Code.INSTANCE_BARRED, None, None]
    next_tick(town)
    assert not world.state.joining.false
    late = town.stranger(Role.AGENT, 9)
    last = town.admit(late, proof=proof(town, late))
    soon(town)
    assert refused(world, last) is None
    assert not broken(world)


def test_a_barred_instance_is_barred_for_the_rest_of_the_epoch() -> None:
    town = costly()
    liar, honest = (town.stranger(Role.AGENT, number) for number in (1, 2))
    town.admit(liar, proof=work_bytes(worthless(minted(town.world(), liar, here(town)))))
    soon(town)
    assert town.world().state.joining.false == {here(town)}
    record = town.admit(honest, proof=proof(town, honest))
    soon(town)

    assert town.world().state.tick == 0
    assert refused(town.world(), record) is Code.INSTANCE_BARRED
    assert not broken(town.world())


def test_one_proof_serves_one_identity() -> None:
    town = costly()
    first = town.stranger(Role.AGENT, 1)
    twin = twin_of(town, first)
    raw = proof(town, first)
    records = [town.admit(first, proof=raw), town.admit(twin, operator=0, proof=raw)]
    soon(town)

    assert first.identity.key == twin.identity.key
    assert first.id != twin.id
    assert [refused(town.world(), record) for record in records] == [None, Code.PROOF_REPLAYED]


def twin_of(town: Town, pen: Chain) -> Chain:
    """Give another identity that was incepted with the same keys under another name."""
    number, realm = pen.identity.number, town.founding.realm
    return Chain(person(pen.identity.role, number, realm=realm, name="twin"))


def test_a_proof_is_remembered_as_long_as_it_could_serve_again() -> None:
    town = costly()
    first = town.stranger(Role.AGENT, 1)
    raw = proof(town, first)
    town.admit(first, proof=raw)
    next_tick(town)
    world = town.world()
    assert world.state.tick == 1
    replayed = town.admit(twin_of(town, first), proof=raw)
    soon(town)

    assert refused(world, replayed) is Code.PROOF_REPLAYED
    next_tick(town)
    stale = town.admit(twin_of(town, first), proof=raw)
    soon(town)
    assert refused(world, stale) is Code.PROOF_STALE
    assert not world.state.joining.spent


def test_a_proof_of_the_epoch_before_is_held_to_what_that_asked() -> None:
    # Nobody joins, so the bits fall to the base after every tick, and the beacon moves.
    town = costly()
    early, late = (town.stranger(Role.AGENT, number) for number in (1, 2))
    town.world().state.joining.bits = 4
    now = minted(town.world(), early, here(town))
    old = minted(town.world(), late, here(town))
    assert now.bits == 4
    next_tick(town)
    world = town.world()
    assert (world.state.tick, world.state.joining.bits) == (1, 3)
    weak = found(replace(old, bits=3))
    records = [
        town.admit(early, proof=work_bytes(now)),
        town.admit(late, proof=work_bytes(weak)),
    ]
    soon(town)

    assert [refused(world, record) for record in records] == [None, Code.PROOF_PARAMETERS]


# Quotas -----------------------------------------------------------------------------------------


def crowd(
    town: Town, count: int, *, operator: int = 0, instance: int = 0, first: int = 1
) -> list[Record]:
    records = []
    for number in range(100 * operator + first, 100 * operator + first + count):
        pen = town.stranger(Role.AGENT, number)
        raw = proof(town, pen, instance=instance)
        records.append(town.admit(pen, operator=operator, instance=instance, proof=raw))
        # The operator's next word follows this one, whichever instance it goes to.
        town.rest(20)
    return records


def codes(world: World, records: list[Record]) -> list[Code | None]:
    return [refused(world, record) for record in records]


def test_an_instance_admits_no_more_in_an_epoch_than_the_charter_allows() -> None:
    town = costly(instance_least=3)
    records = crowd(town, 5)
    soon(town)
    world = town.world()

    assert codes(world, records) == [None] * 3 + [Code.OVER_QUOTA] * 2
    assert world.state.joining.agents == {here(town): 3}
    # What was over the quota has not been hashed, and its proof may serve later.
    assert len(world.state.joining.spent) == 3
    assert not broken(world)
    next_tick(town)
    again = town.stranger(Role.AGENT, 50)
    record = town.admit(again, proof=proof(town, again))
    soon(town)
    assert refused(world, record) is None


def test_operators_and_agents_of_an_instance_are_counted_apart() -> None:
    town = costly(instance_least=1)
    operators = [town.stranger(Role.OPERATOR, number) for number in (1, 2)]
    records = [admit_operator(town, pen, proof(town, pen)) for pen in operators]
    records += crowd(town, 2)
    soon(town)

    assert codes(town.world(), records) == [None, Code.OVER_QUOTA] * 2


def test_an_operator_answers_for_no_more_than_it_may_whoever_admits_them() -> None:
    # Each of the two has two founders, of tier 2: room for 4 + 2 * 1.
    town = costly(2, 4, operator_agents=4, operator_growth=1)
    records = crowd(town, 3) + crowd(town, 3, instance=1, first=4)
    other = crowd(town, 1, operator=1, instance=1)
    soon(town)

    came_to = codes(town.world(), records)
    assert sorted(map(str, came_to)) == sorted(["None"] * 4 + ["OVER_QUOTA"] * 2)
    assert codes(town.world(), other) == [None]
    assert not broken(town.world())


def test_who_is_revoked_for_good_makes_room_and_takes_the_growth_that_it_brought() -> None:
    town = costly(1, 2, operator_agents=4, operator_growth=0)
    filled, over = crowd(town, 2), crowd(town, 1, first=3)
    soon(town)
    assert codes(town.world(), filled + over) == [None, None, Code.OVER_QUOTA]
    town.arrive(town.world(), town.pen(Role.AGENT, 1).revoke(RevokeBy.RECOVERY))
    late = town.stranger(Role.AGENT, 60)
    record = town.admit(late, proof=proof(town, late))
    soon(town)

    assert refused(town.world(), record) is None


def test_who_may_come_back_makes_no_room() -> None:
    town = costly(1, 3, operator_agents=3, operator_growth=1)
    pens = [town.pen(Role.AGENT, index) for index in (1, 2)]
    for pen in pens:
        town.arrive(town.world(), pen.revoke(RevokeBy.CURRENT))
    # Three founders fill what one that is established leaves room for, but for one place.
    records = crowd(town, 3)
    soon(town)
    for pen in pens:
        town.arrive(town.world(), pen.recover())
    soon(town)

    assert codes(town.world(), records) == [None, Code.OVER_QUOTA, Code.OVER_QUOTA]
    assert len(town.world().state.agents) == 4


def test_founders_use_up_no_quota_of_an_instance() -> None:
    town = costly(1, 6, instance_least=1)
    record = crowd(town, 1)
    soon(town)

    assert codes(town.world(), record) == [None]


def test_where_nothing_is_asked_for_proofs_are_not_looked_at() -> None:
    town = costly(agent_bits=0, operator_bits=0, gate_bits=0)
    pens = [town.stranger(Role.AGENT, number) for number in (1, 2)]
    records = [town.admit(pen, proof=b"a word of no meaning") for pen in pens]
    soon(town)

    assert codes(town.world(), records) == [None, None]
    assert town.world().state.joining.agents == {here(town): 2}
    assert not town.world().state.joining.spent


# What comes first -------------------------------------------------------------------------------


def test_who_may_not_be_admitted_anyway_bars_nobody_and_spends_nothing() -> None:
    town = costly()
    gone = town.stranger(Role.AGENT)
    bad = work_bytes(worthless(minted(town.world(), gone, here(town))))
    gone.revoke()
    record = town.admit(gone, proof=bad)
    soon(town)

    assert refused(town.world(), record) is Code.NOT_ADMITTED
    assert not town.world().state.joining.false


@pytest.mark.parametrize("how", ["disowned", "revoked"])
def test_what_a_thief_signed_as_the_instance_neither_counts_nor_bars_it(how: str) -> None:
    town = costly()
    world = town.world()
    pens = [town.stranger(Role.AGENT, number) for number in (1, 2)]
    false = work_bytes(worthless(minted(world, pens[0], here(town))))
    stolen = [town.admit(pens[0], proof=false), town.admit(pens[1], proof=proof(town, pens[1]))]
    operator = town.stranger(Role.OPERATOR)
    stolen.insert(0, admit_operator(town, operator, proof(town, operator)))

    def keys(name: bytes) -> KeyState | None:
        ((_, head),) = world.log.heads_of(name)
        entry = world.log.entry(head)
        assert entry is not None
        if name != here(town):
            return entry.keys
        if how == "revoked":
            return alter(entry.keys, revoked_by=RevokeBy.CURRENT)
        places = [record.seq for record in stolen]
        return alter(entry.keys, disowned=((min(places) - 1, max(places) + 1),))

    vetting = Vetting(
        state=world.state,
        cut=1,
        joining=world.state.joining.copy(),
        keys=keys,
        delegations={},
        prove=lambda _: False,
    )

    assert [code for _, code in vetting.run(stolen)] == [Code.REVOKED] * 3
    assert not vetting.joining.false
    assert not vetting.lacking


def test_a_second_admission_is_a_duplicate_whatever_its_proof() -> None:
    town = costly()
    pen, operator = town.stranger(Role.AGENT), town.stranger(Role.OPERATOR)
    records = [
        town.admit(pen, proof=proof(town, pen)),
        town.admit(pen, proof=None),
        admit_operator(town, operator, proof(town, operator)),
        admit_operator(town, operator, None),
    ]
    soon(town)

    assert codes(town.world(), records) == [None, Code.DUPLICATE] * 2
    third = town.admit(pen, proof=b"")
    soon(town)
    assert refused(town.world(), third) is Code.DUPLICATE


def test_a_quota_that_is_used_up_spares_the_gate_and_the_work() -> None:
    town = costly(instance_least=1)
    (first,) = crowd(town, 1)
    liar = town.stranger(Role.AGENT, 70)
    bad = work_bytes(worthless(minted(town.world(), liar, here(town))))
    second = town.admit(liar, proof=bad)
    soon(town)

    assert codes(town.world(), [first, second]) == [None, Code.OVER_QUOTA]
    assert not town.world().state.joining.false


def test_eight_proofs_of_an_instance_are_asked_for_at_once() -> None:
    assert MOST_ASKED == 8


def test_the_terms_of_the_town_are_those_of_its_charter() -> None:
    town = costly()
    state = town.world().state

    assert terms_of(state.charter.admission, Role.AGENT, state.joining.bits).bits == 2
