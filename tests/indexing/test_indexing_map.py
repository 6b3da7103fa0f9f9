"""XLA's ``indexing_map_test``, test by test in its order, with its names in snake case.

The maps are the rows of ``tests/data/conformance/simplify.jsonl``, named by their ids. Where the
right answer is another than XLA's, a test states it with the reason.
"""

from __future__ import annotations

import pickle
from itertools import product
from pathlib import Path

import pytest

from indexing import (
    IndexingMap,
    MapError,
    UndefinedMap,
    Variable,
    VariableKind,
    compose,
    parse_map,
)
from simplifier import Interval, bounds_of, parse_expr, symbol
from tests.conformance import rows

ROWS = {row["id"]: row for row in rows("simplify")}


def given(name: str) -> IndexingMap:
    """The map of a row, before anything is done to it."""
    text = ROWS[name]["input"]
    return parse_map(text if isinstance(text, str) else text[0])


def expected(name: str) -> str:
    """What XLA expects to become of the row's map."""
    return ROWS[name]["expected"]


def simplifies(name: str, to: str | None = None) -> None:
    """The row's map becomes what XLA expects, or what is right instead; and stays so.

    XLA keeps all ranges; ours may be fewer, and then relate the same.
    """
    before = given(name)
    after = before.simplify(preserve_ranges=True)
    assert str(after) == (to or expected(name))
    assert after.equals(before)
    assert after.simplify(preserve_ranges=True) == after
    assert after.simplify().equals(before)
    assert (after != before) == (to is not None or ROWS[name]["changed"])


def becomes_empty(name: str) -> None:
    """The row's map has points for all that is seen at first, and none once it is simplified."""
    before = given(name)
    assert not before.is_known_empty
    assert before.simplify().is_known_empty
    assert before.is_empty()


def test_variable_kind() -> None:
    names = ("default", "th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z", "warp", "th_w")
    assert [VariableKind(name).name for name in names] == [name.upper() for name in names]
    assert [kind.value for kind in VariableKind] == list(names)


def test_verify_dimensions() -> None:
    # Variables here are declared, not counted: the one that is missing is named.
    with pytest.raises(MapError, match=r"result 0 uses 'd1'; expected a declared variable \(d0\)"):
        IndexingMap.from_sizes([symbol("d1")], dims=[10])


def test_verify_symbols() -> None:
    with pytest.raises(MapError, match=r"result 0 uses 's0'; expected a declared variable \(d0\)"):
        IndexingMap.from_sizes([symbol("s0")], dims=[10])


def test_rt_var() -> None:
    d0, d1, middle, rt0, rt1 = map(symbol, ("d0", "d1", "range", "rt0", "rt1"))
    made = IndexingMap(
        [d1, d0, middle + rt0, rt1],
        [Variable((0, 99), "d0"), Variable((0, 43), "d1")],
        [Variable((-99, 99), "range")],
        [Variable((0, 2)), Variable((0, 7))],
    )
    assert str(made) == (
        "(d0, d1)[range]{rt0, rt1} -> (d1, d0, range + rt0, rt1), domain: d0 in [0, 99], "
        "d1 in [0, 43], range in [-99, 99], rt0 in [0, 2], rt1 in [0, 7]"
    )


SQUARES = parse_map(
    "(d0, d1)[s0, s1] -> (d1, d0, s1, s0), "
    "domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 1], s1 in [0, 1]"
)


def test_evaluate_ignores_domain_ranges() -> None:
    assert SQUARES.evaluate([1, 2], [3, 4]) == (2, 1, 4, 3)


def test_constraints_satisfied() -> None:
    # XLA looks at the constraints alone; `contains` looks at the bounds, too.
    wide = parse_map(
        "(d0, d1)[s0, s1] -> (d1, d0, s1, s0), "
        "domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 9], s1 in [0, 9]"
    )
    assert wide.contains([1, 2], [3, 4])
    limited = wide.with_constraint(parse_expr("s0 mod 4"), (0, 0))
    assert not limited.contains([1, 2], [5, 4])
    assert limited.contains([1, 2], [4, 4])
    assert not SQUARES.contains([1, 2], [3, 4])


def composes(name: str) -> IndexingMap:
    consumer, producer = map(parse_map, ROWS[name]["input"])
    composed = compose(consumer, producer)
    assert composed == producer @ consumer == parse_map(expected(name))
    return composed


def test_composition_permutation() -> None:
    composes("compose_permutation")


def test_composition_restricted_interval() -> None:
    composes("compose_restricted")


