"""Properties of the answers to every question about a map, checked against all its points."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from itertools import islice
from math import prod
from typing import Final

import numpy as np

from benchmarks.fuzzing.map_case import Access, MapCase, Values, accesses_at, box, points_of
from benchmarks.problems import seeded
from indexing import IndexingMap, Variable, from_affine_map, from_isl, parse_map
from indexing.errors import MapError
from indexing.exact import multiplicities
from indexing.exact.inverse import solved_for_dims
from indexing.transform.evaluate import Point
from simplifier import symbol
from simplifier.bounds.interval import Interval
from simplifier.exact import BudgetError, NotQuasiAffineError
from tests.evaluation import values_of

MAX_ROWS: Final = 1 << 18
"""An inverse with more points than this is not looked at."""


def _said(got: object, expected: object, what: str) -> str | None:
    """The message that an answer differs from the truth."""
    if got == expected:
        return None
    if isinstance(got, set) and isinstance(expected, set):
        lost, more = (sorted(map(str, each))[:2] for each in (expected - got, got - expected))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - sets of anything
        return f"{what}: lost {lost}, more {more}"
    return f"{what} is {got}, not {expected}"


def _first(said: Iterable[str | None]) -> str | None:
    return next(filter(None, said), None)


def _accesses(indexing_map: IndexingMap) -> set[Access]:
    return accesses_at(indexing_map, points_of(indexing_map))


def _pairs(accesses: Iterable[Access]) -> set[tuple[Values, Values]]:
    return {(dims, results) for dims, _, results in accesses}


# The same relation.


def _simplify(case: MapCase) -> str | None:
    simplest = case.map.simplify()
    again = IndexingMap.from_forms(simplest.forms, simplest.domain).simplify()
    return _same(case, simplest, "simplified") or _said(again, simplest, "simplified again it")


def _simplify_exactly(case: MapCase) -> str | None:
    return _same(case, case.map.simplify(exact=True), "simplified exactly")


def _same(case: MapCase, other: IndexingMap, what: str) -> str | None:
    """Whether a map with the same variables of each role relates the same elements."""
    return _said(_accesses(other), case.accesses, f"{what}, {other},")


def _variables(case: MapCase) -> str | None:
    """Methods that change variables, and keep pairs of elements."""
    given = case.map
    moved = given.symbols_to_dims()
    same = {
        "rescaled": given.rescale_symbols(),
        "without unused symbols": given.without_unused_symbols(),
        "renamed": given.rename({name: f"v_{name}" for name in given.domain.names}),
        "of moved symbols": _restored(moved, given),
    }
    wrong = (
        _said(_pairs(_accesses(other)), _pairs(case.accesses), f"{what}, {other},")
        for what, other in same.items()
    )
    left = given.without_unused_variables()
    kept = [at for at in range(len(given.dims)) if at not in given.unused_variables()[0]]
    expected = {
        (tuple(dims[at] for at in kept), results) for dims, results in _pairs(case.accesses)
    }
    return _first(wrong) or _said(_pairs(_accesses(left)), expected, f"without unused, {left},")


def _restored(moved: IndexingMap, given: IndexingMap) -> IndexingMap:
    """A map whose symbols are dimensions, with these as ranges again."""
    first, domain = len(given.dims), moved.domain
    roles = domain.variables[:first], domain.variables[first:]
    names = (*(f"d{n}" for n in range(first)), *(f"s{n}" for n in range(len(roles[1]))))
    new = dict(zip(map(symbol, domain.identifiers), map(symbol, names), strict=True))
    results = [result.xreplace(new) for result in moved.results]
    limits = [(form.xreplace(new), ends) for form, ends in moved.constraints]
    return IndexingMap(results, *roles, constraints=limits)


def _results(case: MapCase) -> str | None:
    """Selected, repeated and joined results."""
    given, count = case.map, len(case.map.forms)
    order = [*range(count)][::-1] + [0] * (count > 0)
    expected = {
        (dims, runtime, tuple(results[at] for at in order))
        for dims, runtime, results in case.accesses
    }
    chosen = given.select_results(order)
    return _said(_accesses(chosen), expected, f"selected, {chosen},")


# Two maps.


def _compose(case: MapCase) -> str | None:
    producer = _producer(case)
    by_dims: dict[Values, set[Values]] = {}
    for dims, results in _pairs(_accesses(producer)):
        by_dims.setdefault(dims, set()).add(results)
    expected = {
        (dims, far) for dims, near in _pairs(case.accesses) for far in by_dims.get(near, ())
    }
    composed = case.map.compose(producer)
    return _first(
        _said(_pairs(_accesses(each)), expected, f"before {producer}, {each},")
        for each in (composed, composed.simplify())
    )


def _producer(case: MapCase) -> IndexingMap:
    """Some map from the results' tensor, which leaves some of its elements out."""
    random = seeded(case.row)
    names = [f"d{number}" for number in range(len(case.map.forms))]
    spare = [Interval(0, random.randint(0, 2)) for _ in range(random.randint(0, 1))]
    summed = (*names, *["s0"][: len(spare)])
    total = sum(random.choice((1, 2, -3, 8)) * symbol(name) for name in summed)
    bounds = [_cut(random.randint(0, 2), each) for each in case.map.result_bounds()]
    return IndexingMap(
        [total + 0, *(symbol(name) for name in names[:1])],
        [Variable(each) for each in bounds],
        [Variable(each) for each in spare],
    )


