"""A stand-in for Triton that runs kernels on NumPy arrays, program after program.

A pointer is an array with the places of elements. What is read outside of a mask is no number, and
places outside of an array fail, inside of the mask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import erf
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from tests.indexing.stand_in import Tensor, values_in, where

Array = np.ndarray[Any, Any]
Fold: TypeAlias = "Callable[..., Tensor | tuple[Tensor, ...]]"


_START = np.zeros((), np.int64)


class Pointer:
    """Places in a flat array, or in one of which only the name is known."""

    def __init__(self, array: Any, places: Array = _START) -> None:  # noqa: ANN401 - or a name
        self.array, self.places = array, places

    def __add__(self, other: Tensor | int) -> Pointer:
        return Pointer(self.array, self.places + values_in(other))

    __radd__ = __add__

    def __sub__(self, other: Tensor | int) -> Pointer:
        return Pointer(self.array, self.places - values_in(other))

    def __getitem__(self, index: Any) -> Pointer:  # noqa: ANN401 - as NumPy takes it
        return Pointer(self.array, self.places[index])

    def inside(self, mask: object) -> tuple[Array, Array]:
        """Places, and which of them are wanted."""
        wanted = _beside(True if mask is None else mask, self.places)
        places = self.places[wanted]
        assert ((places >= 0) & (places < self.array.size)).all(), "outside of the array"
        return self.places, wanted


def _beside(value: object, places: Array) -> Array:
    """Values in the shape of places: one for all, or along the same number of axes."""
    values = np.asarray(values_in(value))
    assert values.ndim in (0, places.ndim), "other axes than the places"
    return np.broadcast_to(values, places.shape)


def _load(pointer: Pointer, mask: Tensor | None = None, other: Tensor | float = 77) -> Tensor:
    places, wanted = pointer.inside(mask)
    found = np.array(_beside(other, places)).astype(pointer.array.dtype)
    found[wanted] = pointer.array[places[wanted]]
    return Tensor(found)


def _store(pointer: Pointer, value: Tensor, mask: Tensor | None = None) -> None:
    places, wanted = pointer.inside(mask)
    pointer.array[places[wanted]] = _beside(value, places)[wanted]


def _broadcast_to(value: Tensor | Pointer, sizes: tuple[int, ...]) -> Tensor | Pointer:
    values = value.places if isinstance(value, Pointer) else values_in(value)
    assert values.ndim in (0, len(sizes)), "other axes than those that are wanted"
    whole = np.broadcast_to(values, sizes)
    return Pointer(value.array, whole) if isinstance(value, Pointer) else Tensor(whole)


def _dot(left: Tensor, right: Tensor, total: Tensor, input_precision: str) -> Tensor:
    assert input_precision == "ieee"
    assert min(*left.values.shape, *right.values.shape) >= 16, "a tile that is too small"
    assert left.values.dtype == right.values.dtype, "other types"
    wide = (each.values.astype(total.values.dtype) for each in (left, right))
    return Tensor(total.values + np.matmul(*wide))


def _reduce(
    values: Tensor | tuple[Tensor, ...], axis: int, fold: Fold, keep_dims: bool = False
) -> Any:  # noqa: ANN401 - one tensor, or several
    rows = values if isinstance(values, tuple) else (values,)
    assert len({row.values.shape for row in rows}) == 1, "values of several shapes"
    totals = rows
    while (half := totals[0].values.shape[axis] // 2) > 0:
        halves = [Tensor(part) for row in totals for part in np.split(row.values, [half], axis)]
        folded = fold(*halves[::2], *halves[1::2])
        totals = folded if isinstance(folded, tuple) else (folded,)
    left = [each.values if keep_dims else each.values.squeeze(axis) for each in totals]
    return tuple(map(Tensor, left)) if isinstance(values, tuple) else Tensor(left[0])


def _of(function: Callable[..., Array]) -> Callable[..., Tensor]:
    def call(*values: Tensor | float, propagate_nan: str = "", **named: int) -> Tensor:
        del propagate_nan
        return Tensor(np.asarray(function(*map(values_in, values), **named)))

    return call


def _rounded_away(values: Array) -> Array:
    return np.copysign(np.floor(np.abs(values) + 0.5), values).astype(values.dtype)


def _rsqrt(values: Array) -> Array:
    return 1 / np.sqrt(values)


def _sigmoid(values: Array) -> Array:
    return 1 / (1 + np.exp(-values))


_NAMED_AS_IN_NUMPY = "exp log sin cos sqrt floor ceil abs maximum minimum"
_OF_FLOATS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _NAMED_AS_IN_NUMPY.split()},
    "erf": np.vectorize(erf, otypes=[np.float32]), "rsqrt": _rsqrt, "sigmoid": _sigmoid,
}  # fmt: skip
_OF_LIBDEVICE: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("rint", "expm1", "log1p", "tanh", "tan", "cbrt")},
    **{name: getattr(np, name) for name in ("sinh", "cosh")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sinh", "cosh", "tanh")},
    "fmod": np.fmod, "round": _rounded_away, "pow": np.power, "atan2": np.arctan2,
}  # fmt: skip
_TYPES = {
    "int1": "bool",
    "bfloat16": "bfloat16",
    **{f"{kind}{bits}": f"{kind}{bits}" for bits in (8, 16, 32, 64) for kind in ("int", "uint")},
    **{f"float{bits}": f"float{bits}" for bits in (16, 32, 64)},
}

_HEAD = "import triton\nimport triton.language as tl\n"
_LIBDEVICE = "from triton.language.extra import libdevice\n"


def run(
    text: str,
    name: str,
    arrays: Sequence[Array],
    sizes: Sequence[int] = (),
    programs: Sequence[int] | None = None,
) -> None:
    """Runs all programs of a kernel on flat arrays; it may take sizes behind them.

    The kernel says how many programs there are, or the caller, along several axes.
    """
    program: list[Tensor] = []
    functions = {"program_id": program.__getitem__, "load": _load, "store": _store, "dot": _dot}
    language = SimpleNamespace(**LANGUAGE, **functions)
    libdevice = SimpleNamespace(**{key: _of(each) for key, each in _OF_LIBDEVICE.items()})
    scope: dict[str, Any] = {"tl": language, "libdevice": libdevice, "range": _range}
    scope["triton"] = SimpleNamespace(jit=_jit)
    assert text.startswith(_HEAD)
    exec(text.replace(_HEAD, "").replace(_LIBDEVICE, ""), scope)  # noqa: S102 - the text under test
    pointers = [*map(Pointer, arrays)]
    with np.errstate(all="ignore"):
        if programs is None:
            count = scope[f"{name}_programs"]
            programs = [count if isinstance(count, int) else count(*sizes)]
        for numbers in product(*map(range, programs)):
            program[:] = map(_scalar, numbers)
            scope[name](*pointers, *map(_scalar, sizes))


def _jit(function: Callable[..., object]) -> Callable[..., object]:
    return function


def _range(*ends: Tensor | int) -> Iterator[Tensor]:
    return (_scalar(number) for number in range(*(int(values_in(end)) for end in ends)))


def _scalar(number: int) -> Tensor:
    return Tensor(np.array(number, np.int32))


def _arange(start: int, stop: int) -> Tensor:
    assert not (stop - start) & (stop - start - 1), "a vector whose length is no power of two"
    return Tensor(np.arange(start, stop, dtype=np.int32))


def _full(sizes: tuple[int, ...], value: float, dtype: str) -> Tensor:
    return Tensor(np.full(sizes, value, dtype))


def _zeros(sizes: tuple[int, ...], dtype: str) -> Tensor:
    return Tensor(np.zeros(sizes, dtype))


def _cast(value: Tensor | int, dtype: str) -> Tensor:
    return Tensor(values_in(value).astype(dtype))


LANGUAGE: dict[str, Any] = {
    **_TYPES,
    **{name: _of(function) for name, function in _OF_FLOATS.items()},
    "PropagateNan": SimpleNamespace(ALL="all"),
    "arange": _arange,
    "full": _full,
    "where": where,
    "cast": _cast,
    "broadcast_to": _broadcast_to,
    "expand_dims": _of(np.expand_dims),
    "constexpr": int,
    "reduce": _reduce,
    "sum": _of(np.sum),
    "max": _of(np.max),
    "trans": _of(np.transpose),
    "zeros": _zeros,
    "static_range": range,
}
"""What is the same for all programs and all memories."""
