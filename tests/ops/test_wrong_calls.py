"""Calls with arguments of the wrong kind: each ends in an error of the library that names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import indexing
import ops
from indexing import layout
from ops import hlo
from ops.hlo.module import source_locations
from simplifier import parse_expr, simplify, symbol
from simplifier.errors import ArgumentError, IndexingError
from tests.cases import for_all
from tests.project.sources import ROOT

MODULE: Final = hlo.load(ROOT / "examples" / "softmax.hlo")
ENTRY: Final = MODULE.entry.root
LOOP: Final = ops.Loop(hlo.load(ROOT / "examples" / "running_sum.hlo")["loop"])
SCHEDULE: Final = ops.schedule_of(MODULE["broadcast_divide_fusion"])
MAP: Final = indexing.parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 1]")
SHAPE: Final = layout.Shape.parse("f32[3,5]")

WRONG: Final[dict[str, tuple[Callable[[Any], object], str]]] = {
    "hlo.parse": (hlo.parse, "hlo.parse: the text is {}; expected a string"),
    "hlo.load": (hlo.load, "hlo.load: the path is {}; expected a path"),
    "hlo.files_in": (hlo.files_in, "hlo.files_in: the folder is {}; expected a path"),
    "analyze": (ops.analyze, "analyze: the module is {}; expected an HloModule"),
    "output_to_input": (ops.output_to_input, "output_to_input: the instruction is {}"),
    "input_to_output": (ops.input_to_output, "input_to_output: the instruction is {}"),
    "source_locations": (source_locations, "source_locations: the instruction is {}"),
    "fusion_indexing": (ops.fusion_indexing, "fusion_indexing: the instruction is {}"),
    "parameter_indexing": (ops.parameter_indexing, "parameter_indexing: the instruction is {}"),
    "an output": (lambda wrong: ops.output_to_input(ENTRY, wrong), "the number of the array is {}"),
    "an input": (lambda wrong: ops.input_to_output(ENTRY, wrong), "the number of the array is {}"),
    "of_computation": (ops.Fusion.of_computation, "fusion: the computation is {}"),
    "of_instruction": (ops.Fusion.of_instruction, "fusion: an instruction is {}"),
    "of_pair": (lambda wrong: ops.Fusion.of_pair(ENTRY, wrong), "fusion: the consumer is {}"),
    "of_instructions": (ops.Fusion.of_instructions, "fusion: instructions is {}"),
    "a member": (lambda wrong: ops.Fusion.of_instructions([wrong]), "fusion: an instruction is {}"),
    "a hero": (ops.Fusion.of_computation(MODULE.entry).epilogue, "fusion: the instruction is {}"),
    "over_iterations": (LOOP.over_iterations, "over_iterations: the indexing is {}"),
    "a loop's registry": (lambda wrong: ops.Loop(LOOP.instruction, wrong), "the registry is {}"),
    "a result of a schedule": (SCHEDULE.writes, "schedule: the number of the result is {}"),
    "an operand of a schedule": (SCHEDULE.reads, "schedule: the number of the operand is {}"),
    "schedule_of": (ops.schedule_of, "schedule_of: the fusion is {}"),
    "analyze_files": (
        lambda wrong: ops.analyze_files(wrong, str),
        "analyze_files: paths is {}; expected a list of paths",
    ),
    "a file": (lambda wrong: ops.analyze_files([wrong], str), "analyze_files: a path is {}"),
    "a question": (lambda wrong: ops.analyze_files([], wrong), "analyze_files: the question is {}"),
    "format_map": (indexing.format_map, "format_map: the map is {}; expected an IndexingMap"),
    "evaluate": (MAP.evaluate, "evaluate: dims is {}; expected 1 integers or arrays"),
    "contains": (MAP.contains, "evaluate: dims is {}; expected 1 integers or arrays"),
    "image": (MAP.image, "image: dims is {}; expected 1 integers"),
    "Shape.parse": (layout.Shape.parse, "Shape.parse: the text is {}; expected a string"),
    "Layout": (layout.Layout, "Layout: minor_to_major is {}"),
    "linear_index": (lambda wrong: layout.linear_index((0, 0), wrong), "linear_index: shape is {}"),
    "multi_index": (lambda wrong: layout.multi_index(0, wrong), "multi_index: shape is {}"),
    "logical_to_linear": (layout.logical_to_linear, "logical_to_linear: the shape is {}"),
    "array_size": (layout.array_size, "array_size: the shape is {}"),
    "bitcast_map": (lambda wrong: layout.bitcast_map(SHAPE, wrong), "bitcast_map: target is {}"),
    "parse_expr": (parse_expr, "parse_expr: the text is {}; expected a string"),
    "concatenate": (lambda wrong: ops.concatenate(wrong, 0), "operand_sizes is {}"),
    "elementwise": (ops.elementwise, "operand_sizes is {}"),
    "all_gather": (lambda wrong: ops.all_gather((4,), 0, wrong), "replica_groups is {}"),
    "points of a picture": (lambda wrong: MAP.picture(at=wrong), "picture: at is {}"),
    "sizes of a picture": (lambda wrong: MAP.picture(sizes=wrong), "picture: sizes is {}"),
    "a plane": (lambda wrong: MAP.picture(plane=wrong), "picture: the plane of (d0) is {}"),
    "an index of a plane": (
        lambda wrong: MAP.picture(plane=[wrong]),
        "picture: an index of the plane of (d0) is {}",
    ),
    "access_picture": (ops.access_picture, "fusion is {}; expected a fusion or an instruction"),
    "a result of a picture": (
        lambda wrong: ops.access_picture(ENTRY, output=wrong),
        "access_picture: output is {}",
    ),
    "planes": (
        lambda wrong: ops.access_picture(ENTRY, planes=wrong),
        "access_picture: planes is {}",
    ),
    "fusion_graph": (ops.fusion_graph, "fusion is {}; expected a fusion or an instruction"),
    "a language": (lambda wrong: indexing.emit(MAP, wrong), "emit: language is {}"),
    "a language of loops": (
        lambda wrong: indexing.emit_loops(MAP, wrong, "x"),
        "emit_loops: language is {}",
    ),
    "a name in code": (lambda wrong: indexing.emit(MAP, "c", [wrong]), "emit: a name is {}"),
    "a language of kernels": (
        lambda wrong: ops.emit_kernel(ENTRY, wrong),
        "emit_kernel: language is {}",
    ),
    "a dialect": (
        lambda wrong: indexing.format_map(MAP, dialect=wrong),
        "format_map: dialect is {}",
    ),
    "a trace": (
        lambda wrong: simplify(parse_expr("x"), {}, trace=wrong),
        "simplify: trace is {}; expected a Trace",
    ),
}
"""The functions of one argument, and what they say of a wrong one."""

VALUES: Final = {"a number": 2.5, "an object": object}


WRONG_VALUES: Final = [
    (name, value)
    for name in WRONG
    for value in VALUES
    if not (name == "a question" and callable(VALUES[value]))
]


@for_all(WRONG_VALUES)
def test_a_wrong_argument_is_named(name: str, value: str) -> None:
    ask, message = WRONG[name]
    wrong = VALUES[value]
    with pytest.raises(ArgumentError) as caught:
        ask(wrong)
    assert message.format(repr(wrong)) in str(caught.value)


MAY_BE_NONE: Final = {"image", "sizes of a picture", "an index of a plane", "planes", "a trace"}


@for_all([ask for name, (ask, _) in WRONG.items() if name not in MAY_BE_NONE])
def test_none_is_no_argument(ask: Callable[[Any], object]) -> None:
    with pytest.raises(IndexingError):
        ask(None)


def test_one_path_is_no_list_of_paths() -> None:
    for path in ("examples", Path("examples")):
        with pytest.raises(ArgumentError, match=r"paths is .*; expected a list of paths"):
            ops.analyze_files(path, str)  # pyright: ignore[reportArgumentType] - that is the test


# An array of NumPy has the methods of integers and of lists, whatever it holds.
ARRAY: Final[Any] = np.arange(3)
SCALAR: Final[Any] = np.array(2)
NAMED: Final[dict[str, tuple[Callable[[], object], str]]] = {
    "groups": (lambda: ops.all_gather((4, 8), 0, SCALAR), "all-gather: replica_groups is array"),
    "pairs": (lambda: ops.collective_permute((4,), SCALAR), "source_target_pairs is array"),
    "window": (
        lambda: ops.convolution((1,), (1,), hlo.DimensionLabels.parse("b_i->b"), _any("x")),
        "convolution: the window is 'x'; expected a Window",
    ),
    "operands": (lambda: ops.elementwise(SCALAR), "elementwise: operand_sizes is array"),
    "an output": (lambda: ops.output_to_input(ENTRY, ARRAY), "the number of the array is array"),
    "an input": (lambda: ops.input_to_output(ENTRY, ARRAY), "the number of the array is array"),
    "sizes": (lambda: MAP.covers(SCALAR), "expected a sequence of integers"),
    "sizes of a map": (lambda: indexing.IndexingMap.identity(SCALAR), "sizes is array"),
    "indices": (lambda: MAP.select_results(SCALAR), "indices are array"),
    "dims": (lambda: MAP.evaluate(SCALAR), "evaluate: dims is array"),
    "an index": (lambda: layout.linear_index(SCALAR, SHAPE), "the index is array"),
    "bounds": (lambda: indexing.Variable(ARRAY), "Variable: bounds is array"),
    "a side": (lambda: indexing.IndexSet.box(ARRAY), "side 0 is array"),
    "a name": (lambda: indexing.Variable((0, 3), _any([])), r"Variable: name is \[\]"),
    "a symbol": (lambda: symbol(_any(3)), "symbol: the name is 3; expected a string"),
    "a registry": (
        lambda: ops.output_to_input(ENTRY, registry=_any([])),
        r"output_to_input: the registry is \[\]; expected a Registry, such as ops.REGISTRY",
    ),
    "a registry of an analysis": (
        lambda: ops.analyze(MODULE, registry=_any(None)),
        "analyze: the registry is None",
    ),
    "a registry of a fusion": (
        lambda: ops.Fusion.of_computation(MODULE.entry, registry=_any(None)),
        "fusion: the registry is None",
    ),
    "a registry of kernels": (
        lambda: ops.summary(MODULE, registry=_any(3)),
        "the registry is 3; expected a Registry",
    ),
    "a hull": (lambda: indexing.IndexSet(_any((1, 2)), ()), r"IndexSet: hull is \(1, 2\)"),
    "pieces": (lambda: indexing.IndexSet(MAP.domain, _any(3)), "IndexSet: pieces is 3"),
    "rows of different lengths": (
        lambda: indexing.IndexSet.from_mask(_any([[0, 1], [2]])),
        r"from_mask: the mask is .*; expected an array",
    ),
    "a context of isl": (lambda: MAP.to_isl(context=_any("x")), "to_isl: the context is 'x'"),
    "a number of symbols": (
        lambda: indexing.from_affine_map("(d0) -> (d0)", runtime=_any(None)),
        "from_affine_map: runtime is None",
    ),
    "a number of paths": (
        lambda: ops.Fusion.of_computation(MODULE.entry).why(MODULE.entry.parameters[0], most=-1),
        "why: most is -1; expected a number of paths",
    ),
    "an index of an element": (
        lambda: ops.why(ENTRY, element=_any(3)),
        "why: the element is 3; expected a seq",
    ),
    "words": (lambda: ops.why(ENTRY, element=_any("ab")), "why: the element is 'ab'; expected a"),
    "no such result": (lambda: SCHEDULE.writes(1), "there is no result 1 among 1"),
    "no such operand": (lambda: SCHEDULE.reads(-1), "there is no operand -1 among"),
    "an opcode": (lambda: hlo.edit(MODULE).outline([ENTRY], _any({})), "outline: the opcode is {}"),
    "a padded layout": (lambda: layout.PaddedLayout(_any(MAP)), "PaddedLayout: minor_to_major is"),
}


def _any(value: object) -> Any:  # noqa: ANN401 - what is of the wrong type
    return value


@for_all(NAMED)
def test_what_is_no_such_thing_is_named(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(IndexingError, match=message):
        ask()


def test_an_array_of_one_number_is_an_integer_and_of_several_a_list() -> None:
    assert ops.output_to_input(ENTRY, SCALAR - 2) == ops.output_to_input(ENTRY)
    assert ops.reshape(ARRAY + 1, [6]) == ops.reshape((1, 2, 3), (6,))
