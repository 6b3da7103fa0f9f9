"""JAX functions as HLO modules, also for shapes with symbolic sizes such as ``(b, 4*s)``.

JAX exports such functions as StableHLO that computes its shapes while it runs. The jaxpr that it
exports has the sizes as expressions. So each equation of the jaxpr becomes an instruction with
dimensions of unknown size, ``?``, and with these expressions as its sizes.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from indexing.layout import UNBOUNDED_SIZE, ElementType, Shape, ShapeError
from ops.hlo.literal import Literal
from ops.hlo.module import Computation, HloModule, Instruction
from ops.hlo.values import Window
from ops.sizes import read_integer
from simplifier import FloorDiv, Max, Min, Mod, symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import sympy

    from ops.sizes import Size

OfJax: TypeAlias = Any
"""A value of JAX, which has no types for them: a jaxpr, its equations, variables and shapes."""

Rule: TypeAlias = "Callable[[Mapping[str, Any]], tuple[str, Mapping[str, Any]]]"
"""From the parameters of a primitive to an opcode and its attributes."""


def from_jax(function: Callable[..., Any], *arguments: OfJax) -> HloModule:
    """The HLO module of what a JAX function does with arguments of some shapes.

    Arguments are arrays, ``jax.ShapeDtypeStruct``, or trees of these. Their sizes may be symbolic,
    as ``jax.export.symbolic_shape("b, 4*s")`` and ``jax.export.symbolic_args_specs`` make them:
    ``b`` and ``s`` are parameters of the maps. Nothing is fused. Functions that the function calls
    are part of it. Loops and whatever else has no rule here are custom calls, of which the maps
    are unknown.

    Raises:
        ShapeError: JAX is not installed, or a size or type has no place in HLO.
    """
    try:
        import jax  # noqa: PLC0415  (an extra)
    except ImportError:
        message = "from_jax: JAX is not installed; expected it, as after pip install jax"
        raise ShapeError(message) from None
    make_jaxpr: OfJax = jax.make_jaxpr  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - untyped
    name = re.sub(r"\W", "_", getattr(function, "__name__", "function"))
    return _Builder().module(name, make_jaxpr(function)(*arguments))


class _Builder:
    """Makes the entry of a module, and the computations that it calls."""

    def __init__(self) -> None:
        self._instructions: list[Instruction] = []
        self._folds: dict[tuple[str, ElementType], Computation] = {}
        self._names: Counter[str] = Counter()

    def module(self, name: str, closed: OfJax) -> HloModule:
        """The module of a closed jaxpr."""
        names = _names_of_arguments(closed.jaxpr)
        parameters = [
            self._add("parameter", [variable.aval], number=number, name=names[number])
            for number, variable in enumerate(closed.jaxpr.invars)
        ]
        results = self._run(closed, parameters)
        if len(results) == 1:
            root = self._made("copy", results[0].shape, results[0].sizes, results)
        else:
            sizes = tuple(size for each in results for size in each.sizes or ())
            shape = Shape.of_tuple([each.shape for each in results])
            root = self._made("tuple", shape, sizes, results)
        entry = Computation("main", tuple(self._instructions), root)
        return HloModule(name, (*self._folds.values(), entry), entry, {}, "")

    def _run(self, closed: OfJax, arguments: Sequence[Instruction]) -> list[Instruction]:
        """The results of a jaxpr for some arguments."""
        jaxpr = closed.jaxpr
        known: dict[Any, Instruction] = dict(zip(jaxpr.invars, arguments, strict=True))
        known |= {variable: self._constant(variable.aval) for variable in jaxpr.constvars}

        def read(atom: OfJax) -> Instruction:
            return self._constant(atom.aval, atom.val) if hasattr(atom, "val") else known[atom]

        for equation in jaxpr.eqns:
            found = self._apply(equation, [read(atom) for atom in equation.invars])
            known |= zip(equation.outvars, found, strict=True)
        return [read(atom) for atom in jaxpr.outvars]

    def _apply(self, equation: OfJax, operands: list[Instruction]) -> list[Instruction]:
        """The results of an equation."""
        name, given = equation.primitive.name, equation.params
        avals = [variable.aval for variable in equation.outvars]
        if name in _CALLS:
            called = given[_CALLS[name]]
            return self._run(called if hasattr(called, "jaxpr") else _closed(called), operands)
        if name == "split":
            return self._parts(avals, given["axis"], operands[0])
        opcode, attributes = _RULES.get(name, _unknown(name))(given)
        if name in _FOLDS:
            attributes = {**attributes, "to_apply": self._fold(_FOLDS[name], operands[0].shape)}
        if name == "gather":
            attributes = {**attributes, "index_vector_dim": operands[1].shape.rank - 1}
        if name in _ELEMENTWISE or name in _COMPARISONS:
            operands = [self._stretched(operand, avals[0]) for operand in operands]
        operands = self._operands(name, given, operands, _scalar(avals[0]))
        return self._results(self._add(opcode, avals, operands, attributes), avals)

    def _operands(
        self,
        name: str,
        given: Mapping[str, Any],
        operands: list[Instruction],
        scalar: OfJax,
    ) -> list[Instruction]:
        """The operands as HLO has them: some that are parameters in JAX are constants there."""
        if name in _FOLDS:
            return [*operands, self._constant(scalar)]
        match name:
            case "select_n" if len(operands) == len(_SELECTED):
                return [operands[number] for number in _SELECTED]
            case "integer_pow":
                return [*operands, self._constant(scalar, given["y"])]
            case "exp2":
                return [self._constant(scalar, 2), *operands]
            case "square":
                return operands * 2
            case _:
                return operands

    def _stretched(self, operand: Instruction, aval: OfJax) -> Instruction:
        """An operand of an elementwise operation, repeated where its size alone is 1."""
        result, own = _sizes(aval), operand.sizes or ()
        if not operand.shape.rank or own == (result,):
            return operand
        dimensions = {"dimensions": tuple(range(len(result)))}
        shape = Shape(operand.shape.element_type, _shape(aval).dimensions)
        return self._made("broadcast", shape, (result,), [operand], dimensions)

    def _results(self, made: Instruction, avals: Sequence[OfJax]) -> list[Instruction]:
        """What an instruction gives: itself, or the elements of a tuple."""
        if not made.shape.is_tuple:
            return [made]
        return [
            self._add("get-tuple-element", [aval], [made], {"index": number})
            for number, aval in enumerate(avals)
        ]

    def _parts(self, avals: Sequence[OfJax], axis: int, operand: Instruction) -> list[Instruction]:
        """Slices that follow each other along a dimension."""
        found: list[Instruction] = []
        begin: Any = 0
        for aval in avals:
            rows = [(0, _written(size), 1) for size in aval.shape]
            rows[axis] = (begin, begin + rows[axis][1], 1)
            found.append(self._add("slice", [aval], [operand], {"slice": tuple(rows)}))
            begin = rows[axis][1]
        return found

    def _fold(self, opcode: str, shape: Shape) -> Computation:
        """The computation of a fold, on scalars."""
        key = opcode, shape.element_type
        if key not in self._folds:
            scalar = Shape(shape.element_type)
            pair = tuple(
                Instruction(name, "parameter", scalar, parameter_number=number)
                for number, name in enumerate("ab")
            )
            root = Instruction("r", opcode, scalar, pair)
            name = f"{opcode}_{shape.element_type}"
            self._folds[key] = Computation(name, (*pair, root), root)
        return self._folds[key]

    # Instructions.

    def _add(
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
        shapes = [_shape(aval) for aval in avals]
        shape = shapes[0] if len(shapes) == 1 else Shape.of_tuple(shapes)
        sizes = tuple(map(_sizes, avals))
        return self._made(opcode, shape, sizes, operands, attributes, number=number, name=name)

    def _constant(self, aval: OfJax, value: OfJax = None) -> Instruction:
        """A constant; the values of an array are left out."""
        shape, known = _shape(aval), None
        if value is not None and not shape.rank:
            known = (value.item() if hasattr(value, "item") else value,)
        text = "{...}" if known is None else str(known[0]).lower()
        return self._made(
            "constant", shape, (_sizes(aval),), literal=Literal(shape, known, (), text)
        )

    def _made(  # noqa: PLR0913 - the fields of an instruction
        self,
        opcode: str,
        shape: Shape,
        sizes: tuple[tuple[Size, ...], ...] | None,
        operands: Sequence[Instruction] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        literal: Literal | None = None,
        number: int | None = None,
        name: str = "",
    ) -> Instruction:
        base = name or opcode
        self._names[base] += 1
        unique = base if name and self._names[base] == 1 else f"{base}.{self._names[base]}"
        fields = (unique, opcode, shape, tuple(operands), attributes or {}, literal, number)
        made = Instruction(*fields, sizes=sizes)
        self._instructions.append(made)
        return made


# Shapes.


def _shape(aval: OfJax) -> Shape:
    """The shape of an array, with dimensions of unknown size for expressions."""
    letters, bits = re.match(r"([a-z]*)(.*)", str(aval.dtype)).groups()  # pyright: ignore[reportOptionalMemberAccess] - it matches every text
    try:
        element_type = ElementType(_TYPES.get(letters, letters) + bits.replace("_", ""))
    except ValueError:
        raise ShapeError(f"from_jax: HLO has no elements of type {aval.dtype}") from None
    sizes = tuple(size if isinstance(size, int) else UNBOUNDED_SIZE for size in _sizes(aval))
    return Shape(element_type, sizes)


_TYPES: Final = {
    "float": "f",
    "int": "s",
    "uint": "u",
    "bool": "pred",
    "complex": "c",
    "bfloat": "bf",
}
"""What NumPy's types are called in HLO, before their width."""


