"""Integer expressions of ``+ - * floordiv mod ceildiv min max``: intervals, canonical form, simplification."""

from simplifier.convert import ConversionError
from simplifier.errors import IndexingError, Span, TextError, UndecidedError
from simplifier.functions import CeilDiv, FloorDiv, Max, Min, Mod, symbol
from simplifier.interval import Interval, IntervalError

__all__ = [
    "CeilDiv",
    "ConversionError",
    "FloorDiv",
    "IndexingError",
    "Interval",
    "IntervalError",
    "Max",
    "Min",
    "Mod",
    "Span",
    "TextError",
    "UndecidedError",
    "symbol",
]
