"""The arrows between packages point one way; the contracts stand in pyproject.toml."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_import_breaks_a_layer() -> None:
    # The documented command, not a library call: this is what a contributor runs too.
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
