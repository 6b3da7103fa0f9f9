"""Convolution: sums of products of a kernel with the windows of a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from indexing import IndexingMap
from indexing.passes import Constraint
from ops.hlo import Instruction
from ops.hlo.shape_inference import ConvolutionGroups, convolution_sizes
from ops.hlo.values import DimensionLabels, Window
from ops.index_maps import Size, Sizes, block_and_offset, dim, floor_divided, scaled
from ops.rules.rule import OpIndexing, OpRule, sizes_of
from ops.rules.windows import (
    ConstrainedIndex,
    SlidingWindow,
    index_variable,
    range_variables,
    simplified_map,
    sliding_windows,
    window_of,
)
from simplifier.errors import check_type
from simplifier.forms import ZERO, Form

_REMEMBERED: Final = 1 << 8
"""For how many kinds of convolutions the maps are kept."""


def convolution(
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    dim_labels: DimensionLabels,
    window: Window,
    *,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
) -> OpIndexing:
    """Sums products of the kernel ``rhs`` with a window on ``lhs`` for each element.

    Sums run over the offsets in the window and over the input features of the kernel. Groups divide
    the output features: feature group ``g`` reads only the input features of group ``g``, batch
    group ``g`` only the batches of group ``g``.

    The window has the spatial sizes of the kernel. ``lhs_dilate`` and ``rhs_dilate`` dilate either
    operand, ``rhs_reversal`` reverses the kernel in a dimension. The maps to both operands have the
    same ranges, and equal values of them lead to the factors of one product. Padding and the gaps
    of a dilated ``lhs`` are no factors: a kernel element that meets only these is not read. If a
    window can hold one element only, there is no sum, and the kernel is read at that offset alone.
    So a batch that is written as a spatial dimension has the maps of a batch.

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
    s0 in [0, 2], s1 in [0, 3], d1 + s0 in [1, 12]
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
    check_type(dim_labels, DimensionLabels, "convolution: dim_labels", "DimensionLabels")
    check_type(window, Window, "convolution: the window", "a Window")
    groups = ConvolutionGroups(feature_group_count, batch_group_count)
    parts = _parts(lhs_sizes, rhs_sizes, dim_labels, window, groups)
    return OpIndexing(
        tuple(parts.output.values()),
        (parts.output_to_lhs(), parts.output_to_rhs()),
        (parts.lhs_to_output(), parts.rhs_to_output()),
    ).on_condition(parts.conditions)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Sizes and windows by the label of their dimension, in the order of the labels."""

    lhs: Mapping[str, Size]
    rhs: Mapping[str, Size]
    output: Mapping[str, Size]
    windows: Mapping[str, SlidingWindow]
    reversed_axes: frozenset[str]
    """The spatial dimensions in which the kernel is reversed."""
    groups: ConvolutionGroups
    conditions: Sequence[Constraint]

    @property
    def features(self) -> Size:
        """The output features of one group."""
        return floor_divided(self.rhs["o"], self.groups.count)

    def output_to_lhs(self) -> IndexingMap:
        index, (summed, ranges) = self._index(self.output), self._summed()
        group, _ = _split(index["f"], self.features, self.groups.count)
        found = {
            label: window.element(index[label], summed[label])
            for label, window in self.windows.items()
        }
        found["b"] = _member(group, index["b"], self.output["b"], self.groups.batches), []
        found["f"] = _member(group, summed["i"], self.rhs["i"], self.groups.features), []
        return simplified_map([found[label] for label in self.lhs], self.output.values(), ranges)

    def output_to_rhs(self) -> IndexingMap:
        index, (summed, ranges) = self._index(self.output), self._summed()
        found: dict[str, ConstrainedIndex] = {"i": (summed["i"], []), "o": (index["f"], [])}
        for label, window in self.windows.items():
            at, constraints = window.offset(index[label], summed[label])
            found[label] = self._reversed(label, at), constraints
        return simplified_map([found[label] for label in self.rhs], self.output.values(), ranges)

    def lhs_to_output(self) -> IndexingMap:
        choices = {label: window.windows_per_element for label, window in self.windows.items()}
        index, (choice, ranges) = self._index(self.lhs), _numbered({**choices, "f": self.features})
        found = {
            label: window.window(index[label], choice[label])
            for label, window in self.windows.items()
        }
        group_of_feature, _ = _split(index["f"], self.rhs["i"], self.groups.features)
        group_of_batch, batch = _split(index["b"], self.output["b"], self.groups.batches)
        group = group_of_feature + group_of_batch
        found["b"] = batch, []
        found["f"] = _member(group, choice["f"], self.features, self.groups.count), []
        return simplified_map([found[label] for label in self.output], self.lhs.values(), ranges)

    def rhs_to_output(self) -> IndexingMap:
        choices = {label: window.windows_per_offset for label, window in self.windows.items()}
        sizes = {label: choices.get(label, size) for label, size in self.output.items()}
        index, (choice, ranges) = self._index(self.rhs), _numbered({**sizes, "f": 1})
        found = {
            label: window.window_at(self._reversed(label, index[label]), choice[label])
            for label, window in self.windows.items()
        }
        found |= {"b": (choice["b"], []), "f": (index["o"], [])}
        return simplified_map([found[label] for label in self.output], self.rhs.values(), ranges)

    def _reversed(self, label: str, offset: Form) -> Form:
        """The index in the kernel of an offset in the window, and the other way round."""
        return self.rhs[label] - 1 - offset if label in self.reversed_axes else offset

    def _index(self, sizes: Mapping[str, Size]) -> dict[str, Form]:
        """The index in a tensor; 0 in a spatial dimension of size 1."""
        return {
            label: index_variable(number, size) if label in self.windows else dim(number)
            for number, (label, size) in enumerate(sizes.items())
        }

    def _summed(self) -> tuple[dict[str, Form], list[Size]]:
        """The ranges of a sum: the offsets in the window, and the input features of the kernel."""
        sizes = {label: window.elements_per_window for label, window in self.windows.items()}
        return _numbered({**sizes, "i": self.rhs["i"]})


def _numbered(sizes: Mapping[str, Size]) -> tuple[dict[str, Form], list[Size]]:
    indices, ranges = range_variables(sizes.values())
    return dict(zip(sizes, indices, strict=True)), ranges


def _split(index: Form, size: Size, groups: int) -> tuple[Form, Form]:
    """The group of an index, and the index in the group; an empty group has no index."""
    if groups == 1:
        return ZERO, index
    return block_and_offset(index, size)


def _member(group: Form, index: Form, size: Size, groups: int) -> Form:
    """An index from the index in its group."""
    return index if groups == 1 else scaled(group, size) + index


def _parts(
    lhs_sizes: Sizes,
    rhs_sizes: Sizes,
    labels: DimensionLabels,
    window: Window,
    groups: ConvolutionGroups,
) -> _Parts:
    sizes = convolution_sizes(lhs_sizes, rhs_sizes, labels, window, groups)
    sliding = sliding_windows("convolution", [sizes.lhs[each] for each in sizes.spatial], window)
    reversals = zip(sizes.spatial, window.rhs_reversal, strict=True)
    return _Parts(
        sizes.lhs,
        sizes.rhs,
        sizes.output,
        dict(zip(sizes.spatial, sliding, strict=True)),
        frozenset(label for label, is_reversed in reversals if is_reversed),
        groups,
        sizes.conditions,
    )


# Reading instructions.


def convolution_of(instruction: Instruction) -> OpIndexing:
    """The convolution of the first two operands, as the attributes describe it."""
    lhs, rhs, *_ = instruction.operands
    return _shared(
        sizes_of(lhs),
        sizes_of(rhs),
        instruction.attributes["dim_labels"],
        window_of(instruction),
        feature_group_count=instruction.attributes.get("feature_group_count", 1),
        batch_group_count=instruction.attributes.get("batch_group_count", 1),
    )


_shared = lru_cache(maxsize=_REMEMBERED)(convolution)
"""The maps are kept: four maps with windows take long, and models repeat their layers."""


RULES: Final[Mapping[str, OpRule]] = {"convolution": OpRule(convolution_of, is_loop=True)}
