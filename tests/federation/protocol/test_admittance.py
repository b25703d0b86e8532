"""What the door says of an admission, and what is said of one that waits for a cut."""

import pytest
from msgspec.structs import replace

from federation.admission import challenge, work_bytes
from federation.core import Code, RefusedError
from federation.crypto import KeySigner
from federation.protocol import Fate, World, custody, judge
from federation.protocol.admittance import REASONS
from federation.protocol.custody import Keyring
from federation.records import AgentAdmit, Body, Custody, Delegate, OperatorAdmit, Record, Role
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
from tests.federation.protocol.town import Town, keys


def ring(town: Town, instance: int = 0) -> Keyring:
    signer = KeySigner(keys(town.seed, "instance", instance).current)
    return Keyring(agent=town.founding.instances[instance], keys=(signer,))


def sign(town: Town, body: Body, instance: int = 0) -> Record:
    """Let an instance sign through the door, and take in what it signed."""
    record = custody.author(town.world(instance), ring(town, instance), body, now=town.now)
    town.arrive(town.world(instance), record)
    return record


def body_for(town: Town, pen: Chain, raw: bytes | None, *, operator: int = 0) -> AgentAdmit:
    """Let an operator answer for a newcomer, and write the admission."""
    world = town.world()
    town.arrive(world, *pen.records)
    grant = town.pen(Role.OPERATOR, operator).say(Delegate(agent=pen.id, scope=()))
    town.arrive(world, grant)
    return AgentAdmit(
        agent=pen.id,
        operator=town.founding.operators[operator],
        delegate=grant.id,
        custody=Custody.SELF,
        proof=raw,
    )


def door(town: Town, pen: Chain, raw: bytes | None) -> tuple[Code, str] | None:
    """Ask for an admission; give the code and the reason if the door refuses."""
    return tried(town, body_for(town, pen, raw))


def tried(town: Town, body: Body) -> tuple[Code, str] | None:
    before = town.world().log.author_heads()
    try:
        sign(town, body)
    except RefusedError as error:
        assert town.world().log.author_heads() == before
        return error.code, error.why
    return None


def fate(world: World, record: Record) -> tuple[Fate, Code | None]:
    one = judge(world, record)
    return one.fate, one.code


# The door ---------------------------------------------------------------------------------------


def test_a_good_proof_passes_the_door_and_waits_for_a_cut() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    record = sign(town, body_for(town, pen, proof(town, pen)))

    assert fate(town.world(), record) == (Fate.WAITS, Code.WAITS_FOR_CUT)
    assert fate(soon(town), record) == (Fate.COUNTS, None)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"realm": named("another realm")}, Code.PROOF_WRONG_REALM),
        ({"instance": named("another instance")}, Code.PROOF_WRONG_INSTANCE),
        ({"key": named("another key")}, Code.PROOF_WRONG_KEY),
        ({"role": Role.OPERATOR, "bits": 5}, Code.PROOF_WRONG_ROLE),
        ({"epoch": 3}, Code.PROOF_STALE),
        ({"beacon": named("another beacon")}, Code.PROOF_WRONG_BEACON),
        ({"bits": 1}, Code.PROOF_PARAMETERS),
    ],
)
def test_the_door_refuses_what_no_cut_would_let_count(
    change: dict[str, object], code: Code
) -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    work = found(replace(minted(town.world(), pen, town.founding.instances[0]), **change))

    assert door(town, pen, work_bytes(work)) == (code, REASONS[code])


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (None, Code.PROOF_MISSING),
        (b"", Code.NOT_CANONICAL),
        (bytes(1_025), Code.TOO_LARGE),
    ],
)
def test_the_door_asks_for_a_proof(raw: bytes | None, code: Code) -> None:
    town = costly()

    assert door(town, town.stranger(Role.AGENT), raw) == (code, REASONS[code])


def test_the_door_refuses_a_proof_of_no_work_and_bars_nobody_for_it() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    good = minted(town.world(), pen, town.founding.instances[0])
    shut = door(town, pen, work_bytes(gated(good, holds=False)))
    empty = door(town, pen, work_bytes(worthless(good)))

    assert shut == (Code.PROOF_GATE, REASONS[Code.PROOF_GATE])
    assert empty == (Code.PROOF_WORK, REASONS[Code.PROOF_WORK])
    assert not town.world().state.joining.false
    assert door(town, pen, work_bytes(good)) is None


def test_what_the_shell_has_not_verified_passes_the_door() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    bad = worthless(minted(town.world(), pen, town.founding.instances[0]))
    town.world().prove = lambda _: None

    assert door(town, pen, work_bytes(bad)) is None


