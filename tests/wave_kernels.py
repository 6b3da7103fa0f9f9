"""Index expressions of GPU kernels, from the corpus of iree-org/wave, as users hand them over.

Each has symbols for sizes, threads and workgroups, bounds of them, facts such as ``K mod 256 ==
0``, and the cost of what Wave's own simplifier in C makes of it.
"""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import ceil, floor, prod
from typing import Any, Final, NamedTuple

import sympy

from simplifier import BitXor, CeilDiv, FloorDiv, Max, Min, Mod, parse_expr
from simplifier.problem import Expression
from tests.conformance import Row, rows

Point = dict[str, int]


class KernelExpression(NamedTuple):
    """One expression of a kernel, and what is known of its symbols."""

    id: str
    expression: Expression
    bounds: dict[str, tuple[int, int | None]]
    constraints: Sequence[tuple[Expression, tuple[int, int]]]
    cost: int
    """What the result of Wave's simplifier costs, by ``operator_count``."""

    def points(self, count: int) -> Iterator[Point]:
        """Some points within bounds and constraints, the same in every run."""
        draw = random.Random(self.id)  # noqa: S311 - the same points in every run
        for _ in range(count):
            names = sorted(symbol.name for symbol in sympy.sympify(self.expression).free_symbols)
            yield {name: self._drawn(draw, name) for name in dict.fromkeys((*self.bounds, *names))}

    def _drawn(self, draw: random.Random, name: str) -> int:
        lower, upper = self.bounds.get(name, (-64, 64))
        if upper is not None:
            return draw.randint(lower, upper)
        divisor = _divisors(self.id).get(name, 1)
        return divisor * draw.randint(-(-lower // divisor), draw.choice((2, 64, 1 << 12)))


def kernels() -> tuple[KernelExpression, ...]:
    """All kernels; different ones may have equal expressions."""
    return tuple(map(kernel, _rows()))


@lru_cache
def _rows() -> dict[str, Row]:
    return {row["id"]: row for row in rows("wave")}


@cache
def kernel(name: str) -> KernelExpression:
    """The kernel of that name, such as ``w130``."""
    row = _rows()[name]
    text: str = row["original"].replace("$", "")
    names: set[str] = set(re.findall(r"[A-Za-z_]\w*", text)) - _FUNCTIONS
    symbols = {name: sympy.Symbol(name, integer=True) for name in names}
    constraints = [(parse_expr(form), (lower, upper)) for form, lower, upper in row["constraints"]]
    return KernelExpression(
        row["id"],
        sympy.sympify(text, locals={**symbols, "xor": BitXor}),
        {name: (lower, upper) for name, (lower, upper) in row["bounds"].items()},
        constraints,
        row["ixsimpl_cost"],
    )


_FUNCTIONS: Final = {"Max", "Min", "Mod", "Piecewise", "True", "ceiling", "floor", "xor"}


@lru_cache
def _divisors(kernel: str) -> dict[str, int]:
    """The divisors of variables, by constraints ``x mod c`` in ``[0, 0]``; there are no others."""
    row = _rows()[kernel]
    found: dict[str, int] = {}
    for form, *ends in row["constraints"]:
        name, divisor = re.fullmatch(r"(\w+) mod (\d+)", form).groups()  # pyright: ignore[reportOptionalMemberAccess] - they all are
        assert ends == [0, 0]
        found[name] = int(divisor)
    return found


# Values of sympy expressions, with fractions: what sympy itself means by them.


def value_at(expression: Expression, point: Mapping[str, int]) -> Any:  # noqa: ANN401 - a number or a truth value
    """The value at one point; ``None`` where it divides by zero.

    Of a choice only the branch that holds is computed.
    """
    known: dict[int, Any] = {}

    def value(node: Any) -> Any:  # noqa: ANN401 - sympy's nodes
        if id(node) not in known:
            known[id(node)] = computed(node)
        return known[id(node)]

    def computed(node: Any) -> Any:  # noqa: ANN401 - as above
        if node.is_Symbol:
            return point[node.name]
        if node.is_Rational:
            return Fraction(node.p, node.q) if node.q != 1 else node.p
        if isinstance(node, sympy.Piecewise):
            return next(value(pair.expr) for pair in node.args if value(pair.cond))
        return _MEANINGS[type(node)](*map(value, node.args))

    try:
        return value(sympy.sympify(expression))
    except ZeroDivisionError:
        return None


def _power(base: Any, exponent: int) -> Any:  # noqa: ANN401 - integers and fractions
    return Fraction(base) ** exponent


def _remainder(left: Any, right: Any) -> Any:  # noqa: ANN401 - as above
    return left - right * floor(Fraction(left) / right)


def _rounded_up(left: int, right: int) -> int:
    return -(-left // right)


_MEANINGS: Final[Mapping[type, Callable[..., Any]]] = {
    sympy.Add: lambda *terms: sum(terms),
    sympy.Mul: lambda *factors: prod(factors),
    sympy.Pow: _power,
    sympy.floor: floor,
    sympy.ceiling: ceil,
    sympy.Mod: _remainder,
    Mod: int.__mod__,
    FloorDiv: int.__floordiv__,
    CeilDiv: _rounded_up,
    sympy.Max: max,
    Max: max,
    sympy.Min: min,
    Min: min,
    BitXor: int.__xor__,
    sympy.Ge: operator.ge,
    sympy.Gt: operator.gt,
    sympy.Le: operator.le,
    sympy.Lt: operator.lt,
    sympy.Eq: operator.eq,
    sympy.Ne: operator.ne,
    sympy.And: lambda *conditions: all(conditions),
    sympy.Or: lambda *conditions: any(conditions),
    sympy.Not: operator.not_,
    type(sympy.true): lambda: True,
    type(sympy.false): lambda: False,
}
