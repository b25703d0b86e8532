"""rounds.json: whole rounds, from the pinned agents over box and reveals to tally and verdict."""

from typing import Final

import msgspec

from federation.artifacts import Verdict
from federation.certificates import VOID, ListValue, Phase, RoundSlot, value_digest
from federation.charter import Charter, Review, TopicClass, Trust, build, preset
from federation.core import AgentId, Digest
from federation.crypto import Ballot, Basis, KeySigner, Reason, commitment
from federation.records import Commit, ObjectTo, Record, Reveal, sign_record, wire
from federation.review import (
    AgentView,
    Ended,
    FinalList,
    RoundPin,
    count,
    course,
    next_phase,
    round_id,
)
from tests.vectors.agreement_rows import Row, shown
from tests.vectors.charter_vectors import genesis
from tests.vectors.rounds_cases import Case, cases
from tests.vectors.vector_bodies import REALM, fixed

CUT_DIGEST: Final = fixed("opening cut")
ARTIFACT: Final = fixed("artifact")
_LOW: Final = (TopicClass(prefix="", sensitivity="low"),)


def vectors() -> Row:
    """All rounds."""
    return {
        "realm": shown(REALM),
        "artifact": shown(ARTIFACT),
        "cut": shown(CUT_DIGEST),
        "rounds": [Worked(case, ordinal).row() for ordinal, case in enumerate(cases())],
    }


