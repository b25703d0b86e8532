"""A town where joining costs something, and proofs for it: real ones, under terms that take no time."""

from msgspec.structs import replace

from federation.admission import (
    Mint,
    Work,
    blank_work,
    does_work,
    passes_gate,
    work_bytes,
)
from federation.charter import Admission, preset
from federation.core import InstanceId
from federation.protocol import World
from federation.records import OperatorAdmit, Record, Role
from tests.builders import Chain
from tests.federation.protocol.town import Town
from tests.federation.protocol.trial import Trial

RULES = replace(
    preset("test").admission,
    memory_kib=8,
    parts=2,
    agent_bits=2,
    operator_bits=3,
    most_bits=5,
    gate_bits=4,
    target=1_000,
    instance_least=8,
    operator_agents=8,
    operator_growth=4,
)
"""About ten hashes of 8 KiB for an agent; so many are expected that the bits stay where they are."""


def rules(**fields: int) -> Admission:
    """Give these rules with some fields changed."""
    return replace(RULES, **fields)


def costly(instances: int = 1, agents: int = 4, **fields: int) -> Trial:
    """Start a town where joining costs what `RULES` say, with some of them changed.

    Its epochs are long, so a cut that a proposal calls is no tick (`soon`).
    """
    return Trial.of(
        instances,
        agents,
        operators=instances,
        timing=replace(preset("test").timing, epoch=20_000),
        admission=rules(**fields),
    )


def soon(town: Town) -> World:
    """Let a founder call the next cut, which is no tick; give the first instance's world after it."""
    before = town.world().state
    cut, tick = before.cut, before.tick
    town.propose(0, f"A claim for cut {cut + 1}")
    town.in_cut(cut + 1)
    assert town.world().state.tick == tick
    return town.world()


def minted(
    world: World,
    pen: Chain,
    instance: InstanceId,
    *,
    epoch: int | None = None,
    role: Role | None = None,
) -> Work:
    """Search for the proof that an instance asks of a newcomer now, or asked in the epoch before."""
    tick = world.state.tick
    epoch, role = tick if epoch is None else epoch, role or pen.identity.role
    asked = world.state.joining.in_force(tick, role)(epoch)
    assert asked is not None, "only this epoch and the one before ask for anything"
    return found(
        blank_work(
            realm=world.realm,
            role=role,
            instance=instance,
            key=pen.identity.key,
            epoch=epoch,
            beacon=asked.beacon,
            terms=asked.terms,
        )
    )


def found(blank: Work) -> Work:
    """Search to the end."""
    mint = Mint(blank=blank)
    progress = mint.start()
    while not progress.is_over:
        progress = mint.advance(progress, 100_000)
    return mint.finish(progress)


def proof(town: Town, pen: Chain, *, instance: int = 0) -> bytes:
    """Give the bytes of a good proof for an instance of the town."""
    name = town.founding.instances[instance]
    return work_bytes(minted(town.world(instance), pen, name))


def worthless(work: Work) -> Work:
    """Give a proof whose gate holds and whose parts do not."""
    for number in range(2**16):
        solutions = tuple(number.to_bytes(8, "big") for _ in work.solutions)
        if not does_work(replace(work, solutions=solutions)):
            return gated(replace(work, solutions=solutions))
    raise AssertionError


def gated(work: Work, *, holds: bool = True) -> Work:
    """Give a proof, good or bad, a gate that holds; or one that does not."""
    gates = (replace(work, gate=nonce.to_bytes(8, "big")) for nonce in range(2**20))
    return next(one for one in gates if passes_gate(one) is holds)


def admit_operator(
    town: Town, pen: Chain, proof: bytes | None, *, instance: int = 0, domain: str | None = None
) -> Record:
    """Let an instance admit an operator, past the door."""
    town.arrive(town.world(instance), *pen.records)
    return town.say(instance, OperatorAdmit(operator=pen.id, proof=proof, domain=domain))
