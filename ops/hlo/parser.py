"""The parser of HLO text: modules and dumps, computations, and instructions."""

from __future__ import annotations

import copyreg
import itertools
import os
import re
import warnings
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NoReturn, Protocol, TypeVar, cast
from weakref import WeakValueDictionary

from indexing.layout import Shape, ShapeError
from indexing.passes import BLANK, SHAPE_TYPES, plain_array
from ops.hlo.attributes import ATTRIBUTES, MODULE_ATTRIBUTES, Codec, ProgramShape, Reference
from ops.hlo.errors import AttributeValueError, HloFileError, HloTextError
from ops.hlo.files import PROTOBUF_TEXT, files_in, protobuf, read_text
from ops.hlo.lexer import ATTRIBUTE, LINE, NO_NAMES, OPERAND, OPERANDS, HloLexer
from ops.hlo.literal import Literal, read_literal, read_shaped_literal
from ops.hlo.module import NO_ATTRIBUTES, Computation, Draft, HloModule, Instruction, parameter
from ops.hlo.opcodes import (
    CONTINUE_CALLS,
    LIKE_OPERANDS,
    NEW_OPCODE,
    OPCODES,
    RETIRED,
    Opcode,
    find_opcode,
    nearby,
)
from ops.hlo.shape_inference import infer_shape, signature, verify
from simplifier.errors import IndexingError, Span, TextError, TextWarning, check_type, quoted
from simplifier.tools.late import load_announced

# HLO modules from text: `parse` a text, `load` a file, or load a pickle.
#
# It accepts what XLA's parser accepts, in one pass over the text, and checks more: see
# `ops.hlo.shape_inference.verify`.


class Printable(Protocol):
    """Printer of HLO: JAX's ``Compiled``, and its ``Lowered``, which prints several dialects."""

    as_text: Callable[..., str | None]


def parse(text: str | Printable, file: str = "") -> HloModule:
    """The module of an HLO text; errors name the ``file``.

    The text may be a part of a module: computations without a header, or only instructions. Then
    an operand that is not defined becomes a parameter, if its shape stands before it, and a
    computation that is only named, as in ``to_apply=max``, is a custom call of unknown maps. What
    newer programs write is kept, with a warning: an attribute as its text, an operation as a custom
    call of that name.

    In the place of a text, what JAX lowered or compiled will do: ``hlo.parse(jax.jit(f).lower(x))``
    is the program as it was written, ``hlo.parse(jax.jit(f).lower(x).compile())`` what runs. A text
    that begins as a module of MLIR is StableHLO, and a protobuf of a module as text is that module.

    Raises:
        HloTextError: the text does not follow the grammar, or says something impossible.
        MlirTextError: likewise, of StableHLO.

    >>> module = parse('''
    ... ENTRY sum { a = f32[2,3] parameter(0)  zero = f32[] constant(0)
    ...   ROOT r = f32[2] reduce(a, zero), dimensions={1}, to_apply={
    ...     x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) } }''')
    >>> attributes = module.entry.root.attributes
    >>> attributes["dimensions"], attributes["to_apply"].root.opcode
    ((1,), 'add')
    >>> parse("y = f32[8] add(f32[8] %a, f32[8] %b)").entry.parameters
    (<%a = f32[8]{0} parameter(0)>, <%b = f32[8]{0} parameter(1)>)
    """
    text = text if isinstance(text, str) else _printed(text)
    if not text.startswith("HloModule"):
        load_announced("ops.hlo.parser.OTHER_READERS")
        for beginning, read in OTHER_READERS.items():
            if beginning.match(text):
                return read(text, file)
    lexer = HloLexer(text, file)
    try:
        module = _ModuleReader(lexer).module()
    except HloTextError as error:
        hint = _hint_of_format(text, error.span.start)
        if error.hint or not hint:
            raise
        raise HloTextError(error.message, error.span, hint) from None
    except TextError as error:
        span = replace(error.span, file=file)
        raise HloTextError(error.message, span, error.hint, lexer.instruction) from None
    for message, (first, *others) in lexer.notes.items():
        more = f" (and {len(others)} more)" * bool(others)
        warnings.warn(f"{first}: {message}{more}", TextWarning, stacklevel=2)
    return module


def _parse_protobuf(text: str, file: str) -> HloModule:
    """The module of a protobuf as text."""
    try:
        return parse(protobuf.text_of(text, file), file)
    except AttributeValueError as error:
        raise HloTextError(str(error), Span(text, 0, 1, file)) from None


def _parse_saved_tensors(text: str, file: str) -> HloModule:
    """The first graph in PyTorch/XLA's ``XLA_SAVE_TENSORS_FILE``; lines keep their numbers."""
    before, _, graph = text.partition("## BEGIN_GRAPH")
    return parse("\n" * before.count("\n") + graph.partition("## END_GRAPH")[0], file)


