"""Attributes of instructions and modules: their values, and the codecs that read and write these.

``str()`` of each value is its text.
"""

from __future__ import annotations

import enum
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from indexing.layout import Shape
from ops.hlo.errors import AttributeValueError
from ops.hlo.lexer import HloLexer, escape
from ops.index_maps import SizeLike
from simplifier.errors import quoted


@dataclass(frozen=True, slots=True)
class Window:
    """A window that slides over an operand; every field has an entry for each dimension.

    ``pad`` is the padding before and after, which may be negative. ``lhs_dilate`` and
    ``rhs_dilate`` dilate the operand (base) and the window. ``rhs_reversal`` reverses the window.
    Sizes, strides and padding may be expressions of sympy over symbolic sizes.

    >>> print(Window(size=(3, 3), stride=(2, 1), pad=((0, 1), (-1, 1))))
    size=3x3 stride=2x1 pad=0_1x-1_1
    """

    size: tuple[SizeLike, ...] = ()
    stride: tuple[SizeLike, ...] = ()
    pad: tuple[tuple[SizeLike, SizeLike], ...] = ()
    lhs_dilate: tuple[int, ...] = ()
    rhs_dilate: tuple[int, ...] = ()
    rhs_reversal: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, standard in _WINDOW_DEFAULTS.items():
            values = getattr(self, name) or (standard,) * self.rank
            if len(values) != self.rank:
                message = f"the window has {self.rank} sizes, but {name} has {len(values)}"
                raise AttributeValueError(message)
            object.__setattr__(self, name, values)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.size)

    def __str__(self) -> str:
        fields = {name: getattr(self, name) for name in ("size", *_WINDOW_DEFAULTS)}
        for name, standard in _WINDOW_DEFAULTS.items():
            if fields[name] == (standard,) * self.rank:
                del fields[name]
        if "pad" in fields:
            fields["pad"] = [f"{low}_{high}" for low, high in self.pad]
        return " ".join(f"{name}={'x'.join(map(str, v))}" for name, v in fields.items() if v)


_WINDOW_DEFAULTS = {"stride": 1, "pad": (0, 0), "lhs_dilate": 1, "rhs_dilate": 1, "rhs_reversal": 0}
"""The entries of a window without the field, in the order of the text."""


LABELS_TEXT: Final = re.compile(r"([0-9a-z?]+)_([0-9a-z?]+)->([0-9a-z?]+)")
"""The text of :class:`DimensionLabels`."""


@dataclass(frozen=True, slots=True)
class DimensionLabels:
    """The roles of the dimensions of a convolution, a character for each.

    ``b`` is the batch, ``f`` the features, ``i`` and ``o`` are the input and output features of the
    kernel; digits are spatial dimensions.

    >>> print(DimensionLabels("b01f", "01io", "b01f"))
    b01f_01io->b01f
    """

    input: str
    kernel: str
    output: str

    @classmethod
    def parse(cls, text: str) -> DimensionLabels:
        """The labels from their text; nothing checks whether they make sense.

        Raises:
            AttributeValueError: the text is not of the form ``input_kernel->output``.

        >>> DimensionLabels.parse("b0f_0io->b0f").kernel
        '0io'
        """
        found = LABELS_TEXT.fullmatch(text)
        if found is None:
            message = f"the labels are {text!r}; expected some such as b0f_0io->b0f"
            raise AttributeValueError(message)
        return cls(*found.groups())

    def __str__(self) -> str:
        return f"{self.input}_{self.kernel}->{self.output}"


@dataclass(frozen=True, slots=True)
class Aliasing:
    """An output that shares the memory of an operand; the indices are positions in tuples."""

    output_index: tuple[int, ...]
    operand: int
    operand_index: tuple[int, ...]
    kind: str = ""

    def __str__(self) -> str:
        kind = f", {self.kind}" if self.kind else ""
        operand_index = listed(self.operand_index)
        return f"{{{listed(self.output_index)}}}: ({self.operand}, {{{operand_index}}}{kind})"


