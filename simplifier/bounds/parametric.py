"""Bounds that are forms over parameters: with ``x, y in [0, N - 1]``, ``x + y <= 2*N - 2``.

Facts, bounds and what holds of operations are inequalities. Atoms that are no parameters are
eliminated from them, one after the other: from ``A <= a*x`` and ``b*x <= B`` follows ``b*A <= a*B``
(Fourier and Motzkin). The rest are bounds by parameters, and nothing else follows over the
rationals. An operation that is not linear lies between ends that follow from the ends of its
operands, or that are numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain, product
from typing import Any, ClassVar, Final, NamedTuple

from simplifier.bounds.context import UNBOUNDED, Constraints, Context, term_by_term
from simplifier.bounds.interval import Infinity, Range, meet
from simplifier.bounds.ranges import definition, inequalities, product_range, ranges_as_written
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import FLOORDIV, ONE, VARIABLE, ZERO, Atom, AtomKind, Form
from simplifier.limits import MAX_END_SIZE, MAX_ENDS, MAX_LINKED_ATOMS

_DIVISIONS: Final = (FLOORDIV, AtomKind.QUOTIENT, AtomKind.CEILDIV, AtomKind.MOD)

_VALUE: Final = forms.variable_atom("value\0")
"""Stands for what is bounded; no other variable has such a name."""


class ParametricEnds(NamedTuple):
    """Forms that a value is at least, and forms that it is at most, all of them."""

    lower: tuple[Form, ...] = ()
    upper: tuple[Form, ...] = ()

    def __or__(self, other: ParametricEnds) -> ParametricEnds:
        return ParametricEnds((*self.lower, *other.lower), (*self.upper, *other.upper))

    @property
    def turned(self) -> ParametricEnds:
        """The ends of the value times -1."""
        return ParametricEnds(tuple(-end for end in self.upper), tuple(-end for end in self.lower))

    def of_each(self, change: Callable[[Form], Form]) -> ParametricEnds:
        """The ends of a function that grows with the value."""
        return ParametricEnds(tuple(map(change, self.lower)), tuple(map(change, self.upper)))

    @property
    def short(self) -> ParametricEnds:
        """The ends that are not too large to be worked with."""
        return ParametricEnds(*(tuple(filter(_is_short, side)) for side in self))

    @property
    def greatest(self) -> Form | None:
        """The lower end as one form."""
        return operations.maximum(self.lower) if self.lower else None

    @property
    def least(self) -> Form | None:
        """The upper end as one form."""
        return operations.minimum(self.upper) if self.upper else None


def parametric_ends(
    context: Context,
    form: Form,
    parameters: Iterable[str],
    known: Range = UNBOUNDED,
    constraints: Constraints = (),
) -> ParametricEnds:
    """The ends of any form, over parameters alone; some range of it is known.

    Constraints of the context also count as they are written: ``x <= y mod N`` says more to a
    reader of inequalities than ``x <= y - (y floordiv N) * N``.

    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.bounds.interval import Interval
    >>> from simplifier.expr.text import parse_form
    >>> naturals, negative = Interval(0, None), Interval(None, -1)
    >>> facts = (parse_form("x - N"), negative), (parse_form("y - N"), negative)
    >>> scope = scope_of((("x", naturals), ("y", naturals)), facts)
    >>> parametric_ends(scope, parse_form("x + y"), ["N"])
    ParametricEnds(lower=(Form(0),), upper=(Form(N * 2 - 2),))
    """
    return _Bounding(context, frozenset(parameters), constraints).ends_of(form, known)


class _Bounding:
    """Ends found for the atoms of one problem, innermost first."""

    def __init__(
        self, context: Context, parameters: frozenset[str], constraints: Constraints
    ) -> None:
        self._context = context
        self._parameters = parameters
        self._constraints = constraints
        self._fixed: dict[Atom, bool] = {}
        """Whether an atom is over parameters alone."""
        self._ranges: dict[Atom, Range] = {}
        self._ends: dict[Atom, ParametricEnds] = {}
        """Of atoms that are not."""
        self._known = _known(context, constraints)
        self._facts: dict[Atom, list[Form]] = {}
        """Inequalities between several atoms, by atom; so are all forms that are at least 0."""
        for form, ends in self._known:
            for known in inequalities(form, ends):
                for atom in form.terms:
                    self._facts.setdefault(atom, []).append(known)

    def ends_of(self, form: Form, known: Range) -> ParametricEnds:
        """The ends of the whole form as it is written; if one is open, as it is canonical."""
        canonical = self._context.canonical(form)
        wanted = *(known for known, _ in self._known), form, canonical
        self._ranges |= ranges_as_written(self._context, wanted)
        self._ends |= {atom: _numbers(ends) for atom, ends in self._ranges.items()}
        for atom in forms.postorder(wanted):
            if not self._is_fixed(atom):
                self._ends[atom] = self._of_atom(atom).short | self._ends[atom]
        found = self._of_form(form)
        if not (found.lower and found.upper):
            found |= self._of_form(canonical)
        found = found.short | _numbers(known)
        value = Form(0, {_VALUE: 1})
        rows = [*(value - end for end in found.lower), *(end - value for end in found.upper)]
        return _ends_in(self._undominated(rows))

    def quotients(self, numerator: Form, divisor: Form, ends: ParametricEnds) -> ParametricEnds:
        """The ends of ``floor(A/B)``, which grows with ``A`` where ``B`` is positive.

        Ends of ``A`` over ``B``, too, may have such quotients: with ``n <= X*Y - 1``,
        ``floor(n/Y) <= X - 1``.
        """
        if self.range_of(divisor)[0] <= 0:
            return ParametricEnds()
        if self.is_fixed(divisor):
            return ends.of_each(lambda end: _quotient(end, divisor))
        if not numerator.is_affine:
            return ParametricEnds()
        names = self._parameters.union(forms.variables_of((divisor,)))
        finer = _Bounding(self._context, names, self._constraints).ends_of(numerator, UNBOUNDED)
        found = finer.of_each(lambda end: self._context.canonical(_quotient(end, divisor)))
        return ParametricEnds(*(tuple(filter(self.is_fixed, side)) for side in found))

    def range_of(self, form: Form) -> Range:
        """The numbers between which an operand lies."""
        plain = term_by_term(self._ranges, form)
        return meet(self._context.range_of(self._context.canonical(form)), plain)

    def is_fixed(self, form: Form) -> bool:
        """Whether a form is over parameters alone."""
        return all(map(self._is_fixed, form.terms))

    def is_defined(self, form: Form) -> bool:
        """Whether no divisor in an operand may be zero."""
        divisors = (
            atom.arguments[1] for atom in forms.postorder((form,)) if atom.kind in _DIVISIONS
        )
        return not any(low <= 0 <= high for low, high in map(self.range_of, divisors))

    def _is_fixed(self, atom: Atom) -> bool:
        known = self._fixed
        for each in forms.postorder((Form(0, {atom: 1}),), skip=known.__contains__):
            inside = (known[inner] for operand in each.arguments for inner in operand.terms)
            is_own = each.kind is not VARIABLE or each.name in self._parameters
            known[each] = is_own and each.kind is not AtomKind.OPAQUE and all(inside)
        return known[atom]

    def _free(self, form: Form) -> dict[Atom, int]:
        """The terms that are not over parameters."""
        return {atom: n for atom, n in form.terms.items() if not self._is_fixed(atom)}

    def _of_atom(self, atom: Atom) -> ParametricEnds:
        make = self._operations.get(atom.kind)
        if make is None:
            return ParametricEnds()
        return make(self, atom, [*map(self._of_form, atom.arguments)])

    def _of_form(self, form: Form) -> ParametricEnds:
        """The ends of a sum, whose atoms have theirs."""
        if self.is_fixed(form):
            return ParametricEnds((form,), (form,))
        value = Form(0, {_VALUE: 1})
        rows = [*self._about(form), form - value, value - form]
        counts = Counter(atom for row in rows for atom in self._free(row))
        del counts[_VALUE]
        for atom in sorted(counts, key=lambda atom: (counts[atom], atom.order)):
            rows = self._undominated(_eliminated(rows, atom))
        return _ends_in(rows)

    def _about(self, form: Form) -> list[Form]:
        """Inequalities for the atoms of a form, the atoms in those, and so on, not too many."""
        found: dict[Form, None] = {}
        waiting = list(self._free(form))
        most, seen = len(waiting) + MAX_LINKED_ATOMS, set(waiting)
        for atom in waiting:
            found.update(dict.fromkeys(self._bounds(atom)))
            for known in (*self._definition(atom, seen), *self._facts.get(atom, ())):
                new = [other for other in self._free(known) if other not in seen]
                if len(seen) + len(new) <= most:
                    found[known] = None
                    seen.update(new)
                    waiting += new
        return list(found)

    def _bounds(self, atom: Atom) -> Iterator[Form]:
        ends = self._ends.get(atom, ParametricEnds())
        yield from (Form(0, {atom: 1}) - end for end in ends.lower)
        yield from (end.plus_atom(atom, -1) for end in ends.upper)

    def _definition(self, atom: Atom, seen: set[Atom]) -> Iterator[Form]:
        """Inequalities between an operation and its operands, if these have others."""
        for form, ends in definition(atom):
            free = self._free(form)
            if any(other is not atom and self._is_linked(other, seen) for other in free):
                yield from inequalities(form, ends)

    def _is_linked(self, atom: Atom, seen: set[Atom]) -> bool:
        """Whether an atom was seen, or a fact relates it to another that is not a parameter."""
        return atom in seen or any(len(self._free(each)) > 1 for each in self._facts.get(atom, ()))

    def _undominated(self, rows: Iterable[Form]) -> list[Form]:
        """Inequalities without those that another one implies, as they differ by parameters."""
        groups: dict[Form, list[Form]] = {}
        for row in dict.fromkeys(map(_in_lowest_terms, rows)):
            free = Form(0, self._free(row))
            if free.terms:
                group = groups.setdefault(free, [])
                if not any(self._is_nonnegative(row - other) for other in group):
                    group[:] = [each for each in group if not self._is_nonnegative(each - row)]
                    group.append(row)
        return [row for group in groups.values() for row in group]

    def _is_nonnegative(self, form: Form) -> bool:
        if not form.terms:
            return form.constant >= 0
        return self._context.range_of(self._context.canonical(form))[0] >= 0

    # Operations, by the ends of their operands.

    def _of_quotient(self, atom: Atom, operands: list[ParametricEnds]) -> ParametricEnds:
        return self.quotients(atom.arguments[0], atom.arguments[1], operands[0])

    def _of_ceiling(self, atom: Atom, operands: list[ParametricEnds]) -> ParametricEnds:
        """``ceil(A/B)`` is ``-floor(-A/B)``."""
        numerator, divisor = atom.arguments
        return self.quotients(-numerator, divisor, operands[0].turned).turned

    def _of_remainder(self, atom: Atom, operands: list[ParametricEnds]) -> ParametricEnds:
        """``A mod B`` lies in ``[0, B - 1]`` where ``B`` is positive, and is at most ``A >= 0``."""
        numerator, divisor = atom.arguments
        if self.range_of(divisor)[0] <= 0:
            return ParametricEnds()
        upper = tuple(end - 1 for end in operands[1].upper)
        more = operands[0].upper if self.range_of(numerator)[0] >= 0 else ()
        return ParametricEnds((ZERO,), (*upper, *more))

    def _of_maximum(self, _: Atom, operands: list[ParametricEnds]) -> ParametricEnds:
        """The greatest value is at least all lower ends, and at most the greatest upper end."""
        lower = tuple(end for each in operands for end in each.lower)
        return ParametricEnds(lower, _of_upper(operands, operations.maximum))

    def _of_minimum(self, atom: Atom, operands: list[ParametricEnds]) -> ParametricEnds:
        return self._of_maximum(atom, [each.turned for each in operands]).turned

    def _of_choice(self, atom: Atom, operands: list[ParametricEnds]) -> ParametricEnds:
        """One of two values lies between the least lower end and the greatest upper end.

        The ends are for all values of parameters, also where one of the two has no value.
        """
        if not all(map(self.is_defined, atom.arguments)):
            return ParametricEnds()
        chosen = operands[1:]
        lower = self._of_minimum(atom, chosen).lower
        return ParametricEnds(lower, self._of_maximum(atom, chosen).upper)

    def _of_product(self, atom: Atom, operands: list[ParametricEnds]) -> ParametricEnds:
        """A product grows with each factor where the others are not negative."""
        fixed = [factor for factor in atom.arguments if self.is_fixed(factor)]
        others = [at for at, factor in enumerate(atom.arguments) if factor not in fixed]
        scale = operations.product(fixed)
        if len(others) == 1:
            low, high = reduce(product_range, map(self.range_of, fixed))
            (at,) = others
            if low >= 0:
                return operands[at].of_each(lambda end: operations.product((scale, end)))
            if high <= 0:
                positive = operands[at].of_each(lambda end: operations.product((-scale, end)))
                return positive.turned
        if any(self.range_of(factor)[0] < 0 for factor in atom.arguments):
            return ParametricEnds()
        return ParametricEnds((ZERO,), _of_upper(operands, operations.product))

    _operations: ClassVar[
        Mapping[AtomKind, Callable[[Any, Atom, list[ParametricEnds]], ParametricEnds]]
    ] = {
        AtomKind.FLOORDIV: _of_quotient,
        AtomKind.QUOTIENT: _of_quotient,
        AtomKind.CEILDIV: _of_ceiling,
        AtomKind.MOD: _of_remainder,
        AtomKind.MAX: _of_maximum,
        AtomKind.MIN: _of_minimum,
        AtomKind.PRODUCT: _of_product,
        AtomKind.SELECT: _of_choice,
        AtomKind.SUM: lambda _self, _atom, operands: operands[0],
    }
    """For each kind of operation its ends; those of others are numbers."""


def _is_short(form: Form) -> bool:
    return form.depth <= MAX_END_SIZE and len(forms.postorder((form,))) <= MAX_END_SIZE


def _numbers(ends: Range) -> ParametricEnds:
    low, high = (() if isinstance(end, Infinity) else (forms.constant(end),) for end in ends)
    return ParametricEnds(low, high)


def _known(context: Context, constraints: Constraints) -> tuple[tuple[Form, Range], ...]:
    """Facts, constraints as they are written, and inequalities of the extrema in both."""
    facts = [(form, ends) for form, _, ends in context.facts]
    facts += [(form, interval.ends) for form, interval in constraints if not form.is_affine]
    extrema = {atom: None for form, _ in facts for atom in form.terms if atom.kind in forms.EXTREMA}
    return tuple(dict.fromkeys((*facts, *chain.from_iterable(map(definition, extrema)))))


# Inequalities: forms that are at least 0.


def _in_lowest_terms(row: Form) -> Form:
    """The inequality divided by its common factor, and rounded: its terms are integers."""
    common = forms.content(row)
    return row.exactly_divided(common) if common > 1 else row


def _eliminated(rows: Sequence[Form], atom: Atom) -> list[Form]:
    """Inequalities between all other atoms; if they are too many, those of the first few."""
    rest = [row for row in rows if atom not in row.terms]
    above = [row for row in rows if row.terms.get(atom, 0) > 0]
    below = [row for row in rows if row.terms.get(atom, 0) < 0]
    pairs = product(above[:MAX_ENDS], below[:MAX_ENDS])
    return rest + [a.times(-b.terms[atom]).plus(b, a.terms[atom]) for a, b in pairs]


def _ends_in(rows: Iterable[Form]) -> ParametricEnds:
    """The ends that inequalities leave to the value."""
    ends = [(row.terms.get(_VALUE, 0), row.without(_VALUE)) for row in rows]
    lower = tuple(-(end // factor) for factor, end in ends if factor > 0)
    return ParametricEnds(lower, tuple(end // -factor for factor, end in ends if factor < 0))


def _quotient(numerator: Form, divisor: Form) -> Form:
    return numerator if divisor == ONE else operations.floordiv(numerator, divisor)


def _of_upper(
    operands: Sequence[ParametricEnds], make: Callable[[Iterable[Form]], Form]
) -> tuple[Form, ...]:
    """An operation on the upper ends, if all operands have one."""
    known = [end for end in (each.least for each in operands) if end is not None]
    return (make(known),) if len(known) == len(operands) else ()
