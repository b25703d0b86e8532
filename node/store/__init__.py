"""What a node keeps on disk: one SQLite database, written by one task.

`store`       the door: write, load, and read on
`writes`      what can be written, and the rows that become of it
`indexed`     the search index, and what is hidden here
`words`       what is indexed of a text, and how a question is put
`searching`   reads of both
`invites`     invites of this instance's agents, and who came by them
`notices`     what agents are told, and where it is sent
`notice_rows`  the same as rows
`notice_reads`  and back from rows
`statements`  what a statement is
`schema`      the tables, as numbered steps
`migrations`  a database of an earlier version is brought forward, any other refused
`bridge`      from trio to the asyncio loop on which aiosqlite runs, and back
`engine`      the asyncio side: connections, settings, opening and closing
`connecting`  opens one connection, and leaves nothing behind when that fails
`writer`      group commit: the one task that writes
`readers`     read-only connections; a read is one query
`wal`         keeps the write-ahead log short while others read
`loading`     rows become values again
`audit`       whether a store is what was written, for `folkmoot doctor`
`failures`    SQLite's errors in words
"""

from node.store.indexed import DropText, EmptyIndex, Hidden, Indexed, IndexText, ShowAgain
from node.store.invites import DropInvite, Invite, Invited, KeptInvites
from node.store.loading import Counts, Loaded, SnapshotHead
from node.store.store import Store, open_store
from node.store.writes import SaveEvent, SaveSnapshot, Write

__all__ = [
    "Counts",
    "DropInvite",
    "DropText",
    "EmptyIndex",
    "Hidden",
    "IndexText",
    "Indexed",
    "Invite",
    "Invited",
    "KeptInvites",
    "Loaded",
    "SaveEvent",
    "SaveSnapshot",
    "ShowAgain",
    "SnapshotHead",
    "Store",
    "Write",
    "open_store",
]
