"""A node as a process of its own, with the command line as its user would type it."""

import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.node.cli.session import ROOT, Session, command, run_process

PATIENCE_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A node that said that it is ready."""

    process: subprocess.Popen[str]
    told: dict[str, object]

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop; give its exit code."""
        self.process.send_signal(by)
        return self.process.wait(PATIENCE_S)


def environment(**more: str) -> dict[str, str]:
    """Give what a process needs of ours, without our own settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return kept | more


def folkmoot(line: str, **more: str) -> Session:
    """Run one command line as a process of its own."""
    return run_process(line, **environment(**more))


@contextmanager
def started(line: str, log: Path, **more: str) -> Iterator[Running]:
    """Start a node with `--json` and wait for its ready line; it is gone afterwards."""
    with (
        log.open("w", encoding="utf-8") as errors,
        subprocess.Popen(  # noqa: S603 # our own command
            command(f"{line} --json"),
            cwd=ROOT,
            env=environment(**more),
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            preexec_fn=_hears_ctrl_c,  # noqa: PLW1509 # a shell may have let its jobs ignore it
        ) as process,
    ):
        try:
            assert process.stdout is not None
            ready, _, _ = select.select([process.stdout], [], [], PATIENCE_S)
            assert ready, f"not ready within {PATIENCE_S} s: {log.read_text(encoding='utf-8')}"
            said = process.stdout.readline()
            assert said, log.read_text(encoding="utf-8")
            yield Running(process=process, told=json.loads(said))
        finally:
            if process.poll() is None:
                process.kill()


def _hears_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
