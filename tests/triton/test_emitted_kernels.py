"""Kernels that ``emit_kernel`` writes, read back: in their arrays, and each element once."""

from __future__ import annotations

import re

import pytest

from ops.hlo import Computation
from ops.triton import read_kernel
from ops.triton.expressions import TritonError
from tests.cases import for_all
from tests.kernels.fusions import CHAINS, RUNNABLE, SMALL, chain, emitted, fusions_of, kernel_of


def check(computation: Computation, name: str, text: str) -> None:
    programs = re.search(rf"{name}_programs = (\d+)", text)
    parameters = re.search(rf"def {name}\((.*)\)", text)
    assert programs
    assert parameters
    kernel = read_kernel(text, name=name, grid=(int(programs[1]),))
    results = computation.root.shape.arrays
    shapes = [*(each.shape for each in computation.parameters), *results]
    arguments = parameters[1].split(", ")
    for argument, shape in zip(arguments, shapes, strict=True):
        for access in kernel.of(argument):
            assert access.is_exact
            found = access.out_of_bounds((shape.element_count,))
            # For a reader, what is loaded may have more bits than an element of the array has.
            assert found is None or (found.values and found.overflow is not None)
    for argument, shape in zip(arguments[-len(results) :], results, strict=True):
        stores = [each.map for each in kernel.of(argument) if each.kind == "store"]
        assert sum(each.count() for each in stores) == shape.element_count
        assert sum(each.count_results() for each in stores) == shape.element_count


@pytest.mark.parametrize("name", RUNNABLE)
def test_kernels_of_real_fusions_are_read_back(name: str) -> None:
    for computation, (kernel, text) in emitted(fusions_of(name), "triton").items():
        try:
            check(computation, kernel, text)
        except TritonError as error:  # an index that is computed in ways that no formula has
            assert "the address depends on a" in str(error)  # noqa: PT017 - few of them
            assert {"gather", "dynamic-slice"} & {each.opcode for each in computation.instructions}


@for_all({**CHAINS, **SMALL})
def test_chains_are_read_back(body: str) -> None:
    check(chain(body), "kernel", kernel_of(body, "triton"))
