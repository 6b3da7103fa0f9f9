"""All laws of the simplifier, one module a group; reading them from top to bottom explains it.

A name in a module is a law; its place is its place in the table of :func:`simplifier.rules`.
To add a law, write it here and call ``context.fired(LAW)`` where it is applied; the tests prove it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from simplifier.laws.catalogue import (
    bits,
    conditions,
    constraints,
    extrema,
    lemmas,
    quotients,
    spellings,
    symbolic,
)
from simplifier.laws.law import Law, LawGroup


def _group(title: str, module: ModuleType) -> LawGroup:
    return LawGroup(title, tuple(law for law in vars(module).values() if isinstance(law, Law)))


GROUPS: Final = (
    _group("quotients", quotients),
    _group("minima and maxima", extrema),
    _group("products and symbolic divisors", symbolic),
    _group("conditions and choices", conditions),
    _group("bits", bits),
    _group("constraints", constraints),
    _group("ranges", lemmas),
    _group("spellings", spellings),
)

LAWS: Final = tuple(law for group in GROUPS for law in group.laws)