@dataclass(frozen=True, slots=True)
class ProgramShape:
    """The shapes of the parameters and of the result of a program."""

    parameters: tuple[Shape, ...]
    result: Shape

    def is_compatible_with(self, other: ProgramShape) -> bool:
        """Whether all shapes are equal up to layouts and dynamic dimensions."""
        mine, theirs = (Shape.of_tuple([*p.parameters, p.result]) for p in (self, other))
        return mine.is_compatible_with(theirs)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))})->{self.result}"


def listed(values: Iterable[object]) -> str:
    """Texts with commas between them."""
    return ",".join(map(str, values))


# Reading.


def read_window(lexer: HloLexer) -> Window:
    """Take a window, such as ``{size=3x3 pad=0_1x0_1}``."""
    fields: dict[str, tuple[Any, ...]] = {}
    lexer.expect("{", "before a window")
    while not lexer.accept("}"):
        if lexer.text not in _WINDOW_FIELDS or lexer.text in fields:
            raise lexer.expected(f"'}}' or a new one of {', '.join(_WINDOW_FIELDS)}")
        name = lexer.advance()
        lexer.expect("=", f"after {name}")
        fields[name] = _WINDOW_FIELDS[name](lexer)
    return Window(**fields)


def read_rows(lexer: HloLexer, pattern: re.Pattern[str], what: str) -> tuple[tuple[int, ...], ...]:
    """Take numbers joined by ``_`` for each dimension, which are joined by ``x``."""
    rows = lexer.matching(pattern, what).split("x")
    return tuple(tuple(map(int, row.split("_"))) for row in rows)


def _read_sizes(lexer: HloLexer) -> tuple[int, ...]:
    return tuple(size for (size,) in read_rows(lexer, _SIZES, "numbers joined by x, such as 3x3"))


def _read_edges(lexer: HloLexer) -> tuple[tuple[int, ...], ...]:
    return read_rows(lexer, _EDGES, "paddings joined by x, such as 0_1x-1_2")


def read_labels(lexer: HloLexer) -> DimensionLabels:
    """Take the labels of a convolution, such as ``b01f_01io->b01f``."""
    text = lexer.matching(LABELS_TEXT, "dimension labels such as b01f_01io->b01f")
    labels = DimensionLabels.parse(text)
    check_labels(labels)
    return labels


def check_labels(labels: DimensionLabels) -> None:
    """Check that each role has its two labels once, and all have the same spatial dimensions.

    Raises:
        AttributeValueError: they do not.
    """
    spatial = sorted(filter(str.isdecimal, labels.input))
    is_open = not re.search("[bfio?]", str(labels))  # XLA prints no role then
    for part, named in ((labels.input, "bf"), (labels.kernel, "io"), (labels.output, "bf")):
        known, roles = part.replace("?", ""), "" if is_open else named
        if sorted(known) != sorted([*spatial, *roles]) or len(set(known)) != len(known):
            message = f"{part} in the labels {labels} has other dimensions"
            raise AttributeValueError(f"{message}; expected {', '.join([*spatial, *roles])} once")


def read_alias(lexer: HloLexer) -> Aliasing:
    """Take an alias, such as ``{1}: (0, {2}, may-alias)``."""
    output_index = lexer.integers()
    lexer.expect(":", "after the index of an output")
    lexer.expect("(", "before an aliased operand")
    operand = lexer.integer("the number of an operand")
    lexer.expect(",", "after the number of an operand")
    operand_index = lexer.integers()
    kind = lexer.word("a kind of alias") if lexer.accept(",") else ""
    lexer.expect(")", "after an aliased operand")
    return Aliasing(output_index, operand, operand_index, kind)


def read_donor(lexer: HloLexer) -> tuple[int, tuple[int, ...]]:
    """Take a parameter and an index in it, such as ``(1, {2})``."""
    lexer.expect("(", "before a buffer donor")
    parameter = lexer.integer("the number of a parameter")
    lexer.expect(",", "after the number of a parameter")
    index = lexer.integers()
    lexer.expect(")", "after a buffer donor")
    return parameter, index


