from federation.simulation.network.timeline import Timeline


def test_events_run_by_time_and_then_in_the_order_in_which_they_were_planned() -> None:
    timeline, seen = Timeline(), []
    for when, name in ((5, "later"), (3, "first"), (3, "second")):
        timeline.at(when, lambda name=name: seen.append((timeline.now, name)))  # type: ignore[misc]
    while timeline.advance():
        pass

    assert seen == [(3, "first"), (3, "second"), (5, "later")]


def test_what_is_planned_for_the_past_happens_now() -> None:
    timeline, seen = Timeline(), []
    timeline.at(10, lambda: timeline.at(4, lambda: seen.append(timeline.now)))
    timeline.advance()

    assert timeline.upcoming == 10
    timeline.advance()
    assert seen == [10]


def test_a_delay_counts_from_now() -> None:
    timeline = Timeline()
    timeline.at(10, lambda: timeline.after(7, lambda: None))
    timeline.advance()

    assert timeline.upcoming == 17


def test_an_empty_timeline_does_not_advance() -> None:
    timeline = Timeline()

    assert timeline.upcoming is None
    assert not timeline.advance()