def test_the_door_of_a_barred_instance_is_shut_and_another_is_open() -> None:
    town = costly(2)
    liar, honest = (town.stranger(Role.AGENT, number) for number in (1, 2))
    here = town.founding.instances[0]
    town.admit(liar, proof=work_bytes(worthless(minted(town.world(), liar, here))))
    soon(town)
    raw = proof(town, honest)

    assert door(town, honest, raw) == (
        Code.INSTANCE_BARRED,
        REASONS[Code.INSTANCE_BARRED],
    )
    town.rest(50)
    body = body_for(town, honest, proof(town, honest, instance=1))
    town.rest(50)
    sign(town, body, 1)
    next_tick(town)
    assert (
        door(town, town.stranger(Role.AGENT, 3), proof(town, town.stranger(Role.AGENT, 3))) is None
    )


def test_the_door_counts_what_the_instance_has_signed_and_no_cut_contains() -> None:
    town = costly(instance_least=2)
    pens = [town.stranger(Role.AGENT, number) for number in range(3)]
    came_to = [door(town, pen, proof(town, pen)) for pen in pens]

    assert came_to[:2] == [None, None]
    assert came_to[2] == (
        Code.OVER_QUOTA,
        (
            "its instance admits 2 agents in this epoch, with those that wait for a cut, and may "
            "admit 2: the next tick makes room"
        ),
    )
    # Operators are counted apart.
    operator = town.stranger(Role.OPERATOR)
    town.arrive(town.world(), *operator.records)
    mine = OperatorAdmit(operator=operator.id, proof=proof(town, operator))
    assert tried(town, mine) is None


def test_the_door_counts_what_a_cut_contains_and_what_it_rests_on_not_yet() -> None:
    town = costly(instance_least=1)
    first, second = (town.stranger(Role.AGENT, number) for number in (1, 2))
    twin = Chain(person(Role.AGENT, 1, realm=town.founding.realm, name="twin"))
    answers = town.stranger(Role.OPERATOR)
    word = answers.say(Delegate(agent=first.id, scope=()))
    raw = proof(town, first)
    town.arrive(town.world(), *first.records)
    said = town.say(
        0,
        AgentAdmit(
            agent=first.id,
            operator=answers.id,
            delegate=word.id,
            custody=Custody.SELF,
            proof=raw,
        ),
    )
    soon(town)
    assert set(town.world().state.joining.waiting) == {said.id}

    refusal = door(town, second, proof(town, second))
    assert refusal is not None
    assert refusal[0] is Code.OVER_QUOTA
    assert refusal[1].startswith("its instance admits 1 agents in this epoch")
    assert door(town, twin, raw) == (Code.PROOF_REPLAYED, REASONS[Code.PROOF_REPLAYED])


def test_the_door_of_a_realm_without_proofs_counts_what_waits_for_what_it_rests_on() -> None:
    free = {"agent_bits": 0, "operator_bits": 0, "gate_bits": 0}
    town = costly(instance_least=1, **free)
    first, second = (town.stranger(Role.AGENT, number) for number in (1, 2))
    body = replace(body_for(town, first, None), delegate=named("nothing yet"))
    town.say(0, body)
    soon(town)
    assert len(town.world().state.joining.waiting) == 1

    refusal = door(town, second, None)
    assert refusal is not None
    assert refusal[0] is Code.OVER_QUOTA


def test_what_waits_in_vain_uses_up_nothing() -> None:
    town = costly(instance_least=1)
    town.admit(town.stranger(Role.AGENT, 1), proof=None)
    pen = town.stranger(Role.AGENT, 2)

    assert door(town, pen, proof(town, pen)) is None


def test_the_door_counts_what_waits_for_an_operator() -> None:
    town = costly(1, 2, operator_agents=4, operator_growth=0)
    pens = [town.stranger(Role.AGENT, number) for number in range(3)]
    came_to = [door(town, pen, proof(town, pen)) for pen in pens]

    assert came_to[:2] == [None, None]
    assert came_to[2] is not None
    assert came_to[2][0] is Code.OVER_QUOTA
    assert came_to[2][1].startswith("its operator answers for 4 agents, and may for no more")


def test_the_door_holds_quotas_also_where_no_proof_is_asked_for() -> None:
    free = {"agent_bits": 0, "operator_bits": 0, "gate_bits": 0}
    town = costly(instance_least=1, **free)
    first, second = (town.stranger(Role.AGENT, number) for number in (1, 2))

    assert door(town, first, None) is None
    refusal = door(town, second, None)
    assert refusal is not None
    assert refusal[0] is Code.OVER_QUOTA


