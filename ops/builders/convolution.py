"""Convolution: a kernel slides over a tensor and sums products of what it meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.layout import ShapeError
from ops.builders.building import check_sizes, checked_sizes, dim
from ops.builders.op_indexing import OpIndexing
from ops.builders.sliding import map_of, numbered, place_of, sliding_windows
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import ZERO

if TYPE_CHECKING:
    from collections.abc import Mapping

    from indexing import IndexingMap
    from ops.builders.building import Sizes
    from ops.builders.sliding import Found, SlidingWindow
    from ops.hlo.values import DimensionLabels, Window
    from simplifier.expr.form import Form


def convolution(
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    dim_labels: DimensionLabels,
    window: Window,
    *,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
) -> OpIndexing:
    """Every element of the result sums products of a window on ``lhs`` with the kernel ``rhs``.

    Sums run over the places of the window and over the input features of the kernel. Groups share
    out the output features: those of feature group ``g`` read no input features but those of group
    ``g``, those of batch group ``g`` no batches but those of group ``g``.

    The window has the spatial sizes of the kernel. ``lhs_dilate`` and ``rhs_dilate`` draw the
    elements of either operand apart, ``rhs_reversal`` turns the kernel around in a dimension. The
    ranges of the maps to both operands are the same, so equal ones lead to the factors of one
    product. A kernel element that meets padding is multiplied by zero, and counts as read; but
    where the window tells the only element that it may hold, there is nothing to sum up, and the
    kernel is read at that place alone. So a batch that is written as a spatial dimension is one.

    Shapes:
        lhs: ``b`` batches, ``f`` input features, spatial sizes, in the order of the labels.
        rhs: ``i = f / feature_group_count`` input features, ``o`` output features, spatial sizes.
        result: ``b / batch_group_count`` batches, ``o`` features, one element for each window.

    Source:
        XLA operation semantics, ConvGeneralDilated; StableHLO specification, convolution.

    Raises:
        ShapeError: labels, window or groups do not fit the operands; it names the dimension and
            both sizes.

    >>> from ops.hlo import DimensionLabels, Window
    >>> labels = DimensionLabels.parse("b0f_0io->b0f")
    >>> same = convolution((8, 12, 4), (3, 4, 16), labels, Window(size=(3,), pad=((1, 1),)))
    >>> print(same.output_to_input[0])
    (d0, d1, d2)[s0, s1] -> (d0, d1 + s0 - 1, s1), domain: d0 in [0, 7], d1 in [0, 11],
    d2 in [0, 15], s0 in [0, 2], s1 in [0, 3], d1 + s0 in [1, 12]
    >>> print(same.output_to_input[1])
    (d0, d1, d2)[s0, s1] -> (s0, s1, d2), domain: d0 in [0, 7], d1 in [0, 11], d2 in [0, 15],
    s0 in [0, 2], s1 in [0, 3]
    >>> strided = Window(size=(3,), stride=(3,))
    >>> depthwise = convolution((8, 12, 4), (3, 1, 4), labels, strided, feature_group_count=4)
    >>> print(depthwise.input_to_output[0])
    (d0, d1, d2) -> (d0, d1 floordiv 3, d2), domain: d0 in [0, 7], d1 in [0, 11], d2 in [0, 3]
    >>> batch = Window(size=(8,), stride=(7,), lhs_dilate=(8,))
    >>> dot = convolution((8, 12, 4), (8, 4, 16), DimensionLabels.parse("0bf_0io->0bf"), batch)
    >>> print(dot.output_to_input[0])
    (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 7], d1 in [0, 11], d2 in [0, 15],
    s0 in [0, 3]
    >>> print(dot.output_to_input[1])
    (d0, d1, d2)[s0] -> (d0, s0, d2), domain: d0 in [0, 7], d1 in [0, 11], d2 in [0, 15],
    s0 in [0, 3]
    """
    groups = _Groups(feature_group_count, batch_group_count)
    parts = _parts(lhs_sizes, rhs_sizes, dim_labels, window, groups)
    return OpIndexing(
        tuple(parts.output.values()),
        (parts.output_to_lhs(), parts.output_to_rhs()),
        (parts.lhs_to_output(), parts.rhs_to_output()),
    )


def convolution_sizes(
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    dim_labels: DimensionLabels,
    window: Window,
    *,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """The sizes of the result of :func:`convolution`; raises as that does."""
    groups = _Groups(feature_group_count, batch_group_count)
    return tuple(_parts(lhs_sizes, rhs_sizes, dim_labels, window, groups).output.values())


@dataclass(frozen=True, slots=True)
class _Groups:
    """How many groups of input features, and of batches, share the output features."""

    features: int
    batches: int

    @property
    def count(self) -> int:
        """One of the two is 1."""
        return self.features * self.batches


@dataclass(frozen=True, slots=True)
class _Parts:
    """Sizes and windows by the label of their dimension, in the order of the labels."""

    lhs: Mapping[str, int]
    rhs: Mapping[str, int]
    output: Mapping[str, int]
    windows: Mapping[str, SlidingWindow]
    turned: frozenset[str]
    """The spatial dimensions in which the kernel is turned around."""
    groups: _Groups

    @property
    def features(self) -> int:
        """The output features of one group."""
        return self.rhs["o"] // self.groups.count

    def output_to_lhs(self) -> IndexingMap:
        index, (place, ranges) = self._index(self.output), self._places()
        group, _ = _split(index["f"], self.features, self.groups.count)
        found = {
            label: window.element(index[label], place[label])
            for label, window in self.windows.items()
        }
        found["b"] = _member(group, index["b"], self.output["b"], self.groups.batches), []
        found["f"] = _member(group, place["i"], self.rhs["i"], self.groups.features), []
        return map_of([found[label] for label in self.lhs], self.output.values(), ranges)

    def output_to_rhs(self) -> IndexingMap:
        index, (place, ranges) = self._index(self.output), self._places()
        found: dict[str, Found] = {"i": (place["i"], []), "o": (index["f"], [])}
        for label, window in self.windows.items():
            at, constraints = window.place(index[label], place[label])
            found[label] = self._turned(label, at), constraints
        return map_of([found[label] for label in self.rhs], self.output.values(), ranges)

    def lhs_to_output(self) -> IndexingMap:
        turns = {label: window.turns for label, window in self.windows.items()}
        index, (turn, ranges) = self._index(self.lhs), _numbered({**turns, "f": self.features})
        found = {
            label: window.window(index[label], turn[label])
            for label, window in self.windows.items()
        }
        group_of_feature, _ = _split(index["f"], self.rhs["i"], self.groups.features)
        group_of_batch, batch = _split(index["b"], self.output["b"], self.groups.batches)
        group = group_of_feature + group_of_batch
        found["b"] = batch, []
        found["f"] = _member(group, turn["f"], self.features, self.groups.count), []
        return map_of([found[label] for label in self.output], self.lhs.values(), ranges)

    def rhs_to_output(self) -> IndexingMap:
        uses = {label: window.uses for label, window in self.windows.items()}
        sizes = {label: uses.get(label, size) for label, size in self.output.items()}
        index, (turn, ranges) = self._index(self.rhs), _numbered({**sizes, "f": 1})
        found = {
            label: window.window_at(self._turned(label, index[label]), turn[label])
            for label, window in self.windows.items()
        }
        found |= {"b": (turn["b"], []), "f": (index["o"], [])}
        return map_of([found[label] for label in self.output], self.rhs.values(), ranges)

    def _turned(self, label: str, place: Form) -> Form:
        """The index in the kernel of a place of the window, and the other way round."""
        return self.rhs[label] - 1 - place if label in self.turned else place

    def _index(self, sizes: Mapping[str, int]) -> dict[str, Form]:
        """The index in a tensor; 0 in a spatial dimension of size 1."""
        return {
            label: place_of(number, size) if label in self.windows else dim(number)
            for number, (label, size) in enumerate(sizes.items())
        }

    def _places(self) -> tuple[dict[str, Form], list[int]]:
        """What a sum runs over: the places of the window, and the input features of the kernel."""
        sizes = {label: window.load for label, window in self.windows.items()}
        return _numbered({**sizes, "i": self.rhs["i"]})


def _numbered(sizes: Mapping[str, int]) -> tuple[dict[str, Form], list[int]]:
    indices, ranges = numbered(sizes.values())
    return dict(zip(sizes, indices, strict=True)), ranges


def _split(index: Form, size: int, groups: int) -> tuple[Form, Form]:
    """The group of an index, and the index in the group; an empty group has no index."""
    if groups == 1:
        return ZERO, index
    divisor = forms.constant(max(1, size))
    return operations.floordiv(index, divisor), operations.mod(index, divisor)


def _member(group: Form, index: Form, size: int, groups: int) -> Form:
    """An index from the index in its group."""
    return index if groups == 1 else group * size + index


# Checks.


def _parts(
    lhs_sizes: Sizes, rhs_sizes: Sizes, labels: DimensionLabels, window: Window, groups: _Groups
) -> _Parts:
    spatial = _spatial(labels)
    lhs = _labelled("lhs", labels.input, lhs_sizes)
    rhs = _labelled("rhs", labels.kernel, rhs_sizes)
    _check_groups(lhs, rhs, groups)
    kernel = [rhs[label] for label in spatial]
    check_sizes("convolution", "the window", window.size, kernel, "as in the kernel")
    sliding = sliding_windows("convolution", [lhs[label] for label in spatial], window)
    sizes = {label: each.count for label, each in zip(spatial, sliding, strict=True)}
    sizes |= {"b": lhs["b"] // groups.batches, "f": rhs["o"]}
    turns = zip(spatial, window.rhs_reversal, strict=True)
    return _Parts(
        lhs,
        rhs,
        {label: sizes[label] for label in labels.output},
        dict(zip(spatial, sliding, strict=True)),
        frozenset(label for label, is_turned in turns if is_turned),
        groups,
    )


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


def _labelled(role: str, labels: str, sizes: Sizes) -> dict[str, int]:
    checked = checked_sizes("convolution", role, sizes)
    if len(checked) != len(labels):
        message = f"convolution: {role} has rank {len(checked)}, but dim_labels name {labels!r}"
        raise ShapeError(f"{message}; expected a label for each dimension")
    return dict(zip(labels, checked, strict=True))


def _check_groups(lhs: Mapping[str, int], rhs: Mapping[str, int], groups: _Groups) -> None:
    few, many = sorted((groups.features, groups.batches))
    if few != 1:
        message = f"there are {groups.features} feature groups and {groups.batches} batch groups"
        raise ShapeError(f"convolution: {message}; expected 1 or more of one kind, 1 of the other")
    if lhs["f"] != rhs["i"] * groups.features:
        message = f"convolution: lhs has {lhs['f']} input features, but rhs has {rhs['i']}"
        raise ShapeError(f"{message} in each of {groups.features} groups; expected as many")
    for what, size, count in (
        ("batches of lhs", lhs["b"], groups.batches),
        ("output features of rhs", rhs["o"], many),
    ):
        if size % count:
            message = f"convolution: the {size} {what} are shared by {count} groups"
            raise ShapeError(f"{message}; expected a multiple of {count}")
