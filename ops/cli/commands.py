"""What each command answers: one function a command, from its options to a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.layout.view.layout_svg import svg_of_layout
from ops.cli.documents import Document, PlainMap, Verbatim, asked
from ops.cli.errors import attempt
from ops.cli.inputs import map_texts, read_array, read_map
from ops.cli.layouts import LayoutAnswer
from ops.cli.modules import answer_files
from ops.cli.outputs import write_text
from ops.cli.questions import FusionMaps, InstructionMaps
from ops.cli.schema import schema_text
from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.cli.console import Console
    from simplifier.errors import Span


def maps(  # noqa: PLR0913 - one for each option
    *,
    files: Sequence[str],
    jobs: int,
    instruction: str | None,
    direction: str,
    physical_layout: bool,
    linear_offsets: bool,
    console: Console,
) -> Document:
    """The maps of every instruction of modules, or of one."""
    question = InstructionMaps(instruction, direction, physical_layout, linear_offsets)
    return answer_files("maps", question, files, jobs, console)


def fusions(*, files: Sequence[str], jobs: int, console: Console) -> Document:
    """The maps from the root to the parameters: of the entry, and of what each fusion computes."""
    return answer_files("fusions", FusionMaps(), files, jobs, console)


def simplify(*, file: str, console: Console) -> Document:
    """The maps of a text in their smallest form."""
    places = attempt(map_texts, file)
    if isinstance(places, IndexingError):
        items = [places]
    else:
        items = (attempt(_simplified, place) for place in console.track(places, "maps"))
    return Document("maps", items, asked("simplify") | {"file": file}, separator="---")


def _simplified(place: Span) -> PlainMap:
    return PlainMap(read_map(place).simplify())


def layout(*, shape: str, output: str | None, console: Console) -> Document:
    """The layout of an array; its picture goes into the file ``output``."""
    items = (attempt(_drawn, each, output) for each in console.track([shape], "layouts"))
    return Document("layouts", items, asked("layout") | {"picture": output})


def _drawn(shape: str, output: str | None) -> LayoutAnswer:
    array = read_array(shape)
    if output is not None:
        write_text(output, svg_of_layout(array))
    return LayoutAnswer(array)


def schema(*, console: Console) -> Document:
    """The schema of the JSON documents, as it stands."""
    return Document("schemas", map(Verbatim, console.track([schema_text()], "schemas")), {})
