"""Constraints on tile sizes, as a value: clauses, each a disjunction of conjunctions of limits.

A limit says that an expression lies in an interval. All clauses hold together. They are not
multiplied out, because their number would grow exponentially with the rank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, product, starmap
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

from indexing.domain import (
    Constraint,
    Domain,
    Ends,
    conditions_of,
    ends_and_constraints,
    substituted_constraints,
)
from indexing.errors import TileError
from indexing.formats.text import read_interval
from indexing.transform.evaluate import checked_value, evaluate_forms
from indexing.validation import Boolean
from indexing.variable import Variable, is_symbolic, parameter_identifier
from simplifier import forms
from simplifier.errors import check_type, listed, quoted
from simplifier.forms import ExpressionLexer, Form, Interval, Scope
from simplifier.tools.late import sympy

Conjunction: TypeAlias = "tuple[Constraint, ...]"
"""Limits that hold together, sorted; none is always satisfied."""

Clause: TypeAlias = tuple[Conjunction, ...]
"""Conjunctions of which one holds; none is unsatisfiable."""

ALWAYS: Final = "always satisfied"
NEVER: Final = "unsatisfiable"

MAX_ALTERNATIVES: Final = 1 << 12
"""Conjunctions that clauses are multiplied out to: more would take longer than a second."""


class TileSize(NamedTuple):
    """The size of a tile along a dimension, which it fits into."""

    size: Form
    extent: int | None
    """The greatest size; ``None`` if the dimension has no end."""
    dimension: str
    """The name of the dimension."""

    def refusal(self, name: str, number: int) -> str | None:
        """The reason why a number is no such size; ``None`` if it is one."""
        if number in Interval(1, self.extent):
            return None
        wanted = "1 or more"
        if self.extent is not None:
            wanted = f"1 to {self.extent}, the size of {self.dimension}"
        return f"{name} is {number}; expected {wanted}"


@dataclass(frozen=True, slots=True)
class TileConstraints:
    """Conditions under which the formulas of a tile hold: immutable, always in smallest form.

    >>> constraints = TileConstraints.parse("6 mod a in [0, 0] || a mod 6 in [0, 0] && b in [1, 1]")
    >>> print(constraints)
    6 mod a in [0, 0] || a mod 6 in [0, 0] && b in [1, 1]
    >>> constraints.satisfied({"a": 12, "b": 1}), constraints.satisfied({"a": 12, "b": 2})
    (True, False)
    >>> print(constraints.reason({"a": 12, "b": 2}))
    6 mod a is 6, and b is 2; expected 6 mod a in [0, 0] || a mod 6 in [0, 0] && b in [1, 1]
    >>> print(constraints & TileConstraints.parse("b in [2, 9]"))
    6 mod a in [0, 0] && b in [2, 9]
    """

    clauses: tuple[Clause, ...] = ()
    sizes: tuple[TileSize, ...] = ()
    """What fits into dimensions, whatever the clauses say; the text has only the clauses."""

    @classmethod
    def of(cls, clauses: Iterable[Iterable[Iterable[Constraint]]]) -> TileConstraints:
        """The constraints that all clauses hold."""
        return cls(_joined(map(_clause, clauses)))

    @classmethod
    def limit(cls, form: Form, interval: Interval) -> TileConstraints:
        """The condition that one form lies in an interval."""
        return cls.of([[[(form, interval)]]])

    @classmethod
    def parse(cls, text: str) -> TileConstraints:
        """The constraints that a text describes: limits, ``&&``, ``||`` and parentheses.

        Raises:
            TextError: with line, column, and a caret under the error.
        """
        check_type(text, str, "TileConstraints.parse: the text", "a string")
        lexer, words = ExpressionLexer(text), " ".join(text.split())
        if words in _WORDS:
            return _WORDS[words]
        found = _read_alternatives(lexer, _around_constraints(lexer.tokens))
        lexer.finish()
        return found

    @property
    def is_always_satisfied(self) -> bool:
        """Whether every size that fits is fine."""
        return not self.clauses

    @property
    def is_unsatisfiable(self) -> bool:
        """Whether no size is fine."""
        return () in self.clauses

    def __and__(self, other: TileConstraints) -> TileConstraints:
        return _all_of((self, other))

    def __or__(self, other: TileConstraints) -> TileConstraints:
        return _any_of((self, other))

    def alternatives(self) -> Clause:
        """The conjunctions of which one holds, multiplied out.

        Raises:
            TileError: there may be more than 4,096.
        """
        count = prod(map(len, self.clauses))
        if count > MAX_ALTERNATIVES:
            expected = f"expected at most {MAX_ALTERNATIVES}; see clauses"
            raise TileError(f"alternatives: the constraints have {count}; {expected}")
        return _clause(map(chain.from_iterable, product(*self.clauses)))

    def expanded(self) -> TileConstraints:
        """The same constraints with at most one clause: a disjunction of conjunctions."""
        return replace(self, clauses=_joined([self.alternatives()]))

    def simplified(self, scope: Scope) -> TileConstraints:
        """The constraints without those that follow from the bounds and facts of a scope."""
        smaller = {
            form: (found := forms.simplified(scope, form), forms.range_of(scope, found))
            for form in dict.fromkeys(form for form, _ in self._limits())
        }
        decided = (
            [known for one in clause if (known := _decided(one, smaller)) is not None]
            for clause in self.clauses
        )
        return replace(self, clauses=_joined(map(_clause, decided)))

    def satisfied(self, sizes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a truth value or an array
        """Whether sizes meet the constraints; NumPy arrays of candidates give arrays.

        >>> import numpy as np
        >>> TileConstraints.parse("6 mod a in [0, 0]").satisfied({"a": np.arange(1, 7)})
        array([ True,  True,  True, False, False,  True])
        """
        fitting = [(each.size, Interval(1, each.extent)) for each in self._given(sizes)]
        fits = _all(self._held(fitting, sizes))
        inside = {name: checked_value(value, f"satisfied: {name}") for name, value in sizes.items()}
        if not (fits if isinstance(fits, bool) else fits.all()):
            # 1 where a size does not fit: it may divide
            inside = {name: value * fits + (1 - fits) for name, value in inside.items()}
        limits = self._limits()
        holds = dict(zip(limits, self._held(limits, inside), strict=True))
        rows = (_any(_all(holds[each] for each in one) for one in row) for row in self.clauses)
        found = fits & _all(rows)
        return found if hasattr(found, "dtype") and found.ndim else bool(found)

    def reason(self, sizes: Mapping[str, int]) -> str | None:
        """The reason why sizes do not meet the constraints; ``None`` if they do."""
        for each in self._given(sizes):
            (number,) = self._values([each.size], sizes)
            if (refusal := each.refusal(forms.format_form(each.size), number)) is not None:
                return refusal
        for clause in self.clauses:
            if TileConstraints((clause,)).satisfied(sizes):
                continue
            failing = {
                form: value
                for conjunction in clause
                for form, interval in conjunction
                if (value := self._values([form], sizes)[0]) not in interval
            }
            texts = [f"{forms.format_form(form)} is {value}" for form, value in failing.items()]
            found = ", and ".join(texts)
            text = str(TileConstraints((clause,)))
            return f"{found}; expected {text}" if found else text
        return None

    def conditions(self) -> tuple[Boolean, ...]:
        """The clauses as sympy's conditions.

        >>> TileConstraints.parse("a in [1, 1] || b in [2, 4]").conditions()
        (Eq(a, 1) | ((b >= 2) & (b < 5)),)
        """
        return tuple(forms.to_condition(condition_of(clause)) for clause in self.clauses)

    def __iter__(self) -> Iterator[Boolean]:
        return iter(self.conditions())

    def _limits(self) -> list[Constraint]:
        return list(dict.fromkeys(chain.from_iterable(chain.from_iterable(self.clauses))))

    def _held(self, limits: Sequence[Constraint], sizes: Mapping[str, Any]) -> Iterator[Any]:
        """Whether sizes meet each limit: truth values or arrays of them."""
        values = self._values([form for form, _ in limits], sizes)
        return map(_is_within, values, (interval for _, interval in limits))

    def _given(self, sizes: Mapping[str, Any]) -> list[TileSize]:
        """The sizes whose symbols all have values."""
        return [each for each in self.sizes if sizes.keys() >= {*forms.variables_of((each.size,))}]

    def _values(self, wanted: list[Form], sizes: Mapping[str, Any]) -> tuple[Any, ...]:
        names = sorted(set(forms.variables_of(wanted)), key=forms.natural_order)
        missing = [name for name in names if name not in sizes]
        if missing:
            raise TileError(f"satisfied: there is no size {listed(missing)}; expected one")
        given = {name: checked_value(sizes[name], f"satisfied: {name}") for name in names}
        return evaluate_forms(wanted, given)

    def __str__(self) -> str:
        if self.is_unsatisfiable:
            return NEVER
        texts = [" || ".join(map(_text, clause)) for clause in self.clauses]
        if len(texts) > 1:
            texts = [f"({text})" if "||" in text else text for text in texts]
        return " && ".join(texts) or ALWAYS


def renamed(constraints: TileConstraints, names: Mapping[str, str]) -> TileConstraints:
    """Constraints with other names of symbols, for messages."""
    values = {old: forms.variable(new) for old, new in names.items()}
    return TileConstraints.of(
        [substituted_constraints(limits, values) for limits in clause]
        for clause in constraints.clauses
    )


def condition_of(clause: Clause) -> Form:
    """A clause as a condition."""
    return forms.disjunction(
        forms.conjunction(chain.from_iterable(starmap(conditions_of, conjunction)))
        for conjunction in clause
    )


def _all_of(parts: Sequence[TileConstraints]) -> TileConstraints:
    clauses = chain.from_iterable(part.clauses for part in parts)
    return TileConstraints(_joined(clauses), _sizes_of(parts))


def _any_of(parts: Sequence[TileConstraints]) -> TileConstraints:
    """Constraints of which one holds: a clause for each choice of a clause of each."""
    choices = product(*(part.clauses for part in parts))
    clauses = (_clause(chain.from_iterable(choice)) for choice in choices)
    return TileConstraints(_joined(clauses), _sizes_of(parts))


def _sizes_of(parts: Iterable[TileConstraints]) -> tuple[TileSize, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(part.sizes for part in parts)))


# Text.


_WORDS: Final = {ALWAYS: TileConstraints(), NEVER: TileConstraints(((),))}


def _around_constraints(tokens: Sequence[str]) -> frozenset[int]:
    """The places of parentheses that are around constraints, not around an expression."""
    open_at: list[int] = []
    found: list[int] = []
    for place, text in enumerate(tokens):
        if text == "(":
            open_at.append(place)
        elif text == ")" and open_at:
            opening = open_at.pop()
            if tokens[place + 1] in ("&&", "||", ")", ""):
                found.append(opening)
    return frozenset(found)


def _read_alternatives(
    lexer: ExpressionLexer, groups: frozenset[int], depth: int = 0
) -> TileConstraints:
    """Read the constraints between ``||``."""
    start = lexer.span
    parts = lexer.joined(lambda: _read_together(lexer, groups, depth), "||")
    if max(len(parts), prod(len(part.clauses) for part in parts)) > _MAX_READ:
        raise lexer.error(f"there are more than {_MAX_READ} alternatives, multiplied out", start)
    return _any_of(parts)


def _read_together(lexer: ExpressionLexer, groups: frozenset[int], depth: int) -> TileConstraints:
    """Read the constraints between ``&&``."""
    return _all_of(lexer.joined(lambda: _read_part(lexer, groups, depth), "&&"))


def _read_part(lexer: ExpressionLexer, groups: frozenset[int], depth: int) -> TileConstraints:
    """A limit, or constraints in parentheses."""
    if lexer.position in groups:
        if depth == _MAX_NESTED:
            raise lexer.error(f"constraints are nested more than {_MAX_NESTED} deep")
        lexer.advance()
        found = _read_alternatives(lexer, groups, depth + 1)
        lexer.expect(")")
        return found
    form = forms.read_expression(lexer)
    return TileConstraints.limit(form, read_interval(lexer))


_MAX_READ: Final = 1 << 10
"""Alternatives in a text: each is compared with each, so more would take seconds."""

_MAX_NESTED: Final = 100
"""Of parentheses; constraints in them are read by recursion."""


# Normal form: limits of equal forms are one; what another part says is left out; all is sorted.


def _conjunction(limits: Iterable[Constraint]) -> Conjunction | None:
    """The limits in normal form; ``None`` if they exclude each other."""
    table: dict[Form, Interval] = {}
    for form, interval in limits:
        if form.is_constant:
            if form.constant not in interval:
                return None
            continue
        table[form] = table[form].intersect(interval) if form in table else interval
    if any(interval.is_empty for interval in table.values()):
        return None
    return tuple(sorted(table.items(), key=_limit_text))


def _clause(conjunctions: Iterable[Iterable[Constraint]]) -> Clause:
    """The conjunctions without those that another one follows from, sorted by their texts."""
    normal = map(_conjunction, conjunctions)
    found = dict.fromkeys(one for one in normal if one is not None)
    if () in found:
        return ((),)
    kept: dict[Form, list[Conjunction]] = {}
    for one in sorted(found, key=len):
        table = dict(one)
        weaker = chain.from_iterable(kept.get(form, ()) for form in table)
        if not any(_follows(table, other) for other in weaker):
            kept.setdefault(one[0][0], []).append(one)
    return tuple(sorted(chain.from_iterable(kept.values()), key=_text))


def _follows(stronger: Mapping[Form, Interval], weaker: Conjunction) -> bool:
    """Whether the limits of one conjunction imply those of another."""
    return all(form in stronger and it.contains(stronger[form]) for form, it in weaker)


def _joined(clauses: Iterable[Clause]) -> tuple[Clause, ...]:
    """The clauses without those always true; limits that hold on their own narrow the others."""
    clauses = dict.fromkeys(clauses)
    known = _conjunction(chain(*(clause[0] for clause in clauses if len(clause) == 1)))
    if known is None:
        return ((),)
    facts = dict(known)
    narrowed = [_narrowed(clause, facts) for clause in clauses if len(clause) != 1]
    if () in narrowed:
        return ((),)
    if any(len(clause) == 1 and clause != ((),) for clause in narrowed):
        return _joined([(known,), *narrowed])
    rows = [clause for clause in narrowed if () not in clause]
    return tuple(sorted([*([(known,)] if known else []), *rows], key=_clause_text))


def _narrowed(clause: Clause, facts: Mapping[Form, Interval]) -> Clause:
    """The conjunctions that may hold beside known limits, without those limits."""
    return _clause(
        [limit for limit in conjunction if not _follows(facts, (limit,))]
        for conjunction in clause
        if not any(it.intersect(facts.get(form, it)).is_empty for form, it in conjunction)
    )


def _decided(
    conjunction: Conjunction, smaller: Mapping[Form, tuple[Form, Interval]]
) -> list[Constraint] | None:
    """The limits that are not known to hold; ``None`` if one is known not to."""
    left: list[Constraint] = []
    for form, interval in conjunction:
        found, values = smaller[form]
        if interval.intersect(values).is_empty:
            return None
        if not interval.contains(values):
            left.append((found, interval))
    return left


def _text(conjunction: Conjunction) -> str:
    return " && ".join(map(_limit_text, conjunction)) or ALWAYS


def _clause_text(clause: Clause) -> str:
    return " || ".join(map(_text, clause))


def _limit_text(limit: Constraint) -> str:
    return f"{forms.format_form(limit[0])} in {limit[1]}"


# Values.


def _is_within(value: Any, interval: Interval) -> Any:  # noqa: ANN401 - a number or an array
    above = True if interval.lower is None else value >= interval.lower
    return above if interval.upper is None else above & (value <= interval.upper)


def _all(values: Iterable[Any]) -> Any:  # noqa: ANN401 - truth values or arrays of them
    return reduce(lambda left, right: left & right, values, True)  # noqa: FBT003 - holds of nothing


def _any(values: Iterable[Any]) -> Any:  # noqa: ANN401 - truth values or arrays of them
    return reduce(lambda left, right: left | right, values, False)  # noqa: FBT003 - of nothing


# The axes of a tile: for each variable of a map, which of its values a tile has.

Sizes: TypeAlias = "Sequence[sympy.Expr | int]"

_RESERVED: Final = re.compile(r"(t|i|rt)[0-9]+")
"""Names of tile ids, of positions in the tile, and of runtime variables."""


@dataclass(frozen=True, slots=True)
class TileAxis:
    """The values ``begin + k`` of one variable with ``0 <= k < count``, cut off at its bounds.

    A dimension has as many as its tile size says, counted from the beginning of the tensor; a range
    has all its values.
    """

    name: str
    begin: Form
    count: Form
    origin: int
    """The origin of the values: the begin of the first tile."""
    extent: int | None
    """How many values there are from the origin on."""
    lower: Form | None = None
    """The least value, if a tile may begin before it."""
    upper: Form | None = None
    """The greatest value, if a tile may end behind it."""

    @property
    def is_range(self) -> bool:
        """Whether all values are in every tile."""
        return self.name.startswith("s")

    @property
    def whole(self) -> int | None:
        """Number of values of every tile, if each has all values, and it is known."""
        if not self.count.is_constant or not (self.is_range or self.count.constant == self.extent):
            return None
        if self.is_range:
            return self.count.constant
        lower = self.lower or forms.constant(self.origin)
        upper = self.upper or forms.constant(self.origin + self.count.constant - 1)
        values = (upper - lower).plus_constant(1)
        return values.constant if values.is_constant else None

    @property
    def ends_with_tensor(self) -> bool:
        """Whether the greatest value is that of the tensor, so that each tile begins before it."""
        if self.extent is None or self.upper is None:
            return True
        return self.upper == forms.constant(self.origin + self.extent - 1)

    def limited(self, interval: Interval) -> Constraint:
        """The condition that the size lies in an interval."""
        return self.count, interval.intersect(Interval(1, self.extent))


class Assumptions(NamedTuple):
    """Bounds of the symbols of sizes, tile ids, runtime variables and parameters; and facts."""

    bounds: tuple[tuple[str, Interval], ...]
    facts: tuple[Constraint, ...]

    def scope(self) -> Scope:
        """The assumptions as a scope of the simplifier."""
        return forms.scope_of(self.bounds, self.facts)

    def bounded(self, more: Mapping[str, Interval]) -> Assumptions:
        """The assumptions with bounds of more symbols, or with others."""
        return self._replace(bounds=tuple(sorted({**dict(self.bounds), **more}.items())))

    def substituted(self, values: Mapping[str, Form]) -> Assumptions:
        """The assumptions with values for some symbols."""
        left = tuple((name, bounds) for name, bounds in self.bounds if name not in values)
        return Assumptions(left, tuple(substituted_constraints(self.facts, values)))


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes of a map, its other constraints, and assumptions about sizes and tile ids."""

    by_name: dict[str, TileAxis]
    constraints: tuple[Constraint, ...]
    known: Assumptions
    grid: tuple[Form | None, ...]
    """How many tiles there are along each dimension; ``None`` if there is no end."""
    sizes: tuple[TileSize, ...]
    """Of all dimensions."""


