"""Reasons of an instruction for its reads: each map to an operand, and the paths behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Final

import simplifier
from indexing import IndexSet, MapError, Tile, TileError
from indexing.layout import UNBOUNDED_SIZE, ArrayShape
from ops.dependence.dependence import NOTHING, Unknown
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion.fusion import Fusion, FusionError
from ops.fusion.slicing import Provenance
from ops.hlo.module import INSTRUCTION, Instruction
from ops.rules.registry import REGISTRY, Registry
from ops.rules.rule import if_known, known
from simplifier.errors import ArgumentError, check_integers, check_type, listed
from simplifier.exact import BudgetError, NotQuasiAffineError
from simplifier.tools.late import sympy

FEW_PATHS: Final = 3
"""Paths that are listed for each map unless somebody wants more."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One map from a result of an instruction to elements that it needs, with its paths.

    Attributes:
        instruction: whose result it is.
        output: the number of the array in the result.
        target: what is needed.
        provenance: the map, and the paths of instructions.
    """

    instruction: Instruction
    output: int
    target: Instruction
    provenance: Provenance

    @property
    def indexing(self) -> OperandIndexing | Unknown:
        """The map with its notes; or why there is none."""
        return self.provenance.indexing

    def __str__(self) -> str:
        head = f"result {self.output} of " if self.instruction.shape.is_tuple else ""
        return f"{head}%{self.instruction.name} needs %{self.target.name}: {self.provenance}"


def why(
    instruction: Instruction,
    target: Instruction | None = None,
    *,
    element: Sequence[int] | None = None,
    needed: Sequence[int] | None = None,
    paths: int = FEW_PATHS,
    registry: Registry = REGISTRY,
) -> tuple[Reason, ...]:
    """Reasons why an instruction needs elements that it reads: along which instructions.

    Of each operand, by itself; or of a ``target`` in the same computation, on all ways that lead
    there. One reason for each map, with so many of the shortest ``paths``. With the index of an
    ``element`` of the result, or of an element that is ``needed``, only the maps that relate them.

    Raises:
        ArgumentError: an argument is of another kind, or there is no element of this index.
        FusionError: the target is in another computation.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import hlo
    >>> module = hlo.parse('''ENTRY e {
    ...   p = f32[20,20] parameter(0)
    ...   t = f32[20,20] transpose(p), dimensions={1,0}
    ...   ROOT sum = f32[20,20] add(p, t)
    ... }''')
    >>> for reason in why(module["sum"], module["p"], element=(3, 4), needed=(4, 3)):
    ...     print(reason)
    %sum needs %p: (d0, d1) -> (d1, d0), domain: d0 in [0, 19], d1 in [0, 19]
      %p <- %t transpose <- %sum add
    """
    check_type(instruction, Instruction, "why: the instruction", INSTRUCTION)
    if target is None:
        fusion = Fusion.of_instruction(instruction, registry=registry)
        targets = fusion.operands
    else:
        check_type(target, Instruction, "why: the target", INSTRUCTION)
        fusion, targets = _between(instruction, target, registry), (target,)
    _check_index(element, (instruction,), "element")
    if needed is not None:
        _check_index(needed, targets, "needed element")
    return tuple(
        reason
        for each in targets
        for reason in _reasons(fusion, instruction, each, paths)
        if _relates(reason, element, needed)
    )


def _between(instruction: Instruction, target: Instruction, registry: Registry) -> Fusion:
    """The instructions that a path may lead through."""
    home = instruction.computation
    if target.computation is not home:
        message = f"why: %{target.name} is in %{target.computation.name}"
        raise FusionError(f"{message}; expected an instruction of %{home.name}")
    return Fusion.of_computation(home, registry=registry)


def _reasons(
    fusion: Fusion, instruction: Instruction, target: Instruction, paths: int
) -> Iterator[Reason]:
    for output in instruction.shape.array_indices:
        if fusion.indexing(instruction, output).get(target, NOTHING) != NOTHING:
            for found in fusion.why(target, instruction, output, most=paths):
                yield Reason(instruction, output, target, found)


def _relates(reason: Reason, element: Sequence[int] | None, needed: Sequence[int] | None) -> bool:
    """Whether the map may relate two elements; true if nobody can tell."""
    indexing = reason.indexing
    if isinstance(indexing, Unknown):
        return True
    result = reason.instruction.shape.arrays[reason.output]
    operand = reason.target.shape.arrays[indexing.element]
    if not has_element(element, result) or not has_element(needed, operand):
        return False
    found = indexing.map
    if element is not None:
        found = found.restrict(_point(element))
    if needed is not None:
        found = found.restrict_results(_point(needed))
    try:
        return not found.is_empty()
    except (NotQuasiAffineError, BudgetError):
        return True


def _point(index: Iterable[int]) -> IndexSet:
    return IndexSet.box(*((each, each) for each in index))


def has_element(index: Sequence[int] | None, shape: ArrayShape) -> bool:
    """Whether an array has an element of this index; without one it may be any."""
    if index is None:
        return True
    sizes = shape.dimensions if shape.is_array else ()
    return len(index) == len(sizes) and all(
        0 <= each < size for each, size in zip(index, sizes, strict=True)
    )


def _check_index(index: Sequence[int] | None, of: Sequence[Instruction], what: str) -> None:
    if index is not None:
        check_integers(index, f"why: the {what}")
    if not any(has_element(index, shape) for each in of for shape in each.shape.arrays):
        given = f"why: the {what} is {tuple(index or ())}"
        places = [f"{shape} of %{each.name}" for each in of for shape in each.shape.arrays]
        raise ArgumentError(f"{given}; expected an index in {listed(places) or 'none'}")


# Reads of each operand by a tile of a result, as formulas over the tile and as elements.


@dataclass(frozen=True, slots=True)
class TileRead:
    """Elements of an array that a tile of a result needs along one map.

    Attributes:
        instruction: whose result it is.
        output: the number of the array in the result.
        operand: what is read.
        sizes: of the tile of the result.
        indexing: the map with its notes; or why there is none.
        tile: which part of the operand it is, over the tile ids ``t0, t1, ...``; or why no
            progressions of indices are this part.
    """

    instruction: Instruction
    output: int
    operand: Instruction
    sizes: tuple[int, ...]
    indexing: OperandIndexing | Unknown
    tile: Tile | TileError | Unknown

    @property
    def count(self) -> int | sympy.Expr | None:
        """Number of elements that a whole tile reads; ``None`` if tiles differ."""
        if not isinstance(self.tile, Tile) or self.tile.mask is not None:
            return None
        return prod(self.tile.sizes)

    def elements(self, ids: Sequence[int]) -> IndexSet:
        """The elements that the tile of these ids reads, whatever runtime values are.

        Raises:
            ArgumentError: there is no such tile.
            MapError: the map is unknown, or it has parameters.

        >>> from ops import hlo
        >>> module = hlo.parse('''ENTRY e { x = f32[8,6] parameter(0)
        ...   ROOT t = f32[6,8] transpose(x), dimensions={1,0} }''')
        >>> (read,) = reads(module["t"], (2, 4))
        >>> print(read.elements((2, 1)))
        (d0, d1): d0 in [4, 7], d1 in [4, 5]
        """
        shape = self.instruction.shape.arrays[self.output]
        check_integers(ids, "reads: the tile")
        if shape.is_unbounded:
            raise MapError(f"reads: the reads of {shape} depend on its sizes, which are parameters")
        starts = [number * size for number, size in zip(ids, self.sizes, strict=False)]
        if len(ids) != len(self.sizes) or any(
            not 0 <= start < size for start, size in zip(starts, shape.dimensions, strict=True)
        ):
            tiles = [
                -(-size // tile) for size, tile in zip(shape.dimensions, self.sizes, strict=True)
            ]
            expected = (
                f"expected ids below {', '.join(map(str, tiles))}" if tiles else "expected none"
            )
            raise ArgumentError(f"reads: there is no tile {tuple(ids)} of {shape}; {expected}")
        message = f"reads: the map to %{self.operand.name} is {self.indexing}"
        indexing = known(self.indexing, lambda _: MapError(message))
        rows = zip(starts, self.sizes, shape.dimensions, strict=True)
        box = IndexSet.box(*((start, min(start + size, end) - 1) for start, size, end in rows))
        return indexing.map.apply(box)

    def __str__(self) -> str:
        """The part of the operand as a slice.

        >>> from ops import hlo
        >>> text = "ENTRY e { x = f32[8] parameter(0) "
        >>> text += "ROOT s = f32[4] slice(x), slice={[0:8:2]} }"
        >>> print(*reads(hlo.parse(text)["s"], (2,)))
        %x[t0 * 4:t0 * 4 + 3:2]
        """
        if not isinstance(self.tile, Tile):
            return f"%{self.operand.name}: {self.tile}"
        return f"%{self.operand.name}{slice_text(self.tile)}"


def slice_text(tile: Tile) -> str:
    """A tile as a slice of an array, where it is not masked."""
    rows = zip(tile.offsets, tile.sizes, tile.strides, strict=True)
    where = "" if tile.mask is None else f" where {simplifier.format_expr(tile.mask)}"
    return f"[{', '.join(_slice(*row) for row in rows)}]{where}"


def _slice(offset: sympy.Expr, size: sympy.Expr, stride: sympy.Expr) -> str:
    if size == sympy.S.One:
        return simplifier.format_expr(offset)
    end = offset + (size - 1) * stride + 1
    step = "" if stride == sympy.S.One else f":{simplifier.format_expr(stride)}"
    return f"{simplifier.format_expr(offset)}:{simplifier.format_expr(end)}{step}"


def reads(
    instruction: Instruction, sizes: Sequence[int] | None = None, *, registry: Registry = REGISTRY
) -> tuple[TileRead, ...]:
    """Reads of its operands by each tile of the results of an instruction: one row a map.

    A tile has these ``sizes``, or that of the array where it is less; by default it is one element.
    An array without elements has no tiles.

    Raises:
        ArgumentError: an argument is of another kind, or no result has as many dimensions.
        HloTextError: what a rule of the user answers does not fit an instruction.

    >>> from ops import hlo
    >>> module = hlo.load("examples/softmax.hlo")
    >>> for read in reads(module["ynn_fusion.1"], (1, 8, 128)):
    ...     print(read)
    %x.1[t0, t1 * 8:t1 * 8 + 8, 0:128]
    %x.1[t0, t1 * 8:t1 * 8 + 8, 0:128]
    >>> for read in reads(module["ynn_fusion.1"]):
    ...     print(read, read.count)
    %x.1[t0, t1, t2] 1
    %x.1[t0, t1, 0:128] 128
    """
    check_type(instruction, Instruction, "reads: the instruction", INSTRUCTION)
    ranks = [shape.rank for shape in instruction.shape.arrays if shape.is_array]
    if sizes is not None:
        check_integers(sizes, "reads: the sizes")
        if len(sizes) not in ranks or any(size < 1 for size in sizes):
            message = f"reads: the sizes are {tuple(sizes)}"
            expected = f"expected a positive one for each dimension of {instruction.shape}"
            raise ArgumentError(f"{message}; {expected}, %{instruction.name}")
    return tuple(_reads(Fusion.of_instruction(instruction, registry=registry), sizes))


def _reads(kernel: Fusion, sizes: Sequence[int] | None) -> Iterator[TileRead]:
    for instruction, output in kernel.results:
        shape = instruction.shape.arrays[output]
        wanted = (1,) * shape.rank if sizes is None else tuple(sizes)
        if not shape.is_array or len(wanted) != shape.rank or 0 in shape.dimensions:
            continue
        bounds = zip(wanted, shape.dimensions, strict=True)
        given = tuple(size if end == UNBOUNDED_SIZE else min(size, end) for size, end in bounds)
        found = kernel.indexing(instruction, output)
        for operand in kernel.operands:
            answer = found.get(operand, NOTHING).simplify()
            for each in answer.only(lambda each: not each.map.is_known_empty).entries:
                tile = if_known(partial(_tile, given), each)
                yield TileRead(instruction, output, operand, given, each, tile)


def _tile(sizes: Sequence[int], indexing: OperandIndexing) -> Tile | TileError:
    try:
        tile = indexing.map.tile(sizes)
    except TileError as error:
        return error
    return tile if tile.image is None else TileError("tile: no mask tells its elements")
