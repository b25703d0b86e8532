"""One running instance of Folkmoot, around the pure protocol of `federation`.

`cli`        the commands of `folkmoot`: parse arguments, print, choose the exit code
`demo`       a moot of real answers, in one process or over three, scored against the truth
`api`        HTTP: routes, tokens, events, the status page
`access`     bearer tokens: who may do what
`runtime`    a running instance: the world behind one door
`commands`   what agents may wish, checked before it is signed
`queries`    looks at a world, as plain structs
`partners`   the operator's policy about other instances and other realms
`recruitment`  search, who is told of what, what is not shown here
`setup`      found a realm, write a data directory
`minting`    the search for a proof of work by several processes
`network`    a hardened libp2p host, and the conversations with other instances
`notification`  what agents are told: a queue, a stream, signed webhooks
`outbound`   what the node asks of addresses that strangers name
`store`      one SQLite database, written by one task
`keys`       encrypted key files and the signers they give
`telemetry`  log lines
`base`       errors, clock, randomness, paths, settings

Everything that touches a clock, a disk, a socket or the randomness of the operating system
belongs here. `node` imports `federation`, never the reverse.
"""
