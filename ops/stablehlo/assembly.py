"""Operations as StableHLO prints them: ``stablehlo.iota dim = 0 : tensor<8xi32>``, and so on.

Most print their operands, words with values, attributes, and types. The table says which words
stand for which attributes; a function takes what is printed in another way.

Source: the assembly formats in StableHLO's definitions of its operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from indexing.layout import ElementType, Shape
from ops.mlir.operations import (
    Argument,
    AssemblyForm,
    MlirBlock,
    MlirOperation,
    Name,
    OperationDraft,
    OperationReader,
)
from ops.mlir.text import DenseElements, DialectAttribute, Keyword, SymbolReference

# How modules, functions, and Shardy's meshes and shardings are printed.


def _module(reader: OperationReader, draft: OperationDraft) -> None:
    """``@name attributes {...} { ... }``."""
    if reader.kind == "symbol":
        draft.attributes["sym_name"] = reader.symbol("the name of the module")
    if reader.accept("attributes"):
        draft.attributes |= reader.dictionary()
    draft.regions = (reader.region(),)


def _function(reader: OperationReader, draft: OperationDraft) -> None:
    """``public @name(%0: ...) -> (... {...}) attributes {...} { ... }``."""
    if reader.kind == "name":
        what = "private, public or the name of a function"
        draft.attributes["sym_visibility"] = reader.word(what)
    draft.attributes["sym_name"] = reader.symbol("the name of a function, such as @main")
    arguments = reader.listed(lambda: _parameter(reader), "(", ")", "the parameters")
    if reader.accept("->"):  # the values that the body returns have the types of results
        if reader.text == "(":
            reader.listed(lambda: _unnamed(reader), "(", ")", "the results")
        else:
            reader.type()
    if reader.accept("attributes"):
        draft.attributes |= reader.dictionary()
    if reader.text == "{":
        draft.regions = (reader.region(arguments),)


def _parameter(reader: OperationReader) -> Argument:
    """Take a parameter; those of a function that is only declared have no names."""
    return reader.argument() if reader.kind == "value" else _unnamed(reader)


def _unnamed(reader: OperationReader) -> Argument:
    """Take a type with its attributes."""
    name = Name("", reader.start)
    found = reader.type()
    attributes = reader.dictionary() if reader.text == "{" else {}
    return Argument(name, found, attributes)


# Shardy.


def _mesh(reader: OperationReader, draft: OperationDraft) -> None:
    """``@mesh = <["x"=8]>``."""
    draft.attributes["sym_name"] = reader.symbol("the name of a mesh")
    reader.expect("=", "before a mesh")
    reader.accept("#sdy.mesh")
    draft.attributes["mesh"] = reader.body("sdy.mesh", "'<' before a mesh")
    reader.attribute_dictionary(draft)


def _sharding_constraint(reader: OperationReader, draft: OperationDraft) -> None:
    """``%0 <@mesh, [{"x"}]> : ...``."""
    draft.operands = (reader.operand(),)
    draft.attributes["sharding"] = reader.body("sdy.sharding", "'<' before a sharding")
    reader.attributes_and_types(draft)


def _of_one(word: str, results: int) -> AssemblyForm:
    """``%0 group_id = 1 : ...``: an operand, and a word with its value."""

    def read(reader: OperationReader, draft: OperationDraft) -> None:
        draft.operands = (reader.operand(),)
        _read_word(reader, draft, {word: word})
        reader.attributes_and_types(draft, results)

    return read


def _manual_computation(reader: OperationReader, draft: OperationDraft) -> None:
    """``(%0) in_shardings=[...] out_shardings=[...] manual_axes={...} (%1: ...) {...} : ...``."""
    draft.operands = reader.listed_operands()
    for word in ("in_shardings", "out_shardings", "manual_axes"):
        reader.expect(word, "of a manual computation")
        reader.expect("=", f"after {word}")
        draft.attributes[word] = reader.body(f"sdy.{word}", f"a list after {word}=")
    draft.regions = (reader.region(reader.arguments()),)
    reader.attributes_and_types(draft)


# Operations printed as operands, words with values, attributes, and types.

_TABLE: Final = """
arith | divui maxui minui remui
shape | broadcast concat get_extent num_elements shape_of to_extent_tensor
tensor | from_elements
stablehlo | abs add after_all and atan2 bitcast_convert cbrt ceil clamp complex convert cosine \
    count_leading_zeros create_token divide dynamic_pad dynamic_reshape dynamic_update_slice \
    exponential exponential_minus_one floor imag is_finite log log_plus_one logistic maximum \
    minimum multiply negate not or partition_id popcnt power real real_dynamic_slice remainder \
    replica_id reshape round_nearest_afz round_nearest_even rsqrt select shift_left \
    shift_right_arithmetic shift_right_logical sign sine sqrt subtract tanh \
    torch_index_select tuple xor
