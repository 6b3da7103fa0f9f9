"""Parameters: variables that maps share by name, such as the size ``N`` of a tensor.

Composing two maps with ``N`` gives one with ``N``: it has no position, unlike other variables.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from indexing.errors import MapError
from indexing.variable import KINDS, Variable
from simplifier import Interval
from simplifier.bounds.facts import assumed
from simplifier.errors import quoted
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.sympy_reading import read_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import sympy

    from simplifier.expr.form import Form

PARAMETER: Final = "~"
"""What the identifiers of parameters begin with."""


def parameter_identifier(name: str) -> str:
    """The identifier of a parameter."""
    return f"{PARAMETER}{name}"


def has_parameters(form: Form) -> bool:
    """Whether a form over identifiers uses parameters."""
    return any(name[0] == PARAMETER for name in forms.variables_of((form,)))


POSITIONAL: Final = re.compile(r"(d|s|rt)\d+")
"""What variables without a name are called."""


def other_use(name: str) -> str:
    """What else is called so, which a parameter would be taken for; empty if nothing is.

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
    seen: set[str] = set()
    for position, parameter in enumerate(parameters):
        check_parameter(parameter, f"{where}: parameter {position}")
        if parameter.name in seen:
            message = f"{where}: the name {quoted(parameter.name)} stands for two parameters"
            raise MapError(f"{message}; expected different names")
        seen.add(parameter.name)


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
    """What an expression says whose symbols are parameters; ``None`` is an end without bound.

    Raises:
        ConversionError: naming the part that is not integer arithmetic.

    >>> from simplifier import symbol
    >>> over_parameters(symbol("N") * 4).form
    Form(~N * 4)
    """
    if expression is None:
        return OverParameters(None, ())
    form, symbols = read_whole(expression)
    identifiers = {
        symbol.name: forms.variable(parameter_identifier(symbol.name)) for symbol in symbols
    }
    (renamed,) = operations.substitute((form,), identifiers)
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
