"""What a step of writing yields: another spelling, described before it is built.

Most spellings that a search looks at are too dear, and many are known to be so by what stands
beside the new operation; so nothing is built until it is the best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from simplifier.expr import operations
from simplifier.laws.catalogue.spellings import CONGRUENT_RESIDUES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simplifier.canonical.scope import Scope
    from simplifier.expr.form import Form, Kind
    from simplifier.extraction.pricing import Limit
    from simplifier.laws.law import Law

    Steps: TypeAlias = Callable[[Scope, Form, Limit], Iterator["Rewriting"]]
    """Yields spellings that are equal to the given one and may be below the limit."""


class Rewriting(NamedTuple):
    """``rest + weight * operation(operands)``, for each of the alternative operands."""

    rest: Form
    weight: int
    kind: Kind
    alternatives: Iterable[tuple[Form, ...]]
    laws: tuple[Law, ...]
    """Why it is equal."""
    source: Form | None = None
    """Of a remainder, what it is taken of; the alternatives are congruent to it."""

    def built(self, operands: tuple[Form, ...]) -> Form:
        """The spelling with these operands."""
        return self.rest.plus(operations.build(self.kind, operands), self.weight)

    def laws_for(self, operands: tuple[Form, ...]) -> tuple[Law, ...]:
        """Why the spelling with these operands is equal."""
        if self.source is None or operands[0] == self.source:
            return self.laws
        return (*self.laws, CONGRUENT_RESIDUES)
