"""The demo: real answers of language models, moved through the real protocol.

`cruxeval`       the answers of 51 models to 800 questions whose truth is known
`make_cruxeval`  makes the compact file of those answers from its public sources
`scenario`       which questions, who proposes, who reviews, every ballot: all from a seed
`realm`          51 founders on three instances, and the charter they live by
`in_process`     holds the moot: three cores over the simulated network
`over_network`   holds it over a real one: three processes on loopback
`story`          takes one artifact through the whole lifecycle on three processes
`instance`       one of these processes
`agents`         the models as agents of real instances
`stores`         what the instances left on their disks, folded anew
`outcome`        what a moot came to
`metrics`        verdicts against the truth, and against a plain majority
`report`         what is told of it, for programs and for people
"""
