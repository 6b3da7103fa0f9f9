"""Models that PyTorch Inductor compiles, as it is and with our simplifier in its place.

    python -m benchmarks.inductor
    python -m benchmarks.inductor --models softmax --models unfold --run
    python -m benchmarks.inductor --record FILE.jsonl

Small models (``benchmarks/dynamic_models.py``) are compiled by Inductor for sizes that are known,
and for sizes that are not, as far as their code. With ``--run``, g++ compiles code that our
simplifier changes, and its results are compared with those of eager PyTorch. The table has the
divisions and characters of the code, and the processor time in ``simplify_with_ranges``, first as
it is, then with our simplifier. Each compilation has a process of its own, where nothing is
remembered.

Below it are the distinct calls of ``simplify_with_ranges`` that divide an index: the sizes of both
answers are those of ``operator_count``. ``--record`` writes these calls for the tests.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import logging
import multiprocessing
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import sympy

from benchmarks.clock import timed_without_collections
from benchmarks.dynamic_models import MODELS, Model
from benchmarks.peers import Native
from simplifier import READERS, format_expr, operator_count, symbol
from simplifier.torch import facts_of, installed, simplify_with_ranges

MISSING = "PyTorch is not installed: nothing to compare with (pip install torch)"


class Call(NamedTuple):
    """What Inductor asked itself, what both answered, and the seconds that it took them."""

    question: dict[str, Any]
    """As the tests keep it: the expression, what is known, and Inductor's answer."""
    sizes: tuple[int, int]
    """Operators of our answer and of Inductor's."""
    seconds: tuple[float, float]


@dataclass
class Compilation:
    """The code of a model, and what it took to simplify its indices."""

    kernels: str = ""
    seconds: float = 0.0
    is_right: bool | None = None
    """Whether it computes what eager PyTorch does; ``None`` where it was not run."""
    calls: list[Call] = field(default_factory=list[Call])

    @property
    def divisions(self) -> int:
        """The divisions in the code of the kernels."""
        return len(_DIVISION.findall(_INCLUDE.sub("", self.kernels)))

    @property
    def characters(self) -> int:
        """The length of the code."""
        return len(self.kernels)


_INCLUDE: Final = re.compile(r"(?m)^#include.*$")
_DIVISION: Final = re.compile(r"div_floor_integer|div_mod|%|(?<![/*])/(?![/*])")
_KERNEL: Final = re.compile(r"r'''(.*?)'''", re.DOTALL)


class Comparison(NamedTuple):
    """A model compiled with our simplifier, and as it is."""

    name: str
    ours: Compilation
    stock: Compilation

    @property
    def row(self) -> str:
        """The row of the table."""
        ours, stock = self.ours, self.stock
        divisions = f"{stock.divisions:4} {ours.divisions:4}"
        characters = f"{stock.characters:7} {ours.characters:7}"
        times = f"{stock.seconds * 1e3:8.1f} {ours.seconds * 1e3:8.1f}"
        notes = ", ".join([*(["right"] if ours.is_right else ()), *self.faults])
        return f"{self.name:24} {divisions}  {characters}  {times}  {notes}".rstrip()

    @property
    def faults(self) -> Iterator[str]:
        """What is worse than without our simplifier."""
        ours, stock = self.ours, self.stock
        if ours.is_right is False:
            yield "wrong"
        if ours.divisions > stock.divisions:
            yield "more divisions"
        if ours.characters > stock.characters:
            yield "more characters"
        if ours.seconds > stock.seconds / 2:
            yield "more than half of the time"


# A compilation.


def compiled(name: str, *, is_dynamic: bool, is_ours: bool, is_run: bool) -> Compilation:
    """A model compiled, in this process."""
    found = Compilation()
    (model,) = (model for model in MODELS if model.name == name)
    with installed() if is_ours else nullcontext(), _recorded(found, is_ours=is_ours):
        _compile(
            importlib.import_module("torch"), model, found, is_dynamic=is_dynamic, is_run=is_run
        )
    return found


