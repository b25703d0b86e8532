import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.base.errors import NodeCode, SettingsError
from node.base.settings import (
    KEYS,
    OTHER_VARIABLES,
    Settings,
    load,
    page,
    read_address,
    spell,
)

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"
PEER = "/ip4/192.0.2.7/tcp/4420/p2p/12D3KooWGqvUqLJGMQSUvfRx1yY6jLwBdbzYm9bWBUVQDHVXFJ9k"


def loaded(path: Path, text: str, environ: Mapping[str, str] | None = None) -> Settings:
    file = path / "folkmoot.toml"
    file.write_text(text, encoding="utf-8")
    return load(file, environ or {})


def refused(path: Path, text: str, environ: Mapping[str, str] | None = None) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        loaded(path, text, environ)
    assert caught.value.code is NodeCode.BAD_SETTINGS
    return caught.value


def test_the_table_and_the_settings_have_the_same_rows() -> None:
    assert [key.name for key in KEYS] == [field.name for field in dataclasses.fields(Settings)]
    assert [key.default for key in KEYS] == [getattr(Settings(), key.name) for key in KEYS]


def test_the_page_in_the_documentation_is_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_key_is_on_the_page_with_its_variable() -> None:
    for key in KEYS:
        assert f"| `{key.name}` |" in page()
        assert f"`{key.variable}`" in page()


def test_an_empty_file_gives_the_defaults(tmp_path: Path) -> None:
    assert loaded(tmp_path, "") == Settings()


def test_default_settings_are_spelled_as_comments_only(tmp_path: Path) -> None:
    assert tomllib.loads(spell(Settings())) == {}
    assert loaded(tmp_path, spell(Settings())) == Settings()


def test_every_value_of_a_file_is_read(tmp_path: Path) -> None:
    text = (
        'name = "moot"\nhttp_host = "::1"\nhttp_port = 0\nhttp_names = ["Moot.example"]\n'
        'listen = ["/ip6/::1/tcp/0"]\n'
        f'peers = ["{PEER}"]\npassphrase_file = "secret"\nsync_every_ms = 100\n'
        'webhook_addresses = ["10.0.0.7", "0:0::1"]\nwebhook_roots = "roots.pem"\n'
    )

    assert loaded(tmp_path, text) == Settings(
        name="moot",
        http_host="::1",
        http_port=0,
        http_names=("moot.example",),
        listen=("/ip6/::1/tcp/0",),
        peers=(PEER,),
        passphrase_file=tmp_path / "secret",
        sync_every_ms=100,
        webhook_addresses=("10.0.0.7", "::1"),
        webhook_roots=tmp_path / "roots.pem",
    )


def test_the_environment_wins_and_splits_lists_at_commas(tmp_path: Path) -> None:
    environ = {
        "FOLKMOOT_HTTP_PORT": "9000",
        "FOLKMOOT_LISTEN": "/ip4/127.0.0.1/tcp/1, /ip4/127.0.0.1/tcp/2",
        "FOLKMOOT_PEERS": "",
        "HOME": "x",
    }
    settings = loaded(tmp_path, f'http_port = 1\npeers = ["{PEER}"]', environ)

    assert settings.http_port == 9000
    assert settings.listen == ("/ip4/127.0.0.1/tcp/1", "/ip4/127.0.0.1/tcp/2")
    assert settings.peers == ()


def test_variables_of_the_command_line_are_no_settings(tmp_path: Path) -> None:
    assert loaded(tmp_path, "", dict.fromkeys(OTHER_VARIABLES, "x")) == Settings()


def test_an_absolute_passphrase_file_stays_where_it_is(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "", {"FOLKMOOT_PASSPHRASE_FILE": "/run/secret"})

    assert settings.passphrase_file == Path("/run/secret")


def test_an_empty_passphrase_file_is_none(tmp_path: Path) -> None:
    assert loaded(tmp_path, 'passphrase_file = ""').passphrase_file is None


def test_a_mistyped_key_is_refused_with_its_neighbour(tmp_path: Path) -> None:
    error = refused(tmp_path, "htpp_port = 1")

    assert error.what == "setting htpp_port refused"
    assert error.fix == "did you mean http_port?"


def test_an_unknown_key_is_refused_with_all_that_are_known(tmp_path: Path) -> None:
    assert "sync_every_ms" in refused(tmp_path, "zzz = 1").fix


def test_a_mistyped_variable_is_refused(tmp_path: Path) -> None:
    error = refused(tmp_path, "", {"FOLKMOOT_HTTP_PORTS": "1"})

    assert error.what == "variable FOLKMOOT_HTTP_PORTS refused"
    assert error.fix == "did you mean http_port?"


