"""The operations of StableHLO that are one instruction of HLO, with what their attributes become.

Source: the specification of StableHLO, and the attributes of :mod:`ops.hlo.opcodes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ops.hlo.attributes import ATTRIBUTES, BOOLEAN, FLOAT, INTEGER, INTEGER_LISTS, INTEGERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.hlo.stablehlo.given_operation import GivenOperation


class TableRow(NamedTuple):
    """An opcode, the sources of its attributes, and those that are computations."""

    opcode: str
    attributes: tuple[tuple[str, str], ...] = ()
    computations: tuple[str, ...] = ()


_TABLE: Final = """
abs acos acosh add and asin asinh atan atanh atan2 bitcast_convert cbrt ceil clamp complex convert \
    copy cosh cosine count_leading_zeros divide erf exponential exponential_minus_one floor imag \
    is_finite log log_plus_one logistic maximum minimum multiply negate not or partition_id popcnt \
    power real remainder replica_id reshape round_nearest_afz round_nearest_even rsqrt select \
    shift_left shift_right_arithmetic shift_right_logical sign sine sinh sqrt \
    stochastic_convert subtract tan tanh tuple xor
add_dependency
after_all create_token | after-all
all_to_all | | dimensions=split_dimension
batch_norm_grad batch_norm_inference batch_norm_training | | epsilon feature_index
cholesky | | lower
collective_broadcast
collective_permute | | source_target_pairs
concatenate | | dimensions=dimension
dynamic_slice | | dynamic_slice_sizes=slice_sizes
dynamic_update_slice
fft | | fft_length
get_dimension_size set_dimension_size | | dimensions=dimension
get_tuple_element | | index
iota | | iota_dimension
map | | dimensions | to_apply
reduce | | dimensions | to_apply
reduce_precision | | exponent_bits mantissa_bits
reverse | | dimensions
rng_bit_generator
top_k topk | topk | k
transpose | | dimensions=permutation
"""
"""Operations | opcode, if its name is another one | attributes | computations."""


def _rows() -> Mapping[str, TableRow]:
    found: dict[str, TableRow] = {}
    for line in _TABLE.strip().splitlines():
        names, *parts = (part.strip() for part in line.split("|"))
        opcode, attributes, computations = (*parts, "", "", "")[:3]
        pairs = [each.partition("=") for each in attributes.split()]
        sources = tuple((name, source or name) for name, _, source in pairs)
        for name in names.split():
            own = opcode or name.replace("_", "-")
            found[name] = TableRow(own, sources, tuple(computations.split()))
    return found


OPERATIONS: Final = _rows()
"""What each operation becomes, by its name without the dialect."""


def attributes_of(row: TableRow, given: GivenOperation) -> dict[str, Any]:
    """The attributes of an instruction, by the form that each has in HLO."""
    return {
        name: _BY_FORM[ATTRIBUTES[name]](given, source)
        for name, source in row.attributes
        if given.has(source)
    }


_BY_FORM: Final[Mapping[Any, Callable[[GivenOperation, str], Any]]] = {
    BOOLEAN: lambda given, name: given.flag(name),
    FLOAT: lambda given, name: given.number(name),
    INTEGER: lambda given, name: given.integer(name),
    INTEGERS: lambda given, name: given.integers(name),
    INTEGER_LISTS: lambda given, name: given.rows(name, 2),
}
"""How the value of an attribute is read, by its codec in HLO."""
