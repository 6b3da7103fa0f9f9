"""Operations of MLIR from text: the generic form of all, and the forms of dialects.

``"stablehlo.add"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>`` is the generic form. A form
of a dialect, such as ``stablehlo.add %0, %1 : tensor<f32>``, is a function in a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from ops.mlir.text import Attribute, AttributeReader, DialectAttribute, FunctionType, Location, Type
from simplifier.errors import Span, quoted

# Operations of MLIR as values: operands, attributes, regions, and the types of results.


class Name(NamedTuple):
    """A value by its name, ``%0`` or ``%0#1``, and where that stands in the text."""

    text: str
    start: int


class Argument(NamedTuple):
    """An argument of a block or a function."""

    name: Name
    type: Type
    attributes: Mapping[str, Attribute] = MappingProxyType({})
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class MlirBlock:
    """Operations in order, and the arguments that they may read."""

    arguments: tuple[Argument, ...]
    operations: tuple[MlirOperation, ...]


@dataclass(frozen=True, slots=True)
class MlirOperation:
    """An operation such as ``%1 = stablehlo.add %0, %0 : tensor<2xf32>``.

    ``results`` are the names that it defines: ``%1:2`` defines ``%1#0`` and ``%1#1``. ``regions``
    are lists of blocks. The text of the operation is ``source[start:stop]``.
    """

    name: str
    start: int
    stop: int = 0
    results: tuple[str, ...] = ()
    operands: tuple[Name, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, "Attribute"])
    regions: tuple[tuple[MlirBlock, ...], ...] = ()
    types: tuple[Type, ...] = ()
    location: Location | None = None

    @property
    def blocks(self) -> Iterator[MlirBlock]:
        """The blocks of all regions."""
        return chain.from_iterable(self.regions)

    def walk(self) -> Iterator[MlirOperation]:
        """The operation and all in its regions, in order."""
        waiting: list[MlirOperation] = [self]
        while waiting:
            each = waiting.pop()
            yield each
            waiting += reversed([op for block in each.blocks for op in block.operations])


@dataclass(frozen=True, slots=True)
class MlirModule:
    """The operations of a text, and the names that it gives to attributes and locations."""

    operations: tuple[MlirOperation, ...]
    aliases: Mapping[str, Attribute]
    source: str
    file: str


# The reader of operations.


@dataclass(slots=True)
class OperationDraft:
    """An operation whose text is being read."""

    name: str
    start: int
    operands: tuple[Name, ...] = ()
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    regions: tuple[tuple[MlirBlock, ...], ...] = ()
    types: tuple[Type, ...] = ()
    types_of_operands: tuple[Type, ...] = ()


AssemblyForm: TypeAlias = "Callable[[OperationReader, OperationDraft], None]"
"""Takes what stands behind the name of an operation in the form of its dialect."""


def read_module(source: str, file: str, forms: Mapping[str, AssemblyForm]) -> MlirModule:
    """The operations of a text: those of a ``module``, or those that stand alone.

    Raises:
        MlirTextError: the text does not follow the grammar.
    """
    reader = OperationReader(source, file, forms)
    return MlirModule(tuple(reader.top_level()), reader.aliases, source, file)


