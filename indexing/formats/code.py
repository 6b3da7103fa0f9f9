"""Maps as straight-line code in C and Triton: what is used twice gets a name.

A language is data (:class:`Language`): templates of the operations. Its functions are put together
below.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Final

from indexing.errors import MapError
from indexing.formats.text import format_map
from indexing.simplify import scope_with_facts
from indexing.transform.evaluate import reason_against_64_bits
from simplifier import Interval
from simplifier.choices import guarded
from simplifier.errors import check_type
from simplifier.expr.form import FOREIGN, AtomKind, Form, postorder
from simplifier.expr.printer import Printer, as_written
from simplifier.extraction.cost import cost_of_form
from simplifier.fixpoint import range_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from indexing.domain import Domain
    from indexing.relation import Relation
    from simplifier.expr.form import Atom


DIVISIONS: Final = (AtomKind.FLOORDIV, AtomKind.QUOTIENT, AtomKind.MOD, AtomKind.CEILDIV)
"""The operations that fail for a divisor of 0."""

_MAX_LENGTH: Final = 200
"""Characters of an expression before it gets a name: compilers are slow on deep nesting."""
_MAX_COMMENT_COST: Final = 1000
"""The cost of a map that a comment still shows: there, shared parts are written out each time."""
_MAX_DEPTH: Final = 4
"""Divisions nested more deeply are not asked about the sign of their numerator: it takes long."""


@dataclass(frozen=True, slots=True)
class Language:
    """How a language writes each operation on 64-bit integers.

    A template takes operands ``{0}``, ``{1}``. Without a parenthesis it is an operator: compound
    operands, and itself inside a product, get parentheses. ``natural`` has the divisions whose
    numerator is never negative and whose divisor is always positive.
    """

    general: Mapping[AtomKind, str]
    natural: Mapping[AtomKind, str]
    reserved: frozenset[str]
    statement: str
    """The template of an assignment of ``{value}`` to the new name ``{name}``."""


CALLED_DIVISIONS: Final = {
    AtomKind.FLOORDIV: "floordiv({0}, {1})",
    AtomKind.QUOTIENT: "floordiv({0}, {1})",
    AtomKind.MOD: "floormod({0}, {1})",
    AtomKind.CEILDIV: "ceildiv({0}, {1})",
}
"""Divisions by helper functions, for languages that round towards zero."""


@dataclass(frozen=True, slots=True)
class Code:
    """The body of a function: the names of its parameters, its lines, its values."""

    parameters: tuple[str, ...]
    statements: tuple[str, ...]
    values: tuple[str, ...]


def code_of(wanted: Sequence[Form], domain: Domain, language: Language) -> Code:
    """The lines that compute forms over the domain's variables."""
    return _Coder([guarded(form) for form in wanted], domain, language).code()


def names_in(domain: Domain, reserved: frozenset[str]) -> tuple[str, ...]:
    """The variables' names if the language can use them all, else their identifiers."""
    usable = all(
        name.isidentifier() and name.isascii() and name not in reserved | _NEVER
        for name in domain.names
    )
    return domain.names if usable else domain.identifiers


def for_comment(indexing_map: Relation) -> str:
    """The map's text on one line, or ``...`` if it is long."""
    if sum(map(cost_of_form, indexing_map.forms)) > _MAX_COMMENT_COST:
        return "..."
    return format_map(indexing_map)


_NEVER: Final = frozenset(keyword.kwlist) | {"results"}


def check_portable(wanted: Sequence[Form], domain: Domain, asker: str) -> None:
    """Raise a :class:`MapError` if a value may need more than 64 bits."""
    for parameter in domain.parameters:
        if parameter.bounds.size is None:
            limits = f"{parameter.name} has the bounds {parameter.bounds}"
            expected = "expected a bounded parameter, see with_constraint()"
            raise MapError(f"{asker}: {limits}; {expected}")
    reason = reason_against_64_bits(wanted, domain)
    if reason is not None:
        message = f"{asker}: {reason}"
        raise MapError(message)


def with_numeric_bounds(domain: Domain) -> Domain:
    """The domain with a number at each end that follows from the bounds of parameters.

    >>> from indexing import parse_map
    >>> rows = parse_map("(d0)<N> -> (d0), domain: d0 in [0, N - 1], N in [0, 64]").domain
    >>> with_numeric_bounds(rows).dims[0].bounds
    Interval(lower=0, upper=63)
    """
    if not domain.parameters or domain.is_known_empty:
        return domain
    bounds = scope_with_facts(domain).bounds
    pairs = zip(domain.identifiers, domain, strict=True)
    sharp = (variable.within(bounds[identifier]) for identifier, variable in pairs)
    return domain.with_variables(sharp, domain.constraints)