def read_axes(
    domain: Domain, dims: Sequence[Variable], sizes: Sizes, facts: Iterable[Constraint]
) -> Axes:
    """The axes of a tile with these sizes; tiles are counted in the bounds of ``dims``.

    Raises:
        TileError: a wrong number of sizes, or one that no tile has.
    """
    if len(sizes) != len(domain.dims):
        expected = f"expected {len(domain.dims)}, one for each dimension"
        raise TileError(f"tile: {len(sizes)} sizes are given; {expected}")
    ends, rest = ends_and_constraints(domain)
    parameters = {
        each.name: forms.variable(parameter_identifier(each.name)) for each in domain.parameters
    }
    bounds = {name: domain.bounds[name] for name in domain.identifiers if name[0] not in "ds"}
    known = list(facts)
    axes: dict[str, TileAxis] = {}
    grid: list[Form | None] = []
    fitting: list[TileSize] = []
    for number, (dim, size) in enumerate(zip(dims, sizes, strict=True)):
        name = f"d{number}"
        lower, upper = dim.bounds.lower, dim.bounds.upper
        if lower is None:
            expected = "expected one to count tiles from"
            raise TileError(f"tile: {domain.names[number]} has no lower bound; {expected}")
        origin = min(lower, 0)
        extent = None if upper is None else upper + 1 - origin
        count = _read_size(size, f"sizes[{number}]", domain.names[number], extent, parameters)
        fitting.append(TileSize(count, extent, domain.names[number]))
        _bound_size(count, extent, bounds, known)
        end = ends[name].upper if upper is None else forms.constant(upper)
        tiles = None if end is None else forms.ceildiv(end.plus_constant(1 - origin), count)
        grid.append(tiles)
        begin = forms.product((forms.variable(f"t{number}"), count)).plus_constant(origin)
        axes[name] = TileAxis(name, begin, count, origin, extent, *ends[name])
    for number, variable in enumerate(domain.ranges):
        name = f"s{number}"
        axes[name] = _range_axis(name, domain, variable.bounds, ends[name])
    bounds |= bounds_of_ids(grid)
    assumptions = Assumptions(tuple(sorted(bounds.items())), tuple(known))
    scope = assumptions.scope()
    needed = {name: _with_needed_ends(axis, scope) for name, axis in axes.items()}
    return Axes(needed, rest.constraints, assumptions, tuple(grid), tuple(fitting))


