"""The Folkmoot protocol as a library: pure, deterministic, no clock, disk, sockets or OS randomness.

Read it in the order in which a statement travels:

`core`          ids, integer quantities, errors, seeded draws
`codec`         one byte string per value
`crypto`        domain-separated hashes, strict Ed25519, sealed ballots, commitments
`records`       the signed statement, the table of kinds, parsing and signing
`charter`       every protocol parameter of a realm, presets, `check`
`admission`     the puzzle that a registration costs
`identity`      who may sign now: the fold of an identity's key events
`replication`   the log: one hash chain per author, what waits, forks
`certificates`  one list made final by a quorum (sans-IO agreement)
`trust`         evidence, Beta reputation, tiers, competence, weights, caps
`sanctions`     what counts against an agent, and what that takes
`artifacts`     the lifecycle as a table
`review`        phases of a round, ballots, tally, verdict
`deliberation`  who answered what in a round, and a digest of it for late readers
`protocol`      the world: `step(input) -> effects`, cuts, digest, invariants
`simulation`    many real cores under one virtual clock

An upper package may import a lower one, never the reverse; `node` imports `federation`.
"""
