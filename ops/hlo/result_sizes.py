"""The sizes of results that depend on windows or lengths: of convolution, reduce-window and fft."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from indexing.layout import ShapeError
from ops.index_maps import check_count, check_sizes, checked_numbers, checked_sizes
from ops.sizes import (
    at_least,
    divided,
    equal,
    floor_divided,
    least,
    not_negative,
    read_integer,
    total,
)
from simplifier import Interval
from simplifier.errors import check_type
from simplifier.expr.form import Form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from indexing.domain import Constraint
    from ops.hlo.values import DimensionLabels, Window
    from ops.index_maps import Sizes
    from ops.sizes import Size

SizeT = TypeVar("SizeT", int, "Size")

WindowRow: TypeAlias = "tuple[Size, Size, Size, Size, Size, int, int]"
"""The size of an operand in one dimension, and the arguments of :func:`window_count` after it."""


# Windows and padding.


def window_count(  # noqa: PLR0913, PLR0917 - a row of a window
    operand_size: Size,
    window_size: Size,
    stride: Size = 1,
    low: Size = 0,
    high: Size = 0,
    base_dilation: int = 1,
    window_dilation: int = 1,
) -> Size:
    """The number of windows in one dimension of a padded operand.

    >>> window_count(operand_size=13, window_size=3, stride=2, low=1, high=1)
    7
    """
    padding = total((low, high, -((window_size - 1) * window_dilation), -1))
    room = total((_dilated(operand_size, base_dilation), padding))
    count = total((floor_divided(room, stride), 1))
    of_nothing = floor_divided(padding, stride) + 1
    return count if isinstance(of_nothing, int) and of_nothing >= 0 else at_least(0, count)


def _dilated(size: Size, dilation: int) -> Size:
    return size if dilation == 1 else at_least(0, (size - 1) * dilation + 1)


def window_rows(op: str, operand_sizes: Sequence[Size], window: Window) -> list[WindowRow]:
    """The arguments of :func:`window_count` for each dimension of an operand.

    Raises:
        ShapeError: the window has another rank, or a size, stride or dilation below 1.
    """
    check_count(op, "window", window.size, len(operand_sizes))
    _check_positive(op, window)
    lows, highs = ([pair[side] for pair in window.pad] for side in range(2))
    columns = (map(read_integer, each) for each in (window.size, window.stride, lows, highs))
    return [*zip(operand_sizes, *columns, window.lhs_dilate, window.rhs_dilate, strict=True)]


def window_conditions(rows: Sequence[WindowRow]) -> list[Constraint]:
    """That sizes and strides of windows are 1 or more, where they are over parameters."""
    sizes = (size for _, *row in rows for size in row[:2])
    return [(size, Interval(1, None)) for size in sizes if isinstance(size, Form)]


def _check_positive(op: str, window: Window) -> None:
    for field in ("size", "stride", "lhs_dilate", "rhs_dilate"):
        for position, value in enumerate(getattr(window, field)):
            if isinstance(value, int) and value < 1:
                message = f"{op}: the window has {field} {value} in dimension {position}"
                raise ShapeError(f"{message}; expected 1 or more")


def padded_size(size: Size, low: Size, high: Size, interior: int) -> Size:
    """The size of a dimension with padding before, after and between its elements.

    >>> padded_size(4, 1, 2, 3)
    16
    """
    return low + _dilated(size, interior + 1) + high


# Dot.


def dot_sizes(
    lhs_sizes: Sequence[SizeT], rhs_sizes: Sequence[SizeT], attributes: Mapping[str, Any]
) -> tuple[SizeT, ...]:
    """The sizes of the result of :func:`dot`: of batches, then of what is left of both operands."""
    axes: Sequence[int] = attributes.get("lhs_batch_dims", ())
    batch = [lhs_sizes[axis] for axis in axes]
    free = (*_free("lhs", lhs_sizes, attributes), *_free("rhs", rhs_sizes, attributes))
    return (*batch, *free)


def _free(side: str, sizes: Sequence[SizeT], attributes: Mapping[str, Any]) -> list[SizeT]:
    """The sizes of the dimensions of an operand that are not shared."""
    kinds = (f"{side}_batch_dims", f"{side}_contracting_dims")
    gone = {axis for kind in kinds for axis in attributes.get(kind, ())}
    return [size for axis, size in enumerate(sizes) if axis not in gone]


# Gather.


def gather_sizes(
    slice_sizes: Sequence[SizeT], indices_sizes: Sequence[SizeT], attributes: Mapping[str, Any]
) -> list[SizeT | None]:
    """The sizes of the result of :func:`gather`; ``None`` where attributes do not fit together."""
    dropped = {*attributes["collapsed_slice_dims"], *attributes.get("operand_batching_dims", ())}
    window = [size for axis, size in enumerate(slice_sizes) if axis not in dropped]
    vector, offsets = attributes["index_vector_dim"], attributes["offset_dims"]
    batch = [size for axis, size in enumerate(indices_sizes) if axis != vector]
    rank, windows, batches = len(offsets) + len(batch), iter(window), iter(batch)
    return [next(windows if axis in offsets else batches, None) for axis in range(rank)]


# Convolution.


@dataclass(frozen=True, slots=True)
class ConvolutionGroups:
    """How many groups of input features, and of batches, share the output features."""

    features: int = 1
    batches: int = 1

    @property
    def count(self) -> int:
        """One of the two is 1."""
        return self.features * self.batches


class ConvolutionSizes(NamedTuple):
    """The sizes of a convolution by label, in the order of the labels, and the spatial labels.

    ``conditions`` on parameters say that sizes fit together.
    """

    lhs: Mapping[str, Size]
    rhs: Mapping[str, Size]
    output: Mapping[str, Size]
    spatial: Sequence[str]
    conditions: Sequence[Constraint]


def convolution_sizes(
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    labels: DimensionLabels,
    window: Window,
    groups: ConvolutionGroups,
) -> ConvolutionSizes:
    """The sizes of the operands and of the result of a convolution.

    Raises:
        ShapeError: labels, window or groups do not fit the operands.
    """
    spatial = _spatial(labels)
    lhs = _labelled("lhs", labels.input, lhs_sizes)
    rhs = _labelled("rhs", labels.kernel, rhs_sizes)
    batches, conditions = _check_groups(lhs, rhs, groups)
    conditions += not_negative((*lhs.values(), *rhs.values()))
    kernel = [rhs[label] for label in spatial]
    windows = [*map(read_integer, window.size)]
    conditions += check_sizes("convolution", "the window", windows, kernel, "as in the kernel")
    rows = window_rows("convolution", [lhs[label] for label in spatial], window)
    conditions += window_conditions(rows)
    sizes = {label: window_count(*row) for label, row in zip(spatial, rows, strict=True)}
    sizes |= {"b": batches, "f": rhs["o"]}
    output = {label: sizes[label] for label in labels.output}
    return ConvolutionSizes(lhs, rhs, output, spatial, conditions)


def _spatial(labels: DimensionLabels) -> list[str]:
    """The labels of the spatial dimensions, in the order of the window."""
    spatial = [str(number) for number in range(len(labels.output) - 2)]
    for role, written, others in (
        ("lhs", labels.input, "bf"),
        ("rhs", labels.kernel, "io"),
        ("the result", labels.output, "bf"),
    ):
        expected = [*others, *spatial]
        if sorted(written) != sorted(expected):
            message = f"convolution: dim_labels {labels} call the dimensions of {role} {written!r}"
            raise ShapeError(f"{message}; expected each of {', '.join(expected)} once")
    return spatial


def _labelled(role: str, labels: str, sizes: Sizes) -> dict[str, Size]:
    checked = checked_sizes("convolution", role, sizes)
    if len(checked) != len(labels):
        message = f"convolution: {role} has rank {len(checked)}, but dim_labels name {labels!r}"
        raise ShapeError(f"{message}; expected a label for each dimension")
    return dict(zip(labels, checked, strict=True))


def _check_groups(
    lhs: Mapping[str, Size], rhs: Mapping[str, Size], groups: ConvolutionGroups
) -> tuple[Size, list[Constraint]]:
    """The batches of the result, and the conditions that groups have equal parts."""
    few, many = sorted((groups.features, groups.batches))
    if few != 1:
        message = f"there are {groups.features} feature groups and {groups.batches} batch groups"
        raise ShapeError(f"convolution: {message}; expected 1 or more of one kind, 1 of the other")
    message = f"convolution: lhs has {lhs['f']} input features, but rhs has {rhs['i']}"
    message = f"{message} in each of {groups.features} groups; expected as many"
    conditions = equal(lhs["f"], rhs["i"] * groups.features, message)
    parts: list[Size] = []
    for what, size, count in (
        ("batches of lhs", lhs["b"], groups.batches),
        ("output features of rhs", rhs["o"], many),
    ):
        message = f"convolution: the {size} {what} are shared by {count} groups"
        part, needed = divided(size, count, f"{message}; expected a multiple of {count}")
        parts.append(part)
        conditions += needed
    return parts[0], conditions


# Fast Fourier transform.


class FftSizes(NamedTuple):
    """The sizes of the operand and the result of a transform, and how many dimensions are batches.

    ``conditions`` on parameters say that the operand has the sizes that are transformed.
    """

    operand: Sequence[Size]
    output: tuple[Size, ...]
    batch: int
    conditions: Sequence[Constraint]


def fft_sizes(operand_sizes: Sizes, fft_type: str, fft_length: Sizes) -> FftSizes:
    """The sizes of a transform, and the errors it raises.

    >>> fft_sizes((5, 9), "IRFFT", (17,)).output
    (5, 17)
    """
    sizes = checked_sizes("fft", "operand", operand_sizes)
    lengths = _checked_lengths(fft_length, len(sizes))
    check_type(fft_type, str, "fft: the type", "a string")
    if fft_type not in _TYPES:
        raise ShapeError(f"fft: the type is {fft_type!r}; expected one of {', '.join(_TYPES)}")
    halved = (*lengths[:-1], _half(lengths[-1]))
    batch = sizes[: len(sizes) - len(lengths)]
    conditions = not_negative((*sizes, *lengths))
    expected = (*batch, *(halved if fft_type == "IRFFT" else lengths))
    for axis, (size, wanted) in enumerate(zip(sizes, expected, strict=True)):
        message = f"fft: operand dimension {axis} has size {size}; expected {wanted}"
        conditions += equal(size, wanted, message)
    output = (*batch, *(halved if fft_type == "RFFT" else lengths))
    return FftSizes(sizes, output, len(batch), conditions)


_TYPES = ("FFT", "IFFT", "RFFT", "IRFFT")

_MAX_LENGTHS = 3
"""XLA transforms up to three dimensions at once."""


def _half(length: Size) -> Size:
    """How many frequencies a real signal has: none of none, or else half of them and one."""
    return least(length, floor_divided(length, 2) + 1)


def _checked_lengths(fft_length: Sizes, rank: int) -> tuple[Size, ...]:
    lengths = checked_numbers("fft", "fft_length", fft_length)
    most = min(rank, _MAX_LENGTHS)
    if not 1 <= len(lengths) <= most:
        message = f"fft: fft_length has {len(lengths)} entries for an operand of rank {rank}"
        raise ShapeError(f"{message}; expected 1 to {_MAX_LENGTHS}, and no more than the rank")
    return lengths
