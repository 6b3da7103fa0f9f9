"""The tiling space of a fusion, the dimensions that a kernel may tile, and the tiles of its arrays.

The dimensions of the results come first, then those that instructions go through, such as the
contracting dimensions of a dot. Each array of the fusion has maps from this space to its elements.
So a range variable keeps its identity along compositions: it is a dimension of the space.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from math import prod
from typing import Final, NamedTuple, TypeAlias

from indexing import IndexingMap, Tile, TileConstraints, TileError, Variable
from indexing.passes import Domain, Formulas, is_symbolic, tile_of
from ops.analysis.dataflow import Array
from ops.dependence.dependence import NOTHING, AnyDependence, Dependence, identity_of
from ops.dependence.operand_indexing import OperandIndexing
from ops.fusion import Fusion, FusionError
from ops.fusion.slicing import Flow, FlowNode, FlowStep, Region
from ops.hlo import Instruction
from ops.hlo.attributes import DimensionLabels
from ops.hlo.module import INSTRUCTION
from ops.index_maps import dim
from ops.performance.kernels import evaluated_by
from ops.rules.rule import Direction, Unknown, if_known, known
from ops.xla_gpu import unflattened
from simplifier import forms
from simplifier.errors import IndexingError, check_integers, check_type, listed
from simplifier.forms import Form, Interval
from simplifier.tools.display import Displayed
from simplifier.tools.late import sympy

Lifted: TypeAlias = "list[tuple[tuple[Form, ...], OperandIndexing]]"
"""Indexings with ranges as trailing dimensions, and what these are in the space."""


@dataclass(frozen=True, slots=True, repr=False)
class TilingSpace(Displayed):
    """All dimensions that a kernel of a fusion may tile, and the maps from there to its arrays.

    Attributes:
        fusion: what runs as one kernel.
        dimensions: the parallel ones, then those that instructions go through.
        accesses: for each array, which of its elements a point of the space reads or gives: maps
            with one dimension for each dimension of the space, and no ranges.
        results: the arrays of :attr:`Fusion.results <ops.Fusion.results>`.

    >>> from ops import hlo
    >>> module = hlo.parse('''
    ... max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
    ... ENTRY e { x = f32[4,8] parameter(0) i = f32[] constant(-inf)
    ...   m = f32[4] reduce(x, i), dimensions={1}, to_apply=max
    ...   b = f32[4,8] broadcast(m), dimensions={0}
    ...   ROOT d = f32[4,8] subtract(x, b) }''')
    >>> space = TilingSpace.of(Fusion.of_computation(module.entry))
    >>> for indexing in space.of_instruction(module.entry.parameters[0]):
    ...     print(indexing)
    (d0, d1, d2) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 7]
    (d0, d1, d2) -> (d0, d2), domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 7]
    >>> print(space.dimensions[2])
    reduced dimension of %m, 1 of %x, in [0, 7]
    """

    fusion: Fusion
    dimensions: tuple[TilingDimension, ...]
    accesses: Mapping[FlowNode, AnyDependence]
    results: tuple[FlowNode, ...]

    def __str__(self) -> str:
        return "\n".join([f"dimensions of {self.fusion}", *map(str, self.dimensions)])

    @classmethod
    def of(cls, fusion: Fusion) -> TilingSpace:
        """The space from the results of a fusion back to all that they are computed from."""
        check_type(fusion, Fusion, "TilingSpace.of: the fusion", "an ops.Fusion")
        flow = Flow(Region(fusion.instructions, fusion.registry), Direction.OUTPUT_TO_INPUT)
        written = (each.written for each in evaluated_by(fusion))
        results = [flow.result(FlowNode(*array, _callers(array, fusion))) for array in written]
        return _space(fusion, flow, results)

    @classmethod
    def from_operand(cls, fusion: Fusion, operand: Instruction, element: int = 0) -> TilingSpace:
        """The space from an operand forward to all that is computed from it.

        Raises:
            FusionError: the operand is none of the fusion, or has no such array.
        """
        check_type(fusion, Fusion, "TilingSpace.from_operand: the fusion", "an ops.Fusion")
        check_type(operand, Instruction, "TilingSpace.from_operand: the operand", INSTRUCTION)
        if operand not in fusion.operands and operand not in fusion.instructions:
            raise FusionError(f"fusion: %{operand.name} is neither in it nor read")
        if element not in operand.shape.array_indices:
            message = f"fusion: %{operand.name} has no array {element}"
            raise FusionError(f"{message}; expected 0 to {len(operand.shape.arrays) - 1}")
        flow = Flow(Region(fusion.instructions, fusion.registry), Direction.INPUT_TO_OUTPUT)
        return _space(fusion, flow, [FlowNode(operand, element)])

    @property
    def parallel(self) -> tuple[TilingDimension, ...]:
        """The dimensions of results, which different programs compute."""
        return tuple(each for each in self.dimensions if each.kind is DimensionKind.PARALLEL)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The values of the dimensions."""
        return tuple(each.variable for each in self.dimensions)

    def of_instruction(self, instruction: Instruction, element: int = 0) -> AnyDependence:
        """The maps to an array of an instruction, in all runs together."""
        array = instruction, element
        return NOTHING.union(*(each for node, each in self.accesses.items() if node[:2] == array))


