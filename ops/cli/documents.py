"""Documents: answers of commands, as text for people or as JSON for programs.

A document is a list of items. An item is made, printed and forgotten, so that documents may be of
any length; a long one is printed in pieces. JSON has each item of :class:`Lines` on a line.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, TypeVar

from ops.analysis.queries import ModuleAnalysis
from ops.fusion import Fusion
from ops.hlo import Computation, HloFileError, HloModule, HloTextError, Instruction
from ops.hlo.errors import NoSuchComputationError, NoSuchInstructionError
from ops.hlo.files import write_text
from ops.hlo.opcodes import bare, check_opcode, near_names
from ops.performance.kernels import kernels_of
from ops.performance.tally import Count, at_most, cell_of_count
from simplifier.errors import IndexingError, TextError
from simplifier.forms import Interval
from simplifier.tools.display import aligned

T = TypeVar("T")

Fields: TypeAlias = "dict[str, Any]"
"""The members of a JSON object; ``schema.json`` describes them."""

SCHEMA_VERSION: Final = 1
"""Goes up when a program that reads older documents would misread newer ones."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a document people get to see: by default everything.

    >>> print(Extent(columns=40).cut("  %x f32[8,128]: (d0, d1)[s0] -> (d0, s0), s0 in [0, 31]"))
      %x f32[8,128]: (d0, d1)[s0] ... --long
    """

    is_brief: bool = False
    """Whether equal answers are one, and long lists are only counted."""
    columns: int | None = None
    """Greatest length of a line."""
    is_long: bool = False
    """Whether each bound of a map has a line of its own."""

    def cut(self, text: str) -> str:
        """The lines of a text, long ones by their beginning."""
        if self.columns is None or len(text) <= self.columns:
            return text
        tail, lines = " ... --long", text.split("\n")
        shown = (
            line if len(line) <= self.columns else line[: self.columns - len(tail)] + tail
            for line in lines
        )
        return "\n".join(shown)


EVERYTHING: Final = Extent()


@dataclass(frozen=True, slots=True)
class Lines:
    """An item of some lines for people, and an object of fields for programs, if it has any.

    Either is made when it is printed.
    """

    lines: Iterable[str] | Callable[[Extent], Iterable[str]]
    fields: Callable[[], Fields] | None = None
    is_unknown: bool = False
    """Whether a part of the answer is unknown."""
    heading: str = ""
    """A line above the first of several items that share it."""
    rank: int = 0
    """Items of a small rank come first where people see some only."""
    alike: Hashable = None
    """Common key of items that are equal but for names, so that few of them are made."""

    def text_pieces(self, extent: Extent) -> Iterator[str]:
        """The lines together, if there are any."""
        text = "\n".join(self.lines(extent) if callable(self.lines) else self.lines)
        if text:
            yield extent.cut(text)

    def json_pieces(self) -> Iterator[str]:
        """The fields on one line."""
        if self.fields:
            yield json.dumps(self.fields())


@dataclass(frozen=True, slots=True)
class Verbatim:
    """An item that is printed as it stands, whatever the rendering: its text says all itself."""

    pieces: Iterable[str]
    heading, rank, alike, is_unknown = "", 0, None, False

    def text_pieces(self, extent: Extent) -> Iterator[str]:  # noqa: ARG002 - as lines
        """The pieces."""
        return iter(self.pieces)

    def json_pieces(self) -> Iterator[str]:
        """The pieces."""
        return iter(self.pieces)


Item: TypeAlias = "Lines | Verbatim"
"""One part of a document, in both renderings; each piece is one or more whole lines."""


@dataclass(frozen=True, slots=True)
class Document:
    """Answer of a command: a list of items, which may be made while they are printed.

    An item that is an error takes the place of an answer. In JSON, ``name`` is the name of the list
    and ``fields`` stand beside it. In text, ``title`` is a line above the items, if there are
    any, ``separator`` one between two of them, and ``nothing`` what is said if nothing is printed.
    ``limit`` is the greatest number of items.
    """

    name: str
    items: Iterable[Item | IndexingError]
    fields: Fields
    title: str | None = None
    separator: str | None = None
    limit: int | None = None
    nothing: str = ""


# Errors of single items, while the others are answered.


class ErrorLog:
    """The errors of a document, each once; ``report`` gets the message as soon as one is met.

    Attributes:
        has_unknown: whether something is unknown in an answer so far.
    """

    def __init__(self, report: Callable[[str], None] | None = None) -> None:
        self._report = report
        self._errors: dict[str, IndexingError] = {}
        self.has_unknown = False

    @property
    def messages(self) -> tuple[str, ...]:
        """The messages so far."""
        return tuple(self._errors)

    @property
    def fields(self) -> list[Fields]:
        """The errors so far, as JSON says them."""
        return list(map(_error_fields, self._errors.values()))

    def answers(self, items: Iterable[Item | IndexingError]) -> Iterator[Item]:
        """The items that are no errors."""
        for item in items:
            if isinstance(item, IndexingError):
                self._meet(item)
            else:
                self.has_unknown |= item.is_unknown
                yield item

    def _meet(self, error: IndexingError) -> None:
        message = str(error)
        if message not in self._errors and self._report:
            self._report(message)
        self._errors[message] = error


def _error_fields(error: IndexingError) -> Fields:
    """The message, and the position of an error in a text."""
    if not isinstance(error, TextError):
        return {"message": str(error)}
    place = {"file": error.span.file, "line": error.span.line, "column": error.span.column}
    named = {"instruction": error.instruction} if isinstance(error, HloTextError) else {}
    return {"message": error.message} | place | named


def attempt(answer: Callable[..., T], *arguments: object) -> T | IndexingError:
    """The answer, or the error in its place, so that the other items are answered."""
    try:
        return answer(*arguments)
    except IndexingError as error:
        return error


# Renderings.

Rendering: TypeAlias = "Callable[[Document, ErrorLog], Iterator[str]]"
"""Makes a document in pieces of whole lines; the log gets the errors among its items."""


def as_text(document: Document, errors: ErrorLog, extent: Extent = EVERYTHING) -> Iterator[str]:
    """The texts of the items; empty ones leave no line.

    Each is printed as soon as it is made, but where equal answers are shown together.
    """
    items = errors.answers(document.items)
    if extent.is_brief:
        groups = islice(_groups(items, extent), document.limit)
        texts = ((each.item.heading, each.pieces()) for each in groups)
    else:
        items = islice(items, document.limit)
        texts = ((each.heading, each.text_pieces(extent)) for each in items)
    before, latest = document.title, ""
    for heading, pieces in texts:
        for number, piece in enumerate(pieces):
            if number == 0:
                yield from () if before is None else (before,)
                yield from () if heading in ("", latest) else (heading,)
                before, latest = document.separator, heading
            yield piece


class _EqualAnswers(NamedTuple):
    """Answers that are equal but for names: the first one, and the texts of the others.

    Of many others only the first have a text.
    """

    item: Item
    text: str
    others: list[str]

    def pieces(self) -> Iterator[str]:
        """The first one, and which others there are; two lines are two lines."""
        yield self.text
        if len(self.others) == 1 and "\n" not in self.text:
            yield from self.others
        elif self.others:
            names = [*dict.fromkeys(map(self._name, self.others[:_LOOKED_AT]))]
            more = ", ..." * (len(self.others) > _FEW_NAMES)
            yield f"    \u00d7{len(self.others) + 1:,}, {', '.join(names[:_FEW_NAMES])}{more}"

    def _name(self, other: str) -> str:
        """The first name in which another answer differs."""
        pairs = zip(_NAME.findall(other), _NAME.findall(self.text), strict=True)
        return next((name for name, first in pairs if name != first), "the same")


_FEW_NAMES: Final = 4
"""How many of the equal answers are named."""

_LOOKED_AT: Final = 4 * _FEW_NAMES
"""How many of the equal answers are looked at for names."""

_NAME: Final = re.compile(r"%[\w.\-]+|\b(?:result|operand|parameter) \d+\b")


def _groups(items: Iterable[Item], extent: Extent) -> list[_EqualAnswers]:
    """The answers, equal ones together; those of a small rank first."""
    found: dict[object, _EqualAnswers] = {}
    alike: dict[Hashable, _EqualAnswers] = {}
    for item in items:
        group = alike.get(item.alike)
        if group and len(group.others) >= _LOOKED_AT:
            group.others.append("")
        elif text := "\n".join(item.text_pieces(extent)):
            names = _NAME.findall(text)
            numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
            shape = _NAME.sub("%", text), tuple(map(numbers.__getitem__, names))
            if shape in found:
                found[shape].others.append(text)
            else:
                found[shape] = _EqualAnswers(item, text, [])
            if item.alike is not None:
                alike[item.alike] = found[shape]
    return sorted(found.values(), key=lambda group: group.item.rank)


def limited(pieces: Iterable[str], most: int, advice: str) -> Iterator[str]:
    r"""The first lines of a text, and how many more there are.

    >>> print(*limited(["%a", "%b\n  %x", "%c"], 2, "--all"), sep="\n")
    %a
    %b
    2 more lines: --all
    """
    left = -most
    for piece in pieces:
        lines = piece.split("\n")
        if left < 0:
            yield "\n".join(lines[:-left])
        left += len(lines)
    if left > 0:
        yield f"{left:,} more line{'s' * (left > 1)}: {advice}"


def as_json(document: Document, errors: ErrorLog) -> Iterator[str]:
    """One JSON object: the fields, the items as soon as they are made, the errors."""
    yield f'{json.dumps(document.fields)[:-1]}, "{document.name}": ['
    before = ""
    for item in islice(errors.answers(document.items), document.limit):
        for number, piece in enumerate(item.json_pieces()):
            if before:
                yield f"{before}," if number == 0 else before
            before = piece
    yield from (before,) if before else ()
    yield f'], "errors": {json.dumps(errors.fields)}}}'


# Tables: all rows are found before one is printed, because they share their columns.


@dataclass(frozen=True, slots=True)
class Bytes:
    """A number of bytes in a table."""

    count: Count
    mark: str = ""
    """In front of it."""

    def __str__(self) -> str:
        """The number with three digits, and a unit.

        >>> print(Bytes(512), Bytes(1_234_567), Bytes(4096, "<="), Bytes(Interval(0, 999_999)))
        512 B 1.23 MB <=4.1 kB 0 to 1 MB
        """
        count = self.count
        if isinstance(count, Interval):
            least, most = Bytes(count.lower or 0), count.upper
            return f"at least {least}" if most is None else f"{least} to {Bytes(most)}"
        if not isinstance(count, int):
            return cell_of_count(count)
        if not count:
            return "0"
        power = min(int(f"{count:.2e}".partition("e")[2]) // 3, len(_UNITS) - 1)
        return f"{self.mark}{count / 1000**power:.3g} {_UNITS[power]}"


_UNITS: Final = ("B", "kB", "MB", "GB", "TB", "PB")

Cell: TypeAlias = "str | Count | float | Bytes | None"


class Cells(NamedTuple):
    """The cells of a row, its fields, and lines below it; the rows of most weight come first.

    The last cell may be made when it is printed.
    """

    cells: Sequence[Cell | Callable[[], str]]
    fields: Callable[[], Fields]
    weight: float = 0
    remarks: Sequence[str] = ()
    is_unknown: bool = False
    alike: Hashable = None

    def weight_by(self, column: int | None) -> float:
        """What to sort by: the number in a column, which is greatest if nobody knows it."""
        if column is None:
            return self.weight
        cell = self.cells[column]
        cell = cell.count if isinstance(cell, Bytes) else cell
        if cell is None or isinstance(cell, str) or callable(cell):
            return -inf
        return cell if isinstance(cell, float) else at_most(cell)


def _text_of_cell(cell: Cell | Callable[[], str]) -> str:
    match cell:
        case Callable():
            return cell()
        case None:
            return ""
        case int():
            return f"{cell:,}"
        case float():
            return f"{cell:.3g}"
        case str() | Bytes():
            return str(cell)
        case _:
            return cell_of_count(cell)


def table(heading: Sequence[str], rows: Iterable[Cells]) -> list[Lines]:
    """The rows of a table, from the cells of each.

    >>> rows = [Cells((4096, Bytes(16384), "%p"), dict), Cells((16, None, "%bias"), dict)]
    >>> for row in table(("reads", "bytes", "of"), rows):
    ...     print(row.heading, *row.text_pieces(EVERYTHING), sep=" | ")
    reads    bytes  of | 4,096  16.4 kB  %p
    reads    bytes  of |    16           %bias
    """
    listed = [*rows]
    numbers = ([*map(_text_of_cell, row.cells[:-1]), ""] for row in listed)
    first, *lines = aligned([heading, *numbers])
    return [
        Lines(partial(_row, line, row), row.fields, row.is_unknown, first, alike=row.alike)
        for line, row in zip(lines, listed, strict=True)
    ]


def _row(numbers: str, row: Cells, extent: Extent) -> Iterator[str]:  # noqa: ARG001 - as lines
    yield numbers + _text_of_cell(row.cells[-1])
    yield from row.remarks


AS_MODULE: Final = "module"
"""The order of the rows that is asked for where none is."""


@dataclass(frozen=True, slots=True)
class SelectedQuery(ABC):
    """A query of each subject of a module: of the selected instructions, and the answers wanted.

    ``name`` is the name of the subjects in documents, which hold the other fields of the query.
    """

    name: ClassVar[str]
    nothing: ClassVar[str] = "nothing is read"
    """What is said where there is no answer."""

    selection: Selection

    def why_nothing(self) -> str:
        """Why there is no answer."""
        if self.selection.unknown:
            return "nothing is unknown"
        among = "" if self.selection.is_everything else " among what is selected"
        return f"{self.nothing}{among}"

    def about(self) -> Fields:
        """The fields of the query in documents."""
        names = (each.name for each in fields(self))
        return {name: getattr(self, name) for name in names if name != "selection"}

    @abstractmethod
    def subjects(self, module: HloModule) -> Sequence[Any]:
        """The subjects in a module.

        Raises:
            NoSuchInstructionError, NoSuchComputationError: the module has nothing with a name
                that it asks for.
        """

    @abstractmethod
    def answer(self, analysis: ModuleAnalysis, subject: Any) -> Lines:  # noqa: ANN401 - of each query
        """The answer about a subject.

        Raises:
            HloTextError: what a rule of the user answers does not fit an instruction.
        """


class TableQuery(SelectedQuery):
    """A query whose subjects are the rows of a table: all are found before one is printed."""

    __slots__ = ()
    nothing: ClassVar[str] = "no kernel runs"

    def answer(self, analysis: ModuleAnalysis, subject: Lines | HloTextError) -> Lines:  # noqa: ARG002 - as all queries
        """The row, or the error."""
        if isinstance(subject, HloTextError):
            raise subject
        return subject


# Pictures in files.


def write_svg(file: str, svg: str) -> None:
    """Write a picture to a file.

    Raises:
        HloFileError: the name promises another kind of picture, or the file cannot be written.
    """
    kind = Path(file).suffix
    if kind not in {"", ".svg"}:
        raise HloFileError(file, f"the picture is an SVG, not {kind}; expected a name in .svg")
    write_text(file, f"{svg}\n")


# Selection of a command: instructions by name, computation and opcode, and answers.


@dataclass(frozen=True, slots=True)
class Selection:
    """Instructions that match one of the patterns of each kind; without patterns, any.

    In a pattern, ``*`` is any text, ``?`` any character, and ``[12]`` one of some.

    >>> from ops.hlo import load
    >>> module = load("examples/softmax.hlo")
    >>> [each.name for each in Selection(("*fusion",), opcodes=("fusion",)).of(module)]
    ['ynn_fusion', 'broadcast_divide_fusion', 'broadcast_multiply_fusion']
    """

    instructions: Sequence[str] = ()
    computations: Sequence[str] = ()
    opcodes: Sequence[str] = ()
    parameters: Sequence[str] = ()
    """Patterns of operands: only reads of these are answered; a fusion's have two names."""
    unknown: bool = False
    """Whether to give only answers in which something is unknown."""
    limit: int | None = None
    """Greatest number of answers about a module."""
    sort: str = ""
    """The column of a table whose greatest number comes first; by default that of its query."""

    @property
    def is_everything(self) -> bool:
        """Whether no instruction is left out."""
        return not (self.instructions or self.computations or self.opcodes)

    def of(self, module: HloModule) -> tuple[Instruction, ...]:
        """The instructions of a module that are meant, in order.

        Raises:
            NoSuchInstructionError, NoSuchComputationError: nothing has a name like a pattern.
            ArgumentError: there is no such opcode.
        """
        self.check(module)
        return tuple(each for each in module.instructions if self._means(each, each))

    def kernels(self, module: HloModule) -> Iterator[Fusion]:
        """The kernels of the selected instructions.

        Raises:
            NoSuchInstructionError, NoSuchComputationError, ArgumentError: as :meth:`of`.
        """
        self.check(module)
        return (each for each in kernels_of(module) if self._means(each.roots[0], each))

    def _means(self, instruction: Instruction, reader: Instruction | Fusion) -> bool:
        return self.has(instruction) and (not self.parameters or self.is_read(*reader.operands))

    def check(self, module: HloModule) -> None:
        """Raise an error if nothing in the module has a name like one of the patterns."""
        for opcode in self.opcodes:
            if not any(sign in opcode for sign in "*?["):
                check_opcode(opcode, "--opcode")
        for patterns in (self.instructions, self.parameters):
            self._check_names(patterns, module.instructions, NoSuchInstructionError, module)
        self._check_names(self.computations, module.computations, NoSuchComputationError, module)

    def check_any(self, modules: Iterable[HloModule]) -> None:
        """Raise an error if none of some modules has anything with a name like a pattern."""
        checked = [attempt(self.check, each) for each in modules]
        errors = [each for each in checked if each is not None]
        if len(errors) == len(checked):
            raise errors[-1]

    def _check_names(
        self,
        patterns: Sequence[str],
        named: Iterable[Computation | Instruction],
        error: type[NoSuchInstructionError | NoSuchComputationError],
        module: HloModule,
    ) -> None:
        names = [each.name for each in named] if patterns else []
        for pattern in patterns:
            if not any(_matches((pattern,), name) for name in names):
                wanted = bare(pattern, "the pattern")
                raise error(wanted, tuple(near_names(wanted, names)), module.file)

    def has(self, instruction: Instruction) -> bool:
        """Whether an instruction is meant."""
        return (
            _matches(self.instructions, instruction.name)
            and _matches(self.computations, instruction.computation.name)
            and _matches(self.opcodes, instruction.opcode)
        )

    def is_read(self, *names: Instruction) -> bool:
        """Whether answers are about an operand, which has one or several names."""
        return any(_matches(self.parameters, each.name) for each in names)

    def by_weight(
        self, heading: Sequence[str], subjects: Iterable[T], rows_of: Callable[[T], Iterable[Cells]]
    ) -> list[Lines | HloTextError]:
        """The table of the rows of some subjects, the heaviest first, and the errors behind it."""
        rows: list[Cells] = []
        errors: list[HloTextError] = []
        for each in subjects:
            try:
                rows += [*rows_of(each)]
            except HloTextError as error:
                errors.append(error)
        if self.sort != AS_MODULE:
            column = heading.index(self.sort) if self.sort in heading else None
            rows.sort(key=lambda row: -row.weight_by(column))
        return [*table(heading, rows), *errors]

    def kept(self, answers: Iterable[Item | IndexingError]) -> Iterator[Item | IndexingError]:
        """The answers that are asked for; errors are among them."""
        if not self.unknown:
            return iter(answers)
        return (each for each in answers if isinstance(each, IndexingError) or each.is_unknown)


def _matches(patterns: Sequence[str], name: str) -> bool:
    return not patterns or any(fnmatchcase(name, bare(each, "the pattern")) for each in patterns)
