"""JAX's primitives that become several instructions of HLO."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from indexing.layout import ElementType, Shape
from ops.hlo.module import Instruction
from ops.hlo.neutral_elements import neutral_element
from ops.hlo.values import DimensionLabels
from ops.jaxpr.jaxpr_builder import array_shape, scalar_of, shape_of, size_of, sizes_of
from ops.jaxpr.primitives import SCATTERS, SYMBOLIC_DILATION, window_of, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.jaxpr.jaxpr_builder import JaxprBuilder
    from ops.jaxpr.primitives import OfJax

Composite: TypeAlias = (
    "Callable[[JaxprBuilder, OfJax, list[Instruction], list[OfJax]], list[Instruction]]"
)
"""From an equation, its operands and its abstract results to the results."""


def _split(
    add: JaxprBuilder, equation: OfJax, operands: list[Instruction], avals: list[OfJax]
) -> list[Instruction]:
    """Slices that follow each other along a dimension."""
    found: list[Instruction] = []
    axis: int = equation.params["axis"]
    begin = written(0)
    for aval in avals:
        rows = [(written(0), written(size), 1) for size in aval.shape]
        rows[axis] = (begin, begin + rows[axis][1], 1)
        found.append(add.add("slice", [aval], operands, {"slice": tuple(rows)}))
        begin = rows[axis][1]
    return found


def _tile(
    add: JaxprBuilder, equation: OfJax, operands: list[Instruction], avals: list[OfJax]
) -> list[Instruction]:
    """Every dimension repeated: a dimension in front of it, which is joined with it."""
    (operand,) = operands
    reps = map(size_of, equation.params["reps"])
    sizes = (operand.sizes or ((),))[0]
    apart = tuple(size for pair in zip(reps, sizes, strict=True) for size in pair)
    shape = array_shape(operand.shape.element_type, apart)
    dimensions = {"dimensions": tuple(range(1, len(apart), 2))}
    repeated = add.made("broadcast", shape, (apart,), [operand], dimensions)
    return [add.add("reshape", avals, [repeated])]


def _stack(
    add: JaxprBuilder, equation: OfJax, operands: list[Instruction], avals: list[OfJax]
) -> list[Instruction]:
    """A dimension of size 1 in each operand, along which they are concatenated."""
    axis = equation.params["axis"]
    sizes = list(sizes_of(avals[0]))
    sizes[axis] = 1
    shape = array_shape(operands[0].shape.element_type, sizes)
    thin = [add.made("reshape", shape, (tuple(sizes),), [operand]) for operand in operands]
    return [add.add("concatenate", avals, thin, {"dimensions": (axis,)})]


def _convolution(
    add: JaxprBuilder, equation: OfJax, operands: list[Instruction], avals: list[OfJax]
) -> list[Instruction]:
    given = equation.params
    numbers = given["dimension_numbers"]
    spatial: Sequence[int] = numbers.rhs_spec[2:]
    _, kernel = (variable.aval.shape for variable in equation.invars)
    dilations = given["lhs_dilation"], given["rhs_dilation"]
    window = window_of((kernel[axis] for axis in spatial), given, *dilations)
    if window is None:
        target = f"conv_general_dilated {SYMBOLIC_DILATION}"
        return [add.add("custom-call", avals, operands, {"custom_call_target": target})]
    labels = DimensionLabels(
        _labels(numbers.lhs_spec, "bf"),
        _labels(numbers.rhs_spec, "oi"),
        _labels(numbers.out_spec, "bf"),
    )
    counts = {name: given[name] for name in ("feature_group_count", "batch_group_count")}
    attributes = {"window": window, "dim_labels": labels, **counts}
    return [add.add("convolution", avals, operands, attributes)]


def _labels(spec: Sequence[int], first: str) -> str:
    """The role of each dimension: two letters, then the numbers of the spatial ones."""
    roles = dict(zip(spec, [*first, *map(str, range(len(spec) - 2))], strict=True))
    return "".join(roles[axis] for axis in range(len(spec)))


def _cumulative(opcode: str) -> Composite:
    """Each element folded with all before it, or behind it."""

    def composite(
        add: JaxprBuilder, equation: OfJax, operands: list[Instruction], avals: list[OfJax]
    ) -> list[Instruction]:
        (aval,), axis = avals, equation.params["axis"]
        row = SimpleNamespace(shape=aval.shape[:axis] + aval.shape[axis + 1 :], dtype=aval.dtype)
        first = add.constant(scalar_of(aval))
        start = add.add("broadcast", [row], [first], {"dimensions": ()})
        step = add.computation(f"cumulative_{opcode}", _step(opcode, row))
        attributes: dict[str, Any] = {"dimensions": (axis,), "num_carries": 1, "to_apply": step}
        attributes["is_reverse"] = equation.params["reverse"]
        both = add.add("scan", [aval, row], [*operands, start], attributes)
        return [add.add("get-tuple-element", [aval], [both], {"index": 0})]

    return composite


def _step(opcode: str, row: OfJax) -> list[Instruction]:
    """A slice and what is carried, combined: the result, and what is carried on."""
    shape, sizes = shape_of(row), (sizes_of(row),)
    pair = tuple(
        Instruction(name, "parameter", shape, parameter_number=number, sizes=sizes)
        for number, name in enumerate("ab")
    )
    result = Instruction("r", opcode, shape, pair, sizes=sizes)
    root = Instruction(
        "t", "tuple", Shape.of_tuple([shape, shape]), (result, result), sizes=sizes * 2
    )
    return [*pair, result, root]


def _place_of_extremum(direction: str) -> Composite:
    """The index of the greatest or least element, the first of equal ones."""

    def composite(
        add: JaxprBuilder, equation: OfJax, operands: list[Instruction], avals: list[OfJax]
    ) -> list[Instruction]:
        (operand,), (aval,) = operands, avals
        (axis,) = equation.params["axes"]
        (whole,) = (variable.aval for variable in equation.invars)
        places = SimpleNamespace(shape=whole.shape, dtype=aval.dtype)
        values = SimpleNamespace(shape=aval.shape, dtype=whole.dtype)
        numbers = add.add("iota", [places], attributes={"iota_dimension": axis})
        fold = "maximum" if direction == "GT" else "minimum"
        first = neutral_element(fold, operand.shape.element_type)
        starts = [add.constant(scalar_of(whole), first), add.constant(scalar_of(aval), 0)]
        compared = _first_extremum(direction, shape_of(scalar_of(whole)), shape_of(scalar_of(aval)))
        step = add.computation(f"first_{direction}", compared)
        attributes = {"dimensions": (axis,), "to_apply": step}
        both = add.add("reduce", [values, aval], [operand, numbers, *starts], attributes)
        return [add.add("get-tuple-element", [aval], [both], {"index": 1})]

    return composite


def _first_extremum(direction: str, value: Shape, place: Shape) -> list[Instruction]:
    """Of two pairs of a value and its place, the one that comes first in the order.

    What is no number comes before all numbers.
    """
    a, i, b, j = parameters = tuple(
        Instruction(name, "parameter", shape, parameter_number=number)
        for number, (name, shape) in enumerate(zip("aibj", (value, place) * 2, strict=True))
    )
    truth, made = Shape(ElementType.PRED), list(parameters)

    def add(
        name: str, opcode: str, shape: Shape, *operands: Instruction, **given: object
    ) -> Instruction:
        made.append(Instruction(name, opcode, shape, operands, given))
        return made[-1]

    compared = add("compared", "compare", truth, a, b, direction=direction)
    no_number = add("no_number", "compare", truth, a, a, direction="NE")
    beyond = add("beyond", "or", truth, compared, no_number)
    equal = add("equal", "compare", truth, a, b, direction="EQ")
    earlier = add("earlier", "compare", truth, i, j, direction="LT")
    first = add("first", "and", truth, equal, earlier)
    chosen = add("chosen", "or", truth, beyond, first)
    values = add("value", "select", value, chosen, a, b)
    places = add("place", "select", place, chosen, i, j)
    add("r", "tuple", Shape.of_tuple([value, place]), values, places)
    return made


def _scatter(opcode: str) -> Composite:
    """Updates combined with elements by an opcode, or put in their places."""

    def composite(
        add: JaxprBuilder, equation: OfJax, operands: list[Instruction], avals: list[OfJax]
    ) -> list[Instruction]:
        numbers = equation.params["dimension_numbers"]
        attributes = {
            "update_window_dims": tuple(numbers.update_window_dims),
            "inserted_window_dims": tuple(numbers.inserted_window_dims),
            "scatter_dims_to_operand_dims": tuple(numbers.scatter_dims_to_operand_dims),
            "input_batching_dims": tuple(numbers.operand_batching_dims),
            "scatter_indices_batching_dims": tuple(numbers.scatter_indices_batching_dims),
            "index_vector_dim": operands[1].shape.rank - 1,
            "to_apply": add.fold(opcode, operands[0].shape),
        }
        return [add.add("scatter", avals, operands, attributes)]

    return composite


COMPOSITES: Final[Mapping[str, Composite]] = {
    "argmax": _place_of_extremum("GT"),
    "argmin": _place_of_extremum("LT"),
    "conv_general_dilated": _convolution,
    "cummax": _cumulative("maximum"),
    "cummin": _cumulative("minimum"),
    "cumprod": _cumulative("multiply"),
    "cumsum": _cumulative("add"),
    "scatter": _scatter("second"),
    **{name: _scatter(opcode) for name, opcode in SCATTERS.items()},
    "split": _split,
    "stack": _stack,
    "tile": _tile,
}
"""The primitives of several instructions, by name."""
