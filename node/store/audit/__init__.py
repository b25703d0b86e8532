"""Whether a store is what a node has written: for `folkmoot doctor`, running node or not.

`examination`  the audit, stage by stage: `audit`
`findings`     what can be wrong, and what to do about it
`file`         what SQLite and the schema say
`records`      bytes, ids, chains, signatures, texts
`replay`       the log folded afresh, with the world digest at each cut
`journal`      the signing journal, counters, certificates
`snapshots`    stored snapshots against the fresh fold
"""

from node.store.audit.examination import audit
from node.store.audit.findings import FIXES, Audit, Damage, Finding

__all__ = ["FIXES", "Audit", "Damage", "Finding", "audit"]
