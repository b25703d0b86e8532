"""Ids of records of any kind: 64 hex digits or a CID, to the 32 bytes that are meant.

Artifacts, rounds and agents are looked up by `node.queries.names`, which knows prefixes too. Other
records have no table to look a prefix up in, so they are named in full.
"""

import base64
import binascii
from typing import Final

from federation.core import RecordId
from node.commands import bad_field
from node.queries.names import cid_of

_HEX: Final = 64
_CID: Final = 59
_ID: Final = 32


def read_id(field: str, text: str) -> RecordId:
    """Read a full id or a CID; raises RequestError BAD_FIELD that names the field."""
    found = _hex(text) if len(text) == _HEX else _cid(text)
    if found is None:
        raise bad_field(field, "it is neither 64 hex digits nor a CID")
    return found


def _hex(text: str) -> RecordId | None:
    try:
        found = bytes.fromhex(text)
    except ValueError:
        return None
    # Python skips blanks between digits, so the length tells whether there were any.
    return found if len(found) == _ID else None


def _cid(text: str) -> RecordId | None:
    if len(text) != _CID or not text.isascii():
        return None
    try:
        found = base64.b32decode(text[1:].upper() + "======")[-_ID:]
    except binascii.Error:
        return None
    # One spelling only: whatever decodes to the same bytes otherwise is not a CID of ours.
    return found if cid_of(found) == text else None
