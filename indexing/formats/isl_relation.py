"""isl's relations, both ways: as objects of islpy, and as isl's text.

Dimensions are isl's inputs, results its outputs. Ranges are gone: two elements are related if some
values of the ranges relate them. So are runtime variables, unless they are wanted as parameters.
Parameters are isl's.
"""

from __future__ import annotations

from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from indexing.domain import distinctly_named
from indexing.errors import MapError
from indexing.exact.isl_sets import EVERYTHING, names_of_parameters, relation_of
from indexing.formats.isl_fields import fields_of
from indexing.formats.isl_text import check_isl_text, readable, shown
from indexing.parameters import check_parameter, parameter_identifier
from indexing.relation import Relation
from indexing.simplify import simplified
from indexing.variable import Variable
from simplifier.errors import Span, TextError, quoted
from simplifier.exact.budget import asked
from simplifier.exact.isl import context_of, load_isl
from simplifier.expr.form import EXTREMA, postorder

if TYPE_CHECKING:
    import islpy

    from indexing.domain import Domain
    from simplifier.exact import Budget, Space

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
    from collections.abc import Iterator, Sequence


_MAX_CASES: Final = 24
"""Operands of minima and maxima in a map that is simplified: with more it takes too long."""

_MAX_DIVIDED_CASES: Final = 48
"""Operands times divisions, for the same reason: each operand may hold each division."""

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
    options = {"runtime_as_parameters": runtime_as_parameters}
    relation = pairs_of(indexing_map, context_of(context), **options)
    domain = _readably_named(indexing_map.domain)
    dims, *_ = domain.by_role(domain.names)
    return _named(relation, isl.dim_type.in_, dims)


def pairs_of(
    indexing_map: Relation, context: islpy.Context, *, runtime_as_parameters: bool = False
) -> islpy.Map:
    """The map as isl's relation, with names for parameters alone."""
    domain, kinds = indexing_map.domain, load_isl().dim_type
    options = {"runtime_as_parameters": runtime_as_parameters}
    parameters = names_of_parameters(_readably_named(domain), **options)
    relation = relation_of(indexing_map, context, **options)
    relation = relation.move_dims(kinds.param, 0, kinds.in_, len(domain.dims), len(parameters))
    return _named(relation, kinds.param, parameters)


def _named(relation: islpy.Map, kind: islpy.dim_type, names: Sequence[str]) -> islpy.Map:
    for position, name in enumerate(names):
        if name:
            relation = relation.set_dim_name(kind, position, name)
    return relation


def _readably_named(domain: Domain) -> Domain:
    """The domain with names for isl: a variable whose name it cannot read goes by its identifier.

    Raises:
        MapError: isl cannot read the name of a parameter.
    """
    for parameter in domain.parameters:
        if not readable(parameter.name):
            message = f"to_isl: {quoted(parameter.name)} cannot name a parameter in isl"
            raise MapError(f"{message}; expected another name, see rename()")
    roles = (
        [Variable(variable.bounds, readable(variable.given_name)) for variable in role]
        for role in domain.roles
    )
    return distinctly_named(*roles, parameters=domain.parameters)


# Reading.


def read_isl(
    relation: str | IslRelation, *, budget: Budget, parameters_as_runtime: bool
) -> Relation:
    """A relation from isl's; :func:`indexing.from_isl` says more."""
    found = isl_map(relation)

    def read(_: Space) -> Relation:
        return _read(found, parameters_as_runtime=parameters_as_runtime)

    made = asked(read, budget, context=found.get_ctx())
    return made if _has_many_cases(made) else simplified(made)


def isl_map(relation: str | IslRelation, asker: str = "from_isl") -> islpy.Map:
    """Isl's text or one of its objects as a relation between flat tuples of integers.

    Messages begin with the name of the asker.

    Raises:
        TextError: the text is not isl's.
        MapError: the relation has several spaces, or rational numbers, or is no relation.
    """
    is_text = isinstance(relation, str)
    found = _parsed(relation, asker) if is_text else _converted(relation, asker)
    if any(piece.is_rational() for piece in found.get_basic_maps()):
        raise MapError(f"{asker}: the relation has rational numbers; expected integers alone")
    kinds = load_isl().dim_type
    return found.flatten().reset_tuple_id(kinds.in_).reset_tuple_id(kinds.out)


def read_pieces(relation: islpy.Map, dims: Sequence[str]) -> Iterator[Relation]:
    """Relations that make up one of isl's, simplified; those of a function have disjoint domains.

    The dimensions have these names, isl's parameters are parameters. There is one of nothing.
    """
    relation = relation.coalesce()
    if relation.is_single_valued():
        relation = relation.make_disjoint()
    named = _named(relation, load_isl().dim_type.in_, dims)
    whole = map(load_isl().Map, named.compute_divs().get_basic_maps())
    for piece in [each for each in whole if not each.is_empty()] or [named]:
        found = _read(piece, parameters_as_runtime=False, joins_cases=False)
        yield found if _has_many_cases(found) else simplified(found)


def _read(
    relation: islpy.Map, *, parameters_as_runtime: bool, joins_cases: bool = True
) -> Relation:
    kinds = load_isl().dim_type
    dims, given, outputs = (
        [
            Variable(EVERYTHING, readable(relation.get_dim_name(kind, position)))
            for position in range(relation.dim(kind))
        ]
        for kind in (kinds.in_, kinds.param, kinds.out)
    )
    runtime, parameters = (given, []) if parameters_as_runtime else ([], given)
    for parameter in parameters:
        check_parameter(parameter, "from_isl: the parameter")
    joint = relation.move_dims(kinds.in_, len(dims), kinds.param, 0, len(given))
    positional = distinctly_named(dims, (), runtime).identifiers
    named = (parameter_identifier(parameter.name) for parameter in parameters)
    fields = fields_of(joint, (*positional, *named), joins_cases=joins_cases)
    ranges = [outputs[number] for number in fields.ranges.values()]
    domain = distinctly_named(dims, ranges, runtime, parameters)
    return Relation.from_forms(fields.results, domain.constrained(fields.constraints))


def _has_many_cases(made: Relation) -> bool:
    """Whether the map distinguishes so many cases that simplifying it would take too long."""
    limits = (form for form, _ in made.domain.constraints)
    atoms = postorder((*made.forms, *limits))
    operands = sum(len(atom.arguments) for atom in atoms if atom.kind in EXTREMA)
    divisions = sum(bool(atom.divisor) for atom in atoms)
    return operands > _MAX_CASES or operands * divisions > _MAX_DIVIDED_CASES


def _converted(relation: object, asker: str) -> islpy.Map:
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
        f"{asker}: {shown(relation)} is not one relation; expected islpy's Map, PwMultiAff "
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
"""The function of islpy that makes a relation of an object, by its class."""


# Text.


def _parsed(text: str, asker: str) -> islpy.Map:
    """A text of isl as a relation."""
    check_isl_text(text)
    isl = load_isl()
    for read in (isl.Map.read_from_str, isl.UnionMap.read_from_str):
        with suppress(isl.Error):
            return _converted(read(isl.Context(), text), asker)
    raise TextError(
        "isl does not read this as a relation",
        Span(text, 0, len(text)),
        "expected such as { [i] -> [i mod 8] : 0 <= i < 64 }",
    )
