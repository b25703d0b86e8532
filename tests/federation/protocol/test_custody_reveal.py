"""Revealing: only what a verified certificate lists, with the key of the commit, and not a byte before."""

import base64
import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import Phase, entry_bytes
from federation.codec import encode
from federation.core import Code, RefusedError
from federation.crypto import Choice, KeySigner, Reason, plain_hash
from federation.protocol import custody
from federation.protocol.custody import Keyring
from federation.records import (
    Role,
    wire,
)
from tests.builders import (
    Chain,
    ballot,
    named,
)
from tests.federation.protocol.door import CountingSigner, Door, in_phase
from tests.federation.protocol.trial import Trial, records_of


def test_nothing_may_be_revealed_before_the_certificate_of_the_box_is_held() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    for index in (1, 2, 3):
        town.cast(index, round_id, 1)
    door = Door(town, 1)
    assert custody.may_reveal(door.world, round_id, door.keyring.agent) is None
    door.refuses(
        Code.NOT_CERTIFIED,
        lambda: custody.reveal(door.world, door.keyring, round_id, now=0),
    )
    assert custody.may_reveal(door.world, named("nowhere"), door.keyring.agent) is None
    town.until(
        lambda one: (
            all(
                (world.rounds[round_id].phase is Phase.DECIDE)
                == (custody.may_reveal(world, round_id, door.keyring.agent) is not None)
                for world in one.live()
            )
            and door.world.rounds[round_id].phase is Phase.DECIDE
        )
    )
    listed = custody.may_reveal(door.world, round_id, door.keyring.agent)
    assert listed is not None
    assert listed in door.world.rounds[round_id].finals[Phase.COMMIT].records


def test_a_member_that_lacks_the_certificate_refuses_although_others_reveal() -> None:
    town = Trial.of(4, 6, operators=6)
    round_id = town.open_round(town.propose(0))
    town.in_phase(round_id, Phase.COMMIT)
    for index in (1, 2, 3, 5):
        town.cast(index, round_id, 1)
    town.rest(50)
    town.take_down(1)
    town.in_phase(round_id, Phase.DECIDE)
    town.reveal(2, round_id)
    blind = Door(town, 1)

    # Instance 1 holds every commitment and may hold q cosigns; it holds no certificate.
    blind.refuses(
        Code.NOT_CERTIFIED,
        lambda: custody.reveal(blind.world, blind.keyring, round_id, now=0),
    )


