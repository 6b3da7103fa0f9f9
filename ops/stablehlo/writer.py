"""Writes StableHLO as HLO: functions and regions as computations, with their instructions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from indexing.layout import UNBOUNDED_SIZE, Kind, Layout, Shape, ShapeError
from indexing.passes import Constraint, parameter_identifier
from ops.hlo.attributes import ENUMERATIONS
from ops.hlo.builder import InstructionBuilder, legal_name
from ops.hlo.errors import AttributeValueError
from ops.hlo.literal import Literal
from ops.hlo.module import Computation, HloModule, Instruction
from ops.hlo.opcodes import OPCODES
from ops.hlo.shape_inference import one_or_tuple, sizes_of_result, verify
from ops.hlo.true_sizes import values_of_result
from ops.index_maps import Size, as_form, plain
from ops.mlir.operations import Argument, MlirBlock, MlirModule, MlirOperation, Name
from ops.mlir.text import DialectAttribute, Location, MlirTextError, Number
from ops.stablehlo import given
from ops.stablehlo.given import ModuleContext, SourceOperation
from simplifier import forms
from simplifier.errors import Span, quoted
from simplifier.forms import AtomKind, Form, Interval

# Sizes that a program computes: those of `jax.export` with symbolic shapes.
#
# JAX writes such sizes as arithmetic on `get_dimension_size`. It is followed here, as forms over
# the sizes of the arguments, so that arrays of open sizes (`?`) have them. Functions are part of
# their callers. JAX names the symbols, `jax.global_constant`: the sizes are solved for them.

Values = tuple["Size | None", ...]
"""The elements of a small array of integers, as far as they are known."""

RAW: Final = parameter_identifier("size_of_argument_")
"""How identifiers of sizes begin of which no symbol of JAX is known yet."""

_MAX_ELEMENTS: Final = 16
"""Of an array whose values are followed: a shape has as many as dimensions."""


class SizedBuilder(InstructionBuilder):
    """A builder that follows the values of small arrays of integers, and the sizes of arrays.

    It does if some ``is_open``. In programs of JAX, ``keeps_shapes``, no iteration of a loop
    changes a size.
    """

    def __init__(self, *, is_open: bool, keeps_shapes: bool) -> None:
        super().__init__()
        self._is_open = is_open
        self._keeps_shapes = keeps_shapes
        self.facts: dict[Constraint, None] = {}
        self._values: dict[Instruction, Values] = {}

    def made(
        self,
        opcode: str,
        shape: Shape,
        sizes: tuple[tuple[Size, ...], ...] | None,
        operands: Sequence[Instruction] = (),
        attributes: Mapping[str, Any] | None = None,
        **others: Any,  # noqa: ANN401 - those of the builder
    ) -> Instruction:
        """An instruction, of which sizes and values are followed."""
        if not self._is_open:
            return super().made(opcode, shape, sizes, operands, attributes, **others)
        if sizes is None and any(array.dynamic_dimensions for array in shape.arrays):
            sizes = self._rows(Instruction("", opcode, shape, tuple(operands), attributes or {}))
        made = super().made(opcode, shape, sizes, operands, attributes, **others)
        self._note(made)
        return made

    def sizes(self, instruction: Instruction, element: int = 0) -> Sequence[Size]:
        """The sizes of an array; an open one is :data:`UNBOUNDED_SIZE`."""
        if instruction.sizes is not None:
            return instruction.sizes[element]
        return instruction.shape.arrays[element].dimensions

    def value(self, instruction: Instruction) -> Size:
        """The value of a scalar, for the rules of sizes."""
        found = self.values(instruction)
        return UNBOUNDED_SIZE if found is None else found[0]

    def values(self, instruction: Instruction) -> tuple[Size, ...] | None:
        """The elements of an array of integers, if all are known."""
        found = self._values.get(instruction, (None,))
        known = tuple(each for each in found if each is not None)
        return known if len(known) == len(found) else None

    def set_values(self, instruction: Instruction, values: Values) -> None:
        """Set the values that an instruction computes."""
        self._values[instruction] = values

    def note_division(
        self, function: str, operands: Sequence[Instruction], results: Sequence[Instruction]
    ) -> None:
        """Follow the results of a function that JAX divides sizes with."""
        combines = _DIVISIONS.get(re.sub(r"_\d+$", "", function), ())
        values = [self.values(operand) for operand in operands[-2:]]  # symbols stand before them
        if len(combines) != len(results) or len(values) != 2:  # noqa: PLR2004 - a pair
            return
        one, other = values
        if one is None or other is None or not isinstance(other[0], int) or other[0] < 1:
            return
        for combine, result in zip(combines, results, strict=True):
            self.set_values(result, (plain(combine(as_form(one[0]), as_form(other[0]))),))

    def _note(self, instruction: Instruction) -> None:
        """Follow the values of an instruction."""
        shape = instruction.shape
        is_small = shape.is_array and shape.rank < 2 and not shape.is_unbounded  # noqa: PLR2004
        if not is_small or shape.element_count > _MAX_ELEMENTS:
            return
        if shape.element_type.kind not in {Kind.SIGNED, Kind.UNSIGNED}:
            return
        found = values_of_result(instruction, self)
        if found is not None and len(found) == shape.element_count:
            self._values[instruction] = tuple(found)

    def _rows(self, made: Instruction) -> tuple[tuple[Size, ...], ...] | None:
        """The sizes of the arrays of a result, if all follow."""
        if made.opcode == "while":
            return made.operands[0].sizes if self._keeps_shapes else None
        if made.opcode == "conditional":
            return self._of_branches(made)
        before = ((each, number) for each in made.operands for number in each.shape.array_indices)
        if any(UNBOUNDED_SIZE in self.sizes(*each) for each in before):
            return None
        found, arrays = sizes_of_result(made, self), made.shape.arrays
        if [*map(len, found)] != [array.rank for array in arrays]:
            return None
        rows = zip(found, (array.dimensions for array in arrays), strict=True)
        pairs = (zip(row, sizes, strict=True) for row, sizes in rows)
        return closed([[known if n == UNBOUNDED_SIZE else n for known, n in row] for row in pairs])

    def _of_branches(self, conditional: Instruction) -> tuple[tuple[Size, ...], ...] | None:
        """The sizes of the results of all branches, if those of each are the same."""
        roots = [branch.root for branch in conditional.branches]
        rows = {
            tuple(tuple(self.sizes(root, number)) for number in root.shape.array_indices)
            for root in roots
        }
        return closed(next(iter(rows))) if len(rows) == 1 else None


def closed(rows: Sequence[Sequence[Size | None]]) -> tuple[tuple[Size, ...], ...] | None:
    """Sizes of arrays, if none is open."""
    found = tuple(tuple(size for size in row if size is not None) for row in rows)
    is_closed = all(len(row) == len(given) for row, given in zip(found, rows, strict=True))
    return found if is_closed and all(UNBOUNDED_SIZE not in row for row in found) else None


_DIVISIONS: Final[Mapping[str, Sequence[Callable[[Form, Form], Form]]]] = {
    "divmod": (forms.floordiv, forms.mod),
    "floor_divide": (forms.floordiv,),
    "remainder": (forms.mod,),
}
"""Functions of JAX that divide and round down; their bodies do it by cases."""


# Symbols.


def solved(symbols: Mapping[str, Size], facts: Iterable[Constraint]) -> dict[str, Form]:
    """The sizes of arguments in terms of symbols, from each symbol in terms of sizes.

    Sizes of which no symbol is made are solved for where ``facts`` say that others equal them.
    """
    found = _of_symbols(symbols)
    for form, interval in facts:
        zero = forms.substitute((form,), found)[0]
        name = next((each for each in forms.variables_of((zero,)) if each.startswith(RAW)), None)
        atom = None if name is None else forms.variable_atom(name)
        coefficient = zero.terms.get(atom, 0) if atom else 0
        if interval == Interval(0, 0) and name is not None and abs(coefficient) == 1:
            found[name] = forms.variable(name) - zero * coefficient
    return found


def _of_symbols(symbols: Mapping[str, Size]) -> dict[str, Form]:
    found: dict[str, Form] = {}
    for name, value in symbols.items():
        form = forms.substitute((as_form(value),), found)[0]
        factor, whole = 1, form
        atom = form.only_atom
        if atom is not None and atom.kind is AtomKind.FLOORDIV and atom.arguments[1].is_constant:
            whole, factor = atom.arguments[0], atom.arguments[1].constant
        known = forms.variable(parameter_identifier(name))
        variables = (each for each in whole.terms if each.kind is AtomKind.VARIABLE)
        unknown = next((each for each in variables if each.name.startswith(RAW)), None)
        if unknown is not None and whole.terms[unknown] == 1:
            found[unknown.name] = known * factor - (whole - Form(0, {unknown: 1}))
    return found


def fact(left: Size, right: Size, direction: str) -> Constraint | None:
    """The fact in a comparison of sizes; ``None`` if it always holds."""
    interval = {"EQ": Interval(0, 0), "GE": Interval(0, None)}.get(direction)
    form = as_form(left) - as_form(right)
    is_size = form.constant == -1 and len(form.terms) == 1 and 1 in form.terms.values()
    if interval is None or form.is_constant or (direction == "GE" and is_size):
        return None
    return form, interval


# Operations, blocks and functions.

_DIALECTS: Final = frozenset(["stablehlo", "chlo", "mhlo", "func", "sdy"])


class BlockWriter:
    """Writes blocks of operations as instructions of a computation.

    ``values`` are the instructions of the names in the text.
    """

    def __init__(self, module: ModuleWriter, outer: BlockWriter | None = None) -> None:
        self.module = module
        self.builder = module.builder()
        self.values: dict[str, Instruction] = {}
        self._outer = outer

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
            shape = given.laid_out(self.module.shape_of(argument), layout)
            attributes = given.common_attributes(argument, shape, self.module.context)
            known = (sizes[number],) if sizes and number in sizes else None
            fields, (text, start) = ("parameter", shape, known, (), attributes), argument.name
            name, place = name_in_hlo(text[1:], "v."), (start, start + len(text))
            self.values[text] = self.builder.made(*fields, number=number, name=name, place=place)

    def run(self, block: MlirBlock) -> list[Instruction]:
        """The values that the block returns."""
        for operation in block.operations:
            if operation.name.rpartition(".")[2] == "return":
                return [self.value(name) for name in operation.operands]
            self.operation(operation)
        return []

    # Operations

    def operation(self, operation: MlirOperation) -> None:
        """Write the instructions of an operation."""
        operands = tuple(self.value(name) for name in operation.operands)
        op = OperationWriter(operation, self.module.text, operands, writer=self)
        try:
            made = op.made()
        except (AttributeValueError, ShapeError) as error:
            op.fail(str(error))
        if len(made) != len(operation.types):
            op.fail(f"expected {len(made)} results, not {len(operation.types)}")
        self.values |= zip(operation.results, made, strict=False)

    # Computations

    def inside(self) -> BlockWriter:
        """A writer for a region of this computation."""
        return BlockWriter(self.module, self)

    def finished(self, name: str, results: Sequence[Instruction]) -> Computation:
        """The computation, with one result or a tuple of several."""
        if len(results) == 1:
            return self.builder.computation(name, self.builder.instructions, results[0])
        shape = Shape.of_tuple([each.shape for each in results])
        root = self.builder.made("tuple", shape, None, results, name="results")
        return self.builder.computation(name, self.builder.instructions, root)

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
            raise self.module.error(message, name)
        if not is_constant(around):
            message = f"a region of this operation cannot read {name.text} from around it"
            raise self.module.error(message, name)
        self.values[name.text] = self._copied(around)
        return self.values[name.text]

    def _copied(self, constant: Instruction) -> Instruction:
        operands = [*map(self._copied, constant.operands)]
        fields = constant.opcode, constant.shape, constant.sizes, operands, constant.attributes
        name, place = constant.name, (constant.start, constant.stop)
        return self.builder.made(*fields, literal=constant.literal, name=name, place=place)

    def find(self, name: str) -> Instruction | None:
        """The instruction of a name, here or around."""
        found = self.values.get(name)
        return found if found is not None or self._outer is None else self._outer.find(name)


@dataclass(frozen=True, slots=True)
class OperationWriter(SourceOperation):
    """Writes an operation as instructions of the computation that a ``writer`` of blocks writes."""

    writer: BlockWriter = field(kw_only=True)

    def made(self) -> Sequence[Instruction]:
        """The results; those of a custom call if HLO has no counterpart."""
        name = self.operation.name
        known = self.name if name.rpartition(".")[0] in _DIALECTS else name
        construct = self.writer.module.conversions.get(known)
        try:
            if construct is not None:
                return construct(self)
        except given.NoCounterpartError:
            pass
        return self.results("custom-call", {"custom_call_target": name})

    def called(
        self, blocks: tuple[MlirBlock, ...], name: str, layouts: Sequence[Layout | None] = ()
    ) -> Computation:
        """A computation with the arguments of a region as parameters, in these layouts."""
        inside = self.writer.inside()
        block = self.block_of(blocks)
        inside.parameters(block.arguments, layouts=layouts)
        return inside.finished(name, inside.run(block))

    def inlined(self, name: str) -> Sequence[Instruction]:
        """The results of a function, whose instructions become part of this computation."""
        block = self.writer.module.entered(name, self)
        if len(block.arguments) != len(self.operands):
            self.fail(f"@{name} takes {len(block.arguments)} values, not {len(self.operands)}")
        around, self.writer.values = self.writer.values, {}
        for argument, operand in zip(block.arguments, self.operands, strict=True):
            self.writer.values[argument.name.text] = operand
            self.writer.module.note_symbol(argument, operand)
        results = self.writer.run(block)
        self.writer.values = around
        self.writer.module.left()
        self.writer.module.sizes.note_division(name, self.operands, results)
        return results

    # Instructions

    def results(
        self, opcode: str, attributes: dict[str, Any], operands: Sequence[Instruction] | None = None
    ) -> list[Instruction]:
        """An instruction with the results of an operation: itself, or the elements of a tuple."""
        shapes = self.shapes
        read = self.operands if operands is None else operands
        made = self.add(opcode, one_or_tuple(shapes), read, attributes)
        return self.elements(made, len(shapes))

    def add(  # noqa: PLR0913 - the fields of an instruction
        self,
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
        _check(self, opcode, len(operands), attributes)
        noted = given.common_attributes(self.operation, shape, self.writer.module.context)
        known = None if sizes is None else (sizes,)
        fields = opcode, shape, known, operands, attributes | noted
        full = f"{self.value_name}.{name}" if name else self.value_name
        made = self.writer.builder.made(*fields, literal=literal, name=full, place=self.place)
        verify(made)
        return made

    @property
    def place(self) -> tuple[int, int]:
        """Where the text of the operation stands."""
        return self.operation.start, self.operation.stop

    @property
    def value_name(self) -> str:
        """The name of the value, behind that of the operation if it is a number only."""
        results = self.operation.results
        value = results[0].partition("#")[0][1:] if results else ""
        return (
            f"{self.name}.{value}" if value.isdecimal() or not value else name_in_hlo(value, "v.")
        )

    def elements(self, made: Instruction, count: int) -> list[Instruction]:
        """An instruction as so many results: itself, or the elements of a tuple."""
        if count == 1:
            return [made]
        return [self.element(made, place) for place in range(count)]

    def element(self, made: Instruction, place: int) -> Instruction:
        """An element of a tuple."""
        elements = made.shape.elements if made.shape.is_tuple else ()
        if place >= len(elements):
            self.fail(f"{made.shape} has no element {place}")
        fields = "get-tuple-element", elements[place], None, [made], {"index": place}
        return self.writer.builder.made(*fields, name=f"{made.name}.{place}", place=self.place)

    def broadcast(
        self,
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
            self.fail(f"dimensions {axes} do not lead from {operand.shape} to {shape}")
        rows = zip(axes, own, self.writer.module.sizes.sizes(operand), strict=True)
        kept = [row for row in rows if row[1] != 1 or shape.dimensions[row[0]] == 1]
        for axis, size, _ in kept:
            if shape.dimensions[axis] not in {size, UNBOUNDED_SIZE} and size != UNBOUNDED_SIZE:
                message = f"a dimension of size {size} becomes one of {shape.dimensions[axis]}"
                self.fail(f"{message}; expected {size}, or 1 to stretch")
        if len(kept) < len(own):
            thin = Shape(operand.shape.element_type, tuple(size for _, size, _ in kept))
            known = tuple(each for *_, each in kept)
            before = known if thin.is_unbounded and UNBOUNDED_SIZE not in known else None
            operand = self.add("reshape", thin, [operand], {}, sizes=before, name=f"{name}thin")
        result = Shape(operand.shape.element_type, shape.dimensions, shape.layout)
        attributes = {"dimensions": tuple(axis for axis, *_ in kept)}
        return self.add("broadcast", result, [operand], attributes, sizes=sizes, name=name)

    def constant(self, shape: Shape, values: tuple[Number, ...] | None) -> Instruction:
        """A constant; one value for all elements is a scalar that is repeated, as in XLA."""
        count = shape.element_count
        is_repeated = values is not None and len(values) == 1 != count and count > 0
        of = Shape(shape.element_type) if is_repeated else shape
        literal = Literal.of(of, values if count else ())
        made = self.add("constant", of, (), {}, literal=literal, name="value" * is_repeated)
        return self.broadcast(made, shape, ()) if is_repeated else made

    def elementwise(self, name: str, operands: Sequence[Instruction]) -> Instruction:
        """An operation that HLO does not have, mapped over elements."""
        shape = self.shape
        inside = self.writer.module.builder()
        kinds = enumerate(Shape(each.shape.element_type) for each in operands)
        scalars = [
            inside.made("parameter", scalar, None, number=number, name=f"element{number}")
            for number, scalar in kinds
        ]
        target = {"custom_call_target": name}
        inside.made("custom-call", Shape(shape.element_type), None, scalars, target)
        called = inside.computation(f"{self.value_name}.element", inside.instructions)
        attributes = {"dimensions": tuple(range(shape.rank)), "to_apply": called}
        return self.add("map", shape, operands, attributes)

    def bundled(self, values: Sequence[Instruction], name: str = "operands") -> Instruction:
        """A value, or a tuple of several."""
        if len(values) == 1:
            return values[0]
        shape = Shape.of_tuple([each.shape for each in values])
        return self.add("tuple", shape, values, {}, name=name)


def _check(op: SourceOperation, opcode: str, operands: int, attributes: Mapping[str, Any]) -> None:
    """Check operands and attributes, as the reader of HLO does in a text."""
    known = OPCODES[opcode]
    if operands not in known.arity:
        op.fail(f"expected {known.arity}, not {operands}")
    for required in known.required:
        if required not in attributes:
            op.fail(f"expected attribute {required}")
    for name, value in attributes.items():
        words = _WORDS.get(name)
        if words and value not in words:
            op.fail(f"{name} is {quoted(value)}; expected one of {', '.join(words)}")


_WORDS: Final = {name: tuple(words.split()) for name, words in ENUMERATIONS.items()}
"""Values of the attributes of which HLO knows all."""


def is_constant(instruction: Instruction) -> bool:
    """Whether an instruction is a constant, or one that is repeated."""
    is_repeated = instruction.opcode == "broadcast"
    return (instruction.operands[0] if is_repeated else instruction).opcode == "constant"


def name_in_hlo(name: str, before: str) -> str:
    """A name of MLIR, without its mark, as one of HLO; one without a first letter gets ``before``.

    >>> name_in_hlo("arg0", "v."), name_in_hlo("0", "v."), name_in_hlo("$x", "v.")
    ('arg0', 'v.0', '_x')
    """
    plain = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else before + plain


# Operations of StableHLO that one function writes: the type of such functions.

Conversion: TypeAlias = "Callable[[OperationWriter], Sequence[Instruction]]"
"""From an operation to an instruction for each result."""

AttributesOf: TypeAlias = "Callable[[SourceOperation], dict[str, Any]]"
"""From an operation to the attributes of its instruction."""


def one_instruction(opcode: str, attributes: AttributesOf, *computations: str) -> Conversion:
    """An operation that is one instruction; its regions are ``computations``."""

    def construct(op: OperationWriter) -> Sequence[Instruction]:
        regions, name = op.operation.regions, op.value_name
        if len(regions) != len(computations):
            op.fail(f"expected {len(computations)} regions, not {len(regions)}")
        pairs = zip(computations, regions, strict=True)
        called = {each: op.called(region, f"{name}.{each}") for each, region in pairs}
        return op.results(opcode, attributes(op) | called)

    return construct


# Writes the module: a computation for each function that is called, and the entry.

_OPEN: Final = re.compile(r"tensor<[^<>]*\?|dynamic_(?:gather|pad)|real_dynamic_slice")
"""The type of an array with an open size."""

_MODULES: Final = frozenset(["builtin.module", "module"])

MAX_CALLS: Final = 100
"""Functions that call each other in a row: JAX writes a dozen, and Python's stack holds these."""


