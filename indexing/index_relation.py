"""Relations as sets of pairs: unions of maps, their algebra, and dependences between iterations.

A relation is kept as isl's, in the context of all sets that are kept; its maps are read off when
they are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from indexing.domain import Constraint, Domain, depths_of
from indexing.errors import MapError
from indexing.exact.index_set import IndexSet, SetNames
from indexing.exact.isl import readable, united_parts
from indexing.exact.questions import ExactRelation
from indexing.formats.isl import pairs_of, read_pieces
from indexing.relation import Emptiness, RelationT
from indexing.variable import Variable, check_parameter
from simplifier import forms
from simplifier.errors import check_type, quoted
from simplifier.exact import BUDGET, Budget, asked_of_kept, context_of, kept_context, load_isl
from simplifier.forms import EVERYTHING, Form, Interval
from simplifier.tools.display import Displayed

if TYPE_CHECKING:
    import islpy

MapT_co = TypeVar("MapT_co", bound=ExactRelation, covariant=True)

_OPERATORS: Final = {"|": "union", "&": "intersect", "-": "subtract"}
"""isl's names for the operators of sets."""


class IndexRelation(Displayed, Generic[MapT_co]):
    """A set of pairs of index tuples, such as the pairs of several maps together.

    ``|``, ``&`` and ``-`` of maps give one, and :func:`indexing.parse_relation` reads text. Two
    elements are related if some values of ranges and runtime variables relate them. A relation is
    an immutable value with the operators of Python's sets, and true if it relates anything. Each
    operation costs little more than isl's, and ends within seconds, with an answer or a
    ``BudgetError``.

    Args:
        maps: what they relate together; names of dimensions are those of the first.

    Raises:
        MapError: there is no map, or they have different numbers of dimensions or results.
        NotQuasiAffineError: a map multiplies variables, divides by one, or works on bits.

    >>> from indexing import IndexingMap, parse_map
    >>> low = parse_map("(d0) -> (d0 + 4), domain: d0 in [0, 3]")
    >>> high = parse_map("(d0) -> (d0 - 4), domain: d0 in [4, 7]")
    >>> halves = low | high
    >>> print(halves)
    (d0) -> (d0 + 4), domain: d0 in [0, 3] or (d0) -> (d0 - 4), domain: d0 in [4, 7]
    >>> print(halves - low)
    (d0) -> (d0 - 4), domain: d0 in [4, 7]
    >>> low <= halves, halves.inverse() == halves, halves @ halves <= IndexingMap.identity([8])
    (True, True, True)
    """

    __slots__ = ("_dims", "_map_type", "_maps", "_pairs")

    _pairs: islpy.Map
    _dims: tuple[str, ...]
    _map_type: type[MapT_co]
    _maps: tuple[MapT_co, ...] | None

    def __init__(self, *maps: MapT_co) -> None:
        for place, each in enumerate(maps):
            check_type(each, ExactRelation, f"IndexRelation: map {place}", "an IndexingMap")
        if not maps:
            raise MapError("IndexRelation: no map is given; expected one or more")
        first, *others = maps
        for other in others:
            _check_ranks("|", _ranks_of(first), _ranks_of(other))
        self._pairs = asked_of_kept(
            lambda context: united_parts([pairs_of(each, context) for each in maps])
        )
        self._dims = tuple(variable.given_name for variable in first.domain.dims)
        self._map_type = type(first)
        self._maps = maps if len(maps) == 1 else None

    @classmethod
    def of_isl(
        cls,
        pairs: islpy.Map,
        map_type: type[MapT_co],  # pyright: ignore[reportGeneralTypeIssues] - it makes values
        dims: Sequence[str] = (),
    ) -> IndexRelation[MapT_co]:
        """The relation of pairs in the context that is kept, whose maps are of a class."""
        made = cls.__new__(cls)
        made._pairs, made._dims = pairs, tuple(dims)  # noqa: SLF001 - of its own class
        made._map_type, made._maps = map_type, None  # noqa: SLF001
        return made

    # Its parts.

    @property
    def ranks(self) -> tuple[int, int]:
        """The numbers of dimensions and of results."""
        kinds = load_isl().dim_type
        return self._pairs.dim(kinds.in_), self._pairs.dim(kinds.out)

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the dimensions; one that was given none is called after its place."""
        given = self._dims or ("",) * self.ranks[0]
        return tuple(name or f"d{place}" for place, name in enumerate(given))

    @property
    def maps(self) -> tuple[MapT_co, ...]:
        """Maps that together relate the same; of a function, their domains are disjoint.

        A map that the relation was made of stays. Others are read off isl's pieces and simplified,
        which takes milliseconds each, and up to a second for dozens of pieces.
        """
        if self._maps is None:
            pieces = asked_of_kept(lambda _: [*read_pieces(self._pairs, self._dims)])
            made = (self._map_type.from_forms(each.forms, each.domain) for each in pieces)
            self._maps = tuple(sorted(made, key=_order))
        return self._maps

    @property
    def is_function(self) -> bool:
        """Whether no element is related to two others."""
        return asked_of_kept(lambda _: bool(self._pairs.is_single_valued()))

    @property
    def is_empty(self) -> Emptiness:
        """Whether nothing is related, as of sets and maps."""
        return Emptiness(self._is_empty)

    def _is_empty(self, *, budget: Budget) -> bool:
        return asked_of_kept(lambda _: bool(self._pairs.is_empty()), budget)

    def __bool__(self) -> bool:
        return not self.is_empty()

    def domain_set(self, *, budget: Budget = BUDGET) -> IndexSet:
        """The elements that are related to another.

        >>> from indexing import IndexRelation, parse_map
        >>> last = parse_map("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9]")
        >>> print(IndexRelation(last).to_earlier().domain_set())
        (d0): d0 in [1, 9]
        """
        return self._set(self._pairs.domain, budget, self._dims)

    def image(self, *, budget: Budget = BUDGET) -> IndexSet:
        """The elements that another is related to."""
        return self._set(self._pairs.range, budget)

    def distances(self, *, budget: Budget = BUDGET) -> IndexSet:
        """Distances from an element to those that it is related to.

        Raises:
            MapError: they have different numbers of coordinates.
        """
        self._check_square("distances")
        return self._set(self._pairs.deltas, budget)

    # Algebra.

    def __or__(self, other: IndexRelation[Any] | ExactRelation) -> IndexRelation[MapT_co]:
        return self._combined(other, "|")

    def __and__(self, other: IndexRelation[Any] | ExactRelation) -> IndexRelation[MapT_co]:
        return self._combined(other, "&")

    def __sub__(self, other: IndexRelation[Any] | ExactRelation) -> IndexRelation[MapT_co]:
        return self._combined(other, "-")

    __ror__, __rand__ = __or__, __and__

    def __rsub__(self, other: ExactRelation) -> IndexRelation[ExactRelation]:
        return IndexRelation(other) - self

    def _combined(self, other: object, sign: str) -> IndexRelation[MapT_co]:
        them = self._relation(other, sign)
        if them is None:
            return NotImplemented
        combine = getattr(self._pairs, _OPERATORS[sign])
        return self.made(lambda: combine(isl_of(them)).coalesce(), BUDGET, self._dims)

    def __le__(self, other: IndexRelation[Any] | ExactRelation) -> bool:
        them = self._relation(other, "<=")
        return NotImplemented if them is None else self._holds("is_subset", them)

    def __ge__(self, other: IndexRelation[Any] | ExactRelation) -> bool:
        them = self._relation(other, ">=")
        return NotImplemented if them is None else them._holds("is_subset", self)

    def __lt__(self, other: IndexRelation[Any] | ExactRelation) -> bool:
        them = self._relation(other, "<")
        return NotImplemented if them is None else self._holds("is_strict_subset", them)

    def __gt__(self, other: IndexRelation[Any] | ExactRelation) -> bool:
        them = self._relation(other, ">")
        return NotImplemented if them is None else them._holds("is_strict_subset", self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndexRelation):
            return NotImplemented
        them = cast("IndexRelation[Any]", other)
        return self.ranks == them.ranks and self._holds("is_equal", them)

    def __hash__(self) -> int:
        return hash(self.ranks)

    def _holds(self, question: str, other: IndexRelation[MapT_co]) -> bool:
        return asked_of_kept(lambda _: bool(getattr(self._pairs, question)(isl_of(other))))

    def inverse(self, *, budget: Budget = BUDGET) -> IndexRelation[MapT_co]:
        """The pairs the other way round.

        >>> from indexing import IndexRelation, parse_map
        >>> third = parse_map("(d0) -> (d0 floordiv 3), domain: d0 in [0, 8]")
        >>> print(IndexRelation(third).inverse())
        (d0)[s0] -> (d0 * 3 + s0), domain: d0 in [0, 2], s0 in [0, 2]
        """
        return self.made(self._pairs.reverse, budget)

    def __matmul__(self, consumer: IndexRelation[Any] | ExactRelation) -> IndexRelation[Any]:
        """``producer @ consumer``: the consumer runs first, as for maps."""
        given = _given(consumer)
        return NotImplemented if given is None else given.compose(self)

    def __rmatmul__(self, producer: ExactRelation) -> IndexRelation[MapT_co]:
        return self.compose(producer)

    def compose(
        self, producer: IndexRelation[Any] | ExactRelation, *, budget: Budget = BUDGET
    ) -> IndexRelation[MapT_co]:
        """The pairs with a path through the producer, from this relation's results.

        Raises:
            MapError: the producer does not begin at as many coordinates as this relation ends at.
        """
        given = _required(producer, "compose: the producer")
        if given.ranks[0] != self.ranks[1]:
            ranks = f"takes {given.ranks[0]} coordinates, the consumer gives {self.ranks[1]}"
            raise MapError(f"compose: the producer {ranks}; expected as many")
        chained = self._pairs.apply_range
        return self.made(lambda: chained(isl_of(given)).coalesce(), budget, self._dims)

    def apply(self, elements: IndexSet, *, budget: Budget = BUDGET) -> IndexSet:
        """The elements that those of a set are related to."""
        points = self._points(elements, 0, "apply")
        return self._set(lambda: points.apply(self._pairs), budget)

    def restrict(self, elements: IndexSet, *, budget: Budget = BUDGET) -> IndexRelation[MapT_co]:
        """The pairs that begin in a set."""
        points = self._points(elements, 0, "restrict")
        return self.made(lambda: self._pairs.intersect_domain(points), budget, self._dims)

    def restrict_results(
        self, elements: IndexSet, *, budget: Budget = BUDGET
    ) -> IndexRelation[MapT_co]:
        """The pairs that end in a set."""
        points = self._points(elements, 1, "restrict_results")
        return self.made(lambda: self._pairs.intersect_range(points), budget, self._dims)

    # Order.

    def lexmin(self, *, budget: Budget = BUDGET) -> IndexRelation[MapT_co]:
        """The lexicographically least element that each element is related to: a function.

        Raises:
            MapError: for some element there is no least one.

        >>> from indexing import IndexRelation, parse_map
        >>> window = parse_map("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 2]")
        >>> print(IndexRelation(window).lexmin())
        (d0) -> (d0 * 2), domain: d0 in [0, 9]
        """
        return self._extreme("lexmin", budget)

    def lexmax(self, *, budget: Budget = BUDGET) -> IndexRelation[MapT_co]:
        """The lexicographically greatest related element; see :meth:`lexmin`."""
        return self._extreme("lexmax", budget)

    def _extreme(self, question: str, budget: Budget) -> IndexRelation[MapT_co]:
        maps = self._maps or ()
        if len(maps) == 1 and not (maps[0].ranges or maps[0].runtime):
            return self  # it was made of one map, from each element to one
        isl = load_isl()
        try:
            return self.made(getattr(self._pairs, question), budget, self._dims)
        except isl.Error as error:
            if "unbounded" not in str(error):
                raise
            side = "least" if question == "lexmin" else "greatest"
            message = f"{question}: some element is related to others without a {side} one"
            raise MapError(f"{message}; expected bounded ones, see restrict_results()") from None

    def to_earlier(self, *, budget: Budget = BUDGET) -> IndexRelation[MapT_co]:
        """The pairs whose second element is lexicographically less than the first."""
        return self._ordered("lex_gt_set", "to_earlier", budget)

    def to_later(self, *, budget: Budget = BUDGET) -> IndexRelation[MapT_co]:
        """The pairs whose second element is lexicographically greater than the first.

        >>> from indexing import IndexRelation, parse_map
        >>> near = "(d0, d1)[s0] -> (d0 + s0, d1 - s0), "
        >>> near += "domain: d0 in [2, 9], d1 in [2, 9], s0 in [-1, 1]"
        >>> print(IndexRelation(parse_map(near)).to_later().distances())
        (d0, d1): d0 in [1, 1], d1 in [-1, -1]
        """
        return self._ordered("lex_lt_set", "to_later", budget)

    def _ordered(self, order: str, question: str, budget: Budget) -> IndexRelation[MapT_co]:
        self._check_square(question)

        def ordered() -> islpy.Map:
            space = self._pairs.domain().get_space()
            universe = load_isl().Set.universe(space)
            return self._pairs.intersect(getattr(universe, order)(universe)).coalesce()

        return self.made(ordered, budget, self._dims)

    # In other tools.

    def to_isl(self, context: islpy.Context | None = None) -> islpy.Map:
        """The pairs as isl's relation; see :meth:`IndexingMap.to_isl`."""
        isl = load_isl()
        text = asked_of_kept(lambda _: str(self._pairs))
        return isl.Map.read_from_str(context_of(context), text)

    def __reduce__(self) -> tuple[Callable[..., IndexRelation[Any]], tuple[object, ...]]:
        return _unpickled, self.maps

    def __str__(self) -> str:
        return " or ".join(map(str, self.maps))

    def __repr__(self) -> str:
        return f"IndexRelation({str(self)!r})"

    # Making others.

    def made(
        self, make: Callable[[], islpy.Map], budget: Budget, dims: tuple[str, ...] = ()
    ) -> IndexRelation[MapT_co]:
        """The relation that isl makes; its dimensions are called as these, or after their place."""
        found = asked_of_kept(lambda _: make(), budget)
        return self.of_isl(found, self._map_type, dims)

    def _set(
        self, make: Callable[[], islpy.Set], budget: Budget, names: tuple[str, ...] = ()
    ) -> IndexSet:
        found = asked_of_kept(lambda _: make().coalesce(), budget)
        kinds = load_isl().dim_type
        parameters = found.get_var_names(kinds.param)
        called = names or ("",) * found.dim(kinds.set)
        return IndexSet.made(SetNames(called, (), tuple(sorted(map(str, parameters)))), None, found)

    def _relation(self, other: object, sign: str) -> IndexRelation[Any] | None:
        """The other operand as a relation of the same ranks; ``None`` if it is none."""
        given = _given(other)
        if given is not None:
            _check_ranks(sign, self.ranks, given.ranks)
        return given

    def _points(self, elements: IndexSet, side: int, question: str) -> islpy.Set:
        _check_rank(elements, self.ranks[side], question)
        return asked_of_kept(elements.points_in)

    def _check_square(self, question: str) -> None:
        if len({*self.ranks}) > 1:
            counts = _counts(self.ranks)
            raise MapError(f"{question}: the relation has {counts}; expected as many")


