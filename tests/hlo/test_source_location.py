"""Source lines of instructions, from the tables that XLA prints and from older metadata."""

from __future__ import annotations

from ops import hlo
from ops.hlo.module import source_locations
from tests.cases import for_all

TABLES = """\
HloModule m

FileNames
1 "model.py"
2 "layers.py"

FunctionNames
1 "main"
2 "loss"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=10 end_line=10 column=1 end_column=9}}
2 {{file_name_id=2 function_name_id=2 line=41 end_line=41 column=1 end_column=9}}

StackFrames
{}

ENTRY e {{ ROOT p = f32[] parameter(0), metadata={{op_name="x" stack_frame_id={}}} }}
"""

SHIFTED = "1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=2}"
PLAIN = "1 {file_location_id=1}\n2 {file_location_id=2 parent_frame_id=1}"
CIRCLE = "1 {file_location_id=1 parent_frame_id=2}\n2 {file_location_id=2 parent_frame_id=1}"

LINES: dict[str, tuple[str, list[str]]] = {
    "parents one too high": (
        TABLES.format(SHIFTED, 2), ["layers.py:41 in loss", "model.py:10 in main"]),
    "the outermost frame": (TABLES.format(SHIFTED, 1), ["model.py:10 in main"]),
    "parents as they are": (
        TABLES.format(PLAIN, 2), ["layers.py:41 in loss", "model.py:10 in main"]),
    "frames in a circle": (TABLES.format(CIRCLE, 1), ["model.py:10 in main"]),
    "a frame that is not there": (TABLES.format(PLAIN, 7), []),
    "older metadata": (
        'ENTRY e { ROOT p = f32[] parameter(0), metadata={source_file="a.py" source_line=3} }',
        ["a.py:3"]),
    "no line": ('ENTRY e { ROOT p = f32[] parameter(0), metadata={source_file="a.py"} }', ["a.py"]),
    "nothing": ("ENTRY e { ROOT p = f32[] parameter(0) }", []),
}  # fmt: skip


@for_all(LINES)
def test_lines(text: str, expected: list[str]) -> None:
    assert [*map(str, source_locations(hlo.parse(text).entry.root))] == expected
