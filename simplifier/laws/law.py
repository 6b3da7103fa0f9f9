"""What a law is: an identity over the integers and its side condition, with the reasons.

Identity and condition are statements in this project's own syntax. Capital letters stand for any
integer-valued expressions, small letters for integer constants. A law says: for all integers, where
the condition holds and the left side is defined, which is where it divides by nothing that is zero,
the right side is defined and the identity holds. Lemmas about ranges are laws whose identity is an
inequality.

The tests have z3 prove each law for all integers, and show that it fails without any one part of
its condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simplifier.laws.statement import statement, variables_in

if TYPE_CHECKING:
    from simplifier.bounds.interval import Interval
    from simplifier.expr.form import Form
    from simplifier.laws.statement import Comparison


@dataclass(frozen=True, slots=True)
class Example:
    """What a law does to an expression, where a statement holds about its variables."""

    expression: str
    where: str
    result: str

    @property
    def known(self) -> tuple[tuple[Form, Interval], ...]:
        """The intervals in which the statement says that forms lie."""
        return tuple(comparison.interval() for comparison in statement(self.where))


@dataclass(frozen=True, slots=True)
class NearMiss(Example):
    """An expression to which a law does not apply, though it nearly looks so, and why not."""

    why: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Law:
    """A rewriting that keeps every value, from the left side of the identity to the right one.

    There is one object for each law, made in :mod:`simplifier.laws.catalogue`; compare with ``is``.
    """

    name: str
    identity: str
    condition: str = ""
    why: str
    proof: tuple[str, ...] = ()
    """Statements in between, each following from the condition and those before it."""
    example: Example
    near_miss: NearMiss

    @property
    def claim(self) -> tuple[Comparison, ...]:
        """The identity, read."""
        return statement(self.identity)

    @property
    def conditions(self) -> tuple[Comparison, ...]:
        """The parts of the condition, read; ``a <= b < c`` are two."""
        return statement(self.condition)

    @property
    def metavariables(self) -> tuple[str, ...]:
        """The letters of identity and condition, in the order of the alphabet."""
        return variables_in(self.claim + self.conditions)

    def __str__(self) -> str:
        return f"{self.name}: {self.identity}" + (
            f"  if {self.condition}" if self.condition else ""
        )

    def __repr__(self) -> str:
        return f"<law {self.name}>"


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Laws about one thing."""

    title: str
    laws: tuple[Law, ...]
