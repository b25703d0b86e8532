"""One registration, step by step: keys, proof of work, the instance, the cut.

Each step is kept before the next one begins, so the same command goes on where it stopped, whatever
stopped it; and what was sent may be sent again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from federation.admission import Work, does_work, passes_gate
from federation.core import CallerError, Realm
from federation.core import Code as Fault
from federation.records import Role
from node.base.clock import SteadyClock
from node.base.errors import NodeCode
from node.cli.client import Client, Target
from node.cli.errors import AnswerError, CommandError, Exit
from node.cli.output import Output, clean
from node.cli.register_delivery import Delivery, Sent, Wish
from node.cli.register_home import Home, Registrant, held
from node.cli.register_search import Minted, TurnedError, mint
from node.cli.register_talk import Door, Receipt, Talk
from node.keys import Keystore
from node.minting import start

WELL_KNOWN: Final = "/.well-known/folkmoot.json"
"""Where a domain names its operators."""
_ANEW: Final = 3
"""Searches that one command begins before it lets a person decide."""
_STALE: Final = frozenset({Fault.PROOF_STALE, Fault.PROOF_WRONG_BEACON, Fault.PROOF_PARAMETERS})
"""Refusals that a later epoch explains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of it."""

    newcomer: Registrant
    operator: Registrant | None
    """Who answers for it; None for an operator."""
    door: Door
    """What the instance asked for at first."""
    receipt: Receipt | None
    """What the instance signed; None if it was admitted before."""
    minted: Minted | None
    """The proof that this command has searched for; None if it needed none."""
    is_admitted: bool
    """A cut has admitted it."""


class Registration:
    """One command at work."""

    def __init__(self, wish: Wish, output: Output, client: Client) -> None:
        """Do nothing yet; `client` is one of the instance at `wish.url`."""
        self._wish = wish
        self._output = output
        self._talk = Talk(client)
        self._delivery = Delivery(wish, self._talk, output)
        self._clock = SteadyClock(None)
        self._minted: Minted | None = None

    def run(self, passphrase: Callable[[bool], bytes]) -> Outcome:
        """Register, and wait for the cut; `passphrase` is told whether a new one is chosen.

        Raises CommandError, NodeError, KeystoreError and PeerError with why it is not registered.
        """
        wish = self._wish
        door = self._door()
        with held(wish.root) as home:
            keystore = home.open(passphrase(home.is_new))
            operator = self._operator(home, keystore, door.realm)
            newcomer = home.find(keystore, door.realm, wish.role, wish.name)
            if newcomer is None:
                self._check_room(door, operator)
                newcomer = home.make(
                    keystore, door.realm, wish.role, wish.name, at=self._clock.wall()
                )
                self._introduce(newcomer)
            known = self._talk.known(newcomer.id)
            if known is not None and known.is_admitted:
                home.forget(newcomer.id)
                return self._outcome(newcomer, operator, door, None, is_admitted=True)
            sent, receipt = self._register(home, keystore, newcomer, operator, door)
        # What is left is to wait, and others may work in the directory meanwhile.
        if wish.waits:
            self._delivery.wait(sent)
            home.forget(newcomer.id)
        return self._outcome(newcomer, operator, door, receipt, is_admitted=wish.waits)

    def _outcome(
        self,
        newcomer: Registrant,
        operator: Registrant | None,
        door: Door,
        receipt: Receipt | None,
        *,
        is_admitted: bool,
    ) -> Outcome:
        return Outcome(
            newcomer=newcomer,
            operator=operator,
            door=door,
            receipt=receipt,
            minted=self._minted,
            is_admitted=is_admitted,
        )

    # Who ----------------------------------------------------------------------------------

    def _introduce(self, newcomer: Registrant) -> None:
        wish, name = self._wish, newcomer.id.hex()
        self._output.say(f"Made {wish.role.value} {name}.")
        self._output.say(f"Its keys lie in {clean(str(wish.root))}: keep a copy elsewhere.")
        if wish.domain is not None:
            # Nobody can serve the id before it is made, and the instance looks after the search.
            self._output.say(
                f"Serve it at https://{wish.domain}{WELL_KNOWN} before its proof is sent: "
                f'{{"operators": ["{name}"]}}'
            )

    def _door(self) -> Door:
        door = self._talk.door(self._wish.role)
        if self._wish.realm not in {None, door.realm}:
            raise CommandError(
                "not registered",
                why=f"the instance is of realm {door.realm.hex()}, which is not the one you named",
                fix="ask an instance of your realm; correct --url or --realm",
                code=NodeCode.WRONG_REALM,
                leaves=Exit.REFUSED,
            )
        return door

    def _operator(self, home: Home, keystore: Keystore, realm: Realm) -> Registrant | None:
        """Find who answers for an agent; raises CommandError if nobody can yet."""
        wish = self._wish
        if wish.role is Role.OPERATOR:
            return None
        there = [one for one in home.all(keystore, realm) if one.first.role is Role.OPERATOR]
        found = [one for one in there if wish.operator in {None, one.first.name}]
        if len(found) > 1:
            # One that was never admitted is no choice: its registration was refused, say.
            found = [one for one in found if self._can_answer(one)] or found
        if len(found) != 1:
            called = "" if wish.operator is None else f" called {wish.operator!r}"
            raise CommandError(
                "not registered",
                why=f"{home.root} holds the keys of {len(found)} operators{called}, and one must "
                "answer for the agent",
                fix="name one of them with --operator"
                if found
                else f"register one first: folkmoot operator register NAME --keys {home.root}",
                code=NodeCode.AMBIGUOUS if found else NodeCode.NOT_FOUND,
                leaves=Exit.REFUSED,
            )
        known = self._talk.known(found[0].id)
        if known is None or not known.is_admitted:
            raise CommandError(
                "not registered",
                why=f"no cut has admitted operator {found[0].first.name!r} yet, and only then it "
                "can answer for agents",
                fix=f"finish with `folkmoot operator register`, with --keys {home.root}",
                code=Fault.NOT_ADMITTED,
                leaves=Exit.REFUSED,
            )
        if known.is_revoked:
            raise CommandError(
                "not registered",
                why=f"operator {found[0].first.name!r} is revoked",
                fix="register another operator, and the agent with that",
                code=Fault.REVOKED,
                leaves=Exit.REFUSED,
            )
        return found[0]

    def _can_answer(self, operator: Registrant) -> bool:
        known = self._talk.known(operator.id)
        return known is not None and known.is_admitted and not known.is_revoked

    # The proof ----------------------------------------------------------------------------

    def _register(
        self,
        home: Home,
        keystore: Keystore,
        newcomer: Registrant,
        operator: Registrant | None,
        door: Door,
    ) -> tuple[Sent, Receipt]:
        """Find a proof and send it; find another one if its epoch is over."""
        for _ in range(_ANEW):
            try:
                proof = self._proof(home, newcomer, operator, door)
                return self._delivery.deliver(home, keystore, newcomer, operator, proof)
            except TurnedError:
                self._output.say("Its epoch is over before the proof was found.")
            except CallerError as error:
                self._output.say(f"The search is of no use: {error.why}.")
                home.forget(newcomer.id)
            except AnswerError as error:
                if error.code not in _STALE:
                    raise
                door = self._door()
                kept = home.proof(newcomer.id)
                if kept is None or door.fault_of(kept, self._wish.role, newcomer.key) is None:
                    # The instance contradicts itself: another search would end like this one.
                    raise
                self._output.say(f"The proof counts no more: {clean(error.why)}.")
            door = self._door()
        raise CommandError(
            "not registered",
            why=f"{_ANEW} searches in a row came too late for their epochs",
            fix="run the same command again when the machine has time, or with more --cores",
            code=Fault.PROOF_STALE,
            leaves=Exit.FAILED,
        )

    def _proof(
        self, home: Home, newcomer: Registrant, operator: Registrant | None, door: Door
    ) -> Work | None:
        """Give the proof that was found before, or search for one."""
        role, key = self._wish.role, newcomer.key
        blank = door.blank(role, key)
        if blank is None:
            self._output.say("The instance asks for no proof of work.")
            return None
        kept = home.proof(newcomer.id)
        if kept is not None:
            fault = door.fault_of(kept, role, key)
            if fault is None and passes_gate(kept) and does_work(kept):
                self._output.say("The proof that was found before is sent.")
                return kept
            why = "it is damaged" if fault is None else f"{fault.value}"
            self._output.say(f"The proof that was found before does not count here now: {why}.")
        self._check_room(door, operator)
        saved, is_damaged = home.search(newcomer.id)
        if is_damaged:
            self._output.say("The saved search is damaged; a new one begins.")
        if saved is not None and (fault := door.fault_of(saved.work, role, key)) is not None:
            self._output.say(f"The saved search is of no use here now: {fault.value}.")
            saved = None
        self._minted = mint(
            self._output,
            home,
            newcomer.id,
            saved or start(blank),
            self._wish.effort,
            epoch=self._epoch,
        )
        return self._minted.work

    def _check_room(self, door: Door, operator: Registrant | None) -> None:
        """Refuse before the search what the instance would refuse after it."""
        code: str
        fix = "ask another instance, or the operator of this one"
        if door.policy == "closed":
            why, code = "the instance registers nobody", NodeCode.REGISTRATION_CLOSED
        elif door.policy == "invited" and self._wish.invite is None:
            why, code = "the instance registers only who has an invite", NodeCode.INVITE_REFUSED
            fix = "ask an agent there to invite you, and name its code with --invite"
        elif door.is_barred:
            why, code = "the instance may admit nobody in this epoch", Fault.INSTANCE_BARRED
            fix = "ask another instance, or this one after the next tick"
        elif not door.left:
            whom = f"{self._wish.role.value}s"
            why, code = f"the instance may admit no more {whom} in this epoch", Fault.OVER_QUOTA
            fix = "ask another instance, or this one after the next tick"
        elif operator is not None and not self._talk.room(operator.id):
            name = operator.first.name
            why, code = f"operator {name!r} may answer for no more agents now", Fault.OVER_QUOTA
            fix = "help its agents to tier 1: each of them makes room for more"
        else:
            return
        raise CommandError(
            "not registered",
            why=f"{why}, so no proof was searched for",
            fix=fix,
            code=code,
            leaves=Exit.REFUSED,
        )

    def _epoch(self) -> int:
        """Ask for the epoch over a connection of its own: this is done by another thread."""
        with Client(Target(url=self._wish.url, token=None)) as client:
            return Talk(client).door(self._wish.role).epoch