OTHER_READERS: Final[dict[re.Pattern[str], Callable[[str, str], HloModule]]] = {
    re.compile(PROTOBUF_TEXT): _parse_protobuf,
    re.compile(r"\[\w+\]\s+TensorsGraphInfo:"): _parse_saved_tensors,
}
"""Readers of texts that are no HLO, by how these begin; the package of a dialect adds its own."""


def _printed(program: Printable) -> str:
    """The HLO text of an object that JAX lowered or compiled."""
    expected = "a string, or what JAX lowered or compiled; hlo.load reads a file"
    if isinstance(program, type) or not callable(getattr(program, "as_text", None)):
        check_type(program, str, "hlo.parse: the text", expected)
    dialects = ("hlo",) if hasattr(program, "compiler_ir") else ()
    text = program.as_text(*dialects)
    check_type(text, str, "hlo.parse: what as_text prints", expected)
    return text or ""


_OTHER_FORMATS: Final = {
    r"\{ lambda\b": "this looks like a jaxpr; ops.from_jax makes a module of its function",
    r"[\w./~\\-]+\.(?:hlo|txt|mlir|pb|gz)\s*\Z": "this is the path of a file; hlo.load reads it",
    r"[{\[]": "this looks like JSON; HLO text begins with HloModule, or with a computation: XLA "
    "dumps it with --xla_dump_hlo_as_text",
    r"[^{(]*[\x00-\x08\x0e-\x1f]": "this looks like a protobuf; hlo.load reads those of modules "
    "from a file",
}
"""How texts begin that are no HLO, and what to do about it."""


def _hint_of_format(text: str, wrong: int) -> str:
    """The hint about another format, if the text before the error shows one."""
    begin = text.lstrip()
    place = wrong - (len(text) - len(begin))
    found = ((re.match(sign, begin[:_BEGIN]), hint) for sign, hint in _OTHER_FORMATS.items())
    return next((hint for sign, hint in found if sign and place < sign.end()), "")


_BEGIN: Final = 80
"""Characters that tell the format of a text."""


def load(path: str | os.PathLike[str]) -> HloModule:
    """The module in a file: HLO text, or XLA's protobuf of a module or snapshot, binary or as text.

    Either may be compressed by gzip; a file that unpacks to more than 64 megabytes, and more than
    forty times its size, is refused.

    Raises:
        HloFileError: there is no such file, it is a folder, or it is neither of these.
        HloTextError: the text does not follow the grammar, or says something impossible.
        MlirTextError: likewise, of StableHLO.
    """
    check_type(path, (str, os.PathLike), "hlo.load: the path", "a path")
    if Path(path).is_dir():
        hint = "hlo.files_in lists its modules, hlo.dumped_modules those of a dump"
        raise HloFileError(os.fspath(path), f"this is a folder; {hint}")
    return parse(read_text(path), os.fspath(path))


# A pickled module is its text, compressed. A process that loads it twice holds one module.

_LIVE: Final = WeakValueDictionary[tuple[str, str], HloModule]()
"""The modules that were pickled or loaded and are in use, by text and file."""

_MAX_PICKLED: Final = 4
"""Compressed modules are kept for the next of their instructions: a pickle holds few modules."""


def module_of(text: str, file: str = "") -> HloModule:
    """The module of a text: the one in use, if it was asked for or pickled before.

    >>> module = module_of("ENTRY e { p = f32[] parameter(0) }")
    >>> module_of("ENTRY e { p = f32[] parameter(0) }") is module
    True
    """
    live = _LIVE.get((text, file))
    return _LIVE.setdefault((text, file), parse(text, file)) if live is None else live


@lru_cache(maxsize=_MAX_PICKLED)
def _pickled(module: HloModule) -> tuple[Callable[..., HloModule], tuple[bytes, str]]:
    source = module.source or str(module)
    _LIVE[source, module.file] = module
    text = source.encode(errors="surrogatepass")
    return _unpickled, (zlib.compress(text, level=9), module.file)


def _unpickled(text: bytes, file: str) -> HloModule:
    return module_of(zlib.decompress(text).decode(errors="surrogatepass"), file)


copyreg.pickle(HloModule, _pickled)


# The parser of instructions: `ROOT %sum = f32[4]{0} add(%a, %b), metadata={...}`.

_T = TypeVar("_T")

MAX_NESTING = 50
"""Of instructions in operands and computations in attributes; XLA writes one level, and Python's
stack holds these."""


@dataclass(frozen=True, slots=True)
class _NotShown:
    """A computation that a scrap names, but does not have."""

    name: str


_OPCODE: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


