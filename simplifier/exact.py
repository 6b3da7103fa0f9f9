"""Questions about quasi-affine expressions that isl answers exactly: Presburger arithmetic, complete and sometimes slow.

A question costs little for the handful of variables of an indexing map; in the worst case the time grows exponentially
with the number of variables, quotients and extrema. Forms are handed to isl node by node through its programming
interface, never as text.
"""

from __future__ import annotations

from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from simplifier import form as forms
from simplifier.convert import from_sympy
from simplifier.errors import IndexingError
from simplifier.form import Form, Kind, postorder, substitute
from simplifier.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import ModuleType

    import islpy as isl
    import sympy

    from simplifier.form import Atom
    from simplifier.interval import IntervalLike

Bounds: TypeAlias = "Mapping[str, IntervalLike] | Mapping[sympy.Symbol, IntervalLike]"
Constraints: TypeAlias = "Iterable[tuple[sympy.Expr | int, IntervalLike]]"

_WORD: Final = 62
"""Bits of an integer that isl takes at once."""


class NotQuasiAffineError(IndexingError, ValueError):
    """An expression that Presburger arithmetic does not know; ``term`` is the text of the part that is to blame."""

    def __init__(self, term: str, reason: str) -> None:
        super().__init__(f"{term}: is {reason}; exact answers need a quasi-affine expression")
        self.term = term


class MissingIslError(IndexingError, ImportError):
    """An exact question was asked where islpy is not installed."""

    def __init__(self) -> None:
        super().__init__("exact answers need islpy, which is not installed: pip install islpy")


def equivalent(a: sympy.Expr | int, b: sympy.Expr | int, bounds: Bounds, constraints: Constraints = ()) -> bool:
    """Whether two expressions have the same value at every point within the bounds and constraints.

    A variable without bounds is any integer; over no points at all, everything is equivalent.

    Raises:
        NotQuasiAffineError: a product of variables, a divisor that is not a constant, or a foreign function remains
            in ``a - b`` or in a constraint after variables with a single value are replaced by it.
        MissingIslError: islpy is not installed.

    >>> from simplifier import FloorDiv, Mod, symbol
    >>> x = symbol("x")
    >>> equivalent(8 * FloorDiv(x, 8) + Mod(x, 8), x, {})
    True
    >>> equivalent(Mod(x, 8), x, {x: (0, 7)}), equivalent(Mod(x, 8), x, {x: (0, 8)})
    (True, False)
    """
    return witness(a, b, bounds, constraints) is None


def witness(
    a: sympy.Expr | int, b: sympy.Expr | int, bounds: Bounds, constraints: Constraints = ()
) -> dict[str, int] | None:
    """A point within bounds and constraints where the two differ, by name of variable; ``None`` if there is none.

    >>> from simplifier import Mod, symbol
    >>> x = symbol("x")
    >>> witness(Mod(x, 8), x, {x: (0, 8)})
    {'x': 8}
    """
    named = {str(variable): Interval.of(interval) for variable, interval in bounds.items()}
    limited = [(from_sympy(expression), Interval.of(interval)) for expression, interval in constraints]
    return differing_point(from_sympy(a), from_sympy(b), named, limited)


def differing_point(
    a: Form, b: Form, bounds: Mapping[str, Interval], constraints: Sequence[tuple[Form, Interval]] = ()
) -> dict[str, int] | None:
    """A point of the domain where two forms differ, or ``None``; see :func:`equivalent`."""
    difference = a - b
    if difference.is_constant and not difference.constant:
        return None
    involved = forms.variables_of([difference, *(form for form, _ in constraints)])
    space = Space(tuple(dict.fromkeys(chain(bounds, involved))))
    domain = space.domain(bounds, constraints)
    (expression,) = space.expressions([difference], bounds)
    return space.sample(domain.intersect(expression.non_zero_set()))


class Space:
    """Named variables as the dimensions of an isl space, and forms over them as isl's expressions.

    Every space has an isl context of its own, so threads never share one.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.isl = _isl()
        self.names = tuple(names)
        self._context = self.isl.Context()
        self._numbers: dict[str, int] = {name: number for number, name in enumerate(self.names)}
        self._local = self.isl.LocalSpace.from_space(
            self.isl.Space.set_alloc(self._context, 0, len(self.names))
        )

    def domain(self, bounds: Mapping[str, Interval], constraints: Iterable[tuple[Form, Interval]] = ()) -> isl.Set:
        """All points within the bounds that meet the constraints."""
        limited = [(forms.variable(name), interval) for name, interval in bounds.items()]
        everywhere = self.isl.Set.universe(self._local.get_space())
        pairs = [*limited, *self._simply(constraints, bounds)]
        expressions = self.expressions([form for form, _ in pairs])
        within = (self._within(*pair) for pair in zip(expressions, (interval for _, interval in pairs), strict=True))
        return reduce(lambda left, right: left.intersect(right), within, everywhere)

    def expressions(self, wanted: Sequence[Form], bounds: Mapping[str, Interval] | None = None) -> list[isl.PwAff]:
        """The forms as piecewise quasi-affine expressions; variables of one value in ``bounds`` are replaced by it."""
        wanted = substitute(wanted, _points(bounds or {}))
        known: dict[Atom, isl.PwAff] = {}
        for atom in postorder(wanted):
            if atom.kind is Kind.VARIABLE:
                known[atom] = self._variable(atom.name)
            else:
                translate = _TRANSLATIONS.get(atom.kind)
                if translate is None or (atom.kind in _DIVISIONS and not atom.divisor):
                    raise NotQuasiAffineError(str(Form(0, {atom: 1})), _reason(atom))
                translate
                known[atom] = translate(self, atom, [self._sum(argument, known) for argument in atom.arguments])
        return [self._sum(form, known) for form in wanted]
