"""The integer functions that sympy users see: quotients, remainders, extrema, bits.

They are evaluated on constants only, whatever sympy knows about their arguments: an expression
stays as it was written until :func:`simplifier.simplify` is asked. Division rounds towards negative
infinity for either sign of the divisor, ``Mod`` has the sign of the divisor, as in Python; a
division by zero stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, lru_cache, reduce
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeAlias

import sympy
from sympy.logic.boolalg import Boolean
from sympy.printing.codeprinter import CodePrinter
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.stringpict import prettyForm
from sympy.printing.printer import Printer

from simplifier.errors import INTEGER, check_type

_Rewrites: TypeAlias = "Mapping[str, Callable[[sympy.Expr, sympy.Expr], sympy.Expr]]"

_REMEMBERED: Final = 1 << 12
"""How many symbols are remembered by name; sympy needs long to make one."""


@lru_cache(maxsize=_REMEMBERED)
def symbol(name: str) -> Symbol:
    """The symbol of a variable: an integer. All symbols of this library are made here.

    It equals sympy's of this name, but ``%`` and ``//`` on it are :class:`Mod` and
    :class:`FloorDiv`.

    >>> symbol("d0").is_integer, 2 * (symbol("d0") % 3) % 6
    (True, (2*(d0 % 3)) % 6)
    """
    check_type(name, str, "symbol: the name", "a string, such as 'd0'")
    return Symbol(name, integer=True)


class _Divisible(sympy.Expr):
    """Expressions on which ``%`` and ``//`` of integers are the functions below.

    Sympy evaluates its own remainders at once, and ``2*(x % 3) % 6`` wrongly: its issue 28744.
    Results of other operators on such an expression are such expressions, too.
    """

    __slots__ = ()
    _op_priority = 10.0005  # above sympy's numbers and sums, below its matrices

    def __add__(self, other: sympy.Expr | int) -> _Divisible:
        return divisible(super().__add__(other))

    def __radd__(self, other: sympy.Expr | int) -> _Divisible:
        return divisible(super().__radd__(other))

    def __sub__(self, other: sympy.Expr | int) -> _Divisible:
        return divisible(super().__sub__(other))

    def __rsub__(self, other: sympy.Expr | int) -> _Divisible:
        return divisible(super().__rsub__(other))

    def __mul__(self, other: sympy.Expr | int) -> _Divisible:
        return divisible(super().__mul__(other))

    def __rmul__(self, other: sympy.Expr | int) -> _Divisible:
        return divisible(super().__rmul__(other))

    def __pow__(self, other: sympy.Expr | int) -> _Divisible:
        return divisible(super().__pow__(other))

    def __rpow__(self, other: sympy.Expr | int) -> _Divisible:
        return divisible(super().__rpow__(other))

    def __neg__(self) -> _Divisible:
        return divisible(super().__neg__())

    def __mod__(self, other: sympy.Expr | int) -> _Divisible:
        if _are_integers(self, other):
            return Mod(self, other)
        return divisible(super().__mod__(other))

    def __rmod__(self, other: sympy.Expr | int) -> _Divisible:
        if _are_integers(self, other):
            return Mod(other, self)
        return divisible(super().__rmod__(other))

    def __floordiv__(self, other: sympy.Expr | int) -> _Divisible:
        if _are_integers(self, other):
            return FloorDiv(self, other)
        return divisible(super().__floordiv__(other))

    def __rfloordiv__(self, other: sympy.Expr | int) -> _Divisible:
        if _are_integers(self, other):
            return FloorDiv(other, self)
        return divisible(super().__rfloordiv__(other))

    def __divmod__(self, other: sympy.Expr | int) -> tuple[_Divisible, _Divisible]:
        return self // other, self % other

    def __rdivmod__(self, other: sympy.Expr | int) -> tuple[_Divisible, _Divisible]:
        return self.__rfloordiv__(other), self.__rmod__(other)  # sympy's integers divide by divmod

    if TYPE_CHECKING:  # sympy ships no types

        def __lt__(self, other: sympy.Expr | int) -> Boolean: ...
        def __le__(self, other: sympy.Expr | int) -> Boolean: ...
        def __gt__(self, other: sympy.Expr | int) -> Boolean: ...
        def __ge__(self, other: sympy.Expr | int) -> Boolean: ...


def _are_integers(one: sympy.Expr, other: object) -> bool:
    is_integer = other.is_integer if isinstance(other, sympy.Expr) else isinstance(other, INTEGER)
    return bool(is_integer and one.is_integer)


class _AsSympys(type(sympy.Symbol)):
    """The type of a class that sympy, which compares classes, takes for its own of the name."""

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.__bases__[1]

    def __hash__(cls) -> int:
        return hash(cls.__bases__[1])


class Symbol(_Divisible, sympy.Symbol, metaclass=_AsSympys):
    """A symbol that equals sympy's of the same name and assumptions."""

    __slots__ = ()


