"""Make `data/cruxeval.msgpack.xz` from a folder with `items.jsonl`, `preds.csv`, `models.csv`.

    python -m node.demo.make_cruxeval FOLDER [FILE]

The rule it enforces: answers that are the same Python value become the same text, and answers
that are different values never do. Texts are read with `ast.literal_eval`, which builds
literals and runs nothing; what is not a literal stays as it was written. The same folder gives
the same bytes with the same version of liblzma, and the same content with any.
"""

import ast
import csv
import json
import lzma
import re
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from node.demo.cruxeval import DATA, PackedItem, PackedSet

# The words around the snippet are the same for all questions; only what is in between is kept.
_QUESTION: Final = re.compile(
    r".*\[PYTHON\]\n(?P<code>.*)\nassert (?P<call>f\(.*\)) == \?\?\n\[/PYTHON\]", re.DOTALL
)

_NOT_A_LITERAL: Final = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
"""What `ast.literal_eval` raises for texts that are not literals, or nest too deep."""


def sense(text: str) -> str:
    """Give a text that is equal for two answers exactly when they are the same Python value.

    Types count: `1`, `1.0` and `True` differ, so do a list and a tuple. The order of a set or
    of a dict does not count, as it does not in Python. What is not a literal is its own sense.
    """
    try:
        with warnings.catch_warnings():
            # A model may write '\\d', which Python reads and warns about; that is its business.
            warnings.simplefilter("ignore")
            return _canonical(ast.literal_eval(text))
    except _NOT_A_LITERAL:
        # No canonical text starts with a blank, so this can never equal the sense of a literal.
        return " " + text.strip()


def pack_item(question: str, key: str, truth: str, answers: Sequence[str]) -> PackedItem:
    """Pack one question; an empty answer is none. Raises ValueError for an unknown layout.

    A value that was spelt in several ways keeps the spelling of the truth, else the most
    frequent one, else (of equals) the first in the order of the models.
    """
    match = _QUESTION.fullmatch(question)
    if match is None:
        raise ValueError(f"question {key} has another layout than the other questions")
    senses = [sense(answer) if answer else None for answer in answers]
    spellings: dict[str, Counter[str]] = {}
    for meaning, answer in zip(senses, answers, strict=True):
        if meaning is not None:
            spellings.setdefault(meaning, Counter())[answer] += 1
    texts = {meaning: count.most_common(1)[0][0] for meaning, count in spellings.items()}
    texts[sense(truth)] = truth
    order = list(texts)
    return PackedItem(
        id=key,
        code=match["code"],
        call=match["call"],
        answers=tuple(texts.values()),
        truth=order.index(sense(truth)),
        picks=bytes(0 if meaning is None else 1 + order.index(meaning) for meaning in senses),
    )


def pack(folder: Path) -> PackedSet:
    """Read the three source files of `folder`; they must agree on the models and the items."""
    with (folder / "models.csv").open(newline="", encoding="utf-8") as file:
        models = tuple((row["model"], row["family"]) for row in csv.DictReader(file))
    with (folder / "preds.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    if header != ["id", "answer", *(name for name, _ in models)]:
        raise ValueError("the columns of preds.csv are not the models of models.csv")
    lines = (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()
    items = []
    for line, (key, truth, *answers) in zip(lines, rows, strict=True):
        item = json.loads(line)
        if (item["id"], item["answer"]) != (key, truth):
            raise ValueError(f"items.jsonl and preds.csv disagree about {key}")
        items.append(pack_item(item["question"], key, truth, answers))
    return PackedSet(models=models, items=tuple(items))


def main(arguments: Sequence[str]) -> int:
    """Pack a source folder into the shipped file, or into a second argument; give the exit code."""
    match arguments:
        case [folder]:
            target = DATA
        case [folder, name]:
            target = Path(name)
        case _:
            sys.stderr.write("usage: python -m node.demo.make_cruxeval FOLDER [FILE]\n")
            return 2
    raw = msgspec.msgpack.encode(pack(Path(folder)))
    target.write_bytes(lzma.compress(raw, preset=9 | lzma.PRESET_EXTREME))
    return 0


def _canonical(value: object) -> str:
    """Print a value with its types, and with unordered things in one order."""
    match value:
        case list() | tuple():
            inside = [_canonical(one) for one in value]
        case set():
            inside = sorted(_canonical(one) for one in value)
        case dict():
            inside = sorted(f"{_canonical(key)}:{_canonical(one)}" for key, one in value.items())
        case _:
            return f"{type(value).__name__} {value!r}"
    return f"{type(value).__name__}[{','.join(inside)}]"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