class InstructionReader:
    """Reads one instruction after another into the table of a computation."""

    def __init__(self, lexer: HloLexer) -> None:
        self._lexer = lexer
        self._computations = ComputationTable()
        self._table = InstructionTable()
        self._depth = 0
        self._started = set[Computation]()
        self._shape_of = cache(partial(_alone, read=HloLexer.shape))
        self._literal_of = cache(self._plain_literal)
        self._value_of = cache(self._plain_value)
        self._attributes_of = cache(self._plain_attributes)
        self._opcode_at = 0, 0
        self._references: dict[Reference, Callable[[], Any]] = {
            Reference.COMPUTATION: self._computation,
            Reference.COMPUTATIONS: lambda: lexer.braced(self._computation, "the computations"),
            Reference.INSTRUCTIONS: lambda: lexer.braced(self._reference, "the instructions"),
            Reference.LITERAL: lambda: read_shaped_literal(lexer),
        }

    def read_all(self, owner: str) -> InstructionTable:
        """Take the instructions of computation ``owner``, in braces."""
        lexer, outer = self._lexer, (self._table, self._lexer.instruction)
        lexer.expect("{", f"before the instructions of %{owner}")
        table, lexer.instruction = InstructionTable(), ""
        self._table = table
        self._lines()
        while lexer.text != "}":
            if lexer.kind == "end":
                message = f"the text ends inside of computation %{owner}, which no '}}' closes"
                raise lexer.error(message)
            self._instruction("'}' or an instruction")
            self._lines()
        if not table.by_name:
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

    def completed(self, name: str, table: InstructionTable, thread: str = "main") -> Computation:
        """The computation of a table, if its parameters are numbered without gaps."""
        lexer, count = self._lexer, len(table.parameters)
        for number, each in table.parameters.items():
            if number >= count:
                message = f"%{name} has no parameter {number}; expected 0 to {count - 1}"
                lexer.instruction = each.name
                raise lexer.error(message, lexer.span_of(each.start, each.stop))
        computation = Computation(name, tuple(table.by_name.values()), table.result, thread)
        self._computations.computations.append(computation)
        return computation

    # Lines as XLA writes them; equal parts are read once. Whatever is unusual or wrong about a line
    # is an error that nobody sees: then it is read token by token.

    def _lines(self) -> None:
        """Take the plain lines that begin here, if any do.

        Inside of a line none is looked for, as each look goes through the rest of it.
        """
        lexer, place = self._lexer, self._lexer.start
        is_plain = self._table.by_name.keys().isdisjoint(NO_NAMES)
        is_plain &= "\n" in lexer.source[lexer.previous_stop : place]
        with suppress(IndexingError, LookupError):
            while is_plain and (line := LINE.match(lexer.source, place)):
                self._line(line)
                place = line.end()
        lexer.jump(place)

    def _line(self, line: re.Match[str]) -> None:
        is_root, name, shape, opcode, text, tail = line.groups()
        table = self._table
        number = int(_DIGITS.findall(text)[0]) if opcode == "parameter" else None
        literal = self._literal_of(text, shape) if opcode == "constant" else None
        operands = self._operands_of(text) if text and opcode not in _ARGUMENTS else ()
        attributes = self._attributes_of(opcode, len(operands), tail)
        fields = operands, attributes, literal, number, line.end()
        draft = Draft(name, opcode, self._shape_of(shape), line.start(1), *fields)
        instruction = draft.completed()
        verify(instruction)
        is_taken = name in table.by_name or number in table.parameters or (is_root and table.root)
        if is_taken or name in NO_NAMES:
            raise KeyError(name)
        table.add(instruction)
        table.root = instruction if is_root else table.root

    def _operands_of(self, text: str) -> tuple[Instruction, ...]:
        """Operands that are defined, and have their shapes if these stand before them."""
        known = self._table.by_name
        if "[" not in text and "/" not in text:
            names = text[1:].split(", %") if text[0] == "%" else text.split(", ")
            return tuple(map(known.__getitem__, names))
        pairs = OPERAND.findall(text) if OPERANDS.fullmatch(text) else [("", text)]
        operands = tuple([known[name.removeprefix("%")] for _, name in pairs])
        if not all(map(_has_shape, operands, [shape for shape, _ in pairs])):
            raise KeyError(text)
        return operands

    def _plain_attributes(self, opcode: str, count: int, text: str) -> Mapping[str, Any]:
        """The attributes of an operation on so many operands."""
        known, pairs = OPCODES[opcode], dict[str, str](ATTRIBUTE.findall(text))
        values = {name: self._value_of(name, value) for name, value in pairs.items()}
        is_plain = (
            "".join(f", {name}={value}" for name, value in pairs.items()) == text
            and known.codecs.keys() >= values.keys() >= {*known.required}
            and opcode not in _ASYNC
            and count in known.arity
        )
        if not is_plain:
            raise KeyError(text)
        return MappingProxyType(values) if values else NO_ATTRIBUTES

    def _plain_value(self, name: str, text: str) -> Any:  # noqa: ANN401  (one type for each format)
        form = ATTRIBUTES[name]
        if isinstance(form, Codec):
            return _alone(text, form.value)
        known = {Reference.COMPUTATION: self._computations.by_name}[form]
        return known[_alone(text, lambda lexer: lexer.name("a computation"))]

    def _plain_literal(self, text: str, shape: str) -> Literal:
        return _alone(text, partial(read_literal, shape=self._shape_of(shape)))

    # Instructions token by token

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
            message = f"instruction %{name} is defined already, in line {line}"
            raise lexer.error_since(start, message)
        return name

    def _definition(self, name: str, start: int, *, is_operand: bool = False) -> Instruction:
        """Read the right side of an equals sign."""
        lexer, outer = self._lexer, (self._lexer.instruction, self._opcode_at)
        lexer.instruction = name
        shape = lexer.shape() if lexer.at_shape() else None
        self._opcode_at = lexer.start, lexer.stop
        draft = Draft(name, lexer.word("an opcode"), shape, start)
        opcode = self._opcode(draft)
        self._arguments(draft, opcode)
        attributes = self._attributes(draft, opcode, is_operand=is_operand)
        if opcode.sugar:
            attributes = self._desugared(draft, *opcode.sugar, attributes)
        if draft.opcode in CONTINUE_CALLS:
            attributes = self._continued(draft, attributes)
        if draft.opcode == "async-start":
            self._claim(attributes["calls"])
        instruction = self._finish(draft, attributes)
        self._table.add(instruction)
        lexer.instruction, self._opcode_at = outer
        return instruction

    def _opcode(self, draft: Draft) -> Opcode:
        draft.opcode, draft.attributes = RETIRED.get(draft.opcode, (draft.opcode, NO_ATTRIBUTES))
        opcode = find_opcode(draft.opcode)
        if opcode is None:
            self._check_new(draft)
            draft.attributes = {"custom_call_target": draft.opcode}
            message = f"there is no opcode {draft.opcode}; it is read as a custom call"
            self._lexer.note(message, self._lexer.span_of(*self._opcode_at))
            draft.opcode, opcode = "custom-call", NEW_OPCODE
        return opcode

    def _check_new(self, draft: Draft) -> None:
        """Raise an error unless a word may be the opcode of a newer XLA."""
        is_type = draft.shape is None and self._lexer.text == "["
        what, words = ("type", SHAPE_TYPES) if is_type else ("opcode", OPCODES)
        hint = nearby(draft.opcode, words)
        if hint or draft.shape is None or not _OPCODE.fullmatch(draft.opcode):
            self._fail(f"there is no {what} {draft.opcode}", hint)

    def _fail(self, message: str, hint: str = "") -> NoReturn:
        """Raise an error about an instruction as a whole."""
        raise self._lexer.error(message, self._lexer.span_of(*self._opcode_at), hint)

    # Operands

    def _arguments(self, draft: Draft, opcode: Opcode) -> None:
        """Take the text in the parentheses."""
        lexer = self._lexer
        special = _ARGUMENTS.get(draft.opcode)
        if special:
            lexer.expect("(", f"after {draft.opcode}")
            special(self, draft)
            lexer.expect(")", f"after the argument of {draft.opcode}")
            return
        draft.operands = lexer.listed(partial(self._operand, draft), "(", ")", "the operands")
        if len(draft.operands) not in opcode.arity:
            self._fail(f"{draft.opcode} takes {opcode.arity}, not {len(draft.operands)}")

    def parameter(self, draft: Draft) -> None:
        """Take the number of a parameter."""
        lexer, start = self._lexer, self._lexer.start
        number = draft.parameter_number = lexer.integer("the number of the parameter")
        if number < 0:
            raise lexer.error_since(start, f"parameter number {number} is negative")
        if number in self._table.parameters:
            other = self._table.parameters[number].name
            raise lexer.error_since(start, f"parameter number {number} is that of %{other} already")

    def constant(self, draft: Draft) -> None:
        """Take the value of a constant."""
        if draft.shape is None:
            self._fail("the shape of a constant cannot be inferred, so it has to be written")
        draft.literal = read_literal(self._lexer, draft.shape)

    def _operand(self, draft: Draft) -> Instruction:
        """Take the name of an instruction, with or without its shape, or a whole instruction.

        In a scrap, one that is not defined becomes a parameter. Operands of elementwise operations
        need no shape: it is that of the result.
        """
        lexer, start = self._lexer, self._lexer.start
        shape = lexer.shape() if lexer.at_shape() else None
        if lexer.text[:1] != "%" and _CALL.match(lexer.source, lexer.stop):
            return self._nested(start)
        if self._table.is_scrap and lexer.text.removeprefix("%") not in self._table.by_name:
            implied = draft.shape if draft.opcode in LIKE_OPERANDS else None
            return self._made_up(shape or implied, start)
        operand = self._reference()
        if shape and not shape.is_compatible_with(operand.shape):
            message = f"operand %{operand.name} is {operand.shape}, not {shape}"
            raise lexer.error_since(start, message)
        return operand

    def _made_up(self, shape: Shape | None, start: int) -> Instruction:
        """The parameter that stands for an operand of a scrap."""
        lexer, table = self._lexer, self._table
        is_named = lexer.kind == "name"
        name = lexer.name("an operand") if is_named else table.unused_name("parameter")
        if shape is None:
            message, hint = f"operand %{name} is not defined before this", _SHAPED.format(name)
            raise lexer.error_since(start, message, nearby(name, table.by_name) or hint)
        number = next(n for n in itertools.count() if n not in table.parameters)
        made = parameter(name, shape, number, start, lexer.previous_stop)
        table.add(made)
        return made

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

    def _attributes(self, draft: Draft, opcode: Opcode, *, is_operand: bool) -> dict[str, Any]:
        """Take the attributes; an instruction in place of an operand has none."""
        lexer, attributes = self._lexer, dict(draft.attributes)
        if not is_operand:
            attributes |= self.read_attributes(draft.opcode, opcode.codecs, opcode.required)
        operand = draft.operands[0].shape if draft.operands else None
        if draft.opcode == "broadcast" and operand and operand.is_array and not operand.rank:
            attributes.setdefault("dimensions", ())
        for name in opcode.required:
            if name not in attributes:
                hint = "a comma is missing before the attribute" if lexer.text == name else ""
                message = f"expected attribute {name} of {draft.opcode} before this"
                raise lexer.error(message, hint=hint)
        if not self._table.is_scrap:
            return attributes
        return {name: self._shown(draft, name, value) for name, value in attributes.items()}

    def read_attributes(
        self, owner: str, forms: Mapping[str, Codec | Reference], required: Collection[str] = ()
    ) -> dict[str, Any]:
        """Take ``, name=value`` as often as it occurs; ``forms`` gives the form of each value.

        The value of a name that is no attribute of HLO is kept as its text, with a note.
        """
        lexer, attributes = self._lexer, dict[str, Any]()
        while lexer.text == ",":
            lexer.advance()
            name = lexer.text
            form = forms.get(name)
            if form is None and (lexer.kind != "name" or not _may_be_new(name, required)):
                known = f"known are {', '.join(sorted(forms))}"
                raise lexer.expected(f"an attribute of {owner}", known)
            if name in attributes:
                raise lexer.error(f"attribute {name} stands here for the second time")
            span = lexer.span
            lexer.advance()
            lexer.expect("=", f"after attribute {name}")
            if form is None:
                lexer.note(f"no attribute of {owner} is called {name}; its text is kept", span)
            attributes[name] = self._value(form) if form else lexer.anything("a value")
        return attributes

    def _value(self, form: Codec | Reference) -> Any:  # noqa: ANN401  (one type for each format)
        if isinstance(form, Reference):
            return self._references[form]()
        return form.value(self._lexer)

    def _computation(self) -> Computation | _NotShown:
        """Take the name of a computation, or a whole one in braces."""
        lexer = self._lexer
        if lexer.text == "{":
            self._enter()
            name = self._computations.unused_name("_")
            computation = self.completed(name, self.read_all(name))
            self._depth -= 1
            return computation
        known = self._computations.by_name
        name = lexer.text.removeprefix("%")
        if self._table.is_scrap and name not in known and not nearby(name, known):
            return _NotShown(lexer.name("a computation"))
        return self._defined("computation", "a computation", known)

    def _shown(self, draft: Draft, attribute: str, value: Any, place: int = 0) -> Any:  # noqa: ANN401 - of any attribute
        """The value of an attribute, with computations in place of those that a scrap only names.

        Such a computation is a custom call of which nobody knows what it does.
        """
        if isinstance(value, tuple):
            parts = enumerate(cast("tuple[Any, ...]", value))
            return tuple(self._shown(draft, attribute, part, number) for number, part in parts)
        if not isinstance(value, _NotShown):
            return value
        if draft.shape is None:
            self._fail(f"the shape must be written, for %{value.name} is not shown")
        operands = [operand.shape for operand in draft.operands]
        taken, given = signature(draft.opcode, attribute, operands, draft.shape, place)
        target = {"custom_call_target": f"%{value.name}, which is not shown"}
        inner = Draft("custom-call", "custom-call", given, draft.start)
        return self._made(value.name, taken, inner, target)

    # The end of an instruction

    def _finish(self, draft: Draft, attributes: Mapping[str, Any]) -> Instruction:
        draft.attributes = MappingProxyType(attributes) if attributes else NO_ATTRIBUTES
        draft.stop = self._lexer.previous_stop
        shapes = [operand.shape for operand in draft.operands]
        try:
            draft.shape = draft.shape or infer_shape(draft.opcode, shapes, attributes)
            instruction = draft.completed()
            verify(instruction)
        except (AttributeValueError, ShapeError) as error:
            self._fail(str(error))
        return instruction

    def _desugared(
        self, draft: Draft, base: str, part: str, attributes: dict[str, Any]
    ) -> dict[str, Any]:
        """Turn ``slice-start`` into ``async-start``, which calls the ``slice``, and so on."""
        draft.opcode = f"async-{part}"
        if part == "start":
            own = {*OPCODES[base].required, *OPCODES[base].optional}
            kept = {n: v for n, v in attributes.items() if n not in own}
            inner = {n: v for n, v in attributes.items() if n in own or n in _ON_BOTH}
            return {"calls": self._wrapped(draft, base, inner), **kept}
        calls = draft.operands[0].attributes.get("calls")
        if calls and calls.root.opcode != base:
            self._fail(f"the operand starts {calls.root.opcode}, not {base}")
        return attributes

    def _continued(self, draft: Draft, attributes: dict[str, Any]) -> dict[str, Any]:
        """Each part of an asynchronous operation names the computation that the operation calls."""
        calls = draft.operands[0].attributes.get("calls")
        return {"calls": calls, **attributes} if calls else attributes

    def _claim(self, called: Computation) -> None:
        """An asynchronous operation has its computation for itself."""
        if called in self._started:
            self._fail(f"another async-start calls computation %{called.name} already")
        self._started.add(called)

    def _wrapped(self, draft: Draft, opcode: str, attributes: Mapping[str, Any]) -> Computation:
        """The computation that holds only the operation that starts."""
        shapes = draft.shape.elements if draft.shape else ()
        if len(shapes) < 2:  # noqa: PLR2004  (operands and outputs)
            self._fail(f"the shape of {opcode}-start is ((operands), outputs, state...)")
        operands = [operand.shape for operand in draft.operands]
        inner = Draft(opcode, opcode, shapes[1], draft.start)
        return self._made("async_wrapped", operands, inner, attributes)

    def _made(
        self, name: str, taken: Sequence[Shape], inner: Draft, attributes: Mapping[str, Any]
    ) -> Computation:
        """A computation of one operation on all parameters, which the text does not have."""
        place = inner.start, self._lexer.previous_stop
        inner.operands = tuple(
            parameter(f"param_{number}", shape, number, *place)
            for number, shape in enumerate(taken)
        )
        root = self._finish(inner, attributes)
        table = InstructionTable(by_name={each.name: each for each in (*root.operands, root)})
        return self.completed(self._computations.unused_name(name), table)


