"""One question about the modules in many files, answered by threads, processes or a cluster."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from functools import partial
from itertools import islice
from traceback import format_exception
from typing import Final, Generic, TypeAlias, TypeVar, cast

from ops.analysis.queries import ModuleAnalysis, analyze
from ops.hlo import load
from simplifier.errors import ArgumentError, IndexingError, check_type, quoted

T = TypeVar("T")

_FILES_PER_CORE: Final = 2
"""One that a worker has, and one that waits for it."""


class QuestionError(IndexingError, TypeError):
    """A question that cannot be sent to another process."""


class WorkerDiedError(IndexingError, RuntimeError):
    """A process died while it worked on a file."""


@dataclass(frozen=True, slots=True)
class FileAnswer(Generic[T]):
    """The answer about the module in a file, or the ``error`` in its place."""

    path: str
    answer: T | None = None
    error: Exception | None = None

    def result(self) -> T:
        """The answer.

        Raises:
            Exception: the error in its place.
        """
        if self.error is not None:
            raise self.error
        return cast("T", self.answer)


class Batch(Iterator[FileAnswer[T]]):
    """The answers about files as they come; its length is the number of files.

    Closing it, or leaving it as a context, cancels all files that no worker has begun.
    """

    def __init__(self, count: int, answers: Generator[FileAnswer[T], None, None]) -> None:
        self._count = count
        self._answers = answers

    def __len__(self) -> int:
        return self._count

    def __next__(self) -> FileAnswer[T]:
        return next(self._answers)

    def __repr__(self) -> str:
        return f"<batch of {self._count} file{'s' * (self._count != 1)}>"

    def close(self) -> None:
        """Ask about no more files."""
        self._answers.close()

    def __enter__(self) -> Batch[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def analyze_files(
    paths: Iterable[str | os.PathLike[str]],
    question: Callable[[ModuleAnalysis], T],
    *,
    executor: Executor | Callable[[], Executor] | None = None,
    in_flight: int | None = None,
    ordered: bool = False,
) -> Batch[T]:
    """Ask a question about the module in each file; answers come as they are found.

    An error in one file, or in ``question``, is the answer about that file. The other files are
    answered all the same.

    Args:
        paths: the files, such as those that :func:`ops.hlo.files_in` finds in a folder.
        question: a function of the :class:`ModuleAnalysis` of a file. For another process it must
            be a function of a Python module, or a :func:`functools.partial` of one, and its
            answers should be small: text and numbers rather than maps.
        executor: any :class:`concurrent.futures.Executor`, such as that of
            ``dask.distributed.Client.get_executor()``, or a function that makes one, such as
            ``ProcessPoolExecutor``. If a process dies, the function makes a new executor, and
            only the file that killed the process has no answer. Without an executor, files are
            read one after another as answers are taken.
        in_flight: the number of files that the executor has at a time, by default two for each
            core of this machine; no more are read before answers are taken.
        ordered: whether answers come in the order of the files.

    Raises:
        QuestionError: the question cannot be sent to another process.
        ValueError: ``in_flight`` is not positive.

    >>> from ops import hlo
    >>> def count_fusions(analysis):
    ...     return sum(each.opcode == "fusion" for each in analysis.module.instructions)
    >>> for found in analyze_files(hlo.files_in("examples"), count_fusions):
    ...     print(found.path, found.result())
    examples/layernorm.hlo 5
    examples/mean_square.hlo 2
    examples/mha_causal.hlo 14
    examples/running_sum.hlo 0
    examples/softmax.hlo 4
    examples/transformer_block_fwd.hlo 31
    """
    check_type(paths, Iterable, "analyze_files: paths", "a list of paths")
    if isinstance(paths, str):
        raise ArgumentError(f"analyze_files: paths is {quoted(paths)}; expected a list of paths")
    if not callable(question):
        message = f"analyze_files: the question is {quoted(question)}; expected a function"
        raise ArgumentError(message)
    files = [_path(path) for path in paths]
    if executor is None:
        return Batch(len(files), (_ask(question, file) for file in files))
    limit = _FILES_PER_CORE * (os.cpu_count() or 1) if in_flight is None else in_flight
    if limit < 1:
        raise ValueError(f"in_flight: expected at least 1, but it is {limit}")
    flight = _Flight(partial(_ask_elsewhere, question), executor, limit)
    if flight.is_of_processes:
        _check_question(question)
    return Batch(len(files), flight.answers(files, ordered=ordered))


def _path(path: str | os.PathLike[str]) -> str:
    check_type(path, (str, os.PathLike), "analyze_files: a path", "a text or a pathlib.Path")
    return os.fspath(path)


def _ask(question: Callable[[ModuleAnalysis], T], path: str) -> FileAnswer[T]:
    try:
        return FileAnswer(path, question(analyze(load(path))))
    except Exception as error:  # noqa: BLE001 - any error is the answer about this file
        return FileAnswer(path, error=error)


def _ask_elsewhere(question: Callable[[ModuleAnalysis], T], path: str) -> FileAnswer[T]:
    found = _ask(question, path)
    return found if found.error is None else FileAnswer(path, error=_sendable(found.error))


def _sendable(error: Exception) -> Exception:
    """The error, with its traceback if it is unexpected; as text if it cannot be pickled."""
    if not isinstance(error, IndexingError):
        error.add_note("".join(format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own; what fails here ends a pool
    except Exception:  # noqa: BLE001 - any class may fail in any way
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _check_question(question: object) -> None:
    try:
        pickle.dumps(question)
    except Exception as error:  # noqa: BLE001 - any class may refuse in any way
        message = f"analyze_files: the question cannot be sent to another process ({error})"
        expected = "expected a function of a module, or a functools.partial of one"
        raise QuestionError(f"{message}; {expected}") from None


_Sent: TypeAlias = "dict[Future[FileAnswer[T]], str]"
"""The files that an executor has, in the order in which they were sent."""


class _Flight(Generic[T]):
    """Sends a bounded number of files at a time to an executor."""

    def __init__(
        self,
        ask: Callable[[str], FileAnswer[T]],
        executor: Executor | Callable[[], Executor],
        limit: int,
    ) -> None:
        self._ask = ask
        self._limit = limit
        self._make = None if isinstance(executor, Executor) else executor
        self._executor = executor if isinstance(executor, Executor) else executor()
        self._sent: _Sent[T] = {}

    @property
    def is_of_processes(self) -> bool:
        """Whether questions and answers are pickled."""
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - it loads much

        return isinstance(self._executor, ProcessPoolExecutor)

    def answers(
        self, files: Iterable[str], *, ordered: bool
    ) -> Generator[FileAnswer[T], None, None]:
        """The answers, as they come or in order."""
        waiting = iter(files)
        try:
            while self._send(waiting):
                yield from self._landed(ordered=ordered)
        finally:
            self._end()

    def _send(self, waiting: Iterator[str]) -> bool:
        """Send as many files as may be in flight; whether there are any."""
        for path in islice(waiting, self._limit - len(self._sent)):
            self._sent[self._submit(path)] = path
        return bool(self._sent)

    def _submit(self, path: str) -> Future[FileAnswer[T]]:
        try:
            return self._executor.submit(self._ask, path)
        except BrokenExecutor as error:
            if self._make is None:
                refused: Future[FileAnswer[T]] = Future()
                refused.set_exception(error)
                return refused
            self._executor.shutdown(wait=False)
            self._executor = self._make()
            return self._executor.submit(self._ask, path)

    def _landed(self, *, ordered: bool) -> Iterator[FileAnswer[T]]:
        first = next(iter(self._sent))
        landed = wait([first] if ordered else self._sent, return_when=FIRST_COMPLETED).done
        for future in [each for each in self._sent if each in landed]:
            if self._make and _is_broken(future):
                yield from self._recovered()
                return
            yield _outcome(future, self._sent.pop(future))

    def _recovered(self) -> Iterator[FileAnswer[T]]:
        """The answers about all files that were in flight when a process died.

        One of them killed it: those without an answer are sent again, one at a time.
        """
        suspects, self._sent = self._sent, {}
        wait(suspects)
        for future, path in suspects.items():
            is_suspect = _is_broken(future)
            alone = self._alone(path) if is_suspect and len(suspects) > 1 else future
            died = WorkerDiedError(f"{path}: the process that worked on it died")
            yield FileAnswer(path, error=died) if _is_broken(alone) else _outcome(alone, path)

    def _alone(self, path: str) -> Future[FileAnswer[T]]:
        """The outcome for a file while no other one is in flight."""
        future = self._submit(path)
        self._sent = {future: path}
        wait(self._sent)
        self._sent = {}
        return future

    def _end(self) -> None:
        """Cancel tasks that have not begun, and shut down an executor that was made here."""
        for future in self._sent:
            future.cancel()
        if self._make:
            self._executor.shutdown(wait=not self._sent, cancel_futures=True)


def _is_broken(future: Future[FileAnswer[T]]) -> bool:
    return not future.cancelled() and isinstance(future.exception(), BrokenExecutor)


def _outcome(future: Future[FileAnswer[T]], path: str) -> FileAnswer[T]:
    """The answer of a future, which may have failed on the way there or back."""
    try:
        return future.result()
    except Exception as error:  # noqa: BLE001 - any error is the answer about this file
        return FileAnswer(path, error=error)
