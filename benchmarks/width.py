"""How wide the integers of a formula must be, beside those of its mixed-radix form.

The mixed-radix form of a problem needs its variables, its value, and what its divisions divide. It
may also need the digits of its canonical form and their sources, as far as they do not exceed what
the problem computes as it is written. Beyond that, a source is natural if it puts quotients of
several variables together: ``(x * 2 + y // 64) // 3`` as ``(x * 128 + y) // 192``. But
``d0 * 2049`` is no natural source of two digits of ``d0``. A formula is *wide* if one of its parts
takes a greater magnitude than all of these. Parts are evaluated with Python's integers, at all
points of a small domain, and at corners and random points of a larger one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd, prod
from typing import Final

from benchmarks.problems import Problem, seeded
from simplifier.canonical.scope import Scope, scope_of
from simplifier.expr import form as forms
from simplifier.expr.form import EXTREMA, Atom, AtomKind, Form, Key, postorder
from simplifier.extraction.cost import DIVISIONS
from tests.evaluation import Columns, every_point, values_of

MAX_POINTS: Final = 1024
"""A domain of at most this many points is evaluated completely, a larger one at this many."""


class NaturalReading:
    """The greatest magnitude that a formula for this problem needs."""

    def __init__(self, problem: Problem) -> None:
        self._points = points_of(problem)
        form, scope = problem.form, scope_of(problem.bounds)
        variables = [forms.variable(name) for name, _ in problem.bounds]
        needed = self._widest([form, *variables, *dividends(form)])
        written = self._widest(parts(form))
        canonical = scope.canonical(form)
        read = self._widest(natural_parts(scope, canonical))
        joined = [
            dividend
            for dividend, divisor in _quotients(canonical)
            if self._widest(_apart(dividend, divisor)) <= max(needed, written)
        ]
        self.width = max(needed, min(written, read), self._widest(joined))
        self._known: dict[Key, bool] = {}

    def is_wide(self, form: Form) -> bool:
        """Whether some part takes a greater magnitude."""
        if form.key not in self._known:
            self._known[form.key] = self._widest(parts(form)) > self.width
        return self._known[form.key]

    def _widest(self, wholes: Iterable[Form]) -> int:
        """The greatest magnitude of any of some forms at any point."""
        return max((_magnitude(whole, self._points) for whole in wholes), default=0)


def parts(form: Form) -> Iterator[Form]:
    """Every sum within a formula, and every term of one.

    >>> from simplifier.expr.text import parse_form
    >>> print(*parts(parse_form("(x * 8 + y) floordiv 4 + 1")), sep="; ")
    (x * 8 + y) floordiv 4 + 1; (x * 8 + y) floordiv 4; x * 8 + y; x * 8; y
    """
    for whole in _sums(form):
        if not whole.is_constant:
            yield whole
        if len(whole.terms) > 1 or whole.constant:
            yield from _terms(whole)


def _sums(form: Form) -> Iterator[Form]:
    yield form
    for atom in postorder((form,)):
        yield from atom.arguments


def _terms(form: Form) -> Iterator[Form]:
    return (Form(0, {atom: factor}) for atom, factor in form.terms.items())


def dividends(form: Form) -> Iterator[Form]:
    """What a formula divides, with shifts by the divisor, and the operands of its extrema.

    >>> from simplifier.expr.text import parse_form
    >>> print(*dividends(parse_form("min(x, (y + 3) floordiv 4)")), sep="; ")
    y + 3; y; y + 7; y - 1; x; (y + 3) floordiv 4
    """
    for atom in postorder((form,)):
        if atom.kind in DIVISIONS:
            yield from _sources(atom.numerator, atom.divisor)
        elif atom.kind in EXTREMA:
            yield from atom.arguments


def natural_parts(scope: Scope, canonical: Form) -> Iterator[Form]:
    """The sums of a canonical form, their digits, and what their quotients divide.

    >>> from simplifier.expr.text import parse_form
    >>> scope = scope_of(())
    >>> canonical = scope.canonical(parse_form("(x * 12 + y) floordiv 7"))
    >>> print(canonical)
    x * 2 + (y - x * 2) floordiv 7
    >>> shown = [str(part) for part in natural_parts(scope, canonical)]
    >>> "y - x * 2" in shown, "x * 12 + y" in shown, "x * 5 + y" in shown
    (True, True, False)
    """
    for whole in _sums(canonical):
        yield whole
        for weight, unit in scope.view(whole).units:
            yield unit.value * weight
    for dividend, divisor in _quotients(canonical):
        yield from _sources(dividend, divisor)


def _quotients(canonical: Form) -> Iterator[tuple[Form, int]]:
    """What each quotient divides, as it stands and with what has left it, and its divisor.

    A constant that has left it counts also alone.
    """
    for whole in _sums(canonical):
        for atom, factor in whole.terms.items():
            if atom.kind is AtomKind.FLOORDIV:
                yield atom.numerator, atom.divisor
                left = _beside(whole, atom, factor)
                yield atom.numerator.plus_constant(left.constant * atom.divisor), atom.divisor
                yield atom.numerator.plus(left, atom.divisor), atom.divisor


def _apart(dividend: Form, divisor: int) -> Iterator[Form]:
    """The terms of a dividend, without the factors that a quotient inside would divide away.

    >>> from simplifier.expr.text import parse_form
    >>> print(*_apart(parse_form("x * 128 + y"), 192), sep="; ")
    x * 2; y; 0
    """
    for atom, factor in dividend.terms.items():
        yield Form(0, {atom: factor // gcd(factor, divisor)})
    yield forms.constant(dividend.constant)


def _beside(whole: Form, quotient: Atom, factor: int) -> Form:
    """What has left the numerator of a quotient, by extraction, and stands beside it."""
    terms = {
        atom: n // factor
        for atom, n in whole.terms.items()
        if atom in quotient.numerator.terms and n % factor == 0
    }
    return Form(whole.constant // factor if whole.constant % factor == 0 else 0, terms)


def _sources(dividend: Form, divisor: int) -> Iterator[Form]:
    """A dividend, its terms if no digit is torn in it, and its shifts by the divisor.

    Rounding up, counting from the other end, and remainders of positive numbers need a shift.
    """
    yield dividend
    if dividend.is_affine:
        yield from _terms(dividend)
    yield dividend.plus_constant(divisor)
    yield dividend.plus_constant(-divisor)


def points_of(problem: Problem) -> Columns:
    """All points of a small domain; corners and random points of a larger one."""
    sizes = [interval.size for _, interval in problem.bounds]
    if all(sizes) and prod(size or 0 for size in sizes) <= MAX_POINTS:
        return every_point(dict(problem.bounds))
    return problem.points(seeded(problem.name), MAX_POINTS)


def _magnitude(form: Form, points: Columns) -> int:
    values, _ = values_of(form, points)
    return int(abs(values).max())
