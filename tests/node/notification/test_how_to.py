"""The receiver that the how-to page shows is one that works."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from node.notification.signatures import public_key, signed_headers

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "get-notified.md"
URL, SEED, KEYID, BODY = "https://hooks.example.org/moot", bytes(range(32)), "00ff" * 4, b'{"a": 1}'


@pytest.fixture(scope="module")
def shown() -> Any:  # noqa: ANN401 # what a page shows has no type
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 # a page of ours
    return names["is_good"]


def signed(**changes: Any) -> dict[str, str]:  # noqa: ANN401 # passed on
    whole = {
        "method": "POST",
        "url": URL,
        "body": BODY,
        "content_type": "application/json",
        "seed": SEED,
        "keyid": KEYID,
        "created": int(time.time()),
        "nonce": "abcdefghijklmnop",
        **changes,
    }
    return signed_headers(**whole)


def test_the_receiver_on_the_page_takes_what_is_good_and_nothing_else(shown: Any) -> None:  # noqa: ANN401
    seen: set[str] = set()

    def is_new(nonce: str) -> bool:
        fresh = nonce not in seen
        seen.add(nonce)
        return fresh

    def good(headers: dict[str, str], **changes: Any) -> bool:  # noqa: ANN401 # passed on
        whole = {
            "url": URL,
            "key": public_key(SEED),
            "keyid": KEYID,
            "now": int(time.time()),
            "is_new": is_new,
            **changes,
        }
        return bool(shown(headers, whole.pop("body", BODY), **whole))

    assert not good(signed(), body=b"{}")
    assert not good(signed(), url=URL + "/")
    assert not good(signed(), key=public_key(bytes(32)))
    assert not good(signed(), keyid="other")
    assert not good(signed(), now=int(time.time()) + 301)
    assert not good(signed(), now=int(time.time()) - 60)
    assert not good(signed(method="PUT"))
    assert not good({})
    assert good(signed())
    assert not good(signed()), "a second time"
