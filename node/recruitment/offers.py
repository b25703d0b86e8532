"""Standing offers to review, indexed: which of them an artifact matches, and why.

An artifact costs what its own words and topics cost to look up, and nothing for each offer that it
does not match: at 10,000 agents with 32 keywords each, going through all of them would take longer
than everything else that a proposal does.

By topic an offer matches exactly as the fold sees it (`federation.artifacts.watches`). Keywords in
the text, and what is near to them, are this node's own service and move no rule.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from federation.core import AgentId
from federation.records import AgentSubscribe, ArtifactText
from node.recruitment.grams import Nearness, words_in
from node.recruitment.matches import Match, Why
from node.recruitment.tokens import Tokens

_ENOUGH: Final = 512
"""New phrases that wait before all are indexed together again; until then they have an index of
their own, which is small."""


class Offers:
    """Offers of agents, by what they ask for."""

    def __init__(self, tokens: Tokens) -> None:
        """Start without any."""
        self._tokens = tokens
        self._of: dict[AgentId, AgentSubscribe] = {}
        self._branches: dict[str, set[AgentId]] = {}
        self._parts: dict[str, set[AgentId]] = {}
        """By keyword, as it may be a part of a topic."""
        self._tree = _Tree()
        self._keyed: dict[str, set[AgentId]] = {}
        """By keyword, as it stands in the offer."""
        self._askers: dict[str, set[AgentId]] = {}
        """By keyword, or topic in words: who asks for what is near to it."""
        self._old, self._new = _Phrases(()), _Phrases(())
        self._waiting: dict[str, None] = {}
        """Phrases that are in neither."""

    def __len__(self) -> int:
        """Count the offers that are on."""
        return len(self._of)

    def change(self, offers: Mapping[AgentId, AgentSubscribe | None]) -> None:
        """Take offers that are new or have changed; None and one that is off take an offer away."""
        for agent, offer in offers.items():
            before = self._of.pop(agent, None)
            if before is not None:
                self._forget(agent, before)
            if offer is not None and offer.on:
                self._of[agent] = offer
        changed = {agent: self._of[agent] for agent in offers if agent in self._of}
        keywords = list({word: None for one in changed.values() for word in one.keywords})
        spelt = dict(zip(keywords, self._tokens.of(keywords), strict=True))
        for agent, offer in changed.items():
            for branch in offer.topics:
                self._branches.setdefault(branch, set()).add(agent)
            for keyword in offer.keywords:
                self._parts.setdefault(keyword.casefold(), set()).add(agent)
                if keyword not in self._keyed:
                    self._keyed[keyword] = set()
                    self._tree.put(spelt[keyword], keyword)
                self._keyed[keyword].add(agent)
            for phrase in _phrases(offer):
                if phrase not in self._askers:
                    self._waiting[phrase] = None
                self._askers.setdefault(phrase, set()).add(agent)

    def matching(self, topics: Sequence[str], text: ArtifactText | None) -> tuple[Match, ...]:
        """List the agents whose offer matches an artifact, each once, by its strongest reason.

        `text` is None where it is not held; then topics alone decide. In the order of reasons, and
        of agents' ids in each.
        """
        found: dict[AgentId, Match] = {}
        for agent, what in self._by_topic(topics):
            found.setdefault(agent, Match(agent=agent, why=Why.TOPIC, what=what))
        if text is not None:
            for agent, what in self._by_keyword(text):
                found.setdefault(agent, Match(agent=agent, why=Why.KEYWORD, what=what))
            for agent, what in self._by_nearness(text):
                found.setdefault(agent, Match(agent=agent, why=Why.NEAR, what=what))
        order = list(Why)
        return tuple(sorted(found.values(), key=lambda one: (order.index(one.why), one.agent)))

    def _by_topic(self, topics: Sequence[str]) -> Iterable[tuple[AgentId, str]]:
        for path in topics:
            parts = path.split("/")
            for depth in range(len(parts), 0, -1):
                branch = "/".join(parts[:depth])
                for agent in self._branches.get(branch, ()):
                    yield agent, branch
            for part in parts:
                for agent in self._parts.get(part, ()):
                    yield agent, part

    def _by_keyword(self, text: ArtifactText) -> Iterable[tuple[AgentId, str]]:
        for words in self._tokens.of([text.title, *text.claims, text.prose]):
            for keyword in self._tree.found_in(words):
                for agent in self._keyed.get(keyword, ()):
                    yield agent, keyword

    def _by_nearness(self, text: ArtifactText) -> Iterable[tuple[AgentId, str]]:
        self._settle()
        lines = (text.title, *text.claims)
        near = [*self._old.near(lines), *self._new.near(lines)]
        # The nearest first, so that an agent hears of that.
        for _, phrase in sorted(near, key=lambda one: (-one[0], one[1])):
            for agent in self._askers.get(phrase, ()):
                yield agent, phrase

    def _settle(self) -> None:
        """Index the phrases that wait."""
        if not self._waiting:
            return
        new = [*self._new.phrases, *self._waiting]
        self._waiting = {}
        if len(new) < _ENOUGH and self._old.phrases:
            self._new = _Phrases(new)
            return
        # Those that nobody asks for any more are left out, and each stands once.
        asked = dict.fromkeys(one for one in (*self._old.phrases, *new) if one in self._askers)
        self._old, self._new = _Phrases(tuple(asked)), _Phrases(())

    def _forget(self, agent: AgentId, offer: AgentSubscribe) -> None:
        for branch in offer.topics:
            _without(self._branches, branch, agent)
        for keyword in offer.keywords:
            _without(self._parts, keyword.casefold(), agent)
            _without(self._keyed, keyword, agent)
        for phrase in _phrases(offer):
            _without(self._askers, phrase, agent)


class _Phrases:
    """Some phrases, and how near a text is to each."""

    def __init__(self, phrases: Sequence[str]) -> None:
        self.phrases = tuple(phrases)
        self._nearness = Nearness(self.phrases)

    def near(self, lines: Iterable[str]) -> list[tuple[int, str]]:
        found = self._nearness.near(lines)
        return [(percent, self.phrases[place]) for place, percent in found.items()]


class _Tree:
    """Keywords by their words, so that a text is read once whatever they are.

    Each place of a text costs no more than the longest keyword has words. A keyword that nobody
    asks for any more stays until the next start: who asks for it is known elsewhere.
    """

    def __init__(self) -> None:
        self._next: dict[str, _Tree] = {}
        self._ends: dict[str, None] = {}

    def put(self, words: Sequence[str], keyword: str) -> None:
        """Take a keyword; one without any word is found nowhere."""
        here = self
        for word in words:
            here = here._next.setdefault(word, _Tree())  # of the same class
        if words:
            here._ends[keyword] = None  # noqa: SLF001

    def found_in(self, words: Sequence[str]) -> Iterable[str]:
        """Give the keywords that stand in a text, each once."""
        seen: dict[str, None] = {}
        for start in range(len(words)):
            here = self
            for word in words[start:]:
                further = here._next.get(word)
                if further is None:
                    break
                here = further
                seen.update(here._ends)  # noqa: SLF001
        return seen


def _phrases(offer: AgentSubscribe) -> Iterable[str]:
    """Give what an offer asks for in words: its keywords, and its topics as people say them."""
    return dict.fromkeys((*offer.keywords, *(" ".join(words_in(topic)) for topic in offer.topics)))


def _without(table: dict[str, set[AgentId]], key: str, agent: AgentId) -> None:
    """Take an agent out of a set, and the set out of its table once it is empty."""
    agents = table.get(key)
    if agents is not None:
        agents.discard(agent)
        if not agents:
            del table[key]
