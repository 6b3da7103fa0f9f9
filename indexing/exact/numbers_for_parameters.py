"""A few numbers for parameters, where a question is not quasi-affine: they may refute it.

What is asked about each value of the parameters is not so if it is not so for one of them. With
numbers for ``M`` and ``N``, ``d0*M + d1`` is affine, and isl answers.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import islice, product
from typing import TYPE_CHECKING, Final

from indexing.transform.substitute import substitute
from simplifier.exact import BUDGET, BudgetError, NotQuasiAffineError
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from indexing.relation import RelationT
    from indexing.variable import Variable
    from simplifier.exact import Budget
    from simplifier.expr.form import Form

MAX_NUMBERS: Final = 3
"""How many numbers each parameter gets, the least of its range first: 0, 1 and 2 tell most."""

MAX_CHOICES: Final = 27
"""How many choices of numbers for all parameters are tried: milliseconds each."""


def is_refuted(
    maps: Sequence[RelationT], ask: Callable[..., bool], budget: Budget = BUDGET
) -> bool:
    """Whether a question about maps of the same parameters has the answer no for some numbers.

    ``ask`` takes the maps with numbers and a budget: all choices together end within a time.

    >>> from indexing import parse_map
    >>> given = "(d0)<M> -> (d0 * M), domain: d0 in [0, 9], M in "
    >>> [is_refuted([parse_map(given + bounds)], lambda each, budget: each.is_injective())
    ...  for bounds in ("[0, inf]", "[1, inf]")]
    [True, False]
    """
    share = budget / MAX_CHOICES if isinstance(budget, timedelta) else budget
    for numbers in _choices(maps[0].parameters):
        fixed = [substitute(each, numbers, ((), (), ())) for each in maps]
        try:
            if not ask(*fixed, budget=share):
                return True
        except NotQuasiAffineError:
            continue  # these numbers divide by zero; others may not
        except BudgetError:
            return False
    return False


def _choices(parameters: Sequence[Variable]) -> Iterator[Mapping[str, Form]]:
    """Different small numbers for all parameters."""
    names = [parameter.name for parameter in parameters]
    starts = [parameter.bounds.lower or 0 for parameter in parameters]
    ranges = [range(start, start + MAX_NUMBERS) for start in starts]
    for numbers in islice(product(*ranges), MAX_CHOICES):
        yield dict(zip(names, map(forms.constant, numbers), strict=True))
