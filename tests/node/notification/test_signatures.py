"""Signed requests: the vectors of the standards, and every change that must be noticed."""

import base64
import hashlib
from collections.abc import Mapping

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from node.notification.signatures import (
    COMPONENTS,
    LASTS_S,
    SKEW_S,
    BadRequestSignatureError,
    content_digest,
    is_signed,
    public_key,
    sign_base,
    signature_base,
    signed_headers,
    verify,
)

# RFC 9421, appendix B.1.4: test-key-ed25519. The last 32 bytes of the DER are seed and key.
SEED = base64.b64decode("MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF")[-32:]
KEY = base64.b64decode("MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=")[-32:]
# RFC 9421, appendix B.2.6.
PARAMS = (
    '("date" "@method" "@path" "@authority" "content-type" "content-length")'
    ';created=1618884473;keyid="test-key-ed25519"'
)
BASE = signature_base(
    (
        ("date", "Tue, 20 Apr 2021 02:07:55 GMT"),
        ("@method", "POST"),
        ("@path", "/foo"),
        ("@authority", "example.com"),
        ("content-type", "application/json"),
        ("content-length", "18"),
    ),
    PARAMS,
)
SIGNATURE = (
    "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
)
URL = "https://hooks.example.org/moot?for=ada"
BODY = b'{"kind":"phase"}'
NOW = 1_618_884_473
KEYID = "00ff00ff00ff00ff"
NONCE = "abcdefghijklmnop"


def signed(**changes: object) -> dict[str, str]:
    whole: dict[str, object] = {
        "method": "POST",
        "url": URL,
        "body": BODY,
        "content_type": "application/json",
        "seed": SEED,
        "keyid": KEYID,
        "created": NOW,
        "nonce": NONCE,
        **changes,
    }
    return signed_headers(**whole)  # type: ignore[arg-type]


def check(headers: Mapping[str, str], **changes: object) -> None:
    whole: dict[str, object] = {
        "method": "POST",
        "url": URL,
        "headers": headers,
        "body": BODY,
        "key": KEY,
        "keyid": KEYID,
        "now": NOW + 1,
        "is_new": lambda nonce: nonce == NONCE,
        **changes,
    }
    verify(**whole)  # type: ignore[arg-type]


def test_the_key_of_the_standard_is_that_of_its_seed() -> None:
    assert public_key(SEED) == KEY


def test_the_signature_of_the_standard_is_made_and_accepted() -> None:
    assert BASE.decode().splitlines()[-1] == f'"@signature-params": {PARAMS}'
    assert sign_base(BASE, SEED) == f":{SIGNATURE}:"
    assert is_signed(BASE, SIGNATURE, KEY)
    assert not is_signed(BASE + b" ", SIGNATURE, KEY)


def test_the_digest_of_the_standard_is_made() -> None:
    # RFC 9530, appendix D, and RFC 9421, appendix B.2.
    assert (
        content_digest(b'{"hello": "world"}')
        == "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
    )


def test_a_signed_request_covers_what_it_must_and_passes() -> None:
    headers = signed()
    check(headers)

    assert headers["signature-input"] == (
        'folkmoot=("@method" "@target-uri" "content-digest" "content-type")'
        f';created={NOW};expires={NOW + 300};nonce="{NONCE}";keyid="{KEYID}";alg="ed25519"'
    )
    assert COMPONENTS == ("@method", "@target-uri", "content-digest", "content-type")


def test_another_implementation_agrees_on_what_is_signed() -> None:
    headers = signed()
    base = (
        '"@method": POST\n'
        f'"@target-uri": {URL}\n'
        f'"content-digest": sha-256=:{base64.b64encode(hashlib.sha256(BODY).digest()).decode()}:\n'
        '"content-type": application/json\n'
        f'"@signature-params": {headers["signature-input"].removeprefix("folkmoot=")}'
    )
    raw = base64.b64decode(headers["signature"].removeprefix("folkmoot=:").removesuffix(":"))
    Ed25519PublicKey.from_public_bytes(KEY).verify(raw, base.encode())


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"method": "PUT"}, "does not fit"),
        ({"url": URL + "x"}, "does not fit"),
        ({"url": "https://other.example.org/moot?for=ada"}, "does not fit"),
        ({"url": URL.replace("https", "http")}, "does not fit"),
        ({"body": BODY + b" "}, "not the one"),
        ({"body": b""}, "not the one"),
        ({"key": bytes(32)}, "does not fit"),
        ({"key": public_key(bytes(32))}, "does not fit"),
        ({"key": KEY[:31]}, "does not fit"),
        ({"keyid": "other"}, "another key"),
        ({"now": NOW + LASTS_S}, "is over"),
        ({"now": NOW - SKEW_S - 1}, "of the future"),
        ({"is_new": lambda nonce: not nonce}, "sent before"),
    ],
)
def test_whatever_is_not_as_it_was_signed_is_noticed(changes: dict[str, object], why: str) -> None:
    with pytest.raises(BadRequestSignatureError, match=why):
        check(signed(), **changes)