def read_program_shape(lexer: HloLexer) -> ProgramShape:
    """Take the shape of a program, such as ``{(f32[2])->f32[2]}``."""
    lexer.expect("{", "before a program shape")
    parameters = lexer.listed(lexer.shape, "(", ")", "the parameter shapes")
    lexer.expect("->", "after the parameter shapes")
    shape = ProgramShape(parameters, lexer.shape())
    lexer.expect("}", "after a program shape")
    return shape


_SIZES = re.compile(r"-?\d{1,18}(?:x-?\d{1,18})*")
_EDGES = re.compile(r"-?\d{1,18}_-?\d{1,18}(?:x-?\d{1,18}_-?\d{1,18})*")

_WINDOW_FIELDS: dict[str, Callable[[HloLexer], tuple[Any, ...]]] = {
    **dict.fromkeys(("size", *_WINDOW_DEFAULTS), _read_sizes),
    "pad": _read_edges,
}


# Groups of devices that take part in a collective operation together, in HLO's three forms.


@dataclass(frozen=True, slots=True)
class ListedGroups:
    """Groups of devices as lists; no groups mean one group of all devices.

    >>> print(ListedGroups(((0, 1), (2, 3))))
    {{0,1},{2,3}}
    """

    groups: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        return f"{{{','.join(f'{{{listed(group)}}}' for group in self.groups)}}}"