# The parser of modules: one method for each rule of the grammar.


class _ModuleReader(InstructionReader):
    """Reads a whole module."""

    def module(self) -> HloModule:
        """Take a whole text."""
        lexer, table = self._lexer, self._computations
        if lexer.kind == "end":
            raise lexer.error("expected an HLO module, but the text is empty")
        named = lexer.accept("HloModule")
        name = lexer.name("the name of the module") if named else ""
        attributes = self.read_attributes("the module", MODULE_ATTRIBUTES) if named else {}
        tables = MappingProxyType(dict(self._tables()))
        last = self._top_level(named=named)
        while lexer.kind != "end":
            last = self._top_level(named=named)
        entry = table.entry or last
        self._check_entry(entry, attributes.get("entry_computation_layout"))
        name, computations = name or f"module_{entry.name}", tuple(table.computations)
        known = MappingProxyType(attributes)
        return HloModule(name, computations, entry, known, lexer.source, lexer.file, tables)

    def _check_entry(self, entry: Computation, declared: ProgramShape | None) -> None:
        """Check the entry against the header; in a text that is cut off it is another one."""
        found = ProgramShape(tuple(p.shape for p in entry.parameters), entry.root.shape)
        if declared is not None and not declared.is_compatible_with(found):
            message = f"%{entry.name} is {found}, but the module declares {declared} as its entry"
            hint = "the text may be cut off" * (self._computations.entry is None)
            raise self._lexer.error(message, hint=hint)

    def _tables(self) -> Iterator[tuple[str, Mapping[int, str | Mapping[str, int]]]]:
        while self._lexer.text in _TABLES:
            yield self._lexer.advance(), MappingProxyType(dict(self._rows()))

    def _rows(self) -> Iterator[tuple[int, str | Mapping[str, int]]]:
        lexer = self._lexer
        while lexer.kind == "number":
            yield lexer.integer(), self._row()

    def _row(self) -> str | Mapping[str, int]:
        lexer = self._lexer
        if lexer.kind == "string":
            return lexer.string()
        pairs, stop = lexer.pairs_ahead() or ({}, 0)
        numbers = {name: value for name, value in pairs.items() if isinstance(value, int)}
        if numbers and len(numbers) == len(pairs):
            lexer.jump(stop)
            return MappingProxyType(numbers)
        names = lexer.names_before_values("the fields of a table", "the name of a field")
        return MappingProxyType({name: lexer.integer() for name in names})

    def _top_level(self, *, named: bool) -> Computation:
        """Take a computation, or all instructions of a text that is only a part of one."""
        if named or not self._at_instruction():
            return self._top_computation()
        return self.completed("entry", self.read_scrap())

    def _at_instruction(self) -> bool:
        lexer = self._lexer
        if lexer.kind == "name" and _ASSIGNED.match(lexer.source, lexer.stop):
            return True
        return lexer.text == "ROOT" or lexer.at_shape()

    def _top_computation(self) -> Computation:
        lexer, table = self._lexer, self._computations
        is_entry = lexer.accept("ENTRY")
        start = lexer.start
        name = lexer.name("a computation")
        if lexer.text not in {"(", "{"}:
            hint = _hint(name) if lexer.text == "=" else ""
            message = f"expected a computation, but found {quoted(name)}"
            raise lexer.error_since(start, message, hint)
        if name in table.by_name:
            raise lexer.error_since(start, f"computation %{name} is defined already")
        if is_entry and table.entry:
            raise lexer.error_since(start, f"%{table.entry.name} is the entry already")
        computation = self._body(name)
        table.by_name[name] = computation
        table.entry = computation if is_entry else table.entry
        return computation

    def _body(self, name: str) -> Computation:
        lexer = self._lexer
        declared, declared_at = None, lexer.span
        if lexer.text == "(":
            lexer.listed(self._declared_parameter, "(", ")", "the parameters")
            lexer.expect("->", "after the parameters")
            start = lexer.start
            declared = lexer.shape()
            declared_at = lexer.span_of(start, lexer.previous_stop)
        table = self.read_all(name)
        result = table.result.shape
        if declared and not declared.is_compatible_with(result):
            message = f"the result of %{name} is {result.text(layout=False)}, not {declared}"
            raise lexer.error(message, declared_at)
        return self.completed(name, table, self._execution_thread())

    def _declared_parameter(self) -> Shape:
        name = self._lexer.word("the name of a parameter without a percent sign")
        self._lexer.expect(":", f"after parameter {name}")
        return self._lexer.shape()

    def _execution_thread(self) -> str:
        lexer = self._lexer
        if not lexer.accept(","):
            return "main"
        lexer.expect("execution_thread", "after the comma")
        lexer.expect("=", "after execution_thread")
        return lexer.string()


