"""libp2p costs half a second and 65 MB: only what needs the network pays."""

import subprocess
import sys


def test_the_command_line_does_not_import_libp2p_before_a_node_runs() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import node.cli.main, sys; print('libp2p' in sys.modules)"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert said.stdout.strip() == "False"
