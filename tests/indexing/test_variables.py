"""Maps with other variables and results: XLA's cases, names, and the same points always."""

from __future__ import annotations

from ast import literal_eval
from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, MapError, Variable, VariableKind, parse_map
from indexing.domain import Domain
from indexing.transform.evaluate import Point
from indexing.transform.substitute import without_conditional_ranges, without_determined_ranges
from simplifier import ConversionError, Interval, symbol
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.sympy import to_sympy
from tests.cases import for_all
from tests.evaluation import related, values_of
from tests.indexing.tables import each_row, each_text, evaluated, refusals, rows, turned
from tests.strategies import constraints, maps, quasi_affine

MIXED = parse_map(
    "(row, d1)[s0, k]{rt0} -> (row + s0, k, d1 + rt0), domain: row in [0, 3], d1 in [0, 7], "
    "s0 in [0, 2], k in [0, 4], rt0 in [0, 5], row + k in [0, 6]"
)
EMPTY = parse_map("(d0)[s0]{rt0} -> (0, 0), domain: KNOWN EMPTY")
SOME = parse_map("(d0)[s0]{rt0} -> (d0), domain: d0 in [0, 1], s0 in [0, 1], rt0 in [0, 1]")


def flat(point: Point) -> tuple[int, ...]:
    """The values of all variables of a point, in order."""
    return tuple(chain(*point[:3]))


# a map => positions of the dimensions, ranges and runtime variables that it does not use
@each_row("""
(d0 < 2)[s0 < 3]{rt0 < 4} -> () => ((0,), (0,), (0,))
# what a constraint ties to a result counts as used, over any number of constraints
(d0 < 4)[s0 < 4, s1 < 4]{rt0 < 4} -> (d0), domain: d0 + s0 in [2, 4], s0 + s1 in [2, 4], s1 * rt0 in
        [1, 9] => ((), (), ())
# two groups, one of which meets a result
()[s0 < 4, s1 < 4, s2 < 4] -> (s0), domain: s0 mod 2 in [1, 1], s1 + s2 in [2, 3]
    ((), (1, 2), ())
# too many points to try them all: isl knows
()[s0 < 4, s1 < 1000, s2 < 1000] -> (s0), domain: (s1 + s2) mod 999 in [1, 1], s1 - s2 in [998, 998]
    ((), (1, 2), ())
# without bounds
()[s0 < 4, s1 in [-inf, inf]] -> (s0), domain: s1 mod 7 in [2, 2] => ((), (1,), ())
# too many points, and no isl for products: nobody knows
()[s0 < 4, s1 < 1000, s2 in [900, 999], s3 < 4] -> (s0), domain: s1 * s2 in [998001, 998001], s3 mod
        2 in [1, 1] => ((), (3,), ())
# nothing is left out of the empty map
(d0)[s0] -> (0), domain: KNOWN EMPTY => ((), (), ())
""")
def test_positions_of_unused_variables(text: str, positions: str) -> None:
    before, unused = parse_map(text), literal_eval(positions)
    assert before.unused_variables() == unused
    assert before.unused_symbols() == ((), *unused[1:])
    for after, left in (
        (before.without_unused_variables(), sum(map(len, unused))),
        (before.without_unused_symbols(), sum(map(len, unused[1:]))),
    ):
        assert len(after.domain.identifiers) == len(before.domain.identifiers) - left
        assert after.without_unused_symbols() == after


def test_a_range_that_a_constraint_holds_twice_is_not_determined() -> None:
    for limit in ("s0 * 2 + (s0 floordiv 2) * 3 + d0 in [0, 1]", "d0 in [0, 1]"):
        held = parse_map(f"(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 3], {limit}")
        assert without_determined_ranges(held) is held


