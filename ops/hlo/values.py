"""The values of attributes that are more than a number, a name or a list."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from indexing.layout import Shape
from ops.hlo.errors import AttributeValueError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Window:
    """A window that slides over an operand; every field holds one entry for each dimension.

    ``pad`` is the padding before and after, which may be negative; ``lhs_dilate`` and
    ``rhs_dilate`` dilate the operand (base) and the window; ``rhs_reversal`` turns the window.

    >>> print(Window(size=(3, 3), stride=(2, 1), pad=((0, 1), (-1, 1))))
    size=3x3 stride=2x1 pad=0_1x-1_1
    """

    size: tuple[int, ...] = ()
    stride: tuple[int, ...] = ()
    pad: tuple[tuple[int, int], ...] = ()
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
"""What a window without the field has in each dimension, in the order of the text."""


LABELS_TEXT: Final = re.compile(r"([0-9a-z?]+)_([0-9a-z?]+)->([0-9a-z?]+)")
"""The text of :class:`DimensionLabels`."""


@dataclass(frozen=True, slots=True)
class DimensionLabels:
    """What the dimensions of a convolution are, by a letter for each.

    ``b`` is the batch, ``f`` the features, ``i`` and ``o`` are the features of the kernel; the
    spatial dimensions are counted.

    >>> print(DimensionLabels("b01f", "01io", "b01f"))
    b01f_01io->b01f
    """

    input: str
    kernel: str
    output: str

    @classmethod
    def parse(cls, text: str) -> DimensionLabels:
        """The labels from their text; they are not looked into.

        Raises:
            AttributeValueError: the text has not the form ``input_kernel->output``.

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
    """An output that shares the memory of an operand; the indices lead into tuples."""

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
        """Whether all shapes are the same up to layouts and to what is dynamic."""
        mine, theirs = (Shape.of_tuple([*p.parameters, p.result]) for p in (self, other))
        return mine.is_compatible_with(theirs)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameters))})->{self.result}"


def _list(values: Iterable[object]) -> str:
    return ",".join(map(str, values))
