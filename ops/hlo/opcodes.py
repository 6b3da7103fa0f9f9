"""The opcodes of HLO: how many operands each of them takes, and which attributes.

Source: XLA's parser; the table lists what it requires and what it accepts.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from indexing.layout import ElementType, Kind
from ops.hlo.attributes import ATTRIBUTES, COMMON_ATTRIBUTES, Codec, Reference
from simplifier.errors import ArgumentError, check_type


@dataclass(frozen=True, slots=True)
class Arity:
    """The possible numbers of operands: from ``least`` to ``most`` in steps; ``None`` is no end.

    >>> print(Arity(2, 2), Arity(1, 2), Arity(2, None, step=2), Arity(0, None))
    2 operands 1 to 2 operands 2, 4, 6, ... operands 0 or more operands
    """

    least: int
    most: int | None
    step: int = 1

    @classmethod
    def parse(cls, text: str) -> Arity:
        """The arity from ``2``, ``1..2``, ``0..`` (any number) or ``2..+2`` (2, 4, 6, ...)."""
        least, dots, rest = text.partition("..")
        most, _, step = rest.partition("+")
        return cls(int(least), int(most or least) if most or not dots else None, int(step or 1))

    def __contains__(self, count: int) -> bool:
        most = count if self.most is None else self.most
        return count in range(self.least, most + 1, self.step)

    def __str__(self) -> str:
        if self.most == self.least:
            return f"{self.least} operand{'s' * (self.least != 1)}"
        if self.most is not None:
            return f"{self.least} to {self.most} operands"
        if self.step == 1:
            return f"{self.least} or more operands"
        return f"{self.least}, {self.least + self.step}, {self.least + 2 * self.step}, ... operands"


_ASYNC = ("async_execution_thread",)
_STARTED = (*_ASYNC, "output_to_operand_aliasing")


@dataclass(frozen=True, slots=True)
class Opcode:
    """The number of operands and the attributes of an operation.

    ``sugar`` is the operation and the part of ``<operation>-start``, ``-update`` and ``-done``.
    """

    arity: Arity
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    sugar: tuple[str, str] | None = None
    codecs: Mapping[str, Codec | Reference] = field(init=False, hash=False, compare=False)

    def __post_init__(self) -> None:
        names = (*self.required, *self.optional, *COMMON_ATTRIBUTES)
        codecs = MappingProxyType({name: ATTRIBUTES[name] for name in names})
        object.__setattr__(self, "codecs", codecs)


def find_opcode(name: str) -> Opcode | None:
    """An opcode by its name, which may be sugar for a part of an asynchronous operation.

    >>> find_opcode("slice").required, find_opcode("slice-start").sugar, find_opcode("slices")
    (('slice',), ('slice', 'start'), None)
    """
    return OPCODES.get(name) or _sugar(name)


@lru_cache(maxsize=1 << 10)
def _sugar(name: str) -> Opcode | None:
    operation, _, part = name.rpartition("-")
    base = OPCODES.get(operation)
    if base is None or part not in {"start", "update", "done"}:
        return None
    if part == "start":
        optional = dict.fromkeys((*base.optional, *_STARTED))
        return Opcode(base.arity, base.required, (*optional,), sugar=(operation, part))
    return Opcode(Arity(1, 1), (), _ASYNC, sugar=(operation, part))


_LIKE_OPERANDS = """
ceil copy count-leading-zeros floor negate not popcnt round-nearest-afz round-nearest-even sign | 1
acos acosh asin asinh atan atanh cbrt cosh cosine erf exponential exponential-minus-one log \
    log-plus-one logistic rsqrt sine sinh sqrt tan tanh | 1 | | result_accuracy
add and atan2 divide maximum minimum mulhi multiply or power remainder shift-left \
    shift-right-arithmetic shift-right-logical subtract xor | 2
"""
"""The rows of the table below whose results have the shape of every operand."""

REARRANGE: Final = frozenset(("bitcast", "copy", "reshape", "reverse", "transpose"))
"""The opcodes whose result has all elements of the operand, maybe at other places."""

PASS_ELEMENTS: Final = REARRANGE | {"broadcast", "slice"}
"""The opcodes whose result has elements of the operand as they are, and no others."""

FOLD: Final = frozenset(("reduce", "reduce-window"))
"""The opcodes that fold many elements of an operand into one of the result."""

FIRST_START: Final[Mapping[str, int]] = {"dynamic-slice": 1, "dynamic-update-slice": 2}
"""Opcode -> the number of the first operand that is a start index; all behind it are, too."""

CONTINUE_CALLS: Final = frozenset(("async-done", "async-update"))
"""The opcodes of which the computation is that of the operand."""

CALLEE_ATTRIBUTES: Final[Mapping[str, str]] = {"call": "to_apply", "fusion": "calls"}
"""Opcode -> the attribute that holds the computation, for calls with all operands as arguments."""

_TABLE = """
constant parameter partition-id replica-id | 0
after-all tuple | 0..
abs all-gather-done all-reduce-done bitcast bitcast-convert collective-permute-done convert \
    copy-done imag is-finite opt-barrier real | 1
