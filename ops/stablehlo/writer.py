"""What writes instructions for operations: how values are found, and instructions are made."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, Self, TypeAlias

from indexing.layout import UNBOUNDED_SIZE, Layout, Shape
from ops.hlo.attributes import ENUMERATIONS
from ops.hlo.builder import InstructionBuilder
from ops.hlo.literal import Literal
from ops.hlo.module import Computation, Instruction
from ops.hlo.opcodes import OPCODES
from ops.hlo.shape_inference import one_or_tuple
from ops.hlo.verifier import verify
from ops.mlir.operations import Argument, MlirBlock, MlirModule, Name
from ops.mlir.text import MlirTextError, Number
from ops.sizes import Size
from ops.stablehlo.given import GivenOperation, ModuleContext, common_attributes
from ops.stablehlo.sizes import TrackedSizes
from simplifier.errors import quoted


class SurroundingModule(Protocol):
    """The module around a computation that is written."""

    text: MlirModule
    context: ModuleContext
    sizes: TrackedSizes
    is_polymorphic: bool
    """Whether JAX exported the module with symbolic shapes."""

    def builder(self) -> InstructionBuilder:
        """A builder for another computation."""
        ...

    def function(self, name: str, caller: GivenOperation) -> Computation:
        """The computation of a function."""
        ...

    def entered(self, name: str, caller: GivenOperation) -> MlirBlock:
        """The body of a function that becomes part of its caller."""
        ...

    def left(self) -> None:
        """The body is written."""
        ...

    def note_symbol(self, argument: Argument, value: Instruction) -> None:
        """Keep what a symbol of JAX is, if the argument is one."""
        ...

    def error(self, message: str, start: int, stop: int) -> MlirTextError:
        """An error about a part of the text."""
        ...

    def shape_of(self, argument: Argument) -> Shape:
        """The shape of an argument."""
        ...


class OperationWriter(ABC):
    """The instructions of a computation so far; ``values`` are those of the names in the text."""

    def __init__(
        self,
        module: SurroundingModule,
        builder: InstructionBuilder,
        outer: OperationWriter | None = None,
    ) -> None:
        self.module = module
        self.builder = builder
        self.values: dict[str, Instruction] = {}
        self._outer = outer

    @abstractmethod
    def run(self, block: MlirBlock) -> list[Instruction]:
        """What the block returns."""

    @abstractmethod
    def region(
        self,
        given: GivenOperation,
        blocks: tuple[MlirBlock, ...],
        name: str,
        layouts: Sequence[Layout | None] = (),
    ) -> Computation:
        """A computation with the arguments of a region as parameters, in these layouts."""

    @abstractmethod
    def inlined(self, given: GivenOperation, name: str) -> Sequence[Instruction]:
        """The results of a function, whose instructions become part of this computation."""

    # Computations

    def inside(self) -> Self:
        """A writer for a region of this computation."""
        return type(self)(self.module, self.module.builder(), self)

    def finished(self, name: str, results: Sequence[Instruction]) -> Computation:
        """The computation, with one result or a tuple of several."""
        if len(results) == 1:
            return self.builder.computation(name, self.builder.instructions, results[0])
        shape = Shape.of_tuple([each.shape for each in results])
        root = self.builder.made("tuple", shape, None, results, name="results")
        return self.builder.computation(name, self.builder.instructions, root)

    def called(self, given: GivenOperation, names: Sequence[str]) -> dict[str, Computation]:
        """The computations of the regions of an operation, by the attributes that they are."""
        regions = given.operation.regions
        if len(regions) != len(names):
            given.fail(f"expected {len(names)} regions, not {len(regions)}")
        return {
            name: self.region(given, region, f"{self.name_of(given)}.{name}")
            for name, region in zip(names, regions, strict=True)
        }

    # Values

    def value(self, name: Name) -> Instruction:
        """The instruction of a name; constants from around a region are copied into it.

        Raises:
            MlirTextError: no value of this name is known here.
        """
        found = self.values.get(name.text)
        if found is not None:
            return found
        around = self._outer and self._outer.find(name.text)
        if around is None:
            message = f"expected a value that is defined before, but there is no {name.text}"
            raise self.module.error(message, name.start, name.start + len(name.text))
        if not is_constant(around):
            message = f"a region of this operation cannot read {name.text} from around it"
            raise self.module.error(message, name.start, name.start + len(name.text))
        self.values[name.text] = self._copied(around)
        return self.values[name.text]

    def _copied(self, constant: Instruction) -> Instruction:
        operands = [*map(self._copied, constant.operands)]
        return self.builder.made(
            *(constant.opcode, constant.shape, constant.sizes, operands, constant.attributes),
            literal=constant.literal,
            name=constant.name,
            place=(constant.start, constant.stop),
        )

    def find(self, name: str) -> Instruction | None:
        """The instruction of a name, here or around."""
        found = self.values.get(name)
        return found if found is not None or self._outer is None else self._outer.find(name)

    def block_of(self, given: GivenOperation, blocks: tuple[MlirBlock, ...]) -> MlirBlock:
        """The only block of a region."""
        if len(blocks) != 1:
            given.fail(f"expected regions of one block, not of {len(blocks)}")
        return blocks[0]

    # Instructions

    def results(
        self,
        given: GivenOperation,
        opcode: str,
        attributes: dict[str, Any],
        operands: Sequence[Instruction] | None = None,
    ) -> list[Instruction]:
        """An instruction with the results of an operation: itself, or the elements of a tuple."""
        shapes = given.shapes
        read = given.operands if operands is None else operands
        made = self.add(given, opcode, one_or_tuple(shapes), read, attributes)
        return self.elements(given, made, len(shapes))

    def add(  # noqa: PLR0913 - the fields of an instruction
        self,
        given: GivenOperation,
        opcode: str,
        shape: Shape,
        operands: Sequence[Instruction],
        attributes: dict[str, Any],
        *,
        literal: Literal | None = None,
        sizes: tuple[Size, ...] | None = None,
        name: str = "",
    ) -> Instruction:
        """An instruction for an operation; ``sizes`` are those of an array with open ones.

        It is checked as one that is read from HLO.
        """
        _check(given, opcode, len(operands), attributes)
        operation = given.operation
        noted = common_attributes(
            operation.attributes, operation.location, shape, self.module.context
        )
        own = self.name_of(given)
        made = self.builder.made(
            *(opcode, shape, None if sizes is None else (sizes,), operands, attributes | noted),
            literal=literal,
            name=f"{own}.{name}" if name else own,
            place=(operation.start, operation.stop),
        )
        verify(made)
        return made

    def name_of(self, given: GivenOperation) -> str:
        """The name of the value, behind that of the operation if it is a number only."""
        results = given.operation.results
        value = results[0].partition("#")[0][1:] if results else ""
        return (
            f"{given.name}.{value}" if value.isdecimal() or not value else name_in_hlo(value, "v.")
        )

    def elements(self, given: GivenOperation, made: Instruction, count: int) -> list[Instruction]:
        """An instruction as so many results: itself, or the elements of a tuple."""
        if count == 1:
            return [made]
        return [self.element(given, made, place) for place in range(count)]

    def element(self, given: GivenOperation, made: Instruction, place: int) -> Instruction:
        """An element of a tuple."""
        elements = made.shape.elements if made.shape.is_tuple else ()
        if place >= len(elements):
            given.fail(f"{made.shape} has no element {place}")
        return self.builder.made(
            *("get-tuple-element", elements[place], None, [made], {"index": place}),
            name=f"{made.name}.{place}",
            place=(given.operation.start, given.operation.stop),
        )

    def shaped(
        self,
        given: GivenOperation,
        opcode: str,
        operand: Instruction,
        sizes: Sequence[int],
        attributes: dict[str, Any] | None = None,
        *,
        name: str,
    ) -> Instruction:
        """The elements of an array in one of other sizes."""
        shape = Shape(operand.shape.element_type, tuple(sizes))
        return self.add(given, opcode, shape, [operand], attributes or {}, name=name)

    def broadcast(
        self,
        given: GivenOperation,
        operand: Instruction,
        shape: Shape,
        axes: tuple[int, ...],
        *,
        sizes: tuple[Size, ...] | None = None,
        name: str = "",
    ) -> Instruction:
        """An array repeated; dimensions of size 1 that are stretched are taken out before."""
        own = operand.shape.dimensions
        if len(axes) != len(own) or not all(0 <= axis < shape.rank for axis in axes):
            given.fail(f"dimensions {axes} do not lead from {operand.shape} to {shape}")
        pairs = [*zip(axes, own, strict=True)]
        kept = [(axis, size) for axis, size in pairs if size != 1 or shape.dimensions[axis] == 1]
        for axis, size in kept:
            if shape.dimensions[axis] not in {size, UNBOUNDED_SIZE} and size != UNBOUNDED_SIZE:
                message = f"a dimension of size {size} becomes one of {shape.dimensions[axis]}"
                given.fail(f"{message}; expected {size}, or 1 to stretch")
        if len(kept) < len(own):
            operand = self._thin(given, operand, axes, kept, name)
        result = Shape(operand.shape.element_type, shape.dimensions, shape.layout)
        attributes = {"dimensions": tuple(axis for axis, _ in kept)}
        return self.add(given, "broadcast", result, [operand], attributes, sizes=sizes, name=name)

    def _thin(
        self,
        given: GivenOperation,
        operand: Instruction,
        axes: tuple[int, ...],
        kept: Sequence[tuple[int, int]],
        name: str,
    ) -> Instruction:
        """An array without the dimensions of size 1 that are stretched."""
        shape = Shape(operand.shape.element_type, tuple(size for _, size in kept))
        before = self.module.sizes.sizes(operand)
        places = [place for place, axis in enumerate(axes) if axis in {axis for axis, _ in kept}]
        sizes = tuple(before[place] for place in places) if shape.is_unbounded else None
        sizes = None if sizes is None or UNBOUNDED_SIZE in sizes else sizes
        return self.add(given, "reshape", shape, [operand], {}, sizes=sizes, name=f"{name}thin")

    def constant(
        self, given: GivenOperation, shape: Shape, values: tuple[Number, ...] | None
    ) -> Instruction:
        """A constant; one value for all elements is a scalar that is repeated, as in XLA."""
        count = shape.element_count
        is_repeated = values is not None and len(values) == 1 != count and count > 0
        of = Shape(shape.element_type) if is_repeated else shape
        literal = Literal.of(of, values if count else ())
        made = self.add(given, "constant", of, (), {}, literal=literal, name="value" * is_repeated)
        return self.broadcast(given, made, shape, ()) if is_repeated else made

    def elementwise(
        self, given: GivenOperation, name: str, operands: Sequence[Instruction]
    ) -> Instruction:
        """An operation that HLO does not have, mapped over elements."""
        shape = given.shape
        inside = self.module.builder()
        scalars = [
            inside.made(
                *("parameter", Shape(each.shape.element_type), None),
                number=number,
                name=f"element{number}",
            )
            for number, each in enumerate(operands)
        ]
        target = {"custom_call_target": name}
        inside.made("custom-call", Shape(shape.element_type), None, scalars, target)
        called = inside.computation(f"{self.name_of(given)}.element", inside.instructions)
        attributes = {"dimensions": tuple(range(shape.rank)), "to_apply": called}
        return self.add(given, "map", shape, operands, attributes)

    def bundled(
        self, given: GivenOperation, values: Sequence[Instruction], name: str = "operands"
    ) -> Instruction:
        """A value, or a tuple of several."""
        if len(values) == 1:
            return values[0]
        shape = Shape.of_tuple([each.shape for each in values])
        return self.add(given, "tuple", shape, values, {}, name=name)


def _check(
    given: GivenOperation, opcode: str, operands: int, attributes: Mapping[str, Any]
) -> None:
    """Check what the text of an instruction could not say in another way."""
    known = OPCODES[opcode]
    if operands not in known.arity:
        given.fail(f"expected {known.arity}, not {operands}")
    for required in known.required:
        if required not in attributes:
            given.fail(f"expected attribute {required}")
    for name, value in attributes.items():
        words = _WORDS.get(name)
        if words and value not in words:
            given.fail(f"{name} is {quoted(value)}; expected one of {', '.join(words)}")


_WORDS: Final = {name: tuple(words.split()) for name, words in ENUMERATIONS.items()}
"""What attributes may be of which HLO knows all values."""


def is_constant(instruction: Instruction) -> bool:
    """Whether an instruction is a constant, or one that is repeated."""
    is_repeated = instruction.opcode == "broadcast"
    return (instruction.operands[0] if is_repeated else instruction).opcode == "constant"


def name_in_hlo(name: str, before: str) -> str:
    """A name of MLIR, without its mark, as one of HLO; what begins with no letter has ``before``.

    >>> name_in_hlo("arg0", "v."), name_in_hlo("0", "v."), name_in_hlo("$x", "v.")
    ('arg0', 'v.0', '_x')
    """
    plain = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else before + plain


# Operations of StableHLO that one function writes: the type of such functions.

Construction: TypeAlias = "Callable[[OperationWriter, GivenOperation], Sequence[Instruction]]"
"""From an operation to an instruction for each result."""

AttributesOf: TypeAlias = "Callable[[GivenOperation], dict[str, Any]]"
"""From an operation to the attributes of its instruction."""


def one_instruction(opcode: str, attributes: AttributesOf, *computations: str) -> Construction:
    """An operation that is one instruction; its regions are ``computations``."""

    def construct(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
        called = writer.called(given, computations)
        return writer.results(given, opcode, attributes(given) | called)

    return construct
