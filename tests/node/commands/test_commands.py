"""Commands name the field at fault before anything is drawn or signed; fresh chance every time."""

from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from federation.core import Code, RefusedError
from federation.crypto import Basis, Choice, Reason
from federation.records import Commit, Propose, Stance
from node.base.entropy import random_bytes
from node.base.errors import NodeCode, RequestError
from node.commands import Proposal, Vote, argue, propose, vote
from node.commands.fields import check, digests, text
from tests.node.api.living import living, until

DIGEST = bytes(range(32))
GOOD = Proposal(title="t", topics=("a/b",))


def named(field: str, call: Callable[[], object]) -> None:
    with pytest.raises(RequestError) as caught:
        call()
    assert caught.value.code is NodeCode.BAD_FIELD
    assert caught.value.why.endswith(f" - at `{field}`")


def test_a_field_is_held_to_its_length_and_its_path_is_named() -> None:
    assert text("$.a", "abc", most=3) == "abc"
    named("$.a", lambda: text("$.a", "abcd", most=3))
    named("$.a", lambda: text("$.a", "", most=3, least=1))


def test_a_value_is_held_to_its_type_and_the_path_goes_on_inside() -> None:
    assert check("$.a", ("x",), tuple[str, ...]) == ("x",)
    named("$.a[1]", lambda: check("$.a", ("x", 7), tuple[str, ...]))


def test_digests_are_hex_of_32_bytes_and_few() -> None:
    assert digests("$.a", [DIGEST.hex()], most=1) == (DIGEST,)
    named("$.a", lambda: digests("$.a", ["00", "00"], most=1))
    for wrong in ("", "00", "zz" * 32, "é" * 64, DIGEST.hex() + " "):
        named("$.a[0]", lambda wrong=wrong: digests("$.a", [wrong], most=1))  # type: ignore[misc]


@pytest.mark.trio
@pytest.mark.parametrize(
    ("bad", "field"),
    [
        (Proposal(title="", topics=("a",)), "$.title"),
        (Proposal(title="t", topics=()), "$.topics"),
        (Proposal(title="t", topics=("a", "a")), "$.topics"),
        (Proposal(title="t", topics=("a",), cites=(DIGEST, DIGEST)), "$.cites"),
        (Proposal(title="t", topics=("a",), lang="x"), "$.lang"),
        (Proposal(title="t", topics=("a",), claims=("",)), "$.claims[0]"),
        (Proposal(title="t", topics=("a",), sources=("s",) * 17), "$.sources"),
    ],
)
async def test_a_bad_proposal_draws_nothing(tmp_path: Path, bad: Proposal, field: str) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            it.node.entropy = _never
            with pytest.raises(RequestError) as caught:
                await propose(it.node, it.agents[0], bad)

    assert caught.value.why.endswith(f"`{field}`")


def _never(count: int) -> bytes:
    raise AssertionError(f"{count} bytes were drawn for nothing")


@pytest.mark.trio
async def test_a_vote_is_held_to_few_and_different_digests(tmp_path: Path) -> None:
    five = tuple(bytes([one]) * 32 for one in range(5))
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            it.node.entropy = _never
            for bad, field in (
                ({"evidence": five}, "$.evidence"),
                ({"arguments": (DIGEST, DIGEST)}, "$.arguments"),
            ):
                cast = Vote(choice=Choice.FOR, reason=Reason.NOVEL, basis=Basis.TOOL, **bad)
                with pytest.raises(RequestError) as caught:
                    await vote(it.node, it.agents[1], bytes(32), cast)
                assert caught.value.why.endswith(f"`{field}`")
            with pytest.raises(RequestError, match="note"):
                await argue(it.node, it.agents[1], bytes(32), stance=Stance.FOR, note="")


@pytest.mark.trio
async def test_every_salt_and_nonce_is_fresh_and_comes_from_the_node(tmp_path: Path) -> None:
    drawn: list[bytes] = []

    def keep(count: int) -> bytes:
        drawn.append(random_bytes(count))
        return drawn[-1]

    cast = Vote(
        choice=Choice.AGAINST, reason=Reason.UNCLEAR, basis=Basis.MEMORY, evidence=(DIGEST,)
    )
    with trio.fail_after(30):
        async with living(tmp_path) as it:
            it.node.entropy = keep
            proposed = await propose(it.node, it.agents[0], GOOD)
            await until(lambda: it.node.world.rounds)
            (name,) = it.node.world.rounds
            await until(lambda: it.node.world.rounds[name].phase == "commit")
            commits = [await vote(it.node, agent, name, cast) for agent in it.agents[1:3]]

    assert isinstance(proposed.body, Propose)
    assert [len(one) for one in drawn] == [16, 32, 24, 32, 24]
    assert len(set(drawn)) == 5
    assert proposed.text_raw is not None
    assert drawn[0] in proposed.text_raw
    bodies = [one.body for one in commits]
    assert all(isinstance(body, Commit) for body in bodies)
    # Equal ballots look different, and none shows its nonce.
    assert len({body.commitment for body in bodies if isinstance(body, Commit)}) == 2
    for record, nonce in zip(commits, (drawn[1], drawn[3]), strict=True):
        assert nonce not in record.body_raw


@pytest.mark.trio
async def test_a_proposal_that_is_repeated_before_it_is_decided_is_the_same(
    tmp_path: Path,
) -> None:
    with trio.fail_after(30):
        async with living(tmp_path) as it:
            first = await propose(it.node, it.agents[0], GOOD)
            waiting = await propose(it.node, it.agents[0], GOOD)
            await until(lambda: first.id in it.node.world.state.artifacts)
            under_review = await propose(it.node, it.agents[0], GOOD)
            other = await propose(it.node, it.agents[0], Proposal(title="u", topics=("a/b",)))
            records = it.node.world.log.count_of(it.agents[0])
            with pytest.raises(RefusedError) as refused:
                await propose(it.node, it.agents[1], GOOD)

    assert (waiting, under_review) == (first, first)
    assert other.id != first.id
    # Inception and two proposals.
    assert records == 3
    assert refused.value.code is Code.DUPLICATE
