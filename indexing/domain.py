"""Where a map is defined: the variables by role, their bounds, and constraints between them.

Inside a map every variable goes by its place, ``d0 d1 ... s0 s1 ... rt0 ...``, whatever its
name; names come in when somebody looks. So maps that differ in names alone are the same problem
to the simplifier.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from indexing.errors import MapError
from indexing.variable import Variable
from simplifier import Interval
from simplifier.errors import listed, quoted
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Kind
from simplifier.expr.printer import DOCUMENT, format_form

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from simplifier.expr.form import Atom, Form, Key
    from simplifier.expr.printer import Spelling

Constraint: TypeAlias = "tuple[Form, Interval]"
"""A form whose values must lie in an interval."""

T = TypeVar("T")
ByRole: TypeAlias = tuple[tuple[T, ...], tuple[T, ...], tuple[T, ...]]
"""Something for each dimension, for each range, and for each runtime variable."""

LETTERS: Final = ("d", "s", "rt")
"""What the names of dimensions, ranges and runtime variables begin with."""

ROLES: Final = ("dims", "ranges", "runtime")
"""What the variables of each role are together."""

NO_VALUES: Final = Interval(0, -1)


@dataclass(frozen=True)
class Domain:
    """Variables with bounds, and constraints in normal order.

    A domain without points that is seen to have none is stored in one way: every bound ``[0, -1]``,
    no constraints.
    """

    dims: tuple[Variable, ...]
    ranges: tuple[Variable, ...] = ()
    runtime: tuple[Variable, ...] = ()
    constraints: tuple[Constraint, ...] = ()

    @classmethod
    def of(
        cls,
        dims: Iterable[Variable],
        ranges: Iterable[Variable] = (),
        runtime: Iterable[Variable] = (),
        constraints: Iterable[Constraint] = (),
    ) -> Domain:
        """The domain of the variables, constrained as by :meth:`constrained`."""
        plain = cls(_unnamed(dims, "d"), _unnamed(ranges, "s"), _unnamed(runtime, "rt"))
        return plain.constrained(constraints) if constraints or plain.is_known_empty else plain

    def __reduce__(self) -> tuple[type[Domain], tuple[object, ...]]:
        """What was found out about the domain can be found out again."""
        return Domain, (self.dims, self.ranges, self.runtime, self.constraints)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """What the variables are called inside, in order of declaration."""
        return _places(len(self.dims), len(self.ranges), len(self.runtime))

    @property
    def roles(self) -> ByRole[Variable]:
        """Dimensions, ranges and runtime variables."""
        return self.dims, self.ranges, self.runtime

    def by_role(self, values: Iterable[T]) -> ByRole[T]:
        """Values for all variables, in order of declaration, parted as :attr:`roles` is."""
        values = tuple(values)
        first = len(self.dims)
        second = first + len(self.ranges)
        return values[:first], values[first:second], values[second:]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables in order of declaration."""
        return (*self.dims, *self.ranges, *self.runtime)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What a reader calls the variables, in order of declaration."""
        return tuple(
            variable.name or place
            for variable, place in zip(self.variables, self.places, strict=True)
        )

    @cached_property
    def bounds(self) -> dict[str, Interval]:
        """Bounds of every variable, by place."""
        return {
            place: variable.bounds
            for place, variable in zip(self.places, self.variables, strict=True)
        }

    @cached_property
    def is_known_empty(self) -> bool:
        """Whether some variable has no value; an empty domain may fail to be known as one."""
        return (
            any(variable.bounds.is_empty for variable in self.variables) or self._is_contradiction
        )

    @property
    def _is_contradiction(self) -> bool:
        return self.constraints == _CONTRADICTION

    def constrained(self, constraints: Iterable[Constraint]) -> Domain:
        """The domain with more constraints.

        Bounds take what is said of one variable, constants are decided, repeated
        expressions are joined.
        """
        if self.is_known_empty:
            return self.emptied()
        bounds: dict[str, Interval] = {}
        table: dict[Form, Interval] = {}
        for form, interval in constraints:
            place = form.single_variable()
            if place is not None:
                known = bounds.get(place) or self.bounds[place]
                if not interval.contains(known):
                    bounds[place] = known.intersect(interval)
            elif not form.is_constant:
                table[form] = table[form].intersect(interval) if form in table else interval
            elif form.constant not in interval:
                return self.emptied()
        both = _joined(self.constraints, sorted(table.items(), key=_order))
        if both is None or any(left.is_empty for left in (*bounds.values(), *table.values())):
            return self.emptied()
        return self._with(bounds, both)

    def constraints_among(self, places: Collection[str]) -> tuple[Constraint, ...]:
        """The constraints on these variables alone."""
        among = frozenset(places).issuperset
        return tuple(pair for pair in self.constraints if among(forms.variables_of((pair[0],))))

    def with_constraints(self, constraints: Iterable[Constraint] = ()) -> Domain:
        """The same variables with these constraints, which are in normal order, and no others."""
        return Domain(self.dims, self.ranges, self.runtime, tuple(constraints))

    def with_named(self, constraints: Sequence[Constraint]) -> Domain:
        """The domain with more constraints, in the reader's names.

        Raises:
            MapError: a name is not declared.
        """
        placed = self.placed([form for form, _ in constraints], "constraint")
        intervals = (interval for _, interval in constraints)
        return self.constrained(zip(placed, intervals, strict=True))

    def emptied(self) -> Domain:
        """The domain of the same variables that holds no point."""
        return self._with(
            dict.fromkeys(self.places, NO_VALUES), () if self.places else _CONTRADICTION
        )

    def _with(self, bounds: Mapping[str, Interval], constraints: tuple[Constraint, ...]) -> Domain:
        if not bounds:
            return self.with_constraints(constraints)
        within = (
            variable.within(bounds[place]) if place in bounds else variable
            for place, variable in zip(self.places, self.variables, strict=True)
        )
        return Domain(*self.by_role(within), constraints)

    def named(self, form: Form) -> Form:
        """The form in the names that a reader knows."""
        return operations.substitute((form,), self._renaming)[0] if self._renaming else form

    @cached_property
    def _renaming(self) -> dict[str, Form]:
        pairs = zip(self.places, self.names, strict=True)
        return {place: forms.variable(name) for place, name in pairs if place != name}

    @cached_property
    def by_name(self) -> dict[str, Form]:
        """For every name that a reader uses, the variable as it is called inside."""
        return {
            name: forms.variable(place) for place, name in zip(self.places, self.names, strict=True)
        }

    def text_of(self, form: Form, spelling: Spelling = DOCUMENT) -> str:
        """The form's text in the reader's names."""
        return format_form(self.named(form), self.names, spelling)

    def constraint_texts(self, spelling: Spelling = DOCUMENT) -> list[tuple[str, Constraint]]:
        """The constraints with their texts, sorted as texts as XLA sorts them."""
        rows = (
            (self.text_of(form, spelling), (form, interval)) for form, interval in self.constraints
        )
        return sorted(rows, key=lambda row: f"{row[0]} in {row[1][1]}")

    def limits(self) -> Iterator[Constraint]:
        """Bounds, then constraints as sorted in the text, of forms in the reader's names."""
        for name, variable in zip(self.names, self, strict=True):
            yield forms.variable(name), variable.bounds
        for _, (form, interval) in self.constraint_texts():
            yield self.named(form), interval

    def check(self, where: str = "IndexingMap") -> None:
        """Raise :class:`MapError` for a name used twice or a constraint on an unknown variable."""
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                message = (
                    f"{where}: the name {quoted(name)} stands for two variables; "
                    "expected different names"
                )
                raise MapError(message)
            seen.add(name)
        self.check_forms([form for form, _ in self.constraints], "constraint")

    def placed(
        self, given: Sequence[Form], role: str, where: str = "IndexingMap"
    ) -> tuple[Form, ...]:
        """Forms in the reader's names by place; raises as :meth:`check_forms` does."""
        self._check(given, f"{where}: {role}", frozenset(self.names))
        return operations.substitute(given, self.by_name)

    def check_forms(self, checked: Sequence[Form], role: str) -> None:
        """Raise a :class:`MapError` if a form uses anything but places and integer arithmetic."""
        self._check(checked, f"IndexingMap: {role}", frozenset(self.places))

    def _check(self, checked: Sequence[Form], role: str, known: Collection[str]) -> None:
        for number, form in enumerate(checked):
            for atom in forms.postorder((form,)):
                if objection := self._objection(atom, known):
                    raise MapError(f"{role} {number} uses {objection}")

    def place_of(self, name: str, where: str) -> str:
        """The place of the variable that a reader calls so.

        Raises:
            MapError: there is none.
        """
        for place, known in zip(self.places, self.names, strict=True):
            if known == name:
                return place
        expected = f"expected one of its variables ({listed(self.names)})"
        raise MapError(f"{where}: the map has no {quoted(name)}; {expected}")

    def _objection(self, atom: Atom, known: Collection[str]) -> str:
        """What is wrong with an atom in a map; empty if nothing is."""
        if atom.kind is Kind.OPAQUE:
            return f"{quoted(str(atom.expression))}; expected integer arithmetic"
        if atom.kind is Kind.VARIABLE and atom.name not in known:
            return f"{quoted(atom.name)}; expected a declared variable ({listed(self.names)})"
        return ""

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)


