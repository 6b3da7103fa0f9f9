"""The table and the picture of docs/architecture.md; run as a program, it writes both.

The table measures the three packages, and compares them with what they were before they were
rebuilt. The picture shows the floors of `floors.py`: each module or package is a box, with how many
modules it holds and what it is for.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from html import escape
from statistics import median, quantiles
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from tests.pages import with_generated
from tests.project.floors import FLOORS, IMPORTS_UPWARDS
from tests.project.imports import circles, imports_of, module_of
from tests.project.sources import PACKAGES, ROOT, Source, sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE: Final = ROOT / "docs" / "architecture.md"
PICTURE: Final = ROOT / "docs" / "images" / "floors.svg"
STRUCTURE: Final = "structure"
"""The name of the marks around the table."""


# The measures.


@dataclass(frozen=True)
class Structure:
    """What the packages are made of; lengths of functions are lines without the docstring."""

    files: int
    lines: int
    functions: int
    median_length: int
    long_length: int
    circles: int
    modules_in_circles: int
    with_one_importer: int
    files_entered: int
    deepest_call: int


BEFORE: Final = Structure(
    files=283,
    lines=41_057,
    functions=2_856,
    median_length=5,
    long_length=16,
    circles=7,
    modules_in_circles=88,
    with_one_importer=76,
    files_entered=69,
    deepest_call=39,
)
"""At commit 8db8128, by this module."""

ROWS: Final = {
    "files": "files",
    "lines": "lines",
    "functions": "functions",
    "median_length": "lines of a function, median",
    "long_length": "lines of a function, 95 of 100 have no more",
    "circles": "circles of imports",
    "modules_in_circles": "modules on them",
    "with_one_importer": "modules that one other imports",
    "files_entered": "files entered to print the fusions of `examples/softmax.hlo`",
    "deepest_call": "calls of functions on top of each other, at most, while doing so",
}


def measured() -> Structure:
    """The structure of the packages as they are."""
    files = sources(*PACKAGES)
    lengths = [length for source in files for length in function_lengths(source)]
    modules = frozenset(map(module_of, files))
    imports = [
        found
        for source in files
        for found in imports_of(source, modules)
        if found.imported in modules and found.imported != found.importer
    ]
    doors = {importer for importer, _ in IMPORTS_UPWARDS}
    closed = circles(found for found in imports if found.importer not in doors)
    importers: dict[str, set[str]] = {}
    for found in imports:
        importers.setdefault(found.imported, set()).add(found.importer)
    return Structure(
        files=len(files),
        lines=sum(len(source.text.splitlines()) for source in files),
        functions=len(lengths),
        median_length=round(median(lengths)),
        long_length=round(quantiles(lengths, n=20)[-1]),
        circles=len(closed),
        modules_in_circles=sum(map(len, closed)),
        with_one_importer=sum(len(names) == 1 for names in importers.values()),
        **calls_of_the_main_job(),
    )


def function_lengths(source: Source) -> Iterator[int]:
    """The lines of each function of a file, less those of its docstring."""
    for node in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = ast.get_docstring(node, clean=False)
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield lines - (0 if docstring is None else docstring.count("\n") + 1)


_WATCHED: Final = """
import contextlib, importlib, io, json, sys

folders, modules = tuple(json.loads(sys.argv[1])), json.loads(sys.argv[2])
for module in modules:
    importlib.import_module(module)

def depth_of(frame):
    depth = 0
    while frame:
        depth += frame.f_code.co_filename.startswith(folders)
        frame = frame.f_back
    return depth

entered, deepest = set(), 0

def watch(frame, event, argument):
    global deepest
    path = frame.f_code.co_filename
    if event == "call" and path.startswith(folders):
        entered.add(path)
        deepest = max(deepest, depth_of(frame))

from ops.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    sys.setprofile(watch)
    main(["fusions", "examples/softmax.hlo"])
    sys.setprofile(None)
print(json.dumps({"files_entered": len(entered), "deepest_call": deepest}))
"""
"""A program that runs the README's main job, all modules loaded, and says what it went through."""


def calls_of_the_main_job() -> dict[str, int]:
    """How many files the README's main job enters, and how deep its calls are nested."""
    folders = [f"{ROOT / package}/" for package in PACKAGES]
    modules = [m for m in map(module_of, sources(*PACKAGES)) if not m.endswith("__main__")]
    command = [sys.executable, "-c", _WATCHED, json.dumps(folders), json.dumps(modules)]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(ran.stdout)


def table(now: Structure) -> str:
    """What was and what is, a row each."""
    before, after = asdict(BEFORE), asdict(now)
    rows = (f"| {text} | {before[name]:,} | {after[name]:,} |" for name, text in ROWS.items())
    return "\n".join(["| | before | now |", "| --- | ---: | ---: |", *rows])


# The picture.

_WIDTH: Final = 1080
_MARGIN: Final = 16
_GAP: Final = 8
_LINE: Final = 15
_CHARACTER: Final = 6.6
_TITLE: Final = 34
_NAMES: Final = 190
_FILLS: Final = {"ops": "#fdf0d5", "indexing": "#cfe0f5", "simplifier": "#e9e9e9"}
_PAPER: Final = "#fff"
_DARK: Final = {
    _PAPER: "#14181d",
    _FILLS["ops"]: "#4a3a17",
    _FILLS["indexing"]: "#1d3a57",
    _FILLS["simplifier"]: "#2a323b",
}
"""The fills where a reader's system is dark."""

