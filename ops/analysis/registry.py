"""From an instruction to the maps between its operands and its results: tables by opcode.

What a :class:`Registry` holds for an opcode answers for its instructions; :data:`REGISTRY` holds
what the library knows. What calls a computation is followed by :mod:`ops.analysis.fusion`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from indexing.layout import ShapeError
from ops.adapters import BUILDERS, CALLERS, CUSTOM_CALLS, ROUTES
from ops.adapters.shared import Routes
from ops.builders.building import arrays_of
from ops.builders.op_indexing import Unknown
from ops.hlo.opcodes import find_opcode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.adapters.shared import Builder, Caller, Calls, Maps, Router, Rule
    from ops.hlo import Instruction


@dataclass(frozen=True, slots=True, eq=False)
class Registry:
    """What answers for which instruction: a value that is handed to the analyses.

    ``builders`` make the maps of an opcode, ``routes`` say which arrays an opcode passes on,
    ``callers`` say which computations it runs; ``custom_calls`` are builders by the target of a
    custom call. ``docs/custom_operations.md`` shows how to add to it.

    >>> from ops import hlo, output_to_input, transpose
    >>> def turn(instruction):
    ...     return transpose(instruction.operands[0].shape.dimensions, (1, 0))
    >>> text = 'f32[3,2] custom-call(p), custom_call_target="turn"'
    >>> module = hlo.parse(f"ENTRY e {{ p = f32[2,3] parameter(0) ROOT r = {text} }}")
    >>> print(*output_to_input(module.entry.root).indexing)
    unknown (custom-call: no indexing map of turn)
    >>> registry = REGISTRY.with_custom_call("turn", turn)
    >>> ((way,),) = output_to_input(module.entry.root, registry=registry).indexing
    >>> print(way)
    (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]
    """

    builders: Mapping[str, Builder]
    routes: Mapping[str, Router]
    callers: Mapping[str, Caller]
    custom_calls: Mapping[str, Builder]

    def with_custom_call(self, target: str, builder: Builder) -> Registry:
        """The registry in which ``builder`` answers for the custom calls of a target."""
        return replace(self, custom_calls={**self.custom_calls, target: builder})

    def with_opcode(self, opcode: str, builder: Builder) -> Registry:
        """The registry in which ``builder`` answers for an opcode, whatever did so before.

        Raises:
            ShapeError: there is no such opcode.
        """
        if find_opcode(opcode) is None:
            raise ShapeError(f"there is no opcode {opcode}")
        return replace(
            self,
            builders={**self.builders, opcode: builder},
            routes={other: router for other, router in self.routes.items() if other != opcode},
            callers={other: caller for other, caller in self.callers.items() if other != opcode},
        )

    def __reduce__(self) -> str | tuple[Callable[..., Registry], tuple[object, ...]]:
        """The library's own by name; of others, what differs from it."""
        if self is REGISTRY:
            return "REGISTRY"
        return _registry_of, tuple(map(_difference, _tables_of(self), _tables_of(REGISTRY)))

    def __repr__(self) -> str:
        """In few words: it stands in the signatures of functions, whose help it would fill."""
        return f"<Registry of {len(self.opcodes)} opcodes, {len(self.custom_calls)} custom calls>"

    @property
    def opcodes(self) -> frozenset[str]:
        """The opcodes that have maps."""
        return frozenset({*self.builders, *self.routes, *self.callers})

    def calls(self, instruction: Instruction) -> Calls | None:
        """The computations that an instruction runs, if it does."""
        caller = self.callers.get(instruction.opcode)
        return caller(instruction) if caller else None

    def rule(self, instruction: Instruction) -> Rule:
        """What is known of how arrays of the result and of the operands depend on each other.

        Raises:
            ShapeError: shapes and attributes of the instruction do not fit.
        """
        router = self.routes.get(instruction.opcode)
        return Routes(router(instruction)) if router else self._maps_of(instruction)

    def is_standard(self, instruction: Instruction) -> bool:
        """Whether the library's own tables answer; users' may look at what they like."""
        if self is REGISTRY:
            return True
        opcode, target = instruction.opcode, instruction.attributes.get("custom_call_target", "")
        return self.custom_calls.get(target) is CUSTOM_CALLS.get(target) and all(
            mine.get(opcode) is standard.get(opcode)
            for mine, standard in zip(_tables_of(self), _tables_of(REGISTRY), strict=True)
        )

    def _maps_of(self, instruction: Instruction) -> Maps:
        opcode = instruction.opcode
        target = instruction.attributes.get("custom_call_target", "")
        build = self.custom_calls.get(target) or self.builders.get(opcode)
        if build is None:
            of = f" of {target}" if target else ""
            return Unknown(f"{opcode}: no indexing map{of}")
        shapes = (instruction.shape, *(operand.shape for operand in instruction.operands))
        if any(array.is_unbounded for shape in shapes for array in arrays_of(shape)):
            return Unknown(f"{opcode}: no indexing map of dimensions without bound")
        return build(instruction)


_Table: TypeAlias = "Mapping[str, Callable[..., Any]]"


def _tables_of(registry: Registry) -> tuple[_Table, ...]:
    return registry.builders, registry.routes, registry.callers, registry.custom_calls


def _difference(table: _Table, standard: _Table) -> tuple[list[str], _Table]:
    """What the library's table has and this one has not, and what this one adds."""
    added = {name: found for name, found in table.items() if found is not standard.get(name)}
    return [name for name in standard if name not in table], added


def _registry_of(*differences: tuple[list[str], _Table]) -> Registry:
    """The registry that differs so much from the library's own."""
    pairs = zip(_tables_of(REGISTRY), differences, strict=True)
    return Registry(
        *(
            {name: standard[name] for name in standard if name not in missing} | {**added}
            for standard, (missing, added) in pairs
        )
    )


REGISTRY: Final = Registry(BUILDERS, ROUTES, CALLERS, CUSTOM_CALLS)
"""What the library answers for."""
