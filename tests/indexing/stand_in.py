"""A stand-in for Triton on NumPy arrays: integers divide as in C, towards zero."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Array = np.ndarray[Any, Any]


class Tensor:
    """Integers, or truth values, with the operators of Triton."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def _with(self, other: Tensor | float, operate: Callable[[Array, Array], Array]) -> Tensor:
        return Tensor(operate(self.values, values_in(other)))

    def __add__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.add)

    __radd__ = __add__

    def __sub__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.subtract)

    def __rsub__(self, other: int) -> Tensor:
        return Tensor(other - self.values)

    def __neg__(self) -> Tensor:
        return Tensor(-self.values)

    def __mul__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.multiply)

    __rmul__ = __mul__

    def __floordiv__(self, other: Tensor | int) -> Tensor:
        return self._with(other, _quotient_towards_zero)

    def __mod__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.fmod)

    def __truediv__(self, other: Tensor | float) -> Tensor:
        return self._with(other, np.divide)

    def __rtruediv__(self, other: float) -> Tensor:
        return Tensor(other / self.values)

    def __invert__(self) -> Tensor:
        return Tensor(~self.values)

    def to(self, dtype: str) -> Tensor:
        """The values in another type."""
        return Tensor(self.values.astype(dtype))

    def __and__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.bitwise_and)

    def __or__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.bitwise_or)

    def __xor__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.bitwise_xor)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __ge__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.greater_equal)

    def __le__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.less_equal)

    def __gt__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.greater)

    def __lt__(self, other: Tensor | int) -> Tensor:
        return self._with(other, np.less)

    def __eq__(self, other: object) -> Any:  # noqa: ANN401 - elementwise, as Triton's
        return Tensor(np.equal(self.values, values_in(other)))

    def __ne__(self, other: object) -> Any:  # noqa: ANN401 - elementwise, as Triton's
        return Tensor(np.not_equal(self.values, values_in(other)))

    __hash__ = None  # type: ignore[assignment]


def values_in(value: object) -> Array:
    """The values of a tensor, or of what is none."""
    given: Any = value
    return given.values if isinstance(given, Tensor) else np.asarray(given)


def _quotient_towards_zero(numerator: Array, divisor: Array) -> Array:
    magnitude = np.floor_divide(np.abs(numerator), np.abs(divisor))
    return np.where((numerator < 0) != (np.asarray(divisor) < 0), -magnitude, magnitude)


def _cast(value: Tensor | int, dtype: str) -> Tensor:
    return Tensor(values_in(value).astype(dtype))


def _minimum(left: Tensor | int, right: Tensor | int) -> Tensor:
    return Tensor(np.minimum(values_in(left), values_in(right)))


def _maximum(left: Tensor | int, right: Tensor | int) -> Tensor:
    return Tensor(np.maximum(values_in(left), values_in(right)))


def _where(condition: Tensor, yes: Tensor | int, no: Tensor | int) -> Tensor:
    return Tensor(np.where(values_in(condition), values_in(yes), values_in(no)))


def _range(*ends: Tensor | int) -> Iterator[Tensor]:
    """The counters of a loop are 32-bit integers, which divide as all others."""
    numbers = range(*(int(values_in(end)) for end in ends))
    return (Tensor(np.array(number, np.int32)) for number in numbers)


def _compiled(function: Callable[..., object]) -> Callable[..., object]:
    return function


def functions_of(text: str) -> dict[str, Any]:
    """The functions that a Triton text defines, to be called with tensors."""
    language = SimpleNamespace(
        int32="int32", int64="int64", cast=_cast, minimum=_minimum, maximum=_maximum, where=_where
    )
    head = "import triton\nimport triton.language as tl\n"
    assert head in text
    seen: dict[str, Any] = {
        "triton": SimpleNamespace(jit=_compiled),
        "tl": language,
        "range": _range,
    }
    exec(text.replace(head, ""), seen)  # noqa: S102 - the text under test
    return seen


def plain_values(returned: Any) -> tuple[Any, ...]:  # noqa: ANN401 - as the text returns it
    """What a Triton function returned: an array or integer for each result."""
    if returned is None:
        return ()
    if not isinstance(returned, tuple):
        return (values_in(returned),)
    results: tuple[Any, ...] = returned  # pyright: ignore[reportUnknownVariableType] - as returned
    return tuple(map(values_in, results))


def tensors(columns: Sequence[Array]) -> list[Tensor]:
    """The columns as 32-bit tensors, as a kernel has them at first."""
    return [Tensor(column.astype("int32")) for column in columns]
