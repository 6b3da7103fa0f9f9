"""Bounds that are expressions over parameters: ``d0 in [0, N - 1]``.

A domain has numbers as bounds of its variables, and such an end as a constraint:
``d0 - N in [-inf, -1]``. Texts show these constraints as the bounds that they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indexing.domain import bare
from indexing.parameters import PARAMETER
from simplifier import Interval
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import AtomKind
from simplifier.expr.printer import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexing.domain import Constraint, Domain
    from simplifier.expr.form import Form
    from simplifier.expr.printer import Spelling


class Ends(NamedTuple):
    """The least and the greatest value of a variable; ``None`` is an end without bound."""

    lower: Form | None
    upper: Form | None


def ends_and_constraints(domain: Domain) -> tuple[dict[str, Ends], Domain]:
    """The ends of every variable, by identifier, and the domain without the constraints in them.

    Of several ends on one side all hold: the upper end is their minimum.

    >>> from indexing import parse_map
    >>> rows = parse_map("(d0)<N> -> (d0), domain: d0 in [0, min(N - 1, 9)], N in [1, inf]").domain
    >>> rows.constraints
    ((Form(d0 - ~N), Interval(lower=None, upper=-1)),)
    >>> ends_and_constraints(rows)[0]["d0"]
    Ends(lower=Form(0), upper=Form(min(~N - 1, 9)))
    """
    found: dict[str, tuple[list[Form], list[Form]]] = {
        name: ([], []) for name in domain.identifiers
    }
    for name, bounds in domain.bounds.items():
        _add(found[name], forms.ZERO, bounds)
    left: list[Constraint] = []
    for form, interval in domain.constraints:
        limited = limited_variable((form, interval))
        if limited is None:
            left.append((form, interval))
        else:
            _add(found[limited], forms.variable(limited) - form, interval)
    ends = {
        name: Ends(
            operations.maximum(lower) if lower else None,
            operations.minimum(upper) if upper else None,
        )
        for name, (lower, upper) in found.items()
    }
    return ends, domain.with_constraints(left)


def symbolic_ends(domain: Domain) -> Iterator[tuple[str, str, Form]]:
    """The variables, by identifier, with the side of each end that is over parameters, and it."""
    for form, interval in domain.constraints:
        limited = limited_variable((form, interval))
        if limited is not None:
            base = forms.variable(limited) - form
            for side, end in (("lower", interval.lower), ("upper", interval.upper)):
                if end is not None:
                    yield limited, side, base + end


def _add(ends: tuple[list[Form], list[Form]], base: Form, interval: Interval) -> None:
    """Add the ends of ``base`` plus an interval."""
    for side, end in zip(ends, (interval.lower, interval.upper), strict=True):
        if end is not None:
            side.append(base + end)


def limited_variable(constraint: Constraint) -> str | None:
    """The variable that a constraint bounds: it plus an expression over parameters alone.

    None, if the end is a minimum or maximum that says two things, which are two constraints; or if
    there is no end.
    """
    form, interval = constraint
    names = [name for name in forms.variables_of((form,)) if name[0] != PARAMETER]
    if len(names) != 1 or form.constant or interval == Interval(None, None):
        return None
    (name,) = names
    end = forms.variable(name) - form
    is_free = not any(used == name for used in forms.variables_of((end,)))
    sides = (interval.lower, AtomKind.MAX), (interval.upper, AtomKind.MIN)
    is_split = any(len(_parts(end + by, kind)) > 1 for by, kind in sides if by is not None)
    return name if is_free and end.terms and not is_split else None


def turned_to_variable(constraint: Constraint) -> Constraint:
    """The same constraint; what bounds a variable has it with a positive sign.

    >>> d0, n = forms.variable("d0"), forms.variable("~N")
    >>> turned_to_variable((n - d0, Interval(1, None)))
    (Form(d0 - ~N), Interval(lower=None, upper=-1))
    """
    turned = -constraint[0], -constraint[1]
    is_turned = limited_variable(constraint) is None and limited_variable(turned) is not None
    return turned if is_turned else constraint


def conditions_for_values(ends: Ends) -> list[Constraint]:
    """The constraints under which there is a number between all ends.

    >>> conditions_for_values(Ends(forms.ZERO, forms.variable("~N") - 1))
    [(Form(~N), Interval(lower=1, upper=None))]
    """
    return [
        bare((greatest - least, Interval(0, None)))
        for least in _parts(ends.lower, AtomKind.MAX)
        for greatest in _parts(ends.upper, AtomKind.MIN)
    ]


def limits(form: Form, ends: Ends) -> tuple[Interval, list[Constraint]]:
    """The numbers that bound a form, and the constraints for its other ends.

    >>> d0, n = forms.variable("d0"), forms.variable("~N")
    >>> limits(d0, Ends(forms.ZERO, n - 1))
    (Interval(lower=0, upper=None), [(Form(d0 - ~N), Interval(lower=None, upper=-1))])
    """
    lowest, lower = _split(ends.lower, AtomKind.MAX)
    highest, upper = _split(ends.upper, AtomKind.MIN)
    constraints = [
        *(bare((form - end, Interval(0, None))) for end in lower),
        *(bare((form - end, Interval(None, 0))) for end in upper),
    ]
    numbers = Interval(max(lowest, default=None), min(highest, default=None))
    return numbers, constraints


def _split(end: Form | None, joined_by: AtomKind) -> tuple[list[int], list[Form]]:
    """The numbers that an end is made of, and the expressions."""
    parts = _parts(end, joined_by)
    numbers = [part.constant for part in parts if part.is_constant]
    return numbers, [part for part in parts if not part.is_constant]


def _parts(end: Form | None, joined_by: AtomKind) -> tuple[Form, ...]:
    """The ends of which an end is the greatest or least."""
    if end is None:
        return ()
    atom = end.only_atom
    return atom.arguments if atom is not None and atom.kind is joined_by else (end,)


def limit_texts(domain: Domain, spelling: Spelling = DOCUMENT) -> Iterator[str]:
    """The bounds of all variables, then the other constraints: ``d0 in [0, N - 1]``."""
    ends, others = ends_and_constraints(domain)
    for name, each in zip(domain.names, ends.values(), strict=True):
        yield f"{name} in {text_of_ends(domain, each, spelling)}"
    for text, (_, interval) in others.constraint_texts(spelling):
        yield f"{text} in {interval}"


def text_of_ends(domain: Domain, ends: Ends, spelling: Spelling = DOCUMENT) -> str:
    """``[0, N - 1]``, in the reader's names."""
    lower = "-inf" if ends.lower is None else domain.text_of(ends.lower, spelling)
    upper = "inf" if ends.upper is None else domain.text_of(ends.upper, spelling)
    return f"[{lower}, {upper}]"
