"""Random expressions, boxes and maps for Hypothesis, and the points where they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from hypothesis import strategies as st

from indexing import IndexingMap, UndefinedMap, Variable
from indexing.domain import NO_VALUES, Domain
from simplifier import Interval
from simplifier.canonical.scope import Scope, scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.expr.printer import format_form
from simplifier.fixpoint import simplified
from tests.evaluation import Columns

NAMES = ("x", "y", "z")
MAX_POINTS = 400
"""Points of a box that are looked at; more are thinned out."""

FAR = 1_000_003
"""How far beyond a finite end an unbounded variable is followed."""


@dataclass(frozen=True)
class Problem:
    """An expression and the box it is asked about; printed as the call that reproduces it."""

    form: Form
    box: Mapping[str, Interval]

    def __repr__(self) -> str:
        ends = (f'"{name}": ({each.lower}, {each.upper})' for name, each in self.box.items())
        return f'simplify(parse_expr("{format_form(self.form)}"), {{{", ".join(ends)}}})'

    def points(self) -> Columns:
        return points_of(self.box)

    def scope(self) -> Scope:
        return scope_of(tuple(sorted(self.box.items())))

    def result(self, form: Form | None = None) -> Form:
        """The simplified expression, or form, with nothing remembered from other problems."""
        scope_of.cache_clear()
        return simplified(self.scope(), self.form if form is None else form)


# Intervals and boxes.

_ENDS = st.integers(-20, 20)
_SIZES = st.one_of(st.integers(1, 4), st.integers(1, 70), st.sampled_from((1, 2, 8, 64, 128)))


@st.composite
def bounded_intervals(draw: st.DrawFn) -> Interval:
    """Intervals that are not empty: from 0 as in tensors, or anywhere, also a single point."""
    lower = draw(st.one_of(st.just(0), _ENDS))
    return Interval(lower, lower + draw(_SIZES) - 1)


@st.composite
def half_open_intervals(draw: st.DrawFn) -> Interval:
    """Intervals without bound at one end or both."""
    end = draw(_ENDS)
    return draw(st.sampled_from((Interval(end, None), Interval(None, end), Interval(None, None))))


def boxes(names: Sequence[str] = NAMES) -> st.SearchStrategy[dict[str, Interval]]:
    """Bounds of all names; one in four has an unbounded end."""
    bounded = bounded_intervals()
    return _box(names, st.one_of(bounded, bounded, bounded, half_open_intervals()))


def bounded_boxes(names: Sequence[str] = NAMES) -> st.SearchStrategy[dict[str, Interval]]:
    return _box(names, bounded_intervals())


def _box(
    names: Sequence[str], of: st.SearchStrategy[Interval]
) -> st.SearchStrategy[dict[str, Interval]]:
    return st.tuples(*[of] * len(names)).map(lambda found: dict(zip(names, found, strict=True)))


def points_of(box: Mapping[str, Interval]) -> Columns:
    """The points of a box, thinned out to at most ``MAX_POINTS``; both ends of every axis stay."""
    axes = [_axis(interval) for interval in box.values()]
    longest = max(2, int(MAX_POINTS ** (1 / max(1, len(axes)))))
    if prod(map(len, axes)) > MAX_POINTS:
        axes = [_thinned(axis, longest) for axis in axes]
    rows = list(product(*axes))
    columns = np.array(rows, dtype=object).reshape(len(rows), len(axes)).T
    return dict(zip(box, columns, strict=True))


def _axis(interval: Interval) -> Sequence[int]:
    if interval.lower is not None and interval.upper is not None:
        return range(interval.lower, interval.upper + 1)
    if interval.lower is not None:
        return (*range(interval.lower, interval.lower + 6), interval.lower + FAR)
    if interval.upper is not None:
        return (interval.upper - FAR, *range(interval.upper - 5, interval.upper + 1))
    return (-FAR, -7, -2, -1, 0, 1, 2, 5, FAR)


def _thinned(axis: Sequence[int], count: int) -> Sequence[int]:
    """Some values of an axis: the ends, and steps of uneven length between them."""
    if len(axis) <= count:
        return axis
    positions = {0, len(axis) - 1, *((step * len(axis)) // count for step in range(count - 1))}
    return [axis[position] for position in sorted(positions)]


# Expressions.

_SMALL = st.integers(-9, 9)
_DIVISORS = st.one_of(st.integers(2, 12), st.integers(2, 12), st.sampled_from((32, 64, 100)))
_SIGNED_DIVISORS = st.one_of(_DIVISORS, _DIVISORS, _DIVISORS, _DIVISORS.map(lambda value: -value))
_QUASI_AFFINE = ("sum", "floordiv", "mod", "ceildiv", "min", "max")
_EVERYTHING = ("product", "quotient", "modulus", *_QUASI_AFFINE)


@st.composite
def expressions(
    draw: st.DrawFn,
    names: Sequence[str] = NAMES,
    operations: Sequence[str] = _EVERYTHING,
    leaves: int = 6,
) -> Form:
    """Everything: products and divisors that are expressions, too; such a division may meet 0."""
    return _drawn(draw, names, operations, draw(st.integers(1, leaves)))


def quasi_affine(names: Sequence[str] = NAMES, leaves: int = 6) -> st.SearchStrategy[Form]:
    """What isl understands: sums, divisions by constants of either sign, extrema."""
    return expressions(names, _QUASI_AFFINE, leaves)


def _drawn(draw: st.DrawFn, names: Sequence[str], operations: Sequence[str], leaves: int) -> Form:
    """An expression of at most so many leaves."""
    if leaves <= 1:
        return forms.variable(draw(st.sampled_from(names)))
    operation = draw(st.sampled_from(operations))
    here = draw(st.integers(1, leaves - 1))
    left = _drawn(draw, names, operations, here)
    if operation in _BY_CONSTANT:
        return _BY_CONSTANT[operation](left, forms.constant(draw(_SIGNED_DIVISORS)))
    right = _drawn(draw, names, operations, leaves - here)
    if operation == "sum":
        return left.times(draw(_SMALL)).plus(right, draw(_SMALL)).plus_constant(draw(_SMALL))
    return _OF_EXPRESSIONS[operation](left, right)


_BY_CONSTANT: Mapping[str, Callable[[Form, Form], Form]] = {
    "floordiv": operations.floordiv,
    "mod": operations.mod,
    "ceildiv": operations.ceildiv,
}
_OF_EXPRESSIONS: Mapping[str, Callable[[Form, Form], Form]] = {
    "min": lambda left, right: operations.minimum((left, right)),
    "max": lambda left, right: operations.maximum((left, right)),
    "product": lambda left, right: operations.product((left, right)),
    "quotient": operations.floordiv,
    "modulus": operations.mod,
}


@st.composite
def reshape_chains(draw: st.DrawFn) -> Problem:
    """An index that is joined and split again and again, as reshapes of a tensor do."""
    size = draw(st.sampled_from((24, 36, 48, 60, 64, 120, 210, 360, 1024)))
    shape = _factors(draw, size)
    index = [forms.variable(f"d{place}") for place in range(len(shape))]
    box = {f"d{place}": Interval(0, extent - 1) for place, extent in enumerate(shape)}
    for _ in range(draw(st.integers(1, 3))):
        target = _factors(draw, size)
        index, shape = split(joined(index, shape), target), target
    return Problem(draw(st.sampled_from((*index, joined(index, shape)))), box)


def _factors(draw: st.DrawFn, size: int) -> list[int]:
    """A shape of that many elements."""
    shape: list[int] = []
    for _ in range(draw(st.integers(0, 2))):
        divisors = [divisor for divisor in range(2, size + 1) if size % divisor == 0]
        if divisors:
            shape.append(draw(st.sampled_from(divisors)))
            size //= shape[-1]
    return [*shape, size]


def joined(index: Sequence[Form], shape: Sequence[int]) -> Form:
    total = forms.ZERO
    for form, extent in zip(index, shape, strict=True):
        total = total.times(extent).plus(form)
    return total


def split(linear: Form, shape: Sequence[int]) -> list[Form]:
    index: list[Form] = []
    for place, extent in enumerate(shape):
        stride = prod(shape[place + 1 :])
        digit = operations.floordiv(linear, forms.constant(stride))
        index.append(operations.mod(digit, forms.constant(extent)) if place else digit)
    return index


@st.composite
def problems(draw: st.DrawFn, expression: st.SearchStrategy[Form] | None = None) -> Problem:
    return Problem(draw(expressions() if expression is None else expression), draw(boxes()))


any_problem = st.one_of(problems(), problems(quasi_affine()), reshape_chains())


def constraints(names: Sequence[str] = NAMES) -> st.SearchStrategy[list[tuple[Form, Interval]]]:
    """One to three limits of expressions; together they may leave no point."""
    interval = st.one_of(bounded_intervals(), half_open_intervals())
    return st.lists(st.tuples(quasi_affine(names, leaves=3), interval), min_size=1, max_size=3)


# Maps.


@st.composite
def index_maps(draw: st.DrawFn, *, holes: bool = True) -> IndexingMap:
    """Indices split, permuted and joined again, as reshapes, transposes and layouts do.

    With ``holes``, what is stored may have gaps, and some of the parts may be left out.
    """
    size = draw(st.sampled_from((12, 16, 24, 36, 60)))
    shape, parts = _factors(draw, size), _factors(draw, size)
    index = [forms.variable(f"d{place}") for place in range(len(shape))]
    digits = draw(st.permutations([*zip(split(joined(index, shape), parts), parts, strict=True)]))
    if holes:
        gap, left_out = draw(st.integers(0, 2)), draw(st.integers(0, 1))
        digits = [(digit, extent + gap) for digit, extent in digits[left_out:]]
    first = draw(st.integers(0, len(digits)))
    groups = [group for group in (digits[:first], digits[first:]) if group]
    results = [joined(*zip(*group, strict=True)).plus_constant(len(groups)) for group in groups]
    return IndexingMap.from_forms(results, Domain.of(map(Variable.of_size, shape)))


@st.composite
def maps(draw: st.DrawFn, results: int | None = None, dims: int | None = None) -> IndexingMap:
    """Small maps with dimensions, ranges, runtime variables and constraints; all bounded."""
    small = st.builds(_variable, st.integers(-3, 3), st.integers(1, 7))
    count = draw(st.integers(0, 2)) if dims is None else dims
    domain = Domain.of(
        draw(st.lists(small, min_size=count, max_size=count)),
        draw(st.lists(small, max_size=2)),
        draw(st.lists(small, max_size=1)),
    )
    names = domain.identifiers
    expression = quasi_affine(names, leaves=4) if names else _SMALL.map(forms.constant)
    many = st.lists(expression, min_size=results or 0, max_size=3 if results is None else results)
    pairs = st.tuples(st.integers(-9, 3), st.integers(0, 12))
    ends = pairs.map(lambda pair: Interval(pair[0], sum(pair)))
    constraints = draw(st.lists(st.tuples(expression, ends), max_size=2))
    return IndexingMap.from_forms(draw(many), domain.constrained(constraints))


@st.composite
def maps_with_parameters(draw: st.DrawFn) -> IndexingMap:
    """Small maps with the parameters M and N, both bounded, and bounds that are over them."""
    domain = Domain.of(
        draw(st.lists(_SMALL_VARIABLE, max_size=2)),
        draw(st.lists(_SMALL_VARIABLE, max_size=1)),
        parameters=[Variable(draw(_SMALL_VARIABLE).bounds, name) for name in ("M", "N")],
    )
    ends = st.tuples(
        st.sampled_from(domain.identifiers).map(forms.variable),
        quasi_affine(domain.parameter_identifiers, leaves=2),
        st.integers(-2, 4),
    )
    constraints = [
        (variable - end, Interval(None, above))
        for variable, end, above in draw(st.lists(ends, max_size=2))
    ]
    expression = quasi_affine(domain.identifiers, leaves=3)
    limits = st.tuples(expression, st.integers(-3, 3).map(lambda low: Interval(low, low + 6)))
    constraints += draw(st.lists(limits, max_size=1))
    results = draw(st.lists(expression, max_size=2))
    return IndexingMap.from_forms(results, domain.constrained(constraints))


def _variable(lower: int, size: int) -> Variable:
    return Variable(Interval(lower, lower + size - 1))


_SMALL_VARIABLE = st.builds(_variable, st.integers(-3, 3), st.integers(1, 6))
_VARIABLE_NAMES = (
    *("d0", "d1", "s0", "s1", "rt0", "row", "_", "mod2", "v_1"),
    *("th_x", "bl_y", "warp"),  # coordinates of a launch
    *("domain", "inf", "KNOWN", "EMPTY", "UNDEFINED"),  # words that mean something elsewhere
)
_ANY_INTERVAL = st.one_of(
    *(bounded_intervals(), bounded_intervals(), half_open_intervals()),
    st.just(Interval(-(10**30), 10**30)),
)


@st.composite
def any_maps(draw: st.DrawFn) -> IndexingMap:
    """Maps of every kind: with names, unbounded, with products, empty, undefined."""
    if not draw(st.integers(0, 19)):
        return UndefinedMap(draw(st.text(max_size=20)))
    names = draw(st.lists(st.sampled_from(_VARIABLE_NAMES), unique=True, max_size=5))
    parameters = draw(st.lists(st.sampled_from(("M", "N", "batch")), unique=True, max_size=1))
    names = [name for name in names if name not in parameters]
    variables = [Variable(draw(_ANY_INTERVAL), name) for name in names]
    first = draw(st.integers(0, len(names)))
    second = draw(st.integers(first, len(names)))
    domain = Domain.of(
        *(variables[:first], variables[first:second], variables[second:]),
        parameters=[Variable(draw(_ANY_INTERVAL), name) for name in parameters],
    )
    known = domain.identifiers
    expression = expressions(known) if known else _SMALL.map(forms.constant)
    limits = st.tuples(expression, st.one_of(_ANY_INTERVAL, st.just(NO_VALUES)))
    constraints = draw(st.lists(limits, max_size=2))
    results = draw(st.lists(expression, max_size=3))
    return IndexingMap.from_forms(results, domain.constrained(constraints))
