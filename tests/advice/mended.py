"""Mended modules run by JAX."""

from __future__ import annotations

import numpy as np

from ops import hlo
from ops.advice import Advice


def check_equal_results(advice: Advice) -> None:
    """Run the module and the mended one with the same random arguments."""
    module = advice.instruction.computation.module
    random = np.random.default_rng(0)
    arguments = [random.normal(size=each.shape.dimensions) for each in module.entry.parameters]
    pairs = zip(hlo.run(module, *arguments), hlo.run(advice.apply(), *arguments), strict=True)
    for before, after in pairs:
        np.testing.assert_allclose(after, before, rtol=1e-5)
