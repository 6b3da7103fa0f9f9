"""HLO modules from text: :func:`parse` a text, :func:`load` a file, or load a pickle.

It accepts what XLA's parser accepts, in one pass over the text, and checks more: see
:mod:`ops.hlo.verifier`.
"""

from __future__ import annotations

import copyreg
import os
import re
import zlib
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol
from weakref import WeakValueDictionary

from indexing.layout.shape import BLANK
from ops.hlo.attributes import MODULE_ATTRIBUTES, Codec, read_attributes, read_value
from ops.hlo.errors import HloTextError
from ops.hlo.files import read_text
from ops.hlo.hlo_lexer import HloLexer
from ops.hlo.instruction_reader import InstructionReader
from ops.hlo.module import NO_ATTRIBUTES, Computation, HloModule
from ops.hlo.stablehlo import is_stablehlo
from ops.hlo.stablehlo import parse as parse_stablehlo
from ops.hlo.symbol_table import ComputationTable
from ops.hlo.values import ProgramShape
from simplifier.errors import TextError, check_type, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from indexing.layout import Shape
    from ops.hlo.symbol_table import InstructionTable


class Printable(Protocol):
    """What prints HLO: JAX's ``Compiled``, and its ``Lowered``, which prints several dialects."""

    as_text: Callable[..., str | None]


