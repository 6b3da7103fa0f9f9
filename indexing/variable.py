"""The variables of a map: their bounds, names and kinds."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
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
    """What a variable counts. All but ``DEFAULT`` are coordinates of a GPU launch, as in XLA."""

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
"""The kind of a variable by its name."""

_MAX_CACHED: Final = 1 << 10
"""Variables without names that are kept by their sizes: a program has few different sizes."""


@dataclass(frozen=True, slots=True, init=False)
class Variable:
    """A dimension, range or runtime variable: the closed interval of its values, and its name.

    Without a name it is called after its role and position in the map: ``d0``, ``s0``, ``rt0``.
    The coordinates of a launch are called after their kind, as in XLA: the name gives the kind, and
    the kind the name.

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
    kind: VariableKind = field(hash=False)  # the name tells it

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


@lru_cache(maxsize=_MAX_CACHED)
def _counting(size: int) -> Variable:
    """The variable of a size; programs have many tensors of few sizes."""
    return Variable(Interval(0, size - 1))


def interval_of(bounds: IntervalLike, where: str) -> Interval:
    """The interval that a user gave; raises a :class:`MapError` that names the argument."""
    try:
        return Interval.of(bounds)
    except IntervalError as error:
        expected = "expected an Interval, or a pair of integers or None"
        raise MapError(f"{where} is {quoted(bounds)}; {expected}") from error


def size_of(size: int, where: str) -> int:
    """The size that a user gave; raises a :class:`MapError` that names the argument."""
    if isinstance(size, bool) or not hasattr(size, "__index__") or size < 0:
        raise MapError(f"{where} is {quoted(size)}; expected a size, an integer of at least 0")
    return index(size)


def _check_name(name: str, kind: VariableKind) -> None:
    if not isinstance(kind, VariableKind):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise MapError(f"Variable: kind is {quoted(kind)}; expected a VariableKind")
    if name and not (isinstance(name, str) and is_name(name)):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        expected = "expected letters, digits and underscores, and no reserved word"
        raise MapError(f"Variable: name is {quoted(name)}; {expected}")
    if name and kind is not VariableKind.DEFAULT and name != kind.value:
        raise MapError(f"Variable: name is {quoted(name)}; expected {kind.value!r}, its kind")