def isl_of(relation: IndexRelation[MapT_co]) -> islpy.Map:
    """The pairs in the context that is kept."""
    return relation._pairs  # noqa: SLF001 - the only door for others


def _ranks_of(indexing_map: ExactRelation) -> tuple[int, int]:
    return len(indexing_map.dims), len(indexing_map.forms)


def _check_ranks(sign: str, *ranks: tuple[int, int]) -> None:
    if len({*ranks}) > 1:
        raise MapError(f"{sign}: {' against '.join(map(_counts, ranks))}; expected as many")


def _counts(ranks: tuple[int, int]) -> str:
    return f"{ranks[0]} dimensions and {ranks[1]} results"


def _given(other: object) -> IndexRelation[Any] | None:
    """A map or a relation as a relation."""
    if isinstance(other, ExactRelation):
        return IndexRelation(other)
    return cast("IndexRelation[Any]", other) if isinstance(other, IndexRelation) else None


def relation_of_text(map_type: type[MapT_co], text: str) -> IndexRelation[MapT_co]:
    """The relation of a text of isl; its dimensions are called as there."""
    with kept_context() as context:
        found = load_isl().Map.read_from_str(context, text)
    kinds = load_isl().dim_type
    for place, name in enumerate(found.get_var_names(kinds.param)):
        parameter = Variable(EVERYTHING, readable(name))
        check_parameter(parameter, f"parse_relation: parameter {place}")
    dims = [*map(readable, found.get_var_names(kinds.in_))]
    return IndexRelation[MapT_co].of_isl(found, map_type, dims)


