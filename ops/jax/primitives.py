"""JAX's primitives as instructions, one or several, and its sizes as expressions and values."""

from __future__ import annotations

import ast
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, TypeAlias

import sympy

from indexing.layout import ElementType, Kind, Shape, ShapeError
from indexing.passes import Constraint
from ops.hlo.attributes import DimensionLabels, Window
from ops.hlo.builder import InstructionBuilder
from ops.hlo.literal import Literal
from ops.hlo.module import Computation, Instruction
from ops.hlo.shape_inference import array_shape, one_or_tuple
from ops.index_maps import Size, as_form, read_integer
from ops.rules.constant_folding import MAX_TABLE
from simplifier import FloorDiv, Max, Min, Mod, forms, symbol
from simplifier.forms import Atom, AtomKind, Form, Interval, np, scope_of

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
    size, stride = (tuple(map(written, each)) for each in (sizes, given["window_strides"]))
    pad = tuple((written(low), written(high)) for low, high in given["padding"])
    return Window(size, stride, pad, lhs_dilate=tuple(base), rhs_dilate=tuple(inner))


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
    "iota": _renamed("iota", iota_dimension="dimension"),
    "pad": _pad,
    **dict.fromkeys(("expand_dims", "reshape", "squeeze"), _plain("reshape")),
    "rev": _renamed("reverse", dimensions="dimensions"),
    "slice": _slice,
    "sort": lambda given: ("sort", {"dimensions": (given["dimension"],)}),
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

    def unknown(
        self, target: str, avals: Sequence[OfJax], operands: Sequence[Instruction] = ()
    ) -> Instruction:
        """A custom call, of which only its target is known."""
        return self.add("custom-call", avals, operands, {"custom_call_target": target})

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
        pairs = zip(made.shape.elements, made.sizes or (), strict=True)
        return [
            self.made("get-tuple-element", shape, (size,), [made], {"index": number})
            for number, (shape, size) in enumerate(pairs)
        ]

    def constant(self, aval: OfJax, value: OfJax = None) -> Instruction:
        """A constant; of arrays, the values are there if they may be indices, and not too many."""
        if is_key(aval) and value is not None:
            value = library().random.key_data(value)
        shape = shape_of(aval)
        is_index = shape.element_type.kind in _INDICES and shape.element_count <= MAX_TABLE
        is_kept = value is not None and (not shape.rank or is_index)
        values: list[Any] = np.asarray(value).ravel().tolist() if is_kept else []
        literal = Literal.of(shape, tuple(values) if is_kept else None)
        return self.made("constant", shape, (sizes_of(aval),), literal=literal)


_INDICES: Final = {Kind.BOOLEAN, Kind.SIGNED, Kind.UNSIGNED}


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


def array_like(aval: OfJax, shape: Sequence[OfJax] = ()) -> OfJax:
    """An array of elements like those of another one; without a shape, one of them."""
    return SimpleNamespace(shape=tuple(shape), dtype=aval.dtype)


# JAX's primitives that become several instructions of HLO.
#
# Loops are `while` and `scan`, and so `map` and most of `fori_loop`. Branches are `cond`, and so
# `switch`. A scan of known sizes is JAX's own `while` that counts. One of symbolic length or sizes
# is the operation `scan`, whose rule looks at what one step uses.


Composite: TypeAlias = "Callable[[JaxprBuilder, JaxprEquation], list[Instruction] | None]"
"""From an equation to its results; ``None`` where JAX's own program says as much."""


def _convolution(add: JaxprBuilder, equation: JaxprEquation) -> list[Instruction]:
    given, operands = equation.given, equation.operands
    numbers = given["dimension_numbers"]
    spatial: Sequence[int] = numbers.rhs_spec[2:]
    _, kernel = (aval.shape for aval in equation.before)
    dilations = given["lhs_dilation"], given["rhs_dilation"]
    window = window_of((kernel[axis] for axis in spatial), given, *dilations)
    if window is None:
        target = f"conv_general_dilated {SYMBOLIC_DILATION}"
        return [add.unknown(target, equation.after, operands)]
    specs = numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec
    labels = DimensionLabels(*map(_labels, specs, ("bf", "oi", "bf")))
    counts = {name: given[name] for name in ("feature_group_count", "batch_group_count")}
    attributes = {"window": window, "dim_labels": labels, **counts}
    return [add.add("convolution", equation.after, operands, attributes)]


