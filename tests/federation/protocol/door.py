"""An agent at the local door, with a key that counts what it signs."""

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import pytest

from federation.certificates import Phase
from federation.core import Code, RefusedError, RoundId
from federation.crypto import KeySigner
from federation.protocol import World, custody, judge
from federation.protocol.custody import Keyring
from federation.records import (
    Body,
    Commit,
    Record,
    Role,
)
from tests.builders import (
    commit,
    named,
)
from tests.federation.protocol.hostile import limited_town
from tests.federation.protocol.town import Town, keys, rules
from tests.federation.protocol.trial import Trial

NONCE = named("nonce")


class CountingSigner(KeySigner):
    """A key that remembers what it signed."""

    def __init__(self, seed: bytes) -> None:
        super().__init__(seed)
        self.signed: list[bytes] = []

    def sign(self, payload: bytes) -> bytes:
        self.signed.append(payload)
        return super().sign(payload)


@dataclass
class Door:
    """An agent at the local door of its home, with a key that counts."""

    town: Town
    index: int
    signer: CountingSigner = field(init=False)

    def __post_init__(self) -> None:
        self.signer = CountingSigner(keys(self.town.seed, "agent", self.index).current)

    @property
    def world(self) -> World:
        return self.town.home(self.index)

    @property
    def keyring(self) -> Keyring:
        return Keyring(agent=self.town.agent(self.index), keys=(self.signer,))

    def author(self, body: Body, text: bytes | None = None) -> Record:
        return custody.author(self.world, self.keyring, body, now=self.town.now, text=text)

    def refuses(self, code: Code, act: Callable[[], object]) -> RefusedError:
        """Check that an act is refused with all that a caller needs, and nothing was signed."""
        with pytest.raises(RefusedError) as caught:
            act()
        error = caught.value
        assert error.code == code
        assert error.what.endswith(("refused", "not signed"))
        assert error.why
        assert error.fix
        assert self.signer.signed == []
        return error

    def refuses_as_judged(self, code: Code, body: Body, text: bytes | None = None) -> None:
        """Check that the door's code is what everybody says of the record signed past it."""
        self.refuses(code, lambda: self.author(body, text))
        hostile = self.town.sign(self.index, body, text)
        self.town.arrive(self.world, hostile)
        self.town.rest(50)
        for world in self.town.live():
            assert hostile.id in world.log
            assert judge(world, hostile).code == code


def in_phase(phase: Phase | None, **rest: object) -> tuple[Trial, RoundId]:
    """Start the federation with tight quotas and bring one round into a phase."""
    town = limited_town() if not rest else Trial.of(3, 9, operators=9, review=rules(**rest))
    round_id = town.open_round(town.propose(0, "A"))
    return town.in_phase(round_id, phase), round_id


def committing(town: Town, index: int, round_id: RoundId, **changes: object) -> Commit:
    """Give a commit body in the open phase of a round that its author may or may not write."""
    pen = town.pen(Role.AGENT, index)
    one = town.home(index).rounds[round_id]
    after = one.finals[Phase.DELIBERATE].digest
    return msgspec.structs.replace(commit(pen, round_id, after=after), **changes)
