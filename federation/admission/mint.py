"""The search for a proof, in steps: pure, so that a shell can show it, save it, stop and resume it.

A `Mint` knows what is searched for, a `Progress` how far the search has come. `advance` tries some
values and gives the next progress. Several processes may share one search: with `stride` n and
`offset` 0 … n - 1 they try different values, with other first parts they also begin at different
places, and `join` hands one what another found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from federation.admission.checks import does_work, passes_gate
from federation.admission.terms import MOST_PARTS, Terms
from federation.admission.work import (
    Number,
    Solution,
    Work,
    challenge,
    gate_hash,
    gate_head,
    offered,
    part_hash,
    part_salt,
    zeros,
)
from federation.codec import decode
from federation.core import (
    CallerError,
    Code,
    Digest,
    InstanceId,
    ParameterError,
    PublicKey,
    Realm,
)
from federation.records import Role

MOST_STRIDE: Final = 1_024
"""Processes that may share one search."""
_MOST_BYTES: Final = 1_024
_SIZE: Final = 8
_LAST_NONCE: Final = 2**52
"""No search comes so far: at 32 bits all but e^-1,048,576 of them end before."""


class Progress(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """How far a search has come; its canonical bytes are what a shell saves."""

    bound_to: Digest
    """The challenge of the proof: a search cannot be resumed for another one."""
    found: Annotated[tuple[Solution | None, ...], Meta(min_length=1, max_length=MOST_PARTS)]
    """The solution of each part, nil where it is still searched for."""
    part: Number = 0
    """Which part is being searched; without meaning once all are found."""
    nonce: Number = 0
    """The next value to try, of this part or of the gate."""
    tried: Number = 0
    """Argon2id hashes computed in this search, to be shown beside `expected_tries`."""
    gate: Solution | None = None
    """The value of the gate: the search is over."""

    @property
    def at_gate(self) -> bool:
        """Whether all parts are found: from here on a try takes a microsecond, not 10 ms."""
        return None not in self.found

    @property
    def is_over(self) -> bool:
        """Whether everything is found, and `Mint.finish` gives the proof."""
        return self.at_gate and self.gate is not None


def expected_tries(terms: Terms) -> int:
    """Give the Argon2id hashes that a search takes on average: parts · 2^bits."""
    return terms.parts << terms.bits


def expected_gate_tries(terms: Terms) -> int:
    """Give the SHA-256 hashes that the gate takes on average: 2^gate_bits."""
    return 1 << terms.gate_bits


def blank_work(
    *,
    realm: Realm,
    role: Role,
    instance: InstanceId,
    key: PublicKey,
    epoch: int,
    beacon: Digest,
    terms: Terms,
) -> Work:
    """Write the proof that is to be searched for, with zeros where the solutions belong.

    `beacon` and `terms` are those in force in `epoch`: another beacon makes the search vain.
    """
    return Work(
        version=1,
        role=role,
        realm=realm,
        instance=instance,
        key=key,
        epoch=epoch,
        beacon=beacon,
        memory_kib=terms.memory_kib,
        passes=terms.passes,
        bits=terms.bits,
        gate_bits=terms.gate_bits,
        solutions=(bytes(_SIZE),) * terms.parts,
        gate=bytes(_SIZE),
    )


def read_progress(raw: bytes) -> Progress:
    """Read a saved progress; raises PeerError if the bytes are not what `codec.encode` wrote."""
    return decode(raw, Progress, what="saved search", most=_MOST_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mint:
    """A search for one proof, or the share of one process in it.

    Raises ParameterError if the terms of `blank` are outside the hard limits, or the share is none.
    """

    blank: Work
    """What `blank_work` gave."""
    stride: int = 1
    """How many processes search; 1 to 1,024."""
    offset: int = 0
    """Which of them this is; 0 to stride - 1."""

    def __post_init__(self) -> None:
        """Hold the terms and the share to their limits."""
        self._terms()
        if not 1 <= self.stride <= MOST_STRIDE or not 0 <= self.offset < self.stride:
            raise ParameterError(
                "search not begun",
                why=f"it is to be share {self.offset} of {self.stride}",
                fix=f"divide it into 1 to {MOST_STRIDE} shares and count them from 0",
            )

    def start(self, *, part: int = 0) -> Progress:
        """Begin; `part` is the part to search first, taken modulo their number."""
        parts = len(self.blank.solutions)
        return Progress(bound_to=challenge(self.blank), found=(None,) * parts, part=part % parts)

    def advance(self, progress: Progress, tries: int) -> Progress:
        """Try up to `tries` values; stops at the last part, for a try at the gate costs far less.

        A search that is over stays as it is. Raises CallerError if the progress belongs to another
        search, ParameterError if `tries` is less than 1.
        """
        self._hold(progress)
        if tries < 1:
            raise ParameterError(
                "search not continued", why=f"{tries} tries were asked for", fix="ask for 1 or more"
            )
        if progress.is_over:
            return progress
        return (
            self._search_gate(progress, tries)
            if progress.at_gate
            else self._search_parts(progress, tries)
        )

    def join(self, mine: Progress, other: Progress) -> Progress:
        """Take over into `mine` what another process has found in the same search.

        Where both have a solution, the lower stands: so all processes come to the same list, to
        which a gate belongs. Whoever has a gate keeps the list that it was found for.
        """
        self._hold(mine)
        self._hold(other)
        if mine.is_over:
            return mine
        if other.is_over:
            return replace(mine, found=other.found, gate=other.gate)
        found = tuple(map(_lower, mine.found, other.found))
        # What is searched for now is found, or the gate has to be searched for another list.
        moved = found != mine.found and (None not in found or found[mine.part] is not None)
        return replace(mine, found=found, nonce=self.offset if moved else mine.nonce)

    def finish(self, progress: Progress) -> Work:
        """Give the proof; it is checked once more, for a bad one may cost its sender dearly.

        Raises CallerError if the search is not over, or the saved progress was damaged.
        """
        self._hold(progress)
        solutions = tuple(one for one in progress.found if one is not None)
        if progress.gate is None or len(solutions) < len(progress.found):
            raise _unfit("the search is not over", "advance it until it is")
        work = replace(self.blank, solutions=solutions, gate=progress.gate)
        if not passes_gate(work) or not does_work(work):
            raise _unfit("what it has found is no solution", "start the search anew")
        return work

    def _search_parts(self, progress: Progress, tries: int) -> Progress:
        terms = self._terms()
        found, part, nonce, tried = list(progress.found), progress.part, progress.nonce, 0
        if found[part] is not None:
            part, nonce = _next_open(found, part), 0
        nonce = self._aligned(nonce)
        salt = part_salt(progress.bound_to, part)
        while tried < tries and None in found:
            solution = nonce.to_bytes(_SIZE, "big")
            tried += 1
            nonce += self.stride
            if zeros(part_hash(salt, solution, terms)) >= terms.bits:
                found[part] = solution
                part, nonce = _next_open(found, part), self.offset
                salt = part_salt(progress.bound_to, part)
        return replace(
            progress, found=tuple(found), part=part, nonce=nonce, tried=progress.tried + tried
        )

    def _search_gate(self, progress: Progress, tries: int) -> Progress:
        solutions = tuple(one for one in progress.found if one is not None)
        head = gate_head(progress.bound_to, solutions)
        first = self._aligned(progress.nonce)
        end = first + tries * self.stride
        for nonce in range(first, end, self.stride):
            gate = nonce.to_bytes(_SIZE, "big")
            if zeros(gate_hash(head, gate)) >= self.blank.gate_bits:
                return replace(progress, nonce=nonce, gate=gate)
        return replace(progress, nonce=end)

    def _aligned(self, nonce: int) -> int:
        """Give the first value of this share from `nonce` on: a search may be resumed in another."""
        return nonce + (self.offset - nonce) % self.stride

    def _terms(self) -> Terms:
        terms = offered(self.blank)
        if terms is None:
            raise ParameterError(
                "search not begun",
                why="its terms are outside the limits that every verifier holds",
                fix="take the terms from the charter and the newest tick",
            )
        return terms

    def _hold(self, progress: Progress) -> None:
        """Hold a progress, which may come from a file, to this search."""
        parts = len(self.blank.solutions)
        if progress.bound_to != challenge(self.blank):
            raise _unfit(
                "it belongs to another search", "start anew: key, epoch, beacon or terms differ"
            )
        if len(progress.found) != parts or progress.part >= parts:
            raise _unfit(f"it does not have {parts} parts", "start the search anew")
        if progress.nonce > _LAST_NONCE:
            raise _unfit(f"it stands at value {progress.nonce}", "start the search anew")


def _lower(one: Solution | None, other: Solution | None) -> Solution | None:
    if one is None or other is None:
        return one or other
    return min(one, other)


def _next_open(found: Sequence[Solution | None], part: int) -> int:
    """Give the next part without a solution, in a circle; the same part if there is none."""
    ahead = [*range(part + 1, len(found)), *range(part)]
    return next((one for one in ahead if found[one] is None), part)


def _unfit(why: str, fix: str) -> CallerError:
    return CallerError(
        "search for an admission proof refused", why=why, fix=fix, code=Code.OUT_OF_RANGE
    )
