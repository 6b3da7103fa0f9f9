"""Small functions of tensors, to be compiled for dynamic sizes: what models are made of.

A function takes PyTorch as its first argument, so that this module needs none.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# The arguments are PyTorch's, which need not be installed.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from benchmarks.peers import Native

Shape: TypeAlias = tuple[int, ...]


class Model(NamedTuple):
    """A function of PyTorch and tensors, and the shapes that it is traced with."""

    name: str
    function: Callable[..., Native]
    shapes: Sequence[Shape]
    indices: Sequence[Shape] = ()
    """Shapes of the tensors of integers, which come after the others."""


def _attention(torch: Native, query: Native, key: Native, value: Native) -> Native:
    scores = torch.matmul(query, key.transpose(-1, -2)) / 3
    return torch.matmul((5 * (scores / 5).tanh()).softmax(-1), value)


def _heads(torch: Native, x: Native, weight: Native) -> Native:
    """Self-attention of four heads, as it is in transformers."""
    batch, length, width = x.shape
    parts = torch.matmul(x, weight).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
    mixed = _attention(torch, parts[0], parts[1], parts[2])
    return mixed.transpose(1, 2).reshape(batch, length, width)


def _rotary(torch: Native, x: Native, angles: Native) -> Native:
    first, second = x.chunk(2, dim=-1)
    return x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()


def _cell(torch: Native, x: Native, hidden: Native, state: Native, weight: Native) -> Native:
    """One step of a long short-term memory."""
    gates = torch.matmul(torch.cat([x, hidden], 1), weight)
    entry, forget, change, leave = gates.chunk(4, 1)
    state = forget.sigmoid() * state + entry.sigmoid() * change.tanh()
    return leave.sigmoid() * state.tanh(), state


def _batch_norm(torch: Native, x: Native, kernel: Native) -> Native:
    y = torch.nn.functional.conv2d(x, kernel, padding=1)
    mean, variance = y.mean((0, 2, 3), keepdim=True), y.var((0, 2, 3), keepdim=True)
    return ((y - mean) / (variance + 1e-5).sqrt()).relu()


def _windows(_: Native, x: Native) -> Native:
    """The windows of a Swin transformer, shifted."""
    batch, height, width, channels = x.shape
    x = x.roll((-2, -2), (1, 2)).view(batch, height // 4, 4, width // 4, 4, channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, channels) * 2


def _channel_shuffle(_: Native, x: Native) -> Native:
    batch, channels, height, width = x.shape
    x = x.view(batch, 4, channels // 4, height, width).transpose(1, 2)
    return x.reshape(batch, channels, height, width) + 1


def _patches(torch: Native, x: Native, weight: Native) -> Native:
    batch, channels, height, width = x.shape
    x = x.view(batch, channels, height // 4, 4, width // 4, 4).permute(0, 2, 4, 1, 3, 5)
    return torch.matmul(x.reshape(batch, -1, channels * 16), weight)


def _unpacked(torch: Native, x: Native) -> Native:
    """Two numbers of four bits from one of eight, one after the other."""
    return torch.stack([x >> 4, x & 15], -1).view(x.shape[0], -1) * 2


def _group_norm(torch: Native, x: Native) -> Native:
    return torch.nn.functional.group_norm(x, 4)


def _causal(torch: Native, x: Native) -> Native:
    length = x.shape[-1]
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    return x.masked_fill(~mask, float("-inf")).softmax(-1)


def _repeated_heads(_: Native, x: Native) -> Native:
    batch, heads, length, width = x.shape
    x = x[:, :, None].expand(batch, heads, 4, length, width)
    return x.reshape(batch, heads * 4, length, width) * 2


def _space_to_depth(torch: Native, x: Native) -> Native:
    return torch.nn.functional.pixel_unshuffle(x, 2) + 1


IMAGE: Final = (2, 8, 12, 16)

MODELS: Final[tuple[Model, ...]] = (
    Model("softmax", lambda _, x: x.softmax(-1), [(6, 10)]),
    Model("log_softmax", lambda _, x: x.log_softmax(1), [(4, 6, 10)]),
    Model(
        "layer_norm", lambda torch, x: torch.nn.functional.layer_norm(x, x.shape[-1:]), [(5, 7, 12)]
    ),
    Model(
        "rms_norm", lambda _, x: x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt(), [(5, 7, 12)]
    ),
    Model("group_norm", _group_norm, [IMAGE]),
    Model("attention", _attention, [(2, 3, 5, 8), (2, 3, 6, 8), (2, 3, 6, 8)]),
    Model("heads", _heads, [(2, 6, 16), (16, 48)]),
    Model("causal", _causal, [(3, 8, 8)]),
    Model("rotary", _rotary, [(2, 5, 12), (5, 12)]),
    Model("repeated_heads", _repeated_heads, [(2, 3, 5, 8)]),
    Model(
        "mlp",
        lambda torch, x, a, b: torch.nn.functional.gelu(x @ a) @ b,
        [(4, 6, 8), (8, 32), (32, 8)],
    ),
    Model("lstm_cell", _cell, [(4, 6), (4, 5), (4, 5), (11, 20)]),
    Model("conv_batch_norm", _batch_norm, [IMAGE, (6, 8, 3, 3)]),
    Model("max_pool", lambda torch, x: torch.nn.functional.max_pool2d(x, 3, 2, 1), [IMAGE]),
    Model("average_pool", lambda torch, x: torch.nn.functional.avg_pool2d(x, 2), [IMAGE]),
    Model("adaptive_pool", lambda torch, x: torch.nn.functional.adaptive_avg_pool2d(x, 1), [IMAGE]),
    Model("upsample", lambda torch, x: torch.nn.functional.interpolate(x, scale_factor=2), [IMAGE]),
    Model(
        "bilinear",
        lambda torch, x: torch.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"),
        [IMAGE],
    ),
    Model("cat", lambda torch, x, y: torch.cat([x, y * 2], 1), [(4, 6), (4, 7)]),
    Model("cat_rows", lambda torch, x, y: torch.cat([x, y], 0).view(-1) + 1, [(4, 6), (5, 6)]),
    Model(
        "stack",
        lambda torch, x, y: torch.stack([x, y], 1).view(x.shape[0], -1) + 1,
        [(4, 6), (4, 6)],
    ),
    Model("roll", lambda _, x: x.roll(3, 1) + 1, [(5, 9)]),
    Model("flip", lambda _, x: x.flip(0, 1) + 1, [(5, 9)]),
    Model("rolled_flip", lambda _, x: x.roll((2, 3), (0, 1)).flip(0) + x, [(6, 9)]),
    Model("unfold", lambda torch, x: torch.nn.functional.unfold(x, 3), [(2, 3, 8, 9)]),
    Model("fold", lambda torch, x: torch.nn.functional.fold(x, (8, 8), 2, stride=2), [(2, 12, 16)]),
    Model(
        "pixel_shuffle",
        lambda torch, x: torch.nn.functional.pixel_shuffle(x, 2) + 1,
        [(2, 12, 6, 7)],
    ),
    Model("space_to_depth", _space_to_depth, [(2, 3, 6, 8)]),
    Model("channel_shuffle", _channel_shuffle, [IMAGE]),
    Model("windows", _windows, [(2, 8, 12, 5)]),
    Model("patches", _patches, [(2, 3, 8, 12), (48, 10)]),
    Model("pad", lambda torch, x: torch.nn.functional.pad(x, (1, 2, 3, 0)), [(4, 6, 8)]),
    Model("reflect", lambda torch, x: torch.nn.functional.pad(x, (2, 1, 1, 2), "reflect"), [IMAGE]),
    Model("slice", lambda _, x: x[1:, ::2] * 2, [(6, 10)]),
    Model("diagonal", lambda _, x: x.diagonal(0, 1, 2).reshape(-1) + 1, [(3, 6, 6)]),
    Model("tile", lambda _, x: x.repeat(2, 3) + 1, [(4, 6)]),
    Model("interleave", lambda _, x: x.repeat_interleave(3, 1) + 1, [(4, 6)]),
    Model(
        "transposed_view", lambda _, x: x.transpose(1, 2).reshape(x.shape[0], -1) + 1, [(3, 5, 7)]
    ),
    Model("regrouped", lambda _, x: x.view(-1, 6).sum(0) + x.view(-1, 3).sum(), [(4, 6)]),
    Model(
        "einsum", lambda torch, x, y: torch.einsum("bij,bjk->bki", x, y) + 1, [(2, 5, 6), (2, 6, 7)]
    ),
    Model("outer", lambda _, x, y: (x[:, None] - y[None]).square().sum(-1), [(5, 3), (6, 3)]),
    Model("cumulative", lambda _, x: x.cumsum(1) / 2, [(4, 9)]),
    Model("gather", lambda _, x, i: x.gather(1, i) + 1, [(4, 6)], [(4, 5)]),
    Model("index_select", lambda _, x, i: x.index_select(0, i) * 2, [(6, 7)], [(5,)]),
    Model(
        "embedding",
        lambda torch, x, i: torch.nn.functional.embedding(i, x).mean(1),
        [(9, 6)],
        [(4, 5)],
    ),
    Model("scatter", lambda _, x, y, i: x.scatter_add(1, i, y), [(4, 6), (4, 5)], [(4, 5)]),
    Model("unpacked", _unpacked, [], [(6, 10)]),
)
"""What is compiled; sizes differ, so that none is taken for another."""
