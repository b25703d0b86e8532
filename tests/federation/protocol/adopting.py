"""What tests let operators of a town do together: propose other rules, cosign."""

from msgspec.structs import replace

from federation.artifacts import State
from federation.certificates import Phase
from federation.charter import Rules, rules_bytes, rules_of
from federation.core import RoundId
from federation.crypto import KeySigner
from federation.protocol import Keyring, World, authoring
from federation.records import ActCosign, Body, CharterAdopt, Ground, Record, Role
from tests.federation.protocol.acts import next_cut
from tests.federation.protocol.town import Town, keys


def other_rules(world: World, **changes: object) -> Rules:
    """Give the newest rules with some fields of the section on review changed: k, if none is named."""
    rules = rules_of(world.state.acts.newest.charter)
    return replace(rules, review=replace(rules.review, **(changes or {"k": 8})))


def adoption(world: World, rules: Rules | None = None, **fields: object) -> CharterAdopt:
    """Give the act that adopts rules, written for the newest charter."""
    newest = world.state.acts.newest
    body = CharterAdopt(
        number=newest.charter.number + 1,
        base=newest.hash,
        rules=rules_bytes(rules or other_rules(world)),
        from_tick=0,
        reason="More voices.",
    )
    return replace(body, **fields)


def say(town: Town, operator: int, body: Body) -> Record:
    """Let a founding operator sign, past the door, and the record arrive."""
    record = town.pen(Role.OPERATOR, operator).say(body)
    town.arrive(town.world(), record)
    return record


def cosign(town: Town, act: Record, *operators: int) -> list[Record]:
    """Let operators cosign an act."""
    return [say(town, operator, ActCosign(act=act.id)) for operator in operators]


def disputed(town: Town) -> tuple[Record, RoundId]:
    """Bring a dispute to the operators: too few are left for its panel, and no arbiter is asked.

    Needs four operators with two agents each. First they adopt that any reviewer may dispute.
    """
    record = town.propose(0)
    town.vote(record, {1: 1, 2: 1, 3: 1})
    town.settled()
    world = town.world()
    rules = rules_of(world.charter)
    eased = replace(rules, disputes=replace(rules.disputes, r_dispute=rules.review.r_min))
    act = say(town, 0, adoption(world, eased))
    next_cut(town)
    cosign(town, act, 1, 2, 3)
    town.until(lambda now: all(one.charter.number == 1 for one in now.live()))
    filed = authoring.dispute(
        town.home(5),
        town.keyring(5),
        record.id,
        ground=Ground.INACCURATE,
        note="It fails.",
        salt=bytes(16),
        now=town.now,
    )
    town.arrive(town.home(5), filed)
    town.until(
        lambda now: all(
            one.state.artifacts[record.id].state is State.DISPUTED for one in now.live()
        )
    )
    round_id = world.state.artifacts[record.id].round
    assert round_id is not None
    town.in_phase(round_id, Phase.ADMIN)
    return record, round_id


def ring(town: Town, index: int = 0) -> Keyring:
    """Give the keys of a founding operator."""
    signer = KeySigner(keys(town.seed, "operator", index).current)
    return Keyring(agent=town.founding.operators[index], keys=(signer,))