def parse(text: str | Printable, file: str = "") -> HloModule:
    """The module of an HLO text; errors name the ``file``.

    The text may be a part of a module: computations without a header, or only instructions. Then
    an operand that is not defined becomes a parameter, if its shape stands before it, and a
    computation that is only named, as in ``to_apply=max``, is a custom call of unknown maps. In the
    place of a text, what JAX lowered or compiled will do: ``hlo.parse(jax.jit(f).lower(x))`` is the
    program as it was written, ``hlo.parse(jax.jit(f).lower(x).compile())`` what runs. A text that
    begins as a module of MLIR is StableHLO.

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
    if is_stablehlo(text):
        return parse_stablehlo(text, file)
    lexer = HloLexer(text, file)
    try:
        return _ModuleReader(lexer).module()
    except HloTextError as error:
        hint = _hint_of_format(text, error.span.start)
        if error.hint or not hint:
            raise
        raise HloTextError(error.message, error.span, hint) from None
    except TextError as error:
        span = replace(error.span, file=file)
        raise HloTextError(error.message, span, error.hint, lexer.instruction) from None


def _printed(program: Printable) -> str:
    """The HLO text of what JAX lowered or compiled."""
    expected = "a string, or what JAX lowered or compiled; hlo.load reads a file"
    if isinstance(program, type) or not callable(getattr(program, "as_text", None)):
        check_type(program, str, "hlo.parse: the text", expected)
    dialects = ("hlo",) if hasattr(program, "compiler_ir") else ()
    text = program.as_text(*dialects)
    check_type(text, str, "hlo.parse: what as_text prints", expected)
    return text or ""


_OTHER_FORMATS: Final = {
    r"[{\[]": "this looks like JSON; HLO text begins with HloModule, or with a computation: XLA "
    "dumps it with --xla_dump_hlo_as_text",
    r"hlo_module \{\s*name: \"": "this looks like a protobuf as text; hlo.load "
    "reads binary ones, and XLA dumps HLO text with --xla_dump_hlo_as_text",
    r"[^{(]*[\x00-\x08\x0e-\x1f]": "this looks like a protobuf; hlo.load reads those of modules "
    "from a file",
}
"""How texts begin that are no HLO, and what to do about it."""


def _hint_of_format(text: str, wrong: int) -> str:
    """What to do about another format, if all before the place that is wrong tells it."""
    begin = text.lstrip()
    place = wrong - (len(text) - len(begin))
    found = ((re.match(sign, begin[:_BEGIN]), hint) for sign, hint in _OTHER_FORMATS.items())
    return next((hint for sign, hint in found if sign and place < sign.end()), "")


_BEGIN: Final = 80
"""Characters that tell the format of a text."""


def load(path: str | os.PathLike[str]) -> HloModule:
    """The module in a file: HLO text, or XLA's protobuf of a module or snapshot, by jaxlib.

    Either may be compressed by gzip; a file that unpacks to more than 64 megabytes, and more than
    forty times its size, is refused.

    Raises:
        HloFileError: there is no such file, it is neither, or a protobuf needs jaxlib.
        HloTextError: the text does not follow the grammar, or says something impossible.
        MlirTextError: likewise, of StableHLO.
    """
    check_type(path, (str, os.PathLike), "hlo.load: the path", "a path")
    return parse(read_text(path), os.fspath(path))


class _ModuleReader:
    """The parser: one method for each rule of the grammar."""

    def __init__(self, lexer: HloLexer) -> None:
        self._lexer = lexer
        self._computations = ComputationTable()
        self._instructions = InstructionReader(lexer, self._computations, self._inner_computation)

    def module(self) -> HloModule:
        """Take a whole text."""
        lexer, table = self._lexer, self._computations
        if lexer.kind == "end":
            raise lexer.error("expected an HLO module, but the text is empty")
        named = lexer.accept("HloModule")
        name = lexer.name("the name of the module") if named else ""
        attributes = self._attributes() if named else NO_ATTRIBUTES
        tables = MappingProxyType(dict(self._tables()))
        last = self._top_level(named=named)
        while lexer.kind != "end":
            last = self._top_level(named=named)
        entry = table.entry or last
        self._check_entry(entry, attributes.get("entry_computation_layout"))
        name, computations = name or f"module_{entry.name}", tuple(table.computations)
        return HloModule(name, computations, entry, attributes, lexer.source, lexer.file, tables)

    def _check_entry(self, entry: Computation, declared: ProgramShape | None) -> None:
        """Check the entry against the header; in a text that is cut off it is another one."""
        found = ProgramShape(tuple(p.shape for p in entry.parameters), entry.root.shape)
        if declared is not None and not declared.is_compatible_with(found):
            message = f"%{entry.name} is {found}, but the module declares {declared} as its entry"
            raise self._lexer.error(
                message, hint="the text may be cut off" * (self._computations.entry is None)
            )

    def _attributes(self) -> Mapping[str, Any]:
        def read(form: Codec) -> Any:  # noqa: ANN401  (one type for each format)
            return read_value(self._lexer, form)

        return MappingProxyType(read_attributes(self._lexer, "the module", MODULE_ATTRIBUTES, read))

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
        return MappingProxyType(dict(self._fields()))

    def _fields(self) -> Iterator[tuple[str, int]]:
        lexer = self._lexer
        lexer.expect("{", "before the fields of a table")
        while not lexer.accept("}"):
            name = lexer.word("'}' or the name of a field")
            lexer.expect("=", f"after {name}")
            yield name, lexer.integer()

    def _top_level(self, *, named: bool) -> Computation:
        """Take a computation, or all instructions of a text that is only a part of one."""
        if named or not self._at_instruction():
            return self._top_computation()
        return self._add("entry", self._instructions.read_scrap(), "main")

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
            raise lexer.error_since(
                start, f"expected a computation, but found {quoted(name)}", hint
            )
        if name in table.by_name:
            raise lexer.error_since(start, f"computation %{name} is defined already")
        if is_entry and table.entry:
            raise lexer.error_since(start, f"%{table.entry.name} is the entry already")
        computation = self._computation(name)
        table.by_name[name] = computation
        table.entry = computation if is_entry else table.entry
        return computation

    def _computation(self, name: str) -> Computation:
        lexer = self._lexer
        declared, declared_at = None, lexer.span
        if lexer.text == "(":
            lexer.listed(self._declared_parameter, "(", ")", "the parameters")
            lexer.expect("->", "after the parameters")
            start = lexer.start
            declared = lexer.shape()
            declared_at = lexer.span_of(start, lexer.previous_stop)
        table = self._instructions.read_all(name)
        result = table.result.shape
        if declared and not declared.is_compatible_with(result):
            message = f"the result of %{name} is {result.text(layout=False)}, not {declared}"
            raise lexer.error(message, declared_at)
        return self._add(name, table, self._execution_thread())

    def _inner_computation(self, name: str) -> Computation:
        """Take a computation that stands inside of an instruction."""
        return self._add(name, self._instructions.read_all(name), "main")

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

    def _add(self, name: str, table: InstructionTable, thread: str) -> Computation:
        """Complete a computation and check that its parameters are numbered without gaps."""
        count = len(table.parameters)
        for number, parameter in table.parameters.items():
            if number >= count:
                message = f"%{name} has no parameter {number}; expected 0 to {count - 1}"
                self._lexer.instruction = parameter.name
                parameter_span = self._lexer.span_of(parameter.start, parameter.stop)
                raise self._lexer.error(message, parameter_span)
        computation = Computation(name, tuple(table.instructions), table.result, thread)
        self._computations.computations.append(computation)
        return computation


_TABLES = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}
"""Tables of source locations; metadata names their rows by number."""

_ASSIGNED = re.compile(BLANK + ":?" + BLANK + "=")


def _hint(name: str) -> str:
    """What is missing before a name and an equals sign behind the header of a module."""
    if name in MODULE_ATTRIBUTES:
        return "a comma is missing before an attribute of the module"
    return "the instructions of a module stand in a computation, such as ENTRY e { ... }"


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
