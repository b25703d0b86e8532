import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from federation.admission import work_bytes
from federation.core import FederationError
from federation.records import Delegate, Role, verify_record
from node.base.errors import LockedError, NodeCode, NodeError
from node.cli.errors import Code, CommandError
from node.cli.register_home import Home, Registrant, held
from node.keys import Keystore
from node.minting import saved_bytes, start
from tests.builders import named
from tests.node.minting.works import blank

REALM = named("realm")
OTHER = named("other realm")
PASSPHRASE = b"secret"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with held(tmp_path / "mine") as home:
        yield home


@pytest.fixture
def keystore(home: Home) -> Keystore:
    return home.open(PASSPHRASE)


def made(
    home: Home, keystore: Keystore, name: str = "ada", role: Role = Role.OPERATOR
) -> Registrant:
    return home.make(keystore, REALM, role, name, at=1)


def chain(home: Home, one: Registrant) -> Path:
    return home.root / f"{one.id.hex()}.chain"


@contextmanager
def full_disk() -> Iterator[None]:
    """Let no file grow."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_who_was_made_is_found_again_with_the_same_keys(home: Home, keystore: Keystore) -> None:
    one = made(home, keystore)
    again = home.open(PASSPHRASE)

    assert home.find(again, REALM, Role.OPERATOR, "ada") == one
    assert again.signer(one.id).public == one.key
    assert home.find(again, REALM, Role.AGENT, "ada") is None
    assert home.find(again, REALM, Role.OPERATOR, "bob") is None


def test_everything_is_for_its_owner_only(home: Home, keystore: Keystore) -> None:
    one = made(home, keystore)
    home.keep_search(one.id, start(blank()))
    home.keep_proof(one.id, blank())

    for path in [home.root, *home.root.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("place", [0, 40, 100, -1, -40])
def test_a_chain_that_was_changed_is_refused(place: int, home: Home, keystore: Keystore) -> None:
    file = chain(home, made(home, keystore))
    raw = bytearray(file.read_bytes())
    raw[place] ^= 1
    file.write_bytes(bytes(raw))
    with pytest.raises(CommandError) as found:
        home.find(keystore, REALM, Role.OPERATOR, "ada")

    assert found.value.code == Code.NOT_READABLE


@pytest.mark.parametrize("content", [b"", b"short", bytes(200)])
def test_a_chain_that_was_cut_off_is_refused(
    content: bytes, home: Home, keystore: Keystore
) -> None:
    chain(home, made(home, keystore)).write_bytes(content)
    with pytest.raises(CommandError) as found:
        home.all(keystore, REALM)

    assert found.value.code == Code.NOT_READABLE


def test_a_chain_under_anothers_name_is_refused(home: Home, keystore: Keystore) -> None:
    one, other = made(home, keystore), made(home, keystore, "bob")
    chain(home, one).write_bytes(chain(home, other).read_bytes())
    with pytest.raises(CommandError) as found:
        home.all(keystore, REALM)

    assert found.value.code == Code.NOT_READABLE


def test_who_was_killed_before_its_keys_were_kept_is_made_anew(
    home: Home, keystore: Keystore
) -> None:
    lost = made(home, keystore)
    (home.root / "keys" / f"{lost.id.hex()}.key").unlink()
    again = home.open(PASSPHRASE)

    assert home.find(again, REALM, Role.OPERATOR, "ada") is None
    assert made(home, again).id != lost.id
    assert home.find(again, REALM, Role.OPERATOR, "ada") != lost


def test_a_keystore_that_was_only_begun_is_made(tmp_path: Path) -> None:
    (tmp_path / "mine" / "keys").mkdir(parents=True, mode=0o700)
    with held(tmp_path / "mine") as home:
        assert home.is_new
        home.open(PASSPHRASE)

        assert not home.is_new


def test_two_that_are_called_alike_are_not_guessed_about(home: Home, keystore: Keystore) -> None:
    made(home, keystore)
    made(home, keystore)
    with pytest.raises(NodeError) as found:
        home.find(keystore, REALM, Role.OPERATOR, "ada")

    assert found.value.code == NodeCode.AMBIGUOUS


def test_another_realm_than_that_of_the_directory_is_refused(
    home: Home, keystore: Keystore
) -> None:
    made(home, keystore)
    with pytest.raises(NodeError) as found:
        home.find(keystore, OTHER, Role.OPERATOR, "bob")

    assert found.value.code == NodeCode.WRONG_REALM


def test_an_operator_answers_for_an_agent_once(home: Home, keystore: Keystore) -> None:
    operator, agent = made(home, keystore), named("agent")
    once = home.delegate(keystore, operator, agent, at=2)
    twice = home.delegate(keystore, home.again(operator), agent, at=3)
    further = home.delegate(keystore, twice, named("agent", 2), at=4)
    word = once.delegate_of(agent)

    assert twice == once
    assert word is not None
    assert isinstance(word.body, Delegate)
    assert (word.seq, word.prev, word.author) == (1, operator.id, operator.id)
    verify_record(word, operator.key)
    assert [one.seq for one in further.records] == [0, 1, 2]
    assert home.again(operator) == further


def test_nothing_is_signed_twice_for_one_place(home: Home, keystore: Keystore) -> None:
    operator = made(home, keystore)
    home.delegate(keystore, operator, named("agent"), at=2)
    with pytest.raises(ValueError, match="grows from what its file holds"):
        home.delegate(keystore, operator, named("agent", 2), at=3)

    assert len(home.again(operator).records) == 2


def test_a_name_that_no_record_takes_makes_nobody(home: Home, keystore: Keystore) -> None:
    with pytest.raises(FederationError):
        home.make(keystore, REALM, Role.AGENT, "n" * 129, at=1)

    assert not keystore.identities()


def test_search_and_proof_are_kept_and_forgotten(home: Home) -> None:
    name = named("agent")
    assert home.search(name) == (None, False)
    assert home.proof(name) is None

    home.keep_search(name, start(blank()))
    assert home.search(name) == (start(blank()), False)

    home.keep_proof(name, blank())
    assert home.search(name) == (None, False)
    assert home.proof(name) == blank()

    home.forget(name)
    assert home.proof(name) is None
    home.forget(name)


@pytest.mark.parametrize(
    "content", [b"", b"junk", bytes(10**6), saved_bytes(start(blank()))[:-1], work_bytes(blank())]
)
def test_a_damaged_search_is_told_apart_from_none(content: bytes, home: Home) -> None:
    name = named("agent")
    (home.root / f"{name.hex()}.search").write_bytes(content)
    (home.root / f"{name.hex()}.proof").write_bytes(content[:-1])

    assert home.search(name) == (None, True)
    assert home.proof(name) is None


def test_what_is_no_file_is_damaged_and_hinders_nobody(home: Home) -> None:
    name = named("agent")
    (home.root / f"{name.hex()}.search").mkdir()

    assert home.search(name) == (None, True)
    home.forget(name)
    with pytest.raises(OSError, match="directory"):
        home.keep_search(name, start(blank()))


def test_a_directory_is_held_by_one(home: Home) -> None:
    with pytest.raises(LockedError) as found, held(home.root):
        pass

    assert "--keys" in found.value.fix


def test_a_place_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("something")
    with pytest.raises(NodeError) as found, held(tmp_path / "file"):
        pass

    assert found.value.code == NodeCode.NOT_WRITTEN
    assert "is a file" in found.value.why


def test_on_a_full_disk_no_directory_is_held(tmp_path: Path) -> None:
    with full_disk(), pytest.raises(NodeError) as found, held(tmp_path / "mine"):
        pass

    assert found.value.code == NodeCode.NOT_WRITTEN


def test_what_a_full_disk_left_half_written_is_cleared_away(home: Home) -> None:
    name = named("agent")
    with full_disk(), pytest.raises(OSError, match="large"):
        home.keep_search(name, start(blank()))
    assert len(list(home.root.glob("*.new"))) == 1
    home.forget(name)

    assert not list(home.root.glob("*.new"))


def test_on_a_full_disk_what_was_kept_stays(home: Home, keystore: Keystore) -> None:
    operator = made(home, keystore)
    home.keep_search(operator.id, start(blank()))
    with full_disk():
        with pytest.raises(NodeError) as found:
            home.delegate(keystore, operator, named("agent"), at=2)
        with pytest.raises(OSError, match="large"):
            home.keep_search(operator.id, start(blank(key=2)))
        with pytest.raises(NodeError):
            made(home, keystore, "bob")

    assert found.value.code == NodeCode.NOT_WRITTEN
    assert home.again(operator) == operator
    assert home.search(operator.id) == (start(blank()), False)
    assert home.all(keystore, REALM) == [operator]
