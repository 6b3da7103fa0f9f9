"""Shrinks a failing case: a greedy search over smaller parts and smaller numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Final, Protocol, Self, TypeVar

from benchmarks.problems import Ends
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form

SECONDS: Final = 30.0
"""The most seconds to shrink one case."""

_MAX_DEPTH: Final = 20
"""Parts that are nested deeper are not shrunk in place, only extracted or removed."""


class AnyCase(Protocol):
    """What can be made smaller."""

    @property
    def row(self) -> str:
        """The arguments of a row of a table of tests."""
        ...

    def without_idle_variables(self) -> Self:
        """The case without what it does not need."""
        ...

    def neighbours(self) -> Iterator[Self]:
        """Cases with a part left out or smaller."""
        ...


CaseT = TypeVar("CaseT", bound=AnyCase)


def shrunk(case: CaseT, is_faulty: Callable[[CaseT], bool]) -> CaseT:
    """A failing case without a smaller failing neighbour, or the best one found within the time."""
    end = monotonic() + SECONDS
    while monotonic() < end:
        weight = _weight(case)
        smaller = (near.without_idle_variables() for near in case.neighbours())
        better = (near for near in smaller if monotonic() > end or _weight(near) < weight)
        found = next((near for near in better if monotonic() > end or is_faulty(near)), None)
        if found is None or monotonic() > end:
            break
        case = found
    return case


def _weight(case: AnyCase) -> tuple[int, int, str]:
    """Orders cases: shorter text, smaller numbers, earlier letters; bounds before no bounds."""
    row = case.row
    return len(row) + 9 * row.count("None"), sum(map(int, re.findall(r"\d{1,100}", row))), row


def closer(ends: Ends) -> Iterator[Ends]:
    """Ends nearer to zero and to each other."""
    lower, upper = ends
    for less in _nearer(lower):
        if upper is None or less <= upper:
            yield less, upper
    for less in _nearer(upper):
        if lower is None or less >= lower:
            yield lower, less
    if lower is not None and upper is not None and lower:
        yield 0, upper - lower


def _nearer(number: int | None) -> Iterator[int]:
    """Numbers closer to zero, the closest first; any number in place of ``None``."""
    if number is None:
        yield from (0, 1, -1, 7, -7, 100)
        return
    for other in (0, 1, 2, number // 10, number // 2, number - 1, -number, number + 1):
        if (abs(other), other < 0) < (abs(number), number < 0):
            yield other


def smaller(form: Form, depth: int = 0) -> Iterator[Form]:
    """The parts of this form, and this form with a part left out or smaller."""
    for atom in form.terms:
        yield from atom.arguments
    for atom in form.terms:
        yield form.without(atom)
    if form.constant:
        yield from (Form(number, form.terms) for number in _nearer(form.constant))
    for atom, factor in form.terms.items():
        rest = form.without(atom)
        for number in _nearer(factor):
            yield rest.plus_atom(atom, number)
        if depth < _MAX_DEPTH:
            for other in _smaller_atoms(atom, depth):
                yield rest.plus(other, factor)


def _smaller_atoms(atom: forms.Atom, depth: int) -> Iterator[Form]:
    arguments = atom.arguments
    yield from arguments
    for place, argument in enumerate(arguments):
        for other in smaller(argument, depth + 1):
            changed = (*arguments[:place], other, *arguments[place + 1 :])
            yield operations.build(atom.kind, changed)
        others = arguments[:place] + arguments[place + 1 :]
        if atom.kind in _ANY_NUMBER and len(others) > 1:
            yield operations.build(atom.kind, others)


_ANY_NUMBER: Final = frozenset({forms.AtomKind.MIN, forms.AtomKind.MAX, forms.AtomKind.PRODUCT})
