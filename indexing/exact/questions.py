"""A relation that answers questions about itself exactly, by isl; and differences of two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from itertools import islice, product
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from indexing.domain import Domain
from indexing.errors import MapError
from indexing.exact import counting, few_points, isl
from indexing.exact.boxes import Box, box_set, box_size, whole
from indexing.exact.index_set import IndexSet, read_set, set_of_rows
from indexing.exact.symbolic import symbolic_count, tells_points
from indexing.relation import Emptiness, Relation, RelationT, check_map, check_without_parameters
from indexing.simplify import simplified
from indexing.transform.evaluate import Point
from indexing.transform.substitute import substitute
from indexing.validation import ByName, read_names
from indexing.variable import Variable
from simplifier import forms
from simplifier.errors import check_integers, check_type
from simplifier.exact import BUDGET, Budget, BudgetError, NotQuasiAffineError, asked, load_isl
from simplifier.forms import EVERYTHING, Form, Interval, IntervalLike
from simplifier.tools.late import sympy

if TYPE_CHECKING:
    import islpy


class ExactRelation(Relation):
    """A relation with questions that isl answers exactly.

    Two elements are related if some values of ranges and runtime variables within the domain relate
    them. A question is about each value of the parameters separately, and with
    ``runtime_as_parameters`` also about each value of the runtime variables.

    Each question raises

    * :class:`NotQuasiAffineError <simplifier.NotQuasiAffineError>`, naming the term, if an
      expression multiplies variables, divides by one or works on bits, and there are more than a
      million points, or as many as there is time for: fewer are gone through;
    * :class:`BudgetError <simplifier.BudgetError>` if the answer takes more than its ``budget``, a
      number of isl's operations or a ``timedelta``; the default is seconds, ``None`` is no limit;
    * :class:`MapError <indexing.MapError>` if the map is undefined, or the answer is a number, a
      point or about sizes, and depends on parameters.
    """

    __slots__ = ()

    @property
    def is_empty(self) -> Emptiness:
        """Whether the map has no point: ``m.is_empty`` and ``m.is_empty()`` ask the same.

        Costs one integer programme over the variables: milliseconds for everyday maps.

        >>> from indexing import parse_map
        >>> odd = "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 4 in [1, 1], d0 mod 6 in [0, 0]"
        >>> parse_map(odd).is_empty()
        True
        """
        return Emptiness(self._is_empty)

    def _is_empty(self, *, budget: Budget) -> bool:
        return self.domain.is_known_empty or _IS_EMPTY.ask([self], budget)

    def __bool__(self) -> bool:
        return not self.is_empty()

    def equals(
        self, other: Relation, *, budget: Budget = BUDGET, runtime_as_parameters: bool = False
    ) -> bool:
        """Whether both maps relate the same elements to each other.

        Names and numbers of ranges and runtime variables do not matter; as parameters, runtime
        variables are compared in order. Costs milliseconds for everyday maps; in the worst case the
        time grows exponentially with the number of ranges, quotients and extrema.

        >>> from indexing import parse_map
        >>> pairs = "()[s0, s1] -> (s0 * 2 + s1), domain: s0 in [0, 3], s1 in [0, 1]"
        >>> parse_map(pairs).equals(parse_map("()[s0] -> (s0), domain: s0 in [0, 7]"))
        True
        """
        return _ARE_EQUAL.compared(self, other, budget, is_fixed=runtime_as_parameters)

    def is_subset(
        self, other: Relation, *, budget: Budget = BUDGET, runtime_as_parameters: bool = False
    ) -> bool:
        """Whether all elements that this map relates are related by the other one.

        Costs about what :meth:`equals` does.

        >>> from indexing import parse_map
        >>> even = parse_map("()[s0] -> (s0 * 2), domain: s0 in [0, 3]")
        >>> even.is_subset(parse_map("()[s0] -> (s0), domain: s0 in [0, 6]"))
        True
        """
        return _IS_SUBSET.compared(self, other, budget, is_fixed=runtime_as_parameters)

    def first_difference(
        self, other: Relation, *, budget: Budget = BUDGET, runtime_as_parameters: bool = False
    ) -> Difference | None:
        """The first point at which both maps reach different elements; ``None`` if they are equal.

        Costs :meth:`equals` twice, and an integer programme for each dimension.

        Raises:
            MapError: the maps have different numbers of dimensions or results, or of parameters.

        >>> from indexing import parse_map
        >>> short = parse_map("(d0) -> (d0), domain: d0 in [0, 6]")
        >>> print(short.first_difference(parse_map("(d0) -> (d0), domain: d0 in [0, 7]")))
        at (7): only the second map is defined; it gives (7)
        """
        return first_difference(
            self, other, budget=budget, runtime_as_parameters=runtime_as_parameters
        )

    def image(
        self,
        dims: Sequence[IntervalLike] | ByName[IntervalLike] | None = None,
        *,
        budget: Budget = BUDGET,
        runtime_as_parameters: bool = False,
    ) -> IndexSet:
        """The elements that are reached from all ``dims``, or from those in the given intervals.

        Intervals are those of all dimensions, or of some by name.

        The set is a few boxes of strided intervals if it can be, else constraints. Costs
        milliseconds for everyday maps, and as much again for each box; up to a second for quotients
        of sums of quotients.

        Raises:
            MapError: the number of intervals is not that of the dimensions.

        >>> from indexing import parse_map
        >>> strided = parse_map("(d0)[s0] -> (d0 * 8 + s0 * 2), domain: d0 in [0, 9], s0 in [0, 3]")
        >>> print(strided.image())
        (d0): d0 in [0, 78] step 2
        >>> print(strided.image([(2, 3)]))
        (d0): d0 in [16, 30] step 2
        >>> strided.image({"d0": (2, 3)}) == strided.image([(2, 3)])
        True
        """
        domain = self.domain if dims is None else _restricted(self.domain, dims)
        relation = self.derived(self.forms, domain)
        return _set_of_values(relation, (), budget, is_fixed=runtime_as_parameters)

    def domain_set(
        self, *, budget: Budget = BUDGET, runtime_as_parameters: bool = False
    ) -> IndexSet:
        """The ``dims`` from which some element is reached.

        Costs what :meth:`image` does.

        >>> from indexing import parse_map
        >>> padded = "(d0) -> (d0 - 3), domain: d0 in [0, 9], d0 - 3 in [0, 4]"
        >>> print(parse_map(padded).domain_set())
        (d0): d0 in [3, 7]
        """
        names, *_ = self.domain.by_role(self.domain.names)
        dims, *_ = self.domain.by_role_as_forms
        relation = self.derived(dims, self.domain)
        return _set_of_values(relation, names, budget, is_fixed=runtime_as_parameters)

    def count(self, *, budget: Budget = BUDGET) -> int | sympy.Expr:
        """The number of points of the domain: of dimensions, ranges and runtime variables.

        Costs milliseconds for any number of points if at most two variables or quotients depend on
        each other; of more, the thinnest is gone through value by value.

        Of a map with parameters it is an expression over them, which holds for all values within
        their bounds; an integer, if it is the same for all. There is one where each variable has
        one end on each side, or is every n-th integer.

        Raises:
            MapError: a variable is not bounded, or there is no such expression.

        >>> from indexing import parse_map
        >>> half = "(d0, d1) -> (), domain: d0 in [0, 999999], d1 in [0, inf], d0 - d1 in [0, inf]"
        >>> parse_map(half).count()
        500000500000
        >>> rows = "(d0, d1)<N> -> (), domain: d0 in [0, N - 1], d1 in [0, 7], N in [0, inf]"
        >>> parse_map(rows).count()
        8*N
        """
        if self.parameters:
            return symbolic_count([self.domain], self.parameters)
        return counting.number_of_points(self, budget)

    def count_results(self, *, budget: Budget = BUDGET) -> int | sympy.Expr:
        """The number of different elements that are reached; an expression, as :meth:`count` gives.

        Costs an :meth:`image` and a :meth:`count` of its elements.

        Raises:
            MapError: a result is not bounded, or there is no expression over the parameters.

        >>> from indexing import parse_map
        >>> windows = "(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 999999], s0 in [0, 2]"
        >>> parse_map(windows).count(), parse_map(windows).count_results()
        (3000000, 2000001)
        """
        if not self.parameters:
            return counting.number_of_results([self], budget)
        return count_reached([self], len(self.forms), self.parameters, budget)

    def is_injective(self, *, budget: Budget = BUDGET, runtime_as_parameters: bool = False) -> bool:
        """Whether no element is reached from two points of dimensions and ranges.

        Each value of a range is a point of its own, even if the range is not used. Costs a
        comparison of the map with itself: milliseconds for everyday maps.

        >>> from indexing import parse_map
        >>> slices = parse_map("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 92]")
        >>> slices.is_injective(), slices.is_injective(runtime_as_parameters=True)
        (False, True)
        """
        asked_of = isl.telling_runtime(self) if runtime_as_parameters else self
        return _IS_INJECTIVE.settled([asked_of], budget, lambda: tells_points(self))

    def covers(
        self, sizes: Sequence[int], *, budget: Budget = BUDGET, runtime_as_parameters: bool = False
    ) -> bool:
        """Whether every element of a tensor of these sizes is reached; others may be reached, too.

        Costs an :meth:`image` and a comparison.

        Raises:
            MapError: the number of sizes is not that of the results.

        >>> from indexing import parse_map
        >>> windows = parse_map("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 4], s0 in [0, 2]")
        >>> windows.covers([11]), windows.covers([12])
        (True, False)
        """
        return _COVERS.of_tensor(self, sizes, budget, is_fixed=runtime_as_parameters)

    def is_bijective_onto(
        self, sizes: Sequence[int], *, budget: Budget = BUDGET, runtime_as_parameters: bool = False
    ) -> bool:
        """Whether every element of a tensor of these sizes is reached once, and no other element.

        A kernel must write its output so: the map :meth:`is_injective`, and its :meth:`image` is
        the tensor. Costs both questions.

        Raises:
            MapError: the number of sizes is not that of the results.

        >>> from indexing import parse_map
        >>> blocks = parse_map("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 31], s0 in [0, 3]")
        >>> blocks.is_bijective_onto([128])
        True
        """
        return _IS_BIJECTIVE_ONTO.of_tensor(self, sizes, budget, is_fixed=runtime_as_parameters)

    def sample(self, *, budget: Budget = BUDGET) -> Point | None:
        """The first point of the domain with its results; ``None`` if there is none.

        A point is ``(dims, ranges, runtime, results)``. Along a variable without lower bound, 0
        comes first and the negative values last. Costs an integer programme for each variable. Only
        the constraints must be quasi-affine.

        >>> from indexing import parse_map
        >>> odd = "(d0)[s0] -> (d0 * s0), domain: d0 in [2, 9], s0 in [0, 3], d0 + s0 in [4, 4]"
        >>> parse_map(odd).sample()
        ((2,), (2,), (), (4,))
        """
        check_without_parameters(self, "sample")
        domain = self.domain

        def ask(context: islpy.Context) -> tuple[tuple[int, ...] | None]:
            points = isl.points_of(self, context)
            return (None if points.is_empty() else isl.first_point(points),)

        (values,) = asked(ask, budget, otherwise=lambda most: few_points.first_point(self, most))
        if values is None:
            return None
        constants = dict(zip(domain.identifiers, map(forms.constant, values), strict=True))
        results = forms.substitute(self.forms, constants)
        return (*domain.by_role(values), tuple(map(_value, results)))


class _ExactQuestion(NamedTuple):
    """A question about relations, and maybe a box: how isl answers it, and how few points do."""

    name: str
    of_isl: Callable[..., bool]
    """Takes the context of isl, and what the question is about."""
    of_points: Callable[..., bool | None]
    """Takes what the question is about, and how many points there is time for."""

    def ask(self, relations: Sequence[Relation], budget: Budget, *about: Box) -> bool:
        """The answer."""
        return asked(
            lambda context: bool(self.of_isl(context, *relations, *about)),
            budget,
            otherwise=lambda most: self.of_points(*relations, *about, most),
        )

    def settled(
        self, relations: Sequence[Relation], budget: Budget, is_seen: Callable[[], bool]
    ) -> bool:
        """The answer; where isl has none, a law may show that it is yes, or numbers that it is no.

        The relations have the same parameters.
        """
        try:
            return self.ask(relations, budget)
        except NotQuasiAffineError:
            if is_seen():
                return True
            if relations[0].parameters and is_refuted(relations, self.ask, budget):
                return False
            raise

    def compared(self, left: Relation, right: Relation, budget: Budget, *, is_fixed: bool) -> bool:
        """The answer about two relations; no if they have different numbers of coordinates."""
        check_map(right, f"{self.name}: the other map")
        if left == right:
            return True
        if not are_comparable(left, right, runtime_as_parameters=is_fixed):
            return False
        both = with_same_parameters((left, right))
        told = [isl.telling_runtime(each) for each in both] if is_fixed else both
        return self.settled(told, budget, lambda: simplified(both[0]) == simplified(both[1]))

    def of_tensor(
        self, relation: Relation, sizes: Sequence[int], budget: Budget, *, is_fixed: bool
    ) -> bool:
        """The answer about a relation and a tensor of these sizes, for each value that is fixed."""
        check_without_parameters(relation, self.name)
        check_integers(sizes, f"{self.name}: sizes")
        if len(sizes) != len(relation.forms):
            expected = f"expected {len(relation.forms)}, one for each result"
            raise MapError(f"sizes: {len(sizes)} are given; {expected}")
        box = [Interval(0, size - 1) for size in sizes]
        if is_fixed:
            box += [variable.bounds for variable in relation.domain.runtime]
            relation = isl.telling_runtime(relation)
        return self.ask([relation], budget, tuple(map(whole, box)))


def _is_empty(context: islpy.Context, relation: Relation) -> bool:
    return isl.points_of(relation, context).is_empty()


def _is_injective(context: islpy.Context, relation: Relation) -> bool:
    return isl.accesses_of(relation, context).is_injective()


def _is_subset(context: islpy.Context, left: Relation, right: Relation) -> bool:
    return isl.relation_of(left, context).is_subset(isl.relation_of(right, context))


def _is_equal(context: islpy.Context, left: Relation, right: Relation) -> bool:
    return isl.relation_of(left, context).is_equal(isl.relation_of(right, context))


def _covers(context: islpy.Context, relation: Relation, box: Box) -> bool:
    return box_set(box, context).is_subset(isl.image_of(relation, context))


def _is_bijective(context: islpy.Context, relation: Relation, box: Box) -> bool:
    accesses, tensor = isl.accesses_of(relation, context), box_set(box, context)
    image = accesses.range()
    if not image.is_subset(tensor) or not accesses.is_injective():
        return False
    if relation.domain.runtime:
        return tensor.is_subset(image)
    # As many elements as points: to count these is far less work than to compare the sets.
    return counting.count_points(isl.points_of(relation, context)) == box_size(box)


_IS_EMPTY: Final = _ExactQuestion("is_empty", _is_empty, few_points.is_empty)
_ARE_EQUAL: Final = _ExactQuestion("equals", _is_equal, few_points.is_equal)
_IS_SUBSET: Final = _ExactQuestion("is_subset", _is_subset, few_points.is_subset)
_IS_INJECTIVE: Final = _ExactQuestion("is_injective", _is_injective, few_points.is_injective)
_COVERS: Final = _ExactQuestion("covers", _covers, few_points.covers)
_IS_BIJECTIVE_ONTO: Final = _ExactQuestion(
    "is_bijective_onto", _is_bijective, few_points.is_bijective_onto
)


def _set_of_values(
    relation: Relation, names: Sequence[str], budget: Budget, *, is_fixed: bool
) -> IndexSet:
    """The values of the results, with these names; fixed variables and parameters follow."""
    *_, runtime = relation.domain.by_role(relation.domain.names)
    followed = runtime if is_fixed else ()
    told = isl.telling_runtime(relation) if is_fixed else relation
    parameters = [parameter.name for parameter in relation.domain.parameters]

    def read(context: islpy.Context) -> IndexSet:
        return read_set(isl.image_of(told, context), names, followed, parameters, budget=budget)

    def listed(most: int) -> IndexSet | None:
        if followed or parameters:
            return None
        return set_of_rows(few_points.elements(relation, relation.forms, most), names)

    return asked(read, budget, otherwise=listed)


def _restricted(domain: Domain, dims: Sequence[IntervalLike] | ByName[IntervalLike]) -> Domain:
    """The domain with each dimension, or some, within an interval."""
    if isinstance(dims, Mapping):
        return domain.constrained(
            (forms.variable(domain.identifier_of(name, "image")), Interval.of(within))
            for name, within in read_names(dims, "image: dims").items()
        )
    check_type(dims, Sized, "image: dims", f"{len(domain.dims)} integers")
    if len(dims) != len(domain.dims):
        raise MapError(f"image: dims has {len(dims)} intervals; expected {len(domain.dims)}")
    variables = map(forms.variable, domain.identifiers)
    return domain.constrained(zip(variables, map(Interval.of, dims), strict=False))


def _value(result: Form) -> int:
    if not result.is_constant:
        raise MapError(f"sample: {result} has no value; expected divisions by other than zero")
    return result.constant


# A few numbers for parameters, where a question is not quasi-affine: they may refute it.
#
# What is asked about each value of the parameters is not so if it is not so for one of them. With
# numbers for `M` and `N`, `d0*M + d1` is affine, and isl answers.

MAX_NUMBERS: Final = 3
"""How many numbers each parameter gets, the least of its range first: 0, 1 and 2 tell most."""

MAX_CHOICES: Final = 27
"""How many choices of numbers for all parameters are tried: milliseconds each."""


def is_refuted(
    maps: Sequence[RelationT],
    ask: Callable[[Sequence[RelationT], Budget], bool],
    budget: Budget = BUDGET,
) -> bool:
    """Whether a question about maps of the same parameters has the answer no for some numbers.

    ``ask`` takes the maps with numbers and a budget: all choices together end within a time.

    >>> from indexing import parse_map
    >>> given = "(d0)<M> -> (d0 * M), domain: d0 in [0, 9], M in "
    >>> [is_refuted([parse_map(given + bounds)], lambda maps, _: maps[0].is_injective())
    ...  for bounds in ("[0, inf]", "[1, inf]")]
    [True, False]
    """
    share = budget / MAX_CHOICES if isinstance(budget, timedelta) else budget
    for numbers in _choices(maps[0].parameters):
        fixed = [substitute(each, numbers, ((), (), ())) for each in maps]
        try:
            if not ask(fixed, share):
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


# Differences of two maps: the first point, and the elements that one of them reaches.


@dataclass(frozen=True, slots=True)
class Difference:
    """The first point at which two maps reach different elements, as a witness that they differ.

    Attributes:
        dims: the values of the dimensions there.
        runtime: the values of the runtime variables there, if these are parameters.
        left: everything that the first map reaches from there; empty where it is not defined.
        right: everything that the second map reaches.
        element: the first element that only one of them reaches.
        parameters: the values of the parameters there, with their names.

    >>> from indexing import first_difference, parse_map
    >>> rounds = parse_map("(d0) -> (d0 floordiv 4), domain: d0 in [0, 9]")
    >>> print(first_difference(rounds, parse_map("(d0) -> (d0 ceildiv 4), domain: d0 in [0, 9]")))
    at (1): the first map gives (0), the second (1)
    """

    dims: tuple[int, ...]
    runtime: tuple[int, ...]
    left: IndexSet
    right: IndexSet
    element: tuple[int, ...]
    parameters: tuple[tuple[str, int], ...] = ()

    @property
    def kind(self) -> Literal["domain", "value"]:
        """Whether only one of the maps is defined at the point, or both with different results."""
        return "domain" if self.left.is_empty or self.right.is_empty else "value"

    def __str__(self) -> str:
        runtime = f" {{{_joined(self.runtime)}}}" if self.runtime else ""
        named = ", ".join(f"{name} = {value}" for name, value in self.parameters)
        where = f"({_joined(self.dims)}){runtime}{named and f' with {named}'}"
        return f"at {where}: {self._sides()}"

    def _sides(self) -> str:
        if self.kind == "domain":
            only, given = ("first", self.left) if self.right.is_empty else ("second", self.right)
            return f"only the {only} map is defined; it gives {_text_of(given)}"
        return f"the first map gives {_text_of(self.left)}, the second {_text_of(self.right)}"


def first_difference(
    left: Relation, right: Relation, *, budget: Budget = BUDGET, runtime_as_parameters: bool = False
) -> Difference | None:
    """The lexicographically first point at which two maps reach different elements.

    ``None`` where the maps are :meth:`equal <indexing.map.IndexingMap.equals>`. Along a dimension
    that goes down without end, 0 comes first and the negative values last.

    Raises:
        MapError: the maps have different numbers of dimensions or results, or of parameters.
        NotQuasiAffineError: an expression multiplies variables or divides by one.
        BudgetError: the answer takes more than the budget.
    """
    check_map(left, "first_difference: the map")
    check_map(right, "first_difference: the other map")
    if left == right:
        return None
    if not are_comparable(left, right, runtime_as_parameters=runtime_as_parameters):
        message = f"first_difference: {_arity(left)} against {_arity(right)}; expected as many"
        raise MapError(message)

    one, two = with_same_parameters((left, right))

    def ask(context: islpy.Context) -> Difference | None:
        mine, others = (
            isl.relation_at_runtime(each, context, runtime_as_parameters=runtime_as_parameters)
            for each in (one, two)
        )
        only_one = mine.subtract(others).union(others.subtract(mine))
        if only_one.is_empty():
            return None
        point = isl.first_point(only_one.domain())
        element = isl.first_point(_reached(only_one, point))
        reached = [_reached(side, point) for side in (mine, others)]
        dims, named = len(left.domain.dims), one.parameters
        here, there = (read_set(points, budget=budget) for points in reached)
        values = len(point) - len(named)
        parameters = zip((each.name for each in named), point[values:], strict=True)
        return Difference(point[:dims], point[dims:values], here, there, element, (*parameters,))

    return asked(ask, budget)


def are_comparable(left: Relation, right: Relation, *, runtime_as_parameters: bool) -> bool:
    """Whether the maps have as many dimensions and results, and parameters if these count."""
    here, there = (
        (len(side.domain.dims), len(side.forms), runtime_as_parameters * len(side.domain.runtime))
        for side in (left, right)
    )
    return here == there


def with_same_parameters(maps: Sequence[RelationT]) -> Sequence[RelationT]:
    """The maps with the parameters of all: a map holds for every value of one it has not."""
    if len({each.parameters for each in maps}) <= 1:
        return maps
    every = [parameter.within(EVERYTHING) for each in maps for parameter in each.parameters]
    return [each.derived(each.forms, each.domain.with_parameters(every)) for each in maps]


def _reached(relation: islpy.Map, point: tuple[int, ...]) -> islpy.Set:
    """The elements related to a point."""
    where = isl.point_set(point, relation.domain().get_space())
    return relation.intersect_domain(where).range()


def _arity(indexing_map: Relation) -> str:
    domain = indexing_map.domain
    runtime = f"{len(domain.runtime)} runtime variables"
    return f"{len(domain.dims)} dimensions, {len(indexing_map.forms)} results and {runtime}"


def _joined(values: tuple[int, ...]) -> str:
    return ", ".join(map(str, values))


def _text_of(elements: IndexSet) -> str:
    """The only element, or the set."""
    is_lone = all(bounds.is_point for bounds in elements.bounds)
    return f"({_joined(next(iter(elements)))})" if is_lone else str(elements)


# The elements that maps reach, how many they are, and those that are reached again.


def reached(maps: Iterable[Relation], rank: int, *, budget: Budget = BUDGET) -> IndexSet:
    """The elements of a tensor of this rank that one of the maps reaches.

    They depend on the parameters of the maps.

    >>> from indexing import parse_map
    >>> ends = [f"(d0) -> (d0 + {start}), domain: d0 in [0, 3]" for start in (0, 6)]
    >>> print(reached(map(parse_map, ends), 1))
    (d0): d0 in [0, 3] or d0 in [6, 9]
    """
    given = with_same_parameters([*maps])
    names = [parameter.name for each in given[:1] for parameter in each.parameters]

    def ask(context: islpy.Context) -> IndexSet:
        images = (isl.image_of(each, context) for each in given)
        found = reduce(load_isl().Set.union, images, isl.nothing(rank + len(names), context))
        return read_set(found, parameters=names, budget=budget)

    def go_through(most: int) -> IndexSet | None:
        return None if names else set_of_rows(few_points.reached(given, most))

    return asked(ask, budget, otherwise=go_through)


def count_reached(
    maps: Sequence[Relation], rank: int, parameters: Sequence[Variable], budget: Budget = BUDGET
) -> sympy.Expr | int:
    """Number of elements of a tensor that some maps reach, over parameters within these bounds.

    Raises:
        MapError: there is no such expression.
        NotQuasiAffineError: a map is not quasi-affine, and no law shows that it reaches nothing
            twice.

    >>> from indexing import parse_map
    >>> rows = parse_map("(d0)<N> -> (d0 floordiv 4), domain: d0 in [0, N * 4 - 1], N in [0, inf]")
    >>> count_reached([rows], 1, rows.parameters)
    N
    """
    try:
        pieces = reached(maps, rank, budget=budget).disjoint_pieces("count_results")
    except NotQuasiAffineError:
        if len(maps) > 1 or not tells_points(maps[0]):
            raise
        pieces = (maps[0].domain,)
    return symbolic_count(pieces, parameters)


def reached_again(maps: Iterable[Relation], rank: int, *, budget: Budget = BUDGET) -> IndexSet:
    """The elements of a tensor of this rank that are reached at least twice.

    By two maps, or by one from two points of its domain.

    >>> from indexing import parse_map
    >>> windows = parse_map("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 2]")
    >>> print(reached_again([windows], 1))
    (d0): d0 in [2, 18] step 2
    """
    given = [*maps]
    for each in given:
        check_without_parameters(each, "reached")

    def ask(context: islpy.Context) -> IndexSet:
        again = seen = isl.nothing(rank, context)
        for each in given:
            image = isl.image_of(each, context)
            again = again.union(_reached_twice(each, image)).union(image.intersect(seen))
            seen = seen.union(image)
        return read_set(again, budget=budget)

    return asked(
        ask, budget, otherwise=lambda most: set_of_rows(few_points.reached_again(given, most))
    )


def _reached_twice(indexing_map: Relation, image: islpy.Set) -> islpy.Set:
    """The elements that a map reaches from two points: two points of some part lead there."""
    parts, (rest,) = counting.independent_parts([indexing_map])
    context, rank = image.get_ctx(), len(indexing_map.forms)
    if counting.count_points(isl.points_of(rest, context)) > 1:
        return image
    found = isl.nothing(rank, context)
    for part in parts:
        (each,) = part.maps
        twice = _from_two_points(isl.relation_of(each, context))
        for axis in range(rank):
            if axis not in part.coordinates:
                twice = twice.insert_dims(isl.coordinates(), axis, 1)
        found = found.union(twice.intersect(image))
    return found


def _from_two_points(pairs: islpy.Map) -> islpy.Set:
    """The results that a relation relates to two different points."""
    if pairs.is_injective():
        return pairs.range().subtract(pairs.range())
    same = pairs.apply_range(pairs.reverse())
    others = same.subtract(load_isl().Map.identity(same.get_space()))
    return others.domain().apply(pairs)
