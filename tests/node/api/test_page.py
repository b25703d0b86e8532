"""The pages: what they show, and that no text from a record does anything but be read."""

from html.parser import HTMLParser
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from node.api.page import duration, few, harmless, moment
from tests.node.api.living import living, proposal, until

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'> &amp; {{ 7 * 7 }}"
TURNED = "safe\u202etxt.exe\u2066\u200f"
LINKS = ("javascript:alert(3)", "data:text/html,<script>alert(4)</script>", "//evil.example/x")


class Page(HTMLParser):
    """What a browser makes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words += data

    def check(self) -> None:
        """Hold the page to what makes it harmless."""
        assert [at.get("src") for tag, at in self.tags if tag == "script"] == ["/static/live.js"]
        assert not [tag for tag, _ in self.tags if tag in {"style", "iframe", "form", "object"}]
        for tag, attributes in self.tags:
            assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
            assert "style" not in attributes
            for name in ("href", "src"):
                address = attributes.get(name)
                own = address is None or (address[:1] in {"/", "#"} and address[:2] != "//")
                assert own, address


@pytest.mark.trio
async def test_the_status_page_of_a_new_instance_says_what_is_there(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            answer = await client.get("/")
            page = Page(answer.text)

    page.check()
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for policy in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
        assert policy in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    for words in ("town hall", "ready", "Nothing has been proposed yet.", "no other instance"):
        assert words in page.words
    assert ("meta", {"http-equiv": "refresh", "content": "15"}) in page.tags


@pytest.mark.trio
async def test_texts_of_records_are_read_and_do_nothing(tmp_path: Path) -> None:
    body = proposal(
        title=EVIL + TURNED,
        prose=EVIL * 3 + TURNED,
        claims=[EVIL, TURNED],
        falsification=[EVIL, LINKS[0]],
        sources=[*LINKS, EVIL],
    )
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.acting(0) as alice, it.client() as client:
            proposed = await alice.post("/v1/artifacts", json=body)
            assert proposed.status_code == 201, proposed.text
            waiting = await client.get("/")
            await until(lambda: it.node.world.rounds)
            status = await client.get("/")
            one = await client.get(f"/a/{proposed.json()['id']}")

    for answer in (waiting, status, one):
        assert answer.status_code == 200
        page = Page(answer.text)
        page.check()
        assert EVIL in page.words
        assert not set(page.words) & set(TURNED[4:5] + "\u2066\u200f")
        assert "safe⟦U+202E⟧txt.exe⟦U+2066⟧⟦U+200F⟧" in page.words
    assert all(link in Page(one.text).words for link in LINKS)


@pytest.mark.trio
async def test_a_decided_artifact_shows_its_verdict_and_what_is_narrow(tmp_path: Path) -> None:
    vote = {"choice": "for", "reason": "accurate", "basis": "tool"}
    with trio.fail_after(40):
        async with living(tmp_path) as it, it.acting(0) as alice, it.client() as client:
            artifact = (await alice.post("/v1/artifacts", json=proposal())).json()["id"]
            await until(lambda: it.node.world.rounds)
            (name,) = it.node.world.rounds
            running = Page((await client.get("/")).text)
            await until(lambda: it.node.world.rounds[name].phase == "commit")
            for index in range(1, 5):
                async with it.acting(index) as voter:
                    answer = await voter.post(f"/v1/rounds/{name.hex()}/vote", json=vote)
                    assert answer.status_code == 201, answer.text
            await until(lambda: it.node.world.rounds[name].verdict)
            status = Page((await client.get("/")).text)
            one = Page((await client.get(f"/a/{artifact}")).text)

    assert "submit within" in running.words
    for page in (status, one):
        page.check()
        assert "Accepted by vote" in page.words
        assert "narrow" in page.words
    assert "History" in one.words


@pytest.mark.trio
async def test_static_files_are_there_and_others_are_not(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            kinds = {
                name: (await client.get(f"/static/{name}")).headers["content-type"]
                for name in ("style.css", "live.js", "icon.svg")
            }
            missing = await client.get("/static/page.py")

    assert kinds == {
        "style.css": "text/css; charset=utf-8",
        "live.js": "text/javascript; charset=utf-8",
        "icon.svg": "image/svg+xml",
    }
    assert missing.status_code == 404


@given(st.text())
def test_harmless_text_hides_nothing(text: str) -> None:
    shown = harmless(text)

    assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200e\u200f\0\x1b")
    assert harmless("plain text, ünïcode 字\n") == "plain text, ünïcode 字\n"


def test_durations_and_moments_are_spelt_for_people() -> None:
    assert [duration(one) for one in (None, 0, 5, 1_000, 65_000, 3_600_000, 90_061_000)] == [
        "no time limit",
        "now",
        "under 1 s",
        "1 s",
        "1 min 5 s",
        "1 h",
        "1 d 1 h",
    ]
    assert moment(None) == "never"
    assert moment(0) == "1970-01-01 00:00:00 UTC"
    assert moment(2**53) == "no date of this world"
    assert few("0123456789abcdef") == "0123456789"
