"""One cut folded into the world: keys, forks, admissions, certificates, triggers, in that order."""

import hashlib

import pytest
from msgspec.structs import replace

from federation.certificates import Phase
from federation.codec import encode
from federation.core import Code
from federation.crypto import KeySigner
from federation.protocol import admissions
from federation.protocol.judge import Fate, judge
from federation.records import (
    AgentAdmit,
    AgentDeclare,
    AgentSubscribe,
    Custody,
    Delegate,
    Kind,
    LogFork,
    OperatorAdmit,
    Record,
    Role,
    SignedStatement,
)
from tests.builders import Chain, log_fork, named
from tests.federation.protocol.acts import (
    VOTES,
    claim,
    fork,
    is_forked,
    next_cut,
    next_tick,
    refused,
)
from tests.federation.protocol.town import Town, keys

# Forks ----------------------------------------------------------------------------------------


def test_a_restored_backup_forks_innocently_and_picks_a_branch() -> None:
    town = Town.of(1, 5)
    world = town.world()
    pen, _ = fork(town)
    next_cut(town)
    assert is_forked(world, pen.id)
    kept = pen.head
    picking, later = pen.rotate(picks=kept.id, reason="restored"), claim(pen, "After")
    town.arrive(world, picking, later)
    next_cut(town)

    identity = world.state.identities[pen.id]
    assert identity.forked_in is None
    assert identity.head == later.id
    assert not world.state.views[pen.id].forked
    assert later.id in world.state.artifacts
    # The kept branch is contained from its first record on.
    assert kept.id in world.state.artifacts
    # The pick has settled it: the proof that is filed once more bars nobody.
    again = town.pen(Role.AGENT, 1)
    town.arrive(world, again.say(world.log.by_kind(Kind.LOG_FORK)[0].body))
    next_cut(town)
    assert not is_forked(world, pen.id)


def test_a_pick_of_anything_but_its_own_branch_settles_nothing() -> None:
    town = Town.of(1, 5)
    world = town.world()
    pen = town.pen(Role.AGENT, 0)
    kept = claim(pen, "One")
    twin = town.pen(Role.AGENT, 0)
    town.arrive(world, kept)
    town.open_round(kept)
    lost = claim(twin, "Two")
    town.arrive(world, lost)
    next_cut(town)
    assert is_forked(world, pen.id)
    for junk in (named("junk"), lost.id):
        town.arrive(world, pen.rotate(picks=junk))
        next_cut(town)

        assert is_forked(world, pen.id)
    town.arrive(world, pen.rotate(picks=kept.id))
    next_cut(town)

    assert not is_forked(world, pen.id)


def test_a_recovery_wins_a_fork_without_a_pick() -> None:
    town = Town.of(1, 5)
    world, owner = town.world(), town.pen(Role.AGENT, 0)
    thief = owner.fork()
    town.arrive(world, claim(thief, "A thief's"), owner.recover())
    next_cut(town)

    identity = world.state.identities[owner.id]
    assert identity.head == owner.head.id
    assert identity.keys.key == owner.key
    assert not world.state.artifacts


def proofs(town: Town) -> dict[str, tuple[LogFork, Code]]:
    """Give proofs that prove nothing, each with its code."""
    pen = town.pen(Role.AGENT, 1)
    one, two = (claim(town.pen(Role.AGENT, 1), title) for title in ("One", "Two"))
    sound = log_fork(one, two)
    forged = SignedStatement(sound.b.statement, bytes(64))
    stranger = town.stranger(Role.AGENT)
    theirs = [claim(stranger.fork(), title) for title in ("Three", "Four")]
    ancestor = pen.head
    return {
        "one record twice": (replace(sound, b=sound.a), Code.NOT_PROVEN),
        "a forged signature": (replace(sound, b=forged), Code.BAD_SIGNATURE),
        "another author": (replace(sound, author=town.agent(2)), Code.NOT_PROVEN),
        "two places": (log_fork(ancestor, one), Code.NOT_PROVEN),
        "no statement": (
            replace(sound, a=SignedStatement(b"\xc0", bytes(64))),
            Code.NOT_CANONICAL,
        ),
        "an author of no cut": (log_fork(*theirs), Code.NOT_PROVEN),
        "a chain of no cut": (
            log_fork(*(claim(_further(pen.fork()), title) for title in ("Five", "Six"))),
            Code.NOT_PROVEN,
        ),
    }


def _further(pen: Chain) -> Chain:
    claim(pen, "Never seen")
    return pen