@dataclass(frozen=True, slots=True)
class IotaGroups:
    """Groups of devices by a formula: ``0, 1, 2, ...`` reshaped, transposed, cut into groups.

    >>> groups = IotaGroups((2, 4), (4, 2), (1, 0))
    >>> print(groups, groups.groups)
    [2,4]<=[4,2]T(1,0) ((0, 2, 4, 6), (1, 3, 5, 7))
    """

    sizes: tuple[int, ...]
    reshape_sizes: tuple[int, ...]
    permutation: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _check_iota(self.reshape_sizes, self.permutation)
        if not self.sizes or math.prod(self.sizes) != math.prod(self.reshape_sizes):
            message = f"[{listed(self.sizes)}] and [{listed(self.reshape_sizes)}] differ in size"
            raise AttributeValueError(message)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The devices of each group."""
        return _cut(_iota(self.reshape_sizes, self.permutation), self.sizes[-1])

    def __str__(self) -> str:
        return f"[{listed(self.sizes)}]<={_iota_text(self.reshape_sizes, self.permutation)}"


@dataclass(frozen=True, slots=True)
class MeshAxis:
    """An axis of a mesh; with a ``size``, the part of it behind ``before`` major steps."""

    name: str
    before: int = 1
    size: int = 0

    def __str__(self) -> str:
        return f"'{self.name}':({self.before}){self.size}" if self.size else f"'{self.name}'"


@dataclass(frozen=True, slots=True)
class MeshGroups:
    """Groups of devices that differ only in some axes of a mesh.

    The devices of the mesh are ``0, 1, 2, ...`` reshaped to ``reshape_sizes`` and transposed, or
    those of ``device_ids``, or in order.

    >>> groups = MeshGroups((("x", 2), ("y", 2)), (MeshAxis("x"),))
    >>> print(groups, groups.groups)
    mesh['x'=2,'y'=2] {'x'} ((0, 2), (1, 3))
    """

    mesh: tuple[tuple[str, int], ...]
    axes: tuple[MeshAxis, ...]
    reshape_sizes: tuple[int, ...] = ()
    permutation: tuple[int, ...] = ()
    device_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        count = math.prod(size for _, size in self.mesh)
        _check_iota(self.reshape_sizes, self.permutation)
        listed = len(self.device_ids) or math.prod(self.reshape_sizes)
        if (self.device_ids or self.reshape_sizes) and listed != count:
            raise AttributeValueError(f"the mesh has {count} devices, but {listed} are listed")
        for axis in self.axes:
            self._check_axis(axis)

    def _check_axis(self, axis: MeshAxis) -> None:
        size = dict(self.mesh).get(axis.name)
        if size is None:
            raise AttributeValueError(f"the mesh has no axis {quoted(axis.name)}")
        if axis.size < 0 or axis.before < 1 or (axis.size and size % (axis.before * axis.size)):
            raise AttributeValueError(f"{axis} is no part of an axis of size {size}")

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The devices of each group."""
        parts = [part for name, size in self.mesh for part in self._parts(name, size)]
        chosen = [
            number for axis in self.axes for number, part in enumerate(parts) if _is_in(part, axis)
        ]
        others = [number for number in range(len(parts)) if number not in chosen]
        positions = _iota(tuple(size for _, _, size in parts), (*others, *chosen))
        group_size = math.prod(parts[number][2] for number in chosen)
        return _cut(map(self._devices().__getitem__, positions), group_size)

    def _devices(self) -> Sequence[int]:
        """The device at each position of the mesh."""
        if self.reshape_sizes:
            return tuple(_iota(self.reshape_sizes, self.permutation))
        return self.device_ids or range(math.prod(size for _, size in self.mesh))

    def _parts(self, name: str, size: int) -> list[tuple[str, int, int]]:
        """The parts (name, steps before, size) into which ``axes`` cut an axis."""
        mine = [axis for axis in self.axes if axis.name == name and axis.size]
        ends = (end for axis in mine for end in (axis.before, axis.before * axis.size))
        cuts = sorted({1, size, *ends})
        return [(name, low, high // low) for low, high in itertools.pairwise(cuts)]

    def __str__(self) -> str:
        mesh = ",".join(f"'{name}'={size}" for name, size in self.mesh)
        order = listed(self.device_ids)
        if self.reshape_sizes:
            order = _iota_text(self.reshape_sizes, self.permutation)
        devices = f", device_ids=({order})" if order else ""
        return f"mesh[{mesh}]{devices} {{{listed(self.axes)}}}"


ReplicaGroups: TypeAlias = ListedGroups | IotaGroups | MeshGroups
"""Groups of devices that take part in a collective operation together; ``groups`` lists them."""


def read_replica_groups(lexer: HloLexer) -> ReplicaGroups:
    """Take groups of devices in any form."""
    if lexer.text == "{":
        groups = lexer.braced(lambda: lexer.integers("the devices of a group"), "the groups")
        return ListedGroups(groups)
    if lexer.text == "[":
        sizes = _read_bracketed_sizes(lexer)
        lexer.expect("<=", "after the sizes of the groups")
        return IotaGroups(sizes, _read_bracketed_sizes(lexer), _read_permutation(lexer))
    if lexer.accept("mesh"):
        return _read_mesh_groups(lexer)
    raise lexer.expected("replica groups such as {{0,1},{2,3}}, [2,2]<=[4] or mesh['x'=2] {'x'}")


def _read_bracketed_sizes(lexer: HloLexer) -> tuple[int, ...]:
    return lexer.listed(lexer.integer, "[", "]", "the sizes")


def _read_permutation(lexer: HloLexer) -> tuple[int, ...]:
    return lexer.listed(lexer.integer, "(", ")", "the permutation") if lexer.accept("T") else ()


def _read_mesh_groups(lexer: HloLexer) -> MeshGroups:
    mesh = lexer.listed(lambda: _read_axis_size(lexer), "[", "]", "the axes of the mesh")
    order = _read_device_ids(lexer) if lexer.accept(",") else {}
    return MeshGroups(mesh, lexer.braced(lambda: _read_axis(lexer), "the axes"), **order)


def _read_axis_size(lexer: HloLexer) -> tuple[str, int]:
    name = lexer.string("the name of an axis in quotes")
    lexer.expect("=", "after the name of an axis")
    return name, lexer.integer("the size of an axis")


def _read_device_ids(lexer: HloLexer) -> dict[str, tuple[int, ...]]:
    lexer.expect("device_ids", "after the mesh")
    lexer.expect("=", "after device_ids")
    if lexer.source.startswith("([", lexer.start):
        lexer.advance()
        sizes = _read_bracketed_sizes(lexer)
        order = {"reshape_sizes": sizes, "permutation": _read_permutation(lexer)}
        lexer.expect(")", "after device_ids")
        return order
    return {"device_ids": lexer.listed(lexer.integer, "(", ")", "the devices")}


def _read_axis(lexer: HloLexer) -> MeshAxis:
    name = lexer.string("the name of an axis in quotes")
    if not lexer.accept(":"):
        return MeshAxis(name)
    lexer.expect("(", "before the steps that precede a part of an axis")
    before = lexer.integer()
    lexer.expect(")", "after the steps that precede a part of an axis")
    return MeshAxis(name, before, lexer.integer())


def _is_in(part: tuple[str, int, int], axis: MeshAxis) -> bool:
    name, before, size = part
    end = axis.before * axis.size if axis.size else math.inf
    return name == axis.name and before >= axis.before and before * size <= end


def _check_iota(sizes: tuple[int, ...], permutation: tuple[int, ...]) -> None:
    if any(size < 1 for size in sizes):
        raise AttributeValueError(f"[{listed(sizes)}] has a size below 1")
    if permutation and sorted(permutation) != list(range(len(sizes))):
        expected = f"permutation of the dimensions of [{listed(sizes)}]"
        raise AttributeValueError(f"T({listed(permutation)}) is no {expected}")


def _iota(sizes: tuple[int, ...], permutation: tuple[int, ...]) -> Iterator[int]:
    """``0, 1, 2, ...`` reshaped to ``sizes``, transposed, and read in order."""
    strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    order = permutation or range(len(sizes))
    steps = [range(0, sizes[axis] * strides[axis], strides[axis]) for axis in order]
    return map(sum, itertools.product(*steps))


def _iota_text(sizes: tuple[int, ...], permutation: tuple[int, ...]) -> str:
    return f"[{listed(sizes)}]" + (f"T({listed(permutation)})" if permutation else "")


def _cut(devices: Iterable[int], size: int) -> tuple[tuple[int, ...], ...]:
    listed = tuple(devices)
    return tuple(listed[start : start + size] for start in range(0, len(listed), size))


# Attributes of instructions and modules: by name, the codec that reads and writes their values.


@dataclass(frozen=True, slots=True)
class Codec:
    """Reader and writer of the value of an attribute."""

    read: Callable[[HloLexer], Any]
    write: Callable[[Any], str] = str

    def value(self, lexer: HloLexer) -> Any:  # noqa: ANN401  (one type for each format)
        """Take the value of an attribute.

        Raises:
            HloTextError: the text is not of the form that the codec reads, or makes no sense.
        """
        start = lexer.start
        try:
            return self.read(lexer)
        except AttributeValueError as error:
            raise lexer.error_since(start, str(error)) from None


def list_of(item: Codec, what: str, separator: str = ",") -> Codec:
    """The codec of values in braces with commas between them."""
    return Codec(
        lambda lexer: lexer.braced(partial(item.read, lexer), what),
        lambda values: f"{{{separator.join(map(item.write, values))}}}",
    )


def _read_boolean(lexer: HloLexer) -> bool:
    return _BOOLEANS[lexer.one_of(_BOOLEANS, "true or false")]


def _read_booleans(lexer: HloLexer) -> tuple[bool, ...]:
    """Take true or false, for all, or a list of them."""
    return BOOLEANS.read(lexer) if lexer.text == "{" else (_read_boolean(lexer),)


def _word_of(words: str) -> Codec:
    """The codec of one of some words."""
    known = words.split()
    return Codec(lambda lexer: lexer.one_of(known))


def _read_float(lexer: HloLexer) -> float:
    return float(lexer.taken("number", "a number").partition("(")[0])


def _write_float(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _read_raw(lexer: HloLexer) -> str:
    if lexer.kind == "string":
        return lexer.advance()
    return lexer.balanced("a text in braces or quotes")


def _read_bracketed(lexer: HloLexer) -> str:
    """Take a text in braces in which all brackets match."""
    start, text = lexer.start, _read_raw(lexer)
    opened: list[str] = []
    for mark in _BRACKET.finditer(text):
        if mark[0] in _CLOSING:
            opened.append(_CLOSING[mark[0]])
        elif mark[0] in _CLOSING.values() and mark[0] != opened.pop():
            place = start + mark.start()
            message = f"the bracket {mark[0]!r} closes another one than the last that was opened"
            raise lexer.error(message, lexer.span_of(place, place + 1))
    return text


def _read_accuracy(lexer: HloLexer) -> str:
    start = lexer.start
    lexer.braced(lambda: _read_named(lexer, _ACCURACIES), "a mode or tolerances")
    return lexer.source[start : lexer.previous_stop]


def _read_named(lexer: HloLexer, forms: Mapping[str, Codec]) -> None:
    """Take ``name=value``."""
    form = forms[lexer.one_of(forms)]
    lexer.expect("=", "before the value")
    form.read(lexer)


def _read_integer_or_list(lexer: HloLexer) -> int | tuple[int, ...]:
    return lexer.integers() if lexer.text == "{" else lexer.integer()


def _write_integer_or_list(value: int | tuple[int, ...]) -> str:
    return INTEGERS.write(value) if isinstance(value, tuple) else str(value)


def _read_slice(lexer: HloLexer) -> tuple[int, int, int]:
    lexer.expect("[", "before a slice")
    start = lexer.integer("the start of a slice")
    lexer.expect(":", "after the start of a slice")
    limit = lexer.integer("the limit of a slice")
    stride = lexer.integer("the stride of a slice") if lexer.accept(":") else 1
    lexer.expect("]", "after a slice")
    return start, limit, stride


def _write_slice(slice_: tuple[int, int, int]) -> str:
    start, limit, stride = slice_
    return f"[{start}:{limit}]" if stride == 1 else f"[{start}:{limit}:{stride}]"


def _read_padding(lexer: HloLexer) -> tuple[tuple[int, ...], ...]:
    what = "a padding such as 0_1x2_3_1 (low, high and interior padding, by dimension)"
    return tuple((*row, 0)[:3] for row in read_rows(lexer, _PADDING, what))


def _write_padding(padding: tuple[tuple[int, int, int], ...]) -> str:
    shown = 3 if any(interior for _, _, interior in padding) else 2
    return "x".join("_".join(map(str, row[:shown])) for row in padding)


def _read_metadata(lexer: HloLexer) -> Mapping[str, str | int]:
    """Read the source metadata; blanks separate the pairs, and commas may."""
    ahead = lexer.pairs_ahead()
    if ahead:
        lexer.jump(ahead[1])
        return MappingProxyType(ahead[0])
    entries: dict[str, str | int] = {}
    for name in lexer.names_before_values("the metadata", "a name of the metadata"):
        entries[name] = _read_metadata_value(lexer)
        lexer.accept(",")
    return MappingProxyType(entries)


def _read_metadata_value(lexer: HloLexer) -> str | int:
    if lexer.kind == "number":
        return lexer.integer()
    if lexer.text == "{":
        return lexer.balanced("a list in braces")
    return _string_or(lexer.word, lexer, "a value")


def _string_or(other: Callable[[str], str], lexer: HloLexer, what: str) -> str:
    """Take a quoted text, or what stands in its place."""
    return lexer.string() if lexer.kind == "string" else other(what)


def _read_frontend(lexer: HloLexer) -> Mapping[str, str]:
    """Take names and texts; a text in braces keeps its braces."""
    pairs = lexer.braced(lambda: _read_frontend_pair(lexer), "the frontend attributes")
    return MappingProxyType(dict(pairs))


def _read_frontend_pair(lexer: HloLexer) -> tuple[str, str]:
    name = _string_or(lexer.word, lexer, "the name of a frontend attribute")
    lexer.expect("=", f"after {name}")
    return name, _string_or(lexer.balanced, lexer, "a text in quotes or braces")


def _write_pairs(entries: Mapping[str, str | int], separator: str = " ") -> str:
    """The text of names and values in braces; a text in braces keeps its braces."""
    pairs = (f"{name}={_written_value(value)}" for name, value in entries.items())
    return f"{{{separator.join(pairs)}}}"


def _written_value(value: str | int) -> str:
    return escape(value) if isinstance(value, str) and not value.startswith("{") else str(value)


def _write_donor(donor: tuple[int, tuple[int, ...]]) -> str:
    return f"({donor[0]}, {INTEGERS.write(donor[1])})"


_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}

_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\](){}]')
_CLOSING = {"(": ")", "[": "]", "{": "}"}

