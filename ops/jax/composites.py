"""Loops and branches of JAX as those of HLO.

Loops are ``while`` and ``scan``, and so ``map`` and most of ``fori_loop``. Branches are ``cond``,
and so ``switch``.

A scan of known sizes is JAX's own ``while`` that counts. One of symbolic length or sizes is the
operation ``scan``, whose rule looks at what one step uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, TypeAlias

from indexing.layout import Shape
from indexing.passes import Constraint
from ops.hlo.attributes import DimensionLabels
from ops.hlo.module import Computation, Instruction
from ops.index_maps import Size, as_form
from ops.jax import primitives
from ops.jax.primitives import SYMBOLIC_DILATION, JaxprBuilder, JaxprEquation, OfJax
from simplifier import forms
from simplifier.forms import Atom, AtomKind, Form, Interval, scope_of

# JAX's primitives that become several instructions of HLO.

Composite: TypeAlias = "Callable[[JaxprBuilder, JaxprEquation], list[Instruction] | None]"
"""From an equation to its results; ``None`` where JAX's own program says as much."""


def _convolution(add: JaxprBuilder, equation: JaxprEquation) -> list[Instruction]:
    given, operands = equation.given, equation.operands
    numbers = given["dimension_numbers"]
    spatial: Sequence[int] = numbers.rhs_spec[2:]
    _, kernel = (aval.shape for aval in equation.before)
    dilations = given["lhs_dilation"], given["rhs_dilation"]
    window = primitives.window_of((kernel[axis] for axis in spatial), given, *dilations)
    if window is None:
        target = f"conv_general_dilated {SYMBOLIC_DILATION}"
        return [add.add("custom-call", equation.after, operands, {"custom_call_target": target})]
    labels = DimensionLabels(
        _labels(numbers.lhs_spec, "bf"),
        _labels(numbers.rhs_spec, "oi"),
        _labels(numbers.out_spec, "bf"),
    )
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
        row = SimpleNamespace(shape=aval.shape[:axis] + aval.shape[axis + 1 :], dtype=aval.dtype)
        first = add.constant(primitives.scalar_of(aval))
        start = add.add("broadcast", [row], [first], {"dimensions": ()})
        inside = add.nested(own_names=True)
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
    inside = builder.nested(own_names=True)
    scalars = inside.parameters([*map(primitives.scalar_of, before)])
    inside.add("custom-call", [primitives.scalar_of(aval)], scalars, {"custom_call_target": name})
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

    return _loop(builder, equation.before, equation.operands, next_state, goes_on)[body:]


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
    stacked, rows = after[carries:], [_aval(each, each.shape[1:]) for each in before[kept:]]
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
    attributes: dict[str, Any] = {
        "dimensions": (0,),
        "num_carries": kept,
        "is_reverse": given["reverse"],
        "to_apply": inside.computation("step", inside.instructions),
    }
    avals = [*stacked, *before[:kept]]
    found = builder.elements(
        builder.add("scan", avals, [*operands[kept:], *operands[:kept]], attributes)
    )
    outputs, last = found[: len(stacked)], found[len(stacked) :]
    return [*last[fixed:], *outputs]


InsideOfCall: TypeAlias = "Callable[[JaxprBuilder, list[Instruction]], list[Instruction]]"
"""Adds what a loop or branch computes of the arrays of its state to a computation it calls."""


def _loop(
    builder: JaxprBuilder,
    avals: Sequence[OfJax],
    state: Sequence[Instruction],
    next_state: InsideOfCall,
    goes_on: InsideOfCall,
) -> list[Instruction]:
    """The arrays of a state after a ``while``, and so the results of these functions in it."""
    attributes = {
        "condition": _called(builder, "condition", avals, goes_on, is_tuple=False),
        "body": _called(builder, "body", avals, next_state),
    }
    before = builder.together(state)
    return builder.elements(builder.made("while", before.shape, before.sizes, [before], attributes))


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
    return Shape.of_tuple([primitives.shape_of(each) for each in avals]), tuple(
        map(primitives.sizes_of, avals)
    )


def _aval(like: OfJax, shape: Sequence[OfJax]) -> OfJax:
    return SimpleNamespace(shape=tuple(shape), dtype=like.dtype)


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


