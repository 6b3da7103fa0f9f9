"""Questions about quasi-affine expressions that isl answers exactly: complete, sometimes slow.

A question costs little for the handful of variables of an indexing map; in the worst case the time
grows exponentially with the number of variables, quotients and extrema. So every question has a
budget of operations, for all that isl tries.
"""

from __future__ import annotations

from simplifier.exact.isl import (
    ATTEMPT,
    BUDGET,
    MAX_ATTEMPTS,
    Allowance,
    Budget,
    BudgetError,
    MissingIslError,
    NotQuasiAffineError,
    Space,
    kept_context,
    own_context,
    quasi_affine,
)
from simplifier.exact.questions import differing_point, equivalent, exact_range, witness

__all__ = [
    "ATTEMPT",
    "BUDGET",
    "MAX_ATTEMPTS",
    "Allowance",
    "Budget",
    "BudgetError",
    "MissingIslError",
    "NotQuasiAffineError",
    "Space",
    "differing_point",
    "equivalent",
    "exact_range",
    "kept_context",
    "own_context",
    "quasi_affine",
    "witness",
]
