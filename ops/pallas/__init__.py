"""Pallas: the blocks of arrays that the steps of a grid take, and errors in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any, Final, NamedTuple, TypeAlias

import sympy

from indexing import IndexingMap, IndexRelation, IndexSet
from indexing.layout import Shape, ShapeError
from ops.jax import OfJax, shape_of, traced
from ops.pallas.blocks import (
    BlockAccess,
    BlockedArray,
    BlockSize,
    BlockSpec,
    BlockTraffic,
    ElementBlock,
    GridSize,
    OutOfBoundsAccess,
    OutOfBoundsBlock,
    PallasError,
    PrefetchedScalar,
    in_one_grid,
    over_grid,
    steps_of,
)
from ops.pallas.jaxprs import Constant, constant_results, read_index_map, read_kernel, values_of
from simplifier import symbol
from simplifier.errors import (
    INTEGER,
    check_integers,
    check_type,
    listed,
    naming_wrong_arguments,
    quoted,
)
from simplifier.exact import BudgetError, NotQuasiAffineError
from simplifier.tools.display import Displayed, html_of_table

__all__ = [
    "AliasConflict",
    "BlockAccess",
    "BlockSpec",
    "BlockTraffic",
    "BlockedArray",
    "ElementBlock",
    "LateRevisit",
    "OutOfBoundsAccess",
    "OutOfBoundsBlock",
    "PallasCall",
    "PallasError",
    "PrefetchedScalar",
    "UnwrittenElement",
    "WriteRace",
    "pallas_call",
    "pallas_calls",
]


# A call: its grid, and the blocks of all arrays; errors in them, or a proof.

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
        grid: how many steps there are along each axis, a symbol where only the program knows it;
            they run in order, the last axis fastest.
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

    grid: tuple[GridSize, ...]
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
        of_blocks = *self.out_of_bounds(), *self.accesses_out_of_bounds(), *self.unwritten()
        return (*of_blocks, *races, *self._late_revisits(races), *self.alias_conflicts())

    def out_of_bounds(self) -> tuple[OutOfBoundsBlock, ...]:
        """First step, for each array, that takes a block outside of it."""
        return tuple(filter(None, (each.out_of_bounds() for each in self.arrays)))

    def accesses_out_of_bounds(self) -> tuple[OutOfBoundsAccess, ...]:
        """First step, for each array, in which the kernel reads or writes beyond its block."""
        return tuple(filter(None, (each.accesses_out_of_bounds() for each in self.arrays)))

    def unwritten(self) -> tuple[UnwrittenElement, ...]:
        """First element of each result that no step writes, if values do not decide that.

        An alias has the values of its operand, so nothing of it needs to be written.
        """
        aliased = {result for _, result in self.aliases}
        outputs = (each for number, each in enumerate(self.outputs) if number not in aliased)
        rows = ((each.name, each.unwritten()) for each in outputs)
        return tuple(
            UnwrittenElement(name, left.lexmin(), int(left.count())) for name, left in rows if left
        )

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
        """Of blocks first, as it costs less; a kernel may write different parts of one."""
        if not self._parallel_axes or not self._racing(IndexRelation(in_one_grid(array.places))):
            return None
        for is_certain in (True, False):
            written = array.touched("write", is_certain=is_certain)
            pairs = written and self._racing(written)
            if written and pairs:
                first, second, element = self._example(pairs, written, written)
                axes = tuple(axis for axis in self._parallel_axes if first[axis] != second[axis])
                return WriteRace(array.name, first, second, element, axes, not is_certain)
        return None

    def _racing(self, written: Pairs) -> Pairs:
        """Pairs of steps that may run at the same time and write the same."""
        dims = steps_of(self.grid)
        axes = [symbol(dims[axis].name) for axis in self._parallel_axes]
        cores = in_one_grid(over_grid(axes, self.grid))
        return _meeting(written).to_later() - _meeting(IndexRelation(cores))

    def _example(
        self, pairs: Pairs, first: Pairs, second: Pairs
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The first two steps, and the first element that both relations lead to."""
        here, there = _first_pair(pairs)
        common = first.apply(IndexSet.box(*here)) & second.apply(IndexSet.box(*there))
        before = len(here) - len(self.grid)
        return here[before:], there[before:], common.lexmin()[before:]

    def _late_revisits(self, races: Sequence[WriteRace]) -> tuple[LateRevisit, ...]:
        racing = {race.array for race in races}
        outputs = (each for each in self.outputs if each.name not in racing)
        return tuple(filter(None, map(self._late_revisit, outputs)))

    def _late_revisit(self, array: BlockedArray) -> LateRevisit | None:
        """Of a copied block: an array itself may be written at any time."""
        if array.is_direct:
            return None
        blocks = IndexRelation(in_one_grid(array.places))
        pairs = _meeting(blocks).to_earlier().restrict(array.changes())
        if not pairs:
            return None
        elements = IndexRelation(in_one_grid(array.elements))
        second, first, element = self._example(pairs, elements, elements)
        return LateRevisit(array.name, first, second, element, array.depends_on_values)

    def _alias_conflict(self, operand: int, result: int) -> AliasConflict | None:
        read, written = self.inputs[operand], self.outputs[result]
        for is_certain in (True, False):
            writers = written.touched("write", "update", is_certain=is_certain)
            readers = read.touched("read", is_certain=is_certain)
            if not writers or not readers:
                continue
            pairs = writers.compose(readers.inverse()).to_later()
            if not read.is_direct and read.indices.equals(written.indices):
                pairs = pairs.restrict_results(read.changes())
            if pairs:
                writer, reader, element = self._example(pairs, writers, readers)
                names = read.name, written.name
                return AliasConflict(*names, writer, reader, element, not is_certain)
        return None

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
        except (BudgetError, NotQuasiAffineError) as error:
            return [f"problems are not known: {error}"]


