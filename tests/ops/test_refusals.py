"""What rules refuse: each error names the dimension, both sizes, and what was expected."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

import ops
from ops import hlo
from simplifier.errors import IndexingError
from tests.cases import for_all, pairs
from tests.ops.unfit import refusal, why_unfit

INNER = {"lhs_contracting_dims": (0,), "rhs_contracting_dims": (0,)}
MATMUL = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
EXPERTS = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (1,), "rhs_group_dims": (0,)}

REFUSED = pairs("""
broadcast((3,), (2, 4), (0,))
    broadcast: operand dimension 0 has size 3, but result dimension 0 (dimensions[0]) has size 2;
        expected 1 or 2
broadcast((2, 2), (2, 2), (0, 0))
    broadcast: dimensions lists dimension 0 twice; expected it once
broadcast((2, 2), (2, 2), (0,))
    broadcast: dimensions has 1 entries; expected 2, one for each dimension
broadcast((2,), (2, 2), (2,))
    broadcast: dimensions lists dimension 2 of a tensor of rank 2
reshape((2, -3), (6,))
    reshape: operand dimension 1 has size -3; expected 0 or more
reverse((2, 0.5), ())
    reverse: operand sizes hold 0.5; expected integers
reshape((2, 3), (7,))
    reshape: the operand has 6 elements (2, 3), but the result has 7 (7,); expected as many
bitcast_convert((2, 3), (3, 2))
    bitcast-convert: the operand has sizes (2, 3), the result (3, 2);
        expected them to differ at most by a last dimension
transpose((2, 3), (0,))
    transpose: dimensions has 1 entries; expected 2, one for each dimension
reverse((2,), (1,))
    reverse: dimensions lists dimension 1 of a tensor of rank 1
rotate((2, 3), (0, 1), (1,))
    shuffle: shifts has 1 entries; expected 2, one for each dimension
permute((2, 3), (2,))
    shuffle: dimensions lists dimension 2 of a tensor of rank 2
slice((5,), (2,), (6,))
    slice: dimension 0 of size 5 is cut from 2 to 6; expected 0 <= start <= limit <= size
slice((5,), (2,), (4,), (0,))
    slice: dimension 0 has stride 0; expected 1 or more
slice((5, 5), (0,), (1,))
    slice: start_indices has 1 entries; expected 2, one for each dimension
concatenate([], 0)
    concatenate: no operands; expected one or more
concatenate([(2,), (2, 2)], 0)
    concatenate: the rank of operand 1 is 2; expected 1, as in operand 0
concatenate([(2, 3), (2, 4)], 0)
    concatenate: dimension 1 of operand 1 has size 4; expected 3, as in operand 0
elementwise([(2, 3), (2, 4)])
    elementwise: dimension 1 of operand 1 has size 4; expected 3, as in another operand
elementwise([(3,), (2, 3)])
    elementwise: the rank of operand 0 is 1; expected 2, as in another operand
reduce((2, 3), (2,))
    reduce: dimensions lists dimension 2 of a tensor of rank 2
