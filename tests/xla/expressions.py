"""What XLA's tests ask of expressions and intervals."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from simplifier import Interval, Mod, bounds_of, parse_expr, simplify, symbol
from simplifier.bounds.interval import Undecided
from tests.conformance import Row
from tests.xla.outcome import Answer, Outcome, ends, of_expression

# Expressions.


def read_and_printed(row: Row) -> Outcome:
    """An expression, read and printed; or simplified as well."""
    made = parse_expr(row["text"])
    return of_expression(simplify(made, {}) if "after" in row else made, row)


def replaced(row: Row) -> Outcome:
    """An expression with others for some of its parts, all at once."""
    values = {parse_expr(old): parse_expr(new) for old, new in row["values"].items()}
    return of_expression(parse_expr(row["text"]).xreplace(values), row)


def evaluated(row: Row) -> int | None:
    """The value of an expression; none if a variable has none."""
    values = {symbol(name): value for name, value in row["values"].items()}
    value = parse_expr(row["text"]).subs(values)
    return int(value) if value.is_Integer else None


def bounds(row: Row) -> Interval:
    return bounds_of(parse_expr(row["text"]), row["bounds"])


# Intervals.

COMPARISONS: Final[dict[str, Callable[[Interval, Interval], object]]] = {
    "eq": Interval.eq,
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "lt": operator.lt,
    "ne": Interval.ne,
}
ARITHMETIC: Final[dict[str, Callable[[Interval, Any], Interval]]] = {
    "add": operator.add,
    "floordiv": lambda a, b: a // b.lower,
    "intersect": Interval.intersect,
    "max": Interval.max,
    "min": Interval.min,
    "mul": operator.mul,
    "neg": lambda a, _: -a,
    "union": Interval.union,
}
INT64: Final = (-(1 << 63), (1 << 63) - 1)
"""XLA's ends of an interval that stand for "perhaps beyond"; ours are ``None``."""


def interval(row: Row) -> object:
    a, b = (_interval_of(row[name]) if row[name] else Interval(0, 0) for name in "ab")
    name: str = row["op"]
    if name == "loop_trip_count":
        return a.size
    if name in COMPARISONS:
        said = COMPARISONS[name](a, b)
        return None if isinstance(said, Undecided) else said
    found = ends(ARITHMETIC[name](a, b))
    return [end if known is None else known for known, end in zip(found, INT64, strict=True)]


def _interval_of(written: list[int]) -> Interval:
    lower, upper = written
    return Interval(None if lower == INT64[0] else lower, None if upper == INT64[1] else upper)


QUESTIONS: Final[dict[str, Answer]] = {
    "bounds": lambda row: ends(bounds(row)),
    "distinct expressions": lambda row: len({*map(parse_expr, row["texts"])}),
    "evaluate expression": evaluated,
    "interval": interval,
    "is multiple": lambda row: bool(
        simplify(Mod(parse_expr(row["text"]), row["number"]), {}).is_zero
    ),
    "never negative": lambda row: Interval(0, None).contains(bounds(row)),
    "replace": replaced,
    "symbolic_expr": read_and_printed,
}
