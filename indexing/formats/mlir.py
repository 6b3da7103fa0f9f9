"""MLIR's ``affine_map`` and ``affine_set``, both ways.

An ``affine_map`` is a function without a domain, an ``affine_set`` a domain alone: a map is the two
of them. Symbols are the ranges and then the runtime variables, as in XLA. Factors and divisors are
constant or made of symbols; there are no extrema.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Final

from indexing.domain import Constraint, Domain, depths_of
from indexing.errors import MapError
from indexing.formats.text import read_items, read_names
from indexing.relation import Relation
from indexing.variable import Variable, interval_of
from simplifier import forms
from simplifier.errors import INTEGER, Span, TextError, beginning_of, check_type, listed, quoted
from simplifier.forms import Atom, AtomKind, ExpressionLexer, Form, Interval, IntervalLike

# Writing.


def to_affine_map(indexing_map: Relation) -> str:
    """The results of a map as MLIR reads them; bounds and constraints go into the affine set.

    Raises:
        MapError: naming the term that MLIR does not have: a minimum or maximum, a product of
            dimensions, a quotient by one, a constant beyond 64 bits.

    >>> from indexing import parse_map
    >>> tiles = parse_map("(d0)[s0] -> (d0 * 8 + s0, d0 mod 2), domain: d0 in [0, 3], s0 in [0, 7]")
    >>> print(to_affine_map(tiles))
    affine_map<(d0)[s0] -> (d0 * 8 + s0, d0 mod 2)>
    >>> print(to_affine_set(tiles))
    affine_set<(d0)[s0] : (d0 >= 0, -d0 + 3 >= 0, s0 >= 0, -s0 + 7 >= 0)>
    """
    domain = indexing_map.domain
    named = [domain.named(form) for form in indexing_map.forms]
    results = _texts(domain, named, "affine_map: result")
    return f"affine_map<{_declarations(domain)} -> ({', '.join(results)})>"


def to_affine_set(indexing_map: Relation) -> str:
    """The bounds and constraints of a map as MLIR reads them; see :func:`to_affine_map`."""
    domain = indexing_map.domain
    limits = ((domain.named(form), interval) for form, interval in domain.limits())
    sides = [side for limit in limits for side in _sides(*limit)]
    lefts = _texts(domain, [left for left, _ in sides], "affine_set: inequality")
    texts = (f"{left} {relation} 0" for left, (_, relation) in zip(lefts, sides, strict=True))
    return f"affine_set<{_declarations(domain)} : ({', '.join(texts)})>"


def _declarations(domain: Domain) -> str:
    """The dimensions and MLIR's symbols: the ranges, the runtime variables, the parameters."""
    count = len(domain.dims)
    symbols = f"[{', '.join(domain.names[count:])}]" if domain.names[count:] else ""
    return f"({', '.join(domain.names[:count])}){symbols}"


def _sides(form: Form, interval: Interval) -> list[tuple[Form, str]]:
    """Forms that are at least 0, or 0, where the form lies in the interval."""
    depths = [*depths_of([(form, interval)])]
    return [(depths[0], "==")] if interval.is_point else [(depth, ">=") for depth in depths]


def _texts(domain: Domain, named: Sequence[Form], role: str) -> list[str]:
    """The texts of forms over the names of the variables."""
    symbols = frozenset(domain.names[len(domain.dims) :])
    turned = [with_positive_divisors(form) for form in named]
    for number, form in enumerate(turned):
        if objection := _objection(form, symbols) or _objection_to_constants(form):
            raise MapError(f"{role} {number} has {objection}")
    return [forms.format_form(form, domain.names) for form in turned]


_TURNED: Final[Mapping[AtomKind, Callable[[Form, Form], Form]]] = {
    AtomKind.FLOORDIV: forms.floordiv,
    AtomKind.CEILDIV: forms.ceildiv,
    AtomKind.MOD: lambda numerator, divisor: -forms.mod(numerator, divisor),
}
"""``x op c`` as an operation on ``-x`` and ``-c``: MLIR divides by positive numbers only."""


