"""A hash of one thing is never a hash of another: domains are whole, distinct and prefix-free."""

import hashlib
import re
from pathlib import Path

import pytest

import federation
from federation.crypto import Domain, digest, plain_hash
from federation.records.statement import SIGN_DOMAIN

BALLOT = b"folkmoot/1/ballot"
"""Personalises a keyed hash, like the beacon's; not a domain of `digest`."""
ARGUMENT = b"folkmoot/1/sealed_argument"
"""The same, for sealed arguments."""
SEED = b"folkmoot/1/seed/"
"""The same, for seeds that are derived from one secret."""
SNAPSHOT = b"folkmoot/1/snapshot"
"""Begins what names the certified part of a snapshot; a plain hash over it, no `digest`."""
PREFIXES = sorted(
    {*(domain.value for domain in Domain), SIGN_DOMAIN, BALLOT, ARGUMENT, SEED, SNAPSHOT}
)
SOURCES = sorted(Path(federation.__path__[0]).rglob("*.py"))


@pytest.mark.parametrize("domain", Domain)
def test_a_digest_is_sha256_of_the_domain_and_the_parts(domain: Domain) -> None:
    expected = hashlib.sha256(b"folkmoot/1/" + domain.name.lower().encode() + b"ab" + b"c")

    assert digest(domain, b"ab", b"c") == expected.digest()


def test_parts_are_joined_without_separators_so_only_the_last_may_vary_in_length() -> None:
    assert digest(Domain.RECORD, b"ab", b"c") == digest(Domain.RECORD, b"a", b"bc")


def test_no_prefix_is_the_beginning_of_another() -> None:
    # With a prefix-free set the first bytes tell the domain, whatever follows them.
    for one in PREFIXES:
        assert not [other for other in PREFIXES if other != one and other.startswith(one)]


def test_every_prefix_in_the_source_is_known_here() -> None:
    literal = re.compile(rb"""["'](folkmoot/[^"']*)["']""")
    found = {one for path in SOURCES for one in literal.findall(path.read_bytes())}

    assert found <= set(PREFIXES)


def test_a_plain_hash_has_no_domain() -> None:
    assert plain_hash(b"abc") == hashlib.sha256(b"abc").digest()


def test_a_canonical_value_never_begins_like_a_domain() -> None:
    # Bare hashes are taken of canonical lists, maps and byte strings of fixed length; a domain
    # begins with "f", which as msgpack would be the integer 102 with bytes after it.
    assert {prefix[:1] for prefix in PREFIXES} == {b"f"}