class OperationReader(AttributeReader):
    """The parser: one method for each rule of the grammar."""

    __slots__ = ("_forms", "aliases")

    def __init__(self, source: str, file: str, forms: Mapping[str, AssemblyForm]) -> None:
        super().__init__(source, file)
        self.aliases: dict[str, Attribute] = {}
        self._forms = forms

    def top_level(self) -> list[MlirOperation]:
        """Take a whole text."""
        found = list[MlirOperation]()
        if self.kind == "end":
            raise self.error("expected a module of MLIR, but the text is empty")
        while self.kind != "end":
            if self.kind == "alias":
                self.alias()
            elif self.text == "{":  # a resource section: {-# ... #-}
                self.balanced("'{'")
            else:
                found.append(self.operation())
        return found

    def alias(self) -> None:
        """Take ``#name = attribute`` or ``!name = type``."""
        name = self.advance()
        self.expect("=", f"after {name}")
        if name[0] == "!":
            self.named_types[name] = self.type()
        else:
            self.aliases[name[1:]] = self.value()

    def resolved(self, value: Attribute) -> Attribute:
        """A value, or that of the alias which it names; ``None`` if there is no such alias."""
        is_name = isinstance(value, DialectAttribute) and not value.body
        return self.aliases.get(value.name) if is_name else value

    # Operations

    def operation(self) -> MlirOperation:
        """Take an operation."""
        start = self.start
        named: Sequence[tuple[str, int, int]] = ()
        if self.kind == "value":
            named = self.joined(self._result)
            self.expect("=", "after the results")
        is_generic = self.kind == "string"
        at_name = self.span
        name = self.string() if is_generic else self.word("an operation")
        draft = OperationDraft(name, start)
        read = OperationReader._generic if is_generic else self._form(draft, at_name)
        read(self, draft)
        location = self.location()
        results = self._result_names(named, draft)
        return MlirOperation(
            *(draft.name, start, self.previous_stop, results, draft.operands),
            *(draft.attributes, draft.regions, draft.types, location),
        )

    def _form(self, draft: OperationDraft, at_name: Span) -> AssemblyForm:
        """The form of an operation; the name of the dialect ``func`` may be left out."""
        for name in (draft.name, f"func.{draft.name}"):
            form = self._forms.get(name)
            if form:
                draft.name = name
                return form
        near = get_close_matches(draft.name, self._forms, 1)
        message = f"expected an operation, but there is none called {quoted(draft.name)} here"
        hint = f"there is {near[0]}; " if near else ""
        hint += "operations of other dialects stand in quotes, in MLIR's generic form"
        found = (reader for sign, reader in _OTHER_READERS.items() if sign in self.source)
        hint = next(found, hint) if draft.name.partition(".")[0] in OTHER_DIALECTS else hint
        raise self.error(message, at_name, hint)

    def _result(self) -> tuple[str, int, int]:
        """Take ``%1:2``: a name, how many results it stands for (0 is one), and its place."""
        start, name = self.start, self.taken("value", "the name of a result")
        count = self.integer("a number of results") if self.accept(":") else 0
        return name, count, start

    def _result_names(
        self, named: Sequence[tuple[str, int, int]], draft: OperationDraft
    ) -> tuple[str, ...]:
        count = sum(max(number, 1) for _, number, _ in named)
        if named and count != len(draft.types):
            name, _, start = named[0]
            message = f"{draft.name} has {len(draft.types)} results, but {count} are named"
            raise self.error(message, self.span_of(start, start + len(name)))
        names: list[str] = []
        for name, number, _ in named:
            names += [f"{name}#{place}" for place in range(number)] if number else [name]
        return tuple(names)

    def _generic(self, draft: OperationDraft) -> None:
        draft.operands = self.listed_operands()
        if self.text == "[":
            raise self.error("branches between blocks have no counterpart in HLO")
        self.properties(draft)
        if self.text == "(":
            draft.regions = self.listed(self.region, "(", ")", "the regions")
        if self.text == "{":
            draft.attributes |= self.dictionary()
        self.expect(":", "before the type of an operation")
        start = self.start
        found = self.function_type()
        draft.types_of_operands, draft.types = found.inputs, found.results
        if len(found.inputs) != len(draft.operands):
            message = f"there are {len(draft.operands)} operands, but {len(found.inputs)} types"
            raise self.error_since(start, message)

    # Parts of forms

    def types(self) -> tuple[Type, ...]:
        """Take types with commas between them."""
        return self.joined(self.type)

    def operand(self) -> Name:
        """Take the name of a value."""
        start = self.start
        return Name(self.taken("value", "a value, such as %0"), start)

    def operands(self) -> tuple[Name, ...]:
        """Take values with commas between them; there may be none."""
        found = list[Name]()
        while self.kind == "value":
            found.append(self.operand())
            if not self.comma_before("value"):
                break
        return tuple(found)

    def comma_before(self, kind: str) -> bool:
        """Take a comma, if a token of a kind stands behind it."""
        ahead = self.text == "," and self.pattern.match(self.source, self.stop)
        return bool(ahead) and ahead.lastgroup == kind and self.accept(",")

    def listed_operands(self) -> tuple[Name, ...]:
        """Take values in parentheses."""
        return self.listed(self.operand, "(", ")", "the operands")

    def properties(self, draft: OperationDraft) -> None:
        """Take attributes in braces between angle brackets, if there are any."""
        if self.accept("<"):
            draft.attributes |= self.dictionary()
            self.expect(">", "after the properties")

    def attribute_dictionary(self, draft: OperationDraft) -> None:
        """Take attributes in braces, if there are any."""
        self.properties(draft)
        if self.text == "{":
            draft.attributes |= self.dictionary()

    def types_after_colon(self, draft: OperationDraft, results: int | None = 1) -> None:
        """Take ``: (operand types) -> result types``, ``: operand -> results`` or ``: types``.

        If only types are written, the last one is that of each of the ``results``; ``None`` says
        that each is that of a result.
        """
        self.expect(":", f"before the type of {draft.name}")
        inputs = self.types()
        if len(inputs) == 1 and isinstance(inputs[0], FunctionType):
            draft.types_of_operands, draft.types = inputs[0].inputs, inputs[0].results
        elif self.accept("->"):
            draft.types_of_operands = inputs
            draft.types = self.result_types()
        else:
            draft.types_of_operands = inputs
            draft.types = inputs if results is None else (inputs[-1],) * results

    def attributes_and_types(self, draft: OperationDraft, results: int | None = 1) -> None:
        """Take the end of most operations: attributes, then types."""
        self.attribute_dictionary(draft)
        self.types_after_colon(draft, results)

    # Regions

    def region(self, arguments: tuple[Argument, ...] = ()) -> tuple[MlirBlock, ...]:
        """Take ``{ ... }``; the ``arguments`` of its first block may stand before it."""
        return self.nested("regions", lambda: tuple(self._blocks(arguments)))

    def _blocks(self, arguments: tuple[Argument, ...]) -> Iterator[MlirBlock]:
        self.expect("{", "before a region")
        while self.text != "}":
            given = self._block_header() if self.kind == "block" else arguments
            yield MlirBlock(given, tuple(self._block_operations()))
        self.advance()

    def _block_operations(self) -> list[MlirOperation]:
        found = list[MlirOperation]()
        while self.kind != "block" and self.text != "}":
            if self.kind == "end":
                raise self.expected("'}' or an operation")
            found.append(self.operation())
        return found

    def _block_header(self) -> tuple[Argument, ...]:
        self.advance()
        arguments = self.arguments() if self.text == "(" else ()
        self.expect(":", "after the arguments of a block")
        return arguments

    def arguments(self) -> tuple[Argument, ...]:
        """Take ``(%arg0: type {attributes} loc(...), ...)``."""
        return self.listed(self.argument, "(", ")", "the arguments")

    def argument(self) -> Argument:
        """Take ``%arg0: type {attributes} loc(...)``."""
        name = self.operand()
        self.expect(":", "before the type of an argument")
        found = self.type()
        attributes = self.dictionary() if self.text == "{" else {}
        location = self.location()
        return Argument(name, found, attributes, location)


OTHER_DIALECTS: Final = (
    *("affine", "gpu", "linalg", "llvm", "memref", "scf", "tensor"),
    *("torch", "transform", "tt", "vector"),
)
"""Dialects of texts that are no modules; operations of ``arith`` stand in modules, too."""

_ACCESSES: Final = "ops.affine.read_accesses reads what affine, memref and tensor access"
_OTHER_READERS: Final = {
    "tt.func": "ops.triton.read_kernel reads kernels of Triton as they are written in Python",
    "linalg.": "ops.mlir.read_generics reads the maps of linalg",
    **dict.fromkeys(("affine.", "memref.", "tensor."), _ACCESSES),
}
"""Who reads texts with operations of other dialects, by what occurs in the text."""
