"""The integer functions that sympy users see: quotients, remainders, extrema, bits.

They are evaluated on constants only, whatever sympy knows about their arguments: an expression
stays as it was written until :func:`simplifier.simplify` is asked. Division rounds towards negative
infinity for either sign of the divisor, ``Mod`` has the sign of the divisor, as in Python; a
division by zero stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache, reduce
from typing import Any, ClassVar, Final

import sympy
from sympy.printing.codeprinter import CodePrinter
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.pretty.pretty import PrettyPrinter
from sympy.printing.pretty.stringpict import prettyForm
from sympy.printing.printer import Printer

from simplifier.errors import INTEGER, check_type

_REMEMBERED: Final = 1 << 12
"""How many symbols are remembered by name; sympy needs long to make one."""


@lru_cache(maxsize=_REMEMBERED)
def symbol(name: str) -> sympy.Symbol:
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

    def __mod__(self, other: sympy.Expr | int) -> sympy.Expr:
        return Mod(self, other) if _are_integers(self, other) else super().__mod__(other)

    def __rmod__(self, other: sympy.Expr | int) -> sympy.Expr:
        return Mod(other, self) if _are_integers(self, other) else super().__rmod__(other)

    def __floordiv__(self, other: sympy.Expr | int) -> sympy.Expr:
        return FloorDiv(self, other) if _are_integers(self, other) else super().__floordiv__(other)

    def __rfloordiv__(self, other: sympy.Expr | int) -> sympy.Expr:
        return FloorDiv(other, self) if _are_integers(self, other) else super().__rfloordiv__(other)

    def __divmod__(self, other: sympy.Expr | int) -> tuple[sympy.Expr, sympy.Expr]:
        return self // other, self % other

    def __rdivmod__(self, other: sympy.Expr | int) -> tuple[sympy.Expr, sympy.Expr]:
        return self.__rfloordiv__(other), self.__rmod__(other)  # sympy's integers divide by divmod


def _are_integers(one: sympy.Expr, other: object) -> bool:
    is_integer = other.is_integer if isinstance(other, sympy.Expr) else isinstance(other, INTEGER)
    return bool(is_integer and one.is_integer)


def _closed(name: str) -> Callable[..., Any]:
    """Sympy's operator of a name; its value is divisible."""

    def operator(self: _Divisible, *others: Any) -> Any:  # noqa: ANN401 - of sympy
        return divisible(getattr(super(_Divisible, self), name)(*others))

    return operator


for _operator in ("add", "radd", "sub", "rsub", "mul", "rmul", "pow", "rpow", "neg"):
    setattr(_Divisible, f"__{_operator}__", _closed(f"__{_operator}__"))


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


_DIVISIBLE: Final[Mapping[type, type[_Divisible]]] = {
    sympy.Add: Add,
    sympy.Mul: Mul,
    sympy.Pow: Pow,
}


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

    @classmethod
    def of(cls, *arguments: sympy.Expr) -> sympy.Expr:
        """The function called on expressions, without sympy's checks of each call."""
        if all(isinstance(argument, sympy.Integer) for argument in arguments):
            return cls(*arguments)
        made = sympy.Expr.__new__(cls, *arguments)
        made.nargs = _arity(cls)  # pyright: ignore[reportAttributeAccessIssue] - sympy keeps it here
        return made


@cache
def _arity(function: type[IntegerFunction]) -> sympy.Basic:
    """The numbers of arguments that a function takes, as sympy keeps it with every call."""
    return function.nargs


