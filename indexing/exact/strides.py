"""Steps of each result of a map with each variable: strides, contiguous runs, alignment.

A *step* of a variable leads from one point of the domain to the point where the variable is greater
by one and all others are the same. All answers are exact over all steps of the domain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import gcd
from typing import Final, Generic, TypeVar

from indexing.domain import substituted_constraints
from indexing.exact import few_points
from indexing.exact.isl import check_quasi_affine
from indexing.exact.questions import ExactRelation
from indexing.relation import check_without_parameters
from indexing.simplify import result_bounds, scope_with_facts, simplified_in
from simplifier import forms
from simplifier.exact import Budget, NotQuasiAffineError, exact_range
from simplifier.forms import VARIABLE, Form, Interval, simplified

T = TypeVar("T")

MAX_DIFFERENCES: Final = 16
"""Of more different changes of a result, none is looked at as the stride within runs."""

_MAX_LISTED: Final = 1 << 14
"""Points of a domain that are gone through faster than isl answers."""


@dataclass(frozen=True, slots=True)
class ByVariable(Mapping[str, T], Generic[T]):
    """Something for each variable of a map, by its name, in order of declaration.

    >>> print(ByVariable(("d0", "s0"), (8, 1)))
    d0: 8, s0: 1
    """

    names: tuple[str, ...]
    items_in_order: tuple[T, ...]

    def __getitem__(self, name: str) -> T:
        return dict(zip(self.names, self.items_in_order, strict=True))[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        return ", ".join(f"{name}: {item}" for name, item in self.items())


@dataclass(frozen=True, slots=True)
class Stride:
    """Change of a result with each step of a variable.

    Attributes:
        value: the change, the same at every step within the runs; ``None`` if there are no runs of
            two elements or more, or more than 16 different changes. Without steps, 0.
        run: the variable's values in a run; ``None`` if all of them are one. Of the two runs beside
            a single break the longer one counts.
        start: a run begins at each value that leaves this remainder by ``run``.
        differences: the least interval that holds the changes at all steps, also from run to run.

    >>> from indexing import parse_map
    >>> digits = parse_map("(d0) -> (d0 * 4, d0 mod 8), domain: d0 in [0, 63]")
    >>> for stride in digits.strides():
    ...     print(stride)
    d0: 4
    d0: 1 in runs of 8
    """

    value: int | None
    run: int | None
    start: int
    differences: Interval

    def __str__(self) -> str:
        if self.value is None:
            return f"varies in {self.differences}"
        if self.run is None:
            return str(self.value)
        return f"{self.value} in runs of {self.run}" + (f" from {self.start}" if self.start else "")


@dataclass(frozen=True, slots=True)
class Contiguity:
    """Runs of one result along groups of neighbouring values of a variable, for vector loads.

    Groups are counted from the variable's lower bound. A point outside the domain is not counted:
    it is masked. ``None`` is a group without end.

    Attributes:
        contiguity: the greatest size of groups within which each step adds 1.
        constancy: the greatest size of groups within which the result stays the same.
        divisibility: the greatest divisor of the result at the beginnings of all groups of the size
            ``contiguity``, which is the alignment of loads of that size; 0 if all are 0.
        bounds: the least interval that holds the result.

    >>> from indexing import parse_map
    >>> tiles = "(d0) -> ((d0 floordiv 8) * 32 + d0 mod 8), domain: d0 in [0, 63]"
    >>> print(parse_map(tiles).contiguity()[0]["d0"])
    contiguity 8, constancy 1, divisibility 32, bounds [0, 231]
    """

    contiguity: int | None
    constancy: int | None
    divisibility: int
    bounds: Interval

    def __str__(self) -> str:
        counts = ("contiguity", "constancy", "divisibility")
        shown = (f"{name} {_size_text(getattr(self, name))}" for name in counts)
        return ", ".join((*shown, f"bounds {self.bounds}"))


def _size_text(size: int | None) -> str:
    return "inf" if size is None else str(size)


def strides(relation: ExactRelation, budget: Budget) -> tuple[ByVariable[Stride], ...]:
    """The strides of each result along each variable."""
    return _of_each(relation, lambda form, name: _stride(_Changes.of(relation, form, name), budget))


def contiguity(relation: ExactRelation, budget: Budget) -> tuple[ByVariable[Contiguity], ...]:
    """The contiguity of each result along each variable."""
    return _of_each(relation, lambda form, name: _contiguity(relation, form, name, budget))


def _of_each(
    relation: ExactRelation, answer: Callable[[Form, str], T]
) -> tuple[ByVariable[T], ...]:
    """The answers for each result and each variable with a position."""
    domain = relation.domain
    names = tuple(chain(*domain.by_role(domain.names)))
    identifiers = tuple(chain(*domain.by_role(domain.identifiers)))
    return tuple(
        ByVariable(names, tuple(answer(form, name) for name in identifiers))
        for form in relation.forms
    )


# Steps: the points at which a result changes along a variable, and by how much.


@dataclass(frozen=True, slots=True)
class _Changes:
    """The change of one result at each point from which a step along a variable begins.

    It is a relation with one result. With parameters, only a change that is a constant is known.
    """

    relation: ExactRelation
    name: str

    @classmethod
    def of(cls, relation: ExactRelation, form: Form, name: str) -> _Changes:
        variable = forms.variable(name)
        following = {name: variable.plus_constant(1)}
        domain = relation.domain
        moved = substituted_constraints(domain.constraints, following)
        domain = domain.constrained([(variable, domain.bounds[name] - 1), *moved])
        (later,) = forms.substitute((form,), following)
        change = later - form
        if not domain.is_known_empty:
            change = simplified(scope_with_facts(domain), change)
        return cls(relation.derived((change,), domain), name)

    @property
    def change(self) -> Form:
        """The change of the result."""
        return self.relation.forms[0]

    @property
    def end(self) -> Form:
        """The value of the variable at the end of a step."""
        return forms.variable(self.name).plus_constant(1)

    def breaks(self, value: int) -> list[ExactRelation]:
        """The steps that change by less than a value, and by more, as far as there may be some."""
        relation, sides = self.relation, (Interval(None, value - 1), Interval(value + 1, None))
        domains = [relation.domain.constrained([(self.change, side)]) for side in sides]
        return [relation.derived((self.end,), each) for each in domains if not each.is_known_empty]


def _stride(steps: _Changes, budget: Budget) -> Stride:
    """The stride of the longest runs; of equally long ones, that of the first and least."""
    if not steps.change.is_constant:
        check_without_parameters(steps.relation, "strides")
    differences = _bounds(steps.relation, budget)
    if differences.is_empty:
        return Stride(0, None, 0, Interval(0, 0))
    if differences.is_point:
        return Stride(differences.lower, None, 0, differences)
    is_few = differences.size is not None and differences.size <= MAX_DIFFERENCES
    changes = differences if is_few else _few_values(steps.relation, budget)
    strides = (_in_runs(steps, value, differences, budget) for value in changes)
    varies = Stride(None, 1, 0, differences)
    return min((stride for stride in strides if stride.run != 1), key=_preference, default=varies)


def _preference(stride: Stride) -> tuple[int, ...]:
    """Sorts strides: long runs first, then by their start and size."""
    value = stride.value or 0
    return -(stride.run or 0), stride.start, abs(value), value


def _few_values(relation: ExactRelation, budget: Budget) -> list[int]:
    """The values of the result if they are few."""
    rows = _listed(relation)
    if rows is not None:
        found = sorted({*rows.ravel().tolist()})
        return found if len(found) <= MAX_DIFFERENCES else []
    boxes = relation.image(budget=budget).boxes or ()
    values = [each for (each,) in boxes]
    if None in (sizes := [each.size for each in values]):
        return []
    return sorted(chain(*values)) if sum(filter(None, sizes)) <= MAX_DIFFERENCES else []


def _in_runs(steps: _Changes, value: int, differences: Interval, budget: Budget) -> Stride:
    """The runs between the steps that change by another value; of size 1 if there are none."""
    breaks = steps.breaks(value)
    first = next(filter(None, (_first_value(each, budget) for each in breaks)), None)
    if first is None:
        return Stride(value, None, 0, differences)
    (end,) = first
    size = _common_divisor(breaks, end, budget)
    if not size:  # a single break: a run before it, and one behind
        ends = _bounds(steps.relation.derived((steps.end,), steps.relation.domain), budget)
        if ends.lower is None or ends.upper is None:
            return Stride(None, 1, 0, differences)
        size = max(end - ends.lower + 1, ends.upper + 1 - end)
    return Stride(value, size, end % size, differences)


# Groups.


def _contiguity(relation: ExactRelation, form: Form, name: str, budget: Budget) -> Contiguity:
    steps = _Changes.of(relation, form, name)
    bounds = relation.domain.bounds[name]
    size, same = (_group(steps, value, bounds, budget) for value in (1, 0))
    begun = relation.derived((_beginning(form, name, bounds, size),), relation.domain)
    divisor = _common_divisor([begun], 0, budget)
    values = _bounds(relation.derived((form,), relation.domain), budget)
    return Contiguity(size, same, divisor, values)


def _group(steps: _Changes, value: int, bounds: Interval, budget: Budget) -> int | None:
    """The size of groups within which each step changes by a value."""
    if steps.relation.domain.is_known_empty:
        return bounds.size
    if steps.change.is_constant and not steps.relation.domain.constraints:
        return bounds.size if steps.change.constant == value else 1
    return _common_divisor(steps.breaks(value), bounds.lower or 0, budget) or bounds.size


def _beginning(form: Form, name: str, bounds: Interval, size: int | None) -> Form:
    """The result at the beginning of a group, also where that is outside the domain."""
    place = forms.variable(name).plus_constant(-(bounds.lower or 0))
    if size == 1:
        return form
    return form - (place if size is None else place % size)


# Values of one result.


def _bounds(relation: ExactRelation, budget: Budget) -> Interval:
    """The least interval that holds all values; with parameters, one that does if it is a point."""
    (form,) = relation.forms
    if relation.domain.is_known_empty:
        return Interval(0, -1)
    if relation.parameters or (not relation.domain.constraints and form.is_affine):
        return result_bounds(relation)[0]
    rows = _listed(relation)
    if rows is not None:
        return Interval(int(rows.min()), int(rows.max())) if len(rows) else Interval(0, -1)
    return exact_range(form, relation.domain.bounds, relation.domain.constraints, budget)


def _common_divisor(relations: Sequence[ExactRelation], origin: int, budget: Budget) -> int:
    """The greatest divisor of the distances from an origin to all values; 0 if there are none."""
    divisor = 0
    for relation in relations:
        (form,) = relation.forms
        distance = form.plus_constant(-origin)
        divisor = _divisor(relation.derived((distance,), relation.domain), divisor, budget)
    return divisor


def _divisor(relation: ExactRelation, divisor: int, budget: Budget) -> int:
    """The greatest divisor of a number and all values: each value that it misses makes it less."""
    closed = _closed_divisor(relation)
    if closed is not None:
        return gcd(divisor, closed)
    check_without_parameters(relation, "strides")
    rows = _listed(relation)
    if rows is not None:
        return gcd(divisor, *rows.ravel().tolist())
    while (missed := _missed(relation, divisor, budget)) is not None:
        divisor = gcd(divisor, missed)
    return divisor


def _closed_divisor(relation: ExactRelation) -> int | None:
    """The greatest divisor of an affine result on a box that has a lowest corner."""
    domain = relation.domain
    if domain.is_known_empty:
        return 0
    if domain.constraints and not relation.parameters:
        return None
    (form,) = relation.forms
    form = simplified_in(domain.with_constraints(), form)
    lowest = form.constant
    for atom, factor in form.terms.items():
        lower = domain.bounds[atom.name].lower if atom.kind is VARIABLE else None
        if lower is None:
            return None
        lowest += lower * factor
    return gcd(lowest, *form.terms.values())


def _missed(relation: ExactRelation, divisor: int, budget: Budget) -> int | None:
    """A value that a number, which may be 0, does not divide."""
    (form,) = relation.forms
    if divisor == 1:
        return None
    if divisor:
        wrong = [(form % divisor, Interval(1, divisor - 1))]
    else:
        wrong = [(form, Interval(1, None)), (form, Interval(None, -1))]
    for limit in wrong:
        domain = relation.domain.constrained([limit])
        found = _first_value(relation.derived((form,), domain), budget)
        if found is not None:
            return found[0]
    return None


def _first_value(relation: ExactRelation, budget: Budget) -> tuple[int] | None:
    """One value of the result, if there is one."""
    if relation.domain.is_known_empty:
        return None
    check_without_parameters(relation, "strides")
    rows = _listed(relation)
    if rows is not None:
        return (int(rows[0, 0]),) if len(rows) else None
    found = relation.sample(budget=budget)
    return None if found is None else (found[3][0],)


def _listed(relation: ExactRelation) -> few_points.Rows | None:
    """All values where there are few points, or where isl cannot tell them."""
    if few_points.has_few_points(relation, _MAX_LISTED) or not _is_quasi_affine(relation):
        return few_points.elements(relation, relation.forms)
    return None


def _is_quasi_affine(relation: ExactRelation) -> bool:
    try:
        check_quasi_affine(relation.domain, relation.forms)
    except NotQuasiAffineError:
        return False
    return True
