"""Display of values: a `repr` of one line, and HTML for notebooks.

HTML needs no script and no network, uses only the color of the text, which fits light and dark
notebooks, and reads as text where the markup is stripped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from html import escape
from itertools import islice
from typing import Final, TypeVar, cast

from simplifier.errors import beginning_of

MAX_ROWS: Final = 50
"""Of a table; a last row counts the others. More fill the screen."""

MAX_ANSWERS: Final = 10
"""Of a collection that a notebook shows; a last line counts the others."""

MAX_LENGTH: Final = 1000
"""Characters of a cell; longer ones are cut, so that a page stays small."""

_MAX_LINE: Final = 160
"""Characters of a `repr`: two lines of a terminal."""

_MAX_TEXT: Final = 20_000
"""Characters of a text, about the same as of a table."""

STYLE: Final = """\
.indexing table { border-collapse: collapse; font-family: monospace; }
.indexing th { font-family: sans-serif; font-weight: normal; opacity: 0.7; }
.indexing th, .indexing td { padding: 0.1em 0.8em 0.1em 0; text-align: left; }
.indexing th, .indexing td { vertical-align: top; background: none; }
.indexing thead, .indexing tbody { border-top: 1px solid; }
.indexing thead { border-top: none; }
.indexing .number { text-align: right; }
.indexing summary { font-size: smaller; opacity: 0.7; }
.indexing pre { white-space: pre-wrap; text-align: left; }
"""


class Displayed:
    """A value that people read: its ``str`` says it all, its ``repr`` the beginning.

    >>> class Window(Displayed):
    ...     def __str__(self):
    ...         return "offset 2" + chr(10) + "size 3"
    >>> Window()
    <Window: offset 2; size 3>
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {in_one_line(str(self))}>"

    def _repr_html_(self) -> str:
        return html_of_text(str(self))


_K = TypeVar("_K")
_V = TypeVar("_V")
_T_co = TypeVar("_T_co", covariant=True)


class _Shown(Displayed):
    """A collection that prints each answer on its own lines, and shows the first ones."""

    __slots__ = ()

    def _texts(self) -> Iterator[str]:
        raise NotImplementedError

    def _first(self, most: int) -> tuple[list[str], int]:
        """The first texts, and how many more there are."""
        shown = [*islice(self._texts(), most)]
        return shown, len(cast("Sized", self)) - len(shown)

    def __str__(self) -> str:
        return "\n".join(self._texts()) or "nothing"

    def __repr__(self) -> str:
        kind, (texts, more) = type(self).__name__, self._first(3)
        if not texts:
            return f"<no {kind}>"
        shown = "; ".join([*map(in_one_line, texts), *["..."] * (more > 0)])
        return f"<{kind}, {len(texts) + more}: {beginning_of(shown, _MAX_LINE)}>"

    def _repr_html_(self) -> str:
        texts, more = self._first(MAX_ANSWERS)
        texts += [f"and {more:,} more"] * (more > 0)
        return html_of_text("\n".join(texts) or "nothing")


class AnswerTuple(_Shown, tuple[_T_co, ...]):
    """Several answers.

    >>> print(AnswerTuple(["d0 in [0, 3]", "d1 in [0, 7]"]))
    d0 in [0, 3]
    d1 in [0, 7]
    >>> AnswerTuple(range(20, 40))
    <AnswerTuple, 20: 20; 21; 22; ...>
    """

    __slots__ = ()

    def _texts(self) -> Iterator[str]:
        return map(str, self)


class AnswerDict(_Shown, dict[_K, _V]):
    """Answers for each of several things, such as the maps to each operand.

    >>> print(AnswerDict({"x": "d0 + d1", "y": "d0"}))
    x: d0 + d1
    y: d0
    """

    def _texts(self) -> Iterator[str]:
        for key, value in self.items():
            first, *rest = str(value).splitlines() or [""]
            yield "\n  ".join([f"{_title(key)}: {first}", *rest])


def _title(key: object) -> str:
    """What something is called: an instruction by its name, an array by that and its number."""
    if isinstance(key, tuple):
        return " ".join(map(_title, cast("tuple[object, ...]", key)))
    name: object = getattr(key, "name", None)
    return str(key) if name is None else f"%{name}"


def in_one_line(text: str) -> str:
    """The lines of a text in one, without the end of a long one."""
    line = "; ".join(part.strip() for part in text.splitlines()).replace(":; ", ": ")
    return beginning_of(line, _MAX_LINE)


def html(content: str) -> str:
    """Markup in the common style."""
    return f'<div class="indexing">\n<style>\n{STYLE}</style>\n{content}\n</div>'


def html_of_text(text: str) -> str:
    """A text as it is.

    >>> print(html_of_text("a < b"))
    <div class="indexing">
    <style>...</style>
    <pre>a &lt; b</pre>
    </div>
    """
    return html(f"<pre>{cut(text, _MAX_TEXT)}</pre>")


def html_of_table(
    heading: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    below: Iterable[str] = (),
    total: int = 0,
    most: int = MAX_ROWS,
) -> str:
    """A table with texts below it; numbers stand to the right.

    At ``most`` so many rows are shown of the ``total``.

    >>> print(html_of_table(["reads", "of"], [("16", "%p")]))
    <div class="indexing">
    <style>...</style>
    <table>
    <thead><tr><th>reads</th><th>of</th></tr></thead>
    <tbody>
    <tr><td class="number">16</td><td>%p</td></tr>
    </tbody>
    </table>
    </div>
    """
    left = iter(rows)
    shown = [list(row) for row in islice(left, most)]
    more = max(total - len(shown), sum(1 for _ in left))
    lines = ["".join(map(_cell, row)) for row in shown]
    if more:
        lines.append(f'<td colspan="{len(heading)}">and {more:,} more</td>')
    head = "".join(f"<th>{escape(name)}</th>" for name in heading)
    paragraph = f"<p>{escape(title)}</p>\n" if title else ""
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    table = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
    return html(f"{paragraph}{table}{''.join(f'<p>{cut(text)}</p>' for text in below)}")


def html_of_sections(title: str, sections: Iterable[tuple[str, str, bool]]) -> str:
    """Texts that open at a click: the summary of each, the text, and whether it is open."""
    parts = [f"<p>{cut(title)}</p>"]
    for summary, text, is_open in sections:
        attribute = " open" if is_open else ""
        content = f"<summary>{cut(summary)}</summary>\n<pre>{cut(text, _MAX_TEXT)}</pre>"
        parts.append(f"<details{attribute}>{content}</details>")
    return html("\n".join(parts))


def cut(text: str, most: int = MAX_LENGTH) -> str:
    """The escaped text, without the end of a long one."""
    return escape(beginning_of(text, most))


def _cell(text: str) -> str:
    is_number = text.replace(",", "").replace(".", "", 1).removesuffix("%").isdigit()
    return f'<td class="number">{cut(text)}</td>' if is_number else f"<td>{cut(text)}</td>"


# Tables as text.


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    r"""A line for each row: its cells to the right of their columns, the last one of any width.

    >>> print(*aligned([("reads", "of"), ("4096", "%p"), ("16", "%bias")]), sep="\n")
    reads  of
     4096  %p
       16  %bias
    """
    listed = [*rows]
    *widths, _ = (max(map(len, column)) for column in zip(*listed, strict=True))
    return [
        "  ".join([*(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)), last])
        for *cells, last in listed
    ]
