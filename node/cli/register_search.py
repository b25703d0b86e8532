"""The search for a proof, as the person who waits for it sees it.

It is saved every second, so Ctrl-C and a killed process cost at most that, and it says so when it
goes on. It asks the instance now and then which epoch it is, for a proof counts in its own epoch and
the next: what would come too late is not searched for to its end.
"""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from federation.admission import MOST_STRIDE, Terms, Work, expected_tries, offered
from federation.core import CallerError, FederationError, IdentityId
from node.base.errors import NodeError
from node.cli.errors import Code, CommandError, Exit
from node.cli.output import Output
from node.cli.register_home import Home
from node.minting import MintingError, Saved, Search, Standing, start

MOST_PROCESSES: Final = MOST_STRIDE
_CELLS: Final = 12
_NARROW: Final = 20
"""Columns below which a terminal is not told apart from one without a width."""
_SELDOM_MS: Final = 30_000
"""Milliseconds between two lines where lines cannot be drawn over."""
_ASK_S: Final = 20.0
"""Seconds between two questions which epoch it is."""
_JUDGED_MS: Final = 3_000
"""How long the speed is measured before it is told, or a search given up as too long."""
_MINUTE: Final = 60
_HOUR: Final = 3_600
_DAY: Final = 86_400
_KIB: Final = 1_024
_SHARE: Final = 2
"""Processes may take one part in so many of the memory that is free."""


class TurnedError(Exception):
    """The epoch in which a proof would have counted is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What somebody is ready to do for a proof."""

    processes: int | None
    """How many are to search; None for as many as processors and memory allow."""
    most_hours: int
    """A search that takes longer than this on average is not begun in earnest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minted:
    """A proof, and what it took."""

    work: Work
    tried: int
    """Argon2id hashes computed for it, before interruptions too."""
    spent_ms: int
    """How long that took."""


def mint(
    output: Output,
    home: Home,
    name: IdentityId,
    saved: Saved,
    effort: Effort,
    *,
    epoch: Callable[[], int],
) -> Minted:
    """Search for a proof, or go on searching, and keep it.

    `epoch` asks the instance for the current one, from another thread; it may fail. Raises
    TurnedError once the proof would come too late, CommandError MINT_FAILED or TERMS_REFUSED.
    """
    terms = offered(saved.work)
    assert terms is not None, "the door has checked them"  # noqa: S101 # our own invariant
    processes = effort.processes or _processes(terms)
    _introduce(output, saved, terms, processes)
    keeper = _Keeper(output, home, name)
    display = _Display(output)
    with _epochs(epoch) as newest:

        def tell(standing: Standing) -> None:
            display.show(standing)
            if newest.epoch > saved.work.epoch + 1:
                raise TurnedError
            _check_length(standing, effort, ran_ms=standing.spent_ms - saved.spent_ms)

        try:
            work = Search(saved, processes=processes).run(tell=tell, keep=keeper.keep)
        except (MintingError, MemoryError) as error:
            raise CommandError(
                "no proof of work found",
                why=str(error) or "memory is short",
                fix="make room in memory, or search with fewer processes: --cores 1",
                code=Code.MINT_FAILED,
                leaves=Exit.FAILED,
            ) from error
        except CallerError:
            # The saved search was changed by somebody. Nothing of it is worth anything.
            home.forget(name)
            raise
        finally:
            display.end()
    keeper.keep_proof(work)
    last = keeper.last or saved
    return Minted(work=work, tried=last.tried, spent_ms=last.spent_ms)


class _Keeper:
    """Saves a search, and says once if that cannot be: the search is worth more than its file."""

    def __init__(self, output: Output, home: Home, name: IdentityId) -> None:
        self._output = output
        self._home = home
        self._name = name
        self._failed = False
        self.last: Saved | None = None

    def keep(self, saved: Saved) -> None:
        self.last = saved
        try:
            self._home.keep_search(self._name, saved)
        except OSError as error:
            self._say(error)

    def keep_proof(self, work: Work) -> None:
        try:
            self._home.keep_proof(self._name, work)
        except OSError as error:
            self._say(error)

    def _say(self, error: OSError) -> None:
        if not self._failed:
            self._failed = True
            reason = error.strerror or str(error)
            self._output.say(
                f"\nThe search cannot be saved ({reason}). It goes on; if it is stopped now, what "
                "it has found since is lost."
            )


class _Newest:
    """The newest epoch that an instance has told."""

    def __init__(self) -> None:
        self.epoch = 0


@contextmanager
def _epochs(ask: Callable[[], int]) -> Iterator[_Newest]:
    """Keep asking for the epoch, beside the search: an instance may take long to answer."""
    newest, enough = _Newest(), threading.Event()

    def follow() -> None:
        while not enough.wait(_ASK_S):
            try:
                newest.epoch = max(newest.epoch, ask())
            except (CommandError, FederationError, NodeError):
                # It may be gone for a while; whether the proof still counts shows in the end.
                continue

    # As a daemon it never keeps the command from ending; it holds nothing.
    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield newest
    finally:
        enough.set()


class _Display:
    """Shows how it stands: on one line that is drawn over, or on a new line now and then."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._drawn = 0
        self._due_ms: int | None = None

    def show(self, standing: Standing) -> None:
        if self._output.quiet:
            return
        text = line(standing)
        if self._output.is_watched:
            width = shutil.get_terminal_size().columns
            if width > _NARROW:
                text = text[: width - 1]
            self._output.people.write("\r" + text.ljust(self._drawn))
            self._output.people.flush()
            self._drawn = len(text)
        elif standing.rest is not None and self._is_due(standing.spent_ms):
            self._output.say(text)

    def end(self) -> None:
        """End the line that is drawn over."""
        if self._drawn:
            self._output.say()

    def _is_due(self, now: int) -> bool:
        # The first line comes when the speed has been measured for a while: what processes that
        # are just starting do would be extrapolated to twice the time and more.
        if self._due_ms is None:
            self._due_ms = now + _JUDGED_MS
        if now < self._due_ms:
            return False
        self._due_ms = now + _SELDOM_MS
        return True


