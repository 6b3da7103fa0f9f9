"""HLO modules from text: :func:`parse` a text, :func:`load` a file, or load a pickle.

It accepts what XLA's own parser accepts, in one pass over the text, and checks more: see
:mod:`ops.hlo.verifier`.
"""

from __future__ import annotations

import copyreg
import os
import zlib
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from ops.hlo.attributes import MODULE_ATTRIBUTES
from ops.hlo.codecs import Format, read_attributes, read_value
from ops.hlo.errors import HloTextError
from ops.hlo.files import read_text
from ops.hlo.instruction_reader import InstructionReader
from ops.hlo.lexer import Tokens
from ops.hlo.module import NO_ATTRIBUTES, Computation, HloModule
from ops.hlo.symbol_table import Registry, Scope
from ops.hlo.values import ProgramShape
from simplifier.errors import TextError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from indexing.layout import Shape


def parse(text: str, file: str = "") -> HloModule:
    """The module that an HLO text says; ``file`` is named in messages.

    Raises:
        HloTextError: the text does not follow the grammar, or says something impossible.

    >>> module = parse('''
    ... ENTRY sum { a = f32[2,3] parameter(0)  zero = f32[] constant(0)
    ...   ROOT r = f32[2] reduce(a, zero), dimensions={1}, to_apply={
    ...     x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) } }''')
    >>> attributes = module.entry.root.attributes
    >>> attributes["dimensions"], attributes["to_apply"].root.opcode
    ((1,), 'add')
    """
    tokens = Tokens(text, file)
    try:
        return _ModuleReader(tokens).module()
    except HloTextError:
        raise
    except TextError as error:
        span = replace(error.span, file=file)
        raise HloTextError(error.message, span, error.hint, tokens.instruction) from None


def load(path: str | os.PathLike[str]) -> HloModule:
    """The module in a file.

    Raises:
        HloFileError: there is no such file, or it holds no text.
        HloTextError: the text does not follow the grammar, or says something impossible.
    """
    return parse(read_text(path), os.fspath(path))


