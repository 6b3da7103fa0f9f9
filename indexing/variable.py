"""The variables of a map: their bounds, names and kinds."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from indexing.errors import MapError
from simplifier import Interval, IntervalError
from simplifier.errors import quoted
from simplifier.expr.expression_lexer import is_name

if TYPE_CHECKING:
    import sympy
    from typing_extensions import TypeIs

    from simplifier.bounds.interval import IntervalLike

    SymbolicEnds: TypeAlias = tuple[sympy.Expr | None, sympy.Expr | None]
    """The ends of an interval that are expressions."""

    Bounds: TypeAlias = IntervalLike | tuple[sympy.Expr | int | None, sympy.Expr | int | None]
    """An interval, or a pair whose ends may be expressions."""


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

KINDS: Final = {kind.value: kind for kind in VariableKind if kind is not VariableKind.DEFAULT}
"""The kind of a variable by its name."""

_MAX_CACHED: Final = 1 << 10
"""Variables without names that are kept by their sizes: a program has few different sizes."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Variable:
    """A dimension, range or runtime variable: the closed interval of its values, and its name.

    Given no name, it is called after its role and position in the map that has it: ``d0``, ``s0``,
    ``rt0``. Only a variable that is of no map yet is called nothing. The coordinates of a launch
    are called after their kind, as in XLA: the name gives the kind, and the kind the name.

    An end may be an expression over parameters, as in ``Variable((0, N - 1))``: the map that it is
    given to has it as a constraint, and :attr:`bounds` are the ends that are numbers.

    Raises:
        MapError: the bounds are no interval, the name cannot be read as one, or it is not that of
            the kind.

    >>> Variable((0, 3), "row")
    Variable(bounds=Interval(lower=0, upper=3), name='row', kind=<VariableKind.DEFAULT: 'default'>)
    >>> Variable(Interval(0, 9)).bounds.size
    10
    >>> from indexing import IndexingMap
    >>> [each.name for each in IndexingMap.identity([4, 8]).dims]
    ['d0', 'd1']
    """

    bounds: Interval
    given_name: str
    """The name that it was given, or empty: names by position do not make variables different."""
    kind: VariableKind = field(hash=False)  # the name tells it
    ends: SymbolicEnds | None
    """The ends that are expressions over parameters, until a map makes constraints of them."""
    _position: str = field(compare=False)

    def __init__(
        self,
        bounds: Bounds,
        name: str = "",
        kind: VariableKind = VariableKind.DEFAULT,
    ) -> None:
        _check_name(name, kind)
        numbers, ends = (bounds, None) if type(bounds) is Interval else _numbers_and_ends(bounds)
        object.__setattr__(self, "ends", ends)
        object.__setattr__(self, "bounds", interval_of(numbers, "Variable: bounds"))
        object.__setattr__(
            self, "given_name", name or ("" if kind is VariableKind.DEFAULT else kind.value)
        )
        object.__setattr__(self, "kind", KINDS.get(name, kind))
        object.__setattr__(self, "_position", "")

    @classmethod
    def of_size(cls, size: sympy.Expr | int, name: str = "") -> Variable:
        """The variable that counts ``size`` elements: ``[0, size - 1]``.

        Raises:
            MapError: the size is neither an integer of at least 0 nor an expression.
        """
        if type(size) is not int and is_symbolic(size):
            return cls((0, size - 1), name)
        count = size_of(size, "Variable: size")
        return cls(Interval(0, count - 1), name) if name else _counting(count)

    @property
    def name(self) -> str:
        """What it is called: its given name, or the one by its position in the map that has it."""
        return self.given_name or self._position

    def called(self, name: str) -> Variable:
        """The same variable with another name, or with none.

        >>> print(Variable((0, 3)).called("row").name)
        row
        """
        other = Variable(self.bounds, name)
        object.__setattr__(other, "ends", self.ends)
        return other

    def within(self, bounds: Interval) -> Variable:
        """The same variable with other bounds."""
        return self._copy(bounds, None, "")

    def at(self, position: str) -> Variable:
        """The same variable, called so unless it was given a name."""
        return self if self.given_name else self._copy(self.bounds, self.ends, position)

    def _copy(self, bounds: Interval, ends: SymbolicEnds | None, position: str) -> Variable:
        other = object.__new__(Variable)
        object.__setattr__(other, "bounds", bounds)
        object.__setattr__(other, "given_name", self.given_name)
        object.__setattr__(other, "kind", self.kind)
        object.__setattr__(other, "ends", ends)
        object.__setattr__(other, "_position", position)
        return other

    def __repr__(self) -> str:
        return f"Variable(bounds={self.bounds!r}, name={self.name!r}, kind={self.kind!r})"


@lru_cache(maxsize=_MAX_CACHED)
def _counting(size: int) -> Variable:
    """The variable of a size; programs have many tensors of few sizes."""
    return Variable(Interval(0, size - 1))


def _numbers_and_ends(bounds: Bounds) -> tuple[IntervalLike, SymbolicEnds | None]:
    """The ends that are numbers, and those that are expressions."""
    if not isinstance(bounds, tuple) or not any(map(is_symbolic, bounds)):
        return cast("IntervalLike", bounds), None
    lower, upper = bounds
    ends = (lower if is_symbolic(lower) else None, upper if is_symbolic(upper) else None)
    numbers = (None if ends[0] else lower, None if ends[1] else upper)
    return cast("IntervalLike", numbers), ends


def is_symbolic(value: object) -> TypeIs[sympy.Expr]:
    """Whether a value is an expression with symbols, not a number."""
    return bool(getattr(value, "free_symbols", None))


def interval_of(bounds: IntervalLike, where: str) -> Interval:
    """The interval that a user gave; raises a :class:`MapError` that names the argument."""
    try:
        return Interval.of(bounds)
    except (IntervalError, TypeError) as error:  # an array says that it is an integer
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
    if not isinstance(name, str) or (name and not is_name(name)):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        expected = "expected letters, digits and underscores, and no reserved word"
        raise MapError(f"Variable: name is {quoted(name)}; {expected}")
    if name and kind is not VariableKind.DEFAULT and name != kind.value:
        raise MapError(f"Variable: name is {quoted(name)}; expected {kind.value!r}, its kind")
