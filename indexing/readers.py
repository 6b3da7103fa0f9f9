"""Reads maps: from texts and from other tools."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from indexing.formats.isl_relation import isl_map, read_isl
from indexing.formats.mlir import read_affine_map
from indexing.formats.text import alternatives, read_map
from indexing.index_relation import IndexRelation, relation_of_text
from indexing.map import UNDEFINED, IndexingMap, UndefinedMap
from simplifier.errors import check_type
from simplifier.exact import BUDGET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexing.formats.isl_relation import IslRelation
    from indexing.relation import Relation
    from simplifier.bounds.interval import IntervalLike
    from simplifier.exact import Budget


def parse_map(text: str, file: str = "", *, unbounded: bool = False) -> IndexingMap:
    """The map that a text describes.

    Operators may have any spelling (``floordiv``, ``/``, ``//``; ``mod``, ``%``). ``-inf`` and
    ``inf`` are open ends. A line break may stand for a comma of the domain, and a comma may follow
    the last item of a list. ``8d0`` is a product. ``KNOWN EMPTY`` alone, which XLA prints for any
    map without points, is the empty map without variables and results. ``parse_map(str(m)) == m``
    for every map.

    Lines such as ``hlo: of = s32[] parameter(0)`` and ``(d0) -> ()`` after the bounds of a
    variable, as in XLA's documentation, make it a runtime variable.

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
    return IndexRelation(*(parse_map(each, file) for each in alternatives(text)))


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
    relation: str | IslRelation,
    *,
    budget: Budget = BUDGET,
    parameters_as_runtime: bool = True,
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


def _map_of(relation: Relation) -> IndexingMap:
    return IndexingMap.from_forms(relation.forms, relation.domain)
