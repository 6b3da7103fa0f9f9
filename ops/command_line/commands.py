"""What each command answers: one function a command, from its options to a document."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from indexing.display.layout_svg import svg_of_layout
from ops import hlo, input_to_output, output_to_input, parameter_indexing
from ops.builders.building import arrays_of
from ops.builders.op_indexing import Unknown
from ops.command_line.documents import Document, Entry, Fields, PlainMap, Section, Verbatim
from ops.command_line.inputs import read_array, read_maps
from ops.command_line.layouts import LayoutAnswer
from ops.command_line.outputs import write_text
from ops.command_line.schema import schema_text
from ops.modules.names import instructions_named
from simplifier.errors import IndexingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from indexing import IndexingMap
    from ops.analysis.answers import Answer
    from ops.command_line.progress import Progress
    from ops.hlo import Computation, HloModule, Instruction

_T = TypeVar("_T")


# The maps of instructions.


def maps(
    *,
    file: str,
    instruction: str | None,
    direction: str,
    physical_layout: bool,
    linear_offsets: bool,
    progress: Progress,
) -> Document:
    """The maps of every instruction of a module, or of one."""
    module = hlo.load(file)
    view = {"physical_layout": physical_layout, "linear_offsets": linear_offsets}
    entries = partial(DIRECTIONS[direction], **view)
    chosen = progress.track(_chosen(module, instruction), "instructions")
    items = (_attempt(_instruction_section, each, entries) for each in chosen)
    about = {"direction": direction, **view}
    return Document("instructions", items, _about("maps", module) | about)


def _chosen(module: HloModule, name: str | None) -> Sequence[Instruction]:
    if name is None:
        return list(module.instructions)
    return instructions_named(module, name)


def _instruction_section(
    instruction: Instruction, entries: Callable[[Instruction], Iterator[Entry]]
) -> Section:
    about = {
        "computation": instruction.computation.name,
        "instruction": instruction.name,
        "opcode": instruction.opcode,
        "shape": str(instruction.shape),
    }
    return Section(f"%{instruction.name} {instruction.opcode}", tuple(entries(instruction)), about)


def _from_results(
    instruction: Instruction, *, physical_layout: bool, linear_offsets: bool
) -> Iterator[Entry]:
    for output in _numbers(instruction):
        found = output_to_input(
            instruction, output, physical_layout=physical_layout, linear_offsets=linear_offsets
        )
        for number, answer in enumerate(found.indexing):
            operand = instruction.operands[number]
            yield from _entries(instruction, output, "operand", number, operand, answer)


def _from_operands(
    instruction: Instruction, *, physical_layout: bool, linear_offsets: bool
) -> Iterator[Entry]:
    for number, operand in enumerate(instruction.operands):
        found = input_to_output(
            instruction, number, physical_layout=physical_layout, linear_offsets=linear_offsets
        )
        for output, answer in enumerate(found.indexing):
            yield from _entries(instruction, output, "operand", number, operand, answer)


DIRECTIONS: Final[Mapping[str, Callable[..., Iterator[Entry]]]] = {
    "output-to-input": _from_results,
    "input-to-output": _from_operands,
}
"""What ``--direction`` may be, the default first."""


# The maps of computations.


def fusions(*, file: str, progress: Progress) -> Document:
    """The maps from the root to the parameters: of the entry, and of what each fusion computes."""
    module = hlo.load(file)
    callers = [instruction for instruction in module.instructions if instruction.opcode == "fusion"]
    called = [
        (module.entry, None),
        *((caller.attributes["calls"], caller) for caller in callers),
    ]
    results = [(*pair, output) for pair in called for output in _numbers(pair[0].root)]
    items = (_attempt(_root_section, *result) for result in progress.track(results, "results"))
    return Document("results", items, _about("fusions", module))


def _root_section(computation: Computation, caller: Instruction | None, output: int) -> Section:
    title = f"%{computation.name} of %{caller.name}" if caller else f"ENTRY %{computation.name}"
    about = {
        "computation": computation.name,
        "fusion": caller.name if caller else None,
        "result": output,
    }
    found = parameter_indexing(computation.root, output)
    entries = (
        entry
        for number, parameter in enumerate(computation.parameters)
        for entry in _entries(
            computation.root, output, "parameter", number, parameter, found.get(parameter, ())
        )
    )
    return Section(title, tuple(entries), about)


# Maps by themselves.


def simplify(*, file: str, progress: Progress) -> Document:
    """The maps of a text in their smallest form."""
    found = progress.track(list(read_maps(file)), "maps")
    items = (each if isinstance(each, IndexingError) else _simplified(each) for each in found)
    return Document("maps", items, {"command": "simplify", "file": file}, separator="---")


def _simplified(indexing_map: IndexingMap) -> PlainMap | IndexingError:
    return _attempt(lambda: PlainMap(indexing_map.simplify()))


# Layouts.


def layout(*, shape: str, output: str | None, progress: Progress) -> Document:
    """The layout of an array; its picture goes into the file ``output``."""
    array = read_array(shape)
    if output is not None:
        write_text(output, svg_of_layout(array))
    items = map(LayoutAnswer, progress.track([array], "layouts"))
    return Document("layouts", items, {"command": "layout", "picture": output})


# The schema.


def schema(*, progress: Progress) -> Document:
    """The schema of the JSON documents, as it stands."""
    return Document("schemas", map(Verbatim, progress.track([schema_text()], "schemas")), {})


# Shared by the commands.


def _about(command: str, module: HloModule) -> Fields:
    return {"command": command, "file": module.file, "module": module.name}


def _attempt(answer: Callable[..., _T], *arguments: object) -> _T | IndexingError:
    """The answer, or the error in its place: one wrong item leaves the others alone."""
    try:
        return answer(*arguments)
    except IndexingError as error:
        return error


def _numbers(instruction: Instruction) -> range:
    """The numbers of the arrays of a result, counted through nested tuples."""
    return range(len(arrays_of(instruction.shape)))


def _entries(
    of: Instruction, output: int, role: str, number: int, source: Instruction, answer: Answer
) -> Iterator[Entry]:
    """The entries of a result and an operand or parameter: one for each array that is needed."""
    if answer == ():
        return
    result = f"result {output}, " if len(_numbers(of)) > 1 else ""
    title = f"{result}{role} {number} %{source.name}"
    about = {"result": output, role: number, "name": source.name}
    if isinstance(answer, Unknown):
        yield Entry(title, answer, about)
        return
    simplified = tuple(dict.fromkeys(way.simplify() for way in answer))
    if not source.shape.is_tuple:
        yield Entry(title, simplified, about)
        return
    for element in dict.fromkeys(way.element for way in simplified):
        ways = tuple(way for way in simplified if way.element == element)
        yield Entry(f"{title} element {element}", ways, about | {"element": element})
