"""Builders with sizes over parameters: for numbers they give the maps of the builders for these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, reduce
from inspect import isfunction
from itertools import chain, pairwise, product
from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import ops
from indexing import IndexingMap, parse_map
from indexing.simplify import conditioned
from ops import OpIndexing, ShapeError
from ops.hlo import DimensionLabels, Window
from ops.index_maps import dim, index_map, on_condition
from simplifier import Interval, symbol
from simplifier.expr import form as forms
from simplifier.expr import operations
from tests.cases import by_name, for_all, pairs
from tests.evaluation import related
from tests.extent import examples

Size = Any
"""A number, or an expression."""

Made = OpIndexing | tuple[OpIndexing, ...]
Build = Callable[[Size, Size, Size], Made]

K, M, N = map(symbol, ("K", "M", "N"))

PUBLIC: list[str] = vars(ops)["__all__"]
NAMES: dict[str, Any] = {
    **{name: getattr(ops, name) for name in PUBLIC},
    **{use.name: use for use in ops.StepUse},
    "Window": Window,
    "GROUPS": [[0, 1], [3, 2]],
    "LABELS": DimensionLabels.parse("b0f_0io->b0f"),
}

CALLS = pairs("""
elementwise => elementwise([(n, 3), (m, 3), ()])
elementwise alike => elementwise([(n, m), (n, m)])
broadcast => broadcast((n, 1), (2, n, m), (1, 2))
broadcast of another size => broadcast((n + 2,), (m + 2, 3), (0,))
broadcast that may stretch => broadcast((n, k), (m, 2, k), (0, 1))
broadcast to a number => broadcast((m, n), (2, 3, 4), (2, 1))
broadcast that never stretches => broadcast((n * 2,), (m, 3), (0,))
reshape split => reshape((n * 4,), (n, 4))
reshape on condition => reshape((n,), (m, 4))
reshape joined => reshape((n, m, 6), (n * m, 2, 3))
reshape in blocks => reshape((n, m * k), (n, m, k))
reshape twice => reshape((n, m * 2), (n * 2, m))
reshape of ones => reshape((1, n, 1), (n, 1))
bitcast_convert => bitcast_convert((n,), (m, 4))
transpose => transpose((n, m, 2), (1, 2, 0))
reverse => reverse((n, m), (0,))
rotate => rotate((n, m), (0,), (k,))
permute => permute((n, m), (1,))
slice => slice((n,), (m,), (k,))
slice in steps => slice((n, 4), (m, 0), (n, 4), (2, 3))
slice in symbolic steps => slice((n, m), (0, 1), (n, m), (k, 2))
concatenate => concatenate([(n, 2), (m, k), (3, 2)], 0)
pad => pad((n, 2), [(m - 2, k - 2, 0), (1, 0, 1)])
pad between => pad((n,), [(m - 2, k - 2, 1)])
reduce => reduce((n, m, 2), (1,))
sort => sort((n, m), 1)
top_k => top_k((n, m), k)
generated => generated((n, m))
rng => rng((n, m))
rng_bit_generator => rng_bit_generator((n,), (m, 2))
dot
    dot((2, n, m), (2, k, 3), lhs_contracting_dims=(2,), rhs_contracting_dims=(1,),
        lhs_batch_dims=(0,), rhs_batch_dims=(0,))
ragged_dot
    ragged_dot((n, m), (k, m, 2), (k,), lhs_ragged_dims=(0,), rhs_group_dims=(0,),
        lhs_contracting_dims=(1,), rhs_contracting_dims=(1,))
ragged_dot on condition
    ragged_dot((2, n, m), (k, 2, m, 3), (m, k), lhs_ragged_dims=(1,), rhs_group_dims=(0,),
        lhs_contracting_dims=(2,), rhs_contracting_dims=(2,), lhs_batch_dims=(0,),
        rhs_batch_dims=(1,))
ragged_dot of groups
    ragged_dot((n, m), (k, 2), (m,), lhs_ragged_dims=(0,), lhs_contracting_dims=(0,),
        rhs_contracting_dims=(0,))