@pytest.mark.parametrize("which", list(proofs(Town.of(1, 5))))
def test_a_forged_proof_bars_nobody(which: str) -> None:
    town = Town.of(1, 5)
    world = town.world()
    body, code = proofs(town)[which]
    filed = town.pen(Role.AGENT, 4).say(body)
    town.arrive(world, filed)
    next_cut(town)

    assert refused(world, filed) is code
    assert not any(is_forked(world, author) for author in world.state.identities)


def test_anyone_can_file_a_sound_proof() -> None:
    town = Town.of(1, 5)
    world = town.world()
    body = log_fork(*(claim(town.pen(Role.AGENT, 1), title) for title in ("One", "Two")))
    filed = town.pen(Role.AGENT, 4).say(body)
    town.arrive(world, filed)
    next_cut(town)

    assert refused(world, filed) is None
    assert is_forked(world, town.agent(1))


# Admissions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0)])
def test_an_operator_is_admitted_before_its_agents_whoever_admits_whom(
    first: int, second: int
) -> None:
    town = Town.of(3, 3)
    operator, agent = town.stranger(Role.OPERATOR), town.stranger(Role.AGENT)
    grant = operator.say(Delegate(agent=agent.id, scope=()))
    town.arrive(town.world(), *operator.records, *agent.records)
    town.say(first, OperatorAdmit(operator=operator.id))
    town.say(second, admission(town, agent, operator=operator.id, delegate=grant.id))
    next_cut(town)

    for world in town.live():
        assert operator.id in world.state.operators
        assert world.state.agents[agent.id].operator == operator.id


def admission(
    town: Town, agent: Chain, *, operator: bytes | None = None, delegate: bytes
) -> AgentAdmit:
    return AgentAdmit(
        agent=agent.id,
        operator=operator or town.founding.operators[0],
        delegate=delegate,
        custody=Custody.SELF,
    )


@pytest.mark.parametrize("number", range(4))
def test_an_agents_word_in_the_cut_of_its_admission_counts_whatever_its_id(number: int) -> None:
    town = Town.of(1, 5)
    agent = town.stranger(Role.AGENT, number)
    declared = AgentDeclare(family="f", provider="p", model="m")
    offer = AgentSubscribe(topics=("code",), keywords=(), on=True)
    said = agent.say(declared), agent.say(offer)
    town.admit(agent)
    next_cut(town)
    known = town.world().state.agents[agent.id]

    assert (known.declared, known.offer) == (declared, offer)
    assert not any(refused(town.world(), one) for one in said)


def test_the_latest_word_of_an_agent_counts() -> None:
    town = Town.of(1, 5)
    world, pen = town.world(), town.pen(Role.AGENT, 0)
    words = [AgentDeclare(family=name, provider="p", model="m") for name in ("one", "two")]
    town.arrive(world, *(pen.say(word) for word in words))
    next_cut(town)

    assert world.state.agents[pen.id].declared == words[1]


def test_the_word_of_a_stranger_does_not_count() -> None:
    town = Town.of(1, 5)
    stranger = town.stranger(Role.AGENT)
    said = stranger.say(AgentDeclare(family="f", provider="p", model="m"))
    town.arrive(town.world(), *stranger.records)
    next_cut(town)

    assert refused(town.world(), said) is Code.NOT_ADMITTED


def newcomers() -> dict[str, Code]:
    """Name the ways in which an admission of an agent fails."""
    return {
        "delegated by another operator": Code.NOT_PROVEN,
        "delegated for another agent": Code.NOT_PROVEN,
        "delegated until yesterday": Code.NOT_PROVEN,
        "never delegated": Code.NOT_PROVEN,
        "an operator that is not admitted": Code.NOT_ADMITTED,
        "an agent that nobody knows": Code.NOT_ADMITTED,
        "an agent that is revoked": Code.NOT_ADMITTED,
        "an operator as an agent": Code.NOT_ADMITTED,
        "admitted before": Code.DUPLICATE,
    }


RESTS_ON_NOTHING = {
    "never delegated",
    "an operator that is not admitted",
    "an agent that nobody knows",
}
"""Ways that a later cut could still mend: the admission waits for a while."""


def wait_in_vain(town: Town, said: Record) -> None:
    """Let time pass until an admission waits no more, and see that it has waited."""
    world = town.world()
    assert refused(world, said) is None
    assert judge(world, said).fate is Fate.WAITS
    next_tick(town, admissions.LONGEST_WAIT)
    assert judge(world, said).fate is Fate.WAITS
    next_tick(town, 2)
    assert said.id not in world.state.joining.waiting


