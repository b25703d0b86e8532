"""One running instance of Folkmoot, around the pure protocol of `federation`.

`cli`   the commands of `folkmoot`: parse arguments, print, choose the exit code
`demo`  a moot in one process: language models answer, argue by ballot, and are scored

Everything that touches a clock, a disk, a socket or the randomness of the operating system
belongs here. `node` imports `federation`, never the reverse.
"""
