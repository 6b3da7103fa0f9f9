from collections.abc import Callable, Sequence
from typing import Any

from sympy.core import Basic

def lambdify(
    args: Sequence[Any],
    expr: Basic | Sequence[Basic],
    modules: str | Sequence[Any] | dict[str, Any] | None = ...,
    printer: Any = ...,
    use_imps: bool = ...,
    cse: bool = ...,
) -> Callable[..., Any]: ...
