"""Faults are small changes, are planted where a process holds the function, and are reported."""

from __future__ import annotations

import ast
import builtins
import json
import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.mutants import Functions, Source, alternatives
from benchmarks.mutation import EQUIVALENT, PACKAGES, ROOT
from tests.cases import for_all

CHANGES = {
    "x < y <= z": ["x <= y <= z", "x < y < z"],
    "x + y": ["x - y"],
    "x and y": ["x or y"],
    "not x": ["x"],
    "7": ["8", "6"],
    "True": ["False"],
    "x if c else y": ["x", "y"],
    "max(x, 0)": ["min(x, 0)", "x", "0"],
    "max(xs)": ["min(xs)"],
    "sorted(xs)": ["xs"],
    "x.first": ["x.last"],
    "x.other": [],
    "f(x)": [],
    "'text'": [],
}


@for_all([*CHANGES.items()])
def test_what_may_be_written_by_mistake(text: str, changed: list[str]) -> None:
    node = ast.parse(text, mode="eval").body
    assert [ast.unparse(each) for each in alternatives(node)] == changed


MODULE = """
from functools import cache

class Box:
    size = 1 + 1

    @property
    def area(self):
        return self.size * 3

@cache
def twice(x):
    if x is None:
        raise ValueError(f"{x - 1}")
    return [y + y for y in (x,)][0]

HELD = [lambda x: x > 1]
"""


FAULTS = (
    "9 Box.area: self.size * 3 -> self.size // 3; 9 Box.area: 3 -> 4; 9 Box.area: 3 -> 2; "
    "13 twice: x is None -> x is not None; 15 twice: 0 -> 1; 15 twice: 0 -> -1; "
    "15 twice: y + y -> y - y; 17 <lambda>: x > 1 -> x >= 1; 17 <lambda>: 1 -> 2; "
    "17 <lambda>: 1 -> 0"
)


def loaded(path: Path, text: str) -> ModuleType:
    path.write_text(text, "utf-8")
    module = ModuleType(path.stem)
    SourceFileLoader(path.stem, str(path)).exec_module(module)
    return module


def test_a_fault_is_planted_wherever_the_function_is_held(tmp_path: Path) -> None:
    module = loaded(tmp_path / "planted.py", MODULE)
    source = Source(tmp_path, "planted.py")
    found = {str(mutant): mutant for mutant in source.mutants}
    assert [fault.removeprefix("planted.py:") for fault in found] == FAULTS.split("; ")
    functions = Functions([str(tmp_path / "planted.py")])
    assert (module.Box().area, module.HELD[0](1)) == (6, False)
    for fault in ("9 Box.area: 3 -> 4", "15 twice: y + y -> y - y", "17 <lambda>: 1 -> 0"):
        functions.plant(source.mutated(found[f"planted.py:{fault}"]))
    assert (module.Box().area, module.twice(5), module.HELD[0](1)) == (8, 0, True)


WATCHED = """
def clipped(x, seen):
    for each in (x for x in [x] if x > 0):
        if each > 7:
            break
        seen.append(each + 0)
    return max(x, 0)
"""


def test_watching_tells_what_faults_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = loaded(tmp_path / "watched.py", WATCHED)
    source = Source(tmp_path, "watched.py")
    numbers = {mutant: number for number, mutant in enumerate(source.mutants)}
    changed = set[int]()

    def watch(held: tuple[int, ...], *versions: Callable[[], object]) -> object:
        value, *others = (version() for version in versions)
        changed.update(number for number, each in zip(held, others, strict=True) if each != value)
        return value

    monkeypatch.setattr(builtins, "mutation_watch", watch, raising=False)
    monkeypatch.setattr(builtins, "mutation_reached", changed.update, raising=False)
    Functions([str(tmp_path / "watched.py")]).plant(source.watching(numbers))

    def told(x: int) -> tuple[list[int], int, set[str]]:
        changed.clear()
        seen: list[int] = []
        result = module.clipped(x, seen)
        return seen, result, {each.change for each in source.mutants if numbers[each] in changed}

    always = {"0 -> 1", "0 -> -1", "7 -> 8", "7 -> 6", "max(x, 0) -> min(x, 0)"}
    added = {"each + 0 -> each - 0", "seen.append(each + 0) -> pass"}
    assert told(5) == ([5], 5, (always | {"max(x, 0) -> 0", *added}) - {"each + 0 -> each - 0"})
    assert told(7)[2] - told(5)[2] == {"each > 7 -> each >= 7"}
    assert told(9) == ([], 9, always | {"max(x, 0) -> 0", "break -> continue"})
    assert told(0)[2] >= {"x > 0 -> x >= 0", "for x in [x] if x > 0 -> for x in [x]"}


def test_what_no_test_sees_is_printed(tmp_path: Path) -> None:
    tests = "tests/indexing/test_constraints.py::test_the_nearest_number_that_is_left"
    command = [sys.executable, "-m", "benchmarks.mutation", "--packages", "indexing/simplify"]
    command += ["--only", ": self.last -> self.first", "--sample", "1000000", "--tests", tests]
    command += ["--folder", str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    rows = [json.loads(line) for line in (tmp_path / "outcomes").read_text("utf-8").splitlines()]
    seen = [function for (_, function, *_), seen_by in rows if seen_by.startswith(tests)]
    unseen = [function for (_, function, *_), seen_by in rows if not seen_by]
    assert "Residues.to_value" in seen
    assert "Residues.negated" in unseen
    assert len(seen) + len(unseen) == len(rows)
    assert all(f" {function}: self.last -> self.first" in ran.stdout for function in unseen)
    assert ran.stdout.splitlines()[-1].split()[:2] == ["all", str(len(rows))]


def test_equivalent_faults_have_a_reason() -> None:
    rows = [json.loads(line) for line in EQUIVALENT.read_text("utf-8").splitlines()]
    for row in rows:
        assert row["mutant"][0].startswith(PACKAGES)
        assert row["why"]
    names = [tuple(row["mutant"]) for row in rows]
    assert len(names) == len(set(names))
