"""What the packages are made of, printed; and the picture of docs/architecture.md, written.

The picture shows the floors of `floors.py`: each module or package is a box with what it is for.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from statistics import median, quantiles
from textwrap import wrap
from typing import Final

from tests.project.floors import FLOORS, IMPORTS_UPWARDS
from tests.project.imports import circles, imports_of, module_of
from tests.project.sources import PACKAGES, ROOT, Source, sources

PICTURE: Final = ROOT / "docs" / "images" / "floors.svg"

MAX_LINES_OF_A_PART: Final = 250
"""A module with a single importer and fewer lines could be a part of it."""


def measures() -> Iterator[tuple[str, int | float]]:
    """Figures of the packages, each with its name; lengths of functions without docstrings."""
    files = sources(*PACKAGES)
    lines = sum(len(source.text.splitlines()) for source in files)
    code = [code_lines(source) for source in files]
    imports = sum(map(import_lines, files))
    lengths = [length for source in files for _, length in function_lengths(source)]
    yield "files", len(files)
    yield "code lines", sum(code)
    yield "lines that import, in a hundred", round(100 * imports / lines, 1)
    yield "functions", len(lengths)
    yield "lines of a function, median", round(median(lengths))
    yield "lines of a function, 95 of 100 have no more", round(quantiles(lengths, n=20)[-1])
    yield from _measures_of_imports(files)
    for question, statement in QUESTIONS.items():
        entered, deepest = calls_of(statement)
        yield f"files entered by `{question}`", entered
        yield "  calls of functions on top of each other, at most", deepest


def _measures_of_imports(files: Sequence[Source]) -> Iterator[tuple[str, int]]:
    modules = {module_of(source): source for source in files}
    imports = [
        found
        for source in files
        for found in imports_of(source, frozenset(modules))
        if found.imported in modules and found.imported != found.importer
    ]
    doors = {importer for importer, _ in IMPORTS_UPWARDS}
    closed = circles(found for found in imports if found.importer not in doors)
    importers: dict[str, set[str]] = {}
    for found in imports:
        importers.setdefault(found.imported, set()).add(found.importer)
    single = [module for module, names in importers.items() if len(names) == 1]
    short = [m for m in single if len(modules[m].text.splitlines()) < MAX_LINES_OF_A_PART]
    yield "circles of imports", len(closed)
    yield "modules on them", sum(map(len, closed))
    yield "modules that one other imports", len(single)
    yield f"  below {MAX_LINES_OF_A_PART} lines", len(short)


def code_lines(source: Source) -> int:
    """The lines of a file that hold code: no docstrings, comments and blank lines."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(StringIO(source.text).readline):
        if token.type not in _WITHOUT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in source.nodes(ast.Expr):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(_lines_of(node) if isinstance(node.value.value, str) else ())
    return len(lines)


_WITHOUT_CODE: Final = {
    *(tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER),
    *(tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT),
}


def import_lines(source: Source) -> int:
    return sum(len(_lines_of(node)) for node in source.nodes(ast.Import, ast.ImportFrom))


def _lines_of(node: ast.AST) -> range:
    first: int = getattr(node, "lineno", 1)
    last: int | None = getattr(node, "end_lineno", None)
    return range(first, (last or first) + 1)


def function_lengths(source: Source) -> Iterator[tuple[str, int]]:
    """The functions of a file, and the lines of each less those of its docstring."""
    for node in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = ast.get_docstring(node, clean=False)
            documented = 0 if docstring is None else docstring.count("\n") + 1
            yield node.name, len(_lines_of(node)) - documented


QUESTIONS: Final = {
    "fusions examples/softmax.hlo": "main(['fusions', 'examples/softmax.hlo'])",
    "coalescing examples/softmax.hlo": "main(['coalescing', 'examples/softmax.hlo'])",
    "simplify(d0 + d1 - d0)": "simplify(d0_and_d1, {})",
}
"""Questions whose way through the files is measured; the first is the README's main job."""

_WATCHED: Final = """
import contextlib, importlib, io, json, sys

folders, modules, statement = map(json.loads, sys.argv[1:])
for module in modules:
    importlib.import_module(module)

def ours(frame):
    while frame:
        if frame.f_code.co_filename.startswith(tuple(folders)):
            yield frame.f_code.co_filename
        frame = frame.f_back

entered, deepest = set(), 0
def watch(frame, event, argument):
    global deepest
    if event == "call" and frame.f_code.co_filename.startswith(tuple(folders)):
        entered.add(frame.f_code.co_filename)
        deepest = max(deepest, len([*ours(frame)]))

import sympy
from ops.cli import main
from simplifier import simplify, symbol

d0_and_d1 = sympy.Add(symbol("d0"), symbol("d1"), -symbol("d0"), evaluate=False)
question = compile(statement, "a question", "exec")
with contextlib.redirect_stdout(io.StringIO()):
    sys.setprofile(watch)
    exec(question)
    sys.setprofile(None)
print(json.dumps([len(entered), deepest]))
"""
"""A program that runs a statement, all modules loaded, and says what it went through."""