def _unpickled(*maps: MapT_co) -> IndexRelation[MapT_co]:
    made = IndexRelation(*maps)
    made._maps = maps  # noqa: SLF001 - of its own class
    return made


def _order(indexing_map: ExactRelation) -> tuple[object, ...]:
    """Sorts maps by the bounds of their dimensions, then by their texts."""
    return [variable.bounds.ends for variable in indexing_map.dims], str(indexing_map)


# Dependences.


def flow_dependences(
    writes: IndexRelation[MapT_co] | MapT_co,
    reads: IndexRelation[MapT_co] | MapT_co,
    *,
    budget: Budget = BUDGET,
) -> IndexRelation[MapT_co]:
    """Relation from each iteration to the later ones that read a value that it wrote.

    ``writes`` and ``reads`` relate iterations, in the lexicographic order in which they run, to
    the elements that they write and read; an iteration reads before it writes. Each read depends on
    the last write before it, as in the exact data-flow analysis of Feautrier. Several statements
    share iterations with a coordinate that tells them apart.

    Raises:
        MapError: iterations or elements have different numbers of coordinates.

    >>> from indexing import flow_dependences, parse_map
    >>> prefix_sum = "domain: i in [1, 9]"
    >>> writes = parse_map(f"(i) -> (i), {prefix_sum}")
    >>> reads = parse_map(f"(i) -> (i - 1), {prefix_sum}") | writes
    >>> print(flow_dependences(writes, reads))
    (i) -> (i + 1), domain: i in [1, 8]
    """
    source = _required(writes, "flow_dependences: writes")
    sink = _required(reads, "flow_dependences: reads")
    if source.ranks != sink.ranks:
        accesses = f"writes have {_counts(source.ranks)}, reads {_counts(sink.ranks)}"
        raise MapError(f"flow_dependences: {accesses}; expected as many")
    return sink.made(
        lambda: _last_writes(isl_of(source), isl_of(sink)).reverse(), budget, sink.dims
    )


