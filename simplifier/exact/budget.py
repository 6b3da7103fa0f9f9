"""How long isl may work on a question: budgets of operations or of time, spent in attempts.

A question is asked with few operations first, and with more as long as it takes no more than
seconds, or what its caller gives.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from datetime import timedelta
from math import inf
from time import process_time
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from simplifier.errors import IndexingError
from simplifier.exact.isl import BASE, kept_context, load_isl, own_context
from simplifier.exact.space import NotQuasiAffineError, Space

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    import islpy

    from simplifier.bounds.interval import Interval

    Answer = TypeVar("Answer")

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
"""What isl does at least, however large the sets have grown."""

_POINTS_A_SECOND: Final = 500_000
"""Points that are listed and sorted in a second at least; without a time, as many as there are."""

_ANY_POINTS: Final = 1 << 62

_SLOWER: Final = 4
"""So much slower the operations of the next attempt may be: sets grow."""


class BudgetError(IndexingError, RuntimeError):
    """An exact question took more than its ``budget``, or what is given is no budget."""

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
    def attempt(
        self, bounds: Mapping[str, Interval], context: islpy.Context | None = None
    ) -> Generator[Space]:
        """A new space in which a share of the operations may be spent.

        Raises:
            BudgetError: the attempt takes more, or no share is left.
        """
        if self._share and (not self._left or process_time() > self._deadline):
            raise BudgetError(self._share)
        self._left -= 1
        with own_context() if context is None else nullcontext(context) as used:
            space = Space(bounds, used)
            with _counted(used, self._share):
                yield space


@contextmanager
def _counted(context: islpy.Context, operations: int) -> Generator[None]:
    """Raise a :class:`BudgetError` once what is asked inside takes more; 0 is no limit."""
    before = context.get_max_operations()
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield
    except load_isl().Error as error:
        _check_is_out_of_budget(error)
        raise BudgetError(operations) from None
    finally:
        context.reset_operations()
        context.set_max_operations(before)


def _check_is_out_of_budget(error: Exception) -> None:
    """Raise an error of isl's again, unless it says that an attempt took too many operations."""
    if "maximal number of operations" not in str(error):
        raise error


def asked_of_kept(ask: Callable[[islpy.Context], Answer], budget: Budget = BUDGET) -> Answer:
    """What a question about sets that are kept answers: as :func:`asked`, but quick to begin.

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
        return asked(lambda _: ask(context), budget, context=context)


def _no_answer(_: int) -> None:
    """What is known without isl of most questions."""


def asked(
    ask: Callable[[Space], Answer],
    budget: Budget,
    bounds: Mapping[str, Interval] | None = None,
    *,
    context: islpy.Context | None = None,
    otherwise: Callable[[int], Answer | None] = _no_answer,
) -> Answer:
    """What a question answers in a new space within a budget; with :data:`BUDGET`, within seconds.

    It is asked with few operations first. If these are not enough, or isl cannot express it,
    ``otherwise`` may know the answer without isl, from a list of points; it is told how many there
    is time for. Then it is asked with the budget or, if that is a time or :data:`BUDGET`,
    with more and more operations, while time is left. The clock only tells when to give up: no
    answer depends on it.

    Raises:
        BudgetError: it has no answer within the budget, or within seconds.
    """
    checked_budget(budget)
    pace = _Pace(budget)
    is_first = True
    while True:
        pace.begin()
        try:
            with Allowance(pace.operations).attempt(bounds or {}, context) as space:
                return ask(space)
        except BudgetError:
            may_go_on = pace.may_go_on()
            found = otherwise(pace.points()) if is_first else None
            if found is not None:
                return found
            if not may_go_on and isinstance(budget, timedelta):
                raise BudgetError(budget) from None
            if not may_go_on:
                raise
        except NotQuasiAffineError:
            found = otherwise(pace.points())
            if found is None:
                raise
            return found
        is_first = False


class _Pace:
    """With how many operations a question is asked, and asked again."""

    def __init__(self, budget: Budget) -> None:
        self.operations: int | None = ATTEMPT
        self._budget = budget
        self._start = self._begun = process_time()
        self._was_long = False
        if isinstance(budget, timedelta):
            self.operations = _first_attempt(budget)
        elif budget is not None:
            self.operations = min(budget, ATTEMPT)

    def begin(self) -> None:
        """An attempt begins."""
        self._begun = process_time()

    def points(self) -> int:
        """How many points there is time to list."""
        if not isinstance(self._budget, timedelta):
            return _ANY_POINTS
        left = self._budget.total_seconds() - (process_time() - self._start)
        return max(0, int(left * _POINTS_A_SECOND))

    def may_go_on(self) -> bool:
        """Whether there is another attempt after one that was not enough; it may take more."""
        now = process_time()
        took = now - self._begun
        operations = self.operations
        if operations is None or operations == self._budget:
            return False
        if isinstance(self._budget, timedelta):
            left = self._budget.total_seconds() - (now - self._start)
            within = int(left * operations / (_SLOWER * max(took, 1e-6)))
            self.operations = min(within, _SLOWER * operations)
            return within > operations
        if self._budget != BUDGET:
            self.operations = self._budget
            return True
        was_long, self._was_long = self._was_long, took > _MAX_SECONDS
        self.operations = min(2 * operations, BUDGET)
        # Once may be a collection of garbage.
        return not (was_long and self._was_long)


def _first_attempt(limit: timedelta) -> int:
    """As many operations as end within a time for certain."""
    return max(_FEWEST, min(ATTEMPT, int(limit.total_seconds() * _OPERATIONS_A_SECOND)))


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
