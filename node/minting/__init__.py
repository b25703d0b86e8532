"""The search for an admission proof by several processes: shown, saved, resumed.

`estimate`   what is left of a search, and within which times such searches end
`saved`      how far one has come, as the bytes of a file
`plan`       who tries what: blocks of values, each handed out once
`searcher`   the program of one process
`search`     feeds the processes until the proof is there

A search is memoryless: that it has lasted long says nothing about how long it will last. So what is
saved is worth its solutions, and an estimate speaks only of what is still open.
"""

from node.minting.estimate import Estimate, estimate
from node.minting.plan import Plan, Standing
from node.minting.saved import Saved, read_saved, saved_bytes, start
from node.minting.search import MintingError, Search

__all__ = [
    "Estimate",
    "MintingError",
    "Plan",
    "Saved",
    "Search",
    "Standing",
    "estimate",
    "read_saved",
    "saved_bytes",
    "start",
]
