"""Maps as isl's relations, both ways: objects of islpy, and text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from indexing.domain import Constraint, Domain, bounding, depths_of, distinctly_named
from indexing.errors import MapError
from indexing.exact import isl
from indexing.exact.index_set import constraints_of
from indexing.relation import Relation, formulas
from indexing.simplify import simplified
from indexing.variable import Variable, check_parameter, parameter_identifier
from simplifier import exact, forms
from simplifier.errors import Span, TextError, quoted
from simplifier.exact import ATTEMPT, Allowance, Budget, BudgetError, Space
from simplifier.forms import EVERYTHING, EXTREMA, INFINITY, ZERO, Form, Infinity, Interval

if TYPE_CHECKING:
    import islpy

    _IslFunction: TypeAlias = islpy.PwAff | islpy.MultiAff | islpy.PwMultiAff | islpy.MultiPwAff
    IslRelation: TypeAlias = islpy.Map | islpy.BasicMap | islpy.UnionMap | _IslFunction


"""The types of islpy for relations and functions."""


# isl's relations, both ways: as objects of islpy, and as isl's text.
#
# Dimensions are isl's inputs, results its outputs. Ranges are gone: two elements are related if
# some values of the ranges relate them. So are runtime variables, unless they are wanted as
# parameters. Parameters are isl's.

_MAX_CASES: Final = 24
"""Operands of minima and maxima in a map that is simplified: with more it takes too long."""

_MAX_DIVIDED_CASES: Final = 48
"""Operands times divisions, for the same reason: each operand may hold each division."""

# Writing.


def to_isl(
    indexing_map: Relation,
    *,
    runtime_as_parameters: bool = False,
    context: islpy.Context | None = None,
) -> islpy.Map:
    """The map as isl's relation; its ``str`` is isl's text.

    See :meth:`IndexingMap.to_isl`.
    """
    islpy = exact.load_isl()
    context = exact.context_of(context)
    relation = pairs_of(indexing_map, context, runtime_as_parameters=runtime_as_parameters)
    domain = _readably_named(indexing_map.domain)
    dims, *_ = domain.by_role(domain.names)
    return _named(relation, islpy.dim_type.in_, dims)


def pairs_of(
    indexing_map: Relation, context: islpy.Context, *, runtime_as_parameters: bool = False
) -> islpy.Map:
    """The map as isl's relation, with names for parameters alone."""
    domain, kinds = indexing_map.domain, exact.load_isl().dim_type
    first = len(domain.dims) + len(domain.ranges)
    first += 0 if runtime_as_parameters else len(domain.runtime)
    parameters = _readably_named(domain).names[first:]
    relation = isl.relation_at_runtime(
        indexing_map, context, runtime_as_parameters=runtime_as_parameters
    )
    relation = relation.move_dims(kinds.param, 0, kinds.in_, len(domain.dims), len(parameters))
    return _named(relation, kinds.param, parameters)


def _named(relation: islpy.Map, kind: islpy.dim_type, names: Sequence[str]) -> islpy.Map:
    for position, name in enumerate(names):
        if name:
            relation = relation.set_dim_name(kind, position, name)
    return relation


def _readably_named(domain: Domain) -> Domain:
    """The domain with names for isl: a variable whose name it cannot read goes by its identifier.

    Raises:
        MapError: isl cannot read the name of a parameter.
    """
    for parameter in domain.parameters:
        if not isl.readable(parameter.name):
            message = f"to_isl: {quoted(parameter.name)} cannot name a parameter in isl"
            raise MapError(f"{message}; expected another name, see rename()")
    roles = (
        [Variable(variable.bounds, isl.readable(variable.given_name)) for variable in role]
        for role in domain.roles
    )
    return distinctly_named(*roles, parameters=domain.parameters)


# Reading.


def read_isl(
    relation: str | IslRelation, *, budget: Budget, parameters_as_runtime: bool
) -> Relation:
    """A relation from isl's; :func:`indexing.from_isl` says more."""
    found = isl_map(relation)

    def read(_: islpy.Context) -> Relation:
        return _read(found, parameters_as_runtime=parameters_as_runtime)

    made = exact.asked(read, budget, context=found.get_ctx())
    return made if _has_many_cases(made) else simplified(made)


def isl_map(relation: str | IslRelation, asker: str = "from_isl") -> islpy.Map:
    """Isl's text or one of its objects as a relation between flat tuples of integers.

    Messages begin with the name of the asker.

    Raises:
        TextError: the text is not isl's.
        MapError: the relation has several spaces, or rational numbers, or is no relation.
    """
    is_text = isinstance(relation, str)
    found = _parsed(relation, asker) if is_text else _converted(relation, asker)
    if any(piece.is_rational() for piece in found.get_basic_maps()):
        raise MapError(f"{asker}: the relation has rational numbers; expected integers alone")
    kinds = exact.load_isl().dim_type
    return found.flatten().reset_tuple_id(kinds.in_).reset_tuple_id(kinds.out)


