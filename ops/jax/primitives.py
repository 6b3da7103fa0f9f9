"""JAX's primitives as opcodes with attributes, and its sizes as expressions."""

from __future__ import annotations

import ast
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, TypeAlias, cast

import sympy

from indexing.layout import ElementType, Kind, Shape, ShapeError
from ops.hlo.attributes import Window
from ops.hlo.builder import InstructionBuilder
from ops.hlo.literal import Literal
from ops.hlo.module import Instruction
from ops.hlo.shape_inference import array_shape, one_or_tuple
from ops.index_maps import Size, read_integer
from ops.rules.constant_folding import MAX_TABLE
from simplifier import FloorDiv, Max, Min, Mod, symbol

OfJax: TypeAlias = Any
"""A value of JAX, which has no types for them: a jaxpr, its equations, variables and shapes."""


def library() -> OfJax:
    """JAX, with the parts that it does not import itself.

    Raises:
        ImportError: it is not installed.
    """
    import jax  # noqa: PLC0415  (an extra)

    for part in ("jax.export", "jax.extend.core"):
        import_module(part)
    return jax


Rule: TypeAlias = "Callable[[Mapping[str, Any]], tuple[str, Mapping[str, Any]]]"
"""From the parameters of a primitive to an opcode and its attributes."""


# Sizes.


def written(size: OfJax) -> sympy.Expr | int:
    """An integer, or an expression over dimension variables of JAX."""
    return size if isinstance(size, int) else expression(str(size))


def expression(text: str) -> sympy.Expr:
    """A size as JAX writes it.

    >>> expression("4*s + floordiv(b, 2) - mod(b*s, 3)^2")
    4*s + (b//2) - ((b*s) % 3)**2
    """
    return _read(ast.parse(text.replace("^", "**"), mode="eval").body, text)


def _read(node: ast.expr, text: str) -> OfJax:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_read(operand, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_read(left, text), _read(right, text))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_read(each, text) for each in arguments))
        case _:
            raise ShapeError(f"from_jax: the size {text} is no integer arithmetic")


_OPERATORS: Final[Mapping[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: lambda base, exponent: base**exponent,
}

_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "floordiv": FloorDiv,
    "mod": Mod,
    "max": Max,
    "min": Min,
}


# Primitives.

CALLS: Final = frozenset(
    ("jit", "remat2", "checkpoint", "closed_call", "custom_jvp_call", "custom_vjp_call")
)
"""The primitives that run a jaxpr once."""

_OF_WINDOWS: Final = {"sum": "add", "max": "maximum", "min": "minimum"}

FOLDS: Final[Mapping[str, str]] = {
    **{f"reduce_{name}": opcode for name, opcode in _OF_WINDOWS.items()},
    **{f"reduce_window_{name}": opcode for name, opcode in _OF_WINDOWS.items()},
    **{f"reduce_{name}": name for name in ("and", "or", "xor")},
    "reduce_prod": "multiply",
}
"""The primitives that fold elements, and the opcode that combines two."""

