"""Maps as LaTeX, for notebooks and papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import sympy

from simplifier.expr.form import Kind
from simplifier.expr.functions import symbol
from simplifier.expr.printer import Printer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.relation import Relation
    from simplifier import Interval
    from simplifier.expr.form import Atom, Form


def latex_of_map(indexing_map: Relation) -> str:
    r"""The map as a formula, its domain as a column of inequalities beside it.

    >>> from indexing import parse_map
    >>> print(latex_of_map(parse_map("(d0) -> (d0 floordiv 8), domain: d0 in [0, 31]")))
    $\displaystyle \left(d_{0}\right) \mapsto
    \left(\left\lfloor \frac{d_{0}}{8} \right\rfloor\right), \quad
    \begin{array}{l} 0 \le d_{0} \le 31 \end{array}$
    """
    if indexing_map.is_undefined:
        return rf"$\text{{{str(indexing_map).translate(_ESCAPED)}}}$"
    writer = _LatexWriter(indexing_map.domain.names)
    named = (indexing_map.domain.named(form) for form in indexing_map.forms)
    results = _tuple(map(writer.write, named), "()")
    formula = rf"{_declarations(indexing_map)} \mapsto {results}"
    if indexing_map.is_known_empty:
        return rf"$\displaystyle {formula}, \quad \text{{known empty}}$"
    limits = indexing_map.domain.limits()
    rows = [_inequality(writer.write(form), interval) for form, interval in limits]
    if not rows:
        return rf"$\displaystyle {formula}$"
    column = r" \\ ".join(rows)
    return rf"$\displaystyle {formula}, \quad \begin{{array}}{{l}} {column} \end{{array}}$"


# What means something to LaTeX even within text.
_ESCAPED: Final = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "#$%&_{}"},
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
    }
)


class _LatexWriter(Printer):
    """Terms in the order of the text; coefficients in front, divisions as fractions."""

    def atom(self, atom: Atom) -> str:
        if not atom.arguments:
            return _latex_of_name(atom.name)
        operands = list(map(self.sum, atom.arguments))
        if atom.kind in _AROUND_FRACTION:
            opening, closing = _AROUND_FRACTION[atom.kind]
            return rf"\left\{opening} \frac{{{operands[0]}}}{{{operands[1]}}} \right\{closing}"
        if atom.kind is Kind.MOD:
            return r"\left({} \bmod {}\right)".format(*map(self._factor, atom.arguments))
        if atom.kind is Kind.PRODUCT:
            factors = sorted(atom.arguments, key=self._factor_order)
            return r" \cdot ".join(map(self._factor, factors))
        return rf"\{atom.kind.name.lower()}\left({', '.join(operands)}\right)"

    def scaled(self, atom: Atom, factor: int) -> str:
        sign = "-" if factor < 0 else ""
        number = f"{abs(factor)} " if abs(factor) != 1 else ""
        return f"{sign}{number}{self.texts[atom]}"

    def _factor(self, form: Form) -> str:
        """An operand of a product or remainder: a sum needs parentheses."""
        text = self.sum(form)
        is_sum = len(form.terms) + (form.constant != 0) > 1
        return rf"\left({text}\right)" if is_sum else text


_AROUND_FRACTION: Final = {
    Kind.FLOORDIV: ("lfloor", "rfloor"),
    Kind.QUOTIENT: ("lfloor", "rfloor"),
    Kind.CEILDIV: ("lceil", "rceil"),
}


def _declarations(indexing_map: Relation) -> str:
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


def _inequality(text: str, interval: Interval) -> str:
    if interval.is_point:
        return rf"{text} = {interval.lower}"
    lower = "" if interval.lower is None else rf"{interval.lower} \le "
    upper = "" if interval.upper is None else rf" \le {interval.upper}"
    return f"{lower}{text}{upper}" if lower or upper else rf"{text} \in \mathbb{{Z}}"
