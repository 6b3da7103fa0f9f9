"""The results of a map as sums of digits: of variables, and of sums that are split again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from indexing.tile.digit_sums import DigitSum, of_digits
from indexing.tile.linear_indices import linear_indices, radices_of_index
from indexing.tile.progressions import within_ends
from indexing.tile.radices import TileDigit, digit_of, radices_of
from indexing.tile.tile_constraints import TileConstraints
from simplifier.errors import listed
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.tools.disjoint_set import connected_components

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indexing.tile.axes import TileAxis
    from indexing.tile.progressions import Progression
    from indexing.tile.radices import Radices
    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Atom, Form


class Refusal(NamedTuple):
    """Variables of which a tile must have one value, and why."""

    names: frozenset[str]
    reason: str


@dataclass(frozen=True, slots=True)
class DigitSystem:
    """Results as sums of digits, and the numbers that these are digits of."""

    results: dict[int, DigitSum]
    indices: dict[str, DigitSum]
    """Sums that are split again, each before those whose digits it adds up."""
    radices: dict[str, Radices]
    """By the names of variables, and of ``indices``."""

    def progressions(self) -> dict[int, Progression]:
        """The tile of each result."""
        return {key: of_digits(total, self.radices) for key, total in self.results.items()}

    def told(self) -> tuple[dict[str, Form], list[Form]]:
        """The variables that positions tell, and the conditions that are left."""
        known: dict[TileDigit, Form] = {}
        for number, total in self.results.items():
            known |= total.places(self.radices, forms.variable(f"i{number}"), total.sign)
        conditions: list[Form] = []
        for name, total in self.indices.items():
            radices = self.radices[name]
            position = radices.position(known)
            known |= total.places(self.radices, position, 1)
            if radices.is_cut:
                left = (radices.axis.count - position).plus_constant(-1)
                conditions.append(operations.nonnegative(left))
        values: dict[str, Form] = {}
        for name in self.radices.keys() - self.indices.keys():
            radices = self.radices[name]
            value = radices.axis.begin + radices.position(known)
            conditions += _within(value, radices)
            if radices.is_complete:
                values[name] = value
        return values, conditions


def digits_of(
    results: Mapping[int, Form], axes: Mapping[str, TileAxis], scope: Scope, sizes: Scope
) -> DigitSystem | Refusal:
    """The results as sums of digits; ``sizes`` is what is known of tiles, ``scope`` of points.

    Or the variables that are in the way.
    """
    reading = _SumReading(axes, sizes, {**results}, {})
    while isinstance(radices := reading.radices(), Refusal):
        simpler = reading.untangled(radices.names, scope)
        if simpler is None:
            return radices
        reading = simpler
    sums = {key: reading.digit_sum(form) for key, form in reading.forms.items()}
    indices = {key: total for key, total in sums.items() if isinstance(key, str)}
    for name in reversed(indices):
        digits = [digit for digit, _ in reading.found.values() if digit.variable == name]
        is_nested = _adds_up(indices.values(), name)
        found = radices_of_index(name, indices[name], digits, radices, is_nested=is_nested)
        if found is None or _is_impossible(found, sizes):
            names = reading.used([reading.forms[name]])
            return Refusal(names, f"{reading.forms[name]} is split again")
        radices[name] = found
    of_results = {key: total for key, total in sums.items() if isinstance(key, int)}
    return DigitSystem(of_results, indices, radices)


@dataclass(frozen=True, slots=True)
class _SumReading:
    """Forms, by the numbers of results and the names of linear indices; and digits of these."""

    axes: Mapping[str, TileAxis]
    sizes: Scope
    forms: dict[int | str, Form]
    found: dict[Atom, tuple[TileDigit, bool]]
    """Atoms that are digits of indices, and whether they count down."""

    def used(self, parts: Iterable[Form]) -> frozenset[str]:
        """The variables with several values."""
        return frozenset(name for name in forms.variables_of(parts) if name in self.axes)

    def moving(self, form: Form) -> list[Atom]:
        """The terms that have several values."""
        return [atom for atom in form.terms if self.used([forms.Form(0, {atom: 1})])]

    def digit_sum(self, form: Form) -> DigitSum:
        """A form whose moving terms are digits."""
        moving = self.moving(form)
        fixed, terms = form.without(*moving), list[tuple[int, TileDigit]]()
        for atom in moving:
            factor, (digit, is_reversed) = form.terms[atom], self._digit(atom)
            if digit is not None and is_reversed:
                fixed = fixed.plus_constant(factor * ((digit.radix or 1) - 1))
            if digit is not None:
                terms.append((-factor if is_reversed else factor, digit))
        return DigitSum(fixed, tuple(sorted(terms, key=lambda term: abs(term[0]))))

    def radices(self) -> dict[str, Radices] | Refusal:
        """The digits of all variables, or variables that have none."""
        counted: Counter[TileDigit] = Counter()
        for atom in self._all_moving():
            digit, _ = self._digit(atom)
            if digit is None:
                form = forms.Form(0, {atom: 1})
                return Refusal(self.used([form]), f"{form} is no digit of a variable")
            counted[digit] += 1
        radices: dict[str, Radices] = {}
        for name in dict.fromkeys(digit.variable for digit in counted):
            if name not in self.axes:
                continue
            digits = [digit for digit in counted if digit.variable == name]
            is_alone = all(counted[digit] == 1 for digit in digits)
            each = radices_of(self.axes[name], digits) if is_alone else None
            if each is None or not self._can_be_cut(each):
                texts = sorted(
                    str(form) for form in self.forms.values() if name in self.used([form])
                )
                return Refusal(frozenset([name]), f"{listed(texts)} depend on each other")
            radices[name] = each
        return radices

    def untangled(self, names: frozenset[str], scope: Scope) -> _SumReading | None:
        """The same with linear indices for what these variables are in, if there are any."""
        atoms = [atom for atom in self._all_moving() if atom not in self.found]
        groups = connected_components(atoms, lambda atom: self.used([forms.Form(0, {atom: 1})]))
        of_forms, found = dict(self.forms), dict(self.found)
        for group in groups:
            if len(set(group)) < len(group):
                continue  # a term is there twice
            if names.isdisjoint(self.used(forms.Form(0, {atom: 1}) for atom in group)):
                continue
            for index in linear_indices(group, scope):
                parts = {part.atom for part in index.parts}
                if not (parts | found.keys()).isdisjoint(index.form.terms):
                    continue  # one of its digits is there twice
                name = f"n{len(of_forms)}"
                of_forms[name] = index.form
                for part in index.parts:
                    digit = part.digit(name, is_highest=part is index.parts[-1])
                    found[part.atom] = digit, part.is_reversed
        return replace(self, forms=of_forms, found=found) if len(found) > len(self.found) else None

    def _all_moving(self) -> list[Atom]:
        return [atom for form in self.forms.values() for atom in self.moving(form)]

    def _digit(self, atom: Atom) -> tuple[TileDigit | None, bool]:
        return self.found.get(atom) or (digit_of(atom), False)

    def _can_be_cut(self, radices: Radices) -> bool:
        """Whether some size has a box of digits, and the digits tell where the axis begins."""
        if radices.axis.is_range and _is_impossible(radices, self.sizes):
            return False
        return radices.is_complete or radices.axis.lower is None or radices.axis.is_range


def _adds_up(sums: Iterable[DigitSum], name: str) -> bool:
    """Whether digits of an axis are in some sums."""
    return any(digit.variable == name for total in sums for _, digit in total.terms)


def _is_impossible(radices: Radices, sizes: Scope) -> bool:
    """Whether no size has a box of digits."""
    return TileConstraints.of([radices.clause]).simplified(sizes).is_unsatisfiable


def _within(value: Form, radices: Radices) -> list[Form]:
    """The conditions that a value is within the ends of its axis, which digits may pass."""
    axis = radices.axis
    if radices.is_cut and axis.upper is None and axis.extent is not None:
        axis = replace(axis, upper=forms.constant(axis.origin + axis.extent - 1))
    return within_ends(value, axis)
