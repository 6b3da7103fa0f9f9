"""Dependences of loop nests from the polyhedral literature: as the books say, and as isl finds.

A nest is a row: what its iterations write and read, in isl's notation, and the distances of its
flow dependences. Iterations run in lexicographic order. A coordinate tells statements apart.
"""

from __future__ import annotations

from typing import NamedTuple

import islpy as isl
import pytest

from indexing import IndexingMap, IndexRelation, MapError, flow_dependences, parse_relation


class Nest(NamedTuple):
    """A loop nest whose sizes are parameters."""

    writes: str
    reads: str
    distances: str
    """The text of the distances at ``SIZES``, which are large enough that all occur."""


SIZES = {"N": 6, "T": 4}

NESTS = {
    "a matrix product: c[i,j] += a[i,k] * b[k,j]": Nest(
        "[i, j, k] -> [i, j] : 0 <= i, j, k < N",
        "[i, j, k] -> [i, j] : 0 <= i, j, k < N",
        "(d0, d1, d2): d0 in [0, 0], d1 in [0, 0], d2 in [1, 1]",
    ),
    "Jacobi 1-D: a[t+1,i] = f(a[t,i-1], a[t,i], a[t,i+1])": Nest(
        "[t, i] -> [t + 1, i] : 0 <= t < T and 0 < i < N - 1",
        "[t, i] -> [t, j] : 0 <= t < T and 0 < i < N - 1 and i - 1 <= j <= i + 1",
        "(d0, d1): d0 in [1, 1], d1 in [-1, 1]",
    ),
    "Jacobi 2-D: a[t+1,i,j] = f(five of a[t])": Nest(
        "[t, i, j] -> [t + 1, i, j] : 0 <= t < T and 0 < i, j < N - 1",
        "[t, i, j] -> [t, p, q] : 0 <= t < T and 0 < i, j < N - 1 "
        "and -1 <= p - i + q - j, p - i - q + j <= 1",
        "(d0, d1, d2): d0 in [1, 1], d1 in [-1, -1], d2 in [0, 0] "
        "or d0 in [1, 1], d1 in [0, 0], d2 in [-1, 1] or d0 in [1, 1], d1 in [1, 1], d2 in [0, 0]",
    ),
    "Jacobi 1-D in two arrays: b = f(a), then a = b": Nest(
        "[t, 0, i] -> [1, i] : 0 <= t < T and 0 < i < N - 1; "
        "[t, 1, i] -> [0, i] : 0 <= t < T and 0 < i < N - 1",
        "[t, 0, i] -> [0, j] : 0 <= t < T and 0 < i < N - 1 and i - 1 <= j <= i + 1; "
        "[t, 1, i] -> [1, i] : 0 <= t < T and 0 < i < N - 1",
        "(d0, d1, d2): d0 in [0, 0], d1 in [1, 1], d2 in [0, 0] "
        "or d0 in [1, 1], d1 in [-1, -1], d2 in [-1, 1]",
    ),
    "Gauss-Seidel: a[i,j] = f(five of a), in place": Nest(
        "[t, i, j] -> [i, j] : 0 <= t < T and 0 < i, j < N - 1",
        "[t, i, j] -> [p, q] : 0 <= t < T and 0 < i, j < N - 1 "
        "and -1 <= p - i + q - j, p - i - q + j <= 1",
        "(d0, d1, d2): d0 in [0, 0], d1 in [0, 0], d2 in [1, 1] "
        "or d0 in [0, 0], d1 in [1, 1], d2 in [0, 0] "
        "or d0 in [1, 1], d1 in [-1, -1], d2 in [0, 0] "
        "or d0 in [1, 1], d1 in [0, 0], d2 in [-1, 0]",
    ),
    "LU: a[i,k] /= a[k,k], then a[i,j] -= a[i,k] * a[k,j]": Nest(
        "[k, 0, i, 0] -> [i, k] : 0 <= k < i < N; [k, 1, i, j] -> [i, j] : 0 <= k < i, j < N",
        "[k, 0, i, 0] -> [i, k] : 0 <= k < i < N; [k, 0, i, 0] -> [k, k] : 0 <= k < i < N; "
        "[k, 1, i, j] -> [i, j] : 0 <= k < i, j < N; [k, 1, i, j] -> [i, k] : 0 <= k < i, j < N; "
        "[k, 1, i, j] -> [k, j] : 0 <= k < i, j < N",
        "",
    ),
    "Cholesky": Nest(
        "[k, 0, k, k] -> [k, k] : 0 <= k < N; [k, 1, i, k] -> [i, k] : 0 <= k < i < N; "
        "[k, 2, i, j] -> [i, j] : 0 <= k < j <= i < N",
        "[k, 0, k, k] -> [k, k] : 0 <= k < N; [k, 1, i, k] -> [i, k] : 0 <= k < i < N; "
        "[k, 1, i, k] -> [k, k] : 0 <= k < i < N; [k, 2, i, j] -> [i, j] : 0 <= k < j <= i < N; "
        "[k, 2, i, j] -> [i, k] : 0 <= k < j <= i < N; "
        "[k, 2, i, j] -> [j, k] : 0 <= k < j <= i < N",
        "",
    ),
    "a reversal in place: a[i] = a[N-1-i]": Nest(
        "[i] -> [i] : 0 <= i < N",
        "[i] -> [N - 1 - i] : 0 <= i < N",
        "(d0): d0 in [1, 5] step 2",
    ),
    "a shift in place: a[i] = a[i+1]": Nest(
        "[i] -> [i] : 0 <= i < N",
        "[i] -> [i + 1] : 0 <= i < N",
        "(d0): EMPTY",
    ),
    "doubling in place: a[2*i] = a[i]": Nest(
        "[i] -> [2 * i] : 0 <= i < N",
        "[i] -> [i] : 0 <= i < N",
        "(d0): d0 in [1, 2]",
    ),
    "a triangular solve: x[i] -= l[i,j] * x[j], then x[i] /= l[i,i]": Nest(
        "[i, 0, j] -> [i] : 0 <= j < i < N; [i, 1, 0] -> [i] : 0 <= i < N",
        "[i, 0, j] -> [i] : 0 <= j < i < N; [i, 0, j] -> [j] : 0 <= j < i < N; "
        "[i, 1, 0] -> [i] : 0 <= i < N",
        "",
    ),
    "a prefix sum: a[i] += a[i-1]": Nest(
        "[i] -> [i] : 0 < i < N",
        "[i] -> [j] : 0 < i < N and i - 1 <= j <= i",
        "(d0): d0 in [1, 1]",
    ),
    "Floyd-Warshall: a[i,j] = min(a[i,j], a[i,k] + a[k,j])": Nest(
        "[k, i, j] -> [i, j] : 0 <= i, j, k < N",
        "[k, i, j] -> [i, j] : 0 <= i, j, k < N; [k, i, j] -> [i, k] : 0 <= i, j, k < N; "
        "[k, i, j] -> [k, j] : 0 <= i, j, k < N",
        "",
    ),
    "edit distance: a[i,j] = f(a[i-1,j], a[i,j-1], a[i-1,j-1])": Nest(
        "[i, j] -> [i, j] : 0 < i, j < N",
        "[i, j] -> [p, q] : 0 < i, j < N and i - 1 <= p <= i and j - 1 <= q <= j and p + q < i + j",
        "(d0, d1): d0 in [0, 0], d1 in [1, 1] or d0 in [1, 1], d1 in [0, 1]",
    ),
    "a convolution: y[i] += x[i+k] * w[k]": Nest(
        "[i, k] -> [i] : 0 <= i < N and 0 <= k < 3",
        "[i, k] -> [i] : 0 <= i < N and 0 <= k < 3",
        "(d0, d1): d0 in [0, 0], d1 in [1, 1]",
    ),
}