def test_composition_producer_and_consumer_have_constraints() -> None:
    composed = composes("compose_constraints")
    simplified = composed.simplify()
    assert str(simplified) == expected("compose_constraints_simplified")
    assert simplified.equals(composed)


def test_composition_rt_var() -> None:
    producer = parse_map(
        "(d0, d1, d2){rt0, rt1, rt2} -> (d0 + rt0, d1 + rt1, d2 + rt2), domain: d0 in [0, 0], "
        "d1 in [0, 1], d2 in [0, 226], rt0 in [0, 0], rt1 in [0, 1], rt2 in [0, 226]"
    )
    consumer = parse_map(
        "(d0, d1)[s] -> (0, d1, s), domain: d0 in [0, 0], d1 in [0, 1], s in [0, 31]"
    )
    assert str(compose(consumer, producer)) == (
        "(d0, d1)[s]{rt0, rt1, rt2} -> (rt0, d1 + rt1, s + rt2), domain: d0 in [0, 0], "
        "d1 in [0, 1], s in [0, 31], rt0 in [0, 0], rt1 in [0, 1], rt2 in [0, 226]"
    )


def test_composition_only_rt_vars() -> None:
    # The names tell whose the variables are: the producer's come first.
    assert [variable.name for variable in composes("compose_rt_vars").runtime] == [
        "ps_0",
        "ps_1",
        "cs_0",
        "cs_1",
    ]


def test_compose_indexing_maps_computation_partitioner_test_crash() -> None:
    identity = IndexingMap.identity([4] * 7)
    assert compose(identity, identity) == identity


def test_known_empty_creating_indexing_map_with_infeasible_range() -> None:
    assert parse_map("(d0) -> (d0), domain: d0 in [10, 0]").is_known_empty


def test_known_empty_adding_constraint_out_of_range() -> None:
    assert parse_map("(d0) -> (d0), domain: d0 in [0, 49], 0 in [10, 15]").is_known_empty


def test_known_empty_composition() -> None:
    full, empty = map(parse_map, ROWS["compose_with_empty"]["input"])
    assert empty.is_known_empty
    for composed in (empty @ full, full @ empty):
        assert composed.is_known_empty
        assert len(composed.results) == 1


def test_known_empty_adding_constraint_out_of_range_after_simplification() -> None:
    becomes_empty("constraint_floordiv_infeasible")


d0 = symbol("d0")


def test_map_vector_constructor_unsatisfiable_constraints() -> None:
    made = IndexingMap([d0], [Variable((0, 0))], constraints=[(-1, (0, 1))])
    assert made.is_known_empty


def test_map_vector_constructor_one_of_constraints_is_unsatisfiable() -> None:
    made = IndexingMap([d0], [Variable((0, 10))], constraints=[(-1, (0, 1)), (d0, (0, 5))])
    assert made.is_known_empty
    assert made.constraints == ()


def test_map_vector_constructor_constraint_affects_simplification() -> None:
    simplifies("dim_constraint_affects_result")
    made = IndexingMap([parse_expr("d0 mod 16")], [Variable((0, 31))], constraints=[(d0, (0, 7))])
    assert made == given("dim_constraint_affects_result")


def loses_unused_variables(name: str) -> None:
    row = ROWS[name]
    remove = {
        "remove_unused_vars": IndexingMap.without_unused_variables,
        "remove_unused_symbols": IndexingMap.without_unused_symbols,
    }[row["op"]]
    assert str(remove(given(name))) == row["expected"]


def test_remove_unused_vars_constraint_uses_dim() -> None:
    loses_unused_variables("unused_dim_in_shared_constraint")


def test_remove_unused_vars_constraint_uses_only_unused_dim() -> None:
    loses_unused_variables("unused_dim_alone")


def test_remove_unused_symbols_constraint_uses_only_unused_sym() -> None:
    loses_unused_variables("unused_symbol_alone")


def test_remove_unused_symbols_constraints_with_many_symbols() -> None:
    loses_unused_variables("unused_symbols_many")


def test_remove_unused_symbols_constraints_with_rt_vars() -> None:
    many = parse_map(
        "(d0)[s0, s1, s2]{rt0, rt1} -> (d0 * 4 + s1 + rt0 - 42), domain: d0 in [0, 31], "
        "s0 in [0, 0], s1 in [0, 1], s2 in [0, 2], rt0 in [0, 3], rt1 in [0, 4], "
        "d0 * 4 + s1 + rt0 in [24, 459]"
    )
    assert many.unused_symbols() == ((), (0, 2), (1,))
    assert str(many.without_unused_symbols()) == (
        "(d0)[s0]{rt0} -> (d0 * 4 + s0 + rt0 - 42), domain: d0 in [0, 31], s0 in [0, 1], "
        "rt0 in [0, 3], d0 * 4 + s0 + rt0 in [24, 459]"
    )


