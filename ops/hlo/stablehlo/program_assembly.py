"""How modules, functions, and Shardy's meshes and shardings are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.mlir.mlir_attributes import DialectAttribute
from ops.mlir.operation import Argument, Name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.mlir.operation_reader import AssemblyForm, OperationDraft, OperationReader


def _module(reader: OperationReader, draft: OperationDraft) -> None:
    """``@name attributes {...} { ... }``."""
    lexer = reader.lexer
    if lexer.kind == "symbol":
        draft.attributes["sym_name"] = lexer.symbol("the name of the module")
    if lexer.accept("attributes"):
        draft.attributes |= reader.attributes.dictionary()
    draft.regions = (reader.region(),)


def _function(reader: OperationReader, draft: OperationDraft) -> None:
    """``public @name(%0: ...) -> (... {...}) attributes {...} { ... }``."""
    lexer = reader.lexer
    if lexer.kind == "name":
        draft.attributes["sym_visibility"] = lexer.word("private, public or the name of a function")
    draft.attributes["sym_name"] = lexer.symbol("the name of a function, such as @main")
    arguments = _parameters(reader)
    if lexer.accept("->"):
        _skip_results(reader)
    if lexer.accept("attributes"):
        draft.attributes |= reader.attributes.dictionary()
    if lexer.text == "{":
        draft.regions = (reader.region_of_dialect("func", arguments),)


def _parameters(reader: OperationReader) -> tuple[Argument, ...]:
    """Take parameters; those of a function that is only declared have no names."""

    def read() -> Argument:
        if lexer.kind == "value":
            return reader.argument()
        start, found = lexer.start, reader.type()
        attributes = reader.attributes.dictionary() if lexer.text == "{" else {}
        return Argument(Name("", start), found, attributes, None)

    lexer = reader.lexer
    return lexer.listed(read, "(", ")", "the parameters")


def _skip_results(reader: OperationReader) -> None:
    """Take types of results with their attributes: what the body returns has the types."""
    lexer = reader.lexer

    def skip() -> None:
        reader.type()
        if lexer.text == "{":
            reader.attributes.dictionary()

    if lexer.text == "(":
        lexer.listed(skip, "(", ")", "the results")
    else:
        reader.type()


# Shardy.


def _mesh(reader: OperationReader, draft: OperationDraft) -> None:
    """``@mesh = <["x"=8]>``."""
    lexer = reader.lexer
    draft.attributes["sym_name"] = lexer.symbol("the name of a mesh")
    lexer.expect("=", "before a mesh")
    start = lexer.start + 1
    text = lexer.balanced("'<' before a mesh")[1:-1]
    draft.attributes["mesh"] = DialectAttribute("sdy.mesh", text, start)
    reader.attribute_dictionary(draft)


def _sharding_constraint(reader: OperationReader, draft: OperationDraft) -> None:
    """``%0 <@mesh, [{"x"}]> : ...``."""
    lexer = reader.lexer
    draft.operands = (reader.operand(),)
    start = lexer.start + 1
    text = lexer.balanced("'<' before a sharding")[1:-1]
    draft.attributes["sharding"] = DialectAttribute("sdy.sharding", text, start)
    reader.attributes_and_types(draft)


def _manual_computation(reader: OperationReader, draft: OperationDraft) -> None:
    """``(%0) in_shardings=[...] out_shardings=[...] manual_axes={...} (%1: ...) {...} : ...``."""
    lexer = reader.lexer
    draft.operands = reader.listed_operands()
    for word in ("in_shardings", "out_shardings", "manual_axes"):
        lexer.expect(word, "of a manual computation")
        lexer.expect("=", f"after {word}")
        start = lexer.start + 1
        text = lexer.balanced(f"a list after {word}=")
        draft.attributes[word] = DialectAttribute(f"sdy.{word}", text, start)
    draft.regions = (reader.region(reader.arguments()),)
    reader.attributes_and_types(draft)


PROGRAM_FORMS: Final[Mapping[str, AssemblyForm]] = {
    "builtin.module": _module,
    "module": _module,
    "func.func": _function,
    "sdy.manual_computation": _manual_computation,
    "sdy.mesh": _mesh,
    "sdy.sharding_constraint": _sharding_constraint,
}
"""The forms by the names of operations."""
