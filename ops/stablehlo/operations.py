"""The operations of StableHLO, in tables: the HLO of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from indexing.layout import UNBOUNDED_SIZE, ElementType, Layout, Shape
from ops.hlo.attributes import (
    ATTRIBUTES,
    BOOLEAN,
    FLOAT,
    INTEGER,
    INTEGERS,
    DimensionLabels,
    ListedGroups,
    Window,
    check_labels,
)
from ops.hlo.lexer import escape
from ops.hlo.module import Computation, Instruction
from ops.hlo.opcodes import OPCODES
from ops.hlo.shape_inference import one_or_tuple, padded_size
from ops.index_maps import Size, ceil_divided, difference, shown_sizes
from ops.mlir.operations import MlirBlock
from ops.mlir.text import DenseElements, DialectAttribute, Number
from ops.stablehlo.assembly import ARITHMETIC, ROWS
from ops.stablehlo.given import NoCounterpartError, SourceOperation
from ops.stablehlo.writer import (
    AttributesOf,
    BlockWriter,
    Conversion,
    OperationWriter,
    fact,
    is_constant,
    one_instruction,
)


def compare_attributes(op: SourceOperation) -> dict[str, Any]:
    """The direction of a comparison, and its type."""
    direction, kind = op.word("comparison_direction"), op.word("compare_type", "NOTYPE")
    return {"direction": direction} | _said(type="" if kind == "NOTYPE" else kind)


def _said(**attributes: Any) -> dict[str, Any]:  # noqa: ANN401 - one type for each attribute
    """Attributes without those that are false, zero or empty, which HLO leaves out."""
    return {name: value for name, value in attributes.items() if value}


def _slice(op: SourceOperation) -> dict[str, Any]:
    starts, limits = op.integers("start_indices"), op.integers("limit_indices")
    return {"slice": _columns(op, starts, limits, op.integers("strides", (1,) * len(starts)))}


def _pad(op: SourceOperation) -> dict[str, Any]:
    names = "edge_padding_low", "edge_padding_high", "interior_padding"
    return {"padding": _columns(op, *map(op.integers, names))}


def _columns(op: SourceOperation, *columns: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Lists with an entry for each dimension of the operand, as one entry for each dimension."""
    rank = op.operands[0].shape.rank if op.operands else 0
    if any(len(column) != rank for column in columns):
        op.fail(f"expected a number for each of {rank} dimensions in each attribute")
    return tuple(zip(*columns, strict=True))


def _dot_general(op: SourceOperation) -> dict[str, Any]:
    name = "dot_dimension_numbers"
    numbers = op.fields(name) if op.has(name) else op
    found: dict[str, Any] = {}
    for side in ("lhs", "rhs"):
        for kind, name in (("batching", "batch"), ("contracting", "contracting")):
            axes = numbers.integers(f"{side}_{kind}_dimensions", ())
            found |= {f"{side}_{name}_dims": axes} if axes or kind == "contracting" else {}
    return found | _precision(op) | _dot_algorithm(op)


def _dot(op: SourceOperation) -> dict[str, Any]:
    """A product of vectors and matrices: the last dimension with the first."""
    if len(op.operands) != 2:  # noqa: PLR2004 - both factors
        op.fail(f"expected 2 operands, not {len(op.operands)}")
    last = op.operands[0].shape.rank - 1
    return {"lhs_contracting_dims": (last,), "rhs_contracting_dims": (0,)} | _precision(op)


def _precision(op: SourceOperation) -> dict[str, Any]:
    words = tuple(word.lower() for word in op.words("precision_config"))
    for word in words:
        if word not in _PRECISIONS:
            op.fail(f"the precision is {word}; expected one of {', '.join(_PRECISIONS)}")
    return {"operand_precision": words} if any(word != "default" for word in words) else {}


_PRECISIONS: Final = ("default", "high", "highest")

_ALGORITHM: Final = re.compile(r"lhs_precision_type = (\w+).*accumulation_type = (\w+)", re.DOTALL)


def _dot_algorithm(op: SourceOperation) -> dict[str, Any]:
    """The name of an algorithm with one product; others say nothing about the elements read."""
    found = op.get("algorithm", None)
    match = isinstance(found, DialectAttribute) and _ALGORITHM.search(found.body)
    if not match:
        return {}
    return {"algorithm": f"dot_{match[1]}_{match[1]}_{match[2]}"}


def gather_numbers(op: SourceOperation) -> dict[str, Any]:
    """The dimensions of a gather, without the sizes of slices."""
    return _indexed(op, "dimension_numbers", _GATHERED)


def _gather(op: SourceOperation) -> dict[str, Any]:
    return gather_numbers(op) | {"slice_sizes": op.integers("slice_sizes")}


def _scatter(op: SourceOperation) -> dict[str, Any]:
    indexed = _indexed(op, "scatter_dimension_numbers", _SCATTERED)
    return indexed | _said(unique_indices=op.flag("unique_indices"))


