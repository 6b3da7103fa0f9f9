"""StableHLO as modules: reads a text, and writes its functions as computations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from indexing.layout import UNBOUNDED_SIZE, Layout, Shape, ShapeError
from ops.hlo.builder import InstructionBuilder, legal_name
from ops.hlo.errors import AttributeValueError
from ops.hlo.module import Computation, HloModule, Instruction
from ops.mlir.operations import Argument, MlirBlock, MlirModule, MlirOperation, read_module
from ops.mlir.text import DialectAttribute, Location, MlirTextError
from ops.sizes import Size
from ops.stablehlo.assembly import FORMS
from ops.stablehlo.given import (
    GivenOperation,
    ModuleContext,
    common_attributes,
    donations,
    entry_layouts,
    laid_out,
    mesh_of,
)
from ops.stablehlo.operations import CONSTRUCTIONS
from ops.stablehlo.sizes import RAW, SizedBuilder, TrackedSizes, note_division, solved
from ops.stablehlo.writer import OperationWriter, name_in_hlo
from simplifier import forms
from simplifier.errors import Span, check_type
from simplifier.forms import Form

# Writes one computation of HLO: the instructions for the operations of a function or a region.

_DIALECTS: Final = frozenset(["stablehlo", "chlo", "mhlo", "func", "sdy"])


class ComputationWriter(OperationWriter):
    """Writes blocks, and with them the operations in them."""

    # Blocks

    def parameters(
        self,
        arguments: Sequence[Argument],
        sizes: Mapping[int, tuple[Size, ...]] | None = None,
        layouts: Sequence[Layout | None] = (),
    ) -> None:
        """A parameter for each argument; ``sizes`` and ``layouts`` are those of some."""
        for number, argument in enumerate(arguments):
            layout = layouts[number] if number < len(layouts) else None
            shape = laid_out(self.module.shape_of(argument), layout)
            attributes = common_attributes(
                argument.attributes, argument.location, shape, self.module.context
            )
            self.values[argument.name.text] = self.builder.made(
                *("parameter", shape, (sizes[number],) if sizes and number in sizes else None),
                (),
                attributes,
                number=number,
                name=name_in_hlo(argument.name.text[1:], "v."),
                place=(argument.name.start, argument.name.start + len(argument.name.text)),
            )

    def run(self, block: MlirBlock) -> list[Instruction]:
        """What the block returns."""
        for operation in block.operations:
            if operation.name.rpartition(".")[2] == "return":
                return [self.value(name) for name in operation.operands]
            self.operation(operation)
        return []

    # Operations

    def operation(self, operation: MlirOperation) -> None:
        """Write the instructions of an operation."""
        operands = tuple(self.value(name) for name in operation.operands)
        given = GivenOperation(operation, self.module.text, operands)
        try:
            made = self._made(given)
        except (AttributeValueError, ShapeError) as error:
            given.fail(str(error))
        if len(made) != len(operation.types):
            given.fail(f"expected {len(made)} results, not {len(operation.types)}")
        self.values |= zip(operation.results, made, strict=False)

    def _made(self, given: GivenOperation) -> Sequence[Instruction]:
        dialect, _, _ = given.operation.name.rpartition(".")
        construct = CONSTRUCTIONS.get(given.name) if dialect in _DIALECTS else None
        if construct is None:
            given.fail("the operation has no counterpart in HLO")
        return construct(self, given)

    def region(
        self,
        given: GivenOperation,
        blocks: tuple[MlirBlock, ...],
        name: str,
        layouts: Sequence[Layout | None] = (),
    ) -> Computation:
        """A computation with the arguments of a region as parameters, in these layouts."""
        inside = self.inside()
        block = self.block_of(given, blocks)
        inside.parameters(block.arguments, layouts=layouts)
        return inside.finished(name, inside.run(block))

    def inlined(self, given: GivenOperation, name: str) -> Sequence[Instruction]:
        """The results of a function, whose instructions become part of this computation."""
        block = self.module.entered(name, given)
        if len(block.arguments) != len(given.operands):
            given.fail(f"@{name} takes {len(block.arguments)} values, not {len(given.operands)}")
        around, self.values = self.values, {}
        for argument, operand in zip(block.arguments, given.operands, strict=True):
            self.values[argument.name.text] = operand
            self.module.note_symbol(argument, operand)
        results = self.run(block)
        self.values = around
        self.module.left()
        note_division(self.module.sizes, name, given.operands, results)
        return results


# Writes the module: a computation for each function that is called, and the entry.

_OPEN: Final = re.compile(r"tensor<[^<>]*\?")
"""The type of an array with an open size."""

_MODULES: Final = frozenset(["builtin.module", "module"])

MAX_CALLS: Final = 100
"""Functions that call each other in a row: JAX writes a dozen, and Python's stack holds these."""