def _callers(array: Array, fusion: Fusion) -> tuple[Instruction, ...]:
    """The fusion in which an array is that it writes."""
    return () if array[0].computation is fusion.computation else fusion.roots


def _space(fusion: Fusion, flow: Flow, results: Sequence[FlowNode]) -> TilingSpace:
    """The space in which each result has dimensions, its own or those of others."""
    solver = _SpaceBuilder(flow, results)
    begins = solver.unreached()
    while True:
        accesses = solver.solve(begins)
        others = [node for node in solver.results if node not in begins]
        missing = [node for node in others if not _is_covered(node, accesses[node])]
        if not missing:
            return TilingSpace(fusion, tuple(solver.numbers), accesses, tuple(results))
        begins = [*begins, missing[0]]


def _is_covered(node: FlowNode, accesses: AnyDependence) -> bool:
    """Whether one of the maps leads to every element, so that its tiles are all that there is."""
    for indexing in accesses.indexings:
        if not (indexing.map.runtime or indexing.map.parameters):
            with suppress(IndexingError):  # too much for isl
                if indexing.map.covers(node.sizes):
                    return True
    return False


class _SpaceBuilder:
    """Numbers the dimensions of a space, and follows maps from there."""

    def __init__(self, flow: Flow, results: Sequence[FlowNode]) -> None:
        self.is_backward = flow.direction is Direction.OUTPUT_TO_INPUT
        self.nodes = flow.nodes_from(results)
        self.steps = {node: flow.steps_from(node) for node in self.nodes}
        wanted = frozenset(results)
        self.results = [node for node in self.nodes if node in wanted]
        self.sources = {n: flow.source(n) if self.is_backward else n for n in self.nodes}
        self.numbers: dict[TilingDimension, int] = {}

    def unreached(self) -> list[FlowNode]:
        """Results that no other leads to; back to the arrays that they pass on, without a range."""
        reached: set[FlowNode] = set()
        alike: set[FlowNode] = set()
        begins: list[FlowNode] = []
        for node in self.nodes:
            given = [each for each in self.results if self.sources[each] == node]
            begins += [each for each in given if each not in reached and node not in alike]
            if node in reached or given:
                reached |= {step.target for step in self.steps[node]}
            if node in alike or given:
                alike |= {step.target for step in self.steps[node] if not step.has_ranges}
        return begins

    def solve(self, begins: Sequence[FlowNode]) -> dict[FlowNode, AnyDependence]:
        """The maps from the space to each array; results of equal sizes share dimensions."""
        self.numbers = {}
        of_sizes: dict[tuple[int, ...], list[int]] = {}
        own: dict[FlowNode, list[int]] = {}
        for node in begins:
            if node.sizes not in of_sizes:
                of_sizes[node.sizes] = [*map(self._number, _parallel(node))]
            own[node] = of_sizes[node.sizes]
        steps = {
            node: [(step.target, self._lifted(step)) for step in self.steps[node]]
            for node in self.nodes
        }
        domain = Domain.of([each.variable for each in self.numbers])
        found: dict[FlowNode, AnyDependence] = defaultdict(lambda: NOTHING)
        for node in self.nodes:
            if node in own:
                found[node] = found[node].union(_beginning(node, own[node], domain))
            for target, lifted in steps[node]:
                behind = found[node] if lifted is None else if_known(_behind, found[node], lifted)
                found[target] = found[target].union(behind)
        for node in self.nodes:
            if found[node] == NOTHING:
                found[node] = found[self.sources[node]]
        return {node: found[node] for node in self.nodes}

    def _number(self, dimension: TilingDimension) -> int:
        return self.numbers.setdefault(dimension, len(self.numbers))

    def _lifted(self, step: FlowStep) -> Lifted | Unknown | None:
        """The dependence of a step with a dimension of the space for each range."""

        def lifted(dependence: Dependence) -> Lifted:
            return [(self._ranges(step, each), each.ranges_to_dims()) for each in dependence]

        return None if step.dependence is None else if_known(lifted, step.dependence)

    def _ranges(self, step: FlowStep, indexing: OperandIndexing) -> tuple[Form, ...]:
        """All ranges of an indexing."""
        return tuple(self._range(step, indexing, at) for at in range(len(indexing.map.ranges)))

    def _range(self, step: FlowStep, indexing: OperandIndexing, at: int) -> Form:
        """A range of an indexing, over the dimensions of the space."""
        variable, name = indexing.map.ranges[at], f"s{at}"
        if self.is_backward:
            group = group_of_range(step.operand, step.instruction, indexing.map, name)
        else:
            outputs = axes_of(step.target.element, indexing.map, name)
            group = AxisGroup(DimensionKind.SPREAD, outputs)
        made = TilingDimension(step.instruction, *group, variable, step.callers)
        known = next((each for each in self.numbers if each == made), made)
        wide, narrow = known.size, variable.bounds.size
        if wide != narrow and wide and narrow and wide % narrow == 0 and variable.bounds.lower == 0:
            return dim(self._number(known)) // (wide // narrow)
        if known.variable.bounds != variable.bounds:
            axes = axes_of(step.operand, indexing.map, name)
            made = replace(made, kind=DimensionKind.WHOLE, axes=axes)
        return dim(self._number(made))


