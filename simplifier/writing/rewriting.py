"""What a step of writing yields: another spelling, described before it is built.

Most spellings that a search looks at are too dear, and many are known to be so by what stands
beside the new operation; so nothing is built until it is the best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from simplifier import operations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simplifier.form import Form, Kind
    from simplifier.scope import Scope

    Steps: TypeAlias = Callable[[Scope, Form], Iterator["Rewriting"]]
    """Yields spellings that are equal to the given one."""


class Rewriting(NamedTuple):
    """``rest + weight * operation(operands)``, for each of the alternative operands."""

    rest: Form
    weight: int
    kind: Kind
    alternatives: Iterable[tuple[Form, ...]]

    def built(self, operands: tuple[Form, ...]) -> Form:
        """The spelling with these operands."""
        return self.rest.plus(operations.build(self.kind, operands), self.weight)
