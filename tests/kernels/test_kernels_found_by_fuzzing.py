"""Kernels that computed something else than XLA, or failed; in each language that runs here.

``python -m benchmarks.fuzz --about kernels`` prints what it finds as rows of this table.
"""

from __future__ import annotations

from functools import cache
from itertools import cycle

import numpy as np
import pytest

from benchmarks.fuzzing import kernel_search
from benchmarks.fuzzing.kernel_search import LANGUAGES, Case, Tally, complaints
from ops import Fusion, emit_kernel, hlo
from ops.hlo.errors import HloTextError
from tests.cases import texts_with_values
from tests.fusion.units import few_frames
from tests.ops import oracle

RUNNABLE = kernel_search.runnable()

FOUND = texts_with_values("""
# kernel-c-window-beyond-the-array | [[1, 2]], [[1, 2, 0]]
x = f32[2] parameter(0) z = f32[] constant(0)
ROOT r = f32[3] reduce-window(x, z), window={size=1 pad=0_1}, to_apply=add
# kernel-c-window-2d |
#   [[[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]], [[[12, 15, 18, 0], [21, 24, 27, 0]]]
x = f32[4,3] parameter(0) z = f32[] constant(0) ROOT r = f32[2,4] reduce-window(x, z),
window={size=3x1 pad=0_0x0_1}, to_apply=add
# a window in front of the array | [[[1, 2], [3, 4], [5, 6]]], [[[0, 0, 1], [0, 0, 3], [0, 0, 5]]]
x = f32[3,2] parameter(0) z = f32[] constant(0) ROOT r = f32[3,3] reduce-window(x, z),
window={size=1x1 pad=0_0x2_-1}, to_apply=add
# kernel-triton-scalar-reduced | [], [[0, 4]]
i = f32[2,4] iota(), iota_dimension=0 z = f32[] constant(0)
ROOT r = f32[2] reduce(i, z), dimensions={1}, to_apply=add
# kernel-numpy-wrong-axis | [], [[0, 3]]
i = f32[2,3] iota(), iota_dimension=0 z = f32[] constant(0)
ROOT r = f32[2] reduce(i, z), dimensions={1}, to_apply=add
# of what is computed from an index alone | [], [[0, -3]]
i = f32[2,3] iota(), iota_dimension=0 n = f32[2,3] negate(i) z = f32[] constant(0)
ROOT r = f32[2] reduce(n, z), dimensions={1}, to_apply=add
# of a constant array | [], [[6, 6]]
c = f32[2,3] constant({{2,2,2},{2,2,2}}) z = f32[] constant(0)
ROOT r = f32[2] reduce(c, z), dimensions={1}, to_apply=add
# a window over an index | [], [[[0, 0], [2, 2]]]
i = f32[2,3] iota(), iota_dimension=0 z = f32[] constant(0)
ROOT r = f32[2,2] reduce-window(i, z), window={size=1x2}, to_apply=add
# kernel-clamp | [[1, 2, 3]], [[-1, -1, -1]]
x = f32[3] parameter(0) a = f32[] constant(2) b = f32[] constant(-1) ROOT r = f32[3] clamp(a, x, b)
# kernel-clamp of what is no number |
#   [[0, np.nan, 0, 5, 5, -np.inf], [np.nan, 1, 1, np.nan, 3, 3],
#   [2, 2, np.nan, 1, np.nan, np.inf]], [[*[np.nan] * 5, 3]]
a = f32[6] parameter(0) x = f32[6] parameter(1) b = f32[6] parameter(2)
ROOT r = f32[6] clamp(a, x, b)
# kernel-clamp of integers | [[9, 9, 0, 250], [1, 200, 7, 0], [3, 3, 255, 251]], [[3, 3, 7, 250]]
a = u8[4] parameter(0) x = u8[4] parameter(1) b = u8[4] parameter(2) ROOT r = u8[4] clamp(a, x, b)
# kernel-numpy-empty-window | [np.ones((5, 7, 2, 1))], [np.full((4, 22, 2, 2), -np.inf)]
x = f32[5,7,2,1] parameter(0) z = f32[] constant(-inf)
ROOT r = f32[4,22,2,2] reduce-window(x, z), window={size=1x1x3x1 stride=2x1x1x1
pad=1_1x2_1x2_0x-1_2 lhs_dilate=1x3x1x1 rhs_dilate=1x2x1x1}, to_apply=max
# a sum of integers that wrap | [[[[2 ** 31 - 1, *[0] * 8]], [[7, *[0] * 8]]]], [[6 - 2 ** 31]]
x = s32[2,1,9] parameter(0) z = s32[] constant(0)
ROOT r = s32[1] reduce(x, z), dimensions={0,2}, to_apply=add_s32
# an index that its type wraps | [], [[43]]
i = u8[300] iota(), iota_dimension=0 ROOT s = u8[1] slice(i), slice={[299:300]}
# a row under the condition of its program |
#   [[[1, 2, 3], [4, 5, 6], [7, 8, 9]]], [[0, 6, 15, 24, 0]]
x = f32[3,3] parameter(0) z = f32[] constant(0)
s = f32[3] reduce(x, z), dimensions={1}, to_apply=add ROOT p = f32[5] pad(s, z), padding=1_1
# tiles of two and three dimensions that begin with the same one | [np.ones((2, 4, 7)),
#   np.zeros((2, 3, 7)), 0], [np.zeros((2, 1, 3)), np.repeat([[[0]] * 3 + [[1]] * 4] * 2, 7, 2)]
x = f32[2,4,7] parameter(0) y = f32[2,3,7] parameter(1) i = u32[] parameter(2)
c = u32[] constant(2) z = f32[2,7,7] concatenate(y, x), dimensions={1}
s = f32[2,1,3] dynamic-slice(z, i, c, i), dynamic_slice_sizes={2,1,3}
ROOT t = (f32[2,1,3], f32[2,7,7]) tuple(s, z)
""")

