"""What XLA's tests ask of maps, expressions and intervals: steps to others, and values."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final

from indexing import IndexingMap, VariableKind, compose, from_affine_map, parse_map
from simplifier import Interval, Mod, bounds_of, parse_expr, simplify, symbol
from simplifier.bounds.interval import Undecided
from tests.conformance import Row
from tests.xla.facts import Answer, Outcome, Verdict, ends, of_expression, of_map, verdict_on_map


def given(row: Row) -> IndexingMap:
    """The map that the row asks about: one text, or a consumer and a producer to compose."""
    made = row["input"]
    if isinstance(made, str):
        return parse_map(made)
    return compose(*map(parse_map, made)) if len(made) > 1 else parse_map(made[0])


STEPS: Final[dict[str, Callable[[IndexingMap, Row], IndexingMap]]] = {
    "compose": lambda made, _: made,
    "convert_range_variables_to_dimensions": lambda made, row: made.ranges_to_dims(row["indices"]),
    "convert_symbols_to_dimensions": lambda made, _: made.symbols_to_dims(),
    "remove_unused_symbols": lambda made, _: made.without_unused_symbols(),
    "remove_unused_vars": lambda made, _: made.without_unused_variables(),
    "rescale_symbols": lambda made, _: made.rescale_symbols(),
    "simplify": lambda made, row: made.simplify(
        preserve_ranges=True, preserve_size_one=row.get("mode") == "preserve"
    ),
}
"""What the field ``op`` of a row lists, one after the other. As in XLA, all ranges stay."""


def after_steps(row: Row) -> Outcome:
    made = given(row)
    for step in row.get("op", "simplify").split(", "):
        made = STEPS[step](made, row)
    return of_map(made, row)


def read_and_printed(row: Row) -> object:
    made = parse_map(row["text"])
    return str(made) if made.is_undefined else of_map(made, row)


def unused_variables(row: Row) -> list[bool]:
    made = _any_map(row)
    unused = made.unused_variables()
    roles = enumerate(made.domain.roles)
    return [place in unused[role] for role, names in roles for place in range(len(names))]


def changes_once(row: Row) -> list[bool]:
    before = given(row)
    once = before.simplify()
    return [once != before, parse_map(str(once)).simplify() != once]


def distinct_maps(row: Row) -> int:
    made = [_any_map({"input": text}) for text in row["input"]]
    assert all((a == b) is (hash(a) == hash(b)) is not (a != b) for a in made for b in made)
    return len(set(made))


def _any_map(row: Row) -> IndexingMap:
    text: str = row["input"]
    return parse_map(text) if "domain" in text else without_domain(text)


def without_domain(text: str) -> IndexingMap:
    """A map whose text tells no domain, with the same bounds for all of its variables."""
    names = re.findall(r"\w+", text.partition(" -> ")[0])
    domain = ", ".join(f"{name} in [0, 9]" for name in names)
    return parse_map(f"{text}, domain: {domain}" if names else text)


def _without_domain(made: IndexingMap, row: Row) -> Outcome:
    expected: str = row["expected"]
    verdict = verdict_on_map(made, str(without_domain(expected)))
    return Outcome(verdict, str(made).partition(", domain")[0], expected)


def _affine(made: IndexingMap, row: Row) -> Outcome:
    texts = (each.to_affine_map() for each in (made, from_affine_map(row["expected"])))
    ours, theirs = (text.removeprefix("affine_map<").removesuffix(">") for text in texts)
    return Outcome(Verdict.SAME if ours == theirs else Verdict.WRONG, ours, row["expected"])


def substituted(row: Row) -> Outcome:
    """Expressions for variables, all at once; ``new`` declares those of the answer."""
    values = {symbol(name): parse_expr(text) for name, text in row["values"].items()}
    declared = without_domain(row.get("new", row["input"]))
    results = [result.xreplace(values) for result in _any_map(row).results]
    return _without_domain(IndexingMap(results, declared.dims, declared.ranges), row)


def constant_results(row: Row) -> list[int] | None:
    results = _any_map(row).results
    return [*map(int, results)] if all(result.is_Integer for result in results) else None


def is_identity(row: Row) -> bool:
    made = _any_map(row)
    return list(made.results) == [*map(parse_expr, made.domain.names[: len(made.dims)])]


def read_expression(row: Row) -> Outcome:
    """An expression, read and printed; or simplified as well."""
    made = parse_expr(row["text"])
    return of_expression(simplify(made, {}) if "after" in row else made, row)


def evaluated(row: Row) -> int | None:
    """The value of an expression; none if a variable has none."""
    values = {symbol(name): value for name, value in row["values"].items()}
    value = parse_expr(row["text"]).subs(values)
    return int(value) if value.is_Integer else None


def bounds(row: Row) -> Interval:
    return bounds_of(parse_expr(row["text"]), row["bounds"])


COMPARISONS: Final[dict[str, Callable[[Interval, Interval], object]]] = {
    **{name: getattr(operator, name) for name in ("ge", "gt", "le", "lt")},
    "eq": Interval.eq,
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
    "affine_map": lambda row: _affine(from_affine_map(row["text"]), row),
    # The first map after the second.
    "affine_map_after": lambda row: _affine(
        compose(*map(from_affine_map, row["input"][::-1])), row),
    "changes once": changes_once,
    "constant results": constant_results,
    "contains": lambda row: given(row).contains(row["dims"], row["ranges"]),
    # A map with one result and variables of some sizes.
    "dims of a result": lambda row: str(IndexingMap.from_sizes(
        [parse_expr(row["text"])], dims=row["sizes"], ranges=row.get("ranges", ()))),
    "distinct maps": distinct_maps,
    # At a point inside of the domain or not.
    "evaluate": lambda row: list(_any_map(row).evaluate(row["dims"], row.get("ranges", ()))),
    "identity": lambda row: _without_domain(IndexingMap.identity([10] * row["rank"]), row),
    "indexing_map_error": lambda row: str(parse_map(row["text"])),
    "indexing_map_round_trip": read_and_printed,
    "is identity": is_identity,
    "is undefined": lambda row: parse_map(row["text"]).is_undefined,
    "map": after_steps,
    "result bounds": lambda row: [*map(ends, given(row).result_bounds())],
    "result count": lambda row: len(
        (_any_map(row) if isinstance(row["input"], str) else given(row)).results),
    "results": lambda row: _without_domain(_any_map(row).select_results(row["indices"]), row),
    "substitute": substituted,
    "symbolic_map_error": lambda row: str(from_affine_map(row["text"])),
    "unused variables": unused_variables,
    "variable kinds": lambda row: [VariableKind(name).value for name in row["names"]],
    "without unused": lambda row: _without_domain(_any_map(row).without_unused_variables(), row),
    "bounds": lambda row: ends(bounds(row)),
    "distinct expressions": lambda row: len({*map(parse_expr, row["texts"])}),
    "evaluate expression": evaluated,
    "interval": interval,
    "is multiple": lambda row: bool(
        simplify(Mod(parse_expr(row["text"]), row["number"]), {}).is_zero),
    "never negative": lambda row: Interval(0, None).contains(bounds(row)),
    # Others for some of its parts, all at once.
    "replace": lambda row: of_expression(parse_expr(row["text"]).xreplace(
        {parse_expr(old): parse_expr(new) for old, new in row["values"].items()}), row),
    "symbolic_expr": read_expression,
}  # fmt: skip
