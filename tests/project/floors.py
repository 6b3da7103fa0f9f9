"""The floors of the three packages as data: low folders know nothing of high ones.

A floor is a row of folders and modules, and a folder stands for all in it that no longer name
covers. Inside a folder modules import each other as they need, without circles. The name of the
package itself, such as ``ops``, stands for its ``__init__`` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

Floors: TypeAlias = tuple[tuple[str, ...], ...]

FLOORS: Final[Mapping[str, Floors]] = {
    "": (("simplifier",), ("indexing",), ("ops",)),
    "simplifier": (
        ("simplifier.errors", "simplifier.limits"),
        ("simplifier.tools",),
        ("simplifier.expr",),
        ("simplifier.laws",),
        ("simplifier.bounds",),
        ("simplifier.canonical",),
        ("simplifier.extraction",),
        ("simplifier.conditions",),
        ("simplifier.evaluation", "simplifier.fixpoint"),
        ("simplifier.problem",),
        ("simplifier.exact",),
        ("simplifier.simplification",),
        ("simplifier.forms",),
        ("simplifier",),
    ),
    "indexing": (
        ("indexing.errors", "indexing.startup"),
        ("indexing.variable",),
        ("indexing.domain",),
        ("indexing.relation", "indexing.validation"),
        ("indexing.simplify",),
        ("indexing.transform",),
        ("indexing.pictures",),
        ("indexing.formats.text", "indexing.formats.notebook"),
        ("indexing.exact",),
        ("indexing.formats",),
        ("indexing.tile", "indexing.index_relation"),
        ("indexing.map",),
        ("indexing.readers",),
        ("indexing.code", "indexing.layout", "indexing.passes"),
        ("indexing",),
        ("indexing.__main__",),
    ),
    "ops": (
        ("ops.limits", "ops.mlir", "ops.index_maps"),
        ("ops.hlo",),
        ("ops.devices", "ops.stablehlo"),
        ("ops.rules",),
        ("ops.dependence", "ops.jax"),
        ("ops.analysis",),
        ("ops.loop_dependence",),
        ("ops.fusion",),
        ("ops.explorer", "ops.xla_gpu"),
        ("ops.kernels", "ops.performance"),
        ("ops.affine", "ops.modules", "ops.pallas", "ops.tiling", "ops.triton"),
        ("ops.advice",),
        ("ops",),
        ("ops.cli",),
    ),
}
"""The floors inside each package, low ones first; "" has those of the packages."""

_CLOSED: Final = (
    *("indexing.layout.cute", "indexing.layout.linear", "ops.advice", "ops.explorer", "ops.jax"),
    *("ops.kernels", "ops.loop_dependence", "ops.pallas", "ops.stablehlo", "ops.tiling"),
    *("ops.affine", "ops.triton", "ops.xla_gpu"),
)
_INSIDE: Final = {
    "simplifier": "errors exact forms tools.display tools.graphs tools.late tools.lexer",
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
