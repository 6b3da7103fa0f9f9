"""The sympy functions: values on constants, no candidates, and printers that mean the same."""

from __future__ import annotations

import operator
import pickle
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

from indexing import IndexingMap
from simplifier import CeilDiv, FloorDiv, Max, Min, Mod, equivalent, parse_expr, simplify, symbol
from simplifier.expr.sympy import ConversionError, from_sympy
from tests.cases import for_all
from tests.evaluation import values_of

x, y = symbol("x"), symbol("y")

SEMANTICS: dict[type[sympy.Function], Callable[[int, int], int]] = {
    FloorDiv: lambda a, b: a // b, Mod: lambda a, b: a % b, CeilDiv: lambda a, b: -(-a // b),
    Min: min, Max: max,
}  # fmt: skip
NUMBERS = (-17, -3, -1, 0, 1, 2, 8, 17)
SIGNED = [(a, b) for a, b in product(NUMBERS, NUMBERS) if b]


@for_all([*SEMANTICS.items()])
def test_constants_of_any_size_are_evaluated_for_either_sign(
    function: type[sympy.Function], compute: Callable[[int, int], int]
) -> None:
    for a, b in (*SIGNED, (10**40 + 7, -(10**19))):
        assert function(a, b) == compute(a, b), (a, b)
    assert function in (Min, Max) or isinstance(function(7, 0), function)


DIVISIONS = [FloorDiv(x, 1), FloorDiv(8 * x, 8), FloorDiv(x, -3), CeilDiv(4 * x, 2)]
REMAINDERS = [Mod(-x, 3), Mod(x, x), Mod(Mod(x, 8), 8)]


@for_all([*DIVISIONS, *REMAINDERS, Min(x, x + 1), Max(x, x)])
def test_variables_are_left_alone(expression: sympy.Expr) -> None:
    assert isinstance(expression, (FloorDiv, Mod, CeilDiv, Min, Max))
    assert expression.args == type(expression)(*expression.args).args
    assert expression.is_integer


def test_a_single_operand_is_its_own_extremum() -> None:
    assert (Min(x), Max(y)) == (x, y)
    with pytest.raises(TypeError, match="Min: has no arguments; expected at least one"):
        Min()


PRINTED = [
    # expression, str, LaTeX
    (FloorDiv(x + 1, 8), "(x + 1)//8", r"\left\lfloor \frac{x + 1}{8} \right\rfloor"),
    (FloorDiv(x, -8), "x//(-8)", r"\left\lfloor \frac{x}{-8} \right\rfloor"),
    (FloorDiv(FloorDiv(x, 2), y), "(x//2)//y", None),
    (FloorDiv(x, FloorDiv(y, 2)), "x//(y//2)", None),
    (2 * Mod(x, 8) + 1, "2*(x % 8) + 1", r"2 \left(x \bmod 8\right) + 1"),
    (Mod(2 * x, y), "(2*x) % y", None),
    (-FloorDiv(x, 3), "-(x//3)", None),
    (3 * FloorDiv(x, 3), "3*(x//3)", None),
    (FloorDiv(x, 3) ** 2, "(x//3)**2", None),
    (CeilDiv(x, 8), "-((-x)//8)", r"\left\lceil \frac{x}{8} \right\rceil"),
    (Min(x, 7), "Min(x, 7)", r"\min\left(x, 7\right)"),
    (Max(x, y, 0), "Max(x, y, 0)", r"\max\left(x, y, 0\right)"),
]


@for_all(PRINTED)
def test_printed(expression: sympy.Expr, text: str, latex: str | None) -> None:
    assert str(expression) == text
    if latex is not None:
        assert sympy.latex(expression) == latex


