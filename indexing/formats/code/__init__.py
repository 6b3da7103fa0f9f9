"""Maps as code: one text for any number of maps, in each language of a table.

``emit`` is the door; ``to_c`` and the others are it for one map. ``language`` has the table,
``coder`` writes formulas, ``map_functions`` what is around them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from indexing.errors import MapError
from indexing.formats.code.language import LANGUAGES
from indexing.formats.code.map_functions import text_of_maps
from indexing.formats.code.mlir_code import mlir_text_of_maps
from indexing.relation import Relation, check_map
from simplifier.errors import check_type, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

MLIR: Final = "mlir"
"""It has a room of its own: each of its operations has a name."""

__all__ = ["emit", "to_c", "to_cuda", "to_mlir", "to_triton"]


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
    given = _maps(maps)
    named = _names(names, len(given))
    if language == MLIR:
        return mlir_text_of_maps(given, named, "emit")
    if language not in LANGUAGES:
        expected = listed([*LANGUAGES, MLIR])
        raise MapError(f"emit: language is {quoted(language)}; expected {expected}")
    return text_of_maps(given, LANGUAGES[language], named, "emit")


def _maps(maps: Relation | Iterable[Relation]) -> list[Relation]:
    if isinstance(maps, Relation):
        return [maps]
    check_type(maps, Iterable, "emit: maps", "a map or several")
    given = list(maps)
    for position, each in enumerate(given):
        check_map(each, f"emit: maps[{position}]")
    if not given:
        raise MapError("emit: maps is empty; expected a map at least")
    return given


def _names(names: Sequence[str] | str | None, count: int) -> list[str]:
    if names is None:
        return ["indexing_map"] if count == 1 else [f"map{number}" for number in range(count)]
    check_type(names, Iterable, "emit: names", "a name for each map")
    given = [names] if isinstance(names, str) else list(names)
    if len(given) != count:
        raise MapError(f"emit: got {len(given)} names; expected {count}, one for each map")
    if len(set(given)) < count:
        raise MapError(f"emit: names are {listed(given)}; expected different names")
    return given


def to_c(indexing_map: Relation, name: str = "indexing_map") -> str:
    """C11 text; see :meth:`indexing.IndexingMap.to_c`."""
    return text_of_maps([indexing_map], LANGUAGES["c"], [name], "to_c")


def to_cuda(indexing_map: Relation, name: str = "indexing_map") -> str:
    """CUDA text; see :meth:`indexing.IndexingMap.to_cuda`."""
    return text_of_maps([indexing_map], LANGUAGES["cuda"], [name], "to_cuda")


def to_triton(indexing_map: Relation, name: str = "indexing_map") -> str:
    """Triton text; see :meth:`indexing.IndexingMap.to_triton`."""
    return text_of_maps([indexing_map], LANGUAGES["triton"], [name], "to_triton")


def to_mlir(indexing_map: Relation, name: str = "indexing_map") -> str:
    """MLIR text; see :meth:`indexing.IndexingMap.to_mlir`."""
    return mlir_text_of_maps([indexing_map], [name], "to_mlir")
