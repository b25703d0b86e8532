"""A node that dies, as by kill -9, at a moment of an invite that is named; for tests.

    child_inviting.py noted DIRECTORY      once the place is durable, before anything is signed
    child_inviting.py admitted DIRECTORY   once the admission is durable
    child_inviting.py cut DIRECTORY        in the step that admits the newcomer
    child_inviting.py vouched DIRECTORY    once the vouch is durable, before its cut

It prints the code of the invite first.
"""

import os
import signal
import sys
from pathlib import Path

import trio

from federation.protocol import effects as fx
from federation.records import Kind, Role
from node.base.paths import DataDir
from node.base.settings import load
from node.keys import Keystore
from node.runtime import Node, open_node
from tests.node.runtime.newcomers import admit, newcomer
from tests.node.runtime.realm import CHEAP, PASSPHRASE


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def live(node: Node, moment: str) -> None:
    inviter = next(one.id for one in node.keystore.identities() if one.role is Role.AGENT)
    code, made = await node.invites.create(inviter, weight=77, uses=1, days=1)
    sys.stdout.write(code)
    sys.stdout.flush()
    first = newcomer(node.world.realm, 1)

    def look(effects: list[fx.Effect]) -> None:
        del effects
        if moment == "cut" and first.id in node.world.state.agents:
            die()

    node.driver.listeners.append(look)
    await node.invites.note(made, first.id)
    if moment == "noted":
        die()
    await admit(node, first)
    if moment == "admitted":
        die()
    with trio.fail_after(20):
        while True:
            for vouch in node.world.log.by_kind(Kind.AGENT_VOUCH):
                if await node.store.record(vouch.id) is not None:
                    die()
            await trio.sleep(0.001)


async def main(moment: str, directory: Path) -> None:
    data = DataDir(directory)
    keystore = Keystore.unlock(data.keys, PASSPHRASE, least=CHEAP)
    async with open_node(data, load(data.settings, {}), keystore) as node:
        await live(node, moment)


if __name__ == "__main__":
    trio.run(main, sys.argv[1], Path(sys.argv[2]))