Problem: TypeAlias = (
    OutOfBoundsBlock
    | OutOfBoundsAccess
    | UnwrittenElement
    | WriteRace
    | LateRevisit
    | AliasConflict
)
"""Possible problems of a call; the text of one names the array and the step."""

Pairs: TypeAlias = "IndexRelation[IndexingMap]"
"""Of steps with each other or with elements; unknown sizes of the grid stand before the steps."""

Specified: TypeAlias = "tuple[Shape | str, BlockSpec]"
"""An array, and which block of it a step takes."""

Arrays: TypeAlias = "Mapping[str, Specified]"


@naming_wrong_arguments
def pallas_call(
    grid: Sequence[GridSize],
    inputs: Mapping[str, Specified],
    outputs: Mapping[str, Specified],
    *,
    semantics: Sequence[str] = (),
    aliases: Mapping[str, str] | None = None,
    scratch_bytes: int = 0,
) -> PallasCall:
    """The call with these arrays, by name, in these blocks; JAX is not needed.

    A size of the ``grid`` is a symbol if only the program knows it: problems are those of any size.
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
    check_type(grid, Iterable, "pallas_call: grid", "sizes")
    check_integers(
        [each for each in grid if not isinstance(each, sympy.Symbol)], "pallas_call: grid"
    )
    sizes = tuple(each if isinstance(each, sympy.Symbol) else int(each) for each in grid)
    if any(isinstance(size, int) and size < 1 for size in sizes):
        raise PallasError(f"pallas_call: grid is {sizes}; expected sizes of at least 1")
    check_type(scratch_bytes, INTEGER, "pallas_call: scratch_bytes", "an integer of at least 0")
    if scratch_bytes < 0:
        raise PallasError(f"pallas_call: scratch_bytes is {scratch_bytes}; expected at least 0")
    _check_names(inputs, outputs, aliases)
    arrays = tuple(_arrays(inputs, sizes, "inputs")), tuple(_arrays(outputs, sizes, "outputs"))
    of_axes = semantics_of(semantics, sizes)
    pairs = tuple(
        (_place(operand, inputs, "inputs"), _place(result, outputs, "outputs"))
        for operand, result in (aliases or {}).items()
    )
    return PallasCall(sizes, *arrays, of_axes, pairs, scratch_bytes)


def semantics_of(given: Sequence[str], grid: Sequence[GridSize]) -> tuple[str, ...]:
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


def _arrays(given: Arrays, grid: Sequence[GridSize], role: str) -> Iterator[BlockedArray]:
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


def _check_names(inputs: Arrays, outputs: Arrays, aliases: Mapping[str, str] | None) -> None:
    for role, given in {"inputs": inputs, "outputs": outputs}.items():
        check_type(given, Mapping, f"pallas_call: {role}", "a mapping from names to arrays")
    both = sorted({*inputs} & {*outputs})
    if both:
        message = f"pallas_call: {quoted(both[0])} is the name of an operand and of a result"
        raise PallasError(f"{message}; expected different names, and aliases if they are one array")
    check_type(aliases or {}, Mapping, "pallas_call: aliases", "a mapping from operands to results")


def _place(name: str, arrays: Arrays, role: str) -> int:
    if name not in arrays:
        message = f"pallas_call: aliases have {quoted(name)}"
        raise PallasError(f"{message}; expected one of {role}: {listed([*arrays])}")
    return [*arrays].index(name)


# Pairs of steps.


def _meeting(relation: Pairs) -> Pairs:
    """Relation from each step to those that have something in common with it."""
    return relation.compose(relation.inverse())


def _first_pair(pairs: Pairs) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first step that is related to another, and the first of these."""
    first = pairs.domain_set().lexmin()
    return first, pairs.apply(IndexSet.box(*first)).lexmin()


