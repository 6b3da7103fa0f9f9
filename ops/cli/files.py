"""Queries of modules, and their answers for one file or for many, in one or several processes.

A query is a value, so that it can be sent to another process.
"""

from __future__ import annotations

import gzip
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from indexing.startup import collect_seldom
from ops import Batch, FileAnswer, ModuleAnalysis, analyze, analyze_files, hlo
from ops.cli import documents
from ops.cli.console import Console, show_warnings
from ops.cli.documents import Document, ErrorLog, Item, Rendering, SelectedQuery, Verbatim
from ops.hlo import HloFileError, HloModule
from ops.hlo.errors import NoSuchComputationError, NoSuchInstructionError
from ops.hlo.files import decoded, read_text
from simplifier.errors import IndexingError, listed

_FILES_PER_JOB: Final = 8
"""The number of files for each process that may be ahead of the one that is printed next."""

_FAST: Final = 1
"""The level of compression: it makes JSON ten times smaller, in a hundredth of the time of maps."""

_PIECE: Final = 1 << 16
"""How many characters of a text are printed at once."""

_STANDARD_INPUT: Final = "-"


def answer_files(
    query: SelectedQuery, files: Sequence[str], jobs: int, console: Console
) -> Document:
    """The document of a command about files, and about the modules in folders.

    The items of the document are the answers about one file, or else a document for each file.
    ``jobs`` processes answer, or one for each core if it is 0.
    """
    if len(files) == 1 and not Path(files[0]).is_dir():
        return _about_one(query, files[0], console)
    items, nothing = _about_all(query, files, jobs, console), query.why_nothing()
    return Document("modules", items, query.about(), separator="", nothing=nothing)


# One file.


def _about_one(query: SelectedQuery, file: str, console: Console) -> Document:
    module = documents.attempt(load_module, file)
    if isinstance(module, IndexingError):
        name, items = None, [module]
    else:
        name, items = module.name, _sections(query, module, console)
    fields = {"file": file, "module": name} | query.about()
    limit, nothing = query.selection.limit, query.why_nothing()
    return Document(query.name, items, fields, limit=limit, nothing=nothing)


def load_module(file: str) -> HloModule:
    """The module of a file or of standard input.

    Raises:
        HloFileError, HloTextError: it cannot be read.
    """
    return hlo.parse(*read_input(file))


def _sections(
    query: SelectedQuery, module: HloModule, console: Console
) -> Iterable[Item | IndexingError]:
    subjects = documents.attempt(query.subjects, module)
    if isinstance(subjects, IndexingError):
        return [subjects]
    return _answered(query, analyze(module), console.track(subjects, query.name))


def _answered(
    query: SelectedQuery, analysis: ModuleAnalysis, subjects: Iterable[Any]
) -> Iterator[Item | IndexingError]:
    answers = (documents.attempt(query.answer, analysis, subject) for subject in subjects)
    return query.selection.kept(answers)


def read_input(file: str) -> tuple[str, str]:
    """The text of a file or of standard input, and its name in messages.

    Raises:
        HloFileError: there is no such file, or it is not text.
    """
    if file == _STANDARD_INPUT:
        if sys.stdin is None:
            raise HloFileError("<stdin>", "standard input is closed")
        return decoded(sys.stdin.buffer.read(), "<stdin>"), "<stdin>"
    return read_text(file), file


# Many files.


class _Printed(NamedTuple):
    """The text of a document that another process made, and the messages of its errors."""

    content: bytes
    """Compressed, because many may wait for their turn."""
    messages: tuple[str, ...]
    has_unknown: bool

    def pieces(self) -> Iterator[str]:
        """Some lines of the text at a time, as all of them need much memory."""
        with gzip.open(BytesIO(self.content), "rt", encoding="utf-8", newline="\n") as file:
            while piece := file.read(_PIECE) + file.readline():
                yield piece[:-1]


