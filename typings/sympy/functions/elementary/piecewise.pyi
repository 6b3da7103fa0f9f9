from typing import Any, Self

from sympy.core import Expr, Function
from sympy.logic.boolalg import Boolean

class ExprCondPair(Expr):
    expr: Expr
    cond: Boolean

class Piecewise(Function):
    def __new__(cls, *args: Any, evaluate: bool = ..., **options: Any) -> Self: ...
