import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.charter import preset, realm_of
from federation.core import NOBODY, ParameterError
from federation.crypto import KeySigner, public_key
from federation.protocol import FounderSpec, FoundingSpec, Keys, begin, found, incept
from federation.records import AgentAdmit, Custody, Delegate, Incept, OperatorAdmit, Role, wire
from federation.replication import Added, Log
from tests.builders import key_digest, named


def spec(
    operators: int = 2, instances: int = 2, agents: int = 3, **changes: object
) -> FoundingSpec:
    fields: dict[str, object] = {
        "name": "a realm",
        "salt": named("salt"),
        "preset": "test",
        "operators": [(f"operator {i}", keyed("operator", i)) for i in range(operators)],
        "instances": [
            (f"instance {i}", keyed("instance", i), i % operators) for i in range(instances)
        ],
        "founders": [
            FounderSpec(
                name=f"agent {i}",
                keys=keyed("agent", i),
                operator=i % operators,
                instance=i % instances,
                tier=i % 3,
                custody=Custody.SELF if i % 2 else Custody.NODE,
            )
            for i in range(agents)
        ],
    }
    return FoundingSpec(**fields | changes)  # type: ignore[arg-type]


def keyed(*names: object) -> Keys:
    return Keys.derived("/".join(map(str, names)).encode())


def test_keys_of_one_secret_are_three_and_of_another_three_others() -> None:
    one, again, other = Keys.derived(b"a"), Keys.derived(b"a"), Keys.derived(b"b")
    seeds = {one.current, one.next, one.recovery, other.current, other.next, other.recovery}

    assert one == again
    assert len(seeds) == 6
    assert {len(seed) for seed in seeds} == {32}


def test_an_inception_commits_to_the_next_and_the_recovery_key_by_hash() -> None:
    keys = keyed("agent")
    record = incept(named("realm"), "Ada", Role.AGENT, keys, at=7)
    body = record.body
    assert isinstance(body, Incept)

    assert (body.name, body.role, record.author) == ("Ada", Role.AGENT, record.id)
    assert record.statement.author == NOBODY
    assert (record.seq, record.prev, record.statement.at) == (0, None, 7)
    assert body.key == public_key(keys.current)
    assert (body.next, body.recovery) == (key_digest(keys.next), key_digest(keys.recovery))


@settings(max_examples=15)
@given(operators=st.integers(1, 4), instances=st.integers(1, 4), agents=st.integers(1, 6))
def test_a_founding_can_be_stored_in_its_order_and_begins_a_world(
    operators: int, instances: int, agents: int
) -> None:
    founding = found(spec(operators, max(instances, 1), agents))
    log = Log(founding.realm)

    assert all(isinstance(log.add(record), Added) for record in founding.records)

    world = begin(founding.charter, founding.records)

    assert world.realm == founding.realm == realm_of(founding.charter)
    assert set(world.state.agents) == set(founding.agents)
    assert set(world.state.operators) == set(founding.operators)
    assert set(world.state.instances) == set(founding.instances)
    assert sorted(one.id for one in founding.records) == list(founding.charter.genesis.records)
    for index, agent in enumerate(founding.agents):
        known = world.state.agents[agent]
        assert known.operator == founding.operators[index % operators]
        assert known.instance == founding.instances[index % instances]
        assert known.tier == index % 3


def test_a_founding_is_repeated_byte_for_byte_and_differs_by_its_salt() -> None:
    one, again, other = found(spec()), found(spec()), found(spec(salt=named("other")))

    assert one == again
    assert [wire(record) for record in one.records] == [wire(record) for record in again.records]
    assert one.realm != other.realm
    assert not {record.id for record in one.records} & {record.id for record in other.records}


def test_every_admission_stands_in_the_right_chain() -> None:
    founding = found(spec(operators=3, instances=2, agents=4))
    by_kind = {
        kind: [record for record in founding.records if isinstance(record.body, kind)]
        for kind in (OperatorAdmit, Delegate, AgentAdmit)
    }

    assert {record.author for record in by_kind[OperatorAdmit]} == {founding.instances[0]}
    assert [one.author for one in by_kind[Delegate]] == [
        founding.operators[i % 3] for i in range(4)
    ]
    assert [one.author for one in by_kind[AgentAdmit]] == [
        founding.instances[i % 2] for i in range(4)
    ]
    custodies = [one.body.custody for one in by_kind[AgentAdmit]]  # type: ignore[union-attr]
    assert custodies == [Custody.NODE, Custody.SELF] * 2


def test_sections_of_the_charter_can_be_replaced_and_are_held_to_their_ranges() -> None:
    rules = preset("test")
    timing = msgspec.structs.replace(rules.timing, epoch=9_000)
    review = msgspec.structs.replace(rules.review, k=5)
    trust = msgspec.structs.replace(rules.trust, seats=51)
    quotas = msgspec.structs.replace(rules.quotas, sandbox_epoch=1)
    founding = found(spec(timing=timing, review=review, trust=trust, quotas=quotas, at=5))
    charter = founding.charter

    assert (charter.timing, charter.review) == (timing, review)
    assert (charter.trust, charter.quotas) == (trust, quotas)
    assert {record.statement.at for record in founding.records} == {5}
    assert found(spec()).charter.review == rules.review
    with pytest.raises(ParameterError):
        found(spec(review=msgspec.structs.replace(review, k=0)))


def test_the_keys_of_the_charter_are_those_that_sign_for_its_instances() -> None:
    founding = found(spec())
    rows = {row.instance: row for row in founding.charter.genesis.instances}

    for index, name in enumerate(founding.instances):
        assert rows[name].key == KeySigner(keyed("instance", index).current).public
        assert rows[name].operator == founding.operators[index]