def _about_all(
    query: SelectedQuery, files: Sequence[str], jobs: int, console: Console
) -> Iterator[Item | IndexingError]:
    """The entries of files and folders, in their order."""
    found = [documents.attempt(_files_in, file) for file in files]
    yield from (each for each in found if isinstance(each, IndexingError))
    paths = [path for each in found if not isinstance(each, IndexingError) for path in each]
    nameless: list[_NoSuch] = []
    is_named = False
    for answer in console.track(_batch(query, paths, jobs, console.rendering), "modules"):
        is_named |= answer.error is None
        if isinstance(answer.error, (NoSuchInstructionError, NoSuchComputationError)):
            nameless.append(answer.error)
        else:
            yield Verbatim(_pieces(answer.answer or _unread(query, answer), console))
    if nameless and not is_named:
        yield _no_such(nameless, files)


def _pieces(answer: Document | _Printed, console: Console) -> Iterator[str]:
    """The text of the document of a file, which is made now if it is not made yet."""
    if isinstance(answer, Document):
        return console.pieces(answer)
    for message in answer.messages:
        console.report_error(message)
    console.has_unknown |= answer.has_unknown
    return answer.pieces()


def _files_in(file: str) -> list[str]:
    if file == _STANDARD_INPUT:
        raise HloFileError(file, "standard input is read by itself, not beside files")
    if not Path(file).is_dir():
        return [file]
    found = hlo.files_in(file)
    if not found:
        raise HloFileError(file, "the folder holds no HLO modules")
    return found


def _batch(
    query: SelectedQuery, paths: Sequence[str], jobs: int, rendering: Rendering
) -> Batch[Document] | Batch[_Printed]:
    """The documents of files; those that other processes make are printed there."""
    workers = jobs or os.cpu_count() or 1
    if min(workers, len(paths)) <= 1:
        return analyze_files(paths, partial(_document, query))
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - few need it
    from multiprocessing import get_context  # noqa: PLC0415 - likewise

    return analyze_files(
        paths,
        partial(_printed, query, rendering),
        executor=partial(ProcessPoolExecutor, workers, get_context("spawn"), _start),
        in_flight=_FILES_PER_JOB * workers,
        ordered=True,
    )


def _start() -> None:
    """Prepare a fresh process of the pool, which an interrupt ends silently."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    show_warnings()
    collect_seldom()


def _document(query: SelectedQuery, analysis: ModuleAnalysis) -> Document:
    """The document of one among many files; its items are made when it is printed."""
    module = analysis.module
    items = _answered(query, analysis, query.subjects(module))
    return _titled(query, _expected(items, module.file), module.file, module.name)


def _expected(items: Iterable[Item | IndexingError], file: str) -> Iterator[Item | IndexingError]:
    """The items of a file; an unexpected error ends them."""
    try:
        yield from items
    except Exception as error:  # noqa: BLE001 - other files are answered all the same
        yield _unexpected(file, error)


def _unexpected(file: str, error: Exception | None) -> HloFileError:
    return HloFileError(file, f"{type(error).__name__}: {error}")


def _unread(query: SelectedQuery, answer: FileAnswer[Any]) -> Document:
    """The document of a file without an answer."""
    error = answer.error
    if not isinstance(error, IndexingError):
        error = _unexpected(answer.path, error)
    return _titled(query, [error], answer.path, None)


def _titled(
    query: SelectedQuery, items: Iterable[Item | IndexingError], file: str, module: str | None
) -> Document:
    fields = {"file": file, "module": module}
    limit = query.selection.limit
    return Document(query.name, items, fields, title=f"==> {file} <==", limit=limit)


def _printed(query: SelectedQuery, rendering: Rendering, analysis: ModuleAnalysis) -> _Printed:
    """The document of a file as text; it is made in the process that reads the file."""
    errors, content = ErrorLog(), BytesIO()
    document = _document(query, analysis)
    with gzip.open(content, "wt", _FAST, encoding="utf-8", newline="\n") as file:
        file.writelines(f"{piece}\n" for piece in rendering(document, errors))
    return _Printed(content.getvalue(), errors.messages, errors.has_unknown)


_NoSuch: TypeAlias = NoSuchInstructionError | NoSuchComputationError


def _no_such(errors: Sequence[_NoSuch], files: Sequence[str]) -> _NoSuch:
    """The error that no file has anything with a name, with the nearest names of all."""
    first = errors[0]
    near = dict.fromkeys(other for error in errors for other in error.near)
    return type(first)(first.name, get_close_matches(first.name, near), listed(files))