@pytest.mark.parametrize("name", ["passphrase", "PASSPHRASE"])
def test_a_passphrase_is_never_a_setting(tmp_path: Path, name: str) -> None:
    error = (
        refused(tmp_path, 'passphrase = "hunter2"')
        if name.islower()
        else refused(tmp_path, "", {f"FOLKMOOT_{name}": "hunter2"})
    )

    assert "secrets never stand in settings" in error.why
    assert "hunter2" not in str(error)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("http_port = 65536", "whole number from 0 to 65,535"),
        ("http_port = -1", "whole number"),
        ("http_port = true", "whole number"),
        ("http_port = 1.0", "whole number"),
        ('http_port = "x"', "whole number"),
        ("sync_every_ms = 99", "whole number from 100 to 3,600,000"),
        ('name = ""', "1 to 64 printable"),
        ('name = "a\\u0007"', "1 to 64 printable"),
        ("name = 1", "1 to 64 printable"),
        (f'name = "{"n" * 65}"', "1 to 64 printable"),
        ('http_host = "a b"', "IP address"),
        ("http_host = 1", "IP address"),
        ('http_names = "moot.example"', "not a list"),
        ('http_names = ["moot.example:8420"]', "not the name of a host"),
        ('http_names = ["https://moot.example"]', "not the name of a host"),
        ("http_names = [1]", "not the name of a host"),
        (f"http_names = {['a'] * 17}", "more than 16"),
        ('listen = "/ip4/127.0.0.1/tcp/1"', "not a list"),
        ("listen = [1]", "not an address"),
        ("passphrase_file = 1", "name of a file"),
        (f"listen = {['/ip4/127.0.0.1/tcp/1'] * 65}", "more than 64"),
    ],
)
def test_a_value_out_of_its_range_is_told_with_what_is_allowed(
    tmp_path: Path, text: str, why: str
) -> None:
    error = refused(tmp_path, text)

    assert why in error.why
    assert str(tmp_path) in error.why
    assert error.fix.startswith("allowed is: ")


@pytest.mark.parametrize(
    "address",
    [
        "/ip4/127.0.0.1/tcp/0",
        "/ip4/0.0.0.0/tcp/65535",
        "/ip6/::/tcp/4420",
        "/dns4/moot.example.org/tcp/4420",
    ],
)
def test_an_address_to_listen_on_is_taken_as_it_stands(address: str) -> None:
    assert read_address(address, with_peer=False) == address


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("/ip4/127.0.0.1/udp/1", "not an address"),
        ("/ip4/127.0.0.1/tcp/65536", "not an address"),
        ("/ip4/127.0.0.1/tcp/1/ws", "not an address"),
        ("/ip4/127.0.0.1/tcp/1\n", "not an address"),
        ("/ip4/::1/tcp/1", "not what /ip4/ announces"),
        ("/ip6/127.0.0.1/tcp/1", "not what /ip6/ announces"),
        ("/ip4/300.0.0.1/tcp/1", "not what /ip4/ announces"),
        ("/dns4/-/tcp/1", "not what /dns4/ announces"),
        (PEER, "must not have a /p2p/"),
    ],
)
def test_what_is_no_address_to_listen_on_is_refused(address: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_address(address, with_peer=False)


def test_a_peer_needs_its_identity_in_its_address(tmp_path: Path) -> None:
    assert read_address(PEER, with_peer=True) == PEER
    assert "lacks its /p2p/" in refused(tmp_path, 'peers = ["/ip4/192.0.2.7/tcp/1"]').why


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="No such file"):
        load(tmp_path / "none", {})


@pytest.mark.parametrize("raw", [b"http_port = = 1", b"\xff"])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "folkmoot.toml"
    file.write_bytes(raw)

    with pytest.raises(SettingsError, match="settings not read"):
        load(file, {})


@given(
    name=st.text(st.characters(codec="utf-8"), min_size=1, max_size=64).filter(str.isprintable),
    port=st.integers(0, 65_535),
    file=st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
    sync=st.integers(100, 3_600_000),
)
def test_settings_that_are_written_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, name: str, port: int, file: str | None, sync: int
) -> None:
    folder = tmp_path_factory.getbasetemp()
    settings = Settings(
        name=name,
        http_port=port,
        listen=(),
        peers=(PEER, PEER),
        passphrase_file=None if file is None else folder / file,
        sync_every_ms=sync,
    )

    assert loaded(folder, spell(settings)) == settings