dot((2, 3), (4, 5), lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
    dot: contracting dimension 1 of lhs has size 3, but dimension 0 of rhs has size 4;
        expected the same
dot((2, 3), (3, 5), lhs_contracting_dims=(1,))
    dot: lhs has 1 contracting dimensions, but rhs has 0; expected as many
dot((3,), (3,), lhs_batch_dims=(0,), rhs_batch_dims=(0,), **INNER)
    dot: lhs_batch_dims and lhs_contracting_dims lists dimension 0 twice; expected it once
pad((3,), [(0, 0, -1)])
    pad: dimension 0 has interior padding -1; expected 0 or more
pad((3,), [(-2, -2, 0)])
    pad: dimension 0 has size 3, with padding -2_-2_0 -1; expected 0 or more
transpose((2, 3), 1)
    transpose: dimensions are 1; expected integers
pad((3,), [(0, 1)])
    pad: padding[0] is (0, 1); expected (low, high, interior)
all_reduce((2,), replica_count=10 ** 9)
    all-reduce: there are 1000000000 replicas; expected 1048576 or fewer
all_reduce((2,), [[0, 1], [2, 1]])
    all-reduce: replica 1 is in the groups twice; expected it once
sort((2, 3), 2)
    sort: dimensions lists dimension 2 of a tensor of rank 2
top_k((2, 3), 4)
    topk: k is 4, but operand dimension 1 has size 3; expected 0 to 3
top_k((), 0)
    topk: the operand is a scalar; expected a dimension to choose along
fft((5, 16), "RFFT", (8,))
    fft: operand dimension 1 has size 16; expected 8
fft((5, 16), "IRFFT", (16,))
    fft: operand dimension 1 has size 16; expected 9
fft((5, 16), "DCT", (16,))
    fft: the type is 'DCT'; expected one of FFT, IFFT, RFFT, IRFFT
fft((5,), "FFT", (5, 5))
    fft: fft_length has 2 entries for an operand of rank 1; expected 1 to 3,
        and no more than the rank
cholesky((3,))
    cholesky: operand has rank 1; expected 2 or more
cholesky((2, 3, 4))
    cholesky: operand dimension 1 has size 3, but dimension 2 has size 4; expected the same
triangular_solve((3, 3), (2, 3, 3))
    triangular-solve: a has rank 2, but b has rank 3; expected the same
triangular_solve((3, 3), (3, 4))
    triangular-solve: dimension 1 of a has size 3, but dimension 1 of b has 4; expected the same
triangular_solve((2, 3, 3), (4, 3, 3))
    triangular-solve: dimension 0 of a has size 2, but dimension 0 of b has 4; expected the same
triangular_solve((3, 3), (3, 3), transpose_a="T")
    triangular-solve: transpose_a is 'T'; expected one of NO_TRANSPOSE, TRANSPOSE, ADJOINT
batch_norm_training((8, 3), 2)
    batch-norm-training: feature_index lists dimension 2 of a tensor of rank 2
scaled_dot((4, 6), (6, 2), (4, 4), (1, 1), **MATMUL)
    scaled-dot: dimension 1 of lhs has size 6, but lhs_scale has 4; expected a divisor
ragged_dot((4, 6), (3, 6, 2), (2,), lhs_ragged_dims=(0,), **EXPERTS)
    ragged-dot: group dimension 0 of rhs has size 3, but there are 2 groups; expected the same
ragged_dot((4, 6), (3, 6, 2), (5, 3), lhs_ragged_dims=(0,), **EXPERTS)
    ragged-dot: group_sizes has sizes (5, 3); expected (3,)
ragged_dot((4, 6), (3, 6, 2), (3,), lhs_ragged_dims=(), **EXPERTS)
    ragged-dot: lhs_ragged_dims has 0 entries; expected 1
ragged_dot((4, 6), (6, 2), (3,), lhs_ragged_dims=(0,), **MATMUL)
    ragged-dot: rhs_group_dims has 0 entries; expected 1 for this ragged dimension
get_dimension_size((2,), 1)
    get-dimension-size: dimensions lists dimension 1 of a tensor of rank 1
set_dimension_size((2,), 1)
    set-dimension-size: dimensions lists dimension 1 of a tensor of rank 1
dynamic_reshape((2,), (3,))
    reshape: the operand has 2 elements (2,), but the result has 3 (3,); expected as many
scan([(5, 3)], [(4, 3)], [(3,)], 0)
    scan: dimension 0 has size 5 in one input, but 4 in another or in an output; expected the same
scan([(5, 3)], [(5, 3)], [(2,)], 0, is_elementwise=True)
    scan: an elementwise computation takes slices (3,) and (2,); expected one shape
""")


@for_all(REFUSED.items())
def test_what_does_not_fit_is_refused(call: str, message: str) -> None:
    assert refusal(call, ops, INNER=INNER, MATMUL=MATMUL, EXPERTS=EXPERTS) == message


INSTRUCTIONS = pairs("""
ROOT r = f32[4,2] cholesky(p)
    cholesky: operand dimension 0 has size 4, but dimension 1
ROOT r = f32[4,4] sort(p), dimensions={1}, to_apply=f
    dimension 1 of the result has size 4
ROOT r = c64[4,4] fft(p), fft_type=RFFT, fft_length={5}
    dimension 1 of the result has size 4; expected 3
ROOT r = (f32[3,2], s32[3,2]) custom-call(p), custom_call_target="TopK"
    dimension 0 of the result has size 3; expected 4
ROOT r = (f32[4,2], s32[4,2], s32[]) topk(p), k=2
    its rule gives 2 results; expected 3
ROOT r = s32[4,5] get-dimension-size(p), dimensions={0}
    the rank of the result is 2; expected 0
ROOT r = f32[4,5] rng(p, p), distribution=rng_uniform
    %p is f32[4,5]{1,0}; expected a scalar
ROOT r = (f32[4,5], f32[5], f32[5]) batch-norm-training(p, v, v), feature_index=1, epsilon=0
    %v is f32[4]{0}, but dimension 1 of %p has size 5; expected one number each
""")


LESS = """f { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT }"""


@for_all(INSTRUCTIONS.items())
def test_instructions_that_do_not_fit_are_pointed_at(instruction: str, message: str) -> None:
    given = "p = f32[4,5] parameter(0) v = f32[4] parameter(1)"
    text = f"{LESS} ENTRY e {{ {given}\n{instruction}\n}}"
    reason = why_unfit(hlo.parse(text, "bad.hlo").entry.root)
    assert message in reason
    assert reason.startswith("bad.hlo:3:")


ODD: list[Any] = [
    *(None, -1, 99, True, 1.5, "x", "", (), (1,), (1, 4), ((1, 4), (4, 8)), (-1,), (None,), (1.5,)),
    *(("a",), np.int64(1), (np.int64(2), 3), np.array([1, 2]), {}, {1: 2}, [[]], 10**30, (10**30,)),
    *(b"x", float("nan"), range(3), print, (("x",),)),
]
"""Arguments that people may pass, and a program that they wrote in haste."""

BUILDERS: dict[str, tuple[Any, ...]] = {
    "all_gather": ((4, 8), 0, ((0, 1),)),
    "all_reduce": ((4, 8),),
    "all_to_all": ((4, 8), 0, 0, ((0, 1),)),
    "all_to_all_of_tuple": ((4, 8), 2, ((0, 1),)),
    "batch_norm_training": ((4, 3), 1),
    "bitcast_convert": ((4, 3), (4, 3)),
    "broadcast": ((4,), (4, 3), (0,)),
    "cholesky": ((4, 4),),
    "collective_broadcast": ((4,), ((0, 1),)),
    "collective_permute": ((4,), ((0, 1),)),
    "concatenate": (((4, 3), (4, 2)), 1),
    "convolution": ((1, 8, 3), (3, 3, 4), None, None),
    "dot": ((4, 3), (3, 5)),
    "dynamic_slice": ((8,), (4,), (None,)),
    "dynamic_update_slice": ((8,), (4,), (1,)),
    "elementwise": (((4, 3), (4, 3)),),
    "fft": ((4, 8), "FFT", (8,)),
    "get_dimension_size": ((4, 3), 0),
    "pad": ((4, 4), ((1, 1, 0), (0, 0, 0))),
    "permute": ((4, 3), (1, 0)),
    "ragged_all_to_all": ((4,), (4,), ((0, 1),), 2),
    "reduce": ((4, 3), (1,), 1),
    "reduce_scatter": ((4, 8), 0, ((0, 1),)),
    "reduce_window": ((8,), None, 1),
    "reshape": ((4, 4), (16,)),
    "reverse": ((4, 3), (0,)),
    "rng": ((4,), 2),
    "rotate": ((4, 3), 1, 0),
    "select_and_scatter": ((8,), (4,), None),
    "slice": ((8,), (0,), (4,), (1,)),
    "sort": ((4, 3), 0, 1),
    "top_k": ((4, 3), 2),
    "transpose": ((4, 3), (1, 0)),
    "triangular_solve": ((4, 4), (4, 4)),
}


@for_all([*BUILDERS])
def test_odd_arguments_are_refused_in_words(name: str) -> None:
    """What comes out is an answer or an error of this library, whichever argument is odd."""
    arguments = BUILDERS[name]
    for place in range(len(arguments)):
        for odd in ODD:
            with suppress(IndexingError):
                getattr(ops, name)(*arguments[:place], odd, *arguments[place + 1 :])
