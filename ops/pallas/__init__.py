"""Pallas: the blocks of arrays that the steps of a grid take, and errors in them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any, Final, NamedTuple, TypeAlias

import sympy

from indexing import IndexingMap, IndexRelation, IndexSet, Variable
from indexing.layout import Shape, ShapeError
from ops.index_maps import quotient_toward_zero
from ops.jax import OfJax, evaluated, shape_of, traced
from ops.pallas.blocks import (
    BlockedArray,
    BlockSize,
    BlockSpec,
    BlockTraffic,
    ElementBlock,
    OutOfBoundsBlock,
    PallasError,
    PrefetchedScalar,
    steps_of,
    steps_of_numbers,
)
from simplifier import BitAnd, BitOr, BitXor, FloorDiv, Max, Min, Mod, bounds_of, symbol
from simplifier.errors import INTEGER, check_integers, check_type, listed, quoted
from simplifier.exact import BudgetError, NotQuasiAffineError
from simplifier.forms import Interval, from_sympy, is_relation, np, relation_of, tabulated, to_sympy
from simplifier.tools.display import Displayed, html_of_table

__all__ = [
    "AliasConflict",
    "BlockSpec",
    "BlockTraffic",
    "BlockedArray",
    "ElementBlock",
    "LateRevisit",
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
        of_blocks = *self.out_of_bounds(), *self.unwritten()
        return (*of_blocks, *races, *self._late_revisits(races), *self.alias_conflicts())

    def out_of_bounds(self) -> tuple[OutOfBoundsBlock, ...]:
        """First step, for each array, that takes a block outside of it."""
        return tuple(filter(None, (each.out_of_bounds() for each in self.arrays)))

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
        if not self._parallel_axes:
            return None
        dims = steps_of(self.grid)
        cores = IndexingMap([symbol(dims[axis].name) for axis in self._parallel_axes], dims)
        pairs = _meeting(array.places).to_later() - _meeting(cores)
        if not pairs:
            return None
        first, second = _first_pair(pairs)
        axes = tuple(axis for axis in self._parallel_axes if first[axis] != second[axis])
        element = _common(array.elements, array.elements, first, second)
        return WriteRace(array.name, first, second, element, axes, _may(array))

    def _late_revisits(self, races: Sequence[WriteRace]) -> tuple[LateRevisit, ...]:
        racing = {race.array for race in races}
        outputs = (each for each in self.outputs if each.name not in racing)
        return tuple(filter(None, map(self._late_revisit, outputs)))

    def _late_revisit(self, array: BlockedArray) -> LateRevisit | None:
        pairs = _meeting(array.by_number(array.places)).to_earlier().restrict(array.changes())
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
        except (BudgetError, NotQuasiAffineError) as error:
            return [f"problems are not known: {error}"]


Problem: TypeAlias = "OutOfBoundsBlock | UnwrittenElement | WriteRace | LateRevisit | AliasConflict"
"""Possible problems of a call; the text of one names the array and the step."""

Specified: TypeAlias = "tuple[Shape | str, BlockSpec]"
"""An array, and which block of it a step takes."""

Arrays: TypeAlias = "Mapping[str, Specified]"


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
    arrays = tuple(_arrays(inputs, sizes, "inputs")), tuple(_arrays(outputs, sizes, "outputs"))
    of_axes = semantics_of(semantics, sizes)
    pairs = tuple(
        (_place(operand, inputs, "inputs"), _place(result, outputs, "outputs"))
        for operand, result in (aliases or {}).items()
    )
    return PallasCall(sizes, *arrays, of_axes, pairs, scratch_bytes)


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


def _arrays(given: Arrays, grid: Sequence[int], role: str) -> Iterator[BlockedArray]:
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


# Calls of Pallas in a JAX function, and their index maps as expressions.

Value = Any
"""An expression of sympy, one of its booleans, or a prefetched operand: its name, or its values
if they are known."""


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
    jaxpr: OfJax, constants: Mapping[OfJax, OfJax]
) -> Iterator[tuple[OfJax, Mapping[OfJax, OfJax]]]:
    """The calls of Pallas in a jaxpr, and in those that it contains, with constants around."""
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name == "pallas_call":
            yield equation, constants
            continue
        if name in _UNREAD:
            raise PallasError(f"pallas_calls: the function has {name}, which cannot be read")
        for parameter in equation.params.values():
            for inner, own in _jaxprs(parameter):
                pairs = zip(equation.invars, inner.invars, strict=False) if name == "jit" else ()
                variables = ((here, there) for here, there in pairs if not hasattr(here, "val"))
                passed = {there: constants[here] for here, there in variables if here in constants}
                yield from _equations(inner, {**own, **passed})


_UNREAD: Final = ("core_map", "mpmd_map")
"""Kernels that have no blocks by index maps."""


def _jaxprs(parameter: OfJax) -> Iterator[tuple[OfJax, Mapping[OfJax, OfJax]]]:
    """The jaxprs that a parameter holds, with their constants."""
    is_several = type(parameter) in (tuple, list)
    items: Iterable[OfJax] = parameter if is_several else (parameter,)
    for item in items:
        if hasattr(item, "eqns"):
            jaxpr = item if hasattr(item, "invars") else item.jaxpr
            yield jaxpr, dict(zip(jaxpr.constvars, getattr(item, "consts", ()), strict=False))


def _read_call(equation: OfJax, constants: Mapping[OfJax, OfJax]) -> PallasCall:
    mapping, given = equation.params["grid_mapping"], equation.params
    grid = tuple(map(_size_of_axis, mapping.grid))
    first = mapping.num_index_operands
    atoms = equation.invars[:first]
    values = [None if hasattr(atom, "val") else constants.get(atom) for atom in atoms]
    prefetched = [
        f"prefetched {number}" if value is None else value for number, value in enumerate(values)
    ]
    arrays = [
        _read_array(each, grid, prefetched, _name(number, mapping.num_inputs))
        for number, each in enumerate(mapping.block_mappings)
    ]
    inputs = arrays[: mapping.num_inputs]
    is_direct = _is_of_gpu(given["compiler_params"])
    outputs = [
        replace(each, is_filled=_fills(given["jaxpr"], first + place))
        if is_direct or not each.buffers
        else each
        for place, each in enumerate(arrays)
        if place >= mapping.num_inputs
    ]
    semantics = _semantics(given["compiler_params"], grid)
    aliases = tuple((operand - first, result) for operand, result in given["input_output_aliases"])
    scratch_bytes = sum(map(_scratch_bytes, mapping.scratch_avals))
    return PallasCall(grid, tuple(inputs), tuple(outputs), semantics, aliases, scratch_bytes)


def _size_of_axis(size: OfJax) -> int:
    if not isinstance(size, int):
        raise PallasError("pallas_calls: a size of the grid is known only while the program runs")
    return size


def _name(number: int, inputs: int) -> str:
    return f"input {number}" if number < inputs else f"output {number - inputs}"


def _read_array(
    mapping: OfJax, grid: Sequence[int], prefetched: Sequence[OfJax], name: str
) -> BlockedArray:
    """The blocks of an array, as Pallas keeps them."""
    where = f"pallas_calls: {name} ({mapping.origin})"
    steps = steps_of(grid)
    shape = shape_of(mapping.array_aval)
    spec = BlockSpec([_block_size(each, where) for each in mapping.block_shape])
    indices, origins = read_index_map(mapping.index_map_jaxpr, steps, prefetched, where)
    buffers = 0 if _is_left(mapping) else getattr(mapping.pipeline_mode, "buffer_count", 2)
    return BlockedArray(name, shape, spec.block_of(shape), indices, buffers, origins)


def _block_size(size: OfJax, where: str) -> BlockSize:
    kind = type(size).__name__
    if kind not in _BLOCK_SIZES:
        message = f"{where}: a dimension of the block is a {kind}, of unknown place or size"
        raise PallasError(message)
    return _BLOCK_SIZES[kind](size)


_BLOCK_SIZES: Final[Mapping[str, Callable[[OfJax], BlockSize]]] = {
    "int": lambda size: size,
    "Blocked": lambda size: size.block_size,
    "Element": lambda size: ElementBlock(size.block_size, tuple(size.padding)),
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


def _fills(kernel: OfJax, place: int) -> bool:
    """Whether each step of a kernel certainly writes all of a reference."""
    reference = kernel.invars[place]
    return any(
        equation.primitive.name in ("swap", "addupdate")
        and equation.invars[0] is reference
        and equation.invars[1].aval.shape == reference.aval.shape
        and not any(index.aval.shape for index in equation.invars[2:])
        for equation in kernel.eqns
    )


def _semantics(parameters: OfJax, grid: Sequence[int]) -> tuple[str, ...]:
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


# Index maps as JAX traces them: scalar integer arithmetic, as expressions.
#
# Each equation becomes an expression over the step of the grid. What an index map reads from a
# prefetched operand is a runtime variable.


def read_index_map(
    closed: OfJax, steps: Sequence[Variable], prefetched: Sequence[Value], where: str
) -> tuple[IndexingMap, tuple[PrefetchedScalar, ...]]:
    """The map from a step to the index of its block, and where its runtime variables come from.

    Integers of the map are taken to fit their types.

    Raises:
        PallasError: the map does more than integer arithmetic; ``where`` begins the message.
    """
    jaxpr = closed.jaxpr
    reader = _IndexMapReader(steps, where)
    arguments = [*(symbol(each.name) for each in steps), *prefetched]
    results = reader.run(jaxpr, closed.consts, arguments)
    found = IndexingMap(results, steps, (), reader.runtime)
    return found, tuple(reader.origins)


class _IndexMapReader:
    """The values of a jaxpr's variables, and the runtime variables met so far."""

    def __init__(self, steps: Sequence[Variable], where: str) -> None:
        self.runtime: list[Variable] = []
        self.origins: list[PrefetchedScalar] = []
        self._steps = steps
        self._where = where
        self._bounds = {each.name: each.bounds for each in steps}
        self._known: dict[tuple[str, tuple[Value, ...]], Value] = {}

    def run(self, jaxpr: OfJax, constants: Sequence[Any], arguments: Sequence[Value]) -> list[Any]:
        """The results of a jaxpr for some arguments."""
        return evaluated(
            jaxpr, constants, arguments, lambda _, value: _number(value), self._results
        )

    def _results(self, equation: OfJax, operands: list[Value]) -> list[Value]:
        name, given = equation.primitive.name, equation.params
        if name == "get":
            return [self._prefetched(equation, *operands)]
        if name in _CALLS:
            called = given[_CALLS[name]]
            known = _known_function(given.get("name"), called.jaxpr)
            if known is not None:
                return [known(*operands)]
            return self.run(called.jaxpr, called.consts, operands)
        if name in _DIVISIONS:
            return [self._divided(name, *operands)]
        if name in _SHIFTS:
            return [self._shifted(name, *operands)]
        has_arrays = any(isinstance(each, str) or getattr(each, "shape", ()) for each in operands)
        if name not in _PRIMITIVES or has_arrays:
            raise PallasError(f"{self._where}: the index map has the operation {name}")
        powers = [given["y"]] if name == "integer_pow" else []
        return [_PRIMITIVES[name](*operands, *powers)]

    def _divided(self, name: str, numerator: Value, divisor: Value) -> Value:
        """A quotient rounded toward zero, and its remainder."""
        if not divisor.is_Integer or divisor == 0:
            message = f"{self._where}: the index map divides by {divisor}"
            raise PallasError(f"{message}; expected a number other than 0")
        size = abs(divisor)
        is_nonnegative = self._is_nonnegative(numerator)
        quotient = quotient_toward_zero(numerator, size, is_nonnegative=is_nonnegative)
        quotient = quotient if divisor > 0 else -quotient
        return quotient if name == "div" else numerator - divisor * quotient

    def _is_nonnegative(self, value: Value) -> bool:
        least = bounds_of(value, self._bounds).lower
        return least is not None and least >= 0

    def _shifted(self, name: str, value: Value, by: Value) -> Value:
        """Bits moved by a number; to the right, the sign or zeros come in."""
        if (
            not by.is_Integer
            or not 0 <= by < _BITS
            or (name == "shift_right_logical" and not self._is_nonnegative(value))
        ):
            message = f"{self._where}: the index map has {name} of {value} by {by}"
            raise PallasError(f"{message}; expected a number from 0 to {_BITS - 1}")
        return value * 2**by if name == "shift_left" else FloorDiv(value, 2**by)

    def _prefetched(self, equation: OfJax, operand: Value, *leaves: Value) -> sympy.Expr:
        """The element of a prefetched operand, as a runtime variable."""
        import jax  # noqa: PLC0415  (an extra)

        unflatten: OfJax = jax.tree_util.tree_unflatten  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
        transforms = unflatten(equation.params["tree"], leaves)
        aval = equation.outvars[0].aval
        if len(transforms) != 1 or aval.shape or not np.issubdtype(aval.dtype, np.integer):
            raise PallasError(f"{self._where}: the index map reads more than an integer")
        index = tuple(map(_number, transforms[0].indices))
        if not isinstance(operand, str):
            flat = sympy.Integer(0)
            for each, size in zip(index, operand.shape, strict=True):
                if not Interval(0, size - 1).contains(bounds_of(each, self._bounds)):
                    message = f"{self._where}: the index map reads a table of {size} at {each}"
                    raise PallasError(f"{message}; expected an index inside")
                flat = flat * size + each
            return to_sympy(tabulated([*map(int, operand.ravel())], from_sympy(flat)))
        key = operand, index
        if key not in self._known:
            limits = np.iinfo(aval.dtype)
            bounds = Interval(int(limits.min), int(limits.max))
            name = f"rt{len(self.runtime)}"
            of_steps = IndexingMap(list(index), self._steps, (), self.runtime)
            self.origins.append(PrefetchedScalar(operand, of_steps.without_unused_symbols()))
            self.runtime.append(Variable(bounds, name))
            self._bounds[name] = bounds
            self._known[key] = symbol(name)
        return self._known[key]


