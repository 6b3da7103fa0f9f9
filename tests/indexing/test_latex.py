"""Maps as LaTeX: the formula and its domain beside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from indexing import IndexingMap, IndexSet, parse_map
from simplifier.tools.display import MAX_ROWS
from tests.strategies import any_maps

FORMULAS = [
    # results, formula
    ("d0 * 2 - s0 mod 3", r"2 d_{0} - \left(s_{0} \bmod 3\right)"),
    ("(d0 + 1) floordiv 4", r"\left\lfloor \frac{d_{0} + 1}{4} \right\rfloor"),
    ("rt0 ceildiv 4", r"\left\lceil \frac{rt_{0}}{4} \right\rceil"),
    ("min(th_x, d0 + 1)", r"\min\left(d_{0} + 1, th_{x}\right)"),
    ("min(d0, 2)", r"\min\left(d_{0}, 2\right)"),
    ("(-d0) mod 4", r"\left(\left(-d_{0}\right) \bmod 4\right)"),
    (
        "(d0 mod 2) * 3 + (d0 floordiv 2) * 12 - s0 * 2 + th_x",
        (
            r"12 \left\lfloor \frac{d_{0}}{2} \right\rfloor + 3 \left(d_{0} \bmod 2\right) "
            r"+ th_{x} - 2 s_{0}"
        ),
    ),
    ("th_x * s0 * (d0 + 1)", r"\left(d_{0} + 1\right) \cdot th_{x} \cdot s_{0}"),
]


@pytest.mark.parametrize(("result", "formula"), FORMULAS, ids=[result for result, _ in FORMULAS])
def test_formulas(result: str, formula: str) -> None:
    declared = "(d0, th_x)[s0]{rt0}"
    bounds = "d0 in [0, 3], th_x in [4, 4], s0 in [0, inf], rt0 in [-inf, inf]"
    made = parse_map(f"{declared} -> ({result}), domain: {bounds}, d0 * 6 + s0 in [-inf, 9]")
    assert made._repr_latex_() == (
        r"$\displaystyle \left(d_{0}, th_{x}\right)\left[s_{0}\right]\left\{rt_{0}\right\} "
        rf"\mapsto \left({formula}\right), \quad \begin{{array}}{{l}} "
        r"0 \le d_{0} \le 3 \\ th_{x} = 4 \\ 0 \le s_{0} \\ rt_{0} \in \mathbb{Z} \\ "
        r"6 d_{0} + s_{0} \le 9 \end{array}$"
    )


def test_a_map_without_variables_has_no_domain() -> None:
    assert parse_map("() -> ()")._repr_latex_() == (
        r"$\displaystyle \left(\right) \mapsto \left(\right)$"
    )


def test_an_empty_map_is_called_so() -> None:
    assert parse_map("(d0) -> (d0), domain: KNOWN EMPTY")._repr_latex_() == (
        r"$\displaystyle \left(d_{0}\right) \mapsto \left(0\right), \quad \text{known empty}$"
    )


@given(any_maps())
def test_brackets_and_delimiters_are_balanced(made: IndexingMap) -> None:
    latex = made._repr_latex_()
    assert latex.count(r"\left") == latex.count(r"\right")
    assert latex.startswith("$")
    assert latex.endswith("$")


SETS = {
    "(i): i in [0, 8] step 4": r"0 \le i \le 8,\; \left(i \bmod 4\right) = 0",
    "(i)<N>: i in [0, N - 1]": r"0 \le i \le N - 1,\; 1 \le N",
    "(i): i in [0, 1] or i in [8, 9]": r"0 \le i \le 1 \lor \\ 8 \le i \le 9",
}


@pytest.mark.parametrize("text", SETS)
def test_sets(text: str) -> None:
    latex = IndexSet.parse(text)._repr_latex_()
    assert rf"\begin{{array}}{{l}} {SETS[text]} \end{{array}} \right\}}$" in latex


def test_an_empty_set_has_a_sign() -> None:
    assert IndexSet.box((0, -1))._repr_latex_() == r"$\displaystyle \varnothing$"


def test_many_pieces_are_cut() -> None:
    many = IndexSet.from_mask(np.arange(400) % 7 % 4 < 1)
    latex = many._repr_latex_()
    assert latex.count(r"\lor") == MAX_ROWS
    assert r"\ldots \end{array}" in latex