class Worked:
    """One case worked through: its pin, its lists and what they amount to."""

    def __init__(self, case: Case, ordinal: int) -> None:
        """Write all records of the round and make its lists of them."""
        self.case = case
        self.ordinal = ordinal
        self.round = round_id(REALM, ARTIFACT, "review", ordinal, CUT_DIGEST)
        self.pin = self._pin()
        self.finals: dict[Phase, FinalList] = {}
        self._hold()

    def agent(self, index: int) -> AgentId:
        """Name an agent of this round."""
        return fixed(f"round {self.ordinal} agent {index}")

    def ballot(self, index: int) -> Ballot:
        """Give an agent's ballot; the evidence makes them differ."""
        votes = {**self.case.votes, **self.case.more}
        evidence = (fixed(f"evidence {index}"),) if index % 2 else ()
        return Ballot(votes[index], Reason.ACCURATE, Basis.TOOL, evidence)

    def row(self) -> Row:
        """Write the round for the file."""
        ended = next_phase(self.pin, self.finals)
        assert isinstance(ended, Ended)
        review, trust = self.pin.charter.review, self.pin.charter.trust
        return {
            "name": self.case.name,
            "ordinal": self.ordinal,
            "round": shown(self.round),
            "rules": {
                "q_min": review.q_min,
                "tau_accept": review.tau_accept,
                "tau_reject": review.tau_reject,
                "strong": review.strong,
                "shortfall": review.shortfall_low if self.case.low else review.shortfall_high,
                "operator_cap": trust.operator_cap,
                "instance_cap": trust.instance_cap,
                "fast_min_watchers": review.fast_min_watchers,
            },
            "member_operators": self.case.members,
            "has_fast_track": self.case.low and self.case.ticket,
            "watchers": list(self.case.watchers),
            "agents": [
                {
                    "agent": f"@round {self.ordinal} agent {index}",
                    "operator": f"@operator {one.operator}",
                    "instance": f"@instance {one.instance}",
                    "tier": one.tier,
                    "weight": one.weight,
                }
                for index, one in enumerate(self.case.agents)
            ],
            "ballots": [self._ballot_row(index) for index in (*self.case.votes, *self.case.more)],
            "lists": [self._list_row(phase, final) for phase, final in self.finals.items()],
            "tally": self._tally(ended.verdict),
            "verdict": _verdict_row(ended.verdict),
        }

    def _pin(self) -> RoundPin:
        case = self.case
        views = {
            self.agent(index): AgentView(
                agent=self.agent(index),
                operator=fixed(f"operator {one.operator}"),
                instance=fixed(f"instance {one.instance}"),
                model=self.agent(index),
                keeper=self.agent(index),
                tier=one.tier,
                weight=one.weight,
                reviewer=one.tier > 0,
            )
            for index, one in enumerate(case.agents)
        }
        author = views[self.agent(0)]
        return RoundPin(
            round=self.round,
            realm=REALM,
            artifact=ARTIFACT,
            author=author.agent,
            author_operator=author.operator,
            home=author.instance,
            home_operator=author.operator,
            cut=1,
            sensitivity="low" if case.low else "high",
            author_has_ticket=case.ticket,
            watchers=frozenset(map(self.agent, case.watchers)),
            charter=_charter(case),
            agents=views,
            member_operators=case.members,
        )

    def _after(self, phase: Phase) -> Digest | None:
        """Give what records of the open phase name, or None if the round is in another phase."""
        now = course(self.pin, self.finals)
        return now.after[phase] if now.open is phase else None

    def _hold(self) -> None:
        """Certify list after list, in the order of the plan."""
        case = self.case
        if self._after(Phase.FAST) is not None:
            self._list(Phase.FAST, [self._object(one) for one in case.objectors])
        if self._after(Phase.DELIBERATE) is not None:
            self._list(Phase.DELIBERATE, [])
        for phase, votes in ((Phase.COMMIT, case.votes), (Phase.COMMIT2, case.more)):
            if self._after(phase) is not None:
                commits = [self._commit(index, phase) for index in votes]
                self._list(phase, None if case.void else commits)
        if self._after(Phase.DECIDE) is not None:
            voters = [one for one in (*case.votes, *case.more) if one not in case.silent]
            self._list(Phase.DECIDE, [self._reveal(index) for index in voters])

    def _list(self, phase: Phase, records: list[Record] | None) -> None:
        slot = RoundSlot(round_id=self.round, phase=phase)
        ordered = sorted(records or (), key=lambda one: one.id)
        value = VOID if records is None else ListValue(records=tuple(one.id for one in ordered))
        self.finals[phase] = FinalList(
            digest=value_digest(slot, value), records=tuple(ordered), void=records is None
        )

    def _sign(self, index: int, seq: int, body: Commit | Reveal | ObjectTo) -> Record:
        return sign_record(
            body,
            realm=REALM,
            signer=self._signer(index),
            author=self.agent(index),
            key_index=0,
            seq=seq,
            prev=fixed(f"record {seq - 1} of agent {index}"),
            at=0,
        )

    def _signer(self, index: int) -> KeySigner:
        return KeySigner(fixed(f"round {self.ordinal} seed {index}"))

    def _object(self, index: int) -> Record:
        body = ObjectTo(round=self.round, after=self._named(Phase.FAST), reason=Reason.UNSOURCED)
        return self._sign(index, 4, body)

    def _nonce(self, index: int) -> bytes:
        return fixed(f"round {self.ordinal} nonce {index}")

    def _commitment(self, index: int) -> Digest:
        return commitment(
            realm=REALM,
            round_id=self.round,
            voter=self.agent(index),
            ballot=self.ballot(index),
            nonce=self._nonce(index),
        )

    def _named(self, phase: Phase) -> Digest:
        after = course(self.pin, self.finals).after[phase]
        assert after is not None
        return after

    def _commit(self, index: int, phase: Phase) -> Record:
        nonce = self._nonce(index)
        body = Commit(
            round=self.round,
            after=self._named(phase),
            commitment=self._commitment(index),
            sealed=self._signer(index).seal(
                REALM, self.round, self.ballot(index), nonce=nonce, salt=nonce[:24]
            ),
        )
        return self._sign(index, 5, body)

    def _reveal(self, index: int) -> Record:
        body = Reveal(
            round=self.round,
            after=self._named(Phase.DECIDE),
            ballot=self.ballot(index),
            nonce=self._nonce(index),
        )
        return self._sign(index, 6, body)

    def _ballot_row(self, index: int) -> Row:
        ballot = msgspec.to_builtins(self.ballot(index), builtin_types=(bytes,))
        return {
            "voter": f"@round {self.ordinal} agent {index}",
            "ballot": shown(ballot),
            "nonce": f"@round {self.ordinal} nonce {index}",
            "commitment": shown(self._commitment(index)),
        }

    def _list_row(self, phase: Phase, final: FinalList) -> Row:
        return {
            "phase": phase.value,
            "digest": shown(final.digest),
            "void": final.void,
            "after": shown(course(self.pin, self.finals).after[phase]),
            "records": [
                {"id": shown(one.id), "author": shown(one.author)}
                | ({"wire": wire(one).hex()} if self.case.wires else {})
                for one in final.records
            ],
        }

    def _tally(self, verdict: Verdict) -> Row:
        counted = count(self.pin, self.finals)
        return {
            "numerator": verdict.numerator,
            "denominator": verdict.denominator,
            "weights": [[shown(one.voter), one.weight] for one in counted.counted],
            "practice": [shown(one.voter) for one in counted.practice],
            "unrevealed": [shown(one.voter) for one in counted.unrevealed],
        }


def _charter(case: Case) -> Charter:
    rules = preset("test")
    review: Review = msgspec.structs.replace(
        rules.review, topics=_LOW if case.low else (), **case.review
    )
    trust: Trust = msgspec.structs.replace(rules.trust, **case.trust)
    return build(
        "test", name="moot", salt=fixed("salt"), genesis=genesis(), review=review, trust=trust
    )


def _verdict_row(verdict: Verdict) -> Row:
    return {
        "decision": verdict.decision.value,
        "by": verdict.by.value,
        "v_ppm": verdict.v_ppm,
        "strong": verdict.strong,
        "quorum": verdict.quorum,
        "quorum_needed": verdict.quorum_needed,
        "operators": verdict.operators,
        "narrow": [reason.value for reason in verdict.narrow],
    }