@pytest.mark.parametrize("which", newcomers())
def test_an_admission_that_rests_on_nothing_does_not_count(which: str) -> None:
    town = Town.of(1, 5)
    world = town.world()
    agent, other = town.stranger(Role.AGENT), town.stranger(Role.AGENT, 2)
    operator = town.pen(Role.OPERATOR, 0)
    stranger = town.stranger(Role.OPERATOR)
    next_tick(town, 3)
    until = world.state.cut if which == "delegated until yesterday" else None
    pens = {"delegated by another operator": stranger, "an operator that is not admitted": stranger}
    subject = {"delegated for another agent": other.id, "an operator as an agent": stranger.id}
    grant = pens.get(which, operator).say(
        Delegate(agent=subject.get(which, agent.id), scope=(), until=until)
    )
    body = AgentAdmit(
        agent=stranger.id if which == "an operator as an agent" else agent.id,
        operator=stranger.id if which == "an operator that is not admitted" else operator.id,
        delegate=named("nothing") if which == "never delegated" else grant.id,
        custody=Custody.NODE,
    )
    if which == "an agent that is revoked":
        agent.revoke()
    if which != "an agent that nobody knows":
        town.arrive(world, *agent.records)
    town.arrive(world, *stranger.records, *operator.records)
    if which == "admitted before":
        town.say(0, body)
    said = town.say(0, body)
    next_cut(town)
    if which in RESTS_ON_NOTHING:
        wait_in_vain(town, said)

    assert refused(world, said) is newcomers()[which]
    assert (agent.id in world.state.agents) is (which == "admitted before")


def test_a_delegation_counts_up_to_and_with_its_last_cut() -> None:
    town = Town.of(1, 5)
    world = town.world()
    agent, operator = town.stranger(Role.AGENT), town.pen(Role.OPERATOR, 0)
    next_tick(town, 3)
    grant = operator.say(Delegate(agent=agent.id, scope=(), until=world.state.cut + 1))
    town.arrive(world, *agent.records, *operator.records)
    town.say(0, admission(town, agent, delegate=grant.id))
    next_cut(town)

    assert agent.id in world.state.agents


def test_only_member_instances_admit() -> None:
    town = Town.of(1, 5)
    world = town.world()
    agent, instance = town.stranger(Role.AGENT), town.stranger(Role.INSTANCE)
    operator, newcomer = town.pen(Role.OPERATOR, 0), town.stranger(Role.OPERATOR)
    grant = operator.say(Delegate(agent=agent.id, scope=()))
    said = (
        instance.say(admission(town, agent, delegate=grant.id)),
        instance.say(OperatorAdmit(operator=newcomer.id)),
    )
    town.arrive(world, *agent.records, *operator.records, *newcomer.records, *instance.records)
    next_cut(town)

    assert [refused(world, one) for one in said] == [Code.NOT_ELIGIBLE] * 2
    assert agent.id not in world.state.agents
    assert newcomer.id not in world.state.operators


@pytest.mark.parametrize("which", ["nobody", "an agent", "revoked"])
def test_only_a_living_operator_is_admitted_as_one(which: str) -> None:
    town = Town.of(1, 5)
    world = town.world()
    newcomer = town.stranger(Role.AGENT if which == "an agent" else Role.OPERATOR)
    if which == "revoked":
        newcomer.revoke()
    if which != "nobody":
        town.arrive(world, *newcomer.records)
    said = town.say(0, OperatorAdmit(operator=newcomer.id))
    next_cut(town)
    if which == "nobody":
        wait_in_vain(town, said)

    assert refused(world, said) is Code.NOT_ADMITTED
    assert newcomer.id not in world.state.operators


# Certificates, cuts, ticks -----------------------------------------------------------------------


def test_a_beacon_is_made_of_secrets_and_of_the_nonces_that_a_cut_opens() -> None:
    town = Town.of(1, 5)
    world = town.world()
    signer = KeySigner(keys("town", "instance", 0).current)
    realm = town.founding.realm
    expected = hashlib.sha256(b"folkmoot/1/beacon" + realm).digest()
    assert world.state.beacon == expected
    votes: list[bytes] = []
    for cut in range(1, 5):
        if cut == 2:
            opened = town.vote(town.propose(0), VOTES)
            # The round was opened by cut 2, so the nonces are opened by the next one.
            assert world.state.cut == 2
            decide = world.rounds[opened].finals[Phase.DECIDE].records
            votes = [one.body.nonce for one in sorted(decide, key=lambda one: one.author)]  # type: ignore[union-attr]
        else:
            next_cut(town)
        # Nobody had promised a secret before cut 1: it opens none.
        secrets = [] if cut == 1 else [signer.secret(realm, cut)]
        nonces = votes if cut == 3 else []
        content = encode([expected, secrets, nonces])
        expected = hashlib.sha256(b"folkmoot/1/beacon" + content).digest()

        assert world.state.cut == cut
        assert world.state.beacon == expected
    assert len(votes) == 4
