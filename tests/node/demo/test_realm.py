from federation.charter import Severity, check
from node.demo.cruxeval import load
from node.demo.realm import found_realm

CRUX = load()
REALM = found_realm(CRUX, seed="a", reviewers=9)
CHARTER = REALM.founding.charter


def test_every_model_is_a_founder_with_an_operator_of_its_own() -> None:
    founders = CHARTER.genesis.founders

    assert len(founders) == len(CRUX.models) == 51
    assert len({founder.operator for founder in founders}) == 51
    assert len({founder.instance for founder in founders}) == 3


def test_nobody_who_votes_runs_an_instance() -> None:
    hosts = {row.operator for row in CHARTER.genesis.instances}
    owners = {founder.operator for founder in CHARTER.genesis.founders}

    assert len(hosts) == 3
    assert not hosts & owners
    assert hosts | owners == set(CHARTER.genesis.operators)


def test_the_charter_is_the_one_that_the_demo_promises() -> None:
    review, timing = CHARTER.review, CHARTER.timing

    assert CHARTER.preset == "test"
    assert (review.k, review.q_min, CHARTER.trust.seats) == (9, 3, 51)
    assert (review.tau_accept, review.tau_reject) == (300_000, -200_000)
    assert (review.deliberate, review.commit_min) == (1_000, 200)
    assert (review.commit, review.reveal, review.contest) == (5_000, 5_000, 0)
    assert review.topics == ()
    assert timing.three == "strict"


def test_the_charter_has_no_error() -> None:
    for reviewers in (3, 9, 50):
        charter = found_realm(CRUX, seed="a", reviewers=reviewers).founding.charter
        assert all(finding.severity is not Severity.ERROR for finding in check(charter))


def test_keys_and_realm_follow_from_the_seed() -> None:
    again = found_realm(CRUX, seed="a", reviewers=9)
    other = found_realm(CRUX, seed="b", reviewers=9)

    assert again == REALM
    assert other.founding.realm != REALM.founding.realm
    assert not {keys.current for keys in other.agents} & {keys.current for keys in REALM.agents}
