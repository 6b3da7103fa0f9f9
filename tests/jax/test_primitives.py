"""All primitives that JAX lowers have an answer, but those that call what nobody knows."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# JAX is untyped.

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import pytest

import ops
from ops import hlo
from tests.jax.test_lowered_equations import constrained, over_a_mesh
from tests.of_jax import OfJax, jax, jnp, lax

pytestmark = pytest.mark.needs("jax")

X: Final = np.linspace(0.1, 0.8, 12, dtype="f4").reshape(3, 4)
Q: Final = X @ X.T + np.eye(3, dtype="f4")
N: Final = np.arange(12, dtype="i4").reshape(3, 4)
PAIR: Final = np.array([0, 2], "i4")

UNARY: Final = """abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil cos
    cosh digamma erf erf_inv erfc exp exp2 expm1 floor is_finite lgamma log log1p logistic
    neg round rsqrt sign sin sinh sqrt square tan tanh argmax cumlogsumexp cummax cummin
    cumprod cumsum sort"""
BINARY: Final = """add atan2 div eq ge gt igamma igammac igamma_grad_a le lt max min mul ne
    nextafter polygamma pow random_gamma_grad rem sub zeta complex"""
INTEGERS: Final = """bitwise_and bitwise_or bitwise_xor mulhi shift_left
    shift_right_arithmetic shift_right_logical"""


def named(names: str, *given: OfJax) -> list[OfJax]:
    extra: dict[str, tuple[OfJax, ...]] = {"argmax": (1, np.int32)}
    return [getattr(lax, name)(*given, *extra.get(name, ())) for name in names.split()]


def windows(x: OfJax) -> list[OfJax]:
    def pooled(x: OfJax) -> OfJax:
        return lax.reduce_window(x, -np.inf, lax.max, (2, 2), (1, 2), "VALID")

    def gradient(x: OfJax) -> OfJax:
        return jax.grad(lambda x: (pooled(x) ** 2).sum())(x)

    own = lax.reduce_window(x, np.float32(0), lambda a, b: a + b * b, (2, 2), (1, 1), "VALID")
    least = lax.reduce_window(x, np.inf, lax.min, (2, 2), (1, 1), "VALID")
    total = lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "VALID")
    return [own, least, total, gradient(x), jax.jvp(gradient, (x,), (x,))[1]]


def reductions(x: OfJax, n: OfJax) -> list[OfJax]:
    folds = [getattr(lax, f"reduce_{name}")(x, (1,)) for name in ("sum", "max", "min", "prod")]
    folds += [getattr(lax, f"reduce_{name}")(n, (0,)) for name in ("and", "or", "xor")]
    own = lax.reduce(x, np.float32(0), lambda a, b: a + b * b, (1,))
    places = [lax.argmin(x, 0, np.int32), *lax.top_k(x, 2), *lax.approx_max_k(x, 2)]
    return [*folds, own, *places]


def moved(x: OfJax, i: OfJax) -> list[OfJax]:
    rows = x.at[i]
    scattered = [rows.set(1.0), rows.add(1.0), rows.multiply(2.0), rows.min(0.0), rows.max(0.0)]
    return [
        *scattered,
        *(rows.subtract(1.0), rows.get(mode="fill"), jnp.concatenate([x, x]), jnp.copy(x)),
        *(jnp.pad(x, 1), x.reshape(4, 3), x[::-1], x[1:], *jnp.split(x, 2, 1), x[:1].squeeze(0)),
        *(jnp.stack([x, x]), jnp.tile(x, (2, 1)), x.T, *jnp.unstack(x), jnp.arange(3) + i[0]),
        lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i[0], 0), (1, 4)), (i[1], 0)),
        *(lax.select_n(x > 0, x, -x), lax.clamp(0.0, x, 1.0), lax.betainc(x, x, x)),
        *(x.astype("bfloat16"), lax.bitcast_convert_type(x, "int32")),
        *(lax.reduce_precision(x, 5, 10), lax.integer_pow(x, 3), x[None]),
    ]


def integers(n: OfJax) -> list[OfJax]:
    return [*named(INTEGERS, n, n), lax.bitwise_not(n), lax.clz(n), lax.population_count(n)]


def complexes(x: OfJax) -> list[OfJax]:
    z = lax.complex(x, x)
    return [lax.conj(z), lax.real(z), lax.imag(z), jnp.fft.rfft(x)]


def algebra(q: OfJax) -> list[OfJax]:
    linalg = lax.linalg
    diagonal = jnp.diagonal(q)
    image, kernel = q[None, None], q[None, None, :2, :2]
    return [
        *(linalg.cholesky(q), linalg.triangular_solve(q, q), linalg.symmetric_product(q, q)),
        linalg.tridiagonal_solve(diagonal, diagonal, diagonal, q[:, :1]),
        linalg.lu_pivots_to_permutation(jnp.argsort(diagonal).astype("int32"), 3),
        *(q @ q, lax.conv_general_dilated(image, kernel, (1, 1), "VALID")),
        lax.ragged_dot(q, jnp.stack([q, q]), jnp.array([1, 2])),
    ]


def libraries(q: OfJax) -> list[OfJax]:
    """What a library computes."""
    linalg = lax.linalg
    lu = linalg.lu(q)
    solved = jnp.linalg.solve(q, q)
    turned = linalg.householder_product(q, q[0])
    return [*lu, solved, *linalg.qr(q), turned, *linalg.svd(q), linalg.cholesky_update(q, q[0])]


def random(key: OfJax) -> list[OfJax]:
    random = jax.random
    typed = random.wrap_key_data(key)
    keys = random.split(random.fold_in(random.clone(typed), 1))
    bits = lax.rng_bit_generator(jnp.concatenate([key, key]), (3,))
    drawn = [random.normal(keys[0], (2,)), random.gamma(keys[1], 2.0)]
    words = [random.key_data(each) for each in (keys, random.key(key[0].astype("int32")))]
    return [*words, *drawn, lax.rng_uniform(0.0, 1.0, (2,)), *bits]


def calls(x: OfJax, i: OfJax) -> list[OfJax]:
    @jax.custom_vjp
    def rounded(x: OfJax) -> OfJax:
        return jnp.round(x)

    rounded.defvjp(lambda x: (rounded(x), None), lambda _, g: (g,))
    batched = importlib.import_module("jax.custom_batching").custom_vmap(lambda x: x + 1)
    batched.def_vmap(lambda _, is_batched, x: (x + 1, is_batched[0]))
    solved = lax.custom_linear_solve(lambda v: 2.0 * v, x, lambda _, b: b / 2.0, symmetric=True)
    exported = jax.export.export(jax.jit(jnp.sin))(x)
    linear = importlib.import_module("jax.custom_derivatives").linear_call
    return [
        *(jax.jit(jnp.sin)(x), jax.nn.relu(x), rounded(x), batched(x), exported.call(x)),
        *(jax.checkpoint(jnp.sin)(x), solved, lax.composite(jnp.sin, "a.b")(x)),
        linear(lambda r, x: r * x, lambda r, t: r * t, 2.0, x),
        lax.cond(i[0] > 0, lambda: x, lambda: -x),
        lax.while_loop(lambda s: s[0, 0] < 9, lambda s: s * 2, x),
        lax.scan(lambda c, r: (c + r, c), x[0], x)[1],
        *(lax.optimization_barrier(x), jax.device_put(x), lax.stop_gradient(x)),
        *(jnp.searchsorted(x[0], x), jnp.searchsorted(x[0], x, side="right")),
        jax.grad(lambda x: (x * x[0] + x[0]).sum())(x),
        importlib.import_module("jax.ad_checkpoint").checkpoint_name(x, "x"),
    ]


def over_devices(x: OfJax) -> list[OfJax]:
    """Also one that says how it is distributed."""

    def each(x: OfJax) -> OfJax:
        names = ("psum", "pmax", "pmin", "all_gather")
        found = [getattr(lax, name)(x, "x") for name in names]
        gathered = found.pop()
        moved = lax.ppermute(x, "x", [(0, 0)]) + lax.all_to_all(x, "x", 0, 0, tiled=True)
        scattered = lax.psum_scatter(x, "x", tiled=True)
        return sum(found) + gathered[0] + moved + scattered + lax.axis_index("x")

    batched = jax.vmap(lambda row: row - lax.psum(row, "i"), axis_name="i")
    return [over_a_mesh(each)(x), batched(x), constrained(x)]


def callbacks(x: OfJax) -> list[OfJax]:
    ffi = importlib.import_module("jax.ffi").ffi_call("nobody", x)
    io = importlib.import_module("jax.experimental").io_callback
    return [jax.pure_callback(np.sin, x, x), io(np.sin, x, x), ffi(x)]


UNANSWERED: Final = {
    "reductions": {"ApproxTopK"},
    "libraries": {"Eigh", "LuDecomposition", "ProductOfElementaryHouseholderReflectors", "Qr"},
    "callbacks": {"ffi_call", "io_callback", "pure_callback"},
}
"""What is called that nobody here knows."""

INSIDE: Final = """
all_gather_done all_gather_invariant all_gather_reduced all_gather_reduced_start all_gather_start
all_to_all_done all_to_all_start pbroadcast_done ppermute_done ppermute_start precv preduced psend
psum_done psum_invariant_start psum_start ragged_all_to_all reduce_scatter_done reduce_scatter_start
reduced_vary_cast_p unreduced_psum unreduced_psum_start unreduced_reduce_scatter
unreduced_reduce_scatter_start vary_unreduced_cast_p