def forms(secret: bytes) -> list[bytes]:
    """Spell bytes in every way in which they could leak: raw, hex, base64 at any offset."""
    spelt = [secret, secret.hex().encode(), secret.hex().upper().encode()]
    for encode_form in (base64.b64encode, base64.urlsafe_b64encode):
        for offset in range(3):
            text = encode_form(bytes(offset) + secret)
            # Only the characters that no neighbour of the secret touches.
            spelt.append(text[-(-offset * 8 // 6) : (offset + len(secret)) * 8 // 6])
    return spelt


def is_leaked(secret: bytes, places: list[bytes]) -> bool:
    return any(form in place for form in forms(secret) for place in places)


def places_of(town: Trial) -> list[bytes]:
    """Collect every byte that any instance holds or sent: log, blobs, journal, packets."""
    found = [raw for _, raw in town.packets]
    for world in town.worlds.values():
        found += [wire(record) for record in records_of(world)]
    for index in range(len(town.founding.instances)):
        durable = town.durable(index)
        found += [*durable.blobs, *(entry_bytes(entry) for entry in durable.journal)]
    return found


@given(secret=st.binary(min_size=32, max_size=32), before=st.binary(max_size=5))
def test_a_secret_that_leaks_in_any_spelling_would_be_found(secret: bytes, before: bytes) -> None:
    after = b"and more"
    for spell in (bytes, bytes.hex, base64.b64encode, base64.urlsafe_b64encode):
        spelt = spell(before + secret + after)
        place = spelt.encode() if isinstance(spelt, str) else spelt
        assert is_leaked(secret, [b"nothing", place])
    assert not is_leaked(secret, [hashlib.sha256(secret).digest()])


def test_nothing_of_a_ballot_is_anywhere_before_the_box_is_final_and_all_of_it_afterwards() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    secrets: list[bytes] = []
    for index in (1, 2, 3, 5):
        vote = ballot(Choice(index % 3 - 1), evidence=(named("seen", index),))
        nonce = named("fresh", index)
        record = custody.cast(
            town.home(index),
            town.keyring(index),
            round_id,
            vote,
            nonce=nonce,
            salt=nonce[::-1][:24],
            now=town.now,
        )
        town.arrive(town.home(index), record)
        secrets += [nonce, encode(vote), named("seen", index)]
    town.until(
        lambda one: any(world.rounds[round_id].phase is Phase.DECIDE for world in one.live())
    )
    sealed = places_of(town)

    assert sum(len(place) for place in sealed) > 50_000
    assert not any(is_leaked(secret, sealed) for secret in secrets)

    town.in_phase(round_id, Phase.DECIDE)
    for index in (1, 2, 3, 5):
        town.reveal(index, round_id)
    town.in_phase(round_id, None)

    assert all(is_leaked(secret, places_of(town)) for secret in secrets)


@settings(max_examples=8)
@given(rotations=st.integers(1, 3), seed=st.binary(max_size=4))
def test_a_ballot_opens_with_the_key_of_its_commit_after_rotations_of_the_voter(
    rotations: int, seed: bytes
) -> None:
    town, round_id = in_phase(Phase.COMMIT)
    pen = town.pen(Role.AGENT, 1)
    rings = [KeySigner(pen.current)]
    vote = ballot(Choice.AGAINST, reason=Reason.UNCLEAR)
    nonce = plain_hash(seed)
    cast = custody.cast(
        town.home(1),
        Keyring(agent=pen.id, keys=tuple(rings)),
        round_id,
        vote,
        nonce=nonce,
        salt=nonce[:24],
        now=town.now,
    )
    town.arrive(town.home(1), cast)
    pen.records.append(cast)
    for index in (2, 3):
        town.cast(index, round_id, 1)
    for _ in range(rotations):
        town.arrive(town.home(1), pen.rotate())
        rings.append(KeySigner(pen.current))
    town.in_phase(round_id, Phase.DECIDE)
    keyring = Keyring(agent=pen.id, keys=tuple(rings))
    record = custody.reveal(town.home(1), keyring, round_id, now=town.now)

    assert record.statement.key_index == rotations
    assert (record.body.ballot, record.body.nonce) == (vote, nonce)  # type: ignore[union-attr]

    town.arrive(town.home(1), record)
    for index in (2, 3):
        town.reveal(index, round_id)
    town.in_phase(round_id, None)

    for world in town.live():
        verdict = world.rounds[round_id].verdict
        assert verdict is not None
        assert [one.ballot for one in verdict.ballots if one.voter == pen.id] == [vote]


def test_a_rotation_through_the_door_stands_under_the_key_that_it_reveals() -> None:
    town = Trial.of(1, 3)
    door = Door(town, 1)
    pen: Chain = town.pen(Role.AGENT, 1)
    body = pen.rotate().body
    assert body is not None
    door.refuses(Code.BAD_SIGNATURE, lambda: door.author(body))
    keyring = Keyring(agent=pen.id, keys=(door.signer, KeySigner(pen.current)))
    record = custody.author(door.world, keyring, body, now=0)
    town.arrive(door.world, record)

    assert record.statement.key_index == 1
    assert record.id in door.world.log


def test_a_ballot_sealed_under_a_key_that_is_not_kept_is_not_opened() -> None:
    town, round_id = in_phase(Phase.COMMIT)
    pen = town.pen(Role.AGENT, 1)
    first = KeySigner(pen.current)
    town.arrive(town.home(1), pen.rotate())
    signer = CountingSigner(pen.current)
    cast = custody.cast(
        town.home(1),
        Keyring(agent=pen.id, keys=(first, signer)),
        round_id,
        ballot(),
        nonce=named("nonce"),
        salt=named("salt")[:24],
        now=town.now,
    )
    town.arrive(town.home(1), cast)
    for index in (2, 3):
        town.cast(index, round_id, 1)
    town.in_phase(round_id, Phase.DECIDE)
    signer.signed.clear()
    with pytest.raises(RefusedError) as caught:
        # The newest key alone does not say which number it has.
        custody.reveal(town.home(1), Keyring(agent=pen.id, keys=(signer,)), round_id, now=town.now)

    assert caught.value.code == Code.COMMITMENT_MISMATCH
    assert signer.signed == []