# the domain behind (d0)[s0, s1] -> (d0 + s1), and how many ranges are left
@each_row("""
d0 in [0, 9], s0 in [2, 5], s1 in [0, 2], d0 - s0 in [1, 1] => 1
d0 in [0, 9], s0 in [0, 3], s1 in [0, 2], d0 + s1 - s0 * 2 in [1, 1] => 1
d0 in [0, 9], s0 in [0, 9], s1 in [0, 2], d0 + s0 in [7, 7], s0 mod 3 in [0, 1] => 1
d0 in [0, 9], s0 in [0, 9], s1 in [0, 2], d0 - s1 in [1, 1] => 2
d0 in [0, 9], s0 in [0, 9], s1 in [0, 2], d0 - s0 in [0, 1] => 2
d0 in [0, 9], s0 in [0, 9], s1 in [0, 2], s0 + s0 floordiv 2 - d0 in [0, 0] => 2
""")
def test_ranges_that_only_an_equation_uses_become_conditions(domain: str, left: str) -> None:
    before = parse_map(f"(d0)[s0, s1] -> (d0 + s1), domain: {domain}")
    after = without_conditional_ranges(before)
    assert len(after.ranges) == int(left)
    assert related(before) == related(after)
    assert len([*before.points()]) == len([*after.points()])


@each_text("""
few points: (d0 < 4)[s0 in [1, 6]] -> (d0), domain: s0 mod 7 in [0, 0]
many: (d0 < 4)[s0 < 10000, s1 < 10000] -> (d0), domain: (s0 * 2 - s1 * 4) mod 8 in [3, 3]
no bounds: (d0 < 4)[s0 in [-inf, inf]] -> (d0), domain: (s0 * 6) mod 9 in [2, 2]
""")
def test_a_dropped_constraint_without_solution_empties_the_map(text: str) -> None:
    before = parse_map(text)
    assert not before.is_known_empty
    after = before.without_unused_symbols()
    assert after.is_known_empty
    assert after == before.without_unused_variables()
    assert len(after.ranges) == len(before.ranges)
    assert before.unused_symbols() == ((), (), ())


@given(maps())
def test_symbols_keep_their_values_as_dims(made: IndexingMap) -> None:
    after = made.symbols_to_dims()
    assert not after.ranges + after.runtime
    assert related(after) == {(flat(point), point[3]) for point in made.points()}


@given(maps(), st.data())
def test_ranges_keep_their_values_as_dims(made: IndexingMap, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(made.ranges))))
    indices = order[: data.draw(st.integers(0, len(order)))]
    left = sorted({*order} - {*indices})
    assert set(made.ranges_to_dims(indices).points()) == {
        (dims + tuple(ranges[at] for at in indices), tuple(ranges[at] for at in left), *rest)
        for dims, ranges, *rest in made.points()
    }


@each_row("""
MIXED.symbols_to_dims() => row, d1, d2, k, d4
MIXED.ranges_to_dims() => row, d1, d2, k, rt0
MIXED.ranges_to_dims([-1]) => row, d1, k, s0, rt0
MIXED.ranges_to_dims([1, 0]) => row, d1, k, d3, rt0
MIXED.ranges_to_dims([]) => row, d1, s0, k, rt0
# the identifier of a variable without name may be the name of another one
MIXED.rename(k="d2").symbols_to_dims() => row, d1, d2, d3, d4
MIXED.rename(row="d2").ranges_to_dims([0]) => d0, d1, d2, k, rt0
""")
def test_names_stay_where_they_can(call: str, names: str) -> None:
    made = evaluated(call, globals())
    made.verify()
    assert ", ".join(made.domain.names) == names


