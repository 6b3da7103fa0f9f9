"""Shapes of results from those of operands, by rules that many opcodes share; and what must fit.

The rule of a single opcode stands beside its maps in :mod:`ops.rules`.

A rule computes with sizes that are numbers or forms over parameters. So it gives the shape that a
text leaves out, the shape that an inserted instruction has, and the true sizes of dynamic
dimensions. ``None`` stands for a size that the program gives only when it runs.

Source: XLA's parser and shape inference, and its dynamic dimension inference. The parser refuses
slices without a shape; these are inferred as well. It checks less of what must fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from indexing.layout import UNBOUNDED_SIZE, ElementType, Shape
from ops import index_maps
from ops.hlo.attributes import CALLED_ATTRIBUTES
from ops.hlo.errors import AttributeValueError
from ops.hlo.module import Computation, Instruction
from ops.hlo.opcodes import FIRST_START, LIKE_OPERANDS, Arity
from ops.index_maps import Size
from simplifier import forms
from simplifier.tools.late import load_announced

Found: TypeAlias = "Sequence[Size | None]"
"""The sizes of an array; ``None`` where the rule knows of none."""


# Operands of rules.


@dataclass(frozen=True, slots=True)
class Sized:
    """A shape, and the sizes of the arrays in it."""

    shape: Shape
    sizes: tuple[Found, ...]

    @classmethod
    def of(cls, shape: Shape) -> Sized:
        """A shape of which the sizes are the bounds."""
        return cls(shape, tuple(array.dimensions for array in shape.arrays))

    @classmethod
    def open(cls, number: int, shape: Shape) -> Sized:
        """The shape of an operand, with a variable for each size that is dynamic."""
        flags = shape.dynamic_dimensions or (False,) * len(shape.dimensions)
        own = [
            forms.variable(f"size{number}_{axis}") if is_dynamic else size
            for axis, (size, is_dynamic) in enumerate(zip(shape.dimensions, flags, strict=True))
        ]
        return cls(shape, (own,)) if shape.is_array else cls.of(shape)

    @classmethod
    def array(cls, element_type: ElementType, sizes: Iterable[Size | None]) -> Sized:
        """An array in the default layout."""
        found = tuple(sizes)
        return cls(array_shape(element_type, found), (found,))

    @classmethod
    def together(cls, several: Sequence[Sized]) -> Sized:
        """A tuple."""
        shape = Shape.of_tuple([each.shape for each in several])
        return cls(shape, tuple(sizes for each in several for sizes in each.sizes))

    @property
    def own(self) -> Sequence[Any]:
        """The sizes of an array; empty for any other shape."""
        return self.sizes[0] if self.shape.is_array else ()

    @property
    def rows(self) -> Iterable[tuple[Size, int]]:
        """The size of each dimension, and its bound. The two differ where it is dynamic."""
        return zip(self.own, self.shape.dimensions, strict=True)

    def element(self, index: int) -> Sized:
        """An element of a tuple."""
        elements = self.shape.elements
        first = sum(len(part.arrays) for part in elements[:index])
        return Sized(elements[index], self.sizes[first : first + len(elements[index].arrays)])

    def of_type(self, element_type: ElementType) -> Sized:
        """The same with elements of another type."""
        return replace(self, shape=self.shape.with_element_type(element_type))

    def taken(self, dimensions: Sequence[int]) -> list[Size]:
        """The sizes of some dimensions."""
        return [self.own[dimension] for dimension in checked_axes(self.shape, dimensions)]


def array_shape(element_type: ElementType, sizes: Iterable[Size | None]) -> Shape:
    """The shape of an array of such sizes, with ``?`` where they are no numbers."""
    known = (size if isinstance(size, int) else UNBOUNDED_SIZE for size in sizes)
    return Shape(element_type, tuple(known))


class Application(NamedTuple):
    """Arguments of a rule; ``result`` is the shape that is written, if it is."""

    opcode: str
    operands: Sequence[Sized]
    attributes: Mapping[str, Any]
    result: Shape | None = None
    value: Callable[[int], Size | None] = lambda _: None
    """The value of an operand, which is a scalar."""

    @property
    def written(self) -> Shape:
        """The shape that is written, since it does not follow."""
        if self.result is None:
            raise not_inferred(self.opcode)
        return self.result


ShapeRule = Callable[[Application], Sized]


class Known(Protocol):
    """Facts about the operands of an instruction."""

    def sizes(self, instruction: Instruction, element: int = 0) -> Sequence[Size]:
        """The sizes of an array of a result."""
        ...

    def value(self, instruction: Instruction) -> Size:
        """The value of a scalar."""
        ...

    def values(self, instruction: Instruction) -> Sequence[Size] | None:
        """The elements of a small array of integers, if all are known."""
        ...


def infer_shape(
    opcode: str,
    operands: Sequence[Shape],
    attributes: Mapping[str, Any],
    given: Shape | None = None,
) -> Shape:
    """The shape of the result of an operation on operands with given shapes.

    Parts that do not follow are as in the shape that is ``given``.

    Raises:
        AttributeValueError: the shape cannot be inferred, or operands and attributes do not fit.

    >>> a = Shape.parse("f32[2,3]")
    >>> print(infer_shape("transpose", [a], {"dimensions": (1, 0)}))
    f32[3,2]{0,1}
    >>> print(infer_shape("transpose", [Shape.parse("f32[<=8,4]")], {"dimensions": (1, 0)}))
    f32[4,<=8]{0,1}
    """
    rule = _rule_of(opcode)
    if rule is not None:
        found = rule(Application(opcode, [*map(Sized.of, operands)], attributes, given)).shape
        if given is not None or not any(each.dynamic_dimensions for each in operands):
            return found
        open_sizes = [Sized.open(*each) for each in enumerate(operands)]
        return _dynamic(opcode, found, rule(Application(opcode, open_sizes, attributes)).sizes)
    if given is None:
        raise not_inferred(opcode)
    return given


def _dynamic(opcode: str, shape: Shape, sizes: Sequence[Found]) -> Shape:
    """The shape of an array that is dynamic where its sizes are no numbers.

    As for XLA, slicing a single element out leaves a dimension that is not.
    """
    if not shape.is_array:
        return shape
    pairs = zip(sizes[0], shape.dimensions, strict=True)
    flags = [not isinstance(each, int) and (opcode, n) != ("slice", 1) for each, n in pairs]
    return replace(shape, dynamic_dimensions=tuple(flags))


def not_inferred(what: str) -> AttributeValueError:
    """The error that a shape does not follow."""
    message = f"the shape of {what} cannot be inferred, so it has to be written"
    return AttributeValueError(message)


def sizes_of_result(instruction: Instruction, known: Known) -> Sequence[Found]:
    """The sizes of the arrays of a result, as far as they follow; none without a rule."""
    rule, operands = _rule_of(instruction.opcode), instruction.operands
    if rule is None:
        return ()
    sized = [
        Sized(each.shape, tuple(known.sizes(each, n) for n in each.shape.array_indices))
        for each in operands
    ]

    def value(number: int) -> Size:
        return known.value(operands[number])

    fields = instruction.opcode, sized, instruction.attributes, instruction.shape
    return rule(Application(*fields, value)).sizes


def _rule_of(opcode: str) -> ShapeRule | None:
    load_announced("ops.hlo.shape_inference.SHAPE_RULES")
    return SHAPE_RULES.get(opcode)


# Rules: results like operands.


def _first(op: Application) -> Sized:
    return op.operands[0]


def _alike(op: Application) -> Sized:
    """Sizes of every operand but scalars; a dynamic size of one of them is that of the result.

    Two dynamic sizes have to be equal.
    """
    first = max(op.operands, key=lambda each: each.shape.rank)
    others = [each for each in op.operands if each.shape.rank]
    for each in others:
        check_same(first.shape, each.shape, each.shape.dimensions)
    return replace(first, sizes=(common_sizes(others),))


def common_sizes(operands: Iterable[Sized]) -> list[Size]:
    """The sizes of arrays that are alike: of two, the one that is dynamic."""
    columns = zip(*(each.rows for each in operands), strict=True)
    return [next((size for size, bound in row if size != bound), row[0][0]) for row in columns]


def check_same(first: Shape, other: Shape, dimensions: Sequence[int]) -> None:
    """Check that two operands are alike; the second counts as if it had these dimensions."""
    if not are_same(first.dimensions, dimensions):
        raise AttributeValueError(f"the operands have different sizes: {first} and {other}")


def are_same(sizes: Sequence[int], others: Sequence[int]) -> bool:
    """Whether sizes are equal where both are known."""
    return len(sizes) == len(others) and all(
        one == other or UNBOUNDED_SIZE in {one, other}
        for one, other in zip(sizes, others, strict=True)
    )


def widest(operands: Iterable[Sized]) -> ElementType:
    """The type that holds the elements of all operands."""
    return reduce(ElementType.wider, [each.shape.element_type for each in operands])


def _elementwise(type_of: Callable[[Application], ElementType]) -> ShapeRule:
    """A result for each element of the operands, of some type."""
    return lambda op: _alike(op).of_type(type_of(op))


def _map(op: Application) -> Sized:
    return Sized.array(op.attributes["to_apply"].root.shape.element_type, _alike(op).own)


def complex_of_parts(op: Application) -> Sized:
    """Complex numbers whose parts are elements of the operands."""
    is_double = op.operands[0].shape.element_type is ElementType.F64
    return _alike(op).of_type(ElementType.C128 if is_double else ElementType.C64)


def real_part(op: Application) -> Sized:
    """Real numbers, one for each element of the operand."""
    operand = op.operands[0]
    return operand.of_type(operand.shape.element_type.component)


def _always(text: str) -> ShapeRule:
    return lambda _: Sized.of(Shape.parse(text))


def one_or_together(several: Sequence[Sized]) -> Sized:
    """A result, or the tuple of several."""
    return several[0] if len(several) == 1 else Sized.together(several)


def one_or_tuple(shapes: Sequence[Shape]) -> Shape:
    """The shape of a result, or the tuple of those of several."""
    return shapes[0] if len(shapes) == 1 else Shape.of_tuple(shapes)


def _but_along(op: Application) -> Sized:
    """Each array is as large as its operand, but along the dimension of the operation, if any."""
    along: tuple[int, ...] = op.attributes.get("dimensions", ())
    found = ([None if a in along else s for a, s in enumerate(each.own)] for each in op.operands)
    return Sized(op.written, tuple(found))


# Rules: tuples and computations.


def _started(place: int, op: Application) -> Sized:
    """The started value: an element of the start's result."""
    (start,) = op.operands
    if len(start.shape.elements) <= place:
        message = f"the operand is {start.shape}; expected a tuple of what was started"
        raise AttributeValueError(message)
    return start.element(place)


