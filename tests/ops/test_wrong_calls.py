"""Calls with arguments of the wrong kind: each ends in an error of the library that names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import indexing
import ops
import simplifier
from indexing import layout
from ops import hlo, xla_gpu
from ops.hlo.module import source_locations
from simplifier.errors import ArgumentError, IndexingError
from tests.cases import for_all, pairs
from tests.project.sources import ROOT

MODULE: Final = hlo.load(ROOT / "examples" / "softmax.hlo")
ENTRY: Final = MODULE.entry.root
LOOP: Final = ops.Loop(hlo.load(ROOT / "examples" / "running_sum.hlo")["loop"])
SCHEDULE: Final = ops.schedule_of(MODULE["broadcast_divide_fusion"])
MAP: Final = indexing.parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 1]")
LAUNCH: Final = xla_gpu.LaunchDimensions.of(1, 32)
SHAPE: Final = layout.Shape.parse("f32[3,5]")
QUESTION: Final = "ops.analyze_files([], wrong)"

WRONG: Final = pairs("""
hlo.parse(wrong) => hlo.parse: the text is {}; expected a string
hlo.load(wrong) => hlo.load: the path is {}; expected a path
hlo.files_in(wrong) => hlo.files_in: the folder is {}; expected a path
ops.analyze(wrong) => analyze: the module is {}; expected an HloModule
ops.diff(MODULE, wrong) => diff: the second module is {}; expected an HloModule, such as
ops.bitcast(wrong, SHAPE) => bitcast: operand is {}; expected a Shape
ops.bitcast(SHAPE, wrong) => bitcast: output is {}; expected a Shape
ops.summary(wrong) => kernels: what runs is {}; expected a Fusion, or an instruction or computation
ops.output_to_input(wrong) => output_to_input: the instruction is {}
ops.input_to_output(wrong) => input_to_output: the instruction is {}
source_locations(wrong) => source_locations: the instruction is {}
ops.fusion_indexing(wrong) => fusion_indexing: the instruction is {}
ops.parameter_indexing(wrong) => parameter_indexing: the instruction is {}
ops.output_to_input(ENTRY, wrong) => the number of the array is {}
ops.input_to_output(ENTRY, wrong) => the number of the array is {}
ops.Fusion.of_computation(wrong) => fusion: the computation is {}
ops.Fusion.of_instruction(wrong) => fusion: an instruction is {}
ops.Fusion.of_pair(ENTRY, wrong) => fusion: the consumer is {}
ops.Fusion.of_instructions(wrong) => fusion: instructions is {}
ops.Fusion.of_instructions([wrong]) => fusion: an instruction is {}
ops.Fusion.of_computation(MODULE.entry).epilogue(wrong) => fusion: the instruction is {}
LOOP.over_iterations(wrong) => over_iterations: the indexing is {}
ops.Loop(LOOP.instruction, wrong) => the registry is {}
SCHEDULE.writes(wrong) => schedule: the number of the result is {}
SCHEDULE.reads(wrong) => schedule: the number of the operand is {}
ops.schedule_of(wrong) => schedule_of: the fusion is {}
ops.analyze_files(wrong, str) => analyze_files: paths is {}; expected a list of paths
ops.analyze_files([wrong], str) => analyze_files: a path is {}
ops.analyze_files([], wrong) => analyze_files: the question is {}
indexing.format_map(wrong) => format_map: the map is {}; expected an IndexingMap
MAP.evaluate(wrong) => evaluate: dims is {}; expected 1 integers or arrays
MAP.contains(wrong) => evaluate: dims is {}; expected 1 integers or arrays
layout.Shape.parse(wrong) => Shape.parse: the text is {}; expected a string
layout.Layout(wrong) => Layout: minor_to_major is {}
layout.linear_index((0, 0), wrong) => linear_index: shape is {}
layout.multi_index(0, wrong) => multi_index: shape is {}
layout.logical_to_linear(wrong) => logical_to_linear: the shape is {}
layout.array_size(wrong) => array_size: the shape is {}
layout.bitcast_map(SHAPE, wrong) => bitcast_map: target is {}
simplifier.parse_expr(wrong) => parse_expr: the text is {}; expected a string
ops.concatenate(wrong, 0) => operand_sizes is {}
ops.elementwise(wrong) => operand_sizes is {}
ops.all_gather((4,), 0, wrong) => replica_groups is {}
MAP.picture(at=wrong) => picture: at is {}
MAP.picture(plane=wrong) => picture: the plane of (d0) is {}
ops.access_picture(wrong) => fusion is {}; expected a fusion or an instruction
ops.access_picture(ENTRY, output=wrong) => access_picture: output is {}
ops.fusion_graph(wrong) => fusion is {}; expected a fusion or an instruction
indexing.emit(MAP, wrong) => emit: language is {}
indexing.emit_loops(MAP, wrong, "x") => emit_loops: language is {}
indexing.emit(MAP, "c", [wrong]) => emit: a name is {}
ops.emit_kernel(ENTRY, wrong) => emit_kernel: language is {}
indexing.format_map(MAP, dialect=wrong) => format_map: dialect is {}
ops.xla_gpu.loop_schedule(wrong, LAUNCH) => loop_schedule: result is {}; expected Shape
ops.xla_gpu.loop_schedule(SHAPE, wrong) => loop_schedule: launch is {}; expected LaunchDimensions
ops.xla_gpu.block_schedule(wrong, [1]) => block_schedule: result is {}; expected Shape
ops.xla_gpu.reduce_schedule(SHAPE, wrong, [0]) => reduce_schedule: result is {}; expected Shape
ops.xla_gpu.block_level(wrong) => block_level: fusion is {}; expected Instruction
ops.xla_gpu.results_of(wrong) => results_of: root is {}; expected Instruction
hlo.true_sizes(wrong) => true_sizes: instruction is {}; expected Instruction
hlo.size_origins(wrong) => size_origins: module is {}; expected HloModule
ops.performance.is_likely_coalesced(wrong) => is_likely_coalesced: producer is {}
ops.performance.bandwidth_utilization(SHAPE, [1, 1], wrong)
    bandwidth_utilization: device is {}; expected Device
