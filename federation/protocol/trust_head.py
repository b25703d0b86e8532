"""What this realm shows another of its trust: the body of an `instance.trust_head` record.

It is made of canonical trust only, which starts at the charter's seeds and flows along acts of this
realm. No link of anybody is in it, so what one realm says of another goes no further (design: no
transitive re-export). In its own realm it has no effect.
"""

from federation.protocol.epochs import silent
from federation.protocol.rows import world_digest
from federation.protocol.state import State
from federation.records import HEAD_ROWS, TrustHead, TrustRow, trust_head_root
from federation.trust.eigentrust import HEAVIEST


def head_of(state: State) -> TrustHead:
    """Name the most trusted agents, at most 256, with 1..255 for trust beside the highest.

    Of equal trust the lowest id comes first. Who is revoked, or has a fork that nothing has
    settled, is left out, and so is who holds no trust.
    """
    mute = silent(state)
    trusted = sorted(
        (
            (agent.trust, name)
            for name, agent in state.agents.items()
            if agent.trust and name not in mute
        ),
        key=lambda one: (-one[0], one[1]),
    )[:HEAD_ROWS]
    rows = tuple(
        TrustRow(
            key=state.identities[name].keys.key,
            agent=name,
            weight=max(1, HEAVIEST * trust // trusted[0][0]),
        )
        for trust, name in sorted(trusted, key=lambda one: one[1])
    )
    return TrustHead(
        cut=state.cut, root=trust_head_root(rows), top=rows, digest=world_digest(state)
    )