def _text_of_traffic(array: BlockedArray) -> str:
    try:
        traffic = array.traffic()
    except NotQuasiAffineError as error:
        return f"copies are not known: {error}"
    if traffic is None:
        if array.indices.parameters:
            return "the size of the grid decides what is copied"
        return "the kernel copies" if not array.buffers else "values decide what is copied"
    return f"{traffic.copies} copies, {traffic.bytes} bytes for {traffic.needed_bytes}"


# The calls of Pallas in a JAX function, read off its jaxpr.


def pallas_calls(function: Callable[..., Any], *arguments: OfJax) -> tuple[PallasCall, ...]:
    """The calls of ``pallas_call`` in a JAX function called with arguments of some shapes.

    Arguments are arrays, ``jax.ShapeDtypeStruct``, or trees of these. The function is traced, not
    run. Calls inside of functions, loops and branches are found, too, each once.

    Raises:
        PallasError: JAX is not installed, or a grid, a block or an index map cannot be read.
        ArgumentError: the function cannot be called.
    """
    closed = traced("pallas_calls", PallasError, function, arguments)
    constants = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    return tuple(starmap(_read_call, _equations(closed.jaxpr, constants)))


def _equations(
    jaxpr: OfJax, constants: Mapping[OfJax, Constant]
) -> Iterator[tuple[OfJax, Mapping[OfJax, Constant]]]:
    """The calls of Pallas in a jaxpr, and in those that it contains, with constants around."""
    known = dict(constants)
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name == "pallas_call":
            yield equation, known
            continue
        if name in _UNREAD:
            raise PallasError(_refusal(equation))
        known |= constant_results(equation, known)
        is_call = name in _CALLS
        for parameter in equation.params.values():
            for inner, own in _jaxprs(parameter):
                pairs = zip(equation.invars, inner.invars, strict=False) if is_call else ()
                variables = ((here, there) for here, there in pairs if not hasattr(here, "val"))
                passed = {there: known[here] for here, there in variables if here in known}
                yield from _equations(inner, {**own, **passed})


_CALLS: Final = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "checkpoint")
"""The primitives whose operands are those of the jaxpr that they have."""

_UNREAD: Final = ("core_map", "mpmd_map")
"""Kernels that have no blocks by index maps: those of Mosaic GPU and of several cores."""


def _refusal(equation: OfJax) -> str:
    """What cannot be read: the kernel, and the meshes that it runs on."""
    given = equation.params
    meshes = [each for each in given.get("meshes", (given.get("mesh"),)) if each is not None]
    kernel = f" of {quoted(given['name'])}" if given.get("name") else ""
    where = "".join(f" on {each}" for each in meshes)
    message = f"pallas_calls: the function has {equation.primitive.name}{kernel}{where}"
    return f"{message}, which cannot be read; expected pallas_call with blocks by index maps"


def _jaxprs(parameter: OfJax) -> Iterator[tuple[OfJax, Mapping[OfJax, OfJax]]]:
    """The jaxprs that a parameter holds, with their constants."""
    is_several = type(parameter) in (tuple, list)
    items: Iterable[OfJax] = parameter if is_several else (parameter,)
    for item in items:
        if hasattr(item, "eqns"):
            jaxpr = item if hasattr(item, "invars") else item.jaxpr
            yield jaxpr, dict(zip(jaxpr.constvars, getattr(item, "consts", ()), strict=False))


