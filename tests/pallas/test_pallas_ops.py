"""The kernels of `jax.experimental.pallas.ops` that trace on a CPU: all of them are read."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import pytest

from ops.pallas import PallasCall, PallasError, pallas_calls
from tests.cases import for_all
from tests.of_jax import OfJax, jax, jnp

pytestmark = pytest.mark.needs("jax")


def of(module: str, name: str) -> OfJax:
    return getattr(importlib.import_module(f"jax.experimental.pallas.ops.{module}"), name)


def array(text: str) -> OfJax:
    """An array as `f16 2 8 64`."""
    names = {
        "f32": "float32",
        "f16": "float16",
        "bf16": "bfloat16",
        "s32": "int32",
        "u32": "uint32",
    }
    kind, *sizes = text.split()
    return jax.ShapeDtypeStruct(tuple(map(int, sizes)), names[kind])


def gradient(function: Callable[..., OfJax], operands: int) -> Callable[..., OfJax]:
    """A function of the derivatives by some operands, which calls kernels in both directions."""
    return jax.grad(lambda *given: function(*given).sum(), tuple(range(operands)))


def splash() -> OfJax:
    """Its blocks of keys are in tables that it computes of a mask while it is traced."""
    causal = of("tpu.splash_attention.splash_attention_mask", "CausalMask")((512, 512))
    mask = of("tpu.splash_attention.splash_attention_mask", "MultiHeadMask")([causal] * 2)
    sizes = of("tpu.splash_attention.splash_attention_kernel", "BlockSizes")
    parts = ("q", "kv", "q_dkv", "kv_dkv", "q_dq", "kv_dq")
    inner = dict.fromkeys(("block_kv_compute", "block_kv_dkv_compute"), 128)
    blocks = sizes(**{f"block_{part}": 128 for part in parts}, **inner)
    make = of("tpu.splash_attention.splash_attention_kernel", "make_splash_mha")
    return make(mask=mask, head_shards=1, q_seq_shards=1, block_sizes=blocks)


def of_groups(sizes: tuple[int, ...] = ()) -> Callable[..., OfJax]:
    """A product of groups of rows, whose sizes are an operand if they are not given."""
    product = of("tpu.megablox.ops", "gmm")
    if not sizes:
        return product
    return lambda x, y: product(x, y, jnp.array(sizes, jnp.int32))


def mha() -> Callable[..., OfJax]:
    sizes = ("block_q", "block_k", "block_q_dkv", "block_kv_dkv", "block_q_dq", "block_kv_dq")
    blocks = of("gpu.attention", "BlockSizes")(**dict.fromkeys(sizes, 32))
    return lambda q, k, v: of("gpu.attention", "mha")(
        q, k, v, None, causal=True, block_sizes=blocks
    )


FLASH: Final = ["f32 1 2 256 128"] * 3
HEADS: Final = ["f16 2 256 2 64"] * 3
PAGES: Final = "f32 4 32 16 128"
NORM: Final = ["f32 2 4 128", "f32 128", "f32 128"]

KERNELS: Final[Mapping[str, tuple[Callable[[], OfJax], list[str], list[str], set[str]]]] = {
    "tpu.example_kernel": (
        lambda: of("tpu.example_kernel", "double"), ["f32 8 128"], ["()"], set()),
    "tpu.matmul": (
        lambda: partial(of("tpu.matmul", "matmul"), block_shape=(128, 128), block_k=128),
        ["f32 256 512", "f32 512 384"], ["(2, 3, 4)"], set()),
    "tpu.flash_attention": (
        lambda: gradient(partial(of("tpu.flash_attention", "flash_attention"), causal=True), 3),
        FLASH, ["(1, 2, 2, 2)"] * 3, set()),
    # Each step of a row writes the same statistics; rows run in parallel.
    "tpu.splash_attention": (
        lambda: gradient(splash(), 3), ["f32 2 512 128"] * 3,
        ["(2, 4, 4)", "(4, 2, 4)", "(2, 4, 4)"], {"WriteRace"}),
    "tpu.paged_attention": (
        lambda: partial(of("tpu.paged_attention.paged_attention_kernel", "paged_attention"),
                        pages_per_compute_block=4),
        ["f32 2 8 128", PAGES, PAGES, "s32 2", "s32 2 8"], ["(1, 2, 4)"], set()),
    "tpu.ragged_paged_attention": (
        lambda: partial(of("tpu.ragged_paged_attention.kernel", "ragged_paged_attention"),
                        num_kv_pages_per_block=2, num_queries_per_block=8),
        ["bf16 32 8 128", "bf16 64 16 8 128", "s32 4", "s32 4 8", "s32 5", "s32 1"],
        ["(1, 4)"], set()),
    # The sizes of groups decide how many steps there are, and which blocks they take.
    "tpu.megablox": (
        of_groups, ["f32 256 128", "f32 4 128 128", "s32 4"],
        ["(1, n1, 1)"], {"OutOfBoundsBlock", "LateRevisit"}),
    "tpu.megablox of known groups": (
        lambda: gradient(of_groups((64, 64, 64, 64)), 2), ["f32 256 128", "f32 4 128 128"],
        ["(1, 4, 1)", "(1, 4, 1)", "(1, 1, 4)"], set()),
    "tpu.random.threefry": (
        lambda: partial(of("tpu.random.threefry", "plthreefry_random_bits"),
                        bit_width=32, shape=(1024, 1024)), ["u32 2"], ["(4, 4)"], set()),
    "tpu.random.philox": (
        lambda: partial(of("tpu.random.philox", "philox_random_bits"),
                        bit_width=32, shape=(1024, 1024)), ["u32 2"], ["(4, 4)"], set()),
    "gpu.softmax": (lambda: of("gpu.softmax", "softmax"), ["f32 3 5 100"], ["(3, 5)"], set()),
    "gpu.layer_norm": (
        lambda: gradient(of("gpu.layer_norm", "layer_norm"), 3), NORM,
        ["(2, 4)", "(8,)", "(8,)"], set()),
    "gpu.rms_norm": (
        lambda: gradient(of("gpu.rms_norm", "rms_norm"), 3), NORM,
        ["(2, 4)", "(8,)", "(8,)"], set()),
    "gpu.attention": (
        lambda: gradient(mha(), 3), HEADS, ["(8, 2, 2)", "(8, 2, 2)", "(2, 2, 8)"], set()),
    "gpu.decode_attention of one head": (
        lambda: of("gpu.decode_attention", "mqa"),
        ["f16 2 16 64", "f16 2 1024 64", "f16 2 1024 64"], ["(2, 1, 16)"], set()),
    "gpu.decode_attention of groups": (
        lambda: of("gpu.decode_attention", "gqa"),
        ["f16 2 16 64", "f16 2 1024 4 64", "f16 2 1024 4 64"], ["(2, 4, 1, 16)"], set()),
    "gpu.paged_attention": (
        lambda: of("gpu.paged_attention", "paged_attention"),
        ["f16 2 16 64", "f16 4 32 16 64", "f16 4 32 16 64", "s32 2 16", "s32 2"],
        ["(2, 4, 1, 16)"], set()),
}  # fmt: skip
"""The kernel, its operands, the grids of its calls, and the kinds of their problems."""


def calls_of(function: Callable[..., OfJax], operands: list[str]) -> tuple[PallasCall, ...]:
    return pallas_calls(function, *map(array, operands))


@for_all(KERNELS)
def test_kernels_that_jax_comes_with(
    make: Callable[[], OfJax], operands: list[str], grids: list[str], problems: set[str]
) -> None:
    calls = calls_of(make(), operands)
    assert [str(call.grid) for call in calls] == grids
    assert {type(problem).__name__ for call in calls for problem in call.problems()} == problems
    assert all(each.accesses for call in calls for each in call.outputs)


@pytest.mark.needs("absl")  # which Mosaic GPU imports
@for_all([
    ("attention_mgpu", "attention_with_pipeline_emitter", "fa3_kernel", HEADS,
     {"block_q": 64, "block_kv": 64}),
    ("blackwell_matmul_mgpu", "matmul_kernel", "kernel", ["f16 512 512"] * 2,
     {"tile_m": 128, "tile_n": 128, "tile_k": 64, "collective": False}),
])  # fmt: skip
def test_kernels_of_mosaic_gpu_are_named(
    module: str, name: str, kernel: str, operands: list[str], sizes: dict[str, int]
) -> None:
    config = of(f"gpu.{module}", "TuningConfig")(max_concurrent_steps=2, **sizes)
    function = partial(of(f"gpu.{module}", name), config=config)
    where = f"the function has mpmd_map of '{kernel}' on Mesh(grid="
    with pytest.raises(PallasError, match=re.escape(where)):
        calls_of(function, operands)
