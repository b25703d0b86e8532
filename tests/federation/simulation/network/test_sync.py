from federation.protocol import World, begin, start, step
from federation.protocol.inputs import Arrived
from federation.simulation.network import sync
from federation.simulation.network.community import community
from federation.simulation.network.letters import AskMissing, AskRecords
from federation.simulation.network.network import SimNetwork

THERE = community(2, agents=3)


def world() -> World:
    made = begin(THERE.founding.charter, THERE.founding.records)
    start(made, 0)
    return made


def rich() -> World:
    """Give a world with a few records above genesis."""
    network = SimNetwork(THERE, seed="sync")
    network.start()
    for title in ("one", "two", "three"):
        network.propose(0, title)
    made = network.node(0).world
    assert made is not None
    return made


def test_a_peer_gets_what_it_lacks_and_then_lacks_nothing() -> None:
    here, there = rich(), world()
    asked = sync.ask_missing(there, None, 0)
    given = sync.give_missing(here, asked)
    step(there, Arrived(records=given.records, peer=bytes(32)), 0)

    assert len(given.records) == 3
    assert not given.more
    assert sync.lacking(here, sync.pages_of(there)) == ()
    assert there.log.author_heads() == here.log.author_heads()


def test_the_answer_lets_the_other_side_see_what_it_could_send_back() -> None:
    here, there = rich(), world()
    given = sync.give_missing(there, sync.ask_missing(here, None, 0))

    assert given.records == ()
    assert len(sync.lacking(here, given.pages)) == 3


def test_a_broken_page_is_answered_with_nothing() -> None:
    asked = AskMissing(pages=(b"no page",), slot=None, began=0)

    assert sync.give_missing(rich(), asked).records == ()


def test_a_full_batch_says_that_there_is_more() -> None:
    here, there = rich(), world()
    before, sync.BATCH = sync.BATCH, 2
    try:
        given = sync.give_missing(here, sync.ask_missing(there, None, 0))
    finally:
        sync.BATCH = before

    assert len(given.records) == 2
    assert given.more


def test_a_record_is_sent_with_what_comes_before_it() -> None:
    here = rich()
    author = THERE.founding.agents[0]
    ((seq, head),) = here.log.heads_of(author)
    sent = sync.with_ancestors(here, AskRecords(records=(head, bytes(32)))).records

    assert [record.seq for record in sent] == list(range(seq + 1))
    assert sent[-1].id == head


def test_a_hello_shows_nothing_of_somebody_never_heard() -> None:
    said = sync.hello(world(), THERE.founding.instances[1])

    assert (said.cut, said.seen) == (0, None)