class _Division(IntegerFunction):
    """Base of the three functions of numerator and divisor."""

    nargs = (2,)
    # The texts bring their own parentheses: sympy has one precedence for str and LaTeX.
    precedence: ClassVar[int] = PRECEDENCE["Atom"]

    @staticmethod
    def _on_integers(numerator: int, divisor: int) -> int:
        raise NotImplementedError

    @classmethod
    def eval(cls, numerator: sympy.Expr, divisor: sympy.Expr) -> sympy.Expr | None:
        """The value of two constants; ``None`` keeps the function."""
        if isinstance(numerator, sympy.Integer) and isinstance(divisor, sympy.Integer) and divisor:
            return sympy.Integer(cls._on_integers(int(numerator), int(divisor)))
        return None

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
        raise NotImplementedError

    def _sympystr(self, printer: Printer) -> str:
        text = self._python(printer)
        return text if printer._print_level == 1 else f"({text})"

    _pythoncode = _numpycode = _cupycode = _jaxcode = _mpmathcode = _sympystr

    def _cxxcode(self, printer: CodePrinter) -> str:
        return self._ccode(printer)

    def _ccode(self, printer: CodePrinter) -> str:
        raise NotImplementedError

    def _latex(self, printer: LatexPrinter, exp: str | None = None) -> str:
        text = self._plain_latex(printer)
        return text if exp is None else rf"{{{text}}}^{{{exp}}}"

    def _plain_latex(self, printer: LatexPrinter) -> str:
        raise NotImplementedError


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

    @staticmethod
    def _on_integers(numerator: int, divisor: int) -> int:
        return numerator // divisor

    def _eval_rewrite_as_floor(
        self, numerator: sympy.Expr, divisor: sympy.Expr, **_: object
    ) -> sympy.Expr:
        return sympy.floor(numerator / divisor)

    def _eval_rewrite_as_Mod(  # noqa: N802 - sympy looks for this name
        self, numerator: sympy.Expr, divisor: sympy.Expr, **_: object
    ) -> sympy.Expr:
        return (numerator - sympy.Mod(numerator, divisor)) / divisor

    def _python(self, printer: Printer) -> str:
        return "{}//{}".format(*self._operands(printer))

    def _ccode(self, printer: CodePrinter) -> str:
        numerator, divisor = (printer._print(argument) for argument in self.args)
        remainder = f"({numerator}) % ({divisor})"
        off_by_one = f"({remainder} != 0 && ({remainder} < 0) != (({divisor}) < 0))"
        return f"(({numerator}) / ({divisor}) - {off_by_one})"

    def _fcode(self, printer: CodePrinter) -> str:
        numerator, divisor = (printer._print(argument) for argument in self.args)
        return f"(({numerator} - modulo({numerator}, {divisor}))/({divisor}))"

    def _pretty(self, printer: PrettyPrinter) -> prettyForm:
        return prettyForm(*_fraction(self, printer).parens("lfloor", "rfloor"))

    def _plain_latex(self, printer: LatexPrinter) -> str:
        numerator, divisor = (printer._print(argument) for argument in self.args)
        return rf"\left\lfloor \frac{{{numerator}}}{{{divisor}}} \right\rfloor"


