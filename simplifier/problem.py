"""A question as users ask it, and the memory of earlier answers.

Users have their own symbols, bounds by symbol or by name, and assumptions. Two questions are equal
if they agree in the expression, in names and ends of bounds, in constraints and options; whether an
interval is given as pair, list, :class:`Interval` or integer makes no difference. ``True`` is not 1
here, nor is ``1.0``: an input that was refused is refused again. Only answers are remembered, a
bounded number of them, so no answer depends on earlier questions. What was found for a problem
serves all that differ in names alone, as long as their names have the same order.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, product
from math import prod
from operator import itemgetter
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, overload

import sympy
from sympy.logic.boolalg import Boolean

from simplifier.bounds.context import Bounds as Box
from simplifier.bounds.context import Constraint, assumed, read_fact, variables_multiplied
from simplifier.bounds.context import Constraints as Known
from simplifier.bounds.interval import EVERYTHING, Interval, IntervalLike
from simplifier.canonical.scope import FactGroup, Scope, scope_about, scope_of, traced_scope
from simplifier.conditions import hidden, outermost
from simplifier.errors import IndexingError, check_type, listed
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import ZERO, Atom, AtomKind, Form, natural_order, variables_of
from simplifier.expr.functions import symbol
from simplifier.expr.printer import format_form
from simplifier.expr.sympy import (
    Fraction,
    ReadExpression,
    is_relation,
    read,
    relation_of,
    to_condition,
    to_sympy,
)
from simplifier.fixpoint import range_of, simplified, whole_or_parts
from simplifier.laws.law import Law
from simplifier.laws.rewrite_log import Rewrite, RewriteLog
from simplifier.limits import MAX_NESTED_CHOICES, MAX_RESIDUES
from simplifier.tools.display import Displayed

Expression: TypeAlias = sympy.Expr | Boolean | int
"""Integer arithmetic, or a condition, which is 1 where it holds and 0 elsewhere."""
Name: TypeAlias = sympy.Symbol | str
EndsLike: TypeAlias = "IntervalLike | tuple[sympy.Expr | int | None, sympy.Expr | int | None]"
Bounds: TypeAlias = Mapping[Any, EndsLike]
"""Of symbols or their names; a symbol without bounds is any integer that its assumptions allow.

The value of a function may have bounds, too: ``{g(x): (0, 5)}``.

Ends may be expressions: ``{x: (0, n - 1)}``.
"""
NOTHING: Final[Bounds] = {}
"""Of no symbol is more known than its assumptions."""
Constraints: TypeAlias = Iterable[Any]
"""Pairs of an expression and the interval that it lies in, and conditions that hold.

