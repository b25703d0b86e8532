from federation.simulation.network.links import Gap, Line, Links, Weather, partition

A, B, C = (bytes([one]) * 32 for one in range(3))


def test_a_good_link_delivers_once_within_its_latency() -> None:
    links = Links("seed", Weather(line=Line(shortest=3, longest=9, loss=1_000_000)))
    arrivals = [links.arrivals(A, B, now) for now in range(100)]

    assert all(len(times) == 1 for times in arrivals)
    assert all(3 <= times[0] - now <= 9 for now, times in enumerate(arrivals))
    assert len({times[0] - now for now, times in enumerate(arrivals)}) > 3


def test_bad_weather_loses_and_repeats_until_links_are_good() -> None:
    weather = Weather(line=Line(loss=300_000, twice=300_000), good_from=1_000)
    links = Links("seed", weather)
    copies = [len(links.arrivals(A, B, now)) for now in range(1_000)]

    assert {0, 1, 2} == set(copies)
    assert 200 < copies.count(0) < 400
    assert {len(links.arrivals(A, B, now)) for now in range(1_000, 1_100)} == {1}


def test_a_link_without_reordering_keeps_the_order() -> None:
    line = Line(shortest=1, longest=50, reorders=False)
    links = Links("seed", Weather(line=line, good_from=100))
    times = [links.arrivals(A, B, now)[0] for now in range(100)]

    assert times == sorted(times)


def test_a_link_that_reorders_sometimes_overtakes() -> None:
    links = Links("seed", Weather(line=Line(shortest=1, longest=50)))
    times = [links.arrivals(A, B, now)[0] for now in range(100)]

    assert times != sorted(times)


def test_a_partition_stops_both_directions_between_its_groups_only_and_only_while_it_lasts() -> (
    None
):
    gaps = partition(10, 20, ((A,), (B, C)))
    links = Links("seed", Weather(gaps=gaps, good_from=100))

    assert links.arrivals(A, B, 15) == ()
    assert links.arrivals(C, A, 15) == ()
    assert links.arrivals(B, C, 15)
    assert links.arrivals(A, B, 9)
    assert links.arrivals(A, B, 20)


def test_a_gap_may_stop_one_direction_only() -> None:
    gap = Gap(start=0, end=9, senders=frozenset({A}), receivers=frozenset({B}))

    assert gap.stops(A, B, 0)
    assert not gap.stops(B, A, 0)


def test_traffic_on_one_link_changes_nothing_on_another() -> None:
    quiet, busy = (Links("seed", Weather(line=Line(loss=500_000), good_from=99)) for _ in range(2))
    for now in range(50):
        busy.arrivals(A, B, now)

    assert [quiet.arrivals(B, C, now) for now in range(50)] == [
        busy.arrivals(B, C, now) for now in range(50)
    ]


def test_one_line_can_differ_from_all_others() -> None:
    weather = Weather(
        line=Line(shortest=1, longest=1), lines={(A, B): Line(shortest=70, longest=70)}
    )
    links = Links("seed", weather)

    assert links.arrivals(A, B, 0) == (70,)
    assert links.arrivals(B, A, 0) == (1,)
