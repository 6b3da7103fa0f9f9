"""The operations of StableHLO whose attributes have another form in HLO, or that become several.

Each is a function of what writes a computation and of the operation, to one instruction for each
result. :data:`CONSTRUCTIONS` names them all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from indexing.layout import ElementType, Shape
from ops.hlo.replica_groups import ListedGroups
from ops.hlo.stablehlo.literals import literal_of
from ops.hlo.values import DimensionLabels, Window, check_labels
from ops.mlir.dense_elements import DenseElements
from ops.mlir.mlir_attributes import DialectAttribute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.hlo.module import Instruction
    from ops.hlo.stablehlo.given_operation import GivenOperation
    from ops.hlo.stablehlo.operation_writer import OperationWriter

Construction: TypeAlias = "Callable[[OperationWriter, GivenOperation], Sequence[Instruction]]"
"""From an operation to an instruction for each result."""

_Attributes: TypeAlias = "Callable[[GivenOperation], dict[str, Any]]"


def _one(opcode: str, attributes: _Attributes, *computations: str) -> Construction:
    """An operation that is one instruction; its regions are ``computations``."""

    def construct(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
        called = writer.called(given, computations)
        return writer.results(given, opcode, attributes(given) | called)

    return construct


# Attributes.


def _compare(given: GivenOperation) -> dict[str, Any]:
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


def _gather(given: GivenOperation) -> dict[str, Any]:
    numbers = given.fields("dimension_numbers")
    return _indexed(given, numbers, _GATHERED) | {"slice_sizes": given.integers("slice_sizes")}


def _scatter(given: GivenOperation) -> dict[str, Any]:
    numbers = given.fields("scatter_dimension_numbers")
    unique = {"unique_indices": True} if given.flag("unique_indices") else {}
    return _indexed(given, numbers, _SCATTERED) | unique


def _indexed(
    given: GivenOperation, numbers: GivenOperation, required: Mapping[str, str]
) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: numbers.integers(source, ()) for name, source in required.items()
    }
    for name in _BATCHING:
        axes = numbers.integers(name, ())
        found |= {_BATCHING[name]: axes} if axes else {}
    if given.flag("indices_are_sorted"):
        found["indices_are_sorted"] = True
    return found | {"index_vector_dim": numbers.integer("index_vector_dim", 0)}


_GATHERED: Final = {
    name: name for name in ("offset_dims", "collapsed_slice_dims", "start_index_map")
}
_SCATTERED: Final = {
    name: name
    for name in ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims")
}
_BATCHING: Final = {
    name: name
    for name in (
        *("operand_batching_dims", "start_indices_batching_dims"),
        *("input_batching_dims", "scatter_indices_batching_dims"),
    )
}
"""Attributes of gathers and scatters, by the names that StableHLO gives them."""


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


# Operations between devices.


def _collective(given: GivenOperation) -> dict[str, Any]:
    """The groups of devices, and the channel that they share."""
    found: dict[str, Any] = {}
    if given.has("channel_handle"):
        channel = given.fields("channel_handle").integer("handle")
        found |= {"channel_id": channel} if channel > 0 else {}
    groups = given.get("replica_groups", None)
    if isinstance(groups, DenseElements):
        width = groups.shape.dimensions[-1] if groups.shape.rank else 1
        rows = given.rows("replica_groups", max(width, 1))
        found["replica_groups"] = ListedGroups(tuple(tuple(n for n in r if n >= 0) for r in rows))
    if given.flag("use_global_device_ids"):
        found["use_global_device_ids"] = True
    return found


def _along(name: str) -> _Attributes:
    """A collective along a dimension."""
    return lambda given: _collective(given) | {"dimensions": given.integers(name)}


def _all_to_all(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """Parts along one dimension, that are joined along another one."""
    split, joined = given.integer("split_dimension"), given.integer("concat_dimension")
    if split == joined:
        return writer.results(given, "all-to-all", _along("split_dimension")(given))
    count, operand = given.integer("split_count"), given.operand
    sizes = list(operand.shape.dimensions)
    if not (0 <= split < len(sizes) and 0 <= joined < len(sizes)) or sizes[split] % max(count, 1):
        given.fail(f"dimension {split} of {operand.shape} does not split in {count}")
    apart = [*sizes[:split], count, sizes[split] // count, *sizes[split + 1 :]]
    parts = writer.shaped(given, "reshape", operand, apart, name="parts")
    attributes = _collective(given) | {"dimensions": (split,)}
    moved = writer.shaped(given, "all-to-all", parts, apart, attributes, name="moved")
    order = [axis for axis in range(len(apart)) if axis != split]
    order.insert(order.index(joined + (joined > split)), split)
    turned = writer.shaped(
        *(given, "transpose", moved, [apart[axis] for axis in order]),
        {"dimensions": tuple(order)},
        name="turned",
    )
    return writer.results(given, "reshape", {}, [turned])


def _permute(given: GivenOperation) -> dict[str, Any]:
    return _collective(given) | {"source_target_pairs": given.rows("source_target_pairs", 2)}


# Broadcasts.


def _broadcast_in_dim(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    axes = given.integers("broadcast_dimensions")
    return [writer.broadcast(given, given.operand, given.shape, axes)]


def _broadcast(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """The sizes of new dimensions stand in front."""
    operand, shape = given.operand, given.shape
    new = shape.rank - operand.shape.rank
    return [writer.broadcast(given, operand, shape, tuple(range(new, shape.rank)))]


def _implicit_broadcast(opcode: str) -> Construction:
    """Operands stretched as NumPy does, then an operation on elements."""

    def construct(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
        shape = given.shape
        stretched = [
            writer.broadcast(given, each, shape, _trailing(given, each, shape), name=f"side{place}")
            for place, each in enumerate(given.operands)
        ]
        if opcode not in _ELEMENTWISE_OF_CHLO:
            attributes = _compare(given) if opcode == "compare" else {}
            return writer.results(given, opcode, attributes, stretched)
        return [writer.elementwise(given, opcode, stretched)]

    return construct


def _trailing(given: GivenOperation, operand: Instruction, shape: Shape) -> tuple[int, ...]:
    rank = operand.shape.rank
    if rank < shape.rank and given.has("broadcast_dimensions"):
        return given.integers("broadcast_dimensions")
    return tuple(range(shape.rank - rank, shape.rank))


def _elementwise(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """An operation on elements for which HLO has no opcode."""
    return [writer.elementwise(given, given.operation.name, given.operands)]


# Constants, calls and the rest.


def _constant(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    value = given.get("value")
    if not isinstance(value, DenseElements):
        given.fail("expected dense elements as the value")
    literal = literal_of(value)
    return [writer.add(given, "constant", value.shape, (), {}, literal=literal)]


def _custom_call(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    target = given.word("call_target_name")
    attributes: dict[str, Any] = {"custom_call_target": target}
    if given.flag("has_side_effect"):
        attributes["custom_call_has_side_effect"] = True
    version = given.integer("api_version", 1)
    if version in _API_VERSIONS:
        attributes["api_version"] = _API_VERSIONS[version]
    config = given.get("backend_config", "")
    if isinstance(config, str) and config:
        attributes["backend_config"] = writer.quoted(config)
    called = given.get("called_computations", ())
    if isinstance(called, tuple) and called:
        names = given.words("called_computations")
        attributes["called_computations"] = tuple(writer.function(given, name) for name in names)
    return writer.results(given, "custom-call", attributes)


_API_VERSIONS: Final = {
    2: "API_VERSION_STATUS_RETURNING",
    3: "API_VERSION_STATUS_RETURNING_UNIFIED",
    4: "API_VERSION_TYPED_FFI",
}
"""By number; the first one is not written."""


def _called(attribute: str) -> Construction:
    """A function that is called, by the attribute that names it."""

    def construct(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
        called = writer.function(given, given.word(attribute))
        composite = {"is_composite": True} if attribute == "decomposition" else {}
        return writer.results(given, "call", {"to_apply": called, **composite})

    return construct


def _sharding_constraint(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    return writer.results(given, "copy", {})


def _barrier(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
    """Values that wait for each other, as one tuple."""
    return writer.results(given, "opt-barrier", {}, [writer.bundled(given, given.operands)])


def _nothing(_: OperationWriter, __: GivenOperation) -> Sequence[Instruction]:
    return ()


# Transfers.


def _transfer(opcode: str) -> Construction:
    """What sends, receives, or talks to the host: data goes with a token."""

    def construct(writer: OperationWriter, given: GivenOperation) -> Sequence[Instruction]:
        attributes = _collective(given)
        if given.flag("is_host_transfer"):
            attributes["is_host_transfer"] = True
        config = given.get(f"{opcode}_config", "")
        if isinstance(config, str) and config:
            attributes[f"{opcode}_config"] = config
        return _TRANSFERS[opcode](writer, given, attributes)

    return construct


def _outfeed(
    writer: OperationWriter, given: GivenOperation, attributes: dict[str, Any]
) -> Sequence[Instruction]:
    given.at_least(1)
    *data, token = given.operands
    attributes.pop("channel_id", None)
    sent = writer.bundled(given, data)
    return writer.results(given, "outfeed", attributes, [sent, token])


def _infeed(
    writer: OperationWriter, given: GivenOperation, attributes: dict[str, Any]
) -> Sequence[Instruction]:
    *data, token = _fed(given)
    shape = Shape.of_tuple([data[0] if len(data) == 1 else Shape.of_tuple(data), token])
    fed = writer.add(given, "infeed", shape, given.operands, attributes, name="infeed")
    return _unpacked(writer, given, fed, data)


def _fed(given: GivenOperation) -> tuple[Shape, ...]:
    """The shapes of data and of the token behind it."""
    if len(given.shapes) < 2:  # noqa: PLR2004 - some data and a token
        given.fail("expected data and a token as results")
    return given.shapes


def _send(
    writer: OperationWriter, given: GivenOperation, attributes: dict[str, Any]
) -> Sequence[Instruction]:
    given.at_least(1)
    *data, token = given.operands
    sent = writer.bundled(given, data)
    shape = Shape.of_tuple([sent.shape, Shape(ElementType.U32), token.shape])
    begun = writer.add(given, "send", shape, [sent, token], attributes, name="send")
    return writer.results(given, "send-done", attributes, [begun])


def _recv(
    writer: OperationWriter, given: GivenOperation, attributes: dict[str, Any]
) -> Sequence[Instruction]:
    *data, token = _fed(given)
    received = data[0] if len(data) == 1 else Shape.of_tuple(data)
    begun_shape = Shape.of_tuple([received, Shape(ElementType.U32), token])
    begun = writer.add(given, "recv", begun_shape, given.operands, attributes, name="recv")
    shape = Shape.of_tuple([received, token])
    done = writer.add(given, "recv-done", shape, [begun], attributes, name="recv-done")
    return _unpacked(writer, given, done, data)


def _unpacked(
    writer: OperationWriter, given: GivenOperation, made: Instruction, data: Sequence[Shape]
) -> Sequence[Instruction]:
    """The arrays of the first element of a tuple, and the token behind it."""
    first, token = (writer.element(given, made, place) for place in range(2))
    if len(data) == 1:
        return [first, token]
    return [*(writer.element(given, first, place) for place in range(len(data))), token]


_TRANSFERS: Final = {"infeed": _infeed, "outfeed": _outfeed, "recv": _recv, "send": _send}

_ELEMENTWISE_OF_CHLO: Final = (
    *("bessel_i1e", "conj", "digamma", "erf_inv", "erfc", "is_inf", "is_neg_inf", "is_pos_inf"),
    *("lgamma", "next_after", "polygamma", "square", "zeta", "asin_acos_kernel"),
)
"""Operations on elements for which HLO has no opcode."""

_BROADCAST_OF_CHLO: Final = (
    *("add", "and", "atan2", "clamp", "compare", "complex", "divide", "maximum", "minimum"),
    *("multiply", "next_after", "or", "polygamma", "power", "remainder", "select", "shift_left"),
    *("shift_right_arithmetic", "shift_right_logical", "subtract", "xor", "zeta"),
)
"""Operations of CHLO that stretch their operands."""

CONSTRUCTIONS: Final[Mapping[str, Construction]] = {
    **dict.fromkeys(_ELEMENTWISE_OF_CHLO, _elementwise),
    **{
        f"broadcast_{name}": _implicit_broadcast(
            name if name in _ELEMENTWISE_OF_CHLO else name.replace("_", "-")
        )
        for name in _BROADCAST_OF_CHLO
    },
    "all_gather": _one("all-gather", _along("all_gather_dim")),
    "all_reduce": _one("all-reduce", _collective, "to_apply"),
    "all_to_all": _all_to_all,
    "broadcast": _broadcast,
    "broadcast_in_dim": _broadcast_in_dim,
    "call": _called("callee"),
    "collective_broadcast": _one("collective-broadcast", _collective),
    "collective_permute": _one("collective-permute", _permute),
    "compare": _one("compare", _compare),
    "composite": _called("decomposition"),
    "constant": _constant,
    "convolution": _one("convolution", _convolution),
    "custom_call": _custom_call,
    "dot": _one("dot", _dot),
    "dot_general": _one("dot", _dot_general),
    "fft": _one("fft", _fft),
    "gather": _one("gather", _gather),
    "infeed": _transfer("infeed"),
    "mesh": _nothing,
    "optimization_barrier": _barrier,
    "outfeed": _transfer("outfeed"),
    "pad": _one("pad", _pad),
    "recv": _transfer("recv"),
    "reduce_precision": _one("reduce-precision", _reduce_precision),
    "reduce_scatter": _one("reduce-scatter", _along("scatter_dimension"), "to_apply"),
    "reduce_window": _one("reduce-window", _reduce_window, "to_apply"),
    "rng": _one("rng", _rng),
    "rng_bit_generator": _one("rng-bit-generator", _rng_bits),
    "scatter": _one("scatter", _scatter, "to_apply"),
    "select_and_scatter": _one("select-and-scatter", _reduce_window, "select", "scatter"),
    "send": _transfer("send"),
    "sharding_constraint": _sharding_constraint,
    "slice": _one("slice", _slice),
    "sort": _one("sort", _sort, "to_apply"),
    "top_k": _one("topk", _top_k),
    "topk": _one("topk", _top_k),
    "triangular_solve": _one("triangular-solve", _triangular_solve),
}
"""Operations by their names without the dialect."""
