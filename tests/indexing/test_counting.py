"""How many points and results a map has: in closed form, with parameters, and as counted."""

from __future__ import annotations

import re
from ast import literal_eval
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import product

import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

import ops
from indexing import IndexingMap, MapError, Variable, parse_map
from indexing.exact import counting
from indexing.exact.counting import (
    Line,
    independent_parts,
    levels_of,
    multiplicities,
    sum_of_floors,
    sum_of_least,
)
from indexing.exact.isl import in_order
from indexing.exact.questions import reached, reached_again
from simplifier import BudgetError, FloorDiv, NotQuasiAffineError, symbol
from simplifier.exact import Space
from tests.call_counts import calls_of
from tests.cases import for_all
from tests.extent import IN_CI, part, seldom
from tests.indexing.tables import each_named, each_row, evaluated, named, refusals
from tests.strategies import maps

SIDE = 2**40
LAST = SIDE - 1

# a map => how many points it has => how many elements it reaches
COUNTS = named(f"""
no variables: () -> (3) => 1 => 1
no results: (d0 < 5) -> () => 5 => 1
known empty: (d0) -> (d0), domain: KNOWN EMPTY => 0 => 0
empty: (d0 < 10) -> (d0), domain: d0 mod 4 in [1, 1], d0 mod 6 in [0, 0] => 0 => 0
empty without variables: () -> (), domain: KNOWN EMPTY => 0 => 0
box: (d0 < {SIDE}, d1 < {SIDE}) -> (d1, d0) => 2**80 => 2**80
broadcast: (d0 < {SIDE}, d1 < 10) -> (d1) => SIDE * 10 => 10
ranges and runtime variables: (d0 < 10)[s0 < 5]{{rt0 < {SIDE}}} -> (d0 + rt0) => 50 * SIDE
    SIDE + 9
residues: (d0 < {SIDE}) -> (d0 floordiv 3), domain: d0 mod 3 in [0, 1] => 2 * (SIDE // 3) + 1
    SIDE // 3 + 1
residues of several moduli: (d0 in [0, {105 * SIDE - 1}]) -> (d0), domain: d0 mod 3 in [0, 1], d0
        mod 5 in [0, 2], d0 mod 7 in [3, 6] => 2 * 3 * 4 * SIDE => 2 * 3 * 4 * SIDE
triangle: (d0 < {SIDE}, d1 < {SIDE}) -> (d0), domain: d0 - d1 in [0, {LAST}]
    SIDE * (SIDE + 1) // 2 => SIDE
band: (d0 < {SIDE}, d1 < {SIDE}) -> (d0 - d1), domain: d0 - d1 in [-1, 1] => 3 * SIDE - 2 => 3
two triangles and a box: (d0 < {SIDE}, d1 < {SIDE}, d2 < {SIDE}, d3 < {SIDE}, d4 < 3) -> (d4),
        domain: d0 - d1 in [0, {LAST}], d2 - d3 in [0, {LAST}] => 3 * (SIDE * (SIDE + 1) // 2) ** 2
    3
mixed radix with an end: (d0 < 1000000000000)[s0 < 2, s1 < 3] -> (d0 * 6 + s0 * 3 + s1), domain: d0
        * 6 + s0 * 3 + s1 in [0, 599999999998] => 599999999999 => 599999999999
tetrahedron: (d0 < 100, d1 < 100, d2 < 100) -> (d0 + d1 + d2), domain: d0 - d1 in [0, 99], d1 - d2
        in [0, 99] => 171700 => 298
windows: (d0 < {SIDE})[s0 < 3] -> (d0 * 2 + s0) => 3 * SIDE => 2 * SIDE + 1
# Sylvester: 12 numbers are missing at either end
multiples of two numbers: (d0 < {SIDE}, d1 < {SIDE}) -> (d0 * 5 + d1 * 7) => SIDE**2
    12 * LAST + 1 - 2 * 12
threads of a tiled transpose: (th_x < 512, bl_x < 60)[s0 < 8] -> (((bl_x * 16 + th_x floordiv 32)
        floordiv 3) * 32 + th_x mod 32, (bl_x * 16 + th_x floordiv 32) mod 3 * 8 + s0) => 245760
    245760
""")


@for_all(COUNTS)
def test_count(text: str, points: str, results: str) -> None:
    made = parse_map(text)
    assert made.count() == evaluated(points, globals())
    assert made.count_results() == evaluated(results, globals())


