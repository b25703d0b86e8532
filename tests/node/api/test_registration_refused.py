"""Each way in which a registration is refused, with its code; nothing of it is stored."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from federation.admission import Work, work_bytes
from federation.core import Code
from federation.protocol import Keys
from federation.protocol.inputs import Arrived
from federation.records import (
    Delegate,
    OperatorAdmit,
    Record,
    Revoke,
    RevokeBy,
    Role,
    sign_record,
    wire,
)
from node.runtime.revealing import keyring_of
from tests.node.api.living import proposal, until
from tests.node.api.newcomers import (
    Newcomer,
    blank,
    body_of,
    coded,
    found,
    newcomer,
    without_gate,
    without_work,
)
from tests.node.api.registering import Town, answers_for, code_of, town

ELSE = bytes([7]) * 32


def stored(here: Town) -> int:
    return len(here.it.node.world.log)


CLAIMS: dict[str, tuple[Callable[[Work], Work], Code]] = {
    "realm": (lambda work: replace(work, realm=ELSE), Code.PROOF_WRONG_REALM),
    "instance": (lambda work: replace(work, instance=ELSE), Code.PROOF_WRONG_INSTANCE),
    "key": (lambda work: replace(work, key=ELSE), Code.PROOF_WRONG_KEY),
    "role": (lambda work: replace(work, role=Role.OPERATOR), Code.PROOF_WRONG_ROLE),
    "later epoch": (lambda work: replace(work, epoch=work.epoch + 1), Code.PROOF_STALE),
    "beacon": (lambda work: replace(work, beacon=ELSE), Code.PROOF_WRONG_BEACON),
    "fewer bits": (lambda work: replace(work, bits=work.bits - 1), Code.PROOF_PARAMETERS),
    "fewer bits of the gate": (
        lambda work: replace(work, gate_bits=work.gate_bits - 1),
        Code.PROOF_PARAMETERS,
    ),
    "less memory": (lambda work: replace(work, memory_kib=7), Code.PROOF_PARAMETERS),
    "more memory": (lambda work: replace(work, memory_kib=16), Code.PROOF_PARAMETERS),
    "more passes": (lambda work: replace(work, passes=2), Code.PROOF_PARAMETERS),
    "fewer parts": (
        lambda work: replace(work, solutions=work.solutions[:1]),
        Code.PROOF_PARAMETERS,
    ),
    "more parts": (
        lambda work: replace(work, solutions=(*work.solutions, bytes(8))),
        Code.PROOF_PARAMETERS,
    ),
    "memory above the limits": (
        lambda work: replace(work, memory_kib=2**32),
        Code.PROOF_PARAMETERS,
    ),
    "bits above the limits": (lambda work: replace(work, bits=33), Code.PROOF_PARAMETERS),
}


@pytest.mark.trio
async def test_a_proof_that_claims_something_else_is_refused_with_the_code_of_what_it_claims(
    tmp_path: Path,
) -> None:
    async with town(tmp_path) as here:
        agent, word = here.agent()
        good = await here.work(agent)
        before = len(here.it.node.world.log)
        answers = {
            name: await here.post(agent, spoil(good), word) for name, (spoil, _) in CLAIMS.items()
        }
        missing = await here.post(agent, None, word)

        assert len(here.it.node.world.log) == before
        assert here.it.node.proofs.waiting == 0
        taken = await here.post(agent, good, word)
    assert {name: code_of(answer) for name, answer in answers.items()} == {
        name: str(code) for name, (_, code) in CLAIMS.items()
    }
    assert (missing.status_code, code_of(missing)) == (403, "PROOF_MISSING")
    assert taken.status_code == 201


@pytest.mark.trio
async def test_a_proof_of_the_epoch_before_counts_and_an_older_one_does_not(tmp_path: Path) -> None:
    async with town(tmp_path, epoch=1_500) as here:
        state = here.it.node.world.state
        tick = state.tick
        await until(lambda: state.tick > tick)
        (early, first), (late, second) = here.agent("early"), here.agent("late")
        begun = await here.terms()
        works = [found(blank(begun, one)) for one in (early, late)]
        await until(lambda: state.tick == begun["epoch"] + 1)
        taken = await here.post(early, works[0], first)
        await until(lambda: state.tick == begun["epoch"] + 2)
        second = here.agent("late")[1] if second.prev not in here.it.node.world.log else second
        stale = await here.post(late, works[1], second)

    assert taken.status_code == 201, taken.text
    assert (stale.status_code, code_of(stale)) == (409, "PROOF_STALE")


@pytest.mark.trio
async def test_a_proof_serves_one_identity_only_while_it_waits_and_after_its_cut(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, epoch=2_500) as here:
        keys = Keys.derived(b"twins")
        twins = [newcomer(here.realm, Role.OPERATOR, name, keys=keys) for name in ("a", "ab")]
        work = await here.work(twins[0])
        first = await here.post(twins[0], work)
        before = stored(here)
        waiting = await here.post(twins[1], work)
        # Else one proof would bring any number of strangers in, past the bound on them.
        assert stored(here) == before
        await until(lambda: twins[0].id in here.it.node.world.state.operators)
        after = await here.post(twins[1], work)

        assert twins[1].id not in here.it.node.world.state.operators
    assert first.status_code == 201
    assert (waiting.status_code, code_of(waiting)) == (409, "PROOF_REPLAYED")
    assert (after.status_code, code_of(after)) == (409, "PROOF_REPLAYED")


@pytest.mark.trio
async def test_a_wrong_gate_and_wrong_work_are_told_apart_and_nothing_is_stored(
    tmp_path: Path,
) -> None:
    async with town(tmp_path) as here:
        agent, word = here.agent()
        good = await here.work(agent)
        before = stored(here)
        gate = await here.post(agent, without_gate(good), word)
        work = await here.post(agent, without_work(good), word)

        assert stored(here) == before
    assert (gate.status_code, code_of(gate)) == (422, "PROOF_GATE")
    assert (work.status_code, code_of(work)) == (422, "PROOF_WORK")


@pytest.mark.trio
async def test_an_instance_admits_no_more_than_its_quota_waiting_ones_included(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, instance_least=1, instance_share=0) as here:
        _, first = await here.register_agent("first")
        _, second = await here.register_agent("second")
        operator = await here.register(newcomer(here.realm, Role.OPERATOR))
        page = await here.terms()

    assert first.status_code == operator.status_code == 201
    assert (second.status_code, code_of(second)) == (429, "OVER_QUOTA")
    assert "1" in second.json()["why"]
    assert (page["agents"]["left"], page["operators"]["left"]) == (0, 0)


@pytest.mark.trio
async def test_an_operator_answers_for_no_more_agents_than_its_quota(tmp_path: Path) -> None:
    # The operator of the instance answers for its five founders.
    async with town(tmp_path, operator_agents=6, operator_growth=0) as here:
        _, first = await here.register_agent("first")
        _, second = await here.register_agent("second")

    assert first.status_code == 201, first.text
    assert (second.status_code, code_of(second)) == (429, "OVER_QUOTA")
    assert "operator" in second.json()["why"]


@pytest.mark.trio
@pytest.mark.parametrize(
    ("registration", "code"),
    [("closed", "REGISTRATION_CLOSED"), ("invited", "INVITE_REFUSED")],
)
async def test_where_registration_is_not_open_nobody_is_let_in_just_so(
    tmp_path: Path, registration: str, code: str
) -> None:
    async with town(tmp_path, registration=registration) as here:
        before = stored(here)
        answers = [
            await here.register(newcomer(here.realm, Role.OPERATOR)),
            (await here.register_agent("robin"))[1],
        ]
        page = await here.terms()

        assert stored(here) == before
    assert page["policy"] == registration
    assert [(one.status_code, code_of(one)) for one in answers] == [(403, code)] * 2


@pytest.mark.trio
async def test_a_code_that_opens_nothing_is_refused_also_where_none_is_needed(
    tmp_path: Path,
) -> None:
    async with town(tmp_path) as here:
        agent, word = here.agent()
        answer = await here.register(agent, word, invite="fmi_0123abcd_" + "A" * 43)

    assert (answer.status_code, code_of(answer)) == (403, "INVITE_REFUSED")


@pytest.mark.trio
async def test_a_word_that_does_not_answer_for_the_agent_is_refused(tmp_path: Path) -> None:
    async with town(tmp_path, epoch=3_000) as here:
        world = here.it.node.world
        operator = newcomer(here.realm, Role.OPERATOR, "owner")
        await here.register(operator)
        await until(lambda: operator.id in world.state.operators)
        stranger = newcomer(here.realm, Role.OPERATOR, "stranger")
        agent, other = here.agent()[0], here.agent("other")[0]
        head = operator.chain[0]
        good = answers_for(operator, agent)
        body = Delegate(agent=agent.id, scope=())
        words = {
            "NOT_PROVEN": [
                operator.say(Delegate(agent=other.id, scope=()), after=head),
                operator.say(Delegate(agent=agent.id, scope=(), until=world.state.cut), after=head),
                operator.chain[0],
            ],
            "NOT_ADMITTED": [answers_for(stranger, agent), answers_for(agent, agent)],
            "WAITS_FOR_PREV": [operator.say(body, after=good)],
            "BAD_SIGNATURE": [replace(good, signature=bytes(64))],
            "BAD_CHAIN": [
                operator.say(
                    body, after=world.log.get(world.state.instances[here.it.node.instance])
                )
            ],
        }
        work = await here.work(agent)
        before = stored(here)
        answers = {
            code: [await here.post(agent, work, word) for word in some]
            for code, some in words.items()
        }
        assert stored(here) == before
        taken = await here.post(agent, work, good)
        # By now another record stands at the place of the word.
        late = newcomer(here.realm, Role.AGENT, "late")
        rival = operator.say(Delegate(agent=late.id, scope=()), after=head)
        forked = await here.register(late, rival)

        assert not world.log.is_forked(operator.id)
    assert {code: {code_of(one) for one in some} for code, some in answers.items()} == {
        code: {code} for code in words
    }
    assert taken.status_code == 201, taken.text
    assert (forked.status_code, code_of(forked)) == (409, "FORK")


@pytest.mark.trio
async def test_a_revoked_operator_answers_for_nobody_and_a_revoked_newcomer_does_not_join(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, epoch=2_500) as here:
        world = here.it.node.world
        operator = newcomer(here.realm, Role.OPERATOR, "owner")
        gone = newcomer(here.realm, Role.OPERATOR, "gone")
        await here.register(operator)
        await until(lambda: operator.id in world.state.operators)
        agent = newcomer(here.realm, Role.AGENT, "robin")
        word = answers_for(operator, agent)
        records = [word, revoked(operator), gone.chain[0], revoked(gone)]
        sent = await here.client.post(
            "/v1/records", json={"records": [coded(wire(one)) for one in records]}
        )
        answers = [await here.register(agent, word), await here.register(gone)]
        await until(lambda: world.state.identities[operator.id].keys.revoked)
        answers.append(await here.register(agent, word))

    assert all(one["stored"] for one in sent.json()["records"]), sent.text
    assert [(one.status_code, code_of(one)) for one in answers] == [(403, "REVOKED")] * 3


def revoked(one: Newcomer) -> Record:
    return one.say(Revoke(by=RevokeBy.CURRENT, reason="lost"))


@pytest.mark.trio
async def test_what_is_no_registration_is_refused_and_nothing_is_stored(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        agent, word = here.agent()
        operator = newcomer(here.realm, Role.OPERATOR, "owner")
        abroad = newcomer(bytes(32), Role.OPERATOR, "abroad")
        whole = body_of(agent, await here.work(agent), word)
        records = [coded(wire(agent.chain[0])), coded(wire(word))]
        junk = {
            "BAD_FIELD": [
                {**whole, "records": records[:1]},
                {**whole, "records": [*records, records[1]]},
                {**whole, "records": []},
                {**whole, "records": ["?"]},
                {**whole, "proof": "not base64!"},
                {**whole, "proof": coded(bytes(2_000))},
                {**whole, "role": "instance"},
                {**whole, "domain": "example.org"},
                {**whole, "more": 1},
                {**body_of(operator, await here.work(operator)), "domain": "Example.org"},
                {**body_of(operator, await here.work(operator)), "domain": "127.0.0.1"},
            ],
            "NOT_CANONICAL": [
                {**whole, "records": [records[0], coded(b"")]},
                {**whole, "records": [records[0], coded(b"\xff" * 40)]},
                {**whole, "proof": coded(b"")},
                {**whole, "proof": coded(b"\x00" * 99)},
            ],
            "TOO_LARGE": [{**whole, "proof": coded(bytes(1_025))}],
            "WRONG_ROLE": [
                {**whole, "records": records[::-1]},
                {**whole, "role": "operator", "records": records[:1]},
            ],
            "BAD_SIGNATURE": [
                {**whole, "records": [coded(wire(replace(agent.chain[0], signature=bytes(64)))), records[1]]},
                body_of(abroad, found(blank(await here.terms(), abroad))),
            ],
        }  # fmt: skip
        before = stored(here)
        answers = {
            code: [await here.client.post("/v1/registration", json=body) for body in bodies]
            for code, bodies in junk.items()
        }
        large = await here.client.post("/v1/registration", json={**whole, "proof": "A" * 16_384})
        empty = await here.client.post("/v1/registration", content=b"")

        assert stored(here) == before
    assert {code: {code_of(one) for one in some} for code, some in answers.items()} == {
        code: {code} for code in junk
    }
    assert (large.status_code, code_of(large)) == (413, "BODY_TOO_LARGE")
    assert empty.status_code == 415


@pytest.mark.trio
async def test_a_domain_that_does_not_name_the_operator_is_refused_after_all_else_was_good(
    tmp_path: Path,
) -> None:
    async with town(tmp_path) as here:
        operator = newcomer(here.realm, Role.OPERATOR, "owner")
        before = stored(here)
        answer = await here.register(operator, domain="moot.invalid")
        unworked = await here.post(operator, None, domain="moot.invalid")

        assert stored(here) == before
    assert (answer.status_code, code_of(answer)) == (422, "DOMAIN_NOT_PROVEN")
    assert code_of(unworked) == "PROOF_MISSING"


@pytest.mark.trio
async def test_an_instance_that_has_signed_for_a_false_proof_admits_nobody_in_that_epoch(
    tmp_path: Path,
) -> None:
    async with town(tmp_path) as here:
        node = here.it.node
        bogus = newcomer(here.realm, Role.OPERATOR, "bogus")
        work = without_work(await here.work(bogus))
        # Past its own door, as a hostile instance would.
        ring = keyring_of(node.world, node.keystore, node.instance)
        assert ring is not None
        seq, head = node.world.log.heads_of(node.instance)[0]
        admission = sign_record(
            OperatorAdmit(operator=bogus.id, proof=work_bytes(work)),
            realm=here.realm,
            signer=ring.current,
            author=node.instance,
            key_index=0,
            seq=seq + 1,
            prev=head,
            at=0,
        )
        node.driver.take(Arrived(records=(bogus.chain[0], admission), peer=None))
        async with here.it.acting(0) as alice:
            await alice.post("/v1/artifacts", json=proposal())
        await until(lambda: node.instance in node.world.state.joining.false)
        page = await here.terms()
        answer = (await here.register_agent("robin"))[1]

    assert page["barred"] is True
    assert (answer.status_code, code_of(answer)) == (403, "INSTANCE_BARRED")
