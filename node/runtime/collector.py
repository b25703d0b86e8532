"""How Python's cyclic garbage collector runs in a node: often over what is new, never over all.

What a node holds, records above all, lives long and has no cycles: reference counts free it. By
default the collector still walks all of it each time a quarter has come on top, which stops the
event loop for 40 ms at 20,000 records and for seconds at a million. So young objects are collected
often, and what has survived twice is left alone.
"""

import gc
from typing import Final

YOUNG: Final = 5_000
"""Objects made and not freed, until the youngest are collected."""
OLDER: Final = 10
"""Collections of the youngest, until those that survived one are collected as well."""
OLDEST: Final = 1_000_000
"""Collections of those until all are collected; at full load that is once in some weeks."""


def calm_collector() -> None:
    """Collect once, set aside what is there (modules, a restored world), and go on calmly."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, OLDER, OLDEST)
