"""The rules of all families, by opcode and by the target of a custom call.

:data:`REGISTRY` holds the rules of the library. A :class:`Registry` is a value, to which users add.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from indexing.layout import ShapeError
from ops.hlo import Instruction
from ops.hlo.opcodes import find_opcode
from ops.hlo.shape_inference import SHAPE_RULES
from ops.rules.custom_calls import CUSTOM_CALLS
from ops.rules.dynamic_sizes import of_dynamic_sizes, why_sizes_do_not_tell
from ops.rules.rule import Calls, Doubt, Maps, MapsFunction, OpRule, Routes, Unknown
from simplifier.errors import check_type


@dataclass(frozen=True, slots=True, eq=False)
class Registry:
    """The rules that analyses use.

    ``opcodes`` has the rule of each opcode, ``custom_calls`` the rule of each target of a custom
    call. ``docs/custom_operations.md`` shows how to add to them.

    >>> from ops import hlo, output_to_input, transpose
    >>> def turn(instruction):
    ...     return transpose(instruction.operands[0].shape.dimensions, (1, 0))
    >>> text = 'f32[3,2] custom-call(p), custom_call_target="turn"'
    >>> module = hlo.parse(f"ENTRY e {{ p = f32[2,3] parameter(0) ROOT r = {text} }}")
    >>> print(*output_to_input(module.entry.root).indexing)
    unknown (custom-call: no indexing map of turn)
    >>> registry = REGISTRY.with_custom_call("turn", turn)
    >>> ((indexing,),) = output_to_input(module.entry.root, registry=registry).indexing
    >>> print(indexing)
    (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]
    """

    opcodes: Mapping[str, OpRule]
    custom_calls: Mapping[str, OpRule]

    def with_custom_call(self, target: str, maps: MapsFunction) -> Registry:
        """The registry in which ``maps`` answers for the custom calls of a target."""
        return replace(self, custom_calls={**self.custom_calls, target: OpRule(maps)})

    def with_opcode(self, opcode: str, maps: MapsFunction) -> Registry:
        """The registry in which ``maps`` answers for an opcode, instead of the rule it had.

        Raises:
            ShapeError: there is no such opcode.
        """
        if find_opcode(opcode) is None:
            raise ShapeError(f"there is no opcode {opcode}")
        return replace(self, opcodes={**self.opcodes, opcode: OpRule(maps)})

    def __reduce__(self) -> str | tuple[Callable[..., Registry], tuple[object, ...]]:
        """Pickle the library's own registry by name, others by their differences from it."""
        if self is REGISTRY:
            return "REGISTRY"
        return _registry_of, (
            _difference(self.opcodes, REGISTRY.opcodes),
            _difference(self.custom_calls, REGISTRY.custom_calls),
        )

    def __repr__(self) -> str:
        """A few words: this text stands in the signatures of functions."""
        return f"<Registry of {len(self.opcodes)} opcodes, {len(self.custom_calls)} custom calls>"

    def rule_of(self, instruction: Instruction) -> OpRule | None:
        """The rule that answers for an instruction: its target's before its opcode's."""
        target = instruction.attributes.get("custom_call_target", "")
        return self.custom_calls.get(target) or self.opcodes.get(instruction.opcode)

    def is_standard(self, instruction: Instruction) -> bool:
        """Whether the library's own rule answers; a rule of a user may look at anything."""
        return self is REGISTRY or self.rule_of(instruction) is REGISTRY.rule_of(instruction)

    def maps(self, instruction: Instruction) -> Maps:
        """The maps of an instruction, or why there are none.

        Raises:
            ShapeError: shapes and attributes of the instruction do not fit.
        """
        opcode, rule = instruction.opcode, self.rule_of(instruction)
        if rule is None or rule.maps is None:
            target = instruction.attributes.get("custom_call_target", "")
            of = f" of {target}" if target else ""
            return Unknown(f"{opcode}: no indexing map{of}")
        shapes = (instruction.shape, *(operand.shape for operand in instruction.operands))
        if not any(array.dynamic_dimensions for shape in shapes for array in shape.arrays):
            return rule.maps(instruction)
        reason = why_sizes_do_not_tell(instruction) if self.is_standard(instruction) else None
        return (
            Unknown(f"{opcode}: {reason}") if reason else of_dynamic_sizes(rule.maps, instruction)
        )

    def routes(self, instruction: Instruction) -> Routes | None:
        """The arrays that an instruction passes on; ``None`` if its rule has no routes."""
        rule = self.opcodes.get(instruction.opcode)
        return Routes(rule.routes(instruction)) if rule and rule.routes else None

    def calls(self, instruction: Instruction) -> Calls | None:
        """The computations that an instruction runs; ``None`` if its rule has no calls."""
        rule = self.opcodes.get(instruction.opcode)
        return rule.calls(instruction) if rule and rule.calls else None

    def doubt(self, instruction: Instruction, output: int, operand: int) -> Doubt | None:
        """The doubt whether an array of the result needs all elements of an operand, by values."""
        rule = self.rule_of(instruction)
        return rule.doubt(instruction, output, operand) if rule and rule.doubt else None


def check_registry(asker: str, registry: Registry) -> None:
    """Raise an :class:`ArgumentError` unless a registry is given."""
    check_type(registry, Registry, f"{asker}: the registry", "a Registry, such as ops.REGISTRY")


def _difference(
    rules: Mapping[str, OpRule], standard: Mapping[str, OpRule]
) -> tuple[list[str], dict[str, OpRule]]:
    """The missing rules of the library, and the added ones."""
    added = {name: rule for name, rule in rules.items() if rule is not standard.get(name)}
    return [name for name in standard if name not in rules], added


def _registry_of(*differences: tuple[list[str], Mapping[str, OpRule]]) -> Registry:
    """The library's registry with some differences."""
    standard = REGISTRY.opcodes, REGISTRY.custom_calls
    return Registry(
        *(
            {name: rule for name, rule in rules.items() if name not in missing} | {**added}
            for rules, (missing, added) in zip(standard, differences, strict=True)
        )
    )


def _tables() -> Iterator[Mapping[str, OpRule]]:
    """The table ``RULES`` of each module beside this one that has one."""
    package, _, own = __name__.rpartition(".")
    for found in iter_modules(sys.modules[package].__path__):
        if found.name != own:
            yield getattr(import_module(f"{package}.{found.name}"), "RULES", {})


TABLES: Final = tuple(_tables())
"""The rules of each family, by opcode; no two of them have one opcode."""

REGISTRY: Final = Registry(
    {opcode: rule for table in TABLES for opcode, rule in table.items()}, CUSTOM_CALLS
)
"""The rules of the library."""

SHAPE_RULES.update(
    (opcode, rule.shape) for opcode, rule in REGISTRY.opcodes.items() if rule.shape is not None
)
