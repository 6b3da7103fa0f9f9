"""Torch's functions, in and out, and what Inductor asks; all but two tests run without PyTorch."""

# ruff: noqa: ANN401 - values of torch, which need not be installed

from __future__ import annotations

import importlib
import importlib.util
import shutil
import sys
from collections.abc import Iterator
from operator import itemgetter
from types import ModuleType, SimpleNamespace
from typing import Any, Final, NamedTuple

import pytest
import sympy
from sympy import Eq, Piecewise
from sympy.printing.str import StrPrinter

from benchmarks.inductor import compiled
from simplifier import (
    READERS,
    BitXor,
    ConversionError,
    Facts,
    FloorDiv,
    Max,
    Min,
    Mod,
    format_expr,
    operator_count,
    parse_expr,
    symbol,
)
from simplifier.torch import facts_of, installed, simplify, simplify_with_ranges, to_torch
from tests.cases import for_all
from tests.conformance import Row
from tests.evaluation import differing_point
from tests.simplifier.test_conformance import SIMPLIFICATIONS, question

FUNCTIONS: Final = "torch.utils._sympy.functions"
NAMES: Final = (
    *("FloorDiv", "CleanDiv", "CeilDiv", "ModularIndexing", "Mod", "PythonMod", "Min", "Max"),
    *("Where", "Identity", "BitwiseFn_bitwise_and", "BitwiseFn_bitwise_or"),
    "BitwiseFn_bitwise_xor",
)