def check_name(name: str, asker: str, reserved: frozenset[str]) -> None:
    """Raise a :class:`MapError` unless a function can have this name."""
    check_type(name, str, f"{asker}: name", "a string")
    if not (name.isidentifier() and name.isascii()) or name in reserved | _NEVER:
        message = f"{asker}: {name!r} cannot name a function; expected letters, digits and '_'"
        raise MapError(message)


class _Coder(Printer):
    """Prints atoms in one language, inner ones first, and names those that are used again."""

    writes_relations = False

    def __init__(self, wanted: Sequence[Form], domain: Domain, language: Language) -> None:
        self._wanted = tuple(wanted)
        self._language = language
        self._names = dict(
            zip(domain.identifiers, names_in(domain, language.reserved), strict=True)
        )
        super().__init__(domain.identifiers)
        self._atoms = postorder(self._wanted)
        self._natural = frozenset(_natural_divisions(self._atoms, domain))
        self._uses = Counter(
            atom for form in (*self._wanted, *_inner_forms(self._atoms)) for atom in form.terms
        )
        self._named: set[Atom] = set()

    def code(self) -> Code:
        statements = [statement for atom in self._atoms for statement in self._statement(atom)]
        values = tuple(self.sum(form) for form in self._wanted)
        return Code(tuple(self._names.values()), tuple(statements), values)

    def _statement(self, atom: Atom) -> Iterator[str]:
        """Sets the text of an atom, and yields the line that names it if it gets a name."""
        text = self.texts[atom] = self.atom(atom)
        if atom.arguments and (self._uses[atom] > 1 or len(text) > _MAX_LENGTH):
            name = self._fresh_name()
            self._named.add(atom)
            self.texts[atom] = name
            yield self._language.statement.format(name=name, value=text)

    def _fresh_name(self) -> str:
        taken = {*self._names.values(), *(self.texts[atom] for atom in self._named)}
        return next(
            name
            for number in range(len(self._named), len(taken) + len(self._named) + 1)
            if (name := f"t{number}") not in taken
        )

    def atom(self, atom: Atom) -> str:
        if atom.kind is AtomKind.VARIABLE:
            return self._names[atom.name]
        if atom.kind in FOREIGN:
            message = f"{Form(0, {atom: 1})} is not integer arithmetic; no code can be made from it"
            raise MapError(message)
        if atom.kind in (AtomKind.PRODUCT, AtomKind.SUM):
            return super().atom(atom)
        template = self._template(atom)
        write = self.operand if _is_operator(template) else self.sum
        operands = map(write, as_written(atom, atom.arguments))
        if atom.kind in (*_COMPARISONS, AtomKind.SELECT):
            return template.format(*operands)
        return reduce(template.format, operands)

    def is_infix(self, atom: Atom) -> bool:
        may_be = atom.kind in DIVISIONS and atom not in self._named
        return may_be and _is_operator(self._template(atom))

    def _template(self, atom: Atom) -> str:
        language = self._language
        return (language.natural if atom in self._natural else language.general)[atom.kind]


def _is_operator(template: str) -> bool:
    return "(" not in template


def _inner_forms(atoms: Sequence[Atom]) -> Iterator[Form]:
    return (argument for atom in atoms for argument in atom.arguments)


def _natural_divisions(atoms: Sequence[Atom], domain: Domain) -> Iterator[Atom]:
    """Divisions with numerators of at least 0 and divisors of at least 1 in the whole domain."""
    scope = scope_with_facts(domain)
    for atom in atoms:
        if atom.kind in DIVISIONS and atom.depth <= _MAX_DEPTH:
            numerator, divisor = (range_of(scope, argument) for argument in atom.arguments)
            if Interval(0, None).contains(numerator) and Interval(1, None).contains(divisor):
                yield atom


def bound_checks(domain: Domain, language: Language, comparison: str) -> list[str]:
    """Comparisons that check that all variables lie within their bounds.

    ``comparison`` is the template of one, of a value, an operator and a number.
    """
    names = names_in(domain, language.reserved)
    rows = zip(names, (variable.bounds for variable in domain), strict=True)
    return list(_comparisons(rows, comparison))


