"""Numbers of points as expressions: for numbers, they are what is counted."""

from __future__ import annotations

from itertools import product

import pytest

import ops
from indexing import IndexingMap, MapError, UndefinedMap, parse_map
from simplifier import symbol

d0, d1, K, M, N = map(symbol, ("d0", "d1", "K", "M", "N"))


def parsed(bounds: str) -> IndexingMap:
    return parse_map(f"(d0)<N> -> (d0), domain: {bounds}")


COUNTED = {
    "a matrix": (IndexingMap.from_sizes([d0 * M + d1], dims=[N, M]), "M*N"),
    "numbers alone": (IndexingMap.from_sizes([d0], dims=[4]), "4"),
    "unused variables": (IndexingMap.from_sizes([], dims=[N, 3], ranges=[M]), "3*M*N"),
    "padding": (ops.pad((N,), [(2, 3, 0)]).output_to_input[0], "N"),
    "what is left of a size": (ops.reverse((N - 2, 4), (0,)).output_to_input[0], "4*N - 8"),
    "a window": (parsed("d0 in [0, min(N - 1, 1)], N in [0, inf]"), "Min(N, 2)"),
    "any integer": (parsed("d0 in [0, N - 1], N in [-inf, inf]"), "Max(N, 0)"),
    "ends on both sides": (parsed("d0 in [N, 3], N in [0, inf]"), "Max(4 - N, 0)"),
    "no point": (parsed("KNOWN EMPTY"), "0"),
}


@pytest.mark.parametrize(("one", "expected"), COUNTED.values(), ids=COUNTED)
def test_numbers_of_points(one: IndexingMap, expected: str) -> None:
    found = one.count_over_parameters()
    assert str(found) == expected
    names = [parameter.name for parameter in one.parameters]
    allowed = [[k for k in range(-2, 5) if k in each.bounds] for each in one.parameters]
    for values in product(*allowed):
        given = dict(zip(names, values, strict=True))
        number = found.subs({symbol(name): value for name, value in given.items()})
        assert number == one.substitute(given).count()


def test_a_number_is_asked_of_numbers() -> None:
    with pytest.raises(MapError) as caught:
        parsed("d0 in [0, N - 1], N in [0, inf]").count()
    assert str(caught.value) == (
        "count: the map has the parameters N; expected numbers for all parameters, see "
        "substitute(), or count_over_parameters() for an expression"
    )


REFUSED = {
    "a condition on parameters": (
        ops.slice((N,), (M,), (K,)).output_to_input[0],
        "the map has a constraint on K - N; expected bounds alone",
    ),
    "a remainder": (
        IndexingMap.from_sizes([d0], dims=[N]).with_constraint(N % 2, (0, 0)),
        "the map has a constraint on N mod 2; expected bounds alone",
    ),
    "a triangle": (
        IndexingMap.from_sizes([d0], dims=[N, N]).with_constraint(d0 - d1, (0, None)),
        "the map has a constraint on d0 - d1; expected bounds alone",
    ),
    "an open end": (parsed("d0 in [N, inf], N in [0, inf]"), "d0 is not bounded"),
    "a condition that narrows a parameter": (
        parsed("d0 in [0, 3], N in [0, inf], N * 2 in [4, inf]"),
        "the map has a condition on N; expected bounds of variables alone",
    ),
    "no map": (UndefinedMap("a custom call"), "a custom call"),
}


@pytest.mark.parametrize(("one", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_box_is_refused_by_name(one: IndexingMap, message: str) -> None:
    with pytest.raises(MapError) as caught:
        one.count_over_parameters()
    assert message in str(caught.value)
