"""A few numbers for parameters, where a question is not quasi-affine: they may refute it.

What is asked about each value of the parameters is not so if it is not so for one of them. With
numbers for ``M`` and ``N``, ``d0*M + d1`` is affine, and isl answers.
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Final

from indexing.errors import MapError
from indexing.transform.substitute import substitute
from simplifier.exact import NotQuasiAffineError
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from indexing.relation import RelationT
    from indexing.variable import Variable
    from simplifier.expr.form import Form

MAX_NUMBERS: Final = 3
"""How many numbers each parameter gets, the least of its range first: 0, 1 and 2 tell most."""

MAX_CHOICES: Final = 27
"""How many choices of numbers for all parameters are tried: milliseconds each."""


def is_refuted(maps: Sequence[RelationT], ask: Callable[..., bool]) -> bool:
    """Whether a question about maps of the same parameters has the answer no for some numbers.

    >>> from indexing import parse_map
    >>> given = "(d0)<M> -> (d0 * M), domain: d0 in [0, 9], M in "
    >>> [is_refuted([parse_map(given + bounds)], lambda each: each.is_injective())
    ...  for bounds in ("[0, inf]", "[1, inf]")]
    [True, False]
    """
    for numbers in _choices(maps[0].parameters):
        fixed = [substitute(each, numbers, ((), (), ())) for each in maps]
        try:
            if not ask(*fixed):
                return True
        except NotQuasiAffineError:
            return False  # nor with other numbers
        except MapError:
            continue  # undefined: these numbers divide by zero
    return False


def _choices(parameters: Sequence[Variable]) -> Iterator[Mapping[str, Form]]:
    """Different small numbers for all parameters."""
    names = [parameter.name for parameter in parameters]
    starts = [parameter.bounds.lower or 0 for parameter in parameters]
    ranges = [range(start, start + MAX_NUMBERS) for start in starts]
    for numbers in islice(product(*ranges), MAX_CHOICES):
        yield dict(zip(names, map(forms.constant, numbers), strict=True))
