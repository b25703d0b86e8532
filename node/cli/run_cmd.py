"""`folkmoot run`: run the instance in a data directory until a signal says stop."""

import argparse
import os
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from node.base.settings import load
from node.cli.client import data_of, data_option
from node.cli.command import Command
from node.cli.errors import Exit
from node.cli.init_cmd import passphrase_options
from node.cli.keys_cmd import unlock
from node.cli.output import Output
from node.telemetry import log

if TYPE_CHECKING:
    from node.runtime.running import Running


def _options(parser: argparse.ArgumentParser) -> None:
    data_option(parser)
    passphrase_options(parser)


def _run(arguments: argparse.Namespace, output: Output) -> Exit:
    # The network takes a second to load, and only commands that open it need it.
    from node.runtime.running import run  # noqa: PLC0415

    data = data_of(arguments)
    data.check()
    settings = load(data.settings, os.environ)
    keystore = unlock(arguments, data)
    log.begin()
    trio.run(partial(run, data, settings, keystore, ready=partial(tell, output)))
    return Exit.OK


def tell(output: Output, running: "Running") -> None:
    """Say where a node that is ready can be reached."""
    world = running.node.world
    if output.quiet:
        output.put_json(
            {
                "url": running.url,
                "addresses": list(running.addresses),
                "realm": world.realm.hex(),
                "instance": running.node.instance.hex(),
                "cut": world.state.cut,
                "pid": os.getpid(),
            }
        )
        return
    output.say(f"{world.charter.name} is ready, at cut {world.state.cut}.")
    output.put(running.url)
    for address in running.addresses:
        output.say(f"Other instances reach it at {address}")
    output.say("Ctrl-C stops it.")


RUN: Final = Command(
    words=("run",),
    summary="Run the instance in a data directory",
    why="It takes part in the realm, serves API and status page, and prints its address once it "
    "is ready. SIGTERM or Ctrl-C ends it in order, within a few seconds. One directory, one "
    "process: a second one refuses. The passphrase comes from an option, from the file that "
    "folkmoot.toml names, from a systemd credential, or from a prompt.",
    data={
        "url": "of API and status page",
        "addresses": "where other instances reach it",
        "realm": "id of the realm",
        "instance": "id of the instance",
        "cut": "the last cut it knows",
        "pid": "its process",
    },
    examples=("folkmoot run", "folkmoot run --data moot --json"),
    exits={
        Exit.OK: "it ran, and was stopped by a signal",
        Exit.FAILED: "it could not start or go on, and says why",
        Exit.REFUSED: "wrong passphrase, a wrong setting, or another process holds the directory",
    },
    options=_options,
    run=_run,
)
