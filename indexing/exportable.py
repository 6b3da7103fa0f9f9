"""What a map becomes in other tools, and in a notebook: compiled, written out, drawn."""

# The one class that inherits from this one is the map; pyright knows that only of protocols.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import islpy

    from indexing.formats.numpy import CompiledMap
    from indexing.map import IndexingMap


class Exportable:
    """Methods of maps that say them in another language."""

    __slots__ = ()

    def to_numpy(self: IndexingMap) -> CompiledMap:
        """The results as a compiled function of NumPy arrays that broadcast, one for each variable.

        It computes in 64-bit integers, some 50 million points a second for everyday maps, with
        quotients rounded down exactly, and in Python integers where 64 bits might not do.

        >>> import numpy as np
        >>> from indexing import parse_map
        >>> reshape = parse_map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]")
        >>> compiled = reshape.to_numpy()
        >>> compiled(np.array([7, 8, 31]))
        (array([0, 1, 3]), array([7, 0, 7]))
        """
        from indexing.formats.numpy import CompiledMap  # noqa: PLC0415 - it looks into maps

        return CompiledMap(self)

    def to_c(self: IndexingMap, name: str = "indexing_map") -> str:
        """C11 text: a function for the results, and one that tells if a point is in the domain.

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
        static inline void row_of(int64_t d0, int64_t *results) {
          results[0] = d0 / 8;
        }
        <BLANKLINE>
        static inline bool row_of_contains(int64_t d0) {
          if (!(d0 >= 0 && d0 <= 31)) return false;
          return true;
        }
        <BLANKLINE>
        """
        from indexing.formats.c import to_c  # noqa: PLC0415 - it looks into maps

        return to_c(self, name)

    def to_triton(self: IndexingMap, name: str = "indexing_map") -> str:
        """Triton text: a function for the results, and one for the mask of points in the domain.

        Raises:
            MapError: a variable is not bounded, a value may need more than 64 bits, or ``name`` is
                no name in Python.

        >>> from indexing import parse_map
        >>> print(parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]").to_triton("row_of"))
        import triton
        import triton.language as tl
        <BLANKLINE>
        <BLANKLINE>
        @triton.jit
        def row_of(d0):
            # (d0) -> (d0 floordiv 8), domain: d0 in [0, 31]
            d0 = tl.cast(d0, tl.int64)
            return d0 // 8
        <BLANKLINE>
        <BLANKLINE>
        @triton.jit
        def row_of_mask(d0):
            d0 = tl.cast(d0, tl.int64)
            return (d0 >= 0) & (d0 <= 31)
        <BLANKLINE>
        """
        from indexing.formats.triton import to_triton  # noqa: PLC0415 - it looks into maps

        return to_triton(self, name)

    def to_isl(
        self: IndexingMap,
        *,
        runtime_as_parameters: bool = False,
        context: islpy.Context | None = None,
    ) -> islpy.Map:
        """All pairs of ``dims`` and ``results`` as isl's relation; its ``str`` is isl's text.

        Ranges are gone: elements are related if some values of the ranges relate them. So are
        runtime variables, unless they are wanted as parameters. The relation is of islpy's default
        context unless another one is given: isl does not mix contexts. Costs about a millisecond;
        :func:`indexing.from_isl` is the way back.

        Raises:
            NotQuasiAffineError: an expression multiplies variables or divides by one.

        >>> from indexing import parse_map
        >>> blocks = parse_map("(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 3], s0 in [0, 7]")
        >>> print(blocks.to_isl())
        { [d0] -> [o0] : 0 <= d0 <= 3 and 8d0 <= o0 <= 7 + 8d0 }
        """
        from indexing.formats.isl import to_isl  # noqa: PLC0415 - it looks into maps

        return to_isl(self, runtime_as_parameters=runtime_as_parameters, context=context)

    def to_affine_map(self: IndexingMap) -> str:
        """The results as MLIR's ``affine_map``, which has no domain.

        Symbols are the ranges, then the runtime variables; quotients by negative constants are
        turned, MLIR has none. :func:`indexing.from_affine_map` reads both texts.

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
        from indexing.formats.mlir import to_affine_map  # noqa: PLC0415 - it makes maps

        return to_affine_map(self)

    def to_affine_set(self: IndexingMap) -> str:
        """The bounds and constraints as MLIR's ``affine_set``; see :meth:`to_affine_map`."""
        from indexing.formats.mlir import to_affine_set  # noqa: PLC0415 - it makes maps

        return to_affine_set(self)

    def _repr_latex_(self: IndexingMap) -> str:
        from indexing.formats.latex import latex_of_map  # noqa: PLC0415 - display is built on maps

        return latex_of_map(self)

    def _repr_html_(self: IndexingMap) -> str:
        from indexing.formats.html import html_of_map  # noqa: PLC0415 - display is built on maps

        return html_of_map(self)