def _sizes(aval: OfJax) -> tuple[Size, ...]:
    return tuple(map(_size, aval.shape))


def _size(size: OfJax) -> Size:
    """A size as rules compute with it."""
    return read_integer(_written(size))


def _written(size: OfJax) -> sympy.Expr | int:
    """An integer, or an expression over dimension variables of JAX."""
    return size if isinstance(size, int) else _expression(str(size))


def _scalar(aval: OfJax) -> OfJax:
    return SimpleNamespace(shape=(), dtype=aval.dtype)


def _closed(jaxpr: OfJax) -> OfJax:
    return SimpleNamespace(jaxpr=jaxpr)


def _names_of_arguments(jaxpr: OfJax) -> list[str]:
    """The names of the arguments in the function, as far as JAX tells them."""
    told = getattr(getattr(jaxpr, "debug_info", None), "arg_names", None) or ()
    names = [re.sub(r"\W+", "_", each or "").strip("_") for each in told]
    if len(names) != len(jaxpr.invars) or not all(names):
        return [f"arg{number}" for number in range(len(jaxpr.invars))]
    return names


def _expression(text: str) -> sympy.Expr:
    """A size as JAX writes it.

    >>> _expression("4*s + floordiv(b, 2) - mod(b*s, 3)^2")
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

_CALLS: Final[Mapping[str, str]] = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "remat": "jaxpr",
    "checkpoint": "jaxpr",
}
"""The primitives that run a jaxpr once, and the parameter that it is."""

_SELECTED: Final = (0, 2, 1)
"""The operands of a select by a truth value: JAX has what is taken for false first."""

_FOLDS: Final[Mapping[str, str]] = {
    "reduce_sum": "add",
    "reduce_prod": "multiply",
    "reduce_max": "maximum",
    "reduce_min": "minimum",
    "reduce_and": "and",
    "reduce_or": "or",
    "reduce_window_sum": "add",
    "reduce_window_max": "maximum",
    "reduce_window_min": "minimum",
}
"""The primitives that fold elements, and the opcode that combines two."""

_ELEMENTWISE: Final[Mapping[str, str]] = {
    **{
        name: name
        for name in (
            *("abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "erf", "floor", "imag"),
            *("log", "logistic", "not", "or", "real", "rsqrt", "sign", "sqrt", "tan", "tanh"),
            "xor",
        )
    },
    "convert_element_type": "convert",
    "copy": "copy",
    "copy_p": "copy",
    "cos": "cosine",
    "div": "divide",
    "exp": "exponential",
    "exp2": "power",
    "expm1": "exponential-minus-one",
    "integer_pow": "power",
    "is_finite": "is-finite",
    "log1p": "log-plus-one",
    "max": "maximum",
    "min": "minimum",
    "mul": "multiply",
    "neg": "negate",
    "pow": "power",
    "reduce_precision": "reduce-precision",
    "rem": "remainder",
    "round": "round-nearest-even",
    "select_n": "select",
    "shift_left": "shift-left",
    "shift_right_arithmetic": "shift-right-arithmetic",
    "shift_right_logical": "shift-right-logical",
    "sin": "sine",
    "square": "multiply",
    "stop_gradient": "copy",
    "sub": "subtract",
}
"""The opcodes of primitives that work element by element."""


_COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")


def _plain(opcode: str, **attributes: object) -> Rule:
    return lambda _: (opcode, attributes)


def _unknown(name: str) -> Rule:
    return _plain("custom-call", custom_call_target=name)


def _renamed(opcode: str, **names: str) -> Rule:
    """The parameters of a primitive under the names of attributes."""
    return lambda given: (opcode, {name: given[theirs] for name, theirs in names.items()})


def _dot(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    (lhs, rhs), (lhs_batch, rhs_batch) = given["dimension_numbers"]
    return "dot", {
        "lhs_batch_dims": tuple(lhs_batch),
        "lhs_contracting_dims": tuple(lhs),
        "rhs_batch_dims": tuple(rhs_batch),
        "rhs_contracting_dims": tuple(rhs),
    }


def _slice(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    starts, limits = given["start_indices"], given["limit_indices"]
    steps = given["strides"] or (1,) * len(starts)
    rows = zip(map(_written, starts), map(_written, limits), steps, strict=True)
    return "slice", {"slice": tuple(rows)}


def _pad(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    return "pad", {"padding": tuple(tuple(map(_written, row)) for row in given["padding_config"])}


def _gather(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Vectors of indices are the last dimension of the indices, always."""
    numbers = given["dimension_numbers"]
    names = ("offset_dims", "collapsed_slice_dims", "start_index_map")
    batching = ("operand_batching_dims", "start_indices_batching_dims")
    return "gather", {
        **{name: tuple(getattr(numbers, name)) for name in (*names, *batching)},
        "slice_sizes": tuple(map(_written, given["slice_sizes"])),
    }


