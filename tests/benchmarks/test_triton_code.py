"""Indices that the library writes for Triton cost no more than indices by hand."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benchmarks import triton_code
from benchmarks.kernels import KERNELS, Kernel
from benchmarks.triton_code import INDICES, counts_of, flat_maps, imported, ptx_of

TRITON = [kernel for kernel in KERNELS if kernel.name in INDICES]
in_triton = pytest.mark.parametrize("kernel", TRITON, ids=lambda kernel: kernel.name)


@in_triton
def test_indices_by_hand_are_those_of_the_maps(kernel: Kernel, tmp_path: Path) -> None:
    """Triton's operators on what is not negative are NumPy's."""
    indices = INDICES[kernel.name]
    lines = [f"def index{number}(i): return {each}" for number, each in enumerate(indices.by_hand)]
    lines.append(f"def mask(i): return {indices.mask or 'i >= 0'}")
    by_hand = imported("\n".join(lines), tmp_path / f"{kernel.name}_indices.py")
    i = np.arange(kernel.result.size)
    places = i[by_hand.mask(i)].tolist()
    for number, found in enumerate(flat_maps(kernel)):
        read = {place: index for (place,), _, _, (index,) in found.points()}
        assert sorted(read) == places
        wanted = getattr(by_hand, f"index{number}")(i)
        assert [read[place] for place in places] == wanted[places].tolist()


@pytest.mark.skipif(find_spec("triton") is None, reason="pip install -e '.[benchmarks]'")
@in_triton
def test_emitted_indices_cost_no_more_than_by_hand(kernel: Kernel, tmp_path: Path) -> None:
    texts = {"emitted": triton_code.emitted(kernel), "hand": triton_code.by_hand(kernel)}
    emitted, hand = (
        counts_of(ptx_of(kernel, text, tmp_path / f"{kernel.name}_{who}.py"))
        for who, text in texts.items()
    )
    assert emitted.wide <= hand.wide
    assert emitted.scalar <= hand.scalar
    assert emitted.vector == hand.vector
