"""The indexing map: which elements of one tensor belong to an element of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing import arguments
from indexing.domain import Domain
from indexing.exportable import Exportable
from indexing.relation import Relation
from indexing.transformable import Transformable
from simplifier.exact import ATTEMPT
from simplifier.expr.form import Form
from simplifier.expr.sympy_conversion import to_sympy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import sympy

    from indexing.transform.evaluate import Index, Point
    from indexing.variable import Variable
    from simplifier import Interval
    from simplifier.bounds.interval import IntervalLike


class IndexingMap(Relation, Transformable, Exportable):
    """A function from dimensions, ranges and runtime variables to an index, on a domain.

    The map relates the element at ``dims`` of one tensor to the elements at ``results`` of another:
    for every value of the range variables, and for the one value that each runtime variable has
    while the program runs, within the bounds of the variables and the constraints.

    Args:
        results: one integer expression for each dimension of the other tensor, over the
            variables' symbols.
        dims: one variable for each dimension of the tensor that the map comes from.
        ranges: variables that run over all their values, such as a reduced dimension.
        runtime: variables known only while the program runs, such as the offset of a dynamic-slice.
        constraints: pairs of an expression and the interval it must lie in.

    Raises:
        MapError: an argument is of another kind, a name is used twice, or an expression uses one
            that is not declared; the message names the place.
        ConversionError: an expression is not integer arithmetic.

    A map is an immutable value: equal to a map with the same fields, hashable, picklable. A
    map that is seen to have no point is stored as the empty map: every bound ``[0, -1]``,
    every result 0.

    >>> from simplifier import symbol, FloorDiv
    >>> d0 = symbol("d0")
    >>> print(IndexingMap.from_sizes([FloorDiv(d0, 8), d0 + 1], dims=[32]))
    (d0) -> (d0 floordiv 8, d0 + 1), domain: d0 in [0, 31]
    """

    __slots__ = ("_domain", "_forms", "_hash", "_simplified")

    _domain: Domain
    _forms: tuple[Form, ...]
    _hash: int | None
    _simplified: IndexingMap | None

    def __init__(
        self,
        results: Sequence[sympy.Expr | int],
        dims: Iterable[Variable],
        ranges: Iterable[Variable] = (),
        runtime: Iterable[Variable] = (),
        constraints: Iterable[tuple[sympy.Expr | int, IntervalLike]] = (),
    ) -> None:
        domain = Domain.of(
            arguments.read_variables("dims", dims),
            arguments.read_variables("ranges", ranges),
            arguments.read_variables("runtime", runtime),
        )
        domain.check()
        forms = domain.placed(arguments.read_results(results), "result")
        self._set(domain.with_named(arguments.read_constraints(constraints)), forms)

    def _set(self, domain: Domain, forms: tuple[Form, ...]) -> None:
        if domain.is_known_empty:
            domain, forms = domain.emptied(), tuple(Form(0, {}) for _ in forms)
        self._domain = domain
        self._forms = forms
        self._hash = None
        self._simplified = None

    @classmethod
    def from_forms(cls, forms: Iterable[Form], domain: Domain) -> IndexingMap:
        """A map from forms over ``d0 ... s0 ... rt0 ...`` by place; nothing is checked."""
        made = super().__new__(cls)
        made._set(domain, tuple(forms))
        return made

    @classmethod
    def from_sizes(
        cls,
        results: Sequence[sympy.Expr | int],
        dims: Iterable[int] = (),
        ranges: Iterable[int] = (),
        runtime: Iterable[int] = (),
    ) -> IndexingMap:
        """A map whose variables count from 0 to one less than their size."""
        return cls(
            results,
            arguments.read_sizes("dims", dims),
            arguments.read_sizes("ranges", ranges),
            arguments.read_sizes("runtime", runtime),
        )

    @classmethod
    def from_gpu_grid(
        cls,
        results: Sequence[sympy.Expr | int],
        grid: Iterable[int],
        ranges: Iterable[Variable] = (),
        runtime: Iterable[Variable] = (),
        constraints: Iterable[tuple[sympy.Expr | int, IntervalLike]] = (),
    ) -> IndexingMap:
        """A map from the coordinates of a GPU launch: ``th_x th_y th_z bl_x bl_y bl_z``.

        ``grid`` says how many threads there are in x, y and z, and then how many blocks.

        Raises:
            MapError: the grid has not six sizes, or as for :class:`IndexingMap`.

        >>> from simplifier import symbol
        >>> element = symbol("bl_x") * 128 + symbol("th_x")
        >>> print(IndexingMap.from_gpu_grid([element], [128, 1, 1, 8, 1, 1]))
        (th_x, th_y, th_z, bl_x, bl_y, bl_z) -> (bl_x * 128 + th_x), domain: th_x in [0, 127],
        th_y in [0, 0], th_z in [0, 0], bl_x in [0, 7], bl_y in [0, 0], bl_z in [0, 0]
        """
        return cls(results, arguments.read_grid(grid), ranges, runtime, constraints)

    @classmethod
    def identity(cls, sizes: Iterable[int]) -> IndexingMap:
        """The map from every element of a tensor to itself.

        >>> print(IndexingMap.identity([4, 8]))
        (d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 7]
        """
        domain = Domain.of(arguments.read_sizes("sizes", sizes))
        return cls.from_forms((domain.by_name[name] for name in domain.names), domain)

    @property
    def results(self) -> tuple[sympy.Expr, ...]:
        """The index in the other tensor, as expressions over the variables' symbols."""
        return tuple(to_sympy(self.domain.named(form)) for form in self.forms)

    @property
    def dims(self) -> tuple[Variable, ...]:
        """One variable for each dimension of the tensor that the map comes from."""
        return self.domain.dims

    @property
    def ranges(self) -> tuple[Variable, ...]:
        """Variables that run over all their values."""
        return self.domain.ranges

    @property
    def runtime(self) -> tuple[Variable, ...]:
        """Variables known only while the program runs."""
        return self.domain.runtime

    @property
    def constraints(self) -> tuple[tuple[sympy.Expr, Interval], ...]:
        """Pairs of an expression and the interval it must lie in, sorted by their texts."""
        rows = self.domain.constraint_texts()
        return tuple((to_sympy(self.domain.named(form)), interval) for _, (form, interval) in rows)

    @property
    def domain(self) -> Domain:
        """Variables, bounds and constraints as the library keeps them."""
        return self._domain

    @property
    def forms(self) -> tuple[Form, ...]:
        """The results as the library keeps them, over ``d0 ... s0 ... rt0 ...`` by place."""
        return self._forms

    @property
    def is_undefined(self) -> bool:
        """Whether there is no map, only the reason why: an :class:`indexing.UndefinedMap`."""
        return False

    @property
    def is_known_empty(self) -> bool:
        """Whether the map is seen to have no point; one without may look as if it had some."""
        return self.domain.is_known_empty

    def simplify(
        self,
        *,
        exact: bool = False,
        budget: int | None = ATTEMPT,
        preserve_size_one: bool = False,
    ) -> IndexingMap:
        """The same relation in its smallest form: results, constraints and bounds.

        Simplifying twice changes nothing, and what is simple already is returned itself.

        Args:
            exact: whether isl finishes what the fast way leaves: bounds that are reached, no
                constraint that others imply, results as small as :func:`simplifier.simplify` finds
                them with ``exact``.
            budget: operations of isl for each attempt; what takes more is left as the fast way
                has it.
            preserve_size_one: whether results and constraints keep variables that have one value,
                instead of the value; so a dimension of size 1 stays in sight.

        Raises:
            NotQuasiAffineError: if ``exact``, an expression multiplies variables or divides by one.

        >>> from indexing import parse_map
        >>> low = "(d0, d1) -> (d0 + d1 floordiv 8, d1 mod 8), domain: d0 in [0, 6], d1 in [0, 7]"
        >>> print(parse_map(low).simplify())
        (d0, d1) -> (d0, d1), domain: d0 in [0, 6], d1 in [0, 7]
        >>> odd = "(d0) -> (d0), domain: d0 in [0, 13], d0 mod 4 in [1, 1], d0 mod 6 in [3, 3]"
        >>> print(parse_map(odd).simplify(exact=True))
        (d0) -> (9), domain: d0 in [9, 9]
        >>> print(parse_map(odd).simplify(exact=True, preserve_size_one=True))
        (d0) -> (d0), domain: d0 in [9, 9]
        """
        if not (exact or preserve_size_one or self._simplified is None):
            return self._simplified
        from indexing.simplify import finished, simplified  # noqa: PLC0415 - they build maps

        if preserve_size_one:
            smallest = simplified(self, preserve_size_one=True)
        else:
            smallest = self._smallest()
        if exact:
            return finished(smallest, budget, preserve_size_one=preserve_size_one)
        return smallest

    def _smallest(self) -> IndexingMap:
        from indexing.simplify import simplified  # noqa: PLC0415 - it builds maps

        if self._simplified is None:
            smallest: IndexingMap = simplified(self)
            self._simplified = smallest._simplified = smallest
        return self._simplified

    def compose(self, producer: IndexingMap) -> IndexingMap:
        """``producer`` after this map: its dimensions are this map's results.

        Ranges and runtime variables of the producer come before this map's, as in XLA; the results
        must lie in the bounds of the producer's dimensions. Nothing is simplified.

        Raises:
            MapError: the producer has another number of dimensions than this map has results.
        """
        from indexing.transform.compose import compose  # noqa: PLC0415 - it builds maps

        return compose(self, producer)

    def inverse(self) -> IndexingMap:
        """The map from results to dimensions that relates the same elements the other way round.

        Its dimensions are this map's results, within their bounds. Where several elements lead to
        one, such as the source of a broadcast, ranges run over all of them; ranges of this map that
        are of no use are gone, runtime variables stay. Constraints tell which results there are.

        A map that is not quasi-affine has an :class:`UndefinedMap` that names the term. Costs about
        as much as simplifying both maps: no sets are computed.

        >>> from indexing import parse_map
        >>> odd = parse_map("(d0) -> (d0 * 2 + 1), domain: d0 in [0, 3]")
        >>> print(odd.inverse())
        (d0) -> (d0 floordiv 2), domain: d0 in [1, 7], d0 mod 2 in [1, 1]
        >>> print(parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]").inverse())
        (d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 3], s0 in [0, 7]
        """
        from indexing.exact import inverse  # noqa: PLC0415 - it builds maps

        return inverse(self)

    def __matmul__(self, consumer: IndexingMap) -> IndexingMap:
        """``producer @ consumer``: the consumer runs first."""
        if not isinstance(consumer, IndexingMap):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers
            return NotImplemented
        return consumer.compose(self)

    def evaluate(self, dims: Index, ranges: Index = (), runtime: Index = ()) -> Index:
        """The index at one point, or at many: NumPy arrays broadcast. The domain is not checked.

        >>> from indexing import parse_map
        >>> halves = "(d0)[s0] -> (d0 floordiv 2, s0), domain: d0 in [0, 9], s0 in [0, 3]"
        >>> parse_map(halves).evaluate([-3], [1])
        (-2, 1)
        """
        from indexing.transform.evaluate import evaluate  # noqa: PLC0415 - it looks into maps

        return evaluate(self, dims, ranges, runtime)

    def contains(
        self, dims: Sequence[int], ranges: Sequence[int] = (), runtime: Sequence[int] = ()
    ) -> bool:
        """Whether the point lies in the domain."""
        from indexing.transform.evaluate import contains  # noqa: PLC0415 - it looks into maps

        return contains(self, dims, ranges, runtime)

    def points(self) -> Iterator[Point]:
        """Every point of the domain in order, the last variable fastest, with its results.

        A point is ``(dims, ranges, runtime, results)``.

        Raises:
            MapError: a variable is not bounded.
        """
        from indexing.transform.evaluate import points  # noqa: PLC0415 - it looks into maps

        return points(self)

    def result_bounds(self) -> tuple[Interval, ...]:
        """An interval for each result that holds all its values; constraints count."""
        from indexing.simplify import result_bounds  # noqa: PLC0415 - it looks into maps

        return result_bounds(self)

    def with_constraint(self, expression: sympy.Expr | int, interval: IntervalLike) -> IndexingMap:
        """The map on the points where the expression lies in the interval."""
        constraints = arguments.read_constraints([(expression, interval)])
        return IndexingMap.from_forms(self.forms, self.domain.with_named(constraints))

    def verify(self) -> None:
        """Raise a :class:`MapError` with the reason, if a name is used twice or not declared."""
        self.domain.check()
        self.domain.check_forms(self.forms, "result")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndexingMap):
            return NotImplemented
        return self is other or (self._forms == other._forms and self._domain == other._domain)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self._forms, self._domain.variables, self._domain.constraints))
        return self._hash

    def __reduce__(self) -> tuple[Callable[..., IndexingMap], tuple[object, ...]]:
        return IndexingMap.from_forms, (self.forms, self.domain)

    def __str__(self) -> str:
        from indexing.formats.text import format_map  # noqa: PLC0415 - the text form is built on maps

        return format_map(self)

    def __repr__(self) -> str:
        return f"IndexingMap({str(self)!r})"