def _number(value: OfJax) -> Value:
    if getattr(value, "shape", ()):
        return value
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool):
        return sympy.true if plain else sympy.false
    return sympy.Integer(plain) if isinstance(plain, int) else plain


def _chosen(which: Value, *cases: Value) -> Value:
    """``select_n``: the case of a number, or the second case where a condition holds."""
    conditions = (
        [sympy.Not(relation_of(which))]
        if is_relation(which)
        else [sympy.Eq(which, n) for n in range(len(cases) - 1)]
    )
    chosen = zip(cases, conditions, strict=False)
    if not all(map(is_relation, cases)):
        return sympy.Piecewise(*chosen, (cases[-1], True))
    otherwise = cases[-1]
    for case, condition in reversed([*chosen]):
        otherwise = sympy.Or(sympy.And(condition, case), sympy.And(sympy.Not(condition), otherwise))
    return otherwise


def _of_bits(
    of_conditions: Callable[..., Value], of_integers: Callable[..., Value]
) -> Callable[..., Value]:
    """An operation on conditions, and on the bits of integers."""
    return lambda *operands: (of_conditions if all(map(is_relation, operands)) else of_integers)(
        *operands
    )


def _converted(value: Value) -> Value:
    return sympy.Piecewise((1, value), (0, True)) if is_relation(value) else value


