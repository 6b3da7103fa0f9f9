"""Writes the module: a computation for each function that is called, and the entry."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from indexing.layout import UNBOUNDED_SIZE, Shape, ShapeError
from ops.hlo.instruction_builder import InstructionBuilder, legal_name
from ops.hlo.module import HloModule
from ops.hlo.stablehlo.common_attributes import ModuleContext
from ops.hlo.stablehlo.computation_writer import ComputationWriter
from ops.hlo.stablehlo.entry_attributes import donations, entry_layouts
from ops.hlo.stablehlo.given_operation import GivenOperation
from ops.hlo.stablehlo.operation_writer import name_in_hlo
from ops.hlo.stablehlo.shardings import mesh_of
from ops.hlo.stablehlo.tracked_sizes import RAW, SizedBuilder, TrackedSizes
from ops.mlir.locations import Location
from ops.mlir.mlir_attributes import DialectAttribute
from ops.mlir.mlir_lexer import MlirTextError
from simplifier.errors import Span
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ops.hlo.module import Computation, Instruction
    from ops.mlir.operation import Argument, MlirBlock, MlirModule, MlirOperation
    from ops.sizes import Size
    from simplifier.expr.form import Form

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