Of no type, as type checkers know none of sympy's ``Eq(a, b)``.
"""


class BoundsError(IndexingError, ValueError):
    """Bounds that do not name a variable, or name it twice; malformed constraints."""


class BoundsWarning(UserWarning):
    """Bounds of a name that does not occur, and is like that of a variable without bounds."""


_LOOKS_LIKE: Final = str.maketrans("oli", "011")


def _without_slips(name: str) -> str:
    """The same for names that one slip of the pen tells apart: case, order, or what looks alike.

    >>> _without_slips("block_l") == _without_slips("Bolck_1"), _without_slips("do")
    (True, '0d')
    """
    return "".join(sorted(name.lower().translate(_LOOKS_LIKE)))


class Problem:
    """Expressions over symbols as the user made them, their bounds, and other facts."""

    def __init__(
        self,
        expressions: Iterable[Expression],
        pairs: _Pairs = ((), ()),
        known: Iterable[Problem] = (),
    ) -> None:
        self._symbols: dict[str, sympy.Symbol] = {}
        self._fractions: list[tuple[Fraction, ReadExpression]] = []
        self.bounds: dict[str, Interval] = {}
        """Bounds by name: those given, met with the symbols' assumptions."""
        self.constraints: list[Constraint] = []
        """The given constraints, and those of even and odd symbols."""
        self.groups: list[FactGroup] = []
        """Constraints of other problems, which were given together."""
        for problem in known:
            self._join(problem)
        taken = len(self.constraints)
        expressions = tuple(expressions)
        self.forms = tuple(map(self._read, expressions))
        self._is_condition = is_relation(next(iter(expressions), None))
        bounds, constraints = pairs
        for expression, interval in constraints:
            self.constraints += read_fact(self._read(expression), interval)
        for name, interval in bounds:
            self._restrict(name, interval)
        self.groups.append(FactGroup.of(self.constraints[taken:]))
        self._check_fractions()

    def _join(self, other: Problem) -> None:
        """Take over bounds and constraints, which are not read again."""
        for each in other._symbols.values():
            self._name(each)
        for name, interval in other.bounds.items():
            self._restrict(name, interval)
        self.groups += other.groups
        self.constraints += other.constraints

    @property
    def form(self) -> Form:
        """The first expression."""
        return self.forms[0]

    def scope(
        self, make: Callable[[Box, Known], Scope] = scope_of, *, about: Iterable[Form] = ()
    ) -> Scope | None:
        """The scope of the expressions and others; ``None`` if a variable is left no value."""
        known = dict(self.constraints).values()
        if any(interval.is_empty for interval in (*self.bounds.values(), *known)):
            return None
        bounds = tuple(sorted(self.bounds.items()))
        return scope_about((*self.forms, *about), bounds, self.groups, make)

    def aliases(self) -> dict[str, str]:
        """Names for variables that only tell their order.

        Facts that say nothing of the expressions keep their names; so do all others, where they are
        many.
        """
        names, far = set(variables_of(self.forms)), set[str]()
        own = set(names)
        for group in self.groups:
            (far if names.isdisjoint(group.names) else own).update(group.names)
        own -= far
        ordered = sorted(own, key=natural_order) if len(own) <= _MAX_RENAMED else ()
        return {name: f"{_ALIAS}{place}" for place, name in enumerate(ordered)}

    def key(self, aliases: Mapping[str, str]) -> tuple[object, ...]:
        """What is asked and known, with other names; equal for problems that differ in names."""
        new = {name: forms.variable(alias) for name, alias in aliases.items()}
        facts = [
            group.facts if new.keys().isdisjoint(group.names) else _renamed(group.facts, new)
            for group in self.groups
        ]
        named = set(variables_of(self.forms)).union(*(group.names for group in self.groups))
        bounds = (
            (aliases.get(name, name), ends)
            for name, ends in self.bounds.items()
            if name in named or ends.is_empty  # a contradiction is about all expressions
        )
        asked = operations.substitute(self.forms, new)
        return asked, tuple(sorted(bounds, key=itemgetter(0))), tuple(facts)

    def doubt(self, bounded: Iterable[Name]) -> str:
        """What is said of a name with bounds that does not occur, and is like one without bounds.

        Other names that do not occur are no mistake: who asks about many expressions gives the
        bounds of all variables each time, and a result may have lost the variables of its question.
        """
        asked = set(variables_of(self.forms))
        known = set[str]().union(*(group.names for group in self.groups))
        strange = {name for name in bounded if isinstance(name, str)} - asked - known
        if not strange:
            return ""
        free = {_without_slips(name): name for name in sorted(asked - known - self.bounds.keys())}
        alike = {name: free[slip] for name in strange if (slip := _without_slips(name)) in free}
        if not alike:
            return ""
        meant, given = (listed(sorted({*names})) for names in (alike.values(), alike))
        return f"bounds are given for {given}, which does not occur, but not for {meant}"

    def restored(self, form: Form) -> Any:  # noqa: ANN401 - what was asked: sympy types neither alike
        """The expression of a form, over the user's own symbols; a condition, if that was asked."""
        restore = to_condition if self._is_condition else to_sympy
        return restore(form, self._symbols)

    def expression_of(self, form: Form) -> sympy.Expr:
        """The expression of an integer form, over the user's own symbols."""
        return to_sympy(form, self._symbols)

    def _check_fractions(self) -> None:
        """Check that fractions are integers, by the facts."""
        for fraction, reading in self._fractions:
            numerator, divisor, _ = fraction
            scope = self.scope(about=(numerator, divisor))
            if scope is None:
                return
            if not is_multiple(scope, numerator, divisor) and not fraction.is_integer:
                raise reading.objection(fraction)

    def _read(self, expression: Expression) -> Form:
        reading = read(expression)
        for each in reading.symbols:
            self._declare(each)
        self._fractions += [(fraction, reading) for fraction in reading.fractions]
        return reading.form

    def _declare(self, symbol: sympy.Symbol) -> None:
        if symbol.name not in self._symbols:
            self._assume(symbol)
        self._name(symbol)

    def _name(self, symbol: sympy.Symbol) -> None:
        if self._symbols.setdefault(symbol.name, symbol) != symbol:
            message = f"two different symbols are called {symbol.name!r}; expected one"
            raise BoundsError(message)

    def _assume(self, symbol: sympy.Symbol) -> None:
        """Keep the assumptions of a symbol."""
        interval = assumed(symbol)
        if interval != EVERYTHING:
            self._restrict(symbol.name, interval)
        remainder = 0 if symbol.is_even else 1 if symbol.is_odd else None
        if remainder is not None:
            halves = operations.mod(forms.variable(symbol.name), forms.constant(2))
            self.constraints.append((halves, Interval(remainder, remainder)))

    def _restrict(self, name: Name, interval: Interval) -> None:
        if isinstance(name, sympy.Function):
            self.constraints.append((self._read(name), interval))
            return
        if isinstance(name, sympy.Symbol):
            self._declare(name)
            name = name.name
        elif not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            message = f"bounds are given for {name!r}; expected a symbol or its name"
            raise BoundsError(message)
        old = self.bounds.get(name)
        self.bounds[name] = interval if old is None else old.intersect(interval)


