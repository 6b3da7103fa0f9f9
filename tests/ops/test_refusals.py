"""What rules refuse: each error names the dimension, both sizes, and what was expected."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import Any

import numpy as np

import ops
from ops import hlo, input_to_output, output_to_input, utilization
from simplifier import symbol
from simplifier.errors import IndexingError
from tests.cases import for_all, pairs
from tests.ops.test_parameters import CALLS, NAMES
from tests.ops.unfit import only_reason, refusal

N, M, K = map(symbol, "NMK")
INNER = {"lhs_contracting_dims": (0,), "rhs_contracting_dims": (0,)}
MATMUL = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
EXPERTS = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (1,), "rhs_group_dims": (0,)}
WINDOWS: dict[str, Any] = {"offset_dims": (1,), "collapsed_slice_dims": (0,), "slice_sizes": (1, 5)}
TAKEN = WINDOWS | {"start_index_map": (0,), "index_vector_dim": 1}

REFUSED = pairs("""
broadcast((3,), (2, 4), (0,))
    broadcast: operand dimension 0 has size 3, but result dimension 0 (dimensions[0]) has size 2;
        expected 1 or 2
broadcast((2, 2), (2, 2), (0, 0)) => broadcast: dimensions lists dimension 0 twice; expected it once
broadcast((2, 2), (2, 2), (0,))
    broadcast: dimensions has 1 entries; expected 2, one for each dimension
broadcast((2,), (2, 2), (2,)) => broadcast: dimensions lists dimension 2 of a tensor of rank 2
reshape((2, -3), (6,)) => reshape: operand dimension 1 has size -3; expected 0 or more
reverse((2, 0.5), ()) => reverse: operand sizes hold 0.5; expected integers
reshape((2, 3), (7,))
    reshape: the operand has 6 elements (2, 3), but the result has 7 (7,); expected as many
bitcast_convert((2, 3), (3, 2))
    bitcast-convert: the operand has sizes (2, 3), the result (3, 2);
        expected them to differ at most by a last dimension
transpose((2, 3), (0,)) => transpose: dimensions has 1 entries; expected 2, one for each dimension
reverse((2,), (1,)) => reverse: dimensions lists dimension 1 of a tensor of rank 1
rotate((2, 3), (0, 1), (1,)) => shuffle: shifts has 1 entries; expected 2, one for each dimension
permute((2, 3), (2,)) => shuffle: dimensions lists dimension 2 of a tensor of rank 2
slice((5,), (2,), (6,))
    slice: dimension 0 of size 5 is cut from 2 to 6; expected 0 <= start <= limit <= size
slice((5,), (2,), (4,), (0,)) => slice: dimension 0 has stride 0; expected 1 or more
slice((5, 5), (0,), (1,)) => slice: start_indices has 1 entries; expected 2, one for each dimension
concatenate([], 0) => concatenate: no operands; expected one or more
concatenate([(2,), (2, 2)], 0)
    concatenate: the rank of operand 1 is 2; expected 1, as in operand 0
concatenate([(2, 3), (2, 4)], 0)
    concatenate: dimension 1 of operand 1 has size 4; expected 3, as in operand 0
elementwise([(2, 3), (2, 4)])
    elementwise: dimension 1 of operand 1 has size 4; expected 3, as in another operand
elementwise([(3,), (2, 3)])
    elementwise: the rank of operand 0 is 1; expected 2, as in another operand
reduce((2, 3), (2,)) => reduce: dimensions lists dimension 2 of a tensor of rank 2
dot((2, 3), (4, 5), lhs_contracting_dims=(1,), rhs_contracting_dims=(0,))
    dot: contracting dimension 1 of lhs has size 3, but dimension 0 of rhs has size 4;
        expected the same
dot((2, 3), (3, 5), lhs_contracting_dims=(1,))
    dot: lhs has 1 contracting dimensions, but rhs has 0; expected as many
dot((3,), (3,), lhs_batch_dims=(0,), rhs_batch_dims=(0,), **INNER)
    dot: lhs_batch_dims and lhs_contracting_dims lists dimension 0 twice; expected it once
pad((3,), [(0, 0, -1)]) => pad: dimension 0 has interior padding -1; expected 0 or more
pad((3,), [(-2, -2, 0)]) => pad: dimension 0 has size 3, with padding -2_-2_0 -1; expected 0 or more
transpose((2, 3), 1) => transpose: dimensions are 1; expected integers
pad((3,), [(0, 1)]) => pad: padding[0] is (0, 1); expected (low, high, interior)
all_reduce((2,), replica_count=10 ** 9)
    all-reduce: there are 1000000000 replicas; expected 1048576 or fewer