def _indexed(op: SourceOperation, field: str, required: Sequence[str]) -> dict[str, Any]:
    numbers = op.fields(field)
    found: dict[str, Any] = {name: numbers.integers(name, ()) for name in required}
    found |= _said(**{name: numbers.integers(name, ()) for name in _BATCHING})
    found |= _said(indices_are_sorted=op.flag("indices_are_sorted"))
    return found | {"index_vector_dim": numbers.integer("index_vector_dim", 0)}


_GATHERED: Final = ("offset_dims", "collapsed_slice_dims", "start_index_map")
_SCATTERED: Final = ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims")
_BATCHING: Final = (
    *("operand_batching_dims", "start_indices_batching_dims"),
    *("input_batching_dims", "scatter_indices_batching_dims"),
)
"""Attributes of gathers and scatters, which StableHLO and HLO call alike."""


def _convolution(op: SourceOperation) -> dict[str, Any]:
    texts = _labels(op)
    labels = DimensionLabels.parse(f"{texts[0]}_{texts[1]}->{texts[2]}")
    check_labels(labels)
    spatial = [place for place, letter in enumerate(texts[1]) if letter.isdecimal()]
    kernel = op.operands[1].shape.dimensions if len(op.operands) > 1 else ()
    if len(kernel) != len(texts[1]):
        op.fail(f"the kernel has {len(kernel)} dimensions, but {len(texts[1])} are named")
    spatial.sort(key=lambda place: texts[1][place])
    sizes = tuple(kernel[place] for place in spatial)
    counts = {name: op.integer(name, 1) for name in ("feature_group_count", "batch_group_count")}
    window = {"window": _window(op, sizes)} if sizes else {}
    kept = {name: count for name, count in counts.items() if count != 1}
    return window | {"dim_labels": labels} | kept | _precision(op)


def _labels(op: SourceOperation) -> Sequence[str]:
    """The letters of the image, the kernel and the result; a digit is a spatial dimension."""
    body: str = getattr(op.get("dimension_numbers"), "body", "").strip()
    if body.startswith("raw"):
        numbers = {name: re.findall(r"\d+", text) for name, text in _RAW.findall(body)}
        return [_raw_labels(op, numbers, *row) for row in _RAW_LABELS]
    parts = _LABELS.fullmatch(body)
    if parts is None:
        op.fail("expected dimension_numbers such as [b, 0, f]x[0, i, o]->[b, 0, f]")
    return ["".join(part.replace(",", " ").split()) for part in parts.groups()]


def _raw_labels(
    op: SourceOperation, numbers: Mapping[str, Sequence[str]], of: str, letters: Mapping[str, str]
) -> str:
    places = [place for name in letters for place in numbers.get(f"{of}_{name}_dimension", ())]
    spatial = numbers.get(f"{of}_spatial_dimensions", ())
    found = dict(
        zip(map(int, [*places, *spatial]), [*letters.values(), *"0123456789"], strict=False)
    )
    if [*sorted(found)] != [*range(len(letters) + len(spatial))]:
        op.fail(f"the dimensions of {of} are not each named once")
    return "".join(found[place] for place in sorted(found))


_RAW: Final = re.compile(r"(\w+)\s*=\s*(\[[^\]]*\]|\d+)")
_RAW_LABELS: Final[Sequence[tuple[str, Mapping[str, str]]]] = (
    ("input", {"batch": "b", "feature": "f"}),
    ("kernel", {"input_feature": "i", "output_feature": "o"}),
    ("output", {"batch": "b", "feature": "f"}),
)
"""Whose dimensions are numbered, and the letters of those that are not spatial."""

_LABELS: Final = re.compile(r"\[([^\]]*)\]\s*x\s*\[([^\]]*)\]\s*->\s*\[([^\]]*)\]")

_OF_WINDOWS: Final = (
    *(("stride", "window_strides"), ("rhs_reversal", "window_reversal")),
    *(("lhs_dilate", "lhs_dilation"), ("rhs_dilate", "rhs_dilation")),
    *(("lhs_dilate", "base_dilations"), ("rhs_dilate", "window_dilations")),
)
"""The fields of a window and StableHLO's names for them, of which operations have some."""


def _window(op: SourceOperation, sizes: tuple[int, ...]) -> Window:
    found = {name: op.integers(field) for name, field in _OF_WINDOWS if op.has(field)}
    padding: Any = tuple(op.rows("padding", 2))
    return Window(size=sizes, pad=padding, **found)


def _reduce_window(op: SourceOperation) -> dict[str, Any]:
    return {"window": _window(op, op.integers("window_dimensions"))}


def _sort(op: SourceOperation) -> dict[str, Any]:
    """Without a dimension, the last one is sorted along."""
    last = op.operands[0].shape.rank - 1 if op.operands else 0
    axis = op.integer("dimension", -1)
    stable = _said(is_stable=op.flag("is_stable"))
    return {"dimensions": (last if axis < 0 else axis,)} | stable


