"""What XLA's tests ask of the programs of a tiled fusion: which tiles each of them has.

A program computes one tile of the results, and goes through the tiles of the other dimensions one
after the other. XLA numbers programs, or programs with their steps, by ``pid_0``; the ``order`` of
a row lists the dimensions that the number counts, the slowest first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from math import prod
from random import Random
from typing import Final

from sympy import Expr

from indexing import IndexingMap, Tile, parse_map
from ops import ArrayTile, DimensionKind, Propagation
from ops.tiling.propagation import propagate_in
from simplifier import format_expr
from tests.conformance import Row
from tests.extent import IN_CI
from tests.xla.facts import Answer, Outcome, Verdict, most_serious, of_map
from tests.xla.spaces import Elements, Space, Steps, path_of, places, verdict_on_elements

MAX_PROGRAMS: Final = 32 if IN_CI else 12
"""Of so many programs the tiles are compared; all, if there are no more."""

MAX_POINTS: Final = 4000
"""Fewer programs are drawn where their tiles are larger than this together."""


def tile_of_program(row: Row) -> Outcome:
    """Our tile of an array in each program, beside XLA's.

    The offsets are compared for all programs, as maps; the elements in some.
    """
    space = Space(row)
    asked = _Programs(space)
    verdicts = [
        verdict_on_elements(each.steps.touched(ids), each.steps.ours(ids), each.theirs(number))
        for each in ([asked, _Programs(space, is_first=True)] if asked.steps.runtime else [asked])
        for number in each.drawn()
        for ids in [tuple(map(int, each.ids.evaluate((number,))))]
    ]
    verdict = most_serious(verdicts)
    if verdict is Verdict.SAME and not asked.offsets.equals(asked.expected_offsets):
        verdict = Verdict.DIFFERENT
    xla = _text(row["expected_sizes"], row["expected_strides"], row["expected"])
    return Outcome(verdict, asked.text, xla)


def _text(sizes: Iterable[object], strides: Iterable[object], offsets: object) -> str:
    columns = (f"[{', '.join(map(str, column))}]" for column in (sizes, strides))
    return "sizes {} strides {} offsets {}".format(*columns, offsets)


class _Programs:
    """The tiles of one array in the programs that a row asks about.

    Runtime variables have their largest values, or their least ones.
    """

    def __init__(self, space: Space, *, is_first: bool = False) -> None:
        self.row = space.row
        self.steps = Steps(space, self.row["to"], tuple(self.row["sizes"]), is_first=is_first)
        self.grid = propagate_in(space.space, self.steps.sizes).grid
        self.ids = self._ids(self.row.get("order", [*range(len(space.space.parallel))]))
        # Which of our runtime variables is each of XLA's.
        self.values: list[int] = self.row.get("runtime", [*range(len(self.steps.runtime))])
        self.expected_offsets = parse_map(self.row["expected"])

    def _ids(self, order: list[int]) -> IndexingMap:
        """From the number of a program to the ids of its tile; those of no dimension here are 0.

        The order lists the dimensions that programs count, the slowest first.
        """
        digits, count = ["0"] * len(self.grid), 1
        for number in reversed(order):
            digits[number] = f"(d0 floordiv {count}) mod {self.grid[number]}"
            count *= self.grid[number]
        return parse_map(f"(d0) -> ({', '.join(digits)}), domain: d0 in [0, {count - 1}]")

    def drawn(self) -> list[int]:
        """All programs, or the first, the last and some others."""
        last = self.ids.dims[0].bounds.upper
        assert last is not None
        limit = max(3, min(MAX_PROGRAMS, MAX_POINTS // self.steps.points))
        if last < limit:
            return [*range(last + 1)]
        random = Random(0)  # noqa: S311 - no secret
        return [*dict.fromkeys([0, last, *(random.randrange(last) for _ in range(limit - 2))])]

    def theirs(self, number: int) -> Elements:
        """XLA's elements, as far as the array has them."""
        expected = self.expected_offsets
        runtime = tuple(self.steps.runtime[number] for number in self.values)
        if not expected.contains((number,), (), runtime):
            return set()
        offsets = map(int, expected.evaluate((number,), (), runtime))
        sizes, strides = self.row["expected_sizes"], self.row["expected_strides"]
        return {*places(offsets, sizes, strides, self.steps.shape)}

    @property
    def text(self) -> str:
        tile = self.steps.tile
        if tile is None:
            return "no tile"
        text = _text(tile.sizes, tile.strides, self.offsets)
        return text if tile.mask is None else f"{text} mask {tile.mask}"

    @cached_property
    def offsets(self) -> IndexingMap:
        """Our map from the number of a program, on the programs for which XLA has a tile."""
        tile, access = self.steps.tile, self.steps.indexing.map
        assert tile is not None
        values = [f"rt{number}" for number in self.values]
        ids = [f"t{number}" for number in range(len(self.steps.sizes))]
        limits = [f"{name} in [0, {n - 1}]" for name, n in zip(ids, self.grid, strict=True)]
        limits += [f"rt{number} in {access.runtime[number].bounds}" for number in self.values]
        composed = self.ids.compose(_map_of_text(ids, values, tile.offsets, limits)).simplify()
        names = [f"rt{number}" for number in range(len(composed.runtime))]
        ours, theirs = (each.dims[0].bounds for each in (self.ids, self.expected_offsets))
        limits = [f"d0 in {ours.intersect(theirs)}"]
        limits += [f"rt{at} in {each.bounds}" for at, each in enumerate(composed.runtime)]
        domain = self.row["expected"].partition("domain:")[2].replace("pid_0", "d0")
        limits += [each for each in _LIMIT.findall(domain) if not _BOUND.match(each)]
        return _map_of_text(["d0"], names, composed.results, limits)


