"""The commands: a function for each, or one for all about modules, from options to a document."""

from __future__ import annotations

from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexing.layout import Shape, ShapeError, tiling_steps
from indexing.layout.view.layout_svg import svg_of_layout
from ops.cli.documents import Document, Verbatim, attempt, fields_of_command
from ops.cli.kernel_questions import InstructionReads
from ops.cli.layout_report import LayoutReport
from ops.cli.module_difference import document_of_difference
from ops.cli.module_questions import answer_files
from ops.cli.simplified import simplified, spans_of_file, spans_of_texts
from ops.cli.svg_files import write_svg
from simplifier.errors import ArgumentError, IndexingError, Span, TextError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ops.cli.console import Console
    from ops.cli.module_questions import AnyQuestion
    from ops.cli.selection import Selection


def about_modules(command: str, question: Callable[..., AnyQuestion]) -> Callable[..., Document]:
    """The command that asks modules a question, whose fields are the options of the command."""

    def run(*, files: Sequence[str], jobs: int, console: Console, **options: object) -> Document:
        return answer_files(command, question(**options), files, jobs, console)

    return run


def reads(*, files: Sequence[str], jobs: int, console: Console, **options: Any) -> Document:  # noqa: ANN401 - the fields of the question
    """What each tile of the results of instructions reads of each operand."""
    question = InstructionReads(**options)
    if question.picture is not None and (len(files) > 1 or Path(files[0]).is_dir()):
        error = ArgumentError("reads: -o draws one instruction of one file; expected one file")
        return Document("modules", [error], fields_of_command("reads") | question.about())
    return answer_files("reads", question, files, jobs, console)


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
