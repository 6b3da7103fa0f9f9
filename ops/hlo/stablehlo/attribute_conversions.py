"""Operations of StableHLO that are one instruction, with attributes of another form in HLO."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ops.hlo.stablehlo.construction import one_instruction
from ops.hlo.values import DimensionLabels, Window, check_labels
from ops.mlir.mlir_attributes import DialectAttribute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.hlo.stablehlo.construction import Construction
    from ops.hlo.stablehlo.given_operation import GivenOperation


def compare_attributes(given: GivenOperation) -> dict[str, Any]:
    """The direction of a comparison, and its type."""
    found: dict[str, Any] = {"direction": given.word("comparison_direction")}
    if given.has("compare_type") and given.word("compare_type") != "NOTYPE":
        found["type"] = given.word("compare_type")
    return found


def _slice(given: GivenOperation) -> dict[str, Any]:
    starts, limits = given.integers("start_indices"), given.integers("limit_indices")
    return {"slice": _columns(given, starts, limits, given.integers("strides", (1,) * len(starts)))}


def _pad(given: GivenOperation) -> dict[str, Any]:
    names = "edge_padding_low", "edge_padding_high", "interior_padding"
    return {"padding": _columns(given, *map(given.integers, names))}


def _columns(given: GivenOperation, *columns: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Lists with an entry for each dimension of the operand, as one entry for each dimension."""
    rank = given.operands[0].shape.rank if given.operands else 0
    if any(len(column) != rank for column in columns):
        given.fail(f"expected a number for each of {rank} dimensions in each attribute")
    return tuple(zip(*columns, strict=True))


def _dot_general(given: GivenOperation) -> dict[str, Any]:
    numbers = given
    if given.has("dot_dimension_numbers"):
        numbers = given.fields("dot_dimension_numbers")
    found: dict[str, Any] = {}
    for side in ("lhs", "rhs"):
        for kind, name in (("batching", "batch"), ("contracting", "contracting")):
            axes = numbers.integers(f"{side}_{kind}_dimensions", ())
            found |= {f"{side}_{name}_dims": axes} if axes or kind == "contracting" else {}
    return found | _precision(given) | _dot_algorithm(given)


def _dot(given: GivenOperation) -> dict[str, Any]:
    """A product of vectors and matrices: the last dimension with the first."""
    if len(given.operands) != 2:  # noqa: PLR2004 - both factors
        given.fail(f"expected 2 operands, not {len(given.operands)}")
    last = given.operands[0].shape.rank - 1
    return {"lhs_contracting_dims": (last,), "rhs_contracting_dims": (0,)} | _precision(given)


def _precision(given: GivenOperation) -> dict[str, Any]:
    words = tuple(word.lower() for word in given.words("precision_config"))
    for word in words:
        if word not in _PRECISIONS:
            given.fail(f"the precision is {word}; expected one of {', '.join(_PRECISIONS)}")
    return {"operand_precision": words} if any(word != "default" for word in words) else {}


_PRECISIONS: Final = ("default", "high", "highest")

_ALGORITHM: Final = re.compile(r"lhs_precision_type = (\w+).*accumulation_type = (\w+)", re.DOTALL)


def _dot_algorithm(given: GivenOperation) -> dict[str, Any]:
    """The name of an algorithm with one product; others say nothing about the elements read."""
    found = given.get("algorithm", None)
    match = isinstance(found, DialectAttribute) and _ALGORITHM.search(found.body)
    if not match:
        return {}
    return {"algorithm": f"dot_{match[1]}_{match[1]}_{match[2]}"}


def gather_numbers(given: GivenOperation) -> dict[str, Any]:
    """The dimensions of a gather, without the sizes of slices."""
    return _indexed(given, given.fields("dimension_numbers"), _GATHERED)


def _gather(given: GivenOperation) -> dict[str, Any]:
    return gather_numbers(given) | {"slice_sizes": given.integers("slice_sizes")}


def _scatter(given: GivenOperation) -> dict[str, Any]:
    numbers = given.fields("scatter_dimension_numbers")
    unique = {"unique_indices": True} if given.flag("unique_indices") else {}
    return _indexed(given, numbers, _SCATTERED) | unique


def _indexed(
    given: GivenOperation, numbers: GivenOperation, required: Sequence[str]
) -> dict[str, Any]:
    found: dict[str, Any] = {name: numbers.integers(name, ()) for name in required}
    for name in _BATCHING:
        axes = numbers.integers(name, ())
        found |= {name: axes} if axes else {}
    if given.flag("indices_are_sorted"):
        found["indices_are_sorted"] = True
    return found | {"index_vector_dim": numbers.integer("index_vector_dim", 0)}


_GATHERED: Final = ("offset_dims", "collapsed_slice_dims", "start_index_map")
_SCATTERED: Final = ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims")
_BATCHING: Final = (
    *("operand_batching_dims", "start_indices_batching_dims"),
    *("input_batching_dims", "scatter_indices_batching_dims"),
)
"""Attributes of gathers and scatters, which StableHLO and HLO call alike."""