def constraint_checks(domain: Domain, language: Language, comparison: str) -> Code:
    """The lines and comparisons that check that a point within the bounds meets the constraints.

    What is known of the point are its bounds: the constraints are what is asked.
    """
    constraints = [constraint for _, constraint in domain.constraint_texts()]
    box = domain.with_constraints()
    code = code_of([form for form, _ in constraints], box, language)
    rows = zip(code.values, (interval for _, interval in constraints), strict=True)
    return replace(code, values=tuple(_comparisons(rows, comparison)))


def _comparisons(rows: Iterable[tuple[str, Interval]], comparison: str) -> Iterator[str]:
    for value, interval in rows:
        ends = ((">=", interval.lower), ("<=", interval.upper))
        for operator, end in [("==", interval.lower)] if interval.is_point else ends:
            if end is not None:
                yield comparison.format(value, operator, end)


def helpers_in(code: Iterable[str], helpers: Mapping[str, str]) -> dict[str, str]:
    """The helper functions that the lines call, by name."""
    called = set(re.findall(r"\w+(?=\()", "\n".join(code)))
    return {name: body for name, body in helpers.items() if name in called}


_COMPARISONS: Final = {AtomKind.NONNEGATIVE: "({0} >= 0)", AtomKind.ZERO: "({0} == 0)"}
_BITWISE: Final = {
    AtomKind.BITAND: "({0} & {1})",
    AtomKind.BITOR: "({0} | {1})",
    AtomKind.BITXOR: "({0} ^ {1})",
}


# C.

_C: Final = Language(
    general={
        **CALLED_DIVISIONS,
        AtomKind.MIN: "minimum({0}, {1})",
        AtomKind.MAX: "maximum({0}, {1})",
        AtomKind.AND: "({0} && {1})",
        AtomKind.SELECT: "({0} ? {1} : {2})",
        **_COMPARISONS,
        **_BITWISE,
    },
    natural={
        **CALLED_DIVISIONS,
        AtomKind.FLOORDIV: "{0} / {1}",
        AtomKind.QUOTIENT: "{0} / {1}",
        AtomKind.MOD: "{0} % {1}",
    },
    reserved=frozenset(
        """
        alignas alignof asm auto bool case char const constexpr default do double enum extern
        false float goto inline int long nullptr register restrict short signed sizeof static
        struct switch true typedef typeof union unsigned void volatile
        ceildiv floordiv floormod minimum maximum
        """.split()  # noqa: SIM905 - a list would fill a page
    ),
    statement="const int64_t {name} = {value};",
)

_C_HELPERS: Final = {
    "ceildiv": "a / b + (a % b != 0 && (a % b < 0) == (b < 0))",
    "floordiv": "a / b - (a % b != 0 && (a % b < 0) != (b < 0))",
    "floormod": "a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0)",
    "minimum": "a < b ? a : b",
    "maximum": "a > b ? a : b",
}


def to_c(indexing_map: Relation, name: str = "indexing_map") -> str:
    """C11 text of a function for the results of a map and of one for its domain.

    ``void NAME(int64_t d0, ..., int64_t *results)`` computes the results at a point of the domain;
    ``bool NAME_contains(int64_t d0, ...)`` tells whether a point, within the bounds of the
    variables or not, is one. Divisions that never see a negative number are plain C divisions.

    Raises:
        MapError: a variable or parameter is not bounded, a value may need more than 64 bits, or
            ``name`` is no C name.
    """
    domain = with_numeric_bounds(indexing_map.domain)
    check_name(name, "to_c", _C.reserved)
    constraints = (form for form, _ in domain.constraints)
    check_portable([*indexing_map.forms, *constraints], domain, "to_c")
    functions = [*_c_results(indexing_map.forms, domain, name), "", *_c_contains(domain, name)]
    called = helpers_in(functions, _C_HELPERS)
    helpers = [
        f"static inline int64_t {helper}(int64_t a, int64_t b) {{ return {value}; }}"
        for helper, value in called.items()
    ]
    parts = [f"/* {for_comment(indexing_map)} */", "", *_INCLUDES, "", *helpers, *functions]
    return "\n".join(parts) + "\n"


_INCLUDES: Final = ("#include <stdbool.h>", "#include <stdint.h>")


def _c_results(results: Sequence[Form], domain: Domain, name: str) -> list[str]:
    code = code_of(results, domain, _C)
    stores = [f"results[{position}] = {value};" for position, value in enumerate(code.values)]
    parameters = [*_declared(code.parameters), "int64_t *results"]
    head = f"static inline void {name}({', '.join(parameters)}) {{"
    return [head, *_indented([*code.statements, *stores]), "}"]