_TABLES = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}
"""Tables of source locations; metadata names their rows by number."""

_ASSIGNED = re.compile(BLANK + ":?" + BLANK + "=")


def _hint(name: str) -> str:
    """The hint about the part missing before a name and an equals sign behind the header."""
    if name in MODULE_ATTRIBUTES:
        return "a comma is missing before an attribute of the module"
    return "the instructions of a module stand in a computation, such as ENTRY e { ... }"


# Parts of attributes and operands.

_ALL_NAMES: Final = ATTRIBUTES.keys() | MODULE_ATTRIBUTES.keys()


def _may_be_new(name: str, required: Collection[str]) -> bool:
    """Whether a newer XLA may call an attribute so, and it is no misspelt one that is required."""
    return name not in _ALL_NAMES and not nearby(name, required)


def _alone(text: str, read: Callable[[HloLexer], _T]) -> _T:
    """What a text says by itself, which it also says where a comma or a bracket follows."""
    lexer = HloLexer(f"{text},")
    value = read(lexer)
    if lexer.start != len(text):
        raise lexer.expected("a comma")
    return value


def _has_shape(operand: Instruction, text: str) -> bool:
    """Whether a text is nothing, or seen to be the shape of an operand."""
    shape = plain_array(text) if text else operand.shape
    return shape is not None and shape.is_compatible_with(operand.shape)


