from federation.artifacts import (
    Flag,
    flag_stale,
    flagged,
    freeze,
    hide,
    in_round,
    lapsed,
    merge_voters,
    show,
)
from tests.builders import named
from tests.federation.artifacts.forms import active, opened, proposed, verdict


def test_every_round_that_opens_is_counted() -> None:
    artifact = proposed()
    again = in_round(artifact, named("second round"))

    assert (artifact.rounds, again.rounds) == (1, 2)
    assert again.round == named("second round")
    assert again.state is artifact.state


def test_a_flag_is_put_up_and_taken_down_and_leaves_the_others() -> None:
    artifact = proposed(flags=frozenset({Flag.FORENSIC}))

    assert hide(artifact).flags == {Flag.FORENSIC, Flag.HIDDEN}
    assert show(hide(artifact)) == artifact
    assert freeze(artifact).flags == {Flag.FORENSIC, Flag.FROZEN}
    assert flagged(artifact, Flag.FORENSIC, on=False).flags == frozenset()


def test_a_flag_that_is_up_already_changes_nothing() -> None:
    artifact = hide(proposed())

    assert hide(artifact) is artifact
    assert show(show(artifact)) == show(artifact)


def test_a_stale_flag_lapses_when_its_window_has_passed() -> None:
    stale = flag_stale(active(), 10)

    assert Flag.STALE in lapsed(stale, 14, 5).flags
    assert Flag.STALE not in lapsed(stale, 15, 5).flags
    assert lapsed(active(), 99, 5) == active()


def test_a_newer_stale_flag_begins_the_window_again() -> None:
    twice = flag_stale(flag_stale(active(), 10), 13)

    assert Flag.STALE in lapsed(twice, 15, 5).flags


def test_voters_are_remembered_once_and_in_one_order() -> None:
    ballots = (opened("b"), opened("a", practice=True), opened("c"))
    artifact = merge_voters(active(), verdict(ballots=ballots))

    assert artifact.voters == tuple(sorted(named(voter) for voter in "abc"))
    assert merge_voters(artifact, verdict(ballots=ballots[:1])) is artifact