def _renamed(facts: Known, names: Mapping[str, Form]) -> Known:
    changed = operations.substitute([form for form, _ in facts], names)
    return tuple(zip(changed, (interval for _, interval in facts), strict=True))


class Facts:
    """Bounds and constraints as one value, which is read once and serves any number of questions.

    It takes the place of ``bounds`` in :func:`~simplifier.simplify` and its like, or that of
    ``constraints``, also of maps. ``a & b`` has the facts of both. It never changes; equal facts
    are equal values.

    Args:
        bounds: for symbols or their names, closed intervals or pairs. An end that is an expression
            is a constraint, and so are the bounds of a function, ``{g(x): (0, 5)}``.
        constraints: pairs of an expression and the interval that it is known to lie in, or
            conditions.

    Raises:
        BoundsError, ConversionError: as :func:`~simplifier.simplify`.

    >>> from simplifier import FloorDiv, bounds_of, simplify, symbol
    >>> x, n = symbol("x"), symbol("n")
    >>> facts = Facts({x: (0, None)}, [x < 8 * n])
    >>> simplify(FloorDiv(x, 8 * n), facts)
    0
    >>> print(bounds_of(n - FloorDiv(x, 8), facts), bounds_of(n, facts & Facts({n: (0, 9)})))
    [1, inf] [1, 9]
    """

    __slots__ = ("_bounds", "_constraints", "_problem")

    def __init__(self, bounds: Bounds | None = None, constraints: Constraints = ()) -> None:
        check_type(constraints, Iterable, "Facts: constraints", "a sequence")
        try:
            pairs = _read_facts({} if bounds is None else bounds, constraints)
            self._bounds, self._constraints = pairs
            self._problem = Problem((), pairs)
        except BoundsError as error:
            raise BoundsError(f"Facts: {error}") from None

    @property
    def bounds(self) -> dict[str, Interval]:
        """The bounds by name, met with the assumptions of the symbols."""
        return dict(self._problem.bounds)

    @property
    def constraints(self) -> _ConstraintPairs:
        """The constraints as pairs; a condition that holds is 1."""
        return self._constraints

    @property
    def pairs(self) -> _Pairs:
        """Bounds and constraints, as they were given."""
        return self._bounds, self._constraints

    def problem(self, expressions: Iterable[Expression] = ()) -> Problem:
        """The question about some expressions under these facts."""
        return Problem(expressions, known=(self._problem,)) if expressions else self._problem

    def __iter__(self) -> Iterator[tuple[Any, Interval]]:
        """All facts as constraints: bounds of symbols first."""
        for name, interval in self._bounds:
            yield symbol(name) if isinstance(name, str) else name, interval
        yield from self._constraints

    def __and__(self, other: Facts) -> Facts:
        if not isinstance(other, Facts):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            return NotImplemented
        return self if set(other) <= set(self) else Facts.joined(self, other)

    @classmethod
    def joined(
        cls,
        bounds: Bounds | Facts,
        constraints: Constraints,
        expressions: Iterable[Expression] = (),
    ) -> Facts:
        """All facts about expressions, read together: one part may give a fact that another needs.

        >>> from sympy import Eq
        >>> from simplifier import Mod, symbol
        >>> x, k = symbol("x"), symbol("k")
        >>> Facts.joined({x: (0, k / 2)}, Facts(constraints=[Eq(Mod(k, 2), 0)]))
        Facts({x: [0, inf]}, [-k/2 + x in [-inf, 0], Eq((k % 2), 0)])
        """
        given = bounds if isinstance(bounds, Facts) else _read_facts(bounds, (), expressions)
        more = constraints if isinstance(constraints, Facts) else _read_facts({}, constraints)
        if isinstance(given, Facts) and more == ((), ()):
            return given
        return cls._of_parts(given, more)

    @classmethod
    def _of_parts(cls, *parts: Facts | _Pairs) -> Facts:
        """Facts and pairs, of which several may be about one name; only the pairs are read."""
        facts = object.__new__(cls)
        pairs = [each.pairs if isinstance(each, Facts) else each for each in parts]
        facts._bounds, facts._constraints = _together(pairs)
        known = [each.problem() for each in parts if isinstance(each, Facts)]
        new = _together([each for each in parts if not isinstance(each, Facts)])
        facts._problem = Problem((), new, known)
        return facts

    def __reduce__(self) -> tuple[Callable[..., Facts], tuple[object, ...]]:
        return Facts._of_parts, (self.pairs,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Facts):
            return NotImplemented
        return self.pairs == other.pairs

    def __hash__(self) -> int:
        return hash(self.pairs)

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}: {interval}" for name, interval in self._bounds)
        known = ", ".join(
            str(fact) if is_relation(fact) else f"{fact} in {interval}"
            for fact, interval in self._constraints
        )
        return f"Facts({{{bounds}}}, [{known}])"


