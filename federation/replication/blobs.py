"""Content too large for a record, by its hash (design: records, encoding).

A blob is fetched on demand and can be fetched again, so the store may drop its oldest content
when it is full. Only what cuts name is kept for ever: without it no node could follow them again.
"""

from federation.codec import LIMITS
from federation.core import Code, Digest, ParameterError, PeerError
from federation.crypto import Domain, digest


class BlobStore:
    """Blobs of at most 1 MiB each, bounded in sum; the oldest give way. Owned by one world."""

    def __init__(self, *, most_bytes: int = 256 * 1024 * 1024) -> None:
        """Start empty; `most_bytes` bounds the content, and must hold one largest blob."""
        if most_bytes < LIMITS.blob:
            raise ParameterError(
                "blob store not made",
                why=f"{most_bytes} bytes do not hold one blob of {LIMITS.blob}",
                fix="give it at least the size of one blob",
            )
        self._most = most_bytes
        self._held = 0
        self._blobs: dict[Digest, bytes] = {}
        self._kept: dict[Digest, bytes] = {}

    def put(self, content: bytes) -> Digest:
        """Keep a blob and give its hash; raises PeerError TOO_LARGE above 1 MiB."""
        if len(content) > LIMITS.blob:
            raise PeerError(
                "blob refused",
                why=f"it has {len(content)} bytes, the limit is {LIMITS.blob}",
                fix="split it",
                code=Code.TOO_LARGE,
            )
        name = digest(Domain.BLOB, content)
        if name not in self:
            self._blobs[name] = content
            self._held += len(content)
            while self._held > self._most:
                oldest = next(iter(self._blobs))
                self._held -= len(self._blobs.pop(oldest))
        return name

    def keep(self, name: Digest) -> None:
        """Keep a held blob for ever, outside the bound: a certified cut names it."""
        content = self._blobs.pop(name, None)
        if content is not None:
            self._held -= len(content)
            self._kept[name] = content

    def get(self, name: Digest) -> bytes | None:
        """Give a blob by its hash, or None if it is not held."""
        return self._kept.get(name) or self._blobs.get(name)

    def __contains__(self, name: Digest) -> bool:
        """Tell whether a blob is held."""
        return name in self._blobs or name in self._kept

    def __len__(self) -> int:
        """Count the blobs held."""
        return len(self._blobs) + len(self._kept)
