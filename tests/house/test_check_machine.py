"""`deploy/check-machine.sh` on machines that lack something, played by stubs on the PATH."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "deploy" / "check-machine.sh"
SHELL = shutil.which("sh") or "sh"

PYTHON = """#!{shell}
case "$2" in
    *sys.exit*) exit {unsupported} ;;
    *ensurepip*) exit {no_venv} ;;
    *sysconfig*) echo "{include}" ;;
    *) echo 3.12 ;;
esac
"""
COMPILER = """#!{shell}
read -r line <"$1"
case "$line" in
    *{missing}*) exit 1 ;;
esac
"""


class Machine:
    """A PATH with nothing on it but what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bin"
        self.include = folder / "include"
        self.path.mkdir()
        self.include.mkdir()
        (self.include / "Python.h").touch()
        for tool in ("mktemp", "rm", "ls"):
            (self.path / tool).symlink_to(shutil.which(tool) or tool)

    def put(self, name: str, text: str, **values: object) -> None:
        (self.path / name).write_text(text.format(shell=SHELL, **values))
        (self.path / name).chmod(0o755)

    def put_python(
        self, name: str = "python3.12", *, unsupported: int = 0, no_venv: int = 0, include: str = ""
    ) -> None:
        self.put(
            name,
            PYTHON,
            unsupported=unsupported,
            no_venv=no_venv,
            include=include or str(self.include),
        )

    def put_compiler(self, *, missing: str = "nothing") -> None:
        self.put("cc", COMPILER, missing=missing)

    def check(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 # our own script on a PATH of stubs
            [SHELL, str(SCRIPT), *arguments],
            env={"PATH": str(self.path), "TMPDIR": str(self.path.parent)},
            capture_output=True,
            text=True,
            check=False,
        )

    def lacks(self) -> set[str]:
        outcome = self.check()
        packages = self.check("--packages").stdout.split()
        assert outcome.returncode == 1
        assert outcome.stdout == ""
        assert f"--no-install-recommends {' '.join(packages)}\n" in outcome.stderr
        return set(packages)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_complete_machine_names_its_python_and_nothing_else(machine: Machine) -> None:
    machine.put_python()
    machine.put_compiler()
    outcome = machine.check()

    assert outcome.stdout == f"{machine.path}/python3.12\n"
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert machine.check("--packages").stdout == ""


def test_without_any_python_the_distribution_s_own_is_asked_for(machine: Machine) -> None:
    machine.put_compiler()

    assert machine.lacks() == {"python3", "python3-venv", "python3-dev"}


def test_a_python_of_another_version_is_passed_over(machine: Machine) -> None:
    machine.put_python("python3", unsupported=1)
    machine.put_compiler()

    assert "python3-venv" in machine.lacks()

    machine.put_python("python3.13")
    assert machine.check().stdout.endswith("/python3.13\n")


def test_a_missing_venv_module_is_named_with_the_version(machine: Machine) -> None:
    machine.put_python(no_venv=1)
    machine.put_compiler()

    assert machine.lacks() == {"python3.12-venv"}


def test_missing_headers_of_python_are_named_with_the_version(machine: Machine) -> None:
    machine.put_python(include="/nowhere")
    machine.put_compiler()

    assert machine.lacks() == {"python3.12-dev"}


def test_missing_headers_of_gmp_are_named(machine: Machine) -> None:
    machine.put_python()
    machine.put_compiler(missing="gmp.h")

    assert machine.lacks() == {"libgmp-dev"}


def test_a_compiler_that_cannot_compile_lacks_the_headers_of_c(machine: Machine) -> None:
    machine.put_python()
    machine.put_compiler(missing="stdio.h")

    assert machine.lacks() == {"libc6-dev"}


def test_a_missing_compiler_is_named(machine: Machine) -> None:
    machine.put_python()

    assert {"gcc", "libc6-dev"} <= machine.lacks()


def test_everything_missing_is_named_at_once(machine: Machine) -> None:
    assert {"python3", "python3-venv", "python3-dev", "gcc", "libc6-dev"} <= machine.lacks()


def test_nothing_is_left_behind(machine: Machine, tmp_path: Path) -> None:
    machine.put_python()
    machine.put_compiler()
    machine.check()

    assert {path.name for path in tmp_path.iterdir()} == {"bin", "include"}