stablehlo | broadcast | sizes=broadcast_sizes
stablehlo | broadcast_in_dim dynamic_broadcast_in_dim | dims=broadcast_dimensions
stablehlo | cholesky | lower | lower
stablehlo | concatenate get_dimension_size set_dimension_size | dim=dimension | dimensions=dimension
stablehlo | dot | precision=precision_config
stablehlo | dynamic_iota iota | dim=iota_dimension | iota_dimension
stablehlo | dynamic_slice | sizes=slice_sizes | dynamic_slice_sizes=slice_sizes
stablehlo | einsum unary_einsum | config=einsum_config
stablehlo | fft | type=fft_type length=fft_length | fft_type fft_length
stablehlo | pad | low=edge_padding_low high=edge_padding_high interior=interior_padding
stablehlo | reduce_precision | format
stablehlo | reverse | dims=dimensions | dimensions
stablehlo | rng | distribution=rng_distribution
stablehlo | rng_bit_generator | algorithm=rng_algorithm
stablehlo | transpose | dims=permutation | dimensions=permutation
chlo | asin_acos_kernel bessel_i1e broadcast_add broadcast_and broadcast_atan2 broadcast_clamp \
    broadcast_compare broadcast_complex broadcast_divide broadcast_maximum broadcast_minimum \
    broadcast_multiply broadcast_next_after broadcast_or broadcast_polygamma broadcast_power \
    broadcast_remainder broadcast_select broadcast_shift_left broadcast_shift_right_arithmetic \
    broadcast_shift_right_logical broadcast_subtract broadcast_xor broadcast_zeta conj digamma \
    erf_inv erfc is_inf is_neg_inf is_pos_inf lgamma mulhi next_after polygamma square zeta
stablehlo chlo | tan
chlo mhlo | acos acosh asin asinh atan atanh cosh erf sinh
mhlo | bitcast copy stochastic_convert
| add_dependency
| batch_norm_grad batch_norm_inference batch_norm_training | | epsilon feature_index
| get_tuple_element | | index
| map reduce | | dimensions | to_apply
| triangular_solve | | left_side lower unit_diagonal transpose_a
"""
"""Dialects | operations | words that stand for attributes | attributes in HLO | computations.

Those of ``shape`` and ``tensor`` compute sizes in arrays, and those of ``arith`` with numbers that
HLO does not read as without a sign: their maps are unknown.

