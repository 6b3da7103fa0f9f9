"""What can be asked exactly of a map: everything that follows from its domain and results alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from simplifier.exact import BUDGET

if TYPE_CHECKING:
    from indexing.domain import Domain
    from simplifier.form import Form


class Relation(ABC):
    """Pairs of elements, ``dims`` of one tensor and ``results`` of another, and questions to isl.

    Ranges and runtime variables count for what they reach: two elements are related if some values
    of these variables within the domain relate them.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """Variables, bounds and constraints as the library keeps them."""

    @property
    @abstractmethod
    def forms(self) -> tuple[Form, ...]:
        """The results as the library keeps them, over ``d0 ... s0 ... rt0 ...`` by place."""

    def is_empty(self, *, budget: int | None = BUDGET) -> bool:
        """Whether the map has no point; exact, by isl.

        Costs milliseconds for everyday maps.

        Raises:
            NotQuasiAffineError: a constraint multiplies variables or divides by one.
            BudgetError: the answer takes more operations of isl than the budget.

        >>> from indexing import parse_map
        >>> odd = "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]"
        >>> parse_map(odd).is_empty()
        True
        """
        from indexing.exact import is_empty  # noqa: PLC0415 - it looks into maps

        return is_empty(self, budget)

    def equals(self, other: Relation, *, budget: int | None = BUDGET) -> bool:
        """Whether both maps relate the same elements to each other; exact, by isl.

        Ranges and runtime variables count for what they reach, not for their names or number. Costs
        milliseconds for everyday maps.

        Raises:
            NotQuasiAffineError: an expression multiplies variables or divides by one.
            BudgetError: the answer takes more operations of isl than the budget.
        """
        from indexing.exact import equals  # noqa: PLC0415 - it looks into maps

        return equals(self, other, budget)
