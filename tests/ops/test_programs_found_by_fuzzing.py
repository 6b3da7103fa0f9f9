"""What ``benchmarks/fuzz.py --programs`` finds: each program once had maps that were wrong."""

from __future__ import annotations

import pytest

from benchmarks.fuzzing.program_checks import complaint

pytestmark = pytest.mark.needs("jax")


@pytest.mark.parametrize(
    ("text", "is_exact"),
    [
        # result 0, operand 1: of 192 pairs that are said, 176 are felt
        pytest.param(
            """HloModule padded
ENTRY main {
  x = f32[2,4,2] parameter(0)
  k = f32[3,2,4] parameter(1)
  ROOT r = f32[2,4,4] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f
}""",
            True,
            id="convolution of which a part of the kernel meets padding",
        ),
        pytest.param(
            """HloModule step
step {
  x = f32[2] parameter(0)
  c = f32[2] parameter(1)
  ROOT r = (f32[2], f32[2]) tuple(x, c)
}
ENTRY main {
  x = f32[4,2] parameter(0)
  c = f32[2] parameter(1)
  ROOT r = (f32[4,2], f32[2]) scan(x, c), dimensions={0}, num_carries=1, to_apply=step
}""",
            True,
            id="scan that passes slices on",
        ),
    ],
)
def test_what_was_found_stays_right(text: str, *, is_exact: bool) -> None:
    assert complaint(text, is_exact=is_exact) is None
