"""Rows of the conformance files: XLA's maps of instructions, and pairs seen by running HLO."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from indexing import parse_map
from ops import REGISTRY, Unknown, fusion_indexing, hlo, input_to_output, output_to_input
from simplifier.extraction.cost import cost_of_form
from tests.conformance import for_each, rows
from tests.ops.runtime_values import related_given

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexing import IndexingMap
    from ops import RuntimeOrigin
    from ops.dependence.dependence import Indexings
    from tests.conformance import Row

CHEAPER = {
    "bitcast_keeps_unit_dims.o2i": "a dimension of size 1 takes no part",
    "fusion_reshape_of_concat.o2i.0": "the constraint leaves part of a row, so it becomes bounds",
    "scaled_dot.o2i.2": "a range counts scales, not the elements that share them",
    "scaled_dot.o2i.3": "a range counts scales, not the elements that share them",
}
"""Rows where XLA's text is longer than ours, and why."""

REORDERED = frozenset({"reduce_window_window_dilation.o2i.0", "conv_rhs_dilation.o2i.0"})
"""Rows from before XLA wrote products first in a sum; the map is the same one."""

CORRECTED = {
    # An element is convolved with those of its own batch group.
    "conv_batch_groups.o2i.0": [
        (
            "(d0, d1, d2, d3)[s0, s1, s2] -> ((d3 floordiv 3) * 2 + d0, d1 + s0, d2 + s1, s2), "
            "domain: d0 in [0, 1], d1 in [0, 9], d2 in [0, 5], d3 in [0, 20], "
            "s0 in [0, 2], s1 in [0, 4], s2 in [0, 3]"
        )
    ],
    # An element of the kernel that meets padding or a gap is not needed.
    "conv_pad_stride.o2i.1": [
        (
            "(d0, d1, d2, d3)[s0, s1, s2] -> (s2, s0, s1, d3), domain: d0 in [0, 0], d1 in [0, 5], "
            "d2 in [0, 4], d3 in [0, 7], s0 in [0, 2], s1 in [0, 4], s2 in [0, 3], "
            "d1 * 2 + s0 in [1, 12], d2 * 2 + s1 in [2, 11]"
        )
    ],
    "conv_lhs_dilation.o2i.1": [
        (
            "(d0, d1, d2, d3)[s0, s1, s2] -> (s2, s0, s1, d3), domain: d0 in [0, 0], "
            "d1 in [0, 20], d2 in [0, 14], d3 in [0, 7], s0 in [0, 2], s1 in [0, 4], s2 in [0, 3], "
            "(d1 + s0) mod 2 in [0, 0], (d2 + s1) mod 2 in [0, 0]"
        )
    ],
    "triangular_solve.o2i.0": [
        (
            "(d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [1, 3], d1 in [0, 2], "
            "s0 in [1, 3], s1 in [0, 2], d0 - s0 in [0, 2], s0 - s1 in [1, 3]"
        )
    ],
    "triangular_solve.o2i.1": [
        (
            "(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 3], "
            "d0 - s0 in [0, 3]"
        )
    ],
    "triangular_solve.i2o.0": [
        (
            "(d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [1, 3], d1 in [0, 2], "
            "s0 in [1, 3], s1 in [0, 2], d0 - d1 in [1, 3], d0 - s0 in [-2, 0]"
        )
    ],
    "triangular_solve.i2o.1": [
        (
            "(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 3], "
            "d0 - s0 in [-3, 0]"
        )
    ],
    # An element is of the update only where the update is.
    "dynamic_update_slice.o2i.1": [
        (
            "(d0, d1){rt0, rt1} -> (d0 - rt0, d1 - rt1), domain: d0 in [0, 19], d1 in [0, 29], "
            "rt0 in [0, 15], rt1 in [0, 20], d0 - rt0 in [0, 4], d1 - rt1 in [0, 9]"
        )
    ],
    # From the start 0 on everything is padding.
    "fusion_pad_then_dynamic_slice.o2i.0": [
        (
            "(d0, d1){rt0} -> (0, d1 + rt0 - 4096), domain: d0 in [0, 0], d1 in [0, 4095], "
            "rt0 in [1, 4096], d1 + rt0 in [4096, 8191]"
        )
    ],
    # Starts are clamped.
    "rtvar_constant_out_of_range.o2i": ["(d0) -> (d0 + 90), domain: d0 in [0, 9]"],
    "rtvar_iota.o2i": [
        "(d0, d1, d2) -> (min(d0, 32), 0), domain: d0 in [0, 41], d1 in [0, 0], d2 in [0, 0]"
    ],
}
"""The right maps of rows where XLA's hold too much, as the note of the row says, or it has none."""

SAME_ANSWER = {
    "fusion_with_unsupported.o2i.1": "triangular_solve.o2i.0",
    "fusion_with_unsupported.o2i.2": "triangular_solve.o2i.1",
}
"""Rows that end at the operands of another row's instruction."""