ELEMENTWISE: Final[Mapping[str, str]] = {
    **{
        name: name.replace("_", "-")
        for name in (
            *("abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "copy", "erf", "floor"),
            *("imag", "is_finite", "log", "logistic", "not", "or", "real", "reduce_precision"),
            *("rsqrt", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign"),
            *("sqrt", "tan", "tanh", "xor"),
        )
    },
    "add_any": "add",
    "convert_element_type": "convert",
    "cos": "cosine",
    "div": "divide",
    "exp": "exponential",
    "max": "maximum",
    "min": "minimum",
    "mul": "multiply",
    "neg": "negate",
    "pow": "power",
    "rem": "remainder",
    "select_n": "select",
    "sin": "sine",
    "sub": "subtract",
}
"""The opcodes of primitives that work element by element."""

INDEXED: Final[Mapping[str, int]] = {
    "dynamic_slice": 1,
    "dynamic_update_slice": 2,
    "gather": 1,
    "scatter": 1,
}
"""The primitives that find elements by indices, and the number of their first operand of these."""

COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")
"""The primitives that compare element by element, called as the direction is in HLO."""


def _plain(opcode: str, **attributes: object) -> Rule:
    return lambda _: (opcode, attributes)


def _renamed(opcode: str, **names: str) -> Rule:
    """The parameters of a primitive under the names of attributes."""
    return lambda given: (opcode, {name: given[theirs] for name, theirs in names.items()})


def _slice(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    starts, limits = given["start_indices"], given["limit_indices"]
    steps = given["strides"] or (1,) * len(starts)
    rows = zip(*(map(written, each) for each in (starts, limits, steps)), strict=True)
    return "slice", {"slice": tuple(rows)}


def _pad(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    return "pad", {"padding": tuple(tuple(map(written, row)) for row in given["padding_config"])}


def _dynamic_slice(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    return "dynamic-slice", {"dynamic_slice_sizes": tuple(map(written, given["slice_sizes"]))}


def _window(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """A fold over windows."""
    dilations = given["base_dilation"], given["window_dilation"]
    window = window_of(given["window_dimensions"], given, *dilations)
    if window is None:
        return "custom-call", {"custom_call_target": f"reduce-window {SYMBOLIC_DILATION}"}
    return "reduce-window", {"window": window}


def window_of(
    sizes: Iterable[OfJax], given: Mapping[str, Any], base: OfJax, inner: OfJax
) -> Window | None:
    """The window of these sizes and dilations; ``None`` for dilations that are no numbers."""
    if not all(isinstance(each, int) for each in (*base, *inner)):
        return None
    return Window(
        size=tuple(map(written, sizes)),
        stride=tuple(map(written, given["window_strides"])),
        pad=tuple((written(low), written(high)) for low, high in given["padding"]),
        lhs_dilate=tuple(base),
        rhs_dilate=tuple(inner),
    )


SYMBOLIC_DILATION: Final = "with a symbolic dilation: elements would lie in unknown steps"
"""Why a window has no maps: which positions hold elements is a question of divisibility."""


RULES: Final[Mapping[str, Rule]] = {
    **{name: _plain(opcode) for name, opcode in ELEMENTWISE.items()},
    **{name: _plain("compare", direction=name.upper()) for name in COMPARISONS},
    **{name: _renamed("reduce", dimensions="axes") for name in FOLDS if "window" not in name},
    **{name: _window for name in FOLDS if "window" in name},
    "bitcast_convert_type": _plain("bitcast-convert"),
    "broadcast_in_dim": _renamed("broadcast", dimensions="broadcast_dimensions"),
    "concatenate": lambda given: ("concatenate", {"dimensions": (int(given["dimension"]),)}),
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _plain("dynamic-update-slice"),
    "expand_dims": _plain("reshape"),
    "iota": _renamed("iota", iota_dimension="dimension"),
    "pad": _pad,
    "reshape": _plain("reshape"),
    "rev": _renamed("reverse", dimensions="dimensions"),
    "slice": _slice,
    "sort": lambda given: ("sort", {"dimensions": (given["dimension"],)}),
    "squeeze": _plain("reshape"),
    "top_k": lambda given: ("topk", {"k": written(given["k"])}),
    "transpose": _renamed("transpose", dimensions="permutation"),
}
"""The primitives that are one instruction."""


# Instructions of HLO for the equations of a jaxpr, with sizes that are expressions.
#
# Their shapes are those of JAX's abstract values.


class JaxprEquation(NamedTuple):
    """An equation of a jaxpr: its primitive with parameters, operands, and abstract values."""

    primitive: str
    given: Mapping[str, Any]
    operands: list[Instruction]
    before: Sequence[OfJax]
    after: Sequence[OfJax]

    @classmethod
    def of(cls, equation: OfJax, operands: list[Instruction]) -> JaxprEquation:
        """The equation, as JAX has it, of some operands."""
        both = equation.invars, equation.outvars
        sides = ([in_memory(each.aval) for each in side] for side in both)
        return cls(equation.primitive.name, equation.params, operands, *sides)


class JaxprBuilder(InstructionBuilder, ABC):
    """A builder that knows JAX's abstract values."""

    @abstractmethod
    def run(self, closed: OfJax, arguments: Sequence[Instruction]) -> list[Instruction]:
        """The results of a jaxpr for some arguments."""

    def add(
        self,
        opcode: str,
        avals: Sequence[OfJax],
        operands: Sequence[Instruction] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        number: int | None = None,
        name: str = "",
    ) -> Instruction:
        """An instruction that gives an array, or a tuple of them."""
        shape = one_or_tuple([shape_of(aval) for aval in avals])
        sizes = tuple(map(sizes_of, avals))
        return self.made(opcode, shape, sizes, operands, attributes, number=number, name=name)

    def parameters(self, avals: Sequence[OfJax], names: Sequence[str] = ()) -> list[Instruction]:
        """The parameters of a computation, in order."""
        pairs = zip(avals, names or [""] * len(avals), strict=True)
        return [
            self.add("parameter", [aval], number=number, name=name)
            for number, (aval, name) in enumerate(pairs)
        ]

    def together(self, arrays: Sequence[Instruction], name: str = "") -> Instruction:
        """A tuple of arrays."""
        sizes = tuple(size for each in arrays for size in each.sizes or ())
        shape = Shape.of_tuple([each.shape for each in arrays])
        return self.made("tuple", shape, sizes, arrays, name=name)

    def root_of(self, results: Sequence[Instruction], *, is_tuple: bool) -> Instruction:
        """The last instruction of a computation: a tuple, or a copy of the only result."""
        if is_tuple:
            return self.together(results)
        (result,) = results
        return self.made("copy", result.shape, result.sizes, results)

    def elements(self, made: Instruction) -> list[Instruction]:
        """The elements of a tuple, or an array itself."""
        if not made.shape.is_tuple:
            return [made]
        return [
            self.made("get-tuple-element", shape, (size,), [made], {"index": number})
            for number, (shape, size) in enumerate(
                zip(made.shape.elements, made.sizes or (), strict=True)
            )
        ]

    def constant(self, aval: OfJax, value: OfJax = None) -> Instruction:
        """A constant; of arrays, the values are there if they may be indices, and not too many."""
        if is_key(aval) and value is not None:
            value = library().random.key_data(value)
        shape = shape_of(aval)
        is_index = shape.element_type.kind in _INDICES and shape.element_count <= MAX_TABLE
        is_kept = value is not None and (not shape.rank or is_index)
        values = tuple(_flat(_as_python(value))) if is_kept else None
        literal = Literal.of(shape, values)
        return self.made("constant", shape, (sizes_of(aval),), literal=literal)


_INDICES: Final = {Kind.BOOLEAN, Kind.SIGNED, Kind.UNSIGNED}


# Values.


def _as_python(value: OfJax) -> OfJax:
    """A value of Python, or lists of them, of one of NumPy or JAX."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return next((kind(value) for kind in (bool, int, float) if isinstance(value, kind)), value)


def _flat(values: OfJax) -> Iterator[OfJax]:
    """The elements of nested lists, in order."""
    if isinstance(values, list):
        for each in cast("list[OfJax]", values):
            yield from _flat(each)
    else:
        yield values


# Shapes.


def in_memory(aval: OfJax) -> OfJax:
    """The array that a value is: a key of random numbers is some words."""
    if not is_key(aval):
        return aval
    jax = library()
    return jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(aval.shape, aval.dtype))


def is_key(aval: OfJax) -> bool:
    """Whether the elements are keys of random numbers."""
    return str(aval.dtype).startswith("key<")


def shape_of(aval: OfJax) -> Shape:
    """The shape of an array, with dimensions of unknown size for expressions."""
    aval = in_memory(aval)
    letters, bits = re.match(r"([a-z]*)(.*)", str(aval.dtype)).groups()  # pyright: ignore[reportOptionalMemberAccess] - it matches every text
    try:
        element_type = ElementType(_TYPES.get(letters, letters) + bits.replace("_", ""))
    except ValueError:
        raise ShapeError(f"from_jax: HLO has no elements of type {aval.dtype}") from None
    return array_shape(element_type, sizes_of(aval))


_TYPES: Final = {
    "float": "f",
    "int": "s",
    "uint": "u",
    "bool": "pred",
    "complex": "c",
    "bfloat": "bf",
}
"""HLO's names for NumPy's types, before their width."""


def sizes_of(aval: OfJax) -> tuple[Size, ...]:
    """The sizes of an array as rules compute with them."""
    return tuple(map(size_of, in_memory(aval).shape))


def size_of(size: OfJax) -> Size:
    """A size as rules compute with it."""
    return read_integer(written(size))


def scalar_of(aval: OfJax) -> OfJax:
    """One element of an array."""
    return SimpleNamespace(shape=(), dtype=aval.dtype)