after_all create_linear create_token custom_lin dce_sink dim_as_value dimension_size empty empty2
eq_to from_edtype inspect_sharding iota_2x32_shape layout_constraint pin platform_index remat_opt
reshard run_state select_and_scatter shape_assertion stage tie to_edtype unpin unreachable
with_memory_space_constraint

broadcast_to call closed_call core_map custom_partitioning geqrf global_array_to_host_local_array
host_local_array_to_global_array ormqr philox2x32 philox4x32 scaled_dot scaled_matmul_wrapper
threefry2x32 threefry4x32
dot_product_attention_bwd_wrapper dot_product_attention_fp8_bwd_wrapper
dot_product_attention_fp8_fwd_wrapper dot_product_attention_fwd_wrapper"""
"""Collectives inside a program for each device, what JAX makes as it lowers, and what no function
of ours here reaches."""

FUNCTIONS: Final[dict[str, tuple[Callable[..., Any], tuple[np.ndarray[Any, Any], ...]]]] = {
    "of one value": (lambda x: named(UNARY, x), (X,)),
    "of two values": (lambda x, y: named(BINARY, x, y), (X, X)),
    "of integers": (integers, (N,)),
    "of complex numbers": (complexes, (X,)),
    "moved": (moved, (X, PAIR)),
    "reductions": (reductions, (X, N)),
    "windows": (windows, (X,)),
    "algebra": (algebra, (Q,)),
    "random": (random, (np.array([0, 7], "u4"),)),
    "calls": (calls, (X, PAIR)),
    "over devices": (over_devices, (X,)),
    "libraries": (libraries, (Q,)),
    "callbacks": (callbacks, (X,)),
}


def reached(jaxpr: OfJax) -> Iterable[str]:
    core = importlib.import_module("jax.extend.core")
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for inside in core.jaxprs_in_params(equation.params):
            yield from reached(inside)


def called_targets(module: hlo.HloModule) -> set[str]:
    """The custom calls of a module but for those that work on one element at a time."""
    mapped = {each for one in module.find(opcode="map") for each in one.computations}
    return {
        each.attributes["custom_call_target"]
        for each in module.find(opcode="custom-call")
        if each.computation not in mapped
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_primitive_has_an_answer(name: str) -> None:
    function, given = FUNCTIONS[name]
    assert called_targets(ops.from_jax(function, *given)) == UNANSWERED.get(name, set())


def test_no_primitive_is_forgotten() -> None:
    """Of those that the installed JAX lowers, as far as this version is the one that was read."""
    if not version("jax").startswith("0.10."):
        pytest.skip("the primitives are those of JAX 0.10")
    lowerings = importlib.import_module("jax._src.interpreters.mlir")._lowerings
    known = {  # those of Pallas are there once somebody has imported it
        primitive.name
        for primitive, entry in lowerings.items()
        if "pallas" not in (getattr(entry.rule, "__module__", None) or "")
    }
    found = {
        each
        for function, given in FUNCTIONS.values()
        for each in reached(jax.jit(function).trace(*given).jaxpr.jaxpr)
    }
    assert known - found - {*INSIDE.split()} == set()
