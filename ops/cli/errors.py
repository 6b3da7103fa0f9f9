"""What goes wrong with single items of a document, while the others are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ops.hlo import HloTextError
from simplifier.errors import IndexingError, TextError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ops.cli.fields import Fields

T = TypeVar("T")


class Complaints:
    """The errors of a document, each once; ``tell`` hears of one as soon as it is met."""

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self._tell = tell
        self._errors: dict[str, IndexingError] = {}

    @property
    def errors(self) -> Iterable[IndexingError]:
        """The errors so far."""
        return self._errors.values()

    @property
    def messages(self) -> tuple[str, ...]:
        """What they say."""
        return tuple(self._errors)

    def sifted(self, items: Iterable[T | IndexingError]) -> Iterator[T]:
        """The items that are no errors."""
        for item in items:
            if isinstance(item, IndexingError):
                self._meet(item)
            else:
                yield item

    def _meet(self, error: IndexingError) -> None:
        message = str(error)
        if message not in self._errors and self._tell:
            self._tell(message)
        self._errors[message] = error


def attempt(answer: Callable[..., T], *arguments: object) -> T | IndexingError:
    """The answer, or the error in its place: one wrong item leaves the others alone."""
    try:
        return answer(*arguments)
    except IndexingError as error:
        return error


def error_fields(error: IndexingError) -> Fields:
    """An error for programs: what is wrong, and where if it is in a text."""
    if not isinstance(error, TextError):
        return {"message": str(error)}
    place = {"file": error.span.file, "line": error.span.line, "column": error.span.column}
    named = {"instruction": error.instruction} if isinstance(error, HloTextError) else {}
    return {"message": error.message} | place | named
