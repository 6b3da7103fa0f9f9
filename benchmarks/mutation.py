"""Plants faults in the code, one at a time, and prints those that no test sees.

    python -m benchmarks.mutation [--sample 600] [--seed 31] [--only TEXT] [--needs] [--seconds 15]

One process imports the code and the tests. For each fault it forks a process that gives a function
other code (``benchmarks/mutants.py``) and runs the tests in which the fault would change a value,
until one fails: the quick ones first, and some rows of each table before all of one. Tests that
need an optional package are left out but with ``--needs``; random tests take the same examples
each time. ``equivalent_mutants.jsonl`` has the faults that change no answer, with the reason.

In which tests a fault would change a value is found once for all faults of the sample, in half an
hour: code that computes each value with and without its faults tells it. That is kept in a folder,
as are the faults that were seen: a second run plants only the others. Delete the folder when the
code has changed.
"""

from __future__ import annotations

import argparse
import builtins
import gc
import json
import os
import resource
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from hashlib import sha256
from importlib import import_module
from itertools import accumulate
from math import ceil
from pathlib import Path
from time import process_time
from types import CodeType
from typing import Any, Final, NamedTuple, TextIO

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from benchmarks.mutants import Functions, Key, Mutant, Source

ROOT: Final = Path(__file__).resolve().parent.parent
EQUIVALENT: Final = Path(__file__).with_name("equivalent_mutants.jsonl")
PACKAGES: Final = (
    *("simplifier/canonical", "simplifier/bounds", "indexing/simplify", "indexing/transform"),
    *("ops/rules", "ops/dependence", "ops/performance"),
)
TESTS: Final = (
    *("simplifier", "indexing", "ops/rules", "ops/dependence", "ops/performance"),
    *("tests/simplifier", "tests/indexing", "tests/xla", "tests/ops", "tests/performance"),
    "tests/tiling/test_tilings.py",
)
APART: Final = (
    *("tests/ops/test_bounded_work.py", "tests/ops/test_batch.py"),
    "tests/ops/test_pickles.py::test_another_process",
    *("tests/simplifier/test_independence.py", "tests/indexing/test_generated_code.py"),
)
"""Tests that start processes: those do not have the fault."""
MAX_MUTANT_BYTES: Final = 8 << 30
MAX_TEST_SECONDS: Final = 20.0
"""A test that takes longer sees few faults for its time."""
MAX_WAIT: Final = 20
"""Of seconds that pass for one of processor time, before a process is taken for stuck."""
_KNOWN: Final = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
_LINE: Final = "{:22} {:>7} {:>10} {:>6} {:>8} {:>8}"


class Outcome(NamedTuple):
    """A fault, and the test that saw it or how else it ended; empty if no test saw it."""

    mutant: Mutant
    seen_by: str
    tests: int


class Ran(NamedTuple):
    """A test: the seconds it took, whether it passed, and the faults that change a value in it."""

    test: str
    seconds: float
    passed: bool
    changed: Sequence[str]


