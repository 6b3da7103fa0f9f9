"""Maps in notebooks: the text and a table of what it consists of in HTML, a formula in LaTeX.

A notebook shows the text, and the table at a click; the formula goes into its PDF. Table and
formula write sums by falling stride, as people do; the text keeps XLA's order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import islice
from typing import Final

import simplifier
from indexing.domain import Domain, ends_and_constraints, text_of_ends
from indexing.formats.text import declared, format_map
from indexing.relation import Relation
from simplifier.forms import LOGICAL, Atom, AtomKind, Form, Printer, as_written, variable
from simplifier.tools.display import MAX_ROWS, cut, html
from simplifier.tools.late import sympy


def html_of_map(indexing_map: Relation, notes: Sequence[tuple[str, str]] = ()) -> str:
    """The map as text, with a table of its variables folded up below; needs no script, no network.

    ``notes`` stand below the text: names, and what is to be said of them.

    >>> from indexing import parse_map
    >>> print(html_of_map(parse_map("(d0) -> (d0 mod 8), domain: d0 in [0, 31]")))
    <div class="indexing">
    <style>...</style>
    <pre>(d0) -&gt; (d0 mod 8), domain: d0 in [0, 31]</pre>
    <details><summary>variables and results</summary><table>
    <tbody>
    <tr><th scope="rowgroup" rowspan="1">dimension</th><td>d0</td><td>[0, 31]</td></tr>
    </tbody>
    <tbody>
    <tr><th scope="rowgroup" rowspan="1">result</th><td>0</td><td>d0 mod 8</td></tr>
    </tbody>
    </table></details>
    </div>
    """
    if indexing_map.is_undefined:
        return html(f"<p>{escape(str(indexing_map))}</p>")
    parts = "".join(_part(title, rows) for title, rows in _parts(indexing_map) if rows)
    lines = [format_map(indexing_map), *(f"{name}: {note}" for name, note in notes)]
    table = f"<table>\n{parts}</table>"
    folded = f"<details><summary>variables and results</summary>{table}</details>"
    return html(f"<pre>{escape(chr(10).join(lines))}</pre>\n{folded}")


def _parts(indexing_map: Relation) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """The titles of the parts of the table, with pairs of cells."""
    domain = indexing_map.domain
    ends, shown = ends_and_constraints(domain)
    texts = (text_of_ends(domain, each) for each in ends.values())
    bounds = tuple(zip(domain.names, texts, strict=True))
    yield from zip(("dimension", "range", "runtime"), domain.by_role(bounds), strict=True)
    yield "parameter", bounds[len(bounds) - len(domain.parameters) :]
    write = _StridePrinter(domain.names).write
    results = (write(domain.named(form)) for form in indexing_map.forms)
    yield "result", [(str(position), text) for position, text in enumerate(results)]
    if domain.is_known_empty:
        yield "domain", [("known empty", "")]
    else:
        rows = (constraint for _, constraint in shown.constraint_texts())
        yield "constraint", [(write(domain.named(form)), str(bounds)) for form, bounds in rows]


def _part(title: str, rows: Sequence[tuple[str, str]]) -> str:
    shown = list(islice(rows, MAX_ROWS))
    if len(rows) > len(shown):
        shown.append((f"and {len(rows) - len(shown)} more", ""))
    head = f'<th scope="rowgroup" rowspan="{len(shown)}">{title}</th>'
    cells = ("".join(f"<td>{cut(text)}</td>" for text in row) for row in shown)
    lines = "</tr>\n<tr>".join(cells)
    return f"<tbody>\n<tr>{head}{lines}</tr>\n</tbody>\n"


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
    formula = rf"{_declarations(indexing_map.domain)} \mapsto {results}"
    if indexing_map.is_known_empty:
        return rf"$\displaystyle {formula}, \quad \text{{known empty}}$"
    rows = list(_inequalities(indexing_map.domain, writer))
    if not rows:
        return rf"$\displaystyle {formula}$"
    column = r" \\ ".join(rows)
    return rf"$\displaystyle {formula}, \quad \begin{{array}}{{l}} {column} \end{{array}}$"


def latex_of_set(hull: Domain, pieces: Sequence[Domain]) -> str:
    r"""The set as tuples with a row of inequalities for each piece; the first rows of many.

    >>> from indexing import IndexSet
    >>> print(IndexSet.box((0, 9), range(0, 20, 5))._repr_latex_())
    $\displaystyle \left\{\left(d_{0}, d_{1}\right) \;\middle|\; \begin{array}{l}
    0 \le d_{0} \le 9,\; 0 \le d_{1} \le 15,\; \left(d_{1} \bmod 5\right) = 0 \end{array} \right\}$
    """
    writer = _LatexWriter(hull.names)
    rows = [r",\; ".join(_inequalities(piece, writer)) for piece in pieces[:MAX_ROWS]]
    if not rows:
        return r"$\displaystyle \varnothing$"
    rows += [r"\ldots"] if len(pieces) > MAX_ROWS else []
    column = r" \lor \\ ".join(rows)
    members = rf"\begin{{array}}{{l}} {column} \end{{array}}"
    return rf"$\displaystyle \left\{{{_declarations(hull)} \;\middle|\; {members} \right\}}$"


# Characters with a meaning in LaTeX even within text.
_ESCAPED: Final = str.maketrans(
    {
        **{mark: f"\\{mark}" for mark in "#$%&_{}"},
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
    }
)


class _StridePrinter(Printer):
    """Prints terms by falling stride, the negative ones after the positive."""

    def term_order(self, term: tuple[Atom, int]) -> tuple[object, ...]:
        _, factor = term
        return (factor < 0, -abs(factor), *super().term_order(term))


class _LatexWriter(_StridePrinter):
    """Prints coefficients in front and divisions as fractions."""

    writes_relations = False

    def atom(self, atom: Atom) -> str:
        if not atom.arguments:
            return _latex_of_name(atom.name)
        operands = list(map(self.sum, as_written(atom, atom.arguments)))
        if atom.kind is AtomKind.MOD:
            return r"\left({} \bmod {}\right)".format(*map(self._factor, atom.arguments))
        if atom.kind is AtomKind.PRODUCT:
            factors = sorted(atom.arguments, key=self._factor_order)
            return r" \cdot ".join(map(self._factor, factors))
        if atom.kind in _TEMPLATES:
            return _TEMPLATES[atom.kind].format(*operands)
        name = atom.kind.name.lower()
        command = rf"\operatorname{{{name}}}" if atom.kind in LOGICAL else rf"\{name}"
        return rf"{command}\left({', '.join(operands)}\right)"

    def scaled(self, atom: Atom, factor: int) -> str:
        sign = "-" if factor < 0 else ""
        number = f"{abs(factor)} " if abs(factor) != 1 else ""
        return f"{sign}{number}{self.texts[atom]}"

    def _factor(self, form: Form) -> str:
        """An operand of a product or remainder; a sum or a negation gets parentheses."""
        text = self.sum(form)
        is_sum = len(form.terms) + (form.constant != 0) > 1
        is_negated = bool(form.terms) and text.startswith("-")
        return rf"\left({text}\right)" if is_sum or is_negated else text


_FLOOR: Final = r"\left\lfloor \frac{{{}}}{{{}}} \right\rfloor"
_TEMPLATES: Final = {
    AtomKind.FLOORDIV: _FLOOR,
    AtomKind.QUOTIENT: _FLOOR,
    AtomKind.CEILDIV: r"\left\lceil \frac{{{}}}{{{}}} \right\rceil",
    AtomKind.NONNEGATIVE: r"\left[{} \ge 0\right]",
    AtomKind.ZERO: r"\left[{} = 0\right]",
    AtomKind.SELECT: r"\begin{{cases}} {1} & {0} = 1 \\ {2} & \text{{else}} \end{{cases}}",
}
"""Conditions are in Iverson's brackets, which are 1 where they hold and 0 elsewhere."""


