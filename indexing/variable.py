"""The variables of a map: what they range over, what they are called, what they stand for."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplifier import Interval

if TYPE_CHECKING:
    from simplifier.interval import IntervalLike


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


@dataclass(frozen=True, slots=True, init=False)
class Variable:
    """A dimension, range or runtime variable: the closed interval of its values, and its name.

    Without a name it is called after its place in the map: ``d0``, ``s0``, ``rt0``.

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
        object.__setattr__(self, "bounds", Interval.of(bounds))
        object.__setattr__(
            self, "name", name or ("" if kind is VariableKind.DEFAULT else kind.value)
        )
        object.__setattr__(self, "kind", kind)

    @classmethod
    def of_size(cls, size: int, name: str = "") -> Variable:
        """The variable that counts ``size`` elements: ``[0, size - 1]``."""
        return cls(Interval(0, size - 1), name)

    def within(self, bounds: Interval) -> Variable:
        """The same variable with other bounds."""
        return Variable(bounds, self.name, self.kind)