# constraints; what they leave of s0, and its bounds
@each_row("""
s0 mod 6 in [3, 3] => s0 * 6 + 3 => [-3, 3]
(s0 + 5) mod 6 in [3, 3] => s0 * 6 + 4 => [-4, 2]
(-s0) mod 6 in [2, 2] => s0 * 6 + 4 => [-4, 2]
s0 % -6 in [-2, -2] => s0 * 6 + 4 => [-4, 2]
(s0 * 4) mod 6 in [2, 2] => s0 * 3 + 2 => [-7, 6]
(s0 * 2 + 1) mod 6 in [3, 3] => s0 * 3 + 1 => [-7, 6]
# XLA takes one of two constraints, whichever comes first
s0 mod 4 in [3, 3], s0 mod 6 in [1, 1] => s0 * 12 + 7 => [-2, 1]
max(s0 mod 4, s0 mod 3) in [0, 0] => s0 * 12 => [-1, 1]
# a constraint that leaves several residues, but one of the steps of another
s0 mod 2 in [0, 0], s0 mod 32 in [0, 1] => s0 * 32 => [0, 0]
# nothing to rescale
s0 mod 4 in [1, 2] => s0 => [-20, 21]
(s0 + s1) mod 4 in [1, 1] => s0 => [-20, 21]
d0 mod 4 in [1, 1] => s0 => [-20, 21]
(s0 mod 8) floordiv 2 in [1, 1] => s0 => [-20, 21]
""")
def test_negative_bounds_and_shifts_are_rescaled(constraints: str, value: str, bounds: str) -> None:
    bounds_of_others = "d0 in [0, 3], s0 in [-20, 21], s1 in [0, 3]"
    before = parse_map(f"(d0)[s0, s1] -> (s0), domain: {bounds_of_others}, {constraints}")
    after = before.rescale_symbols()
    assert str(after).startswith(f"(d0)[s0, s1] -> ({value}), domain: d0 in [0, 3], s0 in {bounds}")
    assert (after == before) is (value == "s0")
    check_rescaled(before)


test_other_maps_are_rescaled = turned(lambda text: parse_map(text).rescale_symbols())("""
# runtime variables have bounds of their own
()[s0 < 4]{rt0 < 2, t in [-7, 30]} -> (s0 + t), domain: t mod 8 in [5, 5], rt0 + t in [-3, 40]
    ()[s0 < 4]{rt0 < 2, t in [-1, 3]} -> (t * 8 + s0 + 5), domain: t * 8 + rt0 + 5 in [-3, 40]
# an open end stays open
()[s0 in [-inf, 9]] -> (s0), domain: s0 mod 4 in [2, 2] => ()[s0 in [-inf, 1]] -> (s0 * 4 + 2)
# residues that exclude each other
()[s0 < 10] -> (s0), domain: s0 mod 4 in [0, 0], s0 mod 6 in [1, 1]
    ()[s0] -> (0), domain: KNOWN EMPTY
""")


@st.composite
def congruences(draw: st.DrawFn) -> IndexingMap:
    """A map whose variables are also constrained by residues."""
    made = draw(maps())
    found: list[tuple[forms.Form, Interval]] = []
    for identifier in made.domain.identifiers:
        for modulus in draw(st.lists(st.integers(1, 6), max_size=2)):
            shifted = forms.variable(identifier).times(draw(st.integers(-3, 3)))
            shifted = shifted.plus_constant(draw(st.integers(-5, 5)))
            residue = draw(st.integers(0, modulus - 1))
            remainder = operations.mod(shifted, forms.constant(modulus))
            found.append((remainder, Interval(residue, residue)))
    return IndexingMap.from_forms(made.forms, made.domain.constrained(found))


@given(congruences())
def test_the_relation_survives_rescaling(made: IndexingMap) -> None:
    check_rescaled(made)


def check_rescaled(made: IndexingMap) -> None:
    after = made.rescale_symbols()
    assert related(after) == related(made)
    assert len(list(after.points())) == len(list(made.points()))
    assert after.rescale_symbols() == after


@each_row("""
MIXED.rename({"row": "r", "k": "n"}) => (r, d1)[s0, n]{rt0}
MIXED.rename(row=None, k="") => (d0, d1)[s0, s1]{rt0}
MIXED.rename({symbol("d1"): "column"}, s0="i") => (row, column)[i, k]{rt0}
MIXED.rename(row="k", k="row") => (k, d1)[s0, row]{rt0}
MIXED.rename(row="d0") => (d0, d1)[s0, k]{rt0}
MIXED.rename() => (row, d1)[s0, k]{rt0}
""")
def test_variables_are_renamed_at_once(call: str, names: str) -> None:
    made = evaluated(call, globals())
    assert str(made).startswith(f"{names} -> (")
    assert related(made) == related(MIXED)
    assert parse_map(str(made)) == made