def _labels(spec: Sequence[int], first: str) -> str:
    """The role of each dimension: two letters, then the numbers of the spatial ones."""
    roles = dict(zip(spec, [*first, *map(str, range(len(spec) - 2))], strict=True))
    return "".join(roles[axis] for axis in range(len(spec)))


def _cumulative(opcode: str) -> Composite:
    """Each element folded with all before it, or behind it."""

    def composite(add: JaxprBuilder, equation: JaxprEquation) -> list[Instruction]:
        (aval,), axis = equation.after, equation.given["axis"]
        row = array_like(aval, aval.shape[:axis] + aval.shape[axis + 1 :])
        first = add.constant(array_like(aval))
        start = add.add("broadcast", [row], [first], {"dimensions": ()})
        inside = add.nested()
        result = inside.add(opcode, [row], inside.parameters([row, row], "ab"), name="r")
        inside.together([result, result], name="t")  # and the next carried value
        step = add.computation(f"cumulative_{opcode}", inside.instructions)
        attributes: dict[str, Any] = {"dimensions": (axis,), "num_carries": 1, "to_apply": step}
        attributes["is_reverse"] = equation.given["reverse"]
        both = add.add("scan", [aval, row], [*equation.operands, start], attributes)
        return [add.add("get-tuple-element", [aval], [both], {"index": 0})]

    return composite


def _by_element(builder: JaxprBuilder, equation: JaxprEquation) -> list[Instruction]:
    """A function of elements that HLO lacks: JAX's program is one loop for all elements."""
    name, _, operands, before, (aval,) = equation
    inside = builder.nested()
    scalars = inside.parameters([*map(array_like, before)])
    inside.unknown(name, [array_like(aval)], scalars)
    called = inside.computation(name, inside.instructions)
    repeated = [
        each if each.shape.rank else builder.add("broadcast", [aval], [each], {"dimensions": ()})
        for each in operands
    ]
    attributes = {"dimensions": tuple(range(len(aval.shape))), "to_apply": called}
    return [builder.add("map", [aval], repeated, attributes)]


# Loops and branches.


def _while(builder: JaxprBuilder, equation: JaxprEquation) -> list[Instruction] | None:
    """A loop that runs while a jaxpr gives true; its state begins with the reads of both jaxprs.

    JAX itself joins the truth values of a batch.
    """
    given = equation.given
    if given["cond_jaxpr"].out_avals[0].shape:
        return None
    condition, body = given["cond_nconsts"], given["cond_nconsts"] + given["body_nconsts"]

    def next_state(inside: JaxprBuilder, before: list[Instruction]) -> list[Instruction]:
        read = before[condition:]
        return [*before[:body], *inside.run(given["body_jaxpr"], read)]

    def goes_on(inside: JaxprBuilder, before: list[Instruction]) -> list[Instruction]:
        return inside.run(given["cond_jaxpr"], before[:condition] + before[body:])

    is_going_on = _called(builder, "condition", equation.before, goes_on, is_tuple=False)
    step = _called(builder, "body", equation.before, next_state)
    before = builder.together(equation.operands)
    attributes = {"condition": is_going_on, "body": step}
    loop = builder.made("while", before.shape, before.sizes, [before], attributes)
    return builder.elements(loop)[body:]


def _cond(builder: JaxprBuilder, equation: JaxprEquation) -> list[Instruction]:
    """Jaxprs of which the first operand chooses one; each takes all other operands."""
    chosen, *given = equation.operands

    def branch(closed: OfJax) -> InsideOfCall:
        return lambda inside, arguments: inside.run(closed, arguments)

    jaxprs, state = equation.given["branches"], equation.before[1:]
    branches = tuple(_called(builder, "branch", state, branch(each)) for each in jaxprs)
    arguments = [builder.together(given)] * len(branches)
    attributes, after = {"branch_computations": branches}, _state(equation.after)
    made = builder.made("conditional", *after, [chosen, *arguments], attributes)
    return builder.elements(made)