class ModuleWriter:
    """The computations so far, by the functions that they are."""

    def __init__(self, text: MlirModule, symbols: Mapping[str, Form] | None = None) -> None:
        self.text = text
        self.symbols: dict[str, Size] = {}
        """What each symbol of JAX is, in terms of the sizes of arguments."""
        self._solution = symbols or {}
        module = _module_of(text)
        self._attributes: Mapping[str, Any] = module.attributes if module else {}
        operations = [*_inside(text)]
        self._functions = {
            str(each.attributes.get("sym_name", "")): each
            for each in operations
            if each.name == "func.func"
        }
        locations = {
            name: value for name, value in text.aliases.items() if isinstance(value, Location)
        }
        self.context = ModuleContext(locations, dict(_meshes(operations)))
        self.is_polymorphic = self._attributes.get("jax.uses_shape_polymorphism") is True
        self.sizes = TrackedSizes(keeps_shapes=self.is_polymorphic)
        is_open = self.is_polymorphic or _OPEN.search(text.source) is not None
        self._shared = SizedBuilder(self.sizes) if is_open else InstructionBuilder()
        self._made: dict[str, Computation] = {}
        self._waiting: list[str] = []

    def module(self) -> HloModule:
        """The module, whose entry is the function ``main`` or else the first public one."""
        main = self._entry()
        entry = self._function(main, is_entry=True)
        attributes = dict(self._counts()) | self._donations(self._functions[main], entry.root)
        own = self._attributes.get("sym_name")
        name = legal_name(name_in_hlo(str(own), "module_")) if own else f"module_{entry.name}"
        return HloModule(
            *(name, tuple(self._shared.computations), entry),
            *(MappingProxyType(attributes), self.text.source, self.text.file),
            size_facts=tuple(self.sizes.facts),
        )

    def _entry(self) -> str:
        names = [name for name, each in self._functions.items() if each.regions]
        if not names:
            start = self.text.operations[0].start if self.text.operations else 0
            message = "expected a function, such as func.func @main, but there is none with a body"
            raise self.error(message, start, start + 1)
        public = (name for name in names if not _is_private(self._functions[name]))
        return "main" if "main" in names else next(public, names[0])

    def _counts(self) -> Iterator[tuple[str, int]]:
        for name, own in _COUNTS.items():
            count = self._attributes.get(name)
            if isinstance(count, int) and count > 1:
                yield own, count

    def _donations(self, main: MlirOperation, root: Instruction) -> dict[str, Any]:
        found: dict[str, Any] = {}
        try:
            for name, each in donations(main.regions[0][0].arguments, root.shape):
                found[name] = (*found.get(name, ()), each)
        except ShapeError as error:
            GivenOperation(main, self.text).fail(str(error))
        return found

    def function(self, name: str, caller: GivenOperation) -> Computation:
        """The computation of a function.

        Raises:
            MlirTextError: there is no such function, or it calls itself.
        """
        if name in self._made:
            return self._made[name]
        self._check(name, caller)
        return self._function(name)

    def entered(self, name: str, caller: GivenOperation) -> MlirBlock:
        """The body of a function that becomes part of its caller.

        Raises:
            MlirTextError: there is no such function, or it calls itself.
        """
        self._check(name, caller)
        (region,) = self._functions[name].regions
        if len(region) != 1:
            caller.fail(f"function @{name} has {len(region)} blocks; expected 1")
        self._waiting.append(name)
        return region[0]

    def left(self) -> None:
        """The body is written."""
        self._waiting.pop()

    def note_symbol(self, argument: Argument, value: Instruction) -> None:
        """Keep what a symbol of JAX is, if the argument is one."""
        name = argument.attributes.get("jax.global_constant")
        found = self.sizes.values(value)
        if isinstance(name, str) and name and found is not None:
            self.symbols.setdefault(name, found[0])

    def _check(self, name: str, caller: GivenOperation) -> None:
        if name not in self._functions or not self._functions[name].regions:
            caller.fail(f"there is no function @{name} with a body")
        if name in self._waiting:
            caller.fail(f"function @{name} calls itself")
        if len(self._waiting) >= MAX_CALLS:
            caller.fail(f"functions call each other more than {MAX_CALLS} deep")

    def _function(self, name: str, *, is_entry: bool = False) -> Computation:
        self._waiting.append(name)
        operation = self._functions[name]
        given = GivenOperation(operation, self.text)
        writer = ComputationWriter(self, self.builder())
        block = writer.block_of(given, operation.regions[0] if operation.regions else ())
        sizes = self._sizes_of(block.arguments) if is_entry and self.is_polymorphic else {}
        layouts = entry_layouts(self._attributes) if is_entry else ()
        writer.parameters(block.arguments, sizes, layouts)
        self._made[name] = writer.finished(name_in_hlo(name, "_"), writer.run(block))
        self._waiting.pop()
        return self._made[name]

    def _sizes_of(self, arguments: Sequence[Argument]) -> dict[int, tuple[Size, ...]]:
        """The sizes of the arguments of the program, as far as they are open, by number."""
        found: dict[int, tuple[Size, ...]] = {}
        for number, argument in enumerate(arguments):
            shape = self.shape_of(argument)
            if shape.is_unbounded and shape.is_array:
                pairs = enumerate(shape.dimensions)
                found[number] = tuple(
                    self._open_size(number, axis) if size == UNBOUNDED_SIZE else size
                    for axis, size in pairs
                )
        return found

    def _open_size(self, number: int, axis: int) -> Form:
        name = f"{RAW}{number}_{axis}"
        return self._solution.get(name, forms.variable(name))

    # What writers of computations ask

    def builder(self) -> InstructionBuilder:
        """A builder for another computation."""
        return self._shared.nested(own_names=True)

    def error(self, message: str, start: int, stop: int) -> MlirTextError:
        """An error about a part of the text."""
        return MlirTextError(message, Span(self.text.source, start, stop, self.text.file))

    def shape_of(self, argument: Argument) -> Shape:
        """The shape of an argument.

        Raises:
            MlirTextError: it is no array, tuple or token.
        """
        if not isinstance(argument.type, Shape):
            start, name = argument.name.start, argument.name.text
            message = f"expected {name} to be an array, a tuple or a token"
            raise self.error(message, start, start + max(len(name), 1))
        return argument.type


