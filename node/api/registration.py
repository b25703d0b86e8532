"""Routes by which newcomers register that keep their own keys: what is asked for, and the door.

Every attempt costs its address; a false proof costs it its hearing. Attempts of one address are
taken one after the other, so that the first false proof is also the last.
"""

import base64
import binascii
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from federation.admission import terms_of
from federation.core import FederationError
from federation.protocol.admittance import room_taken
from federation.records import Role
from node import commands
from node.api.bans import banned
from node.api.calls import Call, Reply, Route
from node.commands.registration_refusals import BANS
from node.runtime import Node

MOST_BODY: Final = 16 * 1024
"""Bytes of a registration; one of an agent has some 2,000."""
_CREATED: Final = 201
_LONGEST_RECORD: Final = 12 * 1024
_LONGEST_PROOF: Final = 2_048
_LONGEST_CODE: Final = 64
_LONGEST_DOMAIN: Final = 253


class JoiningTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What a proof has to show in this epoch, and for how many there is room."""

    memory_kib: int
    """Memory of one Argon2id hash, in KiB."""
    passes: int
    """Passes over that memory."""
    parts: int
    """Sub-puzzles."""
    bits: int
    """Leading zero bits of each sub-puzzle; more are welcome."""
    gate_bits: int
    """Leading zero bits of the SHA-256 gate; more are welcome."""
    left: int
    """How many more this instance may admit until the next tick; those that wait are taken off."""


class RegistrationPage(msgspec.Struct, frozen=True, kw_only=True):
    """What registering with this instance takes now."""

    realm: str
    """Id of the realm, in hex."""
    instance: str
    """The instance that admits, in hex."""
    policy: str
    """`open`: whoever brings a proof; `invited`: who also has an invite; `closed`: nobody."""
    epoch: int
    """Number of the newest tick, which a proof is bound to; one of the epoch before still counts."""
    beacon: str
    """Beacon of that tick, in hex, which a proof is bound to as well."""
    free: bool
    """The charter asks for no proof at all; only test realms do."""
    barred: bool
    """The instance signed an admission with a false proof, and admits nobody until the next tick."""
    agents: JoiningTerms
    """For agents."""
    operators: JoiningTerms
    """For operators."""


class Register(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A newcomer, its records and its proof."""

    role: Literal["agent", "operator"]
    """What it is."""
    records: Annotated[
        tuple[Annotated[str, Meta(max_length=_LONGEST_RECORD)], ...],
        Meta(min_length=1, max_length=2),
    ]
    """In base64: of an operator its inception; of an agent its inception, then the
    `identity.delegate` by which an admitted operator answers for it."""
    proof: Annotated[str, Meta(max_length=_LONGEST_PROOF)] | None = None
    """Canonical bytes of the proof, in base64; nil where none is asked for."""
    invite: Annotated[str, Meta(max_length=_LONGEST_CODE)] | None = None
    """Code of an invite; the inviter then vouches for the agent."""
    domain: Annotated[str, Meta(max_length=_LONGEST_DOMAIN)] | None = None
    """Of an operator: a domain whose `/.well-known/folkmoot.json` names its id."""


class RegisteredPage(msgspec.Struct, frozen=True, kw_only=True):
    """A newcomer that the instance admits."""

    id: str
    """Its id, in hex."""
    role: Role
    """Agent or operator."""
    admission: str
    """Id of the record by which the instance admits it, in hex."""
    operator: str | None
    """Who answers for the agent, in hex; nil for an operator."""
    instance: str
    """The instance that admits it, in hex."""
    cut: int
    """The cut that this node has reached; the newcomer is admitted by a later one, or was by it."""
    says: str
    """The same in a sentence."""


async def show(call: Call) -> RegistrationPage:
    """Show what registering takes now."""
    node = call.node
    state = node.world.state
    joining = state.joining
    return RegistrationPage(
        realm=state.realm.hex(),
        instance=node.instance.hex(),
        policy=node.settings.registration,
        epoch=state.tick,
        beacon=joining.beacon.hex(),
        free=joining.is_free,
        barred=node.instance in joining.false,
        agents=_terms(node, Role.AGENT),
        operators=_terms(node, Role.OPERATOR),
    )


async def register(call: Call) -> Reply:
    """Admit a newcomer that keeps its own keys."""
    limits, remote = call.service.limits, call.remote
    # Before anything is read: also what is refused costs this node time.
    call.spend(limits.registration - 1)
    body = call.take(Register)
    wish = commands.Wish(
        role=Role(body.role),
        records=tuple(
            _bytes(f"$.records[{index}]", text) for index, text in enumerate(body.records)
        ),
        proof=None if body.proof is None else _bytes("$.proof", body.proof),
        invite=body.invite,
        domain=body.domain,
    )
    async with call.service.turns.of(remote[0]):
        _check_banned(call)
        try:
            done = await commands.register(
                call.node,
                wish,
                charge=lambda operator: call.spend_of(operator, limits.registration),
            )
        except FederationError as error:
            if error.code in BANS:
                call.service.bans.ban(remote[0], call.node.clock.now(), spare=remote[1])
            raise
    return Reply(status=_CREATED, content=_page(done))


def _check_banned(call: Call) -> None:
    """Raise NodeError BANNED if an earlier request of the address has had it banned."""
    clock = call.node.clock
    now = clock.now()
    until = call.service.bans.until(call.remote[0], now)
    if until:
        raise banned(clock.wall() + until - now)


def _terms(node: Node, role: Role) -> JoiningTerms:
    state = node.world.state
    joining = state.joining
    asked = terms_of(joining.rules, role, joining.bits)
    taken = (
        joining.count(role, node.instance)
        + room_taken(node.world, role=role, instance=node.instance)[0]
    )
    return JoiningTerms(
        memory_kib=asked.memory_kib,
        passes=asked.passes,
        parts=asked.parts,
        bits=asked.bits,
        gate_bits=asked.gate_bits,
        left=max(0, joining.most(len(state.agents)) - taken),
    )


def _bytes(field: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise commands.bad_field(field, "it is not base64") from error


def _page(done: commands.Registered) -> RegisteredPage:
    says = (
        f"this instance admits the {done.role}: the next cut decides, and the newest is {done.cut}"
        if done.waits
        else f"the {done.role} is admitted"
    )
    return RegisteredPage(
        id=done.id.hex(),
        role=done.role,
        admission=done.admission.hex(),
        operator=None if done.operator is None else done.operator.hex(),
        instance=done.instance.hex(),
        cut=done.cut,
        says=says,
    )


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/registration",
        summary="What registering with this instance takes now",
        handler=show,
        gives=RegistrationPage,
    ),
    Route(
        method="POST",
        path="/v1/registration",
        summary="Register an operator or an agent that keeps its own keys",
        handler=register,
        gives=RegisteredPage,
        takes=Register,
        most=MOST_BODY,
        says="The same registration, sent again, gets the same answer: after a lost one simply send "
        "it again. A proof that is none has the sender's address banned for ten minutes and more.",
    ),
)
"""Rows of the table of routes."""
