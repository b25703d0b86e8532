"""Queries: what a node knows, as pure functions of its world, for API, CLI and status page.

Every answer is a frozen struct that encodes to JSON as it stands: ids in hex with a CID beside
those of records, enumerations as their words, durations in ms. Nothing here changes a world, reads
a clock or looks into a sealed ballot: before `decide` is final here, no answer depends on a vote.

`names`      full ids, CIDs and prefixes, to what they stand for
`windows`    how long a window lasts here, and until when to hand in a record
`verdicts`   verdicts with their tally, rule and narrow reasons; opened ballots
`texts`      what people read of an artifact, if it is still held
`waits`      what an agreement waits for: time, records, or whose signature
`timeline`   which cut contains a record, and its tick
`certified`  certificates of a round: fence, digest, seals, voices
`arguments`  arguments with their words
`material`   what a panel judges, hidden or not
`debate`     who answered what in a round, what stands, and a digest
`acts`       in which rounds an agent may act now
`queue`      what asks for a look, the most urgent first
`coverage`   who has committed to a vote, and who is wanted
`participation`  whether who takes part is what the topic is used to
`subscriptions`  what an agent offers to review
`rounds`     one round, and those that are open
`live_rounds`  how far a round has come here
`proceedings`  what a round holds beside arguments and ballots: arbiters, rulings, contests
`disputes`   disputes, reports and appeals, and what became of them
`curation`   what may still happen to an artifact
`artifacts`  artifacts, and proposals that wait for a cut
`why`        what an artifact or a round waits for, or why it ended as it did
`why_record` why any record counts, waits, or does not
`history`    the story of an artifact
`happenings` one step of it
`story`      the part that one round is
`story_acts` the part that no round tells: withdrawals, flags, decrees
`agents`     standing of agents
`standing`   what an agent may do now, and what stands against it
`allowed`    act by act, for that page
`sanctions`  violations, and what operators must hear of them
`rules`      the rules in force, for programs
`operators`  who answers for whom: agents, instances, quota, vouches
`admissions` whom an instance admits, and what of it does not count
`answerable` both of them looked up once a cut; void admissions
`trust`      where an agent's trust, tier and weight come from
`trust_terms`  ticket, tiers and weight, for that page
`trust_caps`   what bounds an agent in a vote
`trust_evidence`  the evidence behind a reputation
`trust_liability` for whom an agent answers
`trust_why`  the page in sentences
`trust_graph`  who trusts whom
`per_cut`    looks at all agents or judgements, kept until the next cut
`charters`   the charter in force, and the rules that a further one is written for
`operating`  open acts of the operators, charters so far, and what waits for their hand
`capture`    what capturing a decision takes, imagined or measured
`capture_why`  which rule gives each number of that table
`differences` where a peer's world differs from ours, field by field
`causes`     what can explain such a difference
`partners`   the operator's policy about instances and realms, and what links do
`disagreement` where local verdicts part from the canonical ones
`invites`    invites, and what became of whom they brought
`realm`      realm, charter, members, and the overview of the status page
"""

from node.queries import agents, artifacts, history, names, realm, rounds, why

__all__ = ["agents", "artifacts", "history", "names", "realm", "rounds", "why"]
