"""Signatures over HTTP requests: RFC 9421 with Ed25519, and the digest of a body by RFC 9530.

Pure: time and nonce come from outside. What is signed is the method, the address, the body by its
digest, and the content type, together with when the signature was made, when it ends, a nonce and
the name of the key. So nobody can send a request elsewhere, change it, or send it again later.
`verify` is what a receiver does; it needs nothing else of this program and may be copied.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

LABEL: Final = "folkmoot"
"""Name of the signature in its two headers."""
ALGORITHM: Final = "ed25519"
LASTS_S: Final = 300
"""Seconds for which a signature holds: the replay window."""
SKEW_S: Final = 30
"""Seconds by which a sender's clock may be ahead of the receiver's."""
COMPONENTS: Final = ("@method", "@target-uri", "content-digest", "content-type")
"""What a signature covers, in this order."""
_KEY: Final = 32
_SIGNATURE: Final = 64
_LONGEST: Final = 1_024
_INPUT: Final = re.compile(
    rf"{LABEL}=(?P<params>\((?P<covered>[^()]*)\);created=(?P<created>[0-9]{{1,12}});"
    r'expires=(?P<expires>[0-9]{1,12});nonce="(?P<nonce>[A-Za-z0-9_-]{16,64})";'
    rf'keyid="(?P<keyid>[!#-\[\]-~]{{1,64}})";alg="{ALGORITHM}")'
)
_VALUE: Final = re.compile(rf"{LABEL}=:(?P<value>[A-Za-z0-9+/]{{86}}==):")


class BadRequestSignatureError(Exception):
    """A request is not what it claims; its text says why, and holds nothing of the request."""


def content_digest(body: bytes) -> str:
    """Give the value of the header `content-digest` for a body (RFC 9530, SHA-256)."""
    return f"sha-256=:{_base64(hashlib.sha256(body).digest())}:"


def signature_base(components: Sequence[tuple[str, str]], params: str) -> bytes:
    """Give the bytes that are signed (RFC 9421, 2.5).

    `components` are names and values in the order in which they are covered, `params` is the
    value of `signature-input` behind its label.
    """
    lines = [f'"{name}": {value}' for name, value in components]
    return "\n".join([*lines, f'"@signature-params": {params}']).encode("ascii")


def sign_base(base: bytes, seed: bytes) -> str:
    """Sign a signature base; gives the signature as a byte sequence of a header."""
    return f":{_base64(SigningKey(seed).sign(base).signature)}:"


def signed_headers(
    *,
    method: str,
    url: str,
    body: bytes,
    content_type: str,
    seed: bytes,
    keyid: str,
    created: int,
    nonce: str,
) -> dict[str, str]:
    """Give the headers of a signed request.

    `url` is the whole address as it is asked for, in ASCII. `created` is Unix time in seconds; the
    signature ends 300 s later. `nonce` is 16 to 64 characters of base64url that come once only.
    """
    digest = content_digest(body)
    covered = " ".join(f'"{name}"' for name in COMPONENTS)
    params = (
        f"({covered});created={created};expires={created + LASTS_S};"
        f'nonce="{nonce}";keyid="{keyid}";alg="{ALGORITHM}"'
    )
    values = (method, url, digest, content_type)
    base = signature_base(tuple(zip(COMPONENTS, values, strict=True)), params)
    return {
        "content-type": content_type,
        "content-digest": digest,
        "signature-input": f"{LABEL}={params}",
        "signature": f"{LABEL}={sign_base(base, seed)}",
    }


def verify(
    *,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    key: bytes,
    keyid: str,
    now: int,
    is_new: Callable[[str], bool],
) -> None:
    """Check a request as its receiver must, before anything of its body is read.

    `url` is the address under which the webhook was registered, not what the request says of
    itself; the names in `headers` are in lower case. `key` are the 32 bytes of the webhook's public
    key. `now` is Unix time in seconds. `is_new` tells whether a nonce comes for the first time, and
    remembers it for ten minutes at least; it is asked last, so that only its signer can use one up.
    Raises BadRequestSignatureError.
    """
    found = _INPUT.fullmatch(_header(headers, "signature-input"))
    signature = _VALUE.fullmatch(_header(headers, "signature"))
    if found is None or signature is None:
        raise BadRequestSignatureError("its signature headers are missing or of another form")
    if found["covered"] != " ".join(f'"{name}"' for name in COMPONENTS):
        raise BadRequestSignatureError("its signature covers other parts than it must")
    if found["keyid"] != keyid:
        raise BadRequestSignatureError("it is signed by another key")
    created, expires = int(found["created"]), int(found["expires"])
    if not created - SKEW_S <= now < expires or expires - created > LASTS_S:
        raise BadRequestSignatureError("its signature is over, of the future, or lasts too long")
    digest = _header(headers, "content-digest")
    # Compared as text: another spelling, or a weaker digest beside it, is refused.
    if not hmac.compare_digest(digest.encode(), content_digest(body).encode()):
        raise BadRequestSignatureError("its body is not the one that was signed")
    values = (method, url, digest, _header(headers, "content-type"))
    base = signature_base(tuple(zip(COMPONENTS, values, strict=True)), found["params"])
    if not is_signed(base, signature["value"], key):
        raise BadRequestSignatureError("its signature does not fit")
    if not is_new(found["nonce"]):
        raise BadRequestSignatureError("it was sent before")


def is_signed(base: bytes, signature: str, key: bytes) -> bool:
    """Tell whether a signature in base64 over a signature base is by a key."""
    raw = base64.b64decode(signature, validate=True)
    if len(raw) != _SIGNATURE or len(key) != _KEY:
        return False
    try:
        VerifyKey(key).verify(base, raw)
    except BadSignatureError:
        return False
    return True


def public_key(seed: bytes) -> bytes:
    """Give the 32 bytes of the public key that belongs to a seed."""
    return bytes(SigningKey(seed).verify_key)


def _header(headers: Mapping[str, str], name: str) -> str:
    """Give a header that may go into a signature base; raises BadRequestSignatureError."""
    value = headers.get(name, "").strip(" \t")
    # A line break within would let one component pose as two.
    if len(value) > _LONGEST or not value.isascii() or not value.isprintable():
        raise BadRequestSignatureError(f"its header {name} is none")
    return value


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
