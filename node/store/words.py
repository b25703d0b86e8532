"""Words of proposals for the search index: what is indexed, and how a question is put to it.

A question comes from strangers and SQLite's query language has operators, so every word of it is
quoted: whatever is typed is looked for, and nothing is ever a syntax error.
"""

import re
from typing import Final

from federation.records import ArtifactText, Propose, Record, read_text

FORMAT: Final = 1
"""How texts are prepared for the index; a change here makes the next start index all anew."""
MOST_ASKED: Final = 200
"""Characters of a question that are read."""
MOST_TERMS: Final = 16
"""Terms of a question that are read: each costs a walk over all texts that hold it."""

# Scripts that are written without spaces would be one word a sentence to SQLite. Each character is
# a word of its own here and in questions, where neighbours are asked for in their order.
_UNSPACED: Final = re.compile(
    "(["
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "])"
)
_WORDS: Final = re.compile(r"[^\W_]{1,20}")
"""Words, or pieces of a sentence where nothing stands between the words."""
_TERMS: Final = re.compile(r'"([^"]*)"|([^\s"]+)')


def words_of(record: Record) -> tuple[str, str, str] | None:
    """Give title, claims and prose of a proposal as they are indexed; None if it has no text."""
    if record.text_raw is None or not isinstance(record.body, Propose):
        return None
    return words_in(record.text_raw)


def words_in(raw: bytes) -> tuple[str, str, str] | None:
    """Give title, claims and prose of a proposal's text as they are indexed; None if it is none."""
    text = read_text(raw, ArtifactText)
    if text is None:
        return None
    return spread(text.title), spread("\n".join(text.claims)), spread(text.prose)


def spread(text: str) -> str:
    """Put spaces around the characters of scripts that are written without any."""
    return _UNSPACED.sub(r" \1 ", text)


def terms_of(question: str) -> tuple[str, ...]:
    """Read a question: words, and phrases in double quotes; what holds no letter is left out.

    Only the first 200 characters and 16 terms are read.
    """
    shown = "".join(one if one.isprintable() else " " for one in question[:MOST_ASKED])
    found = (phrase or word for phrase, word in _TERMS.findall(shown))
    terms = (term.strip() for term in found if any(one.isalnum() for one in term))
    return tuple(dict.fromkeys(terms))[:MOST_TERMS]


def shared_words(text: str) -> str | None:
    """Put a text as SQLite's index takes it to find those that share some of its longest words.

    None if it has no word. Long words are rare, and of 16 a changed copy keeps some.
    """
    words = dict.fromkeys(word.casefold() for word in _WORDS.findall(text))
    longest = sorted(words, key=lambda word: (-len(word), word))[:MOST_TERMS]
    return " OR ".join(f'"{spread(word)}"' for word in longest) or None


def expression_of(question: str) -> str | None:
    """Put a question as SQLite's index takes it: all of its terms; None if it has no term."""
    terms = [spread(term) for term in terms_of(question)]
    # A term holds no double quote: those that stood in the question have parted its terms.
    return " AND ".join(f'"{term}"' for term in terms) or None
