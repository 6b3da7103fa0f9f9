"""The operations of StableHLO that are one instruction of HLO, with what their attributes become.

Source: the specification of StableHLO, and the attributes of :mod:`ops.hlo.opcodes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ops.hlo.attributes import ATTRIBUTES, BOOLEAN, FLOAT, INTEGER, INTEGERS
from ops.hlo.stablehlo.construction import one_instruction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ops.hlo.stablehlo.construction import AttributesOf, Construction
    from ops.hlo.stablehlo.given_operation import GivenOperation

_TABLE: Final = """
abs acos acosh add and asin asinh atanh atan2 bitcast_convert cbrt ceil clamp complex convert \
    copy cosh cosine count_leading_zeros divide erf exponential exponential_minus_one floor imag \
    is_finite log log_plus_one logistic maximum minimum mulhi multiply negate not or partition_id \
    popcnt power real remainder replica_id reshape round_nearest_afz round_nearest_even rsqrt \
    select shift_left shift_right_arithmetic shift_right_logical sign sine sinh sqrt \
    stochastic_convert subtract tan tanh tuple xor
add_dependency
after_all create_token | after-all
batch_norm_grad batch_norm_inference batch_norm_training | | epsilon feature_index
cholesky | | lower
concatenate | | dimensions=dimension
dynamic_slice | | dynamic_slice_sizes=slice_sizes
dynamic_update_slice
get_dimension_size set_dimension_size | | dimensions=dimension
get_tuple_element | | index
iota | | iota_dimension
map | | dimensions | to_apply
reduce | | dimensions | to_apply
reverse | | dimensions
transpose | | dimensions=permutation
"""
"""Operations | opcode, if its name is another one | attributes | computations."""


def _constructions() -> Mapping[str, Construction]:
    found: dict[str, Construction] = {}
    for line in _TABLE.strip().splitlines():
        names, *parts = (part.strip() for part in line.split("|"))
        opcode, attributes, computations = (*parts, "", "", "")[:3]
        pairs = [each.partition("=") for each in attributes.split()]
        read = _reader({name: source or name for name, _, source in pairs})
        for name in names.split():
            own = opcode or name.replace("_", "-")
            found[name] = one_instruction(own, read, *computations.split())
    return found


def _reader(sources: Mapping[str, str]) -> AttributesOf:
    """The attributes of an instruction, by the form that each has in HLO."""
    return lambda given: {
        name: _BY_FORM[ATTRIBUTES[name]](given, source)
        for name, source in sources.items()
        if given.has(source)
    }


_BY_FORM: Final[Mapping[Any, Callable[[GivenOperation, str], Any]]] = {
    BOOLEAN: lambda given, name: given.flag(name),
    FLOAT: lambda given, name: given.number(name),
    INTEGER: lambda given, name: given.integer(name),
    INTEGERS: lambda given, name: given.integers(name),
}
"""How the value of an attribute is read, by its codec in HLO."""

TABLED: Final = _constructions()
"""Operations by their names without the dialect."""