def _c_contains(domain: Domain, name: str) -> list[str]:
    template = "{} {} {}"
    code = constraint_checks(domain, _C, template)
    within = " && ".join(bound_checks(domain, _C, template)) or "true"
    lines = [f"if (!({within})) return false;", *code.statements]
    lines.append(f"return {' && '.join(code.values) or 'true'};")
    parameters = ", ".join(_declared(code.parameters)) or "void"
    return [f"static inline bool {name}_contains({parameters}) {{", *_indented(lines), "}"]


def _declared(parameters: Iterable[str]) -> list[str]:
    return [f"int64_t {parameter}" for parameter in parameters]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


# Triton. It divides integers as C does, towards 0; remainders have the sign of the numerator.
_TRITON: Final = Language(
    general={
        **CALLED_DIVISIONS,
        AtomKind.MIN: "tl.minimum({0}, {1})",
        AtomKind.MAX: "tl.maximum({0}, {1})",
        AtomKind.NONNEGATIVE: "tl.where({0} >= 0, 1, 0)",
        AtomKind.ZERO: "tl.where({0} == 0, 1, 0)",
        AtomKind.AND: "tl.minimum({0}, {1})",
        AtomKind.SELECT: "tl.where({0} != 0, {1}, {2})",
        **_BITWISE,
    },
    natural={
        **CALLED_DIVISIONS,
        AtomKind.FLOORDIV: "{0} // {1}",
        AtomKind.QUOTIENT: "{0} // {1}",
        AtomKind.MOD: "{0} % {1}",
    },
    reserved=frozenset({*keyword.kwlist, "tl", "triton", "ceildiv", "floordiv", "floormod"}),
    statement="{name} = {value}",
)

_TRITON_HELPERS: Final = {
    "ceildiv": "tl.where((a % b != 0) & ((a % b < 0) == (b < 0)), a // b + 1, a // b)",
    "floordiv": "tl.where((a % b != 0) & ((a % b < 0) != (b < 0)), a // b - 1, a // b)",
    "floormod": "tl.where((a % b != 0) & ((a % b < 0) != (b < 0)), a % b + b, a % b)",
}


def to_triton(indexing_map: Relation, name: str = "indexing_map") -> str:
    """Triton text of a function for the results of a map and of one for its domain.

    ``NAME(d0, ...)`` gives the results, a tuple if there are several, at points of the domain;
    ``NAME_mask(d0, ...)`` tells which points are in the domain, for the mask of a load. Values are
    computed in 64 bits. Divisions that never see a negative number are plain ``//`` and ``%``,
    which in Triton round towards zero.

    Raises:
        MapError: a variable is not bounded, a value may need more than 64 bits, or ``name`` is no
            Python name.
    """
    domain = with_numeric_bounds(indexing_map.domain)
    check_name(name, "to_triton", _TRITON.reserved)
    constraints = (form for form, _ in domain.constraints)
    check_portable([*indexing_map.forms, *constraints], domain, "to_triton")
    comment = f"# {for_comment(indexing_map)}"
    results = _triton_results(indexing_map.forms, domain, name, comment)
    functions = [*results, "", "", *_triton_mask(domain, name)]
    helpers = [
        line
        for helper, value in helpers_in(functions, _TRITON_HELPERS).items()
        for line in ("", "", *_triton_function(helper, ("a", "b"), [f"return {value}"]))
    ]
    parts = ["import triton", "import triton.language as tl", *helpers, "", "", *functions]
    return "\n".join(parts) + "\n"


def _triton_results(results: Sequence[Form], domain: Domain, name: str, comment: str) -> list[str]:
    code = code_of(results, domain, _TRITON)
    lines = [*_in_64_bits(code.parameters), *code.statements, f"return {', '.join(code.values)}"]
    return _triton_function(name, code.parameters, [comment, *lines])


def _triton_mask(domain: Domain, name: str) -> list[str]:
    template = "({} {} {})"
    code = constraint_checks(domain, _TRITON, template)
    checks = [*bound_checks(domain, _TRITON, template), *code.values]
    lines = [
        *_in_64_bits(code.parameters),
        *code.statements,
        f"return {' & '.join(checks) or 'True'}",
    ]
    return _triton_function(f"{name}_mask", code.parameters, lines)


def _in_64_bits(parameters: Iterable[str]) -> list[str]:
    return [f"{parameter} = tl.cast({parameter}, tl.int64)" for parameter in parameters]


def _triton_function(name: str, parameters: Sequence[str], lines: Iterable[str]) -> list[str]:
    body = (f"    {line}" for line in lines)
    return ["@triton.jit", f"def {name}({', '.join(parameters)}):", *body]