REWORDED = {r"\b([su]1)\b(?!\[)": r"x\1", r"\[17,22\] constant\(1\)": "[17,22] constant({...})"}
"""What XLA's reader refuses in some rows: a type as a name, a literal of another rank."""


def module_of(row: Row) -> hlo.HloModule:
    text: str = row["hlo"]
    for refused, accepted in REWORDED.items():
        text = re.sub(refused, accepted, text)
    return hlo.parse(text)


# XLA's maps.


def answer_to(row: Row) -> Indexings:
    """What the library says to the question of a row; the answers for several results in one."""
    root = module_of(row).entry.root
    physical: bool = row["physical_layout"]
    operand: int = row["operand"] or 0
    if row["direction"] == "output_to_input":
        answers = output_to_input(root, row.get("output", 0), physical_layout=physical).indexing
        return answers[operand] if answers else ()
    answers = input_to_output(root, operand, physical_layout=physical).indexing
    unknown = [answer for answer in answers if isinstance(answer, Unknown)]
    known = [answer for answer in answers if not isinstance(answer, Unknown)]
    return unknown[0] if unknown else tuple(way for answer in known for way in answer)


def expected_of(row: Row) -> list[str]:
    """The maps that the row asks for."""
    name: str = row["id"]
    texts = CORRECTED.get(SAME_ANSWER.get(name, name)) or row["expected"]
    return [str(parse_map(text)) for text in texts] if name in REORDERED else [*texts]


def cost(indexing_map: IndexingMap) -> int:
    """Operators of results and constraints, and one for each constraint."""
    constraints = indexing_map.domain.constraints
    forms = (*indexing_map.forms, *(form for form, _ in constraints))
    return sum(map(cost_of_form, forms)) + len(constraints)


def is_as_good(found: IndexingMap, expected: str) -> bool:
    """Whether the map is the same relation at no higher cost; the same text at the same cost."""
    if expected == "KNOWN EMPTY":
        return found.is_known_empty
    other = parse_map(expected)
    same = found == other or (cost(found) < cost(other) and found.equals(other))
    return same and (str(found) == expected or cost(found) < cost(other))


@for_each(rows("op"))
def test_maps_are_as_good_as_those_of_xla(row: Row) -> None:
    answer = answer_to(row)
    assert not isinstance(answer, Unknown)
    expected_texts = expected_of(row)
    waiting = [*expected_texts]
    for way in answer:
        matching = [expected for expected in waiting if is_as_good(way.map, expected)]
        assert matching, f"{way} is none of {waiting}"
        waiting.remove(matching[0])
    assert not waiting
    longer = [str(way.map) for way in answer if str(way.map) not in expected_texts]
    assert (row["id"] in CHEAPER) == bool(longer and "KNOWN EMPTY" not in expected_texts)


def origins_of(row: Row) -> list[str | list[str]]:
    """Where the values of runtime variables are: an instruction, or also the map to its element."""
    return row.get("rt_vars_correct") or row.get("rt_vars") or []


@for_each([row for row in rows("op") if origins_of(row)])
def test_values_come_from_where_xla_finds_them(row: Row) -> None:
    """Of a slice of a slice XLA swaps the origins; the row says the right ones."""
    answer = answer_to(row)
    assert not isinstance(answer, Unknown)
    (way,) = answer
    if row["id"] == "rtvar_constant_out_of_range.o2i":
        assert not way.runtime
        return
    for origin, told in zip(way.runtime, origins_of(row), strict=True):
        name, *place = [told] if isinstance(told, str) else told
        assert origin.instruction.name == name.rpartition("/")[2]
        assert place in ([], [str(origin.map)])


# What was seen.


@for_each([*rows("oracle"), *rows("oracle_chains")])
def test_maps_hold_what_was_seen(row: Row) -> None:
    entry = module_of(row).entry
    operand: int = row["operand"]
    answer = fusion_indexing(entry.root).get(entry.parameters[operand], ())
    assert not isinstance(answer, Unknown)
    found = set[tuple[tuple[int, ...], tuple[int, ...]]]().union(
        *(related_given(way.map, way.runtime, _known_arrays(row)) for way in answer)
    )
    seen = {(tuple(result), tuple(operand)) for result, operand in row["pairs"]}
    assert found == seen or (row["relation"] == "subset" and found > seen)


def _known_arrays(row: Row) -> Callable[[RuntimeOrigin], np.ndarray[Any, Any]]:
    """The values of the other operands, at the parameters that hold them."""

    def array_of(origin: RuntimeOrigin) -> np.ndarray[Any, Any]:
        values = row["runtime"][f"operand{origin.instruction.parameter_number}"]
        return np.array(values, dtype=np.int64).reshape(origin.instruction.shape.dimensions)

    return array_of


def test_the_seen_pairs_of_every_supported_row_are_checked() -> None:
    assert sum(row["op"] in REGISTRY.opcodes for row in rows("oracle")) > len(rows("oracle")) // 2