class ModuleWriter:
    """The computations so far, by the functions that they are."""

    def __init__(
        self,
        text: MlirModule,
        conversions: Mapping[str, Conversion],
        symbols: Mapping[str, Form] | None = None,
    ) -> None:
        self.text = text
        self.conversions = conversions
        self.symbols: dict[str, Size] = {}
        """The symbols of JAX, in terms of the sizes of arguments."""
        self._solution = symbols or {}
        module = next((each for each in text.operations if each.name in _MODULES), None)
        self._attributes: Mapping[str, Any] = module.attributes if module else {}
        operations = [*_inside(text)]
        functions = (each for each in operations if each.name == "func.func")
        self._functions = {str(each.attributes.get("sym_name", "")): each for each in functions}
        aliases = text.aliases.items()
        locations = {name: value for name, value in aliases if isinstance(value, Location)}
        metadata = cache(partial(given.metadata_of, locations))  # many operations share one
        self.context = ModuleContext(metadata, dict(_meshes(operations)))
        self.is_polymorphic = self._attributes.get("jax.uses_shape_polymorphism") is True
        is_open = self.is_polymorphic or _OPEN.search(text.source) is not None
        self.sizes = SizedBuilder(is_open=is_open, keeps_shapes=self.is_polymorphic)
        self._made: dict[str, Computation] = {}
        self._waiting: list[str] = []

    def module(self) -> HloModule:
        """The module, whose entry is the function ``main`` or else the first public one."""
        main = self._entry()
        entry = self._function(main, is_entry=True)
        given_counts = ((own, self._attributes.get(name)) for name, own in _COUNTS.items())
        counts = {own: n for own, n in given_counts if isinstance(n, int) and n > 1}
        attributes = counts | self._donations(self._functions[main], entry.root)
        own = self._attributes.get("sym_name")
        name = legal_name(name_in_hlo(str(own), "module_")) if own else f"module_{entry.name}"
        fields = name, tuple(self.sizes.computations), entry, MappingProxyType(attributes)
        facts = tuple(self.sizes.facts)
        return HloModule(*fields, self.text.source, self.text.file, size_facts=facts)

    def _entry(self) -> str:
        names = [name for name, each in self._functions.items() if each.regions]
        if not names:
            start = self.text.operations[0].start if self.text.operations else 0
            message = "expected a function, such as func.func @main, but there is none with a body"
            raise self.error(message, Name("", start))
        seen = ((name, self._functions[name].attributes.get("sym_visibility")) for name in names)
        public = (name for name, visibility in seen if visibility != "private")
        return "main" if "main" in names else next(public, names[0])

    def _donations(self, main: MlirOperation, root: Instruction) -> dict[str, Any]:
        found: dict[str, Any] = {}
        try:
            for name, each in given.donations(main.regions[0][0].arguments, root.shape):
                found[name] = (*found.get(name, ()), each)
        except ShapeError as error:
            SourceOperation(main, self.text).fail(str(error))
        return found

    def function(self, name: str, caller: SourceOperation) -> Computation:
        """The computation of a function.

        Raises:
            MlirTextError: there is no such function, or it calls itself.
        """
        if name in self._made:
            return self._made[name]
        self._check(name, caller)
        return self._function(name)

    def entered(self, name: str, caller: SourceOperation) -> MlirBlock:
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
        """Keep the value of a symbol of JAX, if the argument is one."""
        name = argument.attributes.get("jax.global_constant")
        found = self.sizes.values(value)
        if isinstance(name, str) and name and found is not None:
            self.symbols.setdefault(name, found[0])

    def _check(self, name: str, caller: SourceOperation) -> None:
        if name not in self._functions or not self._functions[name].regions:
            caller.fail(f"there is no function @{name} with a body")
        if name in self._waiting:
            caller.fail(f"function @{name} calls itself")
        if len(self._waiting) >= MAX_CALLS:
            caller.fail(f"functions call each other more than {MAX_CALLS} deep")

    def _function(self, name: str, *, is_entry: bool = False) -> Computation:
        self._waiting.append(name)
        operation = self._functions[name]
        op = SourceOperation(operation, self.text)
        writer = BlockWriter(self)
        block = op.block_of(operation.regions[0] if operation.regions else ())
        sizes = self._sizes_of(block.arguments) if is_entry and self.is_polymorphic else {}
        layouts = given.entry_layouts(self._attributes) if is_entry else ()
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
                sizes = (self._open_size(number, a) if n == UNBOUNDED_SIZE else n for a, n in pairs)
                found[number] = tuple(sizes)
        return found

    def _open_size(self, number: int, axis: int) -> Form:
        name = f"{RAW}{number}_{axis}"
        return self._solution.get(name, forms.variable(name))

    # For writers of computations

    def builder(self) -> InstructionBuilder:
        """A builder for another computation."""
        return self.sizes.nested()

    def error(self, message: str, name: Name) -> MlirTextError:
        """An error that points at a name in the text."""
        stop = name.start + max(len(name.text), 1)
        return MlirTextError(message, Span(self.text.source, name.start, stop, self.text.file))

    def shape_of(self, argument: Argument) -> Shape:
        """The shape of an argument.

        Raises:
            MlirTextError: it is no array, tuple or token.
        """
        if not isinstance(argument.type, Shape):
            name = argument.name
            message = f"expected {name.text} to be an array of what HLO has, a tuple or a token"
            raise self.error(message, name)
        return argument.type


_COUNTS: Final = {"mhlo.num_replicas": "replica_count", "mhlo.num_partitions": "num_partitions"}
"""Attributes of modules that are numbers of devices, and their names in HLO."""


def _inside(text: MlirModule) -> Iterator[MlirOperation]:
    """The functions and meshes of a text, in a module or not."""
    for each in text.operations:
        if each.name in _MODULES:
            yield from (op for block in each.blocks for op in block.operations)
        else:
            yield each


def _meshes(operations: list[MlirOperation]) -> Iterator[tuple[str, Mapping[str, int]]]:
    for each in operations:
        mesh: Any = each.attributes.get("mesh")
        if isinstance(mesh, DialectAttribute):
            yield str(each.attributes.get("sym_name", "")), given.mesh_of(mesh.body)