@pytest.mark.parametrize("name", ["box", "residues", "triangle", "windows"])
def test_counting_takes_no_more_for_more_points(name: str) -> None:
    """There are millions; a look at each would take a call."""
    made = parse_map(COUNTS[name][0])
    assert calls_of(lambda: (made.count(), made.count_results())) < 100_000


@each_row("""
(d0 < 10, row in [0, inf]) -> (d0) => count: row is not bounded
(d0 < 10)[s0 in [-inf, 0]] -> () => count: s0 is not bounded
""")
def test_what_is_not_bounded_is_named(text: str, message: str) -> None:
    with pytest.raises(MapError, match=message):
        parse_map(text).count()
    assert parse_map(text).count_results() < 11


@for_all(["d0", "d0 * 2", "d0 floordiv 2", "d0 mod 3 - d0"])
def test_a_result_that_is_not_bounded_is_named(result: str) -> None:
    with pytest.raises(MapError, match="count_results: result 1 is not bounded"):
        parse_map(f"(d0) -> (3, {result}), domain: d0 in [0, inf]").count_results()


def test_bounds_may_come_from_constraints() -> None:
    assert parse_map("(d0) -> (), domain: d0 in [0, inf], d0 * 3 in [0, 10]").count() == 4


def test_counting_has_a_budget() -> None:
    tetrahedron = COUNTS["tetrahedron"][0].replace("[0, 99]", "[0, 1000000000]")
    with pytest.raises(BudgetError, match="30000 operations of isl were not enough"):
        parse_map(tetrahedron).count(budget=30_000)


_small = st.integers(-30, 30)


