"""The plain value behind a map: results on a domain, and copies of it.

Algorithms take this value and give it back. They make copies of its own class, so of a map they
make maps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Self, TypeVar

from indexing.domain import Domain
from indexing.errors import MapError
from indexing.variable import Variable
from simplifier.errors import listed, quoted
from simplifier.exact import BUDGET, Budget
from simplifier.forms import ZERO, Atom, Form, fold


class Relation:
    """Pairs of elements: ``dims`` of one tensor and results that index another, on a domain.

    A relation is an immutable value: equal to one with the same results and domain, hashable,
    picklable. One that is known to have no point is stored as the empty relation: every bound is
    ``[0, -1]``, every result 0.
    """

    __slots__ = ("_domain", "_forms", "_hash", "_simplest")

    _domain: Domain
    _forms: tuple[Form, ...]
    _hash: int | None
    _simplest: Self | None

    @classmethod
    def from_forms(cls, forms: Iterable[Form], domain: Domain) -> Self:
        """The relation with results over the identifiers ``d0 ... s0 ... rt0 ...``, unchecked."""
        made = super().__new__(cls)
        made._set(tuple(forms), domain)
        return made

    def _set(self, forms: tuple[Form, ...], domain: Domain) -> None:
        if domain.is_known_empty:
            forms, domain = (ZERO,) * len(forms), domain.emptied()
        self._forms = forms
        self._domain = domain
        self._hash = None
        self._simplest = None

    def derived(self, forms: Iterable[Form], domain: Domain) -> Self:
        """A relation of the same class with other results and another domain."""
        return type(self).from_forms(forms, domain)

    @property
    def forms(self) -> tuple[Form, ...]:
        """The results as forms over the identifiers ``d0 ... s0 ... rt0 ...``."""
        return self._forms

    @property
    def domain(self) -> Domain:
        """Variables, bounds and constraints as the library keeps them."""
        return self._domain

    @property
    def dims(self) -> tuple[Variable, ...]:
        """One variable for each dimension of the tensor that the map comes from."""
        return self.domain.called[0]

    @property
    def ranges(self) -> tuple[Variable, ...]:
        """Variables that run over all their values."""
        return self.domain.called[1]

    @property
    def runtime(self) -> tuple[Variable, ...]:
        """Variables known only while the program runs."""
        return self.domain.called[2]

    @property
    def parameters(self) -> tuple[Variable, ...]:
        """Variables that maps share by name, such as a size ``N``; sorted by name."""
        return self.domain.parameters

    @property
    def is_known_empty(self) -> bool:
        """Whether the map is known to have no point; an empty map need not be known as such."""
        return self.domain.is_known_empty

    @property
    def is_undefined(self) -> bool:
        """Whether there is no map, only the reason why: an :class:`indexing.UndefinedMap`."""
        return False

    def in_simplest_form(self, simplify: Callable[[Self], Self]) -> Self:
        """``simplify(self)``, computed once; the simplest form is its own simplest form."""
        if self._simplest is None:
            simplest = simplify(self)
            self._simplest = simplest._simplest = simplest  # noqa: SLF001 - of its own class
        return self._simplest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Relation):
            return NotImplemented
        return self is other or (self._forms == other._forms and self._domain == other._domain)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self._forms, self._domain.variables, self._domain.constraints))
        return self._hash

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[object, ...]]:
        return type(self).from_forms, (self.forms, self.domain)


RelationT = TypeVar("RelationT", bound=Relation)
"""A class of relations: what an algorithm is given, it gives back."""


def check_without_parameters(relation: Relation, question: str) -> None:
    """Raise a :class:`MapError` if the answer to a question depends on parameters."""
    if relation.parameters:
        named = listed([parameter.name for parameter in relation.parameters])
        expected = "expected numbers for all parameters, see substitute()"
        raise MapError(f"{question}: the map has the parameters {named}; {expected}")


def check_map(given: object, where: str) -> None:
    """Raise a :class:`MapError` that names the argument, unless a map is given."""
    if not isinstance(given, Relation):
        raise MapError(f"{where} is {quoted(given)}; expected an IndexingMap")


# How long the formulas of a map are.


def formulas(indexing_map: Relation) -> Iterator[Form]:
    """The results, then the forms of the constraints."""
    yield from indexing_map.forms
    yield from (form for form, _ in indexing_map.domain.constraints)


def terms_in(form: Form) -> int:
    """The number of terms as the form is written, with those inside of operations.

    >>> from simplifier.forms import parse_form
    >>> terms_in(parse_form("(d0 + d1) floordiv 4 + ((d0 + d1) mod 4) * 8"))
    6
    """
    if form.is_affine:
        return len(form.terms)  # as most are

    def of_atom(_: Atom, arguments: tuple[int, ...]) -> int:
        return 1 + sum(arguments)

    def of_form(form: Form, known: Mapping[Atom, int]) -> int:
        return sum(known[atom] for atom in form.terms)

    return of_form(form, fold((form,), of_atom, of_form))


def longest_formula(indexing_map: Relation) -> int:
    """The number of terms of the longest result or constraint, counted as by :func:`terms_in`.

    >>> from indexing import parse_map
    >>> longest_formula(parse_map("(d0) -> (d0, (d0 * 3 + 1) floordiv 2), domain: d0 in [0, 9]"))
    2
    """
    return max(map(terms_in, formulas(indexing_map)), default=0)


def weight(indexing_map: Relation) -> int:
    """The number of terms that are looked at together when a map is simplified.

    Results are simplified one by one, so the longest counts. Constraints are compared with each
    other, so all of them count.

    >>> from indexing import parse_map
    >>> weight(parse_map("(d0)[s0] -> (d0, d0 + s0), domain: d0 in [0, 9], s0 in [0, 1]"))
    2
    >>> weight(parse_map("(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 9], d0 + s0 in [2, 9]"))
    3
    """
    constraints = (terms_in(form) for form, _ in indexing_map.domain.constraints)
    return max(map(terms_in, indexing_map.forms), default=0) + sum(constraints)


# Whether a set or map is empty: a question that can be asked with and without parentheses.


class Emptiness:
    """The answer to ``x.is_empty`` and to ``x.is_empty()``: both are found when they are needed.

    A plain property could not take a budget, and a plain method is true wherever its parentheses
    are forgotten: ``if x.is_empty:``.

    >>> from indexing import IndexSet
    >>> nothing = IndexSet.box((5, 4))
    >>> nothing.is_empty
    True
    >>> nothing.is_empty(), bool(nothing.is_empty), bool(nothing)
    (True, True, False)
    """

    __slots__ = ("_ask",)

    def __init__(self, ask: Callable[..., bool]) -> None:
        self._ask = ask

    def __call__(self, *, budget: Budget = BUDGET) -> bool:
        """The answer within a budget."""
        return self._ask(budget=budget)

    def __bool__(self) -> bool:
        return self()

    def __eq__(self, other: object) -> bool:
        return self() == bool(other) if isinstance(other, bool | Emptiness) else NotImplemented

    def __hash__(self) -> int:
        return hash(self())

    def __repr__(self) -> str:
        return repr(self())
