"""A stand-in for Triton on NumPy arrays: integers divide as in C, towards zero.

A number beside a tensor has the tensor's type and must fit it; alone it has the type that Triton
gives it, which from ``2**31`` to ``2**32`` is one without a sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _operator(operate: Callable[[Array, Array], Array]) -> Callable[[Tensor, Any], Any]:
    return lambda self, other: Tensor(operate(self.values, self.beside(other)))


def _reflected(operate: Callable[[Array, Array], Array]) -> Callable[[Tensor, Any], Tensor]:
    return lambda self, other: Tensor(operate(self.beside(other), self.values))


def _quotient_towards_zero(numerator: Array, divisor: Array) -> Array:
    rounded_down = np.floor_divide(numerator, divisor)
    is_rounded = np.remainder(numerator, divisor) != 0
    return rounded_down + (is_rounded & (rounded_down < 0)).astype(rounded_down.dtype)


class Tensor:
    """Integers, or truth values, with the operators of Triton."""

    def __init__(self, values: Array) -> None:
        self.values = values

    def beside(self, other: Tensor | float) -> Array:
        """The other operand; a number in the type of this one."""
        kind = self.values.dtype
        if isinstance(other, Tensor):
            assert {kind.kind, other.values.dtype.kind} != {"i", "u"}, "one has no sign"
            return other.values
        if isinstance(other, int) and kind.kind in "iu":
            assert other in _range_of(kind), f"{other} is out of range for type {kind}"
            return np.asarray(other, kind)
        return np.asarray(other)

    __add__ = __radd__ = _operator(np.add)
    __sub__, __rsub__ = _operator(np.subtract), _reflected(np.subtract)
    __mul__ = __rmul__ = _operator(np.multiply)
    __floordiv__ = _operator(_quotient_towards_zero)
    __rfloordiv__ = _reflected(_quotient_towards_zero)
    __mod__, __rmod__ = _operator(np.fmod), _reflected(np.fmod)
    __truediv__, __rtruediv__ = _operator(np.divide), _reflected(np.divide)
    __and__ = __rand__ = _operator(np.bitwise_and)
    __or__ = __ror__ = _operator(np.bitwise_or)
    __xor__ = __rxor__ = _operator(np.bitwise_xor)
    __lshift__, __rshift__ = _operator(np.left_shift), _operator(np.right_shift)
    __ge__, __le__ = _operator(np.greater_equal), _operator(np.less_equal)
    __gt__, __lt__ = _operator(np.greater), _operator(np.less)
    __eq__, __ne__ = _operator(np.equal), _operator(np.not_equal)
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Tensor:
        return Tensor(-self.values)

    def __invert__(self) -> Tensor:
        return Tensor(~self.values)

    def __bool__(self) -> bool:
        return bool(self.values)

    def __getitem__(self, index: Any) -> Tensor:  # noqa: ANN401 - as NumPy takes it
        return Tensor(self.values[index])

    def to(self, dtype: Any, *, bitcast: bool = False) -> Tensor:  # noqa: ANN401 - its name
        return Tensor(self.values.view(dtype) if bitcast else self.values.astype(dtype))

    @property
    def T(self) -> Tensor:  # noqa: N802 - its name
        return Tensor(self.values.T)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.values.dtype


def values_in(value: object) -> Array:
    """The values of a tensor, or of what is none."""
    given: Any = value
    return given.values if isinstance(given, Tensor) else np.asarray(given)


def _range_of(kind: np.dtype[Any]) -> range:
    return range(int(np.iinfo(kind).min), int(np.iinfo(kind).max) + 1)


def _tensor(value: Tensor | int) -> Tensor:
    """A tensor, also of what is only a number."""
    if isinstance(value, Tensor):
        return value
    kinds = map(np.dtype, ("int32", "uint32", "int64"))
    return Tensor(np.array(value, next(kind for kind in kinds if value in _range_of(kind))))


def _pair(left: Tensor | int, right: Tensor | int) -> tuple[Array, Array]:
    """Two operands; a number in the type of the other one."""
    if isinstance(left, Tensor):
        return left.values, left.beside(right)
    if isinstance(right, Tensor):
        return right.beside(left), right.values
    return _tensor(left).values, _tensor(right).values


def _cast(value: Tensor | int, dtype: str) -> Tensor:
    return Tensor(_tensor(value).values.astype(dtype))


def _elementwise(operate: Callable[[Array, Array], Array]) -> Callable[[Any, Any], Tensor]:
    return lambda left, right: Tensor(operate(*_pair(left, right)))


def where(condition: Tensor, yes: Tensor | int, no: Tensor | int) -> Tensor:
    return Tensor(np.where(values_in(condition), *_pair(yes, no)))


def _range(*ends: Tensor | int) -> Iterator[Tensor]:
    """The counters of a loop have the type of its ends, and divide as all others."""
    kind = np.result_type(*(_tensor(end).values for end in ends))
    assert kind.kind == "i", "an end without a sign"
    return (Tensor(np.array(each, kind)) for each in range(*(int(values_in(end)) for end in ends)))


def functions_of(text: str) -> dict[str, Any]:
    """The functions that a Triton text defines, to be called with tensors."""
    language = SimpleNamespace(
        int32="int32", int64="int64", cast=_cast, where=where,
        minimum=_elementwise(np.minimum), maximum=_elementwise(np.maximum),
    )  # fmt: skip
    head = "import triton\nimport triton.language as tl\n"
    assert head in text
    triton = SimpleNamespace(jit=lambda function: function)  # pyright: ignore[reportUnknownLambdaType]
    seen: dict[str, Any] = {"triton": triton, "tl": language, "range": _range}
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


def tensors_of(columns: Sequence[Array]) -> list[Tensor]:
    """The columns as tensors of their own types."""
    return [Tensor(column) for column in columns]


def tensors(columns: Sequence[Array]) -> list[Tensor]:
    """The columns as 32-bit tensors, as a kernel has them at first."""
    return tensors_of([column.astype("int32") for column in columns])
