"""What may stand at the top, how long a file may be, and which file has which test."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

TOP = {
    "LICENSE",
    "Makefile",
    "README.md",
    "benchmarks",
    "deploy",
    "docs",
    "federation",
    "node",
    "pyproject.toml",
    "tests",
}
BUILT = {"build", "dist"}
"""Made by tools, never committed."""

LONG = 400
TOO_LONG = 500

# Modules whose behaviour is tested elsewhere, with the reason. An entry that is no longer needed
# fails a test below, so the table only shrinks by itself.
TESTED_ELSEWHERE: dict[str, str] = {
    "federation/codec/limits.py": "numbers only; test_canonical and test_faults meet each limit",
    "federation/charter/units.py": "types of fields; test_schema and test_ranges meet each range",
    "federation/charter/findings.py": "the form of a finding; test_check makes one of each code",
}

# Tests that tell one story through many modules.
ACROSS: dict[str, str] = {
    "tests/federation/protocol/test_fates.py": "what becomes of a record, in every arrival order",
    "tests/federation/protocol/test_member_counts.py": "rounds with 1, 2, 3, 4 and 7 operators",
    "tests/federation/protocol/test_reckoning_outside.py": "trust that the shell reckons",
    "tests/federation/protocol/test_proving_outside.py": "proofs that the shell verifies",
    "tests/federation/protocol/test_recovery.py": "stolen and recovered keys, through cuts",
    "tests/federation/protocol/test_small_communities.py": "the worked cases of the design",
    "tests/federation/protocol/test_takedown.py": "dropping a text changes no digest",
    "tests/federation/trust/test_bit_identity.py": "the same bits on every machine",
    "tests/federation/trust/test_sybil_bound.py": "the theorem, against attacks",
}


def modules(package: str) -> list[Path]:
    found = (path.relative_to(ROOT) for path in sorted((ROOT / package).rglob("*.py")))
    return [path for path in found if path.name != "__init__.py"]


def mirror_of(module: Path) -> Path:
    return Path("tests") / module.with_name(f"test_{module.name}")


def test_nothing_else_stands_at_the_top() -> None:
    names = {path.name for path in ROOT.iterdir()}
    visible = {name for name in names if not name.startswith((".", "__")) if name not in BUILT}

    assert {name for name in visible if not name.endswith(".egg-info")} == TOP


def test_no_python_file_is_too_long() -> None:
    sizes = {
        str(path): len((ROOT / path).read_text(encoding="utf-8").splitlines())
        for package in ("federation", "node", "tests", "benchmarks")
        for path in modules(package)
    }
    for path, size in sorted(sizes.items()):
        if LONG < size <= TOO_LONG:
            print(f"long: {path} has {size} lines; split it along a noun")  # noqa: T201

    assert {path: size for path, size in sizes.items() if size > TOO_LONG} == {}


def test_every_federation_module_has_its_test_file() -> None:
    untested = {
        str(module) for module in modules("federation") if not (ROOT / mirror_of(module)).is_file()
    }

    assert untested - TESTED_ELSEWHERE.keys() == set()


def test_every_test_file_of_federation_has_its_module() -> None:
    mirrored = {mirror_of(module) for module in modules("federation")}
    tests = [path for path in modules("tests/federation") if path.name.startswith("test_")]

    def has_module(path: Path) -> bool:
        """Find the module of a test file, which may be split by topic (`test_log_texts.py`)."""
        stem = path.stem
        while stem != "test":
            if path.with_name(f"{stem}.py") in mirrored:
                return True
            stem = stem.rpartition("_")[0]
        return False

    strays = {str(path) for path in tests if not has_module(path)}

    assert strays == ACROSS.keys()


@pytest.mark.parametrize("name", sorted(TESTED_ELSEWHERE))
def test_an_exception_from_the_mirror_is_still_one(name: str) -> None:
    assert (ROOT / name).is_file()
    assert not (ROOT / mirror_of(Path(name))).exists()


PACKAGES = [
    path.parent.relative_to(ROOT)
    for package in ("federation", "node")
    for path in sorted((ROOT / package).rglob("__init__.py"))
]


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_every_package_says_in_its_map_what_is_inside(package: Path) -> None:
    tree = ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))
    rows = re.findall(r"^`(\w+)`", ast.get_docstring(tree) or "", re.MULTILINE)
    # A name with underscores around it, such as `__main__`, is Python's and explains itself.
    inside = {
        path.stem
        for path in (ROOT / package).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
        if not path.name.startswith("__")
    }

    assert rows, "there is no map"
    assert len(rows) == len(set(rows)), "a row stands twice"
    assert set(rows) - inside == set(), "the map names what is not there"
    assert inside - set(rows) == set(), "the map leaves out what is there"