def read_pieces(relation: islpy.Map, dims: Sequence[str]) -> Iterator[Relation]:
    """Relations that make up one of isl's, simplified; those of a function have disjoint domains.

    The dimensions have these names, isl's parameters are parameters. There is one of nothing.
    """
    relation = relation.coalesce()
    if relation.is_single_valued():
        relation = relation.make_disjoint()
    named = _named(relation, exact.load_isl().dim_type.in_, dims)
    whole = map(exact.load_isl().Map, named.compute_divs().get_basic_maps())
    for piece in [each for each in whole if not each.is_empty()] or [named]:
        found = _read(piece, parameters_as_runtime=False, joins_cases=False)
        yield found if _has_many_cases(found) else simplified(found)


def _read(
    relation: islpy.Map, *, parameters_as_runtime: bool, joins_cases: bool = True
) -> Relation:
    kinds = exact.load_isl().dim_type
    dims, given, outputs = (
        [Variable(EVERYTHING, isl.readable(name)) for name in relation.get_var_names(kind)]
        for kind in (kinds.in_, kinds.param, kinds.out)
    )
    runtime, parameters = (given, []) if parameters_as_runtime else ([], given)
    for parameter in parameters:
        check_parameter(parameter, "from_isl: the parameter")
    joint = relation.move_dims(kinds.in_, len(dims), kinds.param, 0, len(given))
    positional = distinctly_named(dims, (), runtime).identifiers
    named = *positional, *(parameter_identifier(parameter.name) for parameter in parameters)
    # Equalities that isl finds late it loses: lexmin changes its operand where dimensions moved.
    reader = _RelationReader(joint.detect_equalities(), named, joins_cases=joins_cases)
    results = reader.results()
    ranges = [outputs[number] for number in reader.ranges.values()]
    domain = distinctly_named(dims, ranges, runtime, parameters)
    return Relation.from_forms(results, domain.constrained(reader.constraints()))


def _has_many_cases(made: Relation) -> bool:
    """Whether the map distinguishes so many cases that simplifying it would take too long."""
    atoms = forms.postorder(tuple(formulas(made)))
    operands = sum(len(atom.arguments) for atom in atoms if atom.kind in EXTREMA)
    divisions = sum(bool(atom.divisor) for atom in atoms)
    return operands > _MAX_CASES or operands * divisions > _MAX_DIVIDED_CASES


def _converted(relation: object, asker: str) -> islpy.Map:
    """One of islpy's objects as a relation."""
    islpy = exact.load_isl()
    if isinstance(relation, islpy.Map):
        return cast("islpy.Map", relation)
    conversion = _CONVERSIONS.get(type(relation).__name__)
    if conversion is not None:
        with suppress(islpy.Error):
            return getattr(islpy.Map, conversion)(relation)
    expected = "expected islpy's Map, PwMultiAff or the like, or isl's text"
    raise MapError(f"{asker}: {isl.shown(relation)} is not one relation; {expected}")


_CONVERSIONS: Final = {
    "Aff": "from_aff",
    "BasicMap": "from_basic_map",
    "MultiAff": "from_multi_aff",
    "MultiPwAff": "from_multi_pw_aff",
    "PwAff": "from_pw_aff",
    "PwMultiAff": "from_pw_multi_aff",
    "Set": "from_range",
    "UnionMap": "from_union_map",
}
"""The function of islpy that makes a relation of an object, by its class."""


# Text.


def _parsed(text: str, asker: str) -> islpy.Map:
    """A text of isl as a relation."""
    isl.check_isl_text(text)
    islpy = exact.load_isl()
    for read in (islpy.Map.read_from_str, islpy.UnionMap.read_from_str):
        with suppress(islpy.Error):
            return _converted(read(islpy.Context(), text), asker)
    hint = "expected such as { [i] -> [i mod 8] : 0 <= i < 64 }"
    raise TextError("isl does not read this as a relation", Span(text, 0, len(text)), hint)


# Reads one of isl's relations output by output: results, ranges and constraints as forms.
#
# An output that the others determine becomes a form; any other becomes a range over its values,
# or over the few in a window that moves along.

_MAX_PIECES: Final = 8
"""Pieces of a function that are joined in pairs: time grows with the cube."""

_NEVER: Final = (ZERO, Interval(1, 1))