@given(st.integers(0, 20), _small, _small, st.integers(1, 12))
def test_sum_of_floors(count: int, slope: int, constant: int, divisor: int) -> None:
    expected = sum((slope * i + constant) // divisor for i in range(count))
    assert sum_of_floors(count, slope, constant, divisor) == expected


@given(
    st.lists(st.builds(Line, _small, _small, st.integers(1, 12)), min_size=1, max_size=4),
    st.integers(-9, 9),
    st.integers(0, 20),
)
def test_sum_of_least(lines: list[Line], first: int, count: int) -> None:
    last = first + count - 1
    expected = sum(min(line.at(x) // 1 for line in lines) for x in range(first, last + 1))
    assert sum_of_least(lines, first, last) == expected


# Multiplicity: the answer for all elements at once equals a count one by one.

TRIANGLES = [n * (n + 1) // 2 for n in range(1, 10)]

# maps to one tensor => how many elements are reached so many times
HISTOGRAMS = named(f"""
known empty: (d0) -> (d0), domain: KNOWN EMPTY => {{}}
empty: (d0 < 10) -> (d0), domain: d0 mod 4 in [1, 1], d0 mod 6 in [0, 0] => {{}}
a scalar: (d0)[s0] -> (), domain: d0 in [0, 9], s0 in [0, 4]; () -> () => {{51: 1}}
each element once: (d0 < {SIDE}) -> (d0) => {{1: {SIDE}}}
a broadcast: (d0 < {SIDE}, d1 < 10) -> (d1) => {{{SIDE}: 10}}
a row for each of its elements, and the element: (d0, d1) -> (d0, d1), domain: d0 in [0, {LAST}], d1
        in [0, 124]; (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, {LAST}], d1 in [0, 124], s0 in [0,
        124] => {{126: {SIDE * 125}}}
a tensor and its transpose: (d0, d1) -> (d0, d1), domain: d0 in [0, {LAST}], d1 in [0, {LAST}]; (d0,
        d1) -> (d1, d0), domain: d0 in [0, {LAST}], d1 in [0, {LAST}] => {{2: {SIDE**2}}}
windows: (d0 < {SIDE})[s0 < 3] -> (d0 * 2 + s0) => {{1: {SIDE + 2}, 2: {LAST}}}
windows of two dimensions: (d0 < {SIDE}, d1 < {SIDE})[s0 < 2, s1 < 2] -> (d0 + s0, d1 + s1)
    {{1: 4, 2: {4 * LAST}, 4: {LAST**2}}}
blocks: (d0 in [0, {8 * SIDE + 2}]) -> (d0 floordiv 8) => {{3: 1, 8: {SIDE}}}
around and around: (d0 in [0, {7 * SIDE}]) -> (d0 mod 7) => {{{SIDE}: 6, {SIDE + 1}: 1}}
slices that overlap: (d0) -> (d0), domain: d0 in [0, {LAST}]; (d0) -> (d0 * 2 + 10), domain: d0 in
        [0, {LAST}] => {{1: {SIDE + 10}, 2: {SIDE // 2 - 5}}}
a triangle: (d0 < {SIDE}, d1 < {SIDE}) -> (d0, d1), domain: d0 - d1 in [0, {LAST}]
    {{1: {SIDE * (SIDE + 1) // 2}}}
a product that isl is not told of: (d0 < 3, d1 < 3) -> (d0 * d1) => {{1: 2, 2: 1, 5: 1}}
sums of three: (d0 < 100, d1 < 10, d2 < 10) -> (d0 + d1 + d2)
    {dict.fromkeys(sorted({*TRIANGLES, *(100 - n for n in TRIANGLES)}), 2) | {100: 82}}
""")


def counted(given_maps: Sequence[IndexingMap]) -> Counter[tuple[int, ...]]:
    """How often each element is reached, one point after the other."""
    times: Counter[tuple[int, ...]] = Counter()
    for each in given_maps:
        times.update(results for *_, results in each.points())
    return times


def as_histogram(times: Counter[tuple[int, ...]]) -> dict[int, int]:
    return dict(sorted(Counter(times.values()).items()))


@for_all(HISTOGRAMS)
def test_elements_are_counted_by_how_often_they_are_reached(texts: str, histogram: str) -> None:
    expected = literal_eval(histogram)
    assert [*multiplicities(map(parse_map, texts.split(";"))).items()] == sorted(expected.items())
    assert multiplicities([]) == {}


def without_runtime(given_map: IndexingMap) -> IndexingMap:
    """The map with dimensions in place of runtime variables, and so of ranges."""
    return given_map.symbols_to_dims() if given_map.runtime else given_map


several = st.integers(0, 2).flatmap(
    lambda rank: st.lists(maps(results=rank).map(without_runtime), max_size=3)
)


@given(several)
def test_multiplicities_are_those_counted(given_maps: list[IndexingMap]) -> None:
    expected = as_histogram(counted(given_maps))
    assert multiplicities(given_maps) == expected
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counting, "_FEW_POINTS", -1)
        assert multiplicities(given_maps) == expected, "by isl"


@seldom
@given(several)
def test_what_is_reached_again_is_what_was_counted_twice(given_maps: list[IndexingMap]) -> None:
    rank = len(given_maps[0].forms) if given_maps else 0
    times = counted(given_maps)
    assert {*reached(given_maps, rank)} == {*times}
    assert {*reached_again(given_maps, rank)} == {each for each in times if times[each] > 1}


@given(maps(results=1).map(without_runtime))
def test_levels_are_the_elements_of_so_many_points(given_map: IndexingMap) -> None:
    whole = given_map.ranges_to_dims()
    space = Space({})
    levels = levels_of(whole, space.context)
    times = counted([given_map])
    if levels is not None:
        assert {
            (value, element) for value, level in levels.items() for element in in_order(level)
        } == {(value, element) for element, value in times.items()}


@given(maps().map(without_runtime))
def test_parts_multiply_to_the_map(given_map: IndexingMap) -> None:
    assume(not given_map.is_known_empty)
    parts, (rest,) = independent_parts([given_map])
    total = rest.count()
    for each in parts:
        total *= each.maps[0].count()
    assert total == given_map.count()
    assert sorted(k for part in parts for k in part.coordinates) == [*range(len(given_map.forms))]


def multiplicity(text: str) -> object:
    return multiplicities([parse_map(text)])


test_what_cannot_be_counted_is_refused = refusals(globals(), MapError, NotQuasiAffineError)(f"""
multiplicity("(d0)[s0] -> (d0 + s0), domain: d0 in [0, inf], s0 in [0, 4]")
    has no bounds
multiplicity("(d0, d1, d2) -> (d0 + d1 + d2), domain: d0 in [0, {LAST}], d1 in [0, 9],
        d2 in [0, 9]") => points would have to be gone through; expected 8388608
multiplicity("(d0) -> (d0 * d0), domain: d0 in [0, {(1 << 22) + 9}]")
    elements would have to be counted; expected 4194304
multiplicity("(d0, d1) -> (d0 * d1), domain: d0 in [0, {LAST}], d1 in [0, {LAST}]")
    NotQuasiAffineError: d0 * d1: is a product of variables
multiplicities([UndefinedMap("nobody knows")]) => undefined
multiplicities(["(d0) -> (d0)"])
    multiplicities: one of the maps is '(d0) -> (d0)'; expected an IndexingMap
multiplicities([parse_map("() -> ()"), parse_map("() -> (1)")])
    with 0, 1 results; expected as many in all
multiplicities(parse_map("() -> ()")) => is given; expected several maps
""")


def test_a_budget_is_kept() -> None:
    text = HISTOGRAMS["windows"][0]
    with pytest.raises(BudgetError):
        multiplicities([parse_map(text)], budget=10)
    with pytest.raises(BudgetError):
        reached_again([parse_map(text)], 1, budget=10)


# Numbers of points as expressions: for numbers, they are what is counted.

d0, d1, K, M, N = map(symbol, ("d0", "d1", "K", "M", "N"))


def where(bounds: str) -> IndexingMap:
    """A map from the dimensions on a domain, with the parameters of which it has bounds."""
    dims, parameters = (
        ", ".join(sorted(set(re.findall(rf"\b{names}(?= in )", bounds)))) or first
        for names, first in ((r"d\d", "d0"), ("[MN]", "N"))
    )
    return parse_map(f"({dims})<{parameters}> -> (), domain: {bounds}")


TRIED = range(-2, 7) if IN_CI else range(-1, 5)
"""Values of parameters."""


def check_for_numbers(
    one: IndexingMap,
    found: sympy.Expr | int,
    count: Callable[[IndexingMap], object] = IndexingMap.count,
    tried: Sequence[int] = TRIED,
) -> None:
    """The expression is what is counted once parameters have values."""
    names = [parameter.name for parameter in one.parameters]
    allowed = [[k for k in tried if k in each.bounds] for each in one.parameters]
    for values in product(*allowed):
        numbers = dict(zip(names, values, strict=True))
        number = sympy.sympify(found).subs({symbol(name): value for name, value in numbers.items()})
        assert number == count(one.substitute(numbers)), numbers


# domains
@each_named("""
a window: d0 in [0, min(N - 1, 1)], N in [0, inf] => Min(N, 2)
any integer: d0 in [0, N - 1], N in [-inf, inf] => Max(N, 0)
ends on both sides: d0 in [N, 3], N in [0, inf] => Max(4 - N, 0)
no point: KNOWN EMPTY => 0
the same number for all: d0 in [N, N + 3], N in [0, inf] => 4
a condition that narrows a parameter: d0 in [0, 3], N in [0, inf], N * 2 in [4, inf]
    Piecewise((4, N >= 2), (0, True))
every other: d0 in [0, N - 1], N in [0, inf], d0 mod 2 in [1, 1] => N//2
every third from a parameter on: d0 in [M, N], M in [0, inf], N in [0, inf], (d0 + 1) mod 3 in [0,
        0] => Max(-(M//3) + ((N + 1)//3), 0)
a triangle: d0 in [0, N - 1], d1 in [0, N - 1], N in [0, inf], d0 - d1 in [0, inf] => (N**2 + N)//2
a band: d0 in [0, N - 1], d1 in [0, N + 3], N in [0, inf], d1 - d0 in [0, 3] => 4*N
a pyramid: d0 in [0, N - 1], d1 in [0, N], d2 in [0, N], N in [0, inf], d0 - d1 in [0, inf], d1 - d2
        in [0, inf] => (N*(N*(N + 3) + 2))//6
a trapezoid times a row: d0 in [0, N - 1], d1 in [0, N + M], d2 in [0, M - 1], M in [0, inf], N in
        [0, inf], d1 - d0 - M in [-inf, -1] => M*((N*(2*M + N - 1))//2)
a triangle between the axes: d0 in [0, inf], d1 in [0, inf], N in [0, inf], d0 + d1 - N in [-inf,
        -1] => (N**2 + N)//2
a triangle for any integer: d0 in [0, inf], d1 in [0, inf], N in [-inf, inf], d0 + d1 - N in [-inf,
        -1] => Piecewise((((N**2 + N)//2), N >= 0), (0, True))
a tetrahedron between the axes: d0 in [0, inf], d1 in [0, inf], d2 in [0, inf], N in [0, inf], d0 +
        d1 + d2 - N in [-inf, -1] => (N*(N*(N + 3) + 2))//6
a steep triangle: d0 in [0, inf], d1 in [0, inf], N in [0, inf], d0 * 2 + d1 - N in [-inf, 0]
    N + (N - (N//2))*(N//2) + 1
ends that cross: d0 in [0, N - 1], d1 in [0, M - 1], M in [0, inf], N in [0, inf], d1 - d0 in [0,
        inf] => M*Min(M, N) + ((-Min(M, N)**2 + Min(M, N))//2)
a line: d0 in [0, N], d1 in [0, M], M in [0, inf], N in [0, inf], d0 + d1 - N in [0, 0]
    Min(M, N) + 1
a line with gaps: d0 in [0, N], d1 in [0, inf], N in [0, inf], d0 - d1 * 3 in [0, 0] => (N//3) + 1
every other of a triangle: d0 in [0, N - 1], d1 in [0, N], N in [0, inf], d0 - d1 in [0, inf], d1
        mod 2 in [0, 0] => N + (N//2)*((N - 1)//2)
two of four: d0 in [0, N - 1], N in [0, inf], d0 mod 4 in [1, 2] => ((N + 1)//4) + ((N + 2)//4)
blocks below the diagonal: d0 in [0, N - 1], d1 in [0, inf], N in [0, inf], d0 floordiv 4 - d1 in
        [0, inf] => (N + 2*((4 - N)//4))*((N + 3)//4)
a triangle that may be outside: d0 in [M, N], d1 in [M, N], M in [0, inf], N in [0, inf], d0 - d1 in
        [1, inf] => Piecewise((((M**2 - M + N*(-2*M + N + 1))//2), M < N + 2), (0, True))
""")
def test_numbers_of_points_of_domains(bounds: str, expected: str) -> None:
    check_count(where(bounds), expected)


@each_named("""
a matrix: IndexingMap.from_sizes([d0 * M + d1], dims=[N, M]) => M*N
unused variables: IndexingMap.from_sizes([], dims=[N, 3], ranges=[M]) => 3*M*N
padding: ops.pad((N,), [(2, 3, 0)]).output_to_input[0] => N
interior padding: ops.pad((N,), [(2, 3, 1)]).output_to_input[0] => N
what is left of a size: ops.reverse((N - 2, 4), (0,)).output_to_input[0] => 4*N - 8
sizes that must be equal: ops.reshape((N,), (M, 4)).output_to_input[0]
    Piecewise((4*M, Eq(4*M, N)), (0, True))
a part that must lie inside: ops.slice((N,), (M,), (K,)).output_to_input[0]
    Piecewise((Max(K - M, 0), K <= N), (0, True))
a remainder of a parameter: IndexingMap.from_sizes([d0], dims=[N]).with_constraint(N % 2, (0, 0))
    Piecewise((N, Eq((N % 2), 0)), (0, True))
""")
def test_numbers_of_points_of_maps(call: str, expected: str) -> None:
    check_count(evaluated(call, {**globals(), "ops": ops}), expected)


def check_count(one: IndexingMap, expected: str) -> None:
    found = one.count()
    assert str(found) == expected
    check_for_numbers(one, found)


def test_a_number_is_an_integer() -> None:
    assert type(IndexingMap.from_sizes([d0], dims=[4]).count()) is int
    assert type(where("d0 in [N, N + 3], N in [0, inf]").count()) is int


@each_named("""
windows: IndexingMap.from_sizes([d0 * 2 + d1], dims=[N, 3])
    Piecewise((2*N + 1, Ne(N, 0)), (0, True))
a digit: IndexingMap.from_sizes([d0 % 4], dims=[N]) => Min(N, 4)
a broadcast: ops.broadcast((N,), (N, 4), (0,)).output_to_input[0] => N
every second element: IndexingMap.from_sizes([d0 * 2], dims=[N]) => N
one element or all: ops.broadcast((N,), (M,), (0,)).output_to_input[0]
    Piecewise((1, Eq(N, 1) & Ne(M, 0)), (0, True)) + Piecewise((M, Eq(M, N) & (N >= 2)), (0, True))
""")
def test_numbers_of_results(call: str, expected: str) -> None:
    one = evaluated(call, {**globals(), "ops": ops})
    assert str(one.count_results()) == expected
    check_for_numbers(one, one.count_results(), IndexingMap.count_results, range(6))


@each_named("""
an open end: d0 in [N, inf], N in [0, inf] => d0 is not bounded
thirds and halves: d0 in [0, N], d1 in [0, inf], N in [0, inf], d1 * 2 - d0 * 3 in [-inf, 1]
    the points that meet a constraint on d0 - N have no closed form here
quotients that are not bounded: d0 in [0, inf], N in [0, inf], (d0 + N) mod 3 in [0, 1]
    d0 is not bounded
a disc: d0 in [0, N - 1], d1 in [0, N - 1], N in [0, inf], d0 * d0 + d1 * d1 in [0, 9]
    have no closed form here
""")
def test_what_has_no_closed_form_is_refused_by_name(bounds: str, message: str) -> None:
    with pytest.raises(MapError, match=message):
        where(bounds).count()


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
    for pair in part([*product(UPPERS, UPPERS)], 16):
        box = IndexingMap([], [Variable((0, end)) for end in pair])
        for made in (box, box.with_constraint(d0 - d1, (0, None))):
            assert made.count() is not None, pair
