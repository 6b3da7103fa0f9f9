"""Questions about quasi-affine expressions that isl answers exactly: complete, sometimes slow.

A question costs little for the handful of variables of an indexing map; in the worst case the time
grows exponentially with the number of variables, quotients and extrema. So every question has a
budget of operations, for all that isl tries.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from datetime import timedelta
from functools import cache, partial, reduce
from importlib import import_module
from itertools import chain
from math import gcd, inf, prod
from signal import SIGINT, getsignal, raise_signal, signal
from threading import RLock, current_thread, local, main_thread
from time import process_time
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from simplifier import evaluation
from simplifier.bounds.context import Constraint
from simplifier.bounds.interval import EMPTY, EVERYTHING, Interval
from simplifier.canonical.scope import Scope
from simplifier.errors import IndexingError, check_type
from simplifier.evaluation import MAX_INT64, OPERATIONS, np
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import (
    BITWISE,
    EXTREMA,
    FOREIGN,
    ZERO,
    Atom,
    AtomKind,
    Form,
    combine,
    fold,
    postorder,
)
from simplifier.extraction import width
from simplifier.extraction.cost import DIVISIONS, cost_of_form
from simplifier.fixpoint import simplified
from simplifier.limits import MAX_EXACT_ATOMS, MAX_EXACT_GROUP, MAX_EXACT_PIECES, MAX_TABLE

if TYPE_CHECKING:
    import islpy

Answer = TypeVar("Answer")

Translation: TypeAlias = "Callable[[Space, Atom, tuple[islpy.PwAff, ...]], islpy.PwAff]"


_BITS: Final = 62
BASE: Final = 1 << _BITS
"""Larger integers go to isl and come back in pieces of this size."""


class MissingIslError(IndexingError, ImportError):
    """An exact question was asked where islpy is not installed."""

    def __init__(self) -> None:
        super().__init__("exact answers need islpy, which is not installed: pip install islpy")


def load_isl() -> ModuleType:
    """The module ``islpy``, loaded at the first exact question."""
    try:
        _load_uninterrupted()
        import islpy  # noqa: PLC0415 - loaded when a question is asked
    except ImportError as error:
        raise MissingIslError from error
    return islpy


@cache
def _load_uninterrupted() -> None:
    """Load islpy, and NumPy for its answers, uninterrupted: a part of it cannot be loaded again.

    An interrupt, which only the main thread gets, waits until the end.
    """
    arrived: list[object] = []
    is_deferred = current_thread() is main_thread() and bool(getsignal(SIGINT))
    before = signal(SIGINT, lambda number, _: arrived.append(number)) if is_deferred else None
    try:
        import_module("islpy")
        import_module("numpy")
    finally:
        if is_deferred:
            signal(SIGINT, before)
        if arrived:
            raise_signal(SIGINT)


def number(value: int, context: islpy.Context) -> islpy.Val:
    """An integer of any size as isl's number."""
    new = load_isl().Val
    base, found = new(BASE, context), new(0, context)
    for shift in range(value.bit_length() // _BITS * _BITS, -1, -_BITS):
        found = found.mul(base).add(new(abs(value) >> shift & (BASE - 1), context))
    return found if value >= 0 else found.neg()


def integer(value: islpy.Val) -> int:
    """An integer of isl's as Python's. isl offers only decimal text, whose length Python limits."""
    base = type(value)(BASE, value.get_ctx())
    rest = value.abs()
    total, weight = 0, 1
    while not rest.is_zero():
        word = rest.mod(base)
        total += weight * word.get_num_si()
        weight *= BASE
        rest = rest.sub(word).div(base)
    return -total if value.is_neg() else total


def context_of(given: islpy.Context | None) -> islpy.Context:
    """The context that a user gave, or islpy's default one."""
    isl = load_isl()
    if given is None:
        return isl.DEFAULT_CONTEXT
    check_type(given, isl.Context, "to_isl: the context", "an islpy.Context")
    return given


_FREE: Final = local()


@contextmanager
def own_context() -> Generator[islpy.Context]:
    """A context of this thread that nothing else uses meanwhile, for one question after another.

    islpy keeps some kilobytes of each context that sets were made in, so a new one for each of many
    questions would fill the memory.
    """
    free: list[islpy.Context] = _FREE.__dict__.setdefault("contexts", [])
    context = free.pop() if free else load_isl().Context()
    try:
        yield context
    finally:
        free.append(context)


class _KeptContext:
    """The context of sets that are kept from one question to the next; threads take turns.

    A class of its own: entering a generator takes longer than many a question.
    """

    def __init__(self) -> None:
        self._turn = RLock()
        self._made: islpy.Context | None = None

    def __enter__(self) -> islpy.Context:
        isl = load_isl()  # first: whoever fails keeps no turn
        self._turn.acquire()
        made = self._made
        if made is None:
            made = self._made = isl.Context()
        return made

    def __exit__(self, *_: object) -> None:
        self._turn.release()


_KEPT: Final = _KeptContext()


def kept_context() -> _KeptContext:
    """The context of sets that are kept from one question to the next; threads take turns."""
    return _KEPT


# How long isl may work on a question: budgets of operations or of time, spent in attempts.
#
# A question is asked with few operations first, and with more as long as it takes no more than
# seconds, or what its caller gives.

ATTEMPT: Final = 10_000
"""With so many operations isl tries something first: everyday questions take some hundreds."""

MAX_ATTEMPTS: Final = 100
"""So many attempts share the budget of a simplification; a form takes three, and three more each
time that one makes it cheaper."""

BUDGET: Final = MAX_ATTEMPTS * ATTEMPT
"""Operations that isl may spend on a question unless the caller gives a budget: seconds.

An operation takes a fraction of a microsecond, or a hundred where sets have grown. So no attempt
begins with all of them, see :func:`asked`.
"""

_MAX_SECONDS: Final = 0.1
"""Once two attempts in a row have taken so long, the next one would take up to ten times as long.

One alone may have met a collection of garbage, which takes as long where the heap is large.
"""

Budget: TypeAlias = int | timedelta | None
"""What a question may spend: operations of isl, or processor time; ``None`` is no limit.

Operations give the same answer on every machine, a ``timedelta`` an answer or an error in time.
Where isl gives up, a map's points may be listed instead, as many as there is time for; without a
time that takes up to a second or two.
"""

_FEWEST: Final = 100
"""Operations of the first attempt within a very short time."""

_OPERATIONS_A_SECOND: Final = 10_000
"""Operations that isl does at least, however large the sets have grown."""

_POINTS_A_SECOND: Final = 500_000
"""Points that are listed and sorted in a second at least; without a time, as many as there are."""

_ANY_POINTS: Final = 1 << 62

_SLOWER: Final = 4
"""So much slower the operations of the next attempt may be: sets grow."""


class BudgetError(IndexingError, RuntimeError):
    """An exact question took more than its ``budget``, or the budget is none."""

    def __init__(self, budget: int | timedelta, objection: str = "") -> None:
        is_time = isinstance(budget, timedelta)
        limit = f"{budget.total_seconds():g} seconds" if is_time else f"{budget} operations of isl"
        spent = f"{limit} were not enough; give more, or None for no limit"
        super().__init__(f"budget: {objection or spent}")
        self.budget = budget


class Allowance:
    """The operations of isl that one public question may spend, in equal shares for its attempts.

    isl does not tell how many operations an attempt took, so each counts as its whole share.
    """

    def __init__(self, budget: Budget, attempts: int = 1) -> None:
        limit = checked_budget(budget)
        self._share = max(1, limit // attempts) if limit else 0
        self._left = attempts
        self._deadline = inf
        if isinstance(budget, timedelta):
            self._share = _first_attempt(budget)
            self._deadline = process_time() + budget.total_seconds()

    @contextmanager
    def attempt(self, context: islpy.Context | None = None) -> Generator[islpy.Context]:
        """A context in which a share of the operations may be spent; 0 is no limit.

        Raises:
            BudgetError: the attempt takes more, or no share is left.
        """
        if self._share and (not self._left or process_time() > self._deadline):
            raise BudgetError(self._share)
        self._left -= 1
        chosen = own_context() if context is None else nullcontext(context)
        with chosen as used:
            before = used.get_max_operations()
            used.reset_operations()
            used.set_max_operations(self._share)
            try:
                yield used
            except load_isl().Error as error:
                _check_is_out_of_budget(error)
                raise BudgetError(self._share) from None
            finally:
                used.reset_operations()
                used.set_max_operations(before)


def _check_is_out_of_budget(error: Exception) -> None:
    """Raise an error of isl's again, unless it says that an attempt took too many operations."""
    if "maximal number of operations" not in str(error):
        raise error


def asked_of_kept(ask: Callable[[islpy.Context], Answer], budget: Budget = BUDGET) -> Answer:
    """The answer about sets that are kept: as :func:`asked`, but quick to begin.

    Everyday questions take microseconds, and end with the first attempt.
    """
    with kept_context() as context:
        if budget == BUDGET and not context.get_max_operations():
            context.reset_operations()
            context.set_max_operations(ATTEMPT)
            try:
                return ask(context)
            except load_isl().Error as error:
                _check_is_out_of_budget(error)
            finally:
                context.set_max_operations(0)
        return asked(ask, budget, context=context)


def asked(
    ask: Callable[[islpy.Context], Answer],
    budget: Budget,
    *,
    context: islpy.Context | None = None,
    otherwise: Callable[[int], Answer | None] = lambda _: None,
) -> Answer:
    """The answer in a context within a budget; with :data:`BUDGET`, within seconds.

    It is asked with few operations first. If these are not enough, or isl cannot express it,
    ``otherwise`` may know the answer without isl, from a list of points; it is told how many there
    is time for. Then it is asked with the budget or, if that is a time or :data:`BUDGET`,
    with more and more operations, while time is left. The clock only tells when to give up: no
    answer depends on it.

    Raises:
        BudgetError: it has no answer within the budget, or within seconds.
    """
    checked_budget(budget)
    operations, took, is_first = _first_attempt(budget), 0.0, True
    start = process_time()
    while True:
        begun, before = process_time(), took
        try:
            with Allowance(operations).attempt(context) as used:
                return ask(used)
        except (BudgetError, NotQuasiAffineError) as error:
            now = process_time()
            took = now - begun
            left = budget.total_seconds() - (now - start) if isinstance(budget, timedelta) else inf
            is_out_of_budget = isinstance(error, BudgetError)
            more = _following(budget, operations, left, (before, took)) if is_out_of_budget else 0
            points = max(0, min(left * _POINTS_A_SECOND, _ANY_POINTS))
            found = otherwise(int(points)) if is_first else None
            if found is not None:
                return found
            if more == 0 and is_out_of_budget and isinstance(budget, timedelta):
                raise BudgetError(budget) from None
            if more == 0:
                raise
            operations, is_first = more, False


def _first_attempt(budget: Budget) -> int:
    """Operations of the first attempt; within a time, those that end in it for certain."""
    if isinstance(budget, timedelta):
        return max(_FEWEST, min(ATTEMPT, int(budget.total_seconds() * _OPERATIONS_A_SECOND)))
    return ATTEMPT if budget is None else min(budget, ATTEMPT)


def _following(
    budget: Budget, operations: int | None, left: float, took: tuple[float, float]
) -> int | None:
    """Operations of the attempt after one that was not enough, ``None`` for no limit; 0 for none.

    ``took`` has the seconds of the last two attempts.
    """
    if operations is None or operations == budget:
        return 0
    if isinstance(budget, timedelta):
        within = int(left * operations / (_SLOWER * max(took[1], 1e-6)))
        return min(within, _SLOWER * operations) if within > operations else 0
    if budget != BUDGET:
        return budget
    return 0 if min(took) > _MAX_SECONDS else min(2 * operations, BUDGET)


def checked_budget(budget: Budget) -> int:
    """The budget as isl counts it, where 0 is no limit of operations."""
    if budget is None:
        return 0
    if isinstance(budget, timedelta) and budget > timedelta():
        return 0
    if not isinstance(budget, int) or isinstance(budget, bool) or budget < 1:
        expected = "a positive number of operations or None, or a positive timedelta"
        raise BudgetError(budget, f"is {budget!r}; expected {expected}")
    return min(budget, BASE)


# Bounds, constraints and forms as isl's sets and piecewise quasi-affine expressions.
#
# Forms are handed to isl operation by operation through its programming interface, never as text.


class NotQuasiAffineError(IndexingError, ValueError):
    """An expression beyond Presburger arithmetic; ``term`` is the text of the part to blame."""

    def __init__(self, term: str, reason: str) -> None:
        super().__init__(f"{term}: is {reason}; exact answers need a quasi-affine expression")
        self.term = term


class Space:
    """Variables with bounds as dimensions of an isl space, and forms over them as its expressions.

    Spaces share a context only where one is given: isl's contexts must not cross threads, but what
    is compared must be of one context.
    """

    def __init__(
        self, bounds: Mapping[str, Interval], context: islpy.Context | None = None
    ) -> None:
        self.isl = load_isl()
        self.bounds = dict(bounds)
        self.context = context or self.isl.Context()
        self._positions = {name: position for position, name in enumerate(self.bounds)}
        space = self.isl.Space.set_alloc(self.context, 0, len(self.bounds))
        self._local = self.isl.LocalSpace.from_space(space)

    def domain(self, constraints: Sequence[tuple[Form, Interval]] = ()) -> islpy.Set:
        """All points within the bounds that meet the constraints."""
        variables = [self._variable(name) for name in self.bounds]
        limited = self.expressions([form for form, _ in constraints])
        intervals = chain(self.bounds.values(), (interval for _, interval in constraints))
        points = self.isl.Set.universe(self._local.get_space())
        for expression, interval in zip([*variables, *limited], intervals, strict=True):
            if interval.lower is not None:
                points = points.intersect(expression.ge_set(self._constant(interval.lower)))
            if interval.upper is not None:
                points = points.intersect(expression.le_set(self._constant(interval.upper)))
        return points

    def expressions(self, wanted: Iterable[Form]) -> list[islpy.PwAff]:
        """The forms as piecewise quasi-affine expressions.

        Variables that have only one value are replaced by it.

        Raises:
            NotQuasiAffineError: naming an innermost term that is not quasi-affine.
        """
        simpler = quasi_affine(self.bounds, wanted)

        def of_atom(atom: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
            if atom.kind is AtomKind.VARIABLE:
                return self._variable(atom.name)
            return _translation(atom)(self, atom, arguments)

        known = fold(simpler, of_atom, self._sum)
        return [self._sum(form, known) for form in simpler]

    def sample(self, points: islpy.Set) -> dict[str, int] | None:
        """Some point of a set, by name, or ``None`` if it is empty."""
        if points.is_empty():
            return None
        point, kind = points.sample_point(), self.isl.dim_type.set
        return {
            name: integer(point.get_coordinate_val(kind, position))
            for name, position in self._positions.items()
        }

    def extent(self, values: islpy.PwAff) -> Interval:
        """The least and the greatest value of an expression; empty where it has none."""
        # As a set: isl refuses extrema of expressions whose parts are integers on the domain alone.
        found = self.isl.Map.from_pw_aff(values).range()
        ends = found.dim_min_val(0), found.dim_max_val(0)
        lower, upper = (integer(end) if end.is_int() else None for end in ends)
        return EMPTY if ends[0].is_nan() else Interval(lower, upper)

    def agree(self, left: Form, right: Form, domain: islpy.Set) -> bool:
        """Whether two forms have the same value everywhere on a domain."""
        (difference,) = self.expressions([left - right])
        return bool(domain.intersect(difference.non_zero_set()).is_empty())

    def form_of(self, expression: islpy.Aff) -> Form:
        """The form of an expression that has only one piece."""
        divisions: list[Form] = []
        for position in range(expression.dim(self.isl.dim_type.div)):
            divisions.append(self._quotient(expression.get_div(position), divisions))
        return self._quotient(expression, divisions)

    def value(self, value: int) -> islpy.Val:
        """An integer of any size as isl's number."""
        return number(value, self.context)

    def floordiv(self, numerator: islpy.PwAff, divisor: int) -> islpy.PwAff:
        """``floor(numerator / divisor)``; isl divides by positive numbers only."""
        signed = numerator if divisor > 0 else numerator.neg()
        return signed.scale_down_val(self.value(abs(divisor))).floor()

    def _quotient(self, expression: islpy.Aff, divisions: Sequence[Form]) -> Form:
        """An expression over variables and divisions whose forms are known, rounded down."""
        divisor = expression.get_denominator_val()
        numerator = forms.constant(integer(expression.get_constant_val().mul(divisor)))
        known = {
            self.isl.dim_type.in_: [forms.variable(name) for name in self.bounds],
            self.isl.dim_type.div: divisions,
        }
        for kind, terms in known.items():
            for position, term in enumerate(terms):
                factor = expression.get_coefficient_val(kind, position).mul(divisor)
                numerator = numerator.plus(term, integer(factor))
        return numerator // integer(divisor)

    def _variable(self, name: str) -> islpy.PwAff:
        position = self._positions[name]
        return self.isl.PwAff.var_on_domain(self._local, self.isl.dim_type.set, position)

    def _constant(self, value: int) -> islpy.PwAff:
        return self.isl.PwAff.from_aff(self.isl.Aff.val_on_domain(self._local, self.value(value)))

    def _sum(self, form: Form, known: Mapping[Atom, islpy.PwAff]) -> islpy.PwAff:
        total = self._constant(form.constant)
        for atom, factor in form.terms.items():
            total = total.add(known[atom].scale_val(self.value(factor)))
        return total


def _mod(space: Space, atom: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
    quotient = space.floordiv(arguments[0], atom.divisor)
    return arguments[0].sub(quotient.scale_val(space.value(atom.divisor)))


def _minimum(_: Space, __: Atom, arguments: tuple[islpy.PwAff, ...]) -> islpy.PwAff:
    return reduce(lambda left, right: left.min(right), arguments)


_DIVISIONS: Final[Mapping[AtomKind, Translation]] = {
    AtomKind.FLOORDIV: lambda space, atom, parts: space.floordiv(parts[0], atom.divisor),
    AtomKind.CEILDIV: lambda space, atom, parts: space.floordiv(parts[0].neg(), atom.divisor).neg(),
    AtomKind.MOD: _mod,
}

_PIECEWISE: Final[Mapping[AtomKind, Translation]] = {
    AtomKind.MIN: _minimum,
    AtomKind.MAX: lambda _, __, parts: reduce(lambda left, right: left.max(right), parts),
    AtomKind.NONNEGATIVE: lambda _, __, parts: parts[0].nonneg_set().indicator_function(),
    AtomKind.ZERO: lambda _, __, parts: parts[0].zero_set().indicator_function(),
    AtomKind.AND: _minimum,
    AtomKind.SELECT: lambda _, __, parts: parts[0].cond(*parts[1:]),
}


def quasi_affine(bounds: Mapping[str, Interval], wanted: Iterable[Form]) -> tuple[Form, ...]:
    """The forms with the value of each variable that has only one, if isl can express them.

    Raises:
        NotQuasiAffineError: naming an innermost term that is not quasi-affine.
    """
    points = {
        name: forms.constant(interval.lower)
        for name, interval in bounds.items()
        if interval.lower is not None and interval.is_point
    }
    simpler = operations.substitute(wanted, points)
    for atom in postorder(simpler):
        if atom.kind is not AtomKind.VARIABLE:
            _translation(atom)
    return simpler


def _translation(atom: Atom) -> Translation:
    """The computation of the atom in isl from its arguments."""
    if atom.kind in _PIECEWISE:
        return _PIECEWISE[atom.kind]
    if atom.divisor:
        return _DIVISIONS[atom.kind]
    raise NotQuasiAffineError(str(Form(0, {atom: 1})), _objection(atom))


def _objection(atom: Atom) -> str:
    if atom.kind is AtomKind.PRODUCT:
        return "a product of variables"
    if atom.kind in FOREIGN:
        return "a foreign function"
    if atom.kind in BITWISE:
        return "a function of bits"
    is_zero = atom.arguments[1].is_constant
    return "a division by zero" if is_zero else "a division by what is not a constant"


# Questions: equality of two expressions, their differences, the values of one.

Constraints: TypeAlias = "Sequence[Constraint]"
_Question: TypeAlias = "Callable[[Space, islpy.Set, islpy.PwAff], Answer]"


def differing_point(
    a: Form,
    b: Form,
    bounds: Mapping[str, Interval],
    constraints: Constraints = (),
    budget: Budget = BUDGET,
) -> dict[str, int] | None:
    """A point where two forms differ, or ``None``; terms that both share may be anything."""
    return _asked(_nonzero_point, first_other_than_zero, a - b, bounds, constraints, budget)


def exact_range(
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Constraints = (),
    budget: Budget = BUDGET,
) -> Interval:
    """The least and the greatest value of a form; ``None`` is an end that it really goes beyond."""
    return _asked(_extent, extent, form, bounds, constraints, budget)


def range_within(
    allowance: Allowance, form: Form, bounds: Mapping[str, Interval], constraints: Constraints
) -> Interval:
    """The same, as one attempt of a greater question."""
    with allowance.attempt() as context:
        space = Space(all_bounds((form,), bounds, constraints), context)
        return _answer(_extent, space, form, constraints)


def _nonzero_point(space: Space, domain: islpy.Set, value: islpy.PwAff) -> dict[str, int] | None:
    return space.sample(domain.intersect(value.non_zero_set()))


def _extent(space: Space, domain: islpy.Set, value: islpy.PwAff) -> Interval:
    return space.extent(value.intersect_domain(domain))


def _asked(
    question: _Question[Answer],
    of_points: Callable[[Iterable[Chunk]], Answer],
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Constraints,
    budget: Budget,
) -> Answer:
    """The answer to a question about a space, the domain in it, and the value of a form there.

    Where isl takes long, all points answer if there are few.
    """
    known = all_bounds((form,), bounds, constraints)

    def enumerated(most: int) -> tuple[Answer] | None:
        simpler, *limited = quasi_affine(known, (form, *(each for each, _ in constraints)))
        intervals = [interval for _, interval in constraints]
        found = points_with_values(simpler, known, [*zip(limited, intervals, strict=True)], most)
        return None if found is None else (of_points(found),)

    def by_isl(context: islpy.Context) -> tuple[Answer]:
        return (_answer(question, Space(known, context), form, constraints),)

    (answer,) = asked(by_isl, budget, otherwise=enumerated)
    return answer


def _answer(
    question: _Question[Answer], space: Space, form: Form, constraints: Constraints
) -> Answer:
    (value,) = space.expressions([form])
    return question(space, space.domain(constraints), value)


def all_bounds(
    wanted: Iterable[Form], bounds: Mapping[str, Interval], constraints: Iterable[Constraint]
) -> dict[str, Interval]:
    """Bounds of every variable that is bounded or occurs."""
    involved = forms.variables_of(chain(wanted, (form for form, _ in constraints)))
    return {**dict.fromkeys(involved, EVERYTHING), **bounds}


# Values of a form at all points of a domain, where isl takes long and there are few points.

Column: TypeAlias = Any
"""An array of NumPy."""

Columns: TypeAlias = "dict[str, Column]"
"""Points: the values of each variable."""

Chunk: TypeAlias = "tuple[Columns, Column]"
"""Points, and the values of a form there."""

MAX_VALUES: Final = 1 << 25
"""Values of operations, at all points together, that are computed: half a second."""

_CHUNK: Final = 1 << 14
"""Points that are looked at together: columns of them fit into the cache of a core."""


def points_with_values(
    form: Form, bounds: Mapping[str, Interval], constraints: Constraints, most: int = MAX_VALUES
) -> Iterator[Chunk] | None:
    """All points in order, some thousands at a time, with the values of a quasi-affine form there.

    ``None`` if there are many points, more than ``most``, or a value may not fit into 64 bits.

    >>> from simplifier.expr.text import parse_form
    >>> found = points_with_values(parse_form("(x * 5) mod 7"), {"x": Interval(1, 3)}, ())
    >>> [(columns["x"].tolist(), values.tolist()) for columns, values in found or ()]
    [([1, 2, 3], [5, 3, 1])]
    """
    wanted = (form, *(limited for limited, _ in constraints))
    sizes, atoms = [interval.size for interval in bounds.values()], postorder(wanted)
    points = prod(size or 0 for size in sizes)
    is_much = points > most or points * (len(atoms) or 1) > MAX_VALUES
    if None in sizes or is_much or not all(map(_is_computed, atoms)):
        return None
    far = {name: width.magnitude(interval.ends) or 0 for name, interval in bounds.items()}
    fits = max(evaluation.magnitudes(wanted, far)) <= MAX_INT64
    return _chunks(wanted, bounds, [interval for _, interval in constraints]) if fits else None


def extent(chunks: Iterable[Chunk]) -> Interval:
    """The least and the greatest value; empty if there is no point."""
    ends = [(int(values.min()), int(values.max())) for _, values in chunks if len(values)]
    return Interval(min(map(min, ends)), max(map(max, ends))) if ends else EMPTY


def first_other_than_zero(chunks: Iterable[Chunk]) -> dict[str, int] | None:
    """The first point where the value is not 0."""
    for columns, values in chunks:
        others = values.nonzero()[0]
        if len(others):
            return {name: int(column[others[0]]) for name, column in columns.items()}
    return None


def _is_computed(atom: Atom) -> bool:
    """Whether the atom has a value at every point."""
    if atom.kind in DIVISIONS:
        return atom.divisor != 0
    is_operation = atom.kind in OPERATIONS and atom.kind not in FOREIGN
    return is_operation or atom.kind in (AtomKind.VARIABLE, AtomKind.SELECT)


def _chunks(
    wanted: Sequence[Form], bounds: Mapping[str, Interval], intervals: Sequence[Interval]
) -> Iterator[Chunk]:
    """Points, with the values of the first form, at which the others lie in these intervals."""
    total = prod(interval.size or 0 for interval in bounds.values())
    for start in range(0, total, _CHUNK):
        numbers = np.arange(start, min(start + _CHUNK, total), dtype=np.int64)
        columns = evaluation.points_in(bounds, numbers)
        values, *limited = evaluation.values_of(wanted, columns)
        is_inside = np.ones(len(numbers), dtype=bool)
        for value, interval in zip(limited, intervals, strict=True):
            lower, upper = interval.ends
            is_inside &= np.asarray((value >= lower) & (value <= upper), dtype=bool)
        inside = {name: column[is_inside] for name, column in columns.items()}
        yield inside, np.broadcast_to(values, is_inside.shape)[is_inside]


# Improvements by isl of an expression that is already simplified.
#
# Four methods are tried in turn, each with a share of the allowance: linear equations between the
# parts of the expression; operations with parts left out; pieces of the value that isl merges;
# tables of parts of one variable that have few steps. A finding is simplified, proved equal by
# isl or at each of few points, and taken if it is cheaper; then all begins again. The result is
# what no method improves, so a second run changes nothing.
#
# isl finds every linear equation between variables and sub-expressions at once, as the affine
# hull of the points `(variables, values of the sub-expressions)`: that a quotient is constant,
# that a remainder is affine, that two quotients are equal or differ by a third one.


class Task(NamedTuple):
    """A form to improve, and the points where it has to stay equal."""

    form: Form
    space: Space
    domain: islpy.Set
    constraints: Constraints

    @property
    def atoms(self) -> list[Atom]:
        """The operations of the form, each after those inside it."""
        return [atom for atom in postorder((self.form,)) if atom.kind is not AtomKind.VARIABLE]

    def allows(self, old: Form, new: Form) -> bool:
        """Whether the new form is cheaper, and equal on the domain: at each of few points."""
        if rank(new) >= rank(old):
            return False
        points = points_with_values(old - new, self.space.bounds, self.constraints, MAX_TABLE)
        if points is None:
            return self.space.agree(old, new, self.domain)
        return first_other_than_zero(points) is None


def finished(
    scope: Scope,
    form: Form,
    bounds: Mapping[str, Interval],
    constraints: Constraints,
    allowance: Allowance,
) -> Form:
    """The form, or a cheaper one that isl proves equal within bounds and constraints.

    ``scope`` holds the same bounds and constraints. Each method is an attempt: one that takes more
    than its share of the allowance finds nothing.

    Raises:
        NotQuasiAffineError: naming the part of the form or of a constraint.
    """
    everything = all_bounds((form,), bounds, constraints)
    quasi_affine(everything, (form, *(known for known, _ in constraints)))
    if len(postorder((form,))) > MAX_EXACT_ATOMS:
        return form

    def improved(form: Form) -> Form | None:
        """A cheaper form by the first method that finds one."""
        for improve in _METHODS:
            with suppress(BudgetError), allowance.attempt() as context:
                space = Space(everything, context)
                task = Task(form, space, space.domain(constraints), constraints)
                better = simplified(scope, improve(task))
                if task.allows(form, better) and _is_as_good(scope, better, form):
                    return better
        return None

    while (better := improved(form)) is not None:
        form = better
    return form


def _is_as_good(scope: Scope, better: Form, form: Form) -> bool:
    """Whether a cheaper form needs no wider integers, and divides by no negative number."""
    widest = max(width.natural_width(scope, form) or 0, width.width_as_written(scope, form))
    is_allowed = not width.divides_by_negative(better) or width.divides_by_negative(form)
    return is_allowed and width.width_as_written(scope, better) <= widest


# By linear relations.


def _by_relations(task: Task) -> Form:
    """The form, with each sum in it rewritten by equations into its cheapest parts."""
    if task.domain.is_empty():
        return ZERO
    equations = relations(task.space, task.domain, task.atoms)
    values = {forms.variable_atom(name): forms.variable(name) for name in task.space.bounds}
    for atom in sorted(task.atoms, key=_order):
        arguments = (combine(reduced(argument, equations), values) for argument in atom.arguments)
        values[atom] = operations.rebuilt(atom, tuple(arguments))
    return combine(reduced(task.form, equations), values)


# By leaving out.


def _by_leaving_out(task: Task) -> Form:
    """Every operation replaced by the first that has less in it and is equal."""
    found: dict[Atom, Form] = {}
    for atom in task.atoms:
        whole = Form(0, {atom: 1})
        for less in sorted(_less(atom), key=rank):
            if task.allows(whole, less):
                found[atom] = less
                break
    return operations.replace(task.form, found)


def _less(atom: Atom) -> Iterator[Form]:
    """The operation without one of its operands or terms, or on multiples of a common factor."""
    if atom.kind in EXTREMA:
        for operand in atom.arguments:
            others = tuple(other for other in atom.arguments if other is not operand)
            yield operations.build(atom.kind, others)
    elif atom.divisor:
        yield from _shorter(atom)
        if atom.kind is not AtomKind.CEILDIV:
            yield from _coarser(atom)


def _shorter(atom: Atom) -> Iterator[Form]:
    """The operation on the numerator less one term, or less the constant."""
    numerator, divisor = atom.arguments
    rests = [numerator.without(term) for term in numerator.terms]
    for rest in (*rests, numerator.plus_constant(-numerator.constant)):
        yield operations.build(atom.kind, (rest, divisor))


def _coarser(atom: Atom) -> Iterator[Form]:
    """The operation on units of a factor that some coefficients share with the divisor."""
    numerator, divisor = atom.arguments
    for unit in sorted({gcd(factor, atom.divisor) for factor in numerator.terms.values()} - {1}):
        multiples = {term: factor for term, factor in numerator.terms.items() if not factor % unit}
        whole = Form(numerator.constant, multiples).exactly_divided(unit)
        rest = numerator.plus(whole, -unit)
        on_units = operations.build(atom.kind, (whole, forms.constant(divisor.constant // unit)))
        yield on_units if atom.kind is AtomKind.FLOORDIV else on_units.times(unit).plus(rest)


# By pieces, and by steps.


def _by_parts(task: Task, shorter: Callable[[Task, Form], Form]) -> Form:
    """The form, or each operation in it, in a shorter way."""
    whole = shorter(task, task.form)
    if whole is not task.form:
        return whole
    found = {atom: shorter(task, Form(0, {atom: 1})) for atom in task.atoms}
    return operations.replace(task.form, found)


def _merged(task: Task, form: Form) -> Form:
    """The only piece of the form, or the least or greatest of a few; or the form."""
    (value,) = task.space.expressions([form])
    pieces = value.coalesce().gist(task.domain).coalesce().get_pieces()
    if 0 < len(pieces) <= MAX_EXACT_PIECES:
        parts = [task.space.form_of(part) for _, part in pieces]
        for merged in (operations.maximum(parts), operations.minimum(parts)):
            if task.allows(form, merged):
                return merged
    return form


def _stepwise(task: Task, form: Form) -> Form:
    """The form as a table of few steps, if it has one variable and that has few values."""
    names = [*forms.variables_of((form,))]
    bounds = {name: task.space.bounds[name] for name in names}
    points = points_with_values(form, bounds, (), MAX_TABLE) if len(names) == 1 else None
    values = [int(value) for _, found in points or () for value in found]
    if not values:
        return form
    first = bounds[names[0]].lower or 0
    table = evaluation.tabulated(values, forms.variable(names[0]).plus_constant(-first))
    return table if len(table.terms) <= MAX_EXACT_PIECES and task.allows(form, table) else form


_by_pieces = partial(_by_parts, shorter=_merged)
_by_steps = partial(_by_parts, shorter=_stepwise)
_METHODS: Final = (_by_relations, _by_leaving_out, _by_pieces, _by_steps)


# Linear equations.


def relations(space: Space, domain: islpy.Set, atoms: Sequence[Atom]) -> dict[Atom, Form]:
    """Forms that are 0 on the domain, each by its most expensive atom, which occurs in no other.

    Of up to eight atoms they imply every equation ``constant + sum(coefficient * atom) = 0`` over
    atoms and variables that holds on the domain; more atoms are looked at eight at a time.
    """
    starts = range(0, len(atoms) or 1, MAX_EXACT_GROUP)
    groups = (atoms[start : start + MAX_EXACT_GROUP] for start in starts)
    return solved(row for group in groups for row in _equations(space, domain, group))


def _equations(space: Space, domain: islpy.Set, atoms: Sequence[Atom]) -> Iterator[Form]:
    graph = space.isl.Map.from_domain(domain)
    for value in space.expressions([Form(0, {atom: 1}) for atom in atoms]):
        graph = graph.flat_range_product(space.isl.Map.from_pw_aff(value))
    hull = graph.wrap().flatten().affine_hull().remove_divs()
    unknowns = [*map(forms.variable_atom, space.bounds), *atoms]
    return (_equation(space, row, unknowns) for row in hull.get_constraints() if row.is_equality())


def _equation(space: Space, row: islpy.Constraint, unknowns: Sequence[Atom]) -> Form:
    kind = space.isl.dim_type.set
    factors = [row.get_coefficient_val(kind, position) for position in range(len(unknowns))]
    terms = dict(zip(unknowns, map(integer, factors), strict=True))
    return forms.collected(integer(row.get_constant_val()), terms)


def solved(rows: Iterable[Form]) -> dict[Atom, Form]:
    """The same equations, solved for their most expensive atoms; by falling cost.

    >>> x, y, z = map(forms.variable, "xyz")
    >>> list(solved([x + y + z - 3, y + z - 2]).values())
    [Form(y + z - 2), Form(x - 1)]
    """
    left = list(rows)
    found: dict[Atom, Form] = {}
    while left := [row for row in left if row.terms]:
        atom = max((atom for row in left for atom in row.terms), key=_order)
        holding = (row for row in left if atom in row.terms)
        pivot = min(holding, key=lambda row: abs(row.terms[atom]))
        left = [_without(row, atom, pivot) for row in left if row is not pivot]
        found = {known: _without(row, atom, pivot) for known, row in found.items()}
        found[atom] = pivot
    return {atom: row if row.terms[atom] > 0 else -row for atom, row in found.items()}


def _order(atom: Atom) -> tuple[int, forms.Key]:
    """Key that sorts atoms by cost; the atoms inside an atom come before it."""
    return cost_of_form(Form(0, {atom: 1})), atom.order


def _without(row: Form, atom: Atom, pivot: Form) -> Form:
    """The equation less a multiple of another, so that the atom is gone."""
    factor, unit = row.terms.get(atom, 0), pivot.terms[atom]
    if not factor:
        return row
    common = gcd(factor, unit)
    rest = row.times(unit // common).plus(pivot, -factor // common)
    return rest.exactly_divided(gcd(rest.constant, *rest.terms.values()) or 1)


def reduced(form: Form, equations: Mapping[Atom, Form]) -> Form:
    """The cheapest form found that is equal where the equations hold."""
    everywhere = best = form
    for atom, equation in equations.items():
        everywhere = _substituted(everywhere, atom, equation)
        best = min(best, _substituted(best, atom, equation), key=rank)
    return min(best, everywhere, key=rank)


def _substituted(form: Form, atom: Atom, equation: Form) -> Form:
    times, rest = divmod(form.terms.get(atom, 0), equation.terms[atom])
    return form if rest else form.plus(equation, -times)


def rank(form: Form) -> tuple[int, int]:
    """Cost of a form; of equal cost, the one of fewer terms is better."""
    return cost_of_form(form), len(form.terms)