def _required(given: object, name: str) -> IndexRelation[Any]:
    found = _given(given)
    if found is None:
        expected = "expected an IndexingMap or an IndexRelation"
        raise MapError(f"{name} is {quoted(given)}; {expected}")
    return found


def _last_writes(writes: islpy.Map, reads: islpy.Map) -> islpy.Map:
    """The last iteration before each reading one that wrote the element that it reads."""
    reader, element = reads.domain_map(), reads.range_map()
    iterations = load_isl().Set.universe(reads.domain().get_space())
    earlier = reader.apply_range(iterations.lex_gt_set(iterations))
    last = element.apply_range(writes.reverse()).intersect(earlier).lexmax()
    return last.apply_domain(reader).coalesce()


# Maps and sets together: what a map makes of a set, a map on a part, and distances.


def applied(relation: ExactRelation, elements: IndexSet, budget: Budget) -> IndexSet:
    """The elements that are reached from those of a set: the union over its pieces."""
    _check(elements, len(relation.dims), "apply", "dimensions")
    dims = relation.domain.by_role_as_forms[0]
    images = [_on_pieces(relation, dims, [piece]).image(budget=budget) for piece in elements.pieces]
    nothing = IndexSet.made(SetNames(("",) * len(relation.forms)), ())
    return reduce(IndexSet.__or__, images) if images else nothing