_PADDING = re.compile(
    r"-?\d{1,18}_-?\d{1,18}(?:_-?\d{1,18})?(?:x-?\d{1,18}_-?\d{1,18}(?:_-?\d{1,18})?)*"
)

INTEGER = Codec(lambda lexer: lexer.integer())
INTEGERS = Codec(lambda lexer: lexer.integers(), list_of(INTEGER, "").write)
BOOLEAN = Codec(_read_boolean, lambda value: str(value).lower())
BOOLEANS = list_of(BOOLEAN, "true or false")
ONE_OR_MORE_BOOLEANS = Codec(_read_booleans, BOOLEANS.write)
FLOAT = Codec(_read_float, _write_float)
WORD = Codec(lambda lexer: lexer.word("a word"))
STRING = Codec(lambda lexer: lexer.string(), escape)
RAW = Codec(_read_raw)
"""The text as it is written, with its braces or quotes."""
_TOLERANCES = {"rtol": FLOAT, "atol": FLOAT, "ulps": INTEGER}
_ACCURACIES = {
    "mode": _word_of("default highest"),
    "tolerance": list_of(Codec(partial(_read_named, forms=_TOLERANCES)), "tolerances"),
}
BRACKETED = Codec(_read_bracketed)
"""The text as it is written, in braces, with brackets that match."""
SHAPE = Codec(lambda lexer: lexer.shape())
ALIASING = list_of(Codec(read_alias), "the aliases", ", ")
METADATA = Codec(_read_metadata, _write_pairs)
FRONTEND = Codec(_read_frontend, partial(_write_pairs, separator=","))


