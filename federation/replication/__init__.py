"""The records a node holds, and what to send to a node that holds others.

`log`      records by id, author and round; decides what joins the log, in any arrival order
`chains`   one author's records as a tree of branches: heads, forks, ancestors
`rounds`   finds records again by round, kind and author
`waiting`  bounded room for records whose predecessor has not arrived
`blobs`    larger content by hash, bounded
`sync`     what two nodes tell each other of their heads
"""

from federation.replication.blobs import BlobStore
from federation.replication.chains import Heads
from federation.replication.log import Added, Entry, Known, Log, Waiting
from federation.replication.rounds import round_of
from federation.replication.sync import (
    HeadsPage,
    heads_pages,
    paged,
    read_heads_page,
    write_heads_page,
)

__all__ = [
    "Added",
    "BlobStore",
    "Entry",
    "Heads",
    "HeadsPage",
    "Known",
    "Log",
    "Waiting",
    "heads_pages",
    "paged",
    "read_heads_page",
    "round_of",
    "write_heads_page",
]