class _Case(NamedTuple):
    """The value of a function on a part of its domain."""

    value: Form
    where: islpy.Set


class _RangeChoice(NamedTuple):
    """An output as ``base + step * range``, and the number of values of the range."""

    base: Form
    step: int
    values: int | Infinity

    @property
    def order(self) -> tuple[int | Infinity, int]:
        """The fewest values come first, then the cheapest base."""
        return self.values, forms.cost_of_form(self.base)


class _RelationReader:
    """Reads a relation without parameters output by output, over identifiers of its inputs.

    ``_left`` relates inputs and ranges to the outputs that are left. Cases of a function are joined
    to extrema or, where that is not wanted, left to constraints. Costs some integer programmes for
    each output.
    """

    def __init__(self, left: islpy.Map, identifiers: Sequence[str], *, joins_cases: bool) -> None:
        self._left = left
        self._joins_cases = joins_cases
        self._space = Space(dict.fromkeys(identifiers, EVERYTHING), left.get_ctx())
        self.ranges: dict[str, int] = {}
        """The ranges ``s0 s1 ...``, each with the number of the output whose values it counts."""

    def results(self) -> list[Form]:
        """The outputs over inputs and ranges."""
        count, results = _outputs(self._left), self._functions(self._left)
        if results is None:
            return [self._next_result(number) for number in range(count)]
        self._left = self._left.project_out(exact.load_isl().dim_type.out, 0, count)
        return results

    def _next_result(self, number: int) -> Form:
        """The first of the outputs left."""
        kind = exact.load_isl().dim_type.out
        first = self._left.project_out(kind, 1, _outputs(self._left) - 1)
        functions = self._functions(first)
        if functions is None:
            choices = self._range_choices(first)
            return self._with_range(min(choices, key=lambda choice: choice.order), number)
        self._left = self._left.project_out(kind, 0, 1)
        return functions[0]

    def constraints(self) -> list[Constraint]:
        """The constraints under which the relation has results, with the bounds of all inputs."""
        points = self._left.domain().compute_divs().coalesce().compute_divs()
        if points.is_empty():
            return [_NEVER]
        bounds = {name: isl.extent(points, place) for place, name in enumerate(self._space.bounds)}
        return [*bounding(bounds), *_constraints_of_union(points, self._space)]

    # Functions.

    def _functions(self, values: islpy.Map) -> list[Form] | None:
        """The outputs as forms; ``None`` if one is no function, or one of many cases."""
        if not values.is_single_valued():
            return None
        function = exact.load_isl().PwMultiAff.from_map(values)
        parts = map(function.get_pw_aff, range(_outputs(values)))
        found = [self._merged(part) for part in parts]
        results = [form for form in found if form is not None]
        return results if len(results) == len(found) else None

    def _merged(self, function: islpy.PwAff) -> Form | None:
        """A function as one form: its only piece, or extrema of its pieces."""
        domain = function.domain()
        parts = _fewest_pieces(function, domain)
        cases = [_Case(self._space.form_of(case), where.intersect(domain)) for where, case in parts]
        if not cases:
            return ZERO
        if len(cases) > 1 and not self._joins_cases:
            return None
        while 1 < len(cases) <= _MAX_PIECES and (
            joined := _with_joined_extremum(self._space, cases)
        ):
            cases = joined
        return cases[0].value if len(cases) == 1 else self._by_cases(function, cases)

    def _by_cases(self, function: islpy.PwAff, cases: Sequence[_Case]) -> Form | None:
        """The maximum of the cases, each at most the least value outside its part of the domain."""
        lower, upper = self._space.extent(function).ends
        if not isinstance(lower, int) or not isinstance(upper, int):
            return None
        domain = function.domain()
        depths = [_depth(case.where.gist(domain), self._space) for case in cases]
        return forms.maximum(
            forms.minimum((case.value, depth.times(upper - lower).plus_constant(upper)))
            for case, depth in zip(cases, depths, strict=True)
        )

    # Ranges.

    def _range_choices(self, values: islpy.Map) -> Iterator[_RangeChoice]:
        """The choices of a range for the values of the only output."""
        everything = values.range()
        ends, step = isl.extent(everything, 0), max(1, exact.integer(everything.get_stride(0)))
        size = INFINITY if ends.size is None else (ends.size - 1) // step + 1
        start = ends.lower if ends.lower is not None else ends.upper
        base = ZERO if step == 1 or start is None else forms.constant(start)
        yield _RangeChoice(base, 1 if start is None else step, size)
        if _is_window(values):
            yield from self._windows(values)

    def _windows(self, values: islpy.Map) -> Iterator[_RangeChoice]:
        """A range that counts from the first value up, and one from the last value down."""
        lowest, highest = values.dim_min(0), values.dim_max(0)
        step = max(1, exact.integer(values.get_range_stride_info(0).get_stride()))
        width = self._space.extent(highest.sub(lowest)).upper
        size = INFINITY if width is None else width // step + 1
        for end, towards in ((lowest, step), (highest, -step)):
            base = self._merged(end)
            if base is not None:
                yield _RangeChoice(base, towards, size)
            if step == 1 and end.n_piece() > 1:
                yield from self._affine_windows(values, end)

    def _affine_windows(self, values: islpy.Map, end: islpy.PwAff) -> Iterator[_RangeChoice]:
        """Ranges that count from an affine part of an end, as it were the end everywhere."""
        domain = values.domain()
        for _, base in end.get_pieces():
            start = exact.load_isl().Map.from_aff(base).intersect_domain(domain)
            apart = values.sum(start.neg()).range()
            ends = isl.extent(apart, 0)
            if ends.size is not None and ends.lower is not None:
                least = self._space.form_of(base).plus_constant(ends.lower)
                yield _RangeChoice(least, 1, ends.size)

    def _with_range(self, choice: _RangeChoice, number: int) -> Form:
        """Makes a new range the last input, and removes the first output."""
        identifier = f"s{len(self.ranges)}"
        self.ranges[identifier] = number
        old = list(self._space.bounds)
        self._space = Space(dict.fromkeys([*old, identifier], EVERYTHING), self._left.get_ctx())
        result = forms.variable(identifier).times(choice.step).plus(choice.base)
        islpy = exact.load_isl()
        moved = self._left.move_dims(islpy.dim_type.in_, len(old), islpy.dim_type.out, 0, 1)
        expressions = self._space.expressions([*map(forms.variable, old), result])
        values = map(islpy.PwMultiAff.from_pw_aff, expressions)
        joint = reduce(islpy.PwMultiAff.flat_range_product, values)
        self._left = moved.preimage_domain_pw_multi_aff(joint)
        return result


