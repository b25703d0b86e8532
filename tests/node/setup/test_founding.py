import os

import pytest
from msgspec.structs import replace

from federation.charter import check, preset
from federation.charter.findings import Severity
from federation.core import ParameterError
from federation.crypto import public_key
from federation.protocol import begin
from federation.records import Incept, Role
from node.setup import found_realm, found_solo
from node.setup.founding import Founded, Founder

AGENTS = ("ada", "curie", "euler")


def solo(preset: str = "solo") -> Founded:
    return found_solo(name="moot", preset=preset, agents=AGENTS)


def test_a_solo_realm_is_one_operator_one_instance_and_its_agents() -> None:
    founded = solo()
    founding = founded.founding
    world = begin(founding.charter, founding.records)

    assert len(founded.operators) == len(founded.instances) == 1
    assert [agent.name for agent in founded.agents] == [*AGENTS]
    assert set(world.state.agents) == {agent.id for agent in founded.agents}
    assert not any(finding.severity is Severity.ERROR for finding in check(founding.charter))


def test_every_identity_stands_in_the_genesis_under_its_own_key() -> None:
    founded = solo()
    inceptions = {
        record.id: record.body
        for record in founded.founding.records
        if isinstance(record.body, Incept)
    }
    members = (*founded.operators, *founded.instances, *founded.agents)

    assert inceptions.keys() == {member.id for member in members}
    for member in members:
        body = inceptions[member.id]
        assert (body.name, body.role) == (member.name, member.role)
        assert body.key == public_key(member.keys.current)


def test_the_one_instance_keeps_all_keys() -> None:
    founded = solo()

    assert [member.role for member in founded.kept_by(0)] == [
        Role.OPERATOR,
        Role.INSTANCE,
        *[Role.AGENT] * 3,
    ]


def test_two_foundings_share_no_key_and_no_realm() -> None:
    one, other = solo(), solo()
    seeds = [
        seed
        for founded in (one, other)
        for member in founded.kept_by(0)
        for seed in (member.keys.current, member.keys.next, member.keys.recovery)
    ]

    assert one.founding.realm != other.founding.realm
    assert len(set(seeds)) == len(seeds) == 30


def test_a_founding_can_be_repeated_with_the_same_randomness() -> None:
    def founded() -> Founded:
        count = iter(range(1_000))
        return found_solo(
            name="moot",
            preset="test",
            agents=AGENTS,
            entropy=lambda size: next(count).to_bytes(size, "big"),
        )

    assert founded() == founded()


def test_each_instance_of_a_larger_realm_keeps_its_operator_itself_and_its_own_agents() -> None:
    founded = found_realm(
        name="moot",
        preset="test",
        operators=["north", "south"],
        instances=[("one", 1), ("two", 0)],
        founders=[
            Founder(name="ada", operator=0, instance=1),
            Founder(name="curie", operator=1, instance=0),
            Founder(name="euler", operator=1, instance=1),
        ],
        entropy=os.urandom,
    )
    world = begin(founded.founding.charter, founded.founding.records)

    assert [member.name for member in founded.kept_by(0)] == ["south", "one", "curie"]
    assert [member.name for member in founded.kept_by(1)] == ["north", "two", "ada", "euler"]
    assert len(world.state.instances) == 2


@pytest.mark.parametrize(
    ("agents", "why"),
    [((), "there is no agent"), (("ada", "ada"), "two agents are called 'ada'")],
)
def test_agents_need_names_of_their_own(agents: tuple[str, ...], why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        found_solo(name="moot", preset="solo", agents=agents)


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ParameterError, match="no preset"):
        solo("nothing")


def test_a_charter_whose_numbers_contradict_each_other_founds_no_realm() -> None:
    test = preset("test")
    with pytest.raises(ParameterError, match=r"review\.r_min"):
        found_realm(
            name="contradicting",
            preset="test",
            operators=["one"],
            instances=[("a", 0)],
            founders=[Founder(name="ada", operator=0, instance=0)],
            review=replace(test.review, r_min=800_000),
        )
