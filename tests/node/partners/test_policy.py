"""federation.json is read strictly and written whole; heads never grow younger."""

import base64
import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from federation.records import AgentVouch, wire
from node.base.errors import NodeCode, NodeError, RequestError
from node.partners import Partners, read_partners, write_partners
from node.partners.policy import MOST_LINKS
from tests.builders import OTHER_REALM, named
from tests.node.partners.signed import head, linked, signed

HEAD = head((named("key"), 255))
FULL = Partners(
    seeds=frozenset({named("a"), named("b")}),
    observed=frozenset({named("instance")}),
    links=(linked(HEAD),),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "federation.json"


def written(path: Path, **changes: object) -> Path:
    """Write the full policy with some fields replaced."""
    write_partners(path, FULL)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return path


def test_without_a_file_nothing_is_decided(path: Path) -> None:
    assert read_partners(path) == Partners()
    assert read_partners(path).policy.links == ()


def test_what_is_written_is_read_again(path: Path) -> None:
    for partners in (Partners(), FULL, replace(FULL, seeds=None, links=())):
        write_partners(path, partners)

        assert read_partners(path) == partners
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_file_is_plain_enough_for_a_person(path: Path) -> None:
    write_partners(path, FULL)
    told = json.loads(path.read_text())

    assert told["version"] == 1
    assert told["seeds"] == sorted(one.hex() for one in FULL.seeds or ())
    assert told["instances"] == {named("instance").hex(): "observe"}
    assert told["links"][0]["realm"] == OTHER_REALM.hex()


def test_an_allowed_instance_may_stand_in_the_file(path: Path) -> None:
    name = named("instance").hex()

    assert read_partners(written(path, instances={name: "allow"})).observed == frozenset()


LINK = {
    "realm": OTHER_REALM.hex(),
    "key": named("another key").hex(),
    "weight": 1,
    "imported": 0,
    "head": base64.b64encode(wire(signed(HEAD))).decode(),
}
VOUCH = AgentVouch(agent=named("agent"), weight=1, reason="Good work.")


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"version": None},
        {"surprise": 1},
        {"seeds": []},
        {"seeds": ["ab"]},
        {"seeds": [named("a").hex().upper()]},
        {"seeds": "all"},
        {"instances": {named("instance").hex(): "drop"}},
        {"instances": {"x": "observe"}},
        {"links": [LINK]},
        {"links": [LINK | {"weight": 0}]},
        {"links": [LINK | {"weight": 256}]},
        {"links": [LINK | {"imported": -1}]},
        {"links": [LINK | {"head": "no base64!"}]},
        {"links": [LINK | {"head": ""}]},
        {"links": [LINK | {"head": base64.b64encode(wire(signed(VOUCH))).decode()}]},
        {"links": [{}]},
    ],
    ids=str,
)
def test_a_file_that_was_tampered_with_is_refused(path: Path, changes: dict[str, object]) -> None:
    with pytest.raises(NodeError) as refused:
        read_partners(written(path, **changes))

    assert refused.value.code is NodeCode.BAD_SETTINGS
    assert "federation.json" in refused.value.what


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"{}" * 3], ids=repr)
def test_what_is_no_policy_is_refused(path: Path, raw: bytes) -> None:
    path.write_bytes(raw)

    with pytest.raises(NodeError):
        read_partners(path)


def test_a_realm_that_stands_twice_is_refused(path: Path) -> None:
    write_partners(path, FULL)
    told = json.loads(path.read_text())
    path.write_text(json.dumps(told | {"links": told["links"] * 2}))

    with pytest.raises(NodeError, match="twice"):
        read_partners(path)


def test_a_huge_file_is_refused_unread(path: Path) -> None:
    with path.open("wb") as opened:
        opened.truncate(5 * 1024 * 1024)

    with pytest.raises(NodeError, match="bytes"):
        read_partners(path)


def test_a_directory_in_its_place_is_refused(path: Path) -> None:
    path.mkdir()

    with pytest.raises(NodeError):
        read_partners(path)


def test_more_than_a_file_holds_is_not_written(path: Path) -> None:
    write_partners(path, FULL)
    before = path.read_bytes()
    for partners in (
        Partners(seeds=frozenset(named(n) for n in range(257))),
        Partners(seeds=frozenset()),
    ):
        with pytest.raises(RequestError):
            write_partners(path, partners)

    assert path.read_bytes() == before


def test_an_instance_is_observed_and_allowed_again() -> None:
    observed = Partners().with_instance(named("i"), "observe").with_instance(named("j"), "observe")

    assert observed.observed == {named("i"), named("j")}
    assert observed.with_instance(named("i"), "allow").observed == {named("j")}
    assert observed.with_instance(named("i"), "observe") == observed


def test_a_newer_head_takes_the_place_of_the_one_before() -> None:
    first = Partners().with_link(linked(HEAD, imported=10))
    newer = first.with_link(linked(head((named("key"), 9), cut=8), imported=40, weight=5))

    assert [(one.head.cut, one.imported, one.weight) for one in newer.links] == [(8, 40, 5)]


def test_an_older_head_is_refused() -> None:
    kept = Partners().with_link(linked(HEAD))

    with pytest.raises(RequestError, match="cut 6") as refused:
        kept.with_link(linked(head((named("key"), 255), cut=6)))
    assert refused.value.code is NodeCode.HEAD_REFUSED


def test_the_same_head_again_does_not_grow_younger() -> None:
    kept = Partners().with_link(linked(HEAD, imported=10))
    again = kept.with_link(linked(HEAD, imported=80, weight=7))

    assert [(one.imported, one.weight) for one in again.links] == [(10, 7)]


def test_two_heads_of_one_cut_that_differ_are_refused() -> None:
    kept = Partners().with_link(linked(HEAD))

    with pytest.raises(RequestError, match="something else"):
        kept.with_link(linked(head((named("key"), 254))))


def test_links_are_kept_by_realm_and_only_so_many() -> None:
    kept = Partners()
    realms = [named("realm", n) for n in range(MOST_LINKS + 1)]
    for realm in realms[:-1]:
        kept = kept.with_link(linked(HEAD, realm=realm))
    with pytest.raises(RequestError) as refused:
        kept.with_link(linked(HEAD, realm=realms[-1]))

    assert refused.value.code is NodeCode.BUSY
    assert [one.realm for one in kept.links] == sorted(realms[:-1])
    fewer = kept.without_link(realms[0])
    assert len(fewer.with_link(linked(HEAD, realm=realms[-1])).links) == MOST_LINKS


def test_the_policy_for_the_computation_has_all_of_it() -> None:
    policy = FULL.policy

    assert policy.seeds == FULL.seeds
    assert policy.observed == FULL.observed
    assert [(one.realm, one.weight, one.imported) for one in policy.links] == [
        (OTHER_REALM, 100, 10)
    ]