dynamic_slice => dynamic_slice((n, 3), (m, 2))
dynamic_slice from => dynamic_slice((n, 3), (m, 2), (1, None))
dynamic_update_slice => dynamic_update_slice((n, m), (2, k))
dynamic_update_slice from => dynamic_update_slice((n,), (m,), (1,))
gather
    gather((n, 3), (m, 1), offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,),
        index_vector_dim=1, slice_sizes=(1, k))
gather in batches
    gather((n, 3), (m, 1), offset_dims=(1,), collapsed_slice_dims=(), start_index_map=(1,),
        index_vector_dim=1, slice_sizes=(1, k), operand_batching_dims=(0,),
        start_indices_batching_dims=(0,))
scatter
    scatter((n, 3), (m, 1), (m, k), update_window_dims=(1,), inserted_window_dims=(0,),
        scatter_dims_to_operand_dims=(0,), index_vector_dim=1)
reduce_window => reduce_window((n, m), Window(size=(2, 1), stride=(1, 1), pad=((0, 0), (0, 0))))
reduce_window in steps => reduce_window((n,), Window(size=(3,), stride=(2,), pad=((1, 1),)))
reduce_window with gaps
    reduce_window((n,), Window(size=(2,), stride=(3,), pad=((1, 2),), lhs_dilate=(2,),
        rhs_dilate=(2,)))
select_and_scatter => select_and_scatter((n,), (m,), Window(size=(2,), stride=(2,), pad=((0, 1),)))
reduce_window of any size => reduce_window((n,), Window(size=(m,), stride=(k,)))
reduce_window of any padding => reduce_window((n,), Window(size=(2,), stride=(2,), pad=((m, k),)))
reduce_window of any size with gaps
    reduce_window((n,), Window(size=(m,), stride=(k,), lhs_dilate=(2,), rhs_dilate=(2,)))
reduce_window of all => reduce_window((n, m), Window(size=(n, m)))
reduce_window of one element => reduce_window((1,), Window(size=(m,), stride=(k,), pad=((2, 1),)))
select_and_scatter of any size => select_and_scatter((n,), (m,), Window(size=(k,), stride=(k,)))
convolution with any kernel
    convolution((1, n, 2), (m, 2, 3), LABELS, Window(size=(m,), stride=(k,), rhs_reversal=(1,)))
convolution of one element
    convolution((n, 1, 2), (m, 2, 3), LABELS, Window(size=(m,), stride=(k,), pad=((1, 2),)))
convolution => convolution((n, m, k), (2, k, 3), LABELS, Window(size=(2,), pad=((1, 0),)))
convolution in groups
    convolution((2, n, m), (1, m, 4), LABELS, Window(size=(1,)), batch_group_count=2)
convolution of features
    convolution((1, 3, n), (2, 2, m), LABELS, Window(size=(2,), rhs_reversal=(True,)),
        feature_group_count=2)
batch_norm_training => batch_norm_training((n, m), 1)
batch_norm_inference => batch_norm_inference((n, m), 1)
batch_norm_grad => batch_norm_grad((n, m), 1)
cholesky => cholesky((2, n, m), lower=True)
triangular_solve => triangular_solve((n, m), (m, k), left_side=True, unit_diagonal=True)
fft => fft((n, m, 4), "RFFT", (4,))
fft of a size => fft((n, m), "RFFT", (m,))
fft of two => fft((2, n, m), "FFT", (k, m))
fft back => fft((k, m), "IRFFT", (n,))
scaled_dot
    scaled_dot((n, m * 4), (m * 4, 3), (n, m), (k, 1), lhs_contracting_dims=(1,),
        rhs_contracting_dims=(0,))
