"""A map as C functions on 64-bit integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from indexing.formats.program import (
    CALLED_DIVISIONS,
    Language,
    bound_checks,
    check_name,
    check_portable,
    code_of,
    constraint_checks,
    for_comment,
    helpers_in,
)
from simplifier.expr.form import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexing.domain import Domain
    from indexing.relation import Relation

_C: Final = Language(
    general={
        **CALLED_DIVISIONS,
        Kind.MIN: "minimum({0}, {1})",
        Kind.MAX: "maximum({0}, {1})",
    },
    natural={
        **CALLED_DIVISIONS,
        Kind.FLOORDIV: "{0} / {1}",
        Kind.QUOTIENT: "{0} / {1}",
        Kind.MOD: "{0} % {1}",
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

_HELPERS: Final = {
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
        MapError: a variable is not bounded, a value may need more than 64 bits, or ``name`` is no C
            name.
    """
    domain = indexing_map.domain
    check_name(name, "to_c", _C.reserved)
    constraints = (form for form, _ in domain.constraints)
    check_portable([*indexing_map.forms, *constraints], domain, "to_c")
    functions = [*_results(indexing_map, name), "", *_contains(domain, name)]
    called = helpers_in(functions, _HELPERS)
    helpers = [
        f"static inline int64_t {helper}(int64_t a, int64_t b) {{ return {value}; }}"
        for helper, value in called.items()
    ]
    parts = [f"/* {for_comment(indexing_map)} */", "", *_INCLUDES, "", *helpers, *functions]
    return "\n".join(parts) + "\n"


_INCLUDES: Final = ("#include <stdbool.h>", "#include <stdint.h>")


def _results(indexing_map: Relation, name: str) -> list[str]:
    code = code_of(indexing_map.forms, indexing_map.domain, _C)
    stores = [f"results[{place}] = {value};" for place, value in enumerate(code.values)]
    parameters = [*_declared(code.parameters), "int64_t *results"]
    head = f"static inline void {name}({', '.join(parameters)}) {{"
    return [head, *_indented([*code.statements, *stores]), "}"]


def _contains(domain: Domain, name: str) -> list[str]:
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
