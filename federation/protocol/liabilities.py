"""Who is found bad at a tick, and the rows of those who vouched for it (design: evidence; ADR 35).

An agent is *found bad* at a tick whose evidence brings its reputation from its own outcomes below
what an author needs (`review.r_min`), or at which it is banned (`charge_ban`, ADR 40). What those outcomes say against it is
then shared with those who vouch for it, or did within the last window of ticks. It can be found bad
again once it has recovered; each outcome is shared once.

Own outcomes are all rows but liability: who answers for others is not found bad by that, so
nothing cascades. Everybody is found by the books of before this tick's liability, so the order in
which agents are looked at changes nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from federation.core import AgentId, Digest, Micro
from federation.trust import Evidence, Liability, liability_evidence

if TYPE_CHECKING:
    # The state holds the book of sanctions, which charges; at run time nothing of it is needed.
    from federation.protocol.state import Agent, State


def charge(state: "State", fresh: Iterable[Evidence]) -> None:
    """Find who is bad by the tick's fresh evidence, and let those who vouched for it answer.

    The ledger holds `fresh` already, and no liability of this tick. Vouches that were taken back
    more than a window ago are forgotten.
    """
    state.unvouched = {
        pair: tick
        for pair, tick in state.unvouched.items()
        if state.tick - tick <= state.charter.trust.window
    }
    accused = {row.subject for row in fresh if row.negative}
    found = [state.agents[name] for name in sorted(accused) if _is_found_bad(state, name)]
    if not found:
        return
    former = _former_vouchers(state)
    table = state.charter.trust.evidence
    for agent in found:
        state.ledger.add(liability_evidence(_liability(state, agent, former), table))
        state.agents[agent.agent] = replace(agent, found_bad=state.tick)


def charge_ban(
    state: "State", name: AgentId, *, cause: Digest, extra: Micro
) -> tuple[AgentId, ...]:
    """Let those who vouched for an agent answer for its ban; tell who pays, ascending.

    `cause` names the ban in the books, so that it can be withdrawn alone; `extra` is what counts
    against the agent beside its outcomes. Outcomes that were shared before are not shared again.
    """
    agent = state.agents[name]
    liability = replace(_liability(state, agent, _former_vouchers(state)), cause=cause)
    liability = replace(liability, negative=liability.negative + extra)
    rows = liability_evidence(liability, state.charter.trust.evidence)
    state.ledger.add(rows)
    state.agents[name] = replace(agent, found_bad=state.tick)
    return tuple(sorted({row.subject for row in rows}))


def _is_found_bad(state: "State", name: AgentId) -> bool:
    """Tell whether this tick's evidence brings an agent below what an author needs."""
    least = state.charter.review.r_min
    agent = state.agents.get(name)
    if agent is None or state.ledger.own_r(name, state.tick) >= least:
        return False
    # Who is bad already is found again only once it has been better.
    return agent.found_bad is None or state.ledger.own_r(name, state.tick - 1) >= least


def _liability(
    state: "State", agent: "Agent", former: Mapping[AgentId, Collection[AgentId]]
) -> Liability:
    after = state.tick - state.charter.trust.window
    if agent.found_bad is not None:
        after = max(after, agent.found_bad)
    return Liability(
        cause=agent.agent,
        tick=state.tick,
        agent=agent.agent,
        operator=agent.operator,
        negative=state.ledger.own_negative(agent.agent, after=after),
        vouches=tuple(_vouches_toward(state, agent.agent, former)),
    )


def _former_vouchers(state: "State") -> Mapping[AgentId, Collection[AgentId]]:
    """Give by agent who took a vouch for it back so lately that it still answers."""
    former: dict[AgentId, set[AgentId]] = {}
    for by, agent in state.unvouched:
        former.setdefault(agent, set()).add(by)
    return former


def _vouches_toward(
    state: "State", agent: AgentId, former: Mapping[AgentId, Collection[AgentId]]
) -> Iterator[tuple[AgentId, AgentId]]:
    """List the vouches that lead to an agent as far as liability goes, in no order."""
    seen, ring = {agent}, {agent}
    for _ in range(state.charter.trust.evidence.liability_hops):
        pairs = [(by, of) for of in ring for by in {*state.graph.vouchers(of), *former.get(of, ())}]
        yield from pairs
        ring = {by for by, _ in pairs} - seen
        if not ring:
            return
        seen |= ring