layout.linear.best_shared(wrong, 4) => best_shared: accesses is {}; expected Sequence[LinearLayout]
ops.advice.notes_of(wrong) => notes_of: found is {}; expected AdviceList
indexing.explore(MODULE, notes=wrong) => explore: notes is {}; expected Mapping
""")
"""Calls, and what they say of a wrong argument."""

OPTIONAL: Final = pairs("""
MAP.image(wrong) => image: dims is {}; expected 1 integers
ops.advise(MODULE, most=wrong) => advise: most is {}; expected int | None
MAP.picture(sizes=wrong) => picture: sizes is {}
MAP.picture(plane=[wrong]) => picture: an index of the plane of (d0) is {}
ops.access_picture(ENTRY, planes=wrong) => access_picture: planes is {}
simplifier.simplify(simplifier.parse_expr("x"), {}, trace=wrong)
    simplify: trace is {}; expected a Trace
""")
"""The same, where ``None`` is no mistake."""


def called(call: str, wrong: object = None) -> object:
    names = {"wrong": wrong, "simplifier": simplifier, "source_locations": source_locations}
    return eval(call, globals(), names)  # noqa: S307 - of the tables here


@for_all((WRONG | OPTIONAL).items())
def test_a_wrong_argument_is_named(call: str, message: str) -> None:
    for wrong in (2.5, object):
        if not (call == QUESTION and callable(wrong)):
            with pytest.raises(ArgumentError) as caught:
                called(call, wrong)
            assert message.format(repr(wrong)) in str(caught.value)


@for_all([*WRONG])
def test_none_is_no_argument(call: str) -> None:
    with pytest.raises(IndexingError):
        called(call)


def test_one_path_is_no_list_of_paths() -> None:
    for path in ("examples", Path("examples")):
        with pytest.raises(ArgumentError, match=r"paths is .*; expected a list of paths"):
            ops.analyze_files(path, str)  # pyright: ignore[reportArgumentType] - that is the test


# An array of NumPy has the methods of integers and of lists, whatever it holds.
ARRAY: Final[Any] = np.arange(3)
SCALAR: Final[Any] = np.array(2)
NAMED: Final = pairs(r"""
ops.all_gather((4, 8), 0, SCALAR) => all-gather: replica_groups is array
ops.collective_permute((4,), SCALAR) => source_target_pairs is array
ops.convolution((1,), (1,), hlo.DimensionLabels.parse("b_i->b"), "x")
    convolution: the window is 'x'; expected a Window
ops.elementwise(SCALAR) => elementwise: operand_sizes is array
ops.output_to_input(ENTRY, ARRAY) => the number of the array is array
ops.input_to_output(ENTRY, ARRAY) => the number of the array is array
MAP.covers(SCALAR) => expected a sequence of integers
indexing.IndexingMap.identity(SCALAR) => sizes is array
MAP.select_results(SCALAR) => indices are array
MAP.evaluate(SCALAR) => evaluate: dims is array
layout.linear_index(SCALAR, SHAPE) => the index is array
indexing.Variable(ARRAY) => Variable: bounds is array
indexing.IndexSet.box(ARRAY) => side 0 is array
indexing.Variable((0, 3), []) => Variable: name is \[\]
simplifier.Interval(0, 3).contains('x') => lower end has value 'x'; expected
simplifier.symbol(3) => symbol: the name is 3; expected a string
ops.output_to_input(ENTRY, registry=[])
    output_to_input: the registry is \[\]; expected a Registry, such as ops.REGISTRY
ops.analyze(MODULE, registry=None) => analyze: the registry is None
ops.Fusion.of_computation(MODULE.entry, registry=None) => fusion: the registry is None
ops.summary(MODULE, registry=3) => the registry is 3; expected a Registry
indexing.IndexSet((1, 2), ()) => IndexSet: hull is \(1, 2\)
indexing.IndexSet(MAP.domain, 3) => IndexSet: pieces is 3
indexing.IndexSet.from_mask([[0, 1], [2]]) => from_mask: the mask is .*; expected an array
MAP.to_isl(context="x") => to_isl: the context is 'x'
indexing.from_affine_map("(d0) -> (d0)", runtime=None) => from_affine_map: runtime is None
ops.Fusion.of_computation(MODULE.entry).why(MODULE.entry.parameters[0], most=-1)
    why: most is -1; expected a number of paths
ops.why(ENTRY, element=3) => why: the element is 3; expected a seq
ops.why(ENTRY, element="ab") => why: the element is 'ab'; expected a
SCHEDULE.writes(1) => there is no result 1 among 1
SCHEDULE.reads(-1) => there is no operand -1 among
hlo.edit(MODULE).outline([ENTRY], {}) => outline: the opcode is {}
layout.PaddedLayout(MAP) => PaddedLayout: minor_to_major is
""")


@for_all(NAMED.items())
def test_what_is_no_such_thing_is_named(call: str, message: str) -> None:
    with pytest.raises(IndexingError, match=message):
        called(call)


def test_an_array_of_one_number_is_an_integer_and_of_several_a_list() -> None:
    assert ops.output_to_input(ENTRY, SCALAR - 2) == ops.output_to_input(ENTRY)
    assert ops.reshape(ARRAY + 1, [6]) == ops.reshape((1, 2, 3), (6,))