FOLDS = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
add_s32 { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }
"""


def _case(name: str, body: str, operands: list[object], expected: list[object]) -> Case:
    text = f"HloModule m\n{FOLDS}\nENTRY e {{ {body} }}"
    entry = hlo.parse(text).entry
    shapes = [each.shape for each in entry.parameters], entry.root.shape.arrays
    values, right = (
        [np.array(each, oracle.dtype_of(shape)) for each, shape in zip(given, kinds, strict=True)]
        for given, kinds in zip((operands, expected), shapes, strict=True)
    )
    return Case(name, text, entry, values, right)


@cache
def wrong_in(language: str) -> dict[str, str]:
    """What is wrong with kernels of the rows, which a compiler takes all at once."""
    cases = [_case(name, *row) for name, row in FOUND.items()]
    return {case.name: said for case, said in complaints(cases, language, Tally())}


@pytest.mark.parametrize("language", RUNNABLE)
@pytest.mark.parametrize("name", FOUND)
def test_what_was_wrong_is_right(name: str, language: str) -> None:
    assert wrong_in(language).get(name) is None


PLANTED = {
    "a wrong result": "void kernel0(const float *x, float *y) { y[0] = x[0]; }",
    "what is behind the array": "void kernel0(const float *x, float *y) { y[0] = 0 * x[1]; }",
    "an overflow": "void kernel0(const float *x, float *y) { y[0] = 2147483647 + (int)x[0]; }",
}


@pytest.mark.skipif("c" not in RUNNABLE, reason="there is no gcc")
def test_what_is_planted_is_found() -> None:
    body = "x = f32[1] parameter(0) ROOT y = f32[1] negate(x)"
    case = _case("planted", body, [[1]], [[-1]])
    for name, text in PLANTED.items():
        ((_, said),) = kernel_search.RUNNERS["c"]({case: text})
        assert said, name
    warned_of = "void kernel0(const float *x, float *y) { if (y[0] = x[0]) y[0] = -x[0]; }"
    with pytest.raises(RuntimeError, match="-Werror=parentheses"):
        next(kernel_search.RUNNERS["c"]({case: warned_of}))


WRONG_RANKS = {
    "kernel-of-wrong-rank": "ROOT y = f32[4] pad(x, z), padding=1_3_1x0_0",
    "kernel-of-wrong-rank-b": "ROOT y = f32[6] pad(x, z), padding=0_2x0_0",
    "of a negated matrix": "ROOT y = f32[4] negate(x)",
    "of what is read": "n = f32[4] negate(x) ROOT y = f32[4] add(n, n)",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("body", WRONG_RANKS.values(), ids=WRONG_RANKS)
def test_a_result_of_another_rank_is_refused(body: str, language: str) -> None:
    text = f"ENTRY e {{ x = f32[4,4] parameter(0) z = f32[] parameter(1) {body} }}"
    with pytest.raises(HloTextError, match="the rank of the result is 1; expected 2"):
        emit_kernel(Fusion.of_computation(hlo.parse(text).entry), language)


DEEP = texts_with_values("""
# kernel-deep-chain of negate | 3000
negate(X)
# kernel-deep-chain of views and borders | 400
reverse(X), dimensions={0}
add(X, v0)
pad(X, z), padding=0_0x1_-1
concatenate(X), dimensions={0}
pad(X, z), padding=0_0x-1_1
# kernel-deep-chain of folds | 300
reduce-window(X, z), window={size=1x1}, to_apply=add
negate(X)
""")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("steps", "depth"), DEEP.values(), ids=DEEP)
def test_depth_needs_no_recursion(steps: str, depth: int, language: str) -> None:
    chosen = zip(range(1, depth), cycle(steps.splitlines()))
    values = [f"v{n} = f32[2,3] {step.replace('X', f'v{n - 1}')}" for n, step in chosen]
    values[-1] = f"ROOT {values[-1]}"
    lines = "\n".join(("v0 = f32[2,3] parameter(0) z = f32[] constant(0)", *values))
    fusion = Fusion.of_computation(hlo.parse(f"{FOLDS}\nENTRY e {{ {lines} }}").entry)
    with few_frames():
        assert "v0" in emit_kernel(fusion, language)


@pytest.mark.needs("jax")
@pytest.mark.parametrize("language", RUNNABLE)
def test_random_programs_compute_what_xla_does(language: str) -> None:
    tally = Tally()
    assert [*complaints(_drawn(), language, tally)] == []
    assert tally.right[language] >= 10  # the others are refused, such as arrays without elements


@cache
def _drawn() -> list[Case]:
    return kernel_search.cases_of(0, range(16), Tally())
