"""Signed trust heads of another realm, and keys to sign them with."""

from federation.core import Realm
from federation.crypto import KeySigner
from federation.records import (
    Body,
    Record,
    TrustHead,
    TrustRow,
    sign_record,
    trust_head_root,
)
from node.partners import Linked, head_file
from tests.builders import OTHER_REALM, named

SIGNER = KeySigner(named("their seed"))
KEY = SIGNER.public
INSTANCE = named("their instance")


def head(*rows: tuple[bytes, int], cut: int = 7) -> TrustHead:
    """Give a head that names agents by key."""
    top = tuple(
        sorted(
            (TrustRow(key=key, agent=named("their", key), weight=weight) for key, weight in rows),
            key=lambda row: row.agent,
        )
    )
    return TrustHead(cut=cut, root=trust_head_root(top), top=top, digest=named("world", cut))


def signed(body: Body, *, realm: Realm = OTHER_REALM, seq: int = 5) -> Record:
    return sign_record(
        body,
        realm=realm,
        signer=SIGNER,
        author=INSTANCE,
        key_index=0,
        seq=seq,
        prev=named("before", seq),
        at=1,
    )


def file(body: Body, *, realm: Realm = OTHER_REALM) -> bytes:
    return head_file(realm, signed(body, realm=realm))


def linked(
    body: TrustHead, *, realm: Realm = OTHER_REALM, imported: int = 10, weight: int = 100
) -> Linked:
    return Linked(
        realm=realm, key=KEY, weight=weight, imported=imported, record=signed(body, realm=realm)
    )
