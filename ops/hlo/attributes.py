"""Attributes of instructions and modules: by name, the codec that reads and writes their values."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from ops.hlo.errors import AttributeValueError
from ops.hlo.lexer import HloLexer, escape
from ops.hlo.values import (
    read_alias,
    read_donor,
    read_labels,
    read_program_shape,
    read_replica_groups,
    read_rows,
    read_window,
)

_F = TypeVar("_F")


@dataclass(frozen=True, slots=True)
class Codec:
    """Reader and writer of the value of an attribute."""

    read: Callable[[HloLexer], Any]
    write: Callable[[Any], str] = str


def read_value(lexer: HloLexer, codec: Codec) -> Any:  # noqa: ANN401  (one type for each format)
    """Take the value of an attribute.

    Raises:
        HloTextError: the text is not of the form that the codec reads, or makes no sense.
    """
    start = lexer.start
    try:
        return codec.read(lexer)
    except AttributeValueError as error:
        raise lexer.error_since(start, str(error)) from None


def read_attributes(
    lexer: HloLexer, owner: str, forms: Mapping[str, _F], read: Callable[[_F], Any]
) -> dict[str, Any]:
    """Take ``, name=value`` as often as it occurs; ``forms`` gives the form of each value."""
    attributes: dict[str, Any] = {}
    while lexer.text == ",":
        ahead = lexer.attribute_ahead()
        if ahead and ahead[0] in forms and ahead[0] not in attributes:
            name, stop = ahead
            lexer.jump(stop)
            attributes[name] = read(forms[name])
            continue
        lexer.advance()
        name = lexer.text
        form = forms.get(name)
        if form is None:
            raise lexer.expected(
                f"an attribute of {owner}", f"known are {', '.join(sorted(forms))}"
            )
        if name in attributes:
            raise lexer.error(f"attribute {name} stands here for the second time")
        lexer.advance()
        lexer.expect("=", f"after attribute {name}")
        attributes[name] = read(form)
    return attributes


def list_of(item: Codec, what: str, separator: str = ",") -> Codec:
    """The codec of values in braces with commas between them."""

    def read(lexer: HloLexer) -> tuple[Any, ...]:
        return lexer.braced(lambda: item.read(lexer), what)

    return Codec(read, lambda values: f"{{{separator.join(map(item.write, values))}}}")


def _read_boolean(lexer: HloLexer) -> bool:
    if lexer.text not in _BOOLEANS:
        raise lexer.expected("true or false")
    return _BOOLEANS[lexer.advance()]


def _read_booleans(lexer: HloLexer) -> tuple[bool, ...]:
    """Take true or false, for all, or a list of them."""
    return BOOLEANS.read(lexer) if lexer.text == "{" else (_read_boolean(lexer),)


def _word_of(words: str) -> Codec:
    """The codec of one of some words."""

    def read(lexer: HloLexer) -> str:
        if lexer.text not in known:
            raise lexer.expected(f"one of {', '.join(known)}")
        return lexer.advance()

    known = words.split()
    return Codec(read)


def _read_float(lexer: HloLexer) -> float:
    if lexer.kind != "number":
        raise lexer.expected("a number")
    return float(lexer.advance().partition("(")[0])


def _write_float(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _read_raw(lexer: HloLexer) -> str:
    if lexer.kind == "string":
        return lexer.advance()
    return lexer.balanced("a text in braces or quotes")


def _read_bracketed(lexer: HloLexer) -> str:
    """Take a text in braces in which all brackets match."""
    start, text = lexer.start, _read_raw(lexer)
    opened: list[str] = []
    for mark in _BRACKET.finditer(text):
        if mark[0] in _CLOSING:
            opened.append(_CLOSING[mark[0]])
        elif mark[0] in _CLOSING.values() and mark[0] != opened.pop():
            place = start + mark.start()
            message = f"the bracket {mark[0]!r} closes another one than the last that was opened"
            raise lexer.error(message, lexer.span_of(place, place + 1))
    return text


def _read_accuracy(lexer: HloLexer) -> str:
    start = lexer.start
    lexer.braced(lambda: _read_named(lexer, _ACCURACIES), "a mode or tolerances")
    return lexer.source[start : lexer.previous_stop]


def _read_named(lexer: HloLexer, forms: Mapping[str, Codec]) -> None:
    """Take ``name=value``."""
    if lexer.text not in forms:
        raise lexer.expected(f"one of {', '.join(forms)}")
    form = forms[lexer.advance()]
    lexer.expect("=", "before the value")
    form.read(lexer)


def _read_integer_or_list(lexer: HloLexer) -> int | tuple[int, ...]:
    return lexer.integers() if lexer.text == "{" else lexer.integer()


def _write_integer_or_list(value: int | tuple[int, ...]) -> str:
    return INTEGERS.write(value) if isinstance(value, tuple) else str(value)


def _read_slice(lexer: HloLexer) -> tuple[int, int, int]:
    lexer.expect("[", "before a slice")
    start = lexer.integer("the start of a slice")
    lexer.expect(":", "after the start of a slice")
    limit = lexer.integer("the limit of a slice")
    stride = lexer.integer("the stride of a slice") if lexer.accept(":") else 1
    lexer.expect("]", "after a slice")
    return start, limit, stride


def _write_slice(slice_: tuple[int, int, int]) -> str:
    start, limit, stride = slice_
    return f"[{start}:{limit}]" if stride == 1 else f"[{start}:{limit}:{stride}]"


def _read_padding(lexer: HloLexer) -> tuple[tuple[int, ...], ...]:
    what = "a padding such as 0_1x2_3_1 (low, high and interior padding, by dimension)"
    return tuple((*row, 0)[:3] for row in read_rows(lexer, _PADDING, what))


def _write_padding(padding: tuple[tuple[int, int, int], ...]) -> str:
    if any(interior for _, _, interior in padding):
        return "x".join(f"{low}_{high}_{interior}" for low, high, interior in padding)
    return "x".join(f"{low}_{high}" for low, high, _ in padding)


def _read_metadata(lexer: HloLexer) -> Mapping[str, str | int]:
    """Read the source metadata; blanks separate the pairs, and commas may."""
    ahead = lexer.pairs_ahead()
    if ahead:
        lexer.jump(ahead[1])
        return MappingProxyType(ahead[0])
    entries: dict[str, str | int] = {}
    lexer.expect("{", "before the metadata")
    while not lexer.accept("}"):
        name = lexer.word("'}' or a name of the metadata")
        lexer.expect("=", f"after {name}")
        entries[name] = _read_metadata_value(lexer)
        lexer.accept(",")
    return MappingProxyType(entries)


def _read_metadata_value(lexer: HloLexer) -> str | int:
    if lexer.kind == "string":
        return lexer.string()
    if lexer.kind == "number":
        return lexer.integer()
    return (
        lexer.balanced("a text, a number or a list in braces")
        if lexer.text == "{"
        else lexer.word("a value")
    )


def _write_metadata(entries: Mapping[str, str | int]) -> str:
    pairs = (f"{name}={_written_value(value)}" for name, value in entries.items())
    return f"{{{' '.join(pairs)}}}"


def _written_value(value: str | int) -> str:
    return escape(value) if isinstance(value, str) and not value.startswith("{") else str(value)


def _read_frontend(lexer: HloLexer) -> Mapping[str, str]:
    """Take names and texts; a text in braces keeps its braces."""
    pairs = lexer.braced(lambda: _read_frontend_pair(lexer), "the frontend attributes")
    return MappingProxyType(dict(pairs))


def _read_frontend_pair(lexer: HloLexer) -> tuple[str, str]:
    name = (
        lexer.string() if lexer.kind == "string" else lexer.word("the name of a frontend attribute")
    )
    lexer.expect("=", f"after {name}")
    return name, lexer.string() if lexer.kind == "string" else lexer.balanced(
        "a text in quotes or braces"
    )


def _write_frontend(entries: Mapping[str, str]) -> str:
    return f"{{{','.join(f'{name}={_written_value(value)}' for name, value in entries.items())}}}"


def _write_donor(donor: tuple[int, tuple[int, ...]]) -> str:
    return f"({donor[0]}, {INTEGERS.write(donor[1])})"


_BOOLEANS = {"true": True, "false": False, "1": True, "0": False}

_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\](){}]')
_CLOSING = {"(": ")", "[": "]", "{": "}"}

_PADDING = re.compile(
    r"-?\d{1,18}_-?\d{1,18}(?:_-?\d{1,18})?(?:x-?\d{1,18}_-?\d{1,18}(?:_-?\d{1,18})?)*"
)

INTEGER = Codec(lambda lexer: lexer.integer())
INTEGERS = Codec(lambda lexer: lexer.integers(), list_of(INTEGER, "").write)
INTEGER_LISTS = list_of(INTEGERS, "the lists of numbers")
NESTED_INTEGERS = list_of(Codec(_read_integer_or_list, _write_integer_or_list), "the numbers")
BOOLEAN = Codec(_read_boolean, lambda value: str(value).lower())
BOOLEANS = list_of(BOOLEAN, "true or false")
ONE_OR_MORE_BOOLEANS = Codec(_read_booleans, BOOLEANS.write)
FLOAT = Codec(_read_float, _write_float)
WORD = Codec(lambda lexer: lexer.word("a word"))
WORDS = list_of(WORD, "the words")
STRING = Codec(lambda lexer: lexer.string(), escape)
RAW = Codec(_read_raw)
"""The text as it is written, with its braces or quotes."""
_TOLERANCES = {"rtol": FLOAT, "atol": FLOAT, "ulps": INTEGER}
_ACCURACIES = {
    "mode": _word_of("default highest"),
    "tolerance": Codec(
        lambda lexer: lexer.braced(lambda: _read_named(lexer, _TOLERANCES), "tolerances")
    ),
}
ACCURACY = Codec(_read_accuracy)
"""A mode or tolerances, as they are written."""
BRACKETED = Codec(_read_bracketed)
"""The text as it is written, in braces, with brackets that match."""
SHAPE = Codec(lambda lexer: lexer.shape())
SHAPES = list_of(SHAPE, "the shapes", ", ")
SLICES = list_of(Codec(_read_slice, _write_slice), "the slices", ", ")
PADDING = Codec(_read_padding, _write_padding)
WINDOW = Codec(read_window, "{{{}}}".format)
LABELS = Codec(read_labels)
REPLICA_GROUPS = Codec(read_replica_groups)
ALIASING = list_of(Codec(read_alias), "the aliases", ", ")
DONORS = list_of(Codec(read_donor, _write_donor), "the buffer donors", ", ")
PROGRAM_SHAPE = Codec(read_program_shape, "{{{}}}".format)
METADATA = Codec(_read_metadata, _write_metadata)
FRONTEND = Codec(_read_frontend, _write_frontend)


class Reference(enum.Enum):
    """A value that refers to other parts of the module."""

    COMPUTATION = "a computation, by name or written in braces"
    COMPUTATIONS = "computations"
    INSTRUCTIONS = "instructions of the same computation"
    LITERAL = "a shape and a literal"


COMMON_ATTRIBUTES: dict[str, Codec | Reference] = {
    "sharding": BRACKETED,
    "parameter_replication": BOOLEANS,
    "control-predecessors": Reference.INSTRUCTIONS,
    "origin": RAW,
    "frontend_attributes": FRONTEND,
    "metadata": METADATA,
    "statistics": BRACKETED,
    "backend_config": RAW,
}
"""The attributes that every instruction may have."""

ENUMERATIONS = {
    "api_version": """API_VERSION_ORIGINAL API_VERSION_STATUS_RETURNING
        API_VERSION_STATUS_RETURNING_UNIFIED API_VERSION_TYPED_FFI""",
    "direction": "EQ NE GE GT LE LT",
    "distribution": "rng_uniform rng_normal",
    "fft_type": "FFT IFFT RFFT IRFFT",
    "kind": "kLoop kInput kOutput kCustom",
    "padding_type": "PADDING_INVALID PADDING_VALID PADDING_SAME",
    "schedule": "SCHEDULE_NONE SCHEDULE_LATEST SCHEDULE_EARLIEST",
    "transpose_a": "NO_TRANSPOSE TRANSPOSE ADJOINT",
    "type": "FLOAT TOTALORDER SIGNED UNSIGNED",
}
"""The words that attributes may be, if there is a fixed set."""

_NAMES_BY_CODEC: tuple[tuple[Codec | Reference, str], ...] = (
    (ALIASING, "output_to_operand_aliasing"),
    (
        BOOLEAN,
        (
            "constrain_layout custom_call_has_side_effect has_dynamic_root indices_are_sorted "
            "is_composite is_host_transfer is_reverse is_stable largest left_side lower "
            "unique_indices unit_diagonal use_global_device_ids"
        ),
    ),
    (FLOAT, "epsilon"),
    (
        INTEGER,
        (
            "batch_group_count channel_id cross_program_prefetch_index delta exponent_bits "
            "feature_group_count feature_index index index_vector_dim inferred_dimension "
            "iota_dimension k mantissa_bits num_carries"
        ),
    ),
    (
        INTEGERS,
        (
            "collapsed_slice_dims dimensions dynamic_slice_sizes fft_length input_batching_dims "
            "inserted_window_dims lhs_batch_dims lhs_contracting_dims lhs_ragged_dims offset_dims "
            "operand_batching_dims rhs_batch_dims rhs_contracting_dims rhs_group_dims "
            "scatter_dims_to_operand_dims scatter_indices_batching_dims shifts start_index_map "
            "start_indices_batching_dims update_window_dims"
        ),
    ),
    (INTEGER_LISTS, "source_target_pairs"),
    (LABELS, "dim_labels"),
    (NESTED_INTEGERS, "slice_sizes"),
    (PADDING, "padding"),
    (ACCURACY, "result_accuracy"),
    (BRACKETED, "domain"),
    (RAW, "sparsity_config"),
    (REPLICA_GROUPS, "replica_groups"),
    (SHAPE, "outfeed_shape"),
    (SHAPES, "operand_layout_constraints"),
    (SLICES, "slice"),
    (STRING, "async_execution_thread custom_call_target infeed_config outfeed_config"),
    (WINDOW, "window"),
    (WORD, "algorithm conv_kind convolution_kind is_associative mode"),
    *((_word_of(words), name) for name, words in ENUMERATIONS.items()),
    (WORDS, "operand_precision"),
    (
        Reference.COMPUTATION,
        "body calls condition false_computation scatter select to_apply true_computation",
    ),
    (Reference.COMPUTATIONS, "branch_computations called_computations"),
    (Reference.LITERAL, "indices literal"),
)

ATTRIBUTES: dict[str, Codec | Reference] = {
    name: codec for codec, names in _NAMES_BY_CODEC for name in names.split()
} | COMMON_ATTRIBUTES
"""The codecs of the attributes of instructions; :mod:`ops.hlo.opcodes` has those of each opcode."""

CALLED_ATTRIBUTES = frozenset(
    name
    for name, form in ATTRIBUTES.items()
    if form in {Reference.COMPUTATION, Reference.COMPUTATIONS}
)
"""The attributes that are computations."""

MODULE_ATTRIBUTES: dict[str, Codec] = {
    "is_scheduled": BOOLEAN,
    "replica_count": INTEGER,
    "num_partitions": INTEGER,
    "input_output_alias": ALIASING,
    "buffer_donor": DONORS,
    "alias_passthrough_params": BOOLEAN,
    "entry_computation_layout": PROGRAM_SHAPE,
    "frontend_attributes": FRONTEND,
    "allow_spmd_sharding_propagation_to_parameters": ONE_OR_MORE_BOOLEANS,
    "allow_spmd_sharding_propagation_to_output": ONE_OR_MORE_BOOLEANS,
    "origin_recovery_table": RAW,
}
"""The codecs of the attributes of modules."""
