"""A call of Pallas: its grid, and the blocks of all arrays; errors in them, or a proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Final, NamedTuple, TypeAlias

from indexing import IndexingMap, IndexRelation, IndexSet, Variable
from indexing.layout import Shape
from ops.pallas.blocks import (
    BlockedArray,
    BlockSpec,
    BlockTraffic,
    OutOfBoundsBlock,
    PallasError,
    axis_names,
    steps_of_numbers,
)
from simplifier import NotQuasiAffineError, symbol
from simplifier.errors import INTEGER, check_integers, check_type, listed, quoted
from simplifier.tools.display import Displayed, html_of_table

PARALLEL: Final = ("parallel", "core_parallel", "subcore_parallel")
"""The semantics of axes of a grid whose steps may run at the same time."""

ARBITRARY: Final = "arbitrary"
"""The semantics of an axis whose steps run one after the other."""


class UnwrittenElement(NamedTuple):
    """The first element of a result that no step writes, and how many ``elements`` none does."""

    array: str
    element: tuple[int, ...]
    elements: int

    def __str__(self) -> str:
        others = f" and {self.elements - 1} others" if self.elements > 1 else ""
        return f"{self.array}: no step writes element {self.element}{others}"


class WriteRace(NamedTuple):
    """Two steps that may run at the same time, and an element that both write.

    They ``may`` do so if prefetched values decide the blocks, or the kernel what it writes of them.
    """

    array: str
    first: tuple[int, ...]
    second: tuple[int, ...]
    element: tuple[int, ...]
    axes: tuple[int, ...]
    may: bool = False

    def __str__(self) -> str:
        verb = "may both write" if self.may else "both write"
        axes = ", ".join(map(str, self.axes))
        pair = f"steps {self.first} and {self.second} {verb} element {self.element}"
        return f"{self.array}: {pair}, and run in parallel along axis {axes} of the grid"


class LateRevisit(NamedTuple):
    """A step that takes a block of a result again after another block.

    The block was written back in between. On a TPU its buffer does not hold it again: what the
    step adds to is undefined.
    """

    array: str
    first: tuple[int, ...]
    second: tuple[int, ...]
    element: tuple[int, ...]
    may: bool = False

    def __str__(self) -> str:
        verb = "may write" if self.may else "writes"
        again = f"step {self.second} {verb} element {self.element} of step {self.first} again"
        return f"{self.array}: {again}, after another block"


class AliasConflict(NamedTuple):
    """A step that fetches an element of an operand after a step wrote it through an alias."""

    operand: str
    result: str
    writer: tuple[int, ...]
    reader: tuple[int, ...]
    element: tuple[int, ...]
    may: bool = False

    def __str__(self) -> str:
        verb = "may read" if self.may else "reads"
        what = f"step {self.reader} {verb} element {self.element}"
        return f"{self.operand}: {what} that step {self.writer} writes as {self.result}"


@dataclass(frozen=True, slots=True, repr=False)
class PallasCall(Displayed):
    """The grid of a ``pallas_call``, and which blocks of which arrays each of its steps takes.

    Attributes:
        grid: how many steps there are along each axis; they run in order, the last axis fastest.
        inputs: the operands, without those that are prefetched.
        outputs: the results.
        semantics: of each axis: ``"parallel"`` steps may run at the same time, ``"arbitrary"``
            ones run one after the other.
        aliases: pairs of an operand's and a result's number that are one array.
        scratch_bytes: what the kernel has beside the blocks.

    >>> from ops.pallas import BlockSpec, pallas_call
    >>> call = pallas_call(
    ...     (2, 4, 3),
    ...     {"x": ("f32[256,192]", BlockSpec((128, 64), lambda i, j, k: (i, k))),
    ...      "y": ("f32[192,256]", BlockSpec((64, 64), lambda i, j, k: (k, j)))},
    ...     {"out": ("f32[256,256]", BlockSpec((128, 64), lambda i, j, k: (i, j)))},
    ...     semantics=("parallel", "parallel", "arbitrary"))
    >>> print(call)
    grid (2, 4, 3), parallel, parallel, arbitrary; 163840 bytes of blocks
      x f32[256,192] in blocks (128, 64): (i, j, k) -> (i, k)
        24 copies, 786432 bytes for 196608
      y f32[192,256] in blocks (64, 64): (i, j, k) -> (k, j)
        24 copies, 393216 bytes for 196608
      out f32[256,256] in blocks (128, 64): (i, j, k) -> (i, j)
        8 copies, 262144 bytes for 262144
      no problems: blocks are in bounds, results are written, no steps are in conflict
    """

    grid: tuple[int, ...]
    inputs: tuple[BlockedArray, ...]
    outputs: tuple[BlockedArray, ...]
    semantics: tuple[str, ...]
    aliases: tuple[tuple[int, int], ...] = ()
    scratch_bytes: int = 0

    @property
    def arrays(self) -> tuple[BlockedArray, ...]:
        """The operands and the results."""
        return self.inputs + self.outputs

    @property
    def memory_bytes(self) -> int:
        """The bytes of fast memory: the buffers of all blocks, and the scratch memory."""
        return sum(each.buffer_bytes for each in self.arrays) + self.scratch_bytes

    def traffic(self) -> dict[str, BlockTraffic | None]:
        """The copies of each array, and to it; ``None`` where values decide it."""
        return {each.name: each.traffic() for each in self.arrays}

    # Problems.

    def problems(self) -> tuple[Problem, ...]:
        """Everything that is wrong, each with an example; none is a proof that nothing is.

        For each array, the first step is named.
        """
        races = self.races()
        return (
            *self.out_of_bounds(),
            *self.unwritten(),
            *races,
            *self._late_revisits(races),
            *self.alias_conflicts(),
        )

    def out_of_bounds(self) -> tuple[OutOfBoundsBlock, ...]:
        """First step, for each array, that takes a block outside of it."""
        return tuple(filter(None, (each.out_of_bounds() for each in self.arrays)))

    def unwritten(self) -> tuple[UnwrittenElement, ...]:
        """First element of each result that no step writes, if values do not decide that.

        An alias has the values of its operand, so nothing of it needs to be written.
        """
        aliased = {result for _, result in self.aliases}
        found: list[UnwrittenElement] = []
        for number, each in enumerate(self.outputs):
            left = None if number in aliased else each.unwritten()
            if left:
                found.append(UnwrittenElement(each.name, left.lexmin(), int(left.count())))
        return tuple(found)

    def races(self) -> tuple[WriteRace, ...]:
        """First two steps, for each result, that write an element, maybe at the same time."""
        return tuple(filter(None, map(self._race, self.outputs)))

    def late_revisits(self) -> tuple[LateRevisit, ...]:
        """First step, for each result, that comes back to a block, or to a part of one.

        Steps that follow each other may take the same block: they add to it. Results with a race
        are left out.
        """
        return self._late_revisits(self.races())

    def alias_conflicts(self) -> tuple[AliasConflict, ...]:
        """First step, for each alias, that writes an element that a later step reads."""
        return tuple(filter(None, starmap(self._alias_conflict, self.aliases)))

    # How that is found.

    @property
    def _parallel_axes(self) -> list[int]:
        return [axis for axis, each in enumerate(self.semantics) if each in PARALLEL]

    def _race(self, array: BlockedArray) -> WriteRace | None:
        if not self._parallel_axes:
            return None
        same = _meeting(array.elements if array.may_overlap else array.indices_in_bounds)
        pairs = same.to_later() - IndexRelation(self._same_core())
        if not pairs:
            return None
        first, second = _first_pair(pairs)
        axes = tuple(axis for axis in self._parallel_axes if first[axis] != second[axis])
        element = _common(array.elements, array.elements, first, second)
        return WriteRace(array.name, first, second, element, axes, _may(array))

    def _same_core(self) -> IndexingMap:
        """Relation from a step to those with the same coordinates along the parallel axes."""
        names = axis_names(len(self.grid))
        others = {f"{name}_": size for name, size in zip(names, self.grid, strict=True)}
        results = [
            symbol(name if axis in self._parallel_axes else f"{name}_")
            for axis, name in enumerate(names)
        ]
        ranges = [Variable.of_size(size, name) for name, size in others.items()]
        dims = [Variable.of_size(size, name) for name, size in zip(names, self.grid, strict=True)]
        return IndexingMap(results, dims, ranges).without_unused_symbols()

    def _late_revisits(self, races: Sequence[WriteRace]) -> tuple[LateRevisit, ...]:
        racing = {race.array for race in races}
        outputs = (each for each in self.outputs if each.name not in racing)
        return tuple(filter(None, map(self._late_revisit, outputs)))

    def _late_revisit(self, array: BlockedArray) -> LateRevisit | None:
        blocks = array.elements if array.may_overlap else array.indices_in_bounds
        pairs = _meeting(array.by_number(blocks)).to_earlier().restrict(array.changes())
        if not pairs:
            return None
        second, first = map(self._step, _first_pair(pairs))
        element = _common(array.elements, array.elements, first, second)
        return LateRevisit(array.name, first, second, element, _may(array))

    def _alias_conflict(self, operand: int, result: int) -> AliasConflict | None:
        read, written = self.inputs[operand], self.outputs[result]
        readers = IndexRelation(read.by_number(read.elements)).inverse()
        pairs = IndexRelation(written.by_number(written.elements)).compose(readers).to_later()
        if read.indices.equals(written.indices):
            pairs = pairs.restrict_results(read.changes())
        if not pairs:
            return None
        writer, reader = map(self._step, _first_pair(pairs))
        element = _common(written.elements, read.elements, writer, reader)
        may = read.depends_on_values or _may(written)
        return AliasConflict(read.name, written.name, writer, reader, element, may)

    def _step(self, number: Sequence[int]) -> tuple[int, ...]:
        return tuple(map(int, steps_of_numbers(self.grid).evaluate(number)))

    # Text.

    def __str__(self) -> str:
        semantics = "".join(f", {each}" for each in self.semantics)
        lines = [f"grid {self.grid}{semantics}; {self.memory_bytes} bytes of blocks"]
        for each in self.arrays:
            head = str(each.indices).partition(", domain")[0]
            lines.append(f"  {str(each).partition(': ')[0]}: {head}")
            lines.append(f"    {_text_of_traffic(each)}")
        none = "no problems: blocks are in bounds, results are written, no steps are in conflict"
        lines += [f"  {each}" for each in self._texts_of_problems() or [none]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = (
            (each.name, each.shape.short_text, str(each.indices), _text_of_traffic(each))
            for each in self.arrays
        )
        title = "; ".join(self._texts_of_problems()) or "no problems"
        heading = ("array", "shape", "block of a step", "copied")
        return html_of_table(heading, rows, title=f"grid {self.grid}: {title}")

    def _texts_of_problems(self) -> list[str]:
        try:
            return [*map(str, self.problems())]
        except NotQuasiAffineError as error:
            return [f"problems are not known: {error}"]


Problem: TypeAlias = "OutOfBoundsBlock | UnwrittenElement | WriteRace | LateRevisit | AliasConflict"
"""Possible problems of a call; the text of one names the array and the step."""

Specified: TypeAlias = "tuple[Shape | str, BlockSpec]"
"""An array, and which block of it a step takes."""


def pallas_call(
    grid: Sequence[int],
    inputs: Mapping[str, Specified],
    outputs: Mapping[str, Specified],
    *,
    semantics: Sequence[str] = (),
    aliases: Mapping[str, str] | None = None,
    scratch_bytes: int = 0,
) -> PallasCall:
    """The call with these arrays, by name, in these blocks; JAX is not needed.

    ``semantics`` of the axes are ``"arbitrary"`` if none are given, as on a TPU; on a GPU all are
    ``"parallel"``. ``aliases`` leads from the names of operands to those of results.

    Raises:
        PallasError: the grid has a size below 1, a block does not fit its array, or a name or a
            semantics is unknown.
        ShapeError: a shape cannot be read.
        ArgumentError: an argument is of another kind.

    >>> from ops.pallas import BlockSpec
    >>> racing = pallas_call(
    ...     (4, 2), {}, {"out": ("f32[512]", BlockSpec((128,), lambda i, j: i))},
    ...     semantics=("parallel", "parallel"))
    >>> for problem in racing.problems():
    ...     print(problem)
    out: steps (0, 0) and (0, 1) both write element (0,),
    and run in parallel along axis 1 of the grid
    """
    check_integers(grid, "pallas_call: grid")
    sizes = tuple(map(int, grid))
    if any(size < 1 for size in sizes):
        raise PallasError(f"pallas_call: grid is {sizes}; expected sizes of at least 1")
    check_type(scratch_bytes, INTEGER, "pallas_call: scratch_bytes", "an integer of at least 0")
    if scratch_bytes < 0:
        raise PallasError(f"pallas_call: scratch_bytes is {scratch_bytes}; expected at least 0")
    _check_names(inputs, outputs, aliases)
    return PallasCall(
        sizes,
        tuple(_arrays(inputs, sizes, "inputs")),
        tuple(_arrays(outputs, sizes, "outputs")),
        semantics_of(semantics, sizes),
        tuple(
            (_place(operand, inputs, "inputs"), _place(result, outputs, "outputs"))
            for operand, result in (aliases or {}).items()
        ),
        scratch_bytes,
    )


def semantics_of(given: Sequence[str], grid: Sequence[int]) -> tuple[str, ...]:
    """The semantics of each axis of a grid, from none or from all of them.

    Raises:
        PallasError: there are some, but not for all axes, or one is unknown.
    """
    if not given:
        return (ARBITRARY,) * len(grid)
    known = (*PARALLEL, ARBITRARY)
    if len(given) != len(grid) or not {*given} <= {*known}:
        expected = f"expected one of {listed(known)} for each of the {len(grid)} axes of the grid"
        raise PallasError(f"pallas_call: semantics are {quoted(tuple(given))}; {expected}")
    return tuple(given)


def _arrays(
    given: Mapping[str, Specified], grid: Sequence[int], role: str
) -> Iterator[BlockedArray]:
    for name, specified in given.items():
        where, expected = f"pallas_call: {role}: {name}", "a shape and a BlockSpec"
        check_type(specified, tuple, where, expected)
        if len(specified) != len(("shape", "spec")):
            raise PallasError(f"{where} has {len(specified)} parts; expected {expected}")
        shape, spec = specified
        check_type(spec, BlockSpec, where, expected)
        read = Shape.parse(shape) if isinstance(shape, str) else shape
        check_type(read, Shape, where, expected)
        if read.is_tuple or any(size < 0 for size in read.dimensions):
            message = f"{where} is {read.short_text}"
            raise PallasError(f"{message}; expected an array whose sizes are known")
        yield BlockedArray.of(name, read, spec, grid)


def _check_names(
    inputs: Mapping[str, Specified],
    outputs: Mapping[str, Specified],
    aliases: Mapping[str, str] | None,
) -> None:
    for role, given in {"inputs": inputs, "outputs": outputs}.items():
        check_type(given, Mapping, f"pallas_call: {role}", "a mapping from names to arrays")
    both = sorted({*inputs} & {*outputs})
    if both:
        message = f"pallas_call: {quoted(both[0])} is the name of an operand and of a result"
        raise PallasError(f"{message}; expected different names, and aliases if they are one array")
    check_type(aliases or {}, Mapping, "pallas_call: aliases", "a mapping from operands to results")


def _place(name: str, arrays: Mapping[str, Specified], role: str) -> int:
    if name not in arrays:
        message = f"pallas_call: aliases have {quoted(name)}"
        raise PallasError(f"{message}; expected one of {role}: {listed([*arrays])}")
    return [*arrays].index(name)


# Pairs of steps.


def _meeting(blocks: IndexingMap) -> IndexRelation[IndexingMap]:
    """Relation from each step to those that have something in common with it."""
    relation = IndexRelation(blocks)
    return relation.compose(relation.inverse())


def _first_pair(pairs: IndexRelation[IndexingMap]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first step that is related to another, and the first of these."""
    first = pairs.domain_set().lexmin()
    return first, pairs.apply(IndexSet.box(*first)).lexmin()


def _common(
    one: IndexingMap, other: IndexingMap, first: Sequence[int], second: Sequence[int]
) -> tuple[int, ...]:
    """The first element that a step and another one have in common."""
    here = one.apply(IndexSet.box(*first))
    return (here & other.apply(IndexSet.box(*second))).lexmin()


def _may(array: BlockedArray) -> bool:
    """Whether steps may write a block of a result, or do not write all of it."""
    return array.depends_on_values or not array.is_filled


def _text_of_traffic(array: BlockedArray) -> str:
    try:
        traffic = array.traffic()
    except NotQuasiAffineError as error:
        return f"copies are not known: {error}"
    if traffic is None:
        return "the kernel copies" if not array.buffers else "values decide what is copied"
    return f"{traffic.copies} copies, {traffic.bytes} bytes for {traffic.needed_bytes}"
