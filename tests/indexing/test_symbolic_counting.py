"""Numbers of points as expressions: for numbers, they are what is counted."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import ops
from indexing import IndexingMap, MapError, UndefinedMap, Variable, parse_map
from simplifier import FloorDiv, symbol
from tests.cases import for_all
from tests.extent import IN_CI, part, seldom

d0, d1, K, M, N = map(symbol, ("d0", "d1", "K", "M", "N"))


def parsed(bounds: str) -> IndexingMap:
    return parse_map(f"(d0)<N> -> (d0), domain: {bounds}")


def where(bounds: str, dims: int = 1) -> IndexingMap:
    """A map from so many dimensions on a domain with N, and with M where bounds say so."""
    names = ", ".join(f"d{axis}" for axis in range(dims))
    parameters = "M, N" if "M in" in bounds else "N"
    return parse_map(f"({names})<{parameters}> -> (), domain: {bounds}")


COUNTED = {
    "a matrix": (IndexingMap.from_sizes([d0 * M + d1], dims=[N, M]), "M*N"),
    "unused variables": (IndexingMap.from_sizes([], dims=[N, 3], ranges=[M]), "3*M*N"),
    "padding": (ops.pad((N,), [(2, 3, 0)]).output_to_input[0], "N"),
    "interior padding": (ops.pad((N,), [(2, 3, 1)]).output_to_input[0], "N"),
    "what is left of a size": (ops.reverse((N - 2, 4), (0,)).output_to_input[0], "4*N - 8"),
    "a window": (parsed("d0 in [0, min(N - 1, 1)], N in [0, inf]"), "Min(N, 2)"),
    "any integer": (parsed("d0 in [0, N - 1], N in [-inf, inf]"), "Max(N, 0)"),
    "ends on both sides": (parsed("d0 in [N, 3], N in [0, inf]"), "Max(4 - N, 0)"),
    "no point": (parsed("KNOWN EMPTY"), "0"),
    "the same number for all": (parsed("d0 in [N, N + 3], N in [0, inf]"), "4"),
    "sizes that must be equal": (
        ops.reshape((N,), (M, 4)).output_to_input[0],
        "Piecewise((4*M, Eq(4*M, N)), (0, True))",
    ),
    "a part that must lie inside": (
        ops.slice((N,), (M,), (K,)).output_to_input[0],
        "Piecewise((Max(K - M, 0), K <= N), (0, True))",
    ),
    "a remainder of a parameter": (
        IndexingMap.from_sizes([d0], dims=[N]).with_constraint(N % 2, (0, 0)),
        "Piecewise((N, Eq((N % 2), 0)), (0, True))",
    ),
    "a condition that narrows a parameter": (
        parsed("d0 in [0, 3], N in [0, inf], N * 2 in [4, inf]"),
        "Piecewise((4, N >= 2), (0, True))",
    ),
    "every other": (parsed("d0 in [0, N - 1], N in [0, inf], d0 mod 2 in [1, 1]"), "N//2"),
    "every third from a parameter on": (
        where("d0 in [M, N], M in [0, inf], N in [0, inf], (d0 + 1) mod 3 in [0, 0]"),
        "Max(-(M//3) + ((N + 1)//3), 0)",
    ),
    "a triangle": (
        where("d0 in [0, N - 1], d1 in [0, N - 1], N in [0, inf], d0 - d1 in [0, inf]", 2),
        "(N**2 + N)//2",
    ),
    "a band": (
        where("d0 in [0, N - 1], d1 in [0, N + 3], N in [0, inf], d1 - d0 in [0, 3]", 2),
        "4*N",
    ),
    "a pyramid": (
        where(
            "d0 in [0, N - 1], d1 in [0, N], d2 in [0, N], N in [0, inf], "
            "d0 - d1 in [0, inf], d1 - d2 in [0, inf]",
            3,
        ),
        "(N*(N*(N + 3) + 2))//6",
    ),
    "a trapezoid times a row": (
        where(
            "d0 in [0, N - 1], d1 in [0, N + M], d2 in [0, M - 1], M in [0, inf], N in [0, inf], "
            "d1 - d0 - M in [-inf, -1]",
            3,
        ),
        "M*((N*(2*M + N - 1))//2)",
    ),
    "a triangle between the axes": (
        where("d0 in [0, inf], d1 in [0, inf], N in [0, inf], d0 + d1 - N in [-inf, -1]", 2),
        "(N**2 + N)//2",
    ),
    "a triangle for any integer": (
        where("d0 in [0, inf], d1 in [0, inf], N in [-inf, inf], d0 + d1 - N in [-inf, -1]", 2),
        "Piecewise((((N**2 + N)//2), N >= 0), (0, True))",
    ),
    "a tetrahedron between the axes": (
        where(
            "d0 in [0, inf], d1 in [0, inf], d2 in [0, inf], N in [0, inf], "
            "d0 + d1 + d2 - N in [-inf, -1]",
            3,
        ),
        "(N*(N*(N + 3) + 2))//6",
    ),
    "a steep triangle": (
        where("d0 in [0, inf], d1 in [0, inf], N in [0, inf], d0 * 2 + d1 - N in [-inf, 0]", 2),
        "N + (N - (N//2))*(N//2) + 1",
    ),
    "ends that cross": (
        where(
            "d0 in [0, N - 1], d1 in [0, M - 1], M in [0, inf], N in [0, inf], d1 - d0 in [0, inf]",
            2,
        ),
        "M*Min(M, N) + ((-Min(M, N)**2 + Min(M, N))//2)",
    ),
    "a line": (
        where("d0 in [0, N], d1 in [0, M], M in [0, inf], N in [0, inf], d0 + d1 - N in [0, 0]", 2),
        "Min(M, N) + 1",
    ),
    "a line with gaps": (
        where("d0 in [0, N], d1 in [0, inf], N in [0, inf], d0 - d1 * 3 in [0, 0]", 2),
        "(N//3) + 1",
    ),
    "every other of a triangle": (
        where(
            "d0 in [0, N - 1], d1 in [0, N], N in [0, inf], d0 - d1 in [0, inf], "
            "d1 mod 2 in [0, 0]",
            2,
        ),
        "N + (N//2)*((N - 1)//2)",
    ),
    "two of four": (
        where("d0 in [0, N - 1], N in [0, inf], d0 mod 4 in [1, 2]"),
        "((N + 1)//4) + ((N + 2)//4)",
    ),
    "blocks below the diagonal": (
        where("d0 in [0, N - 1], d1 in [0, inf], N in [0, inf], d0 floordiv 4 - d1 in [0, inf]", 2),
        "(N + 2*((4 - N)//4))*((N + 3)//4)",
    ),
    "a triangle that may be outside": (
        where("d0 in [M, N], d1 in [M, N], M in [0, inf], N in [0, inf], d0 - d1 in [1, inf]", 2),
        "Piecewise((((M**2 - M + N*(-2*M + N + 1))//2), M < N + 2), (0, True))",
    ),
}


TRIED = range(-2, 7) if IN_CI else range(-1, 5)
"""Values of parameters."""


def check_for_numbers(one: IndexingMap, found: sympy.Expr | int) -> None:
    """The expression is what is counted once parameters have values."""
    names = [parameter.name for parameter in one.parameters]
    allowed = [[k for k in TRIED if k in each.bounds] for each in one.parameters]
    for values in product(*allowed):
        numbers = dict(zip(names, values, strict=True))
        number = sympy.sympify(found).subs({symbol(name): value for name, value in numbers.items()})
        assert number == one.substitute(numbers).count(), numbers


@for_all(COUNTED)
def test_numbers_of_points(one: IndexingMap, expected: str) -> None:
    found = one.count()
    assert str(found) == expected
    check_for_numbers(one, found)


def test_a_number_is_an_integer() -> None:
    assert type(IndexingMap.from_sizes([d0], dims=[4]).count()) is int
    assert type(parsed("d0 in [N, N + 3], N in [0, inf]").count()) is int


RESULTS = {
    "windows": (
        IndexingMap.from_sizes([d0 * 2 + d1], dims=[N, 3]),
        "Piecewise((2*N + 1, Ne(N, 0)), (0, True))",
    ),
    "a digit": (IndexingMap.from_sizes([d0 % 4], dims=[N]), "Min(N, 4)"),
    "a broadcast": (ops.broadcast((N,), (N, 4), (0,)).output_to_input[0], "N"),
    "every second element": (IndexingMap.from_sizes([d0 * 2], dims=[N]), "N"),
    "one element or all": (
        ops.broadcast((N,), (M,), (0,)).output_to_input[0],
        (
            "Piecewise((1, Eq(N, 1) & Ne(M, 0)), (0, True)) + "
            "Piecewise((M, Eq(M, N) & (N >= 2)), (0, True))"
        ),
    ),
}


@pytest.mark.parametrize(("one", "expected"), RESULTS.values(), ids=RESULTS)
def test_numbers_of_results(one: IndexingMap, expected: str) -> None:
    found = one.count_results()
    assert str(found) == expected
    names = [parameter.name for parameter in one.parameters]
    for values in product(range(6), repeat=len(names)):
        numbers = dict(zip(names, values, strict=True))
        number = sympy.sympify(found).subs({symbol(name): value for name, value in numbers.items()})
        assert number == one.substitute(numbers).count_results(), numbers


REFUSED = {
    "an open end": (parsed("d0 in [N, inf], N in [0, inf]"), "d0 is not bounded"),
    "thirds and halves": (
        where("d0 in [0, N], d1 in [0, inf], N in [0, inf], d1 * 2 - d0 * 3 in [-inf, 1]", 2),
        "the points that meet a constraint on d0 - N have no closed form here",
    ),
    "quotients that are not bounded": (
        where("d0 in [0, inf], N in [0, inf], (d0 + N) mod 3 in [0, 1]"),
        "d0 is not bounded",
    ),
    "a disc": (
        where("d0 in [0, N - 1], d1 in [0, N - 1], N in [0, inf], d0 * d0 + d1 * d1 in [0, 9]", 2),
        "have no closed form here",
    ),
    "no map": (UndefinedMap("a custom call"), "a custom call"),
}


@pytest.mark.parametrize(("one", "message"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_closed_form_is_refused_by_name(one: IndexingMap, message: str) -> None:
    with pytest.raises(MapError) as caught:
        one.count()
    assert message in str(caught.value)


# Random domains.

UPPERS = (N - 1, N + 1, M - 1, M + N, N - M, 2 * N, sympy.Integer(2), FloorDiv(N, 2))
ENDS = st.sampled_from(UPPERS)
COUPLED = st.sampled_from(
    (
        *(d0 - d1, d0 + d1 - N, d1 - d0 - M, d0 - 2 * d1, d0 + 3 * d1 - N),
        *(FloorDiv(d0, 2) - d1, (d0 + d1) % 3, FloorDiv(d1 + N, 3) - d0),
    )
)


@st.composite
def domains(draw: st.DrawFn) -> IndexingMap:
    """Two dimensions with ends over M and N, with a condition, a remainder, or a sum of both."""
    uppers = draw(st.tuples(ENDS, ENDS))
    dims = [Variable((draw(st.sampled_from((0, 1, M))), upper)) for upper in uppers]
    parameters = [Variable((0, None), "M"), Variable((draw(st.sampled_from((0, 2))), None), "N")]
    made = IndexingMap([], dims, parameters=parameters)
    for _ in range(draw(st.integers(0, 2))):
        ends = draw(st.sampled_from(((0, None), (None, 2), (0, 1), (1, 1))))
        made = made.with_constraint(draw(COUPLED), ends)
    if draw(st.booleans()):
        remainder = draw(st.sampled_from((d0 % 2, (d1 + N) % 3, N % 2, M * 2 - N)))
        made = made.with_constraint(remainder, draw(st.sampled_from(((0, 0), (1, 1)))))
    return made


@seldom
@given(domains())
def test_random_numbers_are_right(one: IndexingMap) -> None:
    with suppress(MapError):
        check_for_numbers(one, one.count())


def test_boxes_and_triangles_have_closed_forms() -> None:
    def has_one(made: IndexingMap) -> bool:
        with suppress(MapError):
            made.count()
            return True
        return False

    pairs = part([*product(UPPERS, UPPERS)], 16)
    made = [IndexingMap([], [Variable((0, end)) for end in pair]) for pair in pairs]
    triangles = [each.with_constraint(d0 - d1, (0, None)) for each in made]
    assert (sum(map(has_one, made)), sum(map(has_one, triangles))) == (len(pairs), len(pairs))
