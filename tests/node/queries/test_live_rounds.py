"""How far rounds have come here: what is final acts before a cut contains it."""

from federation.artifacts import Flag, State
from federation.certificates import Phase
from node.queries import artifacts, realm, rounds
from node.queries.live_rounds import artifact_now, round_now, unsettled
from node.queries.texts import TextState
from tests.federation.protocol.panel import AUTHOR, Panel


def test_a_credible_report_hides_here_before_any_cut_contains_it() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    town.report(artifact.id)
    name = town.newest(artifact.id, "report")
    town.in_phase(name, Phase.ASSESS)
    town.assess(name, credible=True)
    town.until(lambda _: town.world().rounds[name].phase is not Phase.ASSESS)
    certified = town.world().state.artifacts[artifact.id]
    now = artifact_now(town.world(), certified)
    page = artifacts.one(town.world(), artifact.id, town.now)

    assert (certified.state, certified.flags) == (State.ACTIVE, frozenset())
    assert (now.state, now.flags) == (State.DISPUTED, frozenset({Flag.HIDDEN}))
    assert (page.text, page.prose, page.title, page.settled) == (
        TextState.HIDDEN,
        None,
        None,
        False,
    )
    assert rounds.one(town.world(), name, town.now).title is None
    assert realm.counts(town.world()).disputed == 1


def test_the_round_that_decides_is_the_newest_that_runs() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    accepted = town.world().state.artifacts[artifact.id].round
    town.report(artifact.id)
    name = town.newest(artifact.id, "report")
    certified = town.world().state.artifacts[artifact.id]
    found = round_now(town.world(), certified)

    assert certified.round == accepted
    assert found is not None
    assert found.pin.round == name
    assert [one.pin.round for one in unsettled(town.world())] == [name]
    assert artifacts.one(town.world(), artifact.id, town.now).round == name.hex()


def test_a_proposal_without_a_round_has_none() -> None:
    town = Panel.seated()
    record = town.propose(AUTHOR)
    town.open_round(record)
    certified = town.world().state.artifacts[record.id]
    town.world().rounds.clear()

    assert round_now(town.world(), certified) is None
    assert artifact_now(town.world(), certified) == certified
