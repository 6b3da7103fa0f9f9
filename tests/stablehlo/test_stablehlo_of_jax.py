"""What JAX lowers to StableHLO and to HLO has the same maps, function by function."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# JAX is untyped.

from __future__ import annotations

import pytest

from ops import hlo, stablehlo
from tests.hlo.module_structure import NOT_COMPUTED, Structures
from tests.jax.test_jaxpr import FUNCTIONS, NUMBERS, Function, arguments
from tests.jax.test_jaxpr_control_flow import LOOPS
from tests.of_jax import OfJax, jax, jnp, lax
from tests.stablehlo.stablehlo_modules import maps_of

OTHERS: dict[str, Function] = {
    **LOOPS,
    "pooling": (lambda x: lax.reduce_window(x, 0.0, lax.max, (2, 2), (2, 2), "SAME"), ("8, 9",)),
    "loop around": (lambda x, y: lax.fori_loop(0, 5, lambda i, c: c * y[i], x), ("8", "5")),
    "sort": (lambda x: lax.sort((x, x * 2), num_keys=1), ("8, 16",)),
    "convolution": (
        lambda x, k: lax.conv_general_dilated(
            *(x, k, (1, 2), "SAME"), rhs_dilation=(1, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        ("1, 8, 8, 3", "3, 3, 3, 4"),
    ),
    "moves": (lambda x: (jnp.pad(x, ((1, 2), (0, 3))), x[::2, 1:9:3], x.T), ("8, 16",)),
    "solve": (lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True), ("4, 4", "4, 2")),
    "dynamic slice": (lambda x, i: lax.dynamic_slice(x, (i[0], 2), (3, 4)), ("8, 16", "1; int32")),
}
"""Functions beside those of which ``test_numbers_for_sizes`` claims the same."""


def lowered(name: str) -> OfJax:
    function, shapes = (FUNCTIONS | OTHERS)[name]
    return jax.jit(function).lower(*arguments(shapes, NUMBERS[-1]))


@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", OTHERS)
def test_both_texts_have_the_same_maps(name: str) -> None:
    given = lowered(name)
    expected = maps_of(hlo.parse(given.as_text("hlo")))
    assert maps_of(stablehlo.parse(given.as_text())) == expected


@pytest.mark.needs("jax")
@pytest.mark.parametrize(
    "name", ["softmax", "scan", "branches", "sort", "rows added to", "convolution"]
)
def test_the_generic_form_says_the_same(name: str) -> None:
    module = lowered(name).compiler_ir("stablehlo")
    generic = module.operation.get_asm(print_generic_op_form=True)
    pretty = module.operation.get_asm()
    structures = Structures(NOT_COMPUTED)
    assert structures.of(stablehlo.parse(generic)) == structures.of(stablehlo.parse(pretty))


@pytest.mark.needs("jax")
def test_locations_are_lines_of_the_source() -> None:
    module = stablehlo.parse(lowered("softmax").as_text(debug_info=True))
    metadata = module.entry.root.attributes["metadata"]
    assert metadata["source_file"].endswith("test_jaxpr.py")
    assert metadata["op_name"].endswith("/div")
