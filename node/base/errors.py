"""The errors of a running node, beside those of the protocol (`federation.core.errors`).

    NodeError
    ├── StoreError      the database refuses or fails
    ├── KeystoreError   key files or their passphrase
    ├── NetworkError    sockets, peers, streams
    ├── SettingsError   folkmoot.toml or the environment
    ├── LockedError     another process holds the data directory
    └── RequestError    a caller of the API asked for what cannot be done

Every error says what happened, why, and what to do. The code is stable: programs match on it.
Nothing secret, no stack trace and no bytes of a peer ever stand in one.
"""

from enum import StrEnum

from federation.core import Millis


class NodeCode(StrEnum):
    """Stable names of a node's errors."""

    # base
    LOCKED = "LOCKED"
    NOT_INITIALISED = "NOT_INITIALISED"
    BAD_SETTINGS = "BAD_SETTINGS"
    ALREADY_INITIALISED = "ALREADY_INITIALISED"
    GENESIS_DAMAGED = "GENESIS_DAMAGED"
    GENESIS_OTHER_VERSION = "GENESIS_OTHER_VERSION"
    NOT_WRITTEN = "NOT_WRITTEN"
    # store
    STORE_FAILED = "STORE_FAILED"
    STORE_NEWER = "STORE_NEWER"
    STORE_OF_ANOTHER_REALM = "STORE_OF_ANOTHER_REALM"
    STORE_UNKNOWN = "STORE_UNKNOWN"
    STORE_DAMAGED = "STORE_DAMAGED"
    WRITE_REFUSED = "WRITE_REFUSED"
    # keys
    WRONG_PASSPHRASE = "WRONG_PASSPHRASE"  # noqa: S105 # a name, not a secret
    KEY_FILE_DAMAGED = "KEY_FILE_DAMAGED"
    KEY_COST = "KEY_COST"
    KEY_NOT_KEPT = "KEY_NOT_KEPT"
    KEY_WOULD_BE_LOST = "KEY_WOULD_BE_LOST"
    KEYS_EXPOSED = "KEYS_EXPOSED"
    KEYSTORE_MISSING = "KEYSTORE_MISSING"
    KEYSTORE_EXISTS = "KEYSTORE_EXISTS"
    KEYSTORE_CHANGED = "KEYSTORE_CHANGED"
    KEYSTORE_NEWER = "KEYSTORE_NEWER"
    KEYSTORE_FAILED = "KEYSTORE_FAILED"
    BAD_OPENSSH_KEY = "BAD_OPENSSH_KEY"
    BAD_PASSPHRASE = "BAD_PASSPHRASE"  # noqa: S105 # a name, not a secret
    NO_PASSPHRASE = "NO_PASSPHRASE"  # noqa: S105 # a name, not a secret
    # network
    NOT_BOUND = "NOT_BOUND"
    UNREACHABLE = "UNREACHABLE"
    NOT_A_PEER = "NOT_A_PEER"
    NO_HELLO = "NO_HELLO"
    WRONG_REALM = "WRONG_REALM"
    WRONG_CHARTER = "WRONG_CHARTER"
    WRONG_PROTOCOL = "WRONG_PROTOCOL"
    BANNED = "BANNED"
    WRONG_PEER = "WRONG_PEER"
    WRONG_LIBP2P = "WRONG_LIBP2P"
    BAD_ADDRESS = "BAD_ADDRESS"
    TIMED_OUT = "TIMED_OUT"
    TOO_MANY_STREAMS = "TOO_MANY_STREAMS"
    STREAM_ENDED = "STREAM_ENDED"
    STREAM_LOST = "STREAM_LOST"
    FRAME_TOO_LARGE = "FRAME_TOO_LARGE"
    FRAME_TRUNCATED = "FRAME_TRUNCATED"
    FRAME_SLOW = "FRAME_SLOW"
    NETWORK_FAILED = "NETWORK_FAILED"
    # runtime and API
    NOT_FOUND = "NOT_FOUND"
    AMBIGUOUS = "AMBIGUOUS"
    NOT_IN_CUSTODY = "NOT_IN_CUSTODY"
    HEAD_REFUSED = "HEAD_REFUSED"
    REGISTRATION_CLOSED = "REGISTRATION_CLOSED"
    INVITE_REFUSED = "INVITE_REFUSED"
    DOMAIN_NOT_PROVEN = "DOMAIN_NOT_PROVEN"
    NOT_ALLOWED = "NOT_ALLOWED"
    BAD_REQUEST = "BAD_REQUEST"
    TOO_MANY_REQUESTS = "TOO_MANY_REQUESTS"
    STOPPING = "STOPPING"
    SETTLING = "SETTLING"
    BUSY = "BUSY"
    # API
    BAD_FIELD = "BAD_FIELD"
    NO_TOKEN = "NO_TOKEN"  # noqa: S105 # a name, not a secret
    TOKENS_DAMAGED = "TOKENS_DAMAGED"
    WRONG_HOST = "WRONG_HOST"
    NO_SUCH_METHOD = "NO_SUCH_METHOD"
    BODY_TOO_LARGE = "BODY_TOO_LARGE"
    WRONG_CONTENT_TYPE = "WRONG_CONTENT_TYPE"
    TOO_SLOW = "TOO_SLOW"
    INTERNAL = "INTERNAL"


