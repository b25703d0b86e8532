import base64
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from federation.core import Code as Fault
from federation.core import PeerError
from federation.crypto import KeySigner
from federation.protocol import Keys, incept
from federation.records import Body, Delegate, Record, Role, Rotate, RotateBy, sign_record, wire
from node.base.errors import NodeCode
from node.cli.client import Client, Target
from node.cli.errors import Code, CommandError, Exit
from node.cli.register_home import Registrant
from node.cli.register_talk import Talk
from tests.builders import named

REALM = named("realm")
KEY = named("key")
TERMS: dict[str, Any] = {
    "memory_kib": 16_384,
    "passes": 1,
    "parts": 4,
    "bits": 9,
    "gate_bits": 18,
    "left": 8,
}
DOOR: dict[str, Any] = {
    "realm": REALM.hex(),
    "instance": named("instance").hex(),
    "policy": "open",
    "epoch": 7,
    "beacon": named("beacon").hex(),
    "free": False,
    "barred": False,
    "agents": TERMS,
    "operators": {**TERMS, "bits": 12},
}


def talk(answers: Callable[[httpx.Request], tuple[int, object]]) -> Talk:
    """Speak with an instance that answers so."""

    def answer(request: httpx.Request) -> httpx.Response:
        status, told = answers(request)
        return httpx.Response(status, json=told)

    return Talk(
        Client(Target(url="http://there", token=None), transport=httpx.MockTransport(answer))
    )


def showing(**changes: object) -> Talk:
    return talk(lambda _: (200, {**DOOR, **changes}))


# Terms ----------------------------------------------------------------------------------------


def test_each_role_is_told_its_own_terms() -> None:
    agent, operator = (showing().door(role) for role in (Role.AGENT, Role.OPERATOR))

    assert agent.terms is not None
    assert operator.terms is not None
    assert (agent.terms.bits, operator.terms.bits) == (9, 12)
    assert (agent.epoch, agent.left, agent.realm) == (7, 8, REALM)


def test_an_instance_of_a_later_version_may_tell_more() -> None:
    assert showing(more=1, agents={**TERMS, "more": 2}).door(Role.AGENT).left == 8


@pytest.mark.parametrize(
    "changes",
    [
        {"memory_kib": 262_145},
        {"memory_kib": 7},
        {"passes": 5},
        {"parts": 17},
        {"parts": 0},
        {"bits": 33},
        {"bits": -1},
        {"gate_bits": 41},
        {"memory_kib": 2**62},
    ],
)
def test_terms_beyond_the_hard_limits_are_refused(changes: dict[str, int]) -> None:
    with pytest.raises(CommandError) as found:
        showing(agents={**TERMS, **changes}).door(Role.AGENT)

    assert found.value.code == Code.TERMS_REFUSED
    assert found.value.leaves is Exit.REFUSED
    assert next(iter(changes)) in found.value.why


@pytest.mark.parametrize(
    "changes",
    [
        {"realm": "ab"},
        {"realm": REALM.hex().upper() + "x"},
        {"instance": None},
        {"epoch": -1},
        {"epoch": 2**60},
        {"epoch": "7"},
        {"beacon": 7},
        {"agents": []},
        {"agents": {**TERMS, "bits": "many"}},
        {"agents": {**TERMS, "bits": 9.5}},
    ],
)
def test_nonsense_is_no_answer(changes: dict[str, object]) -> None:
    with pytest.raises(CommandError) as found:
        showing(**changes).door(Role.AGENT)

    assert found.value.code == Code.NO_ANSWER


@pytest.mark.parametrize("told", [None, [], 7, "open", {}])
def test_another_thing_than_an_object_is_no_answer(told: object) -> None:
    for asked in (lambda one: one.door(Role.AGENT), lambda one: one.known(named("agent"))):
        with pytest.raises(CommandError) as found:
            asked(talk(lambda _: (200, told)))

        assert found.value.code == Code.NO_ANSWER


def test_where_nothing_is_asked_for_there_is_nothing_to_search() -> None:
    assert showing(free=True).door(Role.AGENT).blank(Role.AGENT, KEY) is None


def test_a_proof_is_bound_to_all_that_the_instance_says() -> None:
    door = showing().door(Role.AGENT)
    work = door.blank(Role.AGENT, KEY)

    assert work is not None
    assert door.fault_of(work, Role.AGENT, KEY) is None
    assert door.fault_of(work, Role.OPERATOR, KEY) is Fault.PROOF_WRONG_ROLE
    assert door.fault_of(work, Role.AGENT, named("other")) is Fault.PROOF_WRONG_KEY
    for changes, fault in (
        ({"epoch": 8}, None),
        ({"epoch": 9}, Fault.PROOF_STALE),
        ({"epoch": 6}, Fault.PROOF_STALE),
        ({"beacon": named("another").hex()}, Fault.PROOF_WRONG_BEACON),
        ({"instance": named("another").hex()}, Fault.PROOF_WRONG_INSTANCE),
        ({"realm": named("another").hex()}, Fault.PROOF_WRONG_REALM),
        ({"agents": {**TERMS, "bits": 10}}, Fault.PROOF_PARAMETERS),
        ({"agents": {**TERMS, "bits": 8}}, None),
        ({"agents": {**TERMS, "memory_kib": 8_192}}, Fault.PROOF_PARAMETERS),
    ):
        later = showing(**changes).door(Role.AGENT)
        assert later.fault_of(work, Role.AGENT, KEY) is fault, changes


