"""Forms, for those who build on them: builders, operations, scopes, ranges and text.

This is the door of the package for compiler passes, beside the public names of ``simplifier``.
"""

# A door imports for others.
# ruff: noqa: F401
# pyright: reportUnusedImport=false

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.bounds.context import Fact, Unit, assumed, facts_of, read_fact, term_by_term
from simplifier.bounds.digits import branches
from simplifier.bounds.interval import (
    EVERYTHING,
    INFINITY,
    NEGATIVE_INFINITY,
    Infinity,
    Interval,
    IntervalLike,
    Range,
)
from simplifier.bounds.parametric import parametric_ends
from simplifier.bounds.ranges import inequalities
from simplifier.canonical.scope import Scope, scope_of
from simplifier.conditions import guarded
from simplifier.evaluation import (
    MAX_INT64,
    EvaluationError,
    is_array,
    magnitudes,
    points_in,
    tabulated,
    tabulated_affinely,
    tabulated_partly,
    values_of,
)
from simplifier.expr.form import (
    BITWISE,
    CONDITIONS,
    EXTREMA,
    FOREIGN,
    LOGICAL,
    ONE,
    VARIABLE,
    ZERO,
    Atom,
    AtomKind,
    Form,
    Key,
    combine,
    constant,
    content,
    fold,
    in_order,
    natural_order,
    opaque,
    postorder,
    variable,
    variable_atom,
    variables_of,
    weighted_sum,
)
from simplifier.expr.operations import (
    ON_BITS,
    RELATIONS,
    bitwise,
    build,
    ceildiv,
    conjunction,
    disjunction,
    floordiv,
    is_condition,
    maximum,
    minimum,
    mod,
    negation,
    nonnegative,
    product,
    rebuilt,
    replace,
    select,
    substitute,
    zero,
)
from simplifier.expr.printer import DIALECTS, DOCUMENT, Printer, Syntax, as_written, format_form
from simplifier.expr.text import (
    XLA_DIVISIONS,
    ExpressionLexer,
    is_name,
    parse_form,
    read_expression,
)
from simplifier.extraction import natural_dividend
from simplifier.extraction.cost import cost_of_form
from simplifier.fixpoint import in_digits, range_of, simplified
from simplifier.tools.late import exports, np

if TYPE_CHECKING:
    from simplifier.expr.sympy import (
        from_sympy,
        is_relation,
        read,
        read_whole,
        relation_of,
        to_condition,
        to_sympy,
    )
    from simplifier.problem import is_multiple
else:  # at the border to sympy, which is loaded when the first of them is asked for
    _, __getattr__, __dir__ = exports(__name__)