def with_positive_divisors(form: Form) -> Form:
    """The same values, without quotients and remainders by negative constants."""
    return forms.combine(form, forms.fold((form,), _turned_atom, forms.combine))


def _turned_atom(atom: Atom, arguments: tuple[Form, ...]) -> Form:
    if atom.kind in _TURNED and arguments[1].is_constant and arguments[1].constant < 0:
        numerator, divisor = arguments
        return _TURNED[atom.kind](-numerator, -divisor)
    return forms.rebuilt(atom, arguments)


# Operations of MLIR.

_MAX_CONSTANT: Final = (1 << 63) - 1
"""The greatest constant that MLIR reads; there, a sign is an operator."""


def _objection_to_constants(form: Form) -> str:
    parts = [form, *(argument for atom in forms.postorder((form,)) for argument in atom.arguments)]
    for part in parts:
        for constant in (part.constant, *part.terms.values()):
            if abs(constant) > _MAX_CONSTANT:
                return f"a constant of {constant.bit_length()} bits in it; expected at most 63"
    return ""


def _objection(form: Form, symbols: Container[str]) -> str:
    """The term of a form that MLIR does not have, with the expected one; empty if MLIR has all."""
    symbolic: set[Atom] = set()
    for atom in forms.postorder((form,)):
        are_symbolic = [symbolic.issuperset(argument.terms) for argument in atom.arguments]
        if expected := _expected(atom, are_symbolic):
            part = forms.format_form(Form(0, {atom: 1}))
            return f"{beginning_of(part)} in it; expected {expected}"
        if all(are_symbolic) and (atom.arguments or atom.name in symbols):
            symbolic.add(atom)
    return ""


def _expected(atom: Atom, are_symbolic: Sequence[bool]) -> str:
    """The terms that MLIR expects instead of an atom; empty if it has such an atom."""
    if atom.kind in forms.EXTREMA:
        return "no minimum or maximum"
    if atom.kind in forms.LOGICAL:
        return "no condition, choice or function of bits"
    if atom.kind is AtomKind.PRODUCT:
        is_wrong = are_symbolic.count(False) > 1
        return "at most one factor that is not constant or symbolic" if is_wrong else ""
    if atom.kind not in (*_TURNED, AtomKind.QUOTIENT):
        return ""
    if not are_symbolic[1]:
        return "a divisor that is constant or symbolic"
    _, divisor = atom.arguments
    return "a positive divisor" if divisor.is_constant and divisor.constant <= 0 else ""


# Reading.

_FOREIGN: Final = {
    "/": "expected 'floordiv', but found '/'",
    "//": "expected 'floordiv'; in MLIR '//' begins a comment",
    "%": "expected 'mod', but found '%'",
}


def read_affine_map(
    text: str, bounds: Mapping[str, IntervalLike], affine_set: str, runtime: int
) -> Relation:
    """The relation that an affine map describes; see :func:`indexing.from_affine_map`."""
    check_type(bounds, Mapping, "from_affine_map: bounds", "a mapping from names")
    lexer = _lexer(text)
    is_enclosed = _is_opened(lexer, "affine_map")
    dims, symbols = _read_declarations(lexer)
    domain = _domain(dims, symbols, bounds, runtime)
    known = {name: forms.variable(name) for name in domain.names}
    lexer.expect("->", "before the results")
    results = read_items(
        lexer, "()", "before the results", lambda: _read_affine(lexer, known, symbols)
    )
    _finish(lexer, is_enclosed)
    constraints = _read_set(affine_set, dims, symbols) if affine_set else ()
    return Relation.from_forms(domain.resolved(results, "result"), domain.with_named(constraints))


