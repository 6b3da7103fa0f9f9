"""Equations without a rule of ours: JAX lowers them, and they have the maps of its program."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# JAX is untyped.
# ruff: noqa: PLW0108 - JAX is imported when a test asks it, not before

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable

import numpy as np
import pytest

import ops
from ops import Unknown, parameter_indexing
from tests.cases import for_all
from tests.jax.test_jaxpr import Function, arguments, pairs
from tests.jax.test_jaxpr_control_flow import felt
from tests.of_jax import OfJax, jax, jnp, lax

pytestmark = pytest.mark.needs("jax")


def pooled(x: OfJax) -> OfJax:
    return lax.reduce_window(x, -np.inf, lax.max, (2, 2), (2, 2), "VALID")


def mesh_of_one() -> OfJax:
    """A mesh of one device, and how arrays are spread over it."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
    return mesh, jax.sharding.PartitionSpec("x")


def over_a_mesh(function: Callable[[OfJax], OfJax]) -> Callable[[OfJax], OfJax]:
    """The function on each device of a mesh."""

    def run(x: OfJax) -> OfJax:
        mesh, spec = mesh_of_one()
        return jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec)(x)

    return run


def constrained(x: OfJax) -> OfJax:
    mesh, spec = mesh_of_one()
    return lax.with_sharding_constraint(x, jax.sharding.NamedSharding(mesh, spec))


def remembered(x: OfJax, w: OfJax) -> OfJax:
    block = jax.checkpoint(lambda x, w: jnp.tanh(jnp.tanh(x @ w) @ w))
    return jax.grad(lambda x: block(x, w).sum())(x)


def least(a: OfJax, b: OfJax) -> OfJax:
    """The lesser of two values with their places."""
    (x, i), (y, j) = a, b
    is_first = (x < y) | ((x == y) & (i < j))
    return jnp.where(is_first, x, y), jnp.where(is_first, i, j)


EXACT: dict[str, Function] = {
    "remembered": (lambda x: jax.checkpoint(jnp.sin)(x), ("4, 8",)),
    "remembered, in a gradient": (remembered, ("2, 3", "3, 3")),
    "named": (lambda x: importlib.import_module("jax.ad_checkpoint").checkpoint_name(
        x * 2, "twice"), ("4, 5",)),
    "on a device": (lambda x: jax.device_put(x) * 2, ("4, 5",)),
    "behind a barrier": (lambda x: lax.optimization_barrier((x, x))[0].T, ("4, 3",)),
    "constrained": (constrained, ("4, 3",)),
    "a sum over a batch": (lambda x: jax.vmap(
        lambda row: row - lax.pmean(row, "i"), axis_name="i")(x), ("3, 2",)),
    "a sum over devices": (over_a_mesh(lambda x: x - lax.psum(x.sum(0), "x")), ("3, 2",)),
    "a fold of one's own":
        (lambda x: lax.reduce(x, np.float32(0), lambda p, q: p + 2 * q, (1,)), ("3, 4",)),
    "a window of one's own": (lambda x: lax.reduce_window(
        x, np.float32(0), lambda p, q: p + 2 * q, (2, 2), (1, 1), "VALID"), ("3, 4",)),
    "a running fold": (lambda x: lax.cumlogsumexp(x, 1), ("2, 4",)),
    "acos": (lambda x: lax.acos(x), ("5",)),
    "sinh": (lambda x: lax.sinh(x), ("5",)),
    "erfc": (lambda x: lax.erfc(x), ("5",)),
    "digamma": (lambda x: lax.digamma(x), ("5",)),
    "next after": (lambda x: lax.nextafter(x, x + 1), ("5",)),
    "incomplete gamma": (lambda x, y: lax.igamma(x * x, y * y + 1), ("3, 2", "3, 2")),
    "incomplete gamma of a number": (lambda x: lax.igammac(x * x + 1, 2.0), ("3, 2",)),
    "custom derivative": (lambda x: jax.grad(lambda x: jax.nn.relu(x).sum())(x) + x, ("5",)),
    "a jitted function in parts":
        (lambda x: functools.partial(jax.jit(lambda y, x: y * x), 2.0)(x), ("5",)),
}  # fmt: skip

CONTAINED: dict[str, Function] = {
    "the greatest of windows, in a gradient":
        (lambda x: jax.grad(lambda x: (pooled(x) ** 2).sum())(x), ("4, 4",)),
    "the least, and its place": (lambda x: lax.reduce(
        (x, lax.broadcasted_iota("int32", x.shape, 1)),
        (np.float32(np.inf), np.int32(0)), least, (1,))[0], ("3, 4",)),
    "a place in order": (lambda x, y: jnp.searchsorted(x, y), ("6", "4")),
    "ragged": (lambda x, w: lax.ragged_dot(x, w, jnp.array([3, 1])), ("4, 2", "2, 2, 3")),
    "a loop of a batch": (lambda x: jax.vmap(
        lambda v: lax.while_loop(lambda s: s < 9, lambda s: s * 2 + 1, v))(x * x), ("3",)),
    "incomplete beta": (lambda x: jax.scipy.special.betainc(x * x, x * x, 0.5), ("3",)),
    "triangular": (lambda x, y: lax.linalg.triangular_solve(x, y), ("3, 3", "2, 3")),
}  # fmt: skip
"""Functions whose maps say all that is read, and more: the values decide."""