dynamic-reshape | 1..
add-dependency complex stochastic-convert | 2
dynamic-update-slice | 2..
clamp select | 3
all-gather all-gather-start | 0.. | dimensions | GROUPS
all-reduce all-reduce-start | 0.. | to_apply | GROUPS mode
all-to-all | 0.. | | channel_id constrain_layout replica_groups dimensions
async-done async-update | 1 | | calls async_execution_thread
async-start | 0.. | calls | async_execution_thread output_to_operand_aliasing
batch-norm-grad batch-norm-inference | 5 | epsilon feature_index
batch-norm-training | 3 | epsilon feature_index
broadcast | 1 | dimensions
get-dimension-size reverse transpose | 1 | dimensions
call | 0.. | to_apply | is_composite
cholesky | 1 | | lower
collective-broadcast | 0.. | | channel_id has_dynamic_root replica_groups
collective-permute collective-permute-start | 1.. | source_target_pairs | channel_id slice_sizes
collective-reduce | 0.. | to_apply | GROUPS has_dynamic_root
compare | 2 | direction | type
concatenate | 1.. | dimensions
conditional | 1.. | | branch_computations true_computation false_computation
convolution | 2 | dim_labels | batch_group_count conv_kind convolution_kind feature_group_count \
    operand_precision sparsity_config window
copy-start | 1 | | cross_program_prefetch_index
custom-call | 0.. | custom_call_target | api_version batch_group_count called_computations \
    custom_call_has_side_effect dim_labels feature_group_count literal operand_layout_constraints \
    operand_precision output_to_operand_aliasing padding_type schedule to_apply window
domain | 1 | domain
dot | 2 | | CONTRACTED algorithm operand_precision
dynamic-slice | 1.. | dynamic_slice_sizes
fft | 1 | fft_type fft_length
fusion | 0.. | kind calls | output_to_operand_aliasing
gather | 2 | offset_dims collapsed_slice_dims start_index_map index_vector_dim slice_sizes | \
    indices_are_sorted operand_batching_dims start_indices_batching_dims
get-tuple-element | 1 | index
infeed | 0..1 | | infeed_config
iota | 0 | iota_dimension
map | 0.. | to_apply | dimensions
outfeed | 1..2 | | outfeed_config outfeed_shape
pad | 2 | padding
ragged-all-to-all | 6 | | channel_id dimensions replica_groups
ragged-dot | 3 | | CONTRACTED lhs_ragged_dims operand_precision rhs_group_dims
recv recv-done send-done | 1 | | channel_id is_host_transfer
reduce | 2..+2 | dimensions to_apply
reduce-precision | 1 | exponent_bits mantissa_bits
reduce-scatter | 0.. | dimensions to_apply | GROUPS mode
reduce-window | 2..+2 | to_apply | window
reshape | 1 | | inferred_dimension
rng | 0.. | distribution
rng-bit-generator | 1 | algorithm
rng-get-and-update-state | 0 | delta
scaled-dot | 4 | | CONTRACTED algorithm operand_precision
scan | 0.. | dimensions to_apply | is_associative is_reverse num_carries
scatter | 3..+2 | update_window_dims inserted_window_dims scatter_dims_to_operand_dims \
    index_vector_dim to_apply | indices_are_sorted input_batching_dims \
    scatter_indices_batching_dims unique_indices
