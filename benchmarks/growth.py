"""How time grows with the number of terms of a sum and the depth of a chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from benchmarks import ours
from benchmarks.clock import timed_without_collections
from benchmarks.plot import Line, log_log
from simplifier.bounds.interval import Interval
from simplifier.canonical.scope import scope_of
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import Form
from simplifier.fixpoint import simplified

Family: TypeAlias = "Callable[[int], Form]"


SIZES: Final = (10, 30, 100, 300, 1000, 3000, 10_000)
MAX_REPEATED: Final = 300
"""Larger expressions are timed once."""

BOUNDS: Final = Interval(0, 999)
"""The bounds of every variable."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Seconds of processor time by size, for one family of expressions."""

    name: str
    seconds: Mapping[int, float]


def report(largest: int, folder: Path | None) -> dict[str, object]:
    """Print the tables, draw the plots if there is a folder for them, and return the numbers."""
    sizes = [size for size in SIZES if size <= largest]
    numbers: dict[str, object] = {}
    for plot in PLOTS:
        found = [Growth(name, measured(family, sizes)) for name, family in plot.families.items()]
        _print_table(plot, found, sizes)
        numbers[plot.file] = {growth.name: dict(growth.seconds) for growth in found}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            lines = [Line(growth.name, list(growth.seconds.items())) for growth in found]
            (folder / plot.file).write_text(log_log(plot.title, plot.across, lines), "utf-8")
    return numbers


def measured(family: Family, sizes: Sequence[int]) -> dict[int, float]:
    """The cold times of the members of a family; building the expressions does not count."""
    times: dict[int, float] = {}
    for size in sizes:
        form = family(size)
        runs = 3 if size <= MAX_REPEATED else 1
        times[size] = min(_seconds(form) for _ in range(runs))
    return times


def _seconds(form: Form) -> float:
    bounds = tuple((name, BOUNDS) for name in sorted(forms.variables_of((form,))))
    ours.forget()
    return timed_without_collections(lambda: simplified(scope_of(bounds), form))[1]


def _print_table(plot: Plot, found: Sequence[Growth], sizes: Sequence[int]) -> None:
    print(f"\n{plot.title}: microseconds {plot.unit}\n")
    print(f"{'':44}" + "".join(f"{size:>9}" for size in sizes))
    for growth in found:
        each = "".join(f"{growth.seconds[size] / size * 1e6:9.1f}" for size in sizes)
        print(f"{growth.name:44}{each}")


# Families of expressions, by size.


def _variables(count: int) -> list[Form]:
    return [forms.variable(f"x{place}") for place in range(count)]


def _sum(terms: list[Form]) -> Form:
    return forms.collected(0, {atom: k for term in terms for atom, k in term.terms.items()})


def _products(count: int) -> Form:
    return _sum([x.times(3 + place % 7) for place, x in enumerate(_variables(count))])


def _quotients(count: int) -> Form:
    return _sum([operations.floordiv(x, forms.constant(7)) for x in _variables(count)])


def _remainders(count: int) -> Form:
    """Every variable occurs as quotient and remainder, so each pair combines."""
    eight = forms.constant(8)
    total: list[Form] = []
    for x in _variables(count):
        total += [operations.floordiv(x, eight).times(8), operations.mod(x, eight)]
    return _sum(total)


def _divided_sum(count: int) -> Form:
    return operations.floordiv(
        _sum([x.times(8 + place % 5) for place, x in enumerate(_variables(count))]),
        forms.constant(24),
    )


def _nested_quotients(depth: int) -> Form:
    form = forms.variable("x0")
    for _ in range(depth):
        form = operations.floordiv(form.plus_constant(1), forms.constant(2))
    return form


def _reshapes(depth: int) -> Form:
    """An index that is split and joined repeatedly, by alternating divisors."""
    form = forms.variable("x0")
    for level in range(depth):
        divisor = forms.constant((3, 8, 35)[level % 3])
        quotient, rest = operations.floordiv(form, divisor), operations.mod(form, divisor)
        form = quotient.times(divisor.constant).plus(rest)
    return form


def _clamps(depth: int) -> Form:
    form = forms.variable("x0")
    for level in range(depth):
        moved = form.plus(forms.variable("x1"), 1 if level % 2 else -1)
        form = operations.minimum((operations.maximum((moved, forms.ZERO)), forms.constant(500)))
    return form


def _mixed(depth: int) -> Form:
    form = forms.variable("x0")
    for level in range(depth):
        moved = form.times(3).plus(forms.variable("x1")).plus_constant(level % 5)
        form = operations.mod(moved, forms.constant(96 + level % 7))
    return form


@dataclass(frozen=True, slots=True)
class Plot:
    """Families that grow alike, and their picture."""

    file: str
    title: str
    across: str
    unit: str
    families: Mapping[str, Family]


PLOTS: Final = (
    Plot(
        "simplify-terms.svg",
        "Time to simplify a sum",
        "terms",
        "a term",
        {
            "x*3 + y*4 + ...": _products,
            "x//7 + y//7 + ...": _quotients,
            "x//8*8 + x%8 + y//8*8 + y%8 + ...": _remainders,
            "(x*8 + y*9 + ...)//24": _divided_sum,
        },
    ),
    Plot(
        "simplify-depth.svg",
        "Time to simplify a nest",
        "levels",
        "a level",
        {
            "((x + 1)//2 + 1)//2 ...": _nested_quotients,
            "e//3*3 + e%3, then 8, 35, 3 ...": _reshapes,
            "min(max(e + y, 0), 500) ...": _clamps,
            "(e*3 + y + 1)%96 ...": _mixed,
        },
    ),
)
