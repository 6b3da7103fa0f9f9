"""Triton kernels in the manner of its tutorials, which also run on the model of ``tl``."""

# pyright: basic, reportInvalidTypeForm=false, reportArgumentType=false
# ruff: noqa: ANN001, ANN201, B007, N803, N806, PLR0917, SIM108
# Kernels are written as Triton has them: arguments without types, sizes in capitals.

from __future__ import annotations

from tests.triton.tl_model import tl, triton

SCALE = 2


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(axis=0) * BLOCK
    offsets = first + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax(out_ptr, in_ptr, in_stride, out_stride, rows, columns, BLOCK: tl.constexpr):
    start = tl.program_id(0)
    step = tl.num_programs(0)
    for row in tl.range(start, rows, step):
        row_ptr = in_ptr + row * in_stride
        places = tl.arange(0, BLOCK)
        mask = places < columns
        values = tl.load(row_ptr + places, mask=mask, other=-1.0)
        powers = tl.exp(values * 0 - tl.max(values * 0, axis=0))
        tl.store(out_ptr + row * out_stride + places, powers / tl.sum(powers, axis=0), mask=mask)


@triton.jit
def place_of_program(pid, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    in_group = GROUP * tl.cdiv(N, BN)
    first = pid // in_group * GROUP
    size = min(tl.cdiv(M, BM) - first, GROUP)
    return first + (pid % in_group) % size, (pid % in_group) // size


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr = 2,
):  # fmt: skip
    tl.static_assert(BK > 0)
    pid_m, pid_n = place_of_program(tl.program_id(axis=0), M, N, BM, BN, GROUP=GROUP)
    rows = (pid_m * BM + tl.arange(0, BM)) % M
    columns = (pid_n * BN + tl.arange(0, BN)) % N
    inner = tl.arange(0, BK)
    a_ptrs = a_ptr + (rows[:, None] * stride_am + inner[None, :] * stride_ak)
    b_ptrs = b_ptr + (tl.expand_dims(inner, 1) * stride_bk + columns[None, :] * stride_bn)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BK, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BK * stride_ak
        b_ptrs += BK * stride_bk
    m = pid_m * BM + tl.arange(0, BM)
    n = pid_n * BN + tl.arange(0, BN)
    c_ptrs = c_ptr + stride_cm * m[:, None] + stride_cn * n[None, :]
    tl.store(c_ptrs, total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def layer_norm(X, Y, W, B, Mean, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        columns = off + tl.arange(0, BLOCK)
        total += tl.load(X + columns, mask=columns < N, other=0.0)
    mean = tl.sum(total, axis=0) / N
    tl.store(Mean + row, mean)
    for off in range(0, N, BLOCK):
        columns = off + tl.arange(0, BLOCK)
        mask = columns < N
        w = tl.load(W + columns, mask=mask)
        b = tl.load(B + columns, mask=mask)
        x = tl.load(X + columns, mask=mask, other=0.0)
        tl.store(Y + columns, (x - mean) / tl.sqrt(mean * mean + eps) * w + b, mask=mask)


@triton.jit
def attention_stage(total, q, K_block, V_block, start, stop, BLOCK_N: tl.constexpr):
    K_block = tl.advance(K_block, (0, start))
    V_block = tl.advance(V_block, (start, 0))
    for begin in range(start, stop, BLOCK_N):
        k = tl.load(K_block, boundary_check=(1,))
        v = tl.load(V_block, boundary_check=(0,))
        total = tl.dot(tl.dot(q, k), v, total)
        K_block = tl.advance(K_block, (0, BLOCK_N))
        V_block = tl.advance(V_block, (BLOCK_N, 0))
    return total


@triton.jit
def attention(
    Q, K, V, Out, stride_h, stride_m, length,
    DEPTH: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    start_m = tl.program_id(0)
    head = tl.program_id(1) * stride_h
    q_rows = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    depth = tl.arange(0, DEPTH)
    K_block = tl.make_block_ptr(
        K + head, (DEPTH, length), (1, stride_m), (0, 0), (DEPTH, BLOCK_N), (0, 1)
    )
    V_block = tl.make_block_ptr(
        base=V + head, shape=(length, DEPTH), strides=(stride_m, 1),
        offsets=(0, 0), block_shape=(BLOCK_N, DEPTH), order=(1, 0),
    )  # fmt: skip
    q_ptrs = Q + head + q_rows[:, None] * stride_m + depth[None, :]
    q = tl.load(q_ptrs, mask=q_rows[:, None] < length)
    total = tl.zeros([BLOCK_M, DEPTH], dtype=tl.float32)
    if CAUSAL:
        total = attention_stage(total, q, K_block, V_block, 0, start_m * BLOCK_M, BLOCK_N)
        last = (start_m + 1) * BLOCK_M
        total = attention_stage(total, q, K_block, V_block, start_m * BLOCK_M, last, BLOCK_N)
    else:
        total = attention_stage(total, q, K_block, V_block, 0, length, BLOCK_N)
    tl.store(Out + head + q_rows[:, None] * stride_m + depth, total, mask=q_rows[:, None] < length)


@triton.jit
def guarded(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid * BLOCK >= n:
        return
    base = pid * BLOCK
    if pid % 2 == 0:
        shift = 1
    else:
        shift = SCALE
    offsets = base + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets * shift, mask=(offsets >= 1) & (offsets < n))
    if pid > 1:
        tl.atomic_add(out_ptr + pid, tl.sum(x, axis=0))
    tl.store(out_ptr + tl.where(offsets > 5, offsets - 3, 0), x, mask=(offsets < 3) | (offsets > 8))


@triton.jit
def transposed(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK, BLOCK])
    m, n = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    block = x.load([m, n])
    rows = m + tl.arange(0, BLOCK)
    columns = n + tl.arange(0, BLOCK)
    places = rows[:, None] + columns[None, :] * M
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out_ptr + tl.trans(places), tl.trans(block), mask=inside.T)


@triton.jit
def strided(x_ptr, out_ptr, n, STEP: tl.constexpr, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    ptrs = x_ptr + places - tl.program_id(0)
    outside = out_ptr
    for i in tl.static_range(3):
        for j in range(i, n, 2):
            tl.store(outside + (places - j) // STEP, 0.0, mask=(places - j) % STEP > -2)
        tl.load(ptrs, mask=places + i < tl.maximum(n, 2))
        ptrs += STEP * 4
        outside += 16
    for _ in range(4, n - 4):
        ptrs += 7
    tl.load(ptrs + 1)


@triton.jit
def swizzled(x_ptr, out_ptr, MODE: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    places = rows * BLOCK + (columns ^ (rows & 3))
    if MODE in ("copy", "move"):
        x = tl.load(x_ptr + places, mask=((rows + columns) >> 1) % 2 == 0)
        tl.store(out_ptr + tl.program_id(0) + (rows << 3) + tl.cdiv(columns - 9, 2), x)
