"""A restart from a store that lacks something: the journal, old blobs, or today's key alone."""

import functools
from dataclasses import replace

import pytest

from federation.certificates import CutSlot, CutValue, SignedEntry, peek_slot
from federation.crypto import KeySigner
from federation.protocol import World, inputs, restore, step
from federation.protocol import effects as fx
from federation.protocol.invariants import disagreements
from federation.records import Rotate, RotateBy, sign_record
from federation.replication import BlobStore
from tests.builders import key_digest, named
from tests.federation.protocol.town import keys, verify
from tests.federation.protocol.trial import Trial


def restored(town: Trial, **changes: object) -> tuple[World, list[fx.Effect]]:
    """Bring instance 0 back from its store, some parts of which are changed."""
    signer = KeySigner(keys(town.seed, "instance", 0).current)
    durable = replace(town.durable(0), **changes)  # type: ignore[arg-type]
    return restore(
        town.founding.charter,
        town.founding.records,
        durable,
        instance=town.founding.instances[0],
        signer=signer,
        now=town.now,
        verify=verify,
    )


def test_a_lone_instance_that_lost_its_journal_writes_no_other_history() -> None:
    town = Trial.of(1, 5, operators=5)
    town.vote(town.propose(1), {2: 1, 3: 1, 4: 1})
    town.settled()
    known = town.world()
    world, effects = restored(town, journal=[])
    assert world.me is not None
    assert known.me is not None
    later = [one for _ in range(8) for one in step(world, inputs.Wake(), town.now + 10**6)]

    assert disagreements([known, world]) == []
    assert world.state.cut >= known.state.cut - 1
    # It counts on from its signatures in the certificates: none is ever made twice.
    sealed = {
        seal.counter for certificate in known.certificates.values() for seal in certificate.seals
    }
    signed = {
        peek_slot(one.entry.raw)[4]
        for one in (*effects, *later)
        if isinstance(one, fx.StoreJournal) and isinstance(one.entry, SignedEntry)
    }
    assert signed
    assert min(signed) > max(sealed)


def test_an_instance_restarts_although_newer_blobs_fill_its_store(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = functools.partial(BlobStore, most_bytes=1024 * 1024)
    monkeypatch.setattr("federation.protocol.world.BlobStore", small)
    town = Trial.of(1, 4, operators=4)
    town.in_cut(5)
    positions = [
        one.value.positions
        for one in town.world().certificates.values()
        if isinstance(one.value, CutValue) and one.value.number <= town.world().state.cut
    ]
    filling = [bytes([number]) * 1024 * 1024 for number in range(2)]
    for blob in filling:
        town.world().blobs.put(blob)
    world, _ = restored(town, blobs=[*town.durable(0).blobs, *filling])

    assert all(name in town.world().blobs for name in positions)
    assert world.digest == town.world().digest


def test_an_instance_restarts_in_slots_that_pinned_a_key_from_before_its_rotation() -> None:
    town = Trial.of(1, 4, operators=4)
    name, world = town.founding.instances[0], town.world()
    town.in_cut(2)
    three = keys(town.seed, "instance", 0)
    old, new = KeySigner(three.current), KeySigner(three.next)
    ((seq, head),) = world.log.heads_of(name)
    rotation = sign_record(
        Rotate(
            key=new.public,
            next=key_digest(named("next")),
            recovery=key_digest(named("recovery")),
            by=RotateBy.NEXT,
            reason="routine",
        ),
        realm=world.realm,
        signer=new,
        author=name,
        key_index=1,
        seq=seq + 1,
        prev=head,
        at=town.now,
    )
    assert world.me is not None
    world.me.rotate(new)
    town.arrive(world, rotation)
    town.rest(300)
    town.worlds[name], effects = restore(
        town.founding.charter,
        town.founding.records,
        town.durable(0),
        instance=name,
        signer=new,
        former=(old,),
        now=town.now,
        verify=verify,
    )
    cut = town.world().state.cut
    pinned = next(one for one in town.world().slots.values() if isinstance(one.slot, CutSlot))
    assert {member.key for member in pinned.pinned.members} == {old.public}
    town._perform(name, effects)
    town.in_cut(cut + 6)

    assert town.world().state.cut_members[0].key == new.public