@lru_cache
def _places(*counts: int) -> tuple[str, ...]:
    return tuple(
        f"{letter}{place}"
        for letter, count in zip(LETTERS, counts, strict=True)
        for place in range(count)
    )


# Without variables there is no bound to hold the contradiction.
_CONTRADICTION: Final[tuple[Constraint, ...]] = ((forms.ZERO, Interval(1, 1)),)


def distinctly_named(
    dims: Iterable[Variable], ranges: Iterable[Variable] = (), runtime: Iterable[Variable] = ()
) -> Domain:
    """The domain of variables from several maps: of two that have one name the first one keeps it.

    The other one is called after its place, and so is one whose name is the place of a variable
    without name.

    >>> row = Variable((0, 3), "row")
    >>> distinctly_named([row], [row, Variable((0, 3), "s0")]).names
    ('row', 's0', 's1')
    """
    domain = Domain.of(dims, ranges, runtime)
    while len(set(domain.names)) < len(domain.names):
        domain = Domain.of(*domain.by_role(_first_come(domain)))
    return domain


def _first_come(domain: Domain) -> Iterator[Variable]:
    """The variables less the names that are taken when it is their turn; places come first."""
    pairs = zip(domain.places, domain.variables, strict=True)
    taken = {place for place, variable in pairs if not variable.name}
    for variable in domain:
        yield Variable(variable.bounds) if variable.name in taken else variable
        taken.add(variable.name)


