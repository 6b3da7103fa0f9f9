"""Index expressions that PyTorch simplifies while it compiles, simplified by both.

    python -m benchmarks.inductor
    python -m benchmarks.inductor --models softmax --models unfold
    python -m benchmarks.inductor --record FILE.jsonl

Small functions of tensors (``benchmarks/dynamic_models.py``) are compiled for dynamic sizes by
PyTorch Inductor, as far as its code; no C++ is compiled. Every distinct call of
``simplify_with_ranges`` is timed there, once, and then asked of ``simplify``, with the same ranges.
Both results are read by ``READERS``, and their sizes are those of ``operator_count``. The times are
processor times.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import logging
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import sympy

from benchmarks.clock import timed_without_collections
from benchmarks.dynamic_models import MODELS, Model
from benchmarks.peers import Native
from simplifier import READERS, format_expr, operator_count, simplify

MISSING = "PyTorch is not installed: nothing to compare with (pip install torch)"


class Question(NamedTuple):
    """An expression of index variables and sizes, and what is known of them."""

    expression: sympy.Expr
    bounds: dict[str, tuple[int | None, int | None]]
    constraints: tuple[tuple[sympy.Expr, tuple[int, None]], ...]
    """A variable is less than its size where that is no number."""

    def simplified(self) -> sympy.Expr:
        """Our result."""
        return simplify(self.expression, self.bounds, self.constraints)

    def row(self, name: str, expected: sympy.Expr) -> dict[str, Any]:
        """The question and an answer, as the tests keep them."""
        return {
            "id": name,
            "expression": format_expr(READERS.read(self.expression)),
            "bounds": self.bounds,
            "constraints": [[format_expr(form), ends] for form, ends in self.constraints],
            "expected": format_expr(READERS.read(expected)),
        }


class Call(NamedTuple):
    """What PyTorch asked itself, what it answered, and the seconds that it took."""

    model: str
    question: Question
    result: sympy.Expr
    seconds: float


class Comparison(NamedTuple):
    """Sizes and seconds of both, ours first."""

    sizes: tuple[int, int]
    seconds: tuple[float, float]


# What PyTorch asks.


def calls(models: Iterable[Model]) -> Iterator[Call]:
    """The distinct calls of all models; a question of an earlier model is not repeated."""
    torch = importlib.import_module("torch")
    asked: set[str] = set()
    for model in models:
        with _recorded(model.name) as found:
            _lower(torch, model)
        for call in found:
            text = str(call.question)
            if text not in asked:
                asked.add(text)
                yield call


@contextmanager
def _recorded(model: str) -> Generator[list[Call]]:
    """The calls that are made inside; those that a call makes of itself are part of it."""
    allocator = importlib.import_module("torch._inductor.sizevars").SizeVarAllocator
    original = allocator._simplify_with_ranges  # noqa: SLF001 - the one that remembers nothing
    found: list[Call] = []
    outer: list[Native] = []

    def recording(self: Native, expression: Native, ranges: Native) -> Native:
        if outer:
            return original(self, expression, ranges)
        outer.append(expression)
        try:
            result, seconds = timed_without_collections(lambda: original(self, expression, ranges))
        finally:
            outer.clear()
        found.append(Call(model, question_of(self, expression, ranges), result, seconds))
        return result

    allocator._simplify_with_ranges = recording  # noqa: SLF001 - as above
    try:
        yield found
    finally:
        allocator._simplify_with_ranges = original  # noqa: SLF001 - as above


def question_of(allocator: Native, expression: Native, ranges: Native) -> Question:
    """What the call knows: ranges of index variables, and those of sizes from the environment."""
    expression = expression.xreplace(allocator.replacements)
    known = allocator.shape_env.var_to_range
    sizes: dict[sympy.Symbol, Native] = {
        variable: sympy.sympify(size) for variable, size in ranges.items()
    }
    symbols: set[sympy.Symbol] = set(expression.free_symbols)
    symbols.update(*(size.free_symbols for size in sizes.values()))
    bounds = {
        symbol.name: _ends(known[symbol]) if symbol in known else (0, None)
        for symbol in sorted(symbols - {*sizes}, key=str)
    }
    for variable, size in sizes.items():
        bounds[variable.name] = (0, max(0, int(size) - 1) if size.is_Integer else None)
    symbolic = [(variable, size) for variable, size in sizes.items() if not size.is_Integer]
    below = tuple((READERS.read(size) - variable, (1, None)) for variable, size in symbolic)
    return Question(expression, bounds, below)


def _ends(interval: Native) -> tuple[int | None, int | None]:
    """The ends of an interval; infinities are no integers."""
    lower, upper = map(sympy.sympify, (interval.lower, interval.upper))
    return int(lower) if lower.is_Integer else None, int(upper) if upper.is_Integer else None


class _LoweredError(Exception):
    """The code is written; compiling it is not needed."""


def _lower(torch: Native, model: Model) -> None:
    """Have a model compiled for dynamic sizes as far as its code."""
    config = importlib.import_module("torch._inductor.config")
    lowering = importlib.import_module("torch._inductor.graph").GraphLowering
    logging.getLogger("torch").setLevel(logging.ERROR)

    def stop(graph: Native) -> None:
        graph.codegen()
        raise _LoweredError

    def function(*tensors: Native) -> Native:
        return model.function(torch, *tensors)

    floats = [torch.ones(shape) for shape in model.shapes]
    integers = [torch.zeros(shape, dtype=torch.int64) for shape in model.indices]
    original, lowering.compile_to_module = lowering.compile_to_module, stop
    torch.compiler.reset()
    try:
        with torch.no_grad(), config.patch(force_disable_caches=True, compile_threads=1):
            torch.compile(function, dynamic=True)(*floats, *integers)
    except Exception as error:  # PyTorch wraps what stops it
        if _LoweredError.__name__ not in str(error):
            raise
    finally:
        lowering.compile_to_module = original


# What comes out.


def compared(call: Call) -> Comparison:
    """Our size and time beside those of PyTorch."""
    ours, seconds = timed_without_collections(call.question.simplified)
    sizes = operator_count(ours), operator_count(READERS.read(call.result))
    return Comparison(sizes, (seconds, call.seconds))


def report(comparisons: Sequence[Comparison], models: int) -> Iterator[str]:
    """The lines that are printed."""
    sizes = [comparison.sizes for comparison in comparisons]
    ours, theirs = (sum(both[side] for both in sizes) for side in (0, 1))
    smaller = sum(our < their for our, their in sizes)
    equal = sum(our == their for our, their in sizes)
    yield f"calls  {len(sizes)} distinct ones of {models} models"
    yield f"size   {ours} operators, PyTorch {theirs}"
    yield f"       smaller {smaller}, equal {equal}, larger {len(sizes) - smaller - equal}"
    our_time, their_time = (sum(each.seconds[side] for each in comparisons) for side in (0, 1))
    ratio = f", {their_time / our_time:.1f} times as long" if our_time else ""
    yield f"time   {our_time:.2f} s, PyTorch {their_time:.2f} s{ratio}"


def rows(found: Iterable[Call]) -> Iterator[dict[str, Any]]:
    """The calls as the tests keep them, numbered within each model."""
    numbers: dict[str, int] = {}
    for call in found:
        numbers[call.model] = numbers.get(call.model, 0) + 1
        yield call.question.row(f"inductor_{call.model}_{numbers[call.model]}", call.result)


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [model.name for model in MODELS]
    parser.add_argument("--models", action="append", choices=names, help="default: all")
    parser.add_argument("--record", type=Path, help="write the calls here, one JSON object a line")
    arguments = parser.parse_args()
    if importlib.util.find_spec("torch") is None:
        print(MISSING)
        return
    chosen = [model for model in MODELS if model.name in (arguments.models or names)]
    found = [*calls(chosen)]
    for line in report([*map(compared, found)], len(chosen)):
        print(line)
    if arguments.record:
        lines = [json.dumps(row) + "\n" for row in rows(found)]
        arguments.record.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