def restricted(relation: RelationT, elements: IndexSet) -> RelationT:
    """The map on the dimensions that lie in a set."""
    _check(elements, len(relation.dims), "restrict", "dimensions")
    return _on_pieces(relation, relation.domain.by_role_as_forms[0], elements.pieces)


def with_results_in(relation: RelationT, elements: IndexSet) -> RelationT:
    """The map where it reaches elements of a set."""
    _check(elements, len(relation.forms), "restrict_results", "results")
    return _on_pieces(relation, relation.forms, elements.pieces)


def distances(relation: ExactRelation, budget: Budget) -> IndexSet:
    """Distances from the dimensions to the results."""
    dims = relation.domain.by_role_as_forms[0]
    if len(dims) != len(relation.forms):
        counts = f"{len(dims)} dimensions and {len(relation.forms)} results"
        raise MapError(f"distances: the map has {counts}; expected as many")
    apart = [result - dim for dim, result in zip(dims, relation.forms, strict=True)]
    return relation.derived(apart, relation.domain).image(budget=budget)


def _check_rank(elements: IndexSet, rank: int, question: str, why: str = "") -> None:
    check_type(elements, IndexSet, f"{question}: the set", "an IndexSet")
    if elements.rank != rank:
        message = f"{question}: the set has {elements.rank} coordinates"
        raise MapError(f"{message}; expected {rank}{why}")