def bounds_of_ids(grid: Sequence[Form | None]) -> dict[str, Interval]:
    """The values of tile ids, for the number of tiles along each dimension."""
    return {
        f"t{number}": Interval(0, tiles.constant - 1 if tiles and tiles.is_constant else None)
        for number, tiles in enumerate(grid)
    }


def _bound_size(
    count: Form, extent: int | None, bounds: dict[str, Interval], known: list[Constraint]
) -> None:
    """Add that symbols are at least 1, and that the size fits into its dimension."""
    for used in forms.variables_of((count,)):
        bounds.setdefault(used, Interval(1, None))
    own = count.single_variable()
    if own is not None:
        bounds[own] = bounds[own].intersect(Interval(1, extent))
    elif not count.is_constant:
        known.append((count, Interval(1, extent)))


def _read_size(
    size: sympy.Expr | int, where: str, name: str, extent: int | None, parameters: dict[str, Form]
) -> Form:
    """A size as a form; a number must fit into the dimension."""
    if not is_symbolic(size):
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            message = f"tile: {where} is {quoted(size)}; expected an integer or an expression"
            raise TileError(message)
        number = int(size)
        count = forms.constant(number)
        if (refusal := TileSize(count, extent, name).refusal(where, number)) is not None:
            raise TileError(f"tile: {refusal}")
        return count
    form = forms.from_sympy(size)
    for used in forms.variables_of((form,)):
        if _RESERVED.fullmatch(used):
            message = f"tile: {where} uses the name {quoted(used)}"
            raise TileError(f"{message}; expected another: t0, i0 and rt0 mean something in a tile")
    return forms.substitute((form,), parameters)[0]


def _range_axis(name: str, domain: Domain, bounds: Interval, ends: Ends) -> TileAxis:
    """All values of a range."""
    if ends.lower is None or ends.upper is None:
        called = domain.names[domain.identifiers.index(name)]
        raise TileError(f"tile: {called} is not bounded; expected bounded ranges")
    count = (ends.upper - ends.lower).plus_constant(1)
    return TileAxis(name, ends.lower, count, bounds.lower or 0, bounds.size)


def _with_needed_ends(axis: TileAxis, scope: Scope) -> TileAxis:
    """The axis without the ends that no tile passes: the size divides that of the dimension."""
    lower, upper = axis.lower, axis.upper
    if lower is not None and lower.is_constant and lower.constant <= axis.origin:
        lower = None
    if upper is not None and axis.ends_with_tensor and not axis.is_range:
        rest = forms.mod(upper.plus_constant(1 - axis.origin), axis.count)
        if forms.range_of(scope, forms.simplified(scope, rest)) == Interval(0, 0):
            upper = None
    return replace(axis, lower=lower, upper=upper)