def test_the_door_refuses_a_proof_that_has_served_or_is_to() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT, 1)
    twin = Chain(person(Role.AGENT, 1, realm=town.founding.realm, name="twin"))
    raw = proof(town, pen)
    assert door(town, pen, raw) is None
    replayed = (Code.PROOF_REPLAYED, REASONS[Code.PROOF_REPLAYED])

    assert door(town, twin, raw) == replayed
    soon(town)
    assert door(town, twin, raw) == replayed


def test_nobody_is_admitted_twice_by_the_door() -> None:
    town = costly()
    pen, operator = town.stranger(Role.AGENT), town.stranger(Role.OPERATOR)
    sign(town, body_for(town, pen, proof(town, pen)))
    admit_operator(town, operator, proof(town, operator))
    soon(town)
    twice = (Code.DUPLICATE, REASONS[Code.DUPLICATE])

    assert door(town, pen, None) == twice
    assert tried(town, OperatorAdmit(operator=operator.id)) == twice


def test_a_newcomer_of_whom_nothing_is_held_cannot_be_admitted_by_a_proof() -> None:
    town = costly()
    unknown = town.stranger(Role.OPERATOR)
    code, why = tried(town, OperatorAdmit(operator=unknown.id, proof=proof(town, unknown))) or (
        0,
        "",
    )

    assert code is Code.NOT_ADMITTED
    assert "inception" in str(why)


def test_every_refusal_of_the_door_tells_what_to_do() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    body = body_for(town, pen, None)
    with pytest.raises(RefusedError) as caught:
        sign(town, body)

    assert caught.value.fix.startswith("compute a new proof for this instance")


# What waits -------------------------------------------------------------------------------------


def stored(town: Town, raw: bytes | None, number: int = 1) -> tuple[Fate, Code | None]:
    return fate(town.world(), town.admit(town.stranger(Role.AGENT, number), proof=raw))


def test_what_no_later_cut_can_change_is_void_before_it() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    good = minted(town.world(), pen, town.founding.instances[0])
    elsewhere = found(replace(good, instance=named("another instance")))

    assert stored(town, None) == (Fate.VOID, Code.PROOF_MISSING)
    assert stored(town, b"") == (Fate.VOID, Code.NOT_CANONICAL)
    assert stored(town, work_bytes(elsewhere)) == (Fate.VOID, Code.PROOF_WRONG_INSTANCE)
    assert stored(town, work_bytes(gated(good, holds=False))) == (Fate.VOID, Code.PROOF_GATE)


def test_what_a_later_cut_can_change_waits() -> None:
    town = costly(instance_least=1)
    pens = [town.stranger(Role.AGENT, number) for number in (1, 2, 3)]
    good = minted(town.world(), pens[0], town.founding.instances[0])
    waits = (Fate.WAITS, Code.WAITS_FOR_CUT)

    # A tick that this node has not seen yet, work that nobody has looked at, a quota that is full.
    assert stored(town, work_bytes(found(replace(good, epoch=4)))) == waits
    assert stored(town, work_bytes(worthless(good))) == waits
    assert fate(town.world(), town.admit(pens[1], proof=proof(town, pens[1]))) == waits
    assert fate(town.world(), town.admit(pens[2], proof=proof(town, pens[2]))) == waits


def test_of_whom_nothing_is_held_nothing_is_said() -> None:
    town = costly()
    unknown = town.stranger(Role.OPERATOR)
    record = town.say(0, OperatorAdmit(operator=unknown.id, proof=None))

    assert fate(town.world(), record) == (Fate.WAITS, Code.WAITS_FOR_CUT)


def test_an_old_proof_that_waits_is_void_once_its_time_is_over() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    raw = proof(town, pen)
    next_tick(town, 2)

    assert stored(town, raw) == (Fate.VOID, Code.PROOF_STALE)


def test_an_outsider_admits_nobody() -> None:
    town = costly()
    outsider = town.stranger(Role.INSTANCE)
    record = outsider.say(OperatorAdmit(operator=named("somebody")))
    town.arrive(town.world(), *outsider.records)

    assert fate(town.world(), record) == (Fate.VOID, Code.NOT_ELIGIBLE)


def test_a_refused_admission_says_in_words_what_its_cut_has_found() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    bad = worthless(minted(town.world(), pen, town.founding.instances[0]))
    record = town.admit(pen, proof=work_bytes(bad))
    world = soon(town)

    assert refused(world, record) is Code.PROOF_WORK
    assert judge(world, record).why == (
        f"the cut that contains it found that {REASONS[Code.PROOF_WORK]}"
    )
    assert challenge(bad) not in world.state.joining.spent


def test_every_code_of_an_admission_has_its_words() -> None:
    proofs = {code for code in Code if code.startswith("PROOF_")}

    assert proofs <= set(REASONS)
    assert all(not reason.endswith(".") and reason[0].islower() for reason in REASONS.values())
