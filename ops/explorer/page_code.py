"""The JavaScript of a page: functions made from maps, and the modules that are stored beside it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Final

from indexing import MapError, emit_loops

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing import IndexingMap

MODULES: Final = (
    "dom.js",
    "evaluation.js",
    "grid.js",
    "address.js",
    "search.js",
    "theme.js",
    "graph_layout.js",
    "array_view.js",
    "reads_view.js",
    "graph_view.js",
    "text_view.js",
    "list_view.js",
    "explorer.js",
)
"""The modules of the page, each after those that it imports."""

_LIBRARY: Final = ("vendor/dagre.LICENSE.txt", "vendor/dagre.min.js")

_MAX_CODE: Final = 20_000
"""Characters of a map's function: real ones have hundreds, tables of values more than a page
should carry.
"""

_VISIT: Final = "visit"


@dataclass(frozen=True, slots=True)
class NoCode:
    """That a map has no function in a page, and the reason."""

    reason: str


def code_of_map(indexing_map: IndexingMap) -> str | NoCode:
    """A function of the dimensions, the runtime variables and ``visit``, as an expression.

    It calls ``visit`` with the results at each point of the ranges where the constraints hold,
    until that returns ``true``. The bounds of dimensions and runtime variables are not asked.

    >>> from indexing import parse_map
    >>> print(code_of_map(parse_map("(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]")))
    (() => { function r_loops(d0, visit) {
      const r0 = d0;
      for (let s0 = 0; s0 < 8; ++s0) {
        const r1 = s0;
        if (visit([r0, r1])) return;
      }
    } return r_loops; })()
    >>> code_of_map(parse_map("(d0) -> (d0 * d0), domain: d0 in [0, 100000000]"))
    NoCode(reason='d0 * d0 may need more than 53 bits and a sign')
    """
    count = len(indexing_map.forms)
    results = ["r"] if count == 1 else [f"r{number}" for number in range(count)]
    body = f"if ({_VISIT}([{', '.join(results)}])) return;"
    try:
        text = emit_loops(indexing_map, "javascript", body, "r", parameters=_VISIT)
    except MapError as error:
        return NoCode(str(error).removeprefix("emit_loops: "))
    lines = (line for line in text.splitlines() if line and not line.startswith("//"))
    code = "\n".join(lines)
    if len(code) > _MAX_CODE:
        return NoCode(f"its code has {len(code):,} characters")
    return f"(() => {{ {code} return r_loops; }})()"


def function_list(codes: Iterable[str]) -> str:
    """A constant with all functions, for the modules."""
    joined = ",\n".join(codes)
    return f"const FUNCTIONS = [\n{joined}\n];\n"


def modules() -> str:
    """The modules of the page as one, behind the library that lays out graphs, with its licence.

    Each imports only names of those before it and exports its own, so that one text of all needs
    neither word.
    """
    library = "\n".join(map(page_file, _LIBRARY))
    own = "\n".join(map(_joined, MODULES))
    return f"{library.partition('//# sourceMappingURL')[0]}\n{own}"


def page_file(name: str) -> str:
    """A file of the page."""
    return resources("ops.explorer").joinpath("page", name).read_text("utf-8")


def _joined(name: str) -> str:
    lines = page_file(name).splitlines()
    kept = (line for line in lines if not line.startswith("import "))
    return "\n".join(line.removeprefix("export ") for line in kept)