EXPRESSIONS: dict[str, sympy.Expr] = {
    # printers for machines are compared by value; nesting finds missing parentheses
    "floordiv": FloorDiv(x, y), "floordiv-of-sum": FloorDiv(x + y, 3),
    "floordiv-of-negative": FloorDiv(-x, 3) - FloorDiv(x, -3),
    "negated-floordiv": -FloorDiv(x, 3), "negated-mod": -Mod(x, y) + FloorDiv(x, 4),
    "mod": Mod(x, y), "mod-of-product": 2 * Mod(3 * x, -5) - 1,
    "mod-of-mod": Mod(Mod(x, 7), Mod(y, 3) + 1), "mod-times-floordiv": Mod(x, 4) * FloorDiv(x, 4),
    "power": Mod(x, 4) ** 2 - FloorDiv(x, 3) ** 3, "ceildiv": CeilDiv(x, y),
    "ceildiv-inside": FloorDiv(CeilDiv(x, 3), -2) - CeilDiv(x - y, 4),
    "floordiv-minus-floordiv": x - FloorDiv(x, 3) - (y - FloorDiv(y, 2)),
    "min": Min(x, y, 3) * 2, "max": -Max(x, -y, Mod(x, 3)),
    "extrema": Min(Max(x, -2), 5) - Max(Min(x, y), 0),
}  # fmt: skip
POINTS = [(a, b) for a, b in product((-9, -4, -1, 0, 1, 5, 12), (-3, -1, 1, 2, 7))]


def expected(name: str) -> list[int]:
    """The values at all points, by substitution alone."""
    return [int(EXPRESSIONS[name].subs({x: a, y: b})) for a, b in POINTS]


def test_substitution_and_code_of_numpy_give_values_where_floats_are_not_exact() -> None:
    large = 2**53 + 1
    function = sympy.lambdify((x,), FloorDiv(x, 1) + Mod(x, 2**60), "numpy")
    assert function(np.array([large])).tolist() == [2 * large]
    assert EXPRESSIONS["mod-of-product"].subs({x: -3, y: 1}) == 2 * ((3 * -3) % -5) - 1
    assert FloorDiv(x, y).xreplace({x: sympy.Integer(-7), y: sympy.Integer(2)}) == -4
    assert FloorDiv(x, y).subs(y, 0) == FloorDiv(x, 0)
    assert Min(x, y, x + y).free_symbols == {x, y}


def computed(text: str, names: dict[str, Any]) -> list[int]:
    code = compile(text, "text", "eval")
    return [eval(code, names, {"x": a, "y": b}) for a, b in POINTS]  # noqa: S307 - our own text


def called(module: str, expression: sympy.Expr) -> list[Any]:
    function = sympy.lambdify((x, y), expression, module)
    return [function(a, b) for a, b in POINTS]


def called_once(module: str, dtype: type, expression: sympy.Expr) -> list[int]:
    """The values of what sympy compiles for a module of arrays."""
    function = sympy.lambdify((x, y), expression, module)
    points: Any = np.array(POINTS)
    found = np.asarray(function(*points.T.astype(dtype)))
    assert found.dtype == dtype
    return found.tolist()


def in_fortran(expression: sympy.Expr) -> list[int]:
    """Fortran divides integers towards zero; these quotients have no remainder."""
    code: str = sympy.fcode(expression, standard=95, source_format="free")
    names = {"modulo": operator.mod, "min": min, "max": max}
    return computed(code.replace("&\n", "").replace("/", "//"), names)


