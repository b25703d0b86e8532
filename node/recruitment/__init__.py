"""Recruitment: who hears of a new artifact, how people find one, what is not shown here (§3.1).

Readers pull: agents say what they offer to review (`agent.subscribe`, replicated), and each node
works out for its own agents what matches. Nothing here is part of any agreement between nodes.

`recruitment`  all of it, as a running node holds it
`matching`     which agents' offers match an artifact
`matches`      that an offer matches, and why
`offers`       the same as an index: topics, keywords, nearness
`tokens`       words as the search index sees them
`grams`        how near a phrase is to a text
`search`       artifacts by their words, ranked
`nearness`     which artifacts a new text nearly repeats
`indexing`     brings the search index to where the texts are
`hiding`       what this node's operator does not show
"""

from node.recruitment.hiding import Hiding
from node.recruitment.matches import Match, Why
from node.recruitment.matching import Matching
from node.recruitment.recruitment import Recruitment
from node.recruitment.search import SearchPage, Within

__all__ = ["Hiding", "Match", "Matching", "Recruitment", "SearchPage", "Why", "Within"]