# Rules: dimensions that move, go, come, or get other sizes.


def _bitcast(op: Application) -> Sized:
    """Under its own shape an array keeps its sizes."""
    if op.operands[0].shape == op.written:
        return op.operands[0]
    return Sized(op.written, ([None] * op.written.rank,))


def sizes_of_part(operand: Sized, part: Sequence[int]) -> Sequence[Size]:
    """The sizes of a part; a dynamic dimension that is taken whole keeps its size."""
    if len(part) != operand.shape.rank:
        return part
    rows = zip(operand.rows, part, strict=True)
    return [
        size if taken == bound else index_maps.read_integer(taken) for (size, bound), taken in rows
    ]


def checked_axes(shape: Shape, dimensions: Sequence[int]) -> Sequence[int]:
    """The dimensions.

    Raises:
        AttributeValueError: a shape has no such dimension.
    """
    for dimension in dimensions:
        if not 0 <= dimension < shape.rank:
            raise AttributeValueError(f"{shape} has no dimension {dimension}")
    return dimensions


def dilated(size: Size, dilation: int) -> Size:
    """The size of a dimension whose elements lie so far apart."""
    return size if dilation == 1 else index_maps.at_least(0, (size - 1) * dilation + 1)


def padded_size(size: Size, low: Size, high: Size, interior: int) -> Size:
    """The size of a dimension with padding before, after and between its elements.

    >>> padded_size(4, 1, 2, 3)
    16
    """
    return low + dilated(size, interior + 1) + high


