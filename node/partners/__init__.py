"""Other instances and other realms, as my operator sees them: policy for this node alone.

`policy`   federation.json: seeds, observed instances, linked realms; read strictly, written whole
`heads`    files with a signed trust head: made for others, and read from them under a pinned key
`looking`  what the policy makes of the world, computed off the event loop where that takes long

Nothing here is replicated, signed with others or asked of anybody: it decides only what this node
shows beside the canonical verdicts.
"""

from node.partners.heads import head_file, read_head
from node.partners.looking import look
from node.partners.policy import Linked, Partners, read_partners, write_partners

__all__ = [
    "Linked",
    "Partners",
    "head_file",
    "look",
    "read_head",
    "read_partners",
    "write_partners",
]
