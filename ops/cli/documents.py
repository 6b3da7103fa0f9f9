"""Documents: answers of commands, as text for people or as JSON for programs.

A document is a list of items. An item is made, printed and forgotten, so that documents may be of
any length; a long one is printed in pieces. JSON has each item of :class:`Lines` on a line.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from ops.analysis.queries import ModuleAnalysis
from ops.fusion import Fusion
from ops.hlo import Computation, HloFileError, HloModule, HloTextError, Instruction
from ops.hlo.errors import NoSuchComputationError, NoSuchInstructionError
from ops.hlo.files import write_text
from ops.hlo.opcodes import bare, check_opcode, near_names
from ops.performance.kernels import kernels_of
from simplifier.errors import IndexingError, TextError
from simplifier.tools.display import aligned

T = TypeVar("T")

Fields: TypeAlias = "dict[str, Any]"
"""The members of a JSON object; ``schema.json`` describes them."""

SCHEMA_VERSION: Final = 1
"""Goes up when a program that reads older documents would misread newer ones."""


@dataclass(frozen=True, slots=True)
class Lines:
    """An item of some lines for people, and an object of fields for programs.

    Either is made when it is printed.
    """

    lines: Iterable[str]
    fields: Callable[[], Fields]
    is_unknown: bool = False
    """Whether a part of the answer is unknown."""

    def text_pieces(self) -> Iterator[str]:
        """The lines together, if there are any."""
        text = "\n".join(self.lines)
        if text:
            yield text

    def json_pieces(self) -> Iterator[str]:
        """The fields on one line."""
        yield json.dumps(self.fields())


class Verbatim:
    """An item that is printed as it stands, whatever the rendering."""

    __slots__ = ("_pieces",)

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = pieces

    @property
    def is_unknown(self) -> bool:
        """Never: the printed text says so itself."""
        return False

    def text_pieces(self) -> Iterator[str]:
        """The pieces."""
        return iter(self._pieces)

    def json_pieces(self) -> Iterator[str]:
        """The pieces."""
        return iter(self._pieces)


Item: TypeAlias = "Lines | Verbatim"
"""One part of a document, in both renderings; each piece is one or more whole lines."""


@dataclass(frozen=True, slots=True)
class Document:
    """Answer of a command: a list of items, which may be made while they are printed.

    An item that is an error takes the place of an answer. In JSON, ``name`` is the name of the list
    and ``fields`` stand beside it. In text, ``title`` is a line above the items, if there are
    any, and ``separator`` one between two of them.
    """

    name: str
    items: Iterable[Item | IndexingError]
    fields: Fields
    title: str | None = None
    separator: str | None = None


def fields_of_command(command: str) -> Fields:
    """The first fields of the documents of a command."""
    return {"schema_version": SCHEMA_VERSION, "command": command}


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


def as_text(document: Document, errors: ErrorLog) -> Iterator[str]:
    """The texts of the items, each as soon as it is made; empty ones leave no line."""
    before = document.title
    for item in errors.answers(document.items):
        for number, piece in enumerate(item.text_pieces()):
            if number == 0 and before is not None:
                yield before
            before = document.separator
            yield piece


def as_json(document: Document, errors: ErrorLog) -> Iterator[str]:
    """One JSON object: the fields, the items as soon as they are made, the errors."""
    yield f'{json.dumps(document.fields)[:-1]}, "{document.name}": ['
    before = ""
    for item in errors.answers(document.items):
        for number, piece in enumerate(item.json_pieces()):
            if before:
                yield f"{before}," if number == 0 else before
            before = piece
    yield from (before,) if before else ()
    yield f'], "errors": {json.dumps(errors.fields)}}}'


# Tables: all rows are found before one is printed, because they share their columns.


class Cells(NamedTuple):
    """The cells of a row, its fields, and lines below it; the rows of most weight come first."""

    cells: Sequence[str]
    fields: Callable[[], Fields]
    weight: float = 0
    remarks: Sequence[str] = ()
    is_unknown: bool = False


def table(heading: Sequence[str], rows: Iterable[Cells]) -> list[Lines]:
    """The rows of a table, from the cells of each.

    >>> rows = [Cells(("4096", "%p"), dict), Cells(("16", "%bias"), dict)]
    >>> for row in table(("reads", "of"), rows):
    ...     print(*row.text_pieces())
    reads  of
     4096  %p
       16  %bias
    """
    listed = [*rows]
    first, *lines = aligned([heading, *(row.cells for row in listed)])
    return [
        Lines([*([] if number else [first]), line, *row.remarks], row.fields, row.is_unknown)
        for number, (line, row) in enumerate(zip(lines, listed, strict=True))
    ]


def by_weight(
    heading: Sequence[str],
    subjects: Iterable[T],
    rows_of: Callable[[T], Iterable[Cells]],
    selection: Selection,
) -> list[Lines | HloTextError]:
    """The table of the rows of some subjects, the heaviest first, and the errors behind it."""
    rows: list[Cells] = []
    errors: list[HloTextError] = []
    for each in subjects:
        try:
            rows += [*rows_of(each)]
        except HloTextError as error:
            errors.append(error)
    rows.sort(key=lambda row: -row.weight)
    return [*table(heading, selection.kept(rows)), *errors]


@dataclass(frozen=True, slots=True)
class SelectedQuery(ABC):
    """A query of each subject of a module: of the selected instructions, and the answers wanted.

    ``name`` is the name of the subjects in documents, which hold the other fields of the query.
    """

    name: ClassVar[str]

    selection: Selection

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


class MaybeUnknown(Protocol):
    """An answer, or a row of a table."""

    @property
    def is_unknown(self) -> bool:
        """Whether something is unknown in it."""
        ...


_Answer = TypeVar("_Answer", bound=MaybeUnknown | IndexingError)


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

    @property
    def is_everything(self) -> bool:
        """Whether no instruction is left out."""
        return not (self.instructions or self.computations or self.opcodes)

    @property
    def whatever_is_read(self) -> Selection:
        """The same instructions, whatever they read."""
        return replace(self, parameters=())

    def of(self, module: HloModule) -> tuple[Instruction, ...]:
        """The instructions of a module that are meant, in order.

        Raises:
            NoSuchInstructionError, NoSuchComputationError: nothing has a name like a pattern.
            ArgumentError: there is no such opcode.
        """
        self.check(module)
        return tuple(
            each
            for each in module.instructions
            if self.has(each) and (not self.parameters or self.reads_some(each.operands))
        )

    def kernels(self, module: HloModule) -> Iterator[Fusion]:
        """The kernels of the selected instructions.

        Raises:
            NoSuchInstructionError, NoSuchComputationError, ArgumentError: as :meth:`of`.
        """
        self.check(module)
        return (
            each
            for each in kernels_of(module)
            if self.has(each.roots[0]) and (not self.parameters or self.reads_some(each.operands))
        )

    def check(self, module: HloModule) -> None:
        """Raise an error if nothing in the module has a name like one of the patterns."""
        for opcode in self.opcodes:
            if not _is_pattern(opcode):
                check_opcode(opcode, "--opcode")
        for patterns in (self.instructions, self.parameters):
            self._check_names(patterns, module.instructions, NoSuchInstructionError, module)
        self._check_names(self.computations, module.computations, NoSuchComputationError, module)

    def check_any(self, modules: Iterable[HloModule]) -> None:
        """Raise an error if none of some modules has anything with a name like a pattern."""
        errors: list[Exception] = []
        for count, module in enumerate(modules, 1):
            try:
                self.check(module)
            except (NoSuchInstructionError, NoSuchComputationError) as error:
                errors.append(error)
            if len(errors) < count:
                return
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

    def reads_some(self, operands: Iterable[Instruction]) -> bool:
        """Whether one of some operands is meant."""
        return any(map(self.is_read, operands))

    def kept(self, answers: Iterable[_Answer]) -> Iterator[_Answer]:
        """The answers that are asked for, up to the limit; errors are among them."""
        count = 0
        for each in answers:
            if isinstance(each, IndexingError):
                yield each
            elif each.is_unknown or not self.unknown:
                count += 1
                yield each
            if count == self.limit:
                return


def _matches(patterns: Sequence[str], name: str) -> bool:
    return not patterns or any(fnmatchcase(name, bare(each, "the pattern")) for each in patterns)


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*?[")