class Mutation:
    """A plugin of pytest: it runs the tests for each fault instead of once."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.outcomes: list[Outcome] = []

    def pytest_sessionstart(self) -> None:
        """Let random tests take the same examples each time, and end with the first that fails."""
        settings.register_profile(
            "mutation",
            settings.get_profile("dev"),
            derandomize=True,
            database=None,
            phases=(Phase.explicit, Phase.generate),
        )
        settings.load_profile("mutation")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests once, if that was not done, then those for each fault of the sample."""
        gc.unfreeze()  # the collector must see all functions
        items = {
            item.nodeid: item
            for item in session.items
            if self._options.needs or not item.get_closest_marker("needs")
        }
        sources = {path: Source(ROOT, path) for path in _paths(self._options.packages)}
        functions = Functions(str(ROOT / path) for path in sources)
        for module in ("islpy", "numpy"):
            import_module(module)  # so that forked processes need not
        gc.collect()
        gc.freeze()  # so that forked processes do not look for garbage here
        sample = self._sample(sources.values())
        numbers = {mutant: number for number, mutant in enumerate(sample)}
        watching = [
            each for source in sources.values() for each in source.watching(numbers).items()
        ]
        _run_once(items, dict(watching), [*map(_name, sample)], functions, self._options.map)
        tests = _tests_by_fault(_rans(self._options.map), items, self._options.seconds)
        known = _seen_before(self._options.outcomes)
        same = equivalent()
        for mutant in sample:
            if self._options.only not in str(mutant):
                continue
            names = tests[_name(mutant)]
            seen_by = known.get(mutant.name, "")
            if not seen_by and mutant.name not in same:
                codes = sources[mutant.path].mutated(mutant)
                if not codes:
                    continue  # Python compiles it to the same
                related = [items[name] for name in names]
                seconds = 2 * ceil(self._options.seconds)
                seen_by = _in_child(_first_failing, functions, codes, related, seconds)
            self._note(Outcome(mutant, seen_by, len(names)))
        return True

    def _sample(self, sources: Iterable[Source]) -> list[Mutant]:
        """A sample that stays nearly the same when some functions change."""

        def drawn(mutant: Mutant) -> bytes:
            return sha256(f"{self._options.seed} {mutant.name}".encode()).digest()

        mutants = [mutant for source in sources for mutant in source.mutants]
        return sorted(mutants, key=drawn)[: self._options.sample]

    def _note(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        mutant, seen_by, tests = outcome
        with self._options.outcomes.open("a", encoding="utf-8") as file:
            file.write(json.dumps([mutant.name, seen_by]) + "\n")
        if not seen_by and mutant.name not in equivalent():
            print(f"{mutant}  ({tests} tests)", flush=True)


def _seen_before(file: Path) -> dict[tuple[Any, ...], str]:
    lines = file.read_text("utf-8").splitlines() if file.exists() else ()
    return {tuple(name): seen_by for name, seen_by in map(json.loads, lines) if seen_by}


def _paths(packages: Sequence[str]) -> list[str]:
    files = [file for package in packages for file in sorted((ROOT / package).rglob("*.py"))]
    return [file.relative_to(ROOT).as_posix() for file in files]


def _name(mutant: Mutant) -> str:
    return json.dumps(mutant.name)


def equivalent() -> set[tuple[Any, ...]]:
    """The faults that change no answer."""
    lines = EQUIVALENT.read_text("utf-8").splitlines()
    return {tuple(json.loads(line)["mutant"]) for line in lines}


# Tests.


def _passes(item: pytest.Item) -> bool:
    with redirect_stdout(sys.stderr):
        reports = runtestprotocol(item, log=False, nextitem=None)
    return not any(report.failed for report in reports)


def _first_failing(
    write: TextIO,
    functions: Functions,
    codes: Mapping[Key, CodeType],
    tests: Sequence[pytest.Item],
    seconds: int,
) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MUTANT_BYTES, MAX_MUTANT_BYTES))
    signal.alarm(seconds * MAX_WAIT)
    functions.plant(codes)
    write.write(next((item.nodeid for item in tests if not _passes(item)), ""))


def _run_once(
    items: Mapping[str, pytest.Item],
    watching: Mapping[Key, CodeType],
    names: Sequence[str],
    functions: Functions,
    file: Path,
) -> None:
    """Run the tests that the file does not know with code that watches the faults."""
    known = {ran.test for ran in _rans(file)}
    new = [item for name, item in items.items() if name not in known]
    if new:
        _in_child(_watch, new, watching, names, functions, file)


def _watch(
    _: TextIO,
    items: Sequence[pytest.Item],
    watching: Mapping[Key, CodeType],
    names: Sequence[str],
    functions: Functions,
    file: Path,
) -> None:
    functions.plant(watching)
    changed = set[int]()
    is_inside = False

    def watch(
        numbers: Sequence[int], original: Callable[[], object], *others: Callable[[], object]
    ) -> object:
        nonlocal is_inside
        value = original()
        if not is_inside and not changed.issuperset(numbers):
            is_inside = True
            each = zip(numbers, others, strict=True)
            changed.update(number for number, other in each if not _is_same(value, other))
            is_inside = False
        return value

    setattr(builtins, "mutation_watch", watch)  # noqa: B010 - a new name
    setattr(builtins, "mutation_reached", changed.update)  # noqa: B010
    signal.signal(signal.SIGVTALRM, _raise_timeout)
    with file.open("a", encoding="utf-8") as kept:
        for item in items:
            changed.clear()
            start = process_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, MAX_TEST_SECONDS, 1.0)
            passed = _passes(item)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            is_inside = False
            seconds = round(process_time() - start, 4)
            ran = Ran(item.nodeid, seconds, passed, [names[each] for each in sorted(changed)])
            kept.write(json.dumps(ran) + "\n")
            kept.flush()


