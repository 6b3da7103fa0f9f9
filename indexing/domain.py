"""Domain of a map: variables by role, their bounds, and constraints between them.

Formulas inside a map use identifiers, ``d0 d1 ... s0 s1 ... rt0 ...``: the role and position of a
variable. The names that a reader gave come in only for output. So two maps that differ in names
alone are the same problem to the simplifier.

Parameters have no positions: maps share them by name. The identifier of ``N`` is ``~N``, which
sorts behind the others, so that constraints begin with them: ``d0 - N``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias, TypeVar

from indexing.errors import MapError
from indexing.variable import (
    PARAMETER,
    POSITIONAL,
    Variable,
    check_distinct,
    name_beside,
    parameter_identifier,
    united,
)
from simplifier import forms
from simplifier.errors import listed, quoted
from simplifier.forms import DOCUMENT, Atom, AtomKind, Form, Interval, Key, Syntax

Constraint: TypeAlias = "tuple[Form, Interval]"
"""A form whose values must lie in an interval."""

T = TypeVar("T")
ByRole: TypeAlias = tuple[tuple[T, ...], tuple[T, ...], tuple[T, ...]]
"""Something for each dimension, for each range, and for each runtime variable."""

LETTERS: Final = ("d", "s", "rt")
"""The first letters of the identifiers of dimensions, ranges and runtime variables."""

ROLES: Final = ("dims", "ranges", "runtime")
"""The roles of variables with positions, as arguments and messages call them."""

NO_VALUES: Final = Interval(0, -1)


@dataclass(frozen=True)
class Domain:
    """Variables with bounds, and constraints in normal order.

    A domain that is known to have no point is stored in one way: every bound is ``[0, -1]``, and
    there are no constraints.
    """

    dims: tuple[Variable, ...]
    ranges: tuple[Variable, ...] = ()
    runtime: tuple[Variable, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    parameters: tuple[Variable, ...] = ()
    """Sorted by name."""

    @classmethod
    def of(
        cls,
        dims: Iterable[Variable],
        ranges: Iterable[Variable] = (),
        runtime: Iterable[Variable] = (),
        constraints: Iterable[Constraint] = (),
        parameters: Iterable[Variable] = (),
    ) -> Domain:
        """The domain of the variables, constrained as by :meth:`constrained`."""
        named = united(parameters) if parameters else ()
        taken = {parameter.name for parameter in named}
        own, inner = _unnamed(dims, "d", taken), _unnamed(ranges, "s", taken)
        plain = cls(own, inner, _unnamed(runtime, "rt", taken), (), named)
        return plain.constrained(constraints) if constraints or plain.is_known_empty else plain

    def __reduce__(self) -> tuple[type[Domain], tuple[object, ...]]:
        """Cached properties are not pickled."""
        return Domain, (*self.roles, self.constraints, self.parameters)

    @cached_property
    def identifiers(self) -> tuple[str, ...]:
        """The identifiers of the variables, in order of declaration; parameters are last."""
        positional = _identifiers(len(self.dims), len(self.ranges), len(self.runtime))
        return positional + self.parameter_identifiers if self.parameters else positional

    @property
    def parameter_identifiers(self) -> tuple[str, ...]:
        """The identifiers of the parameters."""
        return tuple(parameter_identifier(parameter.name) for parameter in self.parameters)

    @property
    def roles(self) -> ByRole[Variable]:
        """Dimensions, ranges and runtime variables."""
        return self.dims, self.ranges, self.runtime

    @cached_property
    def called(self) -> ByRole[Variable]:
        """The roles, each variable with a name: its own, or its identifier."""
        pairs = zip(self.names, self.variables, strict=True)
        return self.by_role(variable.at(name) for name, variable in pairs)

    @property
    def by_role_as_forms(self) -> ByRole[Form]:
        """The variables of each role as forms over their identifiers."""
        return self.by_role(map(forms.variable, self.identifiers))

    def by_role(self, values: Iterable[T]) -> ByRole[T]:
        """Splits values, one for each variable in order of declaration, as :attr:`roles` does.

        Values of parameters, which come last, are left out.
        """
        values = tuple(values)
        first = len(self.dims)
        second = first + len(self.ranges)
        return values[:first], values[first:second], values[second : second + len(self.runtime)]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables in order of declaration; parameters are last."""
        return (*self.dims, *self.ranges, *self.runtime, *self.parameters)

    def with_variables(
        self, variables: Iterable[Variable], constraints: Iterable[Constraint] = ()
    ) -> Domain:
        """The domain of other variables, in order of declaration, in the same roles.

        The constraints are in normal order.
        """
        variables = tuple(variables)
        parameters = variables[len(variables) - len(self.parameters) :]
        return Domain(*self.by_role(variables), tuple(constraints), parameters)

    def over(
        self, dims: Iterable[Variable], ranges: Iterable[Variable], runtime: Iterable[Variable]
    ) -> Domain:
        """The domain of other variables and the same parameters, without constraints."""
        return Domain.of(dims, ranges, runtime, (), self.parameters)

    def with_parameters(self, more: Iterable[Variable]) -> Domain:
        """The domain with more parameters; a variable that is called as one loses its name."""
        named = distinctly_named(*self.roles, parameters=[*self.parameters, *more])
        return named.with_constraints(self.constraints)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the variables for a reader, in order of declaration."""
        taken = {parameter.name for parameter in self.parameters}
        pairs = zip(self.variables, self.identifiers, strict=True)
        return tuple(own.given_name or name_beside(identifier, taken) for own, identifier in pairs)

    @cached_property
    def bounds(self) -> dict[str, Interval]:
        """The bounds of every variable, by identifier."""
        return dict(zip(self.identifiers, [each.bounds for each in self.variables], strict=True))

    @cached_property
    def is_known_empty(self) -> bool:
        """Whether some variable has no value; an empty domain need not be known to be empty."""
        for variable in self.variables:  # not any(): every map that is made asks this
            if variable.bounds.is_empty:
                return True
        return self.constraints == _CONTRADICTION

    def constrained(self, constraints: Iterable[Constraint]) -> Domain:
        """The domain with more constraints.

        A constraint on a single variable goes into its bounds, one on a constant is decided, and
        constraints on the same form become one.
        """
        if self.is_known_empty:
            return self.emptied()
        bounds: dict[str, Interval] = {}
        table: dict[Form, Interval] = {}
        for form, interval in constraints:
            identifier = form.single_variable()
            if identifier is not None:
                known = bounds.get(identifier) or self.bounds[identifier]
                if not interval.contains(known):
                    bounds[identifier] = known.intersect(interval)
            elif not form.is_constant:
                table[form] = table[form].intersect(interval) if form in table else interval
            elif form.constant not in interval:
                return self.emptied()
        both = _joined(self.constraints, sorted(table.items(), key=_order))
        if both is None or any(left.is_empty for left in (*bounds.values(), *table.values())):
            return self.emptied()
        return self.with_bounds(bounds, both)

    def constraints_among(self, identifiers: Collection[str]) -> tuple[Constraint, ...]:
        """The constraints on these variables alone."""
        among = frozenset(identifiers).issuperset
        return tuple(pair for pair in self.constraints if among(forms.variables_of((pair[0],))))

    def with_constraints(self, constraints: Iterable[Constraint] = ()) -> Domain:
        """The same variables with only these constraints, which are in normal order."""
        return Domain(self.dims, self.ranges, self.runtime, tuple(constraints), self.parameters)

    def with_named(self, constraints: Sequence[Constraint]) -> Domain:
        """The domain with more constraints, written in the reader's names.

        Raises:
            MapError: a name is not declared.
        """
        resolved = self.resolved([form for form, _ in constraints], "constraint")
        intervals = (interval for _, interval in constraints)
        return self.constrained(zip(resolved, intervals, strict=True))

    def emptied(self) -> Domain:
        """The empty domain of the same variables."""
        bounds = dict.fromkeys(self.identifiers, NO_VALUES)
        return self.with_bounds(bounds, () if bounds else _CONTRADICTION)

    def with_bounds(
        self, bounds: Mapping[str, Interval], constraints: Iterable[Constraint] = ()
    ) -> Domain:
        """The same variables, some with these bounds; only these constraints, in normal order."""
        if not bounds:
            return self.with_constraints(constraints)
        within = (
            variable.within(bounds[identifier]) if identifier in bounds else variable
            for identifier, variable in zip(self.identifiers, self.variables, strict=True)
        )
        return self.with_variables(within, constraints)

    def named(self, form: Form) -> Form:
        """The form in the reader's names."""
        return forms.substitute((form,), self._renaming)[0] if self._renaming else form

    @cached_property
    def _renaming(self) -> dict[str, Form]:
        pairs = zip(self.identifiers, self.names, strict=True)
        return {own: forms.variable(name) for own, name in pairs if own != name}

    @cached_property
    def by_name(self) -> dict[str, Form]:
        """The variable that each of the reader's names stands for, by its identifier."""
        return dict(zip(self.names, map(forms.variable, self.identifiers), strict=True))

    def text_of(self, form: Form, syntax: Syntax = DOCUMENT) -> str:
        """The form's text in the reader's names."""
        return forms.format_form(self.named(form), self.names, syntax)

    def constraint_texts(self, syntax: Syntax = DOCUMENT) -> list[tuple[str, Constraint]]:
        """The constraints with their texts, sorted by these as in XLA."""
        rows = ((self.text_of(pair[0], syntax), pair) for pair in self.constraints)
        return sorted(rows, key=lambda row: f"{row[0]} in {row[1][1]}")

    def limits(self) -> list[Constraint]:
        """The bounds of all variables, then the constraints, sorted by their texts."""
        return [*bounding(self.bounds), *(pair for _, pair in self.constraint_texts())]

    def check(self, where: str = "IndexingMap") -> None:
        """Raise :class:`MapError` for a name used twice or a constraint on an unknown variable."""
        check_distinct(self.names, "variables", where)
        self.check_forms([form for form, _ in self.constraints], "constraint")

    def resolved(
        self, given: Sequence[Form], role: str, where: str = "IndexingMap"
    ) -> tuple[Form, ...]:
        """The forms with identifiers for the reader's names; raises as :meth:`check_forms` does."""
        self._check(given, f"{where}: {role}", frozenset(self.names))
        return forms.substitute(given, self.by_name)

    def check_forms(self, checked: Sequence[Form], role: str) -> None:
        """Raise a :class:`MapError` unless forms are integer arithmetic on identifiers."""
        self._check(checked, f"IndexingMap: {role}", frozenset(self.identifiers))

    def _check(self, checked: Sequence[Form], role: str, known: Collection[str]) -> None:
        for number, form in enumerate(checked):
            for atom in forms.postorder((form,)):
                if objection := self._objection(atom, known):
                    raise MapError(f"{role} {number} uses {objection}")

    def identifier_of(self, name: str, where: str) -> str:
        """The identifier of the variable with this name.

        Raises:
            MapError: there is none.
        """
        for identifier, known in zip(self.identifiers, self.names, strict=True):
            if known == name:
                return identifier
        expected = f"expected one of its variables ({listed(self.names)})"
        raise MapError(f"{where}: the map has no {quoted(name)}; {expected}")

    def _objection(self, atom: Atom, known: Collection[str]) -> str:
        """The error about an atom in a map; empty if there is none."""
        if atom.kind in forms.FOREIGN:
            return f"{quoted(str(forms.Form(0, {atom: 1})))}; expected integer arithmetic"
        if atom.kind is AtomKind.VARIABLE and atom.name not in known:
            declared = f"{quoted(atom.name)}; expected a declared variable ({listed(self.names)})"
            if POSITIONAL.fullmatch(atom.name):
                return declared
            return f"{declared}; parameters=[{atom.name}] declares a parameter"
        return ""

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)