class _ModuleReader:
    """One method for each rule of the grammar; each takes the words of its rule."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._registry = Registry()
        self._instructions = InstructionReader(tokens, self._registry, self._inner_computation)

    def module(self) -> HloModule:
        """Take a whole text."""
        tokens, registry = self._tokens, self._registry
        if tokens.kind == "end":
            tokens.fail("expected an HLO module, but the text is empty")
        named = tokens.accept("HloModule")
        name = tokens.name("the name of the module") if named else ""
        attributes = self._attributes() if named else NO_ATTRIBUTES
        tables = MappingProxyType(dict(self._tables()))
        last = self._top_computation()
        while tokens.kind != "end":
            last = self._top_computation()
        entry = registry.entry or last
        self._check_entry(entry, attributes.get("entry_computation_layout"))
        name, computations = name or f"module_{entry.name}", tuple(registry.computations)
        return HloModule(name, computations, entry, attributes, tokens.source, tokens.file, tables)

    def _check_entry(self, entry: Computation, declared: ProgramShape | None) -> None:
        """The entry is the program that the header declares; in a cut-off text it is another."""
        found = ProgramShape(tuple(p.shape for p in entry.parameters), entry.root.shape)
        if declared is not None and not declared.is_compatible_with(found):
            message = f"%{entry.name} is {found}, but the module declares {declared} as its entry"
            self._tokens.fail(message, "the text may be cut off" * (self._registry.entry is None))

    def _attributes(self) -> Mapping[str, Any]:
        def read(form: Format) -> Any:  # noqa: ANN401  (one type for each format)
            return read_value(self._tokens, form)

        return MappingProxyType(
            read_attributes(self._tokens, "the module", MODULE_ATTRIBUTES, read)
        )

    def _tables(self) -> Iterator[tuple[str, Mapping[int, str | Mapping[str, int]]]]:
        while self._tokens.text in _TABLES:
            yield self._tokens.advance(), MappingProxyType(dict(self._rows()))

    def _rows(self) -> Iterator[tuple[int, str | Mapping[str, int]]]:
        tokens = self._tokens
        while tokens.kind == "number":
            yield tokens.integer(), self._row()

    def _row(self) -> str | Mapping[str, int]:
        if self._tokens.kind == "string":
            return self._tokens.string()
        return MappingProxyType(dict(self._fields()))

    def _fields(self) -> Iterator[tuple[str, int]]:
        tokens = self._tokens
        tokens.expect("{", "before the fields of a table")
        while not tokens.accept("}"):
            name = tokens.word("'}' or the name of a field")
            tokens.expect("=", f"after {name}")
            yield name, tokens.integer()

    def _top_computation(self) -> Computation:
        tokens, registry = self._tokens, self._registry
        is_entry = tokens.accept("ENTRY")
        place = tokens.place
        name = tokens.name("a computation")
        if tokens.text not in {"(", "{"}:
            hint = _COMMA if tokens.text == "=" else ""
            tokens.fail(f"expected a computation, but there is '{name}'", hint, place)
        if name in registry.by_name:
            tokens.fail(f"computation %{name} is defined already", place=place)
        if is_entry and registry.entry:
            tokens.fail(f"%{registry.entry.name} is the entry already", place=place)
        computation = self._computation(name)
        registry.by_name[name] = computation
        registry.entry = computation if is_entry else registry.entry
        return computation

    def _computation(self, name: str) -> Computation:
        tokens = self._tokens
        declared, place = None, (0, 0)
        if tokens.text == "(":
            tokens.listed(self._declared_parameter, "(", ")", "the parameters")
            tokens.expect("->", "after the parameters")
            start = tokens.start
            declared = tokens.shape()
            place = start, tokens.end
        scope = self._instructions.read_all(name)
        result = scope.result.shape
        if declared and not declared.is_compatible_with(result):
            message = f"the result of %{name} is {result.text(layout=False)}, not {declared}"
            tokens.fail(message, place=place)
        return self._add(name, scope, self._execution_thread())

    def _inner_computation(self, name: str) -> Computation:
        """Take a computation that is written inside of an instruction."""
        return self._add(name, self._instructions.read_all(name), "main")

    def _declared_parameter(self) -> Shape:
        name = self._tokens.word("the name of a parameter without a percent sign")
        self._tokens.expect(":", f"after parameter {name}")
        return self._tokens.shape()

    def _execution_thread(self) -> str:
        tokens = self._tokens
        if not tokens.accept(","):
            return "main"
        tokens.expect("execution_thread", "after the comma")
        tokens.expect("=", "after execution_thread")
        return tokens.string()

    def _add(self, name: str, scope: Scope, thread: str) -> Computation:
        """Complete a computation; its parameters must be numbered without gaps."""
        count = len(scope.parameters)
        for number, parameter in scope.parameters.items():
            if number >= count:
                message = f"parameter number {number} of %{name}, which has only {count} parameters"
                self._tokens.instruction = parameter.name
                self._tokens.fail(message, place=(parameter.start, parameter.stop))
        computation = Computation(name, tuple(scope.instructions), scope.result, thread)
        self._registry.computations.append(computation)
        return computation


_TABLES = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"}
"""Where operations come from in the source program; metadata names the rows by their numbers."""

_COMMA = "a comma is missing before an attribute of the module"


# A pickled module is its text, compressed. A process that loads it twice holds one module.

_LIVE: Final = WeakValueDictionary[tuple[str, str], HloModule]()
"""The modules that were pickled or loaded and are still in use, by text and file."""

_MAX_PICKLED: Final = 4
"""How many compressed modules are kept, for the next of their instructions that is pickled."""


def module_of(text: str, file: str = "") -> HloModule:
    """The module that a text says: the one in use, if it was asked for or pickled before.

    >>> module = module_of("ENTRY e { p = f32[] parameter(0) }")
    >>> module_of("ENTRY e { p = f32[] parameter(0) }") is module
    True
    """
    live = _LIVE.get((text, file))
    return _LIVE.setdefault((text, file), parse(text, file)) if live is None else live


@lru_cache(maxsize=_MAX_PICKLED)
def _pickled(module: HloModule) -> tuple[Callable[..., HloModule], tuple[bytes, str]]:
    _LIVE[module.source, module.file] = module
    text = module.source.encode(errors="surrogatepass")
    return _unpickled, (zlib.compress(text, level=9), module.file)


def _unpickled(text: bytes, file: str) -> HloModule:
    return module_of(zlib.decompress(text).decode(errors="surrogatepass"), file)


copyreg.pickle(HloModule, _pickled)
