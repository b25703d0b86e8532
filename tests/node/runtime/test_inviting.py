"""Codes open what they should and nothing else, and a place is never given twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import trio
import trio.testing

from federation.core import AgentId, Code, RefusedError
from federation.protocol import custody
from federation.records import Revoke, RevokeBy
from node.base.errors import NodeCode, RequestError
from node.runtime import Node, inviting
from node.store import Invite
from tests.builders import named
from tests.node.runtime.newcomers import Hands, admit, answer_for, join, newcomer, sign_admission
from tests.node.runtime.quick import quick
from tests.node.runtime.realm import Realm, until

DAY = 86_400_000
SOMEBODY, OTHER = named("somebody"), named("other")


@dataclass(frozen=True, kw_only=True)
class Inn:
    """A running node whose first agent invites, by a clock that a test sets."""

    town: Realm
    node: Node
    clock: Hands
    inviter: AgentId

    async def invite(self, *, uses: int = 1, days: int = 7) -> tuple[str, Invite]:
        return await self.node.invites.create(self.inviter, weight=64, uses=uses, days=days)

    def refusal(self, code: str, agent: AgentId = SOMEBODY) -> str:
        """Tell why a code is refused."""
        with pytest.raises(RequestError) as caught:
            self.node.invites.redeem(code, agent)
        assert caught.value.code is NodeCode.INVITE_REFUSED
        assert code.strip() not in str(caught.value) or not code.strip()
        return caught.value.why

    def opens(self, code: str, agent: AgentId = SOMEBODY) -> bool:
        try:
            self.node.invites.redeem(code, agent)
        except RequestError:
            return False
        return True


@asynccontextmanager
async def inn(root: Path, town: Realm | None = None) -> AsyncIterator[Inn]:
    town = town or quick(root, agents=2)
    with trio.fail_after(30):
        async with town.node(0) as node:
            clock = Hands()
            node.clock = clock
            yield Inn(town=town, node=node, clock=clock, inviter=town.agents_of(0)[0])


def everything(folder: Path) -> bytes:
    """Give all bytes of all files of a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.trio
