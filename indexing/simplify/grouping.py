"""Constraints that have to do with each other, and those that do not.

What is known of some variables says nothing of others, so each group is a problem of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.domain import Constraint
    from simplifier.expr.form import Form


def connected(constraints: Iterable[Constraint]) -> list[list[Constraint]]:
    """Constraints grouped so that no two groups share a variable, in the order given."""
    named = [(constraint, [*forms.variables_of((constraint[0],))]) for constraint in constraints]
    leaders: dict[str, str] = {}
    for _, names in named:
        found = [_leader(leaders, name) for name in names]
        leaders.update(dict.fromkeys(found, *found[:1]))
    groups: dict[str | int, list[Constraint]] = {}
    for place, (constraint, names) in enumerate(named):
        groups.setdefault(_leader(leaders, names[0]) if names else place, []).append(constraint)
    return list(groups.values())


def tells(group: Iterable[Constraint], form: Form) -> bool:
    """Whether the simplest form may be another where a group of constraints in normal shape holds.

    A variable stays as it is: what it is bounded by is known. So does any affine form, where
    constraints are affine, too, and no equations.
    """
    if form.single_variable() is not None:
        return False
    if form.is_affine and all(_is_plain(constraint) for constraint in group):
        return False
    names = {*forms.variables_of([form])}
    return not names.isdisjoint(forms.variables_of(limited for limited, _ in group))


def _is_plain(constraint: Constraint) -> bool:
    return constraint[0].is_affine and not constraint[1].is_point


def _leader(leaders: dict[str, str], name: str) -> str:
    """The name that stands for a group: the one that follows no other."""
    while (following := leaders.get(name, name)) != name:
        name = following
    return name