def test_remove_unused_vars_constraints_with_many_dims() -> None:
    loses_unused_variables("unused_vars_many")
    assert given("unused_vars_many").unused_variables() == ((0, 2, 4), (1,), ())


def test_remove_unused_symbols_constraint_uses_symbol() -> None:
    loses_unused_variables("unused_symbol_in_shared_constraint")


def test_remove_unused_symbols_constraint_is_a_constant_within_range() -> None:
    constant = parse_map("(d0) -> (d0), domain: d0 in [0, 49], 0 in [-10, 5]")
    assert str(constant) == "(d0) -> (d0), domain: d0 in [0, 49]"


def test_convert_symbols_to_dimensions() -> None:
    assert given("symbols_to_dims").symbols_to_dims() == parse_map(expected("symbols_to_dims"))


def test_constraint_interval_simplification_sum() -> None:
    # Numbers with `d0 mod 8` of 1 or more begin at 1.
    simplifies("constraint_sum", "(d0) -> (d0), domain: d0 in [1, 99], d0 mod 8 in [1, 5]")


def test_constraint_interval_simplification_sum_infeasible() -> None:
    becomes_empty("constraint_sum_infeasible")


def test_simplifier_mod1() -> None:
    simplifies("mod1_constraint_dropped")


def test_constraint_interval_simplification_sum_independent_of_symbol() -> None:
    simplifies("constraint_drop_low_order")


def test_constraint_interval_simplification_sum_not_independent_of_symbol() -> None:
    # XLA has the bound of d0 on its list (b/459357586).
    simplifies("constraint_low_order_needed", ROWS["constraint_low_order_needed"]["ideal"])


def test_constraint_interval_simplification_floordiv_positive_divisor_positive_bounds() -> None:
    simplifies("c_floordiv_pos")


def test_constraint_interval_simplification_floordiv_positive_divisor_negative_bounds() -> None:
    simplifies("c_floordiv_posdiv_neg")


def test_constraint_interval_simplification_floordiv_negative_divisor_negative_bounds() -> None:
    # XLA's [15, 35] is the answer for division that truncates.
    simplifies("c_floordiv_negdiv_neg", ROWS["c_floordiv_negdiv_neg"]["sound_expected"])


def test_constraint_interval_simplification_mul_positive_multiplier_positive_bounds() -> None:
    simplifies("c_mul_pos")


def test_constraint_interval_simplification_mul_positive_multiplier_negative_bounds() -> None:
    simplifies("c_mul_pos_neg")


def test_constraint_interval_simplification_mul_negative_multiplier_negative_bounds() -> None:
    simplifies("c_mul_neg_neg")


def test_constraint_merge_mod() -> None:
    simplifies("merge_mods")


def test_symbolic_map_simplification_constant_dims() -> None:
    point = given("point_dim_preserve")
    assert point.simplify(preserve_size_one=True) == point
    simplifies("point_dim")


def test_symbolic_map_simplification_sum_order_regression() -> None:
    twice_is_once("idempotent_0")


def test_symbolic_map_simplification_sum_order_regression2() -> None:
    twice_is_once("idempotent_1")


def twice_is_once(name: str) -> None:
    before = given(name)
    after = before.simplify()
    assert after != before
    assert after.simplify() == parse_map(str(after)).simplify() == after


def test_symbolic_map_simplification_floordiv_regression() -> None:
    simplifies("floordiv_regression")


def test_symbolic_map_simplification_mod_is_sub() -> None:
    simplifies("mod_is_sub")


def test_symbolic_map_simplification_mod_is_add() -> None:
    simplifies("mod_is_add")


def test_symbolic_map_simplification_mod_is_not_add() -> None:
    simplifies("mod_is_not_add_1")
    simplifies("mod_is_not_add_2")


def test_symbolic_map_simplification_sub_is_mod() -> None:
    simplifies("sub_is_mod")


def test_symbolic_map_simplification_sub_is_mod_multiplied() -> None:
    # XLA writes (s0 mod 3) * 4 + s0 * 3: one operator less, but no strides.
    strides = "(s0 mod 3) * 7 + (s0 floordiv 3) * 9 + d0"
    simplifies(
        "sub_is_mod_multiplied", f"(d0)[s0] -> ({strides}), domain: d0 in [0, 1], s0 in [0, 3]"
    )


