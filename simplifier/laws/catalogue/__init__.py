"""All laws of the simplifier, one module for each file that applies them, and named like it.

So ``simplifier/canonical/floordiv.py`` applies the laws of ``catalogue/floordiv.py``. A name in a
module is a law; its place is its place in the table of :func:`simplifier.rules`. To add a law,
write it here and call ``context.fired(law.NAME)`` where it is applied; the tests prove it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from simplifier.laws.catalogue import (
    bitwise,
    comparisons,
    conditions,
    floordiv,
    maxima,
    nonlinear,
    propagation,
    ranges,
    steps,
)
from simplifier.laws.law import Law, LawGroup


def _group(title: str, *modules: ModuleType) -> LawGroup:
    found = (law for module in modules for law in vars(module).values())
    return LawGroup(title, tuple(law for law in found if isinstance(law, Law)))


GROUPS: Final = (
    _group("quotients", floordiv),
    _group("minima and maxima", maxima),
    _group("products and symbolic divisors", nonlinear),
    _group("conditions and choices", comparisons, conditions),
    _group("bits", bitwise),
    _group("constraints", propagation),
    _group("ranges", ranges),
    _group("extraction", steps),
)

LAWS: Final = tuple(law for group in GROUPS for law in group.laws)
