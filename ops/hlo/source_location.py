"""Where in the source of a program an instruction comes from, as its metadata says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ops.hlo.module import Instruction
from simplifier.errors import check_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.hlo.module import HloModule


class SourceLocation(NamedTuple):
    """A line of a source file, and the function around it if that is known.

    >>> print(SourceLocation("model.py", 41, "loss"))
    model.py:41 in loss
    """

    file: str
    line: int
    function: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place} in {self.function}" if self.function else place


def source_locations(instruction: Instruction) -> tuple[SourceLocation, ...]:
    """The line that an instruction comes from, and those that called it, innermost first.

    Empty if the metadata says nothing, or names rows that the tables of the module do not have.

    >>> from ops.hlo import parse
    >>> text = 'ENTRY e { p = f32[] parameter(0), metadata={source_file="a.py" source_line=3} }'
    >>> print(*source_locations(parse(text).entry.root))
    a.py:3
    """
    check_type(instruction, Instruction, "source_locations: the instruction", "an Instruction")
    metadata: Mapping[str, Any] = instruction.attributes.get("metadata", {})
    if "stack_frame_id" in metadata:
        found = tuple(_of_frames(instruction.computation.module, metadata["stack_frame_id"]))
        if found:
            return found
    if "source_file" in metadata:
        return (SourceLocation(metadata["source_file"], metadata.get("source_line", 0)),)
    return ()


def _of_frames(module: HloModule, number: int) -> Iterator[SourceLocation]:
    """A frame and its callers, as far as the tables know them."""
    frames, locations, files, functions = (
        module.tables.get(name, {})
        for name in ("StackFrames", "FileLocations", "FileNames", "FunctionNames")
    )
    offset = _offset_of_parents(frames)
    while number in frames:
        frame: Any = frames[number]
        place: Any = locations.get(frame.get("file_location_id"), {})
        file: Any = files.get(place.get("file_name_id"))
        if file is not None:
            function: Any = functions.get(place.get("function_name_id"), "")
            yield SourceLocation(file, place.get("line", 0), function)
        parent = frame.get("parent_frame_id", 0) - offset
        number = parent if parent < number else 0


def _offset_of_parents(frames: Mapping[int, Any]) -> int:
    """What to take from the number of a parent: XLA prints most of them one too high.

    Then the outermost frame, whose parent is 0, seems to be its own.
    """
    first: Any = frames.get(1, {})
    return 1 if first.get("parent_frame_id") == 1 else 0
