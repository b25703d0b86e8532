"""One instance of the demo: a process of its own, with its own directory, keys and port.

It is started, asked and killed as an operator would: `python -m node run`, HTTP with the token
that lies in its directory, signals.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import httpx
import msgspec
import trio

from node.base.paths import DataDir, write_private
from node.base.settings import load, spell

_READY_S: Final = 60.0
_STOP_S: Final = 10.0
_LOOK_S: Final = 0.05
_REQUEST_S: Final = 10.0


class InstanceFailedError(Exception):
    """A process did not do what a node does; its log tells why."""


class _Address(msgspec.Struct, frozen=True):
    url: str
    addresses: tuple[str, ...]
    pid: int


@dataclass(slots=True, kw_only=True)
class Instance:
    """A node process."""

    place: int
    data: DataDir
    passphrase_file: Path
    log: Path
    process: subprocess.Popen[bytes] | None = None
    address: _Address | None = None
    acknowledged: set[str] = field(default_factory=set)
    """Ids of the records that it said were stored."""
    client: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(timeout=_REQUEST_S))

    async def start(self) -> None:
        """Start the process, and wait until it answers."""
        self.data.address.unlink(missing_ok=True)
        command = [sys.executable, "-m", "node", "run", "--data", str(self.data.root)]
        command += ["--passphrase-file", str(self.passphrase_file)]
        self.process = _begin(command, self.log)
        with trio.move_on_after(_READY_S):
            # Only the file tells: the process writes it when it answers.
            while not self.data.address.exists() and self.process.poll() is None:  # noqa: ASYNC110
                await trio.sleep(_LOOK_S)
        if not self.data.address.exists():
            raise InstanceFailedError(
                f"instance {self.place} did not start: {_last_line(self.log)}"
            )
        self.address = msgspec.json.decode(self.data.address.read_bytes(), type=_Address)
        self._stay()

    def _stay(self) -> None:
        """Keep the port that was free at the first start: others call there after a restart."""
        assert self.address is not None, "it has just started"  # noqa: S101 # our own invariant
        settings = load(self.data.settings, {})
        listen = self.address.addresses[0].partition("/p2p/")[0]
        if settings.listen != (listen,):
            write_private(self.data.settings, spell(replace(settings, listen=(listen,))).encode())

    def kill(self) -> None:
        """Kill the process, as a power cut would."""
        assert self.process is not None, "it runs"  # noqa: S101 # our own invariant
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.address = None

    async def stop(self) -> int:
        """Ask the process to end, and wait for it; give its exit code."""
        process = self.process
        if process is None or process.poll() is not None:
            return process.returncode if process else 0
        process.terminate()
        with trio.move_on_after(_STOP_S):
            while process.poll() is None:  # noqa: ASYNC110 # a process of `subprocess` has no event
                await trio.sleep(_LOOK_S)
        if process.poll() is None:
            process.kill()
        return process.wait()

    @property
    def url(self) -> str:
        """Where its API is; a killed one has none until it is back."""
        if self.address is None:
            raise httpx.ConnectError("the instance is down")
        return self.address.url

    @property
    def headers(self) -> Mapping[str, str]:
        """The operator's token, as a header."""
        token = self.data.operator_token.read_text(encoding="ascii").strip()
        return {"Authorization": f"Bearer {token}"}

    async def get(self, path: str) -> bytes:
        """Read a route; raises httpx.HTTPError."""
        answer = await self.client.get(self.url + path, headers=self.headers)
        answer.raise_for_status()
        return answer.content

    async def post(self, path: str, body: object) -> httpx.Response:
        """Post JSON; raises httpx.HTTPError if there is no answer."""
        return await self.client.post(
            self.url + path,
            content=msgspec.json.encode(body),
            headers={**self.headers, "Content-Type": "application/json"},
        )

    def peak_mb(self) -> float | None:
        """Give the largest memory that the process had, in MB; None if it is down."""
        return self._memory("VmHWM")

    def memory_mb(self) -> float | None:
        """Give the memory that the process has now, in MB; None if it is down."""
        return self._memory("VmRSS")

    def _memory(self, name: str) -> float | None:
        if self.process is None or self.process.poll() is not None:
            return None
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        line = next(one for one in status.splitlines() if one.startswith(name))
        return int(line.split()[1]) * 1_024 / 1e6

    def cpu_s(self) -> float | None:
        """Give the processor time that the process has used, in seconds; None if it is down."""
        if self.process is None or self.process.poll() is not None:
            return None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        spent = fields.rpartition(")")[2].split()[11:13]
        return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")


def _begin(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as written:
        return subprocess.Popen(command, stdout=written, stderr=written)  # noqa: S603 # our own


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else "it said nothing"