def accesses(text: str) -> str:
    """The text of a relation of isl."""
    return f"[N, T] -> {{ {text} }}"


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_dependences_are_those_of_isl(nest: Nest) -> None:
    writes, reads = accesses(nest.writes), accesses(nest.reads)
    found = flow_dependences(parse_relation(writes), parse_relation(reads))
    assert isl.UnionMap(str(found.to_isl())).is_equal(isl_dependences(writes, reads))
    assert found.to_later() == found, "sources come first"


def isl_dependences(writes: str, reads: str) -> isl.UnionMap:
    """The flow dependences that isl's own analysis finds, in the order of iterations."""
    source, sink = isl.UnionMap(writes), isl.UnionMap(reads)
    order = source.domain().union(sink.domain()).identity()
    accessed = isl.UnionAccessInfo.from_sink(sink).set_must_source(source)
    return accessed.set_schedule_map(order).compute_flow().get_must_dependence()


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_dependences_are_those_of_a_run(nest: Nest) -> None:
    writes, reads = (at_sizes(accesses(text)) for text in (nest.writes, nest.reads))
    found = flow_dependences(writes, reads)
    assert pairs_of(found) == run(writes, reads)
    if nest.distances:
        assert str(found.distances()) == nest.distances


def at_sizes(text: str) -> IndexRelation[IndexingMap]:
    """A relation with numbers for its parameters."""
    sized = isl.Map(text)
    for name, value in SIZES.items():
        place = sized.find_dim_by_name(isl.dim_type.param, name)
        sized = sized.fix_val(isl.dim_type.param, place, isl.Val(value))
    return parse_relation(str(sized.project_out(isl.dim_type.param, 0, len(SIZES))))


def run(
    writes: IndexRelation[IndexingMap], reads: IndexRelation[IndexingMap]
) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Who reads what who wrote: every iteration in order, first its reads and then its writes."""
    writer: dict[tuple[int, ...], tuple[int, ...]] = {}
    found: set[tuple[tuple[int, ...], tuple[int, ...]]] = set()
    written, read = by_iteration(writes), by_iteration(reads)
    for iteration in sorted({*written, *read}):
        elements = read.get(iteration, ())
        found |= {(writer[each], iteration) for each in elements if each in writer}
        writer |= dict.fromkeys(written.get(iteration, ()), iteration)
    return found


def by_iteration(
    accessed: IndexRelation[IndexingMap],
) -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """The elements that each iteration accesses."""
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for iteration, element in pairs_of(accessed):
        found.setdefault(iteration, []).append(element)
    return found


def pairs_of(
    relation: IndexRelation[IndexingMap],
) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The dimensions and results of all maps."""
    points = (point for made in relation.maps if made for point in made.points())
    return {(point[0], point[3]) for point in points}


def test_accesses_are_of_one_array() -> None:
    rows = parse_relation("{ [i, j] -> [i] : 0 <= i, j < 4 }")
    with pytest.raises(MapError, match="flow_dependences: writes have 1 dimensions and 1 results"):
        flow_dependences(IndexingMap.identity([4]), rows)
    with pytest.raises(MapError, match="flow_dependences: reads is 3; expected an IndexingMap"):
        flow_dependences(rows, 3)  # pyright: ignore[reportArgumentType] - that is the error