def _domain(
    dims: Sequence[str], symbols: Sequence[str], bounds: Mapping[str, IntervalLike], runtime: int
) -> Domain:
    names = (*dims, *symbols)
    for name in bounds:
        if name not in names:
            given = f"from_affine_map: bounds are given for {quoted(name)}"
            raise MapError(f"{given}; expected one of {listed(names)}")
    check_type(runtime, INTEGER, "from_affine_map: runtime", "an integer")
    if not 0 <= runtime <= len(symbols):
        expected = f"a number of the {len(symbols)} symbols"
        raise MapError(f"from_affine_map: runtime is {quoted(runtime)}; expected {expected}")

    where = "from_affine_map: bounds of {!r}"
    every = [
        Variable(interval_of(bounds.get(name, forms.EVERYTHING), where.format(name)), name)
        for name in names
    ]
    first, second = len(dims), len(names) - runtime
    return Domain.of(every[:first], every[first:second], every[second:])


def _read_set(text: str, dims: Sequence[str], symbols: Sequence[str]) -> Sequence[Constraint]:
    """The constraints of an affine set, in the names of the map's variables."""
    lexer = _lexer(text)
    is_enclosed = _is_opened(lexer, "affine_set")
    start = lexer.span
    own_dims, own_symbols = _read_declarations(lexer)
    if (len(own_dims), len(own_symbols)) != (len(dims), len(symbols)):
        expected = f"{len(dims)} dimensions and {len(symbols)} symbols, as many as of the map"
        raise lexer.error(f"expected {expected}", start)
    others = map(forms.variable, (*dims, *symbols))
    known = dict(zip(own_dims + own_symbols, others, strict=True))
    lexer.expect(":", "before the constraints")
    constraints = read_items(
        lexer, "()", "before the constraints", lambda: _read_constraint(lexer, known, symbols)
    )
    _finish(lexer, is_enclosed)
    return constraints


def _lexer(text: str) -> ExpressionLexer:
    """A lexer for a text; refuses operators that mean something else in MLIR."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise MapError(f"from_affine_map: text is {quoted(text)}; expected a string")
    lexer = ExpressionLexer(text)
    for position, word in enumerate(lexer.tokens):
        if word in _FOREIGN:
            raise lexer.error(_FOREIGN[word], lexer.span_at(position))
    return lexer


def _is_opened(lexer: ExpressionLexer, word: str) -> bool:
    is_opened = lexer.accept(word)
    if is_opened:
        lexer.expect("<")
    return is_opened


def _finish(lexer: ExpressionLexer, is_enclosed: bool) -> None:  # noqa: FBT001 - what was opened is closed
    if is_enclosed:
        lexer.expect(">")
    lexer.finish()


def _read_declarations(lexer: ExpressionLexer) -> tuple[list[str], list[str]]:
    """The names of the dimensions and of the symbols."""
    dims = read_names(lexer, "()")
    symbols = read_names(lexer, "[]", dims) if lexer.text == "[" else {}
    return list(dims), list(symbols)


def _read_affine(
    lexer: ExpressionLexer, known: Mapping[str, Form], symbols: Container[str]
) -> Form:
    position = lexer.position
    form = forms.read_expression(lexer, known, _DIVISIONS)
    if objection := _objection(form, symbols):
        first, last = lexer.span_at(position), lexer.span_at(lexer.position - 1)
        span = Span(lexer.source, first.start, last.stop, lexer.file)
        raise TextError(f"the expression has {objection}", span)
    return form


_DIVISIONS: Final = {**forms.XLA_DIVISIONS, "mod": forms.mod}
"""MLIR has no remainders by negative numbers: they are read as they stand, and refused."""

_RELATIONS: Final = {"==": Interval(0, 0), ">=": Interval(0, None), "<=": Interval(None, 0)}
"""The interval of the difference of both sides."""


def _read_constraint(
    lexer: ExpressionLexer, known: Mapping[str, Form], symbols: Container[str]
) -> Constraint:
    left = _read_affine(lexer, known, symbols)
    interval = _RELATIONS[lexer.one_of(_RELATIONS, "'==', '>=' or '<='")]
    return _normal(left - _read_affine(lexer, known, symbols), interval)


def _normal(form: Form, interval: Interval) -> Constraint:
    """The same constraint on a form without constant whose first coefficient is positive."""
    if not form.terms:
        return form, interval
    bare = form.plus_constant(-form.constant)
    if next(iter(bare.terms.values())) > 0:
        return bare, interval - form.constant
    return -bare, form.constant - interval
