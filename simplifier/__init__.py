"""Integer expressions of ``+ - * floordiv mod ceildiv min max``: intervals and simplification."""

from __future__ import annotations

from simplifier.bounds.interval import Interval, IntervalError
from simplifier.errors import IndexingError, Span, TextError, TextWarning, UndecidedError
from simplifier.exact import BudgetError, MissingIslError, NotQuasiAffineError, equivalent
from simplifier.expr.functions import (
    BitAnd,
    BitOr,
    BitXor,
    CeilDiv,
    FloorDiv,
    Max,
    Min,
    Mod,
    symbol,
)
from simplifier.expr.sympy import READERS, ConversionError, Readers
from simplifier.laws.rewrite_log import Rule, Rules, rules
from simplifier.problem import BoundsError, Facts, Step, Trace
from simplifier.simplification import (
    SymbolicInterval,
    bounds_of,
    cost,
    format_expr,
    operator_count,
    parse_expr,
    simplify,
)

__all__ = [
    "READERS",
    "BitAnd",
    "BitOr",
    "BitXor",
    "BoundsError",
    "BudgetError",
    "CeilDiv",
    "ConversionError",
    "Facts",
    "FloorDiv",
    "IndexingError",
    "Interval",
    "IntervalError",
    "Max",
    "Min",
    "MissingIslError",
    "Mod",
    "NotQuasiAffineError",
    "Readers",
    "Rule",
    "Rules",
    "Span",
    "Step",
    "SymbolicInterval",
    "TextError",
    "TextWarning",
    "Trace",
    "UndecidedError",
    "bounds_of",
    "cost",
    "equivalent",
    "format_expr",
    "operator_count",
    "parse_expr",
    "rules",
    "simplify",
    "symbol",
]
