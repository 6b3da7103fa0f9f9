"""The variables of a map: their bounds, names and kinds."""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, cast

from indexing.errors import MapError
from simplifier import IntervalError, forms
from simplifier.errors import quoted
from simplifier.forms import Form, Interval, IntervalLike, assumed, is_name
from simplifier.tools.late import sympy

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # type checkers bring it; Python has it from 3.13 on

SymbolicEnds: TypeAlias = "tuple[sympy.Expr | None, sympy.Expr | None]"
"""The ends of an interval that are expressions."""

Bounds: TypeAlias = "IntervalLike | tuple[sympy.Expr | int | None, sympy.Expr | int | None]"
"""An interval, or a pair whose ends may be expressions."""


class VariableKind(enum.Enum):
    """Kind of a variable. All but ``DEFAULT`` are coordinates of a GPU launch, as in XLA."""

    DEFAULT = "default"
    TH_X = "th_x"
    TH_Y = "th_y"
    TH_Z = "th_z"
    BL_X = "bl_x"
    BL_Y = "bl_y"
    BL_Z = "bl_z"
    WARP = "warp"
    TH_W = "th_w"


KINDS: Final = {kind.value: kind for kind in VariableKind if kind is not VariableKind.DEFAULT}
"""The kind of a variable by its name."""

GRID: Final = tuple(KINDS.values())[:6]
"""The coordinates of a launch, in XLA's order: threads in x, y and z, then blocks."""

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
        self, bounds: Bounds, name: str = "", kind: VariableKind = VariableKind.DEFAULT
    ) -> None:
        _check_name(name, kind)
        numbers, ends = (bounds, None) if type(bounds) is Interval else _numbers_and_ends(bounds)
        object.__setattr__(self, "ends", ends)
        object.__setattr__(self, "bounds", interval_of(numbers, "Variable: bounds"))
        own = "" if kind is VariableKind.DEFAULT else kind.value
        object.__setattr__(self, "given_name", name or own)
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
        """The given name, or the one by its position in the map that has it."""
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


# Parameters: variables that maps share by name, such as the size `N` of a tensor.
#
# Composing two maps with `N` gives one with `N`: it has no position, unlike other variables.

PARAMETER: Final = "~"
"""The begin of the identifiers of parameters."""


def parameter_identifier(name: str) -> str:
    """The identifier of a parameter."""
    return f"{PARAMETER}{name}"


def has_parameters(form: Form) -> bool:
    """Whether a form over identifiers uses parameters."""
    return any(name[0] == PARAMETER for name in forms.variables_of((form,)))


POSITIONAL: Final = re.compile(r"(d|s|rt)\d+")
"""The names of variables without a name of their own."""


def other_use(name: str) -> str:
    """The other thing with the name of a parameter; empty if there is none.

    >>> other_use("bl_x"), other_use("inf"), other_use("N")
    ('as a coordinate of a launch is', 'as an open end is', '')
    """
    if name in KINDS:
        return "as a coordinate of a launch is"
    return "as an open end is" if name == "inf" else ""


def name_beside(identifier: str, parameters: Collection[str]) -> str:
    """The name of a variable by its position, marked where a parameter has it.

    >>> name_beside("s0", {"s1"}), name_beside("s0", {"s0"})
    ('s0', 's0_')
    """
    return f"{identifier}_" if identifier in parameters else identifier


def check_parameter(parameter: Variable, where: str) -> None:
    """Raise a :class:`MapError` unless a variable has a name by which maps can share it."""
    if not parameter.name:
        raise MapError(f"{where} has no name; expected one, such as N")
    if other := other_use(parameter.name):
        raise MapError(f"{where} is called {parameter.name}, {other}; expected another name")


def check_parameters(parameters: Iterable[Variable], where: str) -> None:
    """:func:`check_parameter` for several, which have different names."""
    given = tuple(parameters)
    for position, parameter in enumerate(given):
        check_parameter(parameter, f"{where}: parameter {position}")
    check_distinct([parameter.name for parameter in given], "parameters", where)


def check_distinct(names: Iterable[str], what: str, where: str) -> None:
    """Raise a :class:`MapError` for a name that stands for two of something."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            message = f"{where}: the name {quoted(name)} stands for two {what}"
            raise MapError(f"{message}; expected different names")
        seen.add(name)


def parameter_of(symbol: sympy.Symbol) -> Variable:
    """The parameter that a symbol stands for, with the bounds that its assumptions give.

    >>> from sympy import Symbol
    >>> parameter_of(Symbol("N", integer=True, positive=True)).bounds
    Interval(lower=1, upper=None)
    """
    return Variable(assumed(symbol), symbol.name)


class OverParameters(NamedTuple):
    """An expression over parameters, such as a size: its form over their identifiers, and these."""

    form: Form | None
    parameters: tuple[Variable, ...]


def over_parameters(expression: sympy.Expr | int | None) -> OverParameters:
    """An expression whose symbols are parameters; ``None`` is an end without bound.

    Raises:
        ConversionError: naming the part that is not integer arithmetic.

    >>> from simplifier import symbol
    >>> over_parameters(symbol("N") * 4).form
    Form(~N * 4)
    """
    if expression is None:
        return OverParameters(None, ())
    form, symbols = forms.read_whole(expression)
    own = {each.name: forms.variable(parameter_identifier(each.name)) for each in symbols}
    (renamed,) = forms.substitute((form,), own)
    return OverParameters(renamed, tuple(map(parameter_of, symbols)))


def counted(size: Form) -> tuple[Variable, ...]:
    """The parameter in a size, with the bounds that it has because no size is negative.

    None, if the size has several parameters or is not linear.

    >>> [parameter.bounds for parameter in counted(forms.variable("~N") * 4 - 2)]
    [Interval(lower=1, upper=None)]
    """
    if len(size.terms) != 1 or not size.is_affine:
        return ()
    ((atom, factor),) = size.terms.items()
    end = -size.constant
    bounds = Interval(-(-end // factor), None) if factor > 0 else Interval(None, end // factor)
    return (Variable(bounds, atom.name.removeprefix(PARAMETER)),)


def united(parameters: Iterable[Variable]) -> tuple[Variable, ...]:
    """The parameters sorted by name; of those with one name, all bounds hold.

    >>> united([Variable((2, None), "N"), Variable((0, 9), "N")])[0].bounds
    Interval(lower=2, upper=9)
    """
    by_name: dict[str, Variable] = {}
    for parameter in parameters:
        known = by_name.setdefault(parameter.name, parameter)
        if known is not parameter:
            both = known.bounds.intersect(parameter.bounds)
            by_name[parameter.name] = known.within(both)
    return tuple(by_name[name] for name in sorted(by_name))
