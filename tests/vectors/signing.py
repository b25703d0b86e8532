"""Records of the vectors: signed by one seed at one place of a chain."""

from typing import Final

from federation.core import NOBODY, Millis, Realm, Seed
from federation.crypto import KeySigner
from federation.records import Body, Record, sign_record
from tests.vectors.vector_bodies import REALM, fixed

AT: Final[Millis] = 1_767_225_600_000


def signed(
    body: Body,
    text: bytes | None = None,
    *,
    first: bool = False,
    realm: Realm = REALM,
    seed: Seed | None = None,
) -> Record:
    """Sign a body at seq 0 if it is an inception, else at seq 300 under key 2."""
    return sign_record(
        body,
        realm=realm,
        signer=KeySigner(seed or fixed("seed")),
        author=NOBODY if first else fixed("author"),
        key_index=0 if first else 2,
        seq=0 if first else 300,
        prev=None if first else fixed("previous record"),
        at=AT,
        text=text,
    )
