"""Deliberation: what was argued in a round, as readers and arbiters see it (paper 3.2.2).

It looks at certified lists and texts and decides nothing: no vote, verdict or reputation reads it.

`graph`      the arguments of a round, who answered what, and which ballots cite them
`counts`     arguments by stance and level, and by speaker
`sentences`  sentences as places in a text
`digest`     some sentences of a debate, chosen by counting, for late readers
"""

from federation.deliberation.counts import Side, Speaker, sides, speakers
from federation.deliberation.digest import (
    MOST,
    USUAL,
    DebateDigest,
    Quote,
    digest_of,
    worth_reading,
)
from federation.deliberation.graph import (
    DEBATE,
    DEEPEST,
    Debate,
    Placed,
    Thread,
    debate_of,
    unanswered,
)
from federation.deliberation.sentences import LONGEST, Sentence, sentences

__all__ = [
    "DEBATE",
    "DEEPEST",
    "LONGEST",
    "MOST",
    "USUAL",
    "Debate",
    "DebateDigest",
    "Placed",
    "Quote",
    "Sentence",
    "Side",
    "Speaker",
    "Thread",
    "debate_of",
    "digest_of",
    "sentences",
    "sides",
    "speakers",
    "unanswered",
    "worth_reading",
]