def _parallel(node: FlowNode) -> Iterator[TilingDimension]:
    """The dimensions of a result."""
    instruction, element, callers = node
    found = identity_of(instruction, element)
    known = found.indexings[0].map.dims if found.indexings else map(Variable.of_size, node.sizes)
    for axis, variable in enumerate(known):
        kind, axes = DimensionKind.PARALLEL, ((element, axis),)
        yield TilingDimension(instruction, kind, axes, variable, callers)


def _beginning(node: FlowNode, own: Sequence[int], domain: Domain) -> AnyDependence:
    """The map from a space to a result that has these dimensions."""
    onto = OperandIndexing(IndexingMap.from_forms(map(dim, own), domain))
    return Dependence((onto,)).compose(identity_of(node.instruction, node.element))


def _behind(here: Dependence, step: Lifted) -> AnyDependence:
    """The dependence behind a step from an array."""
    ways = (own.with_results(ranges).compose(to) for ranges, to in step for own in here)
    return NOTHING.union(*(Dependence((way,)) for way in ways))


# The dimensions of a tiling space: what each range variable of an instruction's maps counts.

Axis: TypeAlias = "tuple[int, int]"
"""The number of an array that an instruction reads or gives, and a dimension of it."""


class DimensionKind(enum.Enum):
    """Kind of a dimension of an instruction."""

    PARALLEL = "parallel"
    """It computes each element of the result by itself."""
    REDUCED = "reduced"
    """It folds the elements of an operand."""
    CONTRACTING = "contracting"
    """It adds up products."""
    WINDOW = "window"
    """It folds the elements of a window."""
    WHOLE = "whole"
    """It needs all elements at once, as a sort does."""
    SPREAD = "spread"
    """Seen from an operand: its elements take part in all elements of the result along it."""


