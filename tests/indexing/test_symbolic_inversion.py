"""Inverses of maps whose strides are parameters: for numbers, the same elements read backwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing import IndexingMap, parse_map
from indexing.exact.symbolic import symbolic_inverse
from simplifier import symbol
from tests.evaluation import related
from tests.extent import seldom

d0, d1, d2, K, M, N = map(symbol, ("d0", "d1", "d2", "K", "M", "N"))

INVERTED = {
    "a matrix in memory": IndexingMap.from_sizes([d0 * M + d1], dims=[N, M]),
    "three dimensions": IndexingMap.from_sizes([(d0 * M + d1) * K + d2], dims=[N, M, K]),
    "a constant stride below": IndexingMap.from_sizes([(d0 * M + d1) * 4 + d2], dims=[N, M, 4]),
    "a gap behind each row": IndexingMap.from_sizes([d0 * M * 2 + d1], dims=[N, M]),
    "rows and columns turned": IndexingMap.from_sizes([d1 * N + d0], dims=[N, M]),
    "an offset": IndexingMap.from_sizes([d1, d0 * M + d2 + K], dims=[N, K, M]),
    "digits of one index": IndexingMap.from_sizes([d0 // M, d0 % M], dims=[N * M]),
    "digits in another order": IndexingMap.from_sizes([d0 % M, d0 // M], dims=[N * M]),
    "three digits": IndexingMap.from_sizes(
        [d0 // (M * 3), d0 // 3 % M, d0 % 3], dims=[N * M * 3]
    ).with_constraint(M, (1, None)),
    "a digit beside another dimension": IndexingMap.from_sizes(
        [d0 // M, d0 % M * 4 + d1], dims=[N * M, 4]
    ).with_constraint(M, (1, None)),
    "digits that change places": IndexingMap.from_sizes([d0 % M * N + d0 // M], dims=[N * M])
    .with_constraint(M, (1, None))
    .with_constraint(N, (1, None)),
    "digits of a sum of dimensions": parse_map(
        "(d0, d1)<K, M, N> -> ((d0 * M + d1) floordiv K, (d0 * M + d1) mod K), domain: "
        "d0 in [0, N - 1], d1 in [0, M - 1], K in [1, inf], M in [1, inf], N in [1, inf]"
    ),
    "digits of a digit": IndexingMap.from_sizes(
        [d0 // (M * 3), d0 % (M * 3) // 3 * K + d1, d0 % (M * 3) % 3], dims=[N * M * 3, K]
    ).with_constraint(M, (1, None)),
    "digits of a shifted index": parse_map(
        "(d0)<K, M, N> -> ((d0 + K) floordiv M, (d0 + K) mod M), domain: "
        "d0 in [0, N - 1], K in [0, inf], M in [1, inf], N in [1, inf]"
    ),
    "digits from the other end": parse_map(
        "(d0)<M, N> -> ((N - 1 - d0) floordiv M, (N - 1 - d0) mod M), domain: "
        "d0 in [0, N - 1], M in [1, inf], N in [1, inf]"
    ),
    "backwards": IndexingMap.from_sizes([(N - 1 - d0) * M + M - 1 - d1], dims=[N, M]),
    "a dimension as its digits": IndexingMap.from_sizes(
        [d0 * 6 + d0 // M * (1 - M * 6) + d1 * 3], dims=[M * 3, 2]
    ).with_constraint(M, (1, None)),
    "a dimension of size 1": IndexingMap.from_sizes([d0 * M + d2], dims=[N, 1, M]),
    "on condition": IndexingMap.from_sizes([d0 * M + d1], dims=[N, M]).with_constraint(
        d0 - d1, (0, 1)
    ),
}


@seldom
@pytest.mark.parametrize("one", INVERTED.values(), ids=INVERTED)
@given(sizes=st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3)))
def test_elements_are_read_backwards(one: IndexingMap, sizes: tuple[int, int, int]) -> None:
    values = dict(zip("NMK", sizes, strict=True))
    inverse = one.inverse()
    assert not inverse.is_undefined

    def fixed(each: IndexingMap) -> IndexingMap:
        return each.substitute({part.name: values[part.name] for part in each.parameters})

    assert {(there, here) for here, there in related(fixed(inverse))} == related(fixed(one))


def test_a_matrix_in_memory_becomes_digits() -> None:
    assert str(INVERTED["a matrix in memory"].inverse()) == (
        "(d0)<M, N> -> (d0 floordiv M, d0 mod M), domain: d0 in [0, M * N - 1], M in [1, inf], "
        "N in [1, inf]"
    )


def test_results_have_ends_over_parameters() -> None:
    """Even where no constraint says so much alone."""
    transposed = INVERTED["digits that change places"].inverse()
    assert "d0 in [0, M * N - 1]" in str(transposed)


REFUSED = {
    "rows that overlap": IndexingMap.from_sizes([d0 * M + d1], dims=[N, M * 2]),
    "columns that are dropped": IndexingMap.from_sizes([d0 * M], dims=[N, M]),
    "a stride that may be 0": parse_map("(d0)<M> -> (d0 * M), domain: d0 in [0, 9], M in [0, 9]"),
    "a product of dimensions": IndexingMap.from_sizes([d0 * d1], dims=[4, N]),
    "one digit alone": IndexingMap.from_sizes([d0 // M], dims=[N * M]),
}


@pytest.mark.parametrize("one", REFUSED.values(), ids=REFUSED)
def test_what_is_not_proved_is_refused(one: IndexingMap) -> None:
    inverse = one.inverse()
    assert inverse.is_undefined
    assert "expected" not in str(inverse)
    assert "exact answers need a quasi-affine expression" in str(inverse)


def test_maps_with_ranges_have_no_candidate() -> None:
    text = "(d0)[s0]<M> -> (d0 * M + s0), domain: d0 in [0, 3], s0 in [0, 1], M in [1, 9]"
    assert symbolic_inverse(parse_map(text)) is None
