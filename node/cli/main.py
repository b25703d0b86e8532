"""The command `folkmoot`: find the command, run it, turn what goes wrong into three lines.

This is the only place that turns errors into exit codes. It never calls `sys.exit`, so a test or
another program can call `main` and look at what it returns.
"""

import os
import sys
from collections.abc import Sequence
from typing import Final

from federation.core import FederationError
from node.base.errors import NodeError
from node.cli.admin_cmd import ADMIN_COSIGN, ADMIN_QUEUE, ADMIN_REVIEW, AGENT_HEALTH
from node.cli.agent_cmd import AGENT_CREATE, AGENT_LIST, AGENT_SHOW
from node.cli.arbitrate_cmd import APPEAL, CONTEST, RULE
from node.cli.artifact_cmd import (
    ARTIFACT_HISTORY,
    ARTIFACT_LIST,
    ARTIFACT_PROPOSE,
    ARTIFACT_SHOW,
)
from node.cli.charter_act_cmd import CHARTER_ACTS, CHARTER_ADOPT, CHARTER_PROPOSE
from node.cli.charter_cmd import CHARTER_CHECK, CHARTER_SHOW
from node.cli.command import Command
from node.cli.cost_cmd import CHARTER_COST
from node.cli.debate_cmd import REVIEW_DEBATE
from node.cli.demo_cmd import DEMO
from node.cli.demo_story_cmd import DEMO_STORY
from node.cli.dev_cmd import DEV
from node.cli.dispute_cmd import DISPUTE_FILE, DISPUTE_LIST, DISPUTE_SHOW
from node.cli.doctor_cmd import DOCTOR
from node.cli.errors import AnyError, Code, CommandError, Exit, exit_of
from node.cli.federation_cmd import (
    FEDERATION_DISAGREEMENT,
    FEDERATION_POLICY,
    FEDERATION_SEEDS,
)
from node.cli.hide_cmd import ARTIFACT_HIDDEN, ARTIFACT_HIDE, ARTIFACT_UNHIDE
from node.cli.init_cmd import INIT
from node.cli.invite_cmd import INVITE_CREATE, INVITE_LIST, INVITE_REVOKE
from node.cli.keys_cmd import AGENT_EXPORT, AGENT_IMPORT
from node.cli.keystore_cmd import KEYS_LIST, KEYS_PASSPHRASE
from node.cli.link_cmd import (
    FEDERATION_HEAD,
    FEDERATION_LINK,
    FEDERATION_LINKS,
    FEDERATION_UNLINK,
)
from node.cli.material_cmd import REVIEW_READ
from node.cli.notice_cmd import NOTICE_ACK, NOTICE_FOLLOW, NOTICE_LIST
from node.cli.operator_cmd import OPERATOR_LIST, OPERATOR_SHOW
from node.cli.output import Output
from node.cli.parser import COMMAND, Parser, joined, parser_of
from node.cli.peer_cmd import PEER_ADD, PEER_BAN, PEER_LIST, PEER_REMOVE, PEER_WHY
from node.cli.probe_cmd import PEER_PROBE
from node.cli.register_cmd import AGENT_REGISTER, OPERATOR_REGISTER
from node.cli.report_cmd import REPORT_ASSESS, REPORT_FILE
from node.cli.return_cmd import (
    ARTIFACT_FLAG_STALE,
    ARTIFACT_RESUBMIT,
    ARTIFACT_REVISE,
    ARTIFACT_WITHDRAW,
)
from node.cli.review_cmd import (
    REVIEW_ARGUE,
    REVIEW_LIST,
    REVIEW_OBJECT,
    REVIEW_SHOW,
    REVIEW_VOTE,
)
from node.cli.run_cmd import RUN
from node.cli.search_cmd import QUEUE, SEARCH
from node.cli.standing_cmd import AGENT_STANDING, RULES, SANCTION_LIST, SANCTION_SHOW
from node.cli.status_cmd import STATUS
from node.cli.subscribe_cmd import SUBSCRIBE, SUBSCRIPTION_SHOW
from node.cli.token_cmd import AGENT_REVOKE_TOKEN, AGENT_TOKEN, AGENT_TOKENS
from node.cli.trust_cmd import TRUST_SHOW
from node.cli.trust_diff_cmd import TRUST_DIFF
from node.cli.trust_graph_cmd import TRUST_GRAPH
from node.cli.version_cmd import VERSION
from node.cli.vouch_cmd import UNVOUCH, VOUCH
from node.cli.webhook_cmd import (
    WEBHOOK_ADD,
    WEBHOOK_DEAD,
    WEBHOOK_LIST,
    WEBHOOK_REMOVE,
    WEBHOOK_RETRY,
)
from node.cli.why_cmd import WHY

