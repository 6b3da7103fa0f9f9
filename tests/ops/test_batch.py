"""Batches of modules: any executor answers alike, and what is wrong with a file spoils no other."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import Mock

import pytest

from ops import FileAnswer, QuestionError, WorkerDiedError, analyze_files, hlo
from tests.extent import part
from tests.ops import batch_questions
from tests.ops.batch_questions import leaves_a_mark, refuses_some, root_map, root_name

T = TypeVar("T")
Maker = Callable[[], Executor]


class Immediate(Executor):
    """An executor that answers at once, and remembers what it was given."""

    def __init__(self) -> None:
        self.given = 0
        self.ended = False

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:  # noqa: ANN401 - as declared
        self.given += 1
        future: Future[T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        del wait, cancel_futures
        self.ended = True


def processes(method: str, workers: int = 2) -> futures.ProcessPoolExecutor:
    """A pool whose processes begin in one of Python's ways."""
    return futures.ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(method))


spawned, one_spawned = partial(processes, "spawn"), partial(processes, "spawn", 1)
EXECUTORS: dict[str, Maker | None] = {
    "one after another": None,
    "threads": partial(ThreadPoolExecutor, 2),
    "spawned processes": spawned,
    "processes of a server": partial(processes, "forkserver", 1),
    "an executor of its user": Immediate,
}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return written(tmp_path, [f"r{number}" for number in range(8)])


def written(folder: Path, roots: list[str]) -> list[str]:
    """Files, each with a module whose root has a name."""
    text = "HloModule m ENTRY e {{ p = f32[4,8] parameter(0) ROOT {} = f32[32] reshape(p) }}"
    for number, root in enumerate(roots):
        (folder / f"{number:04}.hlo").write_text(text.format(root))
    return hlo.files_in(folder)


every_executor = pytest.mark.parametrize("maker", EXECUTORS.values(), ids=list(EXECUTORS))


@every_executor
def test_all_executors_answer_alike(maker: Maker | None, files: list[str]) -> None:
    expected = {path: f"r{number}" for number, path in enumerate(files)}
    with nullcontext() if maker is None else maker() as executor:
        found = list(analyze_files(files, root_name, executor=executor))
        assert {each.path: each.result() for each in found} == expected
        assert len(found) == len(files)
        found = list(analyze_files(files, root_name, executor=executor, ordered=True))
        assert {each.path: each.result() for each in found} == expected
        assert [each.path for each in found] == files


def test_an_executor_of_the_user_is_left_running_and_one_made_is_ended(files: list[str]) -> None:
    executor = Immediate()
    assert len(list(analyze_files(files, root_map, executor=executor))) == len(files)
    assert not executor.ended
    list(analyze_files(files, root_name, executor=lambda: executor))
    assert executor.ended
    with ThreadPoolExecutor(1) as threads:
        assert not any(each.error for each in analyze_files(files, root_map, executor=threads))
        assert threads.submit(int).result() == 0


@every_executor
def test_what_is_wrong_is_the_answer_about_its_file(maker: Maker | None, tmp_path: Path) -> None:
    files = written(tmp_path, ["fine", "raised", "stubborn", "also_fine"])
    (tmp_path / "0004.hlo").write_text("HloModule m ENTRY e {")
    files += [str(tmp_path / "0004.hlo"), str(tmp_path / "missing.hlo"), str(tmp_path)]
    found = list(analyze_files(files, refuses_some, executor=maker, ordered=True))
    assert [each.path for each in found] == files
    assert [each.answer for each in found] == ["fine", None, None, "also_fine", None, None, None]
    stubborn = "StubbornError" if maker is None else "RuntimeError"
    kinds = f"NoneType ValueError {stubborn} NoneType HloTextError HloFileError HloFileError"
    assert " ".join(type(each.error).__name__ for each in found) == kinds
    assert "no way" in str(found[2].error)
    assert str(found[4].error).startswith(f"{files[4]}:1:22: ")
    with pytest.raises(ValueError, match="raised"):
        found[1].result()


def test_an_unexpected_error_says_where_it_was_raised(tmp_path: Path) -> None:
    (found,) = analyze_files(written(tmp_path, ["raised"]), refuses_some, executor=one_spawned)
    assert found.error is not None
    (note,) = found.error.__notes__
    assert "in refuses_some" in note


