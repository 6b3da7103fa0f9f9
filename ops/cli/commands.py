"""The commands: a function for each, from its options to a document."""

from __future__ import annotations

from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.layout import Shape, ShapeError, tiling_steps
from indexing.layout.view.layout_svg import svg_of_layout
from ops.cli.documents import Document, Verbatim, attempt, fields_of_command
from ops.cli.kernel_questions import FusionSchedules, InstructionReads, InstructionReasons
from ops.cli.layout_report import LayoutReport
from ops.cli.loop_questions import ModuleLoops
from ops.cli.map_questions import FusionMaps, InstructionMaps
from ops.cli.memory_questions import (
    FusionCoalescing,
    KernelSummaries,
    KernelTiles,
    KernelUtilization,
)
from ops.cli.module_difference import document_of_difference
from ops.cli.module_questions import answer_files
from ops.cli.simplified import simplified, spans_of_file, spans_of_texts
from ops.cli.svg_files import write_svg
from simplifier.errors import ArgumentError, IndexingError, Span, TextError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.cli.console import Console
    from ops.cli.map_questions import View
    from ops.cli.selection import Selection


def maps(
    *,
    files: Sequence[str],
    jobs: int,
    selection: Selection,
    view: View,
    long: bool,
    console: Console,
) -> Document:
    """The maps of the instructions of modules that are selected."""
    return answer_files("maps", InstructionMaps(selection, view, long), files, jobs, console)


def fusions(  # noqa: PLR0913 - likewise
    *,
    files: Sequence[str],
    jobs: int,
    selection: Selection,
    view: View,
    minimal: bool,
    long: bool,
    console: Console,
) -> Document:
    """The maps from the root to the parameters: of the entry, and of what each fusion computes."""
    question = FusionMaps(selection, view, minimal, long)
    return answer_files("fusions", question, files, jobs, console)


def summary(
    *,
    files: Sequence[str],
    jobs: int,
    selection: Selection,
    sort: str,
    seconds: float,
    console: Console,
) -> Document:
    """The kernels at a glance: what each reads and writes, and how."""
    question = KernelSummaries(selection, sort, seconds)
    return answer_files("summary", question, files, jobs, console)


def loops(*, files: Sequence[str], jobs: int, selection: Selection, console: Console) -> Document:
    """How often each loop runs, and what its iterations have to do with each other."""
    return answer_files("loops", ModuleLoops(selection), files, jobs, console)


def coalescing(
    *,
    files: Sequence[str],
    jobs: int,
    selection: Selection,
    device: str,
    unroll: int,
    console: Console,
) -> Document:
    """What the warps of each fusion load, the most wasteful access first."""
    question = FusionCoalescing(selection, device, unroll)
    return answer_files("coalescing", question, files, jobs, console)


def utilization(
    *, files: Sequence[str], jobs: int, selection: Selection, seconds: float, console: Console
) -> Document:
    """How much of its operands each kernel uses, the most wasteful first."""
    question = KernelUtilization(selection, seconds)
    return answer_files("utilization", question, files, jobs, console)


def tiles(  # noqa: PLR0913 - likewise
    *,
    files: Sequence[str],
    jobs: int,
    selection: Selection,
    fusion: str | None,
    device: str,
    most: int | None,
    console: Console,
) -> Document:
    """The tile sizes of each kernel that move the fewest bytes, or of those with a name."""
    question = KernelTiles(selection, device, fusion, most)
    return answer_files("tiles", question, files, jobs, console)


def why(  # noqa: PLR0913 - likewise
    *,
    files: Sequence[str],
    jobs: int,
    selection: Selection,
    element: tuple[int, ...] | None,
    needed: tuple[int, ...] | None,
    paths: int,
    console: Console,
) -> Document:
    """Why instructions need what they read: the paths behind each map."""
    question = InstructionReasons(selection, element, needed, paths)
    return answer_files("why", question, files, jobs, console)


def reads(  # noqa: PLR0913 - likewise
    *,
    files: Sequence[str],
    jobs: int,
    selection: Selection,
    tile: tuple[int, ...] | None,
    at: tuple[int, ...] | None,
    output: str | None,
    console: Console,
) -> Document:
    """What each tile of the results of instructions reads of each operand."""
    question = InstructionReads(selection, tile, at, output)
    if output is not None and (len(files) > 1 or Path(files[0]).is_dir()):
        error = ArgumentError("reads: -o draws one instruction of one file; expected one file")
        return Document("modules", [error], fields_of_command("reads") | question.about())
    return answer_files("reads", question, files, jobs, console)


def schedule(
    *, files: Sequence[str], jobs: int, selection: Selection, unroll: int, console: Console
) -> Document:
    """What each thread of a GPU reads and writes for each fusion."""
    return answer_files("schedule", FusionSchedules(selection, unroll), files, jobs, console)


def diff(
    *, before: str, after: str, selection: Selection, seconds: float, console: Console
) -> Document:
    """What changed from one module to another."""
    return document_of_difference((before, after), selection, seconds, console)


def simplify(*, file: str, texts: Sequence[str], console: Console) -> Document:
    """The maps and expressions of a text in their smallest form."""
    spans = attempt(spans_of_texts, texts) if texts else attempt(spans_of_file, file)
    if isinstance(spans, IndexingError):
        items = [spans]
    else:
        items = (attempt(simplified, span) for span in console.track(spans, "maps"))
    name = None if texts else file
    return Document("maps", items, fields_of_command("simplify") | {"file": name}, separator="---")


def layout(*, shape: str, output: str | None, console: Console) -> Document:
    """The layout of an array; its picture goes into the file ``output``."""
    items = (attempt(_drawn, each, output) for each in console.track([shape], "layouts"))
    return Document("layouts", items, fields_of_command("layout") | {"picture": output})


def _drawn(shape: str, output: str | None) -> LayoutReport:
    array = _read_array(shape)
    if output is not None:
        write_svg(output, svg_of_layout(array))
    return LayoutReport(array)


def _read_array(text: str) -> Shape:
    """The array from its text, with a layout that has offsets.

    Raises:
        TextError: the text is no such array.
    """
    shape = Shape.parse(text)
    try:
        tiling_steps(shape)
    except ShapeError as error:
        raise TextError(str(error), Span(text, 0, len(text))) from None
    return shape


def schema(*, console: Console) -> Document:
    """The schema of the JSON documents."""
    return Document("schemas", [Verbatim(console.track([schema_text()], "schemas"))], {})


def schema_text() -> str:
    """The JSON Schema (draft 2020-12) of the documents that commands print with ``--json``.

    >>> import json
    >>> json.loads(schema_text())["title"]
    'What python -m indexing COMMAND --json prints'
    """
    return resources("ops.cli").joinpath("schema.json").read_text("utf-8").rstrip("\n")