class Reference(enum.Enum):
    """A value that refers to other parts of the module."""

    COMPUTATION = "a computation, by name or written in braces"
    COMPUTATIONS = "computations"
    INSTRUCTIONS = "instructions of the same computation"
    LITERAL = "a shape and a literal"


_OF_SOME_YEARS: Final = """all_reduce_id async_group_id barrier debug_attributes
    is_cross_program_prefetch metadata_payload opaque operation_queue_id outer_dimension_partitions
    sparsity wait_on_operation_queues"""
"""No map depends on these, which XLA wrote for few years, or has written since 2026 only."""

COMMON_ATTRIBUTES: dict[str, Codec | Reference] = {
    "sharding": BRACKETED,
    "parameter_replication": BOOLEANS,
    "control-predecessors": Reference.INSTRUCTIONS,
    "origin": RAW,
    "frontend_attributes": FRONTEND,
    "metadata": METADATA,
    "statistics": BRACKETED,
    "backend_config": RAW,
    **dict.fromkeys(_OF_SOME_YEARS.split(), Codec(lambda lexer: lexer.anything("a value"))),
}
"""The attributes that every instruction may have."""

ENUMERATIONS = {
    "api_version": """API_VERSION_ORIGINAL API_VERSION_STATUS_RETURNING
        API_VERSION_STATUS_RETURNING_UNIFIED API_VERSION_TYPED_FFI API_VERSION_UNSPECIFIED""",
    "direction": "EQ NE GE GT LE LT",
    "distribution": "rng_uniform rng_normal",
    "fft_type": "FFT IFFT RFFT IRFFT",
    "kind": "kLoop kInput kOutput kCustom",
    "padding_type": "PADDING_INVALID PADDING_VALID PADDING_SAME",
    "schedule": "SCHEDULE_NONE SCHEDULE_LATEST SCHEDULE_EARLIEST",
    "transpose_a": "NO_TRANSPOSE TRANSPOSE ADJOINT",
    "type": "FLOAT TOTALORDER SIGNED UNSIGNED",
}
"""The words that attributes may be, if there is a fixed set."""