collective_permute((2,), [(0, 99999999)])
    collective-permute: there are 100000000 replicas; expected 1048576 or fewer
all_reduce((2,), [[0, 1], [2, 1]]) => all-reduce: replica 1 is in the groups twice; expected it once
sort((2, 3), 2) => sort: dimensions lists dimension 2 of a tensor of rank 2
top_k((2, 3), 4) => topk: k is 4, but operand dimension 1 has size 3; expected 0 to 3
top_k((), 0) => topk: the operand is a scalar; expected a dimension to choose along
fft((5, 16), "RFFT", (8,)) => fft: operand dimension 1 has size 16; expected 8
fft((5, 16), "IRFFT", (16,)) => fft: operand dimension 1 has size 16; expected 9
fft((5, 16), "DCT", (16,)) => fft: the type is 'DCT'; expected one of FFT, IFFT, RFFT, IRFFT
fft((5,), "FFT", (5, 5))
    fft: fft_length has 2 entries for an operand of rank 1; expected 1 to 3,
        and no more than the rank
cholesky((3,)) => cholesky: operand has rank 1; expected 2 or more
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
gather((6, 5), (4, 1), **TAKEN | {"offset_dims": (2,)})
    gather: offset_dims lists dimension 2 of a tensor of rank 2
gather((6, 5), (4, 1), **TAKEN | {"offset_dims": (-1,)})
    gather: offset_dims lists dimension -1 of a tensor of rank 2
gather((6, 5), (4, 1), **TAKEN | {"start_index_map": (0, 1)})
    gather: start_index_map has 2 entries, but dimension 1 of the indices has size 1; expected 1
gather((6, 5), (4, 1), **TAKEN | {"start_index_map": (0, 1), "index_vector_dim": 2})
    gather: start_index_map has 2 entries, but each index is a vector by itself; expected 1
gather((6, 5), (4, 1), **TAKEN | {"collapsed_slice_dims": (), "start_index_map": (1,),
        "operand_batching_dims": (0,)})
    gather: start_indices_batching_dims has 0 entries; expected 1, one for each dimension
dynamic_slice((3,), (4,))
    dynamic-slice: dimension 0 of size 3 has a part of size 4; expected 3 or less
dynamic_slice((3, 3), (2,))
    dynamic-slice: the part has 1 entries; expected 2, one for each dimension
dynamic_slice((3, 3), (2, 2), (0,))
    dynamic-slice: start_indices has 1 entries; expected 2, one for each dimension
dynamic_slice((3,), (-1,)) => dynamic-slice: slice dimension 0 has size -1; expected 0 or more
# Sizes that are expressions.
reshape((N - N + 3,), (4,))
    reshape: the operand has 3 elements (3,), but the result has 4 (4,); expected as many
elementwise([(N,), (N + 1,)])
    elementwise: dimension 0 of operand 1 has size N + 1; expected N, as in another operand
slice((N,), (0,), (N + 1,))
    slice: dimension 0 of size N is cut from 0 to N + 1; expected 0 <= start <= limit <= size
reverse((N / 2,), (0,))
    reverse: operand sizes: N/2: is a fraction; expected an integer, or floor around it,
        such as N floordiv 2
reverse(("N",), (0,)) => reverse: operand sizes hold 'N'; expected integers
reverse((4,), (N,)) => reverse: dimensions hold N; expected integers
fft((4, N), "FFT", (N + 1,)) => fft: operand dimension 1 has size N; expected N + 1
scaled_dot((N, 4), (4, 2), (N, 3), ())
    scaled-dot: dimension 1 of lhs has size 4, but lhs_scale has 3; expected a divisor
scan([(N, 2), (N + 1, 2)], [], [()], 0)
    scan: dimension 0 has size N in one input, but N + 1 in another or in an output;
        expected the same
scan([(N, M)], [], [(M + 1,)], 0, is_elementwise=True)
    scan: an elementwise computation takes slices (M + 1,) and (M,); expected one shape
ragged_all_to_all((N, M), (N, M + 1), 2, [[0, 1]])
    ragged-all-to-all: dimension 1 has size M in the operand, M + 1 in the output; expected the same
""")


@for_all(REFUSED.items())
def test_what_does_not_fit_is_refused(call: str, message: str) -> None:
    attributes: dict[str, Any] = {"MATMUL": MATMUL, "EXPERTS": EXPERTS, "TAKEN": TAKEN}
    assert refusal(call, ops, N=N, M=M, K=K, INNER=INNER, **attributes) == message


CALLED = """HloModule m, replica_count=4
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
sums { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3)
  ROOT e = (f32[], f32[]) tuple(a, b) }
step { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] add(a, b)
  ROOT t = (f32[], f32[]) tuple(c, c) }"""

INSTRUCTIONS = pairs("""
f32[4,2] cholesky(f32[4,5] p)
    operand dimension 0 has size 4, but dimension 1 has size 5; expected the same
f32[4,4] sort(f32[4,5] p), dimensions={1}, to_apply=less
    dimension 1 of the result has size 4; expected 5
c64[4,4] fft(f32[4,5] p), fft_type=RFFT, fft_length={5}
    dimension 1 of the result has size 4; expected 3
(f32[3,2], s32[3,2]) custom-call(f32[4,5] p), custom_call_target="TopK"
    dimension 0 of the result has size 3; expected 4
(f32[4,2], s32[4,2], s32[]) topk(f32[4,5] p), k=2 => its rule gives 2 results; expected 3
s32[4,5] get-dimension-size(f32[4,5] p), dimensions={0} => the rank of the result is 2; expected 0
f32[4,5] rng(f32[4,5] p, p), distribution=rng_uniform => %p is f32[4,5]{1,0}; expected a scalar
(f32[4,5], f32[5], f32[5]) batch-norm-training(f32[4,5] p, f32[4] v, v), feature_index=1, epsilon=0
    %v is f32[4]{0}, but dimension 1 of %p has size 5; expected one number each
f32[2,6] concatenate(f32[2,3] p, p), dimensions={0,1} => there are 2 dimensions; expected 1
f32[2,3] copy-start(f32[2,3] p) => f32[2,3]{1,0} is not made of f32[2,3]{1,0}
f32[3,3] copy-done(f32[2,3] p) => f32[3,3]{1,0} is not made of f32[2,3]{1,0}
f32[2,3] pad(f32[2,3] p, p), padding=0_0x0_0 => %p is f32[2,3]{1,0}; expected a scalar
f32[2,4] add(f32[2,3] p, p) => dimension 1 of the result has size 4; expected 3
f32[2,3] transpose(f32[2,3] p), dimensions={1,0} => dimension 0 of the result has size 2; expected 3
f32[8,4] broadcast(f32[] x), dimensions={1}
    dimensions has 1 entries; expected 0, one for each dimension
f32[4] all-reduce(f32[4] x, x), to_apply=sum
    the result has 1 entries; expected 2, one for each operand
f32[4] all-reduce-start(f32[4] x, x), to_apply=sum
    the result has 1 entries; expected 2, one for each operand
f32[4] collective-reduce(f32[4] x, x), to_apply=sum
    the result has 1 entries; expected 2, one for each operand
(f32[4], f32[4]) reduce-scatter(f32[4] x), dimensions={0}, to_apply=sum
    the result has 2 entries; expected 1, one for each operand
f32[4] all-gather-start(f32[4] x), dimensions={0}
    its rule relates result 1 to operand 0; there are 1 and 1 arrays
(f32[4], f32[]) scan(f32[] c), dimensions={0}, num_carries=1, to_apply=step
    the parameters of to_apply has 2 entries; expected 1, one for each operand
f32[4] ragged-all-to-all(f32[4] x, x, s32[] i, s32[2] s, s, s), replica_groups={{0,1}}
    the rank of %i is 0; expected 1
f32[6,4] ragged-dot(f32[6,3] x, f32[2,3,4] w, s32[2] s), rhs_contracting_dims={1},
        rhs_group_dims={0}
    lhs_ragged_dims has 0 entries; expected 1
f32[4,6,6] reduce-window(f32[4,7,6] x, f32[] i), window={size=1x3x1}, to_apply=sum
    dimension 1 of the result has size 6; expected 5
(f32[4,5,6], f32[4,5,6]) reduce-window(f32[4,7,6] x, f32[4,5,6] y, f32[] i, i), window={size=1x3x1},
        to_apply=sums
    dimension 1 of operand 1 has size 5; expected 7, as in operand 0
(f32[4,5,6], f32[4,5,6]) reduce-window(f32[4,7,6] x, f32[] i), window={size=1x3x1}, to_apply=sum
    there are 2 results; expected 1, as inputs
f32[4,5,6] reduce-window(f32[4,7,6] x, f32[4,5,6] y), window={size=1x3x1}, to_apply=sum
    %y is f32[4,5,6]{2,1,0}; expected a scalar
