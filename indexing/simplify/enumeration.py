"""Ranges that only enumerate the values of one range become that one.

A range takes all its values, so only its use in formulas matters: they use the whole range, or
digits of it, ``(s floordiv a) mod b``. Digits at different places are independent, so each may be a
range of its own. Ranges that occur only as one sum, ``s0 * 16 + s1``, are one range if the sum has
no gaps: in order of the strides, each is at most one more than the sum that the smaller ones reach.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import gcd
from typing import Final, NamedTuple

from indexing.domain import Domain, distinctly_named
from indexing.relation import Relation, RelationT
from indexing.variable import Variable
from simplifier import forms
from simplifier.forms import FLOORDIV, VARIABLE, Atom, AtomKind, Form, Interval
from simplifier.tools.graphs import connected_components


def with_fewest_ranges(indexing_map: RelationT) -> RelationT:
    """The same relation with one range for those that only enumerate the values of one.

    There are fewer ranges then, or as many in cheaper formulas; or it is the map itself. Costs time
    in proportion to the formulas.

    >>> from indexing import parse_map
    >>> line = "(d0)[s0, s1] -> (d0, s0 * 16 + s1), "
    >>> line += "domain: d0 in [0, 7], s0 in [0, 3], s1 in [0, 15]"
    >>> print(with_fewest_ranges(parse_map(line)))
    (d0)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 63]
    """
    if not _may_have_sums_of_ranges(indexing_map):
        return indexing_map
    groups = connected_components(_enumerations(indexing_map), _Enumeration.ranges)
    found = [each for group in groups if _is_gain(group) for each in group]
    return _enumerated(indexing_map, found) if found else indexing_map


def _may_have_sums_of_ranges(indexing_map: Relation) -> bool:
    """Whether some form has an operation, or two ranges as terms: most maps are done here."""
    if not indexing_map.domain.ranges:
        return False
    for form in _formulas(indexing_map):
        ranges = 0
        for atom in form.terms:
            if atom.kind is not VARIABLE:
                return True
            ranges += atom.name[0] == "s"
        if ranges > 1:
            return True
    return False


def _formulas(indexing_map: Relation) -> Iterator[Form]:
    return chain(indexing_map.forms, (form for form, _ in indexing_map.domain.constraints))


# Digits of ranges, and the sums that they are terms of.


class _RangeDigit(NamedTuple):
    """An atom that is ``(s mod end) floordiv place``; without ``end``, all from the place up."""

    atom: Atom
    range: str
    place: int = 1
    end: int | None = None


_MAX_DEPTH_OF_DIGIT: Final = 2
"""``(s floordiv a) mod b`` is as deep as a simplified digit is."""


def _digit(atom: Atom, ranges: Collection[str]) -> _RangeDigit | None:
    """The atom as a digit of one of the ranges."""
    if atom.kind is VARIABLE:
        return _RangeDigit(atom, atom.name) if atom.name in ranges else None
    inner = _divided_atom(atom)
    whole = _digit(inner, ranges) if inner else None
    if whole is None:
        return None
    end = whole.place * atom.divisor
    if whole.end is not None and whole.end % end:
        return None
    is_high = atom.kind is FLOORDIV
    return whole._replace(atom=atom, place=end) if is_high else whole._replace(atom=atom, end=end)


def _divided_atom(atom: Atom) -> Atom | None:
    """The number that a quotient or remainder alone divides by a positive constant."""
    is_division = atom.kind is FLOORDIV or atom.kind is AtomKind.MOD
    if not is_division or atom.divisor <= 0 or atom.depth > _MAX_DEPTH_OF_DIGIT:
        return None
    return atom.numerator.only_atom


def _sums_with_digits(indexing_map: Relation) -> Mapping[_RangeDigit, Mapping[Form, int]]:
    """The sums that each digit in formulas is a term of, with its factors there."""
    ranges = _bounded_ranges(indexing_map.domain)
    found: dict[_RangeDigit, dict[Form, int]] = defaultdict(dict)
    visited = dict.fromkeys(_formulas(indexing_map))
    pending = [*visited]
    for form in pending:
        for atom, factor in form.terms.items():
            digit = _digit(atom, ranges)
            if digit is not None:
                found[digit][form] = factor
                continue
            inner = dict.fromkeys(each for each in atom.arguments if each not in visited)
            visited.update(inner)
            pending += inner
    return found


def _bounded_ranges(domain: Domain) -> frozenset[str]:
    """The identifiers of the ranges that have several values, but finitely many."""
    _, ranges, _ = domain.by_role(domain.identifiers)
    sizes = (variable.bounds.size or 0 for variable in domain.ranges)
    return frozenset(name for name, size in zip(ranges, sizes, strict=True) if size > 1)


def _independent(
    digits: Iterable[_RangeDigit], bounds: Mapping[str, Interval]
) -> Iterator[tuple[_RangeDigit, Interval]]:
    """The digits of ranges all of whose digits are independent, with their values."""
    by_range: dict[str, list[_RangeDigit]] = defaultdict(list)
    for digit in digits:
        by_range[digit.range].append(digit)
    for identifier, of_range in by_range.items():
        of_range.sort(key=lambda digit: digit.place)
        yield from zip(of_range, _values(of_range, bounds[identifier]), strict=False)


def _values(digits: Sequence[_RangeDigit], bounds: Interval) -> Sequence[Interval]:
    """The values of the digits of a range, lowest first; nothing if they depend on each other."""
    highest, size = digits[-1], bounds.size or 0
    if len(digits) == 1:
        return _values_of_one(highest, bounds)
    is_cut_off = size % highest.place if highest.end is None else size < highest.end
    if bounds.lower != 0 or is_cut_off or not all(map(_is_above, digits[1:], digits)):
        return ()
    return [Interval(0, (each.end or size) // each.place - 1) for each in digits]


def _values_of_one(digit: _RangeDigit, bounds: Interval) -> Sequence[Interval]:
    values = bounds // digit.place
    if digit.end is None:
        return (values,)
    count = digit.end // digit.place
    return (Interval(0, count - 1),) if (values.size or 0) >= count else ()


def _is_above(high: _RangeDigit, low: _RangeDigit) -> bool:
    """Whether a digit begins where another one ends, or at a multiple of that."""
    return low.end is not None and high.place % low.end == 0


# Sums without gaps.


class _Enumeration(NamedTuple):
    """A sum of digits that takes all values of an interval, which begins with its first digit.

    It goes into formulas ``stride`` times, or that often in proportion.
    """

    digits: tuple[_RangeDigit, ...]
    stride: int
    values: Interval

    def plus(self, other: _Enumeration) -> _Enumeration | None:
        """Both as one sum, if that has no gaps; the other one has the greater stride."""
        steps, rest = divmod(other.stride, self.stride)
        if rest or abs(steps) > (self.values.size or 0):
            return None
        values = self.values + other.values * steps
        return _Enumeration((*self.digits, *other.digits), self.stride, values)

    def ranges(self) -> Iterator[str]:
        """The ranges that the digits are of."""
        return (digit.range for digit in self.digits)

    @property
    def is_range(self) -> bool:
        """Whether it is just one of the ranges."""
        return len(self.digits) == 1 and self.digits[0].atom.kind is VARIABLE


def _enumerations(indexing_map: Relation) -> Iterator[_Enumeration]:
    """Uses of ranges in formulas, in sums as long as they have no gaps.

    Digits that belong together are terms of the same sums, with proportional factors.
    """
    sums = _sums_with_digits(indexing_map)
    together: dict[tuple[tuple[Form, int], ...], list[_Enumeration]] = defaultdict(list)
    for digit, values in _independent(sums, indexing_map.domain.bounds):
        factors = sums[digit]
        first = next(iter(factors.values()))
        stride = gcd(*factors.values()) * (1 if first > 0 else -1)
        proportions = tuple((form, factor // stride) for form, factor in factors.items())
        together[proportions].append(_Enumeration((digit,), stride, values))
    for terms in together.values():
        yield from _joined(sorted(terms, key=lambda term: abs(term.stride)))


def _joined(terms: Iterable[_Enumeration]) -> Iterator[_Enumeration]:
    """The terms, in order of their strides, in as few sums as go on without gaps."""
    terms = iter(terms)
    whole = next(terms)
    for term in terms:
        longer = whole.plus(term)
        if longer is None:
            yield whole
        whole = longer or term
    yield whole


def _is_gain(group: Sequence[_Enumeration]) -> bool:
    """Whether the enumerations that share ranges are fewer than these, or have less to compute."""
    ranges = {*chain.from_iterable(map(_Enumeration.ranges, group))}
    return len(group) <= len(ranges) and not all(each.is_range for each in group)


# The map in which these sums are ranges.


def _enumerated(indexing_map: RelationT, found: Sequence[_Enumeration]) -> RelationT:
    """The map with a range for each enumeration, at the place of the first range in it."""
    domain = indexing_map.domain
    dims, ranges, runtime = domain.roles
    identifiers = domain.by_role(domain.identifiers)[1]
    gone = {*chain.from_iterable(map(_Enumeration.ranges, found))}
    rows = [
        ((place, 0), variable, [_atom(identifier)])
        for place, (identifier, variable) in enumerate(zip(identifiers, ranges, strict=True))
        if identifier not in gone
    ]
    for each in found:
        order = min((identifiers.index(digit.range), -digit.place) for digit in each.digits)
        rows.append((order, Variable(each.values), [digit.atom for digit in each.digits]))
    rows.sort(key=lambda row: row[0])
    counted = [variable for _, variable, _ in rows]
    target = distinctly_named(dims, counted, runtime, domain.parameters)
    values: dict[Atom, Form] = {}
    for (_, _, (first, *others)), identifier in zip(
        rows, target.by_role(target.identifiers)[1], strict=True
    ):
        values[first] = forms.variable(identifier)
        values.update(dict.fromkeys(others, forms.ZERO))
    constraints = ((forms.replace(form, values), interval) for form, interval in domain.constraints)
    results = (forms.replace(form, values) for form in indexing_map.forms)
    return indexing_map.derived(results, target.constrained(constraints))


def _atom(identifier: str) -> Atom:
    (atom,) = forms.variable(identifier).terms
    return atom