@given(maps())
def test_names_go_and_come_back(made: IndexingMap) -> None:
    names = {name: f"v{position}" for position, name in enumerate(made.domain.names)}
    renamed = made.rename(names)
    assert list(renamed.domain.names) == list(names.values())
    assert renamed.rename({new: old for old, new in names.items()}) == made
    assert renamed.rename(dict.fromkeys(names.values())) == made


SUBSTITUTED = rows("""
# an integer within the bounds, and one outside
MIXED.substitute({"k": 2})
    (row < 4, d1 < 8)[s0 < 3]{rt0 < 6} -> (row + s0, 2, d1 + rt0), domain: row + 2 in [0, 6]
MIXED.substitute({"k": 5}) => (row, d1)[s0]{rt0} -> (0, 0, 0), domain: KNOWN EMPTY
# variables that stay; the bounds of what goes become a constraint
MIXED.substitute({"row": symbol("s0") * 2, "k": symbol("d1")})
    (d0 < 5)[s0 < 3]{rt0 < 6} -> (s0 * 3, d0, d0 + rt0), domain: s0 * 2 + d0 in [0, 6], s0 * 2 in
        [0, 3]
# new variables, by role and behind the old ones
MIXED.substitute({"d1": symbol("t") * 4 + symbol("u"), "s0": symbol("v"), "rt0": 0},
        dims=[Variable((0, 1), "t"), Variable((0, 3), "u")], ranges=[Variable((1, 9), "v")])
    (row < 4, t < 2, u < 4)[k < 5, v in [1, 2]] -> (row + v, k, t * 4 + u), domain: row + k in [0,
        6], t * 4 + u in [0, 7]
# a new variable without name goes by the next identifier
IndexingMap.identity([8, 9]).substitute({"d0": symbol("d2")}, dims=[Variable((2, 30))])
    (d0 < 9, d1 in [2, 7]) -> (d1, d0)
# all variables go: inside, and outside
IndexingMap.identity([8]).substitute({"d0": 7}) => () -> (7)
IndexingMap.identity([8]).substitute({"d0": 8}) => () -> (0), domain: KNOWN EMPTY
EMPTY.substitute({"s0": 0}) => (d0){rt0} -> (0, 0), domain: KNOWN EMPTY
EMPTY.substitute({"d0": 0, "s0": 0, "rt0": 0}) => () -> (0, 0), domain: KNOWN EMPTY
""")

CONCATENATED = rows("""
# constraints of both maps hold
MIXED.with_constraint(symbol("d1") * 2, (0, 9)).concatenate_results(
        MIXED.with_constraint(symbol("row") + symbol("k"), (1, 3)).select_results([1]))
    (row < 4, d1 < 8)[s0 < 3, k < 5]{rt0 < 6} -> (row + s0, k, d1 + rt0, k), domain: d1 * 2 in [0,
        9], row + k in [1, 3]
# with the empty map nothing is left
EMPTY.concatenate_results(SOME) => (d0)[s0]{rt0} -> (0, 0, 0), domain: KNOWN EMPTY
SOME.concatenate_results(EMPTY) => (d0)[s0]{rt0} -> (0, 0, 0), domain: KNOWN EMPTY
""")


@for_all([*SUBSTITUTED, *CONCATENATED])
def test_maps_are_changed(call: str, text: str) -> None:
    assert str(evaluated(call, globals())) == text