_SHAPED = "with its shape before it, such as f32[2] %{}, it becomes a parameter"
"""A hint for scraps."""

_ON_BOTH = {"backend_config", "frontend_attributes", "metadata", "origin", "statistics"}
"""Attributes of both, as in XLA."""

_ASYNC = CONTINUE_CALLS | {"async-start"}
"""The opcodes whose attributes are not only those of the text."""

_DIGITS = re.compile(r"^\d{1,18}$", re.ASCII)

_CALL = re.compile(BLANK + r"\(")

_ARGUMENTS: dict[str, Callable[[InstructionReader, Draft], None]] = {
    "parameter": InstructionReader.parameter,
    "constant": InstructionReader.constant,
}
"""The opcodes with something else than operands in their parentheses."""


# Symbol tables: the instructions and computations that are defined so far, by name.


@dataclass(slots=True)
class InstructionTable:
    """The instructions of the computation that is being read.

    In a scrap, a text of instructions without a computation, operands need not be defined.
    """

    is_scrap: bool = False
    by_name: dict[str, Instruction] = field(default_factory=dict[str, Instruction])
    parameters: dict[int, Instruction] = field(default_factory=dict[int, Instruction])
    root: Instruction | None = None
    _given: set[str] = field(default_factory=set[str])

    @property
    def result(self) -> Instruction:
        """The root: the last instruction, unless the text names another one."""
        return self.root or next(reversed(self.by_name.values()))

    def add(self, instruction: Instruction) -> None:
        """Define an instruction; its name is new."""
        self.by_name[instruction.name] = instruction
        if instruction.parameter_number is not None:
            self.parameters[instruction.parameter_number] = instruction

    def unused_name(self, stem: str) -> str:
        """A name for an instruction without one; it is not given to another one, defined or not."""
        name, count = stem, len(self.by_name)
        while name in self.by_name or name in self._given:
            name, count = f"{stem}.{count}", count + 1
        self._given.add(name)
        return name


