"""What two worlds of one node must have in common, however each of them was brought back."""

from federation.protocol import World, snapshot
from federation.trust import Edge

_ROUND = ("pin", "seats", "charter_hash", "opened_at", "finals", "certified", "phase", "verdict")
_LOOSE = ("ledger", "agreement", "audits", "graph", "reckoned", "tables")
"""Parts of the state that know no equality; what they amount to stands in digest and views."""


def differences(a: World, b: World) -> list[str]:
    """Name every part of two worlds that is not the same; what only speeds things up is left out."""
    found = [
        f"state.{name}"
        for name in a.state.__slots__
        if name not in _LOOSE and getattr(a.state, name) != getattr(b.state, name)
    ]
    found += [
        f"round.{name}"
        for key in a.rounds.keys() & b.rounds.keys()
        for name in (*_ROUND, "closed")
        if getattr(a.rounds[key], name) != getattr(b.rounds[key], name)
    ]
    for name, one, other in (
        ("digest", a.digest, b.digest),
        ("edges", edges(a), edges(b)),
        ("positions", a.positions, b.positions),
        ("rounds", list(a.rounds), list(b.rounds)),
        ("slots", a.slots.keys(), b.slots.keys()),
        (
            "slot",
            {key: (one.pinned, one.state, one.started) for key, one in a.slots.items()},
            {key: (one.pinned, one.state, one.started) for key, one in b.slots.items()},
        ),
        ("certificates", dict(a.certificates), dict(b.certificates)),
        ("contained", a.certificates.contained, b.certificates.contained),
        ("open", a.certificates.open, b.certificates.open),
        ("filed", a.filed.keys(), b.filed.keys()),
        ("to_file", a.to_file.keys(), b.to_file.keys()),
        ("triggers", a.triggers, b.triggers),
        ("incomplete", a.incomplete, b.incomplete),
        ("asked", a.asked, b.asked),
        ("strangers", a.strangers, b.strangers),
        ("awaited", a.awaited, b.awaited),
        ("starts", a.starts, b.starts),
        ("journal", a.journal, b.journal),
        ("ticked_at", a.ticked_at, b.ticked_at),
        ("me", _me(a), _me(b)),
        ("snapshot", snapshot.take(a), snapshot.take(b)),
    ):
        if one != other:
            found.append(name)
    return found


def edges(world: World) -> dict[bytes, dict[bytes, Edge]]:
    """Give the acts of judgement of a world, by who judged whom."""
    graph = world.state.graph
    return {by: dict(out) for by in graph.agents() if (out := graph.out_of(by))}


def _me(world: World) -> tuple[object, ...]:
    me = world.me
    return () if me is None else (me.instance, me.counter, me.settled, me.amnesia, me.silent_until)