@contextmanager
def _recorded(found: Compilation, *, is_ours: bool) -> Generator[None]:
    """Times the calls that are made inside; those that a call makes of itself are part of it."""
    allocator = importlib.import_module("torch._inductor.sizevars").SizeVarAllocator
    original = allocator._simplify_with_ranges  # noqa: SLF001 - the one that remembers nothing
    outer: list[Native] = []

    def recording(self: Native, expression: Native, ranges: Native) -> Native:
        if outer:
            return original(self, expression, ranges)
        outer.append(expression)
        try:
            result, seconds = timed_without_collections(lambda: original(self, expression, ranges))
        finally:
            outer.clear()
        found.seconds += seconds
        if not is_ours:
            asked.append((_what_is_known(self), expression, dict(ranges), result, seconds))
        return result

    asked: list[tuple[Any, ...]] = []
    allocator._simplify_with_ranges = recording  # noqa: SLF001 - as above
    try:
        yield
    finally:
        allocator._simplify_with_ranges = original  # noqa: SLF001 - as above
    found.calls = [_call(*each) for each in asked if _divides(*each[1:3])]


def _divides(expression: Native, ranges: Native) -> bool:
    """Whether an index is divided; all other calls only multiply out."""
    divisions = ("FloorDiv", "CleanDiv", "ModularIndexing", "Mod", "PythonMod")
    return any(
        type(node).__name__ in divisions and node.free_symbols & ranges.keys()
        for node in sympy.preorder_traversal(expression)
    )


def _what_is_known(allocator: Native) -> SimpleNamespace:
    """What the allocator knows now."""
    environment, axioms = allocator.shape_env, allocator.shape_env.get_axioms()
    known = SimpleNamespace(var_to_range=dict(environment.var_to_range), get_axioms=lambda: axioms)
    return SimpleNamespace(shape_env=known, replacements=dict(allocator.replacements))


def _call(
    allocator: Native, expression: Native, ranges: Native, result: Native, seconds: float
) -> Call:
    ours, our_seconds = timed_without_collections(
        lambda: simplify_with_ranges(allocator, expression, ranges)
    )
    sizes = operator_count(READERS.read(ours)), operator_count(READERS.read(result))
    question = question_of(allocator, expression, ranges, result)
    return Call(question, sizes, (our_seconds, seconds))


def question_of(
    allocator: Native, expression: Native, ranges: Native, result: Native
) -> dict[str, Any]:
    """The call as the tests keep it; indices are ``i0``, ``i1`` and so on, in every loop."""
    replacements = allocator.replacements
    given = READERS.read(expression.xreplace(replacements))
    indices = [index for index in ranges if index in given.free_symbols]
    names = {index: symbol(f"i{number}") for number, index in enumerate(indices)}
    sizes = {
        str(names[index]): READERS.read(sympy.sympify(ranges[index]).xreplace(replacements))
        for index in indices
    }
    symbols = given.free_symbols.union(*(size.free_symbols for size in sizes.values()))
    bounds = facts_of(allocator.shape_env).bounds
    return {
        "expression": format_expr(given.xreplace(names)),
        "bounds": {
            each.name: [bounds[each.name].lower, bounds[each.name].upper]
            if each.name in bounds
            else [0, None]
            for each in sorted(symbols - {*indices}, key=str)
        },
        "ranges": {index: format_expr(size) for index, size in sizes.items()},
        "expected": format_expr(READERS.read(result).xreplace(names)),
    }


class _LoweredError(Exception):
    """The code is written; compiling it is not needed."""


def _compile(
    torch: Native, model: Model, found: Compilation, *, is_dynamic: bool, is_run: bool
) -> None:
    """Have a model compiled, as far as its code where it is not run."""
    config = importlib.import_module("torch._inductor.config")
    lowering = importlib.import_module("torch._inductor.graph").GraphLowering
    logging.getLogger("torch").setLevel(logging.ERROR)
    own = lowering.codegen

    def codegen(graph: Native) -> Native:
        code = own(graph)
        found.kernels += "".join(_KERNEL.findall(getattr(code[0], "value", code[0])))
        if not is_run:
            raise _LoweredError
        return code

    def function(*tensors: Native) -> Native:
        return model.function(torch, *tensors)

    torch.manual_seed(0)
    floats = [torch.rand(shape) for shape in model.shapes]
    integers = [torch.randint(0, 4, shape) for shape in model.indices]
    lowering.codegen = codegen
    uncached = {"fx_graph_cache": False, "fx_graph_remote_cache": False, "compile_threads": 1}
    try:
        with torch.no_grad(), config.patch(uncached):
            result = torch.compile(function, dynamic=is_dynamic)(*floats, *integers)
        expected = function(*floats, *integers)
        found.is_right = all(map(torch.allclose, *map(_tensors, (result, expected))))
    except Exception as error:  # PyTorch wraps what stops it
        if _LoweredError.__name__ not in str(error):
            raise
    finally:
        lowering.codegen = own


