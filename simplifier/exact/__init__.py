"""Questions about quasi-affine expressions that isl answers exactly: complete, sometimes slow.

A question costs little for the handful of variables of an indexing map; in the worst case the time
grows exponentially with the number of variables, quotients and extrema. So every question has a
budget of operations, for all that isl tries. This is the door of the folder.
"""

# A door imports for others.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

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
    asked,
    asked_of_kept,
    checked_budget,
    context_of,
    integer,
    kept_context,
    load_isl,
    number,
    quasi_affine,
)
from simplifier.exact.questions import differing_point, exact_range, finished, range_within