@given(maps(), st.data())
def test_points_where_variables_have_the_values_stay(
    made: IndexingMap, data: st.DataObject
) -> None:
    """The point that a substituted map has is the old one less the variable that went."""
    identifiers = made.domain.identifiers
    if not identifiers:
        return
    gone = data.draw(st.sampled_from(identifiers))
    left = [identifier for identifier in identifiers if identifier != gone]
    constants = st.integers(-3, 3).map(forms.constant)
    value = data.draw(quasi_affine(left, leaves=3) if left else constants)
    after = made.substitute({gone: to_sympy(value)})
    points = ((dict(zip(identifiers, flat(p), strict=True)), p[3]) for p in made.points())
    assert {(flat(point), point[3]) for point in after.points()} == {
        (tuple(point[identifier] for identifier in left), results)
        for point, results in points
        if value_at(value, point) == point[gone]
    }


def value_at(form: forms.Form, point: dict[str, int]) -> int:
    values, _ = values_of(form, {name: np.array([at], dtype=object) for name, at in point.items()})
    return int(values[0])


@given(maps(results=3), st.lists(st.integers(-3, 2), max_size=5))
def test_results_are_selected(made: IndexingMap, indices: list[int]) -> None:
    expected = {(dims, tuple(results[at] for at in indices)) for dims, results in related(made)}
    assert related(made.select_results(indices)) == expected


@st.composite
def pairs(draw: st.DrawFn) -> tuple[IndexingMap, IndexingMap]:
    """Two maps over the same variables, within other bounds and constraints."""
    first = draw(maps())
    shift = draw(st.integers(-2, 2))
    dims, ranges, runtime = first.domain.by_role(
        variable.within(variable.bounds + shift) for variable in first.domain
    )
    identifiers = first.domain.identifiers
    limited = draw(constraints(identifiers)) if identifiers else []
    domain = Domain.of(dims, ranges, runtime, limited)
    return first, IndexingMap.from_forms([form for form, _ in limited], domain)


@given(pairs())
def test_results_are_concatenated_where_both_maps_are(
    pair: tuple[IndexingMap, IndexingMap],
) -> None:
    first, second = pair
    others = {point[:3]: point[3] for point in second.points()}
    assert list(first.concatenate_results(second).points()) == [
        (*point[:3], point[3] + others[point[:3]])
        for point in first.points()
        if point[:3] in others
    ]


test_what_is_refused = refusals(globals(), MapError, ConversionError, whole=True)("""
MIXED.ranges_to_dims([2]) => ranges_to_dims: index 2 is out of range; the map has ranges -2 to 1
IndexingMap.identity([4]).ranges_to_dims([0])
    ranges_to_dims: index 0 is out of range; the map has no ranges
MIXED.ranges_to_dims([0, -2])
    ranges_to_dims: indices are [0, -2]; expected each range at most once
MIXED.select_results([0, -4])
    select_results: index -4 is out of range; the map has results -3 to 2
MIXED.select_results([True]) => select_results: True is no index; expected an integer
MIXED.select_results("01") => select_results: indices are '01'; expected a sequence of integers
MIXED.concatenate_results(MIXED.rename(k="j"))
    concatenate_results: the ranges are (s0, k) in one map and (s0, j) in the other; expected the
        same number and names
MIXED.concatenate_results(MIXED.symbols_to_dims())
    concatenate_results: the dims are (row, d1) in one map and (row, d1, d2, k, d4) in the other;
        expected the same number and names
IndexingMap.from_gpu_grid([], [32, 1, 1])
    IndexingMap: grid has 3 sizes; expected 6 (th_x, th_y, th_z, bl_x, bl_y, bl_z)
IndexingMap.from_gpu_grid([], [32, 1, 1, -1, 1, 1])
    IndexingMap: grid[3] is -1; expected a size, an integer of at least 0
MIXED.concatenate_results([1]) => concatenate_results: the other map is [1]; expected an IndexingMap
MIXED.rename("row") => rename: 'row' is no mapping; expected one from names
MIXED.rename({"row": "1"})
    Variable: name is '1'; expected letters, digits and underscores, and no reserved word
MIXED.rename(row="a b")
    Variable: name is 'a b'; expected letters, digits and underscores, and no reserved word
MIXED.rename(d0="a")
    rename: the map has no 'd0'; expected one of its variables (row, d1, s0, k, rt0)
MIXED.rename(row="k") => rename: the name 'k' stands for two variables; expected different names
MIXED.rename(row="d1") => rename: the name 'd1' stands for two variables; expected different names
MIXED.substitute({"q": 1})
    substitute: the map has no 'q'; expected one of its variables (row, d1, s0, k, rt0)
MIXED.substitute({"k": symbol("d0")})
    substitute: value 0 uses 'd0'; expected a declared variable (row, d1, s0, k, rt0)
MIXED.substitute({"k": 1}, ranges=[3]) => IndexingMap: ranges[0] is 3; expected a Variable
MIXED.substitute({"k": symbol("row") / 2})
    row/2: is a fraction; expected an integer, or floor around it, such as row floordiv 2
MIXED.substitute({"k": 1}, dims=[Variable((0, 1), "row")])
    substitute: the name 'row' stands for two variables; expected different names
""")


