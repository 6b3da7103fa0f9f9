"""A map as Triton functions, for kernels that compute addresses from it."""

from __future__ import annotations

import keyword
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
    from collections.abc import Iterable, Sequence

    from indexing.domain import Domain
    from indexing.relation import Relation

# Triton divides integers as C does, towards 0; remainders have the sign of the numerator.
_TRITON: Final = Language(
    general={
        **CALLED_DIVISIONS,
        Kind.MIN: "tl.minimum({0}, {1})",
        Kind.MAX: "tl.maximum({0}, {1})",
    },
    natural={
        **CALLED_DIVISIONS,
        Kind.FLOORDIV: "{0} // {1}",
        Kind.QUOTIENT: "{0} // {1}",
        Kind.MOD: "{0} % {1}",
    },
    reserved=frozenset({*keyword.kwlist, "tl", "triton", "ceildiv", "floordiv", "floormod"}),
    statement="{name} = {value}",
)

_HELPERS: Final = {
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
    domain = indexing_map.domain
    check_name(name, "to_triton", _TRITON.reserved)
    constraints = (form for form, _ in domain.constraints)
    check_portable([*indexing_map.forms, *constraints], domain, "to_triton")
    functions = [*_results(indexing_map, name), "", "", *_mask(domain, name)]
    helpers = [
        line
        for helper, value in helpers_in(functions, _HELPERS).items()
        for line in ("", "", *_function(helper, ("a", "b"), [f"return {value}"]))
    ]
    parts = ["import triton", "import triton.language as tl", *helpers, "", "", *functions]
    return "\n".join(parts) + "\n"


def _results(indexing_map: Relation, name: str) -> list[str]:
    code = code_of(indexing_map.forms, indexing_map.domain, _TRITON)
    lines = [*_widened(code.parameters), *code.statements, f"return {', '.join(code.values)}"]
    return _function(name, code.parameters, [f"# {for_comment(indexing_map)}", *lines])


def _mask(domain: Domain, name: str) -> list[str]:
    template = "({} {} {})"
    code = constraint_checks(domain, _TRITON, template)
    checks = [*bound_checks(domain, _TRITON, template), *code.values]
    lines = [*_widened(code.parameters), *code.statements, f"return {' & '.join(checks) or 'True'}"]
    return _function(f"{name}_mask", code.parameters, lines)


def _widened(parameters: Iterable[str]) -> list[str]:
    return [f"{parameter} = tl.cast({parameter}, tl.int64)" for parameter in parameters]


def _function(name: str, parameters: Sequence[str], lines: Iterable[str]) -> list[str]:
    body = (f"    {line}" for line in lines)
    return ["@triton.jit", f"def {name}({', '.join(parameters)}):", *body]