def _convolution(given: GivenOperation) -> dict[str, Any]:
    numbers = given.get("dimension_numbers")
    parts = _LABELS.fullmatch(getattr(numbers, "body", "").strip())
    if parts is None:
        given.fail("expected dimension_numbers such as [b, 0, f]x[0, i, o]->[b, 0, f]")
    texts = ["".join(part.replace(",", " ").split()) for part in parts.groups()]
    labels = DimensionLabels.parse(f"{texts[0]}_{texts[1]}->{texts[2]}")
    check_labels(labels)
    spatial = [place for place, letter in enumerate(texts[1]) if letter.isdecimal()]
    kernel = given.operands[1].shape.dimensions if len(given.operands) > 1 else ()
    if len(kernel) != len(texts[1]):
        given.fail(f"the kernel has {len(kernel)} dimensions, but {len(texts[1])} are named")
    spatial.sort(key=lambda place: texts[1][place])
    sizes = tuple(kernel[place] for place in spatial)
    counts = {name: given.integer(name, 1) for name in ("feature_group_count", "batch_group_count")}
    window = {"window": _window(given, sizes, _OF_CONVOLUTIONS)} if sizes else {}
    kept = {name: count for name, count in counts.items() if count != 1}
    return window | {"dim_labels": labels} | kept | _precision(given)


_LABELS: Final = re.compile(r"\[([^\]]*)\]\s*x\s*\[([^\]]*)\]\s*->\s*\[([^\]]*)\]")

_OF_CONVOLUTIONS: Final = {
    "stride": "window_strides",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "rhs_reversal": "window_reversal",
}
_OF_WINDOWS: Final = {
    "stride": "window_strides",
    "lhs_dilate": "base_dilations",
    "rhs_dilate": "window_dilations",
}
"""What the fields of a window are called in StableHLO."""


def _window(given: GivenOperation, sizes: tuple[int, ...], names: Mapping[str, str]) -> Window:
    found = {name: given.integers(source, ()) for name, source in names.items()}
    padding: Any = tuple(given.rows("padding", 2))
    return Window(size=sizes, pad=padding, **found)


def _reduce_window(given: GivenOperation) -> dict[str, Any]:
    return {"window": _window(given, given.integers("window_dimensions"), _OF_WINDOWS)}


def _fft(given: GivenOperation) -> dict[str, Any]:
    return {"fft_type": given.word("fft_type"), "fft_length": given.integers("fft_length")}


def _triangular_solve(given: GivenOperation) -> dict[str, Any]:
    names = "left_side", "lower", "unit_diagonal"
    return {name: given.flag(name) for name in names} | {"transpose_a": given.word("transpose_a")}


def _sort(given: GivenOperation) -> dict[str, Any]:
    """Without a dimension, the last one is sorted along."""
    last = given.operands[0].shape.rank - 1 if given.operands else 0
    axis = given.integer("dimension", -1)
    stable = {"is_stable": True} if given.flag("is_stable") else {}
    return {"dimensions": (last if axis < 0 else axis,)} | stable


def _rng(given: GivenOperation) -> dict[str, Any]:
    return {"distribution": f"rng_{given.word('rng_distribution').lower()}"}


def _rng_bits(given: GivenOperation) -> dict[str, Any]:
    return {"algorithm": f"rng_{given.word('rng_algorithm').lower()}"}


def _top_k(given: GivenOperation) -> dict[str, Any]:
    is_largest = given.flag("largest") if given.has("largest") else True
    return {"k": given.integer("k"), "largest": is_largest}


def _reduce_precision(given: GivenOperation) -> dict[str, Any]:
    if not given.has("format"):
        names = "exponent_bits", "mantissa_bits"
        return {name: given.integer(name) for name in names}
    found = re.fullmatch(r"e(\d{1,3})m(\d{1,3})", given.word("format"))
    if found is None:
        given.fail("expected a format such as e5m10")
    return {"exponent_bits": int(found[1]), "mantissa_bits": int(found[2])}


CONVERTED: Final[Mapping[str, Construction]] = {
    "compare": one_instruction("compare", compare_attributes),
    "convolution": one_instruction("convolution", _convolution),
    "dot": one_instruction("dot", _dot),
    "dot_general": one_instruction("dot", _dot_general),
    "fft": one_instruction("fft", _fft),
    "gather": one_instruction("gather", _gather),
    "pad": one_instruction("pad", _pad),
    "reduce_precision": one_instruction("reduce-precision", _reduce_precision),
    "reduce_window": one_instruction("reduce-window", _reduce_window, "to_apply"),
    "rng": one_instruction("rng", _rng),
    "rng_bit_generator": one_instruction("rng-bit-generator", _rng_bits),
    "scatter": one_instruction("scatter", _scatter, "to_apply"),
    "select_and_scatter": one_instruction(
        "select-and-scatter", _reduce_window, "select", "scatter"
    ),
    "slice": one_instruction("slice", _slice),
    "sort": one_instruction("sort", _sort, "to_apply"),
    "top_k": one_instruction("topk", _top_k),
    "topk": one_instruction("topk", _top_k),
    "triangular_solve": one_instruction("triangular-solve", _triangular_solve),
}
"""Operations by their names without the dialect."""
