"""The simplifier's view of a domain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.canonical.scope import Scope, scope_of

if TYPE_CHECKING:
    from indexing.domain import Constraint, Domain


def scope_with_facts(domain: Domain) -> Scope:
    """The scope in which the domain's bounds and constraints hold."""
    return scope_within(domain, domain.constraints)


def scope_within(domain: Domain, constraints: tuple[Constraint, ...]) -> Scope:
    """The scope in which the domain's bounds hold, and some constraints."""
    bounds = tuple(domain.bounds.items())
    # Without constraints it is the one that every scope with some begins with.
    return scope_of(bounds, constraints) if constraints else scope_of(bounds)
