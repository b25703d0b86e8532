"""How the settings reach what calls receivers."""

import ipaddress
from pathlib import Path

import pytest
import trio
from cryptography.hazmat.primitives import serialization

from node.base.errors import SettingsError
from node.notification.service import roots_with
from tests.node.api.living import found, living
from tests.node.outbound.authority import Authority


def written(folder: Path) -> Path:
    authority = Authority()
    own = authority._signed(authority.key.public_key(), (), ca=True, days=1)
    file = folder / "roots.pem"
    file.write_bytes(own.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.mark.trio
async def test_only_what_the_operator_lists_may_be_reached_inside(tmp_path: Path) -> None:
    data = found(tmp_path)
    with data.settings.open("a", encoding="utf-8") as file:
        file.write('\nwebhook_addresses = ["10.0.0.7", "0:0::1"]\n')
    with trio.fail_after(20):
        async with living(tmp_path, data=data) as it:
            outside = it.node.notification.outside

    assert outside.allowed == {ipaddress.ip_address("10.0.0.7"), ipaddress.ip_address("::1")}
    assert outside.roots is None


@pytest.mark.trio
async def test_without_a_word_nothing_inside_may_be_reached(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it:
            assert it.node.notification.outside.allowed == frozenset()


def test_own_authorities_are_believed_besides_the_usual_ones(tmp_path: Path) -> None:
    roots = roots_with(written(tmp_path))
    names = [str(one["subject"]) for one in roots.get_ca_certs()]

    assert any("authority of tests" in name for name in names)
    assert len(names) > 10


@pytest.mark.parametrize("text", [None, b"", b"no certificate"])
def test_a_file_that_holds_no_certificates_is_refused(tmp_path: Path, text: bytes | None) -> None:
    if text is not None:
        (tmp_path / "roots.pem").write_bytes(text)
    with pytest.raises(SettingsError, match="webhook_roots"):
        roots_with(tmp_path / "roots.pem")
