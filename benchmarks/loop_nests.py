"""Loop nests from the polyhedral literature, whose dependences are known.

A nest is a row: what its iterations write and read, in isl's notation, and the distances of its
flow dependences. Iterations run in lexicographic order. A coordinate tells statements apart.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import islpy as isl


class Nest(NamedTuple):
    """A loop nest whose sizes are parameters."""

    writes: str
    reads: str
    distances: str
    """The text of the distances at ``SIZES``, which are large enough that all occur."""


SIZES: Final = {"N": 6, "T": 4}

NESTS: Final = {
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
        "[i] -> [i] : 0 <= i < N", "[i] -> [N - 1 - i] : 0 <= i < N", "(d0): d0 in [1, 5] step 2"
    ),
    "a shift in place: a[i] = a[i+1]": Nest(
        "[i] -> [i] : 0 <= i < N", "[i] -> [i + 1] : 0 <= i < N", "(d0): EMPTY"
    ),
    "doubling in place: a[2*i] = a[i]": Nest(
        "[i] -> [2 * i] : 0 <= i < N", "[i] -> [i] : 0 <= i < N", "(d0): d0 in [1, 2]"
    ),
    "a triangular solve: x[i] -= l[i,j] * x[j], then x[i] /= l[i,i]": Nest(
        "[i, 0, j] -> [i] : 0 <= j < i < N; [i, 1, 0] -> [i] : 0 <= i < N",
        "[i, 0, j] -> [i] : 0 <= j < i < N; [i, 0, j] -> [j] : 0 <= j < i < N; "
        "[i, 1, 0] -> [i] : 0 <= i < N",
        "",
    ),
    "a prefix sum: a[i] += a[i-1]": Nest(
        "[i] -> [i] : 0 < i < N", "[i] -> [j] : 0 < i < N and i - 1 <= j <= i", "(d0): d0 in [1, 1]"
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


def isl_dependences(writes: isl.UnionMap, reads: isl.UnionMap) -> isl.UnionMap:
    """The flow dependences that isl's own analysis finds, in the order of iterations."""
    order = writes.domain().union(reads.domain()).identity()
    accessed = isl.UnionAccessInfo.from_sink(reads).set_must_source(writes)
    return accessed.set_schedule_map(order).compute_flow().get_must_dependence()