def _read_call(equation: OfJax, constants: Mapping[OfJax, Constant]) -> PallasCall:
    mapping, given = equation.params["grid_mapping"], equation.params
    start, first = mapping.num_dynamic_grid_bounds, mapping.num_index_operands
    values = values_of(equation.invars[: start + first], constants)
    bounds = iter(values)
    grid = tuple(
        size if isinstance(size, int) else _size_of_axis(next(bounds), axis)
        for axis, size in enumerate(mapping.grid)
    )
    prefetched = [
        f"prefetched {number}" if value is None else value
        for number, value in enumerate(values[start:])
    ]
    kernel = read_kernel(given["jaxpr"], grid, mapping.vmapped_dims, prefetched)
    is_of_gpu = _is_of_gpu(given["compiler_params"])
    read = [
        _read_array(each, grid, prefetched, _name(number, mapping.num_inputs))
        for number, each in enumerate(mapping.block_mappings)
    ]
    arrays = [
        replace(each, accesses=accesses, is_direct=is_of_gpu or not each.buffers)
        for each, accesses in zip(read, kernel[first:], strict=False)
    ]
    inputs, outputs = arrays[: mapping.num_inputs], arrays[mapping.num_inputs :]
    semantics = _semantics(given["compiler_params"], grid)
    aliases = tuple((operand - first, result) for operand, result in given["input_output_aliases"])
    scratch_bytes = sum(map(_scratch_bytes, mapping.scratch_avals))
    return PallasCall(grid, tuple(inputs), tuple(outputs), semantics, aliases, scratch_bytes)


def _size_of_axis(value: OfJax, axis: int) -> GridSize:
    """The size of an axis that a computation gives: a number if that has no arguments."""
    return symbol(f"n{axis}") if value is None else int(value)


def _name(number: int, inputs: int) -> str:
    return f"input {number}" if number < inputs else f"output {number - inputs}"


def _read_array(
    mapping: OfJax, grid: Sequence[GridSize], prefetched: Sequence[OfJax], name: str
) -> BlockedArray:
    """The blocks of an array, as Pallas keeps them."""
    where = f"pallas_calls: {name} ({mapping.origin})"
    shape = shape_of(mapping.array_aval)
    block = [_block_size(each, where) for each in mapping.block_shape]
    indices, lengths, origins = read_index_map(mapping, grid, prefetched, where)
    sized = [
        replace(size, length=length) if isinstance(size, ElementBlock) else size
        for size, length in zip(block, lengths, strict=True)
    ]
    buffers = 0 if _is_left(mapping) else getattr(mapping.pipeline_mode, "buffer_count", 2)
    return BlockedArray(name, shape, BlockSpec(sized).block_of(shape), indices, buffers, origins)


def _block_size(size: OfJax, where: str) -> BlockSize:
    kind = type(size).__name__
    if kind not in _BLOCK_SIZES:
        message = f"{where}: a dimension of the block is a {kind}"
        raise PallasError(f"{message}; expected one of {listed([*_BLOCK_SIZES])}")
    return _BLOCK_SIZES[kind](size)


_BLOCK_SIZES: Final[Mapping[str, Callable[[OfJax], BlockSize]]] = {
    "int": lambda size: size,
    "Blocked": lambda size: size.block_size,
    "Element": lambda size: ElementBlock(size.block_size, tuple(size.padding)),
    "BoundedSlice": lambda size: ElementBlock(size.block_size),
    "Squeezed": lambda _: None,
    "NoneType": lambda _: None,
}
"""The dimensions of blocks, by the names of Pallas's types."""

_LEFT: Final = ("any", "hbm")
"""The memories from which Pallas does not copy blocks: the kernel does it by itself."""


def _is_left(mapping: OfJax) -> bool:
    memory = getattr(mapping.transformed_block_aval, "memory_space", None)
    return str(memory).lower() in _LEFT


def _is_of_gpu(parameters: OfJax) -> bool:
    """Whether kernels write to the arrays themselves, and no blocks are copied."""
    module = type(parameters).__module__
    return "triton" in module or "mosaic_gpu" in module


def _semantics(parameters: OfJax, grid: Sequence[GridSize]) -> tuple[str, ...]:
    """Semantics of each axis: as the call says, or as all are on its device."""
    given = getattr(parameters, "dimension_semantics", None) or ()
    if not given and _is_of_gpu(parameters):
        return (PARALLEL[0],) * len(grid)
    names = [str(getattr(each, "value", each)) for each in given]
    return semantics_of([ARBITRARY if each == "sequential" else each for each in names], grid)


def _scratch_bytes(aval: OfJax) -> int:
    """The bytes of scratch memory; a semaphore has none."""
    try:
        shape = shape_of(aval.inner_aval if hasattr(aval, "inner_aval") else aval)
    except ShapeError:
        return 0
    return shape.element_count * shape.element_type.bytes