def _outputs(relation: islpy.Map) -> int:
    return relation.dim(exact.load_isl().dim_type.out)


def _is_window(values: islpy.Map) -> bool:
    """Whether the inputs bound the only output on both sides.

    Multiples of a number are no bound, though isl says so: they are an equation with a division.
    """
    kind = exact.load_isl().dim_type
    inputs = values.dim(kind.in_)
    values = _named(values, kind.in_, [f"i{place}" for place in range(inputs)])  # all different
    line = values.move_dims(kind.param, 0, kind.in_, 0, inputs).range().remove_divs()
    return line.dim_has_lower_bound(kind.set, 0) and line.dim_has_upper_bound(kind.set, 0)


def _fewest_pieces(
    function: islpy.PwAff, domain: islpy.Set
) -> Sequence[tuple[islpy.Set, islpy.Aff]]:
    """The pieces of the function, as few as isl finds with some operations of its own."""
    pieces = function.get_pieces()  # first: isl may lose their domains where it is broken off
    with suppress(BudgetError), Allowance(ATTEMPT).attempt(function.get_ctx()):
        return function.coalesce().gist(domain).coalesce().get_pieces()
    return pieces


def _with_joined_extremum(space: Space, cases: list[_Case]) -> list[_Case] | None:
    """The cases with two of them joined into one extremum, if some two can be."""
    for one, other in combinations(cases, 2):
        for extremum in (forms.maximum, forms.minimum):
            value = extremum((one.value, other.value))
            if all(space.agree(value, case.value, case.where) for case in (one, other)):
                rest = [case for case in cases if case is not one and case is not other]
                return [*rest, _Case(value, one.where.union(other.where).coalesce())]
    return None


# Constraints.


def _constraints_of_union(points: islpy.Set, space: Space) -> Iterator[Constraint]:
    """Constraints for exactly these points: the hull of the pieces, and that a piece holds them."""
    pieces = points.get_basic_sets()
    hull = pieces[0] if len(pieces) == 1 else points.simple_hull()
    yield from constraints_of(hull, space)
    if len(pieces) > 1:
        rest = points.gist(exact.load_isl().Set.from_basic_set(hull)).coalesce()
        yield _depth(rest, space), Interval(0, None)


def _depth(points: islpy.Set, space: Space) -> Form:
    """A form that is negative exactly outside a set that is not empty."""
    pieces = points.compute_divs().get_basic_sets()
    return forms.maximum(_depth_of_piece(piece, space) for piece in pieces)


def _depth_of_piece(piece: islpy.BasicSet, space: Space) -> Form:
    depths = [*depths_of(constraints_of(piece, space))]
    return forms.minimum(depths) if depths else ZERO