_NAMES_BY_CODEC: dict[Codec | Reference, str] = {
    ALIASING: "output_to_operand_aliasing",
    BOOLEAN: """constrain_layout custom_call_has_side_effect has_dynamic_root indices_are_sorted
        is_composite is_host_transfer is_reverse is_stable largest left_side lower unique_indices
        unit_diagonal use_global_device_ids""",
    FLOAT: "epsilon",
    INTEGER: """batch_group_count channel_id cross_program_prefetch_index delta exponent_bits
        feature_group_count feature_index index index_vector_dim inferred_dimension iota_dimension
        k mantissa_bits num_carries""",
    INTEGERS: """collapsed_slice_dims dimensions dynamic_slice_sizes fft_length input_batching_dims
        inserted_window_dims lhs_batch_dims lhs_contracting_dims lhs_ragged_dims offset_dims
        operand_batching_dims rhs_batch_dims rhs_contracting_dims rhs_group_dims
        scatter_dims_to_operand_dims scatter_indices_batching_dims shifts start_index_map
        start_indices_batching_dims update_window_dims""",
    list_of(INTEGERS, "the lists of numbers"): "source_target_pairs",
    Codec(read_labels): "dim_labels",
    list_of(Codec(_read_integer_or_list, _write_integer_or_list), "the numbers"): "slice_sizes",
    Codec(_read_padding, _write_padding): "padding",
    Codec(_read_accuracy): "result_accuracy",
    BRACKETED: "domain",
    RAW: "sparsity_config",
    Codec(read_replica_groups): "replica_groups",
    SHAPE: "outfeed_shape",
    list_of(SHAPE, "the shapes", ", "): "operand_layout_constraints",
    list_of(Codec(_read_slice, _write_slice), "the slices", ", "): "slice",
    STRING: "async_execution_thread custom_call_target infeed_config outfeed_config",
    Codec(read_window, "{{{}}}".format): "window",
    WORD: "algorithm conv_kind convolution_kind is_associative mode",
    **{_word_of(words): name for name, words in ENUMERATIONS.items()},
    list_of(WORD, "the words"): "operand_precision",
    Reference.COMPUTATION: """body calls condition false_computation scatter select to_apply
        true_computation""",
    Reference.COMPUTATIONS: "branch_computations called_computations",
    Reference.LITERAL: "indices literal",
}