scaled_dot of scalars
    scaled_dot((n, m), (k, 2), (), (k, 2), lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
scan => scan([(n, m)], [(n, m)], [(m,)], 0)
scan element by element => scan([(m, n), (m, n)], [(m, n)], [(m,), (k,)], 1, is_elementwise=True)
scan backwards => scan([(n,), (m,)], [(n,)], [(k,), ()], 0, is_reverse=True)
scan that delays
    scan([(n, m)], [(n, m)], [(m,)], 0, uses=[[NONE, ELEMENTWISE], [ELEMENTWISE, NONE]])
scan that rotates
    scan([], [(n,)], [(), ()], 0, uses=[[ELEMENTWISE, NONE], [NONE, ELEMENTWISE], [ELEMENTWISE,
        NONE]])
scan that forgets => scan([(n, m)], [(n, 2)], [(2,)], 0, uses=[[ANY, NONE], [ANY, NONE]])
scan of a carried value alone => scan([(n,)], [], [(m,)], 0, uses=[[NONE, ANY]])
all_reduce => all_reduce((n, m), GROUPS)
all_gather => all_gather((n, m), 0, GROUPS)
reduce_scatter => reduce_scatter((n, m), 0, GROUPS)
all_to_all => all_to_all((n, m), 1, GROUPS, concat_dimension=0)
collective_permute => collective_permute((n, m), [(0, 1), (1, 2)])
collective_broadcast => collective_broadcast((n, m), GROUPS)
collective_broadcast from a root => collective_broadcast((n, m), GROUPS, root=Root(1, 0))
collective_reduce => collective_reduce((n, m), GROUPS)
ragged_all_to_all => ragged_all_to_all((n, m), (k, m), 2, [[0, 1]])
all_to_all_of_tuple => all_to_all_of_tuple((n, m), 2, GROUPS)
set_dimension_size => set_dimension_size((n, m), 1)
get_dimension_size => get_dimension_size((n, m), 1)
dynamic_reshape => dynamic_reshape((n, m), (n * m,))
""")
"""Calls over three sizes, by the builder and what is special."""

BUILDERS: dict[str, Build] = {
    name: eval(f"lambda n, m, k: {call}", NAMES)  # noqa: S307 - of this table
    for name, call in CALLS.items()
}


def results_of(made: Made) -> tuple[OpIndexing, ...]:
    return made if isinstance(made, tuple) else (made,)


def maps_of(made: Made) -> Iterator[IndexingMap]:
    ways = ((*each.output_to_input, *each.input_to_output) for each in results_of(made))
    return chain.from_iterable(ways)


def maps_to_values(made: Made) -> Iterator[IndexingMap]:
    """The maps to replicas and to the values of runtime variables."""
    for each in results_of(made):
        found = [*each.output_replicas, *each.input_replicas]
        for origin in chain(*each.output_origins, *each.input_origins):
            found += [origin.map, origin.replica]
        yield from (one for one in found if one is not None)


def fixed(made: IndexingMap, values: dict[str, int]) -> IndexingMap:
    return made.substitute({each.name: values[each.name] for each in made.parameters})


def sizes_of(made: Made, values: dict[str, int]) -> list[int]:
    numbers = {symbol(name): value for name, value in values.items()}
    sizes = chain.from_iterable(each.output_sizes for each in results_of(made))
    return [int(sympy.sympify(size).subs(numbers)) for size in sizes]


@cache
def _over_parameters(build: Build) -> Made:
    return build(N, M, K)


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
@examples(25)
@given(sizes=st.tuples(st.integers(0, 6), st.integers(0, 4), st.integers(0, 4)))
def test_numbers_for_sizes(build: Build, sizes: tuple[int, int, int]) -> None:
    """Where these are no sizes of the operation, no map but of what needs none has a point."""
    symbolic, values = _over_parameters(build), dict(zip("NMK", sizes, strict=True))
    found = [fixed(each, values) for each in maps_of(symbolic)]
    assert any(each.parameters for each in maps_of(symbolic)) or build is BUILDERS["generated"]
    try:
        numeric = build(*sizes)
    except ShapeError:
        assert not any(related(each) for each in found)
        return
    expected = [*maps_of(numeric)]
    assert [related(each) for each in found] == [related(each) for each in expected]
    if not any(each.is_known_empty for each in expected):
        values_of = [fixed(each, values) for each in maps_to_values(symbolic)]
        assert [*map(related, values_of)] == [*map(related, maps_to_values(numeric))]
    assert sizes_of(symbolic, values) == sizes_of(numeric, {})


@for_all(BUILDERS)
def test_conditions_are_said_once(build: Build) -> None:
    """Not with both signs, nor where bounds decide them; nor is a number that an end implies."""
    for made in maps_of(_over_parameters(build)):
        if not made.is_undefined:
            domain = made.domain
            conditions = domain.constraints_among(domain.parameter_identifiers)
            others = [each for each in domain.constraints if each not in conditions]
            assert conditioned(domain.with_constraints(others), conditions) == domain


def test_conditions_decide_which_size_is_the_greater_one() -> None:
    name, other = forms.variable("~M"), forms.variable("~N")
    greater = operations.maximum([name, other])
    at_most_8, at_least_8 = (name, Interval(0, 8)), (other, Interval(8, None))
    small, large = (other, Interval(0, 4)), (greater, Interval(5, None))
    found = on_condition(index_map([dim(0)], [greater]), [at_most_8, at_least_8])
    assert str(found).endswith("-> (d0), domain: d0 in [0, N - 1], M in [0, 8], N in [8, inf]")
    found = on_condition(index_map([dim(0)], [name]), [large, small])
    assert str(found).endswith("-> (d0), domain: d0 in [0, M - 1], M in [5, inf], N in [0, 4]")


PADDED = by_name("""
pad((N,), [(1, 1, 1)])
    (d0)<N> -> ((d0 - 1) floordiv 2), domain: d0 in [1, N * 2 - 1], N in [0, inf],
        (d0 - 1) mod 2 in [0, 0]
    (d0)<N> -> (), domain: d0 in [0, max(N * 2 - 1, 0) + 1], N in [0, inf]
    (d0)<N> -> (d0 * 2 + 1), domain: d0 in [0, N - 1], N in [0, inf]
    ()[s0]<N> -> (s0), domain: s0 in [0, max(N * 2 - 1, 0) + 1], N in [0, inf]
pad((N,), [(-1, -1, 2)])
    (d0)<N> -> ((d0 + 1) floordiv 3), domain: d0 in [0, N * 3 - 5], N in [2, inf],
        (d0 + 1) mod 3 in [0, 0]
    (d0)<N> -> (), domain: d0 in [0, N * 3 - 5], N in [2, inf]
    (d0)<N> -> (d0 * 3 - 1), domain: d0 in [1, N - 2], N in [2, inf]
    ()[s0]<N> -> (s0), domain: s0 in [0, N * 3 - 5], N in [2, inf]
""")
"""The maps to the operand and to the padding value, and back."""


@for_all(PADDED.items())
def test_ends_of_a_padded_dimension(call: str, texts: tuple[str, ...]) -> None:
    """A maximum stands where there may be no element, and nowhere else."""
    made = eval(call, {"pad": ops.pad, "N": N})  # noqa: S307 - of the table above
    assert [" ".join(str(each).split()) for each in maps_of(made)] == [*texts]


def test_sizes_that_are_equal_are_one_condition() -> None:
    """They are compared in both orders."""
    made = str(next(maps_of(_over_parameters(BUILDERS["scan element by element"]))))
    assert "K - M in [0, 0]" in made
    assert "M - K in [0, 0]" not in made


def test_every_builder_is_asked() -> None:
    """Those that :mod:`ops` makes public, by the first word of a row."""
    functions = {name for name in PUBLIC if isfunction(getattr(ops, name))}
    builders = {name for name in functions if getattr(ops, name).__module__[:9] == "ops.rules"}
    of_shapes = {"bitcast"}  # whose sizes are numbers
    assert {row.split()[0] for row in BUILDERS} == builders - of_shapes


# Compositions cancel as with numbers.


def composed(*maps: IndexingMap) -> IndexingMap:
    return reduce(IndexingMap.compose, maps).simplify()


def _reshaped(*shapes: tuple[Size, ...]) -> IndexingMap:
    """From the first shape to the last, by way of the others."""
    return composed(*(ops.reshape(*pair).input_to_output[0] for pair in pairwise(shapes)))


UNDONE: dict[str, tuple[tuple[Size, ...], ...]] = {
    "joined and split": ((N, M), (N * M,), (N, M)),
    "split and joined": ((N * M,), (N, M), (N * M,)),
    "around": ((K, N, M), (K * N, M), (K, N * M), (K, N, M)),
    "three sizes, joined at once": ((K, N, M), (K * N * M,), (K, N, M)),
    "a number and two sizes": ((4, N, M), (N * 4 * M,), (4, N, M)),
    "with numbers": ((N * 4,), (N, 4), (N * 2, 2), (N * 4,)),
    "heads": ((K, N * 8), (K, N, 8), (K * N, 8), (K, N * 8)),
    "joined, split and joined": ((N, M, K), (N * M, K), (N, M * K), (N, M, K)),
    "by way of three": ((K * N, M), (K, N, M), (K, N * M), (K * N, M)),
}
"""Reshapes one after the other that come to the shape where they began."""

TURNED = ops.transpose((N, M), (1, 0)), ops.transpose((M, N), (1, 0))
SLICED = ops.slice((N + 5,), (2,), (N + 2,)), ops.slice((K + N + M,), (K,), (K + N,))
PADS = ops.pad((N,), [(2, 3, 0)]), ops.pad((N,), [(K, M, 0)])

UNCHANGED: dict[str, tuple[IndexingMap, tuple[Size, ...]]] = {
    **{name: (_reshaped(*shapes), shapes[0]) for name, shapes in UNDONE.items()},
    "transposed twice": (composed(*(each.input_to_output[0] for each in TURNED)), (N, M)),
    "reversed twice": (composed(*ops.reverse((N, M), (0,)).output_to_input * 2), (N, M)),
    "padded and cut": (composed(SLICED[0].output_to_input[0], PADS[0].output_to_input[0]), (N,)),
    "cut by sizes": (composed(SLICED[1].output_to_input[0], PADS[1].output_to_input[0]), (N,)),
}


@for_all(UNCHANGED)
def test_operations_that_undo_each_other(found: IndexingMap, sizes: tuple[Size, ...]) -> None:
    identity = IndexingMap.identity(sizes)
    assert found.forms == identity.forms
    assert found.constraints == identity.simplify().constraints
    values: dict[str, int] = {"K": 3, "M": 4, "N": 5}
    assert related(fixed(found, values)) == related(fixed(identity, values))


POSITIONAL = "reshape on condition", "dot", "concatenate", "dynamic_slice", "gather"
"""Among their maps are ranges, ends over sizes, and runtime variables."""


@for_all([*product(POSITIONAL, ("s", "d", "rt"))])
def test_sizes_may_be_called_as_variables_are(name: str, letter: str) -> None:
    """PyTorch calls sizes s0, s1, s77: the maps are those of other names."""
    names = {f"u{place}": f"{letter}{place}" for place in range(3)}
    plain = maps_of(BUILDERS[name](*map(symbol, names)))
    positional = maps_of(BUILDERS[name](*map(symbol, names.values())))
    for one, other in zip(plain, positional, strict=True):
        used = {parameter.name for parameter in one.parameters}
        assert one.rename({name: names[name] for name in used}) == other
        assert parse_map(str(other)) == other
        assert other.simplify() == one.simplify().rename({name: names[name] for name in used})


def test_a_condition_that_no_number_meets_leaves_no_point() -> None:
    assert all(each.is_known_empty for each in maps_of(ops.reshape((N, 3), (N, 5))))


def test_origins_have_the_parameters() -> None:
    (origin,) = ops.dynamic_slice((N,), (M,)).output_origins[0]
    assert str(origin.map) == (
        "(d0)<M, N> -> (), domain: d0 in [0, M - 1], M in [0, inf], N in [0, inf], "
        "M - N in [-inf, 0]"
    )


def test_sizes_of_results_are_expressions() -> None:
    joined = ops.concatenate([(N, 4), (M, 4)], 0)
    assert joined.output_sizes == (M + N, 4)
    assert ops.reshape(joined.output_sizes, (4, M + N)).output_sizes == (4, M + N)


def test_the_only_size_that_may_be_stretched_is_a_bound() -> None:
    (made,) = ops.broadcast((N,), (N + 1,), (0,)).output_to_input
    assert str(made) == "(d0)<N> -> (min(N - 1, d0)), domain: d0 in [0, N], N in [1, 1]"
    assert str(made.simplify()) == "(d0)<N> -> (0), domain: d0 in [0, 1], N in [1, 1]"
