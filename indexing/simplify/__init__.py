"""Maps in their smallest form: sharp bounds, few constraints, cheap results."""

# A door imports for others.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from __future__ import annotations

from indexing.simplify.constraints import conditioned, scope_with_facts, simplified_domain
from indexing.simplify.smallest import result_bounds, simplified, simplified_by_isl, simplified_in