f32[4,5,6] reduce-window(f32[4,7,6] x, f32[] i), window={size=1x0x1}, to_apply=sum
    the window has size 0 in dimension 1; expected 1 or more
f32[4,5,6] reduce-window(f32[4,7,6] x, f32[] i), window={size=1x3x1 rhs_dilate=1x1x0}, to_apply=sum
    the window has rhs_dilate 0 in dimension 2; expected 1 or more
f32[4,7,6] select-and-scatter(f32[4,7,6] x, f32[4,5,6] y, f32[] i), window={size=1x2x1},
        select=less, scatter=sum
    dimension 1 of the source has size 5; expected 6, as a reduce-window has
f32[4,5,6] select-and-scatter(f32[4,7,6] x, f32[4,5,6] y, f32[] i), window={size=1x3x1},
        select=less, scatter=sum
    dimension 1 of the result has size 5; expected 7
f32[4,6,9] convolution(f32[4,7,6] x, f32[3,2,9] k), window={size=3}, dim_labels=b0f_0io->b0f,
        feature_group_count=3
    dimension 1 of the result has size 6; expected 5
f32[4,6,9] convolution(f32[4,7,6] x, f32[3,2,9] k), window={size=2}, dim_labels=b0f_0io->b0f,
        feature_group_count=3
    dimension 0 of the window has size 2; expected 3, as in the kernel
f32[4,6,9] convolution(f32[4,7,6] x, f32[3,2,9] k), dim_labels=b0f_0io->b0f, feature_group_count=3
    the rank of the window is 0; expected 1, as in the kernel
f32[4,9] convolution(f32[4,7,6] x, f32[3,2,9] k), dim_labels=bf_io->bf
    lhs has rank 3, but dim_labels name 'bf'; expected a label for each dimension
f32[4,5,8] convolution(f32[4,7,6] x, f32[3,2,9] k), window={size=3}, dim_labels=b0f_0io->b0f
    lhs has 6 input features, but rhs has 2 in each of 1 groups; expected as many
f32[4,5,8] convolution(f32[4,7,6] x, f32[3,2,8] l), window={size=3}, dim_labels=b0f_0io->b0f,
        feature_group_count=3
    the 8 output features of rhs are shared by 3 groups; expected a multiple of 3
f32[4,5,8] convolution(f32[4,7,6] x, f32[3,2,9] k), window={size=3}, dim_labels=b0f_0io->b0f,
        feature_group_count=3, batch_group_count=2
    there are 3 feature groups and 2 batch groups; expected 1 or more of one kind, 1 of the other
f32[4,6] all-gather(f32[2,6] p), replica_groups={{0,1}}, dimensions={1}
    dimension 0 of the result has size 4; expected 2
f32[2,6] reduce-scatter(f32[2,6] p), replica_groups={{0,1}}, dimensions={1}, to_apply=sum
    dimension 1 of the result has size 6; expected 3
f32[2,5] all-reduce(f32[2,6] p), replica_groups={}, to_apply=sum
    dimension 1 of the result has size 5; expected 6
f32[2,6] all-to-all(f32[2,6] p), replica_groups={{0,1,2}}, dimensions={0}
    dimension 0 of size 2 cannot be cut for groups of 3 replicas
f32[2,6] collective-permute(f32[2,6] p), source_target_pairs={{0,1},{2,1}}
    replica 1 is the target of two pairs; expected of one
f32[2,6] collective-broadcast(f32[2,6] p), replica_groups={{0,4}} => there is no replica 4 among 4
s32[3] dynamic-slice(s32[9] x, s32[] i), dynamic_slice_sizes={2}
    dimension 0 of the result has size 3; expected 2
s32[2] dynamic-slice(s32[9] x, f32[] i), dynamic_slice_sizes={2}
    %i is f32[]; expected integers of sizes ()
s32[2] dynamic-slice(s32[9] x, s32[2] i), dynamic_slice_sizes={2}
    %i is s32[2]{0}; expected integers of sizes (1,)
s32[9] dynamic-update-slice(s32[9] x, s32[12] u, s32[] i)
    dimension 0 of size 9 has a part of size 12; expected 9 or less
(f32[5], f32[4]) scatter(f32[5] x, f32[4] y, s32[2,1] i, f32[2] u, f32[2] v), update_window_dims={},
        inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1,
        to_apply=sums
    %y is f32[4]{0}, but %x f32[5]{0}; expected the same sizes
f32[4] copy((f32[4], f32[4]) p)
    the result is f32[4]{0}; expected (f32[4]{0}, f32[4]{0}), as the operand