# The rules.

SHAPE_RULES: Final[dict[str, ShapeRule]] = {
    **dict.fromkeys(LIKE_OPERANDS, _elementwise(lambda op: widest(op.operands))),
    **dict.fromkeys(
        ("add-dependency", "async-update", "batch-norm-inference", "cholesky", "copy", "domain",
         "dynamic-update-slice", "opt-barrier", "reverse", "select-and-scatter", "shuffle",
         "while"),
        _first,
    ),
    **dict.fromkeys(("abs", "imag", "real"), real_part),
    **dict.fromkeys(
        ("all-gather", "all-reduce", "all-to-all", "collective-reduce", "reduce-scatter"),
        _but_along,
    ),
    **dict.fromkeys(
        ("convert", "reduce-precision", "stochastic-convert"),
        _elementwise(lambda op: op.written.element_type),
    ),
    **dict.fromkeys(("compare", "is-finite"), _elementwise(lambda _: ElementType.PRED)),
    **dict.fromkeys(("partition-id", "replica-id"), _always("u32[]")),
    "after-all": _always("token[]"),
    "async-done": partial(_started, 1),
    "bitcast": _bitcast,
    "bitcast-convert": lambda op: Sized(op.written, op.operands[0].sizes),
    "clamp": _elementwise(lambda op: op.operands[1].shape.element_type),
    "complex": complex_of_parts,
    "copy-done": partial(_started, 0),
    "get-dimension-size": _always("s32[]"),
    "map": _map,
    "scatter": lambda op: one_or_together(op.operands[: len(op.operands) // 2]),
    "select": _elementwise(lambda op: widest(op.operands[1:])),
    "sort": lambda op: one_or_together(op.operands),
    "triangular-solve": lambda op: op.operands[1],
}  # fmt: skip
"""By opcode; rules that look at the shape that is written do not infer it.

:mod:`ops.rules.registry` adds those that stand beside maps.
"""


# Conditions on an instruction beyond the grammar, so that later code need not check them.


def verify(instruction: Instruction) -> None:
    """Check that operands, attributes and shape of an instruction fit together.

    Raises:
        AttributeValueError: they do not.
    """
    for check in _CHECKS.get(instruction.opcode, ()):
        for problem in check(instruction):
            raise AttributeValueError(problem)


def signature(
    opcode: str, attribute: str, operands: Sequence[Shape], result: Shape, place: int = 0
) -> tuple[Sequence[Shape], Shape]:
    """Types of arguments and results of the ``place``-th computation in an attribute.

    >>> vector, scalar = map(Shape.parse, ("f32[8]", "f32[]"))
    >>> (one, other), given = signature("reduce", "to_apply", [vector, scalar], scalar)
    >>> print(one, other, given)
    f32[] f32[] f32[]
    """
    if opcode == "conditional":
        first = 1 + place + (attribute == "false_computation")
        return operands[first : first + 1], result
    if opcode not in _ON_ELEMENTS:
        started = result.elements[1:2] if opcode == "async-start" else ()
        return operands, _PREDICATE if attribute == "condition" else (*started, result)[0]
    elements = [*map(_element, operands)]
    if opcode == "sort":
        return [each for each in elements for _ in range(2)], _PREDICATE
    if opcode in _COMBINING:
        return elements[:1] * 2, _PREDICATE if attribute == "select" else [*elements, result][0]
    indices = len(elements) // 2 if opcode == "scatter" else len(elements)
    return elements[:indices] + elements[indices + 1 :], _element(result)


_COMBINING: Final = frozenset(
    ("all-reduce", "all-reduce-start", "collective-reduce", "reduce-scatter", "select-and-scatter")
)
_ON_ELEMENTS: Final = _COMBINING | {"map", "reduce", "reduce-window", "scatter", "sort"}
"""Opcodes that run a computation on elements: on two of one operand, or on one of each."""

_EXACT: Final = frozenset(("call", "conditional", "fusion", "while"))
"""Those that pass their operands on, and the result: the types of elements may differ."""


# Each check gives what is wrong; nothing that follows the first problem is asked.


def _computations(instruction: Instruction) -> Iterator[str]:
    """The types of arguments and results of each computation of an instruction."""
    opcode, shapes = instruction.opcode, [each.shape for each in instruction.operands]
    for name in filter(CALLED_ATTRIBUTES.__contains__, instruction.attributes):
        value: Computation | tuple[Computation, ...] = instruction.attributes[name]
        for place, called in enumerate(value if isinstance(value, tuple) else (value,)):
            taken, given = signature(opcode, name, shapes, instruction.shape, place)
            count = len(called.parameters)
            if len(taken) != count:
                yield f"computation %{called.name} takes {Arity(count, count)}, not {len(taken)}"
            for number in range(len(taken) if opcode in _EXACT else 0):
                what = f"parameter {number} of %{called.name} is"
                yield from _unlike(what, called.parameters[number].shape, taken[number])
            if opcode in _EXACT or given is _PREDICATE:
                yield from _unlike(f"computation %{called.name} gives", called.root.shape, given)


def _unlike(what: str, found: Shape, expected: Shape) -> Iterator[str]:
    if not found.is_compatible_with(expected):
        yield f"{what} {found}, not {expected}"


def _element(shape: Shape) -> Shape:
    """An element of an array, or of each array of a tuple."""
    if shape.is_tuple:
        return Shape.of_tuple([_element(each) for each in shape.elements])
    return _scalar(shape.element_type) if shape.is_array else shape


_scalar = lru_cache(Shape)
"""The shape of a scalar of a type; most computations on elements have some of these."""


def _reshape(instruction: Instruction) -> Iterator[str]:
    before, after = instruction.operands[0].shape, instruction.shape
    if before.is_unbounded or after.is_unbounded:
        return
    if not before.is_array or not after.is_array:
        yield f"reshape makes an array from an array, but not {after} from {before}"
    if before.element_count != after.element_count:
        counts = f"{before} has {before.element_count} and {after} has {after.element_count}"
        yield f"reshape keeps the number of elements, but {counts}"


def _get_tuple_element(instruction: Instruction) -> Iterator[str]:
    shape = instruction.operands[0].shape
    index: int = instruction.attributes["index"]
    if not shape.is_tuple:
        yield f"get-tuple-element takes an element of a tuple, but the operand is {shape}"
    if not 0 <= index < len(shape.elements):
        yield f"the tuple {shape} has no element {index}"
    what = f"element {index} of the operand is"
    yield from _unlike(what, shape.elements[index], instruction.shape)


def _infeed(instruction: Instruction) -> Iterator[str]:
    shape = instruction.shape
    if not shape.is_tuple or not shape.elements:
        yield f"infeed makes a tuple of the data and a token, not {shape}"


def _tuple(instruction: Instruction) -> Iterator[str]:
    return _elements(instruction.shape, instruction)


def _elements(shape: Shape, instruction: Instruction) -> Iterator[str]:
    """A tuple has one element for each operand."""
    count = len(instruction.operands)
    if len(shape.elements if shape.is_tuple else ()) != count:
        yield f"{shape} does not have one element for each of {count} operands"


def _start_indices(instruction: Instruction) -> Iterator[str]:
    """The last operands are one start index for each dimension, or one for all of them."""
    given = len(instruction.operands) - FIRST_START[instruction.opcode]
    shape = instruction.operands[0].shape
    is_vector = given == 1 and instruction.operands[-1].shape.rank == 1
    if given != shape.rank and not is_vector:
        yield f"{shape} takes {shape.rank} start indices, not {given}"


def _sort(instruction: Instruction) -> Iterator[str]:
    axes, shape = instruction.attributes["dimensions"], instruction.operands[0].shape
    return _axes(axes, "dimensions", shape)


def _iota(instruction: Instruction) -> Iterator[str]:
    axis = instruction.attributes["iota_dimension"]
    return _axes((axis,), "iota_dimension", instruction.shape)


def _axes(axes: Sequence[int], name: str, shape: Shape) -> Iterator[str]:
    for axis in axes:
        if not 0 <= axis < shape.rank:
            yield f"{name} is {axis}, but {shape} has rank {shape.rank}"


def _compare(instruction: Instruction) -> Iterator[str]:
    if instruction.shape.element_type is not ElementType.PRED:
        yield f"compare gives an array of pred, not {instruction.shape}"


def _select(instruction: Instruction) -> Iterator[str]:
    predicate = instruction.operands[0].shape
    if predicate.element_type is not ElementType.PRED:
        yield f"select chooses by an array of pred, not by {predicate}"


def _parameter(instruction: Instruction) -> Iterator[str]:
    flags = instruction.attributes.get("parameter_replication")
    if flags is not None and len(flags) != len(instruction.shape.arrays):
        counts = f"{len(flags)} entries for {len(instruction.shape.arrays)} arrays"
        yield f"parameter_replication has {counts} of the parameter"


def _custom_call(instruction: Instruction) -> Iterator[str]:
    constraints = instruction.attributes.get("operand_layout_constraints")
    if constraints is None:
        return
    name, count = "operand_layout_constraints", len(instruction.operands)
    if len(constraints) != count:
        yield f"{name} has {len(constraints)} shapes for {count} operands"
    for operand, constraint in zip(instruction.operands, constraints, strict=True):
        if not constraint.is_compatible_with(operand.shape):
            yield f"operand %{operand.name} is {operand.shape}, not {constraint} as {name} says"


def _conditional(instruction: Instruction) -> Iterator[str]:
    index = instruction.operands[0].shape
    by_type = {ElementType.PRED: "true_computation", ElementType.S32: "branch_computations"}
    if index.rank or index.element_type not in by_type:
        yield f"the first operand is {index}; expected pred[] or s32[]"
    if by_type[index.element_type] not in instruction.attributes:
        yield f"a conditional by {index} has {by_type[index.element_type]}"
    count, given = len(instruction.branches), len(instruction.operands) - 1
    if count != given:
        yield f"there are {count} branches, but {given} operands for them"


def _async_start(instruction: Instruction) -> Iterator[str]:
    shape = instruction.shape
    elements = shape.elements if shape.is_tuple else ()
    if len(elements) < 2 or not elements[0].is_tuple:  # noqa: PLR2004  (operands and outputs)
        yield f"the shape of a start is ((operands), outputs, state...), not {shape}"
    yield from _elements(shape.elements[0], instruction)


def _async_successor(instruction: Instruction) -> Iterator[str]:
    opcode, operand, named = instruction.opcode, instruction.operands[0], instruction.attributes
    if operand.opcode not in {"async-start", "async-update"}:
        yield f"{opcode} continues an asynchronous operation, not {operand.opcode}"
    if opcode == "async-update" and instruction.shape != operand.shape:
        yield f"an update has the shape of its operand, {operand.shape}, not {instruction.shape}"
    thread, started_in = named.get("async_execution_thread"), _thread(operand)
    if thread not in {None, started_in}:
        yield f"the operation runs in thread {started_in}, not {thread}"
    called, started = named["calls"], operand.attributes["calls"]
    if called is not started:
        yield f"the operand calls %{started.name}, not %{called.name}"


def _thread(instruction: Instruction) -> str:
    """The thread that an asynchronous operation was started in."""
    while instruction.opcode == "async-update":
        instruction = instruction.operands[0]
    return instruction.attributes.get("async_execution_thread", "main")


_PREDICATE = Shape(ElementType.PRED)

_CHECKS: Final[Mapping[str, Sequence[Callable[[Instruction], Iterator[str]]]]] = {
    **dict.fromkeys(("async-done", "async-update"), (_async_successor,)),
    "async-start": (_async_start, _computations),
    **dict.fromkeys(("call", "fusion", "select-and-scatter", "while"), (_computations,)),
    "compare": (_compare,),
    "conditional": (_conditional, _computations),
    "custom-call": (_custom_call,),
    **dict.fromkeys(FIRST_START, (_start_indices,)),
    "get-tuple-element": (_get_tuple_element,),
    "infeed": (_infeed,),
    "iota": (_iota,),
    **dict.fromkeys(("map", "reduce", "reduce-window", "scatter"), (_computations,)),
    "parameter": (_parameter,),
    "reshape": (_reshape,),
    "select": (_select,),
    "sort": (_sort, _computations),
    "tuple": (_tuple,),
}
"""By opcode."""