def _map_of_text(
    dims: list[str], runtime: list[str], results: Iterable[Expr], limits: list[str]
) -> IndexingMap:
    formulas = ", ".join(map(format_expr, results))
    head = f"({', '.join(dims)}){{{', '.join(runtime)}}} -> ({formulas})"
    return parse_map(f"{head}, domain: {', '.join(limits)}")


_LIMIT: Final = re.compile(r"[^,\s][^,]* in \[[^]]*\]")
"""A limit of the domain of a map."""

_BOUND: Final = re.compile(r"(d0|rt\d+) in")
"""One that bounds a variable."""


def map_of_array(row: Row) -> Outcome:
    """From the tiling space to an array, with the dimensions in XLA's order."""
    asked = Space(row)
    _, indexing = asked.array(row["to"])
    names = [f"d{number}" for number in range(len(asked.order))]
    ours = [names[asked.order.index(number)] for number in range(len(names))]
    permuted = parse_map(f"({', '.join(names)}) -> ({', '.join(ours)})", unbounded=True)
    return of_map(permuted.compose(indexing.map).simplify(), row)


def program_map(row: Row) -> object:
    """From the number of a program to the ids of its tile, in the order that a row names.

    Where a program computes several tiles, ``before`` leads from both numbers to that of the tile.
    """
    made = propagation_of(row).program_map(row.get("order"))
    if "before" in row:
        made = parse_map(row["before"]).compose(made).simplify()
    return str(made) if row["expected"] is None else of_map(made, row)


def arrays_in_loop(row: Row) -> list[str]:
    """The arrays whose tile differs from step to step of what an instruction goes through."""
    found = propagation_of(row)
    looped = [
        f"t{number}"
        for number, each in enumerate(found.space.dimensions)
        if each.instruction.name == row["of"] and each.kind is not DimensionKind.PARALLEL
    ]
    return sorted({each.instruction.name for each in found if _ids_of(each).intersection(looped)})


def _ids_of(each: ArrayTile) -> set[str]:
    """The ids of tiles that a tile depends on."""
    tile = each.checked_tile()
    conditions = [] if tile.mask is None else [tile.mask]
    return {str(name) for each in (*tile.offsets, *conditions) for name in each.free_symbols}


def _of_tile(numbers: Callable[[Tile], Iterable[Expr]]) -> Answer:
    def found(row: Row) -> list[int] | None:
        tile = Steps(Space(row), row["to"], tuple(row["sizes"])).tile
        return None if tile is None else [*map(int, numbers(tile))]

    return found


def bytes_of_step(row: Row) -> int:
    """The bytes of one tile of each operand."""
    operands = propagation_of(row).operands
    tiles = [(each.instruction.shape, each.checked_tile()) for each in operands]
    return sum(prod(map(int, t.sizes)) * s.element_type.bytes for s, t in tiles)


def propagation_of(row: Row) -> Propagation:
    return propagate_in(Space(row).space, row["sizes"])


QUESTIONS: Final[dict[str, Answer]] = {
    "arrays in a loop": arrays_in_loop,
    "bytes of a step": bytes_of_step,
    # Equal tiles of an array are one.
    "different tiles": lambda row: [*map(path_of, propagation_of(row))].count(row["to"]),
    "map of an array": map_of_array,
    "program map": program_map,
    # Along each parallel dimension.
    "programs": lambda row: [*propagation_of(row).grid[: len(Space(row).space.parallel)]],
    "results of a fusion": lambda row: sorted(each.name for each in Space(row).fusion.roots),
    "sizes of a tile": _of_tile(lambda tile: tile.sizes),
    # 0 where there is one position.
    "strides of a tile": _of_tile(lambda tile: tile.strides),
    "tile of a program": tile_of_program,
    # The instructions that give the values that say where a tile is.
    "values of a tile": lambda row: [
        each.instruction.name for each in Space(row).array(row["to"])[1].runtime],
}  # fmt: skip