def _cut(less: int, interval: Interval) -> Interval:
    lower, upper = interval.lower, interval.upper
    if lower is None or upper is None or upper - lower < less:
        return interval
    return Interval(lower + less, min(upper, lower + 40))


def _inverse(case: MapCase) -> str | None:
    inverse = case.map.inverse()
    return _reads_backwards(case, inverse, f"the inverse, {inverse},")


def _solved(case: MapCase) -> str | None:
    """The step of the inverse between the simplifications."""
    if not case.accesses:
        return None
    solved = solved_for_dims(case.map, case.map.forms)
    return _reads_backwards(case, solved, "solved for the dimensions")


def _reads_backwards(case: MapCase, inverse: IndexingMap, what: str) -> str | None:
    """Whether a map relates results to dimensions, at all results and some neighbours of them."""
    is_whole = len(inverse.runtime) == len(case.map.runtime)
    expected = {
        (results, runtime if is_whole else (), dims) for dims, runtime, results in case.accesses
    }
    if inverse.is_known_empty or not inverse.domain.identifiers:
        return _said(_accesses(inverse), expected, what)
    starts = {(results, runtime) for results, runtime, _ in expected}
    near = {
        ((*results[:at], results[at] + step, *results[at + 1 :]), runtime)
        for results, runtime in islice(sorted(starts), 12)
        for at in range(len(results))
        for step in (-1, 1)
    }
    free = [variable.bounds.size for variable in inverse.ranges]
    if None in free:
        return f"{what} has ranges without bounds"
    if prod(filter(None, free)) * len(starts | near) > MAX_ROWS:
        return None
    rows = _rows_of_inverse(inverse, sorted(starts | near))
    got = accesses_at(inverse, points_of(inverse, rows))
    return _said({(results, runtime, dims) for results, runtime, dims in got}, expected, what)


def _rows_of_inverse(inverse: IndexingMap, starts: Iterable[tuple[Values, Values]]) -> list[Values]:
    """The points of an inverse at some of its dimensions and runtime values."""
    dims, ranges, runtime = inverse.domain.roles
    free = box(variable.bounds for variable in ranges)
    bounds = [variable.bounds for variable in (*dims, *runtime)]
    inside = [
        (start, known)
        for start, known in starts
        if all(value in ends for value, ends in zip((*start, *known), bounds, strict=True))
    ]
    return [(*start, *values, *known) for start, known in inside for values in free]


