"""isl: piecewise quasi-affine functions, simplified on their domain and printed as C."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Callable, Mapping
from typing import Final

import islpy as isl

from benchmarks import peers
from benchmarks.clock import timed
from benchmarks.peers import Answer, Language, Peer, UnsupportedError, Words, cheapest
from benchmarks.problems import Problem, python_text
from simplifier.bounds.context import Bounds
from simplifier.expr import form as forms
from simplifier.expr import operations
from simplifier.expr.form import EXTREMA, Atom, Form, combine, postorder
from simplifier.expr.text import parse_form

MAX_OPERATIONS: Final = 2_000_000
"""The operations that isl may spend on one problem: some seconds."""


def load() -> Peer:
    """The peer; it is always there."""
    return Peer("isl", "of islpy " + importlib.metadata.version("islpy"), _solve)


def _solve(problem: Problem) -> Answer:
    """All printed forms; extrema are also tried operand by operand."""
    space = _Space(problem.bounds)
    answers, seconds = space.answers(problem.text)
    form = problem.form
    if any(atom.kind in EXTREMA for atom in postorder((form,))):
        answers.append(space.by_operands(form))
    if not answers:
        raise UnsupportedError("a function of several pieces")
    return Answer(tuple(answers), seconds)


class _Space:
    """The variables as parameters, as isl's code generator requires, and their domain."""

    def __init__(self, bounds: Bounds) -> None:
        self._context = isl.Context()
        self._context.set_ast_build_detect_min_max(1)
        self._context.set_max_operations(MAX_OPERATIONS)
        space = isl.Space.params_alloc(self._context, len(bounds))
        for place, (name, _) in enumerate(bounds):
            space = space.set_dim_name(isl.dim_type.param, place, name)
        local = isl.LocalSpace.from_space(space)
        self._zero = isl.PwAff.from_aff(isl.Aff.zero_on_domain(local))
        self._variables = {
            name: isl.PwAff.var_on_domain(local, isl.dim_type.param, place)
            for place, (name, _) in enumerate(bounds)
        }
        self._words: Words = {
            "//": self._floordiv,
            "%": self._mod,
            "min": isl.PwAff.min,
            "max": isl.PwAff.max,
        }
        self._domain = self._box(isl.Set.universe(space), bounds)
        self._printer = isl.AstBuild.from_context(self._domain)

    def _box(self, points: isl.Set, bounds: Bounds) -> isl.Set:
        for name, interval in bounds:
            variable = self._variables[name]
            if interval.lower is not None:
                points = points.intersect(variable.ge_set(self._constant(interval.lower)))
            if interval.upper is not None:
                points = points.intersect(variable.le_set(self._constant(interval.upper)))
        return points

    def _constant(self, value: int) -> isl.PwAff:
        return self._zero.add_constant_val(isl.Val(value, self._context))

    def answers(self, text: str) -> tuple[list[Form], float]:
        """All results of isl for a form, and the seconds until the simplified function."""
        language = Language(self._variables.__getitem__, self._constant, self._words)
        function = language.read(text)
        plain, seconds = timed(
            lambda: function.intersect_params(self._domain).coalesce().gist_params(self._domain)
        )
        found = [*self._spellings(plain), *self._spellings(function)]
        return found, seconds

    def by_operands(self, form: Form) -> Form:
        """The form with the operands of its extrema printed by isl, innermost first."""
        known: dict[Atom, Form] = {}
        for atom in postorder((form,)):
            arguments = tuple(combine(argument, known) for argument in atom.arguments)
            if atom.kind in EXTREMA:
                arguments = tuple(self._cheapest(argument) for argument in arguments)
            known[atom] = operations.rebuilt(atom, arguments)
        return combine(form, known)

    def _cheapest(self, form: Form) -> Form:
        return cheapest([*self.answers(python_text(form))[0], form])

    def _spellings(self, function: isl.PwAff) -> list[Form]:
        """The text of isl, and C with and without divisions of non-negative numbers."""
        spellings = _printed(function)
        for is_preferred in (1, 0):
            self._context.set_ast_build_prefer_pdiv(is_preferred)
            try:
                spellings.append(_read(self._printer.expr_from_pw_aff(function)))
            except UnsupportedError:
                continue
        return spellings

    def _floordiv(self, numerator: isl.PwAff, divisor: isl.PwAff) -> isl.PwAff:
        by = _only_value(divisor)
        if by.is_neg():
            numerator, by = -numerator, by.neg()
        return numerator.scale_down_val(by).floor()

    def _mod(self, numerator: isl.PwAff, divisor: isl.PwAff) -> isl.PwAff:
        return numerator - self._floordiv(numerator, divisor) * divisor


def _printed(function: isl.PwAff) -> list[Form]:
    """The form of isl's own text, such as ``[x] -> { [(2 + 3x - floor((x)/8))] : x >= 1 }``."""
    match = _SINGLE_PIECE.fullmatch(str(function))
    if match is None:
        return []
    text = match[1].replace("floor", "").replace("/", "//").replace(" mod ", " % ")
    return [parse_form(_COEFFICIENT.sub(r"\1*", text))]


_SINGLE_PIECE: Final = re.compile(r".*\{ (?:\[\] -> )?\[\(([^\[\]]*)\)\](?: :[^;]*)? \}")
_COEFFICIENT: Final = re.compile(r"\b(\d+)(?=[A-Za-z_(])")


def _only_value(constant: isl.PwAff) -> isl.Val:
    ((_, piece),) = constant.get_pieces()
    value = piece.get_constant_val()
    if not piece.is_cst() or value.is_zero():
        raise UnsupportedError(f"division by {piece}")
    return value


def _read(expression: isl.AstExpr) -> Form:
    """The form of one of isl's C expressions."""
    kind = expression.get_type()
    if kind == isl.ast_expr_type.int:
        return forms.constant(int(expression.get_val().to_str()))
    if kind == isl.ast_expr_type.id:
        return forms.variable(expression.get_id().get_name())
    operation = _Type(expression.get_op_type())
    if operation not in _READERS:
        raise UnsupportedError(str(operation))
    count = expression.get_op_n_arg()
    return _READERS[operation](*(_read(expression.get_op_arg(place)) for place in range(count)))


_Type: Final = isl.ast_expr_op_type
_READERS: Final[Mapping[isl.ast_expr_op_type, Callable[..., Form]]] = {
    _Type.minus: Form.__neg__,
    _Type.add: Form.plus,
    _Type.sub: peers.difference,
    _Type.mul: peers.product,
    _Type.div: operations.floordiv,
    _Type.fdiv_q: operations.floordiv,
    _Type.pdiv_q: operations.floordiv,
    _Type.pdiv_r: operations.mod,
    _Type.min: peers.minimum,
    _Type.max: peers.maximum,
}
