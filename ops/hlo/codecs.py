"""The kinds of values that attributes have: how each is read from text and written back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from ops.hlo.errors import AttributeValueError
from ops.hlo.lexer import Tokens, escape
from ops.hlo.replica_groups import read_replica_groups
from ops.hlo.values import (
    LABELS_TEXT,
    Aliasing,
    DimensionLabels,
    ProgramShape,
    Window,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from indexing.layout import Shape


_F = TypeVar("_F")


@dataclass(frozen=True, slots=True)
class Format:
    """How the text of a value is read, and how a value is written."""

    read: Callable[[Tokens], Any]
    write: Callable[[Any], str] = str


def read_value(tokens: Tokens, form: Format) -> Any:  # noqa: ANN401  (one type for each format)
    """Take the value of an attribute.

    Raises:
        HloTextError: the text does not follow the format, or its value makes no sense.
    """
    start = tokens.start
    try:
        return form.read(tokens)
    except AttributeValueError as error:
        tokens.fail(str(error), place=(start, tokens.end))


def read_attributes(
    tokens: Tokens, owner: str, forms: Mapping[str, _F], read: Callable[[_F], Any]
) -> dict[str, Any]:
    """Take ``, name=value`` as often as it stands there; ``forms`` says what each value is."""
    attributes: dict[str, Any] = {}
    while tokens.accept(","):
        name = tokens.text
        form = forms.get(name)
        if form is None:
            tokens.fail_expecting(
                f"an attribute of {owner}", f"known are {', '.join(sorted(forms))}"
            )
        if name in attributes:
            tokens.fail(f"attribute {name} stands here for the second time")
        tokens.advance()
        tokens.expect("=", f"after attribute {name}")
        attributes[name] = read(form)
    return attributes


def _written_list(values: tuple[object, ...]) -> str:
    return f"{{{','.join(map(str, values))}}}"


def _written_shapes(shapes: tuple[Shape, ...]) -> str:
    return f"{{{', '.join(map(str, shapes))}}}"


def _read_integers(tokens: Tokens) -> tuple[int, ...]:
    return tokens.braced(tokens.integer, "the numbers")


def _read_integer_lists(tokens: Tokens) -> tuple[tuple[int, ...], ...]:
    return tokens.braced(lambda: _read_integers(tokens), "the lists of numbers")


def _read_nested_integers(tokens: Tokens) -> tuple[Any, ...]:
    """Numbers, or lists of numbers."""
    return tokens.braced(
        lambda: _read_integers(tokens) if tokens.text == "{" else tokens.integer(),
        "the numbers",
    )


def _write_nested_integers(values: tuple[int | tuple[int, ...], ...]) -> str:
    return _written_list(tuple(map(_write_nested_integer, values)))


def _write_nested_integer(value: int | tuple[int, ...]) -> str:
    return str(value) if isinstance(value, int) else _written_list(value)


def _read_boolean(tokens: Tokens) -> bool:
    if tokens.text not in _BOOLEANS:
        tokens.fail_expecting("true or false")
    return _BOOLEANS[tokens.advance()]


def _write_boolean(value: bool) -> str:  # noqa: FBT001  (the value is the only argument)
    return str(value).lower()


def _read_float(tokens: Tokens) -> float:
    if tokens.kind != "number":
        tokens.fail_expecting("a number")
    return float(tokens.advance().partition("(")[0])


def _write_float(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _read_raw(tokens: Tokens) -> str:
    if tokens.kind == "string":
        return tokens.advance()
    return tokens.balanced("a text in braces or quotes")


def _read_slices(tokens: Tokens) -> tuple[tuple[int, int, int], ...]:
    return tokens.braced(lambda: _read_slice(tokens), "the slices")


def _read_slice(tokens: Tokens) -> tuple[int, int, int]:
    tokens.expect("[", "before a slice")
    start = tokens.integer("the start of a slice")
    tokens.expect(":", "after the start of a slice")
    limit = tokens.integer("the limit of a slice")
    stride = tokens.integer("the stride of a slice") if tokens.accept(":") else 1
    tokens.expect("]", "after a slice")
    return start, limit, stride


def _write_slices(slices: tuple[tuple[int, int, int], ...]) -> str:
    return f"{{{', '.join(_write_slice(*dimension) for dimension in slices)}}}"


def _write_slice(start: int, limit: int, stride: int) -> str:
    return f"[{start}:{limit}]" if stride == 1 else f"[{start}:{limit}:{stride}]"


def _read_padding(tokens: Tokens) -> tuple[tuple[int, int, int], ...]:
    text = tokens.pattern(
        _PADDING, "a padding such as 0_1x2_3_1 (low, high and interior padding, by dimension)"
    )
    edges = (tuple(map(int, dimension.split("_"))) for dimension in text.split("x"))
    return tuple((edge[0], edge[1], edge[2] if len(edge) > 2 else 0) for edge in edges)  # noqa: PLR2004


def _write_padding(padding: tuple[tuple[int, int, int], ...]) -> str:
    if any(interior for _, _, interior in padding):
        return "x".join(f"{low}_{high}_{interior}" for low, high, interior in padding)
    return "x".join(f"{low}_{high}" for low, high, _ in padding)


def _read_window(tokens: Tokens) -> Window:
    fields: dict[str, tuple[Any, ...]] = {}
    tokens.expect("{", "before a window")
    while not tokens.accept("}"):
        if tokens.text not in _WINDOW_FIELDS or tokens.text in fields:
            tokens.fail_expecting(f"'}}' or a new one of {', '.join(_WINDOW_FIELDS)}")
        name = tokens.advance()
        tokens.expect("=", f"after {name}")
        fields[name] = _WINDOW_FIELDS[name](tokens)
    return Window(**fields)


def _read_sizes(tokens: Tokens) -> tuple[int, ...]:
    text = tokens.pattern(_SIZES, "numbers joined by x, such as 3x3")
    return tuple(map(int, text.split("x")))


def _read_edges(tokens: Tokens) -> tuple[tuple[int, int], ...]:
    text = tokens.pattern(_EDGES, "paddings joined by x, such as 0_1x-1_2")
    pairs = (dimension.split("_") for dimension in text.split("x"))
    return tuple((int(low), int(high)) for low, high in pairs)


def _write_window(window: Window) -> str:
    return f"{{{window}}}"


def _read_labels(tokens: Tokens) -> DimensionLabels:
    text = tokens.pattern(LABELS_TEXT, "dimension labels such as b01f_01io->b01f")
    return DimensionLabels.parse(text)


def _read_aliasing(tokens: Tokens) -> tuple[Aliasing, ...]:
    return tokens.braced(lambda: _read_alias(tokens), "the aliases")


def _read_alias(tokens: Tokens) -> Aliasing:
    output_index = _read_integers(tokens)
    tokens.expect(":", "after the index of an output")
    tokens.expect("(", "before an aliased operand")
    operand = tokens.integer("the number of an operand")
    tokens.expect(",", "after the number of an operand")
    operand_index = _read_integers(tokens)
    kind = tokens.word("a kind of alias") if tokens.accept(",") else ""
    tokens.expect(")", "after an aliased operand")
    return Aliasing(output_index, operand, operand_index, kind)


def _write_aliasing(aliases: tuple[Aliasing, ...]) -> str:
    return f"{{{', '.join(map(str, aliases))}}}"


def _read_donors(tokens: Tokens) -> tuple[tuple[int, tuple[int, ...]], ...]:
    return tokens.braced(lambda: _read_donor(tokens), "the buffer donors")


def _read_donor(tokens: Tokens) -> tuple[int, tuple[int, ...]]:
    tokens.expect("(", "before a buffer donor")
    parameter = tokens.integer("the number of a parameter")
    tokens.expect(",", "after the number of a parameter")
    index = _read_integers(tokens)
    tokens.expect(")", "after a buffer donor")
    return parameter, index


def _write_donors(donors: tuple[tuple[int, tuple[int, ...]], ...]) -> str:
    return (
        f"{{{', '.join(f'({parameter}, {_written_list(index)})' for parameter, index in donors)}}}"
    )


def _read_program_shape(tokens: Tokens) -> ProgramShape:
    tokens.expect("{", "before a program shape")
    parameters = tokens.listed(tokens.shape, "(", ")", "the parameter shapes")
    tokens.expect("->", "after the parameter shapes")
    shape = ProgramShape(parameters, tokens.shape())
    tokens.expect("}", "after a program shape")
    return shape


def _write_program_shape(shape: ProgramShape) -> str:
    return f"{{{shape}}}"


def _read_metadata(tokens: Tokens) -> Mapping[str, str | int]:
    """What the source program said; the pairs are separated by blanks, and a comma is allowed."""
    entries: dict[str, str | int] = {}
    tokens.expect("{", "before the metadata")
    while not tokens.accept("}"):
        name = tokens.word("'}' or a name of the metadata")
        tokens.expect("=", f"after {name}")
        entries[name] = _read_metadata_value(tokens)
        tokens.accept(",")
    return MappingProxyType(entries)


def _read_metadata_value(tokens: Tokens) -> str | int:
    if tokens.kind == "string":
        return tokens.string()
    if tokens.kind == "number":
        return tokens.integer()
    return (
        tokens.balanced("a text, a number or a list in braces")
        if tokens.text == "{"
        else tokens.word("a value")
    )


def _write_metadata(entries: Mapping[str, str | int]) -> str:
    pairs = (f"{name}={_written_value(value)}" for name, value in entries.items())
    return f"{{{' '.join(pairs)}}}"


def _written_value(value: str | int) -> str:
    return escape(value) if isinstance(value, str) and not value.startswith("{") else str(value)


def _read_frontend(tokens: Tokens) -> Mapping[str, str]:
    """Names and texts; a text in braces keeps its braces."""
    pairs = tokens.braced(lambda: _read_frontend_pair(tokens), "the frontend attributes")
    return MappingProxyType(dict(pairs))


def _read_frontend_pair(tokens: Tokens) -> tuple[str, str]:
    name = (
        tokens.string()
        if tokens.kind == "string"
        else tokens.word("the name of a frontend attribute")
    )
    tokens.expect("=", f"after {name}")
    return name, tokens.string() if tokens.kind == "string" else tokens.balanced(
        "a text in quotes or braces"
    )


def _write_frontend(entries: Mapping[str, str]) -> str:
    return f"{{{','.join(f'{name}={_written_value(value)}' for name, value in entries.items())}}}"


def _list_of(read: Callable[[Tokens], Any], what: str) -> Callable[[Tokens], Any]:
    return lambda tokens: tokens.braced(lambda: read(tokens), what)


def _write_booleans(values: tuple[bool, ...]) -> str:
    return _written_list(tuple(map(_write_boolean, values)))


_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}

_PADDING = re.compile(
    r"-?\d{1,18}_-?\d{1,18}(?:_-?\d{1,18})?(?:x-?\d{1,18}_-?\d{1,18}(?:_-?\d{1,18})?)*"
)
_SIZES = re.compile(r"-?\d{1,18}(?:x-?\d{1,18})*")
_EDGES = re.compile(r"-?\d{1,18}_-?\d{1,18}(?:x-?\d{1,18}_-?\d{1,18})*")

_WINDOW_FIELDS: dict[str, Callable[[Tokens], tuple[Any, ...]]] = {
    "size": _read_sizes,
    "stride": _read_sizes,
    "pad": _read_edges,
    "lhs_dilate": _read_sizes,
    "rhs_dilate": _read_sizes,
    "rhs_reversal": _read_sizes,
}

INTEGER = Format(lambda tokens: tokens.integer())
INTEGERS = Format(_read_integers, _written_list)
INTEGER_LISTS = Format(_read_integer_lists, _write_nested_integers)
NESTED_INTEGERS = Format(_read_nested_integers, _write_nested_integers)
BOOLEAN = Format(_read_boolean, _write_boolean)
BOOLEANS = Format(_list_of(_read_boolean, "true or false"), _write_booleans)
FLOAT = Format(_read_float, _write_float)
WORD = Format(lambda tokens: tokens.word("a word"))
WORDS = Format(_list_of(lambda tokens: tokens.word("a word"), "the words"), _written_list)
STRING = Format(lambda tokens: tokens.string(), escape)
RAW = Format(_read_raw)
"""Kept as it is written, braces or quotes included."""
SHAPE = Format(lambda tokens: tokens.shape())
SHAPES = Format(_list_of(lambda tokens: tokens.shape(), "the shapes"), _written_shapes)
SLICES = Format(_read_slices, _write_slices)
PADDING = Format(_read_padding, _write_padding)
WINDOW = Format(_read_window, _write_window)
LABELS = Format(_read_labels)
REPLICA_GROUPS = Format(read_replica_groups)
ALIASING = Format(_read_aliasing, _write_aliasing)
DONORS = Format(_read_donors, _write_donors)
PROGRAM_SHAPE = Format(_read_program_shape, _write_program_shape)
METADATA = Format(_read_metadata, _write_metadata)
FRONTEND = Format(_read_frontend, _write_frontend)
