"""All laws of the simplifier, one module a group; reading them from top to bottom explains it.

A name in a module is a law; its place is its place in the table that :func:`simplifier.laws.rules`
shows. Whoever adds a law adds it here, announces it where it is applied, and has the tests prove
it; ``docs/simplifier.md`` says how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simplifier.laws.catalogue import constraints, extrema, quotients, ranges, spellings, symbolic
from simplifier.laws.law import Group, Law

if TYPE_CHECKING:
    from types import ModuleType


def _group(title: str, module: ModuleType) -> Group:
    return Group(title, tuple(law for law in vars(module).values() if isinstance(law, Law)))


GROUPS: Final = (
    _group("quotients", quotients),
    _group("minima and maxima", extrema),
    _group("products and symbolic divisors", symbolic),
    _group("constraints", constraints),
    _group("ranges", ranges),
    _group("spellings", spellings),
)

LAWS: Final = tuple(law for group in GROUPS for law in group.laws)