def _declarations(domain: Domain) -> str:
    pairs = declared(domain)
    return "".join(_tuple(map(_latex_of_name, names), brackets) for brackets, names in pairs)


def _tuple(texts: Iterable[str], brackets: str) -> str:
    opening, closing = (_LATEX_MARKS.get(mark, mark) for mark in brackets)
    return rf"\left{opening}{', '.join(texts)}\right{closing}"


_LATEX_MARKS: Final = {"{": r"\{", "}": r"\}", "<": r"\langle ", ">": r"\rangle "}


def _latex_of_name(name: str) -> str:
    return sympy.latex(simplifier.symbol(name))


def _inequalities(domain: Domain, writer: _LatexWriter) -> Iterator[str]:
    """Bounds, then constraints."""

    def write(form: Form | None) -> str | None:
        return None if form is None else writer.write(domain.named(form))

    ends, shown = ends_and_constraints(domain)
    for identifier, (lower, upper) in ends.items():
        text = writer.write(domain.named(variable(identifier)))
        yield _inequality(text, write(lower), write(upper))
    for _, (form, interval) in shown.constraint_texts():
        numbers = (None if end is None else str(end) for end in (interval.lower, interval.upper))
        yield _inequality(writer.write(domain.named(form)), *numbers)


def _inequality(text: str, least: str | None, greatest: str | None) -> str:
    if least is not None and least == greatest:
        return rf"{text} = {least}"
    lower = "" if least is None else rf"{least} \le "
    upper = "" if greatest is None else rf" \le {greatest}"
    return f"{lower}{text}{upper}" if lower or upper else rf"{text} \in \mathbb{{Z}}"