class Add(_Divisible, sympy.Add, metaclass=_AsSympys):
    """A sum that equals sympy's."""

    __slots__ = ()
    func = sympy.Add


class Mul(_Divisible, sympy.Mul, metaclass=_AsSympys):
    """A product that equals sympy's."""

    __slots__ = ()
    func = sympy.Mul


class Pow(_Divisible, sympy.Pow, metaclass=_AsSympys):
    """A power that equals sympy's."""

    __slots__ = ()
    func = sympy.Pow


_DIVISIBLE: Final[Mapping[type, type[_Divisible]]] = {each.func: each for each in (Add, Mul, Pow)}


def divisible(made: Any) -> Any:  # noqa: ANN401 - of sympy, or what an operator gives
    """The same sum, product or power, whose remainders are those of this library."""
    kind = _DIVISIBLE.get(type(made))  # pyright: ignore[reportUnknownArgumentType]
    if kind is None:
        return made
    again = sympy.Expr.__new__(kind, *made.args)
    again.is_commutative = made.is_commutative
    return again


class IntegerFunction(_Divisible, sympy.Function):
    """Base of all of these functions."""

    is_integer = True
    _fewest: ClassVar[int] = 2
    """Arguments that it takes at least."""
    _on_integers: ClassVar[Callable[[int, int], int]]
    _in_sympys: ClassVar[Mapping[str, Callable[..., sympy.Expr]]] = {}
    """The same in terms of functions of sympy, by their names."""

    if TYPE_CHECKING:

        def __new__(cls, *arguments: sympy.Expr | int, evaluate: bool = ...) -> Self:  # noqa: D102
            ...

    @classmethod
    def of(cls, *arguments: sympy.Expr) -> sympy.Expr:
        """The function called on expressions, without sympy's checks of each call."""
        if all(isinstance(argument, sympy.Integer) for argument in arguments):
            return cls(*arguments)
        made = sympy.Expr.__new__(cls, *arguments)
        made.nargs = _arity(cls)  # pyright: ignore[reportAttributeAccessIssue] - sympy keeps it here
        return made

    @classmethod
    def eval(cls, *arguments: sympy.Expr) -> sympy.Expr | None:
        """The value of constants, or of a single argument; ``None`` keeps the function."""
        if len(arguments) < cls._fewest:
            count = len(arguments) or "no"
            expected = "at least one" if cls._fewest == 1 else "two or more"
            raise TypeError(f"{cls.__name__}: has {count} arguments; expected {expected}")
        if len(arguments) == 1:
            return arguments[0]
        if all(isinstance(argument, sympy.Integer) for argument in arguments):
            with suppress(ZeroDivisionError):
                return sympy.Integer(reduce(cls._on_integers, map(int, arguments)))
        return None

    def _eval_rewrite(self, rule: Any, args: tuple[sympy.Expr, ...], **_: object) -> Any:  # noqa: ANN401 - of sympy
        """What sympy asks for ``rewrite``: its function of this name, or of the class."""
        rewrite = self._in_sympys.get(getattr(rule, "__name__", rule))
        return None if rewrite is None else rewrite(*args)


@cache
def _arity(function: type[IntegerFunction]) -> sympy.Basic:
    """The numbers of arguments that a function takes, as sympy keeps it with every call."""
    return function.nargs