class CeilDiv(_Division):
    """``a / b`` rounded towards positive infinity.

    >>> CeilDiv(-7, 2), CeilDiv(symbol("d0"), 8)
    (-3, -((-d0)//8))
    """

    @staticmethod
    def _on_integers(numerator: int, divisor: int) -> int:
        return -(-numerator // divisor)

    def _eval_rewrite_as_ceiling(
        self, numerator: sympy.Expr, divisor: sympy.Expr, **_: object
    ) -> sympy.Expr:
        return sympy.ceiling(numerator / divisor)

    def _eval_rewrite_as_floor(
        self, numerator: sympy.Expr, divisor: sympy.Expr, **_: object
    ) -> sympy.Expr:
        return -sympy.floor(-numerator / divisor)

    def _eval_rewrite_as_Mod(  # noqa: N802 - sympy looks for this name
        self, numerator: sympy.Expr, divisor: sympy.Expr, **_: object
    ) -> sympy.Expr:
        return (numerator + sympy.Mod(-numerator, divisor)) / divisor

    def _python(self, printer: Printer) -> str:
        return f"-({FloorDiv(-self.args[0], self.args[1])._python(printer)})"

    def _ccode(self, printer: CodePrinter) -> str:
        return f"(-{FloorDiv(-self.args[0], self.args[1])._ccode(printer)})"

    def _fcode(self, printer: CodePrinter) -> str:
        return f"(-{FloorDiv(-self.args[0], self.args[1])._fcode(printer)})"

    def _pretty(self, printer: PrettyPrinter) -> prettyForm:
        return prettyForm(*_fraction(self, printer).parens("lceil", "rceil"))

    def _plain_latex(self, printer: LatexPrinter) -> str:
        numerator, divisor = (printer._print(argument) for argument in self.args)
        return rf"\left\lceil \frac{{{numerator}}}{{{divisor}}} \right\rceil"


class Mod(_Division):
    """``a - b * FloorDiv(a, b)``: in ``[0, b - 1]`` for ``b > 0``, in ``[b + 1, 0]`` for ``b < 0``.

    >>> d0 = symbol("d0")
    >>> 2 * Mod(d0, 8) + 1
    2*(d0 % 8) + 1
    >>> Mod(-7, 3), Mod(7, -3), Mod(7, 0)
    (2, -2, 7 % 0)
    """

    @staticmethod
    def _on_integers(numerator: int, divisor: int) -> int:
        return numerator % divisor

    def _eval_is_nonnegative(self) -> bool | None:
        return self.args[1].is_positive or None

    def _eval_is_nonpositive(self) -> bool | None:
        return self.args[1].is_negative or None

    def _eval_rewrite_as_Mod(  # noqa: N802 - sympy looks for this name
        self, numerator: sympy.Expr, divisor: sympy.Expr, **_: object
    ) -> sympy.Expr:
        return sympy.Mod(numerator, divisor)

    def _eval_rewrite_as_floor(
        self, numerator: sympy.Expr, divisor: sympy.Expr, **_: object
    ) -> sympy.Expr:
        return numerator - divisor * sympy.floor(numerator / divisor)

    def _python(self, printer: Printer) -> str:
        return "{} % {}".format(*self._operands(printer))

    def _ccode(self, printer: CodePrinter) -> str:
        numerator, divisor = (f"({printer._print(argument)})" for argument in self.args)
        return f"(({numerator} % {divisor} + {divisor}) % {divisor})"

    def _fcode(self, printer: CodePrinter) -> str:
        numerator, divisor = (printer._print(argument) for argument in self.args)
        return f"modulo({numerator}, {divisor})"

    def _plain_latex(self, printer: LatexPrinter) -> str:
        return r"\left({} \bmod {}\right)".format(*self._operands(printer))


def _fraction(division: _Division, printer: PrettyPrinter) -> prettyForm:
    numerator, divisor = (printer._print(argument) for argument in division.args)
    return numerator / divisor


class _Extremum(IntegerFunction):
    """Base of ``Min`` and ``Max``."""

    _on_integers: ClassVar[Callable[..., int]]
    _c_comparison: ClassVar[str]

    @classmethod
    def eval(cls, *arguments: sympy.Expr) -> sympy.Expr | None:
        """The value of constants; a single argument is itself; ``None`` keeps the function."""
        if not arguments:
            message = f"{cls.__name__}: has no arguments; expected at least one"
            raise TypeError(message)
        if len(arguments) == 1:
            return arguments[0]
        if all(isinstance(argument, sympy.Integer) for argument in arguments):
            return sympy.Integer(cls._on_integers(*(int(argument) for argument in arguments)))
        return None

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

    def _eval_rewrite_as_Min(self, *arguments: sympy.Expr, **_: object) -> sympy.Expr:  # noqa: N802 - sympy looks for this name
        return sympy.Min(*arguments)

    def _eval_rewrite_as_Piecewise(self, *arguments: sympy.Expr, **_: object) -> sympy.Expr:  # noqa: N802 - likewise
        return sympy.Min(*arguments).rewrite(sympy.Piecewise)


class Max(_Extremum):
    """The greatest of its arguments.

    >>> Max(symbol("d0"), 7), Max(4, 7)
    (Max(d0, 7), 7)
    """

    _on_integers = max
    _c_comparison = ">"

    def _eval_rewrite_as_Max(self, *arguments: sympy.Expr, **_: object) -> sympy.Expr:  # noqa: N802 - sympy looks for this name
        return sympy.Max(*arguments)

    def _eval_rewrite_as_Piecewise(self, *arguments: sympy.Expr, **_: object) -> sympy.Expr:  # noqa: N802 - likewise
        return sympy.Max(*arguments).rewrite(sympy.Piecewise)


class _Bitwise(IntegerFunction):
    """Base of the three functions of bits."""

    _on_integers: ClassVar[Callable[[int, int], int]]
    _symbol: ClassVar[str]
    precedence: ClassVar[int] = PRECEDENCE["Atom"]

    @classmethod
    def eval(cls, *arguments: sympy.Expr) -> sympy.Expr | None:
        """The value of constants; ``None`` keeps the function."""
        if len(arguments) < _FEWEST_BITWISE:
            message = f"{cls.__name__}: has {len(arguments)} arguments; expected two or more"
            raise TypeError(message)
        if all(isinstance(argument, sympy.Integer) for argument in arguments):
            return sympy.Integer(reduce(cls._on_integers, map(int, arguments)))
        return None

    def _python(self, printer: Printer) -> str:
        operands = (printer.parenthesize(each, PRECEDENCE["Atom"]) for each in self.args)
        return f"({f' {self._symbol} '.join(operands)})"

    _pythoncode = _numpycode = _cupycode = _jaxcode = _ccode = _cxxcode = _python


_FEWEST_BITWISE: Final = 2


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
