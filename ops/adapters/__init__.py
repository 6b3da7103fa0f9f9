"""From instructions to builders: a table by opcode for each group of families, and all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ops.adapters import (
    asynchronous,
    collectives,
    computation,
    control,
    custom_calls,
    data_movement,
    dynamic,
    dynamic_sizes,
    gathering,
    linear_algebra,
    ordering,
    statistics,
    windows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.adapters.shared import Builder, Caller, Router, Values

BUILDERS: Final[Mapping[str, Builder]] = {
    **collectives.BUILDERS,
    **computation.BUILDERS,
    **data_movement.BUILDERS,
    **dynamic_sizes.BUILDERS,
    **dynamic.BUILDERS,
    **gathering.BUILDERS,
    **linear_algebra.BUILDERS,
    **ordering.BUILDERS,
    **statistics.BUILDERS,
    **windows.BUILDERS,
}
"""Opcode -> the maps of an operation."""

CUSTOM_CALLS: Final[Mapping[str, Builder]] = {
    **custom_calls.CUSTOM_CALLS,
}
"""Target of a custom call -> its maps."""

ROUTES: Final[Mapping[str, Router]] = {
    **asynchronous.ROUTES,
    **control.ROUTES,
}
"""Opcode -> which array of the result is which array of an operand."""

CALLERS: Final[Mapping[str, Caller]] = {
    **control.CALLERS,
}
"""Opcode -> the computations that it runs."""

VALUES: Final[Mapping[str, Values]] = {
    **dynamic.VALUES,
}
"""Opcode -> what its builder reads of the values of operands; the others look at shapes alone."""