# Values.


def _values(case: MapCase) -> str | None:
    """One point at a time, all points, and arrays of them."""
    given, domain = case.map, case.map.domain
    rows = list(zip(*(column.tolist() for column in case.points.values()), strict=True))
    if not domain.identifiers or domain.is_known_empty:
        return None
    results = [values_of(form, case.points)[0].tolist() for form in given.forms]
    truth: list[Point] = [
        (*domain.by_role(row), tuple(result[at] for result in results))
        for at, row in enumerate(rows)
    ]
    arrays = domain.by_role(tuple(case.points.values()))
    return _first(
        (
            _said([*given.points()], truth, "points()"),
            _said([(*at[:3], given.evaluate(*at[:3])) for at in truth], truth, "evaluate"),
            _said(_lists(given.evaluate(*arrays), rows), results, "evaluate of arrays"),
            _said(_lists(given.to_numpy()(*case.points.values()), rows), results, "to_numpy"),
            _said(_contained(given), rows, "contains"),
            _bounds(case, results),
        )
    )


def _lists(arrays: Iterable[object], rows: Sequence[Values]) -> list[list[int]]:
    return [np.broadcast_to(np.asarray(array), (len(rows),)).tolist() for array in arrays]


def _contained(given: IndexingMap) -> list[Values]:
    """The points of the box, a little larger, that the domain contains."""
    domain = given.domain
    ends = domain.bounds.values()
    wide = [Interval(each.lower - 1, each.upper) for each in ends if each.lower is not None]
    return [row for row in box(wide) if given.contains(*domain.by_role(row))]


def _bounds(case: MapCase, results: list[list[int]]) -> str | None:
    bounds = case.map.result_bounds()
    wrong = (
        f"result_bounds: {value} is not in {ends}"
        for values, ends in zip(results, bounds, strict=True)
        for value in values
        if value not in ends
    )
    return next(wrong, None)


# Sets.


def _sets(case: MapCase) -> str | None:
    """Images, domains, numbers of elements."""
    given = case.map
    reached = {results for _, _, results in case.accesses}
    starts = {dims for dims, _, _ in case.accesses}
    number = len(next(iter(case.points.values()))) if case.points else int(bool(case.accesses))
    return _first(
        (
            _said({*given.image()}, reached, "image()"),
            _said({*given.domain_set()}, starts, "domain_set()"),
            _said(given.count(), number, "count()"),
            _said(given.count_results(), len(reached), "count_results()"),
            _said(given.is_empty(), not reached, "is_empty()"),
            _image_of_part(case),
            _sample(case, number),
        )
    )


def _image_of_part(case: MapCase) -> str | None:
    part = [Interval(ends.bounds.lower, ends.bounds.lower) for ends in case.map.dims]
    expected = {
        results
        for dims, _, results in case.accesses
        if all(value in ends for value, ends in zip(dims, part, strict=True))
    }
    return _said({*case.map.image(part)}, expected, "image(first)")


def _sample(case: MapCase, number: int) -> str | None:
    found = case.map.sample()
    if found is None:
        return _said(number, 0, "sample() is None: count")
    dims, _, runtime, results = found
    return None if (dims, runtime, results) in case.accesses else f"sample() is {found}"


def _times(case: MapCase) -> str | None:
    """How often elements are reached."""
    times = Counter(Counter(_result_rows(case)).values())
    return _said(multiplicities([case.map]), dict(sorted(times.items())), "multiplicities")


