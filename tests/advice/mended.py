"""Mended modules: they are read back, and JAX gives the results that it gave before."""

from __future__ import annotations

from typing import Final

import numpy as np

from indexing.layout import Kind
from ops import hlo
from ops.advice import Advice, advise
from ops.hlo import HloModule, Instruction
from ops.limits import H100, Device

ADD: Final = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }"


def advice_of(
    kinds: tuple[str, ...], asked: HloModule | Instruction, device: Device = H100
) -> list[Advice]:
    return [each for each in advise(asked, device) if each.kind in kinds]


def check_is_read_back(advice: Advice) -> HloModule:
    """The mended module, whose text is that of the module that it is read as."""
    mended = advice.apply()
    assert str(hlo.parse(str(mended))) == str(mended)
    return mended


def check_equal_results(advice: Advice, rtol: float = 1e-5) -> None:
    """Run the module and the mended one with the same random arguments."""
    module, random = advice.instruction.computation.module, np.random.default_rng(0)
    arguments = [
        random.normal(scale=0.2, size=shape.dimensions).astype("f4")
        if shape.element_type.kind is Kind.FLOAT
        else random.integers(0, 2 * shape.element_type.bits, shape.dimensions)
        for shape in (each.shape for each in module.entry.parameters)
    ]
    pairs = zip(hlo.run(module, *arguments), hlo.run(advice.apply(), *arguments), strict=True)
    for before, after in pairs:
        np.testing.assert_allclose(after, before, rtol=rtol)