COMMANDS: Final[tuple[Command, ...]] = (
    INIT,
    RUN,
    DEV,
    STATUS,
    DOCTOR,
    WHY,
    SEARCH,
    QUEUE,
    SUBSCRIBE,
    SUBSCRIPTION_SHOW,
    ARTIFACT_LIST,
    ARTIFACT_SHOW,
    ARTIFACT_PROPOSE,
    ARTIFACT_HISTORY,
    ARTIFACT_HIDE,
    ARTIFACT_UNHIDE,
    ARTIFACT_HIDDEN,
    ARTIFACT_WITHDRAW,
    ARTIFACT_REVISE,
    ARTIFACT_RESUBMIT,
    ARTIFACT_FLAG_STALE,
    REVIEW_LIST,
    REVIEW_SHOW,
    REVIEW_DEBATE,
    REVIEW_READ,
    REVIEW_OBJECT,
    REVIEW_ARGUE,
    REVIEW_VOTE,
    DISPUTE_LIST,
    DISPUTE_SHOW,
    DISPUTE_FILE,
    REPORT_FILE,
    REPORT_ASSESS,
    RULE,
    CONTEST,
    APPEAL,
    AGENT_LIST,
    AGENT_SHOW,
    AGENT_STANDING,
    AGENT_CREATE,
    AGENT_REGISTER,
    AGENT_TOKEN,
    AGENT_TOKENS,
    AGENT_REVOKE_TOKEN,
    AGENT_EXPORT,
    AGENT_IMPORT,
    AGENT_HEALTH,
    OPERATOR_REGISTER,
    OPERATOR_LIST,
    OPERATOR_SHOW,
    KEYS_LIST,
    KEYS_PASSPHRASE,
    PEER_LIST,
    PEER_ADD,
    PEER_WHY,
    PEER_BAN,
    PEER_REMOVE,
    PEER_PROBE,
    SANCTION_LIST,
    SANCTION_SHOW,
    RULES,
    VOUCH,
    UNVOUCH,
    INVITE_CREATE,
    INVITE_LIST,
    INVITE_REVOKE,
    NOTICE_LIST,
    NOTICE_ACK,
    NOTICE_FOLLOW,
    WEBHOOK_ADD,
    WEBHOOK_LIST,
    WEBHOOK_REMOVE,
    WEBHOOK_DEAD,
    WEBHOOK_RETRY,
    TRUST_SHOW,
    TRUST_GRAPH,
    TRUST_DIFF,
    FEDERATION_POLICY,
    FEDERATION_SEEDS,
    FEDERATION_DISAGREEMENT,
    FEDERATION_HEAD,
    FEDERATION_LINK,
    FEDERATION_LINKS,
    FEDERATION_UNLINK,
    CHARTER_CHECK,
    CHARTER_SHOW,
    CHARTER_COST,
    CHARTER_ACTS,
    CHARTER_PROPOSE,
    CHARTER_ADOPT,
    ADMIN_QUEUE,
    ADMIN_REVIEW,
    ADMIN_COSIGN,
    DEMO,
    DEMO_STORY,
    VERSION,
)
"""All commands, in the order in which help lists them."""
NOUNS: Final = {
    "artifact": "Read and propose pieces of knowledge",
    "review": "Take part in rounds: object, argue, vote",
    "dispute": "Say that what stands should not, and see what became of it",
    "report": "What must be hidden at once",
    "subscription": "What agents offer to review",
    "agent": "Agents, their tokens and their keys",
    "operator": "Who answers for agents",
    "sanction": "What stands against agents, and on what it rests",
    "keys": "The keys that an instance keeps, and their passphrase",
    "peer": "Other instances, and how it stands with them",
    "invite": "Promise to vouch for newcomers",
    "notice": "What concerns an agent: read it, acknowledge it, follow it",
    "webhook": "Have an agent's notices posted to an address",
    "trust": "Who is trusted, how much, and why",
    "federation": "What you think of other instances and other realms, for this node alone",
    "charter": "Look at rules, propose others, and adopt them together",
    "admin": "What operators decide by hand",
}
"""What a noun with several verbs is about."""


def parser() -> Parser:
    """Build the parser of all commands."""
    return parser_of(COMMANDS, nouns=NOUNS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name); give its exit code."""
    try:
        return _guarded(argv)
    except BrokenPipeError:
        # The interpreter flushes both streams once more when it ends; that must not fail too.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.dup2(nowhere, sys.stderr.fileno())
        return Exit.CLOSED


def _guarded(argv: Sequence[str] | None) -> Exit:
    output = Output.standard()
    try:
        code = _run(argv)
        output.data.flush()
    except (CommandError, FederationError, NodeError) as error:
        return _complained(output, error)
    except KeyboardInterrupt:
        return _complained(output, _interrupted())
    except BaseExceptionGroup as group:
        # What goes wrong beside other tasks comes in a group; one reason is enough for people.
        if group.subgroup(KeyboardInterrupt) is not None:
            return _complained(output, _interrupted())
        reason = told(group)
        if reason is None:
            raise
        return _complained(output, reason)
    return code


def _complained(output: Output, error: AnyError) -> Exit:
    output.complain(error)
    return exit_of(error)


def told(group: BaseExceptionGroup[BaseException]) -> AnyError | None:
    """Give the first error of a group that people can be told; None if there is none."""
    for error in group.exceptions:
        if isinstance(error, (CommandError, FederationError, NodeError)):
            return error
        if isinstance(error, BaseExceptionGroup):
            inside = told(error)
            if inside is not None:
                return inside
    return None


def _run(argv: Sequence[str] | None) -> Exit:
    try:
        words = sys.argv[1:] if argv is None else argv
        arguments = parser().parse_args(joined(words, COMMANDS))
    except SystemExit:
        # Only `--help` ends the parser, after it has printed.
        return Exit.OK
    command: Command = getattr(arguments, COMMAND)
    return command.run(arguments, Output.standard(quiet=arguments.json))


def _interrupted() -> CommandError:
    return CommandError(
        "interrupted",
        why="it was stopped by Ctrl-C",
        fix="run it again; nothing is left half done",
        code=Code.INTERRUPTED,
        leaves=Exit.INTERRUPTED,
    )
