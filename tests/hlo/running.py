"""Real modules run by JAX on the CPU: what XLA prints but does not take is said otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from indexing.layout import Shape
from ops import hlo
from ops.hlo import HloModule, Instruction, ModuleEditor
from ops.hlo.running import for_cpu
from tests.extent import IN_CI
from tests.hlo.modules import ALL, module_text
from tests.ops import oracle
from tests.ops.oracle import Array

_OTHER_MACHINES = ("callbacks_tokens", "collectives_shard_map", "ring_pipeline_loop")
"""Modules that talk to Python, or to other devices."""

_LIBRARIES = (
    *("gpu/conv_zoo", "gpu/layout_shuffle", "gpu/resnet_block_fwd"),
    "gpu/elementwise_zoo",
)
"""Modules that call libraries of GPUs, or take an arc sine, which is no instruction for CPUs."""

_MAX_CHARACTERS = 200_000 if IN_CI else 11_000
"""XLA compiles longer ones for seconds, so only CI runs them; the longest has half a million."""

RUNNING = [
    name
    for name in ALL
    if name.startswith(("cpu/", "gpu/", "unoptimized/", "tpu/softmax", "tpu/one_hot"))
    if not name.endswith(_OTHER_MACHINES) and name not in _LIBRARIES
    if len(module_text(name)) < _MAX_CHARACTERS
]
"""The real modules that run on a CPU; most for TPUs have tiles and copies that it does not know."""


def runnable(module: HloModule) -> HloModule:
    """A module with the same results that JAX takes.

    Constants whose values the text leaves out count up.
    """
    taken = for_cpu(module)
    editor = hlo.edit(taken)
    for constant in taken.find(opcode="constant"):
        if constant.literal is not None and constant.literal.is_elided:
            editor.replace(constant, _counted(editor, constant))
    return editor.finish()


def _counted(editor: ModuleEditor, constant: Instruction) -> Instruction:
    shape, into = constant.shape, constant.computation
    sizes = [shape.element_count]
    numbers = editor.insert("iota", (), f"s32{_text(sizes)}", into=into, iota_dimension=0)
    same_type = editor.insert("convert", [numbers], f"{shape.element_type}{_text(sizes)}")
    return editor.insert("reshape", [same_type], shape)


def _text(sizes: Sequence[int]) -> str:
    return f"[{','.join(map(str, sizes))}]"


def results(module: HloModule) -> list[Array]:
    """What the entry computes of small numbers, of which whole ones are good as indices."""
    random = np.random.default_rng(0)

    def values(shape: Shape) -> Array:
        dtype = oracle.dtype_of(shape)
        is_whole = dtype.kind in "biu"
        found = (
            random.integers(0, 3, shape.dimensions)
            if is_whole
            else random.normal(size=shape.dimensions)
        )
        return np.asarray(found).astype(dtype)

    operands = [values(each) for p in module.entry.parameters for each in p.shape.arrays]
    return oracle.program(str(runnable(module)))(*operands)


@cache
def results_of(name: str) -> list[Array]:
    return results(hlo.parse(module_text(name)))


def assert_same(before: Sequence[Array], after: Sequence[Array]) -> None:
    """The same results, up to the rounding of numbers with a point."""
    assert len(before) == len(after)
    for old, new in zip(before, after, strict=True):
        assert (old.shape, old.dtype) == (new.shape, new.dtype)
        differ = ~oracle.same(old, new)
        if differ.any():
            assert old.dtype.kind not in "biu"
            wide = [np.asarray(each[differ], dtype=np.complex128) for each in (old, new)]
            known = np.asarray(old[np.isfinite(old)], dtype=np.complex128)
            scale = np.abs(known).max(initial=0)
            assert np.abs(wide[0] - wide[1]).max() <= scale / 1000
