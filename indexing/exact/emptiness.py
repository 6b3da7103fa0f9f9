"""Whether a set or map is empty: a question that can be asked with and without parentheses."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from simplifier.exact import BUDGET

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from simplifier.exact import Budget

T = TypeVar("T")


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


class asks_emptiness(Generic[T]):  # noqa: N801 - a decorator
    """Makes a method of a budget the attribute ``is_empty``."""

    def __init__(self, ask: Callable[[T], bool]) -> None:
        self._ask: Callable[..., bool] = ask
        self.__doc__ = ask.__doc__

    @overload
    def __get__(self, owner: None, _: type[Any]) -> Callable[..., bool]: ...
    @overload
    def __get__(self, owner: T, _: type[Any] | None = None) -> Emptiness: ...
    def __get__(
        self, owner: T | None, _: type[Any] | None = None
    ) -> Emptiness | Callable[..., bool]:
        return self._ask if owner is None else Emptiness(partial(self._ask, owner))
