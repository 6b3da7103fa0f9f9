"""What is answered about modules: a document about one file, or an entry for each of many."""

from __future__ import annotations

import os
import signal
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ops import NoSuchInstructionError, analyze, analyze_files, hlo
from ops.cli.documents import Document, asked
from ops.cli.errors import Complaints, attempt
from ops.cli.inputs import STANDARD_INPUT, read_input
from ops.cli.packing import Packed
from ops.hlo import HloFileError
from simplifier.errors import IndexingError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor

    from ops import Batch, FileAnswer, ModuleAnalysis
    from ops.cli.console import Console
    from ops.cli.documents import Item
    from ops.cli.fields import Fields
    from ops.cli.questions import AnyQuestion
    from ops.cli.renderings import Rendering
    from ops.hlo import HloModule

_FILES_PER_JOB: Final = 8
"""How many files may be ahead of the one that is printed next."""


def answer_files(
    command: str, question: AnyQuestion, files: Sequence[str], jobs: int, console: Console
) -> Document:
    """What a command answers about files, and about the modules in folders.

    One file has a document of its own, in which what is asked about has items. Of several, each is
    an item; ``jobs`` processes work on them, or as many as there are cores where it is 0.
    """
    if len(files) == 1 and not Path(files[0]).is_dir():
        return _about_one(command, question, files[0], console)
    fields = asked(command) | question.about()
    return Document("modules", _about_all(question, files, jobs, console), fields, separator="")


# One file.


def _about_one(command: str, question: AnyQuestion, file: str, console: Console) -> Document:
    module = attempt(_load, file)
    if isinstance(module, IndexingError):
        name, items = None, [module]
    else:
        name, items = module.name, _sections(question, module, console)
    fields = asked(command) | {"file": file, "module": name} | question.about()
    return Document(question.name, items, fields)


def _load(file: str) -> HloModule:
    return hlo.parse(*read_input(file))


def _sections(
    question: AnyQuestion, module: HloModule, console: Console
) -> Iterable[Item | IndexingError]:
    subjects = attempt(question.subjects, module)
    if isinstance(subjects, IndexingError):
        return [subjects]
    return _answered(question, analyze(module), console.track(subjects, question.name))


def _answered(
    question: AnyQuestion, analysis: ModuleAnalysis, subjects: Iterable[Any]
) -> Iterator[Item | IndexingError]:
    return (attempt(question.answer, analysis, subject) for subject in subjects)


# Many files.


class _Printed(NamedTuple):
    """A document as it stands, and what its errors say."""

    content: Packed
    complaints: tuple[str, ...]


def _about_all(
    question: AnyQuestion, files: Sequence[str], jobs: int, console: Console
) -> Iterator[Item | IndexingError]:
    """The entries of files and folders, in their order."""
    found = [attempt(_files_in, file) for file in files]
    yield from (each for each in found if isinstance(each, IndexingError))
    paths = [path for each in found if not isinstance(each, IndexingError) for path in each]
    nameless: list[NoSuchInstructionError] = []
    is_named = False
    for answer in console.track(_batch(question, paths, jobs, console.rendering), "modules"):
        is_named |= answer.error is None
        if isinstance(answer.error, NoSuchInstructionError):
            nameless.append(answer.error)
        else:
            printed = answer.answer or _unread(question, answer, console.rendering)
            for message in printed.complaints:
                console.complain(message)
            yield printed.content
    if nameless and not is_named:
        yield _no_such(nameless, files)


def _files_in(file: str) -> list[str]:
    if file == STANDARD_INPUT:
        raise HloFileError(file, "standard input is read by itself, not beside files")
    if not Path(file).is_dir():
        return [file]
    found = hlo.files_in(file)
    if not found:
        raise HloFileError(file, "the folder holds no HLO modules")
    return found


def _batch(
    question: AnyQuestion, paths: Sequence[str], jobs: int, rendering: Rendering
) -> Batch[_Printed]:
    workers = jobs or os.cpu_count() or 1
    return analyze_files(
        paths,
        partial(_entry, question, rendering),
        executor=_processes(workers) if min(workers, len(paths)) > 1 else None,
        in_flight=_FILES_PER_JOB * workers,
        ordered=True,
    )


def _processes(count: int) -> Callable[[], Executor]:
    """What makes a pool of fresh processes, which an interrupt ends without a word."""
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - few need it
    from multiprocessing import get_context  # noqa: PLC0415 - likewise

    quietly = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return partial(ProcessPoolExecutor, count, get_context("spawn"), quietly)


def _entry(question: AnyQuestion, rendering: Rendering, analysis: ModuleAnalysis) -> _Printed:
    """What many documents say of one file; it is made where the file is read."""
    module = analysis.module
    items = _answered(question, analysis, question.subjects(module))
    return _printed(question, {"file": module.file, "module": module.name}, items, rendering)


def _unread(question: AnyQuestion, answer: FileAnswer[_Printed], rendering: Rendering) -> _Printed:
    """The same of a file whose module cannot be asked about."""
    error = answer.error
    if not isinstance(error, IndexingError):
        error = HloFileError(answer.path, f"{type(error).__name__}: {error}")
    return _printed(question, {"file": answer.path, "module": None}, [error], rendering)


def _printed(
    question: AnyQuestion,
    fields: Fields,
    items: Iterable[Item | IndexingError],
    rendering: Rendering,
) -> _Printed:
    complaints = Complaints()
    document = Document(question.name, items, fields, title=f"==> {fields['file']} <==")
    return _Printed(Packed.of(rendering(document, complaints)), complaints.messages)


def _no_such(
    errors: Sequence[NoSuchInstructionError], files: Sequence[str]
) -> NoSuchInstructionError:
    """That no file has an instruction of a name, with the nearest names of all."""
    name = errors[0].name
    near = dict.fromkeys(other for error in errors for other in error.near)
    return NoSuchInstructionError(name, get_close_matches(name, near), listed(files))