def _check(elements: IndexSet, rank: int, question: str, of: str) -> None:
    _check_rank(elements, rank, question, f", one for each of the map's {of}")
    if elements.hull.runtime:
        raise MapError(f"{question}: the set depends on runtime variables; expected numbers")


def _on_pieces(
    relation: RelationT, coordinates: Sequence[Form], pieces: Sequence[Domain]
) -> RelationT:
    """The map where some forms are coordinates of an element of one of the pieces."""
    if not pieces:
        return relation.derived(relation.forms, relation.domain.emptied())
    parameters = [each.within(EVERYTHING) for piece in pieces for each in piece.parameters]
    domain = relation.domain.with_parameters(parameters) if parameters else relation.domain
    limits = [[*_limits(piece, coordinates)] for piece in pieces]
    if len(limits) == 1:
        return relation.derived(relation.forms, domain.constrained(limits[0]))
    depth = forms.maximum(forms.minimum((forms.ZERO, *depths_of(each))) for each in limits)
    return relation.derived(relation.forms, domain.constrained([(depth, Interval(0, None))]))


def _limits(piece: Domain, coordinates: Sequence[Form]) -> Iterator[Constraint]:
    """The limits of a piece, with forms for its coordinates."""
    values = dict(zip(piece.identifiers, coordinates, strict=False))
    for form, interval in piece.limits():
        yield forms.substitute((form,), values)[0], interval