@dataclass(slots=True)
class ComputationTable:
    """The computations of the module that is being read; some have no name in the text."""

    computations: list[Computation] = field(default_factory=list[Computation])
    by_name: dict[str, Computation] = field(default_factory=dict[str, Computation])
    entry: Computation | None = None
    _unnamed: dict[str, int] = field(default_factory=dict[str, int])

    def unused_name(self, stem: str) -> str:
        """A name for a computation without one."""
        count = self._unnamed[stem] = self._unnamed.get(stem, -1) + 1
        return f"{stem}.{count}" if count else stem


# XLA's dumps: the modules in a folder of `--xla_dump_to`, by number, name and stage.

_STAGES: Final = (
    r"before_optimizations",
    r"\d{4}\..+",  # between passes: 0003.fusion.after_dce.before_layout
    r"(?:sm_\d+\.\d+_)?\w*after_optimizations",
    r"(?:snapshot|execution_\d+)\..+|[^.]+",  # snapshots, and what is asked for by hand
)
"""How stages are written, in the order of compilation."""
_FILE: Final = re.compile(rf"(?:.+\.)?module_(\d+)\.(?:(.+?)\.)?({'|'.join(_STAGES)})")
_ENDINGS: Final = (".gz", ".txt", ".pb", ".pbtxt", ".textproto", ".prototxt", ".hlo")


