"""Kernels that ``emit_kernel`` writes, read back: in their arrays, and each element once."""

from __future__ import annotations

import re

import pytest

from ops.hlo import Computation
from ops.triton import TritonError, read_kernel
from tests.cases import for_all
from tests.kernels.fusions import CHAINS, RUNNABLE, SMALL, chain, emitted, fusions_of, kernel_of

TYPES = {
    "pred": "i1", "f16": "fp16", "f32": "fp32", "f64": "fp64",
    **{f"s{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Names of Triton for types of elements, if they are others."""


def check(computation: Computation, name: str, text: str) -> None:
    programs = re.search(rf"{name}_programs = (\d+)", text)
    parameters = re.search(rf"def {name}\((.*)\)", text)
    assert programs
    assert parameters
    results = computation.root.shape.arrays
    shapes = [*(each.shape for each in computation.parameters), *results]
    arguments = parameters[1].split(", ")
    types = [f"*{TYPES.get(each.element_type.value, each.element_type.value)}" for each in shapes]
    given = dict(zip(arguments, types, strict=True))
    try:
        kernel = read_kernel(text, {}, given, name=name, grid=(int(programs[1]),))
    except TritonError as error:
        if any(reason in error.message for reason in ("more than 200 parts", "no closed form")):
            return  # choices of choices of what is loaded; what a loop finds among values
        raise
    for argument, shape in zip(arguments, shapes, strict=True):
        for access in kernel.of(argument):
            assert access.is_exact
            found = access.out_of_bounds((shape.element_count,))
            assert found is None or found.values  # then the program's own 32 bits overflow
    for argument, shape in zip(arguments[-len(results) :], results, strict=True):
        stores = [each.map for each in kernel.of(argument) if each.kind == "store"]
        assert sum(each.count() for each in stores) == shape.element_count
        assert sum(each.count_results() for each in stores) == shape.element_count


@pytest.mark.parametrize("name", RUNNABLE)
def test_kernels_of_real_fusions_are_read_back(name: str) -> None:
    for computation, (kernel, text) in emitted(fusions_of(name), "triton").items():
        check(computation, kernel, text)


@for_all({**CHAINS, **SMALL})
def test_chains_are_read_back(body: str) -> None:
    check(chain(body), "kernel", kernel_of(body, "triton"))