select-and-scatter | 3 | select scatter | window
send | 2 | | channel_id is_host_transfer
set-dimension-size | 2 | dimensions
shuffle | 1 | dimensions mode | indices shifts
slice | 1 | slice
sort | 1.. | dimensions to_apply | is_stable
topk | 1 | k | largest
triangular-solve | 2 | | left_side lower transpose_a unit_diagonal
while | 1 | condition body
"""
"""Opcodes | number of operands | attributes that each must have | attributes that it may have."""

_SEVERAL: Final = {
    "CONTRACTED": "lhs_batch_dims lhs_contracting_dims rhs_batch_dims rhs_contracting_dims",
    "GROUPS": "channel_id constrain_layout replica_groups use_global_device_ids",
}
"""Words of the table that stand for attributes which several operations have together."""


def _rows(table: str) -> Iterator[tuple[str, Opcode]]:
    for word, names in _SEVERAL.items():
        table = table.replace(word, names)
    for line in table.strip().splitlines():
        names, operands, *attributes = line.split("|")
        required, optional = (tuple(part.split()) for part in (*attributes, "", "")[:2])
        opcode = Opcode(Arity.parse(operands.strip()), required, optional)
        yield from ((name, opcode) for name in names.split())


OPCODES: dict[str, Opcode] = dict(sorted([*_rows(_LIKE_OPERANDS), *_rows(_TABLE)]))
"""All opcodes by name; :func:`find_opcode` also finds parts of asynchronous operations."""

RETIRED: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "equal-to": ("compare", {"direction": "EQ"}),
    "greater-than": ("compare", {"direction": "GT"}),
    "greater-than-or-equal-to": ("compare", {"direction": "GE"}),
    "less-than": ("compare", {"direction": "LT"}),
    "less-than-or-equal-to": ("compare", {"direction": "LE"}),
    "not-equal-to": ("compare", {"direction": "NE"}),
    "cross-replica-sum": ("all-reduce", {}),
    "trace": ("custom-call", {"custom_call_target": "trace"}),
    "tuple-select": ("custom-call", {"custom_call_target": "tuple-select"}),
}
"""Opcodes that XLA had before 2022: those that took their place, with attributes."""

NEW_OPCODE: Final = Opcode(
    Arity(0, None), (), tuple(name for name, form in ATTRIBUTES.items() if isinstance(form, Codec))
)
"""An operation that this library does not know: it is read as a custom call."""

# So a custom call may have the attributes of any operation: what is printed is read back.
OPCODES["custom-call"] = replace(
    OPCODES["custom-call"],
    optional=(*dict.fromkeys((*OPCODES["custom-call"].optional, *NEW_OPCODE.optional)),),
)

LIKE_OPERANDS = frozenset(name for name, _ in _rows(_LIKE_OPERANDS))
"""The opcodes whose result has the shape of every operand."""


# Finding instructions and computations: by exact name, by a pattern with `*`, by near names.


_MAX_CANDIDATES = 2000
"""Near names are looked for among the latest ones: comparing 2000 takes a tenth of a second."""


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """The names that are like one that is not there, at most three; ``x.1`` is like ``x``."""
    known = list(dict.fromkeys(names))[-_MAX_CANDIDATES:]
    numbered = [each for each in known if each.startswith(f"{name}.")]
    return [*dict.fromkeys([*numbered, *difflib.get_close_matches(name, known, n=3)])][:3]


def nearby(name: str, names: Iterable[str]) -> str:
    """A hint for a name that is not defined: the names that are like it.

    >>> nearby("constnat.1", ["add.1", "constant.1", "constant.2"])
    'did you mean constant.1 or constant.2?'
    """
    found = near_names(name, names)
    return f"did you mean {' or '.join(found)}?" if found else ""


def bare(name: str, where: str) -> str:
    """A name without its percent sign.

    Raises:
        ArgumentError: it is no text.
    """
    check_type(name, str, f"{where}: the name", "a string, such as 'add.1'")
    return name.removeprefix("%")


def check_opcode(opcode: str, where: str) -> None:
    """Raise an :class:`ArgumentError` unless there is an opcode of this name."""
    check_type(opcode, str, f"{where}: the opcode", "a string, such as 'add'")
    if find_opcode(opcode) is None:
        hint = nearby(opcode, OPCODES)
        raise ArgumentError(f"{where}: there is no opcode {opcode}" + f"; {hint}" * bool(hint))


# Neutral elements of operations: folds of values begin there.


def neutral_element(opcode: str, element_type: ElementType) -> float:
    """The value that an operation of :data:`NEUTRAL` combines with any other one to that.

    Of ``and`` and ``or``, it has all bits, or none.

    >>> from indexing.layout import ElementType
    >>> neutral_element("maximum", ElementType.S8), neutral_element("add", ElementType.F32)
    (-128, 0)
    """
    if element_type.kind is Kind.BOOLEAN:
        return opcode in ("and", "minimum", "multiply")
    values = element_type.value_range
    ends = {"maximum": values.lower, "minimum": values.upper}
    if element_type.kind is Kind.UNSIGNED:
        ends["and"] = values.upper
    end = ends.get(opcode)
    return NEUTRAL[opcode] if end is None else end


NEUTRAL: Final[Mapping[str, float]] = {
    "add": 0,
    "multiply": 1,
    "and": -1,
    "or": 0,
    "maximum": float("-inf"),
    "minimum": float("inf"),
    "xor": 0,
}
"""By opcode; extrema of integers have those of their type instead."""