@pytest.mark.parametrize("ordered", part([False, True], 1))
def test_a_process_that_dies_takes_only_its_file_along(ordered: bool, tmp_path: Path) -> None:
    deaths = part([0, 5], 1)
    files = written(tmp_path, ["die" if number in deaths else "fine" for number in range(8)])
    found = list(analyze_files(files, refuses_some, executor=spawned, ordered=ordered))
    assert sorted(each.path for each in found) == files
    for each in found:
        if files.index(each.path) in deaths:
            assert isinstance(each.error, WorkerDiedError)
            assert str(each.error) == f"{each.path}: the process that worked on it died"
        else:
            assert each.result() == "fine"


def test_a_pool_of_the_user_stays_broken(tmp_path: Path) -> None:
    """Nobody but its user can make another one; still each file has an answer."""
    files = written(tmp_path, ["die", *["fine"] * 20])
    with processes("spawn", 1) as pool:
        found = list(analyze_files(files, refuses_some, executor=pool, in_flight=2))
    assert [each.path for each in found] == files
    assert all(isinstance(each.error, futures.BrokenExecutor) for each in found)


@pytest.mark.parametrize("executor", [spawned, spawned()], ids=["made here", "of the user"])
def test_a_question_that_cannot_be_sent(executor: Executor | Maker, files: list[str]) -> None:
    with pytest.raises(QuestionError, match=r"cannot be sent to another process .*lambda"):
        analyze_files(files, lambda analysis: analysis.module.name, executor=executor)


def test_an_answer_that_cannot_be_sent_back(files: list[str]) -> None:
    found = list(analyze_files(files, batch_questions.answers_without_pickle, executor=one_spawned))
    assert all("pickle" in str(each.error) for each in found)
    assert len(found) == len(files)


def test_threads_take_any_question(files: list[str]) -> None:
    executor = EXECUTORS["threads"]
    names = analyze_files(files, lambda analysis: analysis.module.name, executor=executor)
    assert {each.result() for each in names} == {"m"}


@pytest.mark.parametrize("ordered", part([False, True], 1))
def test_few_files_are_in_flight(ordered: bool, tmp_path: Path) -> None:
    files = written(tmp_path, [f"r{number}" for number in range(40)])
    executor, taken = Immediate(), 0
    for each in analyze_files(files, root_name, executor=executor, in_flight=3, ordered=ordered):
        taken += 1
        assert each.error is None
        assert executor.given - taken < 3
    assert taken == 40


def test_files_are_read_as_answers_are_taken(files: list[str]) -> None:
    batch = analyze_files(files, leaves_a_mark)
    next(batch)
    assert seen(files) == files[:1]


def seen(files: list[str]) -> list[str]:
    """The files that somebody asked about."""
    return [path for path in files if Path(f"{path}.seen").exists()]


def test_length_is_the_number_of_files(files: list[str]) -> None:
    batch = analyze_files(iter(files), root_name)
    next(batch)
    assert len(batch) == 8
    assert repr(batch) == "<batch of 8 files>"


def test_closing_cancels_what_waits(tmp_path: Path) -> None:
    files = written(tmp_path, [f"r{number}" for number in range(40)])
    one = partial(ThreadPoolExecutor, 1)
    with analyze_files(files, leaves_a_mark, executor=one, in_flight=20) as batch:
        next(batch)
    assert list(batch) == []
    assert len(seen(files)) < 10


def test_an_interrupt_cancels_what_waits(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ops.modules.batch.wait", interrupted)
    promised = [Future[object]() for _ in range(5)]
    executor = Mock(Executor, submit=Mock(side_effect=promised))
    with pytest.raises(KeyboardInterrupt):
        next(analyze_files(files, root_name, executor=executor, in_flight=5))
    assert [future.cancelled() for future in promised] == [True] * 5


@pytest.mark.parametrize("in_flight", [0, -1])
def test_something_must_be_in_flight(in_flight: int, files: list[str]) -> None:
    with pytest.raises(ValueError, match=f"in_flight: expected at least 1, but it is {in_flight}"):
        analyze_files(files, root_name, executor=Immediate(), in_flight=in_flight)


def test_no_files_have_no_answers_and_an_answer_is_a_value() -> None:
    assert list(analyze_files([], root_name, executor=Immediate())) == []
    assert FileAnswer("a", 1) == FileAnswer("a", 1)
    assert FileAnswer("a", None).result() is None


@pytest.mark.needs("distributed")
@pytest.mark.filterwarnings("default")  # those of dask's own machinery are not ours
def test_a_cluster(files: list[str]) -> None:
    distributed = import_module("distributed")
    local: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(processes=False, **local) as client:
        executor = client.get_executor()
        found = list(analyze_files(files, root_map, executor=executor, ordered=True))
    assert [each.path for each in found] == files
    assert all("floordiv 8" in each.result() for each in found)