GRID_NAMES = ("th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z")


def test_a_grid_has_six_dimensions() -> None:
    th_x, bl_y, chunk, offset = map(symbol, ("th_x", "bl_y", "chunk", "offset"))
    made = IndexingMap.from_gpu_grid(
        [bl_y * 128 + th_x + offset, chunk],
        (128, 2, 1, 4, 3, 1),
        ranges=[Variable((0, 7), "chunk")],
        runtime=[Variable((0, 3), "offset")],
        constraints=[(bl_y * 128 + th_x, (0, 299))],
    )
    assert made.domain.names == (*GRID_NAMES, "chunk", "offset")
    assert [variable.bounds.size for variable in made.dims] == [128, 2, 1, 4, 3, 1]
    assert [variable.kind for variable in made.dims] == [VariableKind(name) for name in GRID_NAMES]
    assert made.constraints == ((bl_y * 128 + th_x, Interval(0, 299)),)
    assert parse_map(str(made)) == made


def test_kinds_follow_names() -> None:
    made = IndexingMap.from_gpu_grid([symbol("th_x")], [32, 1, 1, 1, 1, 1])
    renamed = made.rename(th_x="warp", th_y="th_w", th_z="lane")
    kinds = [variable.kind for variable in renamed.dims[:3]]
    assert kinds == [VariableKind.WARP, VariableKind.TH_W, VariableKind.DEFAULT]
    assert renamed.rename(warp="th_x", th_w="th_y", lane="th_z") == made


UNNAMED = IndexingMap.from_sizes("d0", {"d0": 4, "row": 4}, [4], [4])


def test_each_variable_of_a_map_has_a_name() -> None:
    roles = (UNNAMED.dims, UNNAMED.ranges, UNNAMED.runtime)
    assert [[each.name for each in role] for role in roles] == [["d0", "row"], ["s0"], ["rt0"]]
    assert UNNAMED.names == (("d0", "row"), ("s0",), ("rt0",))
    image = UNNAMED.image(runtime_as_parameters=True)
    assert all(each.name for each in (*image.parameters, *image.hull.called[0]))
    assert (UNNAMED | UNNAMED).dims == ("d0", "row")


def test_a_name_by_position_is_no_given_one() -> None:
    """A variable that moves is called after its new place, and is equal to what it was."""
    d0, row = UNNAMED.dims
    (s0,) = UNNAMED.ranges
    assert d0 == s0 == Variable((0, 3))
    assert len({d0, s0, row}) == 2
    moved = IndexingMap("d1", [row, d0])
    assert [each.name for each in moved.dims] == ["row", "d1"]
    assert repr(moved.dims[1]).startswith("Variable(bounds=Interval(lower=0, upper=3), name='d1', ")


def test_a_launch_composes_with_what_a_tensor_needs() -> None:
    element = symbol("bl_x") * 8 + symbol("th_x")
    launch = IndexingMap.from_gpu_grid([element], [8, 1, 1, 5, 1, 1])
    composed = (IndexingMap.identity([36]) @ launch).simplify()
    assert composed.domain.names == GRID_NAMES
    assert composed.count() == 36
