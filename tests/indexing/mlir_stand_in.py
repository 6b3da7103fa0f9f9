"""A stand-in for MLIR that runs functions of ``affine`` and ``arith`` as JAX reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from indexing import from_affine_map


def functions_of(text: str) -> dict[str, Callable[..., list[int]]]:
    """The functions of a text, which MLIR itself reads and verifies."""
    from jax._src.interpreters.mlir import make_ir_context
    from jaxlib.mlir import ir

    with make_ir_context():
        module: Any = ir.Module.parse(text)  # pyright: ignore[reportUnknownMemberType]
        assert module.operation.verify()
        return {
            ir.StringAttr(function.attributes["sym_name"]).value: _function(function, module)
            for function in module.body.operations
        }


def _function(function: Any, module: object) -> Callable[..., list[int]]:  # noqa: ANN401 - MLIR's
    (block,) = function.regions[0].blocks
    parameters = list(block.arguments)
    steps = [_step(operation.operation) for operation in block.operations]

    def call(*values: int) -> list[int]:
        known: dict[Any, int] = dict(zip(parameters, values, strict=True))
        for name, operands, result, attribute in steps:
            inner = [known[operand] for operand in operands]
            if name == "func.return":
                return inner
            known[result] = _computed(name, inner, attribute)
        raise AssertionError(module)

    return call


def _step(operation: Any) -> tuple[str, list[Any], Any, Any]:  # noqa: ANN401 - MLIR's
    said = operation.attributes
    attribute = next((said[key] for key in ("map", "value", "predicate") if key in said), None)
    result = operation.results[0] if len(operation.results) else None
    return operation.name, list(operation.operands), result, attribute


_COMPARED = {0: "__eq__", 1: "__ne__", 2: "__lt__", 5: "__ge__"}


def _rounded_up(numerator: int, divisor: int) -> int:
    return -(-numerator // divisor)


def _remainder(numerator: int, divisor: int) -> int:
    return abs(numerator) % abs(divisor) * (-1 if numerator < 0 else 1)


def _selected(condition: int, yes: int, no: int) -> int:
    return yes if condition else no


_COMPUTED: Mapping[str, Any] = {
    "arith.addi": int.__add__, "arith.subi": int.__sub__, "arith.muli": int.__mul__,
    "arith.minsi": min, "arith.maxsi": max, "arith.floordivsi": int.__floordiv__,
    "arith.ceildivsi": _rounded_up, "arith.remsi": _remainder, "arith.andi": int.__and__,
    "arith.ori": int.__or__, "arith.xori": int.__xor__, "arith.select": _selected,
}  # fmt: skip


def _computed(name: str, operands: list[int], attribute: Any) -> int:  # noqa: ANN401
    if name == "affine.apply":
        text = str(attribute)
        return from_affine_map(text).evaluate(operands)[0]
    if name == "arith.constant":
        value = str(attribute).partition(" :")[0]
        return int({"true": "1", "false": "0"}.get(value, value))
    if name == "arith.cmpi":
        predicate = int(str(attribute).partition(" :")[0])
        return int(getattr(operands[0], _COMPARED[predicate])(operands[1]))
    return _COMPUTED[name](*operands)