@lru_cache
def _identifiers(*counts: int) -> tuple[str, ...]:
    roles = zip(LETTERS, counts, strict=True)
    return tuple(f"{letter}{position}" for letter, count in roles for position in range(count))


# Without variables there is no bound to hold the contradiction.
_CONTRADICTION: Final[tuple[Constraint, ...]] = ((forms.ZERO, Interval(1, 1)),)


def distinctly_named(
    dims: Iterable[Variable],
    ranges: Iterable[Variable] = (),
    runtime: Iterable[Variable] = (),
    parameters: Iterable[Variable] = (),
) -> Domain:
    """The domain of variables from several maps: of two with one name, the first keeps it.

    The other loses its name, and so does a variable whose name is the identifier of one without.
    Parameters keep their names: those with one name become one.

    >>> from indexing import Variable
    >>> row = Variable((0, 3), "row")
    >>> distinctly_named([row], [row, Variable((0, 3), "s0")]).names
    ('row', 's0', 's1')
    """
    domain = Domain.of(dims, ranges, runtime, (), parameters)
    while len(set(domain.names)) < len(domain.names):
        domain = domain.over(*domain.by_role(_first_come(domain)))
    return domain


def _first_come(domain: Domain) -> Iterator[Variable]:
    """The variables without names that earlier ones have, or that are identifiers in use."""
    pairs = zip(domain.identifiers, domain.variables, strict=True)
    taken = {identifier for identifier, variable in pairs if not variable.given_name}
    taken.update(parameter.name for parameter in domain.parameters)
    for variable in domain:
        yield variable.called("") if variable.given_name in taken else variable
        taken.add(variable.given_name)