@pytest.fixture(scope="module", autouse=True)
def functions() -> Iterator[Any]:
    """Torch's functions, or functions with their names where it is not installed."""
    if importlib.util.find_spec("torch") is not None:
        yield importlib.import_module(FUNCTIONS)
        return
    made: Any = ModuleType(FUNCTIONS)
    for name in NAMES:
        assumed = {"__module__": FUNCTIONS, "is_integer": True}
        setattr(made, name, type(name, (sympy.Function,), assumed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, FUNCTIONS, made)
        yield made


x, y, k, n = (symbol(name) for name in ("x", "y", "k", "n"))
WITHIN: Final = Facts({x: (0, 99), y: (0, 7), n: (1, 9), k: (1, None)})

WRITTEN: list[tuple[Any, str]] = [
    # an expression, and the same in torch's functions
    (FloorDiv(x - 9, 8), "FloorDiv(x - 9, 8)"),
    (Mod(x, 8), "ModularIndexing(x, 1, 8)"),
    (Mod(FloorDiv(x, n), 8), "ModularIndexing(x, n, 8)"),
    (Mod(x - 9, 8), "PythonMod(x - 9, 8)"),
    (Mod(FloorDiv(x - 9, n), 8), "PythonMod(FloorDiv(x - 9, n), 8)"),
    (Min(x, 5) + Max(y, 3), "Max(y, 3) + Min(x, 5)"),
    (BitXor(x, 3), "BitwiseFn_bitwise_xor(x, 3)"),
    (Piecewise((x, x < 5), (y, y < 3), (5, True)), "Where(x < 5, x, Where(y < 3, y, 5))"),
    (FloorDiv(x, 8) < 3, "FloorDiv(x, 8) < 3"),
]


class Calls(StrPrinter):
    """Torch's functions as calls, in all versions of it."""

    printmethod = ""

    def _print_Function(self, expr: Any) -> str:  # noqa: N802 - sympy finds it by this name
        return f"{type(expr).__name__}({', '.join(map(self.doprint, expr.args))})"


@for_all(WRITTEN, itemgetter(1))
def test_what_is_written_is_read_back(expression: Any, expected: str) -> None:
    written = to_torch(expression, WITHIN)
    assert Calls().doprint(written) == expected
    assert format_expr(READERS.read(written)) == format_expr(expression)


# What Inductor asks.


INFINITE: Final = symbol("int_oo")
"""Torch's own infinity is no integer, either."""


class ValueRange(NamedTuple):
    """As torch has it."""

    lower: Any
    upper: Any
    is_int: Any = True


def allocator(bounds: Any = (), axioms: Any = (), replacements: Any = None) -> Any:
    """Stands for a ``SizeVarAllocator``."""
    ranges = {
        symbol(name): ValueRange(*(INFINITE if end is None else end for end in ends))
        for name, ends in dict(bounds).items()
    }
    environment = SimpleNamespace(var_to_range=ranges, get_axioms=lambda: tuple(axioms))
    return SimpleNamespace(shape_env=environment, replacements=replacements or {})


INDUCTOR: Final = [row for row in SIMPLIFICATIONS if row["id"].startswith("inductor")]


@for_all(INDUCTOR, itemgetter("id"))
def test_no_answer_is_larger_than_that_of_inductor(row: Row) -> None:
    given, *known = question(row)
    given_ranges = row["ranges"].items()
    ranges: dict[Any, Any] = {
        symbol(name): to_torch(parse_expr(text)) for name, text in given_ranges
    }
    asked = allocator(row["bounds"])
    result = READERS.read(simplify_with_ranges(asked, to_torch(given, *known), ranges))
    assert operator_count(result) <= operator_count(parse_expr(row["expected"])), result
    assert differing_point(given, result, *known) is None, result


SMALL: Final = allocator({"n": (1, 9)})
ASKED: list[tuple[Any, Any, Any, str]] = [
    # an expression, ranges, what an allocator knows, the answer
    ((x + 1) * n, {x: 8}, allocator(), "n*x + n"),
    (Mod(x, 8) + 8 * FloorDiv(x, 8), {x: 64}, allocator(), "x"),
    (n * (x - 8 * FloorDiv(x, 8)), {x: 64}, allocator(), "n*ModularIndexing(x, 1, 8)"),
    (x - 4 * n * FloorDiv(x, 4 * n), {x: 8 * n}, SMALL, "ModularIndexing(x, 1, 4*n)"),
    (FloorDiv(x, 4) - n * FloorDiv(x, 4 * n), {x: k}, SMALL, "ModularIndexing(x, 4, n)"),
    (FloorDiv(x, n) + y, {x: n, y: 8}, allocator(), "y"),
    (FloorDiv(x, k), {x: n}, allocator(replacements={k: n}), "0"),
    (FloorDiv(x, k), {x: n}, allocator(axioms=[k >= n]), "0"),
    (Mod(x, FloorDiv(n, 4)), {x: FloorDiv(n, 4)}, allocator(), "x"),
    (x * FloorDiv(n + 3, 4), {x: 8}, allocator(), "x*FloorDiv(n + 3, 4)"),
    (FloorDiv(x, 8) < 3, {x: 64}, allocator(), "x < 24"),
    (FloorDiv(x, 8), {x: 0}, allocator(), "0"),
    (Mod(x + 5, 8), {x: 8}, allocator(), "ModularIndexing(x + 5, 1, 8)"),
]  # fmt: skip


@for_all(ASKED, lambda row: f"{row[0]} in {row[1]}")
def test_indices_are_divided_and_sizes_stay(
    expression: Any, ranges: Any, asked: Any, expected: str
) -> None:
    ranges = {index: to_torch(size) for index, size in ranges.items()}
    result = simplify_with_ranges(asked, to_torch(expression, WITHIN), ranges)
    assert Calls().doprint(result) == expected


def test_identity_and_choices_stay(functions: Any) -> None:
    held = functions.Identity(8 * functions.FloorDiv(x + 8, 8) - 8 - x + x)
    chosen = functions.Where(x < 5, x, 5)
    given = n * held + functions.FloorDiv(x, 8) - functions.ModularIndexing(x, 8, 16) + chosen
    result = simplify_with_ranges(allocator(), given, {x: 128})
    assert result == n * functions.Identity(8 * functions.FloorDiv(x, 8)) + chosen
    assert simplify(held, WITHIN) == functions.Identity(8 * functions.FloorDiv(x, 8))
    with pytest.raises(ConversionError, match="is a fraction"):
        simplify_with_ranges(
            allocator(), functions.FloorDiv(x, 8) + functions.FloorDiv(x / 2, 3), {x: 9}
        )


def test_an_environment_is_facts() -> None:
    known = allocator({"n": (2, None), "k": (None, None)}, [k < 3 * n, Eq(Mod(n, 4), 0), k * n > 3])
    facts = facts_of(known.shape_env, {x: n, y: sympy.Integer(0)})
    assert facts == Facts({n: (2, None), k: (None, None)}, [k < 3 * n, Eq(Mod(n, 4), 0)]) & Facts(
        {x: (0, n - 1), y: (0, 0)}
    )


def test_inductor_asks_inside_and_itself_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    class SizeVarAllocator:
        """Torch's has more."""

        def _simplify_with_ranges(self, expression: Any, ranges: Any) -> Any:
            return "its own", expression, ranges

    own = SizeVarAllocator._simplify_with_ranges
    sizevars = SimpleNamespace(SizeVarAllocator=SizeVarAllocator)
    monkeypatch.setitem(sys.modules, "torch._inductor.sizevars", sizevars)
    known: Any = SizeVarAllocator()
    known.shape_env, known.replacements = allocator().shape_env, {}
    with installed():
        assert known._simplify_with_ranges(FloorDiv(x, 8), {x: sympy.Integer(8)}) == 0
        refused: Any = FloorDiv(x, 8) + FloorDiv(x / 2, 3)
        assert known._simplify_with_ranges(refused, {x: 9}) == ("its own", refused, {x: 9})
    assert SizeVarAllocator._simplify_with_ranges is own
    monkeypatch.setitem(sys.modules, "torch._inductor.sizevars", None)
    with pytest.raises(ImportError, match="pip install torch"), installed():
        pass


@pytest.mark.filterwarnings("ignore")  # PyTorch's own
@pytest.mark.parametrize("name", ["roll", "pixel_shuffle"])
def test_models_compute_what_they_compute_without_us(name: str) -> None:
    if importlib.util.find_spec("torch") is None or shutil.which("g++") is None:
        pytest.skip("compiles by PyTorch and g++; torch or g++ is not installed")
    found = compiled(name, is_dynamic=True, is_ours=True, is_run=True)
    assert found.is_right