def _onto(case: MapCase) -> str | None:
    """Whether elements are reached twice, and whether those of a tensor are."""
    given, results = case.map, _result_rows(case)
    starts = given.domain.identifiers[: len(given.dims) + len(given.ranges)]
    rows = zip(*(case.points[name].tolist() for name in starts), strict=True)
    points = {*zip(rows, results, strict=True)} if starts else {((), row) for row in results}
    is_injective = len(points) == len(set(results))
    said = _said(given.is_injective(), is_injective, "is_injective()")
    sizes = [max(values) + 1 for values in zip(*results, strict=True)]
    if said or not results or min(sizes, default=1) < 1 or prod(sizes) > MAX_ROWS:
        return said
    tensor = set(box(Interval(0, size - 1) for size in sizes))
    is_bijective = is_injective and tensor == set(results)
    return _first(
        (
            _said(given.covers(sizes), tensor <= set(results), f"covers({sizes})"),
            _said(given.is_bijective_onto(sizes), is_bijective, f"is_bijective_onto({sizes})"),
        )
    )


def _result_rows(case: MapCase) -> list[Values]:
    """The results at each point."""
    if not case.points:
        return [results for _, _, results in case.accesses]
    columns = [values_of(form, case.points)[0].tolist() for form in case.map.forms]
    count = len(next(iter(case.points.values())))
    return list(zip(*columns, strict=True)) if columns else [()] * count


def _comparisons(case: MapCase) -> str | None:
    """The map beside a map that is a little different."""
    given = case.map
    if not given.dims:
        return None
    ends = given.dims[0].bounds
    if ends.lower is None or ends.upper is None:
        return None
    less = given.with_constraint(symbol(given.domain.names[0]), (ends.lower, ends.upper - 1))
    one, two = _pairs(case.accesses), _pairs(_accesses(less))
    difference = given.first_difference(less)
    return _first(
        (
            _said(given.equals(less), one == two, "equals"),
            _said(given.is_subset(less), one <= two, "is_subset"),
            _said(difference is None, one == two, "first_difference is None"),
            None if less.is_subset(given) else "a part is no subset",
            None if given.equals(given.simplify()) else "it does not equal itself simplified",
        )
    )


# Texts.


def _texts(case: MapCase) -> str | None:
    """What is written is read back."""
    given = case.map
    back = from_isl(given.to_isl())
    said = _first(
        (
            _said(parse_map(str(given)), given, "parse_map(str)"),
            _said(pickle.loads(pickle.dumps(given)), given, "pickle"),  # noqa: S301 - our own
            _said(_pairs(_accesses(back)), _pairs(case.accesses), f"from_isl(to_isl), {back},"),
        )
    )
    return said or _affine(case)


def _affine(case: MapCase) -> str | None:
    given = case.map
    try:
        text, limits = given.to_affine_map(), given.to_affine_set()
    except MapError:
        return None
    back = from_affine_map(text, affine_set=limits, runtime=len(given.runtime))
    bounded = zip(back.domain.identifiers, given.domain.bounds.values(), strict=True)
    names = dict(zip(back.domain.identifiers, back.domain.names, strict=True))
    for name, ends in bounded:
        back = back.with_constraint(symbol(names[name]), ends)
    return _same(case, back, "from_affine_map(to_affine_map)")


def _refusals_aside(check: Callable[[MapCase], str | None]) -> Callable[[MapCase], str | None]:
    """The check where the library may say that a question takes too long."""

    @wraps(check)
    def checked(case: MapCase) -> str | None:
        try:
            return check(case)
        except (NotQuasiAffineError, BudgetError):
            return None

    return checked


SOLVED: Final[Mapping[str, Callable[[MapCase], str | None]]] = {"solved": _solved}
"""The step of the inverse alone."""

CHECKS: Final[Mapping[str, Callable[[MapCase], str | None]]] = {
    name: _refusals_aside(check)
    for name, check in {
        "simplify": _simplify,
        "simplify exactly": _simplify_exactly,
        "variables": _variables,
        "results": _results,
        "compose": _compose,
        "inverse": _inverse,
        "values": _values,
        "sets": _sets,
        "times": _times,
        "onto": _onto,
        "comparisons": _comparisons,
        "texts": _texts,
    }.items()
}