ATTRIBUTES: dict[str, Codec | Reference] = {
    name: codec for codec, names in _NAMES_BY_CODEC.items() for name in names.split()
} | COMMON_ATTRIBUTES
"""The codecs of the attributes of instructions; :mod:`ops.hlo.opcodes` has those of each opcode."""

_CALLED = (Reference.COMPUTATION, Reference.COMPUTATIONS)
CALLED_ATTRIBUTES = frozenset(name for name, form in ATTRIBUTES.items() if form in _CALLED)
"""The attributes that are computations."""

MODULE_ATTRIBUTES: dict[str, Codec] = {
    "is_scheduled": BOOLEAN,
    "replica_count": INTEGER,
    "num_partitions": INTEGER,
    "input_output_alias": ALIASING,
    "buffer_donor": list_of(Codec(read_donor, _write_donor), "the buffer donors", ", "),
    "alias_passthrough_params": BOOLEAN,
    "entry_computation_layout": Codec(read_program_shape, "{{{}}}".format),
    "frontend_attributes": FRONTEND,
    "allow_spmd_sharding_propagation_to_parameters": ONE_OR_MORE_BOOLEANS,
    "allow_spmd_sharding_propagation_to_output": ONE_OR_MORE_BOOLEANS,
    "origin_recovery_table": RAW,
}
"""The codecs of the attributes of modules."""
