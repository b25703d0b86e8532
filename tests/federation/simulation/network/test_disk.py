"""What survives a crash of a simulated instance."""

from federation.core import Millis
from federation.simulation.network.disk import Disk
from tests.builders import named

SLOT = named("a slot")


def started(at: Millis) -> Disk:
    return Disk(starts={SLOT: at}, blobs=[b"old"], snapshots=[b"old"], silent_until=7)


def test_a_backup_is_the_whole_disk() -> None:
    disk = started(1)

    assert disk.backup() == disk


def test_what_is_stored_later_is_not_in_a_backup() -> None:
    disk = started(1)
    backup = disk.backup()
    disk.starts[SLOT] = 2
    disk.silent_until = 8
    for stored in (disk.blobs, disk.snapshots):
        stored.append(b"new")

    assert backup == started(1)