def _rng(name: str) -> AttributesOf:
    """An attribute whose word begins with ``rng_`` in HLO, and whose name does in StableHLO."""
    return lambda op: {name: f"rng_{op.word(f'rng_{name}').lower()}"}


def _top_k(op: SourceOperation) -> dict[str, Any]:
    return {"k": op.integer("k"), "largest": op.flag("largest", default=True)}


def _reduce_precision(op: SourceOperation) -> dict[str, Any]:
    if not op.has("format"):
        names = "exponent_bits", "mantissa_bits"
        return {name: op.integer(name) for name in names}
    found = re.fullmatch(r"e(\d{1,3})m(\d{1,3})", op.word("format"))
    if found is None:
        op.fail("expected a format such as e5m10")
    return {"exponent_bits": int(found[1]), "mantissa_bits": int(found[2])}


# Operations of XLA's compiler, in the dialect MHLO: fusions, and bitcasts.


def _fusion(op: OperationWriter) -> Sequence[Instruction]:
    """A fusion; the parameters of its computation have the layouts of its operands."""
    region, layouts = op.region, [each.shape.layout for each in op.operands]
    name = f"{op.value_name}.calls"
    kind = op.word("fusion_kind", "kLoop")
    calls = op.called(region, name, layouts)
    return op.results("fusion", {"kind": kind, "calls": calls})


def _bitcast(op: OperationWriter) -> Sequence[Instruction]:
    """The same bytes as another array; attributes say the layout of each side."""
    operand, shape = op.operand, op.shape
    if op.has("source_layout"):
        order = op.integers("source_layout")
        if operand.shape.array_layout.minor_to_major != order:
            source = operand.shape.with_layout(Layout(order))
            operand = op.add("copy", source, [operand], {}, name="source")
    if op.has("result_layout"):
        shape = shape.with_layout(Layout(op.integers("result_layout")))
    return [op.add("bitcast", shape, [operand], {})]


# Loops and branches of StableHLO. Their regions may read values around them; HLO's may not.
#
# What a region reads is passed to its computation: a loop carries it along unchanged, and a
# branch takes it as its operand. Constants are copied.


def _while(op: OperationWriter) -> Sequence[Instruction]:
    regions = op.operation.regions
    if len(regions) != 2:  # noqa: PLR2004 - the condition and the body
        op.fail(f"expected a condition and a body, not {len(regions)} regions")
    condition, body = (op.block_of(region) for region in regions)
    around = _read_around(op, (condition, body))
    state = [*op.operands, *around.values()]
    carried = op.bundled(state)
    name = op.value_name
    computations: dict[str, Computation] = {}
    for part, block in (("condition", condition), ("body", body)):
        if len(block.arguments) != len(op.operands):
            message = f"the {part} takes {len(block.arguments)} values"
            op.fail(f"{message}, but the loop carries {len(op.operands)}")
        inside, passed = _with_state(op, block, around, carried)
        results = inside.run(block)
        kept = passed if part == "body" else []
        computations[part] = inside.finished(f"{name}.{part}", [*results, *kept])
    loop = op.add("while", carried.shape, [carried], computations)
    if len(state) == 1:
        return [loop]
    return [op.element(loop, place) for place in range(len(op.operands))]


def _with_state(
    op: OperationWriter, block: MlirBlock, around: Mapping[str, Instruction], carried: Instruction
) -> tuple[BlockWriter, list[Instruction]]:
    """A writer with one parameter, and what that has of the values around.

    It is a value or a tuple of several: those of the arguments of a block, and those around.
    """
    inside = op.writer.inside()
    made, sizes = inside.builder.made, op.writer.module.sizes
    parameter = made("parameter", carried.shape, carried.sizes, number=0, name="arguments")
    names = [*(argument.name.text for argument in block.arguments), *around]
    elements = [parameter] if len(names) == 1 else []
    for place, shape in enumerate(carried.shape.elements if len(names) > 1 else ()):
        fields = "get-tuple-element", shape, None, [parameter], {"index": place}
        elements.append(made(*fields, name=f"arguments.{place}"))
    inside.values |= zip(names, elements, strict=True)
    passed = elements[len(block.arguments) :]
    for outside, own in zip(around.values(), passed, strict=True):
        values = sizes.values(outside)
        if values is not None:
            sizes.set_values(own, values)
    return inside, passed


def _read_around(op: OperationWriter, blocks: Iterable[MlirBlock]) -> dict[str, Instruction]:
    """Values that blocks read from around them, but for constants, in the order of reading."""
    found: dict[str, Instruction] = {}
    for block in blocks:
        own = {argument.name.text for argument in block.arguments}
        operations = [inner for each in block.operations for inner in each.walk()]
        for operation in operations:
            own.update(operation.results)
            own |= {each.name.text for inner in operation.blocks for each in inner.arguments}
        for operation in operations:
            for name in operation.operands:
                value = None if name.text in own else op.writer.find(name.text)
                if value is not None and not is_constant(value):
                    found[name.text] = op.writer.value(name)
    return found