def test_symbolic_map_simplification_sub_is_mod_sum() -> None:
    simplifies("sub_is_mod_sum")


def test_symbolic_map_simplification_divs_and_mods_if_smaller_than_divisor() -> None:
    simplifies("smaller_than_divisor")


def test_symbolic_map_simplification_divs_and_mods_with_multipliers() -> None:
    simplifies("with_multipliers")


def test_symbolic_map_simplification_divs_and_mods_with_divisible_multipliers() -> None:
    simplifies("divisible_multipliers")


def test_symbolic_map_simplification_divs_and_mods_with_reverse() -> None:
    simplifies("with_reverse")


def test_symbolic_map_simplification_simplify_reshape() -> None:
    simplifies("reshape")


def test_symbolic_map_simplification_simplify_reshape2() -> None:
    simplifies("reshape2")


def test_symbolic_map_simplification_simplify_reshape3() -> None:
    simplifies("reshape3")


def test_symbolic_map_simplification_mod_with_negative_multiplier_gets_simplified() -> None:
    # XLA's name says "does not": the sign means nothing modulo 2.
    simplifies("negative_mod_unchanged", "(d0) -> (d0 mod 2), domain: d0 in [0, 127]")


def test_symbolic_map_simplification_simplify_bitcast_and_back() -> None:
    simplifies("bitcast_and_back")


def test_symbolic_map_simplification_simplify_reshape_regression() -> None:
    # XLA only reorders the sum; here the order is fixed when the map is read.
    before = given("reshape_not_collapsible")
    assert str(before) == expected("reshape_not_collapsible")
    assert before.simplify() == before


def test_symbolic_map_simplification_tiling_offset_cancellation() -> None:
    simplifies("tiling_offset")


def test_symbolic_map_simplification_negative_tiling_offset_cancellation() -> None:
    simplifies("negative_tiling_offset")


def test_symbolic_map_simplification_divs_in_sequence() -> None:
    simplifies("divs_in_sequence")


def test_symbolic_map_simplification_mod_add_distributive() -> None:
    simplifies("mod_add_distributive")


def test_symbolic_map_simplification_floordiv_mod_linear() -> None:
    simplifies("floordiv_mod_linear")


def test_symbolic_map_simplification_div_div() -> None:
    simplifies("div_div")


def test_symbolic_map_simplification_div_sum_constant() -> None:
    # (2x + 3) floordiv 6 = (x + 1) floordiv 3: the half is never reached.
    simplifies("div_sum_constant", "()[s0] -> ((s0 + 1) floordiv 3), domain: s0 in [0, 1233]")


def test_symbolic_map_simplification_div_sum_div() -> None:
    # Only one of two inner quotients may join the outer one; XLA joins none.
    simplifies(
        "div_sum_div_unchanged",
        "()[s0, s1] -> (((s0 floordiv 3) * 3 + s1) floordiv 18), "
        "domain: s0 in [0, 1233], s1 in [0, 127]",
    )


def test_symbolic_map_simplification_sum_div_to_negative_one() -> None:
    simplifies("sum_div_to_minus_one")


def test_symbolic_map_simplification_negative_div() -> None:
    # Not s0 floordiv -14, as XLA's test says, too; floor(floor(s0/2) / -7) = floor((1 - s0)/14).
    simplifies(
        "negative_div_unchanged",
        "()[s0] -> ((-s0 + 1) floordiv 14), domain: s0 in [0, 1233]",
    )


def test_symbolic_map_simplification_extract_from_mod() -> None:
    # 114688 mod 5000 = 4688: smaller numbers at the same cost.
    simplifies(
        "extract_from_mod",
        "()[s0, s1, s2, s3] -> (((s0 * 4688 + s3 * 128 + s2) mod 5000) * 4 + s1), "
        "domain: s0 in [0, 871], s1 in [0, 3], s2 in [0, 127], s3 in [0, 895]",
    )


def test_symbolic_map_simplification_extract_from_div_negative_multiplier() -> None:
    simplifies("extract_from_div_negative")


def rescales(name: str, to: str | None = None) -> None:
    rescaled = given(name).rescale_symbols()
    assert rescaled == parse_map(to or expected(name))
    assert rescaled.equals(given(name))


def rescales_and_simplifies(name: str) -> None:
    rescaled = given(name).rescale_symbols()
    assert str(rescaled.simplify()) == expected(name)
    assert rescaled.equals(given(name))


