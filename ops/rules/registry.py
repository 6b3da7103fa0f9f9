"""The rules of all families, by opcode and by the target of a custom call.

:data:`REGISTRY` holds the rules of the library. A :class:`Registry` is a value, to which users add.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final, TypeAlias

from indexing import UndefinedMap
from indexing.layout import UNBOUNDED_SIZE, Shape, ShapeError
from ops.hlo import Instruction
from ops.hlo.opcodes import Arity, find_opcode
from ops.hlo.shape_inference import SHAPE_RULES
from ops.rules import rule
from ops.rules.data_movement import broadcast
from ops.rules.dynamic import of_dynamic_sizes, why_sizes_do_not_tell
from ops.rules.elementwise import elementwise
from ops.rules.linear_algebra import PAIRED_DIMENSIONS, dot
from ops.rules.reduce import top_k
from ops.rules.rule import Calls, Doubt, Maps, MapsFunction, OpIndexing, OpRule, Routes, Unknown
from ops.rules.windows import convolution_of
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
        changed = _changed(REGISTRY.opcodes, self.opcodes)
        return _registry_of, (changed, _changed(REGISTRY.custom_calls, self.custom_calls))

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
        if reason:
            return Unknown(f"{opcode}: {reason}")
        return of_dynamic_sizes(rule.maps, instruction)

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


_Changed: TypeAlias = "Mapping[str, OpRule | None]"
"""The rules that differ from those of the library; ``None`` for one that is missing."""


def _changed(standard: Mapping[str, OpRule], own: Mapping[str, OpRule]) -> _Changed:
    names = {**standard, **own}
    return {name: own.get(name) for name in names if own.get(name) is not standard.get(name)}


def _registry_of(*changes: _Changed) -> Registry:
    """The library's registry with some changes."""
    pairs = zip((REGISTRY.opcodes, REGISTRY.custom_calls), changes, strict=True)
    tables = ({**standard, **changed} for standard, changed in pairs)
    return Registry(*({name: rule for name, rule in each.items() if rule} for each in tables))


# Custom calls that compilers and frameworks write: a rule for each target.
#
# The maps of any other target are unknown, until a user registers a rule for it.


def _no_map(instruction: Instruction, why: str) -> Unknown:
    target = instruction.attributes["custom_call_target"]
    return Unknown(f"custom-call: no indexing map of {target}, because {why}")


def _arrays_in(instruction: Instruction) -> Iterator[Shape]:
    """All arrays in the operands, in order."""
    return (array for operand in instruction.operands for array in operand.shape.arrays)


def _passed_on(instruction: Instruction) -> Maps:
    """Passes every array on; a result of another size is a part of it on each device."""
    results, given = instruction.shape.arrays, [*_arrays_in(instruction)]
    if len(results) != len(given):
        return _no_map(instruction, f"it has {len(given)} arrays, but gives {len(results)}")
    if any(array.is_unbounded for array in (*results, *given)):
        return _no_map(instruction, "its sizes have no bound")
    parted = UndefinedMap(_no_map(instruction, "each device has a part of its own").reason)
    return {
        (number, number): elementwise([array.dimensions])
        if array.dimensions == result.dimensions
        else OpIndexing(result.dimensions, (parted,), (parted,))
        for number, (array, result) in enumerate(zip(given, results, strict=True))
    }


def _computed(instruction: Instruction) -> Maps:
    """Computes every result element by element from all operands."""
    sizes = {array.dimensions for array in (*instruction.shape.arrays, *_arrays_in(instruction))}
    if any(UNBOUNDED_SIZE in each for each in sizes):
        return _no_map(instruction, "its sizes have no bound")
    if len(sizes) != 1:
        return _no_map(instruction, "operands and results differ in size")
    return elementwise([array.dimensions for array in _arrays_in(instruction)])


def target_rule(build: MapsFunction, arity: Arity, *attributes: str) -> OpRule:
    """The rule of a target, which is unknown for calls that the target does not take.

    A target is only a name: somebody else may use it with other operands, attributes or sizes.
    """

    def maps(instruction: Instruction) -> Maps:
        missing = [name for name in attributes if name not in instruction.attributes]
        if missing or len(instruction.operands) not in arity:
            expected = " and ".join((str(arity), *missing))
            return _no_map(instruction, f"it takes {expected}")
        try:
            return build(instruction)
        except ShapeError as error:
            return _no_map(instruction, f"its operands do not fit: {error}")

    return OpRule(maps)


