"""Reads maps: from texts and from other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from indexing.formats.einsum import NamedIndices, read_einsum, read_pattern
from indexing.formats.isl import isl_map, read_isl
from indexing.formats.mlir import read_affine_map
from indexing.formats.text import read_map, read_maps
from indexing.index_relation import IndexRelation, relation_of_text
from indexing.map import UNDEFINED, IndexingMap, UndefinedMap
from indexing.relation import Relation
from indexing.validation import Size
from simplifier.errors import check_type
from simplifier.exact import BUDGET, Budget
from simplifier.forms import IntervalLike

if TYPE_CHECKING:
    from indexing.formats.isl import IslRelation


def parse_map(text: str, file: str = "", *, unbounded: bool = False) -> IndexingMap:
    """The map that a text describes.

    Operators may be of any dialect (``floordiv``, ``/``, ``//``; ``mod``, ``%``). ``-inf`` and
    ``inf`` are open ends. A line break may stand for a comma of the domain, and a comma may follow
    the last item of a list. ``8d0`` is a product. ``KNOWN EMPTY`` alone, which XLA prints for any
    map without points, is the empty map without variables and results. ``parse_map(str(m)) == m``
    for every map.

    The text may be the attribute ``#xla.indexing_map<"...">``. Lines about runtime variables, as
    XLA and this library print them, are skipped with a ``TextWarning``: ``rt0: %i = s32[]
    parameter(1); (d0) -> ()`` below the map, or ``hlo: i = s32[] parameter(1)`` and ``(d0) -> ()``
    after the bounds of a variable, which is a runtime variable then.

    Args:
        text: the map.
        file: where the text is from, for messages.
        unbounded: whether the domain may be missing; then every variable may be any integer.

    Raises:
        TextError: with line, column, and a caret under the place.

    >>> print(parse_map("(d0)[s0] -> (d0 * 8 + s0, d0 % 2), domain: d0 in [0, 3], s0 in [0, 7]"))
    (d0)[s0] -> (d0 * 8 + s0, d0 mod 2), domain: d0 in [0, 3], s0 in [0, 7]
    >>> print(parse_map("(d0)[s0] -> (s0 + 5, 2d0)", unbounded=True))
    (d0)[s0] -> (s0 + 5, d0 * 2), domain: d0 in [-inf, inf], s0 in [-inf, inf]
    >>> parse_map("(d0) -> (d7), domain: d0 in [0, 3]")
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:10: 'd7' is not a declared variable
    (d0) -> (d7), domain: d0 in [0, 3]
             ^^
    hint: declared: d0
    """
    word, _, reason = text.partition(":") if isinstance(text, str) else ("", "", "")  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
    if word.strip() == UNDEFINED:
        return UndefinedMap(reason)
    return _map_of(read_map(text, file, unbounded=unbounded))


def parse_relation(text: str, file: str = "") -> IndexRelation[IndexingMap]:
    """The union of maps that a text describes: maps joined by ``or``, or isl's text in braces.

    Raises:
        TextError: with line, column, and a caret under the place.

    >>> text = "(i) -> (i + 4), domain: i in [0, 3] or (i) -> (i - 4), domain: i in [4, 7]"
    >>> print(parse_relation(text).domain_set())
    (i): i in [0, 7]
    >>> print(parse_relation("{ [i] -> [i + 1] : 0 <= i < 9; [9] -> [0] }"))
    (i) -> (i + 1), domain: i in [0, 8] or (i) -> (0), domain: i in [9, 9]
    """
    check_type(text, str, "parse_relation: text", "a string")
    if text.lstrip()[:1] in ("{", "["):
        return relation_of_text(IndexingMap, str(isl_map(text, "parse_relation")))
    return IndexRelation(*map(_map_of, read_maps(text, file)))


def from_affine_map(
    text: str,
    bounds: Mapping[str, IntervalLike] = MappingProxyType({}),
    *,
    affine_set: str = "",
    runtime: int = 0,
) -> IndexingMap:
    """The map of MLIR's ``affine_map<...>`` on a domain; ``affine_map<`` may be missing.

    Args:
        text: the affine map.
        bounds: the bounds of variables, by name; other variables have none.
        affine_set: the domain as MLIR's ``affine_set<...>`` over as many dimensions and symbols.
        runtime: the number of symbols, the last ones, that are runtime variables; others are
            ranges.

    Raises:
        TextError: with line, column, and a caret under the place.
        MapError: the bounds do not fit.

    >>> print(from_affine_map("affine_map<(i)[n] -> (i * 8 + n)>", {"i": (0, 3), "n": (0, 7)}))
    (i)[n] -> (i * 8 + n), domain: i in [0, 3], n in [0, 7]
    >>> print(from_affine_map("(d0) -> (d0 mod 4)", affine_set="(d0) : (d0 >= 0, d0 <= 9)"))
    (d0) -> (d0 mod 4), domain: d0 in [0, 9]
    """
    return _map_of(read_affine_map(text, bounds, affine_set, runtime))


def from_isl(
    relation: str | IslRelation, *, budget: Budget = BUDGET, parameters_as_runtime: bool = True
) -> IndexingMap:
    """The map of one of isl's relations or functions, or of a text of isl.

    A result that the dimensions determine is an expression; for any other, a range runs over its
    values. A set is a map without dimensions. isl's parameters become runtime variables or, without
    ``parameters_as_runtime``, parameters.

    Costs milliseconds for relations of everyday maps: some integer programmes for each result. A
    relation with very many cases is not simplified.

    Raises:
        TextError: the text is not isl's.
        MapError: the relation has several spaces, or rational numbers, or is no relation.
        BudgetError: reading it takes more than the budget.

    >>> print(from_isl("[n] -> { [i] -> [floor(i/8), i mod 8] : 0 <= i < 64 and i < n }"))
    (i){n} -> (i floordiv 8, i mod 8), domain: i in [0, 63], n in [1, inf], i - n in [-inf, -1]
    >>> print(from_isl("[n] -> { [i] -> [i + n] : 0 <= i < n }", parameters_as_runtime=False))
    (i)<n> -> (i + n), domain: i in [0, n - 1], n in [1, inf]
    >>> print(from_isl("{ [i] -> [j] : 0 <= i < 4 and 8i <= j <= 8i + 7 }"))
    (i)[j] -> (i * 8 + j), domain: i in [0, 3], j in [0, 7]
    >>> from_isl("{ [i] -> [i * i] }")
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:1: isl does not read this as a relation
    { [i] -> [i * i] }
    ^^^^^^^^^^^^^^^^^^
    hint: expected such as { [i] -> [i mod 8] : 0 <= i < 64 }
    """
    read = read_isl(relation, budget=budget, parameters_as_runtime=parameters_as_runtime)
    return _map_of(read)


def from_einops(pattern: str, shape: Sequence[Size], /, **sizes: Size) -> IndexingMap:
    """The map of a pattern of einops, from an element of the result to those of the operand.

    The patterns are those of ``einops.rearrange``, ``reduce`` and ``repeat``: axes that only the
    operand has are ranges, as they are reduced, and axes that only the result has are new. ``...``
    stands for any axes, ``1`` and ``()`` for an axis of size 1, ``(h w)`` for several in one, of
    which the last is the fastest. :meth:`IndexingMap.inverse` is the map from the operand.

    Args:
        pattern: the pattern.
        shape: the sizes of the operand: integers, or expressions over parameters.
        sizes: the sizes of axes that the shape does not tell.

    Raises:
        TextError: the pattern is none, or the sizes do not fit; with a caret under the place.
        MapError: a size is given for an axis that is not in the pattern.

    >>> print(from_einops("b (h w) c -> b c h w", [2, 12, 3], h=4))
    (b, c, h, w) -> (b, h * 3 + w, c), domain: b in [0, 1], c in [0, 2], h in [0, 3], w in [0, 2]
    >>> print(from_einops("(h 2) w -> h w", [8, 3]))
    (h, w)[s0] -> (h * 2 + s0, w), domain: h in [0, 3], w in [0, 2], s0 in [0, 1]
    >>> from_einops("b c -> b (c d)", [2, 3])
    Traceback (most recent call last):
    simplifier.errors.TextError: 1:13: the size of d is not known
    b c -> b (c d)
                ^
    """
    return _named(read_pattern(pattern, shape, sizes))


def from_einsum(text: str, *shapes: Sequence[Size]) -> tuple[IndexingMap, ...]:
    """The maps of a string of einsum, from an element of the result to those of each operand.

    A summed label is a range. A label that stands twice in an operand takes its diagonal; an axis
    of size 1 is read again for each index. ``...`` and a missing ``->`` mean what they mean to
    NumPy. Names with blanks between, as in ``batch time, time -> batch``, are those of einops.

    Raises:
        TextError: the text is no string of einsum, or the sizes do not fit; with a caret.

    >>> for each in from_einsum("ij,jk->ik", [2, 3], [3, 4]):
    ...     print(each)
    (i, k)[j] -> (i, j), domain: i in [0, 1], k in [0, 3], j in [0, 2]
    (i, k)[j] -> (j, k), domain: i in [0, 1], k in [0, 3], j in [0, 2]
    >>> print(*from_einsum("ii", [5, 5]))
    ()[i] -> (i, i), domain: i in [0, 4]
    """
    return tuple(map(_named, read_einsum(text, shapes)))


def _named(read: NamedIndices) -> IndexingMap:
    symbols = sorted({each for size, _ in read.constraints for each in size.free_symbols}, key=str)
    made = IndexingMap(read.results, read.dims, read.ranges, (), read.constraints, symbols)
    return made.simplify(preserve_size_one=True, preserve_ranges=True)


def _map_of(relation: Relation) -> IndexingMap:
    return IndexingMap.from_forms(relation.forms, relation.domain)