class _Division(IntegerFunction):
    """Base of the three functions of numerator and divisor."""

    nargs = (2,)
    # The texts bring their own parentheses: sympy has one precedence for str and LaTeX.
    precedence: ClassVar[int] = PRECEDENCE["Atom"]
    _texts: ClassVar[Mapping[str, str]]
    """By language, around the texts of both arguments."""

    def _eval_is_nonnegative(self) -> bool | None:
        """What sympy asks: a quotient of numbers of one sign is not negative."""
        numerator, divisor = self.args
        is_natural = numerator.is_nonnegative and divisor.is_positive
        return is_natural or (numerator.is_nonpositive and divisor.is_negative) or None

    def _operands(self, printer: Printer) -> tuple[str, str]:
        """Both arguments, in parentheses where an operator of the rank of ``*`` needs them."""
        level = PRECEDENCE["Mul"]
        numerator, divisor = self.args
        return printer.parenthesize(numerator, level), printer.parenthesize(divisor, level)

    def _python(self, printer: Printer) -> str:
        return self._texts["python"].format(*self._operands(printer))

    def _sympystr(self, printer: Printer) -> str:
        text = self._python(printer)
        return text if printer._print_level == 1 else f"({text})"

    _pythoncode = _numpycode = _cupycode = _jaxcode = _mpmathcode = _sympystr

    def _cxxcode(self, printer: CodePrinter) -> str:
        return self._ccode(printer)

    def _ccode(self, printer: CodePrinter) -> str:
        return self._text("c", printer)

    def _fcode(self, printer: CodePrinter) -> str:
        return self._text("fortran", printer)

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        text = self._plain_latex(printer)
        return text if exp is None else rf"{{{text}}}^{{{exp}}}"

    def _plain_latex(self, printer: LatexPrinter) -> str:
        return self._text("latex", printer)

    def _text(self, language: str, printer: Printer) -> str:
        return self._texts[language].format(*map(printer._print, self.args))


class FloorDiv(_Division):
    """``a / b`` rounded towards negative infinity.

    >>> d0 = symbol("d0")
    >>> FloorDiv(d0 + 1, 8)
    (d0 + 1)//8
    >>> FloorDiv(-7, 2), FloorDiv(d0, 1)
    (-4, d0//1)

    For sympy's own functions, ask for them:

    >>> (FloorDiv(d0, 8) + Mod(d0, 8)).rewrite(sympy.floor)
    d0 - 7*floor(d0/8)
    """

    _on_integers = int.__floordiv__
    _in_sympys: ClassVar[_Rewrites] = {
        "floor": lambda numerator, divisor: sympy.floor(numerator / divisor),
        "Mod": lambda numerator, divisor: (numerator - sympy.Mod(numerator, divisor)) / divisor,
    }
    _texts: ClassVar[Mapping[str, str]] = {
        "python": "{}//{}",
        "c": "(({0}) / ({1}) - (({0}) % ({1}) != 0 && (({0}) % ({1}) < 0) != (({1}) < 0)))",
        "fortran": "(({0} - modulo({0}, {1}))/({1}))",
        "latex": r"\left\lfloor \frac{{{0}}}{{{1}}} \right\rfloor",
    }

    def _pretty(self, printer: PrettyPrinter) -> prettyForm:
        return prettyForm(*_fraction(self, printer).parens("lfloor", "rfloor"))