def substituted_constraints(
    constraints: Iterable[Constraint], replacements: Mapping[str, Form]
) -> list[Constraint]:
    """The constraints with a form in place of each named variable."""
    constraints = tuple(constraints)
    replaced = operations.substitute([form for form, _ in constraints], replacements)
    return [(form, interval) for form, (_, interval) in zip(replaced, constraints, strict=True)]


def _joined(
    one: Sequence[Constraint], other: Sequence[Constraint]
) -> tuple[Constraint, ...] | None:
    """All constraints in normal order; ``None`` if two exclude each other.

    The fewer ones are put among the more, which are not looked through.
    """
    table, fewer = (list(one), other) if len(one) >= len(other) else (list(other), one)
    for form, interval in fewer:
        place = bisect_left(table, form.order, key=_order)
        if place == len(table) or table[place][0] != form:
            table.insert(place, (form, interval))
            continue
        table[place] = (form, interval.intersect(table[place][1]))
        if table[place][1].is_empty:
            return None
    return tuple(table)


def _order(constraint: Constraint) -> Key:
    return constraint[0].order


_NAME: Final = attrgetter("name")


def _unnamed(variables: Iterable[Variable], letter: str) -> tuple[Variable, ...]:
    """The variables without names that say no more than their place."""
    given = tuple(variables)
    if not any(map(_NAME, given)):
        return given
    return tuple(
        Variable(variable.bounds) if variable.name == f"{letter}{place}" else variable
        for place, variable in enumerate(given)
    )
