"""Newcomers in a town whose charter asks for proofs: admitted with a good one, a bad one or none."""

from msgspec.structs import replace

from federation.admission import Mint, Work, blank_work, passes_gate, terms_of, work_bytes
from federation.charter import Admission, preset
from federation.core import InstanceId
from federation.protocol.progress import is_contained
from federation.records import AgentAdmit, Custody, Delegate, OperatorAdmit, Record, Role
from tests.builders import Chain
from tests.federation.protocol.town import Town

RULES = replace(
    preset("test").admission,
    memory_kib=8,
    passes=1,
    parts=1,
    agent_bits=1,
    operator_bits=1,
    most_bits=8,
    gate_bits=4,
    instance_least=3,
    operator_agents=6,
    operator_growth=2,
)
"""Proofs that take no time, and small quotas."""
HOUR = 3_600_000


def town(instances: int = 3, agents: int = 6, *, rules: Admission = RULES, **rest: object) -> Town:
    """Found a realm that asks for proofs; its epochs are long, so that counts can be seen."""
    timing = replace(preset("test").timing, epoch=HOUR)
    return Town.of(instances, agents, admission=rules, **{"timing": timing, **rest})


def blank(here: Town, newcomer: Chain, instance: InstanceId) -> Work:
    """Write what a newcomer has to search for, for now."""
    state = here.world().state
    role = newcomer.identity.role
    return blank_work(
        realm=state.realm,
        role=role,
        instance=instance,
        key=newcomer.signer.public,
        epoch=state.tick,
        beacon=state.joining.beacon,
        terms=terms_of(state.joining.rules, role, state.joining.bits),
    )


def good(here: Town, newcomer: Chain, *, instance: int = 0) -> bytes:
    """Search for a proof."""
    mint = Mint(blank=blank(here, newcomer, here.founding.instances[instance]))
    progress = mint.start()
    while not progress.is_over:
        progress = mint.advance(progress, 100_000)
    return work_bytes(mint.finish(progress))


def false(here: Town, newcomer: Chain, *, instance: int = 0) -> bytes:
    """Make a proof whose gate passes and whose part does no work."""
    work = blank(here, newcomer, here.founding.instances[instance])
    work = replace(work, bits=30)
    gates = (replace(work, gate=nonce.to_bytes(8, "big")) for nonce in range(2**20))
    return work_bytes(next(one for one in gates if passes_gate(one)))


def admit(
    here: Town,
    newcomer: Chain,
    *,
    proof: bytes | None,
    operator: int = 0,
    instance: int = 0,
    domain: str | None = None,
) -> Record:
    """Let an instance sign an admission past its own door, as a patched one would."""
    world = here.world(instance)
    here.arrive(world, *newcomer.records)
    if newcomer.identity.role is Role.OPERATOR:
        return here.say(instance, OperatorAdmit(operator=newcomer.id, proof=proof, domain=domain))
    grant = here.pen(Role.OPERATOR, operator).say(Delegate(agent=newcomer.id, scope=()))
    # Where the pen looks as well: the operator's next word must come after this one.
    for one in {here.founding.instances[0], here.founding.instances[instance]}:
        here.arrive(here.worlds[one], newcomer.head, grant)
    return here.say(
        instance,
        AgentAdmit(
            agent=newcomer.id,
            operator=here.founding.operators[operator],
            delegate=grant.id,
            custody=Custody.SELF,
            proof=proof,
        ),
    )


def decided(here: Town, *records: Record) -> Town:
    """Let a cut of every instance contain some records."""
    # Admissions call no cut: they wait for the next tick, or for a proposal that calls one.
    here.propose(0, f"A claim of {here.now}")
    return here.until(
        lambda one: all(is_contained(world, each) for world in one.live() for each in records)
    )