def line(standing: Standing) -> str:
    """Say how it stands with a search: what is found, and what is left on average.

    The bar shows what is found, not what was tried: that does not bring the end any nearer.
    """
    filled = _CELLS * standing.found // standing.parts
    bar = f"[{'#' * filled}{'.' * (_CELLS - filled)}] {standing.found}/{standing.parts}"
    tried = f"{standing.tried:,} tries"
    rest = standing.rest
    if rest is None:
        return f"{bar}, {tried}, measuring the speed"
    ends = f"50 % end in {span(rest.half_s)}, 95 % in {span(rest.most_s)}"
    left = f"~{standing.left:,} to go" if standing.left else "the gate to go"
    return f"{bar}, {tried}, {left}; {ends}"


def span(seconds: float) -> str:
    """Show a duration in two units at most."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    if whole < _DAY:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
    return f"{whole // _DAY:,} d {whole % _DAY // _HOUR} h"


def _introduce(output: Output, saved: Saved, terms: Terms, processes: int) -> None:
    begun = saved != start(saved.work)
    if begun:
        found = sum(one is not None for one in saved.found)
        output.say(
            f"The search goes on where it stopped: {found} of {terms.parts} parts found, "
            f"{saved.tried:,} hashes tried in {span(saved.spent_ms / 1_000)}."
        )
    output.say(
        f"{_counted(processes, 'process', 'processes')} search{'es' if processes == 1 else ''} for "
        f"a proof of work: {_counted(terms.parts, 'part', 'parts')} of {terms.bits} zero bits, "
        f"{expected_tries(terms):,} hashes of {terms.memory_kib / _KIB:g} MiB on average in all."
    )
    output.say("Each try is a new draw: only a part that is found brings the end nearer, not time.")
    output.say("Ctrl-C stops it; the same command goes on with it.")


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _check_length(standing: Standing, effort: Effort, *, ran_ms: int) -> None:
    """Raise CommandError TERMS_REFUSED if the whole search is longer than somebody is ready for."""
    rest = standing.rest
    if rest is None or ran_ms < _JUDGED_MS:
        return
    if rest.mean_s > effort.most_hours * _HOUR:
        raise CommandError(
            "no proof of work found",
            why=f"what is left takes {span(rest.mean_s)} on average on this machine, and you are "
            f"ready for {effort.most_hours} h",
            fix="ask another instance, or wait for a quieter epoch; or say --most-hours",
            code=Code.TERMS_REFUSED,
            leaves=Exit.REFUSED,
        )


def _processes(terms: Terms) -> int:
    """Give as many as there are processors, and no more than there is memory for."""
    processors = len(os.sched_getaffinity(0))
    free = _free_kib()
    room = processors if free is None else free // (_SHARE * terms.memory_kib)
    return max(1, min(processors, room, MOST_PROCESSES))


def _free_kib(table: Path = Path("/proc/meminfo")) -> int | None:
    """Give the memory that the system says is free for use, in KiB; None if it does not say."""
    try:
        rows = table.read_text(encoding="ascii").splitlines()
        found = next(row for row in rows if row.startswith("MemAvailable:"))
        return int(found.split()[1])
    except (OSError, ValueError, LookupError, StopIteration):
        return None
