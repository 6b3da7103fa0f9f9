"""Maps as tables, for notebooks: what is declared, what comes out, what must hold.

A notebook shows the table; the formula of :mod:`indexing.formats.latex` goes into its PDF.
"""

from __future__ import annotations

from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Final

from indexing.formats.text import format_map

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing.domain import Domain
    from indexing.relation import Relation

_MOST_ROWS: Final = 50
"""Rows of each part of the table; of more it says how many there are."""

_LONGEST: Final = 1000
"""Characters of an expression; longer ones are cut."""

_STYLE: Final = """\
.indexing-map table { border-collapse: collapse; font-family: monospace; }
.indexing-map th { font-family: sans-serif; font-weight: normal; opacity: 0.7; }
.indexing-map th, .indexing-map td { padding: 0.1em 0.8em 0.1em 0; text-align: left; }
.indexing-map th, .indexing-map td { vertical-align: top; background: none; }
.indexing-map tbody { border-top: 1px solid; }
.indexing-map summary { font-size: smaller; opacity: 0.7; }
.indexing-map pre { white-space: pre-wrap; }
"""
"""Nothing but the text's own color, so that light and dark notebooks look alike."""


def html_of_map(indexing_map: Relation, notes: Sequence[tuple[str, str]] = ()) -> str:
    """The map as a table with its text folded up below; no script, nothing from the network.

    ``notes`` are more rows of the table: names, and what is to be said of them.

    >>> from indexing import parse_map
    >>> print(html_of_map(parse_map("(d0) -> (d0 mod 8), domain: d0 in [0, 31]")))
    <div class="indexing-map">
    <style>...</style>
    <table>
    <tbody>
    <tr><th scope="rowgroup" rowspan="1">dimension</th><td>d0</td><td>[0, 31]</td></tr>
    </tbody>
    <tbody>
    <tr><th scope="rowgroup" rowspan="1">result</th><td>0</td><td>d0 mod 8</td></tr>
    </tbody>
    </table>
    <details><summary>text</summary><pre>(d0) -&gt; (d0 mod 8),
    domain:
    d0 in [0, 31]</pre></details>
    </div>
    """
    if indexing_map.is_undefined:
        return f'<div class="indexing-map">{escape(str(indexing_map))}</div>'
    listed = (*_parts(indexing_map), ("note", notes))
    parts = "".join(_part(title, rows) for title, rows in listed if rows)
    text = escape(format_map(indexing_map, multiline=True))
    return (
        f'<div class="indexing-map">\n<style>\n{_STYLE}</style>\n'
        f"<table>\n{parts}</table>\n"
        f"<details><summary>text</summary><pre>{text}</pre></details>\n</div>"
    )


def _parts(indexing_map: Relation) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    """The titles of the table's parts with their rows: what it is about, and what it is."""
    domain = indexing_map.domain
    bounds = zip(domain.names, (str(variable.bounds) for variable in domain), strict=True)
    yield from zip(("dimension", "range", "runtime"), domain.by_role(bounds), strict=True)
    results = [(str(place), domain.text_of(form)) for place, form in enumerate(indexing_map.forms)]
    yield "result", results
    if domain.is_known_empty:
        yield "domain", [("known empty", "")]
    else:
        yield "constraint", _constraints(domain)


def _constraints(domain: Domain) -> list[tuple[str, str]]:
    return [(text, str(interval)) for text, (_, interval) in domain.constraint_texts()]


def _part(title: str, rows: Sequence[tuple[str, str]]) -> str:
    shown = list(islice(rows, _MOST_ROWS))
    if len(rows) > len(shown):
        shown.append((f"and {len(rows) - len(shown)} more", ""))
    head = f'<th scope="rowgroup" rowspan="{len(shown)}">{title}</th>'
    cells = ("".join(f"<td>{_cell(text)}</td>" for text in row) for row in shown)
    lines = "</tr>\n<tr>".join(cells)
    return f"<tbody>\n<tr>{head}{lines}</tr>\n</tbody>\n"


def _cell(text: str) -> str:
    return escape(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")
