"""Rows of the world digest: what stands in them, and that a cut keeps them up to date."""

import msgspec

from federation.artifacts import State as ArtifactState
from federation.codec import encode
from federation.core import Digest
from federation.crypto import plain_hash
from federation.protocol import World, rows
from federation.protocol.digest import Tables
from federation.records import AgentDeclare, Role
from tests.federation.protocol.town import Town

DECLARED = AgentDeclare(family="f", provider="p", model="m")


def plain(world: World, table: str, name: bytes) -> list[object]:
    """Read a row back."""
    raw = getattr(world.state.tables, table).rows()[name]
    named, row = msgspec.msgpack.decode(raw)
    assert named == name
    assert encode([named, row]) == raw
    return row


def from_scratch(world: World) -> Digest:
    """Compute the digest of a state as if nothing were kept."""
    state = world.state
    kept, state.tables = state.tables, Tables()
    rows.update(
        state,
        identities=reversed(list(state.identities)),
        rounds=reversed(list(state.decided)),
        artifacts=reversed(list(state.artifacts)),
        agents=reversed(list(state.agents)),
    )
    fresh, state.tables = rows.world_digest(state), kept
    return fresh


def voted() -> tuple[Town, bytes, bytes]:
    """Hold one vote and let a cut and a tick pass; give artifact and round too."""
    town = Town.of(3, 6)
    record = town.propose(0)
    opened = town.vote(record, {1: 1, 2: 1, 4: 1, 5: -1})
    town.rest(12_000)
    return town, record.id, opened


def test_an_identity_row_tells_keys_revocation_and_forks() -> None:
    town = Town.of(1, 5)
    world, pen = town.world(), town.pen(Role.AGENT, 0)
    key = pen.key
    assert plain(world, "identities", pen.id) == [0, key, False, False]
    town.arrive(world, pen.rotate())
    town.in_cut(1)

    assert plain(world, "identities", pen.id) == [1, pen.key, False, False]
    town.arrive(world, pen.revoke())
    town.in_cut(2)

    assert plain(world, "identities", pen.id) == [1, pen.key, True, False]


def test_a_member_row_tells_operator_and_key() -> None:
    town = Town.of(3, 3)
    world = town.world()
    for index, name in enumerate(town.founding.instances):
        key = world.state.identities[name].keys.key

        assert plain(world, "members", name) == [town.founding.operators[index], key]
    assert len(world.state.tables.members.rows()) == 3


def test_a_round_row_lists_the_phases_that_cuts_contain() -> None:
    town, _, opened = voted()
    world = town.world()
    digests = [final.digest for final in world.rounds[opened].finals.values()]

    assert len(digests) == 3
    assert plain(world, "rounds", opened) == digests


def test_an_artifact_row_tells_state_and_tally() -> None:
    town, artifact, opened = voted()
    world = town.world()
    verdict = world.state.artifacts[artifact].verdict
    assert verdict is not None
    author, state, flags, round_id, tally, past = plain(world, "artifacts", artifact)

    assert (author, state, flags) == (town.agent(0), ArtifactState.ACTIVE.value, [])
    assert round_id == opened
    assert tally == [
        "accept",
        "vote",
        verdict.numerator,
        verdict.denominator,
        [reason.value for reason in verdict.narrow],
    ]
    voters = sorted(town.agent(index) for index in (1, 2, 4, 5))
    assert past == plain_hash(
        encode([[opened], None, 1, 0, 0, None, None, [], [], voters, 0, None, []])
    )


def test_an_artifact_without_a_verdict_has_no_tally() -> None:
    town = Town.of(1, 5)
    record = town.propose(0)
    town.open_round(record)

    assert plain(town.world(), "artifacts", record.id)[4] is None


def test_an_agent_row_tells_reputation_weight_and_what_it_says_of_itself() -> None:
    town, _, _ = voted()
    world = town.world()
    agent = world.state.agents[town.agent(1)]
    sums = world.state.ledger.undecayed(agent.agent)
    assert sums.tick is not None

    assert plain(world, "agents", agent.agent) == [
        agent.operator,
        agent.instance,
        sums.alpha,
        sums.beta,
        sums.tick,
        agent.r,
        agent.competence,
        agent.trust,
        agent.ways,
        agent.weight,
        agent.tier,
        [],
        # Vouches that stand, and those taken back; and when it was found bad.
        plain_hash(encode([[], []])),
        None,
        # What it has filed of disputes, reports and stale flags.
        plain_hash(encode([[], [0, 0], [0, 0]])),
        plain_hash(encode([None, None, []])),
    ]
    town.arrive(world, town.sign(1, DECLARED))
    town.in_cut(world.state.cut + 1)

    assert plain(world, "agents", agent.agent)[-1] == plain_hash(encode([DECLARED, None, []]))


def test_the_digest_kept_from_cut_to_cut_is_that_of_the_state() -> None:
    town, _, _ = voted()
    newcomer = town.stranger(Role.AGENT)
    town.admit(newcomer)
    pen = town.pen(Role.AGENT, 3)
    town.arrive(town.world(), pen.rotate())
    for cut in range(town.world().state.cut + 1, town.world().state.cut + 4):
        town.in_cut(cut)

        for world in town.live():
            assert world.digest == from_scratch(world)


def test_rows_that_a_cut_does_not_move_keep_the_digest_of_their_tables() -> None:
    town = Town.of(3, 6)
    town.in_cut(1)
    tables = town.world().state.tables
    before = tables.artifacts.root(), tables.rounds.root(), tables.members.root()
    town.in_cut(2)

    assert before == (tables.artifacts.root(), tables.rounds.root(), tables.members.root())