_DARK_FILLS: Final = "\n".join(f'rect[fill="{a}"] {{ fill: {b}; }}' for a, b in _DARK.items())
_STYLE: Final = f"""
text {{ font: 12px system-ui, sans-serif; fill: #222; }}
.package {{ font-size: 17px; font-weight: 600; }}
.name {{ font: 600 12px ui-monospace, monospace; }}
.count {{ font-weight: 400; fill: #555; }}
rect {{ stroke: #888; }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e4e8ed; }}
.count {{ fill: #9aa5b1; }}
rect {{ stroke: #59636e; }}
{_DARK_FILLS}
}}
"""


@dataclass(frozen=True)
class Box:
    """A module or package of a floor: its name there, how many modules it is, and its purpose."""

    name: str
    count: int
    purpose: str


def boxes(package: str) -> list[list[Box]]:
    """The floors of a package as the picture shows them, low ones first."""
    files = {module_of(source): source for source in sources(*PACKAGES)}
    floors = [[_box(name, package, files) for name in names] for names in FLOORS[package]]
    return [[box for box in floor if box.count] for floor in floors if any(b.count for b in floor)]


def _box(name: str, package: str, files: dict[str, Source]) -> Box:
    inside = [module for module in files if name in {module, package} or _is_in(module, name)]
    count = sum(_covers(name, module, package) for module in inside)
    documented = files.get(name)
    text = ast.get_docstring(documented.tree) if documented else None
    purpose = (text or "").partition("\n\n")[0].partition("\n")[0]
    if name == package:
        return Box("__init__", count, "The public names.")
    is_package = bool(documented and documented.path.endswith("__init__.py"))
    shown = name.removeprefix(f"{package}.") + "/" * is_package
    return Box(shown, count, re.sub(r":\w+:`[~!]?([^`]*)`|`+", r"\1", purpose))


def _is_in(module: str, name: str) -> bool:
    return module.startswith(f"{name}.")


def _covers(name: str, module: str, package: str) -> bool:
    """Whether no longer name of a floor covers the module."""
    names = [other for names in FLOORS[package] for other in names]
    fitting = [n for n in names if n == module or (n != package and _is_in(module, n))]
    return bool(fitting) and max(fitting, key=len) == name


def drawing() -> str:
    """The picture as SVG: the packages with floors, the highest on top."""
    parts: list[str] = []
    top = float(_MARGIN)
    for package in reversed([name for name in FLOORS if name]):
        drawn, top = _package(package, top)
        parts += drawn
    size = f'width="{_WIDTH}" height="{top:g}" viewBox="0 0 {_WIDTH} {top:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    title = "<title>The floors of the three packages, low ones below</title>"
    background = f'<rect width="{_WIDTH}" height="{top:g}" fill="{_PAPER}" style="stroke: none"/>'
    return "\n".join([head, title, f"<style>{_STYLE}</style>", background, *parts, "</svg>\n"])


def _package(package: str, top: float) -> tuple[list[str], float]:
    """The floors of one package below this height, and the height below them."""
    parts = [_text(_MARGIN, top + 18, f"{package.replace('.', '/')}/", "package")]
    top += _TITLE - _GAP
    for floor in reversed(boxes(package)):
        drawn, height = _floor(floor, top, _FILLS[package.partition(".")[0]])
        parts += drawn
        top += height + _GAP
    return parts, top + _GAP


def _floor(floor: Sequence[Box], top: float, fill: str) -> tuple[list[str], float]:
    """The boxes of a floor, at most four beside each other, and their height."""
    parts: list[str] = []
    height = 0.0
    for row in _rows(floor):
        width = (_WIDTH - 2 * _MARGIN - _GAP * (len(row) - 1)) / len(row)
        tall = 2 * _GAP + _LINE * max(map(len, (_texts(box, width) for box in row)))
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


def _texts(box: Box, width: float) -> list[str]:
    """The name and the purpose in lines; both in one where the box is as wide as the picture."""
    purpose = wrap(box.purpose, int((width - 2 * _GAP) / _CHARACTER))
    return [box.name] if _is_wide(width) else [box.name, *purpose]


def _is_wide(width: float) -> bool:
    return width == _WIDTH - 2 * _MARGIN


def _name_and_purpose(box: Box, left: float, top: float, width: float) -> Iterator[str]:
    modules = f'<tspan class="count" dx="6">{box.count} modules</tspan>' if box.count > 1 else ""
    yield f'<text class="name" x="{left:g}" y="{top:g}">{escape(box.name)}{modules}</text>'
    if _is_wide(width):
        yield _text(left + _NAMES, top, box.purpose)
    for number, line in enumerate(_texts(box, width)[1:], start=1):
        yield _text(left, top + number * _LINE, line)


def _text(x: float, y: float, text: str, class_: str = "") -> str:
    name = f'class="{class_}" ' if class_ else ""
    return f'<text {name}x="{x:g}" y="{y:g}">{escape(text)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawing(), "utf-8")
    page = PAGE.read_text("utf-8")
    PAGE.write_text(with_generated(page, STRUCTURE, table(measured())), "utf-8")