def _complement(value: Value) -> Value:
    return -value - 1


def _clamped(lower: Value, value: Value, upper: Value) -> Value:
    return Min(Max(value, lower), upper)


_OF_ONE: Final[Mapping[str, Callable[[Value], Value]]] = {
    "abs": lambda value: Max(value, -value),
    "broadcast_in_dim": lambda value: value,
    "convert_element_type": _converted,
    "neg": lambda value: -value,
    "reshape": lambda value: value,
    "sign": lambda value: Max(Min(value, 1), -1),
    "square": lambda value: value * value,
    "squeeze": lambda value: value,
}

_PRIMITIVES: Final[Mapping[str, Callable[..., Value]]] = {
    **_OF_ONE,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "max": Max,
    "min": Min,
    "clamp": _clamped,
    "integer_pow": sympy.Pow,
    "eq": sympy.Eq,
    "ne": sympy.Ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "and": _of_bits(sympy.And, BitAnd),
    "or": _of_bits(sympy.Or, BitOr),
    "xor": _of_bits(sympy.Xor, BitXor),
    "not": _of_bits(sympy.Not, _complement),
    "select_n": _chosen,
}
"""The operations on scalars."""

_DIVISIONS: Final = ("div", "rem")

_SHIFTS: Final = ("shift_left", "shift_right_arithmetic", "shift_right_logical")

_BITS: Final = 32
"""Of an integer of an index map."""

_CALLS: Final = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr"}
"""The primitives that call a jaxpr, and the parameter that has it."""

_FUNCTIONS: Final[Mapping[str, tuple[frozenset[str], Callable[..., Value]]]] = {
    "floor_divide": (
        frozenset({"convert_element_type", "div", "sign", "ne", "rem", "and", "sub", "jit"}),
        FloorDiv,
    ),
    "remainder": (
        frozenset(
            {"convert_element_type", "eq", "jit", "rem", "ne", "lt", "and", "add", "select_n"}
        ),
        Mod,
    ),
}
"""The functions of JAX that have an operator here, with the primitives that they consist of."""


def _known_function(name: object, jaxpr: OfJax) -> Callable[..., Value] | None:
    """The operator that a function of JAX is, such as ``//``; one of a user has other equations."""
    if name not in _FUNCTIONS:
        return None
    made_of, known = _FUNCTIONS[str(name)]
    used = {equation.primitive.name for equation in jaxpr.eqns}
    return known if used <= made_of and {"rem", "ne"} <= used else None