def test_the_window_is_five_minutes_and_a_little_skew() -> None:
    check(signed(), now=NOW + LASTS_S - 1)
    check(signed(), now=NOW - SKEW_S)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("signature-input", f"created={NOW}", f"created={NOW + 1}"),
        ("signature-input", f"expires={NOW + 300}", f"expires={NOW + 299}"),
        ("signature-input", f"expires={NOW + 300}", f"expires={NOW + 999_999}"),
        ("signature-input", NONCE, NONCE[::-1]),
        ("signature-input", ' "content-digest"', ""),
        ("signature-input", ' "content-type"', ""),
        ("signature-input", '"@method" "@target-uri"', '"@target-uri" "@method"'),
        ("signature-input", "ed25519", "hmac-sha256"),
        ("signature-input", "folkmoot=", "other="),
        ("signature-input", "folkmoot=", "a=(), folkmoot="),
        ("signature", "folkmoot=:", "folkmoot=:A"),
        ("signature", "==:", "=:"),
        ("content-digest", "sha-256", "sha-512"),
        ("content-digest", "sha-256=", "md5=:AA==:, sha-256="),
        ("content-type", "json", "html"),
        ("content-type", "application/json", 'application/json\n"x": y'),
        ("content-type", "application/json", "application/json" + " " * 2_000 + "x"),
        ("content-type", "json", "jsön"),
    ],
)
def test_a_changed_header_is_noticed(name: str, old: str, new: str) -> None:
    headers = signed()
    assert old in headers[name]
    headers[name] = headers[name].replace(old, new, 1)

    with pytest.raises(BadRequestSignatureError):
        check(headers)


@pytest.mark.parametrize("name", ["signature-input", "signature", "content-digest", "content-type"])
def test_a_missing_header_is_noticed(name: str) -> None:
    headers = signed()
    del headers[name]

    with pytest.raises(BadRequestSignatureError):
        check(headers)


def test_a_nonce_is_asked_for_only_when_all_else_fits() -> None:
    asked: list[str] = []

    def is_new(nonce: str) -> bool:
        asked.append(nonce)
        return True

    with pytest.raises(BadRequestSignatureError):
        check(signed(), body=b"forged", is_new=is_new)
    with pytest.raises(BadRequestSignatureError):
        check(signed(seed=bytes(32)), is_new=is_new)

    assert asked == []


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_header_makes_a_receiver_fail_otherwise(first: str, second: str) -> None:
    for name in ("signature-input", "signature", "content-digest"):
        with pytest.raises(BadRequestSignatureError):
            check(signed() | {name: first + "folkmoot=:" + second})


@given(st.binary(min_size=1, max_size=60), st.integers(0, 10**6))
def test_any_body_passes_and_no_other_does(body: bytes, later: int) -> None:
    headers = signed(body=body, created=NOW + later)
    check(headers, body=body, now=NOW + later)

    with pytest.raises(BadRequestSignatureError):
        check(headers, body=body[:-1], now=NOW + later)


def test_a_signature_that_lasts_longer_than_the_window_is_refused_although_it_fits() -> None:
    headers = signed()
    params = headers["signature-input"].removeprefix("folkmoot=")
    for lasts, is_good in ((LASTS_S, True), (LASTS_S + 1, False)):
        long = params.replace(f"expires={NOW + LASTS_S}", f"expires={NOW + lasts}")
        values = ("POST", URL, headers["content-digest"], headers["content-type"])
        base = signature_base(tuple(zip(COMPONENTS, values, strict=True)), long)
        own = headers | {
            "signature-input": f"folkmoot={long}",
            "signature": f"folkmoot={sign_base(base, SEED)}",
        }
        if is_good:
            check(own)
        else:
            with pytest.raises(BadRequestSignatureError, match="lasts too long"):
                check(own)
