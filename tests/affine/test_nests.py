"""Loop nests of ``affine``: what each access touches, what is read for a store, and dependences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Final, NamedTuple, TypeAlias

import pytest

from indexing import IndexingMap
from ops.affine import ArrayAccess, FunctionAccesses, read_accesses

Touch: TypeAlias = "tuple[int, tuple[int, ...], tuple[int, ...]]"
"""The number of an access, its iteration, and the element."""


class Nest(NamedTuple):
    """A text, what its accesses touch as a program in Python, and values of its parameters."""

    text: str
    touches: Callable[..., Iterator[Touch]]
    sizes: Mapping[str, int]


def _triangle(n: int) -> Iterator[Touch]:
    for i in range(2, n, 3):
        for j in range(i, min(i + 4, n)):
            yield 0, (i, j), (j - i, 2 * i + n - 12)
            yield 1, (i, j), (i, j)


def _conditions(n: int) -> Iterator[Touch]:
    for i, j in product(range(6), range(n)):
        if i >= 2 and i + j - n + 1 >= 0 and i % 2 == 0:
            yield 0, (i, j), (i,)
        else:
            yield 1, (i, j), (j,)


def _computed(n: int) -> Iterator[Touch]:
    for i, j in product(range(3), range(n)):
        flat = i * n + j
        yield 0, (i, j), (flat // 4, flat % 4)
        yield 1, (i, j), (max(flat - 5, 0), min(i, j, 1))
        yield 2, (i, j), (i * 4 + 3 - j // 2,)


def _views(n: int) -> Iterator[Touch]:
    for d, e in product(range(3), range(n)):
        yield 0, (d, e), (d + 1, 2 * e + 1)
    for d, e in product(range(n), range(3)):
        yield 1, (d, e), (e + 1, 2 * d + 1)
    for d in range(3 * n):
        yield 2, (d,), (d % 3 + 1, 2 * (d // 3) + 1)
    for i in range(n):
        yield 3, (i,), (2, 2 * i + 1)
        yield 4, (i,), (i % 3 + 1, 2 * (i // 3) + 1)


def _memory(n: int) -> Iterator[Touch]:
    for d, e in product(range(2), range(n)):
        yield 0, (d, e), divmod(3 + d * 8 + e, 5)
    for d, e, f in product(range(2), range(2), range(5)):
        yield 1, (d, e, f), (2 * d + e, f)
    for i in range(2):
        yield 2, (i,), (2 * i + 1, 4)
        yield 3, (i,), divmod(3 + i * 8, 5)


def _parallel(n: int) -> Iterator[Touch]:
    for i, j in product(range(0, n, 2), range(1, 4)):
        yield 0, (i, j), (i, j)
        for k in range(i, n):
            yield 1, (i, j, k), (k,)


NESTS: Final = {
    "triangles, steps and minima": Nest(
        """
        #low = affine_map<(d0) -> (d0)>
        #high = affine_map<(d0)[s0] -> (d0 + 4, s0)>
        func.func @f(%a: memref<?x?xf32>, %n: index) {
          affine.for %i = 2 to %n step 3 {
            affine.for %j = #low(%i) to min #high(%i)[%n] {
              %0 = affine.load %a[%j - %i, 2 * %i + symbol(%n) - 12] : memref<?x?xf32>
              affine.store %0, %a[%i, %j] : memref<?x?xf32>
            } {tag = "inner"}
          }
          return
        }""",
        _triangle,
        {"n": 12},
    ),
    "conditions": Nest(
        """
        #inside = affine_set<(i, j)[n] : (i - 2 >= 0, i + j - n + 1 >= 0, i mod 2 == 0)>
        func.func @f(%a: memref<?xf32>, %n: index) {
          affine.for %i = 0 to 6 {
            affine.for %j = 0 to %n {
              affine.if #inside(%i, %j)[%n] {
                %0 = affine.load %a[%i] : memref<?xf32>
              } else {
                %0 = affine.load %a[%j] : memref<?xf32>
              }
            }
          }
          return
        }""",
        _conditions,
        {"n": 7},
    ),
    "computed indices": Nest(
        """
        #part = affine_map<(d0) -> (d0 floordiv 2)>
        func.func @f(%a: memref<9x4xf32>, %n: index, %b: memref<?xf32>) {
          %c4 = arith.constant 4 : index
          %c5 = arith.constant 5 : index
          %c0 = arith.constant 0 : index
          affine.for %i = 0 to 3 {
            affine.for %j = 0 to %n {
              %row = arith.muli %i, %n overflow<nsw> : index
              %flat = arith.addi %row, %j : index
              %q = arith.floordivsi %flat, %c4 : index
              %r = affine.apply affine_map<(d0) -> (d0 mod 4)>(%flat)
              %0 = memref.load %a[%q, %r] : memref<9x4xf32>
              %less = arith.subi %flat, %c5 : index
              %most = arith.maxsi %less, %c0 : index
              %least = affine.min affine_map<(d0, d1) -> (d0, d1, 1)>(%i, %j)
              %1 = memref.load %a[%most, %least] : memref<9x4xf32>
              %half = affine.apply #part(%j)
              affine.store %0, %b[4 * %i - %half + 3] : memref<?xf32>
            }
          }
          return
        }""",
        _computed,
        {"n": 5},
    ),
    "views": Nest(
        """
        func.func @f(%a: memref<8x?xf32>, %n: index) {
          %v = memref.subview %a[1, 1] [3, %n] [1, 2]
            : memref<8x?xf32> to memref<3x?xf32, strided<[?, 2], offset: ?>>
          %t = memref.transpose %v (i, j) -> (j, i)
            : memref<3x?xf32, strided<[?, 2], offset: ?>> to memref<?x3xf32, strided<[2, ?]>>
          %c = memref.collapse_shape %t [[0, 1]] : memref<?x3xf32> into memref<?xf32>
          affine.for %i = 0 to %n {
            %0 = affine.load %v[1, %i] : memref<3x?xf32, strided<[?, 2], offset: ?>>
            affine.store %0, %c[%i] : memref<?xf32>
          }
          return
        }""",
        _views,
        {"n": 4},
    ),
    "memory with another index": Nest(
        """
        func.func @f(%n: index) {
          %a = memref.alloc() {alignment = 64 : i64} : memref<4x5xf32>
          %r = memref.reinterpret_cast %a to offset: [3], sizes: [2, %n], strides: [8, 1]
            : memref<4x5xf32> to memref<2x?xf32, strided<[8, 1], offset: 3>>
          %e = memref.expand_shape %a [[0, 1], [2]] output_shape [2, 2, 5]
            : memref<4x5xf32> into memref<2x2x5xf32>
          scf.for %i = %c0 to %c2 step %c1 {
            %0 = memref.load %e[%i, %c1, %c4] : memref<2x2x5xf32>
            memref.store %0, %r[%i, %c0] : memref<2x?xf32, strided<[8, 1], offset: 3>>
          }
          return
        }""".replace(
            "%a = memref.alloc",
            "".join(f"%c{each} = arith.constant {each} : index\n" for each in (0, 1, 2, 4))
            + "%a = memref.alloc",
        ),
        _memory,
        {"n": 6},
    ),
    "parallel loops": Nest(
        """
        func.func @f(%a: memref<?x4xf32>, %b: memref<?xf32>) {
          %c0 = arith.constant 0 : index
          %n = memref.dim %a, %c0 : memref<?x4xf32>
          affine.parallel (%i, %j) = (0, 1) to (%n, 4) step (2, 1) {
            %0 = affine.load %a[%i, %j] : memref<?x4xf32>
            affine.for %k = %i to %n {
              affine.store %0, %b[%k] : memref<?xf32>
            }
          }
          return
        }""",
        _parallel,
        {"a_size0": 7},
    ),
}


def _function(text: str) -> FunctionAccesses:
    (function,) = read_accesses(text)
    return function


def _map_of(access: ArrayAccess, sizes: Mapping[str, int]) -> IndexingMap:
    """The map of an access for some sizes; others do not matter."""
    assert isinstance(access.map, IndexingMap)
    others = {each.name: 99 for each in access.map.parameters}
    return access.map.substitute({name: {**others, **sizes}[name] for name in others})


def _points(access: ArrayAccess, sizes: Mapping[str, int]) -> set[tuple[tuple[int, ...], ...]]:
    found = _map_of(access, sizes).points()
    return {(tuple(dims), tuple(map(int, results))) for dims, _, _, results in found}


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS)
def test_accesses_touch_what_the_program_touches(nest: Nest) -> None:
    function = _function(nest.text)
    expected: list[set[tuple[tuple[int, ...], ...]]] = [set() for _ in function.accesses]
    for number, iteration, element in nest.touches(*nest.sizes.values()):
        expected[number].add((iteration, element))
    assert [_points(each, nest.sizes) for each in function.accesses] == expected
    assert not any(each.approximation for each in function.accesses)
