"""`folkmoot dev`: an instance for trying things out, with life on it, and gone afterwards."""

import argparse
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from federation.charter import TEST
from node.base.clock import SteadyClock
from node.base.entropy import random_bytes
from node.base.paths import DataDir
from node.base.settings import HTTP_PORT, Settings
from node.cli.client import Client, Target
from node.cli.command import Command, between
from node.cli.errors import Exit
from node.cli.init_cmd import AGENTS, names
from node.cli.moot import play
from node.cli.output import Output
from node.keys import Keystore
from node.setup import Founded, found_solo, write_instance

if TYPE_CHECKING:
    from node.runtime.running import Running

_PORT: Final = 65_535
_PASSPHRASE: Final = 32


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--http-port",
        metavar="PORT",
        type=between(0, _PORT),
        default=HTTP_PORT.default,
        help=f"of API and status page; 0 takes any free one (default {HTTP_PORT.default})",
    )
    parser.add_argument(
        "--agents",
        metavar="NAMES",
        type=names,
        default=AGENTS,
        help=f"founding agents, separated by commas (default {','.join(AGENTS)})",
    )
    parser.add_argument(
        "--quiet-moot", action="store_true", help="play no moot; you are the only one who acts"
    )
    parser.add_argument(
        "--once", action="store_true", help="stop by itself when the moot has its verdicts"
    )


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    founded = found_solo(name="dev", preset=TEST, agents=arguments.agents)
    settings = Settings(name="dev", http_port=arguments.http_port, listen=("/ip4/127.0.0.1/tcp/0",))
    with _scratch() as folder:
        passphrase = random_bytes(_PASSPHRASE).hex().encode()
        data = write_instance(
            folder / "data",
            founded,
            passphrase=passphrase,
            settings=settings,
            now=SteadyClock(None).wall(),
        )
        moot = _Moot(
            data=data,
            founded=founded,
            output=output,
            plays=not arguments.quiet_moot,
            once=arguments.once,
        )
        trio.run(moot.hold, settings, Keystore.unlock(data.keys, passphrase))
    return Exit.OK


@contextmanager
def _scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="folkmoot-dev-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moot:
    """One run of a node together with those who play on it."""

    data: DataDir
    founded: Founded
    output: Output
    plays: bool
    once: bool

    async def hold(self, settings: Settings, keystore: Keystore) -> None:
        """Run the node and the players until a signal, or with `once` until all is decided."""
        # The network takes a second to load, and only commands that open it need it.
        from node.runtime.running import run  # noqa: PLC0415

        over, stop = threading.Event(), trio.Event()

        async with trio.open_nursery() as nursery:

            async def players(url: str) -> None:
                if self.plays:
                    await trio.to_thread.run_sync(
                        partial(self._play, url, over),
                        abandon_on_cancel=True,  # type: ignore[call-arg] # mypy loses it
                    )
                    self.output.say("The moot is over; every statement has its verdict.")
                if self.once:
                    stop.set()

            def ready(running: "Running") -> None:
                self._tell(running)
                nursery.start_soon(players, running.url)

            try:
                await run(self.data, settings, keystore, ready=ready, stop=stop)
            finally:
                over.set()
            nursery.cancel_scope.cancel()

    def _play(self, url: str, over: threading.Event) -> None:
        with Client(Target(url=url.rstrip("/"), token=self._token())) as client:
            play(client, [agent.id.hex() for agent in self.founded.agents], over)

    def _token(self) -> str:
        return self.data.operator_token.read_text(encoding="ascii").strip()

    def _tell(self, running: "Running") -> None:
        if self.output.quiet:
            self.output.put_json(
                {
                    "url": running.url,
                    "data": str(self.data.root),
                    "token": self._token(),
                    "realm": self.founded.founding.realm.hex(),
                    "agents": [
                        {"id": one.id.hex(), "name": one.name} for one in self.founded.agents
                    ],
                }
            )
            return
        self.output.say("A realm for trying things out; it is gone when this ends. Status page:")
        self.output.put(running.url)
        self.output.say("In another terminal:")
        self.output.say(f"  export FOLKMOOT_DATA={self.data.root}")
        self.output.say("  folkmoot artifact list")
        self.output.say("Ctrl-C stops it.")


DEV: Final = Command(
    words=("dev",),
    summary="Run a realm for trying things out",
    why="One process, one operator, windows of seconds, some agents, in a temporary directory. A "
    "small moot plays by itself, so that API and status page have something to show. When it "
    "ends, everything is deleted; to keep a realm, use `init` and `run`.",
    data={
        "url": "of API and status page",
        "data": "the temporary data directory",
        "token": "the operator's token, which may act for every agent",
        "realm": "id of the realm",
        "agents": "list of `id`, `name`",
    },
    examples=(
        "folkmoot dev",
        "folkmoot dev --http-port 0 --once --json",
        "folkmoot dev --quiet-moot --agents kepler,noether,turing",
    ),
    exits={
        Exit.OK: "it ran, and was stopped by a signal or, with --once, by itself",
        Exit.FAILED: "it could not start or go on, and says why",
    },
    options=_options,
    run=_run,
)
