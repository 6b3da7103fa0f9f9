"""Maps with parameters: what they say for each value of the parameters is what numbers say.

Each example is looked at for every value.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import product

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, Variable, first_difference, from_isl, parse_map
from indexing.domain import Domain
from indexing.exact.questions import MAX_CHOICES, is_refuted
from simplifier import BudgetError, ConversionError, Interval, NotQuasiAffineError, symbol
from simplifier.exact import Budget
from simplifier.expr import form as forms
from simplifier.expr import operations
from tests.evaluation import related
from tests.extent import seldom
from tests.indexing.tables import each_named, each_row, each_text, errors_in, evaluated, refusals
from tests.strategies import maps_with_parameters

D0, D1, K, M, N = map(symbol, ("d0", "d1", "K", "M", "N"))


def instances(made: IndexingMap) -> Iterator[tuple[dict[str, int], IndexingMap]]:
    """The map for each value of its parameters, by putting numbers into its formulas."""
    domain = made.domain
    names = [parameter.name for parameter in made.parameters]
    for values in product(*(parameter.bounds for parameter in made.parameters)):
        numbers = dict(zip(domain.parameter_identifiers, map(forms.constant, values), strict=True))
        limited = operations.substitute([form for form, _ in domain.constraints], numbers)
        intervals = (interval for _, interval in domain.constraints)
        plain = Domain.of(domain.dims, domain.ranges, domain.runtime)
        results = operations.substitute(made.forms, numbers)
        within = plain.constrained(zip(limited, intervals, strict=True))
        yield dict(zip(names, values, strict=True)), IndexingMap.from_forms(results, within)


KEPT: dict[str, Callable[[IndexingMap], IndexingMap]] = {
    "simplify": IndexingMap.simplify,
    "simplify exactly": lambda made: made.simplify(exact=True),
    "without unused symbols": IndexingMap.without_unused_symbols,
    "rescale symbols": IndexingMap.rescale_symbols,
    "text": lambda made: parse_map(str(made)),
    "pickle": lambda made: pickle.loads(pickle.dumps(made)),  # noqa: S301 - our own
    "rename": lambda made: made.rename(N="K").rename(K="N"),
    "isl": lambda made: from_isl(made.to_isl(), parameters_as_runtime=False, budget=None),
}


@pytest.mark.parametrize("change", KEPT.values(), ids=KEPT)
@seldom
@given(made=maps_with_parameters())
def test_what_changes_a_map_keeps_it_for_each_value(
    change: Callable[[IndexingMap], IndexingMap], made: IndexingMap
) -> None:
    changed = change(made)
    for values, expected in instances(made):
        assert related(fixed(changed, values)) == related(expected)


def fixed(made: IndexingMap, values: Mapping[str, int]) -> IndexingMap:
    """The map with these values for the parameters that it has."""
    return made.substitute({each.name: values[each.name] for each in made.parameters})


@seldom
@given(maps_with_parameters())
def test_text_pickle_and_simplifying_twice_are_the_same_map(made: IndexingMap) -> None:
    for same in (parse_map(str(made)), KEPT["pickle"](made)):
        assert same == made
        assert hash(same) == hash(made)
    assert parse_map(str(made.simplify())) == made.simplify() == made.simplify().simplify()


@seldom
@given(maps_with_parameters())
def test_inverse_and_questions_for_each_value(made: IndexingMap) -> None:
    inverse, image, expected = made.inverse(), made.image(), [*instances(made)]
    for values, each in expected:
        there = related(each)
        assert related(fixed(inverse, values)) == {(result, dims) for dims, result in there}
        found = image.at([values[name] for name in sorted(values)])
        assert set(found) == {result for _, result in there}
    assert made.is_injective() == all(each.is_injective() for _, each in expected)
    assert made.is_empty() == all(each.is_empty() for _, each in expected)


@seldom
@given(maps_with_parameters(), maps_with_parameters())
def test_equal_maps_are_equal_for_each_value(left: IndexingMap, right: IndexingMap) -> None:
    """As the numbers say, for values that either map allows."""
    if (len(left.dims), len(left.forms)) != (len(right.dims), len(right.forms)):
        assert not left.equals(right)
        return
    pairs = [
        {tuple(values.items()): fixed for values, fixed in instances(each)}
        for each in (left, right)
    ]
    one, other = ({key: related(fixed) for key, fixed in each.items()} for each in pairs)
    same = all(one.get(key, set()) == other.get(key, set()) for key in one.keys() | other.keys())
    assert left.equals(right) == same
    assert (first_difference(left, right) is None) == same


@seldom
@given(maps_with_parameters(), st.data())
def test_composing_for_each_value(consumer: IndexingMap, data: st.DataObject) -> None:
    """Parameters of one name are one."""
    producer = data.draw(
        maps_with_parameters().filter(lambda made: len(made.dims) == len(consumer.forms))
    )
    composed = consumer.compose(producer)
    for values, left in instances(consumer):
        expected = left.compose(producer.substitute(values))
        assert related(composed.substitute(values)) == related(expected)


@seldom
@given(maps_with_parameters())
def test_evaluating_is_substituting(made: IndexingMap) -> None:
    compiled = made.to_numpy()
    for values, expected in instances(made):
        found = made.substitute(values)
        assert not found.parameters
        assert related(found) == related(expected)
        for dims, ranges, _, results in expected.points():
            assert made.evaluate(dims, ranges, parameters=values) == results
            assert compiled(*dims, *ranges, **values) == results
            assert made.contains(dims, ranges, parameters=values)


def test_sizes_bounds_and_constraints_say_the_same() -> None:
    text = "(d0, d1)<M, N> -> (d0 * M + d1), domain: d0 in [0, N - 1], d1 in [0, M - 1], "
    text += "M in [0, inf], N in [0, inf]"
    parameters = [Variable((0, None), name) for name in ("N", "M")]
    result = D0 * M + D1
    made = IndexingMap.from_sizes([result], dims=[N, M])
    assert str(made) == text
    assert made == parse_map(text)
    ends = [Variable((0, N - 1)), Variable((0, M - 1))]
    assert made == IndexingMap([result], ends, parameters=parameters)
    limits = [(D0 - N, (None, -1)), (D1 - M, (None, -1))]
    from_zero = [Variable((0, None))] * 2
    assert made == IndexingMap([result], from_zero, (), (), limits, parameters)
    assert made == IndexingMap(
        made.results, made.dims, (), (), made.constraints, parameters=made.parameters
    )


# what is printed => bounds and constraints that say the same
@each_row("""
d0 in [0, N - 1] => (0, None), [(D0 - N, (None, -1))]
d0 in [0, min(N - 1, 9)] => (0, 9), [(D0 - N, (None, -1))]
d0 in [max(M, 0), N] => (0, None), [(D0 - N, (None, 0)), (D0 - M, (0, None))]
d0 in [-inf, N floordiv 4 - 1] => (None, None), [(D0 - N // 4, (None, -1))]
d0 in [0, M * N - 1] => (0, None), [(D0 - M * N, (None, -1))]
d0 in [N, N + 3] => (None, None), [(D0 - N, (0, 3))]
d0 in [-N, inf] => (None, None), [(D0 + N, (0, None))]
d0 in [0, max(N * 2, 1)] => (0, None), [(D0 - Max(N * 2, 1), (None, 0))]
d0 in [0, min(M, N) - 1] => (0, None), [(D0 - Min(M, N), (None, -1))]
""")
def test_an_end_over_parameters_is_a_constraint(text: str, limits: str) -> None:
    made = parse_map(f"(d0)<M, N> -> (d0), domain: {text}, M in [0, inf], N in [0, inf]")
    sizes = [Variable((0, None), name) for name in ("M", "N")]
    bounds, constraints = evaluated(limits, globals())
    assert made == IndexingMap([D0], [Variable(bounds)], (), (), constraints, sizes)
    assert f"domain: {text}, M in" in str(made)


@each_row("""
d0 * 2 - N in [-inf, 0]
d0 + d1 - N in [-inf, 0]
d0 mod 2 - N in [-inf, 0]
M - N in [0, inf]
d0 - min(M, N) in [-inf, 0]
d0 - M in [-inf, inf]
""")
def test_other_constraints_stay_constraints(constraint: str) -> None:
    bounds = "d0 in [0, inf], d1 in [0, inf], M in [0, inf], N in [0, inf]"
    made = parse_map(f"(d0, d1)<M, N> -> (d0), domain: {bounds}, {constraint}")
    assert str(made).endswith(constraint)
    assert parse_map(str(made)) == made


# bounds => what they are simplified to
@each_row("""
d0 in [0, min(K - 1, 2)], K in [0, 3] => d0 in [0, K - 1], K in [1, 3]
d0 in [max(K - 1, 0), K - 1], K in [1, inf] => d0 in [K - 1, K - 1], K in [1, inf]
d0 in [0, inf], K in [0, inf], d0 * 3 + min(K * -2 + 1, 0) in [-inf, 0]
    d0 in [0, max(K * 2 - 1, 0) floordiv 3], K in [0, inf]
d0 in [-inf, inf], K in [-inf, inf], max(K * 2, 1) - d0 in [-inf, 0]
    d0 in [max(K * 2, 1), inf], K in [-inf, inf]
""")
def test_ends_that_others_imply_are_left_out(given: str, expected: str) -> None:
    simple = parse_map(f"(d0)<K> -> (d0), domain: {given}").simplify()
    assert " ".join(str(simple).split()) == f"(d0)<K> -> (d0), domain: {expected}"
    assert simple.simplify() == simple == parse_map(str(simple))


def test_assumptions_of_symbols_and_signs_of_sizes_are_bounds() -> None:
    positive = sympy.Symbol("N", integer=True, positive=True)
    for made, bounds in (
        (IndexingMap.from_sizes([D0], dims=[positive * 4]), (1, None)),
        (IndexingMap([D0], [Variable((0, 3))], parameters=[positive]), (1, None)),
        (IndexingMap.from_sizes([D0], dims=[N * 2 - 3]), (2, None)),
        (IndexingMap.from_sizes([D0], dims=[10 - N]), (None, 10)),
    ):
        assert made.parameters == (Variable(bounds, "N"),)


def test_new_parameters_in_values() -> None:
    rows = IndexingMap.identity([N, 8])
    assert rows.substitute({"N": K * 4}) == IndexingMap.identity([K * 4, 8])
    assert rows.substitute({N: 64}) == IndexingMap.identity([64, 8])
    assert rows.substitute({N: -1}).is_known_empty
    small = Variable((3, 9), "M")
    assert rows.substitute({N: M}, parameters=[small]).parameters == (small,)


def test_bounds_of_one_name_meet() -> None:
    small = IndexingMap([D0 + N], [Variable((0, 3))], parameters=[Variable((0, 5), "N")])
    large = IndexingMap([D0 * N], [Variable((0, 9))], parameters=[Variable((4, 9), "N")])
    assert small.compose(large).parameters == (Variable((4, 5), "N"),)
    none = IndexingMap([D0], [Variable((0, 9))], parameters=[Variable((6, 9), "N")])
    assert small.compose(none).is_known_empty


def test_a_variable_called_as_a_parameter_loses_its_name() -> None:
    rows = IndexingMap([N], [Variable((0, 3), "N")])
    sized = IndexingMap.from_sizes([D0 + K], dims=[K]).rename(K="N")
    composed = rows.compose(sized)
    assert str(composed).startswith("(d0)<N> -> (d0 + N)")


def test_reshape_there_and_back_is_the_identity() -> None:
    join = IndexingMap.from_sizes([D0 * M + D1], dims=[N, M])
    split = IndexingMap.from_sizes([D0 // M, D0 % M], dims=[N * M])
    assert join.compose(split).simplify() == IndexingMap.identity([N, M]).simplify()
    positive = {"M": Variable((1, None), "M")}
    split = IndexingMap(split.results, [Variable((0, N * M - 1))], parameters=positive.values())
    assert str(split.compose(join).simplify()) == (
        "(d0)<M, N> -> (d0), domain: d0 in [0, M * N - 1], M in [1, inf], N in [1, inf]"
    )


@each_text("""
at most: d0 floordiv M - N in [-inf, 0]
at least: d0 floordiv M - N in [1, inf]
between: d0 floordiv M - N in [-1, 0]
turned: N - d0 floordiv M in [0, 2]
of a sum: (d0 + d1 - 3) floordiv M + d1 - N in [0, 0]
by a sum: d0 floordiv (M + d1 + 1) - N in [-inf, 0]
by what may be negative: d0 floordiv (M * 2 - 3) - N in [-inf, 0]
""")
def test_constraints_on_quotients_by_expressions(constraint: str) -> None:
    bounds = "d0 in [-7, 9], d1 in [0, 2], M in [1, 3], N in [-2, 2]"
    made = parse_map(f"(d0, d1)<M, N> -> (d0 + d1), domain: {bounds}, {constraint}")
    simplest = made.simplify()
    for values, expected in instances(made):
        assert related(simplest.substitute(values)) == related(expected)


# bounds of the range => what they say of parameters
@each_row("""
s0 in [0, M - 1] => M in [1, inf], N in [0, inf]
s0 in [M, N] => M in [0, inf], N in [0, inf], N - M in [0, inf]
s0 in [max(M, 3), min(N, 9)] => M in [0, 9], N in [3, inf], N - M in [0, inf]
""")
def test_an_unused_range_leaves_the_condition_that_it_has_values(bounds: str, left: str) -> None:
    domain = f"d0 in [0, 3], {bounds}, M in [0, inf], N in [0, inf]"
    made = parse_map(f"(d0)[s0]<M, N> -> (d0), domain: {domain}")
    assert made.unused_symbols() == ((), (0,), ())
    found = str(made.without_unused_symbols())
    assert found == f"(d0)<M, N> -> (d0), domain: d0 in [0, 3], {left}"


def test_a_range_that_others_depend_on_stays() -> None:
    text = "(d0)[s0]<N> -> (d0), domain: d0 in [0, 3], s0 in [0, N - 1], N in [0, inf], "
    made = parse_map(text + "d0 + s0 in [0, 4]")
    assert made.without_unused_symbols() == made


test_errors_in_texts = errors_in(parse_map)("""
(d0)<«th_x»> -> (d0), domain: d0 in [0, 3], th_x in [0, 3]
    the parameter 'th_x' is called as a coordinate of a launch is
(d0)<«inf»> -> (d0), domain: d0 in [0, inf - 1], inf in [0, inf]
    the parameter 'inf' is called as an open end is
(d0)<«d0»> -> (d0), domain: d0 in [0, 3] => 'd0' is declared twice
(d0)<N> -> (d0), domain: d0 in [0, «K»], N in [0, 3] => 'K' is not a declared variable
(d0)<N> -> (d0), domain: d0 in [0, «d0»], N in [0, 3] => 'd0' is not a declared variable
(d0)<N> -> (d0), domain: d0 in [0, N - «]», N in [0, 3] => expected an expression, but found ']'
(d0)<N> -> (d0), domain: d0 in [0, N - 1]«» => expected the bounds of 'N', but the text ends
(d0) -> (d0), domain: d0 in [0, «N» - 1] => expected an integer, but found 'N'
""")


ROWS = IndexingMap.identity([N, 8])
test_refusals_name_what_is_wrong = refusals(globals(), MapError, TypeError, ConversionError)("""
ROWS.sample() => sample: the map has the parameters N
next(ROWS.points()) => points: the map has the parameters N
ROWS.covers([4, 8]) => covers: the map has the parameters N
ROWS.is_bijective_onto([4, 8]) => is_bijective_onto: the map
ROWS.to_c() => to_c: N has the bounds [1, inf]; expected a bounded parameter
ROWS.evaluate([1, 2]) => evaluate: parameters are none; expected values
ROWS.evaluate([1, 2], parameters={"M": 3}) => evaluate: parameters are M; expected values of N
IndexingMap.identity([3]).evaluate([1], parameters={"M": 3})
    evaluate: parameters are M; the map has none
IndexingMap([D0], [Variable((0, 3))], parameters=[Variable((0, 3))])
    IndexingMap: parameter 0 has no name; expected one, such as N
IndexingMap([D0], [Variable((0, 3))], parameters=[Variable((0, 3), "th_x")])
    IndexingMap: parameter 0 is called th_x, as a coordinate of a launch is; expected another name
IndexingMap.from_sizes([D0], dims=[symbol("s0")], ranges=[3])
    IndexingMap: the parameter s0 is called as a variable is by its position; expected
IndexingMap.from_sizes([D0], dims=[symbol("inf")])
    IndexingMap: parameter 0 is called inf, as an open end is; expected another name
IndexingMap([D0], [Variable((0, 3)), Variable((0, D0))])
    IndexingMap: the parameter d0 is called as a variable is by its position; expected
IndexingMap([D0], [Variable((0, 3))], parameters=[N, N])
    IndexingMap: the name 'N' stands for two parameters; expected different names
IndexingMap([D0], [Variable((0, 3))], parameters=[3])
    IndexingMap: parameters[0] is 3; expected a Variable or a symbol
IndexingMap([D0], [Variable((0, 3), "N")], parameters=[N])
    IndexingMap: the name 'N' stands for two variables; expected different names
IndexingMap([D0 + N], [Variable((0, 3))])
    expected a declared variable (d0); parameters=[N] declares a parameter
IndexingMap.from_sizes([D0], dims=[N / 4])
    is a fraction; expected an integer, or floor around it, such as (N - 4) floordiv 4
IndexingMap.from_sizes([D0], dims=[N * M]).rename(N="M")
    rename: the name 'M' stands for two parameters
IndexingMap.from_sizes([D0], dims=[N / 3]) => N/3
""")


def test_products_of_parameters_and_variables_are_refused_by_exact_questions() -> None:
    dropped, other = (IndexingMap.from_sizes([D0 * size], dims=[N, M]) for size in (M, M + N))
    assert str(dropped.inverse()) == (
        "UNDEFINED: inverse: M * d0: is a product of variables; "
        "exact answers need a quasi-affine expression"
    )
    for ask in (dropped.image, dropped.to_isl):
        with pytest.raises(NotQuasiAffineError, match=r"^M \* d0: is a product of variables"):
            ask()
    assert not dropped.is_injective()
    assert not dropped.equals(other)


def _index(result: str, size: str = "M", least: int = 1) -> IndexingMap:
    """A map from pairs with a parameter that strides and bounds."""
    domain = f"d0 in [0, N - 1], d1 in [0, {size} - 1]"
    sizes = f"{size} in [{least}, inf], N in [1, inf]"
    return parse_map(f"(d0, d1)<{size}, N> -> ({result}), domain: {domain}, {sizes}")


# two maps, and whether they are equal
@each_named("""
another order: _index("d0 * M + d1") => _index("d1 + M * d0") => True
a remainder written out: _index("d0 mod M") => _index("d0 - M * (d0 floordiv M)") => True
one more: _index("d0 * M + d1") => _index("d0 * M + d1 + 1") => False
other bounds of a size: _index("d0 * M + d1") => _index("d0 * M + d1", least=2) => False
another name of a size: _index("d0 * M + d1") => _index("d0 * K + d1", "K") => False
a size that may be zero: _index("d0 floordiv M", least=0) => _index("d1 floordiv M", least=0)
    False
a divisor that may be zero: _index("d0 floordiv (M - 1)") => _index("d0 ceildiv (M - 1)") => False
""")
def test_numbers_tell_maps_with_symbolic_strides_apart(left: str, right: str, equal: str) -> None:
    one, two, expected = (evaluated(each, globals()) for each in (left, right, equal))
    assert one.equals(two) is expected
    assert one.is_subset(two) is expected or not expected


def test_a_stride_or_divisor_that_may_be_zero_tells_no_points() -> None:
    stride = "(d0)<K, N> -> (d0 * K), domain: d0 in [0, N - 1], K in [{}, inf], N in [1, inf]"
    assert parse_map(stride.format(1)).is_injective()
    assert not parse_map(stride.format(0)).is_injective()
    parts = parse_map("(d0)<M> -> (d0 floordiv M), domain: d0 in [0, 9], M in [0, inf]")
    assert not parts.is_injective()


def test_all_numbers_together_take_no_more_than_the_time() -> None:
    shares: list[timedelta] = []

    def ask(_: Sequence[IndexingMap], budget: Budget) -> bool:
        assert isinstance(budget, timedelta)
        shares.append(budget)
        if len(shares) == MAX_CHOICES:
            raise BudgetError(budget)
        return True

    sizes = ", ".join(f"{size} in [0, inf]" for size in "KMN")
    stride = parse_map(f"(d0)<K, M, N> -> (d0 * K * M * N), domain: d0 in [0, 9], {sizes}")
    assert not is_refuted([stride], ask, timedelta(seconds=1))
    assert len(shares) == MAX_CHOICES
    assert sum(shares, timedelta()) <= timedelta(seconds=1)


def test_what_no_number_refutes_and_no_law_proves_is_refused() -> None:
    one, two = _index("d0 * M mod 7"), _index("d0 * M mod 7 + (d0 * M * (d0 * M + 1)) mod 2")
    with pytest.raises(NotQuasiAffineError):
        one.equals(two)


# a result => what is even => how it is written
@each_row("""
N * D0 / 2 => N => (d0 * N) floordiv 2
sympy.Piecewise((N / 2, D0 < 5), (D0, True)) => N => select(d0 < 5, N, d0 * 2) floordiv 2
D0 / 2 + 1 => D0 => (d0 + 2) floordiv 2
D0 * (D0 + 1) / 2 => N => ((d0 + 1) * d0) floordiv 2
""")
def test_results_may_be_fractions_that_the_domain_makes_integers(
    call: str, even: str, expected: str
) -> None:
    result, known = evaluated(call, globals()), [sympy.Eq(evaluated(even, globals()) % 2, 0)]
    made = IndexingMap([result], [Variable((0, 9))], constraints=known, parameters=[N])
    assert str(made).startswith(f"(d0)<N> -> ({expected})")
    assert made.with_results([result]) == made


def test_other_fractions_are_refused_with_the_fact_that_is_missing() -> None:
    with pytest.raises(ConversionError, match=r"^N/2: is a fraction; .* such as N mod 2 == 0"):
        IndexingMap([N / 2], [Variable((0, 9))], parameters=[N])


SHIFTED = IndexingMap.from_sizes([D0 + N], dims=[N])


@each_row(r"""
str(SHIFTED.to_isl()) => [N] -> { [d0] -> [N + d0] : N >= 0 and 0 <= d0 < N }
str(SHIFTED.image()) => (d0)<N>: d0 in [N, N * 2 - 1], N in [1, inf]
str(SHIFTED.domain_set()) => (d0)<N>: d0 in [0, N - 1], N in [1, inf]
str(SHIFTED.image().to_isl()) => [N] -> { [d0] : N <= d0 < 2N }
SHIFTED.to_affine_map() => affine_map<(d0)[N] -> (d0 + N)>
SHIFTED.to_affine_set() => affine_set<(d0)[N] : (d0 >= 0, N >= 0, N - d0 - 1 >= 0)>
SHIFTED._repr_html_() => <td>d0</td><td>[0, N - 1]</td>
SHIFTED._repr_html_() => rowspan="1">parameter</th><td>N</td><td>[0, inf]</td>
SHIFTED._repr_latex_() => 0 \le d_{0} \le N - 1 \\ 0 \le N
SHIFTED._repr_latex_() => \left(d_{0}\right)\left\langle N\right\rangle
""")
def test_parameters_are_written_as_other_tools_and_readers_expect(call: str, part: str) -> None:
    found = evaluated(call, globals())
    assert part in found if "_repr_" in call else found == part


def test_parameters_come_back_from_isl() -> None:
    assert from_isl(SHIFTED.to_isl(), parameters_as_runtime=False) == SHIFTED.simplify()


def test_witnesses_name_parameters() -> None:
    found = first_difference(IndexingMap.identity([N]), IndexingMap([D0], [Variable((0, 0))]))
    assert found is not None
    assert found.parameters == (("N", 0),)
    assert str(found) == "at (0) with N = 0: only the second map is defined; it gives (0)"


def test_interval_of_a_variable_is_a_number() -> None:
    variable = Variable((0, N - 1), "row")
    assert variable.bounds == Interval(0, None)
    assert Variable.of_size(N, "row") == variable
    assert IndexingMap([symbol("row")], [variable]).dims == (Variable((0, None), "row"),)