Without a dialect, the form is another one. The attributes in HLO are those of an operation that is
one instruction, if its attributes need only other names.
"""


class OperationRow(NamedTuple):
    """A row of the table of operations; ``words`` and ``attributes`` lead to names in StableHLO."""

    dialects: Sequence[str]
    words: Mapping[str, str]
    attributes: Mapping[str, str]
    computations: Sequence[str]


def _rows() -> Iterator[tuple[str, OperationRow]]:
    for line in _TABLE.strip().splitlines():
        dialects, names, *parts = (part.split() for part in line.split("|"))
        words, attributes, computations = (*parts, [], [], [])[:3]
        row = OperationRow(dialects, _names(words), _names(attributes), computations)
        yield from ((name, row) for name in names)


def _names(words: Iterable[str]) -> Mapping[str, str]:
    """From each word to the name behind an equals sign, or to itself."""
    pairs = (word.partition("=") for word in words)
    return {word: name or word for word, _, name in pairs}


ROWS: Final = dict(_rows())
"""The rows of operations by their names without the dialect."""


def _plain(words: Mapping[str, str], results: int | None = 1) -> AssemblyForm:
    """The form of operands, words with values, attributes, and types."""

    def read(reader: OperationReader, draft: OperationDraft) -> None:
        reader.attribute_dictionary(draft)
        draft.operands = reader.operands()
        is_first = not draft.operands and reader.kind == "name"
        while is_first or reader.comma_before("name"):
            _read_word(reader, draft, words)
            is_first = False
        reader.attributes_and_types(draft, results)

    return read


def _read_word(reader: OperationReader, draft: OperationDraft, words: Mapping[str, str]) -> None:
    word = reader.one_of(words, f"{' or '.join(words) or 'a value'} of {draft.name}")
    reader.expect("=", f"after {word}")
    draft.attributes[words[word]] = _bare_value(reader)


def _bare_value(reader: OperationReader) -> Any:  # noqa: ANN401 - one type for each attribute
    """Take a value that has no type behind it."""
    if reader.text == "<":  # the name of the attribute is left out
        return reader.body("", "'<'")
    if reader.kind == "string":
        return reader.string()
    return reader.integer("an integer") if reader.kind == "number" else reader.value()


# Operations printed in other ways.


def _compare(reader: OperationReader, draft: OperationDraft) -> None:
    """``GT, %0, %1, FLOAT : ...``."""
    draft.attributes["comparison_direction"] = Keyword(reader.word("a direction, such as GT"))
    reader.expect(",", "after the direction")
    draft.operands = reader.operands()
    if reader.accept(","):
        draft.attributes["compare_type"] = Keyword(reader.word("a type of comparison"))
    reader.attributes_and_types(draft)


def _constant(reader: OperationReader, draft: OperationDraft) -> None:
    """``dense<0> : tensor<i32>``, of whatever dialect, or a number such as ``2 : index``."""
    draft.name = "stablehlo.constant"
    reader.attribute_dictionary(draft)
    start = reader.start
    value = reader.value()
    if isinstance(value, bool):
        value = DenseElements(Shape(ElementType.PRED), (value,))
    elif isinstance(value, int | float):
        reader.jump(start)
        reader.advance()
        reader.expect(":", "before the type of the number")
        shape = reader.type()
        value = DenseElements(shape, (value,)) if isinstance(shape, Shape) else value
    if not isinstance(value, DenseElements):
        message = "expected dense elements, such as dense<0> : tensor<i32>"
        raise reader.error_since(start, message)
    draft.attributes["value"] = value
    draft.types = (value.shape,)


def _const_shape(reader: OperationReader, draft: OperationDraft) -> None:
    """``[1, 2] : tensor<2xindex>``."""
    draft.name = "stablehlo.constant"
    sizes = reader.listed(lambda: reader.integer("a size"), "[", "]", "the sizes")
    reader.types_after_colon(draft)
    draft.attributes["value"] = DenseElements(Shape(ElementType.S64, (len(sizes),)), sizes)


def _cast(reader: OperationReader, draft: OperationDraft) -> None:
    """``%0 : tensor<2xf32> to tensor<?xf32>``."""
    draft.operands = (reader.operand(),)
    reader.types_after_colon(draft)
    reader.expect("to", "before the type of the result")
    draft.types = (reader.type(),)


def _compare_numbers(reader: OperationReader, draft: OperationDraft) -> None:
    """``sge, %0, %1 : i32``, with a result of type ``i1``."""
    draft.attributes["predicate"] = Keyword(reader.word("a predicate, such as eq"))
    reader.expect(",", "after the predicate")
    draft.operands = reader.operands()
    reader.attributes_and_types(draft)
    draft.types = (Shape(ElementType.PRED),)


def _dim(reader: OperationReader, draft: OperationDraft) -> None:
    """``%0, %1 : tensor<2xf32>``, with a result of type ``index``."""
    draft.operands = reader.operands()
    reader.attributes_and_types(draft)
    draft.types = (Shape(ElementType.S64),)


def _slice(reader: OperationReader, draft: OperationDraft) -> None:
    """``%0 [0:8, 1:9:3] : ...``."""
    draft.operands = (reader.operand(),)
    rows = reader.listed(lambda: _slice_row(reader), "[", "]", "the dimensions of a slice")
    names = "start_indices", "limit_indices", "strides"
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    draft.attributes |= zip(names, columns, strict=True)
    reader.attributes_and_types(draft)


def _slice_row(reader: OperationReader) -> tuple[int, int, int]:
    start = reader.integer("the start of a slice")
    reader.expect(":", "after the start of a slice")
    limit = reader.integer("the limit of a slice")
    return start, limit, reader.integer("the stride of a slice") if reader.accept(":") else 1


def _dot_general(reader: OperationReader, draft: OperationDraft) -> None:
    """``%0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [...]``."""
    draft.operands = reader.operands()
    while reader.comma_before("name"):
        if reader.text not in _PAIRED:
            _read_word(reader, draft, _OF_DOTS)
            continue
        word = reader.advance()
        reader.expect("=", f"after {word}")
        draft.attributes[f"lhs_{_PAIRED[word]}"] = reader.value()
        reader.expect("x", "between the dimensions of both operands")
        draft.attributes[f"rhs_{_PAIRED[word]}"] = reader.value()
    reader.attributes_and_types(draft)


_PAIRED: Final = {f"{kind}_dims": f"{kind}_dimensions" for kind in ("batching", "contracting")}
_OF_DOTS: Final = {"precision": "precision_config", "algorithm": "algorithm"}


def _convolution(reader: OperationReader, draft: OperationDraft) -> None:
    """``(%0, %1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {...} {...} : ...``."""
    draft.operands = reader.listed_operands()
    reader.expect("dim_numbers", "before the dimensions of a convolution")
    reader.expect("=", "after dim_numbers")
    start = reader.start
    text = reader.matching(_DIMENSION_NUMBERS, "dimensions such as [b, 0, f]x[0, i, o]->[b, 0, f]")
    draft.attributes["dimension_numbers"] = DialectAttribute("stablehlo.conv", text, start)
    if reader.accept(","):
        reader.expect("window", "before a window")
        reader.expect("=", "after window")
        start = reader.start
        window = reader.dictionary()
        for name, value in window.items():
            if name not in _OF_WINDOWS:
                message = f"a window has no {name}; expected {', '.join(_OF_WINDOWS)}"
                raise reader.error_since(start, message)
            draft.attributes[_OF_WINDOWS[name]] = value
    reader.attributes_and_types(draft)


_DIMENSION_NUMBERS: Final = re.compile(r"\[[^\[\]]*\]\s*x\s*\[[^\[\]]*\]\s*->\s*\[[^\[\]]*\]")
_OF_WINDOWS: Final = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}


def _get_tuple_element(reader: OperationReader, draft: OperationDraft) -> None:
    """``%0[1] : ...``."""
    draft.operands = (reader.operand(),)
    reader.expect("[", "before the number of an element")
    draft.attributes["index"] = reader.integer("the number of an element")
    reader.expect("]", "after the number of an element")
    reader.attributes_and_types(draft)


def _call(attribute: str) -> AssemblyForm:
    """The form ``@name(%0, %1) {...} : ...``."""

    def read(reader: OperationReader, draft: OperationDraft) -> None:
        name = reader.symbol("what is called, such as @name")
        draft.attributes[attribute] = SymbolReference(name)
        draft.operands = reader.listed_operands()
        reader.attributes_and_types(draft)

    return read


def _composite(reader: OperationReader, draft: OperationDraft) -> None:
    """``"name" %0, %1 {...} : ...``."""
    draft.attributes["name"] = reader.string("the name of a composite")
    draft.operands = reader.operands()
    reader.attributes_and_types(draft)


def _top_k(reader: OperationReader, draft: OperationDraft) -> None:
    """``(%0, k = 3) : ... -> (..., ...)``."""
    reader.expect("(", "before the operand")
    draft.operands = (reader.operand(),)
    while reader.accept(","):
        _read_word(reader, draft, {"k": "k", "largest": "largest"})
    reader.expect(")", "after the operand")
    reader.attributes_and_types(draft)


def _return(reader: OperationReader, draft: OperationDraft) -> None:
    """``%0, %1 : ..., ...``."""
    draft.operands = reader.operands()
    reader.attribute_dictionary(draft)
    if reader.text == ":":
        reader.types_after_colon(draft)
    draft.types = ()


# Regions.


def _reduce(reader: OperationReader, draft: OperationDraft) -> None:
    """``(%0 init: %1), (%2 init: %3) applies stablehlo.add across dimensions = [1] : ...``."""
    operands, initials = zip(*reader.joined(lambda: _reduced(reader)), strict=True)
    draft.operands = (*operands, *initials)
    is_named = reader.accept("applies")
    combiner = reader.word("an operation, such as stablehlo.add") if is_named else ""
    reader.expect("across", "before the dimensions")
    _read_word(reader, draft, {"dimensions": "dimensions"})
    reader.attributes_and_types(draft)
    draft.regions = (_applied(combiner, draft) if combiner else _reducer(reader),)


def _reduced(reader: OperationReader) -> tuple[Name, Name]:
    reader.expect("(", "before an operand and its initial value")
    operand = reader.operand()
    reader.expect("init", "after an operand")
    reader.expect(":", "after init")
    initial = reader.operand()
    reader.expect(")", "after an initial value")
    return operand, initial


def _applied(combiner: str, draft: OperationDraft) -> tuple[MlirBlock, ...]:
    """The region that combines two elements by one operation."""
    element = draft.types_of_operands[-1:]
    names = tuple(Name(text, draft.start) for text in ("%lhs", "%rhs"))
    arguments = tuple(Argument(name, each) for name in names for each in element)
    both, place = (Name("%both", draft.start),), (draft.start, draft.start + 1)
    combined = MlirOperation(combiner, *place, ("%both",), names, types=element)
    returned = MlirOperation("stablehlo.return", *place, operands=both)
    return (MlirBlock(arguments, (combined, returned)),)


def _reducer(reader: OperationReader) -> tuple[MlirBlock, ...]:
    """Take ``reducer(%a: ..., %b: ...) (%c: ..., %d: ...) { ... }``: pairs of two elements."""
    reader.expect("reducer", "or 'applies'")
    start = reader.start
    pairs: list[tuple[Argument, ...]] = []
    while reader.text == "(":
        pairs.append(reader.arguments())
    if any(len(pair) != 2 for pair in pairs):  # noqa: PLR2004 - they are pairs
        raise reader.error_since(start, "expected two arguments in each pair")
    arguments = (*(pair[0] for pair in pairs), *(pair[1] for pair in pairs))
    return reader.region(arguments)


def _while(reader: OperationReader, draft: OperationDraft) -> None:
    """``(%a = %0, %b = %1) : ..., ... cond { ... } do { ... }``."""
    start = reader.start
    pairs = reader.listed(lambda: _initialized(reader), "(", ")", "what the loop carries")
    draft.operands = tuple(initial for _, initial in pairs)
    if pairs:
        reader.types_after_colon(draft, None)
    if len(draft.types) != len(pairs):
        message = f"the loop carries {len(pairs)} values, but has {len(draft.types)} types"
        raise reader.error_since(start, message)
    if reader.accept("attributes"):
        reader.attribute_dictionary(draft)
    names = (name for name, _ in pairs)
    arguments = tuple(map(Argument, names, draft.types))
    reader.expect("cond", "before the condition of a loop")
    condition = reader.region(arguments)
    reader.expect("do", "before the body of a loop")
    draft.regions = (condition, reader.region(arguments))


def _initialized(reader: OperationReader) -> tuple[Name, Name]:
    name = reader.operand()
    reader.expect("=", "before the initial value")
    return name, reader.operand()


ARITHMETIC: Final = {
    f"arith.{name}": opcode
    for opcode, names in {
        "add": "addf addi",
        "and": "andi",
        "convert": "index_cast",
        "divide": "divf divsi",
        "maximum": "maximumf maxsi",
        "minimum": "minimumf minsi",
        "multiply": "mulf muli",
        "or": "ori",
        "remainder": "remf remsi",
        "select": "select",
        "subtract": "subf subi",
    }.items()
    for name in names.split()
}
"""Operations of ``arith`` that compute sizes beside StableHLO, and the opcodes of HLO."""

_OWN: Final[Mapping[str, AssemblyForm]] = {
    **{f"{each}.{name}": _plain(row.words) for name, row in _rows() for each in row.dialects},
    **dict.fromkeys(ARITHMETIC, _plain({})),
    **dict.fromkeys(("arith.cmpf", "arith.cmpi"), _compare_numbers),
    **dict.fromkeys(("arith.constant", "sdy.constant", "stablehlo.constant"), _constant),
    "arith.index_cast": _cast,
    **dict.fromkeys(("builtin.module", "module"), _module),
    "func.func": _function,
    "sdy.manual_computation": _manual_computation,
    "sdy.mesh": _mesh,
    "sdy.sharding_constraint": _sharding_constraint,
    "sdy.propagation_barrier": _of_one("allowed_direction", 1),
    "sdy.sharding_group": _of_one("group_id", 0),
    "func.call": _call("callee"),
    **dict.fromkeys(("func.return", "sdy.return", "stablehlo.return"), _return),
    **dict.fromkeys(("chlo.top_k", "mhlo.topk"), _top_k),
    "stablehlo.compare": _compare,
    "stablehlo.composite": _composite,
    **dict.fromkeys(("stablehlo.convolution", "stablehlo.dynamic_conv"), _convolution),
    "stablehlo.custom_call": _call("call_target_name"),
    "stablehlo.dot_general": _dot_general,
    "stablehlo.get_tuple_element": _get_tuple_element,
    "stablehlo.optimization_barrier": _plain({}, None),
    "stablehlo.reduce": _reduce,
    "stablehlo.slice": _slice,
    "stablehlo.while": _while,
    "shape.const_shape": _const_shape,
    "tensor.cast": _cast,
    "tensor.dim": _dim,
}

FORMS: Final[Mapping[str, AssemblyForm]] = {
    **{name.replace("stablehlo.", "mhlo."): form for name, form in _OWN.items()},
    **_OWN,
}
"""The forms of operations by their names, with those of functions and modules."""