_BoundPairs: TypeAlias = tuple[tuple[Name, Interval], ...]
_ConstraintPairs: TypeAlias = tuple[tuple[Expression, Interval], ...]
_Pairs: TypeAlias = tuple[_BoundPairs, _ConstraintPairs]


def _together(parts: Sequence[_Pairs]) -> _Pairs:
    """The pairs of all parts."""
    return (
        tuple(pair for bounds, _ in parts for pair in bounds),
        tuple(pair for _, constraints in parts for pair in constraints),
    )


def _read_facts(
    bounds: Bounds, more: Constraints, expressions: Iterable[Expression] = ()
) -> _Pairs:
    """The bounds with numbers as ends, and those with expressions as constraints before the others.

    A variable that is given by its name is the symbol of that name in the expressions.
    """
    if not isinstance(bounds, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise BoundsError(f"bounds are {bounds!r}; expected a mapping from symbols or their names")
    given: Mapping[Any, Any] = bounds
    pairs: list[tuple[Name, Interval]] = []
    constraints: list[tuple[Expression, Interval]] = []
    for name, ends in given.items():
        numbers = ends
        if _has_symbolic_end(ends):
            itself = _symbol_in(expressions, name) if isinstance(name, str) else name
            lower, upper = (None if _is_symbolic(end) else end for end in ends)
            numbers = lower, upper
            limits = zip(ends, (Interval(0, None), Interval(None, 0)), strict=True)
            constraints += [(itself - end, side) for end, side in limits if _is_symbolic(end)]
        pairs.append((name, Interval.of(numbers)))
    return tuple(pairs), (*constraints, *map(_constraint, more))


def _has_symbolic_end(ends: EndsLike) -> bool:
    return isinstance(ends, tuple | list) and len(ends) == _PAIR and any(map(_is_symbolic, ends))


def _is_symbolic(end: object) -> bool:
    return isinstance(end, sympy.Expr) and not end.is_number


def _symbol_in(expressions: Iterable[Expression], name: str) -> Any:  # noqa: ANN401 - of sympy
    """The symbol of a name in expressions, or a new one."""
    known = (each.free_symbols for each in expressions if isinstance(each, sympy.Basic))
    symbols = {str(each): each for each in chain.from_iterable(known)}
    return symbols.get(name) or symbol(name)


def _constraint(
    constraint: tuple[Expression, IntervalLike] | Boolean | bool,  # noqa: FBT001 - a condition
) -> tuple[Any, Interval]:
    """The expression and its interval; a condition that holds is 1."""
    if is_relation(constraint):
        return relation_of(constraint), Interval(1, 1)
    if isinstance(constraint, tuple | list) and len(constraint) == _PAIR:  # pyright: ignore[reportUnnecessaryIsInstance, reportUnnecessaryComparison] - untyped callers
        return constraint[0], Interval.of(constraint[1])
    message = "expected an expression and an interval, or a condition such as x < n"
    raise BoundsError(f"constraints: one is {constraint!r}; {message}")


Answer = TypeVar("Answer")
Found = TypeVar("Found", Form, Interval)

_REMEMBERED: Final = 1 << 12
_PAIR: Final = 2
_ALIAS: Final = "\1"
"""Begins the names of variables of problems whose own names do not matter."""
_MAX_RENAMED: Final = 16
"""Of more names in facts, all stay: to rename facts takes longer than to ask a small question."""


# The memory of answers.


def ask(
    function: str,
    solve: Callable[..., Answer],
    expressions: tuple[Expression, ...],
    bounds: Bounds | Facts,
    constraints: Constraints = (),
    *options: object,
) -> Answer:
    """``solve(problem, *options)``, or its answer to an equal question.

    Raises:
        BoundsError: bounds or constraints are wrong; the message names the public function.

    Warns:
        BoundsWarning: a name with bounds may be misspelt.
    """
    check_type(constraints, Iterable, f"{function}: constraints", "a sequence")
    try:
        if isinstance(bounds, Facts) or isinstance(constraints, Facts):
            known = Facts.joined(bounds, constraints, expressions)
        else:
            known = _read_facts(bounds, constraints, expressions)
        kinds = tuple(type(fact) for fact, _ in known[1]) if isinstance(known, tuple) else ()
        answer, doubt = _answer(solve, options, known, kinds, *expressions)
    except BoundsError as error:
        raise BoundsError(f"{function}: {error}") from None
    if doubt:
        warnings.warn(f"{function}: {doubt}", BoundsWarning, stacklevel=3)
    return answer


def _answer(*question: Any) -> tuple[Any, str]:  # noqa: ANN401 - as users have them
    """The remembered answer, or a new one where the question cannot be hashed, and a doubt.

    It may hold a trace, which wants to see the work done; a foreign object; or an expression that
    is too deep for sympy.
    """
    try:
        return _remembered(*question)
    except (TypeError, RecursionError) as error:
        if isinstance(error, IndexingError):
            raise
    return _remembered.__wrapped__(*question)


# Of constraints, too, what is True or 1.0 is not 1.
@lru_cache(maxsize=_REMEMBERED, typed=True)
def _remembered(
    solve: Callable[..., Any],
    options: tuple[object, ...],
    known: Facts | _Pairs,
    _kinds: tuple[type, ...],
    *expressions: Any,  # noqa: ANN401 - as users have them
) -> tuple[Any, str]:
    if isinstance(known, Facts):
        return solve(known.problem(expressions), *options), ""
    problem, (bounds, _) = Problem(expressions, known), known
    return solve(problem, *options), problem.doubt(name for name, _ in bounds)


# The same under other names: what was found for a problem serves all that differ in names alone.
#
# A problem is solved under its own names, so that all questions about the same variables share
# scopes; only its answer is remembered with others.


@dataclass(frozen=True, slots=True)
class _UpToNames:
    """A problem that equals all that differ from it in names alone."""

    key: tuple[object, ...]
    aliases: Mapping[str, str] = field(compare=False)
    problem: Problem = field(compare=False)


def up_to_names(solve: Callable[..., Found], problem: Problem, *options: object) -> Found:
    """``solve(problem, *options)``, or its answer to a problem that differs in names alone."""
    aliases = problem.aliases()
    if not aliases:
        return solve(problem, *options)
    renamed = _UpToNames(problem.key(aliases), aliases, problem)
    names = {alias: name for name, alias in aliases.items()}
    return _with_names(_found(renamed, solve, options), names)


@lru_cache(maxsize=_REMEMBERED)
def _found(renamed: _UpToNames, solve: Callable[..., Any], options: tuple[object, ...]) -> Any:  # noqa: ANN401 - what the solver answers
    """The answer, with aliases in place of names."""
    return _with_names(solve(renamed.problem, *options), renamed.aliases)


def _with_names(answer: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - as above
    if isinstance(answer, Interval):
        return answer
    new = {name: forms.variable(other) for name, other in names.items()}
    return operations.substitute([answer], new)[0]


# Whether a fraction is an integer, by what is known: `K*x/2` of even `K`, `n*(n + 1)/2`.


def is_multiple(scope: Scope, form: Form, divisor: Form, choices: int = MAX_NESTED_CHOICES) -> bool:
    """Whether a form is seen to be a multiple of another; so many choices are looked into.

    >>> from simplifier.canonical.scope import scope_of
    >>> from simplifier.expr.text import parse_form
    >>> even = scope_of((), ((parse_form("k mod 2"), Interval(0, 0)),))
    >>> is_multiple(even, parse_form("select(x > 5, k, y * 4)"), parse_form("2"))
    True
    >>> is_multiple(even, parse_form("n * n + n"), parse_form("2"))
    True
    """
    # Mostly the remainder vanishes where all equations are solved, whatever its choices are.
    remainder = operations.mod(form, divisor)
    rest = hidden(remainder)
    within = scope.of_variables_in(rest)
    while within.smaller is not None:
        solution, within = within.smaller
        rest = solution.substituted(rest)
    if _has_residues_of_multiple(rest, within) or within.canonical(rest) == ZERO:
        return True
    if range_of(scope.of_variables_in(remainder), remainder) == Interval(0, 0):
        return True
    return _is_multiple_in_branches(scope, form, divisor, choices)


def _has_residues_of_multiple(remainder: Form, scope: Scope) -> bool:
    """Whether a remainder by a number is that of a polynomial which is 0 for all residues."""
    atom = remainder.only_atom
    if atom is None or atom.kind is not AtomKind.MOD or not atom.divisor:
        return False
    numerators = atom.numerator, scope.canonical(atom.numerator)
    return any(_is_zero_modulo(each, abs(atom.divisor)) for each in numerators)


def _is_zero_modulo(form: Form, number: int) -> bool:
    """Whether a form is 0 modulo a number for all residues of its atoms.

    >>> from simplifier.expr.text import parse_form
    >>> _is_zero_modulo(parse_form("n * n + n * 3 + (x floordiv 4) * 2"), 2)
    True
    """
    terms = [
        (factor, variables_multiplied(atom))
        for atom, factor in form.terms.items()
        if factor % number
    ]
    names = {variable: None for _, variables in terms for variable in variables}
    if not all(variables for _, variables in terms) or number ** len(names) > MAX_RESIDUES:
        return False
    residues = product(range(number), repeat=len(names))

    def value_at(point: Mapping[Atom, int]) -> int:
        parts = (factor * prod(map(point.__getitem__, each)) for factor, each in terms)
        return form.constant + sum(parts)

    return not any(value_at(dict(zip(names, each, strict=True))) % number for each in residues)


def _is_multiple_in_branches(scope: Scope, form: Form, divisor: Form, choices: int) -> bool:
    """Whether both branches of the first choice are multiples, each under its condition."""
    found = outermost((form,), (AtomKind.SELECT,))
    if not found or not choices:
        return False
    condition, chosen, other = found[0].arguments
    branches = (condition, chosen), (operations.negation(condition), other)
    return all(
        within.is_empty
        or is_multiple(within, operations.replace(form, {found[0]: value}), divisor, choices - 1)
        for holds, value in branches
        for within in [scope.under(holds)]
    )


# Laws that led to a result: one simplification, step by step.
#
# A trace works on a scope of its own, so it does not depend on earlier simplifications. It
# follows the rewrite log of that scope from the input to the result and leaves out what did not
# contribute.


@dataclass(frozen=True, slots=True)
class Step:
    """``before`` was rewritten to ``after``, by one law or by several at once.

    Without a law, the text says why the two are equal: a form that is too large stayed one opaque
    term, or isl proved the step.
    """

    laws: tuple[Law, ...]
    before: sympy.Expr
    after: sympy.Expr
    text: str
    """Before, after and the names of the laws, as they are printed."""

    def __str__(self) -> str:
        return self.text


class Trace(Displayed, Sequence[Step]):
    """The steps that lead from an expression to its simplest form.

    First each operation of the expression, inner ones first, comes into canonical form: it is shown
    on canonical arguments, with all laws that were applied to it. Then the canonical form is
    written out, one form after the other. Both come again as often as that changes something.

    >>> from simplifier import parse_expr, simplify
    >>> trace = Trace()
    >>> simplify(parse_expr("(x floordiv 8) * 8 + x mod 8"), {}, trace=trace)
    x
    >>> print(trace)
    x mod 8
      -> x - (x floordiv 8) * 8  (remainder)
    """

    __hash__: ClassVar[None] = None  # pyright: ignore[reportIncompatibleMethodOverride] - it changes

    def __init__(self) -> None:
        self._steps: tuple[Step, ...] = ()
        self.lemmas: tuple[Law, ...] = ()
        """The lemmas about ranges that were used, in the order of first use."""

    @property
    def laws(self) -> tuple[Law, ...]:
        """The laws of all steps, each once, in the order of first use."""
        return tuple(dict.fromkeys(law for step in self for law in step.laws))

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Step]: ...
    def __getitem__(self, index: int | slice) -> Step | Sequence[Step]:
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        return f"<trace of {len(self)} step{'s' * (len(self) != 1)}>"

    def follow(self, problem: Problem) -> Form:
        """The simplest form of a problem; the steps to it replace those of the trace."""
        self._steps, self.lemmas = (), ()
        scope = problem.scope(traced_scope)
        if scope is None:
            return ZERO
        result = simplified(scope, problem.form)
        rewrites = dict.fromkeys(rewrites_of(scope, problem.form))
        self._steps = tuple(_step(rewrite, problem, "kept as one term") for rewrite in rewrites)
        self.lemmas = tuple(_log(scope).lemmas)
        return result

    def finish(self, problem: Problem, before: Form, after: Form, why: str) -> None:
        """One more step, that is by no law."""
        if after != before:
            self._steps += (_step(Rewrite((), before, after), problem, why),)


def _step(rewrite: Rewrite, problem: Problem, otherwise: str) -> Step:
    before, after = format_form(rewrite.before), format_form(rewrite.after)
    names = ", ".join(law.name for law in rewrite.laws) or otherwise
    text = f"{before}\n  -> {after}  ({names})"
    return Step(
        rewrite.laws, problem.restored(rewrite.before), problem.restored(rewrite.after), text
    )


def _log(scope: Scope) -> RewriteLog:
    return scope.log or RewriteLog()


def rewrites_of(scope: Scope, form: Form) -> Iterator[Rewrite]:
    """The steps from a form to its cheapest one, which the scope has found already."""
    log = _log(scope)
    for begun in log.iterations[form.key][:-1]:
        yield from _by_smaller_problem(scope, begun)


def _by_smaller_problem(scope: Scope, form: Form) -> Iterator[Rewrite]:
    """Steps of the smaller problem, where that was taken: all at once."""
    rewrite = _log(scope).rewrites["solved"].get(form.key)
    if rewrite is None or scope.smaller is None:
        yield from _read(scope, form)
        return
    solution, smaller = scope.smaller
    inner = [law for step in rewrites_of(smaller, solution.substituted(form)) for law in step.laws]
    if rewrite.before != rewrite.after:
        yield rewrite._replace(laws=tuple(dict.fromkeys((*rewrite.laws, *inner))))
    yield from whole_or_parts(scope, rewrite.after)


def _read(scope: Scope, form: Form) -> Iterator[Rewrite]:
    """Read in another way first, where that was taken."""
    rewrites = _log(scope).rewrites
    rewrite = rewrites["read"].get(form.key)
    if rewrite is not None:
        yield rewrite
    yield from whole_or_parts(scope, form if rewrite is None else rewrite.after)
    if form.key in rewrites["shared"]:
        yield rewrites["shared"][form.key]