def _scan(builder: JaxprBuilder, equation: JaxprEquation) -> list[Instruction] | None:
    """A jaxpr for slice after slice, as one operation; values that it only reads are carried.

    JAX's own loop says as much where all sizes are known, or nothing is sliced or stacked up.
    """
    _, given, operands, before, after = equation
    fixed: int = given["num_consts"]
    carries: int = given["num_carry"]
    kept = fixed + carries
    stacked, rows = after[carries:], [array_like(each, each.shape[1:]) for each in before[kept:]]
    arrays = (*before, *stacked, SimpleNamespace(shape=(given["length"],)))
    if all(isinstance(size, int) for each in arrays for size in each.shape):
        return None
    if not rows and not stacked:
        return None
    inside = builder.nested()
    parameters = inside.parameters([*rows, *before[:kept]])
    slices, carried = parameters[: len(rows)], parameters[len(rows) :]
    results = inside.run(given["jaxpr"], [*carried, *slices])
    inside.together([*results[carries:], *carried[:fixed], *results[:carries]])
    attributes: dict[str, Any] = {"dimensions": (0,), "num_carries": kept}
    step = inside.computation("step", inside.instructions)
    attributes |= {"is_reverse": given["reverse"], "to_apply": step}
    avals = [*stacked, *before[:kept]]
    given_in_order = [*operands[kept:], *operands[:kept]]
    found = builder.elements(builder.add("scan", avals, given_in_order, attributes))
    outputs, last = found[: len(stacked)], found[len(stacked) :]
    return [*last[fixed:], *outputs]


InsideOfCall: TypeAlias = "Callable[[JaxprBuilder, list[Instruction]], list[Instruction]]"
"""Adds what a loop or branch computes of the arrays of its state to a computation it calls."""


def _called(
    builder: JaxprBuilder,
    name: str,
    avals: Sequence[OfJax],
    make: InsideOfCall,
    *,
    is_tuple: bool = True,
) -> Computation:
    """A computation of a tuple of arrays, which gives a tuple, or one array."""
    inside = builder.nested()
    shape, sizes = _state(avals)
    given = inside.made("parameter", shape, sizes, number=0)
    inside.root_of(make(inside, inside.elements(given)), is_tuple=is_tuple)
    return inside.computation(name, inside.instructions)


def _state(avals: Sequence[OfJax]) -> tuple[Shape, tuple[Any, ...]]:
    return Shape.of_tuple([shape_of(each) for each in avals]), tuple(map(sizes_of, avals))


COMPOSITES: Final[Mapping[str, Composite]] = {
    "cond": _cond,
    "conv_general_dilated": _convolution,
    "cummax": _cumulative("maximum"),
    "cummin": _cumulative("minimum"),
    "cumprod": _cumulative("multiply"),
    "cumsum": _cumulative("add"),
    **dict.fromkeys(("igamma", "igamma_grad_a", "igammac", "random_gamma_grad"), _by_element),
    "scan": _scan,
    "while": _while,
}
"""The primitives of several instructions, by name."""


# Sizes as values: instructions that compute a size from the sizes of arguments.
#
# The size `b floordiv 2` is `divide(get-dimension-size(x), 2)` where an argument `x` has the size
# `b`; of an argument of the size `4*s`, `s` is the size divided by 4.


