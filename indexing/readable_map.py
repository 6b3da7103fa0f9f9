"""What is read off a map: values at points, how they change, and texts in other languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing import validation
from indexing.exact.exact_relation import ExactRelation
from indexing.exact.strides import contiguity, strides
from indexing.formats.code import to_language
from indexing.formats.einops_pattern import to_einops
from indexing.formats.isl_relation import to_isl
from indexing.formats.mlir import to_affine_map, to_affine_set
from indexing.formats.notebook import html_of_map, latex_of_map
from indexing.formats.text import format_map
from indexing.pictures.access_picture import access_picture
from indexing.simplify import result_bounds
from indexing.transform.evaluate import (
    NO_PARAMETERS,
    CompiledMap,
    called,
    contains,
    evaluate,
    points,
)
from simplifier.exact import BUDGET

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy

    from indexing.exact.strides import ByVariable, Contiguity, Stride
    from indexing.formats.einops_pattern import EinopsPattern
    from indexing.pictures.access_picture import AccessPicture, Choices
    from indexing.pictures.element_grid import PlaneChoice
    from indexing.transform.evaluate import Index, Point, Value
    from indexing.validation import ByName
    from simplifier import Interval
    from simplifier.exact import Budget


class ReadableMap(ExactRelation):
    """A map that is evaluated, and written in other languages."""

    __slots__ = ()

    # Values.

    def evaluate(
        self,
        dims: Index | ByName[Value],
        ranges: Index | ByName[Value] = (),
        runtime: Index | ByName[Value] = (),
        parameters: ByName[Value] = NO_PARAMETERS,
    ) -> Index:
        """The index at one point, or at many: NumPy arrays broadcast. The domain is not checked.

        Values are in order, or by name. A call of the map checks the domain.

        >>> from indexing import parse_map
        >>> halves = "(d0)[s0] -> (d0 floordiv 2, s0), domain: d0 in [0, 9], s0 in [0, 3]"
        >>> parse_map(halves).evaluate([-3], [1])
        (-2, 1)
        >>> parse_map(halves).evaluate({"d0": 7}, {"s0": 1})
        (3, 1)
        >>> reverse = parse_map("(d0)<N> -> (N - 1 - d0), domain: d0 in [0, N - 1], N in [0, inf]")
        >>> reverse.evaluate([3], parameters={"N": 64})
        (60,)
        """
        given = validation.read_names(parameters, "evaluate: parameters")
        return evaluate(self, dims, ranges, runtime, given)

    def __call__(self, *values: Value, **by_name: Value) -> Index:
        """The index at a point of the domain, or at many: NumPy arrays broadcast.

        Values are those of all variables in order of declaration, or by name.

        Raises:
            MapError: a value is missing, or a point lies outside the domain.

        >>> from indexing import parse_map
        >>> blocks = parse_map("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 9], s0 in [0, 3]")
        >>> blocks(2, 1), blocks(2, s0=1)
        ((9,), (9,))
        >>> blocks(2, 4)
        Traceback (most recent call last):
        indexing.errors.MapError: call: d0 = 2, s0 = 4 is outside the domain; see contains()
        """
        return called(self, values, by_name)

    def contains(
        self,
        dims: Index | ByName[Value],
        ranges: Index | ByName[Value] = (),
        runtime: Index | ByName[Value] = (),
        parameters: ByName[Value] = NO_PARAMETERS,
    ) -> Value:
        """Whether the point lies in the domain; of arrays, a mask. Values are as for `evaluate`.

        >>> import numpy as np
        >>> from indexing import parse_map
        >>> triangle = "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 9]"
        >>> parse_map(triangle).contains([3, np.arange(2, 6)])
        array([ True,  True, False, False])
        """
        given = validation.read_names(parameters, "contains: parameters")
        return contains(self, dims, ranges, runtime, given)

    def points(self) -> Iterator[Point]:
        """All points of the domain with their results, in order; the last variable is fastest.

        A point is ``(dims, ranges, runtime, results)``.

        Raises:
            MapError: a variable is not bounded.
        """
        return points(self)

    def picture(
        self,
        at: Choices = (),
        *,
        sizes: Sequence[int] | None = None,
        plane: PlaneChoice = (),
        result_plane: PlaneChoice = (),
    ) -> AccessPicture:
        """Two grids: points of the dimensions, and the elements of the results that they read.

        ``at`` chooses the points: a number or a ``range`` for each dimension in order, or for any
        variable by name. Without it, all points are chosen, and the grid shows how often each
        element is read. A runtime variable that is not chosen has its least value.

        ``sizes`` are those of the array that is read; without them it is the least that holds all
        results. ``plane`` and ``result_plane`` choose what is shown of more than two dimensions:
        an index with ``None`` for rows and columns. Without them, the last two dimensions are rows
        and columns, and the planes with lit elements are shown.

        A notebook shows the picture, ``picture(...).save("reads.svg")`` writes it.

        Raises:
            MapError: the map has parameters or negative dimensions, a value lies outside of the
                bounds, or there are more than 1,048,576 points.

        >>> from indexing import parse_map
        >>> window = parse_map("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 4], s0 in [0, 2]")
        >>> print(window.picture(at=[range(1, 3)], sizes=[12]))
        (d0) -> (d0 * 2 + s0) at d0 in [1, 2]
        (d0): 2 of 5 elements
        (d0 * 2 + s0): 5 of 12 elements, read 1 to 2 times
        """
        return access_picture(self, at, sizes=sizes, plane=plane, result_plane=result_plane)

    def result_bounds(self) -> tuple[Interval, ...]:
        """An interval for each result that holds all its values under the constraints."""
        return result_bounds(self)

    def strides(self, *, budget: Budget = BUDGET) -> tuple[ByVariable[Stride], ...]:
        """For each result, by how much it changes with each step of each variable.

        A stride is the same at every step, or within runs of so many elements, or it varies. The
        answer is exact on the domain. Closed forms of affine results cost microseconds, other
        results what :meth:`image` does, and up to a quarter of a second for swizzles of one index.

        Raises:
            MapError: a stride depends on parameters.
            BudgetError: the answer takes more than the budget.

        >>> from indexing import parse_map
        >>> split = parse_map("(d0)[s0] -> (d0 floordiv 8, (d0 mod 8) * 4 + s0), "
        ...                   "domain: d0 in [0, 63], s0 in [0, 3]")
        >>> for of_result in split.strides():
        ...     print(of_result)
        d0: 0 in runs of 8, s0: 0
        d0: 4 in runs of 8, s0: 1
        >>> split.strides()[1]["d0"].differences
        Interval(lower=-28, upper=4)
        """
        return strides(self, budget)

    def contiguity(self, *, budget: Budget = BUDGET) -> tuple[ByVariable[Contiguity], ...]:
        """For each result and each variable: contiguous groups, their alignment, and bounds.

        The words are those of Triton's axis information; the answers are exact on the domain, and
        need not be powers of two.

        Raises:
            MapError: the answer depends on parameters.
            BudgetError: the answer takes more than the budget.

        >>> from indexing import parse_map
        >>> rows = parse_map("(d0, d1) -> (d0 * 24 + d1), domain: d0 in [0, 9], d1 in [0, 11]")
        >>> along = rows.contiguity()[0]["d1"]
        >>> along.contiguity, along.divisibility
        (12, 24)
        """
        return contiguity(self, budget)

    def verify(self) -> None:
        """Raise a :class:`MapError` with the reason if a name is used twice or not declared."""
        self.domain.check()
        self.domain.check_forms(self.forms, "result")

    # In other tools.

    def to_numpy(self) -> CompiledMap:
        """The results as a compiled function of NumPy arrays that broadcast, one for each variable.

        It computes in 64-bit integers, some 50 million points a second for everyday maps, and in
        Python integers if 64 bits may not be enough. Quotients are rounded down exactly.

        >>> import numpy as np
        >>> from indexing import parse_map
        >>> reshape = parse_map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]")
        >>> compiled = reshape.to_numpy()
        >>> compiled(np.array([7, 8, 31]))
        (array([0, 1, 3]), array([7, 0, 7]))
        """
        return CompiledMap(self)

    def to_c(self, name: str = "indexing_map") -> str:
        """C11 text: a function for the results, and one that checks if a point is in the domain.

        ``void NAME(d0, ..., int64_t *results)`` computes the results at a point of the domain;
        ``bool NAME_contains(int64_t d0, ...)`` tells whether a point, within the bounds of the
        variables or not, is one. See :func:`indexing.emit` for several maps at once.

        Raises:
            MapError: a variable is not bounded, a value may need more than 64 bits, or ``name`` is
                no name in C.

        >>> from indexing import parse_map
        >>> print(parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]").to_c("row_of"))
        /* (d0) -> (d0 floordiv 8), domain: d0 in [0, 31] */
        <BLANKLINE>
        #include <stdbool.h>
        #include <stdint.h>
        <BLANKLINE>
        static inline void row_of(int32_t d0, int64_t *results) {
          results[0] = d0 >> 3;
        }
        <BLANKLINE>
        static inline bool row_of_contains(int64_t d0) {
          return d0 >= 0 && d0 < 32;
        }
        <BLANKLINE>
        """
        return to_language(self, "c", name)

    def to_cuda(self, name: str = "indexing_map") -> str:
        """CUDA text: the functions of :meth:`to_c`, for the device and for the host.

        Raises:
            MapError: as of :meth:`to_c`.

        >>> from indexing import parse_map
        >>> text = parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]").to_cuda("row_of")
        >>> print(text.splitlines()[4])
        static __host__ __device__ __forceinline__ void row_of(int32_t d0, int64_t *results) {
        """
        return to_language(self, "cuda", name)

    def to_triton(self, name: str = "indexing_map") -> str:
        """Triton text: a function for the results, and one for the mask of points in the domain.

        ``NAME(d0, ...)`` gives the results, a tuple if there are several, at points of the domain;
        ``NAME_mask(d0, ...)`` tells which points are in the domain, for the mask of a load.

        Raises:
            MapError: a variable is not bounded, a value may need more than 64 bits, or ``name`` is
                no name in Python.

        >>> from indexing import parse_map
        >>> print(parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]").to_triton("row_of"))
        # (d0) -> (d0 floordiv 8), domain: d0 in [0, 31]
        <BLANKLINE>
        import triton
        import triton.language as tl
        <BLANKLINE>
        <BLANKLINE>
        @triton.jit
        def row_of(d0):
            d0 = tl.cast(d0, tl.int32)
            return d0 // 8
        <BLANKLINE>
        <BLANKLINE>
        @triton.jit
        def row_of_mask(d0):
            return (d0 >= 0) & (d0 < 32)
        <BLANKLINE>
        """
        return to_language(self, "triton", name)

    def to_mlir(self, name: str = "indexing_map") -> str:
        r"""MLIR text: functions of ``affine.apply`` and ``arith`` for the results and the domain.

        Raises:
            MapError: a variable is not bounded, a value may need more than 64 bits, or ``name`` is
                no name.

        >>> from indexing import parse_map
        >>> text = parse_map("(d0) -> (max(d0 floordiv 8, 1)), domain: d0 in [0, 31]").to_mlir()
        >>> print(*text.splitlines()[2:7], sep="\n")
        func.func private @indexing_map(%d0: index) -> (index) {
          %0 = affine.apply affine_map<(a0) -> (a0 floordiv 8)>(%d0)
          %1 = arith.constant 1 : index
          %2 = arith.maxsi %0, %1 : index
          return %2 : index
        """
        return to_language(self, "mlir", name)

    def to_isl(
        self,
        *,
        runtime_as_parameters: bool = False,
        context: islpy.Context | None = None,
    ) -> islpy.Map:
        """All pairs of ``dims`` and ``results`` as isl's relation; its ``str`` is isl's text.

        Ranges are projected out: elements are related if some values of the ranges relate them. So
        are runtime variables, unless they become parameters. The relation belongs to islpy's
        default context unless another one is given: isl does not mix contexts. Costs about a
        millisecond; :func:`indexing.from_isl` is the way back.

        Raises:
            NotQuasiAffineError: an expression multiplies variables or divides by one.

        >>> from indexing import parse_map
        >>> blocks = parse_map("(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 3], s0 in [0, 7]")
        >>> print(blocks.to_isl())
        { [d0] -> [o0] : 0 <= d0 <= 3 and 8d0 <= o0 <= 7 + 8d0 }
        """
        return to_isl(self, runtime_as_parameters=runtime_as_parameters, context=context)

    def to_affine_map(self) -> str:
        """The results as MLIR's ``affine_map``, which has no domain.

        Symbols are the ranges, then the runtime variables. MLIR has no quotients by negative
        constants, so they are rewritten. :func:`indexing.from_affine_map` reads both texts.

        Raises:
            MapError: naming the term that MLIR does not have: a minimum or maximum, a product of
                dimensions, a quotient by one, a constant beyond 64 bits.

        >>> from indexing import parse_map
        >>> halves = parse_map("()[s0] -> (s0 floordiv 2, s0), domain: s0 in [0, 9]")
        >>> print(halves.to_affine_map())
        affine_map<()[s0] -> (s0 floordiv 2, s0)>
        >>> print(halves.to_affine_set())
        affine_set<()[s0] : (s0 >= 0, -s0 + 9 >= 0)>
        """
        return to_affine_map(self)

    def to_affine_set(self) -> str:
        """The bounds and constraints as MLIR's ``affine_set``; see :meth:`to_affine_map`."""
        return to_affine_set(self)

    def to_einops(self) -> EinopsPattern:
        """The pattern of einops for the map from result to operand, and sizes of axes.

        Variables that results split are several axes. Ranges are reduced, and dimensions that no
        result has are repeated. :func:`indexing.from_einops` reads patterns.

        Raises:
            MapError: naming what einops does not have: a diagonal, an offset, a window, a part of
                the operand, a constraint, a parameter.

        >>> from indexing import parse_map
        >>> heads = "(d0, d1) -> (d0, d1 mod 8, d1 floordiv 8), domain: d0 in [0, 3], d1 in [0, 15]"
        >>> print(parse_map(heads).to_einops())
        a b c -> a (c b)
        """
        return to_einops(self)

    def _repr_latex_(self) -> str:
        return latex_of_map(self)

    def _repr_html_(self) -> str:
        return html_of_map(self)

    def __str__(self) -> str:
        return format_map(self)

    def __repr__(self) -> str:
        return f"IndexingMap({str(self)!r})"
