"""What JAX lowers to StableHLO and to HLO has the same maps, function by function."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# JAX is untyped.

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ops import hlo, stablehlo
from tests.hlo.module_structure import NOT_COMPUTED, Structures
from tests.of_jax import OfJax, jax, jnp, lax
from tests.stablehlo.test_stablehlo_corpus import maps_of

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "softmax": (lambda x: jax.nn.softmax(x, 0), ("8,16",)),
    "argmax": (lambda x: jnp.argmax(x, 1), ("8,16",)),
    "cumsum": (lambda x: jnp.cumsum(x, 1), ("8,16",)),
    "pooling": (lambda x: lax.reduce_window(x, 0.0, lax.max, (2, 2), (2, 2), "SAME"), ("8,9",)),
    "scan": (lambda x: lax.scan(lambda c, r: (c + r, c * 2), x[0], x), ("8,16",)),
    "loop around": (lambda x, y: lax.fori_loop(0, 5, lambda i, c: c * y[i], x), ("8", "5")),
    "cond": (lambda x, i: lax.cond(i[0] > 0, lambda v: v.T, lambda v: v * x, x), ("4,4", "1")),
    "switch": (
        lambda x, i: lax.switch(i[0], [lambda: x + 1, lambda: x[::-1], lambda: -x]),
        ("8", "1;i"),
    ),
    "sort": (lambda x: lax.sort((x, x * 2), num_keys=1), ("8,16",)),
    "take": (lambda x, i: x[i], ("8,16", "2;i")),
    "scatter": (lambda x, i: x.at[i, 2].add(3.0), ("8,16", "2;i")),
    "convolution": (
        lambda x, k: lax.conv_general_dilated(
            *(x, k, (1, 2), "SAME"), rhs_dilation=(1, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        ("1,8,8,3", "3,3,3,4"),
    ),
    "einsum": (lambda a, b: jnp.einsum("bij,bjk->bik", a, b), ("2,3,4", "2,4,5")),
    "moves": (
        lambda x: (jnp.pad(x, ((1, 2), (0, 3))), x[::2, 1:9:3], x.T, jnp.roll(x, 3, 1)),
        ("8,16",),
    ),
    "fourier": (lambda x: jnp.fft.rfft(x, axis=0), ("4,8",)),
    "gradient": (lambda x: jax.value_and_grad(lambda v: (v @ v.T).sum())(x)[1], ("4,8",)),
    "solve": (lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True), ("4,4", "4,2")),
    "dynamic slice": (lambda x, i: lax.dynamic_slice(x, (i[0], 2), (3, 4)), ("8,16", "1;i")),
}


def lowered(name: str) -> OfJax:
    function, shapes = FUNCTIONS[name]
    arguments = [
        jnp.ones(
            tuple(map(int, shape.partition(";")[0].split(","))),
            "int32" if ";" in shape else "float32",
        )
        for shape in shapes
    ]
    return jax.jit(function).lower(*arguments)


@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_texts_have_the_same_maps(name: str) -> None:
    given = lowered(name)
    expected = maps_of(hlo.parse(given.as_text("hlo")))
    assert maps_of(stablehlo.parse(given.as_text())) == expected


@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", ["softmax", "scan", "cond", "sort", "scatter", "convolution"])
def test_the_generic_form_says_the_same(name: str) -> None:
    module = lowered(name).compiler_ir("stablehlo")
    generic = module.operation.get_asm(print_generic_op_form=True)
    pretty = module.operation.get_asm()
    structures = Structures(NOT_COMPUTED)
    assert structures.of(stablehlo.parse(generic)) == structures.of(stablehlo.parse(pretty))


@pytest.mark.needs("jax")
def test_locations_are_lines_of_the_source() -> None:
    text = lowered("softmax").as_text(debug_info=True)
    module = stablehlo.parse(text)
    root = module.entry.root
    assert root.attributes["metadata"]["source_file"].endswith("test_stablehlo_of_jax.py")
    assert root.attributes["metadata"]["op_name"].endswith("/div")
