"""What the flood is made of is what it says: false where it should be, and right in all else."""

from collections import Counter
from functools import partial
from itertools import islice

import trio

from benchmarks.joining import flood, flood_crowd
from benchmarks.joining.flood_newcomers import false_gates, false_work, search
from federation.admission import Terms, blank_work, does_work, passes_gate
from federation.records import Role
from tests.builders import named

TINY = Terms(memory_kib=8, passes=1, parts=4, bits=1, gate_bits=4)
GOOD = search(
    blank_work(
        realm=named("realm"),
        role=Role.AGENT,
        instance=named("instance"),
        key=named("key"),
        epoch=3,
        beacon=named("beacon"),
        terms=TINY,
    )
)


def test_a_found_proof_is_good() -> None:
    assert passes_gate(GOOD)
    assert does_work(GOOD)


def test_false_gates_are_false_and_all_else_is_right() -> None:
    false = list(islice(false_gates(GOOD), 20))

    assert not any(passes_gate(one) for one in false)
    assert {one.solutions for one in false} == {GOOD.solutions}


def test_false_work_has_a_gate_that_holds_and_no_two_are_alike() -> None:
    false = list(islice(false_work(GOOD), 20))

    assert all(passes_gate(one) for one in false)
    assert not any(does_work(one) for one in false)
    assert len({one.solutions for one in false}) == 20


def test_answers_are_counted_by_status_and_code() -> None:
    async def serve(line: trio.SocketStream) -> None:
        async with line:
            await line.receive_some()
            if said:
                await line.send_all(said.pop())

    said = [
        b'HTTP/1.1 403 Forbidden\r\ncontent-length: 17\r\n\r\n{"code":"BANNED"}',
        b"HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n{}",
    ]
    counts: Counter[str] = Counter()

    async def run() -> None:
        async with trio.open_nursery() as nursery:
            (listener,) = await nursery.start(partial(trio.serve_tcp, serve, 0, host="127.0.0.1"))
            port = listener.socket.getsockname()[1]
            plan = flood_crowd.Plan(
                port=port,
                addresses=("127.0.0.2", "127.0.0.3"),
                bodies=("{}",),
                per_second=10,
                seconds=0.3,
            )
            counts.update(await flood_crowd.flood(plan))
            nursery.cancel_scope.cancel()

    trio.run(run)

    assert counts == {"403 BANNED": 1, "201": 1, "cut off": 1}


def test_the_goals_are_missed_by_who_fails_is_slow_or_costs_much() -> None:
    fine = {"flood": "gate", "flood_share": 0.1, "honest": {"failed": [], "p95_s": 0.3}}

    assert flood.is_fine(fine)
    assert not flood.is_fine({**fine, "flood_share": 0.31})
    assert not flood.is_fine({**fine, "honest": {"failed": ["no"], "p95_s": 0.3}})
    assert not flood.is_fine({**fine, "honest": {"failed": [], "p95_s": 2.1}})


def test_a_flood_costs_what_its_honest_newcomers_do_not() -> None:
    alone = {"core_share": 0.2, "seconds": 10.0, "honest": {"registered": 100}}
    flooded = {"core_share": 0.5, "seconds": 20.0, "honest": {"registered": 100}}

    assert flood.flood_share(alone, alone) == 0
    assert flood.flood_share(flooded, alone) == 0.4
