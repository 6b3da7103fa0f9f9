"""The parser of instructions: ``ROOT %sum = f32[4]{0} add(%a, %b), metadata={...}``."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from indexing.layout import Shape, ShapeError
from indexing.layout.shape import BLANK, SHAPE_TYPES, plain_array
from ops.hlo.attributes import COMMON_ATTRIBUTES, Codec, Reference, read_attributes, read_value
from ops.hlo.errors import AttributeValueError, HloTextError
from ops.hlo.literal import Literal, read_literal, read_shaped_literal
from ops.hlo.module import NO_ATTRIBUTES, Computation, Instruction
from ops.hlo.names import nearby
from ops.hlo.opcodes import LIKE_OPERANDS, OPCODES, Opcode, find_opcode
from ops.hlo.shape_inference import infer_shape
from ops.hlo.symbol_table import ComputationTable, InstructionTable
from ops.hlo.verifier import signature, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.hlo.hlo_lexer import HloLexer

_T = TypeVar("_T")

MAX_NESTING = 50
"""Of instructions in operands and computations in attributes; XLA writes one level, and Python's
stack holds these."""


@dataclass(slots=True)
class _Draft:
    """An instruction whose text is being read.

    ``opcode_at`` is where its opcode starts and stops. An instruction may stand where an operand of
    another one does (``is_operand``).
    """

    name: str
    shape: Shape | None
    opcode: str
    opcode_at: tuple[int, int]
    start: int
    is_operand: bool = False
    operands: tuple[Instruction, ...] = ()
    literal: Literal | None = None
    parameter_number: int | None = None


@dataclass(frozen=True, slots=True)
class _NotShown:
    """A computation that a scrap names, but does not have."""

    name: str


class InstructionReader:
    """Reads one instruction after another into the table of a computation.

    ``read_body`` reads the body of a computation that stands inside of an instruction.
    """

    def __init__(
        self,
        lexer: HloLexer,
        computations: ComputationTable,
        read_body: Callable[[str], Computation],
    ) -> None:
        self._lexer = lexer
        self._computations = computations
        self._read_body = read_body
        self._table = InstructionTable()
        self._depth = 0
        self._started = set[Computation]()
        self._references: dict[Reference, Callable[[], Any]] = {
            Reference.COMPUTATION: self._computation,
            Reference.COMPUTATIONS: lambda: lexer.listed(
                self._computation, "{", "}", "the computations"
            ),
            Reference.INSTRUCTIONS: lambda: lexer.listed(
                self._reference, "{", "}", "the instructions"
            ),
            Reference.LITERAL: lambda: read_shaped_literal(lexer),
        }

    def read_all(self, owner: str) -> InstructionTable:
        """Take the instructions of computation ``owner``, in braces."""
        lexer, outer = self._lexer, (self._table, self._lexer.instruction)
        lexer.expect("{", f"before the instructions of %{owner}")
        table, lexer.instruction = InstructionTable(), ""
        self._table = table
        while lexer.text != "}":
            if lexer.kind == "end":
                raise lexer.error(
                    f"the text ends inside of computation %{owner}, which no '}}' closes"
                )
            self._instruction("'}' or an instruction")
        if not table.instructions:
            raise lexer.error(f"computation %{owner} has no instructions")
        lexer.advance()
        self._table, lexer.instruction = outer
        return table

    def read_scrap(self) -> InstructionTable:
        """Take instructions without a computation, up to the end of the text."""
        table = self._table = InstructionTable(is_scrap=True)
        while self._lexer.kind != "end":
            self._instruction("an instruction")
        return table

    def _instruction(self, expected: str) -> None:
        lexer, table = self._lexer, self._table
        start, is_root = lexer.start, lexer.text == "ROOT"
        if is_root and table.root:
            raise lexer.error(f"there is one ROOT only, and %{table.root.name} is the root already")
        if is_root:
            lexer.advance()
        if table.is_scrap and lexer.at_shape():
            name = table.unused_name("instruction")
        else:
            name = self._new_name(expected)
            lexer.expect("=", f"after the name {name} of an instruction")
        instruction = self._definition(name, start)
        table.root = instruction if is_root else table.root

    def _new_name(self, expected: str) -> str:
        lexer, start = self._lexer, self._lexer.start
        name = lexer.name(expected)
        known = self._table.by_name.get(name)
        if known:
            line = lexer.source.count("\n", 0, known.start) + 1
            raise lexer.error_since(
                start, f"instruction %{name} is defined already, in line {line}"
            )
        return name

    def _definition(self, name: str, start: int, *, is_operand: bool = False) -> Instruction:
        """Take what follows the equals sign."""
        lexer, outer = self._lexer, self._lexer.instruction
        lexer.instruction = name
        shape = lexer.shape() if lexer.at_shape() else None
        opcode_at = lexer.start, lexer.stop
        draft = _Draft(name, shape, lexer.word("an opcode"), opcode_at, start, is_operand)
        opcode = self._opcode(draft)
        self._arguments(draft, opcode)
        attributes = self._attributes(draft, opcode)
        if opcode.sugar:
            attributes = self._desugared(draft, *opcode.sugar, attributes)
        if draft.opcode in _CONTINUING:
            attributes = self._continued(draft, attributes)
        if draft.opcode == "async-start":
            self._claim(draft, attributes["calls"])
        instruction = self._finish(draft, attributes)
        self._table.add(instruction)
        lexer.instruction = outer
        return instruction

    def _opcode(self, draft: _Draft) -> Opcode:
        opcode = find_opcode(draft.opcode)
        if opcode is None:
            self._unknown_word(draft)
        return opcode

    def _unknown_word(self, draft: _Draft) -> NoReturn:
        """Raise an error about a word that is no opcode; before a bracket it was to be a type."""
        is_type = draft.shape is None and self._lexer.text == "["
        what, words = ("type", SHAPE_TYPES) if is_type else ("opcode", OPCODES)
        self._fail(draft, f"there is no {what} {draft.opcode}", nearby(draft.opcode, words))

    def _fail(self, draft: _Draft, message: str, hint: str = "") -> NoReturn:
        """Raise an error about an instruction as a whole."""
        raise self._lexer.error(message, self._lexer.span_of(*draft.opcode_at), hint)

    # Operands

    def _arguments(self, draft: _Draft, opcode: Opcode) -> None:
        """Take the text in the parentheses."""
        lexer = self._lexer
        special = _ARGUMENTS.get(draft.opcode)
        if special:
            lexer.expect("(", f"after {draft.opcode}")
            special(self, draft)
            lexer.expect(")", f"after the argument of {draft.opcode}")
            return
        draft.operands = self._operands_ahead() or self._operands(draft)
        given = len(draft.operands)
        if given not in opcode.arity:
            self._fail(draft, f"{draft.opcode} takes {opcode.arity}, not {given}")

    def parameter(self, draft: _Draft) -> None:
        """Take the number of a parameter."""
        lexer, start = self._lexer, self._lexer.start
        number = draft.parameter_number = lexer.integer("the number of the parameter")
        if number < 0:
            raise lexer.error_since(start, f"parameter number {number} is negative")
        if number in self._table.parameters:
            other = self._table.parameters[number].name
            raise lexer.error_since(start, f"parameter number {number} is that of %{other} already")

    def constant(self, draft: _Draft) -> None:
        """Take the value of a constant."""
        if draft.shape is None:
            self._fail(draft, "the shape of a constant cannot be inferred, so it has to be written")
        draft.literal = read_literal(self._lexer, draft.shape)

    def _operands_ahead(self) -> tuple[Instruction, ...]:
        """Take the operands if all are defined, and have their shapes; else take nothing."""
        operands, stop = self._lexer.operands_ahead() or ([], 0)
        found: list[Instruction] = []
        for shape, name in operands:
            operand = self._table.by_name.get(name)
            if operand is None or (shape and not _has_shape(operand, shape)):
                return ()
            found.append(operand)
        if found:
            self._lexer.jump(stop)
        return tuple(found)

    def _operands(self, draft: _Draft) -> tuple[Instruction, ...]:
        read = partial(self._operand_of_scrap, draft) if self._table.is_scrap else self._operand
        return self._lexer.listed(read, "(", ")", "the operands")

    def _operand(self) -> Instruction:
        """Take the name of an instruction, with or without its shape, or a whole instruction."""
        lexer, start = self._lexer, self._lexer.start
        shape = lexer.shape() if lexer.at_shape() else None
        if lexer.text[:1] != "%" and _CALL.match(lexer.source, lexer.stop):
            return self._nested(start)
        operand = self._reference()
        if shape and not shape.is_compatible_with(operand.shape):
            message = f"operand %{operand.name} is {operand.shape}, not {shape}"
            raise lexer.error_since(start, message)
        return operand

    def _operand_of_scrap(self, draft: _Draft) -> Instruction:
        """Take an operand, or make a parameter of one that is not defined.

        Operands of elementwise operations need no shape: it is that of the result.
        """
        lexer, start = self._lexer, self._lexer.start
        shape = lexer.shape() if lexer.at_shape() else None
        is_nested = lexer.text[:1] != "%" and _CALL.match(lexer.source, lexer.stop)
        if is_nested or lexer.text.removeprefix("%") in self._table.by_name:
            lexer.jump(start)
            return self._operand()
        implied = draft.shape if draft.opcode in LIKE_OPERANDS else None
        return self._made_up(shape or implied, start)

    def _made_up(self, shape: Shape | None, start: int) -> Instruction:
        """The parameter that stands for an operand of a scrap."""
        lexer, table = self._lexer, self._table
        is_named = lexer.kind == "name"
        name = lexer.name("an operand") if is_named else table.unused_name("parameter")
        if shape is None:
            message, hint = f"operand %{name} is not defined before this", _SHAPED.format(name)
            raise lexer.error_since(start, message, nearby(name, table.by_name) or hint)
        number = next(n for n in itertools.count() if n not in table.parameters)
        parameter = Instruction(
            name,
            "parameter",
            shape,
            parameter_number=number,
            start=start,
            stop=lexer.previous_stop,
        )
        table.add(parameter)
        return parameter

    def _nested(self, start: int) -> Instruction:
        """Take an instruction that stands in place of an operand."""
        self._lexer.jump(start)
        self._enter()
        instruction = self._definition(self._table.unused_name("anonymous"), start, is_operand=True)
        self._depth -= 1
        return instruction

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise self._lexer.error(f"instructions are nested more than {MAX_NESTING} deep")

    def _reference(self) -> Instruction:
        return self._defined("operand", "an operand", self._table.by_name)

    def _defined(self, what: str, purpose: str, known: Mapping[str, _T]) -> _T:
        """Take the name of something that is defined before."""
        lexer = self._lexer
        start = lexer.start
        name = lexer.name(purpose)
        found = known.get(name)
        if found is None:
            message = f"{what} %{name} is not defined before this"
            raise lexer.error_since(start, message, nearby(name, known))
        return found

    # Attributes

    def _attributes(self, draft: _Draft, opcode: Opcode) -> dict[str, Any]:
        """Take the attributes; an instruction in place of an operand has none."""
        lexer, attributes = self._lexer, dict[str, Any]()
        if not draft.is_operand:
            attributes = read_attributes(lexer, draft.opcode, opcode.codecs, self._value)
        if draft.opcode == "broadcast":
            self._complete_broadcast(draft, attributes)
        for name in opcode.required:
            if name not in attributes:
                raise self._missing(name, draft)
        return {
            name: self._shown(draft, name, value) if self._table.is_scrap else value
            for name, value in attributes.items()
        }

    def _complete_broadcast(self, draft: _Draft, attributes: dict[str, Any]) -> None:
        """The dimensions of a scalar need not be written; an array needs them."""
        operand = draft.operands[0].shape
        if operand.is_array and not operand.rank:
            attributes.setdefault("dimensions", ())
        elif "dimensions" not in attributes:
            raise self._missing("dimensions", draft)

    def _missing(self, name: str, draft: _Draft) -> HloTextError:
        hint = "a comma is missing before the attribute" if self._lexer.text == name else ""
        message = f"expected attribute {name} of {draft.opcode} before this"
        return self._lexer.error(message, hint=hint)

    def _value(self, form: Codec | Reference) -> Any:  # noqa: ANN401  (one type for each format)
        if isinstance(form, Reference):
            return self._references[form]()
        return read_value(self._lexer, form)

    def _computation(self) -> Computation | _NotShown:
        """Take the name of a computation, or a whole one in braces."""
        lexer = self._lexer
        if lexer.text == "{":
            self._enter()
            computation = self._read_body(self._computations.unused_name("_"))
            self._depth -= 1
            return computation
        known = self._computations.by_name
        name = lexer.text.removeprefix("%")
        if self._table.is_scrap and name not in known and not nearby(name, known):
            return _NotShown(lexer.name("a computation"))
        return self._defined("computation", "a computation", known)

    def _shown(self, draft: _Draft, attribute: str, value: Any, place: int = 0) -> Any:  # noqa: ANN401 - of any attribute
        """The value of an attribute, with computations in place of those that a scrap only names.

        Such a computation is a custom call of which nobody knows what it does.
        """
        if isinstance(value, tuple):
            parts = enumerate(cast("tuple[Any, ...]", value))
            return tuple(self._shown(draft, attribute, part, number) for number, part in parts)
        if not isinstance(value, _NotShown):
            return value
        if draft.shape is None:
            self._fail(draft, f"the shape must be written, for %{value.name} is not shown")
        operands = [operand.shape for operand in draft.operands]
        taken, given = signature(draft.opcode, attribute, operands, draft.shape, place)
        target = {"custom_call_target": f"%{value.name}, which is not shown"}
        return self._made(draft, value.name, taken, "custom-call", given, target)

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
            self._lexer.previous_stop,
        )
        try:
            verify(instruction)
        except AttributeValueError as error:
            self._fail(draft, str(error))
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
            own = {*OPCODES[base].required, *OPCODES[base].optional}
            kept = {n: v for n, v in attributes.items() if n in _OUTSIDE and n not in own}
            inner = {n: v for n, v in attributes.items() if n in own or n in _ON_BOTH}
            return {"calls": self._wrapped(draft, base, inner), **kept}
        calls = draft.operands[0].attributes.get("calls")
        if calls and calls.root.opcode != base:
            self._fail(draft, f"the operand starts {calls.root.opcode}, not {base}")
        return attributes

    def _continued(self, draft: _Draft, attributes: dict[str, Any]) -> dict[str, Any]:
        """Each part of an asynchronous operation names what the operation calls."""
        calls = draft.operands[0].attributes.get("calls")
        return {"calls": calls, **attributes} if calls else attributes

    def _claim(self, draft: _Draft, called: Computation) -> None:
        """An asynchronous operation has its computation for itself."""
        if called in self._started:
            self._fail(draft, f"another async-start calls computation %{called.name} already")
        self._started.add(called)

    def _wrapped(self, draft: _Draft, opcode: str, attributes: Mapping[str, Any]) -> Computation:
        """The computation that holds only the operation that starts."""
        shapes = draft.shape.elements if draft.shape else ()
        if len(shapes) < 2:  # noqa: PLR2004  (operands and outputs)
            self._fail(draft, f"the shape of {opcode}-start is ((operands), outputs, state...)")
        operands = [operand.shape for operand in draft.operands]
        return self._made(draft, "async_wrapped", operands, opcode, shapes[1], attributes)

    def _made(
        self,
        draft: _Draft,
        name: str,
        taken: Sequence[Shape],
        opcode: str,
        given: Shape,
        attributes: Mapping[str, Any],
    ) -> Computation:
        """A computation of one operation on all parameters, which the text does not have."""
        parameters = tuple(
            Instruction(
                f"param_{number}",
                "parameter",
                shape,
                parameter_number=number,
                start=draft.start,
                stop=self._lexer.previous_stop,
            )
            for number, shape in enumerate(taken)
        )
        inner = _Draft(opcode, given, opcode, draft.opcode_at, draft.start, operands=parameters)
        root = self._finish(inner, attributes)
        computation = Computation(self._computations.unused_name(name), (*parameters, root), root)
        self._computations.computations.append(computation)
        return computation


def _has_shape(operand: Instruction, text: str) -> bool:
    """Whether a text is seen to be the shape of an operand; most are the same text."""
    shape = plain_array(text)
    return shape is not None and (shape is operand.shape or shape.is_compatible_with(operand.shape))


_SHAPED = "with its shape before it, such as f32[2] %{}, it becomes a parameter"
"""A hint for scraps."""

_CONTINUING = {"async-update", "async-done"}

_OUTSIDE = {"async_execution_thread", "output_to_operand_aliasing", *COMMON_ATTRIBUTES}
"""Attributes of the asynchronous operation, unless the wrapped one has them by itself."""

_ON_BOTH = {"backend_config", "frontend_attributes", "metadata", "origin", "statistics"}
"""Attributes of both, as in XLA."""

_CALL = re.compile(BLANK + r"\(")

_ARGUMENTS: dict[str, Callable[[InstructionReader, _Draft], None]] = {
    "parameter": InstructionReader.parameter,
    "constant": InstructionReader.constant,
}
"""The opcodes with something else than operands in their parentheses."""
