"""The cases of fresh.json: what each of q members held, by labels; an id is made of its label.

Before a value is made of witnesses each of them says what it holds: which of too many records it
names then is in the cases of holdings and backlogs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from federation.certificates import quorum
from federation.crypto import plain_hash
from tests.vectors.agreement_rows import Row, shown
from tests.vectors.vector_bodies import fixed

PLAIN = ("fast", "deliberate", "commit", "commit2", "decide", "contest")
OFFICES = ("unseal", "turn2", "turn3", "turn4", "turn5", "rule", "appeal", "admin", "assess")
"""Phases in which one record of an agent counts: the earliest of its chain."""
VOIDABLE = ("commit", "rule", "assess")
FORKED = ("turn3", "rule", "admin")
"""Of these the cases have a forked chain: two records of one agent at one place."""


def label(name: str) -> str:
    """Write the id that a label stands for."""
    return f"@record {name}"


def _size(n: int) -> dict[str, int]:
    found = quorum(n, three_available=False)
    return {"f": found.f, "q": found.q}


# Lists.


def listing(
    name: str,
    phase: str,
    views: Sequence[str],
    records: Mapping[str, Mapping[str, object]],
    *,
    n: int = 4,
    late: int = 0,
    members: Sequence[int] | None = None,
    most: int = 900,
    each: int = 5,
) -> Row:
    """Write a case: witness i holds the records of view i; the first `late` of them say late.

    A record is of a voter of its own, qualifies, and is by a reviewer, unless told otherwise.
    """
    return {
        "name": name,
        "phase": phase,
        "round": "@round",
        **_size(n),
        "most": most,
        "each": each,
        "records": [
            {
                "id": label(one),
                "voter": f"@voter {fields.get('voter', one)}",
                "seq": fields.get("seq", 9),
                "qualifies": fields.get("qualifies", True),
                "reviewer": fields.get("reviewer", True),
            }
            for one, fields in records.items()
        ],
        "witnesses": [
            {
                "member": f"member {index if members is None else members[index]}",
                "ids": [label(one) for one in view.split()],
                "late": index < late,
            }
            for index, view in enumerate(views)
        ],
    }


def lists() -> Iterator[Row]:
    """Give the cases of lists."""
    three: dict[str, Mapping[str, object]] = {"a": {}, "b": {}, "c": {}}
    ann: dict[str, Mapping[str, object]] = {
        "a1": {"voter": "ann", "seq": 4},
        "a2": {"voter": "ann", "seq": 5},
        "a3": {"voter": "ann", "seq": 6},
        "b": {},
    }
    yield listing("one honest member names each", "fast", ["a b", "a", "b c"], three)
    yield listing("nothing is held", "deliberate", ["", "", ""], {})
    yield listing("alone, everything counts", "commit", ["a b c"], three, n=1)
    yield listing("two, one name is enough", "commit", ["a", "b"], three, n=2)
    yield listing("three, one name is enough", "commit", ["a", "b", ""], three, n=3)
    yield listing("seven, two names are too few", "fast", ["a b", "a b", "a", "", ""], three, n=7)
    yield listing("two witnesses of three", "commit", ["a", "a"], three)
    yield listing("four witnesses of three", "commit", ["a", "a", "a", "a"], three)
    yield listing("one member twice", "commit", ["a", "a", "a"], three, members=[0, 1, 0])

    yield listing("two commitments of one voter", "commit", ["a1 a2 b"] * 3, ann)
    yield listing("two commitments in the widened box", "commit2", ["a1 a2 b"] * 3, ann)
    yield listing("a second commitment too few know", "commit", ["a1 a2 b", "a1 b", "b"], ann)
    not_two = {**ann, "a2": {"voter": "ann", "qualifies": False}}
    yield listing("a second commitment that does not qualify", "commit", ["a1 a2"] * 3, not_two)
    yield listing("two reveals of one voter", "decide", ["a1 a2 a3 b"] * 3, ann)
    yield listing("two objections of one agent", "fast", ["a1 a2 b"] * 3, ann)
    yield listing(
        "arguments up to the cap, by place", "deliberate", ["a1 a2 a3 b"] * 3, ann, each=2
    )
    yield listing("two contests of one agent", "contest", ["a1 a2 b"] * 3, ann)

    yield listing("two seals of one agent", "seal", ["a1 a2 b"] * 3, ann)
    yield listing("a second seal too few know", "seal", ["a1 a2 b", "a1 b", "b"], ann)
    yield listing("a second seal that does not qualify", "seal", ["a1 a2"] * 3, not_two)
    forked = {**ann, "a1": {"voter": "ann", "seq": 8}, "a3": {"voter": "ann", "seq": 5}}
    for phase in OFFICES:
        words = "two branches of one chain" if phase in FORKED else "three records of one agent"
        held = forked if phase in FORKED else ann
        yield listing(f"{words} in {phase}", phase, ["a1 a2 a3 b"] * 3, held)
    yield listing("a first word too few know", "rule", ["a1 a2 b", "a2 b", "a2"], ann)
    yield listing("a first word that does not qualify", "admin", ["a2 a3"] * 3, not_two)

    crowd: dict[str, Mapping[str, object]] = {
        f"r{index}": {"reviewer": index % 2 == 0} for index in range(6)
    }
    everybody = " ".join(crowd)
    yield listing("reviewers first, then by hash", "commit", [everybody] * 3, crowd, most=2)
    yield listing("reviewers, then others by hash", "commit", [everybody] * 3, crowd, most=4)
    flood = {**crowd, "r6": {"voter": "r4"}}
    every_one = " ".join(flood)
    yield listing("two of one voter, capped by id", "fast", [every_one] * 3, flood, most=1)

    for phase in VOIDABLE:
        yield listing(f"one late witness of {phase}", phase, ["a", "a", "a"], three, late=1)
        yield listing(f"two late witnesses of {phase}", phase, ["a", "a", "a"], three, late=2)
    for phase in (*PLAIN, *OFFICES, "seal"):
        if phase not in VOIDABLE:
            yield listing(f"{phase} is never void", phase, ["a", "a", "a"], three, late=3)

    some = {"a": three["a"]}
    yield listing("a named record is not held", "commit", ["a b", "a b", "a"], some)
    yield listing("one that too few name is not missed", "commit", ["a b", "a", "a"], some)
    yield listing("void before anything is fetched", "commit", ["b", "b", "b"], some, late=2)
    refused = {"a": {"qualifies": False}, "b": {}}
    yield listing("what does not qualify", "commit", ["a b"] * 3, refused)


def holdings() -> Iterator[Row]:
    """Give the cases of what a member that holds qualifying records names of them."""
    held: dict[str, Mapping[str, object]] = {
        # Two branches of ann's chain, a newcomer's record, and one of an ordinary reviewer.
        "a1": {"voter": "ann", "seq": 8},
        "a2": {"voter": "ann", "seq": 4},
        "a3": {"voter": "ann", "seq": 4},
        "a4": {"voter": "ann", "seq": 6},
        "b": {},
        "c": {"reviewer": False},
    }
    for phase in (*PLAIN, *OFFICES, "seal"):
        case = listing(f"what a witness of {phase} names", phase, [], held, each=3)
        yield {name: case[name] for name in ("name", "phase", "round", "each", "records")}


def backlog(
    name: str,
    most: int,
    members: str = "",
    admitted: str = "",
    strangers: str = "",
    *,
    beacon: str = "beacon",
) -> Row:
    """Write a case: what a member holds of each author, as `author:sizes of its places`.

    At place p of an author stand the ids of its labels `author p.0`, `author p.1` and so on.
    """
    return {
        "name": name,
        "most": most,
        "beacon": f"@{beacon}",
        "members": [f"@{one.split(':')[0]}" for one in members.split()],
        "admitted": [f"@{one.split(':')[0]}" for one in admitted.split()],
        "held": dict(one.split(":") for one in f"{members} {admitted} {strangers}".split()),
    }


def held_by(case: Row) -> dict[bytes, list[list[bytes]]]:
    """Give the ids that a backlog stands for."""
    held = case["held"]
    assert isinstance(held, dict)
    return {
        fixed(author): [
            [fixed(f"{author} {place}.{rival}") for rival in range(int(size))]
            for place, size in enumerate(sizes)
        ]
        for author, sizes in held.items()
    }


def backlogs() -> Iterator[Row]:
    """Give the cases of what a member names of more than a witness can hold."""
    long = "1" * 30
    yield backlog("everything fits", 64, "i0:11", "a0:1121 a1:1", "s0:11")
    yield backlog("everybody has an even share", 12, "", f"a0:{long} a1:{long} a2:111 a3:1")
    for beacon in ("beacon", "another beacon"):
        name = f"what is left goes by {beacon}"
        yield backlog(name, 10, "", "a0:1111 a1:1111 a2:1111 a3:1111", beacon=beacon)
    yield backlog("a place is named whole or not", 8, "", "a0:4411 a1:1141")
    yield backlog("fewer ids than authors", 2, "", "a0:1 a1:1 a2:1 a3:1")
    crowd = " ".join(f"s{number}:11" for number in range(20))
    yield backlog("admitted authors before a crowd", 24, "", "a0:11111 a1:11111", crowd)
    yield backlog("an eighth stays free for strangers", 32, "", f"a0:{long} a1:{long}", crowd)
    admitted = " ".join(f"a{number}:1" for number in range(20))
    yield backlog("members before a crowd", 24, "i0:111 i1:11111", admitted, "s0:1 s1:1")
    yield backlog("a flood by a member", 32, f"i0:{long} i1:1", "a0:1 a1:11", "s0:1")
    yield backlog("nothing held", 8)


# Cuts.


@dataclass
class Book:
    """Chains of records by label; records of one author stand in one chain or on its branches."""

    rows: dict[str, dict[str, object]] = field(default_factory=dict)

    def chain(self, author: str, names: str, after: str | None = None) -> "Book":
        """Write records one after another."""
        for name in names.split():
            self.add(name, author, after)
            after = name
        return self

    def add(
        self,
        name: str,
        author: str,
        after: str | None,
        *,
        recovery: bool = False,
        picks: str | None = None,
    ) -> "Book":
        """Write one record."""
        before = self.rows.get(after or "")
        seq = 0 if before is None else int(str(before["seq"])) + 1
        self.rows[name] = {
            "id": label(name),
            "author": f"@{author}",
            "seq": seq,
            "prev": None if after is None else label(after),
            "is_recovery": recovery,
            "picks": None if picks is None else label(picks),
        }
        return self

    def cut(
        self,
        name: str,
        views: Sequence[str],
        *,
        last: Mapping[str, str] | None = None,
        unheld: str = "",
        **changes: object,
    ) -> Row:
        """Write a case: witness i holds the records of view i above the last positions."""
        start = {author: self.rows[head] for author, head in (last or {}).items()}
        case: dict[str, object] = {
            "name": name,
            "number": 41,
            "previous": "@cut 40",
            **_size(4),
            "last": [
                [f"@{author}", row["seq"], row["id"]]
                for author, row in sorted(start.items(), key=lambda one: fixed(one[0]))
            ],
            "promised": [],
            "records": [row for one, row in self.rows.items() if one not in unheld.split()],
            "witnesses": [
                {
                    "member": f"member {index}",
                    "operator": f"@member {index}",
                    "chains": self._chains(view, start),
                    "tick": False,
                    "world": "@world 40",
                    "secret": f"@secret {index}",
                    "next_hash": f"@next hash {index}",
                }
                for index, view in enumerate(views)
            ],
        }
        for path, value in changes.items():
            _change(case, path, value)
        return case

    def _chains(self, view: str, start: Mapping[str, Mapping[str, object]]) -> object:
        first = {str(row["author"]): int(str(row["seq"])) + 1 for row in start.values()}
        places: dict[str, dict[int, list[object]]] = {}
        for row in (self.rows[one] for one in view.split()):
            places.setdefault(str(row["author"]), {}).setdefault(
                int(str(row["seq"])) - first.get(str(row["author"]), 0), []
            ).append(row["id"])
        authors = {str(row["author"]): row["author"] for row in self.rows.values()}
        return [
            [authors[author], [levels[place] for place in sorted(levels)]]
            for author, levels in sorted(places.items())
        ]


def _change(case: dict[str, object], path: str, value: object) -> None:
    """Set a field of the case, or one of each witness from a list of values."""
    witnesses = case["witnesses"]
    assert isinstance(witnesses, list)
    if path in witnesses[0]:
        for witness, one in zip(witnesses, list(value), strict=True):  # type: ignore[call-overload]
            witness[path] = one
    else:
        case[path] = value


def cuts() -> Iterator[Row]:
    """Give the cases of cuts."""
    yield from _runs()
    yield from _forks()
    yield from _rest()


def _runs() -> Iterator[Row]:
    book = Book().chain("ann", "a0 a1 a2 a3").chain("bob", "b0 b1")
    everything = "a0 a1 a2 a3 b0 b1"
    yield book.cut("all chains move", [everything] * 3)
    yield book.cut("as far as two hold them", ["a0 a1 a2 a3", "a0 a1 b0", "b0 b1"])
    yield book.cut("from the last position", ["a2 a3 b0", "a2 b0", "a2"], last={"ann": "a1"})
    yield book.cut("nobody moves", ["", "", ""], last={"ann": "a3"})
    yield book.cut("a chain that one member holds", ["b0", "", ""])
    strangers = Book().chain("ann", "a0").chain("bob", "b0 b1", None)
    strangers.rows["b1"]["author"] = strangers.rows["a0"]["author"]
    claims = [["@bob", [[label("b0")], [label("b1")]]]]
    yield strangers.cut("a record in another's chain", [""] * 3, chains=[claims] * 3)
    yield book.cut("a named record is not held", ["a0 a1", "a0 a1", "a0"], unheld="a1")
    yield book.cut("one that too few name is not missed", ["a0 a1", "a0", "a0"], unheld="a1")


def _forks() -> Iterator[Row]:
    fork = Book().chain("ann", "a0 a1 x2 x3").chain("ann", "y2 y3", "a1")
    both = "a0 a1 x2 x3 y2 y3"
    yield fork.cut("a run ends before a fork", [both] * 3)
    yield fork.cut("a branch that two do not hold", [both, "a0 a1 x2 x3", "a0 a1 x2"])
    yield fork.cut("a branch already taken", ["x3 y3"] * 3, last={"ann": "x2"})
    splice = Book().chain("ann", "a0 x1 x2").chain("ann", "y1 y2", "a0")
    # Two know x1 and two know y2, but nobody named both halves of one branch.
    yield splice.cut("two halves of two branches", ["a0 x1 x2", "a0 x1 y1 y2", "a0 y1 y2"])
    late = Book().chain("ann", "a0 x1 x2").chain("ann", "y1 y2", "a0")
    views = ["a0 x1 x2", "a0 x1 x2", "a0 y1 y2"]
    yield late.cut("a branch of one witness does not hinder", views)
    views = ["a0 x1 y2", "a0 x1 y2", "a0 x1 x2"]
    yield late.cut("a place of another branch above the run", views)

    won = Book().chain("ann", "a0 a1 x2").add("r2", "ann", "a1", recovery=True)
    won.chain("ann", "r3", "r2")
    yield won.cut("a recovery wins", ["a0 a1 x2 r2 r3"] * 3)
    yield won.cut("a recovery too few know", ["a0 a1 x2 r2 r3", "a0 a1 x2", "a0 a1 x2"])
    two = Book().chain("ann", "a0").add("r1", "ann", "a0", recovery=True)
    two.add("s1", "ann", "a0", recovery=True)
    yield two.cut("two recoveries", ["a0 r1 s1"] * 3)
    two.add("s2", "ann", "s1", picks="s1")
    yield two.cut("two recoveries, and a pick", ["a0 r1 s1 s2"] * 3)

    yield _picking("x1").cut("a rotation picks its branch", ["a0 x1 x2 x3 y1 y2"] * 3)
    yield _picking("x2").cut("a pick above the fork", ["a0 x1 x2 x3 y1 y2"] * 3)
    yield _picking("a0").cut("a pick below the fork settles nothing", ["a0 x1 x2 x3 y1 y2"] * 3)
    few = ["a0 x1 x2 x3 y1 y2", "a0 x1 x2 y1 y2", "a0 x1 x2 y1 y2"]
    yield _picking("x1").cut("a pick too few know", few)
    rivals = _picking("x1").add("y3", "ann", "y2", picks="y1")
    yield rivals.cut("both branches are picked", ["a0 x1 x2 x3 y1 y2 y3"] * 3)
    other = Book().chain("ann", "a0 x1 x2").chain("ann", "y1", "a0")
    other.add("x3", "ann", "x2", picks="y1")
    yield other.cut("a rotation picks the other branch", ["a0 x1 x2 x3 y1"] * 3)
    again = _picking("x1").chain("ann", "u4 u5", "x3").chain("ann", "v4", "x3")
    yield again.cut("a second fork above a pick", ["a0 x1 x2 x3 y1 y2 u4 u5 v4"] * 3)


def _picking(branch: str) -> Book:
    """Fork after a0 into x1 x2 and y1 y2; x3 is a rotation that picks a record."""
    book = Book().chain("ann", "a0 x1 x2").chain("ann", "y1 y2", "a0")
    return book.add("x3", "ann", "x2", picks=branch)


def _rest() -> Iterator[Row]:
    book = Book().chain("ann", "a0")
    view = ["a0"] * 3
    yield book.cut("a tick that two say", view, tick=[True, True, False])
    yield book.cut("a tick that one says", view, tick=[True, False, False])
    here, there = "@world 40", "@another world"
    yield book.cut("one member diverged", view, world=[here, there, here])
    third = "@a third world"
    yield book.cut("three worlds", view, world=[here, there, third])
    promised = [
        [f"@member {index}", shown(plain_hash(fixed(secret)))]
        for index, secret in ((0, "secret 0"), (1, "another secret"), (3, "secret 3"))
    ]
    yield book.cut("secrets that were promised", view, promised=promised)
    yield book.cut("two witnesses of three", ["a0"] * 2)
    yield book.cut("one member twice", view, operator=["@member 0"] * 3, member=["m"] * 3)
    yield book.cut("alone", ["a0"], f=0, q=1)
    yield book.cut("two worlds of three strict members", view, f=0, q=3, world=[here, there, here])
