"""The opcodes of HLO: how many operands each takes, and which attributes.

Source: XLA's parser; the table lists what it accepts and what it demands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from ops.hlo.attributes import ATTRIBUTES, COMMON_ATTRIBUTES, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.hlo.attributes import Codec


@dataclass(frozen=True, slots=True)
class Arity:
    """Numbers of operands: from ``least`` to ``most``, in steps; without an end for ``None``.

    >>> print(Arity(2), Arity(1, 2), Arity(2, None, step=2), Arity(0, None))
    2 operands 1 to 2 operands 2, 4, 6, ... operands 0 or more operands
    """

    least: int
    most: int | None = -1
    step: int = 1

    def __post_init__(self) -> None:
        if self.most == -1:
            object.__setattr__(self, "most", self.least)

    def __contains__(self, count: int) -> bool:
        return (
            self.least <= count
            and (self.most is None or count <= self.most)
            and not (count - self.least) % self.step
        )

    def __str__(self) -> str:
        if self.most == self.least:
            return f"{self.least} operand{'s' * (self.least != 1)}"
        if self.most is not None:
            return f"{self.least} to {self.most} operands"
        if self.step == 1:
            return f"{self.least} or more operands"
        return f"{self.least}, {self.least + self.step}, {self.least + 2 * self.step}, ... operands"


@dataclass(frozen=True, slots=True)
class Opcode:
    """Number of operands and names of the attributes of an operation.

    ``sugar`` is the operation and the part of ``<operation>-start``, ``-update`` and ``-done``.
    """

    arity: Arity
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    sugar: tuple[str, str] | None = None
    formats: Mapping[str, Codec | Reference] = field(init=False, hash=False, compare=False)

    def __post_init__(self) -> None:
        names = (*self.required, *self.optional, *COMMON_ATTRIBUTES)
        object.__setattr__(
            self, "formats", MappingProxyType({name: ATTRIBUTES[name] for name in names})
        )


def find_opcode(name: str) -> Opcode | None:
    """What is known of an opcode, which may be sugar for a part of an asynchronous operation.

    >>> find_opcode("slice").required, find_opcode("slice-start").sugar, find_opcode("slices")
    (('slice',), ('slice', 'start'), None)
    """
    known = OPCODES.get(name)
    return known or _sugar(name)


@lru_cache(maxsize=1 << 10)
def _sugar(name: str) -> Opcode | None:
    operation, _, part = name.rpartition("-")
    base = OPCODES.get(operation)
    if base is None or part not in {"start", "update", "done"}:
        return None
    if part == "start":
        return Opcode(base.arity, base.required, (*base.optional, *_ASYNC), sugar=(operation, part))
    return Opcode(_ONE, (), _ASYNC, sugar=(operation, part))


_ANY, _SOME = Arity(0, None), Arity(1, None)
_NONE, _ONE, _TWO, _THREE, _FOUR, _FIVE, _SIX = map(Arity, range(7))

_ACCURACY = ("result_accuracy",)
_COLLECTIVE = ("channel_id", "constrain_layout", "replica_groups")
_GLOBAL = (*_COLLECTIVE, "use_global_device_ids")
_CONTRACTING = ("lhs_batch_dims", "lhs_contracting_dims", "rhs_batch_dims", "rhs_contracting_dims")
_BATCH_NORM = ("epsilon", "feature_index")
_TRANSFER = ("channel_id", "is_host_transfer")
_PERMUTE = Opcode(_SOME, ("source_target_pairs",), ("channel_id", "slice_sizes"))
_ALL_GATHER = Opcode(_ANY, ("dimensions",), _GLOBAL)
_ALL_REDUCE = Opcode(_ANY, ("to_apply",), (*_GLOBAL, "mode"))
_ASYNC = ("async_execution_thread",)

_UNARY = (
    "ceil",
    "copy",
    "count-leading-zeros",
    "floor",
    "negate",
    "not",
    "popcnt",
    "round-nearest-afz",
    "round-nearest-even",
    "sign",
)
_ACCURATE = (
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "cosh",
    "cosine",
    "erf",
    "exponential",
    "exponential-minus-one",
    "log",
    "log-plus-one",
    "logistic",
    "rsqrt",
    "sine",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
)
_BINARY = (
    "add",
    "and",
    "atan2",
    "divide",
    "maximum",
    "minimum",
    "mulhi",
    "multiply",
    "or",
    "power",
    "remainder",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "subtract",
    "xor",
)
LIKE_OPERANDS = (*_UNARY, *_ACCURATE, *_BINARY, "select")
"""Elementwise operations whose result has the type and the dimensions of their last operand."""

OPCODES: dict[str, Opcode] = {
    **dict.fromkeys(_UNARY, Opcode(_ONE)),
    **dict.fromkeys(_ACCURATE, Opcode(_ONE, (), _ACCURACY)),
    **dict.fromkeys(_BINARY, Opcode(_TWO)),
    "abs": Opcode(_ONE),
    "add-dependency": Opcode(_TWO),
    "after-all": Opcode(_ANY),
    "all-gather": _ALL_GATHER,
    "all-gather-done": Opcode(_ONE),
    "all-gather-start": _ALL_GATHER,
    "all-reduce": _ALL_REDUCE,
    "all-reduce-done": Opcode(_ONE),
    "all-reduce-start": _ALL_REDUCE,
    "all-to-all": Opcode(_ANY, (), (*_COLLECTIVE, "dimensions")),
    "async-done": Opcode(_ONE, (), ("calls", *_ASYNC)),
    "async-start": Opcode(_ANY, ("calls",), _ASYNC),
    "async-update": Opcode(_ONE, (), ("calls", *_ASYNC)),
    "batch-norm-grad": Opcode(_FIVE, _BATCH_NORM),
    "batch-norm-inference": Opcode(_FIVE, _BATCH_NORM),
    "batch-norm-training": Opcode(_THREE, _BATCH_NORM),
    "bitcast": Opcode(_ONE),
    "bitcast-convert": Opcode(_ONE),
    "broadcast": Opcode(_ONE, ("dimensions",)),
    "call": Opcode(_ANY, ("to_apply",), ("is_composite",)),
    "cholesky": Opcode(_ONE, (), ("lower",)),
    "clamp": Opcode(_THREE),
    "collective-broadcast": Opcode(_ANY, (), ("channel_id", "has_dynamic_root", "replica_groups")),
    "collective-permute": _PERMUTE,
    "collective-permute-done": Opcode(_ONE),
    "collective-permute-start": _PERMUTE,
    "collective-reduce": Opcode(_ANY, ("to_apply",), (*_GLOBAL, "has_dynamic_root")),
    "compare": Opcode(_TWO, ("direction",), ("type",)),
    "complex": Opcode(_TWO),
    "concatenate": Opcode(_SOME, ("dimensions",)),
    "conditional": Opcode(
        _SOME, (), ("branch_computations", "true_computation", "false_computation")
    ),
    "constant": Opcode(_NONE),
    "convert": Opcode(_ONE),
    "convolution": Opcode(
        _TWO,
        ("dim_labels",),
        (
            "batch_group_count",
            "convolution_kind",
            "feature_group_count",
            "operand_precision",
            "sparsity_config",
            "window",
        ),
    ),
    "copy-done": Opcode(_ONE),
    "copy-start": Opcode(_ONE, (), ("cross_program_prefetch_index",)),
    "custom-call": Opcode(
        _ANY,
        ("custom_call_target",),
        (
            "api_version",
            "batch_group_count",
            "called_computations",
            "custom_call_has_side_effect",
            "dim_labels",
            "feature_group_count",
            "literal",
            "operand_layout_constraints",
            "operand_precision",
            "output_to_operand_aliasing",
            "padding_type",
            "schedule",
            "to_apply",
            "window",
        ),
    ),
    "domain": Opcode(_ONE, ("domain",)),
    "dot": Opcode(_TWO, (), (*_CONTRACTING, "algorithm", "operand_precision")),
    "dynamic-reshape": Opcode(_SOME),
    "dynamic-slice": Opcode(_SOME, ("dynamic_slice_sizes",)),
    "dynamic-update-slice": Opcode(Arity(2, None)),
    "fft": Opcode(_ONE, ("fft_type", "fft_length")),
    "fusion": Opcode(_ANY, ("kind", "calls"), ("output_to_operand_aliasing",)),
    "gather": Opcode(
        _TWO,
        (
            "offset_dims",
            "collapsed_slice_dims",
            "start_index_map",
            "index_vector_dim",
            "slice_sizes",
        ),
        ("indices_are_sorted", "operand_batching_dims", "start_indices_batching_dims"),
    ),
    "get-dimension-size": Opcode(_ONE, ("dimensions",)),
    "get-tuple-element": Opcode(_ONE, ("index",)),
    "imag": Opcode(_ONE),
    "infeed": Opcode(Arity(0, 1), (), ("infeed_config",)),
    "iota": Opcode(_NONE, ("iota_dimension",)),
    "is-finite": Opcode(_ONE),
    "map": Opcode(_ANY, ("to_apply",), ("dimensions",)),
    "opt-barrier": Opcode(_ONE),
    "outfeed": Opcode(Arity(1, 2), (), ("outfeed_config", "outfeed_shape")),
    "pad": Opcode(_TWO, ("padding",)),
    "parameter": Opcode(_NONE),
    "partition-id": Opcode(_NONE),
    "ragged-all-to-all": Opcode(_SIX, (), ("channel_id", "dimensions", "replica_groups")),
    "ragged-dot": Opcode(
        _THREE, (), (*_CONTRACTING, "lhs_ragged_dims", "operand_precision", "rhs_group_dims")
    ),
    "real": Opcode(_ONE),
    "recv": Opcode(_ONE, (), _TRANSFER),
    "recv-done": Opcode(_ONE, (), _TRANSFER),
    "reduce": Opcode(Arity(2, None, step=2), ("dimensions", "to_apply")),
    "reduce-precision": Opcode(_ONE, ("exponent_bits", "mantissa_bits")),
    "reduce-scatter": Opcode(_ANY, ("dimensions", "to_apply"), (*_GLOBAL, "mode")),
    "reduce-window": Opcode(Arity(2, None, step=2), ("to_apply",), ("window",)),
    "replica-id": Opcode(_NONE),
    "reshape": Opcode(_ONE, (), ("inferred_dimension",)),
    "reverse": Opcode(_ONE, ("dimensions",)),
    "rng": Opcode(_ANY, ("distribution",)),
    "rng-bit-generator": Opcode(_ONE, ("algorithm",)),
    "rng-get-and-update-state": Opcode(_NONE, ("delta",)),
    "scaled-dot": Opcode(_FOUR, (), (*_CONTRACTING, "algorithm", "operand_precision")),
    "scan": Opcode(
        _ANY, ("dimensions", "to_apply"), ("is_associative", "is_reverse", "num_carries")
    ),
    "scatter": Opcode(
        Arity(3, None, step=2),
        (
            "update_window_dims",
            "inserted_window_dims",
            "scatter_dims_to_operand_dims",
            "index_vector_dim",
            "to_apply",
        ),
        (
            "indices_are_sorted",
            "input_batching_dims",
            "scatter_indices_batching_dims",
            "unique_indices",
        ),
    ),
    "select": Opcode(_THREE),
    "select-and-scatter": Opcode(_THREE, ("select", "scatter"), ("window",)),
    "send": Opcode(_TWO, (), _TRANSFER),
    "send-done": Opcode(_ONE, (), _TRANSFER),
    "set-dimension-size": Opcode(_TWO, ("dimensions",)),
    "shuffle": Opcode(_ONE, ("dimensions", "mode"), ("indices", "shifts")),
    "slice": Opcode(_ONE, ("slice",)),
    "sort": Opcode(_SOME, ("dimensions", "to_apply"), ("is_stable",)),
    "stochastic-convert": Opcode(_TWO),
    "topk": Opcode(_ONE, ("k",), ("largest",)),
    "transpose": Opcode(_ONE, ("dimensions",)),
    "triangular-solve": Opcode(_TWO, (), ("left_side", "lower", "transpose_a", "unit_diagonal")),
    "tuple": Opcode(_ANY),
    "while": Opcode(_ONE, ("condition", "body")),
}
"""What is known of each opcode; :func:`find_opcode` knows parts of asynchronous operations too."""