def _ceildiv(numerator: int, divisor: int) -> int:
    return -(-numerator // divisor)


class CeilDiv(_Division):
    """``a / b`` rounded towards positive infinity.

    >>> CeilDiv(-7, 2), CeilDiv(symbol("d0"), 8)
    (-3, -((-d0)//8))
    """

    _on_integers = _ceildiv
    _in_sympys: ClassVar[_Rewrites] = {
        "ceiling": lambda numerator, divisor: sympy.ceiling(numerator / divisor),
        "floor": lambda numerator, divisor: -sympy.floor(-numerator / divisor),
        "Mod": lambda numerator, divisor: (numerator + sympy.Mod(-numerator, divisor)) / divisor,
    }
    _texts: ClassVar[Mapping[str, str]] = {"latex": r"\left\lceil \frac{{{0}}}{{{1}}} \right\rceil"}

    def _python(self, printer: Printer) -> str:
        return f"-({FloorDiv(-self.args[0], self.args[1])._python(printer)})"

    def _ccode(self, printer: CodePrinter) -> str:
        return f"(-{FloorDiv(-self.args[0], self.args[1])._ccode(printer)})"

    def _fcode(self, printer: CodePrinter) -> str:
        return f"(-{FloorDiv(-self.args[0], self.args[1])._fcode(printer)})"

    def _pretty(self, printer: PrettyPrinter) -> prettyForm:
        return prettyForm(*_fraction(self, printer).parens("lceil", "rceil"))


class Mod(_Division):
    """``a - b * FloorDiv(a, b)``: in ``[0, b - 1]`` for ``b > 0``, in ``[b + 1, 0]`` for ``b < 0``.

    >>> d0 = symbol("d0")
    >>> 2 * Mod(d0, 8) + 1
    2*(d0 % 8) + 1
    >>> Mod(-7, 3), Mod(7, -3), Mod(7, 0)
    (2, -2, 7 % 0)
    """

    _on_integers = int.__mod__
    _in_sympys: ClassVar[_Rewrites] = {
        "Mod": sympy.Mod,
        "floor": lambda numerator, divisor: numerator - divisor * sympy.floor(numerator / divisor),
    }
    _texts: ClassVar[Mapping[str, str]] = {
        "python": "{} % {}",
        "c": "((({0}) % ({1}) + ({1})) % ({1}))",
        "fortran": "modulo({0}, {1})",
    }

    def _eval_is_nonnegative(self) -> bool | None:
        return self.args[1].is_positive or None

    def _eval_is_nonpositive(self) -> bool | None:
        return self.args[1].is_negative or None

    def _plain_latex(self, printer: LatexPrinter) -> str:
        return r"\left({} \bmod {}\right)".format(*self._operands(printer))


def _fraction(division: _Division, printer: PrettyPrinter) -> prettyForm:
    numerator, divisor = (printer._print(argument) for argument in division.args)
    return numerator / divisor


class _Extremum(IntegerFunction):
    """Base of ``Min`` and ``Max``."""

    _fewest = 1
    _c_comparison: ClassVar[str]

    @property
    def _lower_name(self) -> str:
        return type(self).__name__.lower()

    def _printed(self, printer: Printer) -> list[str]:
        return [printer._print(argument) for argument in self.args]

    def _pythoncode(self, printer: Printer) -> str:
        return f"{self._lower_name}({', '.join(self._printed(printer))})"

    def _numpycode(self, printer: CodePrinter) -> str:
        function = printer._module_format(f"{printer._module}.{self._lower_name}imum")
        return reduce(lambda left, right: f"{function}({left}, {right})", self._printed(printer))

    _cupycode = _jaxcode = _numpycode

    def _ccode(self, printer: CodePrinter) -> str:
        return reduce(
            lambda left, right: f"(({left}) {self._c_comparison} ({right}) ? ({left}) : ({right}))",
            self._printed(printer),
        )

    _cxxcode = _ccode

    def _fcode(self, printer: CodePrinter) -> str:
        name = self._lower_name
        return reduce(lambda left, right: f"{name}({left}, {right})", self._printed(printer))

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"\{self._lower_name}{power}\left({', '.join(self._printed(printer))}\right)"


class Min(_Extremum):
    """The least of its arguments.

    >>> Min(symbol("d0"), 7), Min(4, 7)
    (Min(d0, 7), 4)
    """

    _on_integers = min
    _c_comparison = "<"
    _in_sympys: ClassVar[Mapping[str, Callable[..., sympy.Expr]]] = {
        "Min": sympy.Min,
        "Piecewise": lambda *arguments: sympy.Min(*arguments).rewrite(sympy.Piecewise),
    }


class Max(_Extremum):
    """The greatest of its arguments.

    >>> Max(symbol("d0"), 7), Max(4, 7)
    (Max(d0, 7), 7)
    """

    _on_integers = max
    _c_comparison = ">"
    _in_sympys: ClassVar[Mapping[str, Callable[..., sympy.Expr]]] = {
        "Max": sympy.Max,
        "Piecewise": lambda *arguments: sympy.Max(*arguments).rewrite(sympy.Piecewise),
    }


class _Bitwise(IntegerFunction):
    """Base of the three functions of bits."""

    _symbol: ClassVar[str]
    precedence: ClassVar[int] = PRECEDENCE["Atom"]

    def _python(self, printer: Printer) -> str:
        operands = (printer.parenthesize(each, PRECEDENCE["Atom"]) for each in self.args)
        return f"({f' {self._symbol} '.join(operands)})"

    _pythoncode = _numpycode = _cupycode = _jaxcode = _ccode = _cxxcode = _python


class BitAnd(_Bitwise):
    """The bits that all arguments have, in two's complement: Python's ``a & b``.

    >>> BitAnd(symbol("d0"), 7), BitAnd(12, 10)
    (BitAnd(d0, 7), 8)
    """

    _on_integers = int.__and__
    _symbol = "&"


class BitOr(_Bitwise):
    """The bits that some argument has, in two's complement: Python's ``a | b``.

    >>> BitOr(symbol("d0"), 7), BitOr(12, 10)
    (BitOr(d0, 7), 14)
    """

    _on_integers = int.__or__
    _symbol = "|"


class BitXor(_Bitwise):
    """The bits that an odd number of arguments has, in two's complement: Python's ``a ^ b``.

    >>> BitXor(symbol("d0"), 7), BitXor(12, 10)
    (BitXor(d0, 7), 6)
    """

    _on_integers = int.__xor__
    _symbol = "^"