def _tensors(result: Native) -> Sequence[Native]:
    return [*result] if isinstance(result, tuple) else [result]


# All compilations.


def comparisons(
    names: Iterable[str], sizes: Sequence[str] = ("static", "dynamic"), *, is_run: bool = False
) -> Iterator[Comparison]:
    """Each model with our simplifier and without, each in a process that remembers nothing."""
    compiled(MODELS[0].name, is_dynamic=True, is_ours=True, is_run=False)  # loads what all need
    context = multiprocessing.get_context("fork")

    def in_process(name: str, **options: bool) -> Compilation:
        with ProcessPoolExecutor(1, mp_context=context) as process:
            return process.submit(compiled, name, **options).result()

    for name, size in product(names, sizes):
        dynamic = size == "dynamic"
        ours, stock = (
            in_process(name, is_dynamic=dynamic, is_ours=is_ours, is_run=False)
            for is_ours in (True, False)
        )
        if is_run and ours.kernels != stock.kernels:
            run = in_process(name, is_dynamic=dynamic, is_ours=True, is_run=True)
            ours.is_right = run.is_right
        yield Comparison(f"{name} {size}", ours, stock)


def report(compared: Sequence[Comparison]) -> Iterator[str]:
    """The lines below the table."""
    for what, attribute in (("divisions", "divisions"), ("characters", "characters")):
        ours, stock = (
            sum(getattr(getattr(each, side), attribute) for each in compared)
            for side in ("ours", "stock")
        )
        yield f"{what}  {stock} as it is, {ours} with our simplifier"
    ours, stock = (
        sum(getattr(each, side).seconds for each in compared) for side in ("ours", "stock")
    )
    yield f"time  {stock * 1e3:.0f} ms as it is, {ours * 1e3:.0f} ms with our simplifier"
    yield from _report_on([*distinct(compared).values()])


def distinct(compared: Iterable[Comparison]) -> dict[str, Call]:
    """The calls of all models, numbered within each; one of an earlier model is not repeated."""
    found: dict[str, Call] = {}
    asked: set[str] = set()
    for each in compared:
        model, *_ = each.name.split()
        for call in each.stock.calls:
            text = json.dumps(call.question)
            if text not in asked:
                asked.add(text)
                number = sum(name.startswith(f"inductor_{model}_") for name in found) + 1
                found[f"inductor_{model}_{number}"] = call
    return found


def _report_on(calls: Sequence[Call]) -> Iterator[str]:
    sizes = [call.sizes for call in calls]
    ours, theirs = (sum(both[side] for both in sizes) for side in (0, 1))
    smaller = sum(our < their for our, their in sizes)
    equal = sum(our == their for our, their in sizes)
    yield f"calls  {len(sizes)} distinct ones that divide an index"
    yield f"size   {ours} operators, PyTorch {theirs}"
    yield f"       smaller {smaller}, equal {equal}, larger {len(sizes) - smaller - equal}"


def main() -> None:
    """Print the table and the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [model.name for model in MODELS]
    parser.add_argument("--models", action="append", choices=names, help="default: all")
    parser.add_argument("--run", action="store_true", help="compile by g++ and compare with eager")
    parser.add_argument("--record", type=Path, help="write the calls here, one JSON object a line")
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        print(MISSING)
        return
    print(f"{'model':24} {'divisions':9}  {'characters':>15}  {'milliseconds':>17}")
    compared: list[Comparison] = []
    for each in comparisons(arguments.models or names, is_run=arguments.run):
        compared.append(each)
        print(each.row, flush=True)
    for line in report(compared):
        print(line)
    if arguments.record:
        rows = ({"id": name} | call.question for name, call in distinct(compared).items())
        arguments.record.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


if __name__ == "__main__":
    main()