def _is_same(value: object, other: Callable[[], object]) -> bool:
    try:
        found = other()
        return found is value or (type(found) is type(value) and bool(found == value))
    except Exception:  # noqa: BLE001 - whatever the fault leads to
        return False


def _raise_timeout(_: int, __: object) -> None:
    raise TimeoutError


def _rans(file: Path) -> list[Ran]:
    lines = file.read_text("utf-8").splitlines() if file.exists() else ()
    return [Ran(*json.loads(line)) for line in lines]


def _tests_by_fault(
    rans: Iterable[Ran], known: Mapping[str, object], seconds: float
) -> Mapping[str, list[str]]:
    """For each fault the tests where it changes something, as far as there is time."""
    found = defaultdict[str, list[Ran]](list)
    for ran in rans:
        if ran.test in known and ran.passed:
            for mutant in ran.changed:
                found[mutant].append(ran)
    return defaultdict(list, {mutant: _in_time(each, seconds) for mutant, each in found.items()})


def _in_time(rans: Iterable[Ran], seconds: float) -> list[str]:
    """The quick ones first, and some rows of each table before all of one."""
    rounds: list[tuple[int, float, str]] = []
    rows = Counter[str]()
    for ran in sorted(rans, key=lambda each: each.seconds):
        table = ran.test.partition("[")[0]
        rounds.append((rows[table] // 4, ran.seconds, ran.test))
        rows[table] += 1
    rounds.sort()
    until = accumulate(each for _, each, _ in rounds)
    return [test for (*_, test), end in zip(rounds, until, strict=True) if end <= seconds]


# Processes.


def _in_child(task: Callable[..., None], *arguments: object) -> str:
    """What a task writes in a forked process, or the name of the signal that ended it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        with os.fdopen(writing, "w", encoding="utf-8") as file:
            task(file, *arguments)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as file:
        said = file.read()
    _, status = os.waitpid(child, 0)
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else said


# The report.


def report(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """A table of what was seen, for each package and in all."""
    yield _LINE.format("package", "faults", "equivalent", "seen", "not seen", "% seen")
    for package in (*PACKAGES, ""):
        mine = [each for each in outcomes if each.mutant.path.startswith(package)]
        seen = sum(bool(each.seen_by) for each in mine)
        same = sum(not each.seen_by and each.mutant.name in equivalent() for each in mine)
        share = 100 * seen / max(len(mine) - same, 1)
        left = len(mine) - same - seen
        yield _LINE.format(package or "all", len(mine), same, seen, left, f"{share:.1f}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=600, help="how many faults")
    parser.add_argument("--seed", type=int, default=31, help="of the sample")
    parser.add_argument("--only", default="", help="of the sample those whose line has this text")
    parser.add_argument("--packages", nargs="+", default=PACKAGES, help="where faults are planted")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="files and folders of tests")
    parser.add_argument("--needs", action="store_true", help="tests of optional packages, too")
    parser.add_argument("--seconds", type=float, default=15, help="of tests for each fault")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/mutation", help="of its files")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the faults that no test sees, and a table; 1 if there are any."""
    options = _options(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    options.map, options.outcomes = (options.folder / name for name in ("changed", "outcomes"))
    mutation = Mutation(options)
    settings_of_pytest = ["-n0", "-q", "-s", "-p", "no:cacheprovider", "-W", _KNOWN]
    apart = [f"--deselect={test}" for test in APART]
    pytest.main([*settings_of_pytest, *apart, *options.tests], plugins=[mutation])
    print(*report(mutation.outcomes), sep="\n")
    known = equivalent()
    return int(
        any(not each.seen_by and each.mutant.name not in known for each in mutation.outcomes)
    )


if __name__ == "__main__":
    sys.exit(main())