def test_a_proof_of_the_epoch_before_is_not_judged_by_the_terms_of_now() -> None:
    work = showing().door(Role.AGENT).blank(Role.AGENT, KEY)
    harder = showing(epoch=8, agents={**TERMS, "bits": 10}, beacon=named("new").hex())

    assert work is not None
    assert harder.door(Role.AGENT).fault_of(work, Role.AGENT, KEY) is None
    beyond = replace(work, memory_kib=2**40)
    assert harder.door(Role.AGENT).fault_of(beyond, Role.AGENT, KEY) is Fault.PROOF_STALE


# An operator's chain --------------------------------------------------------------------------

SEEDS = Keys(current=named("current"), next=named("next"), recovery=named("recovery"))
SIGNER = KeySigner(SEEDS.current)


class Chain:
    """An operator's chain, with an instance that shows it."""

    def __init__(self) -> None:
        self.records: list[Record] = [incept(REALM, "ada", Role.OPERATOR, SEEDS, at=1)]
        self.shown: dict[str, Record] = {}

    def say(
        self,
        body: Body,
        *,
        after: Record | None = None,
        signer: KeySigner = SIGNER,
        key_index: int = 0,
    ) -> Record:
        last = after or self.records[-1]
        record = sign_record(
            body,
            realm=REALM,
            signer=signer,
            author=self.records[0].id,
            key_index=key_index,
            seq=last.seq + 1,
            prev=last.id,
            at=5,
        )
        self.records.append(record)
        self.shown[record.id.hex()] = record
        return record

    def word(
        self, number: int, *, after: Record | None = None, signer: KeySigner = SIGNER
    ) -> Record:
        body = Delegate(agent=named("agent", number), scope=())
        return self.say(body, after=after, signer=signer)

    def held(self, count: int) -> Registrant:
        return Registrant(realm=REALM, records=tuple(self.records[:count]))

    @property
    def head(self) -> tuple[int, bytes]:
        return self.records[-1].seq, self.records[-1].id

    def talk(self) -> Talk:
        def answer(request: httpx.Request) -> tuple[int, object]:
            record = self.shown[request.url.path.rpartition("/")[2]]
            return 200, {"wire": base64.b64encode(wire(record)).decode()}

        return talk(answer)


@pytest.fixture
def chain() -> Chain:
    chain = Chain()
    chain.word(1)
    chain.word(2)
    chain.word(3)
    return chain


def test_what_was_signed_elsewhere_is_fetched_in_order(chain: Chain) -> None:
    assert chain.talk().newer(chain.held(1), chain.head) == tuple(chain.records[1:])
    assert chain.talk().newer(chain.held(3), chain.head) == (chain.records[3],)


def test_an_instance_that_is_behind_tells_nothing_new(chain: Chain) -> None:
    for seq in range(4):
        assert chain.talk().newer(chain.held(4), (seq, chain.records[seq].id)) == ()


def test_a_head_that_the_operator_has_not_signed_is_not_believed(chain: Chain) -> None:
    chain.word(4, signer=KeySigner(named("thief")))
    with pytest.raises(PeerError) as found:
        chain.talk().newer(chain.held(4), chain.head)

    assert found.value.code is Fault.BAD_SIGNATURE


def test_another_chain_than_the_one_that_was_signed_here_is_a_fork(chain: Chain) -> None:
    mine = chain.held(3)
    other = chain.word(9, after=chain.records[1])
    with pytest.raises(CommandError) as found:
        chain.talk().newer(mine, (other.seq, other.id))
    assert found.value.code == Fault.FORK

    longer = chain.word(10, after=other)
    with pytest.raises(CommandError) as found:
        chain.talk().newer(mine, (longer.seq, longer.id))
    assert found.value.code == Fault.FORK


def test_a_key_that_was_rotated_elsewhere_signs_nothing_here(chain: Chain) -> None:
    fresh = KeySigner(SEEDS.next)
    chain.say(
        Rotate(
            key=fresh.public,
            next=named("n"),
            recovery=named("r"),
            by=RotateBy.NEXT,
            reason="",
        ),
        signer=fresh,
        key_index=1,
    )
    with pytest.raises(CommandError) as found:
        chain.talk().newer(chain.held(4), chain.head)

    assert found.value.code == NodeCode.KEY_NOT_KEPT


def test_invented_records_are_no_answer(chain: Chain) -> None:
    stranger = incept(REALM, "eve", Role.OPERATOR, SEEDS, at=2)
    for name, shown in (
        ((4, named("nothing")), chain.records[3]),
        ((4, stranger.id), stranger),
        ((9, chain.records[3].id), chain.records[3]),
        ((5_000, named("nothing")), chain.records[3]),
    ):
        chain.shown[name[1].hex()] = shown
        with pytest.raises(CommandError) as found:
            chain.talk().newer(chain.held(4), name)

        assert found.value.code == Code.NO_ANSWER


@pytest.mark.parametrize("told", [{}, {"wire": "§"}, {"wire": "AAAA"}, [], {"wire": 7}])
def test_what_is_no_record_is_refused(told: object, chain: Chain) -> None:
    with pytest.raises((CommandError, PeerError)):
        talk(lambda _: (200, told)).newer(chain.held(4), (4, named("nothing")))


def test_an_answer_for_somebody_else_is_no_receipt(chain: Chain) -> None:
    told = {"id": named("other").hex(), "admission": named("record").hex(), "cut": 3}
    with pytest.raises(CommandError) as found:
        talk(lambda _: (201, told)).send(
            chain.held(1), delegate=None, proof=None, invite=None, domain=None
        )

    assert found.value.code == Code.NO_ANSWER


def test_what_an_instance_does_not_know_is_none() -> None:
    refused = {"code": "NOT_FOUND", "what": "w", "why": "y", "fix": "f"}

    assert talk(lambda _: (404, refused)).known(named("agent")) is None