def _branches(op: OperationWriter) -> list[tuple[Instruction, Computation]]:
    """The operand and the computation of each branch."""
    pairs: list[tuple[Instruction, Computation]] = []
    for number, region in enumerate(op.operation.regions):
        block = op.block_of(region)
        if block.arguments:
            op.fail("a branch takes no arguments")
        around = _read_around(op, (block,))
        operand = op.bundled([*around.values()], f"read{number}")
        inside, _ = _with_state(op, block, around, operand)
        results = inside.run(block)
        pairs.append((operand, inside.finished(f"{op.value_name}.branch{number}", results)))
    return pairs


def _if(op: OperationWriter) -> Sequence[Instruction]:
    if len(op.operation.regions) != 2:  # noqa: PLR2004 - for true and for false
        op.fail(f"expected two branches, not {len(op.operation.regions)}")
    return _chosen(op, "true_computation", "false_computation")


def _chosen(op: OperationWriter, *names: str) -> Sequence[Instruction]:
    """A conditional: the first operand chooses a branch, each other one is read by one.

    The branches are attributes of these names, or all together one.
    """
    pairs = _branches(op)
    if not pairs:
        op.fail("expected a branch")
    operands, branches = zip(*pairs, strict=True)
    together = {"branch_computations": branches}
    attributes = dict(zip(names, branches, strict=True)) if names else together
    return op.results("conditional", attributes, [*op.operands, *operands])


def _manual_computation(op: OperationWriter) -> Sequence[Instruction]:
    """A part that each device runs on its part of arrays; custom calls convert them, as in XLA."""
    region = op.region
    block = op.block_of(region)
    if len(block.arguments) != len(op.operands):
        op.fail(f"the region takes {len(block.arguments)} values, not {len(op.operands)}")
    locals_ = [op.writer.module.shape_of(argument) for argument in block.arguments]
    parts = _converted(op, "xla.sdy.GlobalToLocalShape", op.operands, locals_)
    body = op.called(region, f"{op.value_name}.body")
    made = op.add("call", body.root.shape, parts, {"to_apply": body}, name="call")
    results = op.elements(made, len(op.operation.types))
    return _converted(op, "xla.sdy.LocalToGlobalShape", results, op.shapes)


def _converted(
    op: OperationWriter, target: str, operands: Sequence[Instruction], shapes: Sequence[Shape]
) -> list[Instruction]:
    """Arrays of all devices as those of one, or back."""
    if not shapes:
        return []
    attributes = {"custom_call_target": target}
    name = target.rpartition(".")[2]
    shape = one_or_tuple(shapes)
    made = op.add("custom-call", shape, operands, attributes, name=name)
    return op.elements(made, len(shapes))


# Operations of StableHLO between devices, and between a device and its host.


def _collective(op: SourceOperation) -> dict[str, Any]:
    """The groups of devices, and the channel that they share."""
    channel = op.fields("channel_handle").integer("handle") if op.has("channel_handle") else 0
    found = _said(channel_id=max(0, channel))
    groups = op.get("replica_groups", None)
    if isinstance(groups, DenseElements):
        width = groups.shape.dimensions[-1] if groups.shape.rank else 1
        rows = op.rows("replica_groups", max(width, 1))
        found["replica_groups"] = ListedGroups(tuple(tuple(n for n in r if n >= 0) for r in rows))
    return found | _said(use_global_device_ids=op.flag("use_global_device_ids"))


def _along(name: str) -> AttributesOf:
    """A collective along a dimension."""
    return lambda op: _collective(op) | {"dimensions": op.integers(name)}