def _top_k(instruction: Instruction) -> Maps:
    """Finds the largest elements along the last dimension, and their indices."""
    (operand,) = instruction.operands
    (count,) = instruction.shape.arrays[0].dimensions[-1:] or (1,)
    return top_k(rule.sizes_of(operand), count)


# Libraries of a GPU. Behind the result stands scratch memory, which depends on nothing.


def _convolution(instruction: Instruction) -> Maps:
    """Computes a convolution, and may add a bias for each feature and another tensor."""
    _, _, *added = instruction.operands
    product = convolution_of(instruction)
    labels = instruction.attributes["dim_labels"]
    return _first_result(instruction, product, added, labels.output.index("f"))


def _matrix_product(instruction: Instruction) -> Maps:
    """Computes a dot, and may add a bias for each column or another tensor."""
    lhs, rhs, *added = instruction.operands
    dimensions = _dimension_numbers(instruction)
    if dimensions is None:
        return _no_map(instruction, "its backend_config names no dimensions")
    product = dot(rule.sizes_of(lhs), rule.sizes_of(rhs), **dimensions)
    return _first_result(instruction, product, added, len(product.output_sizes) - 1)


def _dimension_numbers(instruction: Instruction) -> dict[str, list[int]] | None:
    """The dimension numbers of a dot in the configuration of a backend."""
    try:
        config: Any = json.loads(instruction.attributes["backend_config"])
        numbers = config["gemm_backend_config"]["dot_dimension_numbers"]
        return {
            name: [int(number) for number in numbers.get(name.replace("dims", "dimensions"), ())]
            for name in PAIRED_DIMENSIONS
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _first_result(
    instruction: Instruction, product: OpIndexing, added: Sequence[Instruction], feature: int
) -> Maps:
    """The maps of a product and of its addends. The other results depend on nothing."""
    sizes = product.output_sizes
    if instruction.shape.arrays[0].dimensions != sizes:
        return _no_map(instruction, f"the result has other sizes than {sizes}")
    pairs = [*zip(product.output_to_input, product.input_to_output, strict=True)]
    for operand in added:
        axes = range(len(sizes)) if operand.shape.rank == len(sizes) else (feature,)
        term = broadcast(rule.sizes_of(operand), sizes, axes)
        pairs.append((term.output_to_input[0], term.input_to_output[0]))
    return {(0, number): OpIndexing.between(sizes, pair) for number, pair in enumerate(pairs)}


_OF_SHARDY: Final = (
    *("FuncResultSharding", "GlobalToLocalShape", "LocalToGlobalShape", "PropagationBarrier"),
    "Sharding",
)

ANNOTATIONS: Final = (
    *("AssumeGatherIndicesInBound", "LayoutConstraint", "MoveToDevice", "MoveToHost"),
    *("PinToDevice", "PinToDeviceSram", "SPMDFullToShardShape", "SPMDShardToFullShape"),
    *("Sharding", "annotate_device_placement"),
    *(f"xla.sdy.{name}" for name in _OF_SHARDY),
)
"""The targets of custom calls that pass arrays on, and say something about them."""

_ELEMENTWISE: Final = (
    *("X64Combine", "X64SplitHigh", "X64SplitLow"),
    *(f"{gpu}_threefry2x32{kind}" for gpu in ("cu", "hip") for kind in ("", "_ffi")),
)

_CONVOLUTIONS: Final = ("__cudnn$convBiasActivationForward", "__cudnn$convForward")

_MATRIX_PRODUCTS: Final = ("__cublas$gemm", "__cublas$lt$matmul")

CUSTOM_CALLS: Final[Mapping[str, OpRule]] = {
    **dict.fromkeys(ANNOTATIONS, OpRule(_passed_on)),
    **dict.fromkeys(_ELEMENTWISE, OpRule(_computed)),
    **dict.fromkeys(_CONVOLUTIONS, target_rule(_convolution, Arity(2, 4), "dim_labels")),
    **dict.fromkeys(_MATRIX_PRODUCTS, target_rule(_matrix_product, Arity(2, 4))),
    **dict.fromkeys(("TopK", "__gpu$TopK"), target_rule(_top_k, Arity(1, 1))),
}
"""Target of a custom call -> its rule."""


# All rules.


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
