"""The reader for instructions: ``ROOT %sum = f32[4]{0} add(%a, %b), metadata={...}``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from indexing.layout import Shape, ShapeError
from indexing.layout.shape import BLANK
from ops.hlo.attributes import COMMON_ATTRIBUTES, Reference
from ops.hlo.codecs import Format, read_attributes, read_value
from ops.hlo.errors import AttributeValueError
from ops.hlo.literal import Literal, read_literal
from ops.hlo.module import NO_ATTRIBUTES, Computation, Instruction
from ops.hlo.opcodes import OPCODES, Opcode, find_opcode
from ops.hlo.shape_inference import infer_shape
from ops.hlo.symbol_table import Registry, Scope, nearby
from ops.hlo.verifier import complaint

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.hlo.lexer import Tokens

_T = TypeVar("_T")

DEEPEST_NESTING = 50
"""Instructions in operands, and computations in attributes, are read down to this depth."""


@dataclass(slots=True)
class _Draft:
    """An instruction of which the text is being read.

    ``place`` is where its opcode stands; ``is_operand`` says that it stands inside of another one.
    """

    name: str
    shape: Shape | None
    opcode: str
    place: tuple[int, int]
    start: int
    is_operand: bool = False
    operands: tuple[Instruction, ...] = ()
    literal: Literal | None = None
    parameter_number: int | None = None


class InstructionReader:
    """Takes the words of one instruction after another, into the scope of a computation.

    ``read_body`` takes the body of a computation that is written inside of an instruction.
    """

    def __init__(
        self, tokens: Tokens, registry: Registry, read_body: Callable[[str], Computation]
    ) -> None:
        self._tokens = tokens
        self._registry = registry
        self._read_body = read_body
        self._scope = Scope()
        self._depth = 0
        self._references: dict[Reference, Callable[[], Any]] = {
            Reference.COMPUTATION: self._computation,
            Reference.COMPUTATIONS: lambda: tokens.listed(
                self._computation, "{", "}", "the computations"
            ),
            Reference.INSTRUCTIONS: lambda: tokens.listed(
                self._reference, "{", "}", "the instructions"
            ),
            Reference.LITERAL: lambda: read_literal(tokens, tokens.shape()),
        }

    def read_all(self, owner: str) -> Scope:
        """Take the instructions of computation ``owner`` in their braces."""
        tokens, outer = self._tokens, (self._scope, self._tokens.instruction)
        tokens.expect("{", f"before the instructions of %{owner}")
        scope, tokens.instruction = Scope(), ""
        self._scope = scope
        while tokens.text != "}":
            if tokens.kind == "end":
                tokens.fail(f"the text ends inside of computation %{owner}, which no '}}' closes")
            self._instruction()
        if not scope.instructions:
            tokens.fail(f"computation %{owner} has no instructions")
        tokens.advance()
        self._scope, tokens.instruction = outer
        return scope

    def _instruction(self) -> None:
        tokens, scope = self._tokens, self._scope
        start, is_root = tokens.start, tokens.text == "ROOT"
        if is_root and scope.root:
            tokens.fail(f"there is one ROOT only, and %{scope.root.name} is the root already")
        if is_root:
            tokens.advance()
        name = self._new_name()
        tokens.expect("=", f"after the name {name} of an instruction")
        instruction = self._definition(name, start)
        scope.root = instruction if is_root else scope.root

    def _new_name(self) -> str:
        tokens, place = self._tokens, self._tokens.place
        name = tokens.name("'}' or an instruction")
        known = self._scope.by_name.get(name)
        if known:
            line = tokens.source.count("\n", 0, known.start) + 1
            tokens.fail(f"instruction %{name} is defined already, in line {line}", place=place)
        return name

    def _definition(self, name: str, start: int, *, is_operand: bool = False) -> Instruction:
        """Take what follows the equals sign."""
        tokens, outer = self._tokens, self._tokens.instruction
        tokens.instruction = name
        shape = tokens.shape() if tokens.at_shape() else None
        place = tokens.place
        draft = _Draft(name, shape, tokens.word("an opcode"), place, start, is_operand)
        opcode = self._opcode(draft)
        self._arguments(draft, opcode)
        attributes = self._attributes(draft, opcode)
        if opcode.sugar:
            attributes = self._desugared(draft, *opcode.sugar, attributes)
        if draft.opcode in _CONTINUING:
            attributes = self._continued(draft, attributes)
        instruction = self._finish(draft, attributes)
        self._scope.add(instruction)
        tokens.instruction = outer
        return instruction

    def _opcode(self, draft: _Draft) -> Opcode:
        opcode = find_opcode(draft.opcode)
        if opcode is None:
            hint = nearby(draft.opcode, OPCODES)
            self._fail(draft, f"there is no opcode {draft.opcode}", hint)
        return opcode

    def _fail(self, draft: _Draft, message: str, hint: str = "") -> NoReturn:
        """Raise the error that something is wrong with an instruction as a whole."""
        self._tokens.fail(message, hint, draft.place)

    # Operands

    def _arguments(self, draft: _Draft, opcode: Opcode) -> None:
        """Take what stands in the parentheses."""
        tokens = self._tokens
        special = _ARGUMENTS.get(draft.opcode)
        if special:
            tokens.expect("(", f"after {draft.opcode}")
            special(self, draft)
            tokens.expect(")", f"after the argument of {draft.opcode}")
            return
        draft.operands = tokens.listed(self._operand, "(", ")", "the operands")
        if len(draft.operands) not in opcode.arity:
            given = len(draft.operands)
            self._fail(draft, f"{draft.opcode} takes {opcode.arity}, but {given} are given")

    def parameter(self, draft: _Draft) -> None:
        """Take the number of a parameter."""
        tokens, place = self._tokens, self._tokens.place
        number = draft.parameter_number = tokens.integer("the number of the parameter")
        if number < 0:
            tokens.fail(f"parameter number {number} is negative", place=place)
        if number in self._scope.parameters:
            other = self._scope.parameters[number].name
            tokens.fail(f"parameter number {number} is that of %{other} already", place=place)

    def constant(self, draft: _Draft) -> None:
        """Take the value of a constant."""
        if draft.shape is None:
            self._fail(draft, "the shape of a constant cannot be inferred, so it has to be written")
        draft.literal = read_literal(self._tokens, draft.shape)

    def _operand(self) -> Instruction:
        """Take the name of an instruction, maybe with its shape, or a whole instruction."""
        tokens, start = self._tokens, self._tokens.start
        shape = tokens.shape() if tokens.at_shape() else None
        if tokens.text[:1] != "%" and _CALL.match(tokens.source, tokens.stop):
            return self._nested(start)
        operand = self._reference()
        if shape and not shape.is_compatible_with(operand.shape):
            message = f"operand %{operand.name} is {operand.shape}, not {shape}"
            tokens.fail(message, place=(start, tokens.end))
        return operand

    def _nested(self, start: int) -> Instruction:
        """Take an instruction that stands where an operand does."""
        self._tokens.jump(start)
        self._enter()
        instruction = self._definition(self._scope.unused_name("anonymous"), start, is_operand=True)
        self._depth -= 1
        return instruction

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST_NESTING:
            self._tokens.fail(f"instructions are nested more than {DEEPEST_NESTING} deep")

    def _reference(self) -> Instruction:
        return self._defined("operand", "an operand", self._scope.by_name)

    def _defined(self, what: str, purpose: str, known: Mapping[str, _T]) -> _T:
        """Take the name of something that stands above."""
        tokens = self._tokens
        place = tokens.place
        name = tokens.name(purpose)
        found = known.get(name)
        if found is None:
            message = f"{what} %{name} is not defined before this"
            tokens.fail(message, nearby(name, known), place)
        return found

    # Attributes

    def _attributes(self, draft: _Draft, opcode: Opcode) -> dict[str, Any]:
        """Take the attributes; an instruction that stands as an operand has none."""
        tokens, attributes = self._tokens, dict[str, Any]()
        if not draft.is_operand:
            attributes = read_attributes(tokens, draft.opcode, opcode.formats, self._value)
        for name in opcode.required:
            if name not in attributes:
                hint = "a comma is missing before the attribute" if tokens.text == name else ""
                tokens.fail(f"expected attribute {name} of {draft.opcode} before this", hint)
        return attributes

    def _value(self, form: Format | Reference) -> Any:  # noqa: ANN401  (one type for each format)
        if isinstance(form, Reference):
            return self._references[form]()
        return read_value(self._tokens, form)

    def _computation(self) -> Computation:
        """Take the name of a computation, or a whole one in braces."""
        tokens = self._tokens
        if tokens.text == "{":
            self._enter()
            computation = self._read_body(self._registry.unused_name("_"))
            self._depth -= 1
            return computation
        return self._defined("computation", "a computation", self._registry.by_name)

    # The end of an instruction

    def _finish(self, draft: _Draft, attributes: Mapping[str, Any]) -> Instruction:
        instruction = Instruction(
            draft.name,
            draft.opcode,
            draft.shape or self._inferred(draft, attributes),
            draft.operands,
            MappingProxyType(attributes) if attributes else NO_ATTRIBUTES,
            draft.literal,
            draft.parameter_number,
            draft.start,
            self._tokens.end,
        )
        wrong = complaint(instruction)
        if wrong:
            self._fail(draft, wrong)
        return instruction

    def _inferred(self, draft: _Draft, attributes: Mapping[str, Any]) -> Shape:
        shapes = [operand.shape for operand in draft.operands]
        try:
            return infer_shape(draft.opcode, shapes, attributes)
        except (AttributeValueError, ShapeError) as error:
            self._fail(draft, str(error))

    def _desugared(
        self, draft: _Draft, base: str, part: str, attributes: dict[str, Any]
    ) -> dict[str, Any]:
        """Turn ``slice-start`` into ``async-start``, which calls the ``slice``, and so on."""
        draft.opcode = f"async-{part}"
        if part == "start":
            kept = {name: value for name, value in attributes.items() if name in _OUTSIDE}
            inner = {name: value for name, value in attributes.items() if name not in _OUTSIDE}
            return {"calls": self._wrapped(draft, base, inner), **kept}
        calls = draft.operands[0].attributes.get("calls")
        if calls and calls.root.opcode != base:
            self._fail(draft, f"the operand starts {calls.root.opcode}, not {base}")
        return attributes

    def _continued(self, draft: _Draft, attributes: dict[str, Any]) -> dict[str, Any]:
        """Each part of an asynchronous operation says what the operation calls."""
        calls = draft.operands[0].attributes.get("calls")
        return {"calls": calls, **attributes} if calls else attributes

    def _wrapped(self, draft: _Draft, opcode: str, attributes: Mapping[str, Any]) -> Computation:
        """The computation that holds nothing but the operation which starts."""
        shapes = draft.shape.elements if draft.shape else ()
        if len(shapes) < 2:  # noqa: PLR2004  (operands and outputs)
            self._fail(draft, f"the shape of {opcode}-start is ((operands), outputs, state...)")
        parameters = tuple(
            Instruction(
                f"param_{number}",
                "parameter",
                operand.shape,
                parameter_number=number,
                start=draft.start,
                stop=self._tokens.end,
            )
            for number, operand in enumerate(draft.operands)
        )
        inner = _Draft(opcode, shapes[1], opcode, draft.place, draft.start, operands=parameters)
        root = self._finish(inner, attributes)
        computation = Computation(
            self._registry.unused_name("async_wrapped"), (*parameters, root), root
        )
        self._registry.computations.append(computation)
        return computation


_CONTINUING = {"async-update", "async-done"}

_OUTSIDE = {"async_execution_thread", *COMMON_ATTRIBUTES}
"""Attributes of the asynchronous operation, and not of the one that it wraps."""

_CALL = re.compile(BLANK + r"\(")

_ARGUMENTS: dict[str, Callable[[InstructionReader, _Draft], None]] = {
    "parameter": InstructionReader.parameter,
    "constant": InstructionReader.constant,
}
"""The opcodes that have no operands in their parentheses."""
