"""Real modules as StableHLO say what their HLO says: the same instructions, and the same maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops import Unknown, hlo, parameter_indexing, stablehlo
from tests.hlo.module_structure import NOT_COMPUTED, Structures
from tests.hlo.modules import module_text
from tests.stablehlo.stablehlo_modules import NAMES, stablehlo_text

if TYPE_CHECKING:
    from ops import OperandIndexing
    from ops.hlo import HloModule, Instruction

OF_OTHER_STRUCTURE = {"sort_topk"}
"""One in which XLA wraps results in a tuple and takes them out again."""

LARGE = {"big_transformer12_train"}
"""One whose maps take seconds; its instructions are those of its HLO."""

_NOTES = NOT_COMPUTED | {"channel_id", "operand_layout_constraints"}
"""Attributes that tell nothing about elements, and that StableHLO does not keep for all."""


def test_every_module_is_there() -> None:
    assert len(NAMES) == 30


@pytest.mark.parametrize("name", NAMES)
def test_the_results_are_computed_alike(name: str) -> None:
    structures = Structures(_NOTES, layouts=False, values=False, unused=False)
    ours, theirs = modules(name)
    assert (structures.of(ours) == structures.of(theirs)) is (name not in OF_OTHER_STRUCTURE)


@pytest.mark.parametrize("name", sorted({*NAMES} - LARGE))
def test_the_maps_of_results_are_the_same(name: str) -> None:
    ours, theirs = modules(name)
    assert maps_of(ours) == maps_of(theirs)


def modules(name: str) -> tuple[HloModule, HloModule]:
    """A module from both texts."""
    return stablehlo.parse(stablehlo_text(name)), hlo.parse(module_text(f"unoptimized/{name}"))


def maps_of(module: HloModule) -> list[dict[int, list[str]]]:
    """For each result, the maps to each parameter."""
    root = module.entry.root
    results = root.operands if root.opcode == "tuple" else (root,)
    return [_maps(result, array) for result in results for array in result.shape.array_indices]


def _text(indexing: OperandIndexing) -> str:
    """The map with those to the elements that it reads; instructions have other names."""
    return "; ".join(map(str, [indexing.map, *(origin.map for origin in indexing.runtime)]))


def _maps(result: Instruction, array: int) -> dict[int, list[str]]:
    found = parameter_indexing(result, array)
    return {
        parameter.parameter_number or 0: [str(answer)]
        if isinstance(answer, Unknown)
        else sorted(_text(indexing) for indexing in answer)
        for parameter, answer in found.items()
    }
