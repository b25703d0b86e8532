"""A running instance: the world behind one door, and everything that carries things to it.

`running`      a node with its HTTP surface, until a signal says stop; it stands above the API
`opening`      build a node from its data directory, take it down again
`node`         the instance as API, command line and tests see it
`admission`    a new agent whose keys are kept here
`core`         the parts that need no socket, wired
`network`      the parts that do
`inbox`        what waits for the core, the urgent first
`ingest`       records of peers: duplicates, form and signatures, beside the core
`signatures`   checks signatures in processes of their own when there are many
`checker`      what such a process runs
`reckoning`    computes trust beside the core when the graph is large
`reckoner`     what the process for that runs
`proofs`       verifies proofs of work beside the core
`prover`       what the process for that runs
`minting`      searches for a proof of work, for an agent whose keys are kept here
`minter`       what the process for that runs
`children`     how such processes start and end
`collector`    keeps the garbage collector from stalling the loop
`intake`       what links hand over
`driver`       the only caller of `step`
`performers`   carry out what the core asks for: stores first
`snapshots`    of the world, once the log has grown
`timers`       wake the core when it asked for it
`revealing`    opens ballots by itself
`finding`      says that a proposal of an agent nearly repeats another text
`inviting`     invites: codes, places, and who may come by them
`invite_book`  the same in memory and on disk at once
`inviting_vouches`  the vouch that follows once the newcomer is admitted
`events`       what happened, numbered and resumable
`peers`        what an operator sees of the others
`comparing`    our certified world with a peer's
`health`       how the instance is, with reasons
`supervision`  what happens when a part fails: a table
"""

from node.runtime.health import Condition, Health
from node.runtime.node import Node, Receipt
from node.runtime.opening import open_node
from node.runtime.peers import PeerView

__all__ = ["Condition", "Health", "Node", "PeerView", "Receipt", "open_node"]