def test_rescale_symbols_simple() -> None:
    rescales_and_simplifies("rescale_simple")


def test_rescale_symbols_with_shift() -> None:
    rescales("rescale_shift")


def test_rescale_symbols_two_mod_constraints() -> None:
    rescales_and_simplifies("rescale_two_mods")


def test_rescale_symbols_rescaled_symbol_in_other_non_mod_constraint() -> None:
    # Products are no matter for isl: the points are compared.
    before = given("rescale_other_constraint")
    after = before.rescale_symbols()
    assert after == parse_map(expected("rescale_other_constraint"))
    assert {(p[0], p[3]) for p in after.points()} == {(p[0], p[3]) for p in before.points()}


def test_rescale_symbols_two_mod_constraints_for_the_same_symbol_are_merged() -> None:
    # XLA cannot merge them and rescales along either (b/347240603): 3 mod 6, 5 mod 7 is 33 mod 42.
    before = parse_map(
        "(d0)[s0, s1, s2] -> (s2, d0, s1, s0), domain: d0 in [0, 3], s0 in [0, 99], "
        "s1 in [0, 1], s2 in [0, 5], s0 mod 6 in [3, 3], s0 mod 7 in [5, 5]"
    )
    after = before.rescale_symbols()
    assert str(after) == (
        "(d0)[s0, s1, s2] -> (s2, d0, s1, s0 * 42 + 33), domain: d0 in [0, 3], s0 in [0, 1], "
        "s1 in [0, 1], s2 in [0, 5]"
    )
    assert after.equals(before)


def test_rescale_symbols_keeps_hashmap_consistent() -> None:
    rescaled = parse_map(
        "(d0)[s0, s1, s2] -> (s2, d0, s0, s0 floordiv 6), domain: d0 in [0, 3], s0 in [0, 6], "
        "s1 in [0, 1], s2 in [0, 5], s0 mod 6 in [0, 0], s0 * s1 in [0, 100]"
    ).rescale_symbols()
    again = parse_map(str(rescaled))
    assert again == rescaled
    assert hash(again) == hash(rescaled)


def test_range_evaluator_test() -> None:
    bounds = {"d0": (0, 9), "d1": (-10, -1), "d2": (-1, 2), "d3": (0, 0)}
    natural = Interval(0, None)
    assert [natural.contains(Interval(*ends)) for ends in bounds.values()] == [
        True,
        False,
        False,
        True,
    ]
    assert bounds_of(parse_expr("d0 * 2 + d1"), bounds) == Interval(-10, 17)
    assert bounds_of(parse_expr("min(d0, d1)"), bounds) == Interval(-10, -1)
    assert bounds_of(parse_expr("max(d0, d1)"), bounds) == Interval(0, 9)


def are_values(values: list[object]) -> None:
    """Equal ones have equal hashes and survive pickling; ``!=`` is the opposite of ``==``."""
    for left, right in product(values, repeat=2):
        assert (left != right) is not (left == right)
        assert left != right or hash(left) == hash(right)
    assert pickle.loads(pickle.dumps(values)) == values  # noqa: S301 - our own bytes


def test_interval_supports_hash_and_eq_and_ne() -> None:
    are_values([Interval(1, 1), Interval(0, 1), Interval(1, 2)])


def test_interval_supports_llvm_style_hashing_and_eq_and_ne() -> None:
    are_values([Interval(1, 1), Interval.of((1, 1)), Interval(1, None), Interval(None, 1)])


def test_dim_var_supports_hash_and_eq_and_ne() -> None:
    are_values([Variable((1, 1)), Variable((0, 1)), Variable((1, 2))])


def test_range_var_supports_hash_and_eq_and_ne() -> None:
    are_values([Variable((1, 1), "s"), Variable((1, 1), "t"), Variable((1, 1))])


def test_rt_var_supports_hash_and_eq_and_ne() -> None:
    are_values([Variable((1, 1)), Variable((1, 2)), Variable((1, 2)), Variable((1, 2))])


