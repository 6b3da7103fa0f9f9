"""A training step of a small transformer of any depth, as HLO text from JAX.

Forward and backward through all blocks, and Adam. Only the number of blocks grows, not the blocks.
It needs JAX.
"""

from __future__ import annotations

import importlib
import math
from typing import Any, Final, TypeAlias

# JAX has no types for functions that its functions return.
Module: TypeAlias = Any
Tree: TypeAlias = Any
Array: TypeAlias = Any

BATCH, LENGTH, WIDTH, HEADS, HIDDEN, WORDS = 2, 16, 32, 4, 64, 96

BLOCK: Final = {
    **dict.fromkeys(("g1", "b1", "g2", "b2", "c2"), (WIDTH,)),
    **dict.fromkeys(("wq", "wk", "wv", "wo"), (WIDTH, WIDTH)),
    "w1": (WIDTH, HIDDEN),
    "c1": (HIDDEN,),
    "w2": (HIDDEN, WIDTH),
}
"""The parameters of a block, with their sizes."""


def train_step(layers: int) -> str:
    """The unoptimized HLO text of one training step with this many blocks.

    Raises:
        ImportError: JAX is not installed.
    """
    jax = importlib.import_module("jax")

    def array(sizes: tuple[int, ...]) -> Array:
        return jax.ShapeDtypeStruct(sizes, "float32")

    parameters = {
        "emb": array((WORDS, WIDTH)),
        "pos": array((LENGTH, WIDTH)),
        "out": array((WIDTH, WORDS)),
        "blocks": [{name: array(sizes) for name, sizes in BLOCK.items()} for _ in range(layers)],
    }
    step = jax.ShapeDtypeStruct((), "int32")
    tokens = jax.ShapeDtypeStruct((BATCH, LENGTH + 1), "int32")

    def stepped(p: Tree, m: Tree, v: Tree, step: Array, tokens: Array) -> Tree:
        loss, gradients = jax.value_and_grad(_loss)(p, tokens)
        return loss, *_adam(jax, p, gradients, m, v, step), step + 1

    lowered = jax.jit(stepped).lower(parameters, parameters, parameters, step, tokens)
    text: str = lowered.compiler_ir("hlo").as_hlo_text()
    return text


def _loss(parameters: Tree, tokens: Array) -> Array:
    """The mean cross entropy of the next token."""
    jax: Module = importlib.import_module("jax")
    numpy: Module = importlib.import_module("jax.numpy")
    x = parameters["emb"][tokens[:, :-1]] + parameters["pos"]
    for block in parameters["blocks"]:
        x = x + _attention(jax, _normalized(numpy, x, block["g1"], block["b1"]), block)
        hidden = _normalized(numpy, x, block["g2"], block["b2"]) @ block["w1"] + block["c1"]
        x = x + jax.nn.gelu(hidden) @ block["w2"] + block["c2"]
    scores = jax.nn.log_softmax(x @ parameters["out"])
    return -numpy.take_along_axis(scores, tokens[:, 1:, None], axis=-1).mean()


def _attention(jax: Module, x: Array, block: Tree) -> Array:
    """Causal attention with several heads."""

    def heads(weights: Array) -> Array:
        return (x @ weights).reshape(BATCH, LENGTH, HEADS, -1).transpose(0, 2, 1, 3)

    queries, keys, values = (heads(block[name]) for name in ("wq", "wk", "wv"))
    scores = queries @ keys.swapaxes(2, 3) / math.sqrt(WIDTH // HEADS)
    past = jax.numpy.tril(jax.numpy.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jax.numpy.where(past, scores, -1e30))
    return (weights @ values).transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH) @ block["wo"]


def _normalized(numpy: Module, x: Array, gain: Array, bias: Array) -> Array:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / numpy.sqrt(variance + 1e-5) * gain + bias


def _adam(
    jax: Module, parameters: Tree, gradients: Tree, m: Tree, v: Tree, step: Array
) -> tuple[Tree, Tree, Tree]:
    """The parameters and both moments after the step."""
    time = (step + 1).astype("float32")

    def mean(old: Array, gradient: Array) -> Array:
        return 0.9 * old + 0.1 * gradient

    def mean_square(old: Array, gradient: Array) -> Array:
        return 0.999 * old + 0.001 * gradient * gradient

    def moved(p: Array, first: Array, second: Array) -> Array:
        first, second = first / (1 - 0.9**time), second / (1 - 0.999**time)
        return p - 1e-3 * first / (jax.numpy.sqrt(second) + 1e-8)

    m, v = jax.tree.map(mean, m, gradients), jax.tree.map(mean_square, v, gradients)
    return jax.tree.map(moved, parameters, m, v), m, v
