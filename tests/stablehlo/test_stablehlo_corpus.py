"""Real modules as StableHLO say what their HLO says: the same instructions, and the same maps."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from ops import hlo, stablehlo
from ops.hlo import HloModule
from tests.cases import texts_with_values
from tests.hlo.module_structure import NOT_COMPUTED, Structures
from tests.hlo.modules import module_text
from tests.ops import oracle
from tests.stablehlo.stablehlo_modules import NAMES, maps_of, stablehlo_text

OF_OTHER_STRUCTURE = {"sort_topk"}
"""One in which XLA wraps results in a tuple and takes them out again."""

LARGE = {"big_transformer12_train"}
"""One whose maps take seconds; its instructions are those of its HLO."""

_NOTES = NOT_COMPUTED | {"channel_id", "operand_layout_constraints"}
"""Attributes that tell nothing about elements, and that StableHLO does not keep for all."""


def test_every_module_is_there() -> None:
    assert len(NAMES) == 30


@pytest.mark.parametrize("name", NAMES)
def test_the_results_are_computed_alike(name: str) -> None:
    structures = Structures(_NOTES, layouts=False, values=False, unused=False)
    ours, theirs = modules(name)
    assert (structures.of(ours) == structures.of(theirs)) is (name not in OF_OTHER_STRUCTURE)


@pytest.mark.parametrize("name", sorted({*NAMES} - LARGE))
def test_the_maps_of_results_are_the_same(name: str) -> None:
    ours, theirs = modules(name)
    assert maps_of(ours) == maps_of(theirs)


def modules(name: str) -> tuple[HloModule, HloModule]:
    return stablehlo.parse(stablehlo_text(name)), hlo.parse(module_text(f"unoptimized/{name}"))


def read_by_xla(module: HloModule) -> None:
    """Raise an error unless XLA reads what is printed."""
    xla: Any = importlib.import_module("jaxlib._hlo")
    xla.hlo_module_from_text(str(module))


@pytest.mark.needs("jaxlib")
@pytest.mark.parametrize("name", NAMES)
def test_xla_reads_what_a_module_becomes(name: str) -> None:
    read_by_xla(modules(name)[0])


def constant(text: str, of: str) -> str:
    return f"func.func @main() -> {of} {{ %c = stablehlo.constant {text} : {of} return %c : {of} }}"


def named(name: str) -> str:
    """A program whose module, function, argument and value have a name."""
    of = "tensor<3xf32>"
    called = f"func.func private @{name}(%{name}: {of}) -> {of} {{ return %{name} : {of} }}"
    return f"""module @{name} {{ {called}
      func.func @main() -> {of} {{
        %{name} = stablehlo.constant dense<[1.0, 2.0, 4.0]> : {of}
        %x = func.call @{name}(%{name}) : ({of}) -> {of}
        return %x : {of} }} }}"""


CONSTANTS: dict[str, tuple[str, str, Any]] = {
    "complex-splat": ("dense<(2.0,0.0)>", "3xcomplex<f32>", [2, 2, 2]),
    "complex-splat of two dimensions": ("dense<(1.0,-2.0)>", "2x1xcomplex<f64>", [[1 - 2j]] * 2),
    "splat-without-elements": ("dense<1.0>", "0xf32", []),
    "splat without elements, of two dimensions": ("dense<1>", "2x0xi8", [[], []]),
    "truth values, one in a byte": ('dense<"0x010001">', "3xi1", [1, 0, 1]),
    "truth values, eight in a byte": ('dense<"0xFE01">', "9xi1", [0] + [1] * 8),
    "bytes of s4": ('dense<"0x070F08">', "3xi4", [7, -1, -8]),
    "bytes of u4": ('dense<"0x070F08">', "3xui4", [7, 15, 8]),
    "bytes of f8": ('dense<"0x7CFC0138">', "4xf8E5M2", [np.inf, -np.inf, 2**-16, 0.5]),
    "bits of f8": ("dense<0x7C>", "f8E5M2", np.inf),
    "one number for all": ("dense<2.0>", "3xf32", [2] * 3),
    "one zero with a sign for all": ("dense<-0.0>", "3xf32", [-0.0] * 3),
    "one infinity for all": ("dense<0x7F800000>", "3xf32", [np.inf] * 3),
    "what is no number for all": ("dense<0xFFC00000>", "3xf32", [-np.nan] * 3),
    "one number that is too large": ("dense<1.0e39>", "3xf32", [np.inf] * 3),
}
PROGRAMS = texts_with_values("""
# names-that-are-types | "tensor<3xf32>", [-0.0, -1, -2]
%pred = stablehlo.constant dense<true> : tensor<i1> %token = stablehlo.iota dim = 0 : tensor<3xf32>
%0 = stablehlo.negate %token : tensor<3xf32>
# arc-tangent | "tensor<3xf32>", [0, np.pi / 4, -np.pi / 4]
%x = stablehlo.constant dense<[0.0, 1.0, -1.0]> : tensor<3xf32>
%0 = chlo.atan %x : tensor<3xf32> -> tensor<3xf32>
# names that are equal in HLO | "tensor<f32>", 0
%x_.2 = stablehlo.constant dense<3.0> : tensor<f32> %x_ = stablehlo.negate %x_.2 : tensor<f32>
%x$ = stablehlo.add %x_, %x_.2 : tensor<f32> %0 = stablehlo.abs %x$ : tensor<f32>
# a repeated constant around a loop | "tensor<2xf32>", [64, 64]
%two = stablehlo.constant dense<2.0> : tensor<2xf32>
%zero = stablehlo.constant dense<0> : tensor<i32> %end = stablehlo.constant dense<5> : tensor<i32>
%one = stablehlo.constant dense<1> : tensor<i32>
%l:2 = stablehlo.while(%i = %zero, %x = %two) : tensor<i32>, tensor<2xf32> cond {
  %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1> } do {
  %1 = stablehlo.add %i, %one : tensor<i32> %2 = stablehlo.multiply %x, %two : tensor<2xf32>
  stablehlo.return %1, %2 : tensor<i32>, tensor<2xf32> }
%0 = stablehlo.abs %l#1 : tensor<2xf32>
""")
NAMES_OF_HLO = ("f32", "u4", "f8e4m3fn", "opaque", "tuple", "nan", "ENTRY", "__x", "manual")

COMPUTED: dict[str, tuple[str, Any]] = {
    **{name: (constant(text, f"tensor<{of}>"), found)
       for name, (text, of, found) in CONSTANTS.items()},
    **{name: (f"func.func @main() -> {of} {{ {text} return %0 : {of} }}", found)
       for name, (text, of, found) in PROGRAMS.items()},
    **{f"names such as {name}": (named(name), [1, 2, 4]) for name in NAMES_OF_HLO},
}  # fmt: skip
"""Programs of no arguments, and what they compute."""


@pytest.mark.needs("jax")
@pytest.mark.parametrize(("text", "expected"), COMPUTED.values(), ids=COMPUTED)
def test_xla_computes_what_the_text_says(text: str, expected: Any) -> None:  # noqa: ANN401 - an array
    module = stablehlo.parse(text)
    read_by_xla(module)
    (found,) = oracle.program(str(module))()
    wanted = np.asarray(expected).astype(found.dtype)
    assert (found.shape, found.tobytes()) == (wanted.shape, wanted.tobytes())