def _dynamic_slice(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    return "dynamic-slice", {"dynamic_slice_sizes": tuple(map(_written, given["slice_sizes"]))}


def _window(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    window = Window(
        size=tuple(given["window_dimensions"]),
        stride=tuple(given["window_strides"]),
        pad=tuple(map(tuple, given["padding"])),
        lhs_dilate=tuple(given["base_dilation"]),
        rhs_dilate=tuple(given["window_dilation"]),
    )
    return "reduce-window", {"window": window}


_RULES: Final[Mapping[str, Rule]] = {
    **{name: _plain(opcode) for name, opcode in _ELEMENTWISE.items()},
    **{name: _plain("compare", direction=name.upper()) for name in _COMPARISONS},
    **{name: _renamed("reduce", dimensions="axes") for name in _FOLDS if "window" not in name},
    **{name: _window for name in _FOLDS if "window" in name},
    "broadcast_in_dim": _renamed("broadcast", dimensions="broadcast_dimensions"),
    "concatenate": lambda given: ("concatenate", {"dimensions": (given["dimension"],)}),
    "dot_general": _dot,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _plain("dynamic-update-slice"),
    "expand_dims": _plain("reshape"),
    "gather": _gather,
    "iota": _renamed("iota", iota_dimension="dimension"),
    "pad": _pad,
    "reshape": _plain("reshape"),
    "rev": _renamed("reverse", dimensions="dimensions"),
    "slice": _slice,
    "sort": lambda given: ("sort", {"dimensions": (given["dimension"],)}),
    "squeeze": _plain("reshape"),
    "top_k": _renamed("topk", k="k"),
    "transpose": _renamed("transpose", dimensions="permutation"),
}
"""The primitives with a rule; of others the maps are unknown."""
