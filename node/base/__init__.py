"""What every part of an instance stands on.

`errors`    the errors of a node: what, why, fix, and a stable code
`clock`     the one place that reads the time
`entropy`   the one place that asks the operating system for randomness
`paths`     what lies where in the data directory, and who may hold it
`settings`  folkmoot.toml and the environment
`pipes`     what a process that computes for its parent needs
"""
