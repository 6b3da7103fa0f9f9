"""Integer expressions of ``+ - * floordiv mod ceildiv min max``: intervals and simplification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplifier.tools.late import exports

if TYPE_CHECKING:
    from simplifier.bounds.interval import Interval as Interval
    from simplifier.bounds.interval import IntervalError as IntervalError
    from simplifier.errors import IndexingError as IndexingError
    from simplifier.errors import Span as Span
    from simplifier.errors import TextError as TextError
    from simplifier.errors import TextWarning as TextWarning
    from simplifier.errors import UndecidedError as UndecidedError
    from simplifier.exact import BudgetError as BudgetError
    from simplifier.exact import MissingIslError as MissingIslError
    from simplifier.exact import NotQuasiAffineError as NotQuasiAffineError
    from simplifier.expr.functions import BitAnd as BitAnd
    from simplifier.expr.functions import BitOr as BitOr
    from simplifier.expr.functions import BitXor as BitXor
    from simplifier.expr.functions import CeilDiv as CeilDiv
    from simplifier.expr.functions import FloorDiv as FloorDiv
    from simplifier.expr.functions import Max as Max
    from simplifier.expr.functions import Min as Min
    from simplifier.expr.functions import Mod as Mod
    from simplifier.expr.functions import symbol as symbol
    from simplifier.expr.sympy import READERS as READERS
    from simplifier.expr.sympy import ConversionError as ConversionError
    from simplifier.expr.sympy import Readers as Readers
    from simplifier.laws.rewrite_log import Rule as Rule
    from simplifier.laws.rewrite_log import Rules as Rules
    from simplifier.laws.rewrite_log import rules as rules
    from simplifier.problem import BoundsError as BoundsError
    from simplifier.problem import BoundsWarning as BoundsWarning
    from simplifier.problem import Facts as Facts
    from simplifier.problem import Step as Step
    from simplifier.problem import Trace as Trace
    from simplifier.simplification import SymbolicInterval as SymbolicInterval
    from simplifier.simplification import bounds_of as bounds_of
    from simplifier.simplification import cost as cost
    from simplifier.simplification import equivalent as equivalent
    from simplifier.simplification import format_expr as format_expr
    from simplifier.simplification import operator_count as operator_count
    from simplifier.simplification import parse_expr as parse_expr
    from simplifier.simplification import simplify as simplify
else:
    __all__, __getattr__, __dir__ = exports(__name__)
