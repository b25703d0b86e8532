"""The charter for readers: every number of the protocol, with its ids in hex."""

import msgspec

from federation.charter import (
    Admission,
    Charter,
    Disputes,
    Quotas,
    Review,
    Rules,
    Sanctions,
    Timing,
    Trust,
    rules_of,
    worst_case_of,
    worst_case_time,
)
from federation.core import Millis
from federation.protocol import World
from federation.records import did_key
from node.queries.names import cid_of


class FoundingInstance(msgspec.Struct, frozen=True, kw_only=True):
    """A founding instance."""

    instance: str
    """Id of its inception record, in hex."""
    cid: str
    """The same as a CIDv1."""
    operator: str
    """Id of the operator that answers for it, in hex."""
    key: str
    """Its inception public key, in hex; the realm's id is made from these."""
    did: str
    """The same as a did:key."""


class FoundingAgent(msgspec.Struct, frozen=True, kw_only=True):
    """A founder: a reviewer from the first round on."""

    agent: str
    """Id of its inception record, in hex."""
    cid: str
    """The same as a CIDv1."""
    operator: str
    """Id of the operator that answers for it, in hex."""
    instance: str
    """Id of the instance that admitted it, in hex."""
    tier: int
    """Tier that it keeps until it has interactions of its own."""
    badges: tuple[str, ...]
    """Offices it may be drawn for."""


class GenesisPage(msgspec.Struct, frozen=True, kw_only=True):
    """What cut 0 contains."""

    instances: tuple[FoundingInstance, ...]
    """Founding instances, by id."""
    operators: tuple[str, ...]
    """Founding operators, ids in hex."""
    founders: tuple[FoundingAgent, ...]
    """Founding agents, by id."""
    records: tuple[str, ...]
    """Ids of all genesis records, in hex."""
    seeds: tuple[str, ...] | None
    """Founders from which trust starts, ids in hex; nil means all of them."""


class CharterPage(msgspec.Struct, frozen=True, kw_only=True):
    """The charter in force: every number of the protocol."""

    hash: str
    """Hash of its canonical bytes, in hex: every message of an agreement names it."""
    number: int
    """0 at genesis."""
    act: str | None
    """The act that adopted it, in hex; nil for the charter of the genesis."""
    since_tick: int
    """First tick under it."""
    since_cut: int
    """First cut whose rounds it governs."""
    protocol: int
    """Version of the protocol."""
    preset: str
    """Preset that it started from."""
    name: str
    """Name of the realm, for people."""
    salt: str
    """The random bytes in the realm's id, in hex."""
    timing: Timing
    """Cuts, ticks and timers."""
    review: Review
    """Rounds."""
    disputes: Disputes
    """Disputes, reports, resubmissions."""
    trust: Trust
    """Reputation and weight."""
    admission: Admission
    """Joining."""
    quotas: Quotas
    """Limits per author."""
    sanctions: Sanctions
    """What violations bring."""
    genesis: GenesisPage
    """Founders and founding members."""
    worst_case_low: Millis
    """Longest time to a terminal state for low sensitivity in ms, while a quorum is connected."""
    worst_case_high: Millis
    """The same for high sensitivity."""
    worst_case_dispute: Millis
    """The same for a dispute."""
    worst_case_report: Millis
    """The same for an urgent report that is credible."""
    worst_case_appeal: Millis
    """The same for an appeal of a sanction."""


class RulesPage(msgspec.Struct, frozen=True, kw_only=True):
    """The rules that a further charter is written for."""

    number: int
    """Number of their charter."""
    hash: str
    """Its hash in hex: what the next `charter.adopt` names as its base."""
    in_force: bool
    """False while it is adopted and waits for its tick."""
    rules: Rules
    """All sections that a charter may change."""


def newest_rules(world: World) -> RulesPage:
    """Show what a further charter is written for: the newest one that is adopted."""
    acts = world.state.acts
    newest = acts.newest
    return RulesPage(
        number=newest.charter.number,
        hash=newest.hash.hex(),
        in_force=not acts.coming,
        rules=rules_of(newest.charter),
    )


def charter(world: World) -> CharterPage:
    """Show the charter in force."""
    now, reign = world.charter, world.state.acts.reigns[-1]
    return CharterPage(
        hash=world.state.charter_hash.hex(),
        number=now.number,
        act=reign.act.hex() if reign.act else None,
        since_tick=reign.tick,
        since_cut=reign.cut,
        protocol=now.protocol,
        preset=now.preset,
        name=now.name,
        salt=now.salt.hex(),
        timing=now.timing,
        review=now.review,
        disputes=now.disputes,
        trust=now.trust,
        admission=now.admission,
        quotas=now.quotas,
        sanctions=now.sanctions,
        genesis=_genesis(now),
        worst_case_low=worst_case_time(now, "low").total,
        worst_case_high=worst_case_time(now, "high").total,
        worst_case_dispute=worst_case_of(now, "dispute").total,
        worst_case_report=worst_case_of(now, "report").total,
        worst_case_appeal=worst_case_of(now, "appeal").total,
    )


def _genesis(now: Charter) -> GenesisPage:
    genesis = now.genesis
    return GenesisPage(
        instances=tuple(
            FoundingInstance(
                instance=row.instance.hex(),
                cid=cid_of(row.instance),
                operator=row.operator.hex(),
                key=row.key.hex(),
                did=did_key(row.key),
            )
            for row in genesis.instances
        ),
        operators=tuple(name.hex() for name in genesis.operators),
        founders=tuple(
            FoundingAgent(
                agent=row.agent.hex(),
                cid=cid_of(row.agent),
                operator=row.operator.hex(),
                instance=row.instance.hex(),
                tier=row.tier,
                badges=row.badges,
            )
            for row in genesis.founders
        ),
        records=tuple(name.hex() for name in genesis.records),
        seeds=None if genesis.seeds is None else tuple(name.hex() for name in genesis.seeds),
    )