async def test_a_code_opens_its_invite_and_takes_nothing(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        code, made = await it.invite()
        found = [it.node.invites.redeem(code, one) for one in (SOMEBODY, OTHER, SOMEBODY)]

    assert found == [made] * 3
    assert len(code) == inviting.CODE_LENGTH
    assert (made.inviter, made.weight, made.uses) == (it.inviter, 64, 1)


@pytest.mark.trio
async def test_no_other_code_opens_anything(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        code, _ = await it.invite()
        other, _ = await it.invite()
        head, start = code[:13], len("fmi_")
        wrong = [
            "",
            "fmi_",
            head,
            code[:-1],
            code + "A",
            code + code,
            code.upper(),
            code.swapcase(),
            head + other[13:],
            other[:13] + code[13:],
            code[start:],
            "fm_" + code[start:],
            "fmi_00000000_" + code[13:],
            head + "\x00" * 43,
            head + "é" * 43,
            head + "\ud800" * 43,
            "x" * 10_000,
            *(code[:at] + ("B" if code[at] == "A" else "A") + code[at + 1 :] for at in range(56)),
        ]
        reasons = {it.refusal(one) for one in wrong}

        assert it.opens(f" {code}\n"), "what was copied with a line end is still the code"
    assert reasons == {"no invite of this instance has this code"}


@pytest.mark.trio
async def test_a_code_is_kept_nowhere_and_still_opens_after_a_restart(tmp_path: Path) -> None:
    town = quick(tmp_path, agents=2)
    async with inn(tmp_path, town) as it:
        code, made = await it.invite(uses=2)
        await it.node.invites.note(made, SOMEBODY)
    kept = everything(tmp_path)
    async with inn(tmp_path, town) as it:
        assert it.node.invites.redeem(code, OTHER) == made
        assert [one.agent for one in it.node.invites.book.came_by(made.id)] == [SOMEBODY]

    assert code[13:].encode() not in kept
    assert made.sha256 in kept


@pytest.mark.trio
async def test_it_is_over_at_its_very_millisecond(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        code, made = await it.invite(days=1)
        it.clock.pass_by(DAY - 1)
        before = it.opens(code)
        it.clock.pass_by(1)

        assert made.until == it.clock.wall()
        assert before
        assert it.refusal(code) == "the invite's time is over"


@pytest.mark.trio
async def test_setting_the_clock_back_brings_no_code_to_life(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        code, _ = await it.invite(days=1)
        it.clock.pass_by(DAY)
        it.clock.said -= 30 * DAY

        assert not it.opens(code)


@pytest.mark.trio
async def test_a_clock_that_runs_ahead_for_a_while_ends_no_code_for_good(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        code, _ = await it.invite(days=1)
        it.clock.said += 365 * DAY
        ahead = it.opens(code)
        it.clock.said -= 365 * DAY

        assert not ahead, "its maker was told a date, and by this clock it has passed"
        assert it.opens(code)


@pytest.mark.trio
async def test_of_two_who_want_the_last_place_one_gets_it(tmp_path: Path) -> None:
    got: list[AgentId] = []
    refused: list[NodeCode] = []
    async with inn(tmp_path) as it:
        code, made = await it.invite(uses=3)

        async def register(agent: AgentId) -> None:
            invite = it.node.invites.redeem(code, agent)
            await trio.lowlevel.checkpoint()
            try:
                await it.node.invites.note(invite, agent)
            except RequestError as error:
                refused.append(error.code)
            else:
                got.append(agent)

        async with trio.open_nursery() as nursery:
            for number in range(10):
                nursery.start_soon(register, named("racer", number))

        assert sorted(got) == sorted(one.agent for one in it.node.invites.book.came_by(made.id))
        assert it.refusal(code).startswith("it was used as often as it may")
        kept = await it.node.store.invites()
    assert len(got) == 3
    assert refused == [NodeCode.INVITE_REFUSED] * 7
    assert {one.agent for one in kept.invited} == set(got)
    assert sorted(one.place or 0 for one in kept.invited) == [0, 1, 2]


@pytest.mark.trio
async def test_who_comes_again_keeps_its_place_also_when_it_is_used_up_and_over(
    tmp_path: Path,
) -> None:
    async with inn(tmp_path) as it:
        code, made = await it.invite()
        await it.node.invites.note(made, SOMEBODY)
        it.clock.pass_by(100 * DAY)
        again = it.node.invites.redeem(code, SOMEBODY)
        await it.node.invites.note(again, SOMEBODY)

        assert it.node.invites.book.used(made.id) == 1
        assert not it.opens(code, OTHER)


@pytest.mark.trio
async def test_a_place_that_is_given_back_is_free_again(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        code, made = await it.invite()
        await it.node.invites.note(made, SOMEBODY)
        await it.node.invites.release(SOMEBODY)
        await it.node.invites.release(OTHER)
        await it.node.invites.note(it.node.invites.redeem(code, OTHER), OTHER)
        kept = await it.node.store.invites()

    assert [one.agent for one in kept.invited] == [OTHER]


@pytest.mark.trio
async def test_a_place_is_not_given_back_once_the_admission_is_signed(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        code, made = await it.invite()
        first = newcomer(it.node.world.realm, 1)
        await it.node.invites.note(made, first.id)
        await admit(it.node, first)
        await it.node.invites.release(first.id)

        assert it.node.invites.book.used(made.id) == 1
        assert not it.opens(code, OTHER)


@pytest.mark.trio
async def test_a_request_that_failed_takes_no_place_from_its_twin_that_is_admitted(
    tmp_path: Path,
) -> None:
    async with inn(tmp_path) as it:
        _, made = await it.invite()
        first = newcomer(it.node.world.realm, 1)
        promise = await answer_for(it.node, first)
        await it.node.invites.note(made, first.id)

        async def twin() -> None:
            await it.node.invites.note(made, first.id)
            await sign_admission(it.node, first, promise)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(twin)
            # The twin is on its way to the disk, and this one wants to give the place back.
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(it.node.invites.release, first.id)
        kept = await it.node.store.invites()

        assert it.node.invites.book.used(made.id) == 1
    assert [one.agent for one in kept.invited] == [first.id]


@pytest.mark.trio
async def test_who_takes_up_another_invite_holds_one_place_in_all(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        _, first = await it.invite()
        _, second = await it.invite()
        await it.node.invites.note(first, SOMEBODY)
        await it.node.invites.note(second, SOMEBODY)
        await it.node.invites.note(first, OTHER)
        kept = await it.node.store.invites()

    assert {(one.agent, one.invite) for one in kept.invited} == {
        (SOMEBODY, second.id),
        (OTHER, first.id),
    }


@pytest.mark.trio
async def test_a_revoked_code_opens_nothing_and_a_place_is_refused_that_was_on_its_way(
    tmp_path: Path,
) -> None:
    async with inn(tmp_path) as it:
        code, made = await it.invite(uses=2)
        opened = it.node.invites.redeem(code, SOMEBODY)
        await it.node.invites.note(opened, OTHER)
        await it.node.invites.revoke(made.id)
        await it.node.invites.revoke(made.id)
        for agent in (SOMEBODY, OTHER):
            with pytest.raises(RequestError) as late:
                await it.node.invites.note(opened, agent)
            assert late.value.code is NodeCode.INVITE_REFUSED
            assert it.refusal(code, agent) == "the invite was taken back"
        with pytest.raises(RequestError) as unknown:
            await it.node.invites.revoke("00000000")
        kept = await it.node.store.invites()

    assert unknown.value.code is NodeCode.NOT_FOUND
    assert kept.invites == (replace(made, revoked=it.clock.said),)


@pytest.mark.trio
async def test_who_was_admitted_by_it_may_ask_again_although_it_was_revoked(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        code, made = await it.invite()
        agent = await join(it.node, code, 1)
        await it.node.invites.revoke(made.id)

        assert it.node.invites.redeem(code, agent).id == made.id


async def no_promise(it: Inn, agent: AgentId) -> Code | NodeCode:
    """Tell why an agent cannot invite."""
    with pytest.raises((RefusedError, RequestError)) as caught:
        await it.node.invites.create(agent, weight=1, uses=1, days=1)
    return caught.value.code


@pytest.mark.trio
async def test_who_may_not_vouch_cannot_invite(tmp_path: Path) -> None:
    town = quick(tmp_path, agents=2)
    async with inn(tmp_path, town) as it:
        young = await it.node.admit("young")
        unknown = await no_promise(it, young)
        await until(lambda: young in it.node.world.state.agents)
        codes = [
            unknown,
            await no_promise(it, young),
            await no_promise(it, it.node.instance),
            await no_promise(it, SOMEBODY),
        ]

    assert codes == [
        Code.NOT_ADMITTED,
        Code.NOT_ELIGIBLE,
        Code.NOT_ADMITTED,
        NodeCode.NOT_IN_CUSTODY,
    ]
    assert not it.node.invites.book.all()


@pytest.mark.trio
async def test_an_inviter_that_may_no_longer_vouch_opens_nothing(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        code, _ = await it.invite(uses=2)
        agents = it.node.world.state.agents
        as_it_was = agents[it.inviter]
        reasons = []
        for change in ({"tier": 0}, {"found_bad": 3}, {"scope": frozenset({"agent.declare"})}):
            agents[it.inviter] = replace(as_it_was, **change)  # type: ignore[arg-type]
            reasons.append(it.refusal(code))
        agents[it.inviter] = as_it_was
        again = it.opens(code)
        await it.node.sign(
            it.inviter,
            lambda world, ring, now: custody.author(
                world, ring, Revoke(by=RevokeBy.CURRENT, reason="stolen"), now=now
            ),
        )
        await until(lambda: it.node.world.state.identities[it.inviter].keys.revoked)
        reasons.append(it.refusal(code))
        code_of_making = await no_promise(it, it.inviter)

    assert again
    assert [one.split()[-1] for one in reasons] == ["0", "bad", "it", "revoked"]
    assert code_of_making is Code.REVOKED


@pytest.mark.trio
async def test_an_agent_has_a_limited_number_of_open_invites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inviting, "LIVE_EACH", 2)
    async with inn(tmp_path) as it:
        _, first = await it.invite()
        await it.invite(days=30)
        one = await no_promise(it, it.inviter)
        other = it.town.agents_of(0)[1]
        await it.node.invites.create(other, weight=1, uses=1, days=1)
        await it.node.invites.note(first, SOMEBODY)
        await it.invite()
        two = await no_promise(it, it.inviter)
        it.clock.pass_by(7 * DAY)
        await it.invite()

    assert (one, two) == (NodeCode.BUSY, NodeCode.BUSY)


@pytest.mark.trio
async def test_many_that_are_made_at_once_are_no_more_than_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inviting, "LIVE_EACH", 3)
    monkeypatch.setattr(inviting, "MOST_KEPT", 4)
    made, refused = list[Invite](), list[NodeCode]()
    async with inn(tmp_path) as it:
        for _ in range(2):
            await it.node.invites.revoke((await it.invite())[1].id)

        async def make() -> None:
            try:
                made.append((await it.invite())[1])
            except RequestError as error:
                refused.append(error.code)

        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(make)
        kept = await it.node.store.invites()

        assert list(kept.invites) == it.node.invites.book.all()
    assert len(made) == 3
    assert refused == [NodeCode.BUSY] * 7
    assert len(kept.invites) == 4


@pytest.mark.trio
async def test_where_all_are_kept_that_may_be_the_oldest_that_is_over_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inviting, "MOST_KEPT", 3)
    town = quick(tmp_path, agents=2)
    async with inn(tmp_path, town) as it:
        _, waits = await it.invite()
        _, open_still = await it.invite(days=30)
        _, gone = await it.invite()
        full = await no_promise(it, it.inviter)
        await it.node.invites.note(waits, SOMEBODY)
        await it.node.invites.revoke(gone.id)
        _, newer = await it.invite()
        left = it.node.invites.book.all()
        # The only one that is over now still waits for its vouch.
        _, newest = await it.invite()
        rest = it.node.invites.book.all()
        kept = await it.node.store.invites()

    assert full is NodeCode.BUSY
    assert left == [waits, open_still, newer]
    assert rest == [open_still, newer, newest]
    assert kept.invites == (open_still, newer, newest)
    assert not kept.invited


@pytest.mark.trio
async def test_what_cannot_be_kept_takes_no_place(tmp_path: Path) -> None:
    async with inn(tmp_path) as it:
        code, made = await it.invite()
        # An id that no schema takes stands for a disk that refuses.
        with pytest.raises(Exception, match="WRITE_REFUSED"):
            await it.node.invites.note(made, b"short")

        assert it.node.invites.book.used(made.id) == 0
        assert it.opens(code)


@pytest.mark.trio
async def test_two_invites_never_share_an_id(tmp_path: Path) -> None:
    town = quick(tmp_path, agents=2)
    drawn = [b"\xaa" * 32, b"\x01" * 4, b"\xbb" * 32, b"\x01" * 4, b"\x02" * 4]
    async with inn(tmp_path, town) as it:
        it.node.entropy = lambda count: drawn.pop(0)[:count]
        made = [(await it.invite())[1].id for _ in range(2)]

    assert made == ["01010101", "02020202"]
