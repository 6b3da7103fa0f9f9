"""Bounds, constraints and forms as isl's sets and piecewise quasi-affine expressions.

Forms are handed to isl operation by operation through its programming interface, never as text.
"""

from __future__ import annotations

from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from simplifier.bounds.interval import EMPTY, Interval
from simplifier.errors import IndexingError
from simplifier.exact.isl import integer, load_isl, number
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.fold import fold
from simplifier.expr.form import BITWISE, FOREIGN, AtomKind, Form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import islpy

    from simplifier.expr.form import Atom

    Translation: TypeAlias = "Callable[[Space, Atom, tuple[islpy.PwAff, ...]], islpy.PwAff]"


class NotQuasiAffineError(IndexingError, ValueError):
    """An expression beyond Presburger arithmetic; ``term`` is the text of the part to blame."""

    def __init__(self, term: str, reason: str) -> None:
        super().__init__(f"{term}: is {reason}; exact answers need a quasi-affine expression")
        self.term = term


class Space:
    """Variables with bounds as dimensions of an isl space, and forms over them as its expressions.

    Spaces share a context only where one is given: isl's contexts must not cross threads, but what
    is compared must be of one context.
    """

    def __init__(
        self,
        bounds: Mapping[str, Interval],
        context: islpy.Context | None = None,
    ) -> None:
        self.isl = load_isl()
        self.bounds = dict(bounds)
        self.context = context or self.isl.Context()
        self._positions = {name: position for position, name in enumerate(self.bounds)}
        space = self.isl.Space.set_alloc(self.context, 0, len(self.bounds))
        self._local = self.isl.LocalSpace.from_space(space)

    def domain(self, constraints: Sequence[tuple[Form, Interval]] = ()) -> islpy.Set:
        """All points within the bounds that meet the constraints."""
        variables = [self._variable(name) for name in self.bounds]
        limited = self.expressions([form for form, _ in constraints])
        intervals = chain(self.bounds.values(), (interval for _, interval in constraints))
        points = self.isl.Set.universe(self._local.get_space())
        for expression, interval in zip([*variables, *limited], intervals, strict=True):
            if interval.lower is not None:
                points = points.intersect(expression.ge_set(self._constant(interval.lower)))
            if interval.upper is not None:
                points = points.intersect(expression.le_set(self._constant(interval.upper)))
        return points

    def expressions(self, wanted: Iterable[Form]) -> list[islpy.PwAff]:
        """The forms as piecewise quasi-affine expressions.

        Variables that have only one value are replaced by it.

        Raises:
            NotQuasiAffineError: naming an innermost term that is not quasi-affine.
        """
        simpler = quasi_affine(self.bounds, wanted)

        def of_atom(atom: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
            if atom.kind is AtomKind.VARIABLE:
                return self._variable(atom.name)
            return _translation(atom)(self, atom, arguments)

        known = fold(simpler, of_atom, self._sum)
        return [self._sum(form, known) for form in simpler]

    def sample(self, points: islpy.Set) -> dict[str, int] | None:
        """Some point of a set, by name, or ``None`` if it is empty."""
        if points.is_empty():
            return None
        point, kind = points.sample_point(), self.isl.dim_type.set
        return {
            name: integer(point.get_coordinate_val(kind, position))
            for name, position in self._positions.items()
        }

    def extent(self, values: islpy.PwAff) -> Interval:
        """The least and the greatest value of an expression; empty where it has none."""
        # As a set: isl refuses extrema of expressions whose parts are integers on the domain alone.
        found = self.isl.Map.from_pw_aff(values).range()
        lower, upper = found.dim_min_val(0), found.dim_max_val(0)
        if lower.is_nan():
            return EMPTY
        return Interval(
            *(
                None if end.is_infty() or end.is_neginfty() else integer(end)
                for end in (lower, upper)
            )
        )

    def agree(self, left: Form, right: Form, domain: islpy.Set) -> bool:
        """Whether two forms have the same value everywhere on a domain."""
        (difference,) = self.expressions([left - right])
        return bool(domain.intersect(difference.non_zero_set()).is_empty())

    def form_of(self, expression: islpy.Aff) -> Form:
        """The form of an expression that has only one piece."""
        divisions: list[Form] = []
        for position in range(expression.dim(self.isl.dim_type.div)):
            divisions.append(self._quotient(expression.get_div(position), divisions))
        return self._quotient(expression, divisions)

    def value(self, value: int) -> islpy.Val:
        """An integer of any size as isl's number."""
        return number(value, self.context)

    def floordiv(self, numerator: islpy.PwAff, divisor: int) -> islpy.PwAff:
        """``floor(numerator / divisor)``; isl divides by positive numbers only."""
        signed = numerator if divisor > 0 else numerator.neg()
        return signed.scale_down_val(self.value(abs(divisor))).floor()

    def _quotient(self, expression: islpy.Aff, divisions: Sequence[Form]) -> Form:
        """An expression over variables and divisions whose forms are known, rounded down."""
        divisor = expression.get_denominator_val()
        numerator = forms.constant(integer(expression.get_constant_val().mul(divisor)))
        known = {
            self.isl.dim_type.in_: [forms.variable(name) for name in self.bounds],
            self.isl.dim_type.div: divisions,
        }
        for kind, terms in known.items():
            for position, term in enumerate(terms):
                factor = expression.get_coefficient_val(kind, position).mul(divisor)
                numerator = numerator.plus(term, integer(factor))
        by = integer(divisor)
        return numerator if by == 1 else operations.floordiv(numerator, forms.constant(by))

    def _variable(self, name: str) -> islpy.PwAff:
        position = self._positions[name]
        return self.isl.PwAff.var_on_domain(self._local, self.isl.dim_type.set, position)

    def _constant(self, value: int) -> islpy.PwAff:
        return self.isl.PwAff.from_aff(self.isl.Aff.val_on_domain(self._local, self.value(value)))

    def _sum(self, form: Form, known: Mapping[Atom, islpy.PwAff]) -> islpy.PwAff:
        total = self._constant(form.constant)
        for atom, factor in form.terms.items():
            total = total.add(known[atom].scale_val(self.value(factor)))
        return total


def _floordiv(space: Space, atom: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
    return space.floordiv(arguments[0], atom.divisor)


def _ceildiv(space: Space, atom: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
    return space.floordiv(arguments[0].neg(), atom.divisor).neg()


def _mod(space: Space, atom: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
    quotient = space.floordiv(arguments[0], atom.divisor)
    return arguments[0].sub(quotient.scale_val(space.value(atom.divisor)))


def _minimum(_: Space, __: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
    return reduce(lambda left, right: left.min(right), arguments)


def _maximum(_: Space, __: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
    return reduce(lambda left, right: left.max(right), arguments)


_DIVISIONS: Final[Mapping[AtomKind, Translation]] = {
    AtomKind.FLOORDIV: _floordiv,
    AtomKind.CEILDIV: _ceildiv,
    AtomKind.MOD: _mod,
}


def _nonnegative(_: Space, __: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
    return arguments[0].nonneg_set().indicator_function()


def _zero(_: Space, __: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
    return arguments[0].zero_set().indicator_function()


def _select(_: Space, __: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
    condition, chosen, other = arguments
    return condition.cond(chosen, other)


_PIECEWISE: Final[Mapping[AtomKind, Translation]] = {
    AtomKind.MIN: _minimum,
    AtomKind.MAX: _maximum,
    AtomKind.NONNEGATIVE: _nonnegative,
    AtomKind.ZERO: _zero,
    AtomKind.AND: _minimum,
    AtomKind.SELECT: _select,
}


def quasi_affine(bounds: Mapping[str, Interval], wanted: Iterable[Form]) -> tuple[Form, ...]:
    """The forms with the value of each variable that has only one, if isl can express them.

    Raises:
        NotQuasiAffineError: naming an innermost term that is not quasi-affine.
    """
    points = {
        name: forms.constant(interval.lower)
        for name, interval in bounds.items()
        if interval.lower is not None and interval.is_point
    }
    simpler = operations.substitute(wanted, points)
    for atom in forms.postorder(simpler):
        if atom.kind is not AtomKind.VARIABLE:
            _translation(atom)
    return simpler


def _translation(atom: Atom) -> Translation:
    """How isl computes the atom from its arguments."""
    if atom.kind in _PIECEWISE:
        return _PIECEWISE[atom.kind]
    if atom.divisor:
        return _DIVISIONS[atom.kind]
    raise NotQuasiAffineError(str(Form(0, {atom: 1})), _objection(atom))


def _objection(atom: Atom) -> str:
    if atom.kind is AtomKind.PRODUCT:
        return "a product of variables"
    if atom.kind in FOREIGN:
        return "a foreign function"
    if atom.kind in BITWISE:
        return "a function of bits"
    is_zero = atom.arguments[1].is_constant
    return "a division by zero" if is_zero else "a division by what is not a constant"
