"""Facts of every action for Hypothesis: near their limits, of the right round and of a wrong one."""

from typing import Final, cast

from hypothesis import strategies as st

from federation.artifacts import DecidedBy, Facts, RoundKind
from federation.core import Code
from federation.trust import Decision
from tests.builders import named
from tests.federation.artifacts.forms import (
    ROUND,
    consent,
    credible,
    decreed,
    dispute,
    opened,
    quiet_window,
    resubmission,
    submission,
    supersession,
    verdict,
    withdrawal,
)

D_MAX: Final = 2
RESUB_MAX: Final = 2
COOLDOWN: Final = 3
GROUNDS: Final = ("harmful", "inaccurate", "unsourced")
KINDS: Final = cast("tuple[RoundKind, ...]", ("review", "dispute", "report", "appeal"))

SOURCES = st.lists(st.sampled_from([named("source", number) for number in range(5)]), max_size=3)
EVIDENCE = SOURCES.map(tuple)
REFUSED = st.sampled_from([None, None, None, Code.FORK, Code.SUSPENDED])
ROUNDS = st.sampled_from([ROUND, ROUND, ROUND, named("another round")])
BALLOTS = st.lists(st.sampled_from(["a", "b", "c", "d"]).map(opened), max_size=3).map(tuple)

SUBMISSIONS = st.builds(
    submission,
    admitted=st.booleans(),
    used=st.integers(9, 10),
    refused=REFUSED,
    cites=EVIDENCE,
    evidence=EVIDENCE,
)
WINDOWS = st.builds(
    quiet_window,
    objections=st.integers(0, 1),
    held=st.booleans(),
    verdict=st.sampled_from([None, consent(), consent(), verdict()]),
)
VERDICTS = st.builds(
    verdict,
    round=ROUNDS,
    decision=st.sampled_from(Decision),
    by=st.sampled_from(DecidedBy),
    kind=st.sampled_from(KINDS),
    quorum=st.booleans(),
    ballots=BALLOTS,
)
DISPUTES = st.builds(
    dispute,
    ground=st.sampled_from(GROUNDS),
    evidence=EVIDENCE,
    refused=REFUSED,
    tier=st.sampled_from([1, 2, 2, 2]),
    d_max=st.just(D_MAX),
    used=st.integers(3, 5),
    by_rules=st.booleans(),
)
RESUBMISSIONS = st.builds(
    resubmission,
    refused=REFUSED,
    tick=st.integers(0, 60),
    cooldown=st.just(COOLDOWN),
    resub_max=st.just(RESUB_MAX),
    evidence=EVIDENCE,
    sensitivity=st.sampled_from(["low", "high"]),
)
WITHDRAWALS = st.builds(withdrawal, refused=REFUSED, cited=st.booleans())
SUPERSESSIONS = st.builds(supersession, by=st.sampled_from([named("revision"), named("artifact")]))

FACTS: st.SearchStrategy[Facts] = st.one_of(
    SUBMISSIONS,
    WINDOWS,
    VERDICTS,
    DISPUTES,
    st.builds(credible, round=ROUNDS),
    WITHDRAWALS,
    st.builds(decreed),
    SUPERSESSIONS,
    RESUBMISSIONS,
)
