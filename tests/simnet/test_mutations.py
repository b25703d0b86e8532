"""The mutation check: rules that are left out are missed at once, by the scenarios of this suite.

Each test runs a scenario that passes, leaves one rule out, and sees the same scenario fail. If one
of these stops failing, the simulated network has become blind, not the protocol better.
"""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from federation.certificates import Cosign, Phase, RoundSlot, Step, member, membership, slot_key
from federation.certificates.values import ListValue
from federation.core import Millis
from federation.protocol import World
from federation.records import Commit, Record, Reveal, sign_record
from federation.simulation.network import SimAgent, SimNetwork, Violation
from federation.simulation.network.watch import is_at_rest, watched
from federation.simulation.network.worst_cases import shown_to_one, two_faces
from tests.simnet.eavesdrop import four

SEEDS = range(4)


def run(network: SimNetwork, after: Millis) -> None:
    """Run a scenario to its end; every artifact must come to rest."""
    assert network.run_until(lambda: network.now > after and is_at_rest(network), most=30_000)
    network.finish()


def findings(build: Callable[[int], SimNetwork], after: Millis) -> list[str]:
    """List the rules that the scenarios of a few seeds see broken."""
    found = []
    for seed in SEEDS:
        try:
            run(build(seed), after)
        except Violation as violation:
            found.append(violation.rule)
    return found


def plain(seed: int) -> SimNetwork:
    network = watched(four(), seed=str(seed))
    network.start()
    network.at(20, lambda: network.propose(0))
    return network


def ignored_locks(seed: int) -> SimNetwork:
    return shown_to_one(seed, liar=seed % 4)


def faces(seed: int) -> SimNetwork:
    return two_faces(seed, second=frozenset({3} if seed % 2 else {2, 3}), votes_needed=2)


def test_unchanged_rules_pass_every_scenario_that_the_mutants_fail() -> None:
    assert findings(plain, 1_000) == []
    assert findings(ignored_locks, 6_000) == []


def test_two_faces_pass_under_the_true_quorum() -> None:
    for seed in SEEDS:
        network = two_faces(seed, second=frozenset({2, 3}))

        run(network, 3_000)


def cosigned_box(world: World, agent: SimAgent) -> Record | None:
    """Find the agent's commitment in a list that q members have cosigned: not yet a certificate."""
    for key, live in world.slots.items():
        slot = live.slot
        if not isinstance(slot, RoundSlot) or slot.phase is not Phase.COMMIT or live.state.is_final:
            continue
        votes = defaultdict(set)
        for (step, voice), kept in live.state.said.items():
            for heard in kept:
                if step is Step.COSIGN and isinstance(heard.body, Cosign):
                    votes[heard.body.digest].add(voice)
        for digest, voices in votes.items():
            value = live.state.values.get(digest)
            if len(voices) >= live.pinned.quorum.q and isinstance(value, ListValue):
                for name in value.records:
                    record = world.log.get(name)
                    if record is not None and record.author == agent.agent:
                        assert key == slot_key(slot)
                        return record
    return None


def test_revealing_at_q_cosigns_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    act = SimAgent.act

    def hasty(self: SimAgent, world: World, now: Millis) -> Record | None:
        listed = cosigned_box(world, self)
        if listed is None or not isinstance(listed.body, Commit):
            return act(self, world, now)
        signer = self.keyring.current
        ballot, nonce = signer.open(world.realm, listed.body.round, listed.body.sealed)
        ((seq, head),) = world.log.heads_of(self.agent)
        body = Reveal(round=listed.body.round, after=bytes(32), ballot=ballot, nonce=nonce)
        return sign_record(
            body,
            realm=world.realm,
            signer=signer,
            author=self.agent,
            key_index=0,
            seq=seq + 1,
            prev=head,
            at=now,
        )

    def impatient(seed: int) -> SimNetwork:
        """Give the scenario of ignored locks, with agents that look at the box all the time."""
        network = ignored_locks(seed)
        for when in range(400, 3_000, 20):
            for agent in network.agents:
                network.at(when, lambda agent=agent: network.attend(agent))  # type: ignore[misc]
        return network

    assert findings(impatient, 6_000) == []
    monkeypatch.setattr(SimAgent, "act", hasty)

    assert "revealed before the box was shut" in findings(impatient, 6_000)


def test_promises_that_nobody_checks_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member, "promises_permit", lambda *_: member.Permit.LOCKED)

    assert findings(ignored_locks, 6_000).count("two values certified") >= len(SEEDS) // 2


def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    true = membership.quorum

    def quorum(n: int, *, three_available: bool) -> membership.Quorum:
        right = true(n, three_available=three_available)
        return membership.Quorum(n=right.n, f=right.f, q=max(1, right.q - 1))

    monkeypatch.setattr(membership, "quorum", quorum)


def test_a_quorum_that_is_one_smaller_is_found_by_counting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    smaller(monkeypatch)

    assert findings(plain, 1_000) == ["certificate without a quorum"] * len(SEEDS)


def test_a_quorum_that_is_one_smaller_splits_the_community(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    smaller(monkeypatch)

    found = findings(faces, 3_000)

    assert len(found) == len(SEEDS)
    assert set(found) <= {"two values certified", "two locks at one fence"}
    assert "two values certified" in found


def test_the_mutated_rules_are_where_the_core_looks_them_up() -> None:
    # A patch of a name that nobody reads any more would make this whole file blind.
    source = Path(member.__file__).read_text(encoding="utf-8")
    pinned = Path(membership.__file__).read_text(encoding="utf-8")

    assert "promises_permit(turn.pinned" in source
    assert "quorum=quorum(" in pinned
