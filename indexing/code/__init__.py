"""Maps as code: one text for any number of maps, in each language of a table.

``emit`` is the door; ``to_language`` is it for one map. ``language`` has the table,
``coder`` writes formulas, ``map_functions`` what is around them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from indexing.code.coder import alone, helpers_in, is_narrow
from indexing.code.functions import check_name, comparisons, text_of_maps
from indexing.code.language import LANGUAGES, Language
from indexing.code.loops import (
    Body,
    LocalNames,
    LoopBlock,
    digits_of,
    divisors_of,
    solving,
    text_of_loops,
)
from indexing.code.mlir import mlir_text_of_maps
from indexing.errors import MapError
from indexing.relation import Relation, check_map
from simplifier.errors import check_type, listed, quoted

MLIR: Final = "mlir"
"""It has a room of its own: each of its operations has a name."""

__all__ = [
    "Language",
    "LocalNames",
    "LoopBlock",
    "alone",
    "check_name",
    "comparisons",
    "digits_of",
    "divisors_of",
    "emit",
    "emit_loops",
    "helpers_in",
    "is_narrow",
    "solving",
    "to_language",
]


def emit(
    maps: Relation | Iterable[Relation], language: str, names: Sequence[str] | str | None = None
) -> str:
    """One text with a function for the results of maps, and one for the domain of each.

    The maps share one function, so that what they have in common is computed once. Variables of one
    name are one parameter; the function is for the points that lie in all domains. Values have 32
    bits where nothing on the way to them needs more.

    Args:
        maps: a map, or several.
        language: ``"c"``, ``"cuda"``, ``"triton"``, ``"numpy"``, ``"javascript"`` or ``"mlir"``.
        names: a name for each map; the function is called after all of them, that of a domain
            ``NAME_contains`` or, in Python, ``NAME_mask``.

    Raises:
        MapError: an unknown language, a variable that is not bounded, a value that may need more
            bits than the language has, or a name that it cannot use.

    >>> from indexing import emit, parse_map
    >>> rows = parse_map("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]")
    >>> tiles = parse_map("(d0) -> (d0 floordiv 8 * 100), domain: d0 in [0, 31]")
    >>> print(emit([rows, tiles], "javascript", ["row", "tile"]))
    // (d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]
    // (d0) -> ((d0 floordiv 8) * 100), domain: d0 in [0, 31]
    <BLANKLINE>
    function row_tile(d0) {
      const d0_div_8 = d0 >> 3;
      return [[d0_div_8, d0 & 7], [d0_div_8 * 100]];
    }
    <BLANKLINE>
    function row_contains(d0) {
      return d0 >= 0 && d0 < 32;
    }
    <BLANKLINE>
    function tile_contains(d0) {
      return d0 >= 0 && d0 < 32;
    }
    <BLANKLINE>
    """
    given = _maps(maps, "emit")
    named = _names(names, len(given), "emit")
    _check_language(language, [*LANGUAGES, MLIR], "emit")
    return _text(given, language, named, "emit")


def emit_loops(
    maps: Relation | Iterable[Relation],
    language: str,
    body: str,
    names: Sequence[str] | str | None = None,
    *,
    parameters: str = "",
    last: str = "",
) -> str:
    """One function with loops over the ranges of maps around your own lines.

    The lines use each result by the name of its map; if a map has several, by ``NAME0``, ``NAME1``,
    and so on. Loops go where the constraints hold: these become the ends of a loop and its step
    where they can. Others are asked outside of the loops that do not change them. A loop is split
    where that spares divisions. Ranges of one name are one loop.

    NumPy and Triton work on many points at once: there, loops have the same ends for all of them,
    and ``mask`` says which of them are inside.

    Args:
        maps: a map, or several.
        language: ``"c"``, ``"cuda"``, ``"triton"``, ``"numpy"`` or ``"javascript"``.
        body: lines for each point, in the language.
        names: a name for each map; the function is called after all of them, with ``_loops``.
        parameters: of the function, after the dimensions and runtime variables, in the language.
        last: a line behind the loops.

    Raises:
        MapError: as of :func:`emit`, or names that mean two things.

    >>> from indexing import emit_loops, parse_map
    >>> window = parse_map(
    ...     "(d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], "
    ...     "d0 * 2 + s0 in [1, 16]")
    >>> print(emit_loops(window, "javascript", "visit(place);", "place", parameters="visit"))
    // (d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], d0 * 2 + s0 in [1, 16]
    <BLANKLINE>
    function place_loops(d0, visit) {
      for (let s0 = Math.max(d0 * -2 + 1, 0); s0 < 3; ++s0) {
        const place = d0 * 2 + s0 - 1;
        visit(place);
      }
    }
    <BLANKLINE>
    """
    given = _maps(maps, "emit_loops")
    named = _names(names, len(given), "emit_loops")
    _check_language(language, LANGUAGES, "emit_loops")
    for what, text in (("body", body), ("parameters", parameters), ("last", last)):
        check_type(text, str, f"emit_loops: {what}", "a string")
    return text_of_loops(
        given, LANGUAGES[language], named, Body(body, parameters, last), "emit_loops"
    )


def _maps(maps: Relation | Iterable[Relation], asker: str) -> list[Relation]:
    if isinstance(maps, Relation):
        return [maps]
    check_type(maps, Iterable, f"{asker}: maps", "a map or several")
    given = list(maps)
    for position, each in enumerate(given):
        check_map(each, f"{asker}: maps[{position}]")
    if not given:
        raise MapError(f"{asker}: maps is empty; expected a map at least")
    return given


def _names(names: Sequence[str] | str | None, count: int, asker: str) -> list[str]:
    if names is None:
        return ["indexing_map"] if count == 1 else [f"map{number}" for number in range(count)]
    check_type(names, Iterable, f"{asker}: names", "a name for each map")
    given = [names] if isinstance(names, str) else list(names)
    for name in given:
        check_type(name, str, f"{asker}: a name", "a string")
    if len(given) != count:
        raise MapError(f"{asker}: got {len(given)} names; expected {count}, one for each map")
    if len(set(given)) < count:
        raise MapError(f"{asker}: names are {listed(given)}; expected different names")
    return given


def _check_language(language: str, known: Collection[str], asker: str) -> None:
    check_type(language, str, f"{asker}: language", "its name")
    if language not in known:
        raise MapError(f"{asker}: language is {quoted(language)}; expected {listed(known)}")


def to_language(indexing_map: Relation, language: str, name: str) -> str:
    """The text of one map; see :meth:`indexing.IndexingMap.to_c` and the others."""
    return _text([indexing_map], language, [name], f"to_{language}")


def _text(maps: Sequence[Relation], language: str, names: Sequence[str], asker: str) -> str:
    if language == MLIR:
        return mlir_text_of_maps(maps, names, asker)
    return text_of_maps(maps, LANGUAGES[language], names, asker)
