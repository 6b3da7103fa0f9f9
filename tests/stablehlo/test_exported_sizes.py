"""Symbolic sizes in what ``jax.export`` prints are those that JAX was given."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
# JAX is untyped.

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ops import from_jax, parameter_indexing, stablehlo
from tests.jax.test_jaxpr import FUNCTIONS, arguments
from tests.of_jax import imported, jax
from tests.stablehlo.stablehlo_modules import maps_of

FLATTENED = """
module @f attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%arg0: tensor<?x?xf32>) -> tensor<?xf32> {
    %c = stablehlo.constant dense<4> : tensor<i32>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %1 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %2 = call @floor_divide(%1, %c) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = call @body(%0, %2, %arg0) : (tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?xf32>
    return %3 : tensor<?xf32> }
  func.func private @body(%b: tensor<i32> {jax.global_constant = "b"},
      %s: tensor<i32> {jax.global_constant = "s"}, %x: tensor<?x?xf32>) -> tensor<?xf32> {
    %c = stablehlo.constant dense<4> : tensor<i32> %0 = stablehlo.multiply %b, %s : tensor<i32>
    %1 = stablehlo.multiply %0, %c : tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.dynamic_reshape %x, %2 : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
    return %3 : tensor<?xf32> }
  func.func private @floor_divide(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.divide %a, %b : tensor<i32> return %0 : tensor<i32> }
}"""


def test_sizes_are_solved_for_symbols() -> None:
    ((text,),) = (found[0] for found in maps_of(stablehlo.parse(FLATTENED)))
    assert text.startswith("(d0)<b, s> -> (d0 floordiv (s * 4), d0 mod (s * 4))")


def test_sizes_that_are_no_arithmetic_make_a_result_unknown() -> None:
    text = FLATTENED.replace("stablehlo.multiply %0, %c", "stablehlo.power %0, %c")
    root = stablehlo.parse(text).entry.root
    (indexing,) = parameter_indexing(root).values()
    assert str(indexing) == "unknown (custom-call: no indexing map of stablehlo.dynamic_reshape)"


SAME = [
    *("reshape", "flatten", "softmax", "matmul", "concatenate", "slice", "pad", "attention"),
    *("rows multiplied", "branches of several results", "one of three branches"),
]


@pytest.mark.needs("jax")
@pytest.mark.parametrize("name", SAME)
def test_exported_functions_have_the_maps_of_their_jaxprs(name: str) -> None:
    function, shapes = FUNCTIONS[name]
    given = arguments(shapes)
    text = imported("jax.export").export(jax.jit(function))(*given).mlir_module()
    assert maps_of(stablehlo.parse(text)) == maps_of(from_jax(function, *given))


@pytest.mark.needs("jax")
def test_the_example_of_the_page() -> None:
    page = Path(__file__).parents[2] / "docs" / "stablehlo.md"
    (example,) = re.findall(r"```python\n(from jax .*?)```", page.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {"stablehlo": stablehlo}
    exec(compile(example, str(page), "exec"), names)  # noqa: S102 - the page's own text
    ((text,),) = (found[0] for found in maps_of(names["module"]))
    assert text.startswith("(d0)<b, s> -> (d0 floordiv (s * 4), d0 mod (s * 4))")
