"""The world of a node and the one function that changes it.

`founding`      sign the genesis records of a new realm, build its charter
`world`         log, certified state, live rounds and slots, own signatures: `begin`
`orchestrator`  `step(world, input, now) -> effects`, `start`
`inputs`        everything that can happen
`effects`       everything that can be asked of the outside
`turn`          one step in progress
`intake`        records that arrive
`agreement`     driving the certificate machines
`early`         packets for slots that are not open here yet
`desks`         what the agreement asks of the world
`progress`      what becomes of final certificates
`finality`      certificates as records
`rounds`        rounds as this node lives them
`state`         the certified world at a cut
`fold`          one cut folded into it
`admissions`    who joins, and what agents say of themselves
`joining`       what joining costs in an epoch, and who has admitted how many
`vetting`       one pass over the admissions of a cut
`admittance`    what is told of an admission before a cut decides
`filing`        what agents file about artifacts: its facts, and why it does not count
`findings`      what instances find about artifacts, and what it does
`openings`      rounds that a cut opens: asked for, and by the rules
`consequences`  what follows from an ended round, a decree, a ban
`story`         the rows of the lifecycle's table that each artifact has taken
`judgements`    approvals that stand and vouches: the edges of trust
`acts`          acts of the operators together: charters so far, and decisions by hand
`operating`     signed at the door for an operator: acts, words for acts, health of agents
`epochs`        what moves at a tick
`discipline`    which rounds and records are violations, and what holds for an agent
`discipline_tick`  what a tick does to levels and quarantines
`discipline_rows`  the book of all that, and its rows
`liabilities`   who is found bad at a tick, and who answers for it
`rows`          rows of the world digest
`certified`     the whole certified world as rows
`revival`       the world brought back from them
`snapshot`      a world at a cut as bytes, to start from and to compare
`shelf`         certificates: of open work in memory, all others in the log
`digest`        the digest itself
`judge`         the fate of a record, and its code
`custody`       the local door: judged, then signed for an agent
`authoring`     the same for disputes, reports, rulings, and the way back
`remedies`      what to do about a refusal of the door
`local`         my own look at it: weights by my seeds and policy, for me alone
`trust_head`    what it shows other realms of its trust
`memory`        what this instance has signed and must not forget; silence after lost state
`rebuild`       a world from what was stored, or from records in any order
`invariants`    what must hold in every world, as checks
"""

from federation.protocol import authoring, custody, effects, inputs, snapshot
from federation.protocol.custody import Keyring
from federation.protocol.founding import (
    FounderSpec,
    Founding,
    FoundingSpec,
    Keys,
    found,
    incept,
)
from federation.protocol.judge import Fate, Judgement, judge
from federation.protocol.local import LocalView, Policy
from federation.protocol.orchestrator import start, step
from federation.protocol.rebuild import Durable, rebuild, restore
from federation.protocol.rounds import Round
from federation.protocol.state import State
from federation.protocol.trust_head import head_of
from federation.protocol.world import LiveSlot, Me, World, begin

__all__ = [
    "Durable",
    "Fate",
    "FounderSpec",
    "Founding",
    "FoundingSpec",
    "Judgement",
    "Keyring",
    "Keys",
    "LiveSlot",
    "LocalView",
    "Me",
    "Policy",
    "Round",
    "State",
    "World",
    "authoring",
    "begin",
    "custody",
    "effects",
    "found",
    "head_of",
    "incept",
    "inputs",
    "judge",
    "rebuild",
    "restore",
    "snapshot",
    "start",
    "step",
]