def test_indexing_map_supports_hash_and_eq_and_ne() -> None:
    bounds = "domain: d0 in [0, 49], d1 in [0, 59], s0 in [0, 69], s1 in [0, 79]"
    head = "(d0, d1)[s0, s1] -> (d1, d0, s1, s0), "
    with_runtime = "(d0)[s0, s1, s2]{rt0, rt1} -> (d0 * 4 + s1 + rt0 - 42), domain: d0 in [0, 31], "
    texts = [
        head + bounds,
        head.replace("(d1, d0", "(d1 * 2, d0") + bounds,
        head + bounds.replace("49", "50"),
        head + bounds,
        head + bounds + ", d0 mod 8 in [0, 0], d0 mod 16 in [0, 0]",
        head + bounds + ", d0 mod 8 in [0, 0], d0 mod 32 in [0, 0]",
        with_runtime + "s0 in [0, 0], s1 in [0, 1], s2 in [0, 2], rt0 in [0, 3], rt1 in [0, 4]",
        with_runtime + "s0 in [0, 0], s1 in [0, 1], s2 in [0, 2], rt0 in [0, 3], rt1 in [0, 5]",
    ]
    are_values([parse_map(text) for text in texts])
    assert len({parse_map(text) for text in texts}) == len(set(texts)) == len(texts) - 1


def test_convert_range_variables_to_dimensions() -> None:
    converted = given("range_vars_to_dims").ranges_to_dims([0, 2])
    assert converted == parse_map(expected("range_vars_to_dims"))


def test_convert_range_variables_to_dimensions_with_runtime_vars() -> None:
    before = parse_map(
        "(d0, d1)[to_convert_0, range, to_convert_1]{rt0, rt1} -> "
        "(d1, d0, range + to_convert_1 + rt0, to_convert_0), domain: d0 in [0, 3], d1 in [0, 3], "
        "to_convert_0 in [0, 2], range in [0, 1], to_convert_1 in [0, 3], "
        "rt0 in [0, 0], rt1 in [0, 1]"
    )
    after = parse_map(
        "(d0, d1, to_convert_0, to_convert_1)[range]{rt0, rt1} -> "
        "(d1, d0, range + to_convert_1 + rt0, to_convert_0), domain: d0 in [0, 3], d1 in [0, 3], "
        "to_convert_0 in [0, 2], to_convert_1 in [0, 3], range in [0, 1], "
        "rt0 in [0, 0], rt1 in [0, 1]"
    )
    assert before.ranges_to_dims([0, 2]) == after


def test_symbolic_map_get_results_lvalue_iteration() -> None:
    assert list(IndexingMap.identity([4]).results) == [d0]


USED = [
    ("only dimensions", "d0, d1", ((0, 1), ())),
    ("only symbols", "s0, s1", ((), (0, 1))),
    ("both", "d0 + s0, d1 * s1", ((0, 1), (0, 1))),
    ("constants", "d0 * 2 + 42, s1 - 10", ((0,), (1,))),
    ("several expressions", "d0, s0, d1 + s1", ((0, 1), (0, 1))),
    ("none", "42, 42 + 42", ((), ())),
    ("twice", "d0, d0, s1, s1", ((0,), (1,))),
    ("mixed", "d0 * s0 + 42, d1 mod 3", ((0, 1), (0,))),
]


@pytest.mark.parametrize(("results", "used"), [r[1:] for r in USED], ids=[r[0] for r in USED])
def test_get_used_parameters(results: str, used: tuple[tuple[int, ...], ...]) -> None:
    asked = parse_map(
        f"(d0, d1)[s0, s1] -> ({results}), "
        "domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 9], s1 in [0, 9]"
    )
    dims, ranges, _ = asked.unused_variables()
    unused = [{0, 1} - set(places) for places in used]
    assert [set(dims), set(ranges)] == unused


def test_simplify_min_adjacent() -> None:
    simplifies("min_adjacent")


def test_simplify_min_constant() -> None:
    simplifies("min_constant")


def test_simplify_max_adjacent() -> None:
    simplifies("max_adjacent")


def test_simplify_max_constant() -> None:
    simplifies("max_constant")


def test_simplify_min_complex() -> None:
    simplifies("min_complex")


def test_simplify_max_complex() -> None:
    simplifies("max_complex")


def test_is_undefined() -> None:
    assert UndefinedMap("a custom call").is_undefined
    assert not IndexingMap.from_sizes([d0], dims=[10]).is_undefined


def test_compute_result_ranges() -> None:
    # Without the constraint, `clear constraints` in XLA, the quotient goes one further.
    for name in ("result_ranges", "result_ranges_no_constraints"):
        ranges = [Interval(*ends) for ends in ROWS[name]["expected"]]
        assert given(name).result_bounds() == tuple(ranges)


def test_every_row_is_asked_for() -> None:
    text = Path(__file__).read_text("utf-8")
    assert [name for name in ROWS if f'"{name}"' not in text] == []
