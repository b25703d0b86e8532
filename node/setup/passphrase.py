"""The passphrase that a new instance makes for itself where nobody gives it one.

It lies in a file beside the data directory, for its owner only. That guards the keys where the
data directory alone is copied: in a backup, a snapshot, a disk image of the data. It does not
guard them against whoever reads both; for that the passphrase must come from elsewhere.
"""

import base64
from pathlib import Path
from typing import Final

from node.base.entropy import Entropy
from node.base.paths import write_private

_BYTES: Final = 20
"""160 bits; 32 letters and digits of base32, without padding."""


def file_beside(data: Path) -> Path:
    """Name the file: `folkmoot-data.passphrase` beside `folkmoot-data`."""
    return data.with_name(f"{data.name}.passphrase")


def made(file: Path, entropy: Entropy) -> None:
    """Write a new passphrase into a file for its owner only, unless there is one already.

    A file that is there belongs to an attempt that was cut short, or to its owner; it is used.
    """
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_private(file, base64.b32encode(entropy(_BYTES)).lower() + b"\n")
