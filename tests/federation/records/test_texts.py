"""Prose: bound by a salted hash, readable or nothing, equal ids exactly for equal texts."""

import hashlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.codec import encode
from federation.core import Code, RefusedError
from federation.records import ArtifactText, Note, bind_text, read_text, text_id
from tests import strategies
from tests.builders import SALT, artifact_text


@given(strategies.artifact_texts | strategies.notes, strategies.binaries(16))
def test_a_text_survives_the_way_there_and_back(content: ArtifactText | Note, salt: bytes) -> None:
    raw, text_hash, length = bind_text(content, salt)

    assert read_text(raw, type(content)) == content
    assert text_hash == hashlib.sha256(raw).digest()
    assert length == len(raw)


def test_another_salt_gives_another_hash_and_the_same_id() -> None:
    content = artifact_text()

    assert bind_text(content, SALT)[1] != bind_text(content, bytes(16))[1]
    assert text_id(content) == hashlib.sha256(b"folkmoot/1/text" + encode(content)).digest()


@pytest.mark.parametrize("field", ArtifactText.__struct_fields__)
def test_texts_that_differ_in_any_field_have_different_ids(field: str) -> None:
    content = artifact_text()
    old = getattr(content, field)
    new = f"{old} " if isinstance(old, str) else (*old, "one more")
    changed = msgspec.structs.replace(content, **{field: new})

    assert text_id(changed) != text_id(content)


@given(st.data())
def test_a_damaged_text_is_another_text_or_none(data: st.DataObject) -> None:
    content = artifact_text()
    raw, _, _ = bind_text(content, SALT)
    damaged = data.draw(strategies.damaged(raw))
    read = read_text(damaged, ArtifactText)

    assert read is None or encode([damaged[3:19], read]) == damaged


@given(st.binary(max_size=60))
def test_reading_any_bytes_as_a_text_never_raises(raw: bytes) -> None:
    assert read_text(raw, Note) is None or raw[:1] == b"\x92"


def test_a_text_of_another_kind_is_not_read() -> None:
    raw, _, _ = bind_text(Note(note="a remark"), SALT)

    assert read_text(raw, ArtifactText) is None


@pytest.mark.parametrize(
    ("content", "salt", "code"),
    [
        (Note(note="e\u0301"), SALT, Code.NOT_CANONICAL),
        (Note(note="a\0b"), SALT, Code.NOT_CANONICAL),
        (Note(note="a" * 12_001), SALT, Code.NOT_CANONICAL),
        (Note(note="水" * 6_000), SALT, Code.TOO_LARGE),
        (Note(note=""), bytes(15), Code.NOT_CANONICAL),
        (artifact_text(title="t" * 301), SALT, Code.NOT_CANONICAL),
        (artifact_text(claims=("c",) * 17), SALT, Code.NOT_CANONICAL),
    ],
)
def test_a_text_that_nobody_could_read_is_not_bound(
    content: ArtifactText | Note, salt: bytes, code: Code
) -> None:
    with pytest.raises(RefusedError) as refused:
        bind_text(content, salt)

    assert refused.value.code is code
    assert refused.value.what == "text not bound"