@dataclass(frozen=True, slots=True)
class DumpedModule:
    """A module in a dump: the stage of a compilation, and the file that holds it."""

    path: str
    number: int
    """Counts the modules that a process compiled."""
    name: str
    """Such as ``jit_softmax``."""
    stage: str
    """Such as ``before_optimizations``, or ``sm_9.0_gpu_after_optimizations``."""

    def load(self) -> HloModule:
        """The module itself; see :func:`ops.hlo.load`."""
        return load(self.path)


def dumped_modules(folder: str | os.PathLike[str]) -> tuple[DumpedModule, ...]:
    """The modules of XLA's dumps in a folder and the folders in it.

    They are sorted by number, then by stage in the order of compilation. Other files are left out:
    modules that XLA did not name, assignments of buffers, code of LLVM. Nothing is parsed before
    :meth:`DumpedModule.load`::

        XLA_FLAGS="--xla_dump_to=dump --xla_dump_hlo_as_text" python model.py

        for dumped in hlo.dumped_modules("dump"):
            if dumped.stage.endswith("after_optimizations"):
                print(dumped.name, dumped.load())

    Raises:
        HloFileError: a folder cannot be listed.

    >>> dumped_modules("examples")
    ()
    """
    found = [_dumped(path) for path in files_in(folder)]
    return tuple(sorted(filter(None, found), key=_order))


def _dumped(path: str) -> DumpedModule | None:
    name = Path(path).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    found = _FILE.fullmatch(name)
    return found and DumpedModule(path, int(found[1]), found[2] or "", found[3])


def _order(dumped: DumpedModule) -> tuple[int, str, int, str, str]:
    rank = next(i for i, stage in enumerate(_STAGES) if re.fullmatch(stage, dumped.stage))
    return dumped.number, dumped.name, rank, dumped.stage, dumped.path
