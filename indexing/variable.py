"""The variables of a map: what they range over, what they are called, what they stand for."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, Final

from indexing.errors import MapError
from simplifier import Interval, IntervalError
from simplifier.errors import quoted
from simplifier.expr.parser import is_name

if TYPE_CHECKING:
    from simplifier.bounds.interval import IntervalLike


class VariableKind(enum.Enum):
    """What a variable counts; all but ``DEFAULT`` are coordinates of a GPU launch, as in XLA."""

    DEFAULT = "default"
    TH_X = "th_x"
    TH_Y = "th_y"
    TH_Z = "th_z"
    BL_X = "bl_x"
    BL_Y = "bl_y"
    BL_Z = "bl_z"
    WARP = "warp"
    TH_W = "th_w"


GRID: Final = (
    VariableKind.TH_X,
    VariableKind.TH_Y,
    VariableKind.TH_Z,
    VariableKind.BL_X,
    VariableKind.BL_Y,
    VariableKind.BL_Z,
)
"""The coordinates of a launch, in XLA's order."""

_KINDS: Final = {kind.value: kind for kind in VariableKind if kind is not VariableKind.DEFAULT}
"""By name: who is called as a coordinate of a launch is one."""

_REMEMBERED: Final = 1 << 10
"""How many variables without names are kept, by their sizes."""


@dataclass(frozen=True, slots=True, init=False)
class Variable:
    """A dimension, range or runtime variable: the closed interval of its values, and its name.

    Without a name it is called after its place in the map: ``d0``, ``s0``, ``rt0``. The coordinates
    of a launch are called after their kind, as in XLA; either of name and kind gives the other.

    Raises:
        MapError: the bounds are no interval, the name cannot be read as one, or it is not that of
            the kind.

    >>> Variable((0, 3), "row")
    Variable(bounds=Interval(lower=0, upper=3), name='row', kind=<VariableKind.DEFAULT: 'default'>)
    >>> Variable(Interval(0, 9)).bounds.size
    10
    """

    bounds: Interval
    name: str
    kind: VariableKind

    def __init__(
        self, bounds: IntervalLike, name: str = "", kind: VariableKind = VariableKind.DEFAULT
    ) -> None:
        _check_name(name, kind)
        object.__setattr__(self, "bounds", interval_of(bounds, "Variable: bounds"))
        object.__setattr__(
            self, "name", name or ("" if kind is VariableKind.DEFAULT else kind.value)
        )
        object.__setattr__(self, "kind", _KINDS.get(name, kind))

    @classmethod
    def of_size(cls, size: int, name: str = "") -> Variable:
        """The variable that counts ``size`` elements: ``[0, size - 1]``.

        Raises:
            MapError: the size is no integer, or less than 0.
        """
        count = size_of(size, "Variable: size")
        return cls(Interval(0, count - 1), name) if name else _counting(count)

    def within(self, bounds: Interval) -> Variable:
        """The same variable with other bounds."""
        other = object.__new__(Variable)
        object.__setattr__(other, "bounds", bounds)
        object.__setattr__(other, "name", self.name)
        object.__setattr__(other, "kind", self.kind)
        return other


@lru_cache(maxsize=_REMEMBERED)
def _counting(size: int) -> Variable:
    """Programs have many tensors of few sizes."""
    return Variable(Interval(0, size - 1))


def interval_of(bounds: IntervalLike, place: str) -> Interval:
    """The interval that somebody gave, or a :class:`MapError` that names the place."""
    try:
        return Interval.of(bounds)
    except IntervalError as error:
        expected = "expected an Interval, or a pair of integers or None"
        raise MapError(f"{place} is {quoted(bounds)}; {expected}") from error


def size_of(size: int, place: str) -> int:
    """The size that somebody gave, or a :class:`MapError` that names the place."""
    if isinstance(size, bool) or not hasattr(size, "__index__") or size < 0:
        raise MapError(f"{place} is {quoted(size)}; expected a size, an integer of at least 0")
    return index(size)


def _check_name(name: str, kind: VariableKind) -> None:
    if not isinstance(kind, VariableKind):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise MapError(f"Variable: kind is {quoted(kind)}; expected a VariableKind")
    if name and not (isinstance(name, str) and is_name(name)):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        expected = "expected letters, digits and underscores, and no reserved word"
        raise MapError(f"Variable: name is {quoted(name)}; {expected}")
    if name and kind is not VariableKind.DEFAULT and name != kind.value:
        raise MapError(f"Variable: name is {quoted(name)}; expected {kind.value!r}, its kind")