class SizeValues:
    """The values of sizes, as instructions that a builder adds.

    ``forms`` has what each of these computes, also for those who ask whether it overflows.
    """

    def __init__(self, builder: JaxprBuilder, kind: OfJax, facts: Iterable[Constraint]) -> None:
        self.forms: dict[Instruction, Form] = {}
        self._builder = builder
        self._kind = kind
        self._facts = tuple(facts)
        self._sizes = [*_sizes_of_arguments(builder.instructions)]
        self._solved = _solved(self._sizes)

    def of(self, size: Size) -> Instruction | None:
        """The value of a size; ``None`` if the sizes of arguments do not tell it."""
        return self._sum(as_form(size))

    def _sum(self, form: Form) -> Instruction | None:
        for size, argument, axis in self._sizes:
            if (form - size).is_constant and len(size.terms) > 1:
                whole = self._size(_Told(argument, axis, 1, forms.ZERO))
                rest = (form - size).constant
                return self._made("add", whole, self._constant(rest)) if rest else whole
        parts = [self._term(atom, factor) for atom, factor in form.terms.items()]
        if form.constant or not parts:
            parts.append(self._constant(form.constant))
        return self._of_all("add", parts)

    def _term(self, atom: Atom, factor: int) -> Instruction | None:
        known = self._solved.get(atom)
        if known is None:
            value = self._atom(atom)
            return None if value is None else self._times(value, factor)
        value = self._size(known)
        if known.rest != forms.ZERO:
            rest = self._sum(known.rest)
            value = value if rest is None else self._made("subtract", value, rest)
        times, left = divmod(factor, known.factor)
        if not left:
            return self._times(value, times)
        return self._times(self._made("divide", value, self._constant(known.factor)), factor)

    def _size(self, known: _Told) -> Instruction:
        asked = {"dimensions": (known.axis,)}
        added = self._builder.add("get-dimension-size", [self._kind], [known.argument], asked)
        self.forms[added] = as_form((known.argument.sizes or ((),))[0][known.axis])
        return added

    def _atom(self, atom: Atom) -> Instruction | None:
        """The value of a quotient, a remainder, an extremum or a product."""
        opcode, values = _OF_ATOMS.get(atom.kind), [self._sum(each) for each in atom.arguments]
        if opcode in {"divide", "remainder"}:
            numerator, divisor = values
            return numerator and divisor and self._divided(opcode, numerator, divisor)
        return self._of_all(opcode, values) if opcode else None

    def _divided(
        self, opcode: str, numerator: Instruction, divisor: Instruction
    ) -> Instruction | None:
        """A quotient or remainder rounded down, which HLO has for values that are not negative."""
        least = self._least(self.forms[numerator])
        if least is None or (self._least(self.forms[divisor]) or 0) < 1:
            return None
        if least >= 0:
            return self._made(opcode, numerator, divisor)
        above = self._made("add", numerator, self._times(divisor, -least))
        value = self._made(opcode, above, divisor)
        return value if opcode == "remainder" else self._made("add", value, self._constant(least))

    def _least(self, form: Form) -> int | None:
        """The least value of a form over sizes, of which JAX has none below 1."""
        bounds = ((name, Interval(1, None)) for name in sorted({*forms.variables_of((form,))}))
        scope = scope_of(tuple(bounds), self._facts)
        return Interval.from_range(scope.range_of(scope.canonical(form))).lower

    def _times(self, value: Instruction, factor: int) -> Instruction:
        return value if factor == 1 else self._made("multiply", value, self._constant(factor))

    def _of_all(self, opcode: str, values: Iterable[Instruction | None]) -> Instruction | None:
        return reduce(lambda one, other: one and other and self._made(opcode, one, other), values)

    def _constant(self, value: int) -> Instruction:
        added = self._builder.constant(self._kind, value)
        self.forms[added] = forms.constant(value)
        return added

    def _made(self, opcode: str, one: Instruction, other: Instruction) -> Instruction:
        added = self._builder.add(opcode, [self._kind], [one, other])
        self.forms[added] = _COMPUTED[opcode](self.forms[one], self.forms[other])
        return added


_COMPUTED: Final[Mapping[str, Callable[[Form, Form], Form]]] = {
    "add": lambda one, other: one + other,
    "subtract": lambda one, other: one - other,
    "multiply": lambda one, other: forms.product((one, other)),
    "divide": forms.floordiv,
    "remainder": forms.mod,
    "maximum": lambda one, other: forms.maximum((one, other)),
    "minimum": lambda one, other: forms.minimum((one, other)),
}
_OF_ATOMS: Final = {
    AtomKind.FLOORDIV: "divide",
    AtomKind.MAX: "maximum",
    AtomKind.MIN: "minimum",
    AtomKind.MOD: "remainder",
    AtomKind.PRODUCT: "multiply",
    AtomKind.QUOTIENT: "divide",
}
"""The opcodes that compute atoms."""


class _Told(NamedTuple):
    """An atom times a factor is the size of an argument less a rest, which is known, too."""

    argument: Instruction
    axis: int
    factor: int
    rest: Form


def _sizes_of_arguments(
    instructions: Iterable[Instruction],
) -> Iterator[tuple[Form, Instruction, int]]:
    """The symbolic sizes, the argument and the dimension."""
    for each in instructions:
        for sizes in (each.sizes or ()) if _is_argument(each) else ():
            for axis, size in enumerate(sizes):
                if isinstance(size, Form):
                    yield size, each, axis


def _is_argument(instruction: Instruction) -> bool:
    """Whether an instruction is an array that its computation is given, maybe in a tuple."""
    if instruction.opcode == "get-tuple-element":
        (instruction,) = instruction.operands
        return instruction.opcode == "parameter"
    return instruction.opcode == "parameter" and not instruction.shape.is_tuple


def _solved(rows: Iterable[tuple[Form, Instruction, int]]) -> dict[Atom, _Told]:
    """The atoms that sizes tell: each is the only one in its size that others do not tell."""
    found: dict[Atom, _Told] = {}
    ordered = sorted(rows, key=lambda row: (len(row[0].terms), sum(row[0].terms.values())))
    before = -1
    while before < len(found):
        before = len(found)
        for size, argument, axis in ordered:
            unknown = [atom for atom in size.terms if atom not in found]
            if len(unknown) == 1:
                (atom,) = unknown
                factor = size.terms[atom]
                found[atom] = _Told(argument, axis, factor, size - Form(0, {atom: factor}))
    return found
