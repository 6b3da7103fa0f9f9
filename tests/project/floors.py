"""The floors of the three packages as data: low folders know nothing of high ones.

A floor is a row of folders and modules, and a folder stands for all in it that no longer name
covers. Inside a folder modules import each other as they need, without circles. The name of the
package itself, such as ``ops`` or ``.``, stands for its ``__init__`` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

Floors: TypeAlias = tuple[tuple[str, ...], ...]

_NAMES: Final = {
    "": "simplifier < indexing < ops",
    "simplifier": """
        errors limits < tools < expr < laws < bounds < canonical < extraction < conditions
        < evaluation fixpoint < problem < exact < simplification < forms torch < .""",
    "indexing": """
        errors startup < variable < domain < relation validation < simplify < transform < pictures
        < formats.text formats.notebook < exact < formats < tile index_relation < map < readers
        < code layout passes < . < __main__""",
    "ops": """
        limits mlir index_maps < hlo < devices stablehlo < rules < dependence jax < analysis
        < loop_dependence < fusion < xla_gpu < performance < tiling
        < affine explorer kernels modules pallas triton < advice < . < cli""",
}
FLOORS: Final[Mapping[str, Floors]] = {
    package: tuple(
        tuple(f"{package}.{name}".strip(".") for name in floor.split())
        for floor in names.split("<")
    )
    for package, names in _NAMES.items()
}
"""The floors inside each package, low ones first; "" has those of the packages."""

_CLOSED: Final = (
    *("indexing.layout.cute", "indexing.layout.linear", "ops.advice", "ops.explorer", "ops.jax"),
    *("ops.kernels", "ops.loop_dependence", "ops.pallas", "ops.stablehlo", "ops.tiling"),
    *("ops.affine", "ops.triton", "ops.xla_gpu"),
)
_INSIDE: Final = {
    "simplifier": "errors exact forms torch tools.display tools.graphs tools.late tools.lexer",
    "indexing": "code layout layout.linear passes pictures.access_picture pictures.grids"
    " pictures.svg startup",
    "ops.mlir": "operations text",
    **dict.fromkeys(_CLOSED, ""),
}
DOORS: Final[Mapping[str, tuple[str, ...]]] = {
    folder: (folder, *(f"{folder}.{name}" for name in names.split()))
    for folder, names in _INSIDE.items()
}
"""What others import of a folder: itself and these; all else in it is its own affair."""

RECURSIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "a form and its printer": ("simplifier.expr.form", "simplifier.expr.printer")
}
"""Modules that may import each other, also in functions, by the name of the recursion they are."""

IMPORTS_UPWARDS: Final[Mapping[tuple[str, str], str]] = {
    ("indexing.__main__", "ops.cli"): "`python -m indexing` starts the command line",
    ("indexing", "ops.explorer"): "`indexing.explore` shows a program",
}
"""The doors upwards: which module imports which package above it, and why."""

LOADED_LATE: Final[Mapping[str, str]] = {
    "islpy": "a tenth of a second, and only exact questions need it",
    **dict.fromkeys(("jax", "tqdm", "anywidget", "traitlets"), "an extra"),
    "importlib.metadata": "a fiftieth of a second, and only the version needs it",
    "concurrent.futures": "only work in several processes needs it",
    "multiprocessing": "only work in several processes needs it",
}
"""What a function may import by itself, and why: all else stands on top of its module."""

LIMIT_WORDS: Final = ("MAX", "BUDGET", "LIMIT")
"""How the names of constants begin that bound something; each says beside it why so much."""

WORDS_FOR_MAX: Final = ("MOST", "LONGEST", "DEEPEST", "LARGEST")
"""How no constant begins: MAX is the word for a limit."""

SAME_CLASS_NAME: Final[Mapping[str, str]] = {
    "Step": "public in both packages: of a simplification, and from an index to its offset"
}
"""Class names that several classes may carry, and why."""