(f32[4], f32[5]) copy((f32[4], f32[4]) p)
    the result is (f32[4]{0}, f32[5]{0}); expected (f32[4]{0}, f32[4]{0}), as the operand
(f32[4], f32[4], f32[4]) copy((f32[4], f32[4]) p)
    the result is (f32[4]{0}, f32[4]{0}, f32[4]{0}); expected (f32[4]{0}, f32[4]{0}), as the operand
f32[<=4] reverse(f32[<=4,8] p), dimensions={0}
    its rule has a map from rank 2 to 2; expected 1 to 2, from f32[<=4]{0} to f32[<=4,8]{1,0}
f32[4,<=8] transpose(f32[<=8,4] p), dimensions={5,0}
    dimensions lists dimension 5 of a tensor of rank 2
f32[<=8,4,2] broadcast(f32[<=8,4] p), dimensions={0,9}
    dimensions lists dimension 9 of a tensor of rank 3
f32[<=8,4] concatenate(f32[<=8,4] p, p), dimensions={6}
    dimension lists dimension 6 of a tensor of rank 2
f32[<=8,4] pad(f32[<=8,4] p, f32[] z), padding=0_0
    padding has 1 entries; expected 2, one for each dimension
f32[<=8,2] slice(f32[<=8,4] p), slice={[0:8]}
    limits has 1 entries; expected 2, one for each dimension
f32[<=8,4] dynamic-slice(f32[<=8,4] p, s32[] k, k), dynamic_slice_sizes={8}
    the part has 1 entries; expected 2, one for each dimension
f32[<=8] gather(f32[<=8,4] p, s32[] k), offset_dims={0}, collapsed_slice_dims={1},
        start_index_map={0}, index_vector_dim=0, slice_sizes={1}
    slice_sizes has 1 entries; expected 2, one for each dimension
f32[<=8,4] set-dimension-size(f32[<=8,4] p, s32[] k), dimensions={6}
    dimensions lists dimension 6 of a tensor of rank 2
f32[<=8,4] reduce-window(f32[<=8,4] p, f32[] z), window={size=1}, to_apply=sum
    window has 1 entries; expected 2, one for each dimension
""")
"""Instructions on parameters of the shapes that they name, and what is said behind their opcode."""


@for_all(INSTRUCTIONS.items())
def test_instructions_that_do_not_fit_are_pointed_at(text: str, message: str) -> None:
    """From their results and from each operand; what needs no maps goes on."""
    named = r"(\([^()]*\)|\w+\[[^\]]*\]) (\w+)(?=[,)])"
    parameters = enumerate(re.findall(named, text))
    given = " ".join(f"{name} = {shape} parameter({n})" for n, (shape, name) in parameters)
    body = re.sub(named, r"\2", text)
    module = hlo.parse(f"{CALLED}\nENTRY e {{ {given}\nROOT r = {body} }}", "bad.hlo")
    root = module.entry.root
    answers = output_to_input(root), *(input_to_output(root, n) for n in range(len(root.operands)))
    reason = f"bad.hlo:9:1: %r: {root.opcode}: {message}"
    assert {*map(only_reason, answers)} == {reason}
    assert utilization(module).rows


ODD: list[Any] = [
    *(None, -1, 99, True, 1.5, "x", "", (), (1,), (1, 4), ((1, 4), (4, 8)), (-1,), (None,), (1.5,)),
    *(("a",), np.int64(1), (np.int64(2), 3), np.array([1, 2]), {}, {1: 2}, [[]], 10**30, (10**30,)),
    *(b"x", float("nan"), range(3), print, (("x",),)),
]
"""Arguments that people may pass, and a program that they wrote in haste."""

SIZES: dict[str, Any] = {**NAMES, "n": 4, "m": 2, "k": 2}


@for_all({call.partition("(")[0]: call for call in reversed(CALLS.values())})
def test_odd_arguments_are_refused_in_words(call: str) -> None:
    """What comes out is an answer or an error of this library, whichever argument is odd."""
    parsed = ast.parse(call, mode="eval").body
    assert isinstance(parsed, ast.Call)
    build, *given = (eval(ast.unparse(each), SIZES) for each in (parsed.func, *parsed.args))  # noqa: S307 - of a table
    named = {each.arg: eval(ast.unparse(each.value), SIZES) for each in parsed.keywords if each.arg}  # noqa: S307 - of a table
    for odd in ODD:
        for place in range(len(given)):
            with suppress(IndexingError):
                build(*given[:place], odd, *given[place + 1 :], **named)
        for name in named:
            with suppress(IndexingError):
                build(*given, **named | {name: odd})
