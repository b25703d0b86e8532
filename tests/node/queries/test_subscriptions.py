"""What an agent offers, and what it has said since the last cut."""

import pytest

from federation.protocol import custody
from federation.records import AgentSubscribe
from node.base.errors import NodeCode, RequestError
from node.queries.subscriptions import Offer, latest, subscription
from tests.federation.protocol.town import Town

OFF = Offer(on=False, topics=(), keywords=())


def say(town: Town, *topics: str, on: bool = True) -> None:
    body = AgentSubscribe(topics=topics, keywords=("water",) if on else (), on=on)
    town.arrive(town.home(1), custody.author(town.home(1), town.keyring(1), body, now=town.now))


def test_an_offer_waits_for_its_cut_and_then_stands() -> None:
    town = Town.of(1, 5)
    agent = town.agent(1)
    assert subscription(town.world(), agent).offer == OFF
    assert latest(town.world(), agent) is None

    say(town, "code")
    offer = Offer(on=True, topics=("code",), keywords=("water",))
    before = subscription(town.world(), agent)
    town.open_round(town.propose(0))
    after = subscription(town.world(), agent)
    say(town, on=False)
    taken = subscription(town.world(), agent)

    assert (before.offer, before.waiting) == (OFF, offer)
    assert (after.offer, after.waiting) == (offer, None)
    assert (taken.offer, taken.waiting) == (offer, OFF)


def test_whom_no_cut_has_admitted_has_none() -> None:
    town = Town.of(1, 5)
    with pytest.raises(RequestError) as caught:
        subscription(town.world(), bytes(32))

    assert caught.value.code is NodeCode.NOT_FOUND