def bare(constraint: Constraint) -> Constraint:
    """The same constraint on a form without a constant, or on a variable instead of its multiple.

    >>> bare((forms.variable("d0") * 2 + 1, Interval(2, 7)))
    (Form(d0), Interval(lower=1, upper=3))
    """
    form, interval = constraint
    form, interval = form.plus_constant(-form.constant), interval - form.constant
    if len(form.terms) != 1 or not form.is_affine:
        return form, interval
    ((atom, factor),) = form.terms.items()
    lower, upper = (interval if factor > 0 else -interval).ends
    factor = abs(factor)
    return forms.variable(atom.name), Interval.from_range((-(-lower // factor), upper // factor))


def solved_for(constraint: Constraint, name: str) -> tuple[int, Form, Interval] | None:
    """``a``, ``B`` and ``[l, u]`` of a constraint ``a * x + B in [l, u]`` with ``a > 0``.

    ``None`` if it is no such one: if ``x`` is in ``B``, too, or nowhere.

    >>> solved_for((forms.variable("d1") - forms.variable("d0") * 2, Interval(1, None)), "d0")
    (2, Form(-d1), Interval(lower=None, upper=-1))
    """
    form, interval = constraint
    factor = form.terms.get(forms.variable_atom(name), 0)
    rest = form - forms.variable(name) * factor
    if not factor or name in forms.variables_of((rest,)):
        return None
    return (factor, rest, interval) if factor > 0 else (-factor, -rest, -interval)


def substituted_constraints(
    constraints: Iterable[Constraint], replacements: Mapping[str, Form]
) -> list[Constraint]:
    """The constraints with forms in place of some variables."""
    constraints = tuple(constraints)
    replaced = forms.substitute([form for form, _ in constraints], replacements)
    return [(form, interval) for form, (_, interval) in zip(replaced, constraints, strict=True)]


def without_implied_ends(interval: Interval, values: Interval) -> Interval:
    """The interval without an end that none of some values passes.

    >>> print(without_implied_ends(Interval(0, 9), Interval(2, 12)))
    [-inf, 9]
    """
    (lower, upper), (least, greatest) = interval.ends, values.ends
    return Interval(
        None if least >= lower else interval.lower, None if greatest <= upper else interval.upper
    )


def bounding(bounds: Mapping[str, Interval]) -> list[Constraint]:
    """Constraints for the bounds of variables, by identifier."""
    return [(forms.variable(identifier), values) for identifier, values in bounds.items()]


def _joined(
    one: Sequence[Constraint], other: Sequence[Constraint]
) -> tuple[Constraint, ...] | None:
    """All constraints in normal order; ``None`` if two exclude each other.

    Inserts the shorter list into the longer one, which is not scanned: chains of maps have many.
    """
    table, fewer = (list(one), other) if len(one) >= len(other) else (list(other), one)
    for form, interval in fewer:
        at = bisect_left(table, form.order, key=_order)
        if at == len(table) or table[at][0] != form:
            table.insert(at, (form, interval))
            continue
        table[at] = (form, interval.intersect(table[at][1]))
        if table[at][1].is_empty:
            return None
    return tuple(table)


def _order(constraint: Constraint) -> Key:
    return constraint[0].order


_NAME: Final = attrgetter("given_name")


def _unnamed(
    variables: Iterable[Variable], letter: str, taken: Collection[str]
) -> tuple[Variable, ...]:
    """The variables without names that they have by their positions."""
    given = tuple(variables)
    if not any(map(_NAME, given)):
        return given
    return tuple(
        variable.called("")
        if variable.given_name == name_beside(f"{letter}{at}", taken)
        else variable
        for at, variable in enumerate(given)
    )


# Bounds that are expressions over parameters: `d0 in [0, N - 1]`.
#
# A domain has numbers as bounds of its variables, and such an end as a constraint: `d0 - N in
# [-inf, -1]`. Texts show these constraints as the bounds that they are.


class Ends(NamedTuple):
    """The least and the greatest value of a variable; ``None`` is an end without bound."""

    lower: Form | None
    upper: Form | None


def ends_and_constraints(domain: Domain) -> tuple[dict[str, Ends], Domain]:
    """The ends of every variable, by identifier, and the domain without the constraints in them.

    Of several ends on one side all hold: the upper end is their minimum.

    >>> from indexing import parse_map
    >>> rows = parse_map("(d0)<N> -> (d0), domain: d0 in [0, min(N - 1, 9)], N in [1, inf]").domain
    >>> rows.constraints
    ((Form(d0 - ~N), Interval(lower=None, upper=-1)),)
    >>> ends_and_constraints(rows)[0]["d0"]
    Ends(lower=Form(0), upper=Form(min(~N - 1, 9)))
    """
    found = {
        name: [[] if end is None else [forms.constant(end)] for end in (bounds.lower, bounds.upper)]
        for name, bounds in domain.bounds.items()
    }
    for name, side, end in symbolic_ends(domain):
        found[name][side == "upper"].append(end)
    ends = {
        name: Ends(forms.maximum(lower) if lower else None, forms.minimum(upper) if upper else None)
        for name, (lower, upper) in found.items()
    }
    left = (each for each in domain.constraints if limited_variable(each) is None)
    return ends, domain.with_constraints(left)


def symbolic_ends(domain: Domain) -> Iterator[tuple[str, str, Form]]:
    """The variables, by identifier, with the side of each end that is over parameters, and it."""
    for form, interval in domain.constraints:
        limited = limited_variable((form, interval))
        if limited is not None:
            base = forms.variable(limited) - form
            for side, end in (("lower", interval.lower), ("upper", interval.upper)):
                if end is not None:
                    yield limited, side, base + end


def limited_variable(constraint: Constraint) -> str | None:
    """The variable that a constraint bounds: it plus an expression over parameters alone.

    None, if the end is a minimum or maximum that says two things, which are two constraints; or if
    there is no end.
    """
    form, interval = constraint
    names = [name for name in forms.variables_of((form,)) if name[0] != PARAMETER]
    if len(names) != 1 or form.constant or interval == Interval(None, None):
        return None
    (name,) = names
    end = forms.variable(name) - form
    is_free = not any(used == name for used in forms.variables_of((end,)))
    sides = (interval.lower, AtomKind.MAX), (interval.upper, AtomKind.MIN)
    is_split = any(len(_parts(end + by, kind)) > 1 for by, kind in sides if by is not None)
    return name if is_free and end.terms and not is_split else None


def turned_to_variable(constraint: Constraint) -> Constraint:
    """The same constraint; bounds of a variable have it with a positive sign.

    >>> d0, n = forms.variable("d0"), forms.variable("~N")
    >>> turned_to_variable((n - d0, Interval(1, None)))
    (Form(d0 - ~N), Interval(lower=None, upper=-1))
    """
    turned = -constraint[0], -constraint[1]
    is_turned = limited_variable(constraint) is None and limited_variable(turned) is not None
    return turned if is_turned else constraint


def depths_of(constraints: Iterable[Constraint]) -> Iterator[Form]:
    """Forms none of which is negative where all constraints hold."""
    for form, interval in constraints:
        yield from forms.inequalities(form, interval.ends)


def conditions_of(form: Form, interval: Interval) -> Iterator[Form]:
    """The conditions that a form lies in an interval."""
    depths = depths_of([(form, interval)])
    if interval.is_point:
        return map(forms.zero, islice(depths, 1))
    return map(forms.nonnegative, depths)


def conditions_for_values(ends: Ends) -> list[Constraint]:
    """The constraints under which there is a number between all ends.

    >>> conditions_for_values(Ends(forms.ZERO, forms.variable("~N") - 1))
    [(Form(~N), Interval(lower=1, upper=None))]
    """
    return [
        bare((greatest - least, Interval(0, None)))
        for least in _parts(ends.lower, AtomKind.MAX)
        for greatest in _parts(ends.upper, AtomKind.MIN)
    ]


def limits(form: Form, ends: Ends) -> tuple[Interval, list[Constraint]]:
    """The numbers that bound a form, and the constraints for its other ends.

    >>> d0, n = forms.variable("d0"), forms.variable("~N")
    >>> limits(d0, Ends(forms.ZERO, n - 1))
    (Interval(lower=0, upper=None), [(Form(d0 - ~N), Interval(lower=None, upper=-1))])
    """
    lowest, lower = _split(ends.lower, AtomKind.MAX)
    highest, upper = _split(ends.upper, AtomKind.MIN)
    sides = ((lower, Interval(0, None)), (upper, Interval(None, 0)))
    constraints = [bare((form - end, side)) for found, side in sides for end in found]
    numbers = Interval(max(lowest, default=None), min(highest, default=None))
    return numbers, constraints


def _split(end: Form | None, joined_by: AtomKind) -> tuple[list[int], list[Form]]:
    """The numbers that an end is made of, and the expressions."""
    parts = _parts(end, joined_by)
    numbers = [part.constant for part in parts if part.is_constant]
    return numbers, [part for part in parts if not part.is_constant]


def _parts(end: Form | None, joined_by: AtomKind) -> tuple[Form, ...]:
    """The ends of which an end is the greatest or least."""
    if end is None:
        return ()
    atom = end.only_atom
    return atom.arguments if atom is not None and atom.kind is joined_by else (end,)


def limit_texts(domain: Domain, syntax: Syntax = DOCUMENT) -> Iterator[str]:
    """The bounds of all variables, then the other constraints: ``d0 in [0, N - 1]``."""
    bounds, others = map(str, domain.bounds.values()), domain
    if domain.parameters:
        ends, others = ends_and_constraints(domain)
        bounds = (text_of_ends(domain, each, syntax) for each in ends.values())
    for name, text in zip(domain.names, bounds, strict=True):
        yield f"{name} in {text}"
    for text, (_, interval) in others.constraint_texts(syntax):
        yield f"{text} in {interval}"


def text_of_ends(domain: Domain, ends: Ends, syntax: Syntax = DOCUMENT) -> str:
    """``[0, N - 1]``, in the reader's names."""
    lower = "-inf" if ends.lower is None else domain.text_of(ends.lower, syntax)
    upper = "inf" if ends.upper is None else domain.text_of(ends.upper, syntax)
    return f"[{lower}, {upper}]"