def calls_of(statement: str) -> tuple[int, int]:
    """The number of files that a statement enters, and how deep its calls are nested."""
    folders = [f"{ROOT / package}/" for package in PACKAGES]
    modules = [m for m in map(module_of, sources(*PACKAGES)) if not m.endswith("__main__")]
    arguments = map(json.dumps, (folders, modules, statement))
    run = [sys.executable, "-c", _WATCHED, *arguments]
    ran = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True)
    entered, deepest = json.loads(ran.stdout)
    return entered, deepest


_WIDTH, _MARGIN, _GAP, _LINE = 1080, 16, 8, 15
_CHARACTER, _TITLE, _NAMES = 6.6, 34, 190
_FILLS: Final = {"ops": "#fdf0d5", "indexing": "#cfe0f5", "simplifier": "#e9e9e9"}
_STYLE: Final = """
text { font: 12px system-ui, sans-serif; fill: #222; }
.package { font-size: 17px; font-weight: 600; }
.name { font: 600 12px ui-monospace, monospace; }
rect { stroke: #888; }
@media (prefers-color-scheme: dark) {
text { fill: #e4e8ed; }
rect { stroke: #59636e; }
rect[fill="#fff"] { fill: #14181d; }
rect[fill="#fdf0d5"] { fill: #4a3a17; }
rect[fill="#cfe0f5"] { fill: #1d3a57; }
rect[fill="#e9e9e9"] { fill: #2a323b; }
}
"""


@dataclass(frozen=True)
class Box:
    """A module or package of a floor: its name there, and its purpose."""

    name: str
    purpose: str


def boxes(package: str) -> list[list[Box]]:
    """The floors of a package as the picture shows them, low ones first."""
    files = {module_of(source): source for source in sources(*PACKAGES)}
    floors = ([name for name in names if name in files] for names in FLOORS[package])
    return [[_box(name, package, files[name]) for name in names] for names in floors if names]


def _box(name: str, package: str, source: Source) -> Box:
    if name == package:
        return Box("__init__", "The public names.")
    text = ast.get_docstring(source.tree) or ""
    purpose = text.partition("\n\n")[0].partition("\n")[0]
    is_package = source.path.endswith("__init__.py")
    shown = name.removeprefix(f"{package}.") + "/" * is_package
    return Box(shown, re.sub(r":\w+:`[~!]?([^`]*)`|`+", r"\1", purpose))


def drawing() -> str:
    """The picture as SVG: the packages with floors, the highest on top."""
    parts: list[str] = []
    top = float(_MARGIN)
    for package in reversed([name for name in FLOORS if name]):
        drawn, top = _package(package, top)
        parts += drawn
    size = f'width="{_WIDTH}" height="{top:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_WIDTH} {top:g}">'
    title = "<title>The floors of the three packages, low ones below</title>"
    paper = f'<rect {size} fill="#fff" style="stroke: none"/>'
    return "\n".join([head, title, f"<style>{_STYLE}</style>", paper, *parts, "</svg>\n"])


def _package(package: str, top: float) -> tuple[list[str], float]:
    """The floors of one package below this height, and the height below them."""
    parts = [_text(_MARGIN, top + 18, f"{package}/", "package")]
    top += _TITLE - _GAP
    for floor in reversed(boxes(package)):
        drawn, height = _floor(floor, top, _FILLS[package])
        parts += drawn
        top += height + _GAP
    return parts, top + _GAP


def _floor(floor: Sequence[Box], top: float, fill: str) -> tuple[list[str], float]:
    """The boxes of a floor, at most four beside each other, and their height."""
    parts: list[str] = []
    height = 0.0
    for row in _rows(floor):
        width = (_WIDTH - 2 * _MARGIN - _GAP * (len(row) - 1)) / len(row)
        tall = 2 * _GAP + _LINE * (1 + max(len(_lines(box, width)) for box in row))
        for column, box in enumerate(row):
            left = _MARGIN + column * (width + _GAP)
            frame = f'x="{left:g}" y="{top + height:g}" width="{width:g}" height="{tall:g}"'
            parts.append(f'<rect {frame} fill="{fill}"/>')
            parts += _name_and_purpose(box, left + _GAP, top + height + _LINE + 4, width)
        height += tall
    return parts, height


def _rows(floor: Sequence[Box], most: int = 4) -> list[Sequence[Box]]:
    count = -(-len(floor) // most)
    length = -(-len(floor) // count)
    return [floor[start : start + length] for start in range(0, len(floor), length)]


def _lines(box: Box, width: float) -> list[str]:
    """The purpose below the name; none where both are in one line, as wide as the picture."""
    is_wide = width == _WIDTH - 2 * _MARGIN
    return [] if is_wide else wrap(box.purpose, int((width - 2 * _GAP) / _CHARACTER))


def _name_and_purpose(box: Box, left: float, top: float, width: float) -> Iterator[str]:
    yield _text(left, top, box.name, "name")
    lines = _lines(box, width)
    if not lines:
        yield _text(left + _NAMES, top, box.purpose)
    for number, line in enumerate(lines, start=1):
        yield _text(left, top + number * _LINE, line)


def _text(x: float, y: float, text: str, class_: str = "") -> str:
    name = f'class="{class_}" ' if class_ else ""
    return f'<text {name}x="{x:g}" y="{y:g}">{escape(text)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawing(), "utf-8")
    sys.stdout.writelines(f"{figure:>9,}  {name}\n" for name, figure in measures())