@dataclass(frozen=True, slots=True)
class TilingDimension:
    """A dimension that a kernel may tile: of a result, or one that an instruction goes through.

    Attributes:
        instruction: the one whose dimension it is.
        kind: what the instruction does along it.
        axes: where it is: dimensions of the result, or of operands, which are numbered.
        variable: its values.
        callers: the fusions and calls, outermost first, in whose run the instruction is meant.

    >>> from ops import Fusion, TilingSpace, hlo
    >>> module = hlo.parse('''ENTRY e { x = f32[4,8] parameter(0) y = f32[8,2] parameter(1)
    ...   ROOT d = f32[4,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }''')
    >>> for dimension in TilingSpace.of(Fusion.of_computation(module.entry)).dimensions:
    ...     print(dimension)
    parallel dimension 0 of %d, in [0, 3]
    parallel dimension 1 of %d, in [0, 1]
    contracting dimension of %d, 1 of %x, 0 of %y, in [0, 7]
    """

    instruction: Instruction
    kind: DimensionKind
    axes: tuple[Axis, ...]
    variable: Variable = field(compare=False)
    callers: tuple[Instruction, ...] = ()

    @property
    def size(self) -> int | None:
        """Number of its values; ``None`` if that is a parameter."""
        return self.variable.bounds.size

    @property
    def can_be_cut(self) -> bool:
        """Whether a kernel may go through it tile by tile."""
        return self.kind not in (DimensionKind.WHOLE, DimensionKind.SPREAD)

    def check_size(self, op: str, size: int) -> None:
        """Raise a :class:`TileError` unless a tile may have so many values along it."""
        most = None if self.size is None else max(self.size, 1)
        given = f"{op}: {self} has the tile size {size}"
        if size < 1 or (most is not None and size > most):
            raise TileError(f"{given}; expected {'1 or more' if most is None else f'1 to {most}'}")
        if size != most and not self.can_be_cut:
            raise TileError(f"{given}, but it needs all elements at once; expected {most}")

    def __str__(self) -> str:
        within = "".join(f" in %{caller.name}" for caller in reversed(self.callers))
        if self.kind in (DimensionKind.PARALLEL, DimensionKind.SPREAD):
            places = " and ".join(str(axis) for _, axis in self.axes)
            head = f"{self.kind.value} dimension {places} of %{self.instruction.name}{within}"
        else:
            operands = self.instruction.operands
            places = listed([f"{axis} of %{operands[at].name}" for at, axis in self.axes])
            head = f"{self.kind.value} dimension of %{self.instruction.name}{within}, {places}"
        return f"{head}, in {self.variable.bounds}"


class AxisGroup(NamedTuple):
    """Dimensions of operands that one range variable goes through together."""

    kind: DimensionKind
    axes: tuple[Axis, ...]


def groups_of(instruction: Instruction) -> Sequence[AxisGroup]:
    """The dimensions that an instruction goes through, in the order of its attributes.

    >>> from ops import hlo
    >>> text = "ENTRY e { x = f32[4,8,2] parameter(0) y = f32[8,2] parameter(1) ROOT d = f32[4] "
    >>> text += "dot(x, y), lhs_contracting_dims={2,1}, rhs_contracting_dims={1,0} }"
    >>> for group in groups_of(hlo.parse(text).entry.root):
    ...     print(group.kind.value, group.axes)
    contracting ((0, 2), (1, 1))
    contracting ((0, 1), (1, 0))
    """
    listing = _GROUPS.get(instruction.opcode)
    return () if listing is None else tuple(listing(instruction))


def group_of_range(
    operand: int, instruction: Instruction, of_range: IndexingMap, name: str
) -> AxisGroup:
    """The dimension of a range of the map to an operand; a new one if nobody names it."""
    axes = axes_of(operand, of_range, name)
    found = [each for each in groups_of(instruction) if not {*axes}.isdisjoint(each.axes)]
    return found[0] if len(found) == 1 else AxisGroup(DimensionKind.WHOLE, axes)


def axes_of(array: int, of_range: IndexingMap, name: str) -> tuple[Axis, ...]:
    """The dimensions of an array, which a map leads to, that use a range."""
    results = enumerate(of_range.forms)
    return tuple((array, axis) for axis, form in results if name in forms.variables_of([form]))


# By opcode.


