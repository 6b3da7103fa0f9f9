"""Maps as LaTeX, for notebooks and papers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy

from simplifier.functions import symbol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.map import IndexingMap
    from simplifier import Interval


def latex_of_map(indexing_map: IndexingMap) -> str:
    r"""The map as a formula, its domain as a column of inequalities beside it.

    >>> from indexing import parse_map
    >>> print(latex_of_map(parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]")))
    $\displaystyle \left(d_{0}\right) \mapsto
    \left(\left\lfloor \frac{d_{0}}{8} \right\rfloor\right), \quad
    \begin{array}{l} 0 \le d_{0} \le 31 \end{array}$
    """
    results = _tuple((sympy.latex(result) for result in indexing_map.results), "()")
    formula = rf"{_declarations(indexing_map)} \mapsto {results}"
    if indexing_map.is_known_empty:
        return rf"$\displaystyle {formula}, \quad \text{{known empty}}$"
    rows = _domain_rows(indexing_map)
    if not rows:
        return rf"$\displaystyle {formula}$"
    column = r" \\ ".join(rows)
    return rf"$\displaystyle {formula}, \quad \begin{{array}}{{l}} {column} \end{{array}}$"


def _declarations(indexing_map: IndexingMap) -> str:
    domain = indexing_map.domain
    return "".join(
        _tuple(map(_latex_of_name, names), brackets)
        for names, brackets in zip(domain.by_role(domain.names), ("()", "[]", "{}"), strict=True)
        if names or brackets == "()"
    )


def _tuple(texts: Iterable[str], brackets: str) -> str:
    opening, closing = (rf"\{mark}" if mark in "{}" else mark for mark in brackets)
    return rf"\left{opening}{', '.join(texts)}\right{closing}"


def _latex_of_name(name: str) -> str:
    return sympy.latex(symbol(name))


def _domain_rows(indexing_map: IndexingMap) -> list[str]:
    domain = indexing_map.domain
    rows = [
        _inequality(_latex_of_name(name), variable.bounds)
        for name, variable in zip(domain.names, domain, strict=True)
    ]
    return rows + [
        _inequality(sympy.latex(form), interval) for form, interval in indexing_map.constraints
    ]


def _inequality(text: str, interval: Interval) -> str:
    if interval.is_point:
        return rf"{text} = {interval.lower}"
    lower = "" if interval.lower is None else rf"{interval.lower} \le "
    upper = "" if interval.upper is None else rf" \le {interval.upper}"
    return f"{lower}{text}{upper}" if lower or upper else rf"{text} \in \mathbb{{Z}}"
