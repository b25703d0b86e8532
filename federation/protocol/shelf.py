"""The certificates that this node holds: those of open work in memory, the others in the log.

Once a cut contains a `certificate.final` record of a slot, that record is the node's copy for
good: whoever comes late is answered from it. So memory grows with open work and not with history
(design: the node, world).
"""

from collections.abc import Iterator, MutableMapping

from federation.certificates import Certificate, certificate_from_plain
from federation.codec import decode_plain
from federation.core import RecordId
from federation.records import CertificateFinal
from federation.replication import Log


class Shelf(MutableMapping[bytes, Certificate]):
    """Verified certificates by slot."""

    def __init__(self, log: Log) -> None:
        """Start empty; records that are shelved later are read from `log`."""
        self._log = log
        self.open: dict[bytes, Certificate] = {}
        """Certificates that no cut contains yet."""
        self.contained: dict[bytes, RecordId] = {}
        """Slots whose certificate stands in a record that a cut contains, and the first such
        record: the same on every node at the same cut."""

    def shelve(self, key: bytes, name: RecordId) -> None:
        """Note that a cut contains the record `name`, which proves the certificate of a slot."""
        self.contained.setdefault(key, name)
        self.open.pop(key, None)

    def __getitem__(self, key: bytes) -> Certificate:
        """Give the certificate of a slot; raises KeyError if none is held."""
        held = self.open.get(key)
        if held is not None:
            return held
        record = self._log.get(self.contained[key])
        assert record is not None, "a cut contains only what is stored"  # noqa: S101 # ours
        assert isinstance(record.body, CertificateFinal), "no other record is shelved"  # noqa: S101 # ours
        return certificate_in(record.body)

    def __setitem__(self, key: bytes, certificate: Certificate) -> None:
        """Hold a verified certificate."""
        self.open[key] = certificate

    def __delitem__(self, key: bytes) -> None:
        """Forget a certificate wherever it is; raises KeyError if none is held."""
        known = self.contained.pop(key, None)
        if self.open.pop(key, None) is None and known is None:
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        """Tell whether the certificate of a slot is held, without reading it."""
        return key in self.open or key in self.contained

    def __iter__(self) -> Iterator[bytes]:
        """Go through the slots: first those that cuts contain."""
        yield from self.contained
        yield from (key for key in self.open if key not in self.contained)

    def __len__(self) -> int:
        """Count the slots."""
        return len(self.contained.keys() | self.open.keys())


def certificate_in(body: CertificateFinal) -> Certificate:
    """Read the certificate of a record; raises PeerError NOT_CANONICAL. Verifies nothing."""
    seals: list[list[object]] = [[seal.voice, seal.counter, seal.signature] for seal in body.seals]
    slot = decode_plain(body.slot, what="slot")
    value = decode_plain(body.value, what="value")
    return certificate_from_plain([slot, value, body.fence, seals])
