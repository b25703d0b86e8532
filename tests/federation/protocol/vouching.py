"""Vouches of founders, as tests of judgements and of liability let them be given and taken back."""

from federation.protocol import World, custody
from federation.records import AgentUnvouch, AgentVouch, Body, Record
from federation.trust import Edge
from tests.federation.protocol.town import Town


def vouch(town: Town, index: int, agent: bytes, weight: int = 255) -> Record:
    """Let a founder vouch through the door of its home."""
    return said(town, index, AgentVouch(agent=agent, weight=weight, reason="knows its work"))


def unvouch(town: Town, index: int, agent: bytes) -> Record:
    return said(town, index, AgentUnvouch(agent=agent, reason="no longer"))


def said(town: Town, index: int, body: Body) -> Record:
    record = custody.author(town.home(index), town.keyring(index), body, now=town.now)
    town.arrive(town.home(index), record)
    return record


def edge(world: World, by: bytes, agent: bytes) -> Edge:
    return world.state.graph.edge(by, agent)
