"""Settings: folkmoot.toml and the environment, read once and checked against one table.

Every key stands in `KEYS` with its unit, default, range and meaning; the example file, the checks
and docs/reference/settings.md are made from it. The environment wins over the file. A key or a
variable that the table does not know is refused, because a mistyped one would silently change
nothing. Secrets never stand in settings: a passphrase is named by its file.
"""

import difflib
import ipaddress
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from federation.core import Millis
from node.base.errors import NodeCode, SettingsError

PREFIX: Final = "FOLKMOOT_"
OTHER_VARIABLES: Final = ("FOLKMOOT_DATA", "FOLKMOOT_URL", "FOLKMOOT_TOKEN")
"""Variables of the command line; they are no settings."""

_LONGEST_NAME: Final = 64
_PORTS: Final = range(65_536)
_MOST_ADDRESSES: Final = 64
_MOST_NAMES: Final = 16
_SYNC: Final = range(100, 3_600_001)
_HOST: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_MULTIADDR: Final = re.compile(
    r"/(?P<kind>ip4|ip6|dns|dns4|dns6)/(?P<host>[^/]+)/tcp/(?P<port>\d{1,5})(?P<peer>/p2p/[1-9A-HJ-NP-Za-km-z]{32,64})?"
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key(Generic[T]):
    """One row of the table."""

    name: str
    unit: str
    """Empty for what has none."""
    default: T
    legal: str
    """What is allowed, in words."""
    meaning: str
    read: Callable[[object], T]
    """Makes the value; raises ValueError that says why not."""
    list: bool = False
    """A list in the file; in the environment its parts are separated by commas."""

    @property
    def variable(self) -> str:
        """The environment variable of the same meaning."""
        return PREFIX + self.name.upper()


def _text(value: object) -> str:
    if (
        not isinstance(value, str)
        or not value.isprintable()
        or not 1 <= len(value) <= _LONGEST_NAME
    ):
        raise ValueError(f"it is not text of 1 to {_LONGEST_NAME} printable characters")
    return value


def _host(value: object) -> str:
    if not isinstance(value, str) or not (_is_ip(value) or _HOST.fullmatch(value)):
        raise ValueError("it is neither an IP address nor the name of a host")
    return value


def _hosts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("it is not a list")  # noqa: TRY004 # one kind of error for callers
    if len(value) > _MOST_NAMES:
        raise ValueError(f"it has more than {_MOST_NAMES} names")
    for one in value:
        if not isinstance(one, str) or not _HOST.fullmatch(one):
            raise ValueError(f"{one!r} is not the name of a host, such as moot.example.org")
    return tuple(one.lower() for one in value)


def _number(legal: range) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value, re.ASCII):
            value = int(value)
        # In Python a truth value is a number; in a settings file it is a mistake.
        if not isinstance(value, int) or isinstance(value, bool) or value not in legal:
            raise ValueError(f"it is not a whole number from {legal[0]:,} to {legal[-1]:,}")
        return value

    return read


def _addresses(*, with_peer: bool) -> Callable[[object], tuple[str, ...]]:
    def read(value: object) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise ValueError("it is not a list")  # noqa: TRY004 # one kind of error for callers
        if len(value) > _MOST_ADDRESSES:
            raise ValueError(f"it has more than {_MOST_ADDRESSES} addresses")
        return tuple(read_address(one, with_peer=with_peer) for one in value)

    return read