EXPLAINED: dict[NodeCode, tuple[str, str]] = {
    # base
    NodeCode.LOCKED: (
        "another process works on this data directory",
        "stop that process, or name another directory",
    ),
    NodeCode.NOT_INITIALISED: ("the directory holds no instance", "run `folkmoot init`"),
    NodeCode.BAD_SETTINGS: (
        "a setting is unknown, of the wrong type or out of its range",
        "correct it; docs/reference/settings.md lists all",
    ),
    NodeCode.ALREADY_INITIALISED: (
        "the directory holds something already; nothing of it was touched",
        "run what is there, or name another directory with --data",
    ),
    NodeCode.GENESIS_DAMAGED: (
        "genesis.msgpack is not what a founding wrote",
        "take the file from another instance of the realm, or from a backup",
    ),
    NodeCode.GENESIS_OTHER_VERSION: (
        "genesis.msgpack is sound, but its charter is of another version of folkmoot",
        "run the version that founded the realm, or found a new one with `folkmoot init`",
    ),
    NodeCode.NOT_WRITTEN: (
        "a file or directory could not be written; nothing is left half done",
        "check your rights and the room on the disk",
    ),
    # store
    NodeCode.STORE_FAILED: (
        "the disk is full, or the database cannot be read or written",
        "make room or repair the disk, then start again; nothing acknowledged is lost",
    ),
    NodeCode.STORE_NEWER: (
        "a later version of folkmoot has written this database",
        "run that version; going back needs the backup from before the upgrade",
    ),
    NodeCode.STORE_OF_ANOTHER_REALM: (
        "the database belongs to another realm than the genesis beside it",
        "put back the files that belong together",
    ),
    NodeCode.STORE_UNKNOWN: (
        "the file is not a database that folkmoot has made",
        "name the right directory, or put back the database from a backup",
    ),
    NodeCode.STORE_DAMAGED: (
        "something in the database is not what was written",
        "run `folkmoot doctor`; it tells what is damaged and what to do",
    ),
    NodeCode.WRITE_REFUSED: (
        "what was to be stored breaks a rule of the database; nothing of it was stored",
        "report it with the output of `folkmoot doctor`: this should not happen",
    ),
    # keys
    NodeCode.WRONG_PASSPHRASE: ("the passphrase does not open the keys", "try again"),
    NodeCode.KEY_FILE_DAMAGED: (
        "a key file is not what was written",
        "put back its backup",
    ),
    NodeCode.KEY_COST: (
        "a key file asks for less or more of Argon2id than is allowed",
        "put back its backup; somebody has changed it",
    ),
    NodeCode.KEY_NOT_KEPT: (
        "the keystore does not hold this key",
        "name an identity that is kept here, or import its keys",
    ),
    NodeCode.KEY_WOULD_BE_LOST: (
        "the keystore holds other keys of this identity",
        "pass all its seeds by key_index, those that are kept first",
    ),
    NodeCode.KEYS_EXPOSED: (
        "others than the owner have rights on key files, tokens or a passphrase file",
        (
            "take them away with `chmod`; a passphrase that others could read is changed by "
            "`folkmoot keys passphrase`, tokens are made anew"
        ),
    ),
    NodeCode.KEYSTORE_MISSING: (
        "the directory holds no key files",
        "run `folkmoot init`, or put back the backup of the keys",
    ),
    NodeCode.KEYSTORE_EXISTS: ("a keystore is there already", "unlock it, or name another place"),
    NodeCode.KEYSTORE_CHANGED: (
        "another process has changed the passphrase since the keys were unlocked",
        "unlock the keystore again; start a node anew, with the new passphrase",
    ),
    NodeCode.KEYSTORE_NEWER: (
        "a later version of folkmoot has written a key file",
        "run that version",
    ),
    NodeCode.KEYSTORE_FAILED: (
        "key files could not be read or written, or memory is short",
        "make room, or correct the rights on the directory, and try again",
    ),
    NodeCode.BAD_OPENSSH_KEY: (
        "the file is no Ed25519 key of OpenSSH, is damaged, or holds another key",
        "take the right file and its passphrase",
    ),
    NodeCode.BAD_PASSPHRASE: (
        "a passphrase is empty, too long, of more than one line, or was not repeated alike",
        "give one line of 1 to 1,024 bytes",
    ),
    NodeCode.NO_PASSPHRASE: (
        "there is no terminal to ask at, and no file or descriptor was named",
        "name a passphrase file, a descriptor or a systemd credential",
    ),
    # network
    NodeCode.NOT_BOUND: (
        "the address is in use or is not one of this machine",
        "choose another address in folkmoot.toml",
    ),
    NodeCode.UNREACHABLE: (
        "nobody answers there, or another identity does",
        "check the address and that the peer runs",
    ),
    NodeCode.NOT_A_PEER: (
        "the caller's key is no member's of this realm",
        (
            "run a member from its own data directory: the members of a realm are those of its "
            "genesis, and this version adds none"
        ),
    ),
    NodeCode.NO_HELLO: (
        "the peer used another protocol before it said hello",
        "say hello on each new connection first",
    ),
    NodeCode.WRONG_REALM: (
        "the peer belongs to another realm",
        "connect to an instance of your own realm",
    ),
    NodeCode.WRONG_CHARTER: (
        "the peer founds on another charter of a realm of this name",
        "compare the genesis files of both",
    ),
    NodeCode.WRONG_PROTOCOL: (
        "the two versions share no protocol",
        "upgrade the older of the two",
    ),
    NodeCode.BANNED: (
        "the peer broke the rules too often",
        "wait until the ban ends; `folkmoot peer why` shows the reasons",
    ),
    NodeCode.WRONG_PEER: (
        "another identity answers at this address",
        "ask the peer's operator for its address; somebody may stand in between",
    ),
    NodeCode.WRONG_LIBP2P: (
        "faults of libp2p are patched inside, so one exact version is needed",
        "install the version that the lock file names",
    ),
    NodeCode.BAD_ADDRESS: (
        "it is no multiaddr of TCP with a peer id",
        "write it as the other node's `address.json` shows it",
    ),
    NodeCode.TIMED_OUT: ("the peer did not answer in time", "try again a little later"),
    NodeCode.TOO_MANY_STREAMS: (
        "as many streams with this peer are open as are allowed",
        "close some, or use one stream for many questions",
    ),
    NodeCode.STREAM_ENDED: ("the peer closed the stream", "open another if there is more to say"),
    NodeCode.STREAM_LOST: ("the stream or its connection broke", "connect and open it again"),
    NodeCode.FRAME_TOO_LARGE: (
        "a frame holds at most 256 KiB, a gossip payload 64 KiB",
        "send it in parts",
    ),
    NodeCode.FRAME_TRUNCATED: ("the stream ended inside a frame", "open the stream again"),
    NodeCode.FRAME_SLOW: ("a frame took longer than its deadline", "open the stream again"),
    NodeCode.NETWORK_FAILED: (
        "the libp2p host stopped by itself",
        "start the node again and report what the log says",
    ),
    # runtime and API
    NodeCode.NOT_FOUND: ("nothing here has this name", "list what there is"),
    NodeCode.AMBIGUOUS: ("several things here have names that begin so", "give more digits"),
    NodeCode.NOT_IN_CUSTODY: (
        "this instance does not keep the agent's key",
        "sign the record yourself and post it to /v1/records",
    ),
    NodeCode.HEAD_REFUSED: (
        "a trust head of another realm is not what it should be, or older than the one held",
        "do what the error says; compare realm and key with that realm's operator",
    ),
    NodeCode.REGISTRATION_CLOSED: (
        "this instance takes no registrations",
        "register with another instance, or ask this one's operator",
    ),
    NodeCode.INVITE_REFUSED: (
        "registration needs an invite here, and the code is missing, unknown, expired or used up",
        "ask the agent that invited you for a new one",
    ),
    NodeCode.DOMAIN_NOT_PROVEN: (
        "the domain does not show that it belongs to this operator",
        "put the operator's id into the well-known file that the error names, then try again",
    ),
    NodeCode.NOT_ALLOWED: (
        "the token does not allow this",
        "use a token with the scope that the error names",
    ),
    NodeCode.BAD_REQUEST: (
        "not JSON or msgpack, too long a query, a body where none is taken, or a name that is none",
        "send what the reference says of this address; the error names what was wrong",
    ),
    NodeCode.TOO_MANY_REQUESTS: ("the caller's bucket is empty", "wait as long as it says"),
    NodeCode.STOPPING: ("the node is shutting down", "try again when it is back"),
    NodeCode.SETTLING: (
        "after a restart the instance signs nothing until a quorum has told what it has seen of it",
        "wait until the node is ready; `folkmoot status` says what it waits for",
    ),
    NodeCode.BUSY: ("the node has more work than room", "try again a little later"),
    # API
    NodeCode.BAD_FIELD: (
        "a field of the request is missing, unknown, or not what it may be",
        "correct the field that the error names",
    ),
    NodeCode.NO_TOKEN: (
        "this needs a token, and none that is valid here came with the request",
        "send `Authorization: Bearer fm_…`; an operator makes tokens by command line",
    ),
    NodeCode.TOKENS_DAMAGED: (
        "the file of tokens is not what was written",
        (
            "put back its backup; or remove tokens.json and operator.token and start the node again, "
            "which makes a new operator's token, and make those of the agents anew"
        ),
    ),
    NodeCode.WRONG_HOST: (
        "its header Host names another host than this instance",
        "ask by address or as localhost; behind a proxy, set http_names to its host name",
    ),
    NodeCode.NO_SUCH_METHOD: (
        "this address exists, but not for this method",
        "use a method that the header Allow names",
    ),
    NodeCode.BODY_TOO_LARGE: (
        "the request is larger than this address takes",
        "send less at a time",
    ),
    NodeCode.WRONG_CONTENT_TYPE: (
        "the body's content type is not one that this address takes",
        "send application/json, or what the reference names",
    ),
    NodeCode.TOO_SLOW: ("the body did not arrive in time", "send it at once"),
    NodeCode.INTERNAL: (
        "this node has a bug",
        "report it with the time and the address; nothing acknowledged is lost",
    ),
}
"""What each code means, and what to do."""


class NodeError(Exception):
    """What happened, why, what to do; and until when to wait, where waiting helps."""

    def __init__(
        self, what: str, *, why: str, fix: str, code: NodeCode, retry_at: Millis | None = None
    ) -> None:
        """Keep the parts; `str()` joins them into one line. `retry_at` is Unix time in ms."""
        super().__init__(f"{what}: {why}; {fix} [{code}]")
        self.what = what
        self.why = why
        self.fix = fix
        self.code = code
        self.retry_at = retry_at


class StoreError(NodeError):
    """The database refuses or fails."""


class KeystoreError(NodeError):
    """A key file, or the passphrase to it."""


class NetworkError(NodeError):
    """A socket, a peer or a stream."""


class SettingsError(NodeError):
    """folkmoot.toml or the environment."""


class LockedError(NodeError):
    """Another process holds the data directory."""


class RequestError(NodeError):
    """A caller asked for what cannot be done."""
