"""isl's relations, both ways: as objects of islpy, and as isl's text.

Dimensions are isl's inputs, results its outputs. Ranges are gone: two elements are related if some
values of the ranges relate them. So are runtime variables, unless they are wanted as parameters.
"""

from __future__ import annotations

import re
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from indexing.domain import distinctly_named
from indexing.errors import MapError
from indexing.exact.points import EVERYTHING
from indexing.exact.relations import relation_of
from indexing.formats.isl_reading import read_relation
from indexing.relation import Relation
from indexing.simplify import simplified
from indexing.variable import Variable
from simplifier.errors import Span, TextError
from simplifier.exact import Space
from simplifier.exact.isl import load_isl
from simplifier.expr.form import EXTREMA, postorder
from simplifier.expr.parser import is_name

if TYPE_CHECKING:
    import islpy

    from indexing.domain import Domain

    IslRelation: TypeAlias = (
        islpy.Map
        | islpy.BasicMap
        | islpy.UnionMap
        | islpy.PwAff
        | islpy.MultiAff
        | islpy.PwMultiAff
        | islpy.MultiPwAff
    )
    """What islpy has for relations and functions."""

_DEEPEST: Final = 200
"""Brackets in a text may nest so deep: isl reads them by recursion, and would end the process."""

_MOST_CASES: Final = 24
"""A map with more operands of minima and maxima is left as isl tells it."""

_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}

_WORDS: Final = frozenset(
    [
        *("and", "ceil", "ceild", "exists", "false", "floor", "floord", "implies", "infinity"),
        *("infty", "max", "min", "mod", "NaN", "not", "or", "rat", "true"),
    ]
)
"""What isl's texts do not read as the name of a variable."""

_LONGEST: Final = 60
"""So many characters of a value are shown in a message."""

# Writing.


def to_isl(
    indexing_map: Relation,
    *,
    runtime_as_parameters: bool = False,
    context: islpy.Context | None = None,
) -> islpy.Map:
    """The map as isl's relation; its ``str`` is isl's text.

    See :meth:`IndexingMap.to_isl`.
    """
    isl = load_isl()
    relation = relation_of(
        indexing_map,
        context or isl.DEFAULT_CONTEXT,
        runtime_as_parameters=runtime_as_parameters,
    )
    dims, _, runtime = _readable_names(indexing_map.domain)
    if runtime_as_parameters:
        kinds = isl.dim_type
        relation = relation.move_dims(kinds.param, 0, kinds.in_, len(dims), len(runtime))
        relation = _named(relation, kinds.param, runtime)
    return _named(relation, isl.dim_type.in_, dims)


def _named(relation: islpy.Map, kind: islpy.dim_type, names: tuple[str, ...]) -> islpy.Map:
    for place, name in enumerate(names):
        relation = relation.set_dim_name(kind, place, name)
    return relation


def _readable_names(domain: Domain) -> tuple[tuple[str, ...], ...]:
    """Names by role; a variable whose name isl cannot read is called after its place."""
    roles = (
        [Variable(variable.bounds, _readable(variable.name)) for variable in role]
        for role in domain.roles
    )
    named = distinctly_named(*roles)
    return named.by_role(named.names)


def _readable(name: str | None) -> str:
    """The name, if texts can hold it, isl's and ours; else none."""
    is_read = name is not None and name.isascii() and is_name(name) and name not in _WORDS
    return name if name is not None and is_read else ""


# Reading.


def read_isl(relation: str | IslRelation, *, budget: int | None) -> Relation:
    """The relation that one of isl's is; :func:`indexing.from_isl` says more."""
    found = _parsed(relation) if isinstance(relation, str) else _converted(relation)
    if any(piece.is_rational() for piece in found.get_basic_maps()):
        raise MapError("from_isl: the relation has rational numbers; expected integers alone")
    space = Space({}, found.get_ctx(), budget)
    with space.within_budget():
        made = _read(found.flatten())
    return made if _is_crowded(made) else simplified(made)


def _read(relation: islpy.Map) -> Relation:
    kinds = load_isl().dim_type
    dims, runtime, outputs = (
        [
            Variable(EVERYTHING, _readable(relation.get_dim_name(kind, place)))
            for place in range(relation.dim(kind))
        ]
        for kind in (kinds.in_, kinds.param, kinds.out)
    )
    joint = relation.move_dims(kinds.in_, len(dims), kinds.param, 0, len(runtime))
    places = distinctly_named(dims, (), runtime).places
    reading = read_relation(joint, places)
    ranges = [outputs[number] for number in reading.ranges.values()]
    domain = distinctly_named(dims, ranges, runtime)
    return Relation.from_forms(reading.results, domain.constrained(reading.constraints))


def _is_crowded(made: Relation) -> bool:
    """Whether so many cases are told apart that simplifying them would take too long."""
    limits = (form for form, _ in made.domain.constraints)
    atoms = postorder((*made.forms, *limits))
    return sum(len(atom.arguments) for atom in atoms if atom.kind in EXTREMA) > _MOST_CASES


def _converted(relation: object) -> islpy.Map:
    """One of islpy's objects as a relation."""
    isl = load_isl()
    if isinstance(relation, isl.Map):
        return cast("islpy.Map", relation)
    if isinstance(relation, isl.BasicMap):
        return isl.Map(relation)
    conversion = _CONVERSIONS.get(type(relation).__name__)
    if conversion is not None:
        with suppress(isl.Error):
            return getattr(isl.Map, conversion)(relation)
    raise MapError(
        f"from_isl: {_shown(relation)} is not one relation; expected islpy's Map, PwMultiAff "
        "or the like, or isl's text"
    )


_CONVERSIONS: Final = MappingProxyType(
    {
        "Aff": "from_aff",
        "MultiAff": "from_multi_aff",
        "MultiPwAff": "from_multi_pw_aff",
        "PwAff": "from_pw_aff",
        "PwMultiAff": "from_pw_multi_aff",
        "Set": "from_range",
        "UnionMap": "from_union_map",
    }
)
"""How islpy makes a relation of an object of another class."""


def _shown(value: object) -> str:
    text = f"{type(value).__name__} {value}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


# Text.


def _parsed(text: str) -> islpy.Map:
    """A text of isl as a relation."""
    _check(text)
    isl = load_isl()
    for read in (isl.Map.read_from_str, isl.UnionMap.read_from_str):
        with suppress(isl.Error):
            return _converted(read(isl.Context(), text))
    raise TextError(
        "isl does not read this as a relation",
        Span(text, 0, len(text)),
        "expected such as { [i] -> [i mod 8] : 0 <= i < 64 }",
    )


def _check(text: str) -> None:
    """Find what isl would only call wrong, or what would not end."""
    opened: list[re.Match[str]] = []
    for mark in re.finditer(r"[()\[\]{}^]", text):
        if mark[0] in _CLOSING:
            opened.append(mark)
        elif mark[0] == "^":
            raise _error("a power; expected the number itself", mark)
        elif not opened or _CLOSING[opened.pop()[0]] != mark[0]:
            raise _error(f"{mark[0]!r} closes nothing", mark)
        if len(opened) > _DEEPEST:
            raise _error(f"more than {_DEEPEST} brackets in each other", mark)
    if opened:
        raise _error(f"expected a {_CLOSING[opened[-1][0]]!r} for this", opened[-1])


def _error(message: str, mark: re.Match[str]) -> TextError:
    return TextError(message, Span(mark.string, *mark.span()))