def _contracted(instruction: Instruction) -> Iterator[AxisGroup]:
    named = instruction.attributes
    contracted = (named.get(f"{side}_contracting_dims", ()) for side in ("lhs", "rhs"))
    for pair in zip(*contracted, strict=False):
        sides = enumerate(pair * (len(instruction.operands) // 2))  # scales follow their tensors
        yield AxisGroup(DimensionKind.CONTRACTING, tuple(sides))


def _folded(instruction: Instruction) -> Iterator[AxisGroup]:
    kind, axes = DimensionKind.REDUCED, instruction.attributes.get("dimensions")
    if axes is None:
        kind, axes = DimensionKind.WINDOW, range(instruction.operands[0].shape.rank)
    for axis in axes:
        inputs = range(len(instruction.operands) // 2)
        yield AxisGroup(kind, tuple((number, axis) for number in inputs))


def _convolved(instruction: Instruction) -> Iterator[AxisGroup]:
    labels: DimensionLabels = instruction.attributes["dim_labels"]
    for axis, label in enumerate(labels.kernel):
        if label == "i":
            axes = (0, labels.input.index("f")), (1, axis)
            yield AxisGroup(DimensionKind.CONTRACTING, axes)
        elif label != "o":
            yield AxisGroup(DimensionKind.WINDOW, ((0, labels.input.index(label)), (1, axis)))


_GROUPS: Final[Mapping[str, Callable[[Instruction], Iterator[AxisGroup]]]] = {
    "convolution": _convolved,
    "dot": _contracted,
    "ragged-dot": _contracted,
    "reduce": _folded,
    "reduce-window": _folded,
    "scaled-dot": _contracted,
}


# Tile propagation: from tile sizes of the results to the tile of every array of a fusion.

TileSize: TypeAlias = "sympy.Expr | int | None"
"""How many values a tile has along a dimension; ``None`` for all of them."""

TileSizes: TypeAlias = "Sequence[TileSize] | Mapping[TilingDimension, TileSize]"
"""Sizes for the dimensions of a space in order, or for some of them; others are whole."""


@dataclass(frozen=True, slots=True, repr=False)
class ArrayTile(Displayed):
    """The elements of one array of a fusion that belong to one tile of its space.

    Attributes:
        instruction: the one that gives the array, or an operand of the fusion.
        element: the number of the array where the result is a tuple.
        callers: the fusions and calls, outermost first, in whose run it is computed.
        indexings: the maps from the space that have this tile, with their runtime variables.
        tile: the tile, or the reason why there is none.
        replicas: the tile of the map to the replicas that it is read from, if there are several.
    """

    instruction: Instruction
    element: int
    callers: tuple[Instruction, ...]
    indexings: tuple[OperandIndexing, ...]
    tile: Tile | Unknown
    replicas: Tile | None = None

    def __str__(self) -> str:
        within = "".join(f" in %{caller.name}" for caller in reversed(self.callers))
        place = f" output {self.element}" if self.instruction.shape.is_tuple else ""
        lines = str(self.tile).splitlines()
        if self.replicas is not None:
            lines += [f"replica {line}" for line in str(self.replicas).splitlines()]
        return "\n  ".join([f"%{self.instruction.name}{within}{place}", *lines])

    def checked_tile(self) -> Tile:
        """The tile.

        Raises:
            TileError: there is none; the message names the instruction, and says why.
        """
        message = f"propagate: %{self.instruction.name} has no tile: "
        return known(self.tile, lambda reason: TileError(message + reason))


@dataclass(frozen=True, slots=True, repr=False)
class Propagation(Displayed):
    """The tiles of all arrays of a fusion; ids ``t0, t1, ...`` count tiles of its dimensions.

    Attributes:
        space: the dimensions, and the maps from there.
        sizes: the tile size of each dimension.
        tiles: of every array, results first; an array that is read in two ways has two.
    """

    space: TilingSpace
    sizes: tuple[sympy.Expr | int, ...]
    tiles: tuple[ArrayTile, ...]

    def of(self, instruction: Instruction, element: int = 0) -> tuple[ArrayTile, ...]:
        """The tiles of an array: one for each different way in which it is read."""
        array = instruction, element
        return tuple(each for each in self.tiles if (each.instruction, each.element) == array)

    @property
    def operands(self) -> tuple[ArrayTile, ...]:
        """The tiles of the operands of the fusion, in their order."""
        at = {operand: number for number, operand in enumerate(self.space.fusion.operands)}
        found = [each for each in self.tiles if each.instruction in at]
        return tuple(sorted(found, key=lambda each: (at[each.instruction], each.element)))

    @property
    def results(self) -> tuple[ArrayTile, ...]:
        """The tiles of the fusion's results, in the order of these."""
        at = {node: number for number, node in enumerate(self.space.results)}
        found = [each for each in self.tiles if _node(each) in at]
        return tuple(sorted(found, key=lambda each: at[_node(each)]))

    @property
    def refused(self) -> tuple[ArrayTile, ...]:
        """The arrays that have no tile; the tile of each is the reason."""
        return tuple(each for each in self.tiles if isinstance(each.tile, Unknown))

    @property
    def constraints(self) -> TileConstraints:
        """The sizes for which all tiles are exact."""
        found = (each.tile.constraints for each in self.tiles if isinstance(each.tile, Tile))
        return reduce(lambda one, other: one & other, found, TileConstraints())

    def check(self) -> Propagation:
        """The same, if every array has a tile.

        Raises:
            TileError: one has none, as :meth:`ArrayTile.checked_tile` says.
        """
        for each in self.tiles:
            each.checked_tile()
        return self

    @property
    def grid(self) -> tuple[int, ...]:
        """Number of tiles along each dimension.

        Raises:
            TileError: a size is no number.
        """
        return tuple(map(_count, self.space.dimensions, self.sizes))

    def program_map(self, order: Sequence[int] | None = None) -> IndexingMap:
        """Map from the id of a program to the tile ids of the parallel dimensions.

        ``order`` lists these dimensions, the slowest first; by default as they are.

        Raises:
            TileError: a size is no number, or the order is no order of the parallel dimensions.
            ArgumentError: the order has other things than integers.

        >>> from ops import Fusion, hlo
        >>> text = "ENTRY e { x = f32[32,64] parameter(0) ROOT n = f32[32,64] negate(x) }"
        >>> found = propagate(Fusion.of_computation(hlo.parse(text).entry), [8, 8])
        >>> print(found.program_map())
        (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
        >>> print(found.program_map([1, 0]))
        (d0) -> (d0 mod 4, d0 floordiv 4), domain: d0 in [0, 31]
        """
        counts = self.grid[: len(self.space.parallel)]
        order = range(len(counts)) if order is None else order
        check_integers(order, "program_map: the order")
        if sorted(order) != [*range(len(counts))]:
            expected = f"expected each of 0 to {len(counts) - 1} once"
            raise TileError(f"program_map: the order is {listed([*map(str, order)])}; {expected}")
        digits = unflattened(dim(0), [counts[number] for number in order])
        ids = dict(zip(order, digits, strict=True))
        domain = Domain.of([Variable.of_size(prod(counts))])
        return IndexingMap.from_forms(map(ids.__getitem__, range(len(counts))), domain).simplify()

    def __iter__(self) -> Iterator[ArrayTile]:
        return iter(self.tiles)

    def __len__(self) -> int:
        return len(self.tiles)

    def __str__(self) -> str:
        return "\n".join(map(str, self.tiles))


def propagate(
    fusion: Fusion, tile_sizes: TileSizes, *, operand: Instruction | None = None, element: int = 0
) -> Propagation:
    """The tile of every array of a fusion, from tile sizes of its results, or of an operand.

    ``tile_sizes`` has a number, an expression, or ``None`` for all, for each of the parallel
    dimensions of :attr:`TilingSpace.dimensions`, and maybe for those that instructions go through;
    or it is a mapping. Other dimensions are whole. With an ``operand``, the sizes are those of its
    tile, and tiles are propagated forward, to all that is computed from them.

    Each tile holds exactly the elements that belong to a tile of the space, or says why there is
    none. Arrays behind it may have one nevertheless.

    Raises:
        TileError: a wrong number of sizes, or one that no tile has.
        FusionError: the operand is none of the fusion.

    >>> from ops import Fusion, hlo
    >>> module = hlo.parse('''ENTRY e { x = f32[4,8] parameter(0) y = f32[8,2] parameter(1)
    ...   ROOT d = f32[4,2] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }''')
    >>> print(propagate(Fusion.of_computation(module.entry), [2, 2, 4]))
    %d
      offsets: t0 * 2, 0
      sizes: 2, 2
      strides: 1, 1
    %x
      offsets: t0 * 2, t2 * 4
      sizes: 2, 4
      strides: 1, 1
    %y
      offsets: t2 * 4, 0
      sizes: 4, 2
      strides: 1, 1
    """
    if operand is None:
        return propagate_in(TilingSpace.of(fusion), tile_sizes)
    return propagate_in(TilingSpace.from_operand(fusion, operand, element), tile_sizes)


def propagate_in(space: TilingSpace, tile_sizes: TileSizes) -> Propagation:
    """The tile of every array of a space, from sizes of its dimensions as for :func:`propagate`.

    Raises:
        TileError: a wrong number of sizes, or one that no tile has.
    """
    sizes = _read_sizes(space, tile_sizes)
    return Propagation(space, sizes, tuple(_tiles(space, sizes)))


def _read_sizes(space: TilingSpace, tile_sizes: TileSizes) -> tuple[sympy.Expr | int, ...]:
    """A size for each dimension of a space; numbers fit into their dimension.

    Raises:
        TileError: a wrong number of sizes, or one that no tile has; the message says which.
    """
    check_type(tile_sizes, (Sequence, Mapping), "propagate: tile_sizes", "sizes, or a mapping")
    dimensions = space.dimensions
    if isinstance(tile_sizes, Mapping):
        for key in tile_sizes:
            if key not in dimensions:
                raise TileError(f"propagate: {key} is no dimension of the space")
        given = [tile_sizes.get(each) for each in dimensions]
    else:
        counts = dict.fromkeys([len(space.parallel), len(dimensions)])
        if len(tile_sizes) not in counts:
            expected = " or ".join(map(str, counts))
            message = f"propagate: {len(tile_sizes)} sizes are given; expected {expected}"
            raise TileError(f"{message}, one for each parallel dimension, or for all")
        given = [*tile_sizes] + [None] * (len(dimensions) - len(tile_sizes))
    return tuple(map(_read_size, dimensions, given))


def _read_size(dimension: TilingDimension, size: TileSize) -> sympy.Expr | int:
    whole = dimension.size
    if size is None:
        if whole is None:
            raise TileError(f"propagate: {dimension} has no numeric size; expected a tile size")
        return max(whole, 1)
    if is_symbolic(size):
        return size
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise TileError(f"propagate: {dimension} has the tile size {size!r}; expected an integer")
    dimension.check_size("propagate", int(size))
    return int(size)


def _count(dimension: TilingDimension, size: sympy.Expr | int) -> int:
    whole = dimension.size
    if is_symbolic(size) or whole is None:
        raise TileError(f"propagate: {dimension} has the tile size {size}; expected numbers")
    return -(-whole // int(size))


# The tile of one array.


def _tiles(space: TilingSpace, sizes: tuple[sympy.Expr | int, ...]) -> Iterator[ArrayTile]:
    for node, accesses in space.accesses.items():
        if isinstance(accesses, Unknown):
            yield ArrayTile(*node, (), accesses)
            continue
        together: dict[object, tuple[list[OperandIndexing], _Tiles]] = {}
        for indexing in accesses:
            tiles = _tiles_of(indexing, space, sizes)
            key = *map(_meaning, tiles), indexing.runtime, indexing.replica_id
            together.setdefault(key, ([], tiles))[0].append(indexing)
        for found, (tile, replicas) in together.values():
            yield ArrayTile(*node, tuple(found), tile, replicas)


class _Tiles(NamedTuple):
    """The tile of one map, and that of the replicas that its elements are on."""

    tile: Tile | Unknown
    replicas: Tile | None = None


def _meaning(tile: Tile | Unknown | None) -> object:
    """Key that is equal for equal tiles."""
    return (tile.formulas, tile.constraints) if isinstance(tile, Tile) else tile


def _tiles_of(
    indexing: OperandIndexing, space: TilingSpace, sizes: tuple[sympy.Expr | int, ...]
) -> _Tiles:
    """The tile of one map: exact, or the reason why there is none.

    All other things that elements depend on are the same in a tile: each runtime value, and the
    replica. Only replicas that have nothing to do with the indices may be several.
    """
    if indexing.approximation:
        return _Tiles(Unknown(indexing.approximation))
    values = values_of(indexing)
    free = _free_replica(indexing)
    own = indexing.map.simplify()
    kept = [form for form in values if free is None or form not in free.forms]
    try:
        together = IndexingMap.from_forms([*own.forms, *kept], own.domain).simplify()
        found = _tile_of_equal(together, space.variables, sizes)
        replicas = None if free is None else _tile_of_equal(free, space.variables, sizes)
    except TileError as error:
        return _Tiles(Unknown(str(error).removeprefix("tile: ")))
    rank = len(own.forms)
    sizes_of_values = (size for _, size, _ in found.formulas.results[rank:])
    several = TileConstraints.of([[(size, Interval.of(1))]] for size in sizes_of_values)
    if several.is_unsatisfiable:
        return _Tiles(Unknown(_differs(indexing, space, sizes)))
    first = {f"i{rank + number}": forms.ZERO for number in range(len(kept))}
    (condition,) = forms.substitute((found.formulas.condition,), first)
    formulas = Formulas(found.formulas.results[:rank], condition)
    constraints = found.constraints & several
    if replicas is not None:
        constraints &= replicas.constraints
    elif indexing.replica_id is not None:
        replicas = _one_replica(indexing.replica_id, kept, found)
    return _Tiles(replace(found, formulas=formulas, constraints=constraints), replicas)


_tile_of_equal = lru_cache(maxsize=1 << 10)(tile_of)
"""The tile of a map, found once: most arrays of a kernel, and of the next one, have equal maps."""


def _one_replica(replica_id: IndexingMap, values: Sequence[Form], found: Tile) -> Tile | None:
    """The one replica of a tile of elements and values."""
    (form,) = replica_id.simplify().forms
    if form not in values:
        return None
    offset, *_ = found.formulas.results[values.index(form) - len(values)]
    formulas = Formulas(((offset, forms.ONE, forms.ZERO),), forms.ONE)
    return replace(found, formulas=formulas, constraints=TileConstraints())


def _differs(
    indexing: OperandIndexing, space: TilingSpace, sizes: Sequence[sympy.Expr | int]
) -> str:
    """The reason why a tile with several values has no one place that it is read from."""
    along = [
        f"{space.dimensions[number]}, of which tiles have {sizes[number]} values"
        for number in dimensions_of_one_value(indexing)
        if sizes[number] != 1
    ]
    return f"the value that says where it reads differs along {listed(along)}"


def dimensions_of_one_value(indexing: OperandIndexing) -> Iterator[int]:
    """The dimensions along which elements depend on other things than their indices."""
    used = frozenset(forms.variables_of(values_of(indexing)))
    yield from (number for number in range(len(indexing.map.dims)) if f"d{number}" in used)


def values_of(indexing: OperandIndexing) -> list[Form]:
    """Things that elements depend on besides their indices: runtime values, and the replica."""
    found = dict.fromkeys(form for each in indexing.other_maps for form in each.simplify().forms)
    return [form for form in found if any(name[0] == "d" for name in forms.variables_of((form,)))]


def _free_replica(indexing: OperandIndexing) -> IndexingMap | None:
    """The map to the replica, if it shares no dimension with anything else."""
    if indexing.replica_id is None:
        return None
    replica, own = indexing.replica_id.simplify(), indexing.map.simplify()
    limits = (form for form, _ in own.domain.constraints)
    others = [form for form in values_of(indexing) if form not in replica.forms]
    used = frozenset(forms.variables_of((*own.forms, *limits, *others)))
    free = {name for name in forms.variables_of(replica.forms) if name[0] == "d"}
    if not used.isdisjoint(free):
        return None
    return IndexingMap.from_forms(replica.forms, own.domain.with_constraints(()))


def _node(each: ArrayTile) -> FlowNode:
    return FlowNode(each.instruction, each.element, each.callers)
