"""The text of maps as XLA writes it, both ways, and the parts of such texts.

``(d0)[s0]{rt0}<N> -> (d0 * 8, rt0), domain: d0 in [0, N - 1], ..., (d0 + s0) mod 2 in [0, 0]``:
dimensions, ranges, runtime variables, parameters, results; then the bounds of every variable in
order, then constraints. A line break may stand for a comma of the domain. A map without points
reads ``... -> (0), domain: KNOWN EMPTY``, one that is undefined ``UNDEFINED: reason``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from indexing.domain import NO_VALUES, Constraint, Domain, Ends, limit_texts, limits
from indexing.errors import MapError
from indexing.relation import Relation
from indexing.variable import Variable, other_use
from simplifier import forms
from simplifier.errors import TextWarning, check_type, listed, quoted
from simplifier.forms import ExpressionLexer, Form, Interval, Syntax

_EMPTY: Final = "KNOWN EMPTY"
_BRACKETS: Final = ("()", "[]", "{}", "<>")


def format_map(
    indexing_map: Relation, *, dialect: str = "floordiv", multiline: bool = False
) -> str:
    """The text of a map.

    Args:
        indexing_map: the map.
        dialect: what quotients and remainders are written with: ``"floordiv"`` writes ``d0 floordiv
            8`` and ``d0 mod 8`` as XLA's documentation does, ``"/"`` writes ``d0 / 8`` and ``d0 mod
            8`` as newer versions of XLA do, ``"//"`` writes Python's ``d0 // 8`` and ``d0 % 8``.
        multiline: each bound and constraint on its own line instead of all on one.

    Raises:
        MapError: there is no such dialect.

    >>> from indexing import parse_map
    >>> halves = parse_map("(d0) -> (d0 floordiv 2, d0 mod 2), domain: d0 in [0, 3]")
    >>> print(format_map(halves, dialect="//", multiline=True))
    (d0) -> (d0 // 2, d0 % 2),
    domain:
    d0 in [0, 3]
    """
    check_type(indexing_map, Relation, "format_map: the map", "an IndexingMap")
    syntax = _syntax(dialect)
    if indexing_map.is_undefined:
        return str(indexing_map)
    domain, head = indexing_map.domain, format_head(indexing_map, syntax)
    parts = [_EMPTY] if domain.is_known_empty else list(limit_texts(domain, syntax))
    if not parts:
        return head
    joint, lead = (",\n", "\n") if multiline else (", ", " ")
    return f"{head}{joint}domain:{lead}{joint.join(parts)}"


def format_head(indexing_map: Relation, syntax: Syntax = forms.DOCUMENT) -> str:
    """The text of a map without its domain.

    >>> from indexing import parse_map
    >>> print(format_head(parse_map("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 1]")))
    (d0)[s0] -> (d0 + s0)
    """
    domain = indexing_map.domain
    results = ", ".join(domain.text_of(form, syntax) for form in indexing_map.forms)
    return f"{declarations(domain)} -> ({results})"


def _syntax(dialect: str) -> Syntax:
    check_type(dialect, str, "format_map: dialect", "its name")
    if dialect not in forms.DIALECTS:
        known = ", ".join(map(repr, forms.DIALECTS))
        raise MapError(f"format_map: dialect is {quoted(dialect)}; expected one of {known}")
    return forms.DIALECTS[dialect]


def declarations(domain: Domain) -> str:
    """The names of all variables by role: ``(d0, d1)[s0]{rt0}<N>``."""
    pairs = declared(domain)
    return "".join(f"{opening}{', '.join(names)}{closing}" for (opening, closing), names in pairs)


def declared(domain: Domain) -> Iterator[tuple[str, Sequence[str]]]:
    """The brackets and names of each role; without variables, only those of the dimensions."""
    roles = (*domain.by_role(domain.names), [parameter.name for parameter in domain.parameters])
    pairs = zip(_BRACKETS, roles, strict=True)
    return ((brackets, names) for brackets, names in pairs if names or brackets == "()")


def read_map(text: str, file: str = "", *, unbounded: bool = False) -> Relation:
    """The relation that a text describes; see :func:`indexing.parse_map`."""
    lexer, noted = _lexer_of(text, file)
    relation = _read_map(lexer, noted, unbounded=unbounded)
    lexer.finish()
    return relation


def read_maps(text: str, file: str = "") -> tuple[Relation, ...]:
    """The relations that ``or`` joins in a text."""
    lexer, noted = _lexer_of(text, file)
    relations = lexer.joined(lambda: _read_map(lexer, noted), "or")
    lexer.finish()
    return relations


def _lexer_of(text: str, file: str) -> tuple[ExpressionLexer, frozenset[str]]:
    """The tokens of maps alone, and the variables of which the text tells the origins.

    A map has no origins: they are left out, with a warning.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise MapError(f"parse_map: text is {quoted(text)}; expected a string")
    if attribute := _ATTRIBUTE.fullmatch(text):
        start, stop = attribute.span("map")
        text = _blank(text[:start]) + text[start:stop] + _blank(text[stop:])
    notes = [*_NOTE.finditer(text)]
    left = _NOTE.sub(lambda note: (note["bounds"] or "") + _blank(note["note"]), text)
    if notes:
        said = listed([" ".join(note["note"].split()) for note in notes], 1)
        warnings.warn(f"left out, for a map has no origins: {said}", TextWarning, stacklevel=4)
    return ExpressionLexer(left, file), frozenset(note["name"] for note in notes if note["name"])


def _blank(text: str) -> str:
    return re.sub(r"\S", " ", text)


_ATTRIBUTE: Final = re.compile(
    r"""\s*(?:\#\w+\s*=\s*)?\#xla(?:_gpu)?\.indexing_map<\s*"?(?P<map>[^"]*?)"?\s*>\s*""",
    re.VERBOSE,
)
"""The attribute of MLIR that a map is to XLA."""

_NOTE: Final = re.compile(
    r"""^(?P<bounds>[ \t]*(?P<name>\w+)[ ]in[ ]\[[^\]\n]*\],?[ \t]*\n(?=[ \t]*hlo:))?
    (?P<note>[ \t]*(?(bounds)hlo:[^\n]*\n[ \t]*\([^\n]*->[^\n]*|(?:
        \w+:[^\n]*;[^\n]*->[^\n]*|replica[ ]id:[^\n]*->[^\n]*|approximation:[^\n]*|
        runtime[ ]variables:[ \t]*)))$""",
    re.MULTILINE | re.VERBOSE,
)
"""The note on a runtime variable: its instruction and the map to its element.

XLA used to write them in the two lines after the bounds: ``hlo: of = s32[] parameter(1)`` and
``(d0) -> ()``. It writes them below the map now, as does :class:`ops.OperandIndexing`.
"""


def _read_map(
    lexer: ExpressionLexer, noted: Collection[str] = (), *, unbounded: bool = False
) -> Relation:
    if lexer.accept_all(*_EMPTY.split()):
        return Relation.from_forms((), Domain(()).emptied())
    dims, ranges, rest, parameters = read_declarations(lexer)
    declared = [*dims, *ranges, *rest, *parameters]
    runtime = [*(name for name in ranges if name in noted), *rest]
    roles = (dims, [name for name in ranges if name not in noted], runtime, parameters)
    known = _domain(roles, dict.fromkeys(declared, Interval(None, None))).by_name
    lexer.expect("->", "before the results")
    results = read_items(lexer, "()", "before the results", partial(_read_result, lexer, known))
    symbols = {name: known[name] for name in parameters}
    bounds, constraints = _read_domain(lexer, declared, known, symbols, unbounded=unbounded)
    return Relation.from_forms(results, _domain(roles, bounds).constrained(constraints))


def _read_result(lexer: ExpressionLexer, known: Mapping[str, Form]) -> Form:
    if lexer.text == "domain" and lexer.text not in known:
        raise lexer.expected("')' after the results")
    return forms.read_expression(lexer, known)


def read_declarations(lexer: ExpressionLexer) -> list[dict[str, None]]:
    """The names of the variables by role; only the dimensions are required."""
    declared: dict[str, None] = {}
    roles: list[dict[str, None]] = []
    start = lexer.position
    for brackets in _BRACKETS:
        is_there = not roles or lexer.text == brackets[0]
        roles.append(read_names(lexer, brackets, declared) if is_there else {})
        declared |= roles[-1]
    for name in roles[-1]:  # the parameters
        if other := other_use(name):
            span = lexer.span_at(lexer.tokens.index(name, start))
            message = f"the parameter {quoted(name)} is called {other}"
            raise lexer.error(message, span, "expected another name, such as N")
    return roles


def _domain(roles: Iterable[Iterable[str]], bounds: Mapping[str, Interval]) -> Domain:
    dims, ranges, runtime, parameters = (
        [Variable(bounds[name], name) for name in names] for names in roles
    )
    return Domain.of(dims, ranges, runtime, (), parameters)


def _read_domain(
    lexer: ExpressionLexer,
    declared: Sequence[str],
    known: Mapping[str, Form],
    parameters: Mapping[str, Form],
    *,
    unbounded: bool,
) -> tuple[dict[str, Interval], list[Constraint]]:
    """The bounds of the variables, which stand in the order of declaration, and the constraints.

    With parameters, the ends of intervals may be expressions over them.
    """
    if lexer.text in _ENDS and (unbounded or not known):
        return dict.fromkeys(known, Interval(None, None)), []
    if not lexer.accept(",") and not (lexer.text == "domain" and lexer.begins_line):
        raise lexer.expected("', domain:'", _UNBOUNDED if lexer.text in _ENDS else _BOUNDS)
    lexer.expect("domain")
    lexer.expect(":")
    if lexer.accept_all(*_EMPTY.split()):
        return dict.fromkeys(known, NO_VALUES), [(forms.ZERO, Interval(1, 1))]
    bounds: dict[str, Interval] = {}
    constraints: list[Constraint] = []
    for name in declared:
        if not lexer.accept(name):
            order = "bounds stand in the order of declaration"
            raise lexer.expected(f"the bounds of {quoted(name)}", order)
        bounds[name], others = _read_limits(lexer, known[name], parameters)
        constraints += others
    while lexer.text not in _ENDS:
        form = forms.read_expression(lexer, known)
        interval, others = _read_limits(lexer, form, parameters)
        constraints += [(form, interval), *others]
    return bounds, constraints


_ENDS: Final = ("", "or")
"""The texts that end a map."""

_BOUNDS: Final = "the bounds of every variable must be given, such as ', domain: d0 in [0, 7]'"
_UNBOUNDED: Final = f"{_BOUNDS}; parse_map(text, unbounded=True) leaves them open"


def _read_limits(
    lexer: ExpressionLexer, form: Form, parameters: Mapping[str, Form]
) -> tuple[Interval, Sequence[Constraint]]:
    """The limits of a form, and the comma or line break before the next part of the domain.

    With parameters, ``in [0, N - 1]`` gives constraints for the ends that are no numbers.
    """
    found = limits(form, read_ends(lexer, parameters)) if parameters else (read_interval(lexer), ())
    is_last = lexer.text in _ENDS
    if not is_last and not lexer.accept(",") and not lexer.begins_line:
        raise lexer.expected("',' before the next part of the domain")
    return found


T = TypeVar("T")


def _read_pair(lexer: ExpressionLexer, read: Callable[[], T]) -> tuple[T | None, T | None]:
    """The ends in ``in [0, 3]``; ``None`` for an infinity."""
    lexer.expect("in", "before an interval")
    lexer.expect("[")
    lower = None if lexer.accept_all("-", "inf") else read()
    lexer.expect(",", "between the ends of an interval")
    upper = None if lexer.accept("inf") else read()
    lexer.expect("]")
    return lower, upper


def read_ends(lexer: ExpressionLexer, parameters: Mapping[str, Form]) -> Ends:
    """``in [0, N - 1]``: an interval whose ends are expressions over parameters."""
    return Ends(*_read_pair(lexer, lambda: forms.read_expression(lexer, parameters)))


def read_interval(lexer: ExpressionLexer) -> Interval:
    """``in [0, 3]``, ``in [-inf, inf]``."""
    return Interval(*_read_pair(lexer, lexer.integer))


def read_items(
    lexer: ExpressionLexer, brackets: str, purpose: str, read: Callable[[], T]
) -> tuple[T, ...]:
    """Items between brackets, separated by commas; a comma may follow the last."""
    opening, closing = brackets
    lexer.expect(opening, purpose)
    return lexer.separated(read, closing)


def read_names(
    lexer: ExpressionLexer, brackets: str, declared: Collection[str] = ()
) -> dict[str, None]:
    """New names between brackets, in order: ``(d0, d1)``."""
    names: dict[str, None] = {}

    def read() -> None:
        name = lexer.name("the name of a variable")
        if name in names or name in declared:
            span = lexer.span_at(lexer.position - 1)
            raise lexer.error(f"{quoted(name)} is declared twice", span)
        names[name] = None

    read_items(lexer, brackets, "before the dimensions", read)
    return names
