"""Random loop nests: accesses, reads and conflicts are those of the program run in Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random
from typing import Final, NamedTuple, TypeAlias

from indexing import IndexingMap, IndexRelation, Variable
from ops.affine import ArrayAccess, FunctionAccesses, read_accesses
from ops.rules.rule import Unknown
from simplifier import Interval

Point: TypeAlias = "tuple[int, ...]"
Pairs: TypeAlias = "set[tuple[Point, Point]]"

SIZE: Final = 5
"""The value of the parameter ``%n``."""

LETTERS: Final = "ijk"


class Affine(NamedTuple):
    """A sum of multiples of the variables of loops, and of ``%n``, and a constant."""

    factors: tuple[int, ...]
    of_size: int
    constant: int

    def value(self, point: Sequence[int]) -> int:
        """The value in an iteration."""
        terms = sum(by * at for by, at in zip(self.factors, point, strict=False))
        return terms + self.of_size * SIZE + self.constant

    def text(self) -> str:
        """The expression in MLIR."""
        terms = [f"%{LETTERS[at]} * {by}" for at, by in enumerate(self.factors) if by]
        terms += [f"symbol(%n) * {self.of_size}"] * bool(self.of_size)
        return " + ".join([*terms, str(self.constant)])


class Program(NamedTuple):
    """Loops with their bounds and steps, a condition of the innermost, and accesses there."""

    bounds: tuple[tuple[Affine, Affine, int], ...]
    condition: Affine
    reads: tuple[Affine, ...]
    writes: tuple[Affine, ...]
    outer: Affine
    """A load around the innermost loop."""

    def text(self) -> str:
        """The function in MLIR, whose bounds are maps of the loops around."""
        lines = ["func.func @f(%a: memref<?xf32>, %n: index) {"]
        names = [f"%{letter}" for letter in LETTERS]
        for depth, (lower, upper, step) in enumerate(self.bounds):
            if depth == len(self.bounds) - 1:
                lines.append(f"%0 = affine.load %a[{self.outer.text()}] : memref<?xf32>")
            around = names[:depth]
            low, high = (_map(each, around) for each in (lower, upper))
            lines.append(f"affine.for {names[depth]} = {low} to {high} step {step} {{")
        around = names[: len(self.bounds)]
        holds = f"affine_set<{_head(around)} : ({_plain(self.condition)} >= 0)>"
        lines.append(f"affine.if {holds}({', '.join(around)})[%n] {{")
        lines += [f"%1 = affine.load %a[{each.text()}] : memref<?xf32>" for each in self.reads]
        lines += [f"affine.store %1, %a[{each.text()}] : memref<?xf32>" for each in self.writes]
        return "\n".join([*lines, "}", *["}"] * len(self.bounds), "return", "}"])

    def iterations(self, depth: int) -> Iterator[Point]:
        """The values of the outer loops."""
        points: list[Point] = [()]
        for lower, upper, step in self.bounds[:depth]:
            points = [
                (*point, at)
                for point in points
                for at in range(lower.value(point), upper.value(point), step)
            ]
        yield from points

    def inner(self) -> list[Point]:
        """The iterations in which the condition holds."""
        return [
            each for each in self.iterations(len(self.bounds)) if self.condition.value(each) >= 0
        ]


def _head(around: Sequence[str]) -> str:
    return f"({', '.join(name[1:] for name in around)})[n]"


def _plain(form: Affine) -> str:
    return form.text().replace("%", "").replace("symbol(n)", "n")


def _map(form: Affine, around: Sequence[str]) -> str:
    return f"affine_map<{_head(around)} -> ({_plain(form)})>({', '.join(around)})[%n]"


def _program(random: Random) -> Program:
    depth = random.choice([1, 2, 2, 3])

    def affine(loops: int, span: int = 2, of_size: Sequence[int] = (0,)) -> Affine:
        factors = tuple(random.randint(-1, 2) for _ in range(loops))
        return Affine(factors, random.choice(of_size), random.randint(-span, span))

    bounds = tuple(
        (
            affine(loops),
            affine(loops, 3, (0, 1, 1))._replace(constant=2),
            random.choice([1, 1, 2, 3]),
        )
        for loops in range(depth)
    )
    counts = random.randint(1, 2), random.randint(1, 2)
    reads, writes = (tuple(affine(depth, 3, (0, 0, 1)) for _ in range(count)) for count in counts)
    return Program(bounds, affine(depth, 4), reads, writes, affine(depth - 1))


def _points(relation: IndexingMap) -> Pairs:
    known = {each.name: SIZE for each in relation.parameters if each.name == "n"}
    whole = relation.substitute(known).simplify()
    dims, ranges = ([*map(_near, variables)] for variables in (whole.dims, whole.ranges))
    found = whole.replace(dims=dims, ranges=ranges).points()
    return {(tuple(dims), tuple(map(int, results))) for dims, _, _, results in found}


def _near(variable: Variable) -> Variable:
    """The variable with ends, if only constraints limit it."""
    return Variable(variable.bounds.intersect(Interval(-99, 99)), variable.given_name)


def _pairs(relation: IndexRelation[IndexingMap] | Unknown) -> Pairs:
    assert isinstance(relation, IndexRelation)
    return {pair for each in relation.maps for pair in _points(each)}


def _of_access(access: ArrayAccess) -> Pairs:
    assert isinstance(access.map, IndexingMap)
    return _points(access.map)


def _needed(program: Program, write: Affine) -> Pairs:
    """Elements that are written, with those that are read in the same iterations."""
    found: Pairs = set()
    for point in program.inner():
        element = (write.value(point),)
        found |= {(element, (read.value(point),)) for read in program.reads}
        found.add((element, (program.outer.value(point),)))
    return found


def _meeting(program: Program, depth: int) -> Pairs:
    """Iterations that meet in an element which the first one writes."""
    wide = [
        (point[:depth], each.value(point)) for point in program.inner() for each in program.reads
    ]
    writes = [
        (point[:depth], each.value(point)) for point in program.inner() for each in program.writes
    ]
    last = len(program.bounds) - 1
    if depth <= last:
        wide += [(point[:depth], program.outer.value(point)) for point in program.iterations(last)]
    return {
        (one, other)
        for (one, element), (other, same) in product(writes, [*wide, *writes])
        if element == same and one[:-1] == other[:-1] and one != other
    }


def _answers(program: Program, function: FunctionAccesses) -> Mapping[str, tuple[Pairs, Pairs]]:
    """What is found and expected, by question."""
    outer, *inside = function.accesses
    whole = program.iterations(len(program.bounds) - 1)
    found: dict[str, tuple[Pairs, Pairs]] = {}
    found["outer"] = _of_access(outer), {(at, (program.outer.value(at),)) for at in whole}
    forms = [*program.reads, *program.writes]
    for access, form in zip(inside, forms, strict=True):
        name = f"line {access.line}"
        found[name] = _of_access(access), {(at, (form.value(at),)) for at in program.inner()}
    for access, form in zip(inside[len(program.reads) :], program.writes, strict=True):
        read = function.reads(access)["%a"]
        found[f"{access.line} reads"] = _pairs(read), _needed(program, form)
    for depth, loop in enumerate(inside[0].loops, 1):
        meeting = function.conflicts(loop).get("%a")
        pairs: Pairs = set() if meeting is None else _pairs(meeting)
        found[f"conflicts of {loop}"] = pairs, _meeting(program, depth)
    return found


def test_accesses_reads_and_conflicts_are_those_of_the_program() -> None:
    for seed in range(25):
        program = _program(Random(seed))  # noqa: S311 - no secret
        (function,) = read_accesses(program.text())
        for question, (found, expected) in _answers(program, function).items():
            assert found == expected, f"seed {seed}: {question} in\n{program.text()}"