def _all_to_all(op: OperationWriter) -> Sequence[Instruction]:
    """Parts along one dimension, that are joined along another one."""
    split, joined = op.integer("split_dimension"), op.integer("concat_dimension")
    count, operand = op.integer("split_count"), op.operand
    sizes = list(operand.shape.dimensions)
    is_inside = 0 <= split < len(sizes) and 0 <= joined < len(sizes)
    if not is_inside or count < 1 or sizes[split] % count:
        op.fail(f"dimension {split} of {operand.shape} does not split in {count}")
    if split == joined:
        return op.results("all-to-all", _along("split_dimension")(op))
    apart = [*sizes[:split], count, sizes[split] // count, *sizes[split + 1 :]]
    order = [axis for axis in range(len(apart)) if axis != split]
    order.insert(order.index(joined + (joined > split)), split)
    shape = Shape(operand.shape.element_type, tuple(apart))
    parts = op.add("reshape", shape, [operand], {}, name="parts")
    attributes = _collective(op) | {"dimensions": (split,)}
    moved = op.add("all-to-all", shape, [parts], attributes, name="moved")
    shape = Shape(operand.shape.element_type, tuple(apart[axis] for axis in order))
    attributes = {"dimensions": tuple(order)}
    turned = op.add("transpose", shape, [moved], attributes, name="turned")
    return op.results("reshape", {}, [turned])


def _permute(op: SourceOperation) -> dict[str, Any]:
    return _collective(op) | {"source_target_pairs": op.rows("source_target_pairs", 2)}


# Transfers.


def _transfer(op: SourceOperation, opcode: str) -> dict[str, Any]:
    """The attributes of what sends, receives, or talks to the host: data goes with a token."""
    config = op.get(f"{opcode}_config", "")
    text = {f"{opcode}_config": config if isinstance(config, str) else ""}
    return _collective(op) | _said(is_host_transfer=op.flag("is_host_transfer"), **text)


def _outfeed(op: OperationWriter) -> Sequence[Instruction]:
    sent, attributes = _sent(op), _transfer(op, "outfeed")
    attributes.pop("channel_id", None)
    return op.results("outfeed", attributes, sent)


def _infeed(op: OperationWriter) -> Sequence[Instruction]:
    *data, token = _fed(op)
    shape = Shape.of_tuple([one_or_tuple(data), token])
    attributes = _transfer(op, "infeed")
    fed = op.add("infeed", shape, op.operands, attributes, name="infeed")
    return _unpacked(op, fed, data)


def _fed(op: SourceOperation) -> tuple[Shape, ...]:
    """The shapes of data and of the token behind it."""
    if len(op.shapes) < 2:  # noqa: PLR2004 - some data and a token
        op.fail("expected data and a token as results")
    return op.shapes


def _sent(op: OperationWriter) -> tuple[Instruction, Instruction]:
    """The data that an operation takes, as one value, and the token behind it."""
    op.at_least(1)
    *data, token = op.operands
    return op.bundled(data), token


def _send(op: OperationWriter) -> Sequence[Instruction]:
    sent, token = _sent(op)
    shape = Shape.of_tuple([sent.shape, Shape(ElementType.U32), token.shape])
    attributes = _transfer(op, "send")
    begun = op.add("send", shape, [sent, token], attributes, name="send")
    return op.results("send-done", attributes, [begun])


def _recv(op: OperationWriter) -> Sequence[Instruction]:
    *data, token = _fed(op)
    received = one_or_tuple(data)
    begun_shape = Shape.of_tuple([received, Shape(ElementType.U32), token])
    attributes = _transfer(op, "recv")
    begun = op.add("recv", begun_shape, op.operands, attributes, name="recv")
    shape = Shape.of_tuple([received, token])
    done = op.add("recv-done", shape, [begun], attributes, name="recv-done")
    return _unpacked(op, done, data)


def _unpacked(
    op: OperationWriter, made: Instruction, data: Sequence[Shape]
) -> Sequence[Instruction]:
    """The arrays of the first element of a tuple, and the token behind it."""
    first, token = (op.element(made, place) for place in range(2))
    return [*op.elements(first, len(data)), token]


def _einsum(op: OperationWriter) -> Sequence[Instruction]:
    """A dot, whose result is transposed, if all that it sums over is shared by both operands."""
    parts = re.fullmatch(r"([\w.]*),([\w.]*)->([\w.]*)", op.word("einsum_config"))
    if parts is None:
        raise NoCounterpartError
    ranks = [each.shape.rank for each in (*op.operands, op)]
    left, right, result = map(_with_all_labels, parts.groups(), ranks)
    if [*map(len, (left, right, result))] != ranks:
        raise NoCounterpartError
    batch = [letter for letter in left if letter in right and letter in result]
    summed = [letter for letter in left if letter in right and letter not in result]
    order = [*batch, *(each for each in left + right if each not in batch + summed)]
    is_diagonal = any(len(letters) > len({*letters}) for letters in (left, right))
    if is_diagonal or sorted(order) != sorted(result):
        raise NoCounterpartError
    extents = chain(*(each.shape.dimensions for each in op.operands))
    sizes = dict(zip(left + right, extents, strict=True))
    numbers = {
        f"{side}_{kind}_dims": tuple(map(letters.index, shared))
        for kind, shared in (("batch", batch), ("contracting", summed))
        for side, letters in (("lhs", left), ("rhs", right))
        if shared or kind == "contracting"
    }
    shape = Shape(op.shape.element_type, tuple(sizes[letter] for letter in order))
    made = op.add("dot", shape, op.operands, numbers | _precision(op), name="dot")
    places = tuple(map(order.index, result))
    return op.results("transpose", {"dimensions": places}, [made])


def _with_all_labels(labels: str, rank: int) -> str:
    """The labels of an operand, with digits in the place of ``...``: always the same last ones."""
    count = rank - len(labels.replace("...", ""))
    return labels.replace("...", _DIGITS[max(0, len(_DIGITS) - count) :])


_DIGITS: Final = "0123456789"


def _index_select(op: OperationWriter) -> Sequence[Instruction]:
    """A gather of whole slices along one dimension, for each element of the batch dimensions."""
    op.at_least(2)
    data, indices = (each.shape for each in op.operands)
    axis, batch = op.integer("dim"), op.integer("batch_dims")
    if not 0 <= batch <= axis < data.rank or batch > indices.rank:
        op.fail(f"dimensions {axis} and {batch} are none of {data} and {indices}")
    batched = tuple(range(batch))
    kept = [*batched, axis]
    sizes = tuple(1 if each in kept else size for each, size in enumerate(data.dimensions))
    behind = axis - batch + indices.rank
    attributes = {
        "offset_dims": (*range(batch, axis), *range(behind, behind + data.rank - axis - 1)),
        "collapsed_slice_dims": (axis,),
        "start_index_map": (axis,),
        "index_vector_dim": indices.rank,
        "slice_sizes": sizes,
        "operand_batching_dims": batched,
        "start_indices_batching_dims": batched,
    }
    return op.results("gather", attributes, op.operands)


# Operations of StableHLO with sizes that the program computes, as `jax.export` writes them.

ASSERTION: Final = "shape_assertion"
"""Functions that check in exported programs that sizes are as JAX assumes."""


def assert_sizes(op: OperationWriter) -> None:
    """Keep a check of sizes in a program as a fact about them."""
    checked = op.operands[0] if op.operands else None
    if checked is None or checked.opcode != "compare":
        return
    left, right = (op.writer.module.sizes.values(operand) for operand in checked.operands)
    if left is not None and right is not None:
        found = fact(left[0], right[0], checked.attributes["direction"])
        op.writer.module.sizes.facts |= {} if found is None else {found: None}


def _given_sizes(op: OperationWriter, place: int) -> tuple[Size, ...]:
    """The values of an operand that has sizes."""
    op.at_least(place + 1)
    found = op.writer.module.sizes.values(op.operands[place])
    if found is None:
        raise NoCounterpartError
    return found


def _sizes_if_open(op: OperationWriter, place: int) -> tuple[Size, ...] | None:
    """The values of an operand that has the sizes of a result, if its type leaves some open."""
    return _given_sizes(op, place) if op.shape.is_unbounded else None


def _of_given_sizes(opcode: str, place: int, attributes: AttributesOf) -> Conversion:
    """An array of the sizes in the operand behind those that it is made of."""

    def construct(op: OperationWriter) -> Sequence[Instruction]:
        sizes = _sizes_if_open(op, place)
        read = op.operands[:place]
        return [op.add(opcode, op.shape, read, attributes(op), sizes=sizes)]

    return construct


def _dynamic_broadcast(op: OperationWriter) -> Sequence[Instruction]:
    sizes = _sizes_if_open(op, 1)
    axes = op.integers("broadcast_dimensions")
    return [op.broadcast(op.operands[0], op.shape, axes, sizes=sizes)]


def _dynamic_gather(op: OperationWriter) -> Sequence[Instruction]:
    sizes = shown_sizes(_given_sizes(op, 2))
    attributes = gather_numbers(op)
    return op.results("gather", attributes | {"slice_sizes": sizes}, op.operands[:2])


def _real_dynamic_slice(op: OperationWriter) -> Sequence[Instruction]:
    rows = [*zip(*(_given_sizes(op, place) for place in (1, 2, 3)), strict=True)]
    sizes = tuple(
        size if size != UNBOUNDED_SIZE else _taken(row)
        for size, row in zip(op.shape.dimensions, rows, strict=True)
    )
    attributes = {"slice": tuple(map(shown_sizes, rows))}
    return [op.add("slice", op.shape, op.operands[:1], attributes, sizes=sizes)]


def _taken(row: Sequence[Size]) -> Size:
    """Number of elements that a slice takes along a dimension."""
    start, limit, stride = row
    if not isinstance(stride, int) or stride < 1:
        raise NoCounterpartError
    return ceil_divided(difference(limit, start), stride)


def _dynamic_pad(op: OperationWriter) -> Sequence[Instruction]:
    rows = [*zip(*(_given_sizes(op, place) for place in (2, 3, 4)), strict=True)]
    before = op.writer.module.sizes.sizes(op.operands[0])
    sizes = tuple(padded_size(size, *row) for size, row in zip(before, rows, strict=True))
    attributes = {"padding": tuple(map(shown_sizes, rows))}
    return [op.add("pad", op.shape, op.operands[:2], attributes, sizes=sizes)]


# The operations of StableHLO that become something else than one instruction, and all tables.
#
# Each is a function of the operation to one instruction for each result. `CONVERSIONS` names them
# all.

# Broadcasts.


def _broadcast_in_dim(op: OperationWriter) -> Sequence[Instruction]:
    axes = op.integers("broadcast_dimensions")
    return [op.broadcast(op.operand, op.shape, axes)]


def _broadcast(op: OperationWriter) -> Sequence[Instruction]:
    """The sizes of new dimensions stand in front."""
    return [op.broadcast(op.operand, op.shape, _last_axes(op.operand, op.shape))]


def _last_axes(operand: Instruction, shape: Shape) -> tuple[int, ...]:
    return tuple(range(shape.rank - operand.shape.rank, shape.rank))


def _implicit_broadcast(name: str) -> Conversion:
    """Operands stretched as NumPy does, then an operation on elements."""
    opcode = name.replace("_", "-")

    def construct(op: OperationWriter) -> Sequence[Instruction]:
        shape = op.shape
        stretched = [
            op.broadcast(each, shape, _trailing(op, each, shape), name=f"side{place}")
            for place, each in enumerate(op.operands)
        ]
        if opcode not in OPCODES:
            return [op.elementwise(name, stretched)]
        attributes = compare_attributes(op) if opcode == "compare" else {}
        return op.results(opcode, attributes, stretched)

    return construct


def _trailing(op: SourceOperation, operand: Instruction, shape: Shape) -> tuple[int, ...]:
    if operand.shape.rank < shape.rank and op.has("broadcast_dimensions"):
        return op.integers("broadcast_dimensions")
    return _last_axes(operand, shape)


def _elementwise(op: OperationWriter) -> Sequence[Instruction]:
    """An operation on elements for which HLO has no opcode."""
    return [op.elementwise(op.operation.name, op.operands)]


# Constants, calls and the rest.


def _constant(op: OperationWriter) -> Sequence[Instruction]:
    value = op.get("value")
    if not isinstance(value, DenseElements):
        op.fail("expected dense elements as the value")
    return [op.constant(value.shape, value.values)]


def _cast(op: OperationWriter) -> Sequence[Instruction]:
    """The operand itself, whose sizes are known as well as the result's."""
    if op.operand.shape.is_unbounded and op.shape != op.operand.shape:
        raise NoCounterpartError
    return [op.operand]


def _dim(op: OperationWriter) -> Sequence[Instruction]:
    """The size of the dimension that a constant names."""
    op.at_least(2)
    array, number = op.operands[:2]
    axis = None if number.literal is None else number.literal.values
    if axis is None or number.shape.rank:
        raise NoCounterpartError
    return op.results("convert", {}, [_size_of(op, array, axis)])


def _shape_of(op: OperationWriter) -> Sequence[Instruction]:
    """The sizes of all dimensions in a row."""
    array, kind = op.operand, Shape(op.shape.element_type)
    sizes = (_size_of(op, array, (axis,)) for axis in range(array.shape.rank))
    wide = [op.add("convert", kind, [each], {}, name="wide") for each in sizes]
    return _in_a_row(op, wide)


def _size_of(op: OperationWriter, array: Instruction, axis: tuple[Number, ...]) -> Instruction:
    """The size of an array along an axis."""
    opcode, shape = "get-dimension-size", Shape(ElementType.S32)
    return op.add(opcode, shape, [array], {"dimensions": axis}, name="size")


def _from_elements(op: OperationWriter) -> Sequence[Instruction]:
    """Scalars in a row."""
    if op.shape.dimensions != (len(op.operands),):
        raise NoCounterpartError
    return _in_a_row(op, op.operands)


def _in_a_row(op: OperationWriter, scalars: Sequence[Instruction]) -> Sequence[Instruction]:
    if not scalars:
        return [op.constant(op.shape, ())]
    one = Shape(op.shape.element_type, (1,))
    parts = [op.add("reshape", one, [each], {}, name="element") for each in scalars]
    return op.results("concatenate", {"dimensions": (0,)}, parts)


def _arc_tangent(op: OperationWriter) -> Sequence[Instruction]:
    """The angle of a point at distance 1, since XLA has no opcode for it."""
    shape = op.operand.shape
    one = op.constant(Shape(shape.element_type, shape.dimensions), (1.0,))
    return op.results("atan2", {}, [op.operand, one])


def _custom_call(op: OperationWriter) -> Sequence[Instruction]:
    target = op.word("call_target_name")
    if target == ASSERTION and op.writer.module.is_polymorphic:
        assert_sizes(op)
        return ()
    config, called = op.get("backend_config", ""), op.get("called_computations", ())
    names = op.words("called_computations") if isinstance(called, tuple) else ()
    attributes = _said(
        custom_call_has_side_effect=op.flag("has_side_effect"),
        api_version=_API_VERSIONS.get(op.integer("api_version", 1)),
        backend_config=escape(config) if isinstance(config, str) and config else "",
        called_computations=tuple(op.writer.module.function(name, op) for name in names),
    )
    return op.results("custom-call", {"custom_call_target": target} | attributes)


_API_VERSIONS: Final = {
    2: "API_VERSION_STATUS_RETURNING",
    3: "API_VERSION_STATUS_RETURNING_UNIFIED",
    4: "API_VERSION_TYPED_FFI",
}
"""By number; 0 says nothing, and 1 is not written."""


def _called(attribute: str) -> Conversion:
    """A function that is called, by the attribute that names it."""

    def construct(op: OperationWriter) -> Sequence[Instruction]:
        if op.writer.module.is_polymorphic:  # sizes are those of one call
            return op.inlined(op.word(attribute))
        called = op.writer.module.function(op.word(attribute), op)
        composite = {"is_composite": True} if attribute == "decomposition" else {}
        return op.results("call", {"to_apply": called, **composite})

    return construct


def _barrier(op: OperationWriter) -> Sequence[Instruction]:
    """Values that wait for each other, as one tuple."""
    return op.results("opt-barrier", {}, [op.bundled(op.operands)])


def _cross_replica_sum(op: OperationWriter) -> Sequence[Instruction]:
    """The sum over devices, as it was called before an ``all_reduce`` could do more."""
    added = {"to_apply": op.writer.builder.fold("add", op.shape)}
    return op.results("all-reduce", _collective(op) | added)


def _nothing(_: OperationWriter) -> Sequence[Instruction]:
    return ()


def _conversions() -> Iterator[tuple[str, Conversion]]:
    """Operations of the rows of the table: those of HLO, and on elements those of CHLO."""
    for name, row in ROWS.items():
        opcode, stretched = name.replace("_", "-"), name.removeprefix("broadcast_")
        if opcode in OPCODES:
            yield name, one_instruction(opcode, _renamed(row.attributes), *row.computations)
        elif "chlo" in row.dialects:
            yield name, _elementwise if stretched == name else _implicit_broadcast(stretched)


def _renamed(sources: Mapping[str, str]) -> AttributesOf:
    """The attributes of an instruction, by the form that each has in HLO; most are words."""
    return lambda op: {
        name: _BY_FORM.get(ATTRIBUTES[name], SourceOperation.word)(op, field)
        for name, field in sources.items()
        if op.has(field)
    }


_BY_FORM: Final[Mapping[Any, Callable[[SourceOperation, str], Any]]] = {
    BOOLEAN: SourceOperation.flag,
    FLOAT: SourceOperation.number,
    INTEGER: SourceOperation.integer,
    INTEGERS: SourceOperation.integers,
}
"""How the value of an attribute is read, by its codec in HLO."""

CONVERSIONS: Final[Mapping[str, Conversion]] = {
    **dict(_conversions()),
    **{name: one_instruction(opcode, lambda _: {}) for name, opcode in ARITHMETIC.items()},
    "all_gather": one_instruction("all-gather", _along("all_gather_dim")),
    "all_reduce": one_instruction("all-reduce", _collective, "to_apply"),
    "all_to_all": _all_to_all,
    "atan": _arc_tangent,
    "bitcast": _bitcast,
    "broadcast": _broadcast,
    "broadcast_compare": _implicit_broadcast("compare"),
    "broadcast_in_dim": _broadcast_in_dim,
    "call": _called("callee"),
    "case": _chosen,
    "collective_broadcast": one_instruction("collective-broadcast", _collective),
    "collective_permute": one_instruction("collective-permute", _permute),
    "compare": one_instruction("compare", compare_attributes),
    "composite": _called("decomposition"),
    "constant": _constant,
    "convolution": one_instruction("convolution", _convolution),
    "create_token": one_instruction("after-all", lambda _: {}),
    "cross-replica-sum": _cross_replica_sum,
    "custom_call": _custom_call,
    "dot": one_instruction("dot", _dot),
    "dot_general": one_instruction("dot", _dot_general),
    "dynamic_broadcast_in_dim": _dynamic_broadcast,
    "dynamic_gather": _dynamic_gather,
    "dynamic_iota": _of_given_sizes("iota", 0, _renamed({"iota_dimension": "iota_dimension"})),
    "dynamic_pad": _dynamic_pad,
    "dynamic_reshape": _of_given_sizes("reshape", 1, lambda _: {}),
    "einsum": _einsum,
    "fusion": _fusion,
    "gather": one_instruction("gather", _gather),
    "if": _if,
    "infeed": _infeed,
    "manual_computation": _manual_computation,
    **dict.fromkeys(("mesh", "sharding_group"), _nothing),
    "optimization_barrier": _barrier,
    "outfeed": _outfeed,
    "pad": one_instruction("pad", _pad),
    "real_dynamic_slice": _real_dynamic_slice,
    "recv": _recv,
    "reduce_precision": one_instruction("reduce-precision", _reduce_precision),
    "reduce_scatter": one_instruction("reduce-scatter", _along("scatter_dimension"), "to_apply"),
    "reduce_window": one_instruction("reduce-window", _reduce_window, "to_apply"),
    "rng": one_instruction("rng", _rng("distribution")),
    "rng_bit_generator": one_instruction("rng-bit-generator", _rng("algorithm")),
    "scatter": one_instruction("scatter", _scatter, "to_apply"),
    "select_and_scatter": one_instruction(
        "select-and-scatter", _reduce_window, "select", "scatter"
    ),
    "send": _send,
    **dict.fromkeys(
        ("propagation_barrier", "sharding_constraint"), one_instruction("copy", _renamed({}))
    ),
    "slice": one_instruction("slice", _slice),
    "sort": one_instruction("sort", _sort, "to_apply"),
    **dict.fromkeys(("top_k", "topk"), one_instruction("topk", _top_k)),
    "shape.shape_of": _shape_of,
    "tensor.cast": _cast,
    "tensor.dim": _dim,
    "tensor.from_elements": _from_elements,
    "torch_index_select": _index_select,
    "while": _while,
}
"""Operations by their names without the dialect."""