@pytest.mark.parametrize("name", [*EXACT, *CONTAINED])
def test_maps_say_what_results_feel(name: str) -> None:
    function, shapes = (EXACT | CONTAINED)[name]
    module = ops.from_jax(function, *arguments(shapes))
    assert not [each for each in module.entry.instructions if each.opcode == "custom-call"]
    seen, found = felt(function, shapes), pairs(module, {})
    assert all(some <= every for some, every in zip(seen, found, strict=True))
    assert name in CONTAINED or seen == found


def test_a_symbolic_size_is_one_of_the_lowered_program_or_asked_of_an_argument() -> None:
    module = ops.from_jax(lambda x: jnp.arctan(x) + lax.erf_inv(x), *arguments(("b, 4*s",)))
    (found,) = parameter_indexing(module.entry.root).values()
    assert not isinstance(found, Unknown)
    expected = "(d0, d1)<b, s> -> (d0, d1), domain: d0 in [0, b - 1], d1 in [0, s * 4 - 1]"
    assert [str(each.map).startswith(expected) for each in found] == [True]
    # Indices count from the end of an array, whose size is known only when it runs.
    module = ops.from_jax(lambda x: jnp.argmax(x[::-1]), *arguments(("b",)))
    assert not module.find(opcode="custom-call")
    names = {each.operands[0].name for each in module.find(opcode="get-dimension-size")}
    assert names <= {each.name for each in module.entry.parameters}


def test_a_scalar_beside_an_array_is_repeated() -> None:
    """As XLA demands."""
    module = ops.from_jax(lambda x: x * 2, *arguments(("3, 4",)))
    (product,) = module.find(opcode="multiply")
    assert [each.shape.rank for each in product.operands] == [2, 2]


def test_keys_of_random_numbers_are_words_and_a_scan_carries_them() -> None:
    """Each element of the mask needs both words of the key, and of the array its own element."""

    def dropout(x: OfJax, key: OfJax) -> OfJax:
        keys = jax.random.split(key, 2)
        return jnp.where(jax.random.bernoulli(keys[1], 0.5, x.shape), x, 0)

    key = jax.random.key(0)
    module = ops.from_jax(dropout, *arguments(("2, 3",)), key)
    assert str(module.entry.parameters[1].shape) == "u32[2]{0}"
    mask, words = pairs(module, {})
    places = [*np.ndindex(2, 3)]
    assert mask == {(place, place) for place in places}
    assert words == {(place, (word,)) for place in places for word in (0, 1)}

    def step(key: OfJax, x: OfJax) -> OfJax:
        key, own = jax.random.split(key)
        return key, x * jax.random.uniform(own)

    given = *arguments(("3, 2",)), jax.random.key(1)
    rows, _ = pairs(ops.from_jax(lambda xs, key: lax.scan(step, key, xs)[1], *given), {})
    assert rows == {(place, place) for place in np.ndindex(3, 2)}


CALLED: list[tuple[Callable[[OfJax], OfJax], str]] = [
    (lambda x: jax.pure_callback(np.sin, x, x) + x, "pure_callback"),
    (lambda x: x + importlib.import_module("jax.experimental").io_callback(np.sin, x, x),
     "io_callback"),
    (lambda x: jnp.linalg.qr(x)[0], "ProductOfElementary"),
]  # fmt: skip


@for_all(CALLED)
def test_what_nobody_can_know_is_unknown_with_its_name(
    function: Callable[[OfJax], OfJax], name: str
) -> None:
    module = ops.from_jax(function, *arguments(("3, 3",)))
    (found,) = parameter_indexing(module.entry.root).values()
    assert isinstance(found, Unknown)
    assert found.reason.startswith(f"custom-call: no indexing map of {name}")


def test_arguments_are_given_as_to_the_function() -> None:
    """By name, in trees, as parts of a function, and static ones to a compiled function."""

    def function(tree: OfJax, *, k: OfJax) -> OfJax:
        return tree["a"] * k + tree["b"][0]

    tree = {"a": jnp.ones(3), "b": (jnp.ones(3), 1.0)}
    module = ops.from_jax(function, tree, k=2.0)
    names = " ".join(each.name for each in module.entry.parameters)
    assert names == "tree_a tree_b_0 tree_b_1 k"
    repeated = functools.partial(jax.jit, static_argnums=1)(lambda x, n: jnp.tile(x, n))
    (x,) = ops.from_jax(repeated, jnp.ones(2), 3).entry.parameters
    assert str(x.shape) == "f32[2]{0}"
    part = functools.partial(function, tree)
    assert len(ops.from_jax(part, k=jnp.ones(3)).entry.parameters) == 1