LANGUAGES: dict[str, Callable[[sympy.Expr], list[Any]]] = {
    "str": lambda expression: computed(str(expression), {"Min": min, "Max": max}),
    "math": lambda expression: [*map(operator.index, called("math", expression))],
    "mpmath": partial(called, "mpmath"), "sympy": partial(called, "sympy"),
    "numpy": partial(called_once, "numpy", np.int64), "Fortran": in_fortran,
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_means_the_same(language: str) -> None:
    check_values(LANGUAGES[language])


@pytest.mark.needs("jax")
def test_jax_code_means_the_same() -> None:
    check_values(partial(called_once, "jax", np.int32))


def check_values(compute: Callable[[sympy.Expr], list[Any]]) -> None:
    for name, expression in EXPRESSIONS.items():
        assert compute(expression) == expected(name), name


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_c_code_means_the_same(tmp_path: Path) -> None:
    functions = "\n".join(
        f"static long f{place}(long x, long y) {{ return {sympy.ccode(expression)}; }}"
        for place, expression in enumerate(EXPRESSIONS.values())
    )
    calls = "\n".join(
        f'printf("%ld\\n", f{place}({a}L, {b}L));'
        for place, (a, b) in product(range(len(EXPRESSIONS)), POINTS)
    )
    source, program = tmp_path / "values.c", tmp_path / "values"
    main = f"int main(void) {{\n{calls}\nreturn 0;\n}}\n"
    source.write_text(f"#include <math.h>\n#include <stdio.h>\n{functions}\n{main}")
    subprocess.run([shutil.which("gcc") or "gcc", "-o", program, source, "-lm"], check=True)
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    values = iter(map(int, output.split()))
    check_values(lambda _: [next(values) for _ in POINTS])


PRETTY = [
    # expression, lines of its drawing
    (FloorDiv(x + 1, 8) * 2, "  ⎢x + 1⎥", "2⋅⎢─────⎥", "  ⎣  8  ⎦"),
    (CeilDiv(x, 8) - y, "     ⎡x⎤", "-y + ⎢─⎥", "     ⎢8⎥"),
    (Mod(x, 8) + 1, "(x mod 8) + 1"),
]


@for_all(PRETTY)
def test_drawn(expression: sympy.Expr, *lines: str) -> None:
    assert sympy.pretty(expression, use_unicode=True).split("\n") == [*lines]


@for_all(EXPRESSIONS)
def test_pickle_and_rebuilding_keep_the_expression(expression: sympy.Expr) -> None:
    assert sympy.cxxcode(expression).replace("std::", "") == sympy.ccode(expression)
    assert pickle.loads(pickle.dumps(expression)) == expression  # noqa: S301 - our own
    assert sympy.srepr(expression) == sympy.srepr(expression.func(*expression.args))
    assert expression.xreplace({x: y}).xreplace({y: x}) is not None


@pytest.mark.parametrize("written", ["simplifier", "in a sum", "in a power", "reflected"])
def test_remainders_of_remainders_are_those_of_integers(written: str) -> None:
    """``(k*(x % a)) % b``, of which sympy gets most wrong."""

    def made(number: Any, k: int, a: int, b: int) -> Any:  # noqa: ANN401 - integers or a symbol
        number = {"in a sum": number + 1, "in a power": number**2}.get(written, number)
        return (30 % (number + 1) if written == "reflected" else k * (number % a)) % b

    points = np.arange(80)
    for factors in product(range(2, 9), range(2, 9), range(2, 10)):
        found, _ = values_of(from_sympy(made(x, *factors)), {"x": points})
        assert (made(points, *factors) == found).all(), factors


@for_all([(2, 3, 6), (4, 5, 10)])  # as they were reported
def test_operators_of_a_map_are_those_of_integers(k: int, a: int, b: int) -> None:
    made = IndexingMap.from_sizes([k * (x % a) % b, x // a % 2], {"x": 12})
    expected = [(k * (i % a) % b, i // a % 2) for i in range(12)]
    assert [made.evaluate([i]) for i in range(12)] == expected


X = sympy.Symbol("x", integer=True)
FAULTY = [sympy.Mod(x + 1, 3) ** 2, 2 * (X % 3) % 6, X * (X % 3) % 6 + 1, 3 * (X % 4) * (X % 3) % 5]
"""What sympy makes of its own symbols."""


def test_the_mark_of_sympys_fault_is_refused() -> None:
    for expression in FAULTY:
        with pytest.raises(ConversionError, match=r"expected simplifier\.Mod\(a, b\)"):
            simplify(expression, {})
    assert from_sympy((x % 3) ** 2) == from_sympy((x % 3) * (x % 3))


OF_SYMPY: dict[str, tuple[Any, Any]] = {
    "a symbol": (x, sympy.Symbol("x", integer=True)), "a sum": (x + 1, sympy.Add(x, 1)),
    "a product": (2 * x, sympy.Mul(2, x)), "a power": (x**2, sympy.Pow(x, 2)),
    "what is written": (parse_expr("x * 2 + y"), sympy.Add(sympy.Mul(2, x), y)),
}  # fmt: skip


@for_all(OF_SYMPY)
def test_symbols_and_sums_are_sympys_but_for_their_division(ours: Any, sympys: Any) -> None:  # noqa: ANN401 - expressions
    assert ours == sympys == pickle.loads(pickle.dumps(ours))  # noqa: S301 - our own
    assert {sympys: 7}[ours] == {ours: 7}[sympys] == 7
    assert (ours.subs(sympys, 7), sympys.subs(ours, 7)) == (7, 7)
    assert sympy.srepr(ours) == sympy.srepr(sympys)
    assert sympy.latex(ours) == sympy.latex(sympys)
    assert ours.compare(sympys) == 0
    assert isinstance(ours % 3, Mod)
    assert isinstance(ours // 3, FloorDiv)
    assert divmod(ours, 3) == (FloorDiv(ours, 3), Mod(ours, 3))
    assert divmod(sympy.Integer(9), ours) == (FloorDiv(9, ours), Mod(9, ours))
    assert sympy.Integer(2) % (ours + y) == Mod(2, ours + y)


def test_what_is_no_integer_divides_and_derivatives_stay_as_in_sympy() -> None:
    assert x // sympy.Rational(1, 2) == 2 * x
    assert (x / 2) // 3 == sympy.floor(x / 6)
    matrix_of: Any = vars(sympy)["Matrix"]
    assert matrix_of([1, 2]) * x == matrix_of([x, 2 * x])
    assert symbol("d0") == symbol("d0") != sympy.Symbol("d0")
    assert symbol("d0").is_integer
    assert FloorDiv(x, 3).diff(y) == 0
    assert (2 * FloorDiv(x, 3) + 5 * x).diff(x) == 2 * FloorDiv(x, 3).diff(x) + 5
    assert FloorDiv(x, 3).diff(x).doit().has(FloorDiv)


TO_SYMPY: list[tuple[Any, tuple[Any, ...]]] = [
    (sympy.floor, (FloorDiv, CeilDiv, Mod)), (sympy.ceiling, (CeilDiv,)),
    (sympy.Mod, (FloorDiv, CeilDiv, Mod)), (sympy.Min, (Min,)), (sympy.Max, (Max,)),
    (sympy.Piecewise, (Min, Max)),
]  # fmt: skip
"""Functions of sympy, and which of ours can be written with them."""


@for_all(TO_SYMPY)
def test_rewriting_for_sympy_keeps_the_meaning(target: Any, functions: tuple[Any, ...]) -> None:  # noqa: ANN401 - functions of sympy
    for function in functions:
        written: Any = function(x + 1, 3 * y + 2) * 2 - x
        rewritten = written.rewrite(target)
        assert not rewritten.has(function)
        assert rewritten.has(target)
        for a, b in product(range(-7, 8), range(-3, 4)):
            values = {x: a, y: b}
            assert rewritten.subs(values) == written.subs(values), (function, a, b)
        written = function(x + y, 5)
        assert equivalent(written.rewrite(target), written, {x: (-7, 7), y: (-3, 3)})


natural = sympy.Symbol("natural", integer=True, nonnegative=True)
negative = sympy.Symbol("negative", integer=True, negative=True)
positive = sympy.Symbol("positive", integer=True, positive=True)
SIGNS: list[tuple[sympy.Expr, bool | None, bool | None]] = [
    # expression, whether it is at least 0, and at most 0, as far as sympy knows
    (FloorDiv(natural, 4), True, None), (FloorDiv(-natural, -4), True, None),
    (CeilDiv(natural, positive), True, None), (FloorDiv(negative, negative), True, None),
    (FloorDiv(negative, positive), None, None), (FloorDiv(natural, natural), None, None),
    (Mod(x, 4), True, None), (Mod(x, negative), None, True), (Mod(natural, natural), None, None),
]  # fmt: skip


@for_all(SIGNS)
def test_sympy_knows_signs(expression: sympy.Expr, *signs: bool | None) -> None:
    assert (expression.is_nonnegative, expression.is_nonpositive) == signs
