import gc
from collections.abc import Iterator

import pytest

from node.runtime.collector import OLDER, OLDEST, YOUNG, calm_collector


@pytest.fixture
def _as_before() -> Iterator[None]:
    """Give the collector back as it was: it is the whole process's."""
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


@pytest.mark.usefixtures("_as_before")
def test_what_is_there_is_set_aside_and_the_new_is_still_collected() -> None:
    calm_collector()

    assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == (YOUNG, OLDER, OLDEST)
    assert gc.isenabled()