def _ips(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("it is not a list")  # noqa: TRY004 # one kind of error for callers
    if len(value) > _MOST_ADDRESSES:
        raise ValueError(f"it has more than {_MOST_ADDRESSES} addresses")
    for one in value:
        if not isinstance(one, str) or not _is_ip(one):
            raise ValueError(f"{one!r} is not an IP address, such as 10.0.0.7")
    return tuple(str(ipaddress.ip_address(one)) for one in value)


def read_address(value: object, *, with_peer: bool) -> str:
    """Check a multiaddr of TCP, with or without `/p2p/…` at its end; raises ValueError."""
    form = "/ip4/192.0.2.7/tcp/4420" + ("/p2p/12D3KooW…" if with_peer else "")
    parts = _MULTIADDR.fullmatch(value) if isinstance(value, str) else None
    if parts is None or int(parts["port"]) not in _PORTS:
        raise ValueError(f"{value!r} is not an address such as {form}")
    if (parts["peer"] is None) == with_peer:
        lacks = "lacks its /p2p/… part" if with_peer else "must not have a /p2p/… part"
        raise ValueError(f"{value!r} {lacks}, as in {form}")
    kind = parts["kind"]
    fits = _HOST.fullmatch(parts["host"]) if kind.startswith("dns") else _is_ip(parts["host"])
    if not fits or (kind.startswith("ip") and (":" in parts["host"]) != (kind == "ip6")):
        raise ValueError(f"{parts['host']!r} is not what /{kind}/ announces")
    return parts[0]


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _choice(*legal: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in legal:
            raise ValueError(f"it is none of {', '.join(legal)}")
        return value

    return read


def _path(value: object) -> Path | None:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError("it is not the name of a file")
    return Path(value) if value else None


NAME: Final = Key(
    name="name",
    unit="",
    default="folkmoot",
    legal=f"1 to {_LONGEST_NAME} printable characters",
    meaning="What this instance is called on its status page and in logs.",
    read=_text,
)
HTTP_HOST: Final = Key(
    name="http_host",
    unit="",
    default="127.0.0.1",
    legal="an IP address or a host name",
    meaning="Where the HTTP API and the status page listen. "
    "They speak plain HTTP: anything but loopback belongs behind a proxy with TLS.",
    read=_host,
)
HTTP_PORT: Final = Key(
    name="http_port",
    unit="port",
    default=8420,
    legal="0 to 65,535; 0 takes any free one",
    meaning="Port of the HTTP API and the status page.",
    read=_number(_PORTS),
)
HTTP_NAMES: Final[Key[tuple[str, ...]]] = Key(
    name="http_names",
    unit="",
    default=(),
    legal=f"up to {_MOST_NAMES} host names",
    meaning="Host names that the HTTP API answers to, besides its addresses, localhost and "
    "`http_host`: those that browsers and agents use where a proxy stands before it.",
    read=_hosts,
    list=True,
)
LISTEN: Final[Key[tuple[str, ...]]] = Key(
    name="listen",
    unit="",
    default=("/ip4/127.0.0.1/tcp/4420",),
    legal=f"up to {_MOST_ADDRESSES} multiaddrs of TCP; port 0 takes any free one",
    meaning="Where other instances reach this one; they speak Noise, which encrypts. "
    "The default is heard on this machine only.",
    read=_addresses(with_peer=False),
    list=True,
)
PEERS: Final[Key[tuple[str, ...]]] = Key(
    name="peers",
    unit="",
    default=(),
    legal=f"up to {_MOST_ADDRESSES} multiaddrs of TCP that end in /p2p/…",
    meaning="Instances that this one calls when it starts, and again whenever a call ends.",
    read=_addresses(with_peer=True),
    list=True,
)
PASSPHRASE_FILE: Final = Key(
    name="passphrase_file",
    unit="",
    default=None,
    legal="the name of a file; empty for none",
    meaning="File with the passphrase of the keys, relative to this file. "
    "Without it the passphrase comes from systemd, a descriptor or a prompt.",
    read=_path,
)
REGISTRATION: Final = Key(
    name="registration",
    unit="",
    default="open",
    legal="one of open, invited, closed",
    meaning="Who may register operators and agents here over HTTP: whoever brings the proof that the "
    "charter asks for, only who also has an invite, or nobody.",
    read=_choice("open", "invited", "closed"),
)
SYNC_EVERY_MS: Final = Key(
    name="sync_every_ms",
    unit="ms",
    default=3_000,
    legal="100 to 3,600,000",
    meaning="How often each connected peer is asked for records that are missing here.",
    read=_number(_SYNC),
)
WEBHOOK_ADDRESSES: Final[Key[tuple[str, ...]]] = Key(
    name="webhook_addresses",
    unit="",
    default=(),
    legal=f"up to {_MOST_ADDRESSES} IP addresses",
    meaning="Addresses that webhooks may reach although they are private, loopback or link-local: "
    "those of receivers of your own, and nothing else. All others must be public.",
    read=_ips,
    list=True,
)
WEBHOOK_ROOTS: Final = Key(
    name="webhook_roots",
    unit="",
    default=None,
    legal="the name of a file; empty for none",
    meaning="File with certificates of authorities (PEM) that webhooks believe besides the usual "
    "ones, relative to this file: for receivers of your own.",
    read=_path,
)

KEYS: Final[tuple[Key[str] | Key[int] | Key[tuple[str, ...]] | Key[Path | None], ...]] = (
    NAME,
    HTTP_HOST,
    HTTP_PORT,
    HTTP_NAMES,
    LISTEN,
    PEERS,
    PASSPHRASE_FILE,
    REGISTRATION,
    SYNC_EVERY_MS,
    WEBHOOK_ADDRESSES,
    WEBHOOK_ROOTS,
)
"""The table: all settings, in the order in which files and pages show them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an operator may change about one instance; the fields are the rows of `KEYS`."""

    name: str = NAME.default
    http_host: str = HTTP_HOST.default
    http_port: int = HTTP_PORT.default
    http_names: tuple[str, ...] = HTTP_NAMES.default
    listen: tuple[str, ...] = LISTEN.default
    peers: tuple[str, ...] = PEERS.default
    passphrase_file: Path | None = PASSPHRASE_FILE.default
    registration: str = REGISTRATION.default
    """open, invited or closed."""
    sync_every_ms: Millis = SYNC_EVERY_MS.default
    webhook_addresses: tuple[str, ...] = WEBHOOK_ADDRESSES.default
    webhook_roots: Path | None = WEBHOOK_ROOTS.default


def load(path: Path, environ: Mapping[str, str]) -> Settings:
    """Read the settings of an instance; `environ` wins over the file.

    A relative `passphrase_file` is taken from the directory of the file. Raises SettingsError
    BAD_SETTINGS with the key, the reason and what is allowed.
    """
    told = _told(path, environ)

    def pick(key: Key[T]) -> T:
        for where, name, value in told:
            if name == key.name:
                try:
                    return key.read(value)
                except ValueError as error:
                    raise _refused(
                        f"setting {name} refused",
                        why=f"in {where}: {error}",
                        fix=f"allowed is: {key.legal}",
                    ) from error
        return key.default

    secret, roots = pick(PASSPHRASE_FILE), pick(WEBHOOK_ROOTS)
    return Settings(
        name=pick(NAME),
        http_host=pick(HTTP_HOST),
        http_port=pick(HTTP_PORT),
        http_names=pick(HTTP_NAMES),
        listen=pick(LISTEN),
        peers=pick(PEERS),
        passphrase_file=None if secret is None else path.parent / secret,
        registration=pick(REGISTRATION),
        sync_every_ms=pick(SYNC_EVERY_MS),
        webhook_addresses=pick(WEBHOOK_ADDRESSES),
        webhook_roots=None if roots is None else path.parent / roots,
    )


def _told(path: Path, environ: Mapping[str, str]) -> list[tuple[str, str, object]]:
    """List what was set, as (where, key, value); what wins comes first."""
    names = [key.name for key in KEYS]
    told: list[tuple[str, str, object]] = []
    for variable, text in environ.items():
        if not variable.startswith(PREFIX) or variable in OTHER_VARIABLES:
            continue
        name = variable.removeprefix(PREFIX).lower()
        key = next((key for key in KEYS if key.variable == variable), None)
        if key is None:
            raise _unknown(f"variable {variable}", name, names)
        parts = [part.strip() for part in text.split(",") if part.strip()]
        told.append((f"the variable {variable}", name, parts if key.list else text))
    for name, value in _table(path).items():
        if name not in names:
            raise _unknown(f"setting {name}", name, names)
        told.append((str(path), name, value))
    return told


def _table(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _refused(
            "settings not read",
            why=f"{path}: {error.strerror or error}",
            fix="name the data directory of an instance, or run `folkmoot init`",
        ) from error
    except ValueError as error:
        # Both: not TOML, and not UTF-8.
        raise _refused(
            "settings not read", why=f"{path}: {error}", fix="correct the line that it names"
        ) from error


def _unknown(what: str, name: str, names: list[str]) -> SettingsError:
    if "passphrase" in name and name != PASSPHRASE_FILE.name:
        fix = "write the passphrase into a file of its own and set passphrase_file to its name"
        return _refused(f"{what} refused", why="secrets never stand in settings", fix=fix)
    near = difflib.get_close_matches(name, names, n=1)
    return _refused(
        f"{what} refused",
        why="there is no such setting",
        fix=f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}",
    )


def _refused(what: str, *, why: str, fix: str) -> SettingsError:
    return SettingsError(what, why=why, fix=fix, code=NodeCode.BAD_SETTINGS)


def spell(settings: Settings) -> str:
    """Write settings as a file: values that differ from the defaults, the others as comments."""
    parts = [
        "# Settings of one Folkmoot instance. What is commented out shows the default.",
        "# A variable of the environment, such as FOLKMOOT_HTTP_PORT, wins over this file.",
    ]
    for key in KEYS:
        value: object = getattr(settings, key.name)
        unit = f" Unit: {key.unit}." if key.unit else ""
        mark = "# " if value == key.default else ""
        parts += ["", f"# {key.meaning}", f"# Allowed: {key.legal}.{unit}"]
        parts.append(f"{mark}{key.name} = {_toml(value)}")
    return "\n".join(parts) + "\n"


def _toml(value: object) -> str:
    match value:
        case tuple():
            return f"[{', '.join(_toml(one) for one in value)}]"
        case int():
            return str(value)
        case None:
            return '""'
        case _:
            return _quoted(str(value))


def _quoted(text: str) -> str:
    """Write a TOML string; the characters that it may not hold as they stand are escaped."""
    shown = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in shown) + '"'


def page() -> str:
    """Write docs/reference/settings.md."""
    rows = [
        f"| `{key.name}` | {key.unit} | `{_toml(key.default)}` | {key.legal} | `{key.variable}` "
        f"| {key.meaning} |"
        for key in KEYS
    ]
    return _PAGE + "\n".join(rows) + "\n"


_PAGE: Final = """# Settings

This page is generated from the table in `node/base/settings.py`; change the text there.

`folkmoot init` writes `folkmoot.toml` into the data directory, with every key, its default and its range.
A variable of the environment wins over the file; in a variable the parts of a list are separated by commas.
A key or a variable starting with `FOLKMOOT_` that is not listed here is refused, because a mistyped one would silently change nothing.
`FOLKMOOT_DATA`, `FOLKMOOT_URL` and `FOLKMOOT_TOKEN` belong to the [command line](cli.md).
Secrets never stand in settings: a passphrase is named by its file.

| key | unit | default | allowed | variable | meaning |
|---|---|---|---|---|---|
"""