class _Computed(NamedTuple):
    """An instruction, and the form that it computes."""

    instruction: Instruction
    form: Form


class SizeValues:
    """The values of sizes, as instructions that a builder adds.

    ``forms`` has what each of these computes, for those who ask whether it overflows.
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
        value = self._sum(as_form(size))
        return None if value is None else value.instruction

    def _sum(self, form: Form) -> _Computed | None:
        for size, argument, axis in self._sizes:
            if (form - size).is_constant and len(size.terms) > 1:
                whole = self._size(_Told(argument, axis, 1, forms.ZERO))
                rest = (form - size).constant
                return self._made("add", whole, self._constant(rest)) if rest else whole
        parts = [self._term(atom, factor) for atom, factor in form.terms.items()]
        if form.constant or not parts:
            parts.append(self._constant(form.constant))
        return self._of_all("add", parts)

    def _term(self, atom: Atom, factor: int) -> _Computed | None:
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

    def _size(self, known: _Told) -> _Computed:
        asked = {"dimensions": (known.axis,)}
        added = self._builder.add("get-dimension-size", [self._kind], [known.argument], asked)
        size = as_form((known.argument.sizes or ((),))[0][known.axis])
        self.forms[added] = size
        return _Computed(added, size)

    def _atom(self, atom: Atom) -> _Computed | None:
        """The value of a quotient, a remainder, an extremum or a product."""
        values = [self._sum(argument) for argument in atom.arguments]
        if atom.kind in _OF_SEVERAL:
            return self._of_all(_OF_SEVERAL[atom.kind], values)
        if atom.kind in _DIVISIONS:
            numerator, divisor = values
            return (
                numerator and divisor and self._divided(_DIVISIONS[atom.kind], numerator, divisor)
            )
        return None

    def _divided(self, opcode: str, numerator: _Computed, divisor: _Computed) -> _Computed | None:
        """A quotient or remainder rounded down, which HLO has for values that are not negative."""
        least = self._least(numerator.form)
        if least is None or (self._least(divisor.form) or 0) < 1:
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

    def _times(self, value: _Computed, factor: int) -> _Computed:
        return value if factor == 1 else self._made("multiply", value, self._constant(factor))

    def _of_all(self, opcode: str, values: Iterable[_Computed | None]) -> _Computed | None:
        return reduce(lambda one, other: one and other and self._made(opcode, one, other), values)

    def _constant(self, value: int) -> _Computed:
        return _Computed(self._builder.constant(self._kind, value), forms.constant(value))

    def _made(self, opcode: str, one: _Computed, other: _Computed) -> _Computed:
        pair = [one.instruction, other.instruction]
        added = self._builder.add(opcode, [self._kind], pair)
        self.forms[added] = _COMPUTED[opcode](one.form, other.form)
        return _Computed(added, self.forms[added])


_COMPUTED: Final[Mapping[str, Callable[[Form, Form], Form]]] = {
    "add": lambda one, other: one + other,
    "subtract": lambda one, other: one - other,
    "multiply": lambda one, other: forms.product((one, other)),
    "divide": forms.floordiv,
    "remainder": forms.mod,
    "maximum": lambda one, other: forms.maximum((one, other)),
    "minimum": lambda one, other: forms.minimum((one, other)),
}
_OF_SEVERAL: Final = {
    AtomKind.MAX: "maximum",
    AtomKind.MIN: "minimum",
    AtomKind.PRODUCT: "multiply",
}
_DIVISIONS: Final = {
    AtomKind.FLOORDIV: "divide",
    AtomKind.QUOTIENT: "divide",
    AtomKind.MOD: "remainder",
}


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
    waiting = sorted(rows, key=lambda row: (len(row[0].terms), sum(row[0].terms.values())))
    before = len(waiting) + 1
    while len(waiting) < before:
        before, left = len(waiting), list[tuple[Form, Instruction, int]]()
        for size, argument, axis in waiting:
            unknown = [atom for atom in size.terms if atom not in found]
            if len(unknown) > 1:
                left.append((size, argument, axis))
            elif unknown:
                (atom,) = unknown
                factor = size.terms[atom]
                found[atom] = _Told(argument, axis, factor, size - Form(0, {atom: factor}))
        waiting = left
    return found
