"""Values of attributes that are more than a number, a name or a list, and how they are read.

``str()`` of each is its text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from indexing.layout import Shape
from ops.hlo.errors import AttributeValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ops.hlo.hlo_lexer import HloLexer
    from ops.sizes import SizeLike


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
            if not getattr(self, name):
                object.__setattr__(self, name, (standard,) * self.rank)
            if len(getattr(self, name)) != self.rank:
                raise AttributeValueError(
                    f"the window has {self.rank} sizes, but {name} has {len(getattr(self, name))}"
                )

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.size)

    def __str__(self) -> str:
        names = [name for name in _WINDOW_DEFAULTS if self._is_special(name)]
        return " ".join(self._written(name) for name in (["size", *names] if self.size else names))

    def _is_special(self, name: str) -> bool:
        return any(value != _WINDOW_DEFAULTS[name] for value in getattr(self, name))

    def _written(self, name: str) -> str:
        if name == "pad":
            return "pad=" + "x".join(f"{low}_{high}" for low, high in self.pad)
        return f"{name}=" + "x".join(map(str, getattr(self, name)))


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
            raise AttributeValueError(
                f"the labels are {text!r}; expected some such as b0f_0io->b0f"
            )
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
        operand_index = _list(self.operand_index)
        return f"{{{_list(self.output_index)}}}: ({self.operand}, {{{operand_index}}}{kind})"


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


def _list(values: Iterable[object]) -> str:
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


def _read_sizes(lexer: HloLexer) -> tuple[int, ...]:
    text = lexer.matching(_SIZES, "numbers joined by x, such as 3x3")
    return tuple(map(int, text.split("x")))


def _read_edges(lexer: HloLexer) -> tuple[tuple[int, int], ...]:
    text = lexer.matching(_EDGES, "paddings joined by x, such as 0_1x-1_2")
    pairs = (dimension.split("_") for dimension in text.split("x"))
    return tuple((int(low), int(high)) for low, high in pairs)


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
    for part, roles in ((labels.input, "bf"), (labels.kernel, "io"), (labels.output, "bf")):
        known = part.replace("?", "")
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
    "size": _read_sizes,
    "stride": _read_sizes,
    "pad": _read_edges,
    "lhs_dilate": _read_sizes,
    "rhs_dilate": _read_sizes,
    "rhs_reversal": _read_sizes,
}