_COUNTS: Final = {"mhlo.num_replicas": "replica_count", "mhlo.num_partitions": "num_partitions"}
"""Attributes of modules that are numbers of devices, and their names in HLO."""


def _is_private(function: MlirOperation) -> bool:
    return function.attributes.get("sym_visibility") == "private"


def _module_of(text: MlirModule) -> MlirOperation | None:
    return next((each for each in text.operations if each.name in _MODULES), None)


def _inside(text: MlirModule) -> Iterator[MlirOperation]:
    """The functions and meshes of a text, in a module or not."""
    for each in text.operations:
        if each.name in _MODULES:
            yield from (
                op for region in each.regions for block in region for op in block.operations
            )
        else:
            yield each


def _meshes(operations: list[MlirOperation]) -> Iterator[tuple[str, Mapping[str, int]]]:
    for each in operations:
        mesh: Any = each.attributes.get("mesh")
        if isinstance(mesh, DialectAttribute):
            yield str(each.attributes.get("sym_name", "")), mesh_of(mesh.body)


# StableHLO from text: `parse` gives the HLO module that does the same.


def parse(text: str, file: str = "") -> HloModule:
    """The HLO module of a StableHLO text; errors name the ``file``.

    The text is what ``jax.jit(f).lower(x).as_text()`` and the ``mlir_module()`` of ``jax.export``
    print, in the form of the dialect or in MLIR's generic form. A value ``%4`` of an operation
    ``stablehlo.add`` becomes the instruction ``%add.4``, its result ``%4#1`` the instruction
    ``%add.4.1``; named values such as ``%arg0`` keep their names.

    Raises:
        MlirTextError: the text does not follow the grammar, or has no meaning in HLO.

    >>> module = parse('''
    ... func.func @main(%arg0: tensor<8x16xf32>) -> tensor<8xf32> {
    ...   %cst = stablehlo.constant dense<0.0> : tensor<f32>
    ...   %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1]
    ...     : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
    ...   return %0 : tensor<8xf32>
    ... }''')
    >>> module.entry.root
    <%reduce.0 = f32[8]{0} reduce(%arg0, %cst), dimensions={1}, to_apply=%reduce.0.to_apply>
    """
    check_type(text, str, "stablehlo.parse: the text", "a string")
    read = read_module(text, file, FORMS)
    writer = ModuleWriter(read)
    module = writer.module()
    if not writer.symbols:
        return module
    return ModuleWriter(read, solved(writer.symbols, module.size_facts)).module()


_BEGINNING: Final = re.compile(
    r"""(?:\s|//[^\n]*\n|[#!][\w.$]+\s*=[^\n]*\n)*
    (?:module\b(?=\s*(?:@|attributes\b|\{\s*(?:\}|\#|"|func\.|sdy\.)))|"?builtin\.module\b|"?func\.func\b)""",
    re.VERBOSE,
)
"""Comments and names of locations, types and maps stand before the module."""


def is_stablehlo(text: str) -> bool:
    """Whether a text begins as a module of MLIR.

    >>> is_stablehlo("module @jit_f {}"), is_stablehlo("HloModule m")
    (True, False)
    """
    return _BEGINNING.match(text) is not None
